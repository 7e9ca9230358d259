"""Authored answers: how they are read, and how one is compared with a derived answer.

An oracle says what a log shows, by hand and beforehand.  It is worth something only
while it is independent of the code it judges, so this module imports no deriving code;
what it compares with was looked up in a sealed document (`replay.questions`).

Choices.  `expect` may be any JSON value; what the derived answer does not have, it
does not agree with.  JSON writes one number two ways, so 6 and 6.0 agree, but no number
agrees with a boolean.  A bare string agrees with a mark of that event id.  Where the
rules do not cover an item, an answer about it is undetermined, neither right nor wrong.
Null says nothing in `of`, `evidence` and the members of `at`, as in an event's envelope.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import inf, isfinite
from typing import Any, Final, Literal, TypeAlias

from replay.errors import OracleError
from replay.event import MAX_SEQUENCE, Record, escape_pointer
from replay.questions import ANOMALY_CODES, BY_ID, Derived, Question
from replay.timestamps import BadTime, parse_minute, parse_utc

DOCUMENT: Final = "replay.oracle/1"
UNDETERMINED: Final = "undetermined"
MAX_DEPTH: Final = 64
Outcome: TypeAlias = Literal["agree", "disagree", "undetermined"]
_Object: TypeAlias = dict[str, Any]


class At(Record, frozen=True):
    """The cutoff of a question: no member is the full log.

    `time` is RFC 3339, `minute` a JSON literal; never both.
    """

    sequence: int | None = None
    time: str | None = None
    minute: str | None = None


class Answer(Record, frozen=True, kw_only=True):
    """One authored answer.  `evidence` is null where the author names none, which is not []."""

    id: str
    rules: str
    at: At
    work_id: str | None
    question: str
    of: str | None
    expect: Any
    evidence: tuple[str, ...] | None
    why: str


class Oracle(Record, frozen=True):
    """The authored answers about one log."""

    title: str
    why: str
    answers: tuple[Answer, ...]


# Reading ----------------------------------------------------------------------------------


class _Fault(Exception):
    """A place in the document, what belongs there, and what is there."""

    def __init__(self, pointer: str, expected: str, found: str) -> None:
        self.pointer = pointer
        self.expected = expected
        self.found = found
        super().__init__(pointer, expected, found)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as written, so that a repeated key is still to be seen."""


def read_oracle(file: str, data: bytes) -> Oracle:
    """The oracle in `data`; `file` names it in errors.  Raises `OracleError`."""
    try:
        return _oracle(_plain(_parse(data), "", 0))
    except _Fault as fault:
        raise OracleError(file, fault.pointer, fault.expected, fault.found) from None


def _parse(data: bytes) -> Any:
    try:
        return json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_Pairs,
            parse_int=_integer,
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as bad:
        raise _Fault("", "UTF-8", f"byte 0x{data[bad.start]:02x} at {bad.start}") from None
    except json.JSONDecodeError as bad:
        found = f"{bad.msg} at line {bad.lineno} column {bad.colno}"
        raise _Fault("", "one JSON document", found) from None
    except RecursionError:
        raise _Fault("", f"nesting of at most {MAX_DEPTH}", "more") from None


def _integer(literal: str) -> int | float:
    # int() refuses thousands of digits with an error of its own; any such number is too large
    return int(literal) if len(literal) < 20 else inf


def _no_constant(literal: str) -> Any:
    raise _Fault("", "one JSON document", literal)


def _plain(value: Any, pointer: str, depth: int) -> Any:
    """The value with its objects as dicts, where canonical JSON can write all of it."""
    if depth > MAX_DEPTH:
        raise _Fault(pointer, f"nesting of at most {MAX_DEPTH}", "more")
    match value:
        case _Pairs():
            return _plain_object(value, pointer, depth)
        case list():
            return [_plain(v, f"{pointer}/{i}", depth + 1) for i, v in enumerate(value)]
        case str() if any("\ud800" <= character <= "\udfff" for character in value):
            raise _Fault(pointer, "Unicode text", "a lone surrogate")
        case float() if not isfinite(value):
            raise _Fault(pointer, "a number that a double holds", "one out of range")
        case int() if abs(value) > MAX_SEQUENCE:
            raise _Fault(pointer, f"an integer of at most {MAX_SEQUENCE}", f"integer {value}")
    return value


def _plain_object(pairs: _Pairs, pointer: str, depth: int) -> _Object:
    plain: _Object = {}
    for key, value in pairs:
        below = f"{pointer}/{escape_pointer(key)}"
        if key in plain:
            raise _Fault(below, "each member once", f"{_shown(key)} again")
        _plain(key, pointer, depth)
        plain[key] = _plain(value, below, depth + 1)
    return plain


def _oracle(document: Any) -> Oracle:
    if isinstance(document, dict) and document.get("document") != DOCUMENT:
        raise _Fault("/document", f'"{DOCUMENT}"', _shown_member(document, "document"))
    _members(document, "", ("document", "answers"), ("title", "why"))
    written = document["answers"]
    if not isinstance(written, list):
        raise _Fault("/answers", "array", _shown(written))
    answers = tuple(_answer(value, f"/answers/{i}") for i, value in enumerate(written))
    _each_id_once(answers)
    return Oracle(_words(document, "title", ""), _words(document, "why", ""), answers)


def _answer(value: Any, pointer: str) -> Answer:
    required = ("id", "rules", "at", "work_id", "question", "expect")
    _members(value, pointer, required, ("of", "evidence", "why"))
    question = _question(value["question"], f"{pointer}/question")
    work_id = value["work_id"]
    return Answer(
        id=_name(value["id"], f"{pointer}/id"),
        rules=_name(value["rules"], f"{pointer}/rules"),
        at=_at(value["at"], f"{pointer}/at"),
        work_id=None if work_id is None else _name(work_id, f"{pointer}/work_id"),
        question=question.id,
        of=_of(value.get("of"), question, f"{pointer}/of"),
        expect=value["expect"],
        evidence=_evidence(value.get("evidence"), f"{pointer}/evidence"),
        why=_words(value, "why", pointer),
    )


def _question(value: Any, pointer: str) -> Question:
    if not isinstance(value, str) or value not in BY_ID:
        raise _Fault(pointer, f"one of {' '.join(BY_ID)}", _shown(value))
    return BY_ID[value]


def _of(value: Any, question: Question, pointer: str) -> str | None:
    if question.of is None:
        if value is not None:
            raise _Fault(pointer, f"no `of`, which {question.id} does not take", _shown(value))
        return None
    if value is None:
        raise _Fault(pointer, f"what {question.id} asks of: {question.of}", "nothing")
    name = _name(value, pointer)
    if question.id == "anomaly" and name not in ANOMALY_CODES:
        raise _Fault(pointer, f"one of {' '.join(ANOMALY_CODES)}", _shown(name))
    return name


def _at(value: Any, pointer: str) -> At:
    _members(value, pointer, (), ("sequence", "minute", "time"))
    sequence, minute, time = value.get("sequence"), value.get("minute"), value.get("time")
    if minute is not None and time is not None:
        raise _Fault(pointer, "minute or time", "both")
    if sequence is not None and (type(sequence) is not int or sequence < 0):
        raise _Fault(f"{pointer}/sequence", f"integer 0 to {MAX_SEQUENCE}", _shown(sequence))
    if time is not None:
        _time(time, f"{pointer}/time")
    return At(sequence, time, None if minute is None else _minute(minute, f"{pointer}/minute"))


def _time(value: Any, pointer: str) -> None:
    try:
        parse_utc(value if isinstance(value, str) else "")
    except BadTime as bad:
        raise _Fault(pointer, bad.expected, _shown(value)) from None


def _minute(value: Any, pointer: str) -> str:
    literal = repr(value) if type(value) in (int, float) else ""
    try:
        parse_minute(literal)
    except BadTime as bad:
        raise _Fault(pointer, bad.expected, _shown(value)) from None
    return literal


def _evidence(value: Any, pointer: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise _Fault(pointer, "array of event ids", _shown(value))
    return tuple(_name(entry, f"{pointer}/{i}") for i, entry in enumerate(value))


def _members(
    value: Any, pointer: str, required: tuple[str, ...], optional: tuple[str, ...]
) -> None:
    if not isinstance(value, dict):
        raise _Fault(pointer, "object", _shown(value))
    for key in value:
        if key not in required and key not in optional:
            known = " ".join((*required, *optional))
            raise _Fault(f"{pointer}/{escape_pointer(key)}", f"one of {known}", _shown(key))
    for key in required:
        if key not in value:
            raise _Fault(f"{pointer}/{key}", f"the member {key}", "nothing")


def _name(value: Any, pointer: str) -> str:
    if not isinstance(value, str) or not value:
        raise _Fault(pointer, "non-empty string", _shown(value))
    return value


def _words(value: _Object, key: str, pointer: str) -> str:
    words = value.get(key, "")
    if not isinstance(words, str):
        raise _Fault(f"{pointer}/{key}", "string", _shown(words))
    return words


def _each_id_once(answers: tuple[Answer, ...]) -> None:
    first: dict[str, int] = {}
    for index, answer in enumerate(answers):
        earlier = first.setdefault(answer.id, index)
        if earlier != index:
            found = f"{_shown(answer.id)}, which /answers/{earlier} bears"
            raise _Fault(f"/answers/{index}/id", "an id of its own", found)


def _shown_member(value: _Object, key: str) -> str:
    return _shown(value[key]) if key in value else "nothing"


def _shown(value: Any) -> str:
    text = json.dumps(value)
    kind = _KINDS.get(type(value), "")
    return f"{kind}{text if len(text) <= 80 else text[:77] + '...'}"


_KINDS: Final = {
    str: "string ",
    int: "integer ",
    float: "number ",
    dict: "object ",
    list: "array ",
}


# Comparing --------------------------------------------------------------------------------


def compare(answer: Answer, derived: Derived) -> Outcome:
    """Whether the derived answer is the authored one; undetermined is neither."""
    if derived.undetermined_by:
        return "agree" if answer.expect == UNDETERMINED else "undetermined"
    if answer.expect == UNDETERMINED or not agrees(answer.expect, derived.value):
        return "disagree"
    if answer.evidence is not None and set(answer.evidence) != set(derived.evidence):
        return "disagree"
    return "agree"


def agrees(expected: Any, derived: Any) -> bool:
    """Whether a JSON value is as expected: for exactly the keys that `expected` gives."""
    match expected, derived:
        case dict(), dict():
            return all(k in derived and agrees(v, derived[k]) for k, v in expected.items())
        case list(), list():
            return len(expected) == len(derived) and all(map(agrees, expected, derived))
        case str(), {"event_id": event_id, "time": _}:
            return bool(expected == event_id)
        case (bool(), _) | (_, bool()):
            return expected is derived
        case ((int() | float()), (int() | float())):
            return expected == derived
        case _:
            return type(expected) is type(derived) and bool(expected == derived)


def first_differing_event(
    answer: Answer, derived: Derived, position: Mapping[str, int]
) -> str | None:
    """The event at which a reader of a disagreement should look first.

    The earliest, by `position` in the log, of the events that the authored and the
    derived answer do not both name, in the members and the evidence that the author
    gave; else the event that the derived answer rests on; else null.
    """
    one_side = {*_named(answer.expect)} ^ {*_named(_asked(answer.expect, derived.value))}
    if answer.evidence is not None:
        one_side |= {*answer.evidence} ^ {*derived.evidence}
    known = [event_id for event_id in one_side if event_id in position]
    return min(known, key=position.__getitem__) if known else _rests_on(derived)


def _asked(expected: Any, derived: Any) -> Any:
    """The part of a derived value that `expected` gives a value for."""
    if isinstance(expected, dict) and isinstance(derived, dict):
        return {k: _asked(v, derived[k]) for k, v in expected.items() if k in derived}
    return derived


def _named(value: Any, key: str = "event_id") -> Iterator[str]:
    """The event ids in an answer: by the member that holds them, or listed, or bare."""
    match value:
        case str() if key in ("event_id", "by", "since"):
            yield value
        case list():
            for entry in value:
                yield from _named(entry)
        case dict():
            for member, entry in value.items():
                yield from _named(entry, member)


def _rests_on(derived: Derived) -> str | None:
    match derived.value:
        case {"since": {"event_id": str(event_id)}} | {"by": {"event_id": str(event_id)}}:
            return event_id
        case {"event_id": str(event_id)}:
            return event_id
        case _:
            return derived.evidence[0] if derived.evidence else None
