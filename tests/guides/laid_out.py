"""A guide as it lies on its pages, read into plain data: WeasyPrint's boxes, the words and drawings of the PDF."""

import ctypes
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from typing import Any
from unittest import mock

import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from sizer.present.fonts.pango import load_pango, weasyprint_state

SVG = "{http://www.w3.org/2000/svg}"
INLINE = frozenset({"a", "abbr", "b", "br", "code", "em", "i", "small", "span", "strong", "sub", "sup"})
SHAPES = frozenset({"path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "image"})
PT = 0.75  # of a CSS pixel
# Share of the size of Inter that a capital or a digit is high.
CAPITAL = 0.727


@dataclass(frozen=True)
class Rect:
    """A place on a page, in points from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """Extent across."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Extent down."""
        return self.bottom - self.top

    def holds(self, other: "Rect", tolerance: float) -> bool:
        """Whether the other lies inside."""
        return (
            self.left - tolerance <= other.left
            and other.right <= self.right + tolerance
            and self.top - tolerance <= other.top
            and other.bottom <= self.bottom + tolerance
        )

    def common(self, other: "Rect") -> tuple[float, float]:
        """Width and height of what both cover; negative where they are apart."""
        return (
            min(self.right, other.right) - max(self.left, other.left),
            min(self.bottom, other.bottom) - max(self.top, other.top),
        )

    def __or__(self, other: "Rect") -> "Rect":
        return Rect(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )


@dataclass(frozen=True)
class Text:
    """What one line holds of one inline element."""

    rect: Rect
    text: str
    tag: str  # of the block that it stands in
    block: int  # the same for texts of one block
    cell: Rect | None  # table cell around it
    figure: str | None  # id of the figure around it
    href: str | None  # of the link around it, or what a page number counts
    is_generated: bool  # by the style sheet
    in_margin: bool


@dataclass(frozen=True)
class Picture:
    """A drawing on a page."""

    rect: Rect
    figure: str | None


@dataclass(frozen=True)
class Rows:
    """What a page holds of a table."""

    rect: Rect
    figure: str | None
    has_head: bool
    body: tuple[str, ...]  # class of each row


@dataclass(frozen=True)
class Word:
    """Letters without a gap, as the PDF draws them."""

    text: str
    letters: tuple[Rect, ...]  # ink of each
    size: float | None  # of the letters, where it can be told

    @cached_property
    def rect(self) -> Rect:
        """Ink of all letters."""
        return reduce(or_, self.letters)


@dataclass
class Page:
    """A page of the guide."""

    number: int
    name: str  # of its @page rule
    width: float
    height: float
    area: Rect  # without margins
    texts: list[Text] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tables: list[Rows] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)

    @property
    def flow(self) -> list[Text]:
        """Texts but those of the margins."""
        return [one for one in self.texts if not one.in_margin]

    @property
    def is_landscape(self) -> bool:
        """Whether it is wider than high."""
        return self.width > self.height

    @property
    def filled(self) -> float:
        """Share of its height that holds something."""
        spans = sorted((one.rect.top, one.rect.bottom) for one in (*self.flow, *self.pictures, *self.tables))
        covered, reached = 0.0, self.area.top
        for top, bottom in spans:
            covered += max(0.0, bottom - max(top, reached))
            reached = max(reached, bottom)
        return covered / self.area.height

    @property
    def reach(self) -> float:
        """How far down its content goes, as a share of its height."""
        ends = [one.rect.bottom for one in (*self.flow, *self.pictures, *self.tables)]
        return (max(ends) - self.area.top) / self.area.height if ends else 0.0

    @property
    def first_tag(self) -> str:
        """Tag of what stands at the top."""
        return min([(one.rect.top, one.tag) for one in self.flow], default=(0.0, ""))[1]

    def blocks(self) -> Iterator[tuple[str, str]]:
        """Tag and text of each block on this page, without what the style sheet adds."""
        texts: dict[int, list[Text]] = {}
        for one in self.flow:
            if not one.is_generated:
                texts.setdefault(one.block, []).append(one)
        for parts in texts.values():
            text, last = "", parts[0].rect
            for part in parts:
                is_new_line = part.rect.top > last.bottom - 1
                text += (" " if is_new_line and not text.endswith(("-", " ")) else "") + part.text
                last = part.rect
            yield parts[0].tag, text.strip(" \n")


@dataclass(frozen=True)
class Figure:
    """A table or drawing as the HTML has it."""

    id: str
    caption: str
    is_drawing: bool
    has_head: bool  # of a table
    spoken: str  # title of the drawing
    n_shapes: int
    labels: tuple[str, ...]  # texts in the drawing

    @property
    def numbered(self) -> tuple[str, int] | None:
        """('Table', 3)."""
        found = re.match(r"(\w+)\s(\d+)\b", self.caption)
        return (found[1], int(found[2])) if found else None


@dataclass(repr=False)
class Guide:
    """All of it."""

    name: str
    pdf: bytes
    html: ET.Element
    pages: list[Page]
    starts: dict[str, int]  # page on which the element of an id begins

    @cached_property
    def figures(self) -> list[Figure]:
        """Tables and drawings in their order."""
        return [_figure(one) for one in self.html.iter("figure")]

    @cached_property
    def chapters(self) -> list[tuple[str, int]]:
        """Text and page of each heading of the first level, but that of a cover."""
        starts = {one.block: page for page in reversed(self.pages) for one in page.flow if one.tag == "h1"}
        found = [(spoken(one), starts[id(one)]) for one in self.html.iter("h1") if id(one) in starts]
        return [(text, page.number) for text, page in found if page.name != "cover"]


def spoken(element: ET.Element) -> str:
    """Text of an element, in one line, with ordinary spaces."""
    return " ".join("".join(element.itertext()).split())


def _figure(element: ET.Element) -> Figure:
    drawing = element.find(f".//{SVG}svg")
    caption = element.find("figcaption")
    title, shapes, labels = "", 0, []
    if drawing is not None:
        title = drawing.findtext(f"{SVG}title", "") or drawing.get("aria-label", "")
        for one in drawing.iter():
            name = one.tag.removeprefix(SVG) if isinstance(one.tag, str) else ""
            shapes += name in SHAPES and _draws(one, name)
            if name == "text":
                labels.append("".join(one.itertext()))
    return Figure(
        id=element.get("id", ""),
        caption="" if caption is None else spoken(caption),
        is_drawing=drawing is not None,
        has_head=element.find(".//thead") is not None,
        spoken=title,
        n_shapes=shapes,
        labels=tuple(labels),
    )


def _draws(shape: ET.Element, name: str) -> bool:
    """Whether a shape has an extent."""

    def number(key: str) -> float:
        found = re.match(r"[\d.eE+-]+", shape.get(key, ""))
        return float(found[0]) if found else 0.0

    if name in ("rect", "image"):
        return number("width") > 0 and number("height") > 0
    if name == "text":
        return bool("".join(shape.itertext()).strip())
    if name == "path":
        return len(re.findall(r"\d+", shape.get("d", ""))) > 2
    if name == "line":
        return (number("x1"), number("y1")) != (number("x2"), number("y2"))
    if name in ("polyline", "polygon"):
        return len(shape.get("points", "").split()) > 1
    return number("r") > 0 or number("rx") > 0


def read(name: str, make_pdf: Any) -> Guide:
    """The guide that ``make_pdf()`` makes, with the boxes that WeasyPrint laid out for it."""
    missing = weasyprint_state()
    if missing is not None:
        pytest.skip(missing)
    load_pango()
    import weasyprint

    kept: list[tuple[Any, Any]] = []
    render = weasyprint.HTML.render

    def keeping(self: Any, *arguments: Any, **options: Any) -> Any:
        document = render(self, *arguments, **options)
        kept.append((self, document))
        return document

    with mock.patch.object(weasyprint.HTML, "render", keeping):
        pdf = make_pdf()
    html, document = kept[-1]
    pages: list[Page] = []
    starts: dict[str, int] = {}
    for number, (laid, words) in enumerate(zip(document.pages, words_of(pdf), strict=True), 1):
        box = laid._page_box
        area = Rect(
            box.content_box_x() * PT,
            box.content_box_y() * PT,
            (box.content_box_x() + box.width) * PT,
            (box.content_box_y() + box.height) * PT,
        )
        page = Page(number, box.page_type.name or "", laid.width * PT, laid.height * PT, area, words=words)
        for child in box.children:
            _Walk(page, starts).box(child)
        pages.append(page)
    return Guide(name, pdf, html.etree_element, pages, starts)


class _Walk:
    """Goes down the boxes of a page."""

    def __init__(self, page: Page, starts: dict[str, int]) -> None:
        self.page, self.starts = page, starts
        self.cell: Rect | None = None
        self.figure: str | None = None
        self.href: str | None = None
        self.block: tuple[str, int] = ("", 0)
        self.is_generated = self.in_margin = False

    def box(self, box: Any) -> None:
        """Note what a box holds, and go on to those in it."""
        box = getattr(box, "_box", box)  # what is positioned absolutely stands behind a placeholder
        kind, element = type(box).__name__, box.element
        before = dict(vars(self))
        tag = box.element_tag or ""
        if element is not None and isinstance(element.tag, str) and not tag.endswith(("::before", "::after")):
            if element.get("id"):
                self.starts.setdefault(element.get("id"), self.page.number)
            if element.tag == "figure":
                self.figure = element.get("id")
            if element.tag == "a":
                self.href = element.get("href") or element.get("data-target")
            if element.tag not in INLINE:
                self.block = (element.tag, id(element))
        elif kind == "MarginBox":
            self.in_margin, self.block = True, ("margin", id(box))
        if "::" in tag:
            self.is_generated = True
            self.href = element.get("data-target") or element.get("href") or self.href
        if kind == "TableCellBox":
            self.cell = _rect(box)
        if kind == "TextBox":
            if box.text.strip():
                self.page.texts.append(
                    Text(
                        _rect(box),
                        box.text,
                        *self.block,
                        self.cell,
                        self.figure,
                        self.href,
                        self.is_generated,
                        self.in_margin,
                    )
                )
        elif kind in ("BlockReplacedBox", "InlineReplacedBox"):
            left, top = box.content_box_x(), box.content_box_y()
            place = Rect(left * PT, top * PT, (left + box.width) * PT, (top + box.height) * PT)
            self.page.pictures.append(Picture(place, self.figure))
        elif kind in ("TableBox", "InlineTableBox"):
            groups = [one for one in box.children if type(one).__name__ == "TableRowGroupBox"]
            body = tuple(
                row.element.get("class", "") for group in groups if not group.is_header for row in group.children
            )
            self.page.tables.append(Rows(_rect(box), self.figure, any(one.is_header for one in groups), body))
        for child in getattr(box, "children", ()):
            self.box(child)
        vars(self).update(before)


def _rect(box: Any) -> Rect:
    left, top = box.position_x + box.margin_left, box.position_y + box.margin_top
    return Rect(left * PT, top * PT, (left + box.border_width()) * PT, (top + box.border_height()) * PT)


def words_of(pdf: bytes) -> list[list[Word]]:
    """Words of each page, with the boxes of their ink."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        return [list(_words(page)) for page in document]
    finally:
        document.close()


def _words(page: pypdfium2.PdfPage) -> Iterator[Word]:
    height = page.get_height()
    letters = page.get_textpage()
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    text, ink, size = "", [], None
    for number in range(letters.count_chars()):
        letter = chr(pdfium.FPDFText_GetUnicode(letters, number))
        is_gap = letter.isspace() or letter in "\u200b\x00" or pdfium.FPDFText_IsGenerated(letters, number) == 1
        if not is_gap:
            pdfium.FPDFText_GetCharBox(letters, number, left, right, bottom, top)
            ink.append(Rect(left.value, height - top.value, right.value, height - bottom.value))
            text += letter
            if letter.isdigit() or letter.isupper():
                is_upright = abs(pdfium.FPDFText_GetCharAngle(letters, number)) % math.pi < 0.1
                size = (ink[-1].height if is_upright else ink[-1].width) / CAPITAL
        # A word divided at the end of a line goes on in another place.
        if ink and (is_gap or pdfium.FPDFText_IsHyphen(letters, number) == 1):
            yield Word(text, tuple(ink), size)
            text, ink, size = "", [], None
    if ink:
        yield Word(text, tuple(ink), size)
