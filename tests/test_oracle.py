"""Authored answers are read strictly, looked up in a sealed document, and never guessed at.

The documents are written out here, so no rule set has a part in these tests.
"""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.errors import OracleError
from replay.oracle import Answer, At, agrees, compare, first_differing_event, read_oracle
from replay.projection import ANOMALY_CODES, NOT_ESTABLISHED
from replay.questions import ANOMALY_CODES as ASKABLE_CODES
from replay.questions import NOT_ESTABLISHED as ASKABLE_NOT_ESTABLISHED
from replay.questions import QUESTIONS, Derived, derive

Json = Any


def mark(event_id: str, time: int) -> dict[str, Json]:
    return {"event_id": event_id, "time": time}


def receipt(event_id: str, outcome: str, **given: Json) -> dict[str, Json]:
    return {
        "event_id": event_id,
        "type": "check.completed",
        "check": "ci",
        "source": None,
        "outcome": outcome,
        "revision": "r2",
        "status": "current",
        "principal": None,
        **given,
    }


BLOCKED: Final[dict[str, Json]] = {
    "work_id": "W1",
    "state": {"value": "blocked", "since": mark("e4", 3), "rule": "r/state", "evidence": ["e4"]},
    "revision": {"value": "r1", "since": mark("e1", 0), "rule": "r/rev", "evidence": ["e1"]},
    "clocks": {
        "last_message": mark("e5", 8),
        "last_progress": {**mark("e3", 2), "rule": "r/progress"},
        "blocked_since": mark("e4", 3),
    },
    "episodes": [
        {
            "blocker_id": "b0",
            "opened": mark("e2", 1),
            "repeats": [],
            "end": {"kind": "recovered", "by": mark("e3", 2), "evidence": ["e2"]},
            "elapsed_seconds": 60,
        },
        {
            "blocker_id": None,
            "opened": mark("e4", 3),
            "repeats": ["e5"],
            "end": {"kind": "censored", "at": 9},
            "elapsed_seconds": 360,
        },
    ],
    "receipts": [
        receipt("c1", "failed"),
        receipt("c2", "passed", source="GitHub"),
        receipt("c3", "failed", source="LOCAL"),
        receipt("c4", "skipped"),
        receipt("c5", "failed", status="stale_on_arrival"),
        receipt("c6", "failed", type="review.completed"),
        receipt("c7", "action_required", check="lint"),
    ],
    "claims": [
        {
            "event_id": "e8",
            "claim": "review.requested",
            "verdict": "contradicted",
            "evidence": ["c1"],
            "missing": [],
            "rule": "r/ready",
        }
    ],
    "corrections": [{"event_id": "x1", "target": "e1", "status": "overtaken", "reason": None}],
    "anomalies": [
        {"code": "link_missing", "event_id": "e3", "related": ["z1"]},
        {"code": "link_missing", "event_id": "e3", "related": ["z2"]},
        {"code": "link_self", "event_id": "e4", "related": ["e4"]},
        {"code": "link_missing", "event_id": "e5", "related": ["z1"]},
    ],
    "flags": [],
    "undetermined_by": [],
    "authorization": "not established",
}
UNCOVERED: Final[dict[str, Json]] = {
    **BLOCKED,
    "work_id": "W2",
    "episodes": None,
    "receipts": None,
    "claims": None,
    "corrections": None,
    "undetermined_by": ["u1", "u2"],
}
SEALED: Final[dict[str, Json]] = {
    "document": "replay.projection/1",
    "items": [BLOCKED, UNCOVERED],
    "unassigned": {
        "events": 2,
        "last_message": mark("n1", 7),
        "anomalies": [{"code": "link_forward", "event_id": "n1", "related": ["n2"]}],
    },
}
NAMES_AN_EVENT: Final = ("episode", "receipt", "claim", "correction")
ORDER: Final = {event_id: place for place, event_id in enumerate(["e1", "e2", "e3", "e4", "e5"])}


def asked(question: str, of: str | None = None, work_id: str | None = "W1") -> Derived:
    return derive(SEALED, question, work_id, of)


def answer(expect: Json, evidence: tuple[str, ...] | None = None) -> Answer:
    return Answer(
        id="q1",
        rules="coordination/1",
        at=At(),
        work_id="W1",
        question="state",
        of=None,
        expect=expect,
        evidence=evidence,
        why="",
    )


# What the document answers


def test_the_state_and_the_revision_say_their_value_and_since_when() -> None:
    since_e4 = {"value": "blocked", "since": mark("e4", 3)}
    assert asked("state") == Derived(since_e4, ("e4",), "r/state")
    assert asked("revision").value == {"value": "r1", "since": mark("e1", 0)}


def test_a_clock_is_its_event_and_time_and_progress_cites_its_rule() -> None:
    assert asked("last_message") == Derived(mark("e5", 8), ("e5",))
    assert asked("blocked_since").value == mark("e4", 3)
    progress = {**mark("e3", 2), "rule": "r/progress"}
    assert asked("last_progress") == Derived(progress, ("e3",), "r/progress")


@pytest.mark.parametrize("raised", ["e4", "e5"])
def test_an_open_episode_is_asked_of_by_its_origin_or_by_a_repeat(raised: str) -> None:
    censored = {"kind": "censored", "by": None, "elapsed_seconds": 360, "at": 9}
    assert asked("episode", raised) == Derived(censored, ("e4",))


def test_an_ended_episode_rests_on_its_origin_its_end_and_the_links_that_ended_it() -> None:
    recovered = {"kind": "recovered", "by": mark("e3", 2), "elapsed_seconds": 60}
    assert asked("episode", "e2") == Derived(recovered, ("e2", "e3"))


def test_the_certifying_check_is_the_latest_that_decides_and_is_not_local() -> None:
    assert asked("certifying_check", "ci").value == {"event_id": "c2", "outcome": "passed"}
    assert asked("certifying_check", "lint").value["outcome"] == "action_required"
    assert asked("certifying_check", "absent") == Derived(None)


def test_a_receipt_a_claim_and_a_correction_are_asked_of_by_their_event() -> None:
    assert asked("receipt", "c5").value == {"status": "stale_on_arrival", "outcome": "failed"}
    assert asked("claim", "e8") == Derived({"verdict": "contradicted"}, ("c1",), "r/ready")
    assert asked("correction", "x1") == Derived({"status": "overtaken"}, ("x1",))


def test_an_anomaly_lists_its_events_once_each_in_the_order_of_the_document() -> None:
    assert asked("anomaly", "link_missing") == Derived(["e3", "e5"], ("e3", "e5"))
    assert asked("anomaly", "link_self").value == ["e4"]
    assert asked("anomaly", "anachronistic").value == []


@pytest.mark.parametrize("question", NAMES_AN_EVENT)
def test_an_event_that_is_withdrawn_or_of_another_kind_derives_null(question: str) -> None:
    assert asked(question, "e1") == Derived(None)


@pytest.mark.parametrize("question", [question.id for question in QUESTIONS])
def test_a_work_item_that_is_not_there_has_no_answers_but_never_a_permission(
    question: str,
) -> None:
    nothing: dict[str, object] = {"value": None, "since": None}
    said = {"state": nothing, "revision": nothing, "anomaly": [], "permission": "not established"}
    assert asked(question, "link_self", "W9") == Derived(said.get(question))


def test_events_without_a_work_item_have_a_last_message_and_anomalies_and_nothing_else() -> None:
    answered = {
        question.id: asked(question.id, "link_forward", None).value for question in QUESTIONS
    }
    assert {name: value for name, value in answered.items() if value is not None} == {
        "last_message": mark("n1", 7),
        "anomaly": ["n1"],
        "permission": "not established",
    }


@pytest.mark.parametrize("question", [question.id for question in QUESTIONS])
def test_an_item_that_the_rules_do_not_cover_still_has_a_last_message_and_no_permission(
    question: str,
) -> None:
    determined = {"last_message": mark("e5", 8), "permission": "not established"}
    derived = asked(question, "e4", "W2")
    assert derived.value == determined.get(question)
    assert derived.undetermined_by == (() if question in determined else ("u1", "u2"))


def test_the_catalogue_is_that_of_the_contract() -> None:
    assert {question.id: question.of for question in QUESTIONS} == {
        "state": None,
        "revision": None,
        "last_message": None,
        "last_progress": None,
        "blocked_since": None,
        "episode": "its origin or a repeat",
        "receipt": "event",
        "certifying_check": "check name",
        "claim": "event",
        "correction": "event",
        "anomaly": "code",
        "permission": None,
    }


def test_what_is_written_twice_for_independence_is_the_same() -> None:
    assert ASKABLE_CODES == ANOMALY_CODES
    assert ASKABLE_NOT_ESTABLISHED == NOT_ESTABLISHED


# Comparing


@pytest.mark.parametrize(
    ("expected", "derived"),
    [
        ({"kind": "censored"}, {"kind": "censored", "by": None, "elapsed_seconds": 360}),
        ({"elapsed_seconds": 6.0}, {"elapsed_seconds": 6}),
        ({"by": None}, {"by": None}),
        ({"by": {"event_id": "e6"}}, {"by": mark("e6", 10)}),
        ({"by": "e6"}, {"by": mark("e6", 10)}),
        ("e6", {**mark("e6", 10), "rule": "P1"}),
        (["e3", "e5"], ["e3", "e5"]),
        ({}, {"value": "active"}),
        (None, None),
    ],
)
def test_it_agrees_for_exactly_the_keys_that_it_gives(expected: Json, derived: Json) -> None:
    assert agrees(expected, derived)


@pytest.mark.parametrize(
    ("expected", "derived"),
    [
        ({"kind": "censored", "colour": None}, {"kind": "censored"}),
        ({"elapsed_seconds": True}, {"elapsed_seconds": 1}),
        ({"elapsed_seconds": 0}, {"elapsed_seconds": False}),
        ({"elapsed_seconds": "6"}, {"elapsed_seconds": 6}),
        ({"by": None}, {"by": mark("e6", 10)}),
        ({"by": "e6"}, {"by": None}),
        ({"by": "e6"}, {"by": mark("e7", 10)}),
        ("c2", {"event_id": "c2", "outcome": "passed"}),
        (["e3"], ["e3", "e5"]),
        (["e5", "e3"], ["e3", "e5"]),
        ([], None),
        ({}, None),
        (None, {"value": None, "since": None}),
        ("blocked", {"value": "blocked", "since": None}),
    ],
)
def test_it_disagrees_wherever_a_given_key_does(expected: Json, derived: Json) -> None:
    assert not agrees(expected, derived)


JSON: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, JSON)
def test_agreement_is_reflexive_and_a_smaller_object_agrees_with_a_larger(
    value: Json, more: Json
) -> None:
    assert agrees(value, value)
    assert agrees({"a": value}, {"a": value, "b": more})


def test_evidence_is_compared_as_a_set_and_only_where_it_is_given() -> None:
    derived = Derived({"value": "blocked"}, ("e4", "e5"))
    given = [None, ("e5", "e4", "e4"), ("e4",), ()]
    outcomes = [compare(answer({"value": "blocked"}, evidence), derived) for evidence in given]
    assert outcomes == ["agree", "agree", "disagree", "disagree"]


def test_undetermined_is_never_folded_into_agreement_or_disagreement() -> None:
    uncovered = Derived(None, undetermined_by=("u1",))
    assert compare(answer({"value": "blocked"}), uncovered) == "undetermined"
    assert compare(answer(None), uncovered) == "undetermined"
    assert compare(answer("undetermined"), uncovered) == "agree"


def test_undetermined_was_expected_but_the_rules_do_cover_it() -> None:
    assert compare(answer("undetermined"), Derived({"value": "blocked"})) == "disagree"
    assert compare(answer("undetermined"), Derived("undetermined")) == "disagree"


@pytest.mark.parametrize(
    ("expected", "evidence", "derived", "first"),
    [
        (mark("e5", 8), None, Derived(mark("e3", 2), ("e3",)), "e3"),
        ("e2", None, Derived(mark("e3", 2), ("e3",)), "e2"),
        ({"by": "e5"}, None, Derived({"by": mark("e3", 2)}, ("e1", "e3")), "e3"),
        (None, None, Derived(mark("e3", 2), ("e3",)), "e3"),
        (mark("e5", 8), None, Derived(None), "e5"),
        (["e3", "e4"], None, Derived(["e3", "e4", "e5"]), "e5"),
        ({"value": "x"}, ("e1",), Derived({"value": "x"}, ("e2",)), "e1"),
        ({"value": "e1"}, None, Derived({"value": "x", "since": mark("e4", 3)}, ("e2",)), "e4"),
        ({"kind": "x"}, None, Derived({"kind": "y", "by": mark("e3", 2)}, ("e1",)), "e3"),
        ({"kind": "x"}, None, Derived({"kind": "censored", "by": None}, ("e1",)), "e1"),
        ({"outcome": "x"}, None, Derived({"event_id": "e2", "outcome": "passed"}), "e2"),
        ({"verdict": "x"}, None, Derived({"verdict": "missing"}), None),
        ("e9", None, Derived(None), None),
        ("e9", None, Derived(mark("e3", 2), ("e3",)), "e3"),
    ],
)
def test_a_disagreement_names_the_first_event_that_one_side_alone_names_or_rests_on(
    expected: Json, evidence: tuple[str, ...] | None, derived: Derived, first: str | None
) -> None:
    written = answer(expected, evidence)
    assert compare(written, derived) == "disagree"
    assert first_differing_event(written, derived, ORDER) == first


# Reading


WRITTEN: Final[dict[str, Json]] = {
    "id": "q1",
    "rules": "coordination/1",
    "at": {"sequence": 5, "minute": 9},
    "work_id": "W1",
    "question": "episode",
    "of": "e4",
    "expect": {"kind": "censored", "elapsed_seconds": 360},
    "evidence": ["e4"],
    "why": "elapsed time runs to the cutoff",
}


def oracle(*answers: Json, **members: Json) -> bytes:
    document = {"document": "replay.oracle/1", "title": "t", "why": "w", "answers": [*answers]}
    return json.dumps({**document, **members}).encode()


def faulty(**changed: Json) -> bytes:
    """An oracle whose one answer differs from a good one; `...` leaves a member out."""
    written = {**WRITTEN, **changed}
    return oracle({name: value for name, value in written.items() if value is not ...})


def test_the_contracts_own_example_is_read_as_written() -> None:
    read = read_oracle("paper.oracle.json", oracle(WRITTEN))
    assert (read.title, read.why) == ("t", "w")
    assert read.answers == (
        Answer(
            id="q1",
            rules="coordination/1",
            at=At(sequence=5, minute="9"),
            work_id="W1",
            question="episode",
            of="e4",
            expect={"kind": "censored", "elapsed_seconds": 360},
            evidence=("e4",),
            why="elapsed time runs to the cutoff",
        ),
    )


def test_what_an_author_may_leave_out_is_words_evidence_and_every_bound_of_the_cutoff() -> None:
    bare = {**WRITTEN, "at": {}, "work_id": None, "question": "last_message", "expect": None}
    written = {name: bare[name] for name in ("id", "rules", "at", "work_id", "question", "expect")}
    data = json.dumps({"document": "replay.oracle/1", "answers": [written]}).encode()
    (read,) = read_oracle("a", data).answers
    assert (read.at, read.work_id, read.of, read.evidence) == (At(), None, None, None)


@pytest.mark.parametrize("time", ["2026-01-01T00:00:00Z", "2026-01-01T02:00:00.5+02:00"])
def test_a_time_bound_is_rfc_3339(time: str) -> None:
    (read,) = read_oracle("a", faulty(at={"time": time})).answers
    assert read.at == At(time=time)


REPEATED: Final = b'{"document":"replay.oracle/1","answers":[{"expect":{"a":1,"\\u0061":2}}]}'
DEEP: Final = b'{"document":"replay.oracle/1","answers":' + b"[" * 70 + b"]" * 70 + b"}"


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        (b"\xff", ""),
        (b"", ""),
        (b"{", ""),
        (b"{} {}", ""),
        (b"\xef\xbb\xbf{}", ""),
        (b"[]", ""),
        (b"[" * 100_000, ""),
        (b'{"document":NaN}', ""),
        (b"{}", "/document"),
        (oracle(document="replay.oracle/2"), "/document"),
        (b'{"document":"replay.oracle/1"}', "/answers"),
        (oracle(answers={}), "/answers"),
        (oracle(title=1), "/title"),
        (oracle(why=None), "/why"),
        (oracle(anwsers=[]), "/anwsers"),
        (oracle(WRITTEN, "q2"), "/answers/1"),
        (oracle(WRITTEN, {**WRITTEN, "why": "again"}), "/answers/1/id"),
        (REPEATED, "/answers/0/expect/a"),
        (DEEP, "/answers" + "/0" * 64),
        (faulty(**{"a/b~": 1}), "/answers/0/a~1b~0"),
        (faulty(id=1), "/answers/0/id"),
        (faulty(id=""), "/answers/0/id"),
        (faulty(rules=...), "/answers/0/rules"),
        (faulty(rules=None), "/answers/0/rules"),
        (faulty(work_id=...), "/answers/0/work_id"),
        (faulty(work_id=7), "/answers/0/work_id"),
        (faulty(expect=...), "/answers/0/expect"),
        (faulty(expect=2**53), "/answers/0/expect"),
        (faulty(expect=10**400), "/answers/0/expect"),
        (faulty(expect=["\ud800"]), "/answers/0/expect/0"),
        (faulty(question="mood"), "/answers/0/question"),
        (faulty(question=["state"]), "/answers/0/question"),
        (faulty(of=...), "/answers/0/of"),
        (faulty(of=4), "/answers/0/of"),
        (faulty(question="state"), "/answers/0/of"),
        (faulty(question="anomaly", of="link_mising"), "/answers/0/of"),
        (faulty(evidence="e4"), "/answers/0/evidence"),
        (faulty(evidence=["e4", 5]), "/answers/0/evidence/1"),
        (faulty(why=0), "/answers/0/why"),
        (faulty(at=...), "/answers/0/at"),
        (faulty(at=None), "/answers/0/at"),
        (faulty(at={"sequence": -1}), "/answers/0/at/sequence"),
        (faulty(at={"sequence": 5.0}), "/answers/0/at/sequence"),
        (faulty(at={"sequence": True}), "/answers/0/at/sequence"),
        (faulty(at={"sequence": 2**53}), "/answers/0/at/sequence"),
        (faulty(at={"minute": "9"}), "/answers/0/at/minute"),
        (faulty(at={"minute": True}), "/answers/0/at/minute"),
        (faulty(at={"minute": -1}), "/answers/0/at/minute"),
        (faulty(at={"minute": 0.0000001}), "/answers/0/at/minute"),
        (faulty(at={"time": 9}), "/answers/0/at/time"),
        (faulty(at={"time": "2026-01-01 00:00:00Z"}), "/answers/0/at/time"),
        (faulty(at={"minute": 9, "time": "2026-01-01T00:00:00Z"}), "/answers/0/at"),
        (faulty(at={"seq": 5}), "/answers/0/at/seq"),
    ],
)
def test_what_is_not_an_oracle_is_refused_with_the_place(data: bytes, pointer: str) -> None:
    with pytest.raises(OracleError) as caught:
        read_oracle("a.oracle.json", data)
    assert (caught.value.file, caught.value.pointer) == ("a.oracle.json", pointer)
    assert caught.value.expected
    assert caught.value.found


def test_a_refused_oracle_says_what_was_found_where_and_what_was_expected() -> None:
    with pytest.raises(OracleError) as caught:
        read_oracle("a.oracle.json", faulty(at={"sequence": "5"}))
    assert str(caught.value) == (
        "a.oracle.json at /answers/0/at/sequence:"
        ' expected integer 0 to 9007199254740991, found string "5"'
    )


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_arbitrary_bytes_are_an_oracle_error_and_nothing_else(data: bytes) -> None:
    with pytest.raises(OracleError):
        read_oracle("a.oracle.json", data)


@given(JSON)
def test_any_json_value_may_be_expected_as_far_as_canonical_form_can_write_it(value: Json) -> None:
    (read,) = read_oracle("a.oracle.json", faulty(expect=value)).answers
    assert read.expect == value
