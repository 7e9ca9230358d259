"""What a command is given: logs, the oracle beside each, and which files it may write to."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from replay import files, terminal
from replay.errors import FileError, Refusal, ReplayError, UsageError
from replay.event import Source
from replay.history import History, Prefix, admit

if TYPE_CHECKING:
    from replay.check import OracleFile
    from replay.exact import Limits
    from replay.report.findings import Origin

REFUSED: Final = 3  # the exit status of a refused or incomplete log

Read = Callable[[], History]
Taken = dict[str, Source | None]
"""What was read of each path; null where it was refused."""


def logs_of(arguments: Namespace, taken: Taken | None = None) -> list[tuple[str, Read]]:
    """Each log that the arguments name: its path, and what reads it, noting it in `taken`."""
    paths = paths_of(arguments.logs)
    names = [os.path.basename(path) for path in paths]  # of two alike the paths tell which
    if arguments.recover:
        _refuse_sidecars_among(paths)

    def source(path: str) -> Source:
        if taken is None:
            return read_source(path)
        taken.setdefault(path, None)
        found = read_source(path)
        taken[path] = taken[path] or found  # of a segment given twice, the first was admitted
        return found

    def read_source(path: str) -> Source:
        name = printable(
            path if names.count(os.path.basename(path)) > 1 else os.path.basename(path)
        )
        if not arguments.recover:
            return files.read_source(path, limits=limits_of(arguments), name=name)
        recovery = files.recover_source(path, limits=limits_of(arguments), name=name)
        written = files.write_quarantine(path, recovery)
        if written is not None:
            count = len(recovery.rejected)
            terminal.say(f"{path}: {count} rejected, written to {written}")
        return recovery.source

    if arguments.segments:
        from replay.segments import join

        return [(paths[0], lambda: join([source(path) for path in paths]))]
    return [(path, lambda path=path: admit([source(path)])) for path in paths]  # type: ignore[misc]


def paths_of(logs: Sequence[str]) -> list[str]:
    paths = files.expand(logs)
    if paths.count(files.STDIN) > 1:
        raise UsageError("standard input can be read once")
    if files.STDIN in paths and sys.stdin is None:  # it was closed when Python started
        raise FileError("standard input", "closed")
    return paths


def printable(name: str) -> str:
    """A file name as documents hold it: bytes that are not UTF-8 become escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def about(path: str, error: ReplayError) -> str:
    """The error in words; what was asked of a log does not name the log by itself."""
    return f"{path}: {error}" if isinstance(error, UsageError) else str(error)


def admitted(read: Read) -> History | Refusal:
    """What was read, or why it was refused, which is said on standard error too."""
    try:
        return read()
    except Refusal as refusal:
        terminal.say(str(refusal))
        return refusal


def origin_of(
    path: str, oracle: OracleBeside | None, log: History | Refusal, taken: Taken
) -> Origin:
    """Where a log's files are, and where in them its events."""
    from replay.report.findings import Origin

    by_name: dict[str, list[str]] = {}
    refused = refused_of(taken)  # known even where another segment has its name
    for one in taken if refused is None else [refused]:
        by_name.setdefault(printable(os.path.basename(one)), []).append(slashed(one))
    return Origin(
        slashed(path),
        paths=tuple(map(slashed, taken)),
        oracle=None if oracle is None else slashed(oracle.path),
        files={name: paths[0] for name, paths in by_name.items() if len(paths) == 1},
        places={} if isinstance(log, Refusal) else _places(log, taken),
    )


def refused_of(taken: Taken) -> str | None:
    """The path at which reading stopped, null where all was read."""
    return next((path for path, source in taken.items() if source is None), None)


def _places(log: History, taken: Taken) -> dict[str, tuple[str, int]]:
    """The path and the line of each event: of a duplicate, those of the one that was admitted."""
    admitted = {id(event) for event in log.events}
    return {
        event.event_id: (slashed(path), event.line)
        for path, source in taken.items()
        if source is not None
        for event in source.events
        if id(event) in admitted
    }


def slashed(path: str) -> str:
    """A path with forward slashes, absolute exactly where it begins with one."""
    slashed = path.replace(os.sep, "/")
    return f"/{slashed}" if os.path.isabs(path) and slashed[0] != "/" else slashed


def limits_of(arguments: Namespace) -> Limits:
    from replay.exact import DEFAULT_LIMITS, Limits

    return Limits(
        line_bytes=arguments.max_line or DEFAULT_LIMITS.line_bytes,
        nesting=arguments.max_nesting or DEFAULT_LIMITS.nesting,
        id_bytes=arguments.max_id or DEFAULT_LIMITS.id_bytes,
    )


class OracleBeside:
    """An oracle file, and its document once it was opened."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.data: bytes | None = None

    @classmethod
    def of(cls, log: str, arguments: Namespace) -> OracleBeside | None:
        """The one that was given, else the one beside the log, if there is one."""
        if arguments.oracle is not None:
            return cls(arguments.oracle)
        if arguments.segments:  # an oracle beside one is not of them all
            return None
        path = files.oracle_beside(log)
        return None if path is None else cls(path)

    def file(self) -> OracleFile:
        from replay.check import OracleFile

        return OracleFile(files.printable_name(self.path), self._read)

    def _read(self) -> bytes:
        self.data = files.read_bytes(self.path)
        return self.data

    def document(self) -> Any:
        """What it says, for printing; null where it was never opened."""
        from msgspec import json

        return None if self.data is None else json.decode(self.data)


def refuse_overwriting(output: str, inputs: Iterator[str] | Sequence[str]) -> None:
    if output == files.STDIN:
        raise UsageError("an output is a file; - is standard input, as a log")
    for path in inputs:
        same = os.path.abspath(path) == os.path.abspath(output)
        if same or (
            os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output)
        ):
            raise UsageError(f"{output} is an input, and inputs are never written to")


def _refuse_sidecars_among(inputs: Sequence[str]) -> None:
    taken = {os.path.abspath(path) for path in inputs}
    for sidecar in map(files.quarantine_path, inputs):
        if os.path.abspath(sidecar) in taken:
            raise UsageError(f"{sidecar} is an input, and inputs are never written to")


def prefix_of(log: History, arguments: Namespace) -> Prefix:
    return log.until(
        sequence=arguments.at_sequence, time=arguments.at_time, minute=arguments.at_minute
    )


def listing_duplicates(projection: Any, log: History | Refusal) -> Any:
    """The projection for people: the document counts exact duplicates, and text lists them."""
    if isinstance(log, Refusal) or not log.duplicates:
        return projection
    listed = [{"event_id": d.event_id, "line": d.place[1], "of": d.of[1]} for d in log.duplicates]
    return {**projection, "duplicates": listed}
