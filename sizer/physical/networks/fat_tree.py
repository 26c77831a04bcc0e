"""Switches of a network: how many leaves, spines and cables join so many ports. Pure array functions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats, Ints
from sizer.physical.networks.rails import rail_cores

# Rates of the gateway links. [Gbit/s] 54.5 is the data rate of FDR (56 on the line, 64b/66b coding).
FDR_GBIT_PER_S = 54.5
FRONT_END_GBIT_PER_S = 40.0


@dataclass(frozen=True)
class SwitchTree:
    """Counts of one network, arrays of one shape."""

    leaves: Ints  # switches that carry end points; a single director is a spine
    spines: Ints
    cores: Ints
    leaf_spine_cables: Ints
    spine_core_cables: Ints
    peer_cables: Ints  # between two leaves that are joined as a pair
    ports_used: Ints  # end points and both ends of the inter-switch cables
    ports_free: Ints
    oversubscription: Floats  # down : up of a leaf with every down port used; 1 for a single switch
    fits: Bools  # False beyond the largest tree; the counts are then those of that tree

    @classmethod
    def of(
        cls,
        end_points: Ints,
        offered_ports: Ints,
        leaves: Ints,
        spines: Ints | int = 0,
        cores: Ints | int = 0,
        *,
        leaf_spine: Ints | int = 0,
        spine_core: Ints | int = 0,
        peers: Ints | int = 0,
        oversubscription: Floats | float = 1.0,
        fits: Bools | bool = True,
    ) -> "SwitchTree":
        """Switches whose ports take the end points and both ends of the cables between switches."""
        used = end_points + 2 * (leaf_spine + spine_core + peers)
        parts = (leaves, spines, cores, leaf_spine, spine_core, peers, used, offered_ports - used)
        return cls(*np.broadcast_arrays(*parts, oversubscription, fits))

    @property
    def levels(self) -> Ints:
        """Levels of switches: 0 without any, 1, 2 or 3."""
        return np.asarray(sum(np.minimum(count, 1) for count in (self.leaves, self.spines, self.cores)))

    def with_free_ports(self, ports: Ints | int) -> "SwitchTree":
        """The same switches with some of the end points not there yet."""
        if isinstance(ports, int) and ports == 0:
            return self
        return replace(self, ports_used=self.ports_used - ports, ports_free=self.ports_free + ports)

    def with_further_ports(self, ports: Ints) -> "SwitchTree":
        """The same switches with further end points on free ports."""
        return replace(self, ports_used=self.ports_used + ports, ports_free=self.ports_free - ports)

    def plus(self, other: "SwitchTree") -> "SwitchTree":
        """Counts of two networks that are kept apart."""
        counts = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        ratio = np.maximum(self.oversubscription, other.oversubscription)
        return SwitchTree(**counts, oversubscription=ratio, fits=self.fits & other.fits)

    def where(self, rows: Bools, other: "SwitchTree") -> "SwitchTree":
        """This tree, and in some rows another one."""
        if not np.count_nonzero(rows):
            return self
        return SwitchTree(*(np.where(rows, new, own) for new, own in zip(_parts(other), _parts(self), strict=True)))


_COUNTS = tuple(part.name for part in fields(SwitchTree) if part.name not in ("oversubscription", "fits"))


def leaf_split(ports_per_switch: int, oversubscription: float = 1.0, uplink_ratio: float = 1.0) -> tuple[int, int]:
    """Ports of a leaf towards end points and towards the spines, so that down : up is at most ``oversubscription``.

    ``uplink_ratio`` is the speed of an uplink over that of the fastest end point.
    """
    up = math.ceil(ports_per_switch / (1 + oversubscription * uplink_ratio) - 1e-9)
    return ports_per_switch - up, up


def pod_split(ports_per_switch: int) -> tuple[int, int]:
    """Ports of a spine of a three-level tree towards its leaves and towards the cores, never oversubscribed."""
    return ports_per_switch // 2, ports_per_switch - ports_per_switch // 2


def fat_tree(
    end_points: ArrayLike,
    ports_per_switch: int,
    oversubscription: float = 1.0,
    *,
    flat_ports: int | None = None,
    director_ports: int | None = None,
    uplink_ratio: float = 1.0,
    fewest: ArrayLike = 1,
    rail_leaves: ArrayLike = 0,
    rails: int = 0,
) -> SwitchTree:
    """Switches that join end points: one switch, or a fat tree of two or three levels.

    ``end_points`` (...): ports of servers, storage, gateways and head nodes. ``ports_per_switch``: ports of the switch,
    2 or more. ``oversubscription``: largest ratio of down ports to up ports of a leaf that is accepted; spines are
    never oversubscribed. ``flat_ports``: most end points of the single switch where a rule keeps it below
    ``ports_per_switch`` (the back end of a scale-out NAS). ``director_ports``: ports of a director switch. One director
    takes what a single switch cannot; beyond its ports directors are the spines of a two-level tree, and there is no
    third level. ``uplink_ratio``: speed of a link between switches over that of the fastest end point, 1 or more.
    ``fewest``: leaves at least. From 2 on every level has two switches or more, so that any one may be lost.
    ``rail_leaves``: leaves of a tree at least, because each takes its own rails (``RailRule.leaves``). ``rails``:
    leaves of a full unit of a rail-optimised fabric, whose third level is that of ``rail_cores``. Returns zero switches
    where there are no end points. ``fits`` is False beyond the largest tree. Raises ValueError if a count is negative,
    a switch has fewer than 2 ports or the oversubscription or the uplink ratio is below 1.

    A leaf gives ``u = ceil(P / (1 + R))`` ports to uplinks and ``P - u`` to end points, so that down : up stays at
    most R; with uplinks q times as fast as the end points ``u = ceil(P / (1 + q R))``. Uplinks spread evenly over the
    spines: their count is the smallest divisor of u that is not below ``ceil(leaves u / P)`` [1]_ [2]_. All leaves
    run all their uplinks, also the last, partly filled one.

    Three levels [3]_: pods of P/2 leaves and u spines, every leaf with one link to each spine of its pod; spine k of
    all pods shares a group of cores, c of them, c the smallest divisor of P/2 that holds the pods' P/2 uplinks each.

    References
    ----------
    .. [1] Telewell, switch catalogue, topology section ("tw-switch-cat"): non-blocking when uplink bandwidth equals
       node bandwidth; 36-port leaf of 18 down and 18 up.
    .. [2] University of Luxembourg, iris cluster ("ulhpc"): 12 leaves with 12 uplinks on 6 spines, two links each.
    .. [3] M. Al-Fares, A. Loukissas, A. Vahdat, "A scalable, commodity data center network architecture," Proc. ACM
       SIGCOMM 2008, pp. 63-74, doi:10.1145/1402958.1402967: k-port switches in k pods join k^3/4 hosts.

    Examples
    --------
    >>> tree = fat_tree([36, 54, 144, 4096], 36)
    >>> tree.leaves, tree.spines, tree.cores
    (array([  1,   3,   8, 228]), array([  0,   2,   6, 234]), array([  0,   0,   0, 162]))
    """
    n = _counts("end_points", end_points)
    for name, count in (("ports_per_switch", ports_per_switch), ("director_ports", director_ports)):
        if count is not None and count < 2:
            raise ValueError(f"{name} must be at least 2, got {count}")
    for name, value in (("oversubscription", oversubscription), ("uplink_ratio", uplink_ratio)):
        if not value >= 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    ports = int(ports_per_switch)
    flat = ports if flat_ports is None else min(ports, int(flat_ports))
    least = np.asarray(fewest, dtype=np.int64)
    spares_one = bool((least > 1).all())
    flat, largest_single, fewest_above = (0, 0, 2) if spares_one else (flat, director_ports or 0, 1)
    is_flat = n <= flat
    if np.count_nonzero(is_flat) == n.size:
        # Most networks of a search: no need to work out trees.
        return one_switch(n, ports)
    down, up = leaf_split(ports, oversubscription, uplink_ratio)
    spine_ports = ports if director_ports is None else int(director_ports)
    pod_leaves, core_links = pod_split(ports)
    most_leaves = spine_ports if director_ports is not None else ports * pod_leaves
    asked = np.maximum(_ceil_div(n, down), np.asarray(rail_leaves, dtype=np.int64))
    fits = is_flat | (asked <= most_leaves)
    is_director = ~is_flat & (n <= largest_single)
    is_tree = ~is_flat & ~is_director
    leaves = np.where(
        is_tree, np.minimum(np.maximum(asked, least), most_leaves), np.where(is_flat, np.minimum(n, 1), 0)
    )
    is_deep = is_tree & (leaves > spine_ports)
    pods = np.where(is_deep, _ceil_div(leaves, pod_leaves), 0)
    is_shallow = is_tree & ~is_deep
    two_level = _smallest_divisors(up)[
        np.where(is_shallow, np.maximum(_ceil_div(leaves * up, spine_ports), min(fewest_above, up)), 0)
    ]
    spines = np.where(is_deep, pods * up, np.where(is_director, 1, two_level))
    per_spine = np.where(is_deep, np.maximum(_ceil_div(pods * core_links, ports), min(fewest_above, core_links)), 0)
    cores = up * _smallest_divisors(core_links)[per_spine]
    leaf_spine = np.where(is_tree, leaves * up, 0)
    spine_core = np.where(is_deep, spines * core_links, 0)
    for count in np.unique(leaves[is_deep]) if rails else ():
        found, rows = rail_cores(int(count), rails, up, ports), is_deep & (leaves == count)
        if found is None:
            fits = fits & ~rows
            continue
        above = found.groups * found.spines
        spines = np.where(rows, above, spines)
        cores = np.where(rows, found.core_groups * found.cores_each, cores)
        spine_core = np.where(rows, above * found.spine_links(up), spine_core)
    return SwitchTree.of(
        np.where(fits, n, 0),
        leaves * ports + spines * spine_ports + cores * ports,
        leaves,
        spines,
        cores,
        leaf_spine=leaf_spine,
        spine_core=spine_core,
        oversubscription=np.where(is_tree, max(down / (up * uplink_ratio), 1.0), 1.0),
        fits=fits,
    )


def one_switch(end_points: Ints, ports: int) -> SwitchTree:
    """One switch where there are end points, none where there are none; they must not be more than its ports."""
    switches, zero = np.minimum(end_points, 1), np.zeros(end_points.shape, dtype=np.int64)
    free, ones = switches * ports - end_points, np.ones(end_points.shape)
    return SwitchTree(switches, *(zero,) * 5, end_points, free, ones, ones > 0)


def uplinked_down(leaf_ports: int, leaf_uplinks: int, uplink_ratio: float, oversubscription: float = 1.0) -> int:
    """End points of a leaf with uplink ports of its own, so that down : up is at most ``oversubscription``."""
    return min(leaf_ports, int(np.floor(oversubscription * leaf_uplinks * uplink_ratio + 1e-9)))


def uplinked_leaves(
    end_points: ArrayLike,
    leaf_ports: int,
    leaf_uplinks: int,
    uplink_ratio: float,
    spine_ports: int,
    spine_end_points: ArrayLike = 0,
    oversubscription: float = 1.0,
    *,
    spares_one: bool = False,
) -> SwitchTree:
    """Leaves with their own, faster uplink ports below spines that also carry storage.

    The case of a 48 x 10GbE switch with 6 x 40GbE ports: servers sit on the 10GbE ports, storage on the 40GbE spine.

    ``end_points`` (...): ports at leaf speed. ``leaf_ports``, ``leaf_uplinks``: ports of a leaf at leaf speed and at
    uplink speed. ``uplink_ratio``: speed of an uplink port over that of a leaf port. ``spine_ports``: ports of a spine,
    all at uplink speed. ``spine_end_points`` (...): ports at uplink speed that need a switch (storage front end).
    ``oversubscription``: largest ratio of leaf bandwidth down to bandwidth up that is accepted. ``spares_one``: two
    leaves and two spines at least, so that any one of them may be lost. Returns one leaf and no spine where that is
    enough. Storage spreads over the spines; every leaf reaches every spine.

    More than one leaf, or storage at uplink speed, calls for spines: the smallest divisor s of ``leaf_uplinks`` with
    ``leaves u / s + ceil(storage / s) <= spine_ports``.
    """
    n, storage = np.broadcast_arrays(_counts("end_points", end_points), _counts("spine_end_points", spine_end_points))
    down = uplinked_down(leaf_ports, leaf_uplinks, uplink_ratio, oversubscription)
    leaves = np.where((n > leaf_ports) | (storage > 0), _ceil_div(n, down), np.minimum(n, 1))
    if spares_one:
        leaves = np.where(n > 0, np.maximum(_ceil_div(n, down), 2), 0)
    has_spines = (leaves > 1) | (storage > 0)
    spines = np.zeros_like(leaves)
    fits = ~has_spines
    for divisor in (s for s in range(2 if spares_one else 1, leaf_uplinks + 1) if leaf_uplinks % s == 0):
        holds = leaves * (leaf_uplinks // divisor) + _ceil_div(storage, divisor) <= spine_ports
        spines = np.where(~fits & holds, divisor, spines)
        fits = fits | holds
    spines = np.where(fits, spines, leaf_uplinks)
    cables = np.where(has_spines, leaves * leaf_uplinks, 0)
    # A leaf's uplink ports are counted as ports of the network only where the network uses them.
    offered = np.maximum(leaves * leaf_ports + cables + spines * spine_ports, n + storage + 2 * cables)
    ratio = np.where(has_spines & (leaves > 0), max(1.0, down / (leaf_uplinks * uplink_ratio)), 1.0)
    return SwitchTree.of(n + storage, offered, leaves, spines, leaf_spine=cables, oversubscription=ratio, fits=fits)


@dataclass(frozen=True)
class Gateways:
    """Gateways between InfiniBand and the Ethernet front end of a storage system."""

    gateways: Ints
    uplinks: Ints
    front_end_ports: Ints


def gateway_uplinks(
    front_end_ports: ArrayLike,
    front_end_rate: float = FRONT_END_GBIT_PER_S,
    uplink_rate: float = FDR_GBIT_PER_S,
) -> Ints:
    """Uplinks that carry the front-end ports in use at line rate.

    ``front_end_ports`` (...): ethernet ports of storage nodes in use. ``front_end_rate``, ``uplink_rate``: rate of one
    port and of one uplink, in one unit.

    ``ceil(ports x 40 / 54.5)``. The Dell guide computes with the 56 Gbit/s of the line; both give the three links
    that it prints for four nodes [1]_.

    References
    ----------
    .. [1] Dell EMC Ready Solutions for AI, Deep Learning with NVIDIA, 2018, page 27 ("dell-ready-ai-nvidia-2018").

    Examples
    --------
    >>> gateway_uplinks([0, 4, 8])
    array([0, 3, 6])
    """
    ports = _counts("front_end_ports", front_end_ports)
    return np.asarray(np.ceil(ports * (front_end_rate / uplink_rate) - 1e-9), dtype=np.int64)


def gateways(front_end_ports: ArrayLike, uplinks: ArrayLike, ports_per_gateway: int = 36, fewest: int = 1) -> Gateways:
    """Fewest gateways that hold front-end ports and uplinks, both spread evenly.

    ``front_end_ports``, ``uplinks`` (...): ports to hold. Each port of a gateway is an uplink or a front-end port.
    ``ports_per_gateway``: ports of a gateway (SX6036: each port FDR or 40GbE). ``fewest``: gateways where there is a
    port to hold; 2 where one of them may be lost.
    """
    front, up = np.broadcast_arrays(_counts("front_end_ports", front_end_ports), _counts("uplinks", uplinks))
    count = np.where(front + up > 0, np.maximum(_ceil_div(front + up, ports_per_gateway), fewest), 0)
    # The even spread of both kinds may take one more than the sum; the loop ends after a pass or two.
    while True:
        safe = np.maximum(count, 1)
        short = (_ceil_div(front, safe) + _ceil_div(up, safe) > ports_per_gateway) & (count > 0)
        if not np.count_nonzero(short):
            return Gateways(count, up, front)
        count = count + short


def _parts(tree: SwitchTree) -> Iterator[Any]:
    return (getattr(tree, part.name) for part in fields(tree))


def _counts(name: str, values: ArrayLike) -> Ints:
    counts = np.asarray(values)
    if np.count_nonzero(counts >= 0) < counts.size:
        raise ValueError(f"{name} must be at least 0, got {counts.min()}")
    return counts.astype(np.int64, copy=False)


def _ceil_div(a: Ints, b: Ints | int) -> Ints:
    return np.asarray(-(-a // b), dtype=np.int64)


def _smallest_divisors(n: int) -> Ints:
    """Smallest divisor of n that is not below k, for k = 0..n; 0 for k = 0."""
    divisors = np.array([d for d in range(1, n + 1) if n % d == 0])
    table = divisors[np.searchsorted(divisors, np.arange(n + 1))]
    table[0] = 0
    table.flags.writeable = False
    return table
