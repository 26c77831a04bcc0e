"""The bill of a customer's copy: what is paid adds up, and no line tells a discount."""

import csv
import dataclasses
import io
from decimal import Decimal
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.bom.bill import (
    Bill,
    BillLine,
    BillWarning,
    BillWarningKind,
    LineNote,
    LineNoteKind,
    allotted,
    customer_bill,
    stated,
    unpriced_bill,
)
from sizer.export.tables.table import bill_csv
from sizer.export.workbook.book import workbook
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.present.bill_tables import bill_table
from sizer.present.text.bill_warnings import note_text
from tests import factories
from tests.bom.drawn_lines import BOUGHT, NOT_BOUGHT, drawn_line, percents

CENT = Decimal("0.01")
WITH_RAILS = PlanNote(PlanNoteKind.STATED, ("with rails",))
IN_ROOM_4 = PlanNote(PlanNoteKind.STATED, ("in room 4",))
INTERNAL = stated("INTERNAL")


# --- money


@pytest.mark.parametrize(
    ("amounts", "quantities", "total", "shares"),
    [
        ([5, 3, 2], [1, 1, 1], 10, [5, 3, 2]),
        ([100, 100, 100], [1, 1, 1], 200, [67, 67, 66]),  # 66.67 each; equal remainders: the first ones
        # .94 .32 3.16 3.14 2 .44: floors 0 0 3 3 2 0 leave two, for .94 and .44 (the method's textbook example)
        ([47, 16, 158, 157, 100, 22], [1] * 6, 10, [1, 0, 3, 3, 2, 1]),
        # 9 at 11.11 and 1 at 50.01 less 1 %: 10.9989 and 49.5099 a piece; 9 x 10.99 + 49.50 leaves 9 cents: one for
        # .99, and 8 that are too few for another cent a piece.
        ([9999, 5001], [9, 1], 14850, [9899, 4951]),
        # 4 at 0.25 and 6 at 0.35 less 10 %: .225 and .315 a piece; 4 x .22 + 6 x .31 leaves 5 cents; 4 make .23.
        ([100, 210], [4, 6], 279, [92, 187]),
        ([0, 7], [3, 7], 7, [0, 7]),
        ([0, 7], [0, 7], 5, [0, 5]),
        ([0, 0], [1, 2], 0, [0, 0]),
        ([], [], 0, []),
    ],
)
def test_shares_go_by_the_largest_remainder(
    amounts: list[int], quantities: list[int], total: int, shares: list[int]
) -> None:
    """By hand."""
    assert allotted(amounts, quantities, total) == shares


@pytest.mark.parametrize(("amounts", "total"), [([0], 1), ([], 1), ([-1, 2], 1), ([1], -1)])
def test_what_cannot_be_shared_is_an_error(amounts: list[int], total: int) -> None:
    with pytest.raises(ValueError, match="cannot be shared"):
        allotted(amounts, [1] * len(amounts), total)


some_lines = st.lists(
    drawn_line(
        status=st.sampled_from([*BOUGHT, *NOT_BOUGHT]),
        has_own_price=st.booleans(),
        notes=st.just((WITH_RAILS, *INTERNAL)),
        discount_percent=percents | st.just(Decimal(0)),
    ),
    max_size=12,
)


@given(lines=some_lines, deal=percents | st.just(Decimal(0)))
def test_lines_add_up_to_the_total_and_tell_no_discount(lines: list[BillLine], deal: Decimal) -> None:
    before = factories.bill(lines, deal_discount_percent=deal)
    after = customer_bill(before)
    paid = [line.extended_net for line in after.lines if line.is_bought]
    assert sum((amount for amount in paid if amount is not None), Decimal(0)) == before.total
    assert (after.total, after.list_total) == (before.total, after.net_total)
    assert after.net_total.n_open == before.net_total.n_open
    assert after.one_off.amount + after.recurring.amount == before.total
    assert not after.has_discount
    assert len(after.lines) == len(lines)
    for old, new in zip(lines, after.lines, strict=True):
        assert (old.category, old.quantity) == (new.category, new.quantity)
        assert (new.discount_percent, new.changes) == (0, ())
        assert new.is_bought == old.is_bought
        assert (new.extended_net is None) == (old.extended_net is None)
        if new.extended_net is None or old.extended_net is None:
            assert new.unit_price is None
            continue
        share = before.total / before.net_total.amount if old.is_bought and before.net_total.amount else 1
        assert 0 <= new.extended_net <= old.extended_net
        # Whole cents a piece, the next ones to the exact part; 1e-9 for the division.
        near = CENT * new.quantity if old.is_bought else Decimal(0)
        assert abs(new.extended_net - old.extended_net * share) < near + Decimal("1e-9")
        assert new.extended_net == new.extended_net.quantize(CENT)
        if new.unit_price is not None:
            assert new.unit_price * new.quantity == new.extended_net
            assert new.fixed_extended is None
        elif new.quantity:
            assert new.fixed_extended == new.extended_net
            assert new.extended_net * 100 % new.quantity != 0
        if old.discount_percent and old.unit_price and new.unit_price != old.unit_price:
            assert (new.notes, new.price_source, new.price_date) == ((WITH_RAILS,), "", "")
    assert sum(line.fixed_extended is not None for line in after.lines) <= 1
    assert customer_bill(after) == after


def test_what_each_line_becomes() -> None:
    """3 x 1000.05 less 12.5 % is 2625.12, 9 x 20 is 180 and 500: 3305.12 less 2.5 % is 3222.49 (82.628 off)."""
    told: dict[str, Any] = {"notes": (WITH_RAILS, *INTERNAL)}
    lines = [
        factories.line("1.1", "compute", "a", "X", "Box", 3, "1000.05", discount_percent=Decimal("12.5"), **told),
        factories.line(
            "2.1", "network", "b", "X", "Switch", 2, **told, changes=(LineNote(LineNoteKind.NEW_QUANTITY, (2, 1)),)
        ),
        factories.line(
            "3.1", "software", "c", "X", "Option", 3, "10.00", status="optional", discount_percent=Decimal(50)
        ),
        factories.line("3.2", "software", "d", "X", "Free", 1, "0.00", notes=(LineNote(LineNoteKind.FREE),)),
        factories.line("4.1", "support", "e", "X", "Support", 9, "20", status="overridden", **told, term_months=36),
        factories.line("5.1", "service", "", "", "Installation", 1, "500.00", status="added", notes=INTERNAL),
        factories.line(
            "5.2",
            "service",
            "",
            "",
            "Crane",
            1,
            status="by others",
            notes=INTERNAL,
            changes=(LineNote(LineNoteKind.BY_OTHERS),),
        ),
        factories.line("5.3", "service", "f", "X", "Server", 1, status="existing", notes=(IN_ROOM_4,)),
        factories.line("6.1", "service", "g", "X", "None", 0, "100.00", status="overridden"),
    ]
    made = customer_bill(factories.bill(lines, deal_discount_percent=Decimal("2.5")))
    rows = [
        (line.line, line.unit_price, line.extended_net, line.status, note_text(line), line.price_source)
        for line in made.lines
    ]
    # Shares of 3222.49 a piece: 853.1635, 19.49999 and 487.4997. With 853.16, 19.49 and 487.49 eleven cents are left:
    # nine and one for the larger remainders, and one that is too few for three pieces.
    assert rows == [
        ("1.1", None, Decimal("2559.49"), "computed", "with rails", ""),
        ("2.1", None, None, "computed", "with rails", ""),
        ("3.1", Decimal("5.00"), Decimal("15.00"), "optional", "", ""),
        ("3.2", Decimal(0), Decimal(0), "computed", "free of charge", "price list"),
        ("4.1", Decimal("19.50"), Decimal("175.50"), "computed", "with rails", ""),
        ("5.1", Decimal("487.50"), Decimal("487.50"), "computed", "", ""),
        ("5.2", None, None, "by others", "", ""),
        ("5.3", None, None, "existing", "in room 4", ""),
        ("6.1", Decimal("97.50"), Decimal(0), "computed", "", ""),
    ]
    assert made.yearly.amount == Decimal("58.50")
    texts = [[cell.text for cell in row.cells] for row in bill_table(made).rows]
    heads = [column.title for column in bill_table(made).columns]
    assert heads[-2:] == ["Unit price, USD", "Price, USD"]
    by_line = {row[0]: row for row in texts}
    assert by_line["1.1"][-2:] == ["in the sum", "2\u202f559.49"]
    assert by_line["2.1"][-2:] == ["to be quoted", "to be quoted"]
    assert by_line["5.1"][-2:] == ["487.50", "487.50"]
    assert texts[-1][1] == "Lines with a price, USD"
    assert texts[-1][-1] == "3\u202f222.49"
    assert "iscount" not in str(bill_table(made))


def test_an_amount_that_no_unit_price_makes_up_stands_alone() -> None:
    """3 + 7 pieces of 10.00 less 0.33 % are 99.67, 9.967 a piece: 3 x 9.97, and 69.76 for 7."""
    lines = [
        factories.line("1.1", "network", "a", "X", "Switch", 3, "10.00"),
        factories.line("1.2", "network", "b", "X", "Cable", 7, "10.00"),
        factories.line("1.3", "network", "c", "X", "Tray", 2),
    ]
    bill = customer_bill(factories.bill(lines, deal_discount_percent=Decimal("0.33")))
    assert [line.fixed_extended for line in bill.lines] == [None, Decimal("69.76"), None]
    texts = [[cell.text for cell in row.cells][-2:] for row in bill_table(bill).rows if len(row.cells) > 1]
    assert texts == [["9.97", "29.91"], ["in the sum", "69.76"], ["to be quoted", "to be quoted"], ["", "99.67"]]
    result = factories.nine_dgx1()
    told = dataclasses.replace(result, design=dataclasses.replace(result.design, bill=bill))
    rows = list(csv.DictReader(io.StringIO(bill_csv(told).decode("utf-8-sig"))))
    assert [(row["Unit price"], row["Extended price"]) for row in rows] == [
        ("9.97", "29.91"),
        ("in the sum", "69.76"),
        ("to be quoted", "to be quoted"),
    ]
    for values in (True, False):
        sheet = openpyxl.load_workbook(io.BytesIO(workbook(told, factories.catalog())), data_only=values)["BOM"]
        assert [sheet.cell(row, 9).value for row in (5, 6, 7)] == [9.97, "in the sum", "to be quoted"]
        amounts = [sheet.cell(row, 10).value for row in (5, 6, 7, 9)]
        assert amounts[1] == 69.76  # a value also among the formulas
        assert not values or amounts == [29.91, 69.76, "to be quoted", 99.67]


def test_warnings_go_with_the_price_that_they_are_about() -> None:
    lines = [
        factories.line("1.1", "compute", "a", "X", "Box", 1, "100.00"),
        factories.line("1.2", "compute", "b", "X", "Crate", 1, "100.00", has_own_price=True),
    ]
    ended = BillWarning(BillWarningKind.SALE_ENDED, ("Box", "2020"))
    old, own = (BillWarning(BillWarningKind.OLD_PRICE, (name, "2020")) for name in ("Box", "Crate"))
    bill = Bill("USD", tuple(lines), (ended, old, own), price_warnings=(("1.1", old), ("1.2", own)))
    assert customer_bill(bill).warnings == (ended, old)
    assert unpriced_bill(bill).warnings == (ended,)
