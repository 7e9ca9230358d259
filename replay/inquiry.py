"""More to ask of a history in Python and in notebooks: why, why not, what differs, since when.

The functions take the words of the question catalogue, as the command line does, and return
records that print themselves and that a notebook shows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from replay import rules as register
from replay.asking import asked
from replay.bisection import bisect_document
from replay.compare import compare_logs, compare_rules
from replay.event import Record
from replay.explain import Explanation, explain
from replay.history import Prefix
from replay.report.differences import bisect_text, diff_text
from replay.report.markup import box, preformatted

_Json: TypeAlias = dict[str, Any]


class Found(Record, frozen=True):
    """What was found, as the command line's JSON document; it prints as the command's text."""

    document: _Json
    label: str
    text: Callable[[_Json], str]

    def __str__(self) -> str:
        return self.text(self.document).rstrip()

    def _repr_html_(self) -> str:
        return box(self.label, [preformatted(str(self))])

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython prints where there is no HTML."""
        del cycle  # records hold no cycles
        printer.text(str(self))


def explanation_of(
    prefix: Prefix,
    question: str = "state",
    work: str | None = None,
    of: str | None = None,
    *,
    rules: str,
    why_not: str | None = None,
) -> Explanation:
    """Why the rules answer a question of the catalogue as they do, and why not `why_not`.

    `work` is the work item, null for the events that name none; `of` is what the question is
    asked of (an event, a check, a code).  `.events` are the ids of an irredundant set of events
    that give the answer.  Raises `UsageError` and `UnknownRulesError`.
    """
    return explain(prefix, register.named(rules), asked(question, work, of), why_not=why_not)


def rules_compared(prefix: Prefix, one: str, other: str) -> Found:
    """The answers that two rule sets give differently about one history (`replay diff`).

    `.document` is `replay.diff/1`.  Raises `UnknownRulesError`.
    """
    document = compare_rules(prefix, register.named(one), register.named(other))
    return Found(document, "differences", diff_text)


def logs_compared(one: Prefix, other: Prefix, *, rules: str) -> Found:
    """Where two logs diverge, and the answers that differ for it (`replay diff`).

    `.document` is `replay.diff/1`.  Raises `UsageError` and `UnknownRulesError`.
    """
    document = compare_logs(one, other, register.named(rules))
    return Found(document, "differences", diff_text)


def answers_over_time(
    prefix: Prefix,
    question: str = "state",
    work: str | None = None,
    of: str | None = None,
    *,
    rules: str,
    value: str | None = None,
) -> Found:
    """Each answer a question had as the log grew, and where it flipped (`replay bisect`).

    `value` is an answer to look for: where it first came to hold, and where it ceased to.
    `.document` is `replay.bisect/1`.  Raises `UsageError` and `UnknownRulesError`.
    """
    question_asked = asked(question, work, of)
    document = bisect_document(prefix, register.named(rules), question_asked, value)
    return Found(document, "answers over time", bisect_text)
