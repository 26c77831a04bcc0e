"""``size`` and ``grow`` say the same: the design of a request that grows is what the plan buys first."""

from collections import Counter

import pytest

from sizer import SizingRequest, growth_plan, size
from sizer.batch.work import cells_of_answer
from sizer.calibrate.calibration import stored_calibration
from sizer.library.compare import answer_to_request
from sizer.physical.plan import CABLE_CATEGORY
from sizer.sizing.growth.result import ClusterSize
from sizer.sizing.reasons import SelectionKind, VerdictKind
from tests.factories.examples import catalog
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
    assert sum(point.is_documented for point in result.pareto) == 1
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
