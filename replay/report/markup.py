"""Words as HTML that any notebook shows: tables, paragraphs and folded parts.

There is no script, no style sheet and no colour: a notebook may drop the first two and has
a theme of its own for the third.  Tables have captions and header cells with a scope.
Every function takes visible text (`safe.shown`) and escapes it; a word that is written from
right to left is isolated, so that it reorders nothing beside it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final

_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
_LEFT: Final = ' style="text-align:left"'


def facts_table(caption: str, facts: Mapping[str, str]) -> str:
    """A table of names and values, which needs no names of columns."""
    return table(caption, (), [*facts.items()])


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Every row's first cell is its header; `head` is empty where columns need no names."""
    columns = "".join(f'<th scope="col"{_LEFT}>{isolated(name)}</th>' for name in head)
    top = f"<thead><tr>{columns}</tr></thead>" if head else ""
    return (
        '<table style="border-collapse:separate;border-spacing:.8em .1em">'
        f'<caption style="text-align:left;font-weight:bold">{isolated(caption)}</caption>'
        f"{top}<tbody>{''.join(map(_row, rows))}</tbody></table>"
    )


def _row(cells: Sequence[str]) -> str:
    first, *rest = cells
    data = "".join(f"<td{_LEFT}>{isolated(cell)}</td>" for cell in rest)
    return f'<tr><th scope="row"{_LEFT}>{isolated(first)}</th>{data}</tr>'


def paragraph(words: str) -> str:
    """The words, and nothing where there are none."""
    return f"<p>{isolated(words)}</p>" if words else ""


def preformatted(lines: str) -> str:
    """Lines of visible text as they are, each word of them isolated."""
    shown = "\n".join(map(isolated, lines.split("\n")))
    return f"<pre>{shown}</pre>"


def folded(summary: str, parts: Sequence[str]) -> str:
    """Parts that a reader opens."""
    return f"<details><summary>{isolated(summary)}</summary>{''.join(parts)}</details>"


def box(label: str, parts: Sequence[str]) -> str:
    """The parts in a region that scrolls by itself, by keyboard too, and holds no formula."""
    return (
        f'<div class="tex2jax_ignore mathjax_ignore" role="region" aria-label="{label}"'
        ' tabindex="0" lang="en" dir="ltr" style="overflow-x:auto;text-align:left">'
        f"{''.join(parts)}</div>"
    )


def isolated(text: str) -> str:
    """Visible text as HTML; a word written from right to left reorders nothing beside it."""
    if text.isascii():
        return escape(text)
    return " ".join(map(_word, text.split(" ")))


def _word(word: str) -> str:
    is_mixed = any(unicodedata.bidirectional(char) in _RIGHT_TO_LEFT for char in word)
    return f"<bdi>{escape(word)}</bdi>" if is_mixed else escape(word)
