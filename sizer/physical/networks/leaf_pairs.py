"""Networks whose devices have a port on each of two leaves: storage fabric and in-band network of a SuperPOD."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Ints
from sizer.physical.networks.fat_tree import SwitchTree, fat_tree, leaf_split, one_switch
from sizer.physical.networks.rails import RailRule

# Leaves of a pair.
PAIR = 2
# Cables between the two leaves of a pair of the in-band network, and uplinks of each leaf to the spines; two uplinks of
# each of two top switches to the customer's data centre. RA-11333-001 V11, table 8: 6, 24 and 4 for three pairs.
PEER_CABLES = 2
IN_BAND_UPLINKS = 4
IN_BAND_LAN_UPLINKS = 4
# Device ports on the storage fabric over its uplinks: "near 4:3" (RA-11333-001 V11, storage fabric).
STORAGE_OVERSUBSCRIPTION = 4 / 3


@dataclass(frozen=True)
class LeafGroup:
    """Leaves of one kind of device."""

    leaves: Ints
    up: Ints  # uplinks of each of them; 0 outside a two-level tree
    oversubscription: Floats


def leaf_pairs(
    ports: int, kinds: Sequence[tuple[ArrayLike, float, float]], others: ArrayLike = 0
) -> tuple[SwitchTree, tuple[LeafGroup, ...]]:
    """Switches of a fabric with pairs of leaves for each kind of device.

    ``ports``: ports of every switch. ``kinds``: links of each kind of device, the largest accepted ratio of its
    bandwidth to that of its uplinks, and the rate of an uplink over that of one of its links. ``others``: further links
    on free ports of the leaves, which carry no files: subnet managers. Returns one switch where it holds all links.
    Beyond two levels a fat tree of the first kind's ratio, without groups.

    Each kind has so many pairs as its links call for with the leaf split of its ratio; its links spread evenly over
    them, and a leaf has as many uplinks as its links of today call for. The spines are the fewest s, two at least, that
    take the uplinks of all leaves, each leaf's rounded up to a multiple of s. DGX H100 SuperPOD of 127 nodes [1]_: 254
    links on 8 leaves with 24 uplinks, 96 storage links of 200 Gbit/s on 4 leaves with 12, 4 spines: 16 switches.

    References
    ----------
    .. [1] NVIDIA DGX SuperPOD reference architecture, DGX H100, RA-11333-001 V11, 2023, tables 7 and 8 ("nv-ra-h100").

    Examples
    --------
    >>> tree, groups = leaf_pairs(64, [([254], 4 / 3, 1.0), ([96], 1.0, 2.0)])
    >>> tree.leaves, tree.spines, tree.leaf_spine_cables, groups[0].up, groups[1].up
    (array([12]), array([4]), array([240]), array([24]), array([12]))
    """
    counts = [np.atleast_1d(np.asarray(links, dtype=np.int64)) for links, _, _ in kinds]
    total = np.asarray(sum(counts) + np.asarray(others, dtype=np.int64))
    leaves, needed, loads = [], [], []
    for links, (_, ratio, speed) in zip(counts, kinds, strict=True):
        down, _ = leaf_split(ports, ratio, speed)
        pairs = -(-links // (PAIR * down))
        load = np.where(pairs > 0, -(-links // np.maximum(PAIR * pairs, 1)), 0)
        leaves.append(PAIR * pairs)
        loads.append(load)
        needed.append(np.ceil(load / (ratio * speed) - 1e-9).astype(np.int64))
    all_leaves = np.asarray(sum(leaves))
    is_flat = total <= ports
    spines, fits = np.zeros_like(total), np.zeros(total.shape, dtype=bool)
    ups = [np.zeros_like(total) for _ in kinds]
    could = ~is_flat & (all_leaves <= ports)
    bare = np.asarray(sum(n * up for n, up in zip(leaves, needed, strict=True)))
    fewest = int(np.min(bare[could], initial=ports * ports)) // ports
    for s in range(max(fewest, PAIR), ports + 1):
        if fits[could].all():
            break
        rounded = [-(-up // s) * s for up in needed]
        each = np.asarray(sum(n * (up // s) for n, up in zip(leaves, rounded, strict=True)))
        room = [(load + up <= ports) | (n == 0) for n, load, up in zip(leaves, loads, rounded, strict=True)]
        free = sum(n * (ports - load - up) for n, load, up in zip(leaves, loads, rounded, strict=True))
        good = could & ~fits & (each <= ports) & np.all(room, axis=0) & (free >= np.asarray(others))
        spines = np.where(good, s, spines)
        ups = [np.where(good, new, up) for new, up in zip(rounded, ups, strict=True)]
        fits |= good
    cables = np.asarray(sum(n * up for n, up in zip(leaves, ups, strict=True)))
    worst = np.max([_ratio(load, up, speed) for load, up, (_, _, speed) in zip(loads, ups, kinds, strict=True)], axis=0)
    tree = SwitchTree.of(
        total,
        (all_leaves + spines) * ports,
        all_leaves,
        spines,
        leaf_spine=cables,
        oversubscription=np.maximum(worst, 1.0),
        fits=fits,
    )
    tree = tree.where(is_flat, one_switch(np.where(is_flat, total, 0), ports))
    is_deep = ~is_flat & ~fits
    if np.count_nonzero(is_deep):
        ratio = kinds[0][1]
        rule = RailRule.of(PAIR, leaf_split(ports, ratio)[0], most_on_leaf=1)
        deep = fat_tree(total, ports, ratio, rail_leaves=rule.leaves(-(-counts[0] // PAIR)))
        tree = tree.where(is_deep, deep)
    groups = tuple(
        LeafGroup(np.where(fits, n, 0), up, _ratio(load, up, speed))
        for n, up, load, (_, _, speed) in zip(leaves, ups, loads, kinds, strict=True)
    )
    return tree, groups


def _ratio(load: Ints, up: Ints, speed: float) -> Floats:
    return np.asarray(np.where(up > 0, load / (np.maximum(up, 1) * speed), 1.0))


def in_band_tree(links: ArrayLike, ports: int) -> SwitchTree:
    """Switches of an in-band network: pairs of leaves joined with each other, spines above several pairs.

    ``links`` (...): links of devices; each device has one on either leaf of a pair. ``ports``: ports of every switch,
    more than 12.

    A leaf keeps 2 ports for its peer and, below spines, 4 for uplinks: two to each of two spines, or one to each of
    four. The top switches keep 2 for the customer's data centre. More leaves than spines have ports for stand in zones
    of four spines, each with one link to each of two cores.

    Examples
    --------
    >>> tree = in_band_tree([74, 286, 4400], 64)
    >>> tree.leaves, tree.spines, tree.cores, tree.leaf_spine_cables, tree.peer_cables
    (array([ 2,  6, 76]), array([0, 2, 8]), array([0, 0, 2]), array([  0,  24, 304]), array([ 2,  6, 76]))
    """
    n = np.atleast_1d(np.asarray(links, dtype=np.int64))
    lan = IN_BAND_LAN_UPLINKS // PAIR
    down = ports - PEER_CABLES - IN_BAND_UPLINKS
    is_pair = -(-n // PAIR) <= ports - PEER_CABLES - lan
    leaves = PAIR * np.where(is_pair, np.minimum(n, 1), -(-n // (PAIR * down)))
    is_deep = leaves > ports - lan
    zones = np.where(is_deep, -(-leaves // in_band_zone(ports)), np.minimum(leaves, 1))
    few = (leaves * (IN_BAND_UPLINKS // PAIR) <= ports - lan) & ~is_deep
    spines = np.where(is_pair, 0, np.where(few, PAIR, IN_BAND_UPLINKS * zones))
    up = np.where(is_pair, 0, leaves * IN_BAND_UPLINKS)
    cores = np.where(is_deep, PAIR, 0)
    above = spines * cores
    peers = PEER_CABLES * (leaves // PAIR)
    return SwitchTree.of(
        n,
        (leaves + spines + cores) * ports,
        leaves,
        spines,
        cores,
        leaf_spine=up,
        spine_core=above,
        peers=peers,
        oversubscription=np.where(is_pair, 1.0, np.maximum(n / np.maximum(up, 1), 1.0)),
        fits=spines <= ports - lan,
    )


def in_band_zone(ports: int) -> int:
    """Leaves below one group of spines where there are cores: ports for two cores and the customer are kept."""
    return ports - PAIR - IN_BAND_LAN_UPLINKS // PAIR


def connected_pair(end_points: ArrayLike, ports: int) -> SwitchTree:
    """Two switches joined with each other instead of one, non-blocking; ``fits`` up to the ports of one switch.

    DGX BasePOD: 32 links of four servers on two switches with 16 cables between them.
    """
    n = np.atleast_1d(np.asarray(end_points, dtype=np.int64))
    two = np.where(n > 0, PAIR, 0)
    return SwitchTree.of(n, two * ports, two, peers=-(-n // PAIR), fits=n <= ports)
