"""A stream of bytes cut into lines, in bounded memory.

Decides what a line is: what `\\n` ends, and what follows the last one if that is
anything.  Whole lines leave in blocks, since a call a line costs more than parsing it.
A line over the limit leaves as its head and its size; at most the limit and one chunk
are ever held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from replay.event import Record


class Damaged(Exception):
    """Raised by a stream of chunks whose compressed bytes are cut short or corrupt."""

    def __init__(self, expected: str, found: str) -> None:
        self.expected = expected
        self.found = found
        super().__init__(expected, found)


class Overlong(Record, frozen=True):
    """A line over the limit: its first bytes, and how many it has in all."""

    head: bytes
    size: int
    ends_in_nul: bool = False


class Tail(Record, frozen=True):
    """What follows the last newline; of an overlong one that damage cut, the head."""

    line: bytes
    size: int


class Damage(Record, frozen=True):
    """The end of a stream that could not be read further."""

    expected: str
    found: str
    tail: Tail


Piece: TypeAlias = bytes | Overlong | Tail | Damage


def pieces(chunks: Iterable[bytes], limit: int, *, prompt: bool) -> Iterator[Piece]:
    """Blocks of whole lines, overlong lines, and last the tail or the damage, if any.

    `prompt` gives an overlong line up as soon as it is one, with the size so far, for a
    caller that stops there.
    """
    line = _OpenLine(limit)
    try:
        for chunk in chunks:
            begin = 0
            if line.overlong:
                begin = chunk.find(b"\n") + 1
                line.add(chunk[: begin - 1] if begin else chunk)
                if begin:
                    yield line.take_overlong()
            cut = chunk.rfind(b"\n") + 1
            if cut > begin:
                yield line.take() + chunk[begin:cut]
            if not line.overlong:
                line.add(chunk[max(begin, cut) :])
            if line.overlong and prompt:
                yield line.take_overlong()
    except Damaged as damage:
        size = line.size
        yield Damage(damage.expected, damage.found, Tail(line.take(), size))
        return
    if line.overlong:
        yield line.take_overlong(last=True)
    elif line.size:
        size = line.size
        yield Tail(line.take(), size)


class _OpenLine:
    """The beginning of a line whose end has not been read."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._last = b""
        self.size = 0

    @property
    def overlong(self) -> bool:
        return self.size > self._limit

    def add(self, part: bytes) -> None:
        room = self._limit - self.size
        if part:
            self._last = part[-1:]
            self.size += len(part)
        if room > 0 and part:
            self._parts.append(part[:room])

    def take(self) -> bytes:
        """The line so far, up to the limit; what follows is a new line."""
        head = b"".join(self._parts)
        self._parts, self.size = [], 0
        return head

    def take_overlong(self, *, last: bool = False) -> Overlong:
        size, ends_in_nul = self.size, last and self._last == b"\0"
        return Overlong(self.take(), size, ends_in_nul)
