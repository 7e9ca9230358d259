"""Files that are written together or not at all, and files that are read whole.

The files of a report belong together, so none takes its name before all are on the disk: a
full disk leaves the last report as it was.  Renaming several files is not one step for a
file system, so what has been renamed is put back should a later rename fail.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

MAX_BYTES: Final = 64 * 2**20
_NAME: Final = re.compile(r"(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*/)?[A-Za-z0-9_-][A-Za-z0-9_.-]*")


class FileFailed(OSError):
    """A file that could not be written, so that none beside it is; or that could not be read."""

    def __init__(self, path: str, why: str) -> None:
        self.path = path
        self.why = why
        super().__init__(f"{spelled(path)}: {why}")


def spelled(path: str) -> str:
    """A path as a sentence has it: as it is, or escaped where some of it would not show."""
    return path if path.isprintable() else repr(path)


def read_file(path: str) -> bytes:
    """The bytes of a file, but at most one more than `MAX_BYTES`.  Raises `FileFailed`."""
    with _blaming(path), open(path, "rb") as file:
        return file.read(MAX_BYTES + 1)


def write_files(directory: str, contents: Mapping[str, bytes]) -> None:
    """Write every file (`NAME` or `FOLDER/NAME`), or none of them: raises `FileFailed`.

    Folders are made if need be.  Files of these names are replaced, others are left.
    """
    with ExitStack() as always, ExitStack() as undo:
        for folder in _to_be_made(directory, contents):
            undo.callback(_quietly, os.rmdir, folder)
        written = []
        for name, content in contents.items():
            with _blaming(os.path.join(directory, name)):
                target = _target(directory, name)
                written.append((_write(target, content, always), target))
        for temporary, target in written:
            with _blaming(target):
                _publish(temporary, target, always, undo)
        undo.pop_all()  # all is well: nothing is put back


def _to_be_made(directory: str, contents: Mapping[str, bytes]) -> list[str]:
    """The folders that are not there yet, outer ones first, so that they are removed last."""
    found: list[str] = []
    above = os.path.abspath(directory)
    with suppress(ValueError):  # a path that has a NUL, which writing will blame
        while not os.path.lexists(above):
            found.insert(0, above)
            above = os.path.dirname(above)
        inner = sorted({os.path.dirname(name) for name in contents} - {""})
        paths = [os.path.join(os.path.abspath(directory), name) for name in inner]
        found += [path for path in paths if not os.path.lexists(path)]
    return found


@contextmanager
def _blaming(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as problem:  # ValueError: a path that has a NUL
        raise FileFailed(path, getattr(problem, "strerror", None) or str(problem)) from None


def _target(directory: str, name: str) -> str:
    """Where a file goes, in a folder that there is.  A link may not lead out of `directory`."""
    if _NAME.fullmatch(name) is None:
        raise ValueError("not a plain file name, nor one in a plain folder")
    root = os.path.realpath(directory)
    folder = os.path.realpath(os.path.join(root, os.path.dirname(name)))
    if os.path.commonpath([root, folder]) != root:
        raise ValueError("its folder is a link to another place")
    os.makedirs(folder, exist_ok=True)
    return os.path.join(folder, os.path.basename(name))


def _write(target: str, content: bytes, always: ExitStack) -> str:
    temporary = _beside(target, always)
    with open(temporary, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if os.path.isfile(target) and not os.path.islink(target):
        os.chmod(temporary, os.stat(target).st_mode & 0o777)  # who may read it stays so
    return temporary


def _publish(temporary: str, target: str, always: ExitStack, undo: ExitStack) -> None:
    if os.path.lexists(target):
        old = _beside(target, always)
        with suppress(OSError):  # a file system without hard links: it cannot be put back
            os.link(target, old)
            undo.callback(_quietly, os.replace, old, target)
    else:
        undo.callback(_quietly, os.unlink, target)
    os.replace(temporary, target)


def _beside(target: str, always: ExitStack) -> str:
    """A name that is nobody's, for a file that is gone in the end."""
    folder, name = os.path.split(target)
    path = os.path.join(folder, f".{name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
    always.callback(_quietly, os.unlink, path)
    return path


def _quietly(act: Callable[..., None], *paths: str) -> None:
    with suppress(OSError):
        act(*paths)
