"""What an estimate is: a number, an interval, or a stated reason why there is none.

A method never returns NaN, infinity or zero for something it cannot know.  Where data
bear no answer (a median that was not reached, a band where nobody is left at risk) the
answer is `Unknown`, which says why.  What the caller did wrong is an error: `BadInput`
for data that cannot be true, `WrongMethod` for a number that would mislead however
carefully it were computed.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Final, TypeAlias

import msgspec

ROUNDING: Final = 1e-12
"""How far a product or sum of a few thousand float shares may stray from its value."""


class Record(msgspec.Struct, frozen=True):
    """A frozen record: results are compared, never changed."""


class Unknown(Record, frozen=True):
    """No number, and why: `reason` is a clause that follows "unknown: "."""

    reason: str


class Interval(Record, frozen=True):
    """A confidence interval, in the unit of what it is about."""

    low: float
    high: float


ONE_CLUSTER: Final = Unknown("one cluster shows nothing of how clusters differ")

Number: TypeAlias = float | Unknown
Range: TypeAlias = Interval | Unknown


class MethodError(Exception):
    """What a method refuses.  Facts are attributes; the sentence is built from them."""


class BadInput(MethodError):
    """Data that cannot be true.  `index` counts from 0, and is None for all of them."""

    def __init__(self, what: str, found: object, expected: str, index: int | None = None) -> None:
        self.what = what
        self.found = found
        self.expected = expected
        self.index = index
        where = "" if index is None else f" {index}"
        super().__init__(f"{what}{where}: found {found!r}, expected {expected}")


class WrongMethod(MethodError):
    """A number that was asked for and would mislead; `instead` says what to ask for."""

    def __init__(self, asked: str, because: str, instead: str) -> None:
        self.asked = asked
        self.because = because
        self.instead = instead
        super().__init__(f"{asked} is refused: {because}; use {instead}")


def normal_quantile(level: float) -> float:
    """The z of a two-sided interval: 1.96 for a `level` of 0.95."""
    if not 0 < level < 1:
        raise BadInput("level", level, "a number between 0 and 1")
    return NormalDist().inv_cdf((1 + level) / 2)
