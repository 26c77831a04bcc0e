"""A table of answers as a CSV file for spreadsheets."""

from typing import Any

from sizer.export.csv_text import csv_bytes


def csv_of_table(table: Any) -> bytes:
    """CSV file of a ``pyarrow.Table``: dates as ISO, lists separated by ";", text that a spreadsheet would calculate
    made harmless.
    """
    columns = [[_cell(cell) for cell in column.to_pylist()] for column in table.columns]
    return csv_bytes(table.schema.names, zip(*columns, strict=True))


def _cell(cell: Any) -> Any:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, list):
        return ";".join(cell)
    return cell.isoformat() if hasattr(cell, "isoformat") else cell
