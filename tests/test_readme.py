"""What the README tells a newcomer to write, written."""

from __future__ import annotations

import glob
import json
import re
from pathlib import Path
from typing import Any, Final

import duckdb
import pandas
import polars
import pytest
import yaml

import replay
from replay.demo import NEXT
from replay.sources import h5i_msg
from tests.command import CASES, ROOT, Run, document, in_process
from tests.test_sarif import valid as valid_sarif

README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_LOG: Final = README.split("```json\n")[1].split("```")[0]
Json = Any


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capfdbinary)


def block(marker: str) -> str:
    """The code under a marker comment."""
    return README.split(f"<!-- {marker} -->")[1].split("```")[1].partition("\n")[2]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """The README's log and oracle, where it says that they stand."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.jsonl").write_text(FIRST_LOG, encoding="utf-8")
    (folder / "a.oracle.json").write_text(block("oracle"), encoding="utf-8")
    return folder


def test_the_oracle_as_shown_agrees_with_the_log_as_shown(run: Run, logs: Path) -> None:
    (checked,) = document(run("check", logs, "--format", "json"))["logs"]
    assert (checked["outcome"], checked["summary"]["agree"]) == ("agree", 1)


def test_the_oracle_as_shown_is_found_to_differ_from_another_log(run: Run, logs: Path) -> None:
    (logs / "a.jsonl").write_text(FIRST_LOG.replace("started", "proposed"), encoding="utf-8")
    assert run("check", logs).status == 1


def test_with_no_oracle_a_log_is_accepted_and_a_contradicted_claim_is_no_finding(
    run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes((CASES / "false-success-claim.jsonl").read_bytes())
    ran = run("check", log, "--format", "sarif")
    assert (ran.status, valid_sarif(json.loads(ran.out))["results"]) == (0, [])
    assert "contradicted" in run("project", log).text
    assert run("check", log).text.startswith("ACCEPTED")


def test_undetermined_items_without_an_oracle_pass_and_are_notes(run: Run, logs: Path) -> None:
    (logs / "a.oracle.json").unlink()
    (logs / "a.jsonl").write_text(FIRST_LOG.replace("started", "completed"), encoding="utf-8")
    options = ("--rules", "coordination/1")
    ran = run("check", logs, *options, "--format", "sarif")
    found = valid_sarif(json.loads(ran.out))["results"]
    assert (ran.status, [(one["ruleId"], one["level"]) for one in found]) == (
        0,
        [("uncovered", "note")],
    )
    junit = run("check", logs, *options, "--format", "junit")
    assert (junit.status, junit.text.count("<testcase")) == (0, 1)
    assert 'name="accepted, no oracle"' in junit.text
    assert "<error" not in junit.text


def test_undetermined_answers_that_an_oracle_asks_for_are_warnings_and_errors(
    run: Run, logs: Path
) -> None:
    (logs / "a.jsonl").write_text(FIRST_LOG.replace("started", "completed"), encoding="utf-8")
    oracle = block("oracle").replace("coordination/2", "coordination/1")
    (logs / "a.oracle.json").write_text(oracle, encoding="utf-8")
    ran = run("check", logs, "--format", "sarif")
    levels = {one["ruleId"]: one["level"] for one in valid_sarif(json.loads(ran.out))["results"]}
    assert (ran.status, levels["undetermined"]) == (4, "warning")
    assert "<error" in run("check", logs, "--format", "junit").text


READERS: Final = block("one table of several logs").splitlines()


@pytest.mark.parametrize("line", READERS, ids=["pandas", "polars", "DuckDB"])
def test_each_line_reads_one_table_of_several_logs(run: Run, tmp_path: Path, line: str) -> None:
    paths = [CASES / f"{name}.jsonl" for name in ("repeated-blocker", "concurrent-blockers")]
    assert run("project", *paths, "-o", tmp_path).status == 0
    names = {"pandas": pandas, "polars": polars, "duckdb": duckdb, "glob": glob}
    read: Any = eval(line.replace("DIR", str(tmp_path)), names)
    frame = read.to_df() if hasattr(read, "to_df") else read
    logs = [str(name) for name in frame["log"]]
    expected = {
        path.stem: len(replay.project(replay.load(path).until(), rules="coordination/2").episodes)
        for path in paths
    }
    assert {name: logs.count(name) for name in logs} == expected


def test_the_receipt_time_as_shown_is_one_that_is_taken(run: Run, tmp_path: Path) -> None:
    row = re.findall(r'`(\{"recorded_sequence".*?\})`', README)[0]
    message = b'{"id":"m1","from":"a","to":"b","body":"x"}\n'
    (tmp_path / "messages.jsonl").write_bytes(message)
    (tmp_path / "recorded.jsonl").write_text(row, encoding="utf-8")
    out = tmp_path / "log.jsonl"
    given = (tmp_path / "messages.jsonl", "--recorded", tmp_path / "recorded.jsonl")
    assert run("import", h5i_msg.SOURCE, *given, "-o", out).status == 0
    assert [event.event_id for event in replay.load(out).events] == ["m1"]
    help_text = "".join(run("import", "--help").text.split())
    assert "".join(row.split()) in help_text


def test_the_readme_stays_short_and_the_notebooks_extra_has_what_it_runs() -> None:
    assert len(README.splitlines()) < 420
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {name.partition(">")[0] for name in extras["optional-dependencies"]["notebooks"]}
    assert {"jupyterlab", "nbclient"} <= wanted  # `jupyter lab`, `jupyter execute`


def test_the_variable_that_the_workflow_asks_for_has_an_example() -> None:
    workflow = yaml.safe_load((ROOT / "fixtures/ci/github-actions.yml").read_text("utf-8"))
    steps = workflow["jobs"]["check"]["steps"]
    assert any("vars.REPLAY_TOOL" in str(step) for step in steps)
    assert re.search(r"`REPLAY_TOOL` is what pip is to install, such as `git\+https://", README)


def test_the_demo_names_the_page_and_python(run: Run, tmp_path: Path) -> None:
    assert "view" in {step.command for step in NEXT}
    text = run("demo", tmp_path).text
    code = text.partition("a picture of the states:\n\n")[2]
    *setup, last = [line.strip() for line in code.strip().splitlines()]
    names: dict[str, Any] = {}
    exec("\n".join(setup), names)
    assert "<svg" in eval(last, names)._repr_html_()
    first = text.partition("2. ")[0]
    assert len(first.splitlines()) <= 34
