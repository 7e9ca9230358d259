"""The published JSON Schemas of the documents that `study` writes."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

NAMES: Final = ("operations",)


def schema(name: str) -> str:
    """The schema of that name, as the text of its file."""
    return files(__package__).joinpath(f"{name}.json").read_text(encoding="utf-8")
