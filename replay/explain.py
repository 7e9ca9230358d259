"""Why an answer is what it is, and why it is not another: `replay.explanation/1`.

*Why* is a certificate: an irredundant set of events, from which alone the rules give the same
answer and of which none can be left out.  It is found by leaving events out and asking again,
so it holds for any rule set, and anybody can check it the same way.

*Why not* has two halves.  Reasons are read off the derived document: what is missing, stale or
contradicting, with the events that show it (`replay.why_not`).  Changes are certificates again:
the events without which, or the further events with which, the answer would be the one that was
wanted, none of them dispensable (`replay.what_if`).

The rule is the one that the derived answer cites; where the catalogue's answer cites none, the
published rule that makes that kind of answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from replay.asking import Asked, Asking, ids, named_by, same
from replay.closure import likely
from replay.document import (
    TOOL,
    Json,
    accounting_document,
    check_identities,
    cutoff_document,
    input_document,
    projection_document,
)
from replay.encode import encode_line
from replay.event import Event, Record, TimeBasis
from replay.history import Prefix
from replay.minimal import BUDGET, Part, irredundant
from replay.projection import Rule, RuleSet
from replay.questions import Derived
from replay.reasons.view import Reason
from replay.report.explanation import explanation_html, explanation_text
from replay.said import says
from replay.timestamps import render
from replay.what_if import Change, Held, changes
from replay.why_not import is_answer, reasons, wanted_of

_RULE_OF: Final = {
    "episode": "episode",
    "receipt": "receipt",
    "certifying_check": "deciding-result",
    "correction": "corrections",
    "blocked_since": "state-blocked",
}
_RULE_OF_ANOMALY: Final = {
    "link_self": "links",
    "link_forward": "links",
    "link_missing": "links",
    "link_other_item": "links",
    "other_principal": "corrections",
    "after_terminal": "terminal",
    "not_terminal": "terminal",
    "no_open_episode": "episode",
    "progress_while_blocked": "episode",
    "revision_reintroduced": "revision",
    "anachronistic": "receipt",
}


_READ_ALOUD: Final = 4


def _and_more(more: int) -> list[str]:
    return [f"and {more} more such reason{'s'[: more > 1]}"] if more else []


class WhyNot(Record, frozen=True):
    """Why an answer is not the wanted one, when it last was, and what would make it so."""

    wanted: str
    holds: bool
    held: Held
    reasons: tuple[Reason, ...]
    changes: tuple[Change, ...]

    @property
    def sentence(self) -> str:
        """`complete? not yet: ...`, to be read aloud."""
        if self.holds:
            return f"{self.wanted}? yes, that is the answer"
        so_far = "no longer" if self.held.until is not None else "not yet"
        never = any(reason.kind in ("never", "undetermined") for reason in self.reasons)
        if never or not self.held.looked:
            so_far = "no"
        said = [reason.sentence for reason in self.reasons[:_READ_ALOUD]]
        more = len(self.reasons) - len(said)
        return f"{self.wanted}? {so_far}: {'; '.join([*said, *_and_more(more)])}"


class Explanation(Record, frozen=True):
    """An answer, its rule, a certificate for it and, where asked, why it is not another."""

    asking: Asking
    answer: Derived
    rule: Rule | None
    why: Part[Event]
    why_not: WhyNot | None

    @property
    def events(self) -> tuple[str, ...]:
        """The ids of the certificate: leaving out any one changes the answer."""
        return tuple(ids(self.why.kept))

    def __str__(self) -> str:
        return explanation_text(explanation_document(self)).rstrip()

    def _repr_html_(self) -> str:
        return explanation_html(explanation_document(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython prints where there is no HTML."""
        del cycle  # records hold no cycles
        printer.text(str(self))


def explain(
    prefix: Prefix,
    rule_set: RuleSet,
    asked: Asked,
    *,
    why_not: str | None = None,
    budget: int = BUDGET,
) -> Explanation:
    """Why a rule set answers a question as it does at a cutoff, and why not `why_not`.

    `budget` bounds the events that are folded in search of a certificate; a certificate that
    it cuts short says that it is not shown to be irredundant.  Raises `UsageError` where
    `why_not` is nothing that the question could answer.
    """
    wanted = None if why_not is None else wanted_of(asked, why_not)
    asking = Asking(prefix, rule_set, asked)
    budget //= asking.weight
    answer = asking.answer()
    return Explanation(
        asking,
        answer,
        _rule(rule_set, asked, answer),
        certificate(asking, answer, budget=budget),
        None if wanted is None else _why_not(asking, answer, wanted, budget),
    )


def certificate(asking: Asking, answer: Derived, *, budget: int = BUDGET) -> Part[Event]:
    """An irredundant set of events that still give the answer."""

    def still_gives_it(events: Sequence[Event]) -> bool:
        return same(answer, asking.answer(events))

    first = likely(asking.events, named_by(answer, asking.asked))
    start = first if still_gives_it(first) else asking.events
    return irredundant(start, still_gives_it, budget=budget)


def _rule(rule_set: RuleSet, asked: Asked, answer: Derived) -> Rule | None:
    by_id = {rule.id: rule for rule in rule_set.rules}
    if answer.rule is not None:
        return by_id.get(answer.rule, Rule(answer.rule, ""))
    name = _RULE_OF.get(asked.question) or _RULE_OF_ANOMALY.get(asked.of or "")
    return next((rule for id_, rule in by_id.items() if id_.partition("/")[2] == name), None)


def _why_not(asking: Asking, answer: Derived, wanted: str, budget: int) -> WhyNot:
    if is_answer(asking.asked, answer, wanted):
        return WhyNot(wanted, True, Held(), (), ())
    part = Prefix(asking.events, asking.prefix.facts)
    document = projection_document(asking.rule_set.project(part), asking.rule_set)
    found = reasons(asking, document, answer, wanted)
    named = [event_id for reason in found for event_id in reason.events]
    held, changed = changes(asking, wanted, named, budget // 6)
    return WhyNot(wanted, False, held, tuple(found), tuple(changed))


def explanation_document(explanation: Explanation) -> dict[str, Json]:
    """The `replay.explanation/1` document."""
    asking = explanation.asking
    facts, rule_set = asking.prefix.facts, asking.rule_set
    check_identities(facts)
    return {
        "document": "replay.explanation/1",
        "tool": TOOL,
        "input": input_document(facts.input),
        "rules": {"id": rule_set.id, "digest": f"sha256:{rule_set.digest}"},
        "cutoff": cutoff_document(facts),
        "accounting": accounting_document(facts),
        "asked": asking.asked.document(),
        "answer": _answer_document(explanation.answer),
        "rule": _rule_document(explanation.rule),
        "why": {
            "events": [_event_document(event, facts.basis) for event in explanation.why.kept],
            "irredundant": explanation.why.irredundant,
        },
        "why_not": _why_not_document(explanation.why_not),
    }


def _answer_document(answer: Derived) -> dict[str, Json]:
    return {
        "value": None if answer.undetermined_by else answer.value,
        "evidence": [*answer.evidence],
        "undetermined_by": [*answer.undetermined_by],
    }


def _rule_document(rule: Rule | None) -> dict[str, Json] | None:
    return None if rule is None else {"id": rule.id, "sentence": rule.sentence}


def _event_document(event: Event, basis: TimeBasis) -> dict[str, Json]:
    return {
        "event_id": event.event_id,
        "sequence": event.recorded_sequence,
        "time": render(event.recorded_at, basis),
        "type": event.type,
        "says": says(event),
    }


def _why_not_document(why_not: WhyNot | None) -> dict[str, Json] | None:
    if why_not is None:
        return None
    first, until = why_not.held.first, why_not.held.until
    return {
        "wanted": why_not.wanted,
        "holds": why_not.holds,
        "held": {
            "from": None if first is None else first.event_id,
            "until": None if until is None else until.event_id,
            "looked": why_not.held.looked,
        },
        "sentence": why_not.sentence,
        "reasons": [reason.document() for reason in why_not.reasons],
        "changes": [
            {
                "leave_out": [*ids(change.leave_out)],
                "add": [_further_document(event) for event in change.add],
                "irredundant": change.irredundant,
            }
            for change in why_not.changes
        ],
    }


def _further_document(event: Event) -> dict[str, Json]:
    """An event that would have to be recorded, as the contract spells one, and in words."""
    line: dict[str, Json] = json.loads(encode_line(event))
    return {"event": line, "says": says(event)}
