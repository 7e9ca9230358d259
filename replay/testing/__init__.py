"""Histories for tests of other systems: drawn, simulated, spoiled, and checked by pytest.

`simulate(seed, rates)` gives a log of known truth, `histories()` a Hypothesis strategy,
`DEFECTS` injectors of faults, and the pytest plugin a test for each authored answer.

    >>> import replay
    >>> from replay.testing.simulate import Rates, simulate
    >>> drawn = simulate(7, Rates(recover_per_hour=0.5), hours=40)
    >>> shown = replay.project(drawn.prefix, rules="coordination/2")
    >>> len(shown.episodes) == len(drawn.truth.episodes) > 0
    True

`pytest --replay-logs DIR` needs pytest, a strategy needs Hypothesis (`coordination-replay
[testing]` has both); nothing is imported before it is used.  Modules: `strategies`, `simulate`,
`defects`, `kills` (what the checks catch of the defects), `plugin`, `build` (single events);
the function `simulate` is taken from its module, whose name it shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from replay.testing.build import event, log_bytes
    from replay.testing.defects import DEFECTS, Defect, ValidLog
    from replay.testing.kills import kill_table
    from replay.testing.simulate import Rates, Simulated, Truth
    from replay.testing.strategies import events, histories, log_lines

# Names are imported when first used, so that each costs only what it needs.
_HOME = {
    "DEFECTS": "defects",
    "Defect": "defects",
    "Rates": "simulate",
    "Simulated": "simulate",
    "Truth": "simulate",
    "ValidLog": "defects",
    "event": "build",
    "events": "strategies",
    "histories": "strategies",
    "kill_table": "kills",
    "log_bytes": "build",
    "log_lines": "strategies",
}

__all__ = [
    "DEFECTS",
    "Defect",
    "Rates",
    "Simulated",
    "Truth",
    "ValidLog",
    "event",
    "events",
    "histories",
    "kill_table",
    "log_bytes",
    "log_lines",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'replay.testing' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"replay.testing.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
