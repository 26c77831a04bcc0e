"""Chapter 11: what is bought, what it costs as far as prices are published, and what running it takes."""

from typing import Any

from sizer.guide.chapters.case import Case
from sizer.present import result_text, words
from sizer.present.bill_tables import bill_table, cost_table
from sizer.present.figures import charted
from sizer.questions.rent.analysis import use_of
from sizer.questions.rent.charts import rent_chart
from sizer.questions.rent.tables import rental_table, years_text
from sizer.questions.rent.text import finding


def content(case: Case) -> dict[str, Any]:
    """What ``sections/bill.html`` prints."""
    bill = case.design.bill
    return {
        "open_prices": result_text.open_prices(bill),
        "bill": bill_table(bill, case.catalog.sources),
        "cost": cost_table(case.result) if case.is_full else None,
        "warnings": [words.sentence(text) for text in bill.warnings],
        "rental": _rental(case),
    }


def _rental(case: Case) -> dict[str, Any] | None:
    """Section on renting instead; None without an offer."""
    found = case.rental
    if found is None:
        return None
    use = use_of(found.rental)
    return {
        "finding": finding(found, use),
        "table": rental_table(found, use),
        "chart": charted(
            "rent-or-buy-chart",
            rent_chart(found, use, case.palette),
            (
                f"Cost of renting and of buying over {years_text(found)}, by the share of all hours in "
                "which the GPUs are used."
            ),
        ),
    }
