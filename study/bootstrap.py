"""An interval for any statistic, by drawing whole clusters again.

What is drawn is the cluster (a work item with all it holds), since its parts are not
independent.  Drawing and intervals are `scipy.stats.bootstrap`'s: the percentile interval,
and from 30 clusters on the bias-corrected and accelerated one, whose acceleration is
unstable with fewer.  The draws come from a seeded generator, so the same clusters in the
same order give the same interval.

A draw in which the statistic has no value leaves the interval unknown, with their number:
leaving such draws out would describe only the samples that behave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from math import isfinite, nan
from typing import Any, Final, Literal, TypeAlias, TypeVar

from study.estimates import BadInput, Interval, Number, Range, Record, Unknown, normal_quantile

ENOUGH_FOR_BCA: Final = 30
DRAWS: Final = 2_000

Kind: TypeAlias = Literal["percentile", "BCa"]
T = TypeVar("T")


class Bootstrapped(Record, frozen=True):
    """A statistic of all clusters (its own unit), and its interval over redrawn ones."""

    estimate: Number
    interval: Range
    method: Kind
    clusters: int
    draws: int
    seed: int
    level: float


def cluster_bootstrap(
    clusters: Sequence[Sequence[T]],
    statistic: Callable[[Sequence[T]], Number],
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Bootstrapped:
    """`statistic` of everything in `clusters`, with an interval from `draws` redrawings.

    The statistic sees the members of the drawn clusters in one sequence and returns a number
    or Unknown.  No clusters, or no draws, raise BadInput.
    """
    normal_quantile(level)
    if not clusters:
        raise BadInput("clusters", 0, "at least one")
    if draws < 1:
        raise BadInput("draws", draws, "at least one")
    method: Kind = "BCa" if len(clusters) >= ENOUGH_FOR_BCA else "percentile"
    estimate = statistic([*chain.from_iterable(clusters)])
    interval: Range
    if isinstance(estimate, Unknown):
        interval = estimate
    elif len(clusters) == 1:
        interval = Unknown("one cluster shows nothing of how clusters differ")
    else:
        interval = _interval(clusters, statistic, method, seed, draws, level)
    return Bootstrapped(estimate, interval, method, len(clusters), draws, seed, level)


def _interval(
    clusters: Sequence[Sequence[T]],
    statistic: Callable[[Sequence[T]], Number],
    method: Kind,
    seed: int,
    draws: int,
    level: float,
) -> Range:
    import numpy as np
    from scipy.stats import bootstrap

    def of_drawn(drawn: Any) -> float:
        value = statistic([*chain.from_iterable(clusters[index] for index in drawn)])
        return nan if isinstance(value, Unknown) else value

    with np.errstate(all="ignore"):
        result = _quietly(
            lambda: bootstrap(
                (np.arange(len(clusters)),),
                of_drawn,
                n_resamples=draws,
                vectorized=False,
                confidence_level=level,
                method=method,
                rng=np.random.Generator(np.random.PCG64(seed)),
            )
        )
    values = result.bootstrap_distribution
    if missing := int(np.isnan(values).sum()):
        return Unknown(f"the statistic has no value in {missing} of {draws} draws")
    if values.min() == values.max():
        return Unknown("every draw gave the same value")
    low, high = (float(bound) for bound in result.confidence_interval)
    if not (isfinite(low) and isfinite(high)):
        return Unknown("leaving one cluster out leaves no value, or always the same")
    return Interval(low, high)


def _quietly(call: Callable[[], Any]) -> Any:
    """Run without warnings: what scipy warns of (a degenerate distribution) is answered here."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()
