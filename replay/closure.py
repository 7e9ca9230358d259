"""A good guess at the events that an answer rests on, to try before all of them.

Nothing is decided here.  Whoever uses the guess asks again of it, and falls back to
everything where the answer is another one: a guess that is too small costs one look.  It
follows what an answer most often rests on: links in both directions, corrections, the
announcements of a revision and the checks and reviews of it, and the events of one blocker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from replay.asking import targets
from replay.event import Blocker, Event, StatusAssertion

_LIFECYCLE: Final = frozenset(
    {"work.proposed", "work.started", "work.reopened", "work.completed", "work.cancelled"}
)
_OF_A_REVISION: Final = frozenset({"check.completed", "review.completed"})

_Mention = tuple[str | None, str]  # work item, revision
_Line = tuple[str | None, str | None]  # work item, blocker id


def likely(events: Sequence[Event], start: Iterable[str]) -> tuple[Event, ...]:
    """The events with the ids `start` and all that is reached from them, in the order given.

    Ids that no event bears are passed over.  One pass over `events` and one over what is
    reached; the work items' first event, their last announcement and what opened or closed
    them are added, and not followed.
    """
    index = _Index(events)
    reached: set[str] = set()
    frontier = [event_id for event_id in start if event_id in index.by_id]
    while frontier:
        event_id = frontier.pop()
        if event_id not in reached:
            reached.add(event_id)
            frontier += (to for to in index.next_to(index.by_id[event_id]) if to not in reached)
    items = {index.by_id[event_id].work_id for event_id in reached}
    beside = {event_id for item in items for event_id in index.beside(item)}
    return tuple(event for event in events if event.event_id in reached | beside)


class _Index:
    def __init__(self, events: Sequence[Event]) -> None:
        self.by_id = {event.event_id: event for event in events}
        self._naming: dict[str, list[str]] = defaultdict(list)
        self._announced: dict[_Mention, list[str]] = defaultdict(list)
        self._judging: dict[_Mention, list[str]] = defaultdict(list)
        self._blocking: dict[_Line, list[str]] = defaultdict(list)
        self._beside: dict[str | None, list[str]] = {}
        self._current: dict[str | None, str] = {}
        for event in events:
            self._add(event)

    def _add(self, event: Event) -> None:
        name, item = event.event_id, event.work_id
        for target in targets(event):
            self._naming[target].append(name)
        if event.type == "artifact.published":
            self._current[item] = name
            for mention in _mentions(event):
                self._announced[mention].append(name)
        elif event.type in _OF_A_REVISION:
            for mention in _mentions(event):
                self._judging[mention].append(name)
        elif isinstance(event.data, Blocker):
            self._blocking[item, event.data.blocker_id].append(name)
        if item not in self._beside:
            self._beside[item] = [name]
        elif event.type in _LIFECYCLE:
            self._beside[item].append(name)

    def next_to(self, event: Event) -> Iterator[str]:
        """The ids one step from an event, some more than once."""
        yield from (target for target in targets(event) if target in self.by_id)
        yield from self._naming[event.event_id]
        for mention in _mentions(event):
            announced = self._announced[mention]
            yield from (*announced[:1], *announced[-1:])
            yield from self._judging[mention]
        if isinstance(event.data, Blocker):
            yield from self._blocking[event.work_id, event.data.blocker_id]

    def beside(self, item: str | None) -> Iterator[str]:
        """What bears on most answers about an item, and is not followed any further."""
        yield from self._beside.get(item, ())
        if item in self._current:
            yield self._current[item]


def _mentions(event: Event) -> Iterator[_Mention]:
    """The revisions that an event is about, each of its own work item."""
    if event.artifact_revision is not None:
        yield event.work_id, event.artifact_revision
    if isinstance(event.data, StatusAssertion) and event.data.revision is not None:
        yield event.work_id, event.data.revision
