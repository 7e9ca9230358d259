"""A table says what the document says, row by row, in columns that are published."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import duckdb
import jsonschema
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet as pq

import replay
from replay import rules
from replay.document import projection_document
from replay.errors import UsageError
from replay.history import Cutoff, History
from replay.projection import Item, RuleSet
from replay.schemas import schema as published
from replay.tables import (
    GROWN,
    PROJECTED,
    carried,
    every_table,
    parquet,
    projection_table,
    schema,
    timeline_table,
)
from replay.timeline import timeline, timeline_document
from replay.timestamps import format_utc, seconds
from tests.command import CASES, PAPER, ROOT, Run, in_process, process
from tests.drawn import histories
from tests.notation import events, history, lines
from tests.test_schemas import validator, with_an_unknown_member, without_each_member

Json = Any
RULE_SETS: Final = [rules.named(rule_set_id) for rule_set_id in rules.known()]
SECOND: Final = RULE_SETS[-1]
NAMES: Final = (*PROJECTED, *GROWN)
BY_ID = pytest.mark.parametrize("rule_set", RULE_SETS, ids=lambda rule_set: rule_set.id)
CASE_PATHS: Final = sorted(CASES.glob("*.jsonl"))


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capfdbinary)


def tables_of(log: History, rule_set: RuleSet = SECOND, at: Cutoff | None = None) -> Json:
    prefix = log.at(at or Cutoff())
    return every_table(rule_set.project(prefix), timeline(prefix, rule_set))


def queried(query: str, **named: object) -> list[Json]:
    """The rows that DuckDB finds, where the names stand for objects that it can read."""
    with duckdb.connect() as connection:
        for name, value in named.items():
            connection.register(name, value)
        relation: Any = connection.sql(query)
        found: list[Json] = relation.fetchall()
        return found


def plain(table: pa.Table) -> list[Json]:
    """The rows as JSON values: times as documents print them."""
    columns = {}
    for field in table.schema:
        column = table.column(field.name)
        if pa.types.is_timestamp(field.type):
            whole = column.cast(pa.int64()).to_pylist()
            columns[field.name] = [None if at is None else format_utc(at) for at in whole]
        else:
            columns[field.name] = column.to_pylist()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


# ---- The columns


COLUMNS: Final = {
    "items": """
        work_id!  determined:bool!
        state  state_since_event @state_since  state_rule!  state_evidence:list!
        revision  revision_since_event @revision_since  revision_rule!  revision_evidence:list!
        last_message_event! @last_message
        last_progress_event @last_progress  last_progress_rule
        blocked_since_event @blocked_since
        flags:list!  undetermined_by:list!  authorization!""",
    "episodes": """
        work_id!  blocker_id  opened_event! @opened  repeats:list!
        end_kind!  end_event @end  end_evidence:list  %""",
    "latencies": """
        work_id!  claim_event!  claim_rule!  claim_evidence:list!  revision!
        ready_event! @ready  end_kind!  end_event @end  reviewed_revision  outcome  %""",
    "receipts": "work_id! event_id! type! check source outcome! revision status! principal",
    "claims": "work_id! event_id! claim! verdict! evidence:list! missing:list! rule!",
    "corrections": "work_id! event_id! target! status! reason",
    "anomalies": "work_id code! event_id! related:list!",
    "timeline": """
        work_id  question!  of  value_text  value!  rule
        valid_from_sequence:int64!  valid_from_event! @valid_from
        valid_to_sequence:int64  valid_to_event @valid_to""",
}
"""Names in order, `:type` where it is no string, `!` where never null.  `@x` is the two
columns of a time; `%` the columns for survival analysis."""
SURVIVAL: Final = (
    "duration:s! duration_ns:ns! entry:s! event:bool! competing:bool! event_code:int8!"
)
TYPES: Final = {
    "": (pa.string(), None),
    "bool": (pa.bool_(), None),
    "list": (pa.list_(pa.string()), None),
    "int8": (pa.int8(), None),
    "int64": (pa.int64(), None),
    "s": (pa.float64(), "s"),
    "ns": (pa.int64(), "ns"),
    "utc": (pa.timestamp("ns", "UTC"), "ns"),
    "min": (pa.float64(), "min"),
}


def authored(name: str) -> Iterator[tuple[str, pa.DataType, bool, str | None]]:
    for word in COLUMNS[name].replace("%", SURVIVAL).split():
        if word.startswith("@"):
            yield (f"{word[1:]}_at", pa.timestamp("ns", "UTC"), True, "ns")
            yield (f"{word[1:]}_minute", pa.float64(), True, "min")
        else:
            column, _, kind = word.removesuffix("!").partition(":")
            yield (column, TYPES[kind][0], not word.endswith("!"), TYPES[kind][1])


@pytest.mark.parametrize("name", NAMES)
def test_a_table_has_the_columns_types_and_units_that_are_written_here(name: str) -> None:
    found = [
        (field.name, field.type, field.nullable, (field.metadata.get(b"unit") or b"").decode())
        for field in schema(name)
    ]
    assert found == [(*facts, unit or "") for *facts, unit in authored(name)]


@pytest.mark.parametrize("name", NAMES)
def test_every_column_says_what_it_is(name: str) -> None:
    assert [field.name for field in schema(name) if not field.metadata[b"description"]] == []


def test_the_published_schema_has_every_table_and_no_other() -> None:
    assert set(published("tables")["properties"]) == {*NAMES}


@pytest.mark.parametrize("basis", ["utc", "elapsed"])
def test_a_schema_does_not_depend_on_the_log(basis: Any) -> None:
    for log in (history("", basis=basis), history("r1 + ~ ci+ ready done note#", basis=basis)):
        for name, table in tables_of(log).items():
            assert table.schema.equals(schema(name), check_metadata=False)
            assert [field.metadata for field in table.schema] == [f.metadata for f in schema(name)]


# ---- The rows


def time(prefix: str, value: str | float | None) -> Json:
    at = value if isinstance(value, str) else None
    return {f"{prefix}_at": at, f"{prefix}_minute": None if at is not None else value}


def moment(prefix: str, mark: Json) -> Json:
    mark = mark or {"event_id": None, "time": None}
    return {f"{prefix}_event": mark["event_id"], **time(prefix, mark["time"])}


def derived(name: str, value: Json) -> Json:
    evidence = {f"{name}_rule": value["rule"], f"{name}_evidence": value["evidence"]}
    return {name: value["value"], **moment(f"{name}_since", value["since"]), **evidence}


def item_row(item: Json) -> Json:
    clocks = item["clocks"]
    return {
        "determined": item["undetermined_by"] == [],
        **derived("state", item["state"]),
        **derived("revision", item["revision"]),
        **{key: value for name in clocks for key, value in moment(name, clocks[name]).items()},
        "last_progress_rule": (clocks["last_progress"] or {}).get("rule"),
        **{key: item[key] for key in ("flags", "undetermined_by", "authorization")},
    }


EVENT_CODE: Final = {"recovered": 1, "cancelled": 2, "cancelled_with_work": 2, "censored": 0}


def episode_row(episode: Json) -> Json:
    end = episode["end"]
    code = EVENT_CODE[end["kind"]]
    return {
        "blocker_id": episode["blocker_id"],
        **moment("opened", episode["opened"]),
        "repeats": episode["repeats"],
        "end_kind": end["kind"],
        **(
            moment("end", end.get("by"))
            | time("end", (end.get("by") or {}).get("time", end.get("at")))
        ),
        "end_evidence": end.get("evidence"),
        "duration": episode["elapsed_seconds"],
        "entry": 0,
        "event": code == 1,
        "competing": code == 2,
        "event_code": code,
    }


def expected(document: Json, name: str) -> list[Json]:
    """The rows that a projection document asks for."""
    if name == "items":
        return [{"work_id": item["work_id"], **item_row(item)} for item in document["items"]]
    unassigned = {"work_id": None, "anomalies": document["unassigned"]["anomalies"]}
    row = episode_row if name == "episodes" else dict
    return [
        {"work_id": item["work_id"], **row(entry)}
        for item in (unassigned, *document["items"])
        for entry in item.get(name) or ()
    ]


def assert_rows_as_in_documents(log: History, rule_set: RuleSet, at: Cutoff) -> None:
    prefix = log.at(at)
    projection = rule_set.project(prefix)
    document = projection_document(projection, rule_set)
    for name in PROJECTED:
        rows = plain(projection_table(projection, name))
        for row in rows if name == "episodes" else ():
            assert seconds(row.pop("duration_ns")) == row["duration"]
        assert rows == expected(document, name)
        assert [*rows[0]] == [c for c, *_ in authored(name) if c != "duration_ns"] if rows else True


def cutoffs(log: History) -> Iterator[Cutoff]:
    yield from (Cutoff(event.recorded_sequence) for event in log.events)
    yield from (Cutoff(None, event.recorded_at + 1) for event in log.events)
    yield Cutoff()


@BY_ID
@pytest.mark.parametrize("path", CASE_PATHS, ids=lambda path: path.stem)
def test_every_case_has_the_rows_of_its_document_at_every_cutoff(
    path: Path, rule_set: RuleSet
) -> None:
    log = replay.load(path)
    for at in cutoffs(log):
        assert_rows_as_in_documents(log, rule_set, at)


@BY_ID
@given(log=histories())
@settings(max_examples=40, deadline=None)
def test_every_history_has_the_rows_of_its_document(log: History, rule_set: RuleSet) -> None:
    assert_rows_as_in_documents(log, rule_set, Cutoff())


def interval_row(interval: Json) -> Json:
    row = {key: interval[key] for key in ("work_id", "question", "of")}
    for bound in ("valid_from", "valid_to"):
        row |= moment(bound, interval[bound])
        row[f"{bound}_sequence"] = (interval[bound] or {}).get("sequence")
    value = interval["value"]
    row["rule"] = value.get("rule") if isinstance(value, dict) else None
    row["value"] = value
    row["value_text"] = in_a_word(interval["question"], value)
    return row


def in_a_word(question: str, value: Json) -> str | None:
    match question:
        case "state" | "revision":
            word = value["value"]
        case "last_message" | "last_progress" | "blocked_since":
            word = value["event_id"]
        case "episode":
            word = value["end"] and value["end"]["kind"]
        case "receipt" | "correction":
            word = value["status"]
        case "claim":
            word = value["verdict"]
        case "anomaly":
            word = value["code"]
        case "flag" | "undetermined":
            word = value
    assert word is None or isinstance(word, str)
    return word


def assert_intervals_as_in_documents(log: History, rule_set: RuleSet) -> None:
    line = timeline(log.at(Cutoff()), rule_set)
    rows = plain(timeline_table(line, "timeline"))
    document: Json = timeline_document(line, rule_set)
    for row in rows:
        assert row["value"] == json.dumps(
            json.loads(row["value"]), ensure_ascii=False, separators=(",", ":"), sort_keys=True
        )
        row["value"] = json.loads(row["value"])
    assert rows == [
        interval_row(interval) for interval in json.loads(json.dumps(document))["intervals"]
    ]


@BY_ID
@pytest.mark.parametrize("path", CASE_PATHS, ids=lambda path: path.stem)
def test_every_case_has_the_rows_of_its_timeline(path: Path, rule_set: RuleSet) -> None:
    assert_intervals_as_in_documents(replay.load(path), rule_set)


@pytest.mark.parametrize("path", CASE_PATHS, ids=lambda path: path.stem)
def test_every_row_of_every_case_is_as_the_schema_says(path: Path) -> None:
    validator = jsonschema.Draft202012Validator(published("tables"))
    for rule_set in RULE_SETS:
        rows = {
            name: plain(table) for name, table in tables_of(replay.load(path), rule_set).items()
        }
        assert [f"{e.json_path}: {e.message}" for e in validator.iter_errors(rows)] == []


def test_an_undetermined_item_is_counted_and_has_no_row_elsewhere() -> None:
    tables = tables_of(history("r1 ci+ + ready cancel"), RULE_SETS[0])
    (item,) = plain(tables["items"])
    assert (item["determined"], item["undetermined_by"]) == (False, ["e5"])
    assert (item["state"], item["revision"], item["blocked_since_event"]) == (None, None, None)
    assert item["last_message_event"] == "e5"
    others = ("episodes", "receipts", "claims", "corrections", "anomalies", "latencies")
    assert [tables[name].num_rows for name in others] == [0] * 6


def test_an_anomaly_of_no_work_item_has_a_null_work_id() -> None:
    rows = plain(tables_of(history("r1 note#!e9"))["anomalies"])
    assert rows == [{"work_id": None, "code": "link_missing", "event_id": "e2", "related": ["e9"]}]


def test_times_of_a_utc_log_are_exact_to_the_nanosecond() -> None:
    log = history("r1 +", basis="utc")
    row = tables_of(log)["episodes"].select(["opened_at", "opened_minute"])
    assert row.column("opened_at").cast(pa.int64()).to_pylist() == [log.events[1].recorded_at]
    assert row.column("opened_minute").to_pylist() == [None]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_carries_its_input_rules_and_cutoff(name: str) -> None:
    prefix = replay.load(PAPER).until(sequence=5, minute=9)
    projection = SECOND.project(prefix)
    document = projection_document(projection, SECOND)
    head = carried(every_table(projection, timeline(prefix, SECOND))[name])
    assert head.pop("left_out", []) == []
    assert (head.pop("document"), head.pop("table")) == ("replay.table/1", name)
    assert head == {key: document[key] for key in head}
    assert {*head} == {"tool", "input", "rules", "cutoff", "accounting"}


@pytest.mark.parametrize("name", ["items", "latencies"])
def test_what_a_table_carries_is_a_document_with_an_exact_schema(name: str) -> None:
    head = carried(tables_of(replay.load(PAPER), at=Cutoff(5, 1))[name])
    judge = validator("table")
    assert judge.is_valid(head)
    assert [path for path, poor in without_each_member(head) if judge.is_valid(poor)] == []
    assert [path for path, rich in with_an_unknown_member(head) if judge.is_valid(rich)] == []
    other: Json = {"left_out": []} if name == "items" else {"table": "items"}
    assert not judge.is_valid({**head, **other})


def test_a_name_that_is_no_table_is_a_usage_error_that_lists_those_that_are() -> None:
    prefix = replay.load(PAPER).until()
    projection = replay.project(prefix, rules=SECOND.id)
    line = replay.timeline_of(prefix, rules=SECOND.id)
    with pytest.raises(UsageError, match=r"'mood' of a projection; there are: items, episodes"):
        projection.to_arrow("mood")
    with pytest.raises(UsageError, match=r"one of a timeline: replay\.timeline_of\("):
        projection.to_pandas("latencies")
    with pytest.raises(UsageError, match=r"one of a projection: replay\.project\("):
        line.to_pandas("items")


# ---- Latencies


def latency_rows(notation: str, *, at: Cutoff | None = None) -> list[Json]:
    return plain(tables_of(history(notation), at=at)["latencies"])


def ends(notation: str) -> list[tuple[Json, ...]]:
    keys = ("claim_event", "ready_event", "end_kind", "end_event", "duration")
    return [tuple(row[key] for key in keys) for row in latency_rows(notation)]


@pytest.mark.parametrize(
    ("notation", "wait"),
    [
        ("r1 ci+ ready review+", ("e3", "e3", "reviewed", "e4", 60)),
        ("r1 ci+ ready review-", ("e3", "e3", "reviewed", "e4", 60)),
        ("r1 ready note ci+ review+:9", ("e2", "e4", "reviewed", "e5", 360)),
        ("r1 ci+ ready review=commented note", ("e3", "e3", "censored", None, 120)),
        ("r1 ci+ ready review=dismissed", ("e3", "e3", "censored", None, 60)),
        ("r1 ci+ ready", ("e3", "e3", "censored", None, 0)),
        ("r1 ci+ ready cancel", ("e3", "e3", "cancelled", "e4", 60)),
        ("r1 ci+ ready done", ("e3", "e3", "completed", "e4", 60)),
        ("r1 ci+ ready cancel review+", ("e3", "e3", "cancelled", "e4", 60)),
        ("r1 ci+ ready cancel reopen note", ("e3", "e3", "censored", None, 180)),
        ("r1 ci+ ready review+ cancel", ("e3", "e3", "reviewed", "e4", 60)),
        ("r1 ci+ ready + review+", ("e3", "e3", "reviewed", "e5", 120)),
        # of a later revision: the item waited all the same; of an earlier one: it waits still
        ("r1 ci+ ready r2 review+", ("e3", "e3", "reviewed", "e5", 120)),
        ("r1 ci+ ready r2 review+@r1", ("e3", "e3", "censored", None, 120)),
        # a review of what has come back is not a new review
        ("r1 review+ r2 ci+ ready r1", ("e5", "e5", "censored", None, 60)),
        # before it was validly ready, but after it was said: it was reviewed already
        ("r1 ready review+ ci+ ready:7 review-", ("e5", "e5", "reviewed", "e6", 60)),
    ],
)
def test_a_wait_is_from_the_first_valid_readiness_to_the_first_substantive_review(
    notation: str, wait: tuple[Json, ...]
) -> None:
    assert ends(notation) == [wait]


@pytest.mark.parametrize(
    "notation",
    [
        "r1 ready",
        "r1 ci- ready",
        "r1 ci/local+ ready",
        "r1 ready review+ ci+",
        "r1 cancel ci+ ready",
    ],
)
def test_an_item_that_was_never_validly_ready_has_no_wait(notation: str) -> None:
    assert ends(notation) == []


def test_an_item_with_an_effective_correction_is_left_out_by_name() -> None:
    table = tables_of(history("r1 ci+ ready retract!e2 r1#W2 ci+#W2 ready#W2"))["latencies"]
    assert [row["work_id"] for row in plain(table)] == ["W2"]
    assert carried(table)["left_out"] == ["W1"]
    untouched = tables_of(history("r1 ci+ ready retract!e2^p2"))["latencies"]
    assert untouched.num_rows == 1


def test_what_is_learned_after_the_cutoff_ends_no_wait() -> None:
    (row,) = latency_rows("r1 ci+ ready review+:9", at=Cutoff(None, 8 * 60 * 10**9))
    assert (row["end_kind"], row["duration"], row["end_minute"]) == ("censored", 360, 8)


SUBSTANTIVE: Final = ("approved", "changes_requested")
TERMINAL: Final = ("complete", "cancelled")


def searched(log: History, rule_set: RuleSet, work_id: str) -> tuple[Json, ...] | None:
    """An item's wait, found by projecting at every sequence; null where it has none."""
    sequence = {event.event_id: event.recorded_sequence for event in log.events}
    known = {s: rule_set.project(log.at(Cutoff(s))).item(work_id) for s in sequence.values()}
    ready = next(
        (
            (claim, at)
            for at, item in known.items()
            if item is not None and item.state.value not in TERMINAL
            for claim in item.claims or ()
            if (claim.claim, claim.verdict) == ("review.requested", "supported")
            and not any(sequence[r] > sequence[claim.event_id] for r in reviews(item))
        ),
        None,
    )
    if ready is None:
        return None
    claim, since = ready
    end = next(
        (
            ("reviewed", event.event_id)
            for event in log.events
            if event.recorded_sequence > since
            and (item := known[event.recorded_sequence]) is not None
            and event.event_id in reviews(item)
        ),
        ("censored", None),
    )
    state: Json = [*known.values()][-1].state  # type: ignore[union-attr]
    if state.value in TERMINAL and (
        end[1] is None or sequence[state.since.event_id] < sequence[end[1]]
    ):
        end = ("completed" if state.value == "complete" else "cancelled", state.since.event_id)
    return (claim.event_id, next(e for e, s in sequence.items() if s == since), *end)


def reviews(item: Item) -> set[str]:
    """The substantive reviews of the current revision."""
    return {
        receipt.event_id
        for receipt in item.receipts or ()
        if receipt.outcome in SUBSTANTIVE and receipt.status == "current"
    }


WORDS: Final = (
    *("r1", "r2", "ci+", "ci+", "ci-", "ready", "ready", "ready[lint]", "ready@r1", "lint+"),
    *("review+", "review-", "review+@r1", "review=commented", "+", "~", "r1<+"),
    *("cancel", "reopen", "done", "note#W2"),
)


@given(words=st.lists(st.sampled_from(WORDS), max_size=9))
@settings(max_examples=250, deadline=None)
def test_a_wait_equals_the_one_found_by_projecting_at_every_event(words: list[str]) -> None:
    log = history(" ".join(["r1", "ci+", *words]))
    rows = [row for row in plain(tables_of(log)["latencies"]) if row["work_id"] == "W1"]
    keys = ("claim_event", "ready_event", "end_kind", "end_event")
    found = [tuple(row[key] for key in keys) for row in rows]
    wait = searched(log, SECOND, "W1")
    assert found == ([] if wait is None else [wait])
    for row in rows:
        at = {event.event_id: event.recorded_at for event in log.events}
        ended = at.get(row["end_event"], log.events[-1].recorded_at)
        assert row["duration_ns"] == ended - at[row["ready_event"]]
        code = {"reviewed": 1, "censored": 0}.get(row["end_kind"], 2)
        assert (row["event"], row["competing"], row["event_code"]) == (code == 1, code == 2, code)


@BY_ID
@given(log=histories())
@settings(max_examples=40, deadline=None)
def test_waits_of_every_history_equal_those_found_by_projecting(
    log: History, rule_set: RuleSet
) -> None:
    table = tables_of(log, rule_set)["latencies"]
    found = {row["work_id"]: row for row in plain(table)}
    for item in rule_set.project(log.at(Cutoff())).items:
        corrected = any(c.status != "ineffective" for c in item.corrections or ())
        assert item.work_id not in found or not (corrected or item.undetermined_by)
        if not corrected and not item.undetermined_by:
            assert (searched(log, rule_set, item.work_id) is None) == (item.work_id not in found)


# ---- In other hands


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, pa.Table]]:
    """Every table with rows in it, and its Parquet file."""
    folder = tmp_path_factory.mktemp("tables")
    log = history(
        "r1 ci+^p1 + +:5 r2<e3 ci- +b1 ~b1 ready ci+ review+ retract!e8?typo note#!e99"
        " r1#W2 ci+#W2 ready#W2 review+#W2:40",
        basis="utc",
    )
    found = {}
    for name, table in tables_of(log).items():
        assert table.num_rows
        (folder / f"{name}.parquet").write_bytes(parquet(table))
        found[name] = (folder / f"{name}.parquet", table)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_parquet_keeps_rows_types_units_and_what_the_table_carries(
    everything: Json, name: str
) -> None:
    path, table = everything[name]
    read = pq.read_table(path)
    assert plain(read) == plain(table)
    assert carried(read) == carried(table)
    assert [(f.name, f.nullable) for f in read.schema] == [
        (f.name, f.nullable) for f in table.schema
    ]
    for one, other in zip(read.schema, table.schema, strict=True):
        assert {**other.metadata}.items() <= {**one.metadata}.items()


@pytest.mark.parametrize("name", NAMES)
def test_polars_reads_the_file_and_the_capsule(everything: Json, name: str) -> None:
    path, table = everything[name]
    for read in (pl.read_parquet(path), pl.DataFrame(table)):
        assert plain(read.to_arrow().cast(table.schema)) == plain(table)
        assert read.schema == pl.DataFrame(table).schema
    assert json.loads(pl.read_parquet_metadata(path)["replay"]) == carried(table)


@pytest.mark.parametrize("name", NAMES)
def test_duckdb_reads_the_file_and_the_table(everything: Json, name: str) -> None:
    path, table = everything[name]
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        for source in (f"read_parquet('{path}')", "arrow_table"):
            connection.register("arrow_table", table)
            read = connection.sql(f"select * from {source}").to_arrow_table()
            assert plain(read.cast(table.schema)) == plain(table)


@pytest.mark.parametrize("name", NAMES)
def test_pandas_reads_the_file_as_to_pandas_gives_it(everything: Json, name: str) -> None:
    path, table = everything[name]
    read = pd.read_parquet(path)
    assert [*read.columns] == table.column_names
    pd.testing.assert_frame_equal(read, table.to_pandas())


def test_a_projection_is_its_items_to_whatever_takes_arrow() -> None:
    projection = replay.project(replay.load(PAPER).until(), rules=SECOND.id)
    items = projection.to_arrow("items")
    assert pa.table(projection) == items
    assert pl.DataFrame(projection).equals(pl.DataFrame(items))
    asked = queried("select work_id, state from items", items=projection)
    assert asked == [("W1", "awaiting_review")]


def test_a_timeline_is_its_intervals_to_whatever_takes_arrow() -> None:
    line = replay.timeline_of(replay.load(PAPER).until(), rules=SECOND.id)
    assert pa.table(line) == line.to_arrow()
    known = queried(
        "select value_text from line where work_id = 'W1' and question = 'state'"
        " and valid_from_sequence <= 5 and (valid_to_sequence > 5 or valid_to_sequence is null)",
        line=line,
    )
    assert known == [("blocked",)]


def test_a_stream_takes_another_representation_and_refuses_another_table() -> None:
    projection = replay.project(replay.load(PAPER).until(), rules=SECOND.id)
    items = projection.to_arrow("items")
    wide = pa.schema(
        [f.with_type(pa.large_string()) if f.type == pa.string() else f for f in items.schema]
    )
    assert pa.RecordBatchReader.from_stream(projection, schema=wide).read_all() == items.cast(wide)
    with pytest.raises((ValueError, TypeError)):
        pa.RecordBatchReader.from_stream(projection, schema=pa.schema([("x", pa.int64())]))


def test_a_data_frame_is_ready_for_survival_analysis() -> None:
    projection = replay.project(history("+ ~ +b1 + cancel").until(), rules=SECOND.id)
    frame = projection.to_pandas("episodes")
    kinds = {name: frame[name].dtype.kind for name in SURVIVAL_KINDS}
    assert kinds == SURVIVAL_KINDS
    assert frame.attrs["replay"]["rules"]["id"] == SECOND.id
    assert frame["event_code"].tolist() == [2, 2, 2]


SURVIVAL_KINDS: Final = {
    "duration": "f",
    "duration_ns": "i",
    "entry": "f",
    "event": "b",
    "competing": "b",
    "event_code": "i",
}


def test_three_lines_lead_from_a_log_to_a_data_frame() -> None:
    history = replay.load(PAPER)
    projection = replay.project(history.until(sequence=5, minute=9), rules="coordination/1")
    episodes = projection.to_pandas("episodes")
    assert episodes[["work_id", "duration", "event"]].to_numpy().tolist() == [["W1", 360.0, False]]


# ---- The command


def test_the_command_writes_every_table_and_prints_no_answer(run: Run, tmp_path: Path) -> None:
    ran = run("project", PAPER, "-o", tmp_path / "new" / "out")
    assert (ran.status, ran.out) == (0, b"")
    assert ran.said[0].endswith(
        "rows: items 1, episodes 1, receipts 4, claims 1, corrections 0, anomalies 0, timeline 32,"
        " latencies 1"
    )
    written = {path.name for path in (tmp_path / "new" / "out").iterdir()}
    assert written == {f"{name}.parquet" for name in NAMES}
    log = replay.load(PAPER)
    for name, table in tables_of(log).items():
        read = pq.read_table(tmp_path / "new" / "out" / f"{name}.parquet")
        assert (plain(read), carried(read)) == (plain(table), carried(table))


def test_the_same_log_twice_gives_the_same_files(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        ran = process("project", PAPER, "-o", tmp_path / folder)
        assert ran.status == 0
    for name in NAMES:
        one, two = (tmp_path / folder / f"{name}.parquet" for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_rules_and_cutoff_are_those_that_were_asked_for(run: Run, tmp_path: Path) -> None:
    options = ("--rules", "coordination/1", "--at-sequence", 5, "--at-minute", 9)
    assert run("project", PAPER, "-o", tmp_path, *options).status == 0
    read = pq.read_table(tmp_path / "episodes.parquet")
    head = carried(read)
    assert (head["rules"]["id"], head["cutoff"]["sequence"]) == ("coordination/1", 5)
    assert read.column("duration").to_pylist() == [360]


def test_several_logs_are_one_table_with_a_column_that_names_the_log(
    run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert run("project", CASES, "-o", out).status == 0
    read = pl.read_parquet(out / "*" / "items.parquet", hive_partitioning=True)
    assert set(read["log"]) == {path.stem for path in CASE_PATHS}
    single = sum(tables_of(replay.load(path))["items"].num_rows for path in CASE_PATHS)
    assert len(read) == single
    files = f"read_parquet('{out}/*/items.parquet', hive_partitioning = true)"
    assert queried(f"select count(distinct log) from {files}") == [(len(CASE_PATHS),)]


def test_a_folder_is_named_by_a_safe_form_of_the_file_name_and_never_twice(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    names = ["a b.jsonl", "a=b.jsonl", "A-B.jsonl", "a-b-2.jsonl", "..jsonl", "\x1b[31m.jsonl"]
    logs = [tmp_path / "in" / name for name in names]
    for log in logs:
        log.write_bytes(PAPER.read_bytes())
    assert run("project", *logs, "-o", tmp_path / "out").status == 0
    found = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert found == ["log=-31m", "log=A-B-3", "log=a-b", "log=a-b-2", "log=a-b-2-2", "log=log"]


def test_a_refused_log_writes_nothing_and_the_others_are_written(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"{}\n")
    ran = run("project", bad, PAPER, "-o", tmp_path / "out")
    assert ran.status == 3
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["log=paper-nine-events"]
    assert run("project", bad, "-o", tmp_path / "none").status == 3
    assert not (tmp_path / "none").exists()


def test_a_table_that_cannot_be_written_leaves_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "receipts.parquet").mkdir()
    ran = run("project", PAPER, "-o", tmp_path)
    assert ran.status == 2
    assert "receipts.parquet: not a regular file" in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["receipts.parquet"]


def test_a_file_where_the_folder_should_be_ends_with_2(run: Run, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    assert run("project", PAPER, "-o", tmp_path / "out").status == 2
    assert (tmp_path / "out").read_text() == "mine"


def test_tables_never_stand_in_the_place_of_an_input(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "items.parquet"
    log.write_bytes(PAPER.read_bytes())
    ran = run("project", log, "-o", tmp_path)
    assert (ran.status, log.read_bytes()) == (2, PAPER.read_bytes())
    assert "inputs are never written to" in ran.err


def test_tables_and_a_document_are_not_asked_for_at_once(run: Run, tmp_path: Path) -> None:
    ran = run("project", PAPER, "-o", tmp_path / "out", "--format", "json")
    assert (ran.status, ran.out) == (2, b"")
    assert not (tmp_path / "out").exists()


def test_a_recovered_log_is_written_and_ends_with_3(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "torn.jsonl"
    log.write_bytes(PAPER.read_bytes() + b'{"schema')
    assert run("project", log, "--recover", "-o", tmp_path / "out").status == 3
    assert carried(pq.read_table(tmp_path / "out" / "items.parquet"))["input"]["complete"] is False


# ---- pandas 2 and lifelines, which asks for it


WITH_PANDAS_2: Final = """
import json, sys
import pandas as pd
import replay
from lifelines import AalenJohansenFitter, KaplanMeierFitter

folder, log = sys.argv[1:]
names = json.loads(sys.stdin.read())
frames = {name: pd.read_parquet(f"{folder}/{name}.parquet") for name in names}
prefix = replay.load(log).until()
episodes = replay.project(prefix, rules="coordination/2").to_pandas("episodes")
pd.testing.assert_frame_equal(episodes, frames["episodes"])
waits = replay.timeline_of(prefix, rules="coordination/2").to_pandas("latencies")

def survival(frame):
    fitted = KaplanMeierFitter().fit(frame.duration, frame.event, entry=frame.entry)
    return fitted.survival_function_at_times([0, 60, 120, 180, 240]).tolist()

risk = AalenJohansenFitter(calculate_variance=False)
risk.fit(episodes.duration, episodes.event_code, event_of_interest=1)
print(json.dumps({
    "pandas": pd.__version__,
    "columns": {name: [*frame.columns] for name, frame in frames.items()},
    "episodes": survival(episodes),
    "recovered": float(risk.cumulative_density_.iloc[-1, 0]),
    "latencies": survival(waits),
}))
"""
# durations in minutes: recovered after 1 and 3, cancelled after 2, open after 9
# (the items W2 and W3 of the waits end the observation at 19)
FOUR_EPISODES: Final = "r1 +:1 r2<e2:2 +:3 ~:5 +:6 r3<e6:9 +:10 note:14"
TWO_WAITS: Final = (
    "r1#W2:14 ci+#W2:14 ready#W2:14 review+#W2:16 r1#W3:16 ci+#W3:16 ready#W3:16 note:19"
)


def test_pandas_2_and_lifelines_take_the_tables(tmp_path: Path) -> None:
    log = tmp_path / "four.jsonl"
    log.write_bytes(lines(events(f"{FOUR_EPISODES} {TWO_WAITS}")))
    assert process("project", log, "-o", tmp_path / "out").status == 0
    ran = subprocess.run(
        [sys.executable, "-c", WITH_PANDAS_2, str(tmp_path / "out"), str(log)],
        input=json.dumps(NAMES),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["pandas"].startswith("2.")
    assert found["columns"] == {name: schema(name).names for name in NAMES}
    # of four at risk one recovers at 1; of the two left at 3 (one was cancelled at 2) one does
    assert found["episodes"] == pytest.approx([1, 3 / 4, 3 / 4, 3 / 8, 3 / 8])
    # and by Aalen and Johansen: 1/4, then of 3/4 - 1/4 still open one half
    assert found["recovered"] == pytest.approx(1 / 4 + (3 / 4 - 1 / 4) / 2)
    # one of two is reviewed after 2 minutes, one still waits after 3
    assert found["latencies"] == pytest.approx([1, 1, 1 / 2, 1 / 2, 1 / 2])


def test_the_hand_count_is_about_these_durations() -> None:
    tables = tables_of(history(f"{FOUR_EPISODES} {TWO_WAITS}"))
    episodes = [(row["duration"] / 60, row["event_code"]) for row in plain(tables["episodes"])]
    assert episodes == [(1, 1), (2, 2), (3, 1), (9, 0)]
    waits = [(row["duration"] / 60, row["event_code"]) for row in plain(tables["latencies"])]
    assert waits == [(2, 1), (3, 0)]
