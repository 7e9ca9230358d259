"""The variance of least-squares coefficients when rows share clusters in two ways.

Rows of one reviewer are alike, and rows of one case are alike.  The two-way variance
(Cameron, Gelbach & Miller 2011) adds the variances clustered each way and takes off that
of the cells where both agree, which were counted twice.  With few clusters the result can
fall below either alone, or below 0, so it is floored by both; and it is scaled by
n / (n - p), which brought the measured type I error of the study's design to its nominal
level.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from study.estimates import BadInput, Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

Scale: TypeAlias = Callable[[int, int, int], float]
"""(clusters, rows, coefficients) to a factor of the variance."""


class LeastSquares(Record, frozen=True):
    """Coefficients and the variance of each, clustered one way, the other, and both."""

    coefficients: tuple[float, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    cells: tuple[float, ...]
    two_way: tuple[float, ...]
    first_clusters: int
    second_clusters: int


def degrees(clusters: int, rows: int, coefficients: int) -> float:
    """n / (n - p), however many clusters there are."""
    return rows / (rows - coefficients)


def two_way(
    design: Sequence[Sequence[float]],
    outcome: Sequence[float],
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    scale: Scale = degrees,
) -> LeastSquares:
    """Least squares of `outcome` on the columns of `design`, clustered by `first` and `second`.

    `design` has one row an outcome and its own column of ones.  Rows that do not match,
    columns that depend on each other, or no more rows than columns raise BadInput.
    """
    import numpy as np

    x = np.asarray(design, dtype=np.float64)
    y = np.asarray(outcome, dtype=np.float64)
    _check(x, y, first, second)
    bread = np.linalg.inv(x.T @ x)
    coefficients = bread @ (x.T @ y)
    influence = (x * (y - x @ coefficients)[:, None]) @ bread

    def variance(labels: Sequence[Hashable]) -> tuple[Array, int]:
        codes = {label: code for code, label in enumerate(dict.fromkeys(labels))}
        sums = np.zeros((len(codes), x.shape[1]))
        np.add.at(sums, [codes[label] for label in labels], influence)
        return (sums**2).sum(axis=0) * scale(len(codes), *x.shape), len(codes)

    by_first, first_clusters = variance(first)
    by_second, second_clusters = variance(second)
    by_cell, _ = variance([*zip(first, second, strict=True)])
    both = np.maximum(by_first + by_second - by_cell, np.maximum(by_first, by_second))
    return LeastSquares(
        coefficients=tuple(coefficients.tolist()),
        first=tuple(by_first.tolist()),
        second=tuple(by_second.tolist()),
        cells=tuple(by_cell.tolist()),
        two_way=tuple(both.tolist()),
        first_clusters=first_clusters,
        second_clusters=second_clusters,
    )


def _check(x: Array, y: Array, first: Sequence[Hashable], second: Sequence[Hashable]) -> None:
    import numpy as np

    if x.ndim != 2 or {len(y), len(first), len(second)} != {len(x)}:
        found = [x.shape, y.shape, len(first), len(second)]
        raise BadInput("rows", found, "a table, and as many outcomes and labels as it has rows")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise BadInput("rows", "a value that is not finite", "finite values")
    rows, columns = x.shape
    if rows <= columns:
        raise BadInput("rows", rows, f"more than the {columns} columns")
    if np.linalg.matrix_rank(x) < columns:
        raise BadInput("columns", f"rank below {columns}", "columns independent of each other")
