"""Rates of storage from the facts of the catalogue: the one place that says what stands for a missing end."""

from typing import NamedTuple

import numpy as np

from sizer.base.provenance import Sourced
from sizer.catalog.generations import V100_ERA, era_of
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.physical.capacity import node_limits, usable_bytes
from sizer.physical.platform import Platform

# Write rate over read rate where no write rate is published: assumed, from 0.26 of WEKApod Nitro (186 of 720 GB/s of
# eight servers) to the half that NVIDIA asks of storage at each of its levels.
WRITE_SHARES = (0.25, 0.5)


# TCP connections of an NFS mount (nconnect, in Linux since 2019): vendors of filers recommend 4 to 16. The published
# limits of a mount are those of one connection. Assumed.
_NFS_CONNECTIONS = 4.0


class ReadRate(NamedTuple):
    """Facts on the sustained read rate of one storage node; the same one twice where a source gives one end only."""

    low: Sourced[float]  # demonstrated, a lower bound
    high: Sourced[float]

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of their sources, each once."""
        return tuple(dict.fromkeys((self.low.source, self.high.source)))


def node_read_rate(storage: Storage) -> ReadRate | None:
    """Read rate of one node, or of a server's own drives; None where no source gives one."""
    low, high = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    if low is None:
        return None if high is None else ReadRate(high, high)
    return ReadRate(low, high if high is not None else low)


def rate_is_unknown(storage: Storage) -> bool:
    """Whether no source gives a read rate: the line rate is an upper bound only, and designs are conditional."""
    return node_read_rate(storage) is None


def write_rate_is_unknown(storage: Storage) -> bool:
    """Whether no source gives a write rate: designs that write much are conditional on it."""
    return storage.node_write_bytes_per_s is None


def capacity_is_unknown(storage: Storage, capacity_option: int) -> bool:
    """Whether no source says what a system of this kind holds, so that no count of nodes is known to be enough."""
    smallest, _ = node_limits(storage)
    return bool(np.isnan(usable_bytes(storage, capacity_option, smallest)))


def node_rates(platform: Platform) -> tuple[float, float, float]:
    """Lower, upper and line rate of one storage node. [B/s]

    A system without a published rate is capped by its line rate; :func:`rate_is_unknown` flags it.
    """
    storage = platform.storage
    if storage.kind == "local":
        line = np.inf
    else:
        kind = storage.front_end_kind.value if storage.front_end_kind is not None else platform.fabric
        line = ports_in_use(platform) * kind.bytes_per_s
    rate = node_read_rate(storage)
    return (line, line, line) if rate is None else (rate.low.value, rate.high.value, line)


def ports_in_use(platform: Platform) -> int:
    """Front-end ports of one storage node that are cabled, each with its own address."""
    if platform.gateway is not None:  # the Dell guide counts one 40 GbE port a node
        return 2 if platform.has_spare_gateway else 1
    ports = platform.storage.front_end_ports_per_node
    return 1 if ports is None else ports.value


def node_write_rates(platform: Platform) -> tuple[float, float]:
    """Lower and upper write rate of one storage node, or of a server's own drives. [B/s]"""
    published = platform.storage.node_write_bytes_per_s
    if published is not None:
        return published.value, published.value
    low, high, _ = node_rates(platform)
    return WRITE_SHARES[0] * low, WRITE_SHARES[1] * high


def mount_rate(storage: Storage, catalog: Catalog) -> ReadRate:
    """Facts on the rate of one mount or client; those of any NFS mount where no source gives this system's.

    A parallel file system has its own client, whose rate the catalogue has to have.
    """
    low, high = storage.mount_low_bytes_per_s, storage.mount_high_bytes_per_s
    if low is None or high is None:
        generic = catalog.storage["nfs-generic"]
        low, high = generic.mount_low_bytes_per_s, generic.mount_high_bytes_per_s
    # The catalogue's own item has both; `sizer catalog check` would say so.
    assert low is not None
    assert high is not None
    return ReadRate(low, high)


def mount_rates(platform: Platform, catalog: Catalog) -> tuple[float, float, float, float]:
    """Fixed mounts of a host, mounts per storage node, and lower and upper rate of one. [-], [-], [B/s], [B/s]"""
    storage = platform.storage
    if storage.kind == "local":
        return 1.0, 0.0, np.inf, np.inf
    low, high = mount_rate(storage, catalog)
    is_today = era_of(catalog, platform.server) != V100_ERA
    connections = _NFS_CONNECTIONS if storage.kind == "nfs-server" and is_today else 1.0
    if storage.mounts_per_server is not None:
        return connections * storage.mounts_per_server.value, 0.0, low.value, high.value
    if storage.kind in ("nfs-server", "parallel-file-system"):  # one address, or one client for all nodes
        return connections, 0.0, low.value, high.value
    # One mount for every front-end address, as the DGX-1 test did with 16 for eight nodes.
    return 0.0, float(ports_in_use(platform)), low.value, high.value


# Of drives without any published rate: a single drive of the slowest kind that the catalogue has. Assumed.
_SLOWEST_WRITER_BYTES_PER_S = 1e8


def writer_bytes_per_s(platform: Platform, storage_nodes: int, catalog: Catalog) -> float:
    """Rate at which one process of one server writes: the least of the storage and one mount, at their low ends."""
    count = 1 if platform.storage.kind == "local" else max(storage_nodes, 1)
    slow = count * node_write_rates(platform)[0]
    mount = mount_rates(platform, catalog)[2]
    rate = min(slow, mount)
    return rate if np.isfinite(rate) else _SLOWEST_WRITER_BYTES_PER_S
