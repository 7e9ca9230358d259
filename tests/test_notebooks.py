"""The notebooks: stored without outputs, run from top to bottom, and right in what they print.

They are executed in a copy of the folders that they read, so that a run leaves nothing in
the checkout, and by the package of the checkout.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import nbformat
import pytest

from tests.command import ROOT

NOTEBOOKS: Final = sorted((ROOT / "notebooks").glob("*.ipynb"))
SHARED: Final = ROOT.parent / "shared"
PUBLIC: Final = {
    *("replay", "replay.testing.simulate"),
    *("study", "study.estimates", "study.spells", "study.survival"),
}
"""What a notebook may import of ours: what the READMEs name, with what it takes and answers."""
Notebook = Any


def read(path: Path) -> Notebook:
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]


def code_of(notebook: Notebook) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def test_the_notebooks_are_numbered_from_one() -> None:
    assert [path.name[:3] for path in NOTEBOOKS] == ["01-", "02-", "03-", "04-"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_valid_and_stored_without_outputs(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell for cell in code if cell.outputs or cell.execution_count is not None] == []
    assert {*notebook.metadata} == {"kernelspec", "language_info"}
    assert all(not cell.metadata for cell in notebook.cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_prose_around_short_cells(path: Path) -> None:
    cells = read(path).cells
    assert cells[0].source.startswith("# ")
    assert sum(cell.cell_type == "markdown" for cell in cells) >= len(cells) / 2 - 1
    assert max(len(source.splitlines()) for source in code_of(read(path))) <= 15


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_uses_public_names_and_defines_no_function(path: Path) -> None:
    nodes = [node for source in code_of(read(path)) for node in ast.walk(ast.parse(source))]
    assert not [n for n in nodes if isinstance(n, ast.FunctionDef | ast.Lambda | ast.ClassDef)]
    asked = [*attributes(nodes), *imported(nodes)]
    assert ("replay", "load") in asked
    assert [(module, name) for module, name in asked if not is_public(module, name)] == []


def attributes(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Every `replay.NAME` and `study.NAME`."""
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="replay" | "study" as package), attr=name):
                yield package, name


def imported(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Every name that is imported from a module of ours; of a module itself the name is empty."""
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module)) if is_ours(module):
                yield from ((module, alias.name) for alias in node.names)
            case ast.Import():
                yield from ((alias.name, "") for alias in node.names if is_ours(alias.name))


def is_ours(module: str) -> bool:
    return module.partition(".")[0] in ("replay", "study")


def is_public(module: str, name: str) -> bool:
    return module in PUBLIC and (not name or name in names_of(module))


def names_of(module: str) -> set[str]:
    """Those that a module lists, or else those that it defines."""
    home = import_module(module)
    own = (one for one, value in vars(home).items() if is_of(value, module) and one[0] != "_")
    return {*getattr(home, "__all__", own)}


def is_of(value: object, module: str) -> bool:
    return getattr(value, "__module__", None) == module


@pytest.mark.parametrize(
    "line",
    [
        "import replay.testing.simulate; replay.testing",
        "from replay.history import Prefix",
        "from study.survival import sqrt",
        "from study.survival import _points",
        "study.result",
    ],
)
def test_a_name_that_is_not_public_is_told(line: str) -> None:
    nodes = [*ast.walk(ast.parse(line))]
    asked = [*attributes(nodes), *imported(nodes)]
    assert not all(is_public(module, name) for module, name in asked)


# Executed


def executed(path: Path, folder: Path, *, shared: bool) -> Notebook:
    """The notebook with its outputs; `shared` says whether the public data are beside it."""
    from nbclient import NotebookClient

    import_module("matplotlib.font_manager")  # else a kernel says that it builds the font cache
    checkout = folder / "checkout"
    (checkout / "notebooks").mkdir(parents=True)
    for name in ("cases", "foreign"):
        shutil.copytree(ROOT / "fixtures" / name, checkout / "fixtures" / name)
    if shared:
        (folder / "shared").symlink_to(SHARED, target_is_directory=True)
    notebook = read(path)
    NotebookClient(
        notebook,
        timeout=None,
        kernel_name="python3",
        coalesce_streams=True,  # a kernel may send one line in pieces
        resources={"metadata": {"path": str(checkout / "notebooks")}},
    ).execute()
    return notebook


def printed(notebook: Notebook) -> str:
    """Every output as text: streams, and what cells display in plain text and in HTML."""
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    assert [output for output in outputs if output.get("name") == "stderr"] == []
    shown = [output.get("data", {}) for output in outputs]
    texts = [output.get("text", "") for output in outputs]
    everything = [*texts, *(text for data in shown for text in data.values())]
    return "\n".join(everything).replace("\u00a0", " ")


ANSWERS: Final = {
    "01-the-nine-events": (
        "e9  minute 13  check.completed    r1",
        "Censored after 6.0 minutes",
        "censored at minute 3: no recovery seen",
        "recovered at minute 10 (e6)",
        "recovered after 7 min",
        "('e7', 'r2', 'current')",
        "awaiting_review [('e8', 'supported', ('e7',))]",
        "stale_on_arrival",
        "CheckResult(agree: 44 agree, 0 disagree, 0 undetermined)",
        "Permission: not established.",
    ),
    "02-every-cutoff-under-both-rules": (
        "the rule set does not cover t4, t5, t6, t7",
        "at sequence 3: blocked, 1 blocker episode(s)",
        "at sequence 4: active, 0 blocker episode(s)",
        "7 of 7 cutoffs agree",
    ),
    "03-an-imported-log": (
        "This run reads the authored stand-in.",
        "messages.jsonl: 10 events, order known as recorded",
        "4 threads determined, 1 undetermined",
        "contradicted",
        "revision: named in prose only",
    ),
    # e^(-1.8) = 0.1653 still wait after 4 h; of the rest 0.3/0.45 have recovered: 55.6 %
    "04-operational-endpoints": (
        "This run reads the authored stand-in.",
        "last_progress_at: in 0 of 5 threads",
        "1 blocker episode(s), 0 seen to recover",
        "claims without evidence: 2 of 2 unavailable (revision: named in prose only)",
        "without the list of losses: 100% of 2 claims",
        "3522 events, observed until 2026-01-05T00:00:00Z",
        "196 episodes in 112 work items: "
        "{'observed': 117, 'cancelled': 52, 'cancelled_with_work': 22}",
        "censored 5, unavailable 0",
        "7 of 7 intervals hold the known value",
        "reviewed: 76.7% (",
        "known 74.2%",
        "claims without evidence: 15.8% (",
        "known 15.0%",
        "Kaplan-Meier of 'recovered' with ['cancelled', 'cancelled_with_work'] as censoring "
        "is refused: 1 - S would be read as the share that ended so, and overstates it",
        "the mean over the spells that ended by 'recovered' only is refused: 79 of 196 did not",
        "halfway: 86 episodes, 4 of them open",
        "8 of 8 endpoints are the same",
        "median by lifelines 1.5804 h, by study 1.5804 h",
        "1 - Kaplan-Meier at 4 h: 62.7%, known 69.9%",
        "recovered by then: 50.3%, known 55.6%",
    ),
}
OF_THE_PUBLIC_RECORD: Final = {
    "03-an-imported-log": (
        "This run reads the public record.",
        "messages.jsonl: 178 events, order known as recorded",
        "20 of 81 work items shown",
        "58 threads determined, 23 undetermined",
    ),
    "04-operational-endpoints": (
        "This run reads the public record.",
        "last_progress_at: in 0 of 81 threads",
        "0 blocker episode(s), 0 seen to recover",
        "claims without evidence: 62 of 62 unavailable (revision: named in prose only)",
        "without the list of losses: 100% of 62 claims",
    ),
}


def lacking(text: str, answers: tuple[str, ...]) -> list[str]:
    return [answer for answer in answers if answer not in text]


def test_every_notebook_has_answers_to_be_compared_with() -> None:
    assert [*ANSWERS] == [path.stem for path in NOTEBOOKS]


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_headless_and_prints_its_answers(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = executed(path, tmp_path, shared=False)
    assert lacking(printed(notebook), ANSWERS[path.stem]) == []


@pytest.mark.long
@pytest.mark.parametrize("name", OF_THE_PUBLIC_RECORD)
def test_the_imported_log_is_the_public_one_where_it_is_there(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not (SHARED / "data" / "real" / "h5i").is_dir():
        pytest.skip("the public record (../shared/data/real/h5i) is not here")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = executed(ROOT / "notebooks" / f"{name}.ipynb", tmp_path, shared=True)
    assert lacking(printed(notebook), OF_THE_PUBLIC_RECORD[name]) == []
