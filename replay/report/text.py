"""Documents as text for a terminal of 80 columns.

Every function takes a document of plain values, as published, and returns text that
ends with a newline; nothing is derived here and no file, clock or terminal is asked.
Every time is printed with the event that shows it.  What comes from a log goes
through `replay.report.safe`.  Colour is the caller's choice, and says nothing that
the words do not say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from replay.report.board import (
    HASH,
    LABEL,
    Document,
    View,
    account,
    board,
    field,
    file_name,
    item_lines,
    not_covered,
    outside_items,
    rules_id,
    view_of,
)
from replay.report.safe import padded
from replay.report.words import (
    NBSP,
    REFUSALS,
    coded,
    counted,
    ident,
    idents,
    paint,
    prose,
    time_words,
    toned,
    value_words,
    wrapped,
)

_MAX_WHY: Final = 400  # columns of an author's reasons


def projection_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.projection/1` document, every item in full."""
    seen = view_of(document, colour, width)
    lines = [paint(file_name(document["input"]["name"], width), "bold", colour)]
    lines += account(seen)
    for item in document["items"]:
        lines += ["", *item_lines(item, seen)]
    return _text(lines + outside_items(seen))


def projections_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.projections/1` document: the projection, or the refusal, of each log."""
    parts = [
        projection_text(log["projection"], colour=colour, width=width)
        if log["refusal"] is None
        else refusal_text(log["refusal"], colour=colour, width=width)
        for log in document["logs"]
    ]
    return "\n".join(parts)


def check_text(
    document: Document,
    *,
    colour: bool = False,
    width: int = 80,
    oracles: Sequence[Document | None] = (),
) -> str:
    """A `replay.check/1` document.

    `oracles` are the oracle documents of its logs, in order, where the caller has
    them; the answers are then printed with the questions that they answer.
    """
    logs = document["logs"]
    known = [*oracles, *[None] * (len(logs) - len(oracles))]
    lines: list[str] = []
    for log, oracle in zip(logs, known, strict=True):
        lines += (
            ["", *_checked(log, oracle, colour, width)]
            if lines
            else _checked(log, oracle, colour, width)
        )
    if len(logs) > 1:
        lines += ["", *wrapped(_totals(document), "", "  ", width)]
    return _text(lines)


def refusal_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.refusal/1` document: what was refused, where, and what would be taken."""
    line = document["line"]
    place = "" if line is None else f", line{NBSP}{line}"
    head = (
        f"{toned('refused', colour, 'REFUSED')}  {file_name(document['file'], width - 24)}{place}:"
        f" {coded(REFUSALS, document['code'])}"
    )
    lines = wrapped(head, "", "         ", width)
    if document["byte_offset"] is not None:
        lines += field("at", _pointed(document), width)
    lines += field("expected", prose(document["expected"], 400), width)
    lines += field("found", prose(document["found"], 400), width)
    if document["related"]:
        also = ", ".join(
            f"{file_name(place['file'], 40)}, line{NBSP}{place['line']}"
            for place in document["related"]
        )
        lines += field("see also", also, width)
    return _text(lines)


def rules_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.rules/1` document: every rule set, its digest, and its rules."""
    lines: list[str] = []
    for rules in document["rules"]:
        lines += [""] if lines else []
        lines.append(paint(ident(rules["id"]), "bold", colour))
        lines.append(f"  {ident(rules['digest'], 72)}")
        for rule in rules["rules"]:
            lines += ["", f"  {ident(rule['id'], 70)}"]
            lines += wrapped(prose(rule["sentence"], 2000), "    ", "    ", width)
    return _text(lines)


def questions_text(document: Document, *, colour: bool = False, width: int = 80) -> str:
    """A `replay.questions/1` document: what an oracle can ask, and how it is answered."""
    lines: list[str] = []
    for question in document["questions"]:
        lines += [""] if lines else []
        lines.append(paint(ident(question["id"]), "bold", colour))
        lines += wrapped(prose(question["sentence"], 2000), "  ", "  ", width)
        lines += field("of", prose(question["of"] or "nothing", 400), width)
        lines += field("expect", prose(question["expect"], 400), width)
    return _text(lines)


def _text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _checked(log: Document, oracle: Document | None, colour: bool, width: int) -> list[str]:
    if log["refusal"] is not None:
        return refusal_text(log["refusal"], colour=colour, width=width).splitlines()
    seen = view_of(log["projection"], colour, width)
    word = toned(log["outcome"], colour, log["outcome"].upper())
    name = file_name(seen.document["input"]["name"], width - 16)
    lines = [f"{word}  {name}".replace(NBSP, " "), *account(seen)]
    compared = "none, so nothing was compared"
    if log["oracle"] is not None:
        compared = _oracle(log["oracle"], width)
    lines += field("oracle", compared, width)
    for words in (oracle or {}).get("title"), (oracle or {}).get("why"):
        lines += field("", prose(words, _MAX_WHY), width) if words else []
    lines += board(seen)
    return lines + _answers(log, oracle, seen)


def _answers(log: Document, oracle: Document | None, view: View) -> list[str]:
    authored = {} if oracle is None else {a["id"]: a for a in oracle["answers"]}
    groups = _by_rules(log["answers"], authored)
    # which rules were asked goes without saying where they are those of the board above
    headed = {*groups} - {rules_id(view), None} != set()
    lines: list[str] = []
    for rules, answers in groups.items():
        lines += ["", *_heading(rules, view)] if headed else [""]
        for answer in answers:
            lines += _answer(answer, authored.get(answer["id"]), view)
    return lines if log["oracle"] is None else [*lines, *_summary(log["summary"], view.width)]


def _by_rules(
    answers: Sequence[Document], authored: Mapping[str, Document]
) -> dict[str | None, list[Document]]:
    """Answers by the rule set that was asked, null where its author's words are not known."""
    groups: dict[str | None, list[Document]] = {}
    for answer in answers:
        asked = authored.get(answer["id"])
        groups.setdefault(None if asked is None else asked["rules"], []).append(answer)
    return groups


def _heading(rules: str | None, view: View) -> list[str]:
    words = "asked under other rules" if rules is None else f"asked under {ident(rules)}"
    return wrapped(words, "  ", "    ", view.width)


def _oracle(oracle: Document, width: int) -> str:
    return f"{file_name(oracle['name'], width - 40)}, sha256{NBSP}{ident(oracle['sha256'][:HASH])}…"


def _summary(summary: Document, width: int) -> list[str]:
    total = counted(sum(summary.values()), "answer")
    parts = [f"{summary[outcome]}{NBSP}{outcome}" for outcome in _MARKS]
    return ["", *wrapped(f"{total}: {', '.join(parts)}", "  ", "  ", width)]


_MARKS: Final = {"agree": "ok", "disagree": "DIFFERS", "undetermined": "undetermined"}


_UNDETERMINED: Final = "undetermined, "


def _answer(answer: Document, authored: Document | None, view: View) -> list[str]:
    mark = _MARKS[answer["outcome"]]
    start = f"  {toned(mark, view.colour, padded(mark, LABEL))}"
    rest = " " * (2 + LABEL)
    head = ident(answer["id"])
    if authored is not None:
        head += f"  {question_words(authored)}"
    found = _found(answer, authored, view)
    if answer["outcome"] == "undetermined":
        found = found.removeprefix(_UNDETERMINED)
    if answer["outcome"] != "disagree":
        return wrapped(f"{head}: {found}", start, rest, view.width)
    lines = wrapped(head, start, rest, view.width)
    for label, words in difference(answer, authored, view).items():
        lines += field(label, words, view.width, rest)
    return lines


def difference(answer: Document, authored: Document | None, view: View) -> dict[str, str]:
    """What was expected, what was derived, where to look, and why the author expects it."""
    facts = {"expected": value_words(answer["expected"])}
    if authored is not None and authored.get("evidence") is not None:
        facts["expected"] += f", from exactly {idents(authored['evidence'])}"
    facts["derived"] = _found(answer, authored, view)
    if answer["first_differing_event"] is not None:
        facts["differs from"] = ident(answer["first_differing_event"])
    if answer["rule"] is not None:
        facts["rule"] = ident(answer["rule"])
    if authored is not None and authored.get("why"):
        facts["why"] = prose(authored["why"], _MAX_WHY)
    return facts


def _found(answer: Document, authored: Document | None, view: View) -> str:
    if not answer["undetermined_by"]:
        return value_words(answer["derived"])
    # an answer may be of other rules than the projection, and only its author says of which
    rules = "the rule set asked" if authored is None else authored["rules"]
    return f"{_UNDETERMINED}{not_covered(answer['undetermined_by'], rules, view)}"


def question_words(answer: Document) -> str:
    """What an authored answer answers: the work item, the question, and the cutoff."""
    of = "" if answer.get("of") is None else f" of {ident(answer['of'])}"
    work = "no work item" if answer["work_id"] is None else ident(answer["work_id"])
    at = {key: bound for key, bound in answer["at"].items() if bound is not None}
    bounds = [f"sequence{NBSP}{at['sequence']}"] if "sequence" in at else []
    bounds += [time_words(at[key]) for key in ("minute", "time") if key in at]
    until = f", at {' and '.join(bounds)}" if bounds else ""
    return f"{work}, {ident(answer['question'])}{of}{until}"


def _pointed(document: Document) -> str:
    pointer = document["pointer"]
    where = f"{ident(pointer, 48)} of the line" if pointer else "the line"
    return f"{where} that begins at byte {document['byte_offset']}"


def _totals(document: Document) -> str:
    outcomes = [log["outcome"] for log in document["logs"]]
    counts = [
        f"{outcomes.count(outcome)} {outcome}"
        for outcome in ("agree", "accepted", "disagree", "undetermined", "refused")
        if outcome in outcomes
    ]
    return f"{counted(len(outcomes), 'log')}: {', '.join(counts)}; exit status {document['exit']}"
