"""The payload of each listed class: what it must be, and what rules may read of it.

Contract, section 2.  Both paths of decoding come here, so they cannot differ.  A class
that is not named below takes any object and gives rules nothing.  Choices: a key is
judged in the order of the contract's table; a null is an absent key where the key is
optional and a fault where it is required; extra keys are kept and not looked at; strings
may be empty, since only the envelope's may not.  A malformed payload is `bad_payload`,
whatever is wrong with the value, with the pointer to it.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from replay.event import (
    CHECK_OUTCOMES,
    MAX_SEQUENCE,
    NO_DATA,
    REVIEW_OUTCOMES,
    WORK_STATES,
    Blocker,
    Check,
    Payload,
    Review,
    ReviewRequest,
    Stated,
    StatusAssertion,
)
from replay.strictjson import Fault, described


def is_integer(value: object) -> bool:
    """Whether a decoded JSON value was written as an integer (true and 2.0 were not)."""
    return type(value) in (int, Decimal)


def is_number(value: object) -> bool:
    """Whether a decoded JSON value is a number of either kind."""
    return type(value) in (int, float, Decimal)


def typed_payload(kind: str, payload: dict[str, Any]) -> Payload:
    """What rules may read of a payload.  Raises `Fault` (`bad_payload`)."""
    reader = _READERS.get(kind)
    return NO_DATA if reader is None else reader(payload)


def _bad(payload: dict[str, Any], key: str, expected: str) -> Fault:
    found = described(payload[key]) if key in payload else "nothing"
    return Fault("bad_payload", f"/payload/{key}", expected, found)


def _text_or_none(payload: dict[str, Any], key: str) -> str | None:
    value = payload.get(key)
    if value is None or isinstance(value, str):
        return value
    raise _bad(payload, key, "string")


def _one_of(payload: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = payload.get(key)
    if isinstance(value, str) and value in allowed:
        return value
    raise _bad(payload, key, f"one of {', '.join(allowed)}")


def _check(payload: dict[str, Any]) -> Payload:
    name = payload.get("check")
    if not isinstance(name, str):
        raise _bad(payload, "check", "string")
    outcome = _one_of(payload, "outcome", CHECK_OUTCOMES)
    return Check(name, outcome, _text_or_none(payload, "source"))


def _blocker(payload: dict[str, Any]) -> Payload:
    blocker_id = _text_or_none(payload, "blocker_id")
    _text_or_none(payload, "reason")
    return Blocker(blocker_id)


def _review_request(payload: dict[str, Any]) -> Payload:
    requires = payload.get("requires")
    if requires is None:
        return ReviewRequest()
    if not isinstance(requires, list):
        raise _bad(payload, "requires", "array of strings")
    for index, check in enumerate(requires):
        if not isinstance(check, str):
            pointer = f"/payload/requires/{index}"
            raise Fault("bad_payload", pointer, "string", described(check))
    return ReviewRequest(tuple(requires))


def _review(payload: dict[str, Any]) -> Payload:
    return Review(_one_of(payload, "outcome", REVIEW_OUTCOMES))


def _status(payload: dict[str, Any]) -> Payload:
    state = _one_of(payload, "state", WORK_STATES)
    revision = _text_or_none(payload, "revision")
    sequence = payload.get("as_of_sequence")
    if sequence is None:
        return StatusAssertion(state, revision)
    if not is_integer(sequence) or not 1 <= sequence <= MAX_SEQUENCE:
        raise _bad(payload, "as_of_sequence", f"integer 1 to {MAX_SEQUENCE}")
    return StatusAssertion(state, revision, sequence)


def _stated(payload: dict[str, Any]) -> Payload:
    return Stated(_text_or_none(payload, "reason"))


def _artifact(payload: dict[str, Any]) -> Payload:
    _text_or_none(payload, "description")
    return NO_DATA


def _cost(payload: dict[str, Any]) -> Payload:
    for key in ("tool_calls", "tokens", "storage_bytes"):
        value = payload.get(key)
        if value is not None and not (is_integer(value) and value >= 0):
            raise _bad(payload, key, "integer from 0")
    for key in ("operator_seconds", "reviewer_seconds"):
        value = payload.get(key)
        if value is not None and not (is_number(value) and value >= 0):
            raise _bad(payload, key, "number from 0")
    _text_or_none(payload, "currency")
    amount = payload.get("amount")
    if amount is not None and not is_number(amount):
        raise _bad(payload, "amount", "number")
    return NO_DATA


_READERS: Final[dict[str, Callable[[dict[str, Any]], Payload]]] = {
    "work.cancelled": _stated,
    "artifact.published": _artifact,
    "check.completed": _check,
    "blocker.raised": _blocker,
    "blocker.resolved": _blocker,
    "blocker.cancelled": _blocker,
    "review.requested": _review_request,
    "review.completed": _review,
    "status.asserted": _status,
    "event.retracted": _stated,
    "cost.recorded": _cost,
}
TYPED: Final = frozenset(_READERS)
"""The classes whose payload is looked into; any other takes any object."""
