"""Seeded defects and the kill table: what each injector does, and what the checks tell of it."""

from __future__ import annotations

import doctest
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Final

import pytest

from replay.errors import Refusal
from replay.testing import build, defects, kills, spoiled
from replay.testing.defects import BY_ID, DEFECTS, Defect, ValidLog, valid_log
from replay.testing.kills import Case, Row, cases_in, kill_table, markdown, same_answers, told_by
from tests.notation import history

ROOT: Final = Path(__file__).parent.parent
CASES: Final = ROOT / "fixtures" / "cases"
TABLE: Final = ROOT / "paper" / "kill-table.md"


@cache
def cases() -> tuple[Case, ...]:
    return tuple(cases_in(str(CASES)))


@cache
def table() -> dict[str, Row]:
    return {row.defect.id: row for row in kill_table(cases())}


def log_of(notation: str) -> ValidLog:
    return valid_log(build.log_bytes(history(notation).events))


def spoil(defect_id: str, notation: str, seed: int = 0) -> list[dict[str, object]]:
    """The objects of a faulty log, in line order; the defect must apply."""
    injected = BY_ID[defect_id].inject(log_of(notation), Random(seed))
    assert injected is not None
    return [json.loads(line) for line in injected.data.splitlines()]


def told(defect_id: str, notation: str, seed: int = 0) -> str:
    log = log_of(notation)
    injected = BY_ID[defect_id].inject(log, Random(seed))
    assert injected is not None
    data = build.log_bytes(history(notation).events)
    return told_by(Case("log.jsonl", data), log, injected.data)


# The table


def test_the_stored_table_is_the_one_that_the_fixtures_give() -> None:
    written = markdown([*table().values()], logs=len(cases()), seed=0)
    again = "python -m replay.testing.kills fixtures/cases > paper/kill-table.md"
    assert TABLE.read_text(encoding="utf-8") == written, again


def test_the_command_writes_the_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for suffix in (".jsonl", ".oracle.json"):
        name = f"paper-nine-events{suffix}"
        (tmp_path / name).write_bytes((CASES / name).read_bytes())
    assert kills.main([str(tmp_path), "--seed", "3"]) == 0
    only = [case for case in cases() if case.name == "paper-nine-events.jsonl"]
    assert capsys.readouterr().out == markdown(kill_table(only, 3), logs=1, seed=3)


def test_the_command_refuses_a_log_that_is_not_valid(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.jsonl").write_bytes(b"{}\n")
    assert kills.main([str(tmp_path)]) == 3
    assert "bad.jsonl:1: missing_field" in capsys.readouterr().err


def test_the_command_says_what_it_cannot_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert kills.main([str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err


def test_every_defect_applies_to_some_authored_log() -> None:
    assert {row.defect.id for row in table().values() if row.applied < 3} == set()
    assert len(DEFECTS) == len(BY_ID) >= 25


@pytest.mark.parametrize("defect_id", BY_ID)
def test_each_spoiled_log_counts_once(defect_id: str) -> None:
    row = table()[defect_id]
    assert row.applied == sum(row.caught.values()) + row.unchanged + row.unnoticed


def of_trace(trace: str) -> list[str]:
    return [defect.id for defect in DEFECTS if defect.trace == trace]


@pytest.mark.parametrize("defect_id", of_trace("refused"))
def test_what_is_named_as_refused_always_is(defect_id: str) -> None:
    row = table()[defect_id]
    assert row.caught["refused"] == row.applied


@pytest.mark.parametrize("defect_id", of_trace("some"))
def test_what_is_named_as_told_is_told_by_the_log_alone_at_least_once(defect_id: str) -> None:
    assert table()[defect_id].by_the_log > 0


@pytest.mark.parametrize("defect_id", of_trace("none"))
def test_what_is_named_as_traceless_is_missed_by_the_log_alone_at_least_once(
    defect_id: str,
) -> None:
    row = table()[defect_id]
    assert row.by_the_log < row.applied
    assert row.caught["refused"] == row.caught["gaps"] == row.caught["duplicates"] == 0


@pytest.mark.parametrize("defect_id", of_trace("harmless"))
def test_what_is_named_as_harmless_changes_no_answer(defect_id: str) -> None:
    for case in cases():
        log = valid_log(case.log, name=case.name)
        injected = BY_ID[defect_id].inject(log, Random(1))
        assert injected is not None
        assert same_answers(case.log, injected.data)
    row = table()[defect_id]
    assert row.unchanged + row.caught["duplicates"] == row.applied


def test_the_table_says_which_defects_leave_no_trace() -> None:
    text = TABLE.read_text(encoding="utf-8")
    traceless = text.split("## No trace of its own in the log")[1].split("## Harmless")[0]
    assert [d for d in of_trace("none") if f"* `{d}`: {BY_ID[d].sentence}" not in traceless] == []
    assert {"truncated-tail", "omitted-work-item", "omitted-event"} <= {*of_trace("none")}


def test_another_seed_spoils_otherwise_and_the_same_seed_alike() -> None:
    few, defect = cases()[:6], [BY_ID["omitted-event"], BY_ID["inserted-reopening"]]
    assert kill_table(few, 5, defects=defect) == kill_table(few, 5, defects=defect)
    log = valid_log(few[0].log)
    drawn = {BY_ID["omitted-event"].inject(log, Random(seed)) for seed in range(20)}
    assert len(drawn) > 1


def test_a_new_case_changes_no_other_case() -> None:
    defect = [BY_ID["mistyped-revision"]]
    apart = [kill_table([case], defects=defect)[0] for case in cases()[:8]]
    (together,) = kill_table(cases()[:8], defects=defect)
    assert together.applied == sum(row.applied for row in apart)
    assert together.caught == {
        check: sum(row.caught[check] for row in apart) for check in kills.CHECKS
    }


# What the injectors do


def each_injected() -> Iterator[tuple[Defect, ValidLog, bytes]]:
    for case in cases()[::7]:
        log = valid_log(case.log, name=case.name)
        for defect in DEFECTS:
            injected = defect.inject(log, Random(2))
            if injected is not None:
                yield defect, log, injected.data


def test_every_injection_is_deterministic_and_leaves_the_log_as_it_is() -> None:
    for defect, log, data in each_injected():
        before = [*log.lines]
        again = defect.inject(log, Random(2))
        assert again is not None
        assert (again.data, [*log.lines]) == (data, before)


def test_no_injector_fails_on_the_smallest_logs() -> None:
    for notation in ("beat", "beat#", "r1", "+ -", "ci+@"):
        log = log_of(notation)
        for defect in DEFECTS:
            injected = defect.inject(log, Random(0))
            assert injected is None or injected.data


@pytest.mark.parametrize(
    ("defect_id", "notation", "check"),
    [
        ("lost-in-the-middle", "r1 ci+ ready", "gaps"),
        ("swapped-sequences", "r1 beat:1", "refused"),
        ("swapped-sequences", "r1:0 beat:0", "unnoticed"),
        ("exact-duplicate", "r1 ci+", "duplicates"),
        ("link-to-itself", "r1", "anomalies"),
        ("retraction-by-another", "r1 ci+", "anomalies"),
        ("false-completion", "r1 ci-", "verdict"),
        ("false-resolution", "r1 +b1", "verdict"),
        ("replayed-receipt", "r1 ci+ r2", "verdict"),
        ("forged-pass", "r1 ci-", "unnoticed"),
        ("restamped-receipt", "r1 ci+ r2", "unnoticed"),
        ("overwritten-outcome", "r1 ci-", "unnoticed"),
        ("clock-reset-to-a-repeat", "+b1 +b1", "unnoticed"),
        ("truncated-tail", "r1 r2", "unnoticed"),
        ("omitted-event", "r1 r2", "unnoticed"),
        ("omitted-work-item", "r1 r1#W2", "unnoticed"),
        ("dropped-evidence", "r1 ready&log.txt", "unchanged"),
        ("reordered-lines", "r1 ci+ ready", "unchanged"),
        ("blank-lines", "r1 ci+ ready", "unchanged"),
    ],
)
def test_the_first_check_that_tells_is_named(defect_id: str, notation: str, check: str) -> None:
    assert told(defect_id, notation) == check


def test_authored_answers_tell_what_the_log_alone_does_not() -> None:
    log = log_of("r1 ci-")
    data = build.log_bytes(history("r1 ci-").events)
    asked = {"id": "q", "rules": "coordination/2", "at": {}, "work_id": "W1"}
    expected = {"question": "receipt", "of": "e2", "expect": {"outcome": "failed"}}
    oracle = json.dumps({"document": "replay.oracle/1", "answers": [{**asked, **expected}]})
    injected = BY_ID["overwritten-outcome"].inject(log, Random(0))
    assert injected is not None
    assert told_by(Case("log.jsonl", data, oracle.encode()), log, injected.data) == "oracle"


def test_a_lost_origin_starts_the_clock_at_the_repeat() -> None:
    assert [line["event_id"] for line in spoil("clock-reset-to-a-repeat", "+b1 beat +b1")] == [
        "e2",
        "e3",
    ]
    numbers = [line["recorded_sequence"] for line in spoil("clock-reset-to-a-repeat", "+b1 +b1")]
    assert numbers == [1]


def test_a_restamped_receipt_bears_the_current_revision() -> None:
    (_, check, _) = spoil("restamped-receipt", "r1 ci+ r2")
    assert check["artifact_revision"] == "r2"


def test_an_edit_changes_every_copy_of_a_line() -> None:
    data = build.log_bytes(history("r1 ci-").events)
    log = valid_log(data + data.splitlines()[1] + b"\n")
    injected = BY_ID["overwritten-outcome"].inject(log, Random(0))
    assert injected is not None
    outcomes = [json.loads(line)["payload"]["outcome"] for line in injected.data.splitlines()[1:]]
    assert outcomes == ["passed", "passed"]


def test_what_does_not_apply_is_null() -> None:
    log = log_of("r1 ci+")
    absent = {
        defect.id
        for defect in DEFECTS
        if defect.inject(log, Random(0)) is None and defect.trace != "refused"
    }
    assert {"omitted-work-item", "renamed-repeat", "false-completion"} <= absent
    assert "forged-pass" not in absent


def test_a_log_that_is_not_valid_cannot_be_spoiled() -> None:
    with pytest.raises(Refusal):
        valid_log(b"{}\n")


def test_every_defect_has_one_sentence_and_an_id_of_its_own() -> None:
    for defect in DEFECTS:
        assert defect.sentence.endswith(".")
        assert defect.trace in ("refused", "some", "none", "harmless")
        assert defect.id == defect.inject.__name__.replace("_", "-")


def test_the_examples_of_the_documentation_run() -> None:
    ran = doctest.testmod(defects)
    assert (ran.failed, ran.attempted > 0) == (0, True)
    assert spoiled.RULES == "coordination/2"
