"""The words of text output: codes as sentences, times, durations, and lines of a given width.

Words inside prose are separated by spaces; `NBSP` stands for a space at which no line
may break.  It cannot come from a log, where `shown` makes it an escape.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from replay.report.safe import MAX_WORD, columns, padded, shortened, shown

NBSP: Final = "\u00a0"
_SGR = re.compile(r"\x1b\[[0-9;]*m")
_COLOURS: Final = {"bold": "1", "red": "31", "green": "32", "yellow": "33", "dim": "2"}

_MAX_VALUE: Final = 400
_MAX_PROSE_WORD: Final = 44
_NARROW: Final = 18
_LONGEST: Final = 10**12  # seconds; only an authored answer can say more

TONES: Final = {
    "agree": "green",
    "ok": "green",
    "complete": "green",
    "disagree": "red",
    "DIFFERS": "red",
    "refused": "red",
    "blocked": "red",
    "undetermined": "yellow",
    "accepted": "bold",
}

ANOMALIES: Final = {
    "link_self": "{event} links to itself, so the link has no effect",
    "link_forward": "{event} links to {related}, which is not earlier, so the link has no effect",
    "link_missing": "{event} links to {related}, which is not in view, so the link has no effect",
    "link_other_item": "{event} links to {related}, of another work item, so the link has no"
    " effect",
    "other_principal": "{event} would correct {related}, which another principal recorded, so it"
    " does not",
    "after_terminal": "{event} came after the work had ended",
    "not_terminal": "{event} reopens work that had not ended",
    "no_open_episode": "{event} ends a blocker, but none was open",
    "progress_while_blocked": "{event} is progress while the blocker raised by {related} is open",
    "revision_reintroduced": "{event} goes back to a revision that {related} first announced",
    "anachronistic": "{event} says it occurred before {related} first announced its revision",
}
FLAGS: Final = {
    "no_origin": "first seen through another event than work.proposed",
    "possibly_incomplete": "sequence numbers are missing from the log, so events may be, too",
    "cutoff_beyond_log": "the cutoff lies beyond the end of the log",
    "cutoff_hides_admitted": "the sequence cutoff hides an event that the time cutoff would show",
    "line_order_differs": "lines were not in sequence order, and have been sorted",
}
REFUSALS: Final = {
    "not_utf8": "bytes that are not UTF-8",
    "bom": "a byte order mark",
    "nul_byte": "a NUL byte",
    "not_json": "text that is not JSON",
    "trailing_data": "something after the JSON value",
    "not_an_object": "a JSON value that is not an object",
    "nan_or_infinity": "NaN or infinity, which JSON does not have",
    "lone_surrogate": "half of a surrogate pair",
    "duplicate_key": "a key twice in one object",
    "unknown_field": "a field that the contract does not have",
    "missing_field": "a required field is missing",
    "wrong_type": "a value of the wrong JSON type",
    "number_out_of_range": "a number out of range",
    "bad_time": "a time in a form that the contract does not take",
    "bad_payload": "a payload that its event class does not take",
    "line_too_long": "a line over the length limit",
    "too_deep": "values nested over the depth limit",
    "id_too_long": "an id over the length limit",
    "unknown_schema_version": "an unknown schema version",
    "mixed_time_basis": "UTC times and relative minutes in one log",
    "truncated_input": "the input breaks off",
    "sequence_conflict": "two events with one sequence number",
    "recorded_time_reversed": "a recorded time that falls while the sequence rises",
    "conflicting_duplicate": "one event id with two different values",
    "readmitted_id": "one event admitted twice",
}
CLAIMS: Final = {
    "review.requested": "ready for review",
    "work.completed": "the work is complete",
    "blocker.resolved": "the blocker is resolved",
    "status.asserted": "what the state is",
}
VERDICTS: Final = {
    "supported": "supported",
    "contradicted": "contradicted",
    "stale": "stale",
    "missing": "missing {missing}",
    "unbound": "unbound, as it names no revision",
    "unknown": "unknown, as the revision it names was not announced",
    "not_comparable": "not comparable with what the rules display",
}


def paint(text: str, tone: str | None, colour: bool) -> str:
    """`text` in a colour, where colour is wanted; never the only carrier of a meaning."""
    if not colour or tone not in _COLOURS:
        return text
    return f"\x1b[{_COLOURS[tone]}m{text}\x1b[0m"


def toned(word: str, colour: bool, text: str | None = None) -> str:
    """A state or an outcome in its own colour; `text` is what to print for it."""
    return paint(word if text is None else text, TONES.get(word), colour)


def ident(text: str, width: int = MAX_WORD) -> str:
    """An id or a name from a log as one unbreakable word."""
    return '""' if not text else shown(text, width).replace(" ", NBSP)


MAX_LISTED: Final = 20
"""Ids or episodes that text lists in one place; the JSON document has them all."""


def idents(ids: Iterable[str], nothing: str = "nothing") -> str:
    """Ids with commas between them."""
    return listed([ident(event_id) for event_id in ids]) or nothing


def listed(words: Sequence[str]) -> str:
    """Words with commas between them, and how many more there are."""
    more = [f"and {len(words) - MAX_LISTED} more"] if len(words) > MAX_LISTED else []
    return ", ".join([*words[:MAX_LISTED], *more])


def prose(text: str, width: int) -> str:
    """A sentence that may quote a log, in at most `width` columns, its words breakable."""
    words = shown(text, width).split(" ")
    return " ".join(shortened(word, _MAX_PROSE_WORD) for word in words)


def quoted(text: str, width: int) -> str:
    """Prose from a log, between quotation marks."""
    return f"\u201c{prose(text, width)}\u201d"


def time_words(time: str | float) -> str:
    """A time of a document: RFC 3339 as it is, minutes as `minute 3`."""
    return ident(time, 40) if isinstance(time, str) else f"minute{NBSP}{number(time)}"


def mark_words(mark: Mapping[str, Any]) -> str:
    """A time and the event that shows it."""
    return f"{time_words(mark['time'])} ({ident(mark['event_id'])})"


def value_words(value: Any) -> str:
    """An answer of an oracle or of a document, any JSON value, in words."""
    return shortened(_value_words(value), _MAX_VALUE)


def _value_words(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return ident(value)
        case int() | float():
            return number(value)
        case list():
            return ", ".join(map(_value_words, value)) or "none"
        case {"event_id": str(), "time": str() | int() | float()}:
            by = f", rule {_value_words(value['rule'])}" if "rule" in value else ""
            return mark_words(value) + by
        case _:
            return _members(value) or "nothing"


_BARE: Final = ("value", "kind", "verdict", "status", "event_id", "outcome")
_AFTER: Final = {"since": "since", "by": "by", "at": "at", "elapsed_seconds": "after"}


def _members(value: Mapping[str, Any]) -> str:
    """Members in reading order: what it is, since when or by which event, how long, the rest."""
    prose = ", ".join(_value_words(value[key]) for key in _BARE if key in value)
    words = [_part(key, value[key]) for key in _AFTER if value.get(key) is not None]
    others = [key for key in value if key not in _BARE and key not in _AFTER]
    rest = [f"{ident(key)}: {_value_words(value[key])}" for key in others]
    return ", ".join([part for part in (" ".join([prose, *words]).strip(), *rest) if part])


_NUMBER_OR_TEXT: Final = (int, float, str)


def _part(key: str, value: Any) -> str:
    plain = isinstance(value, _NUMBER_OR_TEXT) and not isinstance(value, bool)
    if key == "at" and plain:
        return f"at {time_words(value)} (the cutoff)"
    if key == "elapsed_seconds" and plain and not isinstance(value, str):
        return f"after {duration(value)}"
    if key == "by" and isinstance(value, Mapping):
        return f"at {_value_words(value)}"
    return f"{_AFTER[key]} {_value_words(value)}"


def number(value: float) -> str:
    """A JSON number, with no exponent while it is short without."""
    plain = format(Decimal(repr(value)), "f")
    return plain if len(plain) <= MAX_WORD else repr(value)


def duration(seconds: float) -> str:
    """Seconds in days, hours, minutes and seconds, exactly: nothing is rounded away."""
    if not 60 <= seconds < _LONGEST:
        return f"{number(seconds)}{NBSP}s"
    minutes, second = divmod(Decimal(repr(seconds)), 60)
    hours, minute = divmod(int(minutes), 60)
    days, hour = divmod(hours, 24)
    parts = []
    if days:
        parts.append(f"{days} d")
    if hour or (days and (minute or second)):
        parts.append(f"{hour:02d} h" if days else f"{hour} h")
    if minute or second:
        parts.append(f"{minute:02d} min" if hours else f"{minute} min")
    if second:
        parts.append(f"{second.normalize():f} s")
    return NBSP.join(parts).replace(" ", NBSP)


def counted(count: int, one: str, many: str | None = None) -> str:
    """A count and its noun."""
    return f"{count}{NBSP}{one if count == 1 else many or one + 's'}"


def coded(words: Mapping[str, str], code: str) -> str:
    """A code as a sentence, with the code behind it."""
    return f"{words[code]} ({code})" if code in words else ident(code)


def wrapped(prose: str, first: str, rest: str, width: int) -> list[str]:
    """Lines of at most `width` columns; the first begins with `first`, others with `rest`."""
    lines: list[str] = []
    line, used, empty = first, visible_columns(first), True
    for word in prose.split(" "):
        text = word.replace(NBSP, " ")
        size = visible_columns(text)
        if not empty and used + 1 + size > width:
            lines.append(line.rstrip())
            line, used, empty = rest, columns(rest), True
        line += text if empty else f" {text}"
        used += size + (not empty)
        empty = False
    return [*lines, line.rstrip()]


def visible_columns(text: str) -> int:
    """Columns of visible text in which this module may have painted words."""
    return columns(_SGR.sub("", text) if "\x1b" in text else text)


def table(
    rows: Sequence[Sequence[str]], indent: str, width: int, whole: Sequence[int] = ()
) -> list[str] | None:
    """Rows of visible cells in aligned columns, null where no table of that width holds them.

    Wide columns give way, down to `_NARROW`; those numbered in `whole` never do.
    """
    widths = [max(map(columns, column)) for column in zip(*rows, strict=True)]
    over = sum(widths) + 2 * (len(widths) - 1) + len(indent) - width
    while over > 0:
        give = [i for i, size in enumerate(widths) if i not in whole and size > _NARROW]
        if not give:
            return None
        widths[max(give, key=widths.__getitem__)] -= 1
        over -= 1
    return [_row(row, widths, indent) for row in rows]


def _row(row: Sequence[str], widths: Sequence[int], indent: str) -> str:
    cells = [padded(shortened(cell, size), size) for cell, size in zip(row, widths, strict=True)]
    return (indent + "  ".join(cells)).replace(NBSP, " ").rstrip()
