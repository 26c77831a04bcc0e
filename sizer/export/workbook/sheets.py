"""Common parts of all sheets of the workbook: formats, heads, widths, print set-up, and text that stays text."""

import textwrap
from collections.abc import Sequence
from typing import Any

from sizer.drawings.palette import LIGHT
from sizer.export.files import is_formula_like, printable
from sizer.workload.request import SizingRequest

COLOURS = {"ink": LIGHT.ink, "muted": LIGHT.muted}


def base() -> dict[str, Any]:
    """Properties of every cell."""
    return {"font_name": "Calibri", "font_size": 10, "font_color": COLOURS["ink"], "valign": "top"}


def formats() -> dict[str, dict[str, Any]]:
    """Properties of every format by its name; ``-quoted`` formats keep formula-like text from being calculated."""
    number = {"align": "right"}
    total = {"bold": True, "top": 1, "valign": "vcenter"}
    head = {"bold": True, "top": 1, "bottom": 1, "text_wrap": True, "valign": "bottom"}
    made: dict[str, dict[str, Any]] = {
        "text": {},
        "wrap": {"text_wrap": True},
        "plain": {"align": "left"},
        "label": {"font_color": COLOURS["muted"]},
        "strong": {"bold": True, "text_wrap": True},
        "muted": {"font_color": COLOURS["muted"]},
        "note": {"text_wrap": True, "align": "left"},
        "open": {**number, "italic": True, "font_color": COLOURS["muted"], "num_format": _spaced("#,##0.00")},
        "title": {"bold": True, "font_size": 16},
        "head": head,
        "head-right": {**head, **number, "num_format": _spaced("General")},
        "integer": {**number, "num_format": _spaced("#,##0")},
        "number": {**number, "num_format": _spaced("#,##0.0")},
        "figure": {**number, "num_format": _spaced("#,##0.0##")},
        "money": {**number, "num_format": _spaced("#,##0.00")},
        "percent": {**number, "num_format": _spaced("0.00%")},
        "weeks": {**number, "num_format": _spaced('0" weeks"')},
        "total": total,
        "total-money": {**total, **number, "num_format": _spaced("#,##0.00")},
    }
    texts = ("text", "wrap", "plain", "label", "strong", "muted", "note", "title", "head", "head-right", "total")
    quoted = {f"{name}-quoted": {**made[name], "quote_prefix": True} for name in texts}
    return {**made, **quoted}


def _spaced(number_format: str) -> str:
    """Number format, for words as well, with a small space on the right, because the next column may hold text."""
    return f"{number_format}_0;-{number_format}_0;{number_format}_0;@_0"


HEAD_ROW = 3  # zero-based row of the column heads on every sheet
A3, A4 = 8, 9  # paper sizes as the file format numbers them
_LINE_POINTS = 13.5  # height of a line of text of ten points
_ROW_POINTS = 15.0
# Letters of ten points that fit into the unit of a column's width, a digit of eleven points; tried with a wide font.
_LETTERS = 1.2
_WRAPPED = ("wrap", "strong", "note", "head", "head-right")


class Sheets:
    """Makes sheets in a workbook; formats are made once and shared."""

    def __init__(self, book: Any, request: SizingRequest) -> None:
        self.book = book
        self.formats = {name: book.add_format({**base(), **properties}) for name, properties in formats().items()}
        day = request.date.isoformat() if request.date is not None else "not dated"
        self._subtitle = " · ".join(part for part in (request.title, request.customer, day) if part)
        self._widths: dict[str, Sequence[float]] = {}
        self._n_lines: dict[tuple[str, int], int] = {}

    def add(self, name: str, widths: Sequence[float], title: str = "", paper: int = A4) -> Any:
        """Sheet with its heading, landscape, one page wide; ``widths`` are in characters."""
        sheet = self.book.add_worksheet(name)
        self._widths[name] = widths
        sheet.hide_gridlines(2)
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        sheet.set_landscape()
        sheet.set_paper(paper)
        sheet.fit_to_pages(1, 0)
        sheet.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.6)
        sheet.set_footer("&L&8&A&R&8Page &P of &N")
        sheet.set_default_row(_ROW_POINTS)
        sheet.set_row(0, 2 * _LINE_POINTS)
        self.text(sheet, 0, 0, title or name, "title")
        self.text(sheet, 1, 0, self._subtitle, "muted")
        return sheet

    def text(self, sheet: Any, row: int, column: int, text: str, format_: str = "text") -> None:
        """Text that is never calculated: formula-like text keeps its quote mark when it is edited or copied."""
        name = f"{format_}-quoted" if is_formula_like(text) else format_
        sheet.write_string(row, column, printable(text), self.formats[name])
        if format_ in _WRAPPED:
            self._fit(sheet, row, self._widths[sheet.name][column], text)

    def texts(self, sheet: Any, row: int, texts: Sequence[str], format_: str = "text") -> None:
        """Texts in adjacent cells from the first column on."""
        for column, text in enumerate(texts):
            self.text(sheet, row, column, text, format_)

    def number(self, sheet: Any, row: int, column: int, value: float, format_: str) -> None:
        sheet.write_number(row, column, value, self.formats[format_])

    def figure(self, sheet: Any, row: int, column: int, value: float) -> None:
        """Number with the decimals that it has."""
        self.number(sheet, row, column, value, "integer" if float(value).is_integer() else "figure")

    def heads(self, sheet: Any, heads: Sequence[str], right: Sequence[int] = (), frozen_columns: int = 0) -> None:
        """Heads of the columns, frozen and repeated on every page."""
        for column, head in enumerate(heads):
            self.text(sheet, HEAD_ROW, column, head, "head-right" if column in right else "head")
        sheet.freeze_panes(HEAD_ROW + 1, frozen_columns)
        sheet.repeat_rows(HEAD_ROW)

    def paragraph(self, sheet: Any, row: int, text: str) -> None:
        """Text over all columns of the sheet."""
        widths = self._widths[sheet.name]
        sheet.merge_range(row, 0, row, len(widths) - 1, "", self.formats["note"])
        sheet.write_string(row, 0, printable(text), self.formats["note-quoted" if is_formula_like(text) else "note"])
        self._fit(sheet, row, sum(widths), text)

    def _fit(self, sheet: Any, row: int, width: float, text: str) -> None:
        """Make a row high enough for wrapped text; not every program does this itself."""
        letters = int(width * _LETTERS)
        if len(text) <= letters and "\t" not in text:
            return  # one line, as nearly all cells
        needed = len(textwrap.wrap(text, letters))
        if needed > self._n_lines.get((sheet.name, row), 1):
            self._n_lines[sheet.name, row] = needed
            sheet.set_row(row, _LINE_POINTS * (needed - 1) + _ROW_POINTS)
