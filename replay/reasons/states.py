"""Why an item does not display another state, of claims and episodes the latest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

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
    for receipt in view.item["receipts"]:
        is_substantive = receipt["outcome"] in ("approved", "changes_requested")
        if is_substantive and receipt["status"] == "current":
            event_id = receipt["event_id"]
            sentence = (
                f"{claim['event_id']} is supported, but was reviewed: {view.said([event_id])}"
            )
            yield Reason("overtaken", (claim["event_id"], event_id), sentence)


def _blocked(view: View) -> Iterator[Reason]:
    if view.state in ("cancelled", "complete"):
        yield from _displayed(view)
    for episode in reversed(view.item["episodes"]):
        yield from ended(view, episode)
    if not view.item["episodes"]:
        yield from view.withdrawn(view.of_type("blocker.raised"))
        yield Reason("missing", (), "no blocker was raised while the work was open")


def _active(view: View) -> Iterator[Reason]:
    if view.state in (None, "proposed"):
        sentence = "nothing started the work: no start, revision, check or blocker stands"
        yield Reason("missing", (), sentence)
    else:
        yield from _displayed(view)


def _proposed(view: View) -> Iterator[Reason]:
    if view.state is None:
        yield Reason("missing", (), "no event proposes the work")
    else:
        yield from _displayed(view)


def _cancelled(view: View) -> Iterator[Reason]:
    cancellations = view.of_type("work.cancelled")
    yield from view.withdrawn(cancellations)
    if not cancellations:
        yield Reason("missing", (), "no event cancels the work")
    for event in view.of_type("work.reopened") if cancellations else ():
        yield Reason("ended", (event.event_id,), f"{event.event_id} reopens the work")
    if view.state == "complete":
        yield from _displayed(view)


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
