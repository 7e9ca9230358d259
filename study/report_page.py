"""Which tables and paragraphs a report of operations has, for every form alike.

A report whose counts do not add up is not written: `BadInput` says which count.
Every text is made visible here, and escaped where it is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from study import report_cells as cells
from study import words
from study.estimates import BadInput, Unknown
from study.inline_svg import Figure, drawing
from study.receipts import MEANING, REQUIRED
from study.report_cells import NONE, Cell, Compared, Drawing, Page, Part, Table
from study.result import (
    Comparison,
    Contrast,
    Denominator,
    Endpoint,
    Estimate,
    Kind,
    LogRead,
    Operations,
    RegisterFlow,
)

NOT_SHOWN: Final = (
    "Nobody is authenticated here: who recorded, claimed or reviewed something is what the"
    " log says.",
    "Work that left no event is not in any log. Only a register can count it; without one,"
    " how much was omitted is unavailable.",
    "Times are those of the log as its corrections leave it at the cutoff, not of what somebody"
    " knew before a correction.",
    "Intervals take work items for the independent units. Logs are not clusters: items of one"
    " log may resemble each other more than the intervals allow for. Below some thirty work items"
    " intervals over redrawn ones are too narrow.",
    "A restricted mean is a mean up to its horizon. What happens later, or after the last"
    " subject was watched, is not in it.",
)


# what was read


def page_of(operations: Operations, figures: Mapping[str, Figure]) -> Page:
    check(operations)
    drawn = {id: drawing(id, figure) for id, figure in figures.items()}
    endpoints = tuple(_endpoint(endpoint, drawn) for endpoint in operations.endpoints)
    comparison = _comparison(operations, drawn)
    parts = (*endpoints, *(() if comparison is None else comparison.parts))
    placed = {figure.id for part in parts for figure in part.figures}
    return Page(
        summary=summary(operations),
        identity=tuple(_identity(operations)),
        notes=tuple(map(words.shown, operations.notes)),
        flows=tuple(flows(operations)),
        flow_tables=tuple(_flow_tables(operations)),
        glance=_glance(operations.endpoints),
        figures=tuple(figure for id, figure in drawn.items() if id not in placed),
        endpoints=endpoints,
        comparison=comparison,
        fields=_fields(),
        not_shown=NOT_SHOWN,
    )


def check(operations: Operations) -> None:
    """Refuse counts that do not add up: what is counted twice or lost is no report."""
    own = [(endpoint.id, endpoint.denominator) for endpoint in operations.endpoints]
    of = [
        (f"{estimate.endpoint}, {words.label(estimate)}", estimate.denominator)
        for estimate in _estimates(operations)
    ]
    for what, counts in (*own, *of):
        found = counts.observed + counts.censored
        found += sum(counts.competing.values()) + sum(counts.unavailable.values())
        if found != counts.eligible:
            raise BadInput(f"parts of the denominator of {what}", found, str(counts.eligible))
    match operations.register:
        case RegisterFlow(due=due, recorded=recorded, omitted=omitted):
            if due != recorded + len(omitted):
                raise BadInput("register, recorded and omitted", recorded + len(omitted), str(due))


def _estimates(operations: Operations) -> Iterator[Estimate]:
    """Every estimate, of the endpoints and of the comparison."""
    for endpoint in operations.endpoints:
        yield from endpoint.estimates
    if operations.comparison is not None:
        yield from operations.comparison.estimates


def summary(operations: Operations) -> str:
    logs = words.counted(len(operations.logs), "log")
    events = words.counted(sum(log.visible for log in operations.logs), "visible event")
    return f"{logs} with {events}, under {words.name(operations.rules)}"


def _identity(operations: Operations) -> Iterator[Table]:
    facts = {
        "rules": words.name(operations.rules),
        "digest of the rules": words.shown(operations.digest),
        "cutoff": words.shown(operations.cutoff),
        "window": words.shown(operations.window or NONE),
        "version": words.shown(operations.version),
    }
    rows = tuple((Cell(name), Cell(value, "name")) for name, value in facts.items())
    yield Table("Under which rules, and up to when", ("what", "which"), rows)
    yield _logs(operations.logs)
    yield from _optional(
        "Files read beside the logs",
        ("file", "name", "SHA-256", "rows"),
        (
            (
                cells.said(of),
                cells.named(file.name),
                Cell(words.digest(file.sha256)),
                cells.count(file.rows),
            )
            for of, file in sorted(operations.files.items())
        ),
    )
    yield from _optional(
        "What the logs' importers could not carry over",
        ("log", "what cannot be known", "why"),
        (
            (cells.named(log.name), cells.named(loss.name), Cell(words.clause(loss.why) or NONE))
            for log in operations.logs
            for loss in log.losses
        ),
    )


def _logs(logs: Sequence[LogRead]) -> Table:
    head = ("log", "SHA-256", "admitted events", "visible", "gaps", "items", "undetermined")
    rows = tuple(
        (
            cells.named(log.name),
            Cell(words.digest(log.sha256)),
            *map(cells.count, (log.admitted, log.visible, log.gaps, log.items, log.undetermined)),
            cells.named(log.observed or "nothing is visible"),
            Cell(", ".join(map(words.code, log.flags)) or NONE),
        )
        for log in logs
    )
    return Table("Logs that were read", (*head, "observed until", "flags"), rows)


def _optional(
    caption: str, head: tuple[str, ...], rows: Iterable[tuple[Cell, ...]]
) -> Iterator[Table]:
    """The table, where it has a row."""
    found = tuple(rows)
    if found:
        yield Table(caption, head, found)


def flows(operations: Operations) -> Iterator[str]:
    read, refused = len(operations.logs), len(operations.refused)
    yield f"Logs: {read + refused} given = {read} read + {refused} refused."
    match operations.register:
        case Unknown(reason):
            yield f"Register: unavailable: {words.clause(reason)}."
        case RegisterFlow() as register:
            yield _register(register)


def _register(register: RegisterFlow) -> str:
    omitted, others = len(register.omitted), len(register.unregistered)
    return (
        f"Register: {register.due} due = {register.recorded} recorded + {omitted} omitted;"
        f" not due {words.split(register.not_due)}; {others} recorded and not registered."
    )


def _flow_tables(operations: Operations) -> Iterator[Table]:
    yield from _optional(
        "Logs that were refused, which are in no denominator",
        ("log", "why"),
        ((cells.named(log.name), Cell(words.clause(log.why))) for log in operations.refused),
    )
    match operations.register:
        case RegisterFlow() as register:
            yield from _register_tables(register)


def _register_tables(register: RegisterFlow) -> Iterator[Table]:
    lists = {
        "omitted: registered and due, and no event": register.omitted,
        "recorded and not registered": register.unregistered,
    }
    yield Table(
        "Work items of the register and of the logs",
        ("which", "items", "their ids"),
        tuple(
            (Cell(which), cells.count(len(ids)), Cell(cells.listed(ids), "name"))
            for which, ids in lists.items()
        ),
    )
    yield from _optional(
        "Events that the register knows and no log has",
        ("kind", "event"),
        ((cells.named(kind), cells.named(event)) for kind, event in register.missing_events),
    )


# endpoints


def _glance(endpoints: Sequence[Endpoint]) -> Table:
    head = ("endpoint", "first estimate", "value", f"{_level(_all(endpoints))}interval", "counted")
    rows = tuple(
        (
            Cell(words.shown(endpoint.title)),
            *_first(endpoint),
            Cell(_counted(endpoint.denominator)),
        )
        for endpoint in endpoints
    )
    return Table("The first estimate of each endpoint", head, rows)


def _all(endpoints: Iterable[Endpoint]) -> list[Estimate]:
    return [estimate for endpoint in endpoints for estimate in endpoint.estimates]


def _first(endpoint: Endpoint) -> tuple[Cell, Cell, Cell]:
    if not endpoint.estimates:
        return Cell(NONE), Cell(NONE), Cell(NONE)
    first = endpoint.estimates[0]
    value = cells.number(first.value, first.unit)
    return Cell(words.label(first)), value, cells.spread(first.interval, first.unit)


def _counted(of: Denominator) -> str:
    eligible = words.counted(of.eligible, words.shown(of.unit))
    return f"{of.observed} observed of {eligible} in {words.counted(of.items, 'item')}"


def _endpoint(endpoint: Endpoint, drawn: Mapping[str, Drawing]) -> Part:
    said = {"Definition": endpoint.definition, "Method": endpoint.method}
    return Part(
        id=endpoint.id,
        title=words.shown(endpoint.title),
        said=tuple((what, words.shown(sentences)) for what, sentences in said.items()),
        tables=tuple(_endpoint_tables(endpoint)),
        notes=tuple(map(words.shown, endpoint.notes)),
        figures=tuple(drawn[id] for id in (endpoint.id,) if id in drawn),
        rows=(f"rows/{quote(endpoint.id)}.csv", words.counted(len(endpoint.rows), "row")),
    )


def _endpoint_tables(endpoint: Endpoint) -> Iterator[Table]:
    title = words.shown(endpoint.title)
    yield _estimate_table(f"{title}: estimates", endpoint.estimates)
    counted = (("this endpoint", endpoint.denominator), *own_denominators(endpoint))
    yield _denominator_table(title, endpoint.kind, counted)


def own_denominators(endpoint: Endpoint) -> tuple[tuple[str, Denominator], ...]:
    """The denominators of estimates that count others than their endpoint does."""
    return tuple(
        (label, of) for label, of in counted_apart(endpoint.estimates) if of != endpoint.denominator
    )


def counted_apart(estimates: Iterable[Estimate]) -> list[tuple[str, Denominator]]:
    """Each denominator of a group once, with the labels of all estimates that it is of.

    A group whose estimates all have the same is labelled by its name alone.
    """
    found: list[tuple[str | None, list[str], Denominator]] = []
    for one in estimates:
        label = words.label(one, grouped=False)
        same = [of for of in found if (of[0], of[2]) == (one.group, one.denominator)]
        if same:
            same[0][1].append(label)
        else:
            found.append((one.group, [label], one.denominator))
    each = Counter(group for group, _, _ in found)
    return [(_counted_label(group, labels, each[group]), of) for group, labels, of in found]


def _counted_label(group: str | None, labels: Sequence[str], denominators: int) -> str:
    joined = "; ".join(labels)
    if group is None:
        return joined
    return words.name(group) if denominators == 1 else f"{words.name(group)}: {joined}"


def level_of(operations: Operations) -> str:
    """At which level the intervals are, as a sentence."""
    levels = sorted({estimate.level for estimate in _estimates(operations)})
    return f"Intervals: {' and '.join(map(words.percent_of, levels)) or NONE}."


def _level(estimates: Sequence[Estimate | Contrast]) -> str:
    """`95 % `, or nothing where not all are at one level, so that each says its own."""
    levels = {estimate.level for estimate in estimates}
    return f"{words.percent_of(levels.pop())} " if len(levels) == 1 else ""


def _own_level(cell: Cell, level: float, *, said: bool) -> Cell:
    return cell if said else Cell(f"{cell.text} ({words.percent_of(level)})", cell.sort, cell.exact)


def _estimate_table(caption: str, estimates: Sequence[Estimate]) -> Table:
    level = _level(estimates)
    is_grouped = any(estimate.group is not None for estimate in estimates)
    head = ("estimate", *(("group",) if is_grouped else ()), "value", f"{level}interval")
    rows = tuple(
        (
            Cell(words.code(estimate.name)),
            *((cells.named(estimate.group),) if is_grouped else ()),
            cells.number(estimate.value, estimate.unit),
            _own_level(
                cells.spread(estimate.interval, estimate.unit), estimate.level, said=bool(level)
            ),
            cells.moment(estimate.at, estimate.unit),
            cells.said(estimate.method),
        )
        for estimate in estimates
    )
    return Table(caption, (*head, "at", "method"), rows)


def _denominator_table(title: str, kind: Kind, counted: Sequence[tuple[str, Denominator]]) -> Table:
    """One row a denominator.  Only waits have columns for what ends or cuts a wait."""
    waits = kind == "time to event" or any(of.censored or of.competing for _, of in counted)
    ends = ("censored", "competing") if waits else ()
    units = " and ".join(dict.fromkeys(words.plural(words.shown(of.unit)) for _, of in counted))
    head = ("of", "eligible", "observed", *ends, "unavailable", "excluded", "in items")
    rows = tuple((Cell(label), *_denominator(of, waits=waits)) for label, of in counted)
    return Table(f"{title}: {units} counted", (*head, "omitted work"), rows)


def _denominator(of: Denominator, *, waits: bool) -> Iterator[Cell]:
    yield from map(cells.count, (of.eligible, of.observed))
    if waits:
        yield cells.count(of.censored)
        yield Cell(words.split(of.competing))
    yield Cell(words.split(of.unavailable))
    yield Cell(words.split(of.excluded))
    yield cells.count(of.items)
    yield Cell(words.omitted(of.omitted))


def _fields() -> Table:
    rows = tuple(
        (Cell(receipt, "name"), Cell(field, "name"), Cell(MEANING[field]))
        for receipt, fields in REQUIRED.items()
        for field in fields
    )
    return Table("Required fields, by class of receipt", ("receipt", "field", "what it is"), rows)


# comparison


def _comparison(operations: Operations, drawn: Mapping[str, Drawing]) -> Compared | None:
    comparison = operations.comparison
    if comparison is None:
        return None
    endpoints = {endpoint.id: endpoint for endpoint in operations.endpoints}
    return Compared(
        causal=words.shown(comparison.causal),
        said=groups(comparison),
        parts=tuple(
            _compared(comparison, id, endpoints.get(id), drawn) for id in compared_ids(comparison)
        ),
    )


def compared_ids(comparison: Comparison) -> tuple[str, ...]:
    """The endpoints compared, in the order in which they come."""
    estimated = [estimate.endpoint for estimate in comparison.estimates]
    contrasted = [contrast.endpoint for contrast in comparison.contrasts]
    return tuple(dict.fromkeys((*estimated, *contrasted)))


def side_by_side(comparison: Comparison, id: str) -> list[Estimate]:
    """The groups' estimates of an endpoint, each beside its like of the other groups."""
    own = [estimate for estimate in comparison.estimates if estimate.endpoint == id]
    order = list(dict.fromkeys((estimate.name, estimate.at) for estimate in own))
    return sorted(own, key=lambda estimate: order.index((estimate.name, estimate.at)))


def groups(comparison: Comparison) -> str:
    return (
        f"Compared by {words.name(comparison.by)}: {cells.listed(comparison.groups)}."
        f" Left out: {words.parts(comparison.left_out) or NONE}."
    )


def _compared(
    comparison: Comparison, id: str, endpoint: Endpoint | None, drawn: Mapping[str, Drawing]
) -> Part:
    title = words.shown(id if endpoint is None else endpoint.title)
    kind: Kind = "time to event" if endpoint is None else endpoint.kind
    name = f"compare-{id}"
    return Part(
        id=name,
        title=title,
        said=(),
        tables=tuple(_compared_tables(comparison, id, title, kind)),
        figures=tuple(drawn[at] for at in (name,) if at in drawn),
    )


def _compared_tables(comparison: Comparison, id: str, title: str, kind: Kind) -> Iterator[Table]:
    estimates = side_by_side(comparison, id)
    contrasts = [contrast for contrast in comparison.contrasts if contrast.endpoint == id]
    if contrasts:
        yield _contrast_table(f"{title}: differences", contrasts)
    if estimates:
        yield _estimate_table(f"{title}: estimates by group", estimates)
        counted = counted_apart(estimates)
        yield _denominator_table(f"{title}, by group", kind, counted)


def less(contrast: Contrast) -> str:
    return f"{words.name(contrast.group)} less {words.name(contrast.reference)}"


def _contrast_table(caption: str, contrasts: Sequence[Contrast]) -> Table:
    level = _level(contrasts)
    rows = tuple(
        (
            Cell(words.code(contrast.name)),
            Cell(less(contrast), "name"),
            cells.number(contrast.difference, contrast.unit, difference=True),
            _own_level(
                cells.spread(contrast.interval, contrast.unit, difference=True),
                contrast.level,
                said=bool(level),
            ),
            cells.moment(contrast.at, contrast.unit),
            cells.said(contrast.method),
        )
        for contrast in contrasts
    )
    head = ("estimate", "groups", "difference", f"{level}interval", "at", "method")
    return Table(caption, head, rows)
