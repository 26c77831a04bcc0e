"""The finished documents of one answer, read as files: what each page, slide, cell, row and key says."""

import csv
import io
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl
import pptx
import pypdfium2

PDFS = ("guide.pdf", "engineers-file.pdf", "summary.pdf")
SLIDES = "slides.pptx"
WORKBOOK = "bom.xlsx"
DESIGN = "design.json"
TABLES = ("bom.csv", "cables.csv", "addresses.csv")
# How the PDF reader writes a hyphen at the end of a line.
LINE_HYPHEN = "\x02"


@dataclass
class Text:
    """A document for people: its pages or slides in one text."""

    text: str
    starts: list[int]  # of each page in the text
    unit: str  # "page" or "slide"

    def place(self, at: int) -> str:
        """Page of a place in the text."""
        return f"{self.unit} {sum(start <= at for start in self.starts)}"

    def pages(self) -> list[str]:
        """Text of each page."""
        ends = [*self.starts[1:], len(self.text)]
        return [self.text[start:end] for start, end in zip(self.starts, ends, strict=True)]


@dataclass
class Finished:
    """All documents of one answer that are there."""

    texts: dict[str, Text] = field(default_factory=dict)
    design: dict[str, Any] = field(default_factory=dict)
    sheets: dict[str, list[list[Any]]] = field(default_factory=dict)
    tables: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    @property
    def workloads(self) -> list[str]:
        """Names of the workloads, as the design document has them."""
        return [str(one["name"]) for one in self.design["design"]["workloads"]]

    @property
    def networks(self) -> list[str]:
        """Names of the networks that have a port in use."""
        return [str(one["name"]) for one in self.design["design"]["networks"] if one["ports_used"]]


def read(folder: Path) -> Finished:
    """Every document of a folder."""
    found = Finished()
    for path in sorted(folder.iterdir()):
        if path.name in PDFS:
            found.texts[path.name] = _joined(_pages(path), "page")
        elif path.name == SLIDES:
            found.texts[path.name] = _joined(_slides(path), "slide")
        elif path.name == WORKBOOK:
            book = openpyxl.load_workbook(path, data_only=True)
            found.sheets = {sheet.title: [list(row) for row in sheet.iter_rows(values_only=True)] for sheet in book}
        elif path.name == DESIGN:
            found.design = json.loads(path.read_text(encoding="utf-8"))
        elif path.name in TABLES:
            content = io.StringIO(path.read_text(encoding="utf-8-sig"))
            found.tables[path.name] = list(csv.DictReader(content))
    return found


def _joined(pages: list[str], unit: str) -> Text:
    text, starts = "", []
    for page in pages:
        starts.append(len(text))
        text += page + "\n"
    return Text(text, starts, unit)


def _pages(path: Path) -> list[str]:
    document = pypdfium2.PdfDocument(path)
    try:
        texts = [page.get_textpage().get_text_bounded() for page in document]
    finally:
        document.close()
    texts = [text.replace("\r\n", "\n").replace(LINE_HYPHEN, "-") for text in texts]
    # Drawings set digits one by one: the reader sees a plain space between their groups.
    return [re.sub(r"(?m)^\d{1,3}(?: \d{3})+$", lambda one: one[0].replace(" ", "\u202f"), text) for text in texts]


def _slides(path: Path) -> list[str]:
    return ["\n".join(_shapes(slide.shapes)) for slide in pptx.Presentation(str(path)).slides]


def _shapes(shapes: Any) -> list[str]:
    texts = []
    for shape in shapes:
        if shape.shape_type == pptx.enum.shapes.MSO_SHAPE_TYPE.GROUP:
            texts += _shapes(shape.shapes)
        elif shape.has_table if hasattr(shape, "has_table") else False:
            texts += [" ".join(cell.text for cell in row.cells) for row in shape.table.rows]
        elif shape.has_text_frame and shape.text_frame.text:
            texts.append(shape.text_frame.text)
    return texts
