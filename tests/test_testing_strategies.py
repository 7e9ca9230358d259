"""The strategies of `replay.testing`: what they draw is admitted, and is what was asked for."""

from __future__ import annotations

import doctest
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import replay.testing
from replay import project
from replay.decode import decode_bytes
from replay.encode import encode_line
from replay.event import APPLIED_TYPES, Event
from replay.history import History, admit
from replay.testing import build, events, histories, log_lines, strategies
from tests.notation import history as written

ROOT: Final = Path(__file__).parent.parent

OPTIONS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"covered": True},
    {"basis": "utc", "gaps": True},
    {"work_ids": ("W1", "W2", None), "principals": (None,), "min_size": 3},
    {"corrections": False, "blocker_ids": ("b",), "revisions": ("α", "β"), "checks": ("t",)},
)
any_options = st.sampled_from(OPTIONS)


def admitted(log: bytes) -> History:
    return admit([decode_bytes(log, name="log.jsonl")])


def without_places(history: History) -> list[bytes]:
    """The events' values: encoding leaves out the line and the offset."""
    return [encode_line(event) for event in history.events]


@settings(max_examples=40)
@given(any_options.flatmap(lambda options: histories(**options)))
def test_a_drawn_history_is_what_its_lines_are_read_as(history: History) -> None:
    read = admitted(build.log_bytes(history.events))
    assert without_places(read) == without_places(history)
    assert [event.data for event in read.events] == [event.data for event in history.events]
    assert (read.input.sha256, read.input.gaps) == (history.input.sha256, history.input.gaps)


@settings(max_examples=40)
@given(any_options.flatmap(lambda options: log_lines(shuffled=True, duplicates=True, **options)))
def test_shuffled_and_repeated_lines_are_admitted_as_one_history(log: bytes) -> None:
    history = admitted(log)
    assert history.input.lines == len(history.events) + len(history.duplicates)
    assert admitted(build.log_bytes(history.events)).input.notes == ()


@settings(max_examples=40)
@given(histories(covered=True, work_ids=("W1", "W2", None)))
def test_what_is_covered_is_determined_by_coordination_1(history: History) -> None:
    projection = project(history.until(), rules="coordination/1")
    assert projection.uncovered == ()
    assert [item.undetermined_by for item in projection.items] == [() for _ in projection.items]


@settings(max_examples=40)
@given(events(corrections=False, work_ids=("W1", "W2"), principals=("p",), max_size=30))
def test_without_corrections_nothing_supersedes(drawn: tuple[Event, ...]) -> None:
    assert {event.supersedes for event in drawn} <= {None}
    assert "event.retracted" not in {event.type for event in drawn}
    assert {event.work_id for event in drawn} <= {"W1", "W2"}
    assert {event.principal for event in drawn} <= {"p"}


@settings(max_examples=40)
@given(st.booleans().flatmap(lambda gaps: st.tuples(st.just(gaps), histories(gaps=gaps))))
def test_sequence_numbers_are_missing_only_where_asked_for(drawn: tuple[bool, History]) -> None:
    gaps, history = drawn
    assert gaps or history.input.gaps == ()
    assert gaps or [e.recorded_sequence for e in history.events] == [
        *range(1, len(history.events) + 1)
    ]


@settings(max_examples=40)
@given(events(min_size=2, max_size=4))
def test_the_size_is_within_its_bounds(drawn: tuple[Event, ...]) -> None:
    assert 2 <= len(drawn) <= 4


@cache
def many() -> tuple[History, ...]:
    """A few hundred histories, the same ones in every run."""
    found: list[History] = []

    @settings(max_examples=200, derandomize=True, database=None, phases=[Phase.generate])
    @given(histories(gaps=True, min_size=8, max_size=16))
    def collect(history: History) -> None:
        found.append(history)

    collect()
    return tuple(found)


@pytest.mark.parametrize("type", sorted(APPLIED_TYPES))
def test_every_class_is_drawn(type: str) -> None:
    assert any(event.type == type for history in many() for event in history.events)


REACHED: Final[dict[str, Callable[[History], bool]]] = {
    "a gap": lambda h: bool(h.input.gaps),
    "a recovered episode": lambda h: "Recovered" in _ends(h),
    "a cancelled episode": lambda h: "Cancelled" in _ends(h),
    "an open episode": lambda h: "Censored" in _ends(h),
    "a supported readiness claim": lambda h: ("review.requested", "supported") in _verdicts(h),
    "a completed item": lambda h: ("work.completed", "supported") in _verdicts(h),
    "a correction that counts": lambda h: "applied" in _corrections(h),
    "a correction that does not": lambda h: "ineffective" in _corrections(h),
}


def _ends(history: History) -> set[str]:
    shown = project(history.until(), rules="coordination/2")
    return {type(episode.end).__name__ for episode in shown.episodes}


def _verdicts(history: History) -> set[tuple[str, str]]:
    shown = project(history.until(), rules="coordination/2")
    return {(claim.claim, claim.verdict) for claim in shown.claims}


def _corrections(history: History) -> set[str]:
    shown = project(history.until(), rules="coordination/2")
    return {correction.status for correction in shown.corrections}


@pytest.mark.parametrize("what", REACHED)
def test_what_rules_tell_apart_is_reached(what: str) -> None:
    assert any(REACHED[what](history) for history in many())


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"work_ids": ()}, "work_ids"),
        ({"principals": "p1"}, "principals"),
        ({"revisions": ("",)}, "revisions"),
        ({"min_size": 3, "max_size": 2}, "sizes"),
        ({"basis": "local"}, "basis"),
    ],
)
def test_an_option_that_cannot_be_drawn_from_is_named(options: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        histories(**options)


def test_an_option_of_another_name_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="colours"):
        histories(colours=("red",))  # type: ignore[call-arg]


def test_a_built_event_is_the_one_that_its_line_is_read_as() -> None:
    built = build.event("check.completed", "e1", payload={"check": "ci", "outcome": "passed"})
    (read,) = admitted(build.log_bytes([built])).events
    assert read.data == built.data
    assert encode_line(read) == encode_line(built)
    assert build.history_of(written("r1 ci+").events, name="x").input.name == "x"


@pytest.mark.parametrize("module", [replay.testing, strategies])
def test_the_examples_of_the_documentation_run(module: Any) -> None:
    ran = doctest.testmod(module)
    assert (ran.failed, ran.attempted > 0) == (0, True)


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_package_imports_neither_hypothesis_nor_pytest() -> None:
    heavy = "{'hypothesis', 'pytest', '_pytest', 'pandas', 'pyarrow'}"
    seen = f"print(sorted({heavy} & set(sys.modules)))"
    program = f"import sys; from replay.testing import DEFECTS, Rates, kill_table; {seen}"
    assert run(program).strip() == "[]"


def test_a_strategy_without_hypothesis_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import replay.testing\n"
        "try: replay.testing.histories\n"
        "except ModuleNotFoundError as missing: print(missing.name, missing)"
    )
    said = run(program)
    assert said.startswith("hypothesis ")
    assert "coordination-replay[testing]" in said


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = replay.testing.nothing
    assert dir(replay.testing) == sorted(replay.testing.__all__)
