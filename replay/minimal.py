"""An irredundant part of a whole: something still holds of it, and of no part with one less.

Leaving out may make a thing hold again that a smaller omission broke (a history without an
event, and without the one that corrected it), so nothing is assumed about how parts compare:
ever smaller pieces are left out, and at last single elements until none can go.  That is
delta debugging's minimizing by complements (Zeller and Hildebrandt, "Simplifying and isolating
failure-inducing input", 2002); what it finds is irredundant, not the smallest there is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from replay.event import Record

BUDGET: Final = 1_000_000  # elements looked at in all: seconds, and the same on every machine

_T = TypeVar("_T")


class Part(Record, Generic[_T], frozen=True):
    """What was kept, in order; not known to be irredundant where looking went too far."""

    kept: tuple[_T, ...]
    irredundant: bool


class _Exhausted(Exception):
    pass


def irredundant(
    whole: Sequence[_T], holds: Callable[[Sequence[_T]], bool], *, budget: int = BUDGET
) -> Part[_T]:
    """An irredundant part of `whole`, of which `holds` is true.

    `budget` bounds how many elements are put to `holds`; once it is spent the smallest part
    found so far is returned, and said not to be shown irredundant.
    """
    search = _Search([*whole], holds, budget)
    try:
        size = len(whole) // 2
        while size > 1:
            search.leave_out(size)
            size = min(size // 2, len(search.kept) // 2)
        while search.leave_out(1):
            pass
    except _Exhausted:
        return Part(tuple(search.kept), False)
    return Part(tuple(search.kept), True)


class _Search(Generic[_T]):
    def __init__(self, kept: list[_T], holds: Callable[[Sequence[_T]], bool], budget: int) -> None:
        self.kept = kept
        self.holds = holds
        self.budget = budget

    def leave_out(self, size: int) -> bool:
        """Leave out every piece of this size that can go, the last first; whether any went."""
        before = len(self.kept)
        for start in reversed(range(0, len(self.kept), size)):
            rest = self.kept[:start] + self.kept[start + size :]
            self.budget -= len(rest) + 1
            if self.budget < 0:
                raise _Exhausted
            if self.holds(rest):
                self.kept = rest
        return len(self.kept) < before
