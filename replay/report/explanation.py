"""An explanation in words: the answer, its rule, the events it stands on, and why no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from replay.report.board import Document, file_name
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


def _paragraphs(document: Document) -> Iterator[tuple[str, str, str]]:
    """Each paragraph with the indent of its first line and of the others."""
    yield _answer(document), "", "  "
    rule = document["rule"]
    if rule is None:
        yield "no rule judges this: it is what the log has", "  ", "    "
    else:
        yield f"rule {ident(rule['id'])}: {prose(rule['sentence'], 400)}", "  ", "    "
    yield _stands_on(document["why"]), "  ", "    "
    events = document["why"]["events"]
    for event, name in zip(events[:_SHOWN], _aligned(events[:_SHOWN]), strict=True):
        yield f"{name} {time_words(event['time'])}: {prose(event['says'], 200)}", "    ", "      "
    if len(events) > _SHOWN:
        yield f"{_SHOWN} of {len(events)} shown", "    ", "      "
    if document["why_not"] is not None:
        yield from _why_not(document["why_not"])


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


def _why_not(why_not: Document) -> Iterator[tuple[str, str, str]]:
    yield prose(why_not["sentence"], 2000), "  ", "    "
    held = why_not["held"]
    if held is not None:
        yield f"it was, from {ident(held['from'])} until {ident(held['until'])}", "  ", "    "
    for change in why_not["changes"]:
        yield _change(change), "  ", "    "


def _change(change: Document) -> str:
    spare = "" if change["irredundant"] else " (perhaps more than are needed)"
    if change["leave_out"]:
        return f"without {idents(change['leave_out'])} it would be{spare}"
    added = "; then one that ".join(prose(further["says"], 200) for further in change["add"])
    return f"it would be, with a further event that {added}{spare}"
