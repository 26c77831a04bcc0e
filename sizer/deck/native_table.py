"""Tables of the guide as native tables: rules above and below the head and at the end, none between rows."""

from typing import Any

from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.oxml.ns import qn
from pptx.util import Pt

from sizer.deck import text_fit
from sizer.deck.blocks import Area
from sizer.deck.native_text import add_line
from sizer.deck.ooxml import add, corners, emu, write
from sizer.deck.text_fit import FittedTable
from sizer.drawings.palette import Palette
from sizer.export.file_names import printable
from sizer.present.tables import Cell, Row

# The style of PowerPoint without fills and lines.
_NO_STYLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"
_RULE_PT, _HAIRLINE_PT = 1.0, 0.5
_ORDER = ("a:lnL", "a:lnR", "a:lnT", "a:lnB")


def add_table(slide: Any, fitted: FittedTable, area: Area, palette: Palette) -> None:
    """The table at the top of an area, its note below it."""
    _Writer(slide, fitted, area, palette).write()


class _Writer:
    def __init__(self, slide: Any, fitted: FittedTable, area: Area, palette: Palette) -> None:
        self.slide, self.fitted, self.palette, self.area = slide, fitted, palette, area
        self.columns, self.rows = fitted.table.columns, fitted.table.rows
        height = sum(fitted.heights)
        place = Area(area.left, area.top, area.width, height)
        shape = slide.shapes.add_table(len(fitted.heights), len(self.columns), *corners(place))
        shape.name = printable(fitted.table.caption)
        self.table, self.bottom = shape.table, place.bottom

    def write(self) -> None:
        """Head, rows and note."""
        fitted, table = self.fitted, self.table
        properties = self.table._tbl.tblPr
        properties.find(qn("a:tableStyleId")).text = _NO_STYLE
        self.table.horz_banding = False
        self.table.first_row = self.fitted.has_head
        for column, width in zip(table.columns, fitted.widths, strict=True):
            column.width = emu(width)
        for row, height in zip(table.rows, fitted.heights, strict=True):
            row.height = emu(height)
        first = int(fitted.has_head)
        if fitted.has_head:
            for place, column in enumerate(self.columns):
                cell = table.cell(0, place)
                self._text(cell, Cell(column.title), place, self.palette.muted, bold=True)
                self._rules(cell, top=_RULE_PT, bottom=_RULE_PT)
        for number, one in enumerate(self.rows, first):
            self._row(number, one, is_first=number == 0, is_last=number == len(fitted.heights) - 1)
        if fitted.note:
            left, top, width = self.area.left, self.bottom + 5, self.area.width
            height = text_fit.note_height(fitted.note, width) - 5
            add_line(
                self.slide, fitted.note, Area(left, top, width, height + 1), text_fit.SIZES[-1], self.palette.muted
            )

    def _row(self, number: int, row: Row, *, is_first: bool, is_last: bool) -> None:
        bold = row.kind != ""
        for place, _ in enumerate(self.columns):
            cell = self.table.cell(number, place)
            given = row.cells[place] if place < len(row.cells) else Cell("")
            muted = given.is_unknown or (row.kind == "group" and given.is_muted)
            colour = self.palette.muted if muted else self.palette.ink
            if given.stage:
                colour = self.palette.colour(given.stage)
            self._text(cell, given, place, colour, bold=bold and not muted, italic=given.is_unknown)
            top = _RULE_PT if is_first else _HAIRLINE_PT if row.kind == "total" else 0.0
            self._rules(cell, top=top, bottom=_RULE_PT if is_last else 0.0)
        if row.kind == "group" and len(self.columns) > 1:
            self.table.cell(number, 0).merge(self.table.cell(number, len(self.columns) - 1))

    def _text(self, cell: Any, given: Cell, place: int, colour: str, *, bold: bool, italic: bool = False) -> None:
        size = self.fitted.size
        pad = emu(text_fit.CELL_PAD * size)
        side = emu(text_fit.CELL_SIDE * size)
        cell.margin_top = cell.margin_bottom = pad
        cell.margin_right = side
        # Text of the first column begins where the rules begin.
        cell.margin_left = 0 if place == 0 else side
        cell.vertical_anchor = MSO_ANCHOR.TOP
        paragraph = cell.text_frame.paragraphs[0]
        paragraph.alignment = PP_ALIGN.RIGHT if self.columns[place].align == "right" else PP_ALIGN.LEFT
        paragraph.line_spacing = Pt(text_fit.LEADING * size)
        if given.text:
            write(paragraph, printable(given.text), size, colour, bold=bold, italic=italic)
        else:
            # Without text the row would be as high as the default type.
            add(paragraph._p, "a:endParaRPr", sz=str(round(100 * size)))

    def _rules(self, cell: Any, *, top: float, bottom: float) -> None:
        """Lines of a cell, in the order of the file format."""
        properties = cell._tc.get_or_add_tcPr()
        for place, (tag, width) in enumerate(zip(_ORDER, (0.0, 0.0, top, bottom), strict=True)):
            line = properties.makeelement(qn(tag), {"w": str(emu(width))} if width else {"w": "0"})
            properties.insert(place, line)
            if width:
                add(add(line, "a:solidFill"), "a:srgbClr", val=self._rule_colour(width).lstrip("#"))
            else:
                add(line, "a:noFill")

    def _rule_colour(self, width: float) -> str:
        return self.palette.ink if width == _RULE_PT else self.palette.hairline
