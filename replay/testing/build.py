"""Events from plain values: what the strategies, the simulator and handwritten tests build with.

`event` takes a payload as the object that a line would hold and gives the record that decoding
that line gives, so a test can compare what it wrote with what was read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from replay.encode import encode_line
from replay.event import (
    NO_DATA,
    Blocker,
    Check,
    Event,
    Payload,
    Review,
    ReviewRequest,
    Source,
    Stated,
    StatusAssertion,
    TimeBasis,
)
from replay.history import History, admit


def event(
    type: str,
    event_id: str,
    *,
    sequence: int = 1,
    at: int = 0,
    payload: dict[str, Any] | None = None,
    basis: TimeBasis = "elapsed",
    **envelope: Any,
) -> Event:
    """One event in full; `at` is in nanoseconds, `envelope` takes any other field of `Event`.

    Nothing is validated: what is built is as valid as what was given.
    """
    content = payload or {}
    return Event(
        schema_version="events/1" if basis == "utc" else "elapsed/1",
        event_id=event_id,
        recorded_sequence=sequence,
        recorded_at=at,
        type=type,
        data=data_of(type, content),
        payload_json=json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode(),
        **envelope,
    )


def data_of(type: str, payload: dict[str, Any]) -> Payload:
    """What rules may read of a payload (contract, section 2)."""
    get = payload.get
    match type:
        case "check.completed":
            return Check(payload["check"], payload["outcome"], get("source"))
        case "blocker.raised" | "blocker.resolved" | "blocker.cancelled":
            return Blocker(get("blocker_id"))
        case "review.requested":
            return ReviewRequest(tuple(get("requires") or ()))
        case "review.completed":
            return Review(payload["outcome"])
        case "status.asserted":
            return StatusAssertion(payload["state"], get("revision"), get("as_of_sequence"))
        case "work.cancelled" | "event.retracted":
            return Stated(get("reason"))
        case _:
            return NO_DATA


def log_bytes(events: Iterable[Event]) -> bytes:
    """JSON Lines of events, in the order given."""
    return b"".join(encode_line(one) + b"\n" for one in events)


def history_of(events: Iterable[Event], *, name: str) -> History:
    """The admitted history of events whose lines stand in the order given.  Raises `Refusal`."""
    written = tuple(events)
    digest = sha256(log_bytes(written)).hexdigest()
    return admit([Source(name=name, sha256=digest, events=written, lines=len(written))])
