"""What a page holds: documents rearranged, every text made visible, nothing derived.

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
from typing import Any, Final, Literal, NamedTuple, TypeAlias, TypedDict

from replay.report.safe import shown
from replay.report.words import (
    ANOMALIES,
    CLAIMS,
    FLAGS,
    NBSP,
    VERDICTS,
    coded,
    duration,
    time_words,
)

Document: TypeAlias = Mapping[str, Any]
Packed: TypeAlias = list[Any]

_LABEL: Final = 96  # columns of an id or a name; the raw line has the rest
_PROSE: Final = 600
_SINGLE: Final = ("state", "revision", "last_message", "last_progress", "blocked_since")
_LISTED: Final = ("episode", "receipt", "claim", "correction", "anomaly", "flag", "undetermined")
_NO_STATE: Final = "none"
_STATES: Final = (
    *("blocked", "awaiting_review", "active", "proposed", "complete", "cancelled"),
    _NO_STATE,
)
_NAMED_BY: Final = {
    "episode": "episode",
    "receipt": "receipt",
    "correction": "corrections",
    "blocked_since": "episode",
    "undetermined": "uncovered",
}
"""The rule behind an answer whose document does not name one, without the rule set's number."""


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


class Loss(TypedDict):
    """A field, in how many records it was lost, and why."""

    field: str
    count: int
    reason: str


class Losses(TypedDict):
    """A `replay.losses/1` document, as far as a page reads it."""

    document: Literal["replay.losses/1"]
    source: str
    order: str
    losses: list[Loss]
    unavailable: list[str]


class Item(NamedTuple):
    """A work item, or at id null the events that name none, with all that is known of it."""

    work_id: str | None
    intervals: Sequence[Document]
    lines: Sequence[Line]
    open_at_end: Mapping[str, float]
    """Elapsed seconds at the cutoff of the episodes still open there, by origin."""

    def without_raw_lines(self) -> Item:
        return self._replace(lines=[line._replace(raw=None) for line in self.lines])


def items_of(projection: Document, timeline: Document, lines: Sequence[Line]) -> list[Item]:
    """Every work item in the projection's order, then what names no work item."""
    intervals = {
        work_id: [*group]
        for work_id, group in groupby(timeline["intervals"], key=lambda i: i["work_id"])
    }
    of_item: dict[str | None, list[Line]] = {}
    for line in lines:
        of_item.setdefault(line.work_id, []).append(line)
    found = [
        Item(
            item["work_id"],
            intervals.get(item["work_id"], []),
            of_item.get(item["work_id"], []),
            _open_at_end(item),
        )
        for item in projection["items"]
    ]
    if None in of_item:
        found.append(Item(None, intervals.get(None, []), of_item[None], {}))
    return found


def _open_at_end(item: Document) -> dict[str, float]:
    return {
        episode["opened"]["event_id"]: episode["elapsed_seconds"]
        for episode in item["episodes"] or ()
        if episode["end"]["kind"] == "censored"
    }


def page_data(
    projection: Document,
    rules: Document,
    every: Sequence[Item],
    kept: Sequence[Item],
    *,
    losses: Losses | None,
    as_stored: bool,
) -> dict[str, Any]:
    """All that the scripts read, as JSON values."""
    packer = _Packer(kept, last=max((i.lines[-1].sequence for i in every if i.lines), default=0))
    source = projection["input"]
    return {
        "title": f"{label(source['name'])} \u00b7 replay",
        "name": label(source["name"]),
        "basis": source["time_basis"],
        "asStored": as_stored,
        "account": _account(projection),
        "cutoff": _cutoff(projection["cutoff"]),
        "flags": [coded(FLAGS, flag) for flag in projection["cutoff"]["flags"]],
        "notices": _notices(source),
        "limits": _limits(every, kept),
        "losses": _losses(losses),
        "rules": {
            "id": rules["id"],
            "digest": rules["digest"],
            "sentences": {rule["id"]: rule["sentence"] for rule in rules["rules"]},
        },
        "namedBy": _named_by(rules),
        "words": {
            "anomalies": ANOMALIES,
            "flags": FLAGS,
            "claims": CLAIMS,
            "verdicts": VERDICTS,
        },
        "sha256": source["sha256"],
        "tool": f"{projection['tool']['name']} {projection['tool']['version']}",
        "events": packer.events(),
        "items": [packer.item(item) for item in kept],
        "stateNames": list(_STATES),
        "overview": packer.overview([item for item in kept if item.work_id is not None]),
    }


def _account(projection: Document) -> list[str]:
    """The two identities: every line and every event is accounted for."""
    source, events = projection["input"], projection["accounting"]
    return [
        f"{source['lines']} lines = {source['blank']} blank + {source['duplicates']} duplicates"
        f" + {source['quarantined']} quarantined + {source['admitted']} admitted",
        f"{source['admitted']} admitted = {events['applied']} applied + {events['inert']} inert"
        f" + {events['beyond_cutoff']} beyond the cutoff",
    ]


def label(text: str) -> str:
    """An id or a name from the log, visible and no longer than a page has room for."""
    return '""' if text == "" else shown(text, _LABEL)


def _optional(text: str | None) -> str | None:
    return None if text is None else label(text)


def _cutoff(cutoff: Document) -> Document:
    recorded = cutoff["recorded"]
    observed = cutoff["observed"]
    return {
        "sequence": cutoff["sequence"],
        "recorded": None if recorded is None else printed(recorded),
        "observed": None if observed is None else printed(observed),
    }


def printed(time: str | float) -> str:
    return time_words(time).replace(NBSP, " ")


def _notices(source: Document) -> list[str]:
    found = [coded(FLAGS, note) for note in source["notes"]]
    if not source["complete"]:
        found.append("Incomplete: lines were lost or set aside in reading the input.")
    if source["gaps"]:
        shown_gaps = [
            str(gap["from"]) if gap["from"] == gap["to"] else f"{gap['from']}\u2013{gap['to']}"
            for gap in source["gaps"][:20]
        ]
        more = len(source["gaps"]) - len(shown_gaps)
        also = f" and {more} more gaps" if more else ""
        found.append(f"No event has sequence {', '.join(shown_gaps)}{also}.")
    return found


def _limits(every: Sequence[Item], kept: Sequence[Item]) -> list[str]:
    """In words, how much of the log the page holds, where that is not all of it."""
    events = [line for item in kept for line in item.lines]
    total = sum(len(item.lines) for item in every)
    raw = sum(1 for line in events if line.raw is not None)
    groups = (
        ("work items", _named(kept), _named(every)),
        ("events", len(events), total),
        ("raw lines", raw, total),
    )
    return [f"{some} of {all_} {what} shown" for what, some, all_ in groups if some != all_]


def _named(items: Iterable[Item]) -> int:
    return sum(1 for item in items if item.work_id is not None)


def _losses(losses: Losses | None) -> Document | None:
    if losses is None:
        return None
    return {
        "source": label(losses["source"]),
        "order": label(losses["order"]),
        "losses": [
            {
                "field": label(loss["field"]),
                "count": loss["count"],
                "reason": shown(loss["reason"], _PROSE),
            }
            for loss in losses["losses"]
        ],
        "unavailable": [shown(answer, _PROSE) for answer in losses["unavailable"]],
    }


def _named_by(rules: Document) -> dict[str, str]:
    known = {rule["id"] for rule in rules["rules"]}
    number = rules["id"].rpartition("/")[2]
    found = {question: f"{number}/{name}" for question, name in _NAMED_BY.items()}
    return {question: rule for question, rule in found.items() if rule in known}


class _Packer:
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
            _optional(line.principal),
            _optional(line.claimed_author),
            _optional(line.relayed_by),
            _optional(line.lane_id),
            _optional(line.revision),
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
                    state = _STATES.index(interval["value"]["value"] or _NO_STATE)
                    self._move(moves, interval["valid_from"], state, 1)
                    self._move(moves, interval["valid_to"], state, -1)
        counts = [0] * len(_STATES)
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
            moves.setdefault(place, [0] * len(_STATES))[state] += by

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
                since = value["since"]
                return [
                    _optional(value["value"]),
                    None if since is None else self._mark(since),
                    value["rule"],
                    self._refs(value["evidence"]),
                ]
            case "last_message" | "blocked_since":
                return [self._mark(value)]
            case "last_progress":
                return [self._mark(value), value["rule"]]
            case "episode":
                return self._episode(interval, item)
            case "receipt":
                names = ("check", "source", "outcome", "revision", "status", "principal")
                return [
                    self._ref(value["event_id"]),
                    value["type"],
                    *(_optional(value[name]) for name in names),
                ]
            case "claim":
                return [
                    self._ref(value["event_id"]),
                    value["claim"],
                    value["verdict"],
                    self._refs(value["evidence"]),
                    [label(name) for name in value["missing"]],
                    value["rule"],
                ]
            case "correction":
                reason = value["reason"]
                return [
                    self._ref(value["event_id"]),
                    self._ref(value["target"]),
                    value["status"],
                    None if reason is None else shown(reason, _PROSE),
                ]
            case "anomaly":
                related = self._refs(value["related"])
                return [value["code"], self._ref(value["event_id"]), related]
            case "undetermined":
                return [self._ref(value)]
            case _:
                return [value]

    def _episode(self, interval: Document, item: Item) -> Packed:
        value = interval["value"]
        found = [
            _optional(value["blocker_id"]),
            self._mark(value["opened"]),
            self._refs(value["repeats"]),
        ]
        end = value["end"]
        if end is not None:
            by, evidence = self._mark(end["by"]), self._refs(end["evidence"])
            return [*found, end["kind"], by, evidence, _lasted(value["elapsed_seconds"])]
        # how long an open one has lasted is known where the projection was made, and only there
        elapsed = item.open_at_end.get(value["opened"]["event_id"])
        if elapsed is None or interval["valid_to"] is not None or not self._reaches_cutoff:
            return [*found, None, None, [], None]
        return [*found, None, None, [], _lasted(elapsed)]

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
