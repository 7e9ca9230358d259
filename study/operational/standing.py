"""A log with its corrections made: what stands at the cutoff, each where the original stood.

A timeline says when an answer was learned, which after a correction is not when it was so.
The rules judge the standing versions in order of place (section 3.1), so a history of these
alone, at the sequences and times of their originals, has the answers of the corrected one and
nothing left to correct: its timeline says when each came to hold, as known at the cutoff.

Links are to places, so one to any version of a place becomes one to the version that stands.
A link that the rules do not take (its target not recorded earlier, or not at an earlier place)
is taken away: moved to its place, a replacement could otherwise seem to come first.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import structs

import replay
from study.estimates import Record

RETRACTION = "event.retracted"


class _Places(Record, frozen=True):
    """By event id: the original of its place, and by original the version that stands."""

    original: dict[str, str]
    standing: dict[str, str | None]


def as_corrected(prefix: replay.Prefix, projection: replay.Projection) -> replay.Prefix:
    """The prefix as its corrections leave it; the same where none has an effect."""
    events = {event.event_id: event for event in prefix.events}
    corrections = [one for one in projection.corrections if one.status != "ineffective"]
    if not corrections:
        return prefix
    places = _places(events, corrections)
    made = sorted(
        _as_placed(events, places, corrections), key=lambda event: event.recorded_sequence
    )
    return structs.replace(prefix, events=tuple(made))


def _places(events: dict[str, replay.Event], corrections: list[replay.Correction]) -> _Places:
    silenced = {
        one.target
        for one in corrections
        if one.status == "applied" and events[one.event_id].type == RETRACTION
    }
    original = {event_id: event_id for event_id in events}
    replacements = [one for one in corrections if events[one.event_id].type != RETRACTION]
    for one in sorted(replacements, key=lambda one: events[one.event_id].recorded_sequence):
        original[one.event_id] = original[one.target]  # which was recorded earlier
    standing: dict[str, str | None] = {}
    for event_id in sorted(events, key=lambda id: events[id].recorded_sequence):
        place = original[event_id]
        standing.setdefault(place, None)
        if event_id not in silenced:
            standing[place] = event_id
    return _Places(original, standing)


def _as_placed(
    events: dict[str, replay.Event], places: _Places, corrections: list[replay.Correction]
) -> Iterator[replay.Event]:
    """Every standing version at its place; retractions have done what they do."""
    done = {one.event_id for one in corrections if events[one.event_id].type == RETRACTION}
    for place, standing in places.standing.items():
        if standing is None or standing in done:
            continue
        event, at = events[standing], events[place]
        yield structs.replace(
            event,
            recorded_sequence=at.recorded_sequence,
            recorded_at=at.recorded_at,
            supersedes=None,
            causes=tuple(_links(event, event.causes, events, places)),
            evidence_refs=tuple(_links(event, event.evidence_refs, events, places)),
        )


def _links(
    event: replay.Event,
    links: tuple[str, ...],
    events: dict[str, replay.Event],
    places: _Places,
) -> Iterator[str]:
    """The links that have an effect, each to the version that stands; other texts as they are."""
    own = events[places.original[event.event_id]].recorded_sequence
    for link in links:
        target = events.get(link)
        if target is None:
            yield link  # a text, or an event that the cutoff hides
            continue
        place = places.original[link]
        is_earlier = target.recorded_sequence < event.recorded_sequence
        standing = places.standing[place]
        if standing and is_earlier and events[place].recorded_sequence < own:
            yield standing
