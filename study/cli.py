"""The `study` command: its arguments, and the exit status of whatever happens.

Exit status, as `replay`'s: 0 done; 2 usage, or a file that cannot be read or written; 3 a log
was refused; 70 a fault of ours; 130 interrupted.  Data goes to standard output, everything
else to standard error.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

DEFAULT_RULES: Final = "coordination/2"
USAGE, REFUSED, FAULT_OF_OURS, INTERRUPTED = 2, 3, 70, 130
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_DURATION: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)([smhd])\Z")
_NEEDED: Final = ("lifelines", "scipy", "statsmodels", "matplotlib", "jinja2", "numpy")

_EPILOG: Final = """\
exit status: 0 done, 2 usage or a file that cannot be used, 3 a log was refused,
70 a fault of ours, 130 interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    try:
        arguments = _parser().parse_args(argv)
    except SystemExit as stop:  # argparse has printed help or what is wrong
        return stop.code if isinstance(stop.code, int) else USAGE
    except BrokenPipeError:
        _drop_output()
        return 0
    except _NoOutput as problem:
        _say(f"standard output: {problem}")
        return USAGE
    try:
        status: int = arguments.run(arguments)
        return status
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads has seen enough
        _drop_output()
        return 0
    except _NoOutput as problem:
        _say(f"standard output: {problem}")
        return USAGE
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in _NEEDED:
            return _fault(missing, debug=arguments.debug)
        _say(f"{missing.name} is not installed: pip install 'coordination-replay[study]'")
        return USAGE
    except Exception as error:
        return _known(error, debug=arguments.debug)


def entry() -> None:
    """Console script."""
    sys.exit(main())


def _known(error: Exception, *, debug: bool) -> int:
    """What a command may end with: a refusal, something unusable, else a fault of ours."""
    from study.beside import BadFile
    from study.files import FileFailed
    from study.operational import FileError, LogsRefused, ReplayError

    match error:
        case LogsRefused():
            for line in str(error).splitlines():
                _say(line)
            return REFUSED
        case BadFile() | FileFailed() | FileError() | ReplayError():
            _say(str(error))
            return USAGE
    return _fault(error, debug=debug)


def _fault(error: Exception, *, debug: bool) -> int:
    if debug:
        from traceback import print_exception

        print_exception(error)
    hint = "" if debug else " (--debug shows where)"
    _say(f"a fault of ours: {type(error).__name__}: {error}{hint}")
    return FAULT_OF_OURS


def _say(message: str) -> None:
    """One message on standard error, if anybody is left to be told, with nothing hidden in it."""
    from study.words import shown

    with suppress(OSError, AttributeError, ValueError):
        sys.stderr.write(f"study: {shown(message)}\n")
        sys.stderr.flush()


class _NoOutput(Exception):
    """Standard output that cannot be written to, and why."""


def _write(text: str) -> None:
    if sys.stdout is None:  # it was closed when Python started
        raise _NoOutput("closed")
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.buffer.write(text.encode(encoding, "backslashreplace"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as problem:
        _drop_output()
        raise _NoOutput((problem.strerror or str(problem)).lower()) from None


def _drop_output() -> None:
    """Point it at nothing: what Python still holds would fail once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("coordination-replay")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "from a checkout"


class _Parser(argparse.ArgumentParser):
    """Prints as the commands do: help is data, and what is wrong is shown safely."""

    def _print_message(self, message: str, file: Any = None) -> None:
        del file  # help and the version; `error` prints for itself
        _write(message)

    def error(self, message: str) -> NoReturn:
        for line in (*self.format_usage().rstrip().splitlines(), f"error: {message}"):
            _say(line)
        raise SystemExit(USAGE)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="study",
        description="Operational endpoints, with honest denominators.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"study {_version()}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _operations(_command(commands, "operations", "estimate every operational endpoint of logs"))
    fields = _command(commands, "fields", "print the fields that each class of receipt needs")
    fields.set_defaults(run=_print_fields)
    schema = _command(commands, "schema", "print the JSON Schema of a document")
    schema.add_argument("name", nargs="?", metavar="NAME", help="default: list the names")
    schema.set_defaults(run=_print_schema)
    return parser


def _command(commands: Any, name: str, summary: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument("--debug", action="store_true", help="show where a fault happened")
    return command


def _operations(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "logs",
        nargs="+",
        metavar="LOG",
        help="a .jsonl, .jsonl.gz or .jsonl.zst file, a directory of them, or -; what an import"
        " lost is read from LOG.losses.json beside it",
    )
    add("-o", "--output", metavar="DIR", help="write reports, tables and figures to DIR")
    add("--rules", default=DEFAULT_RULES, metavar="ID", help=f"default: {DEFAULT_RULES}")
    add("--at-sequence", type=_whole, metavar="N", help="see events up to this sequence")
    add("--at-time", metavar="RFC3339", help="see events recorded up to this time")
    add("--at-minute", type=_minute, metavar="M", help="the same, of relative minutes")
    add(
        "--window",
        type=_window,
        metavar="FROM..TO",
        help="watch from FROM (delayed entry) to TO (a cutoff); either may be left out",
    )
    add("--register", metavar="FILE", help="CSV of kind,id,opened_at,closed_at,lane")
    add("--access", metavar="FILE", help="CSV of ref,status: what evidence can be reached")
    add(
        "--horizon",
        action="append",
        type=_duration,
        metavar="4h",
        help="give shares and means by this time since the origin (s, m, h, d); may be repeated",
    )
    groups = parser.add_mutually_exclusive_group()
    groups.add_argument("--by", choices=("lane", "log"), help="compare lanes, or logs")
    groups.add_argument("--before-after", metavar="TIME", help="compare what began before and from")
    groups.add_argument(
        "--assignment", metavar="FILE", help="CSV of work_id,arm: compare the arms as assigned"
    )
    add("--seed", type=_whole, default=0, metavar="N", help="of redrawn work items (default: 0)")
    add(
        "--without-refused",
        action="store_true",
        help="leave refused logs out, by name; still exits with 3",
    )
    add("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=_run_operations)


def _run_operations(arguments: argparse.Namespace) -> int:
    from study import report
    from study.document import encode
    from study.operational import operations
    from study.reckoning import Options

    found = operations(
        arguments.logs,
        options=Options(horizons=tuple(arguments.horizon or ()), seed=arguments.seed),
        rules=arguments.rules,
        sequence=arguments.at_sequence,
        time=arguments.at_time,
        minute=arguments.at_minute,
        window=arguments.window,
        register=arguments.register,
        access=arguments.access,
        assignment=arguments.assignment,
        by=arguments.by,
        before_after=arguments.before_after,
        without_refused=arguments.without_refused,
    )
    if arguments.output is not None:
        _write_all(arguments, found)
    _write(encode(found).decode() if arguments.format == "json" else report.text(found))
    for refused in found.refused:
        _say(refused.why)
    return REFUSED if found.refused else 0


def _write_all(arguments: argparse.Namespace, found: Any) -> None:
    from study.files import write_files
    from study.operational import UsageError
    from study.output import contents

    if not arguments.output or "\0" in arguments.output:
        raise UsageError("-o: expected a folder, found no name of one")
    files = contents(found)
    given = [*arguments.logs, arguments.register, arguments.access, arguments.assignment]
    inputs = {os.path.realpath(path) for path in given if path is not None}
    for name in files:
        if os.path.realpath(os.path.join(arguments.output, name)) in inputs:
            raise UsageError(f"{name} in {arguments.output} is an input, and is never written to")
    write_files(arguments.output, files)
    _say(f"{arguments.output}: report.html, report.md and {len(files) - 2} more files")


def _print_fields(arguments: argparse.Namespace) -> int:
    from study.receipts import MEANING, REQUIRED

    for receipt, fields in REQUIRED.items():
        _write(f"{receipt}\n")
        for field in fields:
            _write(f"  {field:<18} {MEANING[field]}\n")
    return 0


def _print_schema(arguments: argparse.Namespace) -> int:
    from study.schemas import NAMES, schema

    if arguments.name is None:
        _write("".join(f"{name}\n" for name in NAMES))
        return 0
    if arguments.name not in NAMES:
        _say(f"no schema {arguments.name!r}; there are: {', '.join(NAMES)}")
        return USAGE
    _write(schema(arguments.name))
    return 0


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,16}", text) or int(text) > 2**53 - 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, found {text!r}")
    return int(text)


def _minute(text: str) -> str:
    if not re.fullmatch(r"[0-9]+(\.[0-9]{1,6})?", text):
        raise argparse.ArgumentTypeError(f"expected minutes from 0, found {text!r}")
    return text


def _window(text: str) -> tuple[str | None, str | None]:
    start, dots, end = text.partition("..")
    if not dots or not (start or end):
        raise argparse.ArgumentTypeError(f"expected FROM..TO, found {text!r}")
    return start or None, end or None


def _duration(text: str) -> float:
    match = _DURATION.match(text)
    if match is None or not float(match[1]):
        raise argparse.ArgumentTypeError(f"expected a time such as 90m, 4h or 2d, found {text!r}")
    return float(match[1]) * _SECONDS[match[2]]
