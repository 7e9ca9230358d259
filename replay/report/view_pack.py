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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple, TypeAlias

from replay.report.safe import shown
from replay.report.view_why import Certificate, shell_word
from replay.report.words import NBSP, duration, time_words

Document: TypeAlias = Mapping[str, Any]
Packed: TypeAlias = list[Any]
_Stretch: TypeAlias = tuple[int, int | None, Packed]
"""From which event and, exclusively, to which; null: to the end.  And the events of it."""

PROSE: Final = 600  # columns of a reason
_LABEL: Final = 96  # columns of an id or a name; the raw line has the rest
_SINGLE: Final = ("state", "revision", "last_message", "last_progress", "blocked_since")
_LISTED: Final = ("episode", "receipt", "claim", "correction", "anomaly", "flag", "undetermined")
UNDETERMINED: Final = "undetermined"
NO_STATE: Final = "none"
STATES: Final = (
    *("blocked", "awaiting_review", "active", "proposed", "complete", "cancelled"),
    *(UNDETERMINED, NO_STATE),
)
"""What a work item is counted as: its state, that the rules do not say, or that it has none."""


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
    why: Sequence[Certificate] = ()

    def without_raw_lines(self) -> Item:
        return self._replace(lines=[line._replace(raw=None) for line in self.lines])


def label(text: str) -> str:
    """An id or a name from the log, visible and no longer than a page has room for."""
    return '""' if text == "" else shown(text, _LABEL)


def optional(text: str | None) -> str | None:
    return None if text is None else label(text)


def word_beside(text: str) -> str | None:
    """The id as a shell reads it, null where that is the id as it is shown."""
    word = shell_word(text)
    return None if word == label(text) else word


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
            None if line.occurred is None else printed(line.occurred),
            optional(line.principal),
            optional(line.claimed_author),
            optional(line.relayed_by),
            optional(line.lane_id),
            optional(line.revision),
            word_beside(line.event_id),
        ]
        while found[-1] is None:
            found.pop()
        return found

    def raw_lines(self) -> list[str | None]:
        """The line of each event; apart from the events, since a page seldom needs any."""
        return [None if line.raw is None else visible_json(line.raw) for line, _ in self._lines]

    def item(self, item: Item) -> Packed:
        """`[id, {question: intervals}, certificates, shell word]`.

        Of a listed question, the intervals of each subject.  The shell word is null where it
        is the id as it is shown.
        """
        why = [self._certificate(certificate) for certificate in item.why]
        word = None if item.work_id is None else word_beside(item.work_id)
        name = None if item.work_id is None else label(item.work_id)
        found = [name, self._answers(item), why, word]
        while len(found) > 2 and not found[-1] and found[-1] != "":
            found.pop()
        return found

    def _certificate(self, certificate: Certificate) -> Packed:
        of = None if certificate.of is None else self._ref(certificate.of)
        events = self._refs(certificate.events)
        return [certificate.question, of, events, int(certificate.irredundant)]

    def _answers(self, item: Item) -> dict[str, Packed]:
        answers: dict[str, Packed] = {}
        for question, group in groupby(item.intervals, key=lambda i: i["question"]):
            if question == "state":
                answers[question] = self._states(group, item)
            elif question in _SINGLE:
                answers[question] = self._held(group, item)
            elif question in _LISTED:
                subjects = groupby(group, key=_subject)
                held = [self._held(intervals, item) for _, intervals in subjects]
                answers[question] = [intervals for intervals in held if intervals]
        return answers

    def _states(self, intervals: Iterable[Document], item: Item) -> list[Packed]:
        """What the item is shown as: its states, and `undetermined` where the rules do not say.

        A null state is the absence of one only where the rules cover the item's events.
        """
        stretches = self._uncovered(item)
        found: list[Packed] = [
            [start, end, UNDETERMINED, None, None, events] for start, end, events in stretches
        ]
        for first, last, *state in self._held(intervals, item):
            found += [[start, end, *state] for start, end in _outside(first, last, stretches)]
        return sorted(found, key=lambda interval: interval[0])

    def _uncovered(self, item: Item) -> list[_Stretch]:
        """The stretches over which events are not covered, in order, with those events."""
        held = self._held((i for i in item.intervals if i["question"] == UNDETERMINED), item)
        found: list[_Stretch] = []
        for first, last, event in sorted(held, key=lambda interval: interval[0]):
            if found and (found[-1][1] is None or first <= found[-1][1]):
                begin, end, events = found.pop()
                both = None if end is None or last is None else max(end, last)
                found.append((begin, both, [*events, event]))
            else:
                found.append((first, last, [event]))
        return found

    def overview(self, items: Sequence[Item]) -> list[Packed]:
        """How many of the items are in each of `STATES` from an event on: `[event, count…]`."""
        moves: dict[int, list[int]] = {}
        for item in items:
            states = (i for i in item.intervals if i["question"] == "state")
            for first, last, value, *_ in self._states(states, item):
                state = STATES.index(value or NO_STATE)
                for place, by in ((first, 1), (last, -1)):
                    if place is not None:
                        moves.setdefault(place, [0] * len(STATES))[state] += by
        counts = [0] * len(STATES)
        found: list[Packed] = []
        for place, moved in sorted(moves.items()):
            counts = [count + move for count, move in zip(counts, moved, strict=True)]
            found.append([place, *counts])
        return found

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


def _outside(
    first: int, last: int | None, stretches: Sequence[_Stretch]
) -> Iterator[tuple[int, int | None]]:
    """The parts of an interval that lie in none of the stretches, which are in order."""
    for start, end, _ in stretches:
        if end is not None and end <= first:
            continue
        if last is not None and last <= start:
            break
        if first < start:
            yield first, start
        if end is None:
            return
        first = end
    if last is None or first < last:
        yield first, last


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
