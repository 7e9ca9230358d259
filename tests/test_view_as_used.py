"""A page in use: what is undetermined, how one gets about in it, on paper, why, and at size."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import replay
from replay.cli import main
from replay.report.safe import shown
from replay.report.view_why import shell_word
from tests import hostile
from tests.browser import Tab, chromium
from tests.command import CASES, PAPER, Run, in_process

WIDTHS: Final = (1280, 390)
CONCURRENT: Final = CASES / "concurrent-blockers.jsonl"
NOT_COVERED: Final = "not covered by coordination/1"
A4: Final = 718  # pixels between the margins

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
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capfdbinary)


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """The paper's log as if it were imported, with a list of losses beside it."""
    log = tmp_path / "imported.jsonl"
    log.write_bytes(PAPER.read_bytes())
    losses = {
        "document": "replay.losses/1",
        "source": "h5i-msg",
        "order": "commit",
        "losses": [{"field": "body", "count": 3, "reason": "free text"}] * 30,
        "unavailable": ["delivery"],
    }
    (tmp_path / "imported.jsonl.losses.json").write_text(json.dumps(losses))
    return log


# What the rules do not say


def test_undetermined_is_said_wherever_a_state_is_with_its_events(browser: Any, view: View) -> None:
    tab = Tab(browser, view(CONCURRENT, "--rules", "coordination/1"))
    tab.page.locator("#live", has_text="Work items").wait_for(state="attached")
    heard = tab.page.text_content("#live")
    assert heard.endswith(f"Work items: 2 undetermined ({NOT_COVERED}: x3, x8).")
    assert tab.text("#counts").startswith(f"2 undetermined ({NOT_COVERED}: x3")
    lanes = tab.page.evaluate(
        "[...document.querySelectorAll('#lanes-rows svg')].map(s => s.ariaLabel).filter(Boolean)"
    )
    assert lanes[0] == (
        "Lane of W1: active from sequence 1, blocked from sequence 2, "
        f"undetermined ({NOT_COVERED}: x3) from sequence 3."
    )
    assert "no state" not in tab.text("main")
    assert "none" not in tab.text("#board-rows")
    item = tab.text("#item-body")
    assert item.count("undetermined") >= 4  # state, revision, and two of the clocks
    assert f"{NOT_COVERED}: x3" in item
    for fact in ("none", "No event counts", "No blocker is open", "Nothing to show"):
        assert fact not in item
    assert "Undetermined, too: blockers, claims, receipts, corrections, anomalies." in item
    tab.page.close()


def test_an_event_that_is_not_covered_withdraws_nothing(browser: Any, view: View) -> None:
    tab = Tab(browser, view(CONCURRENT, "--rules", "coordination/1"))
    tab.at(3)
    assert tab.text("#changes").split("\n")[-1].endswith("coordination/1 does not cover x3")
    assert "withdrawn" not in tab.text("#changes")
    tab.at(5)
    assert "stay undetermined" in tab.text("#changes")
    tab.page.close()


def test_events_without_a_work_item_are_told_the_one_clock_that_they_have(
    browser: Any, view: View
) -> None:
    tab = Tab(browser, view(CASES / "unassigned-inert-and-gaps.jsonl"))
    tab.page.locator("#account [data-item]").click()
    assert tab.text("#item-title") == "Events without a work item"
    assert len(tab.page.query_selector_all("#item .clock")) == 1
    assert "none" not in tab.text("#item .clocks")
    tab.page.close()


def test_what_a_log_does_not_say_is_not_called_none(browser: Any, view: View) -> None:
    tab = Tab(browser, view(PAPER))
    receipts = tab.cells("#item table[aria-label='Receipts']")
    assert [row[5] for row in receipts] == ["local", *["notrecorded"] * 3]
    assert tab.cells("#item table[aria-label='Blockers']")[0][1] == "noid"
    assert tab.page.query_selector("#item .listed .none") is None
    tab.page.close()


# Getting about


@pytest.mark.parametrize("width", WIDTHS)
def test_whatever_a_link_leads_to_comes_to_rest_below_the_bar(
    browser: Any, view: View, imported: Path, width: int
) -> None:
    tab = Tab(browser, view(imported), width=width)
    links = tab.page.locator("a[href^='#']")
    assert links.count() == 2
    targets = {"#board": "#board-title", "#losses": "#losses h3"}
    for number in range(links.count()):
        tab.page.evaluate("scrollTo(0, 0)")
        links.nth(number).focus()
        tab.page.keyboard.press("Enter")
        place = targets[links.nth(number).get_attribute("href")]
        assert below_the_bar(tab, place), place
    tab.page.locator("table.board [data-item]").click()
    assert below_the_bar(tab, "#item-title")
    assert tab.noises == []
    tab.page.close()


def below_the_bar(tab: Tab, place: str) -> bool:
    tab.page.wait_for_timeout(100)
    found: bool = tab.page.evaluate(
        """place => {
          const box = document.querySelector(place).getBoundingClientRect();
          const bar = document.querySelector('.cutoff').getBoundingClientRect();
          return box.top >= bar.bottom && box.bottom <= innerHeight;
        }""",
        place,
    )
    return found


@pytest.mark.parametrize("bad", ["-3", "4.5", "10", "99999999999999999999", "e4", ""])
def test_a_sequence_that_is_none_says_what_was_expected_and_moves_nothing(
    browser: Any, view: View, bad: str
) -> None:
    tab = Tab(browser, view(PAPER))
    tab.at(4)
    assert tab.page.text_content("#said") == ""
    tab.page.fill("#sequence", bad)
    tab.page.press("#sequence", "Enter")
    said = tab.text("#said")
    assert said.startswith("Expected a whole number from 0 (before the first event) to 9, found")
    assert f"\u201c{bad}\u201d" in said
    assert tab.page.get_attribute("#said", "role") == "status"
    assert (tab.page.input_value("#sequence"), tab.text("#position strong")) == ("4", "Sequence 4")
    tab.at(5)
    assert tab.page.text_content("#said") == ""
    tab.page.close()


def test_the_page_says_how_to_come_to_a_time_between_events(browser: Any, view: View) -> None:
    tab = Tab(browser, view(PAPER))
    assert "from recorded event to recorded event" in tab.text("#between")
    assert "--at-minute M" in tab.text("#between")
    tab.page.close()


def test_a_narrow_page_has_few_and_short_cards_before_the_lanes(
    browser: Any, view: View, tmp_path: Path
) -> None:
    tab = Tab(browser, view(workload(tmp_path / "log.jsonl", 500)), width=390)
    assert tab.text("#board-count") == "6 of 100 work items shown"
    heights = tab.page.evaluate(
        "[...document.querySelectorAll('.board tbody tr')].map(row => row.offsetHeight)"
    )
    assert max(heights) <= 150
    assert not tab.page.is_visible(".board td[data-empty]")
    tab.page.close()


# Signs and words


def test_a_receipt_that_is_not_current_has_a_hollow_sign_and_says_so(
    browser: Any, view: View
) -> None:
    tab = Tab(browser, view(PAPER))
    signs = tab.page.evaluate(
        "[...document.querySelectorAll('.mark[data-event]')]"
        ".map(m => [m.dataset.says, m.hasAttribute('data-hollow'), getComputedStyle(m).fill])"
    )
    receipts = [(says, hollow) for says, hollow, _ in signs if not says.startswith("claim")]
    assert receipts == [
        ("ci passed, superseded by revision", True),
        ("ci failed, superseded by revision", True),
        ("ci passed, current", False),
        ("ci passed, stale on arrival", True),
    ]
    hollow = {fill for says, is_hollow, fill in signs if is_hollow}
    assert len(hollow) == 1
    assert hollow.isdisjoint(fill for _, is_hollow, fill in signs if not is_hollow)
    tab.at(3)
    says = "[...document.querySelectorAll('.mark')].map(m => m.dataset.says)"
    assert "ci failed, current" in tab.page.evaluate(says)
    tab.page.hover(".mark[data-event='2']")
    assert tab.page.text_content(".mark[data-event='2'] title") == "ci failed, current"
    tab.page.close()


def test_a_sign_of_what_was_withdrawn_says_that_it_was(browser: Any, view: View) -> None:
    tab = Tab(browser, view(CASES / "retracted-typo.jsonl"))
    says = "[...document.querySelectorAll('.mark[data-gone]')].map(m => m.dataset.says)"
    assert "receipt, withdrawn" in tab.page.evaluate(says)
    tab.page.close()


def test_the_axis_ends_with_the_last_event(browser: Any, view: View) -> None:
    tab = Tab(browser, view(PAPER))
    numbers = "[...document.querySelectorAll('.axis .tick text')].map(t => t.textContent)"
    assert tab.page.evaluate(numbers) == [str(n) for n in range(1, 10)]
    tab.page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_no_badge_breaks_inside_a_word(browser: Any, view: View, width: int) -> None:
    for log in (PAPER, *hostile.LOGS):
        tab = Tab(browser, view(log), width=width)
        for number in range(tab.page.locator("table.board [data-item]").count()):
            tab.page.locator("table.board [data-item]").nth(number).click()
            lines = tab.page.evaluate(
                "[...document.querySelectorAll('.badge span:not(.sign)')]"
                ".map(s => s.getClientRects().length)"
            )
            assert set(lines) == {1}
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
        tab.page.close()


def test_an_author_that_is_a_record_is_named_and_one_that_hides_something_is_left(
    browser: Any, view: View
) -> None:
    tab = Tab(browser, view(hostile.WORDS_LOG))
    tab.at(11)
    assert "by plain (as it says itself)" in tab.text("#changes")
    tab.at(10)
    assert r'{"id":"\\u202enimda","display":null}' in tab.text("#changes")
    tab.page.close()


# On paper


def test_on_paper_no_column_runs_into_the_next(browser: Any, view: View) -> None:
    tab = Tab(browser, view(hostile.WORDS_LOG), width=A4)
    tab.page.emulate_media(media="print")
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    out = tab.page.evaluate(
        """() => [...document.querySelectorAll('td, th')].flatMap(cell => {
          const right = cell.getBoundingClientRect().right;
          return [...cell.querySelectorAll('.time, button, bdi, .badge')]
            .filter(part => part.getBoundingClientRect().right > right + 1)
            .map(part => part.textContent);
        })"""
    )
    assert out == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= A4
    assert tab.page.pdf(format="A4").startswith(b"%PDF")
    tab.page.close()


# Why


def test_an_answer_says_which_events_it_rests_on_and_how_to_ask_further(
    browser: Any, view: View
) -> None:
    tab = Tab(browser, view(PAPER))
    assert "Rests on e6 e7 e8 alone" in tab.text("#item .derived").replace("\n", " ")
    tab.page.locator("#item .rests [data-event]").first.click()
    assert "Line 6 of the log" in tab.text("#detail")
    tab.page.keyboard.press("Escape")
    tab.page.click("#item [aria-label='Why: state']")
    assert tab.text("#detail .command") == (
        "replay explain paper-nine-events.jsonl W1 --why state --rules coordination/2"
    )
    tab.page.keyboard.press("Escape")
    assert tab.page.evaluate("document.activeElement.ariaLabel") == "Why: state"
    tab.at(5)
    tab.page.click("#item [aria-label='Why: episode e4']")
    assert tab.text("#detail .command") == (
        "replay explain paper-nine-events.jsonl W1 --why episode --of=e4 --at-sequence 5"
        " --rules coordination/2"
    )
    assert "Rests on" not in tab.text("#detail")
    assert tab.noises == []
    tab.page.close()


def test_the_command_has_the_cutoff_of_the_page(browser: Any, view: View) -> None:
    tab = Tab(browser, view(PAPER, "--at-sequence", 5, "--at-minute", 9))
    tab.page.click("#item [aria-label='Why: state']")
    assert "--at-sequence 5 --at-minute 9" in tab.text("#detail .command")
    tab.page.close()


@pytest.mark.parametrize("log", hostile.LOGS, ids=lambda log: log.stem)
def test_a_shell_that_is_given_the_command_asks_what_the_page_answers(
    browser: Any, view: View, run: Run, log: Path
) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed, so no command is read")
    tab = Tab(browser, view(log))
    asked = 0
    by_name = {shown(e.work_id, 96): e.work_id for e in replay.load(log).events if e.work_id}
    for number in range(tab.page.locator("table.board [data-item]").count()):
        button = tab.page.locator("table.board [data-item]").nth(number)
        button.click()
        work_id = by_name[button.inner_text()]
        for why in range(tab.page.locator("#item .why").count()):
            tab.page.locator("#item .why").nth(why).click()
            commands = tab.page.locator("#detail .command").all_inner_texts()
            tab.page.keyboard.press("Escape")
            if "\0" in work_id:
                assert commands == []
                continue
            command, *words = words_of(bash, commands[0], log)
            ran = run(command, "--format", "json", *words)
            assert ran.status == 0, (commands, ran.err)
            assert json.loads(ran.out)["asked"]["work_id"] == work_id
            asked += 1
    assert asked > 12
    assert tab.noises == []
    tab.page.close()


def words_of(bash: str, command: str, log: Path) -> list[str]:
    """The arguments that a shell would start `replay` with, run where the log is."""
    script = f"replay() {{ printf '%s\\0' \"$@\"; }}\n{command}"
    ran = subprocess.run([bash, "-c", script], capture_output=True, check=True, cwd=log.parent)
    words = ran.stdout.decode().split("\0")[:-1]
    return [str(log) if word == log.name else word for word in words]


def test_a_log_that_is_no_one_file_is_asked_for_by_a_reader(
    browser: Any, view: View, tmp_path: Path
) -> None:
    (tmp_path / "parts").mkdir()
    lines = PAPER.read_bytes().splitlines(keepends=True)
    (tmp_path / "parts" / "a.jsonl").write_bytes(b"".join(lines[:4]))
    (tmp_path / "parts" / "b.jsonl").write_bytes(b"".join(lines[4:]))
    tab = Tab(browser, view(tmp_path / "parts", "--segments"))
    tab.page.click("#item [aria-label='Why: state']")
    assert tab.text("#detail .command").startswith("replay explain LOG W1 ")
    assert shell_word("LOG") == "LOG"
    tab.page.close()


# At size


def test_ten_thousand_events_open_with_few_of_them_drawn(
    browser: Any, view: View, tmp_path: Path
) -> None:
    tab = Tab(browser, view(workload(tmp_path / "log.jsonl", 10_000)))
    assert "event 10000 of 10000" in tab.text("#position")
    assert tab.text("#board-count") == "15 of 100 work items shown"
    assert counts(tab, "#board-rows tbody tr", "#log-rows tbody tr", ".lane:not(.axis)") == [
        *(15, 25, 16)  # the lanes with the one of all work items
    ]
    (rows,) = counts(tab, "#item tbody tr")
    assert rows <= 6 * 20
    assert counts(tab, ".raw", ".mark title") == [0, 0]
    (elements,) = counts(tab, "body *")
    assert elements <= 10_000
    tab.page.click("#board-rows .more")
    assert tab.text("#board-count") == "100 of 100 work items shown"
    tab.page.click("#item details.lines summary")
    tab.page.wait_for_selector("#item .raw")
    assert counts(tab, "#item .raw") == [20]
    assert tab.noises == []
    tab.page.close()


def test_what_is_first_seen_is_drawn_first(browser: Any, view: View, tmp_path: Path) -> None:
    page = view(workload(tmp_path / "log.jsonl", 2_000))
    tab = Tab(browser, page, watch=DRAWN_AT_LOAD)
    assert tab.page.evaluate("window.drawnAtLoad") == {"board": 15, "lanes": 0, "item": 0, "log": 0}
    assert counts(tab, "#log-rows tbody tr") == [25]
    tab.page.close()


DRAWN_AT_LOAD: Final = """
document.addEventListener('DOMContentLoaded', () => {
  const rows = place => document.querySelectorAll(place).length;
  window.drawnAtLoad = {
    board: rows('#board-rows tbody tr'), lanes: rows('#lanes-rows > *'),
    item: rows('#item-body > *'), log: rows('#log-rows tbody tr'),
  };
});
"""


def counts(tab: Tab, *places: str) -> list[int]:
    return [tab.page.locator(place).count() for place in places]


def workload(path: Path, events: int) -> Path:
    with path.open("w") as file:
        file.writelines(json.dumps(event) + "\n" for event in many(events))
    return path


def many(events: int) -> Iterator[dict[str, Any]]:
    """A hundred work items that take turns at being blocked, resumed and checked."""
    turns = ("artifact.published", "blocker.raised", "check.completed", "note", "review.requested")
    for n in range(events):
        item, turn = n % 100, turns[n // 100 % 5]
        event: dict[str, Any] = {
            "schema_version": "elapsed/1",
            "event_id": f"event-{n:08d}",
            "recorded_sequence": n + 1,
            "recorded_minute": n,
            "work_id": f"item-{item:03d}",
            "type": turn,
            "payload": {"text": "x" * 150},
            "artifact_revision": f"r{n // 500}",
        }
        if turn == "check.completed":
            event["payload"] = {"check": "ci", "outcome": "passed"}
            event["causes"] = [f"event-{n - 100:08d}"]
        yield event
