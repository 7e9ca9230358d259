"""Events of typical lines at the speed of a compiled parser, where that proves enough.

Decides which lines need no exact reading.  It never refuses: it gives the event that
the exact path (`replay.exact`) would give, or nothing, and then the exact path decides.
An event is given where all of this holds:

* the line is UTF-8, within the line limit, and holds no backslash, so quotes only
  delimit strings, and no white space before a colon, so every key, at any depth, is
  an occurrence of `":`;
* msgspec decodes it into a record of one schema version: unknown fields, wrong types,
  empty strings, control characters, NaN and trailing text are not let through;
* the occurrences of `":` equal the keys that the decoded values hold, so no key is
  repeated (a string that begins with a colon only makes the count too large);
* brackets are too few for the nesting limit, ids too short for theirs, and no float
  is infinite;
* the payload passed the same function that the exact path uses.

msgspec is the fastest strict parser measured; alone it lets repeated keys, deep nesting
and anything that is JSON inside a raw payload pass, hence the list.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta, Raw
from msgspec.structs import astuple

from replay.event import MAX_SEQUENCE, NO_DATA, Event, Payload
from replay.exact import Limits
from replay.payloads import TYPED, typed_payload
from replay.strictjson import Fault
from replay.timestamps import MAX_MINUTE, NS_PER_MINUTE, BadTime, format_utc, parse_utc

# "" stands for a field that the line does not have: no line can hold it, it is false
# like the null that it equals, and tuple.count compares strings at once.
_Text: TypeAlias = Annotated[str, Meta(min_length=1)]
_Maybe: TypeAlias = _Text | None
_Texts: TypeAlias = tuple[_Text, ...] | None
_ABSENT: Final[Any] = ""
_NO_RAW: Final = Raw(b"")
_NO_PAYLOAD: Final = b"{}"


class _Line(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, gc=False):
    """The fields of both schema versions."""

    event_id: _Text
    recorded_sequence: Annotated[int, Meta(ge=1, le=MAX_SEQUENCE)]
    type: _Text
    principal: _Maybe = _ABSENT
    claimed_author: _Maybe = _ABSENT
    relayed_by: _Maybe = _ABSENT
    work_id: _Maybe = _ABSENT
    lane_id: _Maybe = _ABSENT
    payload: Raw = _NO_RAW
    artifact_revision: _Maybe = _ABSENT
    evidence_refs: _Texts = _ABSENT
    causes: _Texts = _ABSENT
    supersedes: _Maybe = _ABSENT


class UtcLine(_Line, forbid_unknown_fields=True, kw_only=True, gc=False):
    schema_version: Literal["events/1"]
    recorded_at_utc: _Text
    occurred_at_utc: _Maybe = _ABSENT


class _ElapsedLine(_Line, forbid_unknown_fields=True, kw_only=True, gc=False):
    schema_version: Literal["elapsed/1"]
    recorded_minute: Annotated[int, Meta(ge=0, le=MAX_MINUTE)]
    occurred_minute: Annotated[int, Meta(ge=0, le=MAX_MINUTE)] | None = _ABSENT


_UTC_FIELDS: Final = len(UtcLine.__struct_fields__)
_ELAPSED_FIELDS: Final = len(_ElapsedLine.__struct_fields__)
_EMPTY: Final = (_NO_PAYLOAD, b"null")
_NEEDS: Final = {"artifact.published": "artifact_revision", "event.retracted": "supersedes"}
_MOST_SECONDS: Final = 8192
_MOST_BRACKETS: Final = 32  # of a payload that is read here; deeper ones are not worth it
_FRACTION: Final = tuple(10 ** (9 - digits) for digits in range(10))
_utc_line = msgspec.json.Decoder(UtcLine).decode
_elapsed_line = msgspec.json.Decoder(_ElapsedLine).decode
_json_object = msgspec.json.Decoder(dict[str, Any]).decode


class _Unproved(Exception):
    """The fast path does not know; the exact path decides."""


_UNPROVED: Final = (_Unproved, Fault, BadTime, msgspec.MsgspecError, RecursionError)


def is_plain(text: bytes) -> bool:
    """UTF-8 in which quotes delimit strings only and every key is followed by its colon."""
    if b"\\" in text or b" :" in text or b"\t:" in text or b"\r:" in text:
        return False
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class FastPath:
    """Reads plain lines; shares strings and times among the lines of one log."""

    def __init__(self, limits: Limits) -> None:
        self._id_bytes = limits.id_bytes
        self._brackets = min(limits.nesting - 1, _MOST_BRACKETS)
        self._shared: dict[str, str] = {}  # one object a repeated string
        self._seconds: dict[str, int] = {}  # a log's times repeat their seconds
        self._read = self._utc

    def event(self, line: bytes, number: int, byte_offset: int) -> Event | None:
        """The event of a plain line within the line limit; null says nothing about it."""
        try:
            return self._read(line, number, byte_offset)
        except _UNPROVED:
            pass
        reader = self._elapsed if b'"elapsed/1"' in line else self._utc
        if reader == self._read:
            return None
        self._read = reader  # as a log has one time basis, this happens once
        return self.event(line, number, byte_offset)

    def _utc(self, line: bytes, number: int, byte_offset: int) -> Event:
        read = _utc_line(line)
        occurred_at, occurred = None, None
        if read.occurred_at_utc:
            occurred_at, occurred = self._time(read.occurred_at_utc)
        recorded_at, recorded = self._time(read.recorded_at_utc)
        written = None if recorded is None and occurred is None else (recorded, occurred)
        return self._event(
            read, _UTC_FIELDS, line, recorded_at, occurred_at, written, number, byte_offset
        )

    def _elapsed(self, line: bytes, number: int, byte_offset: int) -> Event:
        read = _elapsed_line(line)
        occurred, occurred_at = read.occurred_minute, None
        if occurred is not None and occurred != _ABSENT:
            occurred_at = occurred * NS_PER_MINUTE
        recorded_at = read.recorded_minute * NS_PER_MINUTE
        return self._event(
            read, _ELAPSED_FIELDS, line, recorded_at, occurred_at, None, number, byte_offset
        )

    def _event(
        self,
        read: UtcLine | _ElapsedLine,
        fields: int,
        line: bytes,
        recorded_at: int,
        occurred_at: int | None,
        written: tuple[str | None, str | None] | None,
        number: int,
        byte_offset: int,
    ) -> Event:
        values = astuple(read)
        (event_id, sequence, kind, principal, claimed_author, relayed_by, work_id, lane_id) = (
            values[:8]
        )
        (raw, artifact_revision, evidence_refs, causes, supersedes, schema_version) = values[8:14]
        keys = fields - values.count(_ABSENT)
        if raw is _NO_RAW:
            keys, raw = keys - 1, _NO_PAYLOAD
        else:
            raw = bytes(raw)
        data: Payload = NO_DATA
        if raw not in _EMPTY:
            data, below = self._payload(kind, raw)
            keys += below
        elif kind in TYPED:
            data, raw = typed_payload(kind, {}), _NO_PAYLOAD
        else:
            raw = _NO_PAYLOAD
        if line.count(b'":') != keys:
            raise _Unproved
        if len(line) > self._id_bytes:
            self._check_ids(read)
        if kind in _NEEDS and not getattr(read, _NEEDS[kind]):
            raise _Unproved
        share = self._shared.setdefault
        # by position: keywords would cost seven times as much as all of this
        return Event(
            schema_version,
            event_id,
            sequence,
            recorded_at,
            share(kind, kind),
            occurred_at,
            share(principal, principal) if principal else None,
            share(claimed_author, claimed_author) if claimed_author else None,
            share(relayed_by, relayed_by) if relayed_by else None,
            share(work_id, work_id) if work_id else None,
            share(lane_id, lane_id) if lane_id else None,
            data,
            raw,
            share(artifact_revision, artifact_revision) if artifact_revision else None,
            evidence_refs or (),
            causes or (),
            supersedes or None,
            written,
            number,
            byte_offset,
        )

    def _payload(self, kind: str, text: bytes) -> tuple[Payload, int]:
        """The typed part, and the keys at any depth."""
        if text.count(b"{") + text.count(b"[") > self._brackets:
            raise _Unproved
        payload = _json_object(text)
        return typed_payload(kind, payload), _keys(payload)

    def _check_ids(self, read: _Line) -> None:
        ids = (
            read.event_id,
            read.principal,
            read.claimed_author,
            read.relayed_by,
            read.work_id,
            read.lane_id,
            read.artifact_revision,
            read.supersedes,
            *(read.causes or ()),
        )
        if any(id and len(id.encode()) > self._id_bytes for id in ids):
            raise _Unproved

    def _time(self, text: str) -> tuple[int, str | None]:
        """Nanoseconds, and the spelling where it is not canonical.  Raises `BadTime`."""
        second = self._seconds.get(text[:19])
        if second is None:
            second = self._new_second(text[:19])
        if text[19:] == "Z":
            return second, None
        digits = text[20:-1]
        if (
            text[19:20] == "."
            and text[-1] == "Z"
            and digits.isdigit()
            and digits.isascii()
            and len(digits) <= 9
            and digits[-1] != "0"
        ):
            return second + int(digits) * _FRACTION[len(digits)], None
        nanoseconds = parse_utc(text)
        return nanoseconds, None if format_utc(nanoseconds) == text else text

    def _new_second(self, text: str) -> int:
        if len(self._seconds) >= _MOST_SECONDS:
            self._seconds.clear()
        second = self._seconds[text] = parse_utc(f"{text}Z")
        return second


def _keys(value: dict[str, Any] | list[Any]) -> int:
    """How many keys a decoded container holds, at any depth."""
    entries, keys = (value, 0) if isinstance(value, list) else (value.values(), len(value))
    for entry in entries:
        kind = type(entry)
        if kind is dict or kind is list:
            keys += _keys(entry)
        elif kind is float and entry - entry != 0.0:
            raise _Unproved
    return keys
