"""Spells: how long ready items wait for a review, blockers last, and progress stays away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

import replay
from study.estimates import Record
from study.operational.log import NOT_COVERED, TERMINAL, ReplayedLog
from study.rows import SpellRow

NEVER_READY: Final = "never validly ready"
NO_STRETCH: Final = "observed at one moment only"


def review_latency(log: ReplayedLog) -> Iterator[SpellRow]:
    """Each item that asked for a review, from when it was first validly ready."""
    waits = {wait.work_id: wait for wait in replay.latencies(log.came_to_hold).waits}
    for item in log.projection.items:
        if item.work_id in waits:
            yield _review(log, waits[item.work_id])
        elif log.of_type(item.work_id, "review.requested"):
            yield log.left_out(item.work_id, NOT_COVERED if item.undetermined_by else NEVER_READY)


def _review(log: ReplayedLog, wait: replay.Latency) -> SpellRow:
    cause: str | None
    match wait.end:
        case replay.Reviewed(by=by):
            end, cause = (by.event_id, by.time), "reviewed"
        case replay.Closed(by=by, kind=kind):
            end, cause = (by.event_id, by.time), kind
        case replay.Waiting(at=at):
            return _spell_of(log, wait, (None, at), None)
    return _spell_of(log, wait, end, cause)


def _spell_of(
    log: ReplayedLog, wait: replay.Latency, end: tuple[str | None, int], cause: str | None
) -> SpellRow:
    return log.spell(
        wait.work_id,
        origin=(wait.claim.event_id, wait.ready.time),
        end=end,
        cause=cause,
        event="reviewed",
        detail=wait.revision,
        rule=wait.claim.rule,
        evidence=wait.claim.evidence,
    )


def blocker_recovery(log: ReplayedLog) -> Iterator[SpellRow]:
    """Each blocker episode, from its first raise; a repeat never begins it anew."""
    for item in log.projection.items:
        if item.episodes is None:
            if log.of_type(item.work_id, "blocker.raised"):
                yield log.left_out(item.work_id, NOT_COVERED)
            continue
        for episode in item.episodes:
            yield _recovery(log, episode)


def _recovery(log: ReplayedLog, episode: replay.Episode) -> SpellRow:
    cause: str | None
    end: tuple[str | None, int]
    match episode.end:
        case replay.Recovered(by=by, evidence=evidence):
            end, cause = (by.event_id, by.time), "recovered"
        case replay.Cancelled(by=by, evidence=evidence):
            end, cause = (by.event_id, by.time), "cancelled"
        case replay.CancelledWithWork(by=by, evidence=evidence):
            end, cause = (by.event_id, by.time), "cancelled_with_work"
        case replay.Censored(at=at):
            end, cause, evidence = (None, at), None, ()
    return log.spell(
        episode.work_id,
        origin=(episode.opened.event_id, episode.opened.time),
        end=end,
        cause=cause,
        event="recovered",
        detail=episode.blocker_id,
        evidence=evidence,
    )


class _Moment(Record, frozen=True):
    """Something that ends a stretch without progress, begins one, or both."""

    sequence: int
    what: Literal["progress", "completed", "cancelled", "reopened"]
    event_id: str
    time: int
    rule: str

    @property
    def place(self) -> tuple[int, bool]:
        """At one event, progress comes before the end that it brings about."""
        return (self.sequence, self.what != "progress")


_Moments: TypeAlias = dict[str, list[_Moment]]


def progress_gap(log: ReplayedLog) -> Iterator[SpellRow]:
    """Each stretch of an item without evidenced progress.

    Progress of one recorded time is one moment, so no stretch is of length 0; the end of the
    work begins none, and a reopening does.
    """
    moments = _moments(log)
    for item in log.projection.items:
        if item.undetermined_by:
            yield log.left_out(item.work_id, NOT_COVERED)
        else:
            found = [*_stretches(log, item.work_id, moments.get(item.work_id, []))]
            yield from found or [log.left_out(item.work_id, NO_STRETCH)]


def _stretches(log: ReplayedLog, work_id: str, moments: list[_Moment]) -> Iterator[SpellRow]:
    first = log.by_item[work_id][0]
    began: tuple[str, int] | None = (first.event_id, first.recorded_at)
    for moment in sorted(moments, key=lambda moment: moment.place):
        here = (moment.event_id, moment.time)
        if began is not None and moment.what != "reopened":
            if moment.time > began[1]:
                yield _stretch(log, work_id, began, here, moment.what, moment.rule)
            # of several events at one moment the last is the one that the clock names
            began = here if moment.what == "progress" else None
        elif moment.what == "reopened":
            began = here
    if began is not None and log.observed > began[1]:
        yield _stretch(log, work_id, began, (None, log.observed), None, None)


def _stretch(
    log: ReplayedLog,
    work_id: str,
    origin: tuple[str, int],
    end: tuple[str | None, int],
    cause: str | None,
    rule: str | None,
) -> SpellRow:
    return log.spell(work_id, origin=origin, end=end, cause=cause, event="progress", rule=rule)


def _moments(log: ReplayedLog) -> _Moments:
    """What every item's stretches turn on, read off the timeline."""
    found: _Moments = {}
    was: dict[str, str | None] = {}
    for interval in log.came_to_hold.intervals:  # by item and question, in sequence order
        work_id, answer, at = interval.work_id, interval.answer, interval.valid_from
        if work_id is None:
            continue
        match interval.key[0], answer:
            case "last_progress", replay.Progress(event_id=event_id, time=time, rule=rule):
                moment = _Moment(at.sequence, "progress", event_id, time, rule)
                found.setdefault(work_id, []).append(moment)
            case "state", replay.Derived(value=value, rule=rule):
                if (what := _turn(was.get(work_id), value)) is not None:
                    moment = _Moment(at.sequence, what, at.event_id, at.time, rule)
                    found.setdefault(work_id, []).append(moment)
                was[work_id] = value
    return found


def _turn(
    before: str | None, value: str | None
) -> Literal["completed", "cancelled", "reopened"] | None:
    if value == before:
        return None
    match value:
        case "complete":
            return "completed"
        case "cancelled":
            return "cancelled"
    return "reopened" if before in TERMINAL else None
