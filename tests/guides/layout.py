"""What may be wrong with a laid-out guide. Each check gives findings, sentences that begin with the page."""

import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import pikepdf
import pypdfium2
import pypdfium2.raw as pdfium

from tests.guides.laid_out import Guide, Page, Rect, Text, Word, spoken
from tests.guides.pdf_file import fonts, metadata, outline
from tests.guides.raw_text import raw_text

INSIDE_PT = 0.5
# Ink of two words may touch: slanted letters and tight line heights do.
TOUCH_PT = (0.6, 0.9)
LEAST_FILLED = 0.06
# A page of the body that ends above this share of its height looks unfinished.
LEAST_REACH = 0.6
# Smaller letters are no longer read on paper.
SMALLEST_PT = 5.0
# A halo is an outline in the colour of the ground below the letters; it stays when they are taken away.
WITHOUT_LETTERS = {
    pdfium.FPDF_TEXTRENDERMODE_FILL: pdfium.FPDF_TEXTRENDERMODE_INVISIBLE,
    pdfium.FPDF_TEXTRENDERMODE_FILL_STROKE: pdfium.FPDF_TEXTRENDERMODE_STROKE,
}
# Drawings are looked at with so many dots a point; grey tones so far apart (of 255) under one letter are an edge.
SEEN_SCALE, SEEN = 2, 50

Check = Callable[[Guide], Iterator[str]]


def told(page: Page, what: str) -> str:
    """A finding."""
    return f"page {page.number}: {what}"


def short(text: str) -> str:
    """Enough of a text to find it."""
    return f"“{text[:60].strip()}{'…' if len(text) > 60 else ''}”"


# --- places


def outside(guide: Guide) -> Iterator[str]:
    """Text, drawings and tables that leave the area of the page, or its edge."""
    side = max((one.area.left for one in guide.pages if not one.is_landscape), default=0.0)
    for page in guide.pages:
        paper = Rect(0, 0, page.width, page.height)
        # A cover may go to the edge with its colours, not with its words.
        area = page.area if page.area.left else Rect(side, 0, page.width - side, page.height)
        for text in page.texts:
            if not (paper if text.in_margin else area).holds(text.rect, INSIDE_PT):
                yield told(page, f"{short(text.text)} leaves the {'page' if text.in_margin else 'text area'}")
        for what, place in [("drawing", one) for one in page.pictures] + [("table", one) for one in page.tables]:
            if not page.area.holds(place.rect, INSIDE_PT):
                yield told(page, f"{what} {place.figure} leaves the text area")
        for word in page.words:
            if not paper.holds(word.rect, 0):
                yield told(page, f"{short(word.text)} is cut by the edge of the paper")


def outside_cells(guide: Guide) -> Iterator[str]:
    """Text that runs out of its table cell."""
    for page in guide.pages:
        for text in page.flow:
            if text.cell and not text.cell.holds(text.rect, INSIDE_PT):
                yield told(page, f"{short(text.text)} leaves its cell in table {text.figure}")


def outside_drawings(guide: Guide) -> Iterator[str]:
    """Words that the edge of a drawing cuts, or that run into one."""
    for page in guide.pages:
        for picture in page.pictures:
            for word in page.words:
                if _touches(picture.rect, word.rect) and not picture.rect.holds(word.rect, INSIDE_PT):
                    yield told(page, f"{short(word.text)} crosses the edge of drawing {picture.figure}")


def overlaps(guide: Guide) -> Iterator[str]:
    """Words that lie on one another, in the text and inside drawings."""
    for page in guide.pages:
        open_: list[Word] = []
        for word in sorted(page.words, key=lambda one: one.rect.left):
            open_ = [one for one in open_ if one.rect.right > word.rect.left]
            for other in open_:
                across, down = _common_ink(word, other)
                if across and down:
                    yield told(
                        page, f"{short(other.text)} and {short(word.text)} overlap by {across:.1f} × {down:.1f} pt"
                    )
            open_.append(word)


def _common_ink(word: Word, other: Word) -> tuple[float, float]:
    """Largest place that letters of both cover; none where one word is drawn twice, as outline and filling."""
    if not _touches(word.rect, other.rect) or (word.text == other.text and word.rect.holds(other.rect, INSIDE_PT)):
        return 0.0, 0.0
    shared = [
        one.common(two)
        for one, letter in zip(word.letters, word.text, strict=False)
        for two, same in zip(other.letters, other.text, strict=False)
        # A word drawn twice may be read in other pieces, each letter on its like.
        if _touches(one, two) and not (letter == same and one.holds(two, INSIDE_PT))
    ]
    return max(shared, key=lambda both: both[0] * both[1], default=(0.0, 0.0))


def _touches(one: Rect, other: Rect) -> bool:
    across, down = one.common(other)
    return across > TOUCH_PT[0] and down > TOUCH_PT[1]


def crossed(guide: Guide) -> Iterator[str]:
    """Words with a line, an edge or a mark of a drawing through them; a halo around the word keeps it readable."""
    document = pypdfium2.PdfDocument(guide.pdf)
    try:
        for page in guide.pages:
            drawn = document[page.number - 1]
            for one in drawn.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT], max_depth=9):
                mode = pdfium.FPDFTextObj_GetTextRenderMode(one.raw)
                if mode in WITHOUT_LETTERS:
                    pdfium.FPDFTextObj_SetTextRenderMode(one.raw, WITHOUT_LETTERS[mode])
            below = drawn.render(scale=SEEN_SCALE, grayscale=True).to_numpy().astype(int)
            for word in page.words:
                parts = [_part(below, letter, SEEN_SCALE, inset=1) for letter in word.letters]
                if any(part.size and part.max() - part.min() > SEEN for part in parts):
                    where = next((one.figure for one in page.pictures if one.rect.holds(word.rect, 0)), "the page")
                    yield told(page, f"a line or an edge runs through {short(word.text)} in {where}")
    finally:
        document.close()


def _part(image: Any, place: Rect, scale: float, inset: int = 0) -> Any:
    """Pixels of a place."""
    top, bottom = int(place.top * scale) + inset, int(place.bottom * scale)
    left, right = int(place.left * scale) + inset, int(place.right * scale)
    return image[max(0, top) : bottom, max(0, left) : right]


def too_small(guide: Guide) -> Iterator[str]:
    """Drawings with letters that nobody can read on paper."""
    for page in guide.pages:
        for picture in page.pictures:
            sizes = [word.size for word in page.words if word.size and picture.rect.holds(word.rect, INSIDE_PT)]
            if sizes and min(sizes) < SMALLEST_PT:
                yield told(page, f"drawing {picture.figure} has letters of {min(sizes):.1f} pt")


# --- breaks


def orphans(guide: Guide) -> Iterator[str]:
    """Headings at the foot of a page, captions without their figure, heads of tables without a row."""
    drawn = {one.figure: page.number for page in reversed(guide.pages) for one in page.pictures}
    begun = {one.figure: page.number for page in reversed(guide.pages) for one in page.tables}
    headed = {one.id for one in guide.figures if one.has_head}
    captioned: dict[str | None, int] = {}
    for page in guide.pages:
        content = [(one.rect.bottom, one.rect.top, one.tag, one.text) for one in page.flow]
        content += [(one.rect.bottom, one.rect.top, "svg", "") for one in page.pictures]
        if content:
            *_, tag, text = max(content)
            if tag in ("h1", "h2", "h3", "h4"):
                yield told(page, f"heading {short(text)} stands at the foot")
        for one in page.flow:
            if one.tag == "figcaption":
                captioned.setdefault(one.figure, page.number)
        for table in page.tables:
            if not table.body:
                yield told(page, f"head of table {table.figure} stands without a row")
            elif re.search(r"\bgroup\b", table.body[-1]):
                yield told(page, f"a subheading is the last row of table {table.figure}")
            elif table.figure in headed and not table.has_head:
                yield told(page, f"table {table.figure} goes on without its head")
    for figure, number in captioned.items():
        place = drawn.get(figure, begun.get(figure))
        if place is not None and place != number:
            yield f"page {number}: caption of {figure}, which stands on page {place}"


def single_lines(guide: Guide) -> Iterator[str]:
    """One line of a paragraph alone at the foot or the head of a page."""
    for page, after in zip(guide.pages, guide.pages[1:], strict=False):
        here, there = _lines(page, "p"), _lines(after, "p")
        for block in here.keys() & there.keys():
            if min(len(here[block][0]), len(there[block][0])) < 2:
                yield told(page, f"one line of {short(here[block][1])} stands alone")


def _lines(page: Page, tag: str) -> dict[int, tuple[set[float], str]]:
    found: dict[int, tuple[set[float], str]] = {}
    for one in page.flow:
        if one.tag == tag:
            found.setdefault(one.block, (set(), one.text))[0].add(round(one.rect.bottom))
    return found


def empty(guide: Guide) -> Iterator[str]:
    """Pages with nothing, or next to nothing."""
    for page in guide.pages:
        if page.filled < LEAST_FILLED:
            yield told(page, f"only {page.filled:.0%} of its height holds something")


def underfilled(guide: Guide) -> Iterator[str]:
    """Body pages under 60 % full; the last page of a chapter may be."""
    first = next((page.number for page in guide.pages if page.first_tag == "h1"), 0)
    for page, after in zip(guide.pages, guide.pages[1:], strict=False):
        if page.number >= first and after.first_tag != "h1" and round(page.reach, 2) < LEAST_REACH:
            yield told(page, f"its content ends at {page.reach:.0%} of its height")


# --- references


def references(guide: Guide) -> Iterator[str]:
    """Links without a target, and numbers of figures, tables and pages that are not those of the document."""
    ids = {one.get("id") for one in guide.html.iter() if one.get("id")}
    for link in guide.html.iter("a"):
        href = link.get("href", "")
        if href.startswith("#") and href[1:] not in ids:
            yield f"page ?: {short(spoken(link))} leads to {href}, which does not exist"
    captions: dict[str, list[int]] = {}
    numbers = {}
    for figure in guide.figures:
        if figure.numbered:
            kind, number = figure.numbered
            captions.setdefault(kind, []).append(number)
            numbers[figure.id] = f"{kind} {number}"
        elif figure.is_drawing:
            yield f"page {guide.starts.get(figure.id, '?')}: drawing {figure.id} has no number"
    for kind, given in captions.items():
        if given != list(range(1, len(given) + 1)):
            yield f"page ?: captions of {kind} are numbered {given}"
    for page in guide.pages:
        for tag, text in page.blocks():
            for kind, number in re.findall(rf"\b({'|'.join(captions) or 'Table'})\s(\d+)\b", text):
                if tag not in ("figcaption", "li") and int(number) not in captions.get(kind, []):
                    yield told(page, f"{kind} {number} is mentioned and does not exist")
        for text in page.flow:
            target = (text.href or "")[1:]
            shown = " ".join(text.text.split())
            if target and text.is_generated and shown.isdigit() and guide.starts.get(target) != int(shown):
                yield told(page, f"{target} is said to stand on page {shown}, it is page {guide.starts.get(target)}")
            elif re.fullmatch(r"\w+ \d+", shown) and target in numbers and shown != numbers[target]:
                yield told(page, f"a link says {shown} and leads to {numbers[target]}")
        foot = [numbers for numbers in map(_two_numbers, page.texts) if numbers]
        if page.name != "cover" and len(guide.pages) > 1 and foot != [(page.number, len(guide.pages))]:
            yield told(page, f"its foot counts {foot or 'nothing'}")


def _two_numbers(text: Text) -> tuple[int, int] | None:
    found = re.fullmatch(r"\w+ (\d+) \w+ (\d+)", text.text.strip())
    return (int(found[1]), int(found[2])) if text.in_margin and found else None


def unmentioned(guide: Guide) -> Iterator[str]:
    """Drawings that no sentence refers to; on a single page they are seen."""
    if len(guide.pages) == 1:
        return
    linked = {one.get("href", "")[1:] for one in guide.html.iter("a")}
    for figure in guide.figures:
        if figure.is_drawing and figure.numbered and figure.id not in linked:
            kind, number = figure.numbered
            yield f"page {guide.starts[figure.id]}: {kind} {number} ({figure.id}) is not mentioned in the text"


def contents(guide: Guide) -> Iterator[str]:
    """Chapters that the list of contents does not name, and lines of it without the number of a page."""
    lists = [one for one in guide.html.iter() if "contents" in one.get("class", "").split()]
    if not lists:
        return
    named = [spoken(one) for columns in lists for one in columns.iter("li")]
    for chapter, _ in guide.chapters:
        if not any(line.startswith(chapter) for line in named):
            yield f"page 2: the contents lack {short(chapter)}"
    counted = {one.href for page in guide.pages for one in page.flow if one.is_generated and one.text.strip().isdigit()}
    for link in (one for columns in lists for one in columns.iter("a")):
        if link.get("href") not in counted:
            yield f"page 2: the contents tell no page of {short(spoken(link))}"


# --- figures


def figures(guide: Guide) -> Iterator[str]:
    """Drawings that draw nothing, are nowhere, or cannot be told."""
    places = {one.figure: (page, one.rect) for page in guide.pages for one in page.pictures}
    images = _images(guide)
    for figure in guide.figures:
        if not figure.is_drawing:
            continue
        if figure.id not in places:
            yield f"page ?: drawing {figure.id} is on no page"
            continue
        page, place = places[figure.id]
        if figure.n_shapes < 3 or place.width < 50 or place.height < 20 or images[figure.id] < 0.002:
            yield told(page, f"drawing {figure.id} shows next to nothing")
        if len(figure.spoken) < 10:
            yield told(page, f"drawing {figure.id} has no spoken text")
    tagged, drawn = _spoken_figures(guide.pdf), sum(len(page.pictures) for page in guide.pages)
    if tagged != drawn:
        yield f"page ?: {tagged} figures of the tagged PDF have a spoken text, {drawn} are drawn"


def _images(guide: Guide) -> dict[str | None, float]:
    """Share of each drawing that is not of the colour of its corner."""
    document = pypdfium2.PdfDocument(guide.pdf)
    inked: dict[str | None, float] = {}
    try:
        for page in guide.pages:
            if not page.pictures:
                continue
            image = document[page.number - 1].render(scale=0.5, grayscale=True).to_numpy().astype(int)
            for one in page.pictures:
                part = _part(image, one.rect, 0.5)
                inked[one.figure] = float((abs(part - part[0, 0]) > 20).mean()) if part.size else 0.0
    finally:
        document.close()
    return inked


def _spoken_figures(pdf: bytes) -> int:
    with pikepdf.open(io.BytesIO(pdf)) as document:
        return sum(
            isinstance(one, pikepdf.Dictionary) and one.get("/S") == "/Figure" and bool(str(one.get("/Alt", "")))
            for one in document.objects
        )


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        outside,
        outside_cells,
        outside_drawings,
        overlaps,
        crossed,
        too_small,
        orphans,
        single_lines,
        empty,
        underfilled,
        references,
        unmentioned,
        contents,
        figures,
        raw_text,
        fonts,
        metadata,
        outline,
    )
}
