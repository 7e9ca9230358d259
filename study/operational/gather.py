"""From logs and the files beside them to every endpoint's rows, and what was read."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import structs

import replay
from study.beside import Access, Assignment, BadFile, read_access, read_assignment, read_losses
from study.comparing import Grouping, TooManyGroups, compare
from study.definitions import DEFINITIONS
from study.estimates import Unknown
from study.files import FileFailed, read_file
from study.operational import costs, judged, waits
from study.operational.groups import grouping, unrecorded
from study.operational.log import ReplayedLog
from study.operational.needs import WHOLE_RECORDS, unneeded
from study.operational.question import (
    LogsRefused,
    Question,
    check,
    cutoff_words,
    nanoseconds,
    prefix_of,
    window_words,
)
from study.reckoning import Options, endpoint
from study.register import Register, due, flow, read_register
from study.result import (
    NO_REGISTER,
    Comparison,
    FileRead,
    LogRead,
    Loss,
    Operations,
    Refused,
    RegisterFlow,
)
from study.rows import Basis, Row

LOSSES_SUFFIX: Final = ".losses.json"
STDIN: Final = "-"


def operations(
    logs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    options: Options | None = None,
    **question: Any,
) -> Operations:
    """Every endpoint of some logs; the keywords are the fields of `Question`, `rules` among them.

    Raises `LogsRefused`, which names all of them, for logs that the contract refuses (unless
    `without_refused`), `replay.FileError` and `study.files.FileFailed` for a file that cannot
    be read, `study.beside.BadFile` for one that is not what it should be, and
    `replay.UsageError` for what cannot be asked.
    """
    if isinstance(window := question.get("window"), str):  # as the command has it
        start, _, end = window.partition("..")
        question["window"] = (start or None, end or None)
    paths = [logs] if isinstance(logs, str | os.PathLike) else logs
    asked = _Asked([os.fspath(path) for path in paths], Question(**question))
    return asked.answer(options or Options())


_Read: TypeAlias = tuple[str, replay.History, tuple[Loss, ...]]
"""A log that is not refused: its name, its history and what its import lost."""


class _Asked:
    """One question about some logs, while its answer is being put together."""

    def __init__(self, logs: Sequence[str], question: Question) -> None:
        self.question = question
        self.paths = replay.log_paths(logs)
        self.files: dict[str, FileRead] = {}
        self.refused: list[Refused] = []
        self.notes: list[str] = []
        check(question)
        if not self.paths:
            raise replay.UsageError("expected at least one log")
        if self.paths.count(STDIN) > 1:
            raise replay.UsageError("standard input can be read once")
        if STDIN in self.paths and sys.stdin is None:  # it was closed when Python started
            raise replay.UsageError("standard input is closed")
        self.register: Register | None = self._beside("register", read_register)
        self.access: Access | None = self._beside("access", read_access)
        self.assignment: Assignment | None = self._beside("assignment", read_assignment)

    def _beside(self, kind: str, read: Any) -> Any:
        path = getattr(self.question, kind)
        if path is None:
            return None
        found = read(_printable(os.path.basename(path)), read_file(path))
        self.files[kind] = found.read
        return found

    def answer(self, options: Options) -> Operations:
        """The rows of every log, the endpoints of them, and what was read."""
        # by name, since the order in which work items are drawn again is that of the logs
        histories = sorted(self._logs(), key=lambda read: read[0])
        if self.refused and not (self.question.without_refused and histories):
            raise LogsRefused(self.refused)
        lanes_of = self._registered_lanes()
        replayed = [
            self._replayed(name, history, losses, lanes_of) for name, history, losses in histories
        ]
        register = self._flow(replayed)
        omitted = register if isinstance(register, Unknown) else len(register.omitted)
        options = structs.replace(options, omitted=omitted)
        rows = self._rows(replayed, register)
        self._note_clones(replayed)
        self._note_losses(replayed)
        self._note_cutoff(replayed)
        empty = replay.as_document(_nothing(self.question.rules, histories))
        rules: Any = empty["rules"]
        by_name = {name: history for name, history, _ in histories}
        groups = grouping(self.question, self.assignment, by_name)
        if self.assignment is not None and (note := unrecorded(self.assignment, by_name)):
            self.notes.append(note)
        comparison = self._compared(rows, groups, options)
        return Operations(
            rules=rules["id"],
            digest=rules["digest"],
            version=replay.__version__,
            cutoff=cutoff_words(self.question),
            window=window_words(self.question),
            logs=tuple(_log_read(log) for log in replayed),
            refused=tuple(self.refused),
            register=register,
            files=self.files,
            endpoints=tuple(endpoint(id, rows[id], options) for id in DEFINITIONS),
            comparison=comparison,
            notes=tuple(self.notes),
        )

    def _compared(
        self, rows: dict[str, list[Row]], groups: Grouping | None, options: Options
    ) -> Comparison | None:
        if groups is None:
            return None
        try:
            return compare(rows, groups, options)
        except TooManyGroups as many:
            self.notes.append(f"No comparison: {many}.")
            return None

    # Logs

    def _logs(self) -> Iterator[_Read]:
        """Each log that is not refused: its name, its history and what its import lost."""
        seen: dict[str, str] = {}
        for path, name in zip(self.paths, _names(self.paths), strict=True):
            try:
                history = replay.load(path)
            except replay.Refusal as refusal:
                self.refused.append(Refused(name=name, why=str(refusal)))
                continue
            if (digest := history.input.sha256) in seen and history.events:
                raise replay.UsageError(
                    f"{seen[digest]} and {name} are the same bytes, which would be counted twice"
                )
            seen[digest] = name
            losses = _losses(path)
            if path == STDIN:
                self.notes.append(f"{name}: what an import lost of it is not known.")
            yield name, history, losses

    def _replayed(
        self,
        name: str,
        history: replay.History,
        losses: tuple[Loss, ...],
        lanes: dict[str, str],
    ) -> ReplayedLog:
        start = self.question.window[0] if self.question.window else None
        try:
            prefix = prefix_of(history, self.question)
        except replay.UsageError as problem:
            raise replay.UsageError(f"{name}: {problem}") from None
        since = None if start is None else nanoseconds(history, start)
        until = prefix.observed
        if since is not None and until is not None and since >= until:
            self.notes.append(f"{name}: observation had ended when the window began.")
        return ReplayedLog(
            name, prefix, self.question.rules, since=since, losses=losses, lanes=lanes
        )

    # Rows

    def _rows(
        self, logs: Sequence[ReplayedLog], register: RegisterFlow | Unknown
    ) -> dict[str, list[Row]]:
        rows: dict[str, list[Row]] = {id: [] for id in DEFINITIONS}
        money = costs.currencies(logs)
        assigned = self._assigned(logs)
        access = None if self.access is None else self.access.statuses
        for log in logs:
            found: Mapping[str, Iterable[Row]] = {
                "review_latency": waits.review_latency(log),
                "blocker_recovery": waits.blocker_recovery(log),
                "progress_gap": waits.progress_gap(log),
                "receipt_completeness": log.judged(judged.receipt_completeness(log, access)),
                **{id: log.judged(make(log)) for id, make in judged.ROWS.items()},
            }
            for id, of_one in found.items():
                rows[id] += log.available(id, of_one)
            rows["cost"] += costs.costs(log, money, assigned)
        if isinstance(register, RegisterFlow):
            basis, lanes = logs[0].basis, self._registered_lanes()
            for work_id in register.omitted:
                rows["cost"] += costs.omitted(work_id, basis, lanes.get(work_id), money)
        self._note_costs(logs)
        return rows

    def _note_costs(self, logs: Sequence[ReplayedLog]) -> None:
        nobodys = sum(
            event.type == "cost.recorded" and event.work_id is None
            for log in logs
            for event in log.prefix.events
        )
        if nobodys:
            self.notes.append(f"{nobodys} cost records name no work item and are in no mean.")

    def _note_losses(self, logs: Sequence[ReplayedLog]) -> None:
        whole = [log for log in logs if any(loss.name in WHOLE_RECORDS for loss in log.losses)]
        if whole:
            lost = f"{len(whole)} of {len(logs)} logs"
            self.notes.append(f"Of {lost} an import lost whole records, which no number has.")
        if names := sorted({name for log in logs for name in unneeded(log.losses)}):
            told = ", ".join(names)
            self.notes.append(f"Lost by an import, and asked for by no endpoint: {told}.")

    def _note_cutoff(self, logs: Sequence[ReplayedLog]) -> None:
        early = sum("cutoff_beyond_log" in log.prefix.facts.flags for log in logs)
        if early:
            self.notes.append(
                f"{early} of {len(logs)} logs end before the cutoff: what is open in them counts "
                "as watched until the cutoff, on the word of whoever set it."
            )

    def _note_clones(self, logs: Sequence[ReplayedLog]) -> None:
        """Events that two logs share: clones of one log count twice."""
        found: dict[tuple[str, int, str | None, str], str] = {}
        shared: Counter[tuple[str, str]] = Counter()
        for log in logs:
            for event in log.prefix.events:
                key = (event.event_id, event.recorded_at, event.work_id, event.type)
                first = found.setdefault(key, log.name)
                if first != log.name:
                    shared[(first, log.name)] += 1
        sizes = {log.name: len(log.prefix.events) for log in logs}
        relative = {log.name for log in logs if log.basis == "elapsed"}
        for (one, other), count in sorted(shared.items()):
            if {one, other} & relative and count < min(sizes[one], sizes[other]):
                continue  # relative minutes of two logs agree by chance
            self.notes.append(
                f"{one} and {other} share {count} events: clones of one log are counted twice "
                "(replay merge makes one of them)."
            )

    # The register

    def _registered_lanes(self) -> dict[str, str]:
        entries = () if self.register is None else self.register.entries
        return {one.id: one.lane for one in entries if one.kind == "work" and one.lane is not None}

    def _flow(self, logs: Sequence[ReplayedLog]) -> RegisterFlow | Unknown:
        if self.register is None:
            return NO_REGISTER
        if self.refused:
            return Unknown("work of the refused logs cannot be told from work that left no event")
        return flow(
            self.register,
            {work_id for log in logs for work_id in log.by_item},
            {event_id for log in logs for event_id in log.events},
            *self._watched(self.register, logs),
        )

    def _watched(
        self, register: Register, logs: Sequence[ReplayedLog]
    ) -> tuple[int | None, Basis | None, int | None]:
        """Until when all logs together are observed, on which basis, and since when."""
        shown = [log for log in logs if log.prefix.observed is not None]
        bases = sorted({log.basis for log in shown})
        if len(bases) > 1 and register.basis is None:
            return None, None, None  # there is no time to compare
        if len(bases) > 1:
            found = "logs of UTC times and of relative minutes"
            expected = "logs of one time basis beside a register"
            raise BadFile(register.read.name, None, None, found, expected)
        until = max((log.observed for log in shown), default=None)
        since = min((log.since for log in shown if log.since is not None), default=None)
        return until, bases[0] if bases else None, since

    def _assigned(self, logs: Sequence[ReplayedLog]) -> costs.Assigned | None:
        if self.register is None:
            return None
        owed = due(self.register, *self._watched(self.register, logs))
        registered = frozenset(one.id for one in self.register.entries if one.kind == "work")
        return costs.Assigned(registered, frozenset(entry.id for entry in owed.due))


def _losses(path: str) -> tuple[Loss, ...]:
    """What an import lost, by the file beside the log; nothing where there is none.

    Beside it is where it is named, or where a link leads; of a compressed log, also beside the
    plain one.
    """
    if path == STDIN:
        return ()
    spelled = (path, os.path.realpath(path))
    names = [name for one in spelled for name in (one, _plain(one))]
    for beside in dict.fromkeys(f"{name}{LOSSES_SUFFIX}" for name in names):
        if os.path.lexists(beside):
            if not os.path.isfile(beside):
                raise FileFailed(beside, "not a regular file")
            return read_losses(_printable(os.path.basename(beside)), read_file(beside))
    return ()


def _plain(path: str) -> str:
    return path.removesuffix(".gz").removesuffix(".zst")


def _nothing(rules: str, logs: Sequence[_Read]) -> replay.Projection:
    """The projection of nothing, whose document has the rule set's id and digest."""
    if not logs:
        raise replay.UsageError("no log is left: every one was refused")
    return replay.project(logs[0][1].until(sequence=0), rules=rules)


def _names(paths: Sequence[str]) -> list[str]:
    """Each log by its file name; of two alike, by their paths, and those alike numbered."""
    plain = [_printable(os.path.basename(path)) for path in paths]
    spelled = [
        _printable(path) if plain.count(name) > 1 else name
        for path, name in zip(paths, plain, strict=True)
    ]
    seen: Counter[str] = Counter()
    found = []
    for name in spelled:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found


def _printable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _log_read(log: ReplayedLog) -> LogRead:
    read, facts = log.prefix.facts.input, log.prefix.facts
    observed = log.prefix.observed
    return LogRead(
        name=log.name,
        sha256=read.sha256,
        admitted=read.admitted,
        visible=len(log.prefix.events),
        gaps=len(read.gaps),
        items=len(log.projection.items),
        undetermined=sum(bool(item.undetermined_by) for item in log.projection.items),
        observed=None if observed is None else _time_words(observed, log.basis),
        flags=facts.flags,
        losses=log.losses,
    )


def _time_words(at: int, basis: Any) -> str:
    found = replay.render(at, basis)
    return f"minute {found}" if basis == "elapsed" else str(found)
