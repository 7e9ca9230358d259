"""The pytest plugin: a folder of logs and oracles as tests, seen from outside by pytester."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from replay.testing import build, plugin
from tests import hostile
from tests.notation import history

ROOT: Final = Path(__file__).parent.parent
CASES: Final = ROOT / "fixtures" / "cases"
pytest_plugins = ("pytester",)


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An empty project whose pytest has this plugin, installed or not."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for a pytest that is a process of its own
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return pytester


def run(inner: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return inner.runpytest_inprocess("-p", "replay.testing.plugin", *arguments)


def write(folder: Path, notation: str, *answers: dict[str, Any], name: str = "log") -> Path:
    """A log and, where answers are given, its oracle."""
    folder.mkdir(exist_ok=True)
    log = folder / f"{name}.jsonl"
    log.write_bytes(build.log_bytes(history(notation).events))
    if answers:
        oracle = {"document": "replay.oracle/1", "answers": [*answers]}
        (folder / f"{name}.oracle.json").write_text(json.dumps(oracle), encoding="utf-8")
    return log


def answer(id: str, question: str = "state", expect: Any = None, **more: Any) -> dict[str, Any]:
    given = {"rules": "coordination/2", "at": {}, "work_id": "W1"}
    return {"id": id, "question": question, "expect": expect, **given, **more}


ACTIVE: Final = {"value": "active"}


def test_each_answer_is_a_test_with_the_log_and_its_id_as_name(inner: pytest.Pytester) -> None:
    write(inner.path / "logs", "r1 ci+", answer("q1", expect=ACTIVE), answer("q2", expect=ACTIVE))
    ran = run(inner, "--replay-logs", "logs", "-v")
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(["logs/log.jsonl::q1 PASSED*", "logs/log.jsonl::q2 PASSED*"])


def test_a_difference_is_one_paragraph_and_no_traceback(inner: pytest.Pytester) -> None:
    expected = {"value": "blocked", "since": {"event_id": "e1", "time": 0}}
    write(inner.path / "logs", "r1 ci+ +b1", answer("q1", expect=expected, why="Because."))
    ran = run(inner, "--replay-logs", "logs")
    ran.assert_outcomes(failed=1)
    (paragraph,) = [line for line in ran.outlines if line.startswith("log.jsonl: answer q1")]
    assert "(state, W1, at the end of the log, coordination/2) differs: expected" in paragraph
    assert '"event_id": "e1"' in paragraph
    assert '"event_id": "e3"' in paragraph
    assert "by rule " in paragraph
    assert "Look first at event e1, on line 1." in paragraph
    assert paragraph.endswith("Why it was expected: Because.")
    assert "Traceback" not in ran.stdout.str()
    assert "plugin.py" not in ran.stdout.str()


def test_undetermined_fails_and_names_what_is_not_covered(inner: pytest.Pytester) -> None:
    asked = answer("q1", expect=ACTIVE, rules="coordination/1")
    write(inner.path / "logs", "r1 ci+ done", asked)
    ran = run(inner, "--replay-logs", "logs")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*is undetermined: coordination/1 does not cover*(e3)*neither*"])


def test_undetermined_that_was_expected_passes(inner: pytest.Pytester) -> None:
    asked = answer("q1", expect="undetermined", rules="coordination/1")
    write(inner.path / "logs", "r1 ci+ done", asked)
    run(inner, "--replay-logs", "logs").assert_outcomes(passed=1)


def test_a_refused_log_fails_with_its_line_and_code(inner: pytest.Pytester) -> None:
    log = write(inner.path / "logs", "r1 ci+", answer("q1", expect=ACTIVE))
    log.write_bytes(log.read_bytes().replace(b'"recorded_sequence":2', b'"recorded_sequence":"2"'))
    ran = run(inner, "--replay-logs", "logs")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["refused: log.jsonl:2: wrong_type at /recorded_sequence: *"])


def test_a_log_without_an_oracle_is_the_one_test_accepted(inner: pytest.Pytester) -> None:
    write(inner.path / "logs", "r1 ci+")
    ran = run(inner, "--replay-logs", "logs", "-v")
    ran.assert_outcomes(passed=1)
    ran.stdout.fnmatch_lines(["logs/log.jsonl::accepted PASSED*"])


def test_an_oracle_with_no_answers_is_not_silently_nothing(inner: pytest.Pytester) -> None:
    log = write(inner.path / "logs", "r1 ci+")
    log.with_name("log.oracle.json").write_text('{"document":"replay.oracle/1","answers":[]}')
    run(inner, "--replay-logs", "logs").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("oracle", "said"),
    [
        ("{", "*log.oracle.json: expected one JSON document*"),
        (json.dumps({"document": "replay.oracle/1", "answers": [1]}), "*at /answers/0*"),
    ],
)
def test_an_oracle_that_is_none_is_one_failed_test(
    inner: pytest.Pytester, oracle: str, said: str
) -> None:
    log = write(inner.path / "logs", "r1 ci+")
    log.with_name("log.oracle.json").write_text(oracle)
    ran = run(inner, "--replay-logs", "logs")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines([said])


def test_rules_that_do_not_exist_are_one_failed_test(inner: pytest.Pytester) -> None:
    write(inner.path / "logs", "r1 ci+")
    ran = run(inner, "--replay-logs", "logs", "--replay-rules", "coordination/9")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*no rule set 'coordination/9'*"])


def test_the_ini_option_is_part_of_a_whole_run(inner: pytest.Pytester) -> None:
    write(inner.path / "logs", "r1 ci+", answer("q1", expect=ACTIVE))
    inner.makeini("[pytest]\ntestpaths = tests\nreplay_logs = logs\n")
    inner.mkdir("tests").joinpath("test_one.py").write_text("def test_one(): pass\n")
    run(inner).assert_outcomes(passed=2)
    run(inner, "tests/test_one.py").assert_outcomes(passed=1)
    run(inner, "logs/log.jsonl::q1").assert_outcomes(passed=1)


def test_the_folder_is_collected_once_wherever_it_lies(inner: pytest.Pytester) -> None:
    write(inner.path / "logs", "r1 ci+", answer("q1", expect=ACTIVE))
    inner.makepyfile(test_one="def test_one(): pass\n")
    run(inner, "--replay-logs", "logs").assert_outcomes(passed=2)
    run(inner, "--replay-logs", "logs", "--replay-logs", "./logs").assert_outcomes(passed=2)
    run(inner, "--replay-logs", "logs", "logs").assert_outcomes(passed=1)


def test_one_answer_can_be_run_again_and_others_deselected(inner: pytest.Pytester) -> None:
    asked = [answer("good", expect=ACTIVE), answer("bad", expect={"value": "blocked"})]
    write(inner.path / "logs", "r1 ci+", *asked)
    run(inner, "--replay-logs", "logs").assert_outcomes(passed=1, failed=1)
    run(inner, "--replay-logs", "logs", "--lf").assert_outcomes(failed=1)
    run(inner, "--replay-logs", "logs", "-k", "good").assert_outcomes(passed=1, deselected=1)


def test_one_log_can_be_named_and_sidecars_are_none(inner: pytest.Pytester) -> None:
    log = write(inner.path / "logs", "r1 ci+")
    log.with_name("log.jsonl.quarantine.jsonl").write_text("not a log\n")
    (inner.path / "logs" / "more").mkdir()
    write(inner.path / "logs" / "more", "r1", name="deeper")
    run(inner, "--replay-logs", "logs").assert_outcomes(passed=1)
    run(inner, "--replay-logs", "logs/log.jsonl").assert_outcomes(passed=1)


def test_a_folder_that_is_not_there_is_a_usage_error(inner: pytest.Pytester) -> None:
    ran = run(inner, "--replay-logs", "nowhere")
    assert ran.ret == pytest.ExitCode.USAGE_ERROR
    ran.stderr.fnmatch_lines(["*no such file or folder: *nowhere*"])


def test_without_the_option_logs_are_no_tests(inner: pytest.Pytester) -> None:
    write(inner.path / "logs", "r1 ci+", answer("q1", expect=ACTIVE))
    inner.makepyfile(
        "import sys\n"
        "def test_inert():\n"
        "    assert not {m for m in sys.modules if m.startswith('replay.') and m not in\n"
        "                ('replay.version', 'replay.testing', 'replay.testing.plugin')}\n"
        "    assert not {'msgspec', 'pyarrow', 'pandas', 'hypothesis'} & set(sys.modules)\n"
    )
    ran = inner.runpytest_subprocess("-p", "replay.testing.plugin")
    ran.assert_outcomes(passed=1)


def test_hostile_ids_make_safe_names_and_safe_paragraphs(inner: pytest.Pytester) -> None:
    ids = ["\x1b[2J", "a::b/c[d]", "\u202egnp", "x" * 500, "y" * 500, " ", "é", "\n"]
    asked = [answer(one, expect={"value": "\x1b]0;title\x07"}, work_id=one) for one in ids]
    write(inner.path / "logs", "r1 ci+", *asked)
    ran = run(inner, "--replay-logs", "logs", "-v", "--color=no")
    ran.assert_outcomes(failed=len(ids))
    printed = ran.stdout.str()
    assert [c for c in printed if not (c.isprintable() or c == "\n")] == []
    assert "\u202e" not in printed
    names = [line.split()[0] for line in ran.outlines if " FAILED" in line]
    assert len({*names}) == len(ids)
    assert all(name.isascii() and name.count("::") == 1 and len(name) < 120 for name in names)


def test_a_hostile_log_is_accepted(inner: pytest.Pytester) -> None:
    hostile.write(inner.mkdir("logs") / "hostile.jsonl")
    run(inner, "--replay-logs", "logs").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("one", "other"), [("a b", "a\\u20;b"), ("é", "e\u0301"), ("x" * 99, "x" * 98 + "y")]
)
def test_different_ids_have_different_names(one: str, other: str) -> None:
    assert plugin._name(one) != plugin._name(other)


def test_all_authored_cases_pass(inner: pytest.Pytester) -> None:
    if not CASES.is_dir():
        pytest.skip("no authored cases beside the tests")
    answers = sum(
        len(json.loads(path.read_bytes())["answers"]) for path in CASES.glob("*.oracle.json")
    )
    settings = inner.makeini("[pytest]\n")  # and not those of this repository
    ran = run(inner, "-c", str(settings), "--replay-logs", str(CASES), "-q")
    ran.assert_outcomes(passed=answers)


def test_without_pytest_the_plugin_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['pytest'] = None\n"
        "try: import replay.testing.plugin\n"
        "except ModuleNotFoundError as missing: print(missing.name, missing)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout.startswith("pytest ")
    assert "coordination-replay[testing]" in ran.stdout
