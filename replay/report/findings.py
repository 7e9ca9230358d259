"""What a check has to say, one finding at a time, for the formats that other programs read.

JUnit and SARIF show the same findings under the same rule ids: the codes of refusals and
anomalies as they are, `incomplete_input`, `disagreement`, `undetermined`, `uncovered` and
`unreadable`.  Words are for people and safe to show anywhere; what a program wants to the
letter is in the values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from replay.report.board import Document, View, not_covered, rules_id, view_of
from replay.report.safe import shown
from replay.report.text import difference, question_words
from replay.report.words import ANOMALIES, NBSP, REFUSALS, ident, idents

STDIN: Final = "-"
_MAX_TEXT: Final = 400  # columns of one sentence that quotes a log
_MAX_NAME: Final = 120


class Origin(NamedTuple):
    """Where one log of a check was read, which its documents say by file name only.

    Paths have forward slashes and are as given.  `path` names the log, `paths` are all the
    files that were read for it.  `files` has the path of each file name, where only one
    file has that name; `places` the path and the line (from 1) of each event, in the
    decompressed text.
    """

    path: str
    paths: tuple[str, ...] = ()
    oracle: str | None = None
    files: Mapping[str, str] = MappingProxyType({})
    places: Mapping[str, tuple[str, int]] = MappingProxyType({})


class Unread(NamedTuple):
    """A log that has no result, since it or its oracle could not be read or used."""

    path: str
    reason: str


class Rule(NamedTuple):
    """A kind of finding: its level in SARIF's terms, and what it means."""

    level: str
    title: str
    meaning: str


_REFUSED: Final = "The log was refused, as this has no single meaning; nothing was derived from it."
_NOTED: Final = "Noted beside the answers, which count it as the rules say."
_OTHERS: Final = {
    "unreadable": Rule(
        "error",
        "A log that could not be checked",
        "The log or its oracle could not be read, or the options do not fit it.",
    ),
    "incomplete_input": Rule(
        "error",
        "Lines were lost or set aside in reading the log",
        "The log was recovered: answers rest on its good lines only, and the others are in"
        " LOG.quarantine.jsonl with the code and the place of each.",
    ),
    "disagreement": Rule(
        "error",
        "A derived answer is not the authored one",
        "The oracle expects another answer than the rules derive from the log.",
    ),
    "undetermined": Rule(
        "warning",
        "A question that the rules cannot answer",
        "The question needs an event that the rule set does not cover: neither agreement nor"
        " disagreement.",
    ),
    "uncovered": Rule(
        "note",
        "An event that the rules do not cover",
        "Its work item is undetermined under this rule set.",
    ),
}
_SOME: Final = {"event": "an event", "related": "another"}
RULES: Final[Mapping[str, Rule]] = {
    **{code: Rule("error", f"Refused: {words}", _REFUSED) for code, words in REFUSALS.items()},
    **_OTHERS,
    **{
        code: Rule("note", f"Anomaly: {words.format(**_SOME)}", _NOTED)
        for code, words in ANOMALIES.items()
    },
}
"""Every kind of finding by its id, which stays what it is in later versions."""


def origins_of(document: Document, origins: Sequence[Origin]) -> list[Origin]:
    """One origin for each log: those given, then for any other one its name."""
    unknown = [Origin(log_name(log)) for log in document["logs"][len(origins) :]]
    return [*origins, *unknown]


def log_name(log: Document) -> str:
    """The file name of a log, as its documents have it."""
    name: str = (
        log["refusal"]["file"] if log["projection"] is None else log["projection"]["input"]["name"]
    )
    return name


def authored_by_id(oracle: Document | None) -> dict[str, Document]:
    return {} if oracle is None else {answer["id"]: answer for answer in oracle["answers"]}


def refusal_words(refusal: Document) -> str:
    """A refusal as one sentence."""
    at = f" at {ident(refusal['pointer'], _MAX_NAME)}" if refusal["pointer"] else ""
    expected, found = shown(refusal["expected"], _MAX_TEXT), shown(refusal["found"], _MAX_TEXT)
    return plain(f"{refusal['code']}{at}: expected {expected}, found {found}")


def incomplete_words(source: Document) -> str:
    """What a recovery left out, as one sentence; `source` is a projection's `input`."""
    return (
        f"{source['quarantined']} of {source['lines']} lines set aside, or the end of the input"
        " lost; answers rest on the good lines only"
    )


def answer_name(answer: Document, authored: Document | None) -> str:
    """An answer's id, with its question where the oracle is known."""
    name = ident(answer["id"], _MAX_NAME)
    return plain(name if authored is None else f"{name}: {question_words(authored)}")


def view_for_words(projection: Document) -> View:
    """A projection as the words of findings read it; one for all findings of a log."""
    return view_of(projection, colour=False, width=80)


def answer_facts(answer: Document, authored: Document | None, view: View) -> dict[str, str]:
    """What is to be said of a disagreement or an undetermined answer, by label."""
    return {label: plain(words) for label, words in difference(answer, authored, view).items()}


def answer_words(outcome: str, facts: Mapping[str, str]) -> str:
    """The facts of an answer as one sentence."""
    if outcome != "disagree":
        return facts["derived"]
    return f"expected {facts['expected']}; derived {facts['derived']}"


def uncovered_words(entry: Document, view: View) -> str:
    words = not_covered([entry["event_id"]], rules_id(view), view)
    moot = "" if entry["work_id"] is None else f", so {ident(entry['work_id'])} is undetermined"
    return plain(words + moot)


def anomaly_words(anomaly: Mapping[str, Any]) -> str:
    words = ANOMALIES[anomaly["code"]]
    return plain(words.format(event=ident(anomaly["event_id"]), related=idents(anomaly["related"])))


def plain(words: str) -> str:
    """Words with plain spaces, for readers that break lines as they like."""
    return words.replace(NBSP, " ")
