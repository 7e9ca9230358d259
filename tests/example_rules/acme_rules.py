"""acme/1: only what was published counts.

Covers proposals and published artifacts; heartbeats, notes and the like move the last
message alone.  An item with any other event, or a correction, is undetermined.
"""

from itertools import pairwise

import replay
from replay import Derived, Event, Mark, Progress, Rule, Uncovered

PROPOSED = Rule("acme/proposed", "An item is proposed from its first proposal on.")
ACTIVE = Rule("acme/active", "An item is active from its first published artifact on.")
REVISION = Rule("acme/revision", "The current revision is the latest that was published.")
PROGRESS = Rule("acme/progress", "Publishing a revision for the first time is progress.")
UNCOVERED = Rule("acme/uncovered", "Of an item with any other event nothing is said.")


def project(prefix: replay.Prefix) -> replay.Projection:
    log = prefix.events
    gaps = any(b.recorded_sequence > a.recorded_sequence + 1 for a, b in pairwise(log))
    work_ids = sorted({event.work_id for event in log if event.work_id is not None})
    unassigned = [event for event in log if event.work_id is None]
    last = mark(unassigned[-1]) if unassigned else None
    return replay.Projection(
        rules=RULES.id,
        facts=prefix.facts,
        items=tuple(item(w, [e for e in log if e.work_id == w], gaps) for w in work_ids),
        unassigned=replay.Unassigned(len(unassigned), last, anomalies=()),
        uncovered=tuple(Uncovered(e.event_id, e.type, e.work_id) for e in log if uncovered(e)),
    )


def item(work_id: str, events: list[Event], gaps: bool) -> replay.Item:
    outside = tuple(event.event_id for event in events if uncovered(event))
    state = Derived(None, None, UNCOVERED.id if outside else PROPOSED.id)
    revision = Derived(None, None, UNCOVERED.id if outside else REVISION.id)
    progress = None
    published: set[str | None] = set()
    for event in () if outside else events:
        if event.type == "work.proposed" and state.value is None:
            state = shown("proposed", event, PROPOSED)
        if event.type == "artifact.published":
            state = state if published else shown("active", event, ACTIVE)
            if event.artifact_revision != revision.value:
                revision = shown(event.artifact_revision, event, REVISION)
            if event.artifact_revision not in published:
                progress = Progress(event.event_id, event.recorded_at, PROGRESS.id)
            published.add(event.artifact_revision)
    nothing = None if outside else ()  # unknown is not the same as none
    flags = {"no_origin": events[0].type != "work.proposed", "possibly_incomplete": gaps}
    return replay.Item(
        work_id=work_id,
        state=state,
        revision=revision,
        clocks=replay.Clocks(mark(events[-1]), progress),
        episodes=nothing,
        receipts=nothing,
        claims=nothing,
        corrections=nothing,
        anomalies=(),
        flags=tuple(flag for flag, holds in flags.items() if holds),
        undetermined_by=outside,
    )


def uncovered(event: Event) -> bool:
    covered = event.inert or event.type in ("work.proposed", "artifact.published")
    return event.supersedes is not None or not covered


def shown(value: str | None, event: Event, rule: Rule) -> Derived:
    return Derived(value, mark(event), rule.id, evidence=(event.event_id,))


def mark(event: Event) -> Mark:
    return Mark(event.event_id, event.recorded_at)


RULES = replay.RuleSet("acme/1", (PROPOSED, ACTIVE, REVISION, PROGRESS, UNCOVERED), project)
