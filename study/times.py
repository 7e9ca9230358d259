"""Times to event: curves, shares by a time, medians and restricted means, from spell rows.

`Kaplan-Meier` of all endings together says how many still wait; `Aalen-Johansen` says how
they ended.  No ending is ever censored by another, so no number here is 1 - KM of a cause.

The horizon, where none is asked for, is the last time at which at least ten are at risk
(with fewer than ten in all, the last time observed): beyond it a curve rests on a handful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from math import exp, log
from typing import Final

from msgspec import structs

from study.definitions import WAITS
from study.estimates import Interval, Number, Range, Record, Unknown, normal_quantile
from study.incidence import AalenJohansen, Incidence, aalen_johansen
from study.redraw import Redrawn, redrawn
from study.result import Denominator, Estimate
from study.rows import SpellRow
from study.spells import (
    ENOUGH_AT_RISK,
    Spell,
    after,
    at_risk,
    before_gap,
    first_start,
    gap_to_end_at,
)
from study.survival import KaplanMeier, RestrictedMean, kaplan_meier, restricted_mean
from study.words import duration

NS_PER_SECOND: Final = 1_000_000_000
BANDS_AT: Final = 400
"""At how many times a band over redrawn work items is taken, at most."""
NONE_SEEN: Final = Unknown("no such ending was seen")
NO_SPELLS: Final = Unknown("there was nothing to watch")
NO_TIME: Final = Unknown("nobody was watched for any time")
BAND_NOT_REACHED: Final = Unknown("the band does not reach one half where it is known")
BEFORE_CURVE: Final = "ended or last watched before the curve begins"
AFTER_CURVE: Final = "first watched after the curve ends"


class Watched(Record, frozen=True, kw_only=True):
    """The spells that curves are of, in seconds: the work item of each, since and until when.

    `horizons` are the times that numbers are given for, `tau` the last up to which the curves
    are read.
    """

    endpoint: str
    spells: tuple[Spell, ...]
    clusters: tuple[Hashable, ...]
    start: float
    horizons: tuple[float, ...]
    tau: float

    @property
    def causes(self) -> tuple[str, ...]:
        return tuple(WAITS[self.endpoint].causes)

    @property
    def clustered(self) -> bool:
        return max(Counter(self.clusters).values()) > 1


class Fitted(Record, frozen=True, kw_only=True):
    """What was estimated of one group of spells."""

    watched: Watched
    waiting: KaplanMeier
    endings: AalenJohansen
    seed: int
    draws: int
    redrawn: Redrawn | None = None


def spell_of(row: SpellRow) -> Spell | None:
    """The spell of a row in seconds; null of a row that is not watched."""
    if row.role not in ("observed", "censored", "competing"):
        return None
    assert row.duration is not None
    return Spell(row.duration / NS_PER_SECOND, row.cause, row.entry / NS_PER_SECOND)


def default_horizon(spells: Sequence[Spell], start: float, minimum: int) -> float | None:
    """The last exit with at least `minimum` at risk, else the last; null if none is after start."""
    exits = sorted({spell.exit for spell in after(spells, start) if spell.exit > start})
    if not exits:
        return None
    counts = at_risk(spells, exits, start)
    enough = [time for time, count in zip(exits, counts, strict=True) if count >= minimum]
    return enough[-1] if enough else exits[-1]


def watched(
    endpoint: str,
    rows: Sequence[SpellRow],
    horizons: Sequence[float],
    minimum: int = ENOUGH_AT_RISK,
) -> tuple[Watched | Unknown, tuple[SpellRow, ...]]:
    """The spells that curves can be read from, and the rows with the others left out by name."""
    spells = [spell_of(row) for row in rows]
    if not any(spell is not None for spell in spells):
        return NO_SPELLS, tuple(rows)
    inside, start = _readable(spells, minimum)
    if isinstance(start, Unknown):
        return start, tuple(rows)
    settled = tuple(
        _settled(row, spell, within, start)
        for row, spell, within in zip(rows, spells, inside, strict=True)
    )
    kept = [
        (spell, row.cluster)
        for spell, row in zip(inside, settled, strict=True)
        if spell is not None and row.eligible
    ]
    default = default_horizon([spell for spell, _ in kept], start, minimum)
    if default is None:
        return NO_TIME, settled
    wanted = tuple(sorted({*horizons})) or (default,)
    return Watched(
        endpoint=endpoint,
        spells=tuple(spell for spell, _ in kept),
        clusters=tuple(cluster for _, cluster in kept),
        start=start,
        horizons=wanted,
        tau=wanted[-1] if wanted[-1] > start else default,
    ), settled


def _readable(
    spells: Sequence[Spell | None], minimum: int
) -> tuple[Sequence[Spell | None], Number]:
    """Each spell as far as curves can be read from it, and since when they can.

    One who had waited for very long when watching began enters when all others have ended.
    Where too few come after such a gap, the curves end at it and begin before it.
    """
    present = [spell for spell in spells if spell is not None]
    start = first_start(present, minimum)
    gap = gap_to_end_at(present, minimum) if isinstance(start, Unknown) else None
    if gap is None:
        return spells, start
    inside = before_gap(present, gap)
    rest = iter(inside)
    within = [None if one is None else next(rest) for one in spells]
    return within, first_start([one for one in inside if one is not None], minimum)


def _settled(row: SpellRow, spell: Spell | None, within: Spell | None, start: float) -> SpellRow:
    """The row, left out by name where its spell is in no curve."""
    if spell is None:
        return row
    if within is None:
        return structs.replace(row, role="excluded", reason=AFTER_CURVE)
    if start > 0 and spell.exit <= start:
        return structs.replace(row, role="excluded", reason=BEFORE_CURVE)
    return row


def fitted(found: Watched, *, seed: int, draws: int, minimum: int, level: float) -> Fitted:
    """Both curves, and where work items have several spells the redrawn ones."""
    waiting = kaplan_meier(found.spells, minimum_at_risk=minimum, level=level)
    endings = aalen_johansen(found.spells, found.causes, minimum_at_risk=minimum, level=level)
    assert isinstance(waiting, KaplanMeier)  # `watched` has found a start
    assert isinstance(endings, AalenJohansen)
    fit = Fitted(watched=found, waiting=waiting, endings=endings, seed=seed, draws=draws)
    return again(fit) if found.clustered else fit


def again(fit: Fitted) -> Fitted:
    """The same fit with its work items drawn again."""
    found = fit.watched
    readable = [time for time in found.horizons if time > found.start]
    drawn = redrawn(
        found.spells,
        found.clusters,
        found.causes,
        start=found.start,
        tau=found.tau,
        times=sorted({*band_times(fit.waiting, found.tau), *readable}),
        seed=fit.seed,
        draws=fit.draws,
        level=fit.waiting.level,
    )
    return structs.replace(fit, redrawn=drawn)


def band_times(waiting: KaplanMeier, tau: float) -> list[float]:
    """The event times at which a band over redrawn work items is taken."""
    times = [point.time for point in waiting.points if point.time <= tau]
    step = -(-len(times) // BANDS_AT) or 1
    return times[::step]


# Estimates


def estimates(
    fit: Fitted | Unknown,
    endpoint: str,
    denominator: Denominator,
    *,
    group: str | None = None,
    level: float = 0.95,
) -> tuple[Estimate, ...]:
    """Every number of a time to event, of one group; all are unknown where nothing is fitted."""
    words = WAITS[endpoint]
    start = 0.0 if isinstance(fit, Unknown) else fit.watched.start
    given = f", of those still waiting at {duration(start)}" if start else ""

    def of(
        name: str, unit: str, value: Number, interval: Range, method: str, at: float | None
    ) -> Estimate:
        return Estimate(
            endpoint=endpoint,
            name=name,
            unit=unit,
            value=value,
            interval=value if isinstance(value, Unknown) else interval,
            method=method + given,
            denominator=denominator,
            at=at,
            group=group,
            level=level,
        )

    if isinstance(fit, Unknown):
        share = next(iter(words.causes.values()))
        names = ((words.median_event, "seconds"), (share, "share"), (words.mean, "seconds"))
        return tuple(of(name, unit, fit, fit, "not estimated", None) for name, unit in names)
    found = [
        of(words.median_event, "seconds", *_median_of_event(fit), None),
        of(words.median, "seconds", *_median_waiting(fit), None),
    ]
    for time in fit.watched.horizons:
        for cause, label in words.causes.items():
            found.append(of(label, "share", *incidence_at(fit, cause, time), time))
        found.append(of(words.still, "share", *_waiting_at(fit, time), time))
    last = fit.watched.horizons[-1]
    found.append(of(words.mean, "seconds", *mean_up_to(fit, last), last))
    return tuple(found)


_Found = tuple[Number, Range, str]
_AGAIN: Final = "percentiles over redrawn work items"


def _median_of_event(fit: Fitted) -> _Found:
    cause = fit.watched.causes[0]
    incidence = fit.endings.of(cause)
    value = _reaching_half(incidence, lambda point: point.incidence)
    if fit.redrawn is not None:
        return value, fit.redrawn.median_of(cause), f"Aalen-Johansen, {_AGAIN}"
    low = _reaching_half(incidence, lambda point: _end(point.interval, low=False))
    high = _reaching_half(incidence, lambda point: _end(point.interval, low=True))
    return value, _interval(low, high), "Aalen-Johansen, inverted log-log band"


def _told(fit: Fitted, time: float) -> Unknown | None:
    """Why nothing can be read off the curves at a time; null where it can."""
    if time <= fit.watched.start and fit.watched.start > 0:
        return Unknown(f"too few are at risk before {duration(fit.watched.start)}")
    last = fit.waiting.last
    points = fit.waiting.points
    if time > last and not (points and points[-1].survival == 0):
        return Unknown(f"nobody is watched after {duration(last)}")
    return None


def _reaching_half(incidence: Incidence, height: Callable[..., float]) -> Number:
    """The first time at which a curve, or an edge of its band, reaches one half."""
    found = (point.time for point in incidence.points if height(point) >= 0.5 - 1e-12)
    return next(found, Unknown("not reached: fewer than half have ended so when last watched"))


def _end(interval: Range, *, low: bool) -> float:
    if isinstance(interval, Unknown):
        return 0.0  # an unknown band is never known to be above one half
    return interval.low if low else interval.high


def _median_waiting(fit: Fitted) -> _Found:
    curve = fit.waiting
    if fit.redrawn is not None:
        return curve.median, fit.redrawn.median_waiting, f"Kaplan-Meier, {_AGAIN}"
    band = _interval(curve.median_low, curve.median_high)
    return curve.median, band, "Kaplan-Meier, inverted log-log band"


def _interval(low: Number, high: Number) -> Range:
    if isinstance(low, Unknown) or isinstance(high, Unknown):
        return BAND_NOT_REACHED
    return Interval(low, high)


def incidence_at(fit: Fitted, cause: str, time: float) -> _Found:
    """The share that has ended by `cause` at a horizon."""
    if (why := _told(fit, time)) is not None:
        return why, why, "not estimated"
    value = fit.endings.at(cause, time)
    points = [point for point in fit.endings.of(cause).points if point.time <= time]
    method = "Aalen-Johansen, log-log"
    interval: Range = points[-1].interval if points else NONE_SEEN
    if points and fit.redrawn is not None:
        interval, method = fit.redrawn.incidence(cause, time), f"Aalen-Johansen, {_AGAIN}"
    return value, interval, method


def _waiting_at(fit: Fitted, time: float) -> _Found:
    if (why := _told(fit, time)) is not None:
        return why, why, "not estimated"
    value = fit.waiting.at(time)
    points = [point for point in fit.waiting.points if point.time <= time]
    method = "Kaplan-Meier, log-log"
    interval: Range = points[-1].interval if points else Unknown("nothing has ended by then")
    if points and fit.redrawn is not None:
        interval, method = fit.redrawn.waiting(time), f"Kaplan-Meier, {_AGAIN}"
    return value, interval, method


def mean_up_to(fit: Fitted, time: float) -> _Found:
    """The mean time waited, since the origin, up to a horizon: the area under the waiting curve.

    With delayed entry it is the mean of those still waiting at the start, who have waited that
    long already.
    """
    start = fit.watched.start
    if (why := _told(fit, time)) is not None:
        return why, why, "not estimated"
    area = restricted_mean(fit.waiting, time)
    if isinstance(area, Unknown):
        return area, area, "not estimated"
    if fit.redrawn is not None:
        interval = _later(fit.redrawn.restricted_mean, start)
        return start + area.mean, interval, f"area under Kaplan-Meier, {_AGAIN}"
    method = "area under Kaplan-Meier, Greenwood on a logit scale"
    return start + area.mean, _later(_logit(area, fit.waiting.level), start), method


def _later(interval: Range, start: float) -> Range:
    if isinstance(interval, Unknown):
        return interval
    return Interval(interval.low + start, interval.high + start)


def _logit(area: RestrictedMean, level: float) -> Range:
    """The interval of an area that lies between none and all of the time up to tau."""
    whole = area.tau - area.start
    share = area.mean / whole
    if area.standard_error == 0 or not 0 < share < 1:
        return Unknown("all of them waited equally long up to the horizon")
    half = normal_quantile(level) * area.standard_error / (whole * share * (1 - share))
    middle = log(share / (1 - share))
    low, high = (whole / (1 + exp(-(middle + side))) for side in (-half, half))
    return Interval(low, high)
