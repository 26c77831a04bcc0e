"""A finished page as PDF. A process that only does this loads WeasyPrint and nothing of the sizing."""

import contextlib
import datetime
import gc
import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any
from xml.etree import ElementTree

import cssselect2  # type: ignore[import-untyped]
import pydyf
import weasyprint
from weasyprint import svg
from weasyprint.html import UA, UA_COUNTER_STYLE
from weasyprint.urls import URLFetcher, URLFetcherResponse

from sizer.base.errors import ReportError
from sizer.guide.pdf.progress import Attachments, Progress, reported_steps
from sizer.present.fonts.files import ASSETS, FONTS, FONTS_GO_HERE, print_faces
from sizer.present.fonts.glyphs import drawable
from sizer.present.fonts.pango import load_pango

# WeasyPrint lays out in CSS pixels of 1/96 inch; a PDF counts points of 1/72.
_POINTS_PER_PIXEL = 0.75


def mended(document: Any, pdf: Any) -> None:
    """Finisher of ``write_pdf``: links spoken by their text, running heads as artifacts, figures in place."""
    # ISO 14289-1, 7.18.5: the spoken text of a link is its text, not the name of its target.
    for page in document.pages:
        for _, target, _, box in page.links:
            note = getattr(box, "link_annotation", None)
            if note is None:
                continue
            words = "" if box.element is None else "".join(box.element.itertext())
            note["Contents"] = pydyf.String(" ".join(words.split()) or target)
    _mark_running_heads(pdf)
    # ISO 32000-1, 14.8.5.4.3: the box of a figure is in the space of the page, from its lower left corner.
    objects = {one.reference: one for one in pdf.objects if hasattr(one, "reference")}
    for one in pdf.objects:
        if isinstance(one, dict) and one.get("S") == "/Figure" and "BBox" in one.get("A", {}):
            height = objects[one["Pg"]]["MediaBox"][3]
            left, top, right, bottom = (_POINTS_PER_PIXEL * length for length in one["A"]["BBox"])
            one["A"]["BBox"] = pydyf.Array((left, height - bottom, right, height - top))


def _mark_running_heads(pdf: Any) -> None:
    """ISO 14289-1, 7.8 (Matterhorn 18-001): running heads are artifacts, not content outside of the structure."""
    root = pdf.catalog.get("StructTreeRoot")
    if root is None:
        return
    objects = {one.reference: one for one in pdf.objects if hasattr(one, "reference")}

    def found(reference: Any) -> Any:
        return objects[reference.encode() if isinstance(reference, str) else reference]

    tree = found(root)
    reached: set[Any] = set()
    waiting = list(tree["K"])
    while waiting:
        reference = waiting.pop()
        if reference in reached or isinstance(reference, int):
            continue
        reached.add(reference)
        waiting += [kid for kid in found(reference).get("K", []) if not isinstance(kid, int)]
    parents = found(tree["ParentTree"])["Nums"]
    marks_of = dict(zip(parents[::2], parents[1::2], strict=True))
    for page in (one for one in pdf.objects if isinstance(one, dict) and one.get("Type") == "/Page"):
        marks = marks_of[page["StructParents"]]
        loose = {mark for mark, reference in enumerate(marks) if reference not in reached}
        stream = found(page["Contents"]).stream
        for index, part in enumerate(stream):
            if isinstance(part, dict) and part.get("MCID") in loose:
                stream[index - 1], stream[index] = b"/Artifact", pydyf.Dictionary({"Type": "/Pagination"})
        for mark in loose:
            marks[mark] = "null"


# Start of the address of a file that is put into the PDF.
ATTACHED = "attached:"
_INSIDE = re.compile(r"data:(?:image/(?:png|jpeg|gif|webp)|font/(?:ttf|woff2));base64,[A-Za-z0-9+/=]*")
_SHOWN = 80


class PackagedOnly(URLFetcher):  # type: ignore[misc]
    """Fetcher that fails on any other address.

    No text of a user becomes an address, so whatever is refused is a fault of a template.

    ``refused``: a sentence for each refusal. Inside a drawing WeasyPrint goes on after one.
    """

    def __init__(self) -> None:
        super().__init__(allow_redirects=False, fail_on_errors=True)
        self.refused: list[str] = []

    def fetch(self, url: str, headers: dict[str, str] | None = None) -> Any:
        """Content of an address.

        Raises ValueError if the guide may not load it.
        """
        try:
            return self._given(url, headers)
        except (OSError, ValueError) as error:  # a damaged data address is an OSError or ValueError of urllib
            self.refused.append(str(error))
            raise

    def _given(self, url: str, headers: dict[str, str] | None) -> Any:
        if _INSIDE.fullmatch(url):
            return super().fetch(url, headers)
        font = next((one for one in FONTS if url == ASSETS + one.file), None)
        if font is None:
            shown = url if len(url) <= _SHOWN else f"{url[:_SHOWN]}…"
            raise ValueError(f"the guide may not load {shown}")
        return URLFetcherResponse(url, font.path.read_bytes(), {"Content-Type": "font/ttf"})


class AttachedOnly(URLFetcher):  # type: ignore[misc]
    """Fetcher of the files to attach to a PDF, each with its media type."""

    def __init__(self, files: Mapping[str, tuple[bytes, str]]) -> None:
        super().__init__(allow_redirects=False, fail_on_errors=True)
        self._files = files

    def fetch(self, url: str, headers: dict[str, str] | None = None) -> Any:  # noqa: ARG002 -- as in the base class
        """Content of a file by its address.

        Raises ValueError if it is none of the files.
        """
        found = self._files.get(url.removeprefix(ATTACHED)) if url.startswith(ATTACHED) else None
        if found is None:
            raise ValueError(f"no file {url[:_SHOWN]} is attached")
        data, media_type = found
        return URLFetcherResponse(url, data, {"Content-Type": media_type})


# Collections of cyclic garbage while a document is set. Its boxes live until it is done: to look through them as often
# as usual takes a fifth of the time and frees next to nothing; less often than this would cost memory.
_RARE_COLLECTIONS = (100_000, 50, 50)
# Ending -> media type and what the file is to the document (ISO 32000-2, 7.11.3, AFRelationship): the design is what
# the guide was written from, a workbook is the data that its tables show.
_KINDS = {
    ".json": ("application/json", "Source"),
    ".xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Data"),
    ".csv": ("text/csv", "Data"),
}
_OTHER = ("application/octet-stream", "Unspecified")
# A file in a PDF carries dates; a fixed one keeps equal documents equal.
_UNDATED = datetime.date(2000, 1, 1)
_PLACES = ("x", "y", "dx", "dy", "rotate")
_SPACING = ("letter-spacing", "textLength")
_by_letters = svg.text
_SVG = "{http://www.w3.org/2000/svg}"
_STYLE = re.compile(r"(?<=<style>).*?(?=</style>)", re.DOTALL)
# A rule of a style sheet has one pair of braces inside, at most.
_FOR_SCREENS = re.compile(r"@media screen[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")
_VARIABLE = re.compile(r"(--[\w-]+):\s*([^;]+);")
_USE = re.compile(r"var\((--[\w-]+)\)")
# Classes of a document of one page and of a cover; one whose text is too long at the usual size is set closer.
_ONE_PAGE, _COVER = '<body class="one-page', '<header class="cover'
# White below the last line of a cover: 8 mm. [px]
_COVER_FOOT = 30.0
# Every element would get six more styles for these.
_NOTES = re.compile(r"^::(?:foot)?note-.*$", re.MULTILINE)
_ANY_MARKER = re.compile(r"^::marker\b", re.MULTILINE)


class Page(weasyprint.HTML):  # type: ignore[misc]
    """A page of HTML. One that is well-formed XML, as our templates write it, is read in a tenth of the time.

    ``url_fetcher``: of the files that it may load.
    """

    def __init__(self, text: str, url_fetcher: Any) -> None:
        text = _STYLE.sub(lambda style: _print_style(style[0]), text, count=1)
        try:
            root = ElementTree.fromstring(text)
        except ElementTree.ParseError:
            super().__init__(string=text, base_url=ASSETS, url_fetcher=url_fetcher)
            return
        for drawing in list(root.iter("svg")):  # without a name space, which HTML does not ask for
            for node in drawing.iter():
                node.tag = _SVG + node.tag.removeprefix(_SVG)
        self.base_url = ASSETS
        self.url_fetcher = url_fetcher
        self.media_type = "print"
        self.wrapper_element = cssselect2.ElementWrapper.from_html_root(root, content_language=None)
        self.etree_element = root

    def _ua_stylesheets(self, forms: bool = False) -> list[Any]:  # noqa: ARG002 -- as in the base class
        return [_browser_style()]


def _print_style(sheet: str) -> str:
    """A style sheet without rules for screens, each variable replaced by its value: WeasyPrint looks up every use."""
    sheet = _FOR_SCREENS.sub("", sheet)
    values: Mapping[str, str] = dict(_VARIABLE.findall(sheet))
    return _USE.sub(lambda use: values.get(use[1], use[0]), sheet)


@cache
def _browser_style() -> Any:
    """WeasyPrint's own style sheet without foot notes, and with markers of list items only: the guide has no others."""
    return weasyprint.CSS(string=_ANY_MARKER.sub("li::marker", _NOTES.sub("", UA)), counter_style=UA_COUNTER_STYLE)


class _Run(str):
    """A text whose only letter is the whole text."""

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        yield str(self)


def _text(drawing: Any, node: Any, font_size: float) -> None:
    """Draw a text in one piece where no letter has a place of its own: a fifth of the time, and with kerning."""
    attributes = node.attrib
    has_places = any(len(attributes.get(name, "").replace(",", " ").split()) > 1 for name in _PLACES)
    if node.text and not has_places and not any(name in attributes for name in _SPACING):
        node._etree_node.text = _Run(node.text)
    _by_letters(drawing, node, font_size)


@cache
def mend_engine() -> None:
    """Make WeasyPrint draw the texts of drawings as runs, everywhere."""
    for tag, drawn in svg.TAGS.items():
        if drawn is _by_letters:
            svg.TAGS[tag] = _text
    svg.text = _text  # compared with the tags


def attached(files: Mapping[str, bytes], date: datetime.date | None) -> list[Any]:
    """Files as WeasyPrint attaches them.

    ``files``: file name, without folders, to content. ``date``: date of the document, which becomes that of the
    files. Raises ValueError if two names are the same once cleaned.
    """
    from weasyprint import Attachment

    kinds = {clean_name(name): (data, *_kind(name)) for name, data in files.items()}
    if len(kinds) < len(files):
        raise ValueError(f"two attachments have the same name: {', '.join(sorted(files))}")
    fetcher = AttachedOnly({name: (data, media_type) for name, (data, media_type, _) in kinds.items()})
    day = datetime.datetime.combine(date or _UNDATED, datetime.time(), datetime.UTC)
    return [
        Attachment(
            url=f"{ATTACHED}{name}",
            url_fetcher=fetcher,
            name=name,
            created=day,
            modified=day,
            relationship=relationship,
        )
        for name, (_, _, relationship) in kinds.items()
    ]


def clean_name(name: str) -> str:
    """File name without folders, of letters, digits, dots, dashes and underscores only."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", re.split(r"[/\\]", name)[-1]).strip(".-")
    return plain[-80:] or "file"


def _kind(name: str) -> tuple[str, str]:
    return _KINDS.get(name[name.rfind(".") :].lower(), _OTHER)


def page_pdf(
    page: str,
    attachments: Attachments | None = None,
    date: datetime.date | None = None,
    progress: Progress | None = None,
) -> bytes:
    """A page as PDF/UA-1, or with attachments as PDF/A-3b.

    ``attachments``: files to put into an archive, by their names; an archive may have none. ``date``: date of the
    attached files. ``progress``: called with a word whenever another part of the work begins. Raises ReportError in
    one sentence, if the page asks for a file or address that is not shipped.
    """
    with reported_steps(progress):
        if attachments is None:
            return _pdf(page)
        # Tags are no part of level B, but cost little and serve readers of archives, too.
        with _quiet_about_files():
            return _pdf(page, pdf_variant="pdf/a-3b", pdf_tags=True, attachments=attached(attachments, date))


def _pdf(page: str, **options: object) -> bytes:
    load_pango()
    from weasyprint.urls import FatalURLFetchingError

    page = drawable(page).replace(FONTS_GO_HERE, print_faces(), 1)
    # Font sub-setting logs what it drops; that is no news for the user.
    for name in ("fontTools", "fontTools.subset", "weasyprint"):
        logging.getLogger(name).setLevel(logging.ERROR)
    mend_engine()
    fetcher = PackagedOnly()
    # Fonts and parsed style are not kept for the next document: that would save 0.01 of 4 s.
    pdf: bytes = b""
    too_long = ""

    def finished(document: Any, pdf: Any) -> None:
        nonlocal too_long
        too_long = _too_long(document, page)
        mended(document, pdf)

    for classes in ("", " closer", " closer least"):
        text = re.sub(f"{_ONE_PAGE}|{_COVER}", rf"\g<0>{classes}", page, count=2)
        if text == page and classes:
            break
        with contextlib.suppress(FatalURLFetchingError), _rare_collections():
            pdf = Page(text, fetcher).write_pdf(finisher=finished, **{"pdf_variant": "pdf/ua-1", **options})
            if not fetcher.refused and not too_long:
                return pdf
    if fetcher.refused:
        raise ReportError(f"a template of the guide is damaged: {fetcher.refused[0]}")
    raise ReportError(f"{too_long}: shorten its title and the names of its parts")


def _too_long(document: Any, page: str) -> str:
    """What does not fit where it must: a summary on one page, the text of a cover above the edge of the paper."""
    if _ONE_PAGE in page:
        n_pages = len(document.pages)
        return "" if n_pages == 1 else f"the summary takes {n_pages} pages in place of one"
    first, *others = (page._page_box for page in document.pages[:2])
    lines = (box.position_y + box.height for box in first.descendants() if type(box).__name__ == "LineBox")
    goes_on = any(box.element_tag == "header" for other in others for box in other.descendants())
    is_over = _COVER in page and (goes_on or max(lines, default=0.0) > first.margin_height() - _COVER_FOOT)
    return "the text of the cover runs over its edge" if is_over else ""


@contextlib.contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect cyclic garbage rarely, and what a document leaves at its end; not at all where that is switched off."""
    if not gc.isenabled():
        yield
        return
    usual = gc.get_threshold()
    gc.set_threshold(*_RARE_COLLECTIONS)
    # What was there before need not be looked through for what the document leaves; the app has frozen its own.
    freezes = not gc.get_freeze_count()
    if freezes:
        gc.freeze()
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.collect()
        if freezes:
            gc.unfreeze()


@contextlib.contextmanager
def _quiet_about_files() -> Iterator[None]:
    """Ignore the warning about the colour profile that WeasyPrint 70 leaves open after reading it for an archive."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
