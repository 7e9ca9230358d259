"""The notation says what it means."""

from __future__ import annotations

import doctest
import json
from typing import Final

import msgspec
import pytest

from replay.decode import decode_bytes
from replay.event import Event, TimeBasis
from tests import notation
from tests.notation import events, history, lines

EVERY_CLASS: Final = (
    "propose start r1 ci=errored + ~ -b1&e3 ready[ci] review- review=commented"
    " says=active[r1,3] cancel?late reopen done retract!e1?typo beat note?hi x.unlisted"
)


def test_the_examples_of_its_page_hold() -> None:
    result = doctest.testmod(notation)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_papers_history_has_its_nine_lines() -> None:
    paper = history("r1:0 ci/local+:1 ci-:2 +:3 +:8 r2<+:10 ci+:11 ready:12 ci+@r1*2:13")
    written = [json.loads(text) for text in lines(paper).splitlines()]
    assert [one["recorded_minute"] for one in written] == [0, 1, 2, 3, 8, 10, 11, 12, 13]
    assert written[1]["payload"] == {"check": "ci", "outcome": "passed", "source": "local"}
    assert written[5]["causes"] == ["e4"]
    assert written[8]["artifact_revision"] == "r1"
    assert written[8]["occurred_minute"] == 2


def test_every_class_of_the_contract_can_be_written() -> None:
    written = events(EVERY_CLASS)
    assert [one.type for one in written] == [
        "work.proposed", "work.started", "artifact.published", "check.completed",
        "blocker.raised", "blocker.cancelled", "blocker.resolved", "review.requested",
        "review.completed", "review.completed", "status.asserted", "work.cancelled",
        "work.reopened", "work.completed", "event.retracted", "heartbeat", "note", "x.unlisted",
    ]  # fmt: skip
    assert written[14].supersedes == "e1"
    assert written[10].payload == {"state": "active", "revision": "r1", "as_of_sequence": 3}


def test_a_utc_history_has_rfc_3339_times() -> None:
    (first, second) = lines(history("r1 ci+", basis="utc")).splitlines()
    assert json.loads(first)["recorded_at_utc"] == "2026-01-01T00:00:00Z"
    assert json.loads(second)["recorded_at_utc"] == "2026-01-01T00:01:00Z"


@pytest.mark.parametrize("basis", ["elapsed", "utc"])
def test_the_lines_of_a_history_decode_to_its_events(basis: TimeBasis) -> None:
    written = events(EVERY_CLASS, basis=basis)
    read = decode_bytes(lines(written), name="written.jsonl").events
    assert [where_read_forgotten(one) for one in read] == list(written)


def where_read_forgotten(one: Event) -> Event:
    return msgspec.structs.replace(one, line=0, byte_offset=0)


@pytest.mark.parametrize("word", ["", "what", "<e1", "ci+@r1@r2"])
def test_a_word_that_means_nothing_is_an_error(word: str) -> None:
    with pytest.raises(ValueError):
        events(word or "[]")
