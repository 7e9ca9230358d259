"""Strict JSON Lines: decompressed bytes to events, or to a refusal that says where.

Decides which lines an input has and which of two paths reads each.  The exact path
(`replay.exact`) alone refuses, and its order of judgement is written there.  The fast
path (`replay.fastpath`) gives an event only where it has proved that the exact path
would give the same one.

Before any of this: a line longer than the limit is `line_too_long`, and is never held
in memory.  Lines end with `\\n` only; one that is JSON white space is blank and counted.
An input that stops inside a value has a torn tail (`truncated_input`), one that ends in
NUL bytes, as files do that lost power, a NUL tail (`nul_byte`).

Recovery reads on: each bad line becomes a `Rejected` with its bytes.  `where` tells
loss at the end (`torn_tail`, `nul_tail`) from any other bad line (`middle`).  A stream
whose compression is damaged keeps the whole lines before the damage; the tear and what
follows it count as one rejected line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal, TypeAlias

from replay.errors import Refusal
from replay.event import Event, Record, Source
from replay.exact import DEFAULT_LIMITS, Limits, is_blank, read_event
from replay.fastpath import FastPath, is_plain
from replay.lines import Damage, Damaged, Overlong, Tail, pieces
from replay.strictjson import Fault

__all__ = [
    "DEFAULT_LIMITS",
    "Damaged",
    "Decoder",
    "Limits",
    "Recovery",
    "Rejected",
    "decode",
    "decode_bytes",
    "recover",
    "recover_bytes",
]

Where: TypeAlias = Literal["torn_tail", "nul_tail", "middle"]
WHERES: Final = ("torn_tail", "nul_tail", "middle")


class Rejected(Record, frozen=True, kw_only=True):
    """A line that recovery left out; `raw` has its first bytes, up to the line limit.

    `size` counts all its bytes, without the newline.
    """

    line: int
    byte_offset: int
    size: int
    where: Where
    code: str
    pointer: str | None
    expected: str
    found: str
    raw: bytes

    def reason(self) -> str:
        """The fault as a sentence."""
        at = f" at {self.pointer}" if self.pointer else ""
        return f"{self.code}{at}: expected {self.expected}, found {self.found}"


class Recovery(Record, frozen=True):
    """What recovery kept, and what it did not."""

    source: Source
    rejected: tuple[Rejected, ...]


def decode(
    chunks: Iterable[bytes],
    *,
    name: str,
    sha256: str | Callable[[], str],
    limits: Limits = DEFAULT_LIMITS,
) -> Source:
    """All events of a stream of decompressed bytes, cut anywhere.  Raises `Refusal`.

    `sha256` is of the bytes as stored, or says so once the chunks are read.
    """
    return _decoded(Decoder(name, limits), chunks, sha256).source


def recover(
    chunks: Iterable[bytes],
    *,
    name: str,
    sha256: str | Callable[[], str],
    limits: Limits = DEFAULT_LIMITS,
) -> Recovery:
    """As `decode`, but bad lines are returned beside the good ones.  Never refuses."""
    return _decoded(Decoder(name, limits, recovering=True), chunks, sha256)


def decode_bytes(data: bytes, *, name: str, limits: Limits = DEFAULT_LIMITS) -> Source:
    """`decode` of uncompressed bytes in memory."""
    return decode([data], name=name, sha256=hashlib.sha256(data).hexdigest(), limits=limits)


def recover_bytes(data: bytes, *, name: str, limits: Limits = DEFAULT_LIMITS) -> Recovery:
    """`recover` of uncompressed bytes in memory."""
    return recover([data], name=name, sha256=hashlib.sha256(data).hexdigest(), limits=limits)


def _decoded(
    decoder: Decoder, chunks: Iterable[bytes], sha256: str | Callable[[], str]
) -> Recovery:
    events: list[Event] = []
    for block in decoder.blocks(chunks):
        events += block
    source = Source(
        name=decoder.name,
        sha256=sha256 if isinstance(sha256, str) else sha256(),
        events=tuple(events),
        lines=decoder.lines,
        blank=decoder.blank,
        quarantined=len(decoder.rejected),
        complete=not decoder.rejected,
    )
    return Recovery(source, tuple(decoder.rejected))


class Decoder:
    """Reads one input block by block; its counts are final once `blocks` is exhausted."""

    def __init__(
        self, name: str, limits: Limits = DEFAULT_LIMITS, *, recovering: bool = False
    ) -> None:
        self.name = name
        self.limits = limits
        self.lines = 0
        self.blank = 0
        self.rejected: list[Rejected] = []
        self._recovering = recovering
        self._offset = 0
        self._fast = FastPath(limits)

    def blocks(self, chunks: Iterable[bytes]) -> Iterator[list[Event]]:
        """The events in line order, as lists of some lines each.

        Raises `Refusal` at the first bad line, unless recovering.
        """
        limit = self.limits.line_bytes
        for piece in pieces(chunks, limit, prompt=not self._recovering):
            match piece:
                case bytes():
                    yield self._block(piece)
                case Tail(line):
                    yield self._tail(line)
                case Overlong(head, size, ends_in_nul):
                    self.lines += 1
                    self._refuse(_overlong(limit), head, size, _end(ends_in_nul))
                    self._offset += size + 1
                case Damage(expected, found, Tail(line, size)):
                    self.lines += 1
                    fault = Fault("truncated_input", None, expected, found)
                    self._refuse(fault, line, size, "torn_tail")

    def _block(self, block: bytes) -> list[Event]:
        lines = block.split(b"\n")
        lines.pop()  # what follows the last newline: nothing
        plain, fast, limit = is_plain(block), self._fast.event, self.limits.line_bytes
        number, offset = self.lines, self._offset
        events: list[Event] = []
        for line in lines:
            number += 1
            event = None
            if len(line) <= limit and (plain or is_plain(line)):
                event = fast(line, number, offset)
            if event is None:
                self.lines, self._offset = number, offset
                event = self._exact(line)
            if event is not None:
                events.append(event)
            offset += len(line) + 1
        self.lines, self._offset = number, offset
        return events

    def _tail(self, line: bytes) -> list[Event]:
        self.lines += 1
        event = self._exact(line, last=True)
        return [] if event is None else [event]

    def _exact(self, line: bytes, *, last: bool = False) -> Event | None:
        """The event of the line in hand; null where it is blank or rejected."""
        try:
            if len(line) > self.limits.line_bytes:
                raise _overlong(self.limits.line_bytes)
            if is_blank(line):
                self.blank += 1
                return None
            return read_event(line, self.lines, self._offset, self.limits, last=last)
        except Fault as fault:
            self._refuse(fault, line, len(line), _where(fault, line, last))
            return None

    def _refuse(self, fault: Fault, raw: bytes, size: int, where: Where) -> None:
        if not self._recovering:
            raise Refusal(
                fault.code,
                file=self.name,
                line=self.lines,
                byte_offset=self._offset,
                pointer=fault.pointer,
                expected=fault.expected,
                found=fault.found,
            ) from None
        self.rejected.append(
            Rejected(
                line=self.lines,
                byte_offset=self._offset,
                size=size,
                where=where,
                code=fault.code,
                pointer=fault.pointer,
                expected=fault.expected,
                found=fault.found,
                raw=raw[: self.limits.line_bytes],
            )
        )


def _overlong(limit: int) -> Fault:
    return Fault("line_too_long", None, f"a line of at most {limit} bytes", "a longer one")


def _where(fault: Fault, line: bytes, last: bool) -> Where:
    if fault.code == "truncated_input":
        return "torn_tail"
    return _end(last and line.endswith(b"\0"))


def _end(in_nul: bool) -> Where:
    return "nul_tail" if in_nul else "middle"
