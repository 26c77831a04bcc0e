"""Growth over the years: the request of each year, the parts of each step, and the limits over time."""

import math
from collections import Counter
from decimal import Decimal
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from sizer import Catalog, GrowthPlan, InfeasibleError, SizingRequest, growth_plan, project, size
from sizer.base.errors import RequestError
from sizer.base.resources import data_dir
from sizer.batch.work import cells_of_answer
from sizer.bom.lines import row_cost
from sizer.bom.prices import price_book
from sizer.calibrate.calibration import stored_calibration
from sizer.library.compare import answer_to_request
from sizer.physical.allowed_parts import narrowed_to
from sizer.physical.plan import CABLE_CATEGORY
from sizer.physical.quantities import quantities
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckResult
from sizer.sizing.growth.purchase_planner import count_sizes
from sizer.sizing.growth.result import CapacityLimit, ClusterSize, LimitKind, PlatformGrowth, yearly_requests
from sizer.sizing.reasons import SelectionKind, VerdictKind
from tests.factories.examples import catalog, sized
from tests.factories.prices import all_priced
from tests.factories.requests import resnet_request


def request(dataset: str, growth: dict[str, float] | None = None, samples_per_s: float = 8_000) -> SizingRequest:
    platforms = {"servers": ["dgx-1", "c4140"], "storage": ["isilon-f800"]}
    grows = {} if growth is None else {"growth": growth}
    return resnet_request(dataset, {"samples_per_s": samples_per_s}, platforms=platforms, **grows)


GROWING = [
    request("20 TB", {"years": 4, "data": 1.2}),
    request("60 TB", {"years": 4, "data": 2.0}),
    request("20 TB", {"years": 3, "target": 2.0}),
    request("20 TB", {"years": 3, "target": 2.0, "price": 1.5}),
    request("20 TB", {"years": 2, "target": 1.5}, samples_per_s=4_000),
    request("20 TB", {"years": 3, "target": 3.0, "price": 0.7}, samples_per_s=2_000),
]


@pytest.mark.laws
@pytest.mark.parametrize("asked", GROWING)
def test_every_answer_is_what_the_plan_buys_first(asked):
    """One design in ``size``, a batch, a comparison and the plan: the same platform, counts and devices to order."""
    result = size(asked, catalog())
    first = growth_plan(asked, catalog()).platforms[0]
    design = result.design
    assert ClusterSize(design.n_servers, design.storage_nodes) == first.recommended.sizes[0]
    assert vars(design.platform) == vars(first.platform)
    assert result.platforms[0] is design
    assert sum(point.is_documented for point in result.pareto.value) == 1
    in_batch = cells_of_answer(asked, catalog(), stored_calibration())
    total = None if design.bill.net_total.is_unknown else design.bill.total
    assert (in_batch["answer.design.name"], in_batch["answer.cost.total"]) == (design.name, total)
    assert in_batch["answer.needs_cluster"] == (result.verdict.kind is VerdictKind.CLUSTER)
    compared = answer_to_request("", asked, catalog()).snapshot
    assert compared.design == design.name
    ordered = Counter[str]()
    for line in design.bill.bought:
        ordered[line.item] += line.quantity
    planned = {
        item: count
        for item, count in first.recommended.purchases[0].bought
        if hasattr(catalog().item(item), "power_inlets") and catalog().category_of(item) != CABLE_CATEGORY
    }
    assert planned
    assert planned == {item: ordered[item] for item in planned}


def test_what_the_plan_buys_first_is_not_its_own_runner_up():
    """The plan keeps the cheapest design of the first year: that is why it is described, and another is second."""
    result = size(request("2 TB", {"years": 2, "data": 1.01}, samples_per_s=4_000), catalog())
    assert result.selection.kind is SelectionKind.LIKELY_CHEAPEST
    assert (result.runner_up.server, result.runner_up.storage) != result.design.platform.key


def test_the_network_of_the_last_year_stands_in_the_first_bill():
    """A plan that installs the last year's network buys its switches now, also where servers are those of year 1."""
    asked = request("20 TB", {"years": 4, "target": 2.0})
    result, plan = size(asked, catalog()), growth_plan(asked, catalog()).platforms[0]
    switches = {item: n for item, n in plan.recommended.purchases[0].bought if item in catalog().switches}
    assert switches
    for item, count in switches.items():
        assert sum(line.quantity for line in result.design.bill.bought if line.item == item) == count


CATALOG = catalog()
WORK = {
    "name": "work",
    "dnn": "resnet50",
    "dataset": "imagenet",
    "sample_bytes": 113e3,
    "dataset_bytes": 10e12,
    "target": {"samples_per_s": 12_000},
}
DGX1 = {"servers": ["dgx-1"], "gpus": ["v100-sxm2-16gb"], "storage": ["isilon-f800"], "fabrics": ["100gbe"]}


@cache
def priced() -> Catalog:
    """The shipped catalogue with a price on everything that can be ordered."""
    places = {item.id: place for place, (_, item) in enumerate(CATALOG.items())}
    return all_priced(lambda item: 100 + places[item])


def asked(growth: dict, work: dict | None = None, **rest: object) -> SizingRequest:
    return SizingRequest.from_dict(
        {"workload": [{**WORK, **(work or {})}], "platforms": DGX1, "growth": growth, **rest}
    )


def only(plan: GrowthPlan) -> PlatformGrowth:
    (one,) = plan.platforms
    return one


# --- the request of each year


def test_the_first_year_is_the_request_as_stated():
    first, *_ = yearly_requests(asked({"data": 2}), CATALOG)
    assert first.growth is None
    assert first.workload == asked({"data": 2}).workload


@pytest.mark.parametrize(
    ("growth", "work", "expected"),
    [
        ({"data": 2}, {}, {"dataset_bytes": 40e12, "sample_bytes": 113e3}),
        ({"sample_size": 3}, {}, {"dataset_bytes": 90e12, "sample_bytes": 1017e3}),
        # 1,281,167 training images (ILSVRC 2012)
        ({"data": 2}, {"dataset_bytes": None}, {"dataset_bytes": 4 * 1_281_167 * 113e3, "sample_bytes": 113e3}),
    ],
)
def test_data_grow_by_samples_and_by_their_size(growth, work, expected):
    given = {key: value for key, value in {**WORK, **work}.items() if value is not None}
    request = SizingRequest.from_dict(
        {"workload": [given], "platforms": {"generations": ["volta"]}, "growth": {"years": 3, **growth}}
    )
    third = yearly_requests(request, CATALOG)[2].workload[0]
    for key, value in expected.items():
        assert getattr(third, key) == pytest.approx(value)
    assert third.target == request.workload[0].target
    assert third.dnn == "resnet50"


@pytest.mark.parametrize(
    ("target", "epochs", "expected"),
    [
        ({"samples_per_s": 1000}, None, {"samples_per_s": 2250}),
        ({"gpus_busy": 8}, None, {"gpus_busy": 18}),
        ({"gpus_busy": 3}, None, {"gpus_busy": 7}),  # 6.75 in whole GPUs
        ({"time_to_train_s": 90_000}, 90, {"time_to_train_s": 40_000}),
    ],
)
def test_targets_grow(target, epochs, expected):
    work = {"target": target, **({"epochs": epochs} if epochs else {})}
    third = yearly_requests(asked({"years": 3, "target": 1.5}, work), CATALOG)[2].workload[0]
    assert third.target.model_dump(exclude_none=True) == pytest.approx(expected)
    assert third.dataset_bytes == 10e12


def test_a_grown_network_is_a_version_of_the_one_it_grew_from():
    third = yearly_requests(asked({"years": 3, "dnn_size": 2}), CATALOG)[2].workload[0]
    known = CATALOG.dnns["resnet50"]
    assert third.dnn.version_of == "resnet50"
    assert third.dnn.forward_flop == pytest.approx(4 * known.forward_flop.value)
    assert third.dnn.parameters == pytest.approx(4 * known.parameters.value)
    assert third.dnn.input_bytes == known.input_bytes.value


def test_a_team_grows_by_its_jobs():
    team = {
        "data_scientists": 5,
        "wait_s": 3600,
        "job": [
            {"name": "a", "gpus": 4, "jobs_a_day": 10, "duration_s": 3600},
            {"name": "b", "gpus": 1, "jobs_a_day_each": 2, "duration_s": 3600},
            {"name": "c", "gpus": 1, "kind": "notebook", "always_running": 3},
        ],
    }
    jobs = yearly_requests(asked({"years": 3, "team": 1.2}, team=team), CATALOG)[2].team.job
    assert jobs[0].jobs_a_day == pytest.approx(14.4)
    assert jobs[1].jobs_a_day_each == pytest.approx(2.88)
    assert jobs[2].always_running == 5  # 4.32


def test_growth_beyond_what_a_request_may_ask_names_the_year():
    with pytest.raises(RequestError, match=r"year 7 of growth.*dataset_bytes"):
        yearly_requests(asked({"years": 10, "data": 10}), CATALOG)


def test_a_request_without_growth_is_told_what_is_missing():
    with pytest.raises(RequestError, match=r"\[growth\] table"):
        growth_plan(SizingRequest.from_dict({"workload": [WORK], "platforms": {"generations": ["volta"]}}), CATALOG)


# --- the plan


def test_every_year_is_met_when_it_is_run_again():
    request = asked({"years": 4, "data": 2, "target": 1.5})
    plan = growth_plan(request, CATALOG)
    best = only(plan).recommended
    for year, purchase in zip(plan.requests, best.purchases, strict=True):
        owned = project(
            year,
            CATALOG,
            server="dgx-1",
            servers=purchase.owned.n_servers,
            storage="isilon-f800",
            storage_nodes=purchase.owned.storage_nodes,
            gpu="v100-sxm2-16gb",
            fabric="100gbe",
        )
        assert owned.probability >= request.confidence - 0.005  # confidence is compared in whole percent
        assert all(work.target_check is CheckResult.MET for work in owned.workloads)


def test_the_need_of_a_year_is_what_sizing_that_year_alone_finds():
    """On the platform of the plan: its last year fixes GPU and fabric, and another one may be cheaper for one year."""
    plan = growth_plan(asked({"years": 4, "target": 1.5}), CATALOG)
    for year, need in zip(plan.requests, only(plan).needs, strict=True):
        design = best_design(narrowed_to(year, only(plan).platform), CATALOG).design
        assert (need.n_servers, need.storage_nodes) == (design.n_servers, design.storage_nodes)


def test_steps_cost_what_the_last_size_costs():
    """Nothing is taken out of a prepared network, so that the steps add up to one bill, counted here on its own."""
    request = asked({"years": 4, "data": 2, "target": 1.6})
    found = only(growth_plan(request, priced()))
    last = found.needs[-1]
    counted = quantities(found.platform, [last.n_servers], [last.storage_nodes], catalog=priced())
    cost, unpriced = row_cost(counted.components, priced(), price_book(priced()), "USD")
    assert not unpriced
    for way in found.alternatives[:2]:
        assert float(way.cost.amount) == pytest.approx(float(cost[0]), abs=0.005)
        assert way.moved_links == 0
        assert not any(purchase.taken_out for purchase in way.purchases)


def test_with_steady_prices_nothing_is_bought_before_it_is_needed():
    """Parts cost the same in every order, whatever their bands are: only the energy tells the sequences apart."""
    request = SizingRequest.from_file(data_dir("examples") / "questions/data-doubles-every-year.toml")
    for found in growth_plan(request, CATALOG).platforms:
        assert all(way.pieces == found.recommended.pieces for way in found.alternatives)
        assert found.recommended.sizes == found.needs


def test_a_price_of_energy_above_the_rise_of_prices_calls_for_steps():
    rental = {"per_gpu_hour": "1", "electricity_per_kwh": "9"}
    found = only(growth_plan(asked({"years": 4, "target": 1.6, "price": 1.01}, rental=rental), priced()))
    assert found.recommended.sizes == found.needs
    energy_cost = sum(round(Decimal(purchase.energy_kwh) * 9, 2) for purchase in found.recommended.purchases)
    assert found.recommended.energy_cost == energy_cost


def test_rising_prices_call_for_all_in_the_first_year_whatever_the_missing_prices_are():
    """Most items have no price, but whatever they cost, next year they cost half as much again."""
    found = only(growth_plan(asked({"years": 4, "target": 1.6, "price": 1.5}), CATALOG))
    assert found.criterion == "cost"
    assert set(found.recommended.sizes) == {found.needs[-1]}
    assert found.deciding_prices == ()


@pytest.mark.parametrize(
    ("electricity_per_kwh", "buys_at_once", "is_open"),
    [("0.02", True, False), ("0.16", True, True), ("1", False, False)],
)
def test_a_band_and_the_price_of_energy_decide_between_now_and_later(electricity_per_kwh, buys_at_once, is_open):
    """16 GPUs now and 32 next year: 2 and 4 Apollo 6500 of 76,000 to 190,000 USD, whose price rises by 5 %.

    Waiting costs 5 % of two servers: 7,600 to 19,000 USD, with support and cards some thousand more. Buying now costs
    the energy of two idle servers, each of (2,700 + 6,600) / 2 = 4,650 W: 2 x 4.65 kW x 8,760 h = 81,468 kWh. At 0.02
    USD these are 1,629 USD: buy now. At 1 USD they are 81,468 USD: wait. At 0.16 USD they are 13,035 USD, inside the
    band: at 90 % confidence the servers lie at 173,000 USD, waiting costs more, and a quote for them would settle it.
    """
    servers = {"servers": ["apollo-6500"], "gpus": ["v100-sxm2-16gb"], "storage": ["apollo-nvme"], "fabrics": ["edr"]}
    work = {**WORK, "dataset_bytes": 145e9, "target": {"gpus_busy": 16}}
    rental = {"per_gpu_hour": "1", "electricity_per_kwh": electricity_per_kwh}
    growth = {"years": 2, "target": 2.0, "price": 1.05}
    data = {"workload": [work], "platforms": servers, "rental": rental, "growth": growth, "confidence": 0.9}
    found = only(growth_plan(SizingRequest.from_dict(data), CATALOG))
    assert [need.n_servers for need in found.needs] == [2, 4]
    idle_kwh = found.alternatives[0].energy_kwh - found.alternatives[2].energy_kwh
    assert idle_kwh == pytest.approx(81_468, rel=1e-6)
    assert (found.recommended.sizes[0].n_servers == 4) == buys_at_once
    assert ("apollo-6500" in found.deciding_prices) == is_open


def test_best_moves_no_link_where_the_network_outgrows_one_switch():
    """6, 12 and 24 DGX-1 with four EDR ports each: 24 and a head node pass one switch of 36 ports."""
    request = SizingRequest.from_dict(
        {
            "workload": [{**WORK, "dataset_bytes": 200e9, "target": {"gpus_busy": 48}}],
            "platforms": {
                "servers": ["dgx-1"],
                "gpus": ["v100-sxm2-16gb"],
                "storage": ["dgx1-ssd"],
                "fabrics": ["edr"],
            },
            "growth": {"years": 3, "target": 2},
        }
    )
    found = only(growth_plan(request, CATALOG))
    _, prepared, grows = found.alternatives
    assert [need.n_servers for need in found.needs] == [6, 12, 24]
    assert grows.moved_links > 0
    assert grows.energy_kwh < prepared.energy_kwh  # switches that stand early draw power early
    assert found.recommended.is_prepared
    assert found.recommended.moved_links == prepared.moved_links == 0


def test_what_manages_the_last_year_is_bought_with_its_network():
    """Five servers now, twelve later: eight hosts and more have two head nodes, and no later year buys the second."""
    result = sized("llama-70b-dgx-h100")
    parts = count_sizes(result.design.platform, [(5, 1), (12, 1)], result.request, catalog())
    heads = [one.pieces[one.items.index("management-server")].tolist() for one in (parts.as_it_grows, parts.prepared)]
    assert heads == [[1, 2], [2, 2]]
    grown, ready = parts.as_it_grows.power_max_w, parts.prepared.power_max_w
    assert ready[0] - grown[0] >= 800  # the second head node and the later switches
    assert ready[1] == grown[1]


def test_a_plan_ends_where_the_room_does_and_says_why():
    request = asked({"years": 5, "target": 2}, limits={"racks": 2})
    plan = growth_plan(request, CATALOG)
    assert 1 <= plan.n_years < 5
    assert plan.unmet.year == plan.n_years + 1
    assert "rack" in plan.unmet.reason
    assert len(only(plan).recommended.purchases) == plan.n_years
    with pytest.raises(InfeasibleError):
        best_design(plan.requests[plan.n_years], CATALOG)


# --- limits over time


@pytest.mark.parametrize(
    ("loads", "is_gradual", "year"),
    [
        ((0.25, 0.5, 1.0, 2.0), True, 3.0),  # doubling: 1 is reached exactly in year 3
        ((0.5, 2.0), True, 1.5),  # half of a factor of four is one doubling, half a year
        ((0.5, 2.0), False, 2.0),
        ((1.5, 2.0), True, 1.0),
        ((0.5, 0.9), True, None),
        ((0.5, math.inf), True, 2.0),
    ],
)
def test_year_in_which_a_limit_is_hit(loads, is_gradual, year):
    found = CapacityLimit(LimitKind.GPU_RATE, loads, is_gradual).year
    assert found == (None if year is None else pytest.approx(year))


def test_loads_double_with_what_drives_them():
    """Twice the data is twice the capacity used; twice the rate is twice the load of GPUs and of storage reads."""
    of_data = {limit.kind: limit for limit in only(growth_plan(asked({"years": 3, "data": 2}), CATALOG)).limits}
    assert_ratio(of_data[LimitKind.STORAGE_CAPACITY], 2)
    assert_ratio(of_data[LimitKind.GPU_RATE], 1)
    of_time = asked(
        {"years": 3, "data": 1.4}, {"dataset_bytes": 50e9, "epochs": 90, "target": {"time_to_train_s": "9 h"}}
    )
    cached = {limit.kind: limit for limit in only(growth_plan(of_time, CATALOG)).limits}
    assert_ratio(cached[LimitKind.GPU_RATE], 1.4)
    of_rate = {limit.kind: limit for limit in only(growth_plan(asked({"years": 3, "target": 2}), CATALOG)).limits}
    assert_ratio(of_rate[LimitKind.GPU_RATE], 2)
    assert_ratio(of_rate[LimitKind.STORAGE_READS], 2)
    assert_ratio(of_rate[LimitKind.STORAGE_CAPACITY], 1)


def assert_ratio(limit: CapacityLimit, factor: float) -> None:
    np.testing.assert_allclose([b / a for a, b in pairwise(limit.loads)], factor, rtol=1e-9)


def test_the_first_years_cluster_misses_the_year_in_which_a_rate_exhausts_it():
    plan = growth_plan(asked({"years": 4, "target": 1.5}), CATALOG)
    found = only(plan)
    gpus = next(limit for limit in found.limits if limit.kind == LimitKind.GPU_RATE)
    first = found.needs[0]
    for year, load in zip(plan.requests, gpus.loads, strict=True):
        stays = project(
            year,
            CATALOG,
            server="dgx-1",
            servers=first.n_servers,
            storage="isilon-f800",
            storage_nodes=4,
            gpu="v100-sxm2-16gb",
            fabric="100gbe",
        )
        assert (stays.workloads[0].target_check is CheckResult.MET) == (load <= 1)


def test_the_team_exhausts_the_servers_for_its_queue_wait():
    """The load is the servers that the waits of a year need over those of the first; sizing a year alone finds both."""
    team = {
        "data_scientists": 6,
        "wait_s": 3600,
        "job": [{"name": "training", "gpus": 8, "jobs_a_day_each": 1.0, "duration_s": 4 * 3600}],
    }
    request = asked({"years": 2, "team": 2}, {"target": {"gpus_busy": 8}}, team=team)
    found = only(growth_plan(request, CATALOG))
    waits = next(limit for limit in found.limits if limit.kind == LimitKind.QUEUE_WAIT)
    first, second = found.needs
    assert waits.loads == (1.0, second.n_servers / first.n_servers)
    assert waits.year == 2
    assert second.n_servers == best_design(yearly_requests(request, CATALOG)[1], CATALOG).design.n_servers


def test_years_of_known_prices_cost_what_their_sums_say():
    """Where every part has a price the interval of a year is its sum, with the price factor of the year."""
    found = only(growth_plan(asked({"years": 2, "target": 2, "price": 0.5}), priced()))
    for purchase in found.recommended.purchases:
        amount = float(purchase.cost.amount)
        assert not purchase.cost.n_open
        assert [purchase.interval.low, purchase.interval.high] == pytest.approx([amount, amount], rel=1e-6)
    assert found.recommended.interval.expected == pytest.approx(float(found.recommended.cost.amount), rel=1e-6)
