"""What recovery sets aside, as a file beside the log: `LOG.quarantine.jsonl`.

Decides the sidecar's form, JSON Lines in canonical JSON.  The first line is the header:

* `document`: `replay.quarantine/1`;
* `input`: `name` and `sha256` (of the bytes as stored) of the log that was read;
* `records`: how many lines follow.

Then one record a rejected line, in the order of the log:

* `line`, from 1, and `byte_offset` of its first byte in the decompressed input;
* `size`: its bytes, without the newline;
* `where`: `torn_tail` (the input ends inside this line's value, or the compressed
  stream ends or is corrupt there), `nul_tail` (the input ends in NUL bytes), or
  `middle` (any other bad line: nothing suggests that the end was lost);
* `code`, `pointer`, `expected`, `found`: as in a refusal, and `reason`: these as one
  sentence;
* `raw`: the bytes in base64, and `raw_complete`: false where only the first ones, up
  to the line limit, are there.

The log itself is never written to.  A sidecar of an earlier recovery is replaced; the
digest in the header says which bytes it is about.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterator
from typing import Any, Final

from replay.decode import Recovery, Rejected

DOCUMENT: Final = "replay.quarantine/1"
SUFFIX: Final = ".quarantine.jsonl"
RECORD_FIELDS: Final = (
    "line",
    "byte_offset",
    "size",
    "where",
    "code",
    "pointer",
    "expected",
    "found",
    "reason",
    "raw",
    "raw_complete",
)


def header(recovery: Recovery) -> dict[str, Any]:
    """The sidecar's first line, as plain values."""
    source = recovery.source
    return {
        "document": DOCUMENT,
        "input": {"name": source.name, "sha256": source.sha256},
        "records": len(recovery.rejected),
    }


def record(rejected: Rejected) -> dict[str, Any]:
    """One rejected line, as plain values."""
    return {
        "line": rejected.line,
        "byte_offset": rejected.byte_offset,
        "size": rejected.size,
        "where": rejected.where,
        "code": rejected.code,
        "pointer": rejected.pointer,
        "expected": rejected.expected,
        "found": rejected.found,
        "reason": rejected.reason(),
        "raw": b2a_base64(rejected.raw, newline=False).decode(),
        "raw_complete": len(rejected.raw) == rejected.size,
    }


def lines(recovery: Recovery) -> Iterator[bytes]:
    """The sidecar, line by line, each with its newline."""
    from replay.canonical import encode

    yield encode(header(recovery)) + b"\n"
    for rejected in recovery.rejected:
        yield encode(record(rejected)) + b"\n"
