"""Mean costs per assigned work item, over all of them: zeros kept, the unrecorded never zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from study.bootstrap import bootstrap_mean
from study.denominators import denominator
from study.estimates import Number, Range, Unknown
from study.result import Denominator, Estimate
from study.rows import CostRow, Row

NEVER: Final = Unknown("nobody recorded any of it")
NEVER_RECORDED: Final = "never recorded for it"
"""Of an item whose cost nobody recorded."""
NO_ITEM: Final = Unknown("there was no work item to count")
A_BOUND: Final = Unknown("a bound, not an estimate")
WORDS: Final = {
    "events": "events recorded",
    "tool_calls": "tool calls",
    "tokens": "tokens",
    "storage_bytes": "storage",
    "operator_seconds": "operator time",
    "reviewer_seconds": "reviewer time",
    "amount": "amount",
}
"""The components in the order of reports, and what each is called."""


def cost(
    rows: Sequence[Row],
    omitted: int | Unknown,
    *,
    group: str | None,
    level: float,
    seed: int,
    draws: int,
) -> list[Estimate]:
    """The mean of each component; where not every item has it, at least what is on record."""
    of_cost = [row for row in rows if isinstance(row, CostRow)]
    found: list[Estimate] = []
    for component, unit in _components(of_cost):
        own = [row for row in of_cost if (row.component, row.unit) == (component, unit)]
        counted = denominator(own, "work item", omitted)
        name = name_of(component, unit)
        for suffix, value, interval, method in _numbers(own, counted, seed, draws, level):
            found.append(
                Estimate(
                    endpoint="cost",
                    name=name + suffix,
                    unit=unit,
                    value=value,
                    interval=interval,
                    method=method,
                    denominator=counted,
                    group=group,
                    level=level,
                )
            )
    return found


def name_of(component: str, unit: str) -> str:
    """What the mean of a component is called; amounts say of which currency."""
    of = f"{WORDS[component]} ({unit})" if component == "amount" else WORDS[component]
    return f"{of} per work item"


_Number = tuple[str, Number, Range, str]


def _numbers(
    rows: Sequence[CostRow], counted: Denominator, seed: int, draws: int, level: float
) -> list[_Number]:
    """What is told of one component: a suffix to its name, value, interval and method."""
    values = [row.value for row in rows if row.role == "observed" and row.value is not None]
    if not counted.eligible:
        return [("", NO_ITEM, NO_ITEM, "not estimated")]
    if not values:
        why = {row.reason for row in rows if row.role == "unavailable"} - {NEVER_RECORDED}
        told = Unknown(sorted(map(str, why))[0]) if why else NEVER
        return [("", told, told, "not estimated")]
    if not counted.unavailable:
        mean = bootstrap_mean(values, seed=seed, draws=draws, level=level)
        method = f"arithmetic mean, {mean.method} bootstrap of work items"
        return [("", mean.estimate, mean.interval, method)]
    few = Unknown(f"recorded for {len(values)} of {counted.eligible} work items only")
    found: list[_Number] = [("", few, few, "not estimated")]
    if min(values) >= 0:  # an amount may be a refund
        bound = sum(values) / counted.eligible
        found.append((", at least", bound, A_BOUND, "what is on record, over all"))
    return found


def _components(rows: Sequence[CostRow]) -> list[tuple[str, str]]:
    """Each component and unit, in the order of reports; amounts by currency."""
    order = list(WORDS)
    return sorted(
        {(row.component, row.unit) for row in rows}, key=lambda c: (order.index(c[0]), c[1])
    )
