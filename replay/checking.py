"""`replay check`: each log with the oracle beside it, and what is printed of them all."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from replay import terminal
from replay.errors import FileError, OracleError, UsageError
from replay.inputs import (
    OracleBeside,
    Taken,
    about,
    admitted,
    listing_duplicates,
    logs_of,
    origin_of,
    refused_of,
    slashed,
)

if TYPE_CHECKING:
    from replay.report.findings import Origin, Unread


def check(arguments: Namespace) -> int:
    """`replay check`."""
    from replay.check import check_document, check_log
    from replay.oracle import At
    from replay.rechecking import is_asked, recheck
    from replay.rules import named

    if is_asked(arguments):
        return recheck(arguments)
    named(arguments.rules)  # an unknown rule set is said before anything is read
    at = At(arguments.at_sequence, arguments.at_time, arguments.at_minute)
    taken: Taken = {}
    for_ci = arguments.format in ("junit", "sarif")
    logs = logs_of(arguments, taken if for_ci else None)
    if arguments.oracle is not None and len(logs) > 1:
        raise UsageError("--oracle is about one log")
    results = []
    oracles: list[Any] = []
    origins: list[Origin] = []
    problems: list[tuple[str, str]] = []
    for path, read in logs:
        taken.clear()
        oracle = OracleBeside.of(path, arguments)
        try:
            log = admitted(read)
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
                results[-1]["projection"] = listing_duplicates(results[-1]["projection"], log)
            if for_ci:
                origins.append(origin_of(path, oracle, log, taken))
        except (FileError, OracleError, UsageError) as error:
            terminal.say_problem(error, about(path, error), debug=arguments.debug)
            problems.append((refused_of(taken) or path, about(path, error)))
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
            terminal.write_document(document)
        case "junit":
            from replay.report.junit import junit

            terminal.write(junit(document, origins, oracles=oracles, unread=_unread(problems)))
        case "sarif":
            from replay.report.sarif import sarif_document

            unread = _unread(problems)
            found = sarif_document(document, origins, oracles=oracles, unread=unread)
            terminal.write_document(found)
        case _ if document["logs"]:
            from replay.report.text import check_text

            style: Any = {"colour": terminal.colour(), "width": terminal.width()}
            terminal.write_text(check_text(document, oracles=oracles, **style))


def _unread(problems: Sequence[tuple[str, str]]) -> list[Unread]:
    from replay.report.findings import Unread

    return [Unread(slashed(path), reason) for path, reason in problems]
