"""How long it takes until something happens, when some are still waiting.

Kaplan-Meier and log-rank are lifelines'.  Three things around them are ours, each for a
defect of it that the tests show:

* the **median**: lifelines compares products of floats with 0.5, so of six distinct
  events it calls the fourth the median.  Here S(t) <= 0.5 allows for rounding;
* **RMST's variance**: `restricted_mean_survival_time(return_variance=True)` returns the
  variance of min(T, tau), not of its estimated mean (lifelines issue 1682).  Here it is
  Greenwood's, carried through the area (Klein & Moeschberger 2003, section 4.5; the same
  plug-in as R's survRM2);
* the **band where S is 0**, which lifelines closes to [0, 0]: it is unknown.

Kaplan-Meier answers "how many still wait" only when every ending counts as the event.
Asked to count one cause and censor the others, it refuses: 1 - S would then be the share
that would recover were nobody ever cancelled, which is more than the share that does
(`study.incidence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import inf, sqrt
from typing import Final

from study.estimates import (
    ROUNDING,
    BadInput,
    Interval,
    Number,
    Range,
    Record,
    Unknown,
    WrongMethod,
    normal_quantile,
)
from study.spells import (
    ENOUGH_AT_RISK,
    Row,
    Spell,
    after,
    at_risk,
    causes_of,
    check,
    first_start,
    rows,
)

NOT_REACHED: Final = Unknown("not reached: more than half still wait when the last is watched")
BAND_NOT_REACHED: Final = Unknown("not reached: the band stays above one half where it is known")
ALL_ENDED: Final = Unknown("everyone at risk ended there")


class Point(Record, frozen=True):
    """Survival just after an event time; `standard_error` is Greenwood's, of S."""

    time: float
    at_risk: int
    events: int
    survival: float
    standard_error: Number
    interval: Range


class KaplanMeier(Record, frozen=True):
    """S(t), the share still waiting at t, of those still waiting at `start`.

    Times are in the unit of the spells.  `before_start` spells ended by `start` and are not
    in the curve; `last` is the last time at which anybody was watched.
    """

    spells: int
    events: int
    before_start: int
    start: float
    last: float
    level: float
    points: tuple[Point, ...]
    median: Number
    median_low: Number
    median_high: Number

    def at(self, time: float) -> Number:
        """S(time), unknown before the start and after the last subject was watched."""
        if time < self.start:
            return Unknown(f"too few are at risk before {self.start}")
        reached = [point.survival for point in self.points if point.time <= time]
        survival = reached[-1] if reached else 1.0
        if time > self.last and survival > 0:
            return Unknown(f"nobody is watched after {self.last}")
        return survival


class RestrictedMean(Record, frozen=True):
    """Mean time waited up to `tau`, from `start` on: the area under S (unit of the spells)."""

    tau: float
    start: float
    mean: float
    standard_error: float
    interval: Interval


class MeanDifference(Record, frozen=True):
    """A restricted mean less another, of independent groups (unit of the spells)."""

    tau: float
    difference: float
    standard_error: float
    interval: Interval


class Group(Record, frozen=True):
    """One group of a log-rank test; `expected` if the groups did not differ."""

    name: str
    spells: int
    observed: int
    expected: float


class LogRank(Record, frozen=True):
    """Mantel's chi-squared on `degrees` of freedom, and its p."""

    groups: tuple[Group, ...]
    statistic: float
    degrees: int
    p: float


def kaplan_meier(
    spells: Sequence[Spell],
    event: str | None = None,
    *,
    minimum_at_risk: int = ENOUGH_AT_RISK,
    level: float = 0.95,
) -> KaplanMeier | Unknown:
    """The product-limit curve with its log-log band, and the median with its interval.

    Every cause is the event.  Naming one as `event` asserts that there is no other: a spell
    that ended by another raises WrongMethod.  Where entry is delayed the curve begins at
    `study.spells.first_start`, and is unknown if `minimum_at_risk` are never there.
    Impossible spells raise BadInput.
    """
    check(spells)
    normal_quantile(level)
    _refuse_competing(spells, event)
    start = first_start(spells, minimum_at_risk)
    if isinstance(start, Unknown):
        return start
    kept = after(spells, start)
    points = _points(rows(spells, start), _fitted(kept, start, level))
    lows = [_bound(point.interval, low=True) for point in points]
    highs = [_bound(point.interval, low=False) for point in points]
    return KaplanMeier(
        spells=len(kept),
        events=sum(point.events for point in points),
        before_start=len(spells) - len(kept),
        start=start,
        last=max((spell.exit for spell in kept), default=start),
        level=level,
        points=points,
        median=_first(points, [point.survival for point in points], NOT_REACHED),
        median_low=_first(points, lows, BAND_NOT_REACHED),
        median_high=_first(points, highs, BAND_NOT_REACHED),
    )


def _refuse_competing(spells: Iterable[Spell], event: str | None) -> None:
    others = [cause for cause in causes_of(spells) if cause != event]
    if event is not None and others:
        raise WrongMethod(
            f"Kaplan-Meier of {event!r} with {others!r} as censoring",
            "1 - S would be read as the share that ended so, and overstates it",
            "study.incidence.aalen_johansen, where they compete",
        )


def _fitted(
    spells: Sequence[Spell], start: float, level: float
) -> Mapping[float, tuple[float, Interval]]:
    """S and its log-log band by time, from lifelines."""
    from lifelines import KaplanMeierFitter

    entries = [max(spell.entry, start) for spell in spells]
    fitter = KaplanMeierFitter(alpha=1 - level).fit(
        [spell.exit for spell in spells],
        [spell.cause is not None for spell in spells],
        entry=entries if max(entries) > start else None,
    )
    survival = fitter.survival_function_.iloc[:, 0]
    band = fitter.confidence_interval_.to_numpy().tolist()
    return {
        float(time): (float(value), Interval(low, high))
        for time, value, (low, high) in zip(survival.index, survival, band, strict=True)
    }


def _points(
    table: Sequence[Row], fitted: Mapping[float, tuple[float, Interval]]
) -> tuple[Point, ...]:
    points = []
    greenwood = 0.0
    for row in table:
        left = row.at_risk - row.events
        if not left:
            points.append(Point(row.time, row.at_risk, row.events, 0.0, ALL_ENDED, ALL_ENDED))
            break
        survival, interval = fitted[row.time]
        greenwood += row.events / (row.at_risk * left)
        error = survival * sqrt(greenwood)
        points.append(Point(row.time, row.at_risk, row.events, survival, error, interval))
    return tuple(points)


def _bound(interval: Range, *, low: bool) -> float:
    match interval:
        case Interval():
            return interval.low if low else interval.high
        case Unknown():
            return inf  # an unknown band is never known to be below one half


def _first(points: Sequence[Point], values: Sequence[float], never: Unknown) -> Number:
    """The first time at which a curve is at most one half."""
    below = (p.time for p, value in zip(points, values, strict=True) if value <= 0.5 + ROUNDING)
    return next(below, never)


def restricted_mean(curve: KaplanMeier, tau: float) -> RestrictedMean | Unknown:
    """The area under S from the curve's start to `tau`, with its Greenwood variance.

    The variance is the sum over event times t up to tau of A(t)^2 d / (n (n - d)), where A(t)
    is the area under S from t to tau, n at risk and d events.  The interval is a normal one.
    Unknown where the curve is not known up to `tau`.
    """
    if not tau > curve.start:
        raise BadInput("tau", tau, f"a time after the curve's start, {curve.start}")
    if isinstance(unknown := curve.at(tau), Unknown):
        return unknown
    inside = [point for point in curve.points if point.time <= tau]
    edges = [curve.start, *(point.time for point in inside), tau]
    heights = [1.0, *(point.survival for point in inside)]
    areas = [
        height * (right - left)
        for height, (left, right) in zip(heights, pairwise(edges), strict=True)
    ]
    variance = 0.0
    beyond = 0.0
    for point, area in zip(reversed(inside), reversed(areas[1:]), strict=True):
        beyond += area
        if left_over := point.at_risk - point.events:
            variance += beyond**2 * point.events / (point.at_risk * left_over)
    error = sqrt(variance)
    mean = sum(areas)
    return RestrictedMean(tau, curve.start, mean, error, _normal(mean, error, curve.level))


def mean_difference(
    one: RestrictedMean, other: RestrictedMean, level: float = 0.95
) -> MeanDifference:
    """`one` less `other`; both must run over the same time, or BadInput is raised."""
    if (one.start, one.tau) != (other.start, other.tau):
        raise BadInput("times", (other.start, other.tau), f"{(one.start, one.tau)}")
    difference = one.mean - other.mean
    error = sqrt(one.standard_error**2 + other.standard_error**2)
    return MeanDifference(one.tau, difference, error, _normal(difference, error, level))


def _normal(value: float, error: float, level: float) -> Interval:
    half = normal_quantile(level) * error
    return Interval(value - half, value + half)


def mean_duration(spells: Sequence[Spell], event: str) -> float:
    """The arithmetic mean of how long spells took, which all must have ended by `event`.

    A mean over those alone that recovered by the cutoff leaves out the longest ones, so
    it is refused with WrongMethod as soon as one spell is open, ended otherwise or was not
    watched from its origin.
    """
    check(spells)
    others = sum(spell.cause != event or spell.entry > 0 for spell in spells)
    if others:
        raise WrongMethod(
            f"the mean over the spells that ended by {event!r} only",
            f"{others} of {len(spells)} did not, or were not watched from their origin, "
            "and those that end late are the ones left out",
            "restricted_mean, or study.incidence.time_lost",
        )
    return sum(spell.exit for spell in spells) / len(spells)


def log_rank(groups: Mapping[str, Sequence[Spell]]) -> LogRank:
    """Do the groups' curves differ?  Two or more groups, watched from their origin.

    lifelines' test knows no delayed entry, so spells that have one raise BadInput.
    """
    if len(groups) < 2:
        raise BadInput("groups", len(groups), "at least two")
    for name, spells in groups.items():
        check(spells)
        if any(spell.entry > 0 for spell in spells):
            raise BadInput(f"group {name!r}", "delayed entry", "spells watched from their origin")
    if not causes_of(spell for spells in groups.values() for spell in spells):
        raise BadInput("groups", "no event", "at least one")
    return _tested(groups)


def _tested(groups: Mapping[str, Sequence[Spell]]) -> LogRank:
    from lifelines.statistics import multivariate_logrank_test

    members = [(name, spell) for name, spells in groups.items() for spell in spells]
    result = multivariate_logrank_test(
        [spell.exit for _, spell in members],
        [name for name, _ in members],
        [spell.cause is not None for _, spell in members],
    )
    return LogRank(
        groups=_expected(groups),
        statistic=float(result.test_statistic),
        degrees=len(groups) - 1,
        p=float(result.p_value),
    )


def _expected(groups: Mapping[str, Sequence[Spell]]) -> tuple[Group, ...]:
    table = rows([spell for spells in groups.values() for spell in spells])
    times = [row.time for row in table]

    def group(name: str, spells: Sequence[Spell]) -> Group:
        counts = zip(table, at_risk(spells, times), strict=True)
        expected = sum(row.events * count / row.at_risk for row, count in counts)
        observed = sum(spell.cause is not None for spell in spells)
        return Group(name, len(spells), observed, expected)

    return tuple(group(name, spells) for name, spells in groups.items())
