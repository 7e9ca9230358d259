"""From rows to endpoints: each with its estimates, its curves and its denominator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Final

from study import times
from study.curves import curves
from study.definitions import DEFINITIONS, WAITS
from study.denominators import denominator, unavailable
from study.estimates import BadInput, Record, Unknown, normal_quantile
from study.means import cost
from study.result import NO_REGISTER, Curve, Endpoint, Estimate, Kind
from study.rows import ClaimRow, FieldRow, Row, SpellRow
from study.shares import SHARES, Asked
from study.spells import ENOUGH_AT_RISK
from study.words import duration

LEVEL: Final = 0.95
DRAWS: Final = 2_000


def _is_positive(time: object) -> bool:
    return isinstance(time, int | float) and isfinite(time) and time > 0


class Options(Record, frozen=True, kw_only=True):
    """How to estimate.  `horizons` in seconds since the origin; none: see `study.times`."""

    horizons: tuple[float, ...] = ()
    minimum_at_risk: int = ENOUGH_AT_RISK
    level: float = LEVEL
    seed: int = 0
    draws: int = DRAWS
    omitted: int | Unknown = NO_REGISTER

    def __post_init__(self) -> None:
        for time in self.horizons:
            if not _is_positive(time):
                raise BadInput("horizon", time, "seconds, more than 0")
        for name, least in (("minimum_at_risk", 1), ("seed", 0), ("draws", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise BadInput(name, value, f"a whole number from {least}")
        normal_quantile(self.level)  # refuses a level that is none


class Estimated(Record, frozen=True, kw_only=True):
    """The numbers of one group of rows, and for times to event what they were read off."""

    rows: tuple[Row, ...]
    estimates: tuple[Estimate, ...]
    curves: tuple[Curve, ...] = ()
    fit: times.Fitted | Unknown | None = None


def endpoint(id: str, rows: Sequence[Row], options: Options) -> Endpoint:
    """One endpoint, of all rows together."""
    words = DEFINITIONS[id]
    found = estimated(id, rows, options)
    return Endpoint(
        id=id,
        title=words.title,
        kind=_kind(id),
        definition=words.definition,
        method=words.method,
        denominator=(
            found.estimates[0].denominator
            if id == "cost" and found.estimates
            else denominator(found.rows, words.unit, options.omitted)
        ),
        estimates=found.estimates,
        rows=found.rows,
        curves=found.curves,
        notes=tuple(_notes(id, found)),
    )


def _kind(id: str) -> Kind:
    if id in WAITS:
        return "time to event"
    return "share" if id in SHARES else "mean"


def estimated(
    id: str, rows: Sequence[Row], options: Options, *, group: str | None = None
) -> Estimated:
    """The estimates of an endpoint, of one group's rows."""
    words = DEFINITIONS[id]
    if id in SHARES:
        asked = Asked(id, words.unit, options.omitted, group, options.level)
        return Estimated(rows=tuple(rows), estimates=tuple(SHARES[id](asked, rows)))
    if id == "cost":
        return Estimated(
            rows=tuple(rows),
            estimates=tuple(
                cost(
                    rows,
                    options.omitted,
                    group=group,
                    level=options.level,
                    seed=options.seed,
                    draws=options.draws,
                )
            ),
        )
    return _waits(id, [row for row in rows if isinstance(row, SpellRow)], options, group)


def _waits(id: str, rows: Sequence[SpellRow], options: Options, group: str | None) -> Estimated:
    found, settled = times.watched(id, rows, options.horizons, options.minimum_at_risk)
    counted = denominator(settled, DEFINITIONS[id].unit, options.omitted)
    fit: times.Fitted | Unknown
    if isinstance(found, Unknown):
        lost = unavailable(rows)
        fit = found if lost is None else Unknown(lost)
    else:
        fit = times.fitted(
            found,
            seed=options.seed,
            draws=options.draws,
            minimum=options.minimum_at_risk,
            level=options.level,
        )
    return Estimated(
        rows=settled,
        estimates=times.estimates(fit, id, counted, group=group, level=options.level),
        curves=curves(fit, group=group),
        fit=fit,
    )


# What a reader should know beside the numbers


def _notes(id: str, found: Estimated) -> Iterator[str]:
    rows = found.rows
    if isinstance(found.fit, times.Fitted):
        yield from _notes_of_times(found.fit, rows)
    match id:
        case "false_success":
            claims = [r for r in rows if isinstance(r, ClaimRow) and r.role == "observed"]
            if claims:
                yield f"When made: {_told(Counter(str(row.made) for row in claims))}."
                without = [row for row in claims if row.unevidenced]
                later = sum(row.verdict == "supported" for row in without)
                gone = sum(row.verdict == "withdrawn" for row in without)
                yield (
                    f"Of those without evidence when made, {later} are supported at the cutoff "
                    f"and {gone} were withdrawn by a correction."
                )
        case "receipt_completeness":
            fields = [row for row in rows if isinstance(row, FieldRow)]
            standing = [r for r in fields if r.role == "observed" or r.status == "inapplicable"]
            if standing:
                yield f"Fields: {_told(Counter(str(row.status) for row in standing))}."


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _notes_of_times(fit: times.Fitted, rows: Sequence[Row]) -> Iterator[str]:
    lost = sum(row.role == "unavailable" for row in rows)
    if lost:
        yield f"{lost} are unavailable and in no number here: those are of the logs that tell it."
    if fit.watched.start > 0:
        yield (
            "Entry is delayed: every number is of those still waiting at "
            f"{duration(fit.watched.start)}, the first time with enough at risk."
        )
    if any(row.reason == times.AFTER_CURVE for row in rows):
        yield (
            f"The curves end at {duration(fit.waiting.last)}, when nobody was being watched; who "
            "ended just then counts as still waiting."
        )
    if fit.redrawn is not None:
        yield (
            f"{len(fit.watched.spells)} in {fit.redrawn.clusters} work items: intervals are "
            f"percentiles over {fit.redrawn.draws} redrawings of work items (seed "
            f"{fit.redrawn.seed})."
        )
