"""Claims, approvals, asserted states and receipts: what was said, and does it hold?

Every one that is on record has a row: those that stand at the cutoff are judged, those that
a correction withdrew or that the rules do not cover are left out by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import replay
from study.beside import AccessStatus
from study.operational.log import NOT_COVERED, WITHDRAWN, ReplayedLog
from study.operational.needs import lacking
from study.receipts import REQUIRED, of_evidence, of_whole
from study.rows import ApprovalRow, AssertionRow, ClaimRow, FieldRow, FieldStatus, Role, Row

CLAIMS: Final = ("work.completed", "review.requested")
UNBOUND: Final = "names no revision"
NEVER_ANNOUNCED: Final = "names a revision that was never announced"
NOT_COMPARABLE: Final = "not comparable"

T = TypeVar("T")


def _on_record(
    log: ReplayedLog,
    standing: Callable[[replay.Item], Sequence[T] | None],
    which: Callable[[replay.Event], bool],
) -> Iterator[tuple[replay.Event, T | str]]:
    """Each event of a kind, in sequence order: its record, or why it has none.

    `standing` gives an item's records (with an `event_id`), null where it is undetermined.
    """
    for item in log.projection.items:
        records = standing(item)
        by_event: dict[str, Any] = {record.event_id: record for record in records or ()}  # type: ignore[attr-defined]
        for event in log.by_item[item.work_id]:
            if which(event):
                why = NOT_COVERED if records is None else WITHDRAWN
                yield event, by_event.get(event.event_id, why)


def false_success(log: ReplayedLog) -> Iterator[ClaimRow]:
    """Each claim of completion or readiness, judged when it was made.

    One that was withdrawn counts all the same: what is false is withdrawn more often.
    """
    records = _on_record(log, lambda item: item.claims, lambda event: event.type in CLAIMS)
    for event, claim in records:
        about = {**log.about_event(event), "claim": event.type}
        if claim == NOT_COVERED:
            yield ClaimRow(**about, role="excluded", reason=NOT_COVERED)
            continue
        made = _when_made(log, event)
        yield ClaimRow(
            **about,
            role="observed",
            made=made.verdict,
            verdict="withdrawn" if isinstance(claim, str) else claim.verdict,
            unevidenced=made.verdict != "supported",
            rule=made.rule,
            evidence=made.evidence,
        )


def _when_made(log: ReplayedLog, event: replay.Event) -> replay.Claim:
    """How a claim was judged with what had been recorded when it was made, and no more."""
    at = event.recorded_sequence
    found = log.timeline.answer(event.work_id, "claim", of=event.event_id, sequence=at)
    assert isinstance(found, replay.Claim), event.event_id
    return found


def stale_approval(log: ReplayedLog) -> Iterator[ApprovalRow]:
    """Each approving review: is it of the revision that is current at the cutoff?"""
    for event, receipt in _on_record(log, lambda item: item.receipts, _is_approval):
        about = {**log.about_event(event), "revision": event.artifact_revision}
        if isinstance(receipt, str):
            yield ApprovalRow(**about, role="excluded", reason=receipt)
            continue
        role, reason, stale = _approval(receipt.status)
        yield ApprovalRow(**about, role=role, reason=reason, status=receipt.status, stale=stale)


def _is_approval(event: replay.Event) -> bool:
    return isinstance(event.data, replay.Review) and event.data.outcome == "approved"


def _approval(status: str) -> tuple[Role, str | None, bool | None]:
    match status:
        case "unbound":
            return "excluded", UNBOUND, None
        case "revision_unknown":
            return "excluded", NEVER_ANNOUNCED, None
    return "observed", None, status != "current"


def status_disagreement(log: ReplayedLog) -> Iterator[AssertionRow]:
    """Each asserted state: is it what the rules display at the sequence that it speaks of?"""
    for event, claim in _on_record(log, lambda item: item.claims, _is_assertion):
        assert isinstance(event.data, replay.StatusAssertion)
        about = {**log.about_event(event), "state": event.data.state}
        if isinstance(claim, str):
            yield AssertionRow(**about, role="excluded", reason=claim)
            continue
        comparable = claim.verdict != "not_comparable"
        yield AssertionRow(
            **about,
            role="observed" if comparable else "excluded",
            reason=None if comparable else NOT_COMPARABLE,
            verdict=claim.verdict,
            disagrees=claim.verdict == "contradicted" if comparable else None,
            rule=claim.rule,
            evidence=claim.evidence,
        )


def _is_assertion(event: replay.Event) -> bool:
    return isinstance(event.data, replay.StatusAssertion)


def receipt_completeness(
    log: ReplayedLog, access: Mapping[str, AccessStatus] | None
) -> Iterator[FieldRow]:
    """Each required field of each receipt; `access` says which evidence can be reached."""
    for event, receipt in _on_record(
        log, lambda item: item.receipts, lambda event: event.type in REQUIRED
    ):
        for field in REQUIRED[event.type]:
            about = {**log.about_event(event), "receipt": event.type, "field": field}
            if isinstance(receipt, str):
                yield FieldRow(**about, role="excluded", reason=receipt, status="unavailable")
            else:
                yield _field(log, event, receipt, field, access, about)


def _field(
    log: ReplayedLog,
    event: replay.Event,
    receipt: replay.Receipt,
    field: str,
    access: Mapping[str, AccessStatus] | None,
    about: dict[str, Any],
) -> FieldRow:
    about = {**about, "refs": event.evidence_refs if field == "evidence_refs" else ()}
    status = of_whole(_recorded(log, event, receipt, field, access), event.event_id, access)
    lost = lacking(log.losses, f"receipt_completeness/{field}")
    if status == "inapplicable":
        return FieldRow(**about, role="excluded", reason="inapplicable", status=status)
    if lost is not None:
        return FieldRow(**about, role="unavailable", reason=lost, status="unavailable")
    if status == "unavailable":
        why = "no access file was given" if access is None else "not in the access file"
        return FieldRow(**about, role="unavailable", reason=why, status=status)
    return FieldRow(**about, role="observed", status=status)


def _recorded(
    log: ReplayedLog,
    event: replay.Event,
    receipt: replay.Receipt,
    field: str,
    access: Mapping[str, AccessStatus] | None,
) -> FieldStatus:
    match field:
        case "artifact_revision":
            if receipt.revision is None:
                return "missing"
            return "mismatched" if receipt.status == "revision_unknown" else "complete"
        case "evidence_refs":
            return of_evidence(event.evidence_refs, _mismatched(log, event), access)
    return "missing" if getattr(receipt, field) is None else "complete"


def _mismatched(log: ReplayedLog, event: replay.Event) -> frozenset[str]:
    """The events among its evidence that are of the same item and of another revision."""
    if event.artifact_revision is None:  # of no version, nothing is of another one
        return frozenset()
    linked = [(ref, log.events.get(ref)) for ref in event.evidence_refs]
    return frozenset(
        ref
        for ref, target in linked
        if target is not None
        and target.work_id == event.work_id
        and target.artifact_revision not in (None, event.artifact_revision)
    )


ROWS: Final[Mapping[str, Callable[[ReplayedLog], Iterator[Row]]]] = {
    "false_success": false_success,
    "stale_approval": stale_approval,
    "status_disagreement": status_disagreement,
}
