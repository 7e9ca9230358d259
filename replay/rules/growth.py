"""What changes at each event of a log under coordination/2, in one pass.

Decides nothing: every answer is read off the board of `replay.rules.v2`.  What is here is
which answers an event can have moved, so that a long log need not be asked everything
again at every event; where a correction made an item start over, all of them.  A property
test holds the changes against projections at every cutoff.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from replay.event import Event
from replay.history import Prefix
from replay.projection import (
    Anomaly,
    Answer,
    AnswerKey,
    Change,
    Growth,
    answers,
    unobserved,
)
from replay.rules.v2 import ASSERTION, Board, Links, Said, WorkItem, link_anomalies

_Moved = Iterable[tuple[AnswerKey, Answer | None]]


def grow(prefix: Prefix) -> Growth:
    """For each event of the prefix, what changed at it."""
    board = _GrowingBoard()
    for event in prefix.events:
        yield event, tuple(board.read(event))


class _GrowingBoard:
    def __init__(self) -> None:
        self.board = Board()
        self.items: dict[str, _GrowingItem] = {}
        self.unassigned = _Answers(None)
        self.waiting: dict[str, list[Event]] = {}  # by a target that is not visible yet
        self.last_sequence: int | None = None
        self.incomplete = False

    def read(self, event: Event) -> Iterator[Change]:
        self.board.read(event)
        yield from self._note_gap(event)
        if event.work_id is None:
            yield from self._read_unassigned(event)
        else:
            item = self.items.get(event.work_id)
            if item is None:
                item = _GrowingItem(self.board.items[event.work_id], self.incomplete)
                self.items[event.work_id] = item
            yield from item.read(event)
        for target in (event.supersedes, *event.causes, *event.evidence_refs):
            if target is not None and target not in self.board.visible:
                self.waiting.setdefault(target, []).append(event)
        for waiting in self.waiting.pop(event.event_id, ()):
            yield from self._judge_links_again(waiting)

    def _note_gap(self, event: Event) -> Iterator[Change]:
        before, self.last_sequence = self.last_sequence, event.recorded_sequence
        if not self.incomplete and before is not None and event.recorded_sequence > before + 1:
            self.incomplete = True
            for item in self.items.values():
                item.incomplete = True
                yield from item.answers.move([(("flag", "possibly_incomplete"), True)])

    def _read_unassigned(self, event: Event) -> Iterator[Change]:
        yield from self.unassigned.move([(("last_message", None), self.board.last_unassigned())])
        yield from self.unassigned.anomalies_of(event, self._unassigned_anomalies(event))

    def _unassigned_anomalies(self, event: Event) -> Iterator[Anomaly]:
        return link_anomalies([event], Links(self.board.visible, {}))

    def _judge_links_again(self, event: Event) -> Iterator[Change]:
        if event.work_id is None:
            yield from self.unassigned.anomalies_of(event, self._unassigned_anomalies(event))
        else:
            yield from self.items[event.work_id].judge_links(event)


class _Answers:
    """Answers as they were last given, and what moves them."""

    def __init__(self, work_id: str | None) -> None:
        self.work_id = work_id
        self.given: dict[AnswerKey, Answer] = {}
        self.linked: dict[str, tuple[Anomaly, ...]] = {}  # by event: its anomalies of links

    def move(self, moved: _Moved) -> Iterator[Change]:
        for key, answer in moved:
            if self.given.get(key) == answer:
                continue
            if answer is None:
                del self.given[key]
            else:
                self.given[key] = answer
            yield Change(self.work_id, key, answer)

    def anomalies_of(self, event: Event, found: Iterable[Anomaly]) -> Iterator[Change]:
        before = self.linked.get(event.event_id, ())
        self.linked[event.event_id] = now = tuple(found)
        gone = dict.fromkeys(before)
        for anomaly in now:
            gone.pop(anomaly, None)
        yield from self.move((("anomaly", a), None) for a in gone)
        yield from self.move((("anomaly", a), True) for a in now)


class _GrowingItem:
    """One item: its answers, and what the last event found of what can still move."""

    def __init__(self, item: WorkItem, incomplete: bool) -> None:
        self.item = item
        self.incomplete = incomplete
        self.answers = _Answers(item.work_id)
        self.corrections_read = 0
        self._start_over()

    def _start_over(self) -> None:
        self.current: str | None = None
        self.received = 0
        self.anomalies = 0
        self.by_revision: dict[str | None, list[int]] = {}
        self.claims = 0
        self.unsettled: list[Said] = []
        self.evidence: object = None

    def read(self, event: Event) -> Iterator[Change]:
        if self.corrections_read != len(self.item.corrected_by):
            self.corrections_read = len(self.item.corrected_by)
            yield from self._all_again()
            return
        yield from self.answers.move(self._messages())
        yield from self.judge_links(event)
        yield from self.answers.move(
            (("correction", c.event_id), c) for c in self.item.correction(event)
        )
        if not event.inert:
            yield from self.answers.move(self._head())
            yield from self.answers.move(self._receipts())
            yield from self.answers.move(self._episodes())
            yield from self.answers.move(self._claims())
            yield from self.answers.move(self._new_anomalies())

    def judge_links(self, event: Event) -> Iterator[Change]:
        if event.supersedes is None and not event.causes and not event.evidence_refs:
            return
        yield from self.answers.anomalies_of(event, self._link_anomalies(event))

    def _link_anomalies(self, event: Event) -> Iterator[Anomaly]:
        yield from link_anomalies([event], self.item.links)
        yield from self.item.refused_corrections([event])

    def _messages(self) -> _Moved:
        yield ("last_message", None), self.item.last_message()
        if len(self.item.events) == 1:
            yield ("state", None), self.item.state()
            yield ("revision", None), self.item.revision()
            if self.item.has_no_origin():
                yield ("flag", "no_origin"), True
            if self.incomplete:
                yield ("flag", "possibly_incomplete"), True

    def _head(self) -> _Moved:
        item, fold = self.item, self.item.fold
        yield ("state", None), item.state()
        yield ("revision", None), item.revision()
        for name, clock in (
            ("last_progress", fold.progress),
            ("blocked_since", fold.blocked_since()),
        ):
            if clock is not None or (name, None) in self.answers.given:
                yield (name, None), clock

    def _receipts(self) -> _Moved:
        fold = self.item.fold
        moved = range(self.received, len(fold.received))
        for index in moved:
            revision = fold.received[index][0].artifact_revision
            self.by_revision.setdefault(revision, []).append(index)
        self.received = len(fold.received)
        yield from self._receipts_at(moved)
        if fold.current != self.current:
            # an announcement makes its revision current, so no third one's receipts move
            for revision in (self.current, fold.current):
                yield from self._receipts_at(self.by_revision.get(revision, ()))
            self.current = fold.current

    def _receipts_at(self, indexes: Iterable[int]) -> _Moved:
        fold = self.item.fold
        for index in indexes:
            event, overtaken = fold.received[index]
            receipt = fold.receipt(self.item.work_id, event, overtaken)
            yield ("receipt", event.event_id), receipt
            yield from ((("anomaly", a), True) for a in fold.anachronism(event))

    def _episodes(self) -> _Moved:
        for episode in self.item.fold.touched:
            record = episode.record(self.item.work_id, episode.at)
            yield ("episode", episode.opened.event_id), unobserved(record)
        self.item.fold.touched = []

    def _claims(self) -> _Moved:
        fold = self.item.fold
        new = fold.claims[self.claims :]
        self.claims = len(fold.claims)
        moved = new
        if self.evidence is not fold.evidence:
            self.evidence = fold.evidence
            moved = [*self.unsettled, *new]
            self.unsettled = []
        for said in moved:
            yield ("claim", said.event.event_id), self.item.claim(said)
        self.unsettled += [said for said in moved if not self._is_settled(said)]

    def _is_settled(self, said: Said) -> bool:
        """Whether only a correction can still move the claim's verdict."""
        fold = self.item.fold
        is_judged = said.rule == ASSERTION.id or said.place in fold.settled
        return is_judged and said is not fold.completing

    def _new_anomalies(self) -> _Moved:
        found = self.item.fold.anomalies
        yield from ((("anomaly", a), True) for a in found[self.anomalies :])
        self.anomalies = len(found)

    def _all_again(self) -> Iterator[Change]:
        """After a correction: everything, and from here on as if it had always been so."""
        now = answers(self.item.item(0, self.incomplete))
        gone = [(key, None) for key in self.answers.given if key not in now]
        yield from self.answers.move(gone)
        yield from self.answers.move(now.items())
        self._start_over()
        for _ in (*self._receipts(), *self._episodes(), *self._claims(), *self._new_anomalies()):
            pass  # brings what is remembered up to the fold
        self.answers.linked = {
            event.event_id: tuple(self._link_anomalies(event)) for event in self.item.linked
        }
