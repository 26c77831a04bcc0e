"""Page Bill: upload and template of a price book, and the errors of the last file."""

from datetime import UTC, datetime

import streamlit as st

from sizer.export.price_book import MAX_BYTES, BookFault, read_book, template
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.words import plural
from sizer.ui import look, session_catalog, state
from sizer.ui.state import View
from sizer.ui.typed import plain

_FAULTS = "price_book_faults"  # plain key: name of the refused file and its errors
_UNKNOWN = "price_book_unknown"  # plain key: rows of the book in use that were left out
_VERSION = "price_book_version"
_MAX_SHOWN = 50
_LONGEST_NAME = 80
_MEGABYTE = 1_000_000


def show(view: View) -> None:
    """Draw upload, template and the errors of the last file."""
    look.note(
        "A price book is a CSV file or the first sheet of a workbook with one price per row. It applies to this "
        "session; its rows replace all catalogue prices of their items. An item is named by its id, part number or "
        "name; a server that is sold with several GPUs names them in the column gpus, as 8 x l40s-48gb. The template "
        "below has the columns; those after source are optional."
    )
    _in_use()
    version = st.session_state.get(_VERSION, 0)
    key = f"price-book/{version}"
    st.file_uploader(
        "Price book, CSV or XLSX",
        type=["csv", "xlsx"],
        key=key,
        max_upload_size=MAX_BYTES // _MEGABYTE,
        on_change=state.if_stored(key, _upload),
        args=(key,),
    )
    _errors()
    _template(view)


def _in_use() -> None:
    name = st.session_state.get(session_catalog.PRICE_BOOK_NAME, "")
    if not st.session_state.get(session_catalog.PRICE_BOOK):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        text = "Prices entered in the app" if name == session_catalog.ENTERED else f"Prices from {plain(name)}"
        st.success(f"{text} are in use.", icon=":material/price_check:")
        st.button("Remove price book", key="price-book-remove", on_click=_remove, icon=":material/delete:")


def _upload(key: str) -> None:
    file = st.session_state[key]
    if file is not None:
        take(file.name, file.getvalue())


def take(name: str, content: bytes) -> None:
    """Use a price book without its unknown items, or note each of its errors and use nothing of it."""
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    reading = read_book(content, session_catalog.catalog_without_price_book())
    st.session_state[_FAULTS] = (name, reading.faults)
    st.session_state[_UNKNOWN] = reading.unknown if not reading.faults else ()
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1
    if not reading.faults:
        session_catalog.set_price_book(reading.text, name)


def _remove() -> None:
    session_catalog.remove_price_book()
    st.session_state[_UNKNOWN] = ()
    st.session_state[_FAULTS] = ("", ())


def _errors() -> None:
    unknown = st.session_state.get(_UNKNOWN, ())
    if unknown:
        rows = plural(len(unknown), "row")
        st.warning(
            f"**{rows} not used**, for the reasons below; all other prices are in use.",
            icon=":material/warning:",
        )
        look.table(faults_table(unknown), {})
    name, faults = st.session_state.get(_FAULTS, ("", ()))
    if not faults:
        return
    st.error(
        f"**{plain(name)} was not loaded.** {plural(len(faults), 'error')}: correct "
        f"{'it' if len(faults) == 1 else 'them'} and upload again. Fill in missing amounts, or delete their rows.",
        icon=":material/block:",
    )
    look.table(faults_table(faults), {})


def faults_table(faults: tuple[BookFault, ...]) -> Table:
    """The first errors, one per row."""
    more = len(faults) - _MAX_SHOWN
    fields: tuple[Field[BookFault], ...] = (
        Field("Line", lambda fault: "file" if fault.line is None else fault.cell or str(fault.line), "right", 7),
        Field("Column", lambda fault: fault.column, width=15),
        Field("Value", _value, width=22),
        Field("Correction", lambda fault: fault.rule, width=56),
    )
    note = f"{plural(more, 'more error')} not shown." if more > 0 else ""
    return record_table("faults", "Errors in the price book", faults[:_MAX_SHOWN], fields, note=note)


def _value(fault: BookFault) -> Cell:
    is_empty = bool(fault.column) and not fault.value
    return Cell("empty" if is_empty else fault.value, is_muted=is_empty)


def _template(view: View) -> None:
    bill = view.result.design.bill
    if not bill.unpriced:
        look.note("Every item of this bill has a price.")
        return
    today = datetime.now(UTC).date()
    st.download_button(
        "Template for this bill, CSV",
        template(view.result, today),
        "price-book.csv",
        "text/csv",
        key="price-book-template",
        on_click="ignore",
        icon=":material/download:",
    )
    look.note(
        f"The template has a row for every item without a price, {len(bill.unpriced)} in this bill, and for those of "
        "other designs that would settle which costs least. Fill in amount and source, or delete the row."
    )
