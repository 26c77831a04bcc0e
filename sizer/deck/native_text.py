"""Paragraphs and key figures as text boxes."""

from typing import Any

from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.util import Pt

from sizer.base.quantities import NARROW_SPACE
from sizer.deck import text_fit
from sizer.deck.blocks import Area, KeyFigures, Paragraphs
from sizer.deck.ooxml import add, corners, emu, text_frame, write
from sizer.drawings.palette import Palette
from sizer.export.file_names import printable

# Room between two key figures. [pt]
_FIGURE_GAP = 16.0
# Size of a unit compared with its number.
_UNIT_SIZE = 0.65
_FIGURE_SIZES = (text_fit.FIGURE_SIZE, 22.0, 19.0, 16.0, 13.0)


def add_line(
    slide: Any, text: str, area: Area, size: float, colour: str, *, bold: bool = False, is_right: bool = False
) -> Any:
    """One text box whose text is shortened to the lines that it holds."""
    n_lines = max(int(area.height / (text_fit.LEADING * size)), 1)
    lines = text_fit.lines_of(text, size, area.width, semibold=bold, most=n_lines)
    shape = slide.shapes.add_textbox(*corners(area))
    paragraph = text_frame(shape, MSO_ANCHOR.TOP).paragraphs[0]
    paragraph.alignment = PP_ALIGN.RIGHT if is_right else PP_ALIGN.LEFT
    write(paragraph, " ".join(lines), size, colour, bold=bold)
    return shape


def add_text(slide: Any, text: Paragraphs, area: Area, size: float, palette: Palette) -> None:
    """Paragraphs; several are bullets or numbered."""
    size = min(size, text.largest)
    frame = text_frame(slide.shapes.add_textbox(*corners(area)), MSO_ANCHOR.TOP)
    paragraph = frame.paragraphs[0]
    if text.head:
        _spaced(paragraph, size, is_last=False)
        write(paragraph, printable(text.head), size, palette.ink, bold=True)
    for number, content in enumerate(text.paragraphs):
        if number or text.head:
            paragraph = frame.add_paragraph()
        _spaced(paragraph, size, is_last=number == len(text.paragraphs) - 1)
        if text_fit.has_bullets(text):
            _bullet(paragraph, size, palette.accent, is_numbered=text.is_numbered)
        write(paragraph, printable(content), size, palette.colour(text.role))


def _spaced(paragraph: Any, size: float, *, is_last: bool) -> None:
    paragraph.line_spacing = Pt(text_fit.LEADING * size)
    paragraph.space_after = Pt(0 if is_last else text_fit.PARAGRAPH_GAP * size)


def _bullet(paragraph: Any, size: float, colour: str, *, is_numbered: bool) -> None:
    """A mark or a number before a paragraph, with a hanging indent."""
    indent = emu(text_fit.indent(size, is_numbered=is_numbered))
    properties = paragraph._p.get_or_add_pPr()
    properties.set("marL", str(indent))
    properties.set("indent", str(-indent))
    fill = add(properties, "a:buClr")
    add(fill, "a:srgbClr", val=colour.lstrip("#"))
    add(properties, "a:buFont", typeface="+mj-lt" if is_numbered else "Arial")
    if is_numbered:
        add(properties, "a:buAutoNum", type="arabicPeriod")
    else:
        add(properties, "a:buChar", char="•")


def add_figures(slide: Any, block: KeyFigures, area: Area, palette: Palette) -> None:
    """Large numbers, evenly spaced, each with its words below."""
    count = len(block.figures)
    width = (area.width - _FIGURE_GAP * (count - 1)) / count
    size = min(
        next((size for size in _FIGURE_SIZES if _value_width(one.value, size) <= width), _FIGURE_SIZES[-1])
        for one in block.figures
    )
    for place, figure in enumerate(block.figures):
        left = area.left + place * (width + _FIGURE_GAP)
        value = Area(left, area.top, width, text_fit.LEADING * text_fit.FIGURE_SIZE)
        shown = figure.value
        if _value_width(shown, size) > width:
            (shown,) = text_fit.lines_of(shown, size, width, semibold=True, most=1)
        frame = text_frame(slide.shapes.add_textbox(*corners(value)), MSO_ANCHOR.BOTTOM)
        _value(frame.paragraphs[0], shown, size, palette)
        label = Area(left, value.bottom + 2, width, text_fit.FIGURES_HEIGHT - value.height - 2)
        add_line(slide, figure.label, label, text_fit.FIGURE_LABEL_SIZE, palette.muted)


def _value(paragraph: Any, text: str, size: float, palette: Palette) -> None:
    """A number with its unit in a lighter grey."""
    number, unit = _split(text)
    write(paragraph, number, size, palette.ink, bold=True)
    if unit:
        write(paragraph, unit, _UNIT_SIZE * size, palette.muted)


def _split(text: str) -> tuple[str, str]:
    """A number, and its unit with the space before it; a text without unit stays whole."""
    number, space, unit = text.rpartition(NARROW_SPACE)
    if not space or any(char.isdigit() for char in unit):
        return text, ""
    return number, f"{space}{unit}"


def _value_width(text: str, size: float) -> float:
    number, unit = _split(text)
    return text_fit.width_of(number, size, semibold=True) + text_fit.width_of(unit, _UNIT_SIZE * size)
