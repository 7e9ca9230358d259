"""Why an answer is not another one: what is missing, stale or contradicting, and by which events.

Nothing is judged here.  Reasons are read off the derived `replay.projection/1` document, as a
reader would who was asked the question: the verdicts of claims and what these lack, the status
of receipts, how episodes ended.  So they hold for any rule set that gives such documents; where
the document says nothing more specific, the reason is what the answer is instead.

Sentences quote ids as the log has them; whoever prints them makes them safe.
"""

from __future__ import annotations

from typing import Any, Final

from replay.asking import Asked, Asking
from replay.errors import UsageError, quoted
from replay.event import WORK_STATES
from replay.questions import NOT_ESTABLISHED, Derived
from replay.reasons.records import READERS
from replay.reasons.states import state
from replay.reasons.view import Object, Reason, View, and_

_VALUES: Final[dict[str, tuple[str, ...]]] = {
    "state": (*WORK_STATES, "null"),
    "episode": ("recovered", "cancelled", "cancelled_with_work", "censored", "null"),
    "receipt": (
        *("unbound", "revision_unknown", "current", "superseded_by_revision"),
        *("stale_on_arrival", "null"),
    ),
    "claim": (
        *("supported", "contradicted", "stale", "missing", "unbound", "unknown"),
        *("not_comparable", "null"),
    ),
    "correction": ("silenced", "ineffective", "applied", "overtaken", "null"),
}
_KEYS: Final = {
    "state": "value",
    "revision": "value",
    "last_message": "event_id",
    "last_progress": "event_id",
    "blocked_since": "event_id",
    "episode": "kind",
    "receipt": "status",
    "claim": "verdict",
    "correction": "status",
}


def wanted_of(asked: Asked, wanted: str) -> str:
    """What was wanted of the question, once it could be answered.  Raises `UsageError`."""
    values = _VALUES.get(asked.question)
    if values is not None and wanted not in values:
        raise UsageError(
            f"{asked.question} is never {quoted(wanted)}: expected one of {', '.join(values)}"
        )
    return wanted


def is_answer(asked: Asked, answer: Derived, wanted: str) -> bool:
    """Whether an answer is the wanted one; one that is undetermined is none."""
    if answer.undetermined_by:
        return False
    value = answer.value
    if asked.question in _KEYS:
        found = None if value is None else value[_KEYS[asked.question]]
        return wanted == ("null" if found is None else found)
    if asked.question == "certifying_check":
        return wanted in ("null",) if value is None else wanted in value.values()
    if asked.question == "anomaly":
        return wanted in value
    return bool(value == wanted)


def reasons(asking: Asking, document: Object, answer: Derived, wanted: str) -> list[Reason]:
    """Why the answer is not the wanted one, the most telling first."""
    asked = asking.asked
    if asked.question == "permission":
        sentence = f"no event here establishes a permission: it is {NOT_ESTABLISHED}, always"
        return [Reason("never", (), sentence)]
    if answer.undetermined_by:
        named = and_(answer.undetermined_by)
        sentence = f"{asking.rule_set.id} does not cover {named}, so it answers nothing here"
        return [Reason("undetermined", answer.undetermined_by, sentence)]
    item = next((i for i in document["items"] if i["work_id"] == asked.work_id), None)
    if item is None and asked.work_id is not None:
        return [Reason("missing", (), "no event in view names the work item")]
    found: list[Reason] = []
    if item is not None:
        found = [*_READERS[asked.question](View(asking, item, answer, wanted))]
    return found or [_instead(asked, answer)]


def _instead(asked: Asked, answer: Derived) -> Reason:
    named = answer.evidence
    value = answer.value
    shown = value.get(_KEYS.get(asked.question, "outcome")) if isinstance(value, dict) else value
    by = f", by {and_(named)}" if named else ""
    return Reason("contradicting", named, f"the answer is {_plain(shown)}{by}")


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return "that there is none" if value is None else str(value)


_READERS: Final = {**READERS, "state": state}
