"""The example of a rule set of one's own: what it answers, and that every command finds it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given

import replay
from replay.document import projection_document
from replay.history import Cutoff, History
from replay.rules import named
from replay.timeline import all_answers, timeline
from tests.command import CASES, PAPER, ROOT, Ran, document, environment, oracle, process
from tests.drawn import histories
from tests.notation import history, lines
from tests.plugins import (
    EXAMPLE,
    PROJECT,
    SOURCE,
    example,
    site,
)

__all__ = ["site"]  # a fixture

BUILT_IN: Final = ("coordination/1", "coordination/2")


# ---- what it answers


def shown(item: Any) -> tuple[Any, ...]:
    progress = item.clocks.last_progress
    return item.state.value, item.revision.value, None if progress is None else progress.event_id


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("beat", (None, None, None)),
        ("propose", ("proposed", None, None)),
        ("propose propose", ("proposed", None, None)),
        ("r1 propose", ("active", "r1", "e1")),
        ("propose r1 beat r1", ("active", "r1", "e2")),
        ("propose r1 r2 r1", ("active", "r1", "e3")),
        ("propose r1 cost.recorded any.other.type", ("active", "r1", "e2")),
    ],
)
def test_the_example_counts_what_was_published(
    site: Path, written: str, expected: tuple[Any, ...]
) -> None:
    example(site)
    (item,) = replay.project(history(written).until(), rules="acme/1").items
    assert (shown(item), item.undetermined_by, item.episodes) == (expected, (), ())


@pytest.mark.parametrize("written", ["propose r1 ci+", "propose r1 done", "propose r1 r2!e2"])
def test_the_example_says_nothing_of_an_item_with_events_that_it_does_not_cover(
    site: Path, written: str
) -> None:
    example(site)
    projection = replay.project(history(written).until(), rules="acme/1")
    (item,) = projection.items
    assert (shown(item), item.undetermined_by) == ((None, None, None), ("e3",))
    assert (item.episodes, item.corrections) == (None, None)
    assert item.clocks.last_message.event_id == "e3"
    assert [entry.event_id for entry in projection.uncovered] == ["e3"]


def covered(log: History) -> set[str | None]:
    """The work items of a log of which the example says something."""
    items = replay.project(log.until(), rules="acme/1").items
    return {item.work_id for item in items if not item.undetermined_by}


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("site")
    example(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("replay.rules._named", {})
        patch.syspath_prepend(str(folder))
        yield
    sys.modules.pop("acme_rules", None)


@pytest.mark.usefixtures("acme")
@given(log=histories())
def test_the_example_and_coordination_2_agree_on_what_both_cover(log: History) -> None:
    second = replay.project(log.until(), rules="coordination/2")
    for work_id in sorted(filter(None, covered(log))):
        own = replay.project(log.until(), rules="acme/1").item(work_id)
        other = second.item(work_id)
        assert own is not None
        assert other is not None
        assert shown(own) == shown(other)
        assert (own.state.since, own.revision.since) == (other.state.since, other.revision.since)


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("items_alone", [False, True])
@given(log=histories(max_size=8))
def test_its_timeline_says_at_every_cutoff_what_it_projects(
    log: History, items_alone: bool
) -> None:
    rule_set = msgspec.structs.replace(named("acme/1"), items_alone=items_alone)
    line = timeline(log.at(Cutoff()), rule_set)
    for event in log.events:
        at = event.recorded_sequence
        assert line.at(at) == all_answers(rule_set.project(log.until(sequence=at)))


@pytest.mark.usefixtures("acme")
@pytest.mark.parametrize("case", sorted(CASES.glob("*.jsonl")), ids=lambda case: case.stem)
def test_it_answers_every_case_at_every_cutoff(case: Path) -> None:
    log = replay.load(case)
    for at in range(len(log.events) + 2):
        projection = replay.project(log.until(sequence=at), rules="acme/1")
        own = projection_document(projection, named("acme/1"))
        other = replay.as_document(replay.project(log.until(sequence=at), rules="coordination/2"))
        for part in ("input", "cutoff", "accounting"):
            assert own[part] == other[part]


# ---- on the command line


def in_every_command(run: Any, folder: Path) -> None:
    """What one who installed the example sees; `run` runs `replay`."""
    log = folder / "published.jsonl"
    log.write_bytes(lines(history("propose r1 beat r2")))
    answered = {"rules": "acme/1", "expect": {"value": "active"}}
    (folder / "published.oracle.json").write_bytes(oracle(answered))
    listed = document(run("rules", "--format", "json"))["rules"]
    assert [rule_set["id"] for rule_set in listed] == [*BUILT_IN, "acme/1"]
    assert len(listed[-1]["rules"]) == 5
    assert run("rules").text.count("\nacme/1\n") == 1
    checked = run("check", log, "--rules", "acme/1")
    assert checked.status == 0
    assert checked.text.startswith("AGREE  published.jsonl")
    by_oracle = document(run("check", log, "--format", "json"))  # which asks of acme/1 itself
    assert by_oracle["logs"][0]["summary"] == {"agree": 1, "disagree": 0, "undetermined": 0}
    projected = document(run("project", log, "--rules", "acme/1", "--format", "json"))
    digest = f"sha256:{sha256(SOURCE.encode()).hexdigest()}"
    assert projected["rules"] == {"id": "acme/1", "digest": digest}
    (item,) = projected["items"]
    assert item["state"]["value"] == "active"
    grown = document(run("timeline", log, "--rules", "acme/1", "--format", "json"))
    states = [i["value"]["value"] for i in grown["intervals"] if i["question"] == "state"]
    assert states == ["proposed", "active"]
    undetermined = document(run("project", PAPER, "--rules", "acme/1", "--format", "json"))
    assert undetermined["items"][0]["undetermined_by"] == ["e2", "e3", "e4", "e5", "e7", "e8", "e9"]
    tables = run("project", log, "--rules", "acme/1", "-o", folder / "tables")
    assert (tables.status, (folder / "tables" / "items.parquet").exists()) == (0, True)
    page = run("view", log, "--rules", "acme/1", "-o", folder / "page.html")
    assert (page.status, b"acme/active" in (folder / "page.html").read_bytes()) == (0, True)


def test_every_command_finds_it_beside_a_checkout(tmp_path: Path) -> None:
    env = example(tmp_path / "site")
    in_every_command(lambda *arguments: process(*arguments, env=env), tmp_path)


@pytest.mark.long
def test_every_command_finds_it_installed_beside_a_wheel(tmp_path: Path) -> None:
    source, home = tmp_path / "source", tmp_path / "venv"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("replay", "study", "fixtures"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("__pycache__"))
    venv.create(home, with_pip=True)
    pip = [str(home / "bin" / "python"), "-m", "pip"]
    wheel = [*pip, "wheel", "-q", "--no-deps", "-w", str(tmp_path / "dist"), str(source)]
    subprocess.run(wheel, check=True, capture_output=True)
    (built,) = (tmp_path / "dist").iterdir()
    install = [*pip, "install", "-q", str(built), str(tmp_path / "example")]
    subprocess.run(install, check=True, capture_output=True)

    def run(*arguments: object) -> Ran:
        line = [str(home / "bin" / "replay"), *map(str, arguments)]
        env = environment(PYTHONPATH=None)
        done = subprocess.run(line, cwd=tmp_path, env=env, capture_output=True, check=False)
        return Ran(done.returncode, done.stdout, done.stderr.decode())

    in_every_command(run, tmp_path)


def test_the_example_is_about_sixty_lines_of_public_names() -> None:
    assert 50 <= sum(bool(line.strip()) for line in SOURCE.splitlines()) <= 70
    assert "import replay\nfrom replay import " in SOURCE
    assert "replay." not in "".join(line for line in SOURCE.splitlines() if "import" in line)
    assert PROJECT["dependencies"] == ["coordination-replay"]
