"""Defects of lines: what is lost, moved, repeated, or not what a log may hold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from random import Random
from typing import Final

from replay.event import Event
from replay.testing.spoiled import (
    Injected,
    ValidLog,
    changed,
    chosen,
    defect,
    dumped,
    edited,
    joined,
    line_replaced,
    never_recorded,
    one_of,
    payload_changed,
    those_in,
    unused,
)
from replay.timestamps import NS_PER_MINUTE, render

# Lost


@defect("some", "An event in the middle is lost.")
def lost_in_the_middle(log: ValidLog, rng: Random) -> Injected | None:
    lost = one_of(rng, log.events[1:-1])
    return None if lost is None else edited(log, {lost.event_id: None})


@defect("none", "The first event is lost: no number says where a log begins.")
def lost_first(log: ValidLog, rng: Random) -> Injected | None:
    del rng
    return edited(log, {log.events[0].event_id: None}) if len(log.events) > 1 else None


@defect("none", "The last events are lost at the end of a line.")
def truncated_tail(log: ValidLog, rng: Random) -> Injected | None:
    if len(log.events) < 2:
        return None
    kept = 1 + int(rng.random() * (len(log.events) - 1))
    return edited(log, {event.event_id: None for event in log.events[kept:]})


@defect("none", "An event was never recorded, and took no number.")
def omitted_event(log: ValidLog, rng: Random) -> Injected | None:
    omitted = one_of(rng, (event for event in log.events[:-1] if not event.inert))
    return None if omitted is None else never_recorded(log, [omitted.event_id])


@defect("none", "A whole work item was never recorded, and took no numbers.")
def omitted_work_item(log: ValidLog, rng: Random) -> Injected | None:
    items = [item.work_id for item in log.projection.items]
    if len(items) < 2:
        return None
    omitted = chosen(rng, items)
    return never_recorded(log, [e.event_id for e in log.events if e.work_id == omitted])


@defect("refused", "The last line is cut off inside its value.")
def torn_tail(log: ValidLog, rng: Random) -> Injected | None:
    last = log.lines[-1]
    cut = 1 + int(rng.random() * (len(last.rstrip()) - 2))
    return Injected(joined(log.lines[:-1]) + last[:cut])


@defect("refused", "The last line is followed by NUL bytes, as after a loss of power.")
def nul_tail(log: ValidLog, rng: Random) -> Injected | None:
    del rng
    return Injected(joined(log.lines) + b"\0" * 64)


# Moved


@defect("some", "Two neighbours have each other's sequence number.")
def swapped_sequences(log: ValidLog, rng: Random) -> Injected | None:
    pair = one_of(rng, pairwise(log.events))
    return None if pair is None else _numbered(log, (pair[0], pair[1]), (pair[1], pair[0]))


@defect("refused", "An event has its neighbour's sequence number.")
def repeated_sequence(log: ValidLog, rng: Random) -> Injected | None:
    pair = one_of(rng, pairwise(log.events))
    return None if pair is None else _numbered(log, (pair[1],), (pair[0],))


def _numbered(log: ValidLog, events: Iterable[Event], like: Iterable[Event]) -> Injected:
    return edited(
        log,
        {
            event.event_id: {
                **log.values[event.event_id],
                "recorded_sequence": other.recorded_sequence,
            }
            for event, other in zip(events, like, strict=True)
        },
    )


@defect("harmless", "The lines are in another order.")
def reordered_lines(log: ValidLog, rng: Random) -> Injected | None:
    if len(log.lines) < 2:
        return None
    turned = 1 + int(rng.random() * (len(log.lines) - 1))
    return Injected(joined([*log.lines[turned:], *log.lines[:turned]]))


@defect("refused", "An event's recorded time is earlier than that of the event before it.")
def time_moved_back(log: ValidLog, rng: Random) -> Injected | None:
    begun = log.events[0]
    late = [
        event for before, event in pairwise(log.events) if before.recorded_at > begun.recorded_at
    ]
    event = one_of(rng, late)
    if event is None:
        return None
    early = render(begun.recorded_at, begun.time_basis)
    return changed(log, event.event_id, **{log.time_field: early})


@defect("none", "From some event on, the recording clock is an hour ahead.")
def clock_ahead(log: ValidLog, rng: Random) -> Injected | None:
    if len(log.events) < 2:
        return None
    begun = 1 + int(rng.random() * (len(log.events) - 1))
    return edited(
        log,
        {
            e.event_id: {
                **log.values[e.event_id],
                log.time_field: render(e.recorded_at + 60 * NS_PER_MINUTE, e.time_basis),
            }
            for e in log.events[begun:]
        },
    )


@defect("refused", "One event bears its time on the other time basis.")
def mixed_time_basis(log: ValidLog, rng: Random) -> Injected | None:
    if len(log.events) < 2:
        return None
    utc = log.history.time_basis == "utc"
    other = (
        {"schema_version": "elapsed/1", "recorded_minute": 0}
        if utc
        else {"schema_version": "events/1", "recorded_at_utc": "2026-01-01T00:00:00Z"}
    )
    occurred = {"occurred_at_utc": None, "occurred_minute": None}
    return changed(
        log, chosen(rng, log.events).event_id, **{log.time_field: None}, **occurred, **other
    )


# Repeated


@defect("harmless", "A line is there twice.")
def exact_duplicate(log: ValidLog, rng: Random) -> Injected | None:
    return Injected(joined([*log.lines, chosen(rng, log.lines)])) if log.lines else None


@defect("harmless", "A line is there twice, with its keys in another order and escaped.")
def respelled_duplicate(log: ValidLog, rng: Random) -> Injected | None:
    if not log.lines:
        return None
    value = json.loads(chosen(rng, log.lines))
    again = json.dumps(dict(reversed(value.items())), ensure_ascii=True).encode()
    return Injected(joined([*log.lines, again]), (value["event_id"],))


@defect("refused", "A second line has an event's id and another content.")
def forged_duplicate(log: ValidLog, rng: Random) -> Injected | None:
    value = {**log.values[chosen(rng, log.events).event_id]}
    value["lane_id"] = f"not-{value.get('lane_id')}"
    return Injected(joined([*log.lines, dumped(value)]), (value["event_id"],))


@defect("refused", "An event is admitted a second time, with a number of its own.")
def readmitted_event(log: ValidLog, rng: Random) -> Injected | None:
    value = {**log.values[chosen(rng, log.events).event_id]}
    value["recorded_sequence"] = log.events[-1].recorded_sequence + 1
    return Injected(joined([*log.lines, dumped(value)]), (value["event_id"],))


@defect("refused", "Another log is written behind it, numbered from where its own began.")
def concatenated_logs(log: ValidLog, rng: Random) -> Injected | None:
    del rng
    other = [
        dumped({**value, "event_id": f"{unused(log)}-{event_id}"})
        for event_id, value in log.values.items()
    ]
    return Injected(joined([*log.lines, *other]))


# Not what a log may hold


@defect("refused", "The file begins with a byte order mark.")
def byte_order_mark(log: ValidLog, rng: Random) -> Injected | None:
    del rng
    return Injected(b"\xef\xbb\xbf" + joined(log.lines))


@defect("refused", "A string holds a byte that is not UTF-8.")
def invalid_utf8(log: ValidLog, rng: Random) -> Injected | None:
    return line_replaced(
        log, rng, lambda line: line.replace(b'"event_id":"', b'"event_id":"\xff', 1)
    )


@defect("refused", "An object has one key twice.")
def repeated_key(log: ValidLog, rng: Random) -> Injected | None:
    return line_replaced(log, rng, lambda line: line.replace(b"{", b'{"type":"note",', 1))


@defect("refused", "Two events are on one line.")
def two_on_a_line(log: ValidLog, rng: Random) -> Injected | None:
    return line_replaced(log, rng, lambda line: line + b" " + line)


@defect("refused", "A check has an outcome that the contract does not list.")
def unknown_outcome(log: ValidLog, rng: Random) -> Injected | None:
    check = one_of(rng, (e for e in log.events if e.type == "check.completed"))
    return None if check is None else payload_changed(log, check.event_id, outcome="green")


@defect("refused", "A number is written as a string.")
def wrong_type(log: ValidLog, rng: Random) -> Injected | None:
    event = chosen(rng, log.events)
    return changed(log, event.event_id, recorded_sequence=str(event.recorded_sequence))


@defect("refused", "A required field is missing.")
def missing_field(log: ValidLog, rng: Random) -> Injected | None:
    field = chosen(rng, ("schema_version", "event_id", "recorded_sequence", "type"))
    event = chosen(rng, log.events)
    return changed(log, event.event_id, **{field: None})


@defect("refused", "A field of the envelope has a name that is not in the contract.")
def unknown_field(log: ValidLog, rng: Random) -> Injected | None:
    return changed(log, chosen(rng, log.events).event_id, recorded_by="somebody")


@defect("refused", "A payload holds NaN.")
def not_a_number(log: ValidLog, rng: Random) -> Injected | None:
    return changed(log, chosen(rng, log.events).event_id, payload={"load": float("nan")})


@defect("refused", "A number is larger than any double.")
def huge_number(log: ValidLog, rng: Random) -> Injected | None:
    event = chosen(rng, log.events)
    spoiled = changed(log, event.event_id, payload={"load": _MARK})
    huge = spoiled.data.replace(json.dumps(_MARK).encode(), b"1e400")
    return Injected(huge, (event.event_id,))


_MARK: Final = "number of the defect huge-number"


@defect("refused", "A time is no time: the 30th of February, or minus one minute.")
def impossible_time(log: ValidLog, rng: Random) -> Injected | None:
    never = "2026-02-30T00:00:00Z" if log.history.time_basis == "utc" else -1
    return changed(log, chosen(rng, log.events).event_id, **{log.time_field: never})


@defect("refused", "A line names a schema version that does not exist.")
def unknown_schema_version(log: ValidLog, rng: Random) -> Injected | None:
    return changed(log, chosen(rng, log.events).event_id, schema_version="events/9")


@defect("harmless", "Lines end with a carriage return and a newline.")
def carriage_returns(log: ValidLog, rng: Random) -> Injected | None:
    del rng
    return Injected(b"".join(line.rstrip(b"\r") + b"\r\n" for line in log.lines))


@defect("harmless", "The last line has no newline.")
def no_final_newline(log: ValidLog, rng: Random) -> Injected | None:
    del rng
    return Injected(joined(log.lines).removesuffix(b"\n"))


@defect("harmless", "Blank lines stand between the lines.")
def blank_lines(log: ValidLog, rng: Random) -> Injected | None:
    del rng
    return Injected(b"\n" + b"".join(line + b"\n \t\n" for line in log.lines))


DEFECTS: Final = those_in(globals())
