"""One line to one event, judged exactly (contract, sections 1 to 3).

The exact path: it alone decides what is refused and with which code.  The fast path
of `replay.decode` only skips it where it can prove the same answer.

Order of judgement, fixed; the first that applies is reported:
1. UTF-8 (`not_utf8`; the last line may be torn inside a character), a byte-order mark
   (`bom`), a NUL byte (`nul_byte`);
2. the JSON text, in the order of the text (`replay.strictjson`), where the last line,
   if it has no newline and stops inside its value, is `truncated_input`;
3. the value is an object (`not_an_object`);
4. `schema_version`, since it says which fields there are;
5. fields that are not in the contract's table, in the order of the line;
6. the fields of the table in its order: presence, type, range, length, time;
7. what a class needs beside its payload (`artifact_revision`, `supersedes`);
8. the payload of a listed class (`bad_payload`), key by key in the table's order.

Choices where the contract is silent: the 1 KiB of an id, in UTF-8 bytes, bounds
`event_id`, `principal`, `claimed_author`, `relayed_by`, `work_id`, `lane_id`,
`artifact_revision`, the entries of `causes`, and `supersedes`; `evidence_refs` may be
longer addresses.  A pointer names the place where a
missing field would be; text that is not JSON has no pointer.
"""

from __future__ import annotations

from typing import Any, Final

from replay.errors import UsageError
from replay.event import MAX_SEQUENCE, SCHEMA_VERSIONS, Event, Record, escape_pointer
from replay.payloads import is_integer, is_number, typed_payload
from replay.strictjson import Fault, described, scan
from replay.timestamps import MAX_MINUTE, BadTime, format_utc, minutes, parse_minute, parse_utc

SPACE: Final = b" \t\r"  # JSON white space that can stand in a line
_TEXT: Final = "non-empty string"
_INTEGER: Final = f"integer 1 to {MAX_SEQUENCE}"
_MINUTE: Final = f"number from 0 to {MAX_MINUTE} with at most six decimals"
_SHARED_FIELDS: Final = frozenset(
    {
        "schema_version",
        "event_id",
        "recorded_sequence",
        "principal",
        "claimed_author",
        "relayed_by",
        "work_id",
        "lane_id",
        "type",
        "payload",
        "artifact_revision",
        "evidence_refs",
        "causes",
        "supersedes",
    }
)
_FIELDS: Final = {
    "events/1": _SHARED_FIELDS | {"recorded_at_utc", "occurred_at_utc"},
    "elapsed/1": _SHARED_FIELDS | {"recorded_minute", "occurred_minute"},
}


class Limits(Record, frozen=True):
    """What a line may cost.  `nesting` counts the event's own object as level 1."""

    line_bytes: int = 4 * 2**20
    nesting: int = 64
    id_bytes: int = 1024

    def __post_init__(self) -> None:
        if self.line_bytes < 2 or self.id_bytes < 1:
            raise UsageError("limits below 2 bytes a line or 1 byte an id admit nothing")
        if not 2 <= self.nesting <= 512:
            # libraries that read the payload again recurse, and stop near 1,000
            raise UsageError("the nesting limit is a number from 2 to 512")


DEFAULT_LIMITS: Final = Limits()


def is_blank(line: bytes) -> bool:
    """Whether a line is JSON white space only."""
    return not line.strip(SPACE)


def read_event(
    line: bytes, number: int, byte_offset: int, limits: Limits, *, last: bool = False
) -> Event:
    """The event on a line that is not blank, without its newline.

    `last` says that the input ends here and that no newline does.  Raises `Fault`.
    """
    text, torn = _text(line, last)
    try:
        scanned = scan(text, limits.nesting)
    except Fault as fault:
        if last and fault.at_end:
            raise _torn_tail(len(line)) from None
        raise
    if torn:  # a whole value, then the beginning of a character
        raise Fault("not_utf8", None, "UTF-8", "half a character after the value")
    if not isinstance(scanned.value, dict):
        raise Fault("not_an_object", "", "an object", described(scanned.value))
    return _Fields(scanned.value, scanned.literals, limits).event(number, byte_offset)


def _text(line: bytes, last: bool) -> tuple[str, bool]:
    """Step 1: the line's text, and whether the input's end tore its last character."""
    body = line.rstrip(b"\0") if last else line
    torn = False
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        torn = last and error.reason == "unexpected end of data"
        if not torn:
            found = f"byte 0x{body[error.start]:02x} at byte {error.start} of the line"
            raise Fault("not_utf8", None, "UTF-8", found) from None
        text = body[: error.start].decode()
    if text.startswith("\ufeff"):
        raise Fault("bom", None, "UTF-8 without a byte-order mark", "EF BB BF")
    if len(body) < len(line):
        raise Fault("nul_byte", None, "no NUL byte", nul_tail(len(line) - len(body)))
    if "\0" in text:
        raise Fault("nul_byte", None, "no NUL byte", f"one at byte {line.index(0)} of the line")
    return text, torn


def nul_tail(count: int) -> str:
    """The words for NUL bytes that reach to the end of the input."""
    return f"a NUL tail: {count} NUL {'byte' if count == 1 else 'bytes'} to the end of the input"


def _torn_tail(length: int) -> Fault:
    return Fault(
        "truncated_input",
        None,
        "a whole JSON value and a newline",
        f"a torn tail: the input ends inside a value, {length} bytes into its last line",
    )


class _Fields:
    """Steps 4 to 8: the members of one line's object."""

    def __init__(self, members: dict[str, Any], literals: dict[str, str], limits: Limits) -> None:
        self.members = members
        self.literals = literals
        self.limits = limits

    def event(self, line: int, byte_offset: int) -> Event:
        schema_version = self.schema_version()
        self.no_unknown_field(schema_version)
        time = self.utc if schema_version == "events/1" else self.minute
        suffix = "at_utc" if schema_version == "events/1" else "minute"
        event_id = self.required("event_id")
        sequence = self.sequence()
        recorded_at, recorded = time(f"recorded_{suffix}", required=True)
        assert recorded_at is not None  # required
        occurred_at, occurred = time(f"occurred_{suffix}")
        principal = self.id("principal")
        claimed_author = self.id("claimed_author")
        relayed_by = self.id("relayed_by")
        work_id = self.id("work_id")
        lane_id = self.id("lane_id")
        kind = self.string("type")
        if kind is None:
            raise self.missing("type", _TEXT)
        payload, payload_json = self.payload()
        artifact_revision = self.id("artifact_revision")
        evidence_refs = self.strings("evidence_refs", "array of strings")
        causes = self.strings("causes", "array of event ids", ids=True)
        supersedes = self.id("supersedes")
        if kind == "artifact.published" and artifact_revision is None:
            raise self.missing("artifact_revision", f"{_TEXT}, as {kind} needs one")
        if kind == "event.retracted" and supersedes is None:
            raise self.missing("supersedes", f"event id, as {kind} needs one")
        return Event(
            schema_version=schema_version,
            event_id=event_id,
            recorded_sequence=sequence,
            recorded_at=recorded_at,
            type=kind,
            occurred_at=occurred_at,
            principal=principal,
            claimed_author=claimed_author,
            relayed_by=relayed_by,
            work_id=work_id,
            lane_id=lane_id,
            data=typed_payload(kind, payload),
            payload_json=payload_json,
            artifact_revision=artifact_revision,
            evidence_refs=evidence_refs,
            causes=causes,
            supersedes=supersedes,
            written=None if recorded is None and occurred is None else (recorded, occurred),
            line=line,
            byte_offset=byte_offset,
        )

    def schema_version(self) -> str:
        known = " or ".join(SCHEMA_VERSIONS)
        version = self.members.get("schema_version")
        if version is None:
            raise self.missing("schema_version", known)
        if not isinstance(version, str) or not version:
            raise self.wrong_type("schema_version", _TEXT if version == "" else known)
        if version not in SCHEMA_VERSIONS:
            pointer = "/schema_version"
            raise Fault("unknown_schema_version", pointer, known, described(version))
        return version

    def no_unknown_field(self, schema_version: str) -> None:
        for name, value in self.members.items():
            is_absent = value is None and any(name in fields for fields in _FIELDS.values())
            if name not in _FIELDS[schema_version] and not is_absent:
                raise Fault(
                    "unknown_field",
                    f"/{escape_pointer(name)}",
                    f"a field of {schema_version}",
                    described(self.members[name], self.literals[name]),
                )

    def string(self, name: str) -> str | None:
        value = self.members.get(name)
        if value is None or (isinstance(value, str) and value):
            return value
        raise self.wrong_type(name, _TEXT)

    def id(self, name: str) -> str | None:
        value = self.string(name)
        if value is not None:
            self.check_length(value, f"/{name}")
        return value

    def required(self, name: str) -> str:
        value = self.id(name)
        if value is None:
            raise self.missing(name, _TEXT)
        return value

    def check_length(self, value: str, pointer: str) -> None:
        length = len(value.encode())
        if length > self.limits.id_bytes:
            expected = f"an id of at most {self.limits.id_bytes} bytes"
            raise Fault("id_too_long", pointer, expected, f"{length} bytes")

    def sequence(self) -> int:
        value = self.members.get("recorded_sequence")
        if value is None:
            raise self.missing("recorded_sequence", _INTEGER)
        if not is_integer(value):
            raise self.wrong_type("recorded_sequence", _INTEGER)
        if not 1 <= value <= MAX_SEQUENCE:
            raise self.fault("number_out_of_range", "recorded_sequence", _INTEGER)
        return int(value)

    def utc(self, name: str, *, required: bool = False) -> tuple[int | None, str | None]:
        """Nanoseconds, and the spelling where it is not the canonical one."""
        value = self.members.get(name)
        if value is None and not required:
            return None, None
        if value is None:
            raise self.missing(name, "RFC 3339 time")
        if not isinstance(value, str) or not value:
            raise self.wrong_type(name, _TEXT if value == "" else "RFC 3339 time")
        try:
            nanoseconds = parse_utc(value)
        except BadTime as bad:
            raise self.fault("bad_time", name, bad.expected) from None
        return nanoseconds, None if format_utc(nanoseconds) == value else value

    def minute(self, name: str, *, required: bool = False) -> tuple[int | None, int | float | None]:
        """Nanoseconds, and the number where its JSON type is not the canonical one."""
        value = self.members.get(name)
        if value is None and not required:
            return None, None
        if value is None:
            raise self.missing(name, _MINUTE)
        if not is_number(value):
            raise self.wrong_type(name, _MINUTE)
        if not 0 <= value <= MAX_MINUTE:
            raise self.fault("number_out_of_range", name, _MINUTE)
        try:
            nanoseconds = parse_minute(self.literals[name])
        except BadTime:
            raise self.fault("bad_time", name, _MINUTE) from None
        return nanoseconds, None if type(minutes(nanoseconds)) is type(value) else value

    def payload(self) -> tuple[dict[str, Any], bytes]:
        """The payload's value and its text as written; nothing written is `{}`."""
        value = self.members.get("payload")
        if value is None:
            return {}, b"{}"
        if not isinstance(value, dict):
            raise self.wrong_type("payload", "an object")
        return value, self.literals["payload"].encode()

    def strings(self, name: str, expected: str, *, ids: bool = False) -> tuple[str, ...]:
        value = self.members.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.wrong_type(name, expected)
        for index, entry in enumerate(value):
            pointer = f"/{name}/{index}"
            if not isinstance(entry, str) or not entry:
                raise Fault("wrong_type", pointer, _TEXT, described(entry))
            if ids:
                self.check_length(entry, pointer)
        return tuple(value)

    def missing(self, name: str, expected: str) -> Fault:
        found = "null" if name in self.members else "nothing"
        return Fault("missing_field", f"/{name}", expected, found)

    def wrong_type(self, name: str, expected: str) -> Fault:
        return self.fault("wrong_type", name, expected)

    def fault(self, code: str, name: str, expected: str) -> Fault:
        found = described(self.members[name], self.literals[name])
        return Fault(code, f"/{name}", expected, found)
