"""What became of recorded documents that were derived again, in lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from replay.report.board import HASH, Document, field, file_name
from replay.report.text import refusal_text
from replay.report.words import NBSP, counted, ident, time_words, toned, value_words, wrapped

_TONES: Final = {"reproduced": "agree", "differs": "disagree", "refused": "refused"}
_CAUSES: Final = {
    "input": "the log's bytes are not those that were recorded",
    "rules": "the log is the same, and the source of the rules is not",
    "tool": "the log and the rules are the same, and the version of this tool is not",
    "unexplained": "nothing that it says of its log, rules or tool explains it: a finding",
}


def recheck_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.recheck/1` document."""
    lines: list[str] = []
    for recorded in document["documents"]:
        for result in recorded["results"]:
            lines += [""] if lines else []
            lines += _result(recorded["name"], result, colour, width)
        if not recorded["results"]:
            lines += [f"{file_name(recorded['name'], width - 24)} is about no log"]
    return "".join(f"{line.replace(NBSP, ' ').rstrip()}\n" for line in lines)


def _result(name: str, result: Document, colour: bool, width: int) -> list[str]:
    outcome = result["outcome"]
    at = f" at {ident(result['pointer'], 48)}" if result["pointer"] else ""
    word = toned(_TONES[outcome], colour, outcome.upper())
    lines = wrapped(f"{word}  {file_name(name, width - 24)}{at}", "", "  ", width)
    lines += field("log", _log(result, width), width)
    if result["about"] is not None:
        lines += _about(result["about"], width)
    if result["pointer"] and result["about"] is not None:
        lines += field("oracle", "what a check compared with one is not compared again", width)
    lines += _difference(result, width)
    if result["cause"] is not None:
        lines += field("cause", _CAUSES[result["cause"]], width)
    if result["refusal"] is not None:
        lines += refusal_text(result["refusal"], colour=colour, width=width).splitlines()
    return lines


def _log(result: Document, width: int) -> str:
    name, log = file_name(result["name"], width - 40), result["log"]
    if log is None:
        return f"{name}, refused" if result["kind"] == "replay.refusal/1" else name
    return f"{name}, sha256{NBSP}{ident(log['sha256'][:HASH])}…"


def _about(about: Document, width: int) -> list[str]:
    rules, cutoff = about["rules"], about["cutoff"]
    digest = rules["digest"].removeprefix("sha256:")[:HASH]
    lines = field("rules", f"{ident(rules['id'])}, sha256{NBSP}{ident(digest)}…", width)
    bounds = [] if cutoff["sequence"] is None else [f"sequence{NBSP}{cutoff['sequence']}"]
    bounds += [] if cutoff["recorded"] is None else [time_words(cutoff["recorded"])]
    lines += field("cutoff", " and ".join(bounds) or "none: the full log", width)
    return lines + field("recorded by", f"replay {ident(about['tool'])}", width)


def _difference(result: Document, width: int) -> list[str]:
    first = result["first_difference"]
    if first is None:
        return []
    values: Sequence[str] = [
        "nothing there" if first[side] is None else _value(first[side]["value"])
        for side in ("recorded", "derived")
    ]
    lines = field("differs at", ident(first["pointer"] or "the whole", width - 20), width)
    lines += field("recorded", values[0], width)
    lines += field("derived", values[1], width)
    if result["differences"] > 1:
        lines += field("", f"the first of {counted(result['differences'], 'value')}", width)
    return lines


def _value(value: object) -> str:
    return "null" if value is None else value_words(value)
