"""Projections as the documents the contract publishes (section 6).

Records in, plain JSON values out.  Times leave nanoseconds here: RFC 3339 for
`events/1`, minutes for `elapsed/1`, durations in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar

from replay.errors import ReplayError
from replay.event import TimeBasis
from replay.history import Input, PrefixFacts
from replay.projection import (
    NOT_ESTABLISHED,
    Anomaly,
    Cancelled,
    CancelledWithWork,
    Censored,
    Claim,
    Correction,
    Derived,
    Episode,
    EpisodeEnd,
    Item,
    Mark,
    Progress,
    Projection,
    Receipt,
    Recovered,
    RuleSet,
)
from replay.timestamps import render, seconds
from replay.version import VERSION

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
_R = TypeVar("_R")
TOOL: dict[str, Json] = {"name": "replay", "version": VERSION}


class AccountingError(ReplayError):
    """Numbers of a result that do not add up: a fault of ours, never of the input."""


def projection_document(projection: Projection, rules: RuleSet) -> dict[str, Json]:
    """The `replay.projection/1` document."""
    facts = projection.facts
    check_identities(facts)
    basis = facts.basis
    return {
        "document": "replay.projection/1",
        "tool": TOOL,
        "input": input_document(facts.input),
        "rules": {"id": rules.id, "digest": f"sha256:{rules.digest}"},
        "cutoff": cutoff_document(facts),
        "accounting": accounting_document(facts),
        "items": [item_document(item, basis) for item in projection.items],
        "unassigned": {
            "events": projection.unassigned.events,
            "last_message": mark_document(projection.unassigned.last_message, basis),
            "anomalies": [anomaly_document(a) for a in projection.unassigned.anomalies],
        },
        "uncovered": [
            {"event_id": u.event_id, "type": u.type, "work_id": u.work_id}
            for u in projection.uncovered
        ],
    }


def check_identities(facts: PrefixFacts) -> None:
    """Raise `AccountingError` unless every line and every event is accounted for."""
    source = facts.input
    if source.lines != source.blank + source.duplicates + source.quarantined + source.admitted:
        raise AccountingError(
            f"{source.lines} lines are not {source.blank} blank + {source.duplicates} duplicates"
            f" + {source.quarantined} quarantined + {source.admitted} admitted"
        )
    if source.admitted != facts.applied + facts.inert + facts.beyond_cutoff:
        raise AccountingError(
            f"{source.admitted} admitted are not {facts.applied} applied + {facts.inert} inert"
            f" + {facts.beyond_cutoff} beyond the cutoff"
        )


def cutoff_document(facts: PrefixFacts) -> dict[str, Json]:
    basis = facts.basis
    return {
        "sequence": facts.cutoff.sequence,
        "recorded": _time(facts.cutoff.recorded, basis),
        "observed": _time(facts.observed, basis),
        "flags": [*facts.flags],
    }


def accounting_document(facts: PrefixFacts) -> dict[str, Json]:
    return {
        "applied": facts.applied,
        "inert": facts.inert,
        "beyond_cutoff": facts.beyond_cutoff,
    }


def input_document(source: Input) -> dict[str, Json]:
    return {
        "name": source.name,
        "sha256": source.sha256,
        "lines": source.lines,
        "blank": source.blank,
        "duplicates": source.duplicates,
        "quarantined": source.quarantined,
        "admitted": source.admitted,
        "time_basis": source.time_basis,
        "complete": source.complete,
        "gaps": [{"from": gap.first, "to": gap.last} for gap in source.gaps],
        "notes": [*source.notes],
    }


def item_document(item: Item, basis: TimeBasis) -> dict[str, Json]:
    clocks = item.clocks
    return {
        "work_id": item.work_id,
        "state": derived_document(item.state, basis),
        "revision": derived_document(item.revision, basis),
        "clocks": {
            "last_message": mark_document(clocks.last_message, basis),
            "last_progress": mark_document(clocks.last_progress, basis),
            "blocked_since": mark_document(clocks.blocked_since, basis),
        },
        "episodes": _listed(item.episodes, lambda e: episode_document(e, basis)),
        "receipts": _listed(item.receipts, receipt_document),
        "claims": _listed(item.claims, claim_document),
        "corrections": _listed(item.corrections, correction_document),
        "anomalies": [anomaly_document(anomaly) for anomaly in item.anomalies],
        "flags": [*item.flags],
        "undetermined_by": [*item.undetermined_by],
        "authorization": NOT_ESTABLISHED,
    }


def derived_document(derived: Derived, basis: TimeBasis) -> dict[str, Json]:
    return {
        "value": derived.value,
        "since": mark_document(derived.since, basis),
        "rule": derived.rule,
        "evidence": [*derived.evidence],
    }


def mark_document(mark: Mark | Progress | None, basis: TimeBasis) -> Json:
    match mark:
        case None:
            return None
        case Progress():
            return {
                "event_id": mark.event_id,
                "time": render(mark.time, basis),
                "rule": mark.rule,
            }
        case Mark():
            return {"event_id": mark.event_id, "time": render(mark.time, basis)}


def episode_document(episode: Episode, basis: TimeBasis) -> dict[str, Json]:
    return {
        "blocker_id": episode.blocker_id,
        "opened": mark_document(episode.opened, basis),
        "repeats": [*episode.repeats],
        "end": end_document(episode.end, basis),
        "elapsed_seconds": seconds(episode.elapsed),
    }


END_KINDS: dict[type, str] = {
    Recovered: "recovered",
    Cancelled: "cancelled",
    CancelledWithWork: "cancelled_with_work",
    Censored: "censored",
}


def end_document(end: EpisodeEnd, basis: TimeBasis) -> dict[str, Json]:
    kind = END_KINDS[type(end)]
    match end:
        case Censored(at):
            return {"kind": kind, "at": render(at, basis)}
        case Recovered(by, evidence) | Cancelled(by, evidence) | CancelledWithWork(by, evidence):
            return {"kind": kind, "by": mark_document(by, basis), "evidence": [*evidence]}


def receipt_document(receipt: Receipt) -> dict[str, Json]:
    return {
        "event_id": receipt.event_id,
        "type": receipt.type,
        "check": receipt.check,
        "source": receipt.source,
        "outcome": receipt.outcome,
        "revision": receipt.revision,
        "status": receipt.status,
        "principal": receipt.principal,
    }


def claim_document(claim: Claim) -> dict[str, Json]:
    return {
        "event_id": claim.event_id,
        "claim": claim.claim,
        "verdict": claim.verdict,
        "evidence": [*claim.evidence],
        "missing": [*claim.missing],
        "rule": claim.rule,
    }


def correction_document(correction: Correction) -> dict[str, Json]:
    return {
        "event_id": correction.event_id,
        "target": correction.target,
        "status": correction.status,
        "reason": correction.reason,
    }


def anomaly_document(anomaly: Anomaly) -> dict[str, Json]:
    return {
        "code": anomaly.code,
        "event_id": anomaly.event_id,
        "related": [*anomaly.related],
    }


def _time(nanoseconds: int | None, basis: TimeBasis) -> Json:
    return None if nanoseconds is None else render(nanoseconds, basis)


def _listed(records: tuple[_R, ...] | None, document: Callable[[_R], dict[str, Json]]) -> Json:
    return None if records is None else [document(record) for record in records]


def rules_document(rule_sets: Iterable[RuleSet]) -> dict[str, Json]:
    """The `replay.rules/1` document: what `replay rules` publishes."""
    return {
        "document": "replay.rules/1",
        "tool": TOOL,
        "rules": [
            {
                "id": rule_set.id,
                "digest": f"sha256:{rule_set.digest}",
                "rules": [{"id": rule.id, "sentence": rule.sentence} for rule in rule_set.rules],
            }
            for rule_set in rule_sets
        ],
    }
