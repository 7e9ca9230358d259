"""CSV that every reader takes back, and that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any, Final

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

import replay
from replay.errors import UsageError
from replay.table_csv import guarded, guarded_json, original
from replay.tables import GROWN, PROJECTED, carried, every_table
from replay.timeline import timeline
from replay.timestamps import format_utc
from tests.command import CASES, PAPER, Ran, Run, document, in_process
from tests.test_tables import SECOND, everything, plain  # noqa: F401 - a fixture

Json = Any
NAMES: Final = (*PROJECTED, *GROWN)
FORMULAS: Final = [
    '=HYPERLINK("https://example.org","x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    '"=1',
    "'=1",
    "''=1",
    "\u00a0=1",
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff201",
    "x;=1",
    "x; '=1",
    ";;=1",
]
HOSTILE: Final = [
    *FORMULAS,
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202egnp.exe\u2066",
    "a\\x1b[b",
    "C:\\users\\u0041",
    "\\\\",
    "\\\x00",
    "a\u2028b\x85c",
    'quote " and, comma',
    "two\r\nlines",
    "",
    " ",
    "null",
    "NA",
    "1",
    "\u65e5\u672c e\u0301 \U0001f600\u200d\U0001f600",
]
HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
texts = st.text(
    st.characters(exclude_categories=["Cs"])
    | st.sampled_from("=+-@;'\" \t\r\n\\xuU0041\x1b\u202e\uff1d")
)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capfdbinary)


def text_table(values: list[str | None]) -> pa.Table:
    return pa.table({"n": pa.array(range(len(values))), "text": pa.array(values, pa.string())})


def read(data: bytes) -> list[list[str]]:
    """The cells, as the standard library reads them."""
    return [*csv.reader(io.StringIO(data.decode(), newline=""), strict=True)]


def cells(data: bytes) -> list[str]:
    return [cell for row in read(data) for cell in row]


def is_run(cell: str) -> bool:
    """Whether a spreadsheet takes the cell, or a part of it behind a semicolon, for a formula."""
    parts = [part.lstrip(' \t\r\n\u00a0"') for part in cell.split(";")]
    return any(part[:1] in set("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20") for part in parts if part)


# ---- laws


@given(st.lists(texts, max_size=5))
@example(HOSTILE)
def test_no_text_cell_begins_a_formula_or_hides_anything(values: list[str]) -> None:
    data = replay.to_csv(text_table([*values]))
    found = [row[1] for row in read(data)[1:]]
    assert [cell for cell in found if is_run(cell)] == []
    assert not HIDDEN.search("".join(found))
    assert len(data.split(b"\r\n")) == len(values) + 2  # each record on one line
    assert not set(b"\r\n") & set(data.replace(b"\r\n", b""))


@given(texts | st.text("aZ09 ._:/#-;'=\"\\\n", max_size=6))
def test_a_plain_text_and_any_other_are_written_alike(text: str) -> None:
    cell = replay.to_csv(text_table([text])).decode().split("\r\n")[1].partition(",")[2]
    doubled = guarded(text).replace('"', '""')
    assert cell == f'"{doubled}"'


@given(st.lists(texts, max_size=5))
@example(HOSTILE)
def test_taking_the_guard_away_gives_the_text_back(values: list[str]) -> None:
    found = [row[1] for row in read(replay.to_csv(text_table([*values])))[1:]]
    assert [original(cell) for cell in found] == values


@given(st.lists(st.lists(texts, max_size=3), max_size=3))
@example([HOSTILE])
def test_a_list_is_json_of_equal_value_that_is_harmless_too(values: list[list[str]]) -> None:
    table = pa.table({"list": pa.array(values, pa.list_(pa.string()))})
    found = [row[0] for row in read(replay.to_csv(table))[1:]]
    assert [json.loads(cell) for cell in found] == values
    assert [cell for cell in found if is_run(cell)] == []
    assert not HIDDEN.search("".join(found))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=5,
    )
)
@example("=1")
@example({"a;": -1, ";": "=1"})
@example([";", "=1", -1])
def test_text_that_is_json_stays_json_of_equal_value(value: Json) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    cell = guarded_json(text)
    assert not is_run(cell)
    assert json.loads(cell.removeprefix("'")) == value  # before a bare number stands a guard


@given(texts)
def test_a_text_that_needs_no_guard_is_left_as_it_is(text: str) -> None:
    if not is_run(text) and "\\" not in text and "'" not in text and text.isprintable():
        assert guarded(text) == text


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("W1", "W1"),
        ("=1", "'=1"),
        ("'=1", "''=1"),
        ("it's", "it's"),
        ("a=b", "a=b"),
        ("a;=b", "a;'=b"),
        ("\t=1", "\\x09=1"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202ex", "\\u202ex"),
        ("\U000e0041", "\\U000e0041"),
        ("DOMAIN\\name", "DOMAIN\\name"),
        ("\\x41", "\\\\x41"),
        ("\\\\", "\\\\\\"),
    ],
)
def test_a_cell_is_the_text_but_for_guards_and_escapes(text: str, cell: str) -> None:
    assert guarded(text) == cell
    assert original(cell) == text


# ---- the form


def test_unknown_is_an_empty_field_and_an_empty_text_is_quoted() -> None:
    table = pa.table(
        {
            "text": ["", None],
            "whole": pa.array([-1, None]),
            "number": pa.array([60.0, None]),
            "yes": pa.array([True, False]),
            "at": pa.array([1, None], pa.timestamp("ns", "UTC")),
            "list": pa.array([[], None], pa.list_(pa.string())),
        }
    )
    assert replay.to_csv(table) == (
        b'"text","whole","number","yes","at","list"\r\n'
        b'"",-1,60.0,true,1970-01-01T00:00:00.000000001Z,"[]"\r\n'
        b",,,false,,\r\n"
    )


def test_a_column_with_no_form_in_csv_is_a_usage_error_that_names_it() -> None:
    with pytest.raises(UsageError, match=r'column "when": CSV has no cell for date32'):
        replay.to_csv(pa.table({"when": pa.array([1], pa.date32())}))
    days = pa.table({"days": pa.array([[1]], pa.list_(pa.date32()))})
    with pytest.raises(UsageError, match=r'column "days": no JSON'):
        replay.to_csv(days)


def test_the_name_of_a_column_is_guarded_as_well() -> None:
    assert read(replay.to_csv(pa.table({"=1": ["x"]})))[0] == ["'=1"]


# ---- read back


def expected(table: pa.Table) -> list[dict[str, str | None]]:
    """Each row of a table of ours as the texts that cells stand for; null is unknown."""
    kinds = {field.name: field.type for field in table.schema}
    return [
        {name: None if v is None else spelled(v, kinds[name]) for name, v in row.items()}
        for row in plain(table)
    ]


def spelled(value: Json, kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if pa.types.is_boolean(kind):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


@pytest.mark.parametrize("name", NAMES)
def test_python_reads_every_table_back(everything: Json, name: str) -> None:  # noqa: F811
    table = everything[name][1]
    header, *rows = read(replay.to_csv(table))
    assert header == table.column_names
    found = [dict(zip(header, map(original, row), strict=True)) for row in rows]
    assert found == [{k: v or "" for k, v in row.items()} for row in expected(table)]


@pytest.mark.parametrize("name", NAMES)
def test_arrow_pandas_polars_and_duckdb_read_every_table_back(
    everything: Json,  # noqa: F811
    name: str,
    tmp_path: Path,
) -> None:
    table = everything[name][1]
    path = tmp_path / f"{name}.csv"
    path.write_bytes(replay.to_csv(table))
    types = dict.fromkeys(table.column_names, pa.string())
    convert = arrow_csv.ConvertOptions(
        column_types=types, strings_can_be_null=True, quoted_strings_can_be_null=False,
        null_values=[""],
    )  # fmt: skip
    in_arrow = arrow_csv.read_csv(path, convert_options=convert).to_pylist()
    in_pandas = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")
    in_polars = pl.read_csv(path, infer_schema=False).to_dicts()
    with duckdb.connect() as connection:
        query = f"from read_csv('{path}', all_varchar=true, allow_quoted_nulls=false)"
        in_duckdb = connection.sql(query).to_arrow_table().to_pylist()
    rows = expected(table)
    assert [unguarded(row) for row in in_arrow] == rows
    assert [unguarded(row) for row in in_polars] == rows
    assert [unguarded(row) for row in in_duckdb] == rows
    # pandas has no null beside the empty text where it is told to guess nothing
    assert [unguarded(row) for row in in_pandas] == [
        {k: v or "" for k, v in row.items()} for row in rows
    ]


def unguarded(row: Json) -> Json:
    return {k: None if v is None else original(v) for k, v in row.items()}


def test_hostile_texts_and_nulls_come_back_from_every_reader(tmp_path: Path) -> None:
    values: list[str | None] = [*HOSTILE, None]
    path = tmp_path / "hostile.csv"
    path.write_bytes(replay.to_csv(text_table(values)))
    in_polars = pl.read_csv(path, schema={"n": pl.Int64, "text": pl.String})["text"].to_list()
    query = f"select text from read_csv('{path}', types={{'text': 'varchar'}},"
    with duckdb.connect() as connection:
        relation = connection.sql(f"{query} allow_quoted_nulls=false) order by n")
        in_duckdb = [row[0] for row in relation.fetchall()]
    in_pandas = pd.read_csv(path, dtype={"text": str}, keep_default_na=False)["text"].tolist()
    for found in (in_polars, in_duckdb):
        assert [None if cell is None else original(cell) for cell in found] == values
    assert [original(cell) for cell in in_pandas] == [value or "" for value in values]


def test_readers_find_the_types_of_columns_by_themselves(tmp_path: Path) -> None:
    projection = replay.project(replay.load(PAPER).until(), rules=SECOND.id)
    path = tmp_path / "episodes.csv"
    path.write_bytes(replay.to_csv(projection.to_arrow("episodes")))
    for frame in (
        pd.read_csv(path),
        pl.read_csv(path).to_pandas(),
        duckdb.read_csv(str(path)).df(),
    ):
        kinds = {name: frame[name].dtype.kind for name in ("duration", "event", "event_code")}
        assert kinds == {"duration": "f", "event": "b", "event_code": "i"}
        assert frame["duration"].tolist() == [420.0]


# ---- the command


def test_the_command_writes_every_table_as_csv_and_what_it_carries_beside(
    run: Run, tmp_path: Path
) -> None:
    ran = run("project", PAPER, "-o", tmp_path, "--tables", "csv")
    assert (ran.status, ran.out) == (0, b"")
    wanted = {f"{name}{end}" for name in NAMES for end in (".csv", ".csv.json")}
    assert {path.name for path in tmp_path.iterdir()} == wanted
    prefix = replay.load(PAPER).until()
    for name, table in every_table(SECOND.project(prefix), timeline(prefix, SECOND)).items():
        assert (tmp_path / f"{name}.csv").read_bytes() == replay.to_csv(table)
        head = (tmp_path / f"{name}.csv.json").read_bytes()
        assert document(Ran(0, head, "")) == carried(table)


def test_several_logs_are_read_as_one_with_a_column_that_names_the_log(
    run: Run, tmp_path: Path
) -> None:
    assert run("project", CASES, "-o", tmp_path, "--tables", "csv").status == 0
    files = f"read_csv('{tmp_path}/log=*/items.csv', hive_partitioning=true)"
    with duckdb.connect() as connection:
        found = connection.sql(f"select distinct log from {files}").fetchall()
    assert {name for (name,) in found} == {path.stem for path in CASES.glob("*.jsonl")}


def test_a_form_of_tables_without_a_folder_is_a_usage_error(run: Run) -> None:
    ran = run("project", PAPER, "--tables", "csv")
    assert (ran.status, ran.out) == (2, b"")
    assert "--tables says what -o DIR writes" in ran.err


def test_csv_never_stands_in_the_place_of_an_input(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "items.csv"
    log.write_bytes(PAPER.read_bytes())
    ran = run("project", log, "-o", tmp_path, "--tables", "csv")
    assert (ran.status, log.read_bytes()) == (2, PAPER.read_bytes())


def test_times_are_printed_as_documents_print_them() -> None:
    table = pa.table({"at": pa.array([1_700_000_000_500_000_000], pa.timestamp("ns", "UTC"))})
    assert read(replay.to_csv(table))[1] == [format_utc(1_700_000_000_500_000_000)]
