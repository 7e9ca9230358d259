"""What reasons are read off: one item of a derived document, and its visible events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
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
        self.asking = asking
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

    def has(self, code: str, event_id: str) -> bool:
        """Whether an event carries an anomaly."""
        return any(a["code"] == code and a["event_id"] == event_id for a in self.item["anomalies"])

    def place(self, event_id: str) -> int:
        """The place of an event: a replacement's is that of the first version."""
        return self.events[self._origin(event_id)].recorded_sequence

    def _origin(self, event_id: str) -> str:
        while event_id in self._replaced:
            event_id = self._replaced[event_id]
        return event_id

    @cached_property
    def _replaced(self) -> dict[str, str]:
        """What each replacement that is a correction names."""
        return {
            c["event_id"]: c["target"]
            for c in self.item["corrections"]
            if not self._retracts(c) and self._is_effective(c)
        }

    def _retracts(self, correction: Object) -> bool:
        return self.events[correction["event_id"]].type == "event.retracted"

    def _is_effective(self, correction: Object) -> bool:
        """Whether it corrects: one that is silenced does where it would have otherwise."""
        if correction["status"] != "silenced":
            return bool(correction["status"] != "ineffective")
        event = self.events[correction["event_id"]]
        target = self.events.get(correction["target"])
        return (
            target is not None
            and target.type == event.type
            and target.principal == event.principal
            and target.recorded_sequence < event.recorded_sequence
        )

    def withdrawn_by(self, event_id: str) -> str | None:
        """The correction that silences an event or stands in its place."""
        for correction in reversed(self.item["corrections"]):
            by = correction["event_id"]
            if correction["status"] != "applied" or by == event_id:
                continue
            if self._retracts(correction):
                if correction["target"] == event_id:
                    return str(by)
            elif self._origin(by) == self._origin(event_id):
                return str(by)
        return None

    def of_type(self, *types: str) -> list[Event]:
        return [event for event in self.events.values() if event.type in types]

    def standing(self, *types: str) -> list[Event]:
        """The events of these classes that no correction took away, in order of place."""
        found = [e for e in self.of_type(*types) if self.withdrawn_by(e.event_id) is None]
        return sorted(found, key=lambda event: self.place(event.event_id))

    def withdrawn(self, events: Sequence[Event]) -> Iterator[Reason]:
        """Those of these events that a correction took away."""
        for event in events:
            by = self.withdrawn_by(event.event_id)
            if by is not None:
                sentence = f"{event.event_id}, which {says(event)}, was withdrawn by {by}"
                yield Reason("withdrawn", (event.event_id, by), sentence)

    def unannounced(self, revision: str | None) -> str:
        """That no event announces a revision, as the rest of a sentence that names it."""
        announced = [
            e for e in self.of_type("artifact.published") if e.artifact_revision == revision
        ]
        gone = [f"{r.events[0]} was withdrawn by {r.events[1]}" for r in self.withdrawn(announced)]
        but = f" ({and_(gone)})" if gone else ""
        return f"which no standing event of the work item announces{but}"


def entry(entries: Sequence[Object], event_id: str) -> Object | None:
    return next((entry for entry in entries if entry["event_id"] == event_id), None)


def and_(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([part for part in (", ".join(words[:-1]), *words[-1:]) if part])
