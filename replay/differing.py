"""`replay diff` and `replay bisect`: what each is given, and what it prints."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, Final

from replay import files, terminal
from replay.errors import Refusal, UsageError
from replay.history import Prefix
from replay.inputs import REFUSED, admitted, logs_of, prefix_of

DOCUMENT: Final = ".json"
_CUTOFF: Final = ("at_sequence", "at_time", "at_minute")


def diff(arguments: Namespace) -> int:
    """`replay diff`."""
    from replay.report.differences import diff_text

    documents = [path for path in arguments.logs if path.endswith(DOCUMENT)]
    document = _of_documents(arguments) if documents else _of_logs(arguments)
    if isinstance(document, Refusal):
        return _refused(arguments, document)
    terminal.write_result(document, arguments.format, diff_text)
    status: int = document["exit"]
    return status


def _of_documents(arguments: Namespace) -> Any:
    from replay.compare import compare_documents
    from replay.recorded import projection_of, read

    if len(arguments.logs) != 2 or not all(path.endswith(DOCUMENT) for path in arguments.logs):
        raise UsageError("two recorded documents are compared with one another and nothing else")
    if arguments.rules or any(getattr(arguments, name) is not None for name in _CUTOFF):
        raise UsageError("recorded documents have their rules and their cutoff")
    one, other = (
        projection_of(path, read(path, files.read_bytes(path))) for path in arguments.logs
    )
    return compare_documents(one, other)


def _of_logs(arguments: Namespace) -> Any:
    from replay.compare import compare_logs, compare_rules
    from replay.rules import named

    rule_sets = [named(rules) for rules in arguments.rules or [arguments.default_rules]]
    logs = logs_of(arguments)
    if (len(logs), len(rule_sets)) not in ((1, 2), (2, 1)):
        raise UsageError(
            "compare one log under two rule sets (--rules twice), or two logs under one;"
            f" found {len(logs)} and {len(rule_sets)}"
        )
    prefixes: list[Prefix] = []
    for log in [admitted(read) for _, read in logs]:  # each is read, so that each is judged
        if isinstance(log, Refusal):
            return log
        prefixes.append(prefix_of(log, arguments))
    if len(prefixes) == 1:
        return compare_rules(prefixes[0], rule_sets[0], rule_sets[1])
    return compare_logs(prefixes[0], prefixes[1], rule_sets[0])


def bisect(arguments: Namespace) -> int:
    """`replay bisect`."""
    from replay.asking import asked, require_in_view
    from replay.bisection import bisect_document
    from replay.report.differences import bisect_text
    from replay.rules import named

    rule_set = named(arguments.rules)
    question = asked(arguments.question, arguments.work, arguments.of)
    logs = logs_of(arguments)
    if len(logs) > 1:
        raise UsageError("one log is bisected (--segments reads several files as one)")
    log = admitted(logs[0][1])
    if isinstance(log, Refusal):
        return _refused(arguments, log)
    prefix = prefix_of(log, arguments)
    require_in_view(prefix, question)
    document: Any = bisect_document(prefix, rule_set, question, arguments.value)
    terminal.write_result(document, arguments.format, bisect_text)
    status: int = document["exit"]
    return status


def _refused(arguments: Namespace, refusal: Refusal) -> int:
    from replay.report.text import refusal_text

    terminal.write_result(refusal.document(), arguments.format, refusal_text)
    return REFUSED
