"""Installs beside the one that the other tests run in.

Lifelines asks for pandas below 3, so with the `study` extra, which `test` has, everything runs
with an older pandas.  A plain install takes the newest: its tables are tested in an environment
of their own, and there the study says which extra it needs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLES = ("test_tables.py", "test_table_csv.py")


@pytest.mark.long
def test_tables_pass_with_the_newest_pandas_and_no_study_extra(tmp_path: Path) -> None:
    python = str(tmp_path / "plain" / "bin" / "python")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "plain")], check=True)
    wanted = ("pytest>=8", "hypothesis>=6.100", "duckdb>=1.2", "polars>=1.9", "jsonschema>=4.20")
    install = [python, "-m", "pip", "install", "-q", str(ROOT), "pandas>=3", *wanted]
    subprocess.run(install, check=True)
    tests = [str(ROOT / "tests" / name) for name in TABLES]
    ran = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", "not lifelines"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert "skipped" not in ran.stdout, ran.stdout[-3000:]
    asked = subprocess.run(
        [python, "-m", "study", "operations", "fixtures/cases/paper-nine-events.jsonl"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 2
    assert "pip install 'coordination-replay[study]'" in asked.stderr
