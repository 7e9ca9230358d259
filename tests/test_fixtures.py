"""The authored fixtures: each case agrees with its answers, each refused input says why.

The answers were written by hand from the rules, so this is where the rules as
written and the rules as coded meet.  Names follow `fixtures/README.md`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from replay.cli import main
from replay.errors import REFUSAL_CODES

ROOT = Path(__file__).resolve().parent.parent
CASES = sorted((ROOT / "fixtures" / "cases").glob("*.jsonl"))
REFUSED = sorted(
    path
    for path in (ROOT / "fixtures" / "refused").glob("*.jsonl*")
    if ".quarantine." not in path.name
)
QUESTIONS = {
    "state",
    "revision",
    "last_message",
    "last_progress",
    "blocked_since",
    "episode",
    "receipt",
    "certifying_check",
    "claim",
    "correction",
    "anomaly",
    "permission",
}
NEEDS_OF = {"episode", "receipt", "certifying_check", "claim", "correction", "anomaly"}
ALWAYS_DETERMINED = {"last_message", "permission"}

each_case = pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
each_refused = pytest.mark.parametrize("log", REFUSED, ids=lambda path: path.name)


def name_of(log: Path) -> str:
    return log.name.partition(".jsonl")[0]


def oracle_of(case: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        case.with_name(f"{name_of(case)}.oracle.json").read_text(encoding="utf-8")
    )
    return document


def refusal_of(log: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(
        log.with_name(f"{name_of(log)}.error.json").read_text(encoding="utf-8")
    )
    return document


def check(
    log: Path,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    *more: str,
) -> tuple[int, bytes]:
    """Exit status and standard output of `replay check`, run at the repository's root."""
    monkeypatch.chdir(ROOT)
    status = main(["check", log.relative_to(ROOT).as_posix(), "--format", "json", *more])
    return status, capfdbinary.readouterr().out


def test_there_are_at_least_twelve_cases() -> None:
    assert len(CASES) >= 12


def test_every_oracle_lies_beside_a_log() -> None:
    oracles = {path.name for path in (ROOT / "fixtures" / "cases").glob("*.oracle.json")}
    assert oracles == {f"{name_of(case)}.oracle.json" for case in CASES}


def test_the_readme_has_a_line_for_every_case_and_no_other() -> None:
    text = (ROOT / "fixtures" / "README.md").read_text(encoding="utf-8")
    listed = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert sorted(listed) == [name_of(case) for case in CASES]


@each_case
def test_an_oracle_says_what_it_is_about_and_why(case: Path) -> None:
    oracle = oracle_of(case)
    assert oracle["document"] == "replay.oracle/1"
    assert oracle["title"]
    assert oracle["why"]
    assert oracle["answers"]


@each_case
def test_every_answer_says_why(case: Path) -> None:
    answers = oracle_of(case)["answers"]
    assert [answer["id"] for answer in answers if not answer.get("why", "").strip()] == []
    assert len({answer["id"] for answer in answers}) == len(answers)


@each_case
def test_every_question_is_in_the_catalogue(case: Path) -> None:
    for answer in oracle_of(case)["answers"]:
        question = answer["question"]
        assert question in QUESTIONS
        assert ("of" in answer) == (question in NEEDS_OF)
        assert answer["expect"] != "undetermined" or question not in ALWAYS_DETERMINED


@each_case
def test_evidence_names_events_of_the_log(case: Path) -> None:
    lines = case.read_text(encoding="utf-8").splitlines()
    ids = {json.loads(line)["event_id"] for line in lines}
    for answer in oracle_of(case)["answers"]:
        assert set(answer.get("evidence", [])) <= ids


@each_case
def test_a_case_agrees_with_its_authored_answers(
    case: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out = check(case, capfdbinary, monkeypatch)
    (log,) = json.loads(out)["logs"]
    assert [answer for answer in log["answers"] if answer["outcome"] != "agree"] == []
    assert len(log["answers"]) == len(oracle_of(case)["answers"])
    assert log["outcome"] == "agree"
    assert status == 0


def test_the_paper_history_is_asked_at_both_of_its_cutoffs() -> None:
    answers = oracle_of(ROOT / "fixtures" / "cases" / "paper-nine-events.jsonl")["answers"]
    assert {json.dumps(answer["at"]) for answer in answers} == {
        "{}",
        '{"sequence": 5, "minute": 9}',
    }


def test_a_log_with_gaps_flags_its_items_as_possibly_incomplete(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = ROOT / "fixtures" / "cases" / "unassigned-inert-and-gaps.jsonl"
    _, out = check(case, capfdbinary, monkeypatch, "--rules", "coordination/1")
    projection = json.loads(out)["logs"][0]["projection"]
    assert projection["input"]["gaps"] == [{"from": 5, "to": 6}, {"from": 10, "to": 11}]
    assert [item["flags"] for item in projection["items"]] == [
        ["no_origin", "possibly_incomplete"]
    ] * 2


def test_duplicates_are_counted_and_shuffled_lines_are_noted(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = ROOT / "fixtures" / "cases"
    _, out = check(cases / "duplicate-event.jsonl", capfdbinary, monkeypatch)
    read = json.loads(out)["logs"][0]["projection"]["input"]
    assert (read["lines"], read["duplicates"], read["admitted"]) == (9, 3, 6)
    assert read["notes"] == []
    _, out = check(cases / "line-order.jsonl", capfdbinary, monkeypatch)
    assert json.loads(out)["logs"][0]["projection"]["input"]["notes"] == ["line_order_differs"]


@pytest.mark.parametrize("code", REFUSAL_CODES)
def test_every_refusal_code_has_a_refused_fixture(code: str) -> None:
    named = [log for log in REFUSED if log.name.startswith(code)]
    assert [log.name for log in named if refusal_of(log)["code"] == code] != []


@each_refused
def test_a_refused_input_is_named_after_its_code(log: Path) -> None:
    assert log.name.startswith(refusal_of(log)["code"])


@each_refused
def test_a_refused_input_prints_exactly_its_refusal(
    log: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, out = check(log, capfdbinary, monkeypatch)
    expected = refusal_of(log)
    assert status == 3
    assert json.loads(out)["logs"][0]["refusal"] == expected
    assert b'"refusal":' + rfc8785.dumps(expected) in out
