"""Rows of the operational endpoints: each against answers asked anew at every cutoff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import replay
from replay.testing.strategies import histories
from study.operational import judged, waits
from study.operational.costs import NOT_DUE, Assigned, costs, currencies
from study.operational.log import NOT_COVERED, ReplayedLog
from study.operational.standing import as_corrected
from study.result import Loss
from study.rows import ClaimRow, Row, SpellRow
from tests.notation import event, history, history_of

RULES: Final = "coordination/2"
MINUTE: Final = 60_000_000_000


def replayed(
    log: replay.History | str,
    *,
    sequence: int | None = None,
    minute: float | None = None,
    since: float | None = None,
    losses: tuple[Loss, ...] = (),
    rules: str = RULES,
) -> ReplayedLog:
    written = history(log) if isinstance(log, str) else log
    return ReplayedLog(
        "log",
        written.until(sequence=sequence, minute=minute),
        rules,
        since=None if since is None else round(since * MINUTE),
        losses=losses,
        lanes={},
    )


def spell(row: SpellRow) -> tuple[Any, ...]:
    """A spell as a test writes it: where it began, how it ended, after how many minutes."""
    minutes = None if row.duration is None else row.duration / MINUTE
    return row.event_id, row.role, row.cause, row.end_event, minutes


# The paper's own numbers


NINE: Final = "r1:0 ci/local+:1 ci-:2 +:3 +:8 r2:10<e4 ci+:11 ready:12 ci+@r1:13"


def test_the_papers_blocker_took_seven_minutes_and_recovered() -> None:
    assert [spell(row) for row in waits.blocker_recovery(replayed(NINE))] == [
        ("e4", "observed", "recovered", "e6", 7.0)
    ]


def test_at_sequence_5_and_minute_9_it_is_censored_after_six_minutes() -> None:
    seen = replayed(NINE, sequence=5, minute=9)
    assert [spell(row) for row in waits.blocker_recovery(seen)] == [
        ("e4", "censored", None, None, 6.0)
    ]


def test_in_a_window_from_minute_5_it_is_watched_from_its_second_minute_on() -> None:
    (row,) = waits.blocker_recovery(replayed(NINE, since=5))
    assert (row.entry / MINUTE, (row.duration or 0) / MINUTE) == (2.0, 7.0)


@pytest.mark.parametrize("since", [10, 10.5, 13])
def test_what_ended_by_the_windows_beginning_is_left_out_by_name(since: float) -> None:
    (row,) = waits.blocker_recovery(replayed(NINE, since=since))
    assert (row.role, row.reason) == ("excluded", "ended before the window")


# Review latency


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("r1 ci+ ready review+", [("e3", "observed", "reviewed", "e4", 1.0)]),
        ("r1 ci+ ready r2 ci+ review-:9", [("e3", "observed", "reviewed", "e6", 7.0)]),
        ("r1 ci+ ready cancel:5", [("e3", "competing", "cancelled", "e4", 3.0)]),
        ("r1 ci+ ready done:5", [("e3", "competing", "completed", "e4", 3.0)]),
        ("r1 ci+ ready beat:9", [("e3", "censored", None, None, 7.0)]),
        ("r1 ready ci+:5 review+:7", [("e2", "observed", "reviewed", "e4", 2.0)]),
        ("r1 ready", [(None, "excluded", None, None, None)]),
        ("r1 ci+", []),
    ],
)
def test_a_ready_item_waits_from_when_it_was_validly_ready(
    log: str, expected: list[tuple[Any, ...]]
) -> None:
    assert [spell(row) for row in waits.review_latency(replayed(log))] == expected


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("r1 ci- ci+!e2 ready:5 review+:9", ("e4", "observed", "reviewed", "e5", 4.0)),
        # the check that made it ready was recorded wrongly at minute 1, and corrected at 6
        ("r1 ci-:1 ready:2 ci+!e2:6 review+:9", ("e3", "observed", "reviewed", "e5", 7.0)),
        ("r1 ci+ ready:2 retract!e3:3 ready:5 note:8", ("e5", "censored", None, None, 3.0)),
        ("r1 ci+ ready:2 review+:4 retract!e4:5 note:8", ("e3", "censored", None, None, 6.0)),
        ("r1 note ci+ ready:3 retract!e2:4 review+:9", ("e4", "observed", "reviewed", "e6", 6.0)),
    ],
)
def test_a_corrected_item_waits_as_its_corrections_leave_it(log: str, expected: Any) -> None:
    (row,) = waits.review_latency(replayed(log))
    assert spell(row) == expected


def as_known(item: replay.Item) -> tuple[Any, ...]:
    """What an item shows that does not name when it was learned."""
    return (
        item.state.value,
        item.revision.value,
        item.clocks.last_progress,
        [(one.opened, one.end, one.elapsed) for one in item.episodes or ()],
        [(one.event_id, one.verdict) for one in item.claims or () if one.claim in judged.CLAIMS],
        [(one.event_id, one.status) for one in item.receipts or ()],
    )


@given(histories(work_ids=("W1", "W2"), max_size=18))
@settings(max_examples=400)
def test_a_history_of_what_stands_has_the_answers_of_the_corrected_one(
    log: replay.History,
) -> None:
    prefix = log.until()
    shown = replay.project(prefix, rules=RULES)
    made = as_corrected(prefix, shown)
    again = {item.work_id: item for item in replay.project(made, rules=RULES).items}
    for item in shown.items:
        kept = [e for e in made.events if e.work_id == item.work_id]
        if kept:
            assert as_known(again[item.work_id]) == as_known(item)
            left = again[item.work_id].corrections or ()
            assert {one.status for one in left} <= {"ineffective"}


def test_an_item_that_the_rules_do_not_cover_is_left_out_by_name() -> None:
    log = replayed("r1 +b1 ready done", rules="coordination/1")
    for made in (waits.review_latency, waits.blocker_recovery, waits.progress_gap):
        (row,) = made(log)
        assert (row.role, row.reason) == ("excluded", NOT_COVERED)


# Stretches without progress


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (
            "start:0 r1:2 ci+:2 beat:5 r2:9 beat:12",
            [
                ("e1", "observed", "progress", "e2", 2.0),
                ("e3", "observed", "progress", "e5", 7.0),
                ("e5", "censored", None, None, 3.0),
            ],
        ),
        (
            "r1:0 ci+:3 done:5 beat:7 reopen:9 r2:10 cancel:14 beat:20",
            [
                ("e1", "observed", "progress", "e2", 3.0),
                ("e2", "competing", "completed", "e3", 2.0),
                ("e5", "observed", "progress", "e6", 1.0),
                ("e6", "competing", "cancelled", "e7", 4.0),
            ],
        ),
        ("r1:0 done:1 ci+:4 beat:9", [("e1", "observed", "progress", "e3", 4.0)]),
        ("r1:3", [(None, "excluded", None, None, None)]),
    ],
)
def test_a_stretch_runs_from_progress_to_progress(log: str, expected: list[Any]) -> None:
    assert [spell(row) for row in waits.progress_gap(replayed(log))] == expected


def at_every_cutoff(log: replay.History, work_id: str) -> Iterator[tuple[int, replay.Item]]:
    """What was shown of an item at each recorded sequence, projected anew."""
    for one in log.events:
        seen = replay.project(log.until(sequence=one.recorded_sequence), rules=RULES)
        item = seen.item(work_id)
        if item is not None:
            yield one.recorded_at, item


def stretches(log: replay.History, work_id: str) -> Iterator[tuple[int, int, str | None]]:
    """The stretches of an uncorrected item, by looking at each cutoff: start, end, cause."""
    ended = {"complete": "completed", "cancelled": "cancelled"}
    began: int | None = None
    progress = None
    state = None
    for time, item in at_every_cutoff(log, work_id):
        if state is None and began is None and progress is None:
            began = time
        before, state = state, item.state.value
        found = item.clocks.last_progress
        if began is not None and found is not None and found.event_id != progress:
            if time > began:
                yield began, time, "progress"
            began = time
        progress = None if found is None else found.event_id
        if state in ended and before not in ended:
            if began is not None and time > began:
                yield began, time, ended[str(state)]
            began = None
        elif before in ended and state not in ended:
            began = time
        progress = progress or ""
    if began is not None and log.events[-1].recorded_at > began:
        yield began, log.events[-1].recorded_at, None


@given(histories(work_ids=("W1", "W2"), corrections=False, max_size=18))
@settings(max_examples=150)
def test_stretches_are_those_that_every_cutoff_shows(log: replay.History) -> None:
    seen = replayed(log)
    for item in seen.projection.items:
        rows = [row for row in waits.progress_gap(seen) if row.work_id == item.work_id]
        found = [(row.at, row.end_at, row.cause) for row in rows if row.eligible]
        assert found == [*stretches(log, item.work_id)]
        assert rows


# Claims


@given(histories(work_ids=("W1", "W2", None)))
@settings(max_examples=200)
def test_a_claim_is_judged_as_a_reader_had_it_when_it_was_made(log: replay.History) -> None:
    seen = replayed(log)
    rows = [*judged.false_success(seen)]
    made = {
        event.event_id: event
        for event in log.events
        if event.type in judged.CLAIMS and event.work_id is not None
    }
    assert {row.event_id for row in rows} == {*made}
    for row in rows:
        event = made[str(row.event_id)]
        then = replay.project(log.until(sequence=event.recorded_sequence), rules=RULES)
        (claim,) = (one for one in then.claims if one.event_id == event.event_id)
        assert (row.made, row.unevidenced) == (claim.verdict, claim.verdict != "supported")
        assert row.rule == claim.rule
        standing = {one.event_id: one.verdict for one in seen.projection.claims}
        assert row.verdict == standing.get(event.event_id, "withdrawn")


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("r1 ci+ ready", [("supported", "supported", False)]),
        ("r1 ready", [("missing", "missing", True)]),
        ("r1 ready ci+", [("missing", "supported", True)]),
        ("r1 ci- ready", [("contradicted", "contradicted", True)]),
        ("ready@", [("unbound", "unbound", True)]),
        ("ready@r9", [("unknown", "unknown", True)]),
        ("r1 r2 ready@r1", [("stale", "stale", True)]),
        ("r1 ci+ done", [("supported", "supported", False)]),
        ("r1 ci+ ready r2", [("supported", "stale", False)]),
        ("r1 ready retract!e2", [("missing", "withdrawn", True)]),
        ("r1 ready@r9 ready!e2", [("unknown", "withdrawn", True), ("missing", "missing", True)]),
        ("r1 -b1", []),
    ],
)
def test_a_false_success_had_no_evidence_when_it_was_said(
    log: str, expected: list[tuple[Any, ...]]
) -> None:
    rows = judged.false_success(replayed(log))
    assert [(row.made, row.verdict, row.unevidenced) for row in rows] == expected


# Approvals, assertions


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("r1 review+", ("observed", False)),
        ("r1 review+ r2", ("observed", True)),
        ("r1 r2 review+@r1", ("observed", True)),
        ("review+@", ("excluded", None)),
        ("r1 review+@r7", ("excluded", None)),
        ("r1 review+ r2 r1", ("observed", False)),
        ("r1 review+ retract!e2", ("excluded", None)),
    ],
)
def test_an_approval_of_another_revision_is_stale(log: str, expected: tuple[Any, ...]) -> None:
    (row,) = judged.stale_approval(replayed(log))
    assert (row.role, row.stale) == expected


def test_only_approvals_are_approvals() -> None:
    log = replayed("r1 review- review=commented review=dismissed")
    assert [*judged.stale_approval(log)] == []


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        ("start says=active", ("observed", False)),
        ("start says=complete", ("observed", True)),
        ("says=active", ("excluded", None)),
        ("start says=active[r1,9]", ("excluded", None)),
    ],
)
def test_an_asserted_state_disagrees_where_it_is_contradicted(
    log: str, expected: tuple[Any, ...]
) -> None:
    (row,) = judged.status_disagreement(replayed(log))
    assert (row.role, row.disagrees) == expected


# Receipts


@pytest.mark.parametrize(
    ("log", "access", "expected"),
    [
        ("r1 ci/gh+^p1&x1", {"x1": "accessible"}, "complete complete complete complete"),
        ("r1 ci/gh+^p1&x1", None, "complete complete complete unavailable"),
        ("r1 ci/gh+^p1&x1", {"x2": "accessible"}, "complete complete complete unavailable"),
        (
            "r1 ci+&x1,x2",
            {"x1": "accessible", "x2": "inaccessible"},
            "complete missing missing inaccessible",
        ),
        ("r1 ci/gh+^p1", {}, "complete complete complete missing"),
        ("ci/gh+@^p1&x1", {"x1": "inapplicable"}, "missing complete complete inapplicable"),
        ("r1 ci/gh+@r5^p1&x1", {"x1": "accessible"}, "mismatched complete complete complete"),
        ("r1 r2 ci/gh+^p1&e1", {"e1": "accessible"}, "complete complete complete mismatched"),
        ("r1 r2 ci/gh+^p1&e2", {"e2": "accessible"}, "complete complete complete complete"),
        ("r1 ci+&x1", {"e2": "inaccessible"}, "inaccessible missing missing inaccessible"),
        ("r1 ci+&x1", {"e2": "inapplicable"}, "inapplicable " * 4),
        ("r1 review+^p1&x1", {"x1": "accessible"}, "complete complete complete"),
    ],
)
def test_a_required_field_is_there_and_can_be_reached_or_is_named_as_what_it_is(
    log: str, access: Any, expected: str
) -> None:
    rows = [*judged.receipt_completeness(replayed(log), access)]
    assert [row.status for row in rows] == expected.split()
    roles = {"inapplicable": "excluded", "unavailable": "unavailable"}
    assert [row.role for row in rows] == [roles.get(row.status, "observed") for row in rows]


def test_a_receipt_of_another_item_is_no_mismatched_evidence() -> None:
    rows = judged.receipt_completeness(replayed("r1#W2 r1 ci/gh+^p1&e1"), {"e1": "accessible"})
    assert [row.status for row in rows if row.field == "evidence_refs"] == ["complete"]


# What an import lost


@pytest.mark.parametrize("lost", ["revision", "receipts", "deciding results"])
def test_claims_without_recorded_evidence_are_unavailable_and_not_false(lost: str) -> None:
    log = replayed("ready@ done@", losses=(Loss(name=lost, why="named in prose only"),))
    rows = [*log.available("false_success", judged.false_success(log))]
    assert [(row.role, row.reason) for row in rows] == [
        ("unavailable", f"{lost}: named in prose only")
    ] * 2


def test_an_item_that_seems_never_ready_is_unavailable_where_evidence_was_lost() -> None:
    log = replayed("r1 ready", losses=(Loss(name="receipts", why="none"),))
    (row,) = log.available("review_latency", waits.review_latency(log))
    assert (row.role, row.reason) == ("unavailable", "receipts: none")


def test_a_loss_that_nothing_needs_changes_nothing() -> None:
    log = replayed("r1 ci+ ready", losses=(Loss(name="delivery", why="unread"),))
    assert [row.role for row in log.available("false_success", judged.false_success(log))] == [
        "observed"
    ]


def test_a_field_that_was_lost_is_unavailable_and_the_others_are_not() -> None:
    log = replayed("r1 ci/gh+@&x1", losses=(Loss(name="authorship", why="unsigned"),))
    rows = judged.receipt_completeness(log, {"x1": "accessible"})
    assert {row.field: row.status for row in rows} == {
        "artifact_revision": "missing",
        "principal": "unavailable",
        "source": "complete",
        "evidence_refs": "complete",
    }


# Costs


def cost_rows(log: ReplayedLog, assigned: Assigned | None = None) -> dict[Any, Any]:
    rows = costs(log, currencies([log]), assigned)
    return {(row.work_id, row.component, row.unit): (row.role, row.value) for row in rows}


def cost_log(*payloads: dict[str, Any], retracted: str | None = None) -> replay.History:
    """An item W1 with these costs, e2 and on; one of them may be retracted in the end."""
    made = [event("work.started", "e1", work_id="W1")]
    for number, payload in enumerate(payloads, start=2):
        place: dict[str, Any] = {"sequence": number, "at": number * MINUTE}
        made.append(event("cost.recorded", f"e{number}", payload=payload, work_id="W1", **place))
    if retracted is not None:
        end = len(made) + 1
        place = {"sequence": end, "at": end * MINUTE, "supersedes": retracted}
        made.append(event("event.retracted", f"e{end}", work_id="W1", **place))
    return history_of(made)


def test_a_cost_that_was_retracted_does_not_count() -> None:
    found = cost_rows(replayed(cost_log({"tokens": 5}, {"tokens": 7}, retracted="e2")))
    assert found["W1", "tokens", "tokens"] == ("observed", 7.0)


def test_zero_is_a_cost_and_nothing_recorded_is_none() -> None:
    log = replayed(cost_log({"tool_calls": 0}, {"tool_calls": 3, "tokens": 5}))
    found = cost_rows(log)
    assert found["W1", "events", "events"] == ("observed", 3.0)
    assert found["W1", "tool_calls", "calls"] == ("observed", 3.0)
    assert found["W1", "tokens", "tokens"] == ("observed", 5.0)
    assert found["W1", "operator_seconds", "seconds"] == ("unavailable", None)


def test_amounts_of_two_currencies_are_never_added() -> None:
    log = replayed(
        cost_log(
            {"amount": 2, "currency": "EUR"},
            {"amount": 3.5, "currency": "USD"},
            {"amount": 1, "currency": "EUR"},
            {"amount": 9},
        )
    )
    found = {key[2]: value for key, value in cost_rows(log).items() if key[1] == "amount"}
    assert found == {
        "EUR": ("observed", 3.0),
        "USD": ("observed", 3.5),
        "no currency named": ("observed", 9.0),
    }


def test_an_item_that_is_not_registered_is_left_out_by_name() -> None:
    log = replayed("start start#W2")
    found = cost_rows(log, Assigned(frozenset({"W2"}), frozenset({"W2"})))
    assert found["W1", "events", "events"] == ("excluded", 1.0)
    assert found["W2", "events", "events"] == ("observed", 1.0)


def test_an_item_that_is_registered_but_not_due_is_not_called_unregistered() -> None:
    assigned = Assigned(frozenset({"W1", "W2"}), frozenset({"W2"}))
    rows = costs(replayed("start start#W2"), (), assigned)
    assert {row.reason for row in rows if row.work_id == "W1"} == {NOT_DUE}


def test_events_are_counted_also_where_an_import_lost_the_costs() -> None:
    log = replayed(cost_log({"tokens": 5}), losses=(Loss(name="cost.recorded", why="no field"),))
    found = cost_rows(log)
    assert found["W1", "events", "events"] == ("observed", 2.0)
    assert found["W1", "tokens", "tokens"] == ("unavailable", None)


@given(histories(work_ids=("W1", "W2", None), basis="elapsed"), st.booleans())
@settings(max_examples=100)
def test_every_row_names_what_is_visible_and_says_why_it_does_not_count(
    log: replay.History, early: bool
) -> None:
    sequence = len(log.events) // 2 if early else None
    seen = replayed(log, sequence=sequence)
    rows: list[Row] = [
        *waits.review_latency(seen),
        *waits.blocker_recovery(seen),
        *waits.progress_gap(seen),
        *judged.false_success(seen),
        *judged.stale_approval(seen),
        *judged.status_disagreement(seen),
        *judged.receipt_completeness(seen, None),
        *costs(seen, (), None),
    ]
    for row in rows:
        assert row.event_id is None or row.event_id in seen.events
        assert {*row.evidence} <= {*seen.events}
        assert (row.reason is None) == (row.role not in ("excluded", "unavailable"))
        if isinstance(row, SpellRow) and row.duration is not None:
            assert row.duration >= 0
            assert row.end_event is None or row.end_event in seen.events
        if isinstance(row, ClaimRow):
            assert (row.unevidenced is None) == (row.role != "observed")


@given(histories(work_ids=("W1", "W2")))
@settings(max_examples=100)
def test_each_episode_has_one_row_and_each_item_one_wait(log: replay.History) -> None:
    seen = replayed(log)
    episodes = [row.event_id for row in waits.blocker_recovery(seen)]
    assert episodes == [one.opened.event_id for one in seen.projection.episodes]
    waiting = [row.work_id for row in waits.review_latency(seen)]
    assert len(waiting) == len({*waiting})
    for item in seen.projection.items:
        ready = [event for event in seen.by_item[item.work_id] if event.type == "review.requested"]
        assert (item.work_id in waiting) == bool(ready)
