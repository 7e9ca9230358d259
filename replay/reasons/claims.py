"""Why a claim has the verdict that it has: what it lacks, and what of that there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from replay.reasons.view import Object, Reason, View, and_

CLAIMED: Final = {
    "work.completed": "completion",
    "review.requested": "readiness",
    "blocker.resolved": "resolution",
    "status.asserted": "status",
}


def claim_reasons(view: View, claim: Object, kind: str) -> Iterator[Reason]:
    event_id, evidence = claim["event_id"], claim["evidence"]
    revision = view.events[event_id].artifact_revision
    subject = f"the {kind} claim {event_id}"
    match claim["verdict"]:
        case "missing":
            yield _missing(view, claim, subject, revision)
        case "stale":
            sentence = f"{subject} is stale since {view.said(evidence)}"
            yield Reason("stale", (event_id, *evidence), sentence)
        case "contradicted" if evidence:
            sentence = f"{subject} is contradicted by {view.said(evidence)}"
            yield Reason("contradicting", (event_id, *evidence), sentence)
        case "contradicted":
            yield Reason("contradicting", (event_id,), f"{subject} {_AGAINST[kind]}")
        case "unbound":
            yield Reason("unbound", (event_id,), f"{subject} names no revision")
        case "unknown":
            sentence = f"{subject} names {revision}, which no event in view announces"
            yield Reason("unknown", (event_id,), sentence)
        case "not_comparable":
            sentence = f"{subject} is about a time at which the rules display no state to compare"
            yield Reason("unknown", (event_id,), sentence)
        case _:
            by = f" by {view.said(evidence)}" if evidence else ""
            yield Reason("contradicting", (event_id, *evidence), f"{subject} is supported{by}")


_AGAINST: Final = {
    "completion": "was made while a blocker was open or the work was cancelled",
    "status": "says something else than these rules displayed",
}


def _missing(view: View, claim: Object, subject: str, revision: str | None) -> Reason:
    event_id, lacking = claim["event_id"], claim["missing"]
    if lacking == ["evidence"]:
        sentence = f"{subject} names no event that is evidence for it"
        return Reason("missing", (event_id,), sentence)
    on = f" on {revision}" if revision is not None else ""
    needed = "a passed check" if lacking == ["any check"] else and_(lacking)
    results = [r for r in view.item["receipts"] if _is_result_of(r, lacking)]
    events = (event_id, *(result["event_id"] for result in results))
    return Reason("missing", events, f"{subject} needs {needed}{on}{_results(lacking, results)}")


def _is_result_of(receipt: Object, checks: Sequence[str]) -> bool:
    return receipt["check"] is not None and (
        receipt["check"] in checks or [*checks] == ["any check"]
    )


def _results(checks: Sequence[str], results: Sequence[Object]) -> str:
    """What results of these checks there are, and why none of them counts."""
    if not results:
        return "; there is no result of it" if len(checks) == 1 else "; there is no result of them"
    if len(results) == 1:
        which = "the only result" if len(checks) > 1 else f"the only {_named(checks[0])}"
        return f"; {which}, {discounted(results[0])}"
    return f"; none of its results counts: {', '.join(map(discounted, results))}"


def _named(check: str) -> str:
    return "check result" if check == "any check" else f"{check} result"


def discounted(result: Object) -> str:
    """Why a result does not count, as `e9, is for r2 (superseded_by_revision)`."""
    event_id, revision, status = result["event_id"], result["revision"], result["status"]
    if status == "unbound":
        return f"{event_id}, names no revision"
    if status != "current":
        return f"{event_id}, is for {revision} ({STATUS_WORDS[status]})"
    if (result["source"] or "").lower() == "local":
        return f"{event_id}, is local"
    return f"{event_id}, is {result['outcome'].replace('_', ' ')}"


STATUS_WORDS: Final = {
    "revision_unknown": "never announced",
    "superseded_by_revision": "superseded",
    "stale_on_arrival": "stale on arrival",
}
