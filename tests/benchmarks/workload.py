"""A seeded synthetic log of the shape that the benchmarks ask for: lines of about 500 bytes.

    python tests/benchmarks/workload.py EVENTS [SEED] [--items N] [--corrections SHARE] > LOG

40 % heartbeats, about 2 % exact duplicates, work items of skewed size, concurrent
blockers, reviews, completions, stale receipts and, where asked for, a share of
corrections.  Nothing is drawn from the clock: the same arguments give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from random import Random
from typing import Any

EVENTS_AN_ITEM = 150
WEIGHTS = {
    "artifact.published": 12,
    "check.completed": 16,
    "note": 12,
    "blocker.raised": 4,
    "blocker.resolved": 2,
    "blocker.cancelled": 1,
    "review.requested": 4,
    "review.completed": 4,
    "work.started": 2,
    "status.asserted": 2,
    "work.completed": 1,
    "work.cancelled": 0.2,
    "work.reopened": 0.4,
}


class Item:
    """What the generator remembers of one work item, so that links name something."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.revision = 0
        self.blockers: dict[str, str] = {}
        self.evidence: list[str] = []
        self.correctable: list[dict[str, Any]] = []
        self.seen = False


def lines(
    events: int, seed: int = 0, *, items: int | None = None, corrections: float = 0.0
) -> Iterator[bytes]:
    """The lines of a log of that many distinct events, each with its newline."""
    random = Random(seed)
    count = items or max(1, events // EVENTS_AN_ITEM)
    boards = [Item(f"item-{number:06d}") for number in range(count)]
    sizes = [(number + 1) ** -0.7 for number in range(count)]
    random.shuffle(sizes)
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    clock = 0
    for sequence, item in enumerate(random.choices(boards, sizes, k=events), start=1):
        clock += random.randint(1, 59)
        value = _envelope(random, sequence, clock, item)
        correct = corrections and item.correctable and random.random() < corrections
        if correct:
            _correct(random, value, item)
        elif not item.seen:
            item.seen = True
            value["type"] = "work.proposed"
        elif random.random() < 0.4:
            value["type"] = "heartbeat"
        else:
            value["type"] = random.choices(kinds, weights)[0]
            _fill(random, value, item)
        line = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        yield line
        if random.random() < 0.02:
            yield line


def _envelope(random: Random, sequence: int, clock: int, item: Item) -> dict[str, Any]:
    return {
        "schema_version": "events/1",
        "event_id": f"01HQ3V5W7X9Y-{sequence:012d}",
        "recorded_sequence": sequence,
        "recorded_at_utc": _time(clock),
        "occurred_at_utc": _time(clock - random.randint(0, 5000)),
        "principal": "principal-7",
        "claimed_author": f"author-{random.randint(1, 19)}",
        "relayed_by": "relay-a" if random.random() < 0.15 else None,
        "work_id": item.name,
        "lane_id": f"lane-{random.randint(1, 37)}",
        "type": "",
        "payload": {},
        "artifact_revision": None,
        "evidence_refs": [],
        "causes": [],
        "supersedes": None,
    }


def _time(milliseconds: int) -> str:
    seconds, thousandths = divmod(milliseconds + 86_400_000, 1000)
    day, second = divmod(seconds, 86_400)
    hour, rest = divmod(second, 3600)
    month, day = divmod(day, 28)
    return (
        f"{2026 + month // 12}-{month % 12 + 1:02d}-{day + 1:02d}"
        f"T{hour:02d}:{rest // 60:02d}:{rest % 60:02d}.{thousandths:03d}001Z"
    )


def _fill(random: Random, value: dict[str, Any], item: Item) -> None:
    kind = value["type"]
    current = f"r{item.revision}" if item.revision else None
    match kind:
        case "note":
            value["payload"] = {"text": "a sentence about the work, as they usually are in notes"}
        case "artifact.published":
            item.revision += random.random() < 0.8 or not item.revision
            value["artifact_revision"] = f"r{item.revision}"
            value["causes"] = [*item.blockers.values()][:1] if random.random() < 0.3 else []
            item.evidence = [*item.evidence, value["event_id"]][-3:]
        case "check.completed":
            outcome = random.choices(("passed", "failed", "errored"), (60, 35, 5))[0]
            check = random.choice(("unit", "lint", "types", "build", "e2e"))
            value["payload"] = {"check": check, "outcome": outcome, "source": "runner-a"}
            stale = item.revision > 1 and random.random() < 0.2
            value["artifact_revision"] = f"r{item.revision - 1}" if stale else current
            item.evidence = [*item.evidence, value["event_id"]][-3:]
        case "blocker.raised":
            blocker = random.choice(("b1", "b2", "b3"))
            value["payload"] = {"blocker_id": blocker, "reason": "waiting for an answer"}
            item.blockers.setdefault(blocker, value["event_id"])
        case "blocker.resolved" | "blocker.cancelled":
            blocker = next(iter(item.blockers), "b1")
            item.blockers.pop(blocker, None)
            value["payload"] = {"blocker_id": blocker}
            value["evidence_refs"] = item.evidence[-1:]
        case "review.requested":
            value["payload"] = {"requires": ["unit", "lint"]}
            value["artifact_revision"] = current
        case "review.completed":
            outcome = random.choice(("approved", "changes_requested", "commented"))
            value["payload"] = {"outcome": outcome}
            value["artifact_revision"] = current
        case "work.completed":
            value["artifact_revision"] = current
        case "status.asserted":
            value["payload"] = {"state": random.choice(("active", "blocked", "complete"))}
    item.correctable = [*item.correctable, value][-20:]


def _correct(random: Random, value: dict[str, Any], item: Item) -> None:
    target = random.choice(item.correctable)
    value["supersedes"] = target["event_id"]
    if random.random() < 0.5:
        value["type"] = "event.retracted"
        value["payload"] = {"reason": "recorded by mistake"}
    else:
        for field in ("type", "payload", "artifact_revision"):
            value[field] = target[field]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("events", type=int)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--items", type=int)
    parser.add_argument("--corrections", type=float, default=0.0)
    given = parser.parse_args()
    sys.stdout.buffer.writelines(
        lines(given.events, given.seed, items=given.items, corrections=given.corrections)
    )


if __name__ == "__main__":
    main()
