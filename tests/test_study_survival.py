"""Waiting times: Kaplan-Meier, log-rank, restricted means, and what is refused.

Each published value names where it was read.  "Recomputed only" marks values for which no
printed source could be found, which are then held by arithmetic in the test.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from study.estimates import BadInput, Interval, Unknown, WrongMethod
from study.spells import Ending, Spell, at_risk, first_start, rows, watched
from study.survival import (
    KaplanMeier,
    RestrictedMean,
    kaplan_meier,
    log_rank,
    mean_difference,
    mean_duration,
    restricted_mean,
)
from tests.study_data import AML, OVARIAN, pbc, spells

pytest.importorskip("lifelines", reason="the study extra is not installed")
pytest.importorskip("statsmodels", reason="the study extra is not installed")


def curve(data: Sequence[Spell], minimum: int = 10) -> KaplanMeier:
    found = kaplan_meier(data, minimum_at_risk=minimum)
    assert isinstance(found, KaplanMeier)
    return found


def mean(data: Sequence[Spell], tau: float) -> RestrictedMean:
    found = restricted_mean(curve(data, 1), tau)
    assert isinstance(found, RestrictedMean)
    return found


def lung(**where: int) -> tuple[Spell, ...]:
    """Days to death in lifelines' copy of R survival's `lung`, of the rows that match."""
    from lifelines.datasets import load_lung

    rows_ = load_lung().rename(columns={"ph.ecog": "ecog"}).to_dict("records")
    return tuple(
        Spell(float(row["time"]), "death" if row["status"] else None)
        for row in rows_
        if all(row[name] == value for name, value in where.items())
    )


# Published values


def test_the_product_limit_example_of_kaplan_and_meier() -> None:
    """The eight times are in public R code that repeats the 1958 example; S is recomputed
    only: 7/8, times 4/5, times 3/4, times 1/2."""
    found = curve(spells("0.8 1.0+ 2.7+ 3.1 5.4 7.0+ 9.2 12.1+"))
    assert [p.time for p in found.points] == [0.8, 3.1, 5.4, 9.2]
    assert [p.survival for p in found.points] == pytest.approx([0.875, 0.7, 0.525, 0.2625])


@pytest.mark.parametrize(
    ("arm", "survival", "errors", "median"),
    [
        (
            "Maintained",
            [0.909, 0.818, 0.716, 0.614, 0.491, 0.368, 0.184],
            [0.0867, 0.1163, 0.1397, 0.1526, 0.1642, 0.1627, 0.1535],
            31,
        ),
        (
            "Nonmaintained",
            [0.8333, 0.6667, 0.5833, 0.4861, 0.3889, 0.2917, 0.1944, 0.0972, 0.0],
            [0.1076, 0.1361, 0.1423, 0.1481, 0.1470, 0.1387, 0.1219, 0.0919, None],
            23,
        ),
    ],
)
def test_leukaemia_survival_by_arm(
    arm: str, survival: list[float], errors: list[float | None], median: float
) -> None:
    """therneau/survival, tests/doaml.Rout.save: summary(survfit(... ~ aml$x))."""
    found = curve(spells(AML[arm]))
    assert [p.survival for p in found.points] == pytest.approx(survival, abs=5.1e-4)
    told = [e if isinstance(e := p.standard_error, float) else None for p in found.points]
    assert told == [None if e is None else pytest.approx(e, abs=5e-5) for e in errors]
    assert found.median == median


def test_the_log_rank_test_of_the_leukaemia_arms() -> None:
    """therneau/survival, tests/doaml.Rout.save: survdiff, chi-squared 3.4, p 0.0653."""
    found = log_rank({arm: spells(written) for arm, written in AML.items()})
    assert [(g.observed, round(g.expected, 2)) for g in found.groups] == [(7, 10.69), (11, 7.31)]
    assert round(found.statistic, 1) == 3.4
    assert found.p == pytest.approx(0.0653, abs=5e-5)
    assert found.degrees == 1


@pytest.mark.parametrize(
    ("where", "counts", "median", "interval"),
    [
        ({}, (228, 165), 310, (284, 361)),  # the interval: recomputed only
        ({"sex": 1}, (138, 112), 270, (210, 306)),
        ({"sex": 2}, (90, 53), 426, (345, 524)),
    ],
)
def test_lung_cancer_medians_by_sex(
    where: dict[str, int],
    counts: tuple[int, int],
    median: float,
    interval: tuple[float, float],
) -> None:
    """R's printed survfit(... ~ sex, lung, conf.type = "log-log"), in a public analysis note of
    2019; the counts and medians are in many (with R's default interval, which is another)."""
    found = curve(lung(**where))
    assert (found.spells, found.events) == counts
    assert (found.median, found.median_low, found.median_high) == (median, *interval)


def test_the_log_rank_test_of_lung_cancer_by_sex() -> None:
    """survdiff as printed in Machine Learning with R Cookbook, second edition, "Using the
    log-rank test": expected 91.5817 and 73.4183, 10.3267, p 0.00131116."""
    found = log_rank({"male": lung(sex=1), "female": lung(sex=2)})
    assert [g.expected for g in found.groups] == pytest.approx([91.5817, 73.4183], abs=5e-5)
    assert found.statistic == pytest.approx(10.3267, abs=5e-5)
    assert found.p == pytest.approx(0.00131116, abs=5e-9)


def test_lung_cancer_by_performance_score() -> None:
    """therneau/survival, tests/Examples/survival-Ex.Rout.save: survfit(... ~ ph.ecog, lung)."""
    found = [curve(lung(ecog=score)) for score in range(4)]
    assert [(c.spells, c.events, c.median) for c in found] == [
        (63, 37, 394),
        (113, 82, 306),
        (50, 44, 199),
        (1, 1, 118),
    ]


def test_ovarian_cancer() -> None:
    """therneau/survival, tests/Examples/survival-Ex.Rout.save: summary(survfit) and survdiff,
    which prints 1.06 (to more places, 1.0627 is recomputed only)."""
    arms = {arm: spells(written) for arm, written in OVARIAN.items()}
    every = curve([spell for arm in arms.values() for spell in arm])
    assert every.median == 638
    assert every.at(638) == pytest.approx(0.497, abs=5e-4)
    assert every.points[-1].standard_error == pytest.approx(0.1051, abs=5e-5)
    test = log_rank(arms)
    assert [(g.observed, round(g.expected, 2)) for g in test.groups] == [(7, 5.23), (5, 6.77)]
    assert test.statistic == pytest.approx(1.0627, abs=5e-5)


def test_restricted_means_of_the_pbc_trial() -> None:
    """The difference of -0.137 years is in a public copy of survRM2's vignette (tau 10); the
    means, errors and interval are recomputed only."""
    treated, placebo = mean(pbc("1"), 10), mean(pbc("0"), 10)
    assert (treated.mean, treated.standard_error) == pytest.approx((7.146, 0.283), abs=5e-4)
    assert (placebo.mean, placebo.standard_error) == pytest.approx((7.283, 0.295), abs=5e-4)
    found = mean_difference(treated, placebo)
    assert found.difference == pytest.approx(-0.137, abs=5e-4)
    assert (found.interval.low, found.interval.high) == pytest.approx((-0.939, 0.665), abs=5e-4)


def test_a_restricted_mean_has_the_error_that_lifelines_misstates() -> None:
    """lifelines pull request 1526, comment of 2026-05-06: survRM2 gives 9.794, variance 0.0151,
    error 0.123 for miR-137 at 10, where lifelines reports 0.5164 as the variance."""
    from lifelines import KaplanMeierFitter
    from lifelines.datasets import load_waltons
    from lifelines.utils import restricted_mean_survival_time

    data = load_waltons()
    data = data[data["group"] == "miR-137"]
    watched_ = zip(data["T"], data["E"], strict=True)
    found = mean([Spell(float(time), "death" if died else None) for time, died in watched_], 10)
    assert (found.mean, found.standard_error) == pytest.approx((9.794, 0.123), abs=5e-4)
    assert found.standard_error**2 == pytest.approx(0.0151, abs=1e-4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = KaplanMeierFitter().fit(data["T"], data["E"])
        _, theirs = restricted_mean_survival_time(fitted, t=10, return_variance=True)
    assert theirs == pytest.approx(0.5164, abs=1e-4)


def test_the_blocker_of_the_source_paper_at_two_cutoffs() -> None:
    """The source paper's section 5.2: blocked at minute 3, repeated at 8 without a new origin,
    repaired at 10; at minute 9 six minutes have gone by and nothing has recovered."""
    repaired = [Ending(at=10 - 3, sequence=8, cause="recovered")]
    assert watched(repaired, until=11 - 3) == Spell(7, "recovered")
    assert watched(repaired, until=9 - 3) == Spell(6, None)


def test_delayed_entry_is_what_lifelines_statsmodels_and_a_hand_say() -> None:
    """Sixty drawn rows: three computations of the same curve (recomputed only)."""
    import numpy as np
    from statsmodels.duration.survfunc import SurvfuncRight

    draw = np.random.default_rng(4)
    entries = draw.exponential(1, 60)
    exits = entries + draw.exponential(2, 60)
    ended = draw.random(60) < 0.7
    data = [
        Spell(float(x), "event" if e else None, float(n))
        for n, x, e in zip(entries, exits, ended, strict=True)
    ]
    found = curve(data)
    kept = exits > found.start
    assert found.start > 0
    assert found.before_start == 60 - kept.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = SurvfuncRight(
            exits[kept], ended[kept], entry=np.maximum(entries[kept], found.start)
        )
    assert [p.survival for p in found.points] == pytest.approx(theirs.surv_prob, abs=1e-12)
    assert [float(s) for s in by_hand(data, found.start).values()] == pytest.approx(
        theirs.surv_prob, abs=1e-12
    )


# What lifelines does otherwise


def test_the_median_of_six_events_is_the_third() -> None:
    """lifelines compares a product of floats with one half, and calls the fourth the median."""
    from lifelines import KaplanMeierFitter

    assert KaplanMeierFitter().fit(range(1, 7)).median_survival_time_ == 4
    assert curve([Spell(t, "event") for t in range(1, 7)]).median == 3


def test_a_curve_that_a_thin_early_risk_set_would_end_starts_later() -> None:
    from lifelines import KaplanMeierFitter
    from lifelines.exceptions import StatError

    thin = [Spell(1, "event"), Spell(2, "event", 1.5)]
    data = [*thin, *(Spell(10 + i, "event", 3 + i) for i in range(4))]
    with pytest.raises(StatError):
        KaplanMeierFitter().fit([s.exit for s in data], entry=[s.entry for s in data])
    found = curve(data, 2)
    assert (found.start, found.before_start, found.spells) == (4, 2, 4)
    assert found.at(3) == Unknown("too few are at risk before 4")
    assert found.at(13) == 0


# Laws

FEWER: Final = settings(max_examples=40)  # each example fits a curve through pandas
WHOLE: Final = st.integers(0, 12)
MAYBE: Final = st.sampled_from(["recovered", "cancelled", None])


@st.composite
def drawn_spells(draw: st.DrawFn, delayed: bool = False) -> list[Spell]:
    def spell() -> Spell:
        entry = draw(st.integers(0, 6)) if delayed else 0
        return Spell(entry + draw(st.integers(1 if entry else 0, 9)), draw(MAYBE), entry)

    return [spell() for _ in range(draw(st.integers(1, 25)))]


def by_hand(data: Sequence[Spell], start: float) -> dict[float, Fraction]:
    """S after each event time, from the definition and in exact arithmetic."""
    left = Fraction(1)
    found = {}
    for time in sorted({s.exit for s in data if s.cause and (s.exit > start or not start)}):
        risk = [s for s in data if (s.entry < time or s.entry == 0) and time <= s.exit]
        ended = sum(s.exit == time and s.cause is not None for s in risk)
        left *= Fraction(len(risk) - ended, len(risk))
        found[time] = left
    return found


@FEWER
@given(st.lists(WHOLE, min_size=1, max_size=30))
def test_without_censoring_survival_is_the_share_beyond(times: list[int]) -> None:
    found = curve([Spell(time, "event") for time in times])
    beyond = [sum(t > p.time for t in times) / len(times) for p in found.points]
    assert [p.survival for p in found.points] == pytest.approx(beyond, abs=1e-12)
    median = sorted(times)[(len(times) - 1) // 2]
    assert found.median == median


@FEWER
@given(drawn_spells(delayed=True))
def test_survival_is_what_the_definition_gives(data: list[Spell]) -> None:
    found = kaplan_meier(data, minimum_at_risk=2)
    if isinstance(found, Unknown):
        assert "fewer than 2 are at risk" in found.reason
        return
    exact = by_hand(data, found.start)
    assert {p.time: p.survival for p in found.points} == pytest.approx(
        {time: float(left) for time, left in exact.items()}, abs=1e-12
    )
    if found.start:
        assert at_risk(data, [found.start + 0.5])[0] >= 2


@FEWER
@given(drawn_spells(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(data: list[Spell], random: object) -> None:
    shuffled = list(data)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert kaplan_meier(shuffled) == kaplan_meier(data)


@FEWER
@given(drawn_spells(delayed=True))
def test_no_number_is_ever_nan(data: list[Spell]) -> None:
    found = kaplan_meier(data, minimum_at_risk=1)
    if isinstance(found, Unknown):
        return
    for point in found.points:
        match point.interval:
            case Interval(low=low, high=high):
                assert 0 <= low <= point.survival <= high <= 1
            case Unknown():
                assert point.survival == 0


@FEWER
@given(st.lists(st.integers(0, 20), min_size=2, max_size=30), st.integers(1, 25))
def test_without_censoring_the_restricted_mean_and_its_variance_are_the_plain_ones(
    times: list[int], tau: int
) -> None:
    cut = [min(time, tau) for time in times]
    average = sum(cut) / len(cut)
    found = mean([Spell(time, "event") for time in times], tau)
    assert found.mean == pytest.approx(average, abs=1e-9)
    spread = sum((value - average) ** 2 for value in cut) / len(cut) ** 2
    assert found.standard_error**2 == pytest.approx(spread, abs=1e-9)


@FEWER
@given(drawn_spells(), st.integers(1, 9))
def test_a_restricted_mean_is_the_area_under_the_curve(data: list[Spell], tau: int) -> None:
    found = restricted_mean(curve(data), tau)
    exact = by_hand(data, 0)
    if isinstance(found, Unknown):
        assert tau > max(spell.exit for spell in data)
        return
    edges = [0.0, *(t for t in exact if t <= tau), float(tau)]
    heights = [Fraction(1), *(s for t, s in exact.items() if t <= tau)]
    area = sum(float(h) * (b - a) for h, (a, b) in zip(heights, pairwise(edges), strict=True))
    assert found.mean == pytest.approx(area, abs=1e-9)


@FEWER
@given(st.lists(drawn_spells(), min_size=2, max_size=4))
def test_a_log_rank_test_expects_as_many_events_as_there_were(groups: list[list[Spell]]) -> None:
    if not any(spell.cause for group in groups for spell in group):
        return
    found = log_rank({str(index): group for index, group in enumerate(groups)})
    assert sum(g.expected for g in found.groups) == pytest.approx(
        sum(g.observed for g in found.groups)
    )


# What is unknown, and what is refused


def test_a_median_that_is_not_reached_is_unknown_and_says_so() -> None:
    found = curve(spells("1 2+ 3+ 4+"))
    assert isinstance(found.median, Unknown)
    assert found.median.reason.startswith("not reached")
    assert found.at(5) == Unknown("nobody is watched after 4.0")
    assert restricted_mean(found, 5) == Unknown("nobody is watched after 4.0")


def test_where_everyone_has_ended_the_curve_is_0_for_good_and_its_band_unknown() -> None:
    found = curve(spells("1 2"))
    assert found.at(100) == 0
    assert found.points[-1].interval == found.points[-1].standard_error
    assert isinstance(found.points[-1].interval, Unknown)
    assert mean(spells("1 2"), 100).mean == 1.5


def test_too_few_at_risk_is_unknown_and_not_a_curve() -> None:
    assert kaplan_meier([Spell(3, "event", 1), Spell(4, None, 2)]) == Unknown(
        "fewer than 10 are at risk at every time from which it could be read"
    )


def test_one_minus_kaplan_meier_with_cancellations_censored_is_refused() -> None:
    with pytest.raises(WrongMethod, match=r"'cancelled'.*overstates.*aalen_johansen") as refused:
        kaplan_meier([Spell(1, "recovered"), Spell(2, "cancelled")], "recovered")
    assert refused.value.instead.startswith("study.incidence")
    alone = [Spell(1, "recovered"), Spell(2, None)]
    assert kaplan_meier(alone, "recovered") == kaplan_meier(alone)


@pytest.mark.parametrize(
    "other", [Spell(9, None), Spell(9, "cancelled"), Spell(9, "recovered", entry=1)]
)
def test_a_mean_over_recovered_episodes_only_is_refused(other: Spell) -> None:
    recovered = [Spell(2, "recovered"), Spell(4, "recovered")]
    assert mean_duration(recovered, "recovered") == 3
    with pytest.raises(WrongMethod, match=r"1 of 3 did not.*restricted_mean"):
        mean_duration([*recovered, other], "recovered")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([], "spells: found 0, expected at least one"),
        ([Spell(1), Spell(-1)], "spell 1: .*expected times of 0 or later"),
        ([Spell(3, "event", -1)], "spell 0: .*expected times of 0 or later"),
        ([Spell(3, "event", 3)], "spell 0: .*expected an entry before the exit"),
        ([Spell(float("nan"))], "spell 0: .*expected finite times"),
        ([Spell(float("inf"))], "spell 0: .*expected finite times"),
    ],
)
def test_impossible_spells_are_refused(data: list[Spell], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        kaplan_meier(data)


def test_other_impossible_requests_are_refused() -> None:
    some = spells("1 2 3+")
    with pytest.raises(BadInput, match="level"):
        kaplan_meier(some, level=95)
    with pytest.raises(BadInput, match="tau: found 0, expected a time after"):
        restricted_mean(curve(some), 0)
    with pytest.raises(BadInput, match="groups: found 1"):
        log_rank({"one": some})
    with pytest.raises(BadInput, match="delayed entry"):
        log_rank({"one": some, "other": [Spell(2, None, 1)]})
    with pytest.raises(BadInput, match="no event"):
        log_rank({"one": spells("1+"), "other": spells("2+")})
    with pytest.raises(BadInput, match="times"):
        mean_difference(mean(some, 2), mean(some, 3))


# Spells


def test_of_two_endings_at_one_time_the_one_recorded_first_is_the_end() -> None:
    recovered, cancelled = Ending(5, 7, "recovered"), Ending(5, 6, "cancelled")
    assert watched([recovered, cancelled], until=9) == Spell(5, "cancelled")
    assert watched([recovered, cancelled], until=5) == Spell(5, "cancelled")
    assert watched([recovered, cancelled], until=4, entry=1) == Spell(4, None, 1)


def test_an_episode_that_ended_at_once_counts_at_0() -> None:
    data = [Spell(0, "event"), Spell(0), Spell(2, "event"), Spell(3, None, 1)]
    assert [(row.time, row.at_risk, row.events) for row in rows(data)] == [(0, 3, 1), (2, 2, 1)]
    assert at_risk(data, [0, 1, 1.5, 3, 4]) == (3, 1, 2, 1, 0)


def test_the_start_is_the_first_entry_with_enough_at_risk_and_no_gap_after() -> None:
    steady = [Spell(9, "event", i) for i in range(1, 6)]
    assert first_start(steady, 3) == 3
    assert first_start([*steady, Spell(5)], 3) == 2
    assert first_start([Spell(2, "event"), *steady[2:]], 1) == 3
    assert first_start([Spell(1), Spell(2)], 9) == 0.0
