"""More to ask in Python: what is printed and shown is what the commands print."""

from __future__ import annotations

from pathlib import Path

import lxml.html
import pytest

import replay
from replay.cli import main

CASES = Path(__file__).parent.parent / "fixtures" / "cases"
TYPO = CASES / "retracted-typo.jsonl"


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    main([*arguments])
    return capfd.readouterr().out.rstrip()


def test_rules_compared_print_as_diff_does(capfd: pytest.CaptureFixture[str]) -> None:
    prefix = replay.load(TYPO).until()
    found = replay.rules_compared(prefix, "coordination/1", "coordination/2")
    command = ("diff", str(TYPO), "--rules", "coordination/1", "--rules", "coordination/2")
    assert str(found) == printed(capfd, *command)
    assert found.document["exit"] == 1


def test_logs_compared_find_nothing_in_one_log_twice() -> None:
    prefix = replay.load(TYPO).until()
    found = replay.logs_compared(prefix, prefix, rules="coordination/2")
    assert found.document["differences"] == []
    assert found.document["exit"] == 0


def test_answers_over_time_print_as_bisect_does(capfd: pytest.CaptureFixture[str]) -> None:
    prefix = replay.load(TYPO).until()
    found = replay.answers_over_time(prefix, "state", "W1", rules="coordination/2", value="blocked")
    command = ("bisect", str(TYPO), "--question", "state", "--work", "W1", "--value", "blocked")
    assert str(found) == printed(capfd, *command)
    page = lxml.html.fragment_fromstring(found._repr_html_())
    assert page.text_content() == str(found)
    assert page.get("role") == "region"
