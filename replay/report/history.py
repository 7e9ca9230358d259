"""A timeline in lines: for each work item and question, what was answered from when on.

An answer holds until the next line of its question; where none follows and it ended, the
event that ended it is named.  Every time is printed with the event that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from replay.report.board import Document, account, field, file_name, view_of
from replay.report.words import (
    ANOMALIES,
    CLAIMS,
    FLAGS,
    NBSP,
    VERDICTS,
    coded,
    counted,
    duration,
    ident,
    idents,
    mark_words,
    paint,
    toned,
)

_QUESTIONS = (
    *("state", "revision", "last_message", "last_progress", "blocked_since", "episode"),
    *("receipt", "claim", "correction", "anomaly", "flag", "undetermined"),
)


def timeline_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.timeline/1` document."""
    lines = [paint(file_name(document["input"]["name"], width), "bold", colour)]
    lines += account(view_of({**_NOTHING, **document}, colour, width))
    for work_id, intervals in groupby(document["intervals"], key=lambda i: i["work_id"]):
        name = "no work item" if work_id is None else ident(work_id, width - 4)
        lines += ["", paint(name, "bold", colour)]
        lines += _item_lines([*intervals], colour, width)
    return "".join(f"{line.replace(NBSP, ' ').rstrip()}\n" for line in lines)


_NOTHING: Document = {"items": [], "uncovered": [], "unassigned": {"last_message": None}}


def _item_lines(intervals: Sequence[Document], colour: bool, width: int) -> Iterator[str]:
    ordered = sorted(intervals, key=_order)
    for (question, _), group in groupby(ordered, key=_subject):
        label = question.replace("_", " ")
        entries = [*group]
        if question == "last_message":
            yield from field(label, _messages(entries), width)
            continue
        for entry, following in zip(entries, [*entries[1:], None], strict=True):
            said = _value(entry, colour)
            ended = entry["valid_to"]
            until = ""
            if ended is not None and (following is None or following["valid_from"] != ended):
                until = f", until {mark_words(ended)}"
            yield from field(label, f"{mark_words(entry['valid_from'])}{until}: {said}", width)
            label = ""


def _messages(entries: Sequence[Document]) -> str:
    """Every message moves this clock, so a line for each would only repeat the log."""
    first, last = entries[0]["value"], entries[-1]["value"]
    moved = f"moved by {counted(len(entries), 'message')}"
    return f"{moved}, the last at {mark_words(last)}, the first at {mark_words(first)}"


def _order(interval: Document) -> tuple[int, int, str, int]:
    question, of = _subject(interval)
    first = interval["valid_from"]["sequence"]
    return (_QUESTIONS.index(question), 0 if of else 1, of, first)


def _subject(interval: Document) -> tuple[str, str]:
    value = interval["value"]
    of = interval["of"] or ""
    if interval["question"] == "anomaly":
        of = f"{value['code']} {value['event_id']} {value['related']}"
    elif interval["question"] in ("flag", "undetermined"):
        of = value
    return interval["question"], of


def _value(interval: Document, colour: bool) -> str:
    value = interval["value"]
    match interval["question"]:
        case "state" | "revision":
            return _derived(interval, colour)
        case "last_progress" | "blocked_since":
            return f"{_mark(value, interval)}{_rule(value)}"
        case "episode":
            return _episode(value)
        case "receipt":
            named = f" of {ident(value['check'])}" if value["check"] is not None else ""
            bound = f" on {ident(value['revision'])}" if value["revision"] is not None else ""
            outcome, status = ident(value["outcome"]), ident(value["status"])
            return f"{ident(value['event_id'])}{named} {outcome}{bound}: {status}"
        case "claim":
            verdict = VERDICTS[value["verdict"]].format(missing=idents(value["missing"]))
            said = CLAIMS[value["claim"]]
            by = f" by {idents(value['evidence'])}" if value["evidence"] else ""
            return f"{ident(value['event_id'])} says {said}: {verdict}{by}{_rule(value)}"
        case "correction":
            target = ident(value["target"])
            return f"{ident(value['event_id'])} corrects {target}: {ident(value['status'])}"
        case "anomaly":
            words = ANOMALIES[value["code"]]
            said = words.format(event=ident(value["event_id"]), related=idents(value["related"]))
            return f"{said} ({value['code']})"
        case "flag":
            return coded(FLAGS, value)
        case _:
            return f"the rules do not cover {ident(value)}"


def _derived(interval: Document, colour: bool) -> str:
    value = interval["value"]
    if value["value"] is None:
        return "none"
    shown = toned(value["value"], colour, ident(value["value"]))
    by = f", by {idents(value['evidence'])}" if value["evidence"] else ""
    since = value["since"]
    is_new = since["event_id"] == interval["valid_from"]["event_id"]
    when = "" if is_new else f" since {mark_words(since)}"
    return f"{shown}{when}{by}{_rule(value)}"


def _mark(value: Document, interval: Document) -> str:
    is_new = value["event_id"] == interval["valid_from"]["event_id"]
    return "by this event" if is_new else mark_words(value)


def _rule(value: Document) -> str:
    return f", rule{NBSP}{ident(value['rule'])}" if value.get("rule") else ""


def _episode(value: Document) -> str:
    again = f", again by {idents(value['repeats'])}" if value["repeats"] else ""
    opened = f"raised at {mark_words(value['opened'])}{again}"
    end = value["end"]
    if end is None:
        return f"{opened}: open"
    kind = end["kind"].replace("_", " ")
    named = f", which names {idents(end['evidence'])}" if end["evidence"] else ""
    after = duration(value["elapsed_seconds"])
    return f"{opened}: {kind} at {mark_words(end['by'])} after {after}{named}"
