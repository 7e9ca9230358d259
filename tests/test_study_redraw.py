"""Curves redrawn by cluster: each draw's are those of the repeated spells, and the intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf, isnan, nan, sqrt
from random import Random
from typing import Final

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from study import redraw
from study.bootstrap import ALL_THE_SAME, ONE_CLUSTER, cluster_bootstrap
from study.estimates import ROUNDING, BadInput, Interval, Number, Range, Unknown
from study.incidence import AalenJohansen, TimeLost, aalen_johansen, time_lost
from study.redraw import Key, Redrawn, arranged, difference, percentiles, redrawn, statistics
from study.spells import Spell, at_risk, rows
from study.survival import KaplanMeier, RestrictedMean, kaplan_meier, restricted_mean

np = pytest.importorskip("numpy", reason="the study extra is not installed")

CAUSES: Final = ("recovered", "cancelled")
TIMES: Final = tuple(half / 2 for half in range(34))
LAST: Final = 16


@st.composite
def drawn_spells(draw: st.DrawFn) -> list[Spell]:
    """Small whole times, so that causes tie; some end where they began, at 0."""

    def spell() -> Spell:
        entry = draw(st.sampled_from([0, 0, 0, 1, 2, 5]))
        length = draw(st.integers(1 if entry else 0, 9))
        return Spell(entry + length, draw(st.sampled_from([*CAUSES, None])), entry)

    return [spell() for _ in range(draw(st.integers(1, 15)))]


counted: Final = drawn_spells().flatmap(
    lambda data: st.tuples(
        st.just(data), st.lists(st.integers(0, 3), min_size=len(data), max_size=len(data))
    )
)


def repeated(data: Sequence[Spell], counts: Sequence[int]) -> list[Spell]:
    return [spell for spell, count in zip(data, counts, strict=True) for _ in range(count)]


def one_draw(
    data: Sequence[Spell], counts: Sequence[int], start: float, tau: float = LAST
) -> dict[Key, float]:
    """What one draw says when each spell is its own cluster and was drawn `counts` times."""
    kept = [index for index, spell in enumerate(data) if start == 0 or spell.exit > start]
    weights = np.array([[counts[index] for index in kept]], dtype=np.float64)
    found = statistics(arranged(data, range(len(data)), CAUSES, start), weights, tau, TIMES)
    return {key: float(value) for key, (value,) in found.items()}


def told(value: Number) -> float:
    return nan if isinstance(value, Unknown) else value


def mean(value: TimeLost | RestrictedMean | Unknown) -> float:
    return nan if isinstance(value, Unknown) else value.mean


# One draw


@given(counted, st.integers(1, LAST))
def test_a_draw_has_the_incidence_of_the_spells_repeated(
    drawn: tuple[list[Spell], list[int]], beyond: int
) -> None:
    data, counts = drawn
    assume(any(counts))
    whole = aalen_johansen(repeated(data, counts), CAUSES, minimum_at_risk=1)
    assume(isinstance(whole, AalenJohansen))
    assert isinstance(whole, AalenJohansen)
    tau = whole.start + beyond
    found = one_draw(data, counts, whole.start, tau)
    for cause in CAUSES:
        theirs = [told(whole.at(cause, time)) for time in TIMES]
        assert [found["at", cause, time] for time in TIMES] == pytest.approx(theirs, nan_ok=True)
        lost = mean(time_lost(whole, cause, tau))
        assert found["area", cause, None] == pytest.approx(lost, nan_ok=True)
        half = (p.time for p in whole.of(cause).points if p.incidence >= 0.5 - ROUNDING)
        assert found["median", cause, None] == next(half, inf)


@settings(max_examples=40)  # each example fits a curve through pandas
@given(counted, st.integers(1, LAST))
def test_a_draw_has_the_survival_of_the_spells_repeated(
    drawn: tuple[list[Spell], list[int]], beyond: int
) -> None:
    pytest.importorskip("lifelines", reason="the study extra is not installed")
    data, counts = drawn
    assume(any(counts))
    whole = kaplan_meier(repeated(data, counts), minimum_at_risk=1)
    assume(isinstance(whole, KaplanMeier))
    assert isinstance(whole, KaplanMeier)
    tau = whole.start + beyond
    found = one_draw(data, counts, whole.start, tau)
    theirs = [told(whole.at(time)) for time in TIMES]
    assert [found["at", None, time] for time in TIMES] == pytest.approx(theirs, nan_ok=True)
    area = mean(restricted_mean(whole, tau))
    assert found["area", None, None] == pytest.approx(area, nan_ok=True)
    median = inf if isinstance(whole.median, Unknown) else whole.median
    assert found["median", None, None] == median


def by_hand(data: Sequence[Spell], start: float) -> dict[float, float]:
    """S at each of TIMES from `start` on, NaN as soon as the risk set has run out.

    Times are whole: whoever is at risk between two of them is at risk half-way.
    """
    table = {row.time: row for row in rows(data, start)}
    awaited_at = max(spell.entry for spell in data)
    survival = 1.0
    found = {}
    for time in [time for time in TIMES if time >= start]:
        (risk,) = at_risk(data, [time], start)
        row = table.get(time)
        if row is not None and not isnan(survival):
            survival *= (row.at_risk - row.events) / row.at_risk
        if (survival == 0 and awaited_at >= max(time, 0.5)) or (
            survival > 0 and risk == 0 and time > start
        ):
            survival = nan
        found[time] = survival
    return found


@given(counted, st.integers(0, 5))
def test_a_draw_is_unknown_from_where_its_risk_set_runs_out(
    drawn: tuple[list[Spell], list[int]], start: int
) -> None:
    data, counts = drawn
    going_on = [n for spell, n in zip(data, counts, strict=True) if not start or spell.exit > start]
    assume(any(going_on))
    kept = [spell for spell in repeated(data, counts) if not start or spell.exit > start]
    found = one_draw(data, counts, start)
    exact = by_hand(kept, start)
    assert [found["at", None, time] for time in exact] == pytest.approx(
        [*exact.values()], nan_ok=True
    )
    before = [found["at", cause, time] for cause in (None, *CAUSES) for time in range(start)]
    assert all(map(isnan, before))
    for time in exact:
        shares = sum(found["at", cause, time] for cause in (None, *CAUSES))
        assert isnan(exact[time]) or shares == pytest.approx(1)
    areas = sum(found["area", cause, None] for cause in (None, *CAUSES))
    assert areas == pytest.approx(nan if isnan(exact[LAST]) else LAST - start, nan_ok=True)


def test_everyone_ending_while_others_have_yet_to_enter_leaves_a_draw_unknown() -> None:
    data = [Spell(2, "recovered"), Spell(9, "cancelled", 4), Spell(3)]
    gone = one_draw(data, [1, 1, 0], 0)
    assert [gone["at", None, time] for time in (0, 1.5)] == [1, 1]
    assert all(isnan(gone["at", cause, 2]) for cause in (None, "recovered", "cancelled"))
    assert gone["median", None, None] == gone["median", "recovered", None] == inf
    up_to_then = one_draw(data, [1, 1, 0], 0, tau=2)
    assert isnan(up_to_then["area", None, None])
    emptied = one_draw(data, [0, 1, 1], 0)
    assert emptied["at", None, 3] == 1
    assert isnan(emptied["at", None, 3.5])
    assert isnan(emptied["area", None, None])
    done = one_draw(data, [1, 0, 0], 0)
    assert (done["at", None, 16], done["at", "recovered", 16]) == (0, 1)
    assert (done["area", None, None], done["area", "recovered", None]) == (2, 14)


def test_one_half_is_reached_whatever_sums_of_shares_round_to() -> None:
    for spells in range(2, 40, 2):
        data = [Spell(time, "recovered") for time in range(1, spells + 1)]
        found = one_draw(data, [1] * spells, 0)
        assert found["median", "recovered", None] == found["median", None, None] == spells / 2


# Intervals


def exponential(count: int, seed: int = 1) -> list[Spell]:
    """Ended by two causes (rates 0.07, 0.03), or censored (rate 0.03), whichever comes first."""
    draw = Random(seed)

    def spell() -> Spell:
        rates = {"recovered": 0.07, "cancelled": 0.03, None: 0.03}
        return min(
            (Spell(draw.expovariate(rate), cause) for cause, rate in rates.items()),
            key=lambda one: one.exit,
        )

    return [spell() for _ in range(count)]


def drawing(
    data: Sequence[Spell],
    clusters: Sequence[object],
    *,
    start: float = 0,
    tau: float = 8,
    times: Sequence[float] = (4, 8),
    seed: int = 1,
    draws: int = 200,
    level: float = 0.95,
) -> Redrawn:
    return redrawn(
        data,
        clusters,
        CAUSES,
        start=start,
        tau=tau,
        times=times,
        seed=seed,
        draws=draws,
        level=level,
    )


def told_by(found: Redrawn) -> list[Range]:
    by_cause = [
        answer
        for cause in CAUSES
        for answer in (
            found.incidence(cause, 4),
            found.incidence(cause, 8),
            found.time_lost(cause),
            found.median_of(cause),
        )
    ]
    whole = [found.waiting(4), found.waiting(8), found.restricted_mean, found.median_waiting]
    return [*whole, *by_cause]


def ends(interval: Range) -> tuple[float, float]:
    assert isinstance(interval, Interval)
    return interval.low, interval.high


def test_the_intervals_are_those_of_drawing_one_by_one() -> None:
    data = exponential(60)
    clusters = [data[first : first + 3] for first in range(0, 60, 3)]
    found = drawing(data, [index // 3 for index in range(60)], draws=150, seed=7)

    def curves(drawn: Sequence[Spell]) -> AalenJohansen:
        whole = aalen_johansen(drawn, CAUSES)
        assert isinstance(whole, AalenJohansen)
        return whole

    def one_by_one(statistic: Callable[[AalenJohansen], Number]) -> tuple[float, float]:
        told = cluster_bootstrap(clusters, lambda d: statistic(curves(d)), seed=7, draws=150)
        assert told.method == "percentile"
        return ends(told.interval)

    pytest.importorskip("scipy", reason="the study extra is not installed")
    assert ends(found.incidence("recovered", 8)) == pytest.approx(
        one_by_one(lambda whole: whole.at("recovered", 8))
    )
    assert ends(found.time_lost("cancelled")) == pytest.approx(
        one_by_one(lambda whole: mean(time_lost(whole, "cancelled", 8)))
    )
    assert ends(found.median_waiting) == pytest.approx(
        one_by_one(lambda whole: next(t for t, share in whole.open if share <= 0.5 + ROUNDING))
    )


def test_the_same_seed_gives_the_same_draws_and_another_others() -> None:
    data = exponential(40)
    clusters = [index % 11 for index in range(40)]
    first = drawing(data, clusters, seed=3)
    assert told_by(drawing(data, clusters, seed=3)) == told_by(first)
    assert drawing(data, clusters, seed=4).restricted_mean != first.restricted_mean
    assert (first.draws, first.seed, first.clusters, first.level) == (200, 3, 11, 0.95)


@pytest.mark.parametrize("cells", [1, 299, 1_000])
def test_how_many_are_drawn_at_once_changes_nothing(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = exponential(40)
    clusters = [index % 11 for index in range(40)]
    whole = drawing(data, clusters)
    monkeypatch.setattr(redraw, "CELLS", cells)
    parts = drawing(data, clusters)
    assert {*parts.draws_of} == {*whole.draws_of}
    for key, values in whole.draws_of.items():
        assert np.array_equal(parts.draws_of[key], values, equal_nan=True)


def greenwood(data: Sequence[Spell], time: float) -> float:
    survival, total = 1.0, 0.0
    for row in rows(data):
        if row.time <= time:
            survival *= 1 - row.events / row.at_risk
            total += row.events / (row.at_risk * (row.at_risk - row.events))
    return survival * sqrt(total)


def test_spells_drawn_one_by_one_vary_as_greenwood_and_aalen_say() -> None:
    data = exponential(500, seed=2)
    found = drawing(data, range(500), draws=2_000, times=(2, 8, 15), tau=15)
    curves = aalen_johansen(data, CAUSES)
    assert isinstance(curves, AalenJohansen)
    for time in (2, 8, 15):
        spread = found.draws_of["at", None, time].std()
        assert spread == pytest.approx(greenwood(data, time), rel=0.15)
        for cause in CAUSES:
            point = [p for p in curves.of(cause).points if p.time <= time][-1]
            spread = found.draws_of["at", cause, time].std()
            assert spread == pytest.approx(point.standard_error, rel=0.15)


def test_repeating_what_a_cluster_holds_narrows_nothing() -> None:
    data = exponential(30)
    clusters = [index // 2 for index in range(30)]
    once, often = drawing(data, clusters), drawing(data * 5, clusters * 5)
    for few, many in zip(told_by(once), told_by(often), strict=True):
        if isinstance(few, Unknown):
            assert many == few
        else:
            assert ends(many) == pytest.approx(ends(few))
    apart = drawing(data * 5, range(150))
    narrow, wide = ends(apart.restricted_mean), ends(once.restricted_mean)
    assert narrow[1] - narrow[0] < 0.7 * (wide[1] - wide[0])


def test_a_wider_level_has_wider_ends() -> None:
    levels = (0.5, 0.8, 0.95)
    told = [ends(drawing(exponential(40), range(40), level=x).restricted_mean) for x in levels]
    for inner, outer in pairwise(told):
        assert outer[0] < inner[0] < inner[1] < outer[1]


def test_delayed_entry_is_conditional_on_the_start() -> None:
    """Who ended by the start counts in nothing, and its cluster is not drawn."""
    late = [Spell(s.exit + 3, s.cause, 3 - i % 2) for i, s in enumerate(exponential(40))]
    gone = [Spell(1, "recovered"), Spell(2), Spell(3, "cancelled")]
    found = drawing([*gone, *late], [*"abc", *range(40)], start=3, tau=11)
    assert found.clusters == 40
    assert told_by(found)[2:] == told_by(drawing(late, range(40), start=3, tau=11))[2:]
    origin = [Spell(s.exit, s.cause) for s in exponential(40)]
    assert ends(found.restricted_mean) == pytest.approx(
        ends(drawing(origin, range(40)).restricted_mean)
    )


# Differences


def test_a_difference_is_that_of_the_draws_of_two_groups() -> None:
    one = drawing(exponential(60, seed=1), range(60), seed=1)
    other = drawing(exponential(60, seed=2), range(60), seed=2)
    key: Key = ("area", None, None)
    low, high = ends(difference(one, other, key))
    apart = one.draws_of[key] - other.draws_of[key]
    assert [low, high] == pytest.approx(np.quantile(apart, [0.025, 0.975]).tolist())
    assert ends(difference(other, one, key)) == pytest.approx((-high, -low))


def test_a_difference_is_unknown_where_either_group_is() -> None:
    several = drawing(exponential(60), range(60), seed=1)
    alone = drawing(exponential(60), [0] * 60, seed=2)
    for pair in ((several, alone), (alone, several)):
        assert difference(*pair, ("area", None, None)) == ONE_CLUSTER


def test_groups_that_were_drawn_alike_have_no_difference() -> None:
    data = exponential(20)
    one = drawing(data, range(20), seed=1)
    with pytest.raises(BadInput, match="seeds: found"):
        difference(one, drawing(data, range(20), seed=1), ("at", None, 4))
    with pytest.raises(BadInput, match="draws and level: found"):
        difference(one, drawing(data, range(20), seed=2, draws=99), ("at", None, 4))


# What is unknown, and what is refused


def test_one_cluster_shows_nothing_of_others() -> None:
    found = drawing(exponential(20), ["a"] * 20)
    assert {*told_by(found)} == {Unknown("one cluster shows nothing of how clusters differ")}
    ended_before = [Spell(1, "recovered"), Spell(9), Spell(7, "recovered")]
    assert drawing(ended_before, "abb", start=2).restricted_mean == ONE_CLUSTER


def test_clusters_that_do_not_differ_give_no_interval() -> None:
    alike = [Spell(3, "recovered"), Spell(5, "cancelled"), Spell(20)] * 7
    found = drawing(alike, [index // 3 for index in range(21)])
    assert found.incidence("recovered", 4) == Unknown("every draw gave the same value")
    assert found.restricted_mean == found.median_waiting == ALL_THE_SAME
    assert drawing(exponential(20), range(20), times=[0]).waiting(0) == ALL_THE_SAME


def test_draws_that_differ_by_rounding_only_are_the_same() -> None:
    """Seven of ten end in each cluster, in half of them one by one and in the others at once."""
    one_by_one = [*(Spell(i, "recovered") for i in range(1, 8)), *(Spell(20) for _ in range(3))]
    at_once = [*(Spell(5, "recovered") for _ in range(7)), *(Spell(20) for _ in range(3))]
    labels = [number for number in range(6) for _ in range(10)]
    found = drawing((one_by_one + at_once) * 3, labels)
    values = found.draws_of["at", None, 8]
    assert 0 < values.max() - values.min() < 1e-15
    assert found.waiting(8) == ALL_THE_SAME
    assert isinstance(found.restricted_mean, Interval)


def test_a_draw_without_a_value_leaves_the_interval_unknown_and_says_how_many() -> None:
    data = [*(Spell(i / 10, "recovered") for i in range(1, 13)), Spell(6), Spell(6), Spell(10)]
    found = drawing(data, range(15))
    missing = int(np.isnan(found.draws_of["at", None, 8]).sum())
    assert 0 < missing < 200
    reason = f"the statistic has no value in {missing} of 200 draws"
    assert found.waiting(8) == found.incidence("recovered", 8) == Unknown(reason)
    assert found.restricted_mean == found.time_lost("cancelled") == Unknown(reason)
    assert isinstance(found.waiting(4), Interval)
    assert isinstance(found.median_waiting, Interval)


def test_a_time_before_the_start_has_no_value() -> None:
    found = drawing(exponential(40), range(40), start=2, times=[1, 2.5])
    assert found.waiting(1) == Unknown("the statistic has no value in 200 of 200 draws")
    assert isinstance(found.waiting(2.5), Interval)


def test_a_median_that_some_draws_do_not_reach_has_no_interval_once_its_end_is_among_them() -> None:
    data = [*(Spell(i, "recovered") for i in range(1, 9)), *(Spell(9) for _ in range(6))]
    found = drawing(data, range(14), level=0.5)
    never = int(np.isinf(found.draws_of["median", None, None]).sum())
    assert 5 < never < 50
    assert isinstance(found.median_waiting, Interval)
    wide = drawing(data, range(14)).median_waiting
    assert wide == Unknown(f"not reached: {never} of 200 draws do not come to one half")
    nothing = Unknown("not reached: 200 of 200 draws do not come to one half")
    assert found.median_of("cancelled") == nothing


def test_an_end_of_an_interval_next_to_infinity_is_told() -> None:
    """Of five draws the ends at level 0.5 are the second and the fourth; at 0.6, beyond them."""
    assert percentiles(np.array([3, 1, inf, 2, 4]), 0.5) == Interval(2, 4)
    assert percentiles(np.array([3, 1, inf, 2, 4]), 0.6) == Unknown(
        "not reached: 1 of 5 draws do not come to one half"
    )
    assert percentiles(np.array([nan, 1, inf]), 0.5) == Unknown(
        "the statistic has no value in 1 of 3 draws"
    )


def test_what_cannot_be_is_refused() -> None:
    data = [Spell(1, "recovered"), Spell(2)]
    with pytest.raises(BadInput, match=r"causes: found .*'lost'"):
        drawing([*data, Spell(3, "lost")], "abc")
    with pytest.raises(BadInput, match=r"clusters: found 3, expected as many as .* 2"):
        drawing(data, "abc")
    with pytest.raises(BadInput, match="start: found 2"):
        drawing(data, "ab", start=2)
    with pytest.raises(BadInput, match="tau: found 0"):
        drawing(data, "ab", tau=0)
    with pytest.raises(BadInput, match="draws: found 0"):
        drawing(data, "ab", draws=0)
    with pytest.raises(BadInput, match="level"):
        drawing(data, "ab", level=1)
    with pytest.raises(BadInput, match="spells: found 0"):
        drawing([], [])
    with pytest.raises(BadInput, match=r"statistic: found \('at', None, 7\)"):
        drawing(data, "ab").waiting(7)
