"""`replay.check_log`: the result of a check as a value, the same as the command's."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

import replay
from replay.errors import FileError, OracleError, UnknownRulesError, UsageError
from tests.command import CASES, PAPER, REFUSED, Run, document, in_process, oracle
from tests.notation import history, lines

LATEST: Final = "coordination/2"
WRONG: Final = oracle({"expect": {"value": "complete"}})


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(history("r1 ci+ ready")))
    return path


@pytest.mark.parametrize(
    "path",
    [PAPER, CASES / "explicit-correction.jsonl", REFUSED / "wrong_type.jsonl"],
    ids=lambda path: path.stem,
)
@pytest.mark.parametrize("rules", ["coordination/1", LATEST])
def test_a_result_is_what_the_command_prints(run: Run, path: Path, rules: str) -> None:
    result = replay.check_log(path, rules=rules)
    ran = run("check", path, "--rules", rules, "--format", "json")
    assert document(ran)["logs"] == [result.document]
    assert result.exit_status == ran.status
    assert result.outcome == result.document["outcome"]


def test_a_cutoff_is_that_of_the_projection(run: Run) -> None:
    result = replay.check_log(PAPER, rules=LATEST, sequence=5, minute=9)
    given = ("--at-sequence", 5, "--at-minute", 9, "--format", "json")
    assert document(run("check", PAPER, *given))["logs"] == [result.document]
    assert result.document["projection"]["cutoff"]["recorded"] == 9


def test_the_oracle_beside_the_log_is_used_or_the_one_that_is_named(
    log: Path, tmp_path: Path
) -> None:
    assert replay.check_log(log, rules=LATEST).outcome == "accepted"
    named = tmp_path / "other.json"
    named.write_bytes(WRONG)
    result = replay.check_log(log, rules=LATEST, oracle=named)
    assert (result.outcome, result.exit_status) == ("disagree", 1)
    assert result.summary == {"agree": 0, "disagree": 1, "undetermined": 0}
    assert [answer["outcome"] for answer in result.answers] == ["disagree"]
    assert result.oracle == msgspec.json.decode(WRONG)
    (tmp_path / "a.oracle.json").write_bytes(WRONG)
    assert replay.check_log(log, rules=LATEST).document["oracle"]["name"] == "a.oracle.json"


def test_a_refused_log_is_a_result_and_its_oracle_is_never_opened(tmp_path: Path) -> None:
    log = tmp_path / "bad.jsonl"
    log.write_bytes(b"{}\n")
    (tmp_path / "bad.oracle.json").write_bytes(b"poison")
    result = replay.check_log(log, rules=LATEST)
    assert (result.outcome, result.exit_status, result.oracle) == ("refused", 3, None)
    assert result.answers == ()


def test_a_log_of_another_suffix_has_its_whole_name_before_the_oracles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, log: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".oracle.json").write_bytes(b"an oracle of nothing")
    other = log.rename(tmp_path / "log")
    assert replay.check_log("log", rules=LATEST).outcome == "accepted"
    assert run("check", "log").status == 0
    (tmp_path / "log.oracle.json").write_bytes(WRONG)
    assert replay.check_log(other, rules=LATEST).outcome == "disagree"
    assert run("check", "log").status == 1


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"rules": "latest"}, UnknownRulesError),
        ({"rules": LATEST, "time": "2026-05-01T09:00:00Z"}, UsageError),
        ({"rules": LATEST, "oracle": "nowhere.json"}, FileError),
        ({"rules": LATEST, "oracle": PAPER}, OracleError),
    ],
)
def test_what_does_not_fit_is_an_error(log: Path, given: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        replay.check_log(log, **given)


def test_a_log_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        replay.check_log(tmp_path / "nowhere.jsonl", rules=LATEST)
