"""A projection in lines: the account of its input, its work items in full, or as a board.

The board is what a check shows: for each item what it is, and why it took as long as
it did.  Every time is printed with the event that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from replay.report.safe import padded, shown
from replay.report.words import (
    ANOMALIES,
    CLAIMS,
    FLAGS,
    MAX_LISTED,
    NBSP,
    VERDICTS,
    coded,
    counted,
    duration,
    ident,
    idents,
    listed,
    mark_words,
    paint,
    quoted,
    table,
    time_words,
    toned,
    wrapped,
)

Document: TypeAlias = Mapping[str, Any]

MAX_ITEMS: Final = 20
"""Work items that a board shows; `replay project` shows all."""

LABEL: Final = 15  # columns of a label, "undetermined" and its gap included
HASH: Final = 12  # digits of a digest that text shows
_MAX_GAPS: Final = 20


class View(NamedTuple):
    """A `replay.projection/1` document, and how to print it.

    `ends` says where elapsed time ends, with the event or the cutoff that ends it.
    """

    document: Document
    colour: bool
    width: int
    ends: str
    types: Mapping[str, str]
    """The types of the uncovered events, by event id."""


def view_of(document: Document, colour: bool, width: int) -> View:
    types = {entry["event_id"]: entry["type"] for entry in document["uncovered"]}
    return View(document, colour, width, _ends(document), types)


def file_name(name: str, width: int) -> str:
    return ident(name, max(width, 20))


def field(label: str, prose: str, width: int, indent: str = "  ") -> list[str]:
    start = indent + padded(label, LABEL)
    return wrapped(prose, start, " " * len(start), width)


# The account of the input


def account(view: View) -> list[str]:
    """What was read, how much of it counts, by which rules, up to where."""
    document, width = view.document, view.width
    source, rules = document["input"], document["rules"]
    lines = field("sha256", f"{ident(source['sha256'][:HASH])}…", width)
    lines += field("lines", _line_identity(source), width)
    if document.get("duplicates"):
        lines += field("duplicates", _duplicates(document["duplicates"]), width)
    lines += field("admitted", _event_identity(document), width)
    digest = rules["digest"].removeprefix("sha256:")[:HASH]
    lines += field("rules", f"{ident(rules['id'])}, sha256{NBSP}{ident(digest)}…", width)
    lines += field("cutoff", cutoff_words(document["cutoff"], view.ends), width)
    for flag in document["cutoff"]["flags"]:
        lines += field("", coded(FLAGS, flag), width)
    if not source["complete"]:
        lines += field("incomplete", "lines were lost or set aside in reading the input", width)
    if source["gaps"]:
        lines += field("gaps", _gaps(source["gaps"]), width)
    for note in source["notes"]:
        lines += field("note", _note(note), width)
    if len(document["items"]) > 1:
        lines += field("work items", _states(document["items"]), width)
    return lines


def _note(note: str) -> str:
    """A note in words; `segment_gap BEFORE AFTER FIRST LAST` names two files and two numbers."""
    code, _, rest = note.partition(" ")
    if code != "segment_gap":
        return coded(FLAGS, note)
    names, first, last = rest.rsplit(" ", 2)
    return f"no event bears {first} to {last}, between the segments {ident(names, 60)}"


def _states(items: Sequence[Document]) -> str:
    """How many items there are in each state, the most frequent first."""
    counts: dict[str, int] = {}
    for item in items:
        state = item["state"]["value"] or "with no state"
        named = "undetermined" if item["undetermined_by"] else state
        counts[named] = counts.get(named, 0) + 1
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return f"{len(items)}: " + ", ".join(f"{count}{NBSP}{state}" for state, count in ordered)


def _line_identity(source: Document) -> str:
    aside = f" + {source['quarantined']} quarantined" if source["quarantined"] else ""
    return (
        f"{source['lines']} = {source['blank']} blank"
        f" + {counted(source['duplicates'], 'duplicate')}"
        f" + {source['admitted']} admitted{aside}"
    )


def _duplicates(duplicates: Sequence[Document]) -> str:
    """Each line that repeats an earlier one, where the caller says which they are."""
    return listed(
        [f"{ident(d['event_id'])} on line {d['line']} repeats line {d['of']}" for d in duplicates]
    )


def _event_identity(document: Document) -> str:
    accounting = document["accounting"]
    return (
        f"{document['input']['admitted']} = {accounting['applied']} applied"
        f" + {accounting['inert']} inert + {accounting['beyond_cutoff']} beyond the cutoff"
    )


def cutoff_words(cutoff: Document, ends: str) -> str:
    """What was asked to be seen, and where elapsed time ends."""
    bounds = []
    if cutoff["sequence"] is not None:
        bounds.append(f"sequence{NBSP}{cutoff['sequence']}")
    if cutoff["recorded"] is not None:
        bounds.append(time_words(cutoff["recorded"]))
    asked = f"{' and '.join(bounds)}, inclusive" if bounds else "none: the full log"
    if cutoff["observed"] is None:
        return f"{asked}; nothing is visible"
    return f"{asked}; elapsed time ends at {ends}"


def _ends(document: Document) -> str:
    cutoff = document["cutoff"]
    if cutoff["observed"] is None:
        return ""
    by = "the cutoff" if cutoff["recorded"] is not None else _last_visible(document)
    return f"{time_words(cutoff['observed'])} ({by})"


def _last_visible(document: Document) -> str:
    """The events that bear the last visible time; a document does not order equal times."""
    marks = [item["clocks"]["last_message"] for item in document["items"]]
    marks.append(document["unassigned"]["last_message"])
    ends = document["cutoff"]["observed"]
    events = [mark["event_id"] for mark in marks if mark is not None and mark["time"] == ends]
    more = f" and {len(events) - 3} more" if len(events) > 3 else ""
    return f"{idents(events[:3], 'the last visible event')}{more}"


def _gaps(gaps: Sequence[Document]) -> str:
    ranges = [
        f"{gap['from']}" if gap["from"] == gap["to"] else f"{gap['from']}\u2013{gap['to']}"
        for gap in gaps[:_MAX_GAPS]
    ]
    more = f" and {len(gaps) - _MAX_GAPS} more" if len(gaps) > _MAX_GAPS else ""
    return f"no event has sequence {', '.join(ranges)}{more}"


# Work items


def item_lines(item: Document, view: View) -> list[str]:
    """Everything about one work item."""
    width, colour = view.width, view.colour
    if item["undetermined_by"]:
        return _undetermined_item(item, view)
    lines = [
        f"{paint(file_name(item['work_id'], width - 24), 'bold', colour)}: {_state(item, colour)}"
    ]
    lines = [line.replace(NBSP, " ") for line in lines]
    lines += field("state", _derived(item["state"]), width)
    lines += field("revision", _derived(item["revision"]), width)
    lines += _clocks(item["clocks"], width)
    for episode in item["episodes"]:
        lines += field("blocker", _episode(episode, view), width)
    lines += _receipts(item["receipts"], width)
    for claim in item["claims"]:
        lines += field("claim", _claim(claim), width)
    for correction in item["corrections"]:
        lines += field("correction", _correction(correction), width)
    lines += _anomalies(item["anomalies"], width)
    for flag in item["flags"]:
        lines += field("flag", coded(FLAGS, flag), width)
    empty = [name for name in _LISTS if not item[name]]
    if empty:
        lines += field("none", ", ".join(_LISTS[name] for name in empty), width)
    return lines + field("permission", shown(item["authorization"]), width)


_LISTS: Final = {
    "episodes": "blocker episodes",
    "receipts": "receipts",
    "claims": "claims",
    "corrections": "corrections",
    "anomalies": "anomalies",
    "flags": "flags",
}


def _undetermined_item(item: Document, view: View) -> list[str]:
    width, colour = view.width, view.colour
    name = paint(file_name(item["work_id"], width - 24), "bold", colour)
    lines = [f"{name}: {toned('undetermined', colour)}".replace(NBSP, " ")]
    lines += field(
        "undetermined", not_covered(item["undetermined_by"], rules_id(view), view), width
    )
    lines += field("last message", mark_words(item["clocks"]["last_message"]), width)
    for flag in item["flags"]:
        lines += field("flag", coded(FLAGS, flag), width)
    lines += field(
        "not derived",
        "state, revision, last progress, blocked since, episodes, receipts, claims, corrections",
        width,
    )
    return lines + field("permission", shown(item["authorization"]), width)


def rules_id(view: View) -> str:
    return str(view.document["rules"]["id"])


def not_covered(events: Sequence[str], rules: str, view: View) -> str:
    """Which events keep an answer undetermined, with their types where these are known."""
    named = [
        f"{ident(event)} ({ident(view.types[event])})" if event in view.types else ident(event)
        for event in events
    ]
    return f"{ident(rules)} does not cover {listed(named)}"


def _state(item: Document, colour: bool) -> str:
    value = item["state"]["value"]
    return "no state" if value is None else toned(ident(value), colour)


def _derived(derived: Document) -> str:
    by = f"rule {ident(derived['rule'])}"
    if derived["value"] is None:
        return f"none, {by}"
    since = f" since {mark_words(derived['since'])}" if derived["since"] else ""
    shows = f", from {idents(derived['evidence'])}" if derived["evidence"] else ""
    return f"{ident(derived['value'])}{since}, {by}{shows}"


_CLOCKS: Final = {
    "last_message": "last message",
    "last_progress": "last progress",
    "blocked_since": "blocked since",
}


def _clocks(clocks: Document, width: int) -> list[str]:
    """The three clocks side by side, or one below the other where they are too wide."""
    cells = [_clock_cell(label, clocks[name]) for name, label in _CLOCKS.items()]
    rows = [row for row in zip(*cells, strict=True) if any(row)]
    side_by_side = table(rows, "    ", width, whole=range(len(cells)))
    if side_by_side is not None:
        return ["", *side_by_side, ""]
    lines: list[str] = []
    for name, label in _CLOCKS.items():
        lines += field(label, _clock(clocks[name]), width)
    return lines


def _clock_cell(label: str, mark: Document | None) -> tuple[str, str, str, str]:
    if mark is None:
        return (label, "none", "", "")
    rule = f"rule {ident(mark['rule'])}" if "rule" in mark else ""
    return (label, time_words(mark["time"]), ident(mark["event_id"]), rule)


def _clock(mark: Document | None) -> str:
    if mark is None:
        return "none"
    return mark_words(mark) + (f", rule {ident(mark['rule'])}" if "rule" in mark else "")


def _episode(episode: Document, view: View) -> str:
    end, opened = episode["end"], mark_words(episode["opened"])
    named = "" if episode["blocker_id"] is None else f"{ident(episode['blocker_id'])}: "
    again = f", again by {idents(episode['repeats'])}" if episode["repeats"] else ""
    lasted = duration(episode["elapsed_seconds"])
    so_far = " so far" if end["kind"] == "censored" else ""
    return f"{named}blocked {lasted}{so_far}: raised at {opened}{again}; {_end(end, view)}"


def _end(end: Document, view: View) -> str:
    if end["kind"] == "censored":
        return f"censored at {view.ends}, no recovery seen"
    by = mark_words(end["by"])
    links = f", which names {idents(end['evidence'])}" if end["evidence"] else ""
    match end["kind"]:
        case "recovered":
            return f"recovered at {by}{links}"
        case "cancelled":
            return f"the blocker was cancelled at {by}"
        case _:
            return f"the work was cancelled at {by}"


def _receipts(receipts: Sequence[Document], width: int) -> list[str]:
    """A table, or a paragraph for each where ids are too long for one."""
    if not receipts:
        return []
    head = ("event", "check", "source", "outcome", "revision", "status")
    rows = [_receipt(receipt) for receipt in receipts]
    lines = table([head, *rows], "    ", width, whole=(3, 5))
    if lines is not None:
        return ["  receipts", *lines]
    return [line for row in rows for line in field("receipt", _receipt_prose(row), width)]


def _receipt_prose(row: Sequence[str]) -> str:
    event, check, source, outcome, revision, status = row
    ran = "" if source == "-" else f" {source}" if check == _REVIEW else f" from {source}"
    on = "no revision" if revision == "-" else f"revision {revision}"
    return f"{event}: {check}{ran} {outcome} on {on}, {status}"


_REVIEW: Final = "(review)"


def _receipt(receipt: Document) -> tuple[str, str, str, str, str, str]:
    review = receipt["type"] == "review.completed"
    principal = receipt["principal"]
    by = None if principal is None else f"by {principal}"
    return (
        ident(receipt["event_id"]),
        _REVIEW if review else _or_dash(receipt["check"]),
        _or_dash(by if review else receipt["source"]),
        ident(receipt["outcome"]),
        _or_dash(receipt["revision"]),
        ident(receipt["status"]),
    )


def _or_dash(text: str | None) -> str:
    return "-" if text is None else ident(text)


def _claim(claim: Document) -> str:
    says: str = CLAIMS.get(claim["claim"]) or claim["claim"]
    verdict = claim["verdict"]
    words = VERDICTS[verdict].format(missing=idents(claim["missing"]))
    if claim["evidence"]:
        words += f" {'since' if verdict == 'stale' else 'by'} {idents(claim['evidence'])}"
    return f"{ident(claim['event_id'])} says {shown(says)}: {words}, rule {ident(claim['rule'])}"


def _correction(correction: Document) -> str:
    reason = correction["reason"]
    why = "" if reason is None else f"; reason given: {quoted(reason, 200)}"
    return (
        f"{ident(correction['event_id'])} corrects {ident(correction['target'])}:"
        f" {ident(correction['status'])}{why}"
    )


def _anomalies(anomalies: Sequence[Document], width: int) -> Iterator[str]:
    for anomaly in anomalies:
        code = anomaly["code"]
        words = {"event": ident(anomaly["event_id"]), "related": idents(anomaly["related"])}
        prose = f"{ANOMALIES[code].format(**words)} ({code})"
        yield from field("anomaly", prose, width)


def outside_items(view: View) -> list[str]:
    """The events that belong to no item, and those that the rules do not cover."""
    document, width = view.document, view.width
    lines: list[str] = []
    unassigned, uncovered = document["unassigned"], document["uncovered"]
    if unassigned["events"]:
        last = mark_words(unassigned["last_message"])
        count = counted(unassigned["events"], "event")
        lines += ["", "Outside every work item"]
        lines += field("unassigned", f"{count}, the last at {last}; no item moves", width)
        lines += _anomalies(unassigned["anomalies"], width)
    if uncovered:
        lines += ["", f"Not covered by {ident(rules_id(view))}".replace(NBSP, " ")]
        rows = [("event", "type", "work item"), *map(_uncovered, uncovered)]
        lines += table(rows, "    ", width) or [", ".join(row) for row in rows]
    return lines


def _uncovered(entry: Document) -> tuple[str, ...]:
    return (ident(entry["event_id"]), ident(entry["type"]), _or_dash(entry["work_id"]))


def board(view: View) -> list[str]:
    """The first items in a few lines each."""
    items = view.document["items"]
    lines: list[str] = []
    for item in items[:MAX_ITEMS]:
        lines += ["", *_card(item, view)]
    if len(items) > MAX_ITEMS:
        shows = f"{MAX_ITEMS} of {len(items)} work items shown; replay project shows all of them"
        lines += ["", *wrapped(shows, "  ", "  ", view.width)]
    return lines


def _card(item: Document, view: View) -> list[str]:
    """An item in a few lines: what it is, and why it took as long as it did."""
    width, colour = view.width, view.colour
    name = paint(file_name(item["work_id"], 40), "bold", colour)
    if item["undetermined_by"]:
        why = not_covered(item["undetermined_by"], rules_id(view), view)
        return wrapped(f"{name}: {toned('undetermined', colour)}, {why}", "  ", "    ", width)
    state, revision = item["state"], item["revision"]
    since = f" since {mark_words(state['since'])}" if state["since"] else ""
    on = "" if revision["value"] is None else f", revision {ident(revision['value'])}"
    lines = wrapped(f"{name}: {_state(item, colour)}{since}{on}", "  ", "    ", width)
    episodes = item["episodes"]
    for episode in episodes[:MAX_LISTED]:
        lines += wrapped(_episode(episode, view), "    ", "      ", width)
    if len(episodes) > MAX_LISTED:
        lines.append(f"    and {len(episodes) - MAX_LISTED} more episodes")
    clocks = item["clocks"]
    said = f"last message {mark_words(clocks['last_message'])}"
    if clocks["last_progress"]:
        said += f", last progress {mark_words(clocks['last_progress'])}"
    return lines + wrapped(said, "    ", "      ", width)
