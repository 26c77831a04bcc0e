"""Facts of platforms and rates of their storage as arrays: one entry a platform, gathered to one entry a row."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints, Rows
from sizer.base.provenance import Sourced
from sizer.base.units import bytes_per_s_from_gbit_per_s
from sizer.calibrate.calibration import Calibration
from sizer.catalog.fabrics import fabric_ports
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.sale import V100_ERA, era_of
from sizer.catalog.schema import Server, Storage
from sizer.physical.capacity import counts_nodes, node_limits, usable_bytes
from sizer.physical.networks.counts import fabric_share
from sizer.physical.networks.ports import nodes_of
from sizer.physical.platform import Platform, page_cache_bytes
from sizer.physical.platforms import MIN_LAN_GBIT_PER_S, lan_ports, own_network_ports
from sizer.workload.request import Fabric

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


# Above the GPUs of any server.
_MOST_GPUS = 10_000
_USUAL_HOST_LINKS = 2.0
# Links of a GPU generation over PCIe 3.0: 4.0 and 5.0 doubled the rate each, and Hopper and all later ones have 5.0.
_PCIE_GAIN = {"": 1.0, "pascal": 1.0, "volta": 1.0, "ampere": 2.0, "ada": 2.0}
_LATER_PCIE_GAIN = 4.0


@dataclass(frozen=True)
class Columns(Rows):
    """What the models need of a platform. Rates in B/s; inf where a limit does not exist; per server unless said."""

    gpus_per_server: Floats
    cores: Floats
    host_links: Floats  # of x16 width between host and GPUs, side by side
    host_link_gain: Floats  # rate of such a link over that of PCIe 3.0, which was measured
    cache_bytes: Floats  # memory of a server that can cache the data set
    exchange_bytes_per_s: Floats  # NICs of a server on the fabric
    storage_nic_bytes_per_s: Floats  # NICs of a server towards the storage
    node_low_bytes_per_s: Floats
    node_high_bytes_per_s: Floats
    node_line_bytes_per_s: Floats  # line rate of a storage node's front end
    node_write_low_bytes_per_s: Floats
    node_write_high_bytes_per_s: Floats
    node_iops: Floats  # reads of a node a second; inf where no source gives them
    shown_write_bytes_per_s: Floats  # that a system was shown to write, all clients together; 0 without such a test
    staged_bytes_per_s: Floats  # written from a capacity tier
    mounts: Floats  # fixed mounts of a server
    mounts_per_node: Floats  # further mounts for every storage node
    mount_low_bytes_per_s: Floats
    mount_high_bytes_per_s: Floats
    is_local: Floats  # 1: drives in the servers, one "node" a server
    hosts: Floats  # of a server: the trays of a system that arrives as a rack, else 1
    fewest_nodes: Floats  # of the smallest system of the storage
    most_nodes: Floats  # of the largest
    usable_bytes_per_node: Floats  # of the smallest system; inf where no source gives it, or the node is a server [B]
    has_usual_level: Floats  # 1: shared storage of newer servers, for which NVIDIA publishes levels
    exchanges_by_storage_nics: Floats  # 1: gradients take the NICs by which the servers reach the storage
    compute: Ints  # index of the compute group: rows of one group share GPU, links and therefore step terms

    def shaped(self, shape: tuple[int, ...]) -> "Columns":
        return Columns(**{name: column.reshape(shape) for name, column in vars(self).items()})

    def as_rows(self, names: Sequence[str] = ()) -> list[Floats]:
        return [getattr(self, name) for name in names or [field.name for field in fields(self)]]


@dataclass(frozen=True)
class ComputeGroup:
    """Platforms that compute alike: same server and GPU, same link inside the server, same fabric between servers."""

    server: str
    gpu: str
    intra_link: str
    fabric: LinkType


def compute_groups(platforms: Sequence[Platform]) -> tuple[list[ComputeGroup], list[int]]:
    """Distinct compute groups, and the index of each platform's group."""
    # One platform is quickly looked at; stored, it would only displace the lists of whole requests.
    return _groups_of(platforms) if len(platforms) == 1 else _groups_of_list(tuple(platforms))


def _groups_of(platforms: Sequence[Platform]) -> tuple[list[ComputeGroup], list[int]]:
    groups: dict[ComputeGroup, int] = {}
    kinds = (ComputeGroup(one.server.id, one.gpu.id, one.intra_link, one.fabric) for one in platforms)
    index = [groups.setdefault(kind, len(groups)) for kind in kinds]
    return list(groups), index


_groups_of_list = lru_cache(maxsize=128)(_groups_of)


def columns(platforms: Sequence[Platform], catalog: Catalog, gpus_used: int | None = None) -> Columns:
    """Columns of all platforms, one entry a platform; ``gpus_used`` GPUs of each server run the job (default all)."""
    if len(platforms) == 1:
        return _columns_of(platforms, catalog, gpus_used)
    return _columns_of_list(tuple(platforms), catalog, gpus_used)


def _columns_of(platforms: Sequence[Platform], catalog: Catalog, gpus_used: int | None) -> Columns:
    _, groups = compute_groups(platforms)
    rows = np.array([_facts(platform, catalog, gpus_used) for platform in platforms], dtype=float)
    names = [field.name for field in fields(Columns)[:-1]]
    return Columns(**dict(zip(names, rows.T, strict=True)), compute=np.array(groups, dtype=np.int64))


_columns_of_list = lru_cache(maxsize=128)(_columns_of)


def fabric_shares(platforms: Sequence[Platform], index: Ints, servers: Ints, nodes: Ints, fabric: Fabric) -> Floats:
    """``fabric_share`` of designs; ``index`` is the platform of each. Arrays broadcast."""
    index, servers, nodes = np.broadcast_arrays(index, servers, nodes)
    shares, order = np.ones(index.shape), np.argsort(index, axis=None, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(index.flat[order])) + 1):
        platform = platforms[index.flat[rows[0]]]
        shares.flat[rows] = fabric_share(platform, servers.flat[rows], nodes.flat[rows], fabric)
    return shares


def narrowed(
    cols: Columns, platforms: Sequence[Platform], index: Ints, servers: Ints, nodes: Ints, fabric: Fabric
) -> Columns:
    """Columns of designs with what an oversubscribed fabric, or rails kept apart, leave of the line rates.

    ``index``, ``servers``, ``nodes``: platform, servers and storage nodes of each design. All broadcast with ``cols``.
    """
    if not is_narrowed(fabric):
        return cols
    shares = fabric_shares(platforms, index, servers, nodes, fabric)
    to_storage = np.array([_share_to_storage(platform, fabric) for platform in platforms])[index]
    cols = Columns(**{name: np.broadcast_to(column, shares.shape) for name, column in vars(cols).items()})
    return replace(
        cols,
        exchange_bytes_per_s=cols.exchange_bytes_per_s * shares,
        storage_nic_bytes_per_s=cols.storage_nic_bytes_per_s * np.where(to_storage > 0, shares * to_storage, 1.0),
    )


@dataclass(frozen=True)
class ServerRows:
    """Servers of designs: of which platforms they are, and how many of them each design has.

    ``platforms``: all platforms, in the order of the compute groups of ``cols``. ``cols``, ``n_servers``: one entry a
    row, or shapes that broadcast, such as (platforms, 1) and (1, sizes).
    """

    platforms: Sequence[Platform]
    cols: Columns
    n_servers: Ints
    catalog: Catalog
    calibration: Calibration

    @property
    def shape(self) -> tuple[int, ...]:
        return np.broadcast_shapes(self.cols.compute.shape, self.n_servers.shape)

    @property
    def groups(self) -> list[ComputeGroup]:
        """Compute groups, in the order of ``cols.compute``."""
        return compute_groups(self.platforms)[0]

    @property
    def n_gpus(self) -> Floats:
        """GPUs of every row."""
        return self.n_servers * self.cols.gpus_per_server


@dataclass(frozen=True)
class ServerKind:
    """Servers that compute alike to what a layout divides."""

    gpu: str
    gpus_per_server: int  # that work
    nic_bytes_per_s: float | None  # of a GPU; None: the usual one of its kind

    @classmethod
    def of(cls, server: str, gpu: str, used: int, fabric: LinkType, catalog: Catalog) -> "ServerKind":
        return cls(gpu, used, fabric_bytes_per_s(catalog.servers[server], fabric) / used)


def server_kinds(hosts: ServerRows) -> tuple[dict[ServerKind, Ints], Ints]:
    """Servers that compute alike with the rows that have them, and the number of servers of every row."""
    cols, groups = hosts.cols, hosts.groups
    codes = np.asarray(cols.compute * _MOST_GPUS + cols.gpus_per_server, dtype=np.int64)
    every = np.broadcast_to(codes, hosts.shape).reshape(-1)
    found: dict[ServerKind, list[Ints]] = {}
    for code in np.unique(codes).tolist():
        of, used = groups[code // _MOST_GPUS], code % _MOST_GPUS
        server_kind = ServerKind.of(of.server, of.gpu, used, of.fabric, hosts.catalog)
        found.setdefault(server_kind, []).append(np.flatnonzero(every == code))
    servers = np.broadcast_to(hosts.n_servers, hosts.shape).reshape(-1).astype(np.int64)
    joined = {one: np.concatenate(rows) for one, rows in found.items()}
    return {one: rows for one, rows in joined.items() if rows.size}, servers


def is_narrowed(fabric: Fabric) -> bool:
    """Whether a fabric leaves less than the line rates."""
    return fabric.oversubscription > 1 or fabric.rails_apart


def _share_to_storage(platform: Platform, fabric: Fabric) -> float:
    """Share of a server's ports that lead to storage on the compute fabric; 0 where it is not there.

    Storage joins the first rail only, and of each server one port with it.
    """
    is_joined = platform.attachment in ("fabric", "gateway", "spine")
    if not is_joined and (platform.attachment != "lan" or platform.fabric.is_infiniband):
        return 0.0
    return 1 / max(fabric_ports(platform.server.ports, platform.fabric), 1) if fabric.rails_apart else 1.0


@lru_cache(maxsize=4096)
def _facts(platform: Platform, catalog: Catalog, gpus_used: int | None) -> tuple[float, ...]:
    """Columns of one platform in their order, without the last."""
    server, storage = platform.server, platform.storage
    fixed, per_node, *mount = mount_rates(platform, catalog)
    hosts = nodes_of(server)  # each mounts for itself
    return (
        min(gpus_used or platform.gpus_per_server, platform.gpus_per_server),
        host_cores(server, catalog),
        float(server.host_links.value) if server.host_links is not None else _USUAL_HOST_LINKS,
        _PCIE_GAIN.get(platform.gpu.generation or "", _LATER_PCIE_GAIN),
        cache_bytes(platform),
        fabric_bytes_per_s(server, platform.fabric),
        storage_nic_bytes_per_s(platform),
        *node_rates(platform),
        *node_write_rates(platform),
        np.inf if storage.node_iops is None else storage.node_iops.value,
        0.0 if storage.test_write_bytes_per_s is None else storage.test_write_bytes_per_s.value,
        0.0 if platform.second_tier is None else platform.second_tier.staging_bytes_per_s,
        *(fixed * hosts, per_node * hosts, *mount),
        float(storage.kind == "local"),
        hosts,
        *(node_limits(storage) if counts_nodes(storage) else (1.0, 1.0)),
        _usable_bytes_per_node(platform),
        float(has_usual_level(platform, catalog)),
        float(not has_storage_nics(platform)),
    )


def _usable_bytes_per_node(platform: Platform) -> float:
    """Usable capacity of the smallest system by its nodes, which larger ones have at least. [B]"""
    storage, option = platform.storage, platform.capacity_option
    if not counts_nodes(storage) or capacity_is_unknown(storage, option):
        return np.inf
    fewest, _ = node_limits(storage)
    return float(usable_bytes(storage, option, fewest)) / fewest


def has_usual_level(platform: Platform, catalog: Catalog) -> bool:
    """Whether a published storage level is a usual demand: of shared storage behind servers of a newer era."""
    return platform.storage.kind != "local" and era_of(catalog, platform.server) != V100_ERA


def fabric_bytes_per_s(server: Server, fabric: LinkType) -> float:
    """Rate of all ports of a server that join the fabric, one direction. [B/s]"""
    return max(fabric_ports(server.ports, fabric), 1) * fabric.bytes_per_s


def storage_nic_bytes_per_s(platform: Platform) -> float:
    """Rate of a server's ports towards its storage, one direction; inf for local drives. [B/s]

    On switches of their own they run as fast as they and the switch can, whatever the storage's ports do: 18 trays of
    an NVL72 with two ports of 400 Gbit/s each have 1.8 TB/s, also where the storage has ports of 200 Gbit/s.
    """
    server = platform.server
    if platform.attachment == "local":
        return np.inf
    if platform.attachment == "own network":
        kind = platform.server_storage_kind
        return max(own_network_ports(server, kind, platform.fabric), 1) * kind.bytes_per_s
    if has_storage_nics(platform):
        return max(lan_ports(server), 1) * bytes_per_s_from_gbit_per_s(MIN_LAN_GBIT_PER_S)
    return fabric_bytes_per_s(server, platform.fabric)


def has_storage_nics(platform: Platform) -> bool:
    """Whether the servers reach their storage by other NICs than those that exchange gradients."""
    return platform.attachment == "own network" or (platform.attachment == "lan" and platform.fabric.is_infiniband)


def host_cores(server: Server, catalog: Catalog) -> float:
    """Physical cores of a server."""
    if server.cpu is None or server.n_cpus is None:
        return np.inf
    return float(catalog.cpus[server.cpu.value].cores.value * server.n_cpus.value)


def cache_bytes(platform: Platform) -> float:
    """Memory of a server that can hold the data set: what GPUs' copies and the operating system leave. [B]"""
    return page_cache_bytes(platform.server, platform.gpus_per_server, platform.gpu)


@dataclass(frozen=True)
class LaidOutRun:
    """Rates by the best layout of every row. Arrays over the rows."""

    median_samples_per_s: Floats  # tokens of a training over days, with interruptions; requests of a model in use
    log_sd: Floats
    fits: Bools
    replicas: Floats  # that hold the model each
    timely: Floats | None = None  # probability that first tokens keep their limit; None where nobody waits

    def samples_per_s(self, values: Floats) -> Floats:
        """Rate under some draws: no term of a step moves it, its scatter alone does. [samples/s]"""
        return np.asarray(self.median_samples_per_s + 0 * values[..., 0])
