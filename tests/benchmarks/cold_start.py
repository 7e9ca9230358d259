"""Prints what one `replay check` of 1,000 lines costs from a cold start, beside bare Python.

    python tests/benchmarks/cold_start.py [PYTHON]

PYTHON is an interpreter that has the package, this one by default.  Medians of 15 runs in
turn, bytecode warm, wall and CPU seconds of the child; the bound is on wall seconds, and
holds on an idle machine or not at all.  Steps in between show where the time goes.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINES = 1_000
RUNS = 15
BOUND = 0.12

TYPES = ("heartbeat", "note", "work.started", "artifact.published", "check.completed", "heartbeat")
PAYLOADS = {"note": {"text": "a sentence"}, "check.completed": {"check": "ci", "outcome": "passed"}}


def line(number: int) -> str:
    """One event of some 300 bytes."""
    kind = TYPES[number % len(TYPES)]
    value = {
        "schema_version": "events/1",
        "event_id": f"01HQ3V5W7X9Y-{number:08d}",
        "recorded_sequence": number,
        "recorded_at_utc": f"2026-01-01T{number // 60 % 24:02d}:{number % 60:02d}:00.25Z",
        "principal": f"principal-{number % 7}",
        "work_id": f"item-{number % 40:03d}",
        "type": kind,
        "payload": PAYLOADS.get(kind, {}),
        "artifact_revision": f"r{number // 200}",
    }
    return json.dumps(value, separators=(",", ":"))


def spent(command: Sequence[str]) -> tuple[float, float]:
    """Wall and CPU seconds of one run; its output is dropped."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu


def medians(commands: dict[str, list[str]]) -> dict[str, tuple[float, float]]:
    """Each command's medians; they take turns, so that a busy minute is shared by all."""
    runs: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for turn in range(RUNS + 2):
        for name, command in commands.items():
            measured = spent(command)
            if turn >= 2:  # the first two write the bytecode and warm the disk's cache
                runs[name].append(measured)
    return {
        name: (statistics.median(w for w, _ in run), statistics.median(c for _, c in run))
        for name, run in runs.items()
    }


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        log, empty = Path(folder, "log.jsonl"), Path(folder, "empty.jsonl")
        log.write_text("".join(f"{line(number)}\n" for number in range(1, LINES + 1)))
        empty.write_text("")
        check = [python, "-m", "replay", "check"]
        table = medians(
            {
                "bare Python": [python, "-c", "pass"],
                "import msgspec": [python, "-c", "import msgspec"],
                "replay --version": [python, "-m", "replay", "--version"],
                "replay check, no line": [*check, str(empty)],
                f"replay check, {LINES} lines": [*check, str(log)],
            }
        )
    for name, (wall, cpu) in table.items():
        print(f"{name:>26} {wall:6.3f} s wall, {cpu:6.3f} s CPU")
    wall = table[f"replay check, {LINES} lines"][0]
    print(f"{wall:.3f} s is {'under' if wall < BOUND else 'NOT under'} the bound of {BOUND} s")


if __name__ == "__main__":
    main()
