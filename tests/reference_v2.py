"""An independent reference model of coordination/2, for tests.

It answers each question of the rule page (sections 2, 3 and 4) by searching, sentence by
sentence, with no running state.  What is displayed is a function of the first visible events
of an item, so `since` and what was displayed earlier are found by asking again at a shorter
log.  What is decided at a place is a function of the standing versions up to that place, so
the terminal state there is found by searching those.  It is slow and meant to be read beside
the page; pure functions are memoised, which changes no answer.

A `Log` is the visible events of one work item in sequence order, or an initial part of them.
A `Standing` is the standing versions of a log in order of place, or an initial part of them.
Functions of `(version, standing)` ask about a version of that standing.  Rule ids are left
empty: `without_rules` does the same to the projection that is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar

from replay.event import Blocker, Check, Event, Record, Review, ReviewRequest, StatusAssertion
from replay.history import Prefix
from replay.projection import (
    Anomaly,
    Cancelled,
    CancelledWithWork,
    Censored,
    Claim,
    Clocks,
    Correction,
    CorrectionStatus,
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
    Unassigned,
    Verdict,
    WorkState,
)

# what says nothing of judgement: order, marks, flags, and how projections are compared
from tests.reference_v1 import (
    flags,
    in_order,
    item_log,
    last_mark,
    marked,
    stated_reason,
    without_rules,
)

__all__ = ["project", "without_rules"]


class Version(Record, frozen=True, cache_hash=True):
    """Step 1: a standing version has its own id and content, at the sequence (`place`) and the
    recorded time of the original.  `causes` and `refs` are the places of its valid links."""

    event: Event
    place: int
    time: int
    causes: frozenset[int]
    refs: frozenset[int]

    @property
    def type(self) -> str:
        return self.event.type

    @property
    def revision(self) -> str | None:
        return self.event.artifact_revision


T = TypeVar("T")
Log: TypeAlias = tuple[Event, ...]
Standing: TypeAlias = tuple[Version, ...]
Judgement: TypeAlias = tuple[Verdict, Standing, tuple[str, ...]]
"""A verdict, its evidence, and what is missing."""

ACTIVATING_TYPES: Final = frozenset(
    {"work.started", "artifact.published", "check.completed", "blocker.raised"}
)
CLAIM_TYPES: Final = frozenset(
    {"review.requested", "work.completed", "blocker.resolved", "status.asserted"}
)
RECEIPT_TYPES: Final = frozenset({"check.completed", "review.completed"})
FAILING: Final = frozenset({"failed", "errored", "timed_out"})
DECIDING: Final = frozenset({"passed", "action_required"}) | FAILING
SUBSTANTIVE: Final = frozenset({"approved", "changes_requested"})
NO_EVIDENCE: Final[Judgement] = ("missing", (), ("evidence",))

memoised = lru_cache(maxsize=1 << 14)


def project(prefix: Prefix) -> Projection:
    """What coordination/2 says of a history at a cutoff.  Every class is covered."""
    visible = prefix.events
    work_ids = sorted({event.work_id for event in visible if event.work_id is not None})
    nameless = item_log(None, visible)
    return Projection(
        rules="coordination/2",
        facts=prefix.facts,
        items=tuple(item(work_id, prefix) for work_id in work_ids),
        unassigned=Unassigned(
            events=len(nameless),
            last_message=last_mark(nameless),
            anomalies=in_order(unassigned_anomalies(nameless, visible), visible),
        ),
        uncovered=(),
    )


def item(work_id: str, prefix: Prefix) -> Item:
    """Section 3: each work item is judged alone.  Section 4: what is shown of it."""
    log = item_log(work_id, prefix.events)
    versions = standing(log)
    found = [*visible_anomalies(log, prefix.events), *standing_anomalies(versions)]
    return Item(
        work_id=work_id,
        state=derived(displayed_state, ids(state_evidence(versions)), log),
        revision=derived(displayed_revision, ids(changes(versions)[-1:]), log),
        clocks=Clocks(marked(log[-1]), last_progress(versions), blocked_since(versions)),
        episodes=tuple(episode(v, versions, prefix.observed or 0) for v in origins(versions)),
        receipts=tuple(receipt(v, versions) for v in versions if v.type in RECEIPT_TYPES),
        claims=tuple(claim(v, versions, log) for v in versions if v.type in CLAIM_TYPES),
        corrections=tuple(correction(e, log) for e in log if e.supersedes is not None),
        anomalies=in_order(found, prefix.events),
        flags=flags(log, prefix.events),
    )


# --- links and corrections: step 1 ---------------------------------------------------


def named(event_id: str | None, events: Iterable[Event]) -> Event | None:
    """The event of that id."""
    return first(event for event in events if event.event_id == event_id)


def superseded(event: Event, log: Log) -> Event | None:
    """Step 1: the target of a valid `supersedes`: visible, of the item, recorded earlier."""
    target = named(event.supersedes, log)
    if target is None or target.recorded_sequence >= event.recorded_sequence:
        return None
    return target


def may_correct(event: Event, target: Event) -> bool:
    """Step 1: a retraction, or of its target's own type; an inert class never corrects."""
    return not event.inert and event.type in ("event.retracted", target.type)


def corrected(event: Event, log: Log) -> Event | None:
    """Step 1: the target of a correction, null for any other event."""
    target = superseded(event, log)
    if target is None or not may_correct(event, target) or event.principal != target.principal:
        return None
    return target


def original(event: Event, log: Log) -> Event:
    """Step 1: a replacement belongs to its target's place, down a chain to the original."""
    target = corrected(event, log)
    if target is None or event.type == "event.retracted":
        return event
    return original(target, log)


def place_of(event: Event, log: Log) -> int:
    """Step 1: the sequence of the original."""
    return original(event, log).recorded_sequence


def is_silenced(event: Event, log: Log) -> bool:
    """Step 1: a retraction that is not silenced silences its target."""
    return any(
        one.type == "event.retracted" and corrected(one, log) == event and not is_silenced(one, log)
        for one in log
        if one.supersedes == event.event_id
    )


def stands(event: Event, log: Log) -> bool:
    """Step 1: of the versions of a place that are not silenced, the last recorded."""
    versions = (one for one in log if place_of(one, log) == place_of(event, log))
    return last(one for one in versions if not is_silenced(one, log)) == event


@memoised
def standing(log: Log) -> Standing:
    """Step 1: the standing versions, in order of place."""
    found = (version(event, log) for event in log if stands(event, log))
    return tuple(sorted(found, key=lambda one: one.place))


def version(event: Event, log: Log) -> Version:
    """Step 1: with its own id and content, at the sequence and recorded time of the original."""
    place = original(event, log)
    return Version(
        event=event,
        place=place.recorded_sequence,
        time=place.recorded_at,
        causes=linked_places(event, event.causes, log),
        refs=linked_places(event, event.evidence_refs, log),
    )


def linked_places(event: Event, targets: Iterable[str], log: Log) -> frozenset[int]:
    """Step 1: links to any version of a place are links to the place; valid ones alone count."""
    found = (named(target, log) for target in targets)
    return frozenset(
        place_of(target, log)
        for target in found
        if target is not None
        and target.recorded_sequence < event.recorded_sequence
        and place_of(target, log) < place_of(event, log)
    )


def correction(event: Event, log: Log) -> Correction:
    """Section 4: an event with a `supersedes`, and what became of it."""
    return Correction(
        work_id=str(event.work_id),
        event_id=event.event_id,
        target=str(event.supersedes),
        status=correction_status(event, log),
        reason=stated_reason(event),
    )


def correction_status(event: Event, log: Log) -> CorrectionStatus:
    """Step 1: the first that applies."""
    if is_silenced(event, log):
        return "silenced"
    if corrected(event, log) is None:
        return "ineffective"
    if event.type == "event.retracted" or stands(event, log):
        return "applied"
    return "overtaken"


# --- searching the standing versions -------------------------------------------------


def before(version: Version, standing: Standing) -> Standing:
    """The versions at earlier places."""
    return tuple(one for one in standing if one.place < version.place)


def through(version: Version, standing: Standing) -> Standing:
    """The versions at earlier places, and this one."""
    return tuple(one for one in standing if one.place <= version.place)


def after(version: Version, standing: Standing) -> Standing:
    """The versions at later places."""
    return tuple(one for one in standing if one.place > version.place)


def of_type(type: str, standing: Standing) -> Standing:
    return tuple(one for one in standing if one.type == type)


def first(found: Iterable[T]) -> T | None:
    return next(iter(found), None)


def last(found: Iterable[T]) -> T | None:
    everything = tuple(found)
    return everything[-1] if everything else None


def ids(versions: Iterable[Version]) -> tuple[str, ...]:
    return tuple(one.event.event_id for one in versions)


def at_its_place(version: Version) -> Mark:
    """The version's own id, at the recorded time of the original."""
    return Mark(version.event.event_id, version.time)


def by_place(versions: Iterable[Version]) -> Standing:
    return tuple(sorted(versions, key=lambda one: one.place))


# --- terminal states: steps 2, 3 and 9 -----------------------------------------------


@memoised
def ending(standing: Standing) -> Version | None:
    """Steps 2, 3 and 9: the version that put the item in the terminal state that it is in: the
    first cancellation, or at which a completion claim is supported, since `work.reopened`.
    Whether or not that one cleared a terminal state, the item is in none immediately after."""
    reopened = last(of_type("work.reopened", standing))
    since_then = standing if reopened is None else after(reopened, standing)
    return first(
        one
        for one in since_then
        if one.type == "work.cancelled" or supported_completions(through(one, standing))
    )


def is_terminal(standing: Standing) -> bool:
    return ending(standing) is not None


def is_cancelled(standing: Standing) -> bool:
    ended = ending(standing)
    return ended is not None and ended.type == "work.cancelled"


def in_terminal_state(version: Version, standing: Standing) -> bool:
    """Step 2: whether the version is evaluated in a terminal state."""
    return is_terminal(before(version, standing))


def clears(version: Version, standing: Standing) -> bool:
    """Step 3: `work.reopened` in a terminal state."""
    return version.type == "work.reopened" and in_terminal_state(version, standing)


# --- revisions: section 2; step 4 ----------------------------------------------------


def current_revision(standing: Standing) -> str | None:
    """Section 2: the latest announced by sequence, never by name."""
    announced = last(of_type("artifact.published", standing))
    return None if announced is None else announced.revision


def announcements(name: str, standing: Standing) -> Standing:
    return tuple(one for one in of_type("artifact.published", standing) if one.revision == name)


def is_announced(name: str, standing: Standing) -> bool:
    return len(announcements(name, standing)) > 0


@memoised
def changes(standing: Standing) -> Standing:
    """Step 7: the announcements of another revision than the current; from none counts."""
    return tuple(
        one
        for one in of_type("artifact.published", standing)
        if one.revision != current_revision(before(one, standing))
    )


def changes_after(claimed: Version, standing: Standing) -> Standing:
    """Steps 8 and 9: later changes to a revision other than the claim names; naming none, any."""
    return tuple(
        one for one in after(claimed, changes(standing)) if one.revision != claimed.revision
    )


def current_at_its_place(version: Version, standing: Standing) -> bool:
    """Step 4: bound to the revision that the earlier places make current."""
    return version.revision is not None and version.revision == current_revision(
        before(version, standing)
    )


# --- receipts: steps 4 and 5 ---------------------------------------------------------


def check(version: Version) -> Check:
    assert isinstance(version.event.data, Check)
    return version.event.data


def outcome(version: Version) -> str:
    """The outcome of a check or of a review."""
    assert isinstance(version.event.data, Check | Review)
    return version.event.data.outcome


def receipt(version: Version, standing: Standing) -> Receipt:
    """Section 4: a completed check or review, with its status at the cutoff."""
    is_check = version.type == "check.completed"
    return Receipt(
        work_id=str(version.event.work_id),
        event_id=version.event.event_id,
        type=version.type,
        check=check(version).check if is_check else None,
        source=check(version).source if is_check else None,
        outcome=outcome(version),
        revision=version.revision,
        status=receipt_status(version, standing),
        principal=version.event.principal,
    )


def receipt_status(version: Version, standing: Standing) -> ReceiptStatus:
    """Step 4: the first that applies."""
    name = version.revision
    if name is None:
        return "unbound"
    if not is_announced(name, standing):
        return "revision_unknown"
    if name == current_revision(standing):
        return "current"
    if current_at_its_place(version, standing):
        return "superseded_by_revision"
    if not is_announced(name, before(version, standing)):
        return "superseded_by_revision"
    return "stale_on_arrival"


def same_check(one: Version, other: Version) -> bool:
    """Step 5: the same check and source."""
    return (check(one).check, check(one).source) == (check(other).check, check(other).source)


def same_reviewer(one: Version, other: Version) -> bool:
    """Step 9: the same principal and claimed author."""
    return (one.event.principal, one.event.claimed_author) == (
        other.event.principal,
        other.event.claimed_author,
    )


def latest_of_each(versions: Standing, same: Callable[[Version, Version], bool]) -> Standing:
    """Those that no later one is the same as."""
    return tuple(
        one for one in versions if not any(same(one, later) for later in after(one, versions))
    )


def latest_results(standing: Standing) -> Standing:
    """Step 9: the latest deciding, non-local result of each check and source."""
    candidates = tuple(
        one
        for one in of_type("check.completed", standing)
        if not check(one).local and outcome(one) in DECIDING
    )
    return latest_of_each(candidates, same_check)


def deciding_results(name: str, standing: Standing) -> Standing:
    """Step 5: those of a revision, current at the cutoff."""
    return latest_results(current_receipts(name, standing))


def current_receipts(name: str, standing: Standing) -> Standing:
    """Step 4: the receipts of a revision that are current at the cutoff."""
    return tuple(
        one
        for one in standing
        if one.type in RECEIPT_TYPES
        and one.revision == name
        and receipt_status(one, standing) == "current"
    )


def substantive_reviews(standing: Standing) -> Standing:
    """Steps 6, 9 and 10: reviews that approved or requested changes."""
    return tuple(
        one for one in of_type("review.completed", standing) if outcome(one) in SUBSTANTIVE
    )


def requesting_reviews(standing: Standing) -> Standing:
    """Step 9: the reviewers' latest substantive reviews, where these request changes."""
    return tuple(
        one
        for one in latest_of_each(substantive_reviews(standing), same_reviewer)
        if outcome(one) == "changes_requested"
    )


def failing(results: Standing) -> Standing:
    return tuple(one for one in results if outcome(one) in FAILING)


def passing(results: Standing) -> Standing:
    return tuple(one for one in results if outcome(one) == "passed")


# --- progress: step 6 ----------------------------------------------------------------


def is_progress(version: Version, standing: Standing) -> bool:
    """Step 6, decided at the event's place; step 2: not after a terminal state."""
    if in_terminal_state(version, standing):
        return False
    match version.type:
        case "artifact.published":
            return is_first_announcement(version, standing)
        case "check.completed":
            return is_news(version, standing, {"passed", "failed"}, DECIDING, same_check)
        case "review.completed":
            return is_news(version, standing, SUBSTANTIVE, SUBSTANTIVE, same_reviewer)
        case _:
            return False


def is_first_announcement(version: Version, standing: Standing) -> bool:
    """Step 6, P1: in a terminal state an artifact announces, too."""
    return not is_announced(str(version.revision), before(version, standing))


def is_news(
    version: Version,
    standing: Standing,
    counted: Iterable[str],
    compared: Iterable[str],
    same: Callable[[Version, Version], bool],
) -> bool:
    """Step 6, P2 and P3: of a counted outcome, current at its place, which does not repeat that
    of the latest receipt before it that is compared; those in a terminal state are not."""
    if outcome(version) not in counted or not current_at_its_place(version, standing):
        return False
    earlier = last(
        one
        for one in of_type(version.type, before(version, standing))
        if one.revision == version.revision
        and same(one, version)
        and outcome(one) in compared
        and current_at_its_place(one, standing)
        and not in_terminal_state(one, standing)
    )
    return earlier is None or outcome(earlier) != outcome(version)


def last_progress(standing: Standing) -> Progress | None:
    found = last(one for one in standing if is_progress(one, standing))
    return None if found is None else Progress(found.event.event_id, found.time, "")


# --- blocker episodes: step 7 --------------------------------------------------------


def blocker_id(version: Version) -> str | None:
    assert isinstance(version.event.data, Blocker)
    return version.event.data.blocker_id


def raises(blocker: str | None, standing: Standing) -> Standing:
    return tuple(one for one in of_type("blocker.raised", standing) if blocker_id(one) == blocker)


@memoised
def origins(standing: Standing) -> Standing:
    """Step 7: the raises that open an episode."""
    return tuple(one for one in of_type("blocker.raised", standing) if opens(one, standing))


def opens(raised: Version, standing: Standing) -> bool:
    """Step 7: no episode of its id is open; step 2: nor is the item in a terminal state."""
    if in_terminal_state(raised, standing):
        return False
    return open_origin(blocker_id(raised), before(raised, standing)) is None


@memoised
def open_origins(standing: Standing) -> Standing:
    """Step 7: several episodes can be open at once."""
    return tuple(one for one in origins(standing) if end_of(one, standing) is None)


def open_origin(blocker: str | None, standing: Standing) -> Version | None:
    return first(one for one in open_origins(standing) if blocker_id(one) == blocker)


def end_of(origin: Version, standing: Standing) -> Version | None:
    """Step 7: the first version after the origin that ends its episode."""
    return first(one for one in after(origin, standing) if ends(one, origin, standing))


def ends(version: Version, origin: Version, standing: Standing) -> bool:
    """Step 7: recovered, cancelled, or cancelled with the work; step 2: in no terminal state."""
    if in_terminal_state(version, standing):
        return False
    match version.type:
        case "blocker.cancelled":
            return blocker_id(version) == blocker_id(origin)
        case "work.cancelled":
            return True
        case _:
            return len(recovery_evidence(version, origin, standing)) > 0


def recovery_evidence(version: Version, origin: Version, standing: Standing) -> Standing:
    """Step 7: of a resumption its causes in the episode, of a resolution of that blocker the
    links that qualify; nothing else recovers."""
    if version.type == "blocker.resolved" and blocker_id(version) == blocker_id(origin):
        return qualifying_links(version, origin, standing)
    if is_resumption(version, standing):
        return causes_in_episode(version, origin, standing)
    return ()


def is_resumption(version: Version, standing: Standing) -> bool:
    """Step 7: a change of the revision, or a passed, non-local check current at its place."""
    if version.type == "artifact.published":
        return version in changes(standing)
    return (
        version.type == "check.completed"
        and outcome(version) == "passed"
        and not check(version).local
        and current_at_its_place(version, standing)
    )


def causes_in_episode(version: Version, origin: Version, standing: Standing) -> Standing:
    """Step 7: the raises of an episode, not ended before the version, that it names as causes."""
    return tuple(
        one
        for one in raises(blocker_id(origin), before(version, standing))
        if one.place >= origin.place and one.place in version.causes
    )


def qualifying_links(resolved: Version, origin: Version, standing: Standing) -> Standing:
    """Step 7: the resumptions after the origin that a resolution names, in either way."""
    return tuple(
        one
        for one in after(origin, before(resolved, standing))
        if one.place in resolved.causes | resolved.refs and is_resumption(one, standing)
    )


def episode(origin: Version, standing: Standing, observed: int) -> Episode:
    """Step 7: from its origin to its end, or to where observation ends."""
    end = end_of(origin, standing)
    within = standing if end is None else before(end, standing)
    return Episode(
        work_id=str(origin.event.work_id),
        blocker_id=blocker_id(origin),
        opened=at_its_place(origin),
        repeats=ids(after(origin, raises(blocker_id(origin), within))),
        end=Censored(observed) if end is None else how_ended(end, origin, standing),
        elapsed=(observed if end is None else end.time) - origin.time,
    )


def how_ended(end: Version, origin: Version, standing: Standing) -> EpisodeEnd:
    """Step 7: the four ends, less censoring."""
    match end.type:
        case "blocker.cancelled":
            return Cancelled(at_its_place(end))
        case "work.cancelled":
            return CancelledWithWork(at_its_place(end))
        case _:
            return Recovered(at_its_place(end), ids(recovery_evidence(end, origin, standing)))


def blocked_since(standing: Standing) -> Mark | None:
    """Step 11: the earliest open origin; null in a terminal state."""
    origin = None if is_terminal(standing) else first(open_origins(standing))
    return None if origin is None else at_its_place(origin)


# --- claims: steps 7, 8, 9 and 12 ----------------------------------------------------


def claim(version: Version, standing: Standing, log: Log) -> Claim:
    """Section 4: something said, its verdict, evidence, and what is missing."""
    verdict, evidence, missing = judge(version, standing, log)
    return Claim(
        work_id=str(version.event.work_id),
        event_id=version.event.event_id,
        claim=version.type,
        verdict=verdict,
        evidence=ids(evidence),
        missing=missing,
        rule="",
    )


def judge(version: Version, standing: Standing, log: Log) -> Judgement:
    match version.type:
        case "blocker.resolved":
            return judge_resolution(version, standing)
        case "review.requested":
            return judge_readiness(version, standing)
        case "work.completed":
            return judge_completion(version, standing)
        case _:
            return judge_assertion(version, log), (), ()


def judge_resolution(resolved: Version, standing: Standing) -> Judgement:
    """Step 7: judged once, at its place; step 2: `missing` in a terminal state."""
    earlier = before(resolved, standing)
    if is_terminal(earlier):
        return NO_EVIDENCE
    origin = last(one for one in origins(earlier) if blocker_id(one) == blocker_id(resolved))
    if origin is None:
        return NO_EVIDENCE
    end = end_of(origin, earlier)
    if end is None:
        links = qualifying_links(resolved, origin, standing)
        return ("supported", links, ()) if links else NO_EVIDENCE
    recovered = isinstance(how_ended(end, origin, earlier), Recovered)
    return ("supported", (), ()) if recovered else NO_EVIDENCE


def requires(requested: Version) -> tuple[str, ...]:
    assert isinstance(requested.event.data, ReviewRequest)
    return requested.event.data.requires


@memoised
def judge_readiness(requested: Version, standing: Standing) -> Judgement:
    """Step 8: the first that applies."""
    outdated = first(
        by_place(
            (
                *changes_after(requested, standing),
                *(one for one in after(requested, standing) if clears(one, standing)),
            )
        )
    )
    if outdated is not None:
        return "stale", (outdated,), ()
    return judge_of_revision(requested, standing, requires(requested), ())


def judge_of_revision(
    claimed: Version, standing: Standing, required: tuple[str, ...], requesting: Standing
) -> Judgement:
    """Steps 8 and 9, from `unbound` on; `requesting` are the reviews that contradict, too."""
    name = claimed.revision
    if name is None:
        return "unbound", (), ()
    if not is_announced(name, standing):
        return "unknown", (), ()
    if name != current_revision(standing):
        return "stale", changes(standing)[-1:], ()
    results = deciding_results(name, standing)
    against = by_place((*failing(results), *requesting))
    if against:
        return "contradicted", against, ()
    return judge_by_passes(passing(results), required)


def judge_by_passes(passes: Standing, required: tuple[str, ...]) -> Judgement:
    """Step 8: a deciding pass of every required check, or of any where none is required."""
    if not required:
        return ("supported", passes, ()) if passes else ("missing", (), ("any check",))
    passed = {check(one).check for one in passes}
    lacking = tuple(dict.fromkeys(name for name in required if name not in passed))
    if lacking:
        return "missing", (), lacking
    return "supported", tuple(one for one in passes if check(one).check in required), ()


def judge_completion(completed: Version, standing: Standing) -> Judgement:
    """Step 9: supported, as it was where it completed the item, until the next `work.reopened`;
    stale for good after it; a claim that completed nothing is judged as usual."""
    at = completed_at(completed, standing)
    if at is None:
        return judge_completion_as_usual(completed, standing)
    reopened = first(after(at, of_type("work.reopened", standing)))
    if reopened is not None:
        return "stale", (reopened,), ()
    return judge_completion_as_usual(completed, through(at, standing))


def completed_at(completed: Version, standing: Standing) -> Version | None:
    """Step 9: the version at which a claim, the earliest of those supported, completed the
    item."""
    return first(
        one
        for one in standing
        if not in_terminal_state(one, standing)
        and first(supported_completions(through(one, standing))) == completed
    )


@memoised
def supported_completions(standing: Standing) -> Standing:
    """Step 9: the completion claims that are supported where the item is in no terminal state."""
    return tuple(
        one
        for one in of_type("work.completed", standing)
        if judge_completion_as_usual(one, standing)[0] == "supported"
    )


@memoised
def judge_completion_as_usual(completed: Version, standing: Standing) -> Judgement:
    """Step 9: the first that applies, but for what completing the item does to the verdict."""
    if is_contradicted_for_good(completed, standing):
        return "contradicted", (), ()
    outdated = first(
        one for one in after(completed, standing) if outdates(one, completed, standing)
    )
    if outdated is not None:
        return "stale", (outdated,), ()
    if completed.revision is None and not of_type("artifact.published", standing):
        return judge_without_revision(completed, standing)
    return judge_of_revision(
        completed,
        standing,
        required_by_principal(completed, standing),
        requesting_reviews(current_receipts(str(completed.revision), standing)),
    )


def is_contradicted_for_good(completed: Version, standing: Standing) -> bool:
    """Step 9: at its place an episode is open or the item is cancelled."""
    earlier = before(completed, standing)
    return len(open_origins(earlier)) > 0 or is_cancelled(earlier)


def outdates(version: Version, completed: Version, standing: Standing) -> bool:
    """Step 9: what, after its place, makes a completion claim stale."""
    if version in changes_after(completed, standing) or clears(version, standing):
        return True
    if in_terminal_state(version, standing):
        return False
    if version.type == "review.completed":
        return outcome(version) == "changes_requested" and current_at_its_place(version, standing)
    return version.type in ("blocker.raised", "work.cancelled")


def judge_without_revision(completed: Version, standing: Standing) -> Judgement:
    """Step 9: of an item that never announced a revision, whatever revision receipts name."""
    results = latest_results(standing)
    against = by_place((*failing(results), *requesting_reviews(standing)))
    if against:
        return "contradicted", against, ()
    cited = tuple(
        one for one in passing(results) if one.place in completed.refs and one.revision is None
    )
    return ("supported", cited, ()) if cited else NO_EVIDENCE


def required_by_principal(completed: Version, standing: Standing) -> tuple[str, ...]:
    """Step 9: the `requires` of all readiness claims by the same principal for that revision."""
    return tuple(
        name
        for one in of_type("review.requested", standing)
        if one.event.principal == completed.event.principal and one.revision == completed.revision
        for name in requires(one)
    )


def judge_assertion(asserted: Version, log: Log) -> Verdict:
    """Step 12: compared with what is displayed at a cutoff, by default the claim's place."""
    assert isinstance(asserted.event.data, StatusAssertion)
    said = asserted.event.data
    as_of = asserted.place if said.as_of_sequence is None else said.as_of_sequence
    then = tuple(event for event in log if event.recorded_sequence <= as_of)
    if as_of > asserted.place or displayed_state(then) is None:
        return "not_comparable"
    agrees = said.state == displayed_state(then) and (
        said.revision is None or said.revision == displayed_revision(then)
    )
    return "supported" if agrees else "contradicted"


# --- displayed state and revision: steps 3, 10 and 11 --------------------------------


def displayed_state(log: Log) -> WorkState | None:
    """Step 11: terminal, else blocked, else awaiting review, else the base state."""
    versions = standing(log)
    if is_terminal(versions):
        return "cancelled" if is_cancelled(versions) else "complete"
    if open_origins(versions):
        return "blocked"
    return "awaiting_review" if awaiting_claims(versions) else base_state(versions)


def displayed_revision(log: Log) -> str | None:
    return current_revision(standing(log))


def awaiting_claims(standing: Standing) -> Standing:
    """Step 10: supported readiness claims with no later substantive review of their revision
    that is current at the cutoff."""
    return tuple(
        one
        for one in of_type("review.requested", standing)
        if judge_readiness(one, standing)[0] == "supported"
        and not after(one, substantive_reviews(current_receipts(str(one.revision), standing)))
    )


def base_state(standing: Standing) -> WorkState | None:
    """Step 3: null, then proposed, then active."""
    setter = base_setter(standing)
    if setter is None:
        return None
    return "proposed" if setter.type == "work.proposed" else "active"


def base_setter(standing: Standing) -> Version | None:
    """Step 3: the version that last set the base state outside a terminal state: the last that
    cleared one, else the first that made the item active, which is not set again, else the
    first proposal."""
    cleared = last(one for one in standing if clears(one, standing))
    if cleared is not None:
        return cleared
    activating = first(one for one in standing if one.type in ACTIVATING_TYPES)
    return activating or first(of_type("work.proposed", standing))


def state_evidence(standing: Standing) -> Standing:
    """Section 4: the completing claim or the cancelling event, else the open origins, else the
    awaiting readiness claims, else what last set the base state."""
    ended = ending(standing)
    if ended is not None and ended.type != "work.cancelled":
        return supported_completions(through(ended, standing))[:1]
    setter = base_setter(standing) if ended is None else ended
    base = () if setter is None else (setter,)
    if ended is not None:
        return base
    return open_origins(standing) or awaiting_claims(standing) or base


def derived(answer: Callable[[Log], str | None], evidence: tuple[str, ...], log: Log) -> Derived:
    """An answer with its evidence, since the event at which it last changed."""
    value = answer(log)
    if value is None:
        return Derived(None, None, "", ())
    return Derived(value, since(answer, log), "", evidence)


def since(answer: Callable[[Log], str | None], log: Log) -> Mark:
    """Step 11: the visible event at which the answer last changed as the log grew."""
    changed = last(
        event
        for length, event in enumerate(log, start=1)
        if answer(log[:length]) != answer(log[: length - 1])
    )
    assert changed is not None
    return marked(changed)


# --- anomalies: step 1; section 4 ----------------------------------------------------


def visible_anomalies(log: Log, visible: Log) -> tuple[Anomaly, ...]:
    """Section 4: of every visible event, one for each distinct code, event and target.  Places
    matter to `causes` and `evidence_refs` alone."""
    faults = (
        *link_faults(log, superseded_id, own_sequence, visible),
        *link_faults(log, lambda event: cited_ids(event, visible), place_in(log), visible),
    )
    return (*dict.fromkeys(faults), *other_principal(log))


def unassigned_anomalies(nameless: Log, visible: Log) -> tuple[Anomaly, ...]:
    """Section 4: one item for links, whose corrections have no effect, so that each event is at
    a place of its own."""
    faults = (
        *link_faults(nameless, superseded_id, own_sequence, visible),
        *link_faults(nameless, lambda event: cited_ids(event, visible), own_sequence, visible),
    )
    return tuple(dict.fromkeys(faults))


def superseded_id(event: Event) -> tuple[str, ...]:
    return () if event.supersedes is None else (event.supersedes,)


def cited_ids(event: Event, visible: Log) -> tuple[str, ...]:
    """Step 1: causes, and those evidence references that equal the id of a visible event."""
    known = {one.event_id for one in visible}
    return (*event.causes, *(ref for ref in event.evidence_refs if ref in known))


def own_sequence(event: Event) -> int:
    return event.recorded_sequence


def place_in(log: Log) -> Callable[[Event], int]:
    return lambda event: place_of(event, log)


def link_faults(
    log: Log,
    targets: Callable[[Event], tuple[str, ...]],
    place: Callable[[Event], int],
    visible: Log,
) -> tuple[Anomaly, ...]:
    return tuple(
        Anomaly(code, event.event_id, (target,))
        for event in log
        for target in targets(event)
        if (code := link_fault(event, named(target, visible), place)) is not None
    )


def link_fault(event: Event, target: Event | None, place: Callable[[Event], int]) -> str | None:
    """Step 1: the first that applies; null for a valid link."""
    if target is None:
        return "link_missing"
    if target.work_id != event.work_id:
        return "link_other_item"
    if target == event or place(target) == place(event):
        return "link_self"
    later = target.recorded_sequence > event.recorded_sequence
    return "link_forward" if later or place(target) > place(event) else None


def other_principal(log: Log) -> tuple[Anomaly, ...]:
    """Step 1: corrections that are ineffective because only the principal differs."""
    return tuple(
        Anomaly("other_principal", event.event_id, (target.event_id,))
        for event in log
        if (target := superseded(event, log)) is not None
        and may_correct(event, target)
        and event.principal != target.principal
    )


def standing_anomalies(standing: Standing) -> tuple[Anomaly, ...]:
    """Section 4: the other codes, for standing versions only."""
    return tuple(
        Anomaly(code, one.event.event_id, ids(related))
        for one in standing
        for code, applies in ANOMALIES.items()
        if (related := applies(one, standing)) is not None
    )


def after_terminal(version: Version, standing: Standing) -> Standing | None:
    """Step 2: any applied event but `work.reopened` and retractions."""
    exempt = version.event.inert or version.type in ("work.reopened", "event.retracted")
    return () if not exempt and in_terminal_state(version, standing) else None


def not_terminal(version: Version, standing: Standing) -> Standing | None:
    """Step 3: `work.reopened` elsewhere than in a terminal state."""
    reopened = version.type == "work.reopened"
    return () if reopened and not in_terminal_state(version, standing) else None


def no_open_episode(version: Version, standing: Standing) -> Standing | None:
    """Step 7: a resolution or cancellation with no open episode of its id."""
    if version.type not in ("blocker.resolved", "blocker.cancelled"):
        return None
    open_one = open_origin(blocker_id(version), before(version, standing))
    return () if open_one is None else None


def progress_while_blocked(version: Version, standing: Standing) -> Standing | None:
    """Step 7: progress immediately after which an episode is open; related: the open origins."""
    if not is_progress(version, standing):
        return None
    return open_origins(through(version, standing)) or None


def revision_reintroduced(version: Version, standing: Standing) -> Standing | None:
    """Section 2: going back to an earlier revision; related: its first announcement."""
    if version not in changes(standing) or is_first_announcement(version, standing):
        return None
    return announcements(str(version.revision), standing)[:1]


def anachronistic(version: Version, standing: Standing) -> Standing | None:
    """Step 4: a receipt that occurred before its revision's first announcement did."""
    if version.type not in RECEIPT_TYPES or version.revision is None:
        return None
    announced = announcements(version.revision, standing)[:1]
    times = [one.event.occurred_at for one in (version, *announced)]
    match times:
        case [int(received), int(known)] if received < known:
            return announced
        case _:
            return None


ANOMALIES: Final[dict[str, Callable[[Version, Standing], Standing | None]]] = {
    "after_terminal": after_terminal,
    "not_terminal": not_terminal,
    "no_open_episode": no_open_episode,
    "progress_while_blocked": progress_while_blocked,
    "revision_reintroduced": revision_reintroduced,
    "anachronistic": anachronistic,
}
"""Code to its rule: what is related to a version that the code applies to, else null."""
