"""Chapter on the bill of materials: lines, cost as far as prices are known, cost of ownership, rent or buy."""

from typing import Any

from sizer.guide.context import GuideContext
from sizer.present.bill_tables import bill_table, cost_table
from sizer.present.text.bill_warnings import bill_warning_sentences, delivery_sentences, unsupported_text
from sizer.present.text.money import configuration_text
from sizer.questions.ownership.text import finding as ownership_finding
from sizer.questions.ownership.text import ownership_table, runs_table
from sizer.questions.rent.rent_or_buy import offer_text, rental_table, use_of


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/bill.html`` prints."""
    bill = context.design.bill
    # With a date of need they are among the decisions.
    told = [] if context.result.request.needed_by is None else delivery_sentences(bill.warnings)
    return {
        "bill": bill_table(context.design.bill, context.catalog.sources),
        "cost": cost_table(context.result, context.catalog),
        "warnings": [
            *filter(None, [configuration_text(context.design)]),
            *(text for text in bill_warning_sentences(bill.warnings) if text not in told),
            *filter(None, [unsupported_text(bill, context.catalog)]),
        ],
        "ownership": _ownership(context),
        "rental": _rental(context),
    }


def _ownership(context: GuideContext) -> dict[str, Any] | None:
    """Section on the cost of ownership; None where the request does not ask for it."""
    answer = context.ownership
    if answer is None:
        return None
    return {
        "finding": ownership_finding(answer),
        "table": ownership_table(answer),
        "runs": runs_table(answer),
    }


def _rental(context: GuideContext) -> dict[str, Any] | None:
    """Section on rent or buy; None without a rental offer."""
    comparison = context.rental
    if comparison is None:
        return None
    use = use_of(comparison.rental)
    return {
        "finding": offer_text(context.result),
        "table": rental_table(comparison, use),
    }
