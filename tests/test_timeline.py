"""The timeline says at every cutoff what a projection at that cutoff says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings

import replay
from replay import rules
from replay.cli import main
from replay.history import Cutoff, History
from replay.projection import Derived, Mark, RuleSet
from replay.timeline import all_answers, timeline, timeline_document
from tests.drawn import histories
from tests.mutation.quick import WORK, work
from tests.notation import history

PAPER = Path(__file__).parent.parent / "fixtures" / "cases" / "paper-nine-events.jsonl"
RULE_SETS = [rules.named(rule_set_id) for rule_set_id in rules.known()]
BY_ID = pytest.mark.parametrize("rule_set", RULE_SETS, ids=lambda rule_set: rule_set.id)


def assert_equal_at_every_cutoff(log: History, rule_set: RuleSet) -> None:
    line = timeline(log.at(Cutoff()), rule_set)
    for event in log.events:
        at = Cutoff(event.recorded_sequence)
        assert line.at(event.recorded_sequence) == all_answers(rule_set.project(log.at(at)))


@BY_ID
@given(log=histories())
@settings(max_examples=250, deadline=None)
def test_a_timeline_equals_the_projection_at_every_cutoff(log: History, rule_set: RuleSet) -> None:
    assert_equal_at_every_cutoff(log, rule_set)


@BY_ID
@pytest.mark.long
@given(log=histories(max_size=40))
@settings(max_examples=2500, deadline=None)
def test_so_it_does_for_longer_histories(log: History, rule_set: RuleSet) -> None:
    assert_equal_at_every_cutoff(log, rule_set)


@given(log=histories(max_size=10))
@settings(max_examples=60, deadline=None)
def test_a_rule_set_that_says_nothing_of_growth_gets_the_same_timeline(log: History) -> None:
    second = rules.named("coordination/2")
    grown = timeline(log.at(Cutoff()), second)
    for slower in (
        RuleSet(second.id, (), second.project, items_alone=True),
        RuleSet(second.id, (), second.project),
    ):
        assert timeline(log.at(Cutoff()), slower).intervals == grown.intervals


@given(log=histories())
@settings(max_examples=100, deadline=None)
def test_intervals_of_one_answer_never_overlap_and_never_repeat_a_value(log: History) -> None:
    line = timeline(log.at(Cutoff()), rules.named("coordination/2"))
    for before, after in zip(line.intervals, line.intervals[1:], strict=False):
        if (before.work_id, before.key) != (after.work_id, after.key):
            continue
        assert before.valid_to is not None
        assert before.valid_to.sequence <= after.valid_from.sequence
        if before.valid_to == after.valid_from:
            assert before.answer != after.answer


def test_a_correction_ends_the_belief_it_corrects_and_leaves_it_on_record() -> None:
    log = history("r1 + r2<e2 retract!e3")
    line = timeline(log.at(Cutoff()), rules.named("coordination/2"))
    values = []
    for sequence in range(1, 5):
        state = line.answer("W1", "state", sequence=sequence)
        assert isinstance(state, Derived)
        values.append(state.value)
    assert values == ["active", "blocked", "active", "blocked"]


def test_an_answer_that_is_not_there_yet_is_null() -> None:
    line = replay.timeline_of(replay.load(PAPER).until(), rules="coordination/2")
    assert line.answer("W1", "blocked_since", sequence=3) is None
    assert line.answer("W1", "blocked_since", sequence=4) == Mark("e4", 180_000_000_000)
    assert line.answer("W1", "blocked_since", sequence=6) is None
    assert line.answer("W2", "state", sequence=9) is None


def test_a_cutoff_ends_the_timeline_too() -> None:
    log = replay.load(PAPER)
    line = replay.timeline_of(log.until(sequence=5), rules="coordination/2")
    whole = replay.timeline_of(log.until(), rules="coordination/2")
    assert line.at(5) == whole.at(5)
    assert max(interval.valid_from.sequence for interval in line.intervals) == 5


def test_the_command_prints_the_document(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["timeline", str(PAPER), "--rules", "coordination/2", "--format", "json"]) == 0
    printed = json.loads(capfdbinary.readouterr().out)
    rule_set = rules.named("coordination/2")
    line = timeline(replay.load(PAPER).until(), rule_set)
    assert printed == json.loads(json.dumps(timeline_document(line, rule_set)))


def test_the_command_can_be_asked_of_one_item(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["timeline", str(PAPER), "--work", "W1", "--format", "json"]) == 0
    intervals = json.loads(capfdbinary.readouterr().out)["intervals"]
    assert {interval["work_id"] for interval in intervals} == {"W1"}


def test_an_item_that_is_not_in_view_has_no_timeline(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(PAPER), "--work", "W2"]) == 2
    assert 'no work item "W2" is in view' in capsys.readouterr().err


def test_a_refused_log_prints_its_refusal(capsys: pytest.CaptureFixture[str]) -> None:
    refused = PAPER.parent.parent / "refused" / "wrong_type.jsonl"
    assert main(["timeline", str(refused)]) == 3
    assert "REFUSED" in capsys.readouterr().out


def test_a_timeline_is_of_one_log(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(PAPER), str(PAPER)]) == 2
    assert "one log" in capsys.readouterr().err


def test_a_correction_reads_again_what_it_can_have_moved_and_not_the_whole_item() -> None:
    assert work() == WORK
    assert WORK[1][0] < 10 * 500  # of about 14,000, were all of them read again each time
