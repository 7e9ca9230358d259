"""`replay explain`: why an answer about a work item of one log is what it is, or is no other."""

from __future__ import annotations

from argparse import Namespace
from typing import Any, Final

from replay import terminal
from replay.errors import Refusal, UsageError, quoted
from replay.history import Prefix
from replay.inputs import REFUSED, admitted, logs_of, prefix_of

UNDETERMINED: Final = 4
_OF_NO_ITEM: Final = ("last_message", "anomaly", "permission")
_NAMED: Final = 8  # work items that a usage error lists


def explain(arguments: Namespace) -> int:
    """`replay explain`."""
    from replay.asking import asked
    from replay.canonical import encode
    from replay.explain import explain as explained
    from replay.explain import explanation_document
    from replay.report.explanation import explanation_text
    from replay.report.text import refusal_text
    from replay.rules import named

    rule_set = named(arguments.rules)
    question = asked(arguments.why, arguments.work, arguments.of)
    logs = logs_of(arguments)
    if len(logs) > 1:
        raise UsageError("an explanation is of one log (--segments reads several files as one)")
    style: Any = {"colour": terminal.colour(), "width": terminal.width()}
    log = admitted(logs[0][1])
    if isinstance(log, Refusal):
        if arguments.format == "json":
            terminal.write(encode(log.document()) + b"\n")
        else:
            terminal.write_text(refusal_text(log.document(), **style))
        return REFUSED
    prefix = prefix_of(log, arguments)
    _require_in_view(prefix, question.question, question.work_id)
    explanation = explained(prefix, rule_set, question, why_not=arguments.why_not)
    document = explanation_document(explanation)
    if arguments.format == "json":
        terminal.write(encode(document) + b"\n")
    else:
        terminal.write_text(explanation_text(document, **style))
    if not log.input.complete:
        return REFUSED
    return UNDETERMINED if explanation.answer.undetermined_by else 0


def _require_in_view(prefix: Prefix, question: str, work_id: str | None) -> None:
    items = {event.work_id for event in prefix.events if event.work_id is not None}
    if work_id in items or (work_id is None and question in _OF_NO_ITEM):
        return
    listed = ", ".join(quoted(item) for item in sorted(items)[:_NAMED])
    more = f" ({_NAMED} of {len(items)})" if len(items) > _NAMED else ""
    in_view = f"in view: {listed}{more}" if items else "none is in view"
    if work_id is None:
        raise UsageError(f"{question} of which work item? {in_view}")
    raise UsageError(f"no work item {quoted(work_id)}; {in_view}")
