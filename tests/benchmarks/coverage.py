"""Prints how often the 95 % intervals of `study operations` hold values that are known.

    python tests/benchmarks/coverage.py [LOGS] [HOURS]

LOGS (500) logs of HOURS (150) are drawn in each of four configurations of the simulated
process (`known.py`), written to a file, and answered with horizons fixed beforehand.  Times are
in hours, `s.e.` is the Monte-Carlo standard error of the coverage; PASS is 92.5 to 97.5 %.
A log in which the value or the interval is unknown counts as not covered, and is shown.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from replay.testing.build import log_bytes
from replay.testing.simulate import NS_PER_HOUR, START, Simulated, simulate
from replay.timestamps import format_utc
from study.estimates import Record, Unknown
from study.operational import operations
from study.reckoning import Options
from study.result import Endpoint, Estimate, Operations
from tests.benchmarks.known import HOURS, Configuration, Estimand, configurations

HOUR: Final = 3_600
DRAWS: Final = 1_000
BOUNDS: Final = (0.925, 0.975)


class Seen(Record, frozen=True):
    """One log's estimate beside the known value; `covers` is null where either is unknown."""

    known: float
    value: float | None
    covers: bool | None


def one_log(name: str, hours: float, seed: int) -> list[Seen]:
    """What one log says of each estimand of a configuration, in order."""
    asked = configurations(hours)[name]
    found = answer(asked, hours, seed)
    return [seen(found.endpoint(one.endpoint), one) for one in asked.estimands]


def answer(asked: Configuration, hours: float, seed: int) -> Operations:
    """Every endpoint of one log, drawn and written to a file."""
    drawn = simulate(seed, asked.rates, hours=hours)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.jsonl")
        log.write_bytes(drawn.log if asked.until is None else arrived_by(asked.until, drawn))
        return operated(log, asked, drawn.horizon_utc)


def nanoseconds(hours: float) -> int:
    return START + round(hours * NS_PER_HOUR)


def arrived_by(hours: float, drawn: Simulated) -> bytes:
    """The log without the items that arrived later; each lives its life apart from the others."""
    began: dict[str | None, int] = {}
    for event in drawn.history.events:
        began.setdefault(event.work_id, event.recorded_at)
    last = nanoseconds(hours)
    return log_bytes(event for event in drawn.history.events if began[event.work_id] <= last)


def operated(log: Path, asked: Configuration, horizon: str) -> Operations:
    since = None if asked.since is None else format_utc(nanoseconds(asked.since))
    horizons = tuple(time * HOUR for time in asked.horizons)
    return operations(
        [log],
        rules="coordination/2",
        window=(since, horizon),
        options=Options(horizons=horizons, draws=DRAWS),
    )


def seen(endpoint: Endpoint, one: Estimand) -> Seen:
    start = endpoint.curves[0].start / HOUR if endpoint.curves else 0.0
    known = one.known(start)
    found = next((each for each in endpoint.estimates if is_of(each, one)), None)
    if found is None or isinstance(found.value, Unknown):
        return Seen(known, None, None)
    scale = HOUR if one.unit == "seconds" else 1
    value = found.value / scale
    if isinstance(found.interval, Unknown):
        return Seen(known, value, None)
    return Seen(known, value, found.interval.low <= known * scale <= found.interval.high)


def is_of(found: Estimate, one: Estimand) -> bool:
    at = None if one.at is None else one.at * HOUR
    return (found.name, found.at, found.unit) == (one.name, at, one.unit)


class Counted(Record, frozen=True, kw_only=True):
    """Over all logs.  covered + missed + unknown = logs; `known` and `value` are means."""

    covered: int
    missed: int
    unknown: int
    known: float
    value: float

    @property
    def logs(self) -> int:
        return self.covered + self.missed + self.unknown

    @property
    def coverage(self) -> float:
        return self.covered / self.logs

    @property
    def error(self) -> float:
        """The Monte-Carlo standard error of the coverage."""
        return math.sqrt(self.coverage * (1 - self.coverage) / self.logs)


def counted(logs: Sequence[Seen]) -> Counted:
    told = [(one.known, one.value) for one in logs if one.value is not None]
    sides = zip(*told, strict=True) if told else ((), ())
    known, value = (math.fsum(side) / len(told) if told else math.nan for side in sides)
    return Counted(
        covered=sum(one.covers is True for one in logs),
        missed=sum(one.covers is False for one in logs),
        unknown=sum(one.covers is None for one in logs),
        known=known,
        value=value,
    )


def run(name: str, logs: int, hours: float, pool: Executor | None = None) -> list[Counted]:
    """What all logs say of each estimand of a configuration, in order."""
    many = partial(pool.map, chunksize=4) if pool else map
    found = many(partial(one_log, name, hours), range(logs))
    return [counted(of_one) for of_one in zip(*found, strict=True)]


# The table

HEAD: Final = ("", "known", "mean", "bias", "covered %", "s.e.", "unknown", "")
WIDTHS: Final = "{:<52}{:>9}{:>9}{:>9}{:>11}{:>6}{:>9}  {}"


def lines(asked: Configuration, found: Sequence[Counted]) -> Iterator[str]:
    for one, count in zip(asked.estimands, found, strict=True):
        at = "" if one.at is None else f" {one.at:g} h"
        yield WIDTHS.format(
            f"{one.endpoint}: {one.name}{at}{', h' if one.unit == 'seconds' else ''}",
            f"{count.known:.4f}",
            f"{count.value:.4f}",
            f"{count.value - count.known:+.4f}",
            f"{100 * count.coverage:.1f}",
            f"{100 * count.error:.1f}",
            count.unknown,
            "PASS" if BOUNDS[0] <= count.coverage <= BOUNDS[1] else "OUT",
        )


def main() -> None:
    logs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    hours = float(sys.argv[2]) if len(sys.argv) > 2 else HOURS
    print(f"{logs} logs of {hours:g} hours in each configuration, {DRAWS} redrawings a log")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for name, asked in configurations(hours).items():
            found = run(name, logs, hours, pool)
            print(WIDTHS.format(name.upper(), *HEAD[1:]).rstrip())
            print("\n".join(lines(asked, found)), flush=True)


if __name__ == "__main__":
    main()
