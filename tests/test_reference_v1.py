"""coordination/1 answers what the independent reference model answers.

On every history of at most four events over an alphabet, and on longer drawn ones with every
kind of link, several work items, occurred times and cutoffs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replay.decode import decode_bytes
from replay.document import projection_document
from replay.event import Event
from replay.history import Cutoff, History, Prefix, admit
from replay.oracle import Answer, compare, read_oracle
from replay.projection import Censored, Mark, Projection, Recovered, RuleSet
from replay.questions import derive
from tests import record, reference_v1
from tests.drawn import cutoffs, histories
from tests.notation import events, history, history_of, lines

ALPHABET: Final = (
    "r1*1",
    "r2",
    "r2<e1",
    "ci+@r1",
    "ci-@r1*0",
    "ci+@r2<e2",
    "ci/local+@r1<e1",
    "ci=action_required@r2",
    "+",
    "+b1",
    "+b2",
    "ready@r1",
    "ready[ci]@r2",
    "ready@",
    "propose",
    "beat!e1?typo",
    "cancel",
    "start!e1",
)
"""Every symbol can stand at every place; e1 and e2 are earlier, itself, later or missing."""

LENGTH: Final = 4
REFERENCE: Final = RuleSet("coordination/1", (), reference_v1.project)
PAPER: Final = "r1:0 ci/local+:1 ci-:2 +:3 +:8 r2<e4:10 ci+:11 ready:12 ci+@r1*2:13"


@pytest.fixture(scope="module")
def v1() -> RuleSet:
    from replay.rules.v1 import RULES

    return RULES


def small_histories(first: str) -> Iterator[tuple[Event, ...]]:
    """Every history of one to `LENGTH` events that begins with a symbol."""
    at = [
        {symbol: events("beat " * place + symbol)[-1] for symbol in ALPHABET}
        for place in range(LENGTH)
    ]
    for length in range(LENGTH):
        for rest in product(ALPHABET, repeat=length):
            yield (at[0][first], *(at[n + 1][symbol] for n, symbol in enumerate(rest)))


def assert_same(rules: RuleSet, prefix: Prefix) -> None:
    derived = reference_v1.without_rules(rules.project(prefix))
    expected = reference_v1.project(prefix)
    if derived != expected:
        raise AssertionError(f"{differences(derived, expected)}\n{lines(prefix.events).decode()}")


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
        found += [
            f"{one.work_id}.{name}:\n  derived  {getattr(one, name)}\n"
            f"  expected {getattr(other, name)}"
            for name in one.__struct_fields__
            if getattr(one, name) != getattr(other, name)
        ]
    return "\n".join(found)


@pytest.mark.parametrize("first", ALPHABET)
def test_every_small_history_gets_the_answers_of_the_reference(first: str, v1: RuleSet) -> None:
    for written in small_histories(first):
        assert_same(v1, history_of(written).at(Cutoff()))


def test_the_empty_history_gets_the_answers_of_the_reference(v1: RuleSet) -> None:
    assert_same(v1, history("").at(Cutoff()))
    assert_same(v1, history("").at(Cutoff(3, 5)))


@pytest.mark.parametrize("covered", [True, False, None])
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_drawn_histories_get_the_answers_of_the_reference(
    covered: bool | None, data: st.DataObject, v1: RuleSet
) -> None:
    drawn = data.draw(histories(covered=covered))
    assert_same(v1, drawn.at(data.draw(cutoffs(drawn))))


@pytest.mark.parametrize("case", record.cases(), ids=lambda case: case.stem)
def test_every_case_gets_the_answers_of_the_reference_at_every_cutoff(
    case: Path, v1: RuleSet
) -> None:
    for prefix in record.prefixes(read(case)):
        assert_same(v1, prefix)


def read(case: Path) -> History:
    return admit([decode_bytes(case.read_bytes(), name=case.name)])


# The reference itself, against what the rule page says of the paper's history.


def paper_at(sequence: int | None = None, minute: int | None = None) -> Projection:
    return reference_v1.project(history(PAPER).until(sequence=sequence, minute=minute))


def test_the_reference_finds_the_papers_recovery_after_seven_minutes() -> None:
    (episode,) = paper_at().episodes
    assert episode.opened.event_id == "e4"
    assert episode.repeats == ("e5",)
    assert episode.end == Recovered(Mark("e6", 600_000_000_000), ("e4",))
    assert episode.elapsed == 7 * 60_000_000_000


def test_the_reference_shows_the_papers_final_answers() -> None:
    (item,) = paper_at().items
    assert item.state.value == "awaiting_review"
    assert item.state.since == Mark("e8", 720_000_000_000)
    assert item.state.evidence == ("e8",)
    assert item.clocks.last_progress is not None
    assert item.clocks.last_progress.event_id == "e7"
    assert item.clocks.last_message.event_id == "e9"
    assert item.receipts is not None
    assert [(one.event_id, one.status) for one in item.receipts] == [
        ("e2", "superseded_by_revision"),
        ("e3", "superseded_by_revision"),
        ("e7", "current"),
        ("e9", "stale_on_arrival"),
    ]
    assert item.claims is not None
    assert [(c.event_id, c.verdict, c.evidence) for c in item.claims] == [
        ("e8", "supported", ("e7",))
    ]
    assert item.flags == ("no_origin",)


def test_the_reference_censors_the_papers_episode_at_six_minutes() -> None:
    projection = paper_at(5, 9)
    (item,) = projection.items
    (episode,) = projection.episodes
    assert (item.state.value, item.state.evidence) == ("blocked", ("e4",))
    assert episode.end == Censored(9 * 60_000_000_000)
    assert episode.elapsed == 6 * 60_000_000_000
    assert item.clocks.last_progress is not None
    assert item.clocks.last_progress.event_id == "e3"
    assert item.clocks.last_message.event_id == "e5"


@pytest.mark.parametrize(
    ("notation", "undetermined_by"),
    [
        ("r1 +b1 +b2", ("e3",)),
        ("r1 +b1 +b2 r2<b1 +b2", ("e3",)),  # the first b2 opened nothing
        ("r1 +b1 + r2<e3 +", ("e3", "e5")),  # a cause that is no raise of the episode ends none
        ("r1 cancel r1!e1 beat!e1", ("e2", "e3")),
    ],
)
def test_the_reference_never_guesses_about_an_uncovered_event(
    notation: str, undetermined_by: tuple[str, ...]
) -> None:
    projection = reference_v1.project(history(notation).until())
    (item,) = projection.items
    assert item.undetermined_by == undetermined_by
    assert tuple(one.event_id for one in projection.uncovered) == undetermined_by
    assert (item.state.value, item.revision.value, item.episodes) == (None, None, None)
    assert item.clocks.last_message.event_id == f"e{len(notation.split())}"


@pytest.mark.parametrize(
    ("notation", "verdict", "evidence", "missing"),
    [
        ("r1 ready", "missing", (), ("any check",)),
        ("r1 ci/Local+ ready", "missing", (), ("any check",)),
        ("r1 ci+ ready[lint,ci,lint]", "missing", (), ("lint",)),
        ("r1 ci+ lint+ ready[lint]", "supported", ("e3",), ()),
        ("r1 ci/A+ ci/B- ready ci/A-", "contradicted", ("e3", "e5"), ()),
        ("r1 ci- ci=skipped ci+ ci=cancelled ready", "supported", ("e4",), ()),
        ("r1 ready@", "unbound", (), ()),
        ("r1 ready@r2", "unknown", (), ()),
        ("r1 ready@ r1 r2 r1", "stale", ("e4",), ()),
        ("r1 r2 ready@r1", "stale", ("e2",), ()),
        ("r1 r2 ready@r1 ci+@r1 r1", "supported", ("e4",), ()),
    ],
)
def test_the_reference_judges_a_readiness_claim(
    notation: str, verdict: str, evidence: tuple[str, ...], missing: tuple[str, ...]
) -> None:
    (claim,) = reference_v1.project(history(notation).until()).claims
    assert (claim.verdict, claim.evidence, claim.missing) == (verdict, evidence, missing)


def test_the_reference_lists_link_faults_once_each_in_order() -> None:
    written = history("r1<e1,e9,e9&e9,e3 r1#W2<e1 +<e2,e1")
    first, second = reference_v1.project(written.until()).items
    assert [(a.code, a.event_id, a.related) for a in first.anomalies] == [
        ("link_forward", "e1", ("e3",)),
        ("link_missing", "e1", ("e9",)),
        ("link_self", "e1", ("e1",)),
        ("link_other_item", "e3", ("e2",)),
    ]
    assert [(a.code, a.event_id) for a in second.anomalies] == [("link_other_item", "e2")]


def authored(case: Path) -> list[Answer]:
    """What a case's oracle says of coordination/1."""
    file = case.with_suffix(".oracle.json")
    answers = read_oracle(file.name, file.read_bytes()).answers
    return [answer for answer in answers if answer.rules == "coordination/1"]


@pytest.mark.parametrize(
    "case", [case for case in record.cases() if authored(case)], ids=lambda case: case.stem
)
def test_the_reference_gives_every_authored_answer(case: Path) -> None:
    written = read(case)
    for answer in authored(case):
        at = answer.at
        projection = reference_v1.project(
            written.until(sequence=at.sequence, time=at.time, minute=at.minute)
        )
        document = projection_document(projection, REFERENCE)
        derived = derive(document, answer.question, answer.work_id, answer.of)
        assert compare(answer, derived) == "agree", f"{answer.id}: derived {derived}"
