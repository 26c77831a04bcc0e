"""Ranking: ties, differences of cost, and recommenders."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sizer import SizingRequest, size
from sizer.bom.cost import heights_of
from sizer.bom.prices import price_book
from sizer.bom.unit_prices import UnitPrices
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.physical.platforms import platforms
from sizer.present.text.money import difference_text
from sizer.sizing.reasons import CostDifference, ExchangeReason, TieBreak
from sizer.sizing.recommend import search
from sizer.sizing.search.ranking import (
    MOST_TIED,
    SETTLED,
    PricedOrder,
    Ranking,
    difference,
    is_tied,
    rank_key,
    row_difference,
    tie_break,
)
from tests.factories.examples import catalog
from tests.factories.prices import priced
from tests.factories.requests import recommender_request

WORK = {
    "name": "tracks",
    "epochs": 100,
    "dnn": {"name": "tracks", "forward_flop": 2.5e12, "parameters": 186e6, "input_bytes": 8.4e6, "kind": "transformer"},
    "dataset": {"name": "sequences", "n_samples": 1.5e6, "sample_bytes": "10 MB", "format": "records"},
    "target": {"time_to_train_s": "7 d"},
}


def test_of_designs_that_cost_the_same_the_faster_leads():
    """Three servers with eight H100 and two with eight B200 cost as much within the bands."""
    catalog = shipped_catalog()
    platforms = {"servers": ["as-8125gs-tnhr", "as-a126gs-tnbr"], "storage": ["ai400x2-turbo"], "fabrics": ["ndr"]}
    data = {"minimum_capacity_bytes": "200 TB"}
    asked = SizingRequest.from_dict({"workload": [WORK], "platforms": platforms, "data": data})
    counts = search(asked, catalog, stored_calibration())
    first, second = Ranking(counts).first(2)
    assert 1 - SETTLED < row_difference(counts, second, first).p_more < SETTLED
    assert is_tied(counts, first, second)
    assert is_tied(counts, second, first)
    times = counts.evaluated.time_at(np.array([first, second]))
    assert times[0] <= times[1]


def test_of_designs_that_cost_the_same_the_one_for_x86_and_cuda_leads():
    """Two Arm servers with two GH200 and two x86 ones with four L40S: a twentieth of the price decides nothing."""
    work = WORK | {"batch_per_gpu": 1, "dataset": WORK["dataset"] | {"n_samples": 1e5}}
    platforms = {"servers": ["hpe-dl384", "xe7745"], "gpus": ["gh200-144gb", "l40s-48gb"]}
    local = {"storage": ["nvme-to-confirm", "xe7745-nvme"]}
    asked = SizingRequest.from_dict({"workload": [work], "platforms": platforms | local})
    counts = search(asked, shipped_catalog(), stored_calibration())
    leader, *others = Ranking(counts).one_by_one()
    platform = counts.evaluated.platforms[int(counts.evaluated.space.platform[leader])]
    assert (platform.server.id, platform.other_software) == ("xe7745", None)
    assert [is_tied(counts, leader, row) for row in others] == [True]
    assert counts.ranking_cost[leader] > counts.ranking_cost[others[0]]


def test_a_narrow_price_band_alone_puts_no_arm_server_first():
    """A PCIe server is USD 15,000 to 40,000, its two cards 6,500 to 14,000 each: a GH200 server costs less than that at
    90 % confidence, more in the middle."""
    work = {
        "dnn": "stable-diffusion-v2",
        "epochs": 1,
        "target": {"time_to_train_s": "24 h"},
        "dataset": {"name": "own", "n_samples": 2e6, "sample_bytes": "300 kB"},
    }
    allowed = {"servers": ["s74g-2u", "xe7745"], "storage": ["xe7745-nvme", "local-nvme", "nvme-to-confirm"]}
    racks = [{"name": "R1", "free_u": 12, "first_free_u": 20, "power_w": "6 kW"}]
    asked = {"workload": [work], "platforms": allowed, "site": {"feeds": "N"}, "existing": {"racks": racks}}
    counts = search(SizingRequest.from_dict(asked), shipped_catalog(), stored_calibration(), most=2)
    arm = next(row for row in Ranking(counts).one_by_one() if is_arm(counts, row))
    first = next(row for row in Ranking(counts).one_by_one() if not is_arm(counts, row))
    assert counts.ranking_cost[first] > MOST_TIED * counts.ranking_cost[arm]
    assert counts.expected_cost[first] < counts.expected_cost[arm]
    assert Ranking(counts).first(1) == [first]


@pytest.mark.parametrize("target", [{"time_to_train_s": "5 d"}, {"gpus_busy": 72}])
def test_water_and_other_software_each_have_to_save(target: dict[str, Any]):
    """Nine B200 servers cost a fifth more than a rack of 72 GB200 (water, Arm): enough for one change, not for two."""
    frames = {"name": "frames", "n_samples": 1.5e9, "sample_bytes": "2 MB"}
    work = {"dnn": "retinanet", "epochs": 3, "dataset": frames, "target": target}
    allowed = {"servers": ["gb200-nvl72", "as-a126gs-tnbr"], "storage": ["clusterstor-e1000d"]}
    leaders = []
    for site in ({}, {"cooling": "liquid"}):
        asked = SizingRequest.from_dict({"workload": [work], "platforms": allowed, "site": site})
        counts = search(asked, shipped_catalog(), stored_calibration())
        rows = Ranking(counts).first(2)
        cost = dict(zip([is_arm(counts, row) for row in rows], rank_key(counts, np.array(rows)), strict=True))
        assert MOST_TIED < cost[False] / cost[True] < MOST_TIED**2
        leaders.append(is_arm(counts, rows[0]))
    assert leaders == [False, True]


def is_arm(counts: Any, row: int) -> bool:
    return counts.evaluated.platforms[int(counts.evaluated.space.platform[row])].other_software == "arm"


def test_what_cannot_cost_as_little_as_the_leader_is_not_counted():
    """A platform whose servers and storage alone cost more than a tie with the leader may is left alone."""
    work = {"dnn": "resnet50", "dataset": "imagenet-x10", "target": {"samples_per_s": 2_000}}
    platforms = {"servers": ["dgx-1", "dgx-2"], "storage": ["isilon-f800"]}
    asked = SizingRequest.from_dict({"workload": [work], "platforms": platforms})
    counts = search(asked, shipped_catalog(), stored_calibration(), most=24)
    leader = Ranking(counts).first(1)[0]
    least = np.where(counts.candidates, counts.main_cost.cost, np.inf).min(axis=1)
    counted = counts.has_parts.reshape(counts.candidates.shape).any(axis=1)
    assert least[counted].max() <= MOST_TIED * counts.ranking_cost[leader]


def two_designs(target: dict[str, Any], technology=((False, None), (False, None)), **site: Any) -> Any:
    """Four cards in 4 U and two slower ones in 2 U, in two servers each, at one cost."""
    work, card = WORK | {"target": target}, shipped_catalog().gpus["l40s-48gb"]
    return SimpleNamespace(
        request=SizingRequest.from_dict({"workload": [work], "site": site}),
        catalog=shipped_catalog(),
        evaluated=SimpleNamespace(
            space=SimpleNamespace(platform=np.array([0, 1]), n_servers=np.array([2, 2])),
            platforms=[
                SimpleNamespace(technology=one, server=SimpleNamespace(id="xe7745"), gpu=card, gpus_per_server=4)
                for one in technology
            ],
            storage_nodes=np.array([0, 0]),
            time_at=lambda rows, *_confidence: np.array([1.0, 2.0])[rows],
        ),
        power_w=np.array([6000.0, 3600.0]),
        rack_units=np.array([8.0, 4.0]),
        expected_cost=np.array([100_000.0, 100_000.0]),
        parts=lambda _row: SimpleNamespace(draw_is_open=np.array([False])),
    )


def test_speed_beyond_a_rate_that_is_asked_is_worth_nothing_and_less_power_is():
    rate, deadline = {"samples_per_s": 10}, {"time_to_train_s": "7 d"}
    assert tie_break(two_designs(rate), 1, 0) is TieBreak.LESS_POWER
    assert tie_break(two_designs(rate), 0, 1) is None
    assert tie_break(two_designs(deadline), 0, 1) is TieBreak.FASTER
    assert tie_break(two_designs(deadline), 1, 0) is None


@pytest.mark.parametrize("target", [{"samples_per_s": 10}, {"time_to_train_s": "7 d"}])
def test_air_leads_where_nobody_spoke_of_water(target: dict[str, Any]):
    liquid, air = (True, None), (False, None)
    for technology, row in (((liquid, air), 1), ((air, liquid), 0)):
        assert tie_break(two_designs(target, technology), row, 1 - row) is TieBreak.AIR
        assert tie_break(two_designs(target, technology), 1 - row, row) is None
        with_water = two_designs(target, technology, cooling="liquid")
        assert TieBreak.AIR not in (tie_break(with_water, 0, 1), tie_break(with_water, 1, 0))


def test_owned_equipment_on_water_speaks_of_water():
    designs = two_designs({"samples_per_s": 10}, ((True, None), (False, None)))
    existing = {"existing": {"servers": {"dell-xe9640": 1}}}
    designs.request = SizingRequest.from_dict({"workload": [WORK | {"target": {"samples_per_s": 10}}], **existing})
    assert tie_break(designs, 1, 0) is TieBreak.LESS_POWER


@pytest.mark.parametrize(
    ("gpus", "owned", "reasons"),
    [
        (("rtx-pro-6000-96gb", "l40s-48gb"), 0, (TieBreak.NEWER, None)),  # Blackwell with twice Ada Lovelace's memory
        (("h200-nvl-141gb", "h100-nvl-94gb"), 0, (TieBreak.NEWER, None)),  # of one generation: more memory
        (("h200-nvl-141gb", "h100-nvl-94gb"), 1, (None, TieBreak.OWNED)),  # nobody says which the servers there have
        # Newer with less: what follows decides.
        (("rtx-pro-6000-96gb", "h200-nvl-141gb"), 0, (None, TieBreak.LESS_POWER)),
    ],
)
def test_newer_gpus_with_no_less_memory_lead_where_models_are_in_use(gpus, owned, reasons):
    designs = two_designs({"samples_per_s": 10})
    work = {"dnn": "llama-3-8b", "task": "serving", "use": "chat", "target": {"requests_per_s": 1}}
    there = {"existing": {"servers": {"xe7745": owned}}} if owned else {}
    designs.request = SizingRequest.from_dict({"workload": [work]} | there)
    server, gpus = SimpleNamespace(id="xe7745"), [shipped_catalog().gpus[gpu] for gpu in gpus]
    designs.evaluated.platforms = [
        SimpleNamespace(technology=(False, None), server=server, gpu=gpu, gpus_per_server=4) for gpu in gpus
    ]
    assert (tie_break(designs, 0, 1), tie_break(designs, 1, 0)) == reasons


def test_owned_servers_of_another_architecture_ask_for_no_other_software():
    designs = two_designs({"samples_per_s": 10}, ((False, "arm"), (False, None)))
    assert tie_break(designs, 1, 0) is TieBreak.SOFTWARE
    designs.evaluated.platforms[0].server = SimpleNamespace(id="s74g-2u")
    work = WORK | {"target": {"samples_per_s": 10}}
    designs.request = SizingRequest.from_dict({"workload": [work], "existing": {"servers": {"s74g-2u": 1}}})
    assert tie_break(designs, 1, 0) is TieBreak.LESS_POWER


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
    exact = compared(
        ("apollo-6500", 1),
        ("dss-8440", 1),
        priced({"apollo-6500": 60_000, "dss-8440": 65_000}, gpus={"dss-8440": f"10 x {CARDS['dss-8440']}"}),
    )
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


CATALOG = shipped_catalog()


@pytest.fixture(scope="module")
def design():
    return size(recommender_request("c4140"), CATALOG).design


def test_divided_tables_exchange_what_is_looked_up(design):
    """Dense part: 5e6 / 2 FLOP = 2.5 M parameters of 2 B, 5 MB of gradients.

    A sample looks up 160 B / 4 B = 40 vectors of 128 elements of 2 B, 10,240 B; 2,048 samples look up 20.97 MB. The
    10 G parameters as a whole would be 20 GB.
    """
    reason = next(stage.reason for stage in design.workloads[0].stages if stage.key == "exchange")
    assert isinstance(reason, ExchangeReason)
    assert reason.has_tables
    assert reason.gradient_bytes == pytest.approx(2.5e6 * 2 + 2048 * 40 * 128 * 2)


def test_the_whole_time_has_the_interval_of_its_parts(design):
    """One epoch of a stated number: nothing but start-up and the first epoch, whose ends the total has, too."""
    time = design.workloads[0].time
    parts = [time.start_up_s + float(part) for part in time.first_epoch_s]
    assert time.epochs.low == time.epochs.high
    assert not math.isclose(parts[0] / parts[1], parts[1] / parts[2], rel_tol=0.05)  # the ends are not symmetric
    # Nothing is evaluated: the total is the sum.
    assert list(time.total_s) == pytest.approx(parts, rel=1e-6)
