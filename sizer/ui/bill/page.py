"""Page Bill: parts, prices, open quotes, and the cost of ownership."""

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import streamlit as st

from sizer.bom.cost import unusual_prices
from sizer.bom.prices import prices_for
from sizer.catalog.labels import item_name, with_vendor
from sizer.export.price_book import MAX_BYTES, BookFault, read_book, template
from sizer.present.bill_tables import bill_table, category_prices
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.bill_warnings import bill_warning_sentences, excluded_text, need_dangers, unsupported_text
from sizer.present.text.money import price_text, range_text
from sizer.present.words import date as day
from sizer.present.words import money, plural
from sizer.questions.ownership.analysis import ownership
from sizer.questions.ownership.text import finding, ownership_table, runs_table
from sizer.sizing.result import SizingResult
from sizer.ui import fields, look, session_catalog, state
from sizer.ui.bill import editor
from sizer.ui.bill.overrides import DROPPED
from sizer.ui.request_form.forms import QUOTE, QUOTE_LINE, RequestPath
from sizer.ui.requirements import surroundings
from sizer.ui.requirements.surroundings import OWNERSHIP
from sizer.ui.state import View
from sizer.ui.typed import plain

_FAULTS = "price_book_faults"  # plain key: name of the refused file and its errors
_UNKNOWN = "price_book_unknown"  # plain key: rows of the book in use that were left out
_VERSION = "price_book_version"
_MAX_SHOWN = 50
_LONGEST_NAME = 80
_MEGABYTE = 1_000_000


def _price_book(view: View) -> None:
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


# Parts of the page, as its tabs are called.
BILL, EDIT, OWN, TERMS, BOOK = "Bill", "Edit lines", "Own lines", "Quote", "Price book"
TABS = (BILL, EDIT, OWN, TERMS, BOOK)
_TAB = "bill_tab"
# Price warnings shown in the banner; the others are in a fold.
_MAX_WARNINGS = 3
_LINES: RequestPath = ("quote", "line")
_MAX_LINES = 500  # of a quote
_TERM_MONTHS = 36  # of what is offered for some years


def show(view: View) -> None:
    """Draw the page; in the customer view without anything about how prices were made."""
    result = view.result
    if view.is_customer_mode:
        st.header("Bill of materials", anchor=False)
    else:
        # Banner of quantities that were set for another design, until it is dismissed.
        dropped = st.session_state.get(DROPPED)
        if dropped:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.warning(f"**Changes that no longer apply.** {plain(' '.join(dropped))}", icon=":material/rule:")
                dismiss, which = st.session_state.pop, (DROPPED, None)
                st.button("Dismiss", key="dismiss-dropped", on_click=dismiss, args=which, type="tertiary")
    _prices_to_check(view)
    _date_of_need(result)
    if view.is_customer_mode:
        look.note(_price(result))
        _bill(view, result)
        _ownership(view, result)
    else:
        _tabs(view, result)


def _tabs(view: View, result: SizingResult) -> None:
    bill = result.design.bill
    key = f"bill-tabs/{st.session_state.generation}"
    chosen = st.session_state.get(_TAB, BILL)
    tabs = st.tabs(
        TABS,
        key=key,
        default=chosen if chosen in TABS else BILL,
        on_change=state.stores(key, _TAB),
    )
    parts = dict(zip(TABS, tabs, strict=True))
    with parts[BILL]:
        if parts[BILL].open:
            look.note(
                _price(result) + ("" if bill.is_complete else " Upload a price book, or enter prices under Edit lines.")
            )
            _bill(view, result)
            _ownership(view, result)
    for name, draw in ((EDIT, editor.show), (OWN, _own_lines), (TERMS, _terms), (BOOK, _price_book)):
        with parts[name]:
            if parts[name].open:
                draw(view)


def _own_lines(view: View) -> None:
    """Lines without a catalogue item: a fold each, and buttons for what most quotes have besides the parts."""
    look.note(
        "Add lines for what the parts list lacks. While one has no price, and is not optional, the total is to be "
        "quoted."
    )
    for number in range(len(surroundings.entries(_LINES))):
        draw = partial(surroundings.box, QUOTE_LINE, _LINES, number, "own-line", "Remove this line")
        look.folded(f"Line {number + 1}", f"line-{number}", draw, fields.summary(QUOTE_LINE, number))
    design, optional = view.result.design, {"status": "optional"}  # the total stays known until it has a price
    term = {"term_months": _TERM_MONTHS, **optional}
    per_gpu = {"quantity": design.n_gpus, "unit": "GPU", **term}
    usual: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
        ("Add a line", "service", "Installation", {}),
        ("Add vendor support", "support", "Vendor support", term),
        ("Add software per GPU", "software", "Software subscription, such as NVIDIA AI Enterprise", per_gpu),
        ("Add a spare server", "compute", f"Spare: {with_vendor(design.platform.server)}", optional),
    )
    with st.container(horizontal=True, gap="small", key="usual-lines"):
        for label, category, description, more in usual:
            line = {"description": description, "category": category, "quantity": 1, **more}
            surroundings.add_button(label, _LINES, partial(dict, line), _MAX_LINES, f"line-of-{category}")


def _terms(view: View) -> None:
    """Heading and terms of the quote."""
    fields.draw_columns(QUOTE)
    valid_until = view.result.design.bill.valid_until
    look.note(
        "The customer and the quote date are entered under Requirements, Document details. "
        + (
            f"The quote is valid until {day(valid_until)}."
            if valid_until is not None
            else "With a quote date the bill shows how long the quote is valid."
        )
    )


def _price(result: SizingResult) -> str:
    return f"Price: {price_text(result.design)}. {result_text.open_prices(result.design.bill)}"


def _bill(view: View, result: SizingResult) -> None:
    bill = result.design.bill
    prices = {} if bill.is_complete else category_prices(result, view.catalog, bill.currency)
    printed = bill_table(bill, view.catalog.sources, prices)
    # The widths are those of a printed page; a wide window has more room for the descriptions.
    columns = tuple(replace(column, width=16 if column.title == "Part number" else 0) for column in printed.columns)
    look.table(replace(printed, columns=columns), view.catalog.sources)
    in_banners = {warning for _, warning in bill.price_warnings}
    if result.request.needed_by is not None:
        in_banners.update(need_dangers(bill.warnings))
    look.notes(
        [
            excluded_text(bill),
            # Without any line of support the first sentence says so.
            *filter(None, [unsupported_text(bill, view.catalog) if bill.part("support").bought else ""]),
            *bill_warning_sentences(warning for warning in bill.warnings if warning not in in_banners),
        ]
    )


def _ownership(view: View, result: SizingResult) -> None:
    """What owning the design costs over the years; a button that asks for it where the request does not."""
    answer = ownership(result)
    if answer is None:
        if not view.is_customer_mode:
            OWNERSHIP.begin_button("begin-ownership")
        return
    st.header("Cost of ownership", anchor=False)
    st.markdown(plain(finding(answer)))
    look.table(ownership_table(answer), view.catalog.sources)
    look.table(runs_table(answer), view.catalog.sources)
    if not view.is_customer_mode:
        OWNERSHIP.show()


def _prices_to_check(view: View) -> None:
    """Banner of prices that are old, expired, in another currency, or far from what the market asks."""
    result, bill = view.result, view.result.design.bill
    warnings = bill_warning_sentences(dict.fromkeys(warning for _, warning in bill.price_warnings))
    if not view.is_customer_mode:
        book = prices_for(result.request, view.catalog)
        warnings += [
            f"{item_name(line.item, view.catalog)}: {money(line.unit_price, bill.currency)} each; the market asks "
            f"{range_text(bill.currency, low, high)}."
            for line, low, high in unusual_prices(bill, result.design.platform, view.catalog, book)
        ]
    if not warnings:
        return
    st.warning(f"**Prices to check.** {plain(' '.join(warnings[:_MAX_WARNINGS]))}", icon=":material/event_busy:")
    if len(warnings) > _MAX_WARNINGS:
        with st.expander(f"{plural(len(warnings) - _MAX_WARNINGS, 'more price')} to check"):
            look.notes(warnings[_MAX_WARNINGS:])


def _date_of_need(result: SizingResult) -> None:
    """Banner of what comes too late, or whose sale or service ends too soon."""
    if result.request.needed_by is None:
        return
    warnings = bill_warning_sentences(need_dangers(result.design.bill.warnings))
    if warnings:
        st.warning(f"**Date of need.** {plain(' '.join(warnings))}", icon=":material/event_upcoming:")
