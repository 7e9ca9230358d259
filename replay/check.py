"""Derive, seal, and only then open the oracle: the only place where the two meet.

`check_log` is meant to be read as the proof.  What is derived is encoded and hashed
before the oracle's bytes are asked for, and from then on nobody has anything but those
sealed bytes: they are what is printed, and what authored answers are compared with.
An oracle may ask at other cutoffs or of other rules.  All that deriving these takes from
it is a rule set's id and a cutoff; each is sealed before any answer is compared.

Nothing here touches a path: the log comes loaded, the oracle as something to read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from replay.canonical import digest, encode
from replay.document import TOOL, projection_document
from replay.errors import (
    FileError,
    OracleError,
    Refusal,
    ReplayError,
    UnknownRulesError,
    UsageError,
    quoted,
)
from replay.event import Record
from replay.history import Cutoff, History, Prefix
from replay.oracle import Answer, At, Oracle, compare, first_differing_event, read_oracle
from replay.questions import derive
from replay.rules import named

FULL_LOG: Final = At()
OUTCOMES: Final = ("agree", "disagree", "undetermined")
_STATUS: Final = {"refused": 3, "disagree": 1, "undetermined": 4, "agree": 0, "accepted": 0}
_MOST_URGENT_FIRST: Final = (70, 2, 3, 1, 4, 0)

Result: TypeAlias = dict[str, Any]
"""One entry of `logs` in a `replay.check/1` document."""


class OracleFile(Record, frozen=True):
    """An oracle that is there to be opened: its name, and what reads its bytes."""

    name: str
    read: Callable[[], bytes]


class SealError(ReplayError):
    """A derived document that is not the one that was sealed: a fault of ours."""


class Sealed(Record, frozen=True):
    """A derived document as canonical bytes, with the hash taken before an oracle was open."""

    data: bytes
    sha256: str

    def open(self) -> dict[str, Any]:
        """The document, decoded afresh from the sealed bytes.  Raises `SealError`."""
        if digest(self.data) != self.sha256:
            raise SealError(f"a document sealed as {self.sha256} is now {digest(self.data)}")
        document: dict[str, Any] = msgspec.json.decode(self.data)
        return document


def check_log(
    log: History | Refusal,
    *,
    rules: str,
    at: At = FULL_LOG,
    oracle: OracleFile | None = None,
) -> Result:
    """What one log shows under `rules` at `at`, and whether its oracle agrees.

    Raises `UnknownRulesError`; `UsageError` where `at` does not fit the log; `FileError`
    and `OracleError` of the oracle.
    """
    if isinstance(log, Refusal):
        return _result("refused", refusal=log)
    # 1. derive, encode and hash
    prefix = log.until(sequence=at.sequence, time=at.time, minute=at.minute)
    sealed = seal(prefix, rules)
    if oracle is None:
        return _result("accepted", projection=sealed)
    # 2. only now is the oracle opened
    data = _read(oracle)
    authored = read_oracle(oracle.name, data)
    # 3. derive, encode and hash what it asks for elsewhere
    views = _views(log, authored, oracle.name, {(rules, prefix.facts.cutoff): sealed})
    # 4. compare
    answers = _compared(log, authored, views)
    return _result(
        _outcome(answers),
        projection=sealed,
        oracle={"name": oracle.name, "sha256": digest(data)},
        answers=answers,
    )


def seal(prefix: Prefix, rules: str) -> Sealed:
    """The derived document of a prefix, sealed.  Raises `UnknownRulesError`."""
    rule_set = named(rules)
    data = encode(projection_document(rule_set.project(prefix), rule_set))
    return Sealed(data, digest(data))


def check_document(results: Iterable[Result], *, others: Iterable[int] = ()) -> dict[str, Any]:
    """The `replay.check/1` document; `others` are the statuses of logs that have no result."""
    logs = [*results]
    return {
        "document": "replay.check/1",
        "tool": TOOL,
        "logs": logs,
        "exit": most_urgent([exit_status(logs), *others]),
    }


def exit_status(results: Iterable[Result]) -> int:
    """The exit status of a check of these logs (contract, section 8)."""
    return most_urgent(status for result in results for status in _statuses(result))


def most_urgent(statuses: Iterable[int]) -> int:
    """The one exit status of several; 0 of none."""
    return min(statuses, key=_MOST_URGENT_FIRST.index, default=0)


def _statuses(result: Mapping[str, Any]) -> Iterable[int]:
    yield _STATUS[result["outcome"]]
    projection = result["projection"]
    if projection is not None and not projection["input"]["complete"]:
        yield _STATUS["refused"]  # a recovery answers, and still refused what it quarantined


def _read(oracle: OracleFile) -> bytes:
    try:
        return oracle.read()
    except OSError as problem:
        raise FileError(oracle.name, problem.strerror or str(problem)) from problem


_Views: TypeAlias = dict[tuple[str, Cutoff], Sealed]


def _views(log: History, authored: Oracle, name: str, sealed: _Views) -> list[dict[str, Any]]:
    """For each answer the document that it is about, one derivation for each rules and cutoff."""
    keys: list[tuple[str, Cutoff]] = []
    for index, answer in enumerate(authored.answers):
        prefix = _prefix(log, answer, name, index)
        key = (answer.rules, prefix.facts.cutoff)
        if key not in sealed:
            try:
                sealed[key] = seal(prefix, answer.rules)
            except UnknownRulesError as unknown:
                at = f"/answers/{index}/rules"
                known = f"one of {', '.join(unknown.known)}"
                raise OracleError(name, at, known, quoted(unknown.rules)) from None
        keys.append(key)
    opened = {key: sealed[key].open() for key in dict.fromkeys(keys)}
    return [opened[key] for key in keys]


def _prefix(log: History, answer: Answer, name: str, index: int) -> Prefix:
    at = answer.at
    try:
        return log.until(sequence=at.sequence, time=at.time, minute=at.minute)
    except UsageError as misfit:
        basis = "a minute" if log.time_basis == "elapsed" else "a time"
        expected = f"{basis}, since the log's time basis is {log.time_basis}"
        raise OracleError(name, f"/answers/{index}/at", expected, str(misfit)) from None


def _compared(log: History, authored: Oracle, views: list[dict[str, Any]]) -> list[Result]:
    position = {event.event_id: index for index, event in enumerate(log.events)}
    return [
        _answer(answer, document, position)
        for answer, document in zip(authored.answers, views, strict=True)
    ]


def _answer(answer: Answer, document: dict[str, Any], position: Mapping[str, int]) -> Result:
    derived = derive(document, answer.question, answer.work_id, answer.of)
    outcome = compare(answer, derived)
    differs = outcome == "disagree"
    return {
        "id": answer.id,
        "outcome": outcome,
        "expected": answer.expect,
        "derived": derived.value,
        "first_differing_event": (
            first_differing_event(answer, derived, position) if differs else None
        ),
        "rule": derived.rule,
        "undetermined_by": [*derived.undetermined_by],
    }


def _outcome(answers: list[Result]) -> str:
    given = {answer["outcome"] for answer in answers}
    return next((o for o in ("disagree", "undetermined") if o in given), "agree")


def _result(
    outcome: str,
    *,
    projection: Sealed | None = None,
    refusal: Refusal | None = None,
    oracle: dict[str, str] | None = None,
    answers: Iterable[Result] = (),
) -> Result:
    listed = [*answers]
    return {
        "outcome": outcome,
        "projection": None if projection is None else projection.open(),
        "refusal": None if refusal is None else refusal.document(),
        "oracle": oracle,
        "answers": listed,
        "summary": {o: sum(a["outcome"] == o for a in listed) for o in OUTCOMES},
    }
