"""Who may import whom, and four proofs that deriving code cannot reach an oracle.

`MAY_IMPORT` is the architecture: one row a module, and a module without a row fails.
An import counts wherever it stands: in a function, under TYPE_CHECKING, or as the name
of a module in a string, which is how the register of rule sets loads one.
"""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, get_type_hints

import pytest

import replay
from replay.history import Prefix
from replay.projection import Projection
from replay.rules import known, named
from tests.notation import history, lines

ROOT: Final = Path(__file__).parent.parent
LEAVES: Final = {"replay.errors", "replay.event"}
DERIVED: Final = {*LEAVES, "replay.history", "replay.projection", "replay.timestamps"}
ANSWERED: Final = {*DERIVED, "replay.rules", "replay.document", "replay.canonical"}
EVERYTHING_BUT_THE_COMMAND_LINE: Final = {
    *ANSWERED,
    *("replay.api", "replay.files", "replay.decode", "replay.exact", "replay.lines"),
    *("replay.strictjson", "replay.check", "replay.oracle", "replay.questions"),
    *("replay.explain", "replay.compare", "replay.shrink", "replay.timeline", "replay.tables"),
    *("replay.engine", "replay.authority", "replay.evidence.*", "replay.sources.*"),
    *("replay.report.*", "replay.schemas.*", "replay.version"),
    *("replay.segments", "replay.encode", "replay.quarantine"),
    *("replay.payloads", "replay.fastpath"),
    *("replay.latency", "replay.table_files", "replay.display", "replay.checked"),
    "replay.table_csv",
    *("replay.demo", "replay.asking", "replay.minimal", "replay.closure", "replay.said"),
    *("replay.reasons.*", "replay.why_not", "replay.what_if", "replay.inquiry"),
    *("replay.disagreement", "replay.refused"),
    *("replay.told", "replay.flips", "replay.bisection", "replay.divergence"),
    *("replay.recorded", "replay.recheck"),
}

MAY_IMPORT: Final[Mapping[str, set[str]]] = {
    # what everything stands on
    "replay.errors": set(),
    "replay.event": set(),
    "replay.canonical": set(),
    "replay.version": set(),
    "replay.timestamps": {"replay.event"},
    # bytes to a history
    "replay.lines": {"replay.event"},
    "replay.strictjson": {*LEAVES, "replay.timestamps"},
    "replay.payloads": {*LEAVES, "replay.strictjson"},
    "replay.exact": {
        *LEAVES,
        *("replay.timestamps", "replay.strictjson", "replay.payloads"),
    },
    "replay.fastpath": {
        *("replay.event", "replay.timestamps", "replay.strictjson"),
        *("replay.exact", "replay.payloads"),
    },
    "replay.decode": {
        *LEAVES,
        *("replay.timestamps", "replay.strictjson", "replay.exact", "replay.lines"),
        "replay.fastpath",
    },
    # and, once somebody asks a history for its board, to answers: see SHOWING
    "replay.history": {*LEAVES, "replay.timestamps", "replay.projection", "replay.api"},
    "replay.segments": {"replay.event", "replay.history", "replay.canonical"},
    "replay.encode": {"replay.event", "replay.timestamps"},
    "replay.quarantine": {"replay.decode", "replay.event", "replay.errors", "replay.canonical"},
    "replay.files": {
        *LEAVES,
        *("replay.decode", "replay.exact", "replay.lines", "replay.strictjson"),
        *("replay.history", "replay.canonical", "replay.quarantine"),
    },
    # a prefix to answers
    # and, once somebody asks for a table or looks at it in a notebook, to these: see SHOWING
    "replay.projection": {"replay.event", "replay.history", "replay.tables", "replay.display"},
    "replay.rules": {
        *("replay.projection", "replay.canonical", "replay.errors", "replay.history"),
        *("replay.rules.v1", "replay.rules.v2", "replay.rules.growth"),
        *("replay.rules.installed", "replay.rules.guard"),
    },
    "replay.rules.v1": {"replay.event", "replay.history", "replay.projection"},
    "replay.rules.v2": {"replay.event", "replay.history", "replay.projection"},
    "replay.rules.growth": {
        *("replay.event", "replay.history", "replay.projection", "replay.rules.v2"),
    },
    # somebody else's rule sets, and what they answer
    # (the entry points' group has the name of the register)
    "replay.rules.installed": {
        *("replay.errors", "replay.projection", "replay.rules", "replay.rules.guard"),
    },
    "replay.rules.guard": {*LEAVES, "replay.history", "replay.projection"},
    "replay.document": {*DERIVED, "replay.version"},
    # authored answers, and the only place where they meet derived ones
    "replay.questions": {"replay.event"},
    "replay.oracle": {
        *LEAVES,
        *("replay.canonical", "replay.timestamps", "replay.questions"),
    },
    "replay.check": {
        *("replay.errors", "replay.event", "replay.canonical", "replay.history"),
        *("replay.document", "replay.rules", "replay.oracle", "replay.questions"),
    },
    # more to ask of answers
    "replay.asking": {*ANSWERED, "replay.questions"},
    "replay.minimal": {"replay.event"},
    "replay.closure": {"replay.event", "replay.asking"},
    "replay.said": {"replay.event"},
    "replay.reasons.*": {
        *("replay.event", "replay.questions", "replay.asking", "replay.said"),
        "replay.reasons.*",
    },
    "replay.why_not": {
        *("replay.errors", "replay.event", "replay.questions", "replay.asking"),
        "replay.reasons.*",
    },
    "replay.what_if": {
        *(*DERIVED, "replay.asking", "replay.flips", "replay.minimal", "replay.questions"),
        "replay.why_not",
    },
    "replay.explain": {
        *ANSWERED,
        *("replay.questions", "replay.asking", "replay.closure", "replay.encode"),
        *("replay.minimal", "replay.reasons.*", "replay.said", "replay.what_if"),
        *("replay.why_not", "replay.report.*"),
    },
    "replay.inquiry": {
        *("replay.rules", "replay.history", "replay.event", "replay.asking", "replay.explain"),
        *("replay.compare", "replay.bisection", "replay.report.*"),
    },
    "replay.told": {"replay.event", "replay.questions", "replay.asking"},
    "replay.flips": {*ANSWERED, "replay.asking", "replay.timeline", "replay.told"},
    "replay.bisection": {
        *ANSWERED,
        *("replay.asking", "replay.timeline", "replay.told", "replay.flips"),
    },
    "replay.divergence": {
        *ANSWERED,
        *("replay.asking", "replay.timeline", "replay.told", "replay.flips"),
    },
    "replay.compare": {
        *ANSWERED,
        *("replay.asking", "replay.told", "replay.divergence", "replay.recorded"),
    },
    # what was printed once, and is it what its log still shows
    "replay.recorded": {*LEAVES, "replay.canonical"},
    "replay.recheck": {*ANSWERED, "replay.recorded"},
    "replay.timeline": {*ANSWERED, "replay.tables", "replay.display"},
    "replay.latency": {*DERIVED, "replay.timeline"},
    "replay.shrink": {
        *ANSWERED,
        *("replay.questions", "replay.asking", "replay.closure", "replay.minimal"),
        "replay.oracle",
    },
    "replay.disagreement": {
        *ANSWERED,
        *("replay.questions", "replay.asking", "replay.closure", "replay.oracle"),
        *("replay.check", "replay.shrink"),
    },
    "replay.refused": {
        *LEAVES,
        *("replay.decode", "replay.exact", "replay.history", "replay.minimal"),
    },
    # their columns are read from the schema that is published
    "replay.tables": {*ANSWERED, "replay.timeline", "replay.latency", "replay.schemas.*"},
    "replay.table_csv": {"replay.errors", "replay.timestamps"},
    "replay.table_files": {
        *("replay.errors", "replay.files", "replay.canonical"),
        *("replay.tables", "replay.table_csv"),
    },
    "replay.display": {*ANSWERED, "replay.timeline", "replay.report.*"},
    "replay.checked": {
        *("replay.check", "replay.oracle", "replay.files", "replay.errors", "replay.event"),
        "replay.report.*",
    },
    "replay.engine": {*ANSWERED, "replay.files", "replay.decode"},
    "replay.cluster": {*ANSWERED, "replay.engine"},
    # what stands beside them
    "replay.evidence.*": {
        *LEAVES,
        *("replay.canonical", "replay.history", "replay.timestamps", "replay.evidence.*"),
    },
    "replay.authority": {*LEAVES, "replay.history", "replay.timestamps"},
    "replay.sources.*": {*LEAVES, "replay.timestamps", "replay.canonical", "replay.sources.*"},
    "replay.report.*": {
        *("replay.errors", "replay.canonical", "replay.timestamps", "replay.version"),
        "replay.report.*",
    },
    "replay.schemas.*": {"replay.errors", "replay.version"},
    "replay.testing.*": {*EVERYTHING_BUT_THE_COMMAND_LINE, "replay.testing.*"},
    # the public names, and the command line that nothing imports
    "replay": {
        *DERIVED,
        *("replay.api", "replay.checked", "replay.inquiry", "replay.version", "replay.rules"),
        *("replay.timeline", "replay.table_csv", "replay.latency"),
    },
    "replay.api": {*ANSWERED, "replay.files", "replay.tables", "replay.timeline"},
    "replay.terminal": {"replay.errors", "replay.canonical", "replay.report.*"},
    "replay.demo": {"replay.errors", "replay.files"},
    "replay.inputs": {"replay.terminal", *EVERYTHING_BUT_THE_COMMAND_LINE},
    "replay.checking": {
        *("replay.inputs", "replay.terminal", "replay.rechecking"),
        *EVERYTHING_BUT_THE_COMMAND_LINE,
    },
    "replay.explaining": {"replay.inputs", "replay.terminal", *EVERYTHING_BUT_THE_COMMAND_LINE},
    "replay.shrinking": {"replay.inputs", "replay.terminal", *EVERYTHING_BUT_THE_COMMAND_LINE},
    "replay.differing": {"replay.inputs", "replay.terminal", *EVERYTHING_BUT_THE_COMMAND_LINE},
    "replay.rechecking": {"replay.inputs", "replay.terminal", *EVERYTHING_BUT_THE_COMMAND_LINE},
    "replay.page": {"replay.inputs", "replay.terminal", *EVERYTHING_BUT_THE_COMMAND_LINE},
    "replay.commands": {
        *("replay.inputs", "replay.checking", "replay.explaining", "replay.shrinking"),
        *("replay.page", "replay.terminal"),
        *("replay.differing", "replay.rechecking"),
        *EVERYTHING_BUT_THE_COMMAND_LINE,
    },
    "replay.cli": {"replay.commands", "replay.terminal", "replay.errors", "replay.version"},
    "replay.__main__": {"replay.cli"},
    # the study takes what `replay` makes public
    "study.*": {"study.*", "study.output"},
    "study.cases": {"study.*", "replay.testing.*"},
    "study.operational.*": {"study.*", "study.operational.*", "replay"},
    "study": {"study.*", "study.operational.*"},
    "study.output": {"study.*", "study.operational.*"},
    "study.cli": {"study.*", "study.output", "study.operational.*", "study.schemas.*"},
    "study.__main__": {"study.cli"},
    "study.schemas.*": set(),
}

SHOWING: Final[Mapping[str, set[str]]] = {
    "replay.history": {"replay.projection", "replay.api"},
    "replay.projection": {"replay.tables", "replay.display"},
}
"""What a result imports when it is asked to show itself, which is after it was derived."""
SHOWN_BY: Final[Mapping[str, set[str]]] = {
    "replay.history": {"board"},
    "replay.projection": {
        *("to_arrow", "to_pandas", "__arrow_c_stream__"),
        *("__str__", "_repr_html_", "_repr_pretty_"),
    },
}
"""The methods that may do so.

Deriving code calls none of a projection's, and has no history whose board it could ask for.
"""
TO_DERIVE: Final = {name: to - SHOWING.get(name, set()) for name, to in MAY_IMPORT.items()}

DERIVING: Final = ("replay.history", "replay.projection", "replay.rules.v1", "replay.rules.v2")
PURE: Final = {
    *("__future__", "bisect", "collections", "collections.abc", "functools", "heapq"),
    *("itertools", "operator", "typing", "replay", "msgspec"),
}
"""All that deriving code may import from outside: no file, clock, chance or other process."""
IMPURE_BUILTINS: Final = {"open", "eval", "exec", "compile", "__import__", "input", "print"}
AUTHORED: Final = {"replay.oracle", "replay.questions", "replay.check"}


# Reading the imports


@cache
def modules() -> Mapping[str, Path]:
    """Every module of ours by name."""
    found = {}
    for path in [p for top in ("replay", "study") for p in sorted((ROOT / top).rglob("*.py"))]:
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def named_in(node: ast.AST, module: str) -> Iterator[str]:
    """The dotted names that one node imports, as far as a module's name can reach."""
    match node:
        case ast.Import(names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(of, names, level):
            base = ".".join([*package(module, level), *([of] if of else [])])
            yield from (f"{base}.{alias.name}" for alias in names)
        case ast.Constant(str(text)) if "." in text and text in modules():
            yield text


def package(module: str, level: int) -> list[str]:
    """The package that a relative import of that level starts from; [] of an absolute one."""
    if not level:
        return []
    parts = module.split(".")
    is_package = modules()[module].name == "__init__.py"
    return parts[: len(parts) - level + is_package]


@cache
def imports(module: str) -> frozenset[str]:
    """The modules of ours that a module imports, itself left out."""
    found = set()
    for node in ast.walk(tree(module)):
        for name in named_in(node, module):
            parts = name.split(".")
            stems = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
            ours = next((stem for stem in stems if stem in modules()), None)
            found |= {ours} if ours else set()
    return frozenset(found - {module})


def row(module: str) -> str | None:
    """The row of a module: its own, else that of the nearest package with `.*`."""
    parts = module.split(".")
    stems = (".".join(parts[:size]) + ".*" for size in range(len(parts), 0, -1))
    return next((name for name in (module, *stems) if name in MAY_IMPORT), None)


def allows(allowed: set[str], module: str) -> bool:
    return module in allowed or row(module) in {name for name in allowed if name.endswith(".*")}


def reached(start: str, edges: Mapping[str, set[str] | frozenset[str]]) -> set[str]:
    """All that can be reached from `start` by any number of steps."""
    seen: set[str] = set()
    frontier = {start}
    while frontier:
        seen |= frontier
        frontier = {to for at in frontier for to in edges.get(at, ())} - seen
    return seen - {start}


# The architecture


def test_every_module_has_a_row() -> None:
    assert [module for module in modules() if row(module) is None] == []


@pytest.mark.parametrize("module", sorted(modules()))
def test_a_module_imports_what_its_row_allows(module: str) -> None:
    allowed = MAY_IMPORT[row(module) or ""]
    assert [name for name in sorted(imports(module)) if not allows(allowed, name)] == []


def test_the_command_line_is_imported_by_nothing() -> None:
    importing = [name for name, allowed in MAY_IMPORT.items() if "replay.cli" in allowed]
    assert importing == ["replay.__main__"]


@pytest.mark.parametrize("module", DERIVING)
def test_no_chain_of_allowed_imports_leads_from_deriving_code_to_authored_answers(
    module: str,
) -> None:
    assert reached(module, TO_DERIVE) <= DERIVED


@pytest.mark.parametrize("module", [name for name in DERIVING if name in modules()])
def test_no_chain_of_imports_leads_from_deriving_code_to_authored_answers(module: str) -> None:
    real = {name: imports(name) - SHOWING.get(name, set()) for name in modules()}
    assert reached(module, real) <= DERIVED


@pytest.mark.parametrize("module", sorted(SHOWING))
def test_a_result_imports_what_shows_it_inside_the_methods_that_do(module: str) -> None:
    def showing(node: ast.AST) -> list[ast.AST]:
        found = ((inner, name) for inner in ast.walk(node) for name in named_in(inner, module))
        return [inner for inner, name in found if name.rpartition(".")[0] in SHOWING[module]]

    def may_show(node: ast.AST) -> bool:
        match node:
            case ast.FunctionDef(name=name):
                return name in SHOWN_BY[module]
            case ast.If(test=ast.Name("TYPE_CHECKING")):  # a type's name, and nothing at run time
                return True
        return False

    places = [node for node in ast.walk(tree(module)) if may_show(node)]
    assert showing(tree(module))
    assert {*showing(tree(module))} == {node for place in places for node in showing(place)}


@pytest.mark.parametrize("module", [*DERIVING, "replay.rules.growth"])
def test_deriving_code_never_asks_a_result_to_show_itself(module: str) -> None:
    shown_by = SHOWN_BY["replay.projection"]
    allowed = shown_by if module == "replay.projection" else set()  # by its own methods
    named_there = {n.attr for n in ast.walk(tree(module)) if isinstance(n, ast.Attribute)}
    texts = {n.value for n in ast.walk(tree(module)) if isinstance(n, ast.Constant)}
    assert (named_there | texts) & shown_by <= allowed


def test_authored_answers_reach_no_deriving_code() -> None:
    independent = {*LEAVES, "replay.canonical", "replay.timestamps", "replay.questions"}
    assert reached("replay.oracle", MAY_IMPORT) <= independent


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("replay.rules.v1", "replay.rules.v2"),
        ("replay.authority", "replay.projection"),
        ("replay.evidence.*", "replay.projection"),
        ("replay.sources.*", "replay.history"),
        ("replay.report.*", "replay.rules"),
    ],
)
def test_what_is_kept_apart_reaches_neither_from_the_other(one: str, other: str) -> None:
    assert other not in reached(one, TO_DERIVE)
    assert one not in reached(other, TO_DERIVE)


def test_importers_emit_lines_and_never_events() -> None:
    importers = [name for name in modules() if row(name) == "replay.sources.*"]
    assert importers
    taken = {
        name
        for module in importers
        for node in ast.walk(tree(module))
        for name in named_in(node, module)
    }
    assert not taken & {"replay.event.Event", "replay.event.Source", "replay.event"}


def test_the_study_takes_public_names_only() -> None:
    names = {
        name
        for module in modules()
        if module.split(".")[0] == "study"
        for node in ast.walk(tree(module))
        for name in named_in(node, module)
        if name.split(".")[0] == "replay" and not name.startswith("replay.testing")
    }
    assert names <= {"replay", *(f"replay.{public}" for public in replay.__all__)}


@pytest.mark.parametrize("module", [name for name in DERIVING if name in modules()])
def test_deriving_code_has_no_file_no_clock_and_no_chance(module: str) -> None:
    nodes = [*ast.walk(tree(module))]
    outside = {
        name if isinstance(node, ast.Import) else name.rpartition(".")[0]
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in named_in(node, module)
    }
    assert {name for name in outside if not name.startswith("replay.")} <= PURE
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    assert not read & IMPURE_BUILTINS


def test_the_reading_of_imports_sees_functions_type_checking_relative_ones_and_strings() -> None:
    written = ast.parse(
        "def f():\n from replay import oracle\n"
        "if TYPE_CHECKING:\n from replay.check import check_log\n"
        "from ..canonical import encode\n"
        "import replay.history as h\n"
        "load('replay.rules.v1')\n"
    )
    seen = {name for node in ast.walk(written) for name in named_in(node, "replay.rules.v1")}
    assert seen == {
        "replay.oracle",
        "replay.check.check_log",
        "replay.canonical.encode",
        "replay.history",
        "replay.rules.v1",
    }


# By type


@pytest.mark.parametrize("rules", known())
def test_a_rule_set_is_a_function_of_a_prefix_and_nothing_else(rules: str) -> None:
    project = named(rules).project
    hints = get_type_hints(project)
    (parameter,) = inspect.signature(project).parameters.values()
    assert parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert parameter.default is inspect.Parameter.empty
    assert hints == {parameter.name: Prefix, "return": Projection}
    assert inspect.isfunction(project)
    assert project.__closure__ is None


# By import, by file, and by weight: in a process of their own


def run(program: str, *arguments: str) -> object:
    """What a program prints as JSON in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed: object = json.loads(done.stdout.splitlines()[-1])
    return printed


NAME_AND_LIST: Final = """
import json, sys
from replay.rules import named
named(sys.argv[1])
print(json.dumps(sorted(name for name in sys.modules if name.startswith("replay"))))
"""


@pytest.mark.parametrize("rules", known())
def test_naming_a_rule_set_loads_no_authored_answers(rules: str) -> None:
    loaded = run(NAME_AND_LIST, rules)
    assert isinstance(loaded, list)
    assert "replay.projection" in loaded
    assert not AUTHORED & set(loaded)


DERIVE_UNDER_AUDIT: Final = """
import json, sys
import replay
from replay.rules import named

project = named(sys.argv[1]).project
history = replay.load(sys.argv[2])
cutoffs = range(len(history.events) + 2)
seen = []
watched = ("open", "import", "exec", "compile", "os.", "socket.", "subprocess.", "ctypes.")
sys.addaudithook(lambda event, _arguments: event.startswith(watched) and seen.append(event))
projected = [project(history.until(sequence=at)) for at in cutoffs]
during = [*seen]
with open(sys.argv[3]) as oracle:
    oracle.read()
print(json.dumps({"during": during, "after": seen[:1], "projected": len(projected)}))
"""


@pytest.mark.parametrize("rules", known())
def test_no_file_is_opened_during_a_derivation_with_an_oracle_beside_the_log(
    rules: str, tmp_path: Path
) -> None:
    log, oracle = tmp_path / "paper.jsonl", tmp_path / "paper.oracle.json"
    log.write_bytes(lines(history("r1 ci- + + r2<e3 ci+ ready cancel")))
    oracle.write_bytes(b'{"document":"replay.oracle/1","answers":[]}')
    seen = run(DERIVE_UNDER_AUDIT, rules, str(log), str(oracle))
    # that the hook does see the oracle, once somebody opens it, is seen afterwards
    assert seen == {"during": [], "after": ["open"], "projected": 10}


DERIVE_AND_LIST: Final = """
import json, sys
import replay

history = replay.load(sys.argv[2])
for at in range(len(history.events) + 2):
    replay.project(history.until(sequence=at), rules=sys.argv[1])
replay.timeline_of(history.until(), rules=sys.argv[1])
showing = {"replay.tables", "replay.latency", "pandas", "pyarrow", "numpy"}
showing |= {"replay.display", "replay.report.notebook"}
derived = sorted(showing & set(sys.modules))
projection = replay.project(history.until(), rules=sys.argv[1])
projection.to_arrow("items")
projection._repr_html_()
print(json.dumps({"derived": derived, "shown": sorted(showing & set(sys.modules))}))
"""


@pytest.mark.parametrize("rules", known())
def test_what_shows_a_result_is_loaded_once_it_is_shown(rules: str, tmp_path: Path) -> None:
    log = tmp_path / "paper.jsonl"
    log.write_bytes(lines(history("r1 ci- + + r2<e3 ci+ ready cancel")))
    seen = run(DERIVE_AND_LIST, rules, str(log))
    assert isinstance(seen, dict)
    assert seen["derived"] == []
    assert {"replay.tables", "pyarrow", "replay.display"} <= set(seen["shown"])


CHECK_AND_LIST: Final = """
import json, sys
from replay.cli import entry

sys.argv = ["replay", "check", *sys.argv[1:]]
try:
    status = entry()
except SystemExit as ended:
    status = ended.code
heavy = {"pandas", "pyarrow", "numpy", "lifelines", "asyncio", "dataclasses", "hypothesis"}
print()
print(json.dumps({"status": status or 0, "heavy": sorted(heavy & set(sys.modules))}))
"""


def test_a_check_on_the_command_line_loads_no_heavy_library(tmp_path: Path) -> None:
    log = tmp_path / "paper.jsonl"
    log.write_bytes(lines(history("r1 ci- + + r2<e3 ci+ ready")))
    (tmp_path / "paper.oracle.json").write_bytes(b'{"document":"replay.oracle/1","answers":[]}')
    assert run(CHECK_AND_LIST, str(log)) == {"status": 0, "heavy": []}
