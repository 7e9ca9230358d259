"""The event envelope and its payload classes (contract, sections 1 and 2).

An `Event` is one admitted line as a frozen record.  Its times are integers of
nanoseconds: since 1970-01-01T00:00:00Z for `events/1`, since the log began for
`elapsed/1`.  `data` is the typed part of the payload that rules may read;
`payload_json` is the whole payload as written, for equality and for display.
Free text (`reason`, `description`, notes) is never consulted by a rule.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

import msgspec

MAX_SEQUENCE: Final = 2**53 - 1
SCHEMA_VERSIONS: Final = ("events/1", "elapsed/1")
TimeBasis: TypeAlias = Literal["utc", "elapsed"]

WORK_STATES: Final = ("proposed", "active", "blocked", "awaiting_review", "complete", "cancelled")
CHECK_OUTCOMES: Final = (
    "passed",
    "failed",
    "errored",
    "cancelled",
    "skipped",
    "neutral",
    "timed_out",
    "action_required",
)
REVIEW_OUTCOMES: Final = ("approved", "changes_requested", "commented", "dismissed")

APPLIED_TYPES: Final = frozenset(
    {
        "work.proposed",
        "work.started",
        "work.reopened",
        "work.completed",
        "work.cancelled",
        "artifact.published",
        "check.completed",
        "blocker.raised",
        "blocker.resolved",
        "blocker.cancelled",
        "review.requested",
        "review.completed",
        "status.asserted",
        "event.retracted",
    }
)
"""The classes that a rule set may read.  Every other type, listed or not, is inert."""

LISTED_INERT_TYPES: Final = frozenset(
    {
        "heartbeat",
        "note",
        "cost.recorded",
        "observation.reported",
        "refusal.recorded",
        "authorization.granted",
        "authorization.revoked",
        "action.requested",
        "action.executed",
        "action.denied",
    }
)


def whole_number(literal: str) -> int | Decimal:
    """An integer literal's value, exact; a `Decimal` where Python will not convert it."""
    try:
        return int(literal)
    except ValueError:  # more digits than sys.get_int_max_str_digits()
        return Decimal(literal)


class Record(msgspec.Struct, frozen=True):
    """Base of every frozen record here; cheap to import, compared by value."""


class NoData(Record, frozen=True):
    """A payload of which no rule reads anything."""


class Check(Record, frozen=True):
    """`check.completed`; `source` is the system that ran the check, never the run."""

    check: str
    outcome: str
    source: str | None = None

    @property
    def local(self) -> bool:
        """Whether the author's own machine ran it (`local`, in any letter case)."""
        return self.source is not None and self.source.lower() == "local"


class Blocker(Record, frozen=True):
    """`blocker.raised`, `blocker.resolved`, `blocker.cancelled`; no id is an id of its own."""

    blocker_id: str | None = None


class ReviewRequest(Record, frozen=True):
    """`review.requested`: the readiness claim and the checks it adds to those that decide."""

    requires: tuple[str, ...] = ()


class Review(Record, frozen=True):
    """`review.completed`."""

    outcome: str


class StatusAssertion(Record, frozen=True):
    """`status.asserted`: what somebody says the state is, or was at an earlier sequence."""

    state: str
    revision: str | None = None
    as_of_sequence: int | None = None


class Stated(Record, frozen=True):
    """A payload whose only data is a stated reason; shown with corrections, never read."""

    reason: str | None = None


Payload: TypeAlias = NoData | Check | Blocker | ReviewRequest | Review | StatusAssertion | Stated
NO_DATA: Final = NoData()


class Event(Record, frozen=True):
    """One line of a log.

    `recorded_at` and `occurred_at` are nanoseconds (see the module).  `written`
    holds the two time values as the line spelled them, where that is not the
    canonical spelling, so that exact duplicates can be told from re-spelled ones.
    `line` (from 1) and `byte_offset` say where the event was read.
    """

    schema_version: str
    event_id: str
    recorded_sequence: int
    recorded_at: int
    type: str
    occurred_at: int | None = None
    principal: str | None = None
    claimed_author: str | None = None
    relayed_by: str | None = None
    work_id: str | None = None
    lane_id: str | None = None
    data: Payload = NO_DATA
    payload_json: bytes = b"{}"
    artifact_revision: str | None = None
    evidence_refs: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    supersedes: str | None = None
    written: tuple[str | float | None, str | float | None] | None = None
    line: int = 0
    byte_offset: int = 0

    @property
    def inert(self) -> bool:
        """Whether no rule set reads this class (it still counts as a message)."""
        return self.type not in APPLIED_TYPES

    @property
    def time_basis(self) -> TimeBasis:
        return "utc" if self.schema_version == "events/1" else "elapsed"

    @property
    def payload(self) -> dict[str, Any]:
        """The whole payload, decoded afresh; large integers are kept."""
        value: dict[str, Any] = json.loads(self.payload_json, parse_int=whole_number)
        return value


class Source(Record, frozen=True, kw_only=True):
    """What one input file held: its events in line order, and the account of its lines.

    `sha256` is of the raw bytes as stored.  `lines` counts every line, also blank
    and quarantined ones.  `complete` is false after a recovery that lost a line.
    """

    name: str
    sha256: str
    events: tuple[Event, ...]
    lines: int
    blank: int = 0
    quarantined: int = 0
    complete: bool = True


def differences(first: Event, second: Event) -> tuple[str, ...]:
    """JSON pointers, in the order of the contract's table, at which two lines' values differ.

    Compared after the envelope's nulls and defaults are filled in, and strictly by
    type: an integer never equals a float, nor either of them a boolean or null.
    """
    found: list[str] = []
    recorded, occurred = (
        ("recorded_at_utc", "occurred_at_utc")
        if first.time_basis == "utc"
        else ("recorded_minute", "occurred_minute")
    )
    first_written = first.written or (None, None)
    second_written = second.written or (None, None)
    pairs: tuple[tuple[str, object, object], ...] = (
        ("schema_version", first.schema_version, second.schema_version),
        ("event_id", first.event_id, second.event_id),
        ("recorded_sequence", first.recorded_sequence, second.recorded_sequence),
        (
            recorded,
            (first.recorded_at, first_written[0]),
            (second.recorded_at, second_written[0]),
        ),
        (
            occurred,
            (first.occurred_at, first_written[1]),
            (second.occurred_at, second_written[1]),
        ),
        ("principal", first.principal, second.principal),
        ("claimed_author", first.claimed_author, second.claimed_author),
        ("relayed_by", first.relayed_by, second.relayed_by),
        ("work_id", first.work_id, second.work_id),
        ("lane_id", first.lane_id, second.lane_id),
        ("type", first.type, second.type),
    )
    found += [f"/{name}" for name, one, other in pairs if one != other]
    if first.payload_json != second.payload_json:
        pointer = first_difference(first.payload, second.payload, "/payload")
        if pointer is not None:
            found.append(pointer)
    links: tuple[tuple[str, object, object], ...] = (
        ("artifact_revision", first.artifact_revision, second.artifact_revision),
        ("evidence_refs", first.evidence_refs, second.evidence_refs),
        ("causes", first.causes, second.causes),
        ("supersedes", first.supersedes, second.supersedes),
    )
    found += [f"/{name}" for name, one, other in links if one != other]
    return tuple(found)


def first_difference(first: object, second: object, pointer: str) -> str | None:
    """Where two decoded JSON values first differ, strictly by type; null where they are equal."""
    if type(first) is not type(second):
        return pointer
    if isinstance(first, dict) and isinstance(second, dict):
        for key in [*first, *(key for key in second if key not in first)]:
            below = f"{pointer}/{escape_pointer(key)}"
            if key not in first or key not in second:
                return below
            deeper = first_difference(first[key], second[key], below)
            if deeper is not None:
                return deeper
        return None
    if isinstance(first, list) and isinstance(second, list):
        for index in range(max(len(first), len(second))):
            below = f"{pointer}/{index}"
            if index >= len(first) or index >= len(second):
                return below
            deeper = first_difference(first[index], second[index], below)
            if deeper is not None:
                return deeper
        return None
    return None if first == second else pointer


def escape_pointer(key: str) -> str:
    """One reference token of an RFC 6901 JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")
