"""A page is the same for WeasyPrint, whichever way it was read."""

import re
from xml.etree.ElementTree import Element

import pytest

from sizer.base.errors import ReportError
from sizer.base.provenance import ASSUMPTION
from sizer.catalog.model import statements
from sizer.guide.pdf.render import guide_page
from sizer.guide.profile import Edition
from sizer.present.page import Citations
from tests.factories import examples
from tests.factories.examples import catalog
from tests.factories.rows import every
from tests.guide.engine import needs_engine

Node = tuple[str, dict[str, str], str, str]


def _nodes(root: Element) -> list[Node]:
    """Elements in their order with what stands in and behind them, without blanks in the head and around the body."""
    outside = {root, *root, *root[0], root[1][-1]}
    return [
        (node.tag, _attributes(node), node.text or "", "" if node in outside else node.tail or "")
        for node in root.iter()
        if node is not root and node is not root[0]
    ]


def _attributes(node: Element) -> dict[str, str]:
    """Attributes of an element; those that name a name space are some for HTML only."""
    return {name: value for name, value in node.attrib.items() if "/xmlns/" not in name}


@pytest.mark.guides
@pytest.mark.pdf
@pytest.mark.parametrize("form", ["guide", "engineer", "summary"])
@pytest.mark.parametrize("name", ["llama-70b-checkpoints", "questions/data-doubles-every-year"])
def test_pages_of_the_templates_are_well_formed_and_mean_the_same_as_html(name, form):
    needs_engine()
    import tinyhtml5

    from sizer.guide.pdf.typeset import PackagedOnly, Page

    text = guide_page(examples.sized(name), examples.catalog(), Edition(form))
    read, html = Page(text, PackagedOnly()), tinyhtml5.parse(text, namespace_html_elements=False)
    assert html.find("head/style").text != read.etree_element.find("head/style").text  # without rules for screens
    html.find("head/style").text = read.etree_element.find("head/style").text
    assert _nodes(read.etree_element) == _nodes(html)


@pytest.mark.pdf
def test_html_that_is_no_xml_and_drawings_without_a_name_space_are_read_as_in_a_browser():
    """HTML, 13.1.2: void elements need no end tag; 13.2.6.5: an svg element is one of SVG."""
    needs_engine()
    from sizer.guide.pdf.typeset import PackagedOnly, Page

    page = '<html><head></head><body><svg><rect width="1" height="1"/></svg>{}</body></html>'
    for body in ("<p>one<br>two</p>", "<p>one<br/>two</p>"):
        root = Page(page.format(body), PackagedOnly()).etree_element
        names = [node.tag.rpartition("}")[::2] for node in root.iter()]
        svg = "{http://www.w3.org/2000/svg"
        body_names = [("", "html"), ("", "head"), ("", "body"), (svg, "svg"), (svg, "rect"), ("", "p"), ("", "br")]
        assert names == body_names


@pytest.mark.pdf
def test_the_style_of_a_page_has_its_values_and_no_rules_for_screens():
    needs_engine()
    from sizer.guide.pdf.typeset import PackagedOnly, Page

    style = (
        ":root { --ink: #123456; } p { color: var(--ink); margin: var(--none) }"
        "@media screen { :root { --ink: red; } p { color: blue; } } i { color: var(--ink) }"
    )
    page = Page(f"<html><head><style>{style}</style></head><body/></html>", PackagedOnly())
    rules = page.etree_element.find("head/style").text.split("}")
    assert [rule.split("{")[1].strip() for rule in rules if "{" in rule][1:] == [
        "color: #123456; margin: var(--none)",
        "color: #123456",
    ]


@pytest.mark.pdf
def test_a_cover_and_a_summary_that_do_not_fit_are_set_closer_and_else_refused():
    """Twenty lines of 12 mm are 240 of 297 mm, and 160 mm at two thirds of their height; forty fit in neither."""
    needs_engine()
    from sizer.guide.pdf.typeset import page_pdf

    style = "@page { margin: 0; size: a4 } p { margin: 0; line-height: 12mm } .closer p { line-height: 8mm }"
    page = '<html><head><title>t</title><style>{}</style></head><body class="{}">{}</body></html>'
    cover = '<header class="cover" style="height: 297mm">{}</header><main><h1>After</h1></main>'
    for body, text in (("guide", cover), ("one-page", "{}")):
        for n_lines, fits in ((20, True), (30, True), (40, False)):
            made = page.format(style, body, text.format("<p>line</p>" * n_lines))
            if fits:
                assert page_pdf(made).startswith(b"%PDF")
                continue
            with pytest.raises(ReportError, match="shorten"):
                page_pdf(made)


@every(lambda: {one.id: one for one in catalog().sources.values()}.values(), lambda source: source.id)
def test_a_source_has_title_publisher_date_and_place(source):
    if source.id == ASSUMPTION:
        return
    assert source.title
    assert source.publisher
    assert source.where, "page, address, repository with its commit, issue, or number of the document"
    # A document without a date names the month in which it was read.
    assert re.match(r"(\d{4}|20\d\d-\d\d)", source.date or source.read)
    assert bool(source.date) != bool(source.read)
    assert "not recorded" not in " ".join((source.title, source.publisher, source.where))


def test_an_assumption_has_its_reason():
    facts = [(item.id, fact) for _, item in catalog().items() for fact in statements(item) if fact.source == ASSUMPTION]
    assert facts
    assert [(item, fact.field) for item, fact in facts if len(fact.note) < len("Open source.")] == []
    assert {fact.basis for _, fact in facts} == {"assumed"}


def test_a_customer_reads_of_no_press_and_no_unsigned_paper():
    """The engineer's file numbers and grades every document; a guide says what to do about a weak one."""
    sources = catalog().sources
    weak = next(key for key, one in sources.items() if one.grade == "C")
    good = next(key for key, one in sources.items() if one.grade == "A")
    customer, engineer = (Citations(sources, are_graded=is_graded) for is_graded in (False, True))
    assert customer.number(weak) is None
    assert customer.number(good) == engineer.number(weak) == 1
    assert "confirmed" in customer.name(weak)
    assert len(customer.table().rows) == 1
