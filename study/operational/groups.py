"""How rows are put into groups that are compared: by lane, log, time, or as assigned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import replay
from study.beside import Assignment
from study.comparing import Grouping
from study.operational.question import Question, is_minute, nanoseconds
from study.rows import Row


def grouping(
    asked: Question, assignment: Assignment | None, histories: Mapping[str, replay.History]
) -> Grouping | None:
    """The groups that were asked for, null where none were."""
    if assignment is not None:
        return Grouping(
            by="assigned arm",
            missing="not assigned",
            assigned=True,
            of=lambda row: assignment.arm_of(row.log, row.work_id),
        )
    match asked.by:
        case "lane":
            return Grouping(by="lane", missing="no lane", assigned=False, of=lambda row: row.lane)
        case "log":
            return Grouping(by="log", missing="in no log", assigned=False, of=_log_of)
    return None if asked.before_after is None else _by_time(asked.before_after, histories)


def _log_of(row: Row) -> str | None:
    return row.log or None  # omitted work is in none


def _by_time(word: str, histories: Mapping[str, replay.History]) -> Grouping:
    """Before or from a time, by when the work item began: so no item is in both groups."""
    turns = {name: nanoseconds(history, word) for name, history in histories.items()}
    said = f"minute {word}" if is_minute(word) else word
    began: dict[tuple[str, str], int] = {}
    for name, history in histories.items():
        for event in history.events:
            if event.work_id is not None:
                began.setdefault((name, event.work_id), event.recorded_at)

    def side(row: Row) -> str | None:
        at = began.get(row.cluster)
        if at is None:
            return None
        return f"from {said}" if at >= turns[row.log] else f"before {said}"

    by = "when the work item began"
    return Grouping(by=by, missing="in no log", assigned=False, of=side)


def unrecorded(assignment: Assignment, histories: Mapping[str, replay.History]) -> str | None:
    """A note on assigned work that no log has, which no estimate of a group can count."""
    recorded = {
        (name, event.work_id) for name, history in histories.items() for event in history.events
    }
    anywhere = {work_id for _, work_id in recorded}
    lost = Counter(
        arm
        for (log, work_id), arm in assignment.by_item.items()
        if (work_id not in anywhere if log is None else (log, work_id) not in recorded)
    )
    if not lost:
        return None
    told = ", ".join(f"{count} in arm {arm}" for arm, count in sorted(lost.items()))
    return f"Assigned work items that left no event, and are in no endpoint: {told}."
