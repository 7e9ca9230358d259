"""A recorded document is reproduced from its log, or it is said where it is not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay import rules
from replay.canonical import encode
from replay.document import projection_document
from replay.history import Cutoff, History
from replay.recheck import recheck, recorded_in
from replay.rechecking import _is_bare
from replay.schemas import schema
from tests.command import PAPER, REFUSED, Run, document, in_process
from tests.drawn import cutoffs, histories
from tests.notation import history, lines
from tests.test_compare import EVERYTHING, changed, leaves
from tests.test_schemas import with_an_unknown_member, without_each_member

SECOND = rules.named("coordination/2")
Json = Any


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


@pytest.fixture
def here(tmp_path: Path, run: Run) -> Path:
    """A log, and what `project` and `check` printed of it."""
    (tmp_path / "a.jsonl").write_bytes(lines(history("r1 ci+ + note# ready")))
    asked = (tmp_path / "a.jsonl", "--at-sequence", 4, "--at-minute", 7, "--format", "json")
    (tmp_path / "p.json").write_bytes(run("project", *asked).out)
    (tmp_path / "c.json").write_bytes(run("check", tmp_path / "a.jsonl", "--format", "json").out)
    return tmp_path


def projected(log: History, cutoff: Cutoff, basis: Any = "elapsed") -> Json:
    prefix = log.at(cutoff, basis=basis)
    return json.loads(encode(projection_document(SECOND.project(prefix), SECOND)))


def rechecked(recorded: Json, log: History) -> Json:
    (one,) = recorded_in("x.json", recorded)
    return recheck(one, log)


# Derived again


@given(data=st.data(), log=histories(max_size=8))
@settings(max_examples=60, deadline=None)
def test_what_was_printed_at_any_cutoff_is_reproduced(data: st.DataObject, log: History) -> None:
    result = rechecked(projected(log, data.draw(cutoffs(log))), log)
    assert (result["outcome"], result["first_difference"]) == ("reproduced", None)
    assert result["sha256"]["recorded"] == result["sha256"]["derived"]


# what says how to derive it again, and the name, which a renamed log has another of
_HOW = (("document",), ("cutoff", "sequence"), ("cutoff", "recorded"), ("rules", "id"))


def test_a_document_with_any_one_value_changed_differs_at_that_value() -> None:
    log = history(EVERYTHING)
    recorded = projected(log, Cutoff())
    paths = [p for p in leaves(recorded) if p not in (*_HOW, ("input", "name"))]
    assert len(paths) > 100
    for path in paths:
        result = rechecked(changed(recorded, path), log)
        assert result["outcome"] == "differs", path
        first = result["first_difference"]
        pointer = "".join(f"/{step}" for step in path)
        was_empty = isinstance(value_at(recorded, path), list)
        assert first["pointer"] == (f"{pointer}/0" if was_empty else pointer)
        assert result["differences"] == 1


def value_at(value: Json, path: tuple[Any, ...]) -> Json:
    for step in path:
        value = value[step]
    return value


def test_a_member_that_was_taken_away_or_added_is_a_difference() -> None:
    log = history("r1 +")
    recorded = projected(log, Cutoff())
    del recorded["items"][0]["clocks"]["last_progress"]
    recorded["items"][0]["surprise"] = None
    result = rechecked(recorded, log)
    assert result["differences"] == 2
    first = result["first_difference"]
    assert (first["pointer"], first["recorded"]) == ("/items/0/clocks/last_progress", None)
    assert first["derived"]["value"]["event_id"] == "e1"


@pytest.mark.parametrize(
    ("path", "value", "cause"),
    [
        (("input", "sha256"), "0" * 64, "input"),
        (("rules", "digest"), "sha256:" + "0" * 64, "rules"),
        (("tool", "version"), "0.0.0", "tool"),
        (("items", 0, "state", "value"), "complete", "unexplained"),
    ],
)
def test_the_cause_is_told_as_far_as_the_document_tells_it(
    path: tuple[Any, ...], value: str, cause: str
) -> None:
    log = history("r1 +")
    recorded = projected(log, Cutoff())
    value_at(recorded, path[:-1])[path[-1]] = value
    result = rechecked(recorded, log)
    assert (result["outcome"], result["cause"]) == ("differs", cause)


def test_another_log_is_another_input() -> None:
    result = rechecked(projected(history("r1 ci+"), Cutoff()), history("r1 ci-"))
    assert (result["outcome"], result["cause"]) == ("differs", "input")


def test_a_document_of_another_rule_set_is_derived_under_that() -> None:
    log = history("r1 + ready")
    first = rules.named("coordination/1")
    recorded = json.loads(encode(projection_document(first.project(log.at(Cutoff())), first)))
    assert rechecked(recorded, log)["outcome"] == "reproduced"
    recorded["rules"]["id"] = "coordination/2"
    result = rechecked(recorded, log)
    assert (result["outcome"], result["cause"]) == ("differs", "rules")


# The command


def test_projections_and_checks_are_reproduced_from_the_log_beside_them(
    run: Run, here: Path
) -> None:
    for name in ("p.json", "c.json"):
        ran = run("check", here / name)
        assert ran.status == 0
        assert ran.text.startswith(f"REPRODUCED  {name}")
        assert ("is not compared again" in ran.text) == (name == "c.json")
    printed = document(run("check", here / "p.json", here / "c.json", "--format", "json"))
    judge = jsonschema.Draft202012Validator(schema("recheck"))
    judge.validate(printed)
    assert [d["results"][0]["pointer"] for d in printed["documents"]] == ["", "/logs/0/projection"]
    assert [p for p, poor in without_each_member(printed) if judge.is_valid(poor)] == []
    assert [p for p, rich in with_an_unknown_member(printed) if judge.is_valid(rich)] == []


def test_a_real_document_is_reproduced_in_the_current_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / PAPER.name).write_bytes(PAPER.read_bytes())
    (tmp_path / "p.json").write_bytes(run("project", PAPER, "--format", "json").out)
    monkeypatch.chdir(tmp_path)
    assert run("check", "p.json").status == 0


def test_a_tampered_document_differs_and_the_text_says_where(run: Run, here: Path) -> None:
    text = (here / "p.json").read_text().replace('"blocked"', '"active"')
    (here / "q.json").write_text(text)
    ran = run("check", here / "q.json")
    assert ran.status == 1
    flat = " ".join(ran.text.split())
    assert "DIFFERS q.json" in flat
    assert "differs at /items/0/state/value recorded active derived blocked" in flat
    assert "a finding" in flat
    printed = document(run("check", here / "q.json", "--format", "json"))
    jsonschema.Draft202012Validator(schema("recheck")).validate(printed)
    assert printed["exit"] == 1


def test_a_log_that_was_renamed_is_named_and_reproduces_it(run: Run, here: Path) -> None:
    (here / "a.jsonl").rename(here / "renamed.jsonl")
    ran = run("check", here / "p.json")
    assert ran.status == 2
    assert 'its log "a.jsonl" is not beside it' in ran.err
    assert run("check", here / "p.json", "--log", here / "renamed.jsonl").status == 0


def test_a_log_that_is_refused_now_reproduces_nothing(run: Run, here: Path) -> None:
    with (here / "a.jsonl").open("ab") as file:
        file.write(b"{}\n")
    ran = run("check", here / "p.json")
    assert ran.status == 3
    assert "REFUSED" in ran.text
    printed = document(run("check", here / "p.json", "--format", "json"))
    jsonschema.Draft202012Validator(schema("recheck")).validate(printed)
    assert printed["documents"][0]["results"][0]["refusal"]["code"] == "missing_field"


def test_a_refusal_that_was_recorded_is_reproduced_by_the_same_refusal(
    run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "wrong_type.jsonl"
    log.write_bytes((REFUSED / "wrong_type.jsonl").read_bytes())
    (tmp_path / "c.json").write_bytes(run("check", log, "--format", "json").out)
    assert run("check", tmp_path / "c.json").status == 0
    log.write_bytes(lines(history("r1")))
    assert run("check", tmp_path / "c.json").status == 1
    log.write_bytes(b"[]\n")
    ran = run("check", tmp_path / "c.json", "--format", "json")
    assert ran.status == 3
    jsonschema.Draft202012Validator(schema("recheck")).validate(document(ran))


def test_a_recovered_log_is_recovered_again_and_nothing_is_written(
    run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(lines(history("r1 +")) + b'{"torn')
    recorded = run("project", log, "--recover", "--format", "json").out
    (tmp_path / "a.jsonl.quarantine.jsonl").unlink()
    (tmp_path / "p.json").write_bytes(recorded)
    assert run("check", tmp_path / "p.json").status == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "p.json"]


HOSTILE_NAMES = [
    "../a.jsonl",
    "..",
    ".",
    "",
    "/a.jsonl",
    "sub/a.jsonl",
    "sub\\a.jsonl",
    "c:a.jsonl",
    "a.jsonl\x00.gz",
    "a\n.jsonl",
    "-/a",
]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_a_name_that_is_more_than_a_name_is_never_opened(
    run: Run, here: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = json.loads((here / "p.json").read_text())
    recorded["input"]["name"] = name
    folder = here / "inner"
    folder.mkdir()
    (folder / "p.json").write_text(json.dumps(recorded))
    seen: list[str] = []
    monkeypatch.setattr("replay.files.read_source", lambda path, **_: seen.append(path))
    ran = run("check", folder / "p.json")
    assert ran.status == 2
    assert "only a bare file name" in ran.err
    assert "\x00" not in ran.err
    assert seen == []
    assert not _is_bare(name)


def test_a_dash_is_a_file_beside_and_never_standard_input(run: Run, here: Path) -> None:
    recorded = json.loads((here / "p.json").read_text())
    recorded["input"]["name"] = "-"
    (here / "d.json").write_text(json.dumps(recorded))
    assert run("check", here / "d.json").status == 2
    (here / "-").write_bytes((here / "a.jsonl").read_bytes())
    assert run("check", here / "d.json").status == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes that have a name")
def test_a_pipe_beside_is_no_log(run: Run, here: Path) -> None:
    (here / "a.jsonl").unlink()
    os.mkfifo(here / "a.jsonl")
    assert run("check", here / "p.json").status == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("p.json", "a.jsonl"), "not both at once"),
        (("a.jsonl", "--log", "a.jsonl"), "--log is the log of a recorded document"),
        (("p.json", "--format", "sarif"), "--format sarif is about logs"),
        (("p.json", "--format", "junit"), "--format junit is about logs"),
        (("p.json", "--at-sequence", "0"), "no --at-sequence"),
        (("p.json", "--at-minute", "0"), "no --at-minute"),
        (("p.json", "--rules", "coordination/1"), "no --rules"),
        (("p.json", "--recover"), "no --recover"),
        (("p.json", "--oracle", "o.json"), "no --oracle"),
        (("bad.json",), 'found "replay.oracle/1"'),
        (("missing.json",), "no such file"),
        (("headless.json",), "not a recorded projection"),
        (("unknown.json",), "no rule set 'coordination/9'"),
        (("logs.json",), "an array of objects"),
        (("many.json", "--log", "a.jsonl"), "about 2"),
    ],
)
def test_what_cannot_be_rechecked_is_a_usage_error(
    run: Run, here: Path, arguments: tuple[str, ...], words: str
) -> None:
    recorded = json.loads((here / "p.json").read_text())
    many = {"document": "replay.check/1", "logs": [{"projection": recorded}] * 2}
    for name, written in {
        "bad.json": {"document": "replay.oracle/1"},
        "headless.json": {"document": "replay.projection/1"},
        "unknown.json": {**recorded, "rules": {**recorded["rules"], "id": "coordination/9"}},
        "logs.json": {"document": "replay.check/1", "logs": {}},
        "many.json": many,
    }.items():
        (here / name).write_text(json.dumps(written))
    given = [here / a if a.endswith((".json", ".jsonl")) else a for a in arguments]
    ran = run("check", *given)
    assert ran.status == 2
    assert words in ran.err


def test_of_several_documents_each_is_told_and_the_most_urgent_status_counts(
    run: Run, here: Path
) -> None:
    (here / "q.json").write_text((here / "p.json").read_text().replace('"blocked"', '"active"'))
    ran = run("check", here / "p.json", here / "missing.json", here / "q.json", "--format", "json")
    printed = document(ran)
    outcomes = [d["results"][0]["outcome"] for d in printed["documents"]]
    assert (ran.status, printed["exit"], outcomes) == (2, 2, ["reproduced", "differs"])
