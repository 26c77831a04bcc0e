"""A table of answers as a CSV file for spreadsheets."""

from collections.abc import Iterable, Sequence
from typing import Any

from sizer.export.tables.csv_text import csv_bytes


def csv_of_batches(names: Sequence[str], batches: Iterable[Any]) -> bytes:
    """CSV file of the ``pyarrow.RecordBatch`` of a table, read one after the other.

    Dates as ISO, lists separated by ";", so that read again the cells say the same request; text that a spreadsheet
    would calculate is made harmless.
    """
    rows = (row for batch in batches for row in zip(*map(_cells, batch.columns), strict=True))
    return csv_bytes(names, rows)


def _cells(column: Any) -> list[Any]:
    return [_cell(cell) for cell in column.to_pylist()]


def _cell(cell: Any) -> Any:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, list):
        return ";".join(cell)
    return cell.isoformat() if hasattr(cell, "isoformat") else cell
