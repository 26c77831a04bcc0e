"""What storage is bought in: whole chassis or servers, enough of them for the data and for the rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.physical import capacity
from sizer.physical.platform import Platform
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import needed_of
from sizer.sizing.stages.storage_rates import capacity_is_unknown, rate_is_unknown, write_rate_is_unknown
from sizer.workload.data import DataRequest
from sizer.workload.resolve import ResolvedWorkload


@lru_cache(maxsize=128)
def _kinds(platforms: Sequence[Platform]) -> tuple[list[Platform], Ints]:
    """A platform of each kind of storage, and which of these each platform has."""
    first: dict[tuple[str, int, str], Platform] = {}
    keys = [(one.storage.id, one.capacity_option, one.tier_key) for one in platforms]
    for key, platform in zip(keys, platforms, strict=True):
        first.setdefault(key, platform)
    places = {key: place for place, key in enumerate(first)}
    return list(first.values()), np.array([places[key] for key in keys], dtype=np.int64)


@lru_cache(maxsize=128)
def _fixed(platforms: Sequence[Platform]) -> list[tuple[bool, int, int, int, bool, bool, bool]]:
    """Of each kind of storage what no data set changes: :class:`StorageUnits` without what the data call for."""
    found = []
    for platform in _kinds(platforms)[0]:
        storage, option, tier = platform.storage, platform.capacity_option, platform.capacity_storage
        rate_is_known = not (rate_is_unknown(storage) or (tier is not None and rate_is_unknown(tier)))
        is_known = (rate_is_known, not write_rate_is_unknown(storage), not capacity_is_unknown(storage, option))
        low, high = capacity.node_limits(storage)
        found.append((capacity.counts_nodes(storage), capacity.nodes_per_unit(storage), low, high, *is_known))
    return found


@lru_cache(maxsize=128)
def fewest_nodes(platforms: Sequence[Platform]) -> Ints:
    """(platforms,) nodes of the smallest storage system of each."""
    return np.array([capacity.node_limits(platform.storage)[0] for platform in platforms])


@dataclass(frozen=True)
class StorageUnits:
    """Units of the storage of some platforms. Arrays over the platforms."""

    is_per_node: Bools  # bought by the node
    per_unit: Ints  # nodes
    least: Ints  # nodes that the system and the data call for, in whole units
    most: Ints
    holds_data: Bools  # whether the largest system holds everything that must fit
    rate_is_known: Bools
    write_is_known: Bools
    capacity_is_known: Bools
    alike: Ints  # a number of all of these, equal where they are

    @classmethod
    def of(
        cls, works: Sequence[ResolvedWorkload], platforms: Sequence[Platform], data_request: DataRequest
    ) -> "StorageUnits":
        """Units for the data sets of some workloads together, with their checkpoints and snapshots."""
        demand = storage_demand(works, data_request)
        platforms = tuple(platforms)
        first, kind_of = _kinds(platforms)
        fixed = _fixed(platforms)
        least, holds = [], []
        for platform, (_, unit, low, *_) in zip(first, fixed, strict=True):
            data = needed_of(platform, demand, data_request)
            for_data = capacity.smallest_nodes(platform.storage, platform.capacity_option, data)
            least.append(-(-max(low, int(for_data.nodes)) // unit) * unit)
            holds.append(bool(for_data.fits))
        # The smallest system matters only as far as the data do not call for more.
        rows = [(one[:2], one[3:], *asked) for one, *asked in zip(fixed, least, holds, strict=True)]
        numbers: dict[tuple[object, ...], int] = {}
        alike = [numbers.setdefault(row, len(numbers)) for row in rows]
        is_per_node, per_unit, _, most, *are_known = zip(*fixed, strict=True)
        columns = (is_per_node, per_unit, least, most, holds, *are_known, alike)
        return cls(*(np.array(column)[kind_of] for column in columns))

    def take(self, rows: Ints | slice) -> "StorageUnits":
        """Units of some platforms."""
        return StorageUnits(**{name: column[rows] for name, column in vars(self).items()})

    def whole(self, wanted: Floats, servers: Ints, is_local: Floats) -> tuple[Ints, Bools]:
        """Storage nodes in whole units, and whether they give the rate.

        Parameters
        ----------
        wanted : ndarray, shape (platforms, sizes)
            Nodes that the rate calls for; inf where none do. [-]
        servers : ndarray of int
            Servers of each size; broadcasts with ``wanted``. [-]
        is_local : ndarray
            1 where the drives are in the servers; broadcasts with ``wanted``.
        """
        counted, unit, most = self.is_per_node[:, None], self.per_unit[:, None], self.most[:, None]
        whole = np.ceil(np.maximum(wanted, self.least[:, None]) / unit) * unit
        # Local drives: one "node" a server. An NFS server: one.
        there = np.where(is_local > 0, servers, 1)
        nodes = np.where(counted, np.minimum(whole, most), 0).astype(np.int64)
        return nodes, np.where(counted, whole <= most, wanted <= there)
