"""Figures of the endpoints: what is drawn is what was estimated, and every page can take it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Final

import pytest

pytest.importorskip("matplotlib", reason="figures need the study extra")
etree = pytest.importorskip("lxml.etree", reason="SVG is read with lxml")

from study.estimates import Interval, Number, Range, Unknown  # noqa: E402
from study.figure_drawing import AT_RISK, Times, drawn  # noqa: E402
from study.figure_style import (  # noqa: E402
    DASHES,
    INK,
    PALETTE,
    WIDTH,
    bands,
    columns_for,
    fitting,
    height_at,
    look,
    steps,
    styled,
    thinned,
)
from study.figures import Figure, figures, plans  # noqa: E402
from study.result import (  # noqa: E402
    Comparison,
    Curve,
    CurvePoint,
    Denominator,
    Endpoint,
    Estimate,
    Kind,
    Operations,
)

HOUR: Final = 3_600.0
SVG: Final = "{http://www.w3.org/2000/svg}"
XLINK: Final = "{http://www.w3.org/1999/xlink}"
NO_BAND: Final = Unknown("everyone at risk ended there")
HOSTILE: Final = ("$x_{", "<script>alert(1)</script>", "\u202egnp.exe", "W" * 300)

WAITING: Final = (
    CurvePoint(2 * HOUR, 20, 4, 0.8, Interval(0.6, 0.9)),
    CurvePoint(5 * HOUR, 16, 6, 0.5, NO_BAND),
    CurvePoint(9 * HOUR, 8, 4, 0.25, Interval(0.1, 0.45)),
    CurvePoint(14 * HOUR, 3, 1, 0.125, Interval(0.02, 0.3)),
)
RECOVERED: Final = (
    CurvePoint(2 * HOUR, 20, 3, 0.15, Interval(0.04, 0.35)),
    CurvePoint(9 * HOUR, 8, 4, 0.6, Interval(0.35, 0.8)),
)
CANCELLED: Final = (CurvePoint(5 * HOUR, 16, 6, 0.3, Interval(0.1, 0.5)),)


# Made here: results small enough to be read


def curve(
    shows: str = "waiting", points: tuple[CurvePoint, ...] = WAITING, **changes: Any
) -> Curve:
    given: dict[str, Any] = {
        "endpoint": "blocker_recovery",
        "shows": shows,
        "label": {"waiting": "still blocked"}.get(shows, shows),
        "start": 0.0,
        "last": 20 * HOUR,
        "points": points,
        "at_risk": ((0.0, 20), (6 * HOUR, 10), (12 * HOUR, 4), (18 * HOUR, 1)),
        "censored": (3 * HOUR, 20 * HOUR),
    }
    return Curve(**given | changes)


def counted(eligible: int = 40, unavailable: int = 0) -> Denominator:
    return Denominator(
        unit="claim",
        eligible=eligible,
        observed=eligible - unavailable,
        censored=0,
        competing={},
        excluded={},
        unavailable={"receipts were lost": unavailable} if unavailable else {},
        items=9,
        omitted=0,
    )


def share(name: str, value: Number, interval: Range, unavailable: int = 0) -> Estimate:
    return Estimate(
        endpoint="false_success",
        name=name,
        unit="share",
        value=value,
        interval=interval,
        method="Wilson",
        denominator=counted(unavailable=unavailable),
    )


def median(group: str | None = None) -> Estimate:
    return Estimate(
        endpoint="blocker_recovery",
        name="median time to recovery",
        unit="seconds",
        value=5 * HOUR,
        interval=Interval(4 * HOUR, 8 * HOUR),
        method="Aalen-Johansen",
        denominator=counted(),
        group=group,
    )


def endpoint(
    id: str = "blocker_recovery",
    title: str = "Blocker recovery",
    kind: Kind = "time to event",
    estimates: tuple[Estimate, ...] = (),
    curves: tuple[Curve, ...] = (),
) -> Endpoint:
    return Endpoint(
        id=id,
        title=title,
        kind=kind,
        definition="",
        method="",
        denominator=counted(),
        estimates=estimates,
        rows=(),
        curves=curves,
    )


def recovery(**changes: Any) -> Endpoint:
    """The time to event that most tests look at."""
    three = (("waiting", WAITING), ("recovered", RECOVERED), ("cancelled", CANCELLED))
    curves = tuple(curve(shows, points, **changes) for shows, points in three)
    return endpoint(estimates=(median(),), curves=curves)


def shares(*estimates: Estimate) -> Endpoint:
    return endpoint("false_success", "False success", "share", estimates)


def compared(*groups: str, **changes: Any) -> Comparison:
    return Comparison(
        by="lane",
        groups=groups,
        causal="Not causal: the groups were not assigned.",
        assigned=False,
        left_out={},
        estimates=tuple(median(group) for group in groups),
        contrasts=(),
        curves=tuple(
            curve(shows, points, group=group, **changes)
            for group in groups
            for shows, points in (("waiting", WAITING), ("recovered", RECOVERED))
        ),
    )


def operations(*endpoints: Endpoint, comparison: Comparison | None = None) -> Operations:
    return Operations(
        rules="coordination/2",
        digest="",
        version="",
        cutoff="",
        window=None,
        logs=(),
        refused=(),
        register=Unknown("no register"),
        files={},
        endpoints=endpoints,
        comparison=comparison,
        notes=(),
    )


# Read back


def parsed(figure: Figure) -> Any:
    return etree.fromstring(figure.svg, etree.XMLParser(resolve_entities=False, no_network=True))


def texts(figure: Figure) -> list[str]:
    return [node.text for node in parsed(figure).iter(f"{SVG}text")]


def table(figure: Figure) -> list[list[tuple[float, str]]]:
    """The rows under the table's heading: where each number stands (to 0.1), and the number."""
    nodes = [*parsed(figure).iter(f"{SVG}text")]
    rows: dict[float, list[tuple[float, str]]] = {}
    heading = next(at for at, node in enumerate(nodes) if node.text == AT_RISK)
    for node in nodes[heading + 1 :]:
        if node.text.isdigit():
            x, y = (round(float(node.get(key)), 1) for key in "xy")
            rows.setdefault(y, []).append((x, node.text))
    return [*rows.values()]


@contextmanager
def axes_of(found: Operations, name: str) -> Iterator[list[Any]]:
    plan = next(plan for named, plan, _ in plans(found) if named == name)
    with styled():
        yield drawn(plan).axes


def line_of(axes: Any, label: str) -> list[tuple[float, float]]:
    line = next(line for line in axes.lines if line.get_label() == label)
    assert line.get_drawstyle() == "steps-post"
    return [(float(x), float(y)) for x, y in line.get_xydata()]


# Which figures there are


def test_every_time_to_event_with_curves_has_a_figure_and_so_have_shares_and_comparisons() -> None:
    found = operations(
        recovery(), shares(share("all", 0.5, Interval(0.4, 0.6))), comparison=compared("a", "b")
    )
    assert [*figures(found)] == ["blocker_recovery", "shares", "compare-blocker_recovery"]


def test_what_has_no_curve_and_no_share_has_no_figure() -> None:
    assert figures(operations(endpoint(estimates=(median(),)))) == {}
    assert figures(operations(endpoint("cost", "Cost", "mean"))) == {}


# What is drawn is what was estimated


def test_a_line_steps_at_the_times_of_its_curve_to_its_values() -> None:
    with axes_of(operations(recovery()), "blocker_recovery") as (upper, lower):
        (waiting,) = (line for line in upper.lines if line.get_drawstyle() == "steps-post")
        assert [*map(tuple, waiting.get_xydata().tolist())] == [
            *((0, 1), (2, 0.8), (5, 0.5), (9, 0.25), (14, 0.125), (20, 0.125)),
        ]
        assert line_of(lower, "recovered") == [(0, 0), (2, 0.15), (9, 0.6), (20, 0.6)]
        assert line_of(lower, "cancelled") == [(0, 0), (5, 0.3), (20, 0.3)]


def test_a_band_is_drawn_where_the_interval_is_known_and_nowhere_else() -> None:
    runs = [*bands(curve(), WAITING)]
    assert runs == [
        ([2 * HOUR, 5 * HOUR], [0.6, 0.6], [0.9, 0.9]),
        ([9 * HOUR, 14 * HOUR, 20 * HOUR], [0.1, 0.02, 0.02], [0.45, 0.3, 0.3]),
    ]
    with axes_of(operations(recovery()), "blocker_recovery") as (upper, _):
        boxes = [shade.get_paths()[0].get_extents() for shade in upper.collections]
    assert [(box.x0, box.x1) for box in boxes] == [(2, 5), (9, 20)]


def test_a_curve_without_any_known_interval_has_no_band_and_no_word_of_one() -> None:
    points = tuple(CurvePoint(p.time, p.at_risk, p.events, p.value, NO_BAND) for p in WAITING)
    found = operations(endpoint(curves=(curve(points=points),)))
    assert [*bands(curve(points=points), points)] == []
    assert "Shaded" not in figures(found)["blocker_recovery"].alt


def test_small_ticks_stand_on_the_waiting_line_at_the_times_of_censoring() -> None:
    with axes_of(operations(recovery()), "blocker_recovery") as (upper, lower):
        (marks,) = (line for line in upper.lines if line.get_label() == "censored")
        across, heights = marks.get_data()
        assert [*across[::3]] == [3, 20]
        assert [sum(heights[at : at + 2]) / 2 for at in (0, 3)] == pytest.approx([0.8, 0.125])
        assert not [line for line in lower.lines if line.get_label() == "censored"]


def test_the_numbers_at_risk_are_those_of_the_curve_each_under_its_tick() -> None:
    figure = figures(operations(recovery()))["blocker_recovery"]
    ((*cells,),) = table(figure)
    assert [number for _, number in cells] == ["20", "10", "4", "1"]
    ticks = {
        node.text: round(float(node.get("x")), 1)
        for node in parsed(figure).iter(f"{SVG}text")
        if node.get("text-anchor") == "middle" and node.text in ("0", "6", "12", "18")
    }
    assert [across for across, _ in cells] == [ticks[hour] for hour in ("0", "6", "12", "18")]


def test_a_group_has_its_own_row_and_nobody_at_risk_after_it_was_watched() -> None:
    one, other = compared("a").curves, compared("b", last=15 * HOUR).curves
    short = tuple(
        curve(c.shows, c.points, group="b", last=15 * HOUR, at_risk=((0.0, 7), (12 * HOUR, 2)))
        for c in other
    )
    of_both = Comparison(
        by="lane",
        groups=("a", "b"),
        causal="",
        assigned=True,
        left_out={},
        estimates=(),
        contrasts=(),
        curves=(*one, *short),
    )
    figure = figures(operations(recovery(), comparison=of_both))["compare-blocker_recovery"]
    numbers = [[number for _, number in row] for row in table(figure)]
    assert numbers == [["20", "10", "4", "1"], ["7", "2", "0"]]  # at 6 h b's curve tells none
    assert f"{AT_RISK}, b: 7 at 0 s, 2 at 12 h, 0 at 18 h." in figure.alt


def test_ticks_that_would_run_into_each_other_are_left_out_and_the_first_stays() -> None:
    crowded = ((0.0, 20_000), *((HOUR * at, 20_000 - at) for at in range(1, 21)))
    found = operations(recovery(at_risk=crowded))
    cells = table(figures(found)["blocker_recovery"])[0]
    assert cells[0][1] == "20000"
    gaps = [right - left for (left, _), (right, _) in pairwise(cells)]
    assert min(gaps) >= 30


@pytest.mark.parametrize(
    ("last", "step", "unit"),
    [
        (40.0, 10.0, "seconds"),
        (7_200.0, 1_800.0, "minutes"),
        (252_000.0, 43_200.0, "hours"),
        (500_000.0, 86_400.0, "days"),
    ],
)
def test_times_are_in_the_largest_unit_in_which_the_ticks_are_whole(
    last: float, step: float, unit: str
) -> None:
    ticks = tuple((at * step, 5) for at in range(int(last / step) + 1))
    only = curve(points=(), last=last, at_risk=ticks, censored=())
    found = figures(operations(endpoint(curves=(only,))))
    assert f"{unit} since the blocker was raised" in texts(found["blocker_recovery"])


def test_both_axes_say_what_they_measure() -> None:
    figure = figures(operations(recovery()))["blocker_recovery"]
    assert "hours since the blocker was raised" in texts(figure)
    assert texts(figure).count("share") == 2
    with axes_of(operations(recovery()), "blocker_recovery") as axes:
        for one in axes:
            assert [tick.get_text() for tick in one.get_yticklabels()] == [
                *("0", "0.25", "0.5", "0.75", "1")
            ]


def test_with_delayed_entry_a_curve_begins_at_its_start_and_says_what_is_given() -> None:
    late = curve(start=1.5 * HOUR, at_risk=((1.5 * HOUR, 12), (6 * HOUR, 10)))
    found = operations(endpoint(curves=(late,)))
    with axes_of(found, "blocker_recovery") as (only,):
        (line,) = (line for line in only.lines if line.get_drawstyle() == "steps-post")
        assert tuple(line.get_xydata()[0]) == (1.5, 1)
        assert only.get_xlim()[0] == 1.5
    figure = figures(found)["blocker_recovery"]
    assert "Given still waiting at 1.5 h." in " ".join(texts(figure))
    assert "Given still waiting at 1.5 h." in figure.alt


def test_a_late_group_says_in_its_label_what_is_given() -> None:
    comparison = compared("a", start=1.5 * HOUR, at_risk=((1.5 * HOUR, 12),))
    figure = figures(operations(recovery(), comparison=comparison))["compare-blocker_recovery"]
    assert "a, given still waiting at 1.5 h" in texts(figure)


# Shares


def test_a_share_that_is_not_known_is_listed_with_the_reason_and_has_no_mark() -> None:
    why = Unknown("3 of 40 unavailable (receipts were lost)")
    found = operations(
        shares(share("known", 0.25, Interval(0.1, 0.4)), share("lost", why, why, unavailable=3))
    )
    figure = figures(found)["shares"]
    said = " ".join(texts(figure)).replace("\u00a0", " ")
    assert "25.0 % (10.0 to 40.0 %); n = 40" in said
    assert "unknown: 3 of 40 unavailable (receipts were lost); n = 37 of 40" in said
    with axes_of(found, "shares") as (axes,):
        marks = [line for line in axes.lines if line.get_marker() == "o"]
        ends = [[*line.get_xdata()] for line in axes.lines if line.get_linewidth() > 2]
    assert [[*mark.get_xdata()] for mark in marks] == [[0.25]]
    assert ends == [[0.1, 0.4]]


def test_a_share_without_an_interval_is_a_hollow_mark() -> None:
    found = operations(shares(share("one cluster", 0.5, Unknown("one cluster shows nothing"))))
    with axes_of(found, "shares") as (axes,):
        (mark,) = (line for line in axes.lines if line.get_marker() == "o")
    assert mark.get_markerfacecolor() == "#FFFFFF"


def test_bounds_alone_are_a_dashed_line_without_a_mark() -> None:
    found = operations(shares(share("bounded", Unknown("lost"), Interval(0.2, 0.7))))
    with axes_of(found, "shares") as (axes,):
        assert not [line for line in axes.lines if line.get_marker() == "o"]
        (bounds,) = (line for line in axes.lines if line.get_linewidth() > 2)
    assert [*bounds.get_xdata()] == [0.2, 0.7]
    assert bounds.get_linestyle() == "--"


# In words


def test_the_text_alternative_says_heights_medians_and_numbers_at_risk() -> None:
    alt = figures(operations(recovery()))["blocker_recovery"].alt
    assert "Still blocked: 100.0 % at 0 s, 50.0 % at 6 h, 25.0 % (10.0 to 45.0 %) at 12 h," in alt
    assert "recovered: 0.0 % at 0 s, 15.0 % (4.0 to 35.0 %) at 6 h" in alt
    assert "Median time to recovery: 5 h (4 to 8 h)." in alt
    assert f"{AT_RISK}: 20 at 0 s, 10 at 6 h, 4 at 12 h, 1 at 18 h." in alt
    assert "2 censored" in alt


def test_a_comparison_says_each_group_and_that_it_is_not_causal() -> None:
    found = operations(recovery(), comparison=compared("north", "south"))
    figure = figures(found)["compare-blocker_recovery"]
    assert "Still blocked, south: 100.0 % at 0 s" in figure.alt
    assert "Median time to recovery of north: 5 h (4 to 8 h)." in figure.alt
    assert "Not causal: the groups were not assigned." in " ".join(texts(figure))
    assert figure.title == "Blocker recovery, by lane"


def test_many_groups_are_drawn_without_bands_and_it_is_said() -> None:
    found = operations(recovery(), comparison=compared("a", "b", "c", "d"))
    with axes_of(found, "compare-blocker_recovery") as axes:
        assert [len(one.collections) for one in axes] == [0, 0]
    alt = figures(found)["compare-blocker_recovery"].alt
    assert "More than 3 groups are drawn without bands." in alt
    assert "Shaded" not in alt


# Bytes that a page can take in


@pytest.fixture(scope="module")
def everything() -> dict[str, Figure]:
    known = share("made up", 0.5, Interval(0.4, 0.6))
    return figures(operations(recovery(), shares(known), comparison=compared(*HOSTILE)))


def test_a_drawing_is_an_image_with_a_title_and_a_description(
    everything: dict[str, Figure],
) -> None:
    for figure in everything.values():
        root = parsed(figure)
        title, desc = root[0], root[1]
        assert (title.tag, desc.tag) == (f"{SVG}title", f"{SVG}desc")
        assert (title.text, desc.text) == (figure.title, figure.alt)
        assert root.get("role") == "img"
        assert root.get("aria-labelledby") == f"{title.get('id')} {desc.get('id')}"


def test_no_id_of_one_figure_is_that_of_another_and_every_reference_finds_its_own(
    everything: dict[str, Figure],
) -> None:
    ids = [
        node.get("id") for f in everything.values() for node in parsed(f).iter() if node.get("id")
    ]
    assert len(ids) == len(set(ids))
    for name, figure in everything.items():
        own = {node.get("id") for node in parsed(figure).iter()}
        written = figure.svg.decode()
        referred = re.findall(r'(?:url\(|href=")#([^)"]+)', written)
        assert referred
        assert {*referred} <= own
        assert all(id.startswith(f"study-{name}-") for id in own if id)


def test_a_drawing_runs_nothing_fetches_nothing_and_styles_nothing_around_it(
    everything: dict[str, Figure],
) -> None:
    for figure in everything.values():
        root = parsed(figure)
        tags = {etree.QName(node).localname for node in root.iter()}
        assert not tags & {"script", "foreignObject", "style", "image", "metadata", "a"}
        attributes = [(key, value) for node in root.iter() for key, value in node.attrib.items()]
        assert not [key for key, _ in attributes if key.startswith("on") or key == "style"]
        assert all(value.startswith("#") for key, value in attributes if key.endswith("href"))
        assert not [value for _, value in attributes if "://" in value]
        assert b"<!DOCTYPE" not in figure.svg


def test_the_page_chooses_the_size_and_the_ground_is_white(everything: dict[str, Figure]) -> None:
    for figure in everything.values():
        root = parsed(figure)
        left, top, width, height = map(float, root.get("viewBox").split())
        assert (left, top, width, root.get("width"), root.get("height")) == (
            *(0, 0, WIDTH, "100%", None),
        )
        ground = next(root.iter(f"{SVG}path"))
        assert ground.get("fill") == "#ffffff"
        corners = {
            tuple(map(float, at)) for at in re.findall(r"([\d.]+) ([\d.]+)", ground.get("d"))
        }
        assert {(0, 0), (width, height)} <= corners


def test_text_is_text_in_a_font_that_every_reader_has_something_for(
    everything: dict[str, Figure],
) -> None:
    for figure in everything.values():
        families = {node.get("font-family") for node in parsed(figure).iter(f"{SVG}text")}
        assert families == {"'DejaVu Sans', Verdana, sans-serif"}
        sizes = {float(node.get("font-size")[:-2]) for node in parsed(figure).iter(f"{SVG}text")}
        assert min(sizes) >= 9  # in a drawing as wide as a narrow telephone


def test_the_same_results_are_the_same_bytes() -> None:
    found = operations(recovery(), shares(share("all", 0.5, Interval(0.4, 0.6))))
    assert figures(found) == figures(found)


def test_a_document_names_itself_and_no_moment(everything: dict[str, Figure]) -> None:
    for figure in everything.values():
        assert figure.pdf.startswith(b"%PDF-")
        assert b"CreationDate" not in figure.pdf
        assert b"/Creator (study)" in figure.pdf
        assert f"/Title ({figure.title})".encode() in figure.pdf


def test_the_settings_of_the_reader_neither_change_a_figure_nor_are_changed() -> None:
    import matplotlib

    found = operations(recovery())
    plain = figures(found)
    with matplotlib.rc_context({"axes.facecolor": "black", "text.parse_math": True}):
        assert figures(found) == plain
        assert matplotlib.rcParams["axes.facecolor"] == "black"
        assert matplotlib.rcParams["text.parse_math"] is True


# Names from anybody


def test_hostile_names_are_drawn_as_they_are_written_visible_and_cut(
    everything: dict[str, Figure],
) -> None:
    figure = everything["compare-blocker_recovery"]
    written = texts(figure)
    assert "$x_{" in written
    assert "<script>alert(1)</script>" in written
    assert r"\u202egnp.exe" in written
    assert "\u202e" not in figure.svg.decode() + figure.alt
    assert not [text for text in written if "W" * 41 in text]
    assert b"<script" not in figure.svg


def test_no_text_from_results_is_wider_than_the_sheet() -> None:
    wide = "W" * 300
    found = operations(
        endpoint(title=wide, curves=(curve(label=wide),)),
        shares(share(wide, Unknown(wide), Unknown(wide))),
        comparison=compared(*HOSTILE, start=HOUR),
    )
    for _, plan, _ in plans(found):
        with styled():
            sheet = drawn(plan)
            sheet.set_dpi(10 * 72)  # fine enough that letters are as wide as in an SVG
            edges = [text.get_window_extent() for text in sheet.texts if text.get_text()]
        assert max(edge.x1 for edge in edges) <= 10 * WIDTH
        assert min(edge.y0 for edge in edges) >= 0


def test_a_text_that_fits_is_left_alone_and_another_ends_in_a_mark_of_it() -> None:
    with styled():
        assert fitting("planning", 9.0, "normal", 300.0) == "planning"
        cut = fitting("W" * 60, 9.0, "normal", 100.0)
        assert fitting(cut, 9.0, "normal", 100.0) == cut
    assert re.fullmatch(r"W{8,14}…", cut)


# Colours and dashes


def luminance(colour: str) -> float:
    """WCAG's relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colour", PALETTE)
def test_every_line_stands_out_from_white(colour: str) -> None:
    assert 1.05 / (luminance(colour) + 0.05) >= 3


def test_words_stand_out_more() -> None:
    assert 1.05 / (luminance(INK) + 0.05) >= 7


def test_no_two_of_twenty_lines_look_alike_and_neighbours_differ_without_colour() -> None:
    looks = [look(index) for index in range(20)]
    assert len({(one.colour, one.dashes) for one in looks}) == len(PALETTE) * len(DASHES) == 20
    assert all(one.dashes != other.dashes for one, other in pairwise(looks))


# Many points


def long_curve(points: int, shows: str = "waiting") -> Curve:
    falls = shows == "waiting"
    made = tuple(
        CurvePoint(
            HOUR * at / 100,
            points - at,
            1,
            1 - at / points if falls else at / points / 4,
            Interval(max(0, 0.9 - at / points), min(1, 1.02 - at / points)),
        )
        for at in range(1, points)
    )
    return curve(shows, made, last=HOUR * points / 100, censored=tuple(p.time for p in made))


def test_a_curve_of_few_points_keeps_them_all() -> None:
    assert thinned(long_curve(500), columns_for(4)) == long_curve(500).points


def test_a_thinned_curve_is_nowhere_off_by_more_than_a_column() -> None:
    whole = long_curve(20_000)
    columns = columns_for(4)
    kept = thinned(whole, columns)
    assert len(kept) <= 2 * columns + 2
    assert {kept[0], kept[-1]} == {whole.points[0], whole.points[-1]}
    sparse = curve(points=tuple(kept), last=whole.last)
    off = max(abs(height_at(sparse, p.time) - p.value) for p in whole.points)
    assert off <= 1.01 / columns
    assert steps(whole, kept)[0][-1] == whole.last


def test_a_drawing_of_very_many_points_stays_small() -> None:
    causes = [long_curve(20_000, shows) for shows in ("recovered", "cancelled", "completed")]
    found = operations(endpoint(curves=(long_curve(20_000), *causes)))
    assert len(figures(found)["blocker_recovery"].svg) < 300_000


def test_a_curve_of_no_length_is_drawn() -> None:
    at_once = curve(points=(), last=0.0, at_risk=((0.0, 3),), censored=(0.0, 0.0, 0.0))
    figure = figures(operations(endpoint(curves=(at_once,))))["blocker_recovery"]
    assert [number for _, number in table(figure)[0]] == ["3"]


def test_a_plan_of_times_tells_every_tick_of_its_curve() -> None:
    ((_, plan, _),) = plans(operations(recovery()))
    assert isinstance(plan, Times)
    assert plan.ticks == (0.0, 6 * HOUR, 12 * HOUR, 18 * HOUR)
