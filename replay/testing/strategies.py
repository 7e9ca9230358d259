"""Hypothesis strategies for valid histories: records, an admitted history, or the bytes of a log.

What is drawn is always admitted (contract, sections 1 to 4), whatever its links say: to the
event itself, to later ones, to other items, to ids that no event bears.  Frequent are the
structures that rules tell apart, which need several fitting events: checks of the revision
last announced, causes that name a raise, corrections of the same type and principal.

The three strategies take the same options, all by keyword, of `Options`:

    >>> from hypothesis import find
    >>> from replay.testing.strategies import histories
    >>> drawn = find(histories(work_ids=("W1", "W2")), lambda history: len(history.events) == 2)
    >>> [event.recorded_sequence for event in drawn.events]
    [1, 2]

Hypothesis is optional: without it, importing this module says which extra has it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, TypedDict, Unpack

from replay.event import (
    CHECK_OUTCOMES,
    REVIEW_OUTCOMES,
    WORK_STATES,
    Event,
    Record,
    TimeBasis,
)
from replay.history import History
from replay.testing.build import event, history_of, log_bytes
from replay.timestamps import NS_PER_SECOND, parse_utc

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "replay.testing.strategies needs Hypothesis, which is not installed;"
        " the extra `testing` has it: pip install 'coordination-replay[testing]'",
        name=missing.name,
    ) from missing

UTC_START: Final = parse_utc("2026-01-01T00:00:00Z")
"""When a drawn `events/1` history begins; an `elapsed/1` one begins at minute 0."""

COVERED: Final = (
    "artifact.published",
    "check.completed",
    "blocker.raised",
    "review.requested",
    "work.proposed",
    "work.started",
    "heartbeat",
    "note",
    "example.unlisted",
)
"""The classes that coordination/1 covers, inert ones included."""

_FREQUENT: Final = (
    *("artifact.published", "check.completed", "check.completed"),
    *("blocker.raised", "review.requested"),
)
_OTHERS: Final = (
    "work.reopened",
    *("work.completed",) * 3,  # rarely supported, and only then does an item complete
    "work.cancelled",
    "blocker.resolved",
    "blocker.cancelled",
    "review.completed",
    "status.asserted",
)
_ABOUT_A_REVISION: Final = (
    "check.completed",
    "review.requested",
    "review.completed",
    "work.completed",
)
_INERT: Final = ("heartbeat", "note", "example.unlisted")


class Options(TypedDict, total=False):
    """What may be drawn; every option has a default.

    `None` among the ids is an event without one: no work item, no principal, no blocker id.
    """

    work_ids: Sequence[str | None]  # default ("W1",)
    principals: Sequence[str | None]  # default (None, "p1", "p2")
    blocker_ids: Sequence[str | None]  # default (None, "b1", "b2")
    revisions: Sequence[str]  # default ("r1", "r2", "r3")
    checks: Sequence[str]  # default ("ci", "lint")
    min_size: int  # events, default 0
    max_size: int  # events, default 14
    covered: bool  # only what coordination/1 determines; default False
    basis: TimeBasis  # "elapsed" (the default) or "utc"
    corrections: bool  # retractions and replacements too; default True, but not of `covered`
    gaps: bool  # whether sequence numbers may be missing; default False


class _Shape(Record, frozen=True, kw_only=True):
    """The options in full; another name than those of `Options` is a `TypeError`."""

    work_ids: Sequence[str | None] = ("W1",)
    principals: Sequence[str | None] = (None, "p1", "p2")
    blocker_ids: Sequence[str | None] = (None, "b1", "b2")
    revisions: Sequence[str] = ("r1", "r2", "r3")
    checks: Sequence[str] = ("ci", "lint")
    min_size: int = 0
    max_size: int = 14
    covered: bool = False
    basis: TimeBasis = "elapsed"
    corrections: bool = True
    gaps: bool = False

    def __post_init__(self) -> None:
        for name in ("work_ids", "principals", "blocker_ids", "revisions", "checks"):
            given = getattr(self, name)
            if not given or isinstance(given, str) or "" in given:
                raise ValueError(f"{name}: expected at least one non-empty id, found {given!r}")
        if not 0 <= self.min_size <= self.max_size:
            raise ValueError(f"sizes: expected 0 <= {self.min_size} <= {self.max_size}")
        if self.basis not in ("utc", "elapsed"):
            raise ValueError(f"basis: expected 'utc' or 'elapsed', found {self.basis!r}")


def events(**options: Unpack[Options]) -> st.SearchStrategy[tuple[Event, ...]]:
    """The events of a valid history, in sequence order."""
    return _events(_Shape(**options))


def histories(**options: Unpack[Options]) -> st.SearchStrategy[History]:
    """An admitted history, named `drawn.jsonl`."""
    return events(**options).map(lambda drawn: history_of(drawn, name="drawn.jsonl"))


def log_lines(
    *, shuffled: bool = False, duplicates: bool = False, **options: Unpack[Options]
) -> st.SearchStrategy[bytes]:
    """The JSON Lines of a valid history.

    `shuffled` puts the lines in any order, `duplicates` repeats some with their keys in
    another order: neither changes what is admitted.
    """
    return events(**options).flatmap(lambda drawn: _log(drawn, shuffled, duplicates))


@st.composite
def _log(draw: st.DrawFn, drawn: tuple[Event, ...], shuffled: bool, duplicates: bool) -> bytes:
    lines = log_bytes(drawn).splitlines(keepends=True)
    if duplicates and lines:
        again = draw(st.lists(st.sampled_from(lines), max_size=3))
        lines += [_respelled(line) for line in again]
    return b"".join(draw(st.permutations(lines)) if shuffled else lines)


def _respelled(line: bytes) -> bytes:
    value = json.loads(line)
    return json.dumps(dict(reversed(value.items())), indent=None).encode() + b"\n"


class _Blank(Record, frozen=True, kw_only=True):
    """What is drawn of an event before its class: who said when, of which item."""

    event_id: str
    sequence: int
    at: int
    work_id: str | None
    principal: str | None


@st.composite
def _events(draw: st.DrawFn, shape: _Shape) -> tuple[Event, ...]:
    size = draw(st.integers(shape.min_size, shape.max_size))
    ids = tuple(f"e{number}" for number in range(1, size + 1))
    # a history keeps to a few classes and mostly to one blocker, so that fitting events meet;
    # more than one blocker line at a time coordination/1 does not cover
    one_blocker = shape.covered or draw(st.sampled_from((True, True, True, False)))
    blockers = (draw(st.sampled_from(shape.blocker_ids)),) if one_blocker else shape.blocker_ids
    rarer = COVERED if shape.covered else (*COVERED, *_OTHERS)
    types = (*_FREQUENT, *draw(st.lists(st.sampled_from(rarer), min_size=2, max_size=6)))
    steps = (1, 1, 1, 1, 1, 3) if shape.gaps else (1,)
    sequence, at = 0, UTC_START if shape.basis == "utc" else 0
    found: list[Event] = []
    for event_id in ids:
        sequence += draw(st.sampled_from(steps))
        at += draw(st.sampled_from((0, 30, 60, 90))) * NS_PER_SECOND
        blank = _Blank(
            event_id=event_id,
            sequence=sequence,
            at=at,
            work_id=draw(st.sampled_from(shape.work_ids)),
            principal=draw(st.sampled_from(shape.principals)),
        )
        found.append(_event(draw, shape, blank, found, ids, blockers, types))
    return tuple(found)


def _event(
    draw: st.DrawFn,
    shape: _Shape,
    blank: _Blank,
    before: list[Event],
    ids: tuple[str, ...],
    blockers: Sequence[str | None],
    types: Sequence[str],
) -> Event:
    type, target = _type_and_target(draw, shape, before, types)
    work_id, principal = blank.work_id, blank.principal
    if target is not None and draw(st.booleans()):  # mostly as a correction must be to count
        work_id, principal = target.work_id, target.principal
    supersedes = None if target is None else target.event_id
    if type == "event.retracted" and target is None:
        supersedes = draw(st.sampled_from((*ids, "e0")))
    causes, references = _links(draw, before, ids)
    occurred = draw(st.sampled_from((None, None, blank.at, max(0, blank.at - 60 * NS_PER_SECOND))))
    return event(
        type,
        blank.event_id,
        sequence=blank.sequence,
        at=blank.at,
        payload=_payload(draw, shape, type, blockers),
        basis=shape.basis,
        work_id=work_id,
        principal=principal,
        occurred_at=occurred,
        artifact_revision=draw(_revision(shape, type, work_id, before)),
        causes=causes,
        evidence_refs=references,
        supersedes=supersedes,
    )


def _type_and_target(
    draw: st.DrawFn, shape: _Shape, before: list[Event], types: Sequence[str]
) -> tuple[str, Event | None]:
    """A class and, where the event corrects one before it, that event."""
    corrects = shape.corrections and not shape.covered
    if not corrects or not draw(st.sampled_from((*(False,) * 8, True))):
        return draw(st.sampled_from(types)), None
    target = draw(st.sampled_from(before[-4:])) if before else None
    type = "event.retracted" if target is None else target.type
    return draw(st.sampled_from(("event.retracted", type))), target


def _payload(
    draw: st.DrawFn, shape: _Shape, type: str, blockers: Sequence[str | None]
) -> dict[str, Any]:
    match type:
        case "check.completed":
            outcomes = (*("passed",) * 12, "failed", "failed", *CHECK_OUTCOMES)
            sources = (*(None,) * 6, "GH", "local", "LOCAL")
            return _given(draw, check=shape.checks, outcome=outcomes, source=sources)
        case "blocker.raised" | "blocker.resolved" | "blocker.cancelled":
            return _given(draw, blocker_id=blockers)
        case "review.requested":
            return _given(draw, requires=(None, None, [], [shape.checks[0]], [*shape.checks]))
        case "review.completed":
            return _given(draw, outcome=REVIEW_OUTCOMES)
        case "status.asserted":
            as_of = (None, None, 1, 2, 5, 20)
            revisions = (None, *shape.revisions)
            return _given(draw, state=WORK_STATES, revision=revisions, as_of_sequence=as_of)
        case "event.retracted" | "work.cancelled" | "example.unlisted":
            return draw(st.sampled_from(({}, {"reason": "typo"}, {"reason": None})))
        case _:
            return {}


def _given(draw: st.DrawFn, **choices: Sequence[Any]) -> dict[str, Any]:
    """One choice for each key, the key left out where that is null."""
    chosen = ((name, draw(st.sampled_from(of))) for name, of in choices.items())
    return {name: value for name, value in chosen if value is not None}


def _revision(
    shape: _Shape, type: str, work_id: str | None, before: list[Event]
) -> st.SearchStrategy[str | None]:
    """Mostly the one last announced for the item, so that checks and claims meet."""
    if type == "artifact.published":
        return st.sampled_from(shape.revisions)
    if type not in _ABOUT_A_REVISION:
        return st.none()
    announced = [
        one.artifact_revision
        for one in before
        if one.type == "artifact.published" and one.work_id == work_id
    ]
    return st.sampled_from((*announced[-1:] * 8, None, *shape.revisions))


def _links(
    draw: st.DrawFn, before: list[Event], ids: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Causes and evidence, mostly to where they have an effect: raises, artifacts and checks."""
    raises = [one.event_id for one in before if one.type == "blocker.raised"]
    works = [e.event_id for e in before if e.type in ("artifact.published", "check.completed")]
    match draw(st.sampled_from(("nothing", "fitting", "fitting", "anything"))):
        case "fitting":
            return draw(_some(raises, 1)), draw(_some(works))
        case "anything":
            return draw(_some((*ids, "e0"))), draw(_some((*ids, "e0", "log.txt")))
        case _:
            return (), ()


def _some(ids: Sequence[str], least: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    if not ids:
        return st.just(())
    return st.lists(st.sampled_from(ids), min_size=least, max_size=2).map(tuple)
