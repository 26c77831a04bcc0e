"""A price book as a CSV file or a workbook: loaded without unknown items or not at all; errors by line or cell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal

import streamlit as st

from sizer.base.errors import CatalogError
from sizer.base.formats.csv_rows import CsvRecord, csv_records
from sizer.base.formats.xlsx_rows import column_letters, is_zip, xlsx_rows
from sizer.catalog.labels import capital, with_vendor
from sizer.catalog.loader import MAX_FILE_BYTES, with_prices
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import COLUMNS, INFORMATIVE, RATE, Price, delimiter_of, price_rows
from sizer.export.tables.table import csv_bytes
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.words import plural
from sizer.sizing.result import SizingResult
from sizer.ui import look, session_catalog, state
from sizer.ui.state import View
from sizer.ui.typed import plain

MAX_BYTES = MAX_FILE_BYTES
MAX_LINES = 5_000  # of one book; the catalogue has some hundreds of items
# Rows of unknown items whose nearest id is looked for; that takes milliseconds a row.
_MAX_UNKNOWN = 50
_LONGEST_CELL = 60
_PLACE = "book"
_WHERE = re.compile(rf"{_PLACE} line (\d+): (.*)", re.DOTALL)
# Starts of a sentence about one column: "amount = 5 ...", "amount: ...", "amount is empty ...".
_ABOUT = re.compile(rf"({'|'.join((*COLUMNS, RATE))})(?:: | = | is empty)")


@dataclass(frozen=True)
class BookFault:
    """An error in a price book. ``line`` is None where it concerns the whole file; ``column`` may be ""."""

    line: int | None
    column: str
    value: str
    rule: str
    cell: str = ""  # of a workbook


@dataclass(frozen=True)
class BookReading:
    """What a file gives: the prices of known items, and what must be said of it."""

    text: str  # "" where there are errors
    faults: tuple[BookFault, ...] = ()
    unknown: tuple[BookFault, ...] = ()  # rows of items that the catalogue does not have; they are left out


def read_book(content: bytes, catalog: Catalog) -> BookReading:
    """A price book for a catalogue.

    ``catalog``: with the items to price; without another price book of the session.
    """
    if len(content) > MAX_BYTES:
        size = f"The file has {len(content) / 1e6:.1f} MB; a price book has at most {MAX_BYTES / 1e6:g} MB."
        return _refused(None, size)
    if is_workbook := is_zip(content):
        try:
            text = _sheet_text(xlsx_rows(content, MAX_LINES))
        except ValueError as error:
            return _refused(None, _sentence(str(error)))
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            return _refused(line, "Not UTF-8 text; save the file as CSV in UTF-8.")
        if "\0" in text:
            return _refused(None, "Not a text file; save it as CSV in UTF-8.")
        if len(text.splitlines()) > MAX_LINES:
            return _refused(None, f"The file has more than {MAX_LINES} lines; remove items that are not bought.")
    written, faults = price_rows(text, _PLACE)
    # Id of an item by its part number or name, where only one item has it.
    found: dict[str, set[str]] = {}
    items = {item.id: item for _, item in catalog.items()}
    for item in items.values():
        for name in (*(sku.value for sku in item.skus), item.name, with_vendor(item)):
            found.setdefault(name.casefold(), set()).add(item.id)
    ids = {name: next(iter(ids)) for name, ids in found.items() if len(ids) == 1}
    rows = [row.model_copy(update={"item": ids.get(row.item.casefold(), row.item)}) for row in written]
    known = [row for row in rows if row.item in items]
    unknown = [row for row in rows if row.item not in items]
    faults += _unfit(known, catalog)
    if not rows and not faults:
        return _refused(None, "The file has no prices; add rows below the header.")
    # Of many unknown items the first are enough.
    left_out = _in_columns(_unfit(unknown[:_MAX_UNKNOWN], catalog), text, is_workbook=is_workbook)
    if faults or not known:
        return BookReading("", (*_in_columns(faults, text, is_workbook=is_workbook), *left_out))
    return BookReading(text if rows == written and not unknown else _text_of(known), (), left_out)


def _sheet_text(rows: Sequence[Sequence[str]]) -> str:
    """Rows of a sheet as a price book: as many cells in each as in the head, a line a row."""
    width = max(map(len, rows), default=0)
    head, *others = [[" ".join(cell.split()) for cell in row] + [""] * (width - len(row)) for row in rows] or [[]]
    return csv_bytes(["_".join(name.lower().split()) for name in head], others, mark="").decode()


def _refused(line: int | None, rule: str) -> BookReading:
    return BookReading("", (BookFault(line, "", "", rule),))


def _text_of(rows: Sequence[Price]) -> str:
    """A price book with some rows."""
    cells = [row.model_dump(mode="json", exclude_none=True) for row in rows]
    lines = [[str(row.get(column, "")) for column in COLUMNS] for row in cells]
    return csv_bytes(COLUMNS, lines, mark="").decode()


def _unfit(rows: Sequence[Price], catalog: Catalog) -> list[str]:
    try:
        with_prices(catalog, rows)
    except CatalogError as error:
        return list(error.faults)
    return []


def _in_columns(faults: Sequence[str], text: str, *, is_workbook: bool) -> tuple[BookFault, ...]:
    cells = _cells(text)
    found = sorted((_in_column(fault, cells) for fault in faults), key=lambda one: one.line or 0)
    if not is_workbook:
        return tuple(found)
    columns = list(next(iter(cells.values()), {}))
    return tuple(
        replace(one, cell=f"{column_letters(columns.index(one.column) + 1)}{one.line}")
        if one.column in columns
        else one
        for one in found
    )


def _in_column(fault: str, cells: dict[int, dict[str, str]]) -> BookFault:
    match = _WHERE.fullmatch(fault)
    if match is None:
        return BookFault(None, "", "", _sentence(fault))
    line, error = int(match[1]), match[2].replace(f"{_PLACE} line ", "line ")
    about = _ABOUT.match(error)
    column = about[1] if about is not None else ""
    value = cells.get(line, {}).get(column, "")
    shown = value if len(value) <= _LONGEST_CELL else f"{value[:_LONGEST_CELL]}…"
    if column == "currency" and "capital letters" in error:
        error = "a currency has three capital letters, for example USD"
    return BookFault(line, column, shown, _sentence(error.removeprefix(f"{column}: ") if column else error))


def _sentence(text: str) -> str:
    return capital(text) + ("" if text.endswith((".", "?", "!")) else ".")


def _cells(text: str) -> dict[int, dict[str, str]]:
    """Cells by line and column, numbered as the faults are."""
    rows: dict[int, dict[str, str]] = {}
    records = csv_records(text, delimiter_of(text))
    columns = [name.strip() for name in next(records, CsvRecord(1, 1, [])).cells]
    for record in records:
        rows[record.line] = {name: cell.strip() for name, cell in record.by_column(columns).items()}
    return rows


def template(result: SizingResult, today: date) -> bytes:
    """Price book to fill in: a row without an amount for each item of the bill that has no price, with who makes it.

    Below these the items of other designs whose quotes would settle which design costs least.
    """
    bill = result.design.bill
    columns = ("item", *INFORMATIVE, *(name for name in COLUMNS if name != "item"))
    lines = {line.item: line for line in reversed(bill.bought)}
    rows = []
    for item in bill.unpriced:
        line, quantity = lines[item], sum(one.quantity for one in bill.bought if one.item == item)
        rows.append((item, line.manufacturer, line.sku, line.description, str(quantity)))
    rows += [(quote.item, "", "", quote.name, "") for quote in result.quotes_to_settle if quote.item not in lines]
    last = {"currency": bill.currency, "date": today.isoformat()}
    given = [dict(zip(columns, cells, strict=False)) | last for cells in rows]
    return csv_bytes(columns, [[one.get(column, "") for column in columns] for one in given], mark="")


def with_price(text: str, item: str, amount: Decimal, currency: str, day: date) -> str:
    """A price book with a price that was typed in the app in place of those of the same item and currency."""
    rows = price_rows(text, _PLACE)[0] if text else []
    others = [row for row in rows if (row.item, row.currency) != (item, currency)]
    source = "entered in the app"
    typed = Price(item=item, amount=amount, currency=currency, date=day.isoformat(), source=source, where="")
    return _text_of([*others, typed])


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
        "name. The template below has the columns; those after source are optional."
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
            f"**{rows} not used.** The catalogue does not have these items; all other prices are in use.",
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
