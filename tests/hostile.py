"""A log that is valid by the contract and written against whoever prints it.

Markup in every field that takes text, marks that reorder or hide what stands beside them,
words longer than any screen, names that a script's objects already have, and what
templates, comments and scripts would end at.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

MARKUP: Final = "<script>alert(1)</script><img src=x onerror=alert(2)>"
REORDERED: Final = "\u202egnp.exe\u2066"
HUGE: Final = "W" + "x" * 1000
HIDDEN: Final = (
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\u2028\u2029"
)

_EVENTS: Final[tuple[dict[str, Any], ...]] = (
    {"work_id": MARKUP, "type": "work.started", "principal": '"><svg onload=alert(3)>'},
    {
        "work_id": MARKUP,
        "type": "artifact.published",
        "artifact_revision": REORDERED,
        "payload": {"description": "</script><script>alert(4)</script>"},
    },
    {
        "work_id": HUGE,
        "type": "blocker.raised",
        "payload": {"blocker_id": "b" * 10_000, "reason": "{{script}} ${alert(5)} <!-- --> ]]>"},
    },
    {
        "work_id": "__proto__",
        "type": "note",
        "claimed_author": "\u200badmin\u200b",
        "payload": {"text": "\u2028\u2029\u0000 javascript:alert(6)", "__proto__": 1},
    },
    {
        "work_id": MARKUP,
        "type": "check.completed",
        "artifact_revision": REORDERED,
        "causes": ["</script>"],
        "payload": {
            "check": "<b>ci</b>" + "y" * 300,
            "outcome": "passed",
            "source": "z\u0301\u0301\u0301\u0301\u0301",
        },
    },
    {"work_id": MARKUP, "type": "work.completed", "artifact_revision": "r" * 1000},
    {
        "work_id": MARKUP,
        "type": "event.retracted",
        "supersedes": "e6",
        "payload": {"reason": "<a href=javascript:alert(7)>why</a> \u05e9\u05dc\u05d5\u05dd"},
    },
    {"work_id": "constructor", "type": "<i>custom</i>", "payload": {"a": "\U0001f600 \u202d"}},
    {"type": "toString", "relayed_by": "&lt;b&gt;", "lane_id": "\u0645\u0631\u062d\u0628\u0627"},
)


def write(path: Path) -> Path:
    """The log as a file."""
    numbered = [
        {
            "schema_version": "events/1",
            "event_id": f"e{n}",
            "recorded_sequence": n,
            "recorded_at_utc": f"2026-05-01T09:{n:02d}:00Z",
            **event,
        }
        for n, event in enumerate(_EVENTS, 1)
    ]
    path.write_text(
        "".join(f"{json.dumps(event, ensure_ascii=False)}\n" for event in numbered),
        encoding="utf-8",
    )
    return path
