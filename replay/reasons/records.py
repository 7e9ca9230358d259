"""Why revisions, clocks, episodes, receipts, claims, corrections and anomalies are no others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from replay.event import Event
from replay.reasons.claims import CLAIMED, STATUS_WORDS, claim_reasons, discounted
from replay.reasons.view import Object, Reason, ReasonKind, View, and_, entry
from replay.said import says

_NEVER_PROGRESS: Final = "only a new revision, a check or a review of the current one is progress"
_DECIDES_NOTHING: Final = frozenset({"cancelled", "skipped", "neutral"})


def _claim(view: View) -> Iterator[Reason]:
    claim = entry(view.item["claims"], view.of)
    if claim is None:
        yield from _not_of_that_kind(view, "claim")
    else:
        yield from claim_reasons(view, claim, CLAIMED[claim["claim"]])


def _receipt(view: View) -> Iterator[Reason]:
    receipt = entry(view.item["receipts"], view.of)
    if receipt is None:
        yield from _not_of_that_kind(view, "check or review")
        return
    yield _status_reason(view, receipt)


def _status_reason(view: View, receipt: Object) -> Reason:
    event_id, revision = receipt["event_id"], receipt["revision"]
    by = tuple(view.item["revision"]["evidence"])
    match receipt["status"]:
        case "unbound":
            return Reason("unbound", (event_id,), f"{event_id} names no revision")
        case "revision_unknown":
            sentence = f"{event_id} names {revision}, which no event in view announces"
            return Reason("unknown", (event_id,), sentence)
        case "current":
            sentence = f"{event_id} is for {revision}, which is the current revision"
            return Reason("contradicting", (event_id, *by), sentence)
        case status:
            current = f"the current revision is that of {view.said(by)}"
            sentence = f"{event_id} is for {revision} ({STATUS_WORDS[status]}), and {current}"
            return Reason("stale", (event_id, *by), sentence)


def _certifying(view: View) -> Iterator[Reason]:
    results = [r for r in view.item["receipts"] if r["check"] == view.of]
    wanted = [r for r in results if view.wanted in (r["event_id"], r["outcome"])]
    for result in wanted:
        decides = result["outcome"] not in _DECIDES_NOTHING
        is_local = (result["source"] or "").lower() == "local"
        if result["status"] == "current" and decides and not is_local:
            later = view.answer.evidence
            sentence = f"{result['event_id']} counts, and {and_(later)} came later"
            yield Reason("overtaken", (result["event_id"], *later), sentence)
        else:
            kind: ReasonKind = "stale" if result["status"] != "current" else "contradicting"
            sentence = f"the {view.of} result {discounted(result)}"
            yield Reason(kind, (result["event_id"],), sentence)
    if not wanted:
        yield Reason("missing", (), f"no {view.of} result is {view.wanted}")


def _revision(view: View) -> Iterator[Reason]:
    announced = [
        event
        for event in view.of_type("artifact.published")
        if event.artifact_revision == view.wanted
    ]
    yield from view.withdrawn(announced)
    if not announced:
        yield Reason("missing", (), f"no event in view announces {view.wanted}")
    elif view.revision is not None:
        by = view.item["revision"]["evidence"]
        sentence = f"{announced[-1].event_id} announces it, and later {view.said(by)}"
        yield Reason("overtaken", (announced[-1].event_id, *by), sentence)


def _last_message(view: View) -> Iterator[Reason]:
    event = view.events.get(view.wanted)
    if event is None:
        yield _not_in_view(view)
    else:
        later = view.answer.evidence
        sentence = f"{and_(later)} came after {event.event_id}"
        yield Reason("overtaken", (event.event_id, *later), sentence)


def _last_progress(view: View) -> Iterator[Reason]:
    event = view.events.get(view.wanted)
    receipt = entry(view.item["receipts"], view.wanted)
    if event is None:
        yield _not_in_view(view)
        return
    yield from view.withdrawn([event])
    if _is_after_end(view, event):
        sentence = f"{event.event_id} came after the work had ended"
        yield Reason("contradicting", (event.event_id,), sentence)
    if receipt is None and event.type != "artifact.published":
        sentence = f"{event.event_id} {says(event)}, and {_NEVER_PROGRESS}"
        yield Reason("never", (event.event_id,), sentence)
    elif receipt is not None and receipt["status"] != "current":
        yield _status_reason(view, receipt)
    elif receipt is not None and receipt["outcome"] in _DECIDES_NOTHING:
        sentence = f"{event.event_id} is {receipt['outcome']}, which evidences nothing"
        yield Reason("never", (event.event_id,), sentence)
    else:
        later = view.answer.evidence
        sentence = (
            f"{event.event_id} repeats what was known, or {and_(later)} is later progress"
            if later
            else f"{event.event_id} repeats what was known"
        )
        yield Reason("overtaken", (event.event_id, *later), sentence)


def _is_after_end(view: View, event: Event) -> bool:
    return any(
        anomaly["code"] == "after_terminal" and anomaly["event_id"] == event.event_id
        for anomaly in view.item["anomalies"]
    )


def _blocked_since(view: View) -> Iterator[Reason]:
    episode = _episode_of(view, view.wanted)
    if episode is None:
        yield from _not_of_that_kind(view, "raise of a blocker", view.wanted)
        return
    origin = episode["opened"]["event_id"]
    if origin != view.wanted:
        sentence = f"{view.wanted} repeats what {origin} raised, and a repeat restarts no clock"
        yield Reason("contradicting", (view.wanted, origin), sentence)
    yield from ended(view, episode)
    if episode["end"]["kind"] == "censored":
        earlier = view.answer.evidence
        sentence = f"{and_(earlier)} opened earlier and is open still"
        yield Reason("overtaken", (view.wanted, *earlier), sentence)


def _episode(view: View) -> Iterator[Reason]:
    episode = _episode_of(view, view.of)
    if episode is None:
        yield from _not_of_that_kind(view, "raise of a blocker")
        return
    yield from ended(view, episode)
    if episode["end"]["kind"] != "censored":
        return
    origin = episode["opened"]["event_id"]
    yield Reason("missing", (origin,), f"{origin} is open still: {_LACKING[view.wanted]}")
    for claim in view.claims("blocker.resolved"):
        if claim["verdict"] == "missing":
            yield from claim_reasons(view, claim, "resolution")


_LACKING: Final = {
    "recovered": "no new revision or passed check names it as its cause, nor is a resolution"
    " supported",
    "cancelled": "no event calls it off",
    "cancelled_with_work": "no event cancels the work",
    "null": "it was raised",
}


def ended(view: View, episode: Object) -> Iterator[Reason]:
    end, origin = episode["end"], episode["opened"]["event_id"]
    if end["kind"] != "censored":
        by = end["by"]["event_id"]
        how = end["kind"].replace("_", " ")
        sentence = f"the blocker that {origin} raised ended: {how} by {view.said([by])}"
        yield Reason("ended", (origin, by), sentence)


def _correction(view: View) -> Iterator[Reason]:
    correction = entry(view.item["corrections"], view.of)
    if correction is None:
        yield from _not_of_that_kind(view, "correction")
        return
    event_id, target = correction["event_id"], correction["target"]
    faults = [a for a in view.item["anomalies"] if a["event_id"] == event_id]
    match correction["status"]:
        case "ineffective":
            why = and_([f"{a['code'].replace('_', ' ')}" for a in faults]) or "another class"
            sentence = f"{event_id} does not correct {target}: {why}"
            yield Reason("contradicting", (event_id,), sentence)
        case "silenced":
            by = [e.event_id for e in view.of_type("event.retracted") if e.supersedes == event_id]
            yield Reason("withdrawn", (event_id, *by), f"{event_id} is retracted by {and_(by)}")
        case status:
            sentence = f"{event_id} is {status}: it would stand in place of {target}"
            yield Reason("overtaken", (event_id,), sentence)


def _anomaly(view: View) -> Iterator[Reason]:
    if view.wanted not in view.events:
        yield _not_in_view(view)
    else:
        sentence = f"{view.wanted} shows no sign of {view.of.replace('_', ' ')}"
        yield Reason("missing", (view.wanted,), sentence)


def _not_in_view(view: View) -> Reason:
    return Reason("missing", (), f"no event in view of this work item is {view.wanted}")


def _not_of_that_kind(view: View, kind: str, event_id: str | None = None) -> Iterator[Reason]:
    named = view.of if event_id is None else event_id
    event = view.events.get(named)
    if event is None:
        yield Reason("missing", (), f"no event in view of this work item is {named}")
        return
    withdrawn = [*view.withdrawn([event])]
    yield from withdrawn
    if not withdrawn:
        yield Reason("contradicting", (named,), f"{named} {says(event)}: it is no standing {kind}")


def _episode_of(view: View, event_id: str) -> Object | None:
    return next(
        (
            episode
            for episode in view.item["episodes"]
            if event_id == episode["opened"]["event_id"] or event_id in episode["repeats"]
        ),
        None,
    )


READERS: Final[dict[str, Callable[[View], Iterator[Reason]]]] = {
    "revision": _revision,
    "last_message": _last_message,
    "last_progress": _last_progress,
    "blocked_since": _blocked_since,
    "episode": _episode,
    "receipt": _receipt,
    "certifying_check": _certifying,
    "claim": _claim,
    "correction": _correction,
    "anomaly": _anomaly,
}
