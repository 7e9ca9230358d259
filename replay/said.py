"""One event in words: what it says, never whether that is so.

Ids and names are quoted as the log has them; whoever prints the words makes them safe.
"""

from __future__ import annotations

from typing import Final

from replay.event import Blocker, Check, Event, Review, ReviewRequest, StatusAssertion

_PLAIN: Final = {
    "work.proposed": "proposes the work",
    "work.started": "starts the work",
    "work.reopened": "reopens the work",
    "work.cancelled": "cancels the work",
}
_BLOCKER: Final = {
    "blocker.raised": "raises {}",
    "blocker.resolved": "claims that {} is resolved",
    "blocker.cancelled": "calls {} off",
}
_REVIEWED: Final = {
    "approved": "approves {}",
    "changes_requested": "requests changes of {}",
    "commented": "comments on {}",
    "dismissed": "dismisses a review of {}",
}


def says(event: Event) -> str:
    """What an event says, as the rest of a sentence that begins with its id."""
    if event.type == "event.retracted":
        return f"retracts {event.supersedes}"
    said = _said(event)
    return said if event.supersedes is None else f"{said}, in place of {event.supersedes}"


def _said(event: Event) -> str:
    revision = event.artifact_revision
    match event.data:
        case Check(check, outcome, source):
            of = "no revision" if revision is None else revision
            by = "" if source is None else f" (source {source})"
            return f"says that {check} {outcome.replace('_', ' ')} on {of}{by}"
        case Review(outcome):
            return _REVIEWED[outcome].format("no revision" if revision is None else revision)
        case ReviewRequest(requires):
            needs = f", requiring {', '.join(requires)}" if requires else ""
            return f"claims that {revision or 'the work'} is ready for review{needs}"
        case Blocker(blocker_id):
            name = "a blocker" if blocker_id is None else f"blocker {blocker_id}"
            return _BLOCKER[event.type].format(name)
        case StatusAssertion(state):
            return f"asserts that the state is {state}"
    if event.type == "artifact.published":
        return f"announces {revision}"
    if event.type == "work.completed":
        of = "" if revision is None else f" of {revision}"
        cited = f", citing {', '.join(event.evidence_refs)}" if event.evidence_refs else ""
        return f"claims completion{of}{cited}"
    return _PLAIN.get(event.type, f"is a message ({event.type})")
