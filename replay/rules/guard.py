"""What a rule set that is not ours answers, held against the prefix that it was given.

The published rule sets are frozen and tested; somebody else's may be neither.  So nothing
that it returns is believed: every value is of its record's type, every event that it cites
is visible, every time is one at which something was recorded, every rule is one of its own,
and what a record copies from an event is what the event says.  What the contract fixes for
every rule set is the same here too: one item for each work item in view, its last message
and its flags, and that an item is undetermined by exactly its uncovered events.  Which
states, clocks, verdicts and statuses follow from the events is the rule set's own to decide.

One that answers anything else, or raises, ends as a `RulesError` that names it.  None of
this is a sandbox: a rule set is Python code that somebody chose to install.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from functools import cache
from itertools import pairwise
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Final, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from replay.errors import RulesError, quoted
from replay.event import WORK_STATES, Check, Event, Record, Review
from replay.history import Prefix
from replay.projection import (
    ANOMALY_CODES,
    Anomaly,
    Cancelled,
    CancelledWithWork,
    Censored,
    Claim,
    Correction,
    Derived,
    Episode,
    Item,
    Mark,
    Progress,
    Projection,
    Receipt,
    Recovered,
    RuleSet,
    Unassigned,
    Uncovered,
)

CLAIMS: Final = ("review.requested", "work.completed", "blocker.resolved", "status.asserted")


class Unfit(Exception):
    """Something of a rule set's that is not what it has to be."""

    def __init__(self, where: str, expected: str, found: str) -> None:
        self.where = where
        self.expected = expected
        self.found = found
        super().__init__(where, expected, found)


def guarded(rule_set: RuleSet) -> Callable[[Prefix], Projection]:
    """`rule_set.project`, whose answers are checked.  It raises `RulesError`."""
    cites = frozenset(rule.id for rule in rule_set.rules)

    def project(prefix: Prefix) -> Projection:
        try:
            answered = _answered(rule_set, prefix)
            _Guard(rule_set.id, cites, prefix).check(answered)
        except Unfit as unfit:
            raise RulesError(
                rule_set.id, where=unfit.where, expected=unfit.expected, found=unfit.found
            ) from unfit.__cause__
        return answered

    return project


def _answered(rule_set: RuleSet, prefix: Prefix) -> Projection:
    try:
        with aside():
            return rule_set.project(prefix)
    except (Exception, SystemExit) as problem:
        raise Unfit("project", "a Projection", fault(problem)) from problem


def aside() -> redirect_stdout[Any]:
    """Standard output is for documents: what somebody else's code prints goes beside it."""
    return redirect_stdout(sys.stderr)


def fault(problem: BaseException) -> str:
    """An exception as its type and what it says, whatever its own methods do."""
    from traceback import format_exception_only

    return format_exception_only(problem)[-1].strip()


def kind(value: object) -> str:
    """What a value is, in words; nothing of the value's own is called."""
    return "None" if value is None else f"a value of type {type(value).__name__}"


# Types: every record is made of what its annotations say, since nothing else checks that.


def check_type(value: Any, hint: Any, where: str) -> None:
    """Raise `Unfit` unless the value, and all within it, is of the type that is annotated."""
    for _ in _records(value, hint, where):
        pass


def _records(value: Any, hint: Any, where: str) -> Iterator[tuple[str, Record]]:
    """Every record within a value, and where; of the exact types, subclasses left out."""
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    chosen = next((choice for choice in choices if type(value) is _class(choice)), None)
    if chosen is None:
        raise Unfit(where, " or ".join(map(_type_name, choices)), kind(value))
    if get_origin(chosen) is tuple:
        for index, entry in enumerate(value):
            yield from _records(entry, get_args(chosen)[0], f"{where}[{index}]")
    elif issubclass(_class(chosen), Record):
        yield where, value
        for name, field_hint in _fields(chosen).items():
            yield from _records(getattr(value, name), field_hint, f"{where}.{name}")
    elif get_origin(chosen) is Literal and value not in get_args(chosen):
        raise Unfit(where, _one_of(get_args(chosen)), quoted(value))
    elif type(value) is str and not _is_unicode(value):
        raise Unfit(where, "text that UTF-8 can hold", ascii(value))


@cache
def _fields(record: type[Record]) -> dict[str, Any]:
    hints = get_type_hints(record)
    return {name: hints[name] for name in record.__struct_fields__}


def _class(hint: Any) -> type:
    origin = get_origin(hint)
    found: type = str if origin is Literal else origin or hint
    return found


def _type_name(hint: Any) -> str:
    return "None" if hint is NoneType else _class(hint).__name__


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _one_of(words: Iterable[str]) -> str:
    return f"one of {', '.join(words)}"


# Meaning: what is answered is about the events of the prefix.


class _Guard:
    """One prefix, and what may be said of it."""

    def __init__(self, rules: str, cites: frozenset[str], prefix: Prefix) -> None:
        self.rules = rules
        self.cites = cites
        self.facts = prefix.facts
        self.visible = {event.event_id: event for event in prefix.events}
        self.times = {event.recorded_at for event in prefix.events}
        self.items: dict[str | None, list[Event]] = {}
        for event in prefix.events:
            self.items.setdefault(event.work_id, []).append(event)
        sequences = [event.recorded_sequence for event in prefix.events]
        self.incomplete = any(after > before + 1 for before, after in pairwise(sequences))

    def check(self, answered: Any) -> None:
        """Raise `Unfit` unless these can be the answers of the rule set to the prefix."""
        if type(answered) is not Projection:
            raise Unfit("project", "a Projection", kind(answered))
        if type(answered.rules) is not str or answered.rules != self.rules:
            _unfit("rules", quoted(self.rules), answered.rules)
        if answered.facts is not self.facts and answered.facts != self.facts:
            raise Unfit("facts", "the prefix's own", "others")
        records = [
            *_records(answered.items, tuple[Item, ...], "items"),
            *_records(answered.unassigned, Unassigned, "unassigned"),
            *_records(answered.uncovered, tuple[Uncovered, ...], "uncovered"),
        ]
        for where, record in records:
            self._check(where, record)
        self._check_items(answered.items)
        self._check_uncovered(answered.uncovered, answered.items)

    def _check(self, where: str, record: Record) -> None:
        match record:
            case Mark(event_id, time):
                self._mark(where, event_id, time)
            case Progress(event_id, time, rule):
                self._mark(where, event_id, time)
                self._rule(where, rule)
            case Derived():
                self._derived(where, record)
            case Recovered(_, evidence) | Cancelled(_, evidence) | CancelledWithWork(_, evidence):
                self._visible(f"{where}.evidence", evidence)
            case Censored(at):
                if at != self.facts.observed:
                    _unfit(f"{where}.at", f"{self.facts.observed}, where observation ends", at)
            case Episode():
                self._episode(where, record)
            case Receipt():
                self._receipt(where, record)
            case Claim():
                self._claim(where, record)
            case Correction(_, event_id, target):
                if self._event(f"{where}.event_id", event_id).supersedes != target:
                    _unfit(f"{where}.target", "what the event supersedes", target)
            case Anomaly():
                self._anomaly(where, record)
            case Unassigned():
                self._unassigned(where, record)
            case Uncovered(event_id, type_, work_id):
                event = self._event(f"{where}.event_id", event_id)
                if (type_, work_id) != (event.type, event.work_id):
                    _unfit(where, "its event's type and work item", (type_, work_id))
            case Item():
                self._item(where, record)

    def _event(self, where: str, event_id: str) -> Event:
        if event_id not in self.visible:
            _unfit(where, "the id of a visible event", event_id)
        return self.visible[event_id]

    def _visible(self, where: str, event_ids: Iterable[str]) -> None:
        for index, event_id in enumerate(event_ids):
            self._event(f"{where}[{index}]", event_id)

    def _mark(self, where: str, event_id: str, time: int) -> None:
        self._event(f"{where}.event_id", event_id)
        # not always its own: a replacement stands at the time of what it replaces
        if time not in self.times:
            _unfit(f"{where}.time", "nanoseconds at which a visible event was recorded", time)

    def _rule(self, where: str, rule: str) -> None:
        if rule not in self.cites:
            _unfit(f"{where}.rule", "the id of one of its rules", rule)

    def _derived(self, where: str, derived: Derived) -> None:
        self._rule(where, derived.rule)
        self._visible(f"{where}.evidence", derived.evidence)
        if derived.value == "":
            _unfit(f"{where}.value", "None, or text", derived.value)
        if (derived.value is None) != (derived.since is None):
            _unfit(f"{where}.since", "None exactly where the value is", derived.since)
        if derived.value is not None and not derived.evidence:
            _unfit(f"{where}.evidence", "the events that support the value", ())

    def _episode(self, where: str, episode: Episode) -> None:
        self._visible(f"{where}.repeats", episode.repeats)
        end = episode.end.at if isinstance(episode.end, Censored) else episode.end.by.time
        if episode.elapsed != end - episode.opened.time or episode.elapsed < 0:
            expected = f"{end - episode.opened.time}, from its origin to its end, and not negative"
            _unfit(f"{where}.elapsed", expected, episode.elapsed)

    def _receipt(self, where: str, receipt: Receipt) -> None:
        event = self._event(f"{where}.event_id", receipt.event_id)
        said: tuple[str | None, ...]
        match event.data:
            case Check(check, outcome, source):
                said = (check, source, outcome)
            case Review(outcome):
                said = (None, None, outcome)
            case _:
                _unfit(where, "a completed check or review", event.type)
        said = (event.type, *said, event.artifact_revision, event.principal)
        if _COPIED(receipt) != said:
            _unfit(where, f"what its event says, {said}", _COPIED(receipt))

    def _claim(self, where: str, claim: Claim) -> None:
        event = self._event(f"{where}.event_id", claim.event_id)
        self._rule(where, claim.rule)
        self._visible(f"{where}.evidence", claim.evidence)
        if claim.claim != event.type or claim.claim not in CLAIMS:
            _unfit(f"{where}.claim", f"its event's type, {_one_of(CLAIMS)}", claim.claim)

    def _anomaly(self, where: str, anomaly: Anomaly) -> None:
        self._event(f"{where}.event_id", anomaly.event_id)
        if anomaly.code not in ANOMALY_CODES:
            _unfit(f"{where}.code", _one_of(ANOMALY_CODES), anomaly.code)
        if anomaly.code != "link_missing":
            self._visible(f"{where}.related", anomaly.related)
        elif not all(anomaly.related):
            _unfit(f"{where}.related", "ids", anomaly.related)

    def _unassigned(self, where: str, unassigned: Unassigned) -> None:
        events = self.items.get(None, [])
        if unassigned.events != len(events):
            _unfit(f"{where}.events", f"the {len(events)} in view", unassigned.events)
        self._last_message(f"{where}.last_message", events, unassigned.last_message)

    def _last_message(self, where: str, events: list[Event], last: Mark | None) -> None:
        mark = Mark(events[-1].event_id, events[-1].recorded_at) if events else None
        if last != mark:
            _unfit(where, f"its last visible event, {mark}", last)

    def _item(self, where: str, item: Item) -> None:
        if item.work_id not in self.items:
            _unfit(f"{where}.work_id", "a work item that a visible event names", item.work_id)
        events = self.items[item.work_id]
        self._last_message(f"{where}.clocks.last_message", events, item.clocks.last_message)
        if item.state.value not in (*WORK_STATES, None):
            _unfit(f"{where}.state.value", _one_of(WORK_STATES), item.state.value)
        no_origin = ("no_origin",) if events[0].type != "work.proposed" else ()
        flags = (*no_origin, *(("possibly_incomplete",) if self.incomplete else ()))
        if item.flags != flags:
            _unfit(f"{where}.flags", f"{flags}", item.flags)
        if item.undetermined_by:
            _check_undetermined(where, item)
        else:
            _check_lists(where, item)

    def _check_items(self, items: tuple[Item, ...]) -> None:
        wanted = sorted(work_id for work_id in self.items if work_id is not None)
        found = [item.work_id for item in items]
        if found != wanted:
            expected = f"the {len(wanted)} work items in view, each once, sorted by work_id"
            _unfit("items", expected, found)

    def _check_uncovered(self, uncovered: tuple[Uncovered, ...], items: tuple[Item, ...]) -> None:
        sequences = [self.visible[u.event_id].recorded_sequence for u in uncovered]
        if any(after <= before for before, after in pairwise(sequences)):
            _unfit("uncovered", "each event once, by sequence", [u.event_id for u in uncovered])
        of_items: dict[str | None, list[str]] = {}
        for entry in uncovered:
            of_items.setdefault(entry.work_id, []).append(entry.event_id)
        for index, item in enumerate(items):
            wanted = tuple(of_items.get(item.work_id, ()))
            if item.undetermined_by != wanted:
                where = f"items[{index}].undetermined_by"
                _unfit(where, f"its events that are uncovered, {wanted}", item.undetermined_by)


_COPIED: Final = attrgetter("type", "check", "source", "outcome", "revision", "principal")
_LISTS: Final = ("episodes", "receipts", "claims", "corrections")


def _check_undetermined(where: str, item: Item) -> None:
    """Nothing but the last message is answered of an item that the rules do not cover."""
    answered = {
        "state.value": item.state.value,
        "revision.value": item.revision.value,
        "clocks.last_progress": item.clocks.last_progress,
        "clocks.blocked_since": item.clocks.blocked_since,
        **{name: getattr(item, name) for name in _LISTS},
        "anomalies": item.anomalies or None,
    }
    for name, value in answered.items():
        if value is not None:
            _unfit(f"{where}.{name}", "none, since the item is undetermined", value)


def _check_lists(where: str, item: Item) -> None:
    for name in _LISTS:
        entries = getattr(item, name)
        if entries is None:
            _unfit(f"{where}.{name}", "a tuple, since nothing makes the item undetermined", None)
        ids = [e.opened.event_id if name == "episodes" else e.event_id for e in entries]
        if len({*ids}) < len(ids):
            _unfit(f"{where}.{name}", "each of another event", ids)
        of_others = [entry.work_id for entry in entries if entry.work_id != item.work_id]
        if of_others:
            _unfit(f"{where}.{name}", f"those of {quoted(item.work_id)}", of_others[0])


def _unfit(where: str, expected: str, found: object) -> NoReturn:
    """Raise `Unfit`; what was found is of a checked type, so it can be printed."""
    raise Unfit(where, expected, quoted(found) if type(found) is str else f"{found!r}")
