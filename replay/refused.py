"""A smallest set of lines that is still refused with the same code: what a bug report needs.

Nothing is admitted of a refused log, so lines are left out rather than events, byte for byte
as they are.  The lines that the refusal names are tried first.
"""

from __future__ import annotations

from collections.abc import Sequence

from replay.decode import decode_bytes
from replay.errors import Refusal
from replay.event import Record
from replay.exact import DEFAULT_LIMITS, Limits
from replay.history import admit
from replay.minimal import BUDGET, Part, irredundant


class RefusedLines(Record, frozen=True):
    """Lines by number, from 1; their bytes; and the refusal of them alone."""

    part: Part[int]
    data: bytes
    refusal: Refusal
    lines: int


def refused_lines(
    data: bytes, *, name: str, limits: Limits = DEFAULT_LIMITS, budget: int = BUDGET
) -> RefusedLines | None:
    """An irredundant set of the lines of a decompressed log; null where it is not refused.

    `budget` bounds the lines that are read in looking for one.
    """
    lines = _lines(data)

    def text(numbers: Sequence[int]) -> bytes:
        return b"".join(lines[number - 1] for number in numbers)

    def refusal(numbers: Sequence[int]) -> Refusal | None:
        try:
            admit([decode_bytes(text(numbers), name=name, limits=limits)])
        except Refusal as found:
            return found
        return None

    everything = range(1, len(lines) + 1)
    whole = refusal(everything)
    if whole is None:
        return None

    def holds(numbers: Sequence[int]) -> bool:
        found = refusal(numbers)
        return found is not None and found.code == whole.code

    guess = _named(whole)
    part = irredundant(guess if holds(guess) else everything, holds, budget=budget)
    alone = refusal(part.kept)
    assert alone is not None  # it holds of what was kept
    return RefusedLines(part, text(part.kept), alone, len(lines))


def _named(refusal: Refusal) -> list[int]:
    places = {place.line for place in refusal.related}
    return sorted(places | ({refusal.line} if refusal.line is not None else set()))


def _lines(data: bytes) -> list[bytes]:
    """The lines as the reader cuts them: at newlines, and nowhere else."""
    parts = data.split(b"\n")
    return [*(part + b"\n" for part in parts[:-1]), *([parts[-1]] if parts[-1] else [])]
