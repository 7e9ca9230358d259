"""Which authored answer shows which sentence of the rules, and which public failure.

A rule page that nobody can look up in a log is only prose.  `SENTENCES` numbers the
sentences of "The order of evaluation" by step, a long one by its clauses, and names for
each the answers that would be wrong without it.  `PUBLIC_FAILURES` does the same for what
went wrong in public in other tools, or says why a log cannot show it.  A reference is
CASE:ANSWER, a whole CASE, or refused/NAME for an input that is refused.

The question catalogue asks for verdicts and event ids.  What the page says beside them
(`missing`, `related`, flags, the order of lists) is authored in the tables at the end.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import replay

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "fixtures" / "cases"
REFUSED = ROOT / "fixtures" / "refused"
RULES = "coordination/2"


class Unshowable(NamedTuple):
    """Why a log cannot show it."""

    why: str


SENTENCES: dict[str, list[str]] = {
    # What is visible, and to whom it belongs
    "0.1 Visible is what lies within both cutoffs, bounds included": [
        "inclusive-cutoffs:q2",
        "inclusive-cutoffs:q3",
        "inclusive-cutoffs:q4",
        "inclusive-cutoffs:q7",
        "oldest-wait-is-still-shown:q4",
    ],
    "0.2 Each work item is judged alone": ["six-states:q8", "inclusive-cutoffs:q13"],
    "0.3 An event with no work_id moves no item": [
        "inclusive-cutoffs:q10",
        "inclusive-cutoffs:q12",
        "what-corrects-nothing:q15",
        "what-corrects-nothing:q17",
    ],
    # 1. Places and effective events
    "1.1 A link is valid to a visible, earlier event of the item": [
        "links-of-causes-and-evidence:q12",
        "links-of-causes-and-evidence:q11",
    ],
    "1.2 Causes and evidence lie at an earlier place than the event's own": [
        "replacement-cites-only-what-came-before:q2",
        "replacement-cites-only-what-came-before:q6",
    ],
    "1.3 Any other link has no effect": [
        "links-of-causes-and-evidence:q10",
        "what-corrects-nothing:q14",
        "evidence-that-does-not-qualify:q1",
        "evidence-that-does-not-qualify:q3",
    ],
    "1.4 link_missing, for what is not visible": [
        "what-corrects-nothing:q10",
        "links-of-causes-and-evidence:q8",
    ],
    "1.5 link_other_item, before the codes that follow": [
        "links-of-causes-and-evidence:q5",
        "what-corrects-nothing:q9",
    ],
    "1.6 link_self, to the event or to its own place": [
        "what-corrects-nothing:q11",
        "replacement-cites-only-what-came-before:q10",
    ],
    "1.7 link_forward, to what is later or not at an earlier place": [
        "links-of-causes-and-evidence:q4",
        "what-corrects-nothing:q13",
        "replacement-cites-only-what-came-before:q11",
        "replacement-cites-only-what-came-before:q15",
    ],
    "1.8 A target of causes or supersedes that the cutoff hides is missing": [
        "links-of-causes-and-evidence:q2",
        "what-corrects-nothing:q12",
    ],
    "1.9 An entry of evidence_refs that equals no visible event id is plain text": [
        "links-of-causes-and-evidence:q3",
        "links-of-causes-and-evidence:q6",
        "links-of-causes-and-evidence:q7",
        "resolution-as-claim:q4",
    ],
    "1.10 A correction retracts, or is of its target's own type": [
        "correction-of-a-correction:q1",
        "retracted-typo:q5",
        "what-corrects-nothing:q3",
        "other-principal-cannot-correct:q11",
    ],
    "1.11 Heartbeats, notes and inert classes never correct": [
        "what-corrects-nothing:q2",
        "what-corrects-nothing:q5",
    ],
    "1.12 A correction has its target's principal, and null equals only null": [
        "other-principal-cannot-correct:q1",
        "other-principal-cannot-correct:q2",
        "other-principal-cannot-correct:q8",
        "other-principal-cannot-correct:q14",
    ],
    "1.13 other_principal, where only the principal differs": [
        "other-principal-cannot-correct:q3",
        "other-principal-cannot-correct:q10",
        "dismissed-review:q12",
        "what-corrects-nothing:q20",
    ],
    "1.14 What is ineffective keeps its own effects at its own place": [
        "other-principal-cannot-correct:q4",
        "other-principal-cannot-correct:q6",
        "other-principal-cannot-correct:q12",
        "what-corrects-nothing:q4",
    ],
    "1.15 A retraction is a correction of type event.retracted": [
        "what-corrects-nothing:q6",
        "retracted-typo:q12",
    ],
    "1.16 From the last event to the first, a standing retraction silences its target": [
        "retracted-typo:q2",
        "retracted-typo:q13",
        "retracted-typo:q16",
        "retracted-typo:q17",
        "correction-of-a-correction:q13",
    ],
    "1.17 A replacement belongs to its target's place, down a chain": [
        "correction-of-a-correction:q4",
        "correction-of-a-correction:q7",
        "retracted-announcement:q7",
    ],
    "1.18 The last recorded version that is not silenced stands": [
        "correction-of-a-correction:q10",
        "correction-of-a-correction:q12",
        "correction-of-a-correction:q15",
    ],
    "1.19 It stands with its own content at the original's sequence and recorded time": [
        "replaced-raise-keeps-its-clock:q2",
        "replaced-raise-keeps-its-clock:q4",
        "correction-of-a-correction:q3",
        "explicit-correction:q27",
    ],
    "1.20 A link to any version of a place is a link to the place": [
        "replaced-raise-keeps-its-clock:q11",
        "replacement-cites-only-what-came-before:q12",
    ],
    "1.21 The standing versions are evaluated in order of place": [
        "replaced-raise-keeps-its-clock:q5",
        "replaced-raise-keeps-its-clock:q7",
        "retracted-announcement:q9",
        "retracted-announcement:q12",
    ],
    "1.22 A withdrawn version appears in no receipt, claim or episode": [
        "retracted-typo:q8",
        "completion-needs-what-was-required:q11",
        "asserted-status-as-of:q16",
        "replaced-raise-keeps-its-clock:q6",
    ],
    "1.23 corrections lists every event with a supersedes": [
        "what-corrects-nothing:q2",
        "what-corrects-nothing:q7",
        "unlinked-correction:q3",
    ],
    "1.24 silenced comes first": [
        "retracted-typo:q11",
        "correction-of-a-correction:q16",
        "other-principal-cannot-correct:q8",
    ],
    "1.25 then ineffective": ["other-principal-cannot-correct:q1", "what-corrects-nothing:q8"],
    "1.26 then applied": [
        "replaced-raise-keeps-its-clock:q10",
        "correction-of-a-correction:q14",
        "retracted-announcement:q8",
    ],
    "1.27 then overtaken": ["correction-of-a-correction:q5", "correction-of-a-correction:q8"],
    "1.28 The last-message clock counts every visible event at its own time": [
        "replaced-raise-keeps-its-clock:q9",
        "retracted-typo:q18",
        "after-terminal:q10",
    ],
    # 2. After a terminal state
    "2.1 Only a reopening moves state, progress and episodes": [
        "reopened-work:q8",
        "late-review-after-completion:q1",
        "late-review-after-completion:q3",
        "late-review-after-completion:q7",
        "after-terminal:q1",
    ],
    "2.2 Other events are listed after_terminal": [
        "late-review-after-completion:q18",
        "base-states:q10",
    ],
    "2.3 Heartbeats, notes, inert classes and every retraction are not": [
        "free-text-moves-nothing:q11",
        "late-review-after-completion:q18",
        "after-terminal:q7",
    ],
    "2.4 Receipts and claims are still listed and judged": [
        "late-review-after-completion:q2",
        "late-review-after-completion:q14",
        "reopened-work:q5",
    ],
    "2.5 Those receipts count in steps 4, 5, 9 and 10": [
        "reopened-work:q9",
        "late-review-after-completion:q5",
        "late-review-after-completion:q6",
        "late-review-after-completion:q15",
    ],
    "2.6 A raise or a review there makes no claim stale": ["late-review-after-completion:q6"],
    "2.7 A resolution there is missing": [
        "late-review-after-completion:q12",
        "evidence-that-does-not-qualify:q9",
    ],
    "2.8 An artifact there sets the revision, and may make a claim stale": [
        "late-review-after-completion:q8",
        "late-review-after-completion:q10",
        "two-completion-claims:q6",
    ],
    "2.9 but is no progress and ends no episode": [
        "late-review-after-completion:q11",
        "after-terminal:q2",
        "after-terminal:q3",
    ],
    "2.10 Corrections may lift a terminal state": [
        "after-terminal:q12",
        "after-terminal:q13",
        "after-terminal:q15",
        "retracted-pass-lifts-completion:q2",
    ],
    # 3. Base state
    "3.1 proposed only from null": [
        "base-states:q1",
        "base-states:q3",
        "base-states:q8",
        "base-states:q9",
    ],
    "3.2 active at a start, an artifact, a check or a raise": [
        "base-states:q3",
        "base-states:q12",
        "reopened-work:q2",
        "causes-that-do-not-recover:q4",
    ],
    "3.3 Nothing else moves it": ["base-states:q6", "base-states:q13", "six-states:q7"],
    "3.4 work.cancelled outside a terminal state cancels": ["six-states:q6", "base-states:q15"],
    "3.5 work.reopened in a terminal state clears it and sets active": [
        "reopened-work:q11",
        "completion-while-blocked:q13",
    ],
    "3.6 elsewhere it does nothing, not_terminal": [
        "after-terminal:q17",
        "after-terminal:q18",
        "base-states:q4",
    ],
    # 4. Receipt status
    "4.1 unbound": ["receipt-status:q1", "receipt-status:q18"],
    "4.2 revision_unknown": ["receipt-status:q2", "retracted-announcement:q13"],
    "4.3 current, whatever it was on arrival": ["receipt-status:q3", "receipt-status:q10"],
    "4.4 superseded_by_revision, also where not yet announced at its place": [
        "receipt-status:q4",
        "receipt-status:q5",
        "receipt-status:q11",
    ],
    "4.5 stale_on_arrival": ["receipt-status:q6", "receipt-status:q7"],
    "4.6 anachronistic, where both occurred times are present": [
        "receipt-status:q16",
        "receipt-status:q20",
    ],
    "4.7 Producer clocks change no verdict": ["receipt-status:q17"],
    # 5. Deciding results
    "5.1 Current, non-local checks with a deciding outcome": [
        "completion-without-evidence:q5",
        "receipt-status:q8",
        "deciding-results:q5",
    ],
    "5.2 The latest for each check and source": [
        "deciding-results:q1",
        "deciding-results:q2",
        "deciding-results:q11",
    ],
    "5.3 Failed, errored and timed_out fail": [
        "deciding-results:q1",
        "deciding-results:q7",
        "deciding-results:q8",
    ],
    "5.4 action_required neither passes nor fails": ["deciding-results:q4"],
    "5.5 Other outcomes decide nothing and replace nothing": [
        "deciding-results:q6",
        "deciding-results:q9",
    ],
    # 6. Progress
    "6.1 P1: the first announcement of a revision": [
        "progress-criteria:q1",
        "progress-criteria:q10",
        "progress-criteria:q11",
        "receipt-status:q14",
    ],
    "6.2 P2: a check, passed or failed, current at its place": [
        "progress-criteria:q2",
        "progress-criteria:q4",
        "causes-that-do-not-recover:q3",
        "causes-that-do-not-recover:q6",
    ],
    "6.3 P2: that does not repeat the latest deciding outcome of its check and source": [
        "progress-criteria:q3",
        "progress-criteria:q5",
        "progress-criteria:q6",
        "progress-criteria:q14",
    ],
    "6.4 P3: a review, approved or changes_requested, current at its place": [
        "changes-requested:q2",
        "awaiting-review:q2",
        "receipt-status:q9",
    ],
    "6.5 P3: that does not repeat the latest of its reviewer on its revision": [
        "changes-requested:q4",
        "changes-requested:q7",
        "awaiting-review:q5",
        "awaiting-review:q9",
    ],
    "6.6 Receipts after a terminal state are not counted as earlier ones": [
        "reopened-work:q15",
        "late-review-after-completion:q23",
    ],
    # 7. Episodes
    "7.1 A raise of an open blocker, or of none, is a repeat": [
        "two-blockers-at-once:q3",
        "replaced-raise-keeps-its-clock:q7",
    ],
    "7.2 otherwise it opens an episode": [
        "two-blockers-at-once:q2",
        "replaced-raise-keeps-its-clock:q5",
        "concurrent-blockers:q14",
    ],
    "7.3 recovered at an artifact that changes the revision, with a cause in the episode": [
        "two-blockers-at-once:q4",
        "two-blockers-at-once:q7",
        "causes-that-do-not-recover:q5",
        "causes-that-do-not-recover:q8",
    ],
    "7.4 recovered at a passed, non-local check current at its place, with such a cause": [
        "two-blockers-at-once:q8",
        "causes-that-do-not-recover:q2",
        "causes-that-do-not-recover:q8",
        "causes-that-do-not-recover:q10",
    ],
    "7.5 recovered at a resolution that names such an artifact or check of the episode": [
        "resolution-as-claim:q2",
        "resolution-as-claim:q3",
        "resolution-as-claim:q8",
        "resolution-as-claim:q13",
        "replacement-cites-only-what-came-before:q13",
        "evidence-that-does-not-qualify:q5",
        "evidence-that-does-not-qualify:q7",
    ],
    "7.6 cancelled at blocker.cancelled of its id": [
        "cancelled-blocker-is-not-recovery:q1",
        "cancelled-blocker-is-not-recovery:q11",
        "cancelled-blocker-is-not-recovery:q13",
    ],
    "7.7 cancelled_with_work at work.cancelled": [
        "cancelled-blocker-is-not-recovery:q4",
        "cancelled-blocker-is-not-recovery:q5",
    ],
    "7.8 otherwise censored at the cutoff, with elapsed time and no recovery": [
        "inclusive-cutoffs:q1",
        "inclusive-cutoffs:q8",
        "oldest-wait-is-still-shown:q1",
        "paper-nine-events:q37",
    ],
    "7.9 A later raise of the same id is a new episode": [
        "two-blockers-at-once:q9",
        "two-blockers-at-once:q10",
        "resolution-as-claim:q15",
    ],
    "7.10 progress_while_blocked": [
        "two-blockers-at-once:q12",
        "causes-that-do-not-recover:q9",
        "links-of-causes-and-evidence:q13",
    ],
    "7.11 A resolution is a claim, judged once": [
        "resolution-as-claim:q12",
        "resolution-as-claim:q16",
    ],
    "7.12 supported when it ends an episode, or the last ended one of its id recovered": [
        "resolution-as-claim:q7",
        "resolution-as-claim:q9",
    ],
    "7.13 else missing": [
        "resolution-as-claim:q1",
        "resolution-as-claim:q10",
        "cancelled-blocker-is-not-recovery:q3",
    ],
    "7.14 no_open_episode, in a terminal state too": [
        "resolution-as-claim:q11",
        "cancelled-blocker-is-not-recovery:q9",
        "late-review-after-completion:q13",
    ],
    # 8. Readiness claim
    "8.1 stale by a later change of the revision, or a later reopening": [
        "readiness-verdicts:q9",
        "readiness-verdicts:q10",
        "readiness-verdicts:q11",
        "readiness-verdicts:q14",
        "late-review-after-completion:q20",
    ],
    "8.2 unbound": ["readiness-verdicts:q7"],
    "8.3 unknown": ["readiness-verdicts:q8", "retracted-announcement:q4"],
    "8.4 stale, naming another than the current": ["readiness-verdicts:q13"],
    "8.5 contradicted by a deciding result that fails": [
        "readiness-verdicts:q2",
        "deciding-results:q1",
        "false-success-claim:q12",
    ],
    "8.6 supported by what is required, or by at least one pass": [
        "readiness-verdicts:q4",
        "readiness-verdicts:q5",
        "deciding-results:q2",
    ],
    "8.7 else missing": [
        "readiness-verdicts:q1",
        "completion-needs-what-was-required:q1",
    ],
    "8.8 requires only adds": ["readiness-verdicts:q3"],
    # 9. Completion claim
    "9.1 contradicted for good, while an episode is open or of a cancelled item": [
        "completion-while-blocked:q1",
        "completion-while-blocked:q5",
        "completion-while-blocked:q8",
        "completion-while-blocked:q10",
        "completion-while-blocked:q12",
    ],
    "9.2 supported from its completing the item until a reopening, then stale for good": [
        "reopened-work:q6",
        "reopened-work:q12",
        "reopened-work:q14",
        "two-completion-claims:q7",
    ],
    "9.3 stale by a change of the revision to another, also in a terminal state": [
        "completion-without-evidence:q7",
        "completion-without-evidence:q8",
        "stale-completion-claims:q11",
        "late-review-after-completion:q10",
    ],
    "9.4 stale by a reopening that cleared a terminal state": ["reopened-work:q13"],
    "9.5 stale by a raise, a request for changes or a cancellation": [
        "stale-completion-claims:q2",
        "stale-completion-claims:q4",
        "stale-completion-claims:q8",
    ],
    "9.6 With no revision: contradicted by a latest failing result or requested changes": [
        "unversioned-completion:q7",
        "unversioned-completion:q10",
        "unversioned-completion:q14",
    ],
    "9.7 With no revision: supported by a named, unbound, non-local, latest pass": [
        "unversioned-completion:q4",
        "unversioned-completion:q8",
        "unversioned-completion:q9",
        "unversioned-completion:q12",
        "evidence-that-does-not-qualify:q11",
        "evidence-that-does-not-qualify:q12",
    ],
    "9.8 With no revision: else missing": [
        "unversioned-completion:q2",
        "unversioned-completion:q11",
        "completion-without-evidence:q12",
    ],
    "9.9 Otherwise as a readiness claim, from unbound on": [
        "completion-without-evidence:q1",
        "completion-without-evidence:q2",
        "completion-without-evidence:q10",
        "reopened-work:q1",
        "reopened-work:q7",
    ],
    "9.10 with what the principal's standing readiness claims of that revision require": [
        "completion-needs-what-was-required:q2",
        "completion-needs-what-was-required:q3",
        "completion-needs-what-was-required:q7",
        "completion-needs-what-was-required:q9",
        "awaiting-review:q11",
    ],
    "9.11 and contradicted while a reviewer's latest review of it requests changes": [
        "changes-requested:q6",
        "changes-requested:q8",
        "changes-requested:q10",
        "late-review-after-completion:q5",
    ],
    "9.12 complete from the first event at which a claim is supported, until reopened": [
        "reopened-work:q4",
        "reopened-work:q11",
        "stale-completion-claims:q13",
    ],
    "9.13 Of several supported at one event only the earliest completes": [
        "two-completion-claims:q3",
        "two-completion-claims:q4",
        "two-completion-claims:q5",
    ],
    "9.14 A verdict is what holds at the cutoff": [
        "stale-completion-claims:q1",
        "stale-completion-claims:q2",
        "stale-completion-claims:q12",
    ],
    # 10. Awaiting review
    "10.1 awaits while a readiness claim is supported": [
        "deciding-results:q3",
        "deciding-results:q10",
        "readiness-verdicts:q6",
        "evidence-that-does-not-qualify:q16",
    ],
    "10.2 and no later, current review of its revision approved or requested changes": [
        "awaiting-review:q1",
        "awaiting-review:q3",
        "awaiting-review:q4",
        "awaiting-review:q7",
        "changes-requested:q3",
    ],
    "10.3 commented and dismissed change nothing": [
        "changes-requested:q1",
        "dismissed-review:q8",
        "dismissed-review:q13",
    ],
    "10.4 A dismissal supersedes the review that it dismisses": [
        "dismissed-review:q3",
        "dismissed-review:q5",
        "dismissed-review:q7",
    ],
    # 11. Displayed state
    "11.1 terminal, else blocked, else awaiting_review, else the base state": [
        "six-states:q2",
        "six-states:q3",
        "six-states:q4",
        "cancelled-blocker-is-not-recovery:q7",
        "late-review-after-completion:q16",
        "completion-needs-what-was-required:q4",
    ],
    "11.2 since is where the displayed value last changed as the log grew": [
        "two-blockers-at-once:q6",
        "retracted-typo:q2",
        "replacement-cites-only-what-came-before:q4",
        "retracted-pass-lifts-completion:q7",
        "retracted-announcement:q2",
    ],
    "11.3 blocked-since is the earliest open origin, null in a terminal state": [
        "two-blockers-at-once:q2",
        "two-blockers-at-once:q5",
        "cancelled-blocker-is-not-recovery:q8",
    ],
    # 12. Asserted status
    "12.1 compared with what is displayed at as_of_sequence, by default its place": [
        "asserted-status-as-of:q1",
        "asserted-status-as-of:q2",
        "asserted-status-as-of:q12",
        "asserted-status-as-of:q14",
        "asserted-status-as-of:q15",
    ],
    "12.2 the state, and the revision where given": [
        "asserted-status-as-of:q3",
        "asserted-status-as-of:q4",
        "asserted-status-as-of:q10",
    ],
    "12.3 not_comparable after its place, or where the state is null": [
        "asserted-status-as-of:q5",
        "asserted-status-as-of:q8",
        "asserted-status-as-of:q9",
    ],
    # Times
    "13.1 Elapsed time is exact and printed as the nearest double": [
        "inclusive-cutoffs:q1",
        "oldest-wait-is-still-shown:q2",
    ],
    "13.2 Of two events at one time the sequence says which is first": [
        "inclusive-cutoffs:q5",
        "retried-under-new-ids:q8",
    ],
}

PUBLIC_FAILURES: dict[str, list[str] | Unshowable] = {
    # The coordination bus: projection bugs in shipped code (4.3)
    "bus 4.3 wip_healer: a second WIP_START overwrites the start": [
        "two-blockers-at-once:q3",
        "six-states:q2",
        "repeated-blocker",
    ],
    "bus 4.3 wip_healer: any heartbeat or status of the lane is activity": [
        "progress-criteria:q8",
        "progress-criteria:q9",
    ],
    "bus 4.3 wip_healer: activity before the start counts": [
        "resolution-as-claim:q2",
        "base-states:q7",
    ],
    "bus 4.3 wip_healer: an idle lane is closed as healed": [
        "cancelled-blocker-is-not-recovery:q3",
        "completion-without-evidence:q6",
    ],
    "bus 4.3 wip_healer: a lane is closed by a substring of a message": [
        "free-text-moves-nothing:q3",
        "free-text-moves-nothing:q4",
    ],
    "bus 4.3 wip_healer: bad timestamps are skipped silently": ["refused/bad_time"],
    "bus 4.3 pull_tasks: a task requested again after completion never returns": [
        "reopened-work:q11",
        "reopened-work:q17",
    ],
    "bus 4.3 pull_tasks: claims are never read, so claimed work is still offered": [
        "six-states:q2",
    ],
    "bus 4.3 pull_tasks: only the last 500 lines are scanned": Unshowable(
        "a fixture of a few lines is shorter than any window; that every visible line counts"
        " is tested on drawn histories against a model that searches the whole prefix"
    ),
    "bus 4.3 bus_auditor: what is older than the window vanishes from the report": [
        "oldest-wait-is-still-shown:q1",
        "oldest-wait-is-still-shown:q3",
    ],
    "bus 4.3 bus_auditor: proposals of no lane all share one key": [
        "inclusive-cutoffs:q10",
        "inclusive-cutoffs:q12",
    ],
    "bus 4.3 bus_verifier: promises to detect disorder and does not": [
        "refused/recorded_time_reversed",
        "line-order",
    ],
    "bus 4.3 founder_mode: timestamps are compared as text": [
        "oldest-wait-is-still-shown:q4",
        "oldest-wait-is-still-shown:q5",
    ],
    "bus 4.3 founder_mode: a high and a medium finding together are only a warning": Unshowable(
        "it is how several results fold into one status, which no single log has;"
        " the exit status of several is tested with the check"
    ),
    # The same failures in other projects' threads (4.5)
    "bus 4.5 detent#1941: a block entered again is dated from the first entry": [
        "two-blockers-at-once:q9",
        "two-blockers-at-once:q10",
    ],
    "bus 4.5 phoenix#6246: a blocker repaired by an unlinked change stays, unseen": [
        "resolution-as-claim:q5",
        "resolution-as-claim:q6",
        "resolution-as-claim:q8",
    ],
    "bus 4.5 ai#2926: progress measured from what the reviewer's own pass made": [
        "progress-criteria:q10",
    ],
    "bus 4.5 ai#2926: an age that falls while nothing changes": [
        "oldest-wait-is-still-shown:q1",
        "oldest-wait-is-still-shown:q8",
    ],
    "bus 4.5 harness-anything#630: a write that landed is retried under new ids": [
        "retried-under-new-ids:q1",
        "retried-under-new-ids:q4",
        "retried-under-new-ids:q7",
    ],
    "bus 4.5 harness-anything#630: and nobody can tell that both are one write": Unshowable(
        "events with two ids are two events; only the boundary that assigned the ids knew"
    ),
    "bus 4.5 sulla-desktop#579: untouched for hours is taken for no progress": [
        "progress-criteria:q8",
        "progress-criteria:q9",
    ],
    # Requests to other tools (anchors, section 2)
    "anchors 1: six statuses are folded into three, and blocked vanishes": [
        "six-states:q1",
        "six-states:q2",
        "six-states:q3",
        "six-states:q4",
        "six-states:q5",
        "six-states:q6",
        "six-states:q7",
    ],
    "anchors 2: a state is inferred from words": [
        "free-text-moves-nothing:q1",
        "free-text-moves-nothing:q2",
        "free-text-moves-nothing:q5",
        "free-text-moves-nothing:q7",
    ],
    "anchors 2: waiting for another item is not being blocked": ["six-states:q8"],
    "anchors 2: terminal comes before blocked": [
        "cancelled-blocker-is-not-recovery:q7",
        "late-review-after-completion:q7",
    ],
    "anchors 3: a late start reopens finished work": [
        "after-terminal:q1",
        "after-terminal:q7",
        "base-states:q9",
    ],
    "anchors 3: the parent has ended and its parts run for ever": [
        "cancelled-blocker-is-not-recovery:q4",
        "cancelled-blocker-is-not-recovery:q5",
        "late-review-after-completion:q18",
    ],
    "anchors 4: the age of a heartbeat is taken for a stall": [
        "progress-criteria:q15",
        "progress-criteria:q16",
        "oldest-wait-is-still-shown:q6",
        "oldest-wait-is-still-shown:q7",
    ],
    "anchors 5: ages are measured to now and not to the cutoff": [
        "oldest-wait-is-still-shown:q1",
        "inclusive-cutoffs:q4",
        "inclusive-cutoffs:q8",
    ],
    "anchors 5: reading refreshes the field that is read": Unshowable(
        "reading leaves no event; that deriving code has no clock and writes nothing is tested"
        " on its imports"
    ),
    "anchors 6: checks and approvals of an old revision, or of none, authorise the new": [
        "receipt-status:q5",
        "receipt-status:q6",
        "receipt-status:q7",
        "receipt-status:q18",
        "stale-revision",
    ],
    "anchors 6: a forced update is not told from an added commit": Unshowable(
        "an event names a revision and not its ancestors; only a return to an earlier revision"
        " shows, as revision_reintroduced"
    ),
    "anchors 7: an old approval is stamped forward to a revision made after it": [
        "receipt-status:q16",
        "receipt-status:q17",
    ],
    "anchors 8: tails of NUL bytes": ["refused/nul_byte-tail", "refused/nul_byte-torn-then-tail"],
    "anchors 8: torn last lines": ["refused/truncated_input", "refused/not_json-torn-with-newline"],
    "anchors 8: two records spliced into one line": ["refused/trailing_data-two-events"],
    "anchors 8: repeated keys, NaN, lines that are no object, a byte order mark": [
        "refused/duplicate_key",
        "refused/nan_or_infinity",
        "refused/not_an_object",
        "refused/bom",
    ],
    "anchors 11: a rewritten history repeats its records": ["duplicate-event"],
    "anchors 11: one id with two contents": ["refused/conflicting_duplicate"],
    "anchors 11: parents that were never written": [
        "links-of-causes-and-evidence:q8",
        "what-corrects-nothing:q10",
    ],
    "anchors 11: a heuristic removes a real record of the same moment": [
        "retried-under-new-ids:q2",
        "retried-under-new-ids:q4",
        "inclusive-cutoffs:q5",
    ],
    # Signed channels (section 5)
    "channels 12: an id is used again, and what was said of the earlier one carries over": [
        "two-blockers-at-once:q10",
        "reopened-work:q12",
        "reopened-work:q13",
        "base-states:q9",
    ],
    "channels 14: a late note, or a fast clock, reopens what was closed": [
        "late-review-after-completion:q16",
        "late-review-after-completion:q17",
        "delayed-occurrence-times",
    ],
    "channels 14: the order across origins is uncertain": Unshowable(
        "a log has one admission boundary, whose sequence orders it; an event names no origin"
    ),
    "channels 22: an applied change is called lost for not being on the main branch": Unshowable(
        "which branch holds a revision is a fact of a repository, which a log does not hold"
    ),
    "channels 22: a claim about a revision that the log does not know is not called false": [
        "completion-without-evidence:q2",
        "readiness-verdicts:q8",
    ],
    "channels 23: a corrected copy that names nothing is taken for a correction": [
        "unlinked-correction:q1",
        "unlinked-correction:q3",
        "unlinked-correction:q5",
        "free-text-moves-nothing:q6",
    ],
}

# Beside the answers (the page's section 4): case, sequence of the cutoff or None, and what
# is there.

MISSING: dict[tuple[str, int | None, str], list[str]] = {
    ("readiness-verdicts", 2, "j2"): ["lint", "ci"],
    ("readiness-verdicts", 3, "j2"): ["ci"],
    ("readiness-verdicts", 4, "j2"): [],
    ("reopened-work", 3, "c3"): ["any check"],
    ("completion-needs-what-was-required", 5, "z5"): ["lint"],
    ("completion-needs-what-was-required", 10, "z8"): ["bench"],
    ("completion-needs-what-was-required", None, "z3"): ["docs"],
    ("unversioned-completion", 3, "y3"): ["evidence"],
    ("resolution-as-claim", 3, "g3"): ["evidence"],
    ("late-review-after-completion", 9, "l9"): ["evidence"],
    ("completion-while-blocked", None, "q4"): [],
}

RELATED: dict[tuple[str, int | None, str, str], list[str]] = {
    ("two-blockers-at-once", None, "progress_while_blocked", "b5"): ["b3"],
    ("concurrent-blockers", None, "progress_while_blocked", "x5"): ["x3"],
    ("other-principal-cannot-correct", None, "other_principal", "o3"): ["o2"],
    ("replacement-cites-only-what-came-before", None, "link_forward", "p6"): ["p4"],
    ("replacement-cites-only-what-came-before", None, "link_self", "p7"): ["p3"],
    ("receipt-status", None, "anachronistic", "u4"): ["u3"],
    ("receipt-status", None, "anachronistic", "u7"): ["u5"],
    ("receipt-status", None, "revision_reintroduced", "u9"): ["u3"],
    ("what-corrects-nothing", None, "link_missing", "n10"): ["ghost"],
    ("after-terminal", 8, "after_terminal", "a4"): [],
    ("after-terminal", 8, "no_open_episode", "a7"): [],
    ("after-terminal", None, "not_terminal", "a10"): [],
}

ORDER: dict[tuple[str, int | None, str], list[str]] = {
    ("replaced-raise-keeps-its-clock", 4, "episodes"): ["k4", "k3"],
    ("correction-of-a-correction", 5, "corrections"): ["h3", "h4", "h5"],
    ("asserted-status-as-of", None, "claims"): ["s16", "s5", "s6", "s7", "s8", "s9", "s15"],
    ("retracted-announcement", None, "receipts"): ["a3", "a8"],
    ("replacement-cites-only-what-came-before", None, "anomalies"): ["p4", "p6", "p7", "p7", "p9"],
}

FLAGS: dict[tuple[str, str], list[str]] = {
    ("six-states", "W1"): [],
    ("six-states", "W2"): ["no_origin"],
    ("base-states", "W2"): ["no_origin"],
    ("reopened-work", "W1"): [],
}

ANSWERS = [reference for shown in SENTENCES.values() for reference in shown]
FIXTURES = [
    reference
    for shown in PUBLIC_FAILURES.values()
    if isinstance(shown, list)
    for reference in shown
]


@cache
def answers_of(case: str) -> dict[str, dict[str, Any]]:
    document = json.loads((CASES / f"{case}.oracle.json").read_text(encoding="utf-8"))
    return {answer["id"]: answer for answer in document["answers"]}


def is_there(reference: str) -> bool:
    folder, _, refused = reference.rpartition("/")
    if folder == "refused":
        return (REFUSED / f"{refused}.error.json").exists()
    case, _, answer = reference.partition(":")
    return (CASES / f"{case}.jsonl").exists() and (not answer or answer in answers_of(case))


def item_with(case: str, sequence: int | None, event_id: str) -> dict[str, Any]:
    """The work item of one event of a case, as the document of a projection shows it."""
    history = replay.load(CASES / f"{case}.jsonl")
    (work_id,) = {event.work_id for event in history.events if event.event_id == event_id}
    return item_of(case, sequence, work_id)


def item_of(case: str, sequence: int | None, work_id: str | None) -> dict[str, Any]:
    prefix = replay.load(CASES / f"{case}.jsonl").until(sequence=sequence)
    document: dict[str, Any] = replay.as_document(replay.project(prefix, rules=RULES))
    (item,) = (item for item in document["items"] if item["work_id"] == work_id)
    found: dict[str, Any] = item
    return found


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_sentence_of_the_evaluation_is_shown_by_an_answer(sentence: str) -> None:
    assert SENTENCES[sentence] != []
    for reference in SENTENCES[sentence]:
        case, _, answer = reference.partition(":")
        assert is_there(reference), reference
        assert answers_of(case)[answer]["rules"] == RULES, reference


def test_the_sentences_are_numbered_by_step_with_none_left_out() -> None:
    numbers = [tuple(map(int, sentence.split()[0].split("."))) for sentence in SENTENCES]
    assert [*dict.fromkeys(step for step, _ in numbers)] == [*range(14)]
    for step in range(14):
        within = [number for at, number in numbers if at == step]
        assert within == [*range(1, len(within) + 1)]


@pytest.mark.parametrize("failure", PUBLIC_FAILURES)
def test_every_public_failure_has_a_fixture_or_a_reason_why_no_log_shows_it(failure: str) -> None:
    match PUBLIC_FAILURES[failure]:
        case Unshowable(why):
            assert why.strip()
        case shown:
            assert shown != []
            assert [reference for reference in shown if not is_there(reference)] == []


@pytest.mark.parametrize(
    ("page", "numbers"),
    [
        ("bus", ("4.3", "4.5")),
        ("anchors", (*"12345678", "11")),
        ("channels", ("12", "14", "22", "23")),
    ],
)
def test_no_number_of_a_public_page_is_left_out(page: str, numbers: tuple[str, ...]) -> None:
    named = {
        failure.split()[1].rstrip(":") for failure in PUBLIC_FAILURES if failure.startswith(page)
    }
    assert named == {*numbers}


def test_every_case_that_asks_about_these_rules_shows_something() -> None:
    shown = {reference.partition(":")[0] for reference in [*ANSWERS, *FIXTURES]}
    asking = {
        path.stem
        for path in CASES.glob("*.jsonl")
        if any(answer["rules"] == RULES for answer in answers_of(path.stem).values())
    }
    assert asking - shown == set()


@pytest.mark.parametrize("at", MISSING, ids=str)
def test_a_claim_says_what_is_missing(at: tuple[str, int | None, str]) -> None:
    claims = item_with(*at)["claims"]
    assert [claim["missing"] for claim in claims if claim["event_id"] == at[2]] == [MISSING[at]]


@pytest.mark.parametrize("at", RELATED, ids=str)
def test_an_anomaly_names_what_it_is_about(at: tuple[str, int | None, str, str]) -> None:
    case, sequence, code, event_id = at
    found = item_with(case, sequence, event_id)["anomalies"]
    related = [a["related"] for a in found if (a["code"], a["event_id"]) == (code, event_id)]
    assert related == [RELATED[at]]


@pytest.mark.parametrize("at", ORDER, ids=str)
def test_lists_are_ordered_by_place_and_corrections_by_their_own_sequence(
    at: tuple[str, int | None, str],
) -> None:
    case, sequence, part = at
    listed = item_of(case, sequence, "W1")[part]
    ids = [(entry["opened"] if part == "episodes" else entry)["event_id"] for entry in listed]
    assert ids == ORDER[at]


@pytest.mark.parametrize("at", FLAGS, ids=str)
def test_an_item_that_no_proposal_began_has_no_origin(at: tuple[str, str]) -> None:
    assert item_of(at[0], None, at[1])["flags"] == FLAGS[at]
