"""Chapter on the bill of materials: lines, cost as far as prices are known, cost of ownership, rent or buy."""

from dataclasses import replace
from typing import Any

from sizer.catalog.labels import with_maker
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.bill_tables import bill_table, cost_table
from sizer.present.figures import charted
from sizer.present.tables import Table
from sizer.present.text import result_text
from sizer.present.text.bill_warnings import bill_warning_sentences, unsupported_text
from sizer.present.text.money import price_text
from sizer.questions.ownership.charts import ownership_chart
from sizer.questions.ownership.text import finding as ownership_finding
from sizer.questions.ownership.text import ownership_table, runs_table
from sizer.questions.ownership.text import years_text as ownership_years
from sizer.questions.rent.charts import rent_chart
from sizer.questions.rent.rent_or_buy import finding, rental_table, use_of, years_text


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/bill.html`` prints."""
    bill = context.design.bill
    return {
        "open_prices": result_text.open_prices(bill),
        "bill": _bill_table(context),
        "price": f"Price: {price_text(context.design)}.",
        "cost": cost_table(context.result, context.catalog),
        "warnings": [
            *bill_warning_sentences(bill.warnings),
            *filter(None, [unsupported_text(bill, context.catalog)]),
        ],
        "ownership": _ownership(context),
        "rental": _rental(context),
    }


def _bill_table(context: GuideContext) -> Table:
    """Lines with a price or to be quoted; those free of charge are named below."""
    bill = context.design.bill
    free = [line for line in bill.lines if line.unit_price == 0 and line.status == "computed"]
    table = bill_table(
        replace(bill, lines=tuple(line for line in bill.lines if line not in free)), context.catalog.sources
    )
    if not free:
        return table
    names = words.listed(with_maker(line.manufacturer, line.description) for line in free)
    return replace(table, note=f"{table.note} Free of charge: {names}.")


def _ownership(context: GuideContext) -> dict[str, Any] | None:
    """Section on the cost of ownership; None where the request does not ask for it."""
    answer = context.ownership
    if answer is None:
        return None
    years = ownership_years(answer.cost.rates.years)
    return {
        "finding": ownership_finding(answer),
        "table": ownership_table(answer),
        "runs": runs_table(answer),
        "chart": charted(
            "ownership-chart",
            ownership_chart(answer, context.palette),
            f"Cost of ownership at the end of each year, over {years}, by kind of cost.",
        ),
    }


def _rental(context: GuideContext) -> dict[str, Any] | None:
    """Section on rent or buy; None without a rental offer."""
    comparison = context.rental
    if comparison is None:
        return None
    use = use_of(comparison.rental)
    return {
        "finding": finding(comparison, use),
        "table": rental_table(comparison, use),
        "chart": charted(
            "rent-or-buy-chart",
            rent_chart(comparison, use, context.palette),
            f"Cost of renting and of buying over {years_text(comparison)}, by GPU utilization over all hours.",
        ),
    }
