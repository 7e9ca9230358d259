"""A check as JUnit XML: a suite for each log, a case for its admission and for each answer.

JUnit has three ways not to pass, and they are kept apart as the contract keeps outcomes:

* `failure` is a disagreement: an answer was derived, and it is not the authored one;
* `error` is whatever could not be decided: an undetermined answer (`type="undetermined"`),
  a refused, incomplete or unreadable log.  None of these ever reads as a pass;
* `skipped` is never written: readers of JUnit take a skipped case for no reason to stop.

A log with no oracle has the one passing case `accepted, no oracle`, which claims no more.
There is no clock in a replay, so no case has a time.  Attributes and elements are those of
the xUnit plugin's `junit-10.xsd`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from xml.etree import ElementTree as Xml

from replay.report.board import Document, View
from replay.report.findings import (
    RULES,
    STDIN,
    Origin,
    Unread,
    answer_facts,
    answer_name,
    answer_words,
    authored_by_id,
    incomplete_words,
    log_name,
    origins_of,
    refusal_words,
    view_for_words,
)
from replay.report.safe import shown
from replay.report.words import value_words

_SUFFIX: Final = ".jsonl"
_MAX_MESSAGE: Final = 400


def junit(
    document: Document,
    origins: Sequence[Origin] = (),
    *,
    oracles: Sequence[Document | None] = (),
    unread: Sequence[Unread] = (),
) -> bytes:
    """A `replay.check/1` document as JUnit XML in UTF-8.

    `origins` and `oracles` are those of its logs, in order, where the caller has them;
    `unread` are the logs that have no result.
    """
    logs = document["logs"]
    known = [*oracles, *[None] * (len(logs) - len(oracles))]
    root = Xml.Element("testsuites", name="replay check")
    for log, origin, oracle in zip(logs, origins_of(document, origins), known, strict=True):
        whole = log_name(log) if len(origin.paths) > 1 else origin.path
        suite = _suite(root, whole, origin.path)
        _properties(suite, document["tool"], log)
        _log_cases(suite, log, oracle)
    for one in unread:
        suite = _suite(root, one.path, one.path)
        _bad(_case(suite, "admission"), "error", "unreadable", one.reason)
    _count(root)
    Xml.indent(root)
    xml: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return xml + b"\n"


def _suite(root: Xml.Element, name: str, path: str) -> Xml.Element:
    """A suite named by its path, as two logs may have one file name."""
    return Xml.SubElement(root, "testsuite", name=_path(name), file=_path(path))


def _path(path: str) -> str:
    return "standard input" if path == STDIN else shown(path.removeprefix("./")) or '""'


def _case(suite: Xml.Element, name: str) -> Xml.Element:
    # without the suffix, as readers take what is before a dot for a package
    group = suite.attrib["name"].partition(_SUFFIX)[0] or suite.attrib["name"]
    return Xml.SubElement(suite, "testcase", classname=group, name=name)


def _bad(case: Xml.Element, kind: str, type_: str, message: str, body: str = "") -> None:
    said = shown(message, _MAX_MESSAGE) if type_ == "unreadable" else message
    Xml.SubElement(case, kind, type=type_, message=said).text = body or RULES[type_].meaning


def _log_cases(suite: Xml.Element, log: Document, oracle: Document | None) -> None:
    refusal, projection = log["refusal"], log["projection"]
    if refusal is not None:
        case = _case(suite, "admission")
        _bad(case, "error", refusal["code"], refusal_words(refusal), _refused_at(refusal))
        return
    compared = log["oracle"] is not None
    case = _case(suite, "admission" if compared else "accepted, no oracle")
    if not projection["input"]["complete"]:
        _bad(case, "error", "incomplete_input", incomplete_words(projection["input"]))
    authored = authored_by_id(oracle)
    view = view_for_words(projection)
    for answer in log["answers"]:
        _answer_case(suite, answer, authored.get(answer["id"]), view)


def _refused_at(refusal: Document) -> str:
    places = [(refusal["file"], refusal["line"])]
    places += [(place["file"], place["line"]) for place in refusal["related"]]
    lines = [shown(file) if line is None else f"{shown(file)}:{line}" for file, line in places]
    return "\n".join([f"{RULES[refusal['code']].title}. {RULES[refusal['code']].meaning}", *lines])


_KINDS: Final = {"disagree": ("failure", "disagreement"), "undetermined": ("error", "undetermined")}


def _answer_case(
    suite: Xml.Element, answer: Document, authored: Document | None, view: View
) -> None:
    case = _case(suite, answer_name(answer, authored))
    if answer["outcome"] not in _KINDS:
        return
    kind, type_ = _KINDS[answer["outcome"]]
    facts = answer_facts(answer, authored, view)
    body = "\n".join(f"{label}: {words}" for label, words in facts.items())
    _bad(case, kind, type_, answer_words(answer["outcome"], facts), body)


def _properties(suite: Xml.Element, tool: Document, log: Document) -> None:
    properties = Xml.SubElement(suite, "properties")
    for name, value in _facts(tool, log):
        Xml.SubElement(properties, "property", name=name, value=value)


def _facts(tool: Document, log: Document) -> Iterator[tuple[str, str]]:
    """What a result carries wherever it goes (contract, section 6)."""
    yield "outcome", log["outcome"]
    yield "tool", f"{tool['name']} {tool['version']}"
    projection = log["projection"]
    if projection is not None:
        yield "sha256", projection["input"]["sha256"]
        yield from _numbers("input", projection["input"])
        yield "rules.id", projection["rules"]["id"]
        yield "rules.digest", projection["rules"]["digest"]
        for name in ("sequence", "recorded", "observed"):
            yield f"cutoff.{name}", _value(projection["cutoff"][name])
        yield "cutoff.flags", " ".join(projection["cutoff"]["flags"])
        yield from _numbers("accounting", projection["accounting"])
    if log["oracle"] is not None:
        yield "oracle.name", shown(log["oracle"]["name"])
        yield "oracle.sha256", log["oracle"]["sha256"]
        yield from _numbers("answers", log["summary"])


def _numbers(prefix: str, counts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, count in counts.items():
        if isinstance(count, int) and not isinstance(count, bool):
            yield f"{prefix}.{name}", str(count)


def _value(bound: str | float | None) -> str:
    return "none" if bound is None else value_words(bound)


def _count(root: Xml.Element) -> None:
    """How many cases there are, and how many are bad, on each suite and on the whole."""
    for element in (*root, root):
        cases = [*element.iter("testcase")]
        element.set("tests", str(len(cases)))
        element.set("failures", str(sum(case.find("failure") is not None for case in cases)))
        element.set("errors", str(sum(case.find("error") is not None for case in cases)))
        if element is not root:  # the schema has no such attribute there
            element.set("skipped", "0")
