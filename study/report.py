"""What `study operations` found, for people: a page, a Markdown file, and lines of text.

All three are drawn from the same tables, so that no number is in one and missing in
another (`study.report_page`), and whose counts must add up.
The page is one file without a script, and its policy lets no request leave it.  Nothing
here asks a clock or an environment: the same record gives the same bytes.

Every text is made visible (`study.words.shown`) where a table or a paragraph is built, and
escaped where it is written, by the templates' own environment: by autoescape in HTML, and
in Markdown by `escaped`, through which every expression of the template goes.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from study import words
from study.inline_svg import Figure
from study.report_cells import NONE, Table
from study.report_page import (
    check,
    compared_ids,
    counted_apart,
    flows,
    groups,
    less,
    level_of,
    own_denominators,
    page_of,
    side_by_side,
    summary,
)
from study.result import (
    Comparison,
    Contrast,
    Denominator,
    Endpoint,
    Estimate,
    Kind,
    LogRead,
    Operations,
)

if TYPE_CHECKING:
    from jinja2 import Environment

_TEXT_LOGS: Final = 12


def html(operations: Operations, figures: Mapping[str, Figure]) -> str:
    """One self-contained page.

    `figures` are by name: an endpoint's id, `compare-ID` for its comparison; others stand after
    the endpoints.
    """
    from markupsafe import Markup

    page = page_of(operations, figures)
    environment = _environment(autoescape=True)
    return environment.get_template("report.html.j2").render(page=page, safe=Markup)


def markdown(operations: Operations, figures: Mapping[str, Figure]) -> str:
    """The same as GitHub-flavoured Markdown; figures are links to `figures/ID.svg`."""
    page = page_of(operations, figures)
    environment = _environment(autoescape=False, finalize=_in_markdown)
    environment.globals["table"] = _markdown_table
    return environment.get_template("report.md.j2").render(page=page, link=_Markdown)


def summary_html(operations: Operations) -> str:
    """What a notebook shows: the first estimate of each endpoint, and the others on request."""
    page = page_of(operations, {})
    return _environment(autoescape=True).get_template("summary.html.j2").render(page=page)


def _environment(**settings: Any) -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(_template),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **settings,
    )


def _template(name: str) -> str:
    found: str = files(__package__).joinpath("templates", name).read_text(encoding="utf-8")
    return found


# Markdown


class _Markdown(str):
    """Text that is Markdown already."""

    __slots__ = ()


_INERT = re.compile(
    r"[`*_\[\]<>|~#&$\\]"  # what begins markup wherever it stands
    r"|^[-+=](?=[-+=\s]|$)"  # … and at the start of a line
    r"|(?<=[A-Za-z])\.(?=[A-Za-z])"  # what addresses and emoji are made of, but no time of day
    r"|:(?=\S)(?!(?<=\d:)\d\d(?!\d))"
)
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")


def escaped(text: str) -> str:
    """Visible text of one line that no Markdown renderer reads as anything but text.

    A commercial at is shown as an escape: GitHub makes a link of an address, and a mention of
    a name, even where the sign has a backslash before it.
    """
    inert = _INERT.sub(r"\\\g<0>", text.replace("@", r"\x40"))
    return _NUMBERED.sub(r"\1\\\2", inert)


def _in_markdown(value: object) -> str:
    return value if isinstance(value, _Markdown) else escaped(str(value))


def _markdown_table(table: Table) -> _Markdown:
    head = [_in_markdown(name) for name in table.head]
    sorts = [cell.sort for cell in table.rows[0]] if table.rows else ["words"] * len(head)
    rule = ["---:" if sort == "count" else "---" for sort in sorts]
    rows = [[_in_markdown(cell.text) for cell in row] for row in table.rows]
    lines = [f"| {' | '.join(row)} |" for row in (head, rule, *rows)]
    return _Markdown("\n".join((f"**{escaped(table.caption)}**", "", *lines)))


# text


def text(operations: Operations, width: int = 80) -> str:
    """One block an endpoint, in lines of at most `width` columns where words allow it."""
    check(operations)
    blocks = [_text_head(operations), *map(_text_endpoint, operations.endpoints)]
    if operations.comparison is not None:
        blocks.append(_text_comparison(operations.comparison, operations.endpoints))
    lines = ["\n".join(_wrapped(line, width) for line in block) for block in blocks]
    return "\n\n".join(lines) + "\n"


def _wrapped(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip(" ")))
    return textwrap.fill(
        line.strip(" "),
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _text_head(operations: Operations) -> list[str]:
    logs = [_text_log(log) for log in operations.logs[:_TEXT_LOGS]]
    more = len(operations.logs) - _TEXT_LOGS
    return [
        f"{summary(operations)}, digest {words.shown(operations.digest)};"
        f" cutoff {words.shown(operations.cutoff)};"
        f" window {words.shown(operations.window or NONE)};"
        f" version {words.shown(operations.version)}",
        *logs,
        *([f"  and {more} more logs, which the report lists"] if more > 0 else []),
        *(
            f"  refused: {words.name(log.name)}: {words.clause(log.why)}"
            for log in operations.refused
        ),
        *(
            f"  {words.name(of)}: {words.name(file.name)}, sha256 {words.digest(file.sha256)},"
            f" {words.counted(file.rows, 'row')}"
            for of, file in sorted(operations.files.items())
        ),
        *flows(operations),
        level_of(operations),
        *map(words.shown, operations.notes),
    ]


def _text_log(log: LogRead) -> str:
    losses = [f"; {words.counted(len(log.losses), 'loss')}"] if log.losses else []
    return (
        f"  {words.name(log.name)}: sha256 {words.digest(log.sha256)},"
        f" {words.counted(log.admitted, 'admitted event')},"
        f" {words.counted(log.gaps, 'gap')}{''.join(losses)}"
    )


def _text_endpoint(endpoint: Endpoint) -> list[str]:
    total, kind = endpoint.denominator, endpoint.kind
    return [
        words.shown(endpoint.title),
        *(f"  {_text_estimate(estimate)}" for estimate in endpoint.estimates),
        f"  {words.denominator(total, kind)}",
        *(
            f"  {label}: {_text_counts(of, total, kind)}"
            for label, of in own_denominators(endpoint)
        ),
        *(f"  note: {words.shown(note)}" for note in endpoint.notes),
    ]


def _text_counts(of: Denominator, total: Denominator, kind: Kind) -> str:
    """A denominator, without the omitted work where it is its endpoint's."""
    is_same = of.omitted == total.omitted
    return words.counts(of, kind) if is_same else words.denominator(of, kind)


def _text_estimate(estimate: Estimate) -> str:
    said = words.answer(estimate.value, estimate.interval, estimate.unit)
    return f"{_before(words.label(estimate), estimate.at)} {said}"


def _before(label: str, at: float | None) -> str:
    """The label of a number; with a colon where it ends with a number of its own."""
    return label if at is None else f"{label}:"


def _text_comparison(comparison: Comparison, endpoints: Sequence[Endpoint]) -> list[str]:
    known = {endpoint.id: endpoint for endpoint in endpoints}
    lines = [words.shown(comparison.causal), groups(comparison)]
    for id in compared_ids(comparison):
        lines += [f"  {line}" for line in _text_compared(comparison, id, known.get(id))]
    return lines


def _text_compared(comparison: Comparison, id: str, endpoint: Endpoint | None) -> list[str]:
    estimates = side_by_side(comparison, id)
    kind: Kind = "time to event" if endpoint is None else endpoint.kind
    return [
        words.shown(id if endpoint is None else endpoint.title),
        *(f"  {_text_contrast(one)}" for one in comparison.contrasts if one.endpoint == id),
        *(f"  {_text_estimate(estimate)}" for estimate in estimates),
        *(f"  {label}: {words.counts(of, kind)}" for label, of in counted_apart(estimates)),
    ]


def _text_contrast(contrast: Contrast) -> str:
    said = words.answer(contrast.difference, contrast.interval, contrast.unit, difference=True)
    parts = (words.code(contrast.name), less(contrast), words.moment(contrast.at, contrast.unit))
    return f"{', '.join(filter(None, parts))}: {said}"
