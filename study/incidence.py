"""How many end which way by when, when several causes compete.

The Aalen-Johansen estimator of each cause's cumulative incidence: at each time the share
still open is split between the causes in proportion to who ended how, so that the shares
and what is open always make 1.  This is our own code because lifelines'
`AalenJohansenFitter` moves tied times by a random amount: its answers depend on the order
of the rows, and differ from R's in the third decimal (lifelines issue 1521).  Here endings at
one time share one risk set, exactly.

The variance is Aalen's (1978), as in R's cmprsk and SAS; the interval is that of
log(-log F).  Spells must be of independent subjects: where one work item has several,
take intervals from `study.bootstrap`, which draws items.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import exp, log, sqrt
from operator import mul
from typing import Final

from study.estimates import (
    ROUNDING,
    BadInput,
    Interval,
    Number,
    Range,
    Record,
    Unknown,
    normal_quantile,
)
from study.spells import ENOUGH_AT_RISK, Row, Spell, after, check, first_start, rows

CERTAIN: Final = Unknown("an incidence of 1 has no band on the log-log scale")


class Point(Record, frozen=True):
    """Cumulative incidence just after a time at which the cause ended somebody's spell."""

    time: float
    at_risk: int
    events: int
    incidence: float
    standard_error: float
    interval: Range


class Incidence(Record, frozen=True):
    """F(t) of one cause: the share that ended so by t, of those open at the start."""

    cause: str
    events: int
    points: tuple[Point, ...]


class AalenJohansen(Record, frozen=True):
    """Every cause's incidence, and `open`: at each event time, the share not yet ended.

    Times are in the unit of the spells; `start`, `before_start` and `last` are as in
    `study.survival.KaplanMeier`.
    """

    spells: int
    before_start: int
    start: float
    last: float
    level: float
    open: tuple[tuple[float, float], ...]
    causes: tuple[Incidence, ...]

    def of(self, cause: str) -> Incidence:
        """The incidence of one cause; a cause that was not named raises BadInput."""
        for incidence in self.causes:
            if incidence.cause == cause:
                return incidence
        known = ", ".join(repr(incidence.cause) for incidence in self.causes)
        raise BadInput("cause", cause, f"one of {known}")

    def at(self, cause: str, time: float) -> Number:
        """F(time), unknown before the start and after the last subject was watched."""
        points = self.of(cause).points
        if time < self.start:
            return Unknown(f"too few are at risk before {self.start}")
        if time > self.last and not self._all_ended():
            return Unknown(f"nobody is watched after {self.last}")
        return next((p.incidence for p in reversed(points) if p.time <= time), 0.0)

    def _all_ended(self) -> bool:
        return bool(self.open) and self.open[-1][1] == 0


def aalen_johansen(
    spells: Sequence[Spell],
    causes: Sequence[str],
    *,
    minimum_at_risk: int = ENOUGH_AT_RISK,
    level: float = 0.95,
) -> AalenJohansen | Unknown:
    """The cumulative incidence of each of `causes`, in that order.

    Spells ended by none of `causes` raise BadInput: an ending left out would count as
    censoring.  Where entry is delayed, the curves begin at `study.spells.first_start`, and
    are unknown if `minimum_at_risk` are never there.
    """
    check(spells)
    z = normal_quantile(level)
    _check_causes(spells, causes)
    start = first_start(spells, minimum_at_risk)
    if isinstance(start, Unknown):
        return start
    table = rows(spells, start)
    kept = after(spells, start)
    shares = _open(table)
    return AalenJohansen(
        spells=len(kept),
        before_start=len(spells) - len(kept),
        start=start,
        last=max((spell.exit for spell in kept), default=start),
        level=level,
        open=tuple(zip((row.time for row in table), shares[1:], strict=True)),
        causes=tuple(_incidence(cause, table, shares[:-1], z) for cause in causes),
    )


def _check_causes(spells: Sequence[Spell], causes: Sequence[str]) -> None:
    if not causes or len({*causes}) != len(causes):
        raise BadInput("causes", list(causes), "at least one, each once")
    for index, spell in enumerate(spells):
        if spell.cause is not None and spell.cause not in causes:
            raise BadInput("cause of spell", spell.cause, f"one of {list(causes)}", index)


def _open(table: Sequence[Row]) -> list[float]:
    """The share still open: at the start, then just after each time of the table."""
    left = (1 - row.events / row.at_risk for row in table)
    return [*accumulate(left, mul, initial=1.0)]


def _incidence(cause: str, table: Sequence[Row], before: Sequence[float], z: float) -> Incidence:
    points = []
    reached = 0.0
    variance = _AalenVariance()
    for row, share in zip(table, before, strict=True):
        events = row.ended.get(cause, 0)
        reached += share * events / row.at_risk
        variance.add(row.at_risk, row.events, events, share, reached)
        if events:
            error = variance.error(reached)
            band = _log_log(reached, error, z)
            points.append(Point(row.time, row.at_risk, events, reached, error, band))
    return Incidence(cause, sum(point.events for point in points), tuple(points))


class _AalenVariance:
    """Aalen's variance of F at each time in one pass.

    At t it is the sum, over times s up to t with n at risk, d endings, k of this cause and
    an open share S before s, of

        (F(t) - F(s))^2 d / ((n - 1)(n - d))
        + S^2 k (n - k) / (n^2 (n - 1))
        - 2 (F(t) - F(s)) S k / (n (n - 1))

    (in the last, cmprsk's factor (n - d) / (n - d) is cancelled).  Written out in powers of
    F(t), its coefficients are running sums.  Where everyone at risk ends, F moves no more
    and only the middle term is left.
    """

    def __init__(self) -> None:
        self._square = self._linear = self._constant = 0.0

    def add(self, n: int, d: int, k: int, share: float, reached: float) -> None:
        if n == 1:
            return
        self._constant += share**2 * k * (n - k) / (n**2 * (n - 1))
        if n == d:
            return
        weight = d / ((n - 1) * (n - d))
        cross = 2 * share * k / (n * (n - 1))
        self._square += weight
        self._linear -= 2 * weight * reached + cross
        self._constant += weight * reached**2 + cross * reached

    def error(self, reached: float) -> float:
        value = self._square * reached**2 + self._linear * reached + self._constant
        return sqrt(max(value, 0.0))  # a difference of sums may end an ulp below 0


def _log_log(reached: float, error: float, z: float) -> Range:
    if reached >= 1 - ROUNDING:
        return CERTAIN
    width = z * error / (reached * log(reached))
    return Interval(reached ** exp(-width), reached ** exp(width))


class TimeLost(Record, frozen=True):
    """Restricted mean time lost to one cause between `start` and `tau` (unit of the spells)."""

    cause: str
    start: float
    tau: float
    mean: float


def time_lost(curves: AalenJohansen, cause: str, tau: float) -> TimeLost | Unknown:
    """The area under the cause's incidence up to `tau`: mean time spent ended so.

    Over all causes, together with the mean time open, it makes up the whole of `tau`.  Its
    interval comes from `study.bootstrap`.
    """
    if not tau > curves.start:
        raise BadInput("tau", tau, f"a time after the curves' start, {curves.start}")
    if isinstance(unknown := curves.at(cause, tau), Unknown):
        return unknown
    inside = [point for point in curves.of(cause).points if point.time <= tau]
    edges = [*(point.time for point in inside), tau]
    areas = [
        point.incidence * (right - left)
        for point, (left, right) in zip(inside, pairwise(edges), strict=True)
    ]
    return TimeLost(cause, curves.start, tau, sum(areas))
