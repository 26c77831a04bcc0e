"""Tables of a comparison as a workbook, a sheet each."""

import io
from collections.abc import Sequence

from sizer.export.workbook.book import SETTINGS
from sizer.export.workbook.sheets import HEAD_ROW, Sheets
from sizer.present.tables import Table
from sizer.workload.request import SizingRequest

_FIRST_WIDTH, _WIDTH = 28, 40  # in characters


def comparison_workbook(tables: Sequence[tuple[str, Table]], request: SizingRequest) -> bytes:
    """Workbook of tables.

    ``tables``: name of a sheet with its table. ``request``: its title, customer and date stand on every sheet.
    """
    import xlsxwriter  # type: ignore[import-untyped]

    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, SETTINGS) as book:
        sheets = Sheets(book, request)
        for name, table in tables:
            sheet = sheets.add(name, [_FIRST_WIDTH, *[_WIDTH] * (len(table.columns) - 1)], table.caption)
            sheets.heads(sheet, [column.title for column in table.columns], frozen_columns=1)
            last = HEAD_ROW
            for last, row in enumerate(table.rows, HEAD_ROW + 1):
                kind = "strong" if row.kind == "group" else "wrap"
                for column, cell in enumerate(row.cells):
                    sheets.text(sheet, last, column, cell.text, kind)
            if table.note:
                sheets.paragraph(sheet, last + 2, table.note)
    return stream.getvalue()
