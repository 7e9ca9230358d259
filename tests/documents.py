"""Documents written by hand, from the rules' prose, for tests of what is printed.

The nine-event history is our reconstruction of the source paper's prose.
"""

from __future__ import annotations

import copy
from typing import Any

Json = dict[str, Any]

SHA = "4f1c0de8a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c"
DIGEST = "9ab3c1d2e4f506172839a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
TOOL = {"name": "replay", "version": "0.1.0"}


def mark(event_id: str, time: str | float, **more: str) -> Json:
    return {"event_id": event_id, "time": time, **more}


def derived(value: str | None, since: Json | None, rule: str, *evidence: str) -> Json:
    return {"value": value, "since": since, "rule": rule, "evidence": [*evidence]}


def receipt(event_id: str, outcome: str, revision: str | None, status: str, **other: Any) -> Json:
    return {
        "event_id": event_id,
        "type": "check.completed",
        "check": "ci",
        "source": None,
        "outcome": outcome,
        "revision": revision,
        "status": status,
        "principal": None,
        **other,
    }


def claim(event_id: str, kind: str, verdict: str, rule: str, **other: Any) -> Json:
    judged = {"event_id": event_id, "claim": kind, "verdict": verdict}
    return {**judged, "evidence": [], "missing": [], "rule": rule, **other}


def anomaly(code: str, event_id: str, *related: str) -> Json:
    return {"code": code, "event_id": event_id, "related": [*related]}


def item(work_id: str, last_message: Json, **other: Any) -> Json:
    """An item of which nothing is known but its last message; `other` replaces members."""
    return {
        "work_id": work_id,
        "state": derived(None, None, "1/state-base"),
        "revision": derived(None, None, "1/revision"),
        "clocks": {"last_message": last_message, "last_progress": None, "blocked_since": None},
        "episodes": [],
        "receipts": [],
        "claims": [],
        "corrections": [],
        "anomalies": [],
        "flags": [],
        "undetermined_by": [],
        "authorization": "not established",
        **other,
    }


def projection(*items: Json, **other: Any) -> Json:
    """A `replay.projection/1` document of the full log `handoff.jsonl`, nine events."""
    return {
        "document": "replay.projection/1",
        "tool": TOOL,
        "input": {
            "name": "handoff.jsonl",
            "sha256": SHA,
            "lines": 10,
            "blank": 0,
            "duplicates": 1,
            "quarantined": 0,
            "admitted": 9,
            "time_basis": "elapsed",
            "complete": True,
            "gaps": [],
            "notes": [],
        },
        "rules": {"id": "coordination/1", "digest": f"sha256:{DIGEST}"},
        "cutoff": {"sequence": None, "recorded": None, "observed": 13, "flags": []},
        "accounting": {"applied": 9, "inert": 0, "beyond_cutoff": 0},
        "items": [*items],
        "unassigned": {"events": 0, "last_message": None, "anomalies": []},
        "uncovered": [],
        **other,
    }


def changed(document: Json, **parts: Json) -> Json:
    """A copy in which each named member of the document has some of its own replaced."""
    copied = copy.deepcopy(document)
    for name, members in parts.items():
        copied[name].update(members)
    return copied


def paper_early() -> Json:
    """The nine-event history at sequence 5 and minute 9: the contract's own example."""
    blocked = item(
        "W1",
        mark("e5", 8),
        state=derived("blocked", mark("e4", 3), "1/state-blocked", "e4"),
        revision=derived("r1", mark("e1", 0), "1/revision", "e1"),
        clocks={
            "last_message": mark("e5", 8),
            "last_progress": mark("e3", 2, rule="1/progress-check"),
            "blocked_since": mark("e4", 3),
        },
        episodes=[
            {
                "blocker_id": None,
                "opened": mark("e4", 3),
                "repeats": ["e5"],
                "end": {"kind": "censored", "at": 9},
                "elapsed_seconds": 360,
            }
        ],
        receipts=[
            receipt("e2", "passed", "r1", "current", source="local"),
            receipt("e3", "failed", "r1", "current"),
        ],
        flags=["no_origin"],
    )
    return projection(
        blocked,
        cutoff={"sequence": 5, "recorded": 9, "observed": 9, "flags": []},
        accounting={"applied": 5, "inert": 0, "beyond_cutoff": 4},
    )


def paper_full() -> Json:
    """The nine-event history at the full log."""
    awaiting = item(
        "W1",
        mark("e9", 13),
        state=derived("awaiting_review", mark("e8", 12), "1/state-awaiting-review", "e8"),
        revision=derived("r2", mark("e6", 10), "1/revision", "e6"),
        clocks={
            "last_message": mark("e9", 13),
            "last_progress": mark("e7", 11, rule="1/progress-check"),
            "blocked_since": None,
        },
        episodes=[
            {
                "blocker_id": None,
                "opened": mark("e4", 3),
                "repeats": ["e5"],
                "end": {"kind": "recovered", "by": mark("e6", 10), "evidence": ["e4"]},
                "elapsed_seconds": 420,
            }
        ],
        receipts=[
            receipt("e2", "passed", "r1", "superseded_by_revision", source="local"),
            receipt("e3", "failed", "r1", "superseded_by_revision"),
            receipt("e7", "passed", "r2", "current"),
            receipt("e9", "passed", "r1", "stale_on_arrival"),
        ],
        claims=[claim("e8", "review.requested", "supported", "1/readiness", evidence=["e7"])],
        flags=["no_origin"],
    )
    return projection(awaiting)


def everything() -> Json:
    """A UTC log with one of all that can be printed."""

    def at(minute: int, fraction: str = "") -> str:
        return f"2026-03-01T09:{minute:02d}:00{fraction}Z"

    ends = [
        (
            "db",
            {"kind": "recovered", "by": mark("e6", at(10)), "evidence": ["e5", "run-17"]},
            3903.2,
        ),
        (None, {"kind": "cancelled", "by": mark("e7", at(11)), "evidence": []}, 61),
        ("", {"kind": "cancelled_with_work", "by": mark("e8", at(12)), "evidence": []}, 93784),
        ("net", {"kind": "censored", "at": at(59)}, 0.000000001),
    ]
    busy = item(
        "agents/éclair-日本",
        mark("e30", at(59)),
        state=derived("cancelled", mark("e8", at(12)), "2/state-terminal", "e8"),
        revision=derived("f3a9c0de" * 5, mark("e1", at(0, ".123456789")), "2/revision", "e1"),
        clocks={
            "last_message": mark("e30", at(59)),
            "last_progress": mark("e12", at(30, ".123456789"), rule="2/progress-review"),
            "blocked_since": mark("e4", at(30, ".000000001")),
        },
        episodes=[
            {
                "blocker_id": blocker,
                "opened": mark("e4", at(3)),
                "repeats": ["e5"] if blocker == "db" else [],
                "end": end,
                "elapsed_seconds": elapsed,
            }
            for blocker, end, elapsed in ends
        ],
        receipts=[
            receipt("e9", "errored", None, "unbound", check="", source="github-actions"),
            receipt(
                "e10",
                "changes_requested",
                "f3a9c0de" * 5,
                "superseded_by_revision",
                type="review.completed",
                check=None,
                principal="reviewer-2",
            ),
        ],
        claims=[
            claim(
                "e11", "work.completed", "missing", "2/completion", missing=["lint", "any check"]
            ),
            claim("e12", "blocker.resolved", "missing", "2/resolution", missing=["evidence"]),
            claim("e13", "status.asserted", "not_comparable", "2/status"),
            claim("e14", "review.requested", "contradicted", "2/readiness", evidence=["e9", "e10"]),
            claim("e15", "review.requested", "stale", "2/readiness", evidence=["e16"]),
            claim("e17", "review.requested", "unbound", "2/readiness"),
            claim("e18", "review.requested", "unknown", "2/readiness"),
            claim("e19", "status.asserted", "supported", "2/status"),
        ],
        corrections=[
            {"event_id": "e20", "target": "e9", "status": "applied", "reason": "wrong\trun"},
            {"event_id": "e21", "target": "e1", "status": "ineffective", "reason": None},
        ],
        anomalies=[
            anomaly("link_self", "e22", "e22"),
            anomaly("link_forward", "e22", "e23"),
            anomaly("link_missing", "e22", "x"),
            anomaly("link_other_item", "e22", "e2"),
            anomaly("other_principal", "e21", "e1"),
            anomaly("after_terminal", "e24"),
            anomaly("not_terminal", "e25"),
            anomaly("no_open_episode", "e26"),
            anomaly("progress_while_blocked", "e27", "e4", "e5"),
            anomaly("revision_reintroduced", "e28", "e1"),
            anomaly("anachronistic", "e29", "e1"),
        ],
        flags=["no_origin", "possibly_incomplete"],
    )
    unclear = item(
        "zz",
        mark("e31", at(59)),
        state=derived(None, None, "1/uncovered"),
        episodes=None,
        receipts=None,
        claims=None,
        corrections=None,
        undetermined_by=["e31"],
        flags=["no_origin"],
    )
    document = projection(
        busy,
        item("quiet", mark("e3", at(2))),
        unclear,
        cutoff={
            "sequence": 60,
            "recorded": at(59),
            "observed": at(59),
            "flags": ["cutoff_beyond_log", "cutoff_hides_admitted"],
        },
        unassigned={
            "events": 2,
            "last_message": mark("e2", at(1)),
            "anomalies": [anomaly("link_missing", "e2", "y")],
        },
        uncovered=[
            {"event_id": "e31", "type": "work.completed", "work_id": "zz"},
            {"event_id": "e2", "type": "work.cancelled", "work_id": None},
        ],
    )
    return changed(
        document,
        input={
            "time_basis": "utc",
            "lines": 12,
            "blank": 1,
            "quarantined": 1,
            "complete": False,
            "gaps": [{"from": 3, "to": 5}, {"from": 9, "to": 9}],
            "notes": ["line_order_differs"],
        },
        accounting={"applied": 7, "inert": 2},
    )


ORACLE: Json = {
    "document": "replay.oracle/1",
    "title": "The paper's nine events",
    "why": "Our reconstruction from the paper's prose; the paper prints no log.",
    "answers": [
        {"id": "q1", "rules": "coordination/1", "at": {}, "work_id": "W1", "question": "state",
         "expect": {"value": "awaiting_review"}},
        {"id": "q2", "rules": "coordination/1", "at": {"sequence": 5, "minute": 9},
         "work_id": "W1", "question": "episode", "of": "e4",
         "expect": {"kind": "censored", "elapsed_seconds": 360}, "evidence": ["e4"]},
        {"id": "q3", "rules": "coordination/1", "at": {}, "work_id": "W1",
         "question": "episode", "of": "e4",
         "expect": {"kind": "recovered", "by": {"event_id": "e6", "time": 10},
                    "elapsed_seconds": 120}, "evidence": ["e4", "e6"],
         "why": "Wrong on purpose: it takes the clock to start anew at the repeat."},
        {"id": "q4", "rules": "coordination/1", "at": {}, "work_id": "W1",
         "question": "last_progress", "expect": "e7"},
        {"id": "q5", "rules": "coordination/1", "at": {}, "work_id": "W1",
         "question": "anomaly", "of": "anachronistic", "expect": []},
        {"id": "q6", "rules": "coordination/1", "at": {}, "work_id": None,
         "question": "last_message", "expect": None},
        {"id": "q7", "rules": "coordination/2", "at": {}, "work_id": "W1",
         "question": "receipt", "of": "e9", "expect": {"status": "stale_on_arrival"}},
        {"id": "q8", "rules": "coordination/1", "at": {}, "work_id": "W1",
         "question": "claim", "of": "e8", "expect": "undetermined"},
        {"id": "q9", "rules": "coordination/1", "at": {}, "work_id": "W1",
         "question": "permission", "expect": "not established"},
    ],
}  # fmt: skip


def answer(id_: str, outcome: str, expected: Any, got: Any, **other: Any) -> Json:
    facts = {"id": id_, "outcome": outcome, "expected": expected, "derived": got}
    return {**facts, "first_differing_event": None, "rule": None, "undetermined_by": [], **other}


def checked() -> Json:
    """A `replay.check/1` log entry: the nine events, and an oracle that is wrong in one answer."""
    recovered = {"kind": "recovered", "by": mark("e6", 10), "elapsed_seconds": 420}
    expected = [one["expect"] for one in ORACLE["answers"]]
    return {
        "outcome": "disagree",
        "projection": paper_full(),
        "refusal": None,
        "oracle": {"name": "handoff.oracle.json", "sha256": DIGEST},
        "answers": [
            answer("q1", "agree", expected[0],
                   {"value": "awaiting_review", "since": mark("e8", 12)},
                   rule="1/state-awaiting-review"),
            answer("q2", "agree", expected[1],
                   {"at": 9, "by": None, "kind": "censored", "elapsed_seconds": 360}),
            answer("q3", "disagree", expected[2], recovered, first_differing_event="e6",
                   rule="1/episode"),
            answer("q4", "agree", expected[3], mark("e7", 11, rule="1/progress-check"),
                   rule="1/progress-check"),
            answer("q5", "agree", [], []),
            answer("q6", "agree", None, None),
            answer("q7", "undetermined", expected[6], None, undetermined_by=["e9"]),
            answer("q8", "agree", "undetermined", None, undetermined_by=["e8"]),
            answer("q9", "agree", "not established", "not established"),
        ],
        "summary": {"agree": 7, "disagree": 1, "undetermined": 1},
    }  # fmt: skip


def refusal(**other: Any) -> Json:
    return {
        "document": "replay.refusal/1",
        "code": "wrong_type",
        "file": "a.jsonl",
        "line": 7,
        "byte_offset": 1204,
        "pointer": "/recorded_sequence",
        "expected": "integer 1 to 9007199254740991",
        "found": 'string "2"',
        "related": [],
        **other,
    }


def check(*logs: Json, exit_status: int = 0) -> Json:
    return {"document": "replay.check/1", "tool": TOOL, "logs": [*logs], "exit": exit_status}


def unanswered(outcome: str, **other: Any) -> Json:
    """A log entry with nothing compared."""
    return {
        "outcome": outcome,
        "projection": None,
        "refusal": None,
        "oracle": None,
        "answers": [],
        "summary": {"agree": 0, "disagree": 0, "undetermined": 0},
        **other,
    }
