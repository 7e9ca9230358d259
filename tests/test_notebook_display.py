"""What a notebook shows of a result: whole, small, harmless, and readable by anybody."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from IPython.lib.pretty import pretty
from lxml import etree

import replay
from replay.errors import UnknownRulesError, UsageError
from replay.history import History
from replay.projection import Projection
from replay.report import facts, notebook, strip
from replay.report.safe import shown
from replay.rules import known, named
from tests import hostile
from tests.command import CASES, PAPER, REFUSED
from tests.notation import history, history_of, lines

NINE: Final = replay.load(PAPER)
LATEST: Final = "coordination/2"
DRAWN: Final = {"svg", "rect", "path", "title", "text"}
ELEMENTS: Final = {
    *("div", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("p", "details", "summary", "pre", "bdi"),
}
ATTRIBUTES: Final = {
    "class": {"tex2jax_ignore mathjax_ignore"},
    "role": {"region"},
    "aria-label": {"projection", "timeline", "work item", "blocker episode", "check"},
    "tabindex": {"0"},
    "lang": {"en"},
    "dir": {"ltr"},
    "scope": {"row", "col"},
    "style": {
        "text-align:left",
        "text-align:left;font-weight:bold",
        "border-collapse:separate;border-spacing:.8em .1em",
        "overflow-x:auto;text-align:left",
    },
}
DRAWN_BY: Final = {
    *("x", "y", "width", "height", "d", "viewBox", "role", "aria-label", "font-size"),
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "text-anchor"),
}
"""All that a picture's elements say: places, and how they are drawn."""
Element = Any


def parsed(html: str) -> Element:
    """The markup as a tree, which it is one of: every element closed, every text escaped."""
    return etree.fromstring(html, etree.XMLParser(resolve_entities=False, huge_tree=False))


def text_of(html: str) -> str:
    """What a reader sees, cells apart and every space plain."""
    words = " ".join(parsed(html).itertext())
    return re.sub(r"\s+", " ", words.replace("\u00a0", " "))


def pictures(html: str) -> list[Element]:
    return [*parsed(html).iter("svg")]


def rows(html: str, caption: str) -> list[list[str]]:
    """The cells of the table whose caption begins so."""
    (found,) = [
        t for t in parsed(html).iter("table") if text(t.find("caption")).startswith(caption)
    ]
    return [[text(cell) for cell in row] for row in found.iter("tr")]


def text(element: Element) -> str:
    return "".join(element.itertext()).replace("\u00a0", " ")


def of(words: str, **options: Any) -> History:
    return history(words, **options)


def everything(log: History, rules: str = LATEST) -> list[str]:
    """The HTML of a projection and of all that it holds."""
    board = log.board(rules=rules)
    line = replay.timeline_of(log.until(), rules=rules)
    shown_alone: list[Any] = [line, *board.items, *board.episodes]
    return [board._repr_html_(), *(record._repr_html_() for record in shown_alone)]


# ---- a projection


def test_a_projection_shows_state_revision_three_clocks_and_blockers_with_their_events() -> None:
    html = NINE.board(rules=LATEST, at=5, minute=9)._repr_html_()
    head, row = rows(html, "1 work item of paper-nine-events.jsonl under coordination/2; cutoff")
    assert dict(zip(head, row, strict=True)) == {
        "work item": "W1",
        "state": "blocked since minute 3 (e4), from e4",
        "revision": "r1 since minute 0 (e1), from e1",
        "last message": "minute 8 (e5)",
        "last progress": "minute 2 (e3)",
        "blocked since": "minute 3 (e4)",
        "blockers": "open so far, censored after 6 min",
    }


def test_a_projection_says_what_was_read_by_which_rules_up_to_where() -> None:
    seen = text_of(NINE.board(rules=LATEST, at=5, minute=9)._repr_html_())
    assert f"sha256 {NINE.input.sha256[:12]}…" in seen
    assert "9 = 5 applied + 0 inert + 4 beyond the cutoff" in seen
    assert f"coordination/2, sha256 {named(LATEST).digest[:12]}…" in seen
    assert "cutoff sequence 5 and minute 9, inclusive; elapsed time ends at minute 9" in seen


def test_an_item_that_the_rules_do_not_cover_is_undetermined_and_says_by_which_events() -> None:
    board = of("r1 +b1 cancel beat#W2").board(rules="coordination/1")
    _, row, other = rows(board._repr_html_(), "2 work items")
    assert row[1:5] == [
        "undetermined: coordination/1 does not cover e3 (work.cancelled)",
        "not derived",
        "minute 2 (e3)",
        "not derived",
    ]
    assert other[:2] == ["W2", "none"]
    seen = text_of(board.items[0]._repr_html_())
    assert "W1: undetermined undetermined the rule set does not cover e3" in seen
    assert "not derived state, revision, last progress, blocked since, episodes" in seen
    assert rows(board._repr_html_(), "1 event, not covered by coordination/1")[1] == [
        "e3",
        "work.cancelled",
        "W1",
    ]


def test_events_of_no_item_are_counted_beside_the_items() -> None:
    seen = text_of(of("r1 beat# ci+#").board(rules=LATEST)._repr_html_())
    assert "2 events of no work item, the last at minute 2 (e3); no item moves." in seen


def test_an_empty_log_is_a_board_with_no_row() -> None:
    html = history_of(()).board(rules=LATEST)._repr_html_()
    assert len(rows(html, "0 work items")) == 1
    assert "nothing is visible" in text_of(html)


def test_few_items_are_shown_in_full_and_of_many_one_is_told_how_to_be_asked_for() -> None:
    few = NINE.board(rules=LATEST)
    assert "W1 in full" in text_of(few._repr_html_())
    many = of(" ".join(f"r1#W{n}" for n in range(5))).board(rules=LATEST)
    assert "One in full: projection.item(work_id)." in text_of(many._repr_html_())
    assert "in full W" not in text_of(many._repr_html_())


def test_a_console_prints_the_board_in_lines() -> None:
    printed: str = pretty(NINE.board(rules=LATEST, at=5, minute=9))  # type: ignore[no-untyped-call]
    assert printed.startswith("paper-nine-events.jsonl\n")
    assert "  W1: blocked since minute 3 (e4), revision r1\n" in printed
    assert max(map(len, printed.splitlines())) <= notebook.WIDTH


@pytest.mark.parametrize("rules", known())
def test_print_shows_the_board_and_a_repr_is_one_line(rules: str) -> None:
    board = NINE.board(rules=rules)
    assert str(board) == pretty(board)  # type: ignore[no-untyped-call]
    assert repr(board) == f"<Projection of 'paper-nine-events.jsonl' under {rules}: 1 work item>"
    line = replay.timeline_of(NINE.until(), rules=rules)
    count = len(line.intervals)
    named = "'paper-nine-events.jsonl'"
    assert repr(line) == f"<Timeline of {named} under {rules}: {count} intervals>"


# ---- a picture of states


def drawn(html: str) -> list[str]:
    """What each bar is and from when to when, as its title says."""
    (picture,) = pictures(html)
    return [text(rect.find("title")) for rect in picture.findall("rect")]


BARS: Final = [
    "active from sequence 1 to 4",
    "blocked from sequence 4 to 6",
    "active from sequence 6 to 8",
    "awaiting review from sequence 8",
]


@pytest.mark.parametrize("rules", known())
def test_three_lines_lead_from_a_log_to_a_picture_of_its_states(rules: str) -> None:
    line = replay.timeline_of(replay.load(PAPER).until(), rules=rules)
    assert drawn(line._repr_html_()) == BARS
    assert drawn(NINE.board(rules=rules)._repr_html_()) == BARS
    assert drawn(NINE.board(rules=rules, at=5, minute=9)._repr_html_()) == [
        BARS[0],
        "blocked from sequence 4",
    ]


def test_the_table_beside_a_picture_says_the_same_with_events() -> None:
    for html in (
        replay.timeline_of(NINE.until(), rules=LATEST)._repr_html_(),
        NINE.board(rules=LATEST)._repr_html_(),
    ):
        assert rows(html, "4 states")[1:] == [
            ["W1", "active", "1", "minute 0 (e1)", "minute 3 (e4)"],
            ["W1", "blocked", "4", "minute 3 (e4)", "minute 10 (e6)"],
            ["W1", "active", "6", "minute 10 (e6)", "minute 12 (e8)"],
            ["W1", "awaiting_review", "8", "minute 12 (e8)", "still so"],
        ]


def test_every_state_is_drawn_in_its_own_way_and_the_legend_says_how() -> None:
    log = replay.load(CASES / "six-states.jsonl")
    looks, words = {}, ""
    for rules in known():
        html = replay.timeline_of(log.until(), rules=rules)._repr_html_()
        words += text_of(html).lower()
        (picture,) = pictures(html)
        for rect in picture.findall("rect"):
            after = rect.getnext()
            inside = after.attrib if after is not None and after.tag == "path" else {}
            shape = "".join(re.findall("[A-Za-z]", inside.get("d", "")))
            lines = (inside.get("stroke-width"), inside.get("stroke-dasharray"))
            look = (rect.get("fill"), rect.get("stroke-dasharray"), shape, *lines)
            looks[text(rect.find("title")).partition(" from")[0]] = look
    assert {*looks} == {state.replace("_", " ") for state in strip.DRAWN}
    assert len({*looks.values()}) == len(looks)
    for state, how in strip.DRAWN.items():
        assert f"{state.replace('_', ' ')}: {how}" in words


def test_a_picture_has_a_name_and_no_colour_of_its_own() -> None:
    (picture,) = pictures(NINE.board(rules=LATEST)._repr_html_())
    assert (picture.get("role"), picture.get("aria-label")) == (
        "img",
        "States of 1 work item by sequence, as in the table of states",
    )
    colours = {e.get(name) for e in picture.iter() for name in ("fill", "stroke")}
    assert colours <= {None, "none", "currentColor"}
    assert not [e for e in picture.iter() if e.get("id") or e.get("style")]


def test_of_many_lanes_and_states_the_first_are_drawn_and_all_are_counted() -> None:
    log = of(" ".join(f"r1#W{n:02}" for n in range(30)) + " + ~" * 40)
    html = replay.timeline_of(log.until(), rules=LATEST)._repr_html_()
    assert "States of 31 work items, 12 of them shown" in text_of(html)
    alone = of("r1" + " + ~" * 40)
    html = replay.timeline_of(alone.until(), rules=LATEST)._repr_html_()
    assert len(drawn(html)) == strip.MAX_BARS
    assert f"+ {81 - strip.MAX_BARS} more" in text_of(html)
    assert f"{notebook.MAX_ROWS} of 81 states shown" in text_of(html)
    crowded = of(" ".join(f"r1#W{n} +#W{n} ~#W{n} +#W{n}" for n in [*range(20)] * 8))
    html = replay.timeline_of(crowded.until(), rules=LATEST)._repr_html_()
    assert len(html.encode()) <= 60_000


def test_a_log_of_messages_says_that_there_is_nothing_to_draw() -> None:
    html = of("beat note").board(rules=LATEST)._repr_html_()
    assert pictures(html) == []
    assert "No work item has had a state" in text_of(html)


def test_a_projection_with_no_log_noted_beside_it_or_a_long_one_has_no_picture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert pictures(named(LATEST).project(NINE.until())._repr_html_()) == []
    monkeypatch.setattr("replay.display.MAX_PROJECTED", 8)
    assert pictures(NINE.board(rules="coordination/1")._repr_html_()) == []
    assert len(pictures(NINE.board(rules=LATEST)._repr_html_())) == 1
    monkeypatch.setattr("replay.display.MAX_DRAWN", 8)
    assert pictures(NINE.board(rules=LATEST)._repr_html_()) == []


# ---- an item and an episode


def test_an_item_shows_each_answer_with_its_rule_and_its_evidence() -> None:
    item = NINE.board(rules=LATEST).item("W1")
    assert item is not None
    assert rows(item._repr_html_(), "W1: awaiting_review") == [
        ["", "answer", "rule", "evidence"],
        ["state", "awaiting_review since minute 12 (e8)", "2/state-awaiting-review", "e8"],
        ["revision", "r2 since minute 10 (e6)", "2/revision", "e6"],
        ["last message", "minute 13 (e9)", "none", "e9"],
        ["last progress", "minute 11 (e7)", "2/progress-check", "e7"],
        ["blocked since", "none", "none", "none"],
    ]
    assert rows(item._repr_html_(), "Claims of W1")[1][:3] == [
        "e8",
        "ready for review",
        "supported",
    ]
    receipts = rows(item._repr_html_(), "Receipts of W1")
    assert [row[0] for row in receipts] == ["event", "e2", "e3", "e7", "e9"]
    assert text_of(item._repr_html_()).rstrip().endswith("Permission: not established.")


def test_corrections_and_anomalies_of_an_item_are_shown() -> None:
    item = of("r1 + retract!e2?mistyped ci+<e9").board(rules=LATEST).items[0]
    assert rows(item._repr_html_(), "Corrections of W1")[1] == ["e3", "e2", "applied", "“mistyped”"]
    assert rows(item._repr_html_(), "Anomalies of W1")[1][1] == "link_missing"


@pytest.mark.parametrize(
    ("words", "end", "evidence"),
    [
        ("r1 + r2<e2", "recovered at minute 2 (e3)", "e2"),
        ("r1 + ~", "cancelled at minute 2 (e3)", "none"),
        ("r1 + cancel", "cancelled with work at minute 2 (e3)", "none"),
        ("r1 + beat", "censored at minute 2: no recovery seen", "none"),
    ],
)
def test_an_episode_says_how_it_ended_and_by_what(words: str, end: str, evidence: str) -> None:
    (episode,) = of(words).board(rules=LATEST).episodes
    found = dict(rows(episode._repr_html_(), "Blocker episode of W1"))
    assert found == {
        "blocker": "none",
        "raised": "minute 1 (e2)",
        "again by": "none",
        "end": end,
        "evidence": evidence,
        "blocked for": "1 min",
    }


def test_a_log_in_utc_shows_times_in_utc() -> None:
    board = of("r1 + beat", basis="utc").board(rules=LATEST)
    time = replay.render(board.episodes[0].opened.time, "utc")
    assert isinstance(time, str)
    for html in (
        board._repr_html_(),
        board.items[0]._repr_html_(),
        board.episodes[0]._repr_html_(),
    ):
        assert f"{time} (e2)" in text_of(html)
        assert "minute" not in text_of(html)


@pytest.mark.parametrize("rules", known())
def test_a_record_whose_time_basis_nobody_noted_is_shown_without_times(rules: str) -> None:
    board = named(rules).project(NINE.until(sequence=5))
    assert [record.time_basis for record in (*board.items, *board.episodes)] == [None, None]
    item, episode = (text_of(r._repr_html_()) for r in (board.items[0], board.episodes[0]))
    assert "state blocked since e4" in item
    assert "last message e5" in item
    assert "raised e4 again by e5 end censored: no recovery seen" in episode
    assert "minute" not in item + episode


def test_the_noted_time_basis_is_no_part_of_a_record() -> None:
    prefix = NINE.until(sequence=5)
    noted, plain = replay.project(prefix, rules=LATEST), named(LATEST).project(prefix)
    assert noted.items[0].time_basis == "elapsed"
    assert noted == plain
    assert hash(noted) == hash(plain)
    assert repr(noted) == repr(plain)
    assert msgspec.structs.asdict(noted.items[0]) == msgspec.structs.asdict(plain.items[0])


# ---- a check


def test_a_check_shows_its_outcome_its_answers_and_the_board() -> None:
    html = replay.check_log(PAPER, rules=LATEST)._repr_html_()
    counts = "agree: 44 agree, 0 disagree, 0 undetermined; oracle paper-nine-events.oracle.json"
    assert counts in text_of(html)
    head, first, *_ = rows(html, f"{notebook.MAX_ROWS} of 44 answers shown")
    assert head == ["answer", "outcome", "rules", "question", "derived", "expected"]
    asked = "recovered at minute 10 (e6) after 7 min"
    assert first == ["q1", "agree", "coordination/1", "W1, episode of e4", asked, "the same"]
    assert rows(html, "1 work item")[1][0] == "W1"


def test_what_does_not_agree_comes_first(tmp_path: Path) -> None:
    log, oracle = tmp_path / "a.jsonl", tmp_path / "a.oracle.json"
    log.write_bytes(lines(of("r1 + cancel r1#W2")))
    usual = {"rules": "coordination/1", "at": {}, "question": "state"}
    answers = [
        {"id": "q1", **usual, "work_id": "W2", "expect": {"value": "active"}},
        {"id": "q2", **usual, "work_id": "W1", "expect": {"value": "cancelled"}},
        {"id": "q3", **usual, "work_id": "W2", "expect": {"value": "blocked"}},
    ]
    document = {"document": "replay.oracle/1", "answers": answers}
    oracle.write_bytes(msgspec.json.encode(document))
    result = replay.check_log(log, rules="coordination/1")
    assert repr(result) == "CheckResult(disagree: 1 agree, 1 disagree, 1 undetermined)"
    assert rows(result._repr_html_(), "3 answers")[1:] == [
        [
            "q3",
            "disagree",
            "coordination/1",
            "W2, state",
            "active since minute 3 (e4); first differs at e4",
            "blocked",
        ],
        ["q2", "undetermined", "coordination/1", "W1, state", "undetermined by e3", "cancelled"],
        ["q1", "agree", "coordination/1", "W2, state", "active since minute 3 (e4)", "the same"],
    ]


def test_a_refused_log_shows_where_and_what_was_expected() -> None:
    html = replay.check_log(REFUSED / "wrong_type.jsonl", rules=LATEST)._repr_html_()
    found = dict(rows(html, "refused: wrong_type.jsonl"))
    assert found["line"] == "2"
    assert found["pointer"] == "/recorded_sequence"
    assert found["found"] == 'string "2"'


def test_a_refusal_names_the_other_line() -> None:
    html = replay.check_log(REFUSED / "conflicting_duplicate.jsonl", rules=LATEST)._repr_html_()
    found = dict(rows(html, "refused: "))
    assert re.fullmatch(r"conflicting_duplicate\.jsonl, line \d+", found["see also"])


def test_a_log_with_no_oracle_says_that_nothing_was_compared(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    log.write_bytes(lines(of("r1")))
    seen = text_of(replay.check_log(log, rules=LATEST)._repr_html_())
    assert "accepted: there is no oracle, so nothing was compared." in seen


# ---- accessible


def shown_things() -> list[str]:
    cases = [CASES / f"{name}.jsonl" for name in ("six-states", "explicit-correction")]
    htmls = [html for rules in known() for html in everything(NINE, rules)]
    htmls += [html for case in cases for html in everything(replay.load(case), "coordination/1")]
    logs = (PAPER, *cases, REFUSED / "wrong_type.jsonl")
    return htmls + [replay.check_log(log, rules=LATEST)._repr_html_() for log in logs]


@pytest.fixture(scope="module")
def htmls() -> list[str]:
    return shown_things()


def test_every_table_has_a_caption_and_every_header_its_scope(htmls: list[str]) -> None:
    for table in (table for html in htmls for table in parsed(html).iter("table")):
        assert table[0].tag == "caption"
        assert text(table[0]).strip()
        assert {cell.get("scope") for row in table.findall("thead/tr") for cell in row} <= {"col"}
        for row in table.findall("tbody/tr"):
            assert [cell.tag for cell in row] == ["th", *["td"] * (len(row) - 1)]
            assert row[0].get("scope") == "row"
            assert all(text(cell) for cell in row)


def test_the_region_has_a_name_and_is_reached_by_keyboard(htmls: list[str]) -> None:
    for root in map(parsed, htmls):
        assert (root.tag, root.get("role"), root.get("tabindex")) == ("div", "region", "0")
        assert root.get("aria-label")


def test_no_meaning_is_in_a_colour_and_any_theme_can_be_behind_it(htmls: list[str]) -> None:
    elements = (element for html in htmls for element in parsed(html).iter())
    assert {element.get("style") for element in elements} <= {None, *ATTRIBUTES["style"]}
    assert not [style for style in ATTRIBUTES["style"] if re.search("color|background", style)]


# ---- small


@pytest.mark.parametrize(
    ("html", "most"),
    [
        (NINE.board(rules=LATEST)._repr_html_(), 10_000),
        (replay.timeline_of(NINE.until(), rules=LATEST)._repr_html_(), 4_000),
        (NINE.board(rules=LATEST).items[0]._repr_html_(), 6_000),
        (NINE.board(rules=LATEST).episodes[0]._repr_html_(), 1_500),
        (replay.check_log(PAPER, rules=LATEST)._repr_html_(), 11_000),
    ],
    ids=["projection", "timeline", "item", "episode", "check"],
)
def test_the_nine_events_take_a_few_kilobytes(html: str, most: int) -> None:
    assert len(html.encode()) <= most


def test_many_items_are_counted_and_the_first_are_shown() -> None:
    html = of(" ".join(f"r1#W{n:03}" for n in range(300))).board(rules=LATEST)._repr_html_()
    _, *body = rows(html, f"{notebook.MAX_ITEMS} of 300 work items shown")
    assert len(body) == notebook.MAX_ITEMS
    assert len(pictures(html)[0].findall("rect")) == strip.MAX_LANES
    assert len(html.encode()) <= 17_000


def test_many_receipts_repeats_and_uncovered_events_are_counted_and_the_first_are_shown() -> None:
    words = "r1 + " + "+ " * 100 + "ci+ ci- " * 40
    item = of(words).board(rules=LATEST).items[0]
    html = item._repr_html_()
    receipts = rows(html, f"Receipts of W1, {notebook.MAX_ROWS} of 80 shown")
    assert len(receipts) == 1 + notebook.MAX_ROWS
    assert f"({facts.MAX_IDS} of 100 shown)" in text_of(html)
    board = of("cancel " * 200).board(rules="coordination/1")
    assert f"({facts.MAX_IDS} of 200 shown)" in text_of(board.items[0]._repr_html_())
    assert len(board._repr_html_().encode()) <= 12_000


# ---- harmless


@pytest.fixture(scope="module", params=known())
def of_a_hostile_log(request: pytest.FixtureRequest, tmp_path_factory: Any) -> list[str]:
    path = hostile.write(tmp_path_factory.mktemp("hostile") / "<b>a&b.jsonl")
    log = replay.load(path)
    return [*everything(log, request.param), replay.check_log(path, rules=LATEST)._repr_html_()]


def test_a_hostile_log_adds_no_element_and_no_attribute(of_a_hostile_log: list[str]) -> None:
    roots = [parsed(html) for html in of_a_hostile_log]
    drawn = {e for root in roots for svg in root.iter("svg") for e in svg.iter()}
    assert {element.tag for element in drawn} == DRAWN
    assert all(set(element.attrib) <= DRAWN_BY for element in drawn)
    elements = {element for root in roots for element in root.iter()} - drawn
    assert {element.tag for element in elements} <= ELEMENTS
    attributes = [item for element in elements for item in element.attrib.items()]
    assert [(name, value) for name, value in attributes if value not in ATTRIBUTES[name]] == []


def test_a_hostile_log_hides_and_reorders_nothing(of_a_hostile_log: list[str]) -> None:
    for html in of_a_hostile_log:
        seen = " ".join(parsed(html).itertext()).replace("\u00a0", " ").replace("\n", " ")
        assert not set(seen) & set(hostile.HIDDEN)
        assert hostile.HUGE not in seen
    board = text_of(of_a_hostile_log[0])
    assert shown(hostile.MARKUP, 32) in board
    assert shown(hostile.HUGE, 32) in board


def test_a_hostile_log_stays_small(of_a_hostile_log: list[str]) -> None:
    assert max(len(html.encode()) for html in of_a_hostile_log) <= 15_000


def test_words_written_from_right_to_left_are_isolated() -> None:
    (picture,) = pictures(of("r1#\u05d0").board(rules=LATEST)._repr_html_())
    assert text(picture.find("text")) == "\u05d0"  # alone in its place
    html = of("r1 +\u05d0\u05d1 +\u05d2").board(rules=LATEST).items[0]._repr_html_()
    assert "<bdi>\u05d0\u05d1</bdi>" in html
    assert "<bdi>\u05d2</bdi>" in html


def test_spaces_in_an_id_are_not_folded_together() -> None:
    (item,) = of("r1#a").board(rules=LATEST).items
    two = msgspec.structs.replace(item, work_id="a  b")
    assert "a\u00a0\u00a0b" in two._repr_html_()


@pytest.mark.parametrize("formula", ["$x$", "$$x$$", r"\(x\)", r"\[x\]"])
def test_a_formula_in_an_id_is_kept_from_mathematics(formula: str) -> None:
    (item,) = of("r1").board(rules=LATEST).items
    html = msgspec.structs.replace(item, work_id=formula)._repr_html_()
    assert parsed(html).get("class") == "tex2jax_ignore mathjax_ignore"
    assert shown(formula) in text_of(html)


# ---- History.board


@pytest.mark.parametrize(
    ("given", "until"),
    [
        ({}, {}),
        ({"at": 5}, {"sequence": 5}),
        ({"at": 0}, {"sequence": 0}),
        ({"minute": 9}, {"minute": 9}),
        ({"at": 5, "minute": "9"}, {"sequence": 5, "minute": 9}),
    ],
)
def test_a_board_is_the_projection_at_a_cutoff(given: Any, until: Any) -> None:
    board = NINE.board(rules=LATEST, **given)
    assert isinstance(board, Projection)
    assert board == replay.project(NINE.until(**until), rules=LATEST)


def test_a_text_is_a_time_in_utc() -> None:
    log = of("r1 + beat", basis="utc")
    time = str(replay.render(log.events[1].recorded_at, "utc"))
    assert log.board(rules=LATEST, at=time) == replay.project(log.until(time=time), rules=LATEST)


@pytest.mark.parametrize("at", [9.5, True, "minute 9"])
def test_a_cutoff_that_is_neither_a_sequence_nor_a_time_is_refused(at: Any) -> None:
    with pytest.raises(UsageError, match=re.escape(str(at))):
        of("r1", basis="utc").board(rules=LATEST, at=at)


def test_the_caller_names_the_rules() -> None:
    with pytest.raises(TypeError, match="rules"):
        NINE.board()  # type: ignore[call-arg]
    with pytest.raises(UnknownRulesError):
        NINE.board(rules="latest")
