"""Logs drawn from a process whose rates are known, with the truth that no log has.

`simulate(seed, rates)` draws a history as an observer has it, who stops at a horizon, and
keeps beside it what came of every open blocker and every waiting review afterwards.  An
estimator is right where its intervals, over many seeds, hold the rates that were put in.

The process, in full.  Work items arrive by a Poisson process from time 0 to the horizon.
Each item is a Markov chain of its own, independent of all others, with four states; in each
the named hazards compete: independent exponential times, of which the first happens.

    state      hazard (per hour)        what happens
    active     publish                  a new revision and at once its check, which passes
                                        with probability `pass_probability`
               block                    a blocker is raised: blocked
               claim                    true: a new revision, its passed check and a readiness
                                        claim: waiting; false, with `false_claim_probability`:
                                        a new revision with no check or a failed one (evenly),
                                        and a readiness claim: still active
    blocked    recover                  evidenced resumption (below): active
               cancel_blocker           `blocker.cancelled`: active
               repeat                   the same blocker is raised again: still blocked
    waiting    review                   of the claimed revision: approved, with probability
                                        `approval_probability`: approved; else changes are
                                        requested: active
    approved   complete                 true: a completion claim: complete, for good; false,
                                        with `false_claim_probability`: a new revision with no
                                        check or a failed one, and a completion claim: active
    all four   cancel_work              `work.cancelled`: cancelled, for good
               message                  a heartbeat, which moves nothing

All that one hazard brings about bears one recorded time.  A recovery is, evenly, a new
revision that names the raise; a new revision and a passed check that names the raise; or a
new revision and a `blocker.resolved` that cites it.  The end of the episode is that event.
True claims are supported at their place, false ones missing or contradicted, whatever
follows; a hazard of 0 never happens.

With `correction_probability`, each revision, check and raise is first recorded wrongly (a
revision or blocker id that is not meant, a reversed outcome) and corrected in the same moment
by the next event: evenly a replacement, or a retraction followed by the right event.  So at
no time cutoff is a mistake believed; a sequence cutoff shows it.

Times are drawn exactly and kept as whole milliseconds: the only rounding.  Nothing is
truncated but by the horizon, after which nothing is recorded.  The same seed and rates give
the same bytes; all chance is `random.Random(seed)`.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from math import isfinite
from random import Random
from typing import Final

from msgspec.structs import replace

from replay.errors import UsageError
from replay.event import Event, Record, Source
from replay.history import Cutoff, History, Prefix, admit
from replay.testing.build import log_bytes
from replay.testing.process import MS_PER_HOUR, START, Item, exponential, nanoseconds
from replay.testing.truth import Exposure, Rates, TrueClaim, TrueEpisode, TrueReview, Truth
from replay.timestamps import format_utc

__all__ = [
    "NS_PER_HOUR",
    "START",
    "Exposure",
    "Rates",
    "Simulated",
    "TrueClaim",
    "TrueEpisode",
    "TrueReview",
    "Truth",
    "simulate",
]

NS_PER_HOUR: Final = 3_600_000_000_000


class Simulated(Record, frozen=True, kw_only=True):
    """A simulated log, and its truth.  `horizon` is in nanoseconds, where observation ends."""

    seed: int
    log: bytes
    history: History
    horizon: int
    truth: Truth

    @property
    def prefix(self) -> Prefix:
        """The history as known at the horizon: open episodes and waits are censored there."""
        return self.history.at(Cutoff(recorded=self.horizon))

    @property
    def horizon_utc(self) -> str:
        """The horizon as RFC 3339, for `History.until(time=…)` and `--at-time`."""
        return format_utc(self.horizon)


def simulate(seed: int, rates: Rates | None = None, *, hours: float = 48.0) -> Simulated:
    """One log of the process in the module's text, observed for `hours` from time 0.

    Raises `UsageError` where `hours` is not a positive number.
    """
    if not (isfinite(hours) and hours > 0):
        raise UsageError(f"hours: expected a positive number, found {hours!r}")
    given, rng, horizon = rates or Rates(), Random(seed), round(hours * MS_PER_HOUR)
    items = [
        Item(f"W{number}", at, horizon, given, rng)
        for number, at in enumerate(_arrivals(given.arrive_per_hour, horizon, rng), start=1)
    ]
    for item in items:
        item.live()
    recorded = _sequenced(one for item in items for one in item.recorded)
    lines = log_bytes(recorded)
    source = Source(
        name=f"simulated-{seed}.jsonl",
        sha256=sha256(lines).hexdigest(),
        events=tuple(recorded),
        lines=len(recorded),
    )
    return Simulated(
        seed=seed,
        log=lines,
        history=admit([source]),
        horizon=nanoseconds(horizon),
        truth=_truth(given, items),
    )


def _arrivals(rate: float, horizon: int, rng: Random) -> list[int]:
    found: list[int] = []
    at = 0
    while rate > 0 and (at := at + exponential(rng, rate)) <= horizon:
        found.append(at)
    return found


def _sequenced(unordered: Iterable[Event]) -> list[Event]:
    """In order of time; of one item's, and of those of one time, as they were made."""
    ordered = sorted(unordered, key=lambda one: one.recorded_at)
    return [replace(one, recorded_sequence=number) for number, one in enumerate(ordered, start=1)]


def _truth(rates: Rates, items: list[Item]) -> Truth:
    hours = {
        state: sum(item.observed[state] for item in items) / MS_PER_HOUR
        for state in ("active", "blocked", "waiting", "approved")
    }
    return Truth(
        rates=rates,
        work_ids=tuple(item.work_id for item in items),
        episodes=tuple(one for item in items for one in item.episodes),
        reviews=tuple(one for item in items for one in item.reviews),
        claims=tuple(one for item in items for one in item.claims),
        corrected=tuple(item.work_id for item in items if item.corrected),
        exposure=Exposure(**hours),
    )
