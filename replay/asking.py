"""One question of the catalogue, put to a history or to any part of it.

What an answer rests on is found by leaving events out and asking again.  Events keep their
sequences and times, and elapsed time still runs to the cutoff that was asked of, so a part
differs from the whole in nothing but the events that are not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from replay.document import projection_document
from replay.errors import UsageError, quoted
from replay.event import Event, Record
from replay.history import Prefix
from replay.projection import RuleSet
from replay.questions import ANOMALY_CODES, BY_ID, Derived, derive


class Asked(Record, frozen=True):
    """A question, the work item it is about (null: the events that name none), and its `of`."""

    question: str
    work_id: str | None
    of: str | None = None

    def document(self) -> dict[str, Any]:
        return {"question": self.question, "work_id": self.work_id, "of": self.of}


def asked(question: str, work_id: str | None, of: str | None = None) -> Asked:
    """The question, once it is one of the catalogue and has what it asks of.

    Raises `UsageError`.
    """
    entry = BY_ID.get(question)
    if entry is None:
        raise UsageError(f"not a question: {quoted(question)}: expected one of {', '.join(BY_ID)}")
    if entry.of is None and of is not None:
        raise UsageError(f"{question} is asked of nothing, so not of {quoted(of)}")
    if entry.of is not None and of is None:
        raise UsageError(f"{question} is asked of something: {entry.of}")
    if question == "anomaly" and of is not None and of not in ANOMALY_CODES:
        codes = ", ".join(ANOMALY_CODES)
        raise UsageError(f"not an anomaly: {quoted(of)}: expected one of {codes}")
    return Asked(question, work_id, of)


def require_in_view(prefix: Prefix, asked: Asked) -> None:
    """Refuse a question about a work item or an event that no visible event is: a typo.

    Raises `UsageError`, which names some work items that are in view.
    """
    items = {event.work_id for event in prefix.events if event.work_id is not None}
    work_id = asked.work_id
    if work_id not in items and (work_id is not None or asked.question not in _OF_NO_ITEM):
        listed = ", ".join(quoted(item) for item in sorted(items)[:_NAMED])
        more = f" ({_NAMED} of {len(items)})" if len(items) > _NAMED else ""
        in_view = f"there are: {listed}{more}" if items else "there is none"
        if work_id is None:
            raise UsageError(f"{asked.question} of which work item? {in_view}")
        raise UsageError(f"no work item {quoted(work_id)} is in view; {in_view}")
    ids_in_view = {event.event_id for event in prefix.events}
    is_of_event = BY_ID[asked.question].of in _OF_EVENTS
    if is_of_event and asked.of is not None and asked.of not in ids_in_view:
        raise UsageError(f"no event in view is {quoted(asked.of)}")


_OF_NO_ITEM: Final = ("last_message", "anomaly", "permission")
_OF_EVENTS: Final = ("event", "its origin or a repeat")
_NAMED: Final = 8  # work items that a usage error lists


class Asking:
    """A question put to a prefix under a rule set, with any of its events left out."""

    def __init__(self, prefix: Prefix, rule_set: RuleSet, asked: Asked) -> None:
        self.prefix = prefix
        self.rule_set = rule_set
        self.asked = asked
        self.events = tuple(self._relevant())
        # each correction makes rules read again what it corrects, and what came after
        corrections = sum(event.supersedes is not None for event in self.events)
        self.weight = 1 + 40 * corrections // max(1, len(self.events))

    def _relevant(self) -> Iterator[Event]:
        """The events that can bear on the answer, in sequence order."""
        events = self.prefix.events
        if not self.rule_set.items_alone:
            yield from events
            return
        own = [event for event in events if event.work_id == self.asked.work_id]
        # what is linked to elsewhere is no more than seen to be elsewhere, which anomalies tell
        is_told = self.asked.question == "anomaly"
        linked = {target for event in own for target in targets(event)} if is_told else set()
        for event in events:
            if event.work_id == self.asked.work_id or event.event_id in linked:
                yield event

    def answer(self, events: Sequence[Event] | None = None) -> Derived:
        """What is derived from these events; from all that can bear on it by default."""
        part = Prefix(self.events if events is None else tuple(events), self.prefix.facts)
        document = projection_document(self.rule_set.project(part), self.rule_set)
        return derive(document, self.asked.question, self.asked.work_id, self.asked.of)


def same(one: Derived, other: Derived) -> bool:
    """Whether two answers are one: the value, or that the rules do not determine it."""
    if one.undetermined_by or other.undetermined_by:
        return bool(one.undetermined_by) and bool(other.undetermined_by)
    return bool(one.value == other.value)


def named_by(answer: Derived, asked: Asked) -> list[str]:
    """The ids that an answer names, and what it is asked of: where to begin to look."""
    found = [*answer.evidence, *answer.undetermined_by, *_event_ids(answer.value)]
    return [*found, *([asked.of] if asked.of is not None else [])]


def _event_ids(value: Any) -> Iterator[str]:
    match value:
        case {"event_id": str(event_id)}:
            yield event_id
        case dict():
            for member in value.values():
                yield from _event_ids(member)


def targets(event: Event) -> Iterator[str]:
    """The ids that an event links to."""
    if event.supersedes is not None:
        yield event.supersedes
    yield from event.causes
    yield from event.evidence_refs


def ids(events: Iterable[Event]) -> list[str]:
    return [event.event_id for event in events]
