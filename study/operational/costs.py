"""What each work item cost: events on record, and what `cost.recorded` says beside them.

Zero is a value and nothing recorded is none: an item whose costs nobody recorded has null,
never 0.  A cost that a retraction silenced does not count; one that claims to replace
another does not either way replace it (rules, section 3.1), and both count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import replay
from study.operational.log import ENDED_BEFORE, NOT_COVERED, TERMINAL, ReplayedLog
from study.rows import CostRow

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
NO_CURRENCY: Final = "no currency named"


def currencies(logs: Iterable[ReplayedLog]) -> tuple[str, ...]:
    """Every currency in which an amount was recorded; amounts of two are never added."""
    found = {
        _currency(event)
        for log in logs
        for event in log.prefix.events
        if event.type == "cost.recorded" and event.payload.get("amount") is not None
    }
    return tuple(sorted(found))


def _currency(event: replay.Event) -> str:
    named = event.payload.get("currency")
    if not isinstance(named, str) or not named:
        return NO_CURRENCY
    # a currency that is called as a unit of ours is would be read as one
    return f"currency {named}" if named in _UNITS else named


def costs(
    log: ReplayedLog, known: Iterable[str], assigned: frozenset[str] | None
) -> Iterator[CostRow]:
    """One row an item and component; `assigned` are the registered items, `known` currencies."""
    money = tuple(known)
    for item in log.projection.items:
        silenced = _silenced(log, item)
        events = [e for e in log.by_item[item.work_id] if not log.before_window(e.recorded_at)]
        registered = None if assigned is None else item.work_id in assigned
        why = _left_out(log, item, events, registered)
        about = {**log.about(item.work_id), "registered": registered}
        yield _row(about, "events", "events", float(len(events)), why)
        records = [event for event in events if event.type == "cost.recorded"]
        for component, unit in COMPONENTS.items():
            value = _total(records, silenced, component)
            yield _row(about, component, unit, value, why, _unknown(silenced))
        for currency in money:
            paid = [event for event in records if _currency(event) == currency]
            yield _row(
                about, "amount", currency, _total(paid, silenced, "amount"), why, _unknown(silenced)
            )


def _row(
    about: Mapping[str, Any],
    component: str,
    unit: str,
    value: float | None,
    left_out: str | None,
    unknown: str = NEVER_RECORDED,
) -> CostRow:
    if left_out is not None:
        return CostRow(
            **about,
            role="excluded",
            reason=left_out,
            component=component,
            unit=unit,
            value=value,
        )
    if value is None:
        return CostRow(**about, role="unavailable", reason=unknown, component=component, unit=unit)
    return CostRow(**about, role="observed", component=component, unit=unit, value=value)


def omitted(work_id: str, log: str, lane: str | None, known: Iterable[str]) -> Iterator[CostRow]:
    """The rows of a registered item that left no event: no events, and no cost on record."""
    about: dict[str, Any] = {
        "log": log,
        "work_id": work_id,
        "basis": "utc",  # an omitted item has no time of its own
        "lane": lane,
        "registered": True,
    }
    yield _row(about, "events", "events", 0.0, None)
    for component, unit in COMPONENTS.items():
        yield _row(about, component, unit, None, None)
    for currency in known:
        yield _row(about, "amount", currency, None, None)


def _left_out(
    log: ReplayedLog, item: replay.Item, events: list[replay.Event], registered: bool | None
) -> str | None:
    if registered is False:
        return NOT_REGISTERED
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


def _unknown(silenced: frozenset[str] | None) -> str:
    return NOT_COVERED if silenced is None else NEVER_RECORDED


def _total(
    records: Iterable[replay.Event], silenced: frozenset[str] | None, key: str
) -> float | None:
    if silenced is None:
        return None
    values = [
        event.payload[key]
        for event in records
        if event.event_id not in silenced and event.payload.get(key) is not None
    ]
    return float(sum(values)) if values else None
