"""Prints what strict decoding costs beside its peers, in CPU seconds for 10^6 lines.

    python tests/benchmarks/decode.py [LINES]

Peers, on the same lines in the same run: counting lines (the floor), msgspec into a
typed record with the payload left raw (not strict), and the standard library's json.
Ratios are what carries over to other machines.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from replay.decode import Decoder
from replay.fastpath import UtcLine

TYPES = ("heartbeat", "heartbeat", "note", "check.completed", "blocker.raised", "work.started")
PAYLOADS = {
    "note": {"text": "a sentence about the work, as long as such sentences usually are"},
    "check.completed": {"check": "unit", "outcome": "passed", "source": "runner-a"},
    "blocker.raised": {"blocker_id": "b-17", "reason": "waiting for the fixture to be reviewed"},
}


def line(number: int) -> bytes:
    """One event of about 500 bytes with every field present."""
    kind = TYPES[number % len(TYPES)]
    seconds, thousandths = divmod(number * 31, 1000)
    second = f"2026-01-{1 + seconds // 86400:02d}T{seconds // 3600 % 24:02d}"
    second += f":{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    value = {
        "schema_version": "events/1",
        "event_id": f"01HQ3V5W7X9Y-{number:012d}",
        "recorded_sequence": number,
        "recorded_at_utc": f"{second}.{thousandths:03d}456Z",
        "occurred_at_utc": f"{second}.{thousandths:03d}123Z",
        "principal": f"principal-{number % 23}",
        "claimed_author": f"author-{number % 19}",
        "relayed_by": None,
        "work_id": f"item-{number % 6666:06d}",
        "lane_id": f"lane-{number % 37}",
        "type": kind,
        "payload": PAYLOADS.get(kind, {}),
        "artifact_revision": f"r{number % 9}",
        "evidence_refs": [],
        "causes": [f"01HQ3V5W7X9Y-{number - 1:012d}"] if number % 5 == 0 else [],
        "supersedes": None,
    }
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def strict(chunks: list[bytes]) -> None:
    for _ in Decoder("benchmark").blocks(chunks):
        pass


def typed(chunks: list[bytes]) -> None:
    decode = msgspec.json.Decoder(UtcLine).decode
    for chunk in chunks:
        for text in chunk.splitlines():
            decode(text)


def standard(chunks: list[bytes]) -> None:
    for chunk in chunks:
        for text in chunk.splitlines():
            json.loads(text)


def floor(chunks: list[bytes]) -> None:
    for chunk in chunks:
        chunk.count(b"\n")


def cost(job: Callable[[list[bytes]], None], chunks: list[bytes]) -> float:
    """Median CPU seconds of three runs."""
    runs = []
    for _ in range(3):
        gc.collect()
        begin = time.process_time()
        job(chunks)
        runs.append(time.process_time() - begin)
    return statistics.median(runs)


def main() -> None:
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    text = [line(number) for number in range(1, lines + 1)]
    chunks = [b"".join(text[begin : begin + 2000]) for begin in range(0, lines, 2000)]
    print(f"{lines} lines of {sum(map(len, text)) / lines:.0f} bytes on average")
    peer = cost(typed, chunks)
    for job in (floor, typed, standard, strict):
        seconds = cost(job, chunks)
        print(f"{job.__name__:>10} {seconds / lines * 1e6:7.3f} s per 10^6, {seconds / peer:5.2f}")


if __name__ == "__main__":
    main()
