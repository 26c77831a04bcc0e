"""A price book as a CSV file or a workbook: read without unknown items or not at all; errors by line or cell."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal

from sizer.base.errors import CatalogError
from sizer.base.formats.csv_rows import CsvRecord, csv_records
from sizer.base.formats.xlsx_rows import column_letters, is_zip, xlsx_rows
from sizer.catalog.labels import capital, with_vendor
from sizer.catalog.loader import MAX_FILE_BYTES, with_prices
from sizer.catalog.model import Catalog
from sizer.catalog.price_books import COLUMNS, INFORMATIVE, RATE, Price, column_meant, delimiter_of, price_rows
from sizer.export.tables.table import csv_bytes
from sizer.sizing.result import SizingResult

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
    # Rows that are left out: of items that the catalogue does not have, and of servers without their GPUs.
    unknown: tuple[BookFault, ...] = ()


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
        except UnicodeDecodeError:  # what spreadsheets on Windows write unless asked for UTF-8
            text = content.decode("cp1252", "replace")
        if "\0" in text:
            return _refused(None, "Not a text file; save it as CSV in UTF-8.")
        if len(text.splitlines()) > MAX_LINES:
            return _refused(None, f"The file has more than {MAX_LINES} lines; remove items that are not bought.")
    written, faults = price_rows(text, _PLACE)
    # Ids of items by their part number, which several may have, or by a name that only one has.
    items = {item.id: item for _, item in catalog.items()}
    numbered: dict[str, set[str]] = {}
    named: dict[str, set[str]] = {}
    for item in items.values():
        for sku in item.skus:
            numbered.setdefault(sku.value.casefold(), set()).add(item.id)
        for name in (item.name, with_vendor(item)):
            named.setdefault(name.casefold(), set()).add(item.id)
    ids = {name: ids for name, ids in named.items() if len(ids) == 1} | numbered
    rows = [
        row.model_copy(update={"item": key})
        for row in written
        for key in sorted({row.item} if row.item in items else ids.get(row.item.casefold(), {row.item}))
    ]
    unnamed = [row for row in rows if not row.gpus and catalog.price_needs_gpus(row.item)]
    known = [row for row in rows if row.item in items and row not in unnamed]
    unknown = [row for row in rows if row.item not in items]
    faults += _unfit(known, catalog)
    if not rows and not faults:
        return _refused(None, "The file has no prices; add rows below the header.")
    # Of many unknown items the first are enough.
    left_out = _in_columns(
        [*_unfit(unknown[:_MAX_UNKNOWN], catalog), *(_unnamed(row, catalog) for row in unnamed)],
        text,
        is_workbook=is_workbook,
    )
    if faults or not known:
        return BookReading("", (*_in_columns(faults, text, is_workbook=is_workbook), *left_out))
    return BookReading(text if rows == written == known else _text_of(known), (), left_out)


def _sheet_text(rows: Sequence[Sequence[str]]) -> str:
    """Rows of a sheet as a price book: as many cells in each as in the head, a line a row."""
    width = max(map(len, rows), default=0)
    head, *others = [[" ".join(cell.split()) for cell in row] + [""] * (width - len(row)) for row in rows] or [[]]
    return csv_bytes(head, others, mark="").decode()


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


def _unnamed(row: Price, catalog: Catalog) -> str:
    sold = catalog.gpus_sold(row.item)[0]
    return f"{row.place}: gpus is empty; {row.item} is sold with several GPUs: name those of the price, as {sold}"


def _in_columns(faults: Sequence[str], text: str, *, is_workbook: bool) -> tuple[BookFault, ...]:
    cells = _cells(text)
    placed = sorted((_in_column(fault, cells) for fault in faults), key=lambda one: one.line or 0)
    if not is_workbook:
        return tuple(placed)
    columns = list(next(iter(cells.values()), {}))
    return tuple(
        replace(one, cell=f"{column_letters(columns.index(one.column) + 1)}{one.line}")
        if one.column in columns
        else one
        for one in placed
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
    columns = [column_meant(name) for name in next(records, CsvRecord(1, 1, [])).cells]
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
    platform, rows = result.design.platform, []
    gpus = {quote.item: quote.gpus for quote in result.quotes_to_settle} | {platform.server.id: platform.fitting}
    for item in bill.unpriced:
        line, quantity = lines[item], sum(one.quantity for one in bill.bought if one.item == item)
        rows.append((item, line.manufacturer, line.sku, line.description, str(quantity)))
    rows += [(quote.item, "", "", quote.name, "") for quote in result.quotes_to_settle if quote.item not in lines]
    last = {"currency": bill.currency, "date": today.isoformat()}
    given = [dict(zip(columns, cells, strict=False)) | last | {"gpus": gpus.get(cells[0], "")} for cells in rows]
    return csv_bytes(columns, [[one.get(column, "") for column in columns] for one in given])


def with_price(text: str, item: str, gpus: str, amount: Decimal, currency: str, day: date) -> str:
    """A price book with a price that was typed in the app in place of those of the same item, GPUs and currency."""
    rows = price_rows(text, _PLACE)[0] if text else []
    others = [row for row in rows if (row.item, row.gpus, row.currency) != (item, gpus, currency)]
    source = "entered in the app"
    typed = Price(item=item, amount=amount, currency=currency, date=day.isoformat(), source=source, where="", gpus=gpus)
    return _text_of([*others, typed])
