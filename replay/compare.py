"""Two projections, answer for answer: what differs, and at which event it first did.

What is compared is either one log under two rule sets, two logs under one, or two recorded
documents.  An answer differs where its value does; where one side alone does not determine it
(which is no value, and a kind of its own); or, as a detail, where what it rests on does: its
evidence, its rule (unless the rule sets are two, whose rules have other names by design), or
what else a projection shows of its subject.

Documents have no log, so there the first event is null, which is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from replay.asking import Asked
from replay.divergence import Firsts, Log, events_document
from replay.document import TOOL, Json, projection_document
from replay.errors import UsageError
from replay.history import Prefix
from replay.projection import RuleSet
from replay.recorded import unequal
from replay.told import ORDER, Difference, Part, Told, details, told, unlike

_Key: TypeAlias = tuple[str, str | None]
_Object: TypeAlias = dict[str, Any]

_HEAD: Final = ("tool", "input", "rules", "cutoff", "accounting")


def compare_rules(prefix: Prefix, one: RuleSet, other: RuleSet) -> dict[str, Json]:
    """The `replay.diff/1` document of one log under two rule sets."""
    return _document("rules", _Side.of(prefix, one), _Side.of(prefix, other))


def compare_logs(one: Prefix, other: Prefix, rule_set: RuleSet) -> dict[str, Json]:
    """The `replay.diff/1` document of two logs under one rule set.

    Raises `UsageError` for logs of two time bases, which have no time in common.
    """
    if one.facts.basis != other.facts.basis and one.events and other.events:
        raise UsageError(f"the logs' time bases are {one.facts.basis} and {other.facts.basis}")
    events = events_document(one, other)
    return _document("logs", _Side.of(one, rule_set), _Side.of(other, rule_set), events)


def compare_documents(one: _Object, other: _Object) -> dict[str, Json]:
    """The `replay.diff/1` document of two `replay.projection/1` documents."""
    return _document("documents", _Side(one), _Side(other))


class _Side:
    """A projection, its items by id, and its log, where there is one."""

    def __init__(self, document: _Object, log: Log | None = None) -> None:
        self.document = document
        self.log = log
        self.items = {item["work_id"]: item for item in document["items"]}
        self.uncovered: dict[str | None, dict[str, Part]] = {}
        for entry in document["uncovered"]:
            of_item = self.uncovered.setdefault(entry["work_id"], {})
            of_item[entry["event_id"]] = {"type": entry["type"]}

    @classmethod
    def of(cls, prefix: Prefix, rule_set: RuleSet) -> _Side:
        document = projection_document(rule_set.project(prefix), rule_set)
        return cls(document, Log(prefix, rule_set))

    @property
    def rules(self) -> str:
        return str(self.document["rules"]["id"])

    def parts(self, work_id: str | None) -> _Parts:
        item = self.items.get(work_id)
        if work_id is None:
            item = {**_NO_LISTS, **self.document["unassigned"]}
            item["clocks"] = {"last_message": item["last_message"]} if item["events"] else {}
        return _Parts(item, self.uncovered.get(work_id, {}))


_NO_LISTS: Final[_Object] = {
    **{name: [] for name in ("episodes", "receipts", "claims", "corrections", "flags")},
    "undetermined_by": [],
}


class _Parts:
    """What of an item each question looks at.  An item that is not there has no part."""

    def __init__(self, item: _Object | None, uncovered: Mapping[str, Part]) -> None:
        self.undetermined_by: list[str] = [] if item is None else item["undetermined_by"]
        self.found: dict[_Key, Part] = {}
        self._repeats: dict[str, Part] = {}
        self.found.update((("uncovered", of), part) for of, part in uncovered.items())
        if item is not None:
            self._find(item)

    def _find(self, item: _Object) -> None:
        found = self.found
        found.update(((name, None), {name: item[name]}) for name in _DATED if name in item)
        found.update(((name, None), {"clocks": {name: at}}) for name, at in item["clocks"].items())
        if "authorization" in item:
            found["permission", None] = {"authorization": item["authorization"]}
        for episode in item["episodes"] or ():
            part = {"episodes": [episode]}
            found["episode", episode["opened"]["event_id"]] = part
            self._repeats.update((event_id, part) for event_id in episode["repeats"])
        for question, name in (("receipt", "receipts"), ("claim", "claims"), _CORRECTIONS):
            for entry in item[name] or ():
                found[question, entry["event_id"]] = {name: [entry]}
        for receipt in item["receipts"] or ():
            if receipt["check"] is not None:
                self._list(("certifying_check", receipt["check"]), "receipts", receipt)
        for anomaly in item["anomalies"]:
            self._list(("anomaly", anomaly["code"]), "anomalies", anomaly)
        found.update((("flag", flag), {"is": True}) for flag in item["flags"])
        found.update((("undetermined", of), {"is": True}) for of in self.undetermined_by)
        if item.get("events"):
            found["events", None] = {"events": item["events"]}

    def _list(self, key: _Key, name: str, entry: _Object) -> None:
        self.found.setdefault(key, {name: []})[name].append(entry)

    def get(self, key: _Key) -> Part:
        """The part; of a raise that is a repeat here, the episode that it repeats."""
        part = self.found.get(key)
        if part is None and key[0] == "episode" and key[1] is not None:
            part = self._repeats.get(key[1])
        return part or {}


_DATED: Final = ("state", "revision")
_CORRECTIONS: Final = ("correction", "corrections")


def _compared(one: _Side, other: _Side) -> Iterator[Difference | None]:
    """Every answer that either side gives: how it differs, or null."""
    same_rules = one.rules == other.rules
    work_ids = {*one.items, *other.items, *one.uncovered, *other.uncovered, None}
    for work_id in sorted(work_ids, key=lambda work_id: (work_id is not None, work_id or "")):
        first, second = one.parts(work_id), other.parts(work_id)
        keys = sorted({*first.found, *second.found}, key=_place)
        uncovered = {of for question, of in keys if question == "uncovered"}
        for question, of in keys:
            if question == "undetermined" and of in uncovered:
                continue  # the same thing, told of the event
            yield _difference(Asked(question, work_id, of), first, second, same_rules)


def _place(key: _Key) -> tuple[int, str]:
    return ORDER.index(key[0]), key[1] or ""


def _difference(asked: Asked, one: _Parts, other: _Parts, same_rules: bool) -> Difference | None:
    key = (asked.question, asked.of)
    first, second = one.get(key), other.get(key)
    if first == second and one.undetermined_by == other.undetermined_by:
        return None
    told_one = told(asked, first, one.undetermined_by)
    told_other = told(asked, second, other.undetermined_by)
    kind = unlike(told_one, told_other, same_rules=same_rules)
    return None if kind is None else Difference(asked, kind, told_one, told_other)


# The document ---------------------------------------------------------------------------


def _document(
    compared: str, one: _Side, other: _Side, events: dict[str, Json] | None = None
) -> dict[str, Json]:
    answers = [*_compared(one, other)]
    found = [difference for difference in answers if difference is not None]
    alone = compared == "documents"  # all that there is to compare
    elsewhere = _elsewhere(one, other, whole=alone and not found and one.rules == other.rules)
    differs = bool(found) or (alone and bool(elsewhere))
    if events is not None and events["first"] is not None:
        differs = True
    heads = [{name: side.document[name] for name in _HEAD} for side in (one, other)]
    is_complete = alone or all(head["input"]["complete"] for head in heads)
    return {
        "document": "replay.diff/1",
        "tool": TOOL,
        "compared": compared,
        "a": heads[0],
        "b": heads[1],
        "elsewhere": elsewhere,
        "events": events,
        "answers": len(answers),
        "differences": [*_differences(one, other, found)],
        "exit": int(differs) if is_complete else 3,
    }


def _elsewhere(one: _Side, other: _Side, *, whole: bool) -> list[Json]:
    """Where the heads of two projections differ; `whole`, what no answer tells, too."""
    first, second = (
        {name: member for name, member in side.document.items() if whole or name in _HEAD}
        for side in (one, other)
    )
    return [place.pointer for place in unequal(first, second)]


def _differences(one: _Side, other: _Side, found: list[Difference]) -> Iterator[dict[str, Json]]:
    firsts = None
    if one.log is not None and other.log is not None and found:
        firsts = Firsts(one.log, other.log, found)
    for difference in found:
        yield {
            **difference.asked.document(),
            "kind": difference.kind,
            "a": _told_document(difference.one),
            "b": _told_document(difference.other),
            "details": [
                {"member": name, "a": difference.one.content[name], "b": shown}
                for name, shown in difference.other.content.items()
                if name in details(difference.one, difference.other)
            ],
            "first_event": None if firsts is None else firsts.document(difference),
        }


def _told_document(told: Told) -> dict[str, Json]:
    return {
        "value": told.value,
        "rule": told.rule,
        "evidence": [*told.evidence],
        "undetermined_by": [*told.undetermined_by],
    }
