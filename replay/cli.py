"""The `replay` command: its arguments, and the exit status of whatever happens.

`replay.commands` does what is asked, and is imported only once something is.

Exit status: 0 agrees, or accepted with no oracle; 1 a finding; 2 usage, or a file that
cannot be read or written; 3 input refused; 4 undetermined; 70 a fault of ours.  Data
goes to standard output, everything else to standard error.
"""

from __future__ import annotations

import argparse
import gc
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn

from replay import terminal
from replay.errors import FileError, OracleError, UsageError
from replay.version import VERSION

DEFAULT_RULES: Final = "coordination/2"
MAX_WHOLE: Final = 2**53 - 1
SOURCES: Final = ("h5i-msg", "spec-kitty")
"""What `import` knows; a test compares it with the register, which is slow to import."""
FAULT_OF_OURS: Final = 70
INTERRUPTED: Final = 130

_EPILOG: Final = """\
exit status:
  0 agrees, or accepted with no oracle    3 input refused
  1 a finding                             4 undetermined
  2 usage, or a file that cannot be used  70 a fault of ours
several at once: 70, 2, 3, 1, 4, 0 in that order; 130 when interrupted
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    debug = False
    try:
        arguments = _parser().parse_args(argv)
        debug = arguments.debug
        from replay import commands

        return commands.RUN[arguments.command](arguments)
    except SystemExit as stop:  # argparse has printed help, the version or a usage message
        return stop.code if isinstance(stop.code, int) else 2
    except (FileError, OracleError, UsageError) as error:
        terminal.say_problem(error, str(error), debug=debug)
        return 2
    except KeyboardInterrupt:
        terminal.say("interrupted")
        return INTERRUPTED
    except Exception as fault:
        if debug:
            terminal.tell_trace()
        hint = "" if debug else " (--debug shows where)"
        terminal.say(f"a fault of ours: {type(fault).__name__}: {fault}{hint}")
        return FAULT_OF_OURS


def entry() -> NoReturn:
    """Console script: one command, and the process ends, so nothing is worth collecting."""
    gc.disable()
    status = main()
    gc.freeze()  # or Python would look for garbage among everything once more on its way out
    sys.exit(status)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help of 80 columns; to ask the terminal, argparse would import ten modules at each start."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=terminal.PLAIN_WIDTH)


class _Parser(argparse.ArgumentParser):
    """Prints as the commands do: help is data, and what is wrong is shown safely.

    `fill` adds a command's arguments once the command is used: adding everybody's takes
    longer than reading a hundred lines of log.
    """

    fill: Callable[[argparse.ArgumentParser], None] | None = None

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.fill is not None:
            fill, self.fill = self.fill, None
            fill(self)
        return super().parse_known_args(args, namespace)

    def _print_message(self, message: str, file: Any = None) -> None:
        del file  # help and the version; `error` prints for itself
        terminal.write_text(message)

    def error(self, message: str) -> NoReturn:
        terminal.tell(self.format_usage())
        terminal.say(f"error: {message}", by=self.prog)
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="replay",
        description="Replay a log of coordination events and defend every answer.",
        epilog=_EPILOG,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"replay {VERSION}")
    # prog given, or argparse formats a usage message, which takes 5 ms, to find it
    commands = parser.add_subparsers(prog="replay", metavar="COMMAND", required=True)
    for name, (summary, fill) in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=_EPILOG,
            formatter_class=_Help,
            allow_abbrev=False,
        )
        command.set_defaults(command=name)
        command.fill = fill
    return parser


def _check(parser: argparse.ArgumentParser) -> None:
    _add_logs(parser)
    parser.add_argument(
        "--oracle", metavar="FILE", help="authored answers (default: NAME.oracle.json beside LOG)"
    )
    parser.add_argument(
        "--log",
        metavar="FILE",
        help="LOG is a recorded document (.json): its log (default: as it is named, beside it)",
    )
    parser.set_defaults(default_rules=DEFAULT_RULES)
    _add_view(parser, formats=("text", "json", "junit", "sarif"))


def _project(parser: argparse.ArgumentParser) -> None:
    _add_logs(parser)
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="write every table to DIR; print no answers"
    )
    parser.add_argument(
        "--tables",
        choices=("parquet", "csv"),
        help="with -o: as what (default: parquet); csv guards formulas",
    )
    _add_view(parser)


def _timeline(parser: argparse.ArgumentParser) -> None:
    _add_logs(parser)
    parser.add_argument(
        "--work", action="append", metavar="ID", help="only this work item; may be repeated"
    )
    _add_view(parser)


def _diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "logs",
        nargs="+",
        metavar="LOG",
        help="one log, two logs, or two recorded documents (.json)",
    )
    parser.add_argument(
        "--rules",
        action="append",
        metavar="ID",
        help=f"rule set (default: {DEFAULT_RULES}); of one log twice",
    )
    parser.set_defaults(default_rules=DEFAULT_RULES, segments=False, recover=False)
    _add_limits(parser)
    _add_at(parser)
    _add_format(parser)


def _bisect(parser: argparse.ArgumentParser) -> None:
    _add_logs(parser)
    parser.add_argument(
        "--question",
        required=True,
        metavar="QUESTION",
        help="one of those that replay questions prints",
    )
    parser.add_argument(
        "--work", metavar="ID", help="the work item; without, events that name none"
    )
    parser.add_argument("--of", metavar="OF", help="what it is asked of: an event, a check, a code")
    parser.add_argument(
        "--value",
        metavar="VALUE",
        help="say from when to when this was the answer; null is nothing, undetermined not covered",
    )
    _add_view(parser)


def _explain(parser: argparse.ArgumentParser) -> None:
    _add_logs(parser, nargs=1)
    parser.add_argument(
        "work", nargs="?", metavar="WORK", help="the work item; without, events that name none"
    )
    parser.add_argument(
        "--why",
        default="state",
        metavar="QUESTION",
        help="the question, of those that replay questions prints (default: state)",
    )
    parser.add_argument("--of", metavar="OF", help="what it is asked of: an event, a check, a code")
    parser.add_argument(
        "--why-not", metavar="ANSWER", help="say why this is not the answer, and what would make it"
    )
    _add_view(parser)


def _shrink(parser: argparse.ArgumentParser) -> None:
    _add_logs(parser)
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the smallest log")
    parser.add_argument(
        "--keep",
        required=True,
        metavar="WHAT",
        help="a question, of those that replay questions prints; or anomaly (of any item, or of"
        " --work), disagreement (with the oracle), difference (of two rule sets), or refusal",
    )
    parser.add_argument("--work", metavar="ID", help="the work item")
    parser.add_argument(
        "--of",
        metavar="OF",
        help="what is asked of: an event, a check, a code; of a disagreement, the answer's id",
    )
    parser.add_argument(
        "--oracle", metavar="FILE", help="authored answers (default: NAME.oracle.json beside LOG)"
    )
    parser.add_argument(
        "--rules",
        action="append",
        metavar="ID",
        help=f"rule set (default: {DEFAULT_RULES}); of a difference twice",
    )
    parser.set_defaults(default_rules=DEFAULT_RULES)
    parser.add_argument(
        "--effort", type=_positive, default=1, metavar="N", help="look N times as long (default: 1)"
    )
    parser.add_argument(
        "--no-oracle", action="store_true", help="write no OUT.oracle.json beside OUT"
    )
    _add_at(parser)
    _add_format(parser)


def _view(parser: argparse.ArgumentParser) -> None:
    _add_logs(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the page, as HTML")
    parser.add_argument(
        "--work", action="append", metavar="ID", help="only this work item; may be repeated"
    )
    parser.add_argument(
        "--losses", metavar="FILE", help="what an import lost (default: LOG.losses.json beside LOG)"
    )
    parser.add_argument(
        "--max-items", type=_positive, metavar="N", help="work items on the page (default: 2000)"
    )
    parser.add_argument(
        "--max-bytes", type=_positive, metavar="BYTES", help="size of the page (default: 16777216)"
    )
    _add_cutoff(parser)
    _add_debug(parser)


def _merge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("logs", nargs="+", metavar="LOG")
    parser.add_argument("-o", "--output", required=True, metavar="OUT")
    _add_limits(parser)
    _add_debug(parser)


def _import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", metavar="SOURCE", help=" or ".join(SOURCES))
    parser.add_argument("inputs", nargs="+", metavar="INPUT")
    parser.add_argument("-o", "--output", required=True, metavar="LOG")
    parser.add_argument("--losses", metavar="FILE", help="default: LOG.losses.json")
    parser.add_argument(
        "--path", metavar="FILE", help="the file to read in a repository, where it is not fixed"
    )
    parser.add_argument(
        "--recorded",
        metavar="FILE",
        help="receipt times of a bare file: for each of its lines that is not blank one JSON"
        ' object {"recorded_sequence": 1, "line": 1, "recorded_at": "2026-05-01T09:00:00Z",'
        ' "id": "m1"}, where id is what that line has as its own',
    )
    _add_debug(parser)


def _schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="default: list the names")
    _add_debug(parser)


def _rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="default: every rule set")
    _add_format(parser)


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "directory",
        nargs="?",
        default="replay-demo",
        metavar="DIR",
        help="where the fixtures go (default: replay-demo); no file is overwritten",
    )
    _add_debug(parser)
    parser.set_defaults(run=main)  # the commands that it shows are run as they are typed


COMMANDS: Final[dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]]] = {
    "check": ("compare what a log shows with its oracle", _check),
    "project": ("print every derived answer at a cutoff", _project),
    "timeline": ("print from when to when each derived answer held", _timeline),
    "diff": ("say which answers differ, and at which event they first did", _diff),
    "bisect": ("say at which event an answer became what it is", _bisect),
    "explain": ("say why an answer is what it is, and why it is not another", _explain),
    "shrink": ("write a smallest log that still shows something", _shrink),
    "view": ("write one self-contained page that shows what happened", _view),
    "merge": ("unite clones of one log, refusing conflicts", _merge),
    "import": ("turn a foreign record into a log", _import),
    "schema": ("print the JSON Schema of a document", _schema),
    "rules": ("print rule sets, rule by rule", _rules),
    "demo": ("copy some fixtures and walk through three commands on them", _demo),
    "questions": ("print what an oracle can ask", lambda parser: _add_format(parser)),
}


def _add_logs(parser: argparse.ArgumentParser, nargs: int | str = "+") -> None:
    parser.add_argument(
        "logs",
        nargs=nargs,
        metavar="LOG",
        help="a .jsonl, .jsonl.gz or .jsonl.zst file, a directory of them, or - for standard input",
    )
    parser.add_argument(
        "--segments", action="store_true", help="read all of them as segments of one log"
    )
    parser.add_argument(
        "--recover",
        action="store_true",
        help="keep the good lines, write the others to LOG.quarantine.jsonl; still exits with 3",
    )
    _add_limits(parser)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--max-line", type=_positive, metavar="BYTES", help="default: 4194304")
    parser.add_argument("--max-nesting", type=_positive, metavar="LEVELS", help="default: 64")
    parser.add_argument("--max-id", type=_positive, metavar="BYTES", help="default: 1024")


def _add_view(
    parser: argparse.ArgumentParser, *, formats: Sequence[str] = ("text", "json")
) -> None:
    _add_cutoff(parser)
    _add_format(parser, formats)


def _add_cutoff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rules", default=DEFAULT_RULES, metavar="ID", help=f"rule set (default: {DEFAULT_RULES})"
    )
    _add_at(parser)


def _add_at(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--at-sequence", type=_sequence, metavar="N", help="see events up to this sequence"
    )
    time = parser.add_mutually_exclusive_group()
    time.add_argument(
        "--at-time", metavar="RFC3339", help="see events recorded up to this time (events/1)"
    )
    time.add_argument(
        "--at-minute",
        type=_minute,
        metavar="M",
        help="see events recorded up to this minute (elapsed/1)",
    )


def _add_debug(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--debug", action="store_true", help="show where a fault happened")


def _add_format(parser: argparse.ArgumentParser, formats: Sequence[str] = ("text", "json")) -> None:
    _add_debug(parser)
    parser.add_argument("--format", choices=formats, default="text")


def _positive(text: str) -> int:
    return _whole(text, 1)


def _sequence(text: str) -> int:
    return _whole(text, 0)


def _whole(text: str, least: int) -> int:
    # at most 16 digits, which a sequence number has
    if not re.fullmatch(r"[0-9]{1,16}", text) or not least <= int(text) <= MAX_WHOLE:
        raise argparse.ArgumentTypeError(
            f"expected a whole number from {least} to {MAX_WHOLE}, found {text!r}"
        )
    return int(text)


def _minute(text: str) -> str:
    """The literal, of which the log's own reader judges the value."""
    if not re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", text):
        raise argparse.ArgumentTypeError(f"expected a number of minutes, found {text!r}")
    return text
