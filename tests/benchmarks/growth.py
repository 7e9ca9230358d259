"""Prints what an event costs where a naive projection would grow: ratios to the plain case.

    python tests/benchmarks/growth.py [EVENTS]

Three logs of equal length: many work items; one work item that holds every event; many
items with 1 % corrections.  CPU seconds, medians of three runs in this process.
"""

from __future__ import annotations

import gc
import hashlib
import statistics
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


def cost(job: Callable[[], object]) -> float:
    """Median CPU seconds of three runs, with what was there before left out of collection."""
    runs = []
    for _ in range(3):
        gc.collect()
        gc.freeze()
        begin = time.process_time()
        job()
        runs.append(time.process_time() - begin)
        gc.unfreeze()
    return statistics.median(runs)


def grow(prefix: Prefix) -> None:
    rule_set = named("coordination/2")
    assert rule_set.grow is not None
    deque(rule_set.grow(prefix), maxlen=0)


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    project = named("coordination/2").project
    plain: dict[str, float] = {}
    print(f"{events} events; microseconds of CPU an event, and the ratio to the plain log")
    for name, shape in LOGS.items():
        text = b"".join(workload.lines(events, **shape))  # type: ignore[arg-type]
        prefix = read(text).at(Cutoff())
        jobs: dict[str, Callable[[], object]] = {
            "read and project": lambda text=text: project(read(text).at(Cutoff())),
            "project": lambda prefix=prefix: project(prefix),
            "every change": lambda prefix=prefix: grow(prefix),
        }
        for job, run in jobs.items():
            seconds = cost(run)
            base = plain.setdefault(job, seconds)
            print(f"{name:>16}  {job:<17} {seconds / events * 1e6:7.2f}  {seconds / base:5.2f}")


if __name__ == "__main__":
    main()
