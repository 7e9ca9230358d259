"""What is asked beside the logs: the cutoff, the window, the files, the groups."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import replay
from study.estimates import Record
from study.result import Refused

_MINUTES: Final = re.compile(r"[0-9]+(?:\.[0-9]{1,6})?\Z")


class Question(Record, frozen=True, kw_only=True):
    """What is asked beside the logs.

    The cutoff: `sequence`, and `time` (RFC 3339) or `minute`.  `window` is FROM and TO, each a
    time of the logs' basis or null; TO is a cutoff, so no time cutoff goes beside it.
    `register`, `access`, `assignment` are paths.  `by` is `lane` or `log`; `before_after` a
    time.  `without_refused` leaves refused logs out, by name, instead of raising.
    """

    rules: str
    sequence: int | None = None
    time: str | None = None
    minute: str | None = None
    window: tuple[str | None, str | None] | None = None
    register: str | None = None
    access: str | None = None
    assignment: str | None = None
    by: str | None = None
    before_after: str | None = None
    without_refused: bool = False


class LogsRefused(Exception):
    """Logs that the contract refuses, each by its name; nothing was estimated."""

    def __init__(self, refused: Sequence[Refused]) -> None:
        self.refused = tuple(refused)
        super().__init__("\n".join(one.why for one in refused))


def check(asked: Question) -> None:
    """Refuse what cannot be asked together.  Raises `replay.UsageError`."""
    groupings = [asked.by, asked.before_after, asked.assignment]
    if sum(one is not None for one in groupings) > 1:
        raise replay.UsageError("groups are made in one way: by, before_after or assignment")
    if asked.by not in (None, "lane", "log"):
        raise replay.UsageError(f"by: expected lane or log, found {asked.by!r}")
    to = asked.window[1] if asked.window else None
    if to is not None and (asked.time is not None or asked.minute is not None):
        raise replay.UsageError("a window's end is a time cutoff: give one of the two")


def prefix_of(history: replay.History, asked: Question) -> replay.Prefix:
    """The history as known at the cutoff; a window's end is one."""
    time, minute = asked.time, asked.minute
    start, end = asked.window or (None, None)
    if end is not None:
        if start is not None and nanoseconds(history, start) >= nanoseconds(history, end):
            raise replay.UsageError(f"a window ends after it begins: from {start} to {end}")
        time, minute = (None, end) if is_minute(end) else (end, None)
    return history.until(sequence=asked.sequence, time=time, minute=minute)


def is_minute(time: str) -> bool:
    """Whether a time is relative minutes; anything else is to be RFC 3339."""
    return _MINUTES.match(time) is not None


def nanoseconds(history: replay.History, time: str) -> int:
    """A time as the log counts it.  Raises `UsageError` for one of another basis."""
    prefix = history.until(minute=time) if is_minute(time) else history.until(time=time)
    bound = prefix.facts.cutoff.recorded
    assert bound is not None
    return bound


def cutoff_words(asked: Question) -> str:
    """The cutoff as reports say it."""
    to = asked.window[1] if asked.window else None
    words = []
    if asked.sequence is not None:
        words.append(f"sequence {asked.sequence}")
    if asked.minute is not None or (to is not None and is_minute(to)):
        words.append(f"minute {asked.minute or to}")
    elif asked.time is not None or to is not None:
        words.append(f"time {asked.time or to}")
    return " and ".join(words) or "the end of each log"


def window_words(asked: Question) -> str | None:
    """The window as reports say it."""
    if asked.window is None:
        return None
    start, end = asked.window
    return f"from {start or 'the beginning'} to {end or 'the cutoff'}"
