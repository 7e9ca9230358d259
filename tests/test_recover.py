"""Recovery: what is kept, what is set aside, and how the loss is named."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay import quarantine
from replay.decode import WHERES, Limits, Recovery, decode_bytes, recover_bytes
from replay.errors import REFUSAL_CODES, Refusal
from replay.files import quarantine_path, recover_source, write_quarantine
from replay.history import admit


def line(sequence: int, **fields: Any) -> bytes:
    value = {
        "schema_version": "elapsed/1",
        "event_id": f"e{sequence}",
        "recorded_sequence": sequence,
        "recorded_minute": sequence,
        "type": "heartbeat",
        **fields,
    }
    return json.dumps(value).encode() + b"\n"


def recovered(data: bytes, **options: Any) -> Recovery:
    return recover_bytes(data, name="log.jsonl", **options)


def ids(recovery: Recovery) -> list[str]:
    return [event.event_id for event in recovery.source.events]


def losses(recovery: Recovery) -> list[tuple[int, str, str]]:
    return [(lost.line, lost.where, lost.code) for lost in recovery.rejected]


def test_a_whole_log_is_recovered_as_it_is_read() -> None:
    data = line(1) + b"\n" + line(2)
    got = recovered(data)
    assert got.source == decode_bytes(data, name="log.jsonl")
    assert got.source.complete
    assert got.rejected == ()


def test_a_torn_tail_is_told_from_loss_in_the_middle() -> None:
    bad = b'{"schema_version":\n'
    got = recovered(line(1) + bad + line(2) + line(3)[:40])
    assert ids(got) == ["e1", "e2"]
    assert losses(got) == [(2, "middle", "not_json"), (4, "torn_tail", "truncated_input")]
    assert [lost.raw for lost in got.rejected] == [bad[:-1], line(3)[:40]]
    assert (got.source.lines, got.source.quarantined, got.source.complete) == (4, 2, False)


@pytest.mark.parametrize("torn", [b"", b'{"schema_version":"elap', b'{"a":"\xc3'])
def test_a_nul_tail_is_named_whatever_was_torn_before_it(torn: bytes) -> None:
    got = recovered(line(1) + torn + b"\0" * 4096)
    assert losses(got) == [(2, "nul_tail", "nul_byte")]
    assert "a NUL tail: 4096 NUL bytes" in got.rejected[0].reason()


def test_a_nul_tail_longer_than_a_line_may_be_is_a_nul_tail_still() -> None:
    got = recovered(line(1) + b"\0" * 5000, limits=Limits(line_bytes=1000))
    assert losses(got) == [(2, "nul_tail", "line_too_long")]
    assert (got.rejected[0].size, len(got.rejected[0].raw)) == (5000, 1000)


def test_nul_bytes_that_more_lines_follow_are_loss_in_the_middle() -> None:
    got = recovered(line(1) + b"\0" * 64 + line(2) + line(3))
    assert ids(got) == ["e1", "e3"]
    assert losses(got) == [(2, "middle", "nul_byte")]


def test_a_last_line_that_is_whole_but_bad_lost_no_end() -> None:
    got = recovered(line(1) + line(2, severity="high")[:-1])
    assert losses(got) == [(2, "middle", "unknown_field")]


def test_a_whole_last_line_without_its_newline_is_no_loss() -> None:
    assert recovered(line(1) + line(2)[:-1]).source.complete


def test_an_overlong_line_is_set_aside_with_its_size_and_its_beginning() -> None:
    long = line(2, payload={"text": "a" * 3000})
    limits = Limits(line_bytes=1000)
    got = recovered(line(1) + long + line(3), limits=limits)
    assert ids(got) == ["e1", "e3"]
    (lost,) = got.rejected
    assert (lost.code, lost.size, lost.raw) == ("line_too_long", len(long) - 1, long[:1000])
    assert got.source.events[1].byte_offset == len(line(1)) + len(long)
    assert quarantine.record(lost)["raw_complete"] is False


def test_the_fault_is_the_one_that_strict_reading_reports() -> None:
    data = line(1) + line(2, recorded_sequence="2")
    (lost,) = recovered(data).rejected
    with pytest.raises(Refusal) as refused:
        decode_bytes(data, name="log.jsonl")
    document = refused.value.document()
    record = quarantine.record(lost)
    shared = ("code", "line", "byte_offset", "pointer", "expected", "found")
    assert {key: record[key] for key in shared} == {key: document[key] for key in shared}
    assert record["reason"] == (
        'wrong_type at /recorded_sequence: expected integer 1 to 9007199254740991, found string "2"'
    )


def test_a_gap_that_recovery_left_is_listed_by_admission() -> None:
    got = recovered(line(1) + b"{}\n" + line(3))
    admitted = admit([got.source]).input
    assert (admitted.quarantined, admitted.complete, admitted.lines) == (1, False, 3)
    assert [(gap.first, gap.last) for gap in admitted.gaps] == [(2, 2)]


def test_conflicts_between_good_lines_are_refused_in_recovery_too() -> None:
    got = recovered(line(1) + b"{}\n" + line(1, type="note"))
    with pytest.raises(Refusal, match="conflicting_duplicate"):
        admit([got.source])


@given(
    st.lists(st.sampled_from([line(1), line(2), b"\n", b"{}\n", b"\0\n", b"[\n"])), st.integers()
)
def test_kept_and_rejected_lines_rebuild_the_input(parts: list[bytes], cut: int) -> None:
    data = b"".join(parts)
    data = data[: cut % (len(data) + 1)]
    got = recovered(data)
    texts = data.split(b"\n")
    for lost in got.rejected:
        assert texts[lost.line - 1] == lost.raw
    for event in got.source.events:
        assert data[event.byte_offset :].startswith(texts[event.line - 1])
    bad = {lost.line for lost in got.rejected}
    good = {event.line for event in got.source.events}
    blank = got.source.blank
    assert len(bad) + len(good) + blank == got.source.lines
    assert not bad & good


# ---- compressed logs


def write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


@pytest.mark.parametrize("kept", [20, -30, -9, -1])
def test_the_lines_before_a_cut_of_a_compressed_log_are_kept(tmp_path: Path, kept: int) -> None:
    whole = gzip.compress(b"".join(line(number) for number in range(1, 50)), mtime=0)
    got = recover_source(write(tmp_path / "log.jsonl.gz", whole[:kept]))
    assert losses(got)[-1][1:] == ("torn_tail", "truncated_input")
    assert ids(got) == [f"e{number}" for number in range(1, len(ids(got)) + 1)]
    assert got.source.lines == len(ids(got)) + 1
    assert not got.source.complete


def test_bytes_after_the_last_member_are_a_recorded_loss(tmp_path: Path) -> None:
    stored = gzip.compress(line(1) + line(2)) + b"\0" * 512
    got = recover_source(write(tmp_path / "log.jsonl.gz", stored))
    assert ids(got) == ["e1", "e2"]
    assert losses(got) == [(3, "torn_tail", "truncated_input")]


def test_the_digest_covers_what_follows_the_damage(tmp_path: Path) -> None:
    stored = gzip.compress(line(1)) + b"no member" * 400_000
    got = recover_source(write(tmp_path / "log.jsonl.gz", stored))
    import hashlib

    assert got.source.sha256 == hashlib.sha256(stored).hexdigest()


# ---- the sidecar


def test_the_sidecar_holds_every_rejected_byte_and_the_log_is_untouched(tmp_path: Path) -> None:
    data = line(1) + b'{"a":"\xff"}\n' + line(2) + b"\0\0\0"
    log = write(tmp_path / "log.jsonl", data)
    recovery = recover_source(log)
    path = write_quarantine(log, recovery)
    assert path == quarantine_path(log) == str(tmp_path / "log.jsonl.quarantine.jsonl")
    header, *records = map(json.loads, Path(path).read_bytes().splitlines())
    assert header == {
        "document": "replay.quarantine/1",
        "input": {"name": "log.jsonl", "sha256": recovery.source.sha256},
        "records": 2,
    }
    raw = [base64.b64decode(record["raw"]) for record in records]
    assert raw == [b'{"a":"\xff"}', b"\0\0\0"]
    for record, bytes_ in zip(records, raw, strict=True):
        assert data[record["byte_offset"] :].startswith(bytes_)
        assert sorted(record) == sorted(quarantine.RECORD_FIELDS)
        assert record["where"] in WHERES
        assert record["code"] in REFUSAL_CODES
    assert Path(log).read_bytes() == data
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "log.jsonl",
        "log.jsonl.quarantine.jsonl",
    ]


def test_no_sidecar_is_written_where_nothing_was_rejected(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", line(1))
    assert write_quarantine(log, recover_source(log)) is None
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]
