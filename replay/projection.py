"""What a rule set answers.

The nouns of the paper's section 5.1 as frozen records.  A `Mark` is a time and the
event that shows it.  The end of a blocker episode is one of four records, which are
survival analysis' event, competing events and censoring with no interpretation step
left.  Times are integers of nanoseconds on the log's time basis.

Fields that a later rule set adds have defaults that documents leave out, so what a
frozen rule set prints stays as it is, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, Final, Literal, TypeAlias, TypeVar

from msgspec import structs

from replay.event import Event, Record, TimeBasis
from replay.history import Prefix, PrefixFacts

WorkState: TypeAlias = Literal[
    "proposed", "active", "blocked", "awaiting_review", "complete", "cancelled"
]
ReceiptStatus: TypeAlias = Literal[
    "unbound", "revision_unknown", "current", "superseded_by_revision", "stale_on_arrival"
]
Verdict: TypeAlias = Literal[
    "supported", "contradicted", "stale", "missing", "unbound", "unknown", "not_comparable"
]
CorrectionStatus: TypeAlias = Literal["silenced", "ineffective", "applied", "overtaken"]

NOT_ESTABLISHED: Final = "not established"
"""What every item says of permission, always: no event here establishes one."""

ANOMALY_CODES: Final = (
    "link_self",
    "link_forward",
    "link_missing",
    "link_other_item",
    "other_principal",
    "after_terminal",
    "not_terminal",
    "no_open_episode",
    "progress_while_blocked",
    "revision_reintroduced",
    "anachronistic",
)


class Rule(Record, frozen=True):
    """A rule's id and the one sentence that states it."""

    id: str
    sentence: str


class Mark(Record, frozen=True):
    """A time, and the event that shows it."""

    event_id: str
    time: int


class Progress(Record, frozen=True):
    """The last evidenced progress, with the rule that counts it as such."""

    event_id: str
    time: int
    rule: str


class Derived(Record, frozen=True):
    """A value, since when, by which rule, from which events."""

    value: str | None
    since: Mark | None
    rule: str
    evidence: tuple[str, ...] = ()


class Clocks(Record, frozen=True):
    """The three clocks; a clock with nothing to show is null."""

    last_message: Mark
    last_progress: Progress | None = None
    blocked_since: Mark | None = None


class Recovered(Record, frozen=True):
    """The event of interest: evidenced resumption."""

    by: Mark
    evidence: tuple[str, ...]


class Cancelled(Record, frozen=True):
    """A competing event: the blocker was called off."""

    by: Mark
    evidence: tuple[str, ...] = ()


class CancelledWithWork(Record, frozen=True):
    """A competing event: the work item was cancelled while blocked."""

    by: Mark
    evidence: tuple[str, ...] = ()


class Censored(Record, frozen=True):
    """Still open where observation ends (nanoseconds): elapsed time, and no recovery."""

    at: int


EpisodeEnd: TypeAlias = Recovered | Cancelled | CancelledWithWork | Censored


class Shown(Record, frozen=True, dict=True):
    """A record that a notebook shows.

    What its times are counted from is its log's to say and no part of its value; where
    somebody noted it beside the record, `time_basis` has it.
    """

    time_basis: ClassVar[TimeBasis | None] = None


class Episode(Shown, frozen=True):
    """One blocker episode.  `elapsed` is in nanoseconds, to its end or to the cutoff."""

    work_id: str
    blocker_id: str | None
    opened: Mark
    repeats: tuple[str, ...]
    end: EpisodeEnd
    elapsed: int

    @property
    def events(self) -> tuple[str, ...]:
        """The raises that make up the episode: its origin, then its repeats."""
        return (self.opened.event_id, *self.repeats)

    def _repr_html_(self) -> str:
        from replay.display import episode_html

        return episode_html(self)


class Receipt(Record, frozen=True):
    """A completed check or review, and what its revision makes of it at the cutoff."""

    work_id: str
    event_id: str
    type: str
    check: str | None
    source: str | None
    outcome: str
    revision: str | None
    status: ReceiptStatus
    principal: str | None


class Claim(Record, frozen=True):
    """Something said, judged against evidence.  `claim` is the event's type."""

    work_id: str
    event_id: str
    claim: str
    verdict: Verdict
    evidence: tuple[str, ...]
    missing: tuple[str, ...]
    rule: str


class Correction(Record, frozen=True):
    """An event that names another as superseded, and what became of that."""

    work_id: str
    event_id: str
    target: str
    status: CorrectionStatus
    reason: str | None


class Anomaly(Record, frozen=True):
    """Something about an event that a reader should know; it changes no verdict by itself."""

    code: str
    event_id: str
    related: tuple[str, ...] = ()


class Item(Shown, frozen=True, kw_only=True):
    """Everything one rule set says of one work item at one cutoff.

    Where `undetermined_by` names events, the rules do not cover the item: state and
    revision have null values, and `episodes`, `receipts`, `claims` and `corrections`
    are null, which is not the same as empty.
    """

    work_id: str
    state: Derived
    revision: Derived
    clocks: Clocks
    episodes: tuple[Episode, ...] | None
    receipts: tuple[Receipt, ...] | None
    claims: tuple[Claim, ...] | None
    corrections: tuple[Correction, ...] | None
    anomalies: tuple[Anomaly, ...]
    flags: tuple[str, ...]
    undetermined_by: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        from replay.display import item_html

        return item_html(self)


class Unassigned(Record, frozen=True):
    """Visible events that name no work item: they move none."""

    events: int
    last_message: Mark | None
    anomalies: tuple[Anomaly, ...]


class Uncovered(Record, frozen=True):
    """A visible event that the rule set does not cover."""

    event_id: str
    type: str
    work_id: str | None


class Projection(Record, frozen=True, kw_only=True, dict=True):
    """A rule set's answers at one cutoff.  Items are sorted by `work_id` code points.

    What it was derived from is no part of its value; where somebody noted it beside the
    record, `prefix` has it, and a notebook draws how the states came about.
    """

    prefix: ClassVar[Prefix | None] = None

    rules: str
    facts: PrefixFacts
    items: tuple[Item, ...]
    unassigned: Unassigned
    uncovered: tuple[Uncovered, ...]

    def item(self, work_id: str) -> Item | None:
        """The item of that id, null where no visible event names it."""
        return next((item for item in self.items if item.work_id == work_id), None)

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """Every determined item's episodes, in item order."""
        return tuple(_all(item.episodes for item in self.items))

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """Every determined item's receipts, in item order."""
        return tuple(_all(item.receipts for item in self.items))

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every determined item's claims, in item order."""
        return tuple(_all(item.claims for item in self.items))

    @property
    def corrections(self) -> tuple[Correction, ...]:
        """Every determined item's corrections, in item order."""
        return tuple(_all(item.corrections for item in self.items))

    @property
    def anomalies(self) -> tuple[Anomaly, ...]:
        """Those of events that name no work item, then every item's, in item order.

        Undetermined items have theirs, too.  `to_arrow("anomalies")` says of which item.
        """
        return (*self.unassigned.anomalies, *_all(item.anomalies for item in self.items))

    def to_arrow(self, name: str) -> Any:
        """A `pyarrow.Table`: `items episodes receipts claims corrections anomalies`.

        `replay schema tables` prints their columns.  Raises `UsageError` for another name:
        `timeline` and `latencies` need the log that led here, and are `replay.timeline_of`'s.
        """
        from replay.tables import projection_table

        return projection_table(self, name)

    def to_pandas(self, name: str) -> Any:
        """The same as a `pandas.DataFrame`; `attrs["replay"]` says of what and at which cutoff."""
        from replay.tables import frame

        return frame(self.to_arrow(name))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The items as an Arrow stream (the Arrow PyCapsule interface)."""
        return self.to_arrow("items").__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        count = f"{len(self.items)} work item{'' if len(self.items) == 1 else 's'}"
        return f"<Projection of {self.facts.input.name!r} under {self.rules}: {count}>"

    def __str__(self) -> str:
        """The board in lines: what `print` shows."""
        from replay.display import projection_text

        return projection_text(self)

    def _repr_html_(self) -> str:
        from replay.display import projection_html

        return projection_html(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython prints where there is no HTML."""
        from replay.display import projection_text

        del cycle  # records hold no cycles
        printer.text(projection_text(self))


_T = TypeVar("_T")


def _all(parts: Iterable[tuple[_T, ...] | None]) -> Iterator[_T]:
    for part in parts:
        yield from part or ()


AnswerKey: TypeAlias = tuple[str, Any]
"""A question of the catalogue (or `flag`, `undetermined`) and what it is asked of."""

Answer: TypeAlias = Derived | Mark | Progress | Episode | Receipt | Claim | Correction | bool
"""The answer's record; true for an anomaly, a flag or an uncovered event that is there."""


def answers(item: Item) -> dict[AnswerKey, Answer]:
    """Every answer about an item, without those that have nothing to show.

    An open episode is given without where observation ends (`unobserved`), which is the
    cutoff's to say: two cutoffs with no event of the item between them answer alike.
    """
    found: dict[AnswerKey, Answer] = {
        ("state", None): item.state,
        ("revision", None): item.revision,
    }
    for name in ("last_message", "last_progress", "blocked_since"):
        clock = getattr(item.clocks, name)
        if clock is not None:
            found[name, None] = clock
    for episode in item.episodes or ():
        found["episode", episode.opened.event_id] = unobserved(episode)
    for kind, records in (
        ("receipt", item.receipts),
        ("claim", item.claims),
        ("correction", item.corrections),
    ):
        for record in records or ():
            found[kind, record.event_id] = record
    found.update((("anomaly", anomaly), True) for anomaly in item.anomalies)
    found.update((("flag", flag), True) for flag in item.flags)
    found.update((("undetermined", event_id), True) for event_id in item.undetermined_by)
    return found


def unobserved(episode: Episode) -> Episode:
    """The episode with no word on how far it was observed, where it is open."""
    if not isinstance(episode.end, Censored):
        return episode
    return structs.replace(episode, end=Censored(episode.opened.time), elapsed=0)


class Change(Record, frozen=True):
    """At an event, an answer about a work item begins, becomes another or, at null, ends."""

    work_id: str | None
    key: AnswerKey
    answer: Answer | None


Growth: TypeAlias = Iterator[tuple[Event, tuple[Change, ...]]]


class RuleSet(Record, frozen=True):
    """A frozen rule set: an id, its rules, and one function of a `Prefix` and nothing else.

    `grow`, where a rule set has it, gives for each event of a prefix what changed at it; it
    says what `project` says at every cutoff, in one pass.  Without it, a timeline is made
    of projections: of one item's events at a time where `items_alone` says that the rules
    judge each work item alone.
    """

    id: str
    rules: tuple[Rule, ...]
    project: Callable[[Prefix], Projection]
    digest: str = ""
    grow: Callable[[Prefix], Growth] | None = None
    items_alone: bool = False
