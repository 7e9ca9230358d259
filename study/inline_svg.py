"""A figure's file as an element of an HTML page, which runs and fetches nothing."""

from __future__ import annotations

import re
from typing import Final, Protocol
from urllib.parse import quote
from xml.etree import ElementTree

from study.report_cells import Drawing

_DROPPED: Final = frozenset({"metadata", "script", "foreignObject", "style"})
_OF_IDS: Final = ("aria-labelledby", "aria-describedby")
_EVERYTHING = re.compile(r"\s*\*\s*\{([^{}]*)\}\s*\Z")
_REFERENCE = re.compile(r"url\(\s*#([^)]*)\)")


class Figure(Protocol):
    """A drawing of an endpoint: `svg` bytes, and the same in visible words as `alt`."""

    @property
    def svg(self) -> bytes: ...
    @property
    def alt(self) -> str: ...
    @property
    def title(self) -> str: ...


def drawing(id: str, figure: Figure) -> Drawing:
    inline = _inline(figure.svg, id, figure.title)
    return Drawing(id, figure.title, figure.alt, inline, f"figures/{quote(id)}.svg")


def _inline(svg: bytes, id: str, title: str) -> str:
    """An SVG file as an element of an HTML page that holds others.

    Names lose their namespaces, ids get a prefix, and what would run, style the page around
    it or fetch something is left out.  A style for everything in the drawing moves to its
    root, from where it is inherited.
    """
    root = ElementTree.fromstring(svg)
    styles = [_EVERYTHING.match(e.text or "") for e in root.iter() if _local(e.tag) == "style"]
    for element in list(root.iter()):
        for child in [child for child in element if _local(child.tag) in _DROPPED]:
            element.remove(child)
        kept = _attributes(element, id)
        element.attrib.clear()
        element.attrib.update(kept)
        element.tag = _local(element.tag)
    inherited = ";".join(match[1].strip() for match in styles if match)
    if inherited:
        root.set("style", inherited)
    root.set("role", "img")
    if "aria-labelledby" not in root.attrib:
        root.set("aria-label", title)
    root.tail = None
    return ElementTree.tostring(root, encoding="unicode")


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _attributes(element: ElementTree.Element, prefix: str) -> dict[str, str]:
    kept = {}
    for name, value in element.attrib.items():
        local = _local(name)
        if local == "id":
            kept[local] = f"{prefix}-{value}"
        elif local in _OF_IDS:
            kept[local] = " ".join(f"{prefix}-{of}" for of in value.split())
        elif local == "href":
            if value.startswith("#"):
                kept[local] = f"#{prefix}-{value[1:]}"
        elif not local.lower().startswith("on") and local not in ("space", "base"):
            kept[local] = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)
    return {name: value for name, value in kept.items() if not _fetches(value)}


def _fetches(value: str) -> bool:
    return bool(re.search(r"url\(\s*(?!#)", value))
