"""Lane status logs become contract lines: forced moves are flagged, `done` is a claim."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import replay
from replay import sources
from replay.decode import decode_bytes
from replay.errors import FileError, UsageError
from replay.event import Event
from replay.history import History, admit
from replay.rules import known
from replay.sources.appended import by_commit, by_line
from replay.sources.git import Version
from replay.sources.imported import Imported, Options
from replay.sources.spec_kitty import INERT_LANES, LANES, NO_RECEIPT_TIMES, convert, said_at

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures" / "foreign" / "spec-kitty"
REAL = ROOT.parent / "shared" / "data" / "real" / "coordination" / "Priivacy-ai__spec-kitty"
REAL_FILES = sorted(REAL.rglob("*.jsonl")) if REAL.exists() else []
STATUS_FILES = [path for path in REAL_FILES if path.parent.name == "status_events"]
COMMIT = "1" * 40


def imported(source: Path, **options: str) -> Imported:
    return sources.named("spec-kitty").read([str(source)], Options(**options))


def fixture(name: str) -> Imported:
    return imported(FIXTURES / f"{name}.status.events.jsonl")


def history(result: Imported) -> History:
    """Through the strict reader and admission, like any other log."""
    return admit([decode_bytes(b"".join(result.lines), name="imported.jsonl")])


def events(result: Imported) -> tuple[Event, ...]:
    return history(result).events


def losses(result: Imported) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for loss in result.losses:
        found.setdefault(loss.field, []).append((loss.count, loss.reason))
    return found


def bare(*rows: dict[str, Any] | bytes) -> Imported:
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    return convert(by_line(b"\n".join(lines), said_at), "derived")


def move(origin: str | None, lane: str | None, **fields: Any) -> dict[str, Any]:
    """One transition, whose id is its two lanes."""
    row: dict[str, Any] = {
        "event_id": f"{origin}-{lane}",
        "at": "2026-03-02T09:00:00+00:00",
        "actor": "ada",
        "mission_slug": "lamp",
        "wp_id": "WP01",
        "from_lane": origin,
        "to_lane": lane,
        "force": False,
    }
    return row | fields


def types(*rows: dict[str, Any]) -> list[str]:
    return [event.type for event in events(bare(*rows))]


# --- the four families ----------------------------------------------------------------


def test_one_file_with_all_four_families_is_admitted_whole() -> None:
    admitted = history(fixture("four-families"))
    assert (admitted.input.admitted, admitted.input.gaps, admitted.input.notes) == (29, (), ())
    assert [event.type for event in admitted.events] == [
        "spec-kitty.lifecycle.MissionCreated",
        "work.proposed",
        "work.proposed",
        "work.proposed",
        "spec-kitty.lane.claimed",
        "work.started",
        "spec-kitty.annotation",
        "review.requested",
        "spec-kitty.lane.in_review",
        "review.completed",
        "spec-kitty.lane.planned",
        "spec-kitty.forced",
        "work.started",
        "blocker.raised",
        "blocker.resolved",
        "work.started",
        "review.requested",
        "spec-kitty.lane.in_review",
        "check.completed",
        "check.completed",
        "review.completed",
        "spec-kitty.lane.approved",
        "work.cancelled",
        "work.reopened",
        "spec-kitty.forced",
        "spec-kitty.lane.planned",
        "work.completed",
        "spec-kitty.annotation",
        "spec-kitty.retrospective.RetrospectiveCaptured",
    ]


def test_every_row_has_one_event_of_its_own_id_with_the_row_as_written() -> None:
    rows = (FIXTURES / "four-families.status.events.jsonl").read_bytes().splitlines()
    own = {e.event_id: e for e in events(fixture("four-families")) if "row" in e.payload}
    assert len(own) == len(rows) == 21
    for row in map(json.loads, rows):
        assert own[row["event_id"]].payload["row"] == row


def test_what_a_row_implies_stands_before_it_and_names_it() -> None:
    found = events(fixture("four-families"))
    implied = [event for event in found if "/" in event.event_id]
    assert [event.event_id.split("/")[1] for event in implied] == [
        *("review", "forced", "resolved", "check-1", "check-2", "review", "reopened", "forced")
    ]
    places = {event.event_id: event.recorded_sequence for event in found}
    for event in implied:
        row = event.payload["transition"]
        assert event.event_id.startswith(f"{row}/")
        assert event.recorded_sequence < places[row]


def test_a_package_that_is_created_is_proposed_so_its_origin_is_known() -> None:
    projection = replay.project(history(fixture("four-families")).until(), rules="coordination/1")
    assert [(item.work_id, item.flags) for item in projection.items] == [("WP01", ()), ("WP02", ())]


def test_an_annotation_is_of_its_package_and_of_no_lane_context() -> None:
    note = events(fixture("four-families"))[6]
    assert (note.work_id, note.lane_id, note.inert) == ("WP01", None, True)
    assert note.payload["row"]["delta"]["model"] == "__resolved_model_absent__"


def test_a_mission_and_its_retrospective_are_of_no_package() -> None:
    found = events(fixture("four-families"))
    assert (found[0].work_id, found[-1].work_id) == (None, None)
    assert (found[0].lane_id, found[-1].lane_id) == ("lamp-dimmer-01KA0000",) * 2


@pytest.mark.parametrize(
    ("row", "event_type"),
    [
        ({"type": "gate_passed", "verdict": "approved"}, "spec-kitty.other.gate_passed"),
        ({"event": "completed", "outcome": "done"}, "spec-kitty.other.completed"),
        ({"type": "work.completed"}, "spec-kitty.other.work.completed"),
        ({"type": "\x1b[2J"}, "spec-kitty.other.unnamed"),
        ({}, "spec-kitty.other.unnamed"),
        ({"event_type": "WPCreated"}, "spec-kitty.lifecycle.WPCreated"),
        ({"event_type": ["WPCreated"], "wp_id": "WP01"}, "spec-kitty.lifecycle.unnamed"),
        ({"event_type": "WPCreated", "payload": {"wp_id": "WP01"}}, "work.proposed"),
        (
            {"event_type": "WPCreated", "aggregate_type": "WorkPackage", "aggregate_id": "WP01"},
            "work.proposed",
        ),
    ],
)
def test_a_row_of_no_known_family_or_name_is_visible_and_inert(
    row: dict[str, Any], event_type: str
) -> None:
    (event,) = events(bare({"at": "2026-03-02T09:00:00Z"} | row))
    assert event.type == event_type
    assert event.inert == event_type.startswith("spec-kitty.")


# --- lanes ----------------------------------------------------------------------------


@pytest.mark.parametrize(("lane", "event_type"), sorted(LANES.items()))
def test_the_lane_alone_chooses_the_class(lane: str, event_type: str) -> None:
    row = move(None, lane, reason="BLOCKED DONE approved cancelled", execution_mode="done")
    assert types(row) == [event_type]


@pytest.mark.parametrize("lane", INERT_LANES)
def test_a_lane_that_no_class_stands_for_is_inert(lane: str) -> None:
    assert types(move("in_progress", lane)) == [f"spec-kitty.lane.{lane}"]


@pytest.mark.parametrize(
    ("lane", "event_type"),
    [
        ("Done", "spec-kitty.lane.Done"),
        ("work.completed", "spec-kitty.lane.work.completed"),
        (" done", "spec-kitty.lane.unnamed"),
        (7, "spec-kitty.lane.unnamed"),
        (["done"], "spec-kitty.lane.unnamed"),
        (None, "spec-kitty.lane.unnamed"),
    ],
)
def test_a_lane_of_no_protocol_is_inert_and_a_loss(lane: Any, event_type: str) -> None:
    result = bare(move("approved", lane))
    assert [event.type for event in events(result)] == [event_type]
    assert (1, "no such field: not a lane of the protocol, kept inert") in losses(result)["to_lane"]


def test_falling_back_to_planned_proposes_nothing_anew() -> None:
    assert types(move("in_review", "planned")) == ["spec-kitty.lane.planned"]
    assert types(move("planned", "planned")) == ["work.proposed"]


@pytest.mark.parametrize("origin", ["done", "canceled"])
@pytest.mark.parametrize("lane", ["planned", "in_progress", "for_review", "blocked"])
def test_leaving_a_terminal_lane_reopens_first(origin: str, lane: str) -> None:
    found = types(move(origin, lane))
    assert found[0] == "work.reopened"
    assert len(found) == 2


def test_going_from_one_terminal_lane_to_another_reopens_nothing() -> None:
    assert types(move("done", "canceled")) == ["work.cancelled"]


@pytest.mark.parametrize("lane", ["planned", "in_progress", "for_review", "done"])
def test_leaving_blocked_claims_a_resolution_and_links_the_row_that_blocked(lane: str) -> None:
    blocked = move("in_progress", "blocked")
    again = move("blocked", "blocked")
    found = events(bare(blocked, again, move("blocked", lane)))
    assert [event.type for event in found[:3]] == [
        *("blocker.raised", "blocker.raised", "blocker.resolved")
    ]
    assert found[2].causes == ("in_progress-blocked",)


def test_a_cancelled_blocker_is_not_resolved() -> None:
    assert types(move("blocked", "canceled")) == ["work.cancelled"]


def test_leaving_a_block_that_no_row_made_has_no_cause() -> None:
    assert events(bare(move("blocked", "in_progress")))[0].causes == ()


def test_the_reason_of_a_block_may_stand_in_the_policy() -> None:
    row = move("planned", "blocked", policy_metadata={"evidence": "no room on the disk"})
    (event,) = events(bare(row))
    assert event.payload["reason"] == "no room on the disk"
    (event,) = events(bare(row | {"reason": "alloc_failed"}))
    assert event.payload["reason"] == "alloc_failed"


def test_a_row_that_leaves_another_lane_than_the_last_one_entered_is_a_loss() -> None:
    result = bare(move("planned", "claimed"), move("in_progress", "for_review"))
    assert losses(result)["from_lane"] == [(1, "ambiguous: not the lane of the package's last row")]


# --- forced moves ---------------------------------------------------------------------


def test_a_forced_move_is_flagged_by_an_inert_event_and_in_its_own_payload() -> None:
    flag, own = events(bare(move("planned", "done", force=True)))
    assert (flag.type, flag.inert, flag.work_id) == ("spec-kitty.forced", True, "WP01")
    assert flag.payload == {
        "from_lane": "planned",
        "to_lane": "done",
        "transition": "planned-done",
    }
    assert (own.type, own.payload["forced"]) == ("work.completed", True)


@pytest.mark.parametrize("force", ["true", 1, "yes", []])
def test_force_that_is_no_boolean_is_not_believed_and_a_loss(force: Any) -> None:
    result = bare(move("planned", "done", force=force))
    assert [event.type for event in events(result)] == ["work.completed"]
    assert losses(result)["force"] == [(1, "ambiguous: not a boolean, not flagged")]


def test_the_losses_count_the_forced_moves() -> None:
    assert losses(fixture("four-families"))["force"] == [
        (2, "no such field: flagged by an event spec-kitty.forced")
    ]


# --- reviews, verifications, revisions ------------------------------------------------

REVIEW = {"reviewer": "bo", "verdict": "approved", "reference": "cycle-2"}


def test_a_review_is_the_reviewers_and_relayed_by_the_actor() -> None:
    review, own = events(bare(move("in_review", "approved", review_result=REVIEW)))
    assert (review.type, review.payload["outcome"]) == ("review.completed", "approved")
    assert (review.claimed_author, review.relayed_by, review.principal) == ("bo", "ada", None)
    assert (own.claimed_author, own.relayed_by) == ("ada", None)
    assert review.evidence_refs == ("cycle-2",)


def test_a_reviewer_who_moves_the_package_relays_nothing() -> None:
    review = events(bare(move("in_review", "approved", actor="bo", review_result=REVIEW)))[0]
    assert (review.claimed_author, review.relayed_by) == ("bo", None)


def test_the_lane_approved_alone_is_no_review() -> None:
    assert types(move("in_review", "approved", reason="looks good")) == ["spec-kitty.lane.approved"]


def test_one_verdict_in_both_places_is_one_review() -> None:
    row = move("in_review", "approved", review_result=REVIEW, evidence={"review": REVIEW})
    assert types(row) == ["review.completed", "spec-kitty.lane.approved"]


@pytest.mark.parametrize(
    "verdict", ["arbiter_override", "APPROVED", "rejected", "", 1, ["approved"]]
)
def test_a_verdict_of_no_vocabulary_is_inert(verdict: Any) -> None:
    row = move("in_review", "approved", review_result=REVIEW | {"verdict": verdict})
    assert types(row) == ["spec-kitty.review", "spec-kitty.lane.approved"]


def test_two_verdicts_that_differ_are_no_review() -> None:
    evidence = {"review": REVIEW | {"verdict": "changes_requested"}}
    row = move("in_review", "approved", review_result=REVIEW, evidence=evidence)
    assert types(row)[0] == "spec-kitty.review"


def test_a_review_cited_on_the_way_from_approved_to_done_is_no_second_one() -> None:
    cited = move("approved", "done", evidence={"review": REVIEW})
    assert types(cited) == ["work.completed"]
    assert events(bare(cited))[0].evidence_refs == ("cycle-2",)
    assert types(move("for_review", "done", evidence={"review": REVIEW})) == [
        "review.completed",
        "work.completed",
    ]


def test_a_verification_is_a_local_check() -> None:
    ran = [{"command": f"run {word}", "result": word} for word in ("pass", "fail", "skip")]
    found = events(bare(move("in_progress", "for_review", evidence={"verification": ran})))
    assert [event.type for event in found] == [*["check.completed"] * 3, "review.requested"]
    assert [event.payload["outcome"] for event in found[:3]] == ["passed", "failed", "skipped"]
    assert {event.payload["source"] for event in found[:3]} == {"local"}


@pytest.mark.parametrize("entry", [{"command": "x", "result": "flaky"}, {"result": "pass"}, {}])
def test_a_result_of_no_vocabulary_is_inert(entry: dict[str, str]) -> None:
    assert types(move("in_progress", "for_review", evidence={"verification": [entry]})) == [
        "spec-kitty.verification",
        "review.requested",
    ]


@pytest.mark.parametrize(
    ("commits", "revision"),
    [
        ([COMMIT], COMMIT),
        ([COMMIT, COMMIT], COMMIT),
        ([COMMIT, "2" * 40], None),
        (["abc1234"], None),
        (["main"], None),
        ([7], None),
        ([], None),
    ],
)
def test_only_one_whole_commit_is_a_revision(commits: list[Any], revision: str | None) -> None:
    repos = [{"repo": "lamp", "branch": "main", "commit": commit} for commit in commits]
    result = bare(move("approved", "done", evidence={"repos": repos}))
    assert events(result)[0].artifact_revision == revision
    assert ("artifact_revision" in losses(result)) == (revision is None)


def test_nothing_is_announced_so_no_claim_of_done_completes_an_item() -> None:
    assert "artifact.published" not in types(
        move("approved", "done", evidence={"repos": [{"commit": COMMIT}]})
    )


# --- people, packages, missions -------------------------------------------------------


@pytest.mark.parametrize(
    ("actor", "author"),
    [
        ("claude:m1:bo:reviewer", "claude:m1:bo:reviewer"),
        ({"tool": "t", "model": "m", "profile": "p", "role": "r"}, "t:m:p:r"),
        ({"tool": "t", "model": None, "profile": None, "role": "r"}, "t:::r"),
        ({"tool": "t", "model": None}, "t"),
        ({"id": "x", "kind": "runtime"}, '{"id":"x","kind":"runtime"}'),
        ({"tool": "a:b"}, '{"tool":"a:b"}'),
        ({"tool": ["nested"]}, None),
        (None, None),
        (["ada"], None),
        ("", None),
    ],
)
def test_an_actor_is_a_claimed_author_as_text(actor: Any, author: str | None) -> None:
    (event,) = events(bare(move("planned", "claimed", actor=actor)))
    assert (event.claimed_author, event.principal) == (author, None)


def test_what_a_migration_wrote_is_a_loss() -> None:
    row = move("planned", "claimed", actor="migration:backfill")
    assert losses(bare(row))["at"] == [(1, "ambiguous: written after the fact, by a migration")]


def test_the_package_of_a_second_mission_in_one_file_stays_apart() -> None:
    mine = move("planned", "claimed")
    other = move("planned", "in_progress", mission_slug="desk/top")
    result = bare(mine, other)
    assert [event.work_id for event in events(result)] == ["WP01", "desk~1top/WP01"]
    assert losses(result)["work_id"] == [
        (1, "ambiguous: of a second mission in the file, qualified")
    ]


def test_no_package_id_looks_like_that_of_another_mission() -> None:
    mine = move("planned", "claimed", wp_id="desk/WP01")
    other = move("planned", "in_progress", mission_slug="desk")
    assert [event.work_id for event in events(bare(mine, other))] == ["desk~1WP01", "desk/WP01"]


def test_a_mission_is_the_lane_by_slug_else_by_id() -> None:
    found = events(
        bare(
            move("planned", "claimed", mission_id="01KA"),
            move("claimed", "in_progress", mission_slug=None, feature_slug="lamp"),
        )
    )
    assert [event.lane_id for event in found] == ["lamp", "lamp"]
    only = bare(move("planned", "claimed", mission_slug=None, mission_id="01KA"))
    assert events(only)[0].lane_id == "01KA"
    assert "mission_id" not in losses(only)


# --- order and time -------------------------------------------------------------------


def test_a_bare_file_keeps_its_order_and_never_sorts_by_clock() -> None:
    late = move("planned", "claimed", at="2026-03-02T09:05:00.5+00:00")
    early = move("claimed", "in_progress", at="2026-03-02T09:01:00Z")
    result = bare(late, early)
    lines = [json.loads(line) for line in result.lines]
    assert result.order == "derived"
    assert [line["recorded_at_utc"][11:] for line in lines] == ["09:05:00.5Z", "09:05:00.5Z"]
    assert [line["occurred_at_utc"][11:] for line in lines] == ["09:05:00.5+00:00", "09:01:00Z"]
    assert losses(result)["recorded_at_utc"] == [
        (1, "ambiguous: fell, replaced by the latest time before it"),
        (2, "no such field: the producer's time stands in"),
    ]


def test_a_bare_file_says_that_its_times_are_no_receipt_times() -> None:
    assert fixture("four-families").unavailable[0] == NO_RECEIPT_TIMES
    assert {line.split(":")[0] for line in fixture("odd").unavailable} >= {
        *("recorded times", "revision", "last_progress", "recovery", "corrections")
    }


def test_a_row_that_says_no_time_is_placed_at_the_latest_before_it() -> None:
    timeless = move("planned", "claimed", at=None)
    timed = move("claimed", "in_progress")
    found = events(bare(timeless, timed, timeless | {"event_id": "x", "at": "2026-03-02 10:00"}))
    assert len({event.recorded_at for event in found}) == 1
    assert [event.occurred_at is None for event in found] == [True, False, True]


def test_a_file_that_says_no_time_at_all_gives_no_event_and_says_so() -> None:
    result = bare(move("planned", "claimed", at=None))
    assert (result.lines, losses(result)["line"]) == (
        (),
        [(1, "ambiguous: no line of the file says a time, at 1")],
    )


def test_a_copy_of_a_row_collapses_and_is_counted() -> None:
    row = move("planned", "in_progress", force=True)
    respelled = json.dumps(dict(reversed(row.items())), indent=None).encode() + b" "
    admitted = history(bare(row, move("in_progress", "for_review"), respelled))
    assert [event.recorded_sequence for event in admitted.events] == [1, 2, 3]
    assert admitted.input.lines == 5
    assert admitted.input.gaps == ()


def test_other_content_under_a_known_id_is_an_event_of_its_own() -> None:
    row = move("planned", "in_progress", force=True)
    result = bare(row, row | {"reason": "another story"})
    assert [event.event_id for event in events(result)] == [
        "planned-in_progress/forced",
        "planned-in_progress",
        "planned-in_progress#2/forced",
        "planned-in_progress#2",
    ]
    assert losses(result)["event_id"] == [
        (1, "ambiguous: borne by an earlier line, numbered from #2")
    ]


def test_an_id_that_looks_implied_never_collides() -> None:
    first = move("planned", "claimed", event_id="a/forced")
    second = move("claimed", "in_progress", event_id="a", force=True)
    found = [event.event_id for event in events(bare(first, second))]
    assert found == ["a/forced", "a/forced#2", "a"]


def test_a_line_that_is_no_row_leaves_a_gap() -> None:
    admitted = history(fixture("odd"))
    assert [(gap.first, gap.last) for gap in admitted.input.gaps] == [(15, 16)]
    assert losses(fixture("odd"))["line"] == [
        (1, "ambiguous: not JSON, at 11"),
        (1, "ambiguous: not an object, at 10"),
    ]


def test_odd_rows_are_tolerated_and_every_oddity_is_counted() -> None:
    result = fixture("odd")
    lost = losses(result)
    assert Counter(event.type for event in events(result)) == {
        "work.started": 3,
        "review.requested": 1,
        "blocker.raised": 1,
        "blocker.resolved": 1,
        "work.completed": 1,
        "work.reopened": 1,
        "spec-kitty.forced": 1,
        "spec-kitty.verification": 1,
        "spec-kitty.review": 2,
        "spec-kitty.lane.somewhere": 1,
        "spec-kitty.lane.approved": 1,
        "spec-kitty.other.gate_passed": 1,
        "spec-kitty.other.commit_link": 1,
        "spec-kitty.annotation": 1,
    }
    assert lost["evidence"] == [(1, "ambiguous: not an object")]
    assert lost["evidence.repos"] == [
        (1, "ambiguous: not a whole commit id"),
        (1, "ambiguous: several commits, none is the revision"),
    ]
    assert lost["review.verdict"] == [(2, "ambiguous: not one known word, kept inert")]
    assert lost["row"] == [(1, "no such field: not strict JSON, kept as its text")]
    assert lost["occurred_at_utc"] == [(1, "ambiguous: not RFC 3339 with a zone")]
    assert lost["work_id"][1] == (1, "ambiguous: taken as of the first mission named")


def test_every_reason_begins_with_one_of_the_three() -> None:
    for loss in (*fixture("four-families").losses, *fixture("odd").losses):
        assert loss.reason.split(":")[0] in ("no such field", "free text", "ambiguous")
        assert loss.count > 0


def test_the_losses_document_is_the_contracts() -> None:
    document = fixture("four-families").document()
    assert list(document) == ["document", "source", "order", "losses", "unavailable"]
    assert (document["source"], document["order"]) == ("spec-kitty", "derived")


def test_importing_twice_gives_identical_bytes() -> None:
    for name in ("four-families", "odd"):
        assert fixture(name) == fixture(name)


# --- receipt times and commits --------------------------------------------------------


def test_a_file_of_receipt_times_gives_the_recorded_order(tmp_path: Path) -> None:
    rows = [move("planned", "claimed"), move("claimed", "in_progress", force=True)]
    (tmp_path / "log").write_text("".join(json.dumps(row) + "\n" for row in rows))
    receipts = [
        {
            "recorded_sequence": number,
            "line": line,
            "recorded_at": f"2026-03-02T10:0{number}:00Z",
            "id": rows[line - 1]["event_id"],
        }
        for number, line in ((1, 2), (3, 1))
    ]
    (tmp_path / "times").write_text("".join(json.dumps(row) + "\n" for row in receipts))
    result = imported(tmp_path / "log", recorded=str(tmp_path / "times"))
    found = events(result)
    assert result.order == "recorded"
    assert NO_RECEIPT_TIMES not in result.unavailable
    assert [event.event_id for event in found] == [
        "claimed-in_progress/forced",
        "claimed-in_progress",
        "planned-claimed",
    ]
    assert [event.recorded_sequence for event in found] == [1, 2, 4]
    assert json.loads(result.lines[2])["recorded_at_utc"] == "2026-03-02T10:03:00Z"


class Git:
    """A repository with fixed dates and authors, deaf to the machine's configuration."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self("init", "--quiet", "--initial-branch=main")

    def __call__(self, *arguments: str, minute: int = 0) -> None:
        date = f"2026-03-02T10:{minute:02d}:00Z"
        person = {"NAME": "Operator", "EMAIL": "operator@example.org", "DATE": date}
        inherited = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
        environment = inherited | {
            f"GIT_{role}_{name}": value
            for role in ("AUTHOR", "COMMITTER")
            for name, value in person.items()
        }
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(
            ["git", *arguments], cwd=self.path, env=environment, check=True, capture_output=True
        )

    def commit(self, name: str, *rows: dict[str, Any], minute: int) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        self("add", name)
        self("commit", "--quiet", "-m", "status", minute=minute)


@pytest.fixture
def git(tmp_path: Path) -> Git:
    if shutil.which("git") is None:
        pytest.skip("no git program on this machine")
    return Git(tmp_path / "repository")


LOG = "kitty-specs/lamp/status.events.jsonl"


def test_a_repository_gives_the_times_at_which_commits_recorded_the_rows(git: Git) -> None:
    first, second = move("planned", "claimed"), move("claimed", "in_progress", force=True)
    git.commit(LOG, first, minute=1)
    git.commit(LOG, second, first, minute=2)  # sorted anew, as their merges do
    result = imported(git.path, path=LOG)
    lines = [json.loads(line) for line in result.lines]
    assert result.order == "commit"
    assert [line["event_id"] for line in lines] == [
        "planned-claimed",
        "claimed-in_progress/forced",
        "claimed-in_progress",
    ]
    assert [line["recorded_at_utc"][14:16] for line in lines] == ["01", "02", "02"]
    assert len(events(result)[2].payload["commit"]) == 40


def test_importing_a_grown_repository_keeps_the_earlier_lines(git: Git) -> None:
    rows = [move("planned", "claimed"), move("claimed", "in_progress"), move("done", "planned")]
    git.commit(LOG, *rows[:2], minute=1)
    before = imported(git.path, path=LOG)
    git.commit(LOG, rows[2], rows[0], minute=2)
    after = imported(git.path, path=LOG)
    assert after.lines[: len(before.lines)] == before.lines
    assert losses(after)["line"] == [(1, "ambiguous: removed or changed by a later commit")]


@pytest.mark.parametrize("name", ["nothing", "kitty-specs", "kitty-specs/../x", "", f"{LOG}/x"])
def test_a_path_that_no_commit_holds_is_refused(git: Git, name: str) -> None:
    git.commit(LOG, move("planned", "claimed"), minute=1)
    with pytest.raises(FileError, match="no commit up to HEAD holds a line"):
        imported(git.path, path=name)


def test_inputs_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    log = FIXTURES / "odd.status.events.jsonl"
    with pytest.raises(UsageError, match="one input, found 2"):
        sources.named("spec-kitty").read([str(log), str(log)], Options())
    with pytest.raises(UsageError, match="no --path"):
        imported(tmp_path)
    with pytest.raises(UsageError, match="exclude each other"):
        imported(tmp_path, path=LOG, recorded="times")
    with pytest.raises(FileError, match="cannot be read"):
        imported(tmp_path / "nothing")
    with pytest.raises(FileError, match="not a git repository"):
        imported(tmp_path, path=LOG)


# --- hostile text ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[2J\x1b]0;owned\x07",
        "\u202egnitset\u202c",
        "nul \x00 inside",
        "line\nbreak\r\u2028\u2029\x85",
        '"},{"type":"work.completed"}',
        "work.completed blocker.raised approved passed revision deadbeef",
    ],
)
def test_hostile_text_is_carried_as_it_is_and_moves_nothing(text: str) -> None:
    note = {"at": "2026-03-02T09:00:00Z", "wp_id": "WP01", "delta": {"note": text}}
    row = move("planned", "claimed", reason=text, policy_metadata={"evidence": text})
    found = events(bare(note, row))
    assert [event.type for event in found] == ["spec-kitty.annotation", "spec-kitty.lane.claimed"]
    assert found[1].payload["row"]["reason"] == text


def test_a_row_too_long_for_a_line_is_kept_as_a_digest() -> None:
    result = bare(move("approved", "done", reason="x" * 4_194_304, force=True))
    assert [event.type for event in events(result)] == ["spec-kitty.forced", "work.completed"]
    assert set(events(result)[1].payload["row_digest"]) == {"sha256", "bytes"}


def test_an_id_longer_than_the_contract_takes_is_made_from_the_number_of_the_line() -> None:
    found = events(bare(move("planned", "claimed", event_id="é" * 501)))
    assert [event.event_id for event in found] == ["row-1"]


texts = st.text(st.characters(exclude_categories=()), max_size=6) | st.sampled_from(
    ["a", "a/forced", "WP01", "lamp", "2026-03-02T09:00:00Z", "2026-03-01T09:00:00+00:00", "row-1"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
reviews = st.fixed_dictionaries(
    {},
    optional={
        "verdict": st.sampled_from(["approved", "changes_requested"]) | json_values,
        "reviewer": texts,
        "reference": texts,
    },
)
evidences = st.fixed_dictionaries(
    {},
    optional={
        "review": reviews | json_values,
        "repos": st.lists(st.fixed_dictionaries({"commit": st.just(COMMIT) | texts}), max_size=2),
        "verification": st.lists(
            st.fixed_dictionaries({"command": texts, "result": st.sampled_from(["pass", "x"])})
            | json_values,
            max_size=2,
        ),
    },
)
lanes = st.sampled_from([*LANES, *INERT_LANES])
moves = st.fixed_dictionaries(
    {"from_lane": lanes, "to_lane": lanes, "wp_id": st.sampled_from(["WP01", "WP02"])},
    optional={
        "event_id": texts,
        "at": texts,
        "actor": texts | json_values,
        "force": st.booleans() | json_values,
        "mission_slug": texts,
        "evidence": evidences | json_values,
        "review_result": reviews | json_values,
        "review_ref": texts,
        "policy_metadata": json_values,
        "reason": texts,
    },
)
names = st.sampled_from(
    [
        *("event_id", "at", "timestamp", "actor", "wp_id", "from_lane", "to_lane", "delta", "kind"),
        *("event_type", "aggregate_id", "aggregate_type", "payload", "type", "lamport", "force"),
    ]
)
foreign_lines = st.lists(
    (moves | st.dictionaries(names | texts, texts | json_values, max_size=8)).map(
        lambda value: json.dumps(value).encode()
    )
    | st.binary(max_size=12).filter(lambda line: b"\n" not in line),
    max_size=6,
)


@given(foreign_lines)
def test_whatever_a_line_holds_the_strict_reader_takes_what_is_imported(lines: list[bytes]) -> None:
    result = bare(*lines)
    found = events(result)
    own = [event for event in found if "transition" not in event.payload]
    copies = len(result.lines) - len(found)
    unread = sum(count for count, _ in losses(result).get("line", []))
    filled = sum(1 for line in lines if line.strip(b" \t\r"))
    assert len(own) + unread <= filled <= len(own) + unread + copies
    assert result == bare(*lines)
    json.dumps(result.document(), ensure_ascii=False).encode()


@given(foreign_lines, foreign_lines)
def test_a_grown_file_keeps_its_earlier_lines(first: list[bytes], more: list[bytes]) -> None:
    short, grown = bare(*first), bare(*first, *more)
    assert grown.lines[: len(short.lines)] == short.lines


@given(foreign_lines, foreign_lines)
def test_a_grown_history_keeps_its_earlier_lines(first: list[bytes], more: list[bytes]) -> None:
    def recorded(*contents: Sequence[bytes]) -> Imported:
        versions = [
            Version(f"{n:040x}", n, False, b"".join(line + b"\n" for line in lines))
            for n, lines in enumerate(contents)
        ]
        return convert(by_commit(versions, "repository"), "commit")

    short, grown = recorded(first), recorded(first, [*more, *first])
    assert grown.lines[: len(short.lines)] == short.lines
    assert len(events(grown)) >= len(events(short))


# --- the real logs --------------------------------------------------------------------


@pytest.fixture
def real_files() -> list[Path]:
    if not STATUS_FILES:
        pytest.skip("the real status logs are not beside this repository")
    return STATUS_FILES


@cache
def real_events(path: Path) -> tuple[Event, ...]:
    return events(imported(path))


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def test_every_real_file_is_admitted_whole(real_files: list[Path]) -> None:
    assert len(real_files) == 16
    for path in real_files:
        rows, admitted = rows_of(path), history(imported(path))
        assert (admitted.input.gaps, admitted.input.notes) == ((), ()), path.name
        own = [event for event in admitted.events if "row" in event.payload]
        assert [event.payload["row"] for event in own] == rows, path.name
        assert [event.event_id for event in own] == [row["event_id"] for row in rows]


def test_the_forced_moves_of_every_real_file_are_flagged(real_files: list[Path]) -> None:
    total = 0
    for path in real_files:
        forced = [row["event_id"] for row in rows_of(path) if row.get("force") is True]
        flags = [e.payload["transition"] for e in real_events(path) if e.type.endswith("forced")]
        assert flags == forced, path.name
        total += len(forced)
    assert total == 143


def test_the_real_rows_by_type(real_files: list[Path]) -> None:
    found = Counter(event.type for path in real_files for event in real_events(path))
    lifecycle = sum(n for name, n in found.items() if name.startswith("spec-kitty.lifecycle."))
    assert lifecycle == 58
    assert {name: n for name, n in found.items() if ".lifecycle." not in name} == {
        "spec-kitty.annotation": 627,
        "work.proposed": 234,
        "spec-kitty.lane.claimed": 214,
        "review.requested": 184,
        "work.started": 181,
        "review.completed": 174,
        "spec-kitty.lane.approved": 153,
        "spec-kitty.lane.in_review": 152,
        "spec-kitty.forced": 143,
        "work.completed": 94,
        "spec-kitty.lane.planned": 21,
        "spec-kitty.retrospective.RetrospectiveCaptured": 8,
        "blocker.raised": 7,
        "blocker.resolved": 6,
    }


def test_real_verdicts_are_those_that_the_rows_tell(real_files: list[Path]) -> None:
    told: Counter[str] = Counter()
    for path in real_files:
        for row in rows_of(path):
            if "to_lane" not in row or (row["from_lane"], row["to_lane"]) == ("approved", "done"):
                continue
            places = [row.get("review_result"), (row.get("evidence") or {}).get("review")]
            told.update({place["verdict"] for place in places if place})
    found = Counter(
        event.payload["outcome"]
        for path in real_files
        for event in real_events(path)
        if event.type == "review.completed"
    )
    assert found == told == {"approved": 153, "changes_requested": 21}


def test_no_link_of_the_real_logs_is_an_anomaly(real_files: list[Path]) -> None:
    items = [
        item
        for path in real_files
        for item in replay.project(history(imported(path)).until(), rules="coordination/1").items
    ]
    assert len(items) == 146
    assert [anomaly.code for item in items for anomaly in item.anomalies or ()] == []


def test_no_real_item_is_complete_by_saying_done(real_files: list[Path]) -> None:
    if "coordination/2" not in known():
        pytest.skip("coordination/2, which judges completion claims, is not there yet")
    verdicts: Counter[str] = Counter()
    for path in real_files:
        for item in replay.project(history(imported(path)).until(), rules="coordination/2").items:
            assert item.state.value != "complete"
            verdicts.update(c.verdict for c in item.claims or () if c.claim == "work.completed")
    assert verdicts == {"missing": 85, "contradicted": 9}


@pytest.mark.parametrize("path", REAL_FILES, ids=lambda path: path.stem[:40])
def test_no_other_real_file_of_the_folder_stops_the_importer(path: Path) -> None:
    result = imported(path)
    lines = sum(1 for line in path.read_bytes().splitlines() if line.strip())
    own = [event for event in events(result) if "transition" not in event.payload]
    assert len(own) + sum(n for n, _ in losses(result).get("line", [])) == lines
