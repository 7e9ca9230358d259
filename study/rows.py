"""The rows behind every number: one a subject, with the part that it plays.

A row names its log, its work item and the events that it rests on, so that a count in a
report can be followed to the lines that it counts.  `role` says what it is to the
denominator; every subject that was looked at has a row, also those that are left out.

Times are nanoseconds on the log's own basis (`basis`), durations are nanoseconds.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from study.estimates import Record

Role: TypeAlias = Literal["observed", "censored", "competing", "excluded", "unavailable"]
Basis: TypeAlias = Literal["utc", "elapsed"]
FieldStatus: TypeAlias = Literal[
    "complete", "missing", "mismatched", "inaccessible", "inapplicable", "unavailable"
]


class Row(Record, frozen=True, kw_only=True):
    """What every row says.  `reason` is null exactly where the role needs none.

    `lane` is the register's, or else the first that one of the item's events names.
    `event_id` is the event that the row is about, null for a row about a whole item;
    `at` its recorded time.
    """

    log: str
    work_id: str
    role: Role
    basis: Basis
    reason: str | None = None
    lane: str | None = None
    event_id: str | None = None
    at: int | None = None
    rule: str | None = None
    evidence: tuple[str, ...] = ()

    @property
    def cluster(self) -> tuple[str, str]:
        """The work item that the row belongs to: rows of one item are not independent."""
        return (self.log, self.work_id)

    @property
    def eligible(self) -> bool:
        return self.role != "excluded"


class SpellRow(Row, frozen=True, kw_only=True):
    """Something that waits to happen: from `event_id` until `end_event`, or censored.

    `cause` is how it ended (null: censored or unavailable), `entry` since when it was
    watched (0 unless a window begins later), `detail` the blocker, revision or progress
    that it is about.  Null times are those of an excluded row about a whole item.
    """

    detail: str | None = None
    cause: str | None = None
    end_event: str | None = None
    end_at: int | None = None
    duration: int | None = None
    entry: int = 0


class ClaimRow(Row, frozen=True, kw_only=True):
    """A claim of readiness or completion: as judged when it was made, and at the cutoff.

    `unevidenced` is null where it cannot be told.
    """

    claim: str
    made: str | None = None
    verdict: str | None = None
    unevidenced: bool | None = None


class ApprovalRow(Row, frozen=True, kw_only=True):
    """An approving review, and whether it is of another revision than the current one."""

    revision: str | None = None
    status: str | None = None
    stale: bool | None = None


class AssertionRow(Row, frozen=True, kw_only=True):
    """An asserted status: does it disagree with what the same rules display?"""

    state: str
    verdict: str | None = None
    disagrees: bool | None = None


class FieldRow(Row, frozen=True, kw_only=True):
    """One required field of one receipt.  `receipt` is its event class."""

    receipt: str
    field: str
    status: FieldStatus
    refs: tuple[str, ...] = ()


class CostRow(Row, frozen=True, kw_only=True):
    """What one work item cost of one component; null where nobody recorded it.

    `unit` is `events`, `calls`, `tokens`, `bytes`, `seconds`, or a currency as recorded.
    """

    component: str
    unit: str
    value: float | None = None
    registered: bool | None = None
