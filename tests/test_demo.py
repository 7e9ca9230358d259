"""`replay demo`: a newcomer's first three commands, from a checkout, a wheel and an sdist."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import venv
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

import pytest

from replay.demo import FILES, NEXT, STEPS, Step
from tests.command import ROOT, Ran, Run, environment, in_process, process

FIXTURES: Final = ROOT / "fixtures"
PYPROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS: Final[dict[str, Any]] = PYPROJECT["tool"]["setuptools"]


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


# ---- what is copied


def test_the_fixtures_are_copied_byte_for_byte_and_nothing_else(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "new" / "demo"
    ran = run("demo", target)
    assert ran.status == 0
    assert tree(target) == {name: (FIXTURES / name).read_bytes() for name in FILES}
    assert ran.said[0] == f"{target}: {len(FILES)} of {len(FILES)} fixtures were new"


def test_with_no_folder_named_they_go_to_one_below_the_current(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("demo").status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["replay-demo"]


def test_a_second_demo_finds_its_files_and_prints_the_same(run: Run, tmp_path: Path) -> None:
    first = run("demo", tmp_path)
    modified = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.jsonl")}
    second = run("demo", tmp_path)
    assert (second.status, second.out) == (0, first.out)
    assert second.said[0].endswith(f": 0 of {len(FILES)} fixtures were new")
    assert modified == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.jsonl")}


@pytest.mark.parametrize("name", [FILES[0], FILES[-1]])
def test_a_file_that_is_there_and_differs_is_kept_and_nothing_is_copied(
    run: Run, tmp_path: Path, name: str
) -> None:
    mine = tmp_path / name
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine\n")
    ran = run("demo", tmp_path)
    assert (ran.status, ran.out) == (2, b"")
    assert ran.said == [f"{mine} is there and differs, and is not overwritten: name another DIR"]
    assert tree(tmp_path) == {name: b"mine\n"}


def test_a_link_to_nowhere_is_there_and_differs(run: Run, tmp_path: Path) -> None:
    link = tmp_path / FILES[-1]
    link.parent.mkdir()
    link.symlink_to(tmp_path / "nowhere")
    assert run("demo", tmp_path).status == 2
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_that_cannot_be_made_ends_the_demo_with_usage(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    ran = run("demo", tmp_path / "file" / "demo")
    assert ran.status == 2
    assert "cannot be made: not a directory: name another DIR" in ran.err


# ---- what is shown


def shown_output(ran: Ran, step: Step, directory: Path) -> bytes:
    """What the demo printed between a command and its exit status."""
    typed = shlex.join(step.arguments(str(directory)))
    after = ran.out.partition(f"$ replay {typed}\n".encode())[2]
    return after.partition(b"(exit status ")[0]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step.command} {step.file}")
def test_each_command_is_shown_with_its_own_output_and_status(
    run: Run, tmp_path: Path, step: Step
) -> None:
    demo = run("demo", tmp_path)
    alone = run(*step.arguments(str(tmp_path)))
    assert alone.status == step.status
    assert alone.out
    assert shown_output(demo, step, tmp_path) == alone.out
    assert alone.err in demo.err


def test_every_command_has_one_sentence_and_can_be_typed_as_it_is_shown(
    run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "it's a demo"
    text = run("demo", folder).text
    typed = [shlex.split(line) for line in re.findall(r"^\$ replay (.+)$", text, re.M)]
    assert typed == [step.arguments(str(folder)) for step in (*STEPS, *NEXT)]
    assert [run(*arguments).status for arguments in typed] == [0, 0, 3, 0, 0, 0]
    flat = " ".join(text.split())
    assert all(f"{n}. {step.sentence} $ replay" in flat for n, step in enumerate(STEPS, 1))
    assert len(STEPS) == 3


def test_a_folder_named_like_an_option_is_a_path(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = run("demo", "--", "-x")
    assert ran.status == 0
    assert "$ replay check ./-x/cases/paper-nine-events.jsonl" in ran.text


def test_a_command_that_ends_otherwise_ends_the_demo_with_its_status(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = STEPS[0]._replace(file="refused/wrong_type.jsonl")
    monkeypatch.setattr("replay.demo.STEPS", (wrong, *STEPS[1:]))
    ran = run("demo", tmp_path)
    assert ran.status == 3
    assert ran.text.endswith("(exit status 3)\n\n")


@pytest.mark.parametrize(("colour", "terminal"), [(True, True), (False, False)])
def test_colour_is_for_terminals(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, colour: bool, terminal: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("replay.terminal._is_terminal", lambda: terminal)
    assert ("\x1b[1m$ replay check" in run("demo", tmp_path).text) == colour


def test_a_reader_who_stops_reading_is_no_fault(tmp_path: Path) -> None:
    ran = process("demo", tmp_path, redirect="| head -n 1 >/dev/null")
    assert "a fault of ours" not in ran.err


# ---- what is packaged


def test_the_packages_that_are_listed_are_those_of_the_checkout() -> None:
    found = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for top in ("replay", "study")
        for path in (ROOT / top).rglob("__init__.py")
    }
    assert set(SETUPTOOLS["packages"]) == found | set(SETUPTOOLS["package-dir"])


def test_a_wheel_holds_exactly_the_fixtures_that_are_copied() -> None:
    packaged = set()
    for package, folder in SETUPTOOLS["package-dir"].items():
        patterns = SETUPTOOLS["package-data"][package]
        packaged |= {
            path.relative_to(FIXTURES).as_posix()
            for path in (ROOT / folder).iterdir()
            if any(fnmatch(path.name, pattern) for pattern in patterns)
        }
    assert packaged == set(FILES)


def built(folder: Path) -> list[Path]:
    """A source archive, and the wheel that is built from it and not from the checkout."""
    source = folder / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("replay", "study", "fixtures"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "build", "--outdir", str(folder / "dist"), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return sorted((folder / "dist").iterdir())


def demo_of(archive: Path, home: Path, folder: Path, *options: str) -> Ran:
    """The demo of an archive, installed into a virtual environment, run in an empty folder."""
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "-q", *options, str(archive)]
    subprocess.run(pip, check=True, capture_output=True)
    folder.mkdir()
    done = subprocess.run(
        [home / "bin" / "replay", "demo"],
        cwd=folder,
        env=environment(PYTHONPATH=None),
        capture_output=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


@pytest.mark.long
def test_a_wheel_and_an_sdist_install_and_run_from_an_empty_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, home = tmp_path / "here", tmp_path / "venv"
    here.mkdir()
    monkeypatch.chdir(here)
    expected = run("demo")
    wheel, sdist = built(tmp_path)
    assert (wheel.suffix, sdist.suffix) == (".whl", ".gz")
    venv.create(home, with_pip=True)
    assert demo_of(wheel, home, tmp_path / "wheel") == expected
    # of the second, what it needs is there already
    again = ("--force-reinstall", "--no-deps")
    assert demo_of(sdist, home, tmp_path / "sdist", *again) == expected
    fixtures = {f"replay-demo/{name}": (FIXTURES / name).read_bytes() for name in FILES}
    assert tree(tmp_path / "wheel") == tree(tmp_path / "sdist") == fixtures
