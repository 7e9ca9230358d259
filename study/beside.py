"""The files beside the logs: what was accessible, who was assigned, what an import lost.

They are written by hand, by spreadsheets and by other programs, and they decide what a
number counts.  So they are read strictly: what is not exactly as described is refused, with
the line.  Nothing is guessed and nothing is repaired, but for a byte order mark, which
spreadsheets write.  A cell is data, whatever it looks like: an apostrophe in front of a
formula stays, and an id that is a formula or an escape sequence is only an id.

(`study.register` reads the register.)
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

import msgspec

from study.estimates import MethodError, Record
from study.files import MAX_BYTES, spelled
from study.result import FileRead, Loss

SHOWN: Final = 80
"""How many characters of somebody else's text a sentence holds."""

AccessStatus: TypeAlias = Literal["accessible", "inaccessible", "inapplicable"]

_Key = TypeVar("_Key")
_Word = TypeVar("_Word", bound=str)


class BadFile(MethodError):
    """A file that is refused.  `line` counts from 1, and is None for all of it.

    `column` is the one that is wrong, None where it is not one alone; `found` and `expected`
    are clauses, in which text of the file is quoted by `shown`.
    """

    def __init__(
        self, name: str, line: int | None, column: str | None, found: str, expected: str
    ) -> None:
        self.name = name
        self.line = line
        self.column = column
        self.found = found
        self.expected = expected
        where = spelled(name) if line is None else f"{spelled(name)}:{line}"
        what = "" if column is None else f"{column}: "
        super().__init__(f"{where}: {what}found {found}, expected {expected}")


class Access(Record, frozen=True):
    """Whether what an evidence reference names could be read, by reference."""

    read: FileRead
    statuses: Mapping[str, AccessStatus]


class Assignment(Record, frozen=True):
    """The arm of every assigned work item, by log and id; log None is whichever."""

    read: FileRead
    by_item: Mapping[tuple[str | None, str], str]

    @property
    def arms(self) -> tuple[str, ...]:
        """Every arm, at least two, in alphabetical order."""
        return tuple(sorted(set(self.by_item.values())))

    def arm_of(self, log: str, work_id: str) -> str | None:
        """The arm of a work item of a log, or None where it was not assigned."""
        return self.by_item.get((log, work_id), self.by_item.get((None, work_id)))


class Cells(Record, frozen=True):
    """A record of a CSV file: the line that it begins on, and its cells by column."""

    name: str
    line: int
    of: Mapping[str, str]

    def bad(self, column: str, found: str, expected: str) -> BadFile:
        return BadFile(self.name, self.line, column, found, expected)

    def filled(self, column: str, what: str) -> str:
        """The cell, which must not be empty."""
        if not self.of[column]:
            raise self.bad(column, "nothing", what)
        return self.of[column]

    def one_of(self, column: str, words: Collection[_Word]) -> _Word:
        """The cell, which must be one of some words."""
        for word in words:
            if self.of[column] == word:
                return word
        raise self.bad(column, shown(self.of[column]), _either(words))


def shown(text: str) -> str:
    """Text of a file as a sentence has it: quoted, escaped where it would not show, and cut."""
    whole = repr(text[: SHOWN + 1])  # never shorter than the text
    return whole if len(whole) <= SHOWN else f"{whole[: SHOWN - 1]}…"


def file_read(name: str, data: bytes, rows: int) -> FileRead:
    return FileRead(name=name, sha256=hashlib.sha256(data).hexdigest(), rows=rows)


def read_access(name: str, data: bytes) -> Access:
    """CSV of `ref,status`, one row a reference.  Raises `BadFile`."""
    statuses: dict[str, AccessStatus] = {}
    lines: dict[str, int] = {}
    words: tuple[AccessStatus, ...] = ("accessible", "inaccessible", "inapplicable")
    for row in table(name, data, ("ref", "status")):
        ref = row.filled("ref", "a reference")
        status = row.one_of("status", words)
        detail = "with the same status" if statuses.get(ref) == status else "with another status"
        once(lines, ref, row, "ref", detail)
        statuses[ref] = status
    return Access(file_read(name, data, len(statuses)), statuses)


def read_assignment(name: str, data: bytes) -> Assignment:
    """CSV of `work_id,arm`, and `log` if need be; at least two arms.  Raises `BadFile`.

    One id in two logs is two work items; where no log is said it is one, in whichever.
    """
    by_item: dict[tuple[str | None, str], str] = {}
    lines: dict[str, dict[str | None, int]] = {}
    for row in table(name, data, ("work_id", "arm"), ("log",)):
        work_id, arm = row.filled("work_id", "a work item"), row.filled("arm", "an arm")
        log = row.of.get("log") or None
        _assigned_once(lines.setdefault(work_id, {}), log, row)
        by_item[log, work_id] = arm
    assignment = Assignment(file_read(name, data, len(by_item)), by_item)
    if len(assignment.arms) < 2:
        found = "".join(f"only {shown(arm)}" for arm in assignment.arms) or "no row"
        raise BadFile(name, None, "arm", found, "at least two arms")
    return assignment


def _assigned_once(before: dict[str | None, int], log: str | None, row: Cells) -> None:
    """Refuse what was assigned on an earlier line, by name or with whichever log."""
    if log is None and before:
        before = {None: next(iter(before.values()))}
    elif None in before:
        before = {log: before[None]}
    once(before, log, row, "work_id")


def read_losses(name: str, data: bytes) -> tuple[Loss, ...]:
    """The `replay.losses/1` document that an importer wrote.  Raises `BadFile`.

    `why` is empty where an unavailable answer has no words but its name.
    """
    document = _document(name, data)
    lost = [Loss(name=loss.field, why=loss.reason) for loss in document.losses]
    parts = [answer.partition(": ") for answer in document.unavailable]
    return (*lost, *(Loss(name=answer, why=why) for answer, _, why in parts))


def _document(name: str, data: bytes) -> _Document:
    _decoded(name, data)
    try:
        document = msgspec.json.decode(data, type=_Document)
        json.loads(data, object_pairs_hook=_without_repeats)
    except msgspec.ValidationError as problem:
        what, _, path = str(problem).rpartition(" - at ")
        found, column = (what, path.strip("`")) if _PATH.fullmatch(path) else (str(problem), None)
        raise BadFile(name, None, column, shown(found), _LOSSES) from None
    except (msgspec.DecodeError, _Repeated) as problem:
        at = _BYTE.search(str(problem))
        line = None if at is None else _line_at(data, int(at[1]))
        raise BadFile(name, line, None, shown(str(problem)), _LOSSES) from None
    return document


_LOSSES: Final = "a replay.losses/1 document"
_PATH: Final = re.compile(r"`\$[][A-Za-z0-9._]*`")
_BYTE: Final = re.compile(r"\(byte ([0-9]{1,9})\)\Z")
_Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]


class _Lost(Record, frozen=True, forbid_unknown_fields=True):
    field: _Text
    count: Annotated[int, msgspec.Meta(ge=1)]
    reason: _Text


class _Document(Record, frozen=True, forbid_unknown_fields=True):
    document: Literal["replay.losses/1"]
    source: _Text
    order: Literal["recorded", "commit", "derived"]
    losses: tuple[_Lost, ...]
    unavailable: tuple[_Text, ...]


class _Repeated(ValueError):
    """A field given twice, of which a reader would take one and not say which."""


def _without_repeats(pairs: Sequence[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            raise _Repeated(f"the field {name} twice")
        seen.add(name)


# CSV


def table(
    name: str, data: bytes, columns: Sequence[str], optional: Collection[str] = ()
) -> Iterator[Cells]:
    """The records of a CSV file (RFC 4180, UTF-8) with these columns, in whatever order.

    Empty lines are passed over.  Raises `BadFile`, when it comes to the line.
    """
    records = _records(name, _decoded(name, data).removeprefix("\ufeff"))
    line, header = next(records, (1, []))
    _check_header(name, line, header, columns, optional)
    for line, cells in records:
        if len(cells) != len(header):
            found, expected = _count(len(cells), "cell"), f"{len(header)}, as in the header"
            raise BadFile(name, line, None, found, expected)
        yield Cells(name, line, dict(zip(header, cells, strict=True)))


def once(lines: dict[_Key, int], key: _Key, row: Cells, column: str, detail: str = "") -> None:
    """Note where `key` stands, and refuse it where it stood on an earlier line."""
    if key in lines:
        found = f"{shown(row.of[column])} again, {detail}{', ' if detail else ''}"
        raise row.bad(column, f"{found}as on line {lines[key]}", "each only once")
    lines[key] = row.line


def _records(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """Records that have cells, each with the line that it begins on."""
    reader = csv.reader(io.StringIO(text, newline="\n"), strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as problem:
        raise BadFile(name, line, None, str(problem).partition(" - ")[0], _RFC_4180) from None


_RFC_4180: Final = "CSV with its quotation marks in pairs, and lines that end in LF or CRLF"


def _check_header(
    name: str, line: int, header: Sequence[str], columns: Sequence[str], optional: Collection[str]
) -> None:
    also = f", and perhaps {', '.join(optional)}" if optional else ""
    expected = f"the columns {', '.join(columns)}{also}, each once"
    for place, column in enumerate(header):
        if column not in columns and column not in optional:
            raise BadFile(name, line, None, f"a column {shown(column)}", expected)
        if column in header[:place]:
            raise BadFile(name, line, None, f"two columns {column}", expected)
    for column in columns:
        if column not in header:
            raise BadFile(name, line, None, f"no column {column}", expected)


def _decoded(name: str, data: bytes) -> str:
    """The text of a file, of at most `MAX_BYTES` bytes, with no NUL in it."""
    if len(data) > MAX_BYTES:
        raise BadFile(name, None, None, _count(len(data), "byte"), f"at most {MAX_BYTES:,}")
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        found = f"the byte 0x{data[problem.start]:02x}"
        raise BadFile(name, _line_at(data, problem.start), None, found, "UTF-8") from None
    if (place := data.find(b"\0")) >= 0:
        raise BadFile(name, _line_at(data, place), None, "a NUL character", "text")
    return text


def _line_at(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def _either(words: Collection[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}"
