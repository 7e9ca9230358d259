"""A log as one page: documents in, the bytes of one self-contained HTML file out.

Decides what the page holds and how it is kept harmless.  It holds the timeline, so what
the browser shows at a sequence is a look-up and nothing is derived there.  A page has a
budget of bytes and of work items; what does not fit is left out whole, an item at a time,
since rules judge each item alone and half an item would be a wrong answer.  An item whose
lines alone are too much is shown without them.  What was left out is said on the page.

Every text from a log is visible text (`safe.shown`) before it reaches the page, the data
stand in a block that no browser executes, and the page's policy allows its own scripts and
styles, by their hashes, and nothing else: no request can leave it.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, Final, NamedTuple, TypeAlias

from replay.errors import UsageError
from replay.report.view_data import Losses, items_of, page_data
from replay.report.view_pack import Item, Line
from replay.report.view_why import Asking, Certificates, shell_word

Document: TypeAlias = Mapping[str, Any]

DEFAULT_MAX_BYTES: Final = 16 * 1024 * 1024
DEFAULT_MAX_ITEMS: Final = 2000

_CHARTS: Final = (
    *("d3-array", "d3-color", "d3-format", "d3-interpolate", "d3-time", "d3-time-format"),
    *("d3-scale", "d3-path", "d3-shape", "d3-selection", "d3-axis"),
)
_SCRIPTS: Final = (
    *("data", "dom", "event", "why", "board", "marks", "lanes", "item", "frame", "main"),
)
_STYLES: Final = ("page", "parts", "print")
_EVENT_BYTES: Final = 140  # an event's facts beside its line, and an interval, as they tend to be
_INTERVAL_BYTES: Final = 90
_TRIES: Final = 6


class Limits(NamedTuple):
    """How large a page may become, in bytes and in work items."""

    bytes: int = DEFAULT_MAX_BYTES
    items: int = DEFAULT_MAX_ITEMS


class Page(NamedTuple):
    """The file's bytes, and in words what the limits left out of it."""

    html: bytes
    left_out: tuple[str, ...]


def page(
    projection: Document,
    timeline: Document,
    rules: Document,
    lines: Sequence[Line],
    *,
    losses: Losses | None = None,
    as_stored: bool = True,
    works: Sequence[str] | None = None,
    limits: Limits | None = None,
    asking: Asking | None = None,
    certificates: Certificates | None = None,
) -> Page:
    """The page of one log at one cutoff.

    `projection` and `timeline` are the two documents of it under one rule set, `rules` that
    set's entry of `replay.rules/1`, `lines` every visible event in order.  `as_stored` says
    that their raw text is the file's own, `works` names the work items wanted (null: all),
    `asking` how `replay explain` is asked, `certificates` what is known of why.
    Raises `UsageError` where not even the frame fits.
    """
    limits = limits or Limits()
    why = certificates or Certificates((), ())
    items = items_of(projection, timeline, lines, why.found)
    wanted = items if works is None else [item for item in items if item.work_id in works]
    allowance = limits.bytes
    for _ in range(_TRIES):
        kept = _kept(wanted, allowance, limits.items)
        data = page_data(
            projection,
            rules,
            items,
            kept,
            losses=losses,
            as_stored=as_stored,
            asking=asking or Asking(None, f"--rules {shell_word(rules['id'])}", ""),
            certificates=why,
        )
        found = _document(data)
        if len(found) <= limits.bytes:
            return Page(found, tuple(data["limits"]))
        allowance = int(allowance * min(0.9, limits.bytes / len(found)))
    raise UsageError(f"a page of {limits.bytes} bytes holds nothing of this log")


def _kept(items: Sequence[Item], allowance: int, most: int) -> list[Item]:
    """The items that fit, in order; one that does only without its lines is kept so."""
    kept: list[Item] = []
    rest = allowance
    for item in items:
        if len(kept) == most:
            break
        bare = _EVENT_BYTES * len(item.lines) + _INTERVAL_BYTES * len(item.intervals)
        whole = bare + sum(len(line.raw or "") for line in item.lines)
        if whole <= rest:
            kept.append(item)
            rest -= whole
        elif bare <= rest:
            kept.append(item.without_raw_lines())
            rest -= bare
    return kept


def _document(data: Document) -> bytes:
    style = "\n".join(_asset(f"{name}.css") for name in _STYLES)
    charts = "\n".join(_asset(f"d3/{name}.min.js") for name in _CHARTS)
    own = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    script = f"(() => {{\n{own}\n}})();"
    parts = {
        "title": html.escape(data["title"]),
        "policy": _policy([charts, script], style),
        "style": style,
        "data": _inert_json({name: data[name] for name in data if name != "lines"}),
        "lines": _inert_json(data["lines"]),
        "charts": charts,
        "script": script,
    }
    return _filled(_asset("view.html"), parts).encode()


def _asset(name: str) -> str:
    # newlines as they are in the repository, whatever a checkout made of them: a hash is of bytes
    data = files(__package__).joinpath("assets", *name.split("/")).read_bytes()
    return data.decode().replace("\r\n", "\n")


def _policy(scripts: Iterable[str], style: str) -> str:
    allowed = " ".join(map(_hash, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)};"
        " base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


_INERT: Final = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}


def _inert_json(data: object) -> str:
    """JSON with no character that HTML or an old script parser would read."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_INERT)


def _filled(template: str, parts: Mapping[str, str]) -> str:
    """The template with each `{{name}}` replaced, in one pass: no part is searched for names."""
    pieces = template.split("{{")
    found = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        found += [parts[name], rest]
    return "".join(found)


__all__ = ["DEFAULT_MAX_BYTES", "DEFAULT_MAX_ITEMS", "Limits", "Line", "Losses", "Page", "page"]
