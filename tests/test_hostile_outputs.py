"""Every output of the tool on a log written against whoever reads it.

`OUTPUTS` has a row for each: how it is made, and what makes it safe for its reader.  Which
outputs there are is read off the command line's parser and the classes that show themselves,
so a new one without a row fails here before anybody trusts it.
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import pytest
from IPython.lib.pretty import pretty
from lxml import etree
from pyarrow import parquet as pq

import replay
from replay import cli
from replay.event import differences
from replay.table_csv import original
from tests import hostile
from tests.command import REFUSED, ROOT, Run, in_process
from tests.test_table_csv import is_run

Json = Any
LATEST: Final = "coordination/2"
CONTROL: Final = "\x1b]0;pwned\x07\x1b[2J\x9b31m"
FORMULA: Final = '=HYPERLINK("https://example.org";"x")'
REORDERED: Final = "\u202egnp\u2066"
MARKUP: Final = hostile.MARKUP
HIDDEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
SURPRISES: Final = (CONTROL, FORMULA, REORDERED, MARKUP)
"""Ids and words that obey nobody: each stands as every kind of text of the log."""


# ---- the log and what stands beside it


def events() -> Iterator[Json]:
    for n, word in enumerate(SURPRISES):
        item = {"work_id": word, "principal": f"@{word}", "lane_id": word}
        revision = {"artifact_revision": word}
        yield {**item, "type": "work.started", "event_id": word}
        yield {**item, **revision, "type": "artifact.published", "payload": {"description": word}}
        run = {"check": word, "outcome": "passed", "source": word}
        yield {**item, **revision, "type": "check.completed", "payload": run}
        raised = {"blocker_id": word, "reason": word}
        yield {**item, "type": "blocker.raised", "payload": raised, "causes": [f"none{word}"]}
        yield {**item, **revision, "type": "review.requested"}
        yield {**item, "type": "event.retracted", "supersedes": f"e{n}-4", "payload": raised}
        yield {**item, "type": word, "payload": {word: [word]}}
        yield {"type": "note", "claimed_author": word, "payload": {"text": word}}


def numbered() -> Iterator[Json]:
    for n, event in enumerate(events()):
        yield {
            "schema_version": "events/1",
            "event_id": f"e{n // 8}-{n % 8}",
            "recorded_sequence": n + 1,
            "recorded_at_utc": f"2026-05-01T09:{n:02d}:00Z",
            **event,
        }


def answer(word: str, n: int) -> Json:
    at = {"rules": LATEST, "at": {}, "work_id": word, "question": "state"}
    return {"id": f"{word}{n}", **at, "expect": {"value": "complete"}, "why": word}


class Stage(NamedTuple):
    """Where the outputs are made: the files, and how a command is run."""

    folder: Path
    run: Run

    @property
    def log(self) -> Path:
        return self.folder / "-log\x1b[31m\u202e.jsonl"

    @property
    def plain(self) -> Path:
        return self.folder / "plain.jsonl"

    def output(self, name: str) -> Path:
        return self.folder / "out" / name

    def text(self, *arguments: object) -> str:
        ran = self.run(*arguments)
        assert ran.status in (0, 1, 3, 4), ran.err
        assert_visible(ran.err)
        return ran.text


@pytest.fixture
def stage(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Stage:
    made = Stage(tmp_path, in_process(capfdbinary))
    (tmp_path / "out").mkdir()
    lines = [json.dumps(event, ensure_ascii=n % 2 == 0) for n, event in enumerate(numbered())]
    for path in (made.log, made.plain):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    oracle = {
        "document": "replay.oracle/1",
        "title": CONTROL,
        "why": REORDERED,
        "answers": [answer(word, n) for n, word in enumerate(SURPRISES)],
    }
    for path in (made.log, made.plain):
        path.with_suffix(".oracle.json").write_text(json.dumps(oracle), encoding="utf-8")
    return made


# ---- what makes an output safe for its reader


def assert_visible(text: str) -> None:
    """Nothing moves a terminal, and nothing is hidden or reordered."""
    assert [c for c in text if c != "\n" and unicodedata.category(c) in HIDDEN] == []


def assert_json(data: bytes) -> Json:
    """One line of JSON, in which no control character stands as itself."""
    assert data.endswith(b"\n")
    assert not re.search(rb"[\x00-\x1f]", data[:-1])
    return json.loads(data)


def assert_harmless_html(text: str) -> None:
    """No element is the log's, and nothing is hidden."""
    assert MARKUP not in text
    assert "<img" not in text
    assert not {*text} & {*hostile.HIDDEN, "\x1b", "\x9b"}


def strings(value: Json) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from strings(one)
        case dict():
            for name, one in value.items():
                yield name
                yield from strings(one)


def as_text(*arguments: str) -> Callable[[Stage], None]:
    def judge(stage: Stage) -> None:
        text = stage.text(*placed(stage, arguments))
        assert text
        assert_visible(text)

    return judge


def as_json(*arguments: str) -> Callable[[Stage], None]:
    def judge(stage: Stage) -> None:
        found = assert_json(stage.text(*placed(stage, arguments), "--format", "json").encode())
        assert found["document"].startswith("replay.")

    return judge


def placed(stage: Stage, arguments: tuple[str, ...]) -> list[object]:
    places: dict[str, object] = {
        "LOG": stage.log,
        "PLAIN": stage.plain,
        "BAD": REFUSED / "wrong_type.jsonl",
        "DIR": stage.folder / "demo",
    }
    return [places.get(argument, argument) for argument in arguments]


def junit(stage: Stage) -> None:
    root = ElementTree.fromstring(stage.text("check", stage.log, "--format", "junit"))
    for element in root.iter():
        assert_visible("".join([element.text or "", *element.attrib.values()]))
    assert root.findall(".//failure")


def sarif(stage: Stage) -> None:
    found = assert_json(stage.text("check", stage.log, "--format", "sarif").encode())
    (run,) = found["runs"]
    assert run["results"]
    for result in run["results"]:
        places = [*result["locations"], *result.get("relatedLocations", ())]
        uris = [p["physicalLocation"]["artifactLocation"]["uri"] for p in places]
        assert all(uri.isascii() and uri.isprintable() for uri in uris)
        for message in (result["message"], *(p.get("message", {}) for p in places)):
            assert_visible(message.get("text", ""))
            assert "](" not in message.get("text", "")


def parquet_files(stage: Stage) -> None:
    stage.text("project", stage.log, "-o", stage.folder / "out")
    items = pq.read_table(stage.output("items.parquet"))
    assert {*SURPRISES} <= {*items.column("work_id").to_pylist()}  # data, to the letter


def csv_files(stage: Stage) -> None:
    stage.text("project", stage.log, "-o", stage.folder / "out", "--tables", "csv")
    for path in sorted(stage.folder.joinpath("out").glob("*.csv")):
        rows = [*csv.reader(io.StringIO(path.read_bytes().decode(), newline=""), strict=True)]
        cells = [cell for row in rows for cell in row]
        assert [cell for cell in cells if is_run(cell)] == []
        assert not {*"".join(cells)} & {*hostile.HIDDEN, "\x1b", "\x9b", "\x07"}
        assert_json(path.with_suffix(".csv.json").read_bytes())
    items = [*csv.reader(io.StringIO(stage.output("items.csv").read_bytes().decode(), newline=""))]
    assert {*SURPRISES} <= {original(row[0]) for row in items}


def page(stage: Stage) -> None:
    out = stage.output("page.html")
    stage.text("view", stage.log, "-o", out)
    assert_harmless_html(out.read_bytes().decode())


def merged(stage: Stage) -> None:
    out = stage.output("merged.jsonl")
    stage.text("merge", stage.log, stage.plain, "-o", out)
    assert_log(out)
    one, other = (replay.load(path).events for path in (out, stage.log))
    assert [differences(*pair) for pair in zip(one, other, strict=True)] == [()] * len(one)


def assert_log(path: Path) -> None:
    for line in path.read_bytes().splitlines(keepends=True):
        assert_json(line)


def shrunk(stage: Stage) -> None:
    out = stage.output("small.jsonl")
    options = ("--keep", "state", "--work", FORMULA, "-o", out)
    assert_visible(stage.text("shrink", stage.plain, *options))
    assert_log(out)
    oracle = stage.output("small.oracle.json").read_bytes()  # for an author to edit, in lines
    assert not re.search(rb"[\x00-\x09\x0b-\x1f]", oracle)
    assert json.loads(oracle)["answers"]


def imported(stage: Stage) -> None:
    rows, messages = [], []
    for n, word in enumerate(SURPRISES, 1):
        fields = {"id": word, "from": word, "to": word, "body": word, "kind": "DONE", word: word}
        messages.append(json.dumps({**fields, "ts": "2026-03-02T09:00:00Z"}))
        times = {"line": n, "recorded_at": "2026-05-01T09:00:00Z"}
        rows.append(json.dumps({"recorded_sequence": n, **times, "id": word}))
    (stage.folder / "m.messages").write_text("\n".join(messages), encoding="utf-8")
    (stage.folder / "m.recorded").write_text("\n".join(rows), encoding="utf-8")
    out = stage.output("imported.jsonl")
    given = (stage.folder / "m.messages", "--recorded", stage.folder / "m.recorded")
    assert stage.text("import", "h5i-msg", *given, "-o", out) == ""
    assert_log(out)
    assert len(replay.load(out).events) == len(SURPRISES)
    assert assert_json(Path(f"{out}.losses.json").read_bytes())["losses"]


def quarantined(stage: Stage) -> None:
    torn = stage.folder / "torn.jsonl"
    bad = json.dumps({"schema_version": CONTROL, FORMULA: REORDERED}, ensure_ascii=False).encode()
    torn.write_bytes(stage.plain.read_bytes() + bad + b"\n" + CONTROL.encode() + b"\n\x00\xff{")
    assert_visible(stage.text("check", torn, "--recover"))
    sidecar = Path(f"{torn}.quarantine.jsonl")
    assert len(sidecar.read_bytes().splitlines()) > 2
    assert_log(sidecar)
    for line in sidecar.read_bytes().splitlines():
        assert_visible("".join(strings(json.loads(line))))


def said(stage: Stage) -> None:
    """What goes to standard error: refusals, usage, what cannot be read, faults of ours."""
    bad = stage.folder / "bad.jsonl"
    word = json.dumps(CONTROL + REORDERED, ensure_ascii=False)
    for line in (f'{{"schema_version":{word}}}', f"{{{word}:1}}", CONTROL, REORDERED):
        bad.write_text(f"{line}\n", encoding="utf-8")
        ran = stage.run("project", bad)
        assert (ran.status, bool(ran.err)) == (3, True)
        assert_visible(ran.err + ran.text)
    for arguments in (
        ("check", stage.folder / CONTROL),
        ("check", stage.log, "--rules", CONTROL),
        ("check", stage.log, f"--{CONTROL}"),
        (CONTROL,),
        ("import", REORDERED, stage.log, "-o", stage.output("x")),
        ("view", stage.log, "-o", stage.folder / CONTROL / "x"),
        ("timeline", stage.log, "--work", CONTROL + REORDERED),
    ):
        ran = stage.run(*arguments)
        assert (ran.status, bool(ran.err)) == (2, True)
        assert_visible(ran.err)


def shows(make: Callable[[Stage], Any], *ways: str) -> dict[str, Callable[[Stage], None]]:
    """Rows for the ways in which a result of Python shows itself."""

    def judge(way: str) -> Callable[[Stage], None]:
        def judged(stage: Stage) -> None:
            for result in make(stage):
                if way == "_repr_html_":
                    html = result._repr_html_()
                    assert_harmless_html(html)
                    etree.fromstring(html, etree.XMLParser(resolve_entities=False))
                else:
                    assert_visible(printed(result, way))

        return judged

    return {way: judge(way) for way in ways}


def printed(result: Any, way: str) -> str:
    if way == "_repr_pretty_":
        found: str = pretty(result)  # type: ignore[no-untyped-call]
        return found
    return str(result) if way == "__str__" else repr(result)


def boards(stage: Stage) -> list[Any]:
    log = replay.load(stage.log)
    return [log.board(rules=rules) for rules in ("coordination/1", LATEST)]


def findings(stage: Stage) -> list[Any]:
    prefix = replay.load(stage.log).until()
    return [
        replay.rules_compared(prefix, "coordination/1", LATEST),
        replay.answers_over_time(prefix, "state", FORMULA, rules=LATEST),
    ]


def explanations(stage: Stage) -> list[Any]:
    seen = replay.load(stage.log).until()
    return [replay.explanation_of(seen, "state", word, rules=LATEST) for word in SURPRISES]


SHOWN: Final = {
    "Projection": shows(boards, "_repr_html_", "_repr_pretty_", "__str__", "__repr__"),
    "Item": shows(lambda stage: [i for b in boards(stage) for i in b.items], "_repr_html_"),
    "Episode": shows(lambda stage: [e for b in boards(stage) for e in b.episodes], "_repr_html_"),
    "Timeline": shows(
        lambda stage: [replay.timeline_of(replay.load(stage.log).until(), rules=LATEST)],
        *("_repr_html_", "__repr__"),
    ),
    "CheckResult": shows(
        lambda stage: [replay.check_log(stage.log, rules=LATEST)], "_repr_html_", "__repr__"
    ),
    "Explanation": shows(explanations, "_repr_html_", "_repr_pretty_", "__str__"),
    "Found": shows(findings, "_repr_html_", "_repr_pretty_", "__str__"),
}
WORK: Final = ("--work", FORMULA)
OF_A_LOG: Final[dict[str, tuple[str, ...]]] = {
    "check": ("check", "LOG"),
    "project": ("project", "LOG"),
    "timeline": ("timeline", "LOG"),
    "diff": ("diff", "LOG", "--rules", "coordination/1", "--rules", LATEST),
    "bisect": ("bisect", "LOG", "--question", "state", *WORK),
    "explain": ("explain", "PLAIN", FORMULA),
    "rules": ("rules",),
    "questions": ("questions",),
}
OUTPUTS: Final[dict[str, Callable[[Stage], None]]] = {
    **{f"{name} --format text": as_text(*given) for name, given in OF_A_LOG.items()},
    **{f"{name} --format json": as_json(*given) for name, given in OF_A_LOG.items()},
    "check --format junit": junit,
    "check --format sarif": sarif,
    "project -o --tables parquet": parquet_files,
    "project -o --tables csv": csv_files,
    "view -o": page,
    "merge -o": merged,
    "import -o": imported,
    "import --losses": imported,
    "shrink --format text": shrunk,
    "shrink --format json": lambda stage: as_json(
        "shrink", "PLAIN", "--keep", "state", *WORK, "-o", str(stage.output("small.jsonl"))
    )(stage),
    "shrink -o": shrunk,
    "shrink's oracle": shrunk,
    "the quarantine": quarantined,
    "schema": as_text("schema", "event"),
    "demo": as_text("demo", "DIR"),
    "standard error": said,
    **{f"{kind}.{way}": judge for kind, ways in SHOWN.items() for way, judge in ways.items()},
}


@pytest.mark.parametrize("output", sorted(OUTPUTS))
def test_an_output_is_safe_for_its_reader(output: str, stage: Stage) -> None:
    OUTPUTS[output](stage)


# ---- that none is missing


def of_the_command_line() -> Iterator[str]:
    """What the parser says that each command prints and writes."""
    yield "standard error"
    for name, (_, fill) in cli.COMMANDS.items():
        parser = argparse.ArgumentParser()
        fill(parser)
        options = {action.dest: action for action in parser._actions}
        formats = options["format"].choices if "format" in options else None
        yield from (f"{name} --format {one}" for one in formats or ())
        if "output" in options:
            tables = options["tables"].choices if "tables" in options else None
            yield from (f"{name} -o --tables {one}" for one in tables or ())
            yield from () if tables else (f"{name} -o",)
        if formats is None and "output" not in options:
            yield name
        if "no_oracle" in options:
            yield f"{name}'s oracle"
        if "losses" in options and "source" in options:
            yield f"{name} --losses"
        if "recover" in options:
            yield "the quarantine"


WAYS: Final = {"_repr_html_", "_repr_pretty_", "_repr_markdown_", "_repr_svg_", "__str__"}


def of_python() -> Iterator[str]:
    """The classes that say how they are shown; errors are shown by whoever catches them."""
    for path in sorted((ROOT / "replay").rglob("*.py")):
        if path.name == "errors.py" or "testing" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                methods = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
                yield from (f"{node.name}.{way}" for way in methods & {*WAYS, "__repr__"})


def test_every_output_of_the_command_line_and_of_python_has_its_row() -> None:
    assert {*of_the_command_line(), *of_python()} == {*OUTPUTS}
