"""Who was watched from when until when, and who was at risk at each time.

A `Spell` is one subject's observation.  Times run from the subject's own origin (an
item's ready claim, a blocker's first report) in any one unit, the same for all.  With
delayed entry a subject counts as at risk at t when `entry < t <= exit`; one watched from
its origin (`entry` 0) also at 0, so that an episode that ended at once is kept.

Two endings of one subject at one time are told apart by the order in which they were
recorded (`watched`), never by moving a time.  Endings of different subjects at one time
are counted together, in the same risk set.

Early in delayed-entry data the risk set can be so thin that one ending drives survival
to 0 for good while others are yet to come.  `first_start` says from which time on a
curve can be read: the first with enough at risk and no such gap after it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Final

from study.estimates import BadInput, Number, Record, Unknown

ENOUGH_AT_RISK: Final = 10


class Spell(Record, frozen=True):
    """At risk from `entry` to `exit`, ended there by `cause`; None is censored."""

    exit: float
    cause: str | None = None
    entry: float = 0.0


class Ending(Record, frozen=True):
    """Something that would end a spell: when, and its place in the recorded order."""

    at: float
    sequence: int
    cause: str


class Row(Record, frozen=True):
    """The risk set at a time when somebody's spell ended: `ended` counts by cause."""

    time: float
    at_risk: int
    ended: Mapping[str, int]

    @property
    def events(self) -> int:
        return sum(self.ended.values())


def watched(endings: Iterable[Ending], until: float, entry: float = 0.0) -> Spell:
    """The spell that ends with the first ending at or before `until`, else is censored there.

    Of two endings at one time, the one recorded first is the end.
    """
    seen = [ending for ending in endings if ending.at <= until]
    if not seen:
        return Spell(until, None, entry)
    first = min(seen, key=lambda ending: (ending.at, ending.sequence))
    return Spell(first.at, first.cause, entry)


def check(spells: Sequence[Spell]) -> None:
    """Refuse what no subject can have lived: BadInput, with the spell's index."""
    if not spells:
        raise BadInput("spells", 0, "at least one")
    for index, spell in enumerate(spells):
        if not (isfinite(spell.entry) and isfinite(spell.exit)):
            raise BadInput("spell", spell, "finite times", index)
        if spell.entry < 0 or spell.exit < 0:
            raise BadInput("spell", spell, "times of 0 or later", index)
        if spell.entry > 0 and spell.entry >= spell.exit:
            raise BadInput("spell", spell, "an entry before the exit", index)


def causes_of(spells: Iterable[Spell]) -> tuple[str, ...]:
    """Every cause that ended a spell, in alphabetical order."""
    return tuple(sorted({spell.cause for spell in spells if spell.cause is not None}))


def after(spells: Iterable[Spell], start: float) -> tuple[Spell, ...]:
    """The spells that go on after `start`, or all of them when it is the origin."""
    return tuple(spell for spell in spells if start == 0 or spell.exit > start)


def at_risk(spells: Sequence[Spell], times: Iterable[float], start: float = 0.0) -> tuple[int, ...]:
    """How many are at risk at each time, of those whose spells go on after `start`."""
    kept = after(spells, start)
    entries = sorted(spell.entry for spell in kept)
    exits = sorted(spell.exit for spell in kept)

    def count(time: float) -> int:
        entered = bisect_left(entries, time) if time > 0 else bisect_right(entries, 0.0)
        return entered - bisect_left(exits, time)

    return tuple(count(time) for time in times)


def rows(spells: Sequence[Spell], start: float = 0.0) -> tuple[Row, ...]:
    """The risk set at every time after `start` at which some cause ended a spell."""
    ended: dict[float, Counter[str]] = {}
    for spell in after(spells, start):
        if spell.cause is not None:
            ended.setdefault(spell.exit, Counter())[spell.cause] += 1
    times = sorted(ended)
    counts = at_risk(spells, times, start)
    return tuple(
        Row(time, count, dict(sorted(ended[time].items())))
        for time, count in zip(times, counts, strict=True)
    )


def first_start(spells: Sequence[Spell], minimum: int = ENOUGH_AT_RISK) -> Number:
    """From which time on survival can be read: 0 unless entry is delayed.

    With delayed entry, the first time just after which at least `minimum` are at risk, and
    after which the risk set is never used up before the last subject has entered.
    """
    entries = sorted(spell.entry for spell in spells)
    if entries[-1] == 0:
        return 0.0
    exits = sorted(spell.exit for spell in spells)
    gap = last_gap(spells)
    for time in sorted(set(entries)):
        present = bisect_right(entries, time) - bisect_right(exits, time)
        if time >= gap and present >= minimum:
            return time
    return Unknown(f"fewer than {minimum} are at risk at every time from which it could be read")


def last_gap(spells: Sequence[Spell]) -> float:
    """The last time by which nobody is left, or survival is 0, with subjects yet to enter.

    Where there is none, 0.
    """
    return max(gaps(spells), default=0.0)


def gaps(spells: Sequence[Spell]) -> list[float]:
    """Every such time, in order."""
    entries = sorted(spell.entry for spell in spells)
    exits = sorted(spell.exit for spell in spells)
    used_up = {row.time for row in rows(spells) if row.events == row.at_risk}
    empty = {time for time in exits if bisect_right(entries, time) == bisect_right(exits, time)}
    return sorted(time for time in used_up | empty if time <= entries[-1])


def gap_to_end_at(spells: Sequence[Spell], minimum: int = ENOUGH_AT_RISK) -> float | None:
    """The gap at which curves can end that begin before it with `minimum` at risk; else null.

    Of several such stretches between gaps, the last.
    """
    entries = sorted(spell.entry for spell in spells)
    exits = sorted(spell.exit for spell in spells)
    enough = [
        time
        for time in sorted({*entries})
        if bisect_right(entries, time) - bisect_right(exits, time) >= minimum
    ]
    if not enough:
        return None
    return next((gap for gap in gaps(spells) if gap > enough[-1]), None)


def before_gap(spells: Sequence[Spell], gap: float) -> tuple[Spell | None, ...]:
    """The spells as far as they were watched before `gap`; null for those that entered later.

    Who ended at the gap is censored there, so that no curve goes on at 0 past those who are
    known to have waited longer.
    """
    return tuple(
        None
        if spell.entry >= gap
        else Spell(spell.exit, None, spell.entry)
        if spell.exit >= gap
        else spell
        for spell in spells
    )
