"""What `replay demo` copies and what it then shows: a newcomer's first three commands.

The fixtures are those of the repository: a wheel has the named ones beside this module, a
checkout has all of them in their own folder.  Copying writes new files only.  A file that
is there already stays as it is, and where it differs nothing is copied at all.
"""

from __future__ import annotations

import json
import os
from importlib.resources import files as resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final, NamedTuple

from replay.errors import UsageError
from replay.files import read_bytes, write_atomically

FILES: Final = (
    "cases/false-success-claim.jsonl",
    "cases/false-success-claim.oracle.json",
    "cases/paper-nine-events.jsonl",
    "cases/paper-nine-events.oracle.json",
    "cases/retracted-typo.jsonl",
    "cases/retracted-typo.oracle.json",
    "refused/wrong_type.jsonl",
)
"""The fixtures that are copied, and that a wheel holds."""


class Step(NamedTuple):
    """A command on a fixture, what to look for in its output, and how it ends.

    `output` is the file that it writes, if any.
    """

    command: str
    file: str
    options: tuple[str, ...]
    sentence: str
    status: int
    output: str = ""

    def arguments(self, directory: str) -> list[str]:
        """What follows `replay` on the command line, with the fixtures in `directory`."""
        # a folder whose name begins like an option is still a path
        base = os.path.join(os.curdir, directory) if directory.startswith("-") else directory
        output = ["-o", _place(base, self.output)] if self.output else []
        return [self.command, _place(base, self.file), *self.options, *output]


STEPS: Final = (
    Step(
        "project",
        "cases/paper-nine-events.jsonl",
        ("--at-sequence", "5", "--at-minute", "9"),
        "Ask what an observer of a blocked agent knew at minute 9: the blocker is open, its six"
        " minutes are a lower bound, and every time has its event.",
        0,
    ),
    Step(
        "check",
        "cases/false-success-claim.jsonl",
        (),
        "Compare what a log shows with the answers that somebody worked out by hand: it says"
        " ready, and the evidence contradicts it.",
        0,
    ),
    Step(
        "check",
        "refused/wrong_type.jsonl",
        (),
        "Check a log with a fault: it is refused with the line, a code and what was expected,"
        " and nothing is guessed.",
        3,
    ),
)
NEXT: Final = (
    Step("timeline", "cases/retracted-typo.jsonl", (), "from when to when each answer held", 0),
    Step("check", "cases/paper-nine-events.jsonl", (), "nine events in full, answer by answer", 0),
    Step("view", "cases/retracted-typo.jsonl", (), "a page to open", 0, "retracted-typo.html"),
)
"""Commands to try afterwards, and what they show."""


def python(directory: str) -> tuple[str, ...]:
    """Three lines that draw the states of the nine events in a notebook."""
    path = _place(directory, "cases/paper-nine-events.jsonl")
    return (
        "import replay",
        f"history = replay.load({json.dumps(path, ensure_ascii=False)})",
        'replay.timeline_of(history.until(), rules="coordination/2")',
    )


def copy(directory: str) -> int:
    """Copies the fixtures; how many were new.

    Raises `UsageError`, before anything is written, where a file is there and differs, and
    `FileError` where one cannot be read or written.
    """
    wanted = {_place(directory, name): _fixture(name) for name in FILES}
    missing = {path: data for path, data in wanted.items() if not _is_there(path, data)}
    for path, data in missing.items():
        _make_folder(os.path.dirname(path))
        with write_atomically(path) as file:
            file.write(data)
    return len(missing)


def _place(directory: str, name: str) -> str:
    return os.path.join(directory, *name.split("/"))


def _fixture(name: str) -> bytes:
    return _home().joinpath(*name.split("/")).read_bytes()


def _home() -> Traversable:
    packaged = resources("replay").joinpath("fixtures")
    return packaged if packaged.is_dir() else Path(__file__).parent.parent / "fixtures"


def _is_there(path: str, data: bytes) -> bool:
    """Whether the file is there as it would be copied."""
    if not os.path.lexists(path):
        return False
    if not os.path.isfile(path) or read_bytes(path) != data:
        raise UsageError(f"{path} is there and differs, and is not overwritten: name another DIR")
    return True


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UsageError(f"{path} cannot be made: {reason}: name another DIR") from None
