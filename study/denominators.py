"""Who is counted: one denominator from the roles of rows, whose parts must add up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from study.estimates import Unknown
from study.result import Denominator
from study.rows import Row, SpellRow


def denominator(rows: Iterable[Row], unit: str, omitted: int | Unknown) -> Denominator:
    """The denominator of rows; `omitted` is how many registered work items have no event."""
    given = list(rows)
    eligible = [row for row in given if row.eligible]
    by_role = Counter(row.role for row in given)
    found = Denominator(
        unit=unit,
        eligible=len(eligible),
        observed=by_role["observed"],
        censored=by_role["censored"],
        competing=_counts(
            row.cause or ""
            for row in given
            if isinstance(row, SpellRow) and row.role == "competing"
        ),
        excluded=_counts(row.reason or "" for row in given if row.role == "excluded"),
        unavailable=_counts(row.reason or "" for row in given if row.role == "unavailable"),
        items=len({row.cluster for row in eligible}),
        omitted=omitted,
    )
    check(found, len(given))
    return found


def unavailable(rows: Iterable[Row]) -> str | None:
    """How many of the eligible rows are unavailable, and why; null where none is."""
    eligible = [row for row in rows if row.eligible]
    reasons = Counter(row.reason or "" for row in eligible if row.role == "unavailable")
    if not reasons:
        return None
    counted = f"{sum(reasons.values())} of {len(eligible)} unavailable"
    if len(reasons) == 1:
        return f"{counted} ({next(iter(reasons))})"
    return f"{counted} (for {len(reasons)} reasons, which the denominator names)"


def check(found: Denominator, rows: int) -> None:
    """Eligible are observed, censored, competing or unavailable, and with the excluded all."""
    parts = found.observed + found.censored + _sum(found.competing) + _sum(found.unavailable)
    if found.eligible != parts or rows != found.eligible + _sum(found.excluded):
        raise AssertionError(f"the denominator does not add up: {found}, of {rows} rows")


def _counts(values: Iterable[str]) -> Mapping[str, int]:
    return dict(sorted(Counter(values).items()))


def _sum(counts: Mapping[str, int]) -> int:
    return sum(counts.values())
