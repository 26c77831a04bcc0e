"""Every citation leads to a document that a reader can look up, or says that it is an assumption and why."""

import re

from sizer.base.provenance import ASSUMPTION
from sizer.catalog.model import statements
from sizer.present.page import Citations
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
