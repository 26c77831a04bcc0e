"""What is there is used first: counts of what is used, added and idle, and the order of designs."""

import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sizer import DesignAnswer, InfeasibleError, SizingRequest, project, size
from sizer.base.quantities import duration
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.sale import is_sold
from sizer.physical.quantities import ExistingUse
from sizer.present.bill_tables import component_table
from sizer.present.text.plan import existing_text
from sizer.present.text.verdict import equipment_texts, verdict_text
from sizer.sizing.best_design import best_design
from sizer.sizing.recommend import search
from sizer.sizing.search.infeasible_error import nearest_design
from sizer.sizing.search.ranking import Ranking
from tests.factories.examples import catalog
from tests.factories.requests import resnet_request


def request(samples_per_s: float, **tables: Any) -> SizingRequest:
    """Training of ResNet-50 on 10 TB at a rate."""
    return resnet_request(
        "10 TB", {"samples_per_s": samples_per_s}, **{"platforms": {"generations": ["volta"]}, **tables}
    )


def counts(use: ExistingUse | None) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """What is used, idle and added, id -> count."""
    used, idle, added = ({one.item: one.count for one in part} for part in (use.used, use.idle, use.added))
    return used, idle, added


def new_servers(design: DesignAnswer) -> int:
    """GPU servers on the lines that are bought."""
    return sum(
        line.quantity
        for line in design.bill.lines
        if line.item == design.platform.server.id and line.status == "computed"
    )


def test_two_dgx1_and_four_f800_are_extended_by_two_dgx1() -> None:
    """Nine DGX-1 (72 GPUs) pass 52,274 images/s (Dell and Isilon, 2018): 726 images/s a GPU.

    20,000 images/s take 27.5 GPUs, four DGX-1, of which two are there. Their reads of 20,000 x 113 kB = 2.3 GB/s are a
    sixth of what four F800 nodes deliver (15 GB/s a chassis), so that no storage is bought.
    """
    there = {"servers": {"dgx-1": 2}, "storage_nodes": {"isilon-f800": 4}, "switches": {"sb7800": 1, "s3048-on": 1}}
    result = size(request(20_000, existing=there), catalog())
    used, idle, added = counts(result.design.existing)
    assert used == {"dgx-1": 2, "isilon-f800": 4, "sb7800": 1, "s3048-on": 1}
    assert idle == {}
    assert added["dgx-1"] == 2
    assert "isilon-f800" not in added
    at_hand = {line.item: line.quantity for line in result.design.bill.lines if line.status == "existing"}
    assert (at_hand["dgx-1"], at_hand["isilon-f800"]) == (2, 4)
    # The table of devices tells the two that are there from the two that are bought.
    devices = [row.cells[1].text for row in component_table(result.design, catalog()).rows]
    assert devices[:2] == ["NVIDIA DGX-1, at hand", "NVIDIA DGX-1"]


@pytest.mark.parametrize(
    ("server", "held", "gpu", "each"),
    [
        ("dgx-a100", {"gpus": ["a100-sxm-80gb"]}, "a100-sxm-80gb", 8),
        ("rtx-3090-server", {"gpus_per_server": 8}, "rtx-3090-24gb", 8),
        ("rtx-4090-server", {"gpus_per_server": 2}, "rtx-4090-24gb", 2),
        ("sys-421ge-tnrt", {"gpus": ["rtx-a6000-48gb"], "gpus_per_server": 8}, "rtx-a6000-48gb", 8),
    ],
)
def test_servers_that_are_there_hold_the_gpus_that_are_told(server, held, gpu, each) -> None:
    """Where they are enough; what is bought where they are not is free: nobody sells an A100 any more."""
    there = {"servers": {server: 1}, **held}
    platform = size(resnet_request("100 GB", {"samples_per_s": 500}, existing=there), catalog()).design.platform
    assert (platform.server.id, platform.gpu.id, platform.gpus_per_server) == (server, gpu, each)
    bought = size(resnet_request("100 GB", {"samples_per_s": 60_000}, existing=there), catalog()).design.platform
    assert bought.server.id != server


def test_what_is_used_added_and_idle_of_a_given_cluster() -> None:
    """Three DGX-1 and eight F800 nodes where five DGX-1, four nodes and two SN2700 are there.

    Three of the five servers run and two are idle; one chassis of four nodes is there and one is bought.
    """
    there = {"servers": {"dgx-1": 5}, "storage_nodes": {"isilon-f800": 4}, "switches": {"sn2700": 2}}
    asked = request(5_000, existing=there, platforms={"fabrics": ["edr"]})
    design = project(asked, catalog(), server="dgx-1", servers=3, storage="isilon-f800", storage_nodes=8)
    used, idle, added = counts(design.existing)
    assert used == {"dgx-1": 3, "isilon-f800": 4}
    assert idle == {"dgx-1": 2, "sn2700": 2}
    assert added["isilon-f800"] == 4
    assert "dgx-1" not in added
    text = existing_text(design.existing, design.plan)
    assert text.startswith("Of the existing equipment the design uses 3 × DGX-1 and 4 × Isilon F800; it adds ")
    assert "leaves 2 × DGX-1 and 2 × SN2700 idle. Assumed to be there, and not in the price: 1 × R740xd" in text


def test_storage_that_is_there_and_enough_is_used_before_drives_in_the_servers() -> None:
    """16 A100 at 2,700 images/s read 4.9 GB/s of 113 kB; eight F800 nodes delivered 19.9 GB/s (Dell, 2018)."""
    there = {"storage_nodes": {"isilon-f800": 8}}
    asked = resnet_request("10 TB", {"gpus_busy": 16}, platforms={"servers": ["dgx-a100"]}, existing=there)
    counts = search(asked, catalog(), stored_calibration())
    [row] = Ranking(counts).first(1)
    evaluated = counts.evaluated
    assert evaluated.platforms[int(evaluated.space.platform[row])].storage.id == "isilon-f800"
    assert evaluated.storage_nodes[row] <= 8


def test_servers_that_are_enough_are_all_that_is_used() -> None:
    """4,000 images/s take 5.5 GPUs at 726 images/s: one of the three DGX-1 that are there, and none is bought."""
    there = {"servers": {"dgx-1": 3}, "storage_nodes": {"isilon-f800": 4}}
    design = best_design(request(4_000, existing=there), catalog()).design
    used, idle, added = counts(design.existing)
    assert used == {"dgx-1": 1, "isilon-f800": 4}
    assert idle == {"dgx-1": 2}
    assert not set(added) & set(catalog().storage)
    assert new_servers(design) == 0


def test_all_that_is_owned_is_told_with_the_time_that_it_takes() -> None:
    """90 epochs of ImageNet: one DGX-1 takes a day, and the second one, which is there, costs nothing more."""
    work = {"dnn": "resnet50", "stack": "mxnet-ngc19.07-dali", "dataset": "imagenet", "epochs": 90}
    asked = SizingRequest.from_dict(
        {
            "workload": [{**work, "target": {"time_to_train_s": "30 h"}}],
            "existing": {"servers": {"dgx-1": 2}},
            "platforms": {"servers": ["dgx-1"]},
        }
    )
    result = size(asked, catalog())
    assert (result.design.n_servers, new_servers(result.design)) == (1, 0)
    both = project(asked, catalog(), server="dgx-1", servers=2, storage=result.design.platform.storage.id)
    assert both.workloads[0].time is not None
    assert duration(float(both.workloads[0].time.total_s.value)) in verdict_text(result)


def test_a_gpu_that_the_request_names_is_not_introduced() -> None:
    asked = resnet_request("100 GB", {"samples_per_s": 100}, platforms={"servers": ["xe7745"]}, date="2026-11-27")
    assert equipment_texts(size(asked, catalog())) == []


SERVERS = ["dgx-1", "dgx-2", "c4140"]
EXISTING = st.fixed_dictionaries(
    {},
    optional={
        "servers": st.dictionaries(st.sampled_from(SERVERS), st.integers(1, 6), min_size=1, max_size=2),
        "storage_nodes": st.dictionaries(st.just("isilon-f800"), st.sampled_from([4, 8]), min_size=1),
    },
)


@pytest.mark.laws
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(rate=st.sampled_from([3e3, 1e4, 3e4]), there=EXISTING, more=st.sampled_from(SERVERS), count=st.integers(1, 4))
def test_more_existing_servers_never_raise_the_cost(
    rate: float, there: dict[str, dict[str, int]], more: str, count: int
) -> None:
    """Every design buys at most what it bought before, and so does the one that costs least; servers that are enough
    are used all the same, with the storage that they need.

    Its cost is compared by the amount that ranks designs, in which cables count by their bands and nominal lengths: a
    thousandth is left for the lengths of the plan.
    """
    servers = {**there.get("servers", {})}
    limits = {"servers": 40}
    try:
        before = best_design(request(rate, existing=there, limits=limits), catalog()).design
    except InfeasibleError:
        pytest.fail("a rate that forty servers reach has a design")
    servers[more] = servers.get(more, 0) + count
    after = best_design(request(rate, existing={**there, "servers": servers}, limits=limits), catalog()).design
    assert not new_servers(after) or after.cost.at_confidence <= 1.001 * before.cost.at_confidence


def test_idle_servers_say_what_they_do_alone() -> None:
    """A llama-3-70b in ten days takes more than 32 A100: Meta's RSC trained Llama 2 70B at 323 tokens/s an A100."""
    work = {"dnn": "llama-3-70b", "method": "continued", "tokens": 20e9, "target": {"time_to_train_s": "10 d"}}
    asked = {"date": "2026-11-28", "workload": [work], "existing": {"servers": {"dgx-a100": 4}}}
    (idle,) = size(SizingRequest.from_dict(asked), catalog()).idle_servers
    assert (idle.equipment.item, idle.equipment.count) == ("dgx-a100", 4)
    assert idle.samples_per_s is not None
    assert 32 * 323 <= idle.samples_per_s <= 32 * 450


def test_servers_that_are_named_and_too_few_are_extended_by_what_can_be_ordered() -> None:
    """Nobody sells the DGX H100 any more: two take part beside servers of another make, and the nearest is no third."""
    work = {"dnn": "llama-3-8b", "tokens": "1 trillion tokens", "target": {"time_to_train_s": "30 d"}}
    parts = {"servers": ["dgx-h100"], "storage": ["ai400x2"], "fabrics": ["ndr"]}
    day = datetime.date(2026, 11, 28)
    asked = {"date": day, "workload": [work], "platforms": parts, "existing": {"servers": {"dgx-h100": 2}}}
    request = SizingRequest.from_dict(asked)
    counts = search(request, catalog(), stored_calibration())
    assert counts.evaluated.space.n_servers[nearest_design(counts)[0]] <= 2
    result = size(request, catalog())
    assert is_sold(catalog(), result.design.platform.server, day)
    assert result.design.existing is not None
    assert [(one.item, one.count) for one in result.design.existing.used if one.item == "dgx-h100"] == [("dgx-h100", 2)]
    assert result.design.servers_bought == result.design.n_servers - 2
    assert result.design.platform.gpu.id == "h100-sxm-80gb"


def test_no_other_make_stands_for_servers_that_are_enough() -> None:
    """Two DGX H100 hold the 810 GB of Llama 3.1 405B and train its adapters in 14 h of three days."""
    work = {"dnn": "llama-3.1-405b", "method": "lora", "tokens": 1e8, "target": {"time_to_train_s": "3 d"}}
    asked = {"date": datetime.date(2026, 11, 29), "workload": [work], "existing": {"servers": {"dgx-h100": 2}}}
    counts = search(SizingRequest.from_dict(asked), catalog(), stored_calibration())
    other_makes = [place for place, one in enumerate(counts.evaluated.platforms) if "dgx-h100" in one.extends]
    could = counts.candidates[other_makes]
    assert not could[:, counts.evaluated.space.sizes <= 2].any()
    assert could[:, counts.evaluated.space.sizes == 3].any()
