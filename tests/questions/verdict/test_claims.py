"""Claims about each example, and the simplest design against every platform sized alone."""

import math
from decimal import Decimal
from functools import cache

import pytest

from sizer.base.errors import InfeasibleError
from sizer.bom.prices import prices_for
from sizer.bom.unit_prices import unit_prices
from sizer.catalog.schema import Device
from sizer.physical.platforms import platforms
from sizer.questions.verdict.analysis import Claim, claims
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, _is_no_larger, simplest_design
from sizer.questions.verdict.text import claims_table, simplest_text
from sizer.sizing.best_design import best_design
from sizer.sizing.checks import CheckResult
from sizer.sizing.customer_copy import customer_copy
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.project import requoted
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.ranking import MOST_TIED
from sizer.sizing.size import size
from sizer.workload.quote import Quote
from sizer.workload.request import SizingRequest
from tests.factories.examples import EXAMPLES, catalog, most_in, sized
from tests.factories.prices import all_priced
from tests.factories.requests import resnet_request

pytestmark = pytest.mark.xdist_group("examples")  # one worker sizes all of them

# Questions and workloads besides the published architectures; the others differ little from these.
MORE = (
    "questions/do-we-need-a-cluster",
    "questions/does-a-faster-fabric-pay",
    "questions/a-mix-on-one-cluster",
    "workloads/large-images",
    "questions/forty-data-scientists",
    "workloads/translation",
)


@cache
def told(name: str) -> tuple[Claim, ...]:
    return claims(EvaluatedDesign(sized(name), catalog()))


@pytest.mark.parametrize("name", most_in("laws", [*EXAMPLES, *MORE]))
def test_every_example_has_finite_claims_with_texts(name: str) -> None:
    found = told(name)
    # What serves users reads no data set.
    is_serving = name in ("code-8b-l40s", "office-chat-70b-h200")
    assert {claim.key for claim in found} >= {"one-server", *(() if is_serving else ("simple-storage",))}
    for claim in found:
        assert math.isfinite(claim.value)
        assert math.isfinite(claim.threshold)
        assert claim.holds == (claim.value <= claim.threshold if claim.at_most else claim.value >= claim.threshold)
        for text in claim.facts():
            assert not any(bad in text for bad in ("nan", "inf ", "None", "{", "}")), text
        assert all(source in catalog().sources for source in claim.sources)


def test_the_claims_of_a_workload_stand_together() -> None:
    rows = claims_table(told("questions/a-mix-on-one-cluster")).rows
    heads = [row.cells[0].text for row in rows if row.kind == "group"]
    assert heads == ["ResNet-50", "Inception-v4", "AlexNet"]


def asked(target: dict[str, object], dataset: str, **platforms_: object) -> SizingRequest:
    return resnet_request(dataset, target, platforms=platforms_)


def simplicity_of(design: DesignAnswer) -> tuple[bool, int, int, int]:
    """Simplicity counted by hand, from the plan's devices and the bill's networks."""
    kinds = {net.kind for net in design.quantities.networks if net.switch is not None and int(net.ports_used[0])}
    devices = sum(
        int(part.quantity[0])
        for part in design.quantities.components
        if isinstance(catalog().item(part.item), Device) and part.category not in ("rack and power", "software")
    )
    return design.n_servers > 1, STORAGE_ORDER.index(design.platform.storage.kind), len(kinds), devices


def is_no_larger(design: DesignAnswer, described: DesignAnswer) -> bool:
    """At most as many servers, at most 1.5 times the GPUs and watts, and about the expected cost."""
    watts = float(design.quantities.power_max_w[0]) / float(described.quantities.power_max_w[0])
    assert design.cost is not None
    assert described.cost is not None
    is_near = design.cost.expected <= MOST_TIED * described.cost.expected
    return (
        is_near and design.n_servers <= described.n_servers and design.n_gpus <= 1.5 * described.n_gpus and watts <= 1.5
    )


REQUESTS = (
    asked({"samples_per_s": 5000}, "145 GB", servers=["dgx-1", "c4140"], fabrics=["10gbe", "edr"]),
    asked({"samples_per_s": 5000}, "5 TB", servers=["dgx-1"], fabrics=["100gbe", "edr"]),
    asked({"samples_per_s": 20_000}, "20 TB", servers=["dgx-1", "apollo-6500"], storage=["isilon-f800", "wekaio"]),
    asked({"gpus_busy": 4}, "145 GB", servers=["c4140", "v225g"], storage=["hnas", "isilon-f800", "head-node-nfs"]),
    asked({"gpus_busy": 16}, "1 TB", servers=["apollo-6500"], fabrics=["edr"]),
)


@pytest.mark.parametrize("request_", most_in("laws", REQUESTS))
def test_no_platform_has_a_simpler_design(request_: SizingRequest) -> None:
    """Every platform that the request allows, sized alone with every number of servers it may need."""
    result = size(request_, catalog())
    simplest, described = simplest_design(EvaluatedDesign(result, catalog())), result.design
    best: tuple[bool, int, int, int] | None = None
    for one in platforms(catalog(), request_):
        chosen = {
            "servers": [one.server.id],
            "gpus": [one.gpu.id],
            "storage": [one.storage.id],
            "fabrics": [one.fabric.id],
        }
        data = request_.model_dump(exclude_none=True)
        try:
            design = best_design(SizingRequest.from_dict({**data, "platforms": chosen}), catalog()).design
        except InfeasibleError:
            continue
        if design.conditional_on or not is_no_larger(design, described):
            continue  # nobody knows whether it is enough, or it is far larger
        mine = simplicity_of(design)
        best = mine if best is None else min(best, mine)
    assert best is not None
    assert tuple(simplest.allowed.simplicity) == best
    assert simplicity_of(simplest.allowed.design) == best


@pytest.mark.parametrize("name", most_in("laws", EXAMPLES))
def test_what_is_found_is_a_design_of_its_request(name: str) -> None:
    result = sized(name)
    simplest = simplest_design(EvaluatedDesign(result, catalog()))
    assert simplest.allowed.simplicity <= simplest.described
    for rated in (simplest.allowed, simplest.unrestricted):
        if rated is None:
            continue
        again = best_design(rated.request, catalog()).design
        assert again.name == rated.design.name
        assert again.target_check is (CheckResult.OPEN if again.conditional_on else CheckResult.MET)
    if simplest.unrestricted is not None:
        far_cheaper = 2 * simplest.unrestricted.design.cost.expected <= result.design.cost.expected
        assert far_cheaper or simplest.unrestricted.simplicity < simplest.allowed.simplicity
        assert simplest.excluding_choices
        assert all(key.startswith(("platforms.", "limits.")) for key in simplest.excluding_choices)


def test_the_excluding_choice_is_named() -> None:
    """Data that fit the drives of the server that is asked for, and a request that allows shared storage only."""
    request = asked({"samples_per_s": 5000}, "145 GB", servers=["dgx-1"], storage=["isilon-f800"])
    simplest = simplest_design(EvaluatedDesign(size(request, catalog()), catalog()))
    # The cheapest design need not be the simplest of those that are allowed.
    assert simplest.allowed.simplicity <= simplest.described
    assert simplest.unrestricted.design.platform.storage.kind == "local"
    assert simplest.unrestricted.design.n_servers == 1
    assert "platforms.storage" in simplest.excluding_choices


def test_a_named_gpu_that_costs_several_times_as_much_is_told() -> None:
    """A small model for twenty users on H200, whose servers have eight; one card of any kind holds it."""
    work = {"task": "serving", "dnn": "llama-3-8b", "use": "chat", "target": {"users": 20}}
    request = SizingRequest.from_dict(
        {"date": "2026-11-28", "workload": [work], "platforms": {"gpus": ["h200-sxm-141gb"]}}
    )
    result = size(request, catalog())
    simplest = simplest_design(EvaluatedDesign(result, catalog()))
    assert simplest.excluding_choices == ("platforms.gpus",)
    assert simplest.unrestricted.design.n_gpus == 1
    assert "would be enough and cheaper" in simplest_text(simplest, result)[-1]


def test_a_room_that_is_a_little_too_small_is_told() -> None:
    """Two HGX H100 (10.2 kW each, with switches 24.7 kW) extend one DGX H100; in 24 kW three servers of cards do it."""
    work = {"dnn": "llama-3-8b", "method": "continued", "tokens": 40e9, "target": {"time_to_train_s": "8 d"}}
    existing = {"servers": {"dgx-h100": 1}}
    allowed = {"generations": ["hopper"]}
    request = {"date": "2026-11-29", "workload": [work], "platforms": allowed, "existing": existing}
    result = size(SizingRequest.from_dict({**request, "limits": {"power_w": 24e3}}), catalog())
    simplest = simplest_design(EvaluatedDesign(result, catalog()))
    assert "limits.power_w" in simplest.excluding_choices
    assert 24e3 < simplest.unrestricted.design.quantities.power_max_w[0] <= 26.4e3
    assert "the power allowed" in simplest_text(simplest, result)[-1]


def test_servers_to_buy_are_not_simpler_than_servers_that_are_there() -> None:
    """Two DGX B200 would be fewer devices than three of four DGX H100 that are there; they are not bought for it."""
    work = {"dnn": "llama-2-13b", "tokens": 3e11, "target": {"time_to_train_s": "30 d"}}
    allowed = {"servers": ["dgx-h100", "dgx-b200"], "storage": ["ai400x2"]}
    request = {"workload": [work], "platforms": allowed, "existing": {"servers": {"dgx-h100": 4}}}
    result = size(SizingRequest.from_dict(request), catalog())
    assert result.design.platform.server.id == "dgx-h100"
    found = simplest_design(EvaluatedDesign(result, catalog()))
    assert found.allowed.design.platform.server.id == "dgx-h100"


def test_the_discount_of_a_copy_makes_no_other_design_too_dear() -> None:
    """A design is as large as itself, also where the copy shows what is paid after 60 % of discount."""
    parts = all_priced(lambda _: 1000)
    full = size(asked({"samples_per_s": 5000}, "145 GB", servers=["dgx-1"], storage=["isilon-f800"]), parts)
    deal = requoted(full, Quote(discount_percent=Decimal(60)), parts)
    copy = customer_copy(deal)
    assert copy.design.bill.is_complete
    assert float(full.design.bill.total) > MOST_TIED * float(copy.design.bill.total)
    prices = unit_prices(parts, prices_for(copy.request, parts), copy.request.currency, (0.5, 0.9))
    assert _is_no_larger(full.design, copy.design, prices)


@pytest.mark.parametrize(("usd", "is_advised"), [(1000, True), (500_000, False)])
def test_a_simpler_design_that_costs_clearly_more_is_not_advised(usd: int, is_advised: bool) -> None:
    """One server with drives of its own beside one on a NAS of thousands: at half a million it is no advice."""
    parts = all_priced(lambda item: usd if item == "dgx-1" else 1000)
    simple, described = (
        best_design(asked({"samples_per_s": 5000}, "145 GB", servers=[server], storage=[storage]), parts).design
        for server, storage in (("dgx-1", "dgx1-ssd"), ("c4140", "isilon-f800"))
    )
    assert _is_no_larger(simple, described, unit_prices(parts, prices_for(REQUESTS[0], parts), "USD", (0.5, 0.9))) == (
        is_advised
    )
