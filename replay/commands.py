"""What each command does.  Imports are inside, so that a command pays for what it uses."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from replay import files, terminal
from replay.errors import FileError, OracleError, Refusal, ReplayError, UsageError
from replay.event import Source
from replay.history import History, Prefix, admit

if TYPE_CHECKING:
    from replay.check import OracleFile
    from replay.exact import Limits

REFUSED: Final = 3


def check(arguments: Namespace) -> int:
    """`replay check`."""
    from replay.check import check_document, check_log
    from replay.oracle import At
    from replay.report.text import check_text
    from replay.rules import named

    named(arguments.rules)  # an unknown rule set is said before anything is read
    at = At(arguments.at_sequence, arguments.at_time, arguments.at_minute)
    logs = _logs(arguments)
    if arguments.oracle is not None and len(logs) > 1:
        raise UsageError("--oracle is about one log")
    results = []
    oracles: list[Any] = []
    problems = []
    for path, read in logs:
        oracle = _Oracle.of(path, arguments)
        try:
            log = _admitted(read)
            results.append(
                check_log(
                    log,
                    rules=arguments.rules,
                    at=at,
                    oracle=None if oracle is None else oracle.file(),
                )
            )
            oracles.append(None if oracle is None else oracle.document())
        except (FileError, OracleError, UsageError) as error:
            terminal.say(_about(path, error))
            problems.append(2)
    document: Any = check_document(results, others=problems)
    if arguments.format == "json":
        _print_document(document)
    elif results:
        text = check_text(
            document, colour=terminal.colour(), width=terminal.width(), oracles=oracles
        )
        terminal.write_text(text)
    status: int = document["exit"]
    return status


def project(arguments: Namespace) -> int:
    """`replay project`."""
    from replay.check import most_urgent
    from replay.report.text import projection_text, projections_text, refusal_text
    from replay.rules import named

    named(arguments.rules)
    logs: list[Any] = []
    statuses = []
    for path, read in _logs(arguments):
        try:
            log = _projected(_admitted(read), arguments)
        except (FileError, UsageError) as error:
            terminal.say(_about(path, error))
            statuses.append(2)
            continue
        statuses.append(0 if log["projection"] and log["projection"]["input"]["complete"] else 3)
        logs.append(log)
    status = most_urgent(statuses)
    single = logs[0]["refusal"] or logs[0]["projection"] if len(statuses) == 1 and logs else None
    if arguments.format == "json":
        if single is not None or len(statuses) > 1:
            _print_document(single or _projections(logs, status))
        return status
    style: Any = {"colour": terminal.colour(), "width": terminal.width()}
    if single is None:
        terminal.write_text(projections_text({"logs": logs}, **style))
    else:
        is_refusal = single["document"] == "replay.refusal/1"
        terminal.write_text((refusal_text if is_refusal else projection_text)(single, **style))
    return status


def _projected(log: History | Refusal, arguments: Namespace) -> dict[str, Any]:
    from replay.document import projection_document
    from replay.rules import named

    if isinstance(log, Refusal):
        return {"projection": None, "refusal": log.document()}
    prefix = log.until(
        sequence=arguments.at_sequence, time=arguments.at_time, minute=arguments.at_minute
    )
    rule_set = named(arguments.rules)
    document = projection_document(rule_set.project(prefix), rule_set)
    return {"projection": document, "refusal": None}


def _projections(logs: Sequence[Any], status: int) -> dict[str, Any]:
    from replay.document import TOOL

    return {"document": "replay.projections/1", "tool": TOOL, "logs": logs, "exit": status}


def timeline(arguments: Namespace) -> int:
    """`replay timeline`."""
    from replay.report.history import timeline_text
    from replay.rules import named
    from replay.timeline import timeline as grown
    from replay.timeline import timeline_document

    rule_set = named(arguments.rules)
    logs = _logs(arguments)
    if len(logs) > 1:
        raise UsageError("a timeline is of one log (--segments reads several files as one)")
    log = _admitted(logs[0][1])
    if isinstance(log, Refusal):
        if arguments.format == "json":
            _print_document(log.document())
        return REFUSED
    line = grown(_prefix(log, arguments), rule_set)
    document: Any = timeline_document(line, rule_set)
    if arguments.work is not None:
        wanted = [i for i in document["intervals"] if i["work_id"] in arguments.work]
        document["intervals"] = wanted
    _print(arguments, document, timeline_text)
    return 0 if document["input"]["complete"] else REFUSED


def _prefix(log: History, arguments: Namespace) -> Prefix:
    return log.until(
        sequence=arguments.at_sequence, time=arguments.at_time, minute=arguments.at_minute
    )


def merge(arguments: Namespace) -> int:
    """`replay merge`."""
    from replay.encode import encode_line

    paths = _paths(arguments.logs)
    _refuse_overwriting(arguments.output, paths)
    try:
        # named by their paths: clones of one log tend to have one file name
        sources = [
            files.read_source(path, limits=_limits(arguments), name=_printable(path))
            for path in paths
        ]
        history = admit(sources, name=arguments.output)
    except Refusal as refusal:
        return _print_refusal(refusal)
    # one value can be spelled in many ways: the least, so that no order of arguments shows
    spelled: dict[str, bytes] = {}
    for event in (event for source in sources for event in source.events):
        line = encode_line(event) + b"\n"
        spelled[event.event_id] = min(line, spelled.get(event.event_id, line))
    with files.write_atomically(arguments.output) as file:
        file.writelines(spelled[event.event_id] for event in history.events)
    terminal.say(
        f"{arguments.output}: {len(history.events)} events of {len(paths)} logs,"
        f" {len(history.duplicates)} recorded more than once"
    )
    return 0


def import_(arguments: Namespace) -> int:
    """`replay import`."""
    from replay.canonical import encode
    from replay.decode import decode_bytes
    from replay.sources import Options, named

    given = [*arguments.inputs, *([arguments.recorded] if arguments.recorded else [])]
    losses = arguments.losses or f"{arguments.output}.losses.json"
    _refuse_overwriting(arguments.output, given)
    _refuse_overwriting(losses, [*given, arguments.output])
    imported = named(arguments.source).read(
        arguments.inputs, Options(recorded=arguments.recorded, path=arguments.path)
    )
    log = b"".join(imported.lines)
    history = admit([decode_bytes(log, name=arguments.output)])  # the same strict reader
    with (
        files.write_atomically(arguments.output) as log_file,
        files.write_atomically(losses) as losses_file,
    ):
        log_file.write(log)
        log_file.flush()  # before either has its name, so that a full disk leaves neither
        losses_file.write(encode(imported.document()) + b"\n")
    lost = sum(loss.count for loss in imported.losses)
    terminal.say(
        f"{arguments.output}: {len(history.events)} events, order known as {imported.order};"
        f" {losses}: {lost} losses in {len(imported.losses)} kinds"
    )
    return 0


def schema(arguments: Namespace) -> int:
    """`replay schema`."""
    import json

    from replay import schemas

    if arguments.name is None:
        terminal.write_text("".join(f"{name}\n" for name in schemas.names()))
    else:
        text = json.dumps(schemas.schema(arguments.name), indent=2, ensure_ascii=False)
        terminal.write(f"{text}\n".encode())
    return 0


def rules(arguments: Namespace) -> int:
    """`replay rules`."""
    from replay.document import rules_document
    from replay.report.text import rules_text
    from replay.rules import known, named

    ids = known() if arguments.id is None else (arguments.id,)
    _print(arguments, rules_document([named(id_) for id_ in ids]), rules_text)
    return 0


def questions(arguments: Namespace) -> int:
    """`replay questions`."""
    from replay.document import TOOL
    from replay.questions import QUESTIONS
    from replay.report.text import questions_text

    catalogue = [
        {"id": q.id, "of": q.of, "expect": q.expect, "sentence": q.sentence} for q in QUESTIONS
    ]
    document = {"document": "replay.questions/1", "tool": TOOL, "questions": catalogue}
    _print(arguments, document, questions_text)
    return 0


RUN: Final[dict[str, Callable[[Namespace], int]]] = {
    "check": check,
    "project": project,
    "timeline": timeline,
    "merge": merge,
    "import": import_,
    "schema": schema,
    "rules": rules,
    "questions": questions,
}


# Logs in.

_Read = Callable[[], History]


def _logs(arguments: Namespace) -> list[tuple[str, _Read]]:
    """Each log that the arguments name: its path, and what reads it."""
    paths = _paths(arguments.logs)
    if arguments.recover:
        _refuse_sidecars_among(paths)

    def source(path: str) -> Source:
        name = _printable(os.path.basename(path))
        if not arguments.recover:
            return files.read_source(path, limits=_limits(arguments), name=name)
        recovery = files.recover_source(path, limits=_limits(arguments), name=name)
        written = files.write_quarantine(path, recovery)
        if written is not None:
            count = len(recovery.rejected)
            terminal.say(f"{path}: {count} rejected, written to {written}")
        return recovery.source

    if arguments.segments:
        from replay.segments import join

        return [(paths[0], lambda: join([source(path) for path in paths]))]
    return [(path, lambda path=path: admit([source(path)])) for path in paths]  # type: ignore[misc]


def _paths(logs: Sequence[str]) -> list[str]:
    paths = files.expand(logs)
    if paths.count(files.STDIN) > 1:
        raise UsageError("standard input can be read once")
    if files.STDIN in paths and sys.stdin is None:  # it was closed when Python started
        raise FileError("standard input", "closed")
    return paths


def _printable(name: str) -> str:
    """A file name as documents hold it: bytes that are not UTF-8 become escapes."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _about(path: str, error: ReplayError) -> str:
    """The error in words; what was asked of a log does not name the log by itself."""
    return f"{path}: {error}" if isinstance(error, UsageError) else str(error)


def _admitted(read: _Read) -> History | Refusal:
    """What was read, or why it was refused, which is said on standard error too."""
    try:
        return read()
    except Refusal as refusal:
        terminal.say(str(refusal))
        return refusal


def _limits(arguments: Namespace) -> Limits:
    from replay.exact import DEFAULT_LIMITS, Limits

    return Limits(
        line_bytes=arguments.max_line or DEFAULT_LIMITS.line_bytes,
        nesting=arguments.max_nesting or DEFAULT_LIMITS.nesting,
        id_bytes=arguments.max_id or DEFAULT_LIMITS.id_bytes,
    )


class _Oracle:
    """An oracle file, and its document once it was opened."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.data: bytes | None = None

    @classmethod
    def of(cls, log: str, arguments: Namespace) -> _Oracle | None:
        """The one that was given, else the one beside the log, if there is one."""
        if arguments.oracle is not None:
            return cls(arguments.oracle)
        if log == files.STDIN or arguments.segments:  # an oracle beside one is not of them all
            return None
        stem = next(log[: -len(s)] for s in (*_BY_LENGTH, "") if log.endswith(s))
        path = f"{stem}.oracle.json"
        return cls(path) if os.path.lexists(path) else None  # a link to nowhere is an error

    def file(self) -> OracleFile:
        from replay.check import OracleFile

        return OracleFile(_printable(os.path.basename(self.path)), self._read)

    def _read(self) -> bytes:
        self.data = files.read_bytes(self.path)
        return self.data

    def document(self) -> Any:
        """What it says, for printing; null where it was never opened."""
        from msgspec import json

        return None if self.data is None else json.decode(self.data)


_BY_LENGTH: Final = sorted(files.LOG_SUFFIXES, key=len, reverse=True)


def _refuse_overwriting(output: str, inputs: Iterator[str] | Sequence[str]) -> None:
    for path in inputs:
        same = os.path.abspath(path) == os.path.abspath(output)
        if same or (
            os.path.exists(path) and os.path.exists(output) and os.path.samefile(path, output)
        ):
            raise UsageError(f"{output} is an input, and inputs are never written to")


def _refuse_sidecars_among(inputs: Sequence[str]) -> None:
    taken = {os.path.abspath(path) for path in inputs}
    for sidecar in map(files.quarantine_path, inputs):
        if os.path.abspath(sidecar) in taken:
            raise UsageError(f"{sidecar} is an input, and inputs are never written to")


# Results out.


def _print(arguments: Namespace, document: Any, text: Callable[..., str]) -> None:
    if arguments.format == "json":
        _print_document(document)
    else:
        terminal.write_text(text(document, colour=terminal.colour(), width=terminal.width()))


def _print_document(document: Any) -> None:
    from replay.canonical import encode

    terminal.write(encode(document) + b"\n")


def _print_refusal(refusal: Refusal) -> int:
    """The refusal in words on standard error, and as the document on standard output."""
    terminal.say(str(refusal))
    _print_document(refusal.document())
    return REFUSED
