"""What each endpoint needs to have been recorded, in the words of importers' losses files.

A source that could not say something leaves an answer that is an artefact of the import: of
a record with no check results every claim is without evidence.  So where a losses file names
what an endpoint needs, all that the log would add to it is `unavailable`, never estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from study.result import Loss

_ORDER: Final = ("admission order", "recorded_sequence")
_TIMES: Final = ("recorded times", "recorded_at_utc", "recorded_minute", "recorded_at", *_ORDER)
_EVIDENCE: Final = (
    *("revision", "receipts", "deciding results", "artifact_revision"),
    *("outcome", "payload.outcome", "check", "payload.check"),
)

_COSTS: Final = (
    *("tool_calls", "tokens", "storage_bytes"),
    *("operator_seconds", "reviewer_seconds", "amount"),
)

NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "review_latency": (*_EVIDENCE, *_TIMES),
    "blocker_recovery": ("blocker ends", "recovery", "blocker_id", "payload.blocker_id", *_TIMES),
    "progress_gap": ("last_progress", *_EVIDENCE, *_TIMES),
    "false_success": (*_EVIDENCE, *_ORDER),
    "stale_approval": (*_EVIDENCE, *_ORDER),
    "status_disagreement": (*_EVIDENCE, *_ORDER),
    "receipt_completeness": ("receipts",),
    "receipt_completeness/principal": ("authorship", "principal"),
    "receipt_completeness/artifact_revision": ("revision", "artifact_revision"),
    "receipt_completeness/source": ("source",),
    "receipt_completeness/evidence_refs": ("evidence_refs",),
    **{f"cost/{name}": ("cost.recorded", name, f"payload.{name}") for name in _COSTS},
}
"""Names of answers, then of fields, as `unavailable` and `losses` of a losses file have them."""


WHOLE_RECORDS: Final = ("line", "work_id", "type", "payload", "event_id")
"""What a loss of leaves out records, or parts them from their work item: in no number."""


def unneeded(losses: Iterable[Loss]) -> set[str]:
    """The names of what was lost and no endpoint asks for."""
    needed = {*WHOLE_RECORDS, *_TIMES, *(name for names in NEEDS.values() for name in names)}
    return {loss.name for loss in losses} - needed


def lacking(losses: Iterable[Loss], endpoint: str, *, windowed: bool = False) -> str | None:
    """Why an endpoint is unavailable, in the losses file's words; null where it is not.

    A window asks of everything when it was recorded.
    """
    by_name = {loss.name: loss for loss in reversed([*losses])}
    for need in (*NEEDS[endpoint], *(_TIMES if windowed else ())):
        if (loss := by_name.get(need)) is not None:
            return f"{loss.name}: {loss.why}" if loss.why else loss.name
    return None
