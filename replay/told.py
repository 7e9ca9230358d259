"""One answer, with what it rests on and what else a projection shows of its subject.

The catalogue says what answers a question (`replay.questions.derive`); of an item it looks
at one part, so an answer can be told of that part alone.  Four things that a projection
shows are no question of the catalogue and are told beside it: `flag`, `undetermined`,
`uncovered` and `events` (`BESIDE`).

Two answers are unlike where their value differs; where one side alone does not determine it,
which is no value and a kind of its own; or, as a detail, where what they rest on does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

from replay.asking import Asked
from replay.event import Record
from replay.questions import QUESTIONS, Derived, derive

Kind: TypeAlias = Literal["value", "undetermined", "detail"]
Part: TypeAlias = dict[str, Any]
"""The members of an item of a projection document that one question looks at; {} has none."""

BESIDE: Final = ("flag", "undetermined", "uncovered", "events")
ORDER: Final = (*(question.id for question in QUESTIONS), *BESIDE)
"""Questions in the order in which differences are listed."""

ALWAYS_DETERMINED: Final = ("last_message", "permission", *BESIDE)
"""What is answered even where the rules do not cover the item."""

_MORE: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "episode": ("episodes", ("blocker_id", "opened", "repeats")),
    "receipt": ("receipts", ("type", "check", "source", "revision", "principal")),
    "claim": ("claims", ("claim", "missing")),
    "correction": ("corrections", ("target", "reason")),
}


class Told(Record, frozen=True):
    """An answer, and what else the projection says of its subject, by member.

    `value` is the catalogue's answer without the rule that gave it, which a progress
    carries inside; `content` is {} where the subject is not there.
    """

    value: Any
    evidence: tuple[str, ...]
    rule: str | None
    undetermined_by: tuple[str, ...]
    content: dict[str, Any]


class Difference(Record, frozen=True):
    """One answer that two sides do not give alike."""

    asked: Asked
    kind: Kind
    one: Told
    other: Told


def told(asked: Asked, part: Part, undetermined_by: Iterable[str] = ()) -> Told:
    """What is answered where an item has this part, and these events are not covered."""
    blind = () if asked.question in ALWAYS_DETERMINED else tuple(undetermined_by)
    if asked.question in BESIDE:
        found = _beside(asked, part)
    else:
        item = {"work_id": asked.work_id, "undetermined_by": [*blind], **part}
        items = [item] if part or blind else []
        document = {"items": items, "unassigned": {"last_message": None, "anomalies": []}}
        found = derive(document, asked.question, asked.work_id, asked.of)
    return Told(
        bare(found.value),
        found.evidence,
        found.rule,
        found.undetermined_by,
        {} if blind else _content(asked.question, part),
    )


def bare(value: Any) -> Any:
    """An answer without the rule that gave it, which is told beside it."""
    if not isinstance(value, dict) or "rule" not in value:
        return value
    return {name: member for name, member in value.items() if name != "rule"}


def _beside(asked: Asked, part: Part) -> Derived:
    match asked.question:
        case "flag" | "undetermined":
            by = (asked.of,) if part and asked.of and asked.question == "undetermined" else ()
            return Derived(bool(part), by)
        case "uncovered":
            return Derived(part.get("type"), (asked.of,) if part and asked.of else ())
        case _:
            return Derived(part.get("events", 0))


def _content(question: str, part: Part) -> dict[str, Any]:
    if question == "anomaly":
        listed = part.get("anomalies", ())
        named = [{"event_id": a["event_id"], "related": a["related"]} for a in listed]
        return {"related": named} if named else {}
    if question not in _MORE or not part:
        return {}
    name, members = _MORE[question]
    (entry,) = part[name]
    content = {member: entry[member] for member in members}
    if question == "episode":
        content["end evidence"] = entry["end"].get("evidence")
    return content


def unlike(one: Told, other: Told, *, same_rules: bool) -> Kind | None:
    """How two answers differ; null where they do not."""
    if bool(one.undetermined_by) != bool(other.undetermined_by):
        return "undetermined"
    if one.undetermined_by:
        return None  # by which events is told of these
    if one.value != other.value:
        return "value"
    if one.evidence != other.evidence or details(one, other):
        return "detail"
    if same_rules and one.rule and other.rule and one.rule != other.rule:
        return "detail"
    return None


def details(one: Told, other: Told) -> list[str]:
    """The members in which two projections show one subject differently."""
    if not one.content or not other.content:
        return []  # that it is not there is told by the answer
    return [name for name, shown in one.content.items() if shown != other.content[name]]
