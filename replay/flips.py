"""What each question of the catalogue was answered as a log grew, and where that changed.

A timeline holds the records; the catalogue says what of them answers a question.  Nothing
is decided here: at each event at which a record that a question looks at began or ended, the
answer is read off the records that hold, by `replay.questions.derive`, as it is of a document.

Three answers are no single record.  Anomalies of one code are listed by their events'
sequence.  The check that certifies is the last of its name by place, and an event stands at
its own place unless it supersedes another; where such a one comes last, the order is asked of
a projection at that event.  How long an open episode has lasted moves at every event, or not
at all where a time cutoff is given, and is worked out only where it is asked for (`watched`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Set
from heapq import heappop, heappush
from typing import Any, Final

from msgspec.structs import replace

from replay.asking import Asked, Asking, targets
from replay.document import (
    anomaly_document,
    claim_document,
    correction_document,
    derived_document,
    episode_document,
    mark_document,
    receipt_document,
)
from replay.errors import UsageError
from replay.event import Event, Record
from replay.history import Prefix
from replay.projection import (
    Anomaly,
    AnswerKey,
    Censored,
    Claim,
    Correction,
    Episode,
    Mark,
    Progress,
    Receipt,
    RuleSet,
)
from replay.projection import Derived as DerivedRecord
from replay.timeline import Interval, Moment, timeline
from replay.told import ALWAYS_DETERMINED, Part, Told, told

BLIND: Final[AnswerKey] = ("undetermined", None)
MAX_LISTED: Final = 3_000_000
"""Events that the lists of one question may name in all."""


class Flip(Record, frozen=True):
    """From this event on an answer was that; at null, before the first event."""

    moment: Moment | None
    told: Told


class Grown:
    """The answers of a prefix under a rule set, as its log grew.

    Grown in one pass; then the flips of a question take time in how often it flipped, and
    those of anomalies in how many they list.  Where `about` names the work items that will be
    asked of, events that cannot bear on these are left out if the rules judge items alone; the
    flag `possibly_incomplete`, which is about the whole log, is then not to be asked for.
    """

    def __init__(
        self, prefix: Prefix, rule_set: RuleSet, *, about: Set[str | None] | None = None
    ) -> None:
        self.prefix = prefix
        self.rule_set = rule_set
        self.sequences = [event.recorded_sequence for event in prefix.events]
        self._events = {event.event_id: event for event in prefix.events}
        if about is not None and rule_set.items_alone:
            prefix = Prefix(tuple(_bearing(prefix.events, about)), prefix.facts)
        self._by_work: dict[str | None, list[Interval]] = {}
        for interval in timeline(prefix, rule_set).intervals:
            self._by_work.setdefault(interval.work_id, []).append(interval)
        self._indexes: dict[str | None, dict[AnswerKey, list[Interval]]] = {}
        self._certifying: dict[tuple[str, ...], str] = {}

    def flips(self, asked: Asked, *, watched: bool = False) -> list[Flip]:
        """Where the answer to `asked` changed, in sequence order; the first is of no event.

        Not `watched`, an open episode is told without how far it was observed.  Raises
        `UsageError` where all its lists of anomalies together are too long to be told.
        """
        about = self.intervals(asked.work_id, (asked.question, asked.of))
        if asked.question == "certifying_check":
            about = [i for i in about if _decides(asked, i)]
        blind: list[Interval] = []
        if asked.question not in ALWAYS_DETERMINED:
            blind = self.intervals(asked.work_id, BLIND)
        edges = _Edges(about, blind)
        if asked.question == "anomaly":
            _require_few(edges)
        if watched and asked.question == "episode" and self.prefix.facts.cutoff.recorded is None:
            edges.watch(self._while_open(about))
        found = [Flip(None, told(asked, {}))]
        held = _Held(self._sequence)
        for moment in edges.passed(held):
            uncovered = sorted(held.uncovered, key=self._sequence)
            part = {} if uncovered else self._part(asked, held, moment, watched)
            now = told(asked, part, uncovered)
            if now != found[-1].told:
                found.append(Flip(moment, now))
        return found

    def intervals(self, work_id: str | None, group: AnswerKey) -> list[Interval]:
        """Of what a question looks at; of `BLIND`, that the rules do not cover an event."""
        if work_id not in self._indexes:
            index: dict[AnswerKey, list[Interval]] = {}
            for interval in self._by_work.get(work_id, ()):
                for key in _groups(interval):
                    index.setdefault(key, []).append(interval)
            self._indexes[work_id] = index
        return self._indexes[work_id].get(group, [])

    def _while_open(self, episodes: Iterable[Interval]) -> Iterator[Moment]:
        for interval in episodes:
            episode = interval.answer
            if not isinstance(episode, Episode) or not isinstance(episode.end, Censored):
                continue
            first = bisect_left(self.sequences, interval.valid_from.sequence)
            end = interval.valid_to
            last = len(self.sequences)
            if end is not None:
                last = bisect_left(self.sequences, end.sequence)
            for event in self.prefix.events[first:last]:
                yield Moment(event.recorded_sequence, event.event_id, event.recorded_at)

    def _sequence(self, event_id: str) -> int:
        return self._events[event_id].recorded_sequence

    def _part(self, asked: Asked, held: _Held, moment: Moment, watched: bool) -> Part:
        """What of an item a question looks at, of the records that hold."""
        if not held.intervals:
            return {}
        if asked.question == "anomaly":
            # one order of those of an event, which no question tells apart
            found = sorted(
                (key[1] for key in held.intervals),
                key=lambda anomaly: (self._sequence(anomaly.event_id), anomaly.related),
            )
            return {"anomalies": [anomaly_document(anomaly) for anomaly in found]}
        record = next(reversed(held.intervals.values())).answer
        if asked.question == "certifying_check":
            record = held.intervals[self._last_check(asked, held, moment)].answer
        return self._of_record(asked.question, record, moment, watched)

    def _of_record(self, question: str, answer: Any, moment: Moment, watched: bool) -> Part:
        basis = self.prefix.facts.basis
        match answer:
            case DerivedRecord():
                return {question: derived_document(answer, basis)}
            case Mark() | Progress():
                return {"clocks": {question: mark_document(answer, basis)}}
            case Episode():
                until = self._observed(moment) if watched else answer.opened.time
                return {"episodes": [episode_document(_observed(answer, until), basis)]}
            case Receipt():
                return {"receipts": [receipt_document(answer)]}
            case Claim():
                return {"claims": [claim_document(answer)]}
            case Correction():
                return {"corrections": [correction_document(answer)]}
            case _:
                return {"is": True}

    def _observed(self, moment: Moment) -> int:
        bound = self.prefix.facts.cutoff.recorded
        return moment.time if bound is None else bound

    def _last_check(self, asked: Asked, held: _Held, moment: Moment) -> AnswerKey:
        """The last by place of the results that decide."""
        last = held.newest()
        if len(held.intervals) > 1 and self._events[last].supersedes is not None:
            among = tuple(sorted(key[1] for key in held.intervals))
            if among not in self._certifying:  # places do not move, so it is asked once
                self._certifying[among] = self._asked_again(asked, moment)
            last = self._certifying[among]
        return "receipt", last

    def _asked_again(self, asked: Asked, moment: Moment) -> str:
        seen = bisect_left(self.sequences, moment.sequence + 1)
        prefix = Prefix(self.prefix.events[:seen], self.prefix.facts)
        return str(Asking(prefix, self.rule_set, asked).answer().value["event_id"])


class _Held:
    """The intervals that hold at a stop, and the events that the rules do not cover there."""

    def __init__(self, sequence: Callable[[str], int]) -> None:
        self.intervals: dict[AnswerKey, Interval] = {}
        self.uncovered: set[str] = set()
        self._sequence = sequence
        self._newest: list[tuple[int, str]] = []

    def begin(self, interval: Interval, *, is_blind: bool) -> None:
        question, of = interval.key
        if is_blind:
            self.uncovered.add(of)
            return
        self.intervals[interval.key] = interval
        if question == "receipt":
            heappush(self._newest, (-self._sequence(of), of))

    def end(self, interval: Interval, *, is_blind: bool) -> None:
        if is_blind:
            self.uncovered.discard(interval.key[1])
        else:
            del self.intervals[interval.key]

    def newest(self) -> str:
        """The event of the receipt that was recorded last, of those that hold."""
        while ("receipt", self._newest[0][1]) not in self.intervals:
            heappop(self._newest)
        return self._newest[0][1]


class _Edges:
    """The sequences at which any of some intervals begins or ends."""

    def __init__(self, about: Iterable[Interval], blind: Iterable[Interval]) -> None:
        self.moments: dict[int, Moment] = {}
        self.begun: dict[int, list[tuple[Interval, bool]]] = {}
        self.ended: dict[int, list[tuple[Interval, bool]]] = {}
        for intervals, is_blind in ((about, False), (blind, True)):
            for interval in intervals:
                self._note(interval.valid_from, self.begun, interval, is_blind)
                if interval.valid_to is not None:
                    self._note(interval.valid_to, self.ended, interval, is_blind)

    def _note(
        self,
        at: Moment,
        where: dict[int, list[tuple[Interval, bool]]],
        interval: Interval,
        is_blind: bool,
    ) -> None:
        self.moments[at.sequence] = at
        where.setdefault(at.sequence, []).append((interval, is_blind))

    def watch(self, moments: Iterable[Moment]) -> None:
        """Stop at these, too."""
        for moment in moments:
            self.moments.setdefault(moment.sequence, moment)

    def passed(self, held: _Held) -> Iterator[Moment]:
        """Each stop in order, with what holds there in `held`."""
        for sequence in sorted(self.moments):
            for interval, is_blind in self.ended.get(sequence, ()):
                held.end(interval, is_blind=is_blind)
            for interval, is_blind in self.begun.get(sequence, ()):
                held.begin(interval, is_blind=is_blind)
            yield self.moments[sequence]


def _require_few(edges: _Edges) -> None:
    """Refuse what no memory would hold: a longer list at every event that adds to it."""
    length = total = 0
    for sequence in sorted(edges.moments):
        length += len(edges.begun.get(sequence, ())) - len(edges.ended.get(sequence, ()))
        total += length
    if total > MAX_LISTED:
        raise UsageError(
            f"its answers list {total} events in all, and at most {MAX_LISTED} can be told:"
            " ask up to an earlier cutoff"
        )


def _bearing(events: Iterable[Event], about: Set[str | None]) -> Iterator[Event]:
    """The events of these work items, and those of others that they link to."""
    linked = {to for event in events if event.work_id in about for to in targets(event)}
    for event in events:
        if event.work_id in about or event.event_id in linked:
            yield event


def _groups(interval: Interval) -> Iterator[AnswerKey]:
    """The questions that look at an interval's record."""
    question, of = interval.key
    match interval.answer:
        case Episode() as episode:
            yield from (("episode", event_id) for event_id in episode.events)
        case Receipt(check=str(check), status="current"):
            yield interval.key
            yield "certifying_check", check
        case _ if isinstance(of, Anomaly):
            yield question, of.code
        case _ if question == "undetermined":
            yield from (interval.key, BLIND)
        case _:
            yield interval.key


def _decides(asked: Asked, interval: Interval) -> bool:
    receipt = interval.answer
    return isinstance(receipt, Receipt) and (
        told(asked, {"receipts": [receipt_document(receipt)]}).value is not None
    )


def _observed(episode: Episode, until: int) -> Episode:
    if not isinstance(episode.end, Censored):
        return episode
    return replace(episode, end=Censored(until), elapsed=until - episode.opened.time)
