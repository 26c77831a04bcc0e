"""What may be wrong with the file of a guide: its fonts, metadata and bookmarks."""

import io
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pikepdf
import pypdfium2
from fontTools.ttLib import TTFont

from sizer.base.resources import data_dir
from tests.guides.laid_out import Guide, spoken

FAMILY = "Inter"


def fonts(guide: Guide) -> Iterator[str]:
    """Fonts that are not embedded, whole, or of another family: there a letter was missing."""
    with pikepdf.open(io.BytesIO(guide.pdf)) as document:
        names = []
        for one in document.objects:
            if not isinstance(one, pikepdf.Dictionary) or one.get("/Type") != "/Font":
                continue
            for font in one.get("/DescendantFonts", [one]):
                name = str(font.get("/BaseFont", "")).lstrip("/")
                names.append(name)
                descriptor = font.get("/FontDescriptor", pikepdf.Dictionary())
                if not any(f"/FontFile{kind}" in descriptor for kind in ("", "2", "3")):
                    yield f"page ?: font {name} is not embedded"
                if not re.match(r"[A-Z]{6}\+", name):
                    yield f"page ?: font {name} is embedded whole"
                if not re.match(rf"(?:[A-Z]{{6}}\+)?{FAMILY}\b", name):
                    yield f"page ?: font {name} stands in for {FAMILY}, which lacks a letter"
        if not names:
            yield "page ?: there is no font"
        for number, page in enumerate(document.pages, 1):
            missing = sum(_missing_glyphs(page.obj, set()))
            if missing:
                yield f"page {number}: {missing} letters are drawn as empty boxes"


@cache
def _n_glyphs() -> int:
    """Glyphs of a face of the shipped family; WeasyPrint numbers letters that it lacks behind them."""
    return max(TTFont(face)["maxp"].numGlyphs for face in (data_dir("reports") / "fonts").glob("*.ttf"))


def _missing_glyphs(holder: Any, seen: set[tuple[int, int]]) -> Iterator[int]:
    """Glyph 0 and glyphs behind the last of the font in what is shown, in a page or form and the forms that it uses."""
    content = holder if isinstance(holder, pikepdf.Stream) else pikepdf.Page(holder)
    for operands, _ in pikepdf.parse_content_stream(content, "Tj TJ ' \""):
        for one in operands[-1] if isinstance(operands[-1], pikepdf.Array) else operands[-1:]:
            if isinstance(one, pikepdf.String):
                codes = bytes(one)
                glyphs = (int.from_bytes(codes[i : i + 2], "big") for i in range(0, len(codes), 2))
                yield sum(not 0 < glyph < _n_glyphs() for glyph in glyphs)
    resources = holder.get("/Resources", pikepdf.Dictionary())
    for form in dict(resources.get("/XObject", {})).values():
        if form.get("/Subtype") == "/Form" and form.objgen not in seen:
            seen.add(form.objgen)
            yield from _missing_glyphs(form, seen)


def metadata(guide: Guide) -> Iterator[str]:
    """Title, language, author and description in the file as in the page."""
    with pikepdf.open(io.BytesIO(guide.pdf)) as document:
        info, xmp = document.docinfo, document.open_metadata()
        title = spoken(guide.html.find("head/title"))
        if not title or str(info.get("/Title", "")) != title or xmp.get("dc:title") != title:
            yield f"page ?: the file is titled {info.get('/Title')} and {xmp.get('dc:title')}, the page {title}"
        if not guide.html.get("lang") or str(document.Root.get("/Lang", "")) != guide.html.get("lang"):
            yield f"page ?: the file is in language {document.Root.get('/Lang')}, the page in {guide.html.get('lang')}"
        for name, key in (("author", "/Author"), ("description", "/Subject"), ("keywords", "/Keywords")):
            given = [one.get("content", "") for one in guide.html.iter("meta") if one.get("name") == name]
            if given and str(info.get(key, "")) != ", ".join(given):
                yield f"page ?: {name} is {info.get(key)} in the file, {given} in the page"


def outline(guide: Guide) -> Iterator[str]:
    """Bookmarks that are not the chapters, or lead to another page."""
    document = pypdfium2.PdfDocument(guide.pdf)
    try:
        marks = [
            (" ".join(one.get_title().split()), one.get_dest().get_index() + 1)
            for one in document.get_toc()
            if one.level == 0
        ]
        labels = [document.get_page_label(number) for number in range(len(document))]
    finally:
        document.close()
    if marks != guide.chapters:
        chapters = guide.chapters
        different = sorted((Counter(marks) - Counter(chapters)) + (Counter(chapters) - Counter(marks)))
        yield f"page ?: bookmarks and chapters differ: {different or 'in their order'}"
    if any(labels) and labels != [str(page.number) for page in guide.pages]:
        yield f"page ?: pages are labelled {labels}, their feet count from 1"
