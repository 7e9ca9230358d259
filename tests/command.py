"""Running the `replay` command for tests: in this process, and as one of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from replay.canonical import encode
from replay.cli import main
from replay.event import Record
from replay.report.safe import shown
from replay.schemas import schema

ROOT: Final = Path(__file__).parent.parent
CASES: Final = ROOT / "fixtures" / "cases"
REFUSED: Final = ROOT / "fixtures" / "refused"
PAPER: Final = CASES / "paper-nine-events.jsonl"

Json = Any


class Ran(Record, frozen=True):
    """What a run left: its exit status, standard output, and standard error."""

    status: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode()

    @property
    def said(self) -> list[str]:
        """The lines of standard error, each a message of ours."""
        lines = self.err.splitlines()
        assert all(line.startswith("replay: ") for line in lines), self.err
        return [line.removeprefix("replay: ") for line in lines]


Run = Callable[..., Ran]


def in_process(captured: pytest.CaptureFixture[bytes]) -> Run:
    """Runs `replay.cli.main` on arguments that may be paths."""

    def run(*arguments: object) -> Ran:
        status = main([str(argument) for argument in arguments])
        out, err = captured.readouterr()
        return Ran(status, out, err.decode())

    return run


def environment(**changed: str | None) -> dict[str, str]:
    """The tests' own environment; null takes a variable away."""
    fixed = {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": None, "COLUMNS": None, "NO_COLOR": None}
    merged = {**os.environ, **fixed, **changed}
    return {name: value for name, value in merged.items() if value is not None}


def command(*arguments: object, prologue: str = "") -> list[str]:
    """The command line of a process; `prologue` is Python that runs in it beforehand."""
    given = [str(argument) for argument in arguments]
    if not prologue:
        return [sys.executable, "-m", "replay", *given]
    code = f"{prologue}\nfrom replay.cli import entry\nentry()"
    return [sys.executable, "-c", code, *given]


def process(
    *arguments: object,
    stdin: bytes = b"",
    prologue: str = "",
    redirect: str = "",
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
) -> Ran:
    """Runs the command as a process; `redirect` is for the shell, as in `2>&-`."""
    line = command(*arguments, prologue=prologue)
    if redirect:
        line = ["sh", "-c", f'"$@" {redirect}', "sh", *line]
    done = subprocess.run(
        line, input=stdin, capture_output=True, env=env or environment(), cwd=cwd, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr.decode())


def document(ran: Ran) -> Json:
    """The one document on standard output: canonical bytes, a newline, and as published."""
    found = json.loads(ran.out)
    assert ran.out == encode(found) + b"\n"
    name, _, version = found["document"].removeprefix("replay.").partition("/")
    assert version == "1"
    validator = jsonschema.Draft202012Validator(schema(name))
    assert [f"{e.json_path}: {e.message}" for e in validator.iter_errors(found)] == []
    return found


def in_words(refusal: Json) -> str:
    """A refusal document as the sentence that standard error has for it."""
    where = refusal["file"] if refusal["line"] is None else f"{refusal['file']}:{refusal['line']}"
    at = f" at {refusal['pointer']}" if refusal["pointer"] else ""
    also = ", ".join(f"{place['file']}:{place['line']}" for place in refusal["related"])
    sentence = (
        f"{where}: {refusal['code']}{at}: expected {refusal['expected']},"
        f" found {refusal['found']}{f' (see {also})' if also else ''}"
    )
    return shown(sentence)


def oracle(*answers: Json) -> bytes:
    """An oracle document; each answer is about W1 at the full log unless it says otherwise."""
    usual = {"rules": "coordination/1", "at": {}, "work_id": "W1", "question": "state"}
    numbered = [{"id": f"q{n}", **usual, **answer} for n, answer in enumerate(answers, 1)]
    return json.dumps({"document": "replay.oracle/1", "answers": numbered}).encode()
