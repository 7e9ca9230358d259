"""The files beside the logs: what is read, what is refused on which line, what is written."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study import beside, files
from study.beside import BadFile, read_access, read_assignment, read_losses
from study.files import FileFailed, read_file, write_files
from study.register import (
    CLOSED_BEFORE,
    NOT_YET_OPENED,
    Entry,
    Register,
    due,
    flow,
    read_register,
)
from study.result import FileRead, Loss

HEADER = "kind,id,opened_at,closed_at,lane\n"
MINUTE = 60 * 10**9


def register(*rows: str) -> Register:
    return read_register("register.csv", (HEADER + "\n".join(rows)).encode())


def refusal(read: Callable[[str, bytes], object], data: bytes, name: str = "f.csv") -> BadFile:
    with pytest.raises(BadFile) as caught:
        read(name, data)
    return caught.value


def written(cells: list[str]) -> str:
    """A CSV record, every cell in quotation marks."""
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)


# The register


def test_a_register_is_read_in_its_own_order_with_its_digest() -> None:
    data = (
        HEADER + "work,w-1,2026-01-01T00:00:00Z,2026-01-01T01:00:00+01:00,api\n"
        "action,e-7,1970-01-01T00:00:00.000000001Z,,\nresult,e-8,,,\n"
    ).encode()
    read = read_register("register.csv", data)
    digest = hashlib.sha256(data).hexdigest()
    assert read.read == FileRead(name="register.csv", sha256=digest, rows=3)
    assert read.basis == "utc"
    midnight = 1_767_225_600 * 10**9
    assert read.entries == (
        Entry(kind="work", id="w-1", opened_at=midnight, closed_at=midnight, lane="api", line=2),
        Entry(kind="action", id="e-7", opened_at=1, closed_at=None, lane=None, line=3),
        Entry(kind="result", id="e-8", opened_at=None, closed_at=None, lane=None, line=4),
    )


def test_minutes_are_exact_and_a_register_without_times_has_no_basis() -> None:
    read = register("work,a,0.000001,153722867,")
    assert read.basis == "elapsed"
    assert (read.entries[0].opened_at, read.entries[0].closed_at) == (60_000, 153_722_867 * MINUTE)
    assert register("work,a,,,").basis is None
    assert register().entries == ()


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + HEADER.encode() + b"work,a,1,2,x\n",
        b'\xef\xbb\xbf"kind","id","opened_at","closed_at","lane"\n"work","a","1","2","x"\n',
        HEADER.replace("\n", "\r\n").encode() + b"work,a,1,2,x\r\n",
        HEADER.encode() + b"work,a,1,2,x",
        b"lane,closed_at,opened_at,id,kind\nx,2,1,a,work\n",
    ],
    ids=["byte order mark", "mark and quotes", "CRLF", "no last newline", "columns in any order"],
)
def test_spreadsheets_and_editors_write_the_same_register(data: bytes) -> None:
    (entry,) = read_register("r", data).entries
    assert entry == register("work,a,1,2,x").entries[0]


def test_lines_count_blank_ones_and_those_inside_quotation_marks() -> None:
    read = register("", 'work,"a\nb\r\nc",,,', "", "work,d,,,")
    assert [(entry.id, entry.line) for entry in read.entries] == [("a\nb\r\nc", 3), ("d", 7)]


BAD_ROWS = [
    ("job,a,,,", "kind", "'job'"),
    ("Work,a,,,", "kind", "'Work'"),
    (",a,,,", "kind", "''"),
    ("work,,,,", "id", "nothing"),
    ("work,a,2026-01-01T00:00:00,,", "opened_at", "'2026-01-01T00:00:00'"),
    ("work,a,2026-01-01 00:00:00Z,,", "opened_at", "'2026-01-01 00:00:00Z'"),
    ("work,a,2026-01-01,,", "opened_at", "'2026-01-01'"),
    ("work,a,2026-01-01T00:00Z,,", "opened_at", "'2026-01-01T00:00Z'"),
    ("work,a,2026-01-01T00:00:00z,,", "opened_at", "'2026-01-01T00:00:00z'"),
    ("work,a,2026-01-01T23:59:60Z,,", "opened_at", "'2026-01-01T23:59:60Z'"),
    ("work,a,2026-01-01T24:00:00Z,,", "opened_at", "'2026-01-01T24:00:00Z'"),
    ("work,a,2026-02-29T00:00:00Z,,", "opened_at", "'2026-02-29T00:00:00Z'"),
    ("work,a,2026-01-01T00:00:00.Z,,", "opened_at", "'2026-01-01T00:00:00.Z'"),
    ("work,a,2026-01-01T00:00:00.0123456789Z,,", "opened_at", "'2026-01-01T00:00:00.0123456789Z'"),
    ("work,a,2026-01-01T00:00:00+24:00,,", "opened_at", "'2026-01-01T00:00:00+24:00'"),
    ("work,a,2026-01-01T00:00:00+01:60,,", "opened_at", "'2026-01-01T00:00:00+01:60'"),
    ("work,a,2026-01-01T00:00:00+0100,,", "opened_at", "'2026-01-01T00:00:00+0100'"),
    ("work,a,1677-12-31T23:59:59Z,,", "opened_at", "'1677-12-31T23:59:59Z'"),
    ("work,a,1678-01-01T00:00:00+00:01,,", "opened_at", "'1678-01-01T00:00:00+00:01'"),
    ("work,a,,2262-01-01T00:00:00Z,", "closed_at", "'2262-01-01T00:00:00Z'"),
    ("work,a,,2261-12-31T23:59:59-00:01,", "closed_at", "'2261-12-31T23:59:59-00:01'"),
    ("work,a,٢٠٢٦-01-01T00:00:00Z,,", "opened_at", "'٢٠٢٦-01-01T00:00:00Z'"),
    ("work,a,-1,,", "opened_at", "'-1'"),
    ("work,a,1e3,,", "opened_at", "'1e3'"),
    ("work,a,.5,,", "opened_at", "'.5'"),
    ("work,a,1.,,", "opened_at", "'1.'"),
    ("work,a,007,,", "opened_at", "'007'"),
    ("work,a,0.0000001,,", "opened_at", "'0.0000001'"),
    ("work,a,153722867.000001,,", "opened_at", "'153722867.000001'"),
    ("work,a,٣,,", "opened_at", "'٣'"),
    ("work,a, 1,,", "opened_at", "' 1'"),
    ("work,a,NaN,,", "opened_at", "'NaN'"),
    ("work,a,2,1,", "closed_at", "'1'"),
    ("work,a,2026-01-01T00:00:00Z,2026-01-01T00:30:00+01:00,", "closed_at", None),
    ("work,a,2026-01-01T00:00:00Z,5,", "closed_at", "'5'"),
    ("work,a,,", None, "4 cells"),
    ("work,a,,,,", None, "6 cells"),
    ("x", None, "1 cell"),
    ('work,"a"b,,,', None, None),
    ('work,"a,,,', None, "unexpected end of data"),
    ("work,a,,,\rwork,b,,,", None, "new-line character seen in unquoted field"),
    ("work,a,,,\0", None, "a NUL character"),
]


@pytest.mark.parametrize(("row", "column", "found"), BAD_ROWS, ids=[row for row, *_ in BAD_ROWS])
def test_a_bad_row_is_refused_with_its_line(row: str, column: str | None, found: str) -> None:
    bad = refusal(read_register, (HEADER + "work,good,,,\n\n" + row + "\n").encode())
    assert (bad.name, bad.line, bad.column) == ("f.csv", 4, column)
    if found is not None:
        assert bad.found == found
    where = "f.csv:4: " if column is None else f"f.csv:4: {column}: "
    assert str(bad) == f"{where}found {bad.found}, expected {bad.expected}"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("kind,id,opened_at,closed_at", "no column lane"),
        ("kind,id,opened_at,closed_at,lane,owner", "a column 'owner'"),
        ("kind,id,opened_at,closed_at,lane,id", "two columns id"),
        ("kind,ID,opened_at,closed_at,lane", "a column 'ID'"),
        ("kind, id,opened_at,closed_at,lane", "a column ' id'"),
        ("kind;id;opened_at;closed_at;lane", "a column 'kind;id;opened_at;closed_at;lane'"),
        ("", "no column kind"),
        ("kind,id,opened_at,closed_at,\x1b[31m", r"a column '\x1b[31m'"),
    ],
)
def test_a_header_with_other_columns_is_refused_on_line_1(header: str, found: str) -> None:
    bad = refusal(read_register, header.encode())
    assert (bad.line, bad.column, bad.found) == (1, None, found)
    assert "kind, id, opened_at, closed_at, lane" in bad.expected


def test_the_same_thing_twice_is_refused_naming_both_lines() -> None:
    rows = "work,a,,,\naction,a,,,\n\nwork,a,1,,\n"
    bad = refusal(read_register, (HEADER + rows).encode())
    assert (bad.line, bad.column, bad.found) == (5, "id", "'a' again, as work, as on line 2")


def test_a_register_has_one_basis() -> None:
    rows = "work,a,,,\nwork,b,,7,\nwork,c,2026-01-01T00:00:00Z,,\n"
    bad = refusal(read_register, (HEADER + rows).encode())
    assert (bad.line, bad.column) == (4, "opened_at")
    assert bad.expected == "minutes since the log began, as on line 3"


@pytest.mark.parametrize(
    ("data", "line", "found"),
    [
        (HEADER.encode() + b"work,a,,,\nwork,\xff,,,\n", 3, "the byte 0xff"),
        (HEADER.encode() + b"work,\xed\xa0\x80,,,\n", 2, "the byte 0xed"),
        (HEADER.encode() + b"work,a\xc3", 2, "the byte 0xc3"),
        (HEADER.encode("utf-16"), 1, "the byte 0xff"),
        (HEADER.encode("utf-16-be"), 1, "a NUL character"),
        (HEADER.encode() + b'work,"a\n\0",,,\n', 3, "a NUL character"),
    ],
)
def test_what_is_not_text_is_refused_with_its_line(data: bytes, line: int, found: str) -> None:
    bad = refusal(read_register, data)
    assert (bad.line, bad.found) == (line, found)


def test_a_cell_longer_than_a_reader_takes_is_refused_with_its_line() -> None:
    bad = refusal(read_register, (HEADER + "work," + "a" * 200_000 + ",,,\n").encode())
    assert (bad.line, bad.found) == (2, "field larger than field limit (131072)")


@pytest.mark.parametrize("read", [read_register, read_access, read_assignment, read_losses])
def test_a_file_over_the_limit_is_refused_whole(
    read: Callable[[str, bytes], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beside, "MAX_BYTES", 9)
    bad = refusal(read, b"0123456789")
    assert (bad.line, bad.found, bad.expected) == (None, "10 bytes", "at most 9")
    assert str(bad) == "f.csv: found 10 bytes, expected at most 9"


offsets = st.integers(-(24 * 60 - 1), 24 * 60 - 1).map(lambda n: timezone(timedelta(minutes=n)))
moments = st.datetimes(datetime(1678, 1, 3), datetime(2261, 12, 29), timezones=offsets)


@given(st.lists(moments, min_size=1, max_size=5))
def test_times_are_what_the_standard_library_reads(times: list[datetime]) -> None:
    read = register(*(f"work,w-{n},,{time.isoformat()}," for n, time in enumerate(times)))
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    micro = timedelta(microseconds=1)
    assert [entry.closed_at for entry in read.entries] == [
        (datetime.fromisoformat(time.isoformat()) - epoch) // micro * 1000 for time in times
    ]


@given(
    st.datetimes(datetime(1678, 1, 1), datetime(2261, 12, 31)), st.text("0123456789", max_size=9)
)
def test_every_fraction_of_a_second_is_kept_exactly(time: datetime, digits: str) -> None:
    text = time.replace(microsecond=0).isoformat() + (f".{digits}" if digits else "") + "Z"
    whole = (time.replace(microsecond=0, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)).days
    (entry,) = register(f"work,a,{text},,").entries
    assert entry.opened_at is not None
    assert entry.opened_at // (86_400 * 10**9) == whole
    assert entry.opened_at % 10**9 == int(digits.ljust(9, "0"))


@given(st.integers(0, 153_722_867), st.integers(0, 999_999))
def test_every_minute_is_kept_exactly(whole: int, micro: int) -> None:
    if whole == 153_722_867:
        micro = 0
    (entry,) = register(f"work,a,{whole}.{micro:06d},,").entries
    assert entry.opened_at == (whole * 1_000_000 + micro) * 60_000


texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20
)


@given(st.lists(texts, min_size=1, max_size=5, unique=True), st.sampled_from(["\n", "\r\n"]))
def test_every_id_survives_as_data(ids: list[str], newline: str) -> None:
    rows = [written(["work", one, "", "", one]) for one in ids]
    data = newline.join([HEADER.strip(), *rows, ""]).encode()
    entries = read_register("r", data).entries
    assert [(entry.id, entry.lane) for entry in entries] == [(one, one) for one in ids]


HOSTILE = [
    ("=cmd|' /C calc'!A0", "\"=cmd|' /C calc'!A0\""),
    ("'=1+1", '"\'=1+1"'),
    ("\x1b]0;owned\x07", r"'\x1b]0;owned\x07'"),
    ("two\nlines", r"'two\nlines'"),
    ("safe\u202egpj.exe", r"'safe\u202egpj.exe'"),
    ("\u2028", r"'\u2028'"),
    ("a\xa0b", r"'a\xa0b'"),
]


@pytest.mark.parametrize(("hostile", "seen"), HOSTILE, ids=[seen for _, seen in HOSTILE])
def test_a_hostile_id_is_data_and_is_visible_in_a_refusal(hostile: str, seen: str) -> None:
    row = written(["work", hostile, "", "", ""])
    assert register(row).entries[0].id == hostile
    bad = refusal(read_register, f"{HEADER}{row}\n{row}\n".encode())
    assert bad.found.startswith(f"{seen} again")
    assert str(bad).isprintable()
    bad = refusal(read_access, f"ref,status\n{written(['r', hostile])}\n".encode())
    assert (bad.column, bad.found) == ("status", seen)
    assert str(bad).isprintable()


def test_long_text_is_cut_and_a_hostile_file_name_is_escaped() -> None:
    bad = refusal(read_access, b"ref,status\na," + b"x" * 500 + b"\n", "a\x1b[2J.csv")
    assert bad.found == "'" + "x" * 78 + "…"
    assert len(bad.found) == beside.SHOWN
    assert str(bad).startswith(r"'a\x1b[2J.csv':2: status: found 'xxx")


# What was accessible


def test_an_access_list_tells_the_status_of_every_reference() -> None:
    data = b"status,ref\naccessible,a\ninaccessible,b\ninapplicable,'=c\n"
    access = read_access("access.csv", data)
    assert access.statuses == {"a": "accessible", "b": "inaccessible", "'=c": "inapplicable"}
    assert access.read.rows == 3
    assert access.read.sha256 == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("rows", "line", "column", "found"),
    [
        ("a,readable\n", 2, "status", "'readable'"),
        ("a,\n", 2, "status", "''"),
        (",accessible\n", 2, "ref", "nothing"),
        (
            "a,accessible\nb,accessible\na,accessible\n",
            4,
            "ref",
            "'a' again, with the same status, as on line 2",
        ),
        (
            "a,accessible\na,inaccessible\n",
            3,
            "ref",
            "'a' again, with another status, as on line 2",
        ),
    ],
)
def test_a_bad_access_list_is_refused(rows: str, line: int, column: str, found: str) -> None:
    bad = refusal(read_access, b"ref,status\n" + rows.encode())
    assert (bad.line, bad.column, bad.found) == (line, column, found)


def test_a_status_that_there_is_not_is_answered_with_those_that_there_are() -> None:
    bad = refusal(read_access, b"ref,status\na,yes\n")
    assert str(bad) == (
        "f.csv:2: status: found 'yes', expected accessible, inaccessible or inapplicable"
    )


# Who was assigned


def test_an_assignment_tells_the_arm_of_every_item() -> None:
    assignment = read_assignment("assignment.csv", b"work_id,arm\nw-1,new\nw-2,old\nw-3,new\n")
    assert assignment.arms == ("new", "old")
    assert [assignment.arm_of("log", f"w-{n}") for n in range(1, 5)] == ["new", "old", "new", None]
    assert assignment.read.rows == 3


def test_one_id_in_two_logs_is_two_items() -> None:
    data = b"work_id,arm,log\nw,new,a.jsonl\nw,old,b.jsonl\nv,old,\n"
    assignment = read_assignment("assignment.csv", data)
    assert [assignment.arm_of(log, "w") for log in ("a.jsonl", "b.jsonl", "c.jsonl")] == [
        "new",
        "old",
        None,
    ]
    assert assignment.arm_of("c.jsonl", "v") == "old"


@pytest.mark.parametrize(
    ("data", "line", "column", "found"),
    [
        ("work_id,arm\na,x\na,y\n", 3, "work_id", "'a' again, as on line 2"),
        ("work_id,arm\na,x\na,x\n", 3, "work_id", "'a' again, as on line 2"),
        ("work_id,arm,log\na,x,l\na,y,l\n", 3, "work_id", "'a' again, as on line 2"),
        ("work_id,arm,log\na,x,l\nb,y,\na,y,\n", 4, "work_id", "'a' again, as on line 2"),
        ("work_id,arm,log\na,x,\na,y,l\n", 3, "work_id", "'a' again, as on line 2"),
        ("work_id,arm\na,\nb,x\n", 2, "arm", "nothing"),
        ("work_id,arm\n,x\nb,y\n", 2, "work_id", "nothing"),
        ("work_id,arm\na,x\nb,x\n", None, "arm", "only 'x'"),
        ("work_id,arm\n", None, "arm", "no row"),
        ("work_id,arm,lane\na,x,l\n", 1, None, "a column 'lane'"),
        ("work_id,log\na,x\n", 1, None, "no column arm"),
    ],
)
def test_a_bad_assignment_is_refused(
    data: str, line: int | None, column: str | None, found: str
) -> None:
    bad = refusal(read_assignment, data.encode())
    assert (bad.line, bad.column, bad.found) == (line, column, found)


# What an import lost


def losses(**changed: object) -> dict[str, object]:
    return {
        "document": "replay.losses/1",
        "source": "elsewhere",
        "order": "derived",
        "losses": [{"field": "revision", "count": 3, "reason": "ambiguous: two of them"}],
        "unavailable": ["receipts: no check has a result: none at all", "recovery"],
        **changed,
    }


def test_losses_are_named_with_why() -> None:
    assert read_losses("log.losses.json", json.dumps(losses()).encode()) == (
        Loss(name="revision", why="ambiguous: two of them"),
        Loss(name="receipts", why="no check has a result: none at all"),
        Loss(name="recovery", why=""),
    )


def one_loss(**changed: object) -> list[dict[str, object]]:
    return [{"field": "x", "count": 1, "reason": "r", **changed}]


BAD_LOSSES: list[tuple[dict[str, object], str | None]] = [
    ({"document": "replay.losses/2"}, "$.document"),
    ({"source": ""}, "$.source"),
    ({"order": "guessed"}, "$.order"),
    ({"order": None}, "$.order"),
    ({"losses": one_loss(count=0)}, "$.losses[0].count"),
    ({"losses": one_loss(count=1.5)}, "$.losses[0].count"),
    ({"losses": one_loss(field="")}, "$.losses[0].field"),
    ({"losses": one_loss(reason=7)}, "$.losses[0].reason"),
    ({"losses": one_loss(more=7)}, "$.losses[0]"),
    ({"losses": [{"field": "x"}]}, "$.losses[0]"),
    ({"losses": {}}, "$.losses"),
    ({"unavailable": [""]}, "$.unavailable[0]"),
    ({"unavailable": "receipts"}, "$.unavailable"),
    ({"more\x1b\u202e": 1}, None),
]


@pytest.mark.parametrize(("changed", "column"), BAD_LOSSES)
def test_another_document_is_refused(changed: dict[str, object], column: str | None) -> None:
    data = json.dumps(losses(**changed), ensure_ascii=False).encode()
    bad = refusal(read_losses, data)
    assert (bad.line, bad.column) == (None, column)
    assert str(bad).isprintable()
    assert bad.expected == "a replay.losses/1 document"


@pytest.mark.parametrize("changed", [changed for changed, _ in BAD_LOSSES])
def test_the_published_schema_refuses_the_same_documents(changed: dict[str, object]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="the test extra is not installed")
    root = Path(__file__).parent.parent
    schema = json.loads((root / "replay" / "schemas" / "losses.json").read_text())
    jsonschema.validate(losses(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(losses(**changed), schema)


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", None),
        (b"[]", None),
        (b'{\n"document":\nreplay}', 3),
        (b"\n\n\xff", 3),
        (b"{}\n\0", 2),
        (b"\xef\xbb\xbf{}", 1),
        (json.dumps(losses()).encode() + b"\n{}", 2),
    ],
)
def test_what_is_no_document_at_all_is_refused(data: bytes, line: int | None) -> None:
    assert refusal(read_losses, data).line == line


def test_a_losses_field_given_twice_is_refused() -> None:
    data = json.dumps(losses()).encode()[:-1] + b',"losses":[]}'
    assert refusal(read_losses, data).found == "'the field losses twice'"


# What is due


def ids(entries: tuple[Entry, ...]) -> list[str]:
    return [entry.id for entry in entries]


WORK = (
    "work,early,0,4,",
    "work,at-from,0,5,",
    "work,open,1,,",
    "work,unknown,,,",
    "work,at-cutoff,10,,",
    "work,later,10.000001,,",
    "action,e-1,1,,",
    "action,e-2,2,,",
    "action,e-3,20,,",
    "result,e-4,,4.5,",
    "result,e-5,,,",
)


def test_work_is_due_unless_its_own_times_excuse_it() -> None:
    split = due(register(*WORK), 10 * MINUTE, "elapsed", 5 * MINUTE)
    assert ids(split.due) == ["at-from", "open", "unknown", "at-cutoff"]
    assert {reason: ids(entries) for reason, entries in split.not_due.items()} == {
        CLOSED_BEFORE: ["early"],
        NOT_YET_OPENED: ["later"],
    }
    split = due(register(*WORK), 10 * MINUTE, "elapsed", None)
    assert ids(split.due) == ["early", "at-from", "open", "unknown", "at-cutoff"]


def test_logs_that_are_empty_excuse_nothing() -> None:
    assert len(due(register(*WORK), None, None, None).due) == 6
    assert len(due(register(*WORK), 0, None, 99 * MINUTE).due) == 6


def test_registered_and_recorded_work_add_up() -> None:
    met = flow(
        register(*WORK),
        ["open", "later", "stray", "another"],
        ["e-1", "e-9"],
        10 * MINUTE,
        "elapsed",
        5 * MINUTE,
    )
    assert (met.due, met.recorded) == (4, 1)
    assert met.omitted == ("at-cutoff", "at-from", "unknown")
    assert met.not_due == {CLOSED_BEFORE: 1, NOT_YET_OPENED: 1}
    assert met.unregistered == ("another", "stray")
    assert met.missing_events == (("action", "e-2"), ("result", "e-5"))


entries = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"), st.none() | st.integers(0, 9), st.none() | st.integers(0, 9)
    ),
    unique_by=lambda entry: entry[0],
)


@given(
    entries,
    st.sets(st.sampled_from("abcdefghxyz")),
    st.none() | st.integers(0, 9),
    st.none() | st.integers(0, 9),
)
def test_every_registered_item_is_counted_once(
    drawn: list[tuple[str, int | None, int | None]],
    recorded: set[str],
    observed: int | None,
    window_from: int | None,
) -> None:
    rows = []
    for id, opened, length in drawn:
        closed = None if length is None else length + (opened or 0)
        opened_at, closed_at = ("" if time is None else str(time) for time in (opened, closed))
        rows.append(f"work,{id},{opened_at},{closed_at},")
    bounds = [None if bound is None else bound * MINUTE for bound in (observed, window_from)]
    met = flow(register(*rows), recorded, (), bounds[0], "elapsed", bounds[1])
    assert met.due == met.recorded + len(met.omitted)
    assert met.due + sum(met.not_due.values()) == len(drawn)
    assert not set(met.omitted) & recorded
    assert set(met.unregistered) == recorded - {id for id, *_ in drawn}


def test_a_register_on_another_basis_names_its_first_time() -> None:
    read = register("work,a,,,", "action,b,,3,", "work,c,1,,")
    with pytest.raises(BadFile) as caught:
        due(read, 0, "utc", None)
    assert (caught.value.line, caught.value.column) == (3, "closed_at")
    assert str(caught.value) == (
        "register.csv:3: closed_at: found minutes since the log began,"
        " expected a time with date and offset, as in the logs"
    )
    with pytest.raises(BadFile, match=r"register.csv:2: opened_at"):
        flow(register("work,a,2026-01-01T00:00:00Z,,"), (), (), 0, "elapsed", None)
    assert len(due(register("work,a,,,"), 0, "utc", None).due) == 1


# Written together or not at all


def tree(directory: Path) -> dict[str, bytes]:
    found = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in found}


OLD = {"report.md": b"old", "rows/a.csv": b"old rows", "kept.txt": b"mine"}
NEW = {"report.md": b"new", "rows/a.csv": b"new rows", "rows/b.csv": b"", "x.json": b"{}"}


@pytest.fixture
def report(tmp_path: Path) -> Path:
    write_files(str(tmp_path), OLD)
    return tmp_path


def test_files_are_replaced_and_others_left(report: Path) -> None:
    write_files(str(report), NEW)
    assert tree(report) == {**NEW, "kept.txt": b"mine"}
    assert read_file(str(report / "rows" / "a.csv")) == b"new rows"


def test_the_directory_is_made(tmp_path: Path) -> None:
    write_files(str(tmp_path / "a" / "b"), NEW)
    assert tree(tmp_path / "a" / "b") == NEW


def test_a_file_that_is_replaced_keeps_who_may_read_it(report: Path) -> None:
    (report / "report.md").chmod(0o600)
    write_files(str(report), NEW)
    assert stat.S_IMODE((report / "report.md").stat().st_mode) == 0o600


@pytest.mark.parametrize("at", range(1, len(NEW) + 1))
@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_whichever_step_fails_the_old_files_stay(
    report: Path, call: str, at: int, fault: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = getattr(os, call), []

    def failing(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == at:
            raise fault
        return real(*arguments)

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(FileFailed if isinstance(fault, OSError) else KeyboardInterrupt) as caught:
        write_files(str(report), NEW)
    assert len(calls) >= at
    assert tree(report) == OLD
    if isinstance(caught.value, FileFailed):
        assert caught.value.path == str(report / list(NEW)[at - 1])
        assert str(caught.value) == f"{caught.value.path}: No space left on device"


def test_a_disk_that_is_full_while_bytes_are_written_leaves_the_old_files(report: Path) -> None:
    resource = pytest.importorskip("resource", reason="no limits on this system")
    signal = pytest.importorskip("signal")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(FileFailed, match=r"big\.bin: File too large"):
            write_files(str(report), {**NEW, "big.bin": b"x" * 20_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert tree(report) == OLD


def test_without_hard_links_files_are_written_all_the_same(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    write_files(str(report), NEW)
    assert tree(report) == {**NEW, "kept.txt": b"mine"}


def test_a_folder_in_the_place_of_a_file_leaves_the_old_files(report: Path) -> None:
    (report / "x.json").mkdir()
    with pytest.raises(FileFailed) as caught:
        write_files(str(report), NEW)
    assert caught.value.path == str(report / "x.json")
    assert tree(report) == OLD


@pytest.mark.parametrize(
    "name",
    ["../a", "/a", "a/b/c", "rows/../a", "./a", "", "rows/", "/", ".hidden", "a\\b", "a\0", "C:a"],
)
def test_a_name_that_is_not_plain_is_not_written(report: Path, name: str) -> None:
    with pytest.raises(FileFailed, match="not a plain file name"):
        write_files(str(report), {"report.md": b"new", name: b"x"})
    assert tree(report) == OLD


def test_a_link_to_another_place_is_not_followed(
    report: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (report / "figures").symlink_to(elsewhere)
    with pytest.raises(FileFailed, match="its folder is a link to another place"):
        write_files(str(report), {"report.md": b"new", "figures/a.svg": b"x"})
    assert tree(elsewhere) == {}
    assert tree(report) == OLD


def test_a_link_in_the_place_of_a_file_is_replaced_and_what_it_names_is_left(
    report: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    target = tmp_path_factory.mktemp("elsewhere") / "precious"
    target.write_bytes(b"precious")
    (report / "x.json").symlink_to(target)
    write_files(str(report), NEW)
    assert target.read_bytes() == b"precious"
    assert not (report / "x.json").is_symlink()


def test_a_directory_that_is_a_file_is_not_written(report: Path) -> None:
    with pytest.raises(FileFailed):
        write_files(str(report / "report.md"), NEW)
    assert tree(report) == OLD


@pytest.mark.parametrize("name", ["none.csv", "rows", "a\0b", "\x1b[2J\udcff"])
def test_a_file_that_cannot_be_read_is_named(report: Path, name: str) -> None:
    path = str(report / name)
    with pytest.raises(FileFailed) as caught:
        read_file(path)
    assert caught.value.path == path
    assert caught.value.why
    assert isinstance(caught.value, OSError)
    assert str(caught.value).isprintable()


def test_reading_stops_just_over_the_limit(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 2)
    (report / "big").write_bytes(b"12345")
    assert read_file(str(report / "big")) == b"123"
