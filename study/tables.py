"""Answers as Arrow tables: the rows behind every number, estimates, denominators, curves.

Durations are seconds, with exact nanoseconds beside them where a row has one; a time has a
column for UTC and one for relative minutes, of which the log's basis fills one.  Null is
unknown or not there, and a column `unknown` says why.  Spells have the columns that survival
analysis asks for: `duration`, `entry`, `event`, `competing`, `event_code`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from study.estimates import Interval, Number, Range, Unknown
from study.result import Contrast, Curve, Denominator, Endpoint, Estimate, Operations
from study.rows import (
    ApprovalRow,
    AssertionRow,
    ClaimRow,
    CostRow,
    FieldRow,
    Row,
    SpellRow,
)

if TYPE_CHECKING:
    import pyarrow as pa

Cells = dict[str, Any]

ROW_OF: Final[Mapping[str, type[Row]]] = {
    "review_latency": SpellRow,
    "blocker_recovery": SpellRow,
    "progress_gap": SpellRow,
    "receipt_completeness": FieldRow,
    "status_disagreement": AssertionRow,
    "false_success": ClaimRow,
    "stale_approval": ApprovalRow,
    "cost": CostRow,
}
SUMMARIES: Final = ("estimates", "denominators", "curves", "contrasts")
_NS_PER_SECOND: Final = 1_000_000_000
_NS_PER_MINUTE: Final = 60 * _NS_PER_SECOND


def table(operations: Operations, name: str) -> pa.Table:
    """One of `SUMMARIES`, or the rows of an endpoint by its id (`rows/ID` too).

    Raises KeyError.
    """
    if name in SUMMARIES:
        return _summary(operations, name)
    return rows_table(operations.endpoint(name.removeprefix("rows/")))


def every_table(operations: Operations) -> dict[str, pa.Table]:
    """Each summary by its name, and each endpoint's rows as `rows/ID`."""
    summaries = {name: _summary(operations, name) for name in SUMMARIES}
    rows = {f"rows/{one.id}": rows_table(one) for one in operations.endpoints}
    return summaries | rows


# Rows


def rows_table(endpoint: Endpoint) -> pa.Table:
    """The rows behind an endpoint, in the order of logs and work items."""
    import pyarrow as pa

    kind = ROW_OF[endpoint.id]
    return pa.Table.from_pylist(
        [_cells(row) for row in endpoint.rows], schema=pa.schema([*_columns(kind)])
    )


def _columns(kind: type[Row]) -> Iterator[tuple[str, Any]]:
    import pyarrow as pa

    for name in kind.__struct_fields__:
        match name:
            case "at" | "end_at":
                yield _utc(name), pa.timestamp("ns", "UTC")
                yield _minute(name), pa.float64()
            case "duration" | "entry":
                yield name, pa.float64()
                yield f"{name}_ns", pa.int64()
            case "evidence" | "refs":
                yield name, pa.list_(pa.string())
            case "unevidenced" | "stale" | "disagrees" | "registered":
                yield name, pa.bool_()
            case "value":
                yield name, pa.float64()
            case _:
                yield name, pa.string()
    if kind is SpellRow:
        yield "event", pa.bool_()
        yield "competing", pa.bool_()
        yield "event_code", pa.int8()


def _utc(name: str) -> str:
    return "at_utc" if name == "at" else "end_utc"


def _minute(name: str) -> str:
    return "at_minute" if name == "at" else "end_minute"


def _cells(row: Row) -> Cells:
    cells: Cells = {}
    for name in row.__struct_fields__:
        value = getattr(row, name)
        match name:
            case "at" | "end_at":
                cells[_utc(name)] = value if row.basis == "utc" else None
                cells[_minute(name)] = _minutes(value) if row.basis == "elapsed" else None
            case "duration" | "entry":
                cells[name] = None if value is None else value / _NS_PER_SECOND
                # what 64 bits do not hold (292 years) is in the seconds alone
                cells[f"{name}_ns"] = value if value is None or value < 2**63 else None
            case "evidence" | "refs":
                cells[name] = [*value]
            case _:
                cells[name] = value
    if isinstance(row, SpellRow):
        cells |= _for_survival(row)
    return cells


def _minutes(at: int | None) -> float | None:
    return None if at is None else float(Decimal(at) / _NS_PER_MINUTE)


def _for_survival(row: SpellRow) -> Cells:
    """What estimators ask for; null where the row is watched by none of them."""
    codes = {"observed": 1, "censored": 0, "competing": 2}
    code = codes.get(row.role)
    return {
        "event": None if code is None else code == 1,
        "competing": None if code is None else code == 2,
        "event_code": code,
    }


# Summaries


def _summary(operations: Operations, name: str) -> pa.Table:
    import pyarrow as pa

    columns, rows = _SUMMARY[name]
    types = {"s": pa.string(), "d": pa.float64(), "i": pa.int64()}
    schema = pa.schema([(column, types[kind]) for column, kind in columns.items()])
    return pa.Table.from_pylist([*rows(operations)], schema=schema)


def all_estimates(operations: Operations) -> Iterator[Estimate]:
    """Every estimate: of all, then of each group."""
    for endpoint in operations.endpoints:
        yield from endpoint.estimates
    if operations.comparison is not None:
        yield from operations.comparison.estimates


def _all_curves(operations: Operations) -> Iterator[Curve]:
    for endpoint in operations.endpoints:
        yield from endpoint.curves
    if operations.comparison is not None:
        yield from operations.comparison.curves


def _number(value: Number) -> float | None:
    return None if isinstance(value, Unknown) else value


def _range(interval: Range) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if isinstance(interval, Interval) else (None, None)


def _why(*values: Number | Range) -> str | None:
    return next((value.reason for value in values if isinstance(value, Unknown)), None)


def _estimate_rows(operations: Operations) -> Iterator[Cells]:
    for one in all_estimates(operations):
        low, high = _range(one.interval)
        counted = one.denominator
        yield {
            "endpoint": one.endpoint,
            "name": one.name,
            "group": one.group,
            "at_seconds": one.at,
            "unit": one.unit,
            "value": _number(one.value),
            "low": low,
            "high": high,
            "level": one.level,
            "unknown": _why(one.value, one.interval),
            "method": one.method,
            "eligible": counted.eligible,
            "observed": counted.observed,
            "censored": counted.censored,
            "competing": sum(counted.competing.values()),
            "excluded": sum(counted.excluded.values()),
            "unavailable": sum(counted.unavailable.values()),
            "work_items": counted.items,
            "omitted": None if isinstance(counted.omitted, Unknown) else counted.omitted,
        }


def _denominator_rows(operations: Operations) -> Iterator[Cells]:
    for one in all_estimates(operations):
        for part, reason, count in parts(one.denominator):
            yield {
                "endpoint": one.endpoint,
                "name": one.name,
                "group": one.group,
                "at_seconds": one.at,
                "unit": one.unit,
                "counted": one.denominator.unit,
                "part": part,
                "reason": reason,
                "count": count,
            }


def parts(counted: Denominator) -> Iterator[tuple[str, str | None, int | None]]:
    """Every part of a denominator: its name, its kind or reason, how many (null: unknown)."""
    yield "eligible", None, counted.eligible
    yield "observed", None, counted.observed
    yield "censored", None, counted.censored
    for part in ("competing", "excluded", "unavailable"):
        by_reason: Mapping[str, int] = getattr(counted, part)
        for reason, count in by_reason.items():
            yield part, reason, count
    yield "work items", None, counted.items
    match counted.omitted:
        case Unknown(reason):
            yield "omitted work items", reason, None
        case int(count):
            yield "omitted work items", None, count


def _curve_rows(operations: Operations) -> Iterator[Cells]:
    for curve in _all_curves(operations):
        for point in curve.points:
            low, high = _range(point.interval)
            yield {
                "endpoint": curve.endpoint,
                "group": curve.group,
                "shows": curve.shows,
                "label": curve.label,
                "start_seconds": curve.start,
                "seconds": point.time,
                "at_risk": point.at_risk,
                "events": point.events,
                "value": point.value,
                "low": low,
                "high": high,
                "level": curve.level,
                "unknown": _why(point.interval),
            }


def _contrast_rows(operations: Operations) -> Iterator[Cells]:
    contrasts: Sequence[Contrast] = ()
    causal = None
    if operations.comparison is not None:
        contrasts, causal = operations.comparison.contrasts, operations.comparison.causal
    for one in contrasts:
        low, high = _range(one.interval)
        yield {
            "endpoint": one.endpoint,
            "name": one.name,
            "group": one.group,
            "reference": one.reference,
            "at_seconds": one.at,
            "unit": one.unit,
            "difference": _number(one.difference),
            "low": low,
            "high": high,
            "level": one.level,
            "unknown": _why(one.difference, one.interval),
            "method": one.method,
            "causal": causal,
        }


def _typed(names: str, kinds: str) -> dict[str, str]:
    return dict(zip(names.split(), kinds, strict=True))


_SUMMARY: Final[Mapping[str, tuple[dict[str, str], Any]]] = {
    "estimates": (
        _typed(
            "endpoint name group at_seconds unit value low high level unknown method "
            "eligible observed censored competing excluded unavailable work_items omitted",
            "sssdsdddd" + "ss" + "iiiiiiii",
        ),
        _estimate_rows,
    ),
    "denominators": (
        _typed("endpoint name group at_seconds unit counted part reason count", "sssdssssi"),
        _denominator_rows,
    ),
    "curves": (
        _typed(
            "endpoint group shows label start_seconds seconds at_risk events value low high level "
            "unknown",
            "ssssddiidddds",
        ),
        _curve_rows,
    ),
    "contrasts": (
        _typed(
            "endpoint name group reference at_seconds unit difference low high level unknown "
            "method causal",
            "ssssdsdddd" + "sss",
        ),
        _contrast_rows,
    ),
}
