"""A page as people meet it: opened from disk at two widths, with eyes, keys and a reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from replay.cli import main
from replay.document import projection_document
from replay.report.safe import shown
from replay.report.view_pack import printed
from replay.report.words import ANOMALIES, CLAIMS, NBSP, duration
from replay.rules import named
from tests import hostile
from tests.browser import Tab, chromium
from tests.command import PAPER, ROOT

WIDTHS: Final = (1280, 390)
CASES: Final = (
    *("paper-nine-events", "explicit-correction", "correction-of-a-correction"),
    *("two-blockers-at-once", "completion-while-blocked", "reopened-work", "receipt-status"),
    *("asserted-status-as-of", "unassigned-inert-and-gaps", "what-corrects-nothing"),
    *("cancelled-blocker-is-not-recovery", "replaced-raise-keeps-its-clock"),
)

View = Callable[..., Path]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as context:
        yield context


@pytest.fixture
def view(tmp_path: Path) -> View:
    """Writes the page of a log; its path."""

    def write(log: Path, *options: object) -> Path:
        page = tmp_path / f"{len([*tmp_path.iterdir()])}.html"
        assert main(["view", str(log), "-o", str(page), *map(str, options)]) == 0
        return page

    return write


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    return hostile.write(tmp_path / "evil.jsonl")


def case(name: str) -> Path:
    return ROOT / "fixtures" / "cases" / f"{name}.jsonl"


# What it shows is what is derived


def bare(*parts: object) -> str:
    return re.sub(r"\s+", "", "".join(map(str, parts)))


def mark(value: Mapping[str, Any] | None) -> str:
    if value is None:
        return "none"
    return bare(printed(value["time"]), shown(value["event_id"]))


def ids(values: Sequence[str]) -> str:
    return bare(*map(shown, values)) or "none"


def code(text: str) -> str:
    return bare(text.replace("_", " "))


def optional(text: str | None, nothing: str = "none") -> str:
    return bare(nothing if text is None else shown(text))


def board_row(item: Mapping[str, Any], rules: str) -> list[str]:
    state, clocks, name = item["state"], item["clocks"], bare(shown(item["work_id"]))
    if item["undetermined_by"]:
        said = bare("undetermined not covered by", rules, ":", ids(item["undetermined_by"][:3]))
        more = len(item["undetermined_by"]) - 3
        said += f"and{more}more" if more > 0 else ""
        last = mark(clocks["last_message"])
        return [name, said, "undetermined", last, "undetermined", "undetermined"]
    said = f"{code(state['value'])}since{mark(state['since'])}" if state["value"] else "nostate"
    return [
        name,
        said,
        optional(item["revision"]["value"]),
        *(mark(clocks[name]) for name in ("last_message", "last_progress", "blocked_since")),
    ]


def episode_row(episode: Mapping[str, Any]) -> list[str]:
    end, lasted = episode["end"], duration(episode["elapsed_seconds"]).replace(NBSP, "")
    is_open = end["kind"] == "censored"
    return [
        mark(episode["opened"]),
        optional(episode["blocker_id"], "no id"),
        ids(episode["repeats"]),
        "stillopen" if is_open else f"{code(end['kind'])}after{lasted},at{mark(end['by'])}",
        "none" if is_open else ids(end["evidence"]),
    ]


def claim_row(claim: Mapping[str, Any]) -> list[str]:
    return [
        bare(shown(claim["event_id"])),
        bare(CLAIMS[claim["claim"]]),
        bare(code(claim["verdict"]), *map(shown, claim["missing"])),
        ids(claim["evidence"]),
        claim["rule"],
    ]


def receipt_row(receipt: Mapping[str, Any]) -> list[str]:
    return [
        bare(shown(receipt["event_id"])),
        optional(receipt["check"], receipt["type"].partition(".")[0]),
        code(receipt["outcome"]),
        optional(receipt["revision"], "not named"),
        code(receipt["status"]),
        optional(receipt["source"], "not recorded"),
        optional(receipt["principal"], "not recorded"),
    ]


def correction_row(correction: Mapping[str, Any]) -> list[str]:
    target, reason = shown(correction["target"]), optional(correction["reason"], "not given")
    return [bare(shown(correction["event_id"])), bare(target), correction["status"], reason]


def anomaly_row(anomaly: Mapping[str, Any]) -> list[str]:
    related = ids(anomaly["related"])
    text = ANOMALIES[anomaly["code"]].format(event=shown(anomaly["event_id"]), related=related)
    return [code(anomaly["code"]), bare(text)]


LISTS: Final[Mapping[str, tuple[str, Callable[[Mapping[str, Any]], list[str]]]]] = {
    "Blockers": ("episodes", episode_row),
    "Claims": ("claims", claim_row),
    "Receipts": ("receipts", receipt_row),
    "Corrections": ("corrections", correction_row),
    "Anomalies": ("anomalies", anomaly_row),
}


def shows(tab: Tab, item: Mapping[str, Any], *, at_end: bool) -> None:
    """Assert that the panel of a work item has its lists, to the row."""
    for title, (name, row) in LISTS.items():
        expected = sorted(row(value) for value in item[name] or ())
        rows = [
            cells[: len(expected[0]) if expected else 0]
            for cells in tab.cells(f"#item table[aria-label='{title}']")
        ]
        if at_end and title == "Blockers":  # the page's end is the projection's cutoff
            rows = [[re.sub(r"^stillopen,.*atthecutoff$", "stillopen", c) for c in r] for r in rows]
        assert sorted(rows) == expected, (title, item["work_id"])


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        *((name, "coordination/2") for name in CASES),
        *((name, "coordination/1") for name in CASES[:2]),
    ],
)
def test_at_every_sequence_the_page_says_what_a_projection_there_says(
    browser: Any, view: View, name: str, rules: str
) -> None:
    import replay

    history = replay.load(case(name))
    tab = Tab(browser, view(case(name), "--rules", rules))
    for event in history.events:
        sequence = event.recorded_sequence
        tab.at(sequence)
        projection = named(rules).project(history.until(sequence=sequence))
        items: Any = projection_document(projection, named(rules))["items"]
        assert tab.cells("table.board") == [board_row(item, rules) for item in items], sequence
        for number, item in enumerate(items):
            tab.page.locator("table.board [data-item]").nth(number).click()
            shows(tab, item, at_end=event is history.events[-1])
    assert tab.noises == []
    tab.page.close()


# Harmless, whatever the log says


@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_text_runs_nothing_asks_for_nothing_and_stays_in_its_place(
    browser: Any, view: View, evil: Path, width: int
) -> None:
    tab = Tab(browser, view(evil), width=width)
    for sequence in range(1, 10):
        tab.at(sequence)
    for number in range(4):
        tab.page.locator("table.board [data-item]").nth(number).click()
        tab.page.locator("#item [data-event]").first.click()
        tab.page.keyboard.press("Escape")
    tab.page.fill("#search", "<script>")
    assert "alert(1)" in tab.text("#board-rows")
    assert (
        tab.page.evaluate("document.querySelectorAll('img, i, b, a[href^=javascript]').length") == 0
    )
    assert tab.page.evaluate("document.scripts.length") == 4
    everything = tab.page.evaluate("document.body.innerText")
    assert not set(everything) & set(hostile.HIDDEN)
    assert r"\u202egnp.exe\u2066" in everything
    assert tab.noises == []
    tab.page.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(
    browser: Any, view: View, evil: Path, width: int, theme: str
) -> None:
    for log in (PAPER, evil):
        tab = Tab(browser, view(log), width=width)
        tab.page.emulate_media(color_scheme=theme)
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
        tab.page.close()


# For everybody


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_accessibility_checker_finds_nothing(
    browser: Any, view: View, evil: Path, width: int, theme: str
) -> None:
    checker = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-core is not installed"
    )
    for log in (PAPER, evil):
        tab = Tab(browser, view(log), width=width)
        tab.page.emulate_media(color_scheme=theme)
        tab.page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        found = checker.Axe().run(tab.page).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []
        tab.page.locator("[data-event]").first.click()
        found = checker.Axe().run(tab.page).response["violations"]
        assert [(v["id"], v["nodes"][0]["html"]) for v in found] == []
        tab.page.close()


def test_everything_is_done_with_keys(browser: Any, view: View) -> None:
    tab = Tab(browser, view(PAPER))
    keys = tab.page.keyboard
    keys.press("Tab")
    assert tab.page.evaluate("document.activeElement.textContent") == "Skip to the board"
    tab.page.focus("#slider")
    for key, sequence in (("ArrowLeft", 8), ("ArrowLeft", 7), ("ArrowRight", 8), ("End", 9)):
        keys.press(key)
        assert tab.page.input_value("#sequence") == str(sequence)
    keys.press("Home")
    assert "Before the first event" in tab.text("#position")
    keys.press("End")
    tab.page.locator("table.board [data-event]").first.focus()
    keys.press("Enter")
    assert "Line 8 of the log" in tab.text("#detail")
    assert PAPER.read_text().splitlines()[7] in tab.text("#detail .raw")
    keys.press("Escape")
    assert not tab.page.is_visible("#detail")
    assert tab.page.evaluate("document.activeElement.dataset.event") == "7"
    tab.page.locator("table.board [data-item]").focus()
    keys.press("Enter")
    assert tab.page.evaluate("document.activeElement.id") == "item"
    assert tab.noises == []
    tab.page.close()


def test_a_screen_reader_hears_where_the_slider_came_to_rest(browser: Any, view: View) -> None:
    tab = Tab(browser, view(case("explicit-correction")))
    tab.page.focus("#slider")
    for _ in range(6):
        tab.page.keyboard.press("ArrowLeft")
    value = tab.page.get_attribute("#slider", "aria-valuetext")
    assert value == "Sequence 3, minute 2, artifact.published"
    tab.page.locator("#live", has_text="Sequence 3").wait_for(state="attached")
    assert tab.page.text_content("#live").startswith(f"{value}. Work items: 1 blocked, 1 active")
    tab.page.close()


def test_a_rule_says_its_sentence(browser: Any, view: View) -> None:
    tab = Tab(browser, view(PAPER))
    tab.page.locator("[data-rule='2/readiness']").first.click()
    rule = next(rule for rule in named("coordination/2").rules if rule.id == "2/readiness")
    assert rule.sentence in tab.text("#detail")
    tab.page.close()


def test_the_address_keeps_the_place(browser: Any, view: View) -> None:
    page = view(case("explicit-correction"))
    tab = Tab(browser, page)
    tab.at(5)
    tab.page.locator("table.board [data-item]").nth(1).click()
    tab.page.wait_for_url("**#sequence=5&item=1")
    again = Tab(browser, page, place="#sequence=5&item=1")
    assert "Sequence 5" in again.text("#position")
    assert again.text("#item-title") == "Work item W2"
    tab.page.close()
    again.page.close()


def test_a_search_finds_items_and_events_and_counts_both(browser: Any, view: View) -> None:
    tab = Tab(browser, view(case("explicit-correction")))
    tab.page.fill("#search", "Z1")
    assert [row[0] for row in tab.cells("table.board")] == ["W3"]
    assert tab.text("#board-count") == "1 of 3 work items shown, 1 found"
    assert {row[4] for row in tab.cells("#log table")} == {"W3"}
    assert len(tab.page.query_selector_all(".lane-name [data-item]")) == 1
    tab.page.fill("#search", "no such text")
    assert tab.text("#board-rows") == "No work item is found."
    tab.page.close()


def test_colours_follow_the_system_and_the_button(browser: Any, view: View) -> None:
    tab = Tab(browser, view(PAPER))
    ground = "getComputedStyle(document.body).backgroundColor"
    tab.page.emulate_media(color_scheme="light")
    light = tab.page.evaluate(ground)
    tab.page.emulate_media(color_scheme="dark")
    dark = tab.page.evaluate(ground)
    assert light != dark
    tab.page.click("#theme")
    assert (tab.text("#theme"), tab.page.evaluate(ground)) == ("Colours: light", light)
    tab.page.click("#theme")
    assert (tab.text("#theme"), tab.page.evaluate(ground)) == ("Colours: dark", dark)
    tab.page.close()


def test_on_paper_the_answers_stay_and_the_controls_go(browser: Any, view: View) -> None:
    tab = Tab(browser, view(PAPER))
    tab.page.emulate_media(media="print", color_scheme="dark")
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for answer in ("table.board", "#lanes-rows svg", "#item-body .clocks", "#item .raw"):
        assert tab.page.is_visible(answer)
    for control in ("#slider", "#theme", "#search"):
        assert not tab.page.is_visible(control)
    assert (
        tab.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    )
    assert tab.page.pdf(format="A4").startswith(b"%PDF")
    tab.page.close()


def test_lanes_draw_what_was_shown_and_follow_the_axis(browser: Any, view: View) -> None:
    tab = Tab(browser, view(PAPER))
    states = tab.page.evaluate("[...document.querySelectorAll('.state')].map(s => s.dataset.code)")
    assert states == ["active", "blocked", "active", "awaiting_review"]
    label = tab.page.get_attribute("#lanes-rows svg", "aria-label")
    assert label.startswith("Lane of W1: active from sequence 1, blocked from sequence 4")
    width = "document.querySelectorAll('.state rect')[3].getBBox().width"
    before = tab.page.evaluate(width)
    tab.page.check("[value=time]")
    assert tab.page.evaluate(width) != before
    assert "minutes since the log began" in tab.text("#lanes-rows")
    tab.page.close()
