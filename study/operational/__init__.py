"""The operational endpoints of one log or of many: what `study operations` prints.

    >>> from study.operational import operations
    >>> found = operations(["fixtures/cases/paper-nine-events.jsonl"], rules="coordination/2")
    >>> found.endpoint("blocker_recovery").denominator.observed
    1

This package alone imports `replay`, and of it public names only.  Here logs become rows
(`study.rows`), each with the events behind it; what is estimated from them is
`study.reckoning`'s.  Each log is judged alone: an item of one log is never that of another.
"""

from __future__ import annotations

from replay import FileError, ReplayError, UsageError, to_csv
from study.operational.gather import operations
from study.operational.question import LogsRefused, Question

__all__ = [
    "FileError",
    "LogsRefused",
    "Question",
    "ReplayError",
    "UsageError",
    "operations",
    "to_csv",
]
