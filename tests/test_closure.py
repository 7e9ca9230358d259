"""A guess at what an answer rests on: a part in order, which follows links and what they share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.closure import likely
from replay.history import History
from tests.drawn import histories
from tests.notation import events


def guessed(notation: str, *start: str) -> list[str]:
    return [event.event_id for event in likely(events(notation), start)]


@given(histories(), st.data())
def test_a_guess_is_a_part_in_order_that_has_what_it_began_with_and_grows_with_it(
    log: History, data: st.DataObject
) -> None:
    every = log.events
    start = data.draw(st.sets(st.sampled_from([*(e.event_id for e in every), "nowhere"])))
    guess = likely(every, start)
    kept = {event.event_id for event in guess}
    assert guess == tuple(event for event in every if event.event_id in kept)
    assert start - {"nowhere"} <= kept
    fewer = likely(every, sorted(start)[:1])
    assert {event.event_id for event in fewer} <= kept


@pytest.mark.parametrize(
    ("notation", "start", "expected"),
    [
        ("note note note note", "e3", ["e1", "e3"]),  # the item's first event is beside it
        ("note +b1 note ci+<e2 note", "e4", ["e1", "e2", "e4"]),  # a cause
        ("note +b1 note ci+<e2 note", "e2", ["e1", "e2", "e4"]),  # what names it
        ("note note# r1 note retract!e2", "e2", ["e1", "e2", "e3", "e5"]),  # of another item
        ("note beat r1 note retract!e3", "e3", ["e1", "e3", "e5"]),  # a correction
        ("note r1 note r1 note r1 ci+ ready", "e8", ["e1", "e2", "e6", "e7", "e8"]),
        ("note +b1 note +b1 -b1 +b2 note", "e2", ["e1", "e2", "e4", "e5"]),  # one blocker's line
        ("note r1 note r2 says=active[r1]", "e5", ["e1", "e2", "e4", "e5"]),
        ("note start note done@ note reopen note", "e5", ["e1", "e2", "e4", "e5", "e6"]),
        ("note note", "e9", []),
    ],
)
def test_a_guess_follows_what_answers_rest_on(
    notation: str, start: str, expected: list[str]
) -> None:
    assert guessed(notation, start) == expected
