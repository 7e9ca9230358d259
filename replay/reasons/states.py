"""Why an item does not display another state, of claims and episodes the latest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from replay.event import Event
from replay.reasons.claims import claim_reasons
from replay.reasons.records import ended
from replay.reasons.view import Object, Reason, View


def state(view: View) -> Iterator[Reason]:
    yield from _STATES[view.wanted](view)


def _complete(view: View) -> Iterator[Reason]:
    claims = view.claims("work.completed")
    for claim in reversed(claims):
        yield from claim_reasons(view, claim, "completion")
    if not claims:
        yield from view.withdrawn(view.of_type("work.completed"))
        yield Reason("missing", (), "no claim of completion stands")
    if view.state in ("cancelled", "blocked"):
        yield from _displayed(view)


def _awaiting(view: View) -> Iterator[Reason]:
    claims = view.claims("review.requested")
    for claim in reversed(claims):
        if claim["verdict"] == "supported":
            yield from _reviewed(view, claim)
        else:
            yield from claim_reasons(view, claim, "readiness")
    if not claims:
        yield from view.withdrawn(view.of_type("review.requested"))
        yield Reason("missing", (), "no request for review stands")
    if view.state in ("cancelled", "complete", "blocked"):
        yield from _displayed(view)


def _reviewed(view: View, claim: Object) -> Iterator[Reason]:
    place = view.place(claim["event_id"])
    for receipt in view.item["receipts"]:
        event_id = receipt["event_id"]
        is_substantive = receipt["outcome"] in ("approved", "changes_requested")
        if is_substantive and receipt["status"] == "current" and view.place(event_id) > place:
            reviewed = view.said([event_id])
            sentence = f"{claim['event_id']} is supported, but was reviewed: {reviewed}"
            yield Reason("overtaken", (claim["event_id"], event_id), sentence)


def _blocked(view: View) -> Iterator[Reason]:
    if view.state in ("cancelled", "complete"):
        yield from _displayed(view)
    for episode in reversed(view.item["episodes"]):
        yield from ended(view, episode)
    if not view.item["episodes"]:
        yield from view.withdrawn(view.of_type("blocker.raised"))
        sentence = "no standing event raises a blocker while the work is open"
        yield Reason("missing", (), sentence)


def _active(view: View) -> Iterator[Reason]:
    if view.state in (None, "proposed"):
        yield from view.withdrawn(view.of_type(*_STARTING))
        sentence = "nothing started the work: no start, revision, check or blocker stands"
        yield Reason("missing", (), sentence)
    else:
        yield from _displayed(view)


def _proposed(view: View) -> Iterator[Reason]:
    if view.state is None:
        yield from view.withdrawn(view.of_type("work.proposed"))
        yield Reason("missing", (), "no standing event proposes the work")
    else:
        yield from _displayed(view)


def _cancelled(view: View) -> Iterator[Reason]:
    yield from view.withdrawn(view.of_type("work.cancelled"))
    standing = view.standing("work.cancelled")
    if not standing:
        yield Reason("missing", (), "no standing event cancels the work")
    for event in standing:
        yield from _undone(view, event)
    if view.state == "complete":
        yield from _displayed(view)


def _undone(view: View, cancellation: Event) -> Iterator[Reason]:
    """Why a standing cancellation does not hold."""
    event_id = cancellation.event_id
    if view.has("after_terminal", event_id):
        yield Reason("contradicting", (event_id,), f"{event_id} came after the work had ended")
        return
    for event in view.standing("work.reopened"):
        by = event.event_id
        if view.place(by) > view.place(event_id) and not view.has("not_terminal", by):
            yield Reason("ended", (event_id, by), f"{by} reopens the work")
            return


_STARTING: Final = ("work.started", "artifact.published", "check.completed", "blocker.raised")


def _displayed(view: View) -> Iterator[Reason]:
    """What the state is, which the wanted one would have to give way to."""
    evidence = view.item["state"]["evidence"]
    state = (view.state or "").replace("_", " ")
    by = f" by {view.said(evidence)}" if view.said(evidence) else ""
    yield Reason("contradicting", tuple(evidence), f"the work is {state}{by}")


_STATES: Final[dict[str, Callable[[View], Iterator[Reason]]]] = {
    "complete": _complete,
    "awaiting_review": _awaiting,
    "blocked": _blocked,
    "active": _active,
    "proposed": _proposed,
    "cancelled": _cancelled,
    "null": _displayed,
}
