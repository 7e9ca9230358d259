"""Prints the score of a cosmic-ray session, and every survivor.

    python -m tests.mutation.report SESSION.sqlite replay/rules/v1.py

Mutants of annotations are counted apart: `from __future__ import annotations` means that
they are never evaluated, so nothing could kill them.
"""

from __future__ import annotations

import ast
import sqlite3
import sys
from pathlib import Path

Position = tuple[int, int]


def annotations(source: str) -> list[tuple[Position, Position]]:
    """Where the annotations of a module begin and end, as (line, column) pairs."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        for found in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(found, ast.expr):
                end = (found.end_lineno or 0, found.end_col_offset or 0)
                spans.append(((found.lineno, found.col_offset), end))
    return spans


def main() -> None:
    session, module = sys.argv[1:]
    source = Path(module).read_text(encoding="utf-8")
    unevaluated = annotations(source)
    counts = {"mutants": 0, "annotations": 0, "killed": 0, "survived": 0}
    rows = sqlite3.connect(session).execute(
        "SELECT operator_name, start_pos_row, start_pos_col, test_outcome"
        " FROM mutation_specs JOIN work_results USING (job_id) ORDER BY start_pos_row"
    )
    for operator, row, column, outcome in rows:
        counts["mutants"] += 1
        if any(begin <= (row, column) < end for begin, end in unevaluated):
            counts["annotations"] += 1
        elif outcome == "SURVIVED":
            counts["survived"] += 1
            line = source.splitlines()[row - 1].strip()
            print(f"{row}:{column} {operator.removeprefix('core/')}: {line}")
        else:
            counts["killed"] += 1
    print(counts, f"killed {counts['killed'] / (counts['killed'] + counts['survived']):.1%}")


if __name__ == "__main__":
    main()
