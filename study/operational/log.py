"""One replayed log at a cutoff, as the endpoints ask for it: items, events, lanes, window."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeVar

from msgspec import structs

import replay
from study.operational.needs import lacking
from study.operational.standing import as_corrected
from study.result import Loss
from study.rows import (
    ApprovalRow,
    AssertionRow,
    Basis,
    ClaimRow,
    FieldRow,
    Role,
    Row,
    SpellRow,
)

NOT_COVERED: Final = "not covered by the rules"
WITHDRAWN: Final = "withdrawn by a correction"
BEFORE_WINDOW: Final = "recorded before the window"
ENDED_BEFORE: Final = "ended before the window"
NOT_IN_WINDOW: Final = "observed before the window only"
WHATEVER_WAS_LOST: Final = (
    *(NOT_COVERED, WITHDRAWN, BEFORE_WINDOW, ENDED_BEFORE),
    NOT_IN_WINDOW,
)
"""Reasons to leave a row out that do not depend on what an import lost."""
TERMINAL: Final = ("complete", "cancelled")

R = TypeVar("R", bound=Row)


class ReplayedLog:
    """What a rule set says of one log at a cutoff, and since when it is watched.

    `since` is the window's beginning (nanoseconds on the log's basis), null without one.
    """

    def __init__(
        self,
        name: str,
        prefix: replay.Prefix,
        rules: str,
        *,
        since: int | None,
        losses: tuple[Loss, ...],
        lanes: dict[str, str],
    ) -> None:
        self.name = name
        self.prefix = prefix
        self.since = since
        self.losses = losses
        self.projection = replay.project(prefix, rules=rules)
        self.timeline = replay.timeline_of(prefix, rules=rules)
        """When each answer was learned."""
        corrected = as_corrected(prefix, self.projection)
        self.came_to_hold = (
            self.timeline if corrected is prefix else replay.timeline_of(corrected, rules=rules)
        )
        """When each answer came to hold, as known at the cutoff."""
        self.basis: Basis = prefix.facts.basis
        self.events = {event.event_id: event for event in prefix.events}
        self.by_item: dict[str, list[replay.Event]] = {}
        for event in prefix.events:
            if event.work_id is not None:
                self.by_item.setdefault(event.work_id, []).append(event)
        self._lanes = lanes

    @property
    def observed(self) -> int:
        """Where observation ends; asked only where something is visible."""
        assert self.prefix.observed is not None
        return self.prefix.observed

    def lane(self, work_id: str) -> str | None:
        """The register's lane of an item, else the first that one of its events names."""
        if work_id in self._lanes:
            return self._lanes[work_id]
        events = self.by_item.get(work_id, ())
        return next((event.lane_id for event in events if event.lane_id is not None), None)

    def of_type(self, work_id: str, *types: str) -> list[replay.Event]:
        """The item's visible events of some classes, in sequence order."""
        return [event for event in self.by_item[work_id] if event.type in types]

    def about(self, work_id: str) -> dict[str, Any]:
        """What every row about an item says."""
        return {
            "log": self.name,
            "work_id": work_id,
            "basis": self.basis,
            "lane": self.lane(work_id),
        }

    def about_event(self, event: replay.Event) -> dict[str, Any]:
        """What every row about an event of an item says."""
        assert event.work_id is not None
        return {
            **self.about(event.work_id),
            "event_id": event.event_id,
            "at": event.recorded_at,
        }

    def before_window(self, at: int | None) -> bool:
        return self.since is not None and at is not None and at < self.since

    def spell(
        self,
        work_id: str,
        *,
        origin: tuple[str, int],
        end: tuple[str | None, int],
        cause: str | None,
        event: str,
        **more: Any,
    ) -> SpellRow:
        """A wait from `origin` to `end` (event, time); `event` is the cause of interest."""
        duration = end[1] - origin[1]
        entry = 0 if self.since is None else max(0, self.since - origin[1])
        role: Role = "censored" if cause is None else "observed" if cause == event else "competing"
        reason = None
        if entry and entry >= duration:
            role, reason = "excluded", ENDED_BEFORE if cause else NOT_IN_WINDOW
        return SpellRow(
            **self.about(work_id),
            role=role,
            reason=reason,
            event_id=origin[0],
            at=origin[1],
            cause=cause,
            end_event=end[0],
            end_at=end[1],
            duration=duration,
            entry=entry,
            **more,
        )

    def left_out(self, work_id: str, reason: str) -> SpellRow:
        """One row for a whole item that no spell can be told of."""
        return SpellRow(**self.about(work_id), role="excluded", reason=reason)

    def judged(self, rows: Iterable[R]) -> Iterator[R]:
        """The same rows, with those from before the window left out."""
        for row in rows:
            if row.role != "excluded" and self.before_window(row.at):
                yield structs.replace(row, role="excluded", reason=BEFORE_WINDOW)
            else:
                yield row

    def available(self, endpoint: str, rows: Iterable[R]) -> Iterator[R]:
        """The same rows; unavailable, where the import lost what it takes to judge them.

        Also those that look as if they did not qualify: of a record without check results,
        no item was ever validly ready.
        """
        why = lacking(self.losses, endpoint, windowed=self.since is not None)
        for row in rows:
            if why is not None and row.reason not in WHATEVER_WAS_LOST:
                yield structs.replace(row, role="unavailable", reason=why, **_no_answer(row))
            else:
                yield row


def _no_answer(row: Row) -> dict[str, Any]:
    """A row's answers, none of which is one where its inputs were lost."""
    match row:
        case SpellRow():
            names: tuple[str, ...] = ("cause", "end_event", "end_at", "duration")
        case ClaimRow():
            names = ("made", "verdict", "unevidenced", "rule")
        case ApprovalRow():
            names = ("status", "stale")
        case AssertionRow():
            names = ("verdict", "disagrees", "rule")
        case FieldRow():
            return {"status": "unavailable"}
        case _:
            names = ("value",)
    return dict.fromkeys(names)
