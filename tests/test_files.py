"""Reading logs from files and standard input, and writing results whole or not at all."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from backports import zstd

from replay import files
from replay.decode import Limits, decode_bytes
from replay.errors import FileError, Refusal

ROOT = Path(__file__).parent.parent
LINES = [
    b'{"schema_version":"elapsed/1","event_id":"e%d","recorded_sequence":%d,'
    b'"recorded_minute":%d,"type":"heartbeat"}\n' % (number, number, number)
    for number in range(1, 5)
]
LOG = b"".join(LINES)


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


COMPRESSIONS = pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzipped), (".zst", zstd.compress)]
)
Compress = Callable[[bytes], bytes]


def stored(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


@COMPRESSIONS
def test_a_compressed_log_is_the_same_log(tmp_path: Path, suffix: str, compress: Compress) -> None:
    data = compress(LOG)
    got = files.read_source(stored(tmp_path / f"log.jsonl{suffix}", data))
    assert got.events == decode_bytes(LOG, name="log.jsonl").events
    assert got.sha256 == hashlib.sha256(data).hexdigest()
    assert got.name == f"log.jsonl{suffix}"


@COMPRESSIONS
def test_all_members_are_read_and_a_line_may_span_two(
    tmp_path: Path, suffix: str, compress: Compress
) -> None:
    data = compress(LOG[:30]) + compress(b"") + compress(LOG[30:200]) + compress(LOG[200:])
    got = files.load(stored(tmp_path / f"log.jsonl{suffix}", data))
    assert [event.event_id for event in got.events] == ["e1", "e2", "e3", "e4"]


@COMPRESSIONS
def test_a_log_cut_at_any_byte_is_truncated_and_never_shorter(
    tmp_path: Path, suffix: str, compress: Compress
) -> None:
    first = compress(b"".join(LINES[:2]))
    data = first + compress(b"".join(LINES[2:]))
    for cut in range(len(data)):
        path = stored(tmp_path / f"log.jsonl{suffix}", data[:cut])
        if cut == len(first):
            assert len(files.load(path).events) == 2  # whole members are a whole file
            continue
        with pytest.raises(Refusal) as caught:
            files.load(path)
        assert caught.value.code == "truncated_input", cut


@COMPRESSIONS
def test_a_changed_byte_is_never_another_log(
    tmp_path: Path, suffix: str, compress: Compress
) -> None:
    # a checksum in the zstd frame is optional, and compress() leaves it out
    data = (
        gzipped(LOG)
        if suffix == ".gz"
        else zstd.compress(LOG, options={zstd.CompressionParameter.checksum_flag: 1})
    )
    whole = files.load(stored(tmp_path / f"log.jsonl{suffix}", data)).events
    refused = 0
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :]
        path = stored(tmp_path / f"log.jsonl{suffix}", changed)
        try:
            got = files.load(path).events
        except Refusal:
            refused += 1
            continue
        assert got == whole, at  # a header byte that the content does not depend on
    assert refused > len(data) // 2


@COMPRESSIONS
@pytest.mark.parametrize("after", [b"\0" * 8, b"garbage", b"\n"])
def test_bytes_after_the_last_member_are_refused(
    tmp_path: Path, suffix: str, compress: Compress, after: bytes
) -> None:
    with pytest.raises(Refusal) as caught:
        files.load(stored(tmp_path / f"log.jsonl{suffix}", compress(LOG) + after))
    assert (caught.value.code, caught.value.line) == ("truncated_input", 5)


def test_more_than_a_chunk_of_incompressible_lines_is_read_whole(tmp_path: Path) -> None:
    noise = random.Random(4)
    data = b"".join(
        LINES[0]
        .replace(b"e1", b"e%d" % number)
        .replace(b'sequence":1', b'sequence":%d' % number)[:-2]
        + b',"payload":{"t":"%s"}}\n' % noise.randbytes(400).hex().encode()
        for number in range(1, 4001)
    )
    for suffix, compress in ((".gz", gzipped), (".zst", zstd.compress), ("", bytes)):
        got = files.load(stored(tmp_path / f"log.jsonl{suffix}", compress(data)))
        assert len(got.events) == 4000


def test_a_bomb_is_refused_at_the_line_limit(tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl.gz", gzipped(b" " * 50_000_000))
    with pytest.raises(Refusal) as caught:
        files.load(log, limits=Limits(line_bytes=100_000))
    assert caught.value.code == "line_too_long"


# ---- what cannot be read


@pytest.mark.parametrize("name", ["absent.jsonl", "absent.jsonl.zst", "a\0b.jsonl"])
def test_a_file_that_is_not_there_is_a_file_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError):
        files.load(str(tmp_path / name))


def test_a_directory_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a directory"):
        files.load(str(tmp_path))


# ---- standard input


@pytest.mark.parametrize("compress", [bytes, gzipped, zstd.compress])
def test_standard_input_is_told_by_its_first_bytes(
    monkeypatch: pytest.MonkeyPatch, compress: Compress
) -> None:
    data = compress(LOG)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    got = files.read_source("-")
    assert (got.name, len(got.events)) == ("-", 4)
    assert got.sha256 == hashlib.sha256(data).hexdigest()


# ---- the logs of a directory


def test_a_directory_stands_for_its_logs_by_name(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl.zst", "c.jsonl.gz", "b.oracle.json", "b.jsonl.txt"):
        stored(tmp_path / name, b"")
    stored(tmp_path / "b.jsonl.quarantine.jsonl", b"")
    (tmp_path / "inner.jsonl").mkdir()
    stored(tmp_path / "inner.jsonl" / "d.jsonl", b"")
    got = files.expand(["x.jsonl", str(tmp_path), "-"])
    logs = [str(tmp_path / name) for name in ("a.jsonl.zst", "b.jsonl", "c.jsonl.gz")]
    assert got == ["x.jsonl", *logs, "-"]


def test_a_directory_without_a_log_is_a_file_error(tmp_path: Path) -> None:
    stored(tmp_path / "a.jsonl.quarantine.jsonl", b"")
    with pytest.raises(FileError, match="no log"):
        files.expand([str(tmp_path)])


# ---- writing


def entries(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_written_file_appears_whole_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    with files.write_atomically(str(path)) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert entries(tmp_path) == ["out.json"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, ValueError])
def test_a_block_that_stops_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, stop: type[BaseException]
) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")

    def write_half() -> None:
        with files.write_atomically(str(path)) as file:
            file.write(b"new")
            raise stop

    with pytest.raises(stop):
        write_half()
    assert path.read_bytes() == b"old"
    assert entries(tmp_path) == ["out.json"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_full_disk_is_a_file_error_that_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, full)
    path = str(tmp_path / "out.json")
    with (
        pytest.raises(FileError, match=r"out\.json: no space left on device"),
        files.write_atomically(path) as file,
    ):
        file.write(b"new")
    assert entries(tmp_path) == []


def test_a_write_that_fails_in_the_block_is_a_file_error(tmp_path: Path) -> None:
    with (
        pytest.raises(FileError, match="no space"),
        files.write_atomically(str(tmp_path / "out.json")),
    ):
        raise OSError(28, "No space left on device")
    assert entries(tmp_path) == []


def test_an_error_about_another_file_keeps_its_name(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match="absent"),
        files.write_atomically(str(tmp_path / "out.json")),
    ):
        (tmp_path / "absent").read_bytes()
    assert entries(tmp_path) == []


@pytest.mark.parametrize("target", ["directory", "absent/out.json"])
def test_what_cannot_be_written_is_a_file_error(tmp_path: Path, target: str) -> None:
    (tmp_path / "directory").mkdir()
    with pytest.raises(FileError), files.write_atomically(str(tmp_path / target)):
        pytest.fail("the block runs only for a file that can be written")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_bytes(b"old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    with files.write_atomically(str(tmp_path / "link.json")) as file:
        file.write(b"new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"


def test_reading_a_plain_log_imports_no_compression_and_nothing_heavy(tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl", LOG)
    heavy = ("gzip", "zlib", "backports", "tempfile", "dataclasses", "pandas", "pyarrow")
    code = (
        "import sys; from replay.files import load; load(sys.argv[1]);"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, log], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
