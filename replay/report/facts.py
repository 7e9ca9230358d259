"""Records of a document as names and values: how a notebook's tables say them.

Every function takes plain values, as published, and returns visible text.  A time that a
document leaves null is one that nobody could print: the event stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from replay.report.board import Document
from replay.report.words import (
    ANOMALIES,
    CLAIMS,
    VERDICTS,
    duration,
    ident,
    idents,
    quoted,
    time_words,
)

MAX_IDS: Final = 8
"""Events named in one cell."""
NOTHING: Final = "none"


def mark_cell(mark: Document | None) -> str:
    """A time and the event that shows it, or the event alone."""
    if mark is None:
        return NOTHING
    event = ident(mark["event_id"])
    return event if mark["time"] is None else f"{time_words(mark['time'])} ({event})"


ENDED: Final = {
    "recovered": "recovered after",
    "cancelled": "cancelled after",
    "cancelled_with_work": "cancelled with the work after",
    "censored": "open so far, censored after",
}


def episode_facts(episode: Document) -> dict[str, str]:
    end = episode["end"]
    if end["kind"] == "censored":
        at = "" if end["at"] is None else f" at {time_words(end['at'])}"
        ended, names = f"censored{at}: no recovery seen", NOTHING
    else:
        ended = f"{end['kind'].replace('_', ' ')} at {mark_cell(end['by'])}"
        names = ids_cell(end["evidence"])
    return {
        "blocker": or_none(episode["blocker_id"]),
        "raised": mark_cell(episode["opened"]),
        "again by": ids_cell(episode["repeats"]),
        "end": ended,
        "evidence": names,
        "blocked for": duration(episode["elapsed_seconds"]),
    }


def receipt_facts(receipt: Document) -> dict[str, str]:
    review = receipt["type"] == "review.completed"
    return {
        "event": ident(receipt["event_id"]),
        "check": "(review)" if review else or_none(receipt["check"]),
        "source": or_none(receipt["source"]),
        "by": or_none(receipt["principal"]),
        "outcome": ident(receipt["outcome"]),
        "revision": or_none(receipt["revision"]),
        "status": ident(receipt["status"]),
    }


def claim_facts(claim: Document) -> dict[str, str]:
    return {
        "event": ident(claim["event_id"]),
        "says": CLAIMS.get(claim["claim"]) or ident(claim["claim"]),
        "verdict": VERDICTS[claim["verdict"]].format(missing=ids_cell(claim["missing"])),
        "evidence": ids_cell(claim["evidence"]),
        "rule": ident(claim["rule"]),
    }


def correction_facts(correction: Document) -> dict[str, str]:
    reason = correction["reason"]
    return {
        "event": ident(correction["event_id"]),
        "corrects": ident(correction["target"]),
        "status": ident(correction["status"]),
        "reason given": NOTHING if reason is None else quoted(reason, 200),
    }


def anomaly_facts(anomaly: Document) -> dict[str, str]:
    names = {"event": ident(anomaly["event_id"]), "related": ids_cell(anomaly["related"])}
    words = ANOMALIES[anomaly["code"]].format(**names)
    return {"event": names["event"], "code": ident(anomaly["code"]), "what": words}


def ids_cell(ids: Sequence[str]) -> str:
    return idents(ids[:MAX_IDS], NOTHING) + some_shown(len(ids))


def some_shown(count: int) -> str:
    return f" ({MAX_IDS} of {count} shown)" if count > MAX_IDS else ""


def or_none(text: str | None) -> str:
    return NOTHING if text is None else ident(text)
