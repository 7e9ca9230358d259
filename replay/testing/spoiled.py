"""A valid log, what spoils it, and the edits that spoiling is made of.

An injector gets a log with its known-good derivation and one source of chance, and returns
the bytes of a faulty log, or null where the log has nothing that it could spoil.  It edits
by event id: every copy of an event's line, so that an edit is never a conflict by accident.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final, Literal, TypeAlias, TypeVar

from replay import rules
from replay.decode import decode_bytes
from replay.event import Event, Record
from replay.history import History, admit
from replay.projection import Projection
from replay.timestamps import render

RULES: Final = "coordination/2"
Value: TypeAlias = dict[str, Any]
"""One line of a log as a JSON object."""

Trace: TypeAlias = Literal["refused", "some", "none", "harmless"]
"""What a defect leaves in the log that it spoils.

`refused`: no reader admits it.  `some`: it depends on what it hits.  `none`: nothing, since
a log in which just this had happened would read the same; what shows it is another record.
`harmless`: the answers are the same, by contract.
"""


class ValidLog(Record, frozen=True, kw_only=True):
    """An admitted log: its lines without their ends, its objects by event id, its answers."""

    name: str
    lines: tuple[bytes, ...]
    values: Mapping[str, Value]
    history: History
    projection: Projection

    @property
    def events(self) -> tuple[Event, ...]:
        """In sequence order."""
        return self.history.events

    @property
    def time_field(self) -> str:
        return "recorded_at_utc" if self.history.time_basis == "utc" else "recorded_minute"


class Injected(Record, frozen=True):
    """The bytes of a faulty log, and the ids of the events that were spoiled."""

    data: bytes
    events: tuple[str, ...] = ()


Inject: TypeAlias = Callable[[ValidLog, Random], Injected | None]


class Defect(Record, frozen=True):
    """A seeded defect: what it does in one sentence, what it leaves, and what does it."""

    id: str
    sentence: str
    trace: Trace
    inject: Inject


def valid_log(data: bytes, *, name: str = "log.jsonl") -> ValidLog:
    """The log in `data`, derived under coordination/2.  Raises `Refusal`."""
    history = admit([decode_bytes(data, name=name)])
    lines = tuple(line for line in data.split(b"\n") if line.strip())
    values: dict[str, Value] = {}
    for line in lines:
        value = json.loads(line)
        values.setdefault(value["event_id"], value)
    projection = rules.named(RULES).project(history.until())
    return ValidLog(name=name, lines=lines, values=values, history=history, projection=projection)


def defect(trace: Trace, sentence: str) -> Callable[[Inject], Defect]:
    """Makes a defect of an injector, whose name is its id."""

    def named(inject: Inject) -> Defect:
        return Defect(inject.__name__.strip("_").replace("_", "-"), sentence, trace, inject)

    return named


def those_in(names: Mapping[str, object]) -> tuple[Defect, ...]:
    """The defects of a module, in the order in which it makes them."""
    return tuple(value for value in names.values() if isinstance(value, Defect))


# Edits


def edited(log: ValidLog, changes: Mapping[str, Value | None]) -> Injected:
    """The log with these events' values in place of theirs, on every copy; null loses them."""
    lines: list[bytes] = []
    for line in log.lines:
        event_id = json.loads(line)["event_id"]
        if event_id not in changes:
            lines.append(line)
        elif (change := changes[event_id]) is not None:
            lines.append(dumped(change))
    return Injected(joined(lines), tuple(changes))


def appended(log: ValidLog, /, **value: Any) -> Injected:
    """The log with one more event, admitted after its last and in the same moment."""
    last = log.events[-1]
    event: Value = {
        "schema_version": last.schema_version,
        "event_id": unused(log),
        "recorded_sequence": last.recorded_sequence + 1,
        log.time_field: render(last.recorded_at, last.time_basis),
        **{name: given for name, given in value.items() if given is not None},
    }
    return Injected(joined([*log.lines, dumped(event)]), (event["event_id"],))


def never_recorded(log: ValidLog, lost: Iterable[str]) -> Injected:
    """The log as if these events had not been: numbered without a gap."""
    gone = {*lost}
    kept = [event.event_id for event in log.events if event.event_id not in gone]
    first = log.events[0].recorded_sequence
    numbered = {
        event_id: {**log.values[event_id], "recorded_sequence": number}
        for number, event_id in enumerate(kept, start=first)
    }
    spoiled = edited(log, {**numbered, **dict.fromkeys(gone)})
    return Injected(spoiled.data, tuple(gone))


def changed(log: ValidLog, event_id: str, /, **members: Any) -> Injected:
    """The log with members of one event set; null removes them."""
    value = {**log.values[event_id], **members}
    return edited(log, {event_id: {k: v for k, v in value.items() if v is not None}})


def payload_changed(log: ValidLog, event_id: str, /, **members: Any) -> Injected:
    payload = {**log.values[event_id].get("payload", {}), **members}
    return changed(log, event_id, payload={k: v for k, v in payload.items() if v is not None})


def line_replaced(
    log: ValidLog, rng: Random, spoil: Callable[[bytes], bytes | None]
) -> Injected | None:
    """One line, of those that `spoil` makes another of, replaced by that."""
    found = [(index, new) for index, line in enumerate(log.lines) if (new := spoil(line))]
    if not found:
        return None
    index, new = chosen(rng, found)
    lines = [*log.lines[:index], new, *log.lines[index + 1 :]]
    return Injected(joined(lines), (json.loads(log.lines[index])["event_id"],))


def unused(log: ValidLog) -> str:
    number = 1
    while f"seeded-{number}" in log.values:
        number += 1
    return f"seeded-{number}"


def dumped(value: Value) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def joined(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


_T = TypeVar("_T")


def chosen(rng: Random, choices: Sequence[_T]) -> _T:
    """One of them; written out, so that no version of `random` chooses another."""
    return choices[int(rng.random() * len(choices))]


def one_of(rng: Random, choices: Iterable[_T]) -> _T | None:
    listed = [*choices]
    return chosen(rng, listed) if listed else None


def of_type(log: ValidLog, *types: str) -> Iterator[Event]:
    return (event for event in log.events if event.type in types)
