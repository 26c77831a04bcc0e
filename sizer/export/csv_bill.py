"""The bill as CSV for quoting tools and spreadsheets."""

import csv
import io

from sizer.bom.bill import BillLine
from sizer.export.text import TO_BE_QUOTED, harmless
from sizer.sizing.result import SizingResult

COLUMNS = (
    "Line",
    "Category",
    "Manufacturer",
    "SKU",
    "Description",
    "Quantity",
    "Unit",
    "Unit list price",
    "Extended list price",
    "Currency",
    "Price date",
    "Price source",
    "Status",
    "Notes",
)
# Spreadsheets take a file for UTF-8 only when it starts with this mark.
_BOM = "\ufeff"


def bill_csv(result: SizingResult) -> bytes:
    """Bill of the documented design, a row a line, without totals.

    Unknown prices read "to be quoted". Text that a spreadsheet would calculate gets an apostrophe in front.
    """
    bill = result.design.bill
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(_row(line, bill.currency) for line in bill.lines)
    return (_BOM + stream.getvalue()).encode("utf-8")


def _row(line: BillLine, currency: str) -> list[str]:
    unit_price = TO_BE_QUOTED if line.unit_price is None else f"{line.unit_price:.2f}"
    extended = TO_BE_QUOTED if line.extended is None else f"{line.extended:.2f}"
    texts = [line.line, line.category, line.manufacturer, line.sku, line.description]
    rest = [currency, line.price_date, line.price_source, line.status, line.note]
    return [
        *(harmless(text) for text in texts),
        str(line.quantity),
        harmless(line.unit),
        unit_price,
        extended,
        *(harmless(text) for text in rest),
    ]
