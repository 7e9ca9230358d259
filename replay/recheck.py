"""Whether a recorded document is what its log still shows: derived again, and compared.

A document says of which log it is (by name, and by the SHA-256 of its bytes), under which
rules (by id, and by the digest of their source), at which cutoff, and which version of this
tool printed it.  Rules and cutoff say how to derive it again.  It is reproduced where its
canonical bytes are.  Where they are not, what is known of the cause is told apart: the log's
bytes are others; or, with the same log, the rules' source is; or, with both the same, the
version of this tool is.  Where none is, nothing that the document tells of explains it, which
is the finding that this is for.

The log's name is no part of its identity, so a log that was renamed is derived under the name
that was recorded.  What a check compared with an oracle is not compared again here.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from replay.canonical import digest, encode
from replay.document import TOOL, Json, projection_document
from replay.errors import FileError, Refusal, UsageError, quoted
from replay.event import Record, TimeBasis
from replay.history import Cutoff, History
from replay.recorded import CHECK, PROJECTION, About, about, unequal
from replay.rules import named
from replay.timestamps import NS_PER_MINUTE, BadTime, parse_utc

Cause: TypeAlias = Literal["input", "rules", "tool", "unexplained"]
REFUSAL: Final = "replay.refusal/1"


class Recorded(Record, frozen=True):
    """One projection, or one refusal, of a recorded document, and where in it that is.

    `log` is the name under which its log was read.  `about` is null of a refusal, which says
    neither a digest nor rules.
    """

    pointer: str
    document: dict[str, Any]
    log: str
    about: About | None

    @property
    def was_recovered(self) -> bool:
        """Whether its log was read with the lines that cannot be kept set aside."""
        return self.about is not None and not self.about.input.complete


def recorded_in(file: str, document: Any) -> list[Recorded]:
    """What a `replay.projection/1` or `replay.check/1` document recorded of each log.

    Raises `FileError` where it does not say what to derive again.
    """
    if document["document"] == PROJECTION:
        return [_projection(file, document, "")]
    logs = document.get("logs")
    if not isinstance(logs, list) or not all(isinstance(log, dict) for log in logs):
        raise FileError(file, f"not a recorded {CHECK}: expected an array of objects at /logs")
    return [_log(file, log, f"/logs/{index}") for index, log in enumerate(logs)]


def _log(file: str, log: dict[str, Any], pointer: str) -> Recorded:
    refusal = log.get("refusal")
    if refusal is None:
        return _projection(file, log.get("projection"), f"{pointer}/projection")
    name = refusal.get("file") if isinstance(refusal, dict) else None
    if not isinstance(name, str):
        raise FileError(file, f"not a recorded refusal at {pointer}/refusal: it names no file")
    return Recorded(f"{pointer}/refusal", refusal, name, None)


def _projection(file: str, projection: Any, pointer: str) -> Recorded:
    said = about(file, projection, pointer)
    return Recorded(pointer, projection, said.input.name, said)


def recheck(recorded: Recorded, log: History | Refusal) -> dict[str, Json]:
    """One entry of `results` in a `replay.recheck/1` document.

    Raises `UnknownRulesError` and `UsageError` where the recorded rules are not known, or the
    recorded cutoff does not fit the log.
    """
    if isinstance(log, Refusal):
        return _of_refused(recorded, log)
    if recorded.about is None:
        return _result(recorded, "differs", log=_identity(log), cause="unexplained")
    derived = _derived(recorded.about, log)
    places = [*unequal(recorded.document, derived)]
    first: Json = None
    if places:
        one, other = places[0].one, places[0].other
        first = {
            "pointer": places[0].pointer,
            "recorded": {"value": one[0]} if one else None,
            "derived": {"value": other[0]} if other else None,
        }
    return _result(
        recorded,
        "differs" if places else "reproduced",
        log=_identity(log),
        cause=_cause(recorded.about, derived) if places else None,
        first=first,
        count=len(places),
        derived=digest(encode(derived)),
    )


def _derived(said: About, log: History) -> Any:
    rule_set = named(said.rules.id)
    log = replace(log, input=replace(log.input, name=said.input.name))
    basis: TimeBasis = "elapsed" if isinstance(said.cutoff.recorded, int | float) else "utc"
    prefix = log.at(Cutoff(said.cutoff.sequence, _bound(said, log)), basis=basis)
    return projection_document(rule_set.project(prefix), rule_set)


def _bound(said: About, log: History) -> int | None:
    """The time cutoff in nanoseconds; a document has minutes as the nearest double."""
    bound = said.cutoff.recorded
    if bound is None:
        return None
    if log.time_basis not in (None, "utc" if isinstance(bound, str) else "elapsed"):
        raise UsageError(f"its cutoff is {bound!r}, and its log's time basis is {log.time_basis}")
    if not isinstance(bound, str):
        return round(Fraction(bound) * NS_PER_MINUTE)
    try:
        return parse_utc(bound)
    except BadTime as bad:
        raise UsageError(f"its cutoff is {quoted(bound)}: expected {bad.expected}") from None


def _of_refused(recorded: Recorded, refusal: Refusal) -> dict[str, Json]:
    """A recorded refusal is reproduced by the same one; an answer cannot be."""
    now: Any = {**refusal.document(), "file": recorded.log}
    if recorded.about is not None:
        return _result(recorded, "refused", refusal=now)
    places = [*unequal(recorded.document, now)]
    if not places:
        return _result(recorded, "reproduced", derived=digest(encode(now)))
    return _result(recorded, "refused", refusal=now, count=len(places))


def _cause(said: About, derived: Any) -> Cause:
    if said.input.sha256 != derived["input"]["sha256"]:
        return "input"
    if said.rules.digest != derived["rules"]["digest"]:
        return "rules"
    return "unexplained" if said.tool.version == TOOL["version"] else "tool"


def _identity(log: History) -> Json:
    return {"name": log.input.name, "sha256": log.input.sha256}


def _result(
    recorded: Recorded,
    outcome: Literal["reproduced", "differs", "refused"],
    *,
    log: Json = None,
    cause: Cause | None = None,
    first: Json = None,
    count: int = 0,
    derived: str | None = None,
    refusal: Json = None,
) -> dict[str, Json]:
    said = recorded.about
    is_about: Json = None
    if said is not None:
        is_about = {
            "tool": said.tool.version,
            "sha256": said.input.sha256,
            "rules": {"id": said.rules.id, "digest": said.rules.digest},
            "cutoff": {"sequence": said.cutoff.sequence, "recorded": said.cutoff.recorded},
        }
    return {
        "pointer": recorded.pointer,
        "kind": PROJECTION if said is not None else REFUSAL,
        "name": recorded.log,
        "outcome": outcome,
        "about": is_about,
        "log": log,
        "cause": cause,
        "first_difference": first,
        "differences": count,
        "sha256": {"recorded": digest(encode(recorded.document)), "derived": derived},
        "refusal": refusal,
    }


def recheck_document(
    documents: Iterable[tuple[str, str, list[Json]]], status: int
) -> dict[str, Json]:
    """The `replay.recheck/1` document: for each file its name, its SHA-256, and its results."""
    return {
        "document": "replay.recheck/1",
        "tool": TOOL,
        "documents": [
            {"name": name, "sha256": sha256, "results": results}
            for name, sha256, results in documents
        ],
        "exit": status,
    }


STATUS: Final = {"reproduced": 0, "differs": 1, "refused": 3}
