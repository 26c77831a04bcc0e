"""The bill as CSV for quoting tools and spreadsheets."""

from sizer.export.tables.bill_columns import columns, values
from sizer.export.tables.csv_text import Delimiter, csv_bytes
from sizer.sizing.result import SizingResult


def bill_csv(result: SizingResult, delimiter: Delimiter = ",") -> bytes:
    """Bill of the documented design, a row a line, without totals.

    Parameters
    ----------
    result : SizingResult
    delimiter : str, default ","
        ";" for spreadsheets where the comma marks decimals.

    Returns
    -------
    bytes
        UTF-8 with a byte-order mark. Unknown prices read "to be quoted", in a customer's copy a unit price that no
        whole cents make up "in the sum".
    """
    bill = result.design.bill
    heads = [column.head for column in columns(bill)]
    return csv_bytes(heads, [values(line, bill) for line in bill.lines], delimiter=delimiter)
