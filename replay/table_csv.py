r"""Tables as CSV that a spreadsheet can open: RFC 4180, and no cell that it takes for a formula.

UTF-8 with no byte order mark, a header, CRLF after each record, and every record on one
line.  Text is quoted, always; numbers, booleans and times are not; null is nothing at all,
so that unknown (`,,`) stays apart from an empty text (`,"",`).  Times are RFC 3339 in UTC, as
documents print them, and lists are JSON.  Text comes from whoever wrote the log:

* A text that a spreadsheet would run (`=`, `+`, `-`, `@`, full-width ones too, also behind
  white space or quotes) gets an apostrophe in front.  So does what follows a semicolon, at
  which spreadsheets in many countries begin a new cell.
* Characters that a terminal obeys, or that hide or reorder others, are escapes: `\xHH`,
  `\uHHHH`, `\UHHHHHHHH`.  That makes `=` behind a tab or a new line harmless as well.  A
  backslash is doubled where it would be read as part of one.

Both are one to one, and `original` takes them back.  Where a cell is JSON, the same is done
by JSON's own escapes: what it parses to is equal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyarrow import types

from replay.errors import UsageError, quoted
from replay.timestamps import format_utc

JSON_TYPE: Final = "application/json"
"""`contentMediaType` of a column of JSON text, in its schema and its field's metadata."""

# written out, as categories of characters change with the version of Unicode
_HIDDEN: Final = (
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f\ud800-\udfff]"
)
_ESCAPE: Final = r"(?:\\|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_TO_ESCAPE: Final = re.compile(rf"{_HIDDEN}|\\(?={_ESCAPE}|{_HIDDEN})")
_ESCAPED: Final = re.compile(rf"\\{_ESCAPE}")
_HIDDEN_ONE: Final = re.compile(_HIDDEN)

_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._:/#-]*\Z")
"""Text that is its own cell: nothing to escape, to double or to guard.  Most text is."""

_IS_FORMULA: Final = r"[\s'\"]*[=+\-@\uff1d\uff0b\uff0d\uff20]"
_TO_GUARD: Final = re.compile(rf"(\A|;)(?={_IS_FORMULA})")
_GUARDED: Final = re.compile(rf"(\A|;)'(?={_IS_FORMULA})")
_JSON_FORMULA: Final = re.compile(rf"(?:\A|;){_IS_FORMULA}")

_Cell = Callable[[Any], str]


def to_csv(table: pa.Table) -> bytes:
    """A table as CSV: of ours, or any of text, numbers, booleans, times and lists of these.

    Raises `UsageError` for a column of another type.
    """
    cells = [_cell_of(field) for field in table.schema]
    rows = zip(*map(_values, table.columns), strict=True)
    lines = [",".join(map(_text, table.column_names)), *(_line(cells, row) for row in rows)]
    return "".join(f"{line}\r\n" for line in lines).encode()


def _line(cells: Sequence[_Cell], row: Sequence[Any]) -> str:
    shown = zip(cells, row, strict=True)
    return ",".join("" if value is None else cell(value) for cell, value in shown)


def original(cell: str) -> str:
    """The text that a text cell stands for, as a CSV reader gives the cell."""
    return _ESCAPED.sub(_unescaped, _GUARDED.sub(r"\1", cell))


def guarded(text: str) -> str:
    """A text as its cell has it, without the quotation marks of CSV."""
    return _TO_GUARD.sub(r"\1'", _TO_ESCAPE.sub(_escaped, text))


def guarded_json(text: str) -> str:
    """JSON of equal value that shows what it hides and begins no formula."""
    if not text.startswith(("[", "{", '"')):  # a bare word or number has no string to escape in
        return guarded(text)
    visible = _HIDDEN_ONE.sub(lambda match: json.dumps(match.group())[1:-1], text)
    return _JSON_FORMULA.sub(lambda m: f"{m.group()[:-1]}\\u{ord(m.group()[-1]):04x}", visible)


def _escaped(match: re.Match[str]) -> str:
    char = match.group()
    if char == "\\":
        return "\\\\"
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unescaped(match: re.Match[str]) -> str:
    escape = match.group()
    return "\\" if escape == "\\\\" else chr(int(escape[2:], 16))


# Cells


def _cell_of(field: pa.Field) -> _Cell:
    kind = field.type
    if _is_text(kind):
        is_json = (field.metadata or {}).get(b"contentMediaType") == JSON_TYPE.encode()
        return _json_text if is_json else _text
    if types.is_list(kind) or types.is_large_list(kind):
        return partial(_list, field.name)
    if types.is_timestamp(kind):
        return format_utc
    if types.is_boolean(kind):
        return lambda value: "true" if value else "false"
    if types.is_integer(kind) or types.is_floating(kind):
        return repr
    if types.is_null(kind):
        return str
    raise UsageError(f"column {quoted(field.name)}: CSV has no cell for {kind}")


def _is_text(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column; times are integers of nanoseconds."""
    if types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ns", column.type.tz)).cast(pa.int64())
    values: list[Any] = column.to_pylist()
    return values


def _text(text: str) -> str:
    if _PLAIN.match(text):
        return f'"{text}"'
    return _in_quotes(guarded(text))


def _json_text(text: str) -> str:
    return _in_quotes(guarded_json(text))


def _list(name: str, values: list[Any]) -> str:
    try:
        text = json.dumps(values, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"column {quoted(name)}: no JSON: {problem}") from None
    return _json_text(text)


def _in_quotes(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
