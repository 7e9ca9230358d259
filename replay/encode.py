"""Events back to contract lines: what `merge` writes, and every later writer.

A line holds the event's value, field by field in the order of the contract's table;
nulls and defaults are left out and the payload is kept as it was written, so reading
the line back gives an equal event.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from replay.event import Event
from replay.timestamps import format_utc, minutes

_DENSE: Final = (",", ":")  # no longer than the line that was read, which has a limit


def encode_line(event: Event) -> bytes:
    """One JSON Lines record of the event, without its newline."""
    members = (json.dumps(name).encode() + b":" + value for name, value in _members(event))
    return b"{" + b",".join(members) + b"}"


def _members(event: Event) -> Iterator[tuple[str, bytes]]:
    for name, value in _fields(event):
        if isinstance(value, bytes):
            yield name, value
        elif value is not None and value != ():
            yield name, json.dumps(value, ensure_ascii=False, separators=_DENSE).encode()


def _fields(event: Event) -> Iterator[tuple[str, object]]:
    utc = event.time_basis == "utc"
    recorded, occurred = event.written or (None, None)
    yield "schema_version", event.schema_version
    yield "event_id", event.event_id
    yield "recorded_sequence", event.recorded_sequence
    yield "recorded_at_utc" if utc else "recorded_minute", _time(event.recorded_at, recorded, utc)
    if event.occurred_at is not None:
        name = "occurred_at_utc" if utc else "occurred_minute"
        yield name, _time(event.occurred_at, occurred, utc)
    yield "principal", event.principal
    yield "claimed_author", event.claimed_author
    yield "relayed_by", event.relayed_by
    yield "work_id", event.work_id
    yield "lane_id", event.lane_id
    yield "type", event.type
    if event.payload_json != b"{}":
        yield "payload", event.payload_json
    yield "artifact_revision", event.artifact_revision
    yield "evidence_refs", event.evidence_refs
    yield "causes", event.causes
    yield "supersedes", event.supersedes


def _time(nanoseconds: int, written: str | float | None, utc: bool) -> str | float:
    if written is not None:
        return written
    return format_utc(nanoseconds) if utc else minutes(nanoseconds)
