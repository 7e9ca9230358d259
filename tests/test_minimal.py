"""An irredundant part: what holds of the whole holds of it, and of no part with one less."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.minimal import BUDGET, Part, irredundant

Holds = Callable[[Sequence[int]], bool]

_sizes = st.integers(0, 9)
_subsets = st.frozensets(st.integers(0, 8))


def table(size: int, truths: frozenset[frozenset[int]]) -> Holds:
    """Any predicate at all that is true of the whole: it is looked up, part by part."""
    whole = frozenset(range(size))
    return lambda part: frozenset(part) in truths or frozenset(part) == whole


def monotone(needed: frozenset[frozenset[int]]) -> Holds:
    """True of whatever contains one of these sets."""
    return lambda part: any(one <= frozenset(part) for one in needed)


def assert_irredundant(part: Part[int], whole: Sequence[int], holds: Holds) -> None:
    assert part.irredundant
    assert [*part.kept] == [element for element in whole if element in part.kept]
    assert holds(part.kept)
    for left_out in part.kept:
        assert not holds([element for element in part.kept if element != left_out])


@given(_sizes, st.frozensets(_subsets, max_size=60))
def test_of_any_predicate_the_part_holds_in_order_and_nothing_of_it_can_go(
    size: int, truths: frozenset[frozenset[int]]
) -> None:
    holds = table(size, truths)
    assert_irredundant(irredundant(range(size), holds), range(size), holds)


@given(st.integers(1, 60), st.data())
def test_where_more_never_hurts_the_part_is_one_of_the_least_sets(
    size: int, data: st.DataObject
) -> None:
    elements = st.frozensets(st.integers(0, size - 1), max_size=6)
    needed = data.draw(st.frozensets(elements, min_size=1, max_size=4))
    part = irredundant(range(size), monotone(needed))
    least = {one for one in needed if not any(other < one for other in needed)}
    assert frozenset(part.kept) in least


@given(_sizes, st.frozensets(_subsets, max_size=60))
def test_the_same_question_gives_the_same_part(
    size: int, truths: frozenset[frozenset[int]]
) -> None:
    holds = table(size, truths)
    assert irredundant(range(size), holds) == irredundant(range(size), holds)


@given(_sizes, st.frozensets(_subsets, max_size=60), st.integers(0, 80))
def test_within_any_budget_the_part_holds_and_what_it_looked_at_is_bounded(
    size: int, truths: frozenset[frozenset[int]], budget: int
) -> None:
    holds, looked_at = table(size, truths), 0

    def counted(part: Sequence[int]) -> bool:
        nonlocal looked_at
        looked_at += len(part) + 1
        return holds(part)

    part = irredundant(range(size), counted, budget=budget)
    assert looked_at <= budget
    assert holds(part.kept)
    if part.irredundant:
        assert_irredundant(part, range(size), holds)


def test_a_budget_that_ends_is_said_and_a_larger_one_finishes() -> None:
    holds = monotone(frozenset({frozenset({3, 700})}))
    assert not irredundant(range(1000), holds, budget=2000).irredundant
    assert irredundant(range(1000), holds, budget=BUDGET) == Part((3, 700), True)


def test_what_one_omission_breaks_and_a_second_mends_can_go_together() -> None:
    # an event and the one that corrects it: without either of them, not without one
    def holds(part: Sequence[int]) -> bool:
        return ((4 in part) == (5 in part)) and 1 in part

    assert irredundant(range(8), holds) == Part((1,), True)


@pytest.mark.parametrize("size", range(5))
def test_what_holds_of_nothing_needs_nothing(size: int) -> None:
    assert irredundant(range(size), lambda _: True) == Part((), True)


def test_the_elements_may_be_equal() -> None:
    assert irredundant("aaaa", lambda part: len(part) >= 3) == Part(("a", "a", "a"), True)


def test_every_predicate_over_three_elements_has_an_irredundant_part() -> None:
    parts = [frozenset(c) for n in range(3) for c in combinations(range(3), n)]
    for number in range(1 << len(parts)):
        truths = frozenset(one for bit, one in enumerate(parts) if number >> bit & 1)
        holds = table(3, truths)
        assert_irredundant(irredundant(range(3), holds), range(3), holds)
