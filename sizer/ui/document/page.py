"""Page Document: the guide, the bill and the design as files."""

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import streamlit as st

from sizer.base.quantities import si
from sizer.catalog.schema import Source
from sizer.documents import FORMATS, INTERNAL, PDF_FORMS
from sizer.guide.engineer.short_chapters import assumptions_table
from sizer.present.fonts.pango import weasyprint_state
from sizer.present.tables import Cell, Field, record_table
from sizer.present.text.assumptions import question_texts
from sizer.present.text.verdict import reason_texts, selection_text
from sizer.present.words import plural, question, sentence
from sizer.sizing.result import SizingResult
from sizer.ui import look, state
from sizer.ui.app_server import turns
from sizer.ui.document import branding
from sizer.ui.document.downloads import DocumentSource, document_source
from sizer.ui.state import View
from sizer.ui.typed import plain

# 794 pixels for the width of an A4 page: sharp at the width of a column, legible when enlarged.
DPI = 96
PAGES_AT_A_TIME = 6
_POINTS_PER_INCH = 72
# PDFium works for one thread at a time.
_drawing = Lock()


@st.cache_resource(show_spinner=False, max_entries=32)
def n_pages(key: str, _pdf: bytes) -> int:  # noqa: ARG001  (the key stands for the file)
    """Number of pages."""
    with _opened(_pdf) as document:
        return len(document)


@st.cache_resource(show_spinner=False, max_entries=128)
def picture(key: str, number: int, _pdf: bytes) -> bytes:  # noqa: ARG001  (the key stands for the file)
    """A page as PNG; ``number`` counts from 0."""
    with _opened(_pdf) as document:
        page = document[number]
        image = page.render(scale=DPI / _POINTS_PER_INCH).to_pil()
        page.close()
    stream = io.BytesIO()
    image.save(stream, format="PNG")
    return stream.getvalue()


@contextmanager
def _opened(pdf: bytes) -> Iterator[Any]:
    import pypdfium2

    with _drawing:
        document = pypdfium2.PdfDocument(pdf)
        try:
            yield document
        finally:
            document.close()


def show_preview(key: str, pdf: bytes, name: str) -> None:
    """Draw a few pages side by side, with pagination."""
    count = n_pages(key, pdf)
    first = 0
    if count > PAGES_AT_A_TIME:
        leaf = st.pagination(-(-count // PAGES_AT_A_TIME), key=f"pages/{key}")
        first = (leaf - 1) * PAGES_AT_A_TIME
    numbers = range(first, min(first + PAGES_AT_A_TIME, count))
    st.caption(f"Pages {numbers[0] + 1} to {numbers[-1] + 1} of {count}." if count > 1 else "One page.")
    columns = st.columns(min(3, count))
    for place, number in enumerate(numbers):
        with columns[place % len(columns)], st.container(border=True):
            st.image(picture(key, number, pdf), alt=f"{name}, page {number + 1} of {count}", width="stretch")


# Format -> name, purpose, media type.
_FILES = {
    "pdf": (
        "Guide, PDF",
        "The reference architecture for the customer: design with its reasons, performance, bill, tests.",
        "application/pdf",
    ),
    "engineer": (
        "Engineer's file, PDF",
        "The evidence: assumptions, claims, calibration, every part, cable, address and formula. Not for the customer.",
        "application/pdf",
    ),
    "summary": ("Summary, PDF", "The answer on one page.", "application/pdf"),
    "html": ("Guide, web page", "The guide in one HTML file.", "text/html"),
    "xlsx": (
        "Bill, workbook",
        "The bill with formulas; fill in prices.",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    "csv": ("Bill, CSV", "The bill for a quoting tool.", "text/csv"),
    "csv-semicolon": (
        "Bill, CSV (;)",
        "The same for spreadsheets with a decimal comma.",
        "text/csv",
    ),
    "cables": (
        "Cable list, CSV",
        "Every cable with both ends, length, part number and labels, for the installers.",
        "text/csv",
    ),
    "addresses": (
        "Address plan, CSV",
        "A proposed subnet and address for every port.",
        "text/csv",
    ),
    "netbox": (
        "NetBox import, ZIP",
        "Sites, racks, devices, cables and power cords, in the import order of NetBox.",
        "application/zip",
    ),
    "slides": (
        "Slides, PowerPoint",
        "A deck to present: need, verdict, architecture, bottleneck, racks, growth, price, risks and next steps.",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    "archive": (
        "Archive, PDF/A",
        "The guide for archiving, with the design and the workbook attached.",
        "application/pdf",
    ),
    "design": (
        "Design, JSON",
        "Every number of the result, and the request. Opening it in this app gives the same design.",
        "application/json",
    ),
}


# Groups of files in their order on the page.
_GROUPS = (
    ("Documents", ("pdf", "engineer", "summary", "slides", "html")),
    ("Ordering", ("xlsx", "csv", "csv-semicolon")),
    ("Installation", ("cables", "addresses", "netbox")),
    ("Archive", ("archive", "design")),
)
# What is previewed -> kind of document.
_FORMS = {"Guide": "pdf", "Engineer's file": "engineer", "One page": "summary"}
_FORM, _PREVIEWED = "document_form", "previewed"


def show(view: View) -> None:
    """Draw the page."""
    missing = weasyprint_state()
    if missing is not None:
        st.info(
            f"PDFs cannot be made on this machine: {plain(missing)} The web page has the same content.",
            icon=":material/info:",
        )
    if not view.is_current:
        st.warning(
            "Downloads are locked: the current request has no design yet. The preview shows the previous result.",
            icon=":material/warning:",
        )
    st.header("Document", anchor=False)
    if view.is_customer_mode:
        look.note("Customer copies: without discounts, internal notes and the engineer's file.")
    else:
        look.note("Files for your own use. The customer view makes copies without discounts and internal notes.")
    source = document_source(view, branding.profile())
    kind = _chosen_form(source.is_customer_copy) if missing is None else "html"
    look.folded("Branding", "branding", branding.show, branding.summary(source.profile))
    branding.show_faults()
    if missing is None:
        # Preview of the pages, once requested.
        key, short = source.key_of(kind), FORMATS[kind]
        place = st.empty()
        wanted = place.button("Preview", key="show-pages", icon=":material/visibility:")
        pdf = source.cache.get(key) if st.session_state.get(_PREVIEWED) == digest_of(key) else None
        if pdf is None and wanted:
            with place.status(f"{short}: started") as box:
                pdf = source.file(kind, lambda word: box.update(label=f"{short}: {word}"))
            st.session_state[_PREVIEWED] = digest_of(key)
        if pdf is not None:
            place.empty()
            show_preview(digest_of(key), pdf, _FILES[kind][0])
    st.header("Files", anchor=False)
    left_out = (*(PDF_FORMS if missing is not None else ()), *(INTERNAL if source.is_customer_copy else ()))
    kinds = tuple(kind for kind in FORMATS if kind not in left_out)
    _files(source, kinds, kind, is_locked=not view.is_current)
    _all_files(source, kinds, is_locked=not view.is_current)
    _contents(view)


def _chosen_form(is_copy: bool) -> str:
    """Kind of document to preview."""
    forms = [form for form, kind in _FORMS.items() if not (is_copy and kind in INTERNAL)]
    form = st.session_state.get(_FORM, forms[0])
    st.segmented_control(
        "Document to preview",
        forms,
        default=form if form in forms else forms[0],
        required=True,
        key=f"form/{is_copy}",
        on_change=state.stores(f"form/{is_copy}", _FORM),
    )
    return _FORMS[st.session_state[f"form/{is_copy}"]]


def digest_of(key: str) -> str:
    """Short identifier of a file from its key, which is as long as the request."""
    return hashlib.sha256(key.encode()).hexdigest()


def _files(source: DocumentSource, kinds: tuple[str, ...], first: str, *, is_locked: bool) -> None:
    """List of all downloads; the form chosen above is the primary one. Locked while the request has no design."""
    look.note("Each file is made when you download it; a PDF takes some seconds.")
    for title, members in _GROUPS:
        present = [kind for kind in members if kind in kinds]
        st.subheader(title, anchor=False)
        for kind in present:
            label, purpose, media = _FILES[kind]
            left, right = st.columns([1, 3], vertical_alignment="center", gap="medium")
            with left:
                st.download_button(
                    label,
                    maker(source, kind),
                    source.name(kind),
                    media,
                    key=f"download-{kind}",
                    on_click="ignore",
                    type="primary" if kind == first else "secondary",
                    icon=":material/download:",
                    width="stretch",
                    disabled=is_locked,
                )
            with right:
                look.note(purpose)


def maker(source: DocumentSource, kind: str) -> Callable[[], bytes]:
    """Function that makes a file when it is downloaded, in a thread of its own, unless its window is closed."""

    def make() -> bytes:
        return source.file(kind)

    return turns.for_session(make)


def _all_files(source: DocumentSource, kinds: tuple[str, ...], *, is_locked: bool) -> None:
    """All files in one ZIP: made with a progress display, then offered for download."""
    st.subheader("All files", anchor=False)
    place = st.empty()
    wanted = place.button(
        "Make all files",
        key="make-all",
        icon=":material/folder_zip:",
        help="All files above in one ZIP. Files that exist already are reused.",
        disabled=is_locked,
    )
    archive = source.cache.get(source.zip_key(kinds))
    if archive is None and wanted:
        with place.status("All files: started") as box:
            archive = source.all_files(
                kinds, lambda file, word: box.update(label=f"{file}: {word}" if word else f"{file}: started")
            )
    if archive is not None and not is_locked:
        place.download_button(
            f"All files, ZIP, {archive_size(archive)}",
            lambda: archive,
            source.zip_name,
            "application/zip",
            key="download-all",
            on_click="ignore",
            icon=":material/folder_zip:",
        )


def archive_size(archive: bytes) -> str:
    """Size of a file in words."""
    return si(len(archive), "B")


def _contents(view: View) -> None:
    result = view.result
    assert result is not None
    st.header("Basis of the design", anchor=False)
    if reason_texts(result):
        with st.expander("**Reasons** for this design"):
            ranking = () if view.is_customer_mode else (selection_text(result),)
            look.notes([sentence(text) for text in (*reason_texts(result), *ranking)])
    if (table := assumptions_table(result)) is not None:
        look.table(table, view.catalog.sources, f"**Assumptions:** {plural(len(result.assumptions), 'input')}")
    if not view.is_customer_mode:
        _questions(result)
    with st.expander(f"**Sources:** {plural(len(result.sources), 'document')}"):
        known = view.catalog.sources
        fields: tuple[Field[Source], ...] = (
            Field("Document", lambda source: source.title, width=56),
            Field("Publisher", lambda source: source.publisher, width=24),
            Field("Date", lambda source: source.date or Cell("no date", is_muted=True), width=12),
            Field("Grade", lambda source: source.grade, width=8),
        )
        cited = [known[key] for key in result.sources if key in known]
        look.table(record_table("sources", "Sources", cited, fields), known)


def _questions(result: SizingResult) -> None:
    if not result.questions:
        look.note("No questions to the vendors.")
        return
    with st.expander(f"**Questions to the vendors:** {len(result.questions)}"):
        look.notes([question(text) for text in question_texts(result)])
