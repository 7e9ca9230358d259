"""Drawn histories of all kinds, longer than can be enumerated: Hypothesis strategies, and
seeded ones in the notation (`drawn_words`).

What is drawn is valid input (contract, sections 1 and 2) whatever its links say: to the
event itself, to later ones, to other items, to ids that no event bears.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

from hypothesis import strategies as st

from replay.event import CHECK_OUTCOMES, REVIEW_OUTCOMES, WORK_STATES, Event, Record
from replay.history import Cutoff, History
from replay.timestamps import NS_PER_SECOND
from tests.notation import event, history_of

COVERED_BY_V1: Final = (
    "artifact.published",
    "check.completed",
    "blocker.raised",
    "review.requested",
    "work.proposed",
    "work.started",
    "heartbeat",
    "note",
    "x.unlisted",
)
OTHER_APPLIED: Final = (
    "work.reopened",
    "work.completed",
    "work.cancelled",
    "blocker.resolved",
    "blocker.cancelled",
    "review.completed",
    "status.asserted",
    "event.retracted",
)
INERT: Final = frozenset({"heartbeat", "note", "x.unlisted"})
_REQUIREMENTS: Final[tuple[list[str] | None, ...]] = (
    None,
    None,
    [],
    ["ci"],
    ["lint", "ci", "lint"],
)
_FREQUENT: Final = ("artifact.published", "check.completed", "blocker.raised", "review.requested")

_revisions = st.sampled_from(("r1", "r1", "r2", "r3"))
_optional_revisions = st.sampled_from((None, "r1", "r2", "r3"))
_blocker_ids = st.sampled_from((None, "b1", "b2"))
_checks = st.sampled_from(("ci", "ci", "lint"))
_people = st.sampled_from(((None, None), ("p1", None), ("p1", None), ("p1", "a1"), ("p2", None)))
_outcomes = st.sampled_from((*("passed",) * 6, "failed", "failed", *CHECK_OUTCOMES))


@st.composite
def histories(draw: st.DrawFn, *, covered: bool | None = None, max_size: int = 14) -> History:
    """A history; `covered` has only classes that coordination/1 covers, mostly one blocker."""
    return history_of(draw(event_lists(covered=covered, max_size=max_size)))


@st.composite
def event_lists(
    draw: st.DrawFn, *, covered: bool | None = None, max_size: int = 14
) -> tuple[Event, ...]:
    """The events of a valid history in sequence order; where `covered` is null, either kind."""
    narrow = draw(st.sampled_from((True, True, False))) if covered is None else covered
    types = (*_FREQUENT, *COVERED_BY_V1) if narrow else (*COVERED_BY_V1, *OTHER_APPLIED)
    usual_blocker = draw(_blocker_ids) if narrow else ...
    work_ids = draw(st.sampled_from((("W1",), ("W1",), ("W1", "W1", "W2", None))))
    size = draw(st.integers(0, max_size))
    pool = [f"e{number}" for number in range(1, size + 1)]
    found: list[Event] = []
    sequence = at = 0
    for event_id in pool:
        sequence += draw(st.sampled_from((1, 1, 1, 1, 1, 1, 1, 3)))
        at += draw(st.sampled_from((0, 30, 60, 90))) * NS_PER_SECOND
        type = draw(st.sampled_from(types))
        principal, author = draw(_people)
        found.append(
            event(
                type,
                event_id,
                sequence=sequence,
                at=at,
                payload=draw(payloads(type, usual_blocker)),
                work_id=draw(st.sampled_from(work_ids)),
                occurred_at=draw(
                    st.sampled_from((None, None, 0, 60 * NS_PER_SECOND, 120 * NS_PER_SECOND))
                ),
                principal=principal,
                claimed_author=author,
                artifact_revision=draw(_revision(type, found)),
                **draw(_links(type, found, pool, narrow)),
            )
        )
    return tuple(found)


@st.composite
def payloads(draw: st.DrawFn, type: str, usual_blocker: Any = ...) -> dict[str, Any]:
    """A payload of a class; `usual_blocker` is the only blocker id, `...` for any."""
    match type:
        case "check.completed":
            source = draw(st.sampled_from((None, None, None, None, "GH", "local", "LOCAL")))
            return _given(check=draw(_checks), outcome=draw(_outcomes), source=source)
        case "blocker.raised" | "blocker.resolved" | "blocker.cancelled":
            drawn = draw(_blocker_ids) if usual_blocker is ... else usual_blocker
            return _given(blocker_id=drawn)
        case "review.requested":
            return _given(requires=draw(st.sampled_from(_REQUIREMENTS)))
        case "review.completed":
            return {"outcome": draw(st.sampled_from(REVIEW_OUTCOMES))}
        case "status.asserted":
            return _given(
                state=draw(st.sampled_from(WORK_STATES)),
                revision=draw(_optional_revisions),
                as_of_sequence=draw(st.one_of(st.none(), st.integers(1, 20))),
            )
        case "event.retracted" | "x.unlisted":
            return draw(st.sampled_from(({}, {"reason": "typo"}, {"reason": None})))
        case _:
            return {}


@st.composite
def cutoffs(draw: st.DrawFn, history: History) -> Cutoff:
    """A cutoff within, at the edge of, or beyond a history, by either bound or both."""
    sequences = [one.recorded_sequence for one in history.events]
    times = [one.recorded_at for one in history.events]
    latest = max(times, default=0)
    nothing = [None] * (len(sequences) + 2)
    bound = st.sampled_from([*nothing, *sequences, 0, max(sequences, default=0) + 2])
    time_bound = st.sampled_from([*nothing, *times, 0, latest + 7 * NS_PER_SECOND])
    return Cutoff(draw(bound), draw(time_bound))


def _given(**payload: Any) -> dict[str, Any]:
    return {name: value for name, value in payload.items() if value is not None}


def _revision(type: str, before: list[Event]) -> st.SearchStrategy[str | None]:
    """Mostly the one last announced, so that checks and claims meet."""
    if type == "artifact.published":
        return _revisions
    announced = [one.artifact_revision for one in before if one.type == "artifact.published"]
    return st.sampled_from((*announced[-1:] * 8, None, "r1", "r2", "r3"))


@st.composite
def _links(
    draw: st.DrawFn, type: str, before: list[Event], pool: list[str], narrow: bool
) -> dict[str, Any]:
    """Causes mostly to earlier raises, which is where they have an effect."""
    anything = st.sampled_from([*pool, "e99"])
    raises = [one.event_id for one in before if one.type == "blocker.raised"]
    links: dict[str, Any] = {}
    if type == "event.retracted":
        links["supersedes"] = draw(anything)
    match draw(st.sampled_from(("nothing", "raises", "raises", "anything", "superseded"))):
        case "raises" if raises:
            links["causes"] = tuple(draw(st.lists(st.sampled_from(raises), max_size=2)))
        case "anything":
            references = st.one_of(anything, st.just("log.txt"))
            links["causes"] = tuple(draw(st.lists(anything, max_size=2)))
            links["evidence_refs"] = tuple(draw(st.lists(references, max_size=2)))
        case "superseded" if type in INERT or not narrow:
            links["supersedes"] = draw(anything)
        case _:
            pass
    return links


# Seeded histories in the notation, dense in what coordination/2 tells apart.

_V1_HEADS: Final = {
    "artifact.published": ("r1", "r1", "r2", "r3"),
    "check.completed": (
        *("ci+", "ci+", "ci+", "ci-", "ci/GH+", "lint+"),
        *("ci/local+", "ci=timed_out", "ci=action_required", "ci=skipped"),
    ),
    "blocker.raised": ("+b1",),
    "review.requested": ("ready", "ready", "ready[ci]", "ready[lint,ci]"),
    "work.proposed": ("propose",),
    "work.started": ("start",),
    "heartbeat": ("beat",),
}
_V2_HEADS: Final = _V1_HEADS | {
    "blocker.raised": ("+b1", "+b1", "+b2", "+"),
    "blocker.resolved": ("-b1", "-b1", "-b2", "-"),
    "blocker.cancelled": ("~b1", "~b2"),
    "review.completed": ("review+", "review-", "review-", "review=commented", "review=dismissed"),
    "work.completed": ("done", "done", "done@"),
    "work.reopened": ("reopen",),
    "work.cancelled": ("cancel",),
    "status.asserted": tuple(f"says={state}" for state in WORK_STATES),
    "event.retracted": ("retract",),
}
_WEIGHTS: Final = {
    "artifact.published": 3,
    "check.completed": 6,
    "blocker.raised": 3,
    "blocker.resolved": 2,
    "review.requested": 3,
    "work.completed": 3,
    "work.reopened": 2,
}


class _Drawn(Record, frozen=True):
    """What is drawn of one event, before its modifiers are written."""

    type: str
    work: str
    principal: str


def drawn_words(rng: Random, *, covered: bool = False, max_size: int = 14) -> str:
    """The notation of a history; `covered` has only what coordination/1 covers.

    A history keeps to a few classes and mostly to one principal, and its links mostly name
    events that exist, so that structures which need several fitting events are frequent.
    """
    heads = _V1_HEADS if covered else _drawn_heads(rng)
    principals = rng.choice((("",), ("", "a"), ("", "a", "b")))
    works = rng.choice((("W1",), ("W1",), ("W1", "W1", "W1", "W2", "")))
    before: list[_Drawn] = []
    words: list[str] = []
    sequence = half_minutes = 0
    for _ in range(max(rng.randint(1, max_size), rng.randint(1, max_size))):
        sequence += rng.choice((1,) * 19 + (3,))
        half_minutes += rng.choice((0, 1, 2, 2, 3))
        one, word = _drawn_word(rng, heads, before, principals, works)
        before.append(one)
        words.append(f"{word}:{half_minutes / 2:g}${sequence}")
    return " ".join(words)


def _drawn_heads(rng: Random) -> dict[str, tuple[str, ...]]:
    """Some classes, of each a few heads; mostly about one blocker only."""
    kept = {*rng.sample(sorted(_V2_HEADS), rng.randint(3, 12)), "artifact.published"}
    kept |= {"check.completed"} if rng.random() < 0.9 else set()
    kept |= {"blocker.raised"} if kept & {"blocker.resolved", "blocker.cancelled"} else set()
    one_blocker = rng.random() < 0.6
    return {
        type: _V2_HEADS[type][:1]
        if one_blocker and type.startswith("blocker.")
        else tuple(rng.choices(_V2_HEADS[type], k=3))
        for type in sorted(kept)
    }


def _drawn_word(
    rng: Random,
    heads: dict[str, tuple[str, ...]],
    before: list[_Drawn],
    principals: tuple[str, ...],
    works: tuple[str, ...],
) -> tuple[_Drawn, str]:
    type = _drawn_type(rng, heads, before)
    work, principal = rng.choice(works), rng.choice(principals)
    superseded = ""
    corrects = heads is not _V1_HEADS and bool(before) and rng.random() < 0.15
    if type == "event.retracted" or corrects or (type == "heartbeat" and rng.random() < 0.1):
        number = _drawn_number(rng, before)
        superseded = f"!e{number}"
        if number <= len(before) and rng.random() < 0.85:
            target = before[number - 1]
            work, principal = target.work, rng.choice((*(target.principal,) * 6, *principals))
            type = type if type in ("event.retracted", "heartbeat") else target.type
    head = rng.choice(heads[type])
    word = head + _drawn_about(rng, type, head, len(before)) + superseded
    word += _drawn_links(rng, "<", type, before) + _drawn_links(rng, "&", type, before)
    word += f"#{work}" if work != "W1" else ""
    word += f"^{principal}" if principal else ""
    word += "%x" if type == "review.completed" and rng.random() < 0.3 else ""
    word += f"*{rng.randint(0, 4)}" if rng.random() < 0.35 else ""
    word += "?typo" if type == "event.retracted" and rng.random() < 0.3 else ""
    return _Drawn(type, work, principal), word


def _drawn_type(rng: Random, heads: dict[str, tuple[str, ...]], before: list[_Drawn]) -> str:
    """Often an artifact first, and a resolution after the check that it can cite."""
    if not before and rng.random() < 0.6:
        return "artifact.published"
    if before and before[-1].type == "check.completed" and rng.random() < 0.25:
        return "blocker.resolved" if "blocker.resolved" in heads else "check.completed"
    types = sorted(heads)
    return rng.choices(types, [_WEIGHTS.get(type, 1) for type in types])[0]


def _drawn_about(rng: Random, type: str, head: str, place: int) -> str:
    """A revision other than that last written, or what an asserted status is compared with."""
    if type == "status.asserted" and rng.random() < 0.5:
        return rng.choice(("[r1]", "[r2]", f"[{rng.randint(1, place + 2)}]"))
    about = type in ("check.completed", "review.requested", "review.completed", "work.completed")
    if about and "@" not in head and rng.random() < 0.25:
        return rng.choice(("@", "@", "@r1", "@r1", "@r2", "@r3"))
    return ""


def _drawn_number(rng: Random, before: list[_Drawn]) -> int:
    """Mostly an earlier event, mostly a recent one, else any or none."""
    place = len(before)
    if not before or rng.random() < 0.08:
        return rng.choice((place + 1, place + 2, 99, rng.randint(1, place + 1)))
    recent = range(max(1, place - 3), place + 1)
    return rng.choice(recent) if rng.random() < 0.6 else rng.randint(1, place)


def _drawn_links(rng: Random, sign: str, type: str, before: list[_Drawn]) -> str:
    """Links mostly to where they have an effect: to blockers from what may end an episode, to
    artifacts and checks from what cites them."""
    cites = type in ("blocker.resolved", "work.completed")
    resumes = sign == "<" and type in ("artifact.published", "check.completed")
    apt = resumes or (cites and (sign == "&" or type == "blocker.resolved"))
    if rng.random() > (0.6 if apt and before else 0.05):
        return ""
    wanted = ("blocker.raised",) if resumes else ("artifact.published", "check.completed")
    fitting = [n for n, one in enumerate(before, start=1) if one.type in wanted]
    numbers = [
        rng.choice(fitting[-3:]) if fitting and rng.random() < 0.8 else _drawn_number(rng, before)
        for _ in range(rng.choice((1, 1, 2)))
    ]
    plain = ["log.txt"] if sign == "&" and rng.random() < 0.1 else []
    return sign + ",".join([*(f"e{number}" for number in numbers), *plain])
