"""The public tour's three functions: load a log, project it, print it as a document."""

from __future__ import annotations

import os

from replay import rules as register
from replay.document import Json, projection_document
from replay.history import History, Prefix
from replay.projection import Projection


def load(path: str | os.PathLike[str]) -> History:
    """The admitted history of one log: `.jsonl`, `.jsonl.gz` or `.jsonl.zst`.

    Raises `Refusal` where the contract refuses the input, `FileError` where the file
    cannot be read.
    """
    from replay.files import load as load_file

    return load_file(os.fspath(path))


def project(prefix: Prefix, *, rules: str) -> Projection:
    """The answers of the rule set with id `rules` at the prefix's cutoff.

    The caller names the rules; there is no latest.  Raises `UnknownRulesError`.
    """
    return register.named(rules).project(prefix)


def as_document(projection: Projection) -> dict[str, Json]:
    """The projection as the `replay.projection/1` document, in plain JSON values."""
    return projection_document(projection, register.named(projection.rules))
