"""What can go wrong, as facts.

Every error keeps what it knows as attributes; the sentence for a person is built
from them and never the other way round.  A `Refusal` is about the input and ends a
command with status 3; `UsageError`, `FileError` and `OracleError` are about the call and
end it with 2; any other `ReplayError` is a fault of ours, which ends it with 70.
"""

from __future__ import annotations

import json
from typing import Final

MAX_QUOTED: Final = 40  # characters of somebody's text that a message repeats
_MAX_SAID: Final = 400  # characters of a part of a sentence; documents have it whole

REFUSAL_CODES: Final = (
    "not_utf8",
    "bom",
    "nul_byte",
    "not_json",
    "trailing_data",
    "not_an_object",
    "nan_or_infinity",
    "lone_surrogate",
    "duplicate_key",
    "unknown_field",
    "missing_field",
    "wrong_type",
    "number_out_of_range",
    "bad_time",
    "bad_payload",
    "line_too_long",
    "too_deep",
    "id_too_long",
    "unknown_schema_version",
    "mixed_time_basis",
    "truncated_input",
    "sequence_conflict",
    "recorded_time_reversed",
    "conflicting_duplicate",
    "readmitted_id",
)
"""Every code a refusal can carry (contract, section 3)."""


def quoted(text: str) -> str:
    """Somebody's text as a message shows it: a JSON string, cut after 40 characters.

    What would not be seen, or would act on a terminal, is shown as its escape.
    """
    cut = text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}…"
    return json.dumps(cut, ensure_ascii=not cut.isprintable())


def _said(text: str) -> str:
    """A part of a sentence, which may hold a name of any length from a log."""
    if len(text) <= _MAX_SAID:
        return text
    return f"{text[:_MAX_SAID]}… ({len(text)} characters)"


class ReplayError(Exception):
    """Anything this package raises on purpose."""


class Place:
    """A line of an input file, named in a refusal: `file` and 1-based `line`."""

    __slots__ = ("file", "line")

    def __init__(self, file: str, line: int) -> None:
        self.file = file
        self.line = line

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Place) and (self.file, self.line) == (other.file, other.line)

    def __hash__(self) -> int:
        return hash((self.file, self.line))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    def __repr__(self) -> str:
        return f"Place({self.file!r}, {self.line})"


class Refusal(ReplayError):
    """Input that cannot be admitted.

    `line` counts from 1 and `byte_offset` is where that line begins in the
    (decompressed) input; both are null when the fault is of the whole input.
    `pointer` is an RFC 6901 JSON pointer into the line, null when the line has
    no JSON value to point into.
    """

    def __init__(
        self,
        code: str,
        *,
        file: str,
        line: int | None,
        byte_offset: int | None,
        pointer: str | None,
        expected: str,
        found: str,
        related: tuple[Place, ...] = (),
    ) -> None:
        self.code = code
        self.file = file
        self.line = line
        self.byte_offset = byte_offset
        self.pointer = pointer
        self.expected = expected
        self.found = found
        self.related = related
        super().__init__(code, file, line, byte_offset, pointer, expected, found, related)

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        at = f" at {_said(self.pointer)}" if self.pointer else ""
        also = f" (see {', '.join(map(str, self.related))})" if self.related else ""
        expected, found = _said(self.expected), _said(self.found)
        return f"{where}: {self.code}{at}: expected {expected}, found {found}{also}"

    def document(self) -> dict[str, object]:
        """The `replay.refusal/1` document, as plain values."""
        return {
            "document": "replay.refusal/1",
            "code": self.code,
            "file": self.file,
            "line": self.line,
            "byte_offset": self.byte_offset,
            "pointer": self.pointer,
            "expected": self.expected,
            "found": self.found,
            "related": [{"file": place.file, "line": place.line} for place in self.related],
        }


class UsageError(ReplayError):
    """A call that asks for something that does not exist or does not fit the log."""


class FileError(ReplayError):
    """A file that cannot be read or written."""

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(path, problem)

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class UnknownRulesError(UsageError):
    """A rule set id that is not registered."""

    def __init__(self, rules: str, known: tuple[str, ...]) -> None:
        self.rules = rules
        self.known = known
        super().__init__(rules, known)

    def __str__(self) -> str:
        return f"no rule set {self.rules!r}; known: {', '.join(self.known)}"


class RulesError(UsageError):
    """A rule set of somebody's own that cannot be used, or that answered what is no answer.

    `where` is the entry point that registers it, or the part of what it answered.
    """

    def __init__(self, rules: str, *, where: str, expected: str, found: str) -> None:
        self.rules = rules
        self.where = where
        self.expected = expected
        self.found = found
        super().__init__(rules, where, expected, found)

    def __str__(self) -> str:
        where, expected, found = _said(self.where), _said(self.expected), _said(self.found)
        return f"rule set {self.rules!r}: {where}: expected {expected}, found {found}"


class OracleError(ReplayError):
    """An oracle file that is not an oracle document."""

    def __init__(self, file: str, pointer: str, expected: str, found: str) -> None:
        self.file = file
        self.pointer = pointer
        self.expected = expected
        self.found = found
        super().__init__(file, pointer, expected, found)

    def __str__(self) -> str:
        at = f" at {_said(self.pointer)}" if self.pointer else ""
        return f"{self.file}{at}: expected {_said(self.expected)}, found {_said(self.found)}"
