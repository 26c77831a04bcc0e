"""Every citation leads to a document that a reader can look up, or says that it is an assumption and why."""

import re

import pytest

from sizer.base.provenance import ASSUMPTION
from sizer.catalog.model import statements
from tests.factories.examples import catalog
from tests.factories.rows import every
from tests.guide.test_guide import EXAMPLES, page, text_of


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


@pytest.mark.parametrize("form", ["guide", "engineer"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_citation_resolves_on_the_sources_page(name, form):
    html = page(name, form)
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
