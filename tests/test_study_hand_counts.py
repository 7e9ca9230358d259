"""The operational endpoints of authored logs, row for row against counts made by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import pytest
from msgspec import structs

import study
from study.estimates import Unknown
from study.result import Denominator, Operations
from study.rows import CostRow, Row
from tests import study_fixtures as authored

RULES: Final = "coordination/2"
NS: Final = 1_000_000_000
SETS: Final = [
    (name, set_name, endpoint)
    for name in authored.NAMES
    for set_name, expected in authored.expected(name).items()
    for endpoint in expected["rows"]
]
IDS: Final = ["-".join(one) for one in SETS]


@cache
def asked(name: str, set_name: str) -> Operations:
    """What the hand count was made of; its options are those of the command."""
    options = authored.expected(name)[set_name]["asked"]
    question: dict[str, Any] = {}
    for option, value in options.items():
        match option:
            case "register" | "access":
                question[option] = str(authored.FOLDER / value)
            case "window":
                start, _, end = value.partition("..")
                question[option] = (start, end)
            case "at_minute":
                question["minute"] = str(value)
            case "at_sequence":
                question["sequence"] = value
            case _:
                raise AssertionError(option)
    return study.operations([authored.log(name)], rules=RULES, **question)


def stated(row: Row, keys: list[str]) -> dict[str, Any]:
    """A row as a hand count states it: seconds for durations, only the keys that it gives."""
    found = structs.asdict(row)
    for key in ("duration", "entry"):
        if found.get(key) is not None:
            found[f"{key}_seconds"] = found[key] / NS
    return {key: found.get(key) for key in keys}


def in_order(row: dict[str, Any]) -> tuple[str, ...]:
    named = ("work_id", "event_id", "field", "component", "unit", "reason")
    return tuple(str(row.get(key)) for key in named)


@pytest.mark.parametrize(("name", "set_name", "endpoint"), SETS, ids=IDS)
def test_rows_are_those_counted_by_hand(name: str, set_name: str, endpoint: str) -> None:
    expected = authored.rows(name, set_name, endpoint)
    found = asked(name, set_name).endpoint(endpoint).rows
    unmatched = [*found]
    for row in sorted(expected, key=in_order):
        keys = [key for key in row if key != "reason"]
        matching = [
            one
            for one in unmatched
            if stated(one, keys) == {key: row[key] for key in keys}
            and ("reason" not in row or authored.reason_agrees(row["reason"], one.reason))
        ]
        assert matching, f"no row is {row}; left are {[stated(one, keys) for one in unmatched]}"
        unmatched.remove(matching[0])
    assert unmatched == []


TRUE_OF: Final = {"unevidenced": True, "stale": True, "disagrees": True}
STATUSES: Final = ("complete", "missing", "mismatched", "inaccessible")


def counted(rows: Sequence[Any], denominator: Denominator | None) -> dict[str, Any]:
    """Everything that a hand count may state of some rows, from the rows alone."""
    found: dict[str, Any] = {
        "eligible": sum(row.role != "excluded" for row in rows),
        "observed": sum(row.role == "observed" for row in rows),
        "censored": sum(row.role == "censored" for row in rows),
        "competing": dict(Counter(row.cause for row in rows if row.role == "competing")),
        "excluded": dict(Counter(row.reason for row in rows if row.role == "excluded")),
        "unavailable": sum(row.role == "unavailable" for row in rows),
        "items": len({row.work_id for row in rows if row.role != "excluded"}),
    }
    if denominator is not None:
        told = structs.asdict(denominator)
        for key, value in found.items():
            is_sum = key == "unavailable"
            assert value == (sum(told[key].values()) if is_sum else told[key])
    for key in TRUE_OF:
        found[key] = sum(row.role == "observed" and getattr(row, key, None) is True for row in rows)
    for status in STATUSES:
        found[status] = sum(
            row.role == "observed" and getattr(row, "status", None) == status for row in rows
        )
    return found


def in_full(stated: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """A hand count, with reasons in full where it gives only their beginning."""
    full = {key: value for key, value in stated.items() if key != "why"}
    if isinstance(full.get("unavailable"), dict):
        full["unavailable"] = sum(full["unavailable"].values())
    if "excluded" in full:
        full["excluded"] = {
            next((r for r in found["excluded"] if authored.reason_agrees(reason, r)), reason): n
            for reason, n in full["excluded"].items()
        }
    return full


@pytest.mark.parametrize(("name", "set_name", "endpoint"), SETS, ids=IDS)
def test_denominators_are_those_counted_by_hand(name: str, set_name: str, endpoint: str) -> None:
    stated = authored.denominator(name, set_name, endpoint)
    result = asked(name, set_name).endpoint(endpoint)
    if endpoint != "cost":
        found = counted(result.rows, result.denominator)
        full = in_full(stated, found)
        assert {key: found[key] for key in full} == full
        return
    by_component: dict[str, list[Any]] = {}
    for row in result.rows:
        assert isinstance(row, CostRow)
        component = row.unit if row.component == "amount" else row.component
        by_component.setdefault(component, []).append(row)
    assert {*stated} - {"why"} == {*by_component}
    for component, rows in by_component.items():
        found = counted(rows, None)
        full = in_full(stated[component], found)
        assert {key: found[key] for key in full} == full


def test_the_register_tells_what_was_omitted_as_counted_by_hand() -> None:
    expected = authored.expected("small-fleet")["with_files"]["register"]
    found = asked("small-fleet", "with_files").register
    assert not isinstance(found, Unknown)
    assert (found.due, found.recorded) == (expected["due"], expected["recorded"])
    assert [*found.omitted] == expected["omitted"]
    assert [*found.unregistered] == expected["unregistered"]
    assert sum(found.not_due.values()) == expected["not_due"]
    assert [[*pair] for pair in found.missing_events] == expected["missing_events"]
