"""Where two histories part: the first event that is not in both, and at which an answer differs.

The first event of a difference is the first sequence at which the two answers were not alike,
had both logs been cut there.  It need not be where the present difference began: answers can
meet again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from itertools import pairwise

from replay.asking import Asked
from replay.document import Json
from replay.event import Event, differences
from replay.flips import BLIND, Flip, Grown
from replay.history import Prefix
from replay.projection import Anomaly, RuleSet
from replay.timeline import Interval
from replay.timestamps import render
from replay.told import Difference, Told, told, unlike

# Events ---------------------------------------------------------------------------------


def events_document(one: Prefix, other: Prefix) -> dict[str, Json]:
    """The visible events of two logs, matched by id."""
    first = {event.event_id: event for event in one.events}
    second = {event.event_id: event for event in other.events}
    changed = [
        (event, second[event_id], pointers)
        for event_id, event in first.items()
        if event_id in second and (pointers := differences(event, second[event_id]))
    ]
    only_a = [event for event_id, event in first.items() if event_id not in second]
    only_b = [event for event_id, event in second.items() if event_id not in first]
    parted = [*only_a, *only_b, *(event for pair in changed for event in pair[:2])]
    sequence = min((event.recorded_sequence for event in parted), default=None)
    return {
        "common": len(first) - len(only_a) - len(changed),
        "changed": [_changed(*pair) for pair in sorted(changed, key=_earliest)],
        "only_a": [*map(_numbered, only_a)],
        "only_b": [*map(_numbered, only_b)],
        "first": None if sequence is None else _divergence(sequence, one, other),
    }


_Pair = tuple[Event, Event, tuple[str, ...]]


def _earliest(pair: _Pair) -> tuple[int, str]:
    one, other, _ = pair
    return min(one.recorded_sequence, other.recorded_sequence), one.event_id


def _changed(one: Event, other: Event, pointers: tuple[str, ...]) -> Json:
    return {
        "event_id": one.event_id,
        "a": one.recorded_sequence,
        "b": other.recorded_sequence,
        "pointers": [*pointers],
    }


def _numbered(event: Event) -> Json:
    return {"sequence": event.recorded_sequence, "event_id": event.event_id}


def _divergence(sequence: int, one: Prefix, other: Prefix) -> Json:
    """The first sequence at which two histories are not one, and what each has there."""
    first, second = (_by_sequence(prefix).get(sequence) for prefix in (one, other))
    pointers: tuple[str, ...] = ()
    if first is not None and second is not None:
        kind = "changed" if first.event_id == second.event_id else "another_event"
        pointers = differences(first, second) if kind == "changed" else ()
    else:
        here, elsewhere = (first, other) if first is not None else (second, one)
        twin = next((e for e in elsewhere.events if here and e.event_id == here.event_id), None)
        kind = "only_a" if first is not None else "only_b"
        if here is not None and twin is not None:  # it is there at another sequence
            kind = "changed"
            pointers = differences(here, twin)
    return {
        "sequence": sequence,
        "kind": kind,
        "a": None if first is None else first.event_id,
        "b": None if second is None else second.event_id,
        "pointers": [*pointers],
    }


# At which event -------------------------------------------------------------------------


class Log:
    """A log at a cutoff, and its answers under a rule set as it grew."""

    def __init__(self, prefix: Prefix, rule_set: RuleSet) -> None:
        self.prefix = prefix
        self.rule_set = rule_set
        self.about: set[str | None] = set()  # the work items that are grown
        self._grown: Grown | None = None
        self._sequences: dict[str, int] = {}
        self._first: dict[str | None, int] | None = None
        self._gap: int | None = None
        self._events: dict[int, Event] | None = None

    @property
    def grown(self) -> Grown:
        """Grown when first asked for: two logs that are alike never are."""
        if self._grown is None:
            self._grown = Grown(self.prefix, self.rule_set, about=self.about)
        return self._grown

    @property
    def sequences(self) -> dict[str, int]:
        """The sequence of each visible event."""
        if not self._sequences:
            events = self.prefix.events
            self._sequences = {event.event_id: event.recorded_sequence for event in events}
        return self._sequences

    def incomplete_from(self, work_id: str | None) -> int | None:
        """The sequence from which on the item is possibly incomplete; null where it is not."""
        if self._first is None:
            self._first = {}
            for event in self.prefix.events:
                self._first.setdefault(event.work_id, event.recorded_sequence)
            sequences = (event.recorded_sequence for event in self.prefix.events)
            self._gap = next((b for a, b in pairwise(sequences) if b > a + 1), None)
        if self._gap is None or work_id not in self._first:
            return None
        return max(self._gap, self._first[work_id])

    def moment(self, sequence: int) -> Json:
        """The event of a sequence, and its recorded time; null where none bears it."""
        if self._events is None:
            self._events = _by_sequence(self.prefix)
        event = self._events.get(sequence)
        if event is None:
            return None
        time = render(event.recorded_at, event.time_basis)
        return {"event_id": event.event_id, "time": time}


class Firsts:
    """Finds the first sequence at which two logs, or one under two rule sets, answer unlike."""

    def __init__(self, one: Log, other: Log, differences: Iterable[Difference]) -> None:
        self.one, self.other = one, other
        about = {d.asked.work_id for d in differences if not _is_of_the_log(d.asked)}
        one.about = other.about = about
        self.same_rules = one.rule_set.id == other.rule_set.id
        self.apart = _Apart(one.prefix, other.prefix)

    def document(self, difference: Difference) -> dict[str, Json] | None:
        """What each log has at the first sequence at which this answer differed."""
        sequence = self._sequence(difference)
        if sequence is None:
            return None
        one, other = self.one.moment(sequence), self.other.moment(sequence)
        return {"sequence": sequence, "a": one, "b": other}

    def _sequence(self, difference: Difference) -> int | None:
        asked = difference.asked
        if asked.question == "uncovered":
            return self._uncovered(difference)
        if _is_of_the_log(asked):
            starts = (log.incomplete_from(asked.work_id) for log in (self.one, self.other))
            return min(start for start in starts if start is not None)
        if asked.question == "anomaly":
            return self._anomalies(difference)
        return self._told(difference)

    def _told(self, difference: Difference) -> int | None:
        asked = difference.asked
        one, other = (_flips(log.grown, asked) for log in (self.one, self.other))
        any_kind = difference.kind == "detail"
        for begin, end, first, second in _alongside(one, other):
            kind = unlike(first, second, same_rules=self.same_rules)
            if kind is not None and (any_kind or kind != "detail"):
                return begin
            if _is_open(first) and _is_open(second):
                observed_apart = self.apart.first(begin, end)
                if observed_apart is not None:
                    return observed_apart
        return None

    def _uncovered(self, difference: Difference) -> int | None:
        """That an event is not covered is seen as soon as it is visible."""
        event_id = difference.asked.of or ""
        told = ((self.one, difference.one), (self.other, difference.other))
        return min(log.sequences[event_id] for log, said in told if said.value is not None)

    def _anomalies(self, difference: Difference) -> int | None:
        """Without their lists, which are longer at every event that adds to them."""
        listed = _Listed(difference, self.one, self.other)
        if any(self._has_moved(event_id) for event_id in listed.event_ids):
            return self._told(difference)  # alike means in one order, too
        return listed.first_apart()

    def _has_moved(self, event_id: str) -> bool:
        one, other = self.one.sequences.get(event_id), self.other.sequences.get(event_id)
        return one is not None and other is not None and one != other


class _Listed:
    """The anomalies of one code that two logs list, and the events that blind either."""

    def __init__(self, difference: Difference, one: Log, other: Log) -> None:
        asked = difference.asked
        whole = difference.kind == "detail"
        self.event_ids: set[str] = set()
        self.steps: dict[int, list[tuple[int, Hashable, int]]] = {}
        for side, log in enumerate((one, other)):
            for interval in log.grown.intervals(asked.work_id, ("anomaly", asked.of)):
                anomaly: Anomaly = interval.key[1]
                self.event_ids.add(anomaly.event_id)
                self._note(side, anomaly if whole else anomaly.event_id, interval)
            for interval in log.grown.intervals(asked.work_id, BLIND):
                self._note(side, None, interval)

    def _note(self, side: int, entry: Hashable, interval: Interval) -> None:
        self.steps.setdefault(interval.valid_from.sequence, []).append((side, entry, 1))
        if interval.valid_to is not None:
            self.steps.setdefault(interval.valid_to.sequence, []).append((side, entry, -1))

    def first_apart(self) -> int | None:
        """The first sequence at which one lists what the other does not, or is blind alone."""
        counts: tuple[Counter[Hashable], Counter[Hashable]] = (Counter(), Counter())
        apart: set[Hashable] = set()
        for sequence in sorted(self.steps):
            for side, entry, by in self.steps[sequence]:
                counts[side][entry] += by
                if bool(counts[0][entry]) != bool(counts[1][entry]):
                    apart.add(entry)
                else:
                    apart.discard(entry)
            if None in apart or (apart and not counts[0][None]):
                return sequence
        return None


def _is_of_the_log(asked: Asked) -> bool:
    """Whether no item's own events tell the answer."""
    return asked.question == "flag" and asked.of == "possibly_incomplete"


def _flips(grown: Grown, asked: Asked) -> list[Flip]:
    if asked.question != "events":
        return grown.flips(asked)
    # each event that names no item moves the last message of these
    moved = grown.flips(Asked("last_message", asked.work_id))
    counted = ({"events": count} if count else {} for count in range(len(moved)))
    return [Flip(flip.moment, told(asked, part)) for flip, part in zip(moved, counted, strict=True)]


def _alongside(one: list[Flip], other: list[Flip]) -> Iterator[tuple[int, int | None, Told, Told]]:
    """From sequence to sequence, the end excluded (null: to the last), what two sides answer."""
    starts = sorted({f.moment.sequence for f in (*one, *other) if f.moment is not None})
    at = [0, 0]
    for begin, end in zip(starts, [*starts[1:], None], strict=True):
        for side, flips in enumerate((one, other)):
            while at[side] + 1 < len(flips) and _begun(flips[at[side] + 1], begin):
                at[side] += 1
        yield begin, end, one[at[0]].told, other[at[1]].told


def _begun(flip: Flip, sequence: int) -> bool:
    return flip.moment is not None and flip.moment.sequence <= sequence


def _is_open(told: Told) -> bool:
    return isinstance(told.value, dict) and told.value.get("kind") == "censored"


class _Apart:
    """The sequences at which elapsed time ends at one time on one side and another on the other.

    `ranges` are of sequences, the end excluded, in order; null reaches to the last.
    """

    def __init__(self, one: Prefix, other: Prefix) -> None:
        self.ranges: list[tuple[int, int | None]] = []
        if one is other:
            return
        begun: int | None = None
        for sequence, is_apart in _observed_apart(one, other):
            if is_apart and begun is None:
                begun = sequence
            elif not is_apart and begun is not None:
                self.ranges.append((begun, sequence))
                begun = None
        if begun is not None:
            self.ranges.append((begun, None))

    def first(self, begin: int, end: int | None) -> int | None:
        """The first such sequence from `begin` on, before `end`."""
        index = bisect_right(self.ranges, begin, key=lambda apart: apart[0])
        if index:
            until = self.ranges[index - 1][1]
            if until is None or begin < until:
                return begin
        if index == len(self.ranges):
            return None
        found = self.ranges[index][0]
        return found if end is None or found < end else None


def _observed_apart(one: Prefix, other: Prefix) -> Iterator[tuple[int, bool]]:
    """At each sequence that an event bears, whether two logs cut there end at two times."""
    bounds = [side.facts.cutoff.recorded for side in (one, other)]
    ends: list[int | None] = [*bounds]
    times: dict[int, list[tuple[int, int]]] = {}
    for side, prefix in enumerate((one, other)):
        for event in prefix.events:
            times.setdefault(event.recorded_sequence, []).append((side, event.recorded_at))
    for sequence in sorted(times):
        for side, time in times[sequence]:
            if bounds[side] is None:
                ends[side] = time
        yield sequence, ends[0] != ends[1]


def _by_sequence(prefix: Prefix) -> dict[int, Event]:
    return {event.recorded_sequence: event for event in prefix.events}
