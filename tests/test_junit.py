"""A check as JUnit XML: valid, complete, the same bytes each time, and safe to show anywhere.

`REPLAY_RECORD=1 pytest tests/test_junit.py` writes the golden file anew; read the diff.
"""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from replay.report.findings import Origin, Unread
from replay.report.junit import junit
from replay.report.safe import shown
from tests import documents as written
from tests.command import CASES, PAPER, REFUSED, Run, in_process, oracle, process
from tests.notation import history, lines

Json = Any
TESTS: Final = Path(__file__).parent
GOLDEN: Final = TESTS / "recorded" / "ci" / "check-mixed.junit.xml"
SCHEMA: Final = etree.XMLSchema(etree.parse(TESTS / "schemas_public" / "junit-10.xsd"))
LOG: Final = lines(history("r1 ci- + + r2<e3 ci+ ready"))
HOSTILE: Final = (
    "<script>alert(1)</script>",
    "]]>",
    "\"><x a='&amp;&lt;",
    "\x00\x08\x0b\x1b[31m\x7f\x85",
    "\u202eevil\u2066",
    "\ufffe\uffff",
    "w" * 5000,
    "line\nbreak\ttab ",
    "{0} [a](https://example.org)",
)
# no document holds half a surrogate pair: such a log is refused
any_text = st.text(st.characters(exclude_categories=("Cs",)), max_size=20) | st.sampled_from(
    HOSTILE
)


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


def mixed() -> tuple[Json, list[Origin], list[Json]]:
    """A log of each outcome, with where they were read and what their oracles say."""
    agreeing = {**written.checked(), "outcome": "agree"}
    agreeing["answers"] = [a for a in agreeing["answers"] if a["outcome"] == "agree"]
    agreeing["summary"] = {"agree": 7, "disagree": 0, "undetermined": 0}
    related = [{"file": "a.jsonl", "line": 2}]
    document = written.check(
        agreeing,
        written.checked(),
        written.unanswered("refused", refusal=written.refusal(related=related)),
        written.unanswered("accepted", projection=written.everything()),
        exit_status=3,
    )
    places = {f"e{n}": ("logs/handoff.jsonl", n) for n in range(1, 31)}
    read = ("logs/handoff.jsonl",)
    handoff = Origin(*read, read, "logs/handoff.oracle.json", {"handoff.jsonl": read[0]}, places)
    refused = Origin("logs/a.jsonl", ("logs/a.jsonl",), None, {"a.jsonl": "logs/a.jsonl"}, {})
    accepted = handoff._replace(oracle=None)
    origins = [handoff, handoff, refused, accepted]
    return document, origins, [written.ORACLE, written.ORACLE, None, None]


def valid(xml: bytes) -> Any:
    """The root of a report that has the published form."""
    root = etree.fromstring(xml)
    assert SCHEMA.validate(root), SCHEMA.error_log
    for suite in (*root, root):
        assert int(suite.get("tests")) == len(suite.findall(".//testcase"))
        assert int(suite.get("failures")) == len(suite.findall(".//failure"))
        assert int(suite.get("errors")) == len(suite.findall(".//error"))
    return root


def outcomes(root: Any) -> list[tuple[str, str]]:
    """Each bad case as its element and type."""
    return [(bad.tag, bad.get("type")) for bad in root.iterfind(".//testcase/*")]


def test_a_check_of_every_outcome_reads_as_recorded() -> None:
    document, origins, oracles = mixed()
    xml = junit(document, origins, oracles=oracles, unread=[Unread("logs/b.jsonl", "not found")])
    valid(xml)
    if os.environ.get("REPLAY_RECORD"):
        GOLDEN.parent.mkdir(parents=True, exist_ok=True)
        GOLDEN.write_bytes(xml)
    assert xml == GOLDEN.read_bytes()


def test_a_disagreement_is_a_failure_and_whatever_is_undecided_an_error() -> None:
    document, origins, oracles = mixed()
    root = valid(junit(document, origins, oracles=oracles, unread=[Unread("b", "absent")]))
    assert outcomes(root) == [
        ("failure", "disagreement"),
        ("error", "undetermined"),
        ("error", "wrong_type"),
        ("error", "incomplete_input"),
        ("error", "unreadable"),
    ]
    assert not root.findall(".//skipped")


def test_each_answer_has_a_case_with_its_question_after_the_one_for_admission() -> None:
    document, origins, oracles = mixed()
    suite = valid(junit(document, origins, oracles=oracles))[1]
    names = [case.get("name") for case in suite.iterfind("testcase")]
    assert names[:3] == [
        "admission",
        "q1: W1, state",
        "q2: W1, episode of e4, at sequence 5 and minute 9",
    ]
    assert len(names) == 1 + len(document["logs"][1]["answers"])
    bare = valid(junit(document))[1]
    assert [case.get("name") for case in bare.iterfind("testcase")][1:3] == ["q1", "q2"]


def test_a_log_with_no_oracle_says_so_in_its_only_case(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(LOG)
    ran = run("check", tmp_path / "log.jsonl", "--format", "junit")
    (case,) = valid(ran.out).iter("testcase")
    assert (case.get("name"), len(case), ran.status) == ("accepted, no oracle", 0, 0)


def test_a_suite_carries_what_every_result_carries(run: Run) -> None:
    (suite,) = valid(run("check", PAPER, "--format", "junit").out)
    carried = {p.get("name"): p.get("value") for p in suite.iter("property")}
    (log,) = json.loads(run("check", PAPER, "--format", "json").out)["logs"]
    projection = log["projection"]
    assert carried["rules.id"] == projection["rules"]["id"]
    assert carried["rules.digest"] == projection["rules"]["digest"]
    assert carried["sha256"] == projection["input"]["sha256"]
    assert carried["cutoff.observed"] == "13"
    assert carried["oracle.sha256"] == log["oracle"]["sha256"]
    assert suite.get("file") == str(PAPER)


@pytest.mark.parametrize(
    ("answers", "log", "status", "found"),
    [
        ([{"expect": {"value": "awaiting_review"}}], "r1 ci+ ready", 0, []),
        ([{"expect": {"value": "active"}}], "r1 ci+ ready", 1, [("failure", "disagreement")]),
        ([{"expect": {"value": "active"}}], "r1 done", 4, [("error", "undetermined")]),
    ],
)
def test_a_report_is_bad_exactly_where_the_exit_status_is(
    run: Run, tmp_path: Path, answers: list[Json], log: str, status: int, found: list[Any]
) -> None:
    (tmp_path / "log.jsonl").write_bytes(lines(history(log)))
    (tmp_path / "log.oracle.json").write_bytes(oracle(*answers))
    ran = run("check", tmp_path / "log.jsonl", "--format", "junit")
    assert (ran.status, outcomes(valid(ran.out))) == (status, found)


def test_every_authored_case_is_a_valid_report_with_no_bad_case(run: Run) -> None:
    ran = run("check", CASES, "--format", "junit")
    root = valid(ran.out)
    assert (ran.status, ran.err, outcomes(root)) == (0, "", [])
    assert [suite.get("name") for suite in root] == sorted(map(str, CASES.glob("*.jsonl")))


def test_every_refused_log_is_a_valid_report_of_its_code(run: Run) -> None:
    ran = run("check", REFUSED, "--format", "junit")
    codes = [bad.get("type") for bad in valid(ran.out).iter("error")]
    refused = json.loads(run("check", REFUSED, "--format", "json").out)["logs"]
    assert (ran.status, codes) == (3, [log["refusal"]["code"] for log in refused])


def test_a_log_that_cannot_be_read_is_an_error_among_the_others(run: Run, tmp_path: Path) -> None:
    ran = run("check", PAPER, tmp_path / "absent.jsonl", "--format", "junit")
    root = valid(ran.out)
    assert (ran.status, outcomes(root)) == (2, [("error", "unreadable")])
    assert [suite.get("name") for suite in root] == [str(PAPER), str(tmp_path / "absent.jsonl")]
    only = run("check", tmp_path / "absent.jsonl", "--format", "junit")
    assert (only.status, outcomes(valid(only.out))) == (2, [("error", "unreadable")])


def test_a_recovered_log_never_reads_as_a_pass(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(LOG + b"torn")
    ran = run("check", tmp_path / "log.jsonl", "--recover", "--format", "junit")
    assert (ran.status, outcomes(valid(ran.out))) == (3, [("error", "incomplete_input")])


def test_standard_input_and_segments_are_one_suite_each(run: Run, tmp_path: Path) -> None:
    piped = process("check", "-", "--format", "junit", stdin=LOG)
    (suite,) = valid(piped.out)
    assert (suite.get("file"), piped.status) == ("standard input", 0)
    first, *rest = LOG.splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(first)
    (tmp_path / "b.jsonl").write_bytes(b"".join(rest))
    (suite,) = valid(run("check", tmp_path, "--segments", "--format", "junit").out)
    assert suite.get("name") == "a.jsonl+b.jsonl"


def test_two_logs_of_one_file_name_have_suites_and_classes_of_their_own(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b"):
        Path(folder).mkdir()
        Path(folder, "log.jsonl").write_bytes(LOG)
    root = valid(run("check", "./a", "b", "--format", "junit").out)
    assert [suite.get("name") for suite in root] == ["a/log.jsonl", "b/log.jsonl"]
    assert [case.get("classname") for case in root.iter("testcase")] == ["a/log", "b/log"]


def test_the_same_check_is_the_same_bytes_in_another_process(run: Run) -> None:
    ran = run("check", PAPER, "--format", "junit")
    assert process("check", PAPER, "--format", "junit") == ran


def hostile_check(text: str) -> tuple[Json, Json]:
    """A check and its oracle in which every text that a log or an author wrote is hostile."""
    answer = written.answer(
        text, "disagree", {"value": text}, {text: text}, first_differing_event=text, rule=text
    )
    unclear = written.answer(text, "undetermined", text, None, undetermined_by=[text])
    asked = {"id": text, "rules": text, "at": {}, "work_id": text, "question": "state"}
    asked |= {"of": text, "expect": text, "evidence": [text], "why": text}
    uncovered = [{"event_id": text, "type": text, "work_id": text}]
    noted = [written.anomaly("link_missing", text, text)]
    projection = written.projection(
        written.item(text, written.mark(text, 1), anomalies=noted), uncovered=uncovered
    )
    projection["input"]["name"] = text or "log"
    log = {
        "outcome": "disagree",
        "projection": projection,
        "refusal": None,
        "oracle": {"name": text, "sha256": written.DIGEST},
        "answers": [answer, unclear],
        "summary": {"agree": 0, "disagree": 1, "undetermined": 1},
    }
    refusal = written.refusal(file=text, pointer=f"/{text}", expected=text, found=text)
    refused = written.unanswered("refused", refusal=refusal)
    return written.check(log, refused, exit_status=3), {"answers": [asked]}


@given(any_text)
def test_no_text_of_a_log_leaves_its_place_or_hides(text: str) -> None:
    document, authored = hostile_check(text)
    xml = junit(document, oracles=[authored], unread=[Unread(text, text)])
    root = valid(xml)
    assert outcomes(root) == [
        ("failure", "disagreement"),
        ("error", "undetermined"),
        ("error", "wrong_type"),
        ("error", "unreadable"),
    ]
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not [c for c in xml.decode() if c != "\n" and unicodedata.category(c) in hidden]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_hostile_is_shown_as_what_it_is(text: str) -> None:
    document, authored = hostile_check(text)
    root = valid(junit(document, oracles=[authored]))
    assert root[0].get("name") == shown(text)
    assert root[0].find(".//failure").text.count("\n") == 4  # one line for each of five facts
