"""What reasons are read off: one item of a derived document, and its visible events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from replay.asking import Asking
from replay.event import Event, Record
from replay.questions import Derived
from replay.said import says

ReasonKind: TypeAlias = Literal[
    "missing",
    "stale",
    "contradicting",
    "unbound",
    "unknown",
    "overtaken",
    "withdrawn",
    "ended",
    "never",
    "undetermined",
]

Object: TypeAlias = dict[str, Any]


class Reason(Record, frozen=True):
    """One reason: its kind, the events that show it, and a sentence."""

    kind: ReasonKind
    events: tuple[str, ...]
    sentence: str

    def document(self) -> Object:
        return {"kind": self.kind, "events": [*self.events], "sentence": self.sentence}


class View:
    """One item of a document, its visible events, and what was wanted of it."""

    def __init__(self, asking: Asking, item: Object, answer: Derived, wanted: str) -> None:
        self.item = item
        self.answer = answer
        self.wanted = wanted
        self.of = asking.asked.of or ""
        own = [event for event in asking.events if event.work_id == item["work_id"]]
        self.events = {event.event_id: event for event in own}
        self.state: str | None = item["state"]["value"]
        self.revision: str | None = item["revision"]["value"]

    def claims(self, kind: str) -> list[Object]:
        return [claim for claim in self.item["claims"] if claim["claim"] == kind]

    def said(self, event_ids: Sequence[str]) -> str:
        """Events with what they say: `e6, which announces r2`."""
        return and_([f"{i}, which {says(self.events[i])}" for i in event_ids if i in self.events])

    def of_type(self, *types: str) -> list[Event]:
        return [event for event in self.events.values() if event.type in types]

    def withdrawn(self, events: Sequence[Event]) -> Iterator[Reason]:
        """Those of these events that a correction took away."""
        for event in events:
            by = [c["event_id"] for c in self.item["corrections"] if _withdraws(c, event)]
            if by:
                sentence = f"{event.event_id}, which {says(event)}, was withdrawn by {by[-1]}"
                yield Reason("withdrawn", (event.event_id, by[-1]), sentence)


def _withdraws(correction: Object, event: Event) -> bool:
    return bool(correction["target"] == event.event_id and correction["status"] == "applied")


def entry(entries: Sequence[Object], event_id: str) -> Object | None:
    return next((entry for entry in entries if entry["event_id"] == event_id), None)


def and_(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([part for part in (", ".join(words[:-1]), *words[-1:]) if part])
