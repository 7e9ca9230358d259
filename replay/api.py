"""The public tour's functions: load a log, project it, grow it, print it as a document."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from replay import rules as register
from replay.document import Json, projection_document
from replay.errors import UsageError
from replay.history import History, Prefix
from replay.projection import Projection

if TYPE_CHECKING:
    from replay.timeline import Timeline


def load(path: str | os.PathLike[str]) -> History:
    """The admitted history of one log: `.jsonl`, `.jsonl.gz` or `.jsonl.zst`.

    Raises `Refusal` where the contract refuses the input, `FileError` where the file
    cannot be read.
    """
    from replay.files import load as load_file

    return load_file(os.fspath(path))


def log_paths(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The logs that paths name: a folder stands for the logs in it, sorted, not recursive.

    Raises `FileError` for a folder without a log or that cannot be read.
    """
    from replay.files import expand

    return expand([os.fspath(path) for path in paths])


def project(prefix: Prefix, *, rules: str) -> Projection:
    """The answers of the rule set with id `rules` at the prefix's cutoff.

    The caller names the rules; there is no latest.  Raises `UnknownRulesError`.
    """
    projection = register.named(rules).project(_prefix(prefix))
    _note_origin(projection, prefix)
    return projection


def _note_origin(projection: Projection, prefix: Prefix) -> None:
    """Beside the records, so that each can be shown with its times, and drawn."""
    projection.__dict__["prefix"] = prefix
    for record in (*projection.items, *projection.episodes):
        record.__dict__["time_basis"] = projection.facts.basis


def _prefix(given: object) -> Prefix:
    if not isinstance(given, Prefix):
        kind = type(given).__name__
        raise UsageError(f"answers are about a Prefix, such as history.until(), not a {kind}")
    return given


def timeline_of(prefix: Prefix, *, rules: str) -> Timeline:
    """From when to when each answer held under the rule set with id `rules`.

    What was known at any earlier cutoff is then a look-up.  Raises `UnknownRulesError`.
    """
    from replay.timeline import timeline

    return timeline(_prefix(prefix), register.named(rules))


def as_document(projection: Projection) -> dict[str, Json]:
    """The projection as the `replay.projection/1` document, in plain JSON values."""
    return projection_document(projection, register.named(projection.rules))
