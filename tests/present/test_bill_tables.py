"""The bill as guide and app print it: statuses, discounts, sums."""

from decimal import Decimal

from sizer.bom.bill import LineNote, LineNoteKind
from sizer.guide.plain_text import answer_text
from sizer.present import bill_tables
from sizer.present.text import result_text
from sizer.sizing.customer_copy import customer_copy
from tests import factories

LINES = [
    factories.line("1.1", "compute", "a", "X", "GPU server: Box", 3, "1000.05", discount_percent=Decimal("12.5")),
    factories.line("2.1", "network", "b", "X", "Switch", 2),
    factories.line("3.1", "software", "c", "X", "Option", 1, "10.00", status="optional"),
    factories.line("3.2", "software", "d", "X", "Free", 1, "0.00"),
    factories.line(
        "4.1",
        "support",
        "e",
        "X",
        "Support",
        9,
        "20",
        status="overridden",
        notes=(LineNote(LineNoteKind.COMPUTED_QUANTITY, (3,)),),
    ),
    factories.line("5.1", "service", "", "", "Installation", 1, "500.00", status="added"),
    factories.line("5.2", "service", "", "", "Crane", 1, status="by others"),
    factories.line("5.3", "service", "f", "X", "Server", 1, status="existing"),
]


def cells(table: bill_tables.Table) -> dict[str, list[str]]:
    """Texts of the rows by their first word that is there."""
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    return {next(text for text in row if text): row for row in rows}


def test_without_discounts_there_is_no_word_of_them() -> None:
    bill = factories.bill([factories.line("1.1", "compute", "a", "X", "Box", 3, "1000.05")])
    table = bill_tables.bill_table(bill)
    assert not any("iscount" in column.title for column in table.columns)
    assert cells(table)["Total, USD"][-1] == "3\u202f000.15"
    assert "discounts; budgetary" in table.note


def test_discounts_and_the_deal_are_shown_before_the_total() -> None:
    bill = factories.bill(LINES, deal_discount_percent=Decimal("2.5"))
    # 3 x 875.04 (875.04375) + 0 + 9 x 20 + 500 = 3305.12; 2.5 % of it is 82.628.
    wanted = {
        "List prices, USD": "3\u202f680.15",
        "Net prices, USD": "3\u202f305.12",
        "Discount of the deal, 2.5\xa0%": "−82.63",
        "Lines with a price, USD": "3\u202f222.49",
    }
    table = bill_tables.bill_table(bill)
    found = cells(table)
    assert {label: found[label][-1] for label in wanted} == wanted
    assert found["1.1"][-3:] == ["1\u202f000.05", "12.5\xa0%", "2\u202f625.12"]
    assert found["2.1"][-1] == "to be quoted"
    assert found["3.2"][-1] == "no charge"
    assert found["5.2"][-1] == "provided by others"
    assert found["5.3"][-1] == "at hand"
    assert {len(row.cells) for row in table.rows if row.kind != "group"} == {len(table.columns)}
    assert sum(column.width for column in table.columns) == 100
    assert "after the discounts shown" in table.note


def test_a_sum_of_which_nothing_is_known_is_to_be_quoted() -> None:
    lines = [
        factories.line("3.1", "software", "c", "X", "Paid", 1),
        factories.line("3.2", "software", "d", "X", "Free", 1, "0.00"),
    ]
    bill = factories.bill(lines, deal_discount_percent=Decimal(5))
    table = bill_tables.bill_table(bill)
    found = cells(table)
    assert found["Lines with a price, USD"][-1] == found["Net prices, USD"][-1] == "to be quoted"
    assert found["Discount of the deal, 5\xa0%"][-1] == "to be quoted"
    assert result_text.open_prices(bill) == ("1\xa0line of 2 needs a quote; the others are free of charge.")


def test_lines_that_nobody_buys_are_not_counted_as_open() -> None:
    assert result_text.open_prices(factories.bill(LINES)).startswith("1\xa0line of 5 needs a quote")
    bought = [line for line in LINES if line.is_bought and line.unit_price is not None]
    assert result_text.open_prices(factories.bill([*bought, *LINES[-2:]])) == "Every line has a price."


def test_the_answer_in_the_terminal_points_to_no_file_that_a_customers_copy_lacks() -> None:
    assert "engineers-file.pdf" not in answer_text(customer_copy(factories.nine_dgx1()))
