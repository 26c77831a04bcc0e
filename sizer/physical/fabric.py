"""Switches of a network: how many leaves, spines and cables join so many ports. Pure array functions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Rates of the gateway links. [Gbit/s] 54.5 is the data rate of FDR (56 on the line, 64b/66b coding); DESIGN, section 4.
FDR_GBIT_PER_S = 54.5
FRONT_END_GBIT_PER_S = 40.0


@dataclass(frozen=True)
class Fabric:
    """Counts of one network, arrays of one shape."""

    leaves: Ints
    spines: Ints
    leaf_spine_cables: Ints
    ports_used: Ints  # on leaves and spines: end points and both ends of the inter-switch cables
    ports_free: Ints
    oversubscription: Floats  # down : up of a leaf with every down port used; 1 for a single switch
    fits: Bools  # False beyond the two-level limit; the counts are then those of the largest tree


def fat_tree(
    end_points: ArrayLike, ports_per_switch: int, oversubscription: float = 1.0, *, flat_ports: int | None = None
) -> Fabric:
    """Switches of one kind that join end points: one switch, or a two-level fat tree.

    Parameters
    ----------
    end_points : array_like of int, shape (...)
        Ports of servers, storage, gateways and head nodes. [-]
    ports_per_switch : int
        Ports of the switch, 2 or more. [-]
    oversubscription : float, default 1
        Largest ratio of down ports to up ports of a leaf that is accepted. [-]
    flat_ports : int, optional
        Most end points of the single switch where a rule keeps it below ``ports_per_switch`` (the back end of a
        scale-out NAS). [-]

    Returns
    -------
    Fabric
        Zero switches where there are no end points. ``fits`` is False where a leaf would be needed for more than
        ``ports_per_switch`` leaves: that takes a third level or directors, which a later version plans.

    Raises
    ------
    ValueError
        If a count is negative, the switch has fewer than 2 ports or the oversubscription is below 1.

    Notes
    -----
    A leaf gives ``u = ceil(P / (1 + R))`` ports to uplinks and ``P - u`` to end points, so that down : up stays at
    most R. Uplinks spread evenly over the spines: their count is the smallest divisor of u that is not below
    ``ceil(leaves u / P)`` [1]_ [2]_. All leaves run all their uplinks, also the last, partly filled one.

    References
    ----------
    .. [1] Telewell, switch catalogue, topology section ("tw-switch-cat"): non-blocking when uplink bandwidth equals
       node bandwidth; 36-port leaf of 18 down and 18 up.
    .. [2] University of Luxembourg, iris cluster ("ulhpc"): 12 leaves with 12 uplinks on 6 spines, two links each.

    Examples
    --------
    >>> tree = fat_tree([36, 54, 144], 36)
    >>> tree.leaves, tree.spines, tree.leaf_spine_cables
    (array([1, 3, 8]), array([0, 2, 6]), array([  0,  54, 144]))
    """
    n = _counts("end_points", end_points)
    if ports_per_switch < 2:
        raise ValueError(f"ports_per_switch must be at least 2, got {ports_per_switch}")
    if not oversubscription >= 1:
        raise ValueError(f"oversubscription must be at least 1, got {oversubscription}")
    ports = int(ports_per_switch)
    flat = ports if flat_ports is None else min(ports, int(flat_ports))
    up = int(np.ceil(ports / (1 + oversubscription) - 1e-9))
    down = ports - up
    fits = n <= max(flat, ports * down)
    is_tree = n > flat
    leaves = np.where(is_tree, np.minimum(_ceil_div(n, down), ports), np.minimum(n, 1))
    needed = np.where(is_tree, _ceil_div(leaves * up, ports), 0)
    spines = _smallest_divisors(up)[needed]
    cables = np.where(is_tree, leaves * up, 0)
    used = np.where(fits, n, 0) + 2 * cables
    return Fabric(
        leaves=leaves,
        spines=spines,
        leaf_spine_cables=cables,
        ports_used=used,
        ports_free=(leaves + spines) * ports - used,
        oversubscription=np.where(is_tree, down / up, 1.0),
        fits=fits,
    )


def uplinked_leaves(
    end_points: ArrayLike,
    leaf_ports: int,
    leaf_uplinks: int,
    uplink_ratio: float,
    spine_ports: int,
    spine_end_points: ArrayLike = 0,
    oversubscription: float = 1.0,
) -> Fabric:
    """Leaves with their own, faster uplink ports below spines that also carry storage.

    The case of a 48 x 10GbE switch with 6 x 40GbE ports: servers sit on the 10GbE ports, storage on the 40GbE spine.

    Parameters
    ----------
    end_points : array_like of int, shape (...)
        Ports at leaf speed. [-]
    leaf_ports, leaf_uplinks : int
        Ports of a leaf at leaf speed and at uplink speed. [-]
    uplink_ratio : float
        Speed of an uplink port over that of a leaf port. [-]
    spine_ports : int
        Ports of a spine, all at uplink speed. [-]
    spine_end_points : array_like of int, shape (...), default 0
        Ports at uplink speed that need a switch (storage front end). [-]
    oversubscription : float, default 1
        Largest ratio of leaf bandwidth down to bandwidth up that is accepted. [-]

    Returns
    -------
    Fabric
        One leaf and no spine where that is enough. Storage spreads over the spines; every leaf reaches every spine.

    Notes
    -----
    More than one leaf, or storage at uplink speed, calls for spines: the smallest divisor s of ``leaf_uplinks`` with
    ``leaves u / s + ceil(storage / s) <= spine_ports``.
    """
    n, storage = np.broadcast_arrays(_counts("end_points", end_points), _counts("spine_end_points", spine_end_points))
    down = min(leaf_ports, int(np.floor(oversubscription * leaf_uplinks * uplink_ratio + 1e-9)))
    leaves = np.where(n > leaf_ports, _ceil_div(n, down), np.minimum(n, 1))
    has_spines = (leaves > 1) | (storage > 0)
    spines = np.zeros_like(leaves)
    fits = ~has_spines
    for divisor in (s for s in range(1, leaf_uplinks + 1) if leaf_uplinks % s == 0):
        holds = leaves * (leaf_uplinks // divisor) + _ceil_div(storage, divisor) <= spine_ports
        spines = np.where(~fits & holds, divisor, spines)
        fits = fits | holds
    spines = np.where(fits, spines, leaf_uplinks)
    cables = np.where(has_spines, leaves * leaf_uplinks, 0)
    used = n + storage + 2 * cables
    # A leaf's uplink ports are counted as ports of the network only where the network uses them.
    offered = leaves * leaf_ports + cables + spines * spine_ports
    return Fabric(
        leaves=leaves,
        spines=spines,
        leaf_spine_cables=cables,
        ports_used=used,
        ports_free=np.maximum(offered - used, 0),
        oversubscription=np.where(has_spines & (leaves > 0), max(1.0, down / (leaf_uplinks * uplink_ratio)), 1.0),
        fits=fits,
    )


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

    Parameters
    ----------
    front_end_ports : array_like of int, shape (...)
        Ethernet ports of storage nodes in use. [-]
    front_end_rate, uplink_rate : float
        Rate of one port and of one uplink, in one unit. [any]

    Notes
    -----
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


def gateways(front_end_ports: ArrayLike, uplinks: ArrayLike, ports_per_gateway: int = 36) -> Gateways:
    """Fewest gateways that hold front-end ports and uplinks, both spread evenly.

    Parameters
    ----------
    front_end_ports, uplinks : array_like of int, shape (...)
        Ports to hold. Each port of a gateway is an uplink or a front-end port. [-]
    ports_per_gateway : int, default 36
        Ports of a gateway (SX6036: each port FDR or 40GbE). [-]
    """
    front, up = np.broadcast_arrays(_counts("front_end_ports", front_end_ports), _counts("uplinks", uplinks))
    count = _ceil_div(front + up, ports_per_gateway)
    # The even spread of both kinds may take one more than the sum; the loop ends after a pass or two.
    while True:
        safe = np.maximum(count, 1)
        short = (_ceil_div(front, safe) + _ceil_div(up, safe) > ports_per_gateway) & (count > 0)
        if not short.any():
            return Gateways(count, up.astype(np.int64), front.astype(np.int64))
        count = count + short


def _counts(name: str, values: ArrayLike) -> Ints:
    counts = np.asarray(values)
    if counts.size and not (counts >= 0).all():
        raise ValueError(f"{name} must be at least 0, got {counts.min()}")
    return counts.astype(np.int64)


def _ceil_div(a: Ints, b: Ints | int) -> Ints:
    return np.asarray(-(-a // b), dtype=np.int64)


def _smallest_divisors(n: int) -> Ints:
    """Smallest divisor of n that is not below k, for k = 0..n; 0 for k = 0."""
    divisors = np.array([d for d in range(1, n + 1) if n % d == 0])
    table = divisors[np.searchsorted(divisors, np.arange(n + 1))]
    table[0] = 0
    return table
