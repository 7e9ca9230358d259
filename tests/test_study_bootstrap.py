"""Intervals by redrawing clusters: which, how surely the same, and when there is none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from statistics import fmean

import pytest

from study.bootstrap import Bootstrapped, cluster_bootstrap
from study.estimates import BadInput, Interval, Number, Unknown

np = pytest.importorskip("numpy", reason="the study extra is not installed")
scipy_stats = pytest.importorskip("scipy.stats", reason="the study extra is not installed")


def costs(items: int, seed: int = 1) -> list[list[float]]:
    """Drawn costs of work items: one to four entries each, alike within an item."""
    draw = np.random.default_rng(seed)
    return [
        [float(level + draw.normal()) for _ in range(draw.integers(1, 5))]
        for level in draw.exponential(10, items)
    ]


def ends(found: Bootstrapped) -> tuple[float, float]:
    assert isinstance(found.interval, Interval)
    return found.interval.low, found.interval.high


def test_the_same_seed_gives_the_same_interval_and_another_another() -> None:
    data = costs(12)
    first = cluster_bootstrap(data, fmean, seed=7, draws=500)
    assert cluster_bootstrap(data, fmean, seed=7, draws=500) == first
    assert cluster_bootstrap(data, fmean, seed=8, draws=500).interval != first.interval
    assert (first.clusters, first.draws, first.seed, first.level) == (12, 500, 7, 0.95)


def test_from_thirty_clusters_on_the_interval_is_accelerated() -> None:
    assert cluster_bootstrap(costs(29), fmean, seed=1, draws=99).method == "percentile"
    assert cluster_bootstrap(costs(30), fmean, seed=1, draws=99).method == "BCa"


@pytest.mark.parametrize(("items", "method"), [(20, "percentile"), (40, "BCa")])
def test_of_single_entries_it_is_the_interval_of_their_mean(items: int, method: str) -> None:
    values = [item[0] for item in costs(items)]
    found = cluster_bootstrap([[value] for value in values], fmean, seed=3, draws=400)
    theirs = scipy_stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=400,
        vectorized=False,
        method=method,
        rng=np.random.Generator(np.random.PCG64(3)),
    ).confidence_interval
    assert found.estimate == pytest.approx(fmean(values))
    assert ends(found) == pytest.approx((theirs.low, theirs.high))


def test_the_percentiles_are_near_those_of_every_possible_draw() -> None:
    clusters = [[0.0, 1.0], [4.0], [9.0, 9.0, 9.0], [2.0, 3.0]]
    every = sorted(
        fmean([value for cluster in drawn for value in cluster])
        for drawn in product(clusters, repeat=4)
    )
    low, high = ends(cluster_bootstrap(clusters, fmean, seed=5, draws=20_000, level=0.8))
    assert low == pytest.approx(every[round(0.1 * len(every))], abs=0.3)
    assert high == pytest.approx(every[round(0.9 * len(every))], abs=0.3)


def test_repeating_what_a_cluster_holds_narrows_nothing() -> None:
    data = [[item[0]] for item in costs(15)]
    repeated = [cluster * 7 for cluster in data]
    once = cluster_bootstrap(data, fmean, seed=2, draws=300)
    assert ends(cluster_bootstrap(repeated, fmean, seed=2, draws=300)) == pytest.approx(ends(once))


def test_a_draw_without_a_value_leaves_the_interval_unknown_and_says_how_many() -> None:
    def positive_mean(values: Sequence[float]) -> Number:
        kept = [value for value in values if value > 0]
        return fmean(kept) if kept else Unknown("nothing is positive")

    found = cluster_bootstrap([[1.0], [0.0], [2.0]], positive_mean, seed=1, draws=400)
    assert found.estimate == 1.5
    assert isinstance(found.interval, Unknown)
    assert found.interval.reason.startswith("the statistic has no value in ")
    nothing = cluster_bootstrap([[0.0], [0.0]], positive_mean, seed=1)
    assert nothing.estimate == nothing.interval == Unknown("nothing is positive")


@pytest.mark.parametrize("items", [2, 35])
def test_clusters_that_do_not_differ_give_no_interval(items: int) -> None:
    found = cluster_bootstrap([[3.0]] * items, fmean, seed=1, draws=50)
    assert found.estimate == 3
    assert found.interval == Unknown("every draw gave the same value")


def test_an_acceleration_that_cannot_be_computed_gives_no_interval() -> None:
    def almost_all_zero(values: Sequence[float]) -> float:
        return float(len(values) - values.count(0.0) < 2)

    found = cluster_bootstrap([[0.0]] * 38 + [[1.0]] * 3, almost_all_zero, seed=1, draws=300)
    assert (found.method, found.estimate) == ("BCa", 0)
    assert found.interval == Unknown("leaving one cluster out leaves no value, or always the same")


def test_one_cluster_shows_nothing_of_others() -> None:
    found = cluster_bootstrap([[1.0, 2.0]], fmean, seed=1)
    assert found.estimate == 1.5
    assert found.interval == Unknown("one cluster shows nothing of how clusters differ")


def test_nothing_to_draw_from_is_refused() -> None:
    with pytest.raises(BadInput, match="clusters: found 0"):
        cluster_bootstrap([], fmean, seed=1)
    with pytest.raises(BadInput, match="draws: found 0"):
        cluster_bootstrap([[1.0], [2.0]], fmean, seed=1, draws=0)
    with pytest.raises(BadInput, match="level"):
        cluster_bootstrap([[1.0], [2.0]], fmean, seed=1, level=1)
