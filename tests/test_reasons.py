"""What a reason says about places, withdrawals and what stands holds in the reference model."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Final

import pytest

from replay import rules
from replay.asking import asked
from replay.event import Event
from replay.explain import explain
from replay.history import Cutoff, Prefix
from replay.why_not import Reason
from tests import reference_v2 as model
from tests.drawn import drawn_words
from tests.notation import history

SEED: Final = 20261201
Log = tuple[Event, ...]


def reasons(prefix: Prefix, question: str, wanted: str, of: str | None) -> tuple[Reason, ...]:
    about = asked(question, "W1", of)
    found = explain(prefix, rules.named("coordination/2"), about, why_not=wanted, budget=4000)
    assert found.why_not is not None
    return found.why_not.reasons


def everything_wanted(log: Log) -> Iterator[tuple[str, str, str | None]]:
    for state in ("complete", "awaiting_review", "blocked", "active", "proposed", "cancelled"):
        yield "state", state, None
    for revision in ("r1", "r2", "r9"):
        yield "revision", revision, None
    for event in log:
        yield "last_progress", event.event_id, None
        yield "claim", "supported", event.event_id
        yield "receipt", "current", event.event_id
        yield "episode", "recovered", event.event_id
        yield "certifying_check", event.event_id, "ci"


def version(event_id: str, log: Log) -> model.Version:
    return model.version(next(e for e in log if e.event_id == event_id), log)


def stands(event_id: str, log: Log) -> bool:
    return model.stands(next(e for e in log if e.event_id == event_id), log)


def standing_of(type: str, log: Log) -> bool:
    return any(one.type == type for one in model.standing(log))


def was_current(event_id: str, log: Log) -> bool:
    return model.current_at_its_place(version(event_id, log), model.standing(log))


def was_progress(event_id: str, log: Log) -> bool:
    return model.is_progress(version(event_id, log), model.standing(log))


def had_ended(event_id: str, log: Log) -> bool:
    return model.in_terminal_state(version(event_id, log), model.standing(log))


def was_announced(revision: str, log: Log) -> bool:
    return model.is_announced(revision, model.standing(log))


Claimed = Callable[[re.Match[str], Log], bool]
HOLDS: Final[dict[str, Claimed]] = {
    r"(e\d+), which .* was withdrawn by (e\d+)": lambda m, log: (
        not stands(m[1], log) and stands(m[2], log)
    ),
    r"(e\d+) was progress, and (e\d+) is later progress": lambda m, log: (
        was_progress(m[1], log)
        and was_progress(m[2], log)
        and version(m[1], log).place < version(m[2], log).place
    ),
    r"(e\d+) is for .*, which was not the current revision at its place": lambda m, log: (
        stands(m[1], log) and not was_current(m[1], log)
    ),
    r"(e\d+) repeats the latest outcome": lambda m, log: (
        stands(m[1], log)
        and was_current(m[1], log)
        and not was_progress(m[1], log)
        and not had_ended(m[1], log)
    ),
    r"(e\d+) announces \S+ again": lambda m, log: (
        stands(m[1], log) and not was_progress(m[1], log) and not had_ended(m[1], log)
    ),
    r"(e\d+) came after the work had ended": lambda m, log: had_ended(m[1], log),
    r"(\S+), which no standing event of the work item announces": lambda m, log: (
        not was_announced(m[1], log)
    ),
    r"no event of the work item announces (\S+)": lambda m, log: all(
        e.artifact_revision != m[1] or e.type != "artifact.published" for e in log
    ),
    r"(e\d+) announces it, and later (e\d+)": lambda m, log: (
        stands(m[1], log) and version(m[1], log).place < version(m[2], log).place
    ),
    r"no claim of completion stands": lambda m, log: not standing_of("work.completed", log),
    r"no request for review stands": lambda m, log: not standing_of("review.requested", log),
    r"no standing event proposes the work": lambda m, log: not standing_of("work.proposed", log),
    r"no standing event cancels the work": lambda m, log: not standing_of("work.cancelled", log),
    r"(e\d+) is supported, but was reviewed: (e\d+)": lambda m, log: (
        version(m[1], log).place < version(m[2], log).place
    ),
    r"(e\d+) counts, and (e\d+) counts after it": lambda m, log: (
        version(m[1], log).place < version(m[2], log).place
    ),
    r"(e\d+) is followed by (e\d+)": lambda m, log: (
        version(m[1], log).place < version(m[2], log).place
    ),
    r"claim (e\d+) is stale since (e\d+)": lambda m, log: (
        version(m[1], log).place < version(m[2], log).place
    ),
    r"claim (e\d+) was made while the blocker that (e\d+) raised": lambda m, log: (
        version(m[2], log).place < version(m[1], log).place
    ),
}


def assert_reasons_hold(seeds: range) -> dict[str, int]:
    """Each sentence of a kind that the model can judge; how many of each kind there were."""
    found = dict.fromkeys(HOLDS, 0)
    for seed in seeds:
        prefix = history(drawn_words(Random(SEED + seed))).at(Cutoff())
        log = tuple(event for event in prefix.events if event.work_id == "W1")
        if not log:
            continue
        for question, wanted, of in everything_wanted(log):
            for reason in reasons(prefix, question, wanted, of):
                for pattern, holds in HOLDS.items():
                    for match in re.finditer(pattern, reason.sentence):
                        found[pattern] += 1
                        assert holds(match, log), (seed, question, wanted, of, reason.sentence)
    return found


def test_reasons_hold_in_the_reference_model() -> None:
    found = assert_reasons_hold(range(40))
    assert sum(found.values()) > 500


@pytest.mark.long
def test_reasons_of_many_histories_hold_and_every_kind_occurs() -> None:
    found = assert_reasons_hold(range(1000, 1500))
    assert [pattern for pattern, count in found.items() if not count] == []
