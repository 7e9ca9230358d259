"""One byte form for documents and seals: RFC 8785 (JCS), and its SHA-256.

`rfc8785` defines the bytes and is pure Python.  The standard library's encoder is tens of
times as fast and gives the same bytes except for a few kinds of value, so its output is
taken where it shows none of them: no number with an exponent, of 16 digits or more, or
ending in `.0` (which the two write differently), no character beyond the basic plane
(where code points and UTF-16 units sort keys differently).  A property test compares the
two on arbitrary values.

Comparing duplicates does not come here: that is by type-strict value (`replay.event`).
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final

_encoder: Final = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)
_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_UNSURE: Final = re.compile(r"[0-9](?:[eE]|\.0(?![0-9])|[0-9]{15})")
_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")


def encode(document: Any) -> bytes:
    """The canonical bytes of a document of plain values, without a final newline."""
    try:
        text = _encoder.encode(document)
        is_plain = text.isascii() or _ASTRAL.search(text) is None
        if is_plain and _UNSURE.search(_STRING.sub("", text)) is None:
            return text.encode()
    except (TypeError, ValueError, UnicodeEncodeError):
        pass  # rfc8785 says what is wrong
    import rfc8785

    return rfc8785.dumps(document)


def digest(data: bytes) -> str:
    """SHA-256 of `data`, in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()
