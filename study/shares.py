"""Shares of countable things, from rows that are counted or not, clustered by work item.

A row counts as yes, as no, or is not known.  Where one is not known the share is unknown,
and its bounds are given: all of them no, and all of them yes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from msgspec import structs

from study.denominators import denominator, unavailable
from study.estimates import Number, Range, Unknown
from study.means import A_BOUND
from study.proportions import Proportion, Tally, proportion
from study.result import Estimate
from study.rows import ApprovalRow, AssertionRow, ClaimRow, FieldRow, Row

R = TypeVar("R", bound=Row)


def tallies(rows: Iterable[R], is_yes: Callable[[R], bool]) -> list[Tally]:
    """One count a work item, of the rows that were observed."""
    counts: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        if row.role == "observed":
            count = counts.setdefault(row.cluster, [0, 0])
            count[0] += is_yes(row)
            count[1] += 1
    return [Tally(yes, of) for yes, of in counts.values()]


ENOUGH_ITEMS: Final = 6


def share_of(counts: Sequence[Tally], level: float) -> Proportion | Unknown:
    """The share, with no interval from fewer than six work items that have several things.

    Their design effect is a guess: in simulations intervals of 95 % held the share 80 to 90 %
    of the time.
    """
    found = proportion(counts, level)
    if isinstance(found, Unknown) or found.clusters >= ENOUGH_ITEMS or found.of == found.clusters:
        return found
    if isinstance(found.interval, Unknown):
        return found
    few = Unknown(
        f"{found.clusters} work items with several each are too few to tell how they differ"
    )
    return structs.replace(found, interval=few)


class Asked:
    """What every estimate of one endpoint and group says."""

    def __init__(
        self, endpoint: str, unit: str, omitted: int | Unknown, group: str | None, level: float
    ) -> None:
        self.endpoint = endpoint
        self.unit = unit
        self.omitted = omitted
        self.group = group
        self.level = level

    def share(self, name: str, rows: Sequence[R], is_yes: Callable[[R], bool]) -> list[Estimate]:
        """The share of `rows` that are yes; with rows not known, its bounds beside it."""
        found = share_of(tallies(rows, is_yes), self.level)
        unknown = sum(row.role == "unavailable" for row in rows)
        if not unknown:
            return [self._of_proportion(name, rows, found)]
        told = Unknown(unavailable(rows) or "")
        if isinstance(found, Unknown):
            return [self.estimate(name, rows, told, told, "not estimated")]
        total = found.of + unknown
        return [
            self.estimate(name, rows, told, told, "not estimated"),
            self.estimate(f"{name}, at least", rows, found.yes / total, A_BOUND, "bound"),
            self.estimate(
                f"{name}, at most", rows, (found.yes + unknown) / total, A_BOUND, "bound"
            ),
        ]

    def _of_proportion(
        self, name: str, rows: Sequence[Row], found: Proportion | Unknown
    ) -> Estimate:
        if isinstance(found, Unknown):
            return self.estimate(name, rows, found, found, "not estimated")
        words = {"wilson": "Wilson", "clopper-pearson": "Clopper-Pearson"}[found.method]
        method = f"{words} at effective n {found.effective_n:.1f}"
        if not isinstance(found.design_effect, Unknown):
            method += f" (design effect {found.design_effect:.2f})"
        return self.estimate(name, rows, found.share, found.interval, method)

    def estimate(
        self, name: str, rows: Sequence[Row], value: Number, interval: Range, method: str
    ) -> Estimate:
        return Estimate(
            endpoint=self.endpoint,
            name=name,
            unit="share",
            value=value,
            interval=interval,
            method=method,
            denominator=denominator(rows, self.unit, self.omitted),
            group=self.group,
            level=self.level,
        )


Rows = Sequence[Row]


def _of(rows: Rows, kind: type[R]) -> list[R]:
    return [row for row in rows if isinstance(row, kind)]


def _unevidenced(row: Row) -> bool:
    return isinstance(row, ClaimRow) and row.unevidenced is True


def _stale(row: Row) -> bool:
    return isinstance(row, ApprovalRow) and row.stale is True


def _disagrees(row: Row) -> bool:
    return isinstance(row, AssertionRow) and row.disagrees is True


def _complete(row: Row) -> bool:
    return isinstance(row, FieldRow) and row.status == "complete"


def _on_arrival(row: Row) -> bool:
    return isinstance(row, ApprovalRow) and row.status == "stale_on_arrival"


def _superseded(row: Row) -> bool:
    return isinstance(row, ApprovalRow) and row.status == "superseded_by_revision"


COMPARED: Final[Mapping[str, tuple[str, Callable[[Row], bool]]]] = {
    "receipt_completeness": ("required fields complete", _complete),
    "status_disagreement": ("assertions that disagree", _disagrees),
    "false_success": ("claims without evidence", _unevidenced),
    "stale_approval": ("stale on arrival", _on_arrival),
}
"""The share of each endpoint that groups are compared by.

Of approvals only those stale on arrival: the longer they are followed, the more are superseded.
"""


def false_success(asked: Asked, rows: Rows) -> list[Estimate]:
    """Claims with no evidence when made: of all, and of each class."""
    found = asked.share("claims without evidence", rows, _unevidenced)
    for claim, words in (("work.completed", "of completion"), ("review.requested", "of readiness")):
        of_class = [row for row in _of(rows, ClaimRow) if row.claim == claim]
        found += asked.share(f"claims {words} without evidence", of_class, _unevidenced)
    return found


def stale_approval(asked: Asked, rows: Rows) -> list[Estimate]:
    """Approvals of another revision than the current one, and which of the two kinds."""
    return [
        *asked.share("approvals that are stale", rows, _stale),
        *asked.share("stale on arrival", rows, _on_arrival),
        *asked.share("superseded since", rows, _superseded),
    ]


def status_disagreement(asked: Asked, rows: Rows) -> list[Estimate]:
    """Asserted states that are not what the rules display."""
    return asked.share("assertions that disagree", rows, _disagrees)


def receipt_completeness(asked: Asked, rows: Rows) -> list[Estimate]:
    """Fields that are complete: of all, and of each class and field."""
    fields = _of(rows, FieldRow)
    found = asked.share("required fields complete", rows, _complete)
    for receipt, field in sorted({(row.receipt, row.field) for row in fields}):
        own = [row for row in fields if (row.receipt, row.field) == (receipt, field)]
        found += asked.share(f"{receipt}: {field} complete", own, _complete)
    return found


SHARES: Final[Mapping[str, Callable[[Asked, Rows], list[Estimate]]]] = {
    "receipt_completeness": receipt_completeness,
    "status_disagreement": status_disagreement,
    "false_success": false_success,
    "stale_approval": stale_approval,
}
