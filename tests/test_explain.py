"""Why, and why not: every certificate is confirmed by a checker that did not make it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import lxml.html
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import replay
from replay import rules
from replay.asking import Asked, asked
from replay.canonical import encode
from replay.cli import main
from replay.errors import UsageError
from replay.event import WORK_STATES, Event
from replay.explain import Explanation, explain, explanation_document
from replay.history import Cutoff, History, Prefix
from replay.questions import ANOMALY_CODES, QUESTIONS
from replay.report.explanation import explanation_text
from replay.schemas import schema
from tests.certificates import Model, fault
from tests.drawn import drawn_words, histories
from tests.notation import history

CASES = Path(__file__).parent.parent / "fixtures" / "cases"
PAPER = CASES / "paper-nine-events.jsonl"
RULE_SETS = ("coordination/1", "coordination/2")
SEED = 20261130


def every_question(prefix: Prefix) -> Iterator[Asked]:
    """Each question that can be asked of a prefix, but permission, whose answer needs none."""
    items = sorted({event.work_id for event in prefix.events if event.work_id is not None})
    for work_id in items:
        own = [event.event_id for event in prefix.events if event.work_id == work_id]
        for question in QUESTIONS:
            match question.of:
                case None if question.id != "permission":
                    yield asked(question.id, work_id)
                case "event" | "its origin or a repeat":
                    yield from (asked(question.id, work_id, event_id) for event_id in own)
                case "code":
                    yield from (asked(question.id, work_id, code) for code in ANOMALY_CODES)


def assert_confirmed(prefix: Prefix, model: Model, rule_set: str, question: Asked) -> None:
    """The certificate of one answer, put to the reference model."""

    def answer(events: Sequence[Event]) -> Any:
        return model.answer(events, question.question, question.work_id or "", question.of)

    explanation = explain(prefix, rules.named(rule_set), question)
    assert explanation.why.irredundant
    assert not fault(explanation.why.kept, answer, answer(prefix.events)), question


@pytest.mark.parametrize("rule_set", RULE_SETS)
@given(log=histories(max_size=9), draw=st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_certificate_of_an_answer_is_confirmed(
    log: History, draw: Random, rule_set: str
) -> None:
    assert_some_confirmed(log, rule_set, draw, 12)


def assert_some_confirmed(log: History, rule_set: str, draw: Random, count: int) -> None:
    prefix = log.at(Cutoff())
    model = Model(rule_set, prefix)
    questions = [*every_question(prefix)]
    for question in draw.sample(questions, min(count, len(questions))):
        assert_confirmed(prefix, model, rule_set, question)


@pytest.mark.long
@pytest.mark.parametrize("batch", range(20))
def test_certificates_of_ten_thousand_histories_are_confirmed(batch: int) -> None:
    for seed in range(batch * 500, batch * 500 + 500):
        draw = Random(SEED + seed)
        rule_set = RULE_SETS[seed % 10 != 0]
        assert_some_confirmed(history(drawn_words(draw)), rule_set, draw, 3)


@given(log=histories(max_size=9))
@settings(max_examples=15, deadline=None)
def test_what_would_give_another_answer_is_confirmed(log: History) -> None:
    prefix = log.at(Cutoff())
    model = Model("coordination/2", prefix)
    for work_id in sorted({e.work_id for e in prefix.events if e.work_id is not None}):
        for wanted in WORK_STATES:
            assert_changes_confirmed(prefix, model, asked("state", work_id), wanted)


def assert_changes_confirmed(prefix: Prefix, model: Model, question: Asked, wanted: str) -> None:
    def state(events: Sequence[Event]) -> str | None:
        found = model.answer(events, "state", question.work_id or "", None)
        return found[0] if found else None

    why_not = explain(prefix, rules.named("coordination/2"), question, why_not=wanted).why_not
    assert why_not is not None
    assert why_not.holds == (state(prefix.events) == wanted)
    assert why_not.holds or why_not.reasons
    for change in why_not.changes:
        gone = {event.event_id for event in change.leave_out}
        kept = [event for event in prefix.events if event.event_id not in gone]
        assert state([*kept, *change.add]) == wanted
        for back in change.leave_out:
            assert state([*kept, back]) != wanted or not change.irredundant
        for spared in change.add:
            fewer = [event for event in change.add if event is not spared]
            assert state([*kept, *fewer]) != wanted


@given(log=histories(max_size=9))
@settings(max_examples=12, deadline=None)
def test_every_reason_names_events_of_the_log_and_can_be_printed(log: History) -> None:
    prefix = log.at(Cutoff())
    visible = {event.event_id for event in prefix.events}
    validator = jsonschema.Draft202012Validator(schema("explanation"))
    for question in every_question(prefix):
        explanation = explain(
            prefix, rules.named("coordination/2"), question, why_not=another(question)
        )
        document = json.loads(encode(explanation_document(explanation)))
        validator.validate(document)
        assert question.work_id is not None
        assert explanation_text(document).startswith("notation.jsonl\n")
        for reason in document["why_not"]["reasons"]:
            assert {*reason["events"]} <= visible
            assert reason["sentence"]


def another(question: Asked) -> str:
    """Something that could be the answer."""
    values = {
        "state": "complete",
        "revision": "r2",
        "episode": "recovered",
        "receipt": "current",
        "claim": "supported",
        "correction": "applied",
    }
    return values.get(question.question, "e2")


def why_not(notation: str, wanted: str, question: str = "state", of: str | None = None) -> str:
    """The sentence that says why not."""
    explanation = of_notation(notation, question, of, wanted)
    assert explanation.why_not is not None
    return explanation.why_not.sentence


def of_notation(
    notation: str, question: str, of: str | None = None, wanted: str | None = None
) -> Explanation:
    prefix = history(notation).at(Cutoff())
    return explain(prefix, rules.named("coordination/2"), asked(question, "W1", of), why_not=wanted)


@pytest.mark.parametrize(
    ("notation", "wanted", "sentence"),
    [
        (
            "r2 ready[ci]@r2 ci+@r2 r3 ready[ci]@r3 done@r3",
            "complete",
            "complete? not yet: the completion claim e6 needs ci on r3; the only ci result, e3,"
            " is for r2 (superseded)",
        ),
        (
            "r1 done ci/local+ lint=skipped",
            "complete",
            "complete? not yet: the completion claim e2 needs a passed check on r1; no result"
            " counts: e3 is local and e4 is skipped",
        ),
        (
            "r1 ci- done",
            "complete",
            "complete? not yet: the completion claim e3 is contradicted by e2, which says that ci"
            " failed on r1",
        ),
        (
            "r1 ci+ + done",
            "complete",
            "complete? not yet: the completion claim e4 was made while the blocker that e3 raised"
            " was open; the work is blocked by e3, which raises a blocker",
        ),
        (
            "r1 ci+ done reopen",
            "complete",
            "complete? no longer: the completion claim e3 is stale since e4, which reopens the"
            " work",
        ),
        (
            "r1 ci+ done@",
            "complete",
            "complete? not yet: the completion claim e3 names no revision",
        ),
        (
            "r1 done@r9",
            "complete",
            "complete? not yet: the completion claim e2 names r9, which no standing event of the"
            " work item announces",
        ),
        (
            "r1 ci+ done retract!e3",
            "complete",
            "complete? no longer: e3, which claims completion of r1, was withdrawn by e4; no claim"
            " of completion stands",
        ),
        (
            "r1 ci+ ready review+",
            "awaiting_review",
            "awaiting_review? no longer: e3 is supported, but was reviewed: e4, which approves r1",
        ),
        (
            "+ r1<+",
            "blocked",
            "blocked? no longer: the blocker that e1 raised ended: recovered by e2, which"
            " announces r1",
        ),
        ("beat", "active", "active? not yet: nothing started the work: no start, revision, check"
         " or blocker stands"),
        ("start cancel reopen", "cancelled", "cancelled? no longer: e3 reopens the work"),
    ],
)  # fmt: skip
def test_why_not_can_be_read_aloud(notation: str, wanted: str, sentence: str) -> None:
    assert why_not(notation, wanted) == sentence


@pytest.mark.parametrize(
    ("notation", "question", "of", "wanted", "part"),
    [
        ("r1 r2 ci+@r1", "receipt", "e3", "current", "e3 is for r1 (stale on arrival)"),
        ("r1 ci+ beat", "last_progress", None, "e3", "e3 is a message (heartbeat), and only"),
        ("r1 ci+ ci+", "last_progress", None, "e3", "e3 repeats the latest outcome"),
        ("+b1 +b1", "blocked_since", None, "e2", "e2 repeats what e1 raised"),
        ("+b1", "episode", "e1", "recovered", "e1 is open still: it takes a new revision or"),
        ("r1 ci/local+", "certifying_check", "ci", "e2", "the ci result e2 is local"),
        ("r1 r2", "revision", None, "r1", "e1 announces it, and later e2, which announces r2"),
        ("r1 ci+ beat", "last_message", None, "e1", "e3 came after e1"),
        (
            "r1 ci+!e1",
            "correction",
            "e2",
            "applied",
            "e2 does not correct e1: it is of another class",
        ),
        ("r1^p1 r2!e1^p2", "correction", "e2", "applied", "other principal"),
        ("r1 ci+<e9", "anomaly", "link_missing", "e1", "e1 shows no sign of link missing"),
        ("r1", "permission", None, "established", "no: no event here establishes a permission"),
        ("beat", "claim", "e1", "supported", "so it is no claim"),
        ("r1 ready", "claim", "e7", "supported", "no event in view of this work item is e7"),
    ],
)
def test_every_question_says_why_not(
    notation: str, question: str, of: str | None, wanted: str, part: str
) -> None:
    assert part in why_not(notation, wanted, question, of)


@pytest.mark.parametrize(
    ("notation", "question", "of", "wanted", "sentence"),
    [
        ("r1 ci=errored", "last_progress", None, "e2", "e2 is errored, which is no progress"),
        (
            "r1 review=commented",
            "last_progress",
            None,
            "e2",
            "e2 is commented, which is no progress",
        ),
        ("r1 r1", "last_progress", None, "e2", "e2 announces r1 again"),
        (
            "ci+@r1 r1",
            "last_progress",
            None,
            "e1",
            "e1 is for r1, which was not the current revision at its place",
        ),
        (
            "r1 r2 retract!e2",
            "last_progress",
            None,
            "e2",
            "e2, which announces r2, was withdrawn by e3",
        ),
        ("r1 cancel r2", "last_progress", None, "e3", "e3 came after the work had ended"),
        (
            "r1 ci+ r2 ci+",
            "last_progress",
            None,
            "e2",
            "e2 was progress, and e4 is later progress",
        ),
        ("r1 r2 retract!e2", "revision", None, "r2", "e2, which announces r2, was withdrawn by e3"),
        (
            "r1 r2!e1 r3!e2",
            "revision",
            None,
            "r1",
            "e1, which announces r1, was withdrawn by e3",
        ),
        (
            "r1 retract!e1 ci+@r1",
            "receipt",
            "e3",
            "current",
            "e3 names r1, which no standing event of the work item announces (e1 was withdrawn"
            " by e2)",
        ),
        (
            "r1 ci+ ci=action_required ready",
            "claim",
            "e4",
            "supported",
            "the readiness claim e4 needs a passed check on r1; no result counts: e2 is followed"
            " by e3, which is action required and e3 is action required",
        ),
        (
            "r1 r2 ready@r1",
            "claim",
            "e3",
            "supported",
            "the readiness claim e3 names r1, and the current revision is that of e2",
        ),
        (
            "r1 ci+ review+ ready +b1",
            "state",
            None,
            "awaiting_review",
            "the work is blocked by e5, which raises blocker b1",
        ),
        (
            "r1 reopen ci+ done cancel",
            "state",
            None,
            "cancelled",
            "e5 came after the work had ended; the work is complete by e4, which claims"
            " completion of r1",
        ),
        (
            "+b1 r1<b1 cancel -b1&e2",
            "claim",
            "e4",
            "supported",
            "the resolution claim e4 came after the work had ended",
        ),
        (
            "r1 +b1 -b1&e1",
            "claim",
            "e3",
            "supported",
            "the resolution claim e3 names no new revision and no passed check that came since"
            " the blocker was raised",
        ),
        ("r1 ci+ ci- ci+!e2", "certifying_check", "ci", "e4", "e4 counts, and e3 counts after it"),
        (
            "r1 ci+ ci-!e2 ci+",
            "certifying_check",
            "ci",
            "e2",
            "e2, which says that ci passed on r1, was withdrawn by e3",
        ),
        (
            "r1 +b1 ci+ ci+!e3^p1<e9",
            "correction",
            "e4",
            "applied",
            "e4 does not correct e3: other principal",
        ),
        ("r1 retract!e1", "correction", "e2", "silenced", "e2 is applied: it withdraws e1"),
        (
            "r1 r2!e1 retract!e2 retract!e2^p",
            "correction",
            "e2",
            "applied",
            "e2 is retracted by e3",
        ),
        (
            "propose retract!e1 beat",
            "state",
            None,
            "proposed",
            "e1, which proposes the work, was withdrawn by e2; no standing event proposes the work",
        ),
    ],
)
def test_a_reason_is_the_reason(
    notation: str, question: str, of: str | None, wanted: str, sentence: str
) -> None:
    assert why_not(notation, wanted, question, of).partition(": ")[2] == sentence


def test_a_further_claim_says_what_it_must_cite() -> None:
    explanation = of_notation("ci+@ done", "state", wanted="complete")
    assert explanation.why_not is not None
    assert "claims completion, citing e1" in str(explanation)


def test_the_papers_state_stands_on_three_events() -> None:
    prefix = replay.load(PAPER).until()
    explanation = explain(prefix, rules.named("coordination/2"), asked("state", "W1"))
    assert explanation.events == ("e6", "e7", "e8")
    assert explanation.rule is not None
    assert explanation.rule.id == "2/state-awaiting-review"


def test_the_papers_blocker_is_censored_at_six_minutes_by_its_origin_alone() -> None:
    prefix = replay.load(PAPER).until(sequence=5, minute=9)
    explanation = explain(prefix, rules.named("coordination/1"), asked("episode", "W1", "e4"))
    assert explanation.answer.value["elapsed_seconds"] == 360
    assert explanation.events == ("e4",)


def test_an_undetermined_answer_names_an_event_that_is_not_covered() -> None:
    prefix = replay.load(CASES / "reopened-work.jsonl").until()
    work_id = prefix.events[0].work_id
    question = asked("state", work_id)
    explanation = explain(prefix, rules.named("coordination/1"), question, why_not="active")
    assert len(explanation.events) == 1
    assert explanation.events[0] in explanation.answer.undetermined_by
    assert explanation.why_not is not None
    assert explanation.why_not.reasons[0].kind == "undetermined"


def test_a_search_that_is_ended_says_that_it_did_not_finish() -> None:
    prefix = history("r1 " + "ci+ " * 50 + "ready").at(Cutoff())
    explanation = explain(prefix, rules.named("coordination/2"), asked("state", "W1"), budget=10)
    assert not explanation.why.irredundant
    assert not explanation_document(explanation)["why"]["irredundant"]  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    ("question", "of", "wanted", "said"),
    [
        ("status", None, None, 'not a question: "status"'),
        ("state", "e1", None, "asked of nothing"),
        ("claim", None, None, "asked of something: event"),
        ("anomaly", "link_lost", None, 'not an anomaly: "link_lost"'),
        ("state", None, "finished", 'state is never "finished"'),
    ],
)
def test_what_no_question_is_says_what_was_expected(
    question: str, of: str | None, wanted: str | None, said: str
) -> None:
    with pytest.raises(UsageError, match=r"expected one of|asked of") as refused:
        of_notation("r1", question, of, wanted)
    assert said in str(refused.value)


def test_the_command_says_why_and_why_not(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(PAPER), "W1", "--why-not", "blocked"]) == 0
    printed = capfd.readouterr().out
    assert "W1: state is awaiting_review since minute 12 (e8)" in printed
    assert "none of which can be left out" in printed
    assert "blocked? no longer: the blocker that e4 raised ended" in printed
    assert "without e6 it would be" in printed


def test_the_command_prints_the_document(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(PAPER), "W1", "--why", "claim", "--of", "e8",
                 "--format", "json"]) == 0  # fmt: skip
    document = json.loads(capfd.readouterr().out)
    jsonschema.Draft202012Validator(schema("explanation")).validate(document)
    assert [event["event_id"] for event in document["why"]["events"]] == ["e6", "e7", "e8"]
    assert document["why_not"] is None


def test_the_command_names_the_items_in_view(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(PAPER), "W2"]) == 2
    assert 'no work item "W2" is in view; there are: "W1"' in capfd.readouterr().err
    assert main(["explain", str(PAPER)]) == 2
    assert 'state of which work item? there are: "W1"' in capfd.readouterr().err


def test_an_event_that_is_not_in_view_is_a_typo(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(PAPER), "W1", "--why", "claim", "--of", "e88"]) == 2
    assert 'no event in view is "e88"' in capfd.readouterr().err


def test_an_undetermined_answer_is_exit_status_4(capfd: pytest.CaptureFixture[str]) -> None:
    log = str(CASES / "reopened-work.jsonl")
    assert main(["explain", log, "W1", "--rules", "coordination/1"]) == 4
    assert "is undetermined" in capfd.readouterr().out


def test_a_refused_log_is_not_explained(capfd: pytest.CaptureFixture[str]) -> None:
    refused = CASES.parent / "refused" / "wrong_type.jsonl"
    assert main(["explain", str(refused), "W1"]) == 3
    assert "REFUSED" in capfd.readouterr().out


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A log whose names would move a cursor, reorder a line or run a script."""
    log = tmp_path / "hostile.jsonl"
    value = {
        "schema_version": "elapsed/1",
        "event_id": "\x1b[2Jdone\n<script>alert(1)</script>",
        "recorded_sequence": 1,
        "recorded_minute": 0,
        "work_id": "W\u202e1",
        "type": "work.completed",
        "artifact_revision": "r\x1b]0;x\x07",
    }
    log.write_text(json.dumps(value) + "\n")
    return log


def test_hostile_ids_are_printed_as_escapes(
    hostile: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", str(hostile), "W\u202e1", "--why-not", "complete"]) == 0
    printed = capfd.readouterr().out
    assert "\x1b" not in printed
    assert "\u202e" not in printed
    assert "r\\x{1b5d303b7807}" in printed


def test_markup_in_a_log_is_text_in_a_notebook(hostile: Path) -> None:
    prefix = replay.load(hostile).until()
    explanation = replay.explanation_of(
        prefix, "state", "W\u202e1", rules="coordination/2", why_not="complete"
    )
    assert "<script" not in explanation._repr_html_()
    assert "\u202e" not in explanation._repr_html_()


def test_a_notebook_shows_an_explanation_and_a_console_prints_it() -> None:
    prefix = replay.load(PAPER).until()
    explanation = replay.explanation_of(prefix, "state", "W1", rules="coordination/2")
    page = lxml.html.fragment_fromstring(explanation._repr_html_())
    assert page.get("role") == "region"
    rows = [row.text_content() for row in page.iter("tr")]
    assert [row[:2] for row in rows[1:]] == ["e6", "e7", "e8"]
    assert str(explanation).startswith("paper-nine-events.jsonl\nW1: state is awaiting_review")
