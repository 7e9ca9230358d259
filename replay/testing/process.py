"""One work item's life, drawn: the Markov chain that `replay.testing.simulate` describes.

Here time is in whole milliseconds since the log began.  What happens after the horizon is
not recorded, but an open episode or wait is followed until it ends, for the truth's sake.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log
from random import Random
from typing import Any, Final, Literal, TypeAlias

from replay.event import Event
from replay.testing.build import event
from replay.testing.truth import (
    BlockerEnd,
    ClaimType,
    Rates,
    ReviewEnd,
    TrueClaim,
    TrueEpisode,
    TrueReview,
)
from replay.timestamps import parse_utc

START: Final = parse_utc("2026-01-01T00:00:00Z")
"""Time 0 of every simulated log, in nanoseconds."""
MS_PER_HOUR: Final = 3_600_000
_NS_PER_MS: Final = 1_000_000

State: TypeAlias = Literal["active", "blocked", "waiting", "approved", "ended"]
_REVIEW_ENDS: Final[Mapping[str | None, ReviewEnd]] = {
    "review": "reviewed",
    "cancel_work": "cancelled",
}


def exponential(rng: Random, per_hour: float) -> int:
    """Milliseconds; written out, so that no version of `random` draws it otherwise."""
    return round(-log(1.0 - rng.random()) / per_hour * MS_PER_HOUR)


def nanoseconds(ms: int) -> int:
    """Since 1970, of milliseconds since the log began."""
    return START + ms * _NS_PER_MS


def _nothing() -> State:
    return "ended"


class Item:
    """One work item's life, from its arrival until it ended or nothing more is to be known."""

    def __init__(self, work_id: str, at: int, horizon: int, rates: Rates, rng: Random) -> None:
        self.work_id = work_id
        self.now = at
        self.horizon = horizon
        self.rates = rates
        self.rng = rng
        self.author = f"agent-{1 + int(rng.random() * 5)}"
        self.recorded: list[Event] = []
        self.episodes: list[TrueEpisode] = []
        self.reviews: list[TrueReview] = []
        self.claims: list[TrueClaim] = []
        self.corrected = False
        self.observed = {"active": 0, "blocked": 0, "waiting": 0, "approved": 0}
        self._numbered = 0
        self._revision = ""
        self._revisions = 0

    def live(self) -> None:
        self._write("work.proposed")
        self._write("work.started")
        state: State = "active"
        # an open episode or wait is followed beyond the horizon, for its truth
        while state != "ended" and self.now <= self.horizon:
            match state:
                case "active":
                    state = self._active()
                case "blocked":
                    state = self._blocked()
                case "waiting":
                    state = self._waiting()
                case "approved":
                    state = self._approved()

    # The four states, each until something moves the item on

    def _active(self) -> State:
        rates = self.rates
        match self._next(
            "active",
            publish=rates.publish_per_hour,
            block=rates.block_per_hour,
            claim=rates.claim_per_hour,
        ):
            case "publish":
                self._publish()
                self._check("passed" if self._happens(rates.pass_probability) else "failed")
            case "block":
                return "blocked"
            case "claim" if self._happens(rates.false_claim_probability):
                self._unevidenced("review.requested")
            case "claim":
                self._publish()
                self._check("passed")
                return "waiting"
            case "cancel_work":
                return self._cancelled()
            case None:
                return "ended"
        return "active"

    def _blocked(self) -> State:
        rates = self.rates
        blocker_id = f"{self.work_id}-b{len(self.episodes) + 1}"
        opened_at = self.now
        origin = self._raise(blocker_id)
        repeats: list[str] = []
        ends: Mapping[str, tuple[BlockerEnd, Callable[[], State]]] = {
            "recover": ("recovered", lambda: self._recover(blocker_id, origin)),
            "cancel_blocker": ("cancelled", lambda: self._call_off(blocker_id)),
            "cancel_work": ("cancelled_with_work", self._cancelled),
        }
        while (
            what := self._next(
                "blocked",
                recover=rates.recover_per_hour,
                cancel_blocker=rates.cancel_blocker_per_hour,
                repeat=rates.repeat_per_hour,
            )
        ) not in (*ends, None):
            if what == "repeat" and self.now <= self.horizon:
                repeats.append(self._raise(blocker_id))
        kind, happen = ends[what] if what is not None else (None, _nothing)
        self.episodes.append(
            TrueEpisode(
                work_id=self.work_id,
                blocker_id=blocker_id,
                origin=origin,
                opened_at=nanoseconds(opened_at),
                repeats=tuple(repeats),
                kind=kind,
                ended_at=None if kind is None else nanoseconds(self.now),
            )
        )
        return happen()

    def _waiting(self) -> State:
        rates = self.rates
        ready_at = self.now
        claim = self._claim("review.requested", true=True)
        what: str | None = "message"
        while what == "message":
            what = self._next("waiting", review=rates.review_per_hour)
        approved = what == "review" and self._happens(rates.approval_probability)
        outcome = "approved" if approved else "changes_requested"
        self.reviews.append(
            TrueReview(
                work_id=self.work_id,
                claim=claim,
                ready_at=nanoseconds(ready_at),
                first=not self.reviews,
                kind=_REVIEW_ENDS.get(what),
                outcome=outcome if what == "review" else None,
                ended_at=None if what is None else nanoseconds(self.now),
            )
        )
        if what == "review":
            self._write("review.completed", {"outcome": outcome}, by="reviewer-1", about=True)
            return "approved" if approved else "active"
        return self._cancelled() if what == "cancel_work" else "ended"

    def _approved(self) -> State:
        match self._next("approved", complete=self.rates.complete_per_hour):
            case "complete" if self._happens(self.rates.false_claim_probability):
                self._unevidenced("work.completed")
                return "active"
            case "complete":
                self._claim("work.completed", true=True)
                return "ended"
            case "cancel_work":
                return self._cancelled()
            case None:
                return "ended"
        return "approved"

    def _next(self, state: str, **hazards: float) -> str | None:
        """The hazard that happens first, at its time; null where nothing is left to know.

        A message is recorded here.  Every hazard is drawn anew each time, which changes
        nothing: exponential times have no memory.
        """
        hazards["cancel_work"] = self.rates.cancel_work_per_hour
        ending = sum(rate for name, rate in hazards.items() if name != "repeat")
        hazards["message"] = self.rates.message_per_hour
        drawn = [(exponential(self.rng, r), name) for name, r in hazards.items() if r > 0]
        if not drawn or (ending == 0 and self.now > self.horizon):
            self._observe(state, self.horizon)
            return None
        after, what = min(drawn, key=lambda one: one[0])
        self._observe(state, min(self.now + after, self.horizon))
        self.now += after
        if what == "message":
            self._write("heartbeat")
        return what

    def _observe(self, state: str, until: int) -> None:
        self.observed[state] += max(0, until - self.now)

    def _happens(self, probability: float) -> bool:
        return self.rng.random() < probability

    # What is recorded

    def _write(
        self,
        type: str,
        payload: dict[str, Any] | None = None,
        *,
        by: str | None = None,
        about: bool = False,
        **envelope: Any,
    ) -> str:
        """The event's id; beyond the horizon it is not recorded.  `about` the last revision."""
        self._numbered += 1
        event_id = f"{self.work_id}-{self._numbered}"
        if about:
            envelope["artifact_revision"] = self._revision
        if self.now <= self.horizon:
            written = event(
                type,
                event_id,
                at=nanoseconds(self.now),
                payload=payload,
                basis="utc",
                principal=by or self.author,
                work_id=self.work_id,
                **envelope,
            )
            self.recorded.append(written)
        return event_id

    def _write_or_correct(
        self, type: str, payload: dict[str, Any], wrong: dict[str, Any], **envelope: Any
    ) -> str:
        """The id of the event that stands; `wrong` has what a mistake records instead."""
        if not self._happens(self.rates.correction_probability):
            return self._write(type, payload, **envelope)
        self.corrected |= self.now <= self.horizon
        mistaken = {**envelope, **wrong.get("envelope", {})}
        mistake = self._write(type, {**payload, **wrong.get("payload", {})}, **mistaken)
        if self._happens(0.5):
            return self._write(type, payload, supersedes=mistake, **envelope)
        self._write("event.retracted", {"reason": "recorded by mistake"}, supersedes=mistake)
        return self._write(type, payload, **envelope)

    def _publish(self, causes: tuple[str, ...] = ()) -> str:
        self._revisions += 1
        self._revision = f"{self.work_id}-r{self._revisions}"
        wrong = {"envelope": {"artifact_revision": f"{self._revision}-typo"}}
        return self._write_or_correct(
            "artifact.published", {}, wrong, artifact_revision=self._revision, causes=causes
        )

    def _check(self, outcome: str, causes: tuple[str, ...] = ()) -> str:
        wrong = {"payload": {"outcome": "failed" if outcome == "passed" else "passed"}}
        return self._write_or_correct(
            "check.completed",
            {"check": "ci", "outcome": outcome, "source": "runner"},
            wrong,
            artifact_revision=self._revision,
            causes=causes,
        )

    def _raise(self, blocker_id: str) -> str:
        wrong = {"payload": {"blocker_id": f"{blocker_id}-typo"}}
        return self._write_or_correct("blocker.raised", {"blocker_id": blocker_id}, wrong)

    def _claim(self, type: ClaimType, *, true: bool) -> str:
        event_id = self._write(type, about=True)
        if self.now <= self.horizon:
            self.claims.append(
                TrueClaim(
                    work_id=self.work_id,
                    event_id=event_id,
                    type=type,
                    at=nanoseconds(self.now),
                    true=true,
                )
            )
        return event_id

    def _unevidenced(self, type: ClaimType) -> None:
        self._publish()
        if self._happens(0.5):
            self._check("failed")
        self._claim(type, true=False)

    # How an episode ends

    def _recover(self, blocker_id: str, origin: str) -> State:
        """In one of three ways, all of which the rules accept as evidence."""
        way = int(self.rng.random() * 3)
        published = self._publish(causes=(origin,) if way == 0 else ())
        if way == 1:
            self._check("passed", causes=(origin,))
        elif way == 2:
            resolved = {"blocker_id": blocker_id}
            self._write("blocker.resolved", resolved, evidence_refs=(published,))
        return "active"

    def _call_off(self, blocker_id: str) -> State:
        self._write("blocker.cancelled", {"blocker_id": blocker_id}, by="coordinator")
        return "active"

    def _cancelled(self) -> State:
        self._write("work.cancelled", {"reason": "no longer wanted"}, by="coordinator")
        return "ended"
