"""coordination/1: the paper's instrument.

Decides, for each work item of a prefix, its state, revision, three clocks, blocker
episodes, receipts and readiness claims.  Covers one blocker line at a time, and
neither corrections nor cancellations, completions and reviews: an item with such an
event is undetermined, with the events that made it so.  It never guesses.

Source: the paper's sections 5.1 and 5.2; the order of evaluation is that of
coordination/2 where both apply, so the two give the same answers here.

Choices.  The fold reads an item's events once, in sequence order, and keeps what the
displayed state needs at each of them, since `since` is the event at which the
displayed value last changed as the log grew.  Receipt statuses and verdicts are read
off at the cutoff.  This file is self-contained and frozen: it shares records with
other rule sets and no judgement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from replay.event import Blocker, Check, Event, ReviewRequest
from replay.history import Prefix
from replay.projection import (
    Anomaly,
    Censored,
    Claim,
    Clocks,
    Correction,
    Derived,
    Episode,
    EpisodeEnd,
    Item,
    Mark,
    Progress,
    Projection,
    Receipt,
    ReceiptStatus,
    Recovered,
    Rule,
    RuleSet,
    Unassigned,
    Uncovered,
    Verdict,
)

ID: Final = "coordination/1"

COVERED: Final = frozenset(
    {
        "work.proposed",
        "work.started",
        "artifact.published",
        "check.completed",
        "blocker.raised",
        "review.requested",
    }
)
ACTIVATING: Final = frozenset(
    {"work.started", "artifact.published", "check.completed", "blocker.raised"}
)
FAILING: Final = frozenset({"failed", "errored", "timed_out"})
DECIDING: Final = FAILING | {"passed", "action_required"}

UNCOVERED = Rule(
    "1/uncovered",
    "An item with a visible event that these rules do not cover is undetermined, and says by"
    " which events.",
)
LINKS = Rule(
    "1/links",
    "A link is valid when its target is visible, of the same item and recorded earlier; any"
    " other link has no effect and is an anomaly.",
)
REVISION = Rule(
    "1/revision",
    "The current revision is the latest announced by sequence, never by name.",
)
RECEIPT = Rule(
    "1/receipt",
    "A receipt is bound to a revision, and certifies only the revision that is current at the"
    " cutoff.",
)
DECIDING_RESULT = Rule(
    "1/deciding-result",
    "Of each check and source the latest current, non-local result that passed, failed,"
    " errored, timed out or required action decides.",
)
PROGRESS_REVISION = Rule("1/progress-revision", "The first announcement of a revision is progress.")
PROGRESS_CHECK = Rule(
    "1/progress-check",
    "A check that passed or failed on the revision current at its place is progress, unless it"
    " repeats the latest deciding outcome of that revision, check and source.",
)
EPISODE = Rule(
    "1/episode",
    "A raise opens a blocker episode and a further one repeats it; it ends recovered at a new"
    " current revision, or at a passed, non-local check of the current one, that names a raise"
    " of the episode as its cause, and is otherwise censored at the cutoff.",
)
READINESS = Rule(
    "1/readiness",
    "A review request is a claim: supported when every check it requires, or at least one,"
    " passed on the current revision that it names, and none fails.",
)
BLOCKED = Rule("1/state-blocked", "An item is blocked while a blocker episode is open.")
AWAITING = Rule(
    "1/state-awaiting-review",
    "An item that is not blocked awaits review while a readiness claim is supported.",
)
BASE = Rule(
    "1/state-base",
    "An item is proposed once proposed, and active once work started, an artifact was"
    " published, a check completed or a blocker was raised.",
)
CORRECTIONS = Rule(
    "1/corrections",
    "Inert events never correct: one that names an event it supersedes is ineffective.",
)


def project(prefix: Prefix) -> Projection:
    """Every answer of coordination/1 at the prefix's cutoff."""
    visible = {event.event_id: event for event in prefix.events}
    groups: dict[str, list[Event]] = {}
    unassigned: list[Event] = []
    for event in prefix.events:
        group = unassigned if event.work_id is None else groups.setdefault(event.work_id, [])
        group.append(event)
    incomplete = _has_gap(prefix.events)
    uncovered = [*_fold(unassigned, visible).uncovered]
    items = []
    for work_id in sorted(groups):
        events = groups[work_id]
        fold = _fold(events, visible)
        uncovered += fold.uncovered
        items.append(_item(work_id, events, fold, visible, prefix.observed or 0, incomplete))
    return Projection(
        rules=ID,
        facts=prefix.facts,
        items=tuple(items),
        unassigned=Unassigned(
            events=len(unassigned),
            last_message=_mark(unassigned[-1]) if unassigned else None,
            anomalies=_in_order(_link_anomalies(unassigned, visible), visible),
        ),
        uncovered=tuple(
            Uncovered(event.event_id, event.type, event.work_id)
            for event in sorted(uncovered, key=lambda event: event.recorded_sequence)
        ),
    )


def _fold(events: Iterable[Event], visible: Mapping[str, Event]) -> _Fold:
    fold = _Fold(visible)
    for event in events:
        if not event.inert:
            fold.read(event)
    return fold


def _item(
    work_id: str,
    events: list[Event],
    fold: _Fold,
    visible: Mapping[str, Event],
    observed: int,
    incomplete: bool,
) -> Item:
    flags = []
    if events[0].type != "work.proposed":
        flags.append("no_origin")
    if incomplete:
        flags.append("possibly_incomplete")
    last_message = _mark(events[-1])
    if fold.uncovered:
        nothing = Derived(None, None, UNCOVERED.id)
        return Item(
            work_id=work_id,
            state=nothing,
            revision=nothing,
            clocks=Clocks(last_message),
            episodes=None,
            receipts=None,
            claims=None,
            corrections=None,
            anomalies=(),
            flags=tuple(flags),
            undetermined_by=tuple(event.event_id for event in fold.uncovered),
        )
    anomalies = [*_link_anomalies(events, visible), *fold.anomalies, *fold.anachronisms()]
    return Item(
        work_id=work_id,
        state=fold.state(),
        revision=fold.revision(),
        clocks=Clocks(last_message, fold.progress, fold.blocked_since()),
        episodes=fold.episodes(observed),
        receipts=fold.receipts(),
        claims=fold.claims(),
        corrections=_corrections(events),
        anomalies=_in_order(anomalies, visible),
        flags=tuple(flags),
    )


class _OpenedEpisode:
    """An episode while it is folded."""

    def __init__(self, opened: Event, blocker_id: str | None) -> None:
        self.opened = opened
        self.blocker_id = blocker_id
        self.repeats: list[Event] = []
        self.raises = {opened.event_id}
        self.ended: tuple[Event, tuple[str, ...]] | None = None

    def repeat(self, event: Event) -> None:
        self.repeats.append(event)
        self.raises.add(event.event_id)


class _Results:
    """The deciding results of one revision: the latest of each check and source."""

    def __init__(self) -> None:
        self.latest: dict[tuple[str, str | None], Event] = {}  # in order of place
        self.passes_by_check: dict[str, list[str]] | None = None  # when asked
        self.passing: dict[str, int] = {}  # by check
        self.passed = 0
        self.failed = 0

    def add(self, event: Event, check: Check) -> None:
        self.passes_by_check = None
        before = self.latest.pop((check.check, check.source), None)
        if before is not None:
            self._count(before, -1)
        self.latest[check.check, check.source] = event
        self._count(event, 1)

    def _count(self, event: Event, step: int) -> None:
        check = _check(event)
        if check.outcome in FAILING:
            self.failed += step
        elif check.outcome == "passed":
            self.passed += step
            self.passing[check.check] = self.passing.get(check.check, 0) + step

    def support(self, requires: tuple[str, ...]) -> bool:
        if self.failed:
            return False
        if requires:
            return all(self.passing.get(check, 0) > 0 for check in requires)
        return self.passed > 0

    def missing(self, requires: tuple[str, ...]) -> tuple[str, ...]:
        if not requires:
            return ("any check",)
        return tuple(dict.fromkeys(c for c in requires if self.passing.get(c, 0) <= 0))

    def failures(self) -> tuple[str, ...]:
        return tuple(e.event_id for e in self.latest.values() if _check(e).outcome in FAILING)

    def passes_of(self, requires: tuple[str, ...]) -> tuple[str, ...]:
        """Ids of the passes of these checks, of all where none is required."""
        if self.passes_by_check is None:
            self.passes_by_check = {}
            for (check, _), event in self.latest.items():
                if _check(event).outcome == "passed":
                    self.passes_by_check.setdefault(check, []).append(event.event_id)
        checks = dict.fromkeys(requires or self.passes_by_check)
        found = [self.passes_by_check.get(check, []) for check in checks]
        return tuple(event_id for ids in found for event_id in ids)


class _Fold:
    """One item's events, read in sequence order."""

    def __init__(self, visible: Mapping[str, Event]) -> None:
        self.visible = visible
        self.uncovered: list[Event] = []
        self.anomalies: list[Anomaly] = []
        self.base: tuple[str, Event] | None = None
        self.announced: dict[str, Event] = {}
        self.current: str | None = None
        self.changed_by: Event | None = None
        self.results: dict[str, _Results] = {}
        self.latest_outcome: dict[tuple[str | None, str, str | None], str] = {}
        self.checks: list[tuple[Event, bool]] = []  # with: may be superseded, not stale
        self.open: _OpenedEpisode | None = None
        self.opened: list[_OpenedEpisode] = []
        self.requests: list[tuple[Event, ReviewRequest]] = []
        self.live: list[tuple[Event, ReviewRequest]] = []  # not made stale so far
        self.awaited: set[tuple[str, ...]] = set()  # live requires of the current revision
        self.awaits = False  # whether any of these is supported
        self.staled_by: dict[str, Event] = {}
        self.progress: Progress | None = None
        self.displayed: str | None = None
        self.displayed_since: Event | None = None

    def read(self, event: Event) -> None:
        """Take in the next event that is not inert."""
        if not self._covers(event):
            self.uncovered.append(event)
            return
        before = self.progress
        match event.data:
            case Check():
                self._check(event, event.data)
            case Blocker():
                self._raise(event, event.data)
            case ReviewRequest():
                self._request(event, event.data)
            case _ if event.type == "artifact.published":
                self._publish(event)
        self._move_base(event)
        if self.progress is not before and self.open is not None:
            origin = self.open.opened.event_id
            self.anomalies.append(Anomaly("progress_while_blocked", event.event_id, (origin,)))
        value = self._value()
        if value != self.displayed:
            self.displayed, self.displayed_since = value, event

    def _covers(self, event: Event) -> bool:
        if event.type not in COVERED or event.supersedes is not None:
            return False
        if isinstance(event.data, Blocker) and self.open is not None:
            return event.data.blocker_id == self.open.blocker_id
        return True

    def _move_base(self, event: Event) -> None:
        value = None if self.base is None else self.base[0]
        if event.type == "work.proposed" and value is None:
            self.base = ("proposed", event)
        elif event.type in ACTIVATING and value != "active":
            self.base = ("active", event)

    def _publish(self, event: Event) -> None:
        revision = event.artifact_revision
        assert revision is not None  # the contract requires it of this class
        first = self.announced.setdefault(revision, event)
        if first is event:
            self.progress = Progress(event.event_id, event.recorded_at, PROGRESS_REVISION.id)
        if revision == self.current:
            return
        if first is not event:
            self.anomalies.append(
                Anomaly("revision_reintroduced", event.event_id, (first.event_id,))
            )
        self.current, self.changed_by = revision, event
        self._make_claims_stale(revision, event)
        self._recover(event)

    def _make_claims_stale(self, revision: str, by: Event) -> None:
        for event, _ in self.live:
            if event.artifact_revision != revision:
                self.staled_by[event.event_id] = by
        self.live = [claim for claim in self.live if claim[0].artifact_revision == revision]
        self.awaited = {request.requires for _, request in self.live}
        self.awaits = self._supported(self.awaited)

    def _check(self, event: Event, check: Check) -> None:
        revision = event.artifact_revision
        is_current = revision is not None and revision == self.current
        self.checks.append((event, is_current or revision not in self.announced))
        if check.outcome not in DECIDING:
            return
        if revision is not None and not check.local:
            self.results.setdefault(revision, _Results()).add(event, check)
            if is_current:
                self.awaits = self._supported(self.awaited)
        if not is_current:
            return
        kind = (revision, check.check, check.source)
        if check.outcome in ("passed", "failed") and self.latest_outcome.get(kind) != check.outcome:
            self.progress = Progress(event.event_id, event.recorded_at, PROGRESS_CHECK.id)
        self.latest_outcome[kind] = check.outcome
        if check.outcome == "passed" and not check.local:
            self._recover(event)

    def _raise(self, event: Event, blocker: Blocker) -> None:
        if self.open is not None:
            self.open.repeat(event)
            return
        self.open = _OpenedEpisode(event, blocker.blocker_id)
        self.opened.append(self.open)

    def _recover(self, event: Event) -> None:
        if self.open is None or not event.causes:
            return
        causes = [
            cause
            for cause in event.causes
            if cause in self.open.raises and _link_fault(event, cause, self.visible) is None
        ]
        if causes:
            causes.sort(key=lambda cause: self.visible[cause].recorded_sequence)
            self.open.ended = (event, tuple(dict.fromkeys(causes)))
            self.open = None

    def _request(self, event: Event, request: ReviewRequest) -> None:
        self.requests.append((event, request))
        self.live.append((event, request))
        if event.artifact_revision is not None and event.artifact_revision == self.current:
            self.awaited.add(request.requires)
            self.awaits = self.awaits or self._supported({request.requires})

    def _supported(self, awaited: set[tuple[str, ...]]) -> bool:
        """Whether the current revision's results support any of these requirements."""
        results = self.results.get(self.current or "")
        return results is not None and any(results.support(requires) for requires in awaited)

    def _value(self) -> str | None:
        """The displayed state as the log stands."""
        if self.open is not None:
            return "blocked"
        if self.awaits:
            return "awaiting_review"
        return None if self.base is None else self.base[0]

    # What follows is read off at the cutoff.

    def state(self) -> Derived:
        since = None if self.displayed_since is None else _mark(self.displayed_since)
        match self.displayed:
            case None:
                return Derived(None, None, BASE.id)
            case "blocked":
                assert self.open is not None
                return Derived("blocked", since, BLOCKED.id, (self.open.opened.event_id,))
            case "awaiting_review":
                claims = tuple(c.event_id for c in self.claims() if c.verdict == "supported")
                return Derived("awaiting_review", since, AWAITING.id, claims)
            case value:
                assert self.base is not None
                return Derived(value, since, BASE.id, (self.base[1].event_id,))

    def revision(self) -> Derived:
        if self.changed_by is None:
            return Derived(None, None, REVISION.id)
        by = self.changed_by
        return Derived(self.current, _mark(by), REVISION.id, (by.event_id,))

    def blocked_since(self) -> Mark | None:
        return None if self.open is None else _mark(self.open.opened)

    def episodes(self, observed: int) -> tuple[Episode, ...]:
        episodes = []
        for opened in self.opened:
            until = observed
            end: EpisodeEnd = Censored(observed)
            if opened.ended is not None:
                by, causes = opened.ended
                until, end = by.recorded_at, Recovered(_mark(by), causes)
            episodes.append(
                Episode(
                    work_id=opened.opened.work_id or "",
                    blocker_id=opened.blocker_id,
                    opened=_mark(opened.opened),
                    repeats=tuple(event.event_id for event in opened.repeats),
                    end=end,
                    elapsed=until - opened.opened.recorded_at,
                )
            )
        return tuple(episodes)

    def receipts(self) -> tuple[Receipt, ...]:
        return tuple(
            Receipt(
                work_id=event.work_id or "",
                event_id=event.event_id,
                type=event.type,
                check=_check(event).check,
                source=_check(event).source,
                outcome=_check(event).outcome,
                revision=event.artifact_revision,
                status=self._status(event.artifact_revision, overtaken),
                principal=event.principal,
            )
            for event, overtaken in self.checks
        )

    def _status(self, revision: str | None, overtaken: bool) -> ReceiptStatus:
        # the first that applies
        if revision is None:
            return "unbound"
        if revision not in self.announced:
            return "revision_unknown"
        if revision == self.current:
            return "current"
        return "superseded_by_revision" if overtaken else "stale_on_arrival"

    def anachronisms(self) -> Iterable[Anomaly]:
        for event, _ in self.checks:
            first = self.announced.get(event.artifact_revision or "")
            if first is None or event.occurred_at is None or first.occurred_at is None:
                continue
            if event.occurred_at < first.occurred_at:
                yield Anomaly("anachronistic", event.event_id, (first.event_id,))

    def claims(self) -> tuple[Claim, ...]:
        return tuple(self._judge(event, request) for event, request in self.requests)

    def _judge(self, event: Event, request: ReviewRequest) -> Claim:
        # the first that applies
        revision = event.artifact_revision
        results = self.results.get(revision or "", _Results())
        verdict: Verdict
        evidence: tuple[str, ...] = ()
        missing: tuple[str, ...] = ()
        if event.event_id in self.staled_by:
            verdict, evidence = "stale", (self.staled_by[event.event_id].event_id,)
        elif revision is None:
            verdict = "unbound"
        elif revision not in self.announced:
            verdict = "unknown"
        elif revision != self.current:
            assert self.changed_by is not None
            verdict, evidence = "stale", (self.changed_by.event_id,)
        elif results.failed:
            verdict, evidence = "contradicted", results.failures()
        elif results.support(request.requires):
            verdict = "supported"
            evidence = _by_sequence(results.passes_of(request.requires), self.visible)
        else:
            verdict, missing = "missing", results.missing(request.requires)
        return Claim(
            work_id=event.work_id or "",
            event_id=event.event_id,
            claim=event.type,
            verdict=verdict,
            evidence=evidence,
            missing=missing,
            rule=READINESS.id,
        )


def _links(event: Event, visible: Mapping[str, Event]) -> Iterable[str]:
    if event.supersedes is not None:
        yield event.supersedes
    yield from event.causes
    # any other entry of evidence_refs is plain text
    yield from (ref for ref in event.evidence_refs if ref in visible)


def _link_fault(event: Event, target_id: str, visible: Mapping[str, Event]) -> str | None:
    # the first that applies
    target = visible.get(target_id)
    if target is None:
        return "link_missing"
    if target.work_id != event.work_id:
        return "link_other_item"
    if target is event:
        return "link_self"
    return "link_forward" if target.recorded_sequence > event.recorded_sequence else None


def _link_anomalies(events: Iterable[Event], visible: Mapping[str, Event]) -> Iterable[Anomaly]:
    for event in events:
        for target in dict.fromkeys(_links(event, visible)):
            fault = _link_fault(event, target, visible)
            if fault is not None:
                yield Anomaly(fault, event.event_id, (target,))


def _corrections(events: Iterable[Event]) -> tuple[Correction, ...]:
    """Only inert events get here with a `supersedes`; any other is not covered."""
    return tuple(
        Correction(
            work_id=event.work_id or "",
            event_id=event.event_id,
            target=event.supersedes,
            status="ineffective",
            reason=_reason(event),
        )
        for event in events
        if event.supersedes is not None
    )


def _reason(event: Event) -> str | None:
    reason = event.payload.get("reason")
    return reason if isinstance(reason, str) else None


def _by_sequence(ids: Iterable[str], visible: Mapping[str, Event]) -> tuple[str, ...]:
    return tuple(sorted(ids, key=lambda event_id: visible[event_id].recorded_sequence))


def _in_order(anomalies: Iterable[Anomaly], visible: Mapping[str, Event]) -> tuple[Anomaly, ...]:
    return tuple(
        sorted(
            anomalies,
            key=lambda a: (visible[a.event_id].recorded_sequence, a.code, a.related),
        )
    )


def _has_gap(events: tuple[Event, ...]) -> bool:
    if not events:
        return False
    return events[-1].recorded_sequence - events[0].recorded_sequence >= len(events)


def _check(event: Event) -> Check:
    assert isinstance(event.data, Check)
    return event.data


def _mark(event: Event) -> Mark:
    return Mark(event.event_id, event.recorded_at)


RULES: Final = RuleSet(
    ID,
    (
        UNCOVERED,
        LINKS,
        REVISION,
        RECEIPT,
        DECIDING_RESULT,
        PROGRESS_REVISION,
        PROGRESS_CHECK,
        EPISODE,
        READINESS,
        BLOCKED,
        AWAITING,
        BASE,
        CORRECTIONS,
    ),
    project,
    items_alone=True,
)
