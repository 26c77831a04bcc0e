"""Price books: as a part of an overlay, and uploaded to the app."""

from sizer.ui.bill.price_book import read_book
from tests.hostile.harness import Entry, command

HEAD = "item,amount,currency,date,source\n"
ROW = "dgx-1,{amount},USD,2026-11-20,q\n"


def upload(content: bytes) -> None:
    """Read an uploaded price book as the app does, and end as the command would with its faults."""
    from sizer.base.errors import CatalogError
    from tests.hostile.warm import CATALOG

    faults = read_book(content, CATALOG).faults
    if faults:
        raise CatalogError([f"line {fault.line}: {fault.rule}" for fault in faults])


def overlaid(name: str, text: str | bytes, *says: str, status: int = 3) -> Entry:
    """A price book in an overlay, handed to ``sizer catalog check``."""
    file = "own/prices/book.csv"
    return Entry(
        name, command, ("catalog", "check", "--catalog", "own"), {file: text}, status, ("own/prices/book.csv", *says)
    )


def uploaded(name: str, content: bytes, *says: str) -> Entry:
    """A price book uploaded to the app."""
    return Entry(f"uploaded: {name}", upload, content, status=3, says=says)


ENTRIES = (
    overlaid("binary", bytes(range(256)), "not UTF-8"),
    overlaid("no header", "1,2,3\n", "column"),
    overlaid("an open quote", f'{HEAD}"dgx-1,1\n' + ROW.format(amount=1), "line 2", "quotation mark", "close it"),
    overlaid("an open quote in the head", f'item,"amount\n{ROW.format(amount=1)}', "line 1", "quotation mark"),
    uploaded("an open quote", f'{HEAD}"dgx-1,1\n{ROW.format(amount=1)}'.encode(), "line 2", "quotation mark"),
    uploaded("5,000 open quotes", HEAD.encode() + b'x,"\n' * 4_999, "line 2", "more errors"),
    uploaded("a quote of 900 kB", HEAD.encode() + b'"' + b"x" * 900_000, "line 2", "not valid CSV"),
    uploaded("empty", b"", "column"),
    uploaded("binary", b"\x00\xff" * 100, "UTF-8"),
    uploaded("six megabytes", b"x" * 6_000_000, "at most"),
)
