"""Changing cells of the bill: what a cell takes, what it refuses, and that the bill adds up afterwards."""

import tomllib
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest
import streamlit
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.base.formats.toml_text import to_toml
from sizer.bom.bill import Bill, BillLine
from sizer.bom.lines import bill
from sizer.bom.overrides import EditableLine, editable_lines
from sizer.bom.prices import price_book
from sizer.ui.bill import editor as bill_editor
from sizer.ui.bill import overrides
from sizer.ui.bill.overrides import DISCOUNT, NOTE, PRICE, QUANTITY, STATE, CellError
from sizer.workload.quote import Quote, QuoteOverride
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog, sized

EXAMPLE = "dgx1-f800-resnet50"


def line(item: str, category: str = "network", **fields: Any) -> BillLine:
    """A computed line."""
    given = {
        "quantity": 3,
        "unit_price": Decimal("100.00"),
        "status": "computed",
        "price_source": "book",
        "price_date": "2026-11-01",
        **fields,
    }
    return BillLine(
        line="", category=category, item=item, manufacturer="", sku="", description=item.upper(), unit="EA", **given
    )


def table(*lines: BillLine, said: tuple[QuoteOverride, ...] = ()) -> tuple[EditableLine, ...]:
    return editable_lines(lines, said, "USD", None)


def after(row: int, column: str, written: object, *lines: BillLine, said: tuple[QuoteOverride, ...] = ()) -> list[dict]:
    """Overrides after one edit, as a request file holds them."""
    found = overrides.edited(said, table(*lines, said=said), row, column, written)
    return [overrides.as_typed(one) for one in found]


@pytest.mark.parametrize(
    ("column", "written", "said"),
    [
        (QUANTITY, "7", {"quantity": 7}),
        (QUANTITY, " 1 200 ", {"quantity": 1200}),
        (QUANTITY, 0, {"quantity": 0}),
        (PRICE, "1800.5", {"unit_price": "1800.5"}),
        (PRICE, "18 000", {"unit_price": "18000"}),
        (PRICE, "0", {"unit_price": "0"}),
        (DISCOUNT, "7.5 %", {"discount_percent": "7.5"}),
        (STATE, "optional", {"optional": True}),
        (STATE, "provided by others", {"by_others": True}),
        (NOTE, " two to spare ", {"optional": False, "note": "two to spare"}),
    ],
)
def test_a_cell_becomes_an_override(column, written, said):
    assert after(0, column, written, line("switch")) == [{"item": "switch", **said}]


@pytest.mark.parametrize(
    ("column", "written"),
    [
        (QUANTITY, "3"),
        (QUANTITY, None),
        (QUANTITY, ""),
        (PRICE, "100"),
        (PRICE, "100.00"),
        (PRICE, None),
        (DISCOUNT, "0"),
        (DISCOUNT, " "),
        (STATE, "bought"),
        (NOTE, ""),
        (NOTE, None),
    ],
)
def test_what_was_computed_is_no_override(column, written):
    assert after(0, column, written, line("switch")) == []


@pytest.mark.parametrize(
    ("column", "written", "words"),
    [
        (QUANTITY, "-4", "'-4' is not a quantity; write a whole number from 0 to 1000000"),
        (QUANTITY, "2.5", "'2.5' is not a quantity"),
        (QUANTITY, "many", "'many' is not a quantity"),
        (QUANTITY, "1e400", "'1e400' is not a quantity"),
        (QUANTITY, "1000001", "'1000001' is not a quantity"),
        (QUANTITY, "٣", "is not a quantity"),
        (QUANTITY, "=1+1", "'=1+1' is not a quantity"),
        pytest.param(QUANTITY, "9" * 6000, "999…' is not a quantity", id="long"),
        (QUANTITY, True, "'True' is not a quantity"),
        (QUANTITY, ["7"], "is not a quantity"),
        pytest.param(QUANTITY, 10**6000, "too many digits", id="huge"),
        (PRICE, "-1", "'-1' is not a price"),
        (PRICE, "1e400", "'1e400' is not a price"),
        (PRICE, float("inf"), "'inf' is not a price"),
        (PRICE, float("nan"), "'nan' is not a price"),
        (PRICE, "1,800", "'1,800' is not a price; write for example 149000.00"),
        (PRICE, "0.005", "'0.005' is not a price"),
        (DISCOUNT, "120", "'120' is not a discount; write a percentage from 0 to 100"),
        (DISCOUNT, "-5", "'-5' is not a discount"),
        (DISCOUNT, "a third", "'a third' is not a discount"),
        (STATE, "sold", "'sold' is not a status; choose bought, optional, provided by others"),
        (STATE, None, "is not a status"),
        (NOTE, "=1+1", "'=1+1' is not a note; write one line"),
        (NOTE, "@SUM(A1)", "begins with a letter or digit"),
        (NOTE, "two\nlines", "write one line"),
        (NOTE, "a\x00b", "write one line"),
        pytest.param(NOTE, "x" * 301, "at most 300 characters", id="long note"),
    ],
)
def test_a_bad_cell_says_value_and_what_is_allowed(column, written, words):
    with pytest.raises(CellError) as found:
        after(0, column, written, line("switch"))
    assert words in str(found.value)
    assert len(str(found.value)) < 200


def test_what_others_deliver_has_no_price_until_it_is_bought_again():
    said = (QuoteOverride(item="switch", quantity=4, unit_price="90", discount_percent="5"),)
    gone = after(0, STATE, "provided by others", line("switch"), said=said)
    assert gone == [{"item": "switch", "quantity": 4, "by_others": True}]
    others = tuple(QuoteOverride.model_validate(one) for one in gone)
    with pytest.raises(CellError, match="an item provided by others has no unit list price"):
        after(0, PRICE, "80", line("switch"), said=others)
    assert after(0, STATE, "bought", line("switch"), said=others) == [{"item": "switch", "quantity": 4}]


def test_an_option_is_taken_and_given_back():
    option = line("licence", "software", status="optional")
    assert after(0, STATE, "bought", option) == [{"item": "licence", "optional": False}]
    taken = (QuoteOverride(item="licence", optional=False, note="asked for"),)
    assert after(0, STATE, "optional", option, said=taken) == [
        {"item": "licence", "optional": True, "note": "asked for"}
    ]
    assert after(0, NOTE, "", option, said=(QuoteOverride(item="licence", optional=True, note="x"),)) == []


def test_other_overrides_keep_their_places():
    said = (
        QuoteOverride(item="a", quantity=1),
        QuoteOverride(item="b", quantity=1),
        QuoteOverride(item="c", quantity=1),
    )
    lines = [line("a"), line("b"), line("c")]
    assert [one["item"] for one in after(1, QUANTITY, "9", *lines, said=said)] == ["a", "b", "c"]
    assert [one["item"] for one in after(1, QUANTITY, "3", *lines, said=said)] == ["a", "c"]


def test_an_item_in_two_categories_is_changed_in_one_of_them():
    cable, spare = line("cable", "cable and optic"), line("cable", "network", quantity=5)
    both = (QuoteOverride(item="cable", discount_percent="10"),)
    assert after(1, QUANTITY, "6", cable, spare, said=both) == [
        {"item": "cable", "category": "cable and optic", "discount_percent": "10"},
        {"item": "cable", "category": "network", "quantity": 6, "discount_percent": "10"},
    ]


def test_what_is_at_hand_and_what_the_quote_adds_is_no_row():
    assert table(line("old", status="existing"), line("", status="added")) == ()


# --- sums, recomputed outside the program

AMOUNTS = st.decimals(0, 99_999, places=2)
PERCENTS = st.decimals(0, 100, places=2)
EDITS = st.lists(
    st.tuples(
        st.integers(0, 10_000),
        st.one_of(
            st.tuples(st.just(QUANTITY), st.integers(0, 5000).map(str)),
            st.tuples(st.just(PRICE), AMOUNTS.map(str)),
            st.tuples(st.just(DISCOUNT), PERCENTS.map(str)),
            st.tuples(st.just(STATE), st.sampled_from(["bought", "optional", "provided by others"])),
            st.tuples(st.just(NOTE), st.sampled_from(["", "to be confirmed"])),
            st.tuples(st.sampled_from([QUANTITY, PRICE, DISCOUNT]), st.none()),
        ),
    ),
    max_size=25,
)


def computed_bill() -> Bill:
    result = sized(EXAMPLE)
    parts = result.design.quantities.components
    return bill(parts, catalog(), price_book(catalog()), "USD", result.request.date)


def cents(value: Decimal) -> Decimal:
    return value.quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)


class Sheet:
    """The bill as a person with a pocket calculator keeps it: one row an item, cells as written last."""

    def __init__(self) -> None:
        self.rows = [
            {
                "item": one.item,
                "quantity": one.quantity,
                "price": one.unit_price,
                "discount": one.discount_percent,
                "state": "optional" if one.status == "optional" else "bought",
            }
            for one in computed_bill().lines
        ]
        self.start = [dict(row) for row in self.rows]

    def write(self, place: int, column: str, written: str | None) -> bool:
        row, start = self.rows[place], self.start[place]
        name = {QUANTITY: "quantity", PRICE: "price", DISCOUNT: "discount", STATE: "state"}.get(column)
        if name is None:
            return True
        if written is not None and row["state"] == "provided by others" and name in ("price", "discount"):
            return False
        row[name] = start[name] if written is None else written if name == "state" else Decimal(written)
        if row["state"] == "provided by others":
            row["price"], row["discount"] = start["price"], start["discount"]
        return True

    def total(self, deal_percent: Decimal) -> tuple[Decimal, int]:
        """Sum of what is priced after the discount of the deal, and how many rows are to be quoted."""
        total, n_open = Decimal(0), 0
        for row in self.rows:
            if row["state"] == "bought" and row["quantity"]:
                if row["price"] is None:
                    n_open += 1
                else:
                    total += cents(row["price"] * (100 - row["discount"]) / 100) * row["quantity"]
        return total - cents(total * deal_percent / 100), n_open


@settings(max_examples=60, deadline=None)
@given(EDITS, PERCENTS)
def test_the_bill_adds_up_after_any_edits(edits, deal_percent):
    sheet = Sheet()
    lines = table(*computed_bill().lines)
    assert [row.computed.item for row in lines] == [row["item"] for row in sheet.rows]
    said: tuple[QuoteOverride, ...] = ()
    for place, (column, written) in edits:
        row = place % len(lines)
        if sheet.write(row, column, written):
            said = overrides.edited(said, lines, row, column, written)
        else:
            with pytest.raises(CellError):
                overrides.edited(said, lines, row, column, written)
    # Through the file of the request and back, as a download and an upload do.
    asked = sized(EXAMPLE).request.model_dump(mode="json", exclude_defaults=True)
    quote = {"override": [overrides.as_typed(one) for one in said], "discount_percent": str(deal_percent)}
    request = SizingRequest.from_dict(tomllib.loads(to_toml(_filled({**asked, "quote": quote}))))
    made = bill(
        sized(EXAMPLE).design.quantities.components,
        catalog(),
        price_book(catalog()),
        "USD",
        request.date,
        request.quote,
    )
    assert (made.total, made.net_total.n_open) == sheet.total(deal_percent)


def _filled(data: Any) -> Any:
    """Data without what TOML cannot say."""
    if isinstance(data, dict):
        return {key: _filled(value) for key, value in data.items() if value is not None and value not in ([], {})}
    return [_filled(value) for value in data] if isinstance(data, list) else data


# --- the request of a session


class Session(dict):
    """Session state, in which keys are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


@pytest.fixture
def session(monkeypatch):
    found = Session(draft={"title": "A"}, original={"title": "A"}, generation=0)
    monkeypatch.setattr(streamlit, "session_state", found)
    return found


def test_one_bad_cell_of_several_loses_nothing_else(session):
    lines = table(line("switch"), line("nic"))
    edits = {0: {QUANTITY: "7", DISCOUNT: "120"}, 1: {NOTE: "spare", PRICE: "12,505"}, 9: {QUANTITY: "1"}}
    bill_editor.take(edits, lines, computed_bill())
    assert session.draft["quote"]["override"] == [
        {"item": "switch", "quantity": 7},
        {"item": "nic", "optional": False, "note": "spare"},
    ]
    assert session.bill_refused == [
        "SWITCH, discount: '120' is not a discount; write a percentage from 0 to 100, for example 12.5.",
        "NIC, unit list price: '12,505' is not a price; write for example 149000.00 (up to ten digits, two decimals).",
    ]
    assert session.bill_version == 1, "the table starts anew, so that the cells return to their values"


def test_a_good_cell_leaves_the_table_in_place_so_that_the_keyboard_stays_in_it(session):
    bill_editor.take({0: {QUANTITY: "7"}}, table(line("switch")), computed_bill())
    assert "bill_version" not in session
    # The browser sends all edits since the table was drawn, again and again.
    bill_editor.take({0: {QUANTITY: "7", PRICE: "5.00"}}, table(line("switch")), computed_bill())
    assert session.draft["quote"]["override"] == [{"item": "switch", "quantity": 7, "unit_price": "5.00"}]
    bill_editor.take({0: {QUANTITY: None}}, table(line("switch")), computed_bill())
    assert session.bill_version == 1, "an emptied cell shows what was computed"


def test_cells_show_what_the_quote_says():
    said = (QuoteOverride(item="switch", quantity=7, discount_percent="7.50", note="spare"),)
    (row,) = table(line("switch"), said=said)
    assert bill_editor.cells(row) == {QUANTITY: "7", PRICE: "100.00", DISCOUNT: "7.5", STATE: "bought", NOTE: "spare"}
    shown = bill_editor.frame([row], computed_bill())
    assert list(shown["computed"]) == ["3"]
    assert shown["line"][0].endswith("✎ changed")


def test_what_the_page_offers_is_what_a_quote_takes():
    assert Quote.model_validate({"override": [{"item": "x", "quantity": overrides.MAX_PIECES}]})
    with pytest.raises(ValueError, match="less than or equal"):
        Quote.model_validate({"override": [{"item": "x", "quantity": overrides.MAX_PIECES + 1}]})
