"""Curves and shares as matplotlib draws them; what there is to draw was decided before.

All is placed in points from the top left of a sheet that is as high as what stands on it, so
that nothing lies over anything else: a title, panels of curves over one time axis, the table
of numbers at risk under its ticks, and notes; or shares, each under its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from study.estimates import Interval, Number, Range, Record, Unknown
from study.figure_style import (
    COLUMNS_OF_TEXT,
    FAINT,
    INK,
    LARGE,
    MEDIUM,
    SMALL,
    WHITE,
    WIDTH,
    bands,
    columns_for,
    drawing,
    fitting,
    height_at,
    look,
    steps,
    thinned,
    thinned_times,
)
from study.result import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing


class Line(Record, frozen=True):
    """A curve, the label of its line (empty: the heading says it), and which look it has."""

    curve: Curve
    label: str
    look: int


class Panel(Record, frozen=True):
    """Lines over the time axis."""

    heading: str
    lines: tuple[Line, ...]


class Counts(Record, frozen=True):
    """A row of the table: numbers at risk by time (seconds), 0 after `last`."""

    label: str
    at: Mapping[float, int]
    last: float

    def cell(self, time: float) -> str:
        """The number at a time; empty where the curve does not tell it."""
        found = self.at.get(time, 0 if time > self.last else None)
        return "" if found is None else str(found)


class Scale(Record, frozen=True):
    """The unit of a time axis: its plural name and its seconds."""

    name: str
    seconds: float


class Times(Record, frozen=True, kw_only=True):
    """A figure of curves.  `ticks` are seconds; `since` is what the times are counted from."""

    title: str
    since: str
    scale: Scale
    ticks: tuple[float, ...]
    panels: tuple[Panel, ...]
    rows: tuple[Counts, ...]
    banded: bool
    notes: tuple[str, ...]


class Share(Record, frozen=True, kw_only=True):
    """One share: its label, its numbers as words, and what is drawn of it."""

    label: str
    answer: str
    value: Number
    interval: Range


class Shares(Record, frozen=True, kw_only=True):
    """The figure of shares: headings, each with its shares."""

    title: str
    parts: tuple[tuple[str, tuple[Share, ...]], ...]


AT_RISK: Final = "Number at risk"
TICKS_OF_SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
_MARGIN: Final = 8.0
_LEFT: Final = 44.0
_RIGHT: Final = 18.0
_ACROSS: Final = WIDTH - _LEFT - _RIGHT
_PLOT: Final = 124.0
_ROW: Final = 13.0
_TITLE_ROW: Final = 16.0
_COLUMNS_OF_TITLE: Final = 44
_COLUMNS_OF_HEADING: Final = 54
_UNDER_PANEL: Final = 26.0
_CLOSEST: Final = 30.0  # two columns of numbers that are nearer run into each other
_TICK: Final = 0.022  # half the height of a mark of censoring, as a share


def drawn(plan: Times | Shares) -> Drawing:
    """matplotlib's figure of a plan, to be made and saved within `figure_style.styled`."""
    return _times(plan) if isinstance(plan, Times) else _shares(plan)


def _lines(text: str, columns: int = COLUMNS_OF_TEXT) -> list[str]:
    return wrap(text, columns)


def _text(sheet: Drawing, x: float, y: float, text: str, size: float, weight: str) -> None:
    height = sheet.get_figheight() * 72
    shown = fitting(text, size, weight, WIDTH - x - _MARGIN / 2)
    sheet.text(x / WIDTH, 1 - y / height, shown, va="top", size=size, weight=weight)


def _stack(sheet: Drawing, y: float, lines: Sequence[str], size: float, weight: str) -> float:
    """Lines of text under each other from `y` on; where the next may begin."""
    for line in lines:
        _text(sheet, _MARGIN, y, line, size, weight)
        y += _TITLE_ROW if size == LARGE else _ROW
    return y


def _axes(sheet: Drawing, top: float, height: float, left: float, right: float) -> Axes:
    whole = sheet.get_figheight() * 72
    box = (left / WIDTH, 1 - (top + height) / whole, (WIDTH - left - right) / WIDTH, height / whole)
    found = sheet.add_axes(box)
    found.set_facecolor(WHITE)
    found.tick_params(length=0, labelsize=SMALL, labelcolor=INK, pad=3)
    for side, spine in found.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(INK)
    return found


# Curves


def _times(plan: Times) -> Drawing:
    titles, notes = _lines(plan.title, _COLUMNS_OF_TITLE), _lines(" ".join(plan.notes))
    panels = sum(_above(panel) + _PLOT + _UNDER_PANEL for panel in plan.panels)
    table = _ROW * (1 + sum(1 + bool(row.label) for row in plan.rows))
    texts = _TITLE_ROW * len(titles) + _ROW * len(notes)
    sheet = drawing(2 * _MARGIN + texts + panels + table + 1.4 * _ROW)
    y = _stack(sheet, _MARGIN, titles, LARGE, "bold") + 0.4 * _ROW
    curves = sum(len(panel.lines) for panel in plan.panels)
    for panel in plan.panels:
        axes = _panel(sheet, y, panel)
        _draw_lines(axes, plan, panel, columns_for(curves))
        y += _above(panel) + _PLOT + _UNDER_PANEL
    axes.set_xlabel(f"{plan.scale.name} {plan.since}", size=MEDIUM, labelpad=2)
    y = _table(sheet, axes, y + _ROW / 2, plan)
    _stack(sheet, y + _ROW / 2, notes, SMALL, "normal")
    return sheet


def _legend(panel: Panel) -> list[Line]:
    return [line for line in panel.lines if line.label]


def _above(panel: Panel) -> float:
    """The height of a panel's heading and legend."""
    return _ROW * (len(_lines(panel.heading, _COLUMNS_OF_HEADING)) + len(_legend(panel))) + 6


def _panel(sheet: Drawing, y: float, panel: Panel) -> Axes:
    from matplotlib.lines import Line2D

    height = sheet.get_figheight() * 72
    y = _stack(sheet, y, _lines(panel.heading, _COLUMNS_OF_HEADING), MEDIUM, "bold")
    for line in _legend(panel):
        middle = 1 - (y + 4.9) / height
        ends = (_LEFT / WIDTH, (_LEFT + 28) / WIDTH)
        sample = look(line.look)
        sheet.add_artist(
            Line2D(ends, (middle, middle), color=sample.colour, linestyle=sample.dashes, lw=1.8)
        )
        _text(sheet, _LEFT + 34, y, line.label, SMALL, "normal")
        y += _ROW
    return _axes(sheet, y + 6, _PLOT, _LEFT, _RIGHT)


def _draw_lines(axes: Axes, plan: Times, panel: Panel, columns: int) -> None:
    _time_axis(axes, plan)
    axes.set_ylim(-0.03, 1.04)
    axes.set_yticks(TICKS_OF_SHARES, [f"{share:g}" for share in TICKS_OF_SHARES])
    axes.set_ylabel("share", size=MEDIUM, labelpad=2)
    axes.grid(color=FAINT, lw=0.5)
    axes.set_axisbelow(True)
    for line in panel.lines:
        _draw_line(axes, plan, line, columns)


def _time_axis(axes: Axes, plan: Times) -> None:
    curves = [line.curve for panel in plan.panels for line in panel.lines]
    left = min(curve.start for curve in curves) / plan.scale.seconds
    right = max(curve.last for curve in curves) / plan.scale.seconds
    axes.set_xlim(left, right + 0.01 * (right - left) if right > left else left + 1)
    ticks = [time / plan.scale.seconds for time in _apart(axes, plan)]
    axes.set_xticks(ticks, [_figure(tick) for tick in ticks])


def _figure(tick: float) -> str:
    return f"{tick:.0f}" if tick.is_integer() or tick >= 100 else f"{tick:.2g}"


def _apart(axes: Axes, plan: Times) -> list[float]:
    """The ticks (seconds) whose numbers do not run into each other; the first stays."""
    left, right = axes.get_xlim()
    closest = _CLOSEST / _ACROSS * (right - left) * plan.scale.seconds
    found: list[float] = []
    for time in plan.ticks:
        if not found or time - found[-1] >= closest:
            found.append(time)
    return found


def _draw_line(axes: Axes, plan: Times, line: Line, columns: int) -> None:
    curve, style, unit = line.curve, look(line.look), plan.scale.seconds
    points = thinned(curve, columns)
    for band_times, lows, highs in bands(curve, points) if plan.banded else ():
        across = [time / unit for time in band_times]
        axes.fill_between(across, lows, highs, step="post", color=style.colour, alpha=0.16, lw=0)
    times, heights = steps(curve, points)
    axes.plot(
        [time / unit for time in times],
        heights,
        drawstyle="steps-post",
        color=style.colour,
        linestyle=style.dashes,
        lw=1.8,
        label=line.label,
    )
    if curve.shows == "waiting":
        _draw_censored(axes, curve, thinned_times(curve, columns), unit, style.colour)


def _draw_censored(
    axes: Axes, curve: Curve, censored: Sequence[float], unit: float, colour: str
) -> None:
    across: list[float] = []
    heights: list[float] = []
    for time in censored:
        at = height_at(curve, time)
        across += [time / unit, time / unit, float("nan")]
        heights += [at - _TICK, at + _TICK, float("nan")]
    axes.plot(across, heights, color=colour, lw=0.9, label="censored")


def _table(sheet: Drawing, axes: Axes, y: float, plan: Times) -> float:
    """The numbers at risk, each under its tick; where the next may begin."""
    height = sheet.get_figheight() * 72
    left, right = axes.get_xlim()
    _text(sheet, _MARGIN, y, AT_RISK, SMALL, "bold")
    y += _ROW
    for row in plan.rows:
        if row.label:
            y = _stack(sheet, y, [row.label], SMALL, "normal")
        for time in _apart(axes, plan):
            across = (time / plan.scale.seconds - left) / (right - left)
            x = (_LEFT + across * _ACROSS) / WIDTH
            sheet.text(x, 1 - y / height, row.cell(time), va="top", ha="center", size=SMALL)
        y += _ROW
    return y


# Shares


def _shares(plan: Shares) -> Drawing:
    wrapped = [
        (
            _lines(heading, _COLUMNS_OF_HEADING),
            [
                (share, _lines(share.label) + _lines(share.answer.replace(" = ", "\u00a0=\u00a0")))
                for share in shares
            ],
        )
        for heading, shares in plan.parts
    ]
    rows = sum(len(heading) + 0.5 for heading, _ in wrapped)
    rows += sum(len(lines) + 0.4 + _has_mark(share) for _, own in wrapped for share, lines in own)
    height = 2 * _MARGIN + _TITLE_ROW + _ROW * (rows + 3)
    sheet = drawing(height)
    y = _stack(sheet, _MARGIN, [plan.title], LARGE, "bold")
    bottom = height - _MARGIN - 2.4 * _ROW
    axes = _axes(sheet, y, bottom - y, _MARGIN + 10, _RIGHT)
    _share_axis(axes, bottom - y)
    top = y
    for heading, own in wrapped:
        y = _stack(sheet, y + 0.5 * _ROW, heading, MEDIUM, "bold")
        for share, lines in own:
            y = _stack(sheet, y, lines, SMALL, "normal")
            if _has_mark(share):
                _draw_share(axes, share, y + 0.5 * _ROW - top)
                y += _ROW
            y += 0.4 * _ROW
    return sheet


def _has_mark(share: Share) -> bool:
    return not (isinstance(share.value, Unknown) and isinstance(share.interval, Unknown))


def _share_axis(axes: Axes, height: float) -> None:
    axes.set_xlim(0, 1)
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xticks(TICKS_OF_SHARES, [f"{100 * share:.0f} %" for share in TICKS_OF_SHARES])
    axes.set_xlabel("share", size=MEDIUM, labelpad=1)


def _draw_share(axes: Axes, share: Share, y: float) -> None:
    """A mark and its interval on a rail of quarters; only bounds are a line of dashes."""
    colour = look(0).colour
    rail = (y,) * len(TICKS_OF_SHARES)
    axes.plot(TICKS_OF_SHARES, rail, color=FAINT, lw=0.6, marker="|", markersize=7, clip_on=False)
    if isinstance(share.interval, Interval):
        ends = (share.interval.low, share.interval.high)
        dashes = look(int(isinstance(share.value, Unknown))).dashes
        axes.plot(ends, (y, y), color=colour, linestyle=dashes, lw=2.2, clip_on=False)
    if not isinstance(share.value, Unknown):
        fill = colour if isinstance(share.interval, Interval) else WHITE
        (mark,) = axes.plot((share.value,), (y,), marker="o", markersize=6, clip_on=False, zorder=3)
        mark.set(color=colour, markerfacecolor=fill, linestyle="none")
