"""Every citation leads to a document that a reader can look up, or says that it is an assumption and why."""

import re

from sizer.base.provenance import ASSUMPTION
from sizer.catalog.model import statements
from tests.factories.examples import catalog
from tests.factories.rows import every


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
