"""The valid-from/valid-to history of every answer, corrections included.

An answer holds from the sequence of the event at which it began to just before the
sequence of the one at which it became another or ended, so what was known at any cutoff
is a look-up.  A recorded time is a cutoff too: it shows the events up to some sequence.

An open episode is given without how far it was observed, and a question has no interval
where its answer is that there is nothing to show.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from replay.document import (
    TOOL,
    Json,
    accounting_document,
    anomaly_document,
    check_identities,
    claim_document,
    correction_document,
    cutoff_document,
    derived_document,
    episode_document,
    input_document,
    mark_document,
    receipt_document,
)
from replay.event import Event, Record, TimeBasis
from replay.history import Prefix, PrefixFacts
from replay.projection import (
    Anomaly,
    Answer,
    AnswerKey,
    Censored,
    Change,
    Claim,
    Correction,
    Derived,
    Episode,
    Growth,
    Mark,
    Progress,
    Projection,
    Receipt,
    RuleSet,
    Unassigned,
    answers,
)
from replay.timestamps import render

_Subject = tuple[str | None, AnswerKey]


class Moment(Record, frozen=True):
    """A sequence, the event that bears it, and its recorded time in nanoseconds."""

    sequence: int
    event_id: str
    time: int


class Interval(Record, frozen=True):
    """One answer, from the event at which it began to, exclusively, the one that ended it.

    An answer that holds at the end of the log has no `valid_to`.
    """

    work_id: str | None
    key: AnswerKey
    answer: Answer
    valid_from: Moment
    valid_to: Moment | None

    def holds_at(self, sequence: int) -> bool:
        """Whether this was the answer at a cutoff sequence."""
        begun = self.valid_from.sequence <= sequence
        return begun and (self.valid_to is None or sequence < self.valid_to.sequence)


class Timeline:
    """Every interval of a prefix, in order of work item, question and sequence.

    The events that name no work item are the one of id null, which sorts first.
    """

    def __init__(self, rules: str, facts: PrefixFacts, intervals: Iterable[Interval]) -> None:
        self.rules = rules
        self.facts = facts
        self.intervals = tuple(sorted(intervals, key=_order))
        self._index: dict[_Subject, list[Interval]] = {}
        for interval in self.intervals:
            self._index.setdefault((interval.work_id, interval.key), []).append(interval)

    def answer(
        self, work_id: str | None, question: str, *, of: Any = None, sequence: int
    ) -> Answer | None:
        """The answer that held at a cutoff sequence; null where there was nothing to show."""
        intervals = self._index.get((work_id, (question, of)), [])
        index = bisect_right(intervals, sequence, key=lambda i: i.valid_from.sequence)
        if not index or not intervals[index - 1].holds_at(sequence):
            return None
        return intervals[index - 1].answer

    def at(self, sequence: int) -> dict[_Subject, Answer]:
        """Every answer that held at a cutoff sequence."""
        return {
            (interval.work_id, interval.key): interval.answer
            for interval in self.intervals
            if interval.holds_at(sequence)
        }

    def to_arrow(self, name: str = "timeline") -> Any:
        """A `pyarrow.Table`: `timeline`, or `latencies`, which are read off it.

        `replay schema tables` prints their columns.  Raises `UsageError` for another name.
        """
        from replay.tables import timeline_table

        return timeline_table(self, name)

    def to_pandas(self, name: str = "timeline") -> Any:
        """The same as a `pandas.DataFrame`; `attrs["replay"]` says of what and at which cutoff."""
        from replay.tables import frame

        return frame(self.to_arrow(name))

    def __repr__(self) -> str:
        count = f"{len(self.intervals)} interval{'' if len(self.intervals) == 1 else 's'}"
        return f"<Timeline of {self.facts.input.name!r} under {self.rules}: {count}>"

    def _repr_html_(self) -> str:
        from replay.display import timeline_html

        return timeline_html(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The intervals as an Arrow stream (the Arrow PyCapsule interface)."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


def timeline(prefix: Prefix, rule_set: RuleSet) -> Timeline:
    """The timeline of a prefix under a rule set."""
    growth = rule_set.grow(prefix) if rule_set.grow is not None else _projected(prefix, rule_set)
    return Timeline(rule_set.id, prefix.facts, _intervals(growth))


def all_answers(projection: Projection) -> dict[_Subject, Answer]:
    """A projection as a timeline gives it at one cutoff."""
    found: dict[_Subject, Answer] = {
        (None, key): answer for key, answer in _of_unassigned(projection.unassigned).items()
    }
    for item in projection.items:
        found.update(((item.work_id, key), answer) for key, answer in answers(item).items())
    return found


def _of_unassigned(unassigned: Unassigned) -> dict[AnswerKey, Answer]:
    found: dict[AnswerKey, Answer] = {("anomaly", a): True for a in unassigned.anomalies}
    if unassigned.last_message is not None:
        found["last_message", None] = unassigned.last_message
    return found


def _order(interval: Interval) -> tuple[bool, str, str, tuple[str, ...], int]:
    question, of = interval.key
    subject = (of.event_id, of.code, *of.related) if isinstance(of, Anomaly) else (of or "",)
    return (
        interval.work_id is not None,
        interval.work_id or "",
        question,
        subject,
        interval.valid_from.sequence,
    )


def _intervals(growth: Growth) -> Iterator[Interval]:
    begun: dict[_Subject, tuple[Event, Answer]] = {}
    for event, changes in growth:
        for change in changes:
            subject = (change.work_id, change.key)
            if subject in begun:
                yield _interval(subject, *begun.pop(subject), event)
            if change.answer is not None:
                begun[subject] = (event, change.answer)
    for subject, (event, answer) in begun.items():
        yield _interval(subject, event, answer, None)


def _interval(subject: _Subject, event: Event, answer: Answer, end: Event | None) -> Interval:
    work_id, key = subject
    return Interval(work_id, key, answer, _moment(event), None if end is None else _moment(end))


def _moment(event: Event) -> Moment:
    return Moment(event.recorded_sequence, event.event_id, event.recorded_at)


def timeline_document(line: Timeline, rule_set: RuleSet) -> dict[str, Json]:
    """The `replay.timeline/1` document."""
    facts = line.facts
    check_identities(facts)
    basis = facts.basis
    return {
        "document": "replay.timeline/1",
        "tool": TOOL,
        "input": input_document(facts.input),
        "rules": {"id": rule_set.id, "digest": f"sha256:{rule_set.digest}"},
        "cutoff": cutoff_document(facts),
        "accounting": accounting_document(facts),
        "intervals": [_interval_document(interval, basis) for interval in line.intervals],
    }


def _interval_document(interval: Interval, basis: TimeBasis) -> dict[str, Json]:
    question, of = interval.key
    return {
        "work_id": interval.work_id,
        "question": question,
        "of": of.code if isinstance(of, Anomaly) else of if question in _OF_EVENTS else None,
        "value": _value_document(interval, basis),
        "valid_from": _moment_document(interval.valid_from, basis),
        "valid_to": _moment_document(interval.valid_to, basis),
    }


_OF_EVENTS: Final = ("episode", "receipt", "claim", "correction")


def _value_document(interval: Interval, basis: TimeBasis) -> Json:
    match interval.answer:
        case Derived() as derived:
            return derived_document(derived, basis)
        case Mark() | Progress() as mark:
            return mark_document(mark, basis)
        case Episode() as episode:
            is_open = isinstance(episode.end, Censored)
            document = episode_document(episode, basis)
            # how far an open one was observed is for the cutoff of a question to say
            return {**document, "end": None, "elapsed_seconds": None} if is_open else document
        case Receipt() as receipt:
            return receipt_document(receipt)
        case Claim() as claim:
            return claim_document(claim)
        case Correction() as correction:
            return correction_document(correction)
        case _:
            of = interval.key[1]
            return anomaly_document(of) if isinstance(of, Anomaly) else str(of)


def _moment_document(moment: Moment | None, basis: TimeBasis) -> Json:
    if moment is None:
        return None
    return {
        "sequence": moment.sequence,
        "event_id": moment.event_id,
        "time": render(moment.time, basis),
    }


# Rule sets that do not say themselves what changes: by projecting at every event.


def _projected(prefix: Prefix, rule_set: RuleSet) -> Growth:
    """All of the log at a time, or where items are judged alone those an event can move."""
    given: dict[str | None, dict[AnswerKey, Answer]] = {}
    log = _Seen()
    for event in prefix.events:
        moved = log.see(event)
        events = log.of(moved) if rule_set.items_alone else tuple(log.visible.values())
        seen = Prefix(events, replace(prefix.facts, observed=event.recorded_at))
        now = _by_item(rule_set.project(seen), incomplete=log.incomplete)
        subjects = moved if rule_set.items_alone else {*given, *now}
        changes: list[Change] = []
        for work_id in sorted(subjects, key=lambda w: (w is not None, w or "")):
            changes += _changes(work_id, given.get(work_id, {}), now.get(work_id, {}))
            given[work_id] = now.get(work_id, {})
        yield event, tuple(changes)


def _changes(
    work_id: str | None, before: dict[AnswerKey, Answer], now: dict[AnswerKey, Answer]
) -> Iterator[Change]:
    yield from (Change(work_id, key, None) for key in before if key not in now)
    for key, answer in now.items():
        if before.get(key) != answer:
            yield Change(work_id, key, answer)


def _by_item(
    projection: Projection, *, incomplete: bool
) -> dict[str | None, dict[AnswerKey, Answer]]:
    found: dict[str | None, dict[AnswerKey, Answer]] = {None: _of_unassigned(projection.unassigned)}
    for item in projection.items:
        found[item.work_id] = answers(item)
        # what was projected may be some items' events only, which have gaps of their own
        found[item.work_id].pop(_INCOMPLETE, None)
        if incomplete:
            found[item.work_id][_INCOMPLETE] = True
    return found


_INCOMPLETE: Final[AnswerKey] = ("flag", "possibly_incomplete")


class _Seen:
    """A log as it grows, by work item, and who waits for an event that is not there yet."""

    def __init__(self) -> None:
        self.visible: dict[str, Event] = {}
        self.groups: dict[str | None, list[Event]] = {}
        self.waiting: dict[str, set[str | None]] = {}
        self.incomplete = False
        self._last: int | None = None

    def see(self, event: Event) -> set[str | None]:
        """Take an event in; the work items whose answers it can move."""
        self.visible[event.event_id] = event
        self.groups.setdefault(event.work_id, []).append(event)
        for target in _targets(event):
            if target not in self.visible:
                self.waiting.setdefault(target, set()).add(event.work_id)
        moved = {event.work_id, *self.waiting.pop(event.event_id, ())}
        gap = self._last is not None and event.recorded_sequence > self._last + 1
        self._last = event.recorded_sequence
        if gap and not self.incomplete:
            self.incomplete = True
            return {*self.groups}
        return moved

    def of(self, work_ids: set[str | None]) -> tuple[Event, ...]:
        """The events of these items, and those of others that they link to."""
        events = {e.event_id: e for work_id in work_ids for e in self.groups[work_id]}
        for event in [*events.values()]:
            for target in _targets(event):
                if target in self.visible:
                    events[target] = self.visible[target]
        return tuple(sorted(events.values(), key=lambda event: event.recorded_sequence))


def _targets(event: Event) -> Iterator[str]:
    if event.supersedes is not None:
        yield event.supersedes
    yield from event.causes
    yield from event.evidence_refs
