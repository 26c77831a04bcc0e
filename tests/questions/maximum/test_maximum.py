"""The most that limits give: hand arithmetic, laws of a limit, and what is refused."""

from decimal import Decimal
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer import Catalog, SizingRequest, SizingResult, size
from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import duration, probability_text
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import FactKind, SizeLimit
from sizer.sizing.maximum import rows_of
from sizer.sizing.recommend import search
from sizer.sizing.result import LimitStep, Maximum
from tests.factories.prices import all_priced

# Published list price of one DGX-1 in the catalogue's sources. [USD]
DGX1_USD = 149_000
MAXIMUM = {"maximum": "rate"}


@cache
def catalog(price: int = DGX1_USD) -> Catalog:
    """Everything costs a cent but the DGX-1."""
    return all_priced(lambda item: Decimal(price if item == "dgx-1" else 0) + Decimal("0.01"))


def asked(target: dict[str, Any], *, allowed: tuple[str, ...] = ("dgx-1",), **limits: float) -> SizingRequest:
    return SizingRequest.from_dict(
        {
            "workload": [{"dnn": "resnet50", "target": target}],
            "platforms": {"servers": list(allowed), "storage": ["dgx1-ssd", "local-ssd", "local-nvme"]},
            "limits": limits,
        }
    )


@cache
def most(**limits: float) -> SizingResult:
    return size(asked(MAXIMUM, **limits), catalog())


def step_of(result: SizingResult, limit: SizeLimit) -> LimitStep:
    return next(step for step in result.maximum.steps if step.limit is limit)


def test_a_budget_buys_as_many_servers_as_its_quotient():
    """500,000 / 149,000 = 3.4: three DGX-1 for 447,000; the fourth makes 596,000, and the rest costs cents."""
    result = most(budget=500_000)
    assert result.design.n_servers == 3
    following = step_of(result, SizeLimit.BUDGET).following
    assert following.n_servers == 4
    assert following.cost == pytest.approx(4 * DGX1_USD, abs=7_000)
    assert result.maximum.design.cost == pytest.approx(3 * DGX1_USD, abs=6_000)


def test_power_buys_as_many_servers_as_its_quotient():
    """20 kW / 3.5 kW = 5.7: five DGX-1 take 17.5 kW and leave 2.5 kW for a switch or two; six take 21 kW."""
    result = most(power_w=20_000)
    assert result.design.n_servers == 5
    following = step_of(result, SizeLimit.POWER).following
    assert following.n_servers == 6
    assert following.power_w >= 21_000


def test_rack_units_hold_as_many_servers_as_their_quotient():
    """20 U / 3 U = 6.7; six DGX-1 take 18 U, but a head node, a fabric and a management switch take 1 U each or more:
    18 + 3 > 20. Five take 15 U and leave 5 U."""
    assert most(rack_units=20).design.n_servers == 5


def test_a_design_that_costs_far_less_and_is_nearly_as_fast_is_told():
    """24 kW feed six DGX-1 of eight V100, 149,000 each, or C4140 of four V100 for a cent, with nearly as many GPUs."""

    def found(*servers: str) -> Maximum:
        work = {"dnn": "resnet50", "target": MAXIMUM}
        allowed = {"servers": list(servers), "storage": ["isilon-f800"]}
        request = {"workload": [work], "platforms": allowed, "limits": {"power_w": 24_000}}
        return size(SizingRequest.from_dict(request), catalog()).maximum

    both = found("dgx-1", "c4140")
    assert (both.design.server, both.cheaper.server) == ("dgx-1", "c4140")
    assert both.cheaper.samples_per_s / both.design.samples_per_s == pytest.approx(0.88, abs=0.02)
    assert both.cheaper.samples_per_s <= found("c4140").samples_per_s * 1.01
    assert found("dgx-1").cheaper is None


def test_servers_are_all_used_while_each_adds_rate():
    result = most(servers=4)
    assert result.design.n_servers == 4
    following = step_of(result, SizeLimit.SERVERS).following
    assert following.n_servers == 5


def test_only_the_scarcer_of_two_limits_binds():
    """A million USD buys six DGX-1 (894,000), 20 kW run five."""
    result = most(budget=1_000_000, power_w=20_000)
    assert result.design.n_servers == 5
    assert step_of(result, SizeLimit.POWER).binds
    assert not step_of(result, SizeLimit.BUDGET).binds


def test_a_design_that_draws_unknown_power_never_wins():
    """No source gives the draw of a DSS 8440, so 20 kW do not name it, although it has more GPUs a server."""
    result = size(asked(MAXIMUM, allowed=("dgx-1", "dss-8440"), power_w=20_000), shipped_catalog())
    assert result.design.platform.server.id == "dgx-1"
    assert not result.design.conditional_on
    following = step_of(result, SizeLimit.POWER).following
    assert following.server == "dgx-1"


@pytest.mark.laws
@pytest.mark.parametrize("limit", ["budget", "power_w", "servers"])
@settings(max_examples=2, deadline=None)
@given(share=st.floats(0.4, 1.0), growth=st.floats(1.0, 1.5))
def test_laws_of_a_limit(limit: str, share: float, growth: float):
    """More never gives less; the answer keeps its limit and is what an ordinary request for its rate answers."""
    full = {"budget": 900_000, "power_w": 20_000, "servers": 5}[limit]
    small, large = share * full, share * full * growth
    if limit == "servers":
        small, large = round(small), round(large)
    one, other = (size(asked(MAXIMUM, **{limit: bound}), catalog()) for bound in (small, large))
    # Halving stops within a thousandth of the highest rate.
    assert other.maximum.highest_samples_per_s >= one.maximum.highest_samples_per_s * (1 - 1e-3)
    amount = one.maximum.design.amount(SizeLimit(limit))
    assert amount is not None
    assert amount <= small
    rate = one.maximum.samples_per_s
    again = best_design(asked({"samples_per_s": rate}, **{limit: small}), catalog()).design
    assert (again.n_servers, again.platform.server.id) == (one.design.n_servers, one.design.platform.server.id)
    assert again.probability is not None
    assert again.probability >= 0.895  # the confidence asked, in whole percent
    assert not is_reached(asked({"samples_per_s": one.maximum.highest_samples_per_s * 1.02}, **{limit: small}), small)


def is_reached(request: SizingRequest, budget: float) -> bool:
    """Whether some design meets a request, its budget with the confidence asked."""
    try:
        cost = best_design(request, catalog()).design.cost
    except InfeasibleError:
        return False
    return request.limits.budget is None or cost is None or cost.at_confidence <= budget


@pytest.mark.parametrize("limits", [{"budget": 500_000}, {"power_w": 20_000}, {"servers": 4}])
def test_the_next_step_takes_more_than_the_limit_and_is_faster(limits: dict[str, float]):
    found = most(**limits).maximum
    for step in found.steps:
        assert (step.following.amount(step.limit) or 0.0) > step.bound
        assert step.following.samples_per_s > found.highest_samples_per_s


def test_the_other_workload_keeps_its_target():
    """VGG-16 keeps its 2,000 images/s while ResNet-50 gets the most of three servers."""
    works = [
        {"name": "first", "dnn": "vgg16", "target": {"samples_per_s": 2_000}},
        {"name": "second", "dnn": "resnet50", "target": MAXIMUM},
    ]
    platforms = {"servers": ["dgx-1"], "storage": ["dgx1-ssd"]}
    result = size(
        SizingRequest.from_dict({"workload": works, "platforms": platforms, "limits": {"servers": 3}}), catalog()
    )
    assert result.maximum.workload == 1
    assert result.request.workload[0].target.samples_per_s == 2_000
    assert result.request.workload[1].target.samples_per_s == result.maximum.samples_per_s
    assert result.design.probability is not None
    assert result.design.probability >= 0.895
    alone = most(servers=3).maximum
    # Both together must meet their targets with 90 %, so that each has a little less room.
    assert result.maximum.samples_per_s <= alone.samples_per_s


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"limits": {}}, "needs a limit of the size"),
        ({"limits": {"rack_power_w": 9_000}}, "needs a limit of the size"),
        ({"workload": [{"dnn": "resnet50", "target": MAXIMUM}, {"dnn": "vgg16", "target": MAXIMUM}]}, "only one"),
        ({"workload": [{"dnn": "resnet50", "target": {**MAXIMUM, "gpus_busy": 8}}]}, "exactly one"),
        ({"growth": {"years": 3, "data": 1.5}}, "cannot be combined with [growth]"),
    ],
)
def test_what_has_no_answer_is_refused_with_a_sentence(change: dict[str, Any], words: str):
    data: dict[str, Any] = {"workload": [{"dnn": "resnet50", "target": MAXIMUM}], "limits": {"servers": 2}}
    with pytest.raises(RequestError) as refused:
        SizingRequest.from_dict({**data, **change})
    assert words in str(refused.value)


def test_a_budget_that_buys_nothing_names_the_least_cost():
    with pytest.raises(InfeasibleError) as none:
        best_design(asked(MAXIMUM, budget=100_000), catalog())
    assert "150" in str(none.value)  # 149,000 and what costs a few hundred


def test_a_budget_without_prices_in_its_currency_is_refused():
    request = asked(MAXIMUM, budget=500_000).model_copy(update={"currency": "KZT"})
    with pytest.raises(RequestError) as refused:
        best_design(request, shipped_catalog())
    assert "KZT" in str(refused.value)


def test_the_most_of_a_network_whose_memory_nobody_knows_depends_on_it():
    """As an ordinary request, it is answered on that condition, not refused."""
    network = {"name": "Video", "forward_flop": 5.5e14, "parameters": 5e9, "input_bytes": 4_000_000}
    request = SizingRequest.from_dict(
        {
            "workload": [
                {
                    "dnn": {**network, "kind": "diffusion"},
                    "target": MAXIMUM,
                    "epochs": 1,
                    "dataset": {"name": "Clips", "n_samples": 1e5, "sample_bytes": 4e6, "format": "decoded tensors"},
                }
            ],
            "platforms": {"servers": ["as-8125gs-tnhr"], "storage": ["ai400x2"]},
            "limits": {"servers": 2},
        }
    )
    result = size(request, shipped_catalog())
    assert result.design.n_servers == 2
    assert [fact.kind for fact in result.design.conditional_on] == [FactKind.GPU_MEMORY]
    assert result.design.probability is None


def test_the_chance_of_what_a_budget_buys_is_that_of_its_number_of_gpus():
    """Four cards of an eight-slot server are not eight: the rate is half, and the chance of 500 images/s is less."""
    dnn = {"name": "ViT-L", "forward_flop": 1.23e11, "parameters": 303e6, "input_bytes": 602_112, "kind": "transformer"}
    dataset = {"name": "tiles", "n_samples": 20e6, "sample_bytes": "100 kB", "format": "records"}
    work = {"dnn": dnn, "dataset": dataset, "epochs": 10, "target": {"samples_per_s": 500}}
    allowed = {"servers": ["xe7745"], "gpus": ["rtx-pro-6000-96gb"], "storage": ["xe7745-nvme"], "fabrics": ["ndr"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": allowed})
    counts = search(request, shipped_catalog(), stored_calibration(), most=1)
    chances = {}
    for n_gpus in (4, 8):
        only = request.model_copy(
            update={"platforms": request.platforms.model_copy(update={"gpus_per_server": n_gpus})}
        )
        alone = search(only, shipped_catalog(), stored_calibration(), most=1).evaluated
        found = SimpleNamespace(
            server="xe7745",
            gpu="rtx-pro-6000-96gb",
            storage="xe7745-nvme",
            host_memory=None,
            n_servers=1,
            n_gpus=n_gpus,
        )
        chances[n_gpus] = float(counts.evaluated.probability[rows_of(counts.evaluated, found)].max())
        assert chances[n_gpus] == pytest.approx(float(alone.probability.max()), abs=1e-3)
    assert chances[4] < 0.9 < chances[8]


def test_a_budget_that_misses_a_target_tells_the_chance_and_the_time_of_what_it_buys():
    """One server with five cards, which the search of the target has no row of: a chance of its own, not none."""
    data = {"name": "images", "n_samples": 40e6, "sample_bytes": "150 kB"}
    work = {"dnn": "resnet50", "dataset": data, "epochs": 16, "target": {"time_to_train_s": "6 h"}}
    allowed = {"servers": ["dell-xe7740"], "gpus": ["h200-nvl-141gb"], "storage": ["nvme-to-confirm"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": allowed, "limits": {"budget": 280_000}})
    with pytest.raises(InfeasibleError) as refused:
        size(request, shipped_catalog())
    five = {"platforms": allowed | {"gpus_per_server": 5}, "limits": {"servers": 1}}
    alone = search(SizingRequest.from_dict({"workload": [work], **five}), shipped_catalog(), stored_calibration())
    (row,) = np.flatnonzero(alone.evaluated.probability == alone.evaluated.probability.max())
    chance, time_s = alone.evaluated.probability[row], alone.evaluated.time_at(np.array([row]), 0.9)[0]
    assert 0.05 < chance < 0.9
    assert "(5 × H200 NVL 141 GB)" in str(refused.value)
    assert f"{probability_text(chance)} confidence" in str(refused.value)
    assert f"trains in about {duration(time_s)}" in str(refused.value)
