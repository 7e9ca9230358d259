"""Admission: from decoded lines to one ordered history, and views of it at a cutoff.

Contract, sections 4 and 5.  The recorded sequence is the only thing that orders a
history.  Exact duplicates collapse and are listed; two different lines with one
id, two ids with one sequence, and a recorded time that falls while the sequence
rises reject the log.  A `Prefix` is a type of its own so that a rule set, which
gets nothing else, cannot see what came after its cutoff.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from replay.errors import Place, Refusal, UsageError, quoted
from replay.event import Event, Record, Source, TimeBasis, differences
from replay.timestamps import BadTime, parse_minute, parse_utc, render

if TYPE_CHECKING:
    from replay.projection import Projection

LINE_ORDER_DIFFERS: Final = "line_order_differs"
_MAX_POINTER: Final = 80
_SEQUENCE = attrgetter("recorded_sequence")
_RECORDED_AT = attrgetter("recorded_at")
_ADMISSION_FIELDS: Final = frozenset({"/recorded_sequence", "/recorded_at_utc", "/recorded_minute"})


class Gap(Record, frozen=True):
    """Sequence numbers, both inclusive, that no admitted event bears."""

    first: int
    last: int


class Duplicate(Record, frozen=True):
    """A line that said again, value for value, what an earlier line had said."""

    event_id: str
    place: tuple[str, int]
    of: tuple[str, int]


class Input(Record, frozen=True, kw_only=True):
    """The identity and the account of what was read.

    lines = blank + duplicates + admitted + quarantined; a log whose numbers do not
    add up is never built.
    """

    name: str
    sha256: str
    lines: int
    blank: int
    duplicates: int
    quarantined: int
    admitted: int
    time_basis: TimeBasis | None
    complete: bool
    gaps: tuple[Gap, ...]
    notes: tuple[str, ...]


class Cutoff(Record, frozen=True):
    """What an observer could see: both bounds optional, both inclusive, taken together.

    `recorded` is in nanoseconds on the log's own time basis.
    """

    sequence: int | None = None
    recorded: int | None = None


class PrefixFacts(Record, frozen=True, kw_only=True):
    """What a result says of its input and cutoff, beside the answers.

    `observed` is where elapsed time ends: the time cutoff where one is given, else
    the last visible event's recorded time, null when nothing is visible.  `basis` is the
    log's, and of an empty log, which has none, that of the cutoff.
    visible = applied + inert; admitted = visible + beyond_cutoff.
    """

    input: Input
    basis: TimeBasis
    cutoff: Cutoff
    observed: int | None
    flags: tuple[str, ...]
    applied: int
    inert: int
    beyond_cutoff: int


class Prefix(Record, frozen=True):
    """A history as it was known at a cutoff: the visible events, in sequence order."""

    events: tuple[Event, ...]
    facts: PrefixFacts

    @property
    def observed(self) -> int | None:
        return self.facts.observed


class History(Record, frozen=True):
    """An admitted log: one event per id, in sequence order, with the account of its input."""

    events: tuple[Event, ...]
    duplicates: tuple[Duplicate, ...]
    input: Input

    @property
    def time_basis(self) -> TimeBasis | None:
        return self.input.time_basis

    def until(
        self,
        *,
        sequence: int | None = None,
        time: str | None = None,
        minute: int | float | str | None = None,
    ) -> Prefix:
        """The history as known at a cutoff; no argument is the full log.  Raises `UsageError`.

        `sequence` and the time bound are inclusive and taken together.  `time` is RFC
        3339 and for `events/1` logs, `minute` a number (or its JSON literal) and for
        `elapsed/1` logs; the other one raises `UsageError`.
        """
        if sequence is not None and (type(sequence) is not int or sequence < 0):
            raise UsageError(f"a sequence cutoff is a whole number from 0, not {sequence!r}")
        cutoff = Cutoff(sequence, self._recorded_bound(time, minute))
        return self.at(cutoff, basis="utc" if minute is None else "elapsed")

    def at(self, cutoff: Cutoff, *, basis: TimeBasis = "utc") -> Prefix:
        """The history as known at a cutoff whose time bound is in nanoseconds already.

        `basis` is the bound's, for a log that has no event to tell.
        """
        by_sequence = len(self.events)
        if cutoff.sequence is not None:
            by_sequence = bisect_right(self.events, cutoff.sequence, key=_SEQUENCE)
        by_time = len(self.events)
        if cutoff.recorded is not None:
            # admission refuses a recorded time that falls, so time is sorted as well
            by_time = bisect_right(self.events, cutoff.recorded, key=_RECORDED_AT)
        visible = self.events[: min(by_sequence, by_time)]
        hides = by_sequence < by_time
        return Prefix(visible, self._facts(cutoff, self.time_basis or basis, visible, hides))

    def board(
        self,
        *,
        rules: str,
        at: int | str | None = None,
        minute: int | float | str | None = None,
    ) -> Projection:
        """The answers of a rule set at a cutoff, which a notebook shows as a board.

        `at` is a recorded sequence, or an RFC 3339 time of an `events/1` log; `minute`, alone
        or with a sequence, is for `elapsed/1` logs; neither is the full log.  The caller names
        the rules; there is no latest.  Raises `UnknownRulesError` and `UsageError`.
        """
        from replay.api import project

        if isinstance(at, bool | float):
            raise UsageError(f"at: expected a sequence or an RFC 3339 time, found {at!r}")
        sequence, time = (None, at) if isinstance(at, str) else (at, None)
        return project(self.until(sequence=sequence, time=time, minute=minute), rules=rules)

    def _facts(
        self, cutoff: Cutoff, basis: TimeBasis, visible: tuple[Event, ...], hides: bool
    ) -> PrefixFacts:
        inert = sum(event.inert for event in visible)
        observed = cutoff.recorded
        if observed is None and visible:
            observed = visible[-1].recorded_at
        flags = []
        if self._beyond_log(cutoff):
            flags.append("cutoff_beyond_log")
        if hides and cutoff.sequence is not None and cutoff.recorded is not None:
            flags.append("cutoff_hides_admitted")
        return PrefixFacts(
            input=self.input,
            basis=basis,
            cutoff=cutoff,
            observed=observed,
            flags=tuple(flags),
            applied=len(visible) - inert,
            inert=inert,
            beyond_cutoff=len(self.events) - len(visible),
        )

    def _beyond_log(self, cutoff: Cutoff) -> bool:
        last = self.events[-1] if self.events else None
        after_sequence = cutoff.sequence is not None and (
            last is None or cutoff.sequence > last.recorded_sequence
        )
        after_time = cutoff.recorded is not None and (
            last is None or cutoff.recorded > last.recorded_at
        )
        return after_sequence or after_time

    def _recorded_bound(self, time: str | None, minute: int | float | str | None) -> int | None:
        if time is None and minute is None:
            return None
        if time is not None and minute is not None:
            raise UsageError("give a time or a minute, not both")
        asked, wanted = ("a time", "utc") if time is not None else ("a minute", "elapsed")
        if self.time_basis is not None and self.time_basis != wanted:
            raise UsageError(f"{asked} cannot bound a log whose time basis is {self.time_basis}")
        try:
            return parse_utc(time) if time is not None else parse_minute(str(minute))
        except BadTime as bad:
            raise UsageError(
                f"not a cutoff: {time if time is not None else minute!s}: expected {bad.expected}"
            ) from None


def admit(
    sources: Sequence[Source], *, name: str | None = None, sha256: str | None = None
) -> History:
    """One history of one or more sources (the segments, or the clones, of one log).

    Raises `Refusal`: `mixed_time_basis`, `conflicting_duplicate`, `readmitted_id`,
    `sequence_conflict`, `recorded_time_reversed`.  `name` and `sha256` are those of
    the whole where there are several sources; of a single one they are its own.
    """
    # 1. one time basis  2. one event per id  3. sequence order  4. no two of one sequence,
    # no recorded time that falls  5. gaps are listed, not refused
    _one_time_basis(sources)
    kept, owners, duplicates = _one_event_per_id(sources)
    ordered = sorted(kept, key=_SEQUENCE)
    notes = () if _is_sorted(kept) else (LINE_ORDER_DIFFERS,)
    _check_admission_order(ordered, owners)
    return History(
        events=tuple(ordered),
        duplicates=tuple(duplicates),
        input=Input(
            name=sources[0].name if name is None else name,
            sha256=sources[0].sha256 if sha256 is None else sha256,
            lines=sum(source.lines for source in sources),
            blank=sum(source.blank for source in sources),
            duplicates=len(duplicates),
            quarantined=sum(source.quarantined for source in sources),
            admitted=len(ordered),
            time_basis=ordered[0].time_basis if ordered else None,
            complete=all(source.complete for source in sources),
            gaps=tuple(_gaps(ordered)),
            notes=notes,
        ),
    )


_Owners = dict[str, str]  # the name of the source that brought each event id


def _one_time_basis(sources: Sequence[Source]) -> None:
    first: tuple[Event, str] | None = None
    for source in sources:
        for event in source.events:
            if first is None:
                first = (event, source.name)
            elif event.schema_version != first[0].schema_version:
                raise _refusal(
                    "mixed_time_basis",
                    event,
                    source.name,
                    "/schema_version",
                    f"{first[0].schema_version}, as on the log's first event",
                    event.schema_version,
                    (Place(first[1], first[0].line),),
                )


def _one_event_per_id(
    sources: Sequence[Source],
) -> tuple[list[Event], _Owners, list[Duplicate]]:
    by_id: dict[str, Event] = {}
    owners: _Owners = {}
    duplicates: list[Duplicate] = []
    for source in sources:
        for event in source.events:
            earlier = by_id.get(event.event_id)
            if earlier is None:
                by_id[event.event_id] = event
                owners[event.event_id] = source.name
                continue
            place = (owners[event.event_id], earlier.line)
            pointers = differences(earlier, event)
            if pointers:
                raise _conflict(event, source.name, earlier, Place(*place), pointers)
            duplicates.append(Duplicate(event.event_id, (source.name, event.line), place))
    return list(by_id.values()), owners, duplicates


def _conflict(
    event: Event, file: str, earlier: Event, place: Place, pointers: tuple[str, ...]
) -> Refusal:
    readmitted = set(pointers) <= _ADMISSION_FIELDS
    if readmitted:
        found = f"it again with sequence {event.recorded_sequence} at {_as_written(event)}"
        expected = (
            f"event {quoted(event.event_id)} once, as admitted with sequence"
            f" {earlier.recorded_sequence} at {_as_written(earlier)}"
        )
    else:
        expected = f"the same value as event {quoted(event.event_id)} has on line {place.line}"
        found = f"another one at {_listed(pointers)}"
    code = "readmitted_id" if readmitted else "conflicting_duplicate"
    return _refusal(code, event, file, pointers[0], expected, found, (place,))


def _as_written(event: Event) -> str:
    """The recorded time as the line spells it; a value spelled differently is another value."""
    written = event.written[0] if event.written is not None else None
    return str(render(event.recorded_at, event.time_basis) if written is None else written)


def _listed(pointers: tuple[str, ...]) -> str:
    """The pointers, or how many more there are; keys of payloads can be long."""
    shown = [p if len(p) <= _MAX_POINTER else f"{p[:_MAX_POINTER]}…" for p in pointers[:5]]
    more = [f"{len(pointers) - 5} more"] if len(pointers) > 5 else []
    return ", ".join([*shown, *more])


def _check_admission_order(ordered: Sequence[Event], owners: _Owners) -> None:
    for before, event in pairwise(ordered):
        if before.recorded_sequence == event.recorded_sequence:
            one, other = sorted((before, event), key=lambda e: (_file(e, owners), e.line))
            raise _refusal(
                "sequence_conflict",
                other,
                _file(other, owners),
                "/recorded_sequence",
                f"a sequence of its own for event {quoted(other.event_id)}",
                f"{other.recorded_sequence}, which event {quoted(one.event_id)} bears",
                (Place(_file(one, owners), one.line),),
            )
        if before.recorded_at > event.recorded_at:
            basis = event.time_basis
            raise _refusal(
                "recorded_time_reversed",
                event,
                _file(event, owners),
                "/recorded_at_utc" if basis == "utc" else "/recorded_minute",
                f"{render(before.recorded_at, basis)} or later, as recorded with"
                f" sequence {before.recorded_sequence}",
                f"{render(event.recorded_at, basis)} with sequence {event.recorded_sequence}",
                (Place(_file(before, owners), before.line),),
            )


def _file(event: Event, owners: _Owners) -> str:
    return owners[event.event_id]


def _refusal(
    code: str,
    event: Event,
    file: str,
    pointer: str,
    expected: str,
    found: str,
    related: tuple[Place, ...],
) -> Refusal:
    return Refusal(
        code,
        file=file,
        line=event.line,
        byte_offset=event.byte_offset,
        pointer=pointer,
        expected=expected,
        found=found,
        related=related,
    )


def _is_sorted(events: Sequence[Event]) -> bool:
    return all(one.recorded_sequence <= other.recorded_sequence for one, other in pairwise(events))


def _gaps(ordered: Iterable[Event]) -> Iterable[Gap]:
    before: int | None = None
    for event in ordered:
        if before is not None and event.recorded_sequence > before + 1:
            yield Gap(before + 1, event.recorded_sequence - 1)
        before = event.recorded_sequence
