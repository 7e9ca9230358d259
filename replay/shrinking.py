"""`replay shrink`: a smallest log that still shows something, and the answers beside it.

What may be left out is `replay.shrink`'s to find (`replay.refused`'s of a refused log); here
are the options, the raw lines, and the two files.  The log is read back and asked again
before it has its name.  An oracle that is there is never replaced by a derived one.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from replay import files, terminal
from replay.errors import Refusal, ReplayError, UsageError, quoted
from replay.history import History, Prefix
from replay.inputs import (
    REFUSED,
    OracleBeside,
    Taken,
    admitted,
    limits_of,
    logs_of,
    paths_of,
    prefix_of,
    printable,
    refuse_overwriting,
)

if TYPE_CHECKING:
    from replay.event import Event
    from replay.projection import RuleSet
    from replay.shrink import Keep, Shrunk

FINDING: Final = 1
_CUTOFF: Final = frozenset({"at_sequence", "at_time", "at_minute"})
_TAKES: Final = {
    "anomaly": frozenset({"rules", "work", "of", *_CUTOFF}),
    "difference": frozenset({"rules", "work", *_CUTOFF}),
    "disagreement": frozenset({"of", "oracle"}),
    "refusal": frozenset({"of"}),
}
_QUESTION: Final = frozenset({"rules", "work", "of", *_CUTOFF})
_ANSWER: Final = ("id", "rules", "work_id", "question", "of")
_OPTIONS: Final = ("rules", "work", "of", "oracle", "at_sequence", "at_time", "at_minute")


def shrink(arguments: Namespace) -> int:
    """`replay shrink`."""
    from replay.minimal import BUDGET
    from replay.shrink import NothingToKeep
    from replay.shrink import shrink as shrunk

    _check_options(arguments)
    paths = paths_of(arguments.logs)
    if len(paths) > 1 and not arguments.segments:
        raise UsageError("a log is shrunk by itself (--segments reads several files as one)")
    beside = OracleBeside.of(paths[0], arguments) if arguments.keep == "disagreement" else None
    outputs = [arguments.output, *([] if _has_no_oracle(arguments) else [_oracle_path(arguments)])]
    for output in outputs:
        refuse_overwriting(output, [*paths, *([beside.path] if beside else [])])
    if arguments.keep == "refusal":
        return _shrink_refused(paths, arguments)
    rule_sets = _rule_sets(arguments)
    taken: Taken = {}
    log = admitted(logs_of(arguments, taken)[0][1])
    if isinstance(log, Refusal):
        if arguments.format == "json":
            terminal.write_document(log.document())
        return REFUSED
    try:
        keep, others = _keep(log, rule_sets, beside, arguments)
        found = shrunk(keep, budget=arguments.effort * BUDGET)
    except NothingToKeep as nothing:
        return _nothing(arguments, log.input.name, log.input.sha256, str(nothing))
    also = [answer for other in others for answer in other.answers(found.part.kept)]
    _write_shrunk(log, found, [*found.answers, *also], _raw_lines(taken), arguments)
    return 0 if log.input.complete else REFUSED


def _check_options(arguments: Namespace) -> None:
    from replay.questions import BY_ID

    keep = arguments.keep
    if keep not in _TAKES and keep not in BY_ID:
        known = ", ".join((*BY_ID, *(other for other in _TAKES if other not in BY_ID)))
        raise UsageError(f"--keep {quoted(keep)}: expected one of {known}")
    takes = _TAKES.get(keep, _QUESTION)
    for option in _OPTIONS:
        if getattr(arguments, option) is not None and option not in takes:
            raise UsageError(f"--keep {keep} takes no --{option.replace('_', '-')}")
    if keep not in _TAKES and arguments.work is None:
        raise UsageError(f"--keep {keep} is about a work item: give --work ID")
    if keep == "anomaly" and arguments.of is None:
        raise UsageError("--keep anomaly is of a code: give --of CODE")
    given = len(arguments.rules or ())
    if keep == "difference" and given != 2:
        raise UsageError("--keep difference compares two rule sets: give --rules twice")
    if keep != "difference" and given > 1:
        raise UsageError(f"--keep {keep} is under one rule set: --rules is given once")


def _has_no_oracle(arguments: Namespace) -> bool:
    return bool(arguments.no_oracle) or arguments.keep == "refusal"


def _oracle_path(arguments: Namespace) -> str:
    suffixes = sorted(files.LOG_SUFFIXES, key=len, reverse=True)
    output: str = arguments.output
    stem = next((output.removesuffix(s) for s in suffixes if output.endswith(s)), output)
    return f"{stem}.oracle.json"


# A log that is admitted ----------------------------------------------------------------------


def _write_shrunk(
    log: History,
    found: Shrunk,
    answers: Sequence[dict[str, Any]],
    raw: dict[str, bytes],
    arguments: Namespace,
) -> None:
    kept = found.part.kept
    data = _log_bytes(kept, raw)
    _read_back(found, data, arguments)
    oracle = None if arguments.no_oracle else _oracle(log, found, answers, arguments)
    _write(arguments, data, oracle)
    document = _document(
        arguments,
        log.input.name,
        log.input.sha256,
        rules=_rules_of(answers),
        cutoff=_cutoff(found.keep.prefix),
        answers=[{member: a.get(member) for member in _ANSWER} for a in answers],
        kept={"unit": "event", "count": len(kept), "of": len(log.events)},
        events=[event.event_id for event in kept],
        irredundant=found.part.irredundant,
        output=_identity(arguments.output, files.compressed(arguments.output, data)),
        oracle=None if oracle is None else _identity(_oracle_path(arguments), oracle),
    )
    _say(arguments, document, found.keep.sentence)
    if arguments.format == "json":
        terminal.write_document(document)


def _rule_sets(arguments: Namespace) -> list[RuleSet]:
    from replay.rules import named

    return [named(rules) for rules in arguments.rules or [arguments.default_rules]]


def _keep(
    log: History, rule_sets: Sequence[RuleSet], beside: OracleBeside | None, arguments: Namespace
) -> tuple[Keep, Sequence[Keep]]:
    from replay import shrink
    from replay.asking import asked
    from replay.disagreement import keep_disagreements

    work, of = arguments.work, arguments.of
    if arguments.keep == "disagreement":
        if beside is None:
            raise UsageError("--keep disagreement: no oracle is beside the log; give --oracle FILE")
        return keep_disagreements(log, beside.file(), rules=rule_sets[0].id, of=of)
    prefix = prefix_of(log, arguments)
    match arguments.keep:
        case "anomaly":
            return shrink.KeepAnomaly(prefix, rule_sets[0], of, work), ()
        case "difference":
            return shrink.keep_difference(prefix, rule_sets[0], rule_sets[1], work), ()
    question = asked(arguments.keep, work, of)
    return shrink.keep_answer(prefix, rule_sets[0], question), ()


def _raw_lines(taken: Taken) -> dict[str, bytes]:
    """The bytes of each event's line, where its file is still what was read."""
    found: dict[str, bytes] = {}
    for path, source in taken.items():
        if source is None or path == files.STDIN:
            continue
        data, sha256 = files.read_decompressed(path)
        if sha256 == source.sha256:
            for event in reversed(source.events):  # of a duplicate the first line stays
                end = data.find(b"\n", event.byte_offset)
                line = data[event.byte_offset : end if end >= 0 else len(data)]
                found[event.event_id] = line
    return found


def _log_bytes(events: Sequence[Event], raw: dict[str, bytes]) -> bytes:
    """The log in sequence order: each line as it was written, or its value anew."""
    from replay.encode import encode_line

    return b"".join(
        (raw[event.event_id] if event.event_id in raw else encode_line(event)) + b"\n"
        for event in events
    )


def _read_back(found: Shrunk, data: bytes, arguments: Namespace) -> None:
    """Raise unless the bytes are a log that shows what was kept: a fault of ours."""
    from replay.decode import decode_bytes
    from replay.history import admit

    history = admit([decode_bytes(data, name=arguments.output, limits=limits_of(arguments))])
    if not found.keep.holds(history.events):
        raise ReplayError(f"{found.keep.sentence}: the shrunk log does not show it")


def _oracle(
    log: History, found: Shrunk, answers: Sequence[dict[str, Any]], arguments: Namespace
) -> bytes:
    import json

    from replay.shrink import SKELETON

    kept, whole, sentence = len(found.part.kept), len(log.events), found.keep.sentence
    if arguments.keep == "disagreement":
        title = "Answers as authored, with which the shrunk log disagrees"
        why = "Carried over; each `at` names the time at which elapsed time ended on the whole log."
    else:
        ids = " and ".join(dict.fromkeys(answer["rules"] for answer in answers))
        title = f"skeleton: derived by {ids}, not authored; replace each why and check each expect"
        why = f"{SKELETON}."
    document = {
        "document": "replay.oracle/1",
        "title": title,
        "why": f"{why} {kept} of {whole} events of {log.input.name}: {sentence}.",
        "answers": answers,
    }
    # laid out for whoever authors it
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n".encode()


def _write(arguments: Namespace, data: bytes, oracle: bytes | None) -> None:
    """Both files or neither.  An oracle that is there stays, or is the same."""
    with files.write_atomically(arguments.output) as log_file:
        log_file.write(files.compressed(arguments.output, data))
        if oracle is None:
            return
        path = _oracle_path(arguments)
        if os.path.lexists(path) and files.read_bytes(path) != oracle:
            raise UsageError(
                f"{path} is there, and authored answers are never written over:"
                " move it, or give --no-oracle"
            )
        log_file.flush()  # before either has its name, so that a full disk leaves neither
        with files.write_atomically(path) as oracle_file:
            oracle_file.write(oracle)


# A log that is refused -----------------------------------------------------------------------


def _shrink_refused(paths: Sequence[str], arguments: Namespace) -> int:
    from replay.minimal import BUDGET
    from replay.refused import refused_lines

    if len(paths) > 1 or arguments.recover:
        raise UsageError("--keep refusal reads one file, and does not recover it")
    name = printable(os.path.basename(paths[0]))
    data, sha256 = files.read_decompressed(paths[0])
    budget = arguments.effort * BUDGET
    found = refused_lines(data, name=name, limits=limits_of(arguments), budget=budget)
    if found is None:
        return _nothing(arguments, name, sha256, f"{name}: its lines are not refused")
    if arguments.of not in (None, found.refusal.code):
        why = f"{name}: refused as {found.refusal.code}, not as {arguments.of}"
        return _nothing(arguments, name, sha256, why)
    _write(arguments, found.data, None)
    document = _document(
        arguments,
        name,
        sha256,
        refusal=found.refusal.document(),
        kept={"unit": "line", "count": len(found.part.kept), "of": found.lines},
        lines=[*found.part.kept],
        irredundant=found.part.irredundant,
        output=_identity(arguments.output, files.compressed(arguments.output, found.data)),
    )
    _say(arguments, document, f"refused as {found.refusal.code}")
    if arguments.format == "json":
        terminal.write_document(document)
    return 0


# What is said of it --------------------------------------------------------------------------


def _nothing(arguments: Namespace, name: str, sha256: str, why: str) -> int:
    terminal.say(f"nothing to keep: {why}")
    if arguments.format == "json":
        terminal.write_document(_document(arguments, name, sha256, nothing=why))
    return FINDING


def _document(arguments: Namespace, name: str, sha256: str, **found: Any) -> dict[str, Any]:
    from replay.document import TOOL

    return {
        "document": "replay.shrunk/1",
        "tool": TOOL,
        "input": {"name": name, "sha256": sha256},
        "keep": {"what": arguments.keep, "work_id": arguments.work, "of": arguments.of},
        "nothing": None,
        "rules": [],
        "cutoff": None,
        "answers": [],
        "refusal": None,
        "kept": None,
        "events": [],
        "lines": [],
        "irredundant": None,
        "output": None,
        "oracle": None,
        **found,
    }


def _rules_of(answers: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """The rule sets that the answers are of."""
    from replay.rules import named

    ids = dict.fromkeys(answer["rules"] for answer in answers)
    return [{"id": id_, "digest": f"sha256:{named(id_).digest}"} for id_ in ids]


def _cutoff(prefix: Prefix) -> Any:
    from replay.document import cutoff_document

    return cutoff_document(prefix.facts)


def _identity(path: str, data: bytes) -> dict[str, str]:
    from replay.canonical import digest

    return {"name": files.printable_name(path), "sha256": digest(data)}


def _say(arguments: Namespace, document: dict[str, Any], sentence: str) -> None:
    kept = document["kept"]
    least = (
        "irredundant"
        if document["irredundant"]
        else (f"not shown irredundant: try --effort {10 * arguments.effort}")
    )
    units = f"{kept['unit']}{'' if kept['of'] == 1 else 's'}"
    counts = f"{kept['count']:,} of {kept['of']:,} {units} kept"
    terminal.say(f"{arguments.output}: {counts} ({least}): {sentence}")
