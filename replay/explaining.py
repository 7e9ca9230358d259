"""`replay explain`: why an answer about a work item of one log is what it is, or is no other."""

from __future__ import annotations

from argparse import Namespace
from typing import Final

from replay import terminal
from replay.errors import Refusal, UsageError
from replay.inputs import REFUSED, admitted, logs_of, prefix_of

UNDETERMINED: Final = 4


def explain(arguments: Namespace) -> int:
    """`replay explain`."""
    from replay.asking import asked, require_in_view
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
    log = admitted(logs[0][1])
    if isinstance(log, Refusal):
        terminal.write_result(log.document(), arguments.format, refusal_text)
        return REFUSED
    prefix = prefix_of(log, arguments)
    require_in_view(prefix, question)
    explanation = explained(prefix, rule_set, question, why_not=arguments.why_not)
    document = explanation_document(explanation)
    terminal.write_result(document, arguments.format, explanation_text)
    if not log.input.complete:
        return REFUSED
    return UNDETERMINED if explanation.answer.undetermined_by else 0
