"""`replay check DOCUMENT.json`: where the log of a recorded document is, and what came of it.

A document comes from anybody, and so does the name of the log in it.  Only a bare file name
is ever looked for, beside the document; for everything else the caller names the log.
"""

from __future__ import annotations

import os
from argparse import Namespace
from typing import TYPE_CHECKING, Any, Final

from replay import files, terminal
from replay.errors import FileError, Refusal, UsageError, quoted
from replay.history import History, admit
from replay.inputs import about, admitted, limits_of, printable

if TYPE_CHECKING:
    from replay.recheck import Recorded

SUFFIX: Final = ".json"
_CUTOFF: Final = ("at_sequence", "at_time", "at_minute")


def is_asked(arguments: Namespace) -> bool:
    """Whether a check is of recorded documents.  Raises `UsageError` where it is of both."""
    documents = [path for path in arguments.logs if path.endswith(SUFFIX)]
    if not documents and arguments.log is not None:
        raise UsageError(f"--log is the log of a recorded document ({SUFFIX})")
    if documents and len(documents) < len(arguments.logs):
        raise UsageError("check logs or recorded documents, not both at once")
    return bool(documents)


def recheck(arguments: Namespace) -> int:
    """`replay check DOCUMENT.json`."""
    from replay.canonical import digest
    from replay.check import most_urgent
    from replay.recheck import STATUS, recheck_document
    from replay.report.recheck import recheck_text

    _check_options(arguments)
    found: list[Any] = []
    statuses: list[int] = []
    for path in arguments.logs:
        try:
            data = files.read_bytes(path)
            results = _results(path, data, arguments)
        except (FileError, UsageError) as error:
            terminal.say(about(path, error))
            statuses.append(2)
            continue
        found.append((files.printable_name(path), digest(data), results))
        statuses += [STATUS[result["outcome"]] for result in results]
    document = recheck_document(found, most_urgent(statuses))
    if found or arguments.format == "json":
        terminal.write_result(document, arguments.format, recheck_text)
    return most_urgent(statuses)


def _check_options(arguments: Namespace) -> None:
    if arguments.format not in ("text", "json"):
        raise UsageError(
            f"--format {arguments.format} is about logs; of a recorded document: text or json"
        )
    given = [name for name in ("oracle", "segments", "recover") if getattr(arguments, name)]
    given += [name for name in _CUTOFF if getattr(arguments, name) is not None]
    if arguments.rules != arguments.default_rules:
        given.append("rules")
    if given:
        option = given[0].replace("_", "-")
        raise UsageError(f"a recorded document says how to derive it again: no --{option}")


def _results(path: str, data: bytes, arguments: Namespace) -> list[Any]:
    from replay.recheck import recheck as rechecked
    from replay.recheck import recorded_in
    from replay.recorded import read

    everything = recorded_in(path, read(path, data))
    if arguments.log is not None and len(everything) > 1:
        raise UsageError(f"--log is one log, and this document is about {len(everything)}")
    found = []
    for recorded in everything:
        log = arguments.log if arguments.log is not None else _beside(path, recorded.log)
        found.append(rechecked(recorded, _read(log, recorded, arguments)))
    return found


def _beside(path: str, name: str) -> str:
    """The log that a document names, in the folder where the document is.  Raises `FileError`."""
    if not _is_bare(name):
        raise FileError(
            path,
            f"it names its log {quoted(name)}, and only a bare file name is looked for beside a"
            " document: say which it is with --log",
        )
    beside = os.path.join(os.path.dirname(path) or os.curdir, name)
    if not os.path.isfile(beside):
        raise FileError(path, f"its log {quoted(name)} is not beside it: say which with --log")
    return beside


def _is_bare(name: str) -> bool:
    """Whether a name is of a file in a folder, on any system, and of nothing else."""
    return name not in ("", ".", "..") and not any(c in '/\\:*?"<>|' or c < " " for c in name)


def _read(path: str, recorded: Recorded, arguments: Namespace) -> History | Refusal:
    """The log, read as it was: with or without lines set aside; nothing is written."""
    limits = limits_of(arguments)
    name = printable(os.path.basename(path))

    def read() -> History:
        if recorded.was_recovered:
            return admit([files.recover_source(path, limits=limits, name=name).source])
        return admit([files.read_source(path, limits=limits, name=name)])

    return admitted(read)
