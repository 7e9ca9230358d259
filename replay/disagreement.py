"""That a log and its oracle disagree, kept while the log shrinks (`replay.shrink`).

The oracle is opened by `replay.check`, after it sealed what is derived; every smaller log is
checked the same way, with the one answer that is kept.  Both sides of it stay: without the
events, a log would disagree with most answers, and in ways of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import msgspec

from replay.asking import Asked, Asking, named_by, same
from replay.canonical import encode
from replay.check import OracleFile, Result, check_log
from replay.closure import likely
from replay.errors import quoted
from replay.event import Event, Source
from replay.history import History, admit
from replay.oracle import Answer, At, agrees, read_oracle
from replay.questions import Derived, derive
from replay.rules import named
from replay.shrink import Answers, Keep, NothingToKeep, View, explicit, first_that


class KeepDisagreement:
    """One authored answer, and the other answer that is derived."""

    def __init__(self, log: History, oracle: str, answer: Answer, written: dict[str, Any]) -> None:
        at = answer.at
        self.sentence = f"disagreement with answer {quoted(answer.id)} of {oracle}"
        self.prefix = log.until(sequence=at.sequence, time=at.time, minute=at.minute)
        self.written = {**written, "at": explicit(self.prefix.facts)}
        self._answer = answer
        self._at = _at(self.written["at"])
        self._input = log.input
        document = encode({"document": "replay.oracle/1", "answers": [self.written]})
        self._oracle = OracleFile(oracle, lambda: document)
        asked = Asked(answer.question, answer.work_id, answer.of)
        asking = Asking(self.prefix, named(answer.rules), asked)
        self._view = View(asking)
        self._asking = asking
        _, self._whole = self._derived(asking.events)

    @cached_property
    def start(self) -> tuple[Event, ...]:
        everything = self._asking.events
        guess = likely(everything, named_by(self._whole, self._asking.asked))
        return first_that(self.holds, [guess], everything)

    def holds(self, part: Sequence[Event]) -> bool:
        if not self._view.is_whole(part):
            return False
        outcome, derived = self._derived(part)
        return outcome == "disagree" and self._is_whole(derived)

    def _is_whole(self, derived: Derived) -> bool:
        """Whether the derived answer is the same; its evidence, where that is what is wrong."""
        only_evidence = agrees(self._answer.expect, self._whole.value)
        return same(self._whole, derived) and (
            not only_evidence or {*derived.evidence} == {*self._whole.evidence}
        )

    def _derived(self, part: Sequence[Event]) -> tuple[str, Derived]:
        """What checking a log of these events says of the answer."""
        answer = self._answer
        result = check_log(self._log_of(part), rules=answer.rules, at=self._at, oracle=self._oracle)
        derived = derive(result["projection"], answer.question, answer.work_id, answer.of)
        return result["answers"][0]["outcome"], derived

    def _log_of(self, part: Sequence[Event]) -> History:
        name, sha256 = self._input.name, self._input.sha256
        return admit([Source(name=name, sha256=sha256, events=tuple(part), lines=len(part))])

    def answers(self, part: Sequence[Event]) -> Answers:
        return [self.written] if self.holds(part) else []


def keep_disagreements(
    log: History, oracle: OracleFile, *, rules: str, of: str | None = None
) -> tuple[Keep, list[Keep]]:
    """The first answer that disagrees, or that of id `of`; and every other that does.

    Raises `NothingToKeep`, and what `replay.check.check_log` raises.
    """
    opened: list[bytes] = []

    def read() -> bytes:
        opened.append(oracle.read())
        return opened[0]

    # derived and sealed first; only then is the oracle opened, and only there
    result = check_log(log, rules=rules, oracle=OracleFile(oracle.name, read))
    disagreeing = [*_disagreeing(result)]
    kept = disagreeing[0] if of is None and disagreeing else of
    if kept not in disagreeing:
        what = "no answer" if kept is None else f"no answer {quoted(kept)}"
        raise NothingToKeep(f"{oracle.name}: {what} disagrees with the log")
    authored = read_oracle(oracle.name, opened[0]).answers
    written = msgspec.json.decode(opened[0])["answers"]
    found = {
        answer.id: (answer, text)
        for answer, text in zip(authored, written, strict=True)
        if answer.id in disagreeing
    }
    keep = KeepDisagreement(log, oracle.name, *found.pop(kept))
    return keep, [KeepDisagreement(log, oracle.name, *other) for other in found.values()]


def _disagreeing(result: Result) -> Iterator[str]:
    return (answer["id"] for answer in result["answers"] if answer["outcome"] == "disagree")


def _at(at: dict[str, Any]) -> At:
    minute = at.get("minute")
    return At(at.get("sequence"), at.get("time"), None if minute is None else repr(minute))
