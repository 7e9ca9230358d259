"""Numbers and names as words: what every output of the study prints, and how.

Text from logs (ids, lanes, currencies, an importer's words) is made visible: what a terminal
would obey and what a reader could not see is shown as an escape, a literal backslash is
doubled, and a long text is cut with the count of what is left out and the start of its
SHA-256.  Escaping for HTML or Markdown comes after that, where those are written.

A duration has two significant digits, and none behind the point where it is whole ("7 min",
"3.2 h"): "5 h" is exact and "5.0 h" is rounded.  A share has one decimal, and is never
rounded to none or all.  A number that is not known is "unknown" and why, never a blank.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from math import isfinite
from typing import Final

from study.estimates import ROUNDING, BadInput, Interval, Number, Range, Unknown
from study.result import NO_REGISTER, Denominator, Estimate, Kind, Unit

MAX_NAME: Final = 40
"""Columns that a name from a log may take."""
MAX_CLAUSE: Final = 200
"""Columns that a reason may take: a reason can hold an importer's own words."""
SHORT_DIGEST: Final = 12

_MAX_MARKS: Final = 3  # what written languages stack on one letter; more reaches other lines
_PLAIN = re.compile(r"[!-\[\]-~](?:[ -\[\]-~]*[!-\[\]-~])?\Z")
_NAMED: Final = {"\n": r"\n", "\r": r"\r", "\t": r"\t", "\\": "\\\\"}
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})
_MARKS: Final = frozenset({"Mn", "Me"})
# visible by category, drawn as nothing or as a blank (Default_Ignorable_Code_Point and the
# empty Braille cell)
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)
_UNITS: Final = (
    *(("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3)),
    *(("s", 1.0), ("min", 60.0), ("h", 3600.0), ("d", 86400.0)),
)
_CODE = re.compile(r"[a-z]+(?:_[a-z]+)*\Z")
_CAUSES: Final = {"cancelled_with_work": "cancelled with the work"}


def shown(text: str, width: int | None = None) -> str:
    """`text` with every character visible, in at most `width` columns where one is given."""
    safe = text if _PLAIN.match(text) else _visible(text)
    return safe if width is None else _shortened(safe, width, text)


def name(text: str) -> str:
    """A name from a log: visible, and shortened; the empty one is said to be empty."""
    return shown(text, MAX_NAME) or "(empty)"


def clause(text: str) -> str:
    """A reason, which may hold an importer's words: visible, and shortened."""
    return shown(text, MAX_CLAUSE)


def code(text: str) -> str:
    """A code in plain words (`cancelled_with_work`); what is no code, as a clause."""
    plain = _CAUSES.get(text, text.replace("_", " "))
    return plain if _CODE.match(text) else clause(text)


def digest(sha256: str) -> str:
    """The start of a digest, enough to tell files apart by eye."""
    return shown(sha256[:SHORT_DIGEST])


def _shortened(safe: str, width: int, whole: str) -> str:
    if columns(safe) <= width:
        return safe
    mark = "#" + hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    start = _cut(safe, max(width - len(f"…+{len(safe)}{mark}"), 1))
    return f"{start}…+{len(safe) - len(start)}{mark}"


def _cut(safe: str, width: int) -> str:
    used = 0
    for index, char in enumerate(safe):
        used += columns(char)
        if used > width:
            return safe[:index]
    return safe


def columns(safe: str) -> int:
    """How many columns of a terminal visible text takes."""
    return len(safe) if safe.isascii() else sum(map(_char_columns, safe))


def _char_columns(char: str) -> int:
    if unicodedata.category(char) in _MARKS:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _visible(text: str) -> str:
    marks = 0
    parts = [" "]
    for char in text:
        is_mark = unicodedata.category(char) in _MARKS
        marks = marks + 1 if is_mark else 0
        is_loose = is_mark and (marks > _MAX_MARKS or parts[-1] == " ")
        parts.append(_escape(char) if is_loose else _visible_character(char))
    safe = "".join(parts[1:])
    if not unicodedata.is_normalized("NFC", safe):
        # it would draw like another text
        safe = "".join(char if char.isascii() else _escape(char) for char in safe)
    inner = safe.strip(" ")
    leading = len(safe) - len(safe.lstrip(" ")) if inner else len(safe)
    return r"\x20" * leading + inner + r"\x20" * (len(safe) - leading - len(inner))


def _visible_character(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    if char.isascii() and char.isprintable():
        return char
    is_hidden = unicodedata.category(char) in _HIDDEN or _BLANK.match(char)
    return _escape(char) if is_hidden else char


def _escape(char: str) -> str:
    point = ord(char)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def unknown(number: Unknown) -> str:
    """The word, and why."""
    return f"unknown: {clause(number.reason)}"


def quantity(number: Number, unit: Unit, *, difference: bool = False) -> str:
    """A number with its unit: `3.2 h`, `12.5 %`, `4.25 events`.

    A difference of shares is in percentage points.
    """
    if isinstance(number, Unknown):
        return unknown(number)
    figure, of = _measured(number, unit, difference)
    return f"{figure} {of}"


def spread(interval: Range, unit: Unit, *, difference: bool = False) -> str:
    """An interval, its unit said once where both ends have the same: `2.1 to 5.0 h`."""
    if isinstance(interval, Unknown):
        return unknown(interval)
    low, low_unit = _measured(interval.low, unit, difference)
    high, high_unit = _measured(interval.high, unit, difference)
    start = low if low_unit == high_unit or low == "0" else f"{low} {low_unit}"
    return f"{start} to {high} {high_unit}"


def _measured(number: float, unit: Unit, difference: bool) -> tuple[str, str]:
    if not isfinite(number):
        raise BadInput(f"a number in {unit}", number, "a finite one, or Unknown")
    match unit:
        case "seconds":
            return _duration(number)
        case "share" if difference:
            return _signless_zero(f"{100 * number:.1f}"), "percentage points"
        case "share":
            return _percent(number), "%"
    named = shown(unit, MAX_NAME)
    return _amount(number), f"({named})" if " " in named else named


def duration(seconds: float) -> str:
    """A time in the largest unit that it fills: `7 min`, `3.2 h`, `2.1 d`; `0 s`."""
    return " ".join(_measured(seconds, "seconds", False))


def _duration(seconds: float) -> tuple[str, str]:
    if not seconds:
        return "0", "s"
    size = abs(seconds)
    index = max((i for i, (_, length) in enumerate(_UNITS) if size >= length), default=0)
    figure = _two_digits(size / _UNITS[index][1])
    longer = _UNITS[index + 1 :][:1]
    if longer and float(figure) * _UNITS[index][1] >= longer[0][1]:
        index, figure = index + 1, "1.0"
    return f"{'-' if seconds < 0 else ''}{figure}", _UNITS[index][0]


def _two_digits(size: float) -> str:
    if size < 1:
        return f"{size:.2g}"
    is_whole = abs(size - round(size)) <= ROUNDING * size
    figure = f"{size:.0f}" if is_whole or size >= 10 else f"{size:.1f}"
    return "10" if figure == "10.0" else figure


def _percent(share: float) -> str:
    figure = _signless_zero(f"{100 * share:.1f}")
    if figure == "0.0" and share > ROUNDING:
        return "<0.1"
    return ">99.9" if figure == "100.0" and share < 1 - ROUNDING else figure


def _amount(number: float) -> str:
    """Whole numbers as they are, others with at least three digits and no exponent."""
    if number.is_integer():
        return f"{number:.0f}"
    size = abs(number)
    if size < 1:
        return f"{number:.3g}"
    return f"{number:.{max(0, 3 - len(str(int(size))))}f}"


def _signless_zero(figure: str) -> str:
    return figure[1:] if figure.startswith("-") and not float(figure) else figure


def counted(count: int, noun: str) -> str:
    """`1 episode`, `41 episodes`."""
    return f"{count} {noun if count == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """`episodes`, `stretches`, `entries`, `fields of a receipt`."""
    head, of, rest = noun.partition(" of ")
    if re.search("[^aeiou]y$", head):
        return f"{head[:-1]}ies{of}{rest}"
    ending = "es" if head.endswith(("s", "x", "ch", "sh")) else "s"
    return f"{head}{ending}{of}{rest}"


def parts(kinds: Mapping[str, int]) -> str:
    """Counts by kind, most first: `8 cancelled, 2 completed`; empty without any."""
    ordered = sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))
    return ", ".join(f"{count} {code(kind)}" for kind, count in ordered if count)


def split(kinds: Mapping[str, int], noun: str = "") -> str:
    """A sum and what it is made of: `10 (8 cancelled, 2 completed)`, `0`; `10 NOUN (…)`."""
    made_of = f"({parts(kinds)})" if any(kinds.values()) else ""
    return " ".join(filter(None, (str(sum(kinds.values())), noun, made_of)))


def omitted(work: int | Unknown) -> str:
    """How much registered work left no event; `unavailable (no register)` without one."""
    match work:
        case Unknown() if work == NO_REGISTER:
            return "unavailable (no register)"
        case Unknown():
            return unknown(work)
    return counted(work, "item")


def denominator(of: Denominator, kind: Kind) -> str:
    """Who is counted, in one line.  Only waits are censored, or end in a competing way."""
    return f"{counts(of, kind)}; omitted work: {omitted(of.omitted)}"


def counts(of: Denominator, kind: Kind) -> str:
    """The same without the omitted work, which an endpoint's denominators share."""
    roles = [f"{of.observed} observed"]
    if kind == "time to event" or of.censored or of.competing:
        roles += [f"{of.censored} censored", split(of.competing, "competing")]
    subjects = f"{counted(of.eligible, shown(of.unit))} in {counted(of.items, 'item')}"
    return (
        f"eligible {subjects}: {', '.join(roles)}; excluded {split(of.excluded)};"
        f" unavailable {split(of.unavailable)}"
    )


def moment(at: float | None, unit: Unit) -> str:
    """`at 4 h`; `up to 4 h` of a time, which can only be up to one; empty without one."""
    if at is None:
        return ""
    return f"{'up to' if unit == 'seconds' else 'at'} {duration(at)}"


def label(estimate: Estimate, *, grouped: bool = True) -> str:
    """What tells an estimate from its endpoint's others: name, group and time."""
    group = "" if estimate.group is None or not grouped else f"of {name(estimate.group)}"
    parts = (code(estimate.name), group, moment(estimate.at, estimate.unit))
    return " ".join(filter(None, parts))


def percent_of(level: float) -> str:
    """A confidence level: `95 %`."""
    return f"{100 * level:g} %"


def answer(number: Number, interval: Range, unit: Unit, *, difference: bool = False) -> str:
    """A number and its interval: `3.2 h (2.1 to 5.0 h)`; bounds where only they are known."""
    said = quantity(number, unit, difference=difference)
    around = spread(interval, unit, difference=difference)
    match number, interval:
        case Unknown(), Unknown():
            return said
        case Unknown(), Interval():
            return f"{said} (bounds {around})"
        case _, Unknown():
            return f"{said} (interval {around})"
    return f"{said} ({around})"
