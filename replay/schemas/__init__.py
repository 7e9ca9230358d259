"""The published JSON Schemas (2020-12) of every input and output document.

One file a document, NAME.json, with an `$id` of its own.  A schema that refers to
another is handed out with that one among its `$defs`, which is how 2020-12 bundles
schemas: what `replay schema NAME` prints needs no second file and no network.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any, Final

from replay.errors import UsageError

PREFIX: Final = "urn:coordination-replay:schema:"
_NAMES: Final = (
    "bisect",
    "check",
    "diff",
    "event",
    "explanation",
    "losses",
    "oracle",
    "projection",
    "projections",
    "quarantine",
    "questions",
    "recheck",
    "refusal",
    "rules",
    "shrunk",
    "table",
    "tables",
    "timeline",
)


def names() -> tuple[str, ...]:
    """The names of every schema, sorted."""
    return _NAMES


def schema(name: str) -> dict[str, Any]:
    """The schema of that name, with every schema that it refers to.  Raises `UsageError`."""
    if name not in _NAMES:
        raise UsageError(f"no schema {name!r}; there are: {', '.join(_NAMES)}")
    document = _read(name)
    bundled = {other: _read(other) for other in dict.fromkeys(_referred(document))}
    if bundled:
        document["$defs"] = {**document.get("$defs", {}), **bundled}
    return document


def _read(name: str) -> dict[str, Any]:
    text = resources.files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def _referred(value: Any) -> Iterator[str]:
    """The names of the schemas that this one refers to; these refer to none in turn."""
    match value:
        case {"$ref": str(target)} if target.startswith(PREFIX):
            yield target.removeprefix(PREFIX)
        case dict():
            for member in value.values():
                yield from _referred(member)
        case list():
            for entry in value:
                yield from _referred(entry)
