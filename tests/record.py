"""Machine-written outputs of a frozen rule set: what it printed, at every cutoff of every case.

    python -m tests.record                  write the recordings that are missing
    python -m tests.record --overwrite      write all anew (never for a released rule set)

A recording, `recorded/<rule set>/NAME.jsonl`, has one canonical document a line: the case
at each of its events' sequences, then the full log.  The tool's version and the digest of
the rules' source are left out; they name the program, and the answers must outlive both.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import replay
from replay import canonical, rules
from replay.document import projection_document
from replay.history import Cutoff, History, Prefix
from replay.projection import RuleSet

TESTS: Final = Path(__file__).parent
CASES: Final = TESTS.parent / "fixtures" / "cases"
FROZEN: Final = ("coordination/1", "coordination/2")


def cases() -> tuple[Path, ...]:
    """Every authored case, by name."""
    return tuple(sorted(CASES.glob("*.jsonl")))


def recording(rule_set_id: str, case: Path) -> Path:
    """Where the recording of a case is, whether or not it is there."""
    return TESTS / "recorded" / rule_set_id.replace("/", "-") / case.name


def frozen_document(
    prefix: Prefix, rule_set: RuleSet, *, leave_out: Iterable[str] = ("tool",)
) -> bytes:
    """The canonical document of a prefix, without what names the program."""
    document = projection_document(rule_set.project(prefix), rule_set)
    document["rules"] = rule_set.id
    return canonical.encode({k: v for k, v in document.items() if k not in leave_out})


def prefixes(history: History) -> Iterator[Prefix]:
    """The history at each of its events' sequences, then at no cutoff."""
    for event in history.events:
        yield history.at(Cutoff(event.recorded_sequence))
    yield history.at(Cutoff())


def record(rule_set_id: str, case: Path) -> bytes:
    """The lines of one recording."""
    rule_set = rules.named(rule_set_id)
    documents = (frozen_document(prefix, rule_set) for prefix in prefixes(replay.load(case)))
    return b"".join(document + b"\n" for document in documents)


def write(rule_set_ids: Iterable[str], *, overwrite: bool) -> Iterator[Path]:
    """Write what is missing, or everything; yields each file written."""
    for rule_set_id in rule_set_ids:
        for case in cases():
            path = recording(rule_set_id, case)
            if path.exists() and not overwrite:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(record(rule_set_id, case))
            yield path


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.record", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("rules", nargs="*", default=FROZEN, help="rule set ids")
    parser.add_argument("--overwrite", action="store_true", help="replace existing recordings")
    asked = parser.parse_args()
    for path in write(asked.rules, overwrite=asked.overwrite):
        print(path.relative_to(TESTS.parent))


if __name__ == "__main__":
    main()
