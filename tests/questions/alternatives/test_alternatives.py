"""Neighbours of a design: each leads to itself, and is what its kind says."""

from dataclasses import replace
from functools import cache

import pytest

from sizer import Catalog, DesignAnswer, EvaluatedDesign, SizingResult, size
from sizer.catalog.price_books import Price
from sizer.questions.alternatives.analysis import Neighbour, nearby_designs, other_vendors
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckResult
from tests.factories.examples import EXAMPLES, catalog, most_in, sized


@cache
def near_(name: str) -> tuple[Neighbour, ...]:
    return nearby_designs(EvaluatedDesign(sized(name), catalog()))


@cache
def vendors_(name: str) -> tuple[Neighbour, ...]:
    return other_vendors(EvaluatedDesign(sized(name), catalog()))


@cache
def priced() -> Catalog:
    """The catalogue with a price for every item: a DGX-1 costs ten times what anything else does."""
    prices = [
        Price(
            item=item.id,
            amount="90000" if item.id == "dgx-1" else "9000",
            currency="USD",
            date="2026-10",
            source="offer",
            where="1",
        )
        for _, item in catalog().items()
    ]
    return replace(catalog(), prices=tuple(prices))


def of_kind(found: tuple[Neighbour, ...], kind: str) -> Neighbour | None:
    return next((one for one in found if one.kind == kind), None)


@pytest.mark.parametrize("name", most_in("laws", EXAMPLES, ("small-team",)))
def test_faster_is_faster_and_smaller_is_smaller_on_the_same_platform(name):
    design = sized(name).design
    faster, smaller = of_kind(near_(name), "faster"), of_kind(near_(name), "smaller")
    assert faster.design.platform.key == design.platform.key
    assert faster.design.n_servers > design.n_servers
    # Rates of the same workload: the target differs, the networks and data sets do not.
    assert faster.design.workloads[0].throughput.value >= 1.1 * design.workloads[0].throughput.value
    if design.n_servers == 1:
        assert smaller is None
    else:
        assert smaller is not None
        assert smaller.design.platform.key == design.platform.key
        assert smaller.design.n_servers < design.n_servers
        assert smaller.design.quantities.rack_units[0] < design.quantities.rack_units[0]
        assert smaller.target_probability is not None


def test_smaller_takes_a_lower_confidence_before_a_looser_target():
    """At 90 % the example needs more servers than at 50 %, so less confidence is a way to fewer."""
    request = sized("dgx1-f800-resnet50").request.model_copy(update={"confidence": 0.9})
    result = size(request, catalog())
    found = of_kind(nearby_designs(EvaluatedDesign(result, catalog())), "smaller")
    assert 0.5 <= found.request.confidence < 0.9
    assert found.request.workload == request.workload
    assert found.design.probability >= found.request.confidence - 0.005
    # One percent more would have kept the larger size.
    more = found.request.model_copy(update={"confidence": found.request.confidence + 0.01})
    assert best_design(more, catalog()).design.n_servers == result.design.n_servers


def _keeps_targets(design: DesignAnswer) -> bool:
    """Every target met; open where the design depends on a value that no source gives, as those of an HNAS."""
    result = CheckResult.OPEN if design.conditional_on else CheckResult.MET
    return all(answer.target_check is result for answer in design.workloads)


@pytest.mark.parametrize("name", most_in("laws", EXAMPLES, ("small-team",)))
def test_other_vendors_are_others_and_only_their_own_list_is_widened(name):
    design, asked = sized(name).design, sized(name).request.platforms
    server, storage = (of_kind(vendors_(name), kind) for kind in ("other server", "other storage"))
    if server is not None:
        assert server.design.platform.server.vendor != design.platform.server.vendor
        assert not asked.storage or server.design.platform.storage.id in asked.storage
        assert _keeps_targets(server.design)
    if storage is not None:
        assert storage.design.platform.storage.vendor != design.platform.storage.vendor
        assert not asked.servers or storage.design.platform.server.id in asked.servers
        assert _keeps_targets(storage.design)
    assert server is not None or storage is not None


def _ranked_by_gpus(parts: Catalog) -> SizingResult:
    """Several servers allowed, the one with the fewest rack units described: it need not be the cheapest."""
    request = sized("dgx1-f800-resnet50").request
    wide = request.platforms.model_copy(update={"servers": ("dgx-1", "apollo-6500"), "gpus": (), "fabrics": ()})
    return size(request.model_copy(update={"platforms": wide, "rank_by": "rack-units"}), parts)


def test_cheaper_costs_less_where_every_price_is_known():
    result = _ranked_by_gpus(priced())
    assert result.design.platform.server.id == "dgx-1"
    found = of_kind(nearby_designs(EvaluatedDesign(result, priced())), "cheaper")
    assert found.design.bill.is_complete
    assert found.design.bill.total < result.design.bill.total
    assert best_design(found.request, priced()).design.bill.total == found.design.bill.total
    assert found.cost.is_exact
    assert found.cost.low == pytest.approx(float(found.design.bill.total - result.design.bill.total), abs=0.005)
