"""From rows to endpoints: each with its estimates, its curves and its denominator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from study import times
from study.definitions import DEFINITIONS, WAITS
from study.denominators import denominator
from study.estimates import Record, Unknown
from study.means import cost
from study.result import NO_REGISTER, Curve, Endpoint, Estimate, Kind
from study.rows import ClaimRow, FieldRow, Row, SpellRow
from study.shares import SHARES, Asked
from study.spells import ENOUGH_AT_RISK
from study.words import duration

LEVEL: Final = 0.95
DRAWS: Final = 2_000


class Options(Record, frozen=True, kw_only=True):
    """How to estimate.  `horizons` in seconds since the origin; none: see `study.times`."""

    horizons: tuple[float, ...] = ()
    minimum_at_risk: int = ENOUGH_AT_RISK
    level: float = LEVEL
    seed: int = 0
    draws: int = DRAWS
    omitted: int | Unknown = NO_REGISTER


class Estimated(Record, frozen=True, kw_only=True):
    """The numbers of one group of rows, and for times to event what they were read off."""

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
            else denominator(rows, words.unit, options.omitted)
        ),
        estimates=found.estimates,
        rows=tuple(rows),
        curves=found.curves,
        notes=tuple(_notes(id, rows, found)),
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
        return Estimated(estimates=tuple(SHARES[id](asked, rows)))
    if id == "cost":
        return Estimated(
            estimates=tuple(
                cost(
                    rows,
                    options.omitted,
                    group=group,
                    level=options.level,
                    seed=options.seed,
                    draws=options.draws,
                )
            )
        )
    return _waits(id, [row for row in rows if isinstance(row, SpellRow)], options, group)


def _waits(id: str, rows: Sequence[SpellRow], options: Options, group: str | None) -> Estimated:
    counted = denominator(rows, DEFINITIONS[id].unit, options.omitted)
    found = times.watched(id, rows, options.horizons, options.minimum_at_risk)
    fit: times.Fitted | Unknown
    if isinstance(found, Unknown):
        lost = [row.reason for row in rows if row.role == "unavailable"]
        told = f"{len(lost)} of {counted.eligible} unavailable ({lost[0]})" if lost else ""
        fit = Unknown(told) if lost else found
    else:
        fit = times.fitted(
            found,
            seed=options.seed,
            draws=options.draws,
            minimum=options.minimum_at_risk,
            level=options.level,
        )
    return Estimated(
        estimates=times.estimates(fit, id, counted, group=group, level=options.level),
        curves=times.curves(fit, group=group),
        fit=fit,
    )


# What a reader should know beside the numbers


def _notes(id: str, rows: Sequence[Row], found: Estimated) -> Iterator[str]:
    if isinstance(found.fit, times.Fitted):
        yield from _notes_of_times(found.fit)
    match id:
        case "false_success":
            claims = [r for r in rows if isinstance(r, ClaimRow) and r.role == "observed"]
            if claims:
                yield f"When made: {_told(Counter(str(row.made) for row in claims))}."
                later = sum(r.unevidenced is True and r.verdict == "supported" for r in claims)
                yield f"{later} of those without evidence when made are supported at the cutoff."
        case "receipt_completeness":
            fields = [row for row in rows if isinstance(row, FieldRow)]
            standing = [row for row in fields if row.eligible or row.status == "inapplicable"]
            if standing:
                yield f"Fields: {_told(Counter(str(row.status) for row in standing))}."


def _told(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


def _notes_of_times(fit: times.Fitted) -> Iterator[str]:
    start = fit.watched.start
    if start > 0:
        before = fit.waiting.before_start
        yield (
            f"Entry is delayed: every number is of those still waiting at {duration(start)}, the "
            f"first time with enough at risk; {before} ended by then and are not in the curves."
        )
    if beyond := fit.watched.beyond:
        yield (
            f"The curves end at {fit.waiting.last:g} seconds, when nobody was being watched; "
            f"{beyond} who had then waited for longer, when watching began, are not in them."
        )
    if fit.redrawn is not None:
        yield (
            f"{len(fit.watched.spells)} in {fit.redrawn.clusters} work items: intervals are "
            f"percentiles over {fit.redrawn.draws} redrawings of work items (seed "
            f"{fit.redrawn.seed})."
        )
