"""The question catalogue, and what a sealed document answers.

Reviewers in a study are asked these questions, authored answers answer them, and the
tool's own answer is looked up here.  So that an authored answer stays independent of
the code it judges, nothing here derives anything: a sealed `replay.projection/1`
document, a plain value, is all there is to look in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from replay.event import Record

NOT_ESTABLISHED: Final = "not established"
ANOMALY_CODES: Final = (
    "link_self",
    "link_forward",
    "link_missing",
    "link_other_item",
    "other_principal",
    "after_terminal",
    "not_terminal",
    "no_open_episode",
    "progress_while_blocked",
    "revision_reintroduced",
    "anachronistic",
)
_DECIDING: Final = frozenset({"passed", "failed", "errored", "timed_out", "action_required"})

_Object: TypeAlias = dict[str, Any]


class Question(Record, frozen=True):
    """One entry of the catalogue.  `of` says what the member `of` names, null where it is none."""

    id: str
    of: str | None
    expect: str
    sentence: str


QUESTIONS: Final = (
    Question("state", None, '{"value"}, also "since"', "Which state is the work item in?"),
    Question("revision", None, '{"value"}, also "since"', "Which revision is the current one?"),
    Question(
        "last_message",
        None,
        '{"event_id","time"} or null',
        "Which event was the last to mention the work item?",
    ),
    Question(
        "last_progress",
        None,
        '{"event_id","time"} or null',
        "Which event was the last evidenced progress?",
    ),
    Question(
        "blocked_since",
        None,
        '{"event_id","time"} or null',
        "Which raise opened the earliest blocker episode that is still open?",
    ),
    Question(
        "episode",
        "its origin or a repeat",
        '{"kind","by","elapsed_seconds"}',
        "How did the blocker episode of this raise end, by which event, and how long was it?",
    ),
    Question(
        "receipt",
        "event",
        '{"status"}, also "outcome"',
        "What is this check or review worth for the current revision?",
    ),
    Question(
        "certifying_check",
        "check name",
        '{"event_id","outcome"} or null',
        "Which event is the latest deciding result of this check on the current revision?",
    ),
    Question("claim", "event", '{"verdict"}', "Does the evidence bear out this claim?"),
    Question("correction", "event", '{"status"}', "What became of this correction?"),
    Question("anomaly", "code", "list of event ids", "Which events carry this anomaly?"),
    Question(
        "permission",
        None,
        '"not established"',
        "Do these events establish a permission to act?  They never do.",
    ),
)
"""What may be asked, in the order in which `replay questions` prints it."""

BY_ID: Final = {question.id: question for question in QUESTIONS}


class Derived(Record, frozen=True):
    """What a sealed document answers: a JSON value, its events, the rule that gave it.

    Where `undetermined_by` names events, the rules do not cover what was asked and
    `value` means nothing.
    """

    value: Any
    evidence: tuple[str, ...] = ()
    rule: str | None = None
    undetermined_by: tuple[str, ...] = ()


def derive(document: _Object, question: str, work_id: str | None, of: str | None) -> Derived:
    """What a `replay.projection/1` document answers.

    An event that is withdrawn or of another kind, and an item that is not there, derive
    null; `work_id` null asks of the events that name no item.
    """
    item = _item(document, work_id)
    if item is None:
        return _of_no_item(document, question, work_id, of)
    if item["undetermined_by"] and question not in ("last_message", "permission"):
        return Derived(None, undetermined_by=tuple(item["undetermined_by"]))
    return _READERS[question](item, of or "")


def _item(document: _Object, work_id: str | None) -> _Object | None:
    return next((item for item in document["items"] if item["work_id"] == work_id), None)


def _of_no_item(document: _Object, question: str, work_id: str | None, of: str | None) -> Derived:
    unassigned = document["unassigned"]
    match question:
        case "permission":
            return Derived(NOT_ESTABLISHED)
        case "last_message" if work_id is None:
            return _mark(unassigned["last_message"])
        case "anomaly":
            # an item that is not in view has none to list, which is a list all the same
            return _anomaly(unassigned if work_id is None else {"anomalies": []}, of or "")
        case "state" | "revision" if work_id is not None:
            return Derived({"value": None, "since": None})
        case _:
            return Derived(None)


def _dated(part: str) -> Callable[[_Object, str], Derived]:
    def read(item: _Object, _of: str) -> Derived:
        dated = item[part]
        value = {"value": dated["value"], "since": dated["since"]}
        return Derived(value, tuple(dated["evidence"]), dated["rule"])

    return read


def _clock(name: str) -> Callable[[_Object, str], Derived]:
    return lambda item, _of: _mark(item["clocks"][name])


def _mark(mark: _Object | None) -> Derived:
    if mark is None:
        return Derived(None)
    return Derived(mark, (mark["event_id"],), mark.get("rule"))


def _episode(item: _Object, of: str) -> Derived:
    for episode in item["episodes"]:
        origin = episode["opened"]["event_id"]
        if of == origin or of in episode["repeats"]:
            end = episode["end"]
            by = end.get("by")
            value = {"kind": end["kind"], "by": by, "elapsed_seconds": episode["elapsed_seconds"]}
            if by is None:
                return Derived({**value, "at": end["at"]}, (origin,))
            return Derived(value, _distinct([origin, by["event_id"], *end["evidence"]]))
    return Derived(None)


def _receipt(item: _Object, of: str) -> Derived:
    receipt = _entry(item["receipts"], of)
    if receipt is None:
        return Derived(None)
    return Derived({"status": receipt["status"], "outcome": receipt["outcome"]}, (of,))


def _certifying_check(item: _Object, of: str) -> Derived:
    for receipt in reversed(item["receipts"]):
        if receipt["check"] == of and _decides(receipt):
            event_id = receipt["event_id"]
            return Derived({"event_id": event_id, "outcome": receipt["outcome"]}, (event_id,))
    return Derived(None)


def _decides(receipt: _Object) -> bool:
    return (
        receipt["type"] == "check.completed"
        and receipt["status"] == "current"
        and receipt["outcome"] in _DECIDING
        and (receipt["source"] or "").lower() != "local"
    )


def _claim(item: _Object, of: str) -> Derived:
    claim = _entry(item["claims"], of)
    if claim is None:
        return Derived(None)
    return Derived({"verdict": claim["verdict"]}, tuple(claim["evidence"]), claim["rule"])


def _correction(item: _Object, of: str) -> Derived:
    correction = _entry(item["corrections"], of)
    return Derived(None) if correction is None else Derived({"status": correction["status"]}, (of,))


def _anomaly(item: _Object, of: str) -> Derived:
    events = _distinct([a["event_id"] for a in item["anomalies"] if a["code"] == of])
    return Derived([*events], events)


def _permission(item: _Object, _of: str) -> Derived:
    return Derived(item["authorization"])


def _entry(entries: list[_Object], event_id: str) -> _Object | None:
    return next((entry for entry in entries if entry["event_id"] == event_id), None)


def _distinct(event_ids: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(event_ids))


_READERS: Final[dict[str, Callable[[_Object, str], Derived]]] = {
    "state": _dated("state"),
    "revision": _dated("revision"),
    "last_message": _clock("last_message"),
    "last_progress": _clock("last_progress"),
    "blocked_since": _clock("blocked_since"),
    "episode": _episode,
    "receipt": _receipt,
    "certifying_check": _certifying_check,
    "claim": _claim,
    "correction": _correction,
    "anomaly": _anomaly,
    "permission": _permission,
}
