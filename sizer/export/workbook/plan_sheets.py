"""Sheets of the building plan: cables, power, racks, elevations, facility."""

from sizer.catalog.model import Catalog
from sizer.export.tables.plan_tables import plan_sheets
from sizer.export.tables.table import Sheet
from sizer.export.workbook.sheets import A3, A4, HEAD_ROW, Sheets
from sizer.sizing.result import SizingResult

# Widths in characters: a column is as wide as its longest word needs, within these.
_NARROW, _WIDE = 8, 44
_PADDING = 2
# More columns than this take the larger paper.
_A4_COLUMNS = 12


def write_plan(sheets: Sheets, result: SizingResult, catalog: Catalog) -> None:
    """Every table of the plan on a sheet of its own."""
    for table in plan_sheets(result, catalog):
        _write(sheets, table)


def _write(sheets: Sheets, table: Sheet) -> None:
    columns = list(zip(*table.rows, strict=True)) if table.rows else [()] * len(table.heads)
    widths = [_width(head, cells) for head, cells in zip(table.heads, columns, strict=True)]
    sheet = sheets.add(table.title, widths, paper=A3 if len(table.heads) > _A4_COLUMNS else A4)
    right = [place for place, head in enumerate(table.heads) if head in table.numeric]
    sheets.heads(sheet, table.heads, right, frozen_columns=1)
    last = HEAD_ROW
    for last, row in enumerate(table.rows, HEAD_ROW + 1):
        for column, value in enumerate(row):
            if isinstance(value, str):
                sheets.text(sheet, last, column, value, "wrap")
            elif value is None:
                sheets.text(sheet, last, column, "not known", "muted")
            else:
                sheets.number(sheet, last, column, value, "integer" if isinstance(value, int) else "number")
    sheet.autofilter(HEAD_ROW, 0, max(last, HEAD_ROW + 1), len(table.heads) - 1)
    for offset, note in enumerate(table.notes, 2):
        sheets.paragraph(sheet, last + offset, note)


def _width(head: str, cells: tuple[object, ...]) -> float:
    longest = max((len(str(cell)) for cell in cells), default=0)
    return min(max(_NARROW, max(map(len, head.split())) + _PADDING, longest + _PADDING), _WIDE)
