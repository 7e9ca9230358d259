"""Documents that were printed once, read back strictly, and compared value by value.

A recorded document comes from anybody.  It is one JSON text of UTF-8 that canonical JSON can
write (no repeated key, no lone surrogate, no number that a double does not hold) or it is
refused with what is wrong.  Its kind is what its member `document` says.

To be derived again it must say of what and how (`about`); to be compared with another,
answer for answer, it must have the form of a projection exactly (`projection_of`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final, Literal, TypeAlias

import msgspec

from replay.canonical import encode
from replay.errors import FileError, quoted
from replay.event import Record, escape_pointer

PROJECTION: Final = "replay.projection/1"
CHECK: Final = "replay.check/1"
Json: TypeAlias = Any


class _Problem(ValueError):
    pass


def read(file: str, data: bytes, kinds: tuple[str, ...] = (PROJECTION, CHECK)) -> Json:
    """The document in `data`, of one of these kinds.  Raises `FileError` that names `file`."""
    try:
        document = _parsed(data)
        if not isinstance(document, dict):
            raise _Problem("expected a JSON object")
        kind = document.get("document")
        if kind not in kinds:
            found = quoted(kind) if isinstance(kind, str) else "none"
            raise _Problem(f"expected a document {' or '.join(kinds)}, found {found}")
        return document
    except _Problem as problem:
        raise FileError(file, f"not a recorded document: {problem}") from None


def _parsed(data: bytes) -> Json:
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_float=_number,
            parse_constant=_no_constant,
        )
        encode(value)  # refuses lone surrogates and integers that no double holds
        return value
    except _Problem:
        raise
    except UnicodeDecodeError as bad:
        raise _Problem(f"byte 0x{data[bad.start]:02x} at {bad.start} is not UTF-8") from None
    except json.JSONDecodeError as bad:
        raise _Problem(f"{bad.msg} at line {bad.lineno} column {bad.colno}") from None
    except RecursionError:
        raise _Problem("nested too deeply") from None
    except ValueError:  # of the encoder; also of an integer of thousands of digits
        raise _Problem("a value that canonical JSON cannot write") from None


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Problem(f"the key {quoted(twice)} twice in one object")
    return found


def _number(literal: str) -> float:
    value = float(literal)
    if not isfinite(value):
        raise _Problem("a number that no double holds")
    return value


def _no_constant(literal: str) -> Json:
    raise _Problem(f"{literal}, which is not JSON")


# Comparing -------------------------------------------------------------------------------


class Unequal(Record, frozen=True):
    """Two documents at a JSON pointer; [] where one has nothing there, else its value."""

    pointer: str
    one: tuple[Json, ...]
    other: tuple[Json, ...]


def unequal(one: Json, other: Json, pointer: str = "") -> Iterator[Unequal]:
    """Where two documents differ, in order of canonical keys; equal numbers are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            below = f"{pointer}/{escape_pointer(key)}"
            yield from _member(one, other, key, key in one, key in other, below)
    elif isinstance(one, list) and isinstance(other, list):
        for index in range(max(len(one), len(other))):
            below = f"{pointer}/{index}"
            yield from _member(one, other, index, index < len(one), index < len(other), below)
    elif one != other or isinstance(one, bool) != isinstance(other, bool):  # True is 1, to Python
        yield Unequal(pointer, (one,), (other,))


def _member(
    one: Any, other: Any, key: Any, in_one: bool, in_other: bool, pointer: str
) -> Iterator[Unequal]:
    if in_one and in_other:
        yield from unequal(one[key], other[key], pointer)
    else:
        yield Unequal(pointer, (one[key],) if in_one else (), (other[key],) if in_other else ())


# Forms -----------------------------------------------------------------------------------

_Time: TypeAlias = int | float | str | None


class _Exact(msgspec.Struct, forbid_unknown_fields=True):
    """No member but these."""


class _Cutoff(msgspec.Struct):
    sequence: int | None
    recorded: _Time


class _Rules(msgspec.Struct):
    id: str
    digest: str


class _Input(msgspec.Struct):
    name: str
    sha256: str
    complete: bool


class _Tool(msgspec.Struct):
    version: str


class About(msgspec.Struct):
    """What a projection document says of what it was derived from, and how."""

    tool: _Tool
    input: _Input
    rules: _Rules
    cutoff: _Cutoff


def about(file: str, projection: Json, pointer: str = "") -> About:
    """What must be known to derive it again.  Raises `FileError`."""
    found: About = _of_form(file, projection, About, pointer)
    return found


class _Mark(_Exact):
    event_id: str
    time: int | float | str


class _Progress(_Exact):
    event_id: str
    time: int | float | str
    rule: str


class _Derived(_Exact):
    value: str | None
    since: _Mark | None
    rule: str
    evidence: list[str]


class _Clocks(_Exact):
    last_message: _Mark
    last_progress: _Progress | None
    blocked_since: _Mark | None


class _End(_Exact):
    kind: Literal["recovered", "cancelled", "cancelled_with_work", "censored"]
    by: _Mark | msgspec.UnsetType = msgspec.UNSET
    evidence: list[str] | msgspec.UnsetType = msgspec.UNSET
    at: int | float | str | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        given = [part is not msgspec.UNSET for part in (self.by, self.evidence, self.at)]
        if given != ([False, False, True] if self.kind == "censored" else [True, True, False]):
            raise ValueError(f"the members of an end that is {self.kind}")


class _Episode(_Exact):
    blocker_id: str | None
    opened: _Mark
    repeats: list[str]
    end: _End
    elapsed_seconds: int | float


class _Receipt(_Exact):
    event_id: str
    type: str
    check: str | None
    source: str | None
    outcome: str
    revision: str | None
    status: str
    principal: str | None


class _Claim(_Exact):
    event_id: str
    claim: str
    verdict: str
    evidence: list[str]
    missing: list[str]
    rule: str


class _Correction(_Exact):
    event_id: str
    target: str
    status: str
    reason: str | None


class _Anomaly(_Exact):
    code: str
    event_id: str
    related: list[str]


class _Item(_Exact):
    work_id: str
    state: _Derived
    revision: _Derived
    clocks: _Clocks
    episodes: list[_Episode] | None
    receipts: list[_Receipt] | None
    claims: list[_Claim] | None
    corrections: list[_Correction] | None
    anomalies: list[_Anomaly]
    flags: list[str]
    undetermined_by: list[str]
    authorization: str


class _Unassigned(_Exact):
    events: int
    last_message: _Mark | None
    anomalies: list[_Anomaly]


class _Uncovered(_Exact):
    event_id: str
    type: str
    work_id: str | None


class _Projection(_Exact):
    document: Literal["replay.projection/1"]
    tool: dict[str, Any]
    input: dict[str, Any]
    rules: dict[str, Any]
    cutoff: dict[str, Any]
    accounting: dict[str, Any]
    items: list[_Item]
    unassigned: _Unassigned
    uncovered: list[_Uncovered]


def projection_of(file: str, document: Json) -> Json:
    """The projection that a document is, or that its one log has.  Raises `FileError`."""
    found, pointer = document, ""
    if document["document"] == CHECK:
        logs = document.get("logs")
        if not isinstance(logs, list) or len(logs) != 1 or not isinstance(logs[0], dict):
            raise FileError(file, "to be compared, a replay.check/1 is of exactly one log")
        found, pointer = logs[0].get("projection"), "/logs/0/projection"
        if found is None:
            raise FileError(file, "its log was refused, so there is no answer to compare")
    _of_form(file, found, _Projection, pointer)
    about(file, found, pointer)
    return found


def _of_form(file: str, document: Json, form: type[Any], pointer: str) -> Any:
    try:
        return msgspec.convert(document, type=form, strict=True)
    except msgspec.ValidationError as problem:
        where = f" at {pointer}" if pointer else ""
        raise FileError(file, f"not a recorded projection{where}: {problem}") from None
