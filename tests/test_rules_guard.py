"""What somebody else's rule set answers is held against the prefix that it was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from replay.canonical import encode
from replay.document import projection_document
from replay.errors import RulesError
from replay.event import Record
from replay.history import Cutoff, History, Prefix
from replay.projection import (
    Anomaly,
    Cancelled,
    Censored,
    Clocks,
    Derived,
    Item,
    Mark,
    Progress,
    Projection,
    RuleSet,
    Unassigned,
    Uncovered,
)
from replay.rules import named
from replay.rules.guard import guarded
from replay.schemas import schema
from tests.drawn import histories
from tests.notation import history

MINUTE: Final = 60_000_000_000
BUILT_IN: Final = ("coordination/1", "coordination/2")
FIRST, SECOND = map(named, BUILT_IN)


def answering(projection: Any, like: RuleSet = SECOND) -> Callable[[Prefix], Projection]:
    """A guarded rule set that always answers the same."""
    return guarded(replace(like, project=lambda _: projection))


# ---- what the built-in rule sets answer passes


@pytest.mark.parametrize("rule_set", [FIRST, SECOND], ids=lambda r: r.id)
@given(log=histories())
def test_what_a_published_rule_set_answers_passes_at_every_cutoff(
    log: History, rule_set: RuleSet
) -> None:
    own = guarded(rule_set)
    for at in (0, *(event.recorded_sequence for event in log.events)):
        prefix = log.at(Cutoff(sequence=at))
        assert own(prefix) == rule_set.project(prefix)


@given(log=histories(), minutes=st.integers(0, 30))
def test_what_a_published_rule_set_answers_passes_at_a_time(log: History, minutes: int) -> None:
    prefix = log.at(Cutoff(recorded=minutes * MINUTE))
    assert guarded(SECOND)(prefix) == SECOND.project(prefix)


# ---- what passes is a document of the contract, of the events in view


ODD: Final = (
    *("", "x", "e1", "e2", "e99", "W1", "W2", "r1", "2/links", "active", "blocked", "passed"),
    *("heartbeat", "link_missing", "no_origin", "current", "supported", "\ud800", None, True),
    *(0, -1, 1, MINUTE, 10**30, 1.5, float("nan"), b"e1", (), ("e1",), ("e99",), ["e1"], (1,)),
    *(Mark("e1", 0), Mark("e99", 0), Mark("e1", 10**30), Censored(0), Censored(10**30)),
    *(Cancelled(Mark("e1", 0)), Derived(None, None, "2/links"), (Anomaly("x", "e1"),)),
    Derived("active", Mark("e1", 0), "2/state-base", ("e1",)),
)


def parts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every part of what was answered and its path; the facts are the prefix's and left out."""
    yield path, value
    if isinstance(value, Record):
        for name in value.__struct_fields__:
            if name != "facts":
                yield from parts(getattr(value, name), (*path, name))
    if isinstance(value, tuple):
        for index, entry in enumerate(value):
            yield from parts(entry, (*path, index))


def changed(value: Any, path: tuple[Any, ...], part: Any) -> Any:
    """The same with another part at a path."""
    if not path:
        return part
    first, *rest = path
    if isinstance(first, int):
        return (*value[:first], changed(value[first], tuple(rest), part), *value[first + 1 :])
    return replace(value, **{first: changed(getattr(value, first), tuple(rest), part)})


def cited(value: Any, key: str | None = None) -> Iterator[tuple[str, str]]:
    """Every event and every rule that a document cites."""
    match value:
        case dict():
            for name, part in value.items():
                # the target of a link is what the event says, whether it is there or not
                if (name, value.get("code")) != ("related", "link_missing"):
                    yield from cited(part, name)
        case list():
            for entry in value:
                yield from cited(entry, key)
        case str() if key in ("event_id", "evidence", "repeats", "related", "undetermined_by"):
            yield "event", value
        case str() if key == "rule":
            yield "rule", value


@given(data=st.data(), log=histories(max_size=6), rule_set=st.sampled_from((FIRST, SECOND)))
def test_an_answer_that_is_changed_anywhere_is_refused_or_still_a_document_of_the_contract(
    data: st.DataObject, log: History, rule_set: RuleSet
) -> None:
    prefix = log.at(Cutoff())
    answered = rule_set.project(prefix)
    there = [*parts(answered)]
    path, part = data.draw(st.sampled_from(there))
    others = [*ODD, *(other for _, other in there)]
    alike = [other for other in others if type(other) is type(part) and other is not part]
    pool = data.draw(st.sampled_from([alike or others, alike or others, others]))
    answered = changed(answered, path, data.draw(st.sampled_from(pool)))
    try:
        passed = answering(answered, rule_set)(prefix)
    except RulesError:
        return
    document: Any = projection_document(passed, rule_set)
    assert encode(document)
    validator = jsonschema.Draft202012Validator(schema("projection"))
    assert [f"{e.json_path}: {e.message}" for e in validator.iter_errors(document)] == []
    allowed = {("event", event.event_id) for event in log.events}
    allowed |= {("rule", rule.id) for rule in rule_set.rules}
    assert {*cited(document)} <= allowed


# ---- what is refused, and what it says


LOG: Final = history("r1 ci+ +b1 r2<e3 +b1 review+ ready says=active beat# r1#W2 ci-#W2 ~b1!e3^p")
PREFIX: Final = LOG.until()
GOOD: Final = SECOND.project(PREFIX)


def test_the_answer_that_is_changed_below_passes_and_is_no_empty_talk() -> None:
    assert answering(GOOD)(PREFIX) is GOOD
    (item, _) = GOOD.items
    assert all((item.episodes, item.receipts, item.claims, item.corrections, item.anomalies))
    assert GOOD.unassigned.events == 1


def with_item(**parts: Any) -> Projection:
    """The good answer, with other parts of its first item."""
    return replace(GOOD, items=(replace(GOOD.items[0], **parts), *GOOD.items[1:]))


def first(name: str, **parts: Any) -> Projection:
    """The good answer, with other parts of the first entry of a list of its first item."""
    entry, *others = getattr(GOOD.items[0], name)
    return with_item(**{name: (replace(entry, **parts), *others)})


ITEM: Final[Item] = GOOD.items[0]
NOTHING: Final = Derived(None, None, "2/links")
BLANK: Final = replace(
    ITEM,
    state=NOTHING,
    revision=NOTHING,
    clocks=Clocks(ITEM.clocks.last_message),
    episodes=None,
    receipts=None,
    claims=None,
    corrections=None,
    anomalies=(),
    undetermined_by=("e8",),
)
SAID: Final = Uncovered("e8", "status.asserted", "W1")


class Mine(Record, frozen=True):
    """A record that is none of ours."""


REFUSED: Final[dict[str, tuple[Any, str]]] = {
    "nothing": (None, "project: expected a Projection, found None"),
    "another's rules": (
        replace(GOOD, rules="coordination/1"),
        'rules: expected "coordination/2", found "coordination/1"',
    ),
    "another prefix's facts": (
        replace(GOOD, facts=LOG.until(sequence=3).facts),
        "facts: expected the prefix's own, found others",
    ),
    "a list of items": (replace(GOOD, items=[*GOOD.items]), "items: expected tuple, found a value"),
    "a record of one's own": (
        with_item(state=Mine()),
        "items[0].state: expected Derived, found a value of type Mine",
    ),
    "a record left out": (
        with_item(clocks=Clocks(None)),  # type: ignore[arg-type]
        "items[0].clocks.last_message: expected Mark, found None",
    ),
    "an end that is none": (
        first("episodes", end=Mark("e4", 3 * MINUTE)),
        "episodes[0].end: expected Recovered or Cancelled or CancelledWithWork or Censored, found",
    ),
    "a status that is none": (
        first("receipts", status="fresh"),
        "items[0].receipts[0].status: expected one of unbound, revision_unknown, current, super",
    ),
    "a time that is true": (
        with_item(clocks=replace(ITEM.clocks, last_message=Mark("e8", True))),
        "last_message.time: expected int, found a value of type bool",
    ),
    "text that no document can hold": (
        first("corrections", reason="\ud800"),
        r"corrections[0].reason: expected text that UTF-8 can hold, found '\ud800'",
    ),
    "an item twice": (replace(GOOD, items=(ITEM, *GOOD.items)), "items: expected the 2 work items"),
    "an item left out": (replace(GOOD, items=(ITEM,)), "by work_id, found ['W1']"),
    "items unsorted": (replace(GOOD, items=GOOD.items[::-1]), "found ['W2', 'W1']"),
    "an item that nobody named": (
        with_item(work_id="W9"),
        'items[0].work_id: expected a work item that a visible event names, found "W9"',
    ),
    "an event that is not there": (
        with_item(state=replace(ITEM.state, evidence=("e1", "e99"))),
        'items[0].state.evidence[1]: expected the id of a visible event, found "e99"',
    ),
    "a time at which nothing was recorded": (
        with_item(state=replace(ITEM.state, since=Mark("e1", 1))),
        "items[0].state.since.time: expected nanoseconds at which a visible event was recorded",
    ),
    "a rule of nobody": (
        with_item(state=replace(ITEM.state, rule="2/none")),
        'items[0].state.rule: expected the id of one of its rules, found "2/none"',
    ),
    "progress by a rule of nobody": (
        with_item(clocks=replace(ITEM.clocks, last_progress=Progress("e1", 0, ""))),
        'items[0].clocks.last_progress.rule: expected the id of one of its rules, found ""',
    ),
    "a state that is none": (
        with_item(state=replace(ITEM.state, value="busy")),
        "items[0].state.value: expected one of proposed, active,",
    ),
    "a value since nothing": (
        with_item(state=replace(ITEM.state, since=None)),
        "items[0].state.since: expected None exactly where the value is, found None",
    ),
    "a value with no events": (
        with_item(revision=replace(ITEM.revision, evidence=())),
        "items[0].revision.evidence: expected the events that support the value, found ()",
    ),
    "another last message": (
        with_item(clocks=replace(ITEM.clocks, last_message=Mark("e1", 0))),
        "items[0].clocks.last_message: expected its last visible event, Mark(event_id='e12'",
    ),
    "a flag left out": (with_item(flags=()), "items[0].flags: expected ('no_origin',), found ()"),
    "an episode of another length": (
        first("episodes", elapsed=1),
        f"items[0].episodes[0].elapsed: expected {MINUTE}, from its origin to its end, and not",
    ),
    "an episode observed elsewhere": (
        first("episodes", end=Censored(5 * MINUTE), elapsed=3 * MINUTE),
        f"items[0].episodes[0].end.at: expected {11 * MINUTE}, where observation ends, found",
    ),
    "an episode of another item": (
        first("episodes", work_id="W2"),
        'items[0].episodes: expected those of "W1", found "W2"',
    ),
    "an episode twice": (
        with_item(episodes=(ITEM.episodes or ())[:1] * 2),
        "items[0].episodes: expected each of another event, found ['e3', 'e3']",
    ),
    "a receipt that its event does not bear out": (
        first("receipts", outcome="failed"),
        "items[0].receipts[0]: expected what its event says, ('check.completed', 'ci', None,",
    ),
    "a receipt of a heartbeat": (
        first("receipts", event_id="e9"),
        'items[0].receipts[0]: expected a completed check or review, found "heartbeat"',
    ),
    "a claim of another type": (
        first("claims", claim="work.completed"),
        "items[0].claims[0].claim: expected its event's type, one of review.requested,",
    ),
    "a claim that an artifact makes": (
        first("claims", event_id="e1", claim="artifact.published"),
        'status.asserted, found "artifact.published"',
    ),
    "a correction of another target": (
        first("corrections", target="e1"),
        'items[0].corrections[0].target: expected what the event supersedes, found "e1"',
    ),
    "an anomaly with a code of its own": (
        first("anomalies", code="odd"),
        "items[0].anomalies[0].code: expected one of link_self,",
    ),
    "an anomaly related to what is not there": (
        first("anomalies", related=("e99",)),
        'items[0].anomalies[0].related[0]: expected the id of a visible event, found "e99"',
    ),
    "lists that are unknown of a determined item": (
        with_item(claims=None),
        "items[0].claims: expected a tuple, since nothing makes the item undetermined, found None",
    ),
    "a count that is not": (
        replace(GOOD, unassigned=replace(GOOD.unassigned, events=2)),
        "unassigned.events: expected the 1 in view, found 2",
    ),
    "no last message of events that name no item": (
        replace(GOOD, unassigned=Unassigned(1, None, ())),
        "unassigned.last_message: expected its last visible event, Mark(event_id='e9'",
    ),
    "an uncovered event of another type": (
        replace(GOOD, uncovered=(replace(SAID, type="note"),)),
        "uncovered[0]: expected its event's type and work item, found ('note', 'W1')",
    ),
    "an uncovered event twice": (
        replace(GOOD, items=(BLANK, *GOOD.items[1:]), uncovered=(SAID, SAID)),
        "uncovered: expected each event once, by sequence, found ['e8', 'e8']",
    ),
    "an uncovered event of a determined item": (
        replace(GOOD, uncovered=(SAID,)),
        "items[0].undetermined_by: expected its events that are uncovered, ('e8',), found ()",
    ),
    "undetermined by what is covered": (
        replace(GOOD, items=(BLANK, *GOOD.items[1:])),
        "items[0].undetermined_by: expected its events that are uncovered, (), found ('e8',)",
    ),
    "a state of an undetermined item": (
        replace(GOOD, items=(replace(BLANK, state=ITEM.state), *GOOD.items[1:])),
        "items[0].state.value: expected none, since the item is undetermined, found",
    ),
    "claims of an undetermined item": (
        replace(GOOD, items=(replace(BLANK, claims=()), *GOOD.items[1:])),
        "items[0].claims: expected none, since the item is undetermined, found ()",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_answer_that_cannot_be_one_says_where_what_was_expected_and_found(what: str) -> None:
    answered, said = REFUSED[what]
    with pytest.raises(RulesError) as caught:
        answering(answered)(PREFIX)
    assert said in str(caught.value)
    assert str(caught.value).startswith("rule set 'coordination/2': ")


def test_an_item_with_uncovered_events_of_which_nothing_is_said_passes() -> None:
    answered = replace(GOOD, items=(BLANK, *GOOD.items[1:]), uncovered=(SAID,))
    assert answering(answered)(PREFIX) == answered


@pytest.mark.parametrize("related", [("anything",), ()])
def test_a_missing_target_is_the_one_thing_that_need_not_be_visible(related: Any) -> None:
    answered = first("anomalies", code="link_missing", related=related)
    assert answering(answered)(PREFIX) == answered
    with pytest.raises(RulesError, match=r"related: expected ids, found \(''"):
        answering(first("anomalies", code="link_missing", related=("",)))(PREFIX)


def test_an_interruption_is_no_failure_of_a_rule_set() -> None:
    def interrupted(_: Prefix) -> Projection:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guarded(replace(SECOND, project=interrupted))(PREFIX)
