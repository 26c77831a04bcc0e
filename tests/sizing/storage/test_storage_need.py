"""Why a design has its storage, how it fills, and its ports."""

from datetime import date

import pytest

from sizer import SizingRequest, project
from sizer.catalog.loader import shipped_catalog
from sizer.physical.platforms import platforms
from sizer.physical.roles import Role
from sizer.sizing.best_design import best_design
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import needed_of
from sizer.sizing.reasons import CapacityTier, LargerDrives, StorageDecision, StorageNeed
from sizer.sizing.stages.platform_columns import storage_nic_bytes_per_s
from tests.factories import examples


def _request(n_samples: float, samples_per_s: float, sample_bytes: str = "1.5 MB", **tables: object) -> SizingRequest:
    dataset = {"name": "recordings", "n_samples": n_samples, "sample_bytes": sample_bytes}
    work = {"dnn": "resnet50", "dataset": dataset, "target": {"samples_per_s": samples_per_s}}
    return SizingRequest.from_dict({"workload": [work], **tables})


def _need(request: SizingRequest) -> StorageNeed:
    need = best_design(request, shipped_catalog()).design.storage_need
    assert need is not None
    return need


def test_capacity_decides_and_the_tier_is_named() -> None:
    """5.1 PB at 12,000 samples/s of 1.5 MB on the F800, drives of 15.36 TB.

    Capacity: a chassis holds 60 x 15.36 TB = 921.6 TB raw, from 9 nodes on 16 of 18 units are data: 819.2 TB usable.
    5.1 PB fill at most 90 %: 5.67 PB / 819.2 TB = 6.9, so seven chassis, 28 nodes. Rate: 18 GB/s / 2.487 GB/s = 7.2
    nodes at the demonstrated rate, 18 / 3.75 = 4.8 at the vendor's: one or two chassis. Tier: a chassis H5600 holds
    80 x 12 TB = 960 TB raw, 853.3 TB usable: 5.67 PB take seven chassis, 28 nodes.
    """
    need = _need(_request(3.4e9, 12_000, platforms={"servers": ["dgx-2"], "storage": ["isilon-f800"]}))
    assert (need.decision, need.nodes, need.nodes_for_capacity) == (StorageDecision.CAPACITY, 28, 28)
    assert need.nodes_for_rate == 8
    assert need.larger_drives is None
    assert isinstance(need.capacity_tier, CapacityTier)
    assert (need.capacity_tier.item, need.capacity_tier.nodes) == ("isilon-h5600", 28)
    assert need.capacity_tier.performance_nodes == 8
    # Two chassis: 14 of 16 units are data, 2 x 921.6 TB x 7/8.
    assert need.capacity_tier.performance_bytes == pytest.approx(2 * 921.6e12 * 7 / 8)
    # The median between the two ends: 28 x sqrt(2.487 x 3.75) GB/s = 85.5 GB/s.
    assert need.load_fraction == pytest.approx(18e9 / (28 * (2.487e9 * 3.75e9) ** 0.5), rel=0.1)


def test_rate_decides_where_the_data_are_few() -> None:
    """10 TB read at 60 GB/s and not cached: one chassis holds them, 60 / 3.75 = 16 nodes at least read them."""
    work = {"dnn": "alexnet", "cache": "none", "target": {"samples_per_s": 60e3}}
    dataset = {"name": "few", "n_samples": 1e7, "sample_bytes": "1 MB", "format": "decoded tensors"}
    request = SizingRequest.from_dict(
        {"workload": [work | {"dataset": dataset}], "platforms": {"servers": ["dgx-2"], "storage": ["isilon-f800"]}}
    )
    need = _need(request)
    assert (need.decision, need.nodes_for_capacity, need.capacity_tier) == (StorageDecision.RATE, 4, None)
    assert need.nodes_for_rate == need.nodes
    assert need.nodes >= 16


def test_larger_drives_are_named_where_a_given_cluster_has_small_ones() -> None:
    """A given cluster has the smallest drives: 1.6 TB, 96 TB a chassis raw and 85.3 TB usable from 9 nodes on.

    1 PB fills at most 90 % of 1.11 PB: 14 such chassis, 56 nodes; with 15.36 TB drives two chassis:
    2 x 921.6 TB x 7/8 = 1.61 PB.
    """
    request = _request(1e9, 1_000, "1 MB")
    design = project(
        request, shipped_catalog(), server="dgx-1", servers=2, storage="isilon-f800", storage_nodes=56, fabric="100gbe"
    )
    assert design.storage_need.larger_drives == LargerDrives("60 x 15.36 TB SSD", 8)


def _design(n_samples, data=None, storage="isilon-h500"):
    work = {"dnn": "resnet50", "target": {"samples_per_s": 500}}
    dataset = {"name": "scans", "n_samples": n_samples, "sample_bytes": "1 MB", "format": "records"}
    request = SizingRequest.from_dict(
        {
            "workload": [work | {"dataset": dataset}],
            "platforms": {"servers": ["dgx-1"], "storage": [storage]},
            "data": data or {},
        }
    )
    return request, best_design(request, shipped_catalog()).design


def test_a_tenth_of_shared_storage_stays_free():
    """819 TB fill 819 / 0.9 = 910 TB or more; the catalogue's chassis alone decide how much more."""
    request, design = _design(819e6)
    demand = storage_demand(design.workloads, request.data)
    assert needed_of(design.platform, demand, request.data) == pytest.approx(910e12)
    assert 0.9 * design.usable_bytes >= 819e12


def test_a_reserve_of_the_request_counts_as_free_space():
    """500 TB with half as much again to come: 750 TB, of which 500 TB fill 67 %."""
    request, design = _design(5e8, {"reserve_share": 0.5})
    demand = storage_demand(design.workloads, request.data)
    assert needed_of(design.platform, demand, request.data) == pytest.approx(750e12)


def test_a_minimum_of_the_request_is_usable_capacity():
    """1 PB asked, 500 TB stored: 1 PB, not 1.11 PB."""
    request, design = _design(5e8, {"minimum_capacity_bytes": "1 PB"})
    demand = storage_demand(design.workloads, request.data)
    assert needed_of(design.platform, demand, request.data) == pytest.approx(1e15)


def test_drives_of_the_servers_keep_a_tenth_free_too():
    """5 TB on the drives of a DGX-1: 5.56 TB."""
    request, design = _design(5e6, storage="dgx1-ssd")
    demand = storage_demand(design.workloads, request.data)
    assert needed_of(design.platform, demand, request.data) == pytest.approx(5e12 / 0.9)


def test_a_small_set_on_two_servers_takes_a_small_pair_and_no_enterprise_filer():
    """400 MB of tokens and adapters at 40,000 tokens/s: two controllers with 23 TB are enough by far."""
    work = {
        "name": "adapters",
        "dnn": "llama-3-8b",
        "method": "lora",
        "tokens": 1e8,
        "target": {"tokens_per_s": 40_000},
    }
    parts = {"servers": ["xe7745"], "gpus": ["l40s-48gb"], "fabrics": ["25gbe"]}
    request = SizingRequest.from_dict({"workload": [work], "platforms": parts})
    design = best_design(request, shipped_catalog()).design
    assert design.n_servers == 2
    assert design.platform.storage.id == "small-nas"
    assert design.conditional_on == ()


@pytest.mark.parametrize(
    ("storage", "least_bytes"),
    # 12 disks of 24 TB less two of parity and a tenth: 202 TB; 24 drives of 7.68 TB at the same share of 0.6: 110 TB.
    [("disk-nas", 150e12), ("small-nas", 100e12)],
)
def test_the_largest_system_of_larger_drives_is_looked_at_where_that_of_smaller_ones_is_too_small(storage, least_bytes):
    work = {"dnn": "resnet50", "task": "validation-inference", "target": {"samples_per_s": 100}}
    data = {"minimum_capacity_bytes": least_bytes}
    parts = {"storage": [storage], "servers": ["xe7745"]}
    asked = {"workload": [work], "data": data, "platforms": parts, "date": date(2026, 11, 30)}
    design = best_design(SizingRequest.from_dict(asked), shipped_catalog()).design
    assert least_bytes <= design.usable_bytes


@pytest.mark.parametrize("day", [date(2026, 11, 30), None])
@pytest.mark.parametrize(("named", "is_there"), [((), False), (("netapp-a900",), True)])
def test_storage_that_is_no_longer_sold_is_planned_where_it_is_named_alone(named, is_there, day):
    """Sale of the AFF A900 is taken to end in May 2025; a request without a day is of a day after all dates."""
    work = {"dnn": "resnet50", "target": {"samples_per_s": 1000}}
    asked = {"workload": [work], "platforms": {"storage": named}, "date": day}
    found = {one.storage.id for one in platforms(shipped_catalog(), SizingRequest.from_dict(asked))}
    assert ("netapp-a900" in found) is is_there


@pytest.mark.parametrize(
    ("name", "n_ports", "port_bytes_per_s"),
    [
        # 8 NVL72 of 18 trays with two ports of 400 Gbit/s, on QM9700; the storage has ports of 200 Gbit/s.
        ("llama-405b-gb200-nvl72", 288, 50e9),
        # 105 DGX H100 with two.
        ("llama-70b-dgx-h100", 210, 50e9),
        # 4 servers with two ports of 400 Gbit/s, on SN4600, whose ports run 200 Gbit/s at most.
        ("llama-8b-continued-mi300x", 8, 25e9),
    ],
)
def test_the_line_rate_is_that_of_the_cables(name: str, n_ports: int, port_bytes_per_s: float) -> None:
    design = examples.sized(name).design
    cables = [one for one in design.plan.cables if one.run.role is Role.SERVER_STORAGE_CABLE]
    assert sum(one.run.a_device.size for one in cables) == n_ports
    assert {one.run.kind.bytes_per_s for one in cables} == {port_bytes_per_s}
    ports_bytes_per_s = design.n_servers * storage_nic_bytes_per_s(design.platform)
    assert ports_bytes_per_s == pytest.approx(n_ports * port_bytes_per_s)
