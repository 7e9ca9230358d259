"""Which fields a receipt needs, by class, and what each is worth.

The published list: a receipt of a class is complete when every field below is there, can be
reached and is about the version that the receipt names.  Fields that the contract makes
mandatory (`check`, `outcome`) are not listed: they cannot be missing.

A field's status is the first that applies of: `inapplicable`, `missing`, `inaccessible`,
`mismatched`, `unavailable` (whether it can be reached is not known), `complete`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from study.beside import AccessStatus
from study.rows import FieldStatus

REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "check.completed": ("artifact_revision", "principal", "source", "evidence_refs"),
    "review.completed": ("artifact_revision", "principal", "evidence_refs"),
}

MEANING: Final[Mapping[str, str]] = {
    "artifact_revision": "the version that it is about, which its work item has announced",
    "principal": "who submitted it, as authenticated",
    "source": "the system that ran the check",
    "evidence_refs": "where its evidence is: each can be reached and is of that version",
}


def of_evidence(
    refs: Sequence[str], mismatched: Collection[str], access: Mapping[str, AccessStatus] | None
) -> FieldStatus:
    """The status of a receipt's evidence: that of the worst of its applicable references.

    `mismatched` are references to events about another version.
    """
    if not refs:
        return "missing"
    known = {ref: None if access is None else access.get(ref) for ref in refs}
    applicable = [ref for ref in refs if known[ref] != "inapplicable"]
    if not applicable:
        return "inapplicable"
    if any(known[ref] == "inaccessible" for ref in applicable):
        return "inaccessible"
    if any(ref in mismatched for ref in applicable):
        return "mismatched"
    if any(known[ref] is None for ref in applicable):
        return "unavailable"
    return "complete"


def of_whole(
    status: FieldStatus, receipt: str, access: Mapping[str, AccessStatus] | None
) -> FieldStatus:
    """A field's status, where the access file has a row about the receipt as a whole."""
    match None if access is None else access.get(receipt):
        case "inapplicable":
            return "inapplicable"
        case "inaccessible":
            return status if status == "missing" else "inaccessible"
    return status
