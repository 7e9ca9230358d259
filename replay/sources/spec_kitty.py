"""Lane status logs that Spec Kitty keeps beside each mission (`status.events.jsonl`).

Four families of rows share one file.  A row of any other family is kept too, inert.

| family | told by | becomes |
|---|---|---|
| transition | `to_lane` or `from_lane` | the lane's event, below, and what leads to it |
| annotation | `delta` | `spec-kitty.annotation` |
| lifecycle | `event_type` | `spec-kitty.lifecycle.NAME`; `WPCreated` is `work.proposed` |
| retrospective | `type` and `lamport` | `spec-kitty.retrospective.NAME` |
| unknown | anything else | `spec-kitty.other.NAME`, by its `type` or `event` |

| contract | row | default, and what is never done |
|---|---|---|
| `schema_version` | - | `events/1` |
| `event_id` | `event_id` | `ID#2` for other content under a known id; `row-N` for none |
| `recorded_sequence` | order of the lines, or of the commits that brought them | - |
| `recorded_at_utc` | commit or receipt time; of a bare file the latest time said so far | - |
| `occurred_at_utc` | `at`, `timestamp`, `started_at`, `completed_at`, the first there | absent |
| `principal` | - | null: `actor` is written by the actor |
| `claimed_author` | `actor`, also that of a lifecycle payload; of a review its `reviewer` | null |
| `relayed_by` | of a review the `actor`, where another than the `reviewer` | null |
| `work_id` | `wp_id`; of a second mission in one file `MISSION/WP` | null |
| `lane_id` | `mission_slug`, `feature_slug` or `mission_id` | null |
| `payload` | `{"commit", "forced", "reason", "row"}` | the row as written, whole |
| `artifact_revision` | `evidence.repos[].commit`, where all name one whole commit | null |
| `evidence_refs` | `review_ref` and the `reference` of each review | `[]` |
| `causes` | of a resolution, the transition into `blocked` | `[]` |
| `supersedes` | - | null: no row corrects another |

A move to another lane is what a row says, so `to_lane` and `from_lane` choose classes.

| lane | event |
|---|---|
| `genesis`, `planned` | `work.proposed`; inert when a package falls back to `planned` |
| `in_progress` | `work.started` |
| `for_review` | `review.requested`, a claim |
| `blocked` | `blocker.raised` |
| `done` | `work.completed`, a claim: no lane completes anything |
| `canceled` | `work.cancelled` |
| `claimed`, `in_review`, `approved`, any other | `spec-kitty.lane.LANE`, inert |

The lane's event bears the id of the row.  Before it, in this order, stand the events that
the same row implies, as `ID/…`: `reopened` (`work.reopened`, on leaving `done` or
`canceled`), `resolved` (`blocker.resolved`, on leaving `blocked` for any lane but
`canceled`: a claim, since a lane shows no evidence), `forced` (`spec-kitty.forced`, inert,
for `force: true`), `check-N` (`check.completed`, for each `evidence.verification`) and
`review` (`review.completed`).  A verification is told by the one whom it serves and names
no system that ran it, so its source is `local`.  A review is an explicit verdict, in
`review_result` or `evidence.review`; the lane `approved` alone is none, and a package that
goes from `approved` to `done` cites the review that it had, which is no second one.  A
word that the vocabulary does not have leaves a result inert (`spec-kitty.review`,
`spec-kitty.verification`).  `reason`, notes and references are never read; a short reason
of a blocker or a cancellation, which may stand in `policy_metadata.evidence`, is shown.

Order.  A bare file is in the order of its lines (`derived`).  Spec Kitty sorts merged logs
by clock, so a row that was written later may stand earlier; this importer sorts nothing.
A bare file has no receipt times either: the latest producer's time so far stands in, so
times never fall, and each row counts as a loss.  `--path FILE` reads the file in the
history of a repository's HEAD (`commit`), and `--recorded FILE` has its receipt times
(`recorded`).  One row may give several numbers of the sequence; a line that is no object
leaves a gap.  A copy of a row, of the same id and the same value, gives the same lines
again, which admission collapses and lists.

One input is one mission, since package ids recur in all of them; nothing in several files
says how their rows interleave.  The first mission that a file names has its package ids as
they are (`/` and `~` escaped as in a JSON pointer, so that no id looks qualified).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from replay.errors import FileError, UsageError
from replay.event import Record, escape_pointer
from replay.sources.appended import (
    Arrivals,
    Recorded,
    by_line,
    by_rows,
    content_of,
    of_repository,
)
from replay.sources.imported import (
    AMBIGUOUS,
    FREE_TEXT,
    NO_SUCH_FIELD,
    AdmissionClock,
    Identities,
    Imported,
    Importer,
    Object,
    Options,
    Order,
    Tally,
    Unreadable,
    ranges,
    text_of,
    value_key,
    write_line,
    write_whole,
)
from replay.timestamps import BadTime, format_utc, parse_utc

SOURCE: Final = "spec-kitty"
REF: Final = "HEAD"
INPUTS: Final = (
    "one status.events.jsonl, at will with --recorded FILE, or a git repository with"
    " --path FILE, the file's path inside it"
)

LANES: Final = {
    "genesis": "work.proposed",
    "planned": "work.proposed",
    "in_progress": "work.started",
    "for_review": "review.requested",
    "blocked": "blocker.raised",
    "done": "work.completed",
    "canceled": "work.cancelled",
}
"""The event class of a move to each lane; a move to any other lane is inert."""

INERT_LANES: Final = ("claimed", "in_review", "approved")
CLAIMS: Final = ("work.completed", "review.requested")
TERMINAL: Final = ("done", "canceled")
VERDICTS: Final = {"approved": "approved", "changes_requested": "changes_requested"}
RESULTS: Final = {"pass": "passed", "fail": "failed", "skip": "skipped"}

UNAVAILABLE: Final = (
    "authorship: the actor writes `actor`",
    "revision: nothing announces one; a commit in evidence is only claimed",
    "last_progress: no check and no review is of an announced revision",
    "deciding results: a verification is told by the one whom it serves, so it is local",
    "recovery: leaving the lane `blocked` is a claim, and no row names what removed the blocker",
    "corrections: a row is removed or written anew, never corrected",
    "admission order: merges sort the file by the producers' clocks",
)
NO_RECEIPT_TIMES: Final = (
    "recorded times: a bare file has none; every time and elapsed time here is that of the"
    " producers' clocks, and a cutoff by time asks what they said, not what was known"
)

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")
_COMMIT: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_TIMES: Final = ("at", "timestamp", "started_at", "completed_at")
_MISSIONS: Final = ("mission_slug", "feature_slug", "mission_id")
_PLACED: Final = frozenset(
    {*_TIMES, "event_id", "actor", "wp_id", "from_lane", "to_lane", "force"}
    | {"kind", "event_type", "type", "evidence", "review_result", "review_ref"}
)
_MIGRATION: Final = "migration:"
_NOTHING: Final[dict[str, object]] = {}


class _Part(Record, frozen=True, kw_only=True):
    """One event of a row; the row's own event has no suffix and comes last."""

    type: str
    suffix: str = ""
    payload: dict[str, object] = _NOTHING
    envelope: dict[str, object] = _NOTHING


def said_at(row: Object) -> int | None:
    """The producer's time of a row, in nanoseconds; null where it says none that is exact."""
    try:
        return parse_utc(str(_time(row.fields)))
    except BadTime:
        return None


def _time(row: dict[str, object]) -> object:
    return next((row[name] for name in _TIMES if row.get(name) is not None), None)


def convert(arrivals: Arrivals, order: Order) -> Imported:
    """Contract lines of a status log's lines.  Pure, and a prefix gives a prefix."""
    tally = Tally()
    log = _Log(tally, order)
    lines = [line for arrival in arrivals.lines for line in log.take(arrival)]
    for problem, numbers in log.unreadable.items():
        tally.add("line", f"{AMBIGUOUS}: {problem}, at {ranges(numbers)}", len(numbers))
    tally.add("line", f"{AMBIGUOUS}: removed or changed by a later commit", arrivals.removed)
    return Imported(
        source=SOURCE,
        order=order,
        lines=tuple(lines),
        losses=tally.losses(),
        unavailable=(NO_RECEIPT_TIMES, *UNAVAILABLE) if order == "derived" else UNAVAILABLE,
        recognized=log.recognized or not arrivals.lines,
    )


class _Log:
    """What the lines so far have said, and how far the sequence has come."""

    def __init__(self, tally: Tally, order: Order) -> None:
        self.unreadable: dict[str, list[int]] = {}
        self.recognized = False
        self._tally = tally
        self._order = order
        self._identities = Identities(tally)
        self._clock = AdmissionClock(tally)
        self._missions = _Missions(tally)
        self._lanes = _Lanes(tally)
        self._written: dict[tuple[str, bytes], tuple[bytes, ...]] = {}
        self._sequence = 0
        self._arrived = 0

    def take(self, arrival: Recorded) -> tuple[bytes, ...]:
        """The contract lines of the next recorded line; none where it is no row."""
        self._sequence += arrival.sequence - self._arrived - 1  # what receipts leave out
        self._arrived = arrival.sequence
        read = arrival.read
        if isinstance(read, Unreadable):
            self.unreadable.setdefault(read.problem, []).append(arrival.sequence)
            self._sequence += 1
            return ()
        named = text_of(read.fields.get("event_id"))
        if named is None:
            return self._new(arrival, read)
        copy = (named, value_key(arrival.line, read))
        if copy not in self._written:
            self._written[copy] = self._new(arrival, read)
        return self._written[copy]

    def _new(self, arrival: Recorded, read: Object) -> tuple[bytes, ...]:
        row = read.fields
        self._count_what_has_no_place(row)
        if arrival.unordered:
            self._tally.add("recorded_sequence", f"{AMBIGUOUS}: brought by a merge")
        recorded_at = self._clock.admit(arrival.recorded_at)
        identity = self._identity(row, arrival.sequence)
        common: dict[str, object] = {
            "schema_version": "events/1",
            "event_id": identity,
            "recorded_sequence": 0,
            "recorded_at_utc": format_utc(recorded_at),
            "occurred_at_utc": self._occurred(row),
            "claimed_author": self._actor(row),
            **self._missions.place(row),
        }
        *leading, own = self._lanes.read(row, common, identity)
        self.recognized = self.recognized or not own.type.startswith("spec-kitty.other.")
        lines = [self._lead(common, part, identity) for part in leading]
        head = self._head(arrival, recorded_at) | own.payload
        envelope = self._numbered(common, own) | own.envelope
        return (*lines, self._whole(envelope, head, arrival.line, read.exact))

    def _lead(self, common: dict[str, object], part: _Part, identity: str) -> bytes:
        name = self._identities.take(f"{identity}/{part.suffix}", "event_id")
        envelope = self._numbered(common, part) | {"event_id": name} | part.envelope
        return write_line(envelope, _json(part.payload | {"transition": identity}))

    def _whole(
        self, envelope: dict[str, object], head: dict[str, object], line: bytes, exact: bool
    ) -> bytes:
        return write_whole(envelope, head, "row", line, exact=exact, tally=self._tally)

    def _numbered(self, common: dict[str, object], part: _Part) -> dict[str, object]:
        self._sequence += 1
        return common | {"recorded_sequence": self._sequence, "type": part.type}

    def _head(self, arrival: Recorded, recorded_at: int) -> dict[str, object]:
        if self._order == "derived":
            return {}
        head: dict[str, object] = {} if arrival.commit is None else {"commit": arrival.commit}
        if arrival.recorded_at != recorded_at:
            head["committed_at_utc"] = format_utc(arrival.recorded_at)
        return head

    def _count_what_has_no_place(self, row: dict[str, object]) -> None:
        self._tally.add("principal", NO_SUCH_FIELD)
        if self._order == "derived":
            self._tally.add("recorded_at_utc", f"{NO_SUCH_FIELD}: the producer's time stands in")
        placed = _PLACED | {next((name for name in _MISSIONS if row.get(name) is not None), "")}
        for name, value in row.items():
            if name == "reason" and value is not None:
                self._tally.add(name, FREE_TEXT)
            elif name not in placed and value is not None:
                # a foreign name goes into a document, so it is held to what a text may be
                self._tally.add(text_of(name) or "(a name that is no text)", NO_SUCH_FIELD)

    def _identity(self, row: dict[str, object], number: int) -> str:
        wanted = self._missions.text(row, "event_id")
        if wanted is None:
            self._tally.add("event_id", f"{NO_SUCH_FIELD}: made from the number of the line")
            wanted = f"row-{number}"
        return self._identities.take(wanted, "event_id")

    def _occurred(self, row: dict[str, object]) -> str | None:
        written = _time(row)
        try:
            parse_utc(written if isinstance(written, str) else "")
        except BadTime:
            reason = NO_SUCH_FIELD if written is None else f"{AMBIGUOUS}: not RFC 3339 with a zone"
            self._tally.add("occurred_at_utc", reason)
            return None
        return str(written)

    def _actor(self, row: dict[str, object]) -> str | None:
        payload = row.get("payload")
        actor = row.get("actor")
        if actor is None and isinstance(payload, dict):
            actor = payload.get("actor")
        if isinstance(actor, dict):
            self._tally.add("actor", f"{NO_SUCH_FIELD}: an object, written as one text")
            actor = _compact(actor)
        text = text_of(actor)
        if text is None:
            reason = NO_SUCH_FIELD if actor is None else f"{AMBIGUOUS}: not a short text"
            self._tally.add("actor", reason)
        elif text.startswith(_MIGRATION):
            self._tally.add("at", f"{AMBIGUOUS}: written after the fact, by a migration")
        policy = row.get("policy_metadata")
        if isinstance(policy, dict) and policy.get("migration_original_actor") is not None:
            self._tally.add("actor", f"{AMBIGUOUS}: rewritten by a migration")
        return text


def _compact(actor: dict[str, object]) -> str | None:
    """`tool:model:profile:role`, as such an actor is written elsewhere; else its JSON."""
    names = ("tool", "model", "profile", "role")
    parts = [actor.get(name) for name in names]
    texts = [part for part in parts if isinstance(part, str) and ":" not in part]
    if set(actor) <= set(names) and len(texts) == sum(part is not None for part in parts):
        return ":".join(str(part or "") for part in parts).rstrip(":")
    if any(isinstance(value, dict | list) for value in actor.values()):
        return None  # nested as deep as the row is, which an encoder need not survive
    return json.dumps(actor, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


class _Fields:
    """Fields of a row, where one that is not what it should be is a loss and not read."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def text(self, row: dict[str, object], name: str) -> str | None:
        value = row.get(name)
        text = text_of(value)
        if text is None and value is not None and value != "":
            self._tally.add(name, f"{AMBIGUOUS}: not a short text")
        return text

    def object_of(self, row: dict[str, object], name: str) -> dict[str, object]:
        value = row.get(name)
        if isinstance(value, dict):
            return value
        if value is not None:
            self._tally.add(name, f"{AMBIGUOUS}: not an object")
        return {}

    def objects_of(self, evidence: dict[str, object], name: str) -> list[dict[str, object]]:
        value = evidence.get(name)
        entries = value if isinstance(value, list) else [] if value is None else [value]
        found: list[dict[str, object]] = [entry for entry in entries if isinstance(entry, dict)]
        self._tally.add(
            f"evidence.{name}", f"{AMBIGUOUS}: not an object", len(entries) - len(found)
        )
        return found


class _Missions(_Fields):
    """Whose mission a work package is of, so that two in one file stay apart."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._mission: str | None = None
        self._several = False

    def place(self, row: dict[str, object]) -> dict[str, object]:
        """`work_id` and `lane_id`, so that two missions in one file stay apart."""
        payload = self.object_of(row, "payload") if "event_type" in row else row.get("payload")
        inner = payload if isinstance(payload, dict) else {}
        mission = self._first(row, inner, _MISSIONS)
        package = self._first(row, inner, ("wp_id",))
        if package is None and row.get("aggregate_type") == "WorkPackage":
            package = self.text(row, "aggregate_id")
        return {"work_id": self._qualified(package, mission), "lane_id": mission}

    def _first(
        self, row: dict[str, object], inner: dict[str, object], names: tuple[str, ...]
    ) -> str | None:
        found = (self.text(where, name) for where in (row, inner) for name in names)
        return next((text for text in found if text is not None), None)

    def _qualified(self, package: str | None, mission: str | None) -> str | None:
        if self._mission is None:
            self._mission = mission
        self._several = self._several or mission not in (None, self._mission)
        if package is None:
            self._tally.add("work_id", f"{NO_SUCH_FIELD}: the row names no work package")
            return None
        if mission in (None, self._mission):
            if mission is None and self._several:
                self._tally.add("work_id", f"{AMBIGUOUS}: taken as of the first mission named")
            return self._fitting(escape_pointer(package))
        self._tally.add("work_id", f"{AMBIGUOUS}: of a second mission in the file, qualified")
        return self._fitting(f"{escape_pointer(str(mission))}/{escape_pointer(package)}")

    def _fitting(self, work: str) -> str | None:
        if text_of(work) is None:
            self._tally.add("work_id", f"{NO_SUCH_FIELD}: longer than an id")
        return text_of(work)


class _Evidence(_Fields):
    """What a transition brings forward: reviews, verifications, commits, references."""

    def revision(self, evidence: dict[str, object]) -> str | None:
        found = {str(repo.get("commit")) for repo in self.objects_of(evidence, "repos")}
        if len(found) > 1:
            self._tally.add("evidence.repos", f"{AMBIGUOUS}: several commits, none is the revision")
            return None
        commit = next(iter(found), None)
        if commit is not None and not _COMMIT.match(commit):
            self._tally.add("evidence.repos", f"{AMBIGUOUS}: not a whole commit id")
            return None
        return commit

    def checks(self, evidence: dict[str, object], about: dict[str, object]) -> Iterator[_Part]:
        for number, result in enumerate(self.objects_of(evidence, "verification"), 1):
            command, word = text_of(result.get("command")), result.get("result")
            outcome = RESULTS.get(word) if isinstance(word, str) else None
            kind = "check.completed"
            payload: dict[str, object] = {"check": command, "outcome": outcome, "source": "local"}
            if command is None or outcome is None:
                reason = f"{NO_SUCH_FIELD}: no command with a known result"
                self._tally.add("evidence.verification", reason)
                kind, payload = "spec-kitty.verification", {}
            yield _Part(type=kind, suffix=f"check-{number}", payload=payload, envelope=about)

    def reviews(
        self, row: dict[str, object], evidence: dict[str, object], move: tuple[str | None, ...]
    ) -> list[dict[str, object]]:
        """Where the row tells a verdict of its own, the outcome of a review first."""
        found = [self.object_of(row, "review_result"), self.object_of(evidence, "review")]
        if move == ("approved", "done") and found.pop():
            self._tally.add("evidence.review", f"{NO_SUCH_FIELD}: cited, not a second review")
        return [review for review in found if review.get("verdict") is not None]

    def review(
        self,
        reviews: list[dict[str, object]],
        common: dict[str, object],
        envelope: dict[str, object],
    ) -> _Part:
        words = {text_of(review["verdict"]) for review in reviews}
        outcome = VERDICTS.get(words.pop() or "") if len(words) == 1 else None
        kind = "review.completed"
        payload: dict[str, object] = {"outcome": outcome}
        if outcome is None:
            self._tally.add("review.verdict", f"{AMBIGUOUS}: not one known word, kept inert")
            kind, payload = "spec-kitty.review", {}
        actor = common["claimed_author"]
        reviewer = text_of(reviews[0].get("reviewer")) or actor
        people = {"claimed_author": reviewer, "relayed_by": None if reviewer == actor else actor}
        return _Part(type=kind, suffix="review", payload=payload, envelope=envelope | people)

    def references(self, row: dict[str, object], reviews: list[dict[str, object]]) -> list[str]:
        cited = row.get("evidence")
        review = cited.get("review") if isinstance(cited, dict) else None
        every = [*reviews, review] if isinstance(review, dict) else reviews
        values = [row.get("review_ref"), *(each.get("reference") for each in every)]
        texts = dict.fromkeys(map(text_of, values))
        if None in texts and any(v not in (None, "") and text_of(v) is None for v in values):
            self._tally.add("evidence_refs", f"{NO_SUCH_FIELD}: not a short text")
        return [text for text in texts if text is not None]


class _Lanes(_Fields):
    """The lane of each work package so far, and the row that blocked it."""

    def __init__(self, tally: Tally) -> None:
        super().__init__(tally)
        self._evidence = _Evidence(tally)
        self._lanes: dict[str, str] = {}
        self._blocked: dict[str, str] = {}

    def read(self, row: dict[str, object], common: dict[str, object], identity: str) -> list[_Part]:
        """The events of a row in order, the row's own last."""
        work = common["work_id"]
        if row.get("to_lane") is not None or row.get("from_lane") is not None:
            package = work if isinstance(work, str) else None
            return [*self._transition(row, common, package, identity)]
        if "delta" in row:
            return [_Part(type="spec-kitty.annotation")]
        if "event_type" in row:
            if row["event_type"] == "WPCreated" and work is not None:
                return [_Part(type="work.proposed")]
            return [_Part(type=_named("lifecycle", row["event_type"]))]
        if "lamport" in row and "type" in row:
            return [_Part(type=_named("retrospective", row["type"]))]
        self._tally.add("type", f"{NO_SUCH_FIELD}: of none of the four families, kept inert")
        return [_Part(type=_named("other", row.get("type", row.get("event"))))]

    def _transition(
        self, row: dict[str, object], common: dict[str, object], work: str | None, identity: str
    ) -> Iterator[_Part]:
        origin, lane = self.text(row, "from_lane"), self.text(row, "to_lane")
        evidence = self.object_of(row, "evidence")
        revision = self._evidence.revision(evidence)
        reviews = self._evidence.reviews(row, evidence, (origin, lane))
        refs = self._evidence.references(row, reviews)
        forced = self._forced(row)
        about: dict[str, object] = {"artifact_revision": revision}
        yield from self._left(origin, lane, work)
        if forced:
            move = {"from_lane": origin, "to_lane": lane}
            yield _Part(type="spec-kitty.forced", suffix="forced", payload={**move})
        yield from self._evidence.checks(evidence, about)
        if reviews:
            yield self._evidence.review(reviews, common, about | {"evidence_refs": refs})
        kind = self._entered(origin, lane)
        claims = kind in CLAIMS
        if claims and revision is None:
            self._tally.add("artifact_revision", f"{NO_SUCH_FIELD}: a claim that names none")
        about = {"artifact_revision": revision if claims else None, "evidence_refs": refs}
        self._follow(origin, lane, work, identity)
        payload: dict[str, object] = {"forced": True} if forced else {}
        yield _Part(type=kind, payload=payload | self._why(row, kind), envelope=about)

    def _forced(self, row: dict[str, object]) -> bool:
        force = row.get("force")
        if force is True:
            self._tally.add("force", f"{NO_SUCH_FIELD}: flagged by an event spec-kitty.forced")
        elif force is not None and force is not False:
            self._tally.add("force", f"{AMBIGUOUS}: not a boolean, not flagged")
        return force is True

    def _left(self, origin: str | None, lane: str | None, work: str | None) -> Iterator[_Part]:
        if lane is None:
            return
        if origin in TERMINAL and lane not in TERMINAL:
            yield _Part(type="work.reopened", suffix="reopened")
        if origin == "blocked" and lane not in ("blocked", "canceled"):
            raised = None if work is None else self._blocked.get(work)
            causes = [] if raised is None else [raised]
            yield _Part(type="blocker.resolved", suffix="resolved", envelope={"causes": causes})

    def _entered(self, origin: str | None, lane: str | None) -> str:
        if lane == "planned" and origin not in (None, "genesis", "planned"):
            self._tally.add("to_lane", f"{NO_SUCH_FIELD}: falls back to planned, kept inert")
        elif lane in LANES:
            return LANES[lane]
        elif lane not in INERT_LANES:
            self._tally.add("to_lane", f"{NO_SUCH_FIELD}: not a lane of the protocol, kept inert")
        return _named("lane", lane)

    def _follow(
        self, origin: str | None, lane: str | None, work: str | None, identity: str
    ) -> None:
        if work is None or lane is None:
            return
        if origin != self._lanes.get(work, origin):
            self._tally.add("from_lane", f"{AMBIGUOUS}: not the lane of the package's last row")
        self._lanes[work] = lane
        if lane == "blocked":
            self._blocked.setdefault(work, identity)
        else:
            self._blocked.pop(work, None)

    def _why(self, row: dict[str, object], kind: str) -> dict[str, object]:
        if kind not in ("blocker.raised", "work.cancelled"):
            return {}
        policy = row.get("policy_metadata")
        told = policy.get("evidence") if isinstance(policy, dict) else None
        reason = text_of(row.get("reason")) or text_of(told)
        return {} if reason is None else {"reason": reason}


def _named(family: str, name: object) -> str:
    """The inert type of a row; a name that is none of a type stays in the payload alone."""
    named = isinstance(name, str) and _NAME.match(name)
    return f"spec-kitty.{family}.{name}" if named else f"spec-kitty.{family}.unnamed"


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def read(inputs: Sequence[str], options: Options) -> Imported:
    """Import one status log: a bare file, one with receipt times, or one in a repository."""
    if len(inputs) != 1:
        raise UsageError(f"{SOURCE} takes one input, found {len(inputs)}: {INPUTS}")
    path = inputs[0]
    if options.path is not None:
        return convert(_in_repository(path, options), "commit")
    if options.recorded is not None:
        records, rows = content_of(path, INPUTS), content_of(options.recorded, INPUTS)
        return convert(by_rows(records, rows, options.recorded, identity="event_id"), "recorded")
    if Path(path).is_dir():
        raise UsageError(f"{path}: a folder, and no --path; expected {INPUTS}")
    return convert(by_line(content_of(path, INPUTS), said_at), "derived")


def _in_repository(path: str, options: Options) -> Arrivals:
    if options.recorded is not None:
        raise UsageError("--recorded and --path exclude each other: commits have times")
    arrivals = of_repository(path, REF, str(options.path), INPUTS)
    if not arrivals.lines:
        raise FileError(path, f"no commit up to {REF} holds a line of {options.path}")
    return arrivals


SPEC_KITTY: Final = Importer(id=SOURCE, inputs=INPUTS, read=read)
