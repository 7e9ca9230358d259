"""A check as SARIF 2.1.0: valid, on the right line, the same bytes each time, and plain text.

`REPLAY_RECORD=1 pytest tests/test_sarif.py` writes the golden file anew; read the diff.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import jsonschema
import pytest
from hypothesis import given

from replay.canonical import encode
from replay.errors import REFUSAL_CODES
from replay.projection import ANOMALY_CODES
from replay.report.findings import RULES, Origin, Unread
from replay.report.safe import shown
from replay.report.sarif import sarif_document
from tests import documents as written
from tests.command import CASES, PAPER, REFUSED, Run, in_process, oracle, process
from tests.notation import history, lines
from tests.test_junit import HOSTILE, any_text, hostile_check, mixed

Json = Any
TESTS: Final = Path(__file__).parent
GOLDEN: Final = TESTS / "recorded" / "ci" / "check-mixed.sarif.json"
SCHEMA: Final = json.loads(
    (TESTS / "schemas_public" / "sarif-2.1.0-rtm.5.json").read_text(encoding="utf-8")
)
VALIDATOR: Final = jsonschema.Draft4Validator(SCHEMA)
URI: Final = re.compile(r"(?:file:///)?(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})*")
LOG: Final = lines(history("r1 ci- + + r2<e3 ci+ ready"))
LINES: Final = LOG.splitlines(keepends=True)
WRONG: Final = oracle({"expect": {"value": "active"}, "evidence": ["e1"]})


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


def valid(document: Json) -> Json:
    """The one run of a SARIF log that has the published form."""
    assert [f"{e.json_path}: {e.message}" for e in VALIDATOR.iter_errors(document)] == []
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        for location in (*result["locations"], *result.get("relatedLocations", ())):
            assert URI.fullmatch(location["physicalLocation"]["artifactLocation"]["uri"])
    return run


def checked(run: Run, *arguments: object) -> Json:
    """The one run that a check on the command line prints."""
    ran = run("check", *arguments, "--format", "sarif")
    document = json.loads(ran.out)
    assert ran.out == encode(document) + b"\n"
    found = valid(document)
    assert found["invocations"][0]["exitCode"] == ran.status
    return found


def spots(result: Json) -> list[tuple[str, int | None]]:
    """Where a result is: its own place, then the related ones, as path and line."""
    places = [*result["locations"], *result.get("relatedLocations", ())]
    found = [place["physicalLocation"] for place in places]
    return [
        (unquote(p["artifactLocation"]["uri"]), p.get("region", {}).get("startLine")) for p in found
    ]


def ids(found: Json) -> list[str]:
    return [result["ruleId"] for result in found["results"]]


def test_a_check_of_every_outcome_reads_as_recorded() -> None:
    document, origins, oracles = mixed()
    unread = [Unread("logs/b.jsonl", "not found")]
    found = sarif_document(document, origins, oracles=oracles, unread=unread)
    valid(found)
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if os.environ.get("REPLAY_RECORD"):
        GOLDEN.parent.mkdir(parents=True, exist_ok=True)
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_rules_are_every_code_there_is_and_the_outcomes() -> None:
    others = {"disagreement", "undetermined", "incomplete_input", "uncovered", "unreadable"}
    assert set(RULES) == {*REFUSAL_CODES, *ANOMALY_CODES, *others}
    assert len(RULES) == len(REFUSAL_CODES) + len(ANOMALY_CODES) + len(others)


@pytest.mark.parametrize(
    ("rule", "level"),
    [
        ("disagreement", "error"),
        ("undetermined", "warning"),
        ("wrong_type", "error"),
        ("incomplete_input", "error"),
        ("link_missing", "note"),
        ("uncovered", "note"),
    ],
)
def test_a_result_has_the_level_of_its_rule(rule: str, level: str) -> None:
    document, origins, oracles = mixed()
    found = valid(sarif_document(document, origins, oracles=oracles))
    levels = {r["level"] for r in found["results"] if r["ruleId"] == rule}
    configured = [r for r in found["tool"]["driver"]["rules"] if r["id"] == rule]
    assert levels == {level}
    assert configured[0]["defaultConfiguration"] == {"level": level}


def test_a_disagreement_is_on_the_line_of_the_first_differing_event(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("logs").mkdir()
    Path("logs/a b.jsonl").write_bytes(b"\n" + LOG)
    Path("logs/a b.oracle.json").write_bytes(WRONG)
    (log,) = json.loads(run("check", "logs", "--format", "json").out)["logs"]
    first = log["answers"][0]["first_differing_event"]
    (result,) = checked(run, "./logs/a b.jsonl")["results"]
    assert result["ruleId"] == "disagreement"
    assert spots(result)[0] == ("logs/a b.jsonl", 1 + int(first.removeprefix("e")))
    assert ("logs/a b.jsonl", 2) in spots(result)  # the authored evidence
    assert spots(result)[-1] == ("logs/a b.oracle.json", None)
    assert result["properties"]["answer"] == log["answers"][0]


def test_an_undetermined_answer_is_a_warning_on_the_uncovered_event(
    run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines(history("r1 done")))
    (tmp_path / "log.oracle.json").write_bytes(WRONG)
    found = checked(run, log)
    assert ids(found) == ["undetermined"]
    assert spots(found["results"][0])[0] == (f"file://{log}", 2)


@pytest.mark.parametrize(
    "log", sorted(REFUSED.glob("*.jsonl*")), ids=lambda path: path.name.partition(".")[0]
)
def test_a_refusal_is_an_error_at_its_line_and_every_related_one(run: Run, log: Path) -> None:
    refusal = json.loads(run("project", log, "--format", "json").out)
    (result,) = checked(run, log)["results"]
    named = [refusal, *refusal["related"]]
    assert (result["ruleId"], result["level"]) == (refusal["code"], "error")
    assert spots(result) == [(f"file://{log}", place["line"]) for place in named]


def test_every_authored_case_is_valid_and_only_noted(run: Run) -> None:
    found = checked(run, CASES)
    assert {result["level"] for result in found["results"]} == {"note"}
    summed = [log["summary"]["agree"] for log in found["properties"]["logs"]]
    assert all(summed)
    assert len(summed) == len([*CASES.glob("*.jsonl")])


def test_every_note_is_on_the_line_that_has_the_event(run: Run) -> None:
    found = checked(run, CASES)
    assert found["results"]
    for result in found["results"]:
        path, line = spots(result)[0]
        assert line is not None
        text = Path(path.removeprefix("file://")).read_bytes().split(b"\n")[line - 1]
        assert json.loads(text)["event_id"] == result["properties"]["event_id"]


def test_an_uncovered_event_does_leave_its_work_item_undetermined(run: Run) -> None:
    ran = run("check", CASES, "--rules", "coordination/1", "--format", "json")
    projections = [log["projection"] for log in json.loads(ran.out)["logs"]]
    said = [(p, entry) for p in projections for entry in p["uncovered"] if entry["work_id"]]
    assert said
    for projection, entry in said:
        (item,) = [i for i in projection["items"] if i["work_id"] == entry["work_id"]]
        assert entry["event_id"] in item["undetermined_by"]


def test_segments_name_the_file_and_the_line_in_it(run: Run, tmp_path: Path) -> None:
    for name, part in (("a", LINES[:2]), ("b", LINES[1:])):  # the second line is in both
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(part))
    wrong = {"expect": {"value": "active"}}
    answers = tmp_path / "answers.json"
    answers.write_bytes(oracle(wrong, {**wrong, "evidence": ["e2"]}))
    found = checked(run, tmp_path, "--segments", "--oracle", answers)
    late, early = map(spots, found["results"])
    assert late[0] == (f"file://{tmp_path}/b.jsonl", 6)  # e7, the seventh line of the whole
    assert early[0] == (f"file://{tmp_path}/a.jsonl", 2)  # admitted there, repeated in b
    assert len(found["artifacts"]) == 2
    assert not [artifact for artifact in found["artifacts"] if "hashes" in artifact]


def test_a_refused_segment_is_named_by_its_path_even_where_another_has_its_name(
    run: Run, tmp_path: Path
) -> None:
    for folder, text in (("one", LINES[0]), ("two", b"{}\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "log.jsonl").write_bytes(text)
    given = [tmp_path / folder / "log.jsonl" for folder in ("one", "two")]
    (result,) = checked(run, *given, "--segments")["results"]
    assert spots(result) == [(f"file://{given[1]}", 1)]


def test_a_conflict_of_two_segments_of_one_name_names_both_paths(run: Run, tmp_path: Path) -> None:
    for folder, type_ in (("one", "note"), ("two", "heartbeat")):
        (tmp_path / folder).mkdir()
        event = {**json.loads(LINES[0]), "type": type_, "artifact_revision": None, "payload": {}}
        (tmp_path / folder / "log.jsonl").write_text(json.dumps(event))
    given = [tmp_path / folder / "log.jsonl" for folder in ("one", "two")]
    (result,) = checked(run, *given, "--segments")["results"]
    two, one = (f"file://{tmp_path / folder / 'log.jsonl'}" for folder in ("two", "one"))
    assert spots(result) == [(two, 1), (one, 1)]


def test_a_compressed_log_has_the_lines_of_its_text(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl.gz"
    log.write_bytes(gzip.compress(LOG))
    (tmp_path / "log.oracle.json").write_bytes(WRONG)
    (result,) = checked(run, log)["results"]
    path, line = spots(result)[0]
    assert path == f"file://{log}"
    assert line is not None


def test_standard_input_is_a_stream_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_bytes(WRONG)
    given = ("check", "-", "--oracle", "answers.json", "--format", "sarif")
    ran = process(*given, stdin=LOG, cwd=tmp_path)
    found = valid(json.loads(ran.out))
    (artifact,) = found["artifacts"]
    assert (artifact["location"], artifact["roles"]) == ({"uri": "stdin"}, ["standardStream"])
    assert spots(found["results"][0])[0][0] == "stdin"
    assert spots(found["results"][0])[-1] == ("answers.json", None)


def test_a_recovered_log_is_an_error_beside_its_answers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(LOG + b"torn")
    found = checked(run, tmp_path / "log.jsonl", "--recover")
    assert ids(found) == ["incomplete_input"]
    assert found["properties"]["logs"][0]["input"]["complete"] is False


def test_a_log_that_cannot_be_read_makes_the_run_unsuccessful(run: Run, tmp_path: Path) -> None:
    found = checked(run, PAPER, tmp_path / "absent.jsonl")
    assert ids(found) == ["unreadable"]
    assert found["invocations"][0]["executionSuccessful"] is False
    assert checked(run, PAPER)["invocations"][0]["executionSuccessful"] is True


def test_a_log_with_no_oracle_is_never_silently_fine(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(LOG)
    (invocation,) = checked(run, tmp_path)["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["message"]["text"] == "log.jsonl: accepted, no oracle"


def test_the_same_log_twice_is_one_artifact_and_two_results(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.jsonl").write_bytes(LOG)
    Path("log.oracle.json").write_bytes(WRONG)
    found = checked(run, "log.jsonl", "./log.jsonl")
    assert ids(found) == ["disagreement"] * 2
    assert [artifact["location"] for artifact in found["artifacts"]] == [{"uri": "log.jsonl"}]


def test_a_fingerprint_outlives_moved_lines_and_tells_findings_apart(
    run: Run, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(LOG)
    two = oracle({"expect": {"value": "active"}}, {"expect": "r9", "question": "revision"})
    (tmp_path / "log.oracle.json").write_bytes(two)
    before = [result["partialFingerprints"] for result in checked(run, log)["results"]]
    log.write_bytes(b"\n\n" + LOG)
    moved = checked(run, log)["results"]
    assert [result["partialFingerprints"] for result in moved] == before
    assert before[0] != before[1]


def test_the_same_check_is_the_same_bytes_in_another_process(run: Run) -> None:
    given = ("check", CASES, "--rules", "coordination/1", "--format", "sarif")
    assert process(*given) == run(*given)


@pytest.mark.parametrize("path", ["a/\udcff.jsonl", "a/#?%.jsonl", "a:b/é.jsonl", "//x/./y.jsonl"])
def test_a_path_of_any_bytes_is_a_uri_reference(path: str) -> None:
    origin = Origin(path, (path,))
    log = written.unanswered("accepted", projection=written.projection())
    found = valid(sarif_document(written.check(log), [origin]))
    uri = found["artifacts"][0]["location"]["uri"]
    assert URI.fullmatch(uri)
    raw = path.replace("//x/./y", "file:///x/y")
    assert unquote(uri, errors="surrogateescape") == raw
    assert encode(found)


def test_the_other_commands_keep_their_two_formats(run: Run) -> None:
    for format_ in ("junit", "sarif"):
        assert run("project", PAPER, "--format", format_).status == 2
        assert run("timeline", PAPER, "--format", format_).status == 2


@given(any_text)
def test_no_text_of_a_log_becomes_a_link_or_a_placeholder_or_hides(text: str) -> None:
    document, authored = hostile_check(text)
    found = valid(
        sarif_document(document, oracles=[authored], unread=[Unread(text, f"{text}: absent")])
    )
    for result in found["results"]:
        said = result["message"]["text"]
        assert said.strip()
        assert not re.search(r"\[[^\]]*\]\(", said)
        assert not re.search(r"(?<!\{)(?:\{\{)*\{(?!\{)", said)
        assert not [c for c in said if c in "\u202e\u2066\x1b\x7f\ufffe\uffff\n"]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_is_quoted_to_the_letter_is_in_the_properties(text: str) -> None:
    document, authored = hostile_check(text)
    first = valid(sarif_document(document, oracles=[authored]))["results"][0]
    assert first["properties"]["answer"]["id"] == text
    assert first["message"]["text"].startswith(shown(text, 120)[:1])


def test_the_rules_say_what_they_mean_where_a_reader_looks() -> None:
    for rule in valid(sarif_document(written.check()))["tool"]["driver"]["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"].endswith(".")
