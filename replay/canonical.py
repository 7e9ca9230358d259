"""One byte form for documents and seals: RFC 8785 (JCS), and its SHA-256.

Comparing duplicates does not come here: that is by type-strict value (`replay.event`).
"""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def encode(document: Any) -> bytes:
    """The canonical bytes of a document of plain values, without a final newline."""
    return rfc8785.dumps(document)


def digest(data: bytes) -> str:
    """SHA-256 of `data`, in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()
