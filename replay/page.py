"""`replay view`: what the one-file page of a log is made of.

The page itself is `replay.report.view`; here are the paths, the raw lines and the losses.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
    from replay.event import Event
    from replay.report.view import Line, Losses


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
    found = page(
        projection_document(rule_set.project(prefix), rule_set),
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
