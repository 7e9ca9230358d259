"""Text output reads well in 80 columns: golden files, and laws for text of any kind.

`REPLAY_RECORD=1 pytest tests/test_text.py` writes the golden files anew; read the diff.
"""

from __future__ import annotations

import copy
import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replay.errors import REFUSAL_CODES
from replay.projection import ANOMALY_CODES
from replay.questions import QUESTIONS
from replay.report.board import MAX_ITEMS
from replay.report.safe import columns
from replay.report.text import (
    check_text,
    projection_text,
    projections_text,
    questions_text,
    refusal_text,
    rules_text,
)
from replay.report.words import ANOMALIES, NBSP, REFUSALS, duration, number, value_words, wrapped
from tests import documents as written
from tests.documents import Json

GOLDEN = Path(__file__).parent / "recorded" / "text"
SGR = re.compile(r"\x1b\[[0-9;]*m")


def check_of_three() -> Json:
    return written.check(
        written.checked(),
        written.unanswered("accepted", projection=written.everything()),
        written.unanswered("refused", refusal=written.refusal()),
        exit_status=3,
    )


def agreeing() -> Json:
    """The nine events, and an oracle that is right in its two answers."""
    log = written.checked()
    answers = log["answers"][:2]
    summary = {"agree": 2, "disagree": 0, "undetermined": 0}
    return written.check({**log, "outcome": "agree", "answers": answers, "summary": summary})


RULES: Json = {
    "document": "replay.rules/1",
    "tool": written.TOOL,
    "rules": [
        {
            "id": "coordination/1",
            "digest": f"sha256:{written.DIGEST}",
            "rules": [
                {"id": "1/revision", "sentence": "The current revision is the latest announced."},
                {
                    "id": "1/receipt",
                    "sentence": "A receipt is bound to a revision, and certifies only the revision"
                    " that is current at the cutoff.",
                },
            ],
        }
    ],
}
CATALOGUE: Json = {
    "document": "replay.questions/1",
    "tool": written.TOOL,
    "questions": [
        {"id": q.id, "of": q.of, "expect": q.expect, "sentence": q.sentence} for q in QUESTIONS
    ],
}
CONFLICT = written.refusal(
    code="conflicting_duplicate",
    pointer="/payload",
    expected="the same value as event 'e4' has on line 4",
    found="another one at /payload/outcome, /artifact_revision",
    related=[{"file": "clone-of-the-log.jsonl", "line": 4}],
)
TRUNCATED = written.refusal(
    code="truncated_input", line=None, byte_offset=None, pointer=None, found="half a member"
)


def both(document: Json) -> Json:
    return {
        "document": "replay.projections/1",
        "tool": written.TOOL,
        "logs": [
            {"projection": document, "refusal": None},
            {"projection": None, "refusal": CONFLICT},
        ],
        "exit": 3,
    }


TEXTS: dict[str, Callable[[], str]] = {
    "projection-paper-early": lambda: projection_text(written.paper_early()),
    "projection-paper-full": lambda: projection_text(written.paper_full()),
    "projection-everything": lambda: projection_text(written.everything()),
    "projection-paper-colour": lambda: projection_text(written.paper_early(), colour=True),
    "projections": lambda: projections_text(both(written.paper_early())),
    "check-agree": lambda: check_text(agreeing(), oracles=[written.ORACLE]),
    "check-disagree": lambda: check_text(
        written.check(written.checked(), exit_status=1), oracles=[written.ORACLE]
    ),
    "check-three-logs": lambda: check_text(check_of_three()),
    "check-three-logs-colour": lambda: check_text(check_of_three(), colour=True),
    "refusal-line": lambda: refusal_text(written.refusal()),
    "refusal-two-lines": lambda: refusal_text(CONFLICT),
    "refusal-whole": lambda: refusal_text(TRUNCATED),
    "rules": lambda: rules_text(RULES),
    "questions": lambda: questions_text(CATALOGUE),
}


@pytest.mark.parametrize("name", [*TEXTS])
def test_text_is_as_recorded(name: str) -> None:
    text = TEXTS[name]()
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("REPLAY_RECORD"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    assert text == file.read_bytes().decode()


def test_no_recorded_text_is_left_over() -> None:
    assert {file.stem for file in GOLDEN.glob("*")} == {*TEXTS}


@pytest.mark.parametrize("name", [*TEXTS])
def test_no_line_is_wider_than_80_columns_or_ends_in_a_space(name: str) -> None:
    for line in SGR.sub("", TEXTS[name]()).splitlines():
        assert columns(line) <= 80
        assert line == line.rstrip()


@pytest.mark.parametrize("width", [50, 60, 100])
def test_a_narrower_or_wider_terminal_is_filled_as_well(width: int) -> None:
    text = check_text(check_of_three(), width=width, oracles=[written.ORACLE])
    assert max(columns(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("name", [name for name in TEXTS if not name.endswith("colour")])
def test_without_colour_no_escape_is_printed(name: str) -> None:
    assert "\x1b" not in TEXTS[name]()


def test_colour_carries_nothing_that_the_words_do_not_say() -> None:
    for document in (check_of_three(), agreeing()):
        coloured = check_text(document, colour=True)
        assert SGR.sub("", coloured) == check_text(document)
        assert coloured != check_text(document)
    early = written.paper_early()
    assert SGR.sub("", projection_text(early, colour=True)) == projection_text(early)


def test_the_paper_history_says_why_the_blocker_took_seven_minutes() -> None:
    text = " ".join(check_text(agreeing()).split())
    assert (
        "blocked 7 min: raised at minute 3 (e4), again by e5;"
        " recovered at minute 10 (e6), which names e4"
    ) in text


def test_an_open_blocker_is_censored_at_the_cutoff_and_not_at_the_last_event() -> None:
    text = " ".join(projection_text(written.paper_early()).split())
    assert "blocked 6 min so far" in text
    assert "censored at minute 9 (the cutoff), no recovery seen" in text


def test_every_time_of_a_projection_is_printed_with_its_event() -> None:
    text = " ".join(projection_text(written.everything()).split())
    times = [*re.finditer(r"2026-03-01T\S*Z", text)]
    bare = [text[t.start() : t.end() + 14] for t in times if text[t.end() : t.end() + 2] != " ("]
    # but for the time cutoff, which no event bears, and the clocks, whose events stand below
    assert bare == ["2026-03-01T09:59:00Z, inclusive; e", "2026-03-01T09:02:00Z none none e3 "]


def test_an_item_at_a_cutoff_of_no_time_ends_at_its_last_visible_event() -> None:
    assert "elapsed time ends at minute 13 (e9)" in projection_text(written.paper_full())


def test_events_that_share_the_last_time_are_named_up_to_three() -> None:
    items = [written.item(f"W{n}", written.mark(f"e{n}", 13)) for n in range(5)]
    text = " ".join(projection_text(written.projection(*items)).split())
    assert "minute 13 (e0, e1, e2 and 2 more)" in text


def test_a_log_with_nothing_visible_says_so() -> None:
    document = written.changed(written.projection(), cutoff={"observed": None})
    assert "none: the full log; nothing is visible" in projection_text(document)


def test_a_check_shows_some_items_and_says_how_many_there_are() -> None:
    items = [written.item(f"W{n:03}", written.mark(f"e{n}", 13)) for n in range(MAX_ITEMS + 3)]
    document = written.projection(*items)
    text = check_text(written.check(written.unanswered("accepted", projection=document)))
    assert "20 of 23 work items shown; replay project shows all of them" in text
    assert text.count("last message") == MAX_ITEMS
    assert "W022" in projection_text(document)


def test_many_gaps_are_counted_and_not_all_printed() -> None:
    gaps = [{"from": 3 * n, "to": 3 * n} for n in range(1, 31)]
    text = projection_text(written.changed(written.paper_full(), input={"gaps": gaps}))
    assert "60 and 10 more" in text
    assert "63" not in text.split("W1:")[0]


@pytest.mark.parametrize("code", REFUSAL_CODES)
def test_every_refusal_has_words_and_its_code(code: str) -> None:
    text = refusal_text(written.refusal(code=code))
    assert REFUSALS[code] in " ".join(text.split())
    assert f"({code})" in text


def test_every_anomaly_has_words() -> None:
    assert {*ANOMALIES} == {*ANOMALY_CODES}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (3.2, "3.2 s"),
        (1e-09, "0.000000001 s"),
        (59.999999999, "59.999999999 s"),
        (60, "1 min"),
        (420, "7 min"),
        (425, "7 min 5 s"),
        (3600, "1 h"),
        (3900, "1 h 05 min"),
        (3601, "1 h 00 min 1 s"),
        (3903.2, "1 h 05 min 3.2 s"),
        (86400, "1 d"),
        (183720, "2 d 03 h 02 min"),
        (86400.5, "1 d 00 h 00 min 0.5 s"),
    ],
)
def test_durations_are_for_people_and_exact(seconds: float, words: str) -> None:
    assert duration(seconds).replace(NBSP, " ") == words


@given(st.integers(0, 10**10) | st.floats(0, 1e9))
def test_no_two_durations_read_alike(seconds: float) -> None:
    units = {"d": 86400, "h": 3600, "min": 60, "s": 1}
    parts = duration(seconds).split(NBSP)
    total = sum(float(n) * units[unit] for n, unit in zip(parts[::2], parts[1::2], strict=True))
    assert total == pytest.approx(seconds, rel=1e-15)


@pytest.mark.parametrize(
    ("value", "words"),
    [(3, "3"), (0.5, "0.5"), (1e-06, "0.000001"), (1e300, "1e+300"), (-2, "-2")],
)
def test_numbers_have_no_exponent_while_they_are_short(value: float, words: str) -> None:
    assert number(value) == words


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"),
        (True, "true"),
        ([], "none"),
        ({}, "nothing"),
        (["e1", "e2"], "e1, e2"),
        ({"value": None, "since": None}, "nothing"),
        ({"value": "active", "since": "e3"}, "active since e3"),
        ({"since": {"event_id": "e3", "time": 2}, "value": "r1"}, "r1 since minute 2 (e3)"),
        ({"by": "e6", "kind": "recovered"}, "recovered by e6"),
        ({"elapsed_seconds": 90, "kind": "censored"}, "censored after 1 min 30 s"),
        ({"elapsed_seconds": True}, "after true"),
        ({"outcome": "passed", "event_id": "e7"}, "e7, passed"),
        ({"event_id": "e1", "time": [1]}, "e1, time: 1"),
        ({"status": "current", "odd": {"x": 0.5}}, "current, odd: x: 0.5"),
        ({"at": 9, "kind": "censored"}, "censored at minute 9 (the cutoff)"),
    ],
)
def test_an_answer_is_put_into_words(value: Any, words: str) -> None:
    assert value_words(value).replace(NBSP, " ") == words


def test_a_word_is_never_broken_and_a_long_line_is() -> None:
    assert wrapped("aa bb\u00a0cc dd", "> ", "  ", 9) == ["> aa", "  bb cc", "  dd"]


# Laws: whatever a log says


hostile = st.text(
    st.sampled_from("ab \\\x1b[31m]0;\x07\x9b\u202e\u2066\u200b\n\t\r\u0301\u65e5\u00a0{}%é")
    | st.characters(),
    min_size=1,
    max_size=80,
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | hostile,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["event_id", "time", "kind", "by", "since", "at", "elapsed_seconds"])
        | hostile,
        inner,
        max_size=3,
    ),
    max_leaves=6,
)  # fmt: skip

_FIXED = frozenset(
    {"document", "sha256", "digest", "time", "at", "recorded", "observed", "kind", "status"}
    | {"outcome", "verdict", "code", "authorization", "question"}
)


def replaced(document: Any, texts: Callable[[], str], key: str = "") -> Any:
    """The document with every string that a log could have written replaced."""
    if isinstance(document, dict):
        return {name: replaced(value, texts, name) for name, value in document.items()}
    if isinstance(document, list):
        return [replaced(value, texts, key) for value in document]
    if isinstance(document, str) and key not in _FIXED and key not in ("type", "claim", "id"):
        return texts()
    return document


def assert_harmless(text: str) -> None:
    bad = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    for line in text.split("\n"):
        assert not [c for c in line if unicodedata.category(c) in bad]
        assert columns(line) <= 80


@settings(max_examples=60)
@given(st.data())
def test_no_projection_moves_a_terminal_or_breaks_its_lines(data: st.DataObject) -> None:
    document = replaced(written.everything(), lambda: data.draw(hostile))
    document["items"][0]["state"]["value"] = "blocked"
    assert_harmless(projection_text(document))
    assert_harmless(check_text(written.check(written.unanswered("accepted", projection=document))))


@settings(max_examples=60)
@given(st.data())
def test_nor_does_a_check_with_its_oracle(data: st.DataObject) -> None:
    log = copy.deepcopy(written.checked())
    for answer in log["answers"]:
        answer["expected"] = data.draw(json_values)
        answer["derived"] = data.draw(json_values)
        answer["undetermined_by"] = data.draw(st.lists(hostile, max_size=2))
    oracle = replaced(written.ORACLE, lambda: data.draw(hostile))
    assert_harmless(check_text(written.check(log), oracles=[oracle]))


def test_a_long_word_of_an_author_fits_where_the_indent_is_deepest() -> None:
    oracle = copy.deepcopy(written.ORACLE)
    oracle["answers"][2]["why"] = "x" * 49
    assert_harmless(check_text(written.check(written.checked()), oracles=[oracle]))


@given(hostile, hostile, hostile, hostile)
def test_nor_does_a_refusal(file: str, pointer: str, expected: str, found: str) -> None:
    related = [{"file": file, "line": 1}]
    facts = {"file": file, "pointer": pointer, "expected": expected, "found": found}
    assert_harmless(refusal_text(written.refusal(related=related, **facts)))
