"""What other repositories copy: the workflow, the hook, and the commands that these run."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.command import CASES, PAPER, REFUSED, ROOT, environment
from tests.test_junit import valid as valid_junit
from tests.test_sarif import valid as valid_sarif

Json = Any
WORKFLOW: Final = ROOT / "fixtures" / "ci" / "github-actions.yml"
CONFIG: Final = ROOT / "fixtures" / "ci" / "pre-commit-config.yaml"
MANIFEST: Final = ROOT / ".pre-commit-hooks.yaml"


def loaded(path: Path) -> Json:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps() -> list[Json]:
    steps: list[Json] = loaded(WORKFLOW)["jobs"]["check"]["steps"]
    return steps


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder of logs, one of them refused, and `replay` as a command beside it."""
    logs, commands = tmp_path / "logs", tmp_path / "bin"
    logs.mkdir()
    commands.mkdir()
    for path in (PAPER, PAPER.with_suffix(".oracle.json"), REFUSED / "wrong_type.jsonl"):
        shutil.copy(path, logs)
    (commands / "replay").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m replay "$@"\n')
    (commands / "replay").chmod(0o755)
    return tmp_path


def shell(command: str, repository: Path) -> subprocess.CompletedProcess[bytes]:
    env = environment()
    env["PATH"] = f"{repository / 'bin'}:{env['PATH']}"
    return subprocess.run(
        ["sh", "-e", "-c", command], cwd=repository, env=env, capture_output=True, check=False
    )


def test_the_workflow_runs_on_changes_and_may_upload_what_it_writes() -> None:
    workflow = loaded(WORKFLOW)
    assert workflow[True] == ["push", "pull_request"]  # YAML 1.1 takes `on` for a boolean
    assert workflow["permissions"] == {"contents": "read", "security-events": "write"}
    assert all(("uses" in step) != ("run" in step) for step in steps())


def test_the_commands_of_the_workflow_write_the_files_that_it_uploads(repository: Path) -> None:
    checks = [step["run"] for step in steps() if step.get("run", "").startswith("replay ")]
    assert len(checks) == 2
    assert [shell(command, repository).returncode for command in checks] == [3, 3]
    uses = {step["uses"].split("@")[0]: step.get("with", {}) for step in steps() if "uses" in step}
    sarif = repository / uses["github/codeql-action/upload-sarif"]["sarif_file"]
    found = valid_sarif(json.loads(sarif.read_bytes()))
    assert [result["ruleId"] for result in found["results"]] == ["wrong_type"]
    place = found["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "logs/wrong_type.jsonl"
    junit = repository / uses["actions/upload-artifact"]["path"]
    assert valid_junit(junit.read_bytes()).get("errors") == "1"


def test_what_follows_a_failed_check_still_runs() -> None:
    first, *later = [n for n, step in enumerate(steps()) if "replay" in step.get("run", "")]
    assert later
    assert all("!cancelled()" in step["if"] for step in steps()[first + 1 :])


def test_the_hook_has_what_a_manifest_requires() -> None:
    (hook,) = loaded(MANIFEST)
    assert hook["id"] == "replay-check"
    assert all(isinstance(hook[key], str) for key in ("id", "name", "entry", "language"))
    assert hook["language"] == "python"  # so that it is installed from this repository
    assert hook["require_serial"] is True


@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("logs/a.jsonl", True),
        ("logs/a.jsonl.gz", True),
        ("logs/a.jsonl.zst", True),
        ("logs/a.jsonl.quarantine.jsonl", False),
        ("logs/a.oracle.json", False),
        ("logs/a.jsonl.losses.json", False),
    ],
)
def test_the_hook_takes_logs_and_nothing_else(name: str, taken: bool) -> None:
    (hook,) = loaded(MANIFEST)
    found = re.search(hook["files"], name) and not re.search(hook["exclude"], name)
    assert bool(found) == taken


@pytest.mark.parametrize(("log", "status"), [(CASES / "base-states.jsonl", 0), (REFUSED, 3)])
def test_the_entry_of_the_hook_runs_and_stops_a_bad_commit(
    repository: Path, log: Path, status: int
) -> None:
    (hook,) = loaded(MANIFEST)
    ran = shell(f"{hook['entry']} {shlex.quote(str(log))}", repository)
    assert ran.returncode == status


def test_the_configuration_to_copy_names_the_hook_and_narrows_it() -> None:
    (hook,) = loaded(MANIFEST)
    (repository,) = loaded(CONFIG)["repos"]
    (used,) = repository["hooks"]
    assert used["id"] == hook["id"]
    assert re.search(used["files"], "logs/a.jsonl")
    assert not re.search(used["files"], "data/a.jsonl")


def test_the_readme_quotes_these_files_and_no_others() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = re.findall(r"```yaml\n(.*?)```", readme, re.DOTALL)
    if not quoted:
        pytest.skip("the README quotes no YAML")
    files = [path.read_text(encoding="utf-8") for path in (WORKFLOW, CONFIG)]
    assert sorted(quoted) == sorted(text for text in files if text in quoted)
