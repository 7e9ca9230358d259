"""`replay view`: what a page holds, what it leaves out, and that no text in it is code."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
import subprocess
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import replay
from replay.projection import Projection
from replay.report.safe import shown
from replay.report.view_pack import NO_STATE, UNDETERMINED, visible_json
from replay.report.view_why import NOT_A_WORD, shell_word
from replay.rules import known
from tests import certificates, hostile
from tests.command import CASES, PAPER, ROOT, Run, in_process, process
from tests.notation import history, lines

ASSETS = ROOT / "replay" / "report" / "assets"


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capfdbinary)


def data_of(page: Path, name: str = "data") -> Any:
    """A data block of a page, as a browser would read it."""
    html = page.read_text(encoding="utf-8")
    (block,) = re.findall(
        rf'<script type="application/json" id="{name}">(.*?)</script>', html, re.S
    )
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


# What the rules do not say


def states_of(projection: Projection) -> Counter[str]:
    return Counter(
        UNDETERMINED if item.undetermined_by else item.state.value or NO_STATE
        for item in projection.items
    )


@pytest.mark.parametrize("rules", known())
@pytest.mark.parametrize(
    "log", [*sorted(CASES.glob("*.jsonl")), *hostile.LOGS], ids=lambda log: log.stem
)
def test_at_every_event_a_page_counts_the_states_that_a_projection_there_has(
    run: Run, tmp_path: Path, log: Path, rules: str
) -> None:
    page = tmp_path / "page.html"
    assert run("view", log, "--rules", rules, "-o", page).status == 0
    data, history = data_of(page), replay.load(log)
    for number, event in enumerate(history.events):
        projection = replay.project(history.until(sequence=event.recorded_sequence), rules=rules)
        steps = [step for step in data["overview"] if step[0] <= number]
        counts = dict(zip(data["stateNames"], steps[-1][1:] if steps else (), strict=False))
        assert Counter(counts) == states_of(projection), event.event_id


def test_work_items_of_a_real_log_that_are_undetermined_are_not_counted_as_without_a_state(
    run: Run, tmp_path: Path
) -> None:
    messages = ROOT.parent / "shared" / "data" / "real" / "h5i" / "h5i_i5h_messages.jsonl"
    if not messages.exists():
        pytest.skip(f"no {messages.name} beside the repository")
    log, page = tmp_path / "log.jsonl", tmp_path / "page.html"
    recorded = messages.with_name("h5i_i5h_recorded.jsonl")
    assert run("import", "h5i-msg", messages, "--recorded", recorded, "-o", log).status == 0
    assert run("view", log, "--rules", "coordination/1", "-o", page).status == 0
    data = data_of(page)
    counts = dict(zip(data["stateNames"], data["overview"][-1][1:], strict=True))
    projection = replay.project(replay.load(log).until(), rules="coordination/1")
    assert Counter(counts) == states_of(projection)
    assert counts[UNDETERMINED] > 0
    said = f"{counts[UNDETERMINED]} of {len(projection.items)} work items are undetermined"
    assert any(notice.startswith(said) for notice in data["notices"])


def test_an_undetermined_stretch_names_its_events_and_ends_what_was_shown_before(
    run: Run, tmp_path: Path
) -> None:
    page, log = tmp_path / "page.html", CASES / "concurrent-blockers.jsonl"
    run("view", log, "--rules", "coordination/1", "-o", page)
    (first, *_) = data_of(page)["items"]
    names = [event[1] for event in data_of(page)["events"]]
    shown_as = [(names[i[0]], i[2], [names[ref] for ref in i[5]]) for i in first[1]["state"]]
    assert shown_as == [
        ("x1", "active", ["x1"]),
        ("x2", "blocked", ["x2"]),
        ("x3", "undetermined", ["x3"]),
    ]


# Why


@pytest.mark.parametrize("rules", known())
@pytest.mark.parametrize("log", [*sorted(CASES.glob("*.jsonl"))[::4], PAPER], ids=lambda p: p.stem)
def test_a_certificate_gives_the_answer_and_no_part_with_one_event_less_does(
    run: Run, tmp_path: Path, log: Path, rules: str
) -> None:
    page = tmp_path / "page.html"
    run("view", log, "--rules", rules, "-o", page)
    data, prefix = data_of(page), replay.load(log).until()
    by_id = {event.event_id: event for event in prefix.events}
    names = [event[1] for event in data["events"]]
    model = certificates.Model(rules, prefix)
    for name, _, *rest in data["items"]:
        for question, of, refs, irredundant in rest[0] if rest else ():
            subject = None if of is None else names[of]
            answer = partial(model.answer, question=question, work_id=name, of=subject)
            kept = [by_id[names[ref]] for ref in refs]
            assert irredundant
            assert certificates.fault(kept, answer, answer(prefix.events)) == ""


def test_a_page_has_a_certificate_for_the_state_of_its_item_and_for_its_claim(
    run: Run, tmp_path: Path
) -> None:
    run("view", PAPER, "-o", tmp_path / "page.html")
    data = data_of(tmp_path / "page.html")
    assert [(why[0], why[1]) for why in data["items"][0][2]] == [("state", None), ("claim", 7)]
    assert data["certificates"] == ["1 of 1 states", "1 of 1 claims"]


def test_certificates_are_looked_for_until_the_work_is_enough_and_counted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay.page._FOLDS", 200)
    run("view", many(tmp_path / "log.jsonl", 9, 20), "-o", tmp_path / "page.html")
    (states,) = data_of(tmp_path / "page.html")["certificates"]
    asked, _, of, what = states.split()
    assert (0 < int(asked) < 9, of, what) == (True, "9", "states")


NO_NUL = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


@settings(max_examples=30, deadline=None)
@given(st.lists(NO_NUL | st.sampled_from(["-", "''", "\n", "$'x'", "\\", "a\\nb", "!"])))
def test_a_shell_reads_a_word_as_the_text_that_it_stands_for(texts: list[str]) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed, so no word is read")
    command = " ".join(["printf '%s\\0'", *map(shell_word, texts)])
    found = subprocess.run([bash, "-c", command], capture_output=True, check=True).stdout
    assert found.split(b"\0")[:-1] == [text.encode() for text in texts] or (not texts)


@given(st.text())
def test_a_word_hides_nothing(text: str) -> None:
    word = shell_word(text)
    assert (word == NOT_A_WORD) == ("\0" in text)
    assert shown(word).replace("\\\\", "\\") == word


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


@pytest.mark.parametrize("hostile_log", hostile.LOGS, ids=lambda log: log.stem)
def test_no_text_of_a_log_stands_in_a_page_as_markup_or_unseen(
    run: Run, tmp_path: Path, hostile_log: Path
) -> None:
    page = tmp_path / "evil.html"
    log = tmp_path / "<b>evil.jsonl"
    log.write_bytes(hostile_log.read_bytes())
    assert run("view", log, "-o", page).status == 0
    html = page.read_text(encoding="utf-8")
    assert html.count("<script") == html.count("</script>") == 4
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
    found: list[str] = data_of(page, "lines")
    return found


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
