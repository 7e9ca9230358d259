"""Why a claim has the verdict that it has: what it lacks, and what of that there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

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
            yield _stale(view, claim, subject, revision)
        case "contradicted" if evidence:
            sentence = f"{subject} is contradicted by {view.said(evidence)}"
            yield Reason("contradicting", (event_id, *evidence), sentence)
        case "contradicted":
            yield _against(view, event_id, subject, kind)
        case "unbound":
            yield Reason("unbound", (event_id,), f"{subject} names no revision")
        case "unknown":
            sentence = f"{subject} names {revision}, {view.unannounced(revision)}"
            yield Reason("unknown", (event_id,), sentence)
        case "not_comparable":
            sentence = f"{subject} is about a time at which the rules display no state to compare"
            yield Reason("unknown", (event_id,), sentence)
        case _:
            by = f" by {view.said(evidence)}" if evidence else ""
            yield Reason("contradicting", (event_id, *evidence), f"{subject} is supported{by}")


def _stale(view: View, claim: Object, subject: str, revision: str | None) -> Reason:
    event_id, evidence = claim["event_id"], claim["evidence"]
    by = evidence[0] if evidence else None
    sentence = f"{subject} is stale since {view.said(evidence)}"
    if by in view.events and view.place(by) < view.place(event_id):
        sentence = f"{subject} names {revision}, and the current revision is that of {by}"
    return Reason("stale", (event_id, *evidence), sentence)


def _against(view: View, event_id: str, subject: str, kind: str) -> Reason:
    """Why a claim is contradicted that no result or review contradicts."""
    if kind != "completion":
        sentence = f"{subject} says something else than these rules displayed"
        return Reason("contradicting", (event_id,), sentence)
    place = view.place(event_id)
    for episode in view.item["episodes"]:
        origin, end = episode["opened"]["event_id"], episode["end"]
        by = end["by"]["event_id"] if "by" in end else None
        if view.place(origin) < place and (by is None or view.place(by) > place):
            sentence = f"{subject} was made while the blocker that {origin} raised was open"
            return Reason("contradicting", (event_id, origin), sentence)
    return Reason("contradicting", (event_id,), f"{subject} was made after the work was cancelled")


def _missing(view: View, claim: Object, subject: str, revision: str | None) -> Reason:
    event_id, lacking = claim["event_id"], claim["missing"]
    if lacking == ["evidence"]:
        return Reason("missing", (event_id,), f"{subject} {_without_evidence(view, claim)}")
    on = f" on {revision}" if revision is not None else ""
    needed = "a passed check" if lacking == ["any check"] else and_(lacking)
    results = [r for r in view.item["receipts"] if _is_result_of(r, lacking)]
    events = (event_id, *(result["event_id"] for result in results))
    why = _results(view, lacking, results)
    return Reason("missing", events, f"{subject} needs {needed}{on}{why}")


def _without_evidence(view: View, claim: Object) -> str:
    event_id = claim["event_id"]
    if claim["claim"] != "blocker.resolved":
        return (
            "cites no passed check that is of no revision, not local, and the latest of its check"
            " and source"
        )
    if view.has("after_terminal", event_id):
        return "came after the work had ended"
    if view.has("no_open_episode", event_id):
        return "is about a blocker that was not open, and had not recovered"
    return "names no new revision and no passed check that came since the blocker was raised"


def _is_result_of(receipt: Object, checks: Sequence[str]) -> bool:
    return receipt["check"] is not None and (
        receipt["check"] in checks or [*checks] == ["any check"]
    )


def _results(view: View, checks: Sequence[str], results: Sequence[Object]) -> str:
    """What results of these checks there are, and why none of them counts."""
    one = checks[0] if len(checks) == 1 and checks[0] != "any check" else None
    kind = "result" if one is None else f"{one} result"
    if not results:
        return f"; there is no {kind}"
    if len(results) == 1:
        event_id = results[0]["event_id"]
        return f"; the only {kind}, {event_id}, {discounted(view, results[0])}"
    counted = [f"{r['event_id']} {discounted(view, r)}" for r in results]
    return f"; no {kind} counts: {and_(counted)}"


def discounted(view: View, result: Object) -> str:
    """Why a result does not count, as `is for r2 (superseded)`."""
    revision, status = result["revision"], result["status"]
    if status == "unbound":
        return "names no revision"
    if status != "current":
        return f"is for {revision} ({STATUS_WORDS[status]})"
    if _is_local(result):
        return "is local"
    by = _replaced_by(view, result)
    if by is not None:
        return f"is followed by {by['event_id']}, which is {by['outcome'].replace('_', ' ')}"
    return f"is {result['outcome'].replace('_', ' ')}"


def _replaced_by(view: View, result: Object) -> Object | None:
    """The last result of the same check and source that decides after a deciding one."""
    receipts = view.item["receipts"]
    alike = [r for r in receipts if decides(r) and _kind(r) == _kind(result)]
    return alike[-1] if result in alike[:-1] else None


def decides(result: Object) -> bool:
    """Whether a result is one of the deciding results of the current revision."""
    counts = result["status"] == "current" and not _is_local(result)
    return counts and result["outcome"] not in _DECIDES_NOTHING


def _kind(result: Object) -> tuple[Any, Any]:
    return result["check"], result["source"]


def _is_local(result: Object) -> bool:
    return (result["source"] or "").lower() == "local"


_DECIDES_NOTHING: Final = frozenset({"cancelled", "skipped", "neutral"})
STATUS_WORDS: Final = {
    "revision_unknown": "never announced",
    "superseded_by_revision": "superseded",
    "stale_on_arrival": "stale on arrival",
}
