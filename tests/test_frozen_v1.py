"""coordination/1 prints, byte for byte, what it printed on the day it was released."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from replay import rules
from replay.event import Event
from replay.history import Cutoff
from tests import record
from tests.notation import events, history_of

RULES: Final = "coordination/1"

ALPHABET: Final = (
    "r1",
    "r2<e1",
    "ci+@r1<e2",
    "ci-@r1",
    "ci/local+@r2",
    "+",
    "+b1",
    "ready@r1",
    "ready[ci]@r2",
    "propose",
    "beat!e1?typo",
    "cancel",
)
LENGTH: Final = 4

FROZEN_DIGEST: Final = ""
"""SHA-256 folded over the canonical documents of every small history, in order.

It was set when the rule set was released.  A change of it is a change of the rule set,
which needs a new id instead.
"""


def small_histories() -> Iterator[tuple[Event, ...]]:
    """Every history of at most `LENGTH` events over the alphabet, shorter ones first."""
    at = [[events("beat " * place + symbol)[-1] for symbol in ALPHABET] for place in range(LENGTH)]
    for length in range(LENGTH + 1):
        yield from product(*at[:length])


def rolling_digest() -> str:
    rule_set = rules.named(RULES)
    rolling = sha256()
    for written in small_histories():
        prefix = history_of(written).at(Cutoff())
        # the notation's lines, which the input's hash is of, are no part of the rules
        document = record.frozen_document(prefix, rule_set, leave_out=("tool", "input"))
        rolling.update(document + b"\n")
    return rolling.hexdigest()


def test_every_small_history_prints_what_it_always_printed() -> None:
    digest = rolling_digest()
    assert digest == FROZEN_DIGEST, (
        f"{RULES} now prints something else for some small history: the digest is {digest}"
    )


@pytest.mark.parametrize("case", record.cases(), ids=lambda case: case.stem)
def test_every_case_prints_what_was_recorded_at_every_cutoff(case: Path) -> None:
    path = record.recording(RULES, case)
    assert path.exists(), f"{case.name} has no recording; python -m tests.record writes it"
    expected = path.read_bytes().splitlines()
    derived = record.record(RULES, case).splitlines()
    assert len(derived) == len(expected)
    for number, (now, then) in enumerate(zip(derived, expected, strict=True), start=1):
        assert now == then, f"{path.name}, line {number}"


def test_every_recording_has_its_case() -> None:
    recorded = {path.name for path in record.recording(RULES, Path("x")).parent.glob("*")}
    assert recorded <= {case.name for case in record.cases()}


def test_recording_never_replaces_a_recording_unless_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = tmp_path / "fixtures" / "case.jsonl"
    case.parent.mkdir()
    case.write_bytes(b"")
    monkeypatch.setattr(record, "CASES", case.parent)
    monkeypatch.setattr(record, "TESTS", tmp_path)
    monkeypatch.setattr(record, "record", lambda rule_set_id, case: b"first\n")
    (written,) = record.write([RULES], overwrite=False)
    assert written.read_bytes() == b"first\n"
    monkeypatch.setattr(record, "record", lambda rule_set_id, case: b"second\n")
    assert list(record.write([RULES], overwrite=False)) == []
    assert written.read_bytes() == b"first\n"
    assert list(record.write([RULES], overwrite=True)) == [written]
    assert written.read_bytes() == b"second\n"
