"""What a page holds: its documents rearranged, nothing derived.

The account of the input, the rules' sentences and the words of the text reports stand
beside the events and answers that `view_pack` makes short.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, Final, Literal, TypedDict

from replay.report.safe import shown
from replay.report.view_pack import (
    PROSE,
    STATES,
    UNDETERMINED,
    Document,
    Item,
    Line,
    Packer,
    label,
    printed,
)
from replay.report.view_why import Asking, Certificate, Certificates
from replay.report.words import ANOMALIES, CLAIMS, FLAGS, VERDICTS, coded

_NAMED_BY: Final = {
    "episode": "episode",
    "receipt": "receipt",
    "correction": "corrections",
    "blocked_since": "episode",
    "undetermined": "uncovered",
}
"""The rule behind an answer whose document does not name one, without the rule set's number."""


_TYPES: Final = 4  # types of events not covered that a notice names


class Loss(TypedDict):
    """A field, in how many records it was lost, and why."""

    field: str
    count: int
    reason: str


class Losses(TypedDict):
    """A `replay.losses/1` document, as far as a page reads it."""

    document: Literal["replay.losses/1"]
    source: str
    order: str
    losses: list[Loss]
    unavailable: list[str]


def items_of(
    projection: Document,
    timeline: Document,
    lines: Sequence[Line],
    certificates: Iterable[Certificate] = (),
) -> list[Item]:
    """Every work item in the projection's order, then what names no work item."""
    why: dict[str | None, list[Certificate]] = {}
    for certificate in certificates:
        why.setdefault(certificate.work_id, []).append(certificate)
    intervals = {
        work_id: [*group]
        for work_id, group in groupby(timeline["intervals"], key=lambda i: i["work_id"])
    }
    of_item: dict[str | None, list[Line]] = {}
    for line in lines:
        of_item.setdefault(line.work_id, []).append(line)
    found = [
        Item(
            item["work_id"],
            intervals.get(item["work_id"], []),
            of_item.get(item["work_id"], []),
            _open_at_end(item),
            why.get(item["work_id"], ()),
        )
        for item in projection["items"]
    ]
    if None in of_item:
        found.append(Item(None, intervals.get(None, []), of_item[None], {}))
    return found


def _open_at_end(item: Document) -> dict[str, float]:
    return {
        episode["opened"]["event_id"]: episode["elapsed_seconds"]
        for episode in item["episodes"] or ()
        if episode["end"]["kind"] == "censored"
    }


def page_data(
    projection: Document,
    rules: Document,
    every: Sequence[Item],
    kept: Sequence[Item],
    *,
    losses: Losses | None,
    as_stored: bool,
    asking: Asking,
    certificates: Certificates,
) -> dict[str, Any]:
    """All that the scripts read, as JSON values."""
    packer = Packer(kept, last=max((i.lines[-1].sequence for i in every if i.lines), default=0))
    source = projection["input"]
    return {
        "title": f"{label(source['name'])} \u00b7 replay",
        "name": label(source["name"]),
        "basis": source["time_basis"],
        "asStored": as_stored,
        "account": _account(projection),
        "cutoff": _cutoff(projection["cutoff"]),
        "flags": [coded(FLAGS, flag) for flag in projection["cutoff"]["flags"]],
        "notices": [*_notices(source), *_undetermined(projection)],
        "limits": _limits(every, kept),
        "losses": _losses(losses),
        "rules": {
            "id": rules["id"],
            "digest": rules["digest"],
            "sentences": {rule["id"]: rule["sentence"] for rule in rules["rules"]},
        },
        "namedBy": _named_by(rules),
        "words": {
            "anomalies": ANOMALIES,
            "flags": FLAGS,
            "claims": CLAIMS,
            "verdicts": VERDICTS,
        },
        "sha256": source["sha256"],
        "tool": f"{projection['tool']['name']} {projection['tool']['version']}",
        "asking": asking._asdict(),
        "certificates": [*certificates.counts],
        "events": packer.events(),
        "lines": packer.raw_lines(),
        "items": [packer.item(item) for item in kept],
        "stateNames": list(STATES),
        "overview": packer.overview([item for item in kept if item.work_id is not None]),
    }


def _account(projection: Document) -> list[str]:
    """The two identities: every line and every event is accounted for."""
    source, events = projection["input"], projection["accounting"]
    return [
        f"{source['lines']} lines = {source['blank']} blank + {source['duplicates']} duplicates"
        f" + {source['quarantined']} quarantined + {source['admitted']} admitted",
        f"{source['admitted']} admitted = {events['applied']} applied + {events['inert']} inert"
        f" + {events['beyond_cutoff']} beyond the cutoff",
    ]


def _cutoff(cutoff: Document) -> Document:
    recorded = cutoff["recorded"]
    observed = cutoff["observed"]
    return {
        "sequence": cutoff["sequence"],
        "recorded": None if recorded is None else printed(recorded),
        "observed": None if observed is None else printed(observed),
    }


def _notices(source: Document) -> list[str]:
    found = [coded(FLAGS, note) for note in source["notes"]]
    if not source["complete"]:
        found.append("Incomplete: lines were lost or set aside in reading the input.")
    if source["gaps"]:
        shown_gaps = [
            str(gap["from"]) if gap["from"] == gap["to"] else f"{gap['from']}\u2013{gap['to']}"
            for gap in source["gaps"][:20]
        ]
        more = len(source["gaps"]) - len(shown_gaps)
        also = f" and {more} more gaps" if more else ""
        found.append(f"No event has sequence {', '.join(shown_gaps)}{also}.")
    return found


def _undetermined(projection: Document) -> list[str]:
    """How much the rules do not say at the page's cutoff, and which events are why."""
    items, uncovered = projection["items"], projection["uncovered"]
    count = sum(1 for item in items if item["undetermined_by"])
    if not uncovered:
        return []
    types = Counter(label(event["type"]) for event in uncovered)
    named = [f"{number} {name}" for name, number in types.most_common(_TYPES)]
    more = f" and {len(types) - _TYPES} more types" if len(types) > _TYPES else ""
    rules = label(projection["rules"]["id"])
    return [
        f"{count} of {len(items)} work items {'is' if count == 1 else 'are'} {UNDETERMINED}: not"
        f" covered by {rules} ({', '.join(named)}{more}). That is not the same as no state."
    ]


def _limits(every: Sequence[Item], kept: Sequence[Item]) -> list[str]:
    """In words, how much of the log the page holds, where that is not all of it."""
    events = [line for item in kept for line in item.lines]
    total = sum(len(item.lines) for item in every)
    raw = sum(1 for line in events if line.raw is not None)
    groups = (
        ("work items", _named(kept), _named(every)),
        ("events", len(events), total),
        ("raw lines", raw, total),
    )
    return [f"{some} of {all_} {what} shown" for what, some, all_ in groups if some != all_]


def _named(items: Iterable[Item]) -> int:
    return sum(1 for item in items if item.work_id is not None)


def _losses(losses: Losses | None) -> Document | None:
    if losses is None:
        return None
    return {
        "source": label(losses["source"]),
        "order": label(losses["order"]),
        "losses": [
            {
                "field": label(loss["field"]),
                "count": loss["count"],
                "reason": shown(loss["reason"], PROSE),
            }
            for loss in losses["losses"]
        ],
        "unavailable": [shown(answer, PROSE) for answer in losses["unavailable"]],
    }


def _named_by(rules: Document) -> dict[str, str]:
    known = {rule["id"] for rule in rules["rules"]}
    number = rules["id"].rpartition("/")[2]
    found = {question: f"{number}/{name}" for question, name in _NAMED_BY.items()}
    return {question: rule for question, rule in found.items() if rule in known}
