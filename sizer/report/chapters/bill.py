"""Chapter 11: what is bought, what it costs as far as prices are published, and what running it takes."""

from typing import Any

from sizer.report import prose, words
from sizer.report.bill_tables import bill_table, cost_table
from sizer.report.chapters.case import Case


def content(case: Case) -> dict[str, Any]:
    """What ``sections/bill.html`` prints."""
    bill = case.design.bill
    return {
        "open_prices": prose.open_prices(bill),
        "bill": bill_table(bill, case.catalog.sources),
        "cost": cost_table(case.result) if case.is_full else None,
        "warnings": [words.sentence(text) for text in bill.warnings],
    }
