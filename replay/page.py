"""`replay view`: what the one-file page of a log is made of.

The page itself is `replay.report.view`; here are the paths, the raw lines and the losses.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from replay import files, terminal
from replay.errors import FileError, Refusal, UsageError
from replay.history import History, Prefix
from replay.inputs import (
    REFUSED,
    admitted,
    logs_of,
    paths_of,
    prefix_of,
    refuse_overwriting,
)

if TYPE_CHECKING:
    from replay.asking import Asked
    from replay.event import Event
    from replay.projection import Projection, RuleSet
    from replay.report.view import Line, Losses
    from replay.report.view_why import Asking, Certificate, Certificates

_FOLDS: Final = 60_000  # events folded in search of certificates: a second or so
_FOLDS_EACH: Final = 10_000


def view(arguments: Namespace) -> int:
    """`replay view`."""
    from replay.document import projection_document, rules_document
    from replay.report.view import DEFAULT_MAX_BYTES, DEFAULT_MAX_ITEMS, Limits, page
    from replay.rules import named
    from replay.timeline import timeline as grown
    from replay.timeline import timeline_document

    rule_set = named(arguments.rules)
    logs = logs_of(arguments)
    if len(logs) > 1:
        raise UsageError("a page is of one log (--segments reads several files as one)")
    paths = paths_of(arguments.logs)
    losses = _losses_path(paths, arguments)
    refuse_overwriting(arguments.output, [*paths, *([losses] if losses else [])])
    log = admitted(logs[0][1])
    if isinstance(log, Refusal):
        return REFUSED
    prefix = prefix_of(log, arguments)
    raw = _raw_lines(paths, log)
    rules: Any = rules_document([rule_set])
    projection = rule_set.project(prefix)
    found = page(
        projection_document(projection, rule_set),
        timeline_document(grown(prefix, rule_set), rule_set),
        rules["rules"][0],
        _lines_of(prefix, raw),
        losses=None if losses is None else _losses(losses),
        as_stored=raw is not None,
        works=arguments.work,
        limits=Limits(
            bytes=arguments.max_bytes or DEFAULT_MAX_BYTES,
            items=arguments.max_items or DEFAULT_MAX_ITEMS,
        ),
        asking=_asking(arguments, None if raw is None else log),
        certificates=_certificates(prefix, rule_set, projection),
    )
    with files.write_atomically(arguments.output) as file:
        file.write(found.html)
    left_out = f"; {'; '.join(found.left_out)}" if found.left_out else ""
    terminal.say(f"{arguments.output}: {len(prefix.events)} events{left_out}")
    return 0 if log.input.complete else REFUSED


def _lines_of(prefix: Prefix, raw: bytes | None) -> list[Line]:
    """Every visible event, with its own bytes where the log is one file that is still there."""
    from replay.encode import encode_line
    from replay.report.view import Line
    from replay.timestamps import render

    def line(event: Event) -> Line:
        start = event.byte_offset
        data = encode_line(event) if raw is None else raw[start : _end_of_line(raw, start)]
        basis, occurred = event.time_basis, event.occurred_at
        return Line(
            sequence=event.recorded_sequence,
            event_id=event.event_id,
            time=render(event.recorded_at, basis),
            type=event.type,
            work_id=event.work_id,
            number=event.line,
            raw=data.decode().rstrip("\r"),
            occurred=None if occurred is None else render(occurred, basis),
            principal=event.principal,
            claimed_author=event.claimed_author,
            relayed_by=event.relayed_by,
            lane_id=event.lane_id,
            revision=event.artifact_revision,
        )

    return [*map(line, prefix.events)]


def _asking(arguments: Namespace, log: History | None) -> Asking:
    """How `replay explain` is asked about this log; null where it is no one file."""
    from replay.report.view_why import Asking, shell_word

    options = [f"--rules {shell_word(arguments.rules)}"]
    if log is not None and not log.input.complete:
        options.append("--recover")
    options += [
        f"--max-{name} {value}"
        for name in ("line", "nesting", "id")
        if (value := getattr(arguments, f"max_{name}")) is not None
    ]
    cutoff = [
        f"--at-{name} {shell_word(str(value))}"
        for name in ("sequence", "time", "minute")
        if (value := getattr(arguments, f"at_{name}")) is not None
    ]
    name = None if log is None else shell_word(log.input.name)
    return Asking(name, " ".join(options), " ".join(cutoff))


def _certificates(prefix: Prefix, rule_set: RuleSet, projection: Projection) -> Certificates:
    """Why each item is in its state, then why each claim is judged so, until the work is enough.

    What is counted is events folded, so the same log has the same certificates everywhere.
    """
    from msgspec.structs import replace

    from replay.asking import Asked
    from replay.history import Prefix
    from replay.report.view_why import Certificates

    folded = 0

    def project(part: Prefix) -> Projection:
        nonlocal folded
        folded += len(part.events) + 1
        return rule_set.project(part)

    counting = replace(rule_set, project=project)
    own: dict[str | None, list[Event]] = {}
    for event in prefix.events if rule_set.items_alone else ():
        own.setdefault(event.work_id, []).append(event)
    states = [Asked("state", item.work_id) for item in projection.items]
    claims = [Asked("claim", claim.work_id, claim.event_id) for claim in projection.claims]
    found: list[Certificate] = []
    counts: list[str] = []
    for what, questions in (("states", states), ("claims", claims)):
        asked = 0
        for question in questions:
            events = own.get(question.work_id, prefix.events)
            # the first looks are at all of an item's events; further ones, at ever fewer
            if folded + 3 * len(events) > _FOLDS:
                break
            asked += 1
            found += _certificate(Prefix(tuple(events), prefix.facts), counting, question)
        if questions:
            counts.append(f"{asked} of {len(questions)} {what}")
    return Certificates(tuple(found), tuple(counts))


def _certificate(prefix: Prefix, rule_set: RuleSet, asked: Asked) -> list[Certificate]:
    """The certificate, if any event is needed for the answer."""
    from replay.asking import Asking
    from replay.explain import certificate
    from replay.report.view_why import Certificate

    asking = Asking(prefix, rule_set, asked)
    part = certificate(asking, asking.answer(), budget=_FOLDS_EACH)
    if not part.kept:
        return []
    events = tuple(event.event_id for event in part.kept)
    return [Certificate(asked.work_id, asked.question, asked.of, events, part.irredundant)]


def _end_of_line(raw: bytes, start: int) -> int:
    end = raw.find(b"\n", start)
    return len(raw) if end < 0 else end


def _raw_lines(paths: Sequence[str], log: History) -> bytes | None:
    """The log's bytes, decompressed; null where they cannot be had, or are not what was read."""
    if len(paths) > 1 or paths == [files.STDIN]:
        return None
    data, sha256 = files.read_decompressed(paths[0])
    return data if sha256 == log.input.sha256 else None


def _losses_path(paths: Sequence[str], arguments: Namespace) -> str | None:
    """The list that was given, else the one beside the log, if there is one."""
    if arguments.losses is not None:
        return str(arguments.losses)
    beside = f"{paths[0]}.losses.json"
    return beside if len(paths) == 1 and os.path.lexists(beside) else None


def _losses(path: str) -> Losses:
    from msgspec import MsgspecError, json

    from replay.report.view import Losses

    try:
        return json.decode(files.read_bytes(path), type=Losses)
    except (MsgspecError, UnicodeDecodeError) as problem:
        raise FileError(path, f"not a list of losses: {problem}") from None
