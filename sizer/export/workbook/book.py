"""The bill as a workbook with formulas: totals are recalculated from quoted prices."""

import datetime
import io
from collections.abc import Sequence

from sizer.catalog.model import Catalog
from sizer.export.workbook.bill_sheet import WIDTHS, write_bill, write_summary
from sizer.export.workbook.list_sheets import write_lists, write_ownership
from sizer.export.workbook.sheets import HEAD_ROW, Sheets
from sizer.present.tables import Table
from sizer.sizing.result import SizingResult
from sizer.workload.request import SizingRequest

# Workbooks carry a date of creation; a fixed one makes the files of equal answers identical.
_UNDATED = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 (Excel knows no time zones)

# Text stays text.
SETTINGS = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}


def workbook(result: SizingResult, catalog: Catalog) -> bytes:
    """Workbook of the documented design.

    Sheets: Summary, BOM, Ownership (where the request asks for it), Networks, Cables, Power, Racks, Elevations,
    Facility, Growth, Assumptions, Vendor questions, Change log, Sources. A customer's copy has no assumptions,
    questions to vendors or log. Formulas carry their value at
    the time of writing, for viewers that do not calculate. Equal results give equal bytes.
    """
    import xlsxwriter  # type: ignore[import-untyped]

    stream = io.BytesIO()
    with xlsxwriter.Workbook(stream, SETTINGS) as book:
        request = result.request
        created = _UNDATED if request.date is None else datetime.datetime.combine(request.date, datetime.time())
        book.set_properties({"title": request.title, "created": created, "comments": "Budgetary, not binding."})
        sheets = Sheets(book, request)
        summary = sheets.add("Summary", WIDTHS)
        cells = write_bill(sheets, result.design.bill, catalog)
        write_summary(sheets, summary, result, cells)
        write_ownership(sheets, result, cells)
        write_lists(sheets, result, catalog)
        summary.activate()
    return stream.getvalue()


_FIRST_WIDTH, _WIDTH = 28, 40  # in characters


def comparison_workbook(tables: Sequence[tuple[str, Table]], request: SizingRequest) -> bytes:
    """Workbook of tables.

    ``tables``: name of a sheet with its table. ``request``: its title, customer and date stand on every sheet.
    """
    import xlsxwriter

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
