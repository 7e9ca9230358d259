"""A quick comparison of a rule set with its reference model's recorded answers.

    python -m tests.mutation.quick coordination/1            compare; exit 1 at a difference
    python -m tests.mutation.quick coordination/1 --write    record the model's answers

What is compared: all histories of at most two events of the model test's alphabet, seeded
longer ones, those that mutants or a defect once survived, and every case at every cutoff.
The model is slow, so a hash of its answer to each is recorded once, beside the history in
the tests' notation; a mutant of the rules is then killed, or not, in a second or two.

Of coordination/2, which also says what changes as a log grows, some timelines are compared
with its projections, and how much a corrected item makes it read with a number.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from importlib import import_module
from itertools import islice, product
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest import mock

from msgspec.structs import replace

import replay
from replay import rules
from replay.event import Event
from replay.history import Cutoff, Prefix
from replay.projection import Projection
from replay.rules import v2
from replay.timeline import all_answers, timeline
from tests import record
from tests.notation import history, history_of

HERE: Final = Path(__file__).parent
SEED: Final = 20261130
LONGER: Final = 1800
WORK: Final = ((4935, 2163), (3917, 133))
SPACING: Final = v2.Checkpoints.SPACING
TIMELINES: Final = 60
SURVIVED: Final = (
    # completion claims that are alike but for who makes them, or for what they cite
    "r1 ready[lint]@r1^p1 done@r1^p1 done@r1^p2 ci+@r1",
    "ci+@ lint-@ done@ done@&e1 lint+@",
    "r1 ci+@r1 done@^p1 done@r1^p1",
    # a claim of no revision, taken for a candidate where one was announced
    "r1 done@&e3 ci+@",
    # what a completion claim lacks, which a later request for review of its principal adds to
    "r1 done@r1^p1 ready[lint]@r1^p1",
)
MODELS: Final = {"coordination/1": "v1", "coordination/2": "v2"}


def histories(name: str) -> Iterator[str]:
    """The histories that are compared, in the notation."""
    from tests.drawn import drawn_words

    if name == "v2":  # its alphabet is relative; the drawn ones are dense in what matters
        yield from SURVIVED
        yield from (drawn_words(Random(SEED + number)) for number in range(LONGER))
        return
    alphabet = import_module(f"tests.test_reference_{name}").ALPHABET
    for length in range(3):
        yield from (" ".join(words) for words in product(alphabet, repeat=length))
    draw = Random(SEED)
    for _ in range(LONGER):
        yield " ".join(draw.choices(alphabet, k=draw.randint(3, 10)))


def prefix_of(number: int, words: str) -> Prefix:
    """The history; of some, without an early event or two, so that the sequence has gaps."""
    events = history(words).events
    if number % 7 == 3:
        events = events[:1] + events[2 + number % 2 :]
    if number % 5 == 2:
        events = tuple(_told_apart(event) for event in events)
    return history_of(events).at(Cutoff())


def _told_apart(event: Event) -> Event:
    """As it would be read: equal numbers and names are values, and not one object."""
    return replace(
        event,
        type=f"{event.type} ".rstrip(),
        recorded_sequence=event.recorded_sequence + 1000,
        principal=event.principal and f"the {event.principal}",
    )


def in_cases() -> Iterator[Prefix]:
    for case in record.cases():
        yield from record.prefixes(replay.load(case))


def answer(project: Callable[[Prefix], Projection], prefix: Prefix, model: str) -> str:
    """A hash of the answer, with the ids of rules left out: the model has none."""
    blank: Callable[[Projection], Projection] = import_module(model).without_rules
    projection = blank(project(prefix))
    shown = repr((projection.items, projection.unassigned, projection.uncovered))
    return sha256(shown.encode()).hexdigest()[:16]


def write(model: str, words_of: Iterator[str], recorded: Path) -> None:
    project = import_module(model).project
    lines = [
        f"{answer(project, prefix_of(number, words), model)} {words}"
        for number, words in enumerate(words_of)
    ]
    lines += [f"{answer(project, prefix, model)} CASE" for prefix in in_cases()]
    recorded.write_text("\n".join(lines) + "\n")


def work() -> tuple[tuple[int, int], ...]:
    """What a long item costs that is corrected now and then, near and far.

    The versions that coordination/2 reads and the copies of its fold that it makes, with
    copies close together and as far apart as they are.  Which copies are kept moves no
    answer; it moves this.
    """
    return tuple(_work(spacing) for spacing in (2, SPACING))


def _work(spacing: int) -> tuple[int, int]:
    counted = {"read": 0, "copy": 0}

    def counting(name: str) -> Callable[..., Any]:
        original = getattr(v2.Fold, name)

        def count(*arguments: Any) -> Any:
            counted[name] += 1
            return original(*arguments)

        return count

    log = history(" ".join(corrected_words())).at(Cutoff())
    with (
        mock.patch.object(v2.Checkpoints, "SPACING", spacing),
        mock.patch.object(v2.Fold, "read", counting("read")),
        mock.patch.object(v2.Fold, "copy", counting("copy")),
    ):
        v2.project(log)
    return counted["read"], counted["copy"]


def corrected_words() -> Iterator[str]:
    """Results of one item; every ninth corrects an earlier one, the nearer the more often."""
    draw = Random(SEED)
    yield "r1"
    for number in range(2, 500):
        word = f"ci{'+' if number % 3 else '-'}@r1"
        if number % 9:
            yield word
        else:
            target = f"!e{number - int(number ** draw.random()) or 2}"
            yield f"retract{target}" if draw.random() < 0.3 else f"{word}{target}"


def differing_timeline(words_of: Iterable[str]) -> str | None:
    """The first history whose timeline says at some cutoff what a projection there does not."""
    rule_set = rules.named("coordination/2")
    for words in words_of:
        log = history(words)
        line = timeline(log.at(Cutoff()), rule_set)
        for event in log.events:
            at = Cutoff(event.recorded_sequence)
            if line.at(event.recorded_sequence) != all_answers(rule_set.project(log.at(at))):
                return f"the timeline of {words}"
    return None


def differs(rule_set: str, model: str, recorded: Path) -> str | None:
    """The first history whose answer is not the model's, or what else gives a mutant away."""
    v2.Checkpoints.SPACING = 2  # or no drawn history would be long enough for a checkpoint
    project = rules.named(rule_set).project
    cases = in_cases()
    for number, line in enumerate(recorded.read_text().splitlines()):
        expected, words = line.split(" ", 1)
        prefix = next(cases) if words == "CASE" else prefix_of(number, words)
        if answer(project, prefix, model) != expected:
            return words
    if rule_set != "coordination/2":
        return None
    if work() != WORK:
        return "the versions read and the copies made"
    return differing_timeline(islice(histories("v2"), TIMELINES))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", choices=MODELS)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    name = MODELS[arguments.rules]
    model, recorded = f"tests.reference_{name}", HERE / f"expected_{name}.txt"
    if arguments.write:
        write(model, histories(name), recorded)
        return 0
    found = differs(arguments.rules, model, recorded)
    sys.stdout.write("no difference\n" if found is None else f"differs: {found}\n")
    return 0 if found is None else 1


if __name__ == "__main__":
    sys.exit(main())
