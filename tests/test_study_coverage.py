"""The coverage benchmark: what it knows is so, and what it counts adds up."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Final

import pytest

pytest.importorskip("lifelines", reason="the study extra is not installed")

from replay.testing.simulate import simulate
from study.estimates import Unknown
from study.result import Operations
from study.rows import Role, SpellRow
from study.spells import Spell
from study.survival import KaplanMeier, kaplan_meier
from study.times import AFTER_CURVE, BEFORE_CURVE, Watched, watched
from tests.benchmarks.coverage import Counted, Seen, answer, counted, lines, run
from tests.benchmarks.known import HOURS, Competing, configurations, events_an_item

NAMES: Final = ("usual", "gaps", "window", "late")
ENDS: Final = Competing({"recovered": 0.3, "cancelled": 0.1, "cancelled_with_work": 0.05})
ALONE: Final = Competing({"reviewed": 0.4})


def area(curve: Callable[[float], float], start: float, end: float) -> float:
    """Simpson's rule, on 2,000 pieces."""
    width = (end - start) / 2_000
    inner = math.fsum((2 + 2 * (i % 2)) * curve(start + i * width) for i in range(1, 2_000))
    return width / 3 * (curve(start) + inner + curve(end))


# What is known


@pytest.mark.parametrize("start", [0.0, 3.5])
@pytest.mark.parametrize("waits", [ENDS, ALONE])
def test_the_mean_is_the_area_under_the_waiting_curve(waits: Competing, start: float) -> None:
    whole = area(lambda time: waits.waiting(time, start), start, 12)
    assert waits.mean(12, start) == pytest.approx(start + whole, rel=1e-9)


@pytest.mark.parametrize("start", [0.0, 3.5])
@pytest.mark.parametrize("cause", ENDS.hazards)
def test_an_incidence_is_the_hazard_summed_over_those_still_waiting(
    cause: str, start: float
) -> None:
    hazard = ENDS.hazards[cause]
    whole = area(lambda time: hazard * ENDS.waiting(time, start), start, 9)
    assert ENDS.incidence(cause, 9, start) == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize("start", [0.0, 3.5])
def test_the_endings_and_the_waiting_make_one(start: float) -> None:
    ended = math.fsum(ENDS.incidence(cause, 7, start) for cause in ENDS.hazards)
    assert ended + ENDS.waiting(7, start) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("start", [0.0, 3.5])
def test_a_median_is_where_its_curve_is_one_half(start: float) -> None:
    assert ENDS.waiting(ENDS.median(start), start) == pytest.approx(0.5, rel=1e-12)
    reached = ENDS.incidence("recovered", ENDS.median_of("recovered", start), start)
    assert reached == pytest.approx(0.5, rel=1e-12)


def test_a_cause_that_ends_fewer_than_half_has_no_median() -> None:
    assert ENDS.median_of("cancelled") == math.inf


def test_competing_exponentials_end_as_often_as_is_known() -> None:
    random, drawn = Random(5), 20_000
    first = [
        min((random.expovariate(rate), cause) for cause, rate in ENDS.hazards.items())
        for _ in range(drawn)
    ]
    for cause in ENDS.hazards:
        known = ENDS.incidence(cause, 4)
        share = sum(time <= 4 and why == cause for time, why in first) / drawn
        assert abs(share - known) < 4 * math.sqrt(known * (1 - known) / drawn)
    mean = math.fsum(min(time, 4) for time, _ in first) / drawn
    assert abs(mean - ENDS.mean(4)) < 4 * 2 / math.sqrt(drawn)  # a spread of 2 is the widest


def test_the_events_of_an_item_are_the_area_under_its_rates() -> None:
    rates, hours = configurations()["gaps"].rates, 20.0
    rate = 2 * rates.publish_per_hour + rates.message_per_hour + rates.cancel_work_per_hour
    alive = area(
        lambda age: (1 - age / hours) * math.exp(-rates.cancel_work_per_hour * age), 0, hours
    )
    assert events_an_item(rates, hours) == pytest.approx(2 + rate * alive, rel=1e-9)


def test_the_simulator_writes_as_many_events_an_item_as_is_known() -> None:
    rates = configurations()["gaps"].rates
    logs = [simulate(seed, rates, hours=20) for seed in range(60)]
    items = sum(len(log.truth.work_ids) for log in logs)
    events = sum(log.log.count(b"\n") for log in logs)
    assert events / items == pytest.approx(events_an_item(rates, 20), rel=0.05)


# What is counted

SHORT: Final = 40.0
LOGS: Final = 3


@cache
def short_run(name: str) -> tuple[Counted, ...]:
    return (*run(name, LOGS, SHORT),)


@pytest.mark.parametrize("name", NAMES)
def test_every_log_is_covered_missed_or_unknown(name: str) -> None:
    found = short_run(name)
    assert len(found) == len(configurations(SHORT)[name].estimands)
    assert {one.covered + one.missed + one.unknown for one in found} == {LOGS}


@pytest.mark.parametrize("name", NAMES)
def test_every_estimand_is_a_number_that_is_estimated(name: str) -> None:
    """Else a name that no estimate has would pass for one that is never known."""
    asked = configurations(SHORT)[name].estimands
    absent = [
        one.name
        for one, count in zip(asked, short_run(name), strict=True)
        if math.isnan(count.value)
    ]
    assert absent == []


def test_a_line_is_printed_for_every_estimand() -> None:
    asked = configurations(SHORT)["usual"]
    printed = [*lines(asked, short_run("usual"))]
    assert len(printed) == len(asked.estimands)
    assert all(line.endswith(("PASS", "OUT")) for line in printed)


def test_an_unknown_interval_counts_as_not_covered_and_its_value_in_the_mean() -> None:
    found = counted([Seen(0.5, 0.4, True), Seen(0.5, 0.8, None), Seen(0.5, None, None)])
    assert (found.covered, found.missed, found.unknown) == (1, 0, 2)
    assert found.coverage == pytest.approx(1 / 3)
    assert (found.known, found.value) == (0.5, pytest.approx(0.6))


def test_logs_that_tell_nothing_have_no_mean() -> None:
    found = counted([Seen(0.5, None, None)])
    assert math.isnan(found.value)
    assert found.coverage == 0


def first_log(name: str, hours: float) -> Operations:
    return answer(configurations(hours)[name], hours, seed=0)


def test_late_waits_are_read_from_a_later_time_on() -> None:
    waits = first_log("late", 80).endpoint("review_latency")
    assert waits.curves[0].start > 0
    assert all(row.entry > 0 for row in waits.rows if row.role == "observed")


def test_waits_begun_in_the_window_are_read_from_the_origin() -> None:
    waits = first_log("window", SHORT).endpoint("review_latency")
    assert waits.curves[0].start == 0
    assert {row.entry > 0 for row in waits.rows if row.role == "observed"} == {True, False}


def test_a_revision_and_its_check_are_one_moment_of_progress() -> None:
    gaps = first_log("gaps", SHORT).endpoint("progress_gap")
    assert all(row.duration > 0 for row in gaps.rows)
    first = {row.work_id for row in gaps.rows}
    assert sum(row.event_id.endswith("-1") for row in gaps.rows) == len(first)


# What ends before the last one is first watched

STEADY: Final = tuple(Spell(1 + i / 10, "reviewed") for i in range(20))
LONG_AGO: Final = Spell(40, "reviewed", 30)


def row(number: int, spell: Spell) -> SpellRow:
    """A spell as a row of the wait for a review (seconds)."""
    role: Role = "censored" if spell.cause is None else "observed"
    return SpellRow(
        log="log",
        work_id=f"W{number}",
        role=role,
        basis="utc",
        cause=spell.cause,
        duration=round(spell.exit * 1e9),
        entry=round(spell.entry * 1e9),
    )


def seen(*spells: Spell) -> tuple[Watched | Unknown, tuple[SpellRow, ...]]:
    return watched("review_latency", [row(n, spell) for n, spell in enumerate(spells)], ())


def test_one_who_had_waited_for_long_leaves_the_curves_of_the_others() -> None:
    found, rows = seen(*STEADY, LONG_AGO)
    assert not isinstance(found, Unknown)
    assert (found.start, len(found.spells)) == (0.0, 20)
    assert [one.reason for one in rows if one.role == "excluded"] == [AFTER_CURVE]
    curve, alone = (kaplan_meier(each) for each in (found.spells, STEADY))
    assert isinstance(curve, KaplanMeier)
    assert isinstance(alone, KaplanMeier)
    times = (0.5, 1.0, 2.0, 2.85)
    assert [curve.at(time) for time in times] == [alone.at(time) for time in times]


def test_no_curve_goes_on_at_0_past_one_who_waited_longer() -> None:
    found, _ = seen(*STEADY, LONG_AGO)
    assert not isinstance(found, Unknown)
    curve = kaplan_meier(found.spells)
    assert isinstance(curve, KaplanMeier)
    assert curve.last == STEADY[-1].exit
    assert isinstance(curve.at(35), Unknown)


def test_curves_begin_after_a_gap_where_enough_come_after_it() -> None:
    many = tuple(Spell(50 + i, "reviewed", 30) for i in range(10))
    found, rows = seen(*STEADY, *many)
    assert not isinstance(found, Unknown)
    assert (len(found.spells), found.start) == (10, 30)
    assert {one.reason for one in rows if one.role == "excluded"} == {BEFORE_CURVE}


def test_too_few_without_a_gap_stay_unknown() -> None:
    found, rows = seen(Spell(5, "reviewed", 1), Spell(6, "reviewed", 2))
    assert isinstance(found, Unknown)
    assert [one.role for one in rows] == ["observed"] * 2


def test_too_few_before_a_gap_are_no_curve_of_their_own() -> None:
    found, rows = seen(Spell(1, "reviewed"), Spell(7, "reviewed", 6))
    assert isinstance(found, Unknown)
    assert [one.role for one in rows] == ["observed"] * 2


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_intervals_hold_what_is_known_about_as_often_as_they_say(name: str) -> None:
    found = run(name, 40, HOURS)
    shown = [
        one.name
        for one, count in zip(configurations()[name].estimands, found, strict=True)
        if not 0.85 <= count.coverage <= 1
    ]
    assert shown == []
