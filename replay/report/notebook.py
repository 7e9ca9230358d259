"""Documents as HTML for a notebook's output cell: small, and readable in any theme.

Decides what a cell shows: states by sequence in a picture, the state and the three clocks
of every item with the events and the rule behind them, an item in full, one blocker
episode, a check answer by answer.  What does not fit is counted (`n of N shown`), never
dropped in silence.

Text from a log is visible text (`safe.shown`) before `markup` makes HTML of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from replay.report.board import (
    HASH,
    Document,
    View,
    account,
    board,
    cutoff_words,
    not_covered,
    rules_id,
    view_of,
)
from replay.report.facts import (
    ENDED,
    MAX_IDS,
    NOTHING,
    anomaly_facts,
    claim_facts,
    correction_facts,
    episode_facts,
    ids_cell,
    mark_cell,
    or_none,
    receipt_facts,
    some_shown,
)
from replay.report.markup import box, facts_table, folded, isolated, paragraph, table
from replay.report.safe import shown
from replay.report.strip import Bar, Lane, lanes_of, legend, picture, steps_of
from replay.report.text import question_words
from replay.report.words import (
    FLAGS,
    NBSP,
    REFUSALS,
    coded,
    counted,
    duration,
    ident,
    value_words,
)

MAX_ITEMS: Final = 20
"""Work items in the table of a projection."""
MAX_ROWS: Final = 20
"""Rows of every other table."""
WHOLE_ITEMS: Final = 3
"""A projection of at most so many items has each of them in full below its table."""
WIDTH: Final = 80

_CLOCKS: Final = {
    "last_message": "last message",
    "last_progress": "last progress",
    "blocked_since": "blocked since",
}
_MAX_TEXT: Final = 400


def projection_html(document: Document, timeline: Document | None = None) -> str:
    """A `replay.projection/1` document: a row for each item, and few items in full.

    `timeline` is the `replay.timeline/1` document that led to it, where it is to be drawn.
    """
    view = _view(document)
    items = document["items"]
    parts = [*_drawn(timeline, folds=True), _items_table(view), *_outside(view)]
    if len(items) <= WHOLE_ITEMS:
        parts += [folded(f"{ident(i['work_id'])} in full", _item(i, view)) for i in items]
    return box("projection", [*parts, _account(view)])


def timeline_html(document: Document) -> str:
    """A `replay.timeline/1` document: every state in a picture and in a table."""
    count = len(document["intervals"])
    of = f"{counted(count, 'interval')} of {ident(document['input']['name'])}"
    about = f"{of} under {ident(document['rules']['id'])}"
    return box(
        "timeline",
        [
            paragraph(f"{about}; all of them: to_pandas()."),
            *_drawn(document),
            _account(_view({**_NO_ITEMS, **document})),
        ],
    )


def item_html(document: Document, rules: str = "the rule set") -> str:
    """One item of a `replay.projection/1` document, in full."""
    return box("work item", _item(document, _view(_only(document, rules))))


def episode_html(document: Document) -> str:
    """One blocker episode of a `replay.projection/1` document, and its `work_id`."""
    caption = f"Blocker episode of {ident(document['work_id'])}"
    facts = episode_facts(document)
    return box("blocker episode", [facts_table(caption, facts)])


def check_html(log: Document, oracle: Document | None = None) -> str:
    """One entry of `logs` in a `replay.check/1` document; `oracle` is what was compared."""
    if log["refusal"] is not None:
        return box("check", [refusal_table(log["refusal"])])
    view = _view(log["projection"])
    parts = [paragraph(_compared(log))]
    if log["oracle"] is not None:
        parts.append(_answers_table(log["answers"], oracle))
    return box("check", [*parts, _items_table(view), *_outside(view), _account(view)])


def refusal_table(document: Document) -> str:
    """A `replay.refusal/1` document."""
    line = document["line"]
    facts = {
        "code": coded(REFUSALS, document["code"]),
        "line": NOTHING if line is None else str(line),
        "pointer": or_none(document["pointer"]),
        "expected": shown(document["expected"], _MAX_TEXT),
        "found": shown(document["found"], _MAX_TEXT),
    }
    if document["related"]:
        facts["see also"] = ", ".join(
            f"{ident(place['file'])}, line {place['line']}" for place in document["related"]
        )
    return facts_table(f"refused: {ident(document['file'])}", facts)


def projection_text(document: Document) -> str:
    """The same projection in lines, for a console that has no HTML: its account and board."""
    view = _view(document)
    lines = [ident(document["input"]["name"], WIDTH), *account(view), *board(view)]
    return "\n".join(lines).replace(NBSP, " ")


# A timeline


def _drawn(document: Document | None, *, folds: bool = False) -> list[str]:
    """States as a picture and as a table, which `folds` has a reader open."""
    if document is None:
        return []
    lanes = lanes_of(document)
    if not lanes:
        return [paragraph("No work item has had a state, so there is no picture of states.")]
    words = _states_table(lanes)
    drawn = [picture(lanes, steps_of(document)), paragraph(legend(lanes))]
    return [*drawn, folded("The picture as a table", [words]) if folds else words]


def _states_table(lanes: Sequence[Lane]) -> str:
    bars = [(lane.work_id, bar) for lane in lanes for bar in lane.bars]
    rows = [_bar_row(work_id, bar) for work_id, bar in bars[:MAX_ROWS]]
    head = ("work item", "state", "from sequence", "from", "until")
    return table(_shown(len(bars), MAX_ROWS, "state"), head, rows)


def _bar_row(work_id: str, bar: Bar) -> Sequence[str]:
    until = "still so" if bar.ended is None else mark_cell(bar.ended)
    begun = bar.begun
    return (ident(work_id), ident(bar.state), str(begun["sequence"]), mark_cell(begun), until)


_NO_ITEMS: Final = {"items": [], "uncovered": [], "unassigned": {"last_message": None}}


# A projection


def _view(document: Document) -> View:
    return view_of(document, colour=False, width=WIDTH)


def _only(item: Document, rules: str) -> Document:
    """As much of a projection's document as one item needs to be shown."""
    nothing: Document = {"observed": None, "recorded": None}
    return {"rules": {"id": rules}, "items": [item], "uncovered": [], "cutoff": nothing}


def _items_table(view: View) -> str:
    document = view.document
    items = document["items"]
    about = (
        f"{_shown(len(items), MAX_ITEMS, 'work item')} of {ident(document['input']['name'])}"
        f" under {ident(rules_id(view))}; cutoff {cutoff_words(document['cutoff'], view.ends)}"
    )
    head = ("work item", "state", "revision", *_CLOCKS.values(), "blockers")
    rows = [_item_row(item, view) for item in items[:MAX_ITEMS]]
    more = "One in full: projection.item(work_id)." if len(items) > WHOLE_ITEMS else ""
    return table(about, head, rows) + paragraph(more)


def _item_row(item: Document, view: View) -> Sequence[str]:
    name, clocks = ident(item["work_id"]), item["clocks"]
    if item["undetermined_by"]:
        why = f"undetermined: {_uncovered(item, view)}"
        said = mark_cell(clocks["last_message"])
        return (name, why, "not derived", said, *["not derived"] * 3)
    state = _derived(item["state"])
    marks = [mark_cell(clocks[clock]) for clock in _CLOCKS]
    return (name, state, _derived(item["revision"]), *marks, _blockers(item["episodes"]))


def _blockers(episodes: Sequence[Document]) -> str:
    told = [
        f"{ENDED[e['end']['kind']]} {duration(e['elapsed_seconds'])}"
        for e in episodes[:WHOLE_ITEMS]
    ]
    more = f", and {len(episodes) - len(told)} more" if len(episodes) > len(told) else ""
    return ", ".join(told) + more or NOTHING


def _outside(view: View) -> list[str]:
    """What belongs to no item, and what the rules do not cover."""
    document = view.document
    unassigned, uncovered = document["unassigned"], document["uncovered"]
    parts = []
    if unassigned["events"]:
        count = counted(unassigned["events"], "event")
        last = mark_cell(unassigned["last_message"])
        parts.append(paragraph(f"{count} of no work item, the last at {last}; no item moves."))
        parts += _listed("Anomalies outside every item", anomaly_facts, unassigned["anomalies"])
    rows = [(ident(u["event_id"]), ident(u["type"]), or_none(u["work_id"])) for u in uncovered]
    if rows:
        about = f"{_shown(len(rows), MAX_ROWS, 'event')}, not covered by {ident(rules_id(view))}"
        parts.append(table(about, ("event", "type", "work item"), rows[:MAX_ROWS]))
    return parts


def _account(view: View) -> str:
    lines = "\n".join(line.replace(NBSP, " ") for line in account(view))
    return folded("What was read", [f"<pre>{isolated(lines)}</pre>"])


# An item


def _item(item: Document, view: View) -> list[str]:
    name = ident(item["work_id"])
    if item["undetermined_by"]:
        return [_undetermined(name, item, view)]
    head = ("", "answer", "rule", "evidence")
    answers = [
        _answer_row("state", item["state"]),
        _answer_row("revision", item["revision"]),
        *(_clock_row(label, item["clocks"][clock]) for clock, label in _CLOCKS.items()),
    ]
    parts = [table(f"{name}: {_value(item['state'])}", head, answers)]
    for caption, columns, records in (
        ("Blocker episodes", episode_facts, item["episodes"]),
        ("Receipts", receipt_facts, item["receipts"]),
        ("Claims", claim_facts, item["claims"]),
        ("Corrections", correction_facts, item["corrections"]),
        ("Anomalies", anomaly_facts, item["anomalies"]),
    ):
        parts += _listed(f"{caption} of {name}", columns, records)
    return [*parts, paragraph(_standing(item))]


def _undetermined(name: str, item: Document, view: View) -> str:
    facts = {
        "undetermined": _uncovered(item, view),
        "last message": mark_cell(item["clocks"]["last_message"]),
        "not derived": "state, revision, last progress, blocked since, episodes, receipts,"
        " claims, corrections",
    }
    return facts_table(f"{name}: undetermined", facts) + paragraph(_standing(item))


def _standing(item: Document) -> str:
    flags = [f"Flag: {coded(FLAGS, flag)}." for flag in item["flags"]]
    return " ".join([*flags, f"Permission: {shown(item['authorization'])}."])


def _answer_row(label: str, derived: Document) -> Sequence[str]:
    evidence = ids_cell(derived["evidence"])
    return (label, _since(derived), ident(derived["rule"]), evidence)


def _clock_row(label: str, mark: Document | None) -> Sequence[str]:
    if mark is None:
        return (label, *[NOTHING] * 3)
    return (label, mark_cell(mark), or_none(mark.get("rule")), ident(mark["event_id"]))


def _value(derived: Document) -> str:
    return NOTHING if derived["value"] is None else ident(derived["value"])


def _since(derived: Document) -> str:
    since = f" since {mark_cell(derived['since'])}" if derived["since"] else ""
    return f"{_value(derived)}{since}"


def _derived(derived: Document) -> str:
    by = f", from {ids_cell(derived['evidence'])}" if derived["evidence"] else ""
    return f"{_since(derived)}{by}"


# A check


def _compared(log: Document) -> str:
    oracle, summary = log["oracle"], log["summary"]
    if oracle is None:
        return f"{log['outcome']}: there is no oracle, so nothing was compared."
    counts = ", ".join(f"{count} {outcome}" for outcome, count in summary.items())
    digest = ident(oracle["sha256"][:HASH])
    return f"{log['outcome']}: {counts}; oracle {ident(oracle['name'])}, sha256 {digest}…"


_FIRST: Final = ("disagree", "undetermined", "agree")


def _answers_table(answers: Sequence[Document], oracle: Document | None) -> str:
    """Answers in their order, those that do not agree before those that do."""
    authored = {} if oracle is None else {a["id"]: a for a in oracle["answers"]}
    ordered = sorted(answers, key=lambda answer: _FIRST.index(answer["outcome"]))
    rows = [_checked(answer, authored.get(answer["id"])) for answer in ordered[:MAX_ROWS]]
    head = ("answer", "outcome", "rules", "question", "derived", "expected")
    return table(_shown(len(answers), MAX_ROWS, "answer"), head, rows)


def _checked(answer: Document, authored: Document | None) -> Sequence[str]:
    derived = value_words(answer["derived"])
    if answer["undetermined_by"]:
        derived = f"undetermined by {ids_cell(answer['undetermined_by'])}"
    elif answer["first_differing_event"] is not None:
        derived += f"; first differs at {ident(answer['first_differing_event'])}"
    agrees = answer["outcome"] == "agree"
    expected = "the same" if agrees else value_words(answer["expected"])
    rules, asked = NOTHING, NOTHING
    if authored is not None:
        rules, asked = ident(authored["rules"]), question_words(authored)
    return (ident(answer["id"]), answer["outcome"], rules, asked, derived, expected)


# Words


def _shown(count: int, most: int, noun: str) -> str:
    """A count and its noun, and how many of them are shown where not all are."""
    return counted(count, noun) if count <= most else f"{most} of {counted(count, noun)} shown"


def _uncovered(item: Document, view: View) -> str:
    events = item["undetermined_by"]
    return not_covered(events[:MAX_IDS], rules_id(view), view) + some_shown(len(events))


def _listed(
    caption: str, facts: Callable[[Document], dict[str, str]], records: Sequence[Document]
) -> list[str]:
    """A table with a row for each record, and none where there are no records."""
    if not records:
        return []
    rows = [facts(record) for record in records[:MAX_ROWS]]
    some = f", {MAX_ROWS} of {len(records)} shown" if len(records) > MAX_ROWS else ""
    return [table(f"{caption}{some}", [*rows[0]], [[*row.values()] for row in rows])]
