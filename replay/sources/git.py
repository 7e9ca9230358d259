"""The history of one file on one git ref, read without trusting the repository.

Two processes read a whole history: `git rev-list` for the chain of commits and
`git cat-file --batch` for the file at each.  Both are plumbing, which runs no hook,
pager, signature check or external diff.  The environment holds no `GIT_*` variable of
the caller, no system or user configuration, no replacement objects or grafts, and no
protocol for a partial clone to fetch over.  A repository that belongs to another user
is read all the same (`safe.directory`): that guard is against configuration that runs
commands, and these two commands run none.

Only the path itself is looked at, never a repository further up, so that a plain folder
inside some repository is not taken for that repository.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from replay.errors import FileError
from replay.event import Record

_SETTINGS: Final = (
    "safe.directory=*",
    "core.fsmonitor=false",
    "core.commitGraph=false",  # a cache that could disagree with the commits
)


class Version(Record, frozen=True):
    """A file as one commit holds it.

    `committed_at` is the committer's time in seconds since 1970-01-01T00:00:00Z, which
    may fall from one commit to the next.  `content` is null where the commit has no
    such file.
    """

    commit: str
    committed_at: int
    merge: bool
    content: bytes | None


class Repository:
    """A git repository: a work tree, a linked work tree, or a bare repository."""

    def __init__(self, path: str) -> None:
        """Raises `FileError` where git is missing or `path` is not a repository."""
        self.path = path
        program = shutil.which("git")
        if program is None:
            raise FileError(path, "reading a repository needs the git program, found none on PATH")
        options = [word for setting in _SETTINGS for word in ("-c", setting)]
        self._command = [program, "--no-pager", *options]
        self._folder = Path(path).resolve()
        self._environment = _environment(self._folder)
        if self._ask("rev-parse", "--git-dir") is None:
            raise FileError(path, "not a git repository")

    def tip(self, ref: str) -> str | None:
        """The commit that a full ref name points to; null where there is none."""
        found = self._ask("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        return None if found is None else found.decode("ascii").strip()

    def is_shallow(self) -> bool:
        """Whether the history was cut when it was fetched."""
        return self._ask("rev-parse", "--is-shallow-repository") != b"false\n"

    def versions(self, tip: str, name: str) -> Iterator[Version]:
        """File `name` at every commit from the root to `tip`, along first parents.

        A name has `/` between folders, as git spells it, and is matched against trees
        alone: `..` names nothing.  Each version is held in memory alone.  Raises
        `FileError` where an object is missing or damaged.
        """
        chain = self._ask(
            "rev-list", "--first-parent", "--reverse", "--timestamp", "--parents", tip
        )
        if chain is None:
            raise FileError(self.path, f"the history of commit {tip} cannot be read")
        with self._start("cat-file", "--batch") as process:
            objects = _Objects(self.path, process)
            for line in chain.decode("ascii").splitlines():
                seconds, commit, *parents = line.split(" ")
                content = _file_at(objects, commit, name)
                yield Version(commit, int(seconds), len(parents) > 1, content)

    def _ask(self, *arguments: str) -> bytes | None:
        with self._start(*arguments) as process:
            output, _ = process.communicate()
        return output if process.returncode == 0 else None

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                [*self._command, *arguments],
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise FileError(self.path, f"git cannot be run there: {error.strerror}") from None


class _Objects:
    """A running `git cat-file --batch`, asked for one object at a time."""

    def __init__(self, path: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._path = path
        self._asked: IO[bytes] = process.stdin
        self._answers: IO[bytes] = process.stdout

    def read(self, name: str, kind: bytes) -> bytes:
        """The content of an object that must be there, and of that kind."""
        try:
            self._asked.write(name.encode() + b"\n")
            self._asked.flush()
            _, found, size = self._answers.readline().split()  # "NAME missing" is too short
            content = self._answers.read(int(size) + 1)[:-1]
        except (OSError, ValueError):
            with suppress(OSError):  # what a dead process left unread must not fail again later
                self._asked.close()
            raise FileError(self._path, f"object {name} is missing or damaged") from None
        if found != kind or len(content) != int(size):
            raise FileError(self._path, f"object {name} is missing or damaged")
        return content

    def entry(self, tree: bytes, name: bytes, oid_bytes: int, *, mode: bytes) -> str | None:
        """The object id of a tree's entry whose mode begins so; null where there is none."""
        start = 0
        while start < len(tree):
            end = tree.find(b"\0", start)
            found, space, entry = tree[start:end].partition(b" ")
            if end < 0 or not space:
                raise FileError(self._path, "a tree object is damaged")
            start = end + 1 + oid_bytes
            if entry == name:
                return tree[end + 1 : start].hex() if found.startswith(mode) else None
        return None


def _file_at(objects: _Objects, commit: str, name: str) -> bytes | None:
    """The content of a regular file; null where it is absent, a link or a folder."""
    *folders, file = name.encode(errors="surrogateescape").split(b"/")
    tree = objects.read(f"{commit}^{{tree}}", b"tree")
    for folder in folders:
        below = objects.entry(tree, folder, len(commit) // 2, mode=b"40000")
        if below is None:
            return None
        tree = objects.read(below, b"tree")
    entry = objects.entry(tree, file, len(commit) // 2, mode=b"100")
    return None if entry is None else objects.read(entry, b"blob")


def _environment(folder: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return inherited | {
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",  # older versions know no GIT_NO_LAZY_FETCH
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
