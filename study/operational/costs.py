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
from study.means import NEVER_RECORDED
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
NOT_REGISTERED: Final = "not in the register"
NOT_DUE: Final = "registered as opened after the cutoff or closed before the window"
COST: Final = "cost.recorded"
TOO_LARGE: Final = "too large to add up"
MOST: Final = 1e290
"""So that the costs of many items still add up to a number."""
NO_CURRENCY: Final = "no currency named"
_UNITS: Final = frozenset({"events", "share", NO_CURRENCY, *COMPONENTS.values()})


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
    # a currency that is called as a unit of ours, or as what this makes, would be read as one
    is_ours = named in _UNITS or named.startswith("currency ")
    return f"currency {named}" if is_ours else named


class Assigned(Record, frozen=True):
    """The work items of a register: all of them, and those that the logs should hold."""

    registered: frozenset[str]
    due: frozenset[str]


def costs(log: ReplayedLog, known: Iterable[str], assigned: Assigned | None) -> Iterator[CostRow]:
    """One row an item and component; `known` are the currencies."""
    units = _units(known)
    lost = {component: lacking(log.losses, f"cost/{component}") for component, _ in units}
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
        costs = [e for e in events if e.type == COST and e.event_id not in (silenced or ())]
        for component, unit in units:
            unknown = NOT_COVERED if silenced is None else lost[component]
            value = None
            if unknown is None:
                value, unknown = _total(costs, component, unit)
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


def _total(
    records: Iterable[replay.Event], component: str, unit: str
) -> tuple[float | None, str | None]:
    """The sum of what was recorded, and why there is none."""
    values = [
        event.payload[component]
        for event in records
        if event.payload.get(component) is not None
        and (component != "amount" or _currency(event) == unit)
    ]
    if not values:
        return None, NEVER_RECORDED
    if any(abs(value) > MOST for value in values):
        return None, TOO_LARGE
    total = float(sum(float(value) for value in values))
    return (total, None) if abs(total) <= MOST else (None, TOO_LARGE)
