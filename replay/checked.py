"""A check as a value: what `replay check LOG` says of one log, for a program or a notebook.

The proof is `replay.check`; here are the path, the oracle beside it, and the result.
"""

from __future__ import annotations

import os
from typing import Any

import msgspec

from replay import files
from replay.check import OracleFile, exit_status
from replay.check import check_log as check_history
from replay.errors import Refusal
from replay.event import Record
from replay.oracle import At


class CheckResult(Record, frozen=True):
    """What a check says of one log: an entry of `logs` in a `replay.check/1` document.

    `document` is that entry in plain JSON values, `oracle` the document that it was compared
    with, null where none was opened.
    """

    document: dict[str, Any]
    oracle: dict[str, Any] | None = None

    @property
    def outcome(self) -> str:
        """`agree`, `disagree`, `undetermined`, `refused`, or `accepted` without an oracle."""
        return str(self.document["outcome"])

    @property
    def summary(self) -> dict[str, int]:
        """How many answers agree, disagree and are undetermined."""
        return dict(self.document["summary"])

    @property
    def answers(self) -> tuple[dict[str, Any], ...]:
        """Every authored answer with what was derived, in the oracle's order."""
        return tuple(self.document["answers"])

    @property
    def exit_status(self) -> int:
        """What `replay check` of this log ends with."""
        return exit_status([self.document])

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in self.summary.items())
        return f"CheckResult({self.outcome}: {counts})"

    def _repr_html_(self) -> str:
        from replay.report.notebook import check_html

        return check_html(self.document, self.oracle)


def check_log(
    path: str | os.PathLike[str],
    *,
    rules: str,
    oracle: str | os.PathLike[str] | None = None,
    sequence: int | None = None,
    time: str | None = None,
    minute: int | float | str | None = None,
) -> CheckResult:
    """Derive, seal, then compare with `oracle`, or with `NAME.oracle.json` beside the log.

    A refused log is a result, too.  `rules` and the cutoff are those of the projection; an
    answer brings its own.  Raises `UnknownRulesError`, `UsageError`, `FileError`, `OracleError`.
    """
    log = os.fspath(path)
    authored = files.oracle_beside(log) if oracle is None else os.fspath(oracle)
    opened: list[bytes] = []

    def read() -> bytes:
        assert authored is not None  # or there would be no oracle file to read
        opened.append(files.read_bytes(authored))
        return opened[0]

    document = check_history(
        _admitted(log),
        rules=rules,
        at=At(sequence, time, None if minute is None else str(minute)),
        oracle=None if authored is None else OracleFile(files.printable_name(authored), read),
    )
    return CheckResult(document, msgspec.json.decode(opened[0]) if opened else None)


def _admitted(log: str) -> Any:
    try:
        return files.load(log)
    except Refusal as refusal:
        return refusal
