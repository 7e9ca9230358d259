"""Prints what an event costs where a naive projection would grow: ratios to the plain case.

    python tests/benchmarks/growth.py [EVENTS]

Three logs of equal length: many work items; one work item that holds every event; many
items with 1 % corrections.  The logs take turns, and the least disturbed run of each counts.
"""

from __future__ import annotations

import gc
import hashlib
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import workload  # noqa: E402

from replay.decode import decode  # noqa: E402
from replay.history import Cutoff, History, Prefix, admit  # noqa: E402
from replay.rules import named  # noqa: E402

LOGS = {
    "plain": {"items": None, "corrections": 0.0},
    "one item": {"items": 1, "corrections": 0.0},
    "1 % corrections": {"items": None, "corrections": 0.01},
}


def read(text: bytes) -> History:
    source = decode([text], name="benchmark", sha256=hashlib.sha256(text).hexdigest())
    return admit([source])


def costs(jobs: dict[str, Callable[[], object]], rounds: int = 5) -> dict[str, float]:
    """Least CPU seconds of each job, run in turns and without the collector."""
    least = dict.fromkeys(jobs, float("inf"))
    gc.collect()
    gc.freeze()
    gc.disable()
    for _ in range(rounds):
        for name, job in jobs.items():
            begin = time.process_time()
            job()
            least[name] = min(least[name], time.process_time() - begin)
            gc.collect()
    gc.enable()
    return least


def grow(prefix: Prefix) -> None:
    rule_set = named("coordination/2")
    assert rule_set.grow is not None
    deque(rule_set.grow(prefix), maxlen=0)


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    project = named("coordination/2").project
    texts = {
        name: b"".join(workload.lines(events, **shape))  # type: ignore[arg-type]
        for name, shape in LOGS.items()
    }
    prefixes = {name: read(text).at(Cutoff()) for name, text in texts.items()}
    print(f"{events} events; microseconds of CPU an event, and the ratio to the plain log")
    for job, runs in {
        "project": {n: lambda p=p: project(p) for n, p in prefixes.items()},
        "read and project": {
            n: lambda t=t: project(read(t).at(Cutoff())) for n, t in texts.items()
        },
        "every change": {n: lambda p=p: grow(p) for n, p in prefixes.items()},
    }.items():
        least = costs(runs)
        for name, seconds in least.items():
            ratio = seconds / least["plain"]
            print(f"{job:<17} {name:<16} {seconds / events * 1e6:7.2f}  {ratio:5.2f}")


if __name__ == "__main__":
    main()
