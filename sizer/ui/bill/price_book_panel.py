"""The price book of the session: uploaded, taken off again, and a template to fill in."""

from datetime import UTC, datetime

import streamlit as st

from sizer.present.tables import Cell, Table, columns, row
from sizer.present.words import plural
from sizer.ui import look
from sizer.ui import session_catalog as parts
from sizer.ui.bill.price_book import MAX_BYTES, BookFault, read_book, template
from sizer.ui.state import View
from sizer.ui.typed import plain

_FAULTS = "price_book_faults"  # plain key: name of the refused file and its faults
_VERSION = "price_book_version"
_MAX_SHOWN = 50
_LONGEST_NAME = 80
_MEGABYTE = 1_000_000


def show(view: View) -> None:
    """Draw upload, template and what is wrong with the last file."""
    look.note(
        "A price book is a CSV file with a row a price. It is laid over the catalogue for this session; its "
        "rows replace all catalogue prices of their items. The template below shows the columns; those after source "
        "may be left out."
    )
    _present()
    version = st.session_state.get(_VERSION, 0)
    key = f"price-book/{version}"
    st.file_uploader(
        "Price book, CSV",
        type=["csv"],
        key=key,
        max_upload_size=MAX_BYTES // _MEGABYTE,
        on_change=_upload,
        args=(key,),
    )
    _wrong()
    _template(view)


def _present() -> None:
    name = st.session_state.get(parts.PRICE_BOOK_NAME, "")
    if not st.session_state.get(parts.PRICE_BOOK):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.success(f"Prices of {plain(name)} are laid over the catalogue.", icon=":material/price_check:")
        st.button("Remove it", key="price-book-remove", on_click=_remove, icon=":material/delete:")


def _upload(key: str) -> None:
    file = st.session_state[key]
    if file is not None:
        take(file.name, file.getvalue())


def take(name: str, content: bytes) -> None:
    """Lay a book over the catalogue, or note each of its faults and take nothing of it."""
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    text, faults = read_book(content, parts.without_book())
    st.session_state[_FAULTS] = (name, faults)
    st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1
    if not faults:
        parts.keep_book(text, name)


def _remove() -> None:
    parts.drop_book()
    st.session_state[_FAULTS] = ("", ())


def _wrong() -> None:
    name, faults = st.session_state.get(_FAULTS, ("", ()))
    if not faults:
        return
    st.error(
        f"**{plain(name)} was not taken.** It has {plural(len(faults), 'fault')}; mend them and upload it again. "
        "A row without an amount is filled in, or deleted.",
        icon=":material/block:",
    )
    look.table(faults_table(faults), {})


def faults_table(faults: tuple[BookFault, ...]) -> Table:
    """The first faults, one a row."""
    rows = [
        row("file" if one.line is None else str(one.line), one.column, _value(one), one.rule)
        for one in faults[:_MAX_SHOWN]
    ]
    more = len(faults) - _MAX_SHOWN
    heads = columns(
        ("Line", "right", 7), ("Column", "left", 15), ("Value", "left", 22), ("What is allowed", "left", 56)
    )
    note = f"{plural(more, 'fault')} more are not shown." if more > 0 else ""
    return Table("faults", "Faults of the price book", heads, tuple(rows), note)


def _value(fault: BookFault) -> Cell:
    is_empty = bool(fault.column) and not fault.value
    return Cell("empty" if is_empty else fault.value, is_muted=is_empty)


def _template(view: View) -> None:
    assert view.result is not None
    bill = view.result.design.bill
    if not bill.unpriced:
        look.note("Every item of this bill has a price.")
        return
    today = datetime.now(UTC).date()
    st.download_button(
        "Template for this bill, CSV",
        template(bill, today),
        "price-book.csv",
        "text/csv",
        key="price-book-template",
        on_click="ignore",
        icon=":material/download:",
    )
    look.note(
        f"It has a row for each of the {plural(len(bill.unpriced), 'item')} without a price. Fill in amount and "
        "source, or delete the row."
    )
