"""Answers and events as a page's numbers and visible texts.

An event becomes its number among the page's events, an answer a short list that begins
with the numbers from which and to which it held, and every text from the log what
`safe.shown` makes of it.  An id of no event of the page stays text.  The scripts read
this, so the orders here and in `assets/data.js` are one thing.
"""

from __future__ import annotations

import json
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias

from replay.report.safe import shown
from replay.report.words import NBSP, duration, time_words

Document: TypeAlias = Mapping[str, Any]
Packed: TypeAlias = list[Any]

PROSE: Final = 600  # columns of a reason
_LABEL: Final = 96  # columns of an id or a name; the raw line has the rest
_SINGLE: Final = ("state", "revision", "last_message", "last_progress", "blocked_since")
_LISTED: Final = ("episode", "receipt", "claim", "correction", "anomaly", "flag", "undetermined")
_NO_STATE: Final = "none"
STATES: Final = (
    *("blocked", "awaiting_review", "active", "proposed", "complete", "cancelled"),
    _NO_STATE,
)


class Line(NamedTuple):
    """One visible event, and the line that it was read from (null: left out)."""

    sequence: int
    event_id: str
    time: str | float
    type: str
    work_id: str | None
    number: int
    raw: str | None
    occurred: str | float | None = None
    principal: str | None = None
    claimed_author: str | None = None
    relayed_by: str | None = None
    lane_id: str | None = None
    revision: str | None = None


class Item(NamedTuple):
    """A work item, or at id null the events that name none, with all that is known of it."""

    work_id: str | None
    intervals: Sequence[Document]
    lines: Sequence[Line]
    open_at_end: Mapping[str, float]
    """Elapsed seconds at the cutoff of the episodes still open there, by origin."""

    def without_raw_lines(self) -> Item:
        return self._replace(lines=[line._replace(raw=None) for line in self.lines])


def label(text: str) -> str:
    """An id or a name from the log, visible and no longer than a page has room for."""
    return '""' if text == "" else shown(text, _LABEL)


def optional(text: str | None) -> str | None:
    return None if text is None else label(text)


def printed(time: str | float) -> str:
    return time_words(time).replace(NBSP, " ")


class Packer:
    """Documents as the page's numbers and visible texts."""

    def __init__(self, items: Sequence[Item], *, last: int) -> None:
        numbered = [(line, n) for n, item in enumerate(items) for line in item.lines]
        self._lines = sorted(numbered, key=lambda entry: entry[0].sequence)
        self._sequences = [line.sequence for line, _ in self._lines]
        self._numbers = {line.event_id: n for n, (line, _) in enumerate(self._lines)}
        self._reaches_cutoff = bool(self._sequences) and self._sequences[-1] == last

    def events(self) -> list[Packed]:
        return [self._event(line, item) for line, item in self._lines]

    def _event(self, line: Line, item: int) -> Packed:
        found: Packed = [
            line.sequence,
            label(line.event_id),
            printed(line.time),
            label(line.type),
            item,
            line.number,
            None if line.raw is None else visible_json(line.raw),
            None if line.occurred is None else printed(line.occurred),
            optional(line.principal),
            optional(line.claimed_author),
            optional(line.relayed_by),
            optional(line.lane_id),
            optional(line.revision),
        ]
        while found[-1] is None:
            found.pop()
        return found

    def item(self, item: Item) -> Packed:
        """`[id, {question: intervals}]`; of a listed question, the intervals of each subject."""
        answers: dict[str, Packed] = {}
        for question, group in groupby(item.intervals, key=lambda i: i["question"]):
            if question in _SINGLE:
                answers[question] = self._held(group, item)
            elif question in _LISTED:
                subjects = groupby(group, key=_subject)
                held = [self._held(intervals, item) for _, intervals in subjects]
                answers[question] = [intervals for intervals in held if intervals]
        return [None if item.work_id is None else label(item.work_id), answers]

    def overview(self, items: Sequence[Item]) -> list[Packed]:
        """How many of the items are in each state from an event on: `[event, count…]`.

        One item's states are its lane, so of one there is nothing to count.
        """
        moves: dict[int, list[int]] = {}
        for item in items if len(items) > 1 else ():
            for interval in item.intervals:
                if interval["question"] == "state":
                    state = STATES.index(interval["value"]["value"] or _NO_STATE)
                    self._move(moves, interval["valid_from"], state, 1)
                    self._move(moves, interval["valid_to"], state, -1)
        counts = [0] * len(STATES)
        found: list[Packed] = []
        for place, moved in sorted(moves.items()):
            counts = [count + move for count, move in zip(counts, moved, strict=True)]
            found.append([place, *counts])
        return found

    def _move(
        self, moves: dict[int, list[int]], moment: Document | None, state: int, by: int
    ) -> None:
        place = self._place(moment)
        if place is not None:
            moves.setdefault(place, [0] * len(STATES))[state] += by

    def _held(self, intervals: Iterable[Document], item: Item) -> list[Packed]:
        found = []
        for interval in intervals:
            first, last = self._place(interval["valid_from"]), self._place(interval["valid_to"])
            # where the page has no event of its time, an answer cannot be asked for
            if first is not None and first != last:
                found.append([first, last, *self._value(interval, item)])
        return found

    def _place(self, moment: Document | None) -> int | None:
        """The number of the page's first event from that moment on; null where there is none."""
        if moment is None:
            return None
        place = bisect_left(self._sequences, moment["sequence"])
        return place if place < len(self._sequences) else None

    def _value(self, interval: Document, item: Item) -> Packed:
        value = interval["value"]
        match interval["question"]:
            case "state" | "revision":
                return self._derived(value)
            case "last_message" | "blocked_since":
                return [self._mark(value)]
            case "last_progress":
                return [self._mark(value), value["rule"]]
            case "episode":
                return self._episode(interval, item)
            case "receipt":
                return self._receipt(value)
            case "claim":
                return self._claim(value)
            case "correction":
                return self._correction(value)
            case "anomaly":
                related = self._refs(value["related"])
                return [value["code"], self._ref(value["event_id"]), related]
            case "undetermined":
                return [self._ref(value)]
            case _:
                return [value]

    def _derived(self, value: Document) -> Packed:
        since = None if value["since"] is None else self._mark(value["since"])
        return [optional(value["value"]), since, value["rule"], self._refs(value["evidence"])]

    def _episode(self, interval: Document, item: Item) -> Packed:
        value = interval["value"]
        opened, repeats = self._mark(value["opened"]), self._refs(value["repeats"])
        found = [optional(value["blocker_id"]), opened, repeats]
        end = value["end"]
        if end is not None:
            by, evidence = self._mark(end["by"]), self._refs(end["evidence"])
            return [*found, end["kind"], by, evidence, _lasted(value["elapsed_seconds"])]
        # how long an open one has lasted is known where the projection was made, and only there
        elapsed = item.open_at_end.get(value["opened"]["event_id"])
        if elapsed is None or interval["valid_to"] is not None or not self._reaches_cutoff:
            return [*found, None, None, [], None]
        return [*found, None, None, [], _lasted(elapsed)]

    def _receipt(self, value: Document) -> Packed:
        names = ("check", "source", "outcome", "revision", "status", "principal")
        texts = [optional(value[name]) for name in names]
        return [self._ref(value["event_id"]), value["type"], *texts]

    def _claim(self, value: Document) -> Packed:
        found = [self._ref(value["event_id"]), value["claim"], value["verdict"]]
        missing = [label(name) for name in value["missing"]]
        return [*found, self._refs(value["evidence"]), missing, value["rule"]]

    def _correction(self, value: Document) -> Packed:
        reason = None if value["reason"] is None else shown(value["reason"], PROSE)
        found = [self._ref(value["event_id"]), self._ref(value["target"])]
        return [*found, value["status"], reason]

    def _mark(self, mark: Document) -> Any:
        """The event's number; with the time where that is not the event's own."""
        ref = self._ref(mark["event_id"])
        if isinstance(ref, int) and self._lines[ref][0].time == mark["time"]:
            return ref
        return [ref, printed(mark["time"])]

    def _refs(self, ids: Iterable[str]) -> Packed:
        return [self._ref(event_id) for event_id in ids]

    def _ref(self, event_id: str) -> int | str:
        number = self._numbers.get(event_id)
        return label(event_id) if number is None else number


def _lasted(seconds: float) -> str:
    return duration(seconds).replace(NBSP, " ")


def _subject(interval: Document) -> str:
    value = interval["value"]
    if interval["question"] == "anomaly":
        return json.dumps([value["code"], value["event_id"], value["related"]])
    if interval["question"] in ("flag", "undetermined"):
        return str(value)
    return str(interval["of"])


_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


def visible_json(line: str) -> str:
    """A JSON line of equal value in which every hidden character is a JSON escape.

    Outside strings JSON has no hidden character but white space, which is left alone.
    """
    if line.isascii() and line.isprintable():
        return line
    return "".join(_visible(char) for char in line)


def _visible(char: str) -> str:
    if char in " \t\r" or (char.isascii() and char.isprintable()):
        return char
    if unicodedata.category(char) not in _HIDDEN:
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
