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
    from replay.api import as_document, load, log_paths, project, timeline_of
    from replay.checked import CheckResult, check_log
    from replay.errors import (
        FileError,
        Refusal,
        ReplayError,
        RulesError,
        UnknownRulesError,
        UsageError,
    )
    from replay.event import (
        Blocker,
        Check,
        Event,
        Review,
        ReviewRequest,
        StatusAssertion,
    )
    from replay.history import Cutoff, History, Prefix
    from replay.inquiry import (
        answers_over_time,
        explanation_of,
        logs_compared,
        rules_compared,
    )
    from replay.latency import Closed, Latencies, Latency, Reviewed, Waiting, latencies
    from replay.projection import (
        Anomaly,
        Cancelled,
        CancelledWithWork,
        Censored,
        Claim,
        Clocks,
        Correction,
        Derived,
        Episode,
        Item,
        Mark,
        Progress,
        Projection,
        Receipt,
        Recovered,
        Rule,
        RuleSet,
        Unassigned,
        Uncovered,
    )
    from replay.table_csv import to_csv
    from replay.timeline import Timeline
    from replay.timestamps import render

# Names are imported when first used: a notebook pays for what it touches, and the
# command line's start does not pay for any of it.
_HOME = {
    "Anomaly": "projection",
    "Blocker": "event",
    "Cancelled": "projection",
    "CancelledWithWork": "projection",
    "Censored": "projection",
    "Check": "event",
    "CheckResult": "checked",
    "Claim": "projection",
    "Clocks": "projection",
    "Closed": "latency",
    "Correction": "projection",
    "Cutoff": "history",
    "Derived": "projection",
    "Episode": "projection",
    "Event": "event",
    "FileError": "errors",
    "History": "history",
    "Item": "projection",
    "Latencies": "latency",
    "Latency": "latency",
    "Mark": "projection",
    "Prefix": "history",
    "Progress": "projection",
    "Projection": "projection",
    "Receipt": "projection",
    "Recovered": "projection",
    "Refusal": "errors",
    "ReplayError": "errors",
    "Review": "event",
    "ReviewRequest": "event",
    "Reviewed": "latency",
    "Rule": "projection",
    "RuleSet": "projection",
    "RulesError": "errors",
    "StatusAssertion": "event",
    "Timeline": "timeline",
    "Unassigned": "projection",
    "Uncovered": "projection",
    "UnknownRulesError": "errors",
    "UsageError": "errors",
    "Waiting": "latency",
    "answers_over_time": "inquiry",
    "as_document": "api",
    "check_log": "checked",
    "explanation_of": "inquiry",
    "latencies": "latency",
    "load": "api",
    "log_paths": "api",
    "logs_compared": "inquiry",
    "project": "api",
    "render": "timestamps",
    "rules_compared": "inquiry",
    "timeline_of": "api",
    "to_csv": "table_csv",
}

__all__ = [
    "Anomaly",
    "Blocker",
    "Cancelled",
    "CancelledWithWork",
    "Censored",
    "Check",
    "CheckResult",
    "Claim",
    "Clocks",
    "Closed",
    "Correction",
    "Cutoff",
    "Derived",
    "Episode",
    "Event",
    "FileError",
    "History",
    "Item",
    "Latencies",
    "Latency",
    "Mark",
    "Prefix",
    "Progress",
    "Projection",
    "Receipt",
    "Recovered",
    "Refusal",
    "ReplayError",
    "Review",
    "ReviewRequest",
    "Reviewed",
    "Rule",
    "RuleSet",
    "RulesError",
    "StatusAssertion",
    "Timeline",
    "Unassigned",
    "Uncovered",
    "UnknownRulesError",
    "UsageError",
    "Waiting",
    "__version__",
    "answers_over_time",
    "as_document",
    "check_log",
    "explanation_of",
    "latencies",
    "load",
    "log_paths",
    "logs_compared",
    "project",
    "render",
    "rules_compared",
    "timeline_of",
    "to_csv",
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
