"""Every page of guides of every size is read: nothing overflows, overlaps, is torn apart, empty or unresolved."""

import dataclasses
import multiprocessing
import os
import subprocess
import sys

import pytest

from tests.guides import layout
from tests.guides.cases import READ, Document, grouped, laid_out, make_pdf
from tests.guides.laid_out import words_of
from tests.guides.sample import sound

pytestmark = pytest.mark.guides

SHOWN = 60
A4, US_LETTER = (595, 842), (612, 792)


@pytest.mark.parametrize("document", [grouped(one.case, one) for one in READ])
def test_every_page_holds(document: Document) -> None:
    guide = laid_out(document)
    findings = [f"{finding} [{name}]" for name, check in layout.CHECKS.items() for finding in check(guide)]
    sizes = {tuple(sorted((round(page.width), round(page.height)))) for page in guide.pages}
    if sizes != {US_LETTER if document.profile.paper == "letter" else A4}:
        findings.append(f"pages are of {sizes} points")
    if findings:
        pytest.fail("\n".join([f"{len(findings)} findings in {document}:", *findings[:SHOWN]]), pytrace=False)


# --- the same input, the same guide

HASHED = """
from tests.guides.cases import Document, make_pdf
from tests.guides.laid_out import words_of
document = Document({case!r}, "guide")
for page in words_of(make_pdf(document)):
    print(" ".join(word.text for word in page))
"""


@pytest.mark.parametrize("case", [grouped("small-team"), grouped("two-workloads")])
def test_the_same_input_makes_the_same_pages(case: str) -> None:
    here = words_of(make_pdf(Document(case, "guide")))
    # Another process, whose sets and dictionaries come in another order.
    command = [sys.executable, "-c", HASHED.format(case=case)]
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": "."}
    there = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    assert there.returncode == 0, there.stderr
    assert [" ".join(word.text for word in page) for page in here] == there.stdout.splitlines()


# --- each check finds what it looks for

LONG_TABLE = "<tr><td>row</td><td>4\u202fkW</td></tr>" * 40
DOWN = '<div style="height: {}mm"></div>'
LAST = "<p>The last sentence of the page.</p>"
NEXT = '<p style="break-before: page">Another page.</p></body>'
BREAK = '<div style="break-before: page"></div>'

# What is planted: check, what is replaced by what, what the finding says.
FAULTS: dict[str, tuple[str, str, str, str]] = {
    "text outside": (
        "outside",
        LAST,
        '<p style="margin-left: 60mm; white-space: nowrap">' + "far " * 50 + "</p>",
        "far",
    ),
    "text cut": (
        "outside",
        LAST,
        '<p style="position: absolute; left: 183mm; white-space: nowrap">abcdefghi</p>',
        "cut by",
    ),
    "wide table": ("outside", LAST, '<table style="width: 180mm"><tr><td>x</td></tr></table>', "table None leaves"),
    "high drawing": ("outside", "height: 60mm }", "height: 60mm; margin-left: 20mm }", "drawing draw leaves"),
    "full cell": (
        "outside_cells",
        "<td>second</td>",
        f'<td style="white-space: nowrap">{"second " * 20}</td>',
        "leaves its cell",
    ),
    "cut label": ("outside_drawings", 'x="200" y="120"', 'x="370" y="120"', "“another” crosses the edge"),
    "label on label": ("overlaps", 'x="200" y="120"', 'x="20" y="123"', "overlap by"),
    "line on line": ("overlaps", LAST, f'<p style="margin-top: -8mm">{"lies on it " * 9}</p>', "overlap by"),
    "label on edge": ("crossed", 'x="200" y="120"', 'x="200" y="62"', "runs through “another” in draw"),
    "struck out": ("crossed", LAST, '<p style="text-decoration: line-through">The last one</p>', "runs through “last”"),
    "small print": (
        "too_small",
        'font-size="11" font-family="Inter">another one',
        'font-size="3" font-family="Inter">A 1',
        "draw has letters",
    ),
    "orphan": (
        "orphans",
        LAST,
        f"{DOWN.format(102)}<h2>Alone</h2>{BREAK}<p>Next page.</p>",
        "heading “Alone” stands at the foot",
    ),
    "caption above": (
        "orphans",
        "Rows</figcaption>",
        f"Rows</figcaption>{BREAK}",
        "caption of tab, which stands on page 2",
    ),
    "head alone": ("orphans", "<tbody>.*</tbody>", "", "head of table tab stands without a row"),
    "no head": (
        "orphans",
        "(<thead)(.*<tbody>)",
        rf'\1 style="display: table-row-group"\2{LONG_TABLE}',
        "goes on without its head",
    ),
    "last group": (
        "orphans",
        "</tbody>",
        '<tr class="group"><th colspan="2">group</th></tr></tbody>',
        "a subheading is the last row",
    ),
    "widow": ("single_lines", LAST, f"{DOWN.format(94)}<p>{'several words ' * 30}</p>", "one line of"),
    "empty page": ("empty", LAST, f"{LAST}{BREAK}<p>Nearly nothing.</p>", "page 2: only"),
    "dead link": ("references", 'href="#tab"', 'href="#tabula"', "leads to #tabula, which does not exist"),
    "gap": ("references", "Table 1. Rows", "Table 2. Rows", "captions of Table are numbered [2]"),
    "unknown table": ("references", LAST, "<p>See Table 7 for more.</p>", "Table 7 is mentioned and does not exist"),
    "wrong number": ("references", ">Figure 1</a>", ">Table 1</a>", "says Table 1 and leads to Figure 1"),
    "wrong page": (
        "references",
        "target-counter(attr(href), page)",
        '"3"',
        "one is said to stand on page 3, it is page 1",
    ),
    "wrong foot": ("references", r"counter\(pages\)(.*)</body>", rf'"9"\1{NEXT}', "its foot counts [(1, 9)]"),
    "no number": ("references", "Figure 1. Bars", "Bars", "drawing draw has no number"),
    "not mentioned": ("unmentioned", '<a href="#draw">Figure 1</a>(.*)</body>', rf"a figure\1{NEXT}", "(draw) is not"),
    "contents without pages": ("contents", "target-counter(attr(href), page)", "none", "tell no page of “Sizes”"),
    "not in contents": ("contents", LAST, "<h1>Weights</h1>", "the contents lack “Weights”"),
    "empty drawing": (
        "figures",
        "<rect x.*another one</text>",
        "<rect width='0' height='0'/>",
        "draw shows next to nothing",
    ),
    "white drawing": ("figures", 'fill="#\\w+"|<text.*</text>', 'fill="#fff"', "draw shows next to nothing"),
    "no spoken text": ("figures", "<title>Three.*?</title>", "", "draw has no spoken text"),
    "none": ("raw_text", "3\u202fkW", "None", "a raw value in td"),
    "infinite": ("raw_text", "3\u202fkW", "inf B/s", "a raw value in td"),
    "raw name": ("raw_text", "second", "power_w", "a raw name in td"),
    "raw label": ("raw_text", "another one", "rack_units", "a raw name in drawing draw"),
    "template": ("raw_text", LAST, "<p>It has {n} servers.</p>", "a template in p"),
    "unresolved": ("raw_text", LAST, "<p>As Figure 0 shows.</p>", "an unresolved reference in p"),
    "no unit": ("raw_text", "12.5\u202fGB", "0.0\u202f, or so", "a number without its unit in td"),
    "two spaces": ("raw_text", "12.5\u202fGB", "12.5 \u202fGB", "two spaces in td"),
    "stray sign": ("raw_text", LAST, "<p>Servers , racks.</p>", "a stray sign in p"),
    "escaped twice": ("raw_text", LAST, "<p>Racks &amp;amp; cables.</p>", "HTML in p"),
    "other family": (
        "fonts",
        LAST,
        "<p style=\"font-family: 'DejaVu Sans'\">Another family.</p>",
        "stands in for Inter",
    ),
    "missing letter": ("fonts", LAST, "<p>\u4e00\ue123</p>", ""),
    "no title": ("metadata", "<title>Sound</title>", "<title></title>", "the file is titled"),
    "no language": ("metadata", ' lang="en"', "", "the file is in language , the page in None"),
    "no bookmark": ("outline", "bookmark-level: 1", "bookmark-level: none", "bookmarks and chapters differ"),
}


def test_a_sound_page_has_no_finding() -> None:
    guide = sound()
    assert [finding for check in layout.CHECKS.values() for finding in check(guide)] == []
    # 25 mm from each edge of A4
    [page] = guide.pages
    assert dataclasses.astuple(page.area) == pytest.approx((70.87, 70.87, 524.41, 771.02), abs=0.01)


def _findings(check: str, pattern: str, planted: str) -> list[str]:
    return list(layout.CHECKS[check](sound(pattern, planted)))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str) -> None:
    check, pattern, planted, says = FAULTS[fault]
    if check == "fonts":  # fonts of hundreds of documents before could stand in for a letter
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            findings = pool.apply(_findings, (check, pattern, planted))
    else:
        findings = _findings(check, pattern, planted)
    assert any(says in finding for finding in findings), findings
