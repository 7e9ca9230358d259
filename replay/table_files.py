"""Tables as Parquet files in a folder, which appear whole or not at all.

One log's tables are `DIR/NAME.parquet`.  Those of several logs are
`DIR/log=LOG/NAME.parquet`, which polars, DuckDB and pyarrow read as one table with a column
`log`.  LOG is made of the file name that the caller gave, never of text in a log, and of
letters, digits, `.`, `_` and `-` only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Final

from replay.errors import FileError
from replay.files import LOG_SUFFIXES, STDIN, write_atomically

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


def files_of(folder: str, names: Iterable[str]) -> dict[str, str]:
    """The file of each table."""
    return {name: os.path.join(folder, f"{name}.parquet") for name in names}


def write(folder: str, tables: Mapping[str, bytes]) -> None:
    """Write the Parquet bytes of tables, by name.  Raises `FileError`, and then writes none.

    Other files of the folder stay as they are.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise FileError(folder, (error.strerror or str(error)).lower()) from None
    with ExitStack() as stack:
        for name, path in files_of(folder, tables).items():
            file = stack.enter_context(write_atomically(path))
            file.write(tables[name])
            file.flush()  # before any has its name, so that a full disk leaves none
