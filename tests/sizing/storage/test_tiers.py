"""Tiers of storage."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer import InfeasibleError, SizingRequest, size
from sizer.base.errors import RequestError
from sizer.calibrate.calibration import stored_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.physical.capacity import usable_bytes
from sizer.physical.platforms import platforms
from sizer.physical.roles import Role
from sizer.present.storage_streams import tiers_table
from sizer.present.tables import table_text
from sizer.sizing.best_design import best_design
from sizer.sizing.reasons import StorageDecision
from sizer.sizing.recommend import search
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


F800 = {"servers": ["dgx-1"], "storage": ["isilon-f800"]}


def _request(stored: str = "20 TB", rate: float = 20_000, **tables: object) -> SizingRequest:
    work = {"dnn": "resnet50", "dataset_bytes": stored, "target": {"samples_per_s": rate}}
    return SizingRequest.from_dict({"workload": [work], **tables})


@pytest.mark.parametrize(
    ("tier", "storage"),
    [
        ("performance", {"isilon-f800", "isilon-f810", "wekaio"}),
        ("capacity", {"isilon-h500", "isilon-h5600", "isilon-h600", "head-node-nfs"}),
        ("local", {"dgx1-ssd"}),
    ],
)
def test_a_tier_allows_the_systems_of_its_media(tier: str, storage: set[str]) -> None:
    """F800 and F810 are all-flash and Matrix runs on whole SSDs; H nodes hold disks, the head node 12 NL-SAS drives.

    No source gives the drives behind an HNAS: it is in no tier.
    """
    found = platforms(shipped_catalog(), _request(platforms={"servers": ["dgx-1"], "storage_tier": tier}))
    assert {one.storage.id for one in found} == storage


def test_a_tier_that_leaves_nothing_names_the_storage_that_is_allowed() -> None:
    """A V225G has no published local drives, and the media of an HNAS are not published."""
    for allowed in ({"servers": ["v225g"], "storage_tier": "local"}, {"storage": ["hnas"], "storage_tier": "capacity"}):
        with pytest.raises(InfeasibleError, match=r"storage_tier = .* hnas \(media not published\)"):
            platforms(shipped_catalog(), _request(platforms=allowed))


def test_a_tier_that_is_too_slow_names_what_would_do() -> None:
    """60,000 values of 1 MB a second are 60 GB/s, uncached: twelve servers read 15 GB/s from their own SSDs."""
    dataset = {"name": "few", "n_samples": 5e6, "sample_bytes": "1 MB", "format": "decoded tensors"}
    work = {"dnn": "alexnet", "cache": "none", "dataset": dataset, "target": {"samples_per_s": 60e3}}
    limits = {"servers": 12}
    allowed = {"servers": ["dgx-1"], "storage_tier": "local"}
    request = SizingRequest.from_dict({"workload": [work], "platforms": allowed, "limits": limits})
    with pytest.raises(InfeasibleError, match=r"Without storage_tier = 'local' a design meets the request: .*DGX-1"):
        best_design(request, shipped_catalog())


def test_a_minimum_decides_the_nodes() -> None:
    """500 TB usable on the F800; the 20 TB that are stored fit one chassis of the smallest drives, 96 x 0.75 = 72 TB.

    Two chassis of 60 x 3.2 TB have 2 x 192 x 7/8 = 336 TB, three 3 x 192 x 8/9 = 512 TB; of 1.6 TB drives six have
    6 x 96 x 8/9 = 512 TB; one of 15.36 TB has 921.6 x 0.75 = 691 TB. Each holds the minimum, none fewer.
    """
    design = best_design(_request(platforms=F800, data={"minimum_capacity_bytes": "500 TB"}), shipped_catalog()).design
    option = design.platform.storage.capacity_options[design.platform.capacity_option].name
    assert {"60 x 1.6 TB SSD": 24, "60 x 3.2 TB SSD": 12, "60 x 15.36 TB SSD": 4}[option] == design.storage_nodes
    need = design.storage_need
    assert need.decision is StorageDecision.CAPACITY
    assert (need.minimum.minimum_bytes, need.minimum.stored_bytes) == (500e12, 20e12)
    assert need.minimum.nodes_for_stored == 4
    usable = design.usable_bytes
    assert need.fill_fraction == pytest.approx(20e12 / usable)


def test_a_minimum_below_what_is_stored_changes_nothing() -> None:
    """20 TB with a reserve of half are 30 TB: a minimum of 25 TB is met anyway."""
    reserve = {"reserve_share": 0.5}
    before = best_design(_request(platforms=F800, data=reserve), shipped_catalog()).design
    after = best_design(
        _request(platforms=F800, data=reserve | {"minimum_capacity_bytes": "25 TB"}), shipped_catalog()
    ).design
    assert (after.name, after.cost, after.storage_need) == (before.name, before.cost, before.storage_need)


def test_a_minimum_beyond_every_system_names_the_largest() -> None:
    """252 nodes of the F800 are 63 chassis of 921.6 TB raw, 8/9 of it usable: 51.6 PB; 90 PB are asked."""
    request = _request(platforms=F800, data={"minimum_capacity_bytes": "90 PB"})
    with pytest.raises(InfeasibleError, match=r"90\.0.PB are requested.*Isilon F800 holds the most, up to 51\.6.PB"):
        best_design(request, shipped_catalog())


@pytest.mark.laws
@settings(max_examples=12, deadline=None)  # two searches each
@given(least=st.floats(1e12, 2e16), more=st.floats(1, 20), storage=st.sampled_from(["isilon-f800", "isilon-h5600"]))
def test_more_minimum_capacity_never_lowers_nodes_or_cost(least: float, more: float, storage: str) -> None:
    """A larger minimum excludes designs and adds none. Nodes of equal drives: larger drives may need fewer of them."""
    allowed = {"servers": ["dgx-1"], "storage": [storage]}
    found = []
    for minimum in (least, least * more):
        request = _request(platforms=allowed, data={"minimum_capacity_bytes": minimum})
        try:
            found.append(best_design(request, shipped_catalog()).design)
        except InfeasibleError:
            assert minimum > 1e16
            return
    small, large = found
    assert large.cost.at_confidence >= small.cost.at_confidence * (1 - 1e-9)
    if large.platform.capacity_option == small.platform.capacity_option:
        assert large.storage_nodes >= small.storage_nodes
    assert large.usable_bytes >= minimum
