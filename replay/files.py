"""Files in and out: where logs are found, how their bytes are read, how results are written.

Decides compression by the name's suffix (`.gz`, `.zst`), and for standard input (`-`) by
the first bytes.  Multi-member gzip and multi-frame zstd files are read whole.  Data that
is cut short, corrupt, or followed by bytes that are not another member (zero padding too,
since a lost member leaves zeros) is `truncated_input`, never a shorter log; so is a
compressed file with no member at all.  zlib and `backports.zstd` are driven by hand,
since `gzip` skips padding and `zstandard` takes a truncated file for a shorter one.
In recovery the lines before the damage are kept; what a library withholds together with
its error (of a corrupt stream, not of a truncated one) is part of the loss.

Bytes are streamed: memory is bounded by the line limit, whatever they decompress to.
The SHA-256 is of the bytes as stored, computed once while they pass.  A source is named
by its file name alone, so that a result does not depend on where the log lies.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Any, Final, Protocol

from replay.decode import DEFAULT_LIMITS, Damaged, Limits, Recovery, decode, recover
from replay.errors import FileError
from replay.event import Source
from replay.history import History, admit
from replay.quarantine import SUFFIX as QUARANTINE_SUFFIX
from replay.quarantine import lines as quarantine_lines

STDIN: Final = "-"
LOG_SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")
_CHUNK: Final = 1 << 20
_GZIP_MAGIC: Final = b"\x1f\x8b"
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"


def expand(arguments: Sequence[str]) -> list[str]:
    """LOG arguments as files: a directory stands for the logs in it, sorted by name.

    Not recursive; quarantine sidecars are no logs.  Raises `FileError` for a directory
    without a log or that cannot be read.
    """
    paths: list[str] = []
    for argument in arguments:
        paths += _logs_in(argument) if _is_directory(argument) else [argument]
    return paths


def load(path: str, *, limits: Limits = DEFAULT_LIMITS) -> History:
    """The admitted history of one log.  Raises `Refusal` and `FileError`."""
    return admit([read_source(path, limits=limits)])


def read_source(path: str, *, limits: Limits = DEFAULT_LIMITS, name: str | None = None) -> Source:
    """The events of one log, strictly.  Raises `Refusal` and `FileError`."""
    with _RawInput(path) as raw:
        return decode(raw.chunks(), name=name or raw.name, sha256=raw.digest, limits=limits)


def recover_source(
    path: str, *, limits: Limits = DEFAULT_LIMITS, name: str | None = None
) -> Recovery:
    """The good lines of one log and the rejected ones.  Raises `FileError`, never refuses."""
    with _RawInput(path) as raw:
        return recover(raw.chunks(), name=name or raw.name, sha256=raw.digest, limits=limits)


def read_decompressed(path: str) -> tuple[bytes, str]:
    """A whole log, decompressed as far as it can be, and the SHA-256 of its stored bytes.

    For showing the lines of events that were read before.  Raises `FileError`.
    """
    data = bytearray()
    with _RawInput(path) as raw:
        with suppress(Damaged):
            for chunk in raw.chunks():
                data += chunk
        return bytes(data), raw.digest()


def compressed(path: str, data: bytes) -> bytes:
    """The bytes as a file of that name holds them: gzip, zstd or plain, by its suffix."""
    if path.endswith(".gz"):
        import gzip

        return gzip.compress(data, mtime=0)  # the same input gives the same bytes
    if path.endswith(".zst"):
        found: bytes = _zstd_module(path).compress(data)
        return found
    return data


def read_bytes(path: str) -> bytes:
    """A whole small file, an oracle for one.  Raises `FileError`."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise FileError(path, _problem(error)) from None
    except ValueError as error:  # a NUL in the path
        raise FileError(path, str(error)) from None


def oracle_beside(log: str) -> str | None:
    """The path of the authored answers beside a log, null where there are none.

    A link to nowhere is there, so that opening it is an error.
    """
    if log == STDIN:
        return None
    suffixes = sorted(LOG_SUFFIXES, key=len, reverse=True)
    stem = next(log.removesuffix(s) for s in (*suffixes, "") if log.endswith(s))
    path = f"{stem}.oracle.json"
    return path if os.path.lexists(path) else None


def printable_name(path: str) -> str:
    """A file's name as documents hold it: bytes that are not UTF-8 become escapes."""
    return os.fsencode(os.path.basename(path)).decode("utf-8", "backslashreplace")


def quarantine_path(log: str) -> str:
    """Where the rejected lines of a log go; of standard input, in the current directory."""
    return ("stdin" if log == STDIN else log) + QUARANTINE_SUFFIX


def write_quarantine(log: str, recovery: Recovery) -> str | None:
    """Writes the sidecar of a recovered log; its path, null where nothing was rejected."""
    if not recovery.rejected:
        return None
    path = quarantine_path(log)
    with write_atomically(path) as file:
        file.writelines(quarantine_lines(recovery))
    return path


def _is_directory(path: str) -> bool:
    return path != STDIN and os.path.isdir(path)


def _logs_in(directory: str) -> list[str]:
    try:
        names = sorted(os.listdir(directory))
    except OSError as error:
        raise FileError(directory, _problem(error)) from None
    paths = [
        os.path.join(directory, name)
        for name in names
        if name.endswith(LOG_SUFFIXES) and not name.endswith(QUARANTINE_SUFFIX)
    ]
    logs = [path for path in paths if os.path.isfile(path)]  # a pipe would wait for ever
    if not logs:
        raise FileError(directory, f"no log in this directory ({', '.join(LOG_SUFFIXES)})")
    return logs


def _problem(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


class _RawInput:
    """One opened input: its decompressed chunks, and the digest of its stored bytes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.name = path if path == STDIN else os.path.basename(path)
        self._sha256 = hashlib.sha256()
        self._file: IO[bytes] | None = None

    def __enter__(self) -> _RawInput:
        if self.path != STDIN:
            try:
                self._file = open(self.path, "rb", buffering=0)
            except (OSError, ValueError) as error:  # ValueError: a NUL in the path
                problem = _problem(error) if isinstance(error, OSError) else str(error)
                raise FileError(self.path, problem) from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def digest(self) -> str:
        """SHA-256 of everything stored, also of what follows the damage in a stream."""
        for _ in self._stored():
            pass
        return self._sha256.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        stored = self._stored()
        first = next(stored, b"")
        stored = _chain(first, stored)
        match self._compression(first):
            case "gzip":
                return _decompressed(stored, "gzip", _gzip_member())
            case "zstd":
                return _decompressed(stored, "zstd", _zstd_frame(self.path))
        return stored

    def _compression(self, first: bytes) -> str | None:
        if self.path == STDIN:
            if first.startswith(_GZIP_MAGIC):
                return "gzip"
            return "zstd" if first.startswith(_ZSTD_MAGIC) else None
        if self.path.endswith(".gz"):
            return "gzip"
        return "zstd" if self.path.endswith(".zst") else None

    def _stored(self) -> Iterator[bytes]:
        # of a pipe what is there, so that an interrupt never waits for a whole chunk
        stdin: Any = sys.stdin  # null where it was closed when Python started
        read = stdin.buffer.read1 if self._file is None else self._file.read
        while True:
            try:
                chunk = read(_CHUNK)
            except OSError as error:
                raise FileError(self.path, _problem(error)) from None
            if not chunk:
                return
            self._sha256.update(chunk)
            yield chunk


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


class _Member(Protocol):
    """The decompressor of one gzip member or zstd frame."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `data` decompresses to, in bounded chunks.  Raises `_Corrupt`."""
        ...


class _Corrupt(Exception):
    """The library's word for why compressed bytes are wrong."""


def _decompressed(
    stored: Iterable[bytes], kind: str, new_member: Callable[[], _Member]
) -> Iterator[bytes]:
    """All members of a compressed stream.  Raises `Damaged` where it is cut or corrupt."""
    expected = f"a whole {kind} stream"
    member = new_member()
    begun, members = False, 0
    for data in stored:
        while data:
            begun = True
            try:
                yield from member.feed(data)
            except _Corrupt:
                where = f"in member {members + 1}"
                raise Damaged(expected, f"bytes that are not {kind}, {where}") from None
            data = member.unused_data
            if member.eof:
                member, begun, members = new_member(), False, members + 1
    if begun:
        raise Damaged(expected, f"the end of the file in member {members + 1}")
    if not members:
        raise Damaged(expected, "an empty file")


def _gzip_member() -> Callable[[], _Member]:
    import zlib

    class GzipMember:
        def __init__(self) -> None:
            self._inflate = zlib.decompressobj(wbits=31)  # gzip, header and checksum

        @property
        def eof(self) -> bool:
            return self._inflate.eof

        @property
        def unused_data(self) -> bytes:
            return self._inflate.unused_data

        def feed(self, data: bytes) -> Iterator[bytes]:
            try:
                while data and not self._inflate.eof:
                    yield self._inflate.decompress(data, _CHUNK)
                    data = self._inflate.unconsumed_tail
            except zlib.error as error:
                raise _Corrupt(str(error)) from None

    return GzipMember


def _zstd_frame(path: str) -> Callable[[], _Member]:
    zstd = _zstd_module(path)

    class ZstdFrame:
        def __init__(self) -> None:
            self._decompressor = zstd.ZstdDecompressor()

        @property
        def eof(self) -> bool:
            return bool(self._decompressor.eof)

        @property
        def unused_data(self) -> bytes:
            return bytes(self._decompressor.unused_data)

        def feed(self, data: bytes) -> Iterator[bytes]:
            try:
                yield self._decompressor.decompress(data, _CHUNK)
                while not (self._decompressor.eof or self._decompressor.needs_input):
                    yield self._decompressor.decompress(b"", _CHUNK)
            except zstd.ZstdError as error:
                raise _Corrupt(str(error)) from None

    return ZstdFrame


def _zstd_module(path: str) -> Any:
    from importlib import import_module

    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ModuleNotFoundError:
            continue
    raise FileError(path, "reading zstd needs Python 3.14 or the package backports.zstd")


class write_atomically:  # noqa: N801 - used as a function: `with write_atomically(path) as file`
    """A binary file that appears whole, under its name, or not at all.

    It is written beside its place, flushed to the disk and renamed on leaving the
    block; on any exception, also an interrupt, it is removed.  Raises `FileError` where
    it cannot be written, as on a full disk.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._target = os.path.realpath(path)  # a link stays a link
        directory, name = os.path.split(self._target)
        self._directory = directory
        unique = f".{name}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
        self._temporary = os.path.join(self._directory, unique)
        self._file: IO[bytes] | None = None

    def __enter__(self) -> IO[bytes]:
        if os.path.lexists(self._path) and not os.path.isfile(self._target):
            raise FileError(self._path, "not a regular file")
        try:
            self._file = open(self._temporary, "xb")
        except OSError as error:
            raise FileError(self._path, _problem(error)) from None
        return self._file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as problem:
            raise FileError(self._path, _problem(problem)) from None
        finally:
            self._discard()
        if isinstance(error, OSError) and error.filename is None:
            # a write of the block that failed; opening another file has a name of its own
            raise FileError(self._path, _problem(error)) from None

    def _finish(self) -> None:
        assert self._file is not None  # entered
        with suppress(FileNotFoundError):  # a file that is replaced keeps who may read it
            os.chmod(self._temporary, os.stat(self._target).st_mode & 0o777)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._temporary, self._target)
        if os.name == "posix":
            descriptor = os.open(self._directory, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _discard(self) -> None:
        """Removes the temporary file, unless it has its name already."""
        if self._file is None:
            return
        with suppress(OSError):
            self._file.close()  # flushes, which a full disk refuses again
        with suppress(FileNotFoundError):
            os.unlink(self._temporary)
