"""The `study.operations/1` document: what was read and every number, as JSON.

The rows behind the numbers and the points of the curves are tables beside it.  A number that
is not known is an object, `{"unknown": WHY}`, so that nobody takes it for null or zero.
"""

from __future__ import annotations

from typing import Any

import msgspec
import rfc8785

from study.estimates import Unknown
from study.result import Curve, Endpoint, Operations


def document(operations: Operations) -> dict[str, Any]:
    """The document as plain JSON values; `study schema operations` prints its schema."""
    plain: dict[str, Any] = _plain(operations)
    return {"document": "study.operations/1", **plain}


def encode(operations: Operations) -> bytes:
    """The document in its one byte form (RFC 8785) and a newline."""
    return rfc8785.dumps(document(operations)) + b"\n"


def _plain(value: Any) -> Any:
    match value:
        case Unknown(reason):
            return {"unknown": reason}
        case Curve():
            return {**_fields(value), "points": len(value.points), "censored": len(value.censored)}
        case Endpoint():
            return {**_fields(value, without="rows"), "rows": len(value.rows)}
        case msgspec.Struct():
            return _fields(value)
        case dict():
            return {key: _plain(one) for key, one in value.items()}
        case tuple() | list():
            return [_plain(one) for one in value]
    return value


def _fields(record: msgspec.Struct, without: str = "") -> dict[str, Any]:
    names = [name for name in record.__struct_fields__ if name != without]
    return {name: _plain(getattr(record, name)) for name in names}
