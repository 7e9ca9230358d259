"""coordination/2 answers what the independent reference model answers.

On every history of at most four events over an alphabet; on longer seeded ones with every
kind of link, several work items, principals, occurred times and cutoffs; and, where
coordination/1 covers an item, the two rule sets answer alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from random import Random
from typing import Final

import msgspec
import pytest

from replay.event import Event
from replay.history import Cutoff, History, Prefix
from replay.projection import (
    Cancelled,
    CancelledWithWork,
    Censored,
    Claim,
    Item,
    Mark,
    Projection,
    Recovered,
    RuleSet,
)
from replay.rules import named
from replay.rules.v2 import Checkpoints
from replay.timestamps import NS_PER_MINUTE
from tests import reference_v2
from tests.drawn import drawn_words
from tests.mutation.quick import SURVIVED
from tests.notation import events, history, history_of, lines
from tests.reference_v2 import without_rules

ALPHABET: Final = (
    "r1",
    "r2<{first}",
    "ci+@r1<{previous}",
    "ci-@r1!{previous}",
    "ci+@",
    "review+@r1",
    "review-@r1",
    "+b1",
    "+b2!{first}",
    "-b1&{previous}",
    "~b1",
    "cancel",
    "reopen",
    "done@r1",
    "done@&{previous}",
    "ready@r1",
    "says=active",
    "retract!{previous}",
)
"""Every symbol can stand at every place.  What names a target that is no earlier event of its
own class corrects nothing, and its effects stand at its own place."""

LENGTH: Final = 4
CORRECTIONS: Final = (
    "r1",
    "r2",
    "r2!{first}",
    "ready@",
    "ready@r1!{previous}",
    "ready@!{first}",
    "cancel",
    "retract!{previous}",
)
"""Versions of one place that name different revisions, corrected and withdrawn in any order."""

LENGTH_OF_CORRECTIONS: Final = 5
SEED: Final = 20_260_101
BATCHES: Final = 10
PAPER: Final = "r1:0 ci/local+:1 ci-:2 +:3 +:8 r2<e4:10 ci+:11 ready:12 ci+@r1*2:13"


@pytest.fixture(scope="module")
def v1() -> RuleSet:
    return named("coordination/1")


@pytest.fixture(scope="module")
def v2() -> RuleSet:
    return named("coordination/2")


def symbol_at(place: int, symbol: str) -> Event:
    """The event of a symbol at a place, from 1, whatever the events before it."""
    word = symbol.format(first="e1", previous=f"e{place - 1}")
    return events("beat " * (place - 1) + word)[-1]


def small_histories(
    first: str, alphabet: tuple[str, ...] = ALPHABET, longest: int = LENGTH
) -> Iterator[tuple[Event, ...]]:
    """Every history of one to `longest` events over an alphabet that begins with a symbol."""
    at = [
        {symbol: symbol_at(place, symbol) for symbol in alphabet} for place in range(1, longest + 1)
    ]
    for length in range(longest):
        for rest in product(alphabet, repeat=length):
            yield (at[0][first], *(at[n + 1][symbol] for n, symbol in enumerate(rest)))


def seeded(seed: int, *, covered: bool = False) -> tuple[str, Cutoff]:
    """The notation of a longer history, and a cutoff within, at the edge of or beyond it."""
    rng = Random(seed)
    words = drawn_words(rng, covered=covered)
    return words, drawn_cutoff(rng, history(words))


def drawn_cutoff(rng: Random, drawn: History) -> Cutoff:
    if rng.random() < 0.6:
        return Cutoff()
    latest = drawn.events[-1]
    sequences = [one.recorded_sequence for one in drawn.events]
    times = [one.recorded_at for one in drawn.events]
    return Cutoff(
        rng.choice([None, 0, *sequences, latest.recorded_sequence + 2]),
        rng.choice([None, None, *times, latest.recorded_at + 7]),
    )


def assert_same(rules: RuleSet, prefix: Prefix, title: str = "") -> None:
    derived = without_rules(rules.project(prefix))
    expected = reference_v2.project(prefix)
    if derived != expected:
        told = title or lines(prefix.events).decode()
        raise AssertionError(f"{told}\n{differences(derived, expected)}")


def differences(derived: Projection, expected: Projection) -> str:
    """The fields that differ, item by item."""
    found = [
        f"{name}: derived {getattr(derived, name)}, expected {getattr(expected, name)}"
        for name in ("rules", "facts", "unassigned", "uncovered")
        if getattr(derived, name) != getattr(expected, name)
    ]
    if [one.work_id for one in derived.items] != [one.work_id for one in expected.items]:
        found.append("items: not the same work ids")
    for one, other in zip(derived.items, expected.items, strict=False):
        found += item_differences(one, other)
    return "\n".join(found)


def item_differences(derived: Item, expected: Item) -> list[str]:
    return [
        f"{derived.work_id}.{name}:\n  derived  {getattr(derived, name)}\n"
        f"  expected {getattr(expected, name)}"
        for name in derived.__struct_fields__
        if getattr(derived, name) != getattr(expected, name)
    ]


def assert_seeds_agree(rules: RuleSet, seeds: range) -> None:
    for seed in seeds:
        words, cutoff = seeded(seed)
        differs = partial(differs_at, rules, cutoff)
        if differs(words):
            smaller = smallest(words, differs)
            title = f"seed {seed}: {words}\nat {cutoff}, and still: {smaller}"
            assert_same(rules, history(smaller).at(cutoff), title)


def differs_at(rules: RuleSet, cutoff: Cutoff, words: str) -> bool:
    prefix = history(words).at(cutoff)
    return without_rules(rules.project(prefix)) != reference_v2.project(prefix)


def smallest(words: str, fails: Callable[[str], bool]) -> str:
    """A failing history, its last words dropped and others made heartbeats while it fails."""
    kept = words.split()
    while len(kept) > 1 and fails(" ".join(kept[:-1])):
        kept.pop()
    for place in range(len(kept)):
        tried = [*kept[:place], quiet(kept[place]), *kept[place + 1 :]]
        if fails(" ".join(tried)):
            kept = tried
    return " ".join(kept)


def quiet(word: str) -> str:
    """A heartbeat at the word's sequence and minute."""
    signs = [part for part in word.replace("$", " $").replace(":", " :").split() if part[0] in "$:"]
    return "beat" + "".join(signs)


@pytest.mark.parametrize("first", ALPHABET)
def test_every_small_history_gets_the_answers_of_the_reference(first: str, v2: RuleSet) -> None:
    for written in small_histories(first):
        assert_same(v2, history_of(written).at(Cutoff()))


@pytest.mark.parametrize("first", CORRECTIONS)
def test_every_small_history_of_corrections_gets_the_answers_of_the_reference(
    first: str, v2: RuleSet
) -> None:
    for written in small_histories(first, CORRECTIONS, LENGTH_OF_CORRECTIONS):
        assert_same(v2, history_of(written).at(Cutoff()))


def test_the_empty_history_gets_the_answers_of_the_reference(v2: RuleSet) -> None:
    assert_same(v2, history("").at(Cutoff()))
    assert_same(v2, history("").at(Cutoff(3, 5)))


@pytest.fixture
def checkpoints(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In two of three batches, copies of the fold so close together that these are long."""
    monkeypatch.setattr(Checkpoints, "SPACING", (Checkpoints.SPACING, 1, 2)[batch % 3])


@pytest.mark.usefixtures("checkpoints")
@pytest.mark.parametrize("batch", range(BATCHES))
def test_longer_histories_get_the_answers_of_the_reference(batch: int, v2: RuleSet) -> None:
    start = SEED + batch * 300
    assert_seeds_agree(v2, range(start, start + 300))


@pytest.mark.long
@pytest.mark.usefixtures("checkpoints")
@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_hundred_thousand_histories_get_the_answers_of_the_reference(
    batch: int, v2: RuleSet
) -> None:
    start = 10 * SEED + batch * 10_000
    assert_seeds_agree(v2, range(start, start + 10_000))


@pytest.mark.parametrize("words", SURVIVED)
def test_histories_that_mutants_survived_get_the_answers_of_the_reference(
    words: str, v2: RuleSet
) -> None:
    assert_same(v2, history(words).at(Cutoff()))


@pytest.mark.parametrize("covered", [True, False])
def test_what_coordination_1_covers_gets_the_same_answers(
    covered: bool, v1: RuleSet, v2: RuleSet
) -> None:
    compared = 0
    for seed in range(SEED, SEED + 1_000):
        words, cutoff = seeded(seed, covered=covered)
        prefix = history(words).at(cutoff)
        older, newer = without_rules(v1.project(prefix)), without_rules(v2.project(prefix))
        for one, other in zip(older.items, newer.items, strict=True):
            if not one.undetermined_by:
                compared += 1
                assert one == other, f"seed {seed}: {words}\nat {cutoff}"
        if not older.uncovered:
            renamed = msgspec.structs.replace(older, rules=newer.rules)
            assert renamed == newer, f"seed {seed}: {words}\nat {cutoff}"
    assert compared > (500 if covered else 50)


# The reference itself, against what the rule page says.


def answers(notation: str, sequence: int | None = None) -> Item:
    (one,) = reference_v2.project(history(notation).until(sequence=sequence)).items
    return one


def verdict(notation: str, event_id: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    claims: tuple[Claim, ...] = answers(notation).claims or ()
    (one,) = (claim for claim in claims if claim.event_id == event_id)
    return one.verdict, one.evidence, one.missing


def found(notation: str, code: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(a.event_id, a.related) for a in answers(notation).anomalies if a.code == code]


def test_the_reference_shows_the_papers_final_answers() -> None:
    one = answers(PAPER)
    (episode,) = one.episodes or ()
    assert (episode.opened.event_id, episode.repeats) == ("e4", ("e5",))
    assert episode.end == Recovered(Mark("e6", 10 * NS_PER_MINUTE), ("e4",))
    assert episode.elapsed == 7 * NS_PER_MINUTE
    assert (one.state.value, one.state.evidence) == ("awaiting_review", ("e8",))
    assert one.clocks.last_progress is not None
    assert one.clocks.last_progress.event_id == "e7"
    assert [receipt.status for receipt in one.receipts or ()] == [
        "superseded_by_revision",
        "superseded_by_revision",
        "current",
        "stale_on_arrival",
    ]


@pytest.mark.parametrize(
    ("notation", "state", "since", "evidence"),
    [
        ("note", None, None, ()),
        ("propose", "proposed", "e1", ("e1",)),
        ("propose start propose", "active", "e2", ("e2",)),
        ("start propose", "active", "e1", ("e1",)),
        ("r1 +b1 +b2", "blocked", "e2", ("e2", "e3")),
        ("r1 +b1 cancel", "cancelled", "e3", ("e3",)),
        ("r1 cancel retract!e2", "active", "e3", ("e1",)),
        ("r1 cancel retract!e2 retract!e3", "cancelled", "e4", ("e2",)),
        ("r1 cancel cancel retract!e2", "cancelled", "e2", ("e3",)),
        ("r1 cancel reopen", "active", "e3", ("e3",)),
        ("propose reopen", "proposed", "e1", ("e1",)),
        ("r1 done ci+", "complete", "e3", ("e2",)),
        ("r1 done done ci+", "complete", "e4", ("e2",)),
        ("r1 ci+ done +b1 r2", "complete", "e3", ("e3",)),
        ("r1 ci+ done reopen", "active", "e4", ("e4",)),
        ("r1 ci+ ready done^a", "complete", "e4", ("e4",)),
        ("r1 ci+ ready ready", "awaiting_review", "e3", ("e3", "e4")),
        ("r1 ci+ ready review+", "active", "e4", ("e1",)),
        ("r1 ci+ ready review=commented", "awaiting_review", "e3", ("e3",)),
        ("r1 ci+ review+ ready", "awaiting_review", "e4", ("e4",)),
        ("r1 ci+ ready review- review=dismissed!e4", "awaiting_review", "e5", ("e3",)),
        ("+b1 +b2!e1 ~b1 ~b2", "active", "e4", ("e2",)),
    ],
)
def test_the_reference_displays_a_state(
    notation: str, state: str | None, since: str | None, evidence: tuple[str, ...]
) -> None:
    shown = answers(notation).state
    assert (shown.value, shown.evidence) == (state, evidence)
    assert (shown.since.event_id if shown.since is not None else None) == since


@pytest.mark.parametrize(
    ("notation", "event_id", "expected"),
    [
        # readiness
        ("r1 ready", "e2", ("missing", (), ("any check",))),
        ("r1 ready[lint,ci,lint] ci+", "e2", ("missing", (), ("lint",))),
        ("r1 ready ci+ r2 r1", "e2", ("stale", ("e4",), ())),
        ("r1 ci+ ready cancel r2 reopen", "e3", ("stale", ("e5",), ())),
        ("r1 ci+ ready cancel reopen", "e3", ("stale", ("e5",), ())),
        ("r1 ci+ ready reopen", "e3", ("supported", ("e2",), ())),
        ("r1 r2 ready@r1", "e3", ("stale", ("e2",), ())),
        # completion of a revision
        ("r1 +b1 done ci+<b1", "e3", ("contradicted", (), ())),
        ("r1 cancel ci+ done reopen", "e4", ("contradicted", (), ())),
        ("r1 ci+ done ci- r2", "e3", ("supported", ("e2",), ())),
        ("r1 ci+ done r2 reopen r1", "e3", ("stale", ("e5",), ())),
        ("r1 ci+ done done reopen", "e4", ("stale", ("e5",), ())),
        ("r1 ci+ done done r2", "e4", ("stale", ("e5",), ())),
        ("r1 ci+ done done +b1 review-", "e4", ("contradicted", ("e6",), ())),
        ("r1 done +b1 ~b1 ci+", "e2", ("stale", ("e3",), ())),
        ("r1 done review- ci+", "e2", ("stale", ("e3",), ())),
        ("r1 done review-@r2 ci+", "e2", ("supported", ("e4",), ())),
        ("r1 review-^a review+^b ci+ done", "e5", ("contradicted", ("e2",), ())),
        ("r1 review-^a review+^a ci+ done", "e5", ("supported", ("e4",), ())),
        ("r1 review-^a ci- done", "e4", ("contradicted", ("e2", "e3"), ())),
        ("r1 ready[lint]^a ready[ci]^b done^a ci+", "e4", ("missing", (), ("lint",))),
        ("r1 done^a ready[lint]^a ci+", "e2", ("missing", (), ("lint",))),
        ("r1 ci+ lint+ ready[lint] done", "e5", ("supported", ("e3",), ())),
        ("done@r1 ci+@r1", "e1", ("unknown", (), ())),
        ("r1 done@", "e2", ("unbound", (), ())),
        ("done@ r1", "e1", ("stale", ("e2",), ())),
        # completion of an item with no revision
        ("ci+ done&e1", "e2", ("supported", ("e1",), ())),
        ("ci+@r7 done@&e1", "e2", ("missing", (), ("evidence",))),
        ("ci+ done", "e2", ("missing", (), ("evidence",))),
        ("ci/local+ done&e1", "e2", ("missing", (), ("evidence",))),
        ("ci+ ci+ done&e1", "e3", ("missing", (), ("evidence",))),
        ("ci+ lint-@r9 done&e1", "e3", ("contradicted", ("e2",), ())),
        ("review-@r9 ci+ done&e2", "e3", ("contradicted", ("e1",), ())),
        ("ci- done&e1 ci+!e1", "e2", ("supported", ("e3",), ())),
        # resolutions
        ("r1 +b1 ci+ -b1&e3", "e4", ("supported", ("e3",), ())),
        ("r1 +b1 ci+ -b1<e3,e1", "e4", ("supported", ("e3",), ())),
        ("r1 ci+ +b1 -b1&e2", "e4", ("missing", (), ("evidence",))),
        ("r1 +b1 ci+<b1 -b1", "e4", ("supported", (), ())),
        ("r1 +b1 ~b1 -b1", "e4", ("missing", (), ("evidence",))),
        ("r1 +b1 ci+<b1 cancel -b1", "e5", ("missing", (), ("evidence",))),
        # asserted states
        ("r1 +b1 says=active[1]", "e3", ("supported", (), ())),
        ("r1 +b1 says=active", "e3", ("contradicted", (), ())),
        ("r1 says=active[r2]", "e2", ("contradicted", (), ())),
        ("r1 says=active[3]", "e2", ("not_comparable", (), ())),
        ("says=active", "e1", ("not_comparable", (), ())),
        ("r1 cancel retract!e2 says=cancelled[2]", "e4", ("supported", (), ())),
    ],
)
def test_the_reference_judges_a_claim(
    notation: str, event_id: str, expected: tuple[str, tuple[str, ...], tuple[str, ...]]
) -> None:
    assert verdict(notation, event_id) == expected


@pytest.mark.parametrize(
    ("notation", "ends"),
    [
        (
            "r1 +b1 +b2 r2<e2,e3",
            [Recovered(Mark("e4", 3), ("e2",)), Recovered(Mark("e4", 3), ("e3",))],
        ),
        ("r1 +b1 +b1 r2<e3,e2", [Recovered(Mark("e4", 3), ("e2", "e3"))]),
        ("r1 +b1 r1<b1", [Censored(2)]),
        ("r1 +b1 +b2 ~b2 cancel", [CancelledWithWork(Mark("e5", 4)), Cancelled(Mark("e4", 3))]),
        ("+b1 r1 -b2&e2 -b1&e2", [Recovered(Mark("e4", 3), ("e2",))]),
        ("r1 +b1 ci+<b1 ci-!e3", [Censored(3)]),
        ("+ cancel reopen +", [CancelledWithWork(Mark("e2", 1)), Censored(3)]),
    ],
)
def test_the_reference_ends_an_episode(notation: str, ends: list[object]) -> None:
    def minutes(end: object) -> object:
        match end:
            case Censored(at):
                return Censored(at // NS_PER_MINUTE)
            case Recovered(by, evidence):
                return Recovered(Mark(by.event_id, by.time // NS_PER_MINUTE), evidence)
            case Cancelled(by) | CancelledWithWork(by):
                return type(end)(Mark(by.event_id, by.time // NS_PER_MINUTE))
        raise AssertionError(end)

    assert [minutes(one.end) for one in answers(notation).episodes or ()] == ends


def test_the_reference_keeps_the_clock_of_a_corrected_origin() -> None:
    (episode,) = answers("r1 +b1 beat +b2!e2 retract!e2").episodes or ()
    assert (episode.opened, episode.blocker_id) == (Mark("e4", NS_PER_MINUTE), "b2")


@pytest.mark.parametrize(
    ("notation", "statuses"),
    [
        ("r1 r2!e1 r3!e2", ["overtaken", "applied"]),
        ("r1 r2!e1 r3!e1 retract!e3", ["applied", "silenced", "applied"]),
        ("r1 r2!e1 retract!e2 retract!e3", ["applied", "silenced", "applied"]),
        ("r1 start!e1 beat!e1 r2!e1^a", ["ineffective", "ineffective", "ineffective"]),
        ("r1 r2!e1^a retract!e2^a", ["silenced", "applied"]),
        ("r1!e1 r2!e9 r3!e4 retract!e3", ["ineffective", "ineffective", "silenced", "applied"]),
    ],
)
def test_the_reference_says_what_became_of_a_correction(notation: str, statuses: list[str]) -> None:
    assert [one.status for one in answers(notation).corrections or ()] == statuses


@pytest.mark.parametrize(
    ("notation", "code", "expected"),
    [
        ("r1 +b1 beat<e2 ci+!e9<e1", "link_missing", [("e4", ("e9",))]),
        ("+b1 r1 +b1!e1<e2", "link_forward", [("e3", ("e2",))]),
        ("+b1 +b1!e1<e1 r1", "link_self", [("e2", ("e1",))]),
        ("+b1 r1<e3 +b1!e1", "link_forward", [("e2", ("e3",))]),
        ("r1 r2!e1^a", "other_principal", [("e2", ("e1",))]),
        ("r1 start!e1^a", "other_principal", []),
        ("r1 +b1 ci+ ci+", "progress_while_blocked", [("e3", ("e2",))]),
        ("r1 +b1 ci+<b1", "progress_while_blocked", []),
        ("r1 r2 r1 r1", "revision_reintroduced", [("e3", ("e1",))]),
        ("ci+@r1*1 r1*2", "anachronistic", [("e1", ("e2",))]),
        ("r1 cancel +b1 note reopen reopen", "after_terminal", [("e3", ())]),
        ("r1 cancel reopen reopen", "not_terminal", [("e4", ())]),
        ("r1 cancel ~b1 -b1 reopen", "no_open_episode", [("e3", ()), ("e4", ())]),
    ],
)
def test_the_reference_lists_an_anomaly(
    notation: str, code: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert found(notation, code) == expected


@pytest.mark.parametrize(
    ("notation", "event_id"),
    [
        ("r1 ci+ review+ review+", "e3"),
        ("r1 ci+ review+^a review+^b", "e4"),
        ("r1 ci- ci=errored ci-", "e4"),
        ("r1 ci+ cancel ci- reopen ci+", "e2"),
        ("r1 cancel r2 reopen r2", "e1"),
        ("r1 ci+@ ci=skipped ci/local+", "e4"),
        ("r1 ready done says=active beat", "e1"),
    ],
)
def test_the_reference_finds_the_last_progress(notation: str, event_id: str) -> None:
    progress = answers(notation).clocks.last_progress
    assert progress is not None
    assert progress.event_id == event_id


def test_a_failing_history_is_shown_small() -> None:
    assert smallest("r1:0$1 +b1:1$2 ci+:2$3 beat:3$4", lambda kept: "ci+" in kept) == (
        "beat:0$1 beat:1$2 ci+:2$3"
    )
