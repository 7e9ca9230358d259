"""The report says every number of the record, with its interval, its count and its reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.util import find_spec
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("jinja2", reason="the study extra is not installed")

from msgspec import structs

from study import report, report_page, words
from study.estimates import BadInput, Interval, Record, Unknown
from study.receipts import REQUIRED
from study.result import (
    NO_REGISTER,
    Comparison,
    Contrast,
    Denominator,
    Endpoint,
    Estimate,
    FileRead,
    LogRead,
    Loss,
    Operations,
    Refused,
    RegisterFlow,
)
from study.rows import SpellRow

HOUR: Final = 3600.0
DAY: Final = 24 * HOUR
NOT_CAUSAL: Final = "Not causal: who was in which group was not assigned."
MARKUP: Final = "<script>alert(1)</script><img src=x onerror=alert(2)>"
HOSTILE: Final = (
    MARKUP,
    "# heading",
    "| cell | cell |",
    "`code` and ``more``",
    "[text](https://example.org) ![image](x.png)",
    "https://example.org/a www.example.org someone@example.org <https://example.org>",
    "**bold** _slanted_ ~~struck~~ $x^2$",
    "line\nbreak\n\n# heading\r\n- item",
    "&lt;b&gt; &amp; &#42;",
    "- item",
    "1. item",
    "--- ",
    "\\*backslash\\* \\[x](y)",
    "\u202egnp.exe\u2066 \u200b\x1b[31m\x07\x9b",
    "</td></table></details><h1>title</h1>",
    '" onmouseover="alert(1)',
    "{{ 7*7 }} {% raw %} ${7*7}",
    "]]> --> <!-- <![CDATA[",
)


class Drawn(Record, frozen=True):
    """A stand-in for what draws the figures."""

    svg: bytes
    alt: str
    title: str


SVG: Final = b"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg"
 width="460.8pt" height="200pt" viewBox="0 0 460.8 200" version="1.1">
 <metadata><a href="https://example.org">x</a></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style>
 <clipPath id="p1"><rect x="0" y="0" width="460" height="200"/></clipPath></defs>
 <script>alert(3)</script>
 <g id="axes_1" onclick="alert(4)" clip-path="url(#p1)">
  <path id="line" d="M 20 20 L 120 20 L 120 80 L 300 80 L 300 150 L 440 150" fill="none"
   stroke="#1d5f86" stroke-width="2"/>
  <use xlink:href="#line" x="4"/><image xlink:href="https://example.org/x.png"/>
  <rect fill="url(https://example.org/y.svg#z)" width="1" height="1"/>
  <text x="20" y="190">waiting &lt;b&gt;</text>
 </g>
</svg>"""


def counts(eligible: int = 41, unit: str = "episode", **changed: object) -> Denominator:
    """A denominator of `eligible` observed subjects, or as changed."""
    empty = Denominator(
        unit=unit,
        eligible=eligible,
        observed=eligible,
        censored=0,
        competing={},
        excluded={},
        unavailable={},
        items=30,
        omitted=NO_REGISTER,
    )
    return structs.replace(empty, **changed)


RECOVERY_COUNTS: Final = counts(
    observed=25,
    censored=6,
    competing={"cancelled": 8, "cancelled_with_work": 2},
    excluded={"ended before the window": 2, "not covered by the rules": 1},
)


def estimate(
    name: str, value: float | Unknown, interval: Interval | Unknown, **more: object
) -> Estimate:
    """An estimate of recovery, in seconds, or as changed."""
    usual = Estimate(
        endpoint="blocker_recovery",
        name=name,
        unit="seconds",
        value=value,
        interval=interval,
        method="Kaplan-Meier",
        denominator=RECOVERY_COUNTS,
    )
    return structs.replace(usual, **more)


def recovery(**changed: object) -> Endpoint:
    """Recovery of blockers: a median, a restricted mean, a share with a count of its own."""
    usual = Endpoint(
        id="blocker_recovery",
        title="Recovery of blockers",
        kind="time to event",
        definition="From the first report of a blocker until there is evidence that it is gone.",
        method="Aalen-Johansen; open blockers are censored at the cutoff.",
        denominator=RECOVERY_COUNTS,
        estimates=(
            estimate("median time to recovery", 3.2 * HOUR, Interval(2.1 * HOUR, 5 * HOUR)),
            estimate("restricted mean", 47 * 60.0, Interval(40 * 60.0, 54.5 * 60), at=4 * HOUR),
            estimate(
                "still waiting",
                0.3517,
                Interval(0.2046, 0.5138),
                unit="share",
                at=DAY,
                denominator=counts(39, observed=33, censored=6),
            ),
            estimate("upper quartile", Unknown("not reached"), Unknown("not reached")),
        ),
        rows=(row("B1"), row("B2")),
        notes=("One item has 9 of the 41 episodes.",),
    )
    return structs.replace(usual, **changed)


def row(event: str) -> SpellRow:
    return SpellRow(log="a.jsonl", work_id="W1", role="observed", basis="utc", event_id=event)


COST_COUNTS: Final = counts(12, "work item", items=12)


def cost(currency: str = "EUR") -> Endpoint:
    """Cost of work items, of which one component was never recorded."""
    lost = counts(12, "work item", observed=0, items=12, unavailable={"never recorded for it": 12})
    return Endpoint(
        id="cost",
        title="Cost of work items",
        kind="mean",
        definition="What is recorded of each assigned item, zeros and failures included.",
        method="Mean; bootstrap of work items.",
        denominator=COST_COUNTS,
        estimates=(
            _cost("events", "events", 12.25, Interval(8.5, 17.125), COST_COUNTS),
            _cost("amount", currency, 3.5, Unknown("one cluster shows nothing"), COST_COUNTS),
            _cost("tokens", "tokens", Unknown("never recorded"), Interval(0.0, 90.5), lost),
        ),
        rows=(),
    )


def _cost(
    name: str, unit: str, value: float | Unknown, interval: Interval | Unknown, of: Denominator
) -> Estimate:
    return Estimate(
        endpoint="cost",
        name=name,
        unit=unit,
        value=value,
        interval=interval,
        method="mean",
        denominator=of,
    )


def comparison(**changed: object) -> Comparison:
    """Recovery in two lanes, and their difference."""
    lanes = [
        estimate(
            "restricted mean",
            minutes * 60.0,
            Interval((minutes - 5) * 60.0, (minutes + 6) * 60.0),
            at=4 * HOUR,
            group=lane,
            denominator=counts(number),
        )
        for lane, minutes, number in (("east", 41, 20), ("west", 53, 21))
    ]
    differs = Contrast(
        endpoint="blocker_recovery",
        name="restricted mean",
        unit="seconds",
        group="west",
        reference="east",
        difference=720.0,
        interval=Interval(-120.0, 1560.0),
        method="normal",
        at=4 * HOUR,
    )
    share = structs.replace(
        differs, name="still waiting", unit="share", difference=-0.125, interval=Unknown("one item")
    )
    usual = Comparison(
        by="lane",
        groups=("east", "west"),
        causal=NOT_CAUSAL,
        assigned=False,
        left_out={"no lane": 3},
        estimates=tuple(lanes),
        contrasts=(differs, share),
        curves=(),
    )
    return structs.replace(usual, **changed)


def log(name: str = "a.jsonl", **changed: object) -> LogRead:
    usual = LogRead(
        name=name,
        sha256="ab12cd34ef56" + "0" * 52,
        admitted=973,
        visible=951,
        gaps=4,
        items=30,
        undetermined=7,
        observed="2026-01-02T03:04:05Z",
        flags=("no_origin",),
        losses=(Loss(name="receipts", why="the source keeps none"),),
    )
    return structs.replace(usual, **changed)


def operations(**changed: object) -> Operations:
    """Two endpoints of one log, compared by lane, without a register."""
    usual = Operations(
        rules="coordination/2",
        digest="sha256:" + "9f" * 32,
        version="0.7.0",
        cutoff="the end of each log",
        window=None,
        logs=(log(),),
        refused=(Refused(name="b.jsonl", why="line 3: not JSON"),),
        register=NO_REGISTER,
        files={"access": FileRead(name="access.csv", sha256="c0ffee" * 11, rows=17)},
        endpoints=(recovery(), cost()),
        comparison=comparison(),
        notes=("Blank lines were skipped.",),
    )
    return structs.replace(usual, **changed)


FIGURES: Final = {
    "blocker_recovery": Drawn(SVG, "A curve that falls to 0.35 in 24 h.", "Waiting by hours"),
    "compare-blocker_recovery": Drawn(SVG, "Two curves, of which west is higher.", "By lane"),
    "shares": Drawn(SVG, "Still waiting: 35.2 %.", "Shares, with their intervals"),
}


def as_text(record: Operations) -> str:
    return report.text(record)


def as_markdown(record: Operations) -> str:
    return report.markdown(record, FIGURES)


def as_html(record: Operations) -> str:
    return report.html(record, FIGURES)


OUTPUTS: Final = (as_text, as_markdown, as_html)
every_output = pytest.mark.parametrize("output", OUTPUTS)
Output = Callable[[Operations], str]


class Parsed(HTMLParser):
    """Tags with their attributes, text, cells by row, and headings of a page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[tuple[str, str]] = []
        self.unbalanced: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unbalanced.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append((self.open[-1] if self.open else "", data))

    def values(self, tag: str, attribute: str) -> list[str | None]:
        return [attributes.get(attribute) for name, attributes in self.tags if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(data for within, data in self.words if within != "style").split())


def rendered(markdown: str) -> str:
    """As HTML with tables, strikethrough and, where it is installed, links made of addresses."""
    markdown_it = pytest.importorskip("markdown_it", reason="no renderer of Markdown is installed")
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    if find_spec("linkify_it") is None:
        return str(parser.render(markdown))
    parser.options["linkify"] = True
    return str(parser.enable("linkify").render(markdown))


def plain(output: Output, found: str) -> str:
    """What a reader reads, without the marks of the form, on one line."""
    if output is as_html:
        return Parsed(found).text
    if output is as_markdown:
        return " ".join(re.sub(r"\\([^\w\s]|_)", r"\1", found).split())
    return " ".join(found.split())


# every number


@every_output
def test_every_estimate_is_in_every_output_with_its_interval(output: Output) -> None:
    found = plain(output, output(operations()))
    for said in (
        *("3.2 h", "2.1 to 5 h", "47 min", "40 to 54 min", "35.2 %", "20.5 to 51.4 %"),
        *("12.2 events", "8.50 to 17.1 events", "3.50 EUR", "0 to 90.5 tokens"),
        *("41 min", "36 to 47 min", "53 min", "48 to 59 min"),
        *("12 min", "-2 to 26 min", "-12.5 percentage points"),
    ):
        assert said in found
    for estimated in (*recovery().estimates, *cost().estimates, *comparison().estimates):
        assert estimated.name in found


def test_the_text_says_an_estimate_as_a_sentence_would() -> None:
    lines = report.text(operations(), 200).splitlines()
    assert "  median time to recovery 3.2 h (2.1 to 5 h)" in lines
    assert "  restricted mean up to 4 h: 47 min (40 to 54 min)" in lines
    assert "  still waiting at 1 d: 35.2 % (20.5 to 51.4 %)" in lines
    assert "  upper quartile unknown: not reached" in lines
    assert "  amount 3.50 EUR (interval unknown: one cluster shows nothing)" in lines
    assert "  tokens unknown: never recorded (bounds 0 to 90.5 tokens)" in lines


def test_the_text_says_the_denominator_in_one_line() -> None:
    lines = report.text(operations(), 400).splitlines()
    assert (
        "  eligible 41 episodes in 30 items: 25 observed, 6 censored, 10 competing (8 cancelled,"
        " 2 cancelled with the work); excluded 3 (2 ended before the window, 1 not covered by the"
        " rules); unavailable 0; omitted work: unavailable (no register)"
    ) in lines
    assert (
        "  still waiting at 1 d: eligible 39 episodes in 30 items: 33 observed, 6 censored,"
        " 0 competing; excluded 0; unavailable 0"
    ) in lines
    assert "  east: eligible 20 episodes" in "\n".join(line[2:] for line in lines)


def test_the_page_holds_each_number_exactly_as_the_record_has_it() -> None:
    exact = Counter(Parsed(as_html(operations())).values("data", "value"))
    estimates = (*recovery().estimates, *cost().estimates, *comparison().estimates)
    numbers = [(e.value, e.interval, e.at) for e in estimates]
    numbers += [(c.difference, c.interval, c.at) for c in comparison().contrasts]
    for value, interval, at in numbers:
        if not isinstance(value, Unknown):
            assert exact[repr(value)] >= 1
        if isinstance(interval, Interval):
            assert exact[f"{interval.low!r}/{interval.high!r}"] >= 1
        assert at is None or exact[repr(at)] >= 1


def test_the_page_has_a_row_for_every_denominator_that_differs() -> None:
    found = Parsed(as_html(operations())).text
    assert "this endpoint 41 25 6 10 (8 cancelled, 2 cancelled with the work) 0 3 (2 ended" in found
    assert "still waiting at 1 d 39 33 6 0" in found
    assert "tokens 12 0 12 (12 never recorded for it) 0 12 unavailable (no register)" in found
    assert "east 20 20" in found
    assert "west 21 21" in found


def test_estimates_of_one_denominator_share_its_row() -> None:
    own = counts(39)
    two = tuple(
        estimate("still waiting", 0.5, Interval(0.25, 0.75), unit="share", at=at, denominator=own)
        for at in (HOUR, DAY)
    )
    found = Parsed(as_html(operations(endpoints=(recovery(estimates=two),), comparison=None))).text
    assert "still waiting at 1 h; still waiting at 1 d 39 39" in found


@every_output
def test_another_level_than_the_others_is_said(output: Output) -> None:
    odd = estimate("median", HOUR, Interval(60.0, 2 * HOUR), level=0.9)
    record = operations(endpoints=(recovery(estimates=(*recovery().estimates, odd)),))
    assert "90 %" in plain(output, output(record))
    assert "90 %" not in plain(output, output(operations()))


@every_output
def test_what_is_unknown_says_why(output: Output) -> None:
    found = plain(output, output(operations()))
    for reason in ("not reached", "one cluster shows nothing", "never recorded", "one item"):
        assert f"unknown: {reason}" in found
    assert f"unavailable: {NO_REGISTER.reason}" in found


def test_no_cell_is_empty() -> None:
    bare = structs.replace(log(), flags=(), observed=None, losses=(Loss(name="x", why=""),))
    for record in (operations(), operations(logs=(bare,), files={}, notes=())):
        page = as_html(record)
        assert not re.search(r"<t[dh][^>]*>\s*(?:<(?:data|bdi)[^>]*>\s*</(?:data|bdi)>)?</t", page)
        assert "|  |" not in as_markdown(record)


@pytest.mark.parametrize("kept", [RECOVERY_COUNTS, counts(3, observed=2)])
def test_counts_that_do_not_add_up_are_refused(kept: Denominator) -> None:
    wrong = structs.replace(kept, eligible=kept.eligible + 1)
    odd = estimate("median", HOUR, Interval(60.0, 2 * HOUR), denominator=wrong)
    for record in (
        operations(endpoints=(recovery(denominator=wrong),)),
        operations(endpoints=(recovery(estimates=(odd,)),)),
        operations(comparison=comparison(estimates=(odd,))),
    ):
        for output in OUTPUTS:
            with pytest.raises(BadInput, match="parts of the denominator of"):
                output(record)


def test_a_number_that_is_none_is_refused() -> None:
    odd = estimate("median", float("nan"), Interval(60.0, 2 * HOUR))
    for output in OUTPUTS:
        with pytest.raises(BadInput, match="expected a finite one"):
            output(operations(endpoints=(recovery(estimates=(odd,)),)))


# what was read


@every_output
def test_identities_are_printed(output: Output) -> None:
    found = plain(output, output(operations()))
    for identity in (
        *("coordination/2", "sha256:" + "9f" * 32, "0.7.0", "the end of each log"),
        *("a.jsonl", "ab12cd34ef56", "973", "access.csv", "c0ffeec0ffee", "17"),
        *("b.jsonl", "line 3: not JSON", "Blank lines were skipped."),
    ):
        assert identity in found
    assert "ab12cd34ef560" not in found


@every_output
def test_the_flows_add_up(output: Output) -> None:
    register = RegisterFlow(
        due=32,
        recorded=30,
        omitted=("W31", "W32"),
        not_due={"due after the cutoff": 4},
        unregistered=("X1",),
        missing_events=(("W1", "E9"),),
    )
    found = plain(output, output(operations(register=register)))
    assert "2 given = 1 read + 1 refused" in found
    assert "32 due = 30 recorded + 2 omitted" in found
    assert "not due 4 (4 due after the cutoff); 1 recorded and not registered" in found
    if output is not as_text:
        assert "W31, W32" in found
        assert "E9" in found
    with pytest.raises(BadInput, match="register"):
        output(operations(register=structs.replace(register, recorded=29)))


@pytest.mark.parametrize("output", [as_markdown, as_html])
def test_the_documents_list_losses_and_required_fields(output: Output) -> None:
    found = plain(output, output(operations()))
    assert "the source keeps none" in found
    for receipt, fields in REQUIRED.items():
        assert receipt in found
        assert set(fields) <= set(re.findall(r"\w+", found))
    for line in report_page.NOT_SHOWN:
        assert line in found


# the comparison


def test_the_causal_warning_comes_first_and_is_bold() -> None:
    page = as_html(operations())
    assert re.search(rf"Comparison</h2>\s*<p[^>]*><strong>{re.escape(NOT_CAUSAL)}</strong>", page)
    markdown = as_markdown(operations())
    assert f"## Comparison\n\n**{NOT_CAUSAL}**\n" in markdown
    assert report.text(operations()).split("\n\n")[-1].startswith(NOT_CAUSAL)


@every_output
def test_the_comparison_names_its_groups_and_whom_it_leaves_out(output: Output) -> None:
    found = plain(output, output(operations()))
    assert "Compared by lane: east, west. Left out: 3 no lane." in found
    assert "west less east" in found


@every_output
def test_without_a_comparison_nothing_is_said_of_causes(output: Output) -> None:
    found = plain(output, output(operations(comparison=None)))
    assert "causal" not in found
    assert "Compared" not in found


# the page


def test_headings_descend_one_level_at_a_time() -> None:
    page = Parsed(as_html(operations()))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_every_table_has_a_caption_and_every_header_a_scope() -> None:
    page = Parsed(as_html(operations()))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("table") == tags.count("caption") > 8
    assert all(tags[at + 1] == "caption" for at, tag in enumerate(tags) if tag == "table")
    assert set(page.values("th", "scope")) == {"col", "row"}
    boxes = [a for tag, a in page.tags if tag == "div" and a.get("class") in ("box", "drawing")]
    assert all(a["role"] == "region" and a["aria-label"] and a["tabindex"] == "0" for a in boxes)


def test_rows_have_as_many_cells_as_their_table_has_columns() -> None:
    for found in re.findall(r"<table>.*?</table>", as_html(operations()), re.DOTALL):
        width = {len(re.findall("<t[hd][ >]", line)) for line in found.split("<tr>")[1:]}
        assert len(width) == 1
    for block in re.findall(r"(?:^\|.*\n)+", as_markdown(operations()), re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1


def test_the_page_is_one_file_that_runs_and_fetches_nothing() -> None:
    source = as_html(operations())
    page = Parsed(source)
    assert ("html", {"lang": "en"}) in page.tags
    [policy] = [a["content"] for tag, a in page.tags if "http-equiv" in a]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert not {"script", "link", "iframe", "object", "base", "form"} & {t for t, _ in page.tags}
    links = [a[at] for _, a in page.tags for at in ("href", "src", "xlink:href") if at in a]
    assert all(link and link.startswith(("#", "rows/")) for link in links)
    assert not any(name.startswith("on") for _, a in page.tags for name in a)
    assert "example.org" not in source
    assert page.unbalanced == []
    assert page.open == []


def test_links_lead_to_a_section_or_to_the_rows() -> None:
    page = Parsed(as_html(operations()))
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    inside = [a["href"] for tag, a in page.tags if tag == "a"]
    assert {"rows/blocker_recovery.csv", "rows/cost.csv", "#cost", "#comparison"} <= set(inside)
    assert {link[1:] for link in inside if link and link.startswith("#")} <= set(ids)


def test_a_figure_keeps_its_drawing_and_is_told_in_words() -> None:
    page = Parsed(as_html(operations()))
    assert page.values("svg", "aria-label") == [
        "Waiting by hours",
        "Shares, with their intervals",
        "By lane",
    ]
    assert page.values("svg", "style") == ["stroke-linejoin: round; stroke-linecap: butt"] * 3
    assert page.values("g", "clip-path")[0] == "url(#blocker_recovery-p1)"
    assert page.values("use", "href")[0] == "#blocker_recovery-line"
    assert "waiting <b>" in page.text
    for figure in FIGURES.values():
        assert f"The figure in words {figure.alt}" in page.text
    assert [tag for tag, _ in page.tags].count("figcaption") == 3
    markdown = as_markdown(operations())
    assert "![A curve that falls to 0.35 in 24 h.](figures/blocker_recovery.svg)" in markdown
    assert "](figures/compare-blocker_recovery.svg)" in markdown


@every_output
def test_the_same_record_gives_the_same_bytes(output: Output) -> None:
    assert output(operations()) == output(operations())


# hostile text


def hostile(text: str) -> Operations:
    """A record that has a text wherever a log, a register or an importer may put one."""
    named = estimate("median", HOUR, Interval(60.0, 2 * HOUR), group=text, denominator=lost(text))
    contrast = structs.replace(comparison().contrasts[0], group=text, reference=text)
    return operations(
        logs=(log(text, losses=(Loss(name=text, why=text),), flags=(text,), observed=text),),
        refused=(Refused(name=text, why=text),),
        files={text: FileRead(name=text, sha256=text, rows=1)},
        register=RegisterFlow(
            due=1,
            recorded=0,
            omitted=(text,),
            not_due={text: 1},
            unregistered=(text,),
            missing_events=((text, text),),
        ),
        window=text,
        cutoff=text,
        notes=(text,),
        endpoints=(recovery(notes=(text,), estimates=(named,)), cost(text)),
        comparison=comparison(
            by=text,
            groups=(text,),
            left_out={text: 1},
            causal=text,
            estimates=(named,),
            contrasts=(contrast,),
        ),
    )


def lost(text: str) -> Denominator:
    return counts(2, observed=1, unavailable={text: 1}, excluded={text: 4}, omitted=Unknown(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_tag_to_the_page(text: str) -> None:
    found = Parsed(as_html(hostile(text)))
    harmless = Parsed(as_html(hostile("plain")))
    shape = [(tag, sorted(attributes)) for tag, attributes in found.tags if tag != "bdi"]
    assert shape == [(tag, sorted(a)) for tag, a in harmless.tags if tag != "bdi"]
    assert words.name(text) in "".join(data for _, data in found.words)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_markup_to_the_markdown(text: str) -> None:
    found = Parsed(rendered(as_markdown(hostile(text))))
    harmless = Parsed(rendered(as_markdown(hostile("plain"))))
    assert [t for t, _ in found.tags] == [t for t, _ in harmless.tags]
    links = [[a.get("href"), a.get("src")] for _, a in found.tags]
    assert links == [[a.get("href"), a.get("src")] for _, a in harmless.tags]
    shown = words.name(text).replace("@", "\\x40")
    assert shown in "".join(data for _, data in found.words)


@given(
    st.text(st.sampled_from("#-+=*_`~|[]()<>!&;:/.@\\ \n1aw.wx\u05d0\"'"), min_size=1, max_size=24)
)
def test_whatever_is_written_is_only_text_in_markdown(text: str) -> None:
    inside = report.escaped(words.shown(text))
    document = f"{inside}\n\n- {inside}\n\n| head |\n| --- |\n| {inside} |\n\n**{inside}**\n"
    tags = {tag for tag, _ in Parsed(rendered(document)).tags}
    assert tags <= {"p", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "strong"}


@pytest.mark.parametrize("text", HOSTILE)
@every_output
def test_no_output_holds_a_character_that_hides_or_moves(output: Output, text: str) -> None:
    found = output(hostile(text))
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]", found
    )


@every_output
def test_a_long_name_is_cut_and_says_by_how_much(output: Output) -> None:
    found = plain(output, output(operations(logs=(log("W" * 500),))))
    cut = re.search(r"(W+)…\+(\d+)#[0-9a-f]{6}", found)
    assert cut
    assert len(cut[1]) + int(cut[2]) == 500
    assert len(cut[0]) <= words.MAX_NAME


ALIKE: Final = (
    ("a\u202eb", r"a\u202eb"),
    ("a\u202eb", r"a\\u202eb"),
    ("a", "a "),
    ("\u00e9", "e\u0301"),
    ("\\n", "\n"),
    ("W" * 99, "W" * 98 + "V"),
)


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_two_names_never_print_alike(one: str, other: str) -> None:
    assert words.name(one) != words.name(other)


def test_lines_of_text_keep_to_the_width() -> None:
    assert max(map(len, report.text(operations(), 80).splitlines())) <= 80
    assert "\x1b" not in report.text(operations())


# words


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 s"),
        (420, "7 min"),
        (11520, "3.2 h"),
        (181440, "2.1 d"),
        (5 * HOUR, "5 h"),
        (17900, "5.0 h"),
        (3599.9, "1.0 h"),
        (5400, "1.5 h"),
        (-5400, "-1.5 h"),
        (35900, "10 h"),
        (123.4 * DAY, "123 d"),
        (0.25, "250 ms"),
        (1e-9, "1 ns"),
    ],
)
def test_a_duration_has_two_digits_and_none_to_spare_where_it_is_whole(
    seconds: float, said: str
) -> None:
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0.0 %"), (1.0, "100.0 %"), (0.125, "12.5 %"), (2e-4, "<0.1 %"), (0.9999, ">99.9 %")],
)
def test_a_share_is_not_rounded_to_none_or_all(share: float, said: str) -> None:
    assert words.quantity(share, "share") == said


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (12.0, "12 events"),
        (1234.56, "1235 events"),
        (12.34, "12.3 events"),
        (0.1234, "0.123 events"),
    ],
)
def test_a_mean_keeps_three_digits(number: float, said: str) -> None:
    assert words.quantity(number, "events") == said


def test_nouns_are_counted() -> None:
    said = [words.counted(2, noun) for noun in ("stretch", "entry", "field of a receipt", "day")]
    assert said == ["2 stretches", "2 entries", "2 fields of a receipt", "2 days"]
    assert words.counted(0, "log") == "0 logs"
    assert words.counted(1, "stretch") == "1 stretch"
