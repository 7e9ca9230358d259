"""What a simulated log's process was given, and what it did: the truth that no log has.

Times are nanoseconds, as in a projection.  `replay.testing.simulate` says what the process is.
"""

from __future__ import annotations

from math import isfinite
from typing import Literal, TypeAlias

from replay.errors import UsageError
from replay.event import Record

BlockerEnd: TypeAlias = Literal["recovered", "cancelled", "cancelled_with_work"]
ReviewEnd: TypeAlias = Literal["reviewed", "cancelled"]
ClaimType: TypeAlias = Literal["review.requested", "work.completed"]


class Rates(Record, frozen=True, kw_only=True):
    """The process' parameters: `…_per_hour` are hazards (events per hour at risk), the rest
    probabilities.  Raises `UsageError` for a negative or infinite rate and for a probability
    outside 0 to 1.
    """

    arrive_per_hour: float = 0.5
    """New work items per hour, from time 0 to the horizon."""
    publish_per_hour: float = 0.5
    """New revisions, each with its check, per hour active."""
    block_per_hour: float = 0.2
    """Blockers per hour active."""
    claim_per_hour: float = 0.2
    """Readiness claims, true and false, per hour active."""
    recover_per_hour: float = 0.3
    """Recoveries per hour blocked."""
    cancel_blocker_per_hour: float = 0.1
    """Cancellations of the blocker alone per hour blocked."""
    repeat_per_hour: float = 0.5
    """Repeated raises per hour blocked."""
    review_per_hour: float = 0.4
    """Substantive reviews per hour waiting: the mean latency is its inverse."""
    complete_per_hour: float = 0.5
    """Completion claims, true and false, per hour approved."""
    cancel_work_per_hour: float = 0.02
    """Cancellations of the work per hour in any of the four states."""
    message_per_hour: float = 0.2
    """Heartbeats per hour in any of the four states."""
    pass_probability: float = 0.7
    """That the check of a published revision passes."""
    approval_probability: float = 0.7
    """That a review approves."""
    false_claim_probability: float = 0.15
    """That a claim of readiness or of completion is made without evidence."""
    correction_probability: float = 0.0
    """That a revision, a check or a raise is first recorded wrongly, and corrected."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            top = 1.0 if name.endswith("_probability") else float("inf")
            if not (isfinite(value) and 0 <= value <= top):
                raise UsageError(f"{name}: expected a number from 0 to {top:g}, found {value!r}")


class TrueEpisode(Record, frozen=True, kw_only=True):
    """A blocker episode as it was.  `ended_at` (nanoseconds) may lie beyond the horizon; `kind`
    and `ended_at` are null where nothing could ever have ended it.

    `origin` and `repeats` are the raises that stand (not the ones recorded wrongly); repeats
    beyond the horizon are not listed.
    """

    work_id: str
    blocker_id: str
    origin: str
    opened_at: int
    repeats: tuple[str, ...]
    kind: BlockerEnd | None
    ended_at: int | None


class TrueReview(Record, frozen=True, kw_only=True):
    """A wait for a review, from a true readiness claim.  The end is as in `TrueEpisode`.

    `first` says whether it is the item's first, the only one that `replay.latency` counts.
    """

    work_id: str
    claim: str
    ready_at: int
    first: bool
    kind: ReviewEnd | None
    outcome: str | None
    ended_at: int | None


class TrueClaim(Record, frozen=True, kw_only=True):
    """A recorded claim of readiness or completion, and whether there was evidence for it."""

    work_id: str
    event_id: str
    type: ClaimType
    at: int
    true: bool


class Exposure(Record, frozen=True, kw_only=True):
    """Hours that all items together were observed in each state, up to the horizon."""

    active: float
    blocked: float
    waiting: float
    approved: float


class Truth(Record, frozen=True, kw_only=True):
    """What the process did.  `corrected` are the items with a correction."""

    rates: Rates
    work_ids: tuple[str, ...]
    episodes: tuple[TrueEpisode, ...]
    reviews: tuple[TrueReview, ...]
    claims: tuple[TrueClaim, ...]
    corrected: tuple[str, ...]
    exposure: Exposure
