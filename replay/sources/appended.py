"""The lines of an append-only JSON Lines file, and when each was recorded.

Three ways to know.  `by_commit` has every version of the file along first parents: the
sequence is the order in which commits first held the lines, and within a commit that of
the file; the time is the committer's.  `by_rows` has one version and a file of receipt
times beside it: JSON Lines of `{"recorded_sequence", "line", "recorded_at", "id",
"commit"?}`, one for each line that is not blank.  `by_line` has a bare file, which says
nothing of its receipt: the order is that of the lines, and the producer's own time
stands in for that of the recording.

Every line has a number of its own, also one that is no record.  Append-only is checked,
never assumed: a line counts as new when the file says its value more often than any
earlier version did, so a file that a merge sorted or spelled anew adds nothing, and a
line that comes back is not recorded again.  A line that a later commit removes stays as
recorded and is counted; a line that is changed is so removed, and what replaces it is
new.  Lines that a merge brings are recorded by the merge; their order among each other
is the file's alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from replay.errors import FileError
from replay.event import MAX_SEQUENCE, Record
from replay.sources.git import Repository, Version
from replay.sources.imported import Object, Unreadable, ranges, read_object, value_key
from replay.timestamps import NS_PER_SECOND, BadTime, format_utc, parse_utc

NESTED_BY: Final = 2  # the event and its payload, around what is kept of a line
_OBJECT_ID: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")


class Recorded(Record, frozen=True, kw_only=True):
    """One line of the file, with the place and time at which it was recorded.

    `recorded_at` is in nanoseconds.  `unordered` lines came with others in one merge.
    """

    sequence: int
    line: bytes
    read: Object | Unreadable
    recorded_at: int
    commit: str | None = None
    unordered: bool = False


class Arrivals(Record, frozen=True):
    """The recorded lines of a file, by sequence, and how many were taken back."""

    lines: tuple[Recorded, ...]
    removed: int = 0


def of_repository(path: str, ref: str, name: str, inputs: str) -> Arrivals:
    """The lines of file `name` on `ref`, as its commits recorded them.

    Raises `FileError`, which says what the importer's `inputs` are.
    """
    try:
        repository = Repository(path)
    except FileError as error:
        raise FileError(path, f"{error.problem}; expected {inputs}") from None
    tip = repository.tip(ref)
    if tip is None:
        raise FileError(path, f"the repository has no {ref}; expected {inputs}")
    if repository.is_shallow():
        raise FileError(
            path,
            "the repository is shallow: its first commit did not record what it holds;"
            " expected the whole history",
        )
    return by_commit(repository.versions(tip, name), path)


def content_of(path: str, expected: str) -> bytes:
    """The bytes of a file.  Raises `FileError`, which says what is `expected` of a folder."""
    try:
        return Path(path).read_bytes()
    except IsADirectoryError:
        raise FileError(path, f"a folder, expected {expected}") from None
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}") from None


def by_commit(versions: Iterable[Version], path: str) -> Arrivals:
    """The lines in the order of the commits that first held them.

    Raises `FileError` for a committer time that no contract line can bear.
    """
    before, present, most = b"", Counter[bytes](), Counter[bytes]()
    found: list[Recorded] = []
    removed = 0
    for version in versions:
        content = version.content or b""
        appended = content.startswith(before) and (not before or before.endswith(b"\n"))
        earlier, present = present, present if appended else Counter()
        for line, read in _lines(content[len(before) :] if appended else content):
            key = value_key(line, read)
            present[key] += 1
            if present[key] > most[key]:
                most[key] = present[key]
                found.append(_arrival(len(found) + 1, line, read, version, path))
        removed += 0 if appended else (earlier - present).total()
        before = content
    return Arrivals(tuple(found), removed)


def _arrival(
    sequence: int, line: bytes, read: Object | Unreadable, version: Version, path: str
) -> Recorded:
    try:
        recorded_at = parse_utc(format_utc(version.committed_at * NS_PER_SECOND))
    except (BadTime, ValueError, OverflowError):
        raise FileError(
            path,
            f"commit {version.commit} bears the time {version.committed_at} s, which lies"
            " outside the years 1678 to 2261 of a log",
        ) from None
    return Recorded(
        sequence=sequence,
        line=line,
        read=read,
        recorded_at=recorded_at,
        commit=version.commit,
        unordered=version.merge,
    )


def _lines(content: bytes) -> Iterator[tuple[bytes, Object | Unreadable]]:
    for line in content.split(b"\n"):
        bare = line.strip(b" \t\r")
        if bare:
            yield bare, read_object(bare, levels=NESTED_BY)


def by_line(records: bytes, said: Callable[[Object], int | None]) -> Arrivals:
    """The lines of a bare file in its own order, each at the time it has `said`.

    A line that says none is placed at the latest time before it, or at the first of all
    where nothing before it says one; where no line does, none can be recorded.
    """
    read = list(_lines(records))
    times = [said(each) if isinstance(each, Object) else None for _, each in read]
    latest = next((time for time in times if time is not None), None)
    found: list[Recorded] = []
    for number, ((line, each), time) in enumerate(zip(read, times, strict=True), 1):
        if latest is None:
            each, time = Unreadable("no line of the file says a time"), 0
        elif time is None:
            time = latest
        latest = None if latest is None else max(latest, time)
        found.append(Recorded(sequence=number, line=line, read=each, recorded_at=time))
    return Arrivals(tuple(found))


def by_rows(records: bytes, rows: bytes, path: str, *, identity: str = "id") -> Arrivals:
    """The lines as a file of receipt times records them, cross-checked line by line.

    `identity` names the field that a line's `id` in the rows repeats.  Raises `FileError`
    about `path`, the rows' file, where the two do not fit.
    """
    numbered = {
        number: bare
        for number, line in enumerate(records.split(b"\n"), 1)
        if (bare := line.strip(b" \t\r"))
    }
    found: dict[int, Recorded] = {}
    lines: set[int] = set()
    for where, fields in _rows(rows, path):
        line, arrival = _row(fields, numbered, identity, f"line {where}", path)
        if line in lines or arrival.sequence in found:
            what = f"line {line}" if line in lines else f"sequence {arrival.sequence}"
            raise FileError(path, f"line {where}: {what} is recorded twice, expected once")
        lines.add(line)
        found[arrival.sequence] = arrival
    if missing := [number for number in numbered if number not in lines]:
        raise FileError(
            path,
            f"has {len(lines)} rows for {len(numbered)} records: found none for"
            f" line {ranges(missing)}, expected one for each",
        )
    return Arrivals(tuple(found[sequence] for sequence in sorted(found)))


def _rows(rows: bytes, path: str) -> Iterator[tuple[int, dict[str, object]]]:
    for where, row in enumerate(rows.split(b"\n"), 1):
        if not row.strip(b" \t\r"):
            continue
        read = read_object(row)
        if isinstance(read, Unreadable):
            raise FileError(path, f"line {where}: {read.problem}, expected a JSON object")
        yield where, read.fields


def _row(
    fields: dict[str, object], numbered: dict[int, bytes], identity: str, where: str, path: str
) -> tuple[int, Recorded]:
    line, sequence = fields.get("line"), fields.get("recorded_sequence")
    if type(line) is not int or line not in numbered:
        raise FileError(path, f"{where}: found line {line!r}, expected that of a record")
    if type(sequence) is not int or not 1 <= sequence <= MAX_SEQUENCE:
        raise FileError(
            path,
            f"{where}: found recorded_sequence {sequence!r},"
            f" expected an integer 1 to {MAX_SEQUENCE}",
        )
    read = read_object(numbered[line], levels=NESTED_BY)
    bears = read.fields.get(identity) if isinstance(read, Object) else None
    if fields.get("id") != bears:
        raise FileError(
            path,
            f"{where}: found id {fields.get('id')!r} for line {line}, expected {bears!r},"
            " as that line has it",
        )
    commit = fields.get("commit")
    return line, Recorded(
        sequence=sequence,
        line=numbered[line],
        read=read,
        recorded_at=_receipt_time(fields.get("recorded_at"), where, path),
        commit=commit if isinstance(commit, str) and _OBJECT_ID.match(commit) else None,
    )


def _receipt_time(value: object, where: str, path: str) -> int:
    try:
        return parse_utc(value if isinstance(value, str) else "")
    except BadTime as bad:
        raise FileError(
            path, f"{where}: found recorded_at {value!r}, expected {bad.expected}"
        ) from None
