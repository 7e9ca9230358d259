"""What each command does.  Imports are inside, so that a command pays for what it uses."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from replay import files, terminal
from replay.errors import FileError, Refusal, RulesError, UsageError, quoted
from replay.history import History, admit
from replay.inputs import (
    REFUSED,
    about,
    admitted,
    limits_of,
    listing_duplicates,
    logs_of,
    paths_of,
    prefix_of,
    printable,
    refuse_overwriting,
)

if TYPE_CHECKING:
    pass

FAULT: Final = 70


def check(arguments: Namespace) -> int:
    """`replay check`."""
    from replay.checking import check as run

    return run(arguments)


def project(arguments: Namespace) -> int:
    """`replay project`."""
    from replay.check import most_urgent
    from replay.report.text import projection_text, projections_text, refusal_text
    from replay.rules import named

    named(arguments.rules)
    if arguments.output is not None:
        return _tabulate(arguments)
    if arguments.tables is not None:
        raise UsageError("--tables says what -o DIR writes: give both, or --format")
    logs: list[Any] = []
    statuses = []
    for path, read in logs_of(arguments):
        try:
            log = _projected(admitted(read), arguments)
        except (FileError, UsageError) as error:
            terminal.say_problem(error, about(path, error), debug=arguments.debug)
            statuses.append(2)
            continue
        statuses.append(0 if log["projection"] and log["projection"]["input"]["complete"] else 3)
        logs.append(log)
    status = most_urgent(statuses)
    single = logs[0]["refusal"] or logs[0]["projection"] if len(statuses) == 1 and logs else None
    if arguments.format == "json":
        if single is not None or len(statuses) > 1:
            terminal.write_document(single or _projections(logs, status))
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
        document = listing_duplicates(document, log)
    return {"projection": document, "refusal": None}


def _tabulate(arguments: Namespace) -> int:
    """`replay project -o DIR`."""
    from replay.check import most_urgent
    from replay.table_files import files_of, folders
    from replay.tables import GROWN, PROJECTED

    if arguments.format != "text":
        raise UsageError("-o writes tables and prints no document: give it or --format")
    logs = logs_of(arguments)
    inputs = paths_of(arguments.logs)
    places = folders(arguments.output, [path for path, _ in logs])
    for folder in places:
        for file in files_of(folder, (*PROJECTED, *GROWN), arguments.tables or "parquet"):
            refuse_overwriting(file, inputs)
    statuses = []
    written: list[str] = []
    for (path, read), folder in zip(logs, places, strict=True):
        try:
            log = admitted(read)
            if isinstance(log, Refusal):
                statuses.append(REFUSED)
                continue
            written.append(_write_tables(log, folder, arguments))
            statuses.append(0 if log.input.complete else REFUSED)
        except (FileError, UsageError) as error:
            terminal.say_problem(error, about(path, error), debug=arguments.debug)
            statuses.append(2)
    _say_written(arguments.output, written, of=len(places))
    return most_urgent(statuses)


def _say_written(output: str, written: Sequence[str], *, of: int) -> None:
    if of > 1:
        folders = f"tables of {len(written)} of {of} logs, each in a folder log=NAME"
        terminal.say(f"{output}: {folders}")
    elif written:
        terminal.say(f"{output}: rows: {written[0]}")


def _write_tables(log: History, folder: str, arguments: Namespace) -> str:
    """Writes the tables of a log; how many rows each has, in words."""
    from replay.rules import named
    from replay.table_files import contents, write
    from replay.tables import every_table
    from replay.timeline import timeline as grown

    prefix, rule_set = prefix_of(log, arguments), named(arguments.rules)
    tables = every_table(rule_set.project(prefix), grown(prefix, rule_set))
    write(folder, contents(tables, arguments.tables or "parquet"))
    return ", ".join(f"{name} {table.num_rows}" for name, table in tables.items())


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
    logs = logs_of(arguments)
    if len(logs) > 1:
        raise UsageError("a timeline is of one log (--segments reads several files as one)")
    log = admitted(logs[0][1])
    if isinstance(log, Refusal):
        terminal.write_result(log.document(), arguments.format, refusal_text)
        return REFUSED
    line = grown(prefix_of(log, arguments), rule_set)
    document: Any = timeline_document(line, rule_set)
    if arguments.work is not None:
        in_view = {interval["work_id"] for interval in document["intervals"]}
        for work_id in arguments.work:
            if work_id not in in_view:
                raise UsageError(f"no work item {quoted(work_id)} is in view")
        wanted = [i for i in document["intervals"] if i["work_id"] in arguments.work]
        document["intervals"] = wanted
    terminal.write_result(document, arguments.format, timeline_text)
    return 0 if document["input"]["complete"] else REFUSED


def merge(arguments: Namespace) -> int:
    """`replay merge`."""
    from replay.encode import encode_line

    paths = paths_of(arguments.logs)
    refuse_overwriting(arguments.output, paths)
    try:
        # named by their paths: clones of one log tend to have one file name
        sources = [
            files.read_source(path, limits=limits_of(arguments), name=printable(path))
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
    refuse_overwriting(arguments.output, given)
    refuse_overwriting(losses, given)
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
    from replay.rules import known, named, refused

    found, problems = [], [] if arguments.id else [*refused()]
    for error in problems:
        terminal.say(str(error))
    for id_ in known() if arguments.id is None else (arguments.id,):
        try:
            found.append(named(id_))
        except RulesError as error:  # of one that is installed, which is no reason to hide others
            problems.append(error)
            terminal.say_problem(error, str(error), debug=arguments.debug)
    if found:
        terminal.write_result(rules_document(found), arguments.format, rules_text)
    return 2 if problems else 0


def questions(arguments: Namespace) -> int:
    """`replay questions`."""
    from replay.document import TOOL
    from replay.questions import QUESTIONS
    from replay.report.text import questions_text

    catalogue = [
        {"id": q.id, "of": q.of, "expect": q.expect, "sentence": q.sentence} for q in QUESTIONS
    ]
    document = {"document": "replay.questions/1", "tool": TOOL, "questions": catalogue}
    terminal.write_result(document, arguments.format, questions_text)
    return 0


def demo(arguments: Namespace) -> int:
    """`replay demo`: each command as it is typed, and its own output."""
    from replay.demo import FILES, NEXT, STEPS, copy, python
    from replay.report.safe import shown

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
    lines = "".join(f"  {shown(line)}\n" for line in python(directory))
    terminal.write_text(f"\nAnd in a notebook, a picture of the states:\n\n{lines}")
    return 0


def _paragraph(prose: str) -> str:
    from replay.report.words import wrapped

    return "".join(f"{line}\n" for line in wrapped(prose, "", "   ", terminal.width()))


def _prompt(arguments: Sequence[str]) -> str:
    from shlex import join

    from replay.report.safe import shown
    from replay.report.words import paint

    return f"{paint(f'$ replay {shown(join(arguments))}', 'bold', terminal.colour())}\n"


def view(arguments: Namespace) -> int:
    """`replay view`."""
    from replay.page import view as write_page

    return write_page(arguments)


def diff(arguments: Namespace) -> int:
    """`replay diff`."""
    from replay.differing import diff as run

    return run(arguments)


def bisect(arguments: Namespace) -> int:
    """`replay bisect`."""
    from replay.differing import bisect as run

    return run(arguments)


def explain(arguments: Namespace) -> int:
    """`replay explain`."""
    from replay.explaining import explain as run

    return run(arguments)


def shrink(arguments: Namespace) -> int:
    """`replay shrink`."""
    from replay.shrinking import shrink as run

    return run(arguments)


RUN: Final[dict[str, Callable[[Namespace], int]]] = {
    "check": check,
    "project": project,
    "timeline": timeline,
    "diff": diff,
    "bisect": bisect,
    "explain": explain,
    "shrink": shrink,
    "view": view,
    "merge": merge,
    "import": import_,
    "schema": schema,
    "rules": rules,
    "demo": demo,
    "questions": questions,
}


# Results out.


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _print_refusal(refusal: Refusal) -> int:
    """The refusal in words on standard error, and as the document on standard output."""
    terminal.say(str(refusal))
    terminal.write_document(refusal.document())
    return REFUSED
