"""The guide: words, charts, drawings and pages. Golden text lies in tests/golden; a diff there is a changed answer."""

import dataclasses
import html
import re
import xml.etree.ElementTree as ET
from functools import cache
from html.parser import HTMLParser

import numpy as np
import pytest

from sizer.base.estimate import Estimate
from sizer.drawings.datapath import datapath
from sizer.drawings.palette import DARK, LIGHT
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology import topology
from sizer.guide.pdf import render
from sizer.guide.profile import Edition, Form, Profile
from sizer.present import charts, words, workload_charts
from sizer.present.charting import band_chart, chart_svg
from sizer.present.theme import contrast_ratio, css_variables
from sizer.sizing.result import STAGES
from tests import factories
from tests.drawings.test_drawings_plan import assert_inside
from tests.factories.examples import ROOT, catalog, sized

GOLDEN = ROOT / "tests" / "golden"


def plain(text: str) -> str:
    """Text with ordinary spaces."""
    return re.sub(r"[\u202f\u00a0]", " ", text)


# --- words


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "text"),
    [
        # LANGUAGE: at most three digits; the half-width to the place of the value, so that a figure reads alike with
        # its interval and alone: 68 600 beside 69 000 was one number.
        (68_580.0, 55_800.0, 76_600.0, "images/s", "68 600 images/s (55 800 to 76 600)"),
        (463_900.0, 366_000.0, 589_000.0, "tokens/s", "464 000 tokens/s (366 000 to 589 000)"),
        (52_000.0, 51_970.0, 52_030.0, "images/s", "52 000 images/s"),
        (52_273.61, 50_400.0, 54_200.0, "images/s", "52 300 ± 1 900 images/s"),
        (5.907e9, 5.70e9, 6.12e9, "B/s", "5.91 ± 0.21 GB/s"),
        (4.1 * 3600, 2.9 * 3600, 5.8 * 3600, "s", "4.10 h (2.90 to 5.80)"),
        (0.46, 0.42, 0.50, "%", "46.0 ± 4.0 %"),
        (2_940.0, 2_940.0, 2_940.0, "images/s", "2 940 images/s"),
        (9_996.0, 9_500.0, 10_500.0, "images/s", "10 000 ± 500 images/s"),
        (np.inf, np.inf, np.inf, "images/s", "not limited"),
        (0.0, 0.0, 0.0, "B/s", "0 B/s"),
    ],
)
def test_an_estimate_shows_no_more_digits_than_its_interval_supports(value, low, high, unit, text):
    got = plain(words.estimate(Estimate(np.array(value), np.array(low), np.array(high)), unit))
    assert got == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.97, "97 %"),
        (0.075, "7.5 %"),
        (0.9999, "over 99 %"),
        (1.0, "100 %"),
        (0.0, "0 %"),
        (0.03, "3 %"),
        (0.0004, "under 0.1 %"),
    ],
)
def test_a_share_reads_in_percent_and_near_certainty_is_not_certainty(share, text):
    assert plain(words.percent(share)) == text


# --- colours


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_and_mark_colours_stand_out(palette):
    for colour in (palette.ink, palette.muted, palette.accent, palette.other, *palette.stages.values()):
        assert contrast_ratio(colour, palette.background) >= 4.5  # WCAG AA for text


def test_one_palette_feeds_the_style_sheet():
    style = css_variables()
    assert set(LIGHT.stages) == set(STAGES)
    for key, colour in LIGHT.stages.items():
        assert f"--stage-{key}: {colour};" in style


# --- drawings and charts

RESULTS = sorted(factories.ALL)


def drawings(name: str) -> list[Drawing]:
    result = factories.ALL[name]()
    return [topology(result.design), *(datapath(result.design, one, "images/s") for one in result.design.workloads)]


@pytest.mark.parametrize("name", RESULTS)
def test_boxes_stand_apart_with_their_text_inside_and_links_have_ends(name):
    for drawing in drawings(name):
        assert_inside(drawing, name)


@pytest.mark.parametrize(("name", "palette"), [*((name, LIGHT) for name in RESULTS), ("nine_dgx1", DARK)])
def test_charts_are_valid_and_draw_with_a_spoken_title(name, palette):
    result = factories.ALL[name]()
    design = result.design
    made = [charts.pareto_chart(result, palette)]
    for answer in design.workloads:
        data = [charts.scaling_data(answer, design.n_gpus), workload_charts.accuracy_data(answer)]
        made += [band_chart(one, palette) for one in data]
    for chart in made:
        if chart is None:
            continue
        chart.to_dict()  # validates against the schema
        svg = chart_svg(chart)
        root = ET.fromstring(svg)
        assert root[0].tag.endswith("title")
        assert root[0].text
        assert "Gradient" not in svg.replace("Gradient exchange", "")  # invisible in Poppler
        assert "NaN" not in svg


# --- pages


class Text(HTMLParser):
    """Text of a page as a reader meets it; a line a block, drawings by their title."""

    BLOCKS = frozenset({"p", "h1", "h2", "h3", "tr", "li", "figcaption", "figure", "div", "title", "dl", "header"})

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.skipped = 0

    def handle_starttag(self, tag, attrs):
        if tag in ("style", "svg", "head"):
            self.skipped += 1
            label = dict(attrs).get("aria-label") if tag == "svg" else None
            if label:
                self.parts.append(f"\n[{label}]\n")
        elif not self.skipped:
            self.parts.append("\n" if tag in self.BLOCKS else " | " if tag in ("td", "th") else "")

    def handle_endtag(self, tag):
        if tag in ("style", "svg", "head"):
            self.skipped -= 1
        elif tag in self.BLOCKS and not self.skipped:
            self.parts.append("\n")

    def handle_data(self, data):
        if not self.skipped:
            self.parts.append(data.replace("\n", " "))


def text_of(page: str) -> str:
    """Lines of text of a page."""
    reader = Text()
    reader.feed(page)
    lines = (re.sub(r"[ \t]+", " ", plain(line)).strip(" ") for line in "".join(reader.parts).split("\n"))
    # Digests change with every note of the catalogue.
    lines = (re.sub(r"^(\| (?:Catalogue|Calibration) \| )[0-9a-f]{16}$", r"\1digest", line) for line in lines)
    return "\n".join(line for line in lines if line and line != "|") + "\n"


# A cluster on Ethernet, a cluster with local drives that only validates, and a team that needs no cluster.
EXAMPLES = ("dgx1-f800-resnet50", "apollo-googlenet-inference", "small-team")
# Every form of the last one, and the guide of each, whose text is stored; more in `make guides`.
EVERY_RUN = [*((name, "guide") for name in EXAMPLES), (EXAMPLES[-1], "engineer"), (EXAMPLES[-1], "summary")]
every_page = pytest.mark.parametrize(
    ("name", "form"),
    [
        (name, form) if (name, form) in EVERY_RUN else pytest.param(name, form, marks=pytest.mark.guides)
        for name in (*EXAMPLES, "hgx-b200-400gbe", "driving-two-tiers")
        for form in ("guide", "engineer", "summary")
    ],
)


@cache
def page(name: str, form: Form) -> str:
    """The guide of an example as a web page."""
    return render.guide_html(sized(name), catalog(), Edition(form))


@pytest.mark.parametrize("name", EXAMPLES)
def test_guide_reads_as_approved(name):
    got = text_of(page(name, "guide"))
    path = GOLDEN / f"guide-{name}.txt"
    if not path.exists():
        path.write_text(got, encoding="utf-8")
        pytest.fail(f"{path.name} was missing and is written now: read it before it is committed")
    assert got == path.read_text(encoding="utf-8"), f"read the diff; delete {path.name} and run again to approve it"


@every_page
def test_guide_needs_no_other_file(name, form):
    text = page(name, form)
    addresses = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')\s>]+)""", text)
    assert all(address.startswith(("#", "data:")) for address in addresses)
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {address[1:] for address in addresses if address.startswith("#")} <= set(ids)


@every_page
def test_every_citation_resolves_on_the_sources_page(name, form):
    html = page(name, form)
    if form == "summary":
        return  # one page, without sources
    start = html.index('id="sources"')
    rows = re.findall(r'<tr id="source-(\d+)">(.*?)</tr>', html[start:], re.DOTALL)
    cited = set(re.findall(r'href="#source-(\d+)"', html))
    assert cited <= {number for number, _ in rows}
    for number, row in rows:
        cells = [text_of(cell).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)]
        assert cells[0] == f"[{number}]"
        # Title, publisher and place, each ended by a point.
        assert cells[1].count(". ") >= 2, cells[1]
        assert re.search(r"(19|20)\d\d", cells[2]), cells
        # Grades are for those who know them.
        assert cells[3:] == [] if form == "guide" else cells[3] in ("A", "B", "C", "D")
        assert "not recorded" not in cells[1]
        assert not cells[1].startswith("Assumption")


def test_guide_of_a_hostile_customer_shows_the_text():
    result = sized("small-team")
    hostile = '<script>alert("x")</script><img src=file:///etc/passwd>'
    request = result.request.model_copy(update={"customer": hostile, "title": "{{ 7 * 7 }} & <b>"})
    branded = Profile(company=hostile, legal=hostile, contact=hostile, confidentiality="<script>")
    for form in ("guide", "summary"):
        text = render.guide_html(dataclasses.replace(result, request=request), catalog(), Edition(form, branded))
        assert "<script>" not in text
        assert "<img" not in text
        assert html.escape("<script>") in text
        assert "{{ 7 * 7 }} &amp; &lt;b&gt;" in text
