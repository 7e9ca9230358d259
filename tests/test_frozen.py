"""A released rule set prints, byte for byte, what it printed on the day it was released."""

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

ALPHABETS: Final[dict[str, tuple[str, ...]]] = {
    "coordination/1": (
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
    ),
    "coordination/2": (
        "r1",
        "r2<e1",
        "r2!e1",
        "ci+@r1<e2",
        "ci-@r1",
        "review-@r1",
        "+",
        "-&e2",
        "cancel",
        "reopen",
        "done@r1",
        "ready@r1",
        "retract!e2",
    ),
}
LENGTH: Final = 4
FIRST: Final = "coordination/1"

FROZEN_DIGESTS: Final = {
    "coordination/1": "749211647762277d31fb15f9b9b1bfd3c8e4e6bad8f24b26c59d76898793421a",
    "coordination/2": "b0ced4b31e5294ee2e8eccde6c75f5f788d201b06d5fc72793e8ca7061362cc1",
}
"""SHA-256 folded over the canonical documents of every small history, in order.

Each was set when its rule set was released.  A change of one is a change of the rule set,
which needs a new id instead.
"""


def small_histories(alphabet: tuple[str, ...]) -> Iterator[tuple[Event, ...]]:
    """Every history of at most `LENGTH` events over the alphabet, shorter ones first."""
    at = [[events("beat " * place + symbol)[-1] for symbol in alphabet] for place in range(LENGTH)]
    for length in range(LENGTH + 1):
        yield from product(*at[:length])


def rolling_digest(rule_set_id: str) -> str:
    rule_set = rules.named(rule_set_id)
    rolling = sha256()
    for written in small_histories(ALPHABETS[rule_set_id]):
        prefix = history_of(written).at(Cutoff())
        # the notation's lines, which the input's hash is of, are no part of the rules
        document = record.frozen_document(prefix, rule_set, leave_out=("tool", "input"))
        rolling.update(document + b"\n")
    return rolling.hexdigest()


@pytest.mark.parametrize("rule_set_id", FROZEN_DIGESTS)
def test_every_small_history_prints_what_it_always_printed(rule_set_id: str) -> None:
    digest = rolling_digest(rule_set_id)
    assert digest == FROZEN_DIGESTS[rule_set_id], (
        f"{rule_set_id} now prints something else for some small history: the digest is {digest}"
    )


def test_every_released_rule_set_is_frozen() -> None:
    assert tuple(FROZEN_DIGESTS) == rules.known() == record.FROZEN


@pytest.mark.parametrize("rule_set_id", record.FROZEN)
@pytest.mark.parametrize("case", record.cases(), ids=lambda case: case.stem)
def test_every_case_prints_what_was_recorded_at_every_cutoff(case: Path, rule_set_id: str) -> None:
    path = record.recording(rule_set_id, case)
    assert path.exists(), f"{case.name} has no recording; python -m tests.record writes it"
    expected = path.read_bytes().splitlines()
    derived = record.record(rule_set_id, case).splitlines()
    assert len(derived) == len(expected)
    for number, (now, then) in enumerate(zip(derived, expected, strict=True), start=1):
        assert now == then, f"{path.name}, line {number}"


@pytest.mark.parametrize("rule_set_id", record.FROZEN)
def test_every_recording_has_its_case(rule_set_id: str) -> None:
    recorded = {path.name for path in record.recording(rule_set_id, Path("x")).parent.glob("*")}
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
    (written,) = record.write([FIRST], overwrite=False)
    assert written.read_bytes() == b"first\n"
    monkeypatch.setattr(record, "record", lambda rule_set_id, case: b"second\n")
    assert list(record.write([FIRST], overwrite=False)) == []
    assert written.read_bytes() == b"first\n"
    assert list(record.write([FIRST], overwrite=True)) == [written]
    assert written.read_bytes() == b"second\n"
