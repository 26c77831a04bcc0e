"""What python-pptx has no method for: colours, plain shapes, and elements of the file format."""

from typing import Any

from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR
from pptx.oxml.ns import qn
from pptx.util import Emu, Pt

from sizer.deck.blocks import FONT, Area
from sizer.drawings.palette import LIGHT

EMU_PER_PT = 12_700


def emu(points: float) -> Emu:
    """A length of the file format."""
    return Emu(round(points * EMU_PER_PT))


def corners(area: Area) -> tuple[Emu, Emu, Emu, Emu]:
    """Left, top, width and height of an area."""
    return emu(area.left), emu(area.top), emu(area.width), emu(area.height)


def add(parent: Any, tag: str, **attributes: str) -> Any:
    """Element at the end of another."""
    element = parent.makeelement(qn(tag), attributes)
    parent.append(element)
    return element


def without_theme(shape: Any) -> None:
    """Remove the shadows, gradients and colours of the theme."""
    style = shape.element.find(qn("p:style"))
    if style is not None:
        shape.element.remove(style)


def text_frame(shape: Any, anchor: MSO_ANCHOR) -> Any:
    """Text frame of a shape, without margins; as wide as the shape, since without wrapping some programs centre it."""
    text = shape.text_frame
    text.word_wrap = True
    text.margin_left = text.margin_right = text.margin_top = text.margin_bottom = Emu(0)
    text.vertical_anchor = anchor
    return text


def write(paragraph: Any, text: str, size: float, colour: str, *, bold: bool = False, italic: bool = False) -> None:
    """A run of text in Inter; ``colour`` as #RRGGBB."""
    run = paragraph.add_run()
    run.text = text
    run.font.name, run.font.size, run.font.bold = FONT, Pt(size), bold
    if italic:
        run.font.italic = True
    run.font.color.rgb = rgb(colour)


def rgb(colour: str) -> RGBColor:
    """A colour of the file format from #RRGGBB."""
    return RGBColor(*channels(colour))  # type: ignore[no-untyped-call]


def channels(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of #RRGGBB, each 0 to 255."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def tint(colour: str, opacity: float) -> str:
    """The colour as it looks over the background: shapes of a slide are opaque."""
    pairs = zip(channels(colour), channels(LIGHT.background), strict=True)
    return "#" + "".join(f"{round(opacity * over + (1 - opacity) * under):02X}" for over, under in pairs)
