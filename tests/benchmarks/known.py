"""What `coverage.py` knows beforehand: processes, and their estimands in closed form.

Every wait of the simulated process is one of competing exponentials.  Four configurations:

* *usual*: reviews, blockers (several an item) and claims;
* *gaps*: nothing but new revisions, each with its check at the same time, heartbeats and
  cancellations.  A stretch without progress, the first from the item's first event, is then
  exponential, and the events of an item have a mean: arrivals are uniform over the log.
  With blockers and claims neither has such a form, so elsewhere neither is counted;
* *window*: the usual process, watched in the last two thirds of each log, so that waits are
  entered late.  Those begun in the window are watched from 0, and the curves begin there;
* *late*: watched in the second half, and the last item that is kept arrives some hours before.
  Few are watched from 0, so the curves begin later, at a time that differs by log; a wait
  without memory is known from any time on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from replay.testing.simulate import Rates
from study.definitions import WAITS
from study.estimates import Record

HOURS: Final = 150.0
"""How long each log is observed."""


class Competing(Record, frozen=True):
    """Hazards (per hour) by cause, all constant; hours from the origin, given waiting at `start`.

    Having no memory, what is left of a wait at `start` is as a wait anew.
    """

    hazards: Mapping[str, float]

    @property
    def total(self) -> float:
        return sum(self.hazards.values())

    def waiting(self, time: float, start: float = 0.0) -> float:
        return math.exp(-self.total * (time - start))

    def incidence(self, cause: str, time: float, start: float = 0.0) -> float:
        return self.hazards[cause] / self.total * (1 - self.waiting(time, start))

    def mean(self, tau: float, start: float = 0.0) -> float:
        """Hours waited up to `tau` by who still waits at `start`."""
        return start + (1 - self.waiting(tau, start)) / self.total

    def median(self, start: float = 0.0) -> float:
        return start + math.log(2) / self.total

    def median_of(self, cause: str, start: float = 0.0) -> float:
        """When half have ended by one cause; infinite where half never do."""
        most = self.hazards[cause] / self.total
        return start - math.log(1 - 0.5 / most) / self.total if most > 0.5 else math.inf


def events_an_item(rates: Rates, hours: float) -> float:
    """Of an item that only publishes (with a check), beats, and is cancelled.

    It arrives at any time of the log alike, and begins with two events.
    """
    ends = rates.cancel_work_per_hour
    watched = (1 - (1 - math.exp(-ends * hours)) / (ends * hours)) / ends
    return 2 + (2 * rates.publish_per_hour + rates.message_per_hour + ends) * watched


class Estimand(Record, frozen=True, kw_only=True):
    """A number (hours, share or count) and its known value, given where its curve starts."""

    endpoint: str
    name: str
    unit: str
    at: float | None = None
    known: Callable[[float], float]


HAZARDS: Final[Mapping[str, Mapping[str, str]]] = {
    "review_latency": {"reviewed": "review", "cancelled": "cancel_work"},
    "blocker_recovery": {
        "recovered": "recover",
        "cancelled": "cancel_blocker",
        "cancelled_with_work": "cancel_work",
    },
    "progress_gap": {"progress": "publish", "cancelled": "cancel_work"},
}
"""Which rate ends a wait by which cause."""


def of_wait(endpoint: str, rates: Rates, horizons: Sequence[float]) -> Iterator[Estimand]:
    """Medians, shares at each horizon and the mean up to the last, of one time to event."""
    hazards = {c: getattr(rates, f"{name}_per_hour") for c, name in HAZARDS[endpoint].items()}
    waits, words = Competing(hazards), WAITS[endpoint]

    def of(name: str, known: Any, at: float | None = None, unit: str = "share") -> Estimand:
        return Estimand(endpoint=endpoint, name=name, unit=unit, at=at, known=known)

    yield of(words.median_event, partial(waits.median_of, next(iter(hazards))), unit="seconds")
    yield of(words.median, waits.median, unit="seconds")
    for at in horizons:
        for cause in hazards:
            yield of(words.causes[cause], partial(waits.incidence, cause, at), at)
        yield of(words.still, partial(waits.waiting, at), at)
    yield of(words.mean, partial(waits.mean, max(horizons)), max(horizons), "seconds")


def of_claims(rates: Rates) -> Iterator[Estimand]:
    for of in ("", "of completion ", "of readiness "):
        yield Estimand(
            endpoint="false_success",
            name=f"claims {of}without evidence",
            unit="share",
            known=lambda start: rates.false_claim_probability,
        )


def of_events(rates: Rates, hours: float) -> Estimand:
    return Estimand(
        endpoint="cost",
        name="events recorded per work item",
        unit="events",
        known=lambda start: events_an_item(rates, hours),
    )


# Four configurations

USUAL: Final = Rates(
    arrive_per_hour=1.4,
    publish_per_hour=0.0,
    claim_per_hour=0.25,
    repeat_per_hour=0.1,
    cancel_work_per_hour=0.05,
    message_per_hour=0.05,
)
GAPS: Final = Rates(
    arrive_per_hour=1.0,
    publish_per_hour=0.5,
    block_per_hour=0.0,
    claim_per_hour=0.0,
    cancel_work_per_hour=0.1,
    message_per_hour=0.1,
)
BUSY: Final = replace(USUAL, arrive_per_hour=2.2)
LATE: Final = Rates(
    arrive_per_hour=4.0,
    publish_per_hour=0.0,
    block_per_hour=0.0,
    claim_per_hour=1.0,
    review_per_hour=0.03,
    cancel_work_per_hour=0.005,
    message_per_hour=0.0,
)
SETTLES: Final = 5.0
"""How many hours before a late window the last item arrives: most are ready by then."""


class Configuration(Record, frozen=True, kw_only=True):
    """What is drawn, watched and known; all times in hours from the start of the log.

    `horizons` are hours waited, `since` the window's start, `until` when the last item arrives.
    """

    rates: Rates
    horizons: tuple[float, ...]
    estimands: tuple[Estimand, ...]
    since: float | None = None
    until: float | None = None


def configurations(hours: float = HOURS) -> dict[str, Configuration]:
    """By name."""
    middle, short, long = hours / 2, (1.0, 4.0), (hours / 5, hours / 3)
    waits = ("review_latency", "blocker_recovery")
    usual = (one for endpoint in waits for one in of_wait(endpoint, USUAL, short))
    window = (one for endpoint in waits for one in of_wait(endpoint, BUSY, short))
    gaps = (*of_wait("progress_gap", GAPS, short), of_events(GAPS, hours))
    late = (*of_wait("review_latency", LATE, long),)
    made = Configuration
    return {
        "usual": made(rates=USUAL, horizons=short, estimands=(*usual, *of_claims(USUAL))),
        "gaps": made(rates=GAPS, horizons=short, estimands=gaps),
        "window": made(rates=BUSY, horizons=short, estimands=(*window,), since=hours / 3),
        "late": made(
            rates=LATE, horizons=long, estimands=late, since=middle, until=middle - SETTLES
        ),
    }
