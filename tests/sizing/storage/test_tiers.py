"""Two tiers of storage: sizes by hand, cost compared with one tier, and requests that make no sense."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.base.errors import InfeasibleError, RequestError
from sizer.calibrate.calibration import stored_calibration
from sizer.physical.capacity import usable_bytes
from sizer.physical.roles import Role
from sizer.present.plain_table import table_text
from sizer.present.storage_streams import tiers_table
from sizer.sizing.best_design import best_design
from sizer.sizing.recommend import search
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests.factories import examples

TB, PB = 1e12, 1e15
EXAMPLE = "examples/driving-two-tiers.toml"


def sized(images=3.4e9, storage=("isilon-f800",), **data):
    dnn = {"name": "detector", "forward_flop": 180e9, "parameters": 40e6, "input_bytes": 6_220_800}
    workload = {
        "name": "detection",
        "dnn": {**dnn, "like": "ssd-resnet34"},
        "dataset": {"name": "drives", "n_samples": images, "sample_bytes": 1.5e6, "format": "records"},
        "batch_per_gpu": 16,
        "target": {"samples_per_s": 2000},
    }
    request = SizingRequest.from_dict(
        {"workload": [workload], "platforms": {"servers": ["dgx-2"], "storage": list(storage)}, "data": data}
    )
    return request, best_design(request, examples.catalog()).design


@pytest.fixture(scope="module")
def driving():
    request = SizingRequest.from_file(EXAMPLE)
    return request, size(request, examples.catalog())


def test_sizes_of_the_example_by_hand(driving):
    """The smallest number of raw bytes that the data fill to 90 % at most.

    5.1 PB / 0.9 = 5.67 PB. H5600: eight chassis of 800 TB x 8/9 are 5.69 PB, 6.4 PB raw; seven of 960 TB are 6.72 PB
    raw. 400 TB in a week: 0.66 GB/s.
    """
    design = driving[1].design
    tier = design.platform.second_tier
    assert tier.storage.id == "isilon-h5600"
    assert tier.nodes == 32
    assert float(usable_bytes(tier.storage, tier.capacity_option, tier.nodes)) == pytest.approx(8 * 800 * TB * 8 / 9)
    assert tier.staging_bytes_per_s == pytest.approx(400 * TB / (7 * 86_400))
    # Alone, F800 would take seven chassis of 921.6 TB x 8/9.
    assert 400 * TB <= design.tiers[0].usable_bytes < 1 * PB
    assert design.storage_nodes < 28
    assert "Isilon H5600" in design.name


def test_both_tiers_stand_in_racks_with_their_cables(driving):
    plan = driving[1].design.plan
    placed = [device for device in plan.devices if device.role is Role.CAPACITY_TIER]
    assert len(placed) == 8
    # One front-end port a node carries what it reads, 1 GB/s of 5.
    front = [
        link for link in plan.connections if link.a.device.startswith("capacity-") and link.role == Role.CAPACITY_CABLE
    ]
    assert len(front) == 32
    assert any(part.item == "isilon-h5600" and part.quantity[0] == 8 for part in plan.components)


def test_no_design_of_two_tiers_costs_less_than_its_main_items(driving):
    """Six chassis of the capacity tier are among them; without them every platform would be counted for an answer."""
    request, result = driving
    platform = result.design.platform
    counts = search(request, examples.catalog(), stored_calibration(), only=platform.key)
    rows = np.flatnonzero(counts.feasible)  # counts every platform
    bound = counts.main_cost.cost.ravel()[rows]
    assert (bound <= counts.ranking_cost[rows] + 0.01).all()
    assert bound.min() > 6 * float(counts.unit_prices.of("isilon-h5600", platform)[1])


@pytest.mark.laws
@settings(max_examples=8, deadline=None)
@given(share=st.floats(0.02, 0.9), images=st.floats(5e8, 5e9))
def test_a_tiered_design_never_costs_more_than_the_single_tier_it_replaces(share, images):
    working = max(share * images * 1.5e6, 50 * TB)
    one, two = sized(images)[1], sized(images, working_set_bytes=working)[1]
    assert two.cost.at_confidence <= one.cost.at_confidence * (1 + 1e-9)
    if two.platform.second_tier is None:
        assert two.storage_nodes == one.storage_nodes


def test_object_storage_holds_what_the_fast_tier_does_not():
    _, design = sized(
        working_set_bytes=300 * TB, capacity_tier="object-storage", source_bytes_per_s=5e9, staging_s=7 * 86_400
    )
    assert design.platform.second_tier.storage is None
    assert "object storage" in table_text(tiers_table(design))
    assert design.tiers[0].usable_bytes >= 300 * TB
    assert not any(device.role is Role.CAPACITY_TIER for device in design.plan.devices)


def test_a_capacity_tier_of_another_link_joins_the_in_band_network():
    """DGX H100 read AI400X2 by InfiniBand; nodes of PowerScale A310 have 25 GbE ports, for the in-band leaves.

    960 TB x 8/9 a chassis of four nodes: 5.1 PB fill at most 90 % of seven chassis, 28 nodes (5.1 / 0.9 / 0.853 = 6.6).
    400 TB in a week are 0.66 GB/s.
    """
    request = SizingRequest.from_dict(
        {
            "workload": [
                {
                    "name": "images",
                    "dnn": "resnet50",
                    "dataset": {"name": "drives", "n_samples": 3.4e9, "sample_bytes": 1.5e6, "format": "records"},
                    "target": {"samples_per_s": 100_000},
                }
            ],
            "platforms": {"servers": ["dgx-h100"], "storage": ["ai400x2"]},
            "data": {"working_set_bytes": 400 * TB, "capacity_tier": "powerscale-a310"},
            "stated_storage": [{"storage": "powerscale-a310", "node_read_bytes_per_s": "100 MB/s"}],
        }
    )
    design = best_design(request, examples.catalog()).design
    tier = design.platform.second_tier
    assert (tier.nodes, tier.is_in_band, tier.staging_bytes_per_s) == (28, True, 400 * TB / (7 * 86_400))
    assert not design.conditional_on
    links = [link for link in design.plan.connections if link.role is Role.CAPACITY_CABLE]
    # 100 MB/s are less than one port: the second stays free, and each leaf of the pair takes every other node.
    assert Counter(link.z.device for link in links) == {"in-band-01": 14, "in-band-02": 14}
    assert "powerscale-a310" in {part.item for part in design.plan.components}


def test_staging_faster_than_any_test_wrote_is_conditional():
    """300 TB in 14 h are 6 GB/s; no source gives a write rate of F800 beyond 1 GB/s."""
    _, design = sized(working_set_bytes=300 * TB, capacity_tier="isilon-h5600", staging_s=50_000)
    assert [fact.kind.value for fact in design.conditional_on] == ["write-rate"]
    assert design.probability is None


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"capacity_tier": "isilon-h5600"}, "capacity_tier and staging_s need working_set_bytes"),
        ({"working_set_bytes": -5}, "working_set_bytes"),
        ({"working_set_bytes": 1e14, "capacity_tier": "tape"}, "is not shared storage in the catalogue; known: "),
        ({"working_set_bytes": 1e14, "capacity_tier": "object-storage"}, "needs data.source_bytes_per_s"),
        ({"daily_window_s": 3600}, "daily_window_s needs daily_ingest_bytes"),
        ({"daily_ingest_bytes": 1e12, "daily_window_s": 90_000}, "daily_window_s"),
        ({"daily_ingest_bytes": -1}, "daily_ingest_bytes"),
        ({"never_together": ["ingest"]}, "names at least two different streams"),
        ({"never_together": ["ingest", "lunch"]}, "never_together"),
        ({"restart_reads": "twice"}, "restart_reads"),
    ],
)
def test_what_makes_no_sense_is_refused(data, says):
    with pytest.raises((RequestError, InfeasibleError)) as refused:
        sized(**data)
    assert says in str(refused.value).replace("\u202f", " ")
