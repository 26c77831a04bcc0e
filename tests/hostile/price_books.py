"""Price books: as a part of an overlay, and uploaded to the app."""

import io
import zipfile

from sizer.export.price_book import read_book
from tests.hostile.harness import Entry, overlaid

BOOK = "prices/book.csv"
HEAD = "item,amount,currency,date,source\n"
ROW = "dgx-1,{amount},USD,2026-11-20,q\n"


def upload(content: bytes) -> None:
    """Read an uploaded price book as the app does, and end as the command would with its faults."""
    from sizer.base.errors import CatalogError
    from tests.hostile.warm import CATALOG

    faults = read_book(content, CATALOG).faults
    if faults:
        raise CatalogError([f"line {fault.line}: {fault.rule}" for fault in faults])


def uploaded(name: str, content: bytes, *says: str) -> Entry:
    """A price book uploaded to the app."""
    return Entry(f"uploaded: {name}", upload, content, status=3, says=says)


def workbook(cells: str, encoding: str = 'encoding="UTF-8"') -> bytes:
    """A workbook with a sheet of these cells."""
    stream, link = io.BytesIO(), "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{link}"'
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/workbook.xml", f'<workbook {main}><sheets><sheet r:id="a"/></sheets></workbook>')
        book.writestr("xl/_rels/workbook.xml.rels", '<a><b Id="a" Target="sheet.xml"/></a>')
        head = f'<?xml version="1.0" {encoding}?>'
        book.writestr("xl/sheet.xml", f"{head}<worksheet {main}><sheetData>{cells}</sheetData></worksheet>")
    return stream.getvalue()


ENTRIES = (
    overlaid("binary", BOOK, bytes(range(256)), "not UTF-8"),
    overlaid("no header", BOOK, "1,2,3\n", "column"),
    overlaid("an open quote", BOOK, f'{HEAD}"dgx-1,1\n' + ROW.format(amount=1), "line 2", "quotation mark", "close it"),
    overlaid("an open quote in the head", BOOK, f'item,"amount\n{ROW.format(amount=1)}', "line 1", "quotation mark"),
    uploaded("an open quote", f'{HEAD}"dgx-1,1\n{ROW.format(amount=1)}'.encode(), "line 2", "quotation mark"),
    uploaded("5,000 open quotes", HEAD.encode() + b'x,"\n' * 4_999, "line 2", "more errors"),
    uploaded("a quote of 900 kB", HEAD.encode() + b'"' + b"x" * 900_000, "line 2", "not valid CSV"),
    uploaded("empty", b"", "column"),
    uploaded("binary", b"\x00\xff" * 100, "UTF-8"),
    uploaded("a workbook with a cell above the first row", workbook('<c r="A0"><v>1</v></c>'), "cell without a place"),
    uploaded("a workbook of an unknown encoding", workbook("", 'encoding="x"'), "no workbook that can be read"),
    uploaded("a damaged workbook", workbook("x" * 500)[:60] + b"x" + workbook("x" * 500)[61:], "no workbook that can"),
    uploaded("six megabytes", b"x" * 6_000_000, "at most"),
)
