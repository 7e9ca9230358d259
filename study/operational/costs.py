"""What each work item cost: events on record, and what `cost.recorded` says beside them.

Zero is a value and nothing recorded is none: an item whose costs nobody recorded has null,
never 0.  A cost that a retraction silenced does not count; one that claims to replace
another does not either way replace it (rules, section 3.1), and both count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import replay
from study.estimates import Record
from study.operational.log import ENDED_BEFORE, NOT_COVERED, TERMINAL, ReplayedLog
from study.operational.needs import lacking
from study.rows import Basis, CostRow, Role

COMPONENTS: Final[Mapping[str, str]] = {
    "tool_calls": "calls",
    "tokens": "tokens",
    "storage_bytes": "bytes",
    "operator_seconds": "seconds",
    "reviewer_seconds": "seconds",
}
"""The keys of a `cost.recorded` payload that add up, and their units."""
_UNITS: Final = frozenset({"events", "share", *COMPONENTS.values()})
NEVER_RECORDED: Final = "never recorded for it"
NOT_REGISTERED: Final = "not in the register"
NOT_DUE: Final = "registered as opened after the cutoff or closed before the window"
COST: Final = "cost.recorded"
NO_CURRENCY: Final = "no currency named"


def currencies(logs: Iterable[ReplayedLog]) -> tuple[str, ...]:
    """Every currency in which an amount was recorded; amounts of two are never added."""
    found = {
        _currency(event)
        for log in logs
        for event in log.prefix.events
        if event.type == COST and event.payload.get("amount") is not None
    }
    return tuple(sorted(found))


def _currency(event: replay.Event) -> str:
    named = event.payload.get("currency")
    if not isinstance(named, str) or not named:
        return NO_CURRENCY
    # a currency that is called as a unit of ours is would be read as one
    return f"currency {named}" if named in _UNITS else named


class Assigned(Record, frozen=True):
    """The work items of a register: all of them, and those that the logs should hold."""

    registered: frozenset[str]
    due: frozenset[str]


def costs(log: ReplayedLog, known: Iterable[str], assigned: Assigned | None) -> Iterator[CostRow]:
    """One row an item and component; `known` are the currencies."""
    units = _units(known)
    lost = lacking(log.losses, "cost")
    for item in log.projection.items:
        recorded = log.by_item[item.work_id]
        events = [event for event in recorded if not log.before_window(event.recorded_at)]
        why = _left_out(log, item, events, assigned)
        about = {
            **log.about(item.work_id),
            "at": recorded[0].recorded_at,
            "registered": None if assigned is None else item.work_id in assigned.registered,
        }
        yield _row(about, "events", "events", float(len(events)), why)
        silenced = _silenced(log, item)
        unknown = NOT_COVERED if silenced is None else lost
        costs = [e for e in events if e.type == COST and e.event_id not in (silenced or ())]
        for component, unit in units:
            value = _total(costs, component, unit) if unknown is None else None
            yield _row(about, component, unit, value, why, unknown or NEVER_RECORDED)


def _units(known: Iterable[str]) -> list[tuple[str, str]]:
    """Every component that is recorded by somebody, and its unit: amounts by currency."""
    return [*COMPONENTS.items(), *(("amount", currency) for currency in known)]


def _row(
    about: Mapping[str, Any],
    component: str,
    unit: str,
    value: float | None,
    left_out: str | None,
    unknown: str = NEVER_RECORDED,
) -> CostRow:
    role: Role = "observed" if value is not None else "unavailable"
    reason = None if value is not None else unknown
    if left_out is not None:
        role, reason = "excluded", left_out
    of: dict[str, Any] = {"component": component, "unit": unit, "value": value}
    return CostRow(**about, **of, role=role, reason=reason)


def omitted(
    work_id: str, basis: Basis, lane: str | None, known: Iterable[str]
) -> Iterator[CostRow]:
    """The rows of a registered item that is in no log: no events, and no cost on record."""
    about = {"log": "", "work_id": work_id, "basis": basis, "lane": lane, "registered": True}
    yield _row(about, "events", "events", 0.0, None)
    for component, unit in _units(known):
        yield _row(about, component, unit, None, None)


def _left_out(
    log: ReplayedLog, item: replay.Item, events: list[replay.Event], assigned: Assigned | None
) -> str | None:
    if assigned is not None and item.work_id not in assigned.due:
        return NOT_DUE if item.work_id in assigned.registered else NOT_REGISTERED
    since = item.state.since
    ended = item.state.value in TERMINAL and since is not None and log.before_window(since.time)
    return ENDED_BEFORE if ended and not events else None


def _silenced(log: ReplayedLog, item: replay.Item) -> frozenset[str] | None:
    """The item's events that a retraction silences; null where the rules do not tell."""
    if item.corrections is None:
        retracts = log.of_type(item.work_id, "event.retracted")
        return None if retracts else frozenset()
    return frozenset(
        correction.target
        for correction in item.corrections
        if correction.status == "applied"
        and log.events[correction.event_id].type == "event.retracted"
    )


def _total(records: Iterable[replay.Event], component: str, unit: str) -> float | None:
    values = [
        event.payload[component]
        for event in records
        if event.payload.get(component) is not None
        and (component != "amount" or _currency(event) == unit)
    ]
    return float(sum(values)) if values else None
