"""A log is derived and sealed, and only then is its oracle opened and compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay import check as checking
from replay import oracle as authored
from replay.canonical import digest, encode
from replay.check import OracleFile, Sealed, SealError, check_document, check_log, exit_status
from replay.errors import FileError, OracleError, Refusal, UsageError
from replay.event import Source
from replay.history import History, Prefix, admit
from replay.oracle import At
from tests.drawn import histories
from tests.notation import event, events, history, history_of

RULES: Final = "coordination/1"
PAPER: Final = "r1:0 ci/local+:1 ci-:2 +:3 +:8 r2<e4:10 ci+:11 ready:12 ci+@r1*2:13"
EARLY: Final = {"sequence": 5, "minute": 9}

Json = Any


def answer(question: str, expect: Json, of: str | None = None, **changed: Json) -> dict[str, Json]:
    """An answer about W1 at the full cutoff, unless changed."""
    written = {"rules": RULES, "at": {}, "work_id": "W1", "question": question, "expect": expect}
    return {**written, **({} if of is None else {"of": of}), **changed}


PAPER_ANSWERS: Final = (
    answer("state", {"value": "awaiting_review"}),
    answer("revision", {"value": "r2", "since": "e6"}),
    answer("last_message", {"event_id": "e9", "time": 13}),
    answer("last_progress", "e7"),
    answer("blocked_since", None),
    answer("episode", {"kind": "recovered", "by": "e6", "elapsed_seconds": 420}, "e4"),
    answer("receipt", {"status": "stale_on_arrival"}, "e9"),
    answer("certifying_check", {"event_id": "e7", "outcome": "passed"}, "ci"),
    answer("claim", {"verdict": "supported"}, "e8", evidence=["e7"]),
    answer("permission", "not established"),
    answer("state", {"value": "blocked", "since": "e4"}, at=EARLY, evidence=["e4"]),
    answer("episode", {"kind": "censored", "elapsed_seconds": 360.0}, "e5", at=EARLY),
    answer("last_progress", {"event_id": "e3", "time": 2}, at=EARLY),
    answer("last_message", {"event_id": "e5"}, at=EARLY),
    answer("claim", None, "e8", at=EARLY),
)
"""Both rows of the table of the rules page, as an author would write them."""


def oracle(*answers: dict[str, Json]) -> bytes:
    numbered = [{"id": f"q{number}", **written} for number, written in enumerate(answers, 1)]
    return json.dumps({"document": "replay.oracle/1", "answers": numbered}).encode()


def opened(data: bytes, name: str = "paper.oracle.json") -> OracleFile:
    return OracleFile(name, lambda: data)


def checked(log: History | Refusal, *answers: dict[str, Json]) -> dict[str, Json]:
    return check_log(log, rules=RULES, oracle=opened(oracle(*answers)))


@pytest.fixture(scope="module")
def paper() -> History:
    return history(PAPER)


def test_the_papers_history_agrees_with_both_rows_of_its_table(paper: History) -> None:
    result = checked(paper, *PAPER_ANSWERS)
    assert [a["id"] for a in result["answers"] if a["outcome"] != "agree"] == []
    assert result["outcome"] == "agree"
    assert result["summary"] == {"agree": len(PAPER_ANSWERS), "disagree": 0, "undetermined": 0}


def test_an_answer_shows_what_was_expected_what_was_derived_and_by_which_rule(
    paper: History,
) -> None:
    (shown,) = checked(paper, answer("last_progress", "e3"))["answers"]
    assert shown["rule"]
    assert shown == {
        "id": "q1",
        "outcome": "disagree",
        "expected": "e3",
        "derived": {"event_id": "e7", "time": 11, "rule": shown["rule"]},
        "first_differing_event": "e3",
        "rule": shown["rule"],
        "undetermined_by": [],
    }


def test_a_result_names_its_oracle_by_the_hash_of_its_bytes(paper: History) -> None:
    result = check_log(paper, rules=RULES, oracle=opened(oracle()))
    assert result["oracle"] == {
        "name": "paper.oracle.json",
        "sha256": digest(oracle()),
    }


def test_a_log_without_an_oracle_is_accepted_even_where_rules_do_not_cover_it() -> None:
    result = check_log(history("r1 cancel"), rules=RULES)
    assert result["projection"]["uncovered"]
    assert (result["outcome"], result["oracle"], result["answers"]) == ("accepted", None, [])
    assert exit_status([result]) == 0


def test_a_refused_log_is_a_result_and_its_oracle_stays_closed() -> None:
    def not_to_be_read() -> bytes:
        raise AssertionError("opened")

    with pytest.raises(Refusal) as refused:
        history("r1$2 r2$2")
    result = check_log(refused.value, rules=RULES, oracle=OracleFile("a", not_to_be_read))
    assert result == {
        "outcome": "refused",
        "projection": None,
        "refusal": refused.value.document(),
        "oracle": None,
        "answers": [],
        "summary": {"agree": 0, "disagree": 0, "undetermined": 0},
    }
    assert exit_status([result]) == 3


def test_one_disagreement_outweighs_what_is_undetermined_and_both_are_counted() -> None:
    log = history("r1 cancel r1#W2")
    right = answer("state", {"value": "active"}, work_id="W2")
    wrong = answer("state", {"value": "blocked"}, work_id="W2")
    unsaid = answer("state", {"value": "cancelled"})
    assert checked(log, right, unsaid)["outcome"] == "undetermined"
    result = checked(log, right, unsaid, wrong)
    assert result["outcome"] == "disagree"
    assert result["summary"] == {"agree": 1, "disagree": 1, "undetermined": 1}
    assert result["answers"][1]["undetermined_by"] == ["e2"]


def test_undetermined_is_an_answer_that_an_author_can_expect() -> None:
    assert checked(history("r1 cancel"), answer("state", "undetermined"))["outcome"] == "agree"
    assert checked(history("r1"), answer("state", "undetermined"))["outcome"] == "disagree"


def test_the_printed_projection_is_at_the_cutoff_of_the_options_whatever_is_asked(
    paper: History,
) -> None:
    at = At(sequence=5, minute="9")
    asked = opened(oracle(*PAPER_ANSWERS))
    result = check_log(paper, rules=RULES, at=at, oracle=asked)
    assert result["outcome"] == "agree"
    assert result["projection"] == check_log(paper, rules=RULES, at=at)["projection"]
    assert result["projection"]["cutoff"]["recorded"] == 9


def test_a_cutoff_of_the_options_that_does_not_fit_the_log_is_a_usage_error(
    paper: History,
) -> None:
    with pytest.raises(UsageError):
        check_log(paper, rules=RULES, at=At(time="2026-01-01T00:00:00Z"))


@pytest.mark.parametrize(
    ("basis", "at", "fits"),
    [("elapsed", {"time": "2026-01-01T00:00:00Z"}, "a minute"), ("utc", {"minute": 1}, "a time")],
)
def test_an_answer_whose_time_is_not_of_the_logs_kind_is_an_oracle_error(
    basis: Any, at: dict[str, Json], fits: str
) -> None:
    log = history("r1", basis=basis)
    with pytest.raises(OracleError) as caught:
        checked(log, answer("state", {}), answer("state", {}, at=at))
    assert (caught.value.pointer, caught.value.expected.split(",")[0]) == ("/answers/1/at", fits)


def test_a_log_of_times_is_asked_at_a_time() -> None:
    log = history("r1 +", basis="utc")
    asked = answer("state", {"value": "active"}, at={"time": "2026-01-01T01:00:30+01:00"})
    assert checked(log, asked)["outcome"] == "agree"


def test_an_answer_under_rules_that_do_not_exist_is_an_error_of_the_oracle(
    paper: History,
) -> None:
    with pytest.raises(OracleError) as caught:
        checked(paper, answer("state", {}, rules="coordination/0"))
    assert caught.value.pointer == "/answers/0/rules"
    assert "coordination/2" in caught.value.expected


def test_an_oracle_that_cannot_be_read_is_a_file_error(paper: History) -> None:
    def unreadable() -> bytes:
        raise PermissionError(13, "Permission denied")

    with pytest.raises(FileError) as caught:
        check_log(paper, rules=RULES, oracle=OracleFile("paper.oracle.json", unreadable))
    assert str(caught.value) == "paper.oracle.json: Permission denied"


# Derive, seal, and only then open


def watch(monkeypatch: pytest.MonkeyPatch, log: list[str]) -> None:
    """Write down in `log` each derivation and each comparison as it happens."""

    def derived(prefix: Prefix, rules: str, seal: Callable[..., Sealed] = checking.seal) -> Sealed:
        sealed = seal(prefix, rules)
        log.append(f"sealed at {prefix.facts.cutoff.sequence}")
        return sealed

    def compared(*given: Any, compare: Callable[..., Any] = authored.compare) -> Any:
        log.append("compared")
        return compare(*given)

    monkeypatch.setattr(checking, "seal", derived)
    monkeypatch.setattr(checking, "compare", compared)


def test_the_oracle_is_opened_after_the_seal_and_compared_after_every_seal(
    paper: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    happened: list[str] = []
    watch(monkeypatch, happened)
    asked = oracle(
        answer("state", {}, at={"sequence": 3}),
        answer("state", {}),
        answer("revision", {}, at={"sequence": 3}),
        answer("state", {}, at={"sequence": 5}),
    )

    def read() -> bytes:
        happened.append("opened")
        return asked

    check_log(paper, rules=RULES, oracle=OracleFile("a", read))
    assert happened == ["sealed at None", "opened", "sealed at 3", "sealed at 5"] + 4 * ["compared"]


def test_what_is_printed_is_what_was_sealed(paper: History) -> None:
    sealed = checking.seal(paper.until(), RULES)
    result = checked(paper, *PAPER_ANSWERS)
    assert encode(result["projection"]) == sealed.data
    assert sealed.sha256 == digest(sealed.data)


def test_a_seal_that_does_not_fit_its_document_is_a_fault_of_ours(paper: History) -> None:
    sealed = checking.seal(paper.until(), RULES)
    with pytest.raises(SealError):
        Sealed(sealed.data.replace(b"awaiting_review", b"complete"), sealed.sha256).open()


# By effect: an oracle that is absent, right or poisoned derives the same bytes


def derived_with(log: History, read: bytes | None) -> bytes:
    """The canonical bytes of what is derived beside an oracle."""
    file = None if read is None else opened(read)
    return encode(check_log(log, rules=RULES, oracle=file)["projection"])


def poisoned(written: dict[str, Json]) -> dict[str, Json]:
    return {**written, "expect": {"value": "complete", "event_id": "e1"}, "evidence": ["e2"]}


def test_a_poisoned_oracle_changes_every_answer_and_no_derived_byte(paper: History) -> None:
    poison = [poisoned(written) for written in PAPER_ANSWERS]
    assert checked(paper, *poison)["summary"]["disagree"] == len(PAPER_ANSWERS)
    absent = derived_with(paper, None)
    assert derived_with(paper, oracle(*PAPER_ANSWERS)) == absent
    assert derived_with(paper, oracle(*poison)) == absent


WRITABLE: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(histories(), st.lists(WRITABLE, min_size=1, max_size=4))
def test_no_json_that_an_oracle_expects_changes_a_derived_byte_or_itself(
    log: History, poison: list[Json]
) -> None:
    asked = [answer("state", value, at={"sequence": place}) for place, value in enumerate(poison)]
    result = checked(log, *asked)
    assert encode(result["projection"]) == derived_with(log, None)
    assert [shown["expected"] for shown in result["answers"]] == poison
    assert sum(result["summary"].values()) == len(poison)


@given(histories())
def test_a_log_agrees_with_every_answer_that_is_its_own(log: History) -> None:
    projection = check_log(log, rules=RULES)["projection"]
    own = [
        answer(
            "state",
            "undetermined"
            if item["undetermined_by"]
            else {"value": item["state"]["value"], "since": item["state"]["since"]},
            work_id=item["work_id"],
        )
        for item in projection["items"]
    ]
    assert checked(log, *own)["outcome"] == "agree"


# Exit status


def outcome(name: str, *, complete: bool = True) -> dict[str, Json]:
    projection = None if name == "refused" else {"input": {"complete": complete}}
    return {"outcome": name, "projection": projection}


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ([], 0),
        ([outcome("agree"), outcome("accepted")], 0),
        ([outcome("agree"), outcome("undetermined")], 4),
        ([outcome("undetermined"), outcome("disagree")], 1),
        ([outcome("disagree"), outcome("refused"), outcome("undetermined")], 3),
        ([outcome("agree", complete=False)], 3),
        ([outcome("disagree", complete=False)], 3),
    ],
)
def test_of_several_exit_statuses_the_most_urgent_is_the_one(
    results: list[dict[str, Json]], status: int
) -> None:
    assert exit_status(results) == status


@pytest.mark.parametrize(("others", "status"), [((), 3), ((1, 4, 0), 3), ((2,), 2), ((2, 70), 70)])
def test_logs_that_ended_in_an_error_count_in_the_exit_of_the_document(
    others: tuple[int, ...], status: int
) -> None:
    document = check_document([outcome("refused"), outcome("agree")], others=others)
    assert list(document) == ["document", "tool", "logs", "exit"]
    assert document["exit"] == status


def test_a_recovered_log_is_answered_and_still_ends_as_refused_input() -> None:
    whole = history_of(events("r1 +"))
    lost = admit(
        [
            Source(
                name=whole.input.name,
                sha256=whole.input.sha256,
                events=whole.events,
                lines=3,
                quarantined=1,
                complete=False,
            )
        ]
    )
    result = checked(lost, answer("state", {"value": "blocked"}))
    assert result["outcome"] == "agree"
    assert exit_status([result]) == 3


def test_an_event_beyond_the_asked_cutoff_cannot_answer() -> None:
    late = event("blocker.raised", "late", sequence=9, at=60_000_000_000, work_id="W1")
    log = history_of([*events("r1"), late])
    result = checked(log, answer("state", {"value": "active"}, at={"sequence": 8}))
    assert result["outcome"] == "agree"
