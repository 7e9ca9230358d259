"""What each command does.  Imports are inside, so that a command pays for what it uses."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from replay import files, terminal
from replay.errors import FileError, OracleError, Refusal, ReplayError, UsageError, quoted
from replay.event import Source
from replay.history import History, Prefix, admit

if TYPE_CHECKING:
    from replay.check import OracleFile
    from replay.event import Event
    from replay.exact import Limits
    from replay.report.findings import Origin, Unread
    from replay.report.view import Line, Losses

REFUSED: Final = 3
FAULT: Final = 70


def check(arguments: Namespace) -> int:
    """`replay check`."""
    from replay.check import check_document, check_log
    from replay.oracle import At
    from replay.rules import named

    named(arguments.rules)  # an unknown rule set is said before anything is read
    at = At(arguments.at_sequence, arguments.at_time, arguments.at_minute)
    taken: _Taken = {}
    for_ci = arguments.format in ("junit", "sarif")
    logs = _logs(arguments, taken if for_ci else None)
    if arguments.oracle is not None and len(logs) > 1:
        raise UsageError("--oracle is about one log")
    results = []
    oracles: list[Any] = []
    origins: list[Origin] = []
    problems: list[tuple[str, str]] = []
    for path, read in logs:
        taken.clear()
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
            if arguments.format == "text":
                results[-1]["projection"] = _listing_duplicates(results[-1]["projection"], log)
            if for_ci:
                origins.append(_origin(path, oracle, log, taken))
        except (FileError, OracleError, UsageError) as error:
            terminal.say(_about(path, error))
            problems.append((_refused_of(taken) or path, _about(path, error)))
    document: Any = check_document(results, others=[2] * len(problems))
    _print_check(arguments.format, document, oracles, origins, problems)
    status: int = document["exit"]
    return status


def _print_check(
    format_: str,
    document: Any,
    oracles: Sequence[Any],
    origins: Sequence[Origin],
    problems: Sequence[tuple[str, str]],
) -> None:
    match format_:
        case "json":
            _print_document(document)
        case "junit":
            from replay.report.junit import junit

            terminal.write(junit(document, origins, oracles=oracles, unread=_unread(problems)))
        case "sarif":
            from replay.report.sarif import sarif_document

            unread = _unread(problems)
            _print_document(sarif_document(document, origins, oracles=oracles, unread=unread))
        case _ if document["logs"]:
            from replay.report.text import check_text

            style: Any = {"colour": terminal.colour(), "width": terminal.width()}
            terminal.write_text(check_text(document, oracles=oracles, **style))


def _unread(problems: Sequence[tuple[str, str]]) -> list[Unread]:
    from replay.report.findings import Unread

    return [Unread(_slashed(path), reason) for path, reason in problems]


def project(arguments: Namespace) -> int:
    """`replay project`."""
    from replay.check import most_urgent
    from replay.report.text import projection_text, projections_text, refusal_text
    from replay.rules import named

    named(arguments.rules)
    if arguments.output is not None:
        return _tabulate(arguments)
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
    document: Any = projection_document(rule_set.project(prefix), rule_set)
    if arguments.format == "text":
        document = _listing_duplicates(document, log)
    return {"projection": document, "refusal": None}


def _listing_duplicates(projection: Any, log: History | Refusal) -> Any:
    """The projection for people: the document counts exact duplicates, and text lists them."""
    if isinstance(log, Refusal) or not log.duplicates:
        return projection
    listed = [{"event_id": d.event_id, "line": d.place[1], "of": d.of[1]} for d in log.duplicates]
    return {**projection, "duplicates": listed}


def _tabulate(arguments: Namespace) -> int:
    """`replay project -o DIR`."""
    from replay.check import most_urgent
    from replay.table_files import files_of, folders
    from replay.tables import GROWN, PROJECTED

    if arguments.format != "text":
        raise UsageError("-o writes tables and prints no document: give it or --format")
    logs = _logs(arguments)
    inputs = _paths(arguments.logs)
    places = folders(arguments.output, [path for path, _ in logs])
    for folder in places:
        for file in files_of(folder, (*PROJECTED, *GROWN)).values():
            _refuse_overwriting(file, inputs)
    statuses = []
    for (path, read), folder in zip(logs, places, strict=True):
        try:
            statuses.append(_write_tables(_admitted(read), folder, arguments))
        except (FileError, UsageError) as error:
            terminal.say(_about(path, error))
            statuses.append(2)
    return most_urgent(statuses)


def _write_tables(log: History | Refusal, folder: str, arguments: Namespace) -> int:
    from replay.rules import named
    from replay.table_files import write
    from replay.tables import every_table, parquet
    from replay.timeline import timeline as grown

    if isinstance(log, Refusal):
        return REFUSED
    prefix, rule_set = _prefix(log, arguments), named(arguments.rules)
    tables = every_table(rule_set.project(prefix), grown(prefix, rule_set))
    write(folder, {name: parquet(table) for name, table in tables.items()})
    rows = ", ".join(f"{table.num_rows} {name}" for name, table in tables.items())
    terminal.say(f"{folder}: rows: {rows}")
    return 0 if log.input.complete else REFUSED


def _projections(logs: Sequence[Any], status: int) -> dict[str, Any]:
    from replay.document import TOOL

    return {"document": "replay.projections/1", "tool": TOOL, "logs": logs, "exit": status}


def timeline(arguments: Namespace) -> int:
    """`replay timeline`."""
    from replay.report.history import timeline_text
    from replay.report.text import refusal_text
    from replay.rules import named
    from replay.timeline import timeline as grown
    from replay.timeline import timeline_document

    rule_set = named(arguments.rules)
    logs = _logs(arguments)
    if len(logs) > 1:
        raise UsageError("a timeline is of one log (--segments reads several files as one)")
    log = _admitted(logs[0][1])
    if isinstance(log, Refusal):
        _print(arguments, log.document(), refusal_text)
        return REFUSED
    line = grown(_prefix(log, arguments), rule_set)
    document: Any = timeline_document(line, rule_set)
    if arguments.work is not None:
        in_view = {interval["work_id"] for interval in document["intervals"]}
        for work_id in arguments.work:
            if work_id not in in_view:
                raise UsageError(f"no work item {quoted(work_id)} is in view")
        wanted = [i for i in document["intervals"] if i["work_id"] in arguments.work]
        document["intervals"] = wanted
    _print(arguments, document, timeline_text)
    return 0 if document["input"]["complete"] else REFUSED


def _prefix(log: History, arguments: Namespace) -> Prefix:
    return log.until(
        sequence=arguments.at_sequence, time=arguments.at_time, minute=arguments.at_minute
    )


def view(arguments: Namespace) -> int:
    """`replay view`."""
    from replay.document import projection_document, rules_document
    from replay.report.view import DEFAULT_MAX_BYTES, DEFAULT_MAX_ITEMS, Limits, page
    from replay.rules import named
    from replay.timeline import timeline as grown
    from replay.timeline import timeline_document

    rule_set = named(arguments.rules)
    logs = _logs(arguments)
    if len(logs) > 1:
        raise UsageError("a page is of one log (--segments reads several files as one)")
    paths = _paths(arguments.logs)
    losses = _losses_path(paths, arguments)
    _refuse_overwriting(arguments.output, [*paths, *([losses] if losses else [])])
    log = _admitted(logs[0][1])
    if isinstance(log, Refusal):
        return REFUSED
    prefix = _prefix(log, arguments)
    raw = _raw_lines(paths, log)
    rules: Any = rules_document([rule_set])
    found = page(
        projection_document(rule_set.project(prefix), rule_set),
        timeline_document(grown(prefix, rule_set), rule_set),
        rules["rules"][0],
        _lines_of(prefix, raw),
        losses=None if losses is None else _losses(losses),
        as_stored=raw is not None,
        works=arguments.work,
        limits=Limits(
            bytes=arguments.max_bytes or DEFAULT_MAX_BYTES,
            items=arguments.max_items or DEFAULT_MAX_ITEMS,
        ),
    )
    with files.write_atomically(arguments.output) as file:
        file.write(found.html)
    left_out = f"; {'; '.join(found.left_out)}" if found.left_out else ""
    terminal.say(f"{arguments.output}: {len(prefix.events)} events{left_out}")
    return 0 if log.input.complete else REFUSED


def _lines_of(prefix: Prefix, raw: bytes | None) -> list[Line]:
    """Every visible event, with its own bytes where the log is one file that is still there."""
    from replay.encode import encode_line
    from replay.report.view import Line
    from replay.timestamps import render

    def line(event: Event) -> Line:
        start = event.byte_offset
        data = encode_line(event) if raw is None else raw[start : _end_of_line(raw, start)]
        basis, occurred = event.time_basis, event.occurred_at
        return Line(
            sequence=event.recorded_sequence,
            event_id=event.event_id,
            time=render(event.recorded_at, basis),
            type=event.type,
            work_id=event.work_id,
            number=event.line,
            raw=data.decode().rstrip("\r"),
            occurred=None if occurred is None else render(occurred, basis),
            principal=event.principal,
            claimed_author=event.claimed_author,
            relayed_by=event.relayed_by,
            lane_id=event.lane_id,
            revision=event.artifact_revision,
        )

    return [*map(line, prefix.events)]


def _end_of_line(raw: bytes, start: int) -> int:
    end = raw.find(b"\n", start)
    return len(raw) if end < 0 else end


def _raw_lines(paths: Sequence[str], log: History) -> bytes | None:
    """The log's bytes, decompressed; null where they cannot be had, or are not what was read."""
    if len(paths) > 1 or paths == [files.STDIN]:
        return None
    data, sha256 = files.read_decompressed(paths[0])
    return data if sha256 == log.input.sha256 else None


def _losses_path(paths: Sequence[str], arguments: Namespace) -> str | None:
    """The list that was given, else the one beside the log, if there is one."""
    if arguments.losses is not None:
        return str(arguments.losses)
    beside = f"{paths[0]}.losses.json"
    return beside if len(paths) == 1 and os.path.lexists(beside) else None


def _losses(path: str) -> Losses:
    from msgspec import MsgspecError, json

    from replay.report.view import Losses

    try:
        return json.decode(files.read_bytes(path), type=Losses)
    except (MsgspecError, UnicodeDecodeError) as problem:
        raise FileError(path, f"not a list of losses: {problem}") from None


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
    log = b"".join(spelled[event.event_id] for event in history.events)
    with files.write_atomically(arguments.output) as file:
        file.write(files.compressed(arguments.output, log))
    terminal.say(
        f"{arguments.output}: {_counted(len(history.events), 'event')} of"
        f" {_counted(len(paths), 'log')}, {len(history.duplicates)} recorded more than once"
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
    _refuse_overwriting(losses, given)
    if os.path.abspath(losses) == os.path.abspath(arguments.output):
        raise UsageError("the log and its losses are two files")
    imported = named(arguments.source).read(
        arguments.inputs, Options(recorded=arguments.recorded, path=arguments.path)
    )
    if not imported.recognized:
        raise UsageError(f"{arguments.inputs[0]}: no line of it is a record of {arguments.source}")
    log = b"".join(imported.lines)
    try:
        history = admit([decode_bytes(log, name=arguments.output)])  # the same strict reader
    except Refusal as refusal:  # a record that the contract cannot hold, whatever it is
        return _print_refusal(refusal)
    with (
        files.write_atomically(arguments.output) as log_file,
        files.write_atomically(losses) as losses_file,
    ):
        log_file.write(files.compressed(arguments.output, log))
        log_file.flush()  # before either has its name, so that a full disk leaves neither
        losses_file.write(encode(imported.document()) + b"\n")
    lost = sum(loss.count for loss in imported.losses)
    terminal.say(
        f"{arguments.output}: {_counted(len(history.events), 'event')}, order known as"
        f" {imported.order}; {losses}: {_counted(lost, 'loss', 'losses')} in"
        f" {_counted(len(imported.losses), 'kind')}"
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


def demo(arguments: Namespace) -> int:
    """`replay demo`: each command as it is typed, and its own output."""
    from replay.demo import FILES, NEXT, STEPS, copy

    directory = arguments.directory
    terminal.say(f"{directory}: {copy(directory)} of {len(FILES)} fixtures were new")
    for number, step in enumerate(STEPS, 1):
        typed = step.arguments(directory)
        terminal.write_text(f"{_paragraph(f'{number}. {step.sentence}')}\n{_prompt(typed)}")
        status: int = arguments.run(typed)
        terminal.write_text(f"(exit status {status})\n\n")
        if status != step.status:
            return status or FAULT
    more = "".join(f"{_prompt(step.arguments(directory))}  {step.sentence}\n" for step in NEXT)
    terminal.write_text(f"More to try; replay --help lists every command:\n\n{more}")
    return 0


def _paragraph(prose: str) -> str:
    from replay.report.words import wrapped

    return "".join(f"{line}\n" for line in wrapped(prose, "", "   ", terminal.width()))


def _prompt(arguments: Sequence[str]) -> str:
    from shlex import join

    from replay.report.safe import shown
    from replay.report.words import paint

    return f"{paint(f'$ replay {shown(join(arguments))}', 'bold', terminal.colour())}\n"


RUN: Final[dict[str, Callable[[Namespace], int]]] = {
    "check": check,
    "project": project,
    "timeline": timeline,
    "view": view,
    "merge": merge,
    "import": import_,
    "schema": schema,
    "rules": rules,
    "demo": demo,
    "questions": questions,
}


# Logs in.

_Read = Callable[[], History]
_Taken = dict[str, Source | None]
"""What was read of each path; null where it was refused."""


def _logs(arguments: Namespace, taken: _Taken | None = None) -> list[tuple[str, _Read]]:
    """Each log that the arguments name: its path, and what reads it, noting it in `taken`."""
    paths = _paths(arguments.logs)
    names = [os.path.basename(path) for path in paths]  # of two alike the paths tell which
    if arguments.recover:
        _refuse_sidecars_among(paths)

    def source(path: str) -> Source:
        if taken is None:
            return read_source(path)
        taken.setdefault(path, None)
        found = read_source(path)
        taken[path] = taken[path] or found  # of a segment given twice, the first was admitted
        return found

    def read_source(path: str) -> Source:
        name = _printable(
            path if names.count(os.path.basename(path)) > 1 else os.path.basename(path)
        )
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


def _origin(path: str, oracle: _Oracle | None, log: History | Refusal, taken: _Taken) -> Origin:
    """Where a log's files are, and where in them its events."""
    from replay.report.findings import Origin

    by_name: dict[str, list[str]] = {}
    refused = _refused_of(taken)  # known even where another segment has its name
    for one in taken if refused is None else [refused]:
        by_name.setdefault(_printable(os.path.basename(one)), []).append(_slashed(one))
    return Origin(
        _slashed(path),
        paths=tuple(map(_slashed, taken)),
        oracle=None if oracle is None else _slashed(oracle.path),
        files={name: paths[0] for name, paths in by_name.items() if len(paths) == 1},
        places={} if isinstance(log, Refusal) else _places(log, taken),
    )


def _refused_of(taken: _Taken) -> str | None:
    """The path at which reading stopped, null where all was read."""
    return next((path for path, source in taken.items() if source is None), None)


def _places(log: History, taken: _Taken) -> dict[str, tuple[str, int]]:
    """The path and the line of each event: of a duplicate, those of the one that was admitted."""
    admitted = {id(event) for event in log.events}
    return {
        event.event_id: (_slashed(path), event.line)
        for path, source in taken.items()
        if source is not None
        for event in source.events
        if id(event) in admitted
    }


def _slashed(path: str) -> str:
    """A path with forward slashes, absolute exactly where it begins with one."""
    slashed = path.replace(os.sep, "/")
    return f"/{slashed}" if os.path.isabs(path) and slashed[0] != "/" else slashed


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
        if arguments.segments:  # an oracle beside one is not of them all
            return None
        path = files.oracle_beside(log)
        return None if path is None else cls(path)

    def file(self) -> OracleFile:
        from replay.check import OracleFile

        return OracleFile(files.printable_name(self.path), self._read)

    def _read(self) -> bytes:
        self.data = files.read_bytes(self.path)
        return self.data

    def document(self) -> Any:
        """What it says, for printing; null where it was never opened."""
        from msgspec import json

        return None if self.data is None else json.decode(self.data)


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _refuse_overwriting(output: str, inputs: Iterator[str] | Sequence[str]) -> None:
    if output == files.STDIN:
        raise UsageError("an output is a file; - is standard input, as a log")
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
