"""Text from logs, made safe to print.

Ids, reasons and check names are written by whoever wrote the log.  Printed as they
are they could move a terminal's cursor, retitle its window, reorder a line, or make
two ids look like one.  So nothing is removed in silence: what a terminal would obey
and what a reader could not see is shown as an escape, and a literal backslash is
doubled, which keeps `shown` one to one.  No two different texts print alike, unless
they are shortened; a shortened word carries the count of what is left out and the
start of the whole word's SHA-256.

`\\xHH`, `\\uHHHH`, `\\UHHHHHHHH` are single characters; `\\x{HH…}` is a whole terminal
sequence (ECMA-48 CSI, OSC and the like) as the bytes of its UTF-8.

Look-alike letters of different scripts stay: judging them needs a table of
confusables, and the JSON output has every id to the letter.  Widths are those of the
standard library's East Asian table, which is enough to align columns.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

MAX_WORD: Final = 32
"""Columns that one word from a log may take in text."""

_MAX_MARKS: Final = 3  # what written languages stack on one letter; more reaches other lines
_PLAIN = re.compile(r"[!-\[\]-~](?:[ -\[\]-~]*[!-\[\]-~])?\Z")
_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, …
    r"|\x1b[ -/]*[0-~]"  # the two- and three-character ones
)
_NAMED: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": "\\\\"}
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_MARKS: Final = frozenset({"Mn", "Me"})
# visible by category, drawn as nothing or as a blank (Unicode's Default_Ignorable_Code_Point
# and the empty Braille cell)
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
_JAMO = re.compile("[\u1160-\u11ff]")  # vowels and finals, which join the letter before


def shown(text: str, width: int | None = None) -> str:
    """`text` with every character visible, in at most `width` columns where one is given."""
    safe = text if _PLAIN.match(text) else _visible(text)
    return safe if width is None else shortened(safe, width, text)


def shortened(safe: str, width: int, whole: str | None = None) -> str:
    """Visible text cut to `width` columns: its start, `…+COUNT#HASH` of what it stood for.

    COUNT is in characters of `safe`; HASH is the start of the SHA-256 of `whole`.
    """
    if columns(safe) <= width:
        return safe
    data = (safe if whole is None else whole).encode("utf-8", "surrogatepass")
    mark = "#" + hashlib.sha256(data).hexdigest()[:6]
    room = max(width - len(f"…+{len(safe)}{mark}"), 1)
    start = cut(safe, room)
    return f"{start}…+{len(safe) - len(start)}{mark}"


def cut(text: str, width: int) -> str:
    """The longest start of visible text that `width` columns hold."""
    if text.isascii():
        return text[:width]
    used = 0
    for index, char in enumerate(text):
        used += _char_columns(char)
        if used > width:
            return text[:index]
    return text


def columns(text: str) -> int:
    """How many columns of a terminal visible text takes."""
    return len(text) if text.isascii() else sum(map(_char_columns, text))


def padded(text: str, width: int) -> str:
    """Visible text filled with spaces up to `width` columns."""
    return text + " " * (width - columns(text))


def _char_columns(char: str) -> int:
    if unicodedata.category(char) in _MARKS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _visible(text: str) -> str:
    parts: list[str] = []
    end = 0
    for match in _SEQUENCE.finditer(text):
        parts.append(_visible_characters(text[end : match.start()]))
        parts.append(f"\\x{{{match.group().encode('utf-8', 'surrogatepass').hex()}}}")
        end = match.end()
    parts.append(_visible_characters(text[end:]))
    safe = _visible_edges("".join(parts))
    if unicodedata.is_normalized("NFC", safe):
        return safe
    # what survived here would still draw like another text; give up on all but ASCII
    return "".join(char if char.isascii() else _escape(char) for char in safe)


def _visible_edges(safe: str) -> str:
    """Spaces at either end, where they would not be seen, as escapes."""
    inner = safe.strip(" ")
    leading = len(safe) - len(safe.lstrip(" ")) if inner else len(safe)
    return r"\x20" * leading + inner + r"\x20" * (len(safe) - leading - len(inner))


def _visible_characters(text: str) -> str:
    composed = unicodedata.is_normalized("NFC", text)
    return "".join(_visible_character(char, marks, composed) for char, marks in _stacked(text))


def _stacked(text: str) -> Iterator[tuple[str, int]]:
    """Each character and, for a combining mark, its number on its letter; 0 has no letter."""
    letter = False
    marks = 0
    for char in text:
        if unicodedata.category(char) in _MARKS:
            marks += 1
            yield char, marks if letter else 0
        else:
            letter, marks = char != " ", 0
            yield char, 0


def _visible_character(char: str, marks: int, composed: bool) -> str:
    """`marks` as in `_stacked`; `composed` says that the text is in Unicode's form NFC.

    Where it is not, what would join into another text's letters is escaped.
    """
    if char in _NAMED:
        return _NAMED[char]
    if char.isascii() and char.isprintable():
        return char
    category = unicodedata.category(char)
    if category in _HIDDEN_CATEGORIES or _BLANK.match(char):
        return _escape(char)
    if category in _MARKS and (not composed or not 1 <= marks <= _MAX_MARKS):
        return _escape(char)
    if not composed and (
        not unicodedata.is_normalized("NFC", char) or _JAMO.match(char) or category == "Mc"
    ):
        return _escape(char)
    return char


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
