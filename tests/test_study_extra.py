"""The study's methods, tested with what the `study` extra installs.

Lifelines asks for pandas below 3, so that extra has an environment of its own here: in this
one, where pandas is a later one, those tests skip and say so.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.long
def test_the_methods_of_the_study_pass_with_the_study_extra(tmp_path: Path) -> None:
    environment = tmp_path / "study"
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    python = str(environment / "bin" / "python")
    wanted = [f"{ROOT}[study]", "pytest>=8", "hypothesis>=6.100"]
    subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
    tests = sorted(str(path) for path in ROOT.glob("tests/test_study_*.py"))
    ran = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-3000:]
    assert "skipped" not in ran.stdout, ran.stdout[-3000:]
