"""Standard output and standard error: bytes out, and what happens when nobody reads them.

A reader that closed the pipe has seen enough: the rest is dropped without a word.  Any
other failure to write, a full disk behind a redirection for one, is a `FileError`.  After
either, the stream is pointed at nothing: what Python still holds would fail once more when
it exits, with a message and an exit status of its own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import IO, Any, Final

from replay.errors import FileError, ReplayError, RulesError

_MIN_WIDTH: Final = 60
_MAX_WIDTH: Final = 100
PLAIN_WIDTH: Final = 80


def write(data: bytes) -> None:
    """Write to standard output and flush it.  Raises `FileError`."""
    if sys.stdout is None:  # it was closed when Python started
        raise FileError("standard output", "closed")
    try:
        sys.stdout.flush()
        _write_all(sys.stdout.buffer, data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _drop(sys.stdout)
    except OSError as problem:
        _drop(sys.stdout)
        raise FileError("standard output", (problem.strerror or str(problem)).lower()) from None


def write_text(text: str) -> None:
    """The same for text, in the terminal's encoding; what it cannot hold is escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    write(text.encode(encoding, "backslashreplace"))


def write_document(document: Any) -> None:
    """A document in its one byte form, and a newline."""
    from replay.canonical import encode

    write(encode(document) + b"\n")


def write_result(document: Any, format_: str, text: Callable[..., str]) -> None:
    """A document as it is, or in the words that `text` makes of it."""
    if format_ == "json":
        write_document(document)
    else:
        write_text(text(document, colour=colour(), width=width()))


def say(message: str, *, by: str = "replay") -> None:
    """One message on standard error, with control characters made visible."""
    from replay.report.safe import shown

    tell(f"{by}: {shown(message)}\n")


def tell(text: str) -> None:
    """Text that is safe to print, to standard error, if anybody is left to be told."""
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def tell_trace() -> None:
    """Where the exception in hand came from, with control characters made visible."""
    from traceback import format_exc

    from replay.report.safe import shown

    for line in format_exc().splitlines():
        text = line.lstrip(" ")
        tell(f"{' ' * (len(line) - len(text))}{shown(text)}\n")


def say_problem(error: ReplayError, message: str, *, debug: bool) -> None:
    """What is wrong in one message; of somebody's own rule set that failed, also where."""
    if debug and isinstance(error, RulesError) and error.__cause__ is not None:
        tell_trace()
    say(message)


def _write_all(stream: IO[bytes], data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        # an unbuffered stream writes what fits, and null where nothing does
        rest = rest[stream.write(rest) or 0 :]


def _drop(stream: IO[str]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def colour() -> bool:
    """Whether standard output takes colour: a terminal, and NO_COLOR is not set."""
    return (
        _is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    )


def width() -> int:
    """Columns to fill: the terminal's within reason, else 80."""
    if not _is_terminal():
        return PLAIN_WIDTH
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return PLAIN_WIDTH
    # a terminal that does not know its width says 0
    return min(max(columns, _MIN_WIDTH), _MAX_WIDTH) if columns else PLAIN_WIDTH


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()
