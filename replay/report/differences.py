"""What `replay diff` and `replay bisect` found, in lines: one a difference, one an answer.

Long lists are cut, and say so; the JSON documents have all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from replay.report.board import HASH, Document, account, cutoff_words, field, file_name, view_of
from replay.report.words import (
    NBSP,
    counted,
    duration,
    ident,
    idents,
    listed,
    mark_words,
    paint,
    time_words,
    toned,
    value_words,
    wrapped,
)

MAX_ITEMS: Final = 20
MAX_DIFFERENCES: Final = 30
MAX_INTERVALS: Final = 60
_NO_ITEM: Final = "the events that name no work item"
_NOTHING: Final[Document] = {"items": [], "uncovered": [], "unassigned": {"last_message": None}}
_LABELS: Final = {"certifying_check": "certifying"}  # as a label's columns hold it
_PRESENCE: Final = ("flag", "undetermined")


def diff_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.diff/1` document."""
    lines = wrapped(paint(_summary(document), "bold", colour), "", "  ", width)
    for side in ("a", "b"):
        lines += _head(side.upper(), document[side], width)
    if document["elsewhere"] and document["compared"] == "documents":
        lines += field("unlike at", listed([*map(ident, document["elsewhere"])]), width)
    if document["events"] is not None:
        lines += _events(document["events"], width)
    if document["compared"] == "documents" and document["differences"]:
        unknown = "unknown: a document has no log to tell at which event an answer differed"
        lines += field("first event", unknown, width)
    lines += _items(document["differences"], colour, width)
    return _text(lines)


def _summary(document: Document) -> str:
    found, answers = len(document["differences"]), document["answers"]
    if found:
        return f"{found} of {counted(answers, 'answer')} differ"
    return f"No answer differs, of {answers}"


def _head(side: str, head: Document, width: int) -> list[str]:
    source, rules = head["input"], head["rules"]
    about = [
        file_name(source["name"], width - 40),
        f"sha256{NBSP}{ident(source['sha256'][:HASH])}…",
        f"rules{NBSP}{ident(rules['id'])}",
        _cutoff(head["cutoff"]),
    ]
    incomplete = [] if source["complete"] else ["incomplete"]
    return field(side, ", ".join([*about, *incomplete]), width)


def _cutoff(cutoff: Document) -> str:
    if cutoff["sequence"] is None and cutoff["recorded"] is None:
        return "the full log"
    return cutoff_words({**cutoff, "observed": None}, "").partition(", inclusive")[0]


def _events(events: Document, width: int) -> list[str]:
    counts = (
        f"{events['common']} in both alike, {len(events['changed'])} changed,"
        f" {len(events['only_a'])} only in A, {len(events['only_b'])} only in B"
    )
    lines = field("events", counts, width)
    first = events["first"]
    if first is not None:
        words = f"at sequence{NBSP}{first['sequence']}: {_divergence(first)}"
        lines += field("first apart", words, width)
    return lines


def _divergence(first: Document) -> str:
    one, other = first["a"], first["b"]
    match first["kind"]:
        case "only_a":
            return f"{ident(one)} is only in A"
        case "only_b":
            return f"{ident(other)} is only in B"
        case "changed":
            pointers = listed([*map(ident, first["pointers"])])
            return f"{ident(other if one is None else one)} differs at {pointers}"
        case _:
            return f"A has {ident(one)} where B has {ident(other)}"


def _items(differences: Sequence[Document], colour: bool, width: int) -> Iterator[str]:
    items = [(work, [*of]) for work, of in groupby(differences, key=lambda d: d["work_id"])]
    for work_id, found in items[:MAX_ITEMS]:
        name = _NO_ITEM if work_id is None else ident(work_id, width - 4)
        yield ""
        yield paint(name.replace(NBSP, " "), "bold", colour)
        label = ""
        for difference in found[:MAX_DIFFERENCES]:
            question = _LABELS.get(difference["question"], difference["question"].replace("_", " "))
            yield from field("" if question == label else question, _words(difference), width)
            label = question
        if len(found) > MAX_DIFFERENCES:
            yield from wrapped(_shown(MAX_DIFFERENCES, len(found), "differences"), "  ", "", width)
    if len(items) > MAX_ITEMS:
        yield ""
        yield from wrapped(_shown(MAX_ITEMS, len(items), "work items"), "", "", width)


def _shown(shown: int, of: int, what: str) -> str:
    return f"{shown} of {of} {what} shown; --format{NBSP}json has all of them"


def _words(difference: Document) -> str:
    of = "" if difference["of"] is None else f"{ident(difference['of'])}: "
    parts = []
    if difference["kind"] != "detail":
        parts = [f"{side.upper()} {_told(difference, side)}" for side in ("a", "b")]
    parts += [
        f"{d['member']} A {_plain(d['a'])}, B {_plain(d['b'])}" for d in difference["details"]
    ]
    if difference["kind"] == "detail":
        parts = [f"the same answer, {part}" for part in [*parts, *_support(difference)]]
    first = difference["first_event"]
    if first is not None:
        parts.append(f"{_first(first)} first")
    return of + "; ".join(parts)


def _told(difference: Document, side: str) -> str:
    told = difference[side]
    if told["undetermined_by"]:
        return f"undetermined, {idents(told['undetermined_by'])} not covered"
    if difference["question"] in _PRESENCE:
        return "has it" if told["value"] else "has it not"
    rule = "" if told["rule"] is None else f", rule{NBSP}{ident(told['rule'])}"
    return f"{_plain(told['value'])}{rule}"


def _support(difference: Document) -> Iterator[str]:
    one, other = difference["a"], difference["b"]
    if one["evidence"] != other["evidence"]:
        yield f"evidence A {idents(one['evidence'])}, B {idents(other['evidence'])}"
    if one["rule"] != other["rule"] and one["rule"] and other["rule"]:
        yield f"rule A {ident(one['rule'])}, B {ident(other['rule'])}"


def _first(first: Document) -> str:
    one, other = first["a"], first["b"]
    sequence = f"sequence{NBSP}{first['sequence']}"
    if one is not None and other is not None and one["event_id"] == other["event_id"]:
        return f"at {ident(one['event_id'])} ({sequence})"
    named = [
        f"{ident(moment['event_id'])} of {side}"
        for side, moment in (("A", one), ("B", other))
        if moment is not None
    ]
    return f"at {' and '.join(named)} ({sequence})"


def _plain(value: Any) -> str:
    nothing = (None, {"value": None, "since": None})
    return "null" if value in nothing else value_words(value)


# Bisections -----------------------------------------------------------------------------


def bisect_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.bisect/1` document."""
    asked = document["asked"]
    lines = [paint(file_name(document["input"]["name"], width), "bold", colour)]
    lines += account(view_of({**_NOTHING, **document}, colour, width))
    question = asked["question"].replace("_", " ")
    of = "" if asked["of"] is None else f" {ident(asked['of'])}"
    work = _NO_ITEM if asked["work_id"] is None else ident(asked["work_id"])
    lines += ["", *wrapped(paint(f"{question}{of} of {work}", "bold", colour), "", "  ", width)]
    stretches = [*_stretches(document["intervals"])]
    for stretch in stretches[:MAX_INTERVALS]:
        lines += wrapped(_stretch(stretch, asked["question"], colour), "  ", "    ", width)
    if len(stretches) > MAX_INTERVALS:
        lines += wrapped(_shown(MAX_INTERVALS, len(stretches), "answers"), "  ", "  ", width)
    if document["value"] is not None:
        lines += ["", *wrapped(_found(document), "", "  ", width)]
    return _text(lines)


def _stretches(intervals: Sequence[Document]) -> Iterator[Sequence[Document]]:
    """Each answer; an episode's while it is open are one, however long it has lasted."""
    for is_open, group in groupby(intervals, key=_is_open):
        entries = [*group]
        if is_open:
            yield entries
        else:
            yield from ([entry] for entry in entries)


def _is_open(interval: Document) -> bool:
    value = interval["value"]
    return isinstance(value, dict) and value.get("kind") == "censored"


def _stretch(entries: Sequence[Document], question: str, colour: bool) -> str:
    first, last = entries[0], entries[-1]
    again = " again" if first["again"] else ""
    said = f"{_answer(first, last, question, colour)}{again}"
    rule = "" if first["rule"] is None else f", rule{NBSP}{ident(first['rule'])}"
    if first["valid_from"] is not None:
        return f"{said} from {_moment(first['valid_from'])}{rule}"
    if last["valid_to"] is None:
        return f"{said} throughout"
    return f"{said} until {mark_words(last['valid_to'])}"


def _answer(first: Document, last: Document, question: str, colour: bool) -> str:
    value = first["value"]
    if first["undetermined_by"]:
        by = idents(first["undetermined_by"])
        return f"{toned('undetermined', colour)}, as the rules do not cover {by},"
    if _is_open(first):
        longest = duration(last["value"]["elapsed_seconds"])
        shortest = duration(value["elapsed_seconds"])
        lasted = shortest if shortest == longest else f"{shortest} to {longest}"
        return f"censored, open for {lasted},"
    if question not in ("state", "revision") or not isinstance(value, dict):
        return _plain(value)
    named = "null"
    if value["value"] is not None:
        named = toned(value["value"], colour, ident(value["value"]))
    at = first["valid_from"]
    is_new = value["since"] is None or at is None or value["since"]["event_id"] == at["event_id"]
    return named if is_new else f"{named} (since {mark_words(value['since'])})"


def _moment(moment: Document) -> str:
    when = f"sequence{NBSP}{moment['sequence']}, {time_words(moment['time'])}"
    return f"{ident(moment['event_id'])} ({when})"


def _found(document: Document) -> str:
    value, found = ident(document["value"]), document["found"]
    if found is None:
        return f"{value} was never the answer."
    became = found["became"]
    begun = "before any event" if became is None else f"from {_moment(became)}"
    stopped = found["stopped"]
    until = "ever since" if stopped is None else f"no longer from {_moment(stopped)}"
    return f"{value} first {begun}, {until}."


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line.replace(NBSP, ' ').rstrip()}\n" for line in lines)
