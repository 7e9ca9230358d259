"""Two-way clustered variances of least-squares coefficients."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from typing import Any, Final

import pytest

from study.clusters import LeastSquares, degrees, two_way
from study.estimates import BadInput

np = pytest.importorskip("numpy", reason="the study extra is not installed")


def stata(clusters: int, rows: int, coefficients: int) -> float:
    """The small-sample factor of the published values, of each clustering by itself."""
    return clusters / (clusters - 1) * (rows - 1) / (rows - coefficients)


def petersen() -> Any:
    """Petersen's 5,000 rows: firm, year, x, y, as statsmodels ships them for its own tests."""
    statsmodels = pytest.importorskip("statsmodels", reason="the study extra is not installed")
    path = Path(statsmodels.__file__).parent / "stats" / "tests" / "test_data.txt"
    if not path.exists():
        pytest.skip("this build of statsmodels leaves out its tests, and Petersen's data with them")
    return np.loadtxt(path)


def errors(variances: tuple[float, ...]) -> list[float]:
    return [sqrt(variance) for variance in variances]


def test_the_standard_errors_of_petersens_test_data() -> None:
    """Petersen's page on his test data, as quoted in statsmodels stats/tests/test_sandwich.py:
    White 0.0284 0.0284, firm 0.0670 0.0506, year 0.0234 0.0334, both 0.0651 0.0536.

    The slope 1.0348 is recomputed only, and so are the places beyond the fourth.
    """
    data = petersen()
    design = np.column_stack([np.ones(len(data)), data[:, 2]])
    firm, year = data[:, 0].tolist(), data[:, 1].tolist()
    found = two_way(design, data[:, 3], firm, year, stata)
    assert found.coefficients[1] == pytest.approx(1.0348, abs=5e-5)
    assert errors(found.cells) == pytest.approx([0.0284, 0.0284], abs=5e-5)
    assert errors(found.first) == pytest.approx([0.0670, 0.0506], abs=5e-5)
    assert errors(found.second) == pytest.approx([0.0234, 0.0334], abs=5e-5)
    # without the floor, which the intercept needs: 0.0651 is below the firm's 0.0670
    parts = zip(found.first, found.second, found.cells, strict=True)
    unfloored = tuple(first + second - cell for first, second, cell in parts)
    assert errors(unfloored) == pytest.approx([0.0651, 0.0536], abs=5e-5)
    assert errors(found.two_way) == pytest.approx([0.0670, 0.0536], abs=5e-5)
    assert (found.first_clusters, found.second_clusters) == (500, 10)


CROSSED: Final = [(reviewer, case) for reviewer in "abcd" for case in range(5)]


def crossed(seed: int) -> tuple[Any, Any, list[str], list[int]]:
    draw = np.random.default_rng(seed)
    design = np.column_stack([np.ones(20), draw.normal(size=(20, 2))])
    outcome = design @ [1.0, 2.0, -1.0] + draw.normal(size=20)
    return design, outcome, [r for r, _ in CROSSED], [c for _, c in CROSSED]


@pytest.mark.parametrize("seed", range(5))
def test_one_way_variances_are_statsmodels(seed: int) -> None:
    pytest.importorskip("statsmodels", reason="the study extra is not installed")
    from statsmodels.regression.linear_model import OLS

    design, outcome, first, second = crossed(seed)
    found = two_way(design, outcome, first, second, stata)
    for labels, ours in ((first, found.first), (second, found.second)):
        codes = np.unique(labels, return_inverse=True)[1]
        theirs = OLS(outcome, design).fit(cov_type="cluster", cov_kwds={"groups": codes})
        assert errors(ours) == pytest.approx(list(theirs.bse))
        assert list(found.coefficients) == pytest.approx(list(theirs.params))


@pytest.mark.parametrize("seed", range(5))
def test_the_two_way_variance_is_never_below_either(seed: int) -> None:
    found = two_way(*crossed(seed))
    parts = zip(found.first, found.second, found.cells, found.two_way, strict=True)
    for first, second, cell, both in parts:
        assert both == max(first + second - cell, first, second)


def test_clusters_of_one_row_each_give_whites_variance() -> None:
    design, outcome, _, second = crossed(9)
    each = list(range(20))
    found = two_way(design, outcome, each, second)
    assert found.first == pytest.approx(found.cells)
    larger = [max(pair) for pair in zip(found.first, found.second, strict=True)]
    assert found.two_way == pytest.approx(larger)
    scaled = two_way(design, outcome, each, second, lambda *_: 1.0)
    assert found.first == pytest.approx([v * degrees(20, 20, 3) for v in scaled.first])
    assert degrees(20, 20, 3) == 20 / 17


def test_labels_are_told_apart_by_what_they_are_and_not_by_their_order() -> None:
    design, outcome, first, second = crossed(3)
    order = np.random.default_rng(0).permutation(20)
    moved = two_way(
        design[order], outcome[order], [first[i] for i in order], [second[i] for i in order]
    )
    found = two_way(design, outcome, first, second)
    assert isinstance(found, LeastSquares)
    assert moved.two_way == pytest.approx(found.two_way)


def test_tables_that_bear_no_fit_are_refused() -> None:
    design, outcome, first, second = crossed(1)
    with pytest.raises(BadInput, match="as many outcomes and labels"):
        two_way(design, outcome, first[:-1], second)
    with pytest.raises(BadInput, match="as many outcomes and labels"):
        two_way(outcome, outcome, first, second)
    with pytest.raises(BadInput, match="more than the 3 columns"):
        two_way(design[:3], outcome[:3], first[:3], second[:3])
    with pytest.raises(BadInput, match="independent"):
        two_way(np.column_stack([design, design[:, 1]]), outcome, first, second)
    with pytest.raises(BadInput, match="finite"):
        two_way(design, [float("nan"), *outcome[1:]], first, second)
