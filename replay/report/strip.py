"""States over the sequence as a small still picture, and the same in a table.

A lane for each work item that had a state, a bar for each state from the event at which it
began to the one at which it ended.  Events stand side by side at even steps: their order is
what the log establishes, so the picture shows no elapsed time.

States differ in their outlines and fillings, not in colour: everything is drawn in the
colour of the text around it, so that it reads in any theme and by anybody.  There is no
script, no style sheet and no id.  What does not fit is counted, never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Final, NamedTuple, TypeAlias

from replay.report.words import NBSP, counted, ident

Document: TypeAlias = Mapping[str, Any]

MAX_LANES: Final = 12
MAX_BARS: Final = 12
"""Bars of one lane."""

_LEFT: Final = 130  # of which a name takes `_NAME` columns
_NAME: Final = 18
_WIDTH: Final = 640
_LANE: Final = 30
_BAR: Final = 10
_LETTER: Final = 6  # about the width of one at the size used
_MAX_TICKS: Final = 20

DRAWN: Final = {
    "proposed": "dashed outline",
    "active": "plain outline",
    "blocked": "striped",
    "awaiting_review": "dotted line inside",
    "complete": "filled",
    "cancelled": "crossed out",
    "undetermined": "dotted outline",
}
"""Every state, and how it is drawn."""
_OUTLINES: Final = {"proposed": "4 3", "undetermined": "1 3"}


class Bar(NamedTuple):
    """A state of a work item, from one event to, exclusively, another."""

    state: str
    begun: Document
    ended: Document | None


class Lane(NamedTuple):
    """A work item and its states in order."""

    work_id: str
    bars: Sequence[Bar]


def lanes_of(document: Document) -> list[Lane]:
    """The work items of a `replay.timeline/1` document that had a state, in its order."""
    bars: dict[str, list[Bar]] = {}
    for interval in document["intervals"]:
        state = _state_of(interval)
        if state is None or interval["work_id"] is None:
            continue
        bar = Bar(state, interval["valid_from"], interval["valid_to"])
        of_item = bars.setdefault(interval["work_id"], [])
        if state == "undetermined" and any(other.state == state for other in of_item):
            continue  # by a second event, too
        of_item.append(bar)
    return [
        Lane(name, sorted(found, key=lambda bar: bar.begun["sequence"]))
        for name, found in bars.items()
    ]


def _state_of(interval: Document) -> str | None:
    if interval["question"] == "undetermined":
        return "undetermined"
    value = interval["value"]["value"] if interval["question"] == "state" else None
    return None if value is None else str(value)


def steps_of(document: Document) -> list[int]:
    """The sequence of every event at which an answer began or ended."""
    intervals = document["intervals"]
    begun = {interval["valid_from"]["sequence"] for interval in intervals}
    return sorted(begun | {i["valid_to"]["sequence"] for i in intervals if i["valid_to"]})


def picture(lanes: Sequence[Lane], steps: Sequence[int]) -> str:
    """The first lanes as SVG, and nothing where there is no lane."""
    shown = lanes[:MAX_LANES]
    if not shown:
        return ""
    height = _LANE * len(shown) + 20
    name = escape(f"{_count(lanes)} by sequence, as in the table of states".replace(NBSP, " "))
    drawn = "".join(_lane(lane, row, _Axis(steps)) for row, lane in enumerate(shown))
    return (
        f'<svg role="img" aria-label="{name}" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}"'
        f' height="{height}" font-size="10" fill="currentColor" stroke="none">'
        f"{drawn}{_ticks(_Axis(steps), height - 8)}</svg>"
    )


def legend(lanes: Sequence[Lane]) -> str:
    """How many lanes are shown, and how each state that is in them is drawn."""
    states = {bar.state for lane in lanes[:MAX_LANES] for bar in lane.bars[:MAX_BARS]}
    drawn = "; ".join(f"{_words(s)}: {how}" for s, how in DRAWN.items() if s in states)
    return f"{_count(lanes)}, event by event. {drawn[:1].upper()}{drawn[1:]}." if drawn else ""


def _count(lanes: Sequence[Lane]) -> str:
    states = f"States of {counted(len(lanes), 'work item')}"
    return states if len(lanes) <= MAX_LANES else f"{states}, {MAX_LANES} of them shown"


def _words(state: str) -> str:
    return state.replace("_", " ")


class _Axis:
    """Where an event is drawn: at its place among all of them."""

    def __init__(self, steps: Sequence[int]) -> None:
        self.steps = steps
        self.width = (_WIDTH - _LEFT) / max(len(steps), 1)
        self._place = {sequence: n for n, sequence in enumerate(steps)}

    def at(self, moment: Document | None) -> float:
        """The left edge of an event; the right end where there is none."""
        place = len(self.steps) if moment is None else self._place[moment["sequence"]]
        return _LEFT + place * self.width


def _lane(lane: Lane, row: int, axis: _Axis) -> str:
    base = _LANE * row + _LANE - 4
    name = f'<text x="0" y="{base}">{escape(ident(lane.work_id, _NAME))}</text>'
    bars = "".join(_bar(bar, base - _BAR, axis) for bar in lane.bars[:MAX_BARS])
    more = len(lane.bars) - MAX_BARS
    if more <= 0:
        return name + bars
    start = axis.at(lane.bars[MAX_BARS].begun) + 4
    return f'{name}{bars}<text x="{_number(start)}" y="{base}">+ {more} more</text>'


def _bar(bar: Bar, top: int, axis: _Axis) -> str:
    left, right = axis.at(bar.begun), axis.at(bar.ended)
    inside = (left + 1, right - 1)
    words = _words(bar.state)
    until = "" if bar.ended is None else f" to {bar.ended['sequence']}"
    title = f"<title>{words} from sequence {bar.begun['sequence']}{until}</title>"
    dashes = f' stroke-dasharray="{_OUTLINES[bar.state]}"' if bar.state in _OUTLINES else ""
    fill = "currentColor" if bar.state == "complete" else "none"
    box = (
        f'<rect x="{_number(inside[0])}" y="{top}" width="{_number(inside[1] - inside[0])}"'
        f' height="{_BAR}" fill="{fill}" stroke="currentColor"{dashes}>{title}</rect>'
    )
    fits = len(words) * _LETTER <= right - left
    label = f'<text x="{_number(inside[0])}" y="{top - 3}">{words}</text>' if fits else ""
    return box + _inside(bar.state, *inside, top) + label


def _inside(state: str, left: float, right: float, top: int) -> str:
    middle = f"M{_number(left)} {top + _BAR // 2}H{_number(right)}"
    match state:
        case "blocked":
            return _path(middle, f' stroke-width="{_BAR}" stroke-dasharray="1 4"')
        case "awaiting_review":
            return _path(middle, ' stroke-width="2" stroke-dasharray="2 4"')
        case "cancelled":
            down = f"M{_number(left)} {top}L{_number(right)} {top + _BAR}"
            return _path(f"{down}M{_number(left)} {top + _BAR}L{_number(right)} {top}")
    return ""


def _path(drawn: str, more: str = "") -> str:
    return f'<path d="{drawn}" fill="none" stroke="currentColor"{more}/>'


def _ticks(axis: _Axis, y: int) -> str:
    """The sequence of each event, or of the first and the last of many."""
    steps = axis.steps
    shown = steps if len(steps) <= _MAX_TICKS else (steps[0], steps[-1])
    texts = [
        f'<text x="{_number(axis.at({"sequence": sequence}))}" y="{y}"{_anchor(sequence, axis)}>'
        f"{sequence}</text>"
        for sequence in shown
    ]
    return "".join([f'<text x="0" y="{y}">sequence</text>', *texts])


def _anchor(sequence: int, axis: _Axis) -> str:
    """The last of many would leave the picture if it began at its event."""
    is_far = len(axis.steps) > _MAX_TICKS and sequence == axis.steps[-1]
    return ' text-anchor="end"' if is_far else ""


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
