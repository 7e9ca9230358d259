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

ENOUGH_FOR_BCA: Final = 30
DRAWS: Final = 2_000
ALL_THE_SAME: Final = Unknown("every draw gave the same value")
_BATCH: Final = 2_000_000  # values drawn at once

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
        interval = ONE_CLUSTER
    else:
        interval = _interval(clusters, statistic, method, seed, draws, level)
    return Bootstrapped(estimate, interval, method, len(clusters), draws, seed, level)


def too_few(clusters: int, level: float) -> Unknown | None:
    """Why clusters bear no percentile interval; null where they do.

    Of n clusters even the whole range of the draws holds a median at most 1 - 2^(1-n) of the
    time, so fewer than six cannot hold anything 95 % of the time.
    """
    if clusters == 1:
        return ONE_CLUSTER
    if 1 - 2.0 ** (1 - clusters) < level:
        return Unknown(f"{clusters} work items are too few for an interval over redrawn ones")
    return None


def bootstrap_mean(
    values: Sequence[float], *, seed: int, draws: int = DRAWS, level: float = 0.95
) -> Bootstrapped:
    """The mean of one value a cluster: `cluster_bootstrap` of it, in whole arrays."""
    import numpy as np

    def mean(drawn: Any, axis: int = -1) -> Any:
        return np.mean(drawn, axis=axis)

    normal_quantile(level)
    if not values:
        raise BadInput("values", 0, "at least one")
    method: Kind = "BCa" if len(values) >= ENOUGH_FOR_BCA else "percentile"
    data = np.asarray(values, dtype=np.float64)
    interval: Range | None = too_few(len(values), level)
    if interval is None:
        interval = _bounds(data, mean, method, seed, draws, level, vectorized=True)
    return Bootstrapped(float(data.mean()), interval, method, len(values), draws, seed, level)


def bootstrap_mean_difference(
    one: Sequence[float],
    other: Sequence[float],
    *,
    seed: int,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Bootstrapped:
    """The mean of `one` less that of `other`, each with its own clusters drawn again."""
    import numpy as np

    normal_quantile(level)
    if not one or not other:
        raise BadInput("values", (len(one), len(other)), "at least one in each group")
    gap = float(np.mean(one) - np.mean(other))
    interval: Range | None = too_few(min(len(one), len(other)), level)
    if interval is None:
        rng = np.random.Generator(np.random.PCG64(seed))
        drawn = _means(np.asarray(one), draws, rng) - _means(np.asarray(other), draws, rng)
        tail = (1 - level) / 2
        low, high = (float(q) for q in np.quantile(drawn, (tail, 1 - tail)))
        interval = Interval(low, high) if low < high else ALL_THE_SAME
    return Bootstrapped(gap, interval, "percentile", len(one) + len(other), draws, seed, level)


def _means(values: Any, draws: int, rng: Any) -> Any:
    """The mean of each drawing with replacement, some of them at a time."""
    import numpy as np

    size = max(1, _BATCH // len(values))
    sizes = [min(size, draws - begun) for begun in range(0, draws, size)]
    parts = [values[rng.integers(len(values), size=(n, len(values)))].mean(axis=1) for n in sizes]
    return np.concatenate(parts)


def _interval(
    clusters: Sequence[Sequence[T]],
    statistic: Callable[[Sequence[T]], Number],
    method: Kind,
    seed: int,
    draws: int,
    level: float,
) -> Range:
    import numpy as np

    def of_drawn(drawn: Any) -> float:
        value = statistic([*chain.from_iterable(clusters[index] for index in drawn)])
        return nan if isinstance(value, Unknown) else value

    indices = np.arange(len(clusters))
    return _bounds(indices, of_drawn, method, seed, draws, level, vectorized=False)


def _bounds(
    data: Any,
    statistic: Callable[..., Any],
    method: Kind,
    seed: int,
    draws: int,
    level: float,
    *,
    vectorized: bool,
) -> Range:
    import numpy as np
    from scipy.stats import bootstrap

    with np.errstate(all="ignore"):
        result = _quietly(
            lambda: bootstrap(
                (data,),
                statistic,
                n_resamples=draws,
                batch=max(1, _BATCH // len(data)) if vectorized else None,
                vectorized=vectorized,
                confidence_level=level,
                method=method,
                rng=np.random.Generator(np.random.PCG64(seed)),
            )
        )
    values = result.bootstrap_distribution
    if missing := int(np.isnan(values).sum()):
        return Unknown(f"the statistic has no value in {missing} of {draws} draws")
    if values.min() == values.max():
        return ALL_THE_SAME
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
