"""Everything that `study operations -o DIR` writes, as bytes by file name."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING

from study import report
from study.document import encode
from study.figures import figures
from study.operational import to_csv
from study.result import Operations
from study.tables import every_table

if TYPE_CHECKING:
    import pyarrow as pa


def contents(operations: Operations) -> Mapping[str, bytes]:
    """Reports, document, tables (CSV and Parquet) and figures (SVG and PDF)."""
    drawn = figures(operations)
    files = {
        "report.html": report.html(operations, drawn).encode(),
        "report.md": report.markdown(operations, drawn).encode(),
        "operations.json": encode(operations),
    }
    for name, table in every_table(operations).items():
        files[f"{name}.csv"] = to_csv(table)
        files[f"{name}.parquet"] = _parquet(table)
    for name, figure in drawn.items():
        files[f"figures/{name}.svg"] = figure.svg
        files[f"figures/{name}.pdf"] = figure.pdf
    return files


def _parquet(table: pa.Table) -> bytes:
    """The same bytes for the same table and pyarrow."""
    from pyarrow.parquet import write_table

    sink = BytesIO()
    write_table(table, sink, version="2.6", compression="zstd")
    return sink.getvalue()
