"""Defects of content: lines that a log may hold, and that do not say what happened.

Most of them are somebody's interest: a failure that reads as a pass, a claim that nothing
bears out, an old receipt that certifies anew, a clock that starts later than the wait did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from replay.event import Event
from replay.projection import Censored, Item, Receipt, Recovered
from replay.testing.spoiled import (
    Injected,
    ValidLog,
    appended,
    changed,
    chosen,
    defect,
    edited,
    never_recorded,
    of_type,
    one_of,
    payload_changed,
    those_in,
)

_TERMINAL: Final = ("complete", "cancelled")
_FAILURES: Final = ("failed", "errored", "timed_out")

# Receipts


@defect("none", "A check of another revision is stamped with the current one.")
def restamped_receipt(log: ValidLog, rng: Random) -> Injected | None:
    receipt = one_of(rng, _checks(log, "superseded_by_revision", "stale_on_arrival", "unbound"))
    if receipt is None or (current := _revision(log, receipt.work_id)) is None:
        return None
    return changed(log, receipt.event_id, artifact_revision=current)


@defect("none", "A check's failure is overwritten in place with a pass.")
def overwritten_outcome(log: ValidLog, rng: Random) -> Injected | None:
    failed = one_of(rng, (r for r in log.projection.receipts if r.outcome in _FAILURES))
    return None if failed is None else payload_changed(log, failed.event_id, outcome="passed")


@defect("none", "A local result is labelled as one of the build system.")
def relabelled_local_result(log: ValidLog, rng: Random) -> Injected | None:
    local = one_of(rng, (r for r in log.projection.receipts if _is_local(r)))
    return None if local is None else payload_changed(log, local.event_id, source=None)


@defect("none", "A passed check of the current revision is made up.")
def forged_pass(log: ValidLog, rng: Random) -> Injected | None:
    item = one_of(rng, (i for i in log.projection.items if i.revision.value is not None))
    return None if item is None else _appended_check(log, item.work_id, item.revision.value)


@defect("some", "An old check is recorded again under a new id, when its revision is replaced.")
def replayed_receipt(log: ValidLog, rng: Random) -> Injected | None:
    receipt = one_of(rng, _checks(log, "superseded_by_revision", "stale_on_arrival"))
    if receipt is None:
        return None
    value = log.values[receipt.event_id]
    kept = ("work_id", "type", "payload", "artifact_revision", "principal")
    return appended(log, **{name: value.get(name) for name in kept})


@defect("some", "A check or a claim names a revision that is mistyped.")
def mistyped_revision(log: ValidLog, rng: Random) -> Injected | None:
    types = ("check.completed", "review.requested", "review.completed", "work.completed")
    event = one_of(rng, (e for e in of_type(log, *types) if e.artifact_revision is not None))
    if event is None:
        return None
    return changed(log, event.event_id, artifact_revision=f"{event.artifact_revision}l")


@defect("some", "The announcement of a revision is mistyped.")
def mistyped_announcement(log: ValidLog, rng: Random) -> Injected | None:
    event = one_of(rng, of_type(log, "artifact.published"))
    if event is None:
        return None
    return changed(log, event.event_id, artifact_revision=f"{event.artifact_revision}l")


# Claims


@defect("some", "Completion is claimed of an item that has no passed check, or is blocked.")
def false_completion(log: ValidLog, rng: Random) -> Injected | None:
    item = one_of(rng, (item for item in log.projection.items if not _is_evidenced(item)))
    if item is None:
        return None
    revision = item.revision.value
    return appended(log, work_id=item.work_id, type="work.completed", artifact_revision=revision)


@defect("some", "Readiness is claimed of an item that has no passed check.")
def false_readiness(log: ValidLog, rng: Random) -> Injected | None:
    item = one_of(rng, (item for item in log.projection.items if not _passed(item)))
    if item is None:
        return None
    revision = item.revision.value
    return appended(log, work_id=item.work_id, type="review.requested", artifact_revision=revision)


@defect("some", "An open blocker is said to be resolved, with nothing to show for it.")
def false_resolution(log: ValidLog, rng: Random) -> Injected | None:
    waiting = (e for e in log.projection.episodes if isinstance(e.end, Censored))
    episode = one_of(rng, waiting)
    if episode is None:
        return None
    payload = {} if episode.blocker_id is None else {"blocker_id": episode.blocker_id}
    return appended(log, work_id=episode.work_id, type="blocker.resolved", payload=payload)


@defect("some", "The evidence that a claim refers to is dropped.")
def dropped_evidence(log: ValidLog, rng: Random) -> Injected | None:
    event = one_of(rng, (event for event in log.events if event.evidence_refs))
    return None if event is None else changed(log, event.event_id, evidence_refs=None)


# Blockers and clocks


@defect("some", "What ended a blocker no longer names it as its cause.")
def dropped_causes(log: ValidLog, rng: Random) -> Injected | None:
    ending = {e.end.by.event_id for e in log.projection.episodes if isinstance(e.end, Recovered)}
    event = one_of(rng, (e for e in log.events if e.event_id in ending and e.causes))
    return None if event is None else changed(log, event.event_id, causes=None)


@defect("none", "The origin of a repeated blocker was never recorded: its clock starts later.")
def clock_reset_to_a_repeat(log: ValidLog, rng: Random) -> Injected | None:
    episode = one_of(rng, (e for e in log.projection.episodes if e.repeats))
    return None if episode is None else never_recorded(log, [episode.opened.event_id])


@defect("none", "A repeat bears a new blocker id, as if it were another blocker.")
def renamed_repeat(log: ValidLog, rng: Random) -> Injected | None:
    repeat = one_of(rng, (r for e in log.projection.episodes for r in e.repeats))
    return None if repeat is None else payload_changed(log, repeat, blocker_id="another")


@defect("none", "A heartbeat or a note is recorded as a passed check.")
def message_as_progress(log: ValidLog, rng: Random) -> Injected | None:
    messages = [
        event
        for event in of_type(log, "heartbeat", "note")
        if event.work_id is not None and _revision(log, event.work_id) is not None
    ]
    event = one_of(rng, messages)
    if event is None or event.work_id is None:
        return None
    return changed(
        log,
        event.event_id,
        type="check.completed",
        payload={"check": "ci", "outcome": "passed"},
        artifact_revision=_revision(log, event.work_id),
    )


@defect("some", "A reopening is inserted at the end.")
def inserted_reopening(log: ValidLog, rng: Random) -> Injected | None:
    item = one_of(rng, log.projection.items)
    return None if item is None else appended(log, work_id=item.work_id, type="work.reopened")


@defect("some", "Two events of different work items have each other's item.")
def exchanged_work_items(log: ValidLog, rng: Random) -> Injected | None:
    one = one_of(rng, (event for event in log.events if event.work_id is not None))
    if one is None:
        return None
    other = one_of(rng, (e for e in log.events if e.work_id not in (None, one.work_id)))
    if other is None:
        return None
    values = log.values
    return edited(
        log,
        {
            one.event_id: {**values[one.event_id], "work_id": other.work_id},
            other.event_id: {**values[other.event_id], "work_id": one.work_id},
        },
    )


# Corrections


@defect("some", "A correction loses the principal who recorded it.")
def anonymous_correction(log: ValidLog, rng: Random) -> Injected | None:
    named = {event.event_id for event in log.events if event.principal is not None}
    correction = one_of(rng, (event for event in _corrections(log) if event in named))
    return None if correction is None else changed(log, correction, principal=None)


@defect("some", "A correction names another event of its item as its target.")
def retargeted_correction(log: ValidLog, rng: Random) -> Injected | None:
    event = one_of(rng, (e for e in log.events if e.event_id in {*_corrections(log)}))
    if event is None:
        return None
    others = (
        other
        for other in _same_item(log, event)
        if other.event_id not in (event.supersedes, event.event_id)
        and other.recorded_sequence < event.recorded_sequence
    )
    other = one_of(rng, others)
    return None if other is None else changed(log, event.event_id, supersedes=other.event_id)


@defect("some", "Somebody else retracts a check.")
def retraction_by_another(log: ValidLog, rng: Random) -> Injected | None:
    receipt = one_of(rng, log.projection.receipts)
    if receipt is None:
        return None
    return appended(
        log,
        work_id=receipt.work_id,
        type="event.retracted",
        supersedes=receipt.event_id,
        principal="somebody-else",
    )


# Links


@defect("some", "An event names itself as its cause.")
def link_to_itself(log: ValidLog, rng: Random) -> Injected | None:
    event = chosen(rng, log.events)
    return _linked(log, event, event.event_id)


@defect("some", "An event names a later one as its cause.")
def link_forward(log: ValidLog, rng: Random) -> Injected | None:
    event = chosen(rng, log.events)
    later = (e for e in _same_item(log, event) if e.recorded_sequence > event.recorded_sequence)
    target = one_of(rng, later)
    return None if target is None else _linked(log, event, target.event_id)


@defect("some", "An event names a cause that is not in the log.")
def link_to_nothing(log: ValidLog, rng: Random) -> Injected | None:
    return _linked(log, chosen(rng, log.events), "an-event-of-another-log")


@defect("some", "An event names an event of another work item as its cause.")
def link_to_another_item(log: ValidLog, rng: Random) -> Injected | None:
    event = chosen(rng, log.events)
    target = one_of(rng, (e for e in log.events if e.work_id != event.work_id))
    return None if target is None else _linked(log, event, target.event_id)


# Looking things up in the known-good derivation


def _linked(log: ValidLog, event: Event, cause: str) -> Injected:
    return changed(log, event.event_id, causes=[*event.causes, cause])


def _same_item(log: ValidLog, event: Event) -> Iterator[Event]:
    return (other for other in log.events if other.work_id == event.work_id)


def _checks(log: ValidLog, *statuses: str) -> Iterable[Receipt]:
    return (
        receipt
        for receipt in log.projection.receipts
        if receipt.type == "check.completed" and receipt.status in statuses
    )


def _corrections(log: ValidLog) -> Iterator[str]:
    return (c.event_id for c in log.projection.corrections if c.status == "applied")


def _revision(log: ValidLog, work_id: str) -> str | None:
    item = log.projection.item(work_id)
    return None if item is None else item.revision.value


def _is_local(receipt: Receipt) -> bool:
    return receipt.source is not None and receipt.source.lower() == "local"


def _passed(item: Item) -> bool:
    """Whether a passed check of the current revision stands that is not local."""
    return any(
        r.type == "check.completed"
        and (r.status, r.outcome) == ("current", "passed")
        and not _is_local(r)
        for r in item.receipts or ()
    )


def _is_evidenced(item: Item) -> bool:
    """Whether a claim of completion could be right, or is of no matter."""
    if item.state.value in _TERMINAL:
        return True
    blocked = any(isinstance(episode.end, Censored) for episode in item.episodes or ())
    return _passed(item) and not blocked


def _appended_check(log: ValidLog, work_id: str, revision: str | None) -> Injected:
    return appended(
        log,
        work_id=work_id,
        type="check.completed",
        payload={"check": "ci", "outcome": "passed"},
        artifact_revision=revision,
    )


DEFECTS: Final = those_in(globals())
