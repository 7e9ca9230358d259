"""What a report is made of: tables of visible text, sections, and the cells of numbers.

A cell keeps the number behind its text, so that a page can say it exactly, and the sort that
decides how it is set.  No text here is escaped for a form: that is done where it is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from study import words
from study.estimates import Number, Range, Record, Unknown
from study.result import Unit

NONE: Final = "none"
_LISTED: Final = 40

Sort: TypeAlias = Literal["words", "name", "count", "unknown"]


class Cell(Record, frozen=True):
    """Visible text; `exact` is the number behind it as the record has it (an interval: a/b)."""

    text: str
    sort: Sort = "words"
    exact: str | None = None


class Table(Record, frozen=True):
    """Rows under a caption; the first cell of each is its header."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class Drawing(Record, frozen=True):
    """A figure on the page: `svg` is an element that HTML takes as it is."""

    id: str
    title: str
    alt: str
    svg: str
    path: str


class Part(Record, frozen=True):
    """An endpoint, or one endpoint's comparison: what is said, then tables, then figures."""

    id: str
    title: str
    said: tuple[tuple[str, str], ...]
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()
    figures: tuple[Drawing, ...] = ()
    rows: tuple[str, str] | None = None


class Compared(Record, frozen=True):
    """The comparison: `causal` stands first, before any number."""

    causal: str
    said: str
    parts: tuple[Part, ...]


class Page(Record, frozen=True):
    """What both documents hold."""

    summary: str
    identity: tuple[Table, ...]
    notes: tuple[str, ...]
    flows: tuple[str, ...]
    flow_tables: tuple[Table, ...]
    glance: Table
    figures: tuple[Drawing, ...]
    endpoints: tuple[Part, ...]
    comparison: Compared | None
    fields: Table
    not_shown: tuple[str, ...]


def said(text: str) -> Cell:
    return Cell(words.shown(text) or NONE)


def named(text: str | None) -> Cell:
    return Cell(NONE) if text is None else Cell(words.name(text), "name")


def count(count: int) -> Cell:
    return Cell(str(count), "count", str(count))


def number(number: Number, unit: Unit, *, difference: bool = False) -> Cell:
    text = words.quantity(number, unit, difference=difference)
    return Cell(text, "unknown") if isinstance(number, Unknown) else Cell(text, exact=repr(number))


def spread(interval: Range, unit: Unit, *, difference: bool = False) -> Cell:
    text = words.spread(interval, unit, difference=difference)
    if isinstance(interval, Unknown):
        return Cell(text, "unknown")
    return Cell(text, exact=f"{interval.low!r}/{interval.high!r}")


def moment(at: float | None, unit: Unit) -> Cell:
    return Cell("–") if at is None else Cell(words.moment(at, unit), exact=repr(at))


def listed(names: Sequence[str]) -> str:
    """Names in their order, the first of them where they are many."""
    parts = [words.name(name) for name in names[:_LISTED]]
    more = [f"and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return ", ".join((*parts, *more)) or NONE
