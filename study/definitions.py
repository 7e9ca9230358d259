"""The operational endpoints in words: what each is, of what, and how it is estimated.

The source paper's section 6.2 defines the first five; `false_success`, `stale_approval` and
`progress_gap` go beyond it.  Every text here is shown in every report.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from study.estimates import Record


class Definition(Record, frozen=True, kw_only=True):
    """An endpoint's title, its subject (`unit`, plural `units`), and two sentences on it."""

    title: str
    unit: str
    units: str
    definition: str
    method: str


class Waiting(Record, frozen=True, kw_only=True):
    """The words of a time to event.  `causes` begins with the event of interest.

    Each cause has a short label; `still` says what holds while nothing has ended it,
    `since` what it is counted from, and `mean` and `median` name the two numbers.
    """

    causes: Mapping[str, str]
    still: str
    since: str
    mean: str
    median: str
    median_event: str


_TIMES: Final = (
    "Still waiting: Kaplan-Meier, every ending counted, so none is censored by another. Endings: "
    "Aalen-Johansen cumulative incidence, where they compete; open ones are right-censored at "
    "the cutoff. Intervals of shares and medians are log-log (Greenwood's and Aalen's variance), "
    "of means on a logit scale; where one work item has several, they are percentiles over "
    "redrawn work items."
)
_SHARES: Final = (
    "Ratio over all work items, Wilson interval at effective n (Rao-Scott, clusters are work "
    "items, of which it takes six), Clopper-Pearson at 0 % and 100 %."
)

DEFINITIONS: Final[Mapping[str, Definition]] = {
    "review_latency": Definition(
        title="Review latency",
        unit="ready item",
        units="ready items",
        definition=(
            "From the first moment at which a readiness claim of a work item was supported to "
            "its first later substantive review (approved or changes requested) of the revision "
            "then current. Work that ended without one competes, unless it was reopened."
        ),
        method=_TIMES,
    ),
    "blocker_recovery": Definition(
        title="Blocker recovery",
        unit="episode",
        units="episodes",
        definition=(
            "From the first raise of a blocker episode, which no repeat begins anew, to evidenced "
            "resumption. Cancelling the blocker or the work competes: neither is a recovery."
        ),
        method=_TIMES,
    ),
    "progress_gap": Definition(
        title="Time without evidenced progress",
        unit="stretch",
        units="stretches",
        definition=(
            "Stretches of a work item from its first event, its last evidenced progress or its "
            "reopening to its next evidenced progress. The end of the work competes. Progress of "
            "one recorded time is one moment. It describes stretches, not items: quick items have "
            "more of them, the more the longer they are watched."
        ),
        method=_TIMES,
    ),
    "receipt_completeness": Definition(
        title="Receipt completeness",
        unit="required field",
        units="required fields",
        definition=(
            "Required, applicable fields of receipts that are there, about the right version, and "
            "whose evidence can be reached. Missing, mismatched, inaccessible and inapplicable "
            "fields are counted apart."
        ),
        method=_SHARES,
    ),
    "status_disagreement": Definition(
        title="Status disagreement",
        unit="comparable assertion",
        units="comparable assertions",
        definition=(
            "Asserted states that differ from what the rules display at the sequence that the "
            "assertion speaks of, over all that can be compared."
        ),
        method=_SHARES,
    ),
    "false_success": Definition(
        title="False success",
        unit="claim",
        units="claims",
        definition=(
            "Claims of completion and of readiness that had no evidence when they were made "
            "(missing, unbound, unknown, stale or contradicted), over those made, also those "
            "withdrawn since."
        ),
        method=_SHARES,
    ),
    "stale_approval": Definition(
        title="Stale approval",
        unit="approval",
        units="approvals",
        definition=(
            "Approving reviews of another revision than the one that is current at the cutoff, "
            "over those of a revision that was announced: stale on arrival, or superseded since, "
            "which grows with how long approvals are followed."
        ),
        method=_SHARES,
    ),
    "cost": Definition(
        title="Recording and review cost",
        unit="work item",
        units="work items",
        definition=(
            "Arithmetic mean per assigned work item (without a register: per item on record) up to "
            "the cutoff, failures, abandoned and open ones included, zeros kept. What nobody "
            "recorded for an item is unknown, not zero."
        ),
        method=(
            "Mean over work items, bootstrap interval over redrawn work items (bias-corrected and "
            "accelerated from 30 on, percentile below)."
        ),
    ),
}
"""By endpoint id, in the order of reports."""

WAITS: Final[Mapping[str, Waiting]] = {
    "review_latency": Waiting(
        causes={
            "reviewed": "reviewed",
            "completed": "completed without review",
            "cancelled": "cancelled without review",
        },
        still="still waiting",
        since="since the item was ready",
        mean="mean wait",
        median="median wait until any ending",
        median_event="median time to review",
    ),
    "blocker_recovery": Waiting(
        causes={
            "recovered": "recovered",
            "cancelled": "blocker cancelled",
            "cancelled_with_work": "cancelled with the work",
        },
        still="still blocked",
        since="since the blocker was raised",
        mean="mean time blocked",
        median="median time blocked until any ending",
        median_event="median time to recovery",
    ),
    "progress_gap": Waiting(
        causes={
            "progress": "progress",
            "completed": "work completed",
            "cancelled": "work cancelled",
        },
        still="still without progress",
        since="since the last progress",
        mean="mean time without progress",
        median="median time until any ending",
        median_event="median time to the next progress",
    ),
}
