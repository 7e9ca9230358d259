"""What share of countable things are so, when they come in clusters.

Receipts of one work item resemble each other, so n of them are worth fewer.  The design
effect (Rao & Scott 1992) is the variance of the ratio estimate over clusters, divided by
what n independent things would have; the interval is Wilson's at n divided by it.

* A design effect below 1 counts as 1: clusters that happen to be evenly mixed are no
  ground to claim more than n.
* At 0 % and 100 % no design effect can be estimated.  The clusters are then taken to agree
  within themselves entirely, where the effective n is (sum n_i)^2 / sum n_i^2, and the
  interval is Clopper and Pearson's at the whole part of it.
* From a single cluster nothing about other clusters is known: no interval.

Both intervals are statsmodels'.  The difference of two shares is Newcombe's method 10,
written here because statsmodels' takes counts, and these are at effective n.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, hypot
from typing import Final, Literal, TypeAlias

from study.estimates import (
    ONE_CLUSTER,
    BadInput,
    Interval,
    Number,
    Range,
    Record,
    Unknown,
    normal_quantile,
)

NOTHING_COUNTED: Final = Unknown("there was nothing to count")
NOT_ESTIMABLE: Final = Unknown("all are alike, so how alike clusters are cannot be estimated")

Bound: TypeAlias = Literal["wilson", "clopper-pearson"]


class Tally(Record, frozen=True):
    """One cluster's count: `yes` of `of` things."""

    yes: int
    of: int


class Proportion(Record, frozen=True):
    """A share (0 to 1) of `of` things in `clusters`; those with nothing to count are out."""

    yes: int
    of: int
    clusters: int
    share: float
    design_effect: Number
    effective_n: float
    interval: Range
    method: Bound


class Difference(Record, frozen=True):
    """One share less another (-1 to 1)."""

    difference: float
    interval: Range


def wilson(yes: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's score interval, of `yes` in `n`, which need not be whole."""
    return _confidence(yes, n, level, "wilson")


def clopper_pearson(yes: int, n: int, level: float = 0.95) -> Interval:
    """Clopper and Pearson's exact interval."""
    return _confidence(yes, n, level, "beta")


def _confidence(yes: float, n: float, level: float, method: str) -> Interval:
    from statsmodels.stats.proportion import proportion_confint

    normal_quantile(level)  # refuses a level that is none
    if not n > 0 or not 0 <= yes <= n:
        raise BadInput("count", f"{yes} of {n}", "a count within a positive total")
    low, high = proportion_confint(yes, n, alpha=1 - level, method=method)
    return Interval(max(float(low), 0.0), min(float(high), 1.0))


def proportion(tallies: Sequence[Tally], level: float = 0.95) -> Proportion | Unknown:
    """The share over all clusters, with an interval at their effective n."""
    for index, tally in enumerate(tallies):
        if not 0 <= tally.yes <= tally.of:
            raise BadInput("tally", tally, "a count within its total", index)
    counted = [tally for tally in tallies if tally.of]
    if not counted:
        return NOTHING_COUNTED
    yes = sum(tally.yes for tally in counted)
    of = sum(tally.of for tally in counted)
    if yes in (0, of):
        return _all_alike(counted, yes, of, level)
    if len(counted) == 1:
        return Proportion(yes, of, 1, yes / of, ONE_CLUSTER, 1.0, ONE_CLUSTER, "wilson")
    effect = max(_design_effect(counted, yes, of), 1.0)
    effective = of / effect
    interval = wilson(yes / of * effective, effective, level)
    return Proportion(yes, of, len(counted), yes / of, effect, effective, interval, "wilson")


def _all_alike(counted: Sequence[Tally], yes: int, of: int, level: float) -> Proportion:
    effective = of**2 / sum(tally.of**2 for tally in counted)
    interval: Range = ONE_CLUSTER
    if len(counted) > 1:
        n = floor(effective)
        interval = clopper_pearson(n if yes else 0, n, level)
    share = yes / of
    effect = NOT_ESTIMABLE
    return Proportion(yes, of, len(counted), share, effect, effective, interval, "clopper-pearson")


def _design_effect(counted: Sequence[Tally], yes: int, of: int) -> float:
    share = yes / of
    clusters = len(counted)
    squares = sum((tally.yes - share * tally.of) ** 2 for tally in counted)
    variance = clusters / (clusters - 1) * squares / of**2
    return variance / (share * (1 - share) / of)


def newcombe(
    one: float, one_n: float, other: float, other_n: float, level: float = 0.95
) -> Interval:
    """Newcombe's (1998) method 10 for the share `one` of `one_n` less `other` of `other_n`.

    It joins the two Wilson intervals, and so needs no more than they do: neither whole
    counts nor shares away from 0 and 1.
    """
    first = wilson(one * one_n, one_n, level)
    second = wilson(other * other_n, other_n, level)
    below = hypot(one - first.low, second.high - other)
    above = hypot(first.high - one, other - second.low)
    return Interval(max(one - other - below, -1.0), min(one - other + above, 1.0))


def difference(one: Proportion, other: Proportion, level: float = 0.95) -> Difference:
    """`one` less `other`, at each one's effective n; unknown where either has no interval."""
    value = one.share - other.share
    for side in (one, other):
        if isinstance(side.interval, Unknown):
            return Difference(value, side.interval)
    interval = newcombe(one.share, one.effective_n, other.share, other.effective_n, level)
    return Difference(value, interval)
