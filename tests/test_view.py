"""`replay view`: what a page holds, what it leaves out, and that no text in it is code."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.report.view_pack import visible_json
from tests import hostile
from tests.command import PAPER, ROOT, Run, in_process, process
from tests.notation import history, lines

ASSETS = ROOT / "replay" / "report" / "assets"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capfdbinary)


def data_of(page: Path) -> Any:
    """The data block of a page, as a browser would read it."""
    html = page.read_text(encoding="utf-8")
    (block,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)
    return json.loads(block)


def scripts_of(page: Path) -> list[str]:
    return re.findall(r"<script>(.*?)</script>", page.read_text(encoding="utf-8"), re.S)


def test_a_page_is_one_file_with_every_event_and_work_item(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "paper.html"
    ran = run("view", PAPER, "-o", page)
    assert (ran.status, ran.out) == (0, b"")
    data = data_of(page)
    assert [event[1] for event in data["events"]] == [f"e{n}" for n in range(1, 10)]
    assert [item[0] for item in data["items"]] == ["W1"]
    assert data["limits"] == []
    assert [path.name for path in tmp_path.iterdir()] == ["paper.html"]


def test_the_same_log_rules_and_cutoff_give_the_same_bytes(run: Run, tmp_path: Path) -> None:
    run("view", PAPER, "-o", tmp_path / "one.html")
    process("view", PAPER, "-o", tmp_path / "other.html")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "other.html").read_bytes()


def test_what_a_cutoff_hides_is_not_in_the_file(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "early.html"
    assert run("view", PAPER, "--at-sequence", 5, "--at-minute", 9, "-o", page).status == 0
    data = data_of(page)
    assert [event[1] for event in data["events"]] == ["e1", "e2", "e3", "e4", "e5"]
    assert '"e6"' not in page.read_text(encoding="utf-8")
    assert data["cutoff"] == {"sequence": 5, "recorded": "minute 9", "observed": "minute 9"}
    ((episode,),) = (e[-1:] for e in data["items"][0][1]["episode"])
    assert episode[-1] == "6 min"


# Harmless


def test_only_the_scripts_and_styles_whose_hashes_the_policy_names_can_run(
    run: Run, tmp_path: Path
) -> None:
    page = tmp_path / "evil.html"
    run("view", hostile.write(tmp_path / "evil.jsonl"), "-o", page)
    html = page.read_text(encoding="utf-8")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    parts = [*scripts_of(page), *re.findall(r"<style>(.*?)</style>", html, re.S)]
    digests = [hashlib.sha256(part.encode()).digest() for part in parts]
    named = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    assert len(named) == 3
    assert re.findall(r"'sha256-[^']*'", policy) == named
    assert policy.startswith("default-src 'none'; script-src ")
    assert "unsafe" not in policy
    assert "http" not in policy


def test_no_text_of_a_log_stands_in_a_page_as_markup_or_unseen(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "evil.html"
    log = hostile.write(tmp_path / "<b>evil.jsonl")
    assert run("view", log, "-o", page).status == 0
    html = page.read_text(encoding="utf-8")
    assert "alert(1)" in html
    assert html.count("<script") == html.count("</script>") == 3
    for markup in ("<img", "<svg ", "<i>", "<b>", "<a href=javascript", "<!-- -->"):
        assert markup not in html
    assert not set(html) & set(hostile.HIDDEN)


def test_the_scripts_never_make_markup_or_code_of_text() -> None:
    ours = "".join(path.read_text(encoding="utf-8") for path in sorted(ASSETS.glob("*.js")))
    assert "textContent" in ours
    makers = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\("
    assert re.findall(makers, ours) == []
    assert re.findall(r"\b(?:fetch|XMLHttpRequest|WebSocket|sendBeacon|import)\s*\(", ours) == []


def test_no_part_of_a_page_names_another_place_to_load_from() -> None:
    for path in sorted(p for p in ASSETS.rglob("*") if p.suffix in (".js", ".css", ".html")):
        text = path.read_text(encoding="utf-8")
        places = set(re.findall(r"https?://[^\s\"'`)]+", text))
        # a namespace, and the first line of each file of d3, which is a comment
        known = {p for p in places if p.startswith(("http://www.w3.org/", "https://d3js.org/"))}
        assert places == known, path.name
        assert "url(" not in text
        assert "@import" not in text


def test_the_charts_licence_is_kept_beside_them() -> None:
    files = sorted((ASSETS / "d3").glob("*.js"))
    assert len(files) == 11
    assert all(
        re.match(r"// https://d3js\.org/\S+ v[0-9.]+ Copyright", f.read_text()) for f in files
    )
    assert "Permission to use, copy, modify" in (ASSETS / "d3" / "LICENSE").read_text()


@given(st.text())
def test_a_raw_line_is_shown_with_nothing_hidden_and_its_value_kept(text: str) -> None:
    line = json.dumps({"a": text}, ensure_ascii=False)
    shown = visible_json(line)
    assert json.loads(shown) == {"a": text}
    assert not set(shown) & set(hostile.HIDDEN)


# The lines behind it


def raw_lines(page: Path) -> list[str]:
    return [event[6] for event in data_of(page)["events"]]


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_raw_lines_are_those_of_the_file_spelled_as_there(
    run: Run, tmp_path: Path, suffix: str
) -> None:
    written = lines(history("r1 ci- +b1").events).decode().splitlines()
    spelled = [line.replace('":', '" : ') for line in written]
    data = "\r\n".join(["", *reversed(spelled)]).encode()
    log = tmp_path / f"spaced{suffix}"
    log.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    assert run("view", log, "-o", tmp_path / "page.html").status == 0
    assert raw_lines(tmp_path / "page.html") == spelled
    assert data_of(tmp_path / "page.html")["asStored"] is True


def test_of_standard_input_or_segments_an_equal_line_is_written_and_said_to_be_so(
    run: Run, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    ran = process("view", "-", "-o", page, stdin=PAPER.read_bytes())
    assert ran.status == 0, ran.err
    data = data_of(page)
    assert data["asStored"] is False
    stored = [json.loads(line) for line in PAPER.read_text().splitlines()]
    assert [json.loads(line)["event_id"] for line in raw_lines(page)] == [
        event["event_id"] for event in stored
    ]


def test_what_an_import_lost_is_on_the_page(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(PAPER.read_bytes())
    loss = {"field": "<b>body</b>", "count": 3, "reason": "free text"}
    losses = {
        "document": "replay.losses/1",
        "source": "h5i-msg",
        "order": "commit",
        "losses": [loss],
        "unavailable": ["delivery: \u202ewho has read it"],
    }
    (tmp_path / "log.jsonl.losses.json").write_text(json.dumps(losses))
    assert run("view", log, "-o", tmp_path / "page.html").status == 0
    found = data_of(tmp_path / "page.html")["losses"]
    assert found["losses"] == [loss]
    assert found["unavailable"] == [r"delivery: \u202ewho has read it"]


def test_a_list_of_losses_that_is_none_is_an_error_and_no_page(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"document":"replay.losses/1"}')
    ran = run("view", PAPER, "--losses", bad, "-o", tmp_path / "page.html")
    assert ran.status == 2
    assert "not a list of losses" in ran.err
    assert not (tmp_path / "page.html").exists()


def test_a_recovered_log_has_the_lines_that_were_kept_and_says_that_it_is_incomplete(
    run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "torn.jsonl"
    kept = PAPER.read_bytes().splitlines(keepends=True)[:3]
    log.write_bytes(b"".join([kept[0], b"not json\n", *kept[1:]]))
    assert run("view", log, "--recover", "-o", tmp_path / "page.html").status == 3
    assert raw_lines(tmp_path / "page.html") == [line.decode().rstrip("\n") for line in kept]
    assert data_of(tmp_path / "page.html")["notices"][-1].startswith("Incomplete:")


# How much of it


def many(path: Path, items: int, events: int) -> Path:
    """A log in which the items take turns."""
    with path.open("w") as file:
        for n in range(items * events):
            event = {
                "schema_version": "elapsed/1",
                "event_id": f"e{n}",
                "recorded_sequence": n + 1,
                "recorded_minute": n,
                "work_id": f"W{n % items:03d}",
                "type": "note",
                "payload": {"text": "x" * 200},
            }
            file.write(json.dumps(event) + "\n")
    return path


def test_more_work_items_than_the_limit_are_left_out_and_counted(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ran = run("view", many(tmp_path / "log.jsonl", 9, 5), "--max-items", 4, "-o", page)
    assert "4 of 9 work items shown; 20 of 45 events shown" in ran.err
    data = data_of(page)
    assert [item[0] for item in data["items"]] == ["W000", "W001", "W002", "W003"]
    assert data["limits"][0] == "4 of 9 work items shown"
    assert len(data["events"]) == 20


def test_a_page_stays_within_its_bytes_and_says_what_that_cost(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ran = run("view", many(tmp_path / "log.jsonl", 40, 40), "--max-bytes", 400_000, "-o", page)
    assert ran.status == 0
    assert page.stat().st_size <= 400_000
    shown = len(data_of(page)["items"])
    assert 0 < shown < 40
    assert f"{shown} of 40 work items shown" in ran.err


def test_one_item_too_large_is_shown_without_its_lines(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    ran = run("view", many(tmp_path / "log.jsonl", 1, 1500), "--max-bytes", 600_000, "-o", page)
    assert "0 of 1500 raw lines shown" in ran.err
    data = data_of(page)
    assert len(data["events"]) == 1500
    assert data["limits"] == ["0 of 1500 raw lines shown"]


def test_a_page_of_nothing_is_not_written(run: Run, tmp_path: Path) -> None:
    ran = run("view", PAPER, "--max-bytes", 1000, "-o", tmp_path / "page.html")
    assert ran.status == 2
    assert not (tmp_path / "page.html").exists()


def test_work_items_can_be_chosen(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run("view", many(tmp_path / "log.jsonl", 9, 5), "--work", "W007", "-o", page)
    data = data_of(page)
    assert [item[0] for item in data["items"]] == ["W007"]
    assert data["limits"] == [
        "1 of 9 work items shown",
        "5 of 45 events shown",
        *data["limits"][2:],
    ]


# Refusals


def test_a_refused_log_makes_no_page(run: Run, tmp_path: Path) -> None:
    bad = ROOT / "fixtures" / "refused" / "wrong_type.jsonl"
    ran = run("view", bad, "-o", tmp_path / "page.html")
    assert ran.status == 3
    assert "wrong_type" in ran.err
    assert not (tmp_path / "page.html").exists()


def test_a_page_never_overwrites_its_log(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(PAPER.read_bytes())
    assert run("view", log, "-o", log).status == 2
    assert log.read_bytes() == PAPER.read_bytes()


def test_an_empty_log_is_a_page_that_says_so(run: Run, tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_bytes(b"\n")
    assert run("view", empty, "-o", tmp_path / "page.html").status == 0
    data = data_of(tmp_path / "page.html")
    assert (data["events"], data["items"]) == ([], [])
