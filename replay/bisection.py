"""`replay bisect`: every answer that one question had as a log grew, and where each began.

An interval is one answer; that its rule or its evidence changed meanwhile begins no new one,
and they are given as they were where it began.  Before the first event nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replay.asking import Asked
from replay.document import (
    TOOL,
    Json,
    accounting_document,
    check_identities,
    cutoff_document,
    input_document,
)
from replay.errors import UsageError, quoted
from replay.event import Record, TimeBasis
from replay.flips import Flip, Grown
from replay.history import Prefix
from replay.projection import RuleSet
from replay.timeline import Moment
from replay.timestamps import render
from replay.told import Told

NOTHING = "null"
UNDETERMINED = "undetermined"


class Stretch(Record, frozen=True):
    """One answer, from its first event (null: before any) to the one that ended it, excluded."""

    told: Told
    valid_from: Moment | None
    valid_to: Moment | None
    again: bool
    """Whether it is called what it had been called before, and not in between (`words`)."""


def bisect(prefix: Prefix, rule_set: RuleSet, asked: Asked) -> list[Stretch]:
    """The answers to a question at every cutoff sequence, in order, from before any event.

    A time cutoff of the prefix bounds each of them, as `--at-sequence` and `--at-minute`
    do together.  Raises `UsageError` where no visible event names the work item.
    """
    in_view = {event.work_id for event in prefix.events}
    if asked.work_id is not None and asked.work_id not in in_view:
        raise UsageError(f"no work item {quoted(asked.work_id)} is in view")
    grown = Grown(prefix, rule_set, about={asked.work_id})
    flips = [*_changes(grown.flips(asked, watched=True))]
    found: list[Stretch] = []
    called: list[frozenset[str]] = []
    before: set[frozenset[str]] = set()
    for flip, following in zip(flips, [*flips[1:], None], strict=True):
        called.append(frozenset(words(asked, flip.told)))
        again = called[-1] in before and called[-1] != called[-2]
        until = None if following is None else following.moment
        found.append(Stretch(flip.told, flip.moment, until, again))
        before.add(called[-1])
    return found


def _changes(flips: list[Flip]) -> Iterator[Flip]:
    """Those at which the answer itself changed."""
    last: Any = ()
    for flip in flips:
        if _answer(flip.told) != last:
            last = _answer(flip.told)
            yield flip


def _answer(told: Told) -> Any:
    """What tells one answer from another: that it is not determined is one answer."""
    return (UNDETERMINED,) if told.undetermined_by else [told.value]


def words(asked: Asked, told: Told) -> set[str]:
    """What `--value` may call an answer."""
    value = told.value
    if told.undetermined_by:
        return {UNDETERMINED}
    if value is None or value == []:
        return {NOTHING}
    match asked.question:
        case "state" | "revision":
            return {NOTHING if value["value"] is None else value["value"]}
        case "anomaly":
            return {*value}
        case "permission":
            return {value}
        case "certifying_check":
            return {value["event_id"], value["outcome"]}
        case "last_message" | "last_progress" | "blocked_since":
            return {value["event_id"]}
        case "episode":
            return {value["kind"]}
        case "receipt" | "correction":
            return {value["status"]}
        case _:
            return {value["verdict"]}


def bisect_document(
    prefix: Prefix, rule_set: RuleSet, asked: Asked, value: str | None = None
) -> dict[str, Json]:
    """The `replay.bisect/1` document; `value` is what to look for.  Raises `UsageError`."""
    facts = prefix.facts
    check_identities(facts)
    stretches = bisect(prefix, rule_set, asked)
    found = _found(stretches, asked, value, facts.basis)
    return {
        "document": "replay.bisect/1",
        "tool": TOOL,
        "input": input_document(facts.input),
        "rules": {"id": rule_set.id, "digest": f"sha256:{rule_set.digest}"},
        "cutoff": cutoff_document(facts),
        "accounting": accounting_document(facts),
        "asked": asked.document(),
        "value": value,
        "found": found,
        "intervals": [_document(stretch, facts.basis) for stretch in stretches],
        "exit": _exit(stretches, value, found, facts.input.complete),
    }


def _found(
    stretches: list[Stretch], asked: Asked, value: str | None, basis: TimeBasis
) -> dict[str, Json] | None:
    """Where the answer first became the value, and where it first stopped being it."""
    if value is None:
        return None
    matching = [value in words(asked, stretch.told) for stretch in stretches]
    if True not in matching:
        return None
    became = matching.index(True)
    stopped = matching.index(False, became) if False in matching[became:] else None
    return {
        "became": _moment(stretches[became].valid_from, basis),
        "stopped": None if stopped is None else _moment(stretches[stopped].valid_from, basis),
    }


def _exit(
    stretches: list[Stretch], value: str | None, found: dict[str, Json] | None, complete: bool
) -> int:
    seen = [stretch for stretch in stretches if stretch.valid_from is not None]
    if not complete:
        return 3
    if seen and all(stretch.told.undetermined_by for stretch in seen):
        return 4
    return 1 if value is not None and found is None else 0


def _document(stretch: Stretch, basis: TimeBasis) -> dict[str, Json]:
    told = stretch.told
    return {
        "value": told.value,
        "rule": told.rule,
        "evidence": [*told.evidence],
        "undetermined_by": [*told.undetermined_by],
        "valid_from": _moment(stretch.valid_from, basis),
        "valid_to": _moment(stretch.valid_to, basis),
        "again": stretch.again,
    }


def _moment(moment: Moment | None, basis: TimeBasis) -> Json:
    if moment is None:
        return None
    return {
        "sequence": moment.sequence,
        "event_id": moment.event_id,
        "time": render(moment.time, basis),
    }
