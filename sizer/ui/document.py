"""Page Document: the guide, the bill and the design as files."""

from collections.abc import Callable

import streamlit as st

from sizer.documents import FORMATS, PDF_FORMS, document
from sizer.report.pango import weasyprint_state
from sizer.report.tables import Cell, Table, columns, row
from sizer.report.words import name as word
from sizer.report.words import plural, question, sentence, slug
from sizer.sizing.result import SizingResult
from sizer.ui import look, state
from sizer.ui.state import View
from sizer.ui.typed import plain
from sizer.workload.request import SizingRequest

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


@st.cache_resource(show_spinner=False, max_entries=24)
def _made(request_json: str, digest: str, kind: str) -> bytes:
    parts = state.catalog()
    found = state.outcome(SizingRequest.model_validate_json(request_json), parts).result
    assert found is not None
    assert parts.digest == digest
    return document(found, parts, kind)


def _maker(view: View, kind: str) -> Callable[[], bytes]:
    request_json, digest = view.request_json, view.catalog.digest

    def make() -> bytes:
        return _made(request_json, digest, kind)

    return make


def show(view: View) -> None:
    """Draw the page."""
    assert view.result is not None
    st.header("Files", anchor=False)
    missing = weasyprint_state()
    if missing is not None:
        st.info(
            f"The PDFs cannot be made here: {plain(missing)} The web page is the full guide.", icon=":material/info:"
        )
    if not view.is_current:
        st.warning("The files are those of the last request that had an answer.", icon=":material/warning:")
    look.note("Each file is made when you ask for it; a PDF takes a few seconds.")
    kinds = [kind for kind in _FILES if kind in FORMATS and (kind not in PDF_FORMS or missing is None)]
    for number, kind in enumerate(kinds):
        label, purpose, media = _FILES[kind]
        left, right = st.columns([1, 4], vertical_alignment="center", gap="medium")
        with left:
            st.download_button(
                label,
                _maker(view, kind),
                file_name(view.result, kind),
                media,
                key=f"download-{kind}",
                on_click="ignore",
                type="primary" if number == 0 else "secondary",
                icon=":material/download:",
                width="stretch",
            )
        with right:
            look.note(purpose)
    _contents(view)


def file_name(result: SizingResult, kind: str) -> str:
    """Name of a file: customer, title, date."""
    request = result.request
    parts = (slug(request.customer), slug(request.title), str(request.date or ""), FORMATS[kind])
    return "-".join(part for part in parts if part)


def _contents(view: View) -> None:
    result = view.result
    assert result is not None
    if result.advice:
        st.header("Reasons", anchor=False)
        look.notes([sentence(text) for text in (*result.advice, result.selection)])
    st.header("What it rests on", anchor=False)
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
        ordered = sorted(result.assumptions, key=lambda one: one.basis != "assumed")
        rows = [
            row(
                sentence(one.what).rstrip("."),
                one.value,
                word(one.basis),
                Cell(sentence(one.note), (one.source,) if one.source else ()),
            )
            for one in ordered
        ]
        heads = columns(("What", "left", 30), ("Value", "left", 18), ("Basis", "left", 10), ("Why", "left", 42))
        look.table(Table("assumptions", "Assumptions", heads, tuple(rows)), view.catalog.sources)


def _questions(result: SizingResult) -> None:
    if not result.questions:
        look.note("Nothing is left to ask the vendors.")
        return
    with st.expander(f"**To ask the vendors:** {plural(len(result.questions), 'question')}"):
        look.notes([question(text) for text in result.questions])
