"""A real log of agents' messages, against answers authored by hand from the record itself.

Ids only: the messages stay where they are.  Somebody read each thread and asked what the
rules make of it, before the rules were asked.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from replay.check import OracleFile, check_log
from replay.decode import decode_bytes
from replay.history import History, admit
from replay.sources import Options, named

REAL: Final = Path(__file__).parent.parent.parent / "shared" / "data" / "real" / "h5i"
RULES: Final = "coordination/2"

AUTHORED: Final[tuple[tuple[str, str, str | None, Any, list[str] | None, str], ...]] = (
    # A reviewer's request, a repair, "all findings addressed", a second look, a final
    # sign-off.  No message announces a revision or carries a result, so the sign-off is a
    # claim with nothing behind it, and the commit in its prose is prose.
    ("3415946d1a8f68ba", "claim", "3415946d1a8f68ba", {"verdict": "unbound"}, [], "names none"),
    ("3415946d1a8f68ba", "claim", "a77bcaa0b34c5e55", {"verdict": "missing"}, [], "no evidence"),
    ("3415946d1a8f68ba", "state", None, {"value": None}, [], "messages start nothing"),
    ("3415946d1a8f68ba", "last_message", None, {"event_id": "f4806daa22e79141"}, None, "an ack"),
    # Approved twice, with a defect found in between: both are claims, and neither completes
    # the thread, so the messages after the first are not after the end of anything.
    ("8eed5a9906b90b7f", "claim", "a02d9a7c73b36f73", {"verdict": "missing"}, [], "no evidence"),
    ("8eed5a9906b90b7f", "claim", "7ea27f1e89f48a46", {"verdict": "missing"}, [], "no evidence"),
    ("8eed5a9906b90b7f", "anomaly", "after_terminal", [], None, "nothing ended"),
    # It says that it is a corrected copy of an earlier review, and names it nowhere: a
    # message of its own, which supersedes nothing.
    ("68abab02a9ff8f0f", "correction", "68abab02a9ff8f0f", None, None, "no link, no correction"),
    ("68abab02a9ff8f0f", "claim", "68abab02a9ff8f0f", {"verdict": "unbound"}, [], "names none"),
    ("68abab02a9ff8f0f", "claim", "e97d98fd4b367e02", {"verdict": "missing"}, [], "no evidence"),
    # DONE here means that a review was written, which asks for fixes.  Under rules that
    # took the word for the deed, the thread would be complete an hour too early.
    ("3745b0b56c3307b4", "claim", "f00d7a31375917a8", {"verdict": "missing"}, [], "no evidence"),
    ("3745b0b56c3307b4", "state", None, {"value": None}, [], "nothing was completed"),
    ("3745b0b56c3307b4", "last_progress", None, None, None, "nothing was evidenced"),
    ("3745b0b56c3307b4", "permission", None, "not established", None, "never"),
)


@pytest.fixture(scope="module")
def log() -> History:
    if not REAL.is_dir():
        pytest.skip("the real h5i messages are not there (shared/data/real/h5i)")
    imported = named("h5i-msg").read(
        [str(REAL / "h5i_i5h_messages.jsonl")],
        Options(recorded=str(REAL / "h5i_i5h_recorded.jsonl")),
    )
    return admit([decode_bytes(b"".join(imported.lines), name="h5i.jsonl")])


def oracle() -> bytes:
    answers = [
        {
            "id": f"q{number}",
            "rules": RULES,
            "at": {},
            "work_id": work_id,
            "question": question,
            "of": of,
            "expect": expect,
            "why": why,
            **({} if evidence is None else {"evidence": evidence}),
        }
        for number, (work_id, question, of, expect, evidence, why) in enumerate(AUTHORED, start=1)
    ]
    return json.dumps({"document": "replay.oracle/1", "answers": answers}).encode()


def test_every_authored_answer_agrees(log: History) -> None:
    result: Mapping[str, Any] = check_log(log, rules=RULES, oracle=OracleFile("by hand", oracle))
    differing = [answer for answer in result["answers"] if answer["outcome"] != "agree"]
    assert differing == []
    assert result["summary"]["agree"] == len(AUTHORED)


def test_what_coordination_1_left_undetermined_is_determined(log: History) -> None:
    first: Any = check_log(log, rules="coordination/1")["projection"]
    second: Any = check_log(log, rules=RULES)["projection"]
    assert len([item for item in first["items"] if item["undetermined_by"]]) == 23
    assert len(first["uncovered"]) == 31
    assert [item for item in second["items"] if item["undetermined_by"]] == []
    assert second["uncovered"] == []
    claims = Counter((c["claim"], c["verdict"]) for i in second["items"] for c in i["claims"])
    assert claims == {("review.requested", "unbound"): 31, ("work.completed", "missing"): 31}
