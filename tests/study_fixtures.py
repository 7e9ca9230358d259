"""The hand counts of `fixtures/study`, as plain dictionaries.

It reads and decides nothing: what is compared with them, and how, is the tests' business.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, TypeAlias

FOLDER: Final = Path(__file__).resolve().parent.parent / "fixtures" / "study"
NAMES: Final = ("small-fleet", "two-clocks")
ENDPOINTS: Final = (
    "review_latency",
    "blocker_recovery",
    "progress_gap",
    "false_success",
    "stale_approval",
    "status_disagreement",
    "receipt_completeness",
    "cost",
)

Expected: TypeAlias = dict[str, Any]
"""One set: `asked`, `rows` and `denominators` by endpoint, and `register` where one is given."""


def log(name: str) -> Path:
    """The log of a fixture: `NAME.jsonl`."""
    return FOLDER / f"{name}.jsonl"


def beside(name: str, kind: str) -> Path:
    """A file beside a log: `register`, `access` or `assignment`."""
    return FOLDER / f"{name}.{kind}.csv"


def expected(name: str) -> dict[str, Expected]:
    """The sets of a fixture by name: `full`, `with_files`, `window`, `cutoff`."""
    text = (FOLDER / f"{name}.expected.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return {key: value for key, value in document.items() if isinstance(value, dict)}


def rows(name: str, set_name: str, endpoint: str) -> list[dict[str, Any]]:
    """The expected rows of one endpoint, without their `why`."""
    found: list[dict[str, Any]] = expected(name)[set_name]["rows"][endpoint]
    return [{key: value for key, value in row.items() if key != "why"} for row in found]


def denominator(name: str, set_name: str, endpoint: str) -> dict[str, Any]:
    """The expected denominator of one endpoint; of `cost`, one a component or currency."""
    found: dict[str, Any] = expected(name)[set_name]["denominators"][endpoint]
    return found


def reason_agrees(stated: str | None, found: str | None) -> bool:
    """Whether a reason is the stated one, or begins as stated where that ends with `*`."""
    if stated is None or found is None or not stated.endswith("*"):
        return stated == found
    return found.startswith(stated[:-1])
