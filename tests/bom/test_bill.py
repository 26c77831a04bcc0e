"""Bills: prices, lines, sums and warnings."""

import contextlib
import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.errors import RequestError
from sizer.bom.bill import BillWarning, BillWarningKind, Sum
from sizer.bom.lines import bill, has_unknown_drives, row_cost, server_contents
from sizer.bom.prices import PriceBook, price_book, prices_for
from sizer.bom.unit_prices import unit_prices
from sizer.catalog.price_books import Price
from sizer.physical.components import CATEGORIES, Component
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.present.text.result_text import open_prices
from sizer.sizing.search.main_items import check_budget
from sizer.workload.request import Existing, SizingRequest
from tests import factories
from tests.bom.drawn_lines import BOUGHT, NOT_BOUGHT, drawn_line, percents
from tests.factories.examples import catalog
from tests.factories.requests import CATALOG

DAY = datetime.date(2026, 11, 21)


@pytest.fixture(scope="module")
def design(catalog):
    request = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}],
            "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"], "fabrics": ["100gbe"]},
        }
    )
    existing = Existing(servers={"dgx-1": 1})
    return slice_row(quantities(platforms(catalog, request)[0], [9], [8], catalog=catalog, existing=existing), 0)


def price(item, amount, currency="USD", date="2026-10", **more):
    return Price(item=item, amount=amount, currency=currency, date=date, source="quote", where="line 1", **more)


def part(item, category="network", quantity=1, role="part", status="computed"):
    return Component(role, category, item, np.array([quantity]), "", status)


def test_the_youngest_price_counts():
    book = PriceBook([price("a", "3", date="2018-05"), price("a", "2", date="2018"), price("a", "9", "EUR", "2020")])
    assert book.price("a", "USD").amount == 3
    assert book.price("a", "EUR").amount == 9
    assert book.price("a", "CHF") is None


def test_prices_in_dollars_are_converted_at_the_rate_of_the_request():
    """USD 3.00 at 1.25 USD for a euro are EUR 2.40; an own price stays, and what is in pounds stays unknown."""
    rows = [price("a", "3", discount_percent=10), price("b", "5"), price("b", "9", "EUR"), price("c", "7", "GBP")]
    book = PriceBook(rows)
    assert book.per_usd("EUR") is None
    euros = book.converted("EUR", 1.25)
    assert euros.per_usd("EUR") == pytest.approx(0.8)
    assert [one and one.amount for one in (euros.price(item, "EUR") for item in "abc")] == [Decimal("2.40"), 9, None]
    assert euros.net("a", "EUR") == Decimal("2.16")
    assert "1.25" in euros.price("a", "EUR").note
    assert euros.price("a", "USD") == rows[0]


def test_bands_are_converted_and_percentages_are_not(catalog, design):
    request = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": {"gpus_busy": 8}}],
            "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"], "fabrics": ["100gbe"]},
        }
    )
    platform = platforms(catalog, request)[0]
    dollars, euros = (
        unit_prices(catalog, book, currency, (0.0, 0.5, 1.0))
        for book, currency in ((price_book(catalog), "USD"), (price_book(catalog).converted("EUR", 1.25), "EUR"))
    )
    items = {part.item for part in design.components if part.item}
    for item in items:
        share = dollars.is_percentage(item)
        np.testing.assert_allclose(
            euros.of(item, platform), dollars.of(item, platform) / (1.0 if share else 1.25), rtol=1e-3, atol=0.01
        )  # prices are rounded to cents
    assert any(np.isfinite(dollars.of(item, platform)).all() and not dollars.is_known(item) for item in items)


@pytest.mark.parametrize(
    ("asked", "is_refused"),
    [
        ({"currency": "KZT", "limits": {"budget": 8000}}, True),
        ({"currency": "ISK", "limits": {"budget": 8000}}, True),
        ({"currency": "EUR", "limits": {"budget": 8000}}, False),
        ({"currency": "EUR", "exchange_rate_usd": 1.1, "limits": {"budget": 8000}}, False),
        ({"currency": "EUR"}, False),
        ({"limits": {"budget": 8000}}, False),
    ],
)
def test_a_budget_in_a_currency_without_prices_and_usual_rate_needs_an_exchange_rate(catalog, asked, is_refused):
    work = {"dnn": "resnet50", "target": {"gpus_busy": 8}}
    request = SizingRequest.from_dict({"workload": [work], "platforms": {"servers": ["dgx-1"]}, **asked})
    allowed, book = platforms(catalog, request), prices_for(request, catalog)
    with pytest.raises(RequestError, match="exchange_rate_usd") if is_refused else contextlib.nullcontext():
        check_budget(request, allowed, book)


def test_unknown_prices_stay_unknown(design, catalog):
    made = bill(design.components, catalog, price_book(catalog), "USD", DAY)
    # tweaktown-gtc17: 149,000 USD for a DGX-1 at launch; one of nine is there already.
    assert made.total == Decimal("149000.00") * 8
    assert not made.is_complete
    assert "isilon-f800" in made.unpriced
    f800 = next(line for line in made.lines if line.item == "isilon-f800")
    assert f800.unit_price is None
    assert f800.extended_net is None
    zero = [line for line in made.lines if line.unit_price == 0]
    assert all(catalog.software[line.item].metric.value in ("free", "included") for line in zero)
    # Existing equipment costs nothing and misses nothing.
    there = [line for line in made.lines if line.status == "existing"]
    assert [(line.item, line.quantity, line.unit_price) for line in there] == [("dgx-1", 1, None)]


def test_another_currency_is_an_unknown_price(design, catalog):
    made = bill(design.components, catalog, price_book(catalog), "EUR", DAY)
    assert made.total == 0
    assert "dgx-1" in made.unpriced
    assert any(warning.kind is BillWarningKind.OTHER_CURRENCY for warning in made.warnings)


def test_warnings_of_sale_and_age(catalog):
    items = ("dgx-1", "z9100-on", "sb7800")
    parts = [Component("part", "network", item, np.array([1])) for item in items]
    book = PriceBook([price("dgx-1", "149000", date="2017-05"), price("sb7800", "9000", date="2025")])
    warnings = bill(parts, catalog, book, "USD", DAY).warnings
    # The price of 2025 may be of December 2025.
    old = [warning.values for warning in warnings if warning.kind is BillWarningKind.OLD_PRICE]
    assert old == [("DGX-1", "2017-05")]
    assert BillWarning(BillWarningKind.SALE_ENDED, ("Z9100-ON", "2023-01-31")) in warnings  # h16346, table 4
    assert any(warning.kind is BillWarningKind.AVAILABILITY_UNKNOWN for warning in warnings)


def test_discount_and_term_come_from_the_price_book(catalog):
    book = PriceBook(
        [
            price("isilon-f800", "250000.05", discount_percent="33.33", lead_time_weeks=16),
            price("dgx-support", "9000", term_months=36),
        ]
    )
    parts = [part("isilon-f800", "storage", 3), part("dgx-support", "support", 9, "support")]
    made = bill(parts, catalog, book, "USD", DAY)
    storage, support = made.lines
    # The unit is rounded first: 250000.05 x 0.6667 = 166675.033 -> 166675.03, times 3.
    assert (storage.unit_net_price, storage.extended_net) == (Decimal("166675.03"), Decimal("500025.09"))
    assert storage.extended_list == Decimal("750000.15")
    assert (support.term_months, support.unit, support.extended_net) == (36, "node", Decimal("81000.00"))
    assert made.list_total.amount == Decimal("831000.15")
    assert made.total == Decimal("581025.09")
    assert made.one_off.amount == Decimal("500025.09")
    assert made.recurring.amount == Decimal("81000.00")
    assert made.yearly.amount == Decimal("27000.00")  # 81000 x 12 / 36
    assert made.longest_lead_weeks == 16
    assert made.has_discount
    # What the search minimises is what the bill says.
    cost, unpriced = row_cost(parts, catalog, book, "USD")
    assert cost == [581025.09]
    assert unpriced == ()


def test_support_without_a_term_is_bought_again_and_has_no_price_of_a_year(catalog):
    parts = [part("dgx-support", "support", 9, "support"), part("isilon-support", "support", 8, "support")]
    made = bill(parts, catalog, PriceBook([price("dgx-support", "100")]), "USD", DAY)
    assert (made.one_off.amount, made.one_off.n_open) == (0, 0)
    assert (made.recurring.amount, made.recurring.n_open) == (900, 1)
    assert made.yearly.is_unknown  # of neither line: no term, no price


def test_what_is_unknown_reads_so_and_never_zero(catalog):
    free, paid = part("slurm", "software", 1, "software"), part("weka-matrix", "software", 100, "software")
    made = bill([free, paid], catalog, PriceBook([]), "USD", DAY)
    assert made.part("software").net_total.is_unknown
    assert made.net_total.n_open == 1
    assert not bill([free], catalog, PriceBook([]), "USD", DAY).net_total.is_unknown


def test_what_a_device_takes_stands_on_its_line(catalog):
    parts = [part("isilon-f800", "storage", 2), part("r740xd", "head node"), part("cat6", "cable and optic", 5)]
    lines = {line.item: line for line in bill(parts, catalog, PriceBook([]), "USD", DAY).lines}
    # udt-hw, technical specifications of the F800: 4U, 77 kg, 1,300 W typical, 1,764 W at most.
    f800 = lines["isilon-f800"]
    assert (f800.rack_units, f800.weight_kg, f800.power_typical_w, f800.power_max_w) == (4, 77, 1300, 1764)
    # Bracket of the R740xd: 300 W of its parts to 1,100 W of one supply; typical is its middle.
    assert (lines["r740xd"].power_typical_w, lines["r740xd"].power_max_w) == (700, 1100)
    cable = lines["cat6"]
    assert (cable.rack_units, cable.power_max_w, cable.power_typical_w, cable.weight_kg) == (None, None, None, None)


def test_a_floor_is_no_maximum_and_a_maximum_is_not_typical(catalog):
    parts = [part("dss-8440", "compute"), part("dgx-1", "compute")]
    floor, top = bill(parts, catalog, PriceBook([]), "USD", DAY).lines
    assert (floor.power_max_w, floor.power_typical_w) == (None, None)  # only the sum of its parts is known
    assert (top.power_max_w, top.power_typical_w) == (3500, None)  # data sheet


def test_validity_counts_from_the_date_of_the_request(catalog):
    made = bill([part("dgx-1")], catalog, PriceBook([]), "USD", DAY)
    assert made.valid_until == datetime.date(2026, 12, 21)  # 30 days
    assert bill([part("dgx-1")], catalog, PriceBook([]), "USD", None).valid_until is None


def test_prices_that_run_out_are_told(catalog):
    items = ("dgx-1", "dgx-2", "c4140")
    ends = ("2026-11-20", "2026-12-20", "2026-12-21")  # before the quote, before its end, on its last day
    book = PriceBook(price(item, "1", valid_until=end) for item, end in zip(items, ends, strict=True))
    warnings = bill([part(item) for item in items], catalog, book, "USD", DAY).warnings
    ends = (BillWarningKind.PRICE_ENDED, BillWarningKind.PRICE_ENDS)
    assert [warning for warning in warnings if warning.kind in ends] == [
        BillWarning(BillWarningKind.PRICE_ENDED, ("DGX-1", "2026-11-20")),
        BillWarning(BillWarningKind.PRICE_ENDS, ("DGX-2", "2026-12-20", "2026-12-21")),
    ]


def test_a_sale_that_ends_while_the_quote_holds_is_told(catalog):
    # h16346 table 4: the Z9100-ON is sold until 2023-01-31.
    warnings = bill([part("z9100-on")], catalog, PriceBook([]), "USD", datetime.date(2023, 1, 15)).warnings
    assert BillWarning(BillWarningKind.SALE_ENDS, ("Z9100-ON", "2023-01-31")) in warnings


def test_lead_times_are_told(catalog):
    parts = [part("dgx-1"), part("c4140"), part("sb7800"), part("slurm", "software", role="software")]
    book = PriceBook([price("dgx-1", "1", lead_time_weeks=12), price("c4140", "1", lead_time_weeks=3)])
    warnings = bill(parts, catalog, book, "USD", DAY).warnings
    assert BillWarning(BillWarningKind.LONGEST_LEAD_TIME, (12, "DGX-1")) in warnings
    assert BillWarning(BillWarningKind.LEAD_TIME_UNKNOWN, ("SB7800",)) in warnings
    assert BillWarning(BillWarningKind.NO_LEAD_TIME) in bill(parts, catalog, PriceBook([]), "USD", DAY).warnings


some_lines = st.lists(
    drawn_line(status=st.sampled_from([*BOUGHT, *NOT_BOUGHT]), term_months=st.none() | st.integers(1, 120)), max_size=12
)


@given(lines=some_lines, deal=percents)
def test_sums_are_those_of_the_bought_lines(lines, deal):
    made = factories.bill(lines, deal_discount_percent=deal)
    bought = [line for line in lines if line.status in BOUGHT]
    cent = Decimal("0.01")
    net = Decimal(0)
    for line in bought:
        if line.unit_price is not None:
            exact = line.unit_price * (100 - line.discount_percent) / 100
            assert abs(line.unit_net_price - exact) <= cent / 2
            assert line.unit_net_price == line.unit_net_price.quantize(cent)
            net += line.unit_net_price * line.quantity
    assert made.net_total.amount == net
    assert net <= made.list_total.amount
    assert abs(made.total - net * (100 - deal) / 100) <= cent / 2
    assert made.one_off.amount + made.recurring.amount == made.total
    assert sum((made.part(category).total for category in CATEGORIES), Decimal(0)) == net
    assert made.net_total.n_open == sum(line.unit_price is None and line.quantity > 0 for line in bought)
    assert made.is_complete == (made.net_total.n_open == 0)


def test_every_part_of_the_total_is_after_the_discount_of_the_deal():
    """1,000 once and 300 for three years of support, 2 % off the deal: 980 + 294 = 1,274, 98 a year."""
    lines = [
        factories.line("1.1", "compute", "x", "X", "Server", 1, "1000"),
        factories.line("2.1", "support", "y", "X", "Support", 1, "300", term_months=36),
        factories.line("3.1", "software", "z", "X", "Manager", 1, None, status="optional"),
    ]
    made = factories.bill(lines, deal_discount_percent=Decimal(2))
    assert made.purchase == Sum(Decimal("1274.00"), 0)
    assert (made.one_off.amount, made.recurring.amount, made.yearly.amount) == (980, 294, 98)
    assert [line.item for line in made.open_options] == ["z"]
    assert "every line" not in open_prices(made).lower()


def contents(name: str, *, has_memory: bool = True, has_drives: bool = True) -> str:
    return server_contents(CATALOG.servers[name], CATALOG, has_memory=has_memory, has_drives=has_drives)


def test_what_the_catalogue_states_and_what_it_assumes():
    # Table 2 of dell-ready-ai-nvidia-2018; the InfiniBand adapter has a line of its own.
    assert contents("c4140") == "2 × Xeon Gold 6148, 384 GiB memory, 2 × 10 GbE, 120 GB SSD and 1.6 TB NVMe"
    text = contents("as-8125gs-tnmr2").replace("\u202f", " ")
    assert text.startswith("2 × EPYC 9654 (assumed), 2 304 GiB memory (assumed), 8 × 400 GbE, ")
    assert has_unknown_drives(CATALOG.servers["dgx-1"].model_copy(update={"local_storage": ()}), CATALOG)
    assert not has_unknown_drives(CATALOG.servers["c4140"], CATALOG)


@pytest.mark.parametrize("name", sorted(CATALOG.servers))
def test_every_gpu_server_says_its_processors_and_memory(name):
    if CATALOG.servers[name].role == "gpu":
        assert " × " in contents(name)
        assert " memory" in contents(name)


KIND = BillWarningKind
QUOTED = datetime.date(2026, 11, 21)
# 21 November to 1 March: 9 days of November, 31 + 31 + 28 days of the months between, and the first of March: 100.
NEEDED = datetime.date(2027, 3, 1)
OF_LEAD_TIMES = (KIND.LONGEST_LEAD_TIME, KIND.LEAD_TIME_UNKNOWN, KIND.NO_LEAD_TIME)
OF_NEED = (KIND.TOO_LATE, KIND.ORDER_BY, KIND.LEAD_TIME_OPEN, KIND.SALE_ENDS_BEFORE_NEED, KIND.SERVICE_ENDS)


def warnings_of(
    items: dict[str, str],
    weeks: dict[str, int],
    needed_by: datetime.date | None = NEEDED,
    date: datetime.date | None = QUOTED,
) -> tuple[BillWarning, ...]:
    """Warnings of a bill of one piece each of ``items`` (id to category), with the lead times of a price book."""
    parts = [Component("part", category, item, np.array([1]), "", "computed") for item, category in items.items()]
    rows = [
        Price(item=item, amount="1", currency="USD", date="2026-11", source="q", where="", lead_time_weeks=known)
        for item, known in weeks.items()
    ]
    found = bill(parts, catalog(), PriceBook(rows), "USD", date, needed_by=needed_by).warnings
    return tuple(warning for warning in found if warning.kind in (*OF_NEED, *OF_LEAD_TIMES, KIND.SALE_ENDED))


DEVICES = {"dgx-1": "compute", "c4140": "compute", "sb7800": "network", "slurm": "software"}


def test_the_longest_lead_time_gives_the_day_of_the_order():
    """8 weeks are 56 days: 28 of February, 28 of January back from 1 March are 4 January."""
    found = warnings_of(DEVICES, {"dgx-1": 8, "c4140": 3, "sb7800": 8})
    assert found == (BillWarning(KIND.ORDER_BY, ("2027-01-04", 8, "2027-03-01", "DGX-1", "SB7800")),)


def test_each_lead_time_that_is_too_long_is_told_with_its_days():
    """Of 16 weeks (112 days) 100 days are left: 12 late; of 15 weeks (105): 5; 14 weeks (98): order in two days."""
    found = warnings_of(DEVICES, {"dgx-1": 15, "c4140": 16, "sb7800": 14})
    assert found == (
        BillWarning(KIND.TOO_LATE, (12, 16, "2027-03-01", "C4140")),
        BillWarning(KIND.TOO_LATE, (5, 15, "2027-03-01", "DGX-1")),
        BillWarning(KIND.ORDER_BY, ("2026-11-23", 14, "2027-03-01", "SB7800")),
    )


def test_a_delivery_on_the_day_itself_is_not_late():
    """1 March less 14 weeks is 23 November: a quote of that day is in time, one of the next day is a day late."""
    on_time = warnings_of({"dgx-1": "compute"}, {"dgx-1": 14}, date=datetime.date(2026, 11, 23))
    late = warnings_of({"dgx-1": "compute"}, {"dgx-1": 14}, date=datetime.date(2026, 11, 24))
    assert on_time[0].kind is KIND.ORDER_BY
    assert late == (BillWarning(KIND.TOO_LATE, (1, 14, "2027-03-01", "DGX-1")),)


def test_lead_times_that_nobody_publishes_are_told_once():
    everything = warnings_of(DEVICES, {})
    others = warnings_of(DEVICES, {"dgx-1": 8})
    assert everything == (BillWarning(KIND.LEAD_TIME_OPEN, (100, "2027-03-01")),)
    assert others[1:] == (BillWarning(KIND.LEAD_TIME_OPEN, (100, "2027-03-01", "C4140", "SB7800")),)


def test_without_a_quote_date_nothing_is_late():
    found = warnings_of(DEVICES, {"dgx-1": 200}, date=None)
    # 200 weeks are 1,400 days: 1,095 lead from 1 March 2027 to 1 March 2024, 60 (29 + 31) to 1 January 2024, and the
    # other 245 = 31 + 30 + 31 + 30 + 31 + 31 + 30 + 31 from December back through May to 1 May 2023.
    assert found[0] == BillWarning(KIND.ORDER_BY, ("2023-05-01", 200, "2027-03-01", "DGX-1"))
    assert found[1].values[0] is None


@pytest.mark.parametrize(
    ("item", "needed_by", "kind"),
    [
        # h16346, table 4: sold until 2023-01-31 and 2021-03-31.
        ("z9100-on", "2023-01-31", None),
        ("z9100-on", "2023-02-01", KIND.SALE_ENDS_BEFORE_NEED),
        ("celestica-d4040", "2021-03-31", None),
        ("celestica-d4040", "2021-04-01", KIND.SALE_ENDS_BEFORE_NEED),
        # PowerScale hardware concepts: service ends in May 2029 (flash) and May 2028 (hybrid); three years before.
        ("isilon-f800", "2026-05-01", None),
        ("isilon-f800", "2026-05-02", KIND.SERVICE_ENDS),
        ("isilon-f810", "2027-03-01", KIND.SERVICE_ENDS),
        ("isilon-h500", "2025-05-01", None),
        ("isilon-h500", "2025-05-02", KIND.SERVICE_ENDS),
        ("isilon-h600", "2028-02-29", KIND.SERVICE_ENDS),
        ("isilon-h5600", "2025-06-01", KIND.SERVICE_ENDS),
    ],
)
def test_ends_of_sale_and_service_are_judged_by_the_date_of_need(item, needed_by, kind):
    start = datetime.date(2020, 1, 1)
    found = warnings_of({item: "network"}, {item: 0}, datetime.date.fromisoformat(needed_by), start)
    assert [warning.kind for warning in found if warning.kind is not KIND.ORDER_BY] == ([] if kind is None else [kind])
    assert all(warning.values[0] == catalog().item(item).name for warning in found if warning.kind is kind)
