"""The register: what somebody who is not the log knows to have been begun.

A log cannot say what it does not hold.  A register can, and so it is what tells work that
left no event from work that there never was.  It is read as strictly as a log is: its times
are those of the event contract, on one basis, kept as integers of nanoseconds.

A registered work item is *due* unless its own times say that the logs need not hold it: it
was opened after observation ended, or closed before the window began.  Not knowing when is
no excuse: it is due.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, Literal, TypeAlias

from study.beside import BadFile, Cells, file_read, once, shown, table
from study.estimates import Record
from study.result import FileRead, RegisterFlow
from study.rows import Basis

Kind: TypeAlias = Literal["work", "action", "result"]

COLUMNS: Final = ("kind", "id", "opened_at", "closed_at", "lane")
WORK: Final[tuple[Kind, ...]] = ("work",)
RECEIPTS: Final[tuple[Kind, ...]] = ("action", "result")
KINDS: Final = WORK + RECEIPTS
NOT_YET_OPENED: Final = "not yet opened by the cutoff"
CLOSED_BEFORE: Final = "closed before the window"


class Entry(Record, frozen=True, kw_only=True):
    """One registered thing: `id` is a work id, else an event id.

    Times are nanoseconds on the register's basis, null where they are not known.
    """

    kind: Kind
    id: str
    opened_at: int | None
    closed_at: int | None
    lane: str | None
    line: int


class Register(Record, frozen=True):
    """A register, in the file's order.  `basis` is null where it has no time at all."""

    read: FileRead
    entries: tuple[Entry, ...]
    basis: Basis | None


class Due(Record, frozen=True):
    """Registered work items: those that the logs should hold, and the others by reason."""

    due: tuple[Entry, ...]
    not_due: Mapping[str, tuple[Entry, ...]]


def read_register(name: str, data: bytes) -> Register:
    """CSV of `kind,id,opened_at,closed_at,lane`, one row a thing.  Raises `BadFile`.

    A time is RFC 3339 with an offset, or minutes since the log began; empty is not known.
    """
    entries: list[Entry] = []
    lines: dict[tuple[Kind, str], int] = {}
    bases: dict[Basis, int] = {}
    for row in table(name, data, COLUMNS):
        entry = _entry(row, bases)
        once(lines, (entry.kind, entry.id), row, "id", f"as {entry.kind}")
        entries.append(entry)
    return Register(file_read(name, data, len(entries)), tuple(entries), next(iter(bases), None))


def _entry(row: Cells, bases: dict[Basis, int]) -> Entry:
    entry = Entry(
        kind=row.one_of("kind", KINDS),
        id=row.filled("id", "an id"),
        opened_at=_time(row, "opened_at", bases),
        closed_at=_time(row, "closed_at", bases),
        lane=row.of["lane"] or None,
        line=row.line,
    )
    if _is_before(entry.closed_at, entry.opened_at):
        expected = f"opened_at, {shown(row.of['opened_at'])}, or later"
        raise row.bad("closed_at", shown(row.of["closed_at"]), expected)
    return entry


# What is due


def due(
    register: Register, observed: int | None, basis: Basis | None, window_from: int | None
) -> Due:
    """Which registered work items the logs should hold.

    `observed` (where observation ended) and `window_from` are on the logs' `basis`, which is
    null where the logs are empty: nothing is then excused.  Raises `BadFile` for a register
    that has times on another basis.
    """
    return _split(register, WORK, observed, basis, window_from)


def flow(
    register: Register,
    recorded_work_ids: Collection[str],
    event_ids: Collection[str],
    observed: int | None,
    basis: Basis | None,
    window_from: int | None,
) -> RegisterFlow:
    """How registered and recorded work meet; ids are in alphabetical order.

    `recorded_work_ids` and `event_ids` are those of the logs.  A registered action or result
    that is due as work is, and is none of their events, is missing.  Raises `BadFile` as
    `due` does.
    """
    split = due(register, observed, basis, window_from)
    receipts = _split(register, RECEIPTS, observed, basis, window_from)
    recorded, events = frozenset(recorded_work_ids), frozenset(event_ids)
    registered = {entry.id for entry in register.entries if entry.kind in WORK}
    owed = {entry.id for entry in split.due}
    held, omitted = owed & recorded, owed - recorded
    assert len(split.due) == len(held) + len(omitted)  # an id is registered once
    missing = {(entry.kind, entry.id) for entry in receipts.due if entry.id not in events}
    return RegisterFlow(
        due=len(split.due),
        recorded=len(held),
        omitted=tuple(sorted(omitted)),
        not_due={reason: len(entries) for reason, entries in split.not_due.items()},
        unregistered=tuple(sorted(recorded - registered)),
        missing_events=tuple(sorted(missing)),
    )


def _split(
    register: Register,
    kinds: Collection[Kind],
    observed: int | None,
    basis: Basis | None,
    window_from: int | None,
) -> Due:
    _check_basis(register, basis)
    if basis is None:
        observed = window_from = None
    kept: list[Entry] = []
    others: dict[str, list[Entry]] = {}
    for entry in register.entries:
        if entry.kind in kinds:
            excuse = _excuse(entry, observed, window_from)
            (kept if excuse is None else others.setdefault(excuse, [])).append(entry)
    return Due(tuple(kept), {reason: tuple(others[reason]) for reason in sorted(others)})


def _excuse(entry: Entry, observed: int | None, window_from: int | None) -> str | None:
    if _is_before(observed, entry.opened_at):
        return NOT_YET_OPENED
    if _is_before(entry.closed_at, window_from):
        return CLOSED_BEFORE
    return None


def _is_before(earlier: int | None, later: int | None) -> bool:
    return earlier is not None and later is not None and earlier < later


def _check_basis(register: Register, basis: Basis | None) -> None:
    if register.basis is None or basis is None or register.basis == basis:
        return
    for entry in register.entries:
        column = _timed(entry)
        if column is not None:
            found, expected = _SPELLING[register.basis], f"{_SPELLING[basis]}, as in the logs"
            raise BadFile(register.read.name, entry.line, column, found, expected)


def _timed(entry: Entry) -> str | None:
    """The first column that says when, if any does."""
    if entry.opened_at is not None:
        return "opened_at"
    return None if entry.closed_at is None else "closed_at"


# Times

_NS_PER_SECOND: Final = 1_000_000_000
_NS_PER_MICRO_MINUTE: Final = 60_000
_MAX_MINUTE: Final = 153_722_867  # the last whole minute that 63 bits of nanoseconds hold
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_YEARS: Final = range(1678, 2262)  # those that 63 bits of nanoseconds hold

# [0-9], not \d, which takes other scripts' digits
_UTC: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]{1,9}))?(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)
_MINUTE: Final = re.compile(r"(0|[1-9][0-9]{0,8})(?:\.([0-9]{1,6}))?")
_SPELLING: Final[Mapping[Basis, str]] = {
    "utc": "a time with date and offset",
    "elapsed": "minutes since the log began",
}
_TIME: Final = (
    "RFC 3339 with T, seconds, at most nine fraction digits, and Z or ±hh:mm, in the years 1678"
    f" to 2261; or minutes since the log began, from 0 to {_MAX_MINUTE} with at most six"
    " decimals; or nothing"
)


def _time(row: Cells, column: str, bases: dict[Basis, int]) -> int | None:
    """Nanoseconds, or None for an empty cell; `bases` says where each basis was met first."""
    text = row.of[column]
    if not text:
        return None
    basis: Basis = "utc" if "T" in text else "elapsed"
    time = _utc(text) if basis == "utc" else _elapsed(text)
    if time is None:
        raise row.bad(column, shown(text), _TIME)
    bases.setdefault(basis, row.line)
    for other, line in bases.items():
        if other != basis:
            raise row.bad(column, shown(text), f"{_SPELLING[other]}, as on line {line}")
    return time


def _utc(text: str) -> int | None:
    """Nanoseconds since 1970 in UTC, or None for what the contract refuses."""
    match = _UTC.fullmatch(text)
    if match is None:
        return None
    *parts, fraction, sign, hours, minutes = match.groups()
    year, month, day, hour, minute, second = map(int, parts)
    if year not in _YEARS:
        return None
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    if sign is not None:
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        moment += -offset if sign == "+" else offset
    if moment.year not in _YEARS:
        return None
    seconds = (moment - _EPOCH) // timedelta(seconds=1)
    return seconds * _NS_PER_SECOND + int((fraction or "").ljust(9, "0"))


def _elapsed(text: str) -> int | None:
    """Nanoseconds since the log began, or None for no such number of minutes."""
    match = _MINUTE.fullmatch(text)
    if match is None:
        return None
    micro_minutes = int(match[1]) * 1_000_000 + int((match[2] or "").ljust(6, "0"))
    return micro_minutes * _NS_PER_MICRO_MINUTE if micro_minutes <= _MAX_MINUTE * 10**6 else None
