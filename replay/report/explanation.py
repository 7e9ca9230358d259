"""An explanation in words: the answer, its rule, the events it stands on, and why no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from replay.report.board import Document, file_name
from replay.report.markup import box, paragraph, table
from replay.report.safe import columns
from replay.report.words import (
    NBSP,
    counted,
    ident,
    idents,
    mark_words,
    paint,
    prose,
    time_words,
    value_words,
    wrapped,
)

_SHOWN: Final = 40  # events of a certificate that text lists; the JSON document has them all


def explanation_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.explanation/1` document."""
    lines = [paint(file_name(document["input"]["name"], width), "bold", colour)]
    for text, first, rest in _paragraphs(document):
        lines += wrapped(text, first, rest, width)
    return "".join(f"{line.replace(NBSP, ' ').rstrip()}\n" for line in lines)


def explanation_html(document: Document) -> str:
    """The same for a notebook's output cell."""
    events = document["why"]["events"]
    parts = []
    for text, is_certificate in _prose(document):
        parts.append(paragraph(text.replace(NBSP, " ")))
        if is_certificate and events:
            parts.append(table("It stands on", ("event", "recorded", "says"), _rows(events)))
    return box("explanation", parts)


def _rows(events: Sequence[Document]) -> Iterator[tuple[str, str, str]]:
    for event in events[:_SHOWN]:
        words = (ident(event["event_id"]), time_words(event["time"]), prose(event["says"], 200))
        first, second, third = (word.replace(NBSP, " ") for word in words)
        yield first, second, third
    if len(events) > _SHOWN:
        yield f"{_SHOWN} of {len(events)} shown", "", ""


def _paragraphs(document: Document) -> Iterator[tuple[str, str, str]]:
    """Each paragraph with the indent of its first line and of the others."""
    events = document["why"]["events"]
    for number, (text, is_certificate) in enumerate(_prose(document)):
        yield text, "  " if number else "", "    " if number else "  "
        if is_certificate:
            yield from ((line, "    ", "      ") for line in _listed(events))


def _prose(document: Document) -> Iterator[tuple[str, bool]]:
    """Each paragraph, and whether it is the one that introduces the certificate."""
    yield _answer(document), False
    rule = document["rule"]
    if rule is not None:
        yield f"rule {ident(rule['id'])}: {prose(rule['sentence'], 400)}", False
    elif not document["answer"]["undetermined_by"]:
        yield "no rule judges this: it is what the log has", False
    yield _stands_on(document["why"]), True
    if document["why_not"] is not None:
        yield from ((text, False) for text in _why_not(document["why_not"]))


def _listed(events: Sequence[Document]) -> Iterator[str]:
    shown = events[:_SHOWN]
    for event, name in zip(shown, _aligned(shown), strict=True):
        yield f"{name} {time_words(event['time'])}: {prose(event['says'], 200)}"
    if len(events) > _SHOWN:
        yield f"{_SHOWN} of {len(events)} shown"


def _answer(document: Document) -> str:
    asked, answer = document["asked"], document["answer"]
    work_id = asked["work_id"]
    about = "no work item" if work_id is None else ident(work_id)
    of = "" if asked["of"] is None else f" of {ident(asked['of'])}"
    question = f"{about}: {asked['question'].replace('_', ' ')}{of}"
    if answer["undetermined_by"]:
        by = idents(answer["undetermined_by"])
        return f"{question} is undetermined: the rules do not cover {by}"
    return f"{question} is {_value(answer['value'])}"


def _value(value: Any) -> str:
    match value:
        case {"value": None}:
            return "null: nothing set it"
        case {"value": str(shown), "since": dict(since)}:
            return f"{ident(shown)} since {mark_words(since)}"
        case None:
            return "null: there is nothing to show"
        case _:
            return value_words(value)


def _stands_on(why: Document) -> str:
    count = len(why["events"])
    if not count:
        return "it stands on no event: it is so before anything is recorded"
    if not why["irredundant"]:
        more = "the search for fewer was ended"
        return f"it stands on {counted(count, 'event')}, perhaps more than are needed ({more}):"
    without = "without which it would be another" if count == 1 else _NONE_TO_SPARE
    return f"it stands on {counted(count, 'event')}, {without}:"


_NONE_TO_SPARE: Final = "none of which can be left out"


def _aligned(events: Sequence[Document]) -> list[str]:
    names = [ident(event["event_id"]) for event in events]
    longest = max(map(columns, names), default=0)
    return [name + NBSP * (longest - columns(name)) for name in names]


def _why_not(why_not: Document) -> Iterator[str]:
    yield prose(why_not["sentence"], 2000)
    held = why_not["held"]
    if held["until"] is not None:
        yield f"it was, from {ident(held['from'])} until {ident(held['until'])}"
    yield from map(_change, why_not["changes"])


def _change(change: Document) -> str:
    spare = "" if change["irredundant"] else " (perhaps more than are needed)"
    if change["leave_out"]:
        return f"without {idents(change['leave_out'])} it would be{spare}"
    added = "; then one that ".join(prose(further["says"], 200) for further in change["add"])
    return f"it would be, with a further event that {added}{spare}"
