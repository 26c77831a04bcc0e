"""Two tiers of storage: a fast one for the data that trainings read now, a capacity tier for everything."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.units import WEEK_S
from sizer.bom.unit_prices import has_boot_drives_only
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.sale import era_of
from sizer.catalog.schema import Storage
from sizer.physical import capacity
from sizer.physical.allowed_parts import fits_era
from sizer.physical.platform import Platform, SecondTier
from sizer.physical.platforms import MIN_LEAF_PORTS, as_stated, leaf_ports
from sizer.physical.roles import NetworkRole
from sizer.sizing.constraints.stored_data import StorageDemand, planned_bytes, storage_demand
from sizer.sizing.stages.platform_columns import capacity_is_unknown, node_read_rate
from sizer.workload.data import OBJECT_STORAGE, DataRequest
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

# Time in which another working set is brought to the fast tier, where the request states none: once a week. A choice
# of ours.
USUAL_STAGING_S = WEEK_S
# Drives of servers come in this size, of which whole ones are bought. Assumed.
_DRIVE_BYTES = 3.84e12


def staging_bytes_per_s(data: DataRequest) -> float:
    """Rate at which a working set is staged in its time; 0 without one. [B/s]"""
    return (data.working_set_bytes or 0.0) / (data.staging_s or USUAL_STAGING_S)


def fast_tier_bytes(demand: StorageDemand, data: DataRequest) -> float:
    """Usable capacity of the fast tier of two: the working set and checkpoints, at least the minimum asked. [B]"""
    working = demand.total_bytes if data.working_set_bytes is None else data.working_set_bytes
    held = min(working, demand.data_bytes) + demand.checkpoints_bytes
    return min(max(held, demand.minimum_bytes), demand.total_bytes)


def capacity_tier_bytes(demand: StorageDemand) -> float:
    """Usable capacity of the capacity tier: all data with snapshots and reserve; the fast tier holds copies. [B]"""
    held = demand.stored_bytes - demand.checkpoints_bytes
    return float(planned_bytes(held, held - demand.reserve_bytes))


def needed_of(platform: Platform, demand: StorageDemand, data: DataRequest) -> float:
    """Usable capacity that the fast storage of a platform must have, with the free space that it keeps. [B]"""
    if platform.second_tier is not None:
        return fast_tier_bytes(demand, data)
    return _of_one_tier(demand)


def _of_one_tier(demand: StorageDemand) -> float:
    return float(planned_bytes(demand.total_bytes, demand.stored_bytes - demand.reserve_bytes))


class TierContent(Enum):
    """What lies on a tier of storage."""

    EVERYTHING = "everything"  # of the only tier
    WORKING_SET = "working-set"  # what trainings read now, and checkpoints
    ALL_DATA = "all-data"  # behind the working set: data, snapshots and reserve


@dataclass(frozen=True)
class StorageTier:
    """A tier of the storage of a design: what it must hold, and its usable capacity.

    The only statement of a capacity: whoever compares what a storage holds with what it must hold takes a tier.
    """

    content: TierContent
    storage: Storage | None  # None: object storage of the customer
    capacity_option: int
    nodes: int
    required_bytes: float  # what is stored, or the minimum of the request
    planned_bytes: float  # with the free space that it keeps
    usable_bytes: float  # NaN: not published, or of the customer's object storage

    @property
    def is_published(self) -> bool:
        """Whether the usable capacity is known."""
        return not np.isnan(self.usable_bytes)

    @property
    def free_bytes(self) -> float:
        """Usable capacity beyond the required one; NaN where it is not published. [B]"""
        return self.usable_bytes - self.required_bytes


def storage_tiers(
    platform: Platform, storage_nodes: int, demand: StorageDemand, data: DataRequest
) -> tuple[StorageTier, ...]:
    """The tiers of a design, the one that trainings read from first; the last one holds all data."""
    storage, option, second = platform.storage, platform.capacity_option, platform.second_tier
    planned, for_data = needed_of(platform, demand, data), usable_for_data_bytes(platform, storage_nodes)
    if second is None:
        content = TierContent.EVERYTHING
        return (StorageTier(content, storage, option, storage_nodes, demand.total_bytes, planned, for_data),)
    usable = _usable_bytes(platform, storage_nodes)
    return (
        StorageTier(TierContent.WORKING_SET, storage, option, storage_nodes, planned, planned, usable),
        StorageTier(
            TierContent.ALL_DATA,
            second.storage,
            second.capacity_option,
            second.nodes,
            demand.stored_bytes - demand.checkpoints_bytes,
            capacity_tier_bytes(demand),
            for_data,
        ),
    )


def usable_for_data_bytes(platform: Platform, storage_nodes: int) -> float:
    """Usable capacity of the tier that holds all data; NaN: not published, or the customer's object storage. [B]"""
    second = platform.second_tier
    if second is None:
        return _usable_bytes(platform, storage_nodes)
    if second.storage is None:
        return np.nan
    return float(capacity.usable_bytes(second.storage, second.capacity_option, second.nodes))


def _usable_bytes(platform: Platform, storage_nodes: int) -> float:
    """Usable capacity of the storage that trainings read, of servers the drives that are ordered for the data. [B]"""
    usable = float(capacity.usable_bytes(platform.storage, platform.capacity_option, storage_nodes))
    return float(np.minimum(usable, platform.stored_bytes)) if platform.stored_bytes else usable


def with_tiers(
    platforms: tuple[Platform, ...], works: Sequence[ResolvedWorkload], request: SizingRequest, catalog: Catalog
) -> tuple[Platform, ...]:
    """Platforms of a request with one tier and, where a working set is stated, with two.

    ``platforms``: of one tier. ``works``: their data decide the size of the capacity tier. ``request``:
    ``data.working_set_bytes`` asks for two tiers, ``data.capacity_tier`` names the second one. Raises RequestError if
    the request names a capacity tier that the catalogue does not have, or that is none. Raises InfeasibleError if the
    named tier cannot stand behind any storage of these platforms.
    """
    data, demand = request.data, storage_demand(works, request.data)
    drives = math.ceil(_of_one_tier(demand) / _DRIVE_BYTES)
    platforms = _with_drives(platforms, drives * _DRIVE_BYTES, catalog)
    if data.working_set_bytes is None:
        return platforms
    if data.working_set_bytes >= demand.data_bytes:
        return platforms  # everything is read: a second tier would hold nothing else
    tiers = [
        tier
        for storage in _candidates(request, catalog)
        if (tier := _sized(storage, capacity_tier_bytes(demand), staging_bytes_per_s(data))) is not None
    ]
    if data.capacity_tier == OBJECT_STORAGE:
        tiers.append(SecondTier(None, 0, 0, staging_bytes_per_s(data)))
    found = list(platforms) if data.capacity_tier is None else []
    for platform in platforms:
        for tier in tiers:
            network = network_of_tier(catalog, platform, tier.storage)
            if network is not None:
                found.append(_of_two_tiers(platform, tier, is_in_band=network is NetworkRole.IN_BAND))
    if not found:
        raise InfeasibleError(
            f"data.capacity_tier = {data.capacity_tier!r} joins no fast storage that the request allows, or is too "
            "small for the data; allow other storage, or leave the key out"
        )
    return tuple(found)


def with_tier_of(own: Platform, platforms: Sequence[Platform], catalog: Catalog) -> list[Platform]:
    """Platforms with the second tier of a design, for a comparison of equals; those that it cannot join drop out."""
    tier = own.second_tier
    if tier is None:
        return list(platforms)
    joined = ((platform, network_of_tier(catalog, platform, tier.storage)) for platform in platforms)
    return [
        _of_two_tiers(one, tier, is_in_band=network is NetworkRole.IN_BAND)
        for one, network in joined
        if network is not None
    ]


@lru_cache(maxsize=256)  # requests of a batch have few sizes in whole drives
def _with_drives(platforms: tuple[Platform, ...], held_bytes: float, catalog: Catalog) -> tuple[Platform, ...]:
    """Platforms with drives for so much in servers that hold the data and are priced without."""

    def holding(platform: Platform) -> Platform:
        band = catalog.bands.band("servers", platform.server.id, platform.gpu.id)
        if platform.storage.kind != "local" or not has_boot_drives_only(band):
            return platform
        few = None if platform.few is None else replace(platform.few, stored_bytes=held_bytes)
        return replace(platform, stored_bytes=held_bytes, few=few, without_drives=platform)

    return tuple(holding(platform) for platform in platforms)


@lru_cache(maxsize=4096)  # requests of a batch, and variants of one, ask for the same tiers again and again
def _of_two_tiers(platform: Platform, tier: SecondTier, *, is_in_band: bool) -> Platform:
    """A platform with a second tier; the same object for the same question, whose parts are counted already."""
    second = replace(tier, is_in_band=is_in_band)
    # What is on the in-band network keeps it on few servers, too.
    few = None if platform.few is None or is_in_band else replace(platform.few, second_tier=second)
    return replace(platform, second_tier=second, few=few)


def _candidates(request: SizingRequest, catalog: Catalog) -> list[Storage]:
    """Storage that may be a capacity tier: what the request names, else disks that it does not forbid."""
    name = request.data.capacity_tier
    if name == OBJECT_STORAGE:
        if request.data.source_bytes_per_s is None:
            raise RequestError(
                f"data.capacity_tier = {name!r} needs data.source_bytes_per_s, the rate of the object storage, for "
                "example '40 Gbit/s'"
            )
        return []
    if name is not None:
        storage = catalog.storage.get(name)
        if storage is None or not capacity.counts_nodes(storage):
            known = [item.id for item in catalog.storage.values() if item.tier == "capacity" and item.orderable]
            raise RequestError(
                f"data.capacity_tier = {name!r} is not shared storage in the catalogue; known: "
                f"{', '.join([*known, OBJECT_STORAGE])}"
            )
        return [as_stated(catalog, storage, request)]
    return [
        as_stated(catalog, item, request)
        for item in catalog.storage.values()
        if item.tier == "capacity"
        and item.orderable
        and capacity.counts_nodes(item)
        and item.id not in request.platforms.forbidden_storage
    ]


def _sized(storage: Storage, data_bytes: float, staging: float) -> SecondTier | None:
    """The fewest raw bytes of a system that hold the data and read fast enough; None where no size does."""
    rate = node_read_rate(storage)
    unit, (_, most) = capacity.nodes_per_unit(storage), capacity.node_limits(storage)
    choices = []
    for option in range(max(len(storage.capacity_options), 1)):
        if capacity_is_unknown(storage, option):
            continue
        smallest_nodes = capacity.smallest_nodes(storage, option, data_bytes)
        reads = 0 if rate is None else int(np.ceil(staging / rate.low.value / unit - 1e-9)) * unit
        nodes = max(int(smallest_nodes.nodes), reads)
        if smallest_nodes.fits and nodes <= most:
            choices.append((float(capacity.raw_bytes(storage, option, nodes)), nodes, option))
    if not choices:
        return None
    _, nodes, option = min(choices)
    return SecondTier(storage, option, nodes, staging)


def network_of_tier(catalog: Catalog, platform: Platform, tier: Storage | None) -> NetworkRole | None:
    """Network on which a capacity tier stands behind the storage of a platform; None where it cannot.

    That of the fast storage or, where it runs another link, the in-band Ethernet network, by which the servers of
    today's clusters reach such storage (RA-11333-001 V11). Object storage, ``None``, is reached like the fast storage.
    """
    storage = platform.storage
    if not capacity.counts_nodes(storage) or storage.tier == "capacity":
        return None
    if tier is None:
        return NetworkRole.STORAGE
    front = tier.front_end_kind
    if tier.id == storage.id or front is None or not fits_era(tier.era, era_of(catalog, platform.server)):
        return None
    if _shares_front_end(platform, front.value):
        return NetworkRole.STORAGE
    switch = platform.in_band_switch
    has_ports = switch is not None and leaf_ports(switch, front.value) >= MIN_LEAF_PORTS
    return NetworkRole.IN_BAND if has_ports else None


def _shares_front_end(platform: Platform, kind: LinkType) -> bool:
    """Whether the network of the fast storage has ports for a link."""
    if platform.attachment == "gateway":
        return platform.gateway is not None and platform.gateway.front_end_kind.value == kind
    if platform.attachment == "own network":
        switch = platform.storage_switch
    else:
        is_ethernet = not (platform.fabric.is_infiniband or kind.is_infiniband)
        switch = platform.fabric_switch if platform.attachment == "fabric" and is_ethernet else None
    return switch is not None and leaf_ports(switch, kind) >= MIN_LEAF_PORTS
