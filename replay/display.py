"""Results as a notebook shows them: records to documents, documents to HTML or lines.

A record's times are nanoseconds on its log's time basis, which is no part of the record.
`replay.project` and `History.board` note it beside items and episodes, and what they saw
beside the projection; a copy, or a record that came another way, has neither, and is shown
with its events, without its times and without a picture.
"""

from __future__ import annotations

from typing import Any, Final

from replay.document import Json, episode_document, item_document, projection_document
from replay.event import TimeBasis
from replay.projection import Episode, Item, Projection
from replay.report import notebook
from replay.rules import named
from replay.timeline import Timeline, timeline, timeline_document

MAX_DRAWN: Final = 2000
"""Visible events up to which a projection shows how its states came about."""
MAX_PROJECTED: Final = 200
"""The same where the rules do not say what changes, and each event is projected."""


def projection_html(projection: Projection) -> str:
    return notebook.projection_html(_document(projection), _history(projection))


def timeline_html(line: Timeline) -> str:
    return notebook.timeline_html(timeline_document(line, named(line.rules)))


def _history(projection: Projection) -> dict[str, Json] | None:
    """The timeline that led to a projection; null where it is not known, or long in making."""
    prefix, rule_set = projection.prefix, named(projection.rules)
    if prefix is None or len(prefix.events) > MAX_DRAWN:
        return None
    if rule_set.grow is None and not (rule_set.items_alone and len(prefix.events) <= MAX_PROJECTED):
        return None
    return timeline_document(timeline(prefix, rule_set), rule_set)


def projection_text(projection: Projection) -> str:
    return notebook.projection_text(_document(projection))


def item_html(item: Item) -> str:
    return notebook.item_html(_timed(item_document(item, _basis(item)), item.time_basis))


def episode_html(episode: Episode) -> str:
    document = {**episode_document(episode, _basis(episode)), "work_id": episode.work_id}
    return notebook.episode_html(_timed(document, episode.time_basis))


def _document(projection: Projection) -> dict[str, Json]:
    return projection_document(projection, named(projection.rules))


def _basis(record: Item | Episode) -> TimeBasis:
    return record.time_basis or "elapsed"  # and what it then makes of times is taken out again


def _timed(document: dict[str, Json], basis: TimeBasis | None) -> dict[str, Any]:
    return document if basis is not None else {k: _untimed(k, v) for k, v in document.items()}


def _untimed(key: str, value: Json) -> Json:
    match value:
        case dict():
            return {k: _untimed(k, v) for k, v in value.items()}
        case list():
            return [_untimed(key, v) for v in value]
        case _:
            return None if key in ("time", "at") else value
