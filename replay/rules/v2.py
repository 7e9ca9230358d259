"""coordination/2: concurrent blockers, claims, reviews, corrections, terminal states.

Decides, for every work item of any admitted log and at any cutoff, its state, revision,
three clocks, blocker episodes, receipts, claims and corrections.  It covers every class
of the contract, so nothing is undetermined.

Choices.  An item's events are read once, in sequence order, into a fold of its standing
versions.  A correction is the only thing that reaches back: it changes which version
stands at an earlier place, and the item's versions are folded again from there, in order
of place, on a checkpoint of the fold from before that place.
What was displayed at each sequence is kept as the log grows, since `since` and asserted
statuses ask for the belief of that time, not for today's.

This file is self-contained and frozen: it shares records with other rule sets and no
judgement.  The steps named in comments are those of the published order of evaluation.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, TypeVar

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
    Rule,
    RuleSet,
    Unassigned,
    Verdict,
)

ID: Final = "coordination/2"

FAILING: Final = frozenset({"failed", "errored", "timed_out"})
DECIDING: Final = FAILING | {"passed", "action_required"}
PASSING: Final = frozenset({"passed"})
REQUESTING: Final = frozenset({"changes_requested"})
SUBSTANTIVE: Final = REQUESTING | {"approved"}

LINKS = Rule(
    "2/links",
    "A link is valid when its target is visible, of the same item, recorded earlier and, for"
    " causes and evidence, at an earlier place; any other link has no effect and is an anomaly.",
)
CORRECTIONS = Rule(
    "2/corrections",
    "A retraction silences the event it names and a replacement stands in its target's place;"
    " only the principal who recorded an event corrects it.",
)
TERMINAL = Rule(
    "2/terminal",
    "After completion or cancellation only a reopening moves state, progress and episodes.",
)
REVISION = Rule(
    "2/revision",
    "The current revision is the latest announced by place, never by name.",
)
RECEIPT = Rule(
    "2/receipt",
    "A receipt is bound to a revision, and certifies only the revision that is current at the"
    " cutoff.",
)
DECIDING_RESULT = Rule(
    "2/deciding-result",
    "Of each check and source the latest current, non-local result that passed, failed,"
    " errored, timed out or required action decides.",
)
PROGRESS_REVISION = Rule("2/progress-revision", "The first announcement of a revision is progress.")
PROGRESS_CHECK = Rule(
    "2/progress-check",
    "A check that passed or failed on the revision current at its place is progress, unless it"
    " repeats the latest deciding outcome of that revision, check and source.",
)
PROGRESS_REVIEW = Rule(
    "2/progress-review",
    "A review that approved or requested changes of the revision current at its place is"
    " progress, unless it repeats that reviewer's latest substantive outcome for it.",
)
EPISODE = Rule(
    "2/episode",
    "A raise opens the episode of its blocker id or repeats the open one; it ends recovered,"
    " cancelled, or cancelled with the work, and is otherwise censored at the cutoff.",
)
RESOLUTION = Rule(
    "2/resolution",
    "A resolution is a claim: supported when it names a new revision or a passed check since the"
    " episode opened, or when the last episode of its id had recovered.",
)
READINESS = Rule(
    "2/readiness",
    "A review request is a claim: supported when every check it requires, or at least one,"
    " passed on the current revision that it names, and none fails.",
)
COMPLETION = Rule(
    "2/completion",
    "A completion is a claim: it completes the item at the first event at which the evidence on"
    " its revision supports it, with no blocker open and no reviewer asking for changes.",
)
ASSERTION = Rule(
    "2/assertion",
    "An asserted status is compared with what these rules display at the sequence it speaks of.",
)
STATE_TERMINAL = Rule(
    "2/state-terminal",
    "An item is complete or cancelled from the event that made it so until it is reopened.",
)
BLOCKED = Rule("2/state-blocked", "An item is blocked while any of its episodes is open.")
AWAITING = Rule(
    "2/state-awaiting-review",
    "An item that is not blocked awaits review while a readiness claim is supported and no later"
    " review of its revision approved it or requested changes.",
)
BASE = Rule(
    "2/state-base",
    "An item is proposed once proposed, and active once work started or was reopened, an"
    " artifact was published, a check completed or a blocker was raised.",
)

_Reviewer = tuple[str | None, str | None]


def project(prefix: Prefix) -> Projection:
    """Every answer of coordination/2 at the prefix's cutoff."""
    board = Board()
    for event in prefix.events:
        board.read(event)
    return board.projection(prefix)


class Board:
    """Every work item of a prefix, read event by event."""

    def __init__(self) -> None:
        self.visible: dict[str, Event] = {}
        self.items: dict[str, WorkItem] = {}
        self.unassigned: list[Event] = []

    def read(self, event: Event) -> None:
        self.visible[event.event_id] = event
        if event.work_id is None:
            self.unassigned.append(event)
            return
        item = self.items.get(event.work_id)
        if item is None:
            item = self.items[event.work_id] = WorkItem(event.work_id, self.visible)
        item.read(event)

    def last_unassigned(self) -> Mark | None:
        return _mark(self.unassigned[-1]) if self.unassigned else None

    def projection(self, prefix: Prefix) -> Projection:
        incomplete = _has_gap(prefix.events)
        observed = prefix.observed or 0  # null only where nothing is visible, so no item is
        events = self.unassigned
        # Their corrections have no effect, so each stands at its own place.
        anomalies = link_anomalies(events, Links(self.visible, {}))
        return Projection(
            rules=ID,
            facts=prefix.facts,
            items=tuple(self.items[w].item(observed, incomplete) for w in sorted(self.items)),
            unassigned=Unassigned(
                events=len(events),
                last_message=self.last_unassigned(),
                anomalies=_in_order(anomalies, self.visible),
            ),
            uncovered=(),
        )


# Step 1: links, places, and which version stands.


class Links:
    """Links of one item's events, resolved to places."""

    def __init__(self, visible: Mapping[str, Event], places: Mapping[str, int]) -> None:
        self.visible = visible
        self.places = places  # of replacements; every other event is its own place

    def place(self, event: Event) -> int:
        return self.places.get(event.event_id, event.recorded_sequence)

    def supersedes_fault(self, event: Event, target_id: str) -> str | None:
        """Why a `supersedes` is invalid, the first reason that applies; null when valid."""
        target = self.visible.get(target_id)
        if target is None:
            return "link_missing"
        if target.work_id != event.work_id:
            return "link_other_item"
        if target is event:
            return "link_self"
        return "link_forward" if _is_recorded_later(target, event) else None

    def citation_fault(self, event: Event, target_id: str) -> str | None:
        """The same for an entry of `causes` or `evidence_refs`."""
        target = self.visible.get(target_id)
        if target is None:
            return "link_missing"
        if target.work_id != event.work_id:
            return "link_other_item"
        place, cited = self.place(event), self.place(target)
        if cited < place:
            return "link_forward" if _is_recorded_later(target, event) else None
        return "link_self" if cited == place else "link_forward"

    def cited_places(self, event: Event, refs: Iterable[str]) -> set[int]:
        """The places that the valid ones of these links lead to."""
        return {
            self.place(self.visible[ref])
            for ref in refs
            if ref in self.visible and self.citation_fault(event, ref) is None
        }


class WorkItem:
    """One work item: its visible events, which of them stand, and the fold of those."""

    def __init__(self, work_id: str, visible: Mapping[str, Event]) -> None:
        self.work_id = work_id
        self.events: list[Event] = []
        self.originals: list[Event] = []  # those that are neither inert nor corrections
        self.linked: list[Event] = []  # those that link to anything
        self.places: dict[str, int] = {}
        self.links = Links(visible, self.places)
        self.versions: dict[int, list[Event]] = {}  # of places with replacements, in order
        self.retractions: list[Event] = []
        self.silenced: frozenset[str] = frozenset()
        self.fold = Fold(self.links)
        self.checkpoints: Checkpoints | None = None  # until the first correction, none
        self.displayed: list[Display] = []  # one entry a change, as the log grew
        self.state_since: Event | None = None
        self.revision_since: Event | None = None
        self.corrected_by: list[Event] = []  # each may have moved any answer

    def read(self, event: Event) -> None:
        self.events.append(event)
        if event.causes or event.evidence_refs or event.supersedes is not None:
            self.linked.append(event)
        if event.inert:
            return
        target = self._corrected(event)
        if target is None:
            self.originals.append(event)
            self._fold_next(event, event)
        else:
            self.corrected_by.append(event)
            place = self._correct(event, target)
            if place is not None:
                self._fold_again(place)
        self._note_displayed(event)

    def _corrected(self, event: Event) -> Event | None:
        """The event that this one corrects, if it is a correction."""
        target_id = event.supersedes
        if (
            target_id is None
            or event.inert
            or self.links.supersedes_fault(event, target_id) is not None
        ):
            return None
        target = self.links.visible[target_id]
        is_correction = (
            event.type in ("event.retracted", target.type) and event.principal == target.principal
        )
        return target if is_correction else None

    def _correct(self, event: Event, target: Event) -> int | None:
        """Apply a correction; the earliest place at which another version may stand now.

        None is there for a retraction of what is silenced already.
        """
        if event.type != "event.retracted":
            place = self.links.place(target)
            self.places[event.event_id] = place
            self.versions.setdefault(place, [target]).append(event)
            return place
        self.retractions.append(event)
        if target.event_id in self.silenced:
            return None
        silenced: set[str] = set()
        for retraction in reversed(self.retractions):
            if retraction.event_id not in silenced and retraction.supersedes is not None:
                silenced.add(retraction.supersedes)
        changed = silenced ^ self.silenced
        self.silenced = frozenset(silenced)
        return min(self.links.place(self.links.visible[event_id]) for event_id in changed)

    def _standing(self, original: Event) -> Event | None:
        """The version that stands at the place of an event that replaces none."""
        versions = self.versions.get(original.recorded_sequence, (original,))
        return next((v for v in reversed(versions) if v.event_id not in self.silenced), None)

    def _fold_next(self, original: Event, standing: Event | None) -> None:
        if standing is not None:
            self.fold.read(standing, original.recorded_sequence, original.recorded_at)
        if self.checkpoints is not None:
            self.checkpoints.note(self.fold, original.recorded_sequence)

    def _fold_again(self, place: int) -> None:
        if self.checkpoints is None:
            self.checkpoints = Checkpoints(self.links)
        self.fold, done = self.checkpoints.before(place)
        for original in self.originals[done:]:
            self._fold_next(original, self._standing(original))

    def _note_displayed(self, event: Event) -> None:
        state, revision = self.fold.value(), self.fold.current
        last = self.displayed[-1] if self.displayed else _NOTHING_DISPLAYED
        if state != last.state:
            self.state_since = event
        if revision != last.revision:
            self.revision_since = event
        if state != last.state or revision != last.revision:
            self.displayed.append(Display(event.recorded_sequence, state, revision))

    def displayed_at(self, sequence: int) -> Display:
        """What these rules displayed of the item at an earlier cutoff sequence."""
        index = bisect_right(self.displayed, sequence, key=lambda display: display.sequence)
        return self.displayed[index - 1] if index else _NOTHING_DISPLAYED

    # What follows is read off at the cutoff.

    def item(self, observed: int, incomplete: bool) -> Item:
        fold = self.fold
        flags = ["no_origin"] if self.has_no_origin() else []
        if incomplete:
            flags.append("possibly_incomplete")
        anomalies = [
            *link_anomalies(self.linked, self.links),
            *self.refused_corrections(self.linked),
            *fold.anomalies,
            *fold.anachronisms(),
        ]
        return Item(
            work_id=self.work_id,
            state=self.state(),
            revision=self.revision(),
            clocks=Clocks(self.last_message(), fold.progress, fold.blocked_since()),
            episodes=tuple(episode.record(self.work_id, observed) for episode in fold.opened),
            receipts=tuple(fold.receipts(self.work_id)),
            claims=tuple(self.claim(said) for said in fold.claims),
            corrections=tuple(self.corrections()),
            anomalies=_in_order(anomalies, self.links.visible),
            flags=tuple(flags),
        )

    def has_no_origin(self) -> bool:
        return self.events[0].type != "work.proposed"

    def last_message(self) -> Mark:
        return _mark(self.events[-1])

    def state(self) -> Derived:
        return self.fold.state(_mark_or_none(self.state_since))

    def revision(self) -> Derived:
        return self.fold.revision(_mark_or_none(self.revision_since))

    def claim(self, said: Said) -> Claim:
        if isinstance(said.event.data, StatusAssertion):
            judgement = self._judge_assertion(said.event.data, said.place)
        else:
            judgement = self.fold.judge(said)
        return Claim(
            self.work_id,
            said.event.event_id,
            said.event.type,
            judgement.verdict,
            judgement.evidence,
            judgement.missing,
            said.rule,
        )

    def _judge_assertion(self, asserted: StatusAssertion, place: int) -> Judgement:
        as_of = place if asserted.as_of_sequence is None else asserted.as_of_sequence
        displayed = self.displayed_at(as_of)
        if as_of > place or displayed.state is None:
            return Judgement("not_comparable")
        agrees = asserted.state == displayed.state and (
            asserted.revision is None or asserted.revision == displayed.revision
        )
        return Judgement("supported" if agrees else "contradicted")

    def corrections(self) -> Iterator[Correction]:
        for event in self.linked:
            yield from self.correction(event)

    def correction(self, event: Event) -> Iterator[Correction]:
        if event.supersedes is not None:
            yield Correction(
                self.work_id,
                event.event_id,
                event.supersedes,
                self._correction_status(event),
                _reason(event),
            )

    def _correction_status(self, event: Event) -> CorrectionStatus:
        # the first that applies
        if event.event_id in self.silenced:
            return "silenced"
        if self._corrected(event) is None:
            return "ineffective"
        if event.type == "event.retracted":
            return "applied"
        versions = self.versions[self.places[event.event_id]]
        last = next((v for v in reversed(versions) if v.event_id not in self.silenced), None)
        return "applied" if last is event else "overtaken"

    def refused_corrections(self, events: Iterable[Event]) -> Iterator[Anomaly]:
        """Those that are no correction only because another principal recorded the target."""
        for event in events:
            target_id = event.supersedes
            if event.inert or target_id is None or self.links.supersedes_fault(event, target_id):
                continue
            target = self.links.visible[target_id]
            if (
                event.type in ("event.retracted", target.type)
                and event.principal != target.principal
            ):
                yield Anomaly("other_principal", event.event_id, (target_id,))


class Checkpoints:
    """Copies of an item's fold at earlier places, ever sparser towards the beginning.

    A copy costs as much as reading a few versions, and more the more there were.
    """

    SPACING = 40  # versions between two copies, at least; a test makes it smaller
    MOST: Final = 16  # copies that are kept

    def __init__(self, links: Links) -> None:
        self.start = Fold(links)
        self.taken: list[tuple[int, int, Fold]] = []  # versions read, last place, fold
        self.read = 0
        self.due = self.SPACING  # versions read when the next copy is

    def note(self, fold: Fold, place: int) -> None:
        """Count a version that was read, and copy the fold once in a while."""
        self.read += 1
        if self.read >= self.due:
            self.taken.append((self.read, place, fold.copy()))
            if len(self.taken) > self.MOST:
                del self.taken[: self.MOST // 2 : 2]  # of the older half, every other one
            self._expect_next()

    def _expect_next(self) -> None:
        last = self.taken[-1][0] if self.taken else 0
        self.due = last + max(self.SPACING, last // 64)

    def before(self, place: int) -> tuple[Fold, int]:
        """The latest fold that had not reached the place, and how many versions it had read."""
        while self.taken and self.taken[-1][1] >= place:
            self.taken.pop()
        self.read, _, fold = self.taken[-1] if self.taken else (0, 0, self.start)
        self._expect_next()
        return fold.copy(), self.read


class Display(Record, frozen=True):
    """What was displayed from a sequence on."""

    sequence: int
    state: str | None
    revision: str | None


_NOTHING_DISPLAYED: Final = Display(0, None, None)


class Judgement(Record, frozen=True):
    verdict: Verdict
    evidence: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def is_supported(self) -> bool:
        return self.verdict == "supported"


class Said(Record, frozen=True):
    """A standing claim, its place and the rule that judges it."""

    event: Event
    place: int
    rule: str

    @property
    def is_completion(self) -> bool:
        return self.event.type == "work.completed"


class OpenedEpisode:
    """An episode while it is folded.  `at` is the recorded time of the origin's place."""

    def __init__(self, opened: Event, place: int, at: int, blocker_id: str | None) -> None:
        self.opened = opened
        self.place = place
        self.at = at
        self.blocker_id = blocker_id
        self.repeats: list[str] = []
        self.raises = {place: opened.event_id}
        self.end: EpisodeEnd | None = None

    def copy(self) -> OpenedEpisode:
        return _copied(self)

    def repeat(self, event: Event, place: int) -> None:
        self.repeats.append(event.event_id)
        self.raises[place] = event.event_id

    def record(self, work_id: str, observed: int) -> Episode:
        end: EpisodeEnd = Censored(observed) if self.end is None else self.end
        until = observed if isinstance(end, Censored) else end.by.time
        return Episode(
            work_id=work_id,
            blocker_id=self.blocker_id,
            opened=Mark(self.opened.event_id, self.at),
            repeats=tuple(self.repeats),
            end=end,
            elapsed=until - self.at,
        )


class Results:
    """The latest deciding, non-local result of each check and source, and their sums."""

    def __init__(self) -> None:
        self.latest: dict[tuple[str, str | None], tuple[int, Event]] = {}  # in order of place
        self.passes_by_check: dict[str, list[tuple[int, str]]] | None = None  # when asked
        self.passing: dict[str, int] = {}  # by check
        self.passed = 0
        self.failed = 0

    def copy(self) -> Results:
        return _copied(self)

    def add(self, event: Event, place: int, check: Check) -> None:
        self.passes_by_check = None
        before = self.latest.pop((check.check, check.source), None)
        if before is not None:
            self._count(before[1], -1)
        self.latest[check.check, check.source] = (place, event)
        self._count(event, 1)

    def _count(self, event: Event, step: int) -> None:
        check = _check(event)
        if check.outcome in FAILING:
            self.failed += step
        elif _passed(check):
            self.passed += step
            self.passing[check.check] = self.passing.get(check.check, 0) + step

    def passes(self, requires: Collection[str]) -> bool:
        if requires:
            return all(self.passing.get(check) for check in requires)
        return self.passed > 0

    def missing(self, requires: Collection[str]) -> tuple[str, ...]:
        if not requires:
            return ("any check",)
        lacking = (check for check in requires if not self.passing.get(check))
        return tuple(dict.fromkeys(lacking))

    def failures(self) -> Iterator[tuple[int, str]]:
        """Place and id of the results that fail."""
        for place, event in self.latest.values():
            if _check(event).outcome in FAILING:
                yield place, event.event_id

    def passes_of(self, requires: Collection[str]) -> Iterator[tuple[int, str]]:
        """Place and id of the passes of these checks, of all where none is required."""
        if self.passes_by_check is None:
            self.passes_by_check = {}
            for (check, _), (place, event) in self.latest.items():
                if _passed(_check(event)):
                    self.passes_by_check.setdefault(check, []).append((place, event.event_id))
        for check in dict.fromkeys(requires or self.passes_by_check):
            yield from self.passes_by_check.get(check, ())

    def is_latest(self, event: Event) -> bool:
        check = _check(event)
        found = self.latest.get((check.check, check.source))
        return found is not None and found[1] is event


class Reviews:
    """The latest substantive review of each reviewer: principal and claimed author."""

    def __init__(self) -> None:
        self.latest: dict[_Reviewer, tuple[int, Event]] = {}
        self.last_place = 0  # before any, since sequences begin at 1
        self.requesting = 0

    def copy(self) -> Reviews:
        return _copied(self)

    def add(self, event: Event, place: int) -> None:
        before = self.latest.get((event.principal, event.claimed_author))
        if before is not None:
            self.requesting -= _requests_changes(before[1])
        self.requesting += _requests_changes(event)
        self.latest[event.principal, event.claimed_author] = (place, event)
        self.last_place = place

    def requests(self) -> Iterator[tuple[int, str]]:
        """Place and id of the reviews that still request changes."""
        for place, event in self.latest.values():
            if _requests_changes(event):
                yield place, event.event_id


def _copied(record: _R) -> _R:
    """A copy that shares no container with its original, by type: no field can be forgotten."""
    other = object.__new__(type(record))
    fields = other.__dict__
    for name, value in record.__dict__.items():
        fields[name] = value.copy() if type(value) in _BUILT_IN else value
    return other


_BUILT_IN: Final = frozenset({list, dict})
_K = TypeVar("_K")
_R = TypeVar("_R")
_V = TypeVar("_V", Results, Reviews, dict[str, None])
_NO_RESULTS: Final = Results()
_NO_REVIEWS: Final = Reviews()


class Fold:
    """One item's standing versions, read in order of place."""

    def __init__(self, links: Links) -> None:
        self.links = links
        self.anomalies: list[Anomaly] = []
        self.base: tuple[str, Event] | None = None
        self.terminal: tuple[str, Event] | None = None  # with the claim or the cancellation
        self.announced: dict[str, Event] = {}
        self.current: str | None = None
        self.changed_by: Event | None = None
        # receipts
        self.received: list[tuple[Event, bool]] = []  # with: may be superseded, not stale
        self.results: dict[str, Results] = {}  # by revision
        self.reviews: dict[str, Reviews] = {}
        self.all_results = Results()  # whatever revision they name
        self.all_reviews = Reviews()
        self.unbound_passes: dict[int, Event] = {}  # by place, passed checks of no revision
        self.check_outcome: dict[tuple[str | None, str, str | None], str] = {}
        self.review_outcome: dict[tuple[str | None, _Reviewer], str] = {}
        self.progress: Progress | None = None
        # episodes
        self.open: dict[str | None, OpenedEpisode] = {}  # in order of origin
        self.opened: list[OpenedEpisode] = []
        self.last_ended: dict[str | None, OpenedEpisode] = {}
        self.raised: dict[int, OpenedEpisode] = {}  # by place, the raises of open episodes
        self.touched: list[OpenedEpisode] = []  # at each raise and end, for who asks what moved
        self.resuming: dict[int, str] = {}  # places of new revisions and passed current checks
        # claims
        self.claims: list[Said] = []
        self.settled: dict[int, Judgement] = {}  # by place of a claim, its last word
        self.ready: list[Said] = []  # readiness claims not made stale so far
        self.awaited: dict[tuple[str, ...], int] = {}  # by requires: the latest place claimed
        self.requires: dict[tuple[str | None, str | None], dict[str, None]] = {}
        self.pending: dict[str | None, dict[tuple[object, ...], list[Said]]] = {}
        # completion claims not made stale so far, by revision and by what _alike says
        self.completing: Said | None = None
        self.owned: set[object] = set()  # values of shared containers that no copy holds
        self.evidence: object  # another one once anything changed on which a verdict can rest
        self.awaits: bool | None  # whether review is awaited, as of this evidence; null: not asked
        self.judged: bool  # whether no completion claim is supported by this evidence
        self._note_evidence()

    def copy(self) -> Fold:
        """A fold that reads on by itself.  What is large and seldom changes is shared."""
        other = Fold.__new__(Fold)
        fields = other.__dict__
        fields.update(self.__dict__)
        for name in _CONTAINERS:
            fields[name] = fields[name].copy()
        self.owned, other.owned = set(), set()
        copies = {episode.place: episode.copy() for episode in self.open.values()}
        other.open = {blocker_id: copies[e.place] for blocker_id, e in self.open.items()}
        other.opened = [copies.get(episode.place, episode) for episode in self.opened]
        other.raised = {place: copies[e.place] for place, e in self.raised.items()}
        other.touched = []
        other.pending = {
            revision: {key: [*claims] for key, claims in alike.items()}
            for revision, alike in self.pending.items()
        }
        return other

    def _own(self, container: dict[_K, _V], key: _K, new: Callable[[], _V]) -> _V:
        """The value of a shared container, copied before its first change here."""
        if (id(container), key) not in self.owned:
            self.owned.add((id(container), key))
            container[key] = container[key].copy() if key in container else new()
        return container[key]

    def read(self, event: Event, place: int, at: int) -> None:
        """Take in the version that stands at the next place."""
        step = _STEPS.get(event.type)
        if step is None:
            return
        if self.terminal is not None and event.type != "work.reopened":
            self.anomalies.append(Anomaly("after_terminal", event.event_id))
        before = self.progress
        step(self, event, place, at)
        if self.pending and self.terminal is None:
            self._complete_if_supported(place)
        if self.progress is not before and self.open:
            origins = tuple(episode.opened.event_id for episode in self.open.values())
            self.anomalies.append(Anomaly("progress_while_blocked", event.event_id, origins))

    def _note_evidence(self) -> None:
        """Something changed on which a verdict can rest."""
        self.evidence = object()
        self.awaits = None
        self.judged = False

    # Steps 2 and 3: base and terminal states.

    def _propose(self, event: Event, place: int, at: int) -> None:
        if self.terminal is None and self.base is None:
            self.base = ("proposed", event)

    def _start(self, event: Event, place: int, at: int) -> None:
        self._activate(event)

    def _activate(self, event: Event) -> None:
        if self.terminal is None and (self.base is None or self.base[0] != "active"):
            self.base = ("active", event)

    def _cancel_work(self, event: Event, place: int, at: int) -> None:
        if self.terminal is not None:
            return
        for blocker_id in list(self.open):
            self._end(blocker_id, CancelledWithWork(Mark(event.event_id, at)))
        self._make_completions_stale(event)
        self.terminal = ("cancelled", event)
        self._note_evidence()

    def _reopen(self, event: Event, place: int, at: int) -> None:
        if self.terminal is None:
            self.anomalies.append(Anomaly("not_terminal", event.event_id))
            return
        self.terminal = None
        self.base = ("active", event)
        self._note_evidence()
        stale = Judgement("stale", (event.event_id,))
        if self.completing is not None:
            self.settled[self.completing.place] = stale
            self.completing = None
        for claim in self.ready:
            self.settled[claim.place] = stale
        self.ready, self.awaited = [], {}
        self._make_completions_stale(event)

    # Revisions.

    def _publish(self, event: Event, place: int, at: int) -> None:
        revision = event.artifact_revision
        assert revision is not None  # the contract requires it of this class
        first = self.announced.setdefault(revision, event)
        is_first = first is event
        if is_first and self.terminal is None:
            self.progress = Progress(event.event_id, at, PROGRESS_REVISION.id)
        if revision != self.current:
            if not is_first:
                self.anomalies.append(
                    Anomaly("revision_reintroduced", event.event_id, (first.event_id,))
                )
            self.current, self.changed_by = revision, event
            self._note_evidence()
            self.resuming[place] = event.event_id
            self._make_claims_stale(revision, event)
            self._recover(event, at)
        self._activate(event)

    def _make_claims_stale(self, revision: str, by: Event) -> None:
        stale = Judgement("stale", (by.event_id,))
        for claim in self.ready:
            if claim.event.artifact_revision != revision:
                self.settled[claim.place] = stale
        self.ready = [c for c in self.ready if c.event.artifact_revision == revision]
        self.awaited = {_request(c.event).requires: c.place for c in self.ready}
        for other in [other for other in self.pending if other != revision]:
            for claims in self.pending.pop(other).values():
                self.settled.update((claim.place, stale) for claim in claims)

    # Steps 4 to 6: receipts and progress.

    def _receive(self, event: Event) -> bool:
        """List a receipt; whether its revision is the current one at its place."""
        revision = event.artifact_revision
        is_current = revision is not None and revision == self.current
        self.received.append((event, is_current or revision not in self.announced))
        return is_current

    def _complete_check(self, event: Event, place: int, at: int) -> None:
        check = _check(event)
        is_current = self._receive(event)
        if check.outcome in DECIDING:
            revision = event.artifact_revision
            if not check.local:
                self._note_evidence()
                self.all_results.add(event, place, check)
                if revision is not None:
                    self._own(self.results, revision, Results).add(event, place, check)
                elif _passed(check):
                    self.unbound_passes[place] = event
            if is_current:
                self._pass_or_fail(event, place, at, check)
        self._activate(event)

    def _pass_or_fail(self, event: Event, place: int, at: int, check: Check) -> None:
        if _passed(check) and not check.local:
            self.resuming[place] = event.event_id
        if self.terminal is not None:
            return
        kind = (event.artifact_revision, check.check, check.source)
        repeats = self.check_outcome.get(kind) == check.outcome
        if check.outcome in ("passed", "failed") and not repeats:
            self.progress = Progress(event.event_id, at, PROGRESS_CHECK.id)
        self.check_outcome[kind] = check.outcome
        if _passed(check) and not check.local:
            self._recover(event, at)

    def _complete_review(self, event: Event, place: int, at: int) -> None:
        outcome = _review(event).outcome
        is_current = self._receive(event)
        if outcome not in SUBSTANTIVE:
            return
        revision = event.artifact_revision
        self._note_evidence()
        self.all_reviews.add(event, place)
        if revision is not None:
            self._own(self.reviews, revision, Reviews).add(event, place)
        if not is_current or self.terminal is not None:
            return
        kind = (revision, (event.principal, event.claimed_author))
        if self.review_outcome.get(kind) != outcome:
            self.progress = Progress(event.event_id, at, PROGRESS_REVIEW.id)
        self.review_outcome[kind] = outcome
        if _requests_changes(event):
            self._make_completions_stale(event)

    # Step 7: episodes.

    def _raise(self, event: Event, place: int, at: int) -> None:
        if self.terminal is not None:
            return
        blocker_id = _blocker(event).blocker_id
        episode = self.open.get(blocker_id)
        if episode is None:
            episode = OpenedEpisode(event, place, at, blocker_id)
            self.open[blocker_id] = episode
            self.opened.append(episode)
        else:
            episode.repeat(event, place)
        self.raised[place] = episode
        self.touched.append(episode)
        self._make_completions_stale(event)
        self._activate(event)

    def _recover(self, event: Event, at: int) -> None:
        """End every open episode in which the event has a valid cause."""
        if self.terminal is not None or not self.open or not event.causes:
            return
        causes: dict[str | None, list[str]] = {}
        for place in sorted(self.links.cited_places(event, event.causes)):
            episode = self.raised.get(place)
            if episode is not None:
                causes.setdefault(episode.blocker_id, []).append(episode.raises[place])
        for blocker_id, raises in causes.items():
            self._end(blocker_id, Recovered(Mark(event.event_id, at), tuple(raises)))

    def _resolve(self, event: Event, place: int, at: int) -> None:
        blocker_id = _blocker(event).blocker_id
        episode = self.open.get(blocker_id)
        judgement = Judgement("missing", (), ("evidence",))
        if episode is not None:
            places = self.links.cited_places(event, (*event.causes, *event.evidence_refs))
            since = sorted(p for p in places if p > episode.place and p in self.resuming)
            links = tuple(self.resuming[p] for p in since)
            if links:
                self._end(blocker_id, Recovered(Mark(event.event_id, at), links))
                judgement = Judgement("supported", links)
        else:
            self.anomalies.append(Anomaly("no_open_episode", event.event_id))
            last = self.last_ended.get(blocker_id)
            if self.terminal is None and last is not None and isinstance(last.end, Recovered):
                judgement = Judgement("supported")
        self.claims.append(Said(event, place, RESOLUTION.id))
        self.settled[place] = judgement

    def _cancel_blocker(self, event: Event, place: int, at: int) -> None:
        blocker_id = _blocker(event).blocker_id
        if blocker_id in self.open:
            self._end(blocker_id, Cancelled(Mark(event.event_id, at)))
        else:
            self.anomalies.append(Anomaly("no_open_episode", event.event_id))

    def _end(self, blocker_id: str | None, end: EpisodeEnd) -> None:
        episode = self.open.pop(blocker_id)
        episode.end = end
        self.last_ended[blocker_id] = episode
        self.touched.append(episode)
        for place in episode.raises:
            del self.raised[place]

    # Steps 8 and 10: readiness.

    def _request_review(self, event: Event, place: int, at: int) -> None:
        requires = _request(event).requires
        claim = Said(event, place, READINESS.id)
        self.claims.append(claim)
        self.ready.append(claim)
        if event.artifact_revision is not None:
            by = (event.principal, event.artifact_revision)
            self._own(self.requires, by, dict[str, None]).update(dict.fromkeys(requires))
            if (event.principal,) in self.pending.get(event.artifact_revision, {}):
                self._note_evidence()  # a completion claim may lack more now
            if event.artifact_revision == self.current:
                self._await(requires, place)

    def _judge_readiness(self, event: Event) -> Judgement:
        revision = event.artifact_revision
        unusable = self._unusable(revision)
        if unusable is not None:
            return unusable
        results = self.results.get(revision or "", _NO_RESULTS)
        requires = _request(event).requires
        if results.failed:
            return Judgement("contradicted", _by_place(results.failures()))
        if results.passes(requires):
            return Judgement("supported", _by_place(results.passes_of(requires)))
        return Judgement("missing", (), results.missing(requires))

    def _unusable(self, revision: str | None) -> Judgement | None:
        """Why no evidence can bear on a claim of this revision; null when it can."""
        if revision is None:
            return Judgement("unbound")
        if revision not in self.announced:
            return Judgement("unknown")
        if revision != self.current:
            assert self.changed_by is not None
            return Judgement("stale", (self.changed_by.event_id,))
        return None

    def _await(self, requires: tuple[str, ...], place: int) -> None:
        """Note a readiness claim of the current revision."""
        self.awaited[requires] = place
        if self.awaits is not None:
            self.awaits = self.awaits or self._is_awaited(requires, place)

    def _awaits_review(self) -> bool:
        if self.awaits is None:
            self.awaits = any(self._is_awaited(*awaited) for awaited in self.awaited.items())
        return self.awaits

    def _is_awaited(self, requires: tuple[str, ...], place: int) -> bool:
        """Whether a readiness claim of the current revision is supported and not yet reviewed."""
        results = self.results.get(self.current or "", _NO_RESULTS)
        return self._is_unreviewed(place) and not results.failed and results.passes(requires)

    def _is_unreviewed(self, place: int) -> bool:
        """Whether no review of the current revision decided since."""
        return place > self.reviews.get(self.current or "", _NO_REVIEWS).last_place

    # Step 9: completion.

    def _claim_completion(self, event: Event, place: int, at: int) -> None:
        claim = Said(event, place, COMPLETION.id)
        self.claims.append(claim)
        if self.open or (self.terminal is not None and self.terminal[0] == "cancelled"):
            self.settled[place] = Judgement("contradicted")
            return
        alike = self.pending.setdefault(event.artifact_revision, {})
        alike.setdefault(self._alike(event), []).append(claim)

    def _alike(self, event: Event) -> tuple[object, ...]:
        """What completion claims of one revision have in common that are judged alike."""
        if event.artifact_revision is not None:
            return (event.principal,)
        return tuple(sorted(self.links.cited_places(event, event.evidence_refs)))

    def _make_completions_stale(self, by: Event) -> None:
        if not self.pending:
            return
        stale = Judgement("stale", (by.event_id,))
        for alike in self.pending.values():
            for claims in alike.values():
                self.settled.update((claim.place, stale) for claim in claims)
        self.pending = {}
        self._note_evidence()

    def _complete_if_supported(self, place: int) -> None:
        """Complete the item by the earliest completion claim that is supported now."""
        # a claim of any other revision is stale or unknown; where none was announced, both
        # are null, and it is those that name none which evidence can support
        groups = self.pending.get(self.current, {})
        candidates = [claims[0] for claims in groups.values()]
        if self.judged:  # only what this event itself claims is new
            newest = self.claims[-1]
            is_new = newest.place == place and newest.is_completion
            can_be = newest.event.artifact_revision == self.current and place not in self.settled
            candidates = [newest] if is_new and can_be else []
        self.judged = True
        supported = [claim for claim in candidates if self._supports(claim.event)]
        if not supported:
            return
        claim = min(supported, key=lambda claim: claim.place)
        self.settled[claim.place] = self._judge_completion(claim.event)
        self.completing = claim
        self.terminal = ("complete", claim.event)
        self._note_evidence()
        alike = groups[self._alike(claim.event)]
        alike.remove(claim)
        if not alike:
            del groups[self._alike(claim.event)]

    def _supports(self, event: Event) -> bool:
        """Whether a completion claim that is not stale is supported, with no list made."""
        if event.artifact_revision is None:
            return self._judge_unversioned(event).is_supported
        results = self.results.get(event.artifact_revision, _NO_RESULTS)
        reviews = self.reviews.get(event.artifact_revision, _NO_REVIEWS)
        if results.failed or reviews.requesting:
            return False
        return results.passes(self.requires.get((event.principal, event.artifact_revision), {}))

    def _judge_completion(self, event: Event) -> Judgement:
        revision = event.artifact_revision
        if revision is None and not self.announced:
            return self._judge_unversioned(event)
        unusable = self._unusable(revision)
        if unusable is not None:
            return unusable
        results = self.results.get(revision or "", _NO_RESULTS)
        reviews = self.reviews.get(revision or "", _NO_REVIEWS)
        if results.failed or reviews.requesting:
            against = (*results.failures(), *reviews.requests())
            return Judgement("contradicted", _by_place(against))
        requires = self.requires.get((event.principal, revision), {})
        if results.passes(requires):
            return Judgement("supported", _by_place(results.passes_of(requires)))
        return Judgement("missing", (), results.missing(requires))

    def _judge_unversioned(self, event: Event) -> Judgement:
        """A claim that names no revision, of an item that never announced one."""
        results, reviews = self.all_results, self.all_reviews
        if results.failed or reviews.requesting:
            against = (*results.failures(), *reviews.requests())
            return Judgement("contradicted", _by_place(against))
        cited = sorted(self.links.cited_places(event, event.evidence_refs))
        found = tuple(self.unbound_passes[place] for place in cited if place in self.unbound_passes)
        passed = tuple(result.event_id for result in found if results.is_latest(result))
        if passed:
            return Judgement("supported", passed)
        return Judgement("missing", (), ("evidence",))

    # Step 12.

    def _assert_status(self, event: Event, place: int, at: int) -> None:
        self.claims.append(Said(event, place, ASSERTION.id))

    # Step 11, and what is read off at the cutoff.

    def value(self) -> str | None:
        """The displayed state as the log stands."""
        if self.terminal is not None:
            return self.terminal[0]
        if self.open:
            return "blocked"
        if self.awaited and self._awaits_review():
            return "awaiting_review"
        return None if self.base is None else self.base[0]

    def state(self, since: Mark | None) -> Derived:
        match self.value():
            case "complete" | "cancelled" as value if self.terminal is not None:
                return Derived(value, since, STATE_TERMINAL.id, (self.terminal[1].event_id,))
            case "blocked" as value:
                origins = tuple(episode.opened.event_id for episode in self.open.values())
                return Derived(value, since, BLOCKED.id, origins)
            case "awaiting_review" as value:
                return Derived(value, since, AWAITING.id, tuple(self._awaiting()))
            case value if self.base is not None:
                return Derived(value, since, BASE.id, (self.base[1].event_id,))
        return Derived(None, None, BASE.id)

    def _awaiting(self) -> Iterator[str]:
        for claim in self.ready:
            if self._is_unreviewed(claim.place) and self.judge(claim).is_supported:
                yield claim.event.event_id

    def revision(self, since: Mark | None) -> Derived:
        if self.changed_by is None:
            return Derived(None, None, REVISION.id)
        return Derived(self.current, since, REVISION.id, (self.changed_by.event_id,))

    def blocked_since(self) -> Mark | None:
        for episode in self.open.values():
            return Mark(episode.opened.event_id, episode.at)
        return None

    def judge(self, claim: Said) -> Judgement:
        """A readiness, completion or resolution claim as it stands."""
        final = self.settled.get(claim.place)
        if final is not None:
            return final
        if isinstance(claim.event.data, ReviewRequest):
            return self._judge_readiness(claim.event)
        return self._judge_completion(claim.event)

    def receipts(self, work_id: str) -> Iterator[Receipt]:
        for event, overtaken in self.received:
            yield self.receipt(work_id, event, overtaken)

    def receipt(self, work_id: str, event: Event, overtaken: bool) -> Receipt:
        check = event.data if isinstance(event.data, Check) else None
        return Receipt(
            work_id,
            event.event_id,
            event.type,
            None if check is None else check.check,
            None if check is None else check.source,
            _review(event).outcome if check is None else check.outcome,
            event.artifact_revision,
            self._status(event.artifact_revision, overtaken),
            event.principal,
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

    def anachronisms(self) -> Iterator[Anomaly]:
        for event, _ in self.received:
            yield from self.anachronism(event)

    def anachronism(self, event: Event) -> Iterator[Anomaly]:
        first = self.announced.get(event.artifact_revision or "")
        if first is None or event.occurred_at is None or first.occurred_at is None:
            return
        if event.occurred_at < first.occurred_at:
            yield Anomaly("anachronistic", event.event_id, (first.event_id,))


# By type, so that no field can be forgotten; found once, since copies are many.
_CONTAINERS: Final = tuple(
    name
    for name, value in Fold(Links({}, {})).__dict__.items()
    if isinstance(value, (list, dict, Results, Reviews))
)

_STEPS: Final[dict[str, Callable[[Fold, Event, int, int], None]]] = {
    "work.proposed": Fold._propose,
    "work.started": Fold._start,
    "work.reopened": Fold._reopen,
    "work.completed": Fold._claim_completion,
    "work.cancelled": Fold._cancel_work,
    "artifact.published": Fold._publish,
    "check.completed": Fold._complete_check,
    "blocker.raised": Fold._raise,
    "blocker.resolved": Fold._resolve,
    "blocker.cancelled": Fold._cancel_blocker,
    "review.requested": Fold._request_review,
    "review.completed": Fold._complete_review,
    "status.asserted": Fold._assert_status,
}


def link_anomalies(events: Iterable[Event], links: Links) -> Iterator[Anomaly]:
    for event in events:
        if event.supersedes is None and not event.causes and not event.evidence_refs:
            continue
        faults: dict[tuple[str, str], None] = {}  # one for each distinct code and target
        if event.supersedes is not None:
            fault = links.supersedes_fault(event, event.supersedes)
            if fault is not None:
                faults[fault, event.supersedes] = None
        # an entry of evidence_refs that equals no visible event id is plain text
        refs = (ref for ref in event.evidence_refs if ref in links.visible)
        for target in (*event.causes, *refs):
            fault = links.citation_fault(event, target)
            if fault is not None:
                faults[fault, target] = None
        for fault, target in faults:
            yield Anomaly(fault, event.event_id, (target,))


def _in_order(anomalies: Iterable[Anomaly], visible: Mapping[str, Event]) -> tuple[Anomaly, ...]:
    return tuple(
        sorted(
            anomalies,
            key=lambda a: (visible[a.event_id].recorded_sequence, a.code, a.related),
        )
    )


def _is_recorded_later(event: Event, than: Event) -> bool:
    return event.recorded_sequence > than.recorded_sequence


def _by_place(results: Iterable[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(event_id for _, event_id in sorted(results))


def _has_gap(events: tuple[Event, ...]) -> bool:
    if not events:
        return False
    return events[-1].recorded_sequence - events[0].recorded_sequence >= len(events)


def _reason(event: Event) -> str | None:
    reason = event.payload.get("reason")
    return reason if isinstance(reason, str) else None


def _check(event: Event) -> Check:
    assert isinstance(event.data, Check)
    return event.data


def _passed(check: Check) -> bool:
    return check.outcome in PASSING


def _requests_changes(event: Event) -> bool:
    return _review(event).outcome in REQUESTING


def _review(event: Event) -> Review:
    assert isinstance(event.data, Review)
    return event.data


def _request(event: Event) -> ReviewRequest:
    assert isinstance(event.data, ReviewRequest)
    return event.data


def _blocker(event: Event) -> Blocker:
    assert isinstance(event.data, Blocker)
    return event.data


def _mark(event: Event) -> Mark:
    return Mark(event.event_id, event.recorded_at)


def _mark_or_none(event: Event | None) -> Mark | None:
    return None if event is None else _mark(event)


RULES: Final = RuleSet(
    ID,
    (
        LINKS,
        CORRECTIONS,
        TERMINAL,
        REVISION,
        RECEIPT,
        DECIDING_RESULT,
        PROGRESS_REVISION,
        PROGRESS_CHECK,
        PROGRESS_REVIEW,
        EPISODE,
        RESOLUTION,
        READINESS,
        COMPLETION,
        ASSERTION,
        STATE_TERMINAL,
        BLOCKED,
        AWAITING,
        BASE,
    ),
    project,
    items_alone=True,
)
