"""What `study operations` answers: endpoints, each with its estimates and denominators.

Times are seconds here and in every file that is written; only words and figures choose a
unit.  A number that cannot be told is `Unknown`, with the reason, and never 0 or a blank.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from study.estimates import Number, Range, Record, Unknown
from study.rows import Row

Unit: TypeAlias = str
"""`seconds`, `share`, or what a cost is counted in (`events`, `calls`, `bytes`, a currency)."""

NO_REGISTER: Final = Unknown("no register was given, so work that left no event cannot be counted")


NO_BAND_TAKEN: Final = Unknown("no band was taken at this time")
"""Of a point between the times at which work items were drawn again."""


class Denominator(Record, frozen=True, kw_only=True):
    """Who is counted.  eligible = observed + censored + competing + unavailable.

    `unit` is what is counted (`episode`), `items` in how many work items.  `competing` is by
    kind; `excluded` and `unavailable` are by reason.  `omitted` is how many registered work
    items left no event.
    """

    unit: str
    eligible: int
    observed: int
    censored: int
    competing: Mapping[str, int]
    excluded: Mapping[str, int]
    unavailable: Mapping[str, int]
    items: int
    omitted: int | Unknown


class Estimate(Record, frozen=True, kw_only=True):
    """One number.  `at` is the time (seconds since the origin) that it is about, or up to."""

    endpoint: str
    name: str
    unit: Unit
    value: Number
    interval: Range
    method: str
    denominator: Denominator
    at: float | None = None
    group: str | None = None
    level: float = 0.95


class CurvePoint(Record, frozen=True):
    """A curve just after an event time (seconds); it is flat until the next."""

    time: float
    at_risk: int
    events: int
    value: float
    interval: Range


class Curve(Record, frozen=True, kw_only=True):
    """A step function from `start` (where it is 1 for `waiting`, else 0) to `last` (seconds).

    `shows` is `waiting` (nothing has ended the wait) or the cause whose cumulative incidence
    it is.  `at_risk` are numbers at risk at round times, `censored` the times of censoring.
    """

    endpoint: str
    shows: str
    label: str
    start: float
    last: float
    points: tuple[CurvePoint, ...]
    at_risk: tuple[tuple[float, int], ...]
    censored: tuple[float, ...]
    level: float = 0.95
    group: str | None = None


Kind: TypeAlias = Literal["time to event", "share", "mean"]


class Endpoint(Record, frozen=True, kw_only=True):
    """One endpoint.  `definition` and `method` are sentences; `rows` are behind every number."""

    id: str
    title: str
    kind: Kind
    definition: str
    method: str
    denominator: Denominator
    estimates: tuple[Estimate, ...]
    rows: tuple[Row, ...]
    curves: tuple[Curve, ...] = ()
    notes: tuple[str, ...] = ()


class Contrast(Record, frozen=True, kw_only=True):
    """One group less another, of one estimate (same unit), `level` interval."""

    endpoint: str
    name: str
    unit: Unit
    group: str
    reference: str
    difference: Number
    interval: Range
    method: str
    at: float | None = None
    level: float = 0.95


class Comparison(Record, frozen=True, kw_only=True):
    """Groups side by side.  `causal` is the warning, or what stands in its place."""

    by: str
    groups: tuple[str, ...]
    causal: str
    assigned: bool
    left_out: Mapping[str, int]
    estimates: tuple[Estimate, ...]
    contrasts: tuple[Contrast, ...]
    curves: tuple[Curve, ...]


class FileRead(Record, frozen=True, kw_only=True):
    """A file beside the logs: a register, an access list, an assignment."""

    name: str
    sha256: str
    rows: int


class Loss(Record, frozen=True, kw_only=True):
    """What a losses file says cannot be known, as `name: why`."""

    name: str
    why: str


class LogRead(Record, frozen=True, kw_only=True):
    """One log: its identity, its account, and what its importer lost.

    `observed` is where observation ended, as text; null where nothing is visible.
    """

    name: str
    sha256: str
    admitted: int
    visible: int
    gaps: int
    items: int
    undetermined: int
    observed: str | None
    flags: tuple[str, ...]
    losses: tuple[Loss, ...]


class Refused(Record, frozen=True, kw_only=True):
    """A log that was refused, and why; it is in no denominator."""

    name: str
    why: str


class RegisterFlow(Record, frozen=True, kw_only=True):
    """Registered work items: due = recorded + omitted; those not due are counted by reason."""

    due: int
    recorded: int
    omitted: tuple[str, ...]
    not_due: Mapping[str, int]
    unregistered: tuple[str, ...]
    missing_events: tuple[tuple[str, str], ...] = ()


class Operations(Record, frozen=True, kw_only=True):
    """Every endpoint of some logs, under one rule set, at one cutoff."""

    rules: str
    digest: str
    version: str
    cutoff: str
    window: str | None
    logs: tuple[LogRead, ...]
    refused: tuple[Refused, ...]
    register: RegisterFlow | Unknown
    files: Mapping[str, FileRead]
    endpoints: tuple[Endpoint, ...]
    comparison: Comparison | None
    notes: tuple[str, ...]

    def endpoint(self, id: str) -> Endpoint:
        """One endpoint by its id; another id raises KeyError that names those there are."""
        for endpoint in self.endpoints:
            if endpoint.id == id:
                return endpoint
        known = ", ".join(endpoint.id for endpoint in self.endpoints)
        raise KeyError(f"no endpoint {id!r}; there are: {known}")

    def to_arrow(self, name: str) -> Any:
        """A `pyarrow.Table`: `estimates denominators curves contrasts`, or an endpoint's rows.

        Raises KeyError for another name.
        """
        from study.tables import table

        return table(self, name)

    def to_pandas(self, name: str) -> Any:
        """The same as a `pandas.DataFrame`."""
        return self.to_arrow(name).to_pandas()

    def write(self, directory: str) -> None:
        """Everything that `study operations -o DIR` writes; raises `study.files.FileFailed`."""
        from study.files import write_files
        from study.output import contents

        write_files(directory, contents(self))

    def __repr__(self) -> str:
        logs = f"{len(self.logs)} log{'' if len(self.logs) == 1 else 's'}"
        return f"<Operations of {logs} under {self.rules}>"

    def __str__(self) -> str:
        """Every estimate with its denominator: what `study operations` prints."""
        from study.report import text

        return text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: each endpoint's estimates and denominator."""
        from study.report import summary_html

        return summary_html(self)
