"""`replay bisect` says at every cutoff what a projection at that cutoff says."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay import load, rules
from replay.asking import Asked
from replay.bisection import NOTHING, UNDETERMINED, bisect, bisect_document, words
from replay.document import projection_document
from replay.errors import UsageError
from replay.history import Cutoff, History
from replay.projection import RuleSet
from replay.questions import ANOMALY_CODES, QUESTIONS, derive
from replay.schemas import schema
from replay.told import bare
from tests.command import PAPER, REFUSED, Run, document, in_process
from tests.drawn import cutoffs, drawn_words, histories
from tests.notation import history, lines

RULE_SETS = [rules.named(rule_set_id) for rule_set_id in ("coordination/1", "coordination/2")]
BY_ID = pytest.mark.parametrize("rule_set", RULE_SETS, ids=lambda rule_set: rule_set.id)
SECOND = rules.named("coordination/2")


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


def every_question(log: History) -> list[Asked]:
    """Every question of every item of a log, also about what is not of that kind."""
    ids = [event.event_id for event in log.events]
    about: dict[str, list[str | None]] = {
        "certifying_check": ["ci", "lint"],
        "anomaly": [*ANOMALY_CODES],
    }
    found = []
    for work_id in dict.fromkeys(event.work_id for event in log.events):
        for question in QUESTIONS:
            ofs: list[str | None] = (
                [None] if question.of is None else about.get(question.id, [*ids])
            )
            found += [Asked(question.id, work_id, of) for of in ofs]
    return found


def at_each_cutoff(log: History, rule_set: RuleSet, cutoff: Cutoff) -> list[tuple[int, Any]]:
    """The documents of a log at sequence 0 and at every event that the cutoff shows."""
    visible = [event.recorded_sequence for event in log.at(cutoff).events]
    return [
        (
            sequence,
            projection_document(
                rule_set.project(log.at(Cutoff(sequence, cutoff.recorded))), rule_set
            ),
        )
        for sequence in (0, *visible)
    ]


def assert_equal_at_every_cutoff(log: History, rule_set: RuleSet, cutoff: Cutoff) -> None:
    documents = at_each_cutoff(log, rule_set, cutoff)
    in_view = {event.work_id for event in log.at(cutoff).events}
    for asked in every_question(log):
        if asked.work_id not in in_view:
            continue
        stretches = bisect(log.at(cutoff), rule_set, asked)
        for sequence, seen in documents:
            (stretch,) = [
                s
                for s in stretches
                if (s.valid_from is None or s.valid_from.sequence <= sequence)
                and (s.valid_to is None or sequence < s.valid_to.sequence)
            ]
            derived = derive(seen, asked.question, asked.work_id, asked.of)
            said = (stretch.told.value, bool(stretch.told.undetermined_by))
            assert said == (bare(derived.value), bool(derived.undetermined_by)), asked
            if stretch.valid_from is not None and stretch.valid_from.sequence == sequence:
                assert stretch.told.rule == derived.rule
                assert stretch.told.evidence == derived.evidence
                assert stretch.told.undetermined_by == derived.undetermined_by
        for before, after in pairwise(stretches):
            assert before.valid_to == after.valid_from
            one, other = before.told, after.told
            assert one.value != other.value or one.undetermined_by != other.undetermined_by


@BY_ID
@given(log=histories())
@settings(max_examples=40, deadline=None)
def test_a_bisection_equals_the_projection_at_every_cutoff(log: History, rule_set: RuleSet) -> None:
    assert_equal_at_every_cutoff(log, rule_set, Cutoff())


@given(data=st.data(), log=histories(max_size=9))
@settings(max_examples=40, deadline=None)
def test_a_cutoff_bounds_every_answer_of_it(data: st.DataObject, log: History) -> None:
    assert_equal_at_every_cutoff(log, SECOND, data.draw(cutoffs(log)))


@pytest.mark.parametrize("seed", range(40))
def test_so_it_does_where_checks_are_replaced_and_retracted(seed: int) -> None:
    log = history(drawn_words(Random(seed), max_size=18))
    assert_equal_at_every_cutoff(log, SECOND, Cutoff())


def test_a_replaced_check_certifies_from_the_place_of_its_original() -> None:
    log = history("r1 ci+ ci- ci+!e2")
    stretches = bisect(log.at(Cutoff()), SECOND, Asked("certifying_check", "W1", "ci"))
    found = [stretch.told.value and stretch.told.value["event_id"] for stretch in stretches]
    assert found == [None, "e2", "e3"]  # e4 stands where e2 stood, so before e3


PAPER_STATE = [
    (None, None, False),
    ("active", "e1", False),
    ("blocked", "e4", False),
    ("active", "e6", True),
    ("awaiting_review", "e8", False),
]


def bisected(log: History, question: str, of: str | None = None, **more: Any) -> Any:
    return bisect_document(log.at(Cutoff()), SECOND, Asked(question, "W1", of), **more)


def test_the_states_of_the_nine_events_each_have_the_event_at_which_they_began() -> None:
    log = history("r1 ci/local+ ci- + + r2<e4 ci+ ready ci+@r1")
    found = bisected(log, "state")["intervals"]
    assert [
        (i["value"]["value"], i["valid_from"] and i["valid_from"]["event_id"], i["again"])
        for i in found
    ] == PAPER_STATE


@pytest.mark.parametrize(
    ("question", "of", "value", "became", "stopped"),
    [
        ("state", None, "active", "e1", "e4"),
        ("state", None, "null", None, "e1"),
        ("state", None, "awaiting_review", "e8", None),
        ("revision", None, "r1", "e1", "e6"),
        ("last_message", None, "e5", "e5", "e6"),
        ("last_progress", None, "e3", "e3", "e6"),
        ("blocked_since", None, "e4", "e4", "e6"),
        ("blocked_since", None, "null", None, "e4"),
        ("episode", "e5", "censored", "e5", "e6"),
        ("episode", "e4", "recovered", "e6", None),
        ("receipt", "e3", "current", "e3", "e6"),
        ("receipt", "e9", "stale_on_arrival", "e9", None),
        ("certifying_check", "ci", "failed", "e3", "e6"),
        ("certifying_check", "ci", "e7", "e7", None),
        ("claim", "e8", "supported", "e8", None),
        ("anomaly", "after_terminal", "null", None, None),
        ("permission", None, "not established", None, None),
    ],
)
def test_the_first_cutoff_at_which_it_became_a_value_and_the_first_at_which_it_stopped(
    question: str, of: str | None, value: str, became: str | None, stopped: str | None
) -> None:
    log = history("r1 ci/local+ ci- + + r2<e4 ci+ ready ci+@r1")
    found = bisected(log, question, of, value=value)
    assert found["exit"] == 0
    named = {k: m and m["event_id"] for k, m in found["found"].items()}
    assert named == {"became": became, "stopped": stopped}


def test_a_value_that_never_was_the_answer_is_a_finding() -> None:
    found = bisected(history("r1 +"), "state", value="complete")
    assert (found["found"], found["exit"]) == (None, 1)


def test_what_is_undetermined_throughout_says_so_and_what_was_known_before_does_not() -> None:
    first = rules.named("coordination/1")
    throughout = bisect_document(history("done r1").at(Cutoff()), first, Asked("state", "W1"))
    later = bisect_document(history("r1 done").at(Cutoff()), first, Asked("state", "W1"))
    assert (throughout["exit"], later["exit"]) == (4, 0)
    stretches = bisect(history("r1 done").at(Cutoff()), first, Asked("state", "W1"))
    assert [words(Asked("state", "W1"), s.told) for s in stretches] == [
        {NOTHING},
        {"active"},
        {UNDETERMINED},
    ]


def test_an_item_that_is_not_in_view_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match='no work item "W2" is in view'):
        bisect(history("r1").at(Cutoff()), SECOND, Asked("state", "W2"))


# The command


def test_the_command_prints_the_document_and_it_is_valid(run: Run) -> None:
    asked = ("bisect", PAPER, "--question", "episode", "--of", "e5", "--work", "W1")
    printed = document(run(*asked, "--format", "json"))
    made = bisect_document(load(PAPER).until(), SECOND, Asked("episode", "W1", "e5"))
    assert printed == json.loads(json.dumps(made))
    jsonschema.Draft202012Validator(schema("bisect")).validate(printed)


def test_the_text_says_from_when_on_and_what_came_back(run: Run) -> None:
    ran = run("bisect", PAPER, "--question", "state", "--work", "W1")
    assert ran.status == 0
    flat = " ".join(ran.text.split())
    assert "state of W1" in flat
    assert "null until minute 0 (e1)" in flat
    assert "active from e1 (sequence 1, minute 0), rule 2/state-base" in flat
    assert "blocked from e4 (sequence 4, minute 3), rule 2/state-blocked" in flat
    assert "active again from e6 (sequence 6, minute 10)" in flat


def test_the_text_tells_an_open_episode_in_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(history("+ note note note -")))
    asked = ("--question", "episode", "--of", "e1", "--work", "W1")
    text = run("bisect", tmp_path / "a.jsonl", *asked).text
    assert text.count("censored") == 1


def test_a_value_is_answered_in_the_text_and_by_the_exit_status(run: Run) -> None:
    asked = ("bisect", PAPER, "--question", "state", "--work", "W1", "--value")
    ran = run(*asked, "blocked")
    assert ran.status == 0
    flat = " ".join(ran.text.split())
    assert "blocked first from e4 (sequence 4, minute 3), no longer from e6" in flat
    never = run(*asked, "cancelled")
    assert never.status == 1
    assert "cancelled was never the answer" in " ".join(never.text.split())


def test_without_an_item_the_question_is_of_the_events_that_name_none(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_bytes(lines(history("r1 note#")))
    ran = run("bisect", tmp_path / "a.jsonl", "--question", "last_message")
    assert ran.status == 0
    assert "the events that name no work item" in " ".join(ran.text.split())


@pytest.mark.parametrize(
    ("arguments", "words_"),
    [
        (("--question", "sate", "--work", "W1"), "not a question"),
        (("--question", "episode", "--work", "W1"), "asked of something"),
        (("--question", "state", "--of", "e1", "--work", "W1"), "asked of nothing"),
        (("--question", "state", "--work", "W9"), "no work item"),
        (("--work", "W1"), "--question"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(
    run: Run, arguments: tuple[str, ...], words_: str
) -> None:
    ran = run("bisect", PAPER, *arguments)
    assert ran.status == 2
    assert words_ in ran.err


def test_a_refused_log_prints_its_refusal(run: Run) -> None:
    ran = run("bisect", REFUSED / "wrong_type.jsonl", "--question", "state", "--work", "W1")
    assert ran.status == 3
    assert "REFUSED" in ran.text


def test_lists_that_no_memory_would_hold_are_refused_and_not_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = history("reopen reopen reopen reopen")
    monkeypatch.setattr("replay.flips.MAX_LISTED", 10)
    assert bisected(log, "anomaly", "not_terminal")["intervals"][-1]["evidence"] == [
        *("e1", "e2", "e3", "e4")
    ]
    monkeypatch.setattr("replay.flips.MAX_LISTED", 9)
    with pytest.raises(UsageError, match="list 10 events in all, and at most 9 can be told"):
        bisected(log, "anomaly", "not_terminal")
