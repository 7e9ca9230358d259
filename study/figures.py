"""The figures of the operational endpoints: which there are, what they show, and in words.

* One for each time to event that has curves: what still waits, and how the rest ended, with
  bands, over the numbers at risk.  A band is drawn where its interval is known.
* `shares`: every share with its interval.  One that is not known stands there with the
  reason, and with no mark that could be read as 0.
* `compare-ENDPOINT`: the groups' curves.

Each has a text alternative that says the numbers.  Times are drawn in the largest unit in
which the times of the table are whole.  Figures are narrow, so that they can be read on a
telephone; a page enlarges them (an SVG fills the width that it is given).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias

from study import words
from study.definitions import WAITS
from study.estimates import Interval, Record
from study.figure_drawing import AT_RISK, Counts, Line, Panel, Scale, Share, Shares, Times, drawn
from study.figure_style import height_at, point_at, written
from study.result import Comparison, Curve, Endpoint, Estimate, Operations


class Figure(Record, frozen=True):
    """A figure as files; `alt` says in words what it shows, with its numbers."""

    svg: bytes
    pdf: bytes
    title: str
    alt: str


Plan: TypeAlias = tuple[str, Times | Shares, str]
"""A figure before it is drawn: its name, what is on it, and its text alternative."""

SHARES_TITLE: Final = "Shares and their intervals"
ENDINGS: Final = "How it ended: cumulative incidence"
MOST_BANDS: Final = 3
"""How many bands may lie over each other before none can be told from the rest."""
_MAX_TITLE: Final = 84
_SHORT_NAME: Final = 24
_SCALES: Final = (Scale("days", 86_400.0), Scale("hours", 3_600.0), Scale("minutes", 60.0))
_SECONDS: Final = Scale("seconds", 1.0)


def figures(operations: Operations) -> dict[str, Figure]:
    """Every figure by its name.  What has no curve, and no share, has no figure."""
    found = {}
    for name, plan, alt in plans(operations):
        svg, pdf = written(partial(drawn, plan), name, plan.title, alt)
        found[name] = Figure(svg, pdf, plan.title, alt)
    return found


def plans(operations: Operations) -> Iterator[Plan]:
    """What is on every figure."""
    timed = [endpoint for endpoint in operations.endpoints if endpoint.kind == "time to event"]
    yield from (_of_endpoint(endpoint) for endpoint in timed if endpoint.curves)
    if (shares := _of_shares(operations.endpoints)).parts:
        yield "shares", shares, _shares_in_words(shares)
    if operations.comparison is not None:
        for endpoint in timed:
            curves = [c for c in operations.comparison.curves if c.endpoint == endpoint.id]
            if curves:
                yield _of_groups(endpoint, operations.comparison, curves)


# Curves


def _of_endpoint(endpoint: Endpoint) -> Plan:
    first = endpoint.curves[0]
    waiting = [curve for curve in endpoint.curves if curve.shows == "waiting"]
    endings = [curve for curve in endpoint.curves if curve.shows != "waiting"]
    panels = [Panel(_heading(curve), (Line(curve, "", 0),)) for curve in waiting]
    if endings:
        lines = (Line(curve, words.clause(curve.label), at) for at, curve in enumerate(endings, 1))
        panels.append(Panel(ENDINGS, tuple(lines)))
    plan = Times(
        title=words.shown(endpoint.title, _MAX_TITLE),
        since=_since(endpoint.id),
        scale=_scale(first),
        ticks=tuple(time for time, _ in first.at_risk),
        panels=tuple(panels),
        rows=(Counts("", dict(first.at_risk), first.last),),
        banded=True,
        notes=(*_sentence(_given(first)), *_key(endpoint.curves, banded=True)),
    )
    return endpoint.id, plan, _times_in_words(plan, endpoint.estimates)


def _of_groups(endpoint: Endpoint, comparison: Comparison, curves: Sequence[Curve]) -> Plan:
    one_each = {curve.group: curve for curve in reversed(curves)}
    groups = [*dict.fromkeys(curve.group for curve in curves)]
    longest = max(one_each.values(), key=lambda curve: curve.last)
    banded = len(groups) <= MOST_BANDS
    unbanded = () if banded else (f"More than {MOST_BANDS} groups are drawn without bands.",)
    plan = Times(
        title=words.shown(f"{endpoint.title}, by {comparison.by}", _MAX_TITLE),
        since=_since(endpoint.id),
        scale=_scale(longest),
        ticks=tuple(sorted({curve.start for curve in curves} | {t for t, _ in longest.at_risk})),
        panels=tuple(_panels_of_groups(curves, groups)),
        rows=tuple(
            Counts(_group(one_each[group]), dict(one_each[group].at_risk), one_each[group].last)
            for group in groups
        ),
        banded=banded,
        notes=(comparison.causal, *unbanded, *_key(curves, banded=banded)),
    )
    own = [estimate for estimate in comparison.estimates if estimate.endpoint == endpoint.id]
    return f"compare-{endpoint.id}", plan, _times_in_words(plan, own)


def _panels_of_groups(curves: Sequence[Curve], groups: Sequence[str | None]) -> Iterator[Panel]:
    """One panel for what each curve shows; a group looks the same in all of them."""
    for shows in dict.fromkeys(curve.shows for curve in curves):
        alike = [curve for curve in curves if curve.shows == shows]
        lines = (Line(curve, _label(curve), groups.index(curve.group)) for curve in alike)
        yield Panel(_heading(alike[0]), tuple(lines))


def _group(curve: Curve) -> str:
    return words.name(curve.group or "")


def _label(curve: Curve) -> str:
    """The group, and what its curve takes for granted: there must be room for that."""
    given = _given(curve)
    if not given:
        return _group(curve)
    return ", ".join((words.shown(curve.group or "", _SHORT_NAME) or "(empty)", *given))


def _heading(curve: Curve) -> str:
    label = words.clause(curve.label)
    kind = "" if curve.shows == "waiting" else ": cumulative incidence"
    return f"{label[:1].upper()}{label[1:]}{kind}"


def _since(endpoint: str) -> str:
    return WAITS[endpoint].since if endpoint in WAITS else "since the origin"


def _scale(curve: Curve) -> Scale:
    """The largest unit that the curve fills and in which its round times are whole."""
    round_times = [time for time, _ in curve.at_risk[1:]]
    for scale in _SCALES:
        if curve.last >= scale.seconds and not any(time % scale.seconds for time in round_times):
            return scale
    return _SECONDS


def _given(curve: Curve) -> tuple[str, ...]:
    """What a curve with delayed entry takes for granted; nothing of one without."""
    if not curve.start > 0:
        return ()
    return (f"given still waiting at {words.duration(curve.start)}",)


def _sentence(clauses: Iterable[str]) -> Iterator[str]:
    return (f"{clause[:1].upper()}{clause[1:]}." for clause in clauses)


def _key(curves: Sequence[Curve], *, banded: bool) -> Iterator[str]:
    """What shading and small ticks mean, where there are any."""
    intervals = (point.interval for curve in curves for point in curve.points)
    if banded and any(isinstance(interval, Interval) for interval in intervals):
        yield f"Shaded: pointwise {words.percent_of(curves[0].level)} intervals, where known."
    censored = sum(len(curve.censored) for curve in curves if curve.shows == "waiting")
    if censored:
        yield f"Small ticks: still open when last watched ({censored} censored)."


# Shares


def _of_shares(endpoints: Iterable[Endpoint]) -> Shares:
    parts = []
    for endpoint in endpoints:
        shares = tuple(_share(one) for one in endpoint.estimates if one.unit == "share")
        if shares:
            parts.append((words.shown(endpoint.title, _MAX_TITLE), shares))
    return Shares(title=SHARES_TITLE, parts=tuple(parts))


def _share(estimate: Estimate) -> Share:
    answer = words.answer(estimate.value, estimate.interval, estimate.unit)
    return Share(
        label=words.label(estimate),
        answer=f"{answer}; n = {_counted(estimate)}",
        value=estimate.value,
        interval=estimate.interval,
    )


def _counted(estimate: Estimate) -> str:
    """Of how many subjects something is known, and of how many eligible ones."""
    of = estimate.denominator
    counted = of.eligible - sum(of.unavailable.values())
    return str(counted) if counted == of.eligible else f"{counted} of {of.eligible}"


# In words


def _times_in_words(plan: Times, estimates: Iterable[Estimate]) -> str:
    found = [f"{plan.title}. Shares by time, in {plan.scale.name} {plan.since}."]
    for panel in plan.panels:
        for line in panel.lines:
            named = f"{panel.heading}, {line.label}" if line.label else panel.heading
            found.append(f"{named}: {_heights(line.curve, plan.ticks)}.")
    for one in estimates:
        if one.unit == "seconds":
            answer = words.answer(one.value, one.interval, one.unit)
            found += _sentence((f"{words.label(one)}: {answer}",))
    for row in plan.rows:
        cells = [(row.cell(time), words.duration(time)) for time in plan.ticks]
        counts = ", ".join(f"{cell} at {time}" for cell, time in cells if cell)
        found.append(f"{AT_RISK}{f', {row.label}' if row.label else ''}: {counts}.")
    return " ".join((*found, *plan.notes))


def _heights(curve: Curve, ticks: Iterable[float]) -> str:
    """The curve at the round times while it was watched, and where it ends."""
    inside = [time for time in ticks if curve.start <= time <= curve.last]
    said = {words.duration(time): _height(curve, time) for time in sorted({*inside, curve.last})}
    return ", ".join(f"{height} at {time}" for time, height in said.items())


def _height(curve: Curve, time: float) -> str:
    said = words.quantity(height_at(curve, time), "share")
    point = point_at(curve, time)
    if point is not None and isinstance(point.interval, Interval):
        said += f" ({words.spread(point.interval, 'share')})"
    return said


def _shares_in_words(plan: Shares) -> str:
    found = [f"{plan.title}."]
    for heading, shares in plan.parts:
        found.append(f"{heading}: {'; '.join(f'{one.label}, {one.answer}' for one in shares)}.")
    return " ".join(found)
