"""Review latency: how long a work item that was validly ready waited for a review.

The source paper's section 6.2: from the first valid review-ready receipt to the first
substantive review outcome, of all eligible ready items, unfinished ones right-censored at
the cutoff.  In terms of the rules (sections 3.8 to 3.10), of one determined item:

* **ready** is the first moment at which a readiness claim is supported, outside a terminal
  state, with no substantive review of its revision since the claim.  An open blocker does
  not unsay it.
* **reviewed** is the first later review that approves or requests changes and is of the
  revision then current, be it the one that was ready or a later one: the item waited all
  the same.
* **cancelled**, **completed** compete: the terminal state that holds at the cutoff, if it
  was displayed before such a review.  One that was reopened ended nothing.
* **censored** otherwise, where observation ends.

All of it is read off a timeline, which says when each answer was learned.  That is when it
came to hold, unless a correction moved it; so an item with an effective correction is left
out by name, never given a number that its corrected log may not bear out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, Literal, TypeAlias

from replay.event import Record
from replay.projection import Claim, Correction, Derived, Receipt
from replay.timeline import Interval, Moment, Timeline

SUBSTANTIVE: Final = ("approved", "changes_requested")
TERMINAL: Final = ("complete", "cancelled")


class Reviewed(Record, frozen=True):
    """The event of interest: a substantive review, of which revision, with which outcome."""

    by: Moment
    revision: str | None
    outcome: str


class Closed(Record, frozen=True):
    """A competing event: the work ended without a substantive review."""

    by: Moment
    kind: Literal["cancelled", "completed"]


class Waiting(Record, frozen=True):
    """Still without a review where observation ends (nanoseconds)."""

    at: int


LatencyEnd: TypeAlias = Reviewed | Closed | Waiting


class Latency(Record, frozen=True):
    """One item's wait.  `claim` is as it was judged at `ready`, `elapsed` in nanoseconds."""

    work_id: str
    claim: Claim
    revision: str | None
    ready: Moment
    end: LatencyEnd
    elapsed: int


class Latencies(Record, frozen=True):
    """Every wait, by item, and the items whose corrections leave theirs untold."""

    waits: tuple[Latency, ...]
    left_out: tuple[str, ...]


def latencies(line: Timeline) -> Latencies:
    """The review latencies that a timeline shows, at its cutoff."""
    waits: list[Latency] = []
    left_out: list[str] = []
    for work_id, intervals in groupby(line.intervals, key=lambda interval: interval.work_id):
        if work_id is None or line.facts.observed is None:
            continue
        item = _Item(work_id, intervals)
        if not item.determined or not item.supported:
            continue
        if item.corrected:
            left_out.append(work_id)
        elif (ready := item.ready()) is not None:
            waits.append(item.wait(*ready, line.facts.observed))
    return Latencies(tuple(waits), tuple(left_out))


class _Item:
    """One item's intervals, by what they answer, in sequence order."""

    def __init__(self, work_id: str, intervals: Iterable[Interval]) -> None:
        self.work_id = work_id
        by_question: dict[str, list[Interval]] = {}
        self.moments: dict[str, Moment] = {}
        for interval in sorted(intervals, key=lambda i: i.valid_from.sequence):
            by_question.setdefault(interval.key[0], []).append(interval)
            # each event of the item is at first its last message
            self.moments[interval.valid_from.event_id] = interval.valid_from
        self.states = by_question["state"]
        self.revisions = by_question["revision"]
        self.determined = not any(_lasts(i) for i in by_question.get("undetermined", ()))
        self.corrected = any(
            _lasts(i) and isinstance(i.answer, Correction) and i.answer.status != "ineffective"
            for i in by_question.get("correction", ())
        )
        self.supported = [
            (interval, interval.answer)
            for interval in by_question.get("claim", ())
            if isinstance(interval.answer, Claim)
            and (interval.answer.claim, interval.answer.verdict)
            == ("review.requested", "supported")
        ]
        self.reviews = [
            (interval, interval.answer)
            for interval in by_question.get("receipt", ())
            if isinstance(interval.answer, Receipt) and _is_substantive(interval.answer)
        ]

    def ready(self) -> tuple[Claim, Moment] | None:
        """The first moment at which a readiness claim of the item awaits a review."""
        candidates = sorted(
            (
                (at.sequence, self.moments[claim.event_id].sequence, claim, at)
                for interval, claim in self.supported
                for at in self._moments_within(interval)
            ),
            key=lambda candidate: candidate[:2],
        )
        for sequence, _, claim, at in candidates:
            if self._awaits(claim, sequence):
                return claim, at
        return None

    def _moments_within(self, interval: Interval) -> Iterator[Moment]:
        """When a claim that is supported for so long could begin to await a review."""
        yield interval.valid_from
        yield from (
            state.valid_from
            for state in self.states
            if interval.holds_at(state.valid_from.sequence)
        )

    def _awaits(self, claim: Claim, sequence: int) -> bool:
        revision = _value_at(self.revisions, sequence)
        said = self.moments[claim.event_id].sequence
        return _value_at(self.states, sequence) not in TERMINAL and not any(
            review.revision == revision
            and interval.holds_at(sequence)
            and self.moments[review.event_id].sequence > said
            for interval, review in self.reviews
        )

    def wait(self, claim: Claim, ready: Moment, observed: int) -> Latency:
        end = self._end(ready, observed)
        elapsed = (end.at if isinstance(end, Waiting) else end.by.time) - ready.time
        revision = _value_at(self.revisions, ready.sequence)
        return Latency(self.work_id, claim, revision, ready, end, elapsed)

    def _end(self, ready: Moment, observed: int) -> LatencyEnd:
        ends = [end for end in (self._reviewed(ready), self._closed()) if end is not None]
        # at one event the review is what ended the wait, whatever it completed
        return min(ends, key=lambda end: end.by.sequence, default=Waiting(observed))

    def _reviewed(self, ready: Moment) -> Reviewed | None:
        for interval, review in self.reviews:
            at = interval.valid_from
            # a later interval of a review is not the review
            if at.event_id == review.event_id and at.sequence > ready.sequence:
                return Reviewed(at, review.revision, review.outcome)
        return None

    def _closed(self) -> Closed | None:
        state = self.states[-1].answer
        if not isinstance(state, Derived) or state.value not in TERMINAL or state.since is None:
            return None
        by = self.moments[state.since.event_id]
        return Closed(by, "completed" if state.value == "complete" else "cancelled")


def _lasts(interval: Interval) -> bool:
    return interval.valid_to is None


def _is_substantive(receipt: Receipt) -> bool:
    """Approves or requests changes, of the revision that is current in that interval."""
    return (
        receipt.type == "review.completed"
        and receipt.outcome in SUBSTANTIVE
        and receipt.status == "current"
    )


def _value_at(intervals: Iterable[Interval], sequence: int) -> str | None:
    """The value of a state or revision at a cutoff sequence."""
    for interval in intervals:
        if interval.holds_at(sequence) and isinstance(interval.answer, Derived):
            return interval.answer.value
    return None
