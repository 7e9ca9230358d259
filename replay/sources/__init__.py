"""Importers: foreign records in, contract lines and a list of losses out.

One file a foreign system.  An importer emits lines, never events: what it writes passes
the same strict reader as any other log.
"""

from __future__ import annotations

from typing import Final

from replay.errors import UsageError
from replay.sources.h5i_msg import H5I_MSG
from replay.sources.imported import Imported, Importer, Loss, Options
from replay.sources.spec_kitty import SPEC_KITTY

IMPORTERS: Final = {importer.id: importer for importer in (H5I_MSG, SPEC_KITTY)}
"""Every importer, by the id that `replay import` takes."""

__all__ = ["IMPORTERS", "Imported", "Importer", "Loss", "Options", "named"]


def named(source: str) -> Importer:
    """The importer with that id.  Raises `UsageError`, which names those there are."""
    if source not in IMPORTERS:
        raise UsageError(f"no importer {source!r}; known: {', '.join(IMPORTERS)}")
    return IMPORTERS[source]
