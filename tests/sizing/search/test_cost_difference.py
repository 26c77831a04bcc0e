"""Two orders compared item by item: what both hold costs the same in both, what differs is as open as its price band.

Bands of the catalogue (catalog/prices/bands.csv): Apollo 6500 76,000 to 190,000 USD, DSS 8440 63,000 to 180,000 USD, a
piece with its GPUs. The middle of a band is its geometric mean, and at 90 % it stands at low x (high / low)^0.9.
"""

import math

import numpy as np
import pytest

from sizer import SizingRequest
from sizer.bom.cost import heights_of
from sizer.bom.prices import price_book
from sizer.bom.unit_prices import UnitPrices
from sizer.physical.platforms import platforms
from sizer.present.text.money import difference_text
from sizer.sizing.reasons import CostDifference
from sizer.sizing.search.ranking import PricedOrder, difference
from tests.factories.examples import catalog
from tests.factories.prices import priced

CARDS = {"apollo-6500": "v100-sxm2-32gb", "dss-8440": "v100-pcie-32gb"}
APOLLO, DSS = (76_000.0, 190_000.0), (63_000.0, 180_000.0)


def at(band: tuple[float, float], height: float) -> float:
    return band[0] * (band[1] / band[0]) ** height


def order(server: str, count: int, parts=None) -> PricedOrder:
    parts = parts or catalog()
    asked = SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "dataset": "imagenet", "target": {"gpus_busy": 8}}],
            "platforms": {"servers": [server], "gpus": [CARDS[server]]},
        }
    )
    platform = max(platforms(parts, asked), key=lambda one: one.gpus_per_server)
    prices = UnitPrices(parts, price_book(parts), "USD", heights_of(0.9))
    return PricedOrder(platform, {server: count * prices.of(server, platform)}, {server: count})


def compared(one: tuple[str, int], other: tuple[str, int], parts=None) -> CostDifference:
    parts = parts or catalog()
    prices = UnitPrices(parts, price_book(parts), "USD", heights_of(0.9))
    return difference(order(*one, parts), order(*other, parts), prices)


def test_one_more_of_the_same_costs_one_piece_more_whatever_its_price_is():
    """Three Apollo 6500 against two: 76,000 to 190,000 USD more, never less, though 3 x 76,000 < 2 x 190,000."""
    more = compared(("apollo-6500", 3), ("apollo-6500", 2))
    assert (more.low, more.high) == pytest.approx(APOLLO)
    assert more.expected == pytest.approx(math.sqrt(76_000 * 190_000))  # 120,166
    assert more.at_confidence == pytest.approx(at(APOLLO, 0.9))  # 173,375
    assert more.is_settled
    assert more.quotes == ()


def test_the_probability_that_one_costs_more_is_that_of_prices_anywhere_in_their_bands():
    """Against draws: 76,000 to 190,000 USD is more than 63,000 to 180,000 USD in 57 % of pairs."""
    draws = np.random.default_rng(0).uniform(0, 1, (2, 200_000))
    apollo, dss = (low * (high / low) ** u for (low, high), u in zip((APOLLO, DSS), draws, strict=True))
    more = compared(("apollo-6500", 1), ("dss-8440", 1))
    assert more.p_more == pytest.approx(np.mean(apollo > dss), abs=0.06)
    assert more.p_more + compared(("dss-8440", 1), ("apollo-6500", 1)).p_more == pytest.approx(1)
    assert compared(("dss-8440", 2), ("dss-8440", 2)).p_more == 0.5


def test_two_kinds_of_server_are_open_until_a_quote_settles_it():
    """One Apollo less one DSS: 76,000 - 180,000 to 190,000 - 63,000 USD. The wider band weighs more."""
    more = compared(("apollo-6500", 1), ("dss-8440", 1))
    assert (more.low, more.high) == pytest.approx((-104_000, 127_000))
    assert not more.is_settled
    assert more.expected == pytest.approx(math.sqrt(76_000 * 190_000) - math.sqrt(63_000 * 180_000))  # 13,677
    assert [(quote.item, quote.swing) for quote in more.quotes] == [("dss-8440", 117_000), ("apollo-6500", 114_000)]
    # With every other price at 90 %, the order turns where both cost the same.
    turning = {quote.item: quote.turns_at for quote in more.quotes}
    assert turning["dss-8440"] == pytest.approx(at(APOLLO, 0.9), abs=0.01)
    assert turning["apollo-6500"] == pytest.approx(at(DSS, 0.9), abs=0.01)


def test_a_quote_settles_it():
    """At 60,000 USD, below the low end of the other's band, the Apollo 6500 costs less whatever the DSS 8440 costs."""
    more = compared(("apollo-6500", 1), ("dss-8440", 1), priced({"apollo-6500": 60_000}))
    assert (more.low, more.high) == pytest.approx((60_000 - 180_000, 60_000 - 63_000))
    assert more.is_settled
    assert more.quotes == ()
    exact = compared(("apollo-6500", 1), ("dss-8440", 1), priced({"apollo-6500": 60_000, "dss-8440": 65_000}))
    assert exact.is_exact
    assert exact.low == exact.expected == exact.at_confidence == -5_000
    assert "USD 5,000 less" in difference_text(exact).replace("\u202f", ",")


def test_what_no_source_bounds_is_never_a_saving():
    """Of a part without price and band nobody knows what it costs: the difference is open on both sides."""
    one = order("apollo-6500", 1)
    unbounded = PricedOrder(one.platform, {"apollo-6500": np.array([0, math.inf, math.inf, math.inf])}, {})
    prices = UnitPrices(catalog(), price_book(catalog()), "USD", heights_of(0.9))
    twice = PricedOrder(one.platform, {"apollo-6500": np.array([1, math.inf, math.inf, math.inf])}, {})
    for more in (difference(unbounded, twice, prices), difference(unbounded, order("dss-8440", 1), prices)):
        assert not more.expected < 0
        assert not more.is_settled


def asked(**more: object) -> SizingRequest:
    work = {
        "dnn": "resnet50",
        "stack": "mxnet-ngc19.05-dali",
        "batch_per_gpu": 192,
        "dataset": "imagenet",
        "target": {"samples_per_s": 8_000},
    }
    servers = {"platforms": {"servers": ["dgx-1", "apollo-6500"]}}
    return SizingRequest.from_dict({"workload": [work], "currency": "USD", **servers, **more})
