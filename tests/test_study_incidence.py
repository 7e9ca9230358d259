"""Competing endings: Aalen-Johansen, its variance and interval, and time lost."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from study.estimates import BadInput, Interval, Unknown
from study.incidence import AalenJohansen, TimeLost, aalen_johansen, time_lost
from study.spells import Row, Spell, at_risk, rows
from study.survival import KaplanMeier, kaplan_meier
from tests.study_data import bmt, mgus2

CAUSES: Final = ("recovered", "cancelled")
STUDY_EXTRA: Final = "the study extra is not installed"


def curves(
    data: Sequence[Spell], causes: Sequence[str] = CAUSES, minimum: int = 10
) -> AalenJohansen:
    found = aalen_johansen(data, causes, minimum_at_risk=minimum)
    assert isinstance(found, AalenJohansen)
    return found


def lost(found: AalenJohansen, cause: str, tau: float) -> float:
    answer = time_lost(found, cause, tau)
    assert isinstance(answer, TimeLost)
    return answer.mean


# Published values


def test_the_example_that_survival_computes_by_hand() -> None:
    """therneau/survival, tests/testci.Rout.save: byhand()."""
    written = [(1, 0), (2, 1), (2, 0), (3, 2), (3, 0), (3, 2), (5, 0), (6, 2)]
    data = [Spell(t, {0: None, 1: "one", 2: "two"}[cause]) for t, cause in written]
    found = curves(data, ("one", "two"))
    assert at_risk(data, [1, 2, 3, 5, 6]) == (8, 7, 5, 2, 1)
    expected = {2: ("6/7", "1/7", "0"), 3: ("18/35", "1/7", "12/35"), 6: ("0", "1/7", "6/7")}
    for time, state in expected.items():
        told = (dict(found.open)[time], found.at("one", time), found.at("two", time))
        assert told == pytest.approx([float(Fraction(share)) for share in state])


@pytest.mark.parametrize(
    ("years", "incidence", "error", "low", "high"),
    [
        (1, 0.0741, 0.0360, 0.0234, 0.1646),
        (1.5, 0.1296, 0.0463, 0.0563, 0.2344),
        (2, 0.1481, 0.0489, 0.0685, 0.2565),
        (3, 0.1667, 0.0514, 0.0813, 0.2783),
    ],
)
def test_relapse_after_transplant_in_the_low_risk_group(
    years: float, incidence: float, error: float, low: float, high: float
) -> None:
    """PSIAIMS/CAMIS, frozen output of R/survival_cif (tidycmprsk::cuminc: Aalen's variance, log-log
    interval), AML-Low Risk, relapse."""
    found = curves(bmt("AML-Low"), ("relapse", "death")).of("relapse")
    point = [p for p in found.points if p.time <= years][-1]
    assert isinstance(point.interval, Interval)
    told = (point.incidence, point.standard_error, point.interval.low, point.interval.high)
    assert told == pytest.approx((incidence, error, low, high), abs=5e-5)


def test_relapse_before_the_first_one_is_0() -> None:
    """The same output: 0.0000 at half a year."""
    assert curves(bmt("AML-Low"), ("relapse", "death")).at("relapse", 0.5) == 0


def test_malignancy_and_death_in_gammopathy() -> None:
    """1,384 patients (R survival, vignette "Multi-state models and competing risks"); the counts
    by ending and the incidences are recomputed only."""
    data = mgus2()
    found = curves(data, ("pcm", "death"))
    assert len(data) == 1384
    assert [cause.events for cause in found.causes] == [115, 860]
    pcm = [found.at("pcm", months) for months in (60, 120, 240)]
    assert pcm == pytest.approx([0.03410, 0.06372, 0.09981], abs=5e-6)
    death = [found.at("death", months) for months in (60, 120, 240)]
    assert death == pytest.approx([0.32037, 0.53182, 0.72403], abs=5e-6)


def test_how_men_with_gammopathy_spend_twenty_years() -> None:
    """The same vignette's text: 8.7 years in the entry state, 1.1 with malignancy, 10.3 dead."""
    found = curves(mgus2("M"), ("pcm", "death"))
    years = [lost(found, cause, 240) / 12 for cause in ("pcm", "death")]
    assert years == pytest.approx([1.1, 10.3], abs=0.05)
    assert 20 - sum(years) == pytest.approx(8.7, abs=0.05)


# Other implementations


def test_statsmodels_finds_the_same_incidence_in_data_full_of_ties() -> None:
    pytest.importorskip("statsmodels", reason=STUDY_EXTRA)
    from statsmodels.duration.survfunc import CumIncidenceRight

    data = mgus2()
    codes = {None: 0, "pcm": 1, "death": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its standard errors, where everyone has ended
        theirs = CumIncidenceRight([s.exit for s in data], [codes[s.cause] for s in data])
    found = curves(data, ("pcm", "death"))
    for cause, incidence in zip(("pcm", "death"), theirs.cinc, strict=True):
        told = [found.at(cause, time) for time in theirs.times]
        assert told == pytest.approx(list(incidence), abs=1e-9)


def test_lifelines_moves_ties_and_so_depends_on_chance() -> None:
    pytest.importorskip("lifelines", reason=STUDY_EXTRA)
    from lifelines import AalenJohansenFitter

    data = mgus2()
    codes = {None: 0, "pcm": 1, "death": 2}

    def theirs(seed: int) -> float:
        fitter = AalenJohansenFitter(seed=seed, calculate_variance=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitter.fit([s.exit for s in data], [codes[s.cause] for s in data], event_of_interest=1)
        return float(fitter.cumulative_density_.loc[:60].iloc[-1, 0])

    ours = curves(data, ("pcm", "death")).at("pcm", 60)
    assert theirs(1) != theirs(2)
    assert theirs(1) != pytest.approx(ours, abs=1e-4)


# Laws


@st.composite
def drawn_spells(draw: st.DrawFn, delayed: bool = False, censored: bool = True) -> list[Spell]:
    causes = st.sampled_from([*CAUSES, None] if censored else [*CAUSES])

    def spell() -> Spell:
        entry = draw(st.integers(0, 6)) if delayed else 0
        return Spell(entry + draw(st.integers(1 if entry else 0, 9)), draw(causes), entry)

    return [spell() for _ in range(draw(st.integers(1, 25)))]


def by_hand(data: Sequence[Spell], start: float, cause: str) -> dict[float, Fraction]:
    """F of a cause after each event time, from the definition and in exact arithmetic."""
    left, reached = Fraction(1), Fraction(0)
    found = {}
    for time in sorted({s.exit for s in data if s.cause and (s.exit > start or not start)}):
        risk = [s for s in data if (s.entry < time or s.entry == 0) and time <= s.exit]
        ended = [s.cause for s in risk if s.exit == time and s.cause]
        reached += left * Fraction(ended.count(cause), len(risk))
        left *= 1 - Fraction(len(ended), len(risk))
        found[time] = reached
    return found


@given(drawn_spells(delayed=True))
def test_incidence_is_what_the_definition_gives(data: list[Spell]) -> None:
    found = aalen_johansen(data, CAUSES, minimum_at_risk=2)
    if isinstance(found, Unknown):
        assert "fewer than 2 are at risk" in found.reason
        return
    for cause in CAUSES:
        exact = by_hand(data, found.start, cause)
        told = {time: found.at(cause, time) for time in exact}
        assert told == pytest.approx({t: float(f) for t, f in exact.items()}, abs=1e-12)


@given(drawn_spells())
def test_what_ended_each_way_and_what_is_open_make_one(data: list[Spell]) -> None:
    found = curves(data)
    for time, share in found.open:
        told = [found.at(cause, time) for cause in CAUSES]
        assert share + sum(value for value in told if isinstance(value, float)) == pytest.approx(1)


@settings(max_examples=40)  # each example fits a curve through pandas
@given(drawn_spells(delayed=True))
def test_what_is_open_is_kaplan_meier_of_every_ending(data: list[Spell]) -> None:
    pytest.importorskip("lifelines", reason=STUDY_EXTRA)
    found = aalen_johansen(data, CAUSES, minimum_at_risk=2)
    whole = kaplan_meier(data, minimum_at_risk=2)
    if isinstance(found, Unknown):
        assert whole == found
        return
    assert isinstance(whole, KaplanMeier)
    assert dict(found.open) == pytest.approx({p.time: p.survival for p in whole.points})


@given(drawn_spells(censored=False))
def test_without_censoring_incidence_is_the_share_that_ended_so(data: list[Spell]) -> None:
    found = curves(data)
    for cause in CAUSES:
        for time in {spell.exit for spell in data}:
            share = sum(s.cause == cause and s.exit <= time for s in data) / len(data)
            assert found.at(cause, time) == pytest.approx(share)


@given(drawn_spells(delayed=True), st.integers())
def test_the_order_of_rows_changes_nothing(data: list[Spell], seed: int) -> None:
    shuffled = Random(seed).sample(data, len(data))
    assert aalen_johansen(shuffled, CAUSES, minimum_at_risk=1) == aalen_johansen(
        data, CAUSES, minimum_at_risk=1
    )


def aalen(table: Sequence[Row], open_before: Sequence[float], cause: str) -> list[float]:
    """Aalen's standard error of F at each time, as the sum that it is defined by."""
    reached = [0.0]
    for row, share in zip(table, open_before, strict=True):
        reached.append(reached[-1] + share * row.ended.get(cause, 0) / row.at_risk)
    errors = []
    for upto in range(len(table)):
        total = 0.0
        for row, share, f in zip(table[: upto + 1], open_before, reached[1:], strict=False):
            n, d, k = row.at_risk, row.events, row.ended.get(cause, 0)
            rest = reached[upto + 1] - f
            if n > 1:
                total += share**2 * k * (n - k) / (n**2 * (n - 1))
            if n > d:
                total += rest**2 * d / ((n - 1) * (n - d))
                total -= 2 * rest * share * k * (n - d) / (n * (n - d) * (n - 1))
        errors.append(sqrt(max(total, 0.0)))
    return errors


@given(drawn_spells())
def test_the_variance_in_one_pass_is_the_double_sum(data: list[Spell]) -> None:
    found = curves(data)
    table = rows(data)
    before = [1.0, *(share for _, share in found.open)]
    for incidence in found.causes:
        errors = dict(
            zip(
                (row.time for row in table),
                aalen(table, before[:-1], incidence.cause),
                strict=True,
            )
        )
        for point in incidence.points:
            assert point.standard_error**2 == pytest.approx(errors[point.time] ** 2, abs=1e-12)
            match point.interval:
                case Interval(low=low, high=high):
                    assert 0 <= low <= point.incidence <= high <= 1
                case Unknown():
                    assert point.incidence == pytest.approx(1)


@given(drawn_spells(censored=False), st.integers(1, 12))
def test_time_lost_without_censoring_is_the_plain_mean(data: list[Spell], tau: int) -> None:
    found = curves(data)
    for cause in CAUSES:
        plain = sum(max(tau - s.exit, 0) for s in data if s.cause == cause) / len(data)
        assert lost(found, cause, tau) == pytest.approx(plain, abs=1e-9)


# What is unknown, and what is refused


def test_cancellation_is_no_censoring() -> None:
    """Of four episodes two are cancelled first: half recover, where 1 - KM would say all."""
    data = [
        Spell(1, "cancelled"),
        Spell(2, "cancelled"),
        Spell(3, "recovered"),
        Spell(4, "recovered"),
    ]
    assert curves(data).at("recovered", 9) == 0.5


def test_after_the_last_who_is_watched_nothing_is_known() -> None:
    found = curves([Spell(1, "recovered"), Spell(3)])
    assert found.at("recovered", 3) == 0.5
    assert found.at("cancelled", 3) == 0
    assert found.at("recovered", 4) == Unknown("nobody is watched after 3")
    assert time_lost(found, "recovered", 4) == Unknown("nobody is watched after 3")


def test_delayed_entry_starts_where_enough_are_at_risk() -> None:
    data = [Spell(2, "recovered", 1), *(Spell(9, "cancelled", i) for i in (3, 4, 5))]
    found = curves(data, minimum=3)
    assert (found.start, found.before_start, found.spells, found.last) == (5, 1, 3, 9)
    assert found.at("recovered", 4) == Unknown("too few are at risk before 5")
    assert found.at("cancelled", 9) == 1
    assert isinstance(found.of("cancelled").points[0].interval, Unknown)
    assert isinstance(aalen_johansen(data, CAUSES), Unknown)


def test_what_cannot_be_is_refused() -> None:
    data = [Spell(1, "recovered"), Spell(2, "lost")]
    with pytest.raises(BadInput, match="cause of spell 1: found 'lost'"):
        aalen_johansen(data, CAUSES)
    with pytest.raises(BadInput, match="causes: found "):
        aalen_johansen(data, [])
    with pytest.raises(BadInput, match="each once"):
        aalen_johansen(data, ["lost", "lost"])
    with pytest.raises(BadInput, match="spells: found 0"):
        aalen_johansen([], CAUSES)
    with pytest.raises(BadInput, match="cause: found 'lost', expected one of 'recovered'"):
        curves(data[:1]).of("lost")
    with pytest.raises(BadInput, match="tau: found 0"):
        time_lost(curves(data[:1]), "recovered", 0)
