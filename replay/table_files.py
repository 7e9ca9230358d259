"""Tables as files in a folder, Parquet or CSV, which appear whole or not at all.

One log's tables are `DIR/NAME.parquet`.  Those of several logs are
`DIR/log=LOG/NAME.parquet`, which polars, DuckDB and pyarrow read as one table with a column
`log`.  LOG is made of the file name that the caller gave, never of text in a log, and of
letters, digits, `.`, `_` and `-` only.

A CSV file has no place for what a table carries (input, rules, cutoff): beside `NAME.csv`
stands `NAME.csv.json`, the `replay.table/1` document that a Parquet file has in itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Final, Literal, TypeAlias

import pyarrow as pa

from replay.canonical import encode
from replay.errors import FileError
from replay.files import LOG_SUFFIXES, STDIN, write_atomically
from replay.table_csv import to_csv
from replay.tables import carried, parquet

Kind: TypeAlias = Literal["parquet", "csv"]
_ENDINGS: Final[Mapping[Kind, tuple[str, ...]]] = {
    "parquet": ("parquet",),
    "csv": ("csv", "csv.json"),
}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_MAX_NAME: Final = 100
_SUFFIXES: Final = sorted(LOG_SUFFIXES, key=len, reverse=True)


def folders(directory: str, logs: Iterable[str]) -> list[str]:
    """Where the tables of each log go, in order; no two the same on any file system."""
    paths = [*logs]
    if len(paths) == 1:
        return [directory]
    found: dict[str, str] = {}
    for path in paths:
        plain = name = _name(path)
        number = 1
        while name.lower() in found:
            number += 1
            name = f"{plain}-{number}"
        found[name.lower()] = name
    return [os.path.join(directory, f"log={name}") for name in found.values()]


def _name(path: str) -> str:
    if path == STDIN:
        return "stdin"
    name = os.path.basename(path)
    suffix = next((suffix for suffix in _SUFFIXES if name.endswith(suffix)), "")
    return _UNSAFE.sub("-", name.removesuffix(suffix))[:_MAX_NAME].strip(".") or "log"


def files_of(folder: str, names: Iterable[str], kind: Kind = "parquet") -> list[str]:
    """The files of the tables of these names."""
    endings = _ENDINGS[kind]
    return [os.path.join(folder, f"{name}.{ending}") for name in names for ending in endings]


def contents(tables: Mapping[str, pa.Table], kind: Kind = "parquet") -> dict[str, bytes]:
    """What goes into the folder, by file name."""
    if kind == "parquet":
        return {f"{name}.parquet": parquet(table) for name, table in tables.items()}
    found = {f"{name}.csv": to_csv(table) for name, table in tables.items()}
    heads = {f"{n}.csv.json": encode(carried(table)) + b"\n" for n, table in tables.items()}
    return found | heads


def write(folder: str, contents: Mapping[str, bytes]) -> None:
    """Write files by name.  Raises `FileError`, and then writes none.

    Other files of the folder stay as they are.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise FileError(folder, (error.strerror or str(error)).lower()) from None
    with ExitStack() as stack:
        for name, data in contents.items():
            file = stack.enter_context(write_atomically(os.path.join(folder, name)))
            file.write(data)
            file.flush()  # before any has its name, so that a full disk leaves none
