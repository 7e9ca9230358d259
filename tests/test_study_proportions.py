"""Shares of clustered things: Wilson, Clopper-Pearson, Newcombe, and the effective n."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from study.estimates import BadInput, Interval, Unknown
from study.proportions import (
    Proportion,
    Tally,
    clopper_pearson,
    difference,
    newcombe,
    proportion,
    wilson,
)

pytest.importorskip("statsmodels", reason="the study extra is not installed")


def ends(interval: object) -> tuple[float, float]:
    assert isinstance(interval, Interval)
    return interval.low, interval.high


def share(*tallies: tuple[int, int]) -> Proportion:
    found = proportion([Tally(yes, of) for yes, of in tallies])
    assert isinstance(found, Proportion)
    return found


# Published values


@pytest.mark.parametrize(
    ("yes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_intervals_are_newcombes(yes: int, n: int, low: float, high: float) -> None:
    """Newcombe 1998, Statistics in Medicine 17:857-872, table I, method 3, as quoted (all four
    rows, with table and method) in the tests of several public packages."""
    assert ends(wilson(yes, n)) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_differences_are_newcombes(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe 1998, Statistics in Medicine 17:873-890, table II, method 10, rows (a) to (h), as
    quoted in the tests of several public packages."""
    found = newcombe(one[0] / one[1], one[1], other[0] / other[1], other[1])
    assert ends(found) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("n", [1, 3, 20, 29])
def test_clopper_pearson_at_the_ends_is_a_root(n: int) -> None:
    """At 0 of n the upper limit u solves (1 - u)^n = 0.025."""
    root = 1 - 0.025 ** (1 / n)
    assert ends(clopper_pearson(0, n)) == pytest.approx((0, root))
    assert ends(clopper_pearson(n, n)) == pytest.approx((1 - root, 1))


@pytest.mark.parametrize(("yes", "n"), [(81, 263), (15, 148), (1, 29)])
def test_clopper_pearson_limits_leave_two_and_a_half_per_cent_each_side(yes: int, n: int) -> None:
    from scipy.stats import binom

    low, high = ends(clopper_pearson(yes, n))
    assert binom.sf(yes - 1, n, low) == pytest.approx(0.025)
    assert binom.cdf(yes, n, high) == pytest.approx(0.025)


# Clusters


def test_single_things_are_worth_all_but_one_of_themselves() -> None:
    found = share(*[(1, 1)] * 6, *[(0, 1)] * 4)
    assert found.effective_n == pytest.approx(9)
    assert found.interval == wilson(0.6 * found.effective_n, found.effective_n)
    assert (found.yes, found.of, found.clusters, found.method) == (6, 10, 10, "wilson")


def test_clusters_that_agree_within_themselves_are_worth_one_thing_each() -> None:
    found = share((5, 5), (5, 5), (0, 5), (0, 5))
    assert found.effective_n == pytest.approx(3)
    assert found.design_effect == pytest.approx(20 / 3)


def test_evenly_mixed_clusters_are_not_worth_more_than_their_number() -> None:
    found = share(*[(2, 4)] * 5)
    assert (found.design_effect, found.effective_n) == (1, 20)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=12))
def test_counting_everything_twice_gains_nothing(counts: list[tuple[int, int]]) -> None:
    once = proportion([Tally(yes, yes + no) for yes, no in counts])
    twice = proportion([Tally(2 * yes, 2 * (yes + no)) for yes, no in counts])
    if isinstance(once, Unknown):
        assert twice == once
        return
    assert isinstance(twice, Proportion)
    assume(once.design_effect != 1)  # the floor: evenly mixed clusters
    assert twice.effective_n == pytest.approx(once.effective_n)
    if isinstance(once.interval, Interval):
        assert ends(twice.interval) == pytest.approx(ends(once.interval))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=12))
def test_an_interval_holds_its_share_and_never_claims_more_than_all(
    counts: list[tuple[int, int]],
) -> None:
    found = proportion([Tally(yes, yes + no) for yes, no in counts])
    if isinstance(found, Unknown):
        assert sum(map(sum, counts)) == 0
        return
    assert 1 <= found.effective_n <= found.of
    match found.interval:
        case Interval(low=low, high=high):
            assert 0 <= low <= found.share + 1e-12
            assert found.share - 1e-12 <= high <= 1
        case Unknown():
            assert found.clusters == 1


@pytest.mark.parametrize("all_so", [False, True])
def test_at_0_and_100_per_cent_clusters_count_as_wholly_alike(all_so: bool) -> None:
    sizes = (4, 4, 4, 2)
    found = share(*((size if all_so else 0, size) for size in sizes))
    assert found.effective_n == pytest.approx(14**2 / 52)  # 3.77, so three
    assert isinstance(found.design_effect, Unknown)
    assert found.method == "clopper-pearson"
    assert found.interval == clopper_pearson(3 if all_so else 0, 3)


def test_one_cluster_has_a_share_and_no_interval() -> None:
    for tallies in ([(2, 4), (0, 0)], [(4, 4)], [(0, 4)]):
        found = share(*tallies)
        assert found.clusters == 1
        assert found.interval == Unknown("one cluster shows nothing of how clusters differ")


def test_nothing_counted_is_unknown() -> None:
    assert proportion([]) == Unknown("there was nothing to count")
    assert proportion([Tally(0, 0)]) == Unknown("there was nothing to count")


# Differences


@given(st.integers(0, 30), st.integers(1, 30), st.integers(0, 30), st.integers(1, 30))
def test_statsmodels_finds_the_same_difference(a: int, m: int, b: int, n: int) -> None:
    from statsmodels.stats.proportion import confint_proportions_2indep

    a, b = min(a, m), min(b, n)
    theirs = confint_proportions_2indep(a, m, b, n, method="newcomb", compare="diff")
    cut = (max(theirs[0], -1), min(theirs[1], 1))
    assert ends(newcombe(a / m, m, b / n, n)) == pytest.approx(cut, abs=1e-9)


def test_a_difference_is_taken_at_effective_n() -> None:
    one, other = share((9, 10), (2, 10), (7, 10)), share((1, 10), (4, 10))
    found = difference(one, other)
    assert found.difference == pytest.approx(0.35)
    assert found.interval == newcombe(0.6, one.effective_n, 0.25, other.effective_n)


def test_a_difference_from_one_cluster_has_no_interval() -> None:
    one, other = share((2, 4)), share((1, 4), (2, 4))
    assert isinstance(difference(one, other).interval, Unknown)
    assert isinstance(difference(other, one).interval, Unknown)


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(BadInput, match="tally 1: "):
        proportion([Tally(1, 2), Tally(3, 2)])
    with pytest.raises(BadInput, match="tally 0: "):
        proportion([Tally(-1, 2)])
    with pytest.raises(BadInput, match="count: found '3 of 2'"):
        wilson(3, 2)
    with pytest.raises(BadInput, match="count: found '0 of 0'"):
        clopper_pearson(0, 0)
    with pytest.raises(BadInput, match="level"):
        wilson(1, 2, level=0)
