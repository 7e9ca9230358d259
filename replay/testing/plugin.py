"""A pytest plugin: a folder of logs and authored answers as tests.

    pytest --replay-logs logs            the folder's logs, beside the tests that pytest finds
    replay_logs = logs                   the same as an ini option, relative to the ini file

Each authored answer is one test, `LOG.jsonl::ANSWER-ID`, which can be named, deselected and
run again like any other.  It fails where another answer is derived, and where the rules do
not cover what it asks (undetermined): nothing undecided passes.  A log with no oracle, or
one that holds no answers, is the one test `accepted`; a log that is refused or cannot be
read is one failed test.  A failure is one paragraph, not a traceback.  As in `replay check`,
a folder's logs are those directly in it.

Without the option the plugin does nothing and imports nothing of `replay` that reads logs.
Ids are somebody's text: in a test's name, what is not plain ASCII is shown as its escape.

PYTEST_DONT_REWRITE: there is no assertion here to explain.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

try:
    import pytest
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "replay.testing.plugin needs pytest, which is not installed;"
        " the extra `testing` has it: pip install 'coordination-replay[testing]'",
        name=missing.name,
    ) from missing

if TYPE_CHECKING:
    from replay.history import History
    from replay.oracle import Answer

DEFAULT_RULES: Final = "coordination/2"
_MAX_NAME: Final = 80
_MAX_VALUE: Final = 600
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.+=@,-]")
_FOLDERS: Final = pytest.StashKey[tuple[Path, ...]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("replay", "logs of coordination events")
    group.addoption(
        "--replay-logs",
        action="append",
        metavar="DIR",
        default=[],
        help="turn the logs in DIR, and the oracles beside them, into tests (can be repeated)",
    )
    group.addoption(
        "--replay-rules",
        metavar="ID",
        default=DEFAULT_RULES,
        help="rule set of a log with no oracle; an answer names its own (default %(default)s)",
    )
    parser.addini("replay_logs", "folders whose logs are tests", type="paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    asked = [config.invocation_params.dir / given for given in config.getoption("replay_logs")]
    # folders of the ini file are part of a whole run, as testpaths are
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    ini = [Path(given) for given in config.getini("replay_logs")]
    config.stash[_FOLDERS] = tuple(folder.resolve() for folder in (*asked, *ini))
    for folder in (*asked, *([] if named else ini)):
        if not folder.exists():
            raise pytest.UsageError(f"replay logs: no such file or folder: {folder}")
        _collect_too(config, folder.resolve())


def _collect_too(config: pytest.Config, folder: Path) -> None:
    """The folder as one more argument of the run, once."""
    given = {(config.invocation_params.dir / a.partition("::")[0]).resolve() for a in config.args}
    if folder not in given:
        config.args.append(str(folder))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    folders = parent.config.stash.get(_FOLDERS, ())
    path = file_path.resolve() if folders else file_path
    if not any(path == folder or path.parent == folder for folder in folders):
        return None
    from replay.files import LOG_SUFFIXES
    from replay.quarantine import SUFFIX as QUARANTINE_SUFFIX

    is_log = path.name.endswith(LOG_SUFFIXES) and not path.name.endswith(QUARANTINE_SUFFIX)
    return LogFile.from_parent(parent, path=file_path) if is_log else None


class LogFile(pytest.File):
    """One log.  It is derived and sealed once, and then its oracle is opened."""

    def collect(self) -> Iterator[pytest.Item]:
        from replay.errors import ReplayError

        try:
            yield from self._tests()
        except ReplayError as problem:
            yield self._test("readable", _safe(str(problem), None))

    def _tests(self) -> Iterator[pytest.Item]:
        from replay import files
        from replay.check import OracleFile, check_log
        from replay.errors import Refusal
        from replay.oracle import read_oracle

        log = str(self.path)
        try:
            history = files.load(log)
        except Refusal as refusal:
            yield self._test("accepted", f"refused: {_safe(str(refusal), None)}")
            return
        beside, opened = files.oracle_beside(log), list[bytes]()

        def read() -> bytes:
            opened.append(files.read_bytes(beside or ""))
            return opened[0]

        oracle = None if beside is None else OracleFile(files.printable_name(beside), read)
        result = check_log(history, rules=self.config.getoption("replay_rules"), oracle=oracle)
        answers = read_oracle(oracle.name, opened[0]).answers if oracle else ()
        if not answers:
            yield self._test("accepted", None)
        for answer, found in zip(answers, result["answers"], strict=True):
            yield self._test(_name(answer.id), _failure(self.path.name, answer, found, history))

    def _test(self, name: str, failure: str | None) -> pytest.Item:
        return LogTest.from_parent(self, name=name, failure=failure)


class LogTest(pytest.Item):
    """One answer, or the log as a whole; `failure` is its paragraph, null where it passes."""

    def __init__(self, *, failure: str | None, **given: Any) -> None:
        super().__init__(**given)
        self.failure = failure

    def runtest(self) -> None:
        if self.failure is not None:
            raise AnswerError(self.failure)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> str | Any:
        if isinstance(excinfo.value, AnswerError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        # not the end of the node id, whose dots pytest would take for those of a module
        return self.path, None, f"{_safe(self.path.name, None)}: {self.name}"


class AnswerError(AssertionError):
    """An answer that is not the authored one, or a log that has none to give."""


def _failure(log: str, answer: Answer, found: dict[str, Any], history: History) -> str | None:
    """What a person needs to see where to look, in one paragraph; null of an answer that agrees."""
    if found["outcome"] == "agree":
        return None
    subject = _subject(log, answer)
    if found["outcome"] == "undetermined":
        events = _listed(found["undetermined_by"])
        return (
            f"{subject} is undetermined: {answer.rules} does not cover events of this item"
            f" ({events}), so the authored answer {_json(answer.expect)} is neither confirmed nor"
            f" refuted."
        )
    rule = found["rule"]
    parts = [
        f"{subject} differs: expected {_json(found['expected'])},",
        f"derived {_json(found['derived'])}{f' by rule {rule}' if rule else ''}.",
        *_evidence(answer),
        _first(found["first_differing_event"], history),
        *([f"Why it was expected: {_safe(answer.why, _MAX_VALUE)}"] if answer.why else []),
    ]
    return " ".join(part for part in parts if part)


def _subject(log: str, answer: Answer) -> str:
    of = "" if answer.of is None else f" of {_safe(answer.of)}"
    item = "events with no work item" if answer.work_id is None else _safe(answer.work_id)
    cutoff = [
        f"{name} {_safe(str(value))}"
        for name in ("sequence", "time", "minute")
        if (value := getattr(answer.at, name)) is not None
    ]
    at = f"at {' and '.join(cutoff)}" if cutoff else "at the end of the log"
    named = f"{_safe(log)}: answer {_safe(answer.id)}"
    return f"{named} ({answer.question}{of}, {item}, {at}, {_safe(answer.rules)})"


def _evidence(answer: Answer) -> Iterable[str]:
    if answer.evidence is not None:
        yield f"Expected evidence: {_listed(answer.evidence)}."


def _first(event_id: str | None, history: History) -> str:
    line = next((e.line for e in history.events if e.event_id == event_id), None)
    if event_id is None or line is None:
        return ""
    return f"Look first at event {_safe(event_id)}, on line {line}."


def _listed(event_ids: Iterable[str]) -> str:
    shown = [_safe(event_id) for event_id in event_ids]
    more = [f"{len(shown) - 10} more"] if len(shown) > 10 else []
    return ", ".join([*shown[:10], *more]) or "none"


def _json(value: Any) -> str:
    return _safe(json.dumps(value, ensure_ascii=False), _MAX_VALUE)


def _safe(text: str, width: int | None = 60) -> str:
    from replay.report.safe import shown

    return shown(text, width)


def _name(answer_id: str) -> str:
    """An answer's id as a test's name: no separator of node ids, nothing to be obeyed."""
    from replay.report.safe import shortened

    safe = _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):x};", answer_id)
    return shortened(safe, _MAX_NAME, answer_id).replace("…", "...").replace("#", "-")
