"""A check as SARIF 2.1.0: each finding on the line of the event that shows it.

A refusal, an incomplete input and a disagreement are errors, an undetermined answer is a
warning, anomalies and uncovered events are notes.  Agreement is no result, as readers list
every result as a problem; what was agreed is in the run's properties, log by log, and a
log with no oracle is named in a notification, so that silence is never taken for a check.

Paths are those of the command line, as relative URIs with forward slashes where they are
relative.  A line is the event's own in the decompressed text.  Where a check cannot say
which line shows a finding, it names the whole file rather than a line that it made up.

Message text is plain: a brace is doubled, as the standard has it, and `](`, which would
begin a link, is written `]\\x28`.  What is quoted to the letter is in `properties`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import quote

from replay.canonical import digest, encode
from replay.report.board import Document
from replay.report.findings import (
    RULES,
    STDIN,
    Origin,
    Unread,
    anomaly_words,
    answer_facts,
    answer_name,
    answer_words,
    authored_by_id,
    incomplete_words,
    log_name,
    origins_of,
    plain,
    refusal_words,
    uncovered_words,
    view_for_words,
)
from replay.report.safe import shown
from replay.report.words import ident

Json: TypeAlias = dict[str, Any]

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
STDIN_URI: Final = "stdin"
_INDEX: Final = {id_: index for index, id_ in enumerate(RULES)}
_MAX_MESSAGE: Final = 400
_MEANINGS: Final = {
    0: "agrees, or accepted with no oracle",
    1: "a finding",
    2: "usage, or a file that cannot be read",
    3: "input refused",
    4: "undetermined",
}


class _Place(NamedTuple):
    """A file, the line in it where one is known, and what is there in words."""

    path: str
    line: int | None = None
    what: str = ""


class _Finding(NamedTuple):
    """`key` is what makes it the same finding in another run; places are the nearest first."""

    rule: str
    message: str
    places: Sequence[_Place]
    key: Sequence[Any]
    properties: Json


def sarif_document(
    document: Document,
    origins: Sequence[Origin] = (),
    *,
    oracles: Sequence[Document | None] = (),
    unread: Sequence[Unread] = (),
) -> Json:
    """A `replay.check/1` document as a SARIF log of one run, of plain values.

    `origins` and `oracles` are those of its logs, in order, where the caller has them;
    `unread` are the logs that have no result.
    """
    logs = document["logs"]
    known = [*oracles, *[None] * (len(logs) - len(oracles))]
    read = [*zip(logs, origins_of(document, origins), known, strict=True)]
    findings = [finding for log in read for finding in _findings(*log)]
    findings += [_unreadable(one) for one in unread]
    run = {
        "tool": {"driver": _driver(document["tool"])},
        "invocations": [_invocation(document, read)],
        "artifacts": _artifacts(read, unread),
        "results": [_result(finding) for finding in findings],
        "columnKind": "unicodeCodePoints",
        "properties": {"logs": [_summary(log, origin) for log, origin, _ in read]},
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


# What was found


def _findings(log: Document, origin: Origin, oracle: Document | None) -> Iterator[_Finding]:
    if log["refusal"] is not None:
        yield _refused(log["refusal"], origin)
        return
    if not log["projection"]["input"]["complete"]:
        yield _incomplete(log["projection"]["input"], origin)
    yield from _answers(log, origin, oracle)
    yield from _uncovered(log["projection"], origin)
    yield from _anomalies(log["projection"], origin)


def _refused(refusal: Document, origin: Origin) -> _Finding:
    places = [
        _Place(origin.files.get(one["file"], one["file"]), one["line"], "what it conflicts with")
        for one in (refusal, *refusal["related"])
    ]
    key = (refusal["file"], refusal["pointer"])
    said = {name: refusal[name] for name in ("byte_offset", "pointer", "expected", "found")}
    return _Finding(refusal["code"], refusal_words(refusal), places, key, said)


def _incomplete(source: Document, origin: Origin) -> _Finding:
    counts = {name: source[name] for name in ("lines", "quarantined", "admitted")}
    return _Finding(
        "incomplete_input",
        incomplete_words(source),
        [_Place(origin.path)],
        (source["name"],),
        counts,
    )


_RULE_OF: Final = {"disagree": "disagreement", "undetermined": "undetermined"}


def _answers(log: Document, origin: Origin, oracle: Document | None) -> Iterator[_Finding]:
    authored = authored_by_id(oracle)
    view = view_for_words(log["projection"])
    for answer in log["answers"]:
        if answer["outcome"] not in _RULE_OF:
            continue
        asked = authored.get(answer["id"])
        words = answer_words(answer["outcome"], answer_facts(answer, asked, view))
        places = _event_places(_events_of(answer, asked), origin)
        if origin.oracle is not None:
            places.append(_Place(origin.oracle, None, f"the oracle's answer {ident(answer['id'])}"))
        question = None if asked is None else {k: asked.get(k) for k in _QUESTION}
        yield _Finding(
            _RULE_OF[answer["outcome"]],
            f"{answer_name(answer, asked)}: {words}",
            places,
            (view.document["input"]["name"], answer["id"], question),
            {"answer": answer, "question": question},
        )


_QUESTION: Final = ("rules", "at", "work_id", "question", "of")


def _events_of(answer: Document, asked: Document | None) -> list[str]:
    """The events that an answer is about, the one to look at first."""
    first = answer["first_differing_event"]
    events = [] if first is None else [first]
    events += answer["undetermined_by"]
    events += _event_ids([answer["derived"], answer["expected"]])
    return [*events, *((asked or {}).get("evidence") or ())]


def _event_ids(value: Any) -> Iterator[str]:
    """Every `event_id` within plain values."""
    match value:
        case list():
            for element in value:
                yield from _event_ids(element)
        case dict():
            if isinstance(value.get("event_id"), str):
                yield value["event_id"]
            for element in value.values():
                yield from _event_ids(element)


def _uncovered(projection: Document, origin: Origin) -> Iterator[_Finding]:
    view = view_for_words(projection)
    for entry in projection["uncovered"]:
        yield _Finding(
            "uncovered",
            uncovered_words(entry, view),
            _event_places([entry["event_id"]], origin),
            (projection["input"]["name"], projection["rules"]["id"], entry["event_id"]),
            {**entry},
        )


def _anomalies(projection: Document, origin: Origin) -> Iterator[_Finding]:
    outside = {"work_id": None, **projection["unassigned"]}
    for item in (*projection["items"], outside):
        for anomaly in item["anomalies"] or ():
            code, event, related = anomaly["code"], anomaly["event_id"], anomaly["related"]
            yield _Finding(
                code,
                anomaly_words(anomaly),
                _event_places([event, *related], origin),
                (projection["input"]["name"], item["work_id"], event, related),
                {"work_id": item["work_id"], **anomaly},
            )


def _unreadable(one: Unread) -> _Finding:
    name = one.path.rpartition("/")[2]
    said = shown(one.reason, _MAX_MESSAGE)
    return _Finding("unreadable", said, [_Place(one.path)], (_text(name),), {})


def _event_places(events: Iterable[str], origin: Origin) -> list[_Place]:
    """The lines of the events that are in the log, else the log as a whole."""
    known = [event for event in dict.fromkeys(events) if event in origin.places]
    places = [_Place(*origin.places[event], f"event {ident(event)}") for event in known]
    return places or [_Place(origin.path)]


# As SARIF says it


def _result(finding: _Finding) -> Json:
    """The first place is the result's own; of the others each is a related one."""
    first, *others = finding.places
    result: Json = {
        "ruleId": finding.rule,
        "ruleIndex": _INDEX[finding.rule],
        "level": RULES[finding.rule].level,
        "message": _message(finding.message),
        "locations": [{"physicalLocation": _physical(first)}],
        "partialFingerprints": {"replayFinding/v1": digest(encode([finding.rule, *finding.key]))},
        "properties": finding.properties,
    }
    if others:
        result["relatedLocations"] = [
            {"id": id_, "physicalLocation": _physical(place), "message": _message(place.what)}
            for id_, place in enumerate(others)
        ]
    return result


def _message(text: str) -> Json:
    """A plain text message in which nothing is a placeholder or a link."""
    words = plain(text).replace("{", "{{").replace("}", "}}")
    return {"text": words.replace("](", "]\\x28")}


def _physical(place: _Place) -> Json:
    physical: Json = {"artifactLocation": {"uri": _uri(place.path)}}
    if place.line is not None:
        physical["region"] = {"startLine": place.line}
    return physical


def _uri(path: str) -> str:
    """A path with forward slashes as a URI reference, relative where the path is."""
    if path == STDIN:
        return STDIN_URI
    parts = [part for part in path.split("/") if part not in ("", ".")]
    steps = "/".join(quote(part.encode("utf-8", "surrogateescape"), safe="") for part in parts)
    return f"file:///{steps}" if path.startswith("/") else steps


def _text(path: str) -> str:
    """A path as JSON can hold it: bytes that are not UTF-8 become escapes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _driver(tool: Document) -> Json:
    return {
        "name": tool["name"],
        "version": tool["version"],
        "semanticVersion": tool["version"],
        "rules": [
            {
                "id": id_,
                "shortDescription": _message(rule.title),
                "fullDescription": _message(f"{rule.title}. {rule.meaning}"),
                "help": _message(rule.meaning),
                "defaultConfiguration": {"level": rule.level},
            }
            for id_, rule in RULES.items()
        ],
    }


_Read: TypeAlias = Sequence[tuple[Document, Origin, Document | None]]


def _invocation(document: Document, read: _Read) -> Json:
    status = document["exit"]
    return {
        "executionSuccessful": status not in (2, 70),
        "exitCode": status,
        "exitCodeDescription": _MEANINGS.get(status, "a fault of ours"),
        "toolExecutionNotifications": [
            {
                "level": "note",
                "message": _message(f"{shown(log_name(log))}: accepted, no oracle"),
                "locations": [{"physicalLocation": _physical(_Place(origin.path))}],
            }
            for log, origin, _ in read
            if log["outcome"] == "accepted"
        ],
    }


def _artifacts(read: _Read, unread: Sequence[Unread]) -> list[Json]:
    """Each file that was asked about, once; the digest where it is of that one file."""
    artifacts: dict[str, Json] = {}
    for log, origin, _ in read:
        for path in origin.paths or (origin.path,):
            artifacts.setdefault(_uri(path), _artifact(path, _hashes(log, origin)))
    for one in unread:
        artifacts.setdefault(_uri(one.path), _artifact(one.path, {}))
    return [*artifacts.values()]


def _artifact(path: str, hashes: Mapping[str, str]) -> Json:
    role = "standardStream" if path == STDIN else "analysisTarget"
    artifact: Json = {"location": {"uri": _uri(path)}, "roles": [role]}
    return {**artifact, "hashes": hashes} if hashes else artifact


def _hashes(log: Document, origin: Origin) -> Mapping[str, str]:
    if log["projection"] is None or len(origin.paths) > 1:
        return {}
    return {"sha-256": log["projection"]["input"]["sha256"]}


def _summary(log: Document, origin: Origin) -> Json:
    """What a result carries wherever it goes (contract, section 6)."""
    projection = log["projection"]
    carried = {} if projection is None else {k: projection[k] for k in _CARRIED}
    rest = {"oracle": log["oracle"], "summary": log["summary"], **carried}
    return {"path": _text(origin.path), "outcome": log["outcome"], **rest}


_CARRIED: Final = ("input", "rules", "cutoff", "accounting")
