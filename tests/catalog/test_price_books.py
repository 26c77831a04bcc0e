"""Price books: what a row may say, and that every fault is named with line, column and value."""

import datetime
import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.dates import days_of
from sizer.base.money import net_price, parse_amount, parse_percent, percent, round_money
from sizer.catalog.price_books import COLUMNS, price_rows
from tests.factories.rows import every

# Bad cells and heads of a price book, and what is said of them.
FAULTS = json.loads(Path(__file__).with_name("price_faults.json").read_text("utf-8"))
GOOD = {
    "item": "dgx-1",
    "amount": "149000.00",
    "currency": "USD",
    "date": "2026-11-20",
    "source": "offer 17",
    "where": "line 3",
    "note": "",
    "discount_percent": "12.5",
    "term_months": "36",
    "lead_time_weeks": "8",
    "valid_until": "2026-12-31",
    "gpus": "8x V100-SXM2-16GB",
}


def book(**cells: str) -> str:
    """A price book of one row."""
    row = {**GOOD, **cells}
    return ",".join(COLUMNS) + "\n" + ",".join(row[name] for name in COLUMNS) + "\n"


def faults(text: str) -> list[str]:
    rows, found = price_rows(text, "prices/book.csv")
    assert rows == []
    return found


def test_a_row_says_price_discount_term_and_delivery():
    (row,), found = price_rows(book(), "prices/book.csv")
    assert found == []
    assert row.amount == Decimal("149000.00")
    assert row.discount_percent == Decimal("12.5")
    assert (row.term_months, row.lead_time_weeks) == (36, 8)
    assert row.valid_until == datetime.date(2026, 12, 31)
    assert (row.place, row.gpus) == ("prices/book.csv line 2", "8 x v100-sxm2-16gb")


def test_files_of_before_the_new_columns_still_load():
    text = "item,amount,currency,date,source,where,note\ndgx-1,149000,USD,2017-05,tweaktown-gtc17,text,at launch\n"
    (row,), found = price_rows(text, "prices/published.csv")
    assert found == []
    assert (row.discount_percent, row.term_months, row.lead_time_weeks, row.valid_until) == (0, None, None, None)


def test_empty_lines_and_cells_in_quotes_are_read():
    text = '\nitem,amount,currency,date,source,note\n\n,,,,,\n"dgx-1",1,USD,2026,q,"a, b\nand c"\n'
    assert faults(text)[0].startswith("prices/book.csv line 1: columns 'item', 'amount'")
    (row,), found = price_rows(text.lstrip("\n"), "prices/book.csv")
    assert found == []
    assert row.note == "a, b\nand c"
    assert row.place == "prices/book.csv line 4"  # where the row begins


@every(FAULTS["cells"])
def test_a_fault_names_line_column_value_and_what_is_allowed(case):
    (fault,) = faults(book(**{case["column"]: case["value"]}))
    assert fault.startswith("prices/book.csv line 2: ")
    assert case["words"] in fault


def test_every_fault_of_every_row_is_listed():
    text = book(amount="x", term_months="y").rstrip("\n") + "\n" + book(date="z").splitlines()[1] + "\ndgx-1,1\n"
    assert [fault.partition(":")[0] for fault in faults(text)] == [
        "prices/book.csv line 2",
        "prices/book.csv line 2",
        "prices/book.csv line 3",
        "prices/book.csv line 4",
    ]


@every(FAULTS["heads"])
def test_a_wrong_head_is_named_with_the_nearest_column(case):
    found = faults(case["head"] + "\n")
    assert any(case["words"] in fault for fault in found), found
    assert all(fault.startswith("prices/book.csv line 1: ") for fault in found)


def test_suppliers_head_their_lists_in_words_of_their_own():
    ours = "part_number;description;amount;currency;date;source;quantity\n"
    theirs = "SKU;Product;Unit price;Currency;DATE;Quote;Qty.\n"
    row = "920-9B210-00FN-0M0;A switch;24.500,00;EUR;20.11.2026;quote 5;2\n"
    rows, wrong = price_rows(theirs + row, "book")
    assert (rows, wrong) == price_rows(ours + row, "book")
    assert (rows[0].item, str(rows[0].amount)) == ("920-9B210-00FN-0M0", "24500.00")


def test_an_open_quote_names_its_line_and_hides_no_other():
    lines = [",".join(COLUMNS), '"dgx-1,1,USD', *[f"c4140,{number},USD" for number in range(3)]]
    opened, *others = faults("\n".join(lines) + "\n")
    assert opened.startswith("prices/book.csv line 2: is not valid CSV: a quotation mark opens a cell")
    assert [fault.partition(":")[0] for fault in others] == [f"prices/book.csv line {line}" for line in (3, 4, 5)]


@given(text=st.text(max_size=200))
def test_no_text_breaks_the_reader(text):
    rows, found = price_rows(",".join(COLUMNS) + "\n" + text, "book")
    assert all(fault.startswith("book line ") for fault in found)
    assert all(row.amount >= 0 for row in rows)


# --- money


@pytest.mark.parametrize(
    ("written", "amount"),
    [
        *(("149000", "149000"), (" 12.50 ", "12.50"), (7, "7"), (7.25, "7.25"), ("12,5", "12.5")),
        *(("45.000,00", "45000"), ("45,000.00", "45000"), ("45 000,00", "45000")),
    ],
)
def test_amounts(written, amount):
    assert parse_amount(written) == Decimal(amount)


@pytest.mark.parametrize(
    "written", ["", "-1", "1e5", "NaN", "1,000", "12.", "$5", "9" * 11, float("nan"), 1e16, True, None]
)
def test_bad_amounts_are_refused(written):
    with pytest.raises(ValueError, match=r"is not a price; write up to ten digits, a point and two decimals"):
        parse_amount(written)


def test_a_number_of_thousands_of_digits_is_refused_in_a_short_message():
    with pytest.raises(ValueError, match=r"^a number of thousands of digits is not a price"):
        parse_amount(10**5000)


@pytest.mark.parametrize(
    ("amount", "rounded"), [("0.005", "0.01"), ("2.345", "2.35"), ("2.3449", "2.34"), ("7", "7.00")]
)
def test_money_rounds_half_up(amount, rounded):
    assert str(round_money(Decimal(amount))) == rounded


@pytest.mark.parametrize(
    ("list_price", "discount", "net"),
    [
        ("11.00", "93.5", "0.72"),  # 0.715: half a cent goes up
        ("1800.55", "7.5", "1665.51"),  # 1665.50875
        ("250000.05", "33.33", "166675.03"),  # 166675.033335
        ("149000.00", "0", "149000.00"),
        ("149000.00", "100", "0.00"),
    ],
)
def test_net_prices(list_price, discount, net):
    assert str(net_price(Decimal(list_price), Decimal(discount))) == net


@pytest.mark.parametrize(("written", "printed"), [("12.50", "12.5"), ("100", "100"), (0, "0"), (3.25, "3.25")])
def test_discounts_print_without_needless_zeros(written, printed):
    assert percent(parse_percent(written)) == printed


@pytest.mark.parametrize(
    ("date", "first", "last"),
    [
        ("2018", "2018-01-01", "2018-12-31"),
        ("2024-02", "2024-02-01", "2024-02-29"),
        ("2018-12", "2018-12-01", "2018-12-31"),
        ("9999", "9999-01-01", "9999-12-31"),
        ("2018-05-17", "2018-05-17", "2018-05-17"),
    ],
)
def test_a_date_covers_the_days_that_it_may_mean(date, first, last):
    assert [day.isoformat() for day in days_of(date)] == [first, last]
