"""Groups side by side: differences with intervals, no p-values, and what they do not show.

Groups of a log are not made by chance: whoever chose the lane, or the day on which a rule
changed, chose with it the work, the people and the model.  So a comparison says that it is
not causal, unless an assignment file says who was assigned to what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import Any, Final, TypeAlias

from msgspec import structs

from study.bootstrap import bootstrap_mean_difference
from study.definitions import DEFINITIONS, WAITS
from study.estimates import (
    Interval,
    MethodError,
    Number,
    Range,
    Record,
    Unknown,
    normal_quantile,
)
from study.means import name_of
from study.proportions import difference as shares_apart
from study.reckoning import Estimated, Options, estimated
from study.redraw import Redrawn, difference
from study.result import Comparison, Contrast, Curve, Estimate
from study.rows import CostRow, Row, SpellRow
from study.shares import COMPARED, share_of, tallies
from study.survival import mean_difference, restricted_mean
from study.times import Fitted, again, incidence_at, mean_up_to, watched

GroupOf: TypeAlias = Callable[[Row], str | None]

MOST_GROUPS: Final = 50
"""More than that nobody reads side by side, and each has curves of its own."""
NOT_CAUSAL: Final = (
    "Not causal: the groups were not assigned. They may differ in workload, staffing, model and "
    "policy, and so may their times."
)
ASSIGNED: Final = (
    "Groups are as the assignment file has them; that it assigned by chance is its author's to "
    "show. Only costs are of the assigned work itself: waits, episodes, claims and receipts came "
    "about after the assignment, which may have changed which of them there are."
)


NOT_BY_GROUP: Final = Unknown("omitted work is counted for all groups together")


class TooManyGroups(MethodError):
    """More groups than can be compared."""

    def __init__(self, by: str, groups: int) -> None:
        self.by = by
        self.groups = groups
        super().__init__(f"{groups} groups by {by}: at most {MOST_GROUPS} can be compared")


class Grouping(Record, frozen=True, kw_only=True):
    """How rows are put into groups: by what, and why one is in none (`missing`)."""

    by: str
    missing: str
    assigned: bool
    of: Any  # GroupOf: a struct's field would bind a function


def compare(rows: Mapping[str, Sequence[Row]], grouping: Grouping, options: Options) -> Comparison:
    """Every endpoint by group, and each group less the first in alphabetical order."""
    of: GroupOf = grouping.of
    groups = sorted({name for of_one in rows.values() for row in of_one if (name := of(row))})
    if len(groups) > MOST_GROUPS:
        raise TooManyGroups(grouping.by, len(groups))
    left_out = Counter(
        f"{grouping.missing} ({DEFINITIONS[id].units})"
        for id, of_one in rows.items()
        for row in _subjects(id, of_one)
        if row.eligible and not of(row)
    )
    estimates: list[Estimate] = []
    contrasts: list[Contrast] = []
    curves: list[Curve] = []
    for id, of_one in rows.items():
        split = {name: [row for row in of_one if of(row) == name] for name in groups}
        common = _common(id, split, options)
        found = {
            name: estimated(id, split[name], _seeded(common, number), group=name)
            for number, name in enumerate(groups)
        }
        for name in groups:
            estimates += found[name].estimates
            curves += found[name].curves
        for name in groups[1:]:
            contrasts += _contrasts(id, name, groups[0], split, found, common)
    return Comparison(
        by=grouping.by,
        groups=tuple(groups),
        causal=ASSIGNED if grouping.assigned else NOT_CAUSAL,
        assigned=grouping.assigned,
        left_out=dict(sorted(left_out.items())),
        estimates=tuple(estimates),
        contrasts=tuple(contrasts),
        curves=tuple(curves),
    )


def _subjects(id: str, rows: Sequence[Row]) -> Sequence[Row]:
    """The rows, or of costs, which have one for each component, one a work item."""
    return rows if id != "cost" else [*{row.cluster: row for row in rows}.values()]


def _common(id: str, split: Mapping[str, Sequence[Row]], options: Options) -> Options:
    """With one horizon for all groups, where none is asked for: the earliest of theirs.

    A group that never has enough at risk has no say, unless there is no other.
    """
    if id not in WAITS or options.horizons:
        return options
    least = options.minimum_at_risk
    enough: list[float] = []
    few: list[float] = []
    for rows in split.values():
        found, _ = watched(id, [row for row in rows if isinstance(row, SpellRow)], (), least)
        if not isinstance(found, Unknown):
            (enough if len(found.spells) >= least else few).append(found.tau)
    chosen = enough or few
    return structs.replace(options, horizons=(min(chosen),)) if chosen else options


def _seeded(options: Options, number: int) -> Options:
    """Each group draws its work items by itself, or the draws would not be independent."""
    return structs.replace(options, seed=options.seed + number, omitted=NOT_BY_GROUP)


def _contrasts(
    id: str,
    name: str,
    reference: str,
    split: Mapping[str, Sequence[Row]],
    found: Mapping[str, Estimated],
    options: Options,
) -> list[Contrast]:
    """One group less the reference, of each estimate that can be set against its like."""
    made = _Contrasts(id, name, reference, options)
    if id in WAITS:
        made.times(found[name].fit, found[reference].fit)
    elif id == "cost":
        made.costs(split[name], split[reference])
    else:
        one, other = split[name], split[reference]
        what, is_yes = COMPARED[id]
        if any(row.role == "unavailable" for row in (*one, *other)):
            made.add(what, "share", _UNAVAILABLE, _UNAVAILABLE, "not estimated")
        else:
            made.shares(what, tallies(one, is_yes), tallies(other, is_yes))
    return made.found


NONE_IN_ONE: Final = Unknown("in one of the groups no such ending was seen, or all ended so")
_UNAVAILABLE: Final = Unknown("some of it is unavailable in a group")


class _Contrasts:
    def __init__(self, id: str, group: str, reference: str, options: Options) -> None:
        self.id = id
        self.group = group
        self.reference = reference
        self.options = options
        self.found: list[Contrast] = []

    def add(
        self,
        name: str,
        unit: str,
        value: Number,
        interval: Range,
        method: str,
        at: float | None = None,
    ) -> None:
        self.found.append(
            Contrast(
                endpoint=self.id,
                name=name,
                unit=unit,
                group=self.group,
                reference=self.reference,
                difference=value,
                interval=value if isinstance(value, Unknown) else interval,
                method=method,
                at=at,
                level=self.options.level,
            )
        )

    def shares(self, name: str, one: Any, other: Any) -> None:
        pair = share_of(one, self.options.level), share_of(other, self.options.level)
        for side in pair:
            if isinstance(side, Unknown):
                return self.add(name, "share", side, side, "not estimated")
        gap = shares_apart(*pair, self.options.level)  # type: ignore[arg-type]
        self.add(name, "share", gap.difference, gap.interval, "Newcombe at effective n")
        return None

    def costs(self, one: Sequence[Row], other: Sequence[Row]) -> None:
        both = [row for row in (*one, *other) if isinstance(row, CostRow)]
        for component, unit in sorted({(row.component, row.unit) for row in both}):
            name = name_of(component, unit)
            sides = [_values(rows, component, unit) for rows in (one, other)]
            if not all(sides):
                why = Unknown("it is not known of every work item in both groups")
                self.add(name, unit, why, why, "not estimated")
                continue
            gap = bootstrap_mean_difference(
                sides[0],
                sides[1],
                seed=self.options.seed,
                draws=self.options.draws,
                level=self.options.level,
            )
            method = "difference of means, percentiles over redrawn work items"
            self.add(name, unit, gap.estimate, gap.interval, method)

    def times(self, one: Any, other: Any) -> None:
        words = WAITS[self.id]
        for fit in (one, other):
            if isinstance(fit, Unknown):
                return self.add(words.mean, "seconds", fit, fit, "not estimated")
        if (one.watched.start, one.watched.horizons) != (
            other.watched.start,
            other.watched.horizons,
        ):
            why = Unknown("the groups' curves begin or are read at different times")
            return self.add(words.mean, "seconds", why, why, "not estimated")
        at = one.watched.horizons[-1]
        self.add(words.mean, "seconds", *_mean_gap(one, other, at), at)
        for cause, label in words.causes.items():
            for time in one.watched.horizons:
                self.add(label, "share", *_incidence_gap(one, other, cause, time), time)
        return None


def _values(rows: Sequence[Row], component: str, unit: str) -> list[float]:
    """The values of one component; [] where one of the items has none."""
    own = [
        row
        for row in rows
        if isinstance(row, CostRow)
        and row.eligible
        and (row.component, row.unit) == (component, unit)
    ]
    known = [row.value for row in own if row.value is not None]
    return known if len(known) == len(own) else []


def _mean_gap(one: Fitted, other: Fitted, at: float) -> tuple[Number, Range, str]:
    for fit in (one, other):
        if isinstance(why := mean_up_to(fit, at)[0], Unknown):
            return why, why, "not estimated"
    means = [restricted_mean(fit.waiting, at) for fit in (one, other)]
    gap = mean_difference(means[0], means[1], one.waiting.level)  # type: ignore[arg-type]
    if one.redrawn is not None or other.redrawn is not None:
        words = "difference of restricted means, percentiles over redrawn work items"
        return gap.difference, difference(*_redrawn(one, other), ("area", None, None)), words
    method = "difference of restricted means, Greenwood"
    if any(mean.standard_error == 0 for mean in means if not isinstance(mean, Unknown)):
        return gap.difference, NONE_IN_ONE, method
    return gap.difference, gap.interval, method


def _redrawn(one: Fitted, other: Fitted) -> tuple[Redrawn, Redrawn]:
    """Both groups over redrawn work items, also one in which each has a single spell."""
    found = [fit if fit.redrawn is not None else again(fit) for fit in (one, other)]
    assert found[0].redrawn is not None
    assert found[1].redrawn is not None
    return found[0].redrawn, found[1].redrawn


def _incidence_gap(
    one: Fitted, other: Fitted, cause: str, time: float
) -> tuple[Number, Range, str]:
    values = [incidence_at(fit, cause, time)[0] for fit in (one, other)]
    for value in values:
        if isinstance(value, Unknown):
            return value, value, "not estimated"
    gap = float(values[0]) - float(values[1])  # type: ignore[arg-type]
    if one.redrawn is not None or other.redrawn is not None:
        interval = difference(*_redrawn(one, other), ("at", cause, time))
        return gap, interval, "difference, percentiles over redrawn work items"
    errors = [_error(fit, cause, time) for fit in (one, other)]
    if 0 in errors:
        return gap, NONE_IN_ONE, "difference"
    half = normal_quantile(one.waiting.level) * sqrt(sum(error**2 for error in errors))
    return gap, Interval(max(gap - half, -1.0), min(gap + half, 1.0)), "Aalen's variances, normal"


def _error(fit: Fitted, cause: str, time: float) -> float:
    points = [point for point in fit.endings.of(cause).points if point.time <= time]
    return points[-1].standard_error if points else 0.0
