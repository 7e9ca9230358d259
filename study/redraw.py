"""Intervals for curves of time to event, by drawing whole clusters again, many at once.

`study.bootstrap` computes its statistic draw by draw, too slowly for thousands of spells.
Here a spell counts as often as its cluster was drawn, and running sums give many draws'
curves at once.  One seed draws the same clusters in both; here all intervals are percentile.

Risk sets are those of `study.spells`; curves are conditional on `start`.  A draw's curve is
known until nobody drawn is at risk, unless all have ended.  Where everyone at risk ends while
others drawn have yet to enter, it is unknown.  A median that is not reached is infinite.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from math import ceil, inf, isinf, nan
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from study.bootstrap import ALL_THE_SAME, DRAWS, too_few
from study.estimates import ROUNDING, BadInput, Interval, Range, Record, Unknown, normal_quantile
from study.spells import Spell, after, causes_of, check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

CELLS: Final = 500_000
"""The most floats in one matrix of draws by spells; about ten such live at once."""

Key: TypeAlias = tuple[Literal["at", "area", "median"], str | None, float | None]
"""`at` a time, `area` from start to tau, or `median`; of F of a cause, or None: of S."""
Values: TypeAlias = "dict[Key, Array]"


class Redrawn(Record, frozen=True, eq=False):
    """Intervals of S (nothing has ended the wait), of F (a cause has) and what comes of them.

    Areas and medians are in the unit of the spells.  `clusters` have a spell that goes on
    after the start; only they are drawn.  `draws_of` has one value a draw, in order: NaN where
    it has none, infinite where a median is not reached.
    """

    draws: int
    seed: int
    clusters: int
    level: float
    draws_of: Values

    def waiting(self, time: float) -> Range:
        return self.interval(("at", None, time))

    def incidence(self, cause: str, time: float) -> Range:
        return self.interval(("at", cause, time))

    @property
    def restricted_mean(self) -> Range:
        return self.interval(("area", None, None))

    def time_lost(self, cause: str) -> Range:
        return self.interval(("area", cause, None))

    @property
    def median_waiting(self) -> Range:
        return self.interval(("median", None, None))

    def median_of(self, cause: str) -> Range:
        return self.interval(("median", cause, None))

    def interval(self, key: Key) -> Range:
        if key not in self.draws_of:
            raise BadInput("statistic", key, "one that was asked for when drawing")
        few = too_few(self.clusters, self.level)
        return percentiles(self.draws_of[key], self.level) if few is None else few


def redrawn(
    spells: Sequence[Spell],
    clusters: Sequence[Hashable],
    causes: Sequence[str],
    *,
    start: float,
    tau: float,
    times: Sequence[float],
    seed: int,
    draws: int = DRAWS,
    level: float = 0.95,
) -> Redrawn:
    """Draw again the clusters, of which there is one label a spell.

    Impossible spells, one ended by none of `causes`, labels that do not match, no draws, or a
    `tau` or a last exit that is not after `start` raise BadInput.
    """
    import numpy as np

    normal_quantile(level)
    if draws < 1:
        raise BadInput("draws", draws, "at least one")
    if not tau > start:
        raise BadInput("tau", tau, f"a time after the curves' start, {start}")
    data = arranged(spells, clusters, causes, start)
    parts = [statistics(data, drawn, tau, times) for drawn in _drawings(data, seed, draws)]
    joined = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    return Redrawn(draws, seed, data.clusters, level, joined)


def difference(one: Redrawn, other: Redrawn, key: Key) -> Range:
    """The interval of `one` less `other`, independent groups; unknown if either's own is.

    Draws from one seed are not independent: they, or other draws or level, raise BadInput.
    """
    if one.seed == other.seed:
        raise BadInput("seeds", (one.seed, other.seed), "another for each group")
    if (one.draws, one.level) != (other.draws, other.level):
        raise BadInput("draws and level", (other.draws, other.level), f"{(one.draws, one.level)}")
    for own in (one.interval(key), other.interval(key)):
        if isinstance(own, Unknown):
            return own
    return percentiles(one.draws_of[key] - other.draws_of[key], one.level)


def percentiles(drawn: Array, level: float) -> Range:
    """The interval that leaves out (1 - level) / 2 of the draws on each side."""
    import numpy as np

    if missing := int(np.isnan(drawn).sum()):
        return Unknown(f"the statistic has no value in {missing} of {len(drawn)} draws")
    shares = (1 - level) / 2, (1 + level) / 2
    top = float(np.sort(drawn)[ceil(shares[1] * (len(drawn) - 1))])
    if isinf(top):
        never = int(np.isinf(drawn).sum())
        return Unknown(f"not reached: {never} of {len(drawn)} draws do not come to one half")
    if drawn.max() - drawn.min() <= ROUNDING * max(1.0, abs(top)):
        return ALL_THE_SAME
    low, high = np.quantile(drawn.clip(max=top), shares).tolist()  # of infinity it makes NaN
    return Interval(low, high)


class Count(Record, frozen=True, eq=False):
    """The cluster of each spell, sorted by a time; how many come `before` and `upto` others."""

    clusters: NDArray[np.intp]
    before: NDArray[np.intp]
    upto: NDArray[np.intp]

    def of(self, weights: Array) -> tuple[Array, Array]:
        """How many come before, and how many up to, each time (draws by times)."""
        import numpy as np

        running = np.zeros((len(weights), len(self.clusters) + 1))
        np.cumsum(weights.take(self.clusters, axis=1), axis=1, out=running[:, 1:])
        return running.take(self.before, axis=1), running.take(self.upto, axis=1)


class Arranged(Record, frozen=True, eq=False):
    """Spells by entry, by exit and by exit of each cause; `times` are the start and all exits."""

    clusters: int
    times: Array
    entries: Count
    exits: Count
    ended: Mapping[str, Count]


def arranged(
    spells: Sequence[Spell], clusters: Sequence[Hashable], causes: Sequence[str], start: float
) -> Arranged:
    """Sort once, for all draws, the spells that go on after `start`; raises as `redrawn`."""
    import numpy as np

    check(spells)
    if len(clusters) != len(spells):
        raise BadInput("clusters", len(clusters), f"as many as there are spells, {len(spells)}")
    if not {*causes_of(spells)} <= {*causes}:
        raise BadInput("causes", list(causes), f"all that ended a spell, {causes_of(spells)}")
    pairs = [pair for pair in zip(spells, clusters, strict=True) if after(pair[:1], start)]
    if not pairs:
        raise BadInput("start", start, "a time before the last exit")
    numbers = {label: number for number, label in enumerate(dict.fromkeys(c for _, c in pairs))}
    labels = np.array([numbers[label] for _, label in pairs])
    exits = [spell.exit for spell, _ in pairs]
    entries = [spell.entry or -1.0 for spell, _ in pairs]  # from the origin: at risk there too
    times = np.unique([start, *exits])

    def count(at: Sequence[float], chosen: Sequence[int]) -> Count:
        order = np.array(sorted(chosen, key=at.__getitem__), dtype=np.intp)
        ordered = np.array(at)[order]
        before, upto = (np.searchsorted(ordered, times, side) for side in ("left", "right"))
        return Count(labels[order], before, upto)

    every = range(len(pairs))
    ended = {c: count(exits, [i for i in every if pairs[i][0].cause == c]) for c in causes}
    return Arranged(len(numbers), times, count(entries, every), count(exits, every), ended)


def _drawings(data: Arranged, seed: int, draws: int) -> Iterator[Array]:
    """How often each cluster is drawn (draws by clusters), in parts bounded by CELLS."""
    import numpy as np

    generator = np.random.Generator(np.random.PCG64(seed))
    part = max(1, CELLS // len(data.exits.clusters))
    for done in range(0, draws, part):
        cells = generator.integers(data.clusters, size=(min(part, draws - done), data.clusters))
        cells += np.arange(len(cells))[:, None] * data.clusters
        yield np.bincount(cells.ravel(), minlength=cells.size).reshape(cells.shape).astype(float)


def curves(data: Arranged, weights: Array) -> tuple[dict[str | None, Array], Array]:
    """S (of None) and each F just after `data.times`, and from when on each draw's are unknown."""
    import numpy as np

    entered, present = data.entries.of(weights)
    gone_before, gone = data.exits.of(weights)
    risk = np.maximum(entered - gone_before, 1.0)  # where nobody is, nobody ends
    left = risk.copy()
    found: dict[str | None, Array] = {None: left}
    for cause, count in data.ended.items():
        before, upto = count.of(weights)
        found[cause] = (upto - before) / risk
        left -= upto - before
    used_up = left == 0
    np.cumprod(left / risk, axis=1, out=left)
    for cause in data.ended:
        found[cause][:, 1:] *= left[:, :-1]
        np.cumsum(found[cause], axis=1, out=found[cause])
    draw, stop = range(len(weights)), (used_up | (present == gone)).argmax(axis=1)
    until = np.where(entered[draw, stop] < gone[:, -1], data.times[stop], inf)
    return found, np.where(used_up[draw, stop], until, np.nextafter(data.times[stop], inf))


def statistics(data: Arranged, weights: Array, tau: float, times: Sequence[float]) -> Values:
    """What is kept of draws that have `weights` (draws by clusters), none all 0."""
    import numpy as np

    found, until = curves(data, weights)
    widths = np.diff(np.append(data.times, tau).clip(max=tau))
    values: Values = {}
    for cause, curve in found.items():
        for time in times:
            place = int(np.searchsorted(data.times, time, "right")) - 1  # -1: before the start
            told = (time < until) & (place >= 0)
            values["at", cause, time] = np.where(told, curve[:, place], nan)
        values["area", cause, None] = np.where(tau < until, (curve * widths).sum(axis=1), nan)
        half = curve <= 0.5 + ROUNDING if cause is None else curve >= 0.5 - ROUNDING
        half &= data.times < until[:, None]
        first = np.where(half.any(axis=1), half.argmax(axis=1), -1)
        values["median", cause, None] = np.append(data.times, inf)[first]
    return values
