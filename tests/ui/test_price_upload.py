"""Price books that are uploaded: hostile files, faults by line and column, and what a good one changes."""

import datetime
import io
import zipfile
from collections import Counter
from dataclasses import replace
from decimal import Decimal

import openpyxl
import pytest

from sizer.bom.lines import bill
from sizer.bom.prices import price_book
from sizer.catalog.loader import load_catalog, with_prices
from sizer.catalog.price_books import price_rows
from sizer.export.price_book import MAX_BYTES, MAX_LINES, BookFault, BookReading, read_book, template, with_price
from tests.factories.examples import catalog, sized

HEAD = "item,amount,currency,date,source\n"


def book(*rows: str) -> bytes:
    return (HEAD + "\n".join(rows) + "\n").encode()


def faults(content: bytes) -> tuple[BookFault, ...]:
    reading = read_book(content, catalog())
    assert reading.text == ""
    assert reading.faults
    return reading.faults


def test_a_good_book_is_taken_with_or_without_the_mark_of_spreadsheets():
    content = book("dgx-1,150000.00,USD,2026-11-20,offer 17")
    assert read_book(content, catalog()) == BookReading(content.decode())
    assert read_book(b"\xef\xbb\xbf" + content, catalog()) == BookReading(content.decode())
    german = content.decode().replace("offer", "Müller")  # as spreadsheets on Windows save it
    assert read_book(german.encode("cp1252"), catalog()) == BookReading(german)


def test_a_book_with_semicolons_may_mark_decimals_by_a_comma():
    text = read_book(b"item;amount;currency;date;source\ndgx-1;149000,50;EUR;2026-11-20;offer\n", catalog()).text
    (row,), found = price_rows(text, "book")
    assert (row.amount, row.currency, found) == (Decimal("149000.50"), "EUR", [])


def test_a_comma_before_three_digits_is_no_decimal_sign():
    (found,) = faults(b"item;amount;currency;date;source\ndgx-1;149,000;EUR;2026-11-20;offer\n")
    assert (found.line, found.column, found.value) == (2, "amount", "149,000")


def test_unknown_items_are_left_out_and_told():
    reading = read_book(book("dxg-1,5,USD,2026-11-20,q", "dgx-1,150000,USD,2026-11-20,q"), catalog())
    assert reading.faults == ()
    (unknown,) = reading.unknown
    assert (unknown.line, unknown.column, unknown.value) == (2, "item", "dxg-1")
    assert "did you mean 'dgx-1'?" in unknown.rule
    rows, found = price_rows(reading.text, "book")
    assert [(row.item, row.amount) for row in rows] == [("dgx-1", Decimal(150000))]
    assert found == []


def test_a_price_of_a_server_sold_with_several_gpus_holds_for_those_that_it_names():
    rows = "lenovo-sr675v3,95000,USD,2026-11-20,q,8 x l40s-48gb", "lenovo-sr675v3,5,USD,2026-11-20,q,"
    reading = read_book(("item,amount,currency,date,source,gpus\n" + "\n".join(rows)).encode(), catalog())
    (unnamed,) = reading.unknown
    assert (reading.faults, unnamed.line, unnamed.column) == ((), 3, "gpus")
    # An overlay has both rows, and the one that names none counts for no design.
    laid = with_prices(catalog(), price_rows(f"item,amount,currency,date,source,gpus\n{rows[1]}\n", "book")[0])
    assert price_book(laid).net("lenovo-sr675v3", "USD") is None
    book_ = price_book(with_prices(catalog(), price_rows(reading.text, "book")[0]))
    platform = replace(sized("dgx1-f800-resnet50").design.platform, server=laid.servers["lenovo-sr675v3"])
    fitted = [
        book_.fitted(replace(platform, gpu=laid.gpus[gpu], gpus_per_server=number))
        for number, gpu in ((8, "l40s-48gb"), (8, "h100-nvl-94gb"), (4, "l40s-48gb"))
    ]
    assert [one.net("lenovo-sr675v3", "USD") for one in fitted] == [95_000, None, None]


def test_a_typed_price_replaces_that_of_its_item_and_keeps_the_others():
    text = book("dgx-1,5,USD,2026-11-20,q", "c4140,7,USD,2026-11-20,q").decode()
    rows, found = price_rows(with_price(text, "dgx-1", "", Decimal("9.50"), "USD", datetime.date(2026, 11, 23)), "book")
    assert found == []
    assert {row.item: row.amount for row in rows} == {"dgx-1": Decimal("9.50"), "c4140": Decimal(7)}


def test_a_price_said_twice_is_a_fault():
    (found,) = faults(book("dgx-1,5,USD,2026-11-20,q", "dgx-1,6,USD,2026-11-20,q"))
    assert found.line == 3
    assert "at line 2 already" in found.rule


def workbook(*rows: tuple[object, ...], head: tuple[str, ...] = tuple(HEAD.strip().split(",")), change=None) -> bytes:
    """A workbook as openpyxl writes it."""
    book = openpyxl.Workbook()
    for row in (head, *rows):
        book.active.append(row)
    if change is not None:
        change(book.active)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_a_workbook_gives_the_prices_of_its_first_sheet_with_dates_and_decimals_as_typed():
    day = datetime.date(2026, 11, 20)
    sheet = workbook(("dgx-1", 149000.1, "EUR", day, "offer"), ("c4140", "41.250,50", "EUR", "20.11.2026", "offer"))
    rows, found = price_rows(read_book(sheet, catalog()).text, "book")
    assert found == []
    assert [(row.item, str(row.amount), row.date) for row in rows] == [
        ("dgx-1", "149000.1", "2026-11-20"),
        ("c4140", "41250.50", "2026-11-20"),
    ]


def test_a_discount_may_be_a_cell_in_per_cent_and_a_part_number_names_every_item_that_has_it():
    def in_percent(sheet):
        sheet["F2"].number_format = "0.0%"

    rows = [("AP8886", 1150, "EUR", "2026", "offer", 0.125), ("dgx-1", 5, "EUR", "2026", "offer", "12.5 %")]
    head = ("part_number", *HEAD.strip().split(",")[1:], "discount_percent")
    found, _ = price_rows(read_book(workbook(*rows, head=head, change=in_percent), catalog()).text, "book")
    sold = {item.id for _, item in catalog().items() if "AP8886" in [sku.value for sku in item.skus]}
    assert {(row.item, row.discount_percent) for row in found} == {(key, Decimal("12.5")) for key in {*sold, "dgx-1"}}


def test_a_part_number_or_a_name_with_its_maker_names_an_item():
    named = [(sku.value, one.id) for _, one in catalog().items() for sku in one.skus]
    times = Counter(sku for sku, _ in named)
    sku, item = next(pair for pair in named if times[pair[0]] == 1)
    head = ("vendor", "part number", "description", "amount", "currency", "date", "source", "item")
    sheet = workbook(
        ("", sku, "any words", 5, "USD", "2026-11-20", "q"), ("", "", "NVIDIA DGX-1", 6, "USD", "2026", "q"), head=head
    )
    rows, _ = price_rows(read_book(sheet, catalog()).text, "book")
    assert [row.item for row in rows] == [item, "dgx-1"]


def test_a_stated_rate_gives_a_second_price_in_usd():
    head = (*HEAD.strip().split(","), "exchange_rate_usd")
    rows, _ = price_rows(read_book(workbook(("dgx-1", 100, "EUR", "2026", "q", "1,1"), head=head), catalog()).text, "b")
    assert {(row.currency, row.amount) for row in rows} == {("EUR", Decimal(100)), ("USD", Decimal("110.00"))}


def merged(sheet) -> None:
    sheet.merge_cells("A3:A4")


def formula(sheet) -> None:
    sheet["B2"] = "=1+1"


def far(sheet) -> None:
    sheet["XFD1048576"] = 1


@pytest.mark.parametrize(("change", "cell"), [(merged, "A3:A4"), (formula, "B2"), (far, "XFD1048576")])
def test_a_workbook_is_refused_by_the_cell_that_is_no_value(change, cell):
    (found,) = faults(workbook(("dgx-1", 5, "USD", "2026", "q"), change=change))
    assert cell in found.rule


def test_a_fault_of_a_workbook_names_its_cell():
    found = faults(workbook(("dgx-1", "12x", "USD", "2026", "q"), ("c4140", 7, "USD", "2026", "")))
    assert [(one.cell, one.value) for one in found] == [("B2", "12x"), ("E3", "")]


def test_a_part_number_said_twice_is_refused_where_it_comes_again():
    found = faults(workbook(("dgx-1", 5, "USD", "2026", "q"), ("NVIDIA DGX-1", 6, "USD", "2026", "q")))
    assert [(one.line, one.cell[-1:]) for one in found] in ([(3, "3")], [(3, "")])


def with_part(name: str, content: bytes) -> bytes:
    """A good workbook with one part more, or another one in its place."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(("dgx-1", 5, "USD", "2026", "q")))) as old,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for entry in old.namelist():
            if entry != name:
                new.writestr(entry, old.read(entry))
        new.writestr(name, content)
    return stream.getvalue()


BOMB = b'<!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (with_part("xl/vbaProject.bin", b"x"), "macros"),
        (with_part("xl/media/zeros.bin", bytes(30_000_000)), "unpacks to more than"),
        (with_part("xl/workbook.xml", BOMB), "its own XML types"),
        (with_part("xl/workbook.xml", BOMB.decode().encode("utf-16")), "its own XML types"),
        (with_part("xl/workbook.xml", b"<a"), "no workbook"),
        (workbook()[:500], "no workbook"),
    ],
    ids=["macros", "zeros", "entities", "entities in UTF-16", "broken XML", "cut"],
)
def test_a_hostile_workbook_gets_one_sentence(content, words):
    (found,) = faults(content)
    assert words in found.rule


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "columns"),
        (HEAD.encode(), "no prices"),
        (b"\x89PNG\r\n\x1a\n\x00\x00" * 20, "a text file"),
        (b"item,amount\x00", "a text file"),
        (HEAD.encode("utf-16"), "a text file"),
        (b"item\tamount\tcurrency\tdate\tsource\n", "separated by tabs"),
        (b"part,price\n", "Unknown column 'part'"),
        (b"x" * (MAX_BYTES + 1), "a price book has at most 1 MB"),
        (book(*["dgx-1,5,USD,2026,q"] * 100_000), "a price book has at most 1 MB"),
        (book(*["a,1,USD,2026,q"] * (MAX_LINES + 1)), f"more than {MAX_LINES} lines"),
        (b"\r".join([b"a,1,USD,2026,q"] * (MAX_LINES + 1)), f"more than {MAX_LINES} lines"),
        (HEAD.encode() + b'"' + b"x" * 200_000 + b'",5,USD,2026,q\n', "not valid CSV"),
    ],
    ids=lambda value: None if isinstance(value, str) else f"{len(value)} B",
)
def test_a_hostile_file_gets_one_sentence(content, words):
    found = faults(content)
    assert words in " ".join(one.rule for one in found)
    assert all(len(one.value) <= 61 and len(one.rule) < 400 for one in found)


def test_many_unknown_items_are_told_of_without_looking_for_ever():
    found = faults(book(*[f"thing-{number},5,USD,2026-11-20,q" for number in range(MAX_LINES - 10)]))
    assert len(found) == 50


def test_a_book_replaces_all_prices_of_its_items_and_nothing_else():
    (before,) = [row for row in catalog().prices if row.item == "dgx-1"]
    rows, _ = price_rows(book("dgx-1,150000.00,EUR,2026-11-20,q").decode(), "book")
    laid = with_prices(catalog(), rows)
    assert [(row.amount, row.currency) for row in laid.prices if row.item == "dgx-1"] == [(Decimal("150000.00"), "EUR")]
    assert [row for row in laid.prices if row.item != "dgx-1"] == [row for row in catalog().prices if row != before]
    assert laid.own_prices == {"dgx-1"}
    assert laid.digest != catalog().digest
    assert laid.item("dgx-1") is catalog().item("dgx-1")


def test_the_digest_tells_books_apart_and_not_the_order_of_their_rows():
    def digest(*rows: str) -> str:
        return with_prices(catalog(), price_rows(book(*rows).decode(), "book")[0]).digest

    one, other = "dgx-1,5,USD,2026-11-20,q", "c4140,7,USD,2026-11-20,q"
    assert digest(one, other) == digest(other, one)
    assert len({digest(one), digest(other), digest(one, other), digest(one.replace("5", "6"))}) == 4


def test_a_book_over_a_folder_keeps_the_prices_of_the_folder(tmp_path):
    (tmp_path / "prices").mkdir()
    (tmp_path / "prices" / "own.csv").write_text(book("c4140,41250.00,USD,2026-11-20,q").decode(), encoding="utf-8")
    laid = with_prices(load_catalog(overlay=tmp_path), price_rows(book("dgx-1,5,USD,2026-11-20,q").decode(), "book")[0])
    assert laid.own_prices == {"c4140", "dgx-1"}
    assert Decimal("41250.00") in {row.amount for row in laid.prices if row.item == "c4140"}


def test_the_template_has_a_row_for_each_item_without_a_price_and_filled_in_prices_them_all():
    result = sized("dgx1-f800-resnet50")
    content = template(result, datetime.date(2026, 11, 22)).decode()
    lines = content.splitlines()
    decisive = {quote.item for quote in result.quotes_to_settle}
    assert {row.split(",")[0] for row in lines[1:]} == set(result.design.bill.unpriced) | decisive
    assert {one.column for one in faults(content.encode())} == {"amount", "source"}
    filled = [lines[0], *(row.replace(",,USD,2026-11-22,", ",10.00,USD,2026-11-22,offer", 1) for row in lines[1:])]
    reading = read_book("\n".join(filled).encode(), catalog())
    assert reading.faults == ()
    laid = with_prices(catalog(), price_rows(reading.text, "book")[0])
    priced = bill(result.design.quantities.components, laid, price_book(laid), "USD", result.request.date)
    assert priced.is_complete
    # Nine DGX-1 at their published 149 000, everything else at 10 a piece.
    others = sum(line.quantity for line in priced.bought if line.unit_price == 10)
    assert priced.total == 9 * 149_000 + 10 * others
