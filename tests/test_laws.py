"""Laws that every rule set keeps, on drawn histories.

The order of lines, repeated lines, what lies beyond the cutoff, inert events and free text
move no answer; and an answer is a function of the events alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

from replay.event import (
    APPLIED_TYPES,
    CHECK_OUTCOMES,
    LISTED_INERT_TYPES,
    REVIEW_OUTCOMES,
    WORK_STATES,
    Event,
)
from replay.history import LINE_ORDER_DIFFERS, Cutoff, History
from replay.projection import ANOMALY_CODES, Item, Projection, RuleSet
from tests.drawn import cutoffs, event_lists, histories
from tests.notation import event, events, history, history_of

KNOWN_RULES: Final = ("v1", "v2")
PRESENT_RULES: Final = tuple(
    name for name in KNOWN_RULES if importlib.util.find_spec(f"replay.rules.{name}")
)
ROOT: Final = Path(__file__).parent.parent

KEYWORDS: Final = tuple(
    sorted(
        {
            *WORK_STATES,
            *CHECK_OUTCOMES,
            *REVIEW_OUTCOMES,
            *APPLIED_TYPES,
            *LISTED_INERT_TYPES,
            *ANOMALY_CODES,
            *("supported", "contradicted", "stale", "missing", "unbound", "unknown"),
            *("not_comparable", "silenced", "ineffective", "applied", "overtaken"),
            *("recovered", "cancelled_with_work", "censored", "resolved", "local", "null"),
            *("events/1", "elapsed/1", "requires", "blocker_id", "causes", "supersedes"),
        }
    )
)
"""Every word of the contract that could mean something to a careless rule."""

RICH: Final = (
    "propose ci+@r1 r1 ci/local- ci- +b1 beat +b1 r2<b1&e5 ready@ ci+ ready[lint] lint+ note"
    " +b1 ready ci-@r1 r1 start"
)
RICHER: Final = (
    f"{RICH} -b1&e9 review- review+ done says=active +b2 ~b2 cancel reopen done@ retract!e18"
)

law = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module", params=PRESENT_RULES)
def rules(request: pytest.FixtureRequest) -> RuleSet:
    module = importlib.import_module(f"replay.rules.{request.param}")
    rule_set: RuleSet = module.RULES
    return rule_set


def answers(projection: Projection) -> tuple[object, ...]:
    """Everything that is said of events, without the account of the input."""
    return projection.items, projection.unassigned, projection.uncovered


def answers_about(rules: RuleSet, written: Iterable[Event]) -> tuple[object, ...]:
    return answers(rules.project(history_of(tuple(written)).at(Cutoff())))


@law
@given(data=st.data())
def test_the_order_of_lines_moves_no_answer(data: st.DataObject, rules: RuleSet) -> None:
    sorted_history = data.draw(histories())
    shuffled = history_of(data.draw(st.permutations(sorted_history.events)))
    cutoff = data.draw(cutoffs(sorted_history))
    assert answers(rules.project(shuffled.at(cutoff))) == answers(
        rules.project(sorted_history.at(cutoff))
    )
    in_order = shuffled.input.notes != (LINE_ORDER_DIFFERS,)
    assert in_order == (shuffled.input.sha256 == sorted_history.input.sha256)


@law
@given(data=st.data())
def test_a_repeated_line_moves_no_answer(data: st.DataObject, rules: RuleSet) -> None:
    once = data.draw(histories())
    assume(once.events)
    repeated = data.draw(st.lists(st.sampled_from(once.events), min_size=1, max_size=4))
    placed = data.draw(st.permutations([*once.events, *repeated]))
    again = history_of([read_on_line(one, number) for number, one in enumerate(placed, start=1)])
    cutoff = data.draw(cutoffs(once))
    assert answers(rules.project(again.at(cutoff))) == answers(rules.project(once.at(cutoff)))
    assert again.input.duplicates == len(repeated)
    assert again.input.lines == again.input.admitted + len(repeated)


def read_on_line(one: Event, number: int) -> Event:
    """The event as a reader gives it: a record of its own for every line."""
    return msgspec.structs.replace(one, line=number)


@law
@given(data=st.data())
def test_what_a_cutoff_hides_moves_no_answer(data: st.DataObject, rules: RuleSet) -> None:
    full = data.draw(histories())
    cutoff = data.draw(cutoffs(full))
    seen = full.at(cutoff)
    alone = history_of(seen.events).at(cutoff)
    assert answers(rules.project(seen)) == answers(rules.project(alone))


@law
@given(data=st.data())
def test_an_inert_event_moves_only_the_last_message(data: st.DataObject, rules: RuleSet) -> None:
    written = [one for one in data.draw(event_lists()) if one.work_id == "W1"]
    assume(written)
    at = data.draw(st.integers(1, len(written)))
    type = data.draw(st.sampled_from((*sorted(LISTED_INERT_TYPES), "x.unlisted")))
    inert = event(type, "inert", payload={"state": "complete"}, artifact_revision="r1")
    with_it = renumbered([*written[:at], on_item(inert, "W1"), *written[at:]])
    elsewhere = renumbered([*written[:at], on_item(inert, "W2"), *written[at:]])
    moved, still = (item_of(rules, one, "W1") for one in (with_it, elsewhere))
    assert without_last_message(moved) == without_last_message(still)
    if at == len(written):
        assert moved.clocks.last_message.event_id == "inert"
    else:
        assert moved == still


def renumbered(written: Iterable[Event]) -> tuple[Event, ...]:
    """The events with sequences and minutes of their order."""
    return tuple(
        msgspec.structs.replace(one, recorded_sequence=number, recorded_at=number * 60_000_000_000)
        for number, one in enumerate(written, start=1)
    )


def on_item(one: Event, work_id: str) -> Event:
    return msgspec.structs.replace(one, work_id=work_id)


def item_of(rules: RuleSet, written: Iterable[Event], work_id: str) -> Item:
    item = rules.project(history_of(tuple(written)).at(Cutoff())).item(work_id)
    assert item is not None
    return item


def without_last_message(item: Item) -> Item:
    replace = msgspec.structs.replace
    nothing = replace(item.clocks.last_message, event_id="", time=0)
    return replace(item, clocks=replace(item.clocks, last_message=nothing))


@law
@given(data=st.data())
def test_asking_again_gets_the_same_answer(data: st.DataObject, rules: RuleSet) -> None:
    asked = data.draw(histories())
    cutoff = data.draw(cutoffs(asked))
    assert rules.project(asked.at(cutoff)) == rules.project(asked.at(cutoff))


@law
@given(data=st.data())
def test_every_derived_value_cites_a_rule_of_its_rule_set(
    data: st.DataObject, rules: RuleSet
) -> None:
    asked = data.draw(histories())
    known = {rule.id for rule in rules.rules}
    for item in rules.project(asked.at(Cutoff())).items:
        progress = item.clocks.last_progress
        cited = [item.state.rule, item.revision.rule]
        cited += [claim.rule for claim in item.claims or ()]
        cited += [] if progress is None else [progress.rule]
        assert set(cited) <= known


def test_another_process_with_another_hash_seed_gets_the_same_answer(rules: RuleSet) -> None:
    here = repr(astuple(rules.project(history(RICHER).until())))
    for seed in ("1", "2"):
        assert printed_elsewhere(rules, seed) == here


def printed_elsewhere(rules: RuleSet, hash_seed: str) -> str:
    """What a process of its own prints; a rule set's module is that of its function."""
    program = (
        f"from {rules.project.__module__} import RULES\n"
        "from msgspec.structs import astuple\n"
        "from tests.notation import history\n"
        f"print(repr(astuple(RULES.project(history({RICHER!r}).until()))), end='')"
    )
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=environment,
        encoding="utf-8",
    )
    return done.stdout


@pytest.mark.parametrize("notation", [RICH, RICHER], ids=["covered by all", "all classes"])
@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_keyword_in_free_text_moves_nothing(keyword: str, notation: str, rules: RuleSet) -> None:
    written = events(notation)
    said = [with_text(one, keyword) for one in written]
    assert sum(one != other for one, other in zip(written, said, strict=True)) > 5
    assert reasons_blanked(rules, said) == reasons_blanked(rules, written)


@law
@given(data=st.data())
def test_free_text_moves_nothing_in_any_history(data: st.DataObject, rules: RuleSet) -> None:
    written = data.draw(event_lists())
    keyword = st.sampled_from((*KEYWORDS, "r1", "r2", "b1", "e1", "e2", "ci"))
    said = [with_text(one, data.draw(keyword)) for one in written]
    assert reasons_blanked(rules, said) == reasons_blanked(rules, written)


def with_text(one: Event, text: str) -> Event:
    """The event with a text wherever its class has room for free text."""
    if one.inert:
        keys: tuple[str, ...] = ("reason", "note", "text", "state", "outcome", "description")
    elif one.type == "artifact.published":
        keys = ("description",)
    elif one.type.startswith("blocker.") or one.type in ("work.cancelled", "event.retracted"):
        keys = ("reason",)
    else:
        keys = ("note",)  # an extra key, which is kept and means nothing
    return with_payload(one, {**one.payload, **dict.fromkeys(keys, text)})


def with_payload(one: Event, payload: dict[str, Any]) -> Event:
    replaced = event(one.type, one.event_id, payload=payload)
    return msgspec.structs.replace(
        one, data=replaced.data, payload_json=json.dumps(payload).encode()
    )


def reasons_blanked(rules: RuleSet, written: Iterable[Event]) -> tuple[object, ...]:
    """The answers, without the one place where a document shows a reason as it was stated."""
    replace = msgspec.structs.replace
    items, *rest = answers_about(rules, written)
    assert isinstance(items, tuple)
    blanked = tuple(
        replace(
            item,
            corrections=None
            if item.corrections is None
            else tuple(replace(one, reason=None) for one in item.corrections),
        )
        for item in items
    )
    return blanked, *rest


def test_every_rule_set_that_is_registered_is_held_to_these_laws() -> None:
    from replay.rules import known, named

    held = {importlib.import_module(f"replay.rules.{name}").RULES.id for name in PRESENT_RULES}
    assert {named(rules).id for rules in known()} == held


def test_the_histories_of_these_laws_are_not_empty_talk(rules: RuleSet) -> None:
    covered: History = history(RICH)
    (item,) = rules.project(covered.until()).items
    assert item.undetermined_by == ()
    assert item.episodes is not None
    assert item.claims is not None
    assert len(item.episodes) == 2
    assert {claim.verdict for claim in item.claims} >= {"stale"}
