"""The command as a process: full disks, closed pipes, signals, odd terminals, hostile text."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import time
import unicodedata
from pathlib import Path
from typing import Any, Final

import pytest

from replay.report.safe import MAX_WORD
from tests.command import (
    PAPER,
    REFUSED,
    Ran,
    Run,
    command,
    document,
    environment,
    in_process,
    oracle,
    process,
)
from tests.notation import history, lines

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell and signals")

Json = Any
FULL: Final = Path("/dev/full")
UNBUFFERED: Final = pytest.mark.parametrize("unbuffered", ["", "1"])
LONG: Final = lines(history(" ".join(f"beat#W{number}" for number in range(600))))


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


def stored(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A log of which the output is longer than a pipe holds."""
    return stored(tmp_path / "long.jsonl", LONG)


# ---- standard output


@UNBUFFERED
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_reader_that_stops_early_is_no_trouble(long: Path, form: str, unbuffered: str) -> None:
    child = subprocess.Popen(
        command("project", long, "--format", form),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PYTHONUNBUFFERED=unbuffered),
    )
    assert child.stdout is not None
    assert child.stderr is not None
    assert len(child.stdout.read(10)) == 10
    child.stdout.close()
    assert (child.stderr.read(), child.wait()) == (b"", 0)
    child.stderr.close()


def test_a_reader_that_stops_early_does_not_change_what_was_found() -> None:
    child = subprocess.Popen(
        command("check", REFUSED / "bom.jsonl"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    with child.stderr:
        ran = Ran(child.wait(), b"", child.stderr.read().decode())
    assert (ran.status, len(ran.said)) == (3, 1)
    assert ran.said[0].startswith("bom.jsonl:1: bom")


@UNBUFFERED
@pytest.mark.parametrize(
    "arguments", [["check", PAPER], ["rules", "--format", "json"], ["schema"], ["--help"]]
)
def test_a_full_disk_behind_standard_output_is_one_line_and_2(
    arguments: list[object], unbuffered: str
) -> None:
    if not FULL.exists():
        pytest.skip("there is no /dev/full here")
    env = environment(PYTHONUNBUFFERED=unbuffered)
    ran = process(*arguments, redirect=f">{FULL}", env=env)
    assert (ran.status, ran.said) == (2, ["standard output: no space left on device"])


LIMITED: Final = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"


@UNBUFFERED
def test_output_that_is_written_in_part_is_not_taken_for_whole(
    long: Path, tmp_path: Path, unbuffered: str
) -> None:
    out = tmp_path / "out.json"
    env = environment(PYTHONUNBUFFERED=unbuffered)
    arguments = ("project", long, "--format", "json")
    ran = process(*arguments, prologue=LIMITED, redirect=f">{out}", env=env)
    assert (ran.status, ran.said) == (2, ["standard output: file too large"])
    assert out.stat().st_size <= 2000


@pytest.mark.parametrize("arguments", [["check", PAPER], ["--help"], ["--version"], ["schema"]])
def test_standard_output_that_is_closed_is_one_line_and_2(arguments: list[object]) -> None:
    ran = process(*arguments, redirect=">&-")
    assert (ran.status, ran.said) == (2, ["standard output: closed"])


# ---- standard error


@pytest.mark.parametrize("redirect", ["2>&-", f"2>{FULL}"])
@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["check", "absent.jsonl"], 2),
        (["project", REFUSED / "bom.jsonl", "--format", "json"], 3),
        (["check", PAPER], 0),
        (["--unheard-of"], 2),
    ],
)
def test_nobody_to_be_told_changes_neither_the_output_nor_the_status(
    arguments: list[object], status: int, redirect: str
) -> None:
    if "full" in redirect and not FULL.exists():
        pytest.skip("there is no /dev/full here")
    ran = process(*arguments, redirect=redirect)
    assert ran == Ran(status, process(*arguments).out, "")


def test_all_streams_closed_still_end_with_the_status() -> None:
    assert process("check", REFUSED / "bom.jsonl", redirect="<&- >&- 2>&-").status == 2
    assert process("check", "absent.jsonl", redirect="<&- >&- 2>&-").status == 2


def test_standard_input_that_is_closed_is_one_line_and_2() -> None:
    ran = process("check", "-", redirect="<&-")
    assert (ran.status, ran.out) == (2, b"")
    assert ran.said == ["standard input: closed"]


# ---- files that are written


@pytest.mark.parametrize("before", [b"", b"an earlier merge"])
def test_a_full_disk_leaves_no_half_of_a_merge(long: Path, tmp_path: Path, before: bytes) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    out = folder / "out.jsonl"
    if before:
        out.write_bytes(before)
    ran = process("merge", long, "-o", out, prologue=LIMITED)
    assert (ran.status, ran.out, ran.said) == (2, b"", [f"{out}: file too large"])
    assert [path.read_bytes() for path in folder.iterdir()] == ([before] if before else [])


def test_a_full_disk_leaves_no_half_of_a_quarantine(long: Path) -> None:
    long.write_bytes(long.read_bytes().replace(b'"elapsed/1"', b"elapsed", 300))
    ran = process("check", long, "--recover", prologue=LIMITED)
    said = [f"{long}.quarantine.jsonl: file too large"]
    assert (ran.status, ran.out, ran.said) == (2, b"", said)
    assert [path.name for path in long.parent.iterdir()] == ["long.jsonl"]


# ---- interrupts

# a shell that runs its jobs in the background has them ignore it
INTERRUPTIBLE: Final = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


def interrupted(*arguments: object) -> Ran:
    """Interrupts a run that has read most, and waits for the rest, of standard input."""
    child = subprocess.Popen(
        command(*arguments, prologue=INTERRUPTIBLE),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    with child.stdin, child.stdout, child.stderr:
        # a pipe holds far less: once it is written, nearly all of it has been read
        child.stdin.write((b" " * 999 + b"\n") * 3000)
        child.stdin.flush()
        while True:
            time.sleep(0.3)  # for what is still in the pipe
            child.send_signal(signal.SIGINT)
            try:
                child.wait(timeout=3)
            except subprocess.TimeoutExpired:
                continue  # it came between two reads of the interpreter's, which saw nothing
            return Ran(child.returncode, child.stdout.read(), child.stderr.read().decode())


@pytest.mark.parametrize("arguments", [["check", "-"], ["project", "-", "--format", "json"]])
def test_an_interrupted_read_ends_with_130_and_no_trace(arguments: list[str]) -> None:
    ran = interrupted(*arguments)
    assert (ran.status, ran.out, ran.said) == (130, b"", ["interrupted"])


def test_an_interrupted_merge_leaves_nothing_behind(tmp_path: Path) -> None:
    ran = interrupted("merge", PAPER, "-", "-o", tmp_path / "out.jsonl")
    assert (ran.status, ran.out, ran.said) == (130, b"", ["interrupted"])
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_a_merge_is_written_leaves_the_old_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    out = stored(tmp_path / "out.jsonl", b"an earlier merge")
    monkeypatch.setattr(os, "fsync", interrupt)
    ran = run("merge", PAPER, "-o", out)
    assert (ran.status, ran.said) == (130, ["interrupted"])
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"an earlier merge"]


# ---- encodings

UNICODE: Final = "\u00e9\u65e5\u672c"


@pytest.fixture
def unicode_log(tmp_path: Path) -> Path:
    return stored(tmp_path / "log.jsonl", lines(history(f"r1#{UNICODE} ready#{UNICODE} beat#")))


PLAIN_C: Final = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
TEXTS: Final = ("check", "project", "rules", "questions", "--help")
ENCODINGS: Final = ({"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "ascii:strict"}, PLAIN_C)


@pytest.mark.parametrize("changed", ENCODINGS)
def test_json_is_the_same_bytes_whatever_the_terminal_takes(
    unicode_log: Path, changed: dict[str, str]
) -> None:
    usual = process("project", unicode_log, "--format", "json")
    ran = process("project", unicode_log, "--format", "json", env=environment(**changed))
    assert ran == usual
    assert document(ran)["items"][0]["work_id"] == UNICODE


@pytest.mark.parametrize(
    ("name", "changed"),
    [("check", PLAIN_C), *((name, {"PYTHONIOENCODING": "ascii"}) for name in TEXTS)],
)
def test_text_that_a_terminal_cannot_show_is_escaped(
    unicode_log: Path, name: str, changed: dict[str, str]
) -> None:
    given = [unicode_log] if name in ("check", "project") else []
    ran = process(name, *given, env=environment(**changed))
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.isascii()
    if given:
        assert rb"\xe9\u65e5\u672c" in ran.out


def test_a_refusal_in_plain_ascii_is_still_told(tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl", hostile(1, **{UNICODE: 1}))
    ran = process("check", log, env=environment(PYTHONIOENCODING="ascii:strict"))
    assert ran.status == 3
    assert r"\xe9\u65e5\u672c" in ran.err


# ---- hostile text

HOSTILE: Final = "\x1b[31m\x1b]0;title\x07\x9b2J\r\x00\x7f\u202e\u200b\u2028end"
HIDDEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def hidden(text: str) -> set[str]:
    """The characters of printed text that a reader would not see, or a terminal obey."""
    return {c for c in text if unicodedata.category(c) in HIDDEN and c != "\n"}


def hostile(number: int, **changed: Json) -> bytes:
    value = {
        "schema_version": "elapsed/1",
        "event_id": f"{number}{HOSTILE}",
        "recorded_sequence": number,
        "recorded_minute": number,
        "work_id": HOSTILE,
        "principal": HOSTILE,
        "artifact_revision": HOSTILE,
        "type": "artifact.published",
        "payload": {"description": HOSTILE},
        **changed,
    }
    return json.dumps(value).encode() + b"\n"


def hostile_log() -> bytes:
    check = {"check": HOSTILE, "outcome": "failed", "source": HOSTILE}
    return b"".join(
        [
            hostile(1),
            hostile(2, type="check.completed", payload=check),
            hostile(3, type="blocker.raised", payload={"blocker_id": HOSTILE, "reason": HOSTILE}),
            hostile(4, type="review.requested", payload={"requires": [HOSTILE]}),
            hostile(5, type=HOSTILE, supersedes=HOSTILE, causes=[HOSTILE]),
            hostile(6, type="event.retracted", supersedes=f"4{HOSTILE}", work_id=f"2{HOSTILE}"),
            hostile(9, type="note", work_id=None),
        ]
    )


def hostile_oracle() -> bytes:
    named = {"work_id": HOSTILE, "why": HOSTILE}
    return oracle(
        {**named, "expect": {"value": HOSTILE}, "evidence": [HOSTILE]},
        {**named, "question": "receipt", "of": f"2{HOSTILE}", "expect": HOSTILE},
        {**named, "question": "revision", "expect": HOSTILE, "id": HOSTILE},
    )


@pytest.mark.parametrize("name", ["log", f"log {HOSTILE}".replace("\0", "").replace("/", "")])
@pytest.mark.parametrize("rules", ["coordination/1", "coordination/2"])
def test_hostile_text_reaches_no_terminal(run: Run, tmp_path: Path, name: str, rules: str) -> None:
    log = stored(tmp_path / f"{name}.jsonl", hostile_log())
    stored(tmp_path / f"{name}.oracle.json", hostile_oracle())
    for arguments in (
        ["check", log],
        ["project", log],
        ["project", log, log],
        ["check", log, "--segments"],
        ["merge", log, "-o", f"{log}.out"],
    ):
        ran = run(*arguments, *(["--rules", rules] if arguments[0] != "merge" else []))
        assert ran.status in (0, 1)
        assert hidden(ran.text) == set()
        assert hidden(ran.err) == set()


BROKEN: Final = {
    "an unknown field": hostile(1, **{HOSTILE: 1}),
    "a conflict": hostile(1) + hostile(1, type="note"),
    "an id admitted twice": hostile(1) + hostile(1, recorded_sequence=2),
    "a sequence that is borne twice": hostile(1) + hostile(1, event_id=HOSTILE),
    "a version": hostile(1, schema_version=HOSTILE),
    "a time": hostile(1, recorded_minute=HOSTILE),
    "a payload": hostile(1, type="check.completed", payload={"check": "c", "outcome": HOSTILE}),
    "no JSON": HOSTILE.encode(),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_refusal_of_hostile_text_is_shown_safely(run: Run, tmp_path: Path, broken: str) -> None:
    log = stored(tmp_path / "log.jsonl", BROKEN[broken])
    ran = run("check", log)
    assert ran.status == 3
    assert hidden(ran.text) == set()
    assert hidden(ran.err) == set()
    assert len(ran.said) == 1
    assert document(run("project", log, "--format", "json"))["document"] == "replay.refusal/1"
    recovered = run("check", log, "--recover")
    assert hidden(recovered.text + recovered.err) == set()


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", f"absent {HOSTILE}"],
        ["check", PAPER, "--rules", HOSTILE],
        ["check", PAPER, f"--{HOSTILE}"],
        ["check", PAPER, "--at-time", HOSTILE],
        ["check", PAPER, "--at-minute", HOSTILE],
        ["check", PAPER, "--format", HOSTILE],
        ["schema", HOSTILE],
        [HOSTILE],
    ],
)
def test_hostile_arguments_are_said_safely(run: Run, arguments: list[object]) -> None:
    ran = run(*arguments)
    assert (ran.status, ran.out) == (2, b"")
    assert hidden(ran.err) == set()


def test_a_very_long_id_does_not_flood_the_text(run: Run, tmp_path: Path) -> None:
    log = stored(tmp_path / "log.jsonl", hostile(1, event_id="e" * 1000, work_id="w" * 1000))
    ran = run("check", log)
    assert max(map(len, ran.text.splitlines())) <= 80
    assert re.search(rf"e{{{MAX_WORD}}}", ran.text) is None


# ---- terminals


def on_terminal(*arguments: object, columns: int = 0, **changed: str | None) -> str:
    """What a run prints where standard output is a terminal."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = environment(**{"TERM": "xterm", **changed})
    with subprocess.Popen(
        command(*arguments), stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env=env
    ) as child:
        os.close(theirs)
        printed = b""
        while select.select([ours], [], [])[0]:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # what Linux says when the other end is closed
                break
            if not piece:
                break
            printed += piece
    os.close(ours)
    assert child.returncode == 0
    return printed.decode().replace("\r\n", "\n")


COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("name", ["check", "project"])
def test_colour_is_for_terminals_and_says_nothing_that_the_words_do_not(name: str) -> None:
    coloured = on_terminal(name, PAPER)
    piped = process(name, PAPER).text
    assert COLOUR.search(coloured)
    assert COLOUR.search(piped) is None
    assert COLOUR.sub("", coloured) == piped


@pytest.mark.parametrize("changed", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_that_wants_no_colour_gets_none(changed: dict[str, Any]) -> None:
    assert on_terminal("check", PAPER, **changed) == process("check", PAPER).text


def test_an_empty_no_color_is_none() -> None:
    assert COLOUR.search(on_terminal("check", PAPER, NO_COLOR=""))


def test_json_on_a_terminal_has_no_colour() -> None:
    printed = on_terminal("project", PAPER, "--format", "json")
    assert printed.encode() == process("project", PAPER, "--format", "json").out


@pytest.mark.parametrize(("columns", "most"), [(70, 70), (300, 100), (20, 60), (0, 80)])
def test_text_fills_the_terminal_within_reason(columns: int, most: int) -> None:
    printed = on_terminal("check", PAPER, columns=columns, NO_COLOR="1")
    longest = max(map(len, printed.splitlines()))
    assert most - 15 <= longest <= most


@pytest.mark.parametrize("columns", ["0", "1", "40", "1000", "wide"])
def test_piped_text_does_not_depend_on_the_terminal(columns: str) -> None:
    env = environment(COLUMNS=columns)
    assert process("check", PAPER, env=env) == process("check", PAPER)
    assert process("check", "--help", env=env) == process("check", "--help")


# ---- the start

LIST_MODULES: Final = """
import atexit, json, sys
atexit.register(lambda: sys.stderr.write(json.dumps(sorted(sys.modules))))
"""
NEVER_ON_THE_WAY: Final = {
    *("pandas", "pyarrow", "numpy", "lifelines", "asyncio", "dataclasses", "hypothesis"),
    *("importlib.resources", "importlib.metadata", "subprocess", "tempfile", "socket", "ssl"),
    *("gzip", "zlib", "backports.zstd", "shutil", "traceback", "logging", "replay.sources"),
    *("replay.schemas", "replay.segments", "replay.encode"),
}


def test_a_check_of_a_thousand_lines_loads_nothing_that_it_does_not_use(tmp_path: Path) -> None:
    words = " ".join(f"{('r1', 'ci+', 'beat', '+b1')[n % 4]}#W{n % 40}" for n in range(1000))
    log = stored(tmp_path / "log.jsonl", lines(history(words)))
    stored(tmp_path / "log.oracle.json", oracle({"expect": {"value": "active"}}))
    ran = process("check", log, prologue=LIST_MODULES)
    loaded = set(json.loads(ran.err))
    assert ran.status == 0
    assert ran.text.startswith("AGREE")
    assert "replay.check" in loaded
    assert loaded & NEVER_ON_THE_WAY == set()
