"""Questions to the vendors: missing values of the bill, line by line, and unknown facts of the parts."""

from collections.abc import Iterator
from dataclasses import dataclass

from sizer.bom.bill import BY_OTHERS, BillLine
from sizer.bom.overrides import REQUEST
from sizer.present.text.assumptions import part_questions
from sizer.present.text.plan import question_text
from sizer.sizing.assumptions import MissingFacts, MissingReadRate
from sizer.sizing.result import SizingResult


@dataclass(frozen=True)
class VendorQuestion:
    """One question; ``line`` is empty where it is about a part instead of a line of the bill."""

    line: str
    vendor: str
    about: str
    sku: str
    quantity: int | None
    question: str


def vendor_questions(result: SizingResult) -> list[VendorQuestion]:
    """Questions of the bill first, then of the plan, then the unknown facts of the parts, one a row."""
    bill = result.design.bill
    questions = [
        VendorQuestion(line.line, line.manufacturer, line.description, line.sku, line.quantity, question)
        for line in bill.lines
        if line.status not in ("existing", BY_OTHERS) and line.quantity
        for question in _about_line(line, bill.currency)
    ]
    of_plan = map(question_text, result.design.plan.questions)
    questions += [VendorQuestion("", "", "Plan of racks and cables", "", None, text) for text in of_plan]
    for point in result.questions:
        # Missing prices are asked line by line above.
        if isinstance(point, MissingFacts | MissingReadRate):
            about, asked = part_questions(point)
            questions += [VendorQuestion("", "", about, "", None, question) for question in asked]
    return questions


def _about_line(line: BillLine, currency: str) -> Iterator[str]:
    missing = []
    if line.unit_price is None:
        missing.append(f"unit list price in {currency} and discount")
    if line.is_recurring and line.term_months is None:
        missing.append("term in months")
    if line.lead_time_weeks is None and line.is_shipped:
        missing.append("lead time in weeks")
    if line.item and not line.sku and line.unit_price != 0:
        missing.append("part number")
    if missing:
        yield ", ".join(missing)
    if line.unit_price and line.price_source != REQUEST and line.price_valid_until is None:
        yield f"whether {line.unit_price:.2f} {currency} of {line.price_date} is still valid"
