"""The kill table: which check tells of each seeded defect first, and which none can.

    python -m replay.testing.kills DIRECTORY [--seed N] > table.md

Each defect spoils each log of a directory once, where it applies.  What the faulty log shows
is compared with what the good one showed, by the checks in this order:

* refused: decoding or admission refuses it;
* gaps: a missing sequence number is listed;
* anomalies: an anomaly is listed that was not there;
* duplicates: a repeated line is listed;
* verdict: a claim is now judged other than supported, or a receipt is now not current;
* oracle: an authored answer is no longer derived, which nothing in the log alone shows.

Each spoiled log counts once, for the first check that tells; so the counts of a row add up
to the logs that it was applied to.  What none tells of is split into logs whose answers are
all as before, and logs whose answers have changed with nobody to say so.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Final

from replay import files, rules
from replay.check import OracleFile, check_log
from replay.decode import decode_bytes
from replay.errors import Refusal, ReplayError
from replay.event import Record
from replay.history import History, admit
from replay.projection import Anomaly, Projection
from replay.report.safe import shown
from replay.testing.defects import DEFECTS, Defect, ValidLog, valid_log
from replay.testing.spoiled import RULES

CHECKS: Final = ("refused", "gaps", "anomalies", "duplicates", "verdict", "oracle")
LOG_ALONE: Final = CHECKS[:-1]
"""The checks that need nothing but the log."""


class Case(Record, frozen=True):
    """A valid log as bytes, and the bytes of its oracle, null where it has none."""

    name: str
    log: bytes
    oracle: bytes | None = None


class Row(Record, frozen=True, kw_only=True):
    """What became of one defect.  applied = the sum of `caught` + unchanged + unnoticed."""

    defect: Defect
    applied: int
    caught: dict[str, int]
    unchanged: int
    unnoticed: int

    @property
    def by_the_log(self) -> int:
        """How often the log alone told."""
        return sum(self.caught[check] for check in LOG_ALONE)


def cases_in(directory: str) -> Iterator[Case]:
    """The logs of a directory that are admitted and not empty, with the oracles beside them.

    Raises `FileError`, and `Refusal` of a log that is not valid.
    """
    for path in files.expand([directory]):
        data, _ = files.read_decompressed(path)
        oracle = files.oracle_beside(path)
        if data.strip():
            authored = None if oracle is None else files.read_bytes(oracle)
            yield Case(os.path.basename(path), data, authored)


def kill_table(
    cases: Iterable[Case], seed: int = 0, *, defects: Sequence[Defect] = DEFECTS
) -> tuple[Row, ...]:
    """One row a defect, in their order.  The same cases and seed give the same rows.

    Raises `Refusal` of a case that is not valid, and `OracleError`.
    """
    given = [(case, valid_log(case.log, name=case.name)) for case in cases]
    return tuple(_row(defect, given, seed) for defect in defects)


def _row(defect: Defect, given: Sequence[tuple[Case, ValidLog]], seed: int) -> Row:
    told: list[str] = []
    for case, log in given:
        # the seed names the pair, so that a new defect or log changes no other count
        rng = Random(f"{seed} {defect.id} {case.name}")
        spoiled = defect.inject(log, rng)
        if spoiled is not None and spoiled.data != case.log:
            told.append(told_by(case, log, spoiled.data))
    return Row(
        defect=defect,
        applied=len(told),
        caught={check: told.count(check) for check in CHECKS},
        unchanged=told.count("unchanged"),
        unnoticed=told.count("unnoticed"),
    )


def told_by(case: Case, good: ValidLog, data: bytes) -> str:
    """The first check that tells the spoiled log from the good one.

    `unchanged` where none does and every answer is as it was, else `unnoticed`.
    """
    try:
        history = admit([decode_bytes(data, name=case.name)])
    except Refusal:
        return "refused"
    derived = rules.named(RULES).project(history.until())
    checks: dict[str, Callable[[], bool]] = {
        "gaps": lambda: not {*history.input.gaps} <= {*good.history.input.gaps},
        "anomalies": lambda: not _anomalies(derived) <= _anomalies(good.projection),
        "duplicates": lambda: len(history.duplicates) > len(good.history.duplicates),
        "verdict": lambda: not _findings(derived) <= _findings(good.projection),
        "oracle": lambda: case.oracle is not None and _disagrees(history, case.oracle),
    }
    found = next((check for check, tells in checks.items() if tells()), None)
    return found or ("unchanged" if _answers(derived) == _answers(good.projection) else "unnoticed")


def same_answers(one: bytes, other: bytes) -> bool:
    """Whether two valid logs show the same of every item.  Raises `Refusal`."""
    return _answers(valid_log(one).projection) == _answers(valid_log(other).projection)


def _answers(projection: Projection) -> object:
    return projection.items, projection.unassigned, projection.uncovered


def _anomalies(projection: Projection) -> set[tuple[str | None, Anomaly]]:
    of_items = {(item.work_id, a) for item in projection.items for a in item.anomalies}
    return of_items | {(None, anomaly) for anomaly in projection.unassigned.anomalies}


def _findings(projection: Projection) -> set[tuple[str, str]]:
    """Claims that are not supported and receipts that are not current, by event."""
    claims = {(c.event_id, c.verdict) for c in projection.claims if c.verdict != "supported"}
    return claims | {(r.event_id, r.status) for r in projection.receipts if r.status != "current"}


def _disagrees(history: History, oracle: bytes) -> bool:
    given = OracleFile("oracle", lambda: oracle)
    return bool(check_log(history, rules=RULES, oracle=given)["outcome"] != "agree")


# Markdown

_HEAD: Final = "| defect | applied | " + " | ".join(CHECKS) + " | unnoticed | no change |"
_RULER: Final = "|---" + "|--:" * (len(CHECKS) + 3) + "|"
_TITLES: Final = {
    "refused": (
        "Always refused",
        "No reader of this contract admits such a log.",
    ),
    "some": (
        "Told where it shows",
        "Whether the log alone tells depends on what the defect hits.",
    ),
    "none": (
        "No trace of its own in the log",
        "A log in which just this had happened would read the same. What a check tells here"
        " is by luck: a link that leads nowhere, a claim that lost its evidence. Only another"
        " record (here, authored answers) can show the rest.",
    ),
    "harmless": (
        "Harmless by contract",
        "Every answer is the same; a repeated line is counted and listed.",
    ),
}


def markdown(rows: Sequence[Row], *, logs: int, seed: int) -> str:
    """The table, a part for each kind of trace, and what it adds up to."""
    parts = [
        "# Which seeded defects the checks tell of\n",
        "Generated by `python -m replay.testing.kills fixtures/cases`; not edited by hand."
        f" {len(rows)} defects, each put once into each of {logs} authored logs where it"
        f" applies (seed {seed}), judged by {RULES}. A spoiled log counts for the first check"
        " that tells, in the order of the columns; *oracle* is the authored answers, which a"
        " log alone does not have; *unnoticed* changed an answer and nothing told; *no"
        " change* left every answer as it was.\n",
        *(_part(trace, [row for row in rows if row.defect.trace == trace]) for trace in _TITLES),
        _sums(rows),
    ]
    return "\n".join(part for part in parts if part)


def _part(trace: str, rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    title, said = _TITLES[trace]
    lines = [f"## {title}", "", said, "", _HEAD, _RULER, *map(_line, rows), ""]
    sentences = [f"* `{row.defect.id}`: {row.defect.sentence}" for row in rows]
    return "\n".join([*lines, *sentences, ""])


def _line(row: Row) -> str:
    counts = [row.applied, *(row.caught[check] for check in CHECKS), row.unnoticed, row.unchanged]
    return f"| `{row.defect.id}` | " + " | ".join(str(count or "·") for count in counts) + " |"


def _sums(rows: Sequence[Row]) -> str:
    applied = sum(row.applied for row in rows if row.defect.trace != "harmless")
    told = sum(row.by_the_log for row in rows if row.defect.trace != "harmless")
    harmful = [row for row in rows if row.defect.trace != "harmless"]
    oracle = sum(row.caught["oracle"] for row in harmful)
    unnoticed = sum(row.unnoticed for row in harmful)
    unchanged = sum(row.unchanged for row in harmful)
    always = [row for row in harmful if row.applied and row.by_the_log == row.applied]
    never = [row for row in harmful if row.applied and not row.by_the_log]
    return "\n".join(
        [
            "## In sum",
            "",
            f"Of {applied} logs that were spoiled other than harmlessly, the log alone told of"
            f" {told}, authored answers of {oracle} more; in {unnoticed} an answer changed and"
            f" nothing told, in {unchanged} no answer changed.",
            f"Of {len(harmful)} such defects the log alone told of {len(always)} every time and"
            f" of {len(never)} never.",
            "",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m replay.testing.kills", description="Write the kill table of a directory."
    )
    parser.add_argument("directory", help="logs, each with its oracle beside it")
    parser.add_argument("--seed", type=int, default=0, help="another draw (default %(default)s)")
    asked = parser.parse_args(arguments)
    try:
        cases = [*cases_in(asked.directory)]
        rows = kill_table(cases, asked.seed)
        sys.stdout.write(markdown(rows, logs=len(cases), seed=asked.seed))
    except Refusal as refusal:
        sys.stderr.write(f"not a valid log: {shown(str(refusal))}\n")
        return 3
    except ReplayError as problem:
        sys.stderr.write(f"{shown(str(problem))}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
