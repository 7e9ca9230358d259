"""A smallest log that still shows something: no event of it can be left out.

Events are left out and the same thing is asked again, as `replay explain` does, but of the
log as a whole.  What stays is what was seen, not merely something like it:

* an answer keeps its value, since when it holds included, and the work item and the event
  that were asked about stay in view, or an empty log would answer most questions with null;
* a disagreement keeps both sides, the authored answer and the wrong one that was derived: a
  log without the events answers wrongly in ways of its own;
* a difference between two rule sets is one question, which both answer as before.

Elapsed time runs to where it ended on the whole log.  The answers of a shrunk log carry that
time as their cutoff (`explicit`), so that the log and they are enough.  Sequences and ids are
evidence and stay as they are: gaps in the sequence show where events were.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol, TypeAlias

from replay.asking import Asked, Asking, ids, named_by, same
from replay.closure import likely
from replay.document import Json, projection_document
from replay.errors import ReplayError, UsageError, quoted
from replay.event import Event, Record
from replay.history import Prefix, PrefixFacts
from replay.minimal import BUDGET, Part, irredundant
from replay.oracle import UNDETERMINED
from replay.projection import Anomaly, Projection, RuleSet
from replay.questions import ANOMALY_CODES, Derived, derive
from replay.timestamps import render

_OF_AN_EVENT: Final = frozenset({"episode", "receipt", "claim", "correction"})
Answers: TypeAlias = list[dict[str, Any]]
SKELETON: Final = "derived, not authored: check what is expected and write why"


class NothingToKeep(ReplayError):
    """The whole log does not show it, or a log with no event shows it as well."""


class Keep(Protocol):
    """Something that a log shows, and whether a part of the log still does."""

    sentence: str
    prefix: Prefix

    @property
    def start(self) -> tuple[Event, ...]:
        """Enough of the prefix's events to show it."""
        ...

    def holds(self, part: Sequence[Event]) -> bool: ...

    def answers(self, part: Sequence[Event]) -> Answers:
        """The answers of an oracle beside a log of these events, which shows it."""
        ...


class Shrunk(Record, frozen=True):
    """What was kept of a log, and the answers that it still shows."""

    keep: Keep
    part: Part[Event]
    answers: Answers


def shrink(keep: Keep, *, budget: int = BUDGET) -> Shrunk:
    """An irredundant part of the events that still shows it.

    `budget` bounds the events that are folded in looking for one; a part that it cut short
    says that it is not shown to be irredundant.  Raises `NothingToKeep`.
    """
    if keep.holds(()):
        raise NothingToKeep(f"{keep.sentence}: a log with no event shows that, too")
    part = irredundant(keep.start, keep.holds, budget=budget)
    return Shrunk(keep, part, keep.answers(part.kept))


def explicit(facts: PrefixFacts) -> dict[str, Json]:
    """The cutoff as an oracle's `at`, with the time at which elapsed time ends."""
    found: dict[str, Json] = {}
    if facts.cutoff.sequence is not None:
        found["sequence"] = facts.cutoff.sequence
    if facts.observed is not None:
        found["time" if facts.basis == "utc" else "minute"] = render(facts.observed, facts.basis)
    return found


# An answer, of one rule set or of two that differ --------------------------------------------


class KeepAnswers:
    """One question, answered under each rule set as on the whole log."""

    def __init__(self, askings: Sequence[Asking], sentence: str) -> None:
        self._askings = askings
        self._whole = [asking.answer() for asking in askings]
        self.view = View(askings[0])
        self.sentence = sentence
        self.prefix = askings[0].prefix
        # a rule set that judges each item alone is asked of fewer events
        everything = max((asking.events for asking in askings), key=len)
        named = [
            event_id
            for asking, whole in zip(askings, self._whole, strict=True)
            for event_id in named_by(whole, asking.asked)
        ]
        self.start = first_that(self.holds, [likely(everything, named)], everything)

    def holds(self, part: Sequence[Event]) -> bool:
        return self.view.is_whole(part) and all(
            same(whole, asking.answer(part))
            for asking, whole in zip(self._askings, self._whole, strict=True)
        )

    def answers(self, part: Sequence[Event]) -> Answers:
        return [
            skeleton(f"q{number}", asking, asking.answer(part))
            for number, asking in enumerate(self._askings, 1)
        ]


class View:
    """What a question asks about, as far as it is there: its work item, and an event of it."""

    def __init__(self, asking: Asking) -> None:
        asked, events = asking.asked, asking.events
        self._work_id = asked.work_id
        self.has_item = any(event.work_id == self._work_id for event in events)
        is_there = asked.question in _OF_AN_EVENT and asked.of in ids(events)
        self.of = asked.of if is_there else None

    def is_whole(self, part: Sequence[Event]) -> bool:
        """Whether a part still has them; an empty log would answer most questions with null."""
        has_item = not self.has_item or any(event.work_id == self._work_id for event in part)
        return has_item and (self.of is None or any(e.event_id == self.of for e in part))


def keep_answer(prefix: Prefix, rule_set: RuleSet, asked: Asked) -> Keep:
    """The answer to a question of the catalogue.  Raises `NothingToKeep`."""
    keep = KeepAnswers([Asking(prefix, rule_set, asked)], _asked_in_words(asked))
    if not keep.view.has_item:
        raise NothingToKeep(f"{_item_in_words(asked.work_id)} is not in view")
    if asked.question in _OF_AN_EVENT and keep.view.of is None:
        raise NothingToKeep(f"no event {quoted(asked.of or '')} of that work item is in view")
    return keep


def skeleton(id_: str, asking: Asking, derived: Derived) -> dict[str, Any]:
    """An oracle's answer with what is derived; whoever keeps it is to author it."""
    asked = asking.asked
    return {
        "id": id_,
        "rules": asking.rule_set.id,
        "at": explicit(asking.prefix.facts),
        "work_id": asked.work_id,
        "question": asked.question,
        **({} if asked.of is None else {"of": asked.of}),
        "expect": _expected(derived),
        **({} if derived.undetermined_by else {"evidence": [*derived.evidence]}),
        "why": SKELETON,
    }


def _expected(derived: Derived) -> Any:
    """The derived value as the catalogue expects it: a clock's rule and a cutoff are not asked."""
    if derived.undetermined_by:
        return UNDETERMINED
    match derived.value:
        case {"kind": _, "by": _, "elapsed_seconds": _} | {"event_id": _, "time": _}:
            return {k: v for k, v in derived.value.items() if k not in ("at", "rule")}
    return derived.value


def _asked_in_words(asked: Asked) -> str:
    of = "" if asked.of is None else f" of {quoted(asked.of)}"
    return f"{asked.question}{of}, {_item_in_words(asked.work_id)}"


def _item_in_words(work_id: str | None) -> str:
    return "no work item" if work_id is None else f"work item {quoted(work_id)}"


def first_that(
    holds: Callable[[Sequence[Event]], bool],
    guesses: Iterable[tuple[Event, ...]],
    everything: tuple[Event, ...],
) -> tuple[Event, ...]:
    return next((guess for guess in guesses if holds(guess)), everything)


# An anomaly ----------------------------------------------------------------------------------


class KeepAnomaly:
    """That some event carries an anomaly of a code, of one work item or of any."""

    def __init__(
        self, prefix: Prefix, rule_set: RuleSet, code: str, work_id: str | None = None
    ) -> None:
        if code not in ANOMALY_CODES:
            known = ", ".join(ANOMALY_CODES)
            raise UsageError(f"not an anomaly: {quoted(code)}: expected one of {known}")
        self.prefix = prefix
        self._rule_set = rule_set
        self._code = code
        self._work_id = work_id
        where = "" if work_id is None else f", {_item_in_words(work_id)}"
        self.sentence = f"anomaly {code}{where}"
        found = min(self._carried(prefix.events), key=self._place(), default=None)
        if found is None:
            raise NothingToKeep(f"{self.sentence}: no event in view carries it")
        item, anomaly = found
        near = {anomaly.event_id, *anomaly.related}
        own = tuple(e for e in prefix.events if e.work_id == item or e.event_id in near)
        self.start = first_that(self.holds, [likely(own, near), own], prefix.events)

    def _place(self) -> Callable[[tuple[str | None, Anomaly]], int]:
        place = {event.event_id: number for number, event in enumerate(self.prefix.events)}
        return lambda carried: place[carried[1].event_id]

    def holds(self, part: Sequence[Event]) -> bool:
        return next(self._carried(part), None) is not None

    def _carried(self, part: Sequence[Event]) -> Iterator[tuple[str | None, Anomaly]]:
        projection = self._rule_set.project(Prefix(tuple(part), self.prefix.facts))
        for work_id, anomaly in _anomalies(projection):
            if anomaly.code == self._code and self._work_id in (None, work_id):
                yield work_id, anomaly

    def answers(self, part: Sequence[Event]) -> Answers:
        work_id, _ = next(self._carried(part))
        asked = Asked("anomaly", work_id, self._code)
        asking = Asking(self.prefix, self._rule_set, asked)
        return [skeleton("q1", asking, asking.answer(part))]


def _anomalies(projection: Projection) -> Iterator[tuple[str | None, Anomaly]]:
    for item in projection.items:
        yield from ((item.work_id, anomaly) for anomaly in item.anomalies)
    yield from ((None, anomaly) for anomaly in projection.unassigned.anomalies)


# A difference between two rule sets ----------------------------------------------------------


def keep_difference(
    prefix: Prefix, one: RuleSet, other: RuleSet, work_id: str | None = None
) -> Keep:
    """The first question that two rule sets answer differently, and both its answers.

    Two different values come before an answer that one of them leaves undetermined; then
    work items by id, and the catalogue's order.  Raises `NothingToKeep`.
    """
    undetermined: Asked | None = None
    for asked, left, right in _differences(prefix, one, other, work_id):
        if not left.undetermined_by and not right.undetermined_by:
            return _keep_both(prefix, one, other, asked)
        undetermined = undetermined or asked
    if undetermined is None:
        where = "" if work_id is None else f" about {_item_in_words(work_id)}"
        raise NothingToKeep(f"{one.id} and {other.id} answer every question{where} alike")
    return _keep_both(prefix, one, other, undetermined)


def _keep_both(prefix: Prefix, one: RuleSet, other: RuleSet, asked: Asked) -> Keep:
    askings = [Asking(prefix, rule_set, asked) for rule_set in (one, other)]
    return KeepAnswers(askings, f"difference of {one.id} and {other.id}: {_asked_in_words(asked)}")


def _differences(
    prefix: Prefix, one: RuleSet, other: RuleSet, work_id: str | None
) -> Iterator[tuple[Asked, Derived, Derived]]:
    documents: list[Any] = [projection_document(s.project(prefix), s) for s in (one, other)]
    by_item = [{item["work_id"]: item for item in document["items"]} for document in documents]
    for item_id in by_item[0] if work_id is None else [work_id]:
        items = [found[item_id] for found in by_item if item_id in found]
        alone = [{"items": [item], "unassigned": None} for item in items]
        for question, of in _questions(items):
            left, right = (derive(document, question, item_id, of) for document in alone)
            # as an oracle would be told them: each names its own rule for the same progress
            if _expected(left) != _expected(right):
                yield Asked(question, item_id, of), left, right


def _questions(items: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str | None]]:
    """Every question about an item that some of its documents has an answer to."""
    if not items:
        return
    for question in ("state", "revision", "last_message", "last_progress", "blocked_since"):
        yield question, None

    def listed(name: str, member: Callable[[Any], str | None]) -> list[str]:
        found = (member(entry) for item in items for entry in item[name] or ())
        return [*dict.fromkeys(of for of in found if of is not None)]

    yield from (("episode", of) for of in listed("episodes", lambda e: e["opened"]["event_id"]))
    yield from (("receipt", of) for of in listed("receipts", lambda e: e["event_id"]))
    yield from (("certifying_check", of) for of in listed("receipts", lambda e: e["check"]))
    yield from (("claim", of) for of in listed("claims", lambda e: e["event_id"]))
    yield from (("correction", of) for of in listed("corrections", lambda e: e["event_id"]))
    yield from (("anomaly", of) for of in listed("anomalies", lambda e: e["code"]))
