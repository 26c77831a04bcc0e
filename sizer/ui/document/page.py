"""Page Document: the guide, the bill and the design as files."""

from functools import partial

import streamlit as st

from sizer.base.quantities import si
from sizer.documents import FORMATS, INTERNAL, PDF_FORMS
from sizer.guide.engineer.short_chapters import assumptions_table
from sizer.present.fonts.pango import weasyprint_state
from sizer.present.text.assumptions import question_texts
from sizer.present.text.verdict import reason_texts, selection_text
from sizer.present.words import plural, question, sentence
from sizer.sizing.result import SizingResult
from sizer.ui import look
from sizer.ui.app_server import turns
from sizer.ui.document import branding
from sizer.ui.document.downloads import DocumentSource, document_source
from sizer.ui.state import View
from sizer.ui.typed import plain

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
    "csv-semicolon": ("Bill, CSV (;)", "The same for spreadsheets with a decimal comma.", "text/csv"),
    "cables": (
        "Cable list, CSV",
        "Every cable with both ends, length, part number and labels, for the installers.",
        "text/csv",
    ),
    "addresses": ("Address plan, CSV", "A proposed subnet and address for every port.", "text/csv"),
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
            "Downloads are locked: the current request has no design yet.",
            icon=":material/warning:",
        )
    st.header("Document", anchor=False)
    if view.is_customer_mode:
        look.note("Customer copies: without discounts, internal notes and the engineer's file.")
    else:
        look.note("Files for your own use. The customer view makes copies without discounts and internal notes.")
    source = document_source(view, branding.profile())
    look.folded("Branding", "branding", branding.show, branding.summary(source.profile))
    branding.show_faults()
    st.header("Files", anchor=False)
    left_out = (*(PDF_FORMS if missing is not None else ()), *(INTERNAL if source.is_customer_copy else ()))
    kinds = tuple(kind for kind in FORMATS if kind not in left_out)
    with st.container(key="files"):
        _files(source, kinds, is_locked=not view.is_current)
    _all_files(source, kinds, is_locked=not view.is_current)
    _contents(view)


def _files(source: DocumentSource, kinds: tuple[str, ...], *, is_locked: bool) -> None:
    """List of all downloads; the first is the primary one. Locked while the request has no design."""
    look.note("Each file is made when you download it; a PDF takes some seconds.")
    first = next(kind for _, members in _GROUPS for kind in members if kind in kinds)
    for title, members in _GROUPS:
        present = [kind for kind in members if kind in kinds]
        st.subheader(title, anchor=False)
        for kind in present:
            label, purpose, media = _FILES[kind]
            left, right = st.columns([1, 3], vertical_alignment="center", gap="medium")
            with left:
                st.download_button(
                    label,
                    turns.for_session(partial(source.file, kind)),  # made in a thread of its own
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
            f"All files, ZIP, {si(len(archive), 'B')}",
            lambda: archive,
            source.zip_name,
            "application/zip",
            key="download-all",
            on_click="ignore",
            icon=":material/folder_zip:",
        )


def _contents(view: View) -> None:
    result = view.result
    st.header("Basis of the design", anchor=False)
    if reason_texts(result):
        with st.expander("**Reasons** for this design"):
            ranking = () if view.is_customer_mode else (selection_text(result),)
            look.notes([sentence(text) for text in (*reason_texts(result), *ranking)])
    if (table := assumptions_table(result)) is not None:
        look.table(table, view.catalog.sources, f"**Assumptions:** {plural(len(result.assumptions), 'input')}")
    if not view.is_customer_mode:
        _questions(result)


def _questions(result: SizingResult) -> None:
    if not result.questions:
        look.note("No questions to the vendors.")
        return
    with st.expander(f"**Questions to the vendors:** {len(result.questions)}"):
        look.notes([question(text) for text in question_texts(result)])
