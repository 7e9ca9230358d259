"""Replay a log of coordination events and defend every answer.

    >>> import replay
    >>> history = replay.load("fixtures/cases/paper-nine-events.jsonl")
    >>> seen = history.until(sequence=5, minute=9)
    >>> projection = replay.project(seen, rules="coordination/1")
    >>> projection.items[0].state.value
    'blocked'
    >>> projection.episodes[0].end
    Censored(at=540000000000)

Every record is frozen, every value names its events and its rule, and every time
(integer nanoseconds; `replay.render` prints them) has the event that shows it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from replay import version as _version

__version__ = _version.VERSION

if TYPE_CHECKING:
    from replay.api import as_document, load, project, timeline_of
    from replay.checked import CheckResult, check_log
    from replay.errors import FileError, Refusal, ReplayError, UnknownRulesError, UsageError
    from replay.event import Event
    from replay.history import Cutoff, History, Prefix
    from replay.inquiry import explanation_of
    from replay.projection import Projection, RuleSet
    from replay.timestamps import render

# Names are imported when first used: a notebook pays for what it touches, and the
# command line's start does not pay for any of it.
_HOME = {
    "CheckResult": "checked",
    "Cutoff": "history",
    "Event": "event",
    "FileError": "errors",
    "History": "history",
    "Prefix": "history",
    "Projection": "projection",
    "Refusal": "errors",
    "ReplayError": "errors",
    "RuleSet": "projection",
    "UnknownRulesError": "errors",
    "UsageError": "errors",
    "as_document": "api",
    "check_log": "checked",
    "explanation_of": "inquiry",
    "load": "api",
    "project": "api",
    "render": "timestamps",
    "timeline_of": "api",
}

__all__ = [
    "CheckResult",
    "Cutoff",
    "Event",
    "FileError",
    "History",
    "Prefix",
    "Projection",
    "Refusal",
    "ReplayError",
    "RuleSet",
    "UnknownRulesError",
    "UsageError",
    "__version__",
    "as_document",
    "check_log",
    "explanation_of",
    "load",
    "project",
    "render",
    "timeline_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'replay' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"replay.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
