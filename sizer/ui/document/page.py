"""Page Document: the guide, the bill and the design as files."""

import hashlib
from collections.abc import Callable

import streamlit as st

from sizer.base.quantities import si
from sizer.documents import FORMATS, PDF_FORMS
from sizer.present.assumption_text import assumption_rows, question_texts
from sizer.present.fonts.pango import weasyprint_state
from sizer.present.tables import Cell, Table, columns, row
from sizer.present.verdict_text import reason_texts, selection_text
from sizer.present.words import name as word
from sizer.present.words import plural, question, sentence
from sizer.sizing.result import SizingResult
from sizer.ui import look
from sizer.ui.document import branding, preview
from sizer.ui.document.downloads import Order, order
from sizer.ui.state import View
from sizer.ui.typed import plain

# Format -> name, what it is for, media type.
_FILES = {
    "pdf": ("Guide, PDF", "The reference architecture to hand over: design, sizing, bill, sources.", "application/pdf"),
    "pdf-full": (
        "Full guide, PDF",
        "The guide for those who build and run it: with every part, cable, address and formula.",
        "application/pdf",
    ),
    "summary": ("Summary, PDF", "The answer on one page.", "application/pdf"),
    "html": ("Guide, web page", "The full guide in one file that every browser opens.", "text/html"),
    "xlsx": (
        "Bill, workbook",
        "The bill with formulas, for a price to be filled in.",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
    "csv": ("Bill, CSV", "The bill for a quoting tool.", "text/csv"),
    "csv-semicolon": (
        "Bill, CSV (;)",
        "The same for spreadsheets where the comma marks decimals.",
        "text/csv",
    ),
    "cables": (
        "Cable list, CSV",
        "Every cable with both ends, its length, part number and labels, for the people who pull them.",
        "text/csv",
    ),
    "addresses": (
        "Address plan, CSV",
        "A proposed subnet and address for every port.",
        "text/csv",
    ),
    "netbox": (
        "NetBox import, ZIP",
        "Sites, racks, devices, cables and power cords in the order in which NetBox imports them.",
        "application/zip",
    ),
    "drawio": (
        "Drawings, draw.io",
        "Topology, rack row and rack fronts, to edit; draw.io saves them for Visio.",
        "application/vnd.jgraph.mxfile",
    ),
    "slides": (
        "Drawings, slides",
        "The same drawings as shapes on PowerPoint slides.",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ),
    "archive": (
        "Archive, PDF/A",
        "The full guide for keeping, with the design and the workbook inside the file.",
        "application/pdf",
    ),
    "design": (
        "Design, JSON",
        "Every number of the answer, and the request; opened here it gives the same design.",
        "application/json",
    ),
}


# Groups of files in the order in which people want them.
_GROUPS = (
    ("To read", ("pdf", "pdf-full", "summary", "html")),
    ("To buy", ("xlsx", "csv", "csv-semicolon")),
    ("To build", ("cables", "addresses", "netbox", "drawio", "slides")),
    ("To keep", ("archive", "design")),
)
# Form of the guide -> kind of document.
_FORMS = {"Short": "pdf", "Full": "pdf-full", "One page": "summary"}
_FORM, _CUSTOMER_COPY, _PREVIEWED = "document_form", "customer_copy", "previewed"


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    missing = weasyprint_state()
    if missing is not None:
        st.info(
            f"The PDFs cannot be made here: {plain(missing)} The web page is the full guide.", icon=":material/info:"
        )
    if not view.is_current:
        st.warning("The files are those of the last request that had an answer.", icon=":material/warning:")
    st.header("Document", anchor=False)
    kind = _choices(view, missing is None)
    asked = order(view, branding.profile(), bool(st.session_state.get(_CUSTOMER_COPY, False)))
    looks = plain(branding.in_words(asked.profile))
    with st.expander(f"**Branding:** {looks}", key="branding", on_change="rerun") as opened:
        if opened.open:
            branding.show()
    branding.show_faults()
    if missing is None:
        _preview(asked, kind)
    st.header("Files", anchor=False)
    kinds = tuple(kind for kind in FORMATS if missing is None or kind not in PDF_FORMS)
    _files(asked, kinds, kind)
    _all_files(asked, kinds)
    _contents(view)


def _choices(view: View, has_pdf: bool) -> str:
    """Form of the guide, and whether it is the customer's copy; the form's kind of document."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="large"):
        if has_pdf:
            form = st.session_state.get(_FORM, "Short")
            st.segmented_control(
                "Form of the guide", list(_FORMS), default=form, required=True, key="form", on_change=_note_form
            )
        is_forced = view.is_customer_mode
        st.toggle(
            "Customer copy",
            value=is_forced or bool(st.session_state.get(_CUSTOMER_COPY, False)),
            key=f"customer-copy/{is_forced}",
            disabled=is_forced,
            on_change=_note_copy,
            help="Leaves out discounts and internal notes in every file. With the customer view it is always on.",
        )
    return _FORMS[st.session_state.get(_FORM, "Short")]


def _note_form() -> None:
    st.session_state[_FORM] = st.session_state["form"]


def _note_copy() -> None:
    st.session_state[_CUSTOMER_COPY] = st.session_state["customer-copy/False"]


def _preview(asked: Order, kind: str) -> None:
    """Pages of the form as pictures, once they are asked for."""
    key, short = asked.key_of(kind), FORMATS[kind]
    place = st.empty()
    wanted = place.button("Show the pages", key="show-pages", icon=":material/visibility:")
    pdf = asked.kept.get(key) if st.session_state.get(_PREVIEWED) == digest_of(key) else None
    if pdf is None and wanted:
        with place.status(f"{short}: begun") as box:
            pdf = asked.file(kind, lambda word: box.update(label=f"{short}: {word}"))
        st.session_state[_PREVIEWED] = digest_of(key)
    if pdf is not None:
        place.empty()
        preview.show(digest_of(key), pdf, _FILES[kind][0])


def digest_of(key: str) -> str:
    """Short name of a file by its key, which is as long as the request."""
    return hashlib.sha256(key.encode()).hexdigest()


def _files(asked: Order, kinds: tuple[str, ...], first: str) -> None:
    """One list of all downloads; the form chosen above is the main one."""
    look.note("Each file is made when you ask for it; a PDF takes some seconds.")
    for title, members in _GROUPS:
        present = [kind for kind in members if kind in kinds]
        st.subheader(title, anchor=False)
        for kind in present:
            label, purpose, media = _FILES[kind]
            left, right = st.columns([1, 3], vertical_alignment="center", gap="medium")
            with left:
                st.download_button(
                    label,
                    maker(asked, kind),
                    asked.name(kind),
                    media,
                    key=f"download-{kind}",
                    on_click="ignore",
                    type="primary" if kind == first else "secondary",
                    icon=":material/download:",
                    width="stretch",
                )
            with right:
                look.note(purpose)


def maker(asked: Order, kind: str) -> Callable[[], bytes]:
    """Makes a file when it is asked for; it runs in a thread that has no session."""

    def make() -> bytes:
        return asked.file(kind)

    return make


def _all_files(asked: Order, kinds: tuple[str, ...]) -> None:
    """All files in one ZIP: made with its progress told, then handed over."""
    st.subheader("All in one", anchor=False)
    place = st.empty()
    wanted = place.button(
        "Make all files",
        key="make-all",
        icon=":material/folder_zip:",
        help="All files above in one ZIP. Those that are there already are not made again.",
    )
    archive = asked.kept.get(asked.zip_key(kinds))
    if archive is None and wanted:
        with place.status("All files: begun") as box:
            archive = asked.all_files(
                kinds, lambda file, word: box.update(label=f"{file}: {word}" if word else f"{file}: begun")
            )
    if archive is not None:
        place.download_button(
            f"All files, ZIP, {archive_size(archive)}",
            lambda: archive,
            asked.zip_name,
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
    st.header("What it rests on", anchor=False)
    if reason_texts(result):
        with st.expander("**Reasons** for this design"):
            look.notes([sentence(text) for text in (*reason_texts(result), selection_text(result))])
    _assumptions(view, result)
    _questions(result)
    with st.expander(f"**Sources:** {plural(len(result.sources), 'document')} stand behind these numbers"):
        known = view.catalog.sources
        rows = [
            row(
                known[key].title,
                known[key].publisher,
                known[key].date or Cell("no date", is_muted=True),
                known[key].grade,
            )
            for key in result.sources
            if key in known
        ]
        heads = columns(("Document", "left", 56), ("Publisher", "left", 24), ("Date", "left", 12), ("Grade", "left", 8))
        look.table(Table("sources", "Sources", heads, tuple(rows)), known)


def _assumptions(view: View, result: SizingResult) -> None:
    if not result.assumptions:
        look.note("Nothing is taken for granted: every fact has a source.")
        return
    with st.expander(f"**Taken for granted:** {plural(len(result.assumptions), 'fact')}"):
        rows = [
            row(
                sentence(one.what).rstrip("."),
                one.value,
                word(one.basis),
                Cell(sentence(one.note), (one.source,) if one.source else ()),
            )
            for one in assumption_rows(result)
        ]
        heads = columns(("What", "left", 30), ("Value", "left", 18), ("Basis", "left", 10), ("Why", "left", 42))
        look.table(Table("assumptions", "Assumptions", heads, tuple(rows)), view.catalog.sources)


def _questions(result: SizingResult) -> None:
    if not result.questions:
        look.note("Nothing is left to ask the vendors.")
        return
    with st.expander(f"**To ask the vendors:** {plural(len(result.questions), 'question')}"):
        look.notes([question(text) for text in question_texts(result)])
