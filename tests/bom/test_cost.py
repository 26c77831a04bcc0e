"""Costs from price bands, by hand: what one piece costs, sums over lines, the probability of a budget."""

from dataclasses import replace
from decimal import Decimal
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer import Catalog, load_catalog, project
from sizer.base.errors import CatalogError
from sizer.bom.cost import component_amounts, heights_of, line_amounts, probability_within, unusual_prices
from sizer.bom.lines import bill
from sizer.bom.prices import price_book
from sizer.bom.unit_prices import UnitPrices, amount_at
from sizer.catalog.loader import with_prices
from sizer.catalog.price_books import Price, PriceBand, band_rows
from sizer.physical.platforms import platforms
from sizer.physical.quantities import quantities, slice_row
from sizer.sizing.result import DesignAnswer
from sizer.workload.request import SizingRequest
from tests.factories.examples import catalog

HEIGHTS = [0.0, 0.5, 0.9, 1.0]


@cache
def two_dgx1() -> DesignAnswer:
    """Two DGX-1 with their own drives."""
    return design("dgx-1", 2, "dgx1-ssd")


def design(server: str, servers: int, storage: str, nodes: int = 0, **tables: object) -> DesignAnswer:
    """A given cluster, at 90 % confidence."""
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"samples_per_s": 1000}}
    request = SizingRequest.from_dict({"workload": [work], "confidence": 0.9, **tables})
    return project(request, catalog(), server=server, servers=servers, storage=storage, storage_nodes=nodes)


def unit_prices(parts: Catalog | None = None) -> UnitPrices:
    """At low end, middle, 90 % and high end."""
    of = parts or catalog()
    return UnitPrices(of, price_book(of), "USD", HEIGHTS)


@pytest.mark.parametrize(("amount", "is_far"), [(1_490, True), (149_000, False), (1_490_000, True)])
def test_a_price_far_outside_its_band_is_named(amount, is_far):
    """The band of a DGX-1 is USD 84,000 to 190,000; a slip is a tenth of a price, or that of ten pieces."""
    price = Price(item="dgx-1", amount=Decimal(amount), currency="USD", date="2026-11-30", source="quote", where="")
    parts = with_prices(catalog(), [price])
    own, book = two_dgx1().platform, price_book(parts)
    priced = bill(two_dgx1().quantities.components, parts, book, "USD", None, server=own.server)
    found = {line.item: ends for line, *ends in unusual_prices(priced, own, parts, book)}
    assert found == ({"dgx-1": [84_000, 190_000]} if is_far else {})


def test_drives_that_hold_the_data_are_added_to_a_server_that_is_priced_with_those_to_boot_from():
    """NVMe drives cost USD 57 to 1,150 a terabyte; the price of an AS-8125GS-TNHR is that of a whole system."""
    for server, per_tb in (("xe7745", (57, 1150)), ("as-8125gs-tnhr", (0, 0))):
        work = {"dnn": "resnet50", "target": {"gpus_busy": 8}}
        asked = {"workload": [work], "platforms": {"servers": [server], "storage_tier": "local"}}
        platform = platforms(catalog(), SizingRequest.from_dict(asked))[0]
        empty, full = (unit_prices().of(server, replace(platform, stored_bytes=size)) for size in (0.0, 80e12))
        assert_allclose((full - empty)[[0, -1]], np.array(per_tb) * 80)


def test_the_middle_of_a_band_is_its_geometric_mean():
    """sqrt(84,000 x 190,000) = 126,333; 84,000 x (190/84)^0.9 = 175,108."""
    assert_allclose(amount_at(84_000, 190_000, np.array(HEIGHTS)), [84_000, 126_333, 175_108, 190_000], rtol=1e-5)


def test_a_band_from_zero_has_a_middle():
    """(sqrt(20) - 1)/19 = 0.18274 of the high end; from 1/20 of it on, the plain factor gives the same."""
    assert amount_at(0, 1400, np.array([0.0, 0.5, 1.0])).tolist() == pytest.approx([0, 255.84, 1400], rel=1e-4)
    assert amount_at(70, 1400, np.array([0.5]))[0] == pytest.approx((70 * 1400) ** 0.5)


@given(low=st.floats(0, 1e6), width=st.floats(0, 1e6))
def test_prices_rise_with_the_height_and_stay_in_their_band(low: float, width: float) -> None:
    heights = np.linspace(0, 1, 11)
    found = amount_at(low, low + width, heights)
    assert found[0] == pytest.approx(low)
    assert found[-1] == pytest.approx(low + width)
    assert (np.diff(found) >= -1e-9 * (low + width)).all()


def test_published_prices_go_before_bands():
    """The DGX-1 has a published list price of 149,000 USD, and a band of 84,000 to 190,000."""
    assert unit_prices().of("dgx-1", two_dgx1().platform).tolist() == [149_000.0] * 4


def test_exact_prices_go_before_published_ones():
    row = Price(item="dgx-1", amount=Decimal(120_000), currency="USD", date="2018-06", source="quote", where="line 1")
    parts = with_prices(catalog(), [row])
    assert unit_prices(parts).of("dgx-1", two_dgx1().platform).tolist() == [120_000.0] * 4


def test_servers_and_support_of_two_dgx1():
    """2 x 149,000 = 298,000; support costs 8 to 20 % of that: 23,840, sqrt(0.08 x 0.2) = 12.649 %: 37,694, 59,600."""
    made = two_dgx1().bill
    by_item = dict(
        zip((line.item for line in made.bought), line_amounts(made, two_dgx1().platform, unit_prices()), strict=True)
    )
    assert by_item["dgx-1"].tolist() == [298_000.0] * 4
    assert_allclose(by_item["dgx-support"][[0, 1, 3]], [23_840, 37_694, 59_600], rtol=1e-5)


def test_a_chassis_costs_by_its_raw_terabytes():
    """96 TB at 1,200 to 8,100 USD; twice the drives at 1,200 to 8,100 x (0.5 + 0.5/2) = 6,075 USD per terabyte."""
    platform = design("dgx-1", 2, "isilon-f800", 4).platform
    small, large = replace(platform, capacity_option=0), replace(platform, capacity_option=1)
    raw = [part.storage.capacity_options[part.capacity_option].raw_bytes.value for part in (small, large)]
    assert raw == [96e12, 192e12]
    assert unit_prices().of("isilon-f800", small)[[0, 3]].tolist() == pytest.approx([96 * 1200, 96 * 8100])
    assert unit_prices().of("isilon-f800", large)[[0, 3]].tolist() == pytest.approx([192 * 1200, 192 * 6075])


@pytest.mark.parametrize(
    ("server", "servers", "storage", "nodes"),
    [("dgx-1", 2, "dgx1-ssd", 0), ("c4140", 6, "isilon-f800", 8), ("dgx-2", 3, "wekaio", 6), ("v225g", 1, "hnas", 2)],
)
def test_the_interval_is_the_sum_of_the_lines(server: str, servers: int, storage: str, nodes: int) -> None:
    """The lines of the bill, the components of the search, and the interval of the design say the same."""
    one = design(server, servers, storage, nodes)
    lines = line_amounts(one.bill, one.platform, unit_prices())
    assert len(lines) == len(one.bill.bought)
    assert np.isfinite(lines).all()
    total = lines.sum(axis=0)
    parts = component_amounts(one.quantities.bought, one.platform, unit_prices()).sum(axis=1)[:, 0]
    assert_allclose(parts, total, rtol=1e-12)
    assert one.cost is not None
    assert_allclose([one.cost.low, one.cost.expected, one.cost.at_confidence, one.cost.high], total, rtol=1e-12)
    assert heights_of(0.9) == HEIGHTS


def test_the_probability_of_a_budget_is_the_height_that_costs_as_much():
    """Certain from the highest cost on, none below the lowest, 0.5 at the middle of every band."""
    one = two_dgx1()
    assert one.cost is not None

    def chance(budget: float) -> float | None:
        return probability_within(one.bill, one.platform, catalog(), price_book(catalog()), budget)

    assert chance(one.cost.high + 1) == 1
    assert chance(one.cost.low - 1) == 0
    assert chance(one.cost.expected) == pytest.approx(0.5, abs=1e-3)
    assert chance(one.cost.at_confidence) == pytest.approx(0.9, abs=1e-3)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_true_prices_inside_their_bands_stay_inside_the_interval(data: st.DataObject) -> None:
    """300 random price books: each line costs what its band allows at a height of its own."""
    one = design_c4140()
    prices = fine_prices()
    lines = fine_lines()
    heights = data.draw(st.lists(st.integers(0, 100), min_size=len(lines), max_size=len(lines)))
    # Support costs a share of what was drawn for the servers, not of the middle of their band.
    total = sum(float(lines[place][height]) for place, height in enumerate(heights) if not is_share(place))
    total += sum(share_of(place, heights) for place in range(len(lines)) if is_share(place))
    assert one.cost is not None
    assert one.cost.low - 1e-6 <= total <= one.cost.high + 1e-6
    assert prices.heights.size == 101


@cache
def design_c4140() -> DesignAnswer:
    """Six C4140 with two chassis of F800: every line but the free ones follows a band."""
    return design("c4140", 6, "isilon-f800", 8)


@cache
def fine_prices() -> UnitPrices:
    """At every hundredth of the height."""
    return UnitPrices(catalog(), price_book(catalog()), "USD", np.linspace(0, 1, 101).tolist())


@cache
def fine_lines() -> np.ndarray:
    """(lines, heights) of the C4140 design."""
    return line_amounts(design_c4140().bill, design_c4140().platform, fine_prices())


def is_share(place: int) -> bool:
    """Whether a line costs a share of others."""
    return fine_prices().is_percentage(design_c4140().bill.bought[place].item)


def share_of(place: int, heights: list[int]) -> float:
    """What a support line costs at the drawn prices of the devices that it names."""
    bought = design_c4140().bill.bought
    support = catalog().support[bought[place].item]
    band = catalog().bands.band("support", support.id)
    assert band is not None
    names = [i for i, line in enumerate(bought) if line.item in support.applies_to]
    share = amount_at(band.low, band.high, np.array([heights[place] / 100]))[0] / 100
    return float(share * sum(fine_lines()[i][heights[i]] for i in names))


def test_every_part_that_is_sold_has_a_price_or_a_band():
    """Overlay parts fall back to the row of their category."""
    for folder, item in catalog().items():
        if folder not in ("links", "gpu_links", "power_inlets", "generations", "dnns", "datasets", "stacks", "recipes"):
            band = catalog().bands.band(folder, item.id)
            assert band is not None, item.id
            assert band.low <= band.high
    assert catalog().bands.band("servers", "a-part-of-an-overlay") == catalog().bands.band("servers", "*")


HEAD = "category,items,low,high,currency,unit,date,basis,evidence,note\n"


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("servers,x,20,10,USD,piece,2018,assumed,,n", "must not be above"),
        ("servers,x,1,10,,piece,2018,assumed,,n", "has a currency"),
        ("support,x,1,10,USD,percent-a-year,2018,assumed,,n", "has no currency"),
        ("servers,x,1,10,USD,piece,2018,assumed,,", "needs a note or evidence"),
        ("servers,x,1,ten,USD,piece,2018,assumed,,n", "high"),
        ("servers,x,1,10,USD,furlong,2018,assumed,,n", "unit"),
        ("servers,x,1", "as many cells"),
        ('servers,"x,1,10,USD,piece,2018,assumed,,n', "a quotation mark opens a cell"),
    ],
)
def test_faults_of_bands_are_named_with_their_line(row: str, fault: str) -> None:
    rows, faults = band_rows(f"{HEAD}{row}\n", "prices/bands.csv")
    assert rows == []
    assert faults
    assert all(text.startswith("prices/bands.csv line 2") for text in faults)
    assert fault in " ".join(faults)


def test_an_overlay_replaces_bands(tmp_path):
    (tmp_path / "prices").mkdir()
    (tmp_path / "prices" / "bands.csv").write_text(f"{HEAD}servers,c4140,40000,50000,USD,piece,2019,assumed,,a quote\n")
    band = load_catalog(overlay=tmp_path).bands.band("servers", "c4140")
    assert isinstance(band, PriceBand)
    assert (band.low, band.high) == (40_000, 50_000)
    (tmp_path / "prices" / "bands.csv").write_text(f"{HEAD}servers,c4140,5,1,USD,piece,2019,assumed,,a quote\n")
    with pytest.raises(CatalogError, match="must not be above"):
        load_catalog(overlay=tmp_path)


def test_support_that_one_server_does_not_buy_costs_it_nothing():
    """Only a cluster of C4140 buys Dell's deployment: what one server costs is the same beside larger designs."""
    platform = design("c4140", 1, "isilon-f800", 4).platform
    both, alone = (quantities(platform, sizes, 4, catalog=catalog()) for sizes in ([1, 6], [1]))
    assert next(part for part in both.bought if part.item == "dell-ready-services").quantity.tolist()[0] == 0
    beside, own = (component_amounts(found.bought, platform, unit_prices()).sum(axis=1) for found in (both, alone))
    assert_allclose(beside[:, 0], own[:, 0], rtol=1e-14)


@pytest.mark.parametrize(
    ("server", "gpu", "n_gpus", "low", "high"),
    [
        # 15,000 to 40,000 USD without cards; an L40S 6,000 to 12,000, an H200 NVL 28,000 to 42,000 USD.
        ("xe7745", "l40s-48gb", 4, 39_000, 88_000),
        ("xe7745", "h200-nvl-141gb", 8, 239_000, 376_000),
        # Rows of complete servers by the kind of their GPUs.
        ("xe9680", "h100-sxm-80gb", 8, 230_000, 317_000),
        ("xe9680", "h200-sxm-141gb", 8, 270_565, 380_000),
    ],
)
def test_a_server_costs_what_is_in_it(server: str, gpu: str, n_gpus: int, low: float, high: float) -> None:
    asked = {"servers": [server], "gpus": [gpu], "gpus_per_server": n_gpus}
    work = {"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": n_gpus}}
    platform = platforms(catalog(), SizingRequest.from_dict({"workload": [work], "platforms": asked}))[0]
    found = unit_prices().of(server, platform)
    assert (found[0], found[-1]) == pytest.approx((low, high))


def test_a_line_of_the_quotes_own_without_a_price_has_no_bound():
    own = {"description": "Installation", "category": "service", "quantity": 1}
    found = design("dgx-1", 2, "dgx1-ssd", quote={"line": [own]})
    (place,) = [i for i, line in enumerate(found.bill.bought) if not line.item]
    amounts = line_amounts(found.bill, found.platform, unit_prices())
    assert amounts[place].tolist() == [0.0, np.inf, np.inf, np.inf]


def test_many_gpus_stretch_the_low_end_alone():
    """JUPITER: EUR 273 million (USD 314.7 million) for 24,000 GH200 are USD 13,100 a GPU with network and storage.

    1,024 nodes of four have 4,096 GPUs. From the low end of its band, USD 150,000 a node, their contract may come down
    by 0.31 to the power of log(4096/800)/log(24000/800) = 0.480: 0.57. The other amounts stay.
    """
    asked = {"gpus": ["gh200-96gb"], "servers": ["bullsequana-gh200"], "storage": ["ai400x2"], "fabrics": ["hdr"]}
    work = {"dnn": "resnet50", "target": {"gpus_busy": 8}}
    platform = platforms(catalog(), SizingRequest.from_dict({"workload": [work], "platforms": asked}))[0]
    amounts = {}
    for n in (100, 1_024):
        parts = slice_row(quantities(platform, [n], [2], catalog=catalog()), 0).components
        made = bill(parts, catalog(), price_book(catalog()), "USD", None)
        line = next(i for i, line in enumerate(made.bought) if line.item == "bullsequana-gh200")
        amounts[n] = line_amounts(made, platform, unit_prices())[line] / n
    assert amounts[100][0] == pytest.approx(150_000)
    assert amounts[1_024][0] == pytest.approx(150_000 * 0.31 ** (np.log(5.12) / np.log(30)))
    assert amounts[1_024][1:] == pytest.approx(amounts[100][1:])
