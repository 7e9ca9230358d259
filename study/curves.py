"""The curves of a fitted time to event, as figures and tables show them.

The waiting curve and the incidence of each cause that was seen, with their bands, the numbers
at risk at round times, and when who was still waiting was last watched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from study.definitions import WAITS
from study.estimates import Range, Unknown
from study.redraw import Redrawn
from study.result import NO_BAND_TAKEN, Curve, CurvePoint
from study.spells import after, at_risk
from study.times import Fitted, Watched, band_times


def curves(fit: Fitted | Unknown, *, group: str | None = None) -> tuple[Curve, ...]:
    """The waiting curve, and the incidence of each cause that was seen."""
    if isinstance(fit, Unknown):
        return ()
    words = WAITS[fit.watched.endpoint]
    shown = [_curve(fit, "waiting", words.still, _waiting_points(fit), group)]
    for cause, label in words.causes.items():
        if points := _incidence_points(fit, cause):
            shown.append(_curve(fit, cause, label, points, group))
    return tuple(shown)


def _curve(
    fit: Fitted, shows: str, label: str, points: tuple[CurvePoint, ...], group: str | None
) -> Curve:
    found = fit.watched
    ticks = round_times(found.start, fit.waiting.last)
    kept = after(found.spells, found.start)
    return Curve(
        endpoint=found.endpoint,
        shows=shows,
        label=label,
        start=found.start,
        last=fit.waiting.last,
        points=points,
        at_risk=tuple(zip(ticks, _just_after(found, ticks), strict=True)),
        censored=tuple(sorted(spell.exit for spell in kept if spell.cause is None)),
        level=fit.waiting.level,
        group=group,
    )


def _just_after(found: Watched, ticks: Sequence[float]) -> list[int]:
    """How many are at risk at each time; at the start, those who go on after it."""
    counts = [*at_risk(found.spells, ticks, found.start)]
    if ticks and ticks[0] == found.start and found.start > 0:
        goes_on = sum(spell.entry <= found.start < spell.exit for spell in found.spells)
        counts[0] = goes_on
    return counts


_STEPS: Final = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800),
    *(3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 432_000, 864_000),
)


def round_times(start: float, last: float) -> tuple[float, ...]:
    """At most eight round times (seconds) from `start` to `last`, the start first."""
    span = last - start
    if span <= 0:
        return (start,)
    step = next((float(s) for s in _STEPS if span / s <= 7), None)
    if step is None:
        step = 864_000.0
        while span / step > 7:
            step *= 2
    elif span < 1:
        step = span / 5
    first = (start // step + 1) * step
    found = [start]
    while first <= last:
        found.append(first)
        first += step
    return tuple(found)


def _waiting_points(fit: Fitted) -> tuple[CurvePoint, ...]:
    band = _band(fit, lambda again, time: again.waiting(time))
    return tuple(
        CurvePoint(p.time, p.at_risk, p.events, p.survival, band.get(p.time, p.interval))
        for p in fit.waiting.points
    )


def _incidence_points(fit: Fitted, cause: str) -> tuple[CurvePoint, ...]:
    band = _band(fit, lambda again, time: again.incidence(cause, time))
    return tuple(
        CurvePoint(p.time, p.at_risk, p.events, p.incidence, band.get(p.time, p.interval))
        for p in fit.endings.of(cause).points
    )


def _band(fit: Fitted, at: Callable[[Redrawn, float], Range]) -> Mapping[float, Range]:
    """By event time the band over redrawn work items, where it was taken."""
    if fit.redrawn is None:
        return {}
    taken = {*band_times(fit.waiting, fit.watched.tau)}
    found: dict[float, Range] = {}
    for point in fit.waiting.points:
        if point.time > fit.watched.tau:
            found[point.time] = Unknown("no band beyond the horizon")
            continue
        found[point.time] = at(fit.redrawn, point.time) if point.time in taken else NO_BAND_TAKEN
    return found
