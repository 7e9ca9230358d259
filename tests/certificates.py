"""A small checker of certificates that shares nothing with what makes them.

It asks the reference models, which search the prefix and keep no state, and reads the answer
with a reader of its own.  A certificate is confirmed when its events alone give the answer,
and leaving out any one of them does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from replay.event import Event
from replay.history import Prefix
from replay.projection import Censored, Item, Projection
from tests import reference_v1, reference_v2

MODELS: Final[dict[str, Callable[[Prefix], Projection]]] = {
    "coordination/1": reference_v1.project,
    "coordination/2": reference_v2.project,
}
UNDETERMINED: Final = "undetermined"


class Model:
    """The model of a rule set, asked about parts of one prefix; it is slow, so it remembers."""

    def __init__(self, rules: str, prefix: Prefix) -> None:
        self.project = MODELS[rules]
        self.prefix = prefix
        self.known: dict[tuple[Event, ...], Projection] = {}

    def answer(self, events: Sequence[Event], question: str, work_id: str, of: Any) -> Any:
        """What these events alone answer, as a value that can be compared."""
        ordered = tuple(sorted(events, key=lambda event: event.recorded_sequence))
        if ordered not in self.known:
            self.known[ordered] = self.project(Prefix(ordered, self.prefix.facts))
        item = self.known[ordered].item(work_id)
        if item is None:
            return () if question == "anomaly" else None
        if item.undetermined_by and question != "last_message":
            return UNDETERMINED
        return _read(item, question, of)


def _read(item: Item, question: str, of: Any) -> Any:
    match question:
        case "state" | "revision":
            derived = getattr(item, question)
            return derived.value and (derived.value, derived.since)
        case "last_message" | "last_progress" | "blocked_since":
            mark = getattr(item.clocks, question)
            return mark and (mark.event_id, mark.time)
        case "episode":
            return next((_end(e) for e in item.episodes or () if of in e.events), None)
        case "receipt":
            found = [(r.status, r.outcome) for r in item.receipts or () if r.event_id == of]
        case "claim":
            found = [(c.verdict,) for c in item.claims or () if c.event_id == of]
        case "correction":
            found = [(c.status,) for c in item.corrections or () if c.event_id == of]
        case "anomaly":
            return tuple(dict.fromkeys(a.event_id for a in item.anomalies if a.code == of))
        case _:
            raise AssertionError(question)
    return found[0] if found else None


def _end(episode: Any) -> Any:
    end = episode.end
    by = None if isinstance(end, Censored) else end.by
    return type(end).__name__, by, episode.elapsed


def fault(kept: Sequence[Event], answer: Callable[[Sequence[Event]], Any], wanted: Any) -> str:
    """What is wrong with a certificate; empty when it is confirmed."""
    if answer(kept) != wanted:
        return f"alone they give {answer(kept)}, not {wanted}"
    for left_out in kept:
        if answer([event for event in kept if event is not left_out]) == wanted:
            return f"{left_out.event_id} can be left out"
    return ""
