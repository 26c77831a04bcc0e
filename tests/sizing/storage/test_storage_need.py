"""What decides the size of the storage: hand arithmetic on published capacities and rates."""

import pytest

from sizer.catalog.loader import shipped_catalog
from sizer.sizing.best_design import best_design
from sizer.sizing.project import project
from sizer.sizing.reasons import CapacityTier, LargerDrives, StorageDecision, StorageNeed
from sizer.workload.request import SizingRequest


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
