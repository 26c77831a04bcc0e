"""Rows as the bytes of a CSV file."""

import csv
import io
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Literal

from sizer.export.text import harmless

# Spreadsheets take a file for UTF-8 only when it starts with this mark.
BYTE_ORDER_MARK = "\ufeff"
Delimiter = Literal[",", ";"]


def csv_bytes(
    heads: Sequence[str],
    rows: Iterable[Sequence[str | int | float | Decimal | None]],
    *,
    mark: str = BYTE_ORDER_MARK,
    delimiter: Delimiter = ",",
) -> bytes:
    """CSV file with a head, in UTF-8.

    Parameters
    ----------
    heads : sequence of str
        Names of the columns.
    rows : iterable of sequences
        Text that a spreadsheet would calculate gets an apostrophe in front; None is an empty cell. Decimal numbers are
        written with all their digits.
    mark : str, default the byte-order mark
        What the file starts with.
    delimiter : str, default ","
        ";" is what spreadsheets expect where the comma marks decimals; numbers are then written with a comma.
    """
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow([harmless(head) for head in heads])
    decimal_mark = "," if delimiter == ";" else "."
    writer.writerows([_text(cell, decimal_mark) for cell in row] for row in rows)
    return (mark + stream.getvalue()).encode("utf-8")


def _text(cell: str | int | float | Decimal | None, decimal_mark: str) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return harmless(cell)
    number = f"{cell:f}" if isinstance(cell, Decimal) else f"{cell:.10g}"
    return number.replace(".", decimal_mark)
