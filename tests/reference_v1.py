"""An independent reference model of coordination/1, for tests.

It answers each question of the rule page (sections 1, 3 and 4) by searching the visible
events, sentence by sentence, with no running state: the revision current at a place is that
of the last announcement before it, and `since` is found by asking again at every shorter
log.  It is slow and meant to be read beside the page.  coordination/1 has no effective
correction and no terminal state, so an event's place is its own sequence.

A `Log` is the visible events of one work item in sequence order, or an initial part of them.
Functions of `(event, log)` ask about an event of that log.  Rule ids are left empty:
`without_rules` does the same to the projection that is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, TypeAlias

import msgspec

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
    Item,
    Mark,
    Progress,
    Projection,
    Receipt,
    ReceiptStatus,
    Recovered,
    Unassigned,
    Uncovered,
    Verdict,
    WorkState,
)

Log: TypeAlias = tuple[Event, ...]
Judgement: TypeAlias = tuple[Verdict, tuple[Event, ...], tuple[str, ...]]
"""A verdict, its evidence, and what is missing."""

COVERED_TYPES: Final = frozenset(
    {
        "work.proposed",
        "work.started",
        "artifact.published",
        "check.completed",
        "blocker.raised",
        "review.requested",
    }
)
ACTIVATING_TYPES: Final = frozenset(
    {"work.started", "artifact.published", "check.completed", "blocker.raised"}
)
FAILING: Final = frozenset({"failed", "errored", "timed_out"})
DECIDING: Final = frozenset({"passed", "action_required"}) | FAILING


def project(prefix: Prefix) -> Projection:
    """What coordination/1 says of a history at a cutoff."""
    visible = prefix.events
    work_ids = sorted({event.work_id for event in visible if event.work_id is not None})
    unassigned = item_log(None, visible)
    return Projection(
        rules="coordination/1",
        facts=prefix.facts,
        items=tuple(item(work_id, prefix) for work_id in work_ids),
        unassigned=Unassigned(
            events=len(unassigned),
            last_message=last_mark(unassigned),
            anomalies=in_order(link_anomalies(unassigned, visible), visible),
        ),
        uncovered=tuple(
            Uncovered(event.event_id, event.type, event.work_id)
            for event in visible
            if not is_covered(event, item_log(event.work_id, visible))
        ),
    )


def without_rules(projection: Projection) -> Projection:
    """The projection with every `rule` field empty."""
    return msgspec.structs.replace(
        projection, items=tuple(_item_without_rules(one) for one in projection.items)
    )


def _item_without_rules(one: Item) -> Item:
    replace = msgspec.structs.replace
    progress = one.clocks.last_progress
    return replace(
        one,
        state=replace(one.state, rule=""),
        revision=replace(one.revision, rule=""),
        clocks=replace(
            one.clocks, last_progress=None if progress is None else replace(progress, rule="")
        ),
        claims=None if one.claims is None else tuple(replace(c, rule="") for c in one.claims),
    )


def item(work_id: str, prefix: Prefix) -> Item:
    """Section 3: each work item is judged alone.  Section 1: it never guesses."""
    log = item_log(work_id, prefix.events)
    uncovered = tuple(event for event in log if not is_covered(event, log))
    if uncovered:
        return undetermined_item(work_id, log, uncovered, prefix)
    return determined_item(work_id, log, prefix)


def determined_item(work_id: str, log: Log, prefix: Prefix) -> Item:
    """Section 4: every answer about an item that the rules cover."""
    episodes = tuple(
        episode(event, log, prefix.observed or 0) for event in log if is_origin(event, log)
    )
    found = [
        *link_anomalies(log, prefix.events),
        *progress_while_blocked(log),
        *revision_reintroduced(log),
        *anachronistic(log),
    ]
    return Item(
        work_id=work_id,
        state=derived(displayed_state, state_evidence(log), log),
        revision=derived(revision, last_changes(log), log),
        clocks=Clocks(marked(log[-1]), last_progress(log), blocked_since(log)),
        episodes=episodes,
        receipts=tuple(receipt(event, log) for event in log if event.type == "check.completed"),
        claims=tuple(claim(event, log) for event in log if event.type == "review.requested"),
        corrections=corrections(log),
        anomalies=in_order(found, prefix.events),
        flags=flags(log, prefix.events),
    )


def undetermined_item(work_id: str, log: Log, uncovered: Log, prefix: Prefix) -> Item:
    """Section 1: the last message and the flags stand, all else is null or empty."""
    return Item(
        work_id=work_id,
        state=Derived(None, None, ""),
        revision=Derived(None, None, ""),
        clocks=Clocks(marked(log[-1])),
        episodes=None,
        receipts=None,
        claims=None,
        corrections=None,
        anomalies=(),
        flags=flags(log, prefix.events),
        undetermined_by=ids(uncovered),
    )


# --- what is asked about: section 3, first paragraph ---------------------------------


def item_log(work_id: str | None, visible: Log) -> Log:
    """Section 3: the visible events of one work item, or those that name none."""
    return tuple(event for event in visible if event.work_id == work_id)


def before(event: Event, log: Log) -> Log:
    """The events at earlier places."""
    return tuple(one for one in log if one.recorded_sequence < event.recorded_sequence)


def after(event: Event, log: Log) -> Log:
    """The events at later places."""
    return tuple(one for one in log if one.recorded_sequence > event.recorded_sequence)


def through(event: Event, log: Log) -> Log:
    """The log as it was immediately after the event."""
    return (*before(event, log), event)


def first(events: Iterable[Event]) -> Event | None:
    return next(iter(events), None)


def last(events: Iterable[Event]) -> Event | None:
    found = tuple(events)
    return found[-1] if found else None


def ids(events: Iterable[Event]) -> tuple[str, ...]:
    return tuple(event.event_id for event in events)


def marked(event: Event) -> Mark:
    return Mark(event.event_id, event.recorded_at)


def last_mark(log: Log) -> Mark | None:
    return marked(log[-1]) if log else None


# --- coverage: section 1 -------------------------------------------------------------


def is_covered(event: Event, log: Log) -> bool:
    """Section 1: a covered class, corrects nothing, and keeps to one blocker line at a time."""
    if event.inert:
        return True
    if event.type not in COVERED_TYPES or event.supersedes is not None:
        return False
    return event.type != "blocker.raised" or keeps_to_the_open_blocker(event, log)


def keeps_to_the_open_blocker(raised: Event, log: Log) -> bool:
    """Section 1: no second blocker id, none counting as one, while an episode is open."""
    origin = open_origin(covered(before(raised, log)))
    return origin is None or blocker_id(origin) == blocker_id(raised)


@lru_cache(maxsize=512)
def covered(log: Log) -> Log:
    """Section 1: uncovered events are skipped; they open, continue and end no episode."""
    return tuple(event for event in log if is_covered(event, log))


# --- revisions: section 3, steps 3 and 4; section 2 ----------------------------------


def revision(log: Log) -> str | None:
    """Section 2: the latest announced by sequence, never by name."""
    announced = last(announcements(log))
    return None if announced is None else announced.artifact_revision


def announcements(log: Log, of: str | None = None) -> Log:
    """The announcements of a revision, or of all."""
    return tuple(
        event
        for event in log
        if event.type == "artifact.published" and of in (None, event.artifact_revision)
    )


def is_announced(name: str, log: Log) -> bool:
    return len(announcements(log, name)) > 0


def changes_revision(event: Event, log: Log) -> bool:
    """Step 7: an announcement of another revision than the current; from none counts."""
    return (
        event.type == "artifact.published"
        and revision(before(event, log)) != event.artifact_revision
    )


def last_changes(log: Log) -> tuple[str, ...]:
    """Section 4: the evidence of the revision is its last change."""
    change = last(event for event in log if changes_revision(event, log))
    return () if change is None else (change.event_id,)


def current_at_its_place(event: Event, log: Log) -> bool:
    """Step 4: bound to the revision that the events at earlier places make current."""
    named = event.artifact_revision
    return named is not None and named == revision(before(event, log))


# --- checks: section 3, steps 4 and 5 ------------------------------------------------


def check(event: Event) -> Check:
    assert isinstance(event.data, Check)
    return event.data


def checks(log: Log) -> Log:
    return tuple(event for event in log if event.type == "check.completed")


def receipt(event: Event, log: Log) -> Receipt:
    """Section 4: a completed check, with its status at the cutoff."""
    data = check(event)
    return Receipt(
        work_id=str(event.work_id),
        event_id=event.event_id,
        type=event.type,
        check=data.check,
        source=data.source,
        outcome=data.outcome,
        revision=event.artifact_revision,
        status=receipt_status(event, log),
        principal=event.principal,
    )


def receipt_status(event: Event, log: Log) -> ReceiptStatus:
    """Step 4: the first that applies."""
    named = event.artifact_revision
    if named is None:
        return "unbound"
    if not is_announced(named, log):
        return "revision_unknown"
    if named == revision(log):
        return "current"
    if current_at_its_place(event, log) or not is_announced(named, before(event, log)):
        return "superseded_by_revision"
    return "stale_on_arrival"


def deciding_results(name: str, log: Log) -> Log:
    """Step 5: current, non-local, of a deciding outcome; the latest for each check and source."""
    candidates = tuple(
        event
        for event in checks(log)
        if event.artifact_revision == name
        and receipt_status(event, log) == "current"
        and not check(event).local
        and check(event).outcome in DECIDING
    )
    return tuple(
        event
        for event in candidates
        if not any(same_check_and_source(event, later) for later in after(event, candidates))
    )


def same_check_and_source(one: Event, other: Event) -> bool:
    return (check(one).check, check(one).source) == (check(other).check, check(other).source)


# --- progress: section 3, step 6 -----------------------------------------------------


def is_progress(event: Event, log: Log) -> bool:
    """Step 6, decided at the event's place."""
    return is_first_announcement(event, log) or is_check_progress(event, log)


def is_first_announcement(event: Event, log: Log) -> bool:
    """Step 6, P1: the first announcement of a revision."""
    return event.type == "artifact.published" and not is_announced(
        str(event.artifact_revision), before(event, log)
    )


def is_check_progress(event: Event, log: Log) -> bool:
    """Step 6, P2: passed or failed, current at its place, and no repeat of the outcome before."""
    if event.type != "check.completed" or check(event).outcome not in ("passed", "failed"):
        return False
    if not current_at_its_place(event, log):
        return False
    earlier = last(
        one
        for one in checks(before(event, log))
        if one.artifact_revision == event.artifact_revision
        and same_check_and_source(one, event)
        and check(one).outcome in DECIDING
        and current_at_its_place(one, log)
    )
    return earlier is None or check(earlier).outcome != check(event).outcome


def last_progress(log: Log) -> Progress | None:
    """Section 2: the last evidenced progress."""
    found = last(event for event in log if is_progress(event, log))
    return None if found is None else Progress(found.event_id, found.recorded_at, "")


# --- blocker episodes: section 3, step 7 ---------------------------------------------


def blocker_id(event: Event) -> str | None:
    assert isinstance(event.data, Blocker)
    return event.data.blocker_id


def raises(log: Log) -> Log:
    return tuple(event for event in log if event.type == "blocker.raised")


def is_origin(event: Event, log: Log) -> bool:
    """Step 7: a raise that is no repeat opens an episode."""
    return event.type == "blocker.raised" and origin_of(event, log) == event


def origin_of(raised: Event, log: Log) -> Event:
    """Step 7: the origin of the episode that the raise before this one belongs to, where that
    is still open, since one episode at most is; else the raise itself."""
    earlier = before(raised, log)
    origin = open_origin(earlier)
    return raised if origin is None else origin


def open_origin(log: Log) -> Event | None:
    """Step 7: the origin of the episode that is open at the end of the log."""
    raised = last(raises(log))
    if raised is None:
        return None
    origin = origin_of(raised, log)
    return origin if recovery(origin, log) is None else None


def recovery(origin: Event, log: Log) -> Event | None:
    """Step 7: the first event after the origin that ends its episode."""
    return first(event for event in after(origin, log) if recovers(event, origin, log))


def recovers(event: Event, origin: Event, log: Log) -> bool:
    """Step 7: evidence that is of the kind that ends an episode, with a cause in it."""
    return is_resumption(event, log) and len(causes_in_episode(event, origin, log)) > 0


def is_resumption(event: Event, log: Log) -> bool:
    """Step 7: a change of the revision, or a passed, non-local check current at its place."""
    if event.type == "artifact.published":
        return changes_revision(event, log)
    return (
        event.type == "check.completed"
        and check(event).outcome == "passed"
        and not check(event).local
        and current_at_its_place(event, log)
    )


def causes_in_episode(event: Event, origin: Event, log: Log) -> Log:
    """Steps 1 and 7: the raises since the origin, before the event, that it names as causes."""
    return tuple(
        raised
        for raised in raises(before(event, log))
        if raised == origin or raised in after(origin, log)
        if raised.event_id in event.causes
    )


def episode(origin: Event, log: Log, observed: int) -> Episode:
    """Step 7: from its origin to its recovery, or to where observation ends."""
    end = recovery(origin, log)
    ended_at = observed if end is None else end.recorded_at
    within = after(origin, log) if end is None else before(end, after(origin, log))
    return Episode(
        work_id=str(origin.work_id),
        blocker_id=blocker_id(origin),
        opened=marked(origin),
        repeats=ids(raises(within)),
        end=(
            Censored(observed)
            if end is None
            else Recovered(marked(end), ids(causes_in_episode(end, origin, log)))
        ),
        elapsed=ended_at - origin.recorded_at,
    )


def blocked_since(log: Log) -> Mark | None:
    """Step 11: the earliest open origin."""
    origin = open_origin(log)
    return None if origin is None else marked(origin)


# --- readiness claims: section 3, step 8 ---------------------------------------------


def claim(event: Event, log: Log) -> Claim:
    """Section 4: a readiness claim and its verdict."""
    verdict, evidence, missing = judge(event, log)
    return Claim(
        work_id=str(event.work_id),
        event_id=event.event_id,
        claim=event.type,
        verdict=verdict,
        evidence=ids(evidence),
        missing=missing,
        rule="",
    )


def judge(event: Event, log: Log) -> Judgement:
    """Step 8: the first that applies."""
    named = event.artifact_revision
    outdated = first(later_changes_to_another(event, log))
    if outdated is not None:
        return "stale", (outdated,), ()
    if named is None:
        return "unbound", (), ()
    if not is_announced(named, log):
        return "unknown", (), ()
    if named != revision(log):
        return "stale", tuple(e for e in log if changes_revision(e, log))[-1:], ()
    return judge_by_results(required(event), deciding_results(named, log))


def later_changes_to_another(event: Event, log: Log) -> Log:
    """Step 8: later changes to a revision that the claim does not name; for none, any change."""
    return tuple(
        later
        for later in after(event, log)
        if changes_revision(later, log) and later.artifact_revision != event.artifact_revision
    )


def required(event: Event) -> tuple[str, ...]:
    assert isinstance(event.data, ReviewRequest)
    return event.data.requires


def judge_by_results(requires: tuple[str, ...], results: Log) -> Judgement:
    """Step 8: contradicted by any failure, else supported by passes, else missing them."""
    failures = tuple(one for one in results if check(one).outcome in FAILING)
    if failures:
        return "contradicted", failures, ()
    passes = tuple(one for one in results if check(one).outcome == "passed")
    passed = {check(one).check for one in passes}
    if not requires:
        return ("supported", passes, ()) if passes else ("missing", (), ("any check",))
    lacking = tuple(dict.fromkeys(name for name in requires if name not in passed))
    if lacking:
        return "missing", (), lacking
    return "supported", tuple(one for one in passes if check(one).check in requires), ()


def supported_claims(log: Log) -> Log:
    return tuple(
        event
        for event in log
        if event.type == "review.requested" and judge(event, log)[0] == "supported"
    )


# --- displayed state: section 3, steps 3, 10 and 11 ----------------------------------


def displayed_state(log: Log) -> WorkState | None:
    """Step 11: blocked, else awaiting review (step 10), else the base state."""
    if open_origin(log) is not None:
        return "blocked"
    if supported_claims(log):
        return "awaiting_review"
    return base_state(log)


def base_state(log: Log) -> WorkState | None:
    """Step 3: null, then proposed, then active."""
    setter = base_setter(log)
    if setter is None:
        return None
    return "active" if setter.type in ACTIVATING_TYPES else "proposed"


def base_setter(log: Log) -> Event | None:
    """Step 3: the event that last set the base state; what is active is not set again."""
    activating = first(event for event in log if event.type in ACTIVATING_TYPES)
    if activating is not None:
        return activating
    return first(event for event in log if event.type == "work.proposed")


def state_evidence(log: Log) -> tuple[str, ...]:
    """Section 4: the open origins, or the awaiting claims, else what set the base state."""
    origin = open_origin(log)
    if origin is not None:
        return (origin.event_id,)
    setter = base_setter(log)
    return ids(supported_claims(log)) or (() if setter is None else (setter.event_id,))


def derived(answer: Callable[[Log], str | None], evidence: tuple[str, ...], log: Log) -> Derived:
    """An answer with its evidence, since the event at which it last changed."""
    value = answer(log)
    return Derived(value, None if value is None else since(answer, log), "", evidence)


def since(answer: Callable[[Log], str | None], log: Log) -> Mark:
    """Step 11: the event from which on the answer, as the log grew, has been what it is."""
    value = answer(log)
    length = next(
        length
        for length in range(1, len(log) + 1)
        if all(answer(log[:longer]) == value for longer in range(length, len(log) + 1))
    )
    return marked(log[length - 1])


# --- links, anomalies, flags, corrections: section 3, step 1; section 4 --------------


def link_anomalies(log: Log, visible: Log) -> tuple[Anomaly, ...]:
    """Section 4: for every visible event of the item, one for each code, event and target."""
    return tuple(
        dict.fromkeys(
            Anomaly(code, event.event_id, (target,))
            for event in log
            for target in linked(event, visible)
            if (code := link_fault(event, target, visible)) is not None
        )
    )


def linked(event: Event, visible: Log) -> tuple[str, ...]:
    """Step 1: supersedes, causes, and those evidence references that are visible event ids."""
    known = ids(visible)
    superseded = () if event.supersedes is None else (event.supersedes,)
    return (*superseded, *event.causes, *(ref for ref in event.evidence_refs if ref in known))


def link_fault(event: Event, target: str, visible: Log) -> str | None:
    """Step 1: the first that applies; null for a valid link."""
    found = first(one for one in visible if one.event_id == target)
    if found is None:
        return "link_missing"
    if found.work_id != event.work_id:
        return "link_other_item"
    if found == event:
        return "link_self"
    return "link_forward" if found.recorded_sequence > event.recorded_sequence else None


def progress_while_blocked(log: Log) -> tuple[Anomaly, ...]:
    """Step 7: progress immediately after which an episode is open; related: its origin."""
    return tuple(
        Anomaly("progress_while_blocked", event.event_id, (origin.event_id,))
        for event in log
        if is_progress(event, log) and (origin := open_origin(through(event, log))) is not None
    )


def revision_reintroduced(log: Log) -> tuple[Anomaly, ...]:
    """Section 2: going back to an earlier revision; related: its first announcement."""
    return tuple(
        Anomaly(
            "revision_reintroduced",
            event.event_id,
            ids(announcements(log, event.artifact_revision)[:1]),
        )
        for event in log
        if changes_revision(event, log) and not is_first_announcement(event, log)
    )


def anachronistic(log: Log) -> tuple[Anomaly, ...]:
    """Step 4: a receipt that occurred before its revision's first announcement did."""
    return tuple(
        Anomaly("anachronistic", event.event_id, (announced.event_id,))
        for event in checks(log)
        if event.artifact_revision is not None
        and (announced := first(announcements(log, event.artifact_revision))) is not None
        and event.occurred_at is not None
        and announced.occurred_at is not None
        and event.occurred_at < announced.occurred_at
    )


def in_order(found: Iterable[Anomaly], visible: Log) -> tuple[Anomaly, ...]:
    """Section 4: by own sequence, then code, then related."""
    sequence = {event.event_id: event.recorded_sequence for event in visible}
    return tuple(sorted(found, key=lambda one: (sequence[one.event_id], one.code, one.related)))


def flags(log: Log, visible: Log) -> tuple[str, ...]:
    """Section 4: of the item's first visible event, and of the log's visible sequence."""
    sequences = {event.recorded_sequence for event in visible}
    gap = len(sequences) <= max(sequences) - min(sequences)
    return (
        *(("no_origin",) if log[0].type != "work.proposed" else ()),
        *(("possibly_incomplete",) if gap else ()),
    )


def corrections(log: Log) -> tuple[Correction, ...]:
    """Step 1: every event with a `supersedes`; those that are covered are inert and have no
    effect."""
    return tuple(
        Correction(
            work_id=str(event.work_id),
            event_id=event.event_id,
            target=event.supersedes,
            status="ineffective",
            reason=stated_reason(event),
        )
        for event in log
        if event.supersedes is not None
    )


def stated_reason(event: Event) -> str | None:
    """Section 4: its payload's, else null."""
    reason = event.payload.get("reason")
    return reason if isinstance(reason, str) else None
