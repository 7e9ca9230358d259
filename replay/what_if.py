"""What would have to be otherwise for an answer to be the wanted one, as certificates.

Two kinds of change are looked for.  *Leaving out*: an irredundant set of events without which
the answer is the wanted one.  *Adding*: an irredundant list of further events, recorded after
the last in view, with which it is.  Each was put to the rules and gave what was wanted, and no
part of it that lacks one event does, so a reader can check it the same way.

Neither search is complete: that no change is given does not show that there is none.  Leaving
out tries single events, then begins from the latest cutoff at which the answer was the wanted
one (without what came later it is so again); adding follows what the derived document says is
lacking, and is made for the work states that evidence or a message can bring about.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count, pairwise
from typing import Any, Final

from replay.asking import Asking, targets
from replay.errors import UsageError
from replay.event import NO_DATA, Blocker, Check, Event, Payload, Record, Review, ReviewRequest
from replay.flips import Grown
from replay.history import Prefix
from replay.minimal import irredundant
from replay.projection import Censored, Item, Receipt
from replay.questions import Derived
from replay.why_not import is_answer

_STEPS: Final = 12  # events added at most
_UNGROWN: Final = 2_000  # events of a log whose past is looked at under rules that cannot grow it
_REREAD: Final = 20_000  # of one that is corrected: events that would be read again, about
_FAILING: Final = frozenset({"failed", "errored", "timed_out"})


class Change(Record, frozen=True):
    """Events to leave out, or to add after the last in view, that give the wanted answer."""

    leave_out: tuple[Event, ...]
    add: tuple[Event, ...]
    irredundant: bool


class Held(Record, frozen=True):
    """From which event to which the wanted answer last was the answer, as the log grew.

    Both are null where it never was; `looked` is false where that is not known.
    """

    first: Event | None = None
    until: Event | None = None
    looked: bool = True


def changes(
    asking: Asking, wanted: str, named: Sequence[str], budget: int
) -> tuple[Held, list[Change]]:
    """When the wanted answer last held, and what would bring it about.

    `named` are events to leave out first, by their ids, and `budget` how many events may be
    folded in each of the three searches.
    """
    search = _Search(asking, wanted, budget)
    held = search.last_held()
    found = [search.without(named, held), search.added()]
    return held, [change for change in found if change is not None]


class _Search:
    def __init__(self, asking: Asking, wanted: str, budget: int) -> None:
        self.asking = asking
        self.wanted = wanted
        self.budget = budget

    def gives(self, events: Sequence[Event]) -> bool:
        return is_answer(self.asking.asked, self.asking.answer(events), self.wanted)

    def last_held(self) -> Held:
        events, rule_set = self.asking.events, self.asking.rule_set
        read_again = (self.asking.weight - 1) * len(events)
        if read_again > _REREAD or (rule_set.grow is None and len(events) > _UNGROWN):
            return Held(looked=False)
        by_id = {event.event_id: event for event in events}
        try:
            grown = Grown(Prefix(events, self.asking.prefix.facts), rule_set)
            flips = grown.flips(self.asking.asked)
        except UsageError:  # more lists of anomalies than can be held
            return Held(looked=False)
        for flip, following in reversed([*pairwise(flips)]):
            then = Derived(flip.told.value, undetermined_by=flip.told.undetermined_by)
            if flip.moment is None or following.moment is None:
                continue
            if is_answer(self.asking.asked, then, self.wanted):
                return Held(by_id[flip.moment.event_id], by_id[following.moment.event_id])
        return Held()

    def without(self, named: Sequence[str], held: Held) -> Change | None:
        events = self.asking.events
        wished = {*named}
        # those that a reason names first, then the latest
        tried = [e for e in reversed(events) if e.event_id in wished]
        tried += [e for e in reversed(events) if e.event_id not in wished]
        for event in tried[: self.budget // (len(events) + 1)]:
            if self.gives([other for other in events if other is not event]):
                return Change((event,), (), True)
        if held.until is None:
            return None
        later = [e for e in events if e.recorded_sequence >= held.until.recorded_sequence]
        part = irredundant(later, self._gives_without, budget=self.budget)
        return Change(part.kept, (), part.irredundant)

    def _gives_without(self, left_out: Sequence[Event]) -> bool:
        gone = {event.event_id for event in left_out}
        return self.gives([e for e in self.asking.events if e.event_id not in gone])

    def added(self) -> Change | None:
        if self.asking.asked.question != "state" or self.asking.asked.work_id is None:
            return None
        plan: list[Event] = []
        while not self.gives([*self.asking.events, *plan]):
            item = self._item(plan)
            adding = _Adding(self.asking, plan)
            step = None if item is None else next(_next(item, self.wanted, adding), None)
            if step is None or len(plan) == _STEPS:
                return None
            plan.append(step)
        part = irredundant(plan, self._gives_with, budget=self.budget)
        return Change((), part.kept, part.irredundant)

    def _gives_with(self, further: Sequence[Event]) -> bool:
        return self.gives([*self.asking.events, *further])

    def _item(self, plan: Sequence[Event]) -> Item | None:
        prefix = Prefix((*self.asking.events, *plan), self.asking.prefix.facts)
        work_id = self.asking.asked.work_id
        return None if work_id is None else self.asking.rule_set.project(prefix).item(work_id)


class _Adding:
    """Makes events that come after the last in view."""

    def __init__(self, asking: Asking, plan: Sequence[Event]) -> None:
        self.events = asking.events
        self.last = [*asking.prefix.events, *plan][-1]
        self.number = len(plan) + 1
        self.work_id = asking.asked.work_id
        self.visible = {event.event_id: event for event in (*self.events, *plan)}

    def event(
        self,
        type: str,
        data: Payload = NO_DATA,
        payload: dict[str, Any] | None = None,
        **more: Any,
    ) -> Event:
        return Event(
            schema_version=self.last.schema_version,
            event_id=self._free_id(),
            recorded_sequence=self.last.recorded_sequence + 1,
            recorded_at=self.last.recorded_at,
            type=type,
            work_id=self.work_id,
            payload_json=json.dumps(payload or {}, ensure_ascii=False).encode(),
            data=data,
            **more,
        )

    def _free_id(self) -> str:
        """An id that no event in view bears or links to."""
        taken = {*self.visible, *(t for e in self.events for t in targets(e))}
        ids = (f"further-{number}" for number in count(self.number))
        return next(event_id for event_id in ids if event_id not in taken)

    def pass_of(self, check: str, source: str | None, item: Item, **more: Any) -> Event:
        payload = {"check": check, "outcome": "passed"}
        if source is not None:
            payload["source"] = source
        revision = item.revision.value
        data = Check(check, "passed", source)
        return self.event("check.completed", data, payload, artifact_revision=revision, **more)


def _next(item: Item, wanted: str, adding: _Adding) -> Iterator[Event]:
    """The next event to add, by what is in the way of the wanted state."""
    state = item.state.value
    if wanted == "proposed" and state is None:
        yield adding.event("work.proposed")
    elif wanted == "cancelled" and state != "complete":
        yield adding.event("work.cancelled")
    elif wanted in ("active", "blocked", "awaiting_review", "complete", "cancelled"):
        if state in ("complete", "cancelled"):
            yield adding.event("work.reopened")
        elif wanted == "blocked":
            yield adding.event("blocker.raised", Blocker())
        elif wanted == "active" and state in (None, "proposed"):
            yield adding.event("work.started")
        else:
            yield from _unblocked(item, adding)
            yield from _evidenced(item, wanted, adding)


def _unblocked(item: Item, adding: _Adding) -> Iterator[Event]:
    for episode in item.episodes or ():
        if isinstance(episode.end, Censored):
            blocker_id = episode.blocker_id
            payload = {} if blocker_id is None else {"blocker_id": blocker_id}
            yield adding.event("blocker.cancelled", Blocker(blocker_id), payload)


def _evidenced(item: Item, wanted: str, adding: _Adding) -> Iterator[Event]:
    """Evidence for a claim of the current revision, then the claim itself."""
    if wanted == "active":
        yield from _approval(item, adding)
        return
    yield from _passes_again(item, adding)
    if wanted == "complete":
        yield from _approvals(item, adding)
    kind = "work.completed" if wanted == "complete" else "review.requested"
    live = [c for c in item.claims or () if c.claim == kind and c.verdict == "missing"]
    for claim in live:
        for check in claim.missing:
            if check == "evidence":
                continue  # of a claim that names no revision: another claim must name evidence
            name = "ci" if check == "any check" else check
            yield adding.pass_of(name, None, item)
    yield from _claimed(item, kind, adding)


def _passes_again(item: Item, adding: _Adding) -> Iterator[Event]:
    """A pass of each check and source whose latest result on the revision fails."""
    latest: dict[tuple[str | None, str | None], Receipt] = {}
    for receipt in item.receipts or ():
        is_local = receipt.source is not None and receipt.source.lower() == "local"
        bears = receipt.status == "current" or item.revision.value is None
        if receipt.check is not None and bears and not is_local:
            latest[receipt.check, receipt.source] = receipt
    for receipt in latest.values():
        if receipt.outcome in _FAILING and receipt.check is not None:
            yield adding.pass_of(receipt.check, receipt.source, item)


def _approvals(item: Item, adding: _Adding) -> Iterator[Event]:
    """An approval by each reviewer whose latest review requests changes."""
    latest: dict[tuple[str | None, str | None], tuple[str, str | None]] = {}
    for receipt in item.receipts or ():
        is_review = receipt.outcome in ("approved", "changes_requested")
        if is_review and (receipt.status == "current" or item.revision.value is None):
            author = adding.visible[receipt.event_id].claimed_author
            latest[receipt.principal, author] = (receipt.outcome, receipt.revision)
    for (principal, author), (outcome, revision) in latest.items():
        if outcome == "changes_requested":
            yield _approve(adding, revision, principal=principal, claimed_author=author)


def _approval(item: Item, adding: _Adding) -> Iterator[Event]:
    if item.revision.value is not None:
        yield _approve(adding, item.revision.value)


def _approve(adding: _Adding, revision: str | None, **by: Any) -> Event:
    return adding.event(
        "review.completed",
        Review("approved"),
        {"outcome": "approved"},
        artifact_revision=revision,
        **by,
    )


def _claimed(item: Item, kind: str, adding: _Adding) -> Iterator[Event]:
    """The claim, of the current revision; without one, of a pass of no revision."""
    revision = item.revision.value
    if revision is not None:
        data = NO_DATA if kind == "work.completed" else ReviewRequest()
        yield adding.event(kind, data, artifact_revision=revision)
    elif kind == "work.completed":
        passed = [
            r.event_id for r in item.receipts or () if r.check is not None and r.outcome == "passed"
        ]
        if passed:
            yield adding.event(kind, evidence_refs=(passed[-1],))
        yield adding.pass_of("ci", None, item)
    else:
        yield adding.event("artifact.published", artifact_revision="r1")
