"""More to ask of a history in Python and in notebooks: why, and why not.

The functions take the words of the question catalogue, as the command line does, and return
records that print themselves and that a notebook shows.
"""

from __future__ import annotations

from replay import rules as register
from replay.asking import asked
from replay.explain import Explanation, explain
from replay.history import Prefix


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
