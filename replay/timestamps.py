"""Times as integers of nanoseconds, and back (contract, section 1).

`events/1` has RFC 3339 times: a full date, `T`, seconds, at most nine fraction
digits, `Z` or an offset, years 1678 to 2261.  Naive times, leap seconds and other
separators are refused, which no library parser does; hence the pattern here.
`elapsed/1` has minutes with at most six decimals: 0.000001 min is 60,000 ns.
"""

from __future__ import annotations

import re
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Final

from replay.event import TimeBasis

NS_PER_SECOND: Final = 1_000_000_000
NS_PER_MINUTE: Final = 60 * NS_PER_SECOND
MAX_MINUTE: Final = 153_722_867  # the last whole minute that 63 bits of nanoseconds hold

# [0-9], not \d, which takes other scripts' digits.  T, Z in capitals only.
_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})"
    r"(?:\.([0-9]{1,9}))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))\Z"
)
_EXPECTED: Final = (
    "RFC 3339 with T, seconds, at most nine fraction digits, and Z or ±hh:mm,"
    " in the years 1678 to 2261"
)
_EPOCH_ORDINAL: Final = datetime(1970, 1, 1).toordinal()


class BadTime(ValueError):
    """A time that the contract refuses; `expected` says what it takes."""

    def __init__(self, expected: str) -> None:
        self.expected = expected
        super().__init__(expected)


def parse_utc(text: str) -> int:
    """Nanoseconds since 1970-01-01T00:00:00Z of an RFC 3339 time.  Raises `BadTime`."""
    match = _RFC3339.match(text)
    if match is None:
        raise BadTime(_EXPECTED)
    year, month, day, hour, minute, second, fraction, sign, off_hour, off_minute = match.groups()
    try:
        days = datetime(int(year), int(month), int(day)).toordinal() - _EPOCH_ORDINAL
    except ValueError:
        raise BadTime(_EXPECTED) from None
    if int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        raise BadTime(_EXPECTED)
    seconds = days * 86_400 + int(hour) * 3600 + int(minute) * 60 + int(second)
    if sign is not None:
        if int(off_hour) > 23 or int(off_minute) > 59:
            raise BadTime(_EXPECTED)
        offset = int(off_hour) * 3600 + int(off_minute) * 60
        seconds += -offset if sign == "+" else offset
    if not 1678 <= int(year) <= 2261 or not _FIRST_SECOND <= seconds < _LAST_SECOND:
        raise BadTime(_EXPECTED)
    return seconds * NS_PER_SECOND + (int(fraction.ljust(9, "0")) if fraction else 0)


_FIRST_SECOND: Final = (datetime(1678, 1, 1).toordinal() - _EPOCH_ORDINAL) * 86_400
_LAST_SECOND: Final = (datetime(2262, 1, 1).toordinal() - _EPOCH_ORDINAL) * 86_400


def format_utc(nanoseconds: int) -> str:
    """RFC 3339 in UTC with `Z` and no trailing zeros in the fraction."""
    seconds, fraction = divmod(nanoseconds, NS_PER_SECOND)
    days, rest = divmod(seconds, 86_400)
    date = datetime.fromordinal(days + _EPOCH_ORDINAL).date().isoformat()
    hour, rest = divmod(rest, 3600)
    minute, second = divmod(rest, 60)
    tail = f".{fraction:09d}".rstrip("0") if fraction else ""
    return f"{date}T{hour:02d}:{minute:02d}:{second:02d}{tail}Z"


def parse_minute(literal: str) -> int:
    """Nanoseconds since the log began of a JSON number of minutes.  Raises `BadTime`.

    Takes the literal, since a double no longer shows how many decimals were written.
    """
    try:
        # as_tuple, not arithmetic: no context precision can round the value on the way
        sign, digits, exponent = Decimal(literal).as_tuple()
    except InvalidOperation:
        raise BadTime("a number of minutes") from None
    if not isinstance(exponent, int):
        raise BadTime("a number of minutes")
    text = "".join(map(str, digits)).lstrip("0")
    significant = text.rstrip("0")
    exponent += len(text) - len(significant)
    if not significant:
        return 0
    if sign or exponent < -6 or len(significant) + exponent > 9:
        raise BadTime(f"a number from 0 to {MAX_MINUTE} with at most six decimals")
    micro_minutes = int(significant) * int(10 ** (exponent + 6))
    if micro_minutes > MAX_MINUTE * 1_000_000:
        raise BadTime(f"a number from 0 to {MAX_MINUTE} with at most six decimals")
    return micro_minutes * 60_000


def minutes(nanoseconds: int) -> int | float:
    """Minutes as printed: an integer where whole, else the nearest double."""
    return _exact(nanoseconds, NS_PER_MINUTE)


def seconds(nanoseconds: int) -> int | float:
    """Seconds as printed: an integer where whole, else the nearest double."""
    return _exact(nanoseconds, NS_PER_SECOND)


def _exact(nanoseconds: int, unit: int) -> int | float:
    whole, rest = divmod(nanoseconds, unit)
    return whole if not rest else nanoseconds / unit  # int / int is correctly rounded


def render(nanoseconds: int, basis: TimeBasis) -> str | int | float:
    """A time as every document prints it: RFC 3339 for `utc`, minutes for `elapsed`."""
    return format_utc(nanoseconds) if basis == "utc" else minutes(nanoseconds)
