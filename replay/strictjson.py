"""One JSON text, read exactly: its value, or the first fault in it.

Decides what is JSON for the contract's section 3: RFC 8259 without its liberties.
Written by hand and slow on purpose, since no library gives what a refusal needs:
which of our codes applies, a JSON pointer to the place, every repeated key, the
difference between text that is wrong and text that merely ends too early, and each
member's literal text (`2.0` and `1e400` are gone once a parser has made a double).
It is consulted only where the fast path of `replay.decode` cannot prove its answer.

Choices: faults are judged in the order of the text, so the first one is reported.
The scanner keeps its own stack, so depth is counted and never exhausts Python's; the
outermost container is level 1.  Integers of any size are kept (as `Decimal` beyond
4,300 digits, where Python refuses to convert); a number with a fraction or exponent
that rounds to infinity is out of range, one that rounds to zero is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, NoReturn

from replay.errors import MAX_QUOTED, quoted
from replay.event import Record, escape_pointer, whole_number

_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)")
_BEGUN_NUMBER = re.compile(r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*|(?:\.[0-9]+)?[eE][+-]?[0-9]*)?)?\Z")
_HEX4 = re.compile(r"[0-9A-Fa-f]{4}")
_BEGUN_LOW_SURROGATE = re.compile(r"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9A-Fa-f]?)?)?)?)?\Z")
_NUMBER_CHARACTERS: Final = frozenset("0123456789.eE+-")
_WORDS: Final = {"true": True, "false": False, "null": None}
_NOT_NUMBERS: Final = ("NaN", "Infinity", "-Infinity")
_ESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}


class Fault(Exception):
    """What is wrong with one line; a `Refusal` once file and line are known.

    `at_end` is true where the text is a proper beginning of JSON that stops too early.
    """

    def __init__(
        self, code: str, pointer: str | None, expected: str, found: str, *, at_end: bool = False
    ) -> None:
        self.code = code
        self.pointer = pointer
        self.expected = expected
        self.found = found
        self.at_end = at_end
        super().__init__(code, pointer, expected, found)


class Scanned(Record, frozen=True):
    """A JSON text's value and, where it is an object, its members' literal texts."""

    value: Any
    literals: dict[str, str]


def scan(text: str, nesting: int) -> Scanned:
    """The value of a JSON text with at most `nesting` levels.  Raises `Fault`."""
    return _Scanner(text, nesting).run()


def described(value: object, literal: str | None = None) -> str:
    """A decoded value in the words of a refusal: its JSON type, and itself where short."""
    match value:
        case str():
            return f"string {quoted(value)}"
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return "an array"
        case int() | Decimal():
            return _described_number("integer", literal if literal is not None else str(value))
    return _described_number("number", literal if literal is not None else repr(value))


def _described_number(kind: str, literal: str) -> str:
    if len(literal) <= MAX_QUOTED:
        return f"{kind} {literal}"
    return f"{kind} {literal[:MAX_QUOTED]}… ({len(literal)} characters)"


class _Frame:
    """An open container: what it holds so far and, for an object, the key in hand."""

    __slots__ = ("container", "key", "value_start")

    def __init__(self, container: dict[str, Any] | list[Any]) -> None:
        self.container = container
        self.key = ""
        self.value_start = 0

    @property
    def token(self) -> str:
        """The reference token of the member or element in hand."""
        if isinstance(self.container, dict):
            return escape_pointer(self.key)
        return str(len(self.container))

    def add(self, value: Any) -> None:
        if isinstance(self.container, dict):
            self.container[self.key] = value
        else:
            self.container.append(value)


class _Scanner:
    def __init__(self, text: str, nesting: int) -> None:
        self.text = text
        self.nesting = nesting
        self.stack: list[_Frame] = []
        self.literals: dict[str, str] = {}

    def run(self) -> Scanned:
        at = self._skip(0)
        while True:
            value, at, complete = self._begin(at)
            if complete:
                value, at, complete = self._finish(value, at)
            if complete:
                break
        end = self._skip(at)
        if end != len(self.text):
            raise Fault("trailing_data", None, "one JSON value", self._seen(end, "then "))
        return Scanned(value, self.literals)

    def _begin(self, at: int) -> tuple[Any, int, bool]:
        """Reads a scalar, an empty container, or the opening of one that has a member."""
        opening = self.text[at : at + 1]
        if opening not in ("{", "["):
            value, at = self._scalar(at)
            return value, at, True
        container: dict[str, Any] | list[Any] = {} if opening == "{" else []
        self._check_depth()
        at = self._skip(at + 1)
        if self.text[at : at + 1] == ("}" if opening == "{" else "]"):
            return container, at + 1, True
        self.stack.append(_Frame(container))
        return None, self._member(at), False

    def _finish(self, value: Any, at: int) -> tuple[Any, int, bool]:
        """Puts a value where it belongs and closes what ends there.

        Complete (true) at the outermost value's end, else at the next member's value.
        """
        while self.stack:
            frame = self.stack[-1]
            if len(self.stack) == 1 and isinstance(frame.container, dict):
                self.literals[frame.key] = self.text[frame.value_start : at]
            frame.add(value)
            at = self._skip(at)
            following = self.text[at : at + 1]
            closing = "}" if isinstance(frame.container, dict) else "]"
            if following == ",":
                return None, self._member(self._skip(at + 1)), False
            if following != closing:
                self._unexpected(at, f"a comma or {closing}")
            value, at = frame.container, at + 1
            self.stack.pop()
        return value, at, True

    def _member(self, at: int) -> int:
        """Reads a key and its colon, in an object; returns where the value begins."""
        frame = self.stack[-1]
        if isinstance(frame.container, dict):
            if self.text[at : at + 1] != '"':
                self._unexpected(at, "a key in double quotes")
            key, at = self._string(at, self._parent_pointer)
            frame.key = key
            if key in frame.container:
                raise Fault(
                    "duplicate_key",
                    self._pointer(),
                    "every key once in an object",
                    f"key {quoted(key)} again",
                )
            at = self._skip(at)
            if self.text[at : at + 1] != ":":
                self._unexpected(at, "a colon")
            at = self._skip(at + 1)
        frame.value_start = at
        return at

    def _check_depth(self) -> None:
        if len(self.stack) >= self.nesting:
            raise Fault(
                "too_deep",
                self._pointer(),
                f"at most {self.nesting} levels of nesting",
                f"level {self.nesting + 1}",
            )

    def _scalar(self, at: int) -> tuple[Any, int]:
        text = self.text
        if text.startswith('"', at):
            return self._string(at, self._pointer)
        for word, value in _WORDS.items():
            if text.startswith(word, at):
                return value, at + len(word)
        for word in _NOT_NUMBERS:
            if text.startswith(word, at):
                raise Fault("nan_or_infinity", self._pointer(), "a finite number", word)
        if text[at : at + 1] not in tuple("-0123456789"):
            self._no_value(at)
        return self._number(at)

    def _no_value(self, at: int) -> NoReturn:
        text = self.text
        rest = text[at : at + 5]  # the longest word
        begun = at + len(rest) == len(text) and any(word.startswith(rest) for word in _WORDS)
        self._unexpected(at, "a JSON value", at_end=begun)

    def _number(self, at: int) -> tuple[int | float | Decimal, int]:
        match = _NUMBER.match(self.text, at)
        end = at if match is None else match.end()
        if match is None or self.text[end : end + 1] in _NUMBER_CHARACTERS:
            begun = _BEGUN_NUMBER.match(self.text, at) is not None
            self._unexpected(at, "a JSON number", at_end=begun)
        literal = match.group()
        if not match.group(1):
            return whole_number(literal), end
        value = float(literal)
        if value in (float("inf"), float("-inf")):
            raise Fault(
                "number_out_of_range",
                self._pointer(),
                "a number that a double holds",
                described(value, literal),
            )
        return value, end

    def _string(self, at: int, pointer: Callable[[], str]) -> tuple[str, int]:
        """The string whose opening quote is at `at`; `pointer` names the place of a fault."""
        start, at, parts = at, at + 1, []
        while True:
            plain = _PLAIN.match(self.text, at)
            assert plain is not None  # it matches the empty text
            parts.append(plain.group())
            at = plain.end()
            following = self.text[at : at + 1]
            if following == '"':
                return "".join(parts), at + 1
            if following != "\\":
                self._bad_string(start, at)
            character, at = self._escape(at, pointer)
            parts.append(character)

    def _escape(self, at: int, pointer: Callable[[], str]) -> tuple[str, int]:
        letter = self.text[at + 1 : at + 2]
        if letter in _ESCAPES:
            return _ESCAPES[letter], at + 2
        if letter != "u":
            self._unexpected(at, "an escape sequence", at_end=not letter)
        unit = self._unit(at)
        if not 0xD800 <= unit <= 0xDFFF:
            return chr(unit), at + 6
        low = self._low_surrogate(at + 6) if unit < 0xDC00 else None
        if low is None:
            raise Fault(
                "lone_surrogate",
                pointer(),
                "surrogates in pairs, high then low",
                f"{self.text[at : at + 6]} alone",
            )
        return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)), at + 12

    def _unit(self, at: int) -> int:
        digits = _HEX4.match(self.text, at + 2)
        if digits is None:
            rest = self.text[at + 2 : at + 6]
            begun = at + 2 + len(rest) == len(self.text) and _HEX4.match(rest.ljust(4, "0"))
            self._unexpected(at, "four hexadecimal digits", at_end=bool(begun))
        return int(digits.group(), 16)

    def _low_surrogate(self, at: int) -> int | None:
        if _BEGUN_LOW_SURROGATE.match(self.text, at):
            self._unexpected(len(self.text), "a low surrogate", at_end=True)
        if not self.text.startswith("\\u", at) or not _HEX4.match(self.text, at + 2):
            return None
        unit = int(self.text[at + 2 : at + 6], 16)
        return unit if 0xDC00 <= unit <= 0xDFFF else None

    def _bad_string(self, start: int, at: int) -> NoReturn:
        if at == len(self.text):
            self._unexpected(at, f"the end of the string that begins at byte {self._byte(start)}")
        self._unexpected(at, "control characters escaped")

    def _unexpected(self, at: int, expected: str, *, at_end: bool = False) -> NoReturn:
        ends = at_end or at == len(self.text)
        raise Fault("not_json", None, expected, self._seen(at), at_end=ends)

    def _seen(self, at: int, then: str = "") -> str:
        if at >= len(self.text):
            return f"the end of the text at byte {self._byte(at)} of the line"
        return f"{then}{quoted(self.text[at : at + 16])} at byte {self._byte(at)} of the line"

    def _byte(self, at: int) -> int:
        return len(self.text[:at].encode())

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self.text, at)
        assert space is not None  # it matches the empty text
        return space.end()

    def _pointer(self) -> str:
        return "".join(f"/{frame.token}" for frame in self.stack)

    def _parent_pointer(self) -> str:
        """Of the object whose key is being read: a faulty key has no pointer of its own."""
        return "".join(f"/{frame.token}" for frame in self.stack[:-1])
