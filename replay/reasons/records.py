"""Why revisions, clocks, episodes, receipts, claims, corrections and anomalies are no others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from replay.asking import Asking, asked
from replay.event import Blocker, Event
from replay.reasons.claims import (
    CLAIMED,
    STATUS_WORDS,
    claim_reasons,
    decides,
    discounted,
)
from replay.reasons.view import Object, Reason, ReasonKind, View, and_, entry
from replay.said import says

_NEVER_PROGRESS: Final = "only a new revision, a check or a review of the current one is progress"
_PROGRESSING: Final = frozenset({"passed", "failed", "approved", "changes_requested"})


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
            sentence = f"{event_id} names {revision}, {view.unannounced(revision)}"
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
        event_id, later = result["event_id"], view.answer.evidence
        if decides(result):
            sentence = f"{event_id} counts, and {and_(later)} counts after it"
            yield Reason("overtaken", (event_id, *later), sentence)
            continue
        kind: ReasonKind = "stale" if result["status"] != "current" else "contradicting"
        sentence = f"the {view.of} result {event_id} {discounted(view, result)}"
        yield Reason(kind, (event_id,), sentence)
    if not wanted:
        named = view.events.get(view.wanted)
        gone = [*view.withdrawn([] if named is None else [named])]
        yield from gone
        if not gone:
            yield Reason("missing", (), f"no standing {view.of} result is {view.wanted}")


def _revision(view: View) -> Iterator[Reason]:
    announced = [
        event
        for event in view.of_type("artifact.published")
        if event.artifact_revision == view.wanted
    ]
    yield from view.withdrawn(announced)
    standing = [e for e in announced if view.withdrawn_by(e.event_id) is None]
    if not announced:
        sentence = f"no event of the work item announces {view.wanted}"
        yield Reason("missing", (), sentence)
    elif standing and view.revision is not None:
        last = max(standing, key=lambda event: view.place(event.event_id))
        by = view.item["revision"]["evidence"]
        sentence = f"{last.event_id} announces it, and later {view.said(by)}"
        yield Reason("overtaken", (last.event_id, *by), sentence)


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
    if event is None:
        yield _not_in_view(view)
        return
    withdrawn = [*view.withdrawn([event])]
    if withdrawn:
        yield from withdrawn
    else:
        yield _no_progress(view, event)


def _no_progress(view: View, event: Event) -> Reason:
    """Why a standing event is not the last progress, as things stood at its place."""
    event_id = event.event_id
    receipt = entry(view.item["receipts"], event_id)
    if receipt is None and event.type != "artifact.published":
        sentence = f"{event_id} {says(event)}, and {_NEVER_PROGRESS}"
        return Reason("never", (event_id,), sentence)
    if view.has("after_terminal", event_id):
        return Reason("contradicting", (event_id,), f"{event_id} came after the work had ended")
    if receipt is not None and receipt["outcome"] not in _PROGRESSING:
        sentence = f"{event_id} is {_spaced(receipt['outcome'])}, which is no progress"
        return Reason("never", (event_id,), sentence)
    progress, revision = _as_of(view, event, "last_progress"), _as_of(view, event, "revision")
    if progress is not None and progress["event_id"] == event_id:
        later = view.answer.evidence
        sentence = f"{event_id} was progress, and {and_(later)} is later progress"
        return Reason("overtaken", (event_id, *later), sentence)
    if receipt is None:
        sentence = f"{event_id} announces {event.artifact_revision} again"
        return Reason("overtaken", (event_id,), sentence)
    if receipt["revision"] is None or receipt["revision"] != revision["value"]:
        named = receipt["revision"] or "no revision"
        sentence = f"{event_id} is for {named}, which was not the current revision at its place"
        return Reason("stale", (event_id,), sentence)
    sentence = f"{event_id} repeats the latest outcome that was known of it"
    return Reason("overtaken", (event_id,), sentence)


def _as_of(view: View, event: Event, question: str) -> Any:
    """An answer as of an event's place, with all that was corrected since."""
    place = view.place(event.event_id)
    seen = [
        e
        for e in view.asking.events
        if e.type == "event.retracted"
        or e.work_id != view.item["work_id"]
        or view.place(e.event_id) <= place
    ]
    about = asked(question, view.item["work_id"])
    return Asking(view.asking.prefix, view.asking.rule_set, about).answer(seen).value


def _spaced(word: str) -> str:
    return word.replace("_", " ")


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
        sentence = f"{and_(earlier)} was raised earlier and is open still"
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
    types = {"cancelled": "blocker.cancelled", "cancelled_with_work": "work.cancelled"}
    yield from view.withdrawn(view.of_type(types.get(view.wanted, "blocker.resolved")))
    yield Reason("missing", (origin,), f"{origin} is open still: {_LACKING[view.wanted]}")
    for claim in view.claims("blocker.resolved"):
        if claim["verdict"] == "missing" and _is_about(view, claim, episode):
            yield from claim_reasons(view, claim, "resolution")


def _is_about(view: View, claim: Object, episode: Object) -> bool:
    """Whether a resolution is of the blocker of an open episode, and came after its origin."""
    data = view.events[claim["event_id"]].data
    named = data.blocker_id if isinstance(data, Blocker) else None
    came = view.place(claim["event_id"]) > view.place(episode["opened"]["event_id"])
    return came and named == episode["blocker_id"]


_LACKING: Final = {
    "recovered": "it takes a new revision or a passed, not local check of the current one that"
    " names it as its cause, or a resolution that names such a one since",
    "cancelled": "no standing event since calls it off",
    "cancelled_with_work": "no standing event since cancels the work",
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
    match correction["status"]:
        case "ineffective":
            why = _why_ineffective(view, event_id, target)
            sentence = f"{event_id} does not correct {target}: {why}"
            yield Reason("contradicting", (event_id,), sentence)
        case "silenced":
            by = view.withdrawn_by(event_id)
            named = () if by is None else (by,)
            yield Reason("withdrawn", (event_id, *named), f"{event_id} is retracted by {by}")
        case "overtaken":
            sentence = f"{event_id} is overtaken: a later correction stands in place of {target}"
            yield Reason("overtaken", (event_id,), sentence)
        case _:
            is_retraction = view.events[event_id].type == "event.retracted"
            does = f"withdraws {target}" if is_retraction else f"stands in place of {target}"
            yield Reason("contradicting", (event_id,), f"{event_id} is applied: it {does}")


def _why_ineffective(view: View, event_id: str, target: str) -> str:
    causes = {*view.events[event_id].causes, *view.events[event_id].evidence_refs}
    for anomaly in view.item["anomalies"]:
        if anomaly["event_id"] != event_id or anomaly["related"] != [target]:
            continue
        code = anomaly["code"]
        if code == "other_principal" or (code.startswith("link_") and target not in causes):
            return _spaced(code)
    if target not in view.events:
        return "it is no event in view of the work item"
    return "it is of another class, or not earlier"


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
        yield Reason("contradicting", (named,), f"{named} {says(event)}, so it is no {kind}")


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
