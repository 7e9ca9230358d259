"""Several files as the segments of one log (contract, section 4).

The whole is named by the names of its segments, joined with `+` in sequence order.  Its
SHA-256 is of the lines `SHA256  NAME` of the segments in that order, so it can be checked
by hand.  A gap that lies between two segments is listed as any other, and is a note too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from replay.canonical import digest
from replay.event import Record, Source
from replay.history import Gap, History, admit


class _Span(Record, frozen=True):
    """The first and last sequence that a segment bears."""

    first: int
    last: int
    name: str


def join(segments: Sequence[Source]) -> History:
    """One history of the segments of one log.  Raises `Refusal`."""
    ordered = sorted(segments, key=_place)
    listing = "".join(f"{segment.sha256}  {segment.name}\n" for segment in ordered)
    history = admit(
        ordered,
        name="+".join(segment.name for segment in ordered),
        sha256=digest(listing.encode()),
    )
    notes = (*history.input.notes, *_gaps_between(ordered, history.input.gaps))
    return replace(history, input=replace(history.input, notes=notes))


def _place(segment: Source) -> tuple[int, str, str]:
    """Where a segment stands, whatever the order of the arguments."""
    first = min((event.recorded_sequence for event in segment.events), default=0)
    return first, segment.name, segment.sha256


def _gaps_between(ordered: Sequence[Source], gaps: Sequence[Gap]) -> Iterator[str]:
    before: _Span | None = None
    for after in _spans(ordered):
        if before is not None and Gap(before.last + 1, after.first - 1) in gaps:
            yield f"segment_gap {before.name} {after.name} {before.last + 1} {after.first - 1}"
        # segments may overlap: what precedes a gap is the one that reaches furthest so far
        before = after if before is None or after.last > before.last else before


def _spans(ordered: Sequence[Source]) -> Iterator[_Span]:
    for source in ordered:
        sequences = [event.recorded_sequence for event in source.events]
        if sequences:
            yield _Span(min(sequences), max(sequences), source.name)
