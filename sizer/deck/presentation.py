"""Slides as a PowerPoint file: titles, blocks, footer, logo, slide numbers and speaker notes."""

import copy
import datetime
import io
import re
from collections.abc import Sequence
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import MSO_CONNECTOR_TYPE, PP_PLACEHOLDER
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.util import Emu, Pt

from sizer.deck import text_fit
from sizer.deck.blocks import (
    BODY,
    FONT,
    MARGIN,
    SLIDE_HEIGHT,
    SLIDE_WIDTH,
    Area,
    Branding,
    ChartBlock,
    DrawingBlock,
    KeyFigures,
    Paragraphs,
    Slide,
    TableBlock,
    TitleSlide,
    area_columns,
)
from sizer.deck.native import (
    add_chart,
    add_drawing,
    add_figures,
    add_line,
    add_table,
    add_text,
    corners,
    emu,
    rgb,
    text_frame,
    without_dates,
    without_theme,
    write,
)
from sizer.deck.text_fit import PlacedBlock
from sizer.drawings.palette import Palette
from sizer.export.files import printable

# Presentations and the parts of a zip file carry dates; fixed ones keep equal slides equal to the byte.
_UNDATED = datetime.datetime(2000, 1, 1)  # noqa: DTZ001 (the file format knows no time zones)
# Layout of the built-in template that holds a title and nothing else.
_TITLE_ONLY = 5
# Letters that the file format allows in a property of the document.
_LONGEST_PROPERTY = 255
_TOPIC_TOP, _TITLE_TOP = 24.0, 42.0
_TOPIC_SIZE, _TITLE_SIZES = 12.0, (24.0, 20.0)
_FOOTER_TOP, _FOOTER_SIZE, _NUMBER_WIDTH = 508.0, 12.0, 60.0
_LOGO_WIDTH, _LOGO_HEIGHT = 110.0, 32.0
_SUBTITLE_SIZES = (17.0, 15.0, 13.0)
_COVER_TITLE_SIZES = (40.0, 34.0, 28.0, 24.0)


def written(slides: Sequence[Slide | TitleSlide], branding: Branding, palette: Palette) -> bytes:
    """Presentation (16:9) of these slides.

    ``branding``: title of the file, footer, company and logo. ``palette``: Colours; also those of the theme, which
    shapes that are added later take. The file. Boxes are rectangles with their text, links are connectors attached to
    them, tables and charts are native. Equal slides give equal bytes.
    """
    file = _File(branding, palette)
    for number, slide in enumerate(slides, 1):
        if isinstance(slide, TitleSlide):
            file.add_title(slide)
        else:
            file.add(slide, number)
    return file.as_bytes()


class _File:
    """A presentation to which slides are added."""

    def __init__(self, branding: Branding, palette: Palette) -> None:
        self.branding, self.palette = branding, palette
        self.file = Presentation()
        # The template is 4:3; its master and layouts are widened with the slide.
        stretch = emu(SLIDE_WIDTH) / self.file.slide_width
        self.file.slide_width, self.file.slide_height = emu(SLIDE_WIDTH), emu(SLIDE_HEIGHT)
        for page in (self.file.slide_master, *self.file.slide_layouts):
            for shape in page.placeholders:
                shape.left, shape.width = Emu(round(shape.left * stretch)), Emu(round(shape.width * stretch))
                shape.top, shape.height = Emu(shape.top), Emu(shape.height)
        # Fonts and colours of the theme: what a presenter adds looks like the rest.
        part = self.file.slide_master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
        text = part.blob.decode("utf-8")
        text = re.sub(r'(<a:(?:major|minor)Font>\s*<a:latin typeface=")[^"]*', rf"\g<1>{FONT}", text)
        stages = ("gpu", "storage", "network", "decode", "exchange")
        colours = (self.palette.accent, *(self.palette.colour(stage) for stage in stages))
        for number, colour in enumerate(colours, 1):
            fill = f'<a:srgbClr val="{colour.lstrip("#")}"/>'
            text = re.sub(rf"(<a:accent{number}>).*?(</a:accent{number}>)", rf"\g<1>{fill}\g<2>", text, flags=re.S)
        part._blob = text.encode("utf-8")
        properties = self.file.core_properties
        properties.title = printable(branding.title)[:_LONGEST_PROPERTY]
        properties.author = properties.last_modified_by = printable(branding.company)[:_LONGEST_PROPERTY]
        properties.comments = ""
        properties.created = properties.modified = _UNDATED
        properties.comments = ""  # the template names the library
        # File managers would show the template's thumbnail of an empty slide.
        package = self.file.part.package
        for relation in list(package.iter_rels()):
            if relation.reltype == RELATIONSHIP_TYPE.THUMBNAIL:
                package.drop_rel(relation.rId)

    # --- slides

    def add_title(self, content: TitleSlide) -> None:
        """The first slide."""
        slide = self._slide()
        width, palette = SLIDE_WIDTH - 2 * MARGIN, self.palette
        if self.branding.logo:
            self._logo(slide)
        add_line(slide, content.kicker, Area(MARGIN, 92, width, 20), 15.0, palette.accent, bold=True)
        size = text_fit.largest_size(content.title, _COVER_TITLE_SIZES, width, 2)
        n_lines = len(text_fit.lines_of(content.title, size, width, semibold=True, most=2))
        title = Area(MARGIN, 116, width, 1.2 * size * n_lines + 8)
        self._title(slide, content.title, title, _COVER_TITLE_SIZES)
        subtitle = Area(MARGIN, title.bottom + 8, width, 68)
        text = Paragraphs((content.subtitle,))
        fits = (one for one in _SUBTITLE_SIZES if text_fit.text_height(text, width, one) <= subtitle.height)
        size = next(fits, _SUBTITLE_SIZES[-1])
        add_line(slide, content.subtitle, subtitle, size, palette.ink)
        add_figures(slide, content.figures, Area(MARGIN, 312, width, text_fit.FIGURES_HEIGHT), palette)
        add_line(slide, " · ".join(content.facts), Area(MARGIN, 412, width, 36), 14.0, palette.ink)
        add_line(slide, content.small_print, Area(MARGIN, 450, width, 50), text_fit.SIZES[-1], palette.muted)
        _notes(slide, content.notes)

    def add(self, content: Slide, number: int) -> None:
        """A slide with topic, finding, blocks, footer and number."""
        slide, palette = self._slide(), self.palette
        width = SLIDE_WIDTH - 2 * MARGIN
        beside_logo = width - (_LOGO_WIDTH + 24 if self.branding.logo else 0)
        add_line(slide, content.topic, Area(MARGIN, _TOPIC_TOP, beside_logo, 17), _TOPIC_SIZE, palette.muted)
        title = Area(MARGIN, _TITLE_TOP, beside_logo, BODY.top - _TITLE_TOP - 10)
        is_cut = self._title(slide, content.title, title, _TITLE_SIZES)
        area = BODY
        if content.top is not None:
            area = self._top(slide, content.top)
        for column, area_column in zip(content.columns, area_columns(area, content.columns), strict=True):
            for one in text_fit.placed(column.blocks, area_column):
                self._block(slide, one)
        if self.branding.logo:
            self._logo(slide)
        self._footer(slide, number)
        _notes(slide, ((content.title,) if is_cut else ()) + content.notes)

    def _slide(self) -> Any:
        return self.file.slides.add_slide(self.file.slide_layouts[_TITLE_ONLY])

    def _title(self, slide: Any, text: str, area: Area, sizes: Sequence[float]) -> bool:
        """The title in at most two lines; returns whether it had to be shortened."""
        shape = slide.shapes.title
        shape.left, shape.top, shape.width, shape.height = corners(area)
        size = text_fit.largest_size(text, sizes, area.width, 2)
        lines = text_fit.lines_of(text, size, area.width, semibold=True, most=2)
        paragraph = text_frame(shape, MSO_ANCHOR.TOP).paragraphs[0]
        paragraph.alignment = PP_ALIGN.LEFT
        write(paragraph, " ".join(lines), size, self.palette.ink, bold=True)
        return bool(lines) and lines[-1].endswith("…")

    def _top(self, slide: Any, block: Any) -> Area:
        """Write the block over the whole width; returns what is left below it."""
        (one,) = text_fit.placed([block], BODY)
        self._block(slide, one)
        top = one.area.bottom + text_fit.GAP + 6
        return Area(BODY.left, top, BODY.width, BODY.bottom - top)

    def _block(self, slide: Any, block: PlacedBlock) -> None:
        match block.block:
            case Paragraphs():
                add_text(slide, block.block, block.area, block.size, self.palette)
            case KeyFigures():
                add_figures(slide, block.block, block.area, self.palette)
            case TableBlock():
                assert block.table is not None  # fitted when it was placed
                add_table(slide, block.table, block.area, self.palette)
            case DrawingBlock():
                add_drawing(slide, block.block.drawing, block.area, self.palette)
            case ChartBlock():
                below = text_fit.note_height(block.block.note, block.area.width)
                area = Area(block.area.left, block.area.top, block.area.width, block.area.height - below)
                add_chart(slide, block.block.chart, area, self.palette)
                if below:
                    place = Area(area.left, area.bottom + 5, area.width, below - 4)
                    add_line(slide, block.block.note, place, text_fit.SIZES[-1], self.palette.muted)

    # --- what every slide carries

    def _logo(self, slide: Any) -> None:
        """The logo in the upper right corner, aligned with the right margin."""
        picture = slide.shapes.add_picture(io.BytesIO(self.branding.logo), 0, 0)
        scale = min(emu(_LOGO_WIDTH) / picture.width, emu(_LOGO_HEIGHT) / picture.height)
        picture.width, picture.height = Emu(round(picture.width * scale)), Emu(round(picture.height * scale))
        picture.left, picture.top = Emu(emu(SLIDE_WIDTH - MARGIN) - picture.width), emu(_TOPIC_TOP)
        picture.name = "Logo"
        picture._element.nvPicPr.cNvPr.set("descr", f"Logo of {printable(self.branding.company)}".strip())

    def _footer(self, slide: Any, number: int) -> None:
        """Footer and slide number in the placeholders of the layout, over a hairline."""
        right = SLIDE_WIDTH - MARGIN
        line = slide.shapes.add_connector(
            MSO_CONNECTOR_TYPE.STRAIGHT, emu(MARGIN), emu(_FOOTER_TOP - 6), emu(right), emu(_FOOTER_TOP - 6)
        )
        without_theme(line)
        line.name = "Rule"
        line.line.color.rgb, line.line.width = rgb(self.palette.hairline), Pt(0.75)
        width = right - MARGIN - _NUMBER_WIDTH
        (text,) = text_fit.lines_of(self.branding.footer, _FOOTER_SIZE, width, most=1) or ("",)
        footer = self._placeholder(slide, PP_PLACEHOLDER.FOOTER, Area(MARGIN, _FOOTER_TOP, width, 16))
        paragraph = text_frame(footer, MSO_ANCHOR.TOP).paragraphs[0]
        paragraph.alignment = PP_ALIGN.LEFT
        write(paragraph, text, _FOOTER_SIZE, self.palette.muted)
        area = Area(right - _NUMBER_WIDTH, _FOOTER_TOP, _NUMBER_WIDTH, 16)
        place = self._placeholder(slide, PP_PLACEHOLDER.SLIDE_NUMBER, area)
        paragraph = text_frame(place, MSO_ANCHOR.TOP).paragraphs[0]
        paragraph.alignment = PP_ALIGN.RIGHT
        write(paragraph, str(number), _FOOTER_SIZE, self.palette.muted)
        # Turn the only run of a paragraph into the field that counts the slides.
        run = paragraph.runs[0]._r
        field = run.makeelement(run.tag.replace("}r", "}fld"), {"id": "{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}"})
        field.set("type", "slidenum")
        field.extend(list(run))
        run.getparent().replace(run, field)

    def _placeholder(self, slide: Any, kind: PP_PLACEHOLDER, area: Area) -> Any:
        """A placeholder of the layout on the slide, empty."""
        layout: Any = self.file.slide_layouts[_TITLE_ONLY]
        given = next(shape for shape in layout.placeholders if shape.placeholder_format.type == kind)
        element = copy.deepcopy(given.element)
        slide.shapes._spTree.append(element)
        shape = slide.shapes[-1]
        element.nvSpPr.cNvPr.set("id", str(max(one.shape_id for one in slide.shapes) + 1))
        shape.left, shape.top, shape.width, shape.height = corners(area)
        shape.text_frame.clear()
        for field in list(shape.text_frame.paragraphs[0]._p):
            shape.text_frame.paragraphs[0]._p.remove(field)
        return shape

    def as_bytes(self) -> bytes:
        """The presentation without the time at which it was written."""
        stream = io.BytesIO()
        self.file.save(stream)
        return without_dates(stream.getvalue())


def _notes(slide: Any, notes: Sequence[str]) -> None:
    if notes:
        slide.notes_slide.notes_text_frame.text = "\n".join(printable(note) for note in notes)
