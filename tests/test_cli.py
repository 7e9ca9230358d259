"""The `replay` command: what each command prints, and the exit status of whatever happens."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from backports import zstd

from replay import rules as register
from replay.cli import main
from replay.commands import RUN
from replay.event import MAX_SEQUENCE
from replay.questions import QUESTIONS
from replay.schemas import names, schema
from replay.sources import IMPORTERS
from replay.version import VERSION
from tests.command import (
    CASES,
    PAPER,
    REFUSED,
    ROOT,
    Ran,
    Run,
    document,
    environment,
    in_process,
    in_words,
    oracle,
    process,
)
from tests.notation import history, lines

Json = Any
LOG: Final = lines(history("r1 ci- + + r2<e3 ci+ ready"))
UTC: Final = lines(history("r1 ci+ ready", basis="utc"))
UNCOVERED: Final = lines(history("r1 done"))
BAD: Final = b'{"schema_version":"elapsed/1"}\n'
RIGHT: Final = oracle({"expect": {"value": "awaiting_review"}})
WRONG: Final = oracle({"expect": {"value": "active"}})
ONLY_LOG_COMMANDS: Final = ("check", "project")


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a log of every outcome, each named for it."""
    for name, log, answers in (
        ("agree", LOG, RIGHT),
        ("disagree", LOG, WRONG),
        ("undetermined", UNCOVERED, RIGHT),
        ("refused", BAD, RIGHT),
        ("accepted", LOG, None),
    ):
        (tmp_path / f"{name}.jsonl").write_bytes(log)
        if answers is not None:
            (tmp_path / f"{name}.oracle.json").write_bytes(answers)
    return tmp_path


def stored(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


# ---- check


@pytest.mark.parametrize(
    ("outcome", "status"),
    [("agree", 0), ("accepted", 0), ("disagree", 1), ("refused", 3), ("undetermined", 4)],
)
def test_the_exit_status_of_a_check_says_the_outcome(
    run: Run, here: Path, outcome: str, status: int
) -> None:
    ran = run("check", here / f"{outcome}.jsonl", "--format", "json")
    checked = document(ran)
    assert (ran.status, checked["exit"]) == (status, status)
    assert [log["outcome"] for log in checked["logs"]] == [outcome]
    in_text = run("check", here / f"{outcome}.jsonl")
    assert in_text.status == status
    assert in_text.text.startswith(outcome.upper())
    assert in_text.err == ran.err


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        ("agree accepted", 0),
        ("agree undetermined", 4),
        ("undetermined disagree", 1),
        ("disagree undetermined agree", 1),
        ("disagree refused", 3),
        ("refused undetermined", 3),
        ("missing refused", 2),
        ("disagree missing", 2),
        ("accepted missing agree", 2),
    ],
)
def test_of_several_logs_the_most_urgent_status_counts_and_each_one_is_reported(
    run: Run, here: Path, outcomes: str, status: int
) -> None:
    ran = run("check", *(here / f"{o}.jsonl" for o in outcomes.split()), "--format", "json")
    checked = document(ran)
    assert (ran.status, checked["exit"]) == (status, status)
    found = [log["outcome"] for log in checked["logs"]]
    assert found == [outcome for outcome in outcomes.split() if outcome != "missing"]
    assert ("missing.jsonl: no such file or directory" in ran.err) == ("missing" in outcomes)


def test_every_authored_case_is_checked_as_a_folder_in_one_document(run: Run) -> None:
    ran = run("check", CASES, "--format", "json")
    checked = document(ran)
    inputs = [log["projection"]["input"]["name"] for log in checked["logs"]]
    assert inputs == sorted(path.name for path in CASES.glob("*.jsonl"))
    assert {log["outcome"] for log in checked["logs"]} == {"agree"}
    assert (ran.status, ran.err) == (0, "")


def test_the_text_of_a_check_of_several_logs_ends_with_their_number_by_outcome(
    run: Run, here: Path
) -> None:
    ran = run("check", here)
    last = " ".join(ran.text.split("\n\n")[-1].split())
    assert (
        last == "5 logs: 1 agree, 1 accepted, 1 disagree, 1 undetermined, 1 refused; exit status 3"
    )


def test_the_papers_history_reads_as_the_readme_shows_it(run: Run) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = readme.split("```text\n")[1].split("```")[0]
    first, rest = block.split("  ...\n")
    ran = run("check", PAPER)
    assert ran.text.startswith(first)
    assert rest in ran.text


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd.compress])
def test_the_oracle_beside_a_log_is_found_however_the_log_is_compressed(
    run: Run, tmp_path: Path, compress: Any
) -> None:
    suffix = {bytes: "", gzip.compress: ".gz", zstd.compress: ".zst"}[compress]
    log = stored(tmp_path / f"log.jsonl{suffix}", compress(LOG))
    stored(tmp_path / "log.oracle.json", RIGHT)
    (checked,) = document(run("check", log, "--format", "json"))["logs"]
    assert checked["outcome"] == "agree"
    assert checked["oracle"] == {"name": "log.oracle.json", "sha256": sha256(RIGHT).hexdigest()}


def test_an_oracle_that_is_given_is_used_instead_of_the_one_beside(run: Run, here: Path) -> None:
    ran = run("check", here / "agree.jsonl", "--oracle", here / "disagree.oracle.json")
    assert (ran.status, ran.text.split()[0]) == (1, "DISAGREE")
    assert "disagree.oracle.json" in ran.text


def test_an_oracle_is_given_for_one_log_only(run: Run, here: Path) -> None:
    given = here / "agree.oracle.json"
    ran = run("check", here, "--oracle", given, "--format", "json")
    assert (ran.status, ran.out, ran.said) == (2, b"", ["--oracle is about one log"])


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (b"", "expected one JSON document"),
        (b"\xff", "expected UTF-8"),
        (b"[]", "expected object"),
        (b'{"document":"replay.oracle/2"}', "at /document"),
        (oracle({"expect": 1, "question": "mood"}), "at /answers/0/question"),
        (oracle({"expect": 1, "rules": "coordination/0"}), "/rules: expected one of"),
        (oracle({"expect": 1, "at": {"time": "2026-01-01T00:00:00Z"}}), "at /answers/0/at"),
        (oracle({"expect": 1, "at": {"sequence": 2**60}}), "at /answers/0/at/sequence"),
    ],
)
def test_an_oracle_that_cannot_be_used_ends_with_2_and_the_other_logs_are_checked(
    run: Run, here: Path, written: bytes, said: str
) -> None:
    stored(here / "bad.oracle.json", written)
    bad = stored(here / "bad.jsonl", LOG)
    ran = run("check", bad, here / "agree.jsonl", "--format", "json")
    assert (ran.status, document(ran)["exit"]) == (2, 2)
    assert [log["outcome"] for log in document(ran)["logs"]] == ["agree"]
    (line,) = ran.said
    assert said in line
    assert "bad" in line.split(":")[0]


@pytest.mark.parametrize("where", ["folder", "absent", "link to nowhere"])
def test_an_oracle_that_cannot_be_read_is_never_taken_for_none(
    run: Run, here: Path, where: str
) -> None:
    log = stored(here / "log.jsonl", LOG)
    beside = here / "log.oracle.json"
    match where:
        case "folder":
            beside.mkdir()
        case "link to nowhere":
            beside.symlink_to(here / "nowhere")
    ran = run("check", log, *(["--oracle", beside] if where == "absent" else []))
    assert (ran.status, ran.out) == (2, b"")
    (line,) = ran.said
    assert line.startswith(f"{beside}: ")


# ---- rules and cutoffs


@pytest.mark.parametrize("command", ONLY_LOG_COMMANDS)
def test_unknown_rules_are_said_before_anything_is_read(run: Run, command: str) -> None:
    ran = run(command, "absent.jsonl", "--rules", "coordination/0", "--format", "json")
    assert (ran.status, ran.out) == (2, b"")
    assert ran.said == ["no rule set 'coordination/0'; known: coordination/1, coordination/2"]


@pytest.mark.parametrize("rules", register.known())
def test_the_rules_that_are_named_derive(run: Run, rules: str) -> None:
    ran = run("project", PAPER, "--rules", rules, "--format", "json")
    assert document(ran)["rules"]["id"] == rules


def test_the_default_rules_are_written_in_the_help_and_in_every_result(run: Run) -> None:
    default = document(run("project", PAPER, "--format", "json"))["rules"]["id"]
    assert f"(default: {default})" in " ".join(run("project", "--help").text.split())


@pytest.mark.parametrize("command", ONLY_LOG_COMMANDS)
@pytest.mark.parametrize(
    ("log", "flag", "bound", "said"),
    [
        (LOG, "--at-time", "2026-01-01T00:00:00Z", "time basis is elapsed"),
        (UTC, "--at-minute", "9", "time basis is utc"),
        (UTC, "--at-time", "2026-01-01 00:00:00Z", "expected RFC 3339"),
        (UTC, "--at-time", "2026-01-01T00:00:00", "expected RFC 3339"),
        (LOG, "--at-minute", "-1", "at most six decimals"),
        (LOG, "--at-minute", "0.0000001", "at most six decimals"),
    ],
)
def test_a_time_that_does_not_fit_the_log_names_the_log_and_ends_with_2(
    run: Run, tmp_path: Path, command: str, log: bytes, flag: str, bound: str, said: str
) -> None:
    path = stored(tmp_path / "log.jsonl", log)
    ran = run(command, path, flag, bound)
    assert (ran.status, ran.out) == (2, b"")
    (line,) = ran.said
    assert line.startswith(f"{path}: ")
    assert said in line


@pytest.mark.parametrize(
    "options",
    [
        ["--at-sequence", "-1"],
        ["--at-sequence", "1.0"],
        ["--at-sequence", "\u0661"],
        ["--at-sequence", str(MAX_SEQUENCE + 1)],
        ["--at-sequence", "9" * 5000],
        ["--at-minute", "1_0"],
        ["--at-minute", "\u0669"],
        ["--at-minute", " 9"],
        ["--at-minute", "nan"],
        ["--at-minute", "9", "--at-time", "2026-01-01T00:00:00Z"],
        ["--at-seq", "1"],
        ["--format", "yaml"],
        ["--max-line", "0"],
        ["--unheard-of"],
    ],
)
def test_an_option_that_means_nothing_is_a_usage_error(run: Run, options: list[str]) -> None:
    ran = run("check", PAPER, *options)
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err.startswith("usage: replay")
    assert ": error: " in ran.err.splitlines()[-1]


@pytest.mark.parametrize(
    ("options", "cutoff"),
    [
        ([], {"sequence": None, "recorded": None, "observed": 13, "flags": []}),
        (
            ["--at-sequence", "5", "--at-minute", "9"],
            {"sequence": 5, "recorded": 9, "observed": 9, "flags": []},
        ),
        (
            ["--at-sequence", "4", "--at-minute", "9.0"],
            {"sequence": 4, "recorded": 9, "observed": 9, "flags": ["cutoff_hides_admitted"]},
        ),
        (
            ["--at-sequence", "10"],
            {"sequence": 10, "recorded": None, "observed": 13, "flags": ["cutoff_beyond_log"]},
        ),
        (
            ["--at-minute", "0.5"],
            {"sequence": None, "recorded": 0.5, "observed": 0.5, "flags": []},
        ),
        (
            ["--at-sequence", str(MAX_SEQUENCE)],
            {
                "sequence": MAX_SEQUENCE,
                "recorded": None,
                "observed": 13,
                "flags": ["cutoff_beyond_log"],
            },
        ),
        (["--at-sequence", "0"], {"sequence": 0, "recorded": None, "observed": None, "flags": []}),
    ],
)
def test_a_cutoff_is_printed_with_what_is_to_be_said_of_it(
    run: Run, options: list[str], cutoff: Json
) -> None:
    projected = document(run("project", PAPER, *options, "--format", "json"))
    assert projected["cutoff"] == cutoff
    (checked,) = document(run("check", PAPER, *options, "--format", "json"))["logs"]
    assert checked["projection"] == projected
    # an oracle asks at cutoffs of its own
    assert checked["outcome"] == "agree"


def test_a_time_cutoff_takes_any_offset_and_is_printed_in_utc(run: Run, tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl", UTC)
    ran = run("project", log, "--at-time", "2026-01-01T01:01:00.50+01:00", "--format", "json")
    assert document(ran)["cutoff"]["recorded"] == "2026-01-01T00:01:00.5Z"
    assert document(ran)["accounting"]["beyond_cutoff"] == 1


# ---- project


def test_one_log_is_projected_as_one_projection(run: Run) -> None:
    ran = run("project", PAPER, "--format", "json")
    assert document(ran)["document"] == "replay.projection/1"
    assert (ran.status, ran.err) == (0, "")
    assert run("project", PAPER).text.startswith("paper-nine-events.jsonl\n")


def test_the_same_log_twice_gives_the_same_bytes(run: Run) -> None:
    first = run("project", PAPER, "--format", "json")
    assert run("project", PAPER, "--format", "json") == first
    assert process("project", PAPER, "--format", "json") == first


def test_several_logs_are_projected_in_order_and_the_refused_one_is_among_them(
    run: Run, here: Path
) -> None:
    given = [here / f"{name}.jsonl" for name in ("accepted", "missing", "refused", "undetermined")]
    ran = run("project", *given, "--format", "json")
    found = document(ran)
    assert found["document"] == "replay.projections/1"
    assert [log["refusal"] is None for log in found["logs"]] == [True, False, True]
    assert (ran.status, found["exit"]) == (2, 2)
    assert run("project", *given[2:]).status == 3
    assert run("project", given[3]).status == 0
    text = run("project", *given).text
    assert text.startswith("accepted.jsonl\n")
    assert "\n\nREFUSED  refused.jsonl" in text
    assert "\n\nundetermined.jsonl\n" in text


def test_an_empty_file_is_an_accepted_log_of_no_events(run: Run, tmp_path: Path) -> None:
    log = stored(tmp_path / "empty.jsonl", b"\n \n")
    projected = document(run("project", log, "--format", "json"))
    assert (projected["input"]["lines"], projected["input"]["blank"]) == (2, 2)
    assert projected["input"]["time_basis"] is None
    assert projected["items"] == []
    assert run("check", log).status == 0


# ---- refusals


@pytest.mark.parametrize(
    "log", sorted(REFUSED.glob("*.jsonl*")), ids=lambda path: path.name.partition(".")[0]
)
def test_a_refusal_is_a_document_and_standard_error_says_it_in_words(run: Run, log: Path) -> None:
    ran = run("project", log, "--format", "json")
    refusal = document(ran)
    assert refusal["document"] == "replay.refusal/1"
    assert (ran.status, ran.said) == (3, [in_words(refusal)])
    checked = run("check", log, "--format", "json")
    assert [one["refusal"] for one in document(checked)["logs"]] == [refusal]
    assert (checked.status, checked.err) == (3, ran.err)
    in_text = run("check", log)
    assert (in_text.status, in_text.err) == (3, ran.err)
    assert in_text.text.startswith(f"REFUSED  {refusal['file']}")


def test_a_refused_log_reads_on_standard_error_as_the_readme_shows_it(run: Run) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    ran = run("check", REFUSED / "wrong_type.jsonl")
    assert f"$ replay check fixtures/refused/wrong_type.jsonl > /dev/null\n{ran.err}" in readme


@pytest.mark.parametrize(
    ("option", "limit", "code"),
    [("--max-line", 80, "line_too_long"), ("--max-id", 1, "id_too_long")],
)
def test_a_limit_can_be_set(run: Run, here: Path, option: str, limit: int, code: str) -> None:
    ran = run("project", here / "accepted.jsonl", option, limit, "--format", "json")
    assert (ran.status, document(ran)["code"]) == (3, code)


def test_nesting_can_be_limited_and_allowed(run: Run, tmp_path: Path) -> None:
    deep = b'"payload":' + b'{"a":' * 70 + b"1" + b"}" * 70
    log = stored(tmp_path / "log.jsonl", LOG[:-1].splitlines()[0][:-1] + b"," + deep + b"}\n")
    assert document(run("project", log, "--format", "json"))["code"] == "too_deep"
    assert run("project", log, "--max-nesting", 80).status == 0


# ---- what cannot be read


@pytest.mark.parametrize("command", ONLY_LOG_COMMANDS)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("absent.jsonl", "no such file or directory"),
        ("a\0b.jsonl", "null byte"),
        ("agree.jsonl/x.jsonl", "not a directory"),
        ("x" * 300, "file name too long"),
        ("nothing", "no log in this directory"),
    ],
)
def test_a_log_that_is_not_there_ends_with_2_and_one_line(
    run: Run, here: Path, command: str, name: str, said: str
) -> None:
    (here / "nothing").mkdir()
    ran = run(command, f"{here}/{name}")
    assert (ran.status, ran.out) == (2, b"")
    (line,) = ran.said
    assert said in line


def test_a_log_that_must_not_be_read_ends_with_2(run: Run, here: Path) -> None:
    log = here / "accepted.jsonl"
    log.chmod(0)
    if os.access(log, os.R_OK):
        pytest.skip("this user may read every file")
    ran = run("check", log)
    assert (ran.status, ran.said) == (2, [f"{log}: permission denied"])


def test_a_log_that_fails_while_it_is_read_ends_with_2(run: Run) -> None:
    log = Path("/proc/self/mem")
    if not log.exists():
        pytest.skip("there is no file here that opens and cannot be read")
    ran = run("check", log)
    assert (ran.status, ran.out, ran.said) == (2, b"", [f"{log}: input/output error"])


def test_a_binary_file_is_refused(run: Run, tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl", bytes(range(256)) * 8)
    ran = run("check", log, "--format", "json")
    assert (ran.status, document(ran)["logs"][0]["outcome"]) == (3, "refused")


def test_a_file_name_that_is_not_utf_8_is_printed_with_escapes(tmp_path: Path) -> None:
    log = os.fsencode(tmp_path) + b"/caf\xe9.jsonl"
    try:
        Path(os.fsdecode(log)).write_bytes(LOG)
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    Path(os.fsdecode(log[:-1] + b"l")).with_suffix(".oracle.json").write_bytes(RIGHT)
    ran = process("check", os.fsdecode(log), "--format", "json")
    (checked,) = document(ran)["logs"]
    assert (ran.status, checked["projection"]["input"]["name"]) == (0, r"caf\xe9.jsonl")
    assert checked["oracle"]["name"] == r"caf\xe9.oracle.json"


# ---- standard input


@pytest.mark.parametrize("compress", [bytes, gzip.compress, zstd.compress])
def test_a_log_is_read_from_standard_input_compressed_or_not(compress: Any) -> None:
    data = compress(LOG)
    ran = process("check", "-", "--format", "json", stdin=data)
    (checked,) = document(ran)["logs"]
    assert (ran.status, checked["outcome"]) == (0, "accepted")
    assert checked["projection"]["input"]["name"] == "-"
    assert checked["projection"]["input"]["sha256"] == sha256(data).hexdigest()


def test_standard_input_has_no_oracle_but_the_given_one(here: Path) -> None:
    stored(here / "-.oracle.json", WRONG)
    assert process("check", "-", stdin=LOG, cwd=here).status == 0
    ran = process("check", "-", "--oracle", here / "agree.oracle.json", stdin=LOG)
    assert (ran.status, ran.text.split()[:2]) == (0, ["AGREE", "-"])


@pytest.mark.parametrize("arguments", [("check",), ("merge", "-o", "out.jsonl")])
def test_standard_input_is_read_once(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    ran = process(*arguments, "-", "-", stdin=LOG, cwd=tmp_path)
    assert (ran.status, ran.said) == (2, ["standard input can be read once"])
    assert list(tmp_path.iterdir()) == []


# ---- recovery


def damaged() -> bytes:
    written = LOG.splitlines(keepends=True)
    return b"".join([written[0], b'{"a":\x1b[31m}\n', *written[1:-1], written[-1][:40]])


def test_recovery_keeps_the_good_lines_and_says_what_it_set_aside(run: Run, tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl", damaged())
    before = (log.read_bytes(), log.stat().st_mtime_ns)
    ran = run("project", log, "--recover", "--format", "json")
    sidecar = tmp_path / "log.jsonl.quarantine.jsonl"
    found = document(ran)["input"]
    assert ran.status == 3
    assert (found["complete"], found["quarantined"], found["admitted"]) == (False, 2, 6)
    assert ran.said == [f"{log}: 2 rejected, written to {sidecar}"]
    kept = [json.loads(line) for line in sidecar.read_bytes().splitlines()]
    assert kept[0]["records"] == 2
    assert [record["where"] for record in kept[1:]] == ["middle", "torn_tail"]
    assert (log.read_bytes(), log.stat().st_mtime_ns) == before
    assert "2 quarantined" in run("check", log, "--recover").text


def test_a_recovered_log_is_compared_and_ends_with_3_all_the_same(run: Run, tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl", LOG + b"torn")
    stored(tmp_path / "log.oracle.json", RIGHT)
    ran = run("check", log, "--recover", "--format", "json")
    (checked,) = document(ran)["logs"]
    assert (ran.status, checked["outcome"]) == (3, "agree")


def test_the_recovery_of_a_sound_log_ends_as_usual_and_writes_nothing(run: Run, here: Path) -> None:
    before = sorted(here.iterdir())
    for outcome in ("agree", "accepted", "disagree", "undetermined"):
        log = here / f"{outcome}.jsonl"
        assert run("check", log, "--recover") == run("check", log)
    assert sorted(here.iterdir()) == before


def test_what_recovery_keeps_may_still_be_refused(run: Run, tmp_path: Path) -> None:
    conflicting = LOG.replace(b'"e2"', b'"e1"', 1)
    log = stored(tmp_path / "log.jsonl", conflicting + b"torn\n")
    ran = run("check", log, "--recover", "--format", "json")
    assert (ran.status, document(ran)["logs"][0]["outcome"]) == (3, "refused")
    assert (tmp_path / "log.jsonl.quarantine.jsonl").exists()


def test_recovery_from_standard_input_writes_in_the_current_folder(tmp_path: Path) -> None:
    ran = process("check", "-", "--recover", stdin=damaged(), cwd=tmp_path)
    assert ran.status == 3
    assert [path.name for path in tmp_path.iterdir()] == ["stdin.quarantine.jsonl"]


def test_recovery_never_writes_over_an_input(run: Run, tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl", damaged())
    other = stored(tmp_path / "log.jsonl.quarantine.jsonl", LOG)
    ran = run("check", log, other, "--recover")
    said = f"{other} is an input, and inputs are never written to"
    assert (ran.status, ran.out, ran.said) == (2, b"", [said])
    assert other.read_bytes() == LOG


def test_a_sidecar_that_cannot_be_written_ends_with_2(run: Run, tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl", damaged())
    (tmp_path / "log.jsonl.quarantine.jsonl").mkdir()
    ran = run("check", log, "--recover")
    assert (ran.status, ran.out) == (2, b"")
    assert ran.said == [f"{log}.quarantine.jsonl: not a regular file"]


# ---- import

FOREIGN: Final = ROOT / "fixtures" / "foreign" / "h5i-msg"


def imported(run: Run, folder: Path, *more: object) -> Ran:
    messages, recorded = FOREIGN / "thread.messages.jsonl", FOREIGN / "thread.recorded.jsonl"
    given = (messages, "--recorded", recorded, "-o", folder / "log.jsonl", *more)
    return run("import", "h5i-msg", *given)


def test_an_import_writes_a_log_that_is_accepted_and_its_losses(run: Run, tmp_path: Path) -> None:
    ran = imported(run, tmp_path)
    assert (ran.status, ran.out) == (0, b"")
    (line,) = ran.said
    assert line.startswith(f"{tmp_path / 'log.jsonl'}: ")
    assert run("check", tmp_path / "log.jsonl").status == 0
    losses = (tmp_path / "log.jsonl.losses.json").read_bytes()
    assert document(Ran(0, losses, ""))["document"] == "replay.losses/1"


def test_the_losses_go_where_they_are_wanted(run: Run, tmp_path: Path) -> None:
    imported(run, tmp_path, "--losses", tmp_path / "lost.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "lost.json"]


def test_an_import_twice_writes_the_same_bytes(run: Run, tmp_path: Path) -> None:
    imported(run, tmp_path)
    first = {path: path.read_bytes() for path in tmp_path.iterdir()}
    imported(run, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == first


@pytest.mark.parametrize("option", ["-o", "--losses", "--both"])
def test_an_import_never_writes_over_what_it_reads(run: Run, tmp_path: Path, option: str) -> None:
    foreign = FOREIGN / "thread.messages.jsonl"
    messages = stored(tmp_path / "messages.jsonl", foreign.read_bytes())
    (tmp_path / "alias").symlink_to(messages)
    out, losses = {
        "-o": (tmp_path / "alias", tmp_path / "lost.json"),
        "--losses": (tmp_path / "log.jsonl", tmp_path / "alias"),
        "--both": (tmp_path / "one", tmp_path / "one"),
    }[option]
    recorded = FOREIGN / "thread.recorded.jsonl"
    given = (messages, "--recorded", recorded, "-o", out, "--losses", losses)
    ran = run("import", "h5i-msg", *given)
    assert (ran.status, ran.out) == (2, b"")
    assert messages.read_bytes() == foreign.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alias", "messages.jsonl"]


@pytest.mark.parametrize("unwritable", ["log.jsonl", "log.jsonl.losses.json"])
def test_an_import_that_cannot_write_both_files_writes_neither(
    run: Run, tmp_path: Path, unwritable: str
) -> None:
    (tmp_path / unwritable).mkdir()
    ran = imported(run, tmp_path)
    assert (ran.status, ran.out) == (2, b"")
    assert [path.name for path in tmp_path.iterdir()] == [unwritable]


@pytest.mark.parametrize(
    ("source", "given"),
    [("unheard-of", ["x"]), ("h5i-msg", ["absent"]), ("h5i-msg", ["one", "two"])],
)
def test_an_import_of_what_is_not_there_ends_with_2(
    run: Run, tmp_path: Path, source: str, given: list[str]
) -> None:
    ran = run("import", source, *given, "-o", tmp_path / "log.jsonl")
    assert (ran.status, ran.out, len(ran.said)) == (2, b"", 1)
    assert list(tmp_path.iterdir()) == []


def test_the_help_of_import_names_every_importer(run: Run) -> None:
    printed = run("import", "--help").text
    assert [importer for importer in IMPORTERS if importer not in printed] == []


# ---- what is published


@pytest.mark.parametrize("name", names())
def test_a_schema_is_printed_as_it_is_published(run: Run, name: str) -> None:
    ran = run("schema", name)
    assert (ran.status, ran.err) == (0, "")
    assert json.loads(ran.out) == schema(name)


def test_a_schema_is_json_in_utf_8_whatever_the_terminal_takes() -> None:
    for name in ("event", "check"):
        ran = process("schema", name, env=environment(PYTHONIOENCODING="ascii"))
        assert json.loads(ran.out.decode("utf-8")) == schema(name)


def test_schemas_are_listed_by_name_and_an_unknown_one_ends_with_2(run: Run) -> None:
    assert run("schema").text.split() == list(names())
    ran = run("schema", "mood")
    assert (ran.status, ran.out) == (2, b"")
    assert ran.said[0].startswith("no schema 'mood'; there are: bisect, check, diff")


def test_rule_sets_are_printed_rule_by_rule(run: Run) -> None:
    found = document(run("rules", "--format", "json"))["rules"]
    assert [rule_set["id"] for rule_set in found] == list(register.known())
    assert all(rule_set["rules"] for rule_set in found)
    (only,) = document(run("rules", "coordination/1", "--format", "json"))["rules"]
    assert only == found[0]
    text = run("rules", "coordination/1").text
    assert text.startswith("coordination/1\n")
    assert [rule["id"] for rule in only["rules"] if f"\n  {rule['id']}\n" not in text] == []
    assert run("rules", "coordination/0").status == 2


def test_the_digest_of_a_rule_set_is_that_of_every_result(run: Run) -> None:
    (only,) = document(run("rules", "coordination/1", "--format", "json"))["rules"]
    projected = document(run("project", PAPER, "--rules", "coordination/1", "--format", "json"))
    assert projected["rules"]["digest"] == only["digest"]


def test_every_question_of_the_catalogue_is_printed(run: Run) -> None:
    found = document(run("questions", "--format", "json"))["questions"]
    ids = [question.id for question in QUESTIONS]
    assert [question["id"] for question in found] == ids
    assert [line for line in run("questions").text.splitlines() if line in ids] == ids


# ---- help


def test_help_lists_exactly_what_is_built(run: Run) -> None:
    ran = run("--help")
    listed = [
        line.split()[0]
        for line in ran.text.splitlines()
        if line.startswith("    ") and not line.startswith("     ")
    ]
    assert (ran.status, ran.err, listed) == (0, "", list(RUN))


@pytest.mark.parametrize("command", [None, *RUN])
def test_every_help_has_the_exit_statuses(run: Run, command: str | None) -> None:
    ran = run(*([] if command is None else [command]), "--help")
    assert ran.status == 0
    for words in ("0 agrees", "1 a finding", "2 usage", "3 input refused", "4 undet", "70 a fault"):
        assert words in ran.text
    assert ran.out.isascii()


def test_the_readme_documents_exactly_the_commands_that_are_built() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = readme.split("| command | does |")[1].split("\n\n")[0]
    assert {name for name in RUN if f"`replay {name}" not in table} == set()
    shown = {part.split()[0].rstrip("`") for part in table.split("`replay ")[1:]}
    assert shown == set(RUN)


@pytest.mark.parametrize("arguments", [[], ["unheard-of"], ["check"], ["merge", "a.jsonl"]])
def test_an_incomplete_command_prints_its_usage_and_ends_with_2(
    run: Run, arguments: list[str]
) -> None:
    ran = run(*arguments)
    assert (ran.status, ran.out) == (2, b"")
    assert ran.err.startswith("usage: replay")


def test_the_version_is_printed() -> None:
    assert process("--version") == Ran(0, f"replay {VERSION}\n".encode(), "")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--help"], 0), (["--version"], 0), ([], 2), (["any\x1b[2Jthing"], 2)],
)
def test_the_study_is_a_command_of_its_own(arguments: list[str], status: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "study", *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert bool(done.stdout) == (status == 0)
    assert bool(done.stderr) == (status == 2)
    assert "\x1b" not in done.stderr


# ---- faults of ours


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rule sets that fail, with hostile text in what they say."""

    def fail(_: object) -> None:
        raise ZeroDivisionError("over\nnothing \x1b[31m")

    for rules in register.known():
        failing = msgspec.structs.replace(register.named(rules), project=fail)
        monkeypatch.setitem(register._named, rules, failing)


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize("command", ONLY_LOG_COMMANDS)
def test_a_fault_of_ours_is_one_line_and_70(run: Run, here: Path, command: str) -> None:
    ran = run(command, here / "refused.jsonl", here / "agree.jsonl", here / "missing.jsonl")
    assert (ran.status, ran.out) == (70, b"")
    assert ran.said[1:] == [
        r"a fault of ours: ZeroDivisionError: over\nnothing \x{1b5b33316d} (--debug shows where)"
    ]


@pytest.mark.usefixtures("faulty")
def test_debug_shows_where_a_fault_happened_and_still_ends_with_70(run: Run) -> None:
    ran = run("check", PAPER, "--debug")
    printed = ran.err.splitlines()
    assert (ran.status, ran.out) == (70, b"")
    assert printed[0] == "Traceback (most recent call last):"
    assert any(line.endswith(", in fail") for line in printed)
    assert printed[-1].startswith("replay: a fault of ours: ZeroDivisionError")
    assert "\x1b" not in ran.err


def test_a_refusal_is_no_fault_and_shows_no_trace(run: Run, here: Path) -> None:
    assert "Traceback" not in run("check", here / "refused.jsonl", "--debug").err


def test_a_process_exits_with_the_status_that_main_returns() -> None:
    assert main(["rules", "coordination/0"]) == 2
    assert process("rules", "coordination/0").status == 2
