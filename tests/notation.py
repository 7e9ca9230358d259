"""A small notation for histories: one word an event, so that a test reads as a sentence.

    >>> [e.type for e in events("r1 ci- +b1 +b1 r2<b1 ci+ ready")]  # doctest: +NORMALIZE_WHITESPACE
    ['artifact.published', 'check.completed', 'blocker.raised', 'blocker.raised',
     'artifact.published', 'check.completed', 'review.requested']

A word is a head and any number of modifiers.  The events are e1, e2, … in order, of
work item W1, in an `elapsed/1` log; each has the sequence and the minute after those of
the event before it (the first: sequence 1, minute 0) unless a modifier says otherwise.

    head                          event
    r1  r2                        artifact.published of that revision
    ci+  ci-  ci=timed_out        check.completed: passed, failed, or the outcome named
    ci/local+                     the same, with a source
    +b1  -b1  ~b1   +  -  ~       blocker raised, resolved, cancelled; alone: no blocker_id
    ready  ready[ci,lint]         review.requested, with `requires`
    review+  review-  review=…    review.completed: approved, changes_requested, or as named
    propose start reopen cancel   work.proposed, .started, .reopened, .cancelled
    done                          work.completed
    says=active  says=active[r1,5]   status.asserted, with revision and as_of_sequence
    retract!e3                    event.retracted, of e3
    beat  note  any.other.type    heartbeat, note, that type

    modifier      sets            modifier      sets
    <e3,b1        causes          ^p1           principal
    &e3           evidence_refs   %a1           claimed_author
    !e3           supersedes      :8            recorded minute
    @r1  @        revision, none  *2            occurred minute
    #W2  #        work item, none $7            sequence
    ?text         reason, description or note text

Checks, reviews and claims are about the revision that was last written for their work item;
`@` alone says none.  In links a blocker's name means its first raise, `+` that of a raise
without an id; anything else is an event id as written, there or not.

    >>> [e.causes for e in events("+b1 +b1 r2<b1 ci+<e9,+")][2:]
    [('e1',), ('e9', '+')]
    >>> [e.artifact_revision for e in events("ci+ r1 ci+ ci+@r0 ci+@ ready#W2")]
    [None, 'r1', 'r1', 'r0', None, None]
    >>> [(e.recorded_sequence, e.recorded_at // 60_000_000_000) for e in events("r1 +:8 + -$9")]
    [(1, 0), (2, 8), (3, 9), (9, 10)]
    >>> event("status.asserted", "e1", payload={"state": "active", "as_of_sequence": 2}).data
    StatusAssertion(state='active', revision=None, as_of_sequence=2)
    >>> history("says=blocked[r1,5] ci/GH+@r1^p1").events[1].data
    Check(check='ci', outcome='passed', source='GH')
    >>> print(lines(history("r1 +b1*0.5#?waiting")).decode(), end="")
    {"schema_version":"elapsed/1","event_id":"e1","recorded_sequence":1,"recorded_minute":0,\
"work_id":"W1","type":"artifact.published","artifact_revision":"r1"}
    {"schema_version":"elapsed/1","event_id":"e2","recorded_sequence":2,"recorded_minute":1,\
"occurred_minute":0.5,"type":"blocker.raised","payload":{"blocker_id":"b1","reason":"waiting"}}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from replay.event import Blocker, Event, TimeBasis
from replay.history import History
from replay.testing import build
from replay.testing.build import data_of, event
from replay.timestamps import NS_PER_MINUTE, parse_minute, parse_utc

__all__ = ["UTC_START", "data_of", "event", "events", "history", "history_of", "lines"]

UTC_START: Final = parse_utc("2026-01-01T00:00:00Z")
"""Minute 0 of a history that is written with `basis="utc"`."""

_WORDS: Final = {
    "propose": "work.proposed",
    "start": "work.started",
    "reopen": "work.reopened",
    "cancel": "work.cancelled",
    "done": "work.completed",
    "ready": "review.requested",
    "retract": "event.retracted",
    "beat": "heartbeat",
    "note": "note",
}
_BLOCKER: Final = {"+": "blocker.raised", "-": "blocker.resolved", "~": "blocker.cancelled"}
_ABOUT_A_REVISION: Final = frozenset(
    {"check.completed", "review.requested", "review.completed", "work.completed"}
)
_TEXT_KEY: Final = {"artifact.published": "description", "note": "text"}
_WORD: Final = re.compile(r"([^<&!@#^%*:$?\[]+)((?:[<&!@#^%*:$?][^<&!@#^%*:$?\[]*|\[[^\]]*\])*)\Z")
_MODIFIER: Final = re.compile(r"\[([^\]]*)\]|([<&!@#^%*:$?])([^<&!@#^%*:$?\[]*)")


def history(notation: str, *, basis: TimeBasis = "elapsed") -> History:
    """The admitted history of a notation."""
    return history_of(events(notation, basis=basis))


def history_of(written: Sequence[Event], *, name: str = "notation.jsonl") -> History:
    """The admitted history of events, whose lines stand in the order given."""
    return build.history_of(written, name=name)


def events(notation: str, *, basis: TimeBasis = "elapsed") -> tuple[Event, ...]:
    """The events of a notation, in the order written."""
    found: list[Event] = []
    for word in notation.split():
        found.append(_event(word, found, basis))
    return tuple(found)


def lines(written: History | Iterable[Event]) -> bytes:
    """JSON Lines of a history, or of events in the order given."""
    each = written.events if isinstance(written, History) else written
    return build.log_bytes(each)


def _event(word: str, before: Sequence[Event], basis: TimeBasis) -> Event:
    matched = _WORD.match(word)
    if matched is None:
        raise ValueError(f"not a word of the notation: {word!r}")
    head, rest = matched.groups()
    listed, signs = _modifiers(rest)
    type, payload, revision = _head(head, listed)
    if "?" in signs:
        payload[_TEXT_KEY.get(type, "reason")] = signs["?"]
    work_id = (signs["#"] or None) if "#" in signs else "W1"
    if "@" in signs:
        revision = signs["@"] or None
    elif type in _ABOUT_A_REVISION:
        revision = _last_written_revision(before, work_id)
    last = before[-1] if before else None
    return event(
        type,
        f"e{len(before) + 1}",
        sequence=int(signs["$"]) if "$" in signs else (last.recorded_sequence + 1 if last else 1),
        at=_recorded_at(signs.get(":"), last, basis),
        payload=payload,
        basis=basis,
        occurred_at=_at(signs["*"], basis) if "*" in signs else None,
        principal=signs.get("^"),
        claimed_author=signs.get("%"),
        work_id=work_id,
        artifact_revision=revision,
        evidence_refs=_targets(signs.get("&"), before, work_id),
        causes=_targets(signs.get("<"), before, work_id),
        supersedes=next(iter(_targets(signs.get("!"), before, work_id)), None),
    )


def _modifiers(rest: str) -> tuple[list[str], dict[str, str]]:
    listed: list[str] = []
    signs: dict[str, str] = {}
    for found in _MODIFIER.finditer(rest):
        inside, sign, value = found.groups()
        if sign is None:
            listed += inside.split(",")
        elif sign in signs:
            raise ValueError(f"{sign!r} twice in {rest!r}")
        else:
            signs[sign] = value
    return listed, signs


def _head(head: str, listed: list[str]) -> tuple[str, dict[str, Any], str | None]:
    """Type, payload, and the revision of an artifact."""
    if head[0] in _BLOCKER:
        return _BLOCKER[head[0]], {"blocker_id": head[1:]} if head[1:] else {}, None
    if head in _WORDS:
        return _WORDS[head], {"requires": listed} if listed else {}, None
    if head.startswith("says="):
        return "status.asserted", {"state": head[5:], **_compared(listed)}, None
    subject, outcome = _outcome(head)
    if outcome is not None and subject == "review":
        words = {"passed": "approved", "failed": "changes_requested"}
        return "review.completed", {"outcome": words.get(outcome, outcome)}, None
    if outcome is not None:
        check, _, source = subject.partition("/")
        named = {"source": source} if source else {}
        return "check.completed", {"check": check, "outcome": outcome, **named}, None
    if "." in head:
        return head, {}, None
    if re.fullmatch(r"r[0-9]\w*", head):
        return "artifact.published", {}, head
    raise ValueError(f"not a word of the notation: {head!r}")


def _outcome(head: str) -> tuple[str, str | None]:
    if head[-1] in "+-":
        return head[:-1], "passed" if head[-1] == "+" else "failed"
    subject, equals, outcome = head.partition("=")
    return subject, outcome if equals else None


def _compared(listed: list[str]) -> dict[str, Any]:
    return {
        "as_of_sequence" if value.isdigit() else "revision": int(value)
        if value.isdigit()
        else value
        for value in listed
    }


def _last_written_revision(before: Sequence[Event], work_id: str | None) -> str | None:
    return next(
        (
            one.artifact_revision
            for one in reversed(before)
            if one.type == "artifact.published" and one.work_id == work_id
        ),
        None,
    )


def _recorded_at(minute: str | None, last: Event | None, basis: TimeBasis) -> int:
    if minute is not None or last is None:
        return _at(minute or "0", basis)
    return last.recorded_at + NS_PER_MINUTE


def _at(minute: str, basis: TimeBasis) -> int:
    return parse_minute(minute) + (UTC_START if basis == "utc" else 0)


def _targets(names: str | None, before: Sequence[Event], work_id: str | None) -> tuple[str, ...]:
    return tuple(_target(name, before, work_id) for name in names.split(",")) if names else ()


def _target(name: str, before: Sequence[Event], work_id: str | None) -> str:
    return next(_raises(name, before, work_id), name)


def _raises(name: str, before: Sequence[Event], work_id: str | None) -> Iterator[str]:
    named = Blocker(None if name == "+" else name)
    for one in before:
        if one.type == "blocker.raised" and one.work_id == work_id and one.data == named:
            yield one.event_id
