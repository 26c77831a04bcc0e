"""What decides the size of the storage, capacity or rate, and what would be enough without the one that decides."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.physical import capacity
from sizer.physical.platform import Platform
from sizer.sizing.constraints.stored_data import StorageDemand, storage_demand
from sizer.sizing.constraints.tiers import needed_of, network_of_tier
from sizer.sizing.reasons import CapacityTier, LargerDrives, MinimumCapacity, RateNeed, StorageDecision, StorageNeed
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.storage_rates import capacity_is_unknown, rate_is_unknown
from sizer.sizing.stages.workload_run import WorkloadRun
from sizer.workload.data import DataRequest
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

# Capacity forces a system "far above need" where the rate would do with this share of its nodes.
FAR_ABOVE = 0.5


def storage_need(
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    platform: Platform,
    runs: Sequence[WorkloadRun],
    catalog: Catalog,
) -> StorageNeed | None:
    """Nodes that the data call for and nodes that the reads call for; None of storage that is not bought by the node.

    Parameters
    ----------
    request : SizingRequest
    works : sequence of ResolvedWorkload
    platform : Platform
    runs : sequence of WorkloadRun
        Of the design's size alone, in the order of ``works``.
    catalog : Catalog
        Storage that could hold the data behind a smaller system.
    """
    storage, option, storage_nodes = platform.storage, platform.capacity_option, int(runs[0].nodes[0])
    if not capacity.counts_nodes(storage) or capacity_is_unknown(storage, option) or rate_is_unknown(storage):
        return None
    demand = storage_demand(works, request.data)
    data = needed_of(platform, demand, request.data)
    for_capacity = int(capacity.smallest_nodes(storage, option, data).nodes)
    for_rate = _whole(storage, max(float(run.storage_nodes_needed[0]) for run in runs))
    loads = [float(run.need.samples_per_s[0] / run.warm.storage.median[0]) for run in runs]
    is_capacity = for_rate is not None and for_rate < for_capacity and storage_nodes == for_capacity
    is_rate = for_rate is not None and for_capacity < for_rate and storage_nodes == for_rate
    decision = StorageDecision.CAPACITY if is_capacity else StorageDecision.RATE if is_rate else StorageDecision.SEVERAL
    is_far_above = is_capacity and for_rate is not None and for_rate <= FAR_ABOVE * for_capacity
    return StorageNeed(
        decision=decision,
        nodes=storage_nodes,
        smallest_nodes=capacity.node_limits(storage)[0],
        nodes_for_capacity=for_capacity,
        nodes_for_rate=for_rate,
        rate_need=_rate_need(runs),
        load_fraction=max(loads),
        fill_fraction=min(demand.stored_bytes, data) / float(capacity.usable_bytes(storage, option, storage_nodes)),
        larger_drives=_larger_drives(storage, data, storage_nodes) if is_capacity else None,
        capacity_tier=_tier(platform, for_rate, data, catalog)
        if is_far_above and for_rate is not None and platform.second_tier is None
        else None,
        minimum=_minimum(platform, demand, request.data),
        has_working_set=request.data.working_set_bytes is not None,
    )


def _minimum(platform: Platform, demand: StorageDemand, data: DataRequest) -> MinimumCapacity | None:
    if not demand.is_minimum:
        return None
    without = needed_of(platform, replace(demand, minimum_bytes=0.0), data)
    stored = int(capacity.smallest_nodes(platform.storage, platform.capacity_option, without).nodes)
    return MinimumCapacity(demand.minimum_bytes, demand.stored_bytes, stored)


def _rate_need(runs: Sequence[WorkloadRun]) -> RateNeed:
    """What takes the most nodes of all workloads."""
    each = [evaluate.rate_need(run.work, run.comp, run.cols, run.need) for run in runs]
    return max(((nodes, need) for one in each for need, nodes in one.items()), key=lambda pair: pair[0])[1]


def _whole(storage: Storage, nodes: float) -> int | None:
    """Nodes in whole units, at least the smallest system; None where no number is enough."""
    if not np.isfinite(nodes):
        return None
    low, _ = capacity.node_limits(storage)
    unit = capacity.nodes_per_unit(storage)
    return int(-(-max(nodes, low) // unit)) * unit


def _larger_drives(storage: Storage, data: float, nodes: int) -> LargerDrives | None:
    """Drives of the same system with which the fewest nodes hold the data; None where the design has them."""
    choices = [(capacity.smallest_nodes(storage, index, data), index) for index in range(len(storage.capacity_options))]
    fewer = [(int(found.nodes), index) for found, index in choices if found.fits and int(found.nodes) < nodes]
    if not fewer:
        return None
    count, index = min(fewer)
    return LargerDrives(storage.capacity_options[index].name, count)


def _tier(platform: Platform, for_rate: int, data: float, catalog: Catalog) -> CapacityTier | None:
    """Nodes of disks that hold everything behind a system that is large enough for the reads.

    Of the same vendor where there is one; of these the one with the fewest units.
    """
    if platform.storage.tier == "capacity":
        return None
    found = []
    for storage in catalog.storage.values():
        if storage.tier != "capacity" or not storage.orderable or network_of_tier(catalog, platform, storage) is None:
            continue
        for index in range(len(storage.capacity_options)):
            nodes = capacity.smallest_nodes(storage, index, data)
            if nodes.fits:
                units = int(nodes.nodes) // capacity.nodes_per_unit(storage)
                is_other = storage.vendor != platform.storage.vendor
                found.append((is_other, units, index, int(nodes.nodes), storage.id))
    if not found:
        return None
    _, _, index, count, item = min(found)
    storage = catalog.storage[item]
    held = float(capacity.usable_bytes(platform.storage, platform.capacity_option, for_rate))
    return CapacityTier(item, storage.name, storage.capacity_options[index].name, count, for_rate, held)
