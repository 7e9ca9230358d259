"""How figures look, and how a drawing becomes bytes that a page can take in.

The palette is the part of Okabe and Ito's that stands out from white (3:1 or more); each
look also has dashes of its own, so that no line is told from another by its colour alone.

An SVG keeps its text as text (`svg.fonttype` "none"), in DejaVu Sans, which is what was
measured, or else Verdana or the reader's sans-serif, neither of which is wider: text can be
searched, selected and read by machines, and a file is a fraction of what outlines take.  A
PDF embeds DejaVu.

matplotlib writes an SVG for a page of its own.  Several of ours stand in one page, under a
policy that allows no inline style, so it is rewritten: ids begin with the figure's name,
styles are attributes, its style sheet (which would restyle the page), document type and
metadata are gone, the size is the page's to choose, and a title and a description come first.
"""

from __future__ import annotations

import re
import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree

from study.estimates import Interval, Record
from study.result import NO_BAND_TAKEN, Curve, CurvePoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7")
DASHES: Final = ("-", (0, (5, 1.6)), (0, (1.4, 1.4)), (0, (7, 1.6, 1.4, 1.6)))
"""Five colours and four dashes: twenty looks before one comes again."""
INK: Final = "#222222"
FAINT: Final = "#D0D0D0"
WHITE: Final = "#FFFFFF"

WIDTH: Final = 360.0
"""Points across: on a narrow telephone a point is a pixel or more."""
SMALL: Final = 9.0
MEDIUM: Final = 9.5
LARGE: Final = 11.5
COLUMNS_OF_TEXT: Final = 66
"""Characters of the small size that stand in one line, in prose."""

MOST_STEPS: Final = 1_200
"""Columns that all curves of one figure may take together, two points in each."""
FEWEST_COLUMNS: Final = 60
MOST_COLUMNS: Final = 300

_FAMILY: Final = "'DejaVu Sans', Verdana, sans-serif"
_SVG: Final = "{http://www.w3.org/2000/svg}"
_XLINK: Final = "{http://www.w3.org/1999/xlink}"
_LONG_NUMBER: Final = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE: Final = re.compile(r"(?:url\()?#([^)]+)\)?\Z")
_TURNED_BY_NOTHING: Final = re.compile(r"rotate\(-?0[ )]")


class Look(Record, frozen=True):
    """A line's colour, and matplotlib's line style."""

    colour: str
    dashes: Any


def look(index: int) -> Look:
    """The look of the line with that index; the first four differ in colour and in dashes."""
    return Look(PALETTE[index % len(PALETTE)], DASHES[index % len(DASHES)])


# Steps


def columns_for(curves: int) -> int:
    """In how many columns each of that many curves may be drawn."""
    return max(FEWEST_COLUMNS, min(MOST_COLUMNS, MOST_STEPS // max(curves, 1)))


def thinned(curve: Curve, columns: int) -> Sequence[CurvePoint]:
    """The points to draw: all, or of each column the first, lowest, highest and last.

    A step between columns stays where it is, and no column loses its range, so what goes is
    inside a column narrower than a line.
    """
    if len(curve.points) <= 2 * columns:
        return curve.points
    span = curve.last - curve.start or 1.0

    def column(indexed: tuple[int, CurvePoint]) -> int:
        return int(columns * (indexed[1].time - curve.start) / span)

    kept: set[int] = set()
    for _, group in groupby(enumerate(curve.points), key=column):
        inside = [*group]
        by_value = sorted(inside, key=lambda one: one[1].value)
        kept |= {inside[0][0], inside[-1][0], by_value[0][0], by_value[-1][0]}
    return [curve.points[index] for index in sorted(kept)]


def point_at(curve: Curve, time: float) -> CurvePoint | None:
    """The last point at or before a time; None before the first."""
    passed = bisect_right(curve.points, time, key=lambda point: point.time)
    return curve.points[passed - 1] if passed else None


def height_at(curve: Curve, time: float) -> float:
    """The curve at a time from its start on."""
    point = point_at(curve, time)
    if point is None:
        return 1.0 if curve.shows == "waiting" else 0.0
    return point.value


def thinned_times(curve: Curve, columns: int) -> list[float]:
    """Times of censoring, one a column."""
    span = curve.last - curve.start or 1.0
    by_column = {int(columns * (time - curve.start) / span): time for time in curve.censored}
    return sorted(by_column.values())


def steps(curve: Curve, points: Sequence[CurvePoint]) -> tuple[list[float], list[float]]:
    """Times and heights of the line (drawn flat until the next time), from start to last."""
    heights = [1.0 if curve.shows == "waiting" else 0.0, *(point.value for point in points)]
    times = [curve.start, *(point.time for point in points)]
    return [*times, max(curve.last, times[-1])], [*heights, heights[-1]]


def bands(
    curve: Curve, points: Sequence[CurvePoint]
) -> Iterator[tuple[list[float], list[float], list[float]]]:
    """Times, lows and highs of every run of points whose interval is known.

    Where it was taken at some times only, a band goes from one to the next.
    """
    taken = [point for point in curve.points if point.interval != NO_BAND_TAKEN]
    if len(taken) < len(curve.points):
        points = taken
    ends = [*(point.time for point in points[1:]), curve.last]
    each = [(point, end) for point, end in zip(points, ends, strict=bool(points))]
    for known, run in groupby(each, key=lambda one: isinstance(one[0].interval, Interval)):
        if not known:
            continue
        inside = [*run]
        found = [point.interval for point, _ in inside]
        lows = [interval.low for interval in found if isinstance(interval, Interval)]
        highs = [interval.high for interval in found if isinstance(interval, Interval)]
        times = [point.time for point, _ in inside]
        yield [*times, inside[-1][1]], [*lows, lows[-1]], [*highs, highs[-1]]


# Drawing and writing


@contextmanager
def styled() -> Iterator[None]:
    """matplotlib's own defaults and ours, whatever the reader's settings; undone afterwards.

    Text is drawn as it stands: a `$` in a name begins no formula.
    """
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        # an SVG shows what the reader's fonts have; a PDF shows a box in place of the rest
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(
            {
                "font.family": ["DejaVu Sans"],
                "font.size": SMALL,
                "text.color": INK,
                "text.parse_math": False,
                "text.usetex": False,
                "svg.fonttype": "none",
                "svg.hashsalt": "study",
                "pdf.fonttype": 42,
            }
        )
        yield


def drawing(height: float) -> Drawing:
    """An empty white sheet of our width; `height` is in points."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = Figure(figsize=(WIDTH / 72, height / 72), dpi=72, facecolor=WHITE)
    FigureCanvasAgg(found)
    return found


def fitting(text: str, size: float, weight: str, points: float) -> str:
    """`text`, cut where it would be wider than `points`: a name of W's is."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=["DejaVu Sans"], size=size, weight=weight)

    def is_wider(candidate: str) -> bool:
        width, _, _ = text_to_path.get_text_width_height_descent(candidate, font, ismath=False)
        return bool(width > points)

    if not is_wider(text):
        return text
    ends = range(len(text))
    fits = bisect_left(ends, True, key=lambda end: is_wider(f"{text[:end]}…"))
    return f"{text[: max(fits - 1, 0)]}…"


def written(draw: Callable[[], Drawing], name: str, title: str, alt: str) -> tuple[bytes, bytes]:
    """The SVG and the PDF of a drawing: the same bytes for the same drawing."""
    with styled():
        svg, pdf = BytesIO(), BytesIO()
        drawn = draw()
        drawn.savefig(svg, format="svg", metadata={"Date": None, "Creator": "study"})
        about = {"Title": title, "Creator": "study", "Producer": "matplotlib", "CreationDate": None}
        drawn.savefig(pdf, format="pdf", metadata=about)
    return for_a_page(svg.getvalue(), name, title, alt), pdf.getvalue()


def for_a_page(svg: bytes, name: str, title: str, alt: str) -> bytes:
    """matplotlib's SVG, rewritten as the module's text says."""
    root = ElementTree.fromstring(svg)
    prefix = "study-" + re.sub(r"[^A-Za-z0-9_-]", "-", name)
    for parent in [*root.iter()]:
        for child in [*parent]:
            if child.tag in (f"{_SVG}metadata", f"{_SVG}style"):
                parent.remove(child)
    referenced = {target for node in root.iter() for target in _targets(node)}
    for node in root.iter():
        _rewrite(node, prefix, referenced)
    box = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib.update(_root(prefix, box))
    for place, (tag, text) in enumerate((("title", title), ("desc", alt))):
        words = ElementTree.Element(tag, {"id": f"{prefix}-{tag}"})
        words.text = text
        root.insert(place, words)
    return f"{ElementTree.tostring(root, encoding='unicode')}\n".encode()


def _targets(node: ElementTree.Element) -> list[str]:
    values = (node.get(f"{_XLINK}href"), node.get("clip-path"))
    found = (_REFERENCE.match(value) for value in values if value)
    return [match.group(1) for match in found if match]


def _root(prefix: str, box: str) -> dict[str, str]:
    return {
        "xmlns": "http://www.w3.org/2000/svg",
        "xmlns:xlink": "http://www.w3.org/1999/xlink",
        "viewBox": box,
        "width": "100%",
        "role": "img",
        "aria-labelledby": f"{prefix}-title {prefix}-desc",
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
    }


def _rewrite(node: ElementTree.Element, prefix: str, referenced: set[str]) -> None:
    node.tag = node.tag.removeprefix(_SVG)
    given = dict(node.attrib)
    for part in given.pop("style", "").split(";"):
        key, colon, value = part.partition(":")
        if colon:
            given[key.strip()] = value.strip()
    node.attrib.clear()
    for key, value in given.items():
        if key == "id" and value not in referenced:
            continue
        if key == "transform" and _TURNED_BY_NOTHING.match(value):
            continue
        node.set(key.replace(_XLINK, "xlink:"), _attribute(key, value, prefix))
    if node.text and not node.text.strip():
        node.text = None
    if node.tail and not node.tail.strip():
        node.tail = None


def _attribute(key: str, value: str, prefix: str) -> str:
    match key:
        case "id":
            return f"{prefix}-{value}"
        case "clip-path":
            return value.replace("#", f"#{prefix}-")
        case "font-family":
            return _FAMILY
        case "d":
            value = value.replace("\n", "")
    if key == f"{_XLINK}href":
        return value.replace("#", f"#{prefix}-")
    return _LONG_NUMBER.sub(lambda number: f"{float(number.group()):.2f}", value)
