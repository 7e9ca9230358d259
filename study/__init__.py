"""The reviewer study and the operational endpoints, over what `replay` derives.

    >>> import study
    >>> found = study.operations(["fixtures/cases/paper-nine-events.jsonl"], rules="coordination/2")
    >>> [(one.name, one.value) for one in found.endpoint("blocker_recovery").estimates][0]
    ('median time to recovery', 420.0)

`study.operations(logs, rules=..., options=study.Options(horizons=(3600,)))` is `study
operations` as a function.  The statistical methods stand alone, with published numbers as
tests: `study.survival`, `incidence`, `proportions`, `bootstrap`, `clusters`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from study.operational import operations
    from study.reckoning import Options
    from study.result import Operations

# Names are imported when first used: `study --help` needs no statistics.
_HOME = {
    "Operations": "result",
    "Options": "reckoning",
    "operations": "operational",
}

__all__ = ["Operations", "Options", "operations"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'study' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"study.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
