"""Distributions that register rule sets, written by hand where Python looks for them."""

from __future__ import annotations

import importlib
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from replay import rules
from tests.command import ROOT, environment

EXAMPLE: Final = ROOT / "tests" / "example_rules"
PROJECT: Final[dict[str, Any]] = tomllib.loads(
    (EXAMPLE / "pyproject.toml").read_text(encoding="utf-8")
)["project"]
REGISTERED: Final[dict[str, str]] = PROJECT["entry-points"]["replay.rules"]
SOURCE: Final = (EXAMPLE / "acme_rules.py").read_text(encoding="utf-8")


def distribution(
    folder: Path, *, name: str = "acme-rules", version: str = "1.0", **registers: str
) -> None:
    """Metadata of a distribution that registers rule sets: ids, each with MODULE:NAME."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (info / "METADATA").write_text(head, encoding="utf-8")
    entries = "".join(f"{rules} = {value}\n" for rules, value in registers.items())
    (info / "entry_points.txt").write_text(f"[replay.rules]\n{entries}", encoding="utf-8")


def module(folder: Path, source: str, name: str = "acme_rules") -> Path:
    """A module beside its distribution's metadata."""
    path = folder / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    return path


def example(folder: Path, source: str = SOURCE) -> dict[str, str]:
    """The example, installed in a folder; the environment of a process that sees it."""
    distribution(folder, **REGISTERED)
    module(folder, source)
    return environment(PYTHONPATH=f"{ROOT}{os.pathsep}{folder}")


def failing(body: str) -> str:
    """The example, whose `project` does something else before it answers."""
    start = "def project(prefix: replay.Prefix) -> replay.Projection:\n"
    assert SOURCE.count(start) == 1
    return SOURCE.replace(start, f"{start}    {body}\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that this process imports from, with a register that has named nothing."""
    before = {*sys.modules}
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setattr(rules, "_named", {})
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in {*sys.modules} - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    importlib.invalidate_caches()
