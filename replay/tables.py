"""Projections and timelines as Arrow tables; pandas, Parquet and CSV at the edge.

What is a column, its type and its unit is published in `schemas/tables.json`, and read from
there, so that a table cannot differ from its schema.  The choices (decision 0014):

* A schema never depends on the log.  Each time has a column for UTC, `…_at`, and one for
  relative minutes, `…_minute`, of which the log's time basis fills one.
* Durations are seconds, and beside them exact nanoseconds.
* Null is unknown or not there, never false: an undetermined item has null answers in
  `items`, and no row in a table that would need them.
* `episodes` and `latencies` have the columns that survival analysis asks for.

The schema's metadata has, under `replay`, what every result carries (contract, section 6).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO
from typing import Any, Final, TypeAlias

import pyarrow as pa

from replay.canonical import encode
from replay.document import (
    END_KINDS,
    TOOL,
    Json,
    accounting_document,
    check_identities,
    cutoff_document,
    input_document,
)
from replay.errors import UsageError
from replay.event import TimeBasis
from replay.history import PrefixFacts
from replay.latency import Closed, Latency, Reviewed, Waiting, latencies
from replay.projection import (
    NOT_ESTABLISHED,
    Anomaly,
    Censored,
    Claim,
    Correction,
    Derived,
    Episode,
    Item,
    Mark,
    Progress,
    Projection,
    Receipt,
    Recovered,
)
from replay.rules import named
from replay.schemas import schema as published
from replay.timeline import Interval, Moment, Timeline, timeline_document
from replay.timestamps import NS_PER_SECOND, minutes

Row: TypeAlias = dict[str, Any]

PROJECTED: Final = ("items", "episodes", "receipts", "claims", "corrections", "anomalies")
"""The tables of a projection."""
GROWN: Final = ("timeline", "latencies")
"""The tables of a timeline."""
TIMELINE_CALL: Final = "replay.timeline_of(history.until(), rules=...)"
PROJECT_CALL: Final = "replay.project(history.until(), rules=...)"

METADATA_KEY: Final = b"replay"
_ANNOTATIONS: Final = ("unit", "description", "contentMediaType")
_TYPES: Final = {
    "string": pa.string(),
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "timestamp[ns, tz=UTC]": pa.timestamp("ns", "UTC"),
    "list<string>": pa.list_(pa.string()),
}


def projection_table(projection: Projection, name: str) -> pa.Table:
    """One of `PROJECTED` as a `pyarrow.Table`.  Raises `UsageError` for another name."""
    if name not in _PROJECTED:
        raise _no_table(name, "projection", PROJECTED, "timeline", GROWN, TIMELINE_CALL)
    return _table(name, _PROJECTED[name](projection), projection.rules, projection.facts)


def timeline_table(line: Timeline, name: str) -> pa.Table:
    """One of `GROWN` as a `pyarrow.Table`.  Raises `UsageError` for another name."""
    match name:
        case "timeline":
            return _table(name, _interval_rows(line), line.rules, line.facts)
        case "latencies":
            found = latencies(line)
            rows = (_latency_row(latency, line.facts.basis) for latency in found.waits)
            return _table(name, rows, line.rules, line.facts, left_out=[*found.left_out])
    raise _no_table(name, "timeline", GROWN, "projection", PROJECTED, PROJECT_CALL)


def every_table(projection: Projection, line: Timeline) -> dict[str, pa.Table]:
    """All tables of one log at one cutoff, by name."""
    projected = {name: projection_table(projection, name) for name in PROJECTED}
    return projected | {name: timeline_table(line, name) for name in GROWN}


def frame(table: pa.Table) -> Any:
    """A table as a `pandas.DataFrame`; what it carries is in `frame.attrs["replay"]`."""
    found = table.to_pandas()
    found.attrs["replay"] = carried(table)
    return found


def parquet(table: pa.Table) -> bytes:
    """A table as the bytes of a Parquet file, the same for the same table and pyarrow."""
    from pyarrow.parquet import write_table

    sink = BytesIO()
    write_table(table, sink, version="2.6", compression="zstd")
    return sink.getvalue()


def carried(table: pa.Table) -> dict[str, Any]:
    """The `replay.table/1` document: what a table of ours says of its input, rules and cutoff."""
    document: dict[str, Any] = json.loads(table.schema.metadata[METADATA_KEY])
    return document


@cache
def schema(name: str) -> pa.Schema:
    """The published Arrow schema of a table, with units and descriptions of its fields."""
    rows = published("tables")["properties"][name]["items"]["properties"]
    return pa.schema([_field(column, facts) for column, facts in rows.items()])


def _field(name: str, facts: dict[str, Any]) -> pa.Field:
    metadata = {key: facts[key] for key in _ANNOTATIONS if key in facts}
    nullable = "null" in facts["type"]
    return pa.field(name, _TYPES[facts["arrow"]], nullable=nullable, metadata=metadata)


def _table(
    name: str, rows: Iterator[Row], rules: str, facts: PrefixFacts, **more: Json
) -> pa.Table:
    check_identities(facts)
    head: dict[str, Json] = {
        "document": "replay.table/1",
        "table": name,
        "tool": TOOL,
        "input": input_document(facts.input),
        "rules": {"id": rules, "digest": f"sha256:{named(rules).digest}"},
        "cutoff": cutoff_document(facts),
        "accounting": accounting_document(facts),
        **more,
    }
    wanted = schema(name).with_metadata({METADATA_KEY: encode(head)})
    return pa.Table.from_pylist([*rows], schema=wanted)


def _no_table(
    name: str, kind: str, known: tuple[str, ...], other: str, others: tuple[str, ...], call: str
) -> UsageError:
    hint = f" (it is one of a {other}: {call}.to_arrow({name!r}))" if name in others else ""
    return UsageError(f"no table {name!r} of a {kind}{hint}; there are: {', '.join(known)}")


# Times.


def _moment(prefix: str, mark: Mark | Progress | Moment | None, basis: TimeBasis) -> Row:
    event_id, time = (None, None) if mark is None else (mark.event_id, mark.time)
    return {f"{prefix}_event": event_id, **_time(prefix, time, basis)}


def _time(prefix: str, nanoseconds: int | None, basis: TimeBasis) -> Row:
    at, minute = nanoseconds, None
    if nanoseconds is not None and basis == "elapsed":
        at, minute = None, float(minutes(nanoseconds))
    return {f"{prefix}_at": at, f"{prefix}_minute": minute}


def _survival(elapsed: int, *, event: bool, competing: bool) -> Row:
    return {
        "duration": elapsed / NS_PER_SECOND,
        "duration_ns": elapsed,
        "entry": 0.0,
        "event": event,
        "competing": competing,
        "event_code": 1 if event else 2 if competing else 0,
    }


# Rows of a projection.


def _item_rows(projection: Projection) -> Iterator[Row]:
    for item in projection.items:
        yield _item_row(item, projection.facts.basis)


def _item_row(item: Item, basis: TimeBasis) -> Row:
    clocks = item.clocks
    progress = clocks.last_progress
    return {
        "work_id": item.work_id,
        "determined": not item.undetermined_by,
        **_derived("state", item.state, basis),
        **_derived("revision", item.revision, basis),
        **_moment("last_message", clocks.last_message, basis),
        **_moment("last_progress", progress, basis),
        "last_progress_rule": None if progress is None else progress.rule,
        **_moment("blocked_since", clocks.blocked_since, basis),
        "flags": [*item.flags],
        "undetermined_by": [*item.undetermined_by],
        "authorization": NOT_ESTABLISHED,
    }


def _derived(name: str, derived: Derived, basis: TimeBasis) -> Row:
    return {
        name: derived.value,
        **_moment(f"{name}_since", derived.since, basis),
        f"{name}_rule": derived.rule,
        f"{name}_evidence": [*derived.evidence],
    }


def _episode_rows(projection: Projection) -> Iterator[Row]:
    for episode in projection.episodes:
        yield _episode_row(episode, projection.facts.basis)


def _episode_row(episode: Episode, basis: TimeBasis) -> Row:
    end = episode.end
    is_open = isinstance(end, Censored)
    recovered = isinstance(end, Recovered)
    return {
        "work_id": episode.work_id,
        "blocker_id": episode.blocker_id,
        **_moment("opened", episode.opened, basis),
        "repeats": [*episode.repeats],
        "end_kind": END_KINDS[type(end)],
        **(
            {"end_event": None, **_time("end", end.at, basis)}
            if isinstance(end, Censored)
            else _moment("end", end.by, basis)
        ),
        "end_evidence": None if isinstance(end, Censored) else [*end.evidence],
        **_survival(episode.elapsed, event=recovered, competing=not (is_open or recovered)),
    }


def _receipt_rows(projection: Projection) -> Iterator[Row]:
    for receipt in projection.receipts:
        yield {
            "work_id": receipt.work_id,
            "event_id": receipt.event_id,
            "type": receipt.type,
            "check": receipt.check,
            "source": receipt.source,
            "outcome": receipt.outcome,
            "revision": receipt.revision,
            "status": receipt.status,
            "principal": receipt.principal,
        }


def _claim_rows(projection: Projection) -> Iterator[Row]:
    for claim in projection.claims:
        yield {
            "work_id": claim.work_id,
            "event_id": claim.event_id,
            "claim": claim.claim,
            "verdict": claim.verdict,
            "evidence": [*claim.evidence],
            "missing": [*claim.missing],
            "rule": claim.rule,
        }


def _correction_rows(projection: Projection) -> Iterator[Row]:
    for correction in projection.corrections:
        yield {
            "work_id": correction.work_id,
            "event_id": correction.event_id,
            "target": correction.target,
            "status": correction.status,
            "reason": correction.reason,
        }


def _anomaly_rows(projection: Projection) -> Iterator[Row]:
    for anomaly in projection.unassigned.anomalies:
        yield _anomaly_row(None, anomaly)
    for item in projection.items:
        yield from (_anomaly_row(item.work_id, anomaly) for anomaly in item.anomalies)


def _anomaly_row(work_id: str | None, anomaly: Anomaly) -> Row:
    return {
        "work_id": work_id,
        "code": anomaly.code,
        "event_id": anomaly.event_id,
        "related": [*anomaly.related],
    }


# Rows of a timeline.


def _interval_rows(line: Timeline) -> Iterator[Row]:
    documents: Any = timeline_document(line, named(line.rules))["intervals"]
    for interval, document in zip(line.intervals, documents, strict=True):
        yield _interval_row(interval, document, line.facts.basis)


def _interval_row(interval: Interval, document: Any, basis: TimeBasis) -> Row:
    answer = interval.answer
    return {
        "work_id": interval.work_id,
        "question": document["question"],
        "of": document["of"],
        "value_text": _in_a_word(interval, document),
        "value": encode(document["value"]).decode(),
        "rule": answer.rule if isinstance(answer, Derived | Progress | Claim) else None,
        **_bound("valid_from", interval.valid_from, basis),
        **_bound("valid_to", interval.valid_to, basis),
    }


def _bound(prefix: str, moment: Moment | None, basis: TimeBasis) -> Row:
    sequence = None if moment is None else moment.sequence
    return {f"{prefix}_sequence": sequence, **_moment(prefix, moment, basis)}


def _in_a_word(interval: Interval, document: Any) -> str | None:
    match interval.answer:
        case Derived(value):
            return value
        case Mark(event_id) | Progress(event_id):
            return event_id
        case Episode(end=end):
            return None if isinstance(end, Censored) else END_KINDS[type(end)]
        case Receipt(status=status) | Correction(status=status):
            return status
        case Claim(verdict=verdict):
            return verdict
        case _:
            of = interval.key[1]
            return of.code if isinstance(of, Anomaly) else str(document["value"])


def _latency_row(latency: Latency, basis: TimeBasis) -> Row:
    end = latency.end
    reviewed = isinstance(end, Reviewed)
    return {
        "work_id": latency.work_id,
        "claim_event": latency.claim.event_id,
        "claim_rule": latency.claim.rule,
        "claim_evidence": [*latency.claim.evidence],
        "revision": latency.revision,
        **_moment("ready", latency.ready, basis),
        **_latency_end(latency, basis),
        **_survival(latency.elapsed, event=reviewed, competing=isinstance(end, Closed)),
    }


def _latency_end(latency: Latency, basis: TimeBasis) -> Row:
    row: Row = {"end_kind": "censored", "end_event": None, "reviewed_revision": None}
    row["outcome"] = None
    match latency.end:
        case Reviewed(by, revision, outcome):
            row |= {"end_kind": "reviewed", "reviewed_revision": revision, "outcome": outcome}
            row |= _moment("end", by, basis)
        case Closed(by, kind):
            row |= {"end_kind": kind, **_moment("end", by, basis)}
        case Waiting(at):
            row |= _time("end", at, basis)
    return row


_PROJECTED: Final[dict[str, Callable[[Projection], Iterator[Row]]]] = {
    "items": _item_rows,
    "episodes": _episode_rows,
    "receipts": _receipt_rows,
    "claims": _claim_rows,
    "corrections": _correction_rows,
    "anomalies": _anomaly_rows,
}
