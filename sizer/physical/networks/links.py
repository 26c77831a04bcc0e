"""Every link of one design with the port at each of its ends.

Servers fill leaf after leaf from the lowest port, so that one server's ports lie side by side and a server more
moves nothing. Storage, head node and gateways are dealt out over the leaves, so that no leaf carries them all. A single
switch fills the ports last that would be its uplinks in a tree: a fabric that grows moves as few links as it can.
Uplinks of a leaf go round the spines.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Bools, Ints
from sizer.catalog.links import LinkType
from sizer.physical.networks.cables import ANY_CAGES, Cages
from sizer.physical.networks.fat_tree import leaf_split, pod_split
from sizer.physical.networks.members import Ends, NetworkMembers, Plane, Wiring
from sizer.physical.roles import NetworkPlane, Role

# Device number of what stands outside the plan: the customer's LAN.
OUTSIDE = -1


@dataclass(frozen=True)
class LinkGroup:
    """Links of one role. Arrays over links: device numbers and port numbers of both ends."""

    network: NetworkPlane
    role: Role
    kind: LinkType
    a_device: Ints  # the far end: server, storage, gateway, or the lower switch
    a_port: Ints
    b_device: Ints  # the switch
    b_port: Ints
    cages: Cages = ANY_CAGES  # connectors at both ends


@dataclass(frozen=True)
class NumberRange:
    """Devices of one role: numbers ``first`` to ``first + count - 1``."""

    first: int
    count: int


# Device and port number of one end -> those of the other: links that stand and stay where they can.
PresentLinks = Mapping[tuple[int, int], tuple[int, int]]
NOTHING: PresentLinks = {}


def connect(wiring: Wiring, classes: Mapping[Role, NumberRange], standing: PresentLinks = NOTHING) -> list[LinkGroup]:
    """Links of one row, network by network.

    Parameters
    ----------
    wiring : Wiring
        Of one row.
    classes : mapping of Role to NumberRange
        Role to device numbers. Switches of several planes follow one another plane by plane.
    standing : mapping, optional
        Links of a smaller design, far end to switch. An end keeps its switch port where the port is one for end
        points of the same network in this design too.
    """
    return [run for part in wiring.members for run in _network(part, classes, standing) if run.a_device.size]


def _network(part: NetworkMembers, classes: Mapping[Role, NumberRange], standing: PresentLinks) -> Iterator[LinkGroup]:
    next_free = [classes[role].first if role in classes else 0 for role in part.roles]
    for plane in part.planes:
        counts = [int(count[0]) for count in (plane.tree.leaves, plane.tree.spines, plane.tree.cores)]
        leaves, spines, cores = (
            np.arange(first, first + count) for first, count in zip(next_free, counts, strict=True)
        )
        next_free = [first + count for first, count in zip(next_free, counts, strict=True)]
        yield from _plane(part, plane, leaves, spines, cores, classes, standing)


def _plane(
    part: NetworkMembers,
    plane: Plane,
    leaves: Ints,
    spines: Ints,
    cores: Ints,
    classes: Mapping[Role, NumberRange],
    standing: PresentLinks,
) -> Iterator[LinkGroup]:
    def attach(ends: tuple[Ends, ...], switches: Ints, numbers: Ints, down: int) -> Iterator[LinkGroup]:
        return _attach(plane.key, ends, _Free(switches, numbers, down), classes, standing, part.leaf_cage)

    if leaves.size:
        is_tree = spines.size > 0
        numbers = part.leaf_numbers[: part.leaf_down] if is_tree else part.leaf_numbers
        yield from attach(plane.ends, leaves, numbers, part.leaf_down)
        if is_tree:
            yield from _uplinks(part, plane, leaves, spines, cores)
    elif spines.size:
        yield from attach(plane.ends, spines, part.spine_numbers, part.spine_numbers.size)
    if plane.spine_ends:
        yield from attach(plane.spine_ends, spines, part.spine_numbers, part.spine_numbers.size)


class _Free:
    """Ports of switches that take end points, and which of them are free."""

    def __init__(self, switches: Ints, numbers: Ints, down: int) -> None:
        self.switches, self.numbers = switches, numbers
        self.free: Bools = np.ones((switches.size, numbers.size), dtype=np.bool_)
        self._dealt = np.zeros(switches.size, dtype=np.int64)
        # From the last port for end points down; ports that would be uplinks in a tree come last.
        places = np.arange(numbers.size)
        self._order = np.concatenate([places[:down][::-1], places[down:]])

    def take(self, device: int, port: int) -> bool:
        """Take one port, given by numbers; False where it is none of these, or taken."""
        switch, place = device - int(self.switches[0]), np.flatnonzero(self.numbers == port)
        if not 0 <= switch < self.switches.size or not place.size or not self.free[switch, place[0]]:
            return False
        self.free[switch, place[0]] = False
        return True

    def deal(self, count: int) -> tuple[Ints, Ints]:
        """Ports on the switches in turn, the one with the fewest such links first."""
        switch, place = np.zeros((2, count), dtype=np.int64)
        full: Bools = np.asarray(~self.free.any(axis=1))
        for link in range(count):
            best = int(np.argmin(np.where(full, self._dealt.max() + 1, self._dealt)))
            row = self.free[best, self._order]
            switch[link], place[link] = best, self._order[int(np.argmax(row))]
            self.free[best, place[link]] = False
            self._dealt[best] += 1
            full[best] = not self.free[best].any()
        return self.switches[switch], self.numbers[place]

    def fill(self, count: int) -> tuple[Ints, Ints]:
        """Free ports switch after switch, from the lowest."""
        switch, place = (where[:count] for where in np.nonzero(self.free))
        self.free[switch, place] = False
        return self.switches[switch], self.numbers[place]


def _attach(
    network: NetworkPlane,
    ends: tuple[Ends, ...],
    free: _Free,
    classes: Mapping[Role, NumberRange],
    standing: PresentLinks,
    switch_cage: str,
) -> Iterator[LinkGroup]:
    """Links from devices to switches: standing ones first, then those that are dealt out, then the others."""
    kept = []
    for one in ends:
        device, number = _far_ends(one, classes)
        switch, port = np.full((2, device.size), -1, dtype=np.int64)
        if standing:
            for link, end in enumerate(zip(device.tolist(), number.tolist(), strict=True)):
                if end in standing and free.take(*standing[end]):
                    switch[link], port[link] = standing[end]
        kept.append((one, device, number, switch, port))
    for one, device, number, switch, port in sorted(kept, key=lambda one: not one[0].is_dealt):
        new = switch < 0
        place = free.deal if one.is_dealt else free.fill
        switch[new], port[new] = place(int(new.sum()))
        yield LinkGroup(network, one.role, one.kind, device, number, switch, port, (one.cage, switch_cage))


def _far_ends(ends: Ends, classes: Mapping[Role, NumberRange]) -> tuple[Ints, Ints]:
    """Device and port number of the far end of each link."""
    count = int(ends.quantity[0])
    links = np.arange(count)
    if ends.device is None:
        return np.full(count, OUTSIDE), links
    group = classes[ends.device]
    if count == group.count * ends.numbers.size:
        if ends.rail_servers:
            device, place = np.divmod(links, ends.numbers.size)
            order = np.lexsort((device, place, device // ends.rail_servers))
            return group.first + device[order], ends.numbers[place[order]]
        # Port after port of one device, so that they stay together on a switch.
        return group.first + links // ends.numbers.size, ends.numbers[links % ends.numbers.size]
    device, number = group.first + links % group.count, ends.numbers[links // group.count]
    order = np.argsort(device, kind="stable") if ends.is_by_device else links
    return device[order], number[order]


def _uplinks(part: NetworkMembers, plane: Plane, leaves: Ints, spines: Ints, cores: Ints) -> Iterator[LinkGroup]:
    """Links between switches. ``up`` uplinks of each leaf go round the spines, of each spine round its cores."""
    up = int(plane.tree.leaf_spine_cables[0]) // leaves.size
    own = part.uplink_numbers if part.uplink_numbers.size else part.leaf_numbers[part.leaf_down :]
    leaf, k = np.divmod(np.arange(leaves.size * up), max(up, 1))
    cages = part.uplink_cages
    links = (plane.key, part.uplink_role, part.uplink_kind)
    above = part.spine_numbers
    if part.joins_above:
        down, joint_up = leaf_split(above.size) if cores.size else (above.size, 0)
        spine, place = np.divmod(np.arange(leaf.size), down)
        yield LinkGroup(*links, leaves[leaf], own[k], spines[spine], above[place], cages)
        if cores.size:
            yield _level(links, spines, above[down:], joint_up, cores, above, (cages[1], cages[1]))
    elif not cores.size:
        yield _level(links, leaves, own, up, spines, above, cages)
    else:
        pod_leaves, pod_up = pod_split(above.size)
        pod, inside = np.divmod(leaf, pod_leaves)
        yield LinkGroup(*links, leaves[leaf], own[k], spines[pod * up + k], above[inside], cages)
        # Spine k of every pod shares the k-th group of cores.
        spine, j = np.divmod(np.arange(spines.size * pod_up), pod_up)
        pod, group = np.divmod(spine, up)
        per_group = cores.size // up
        core = group * per_group + j % per_group
        place = pod * (pod_up // per_group) + j // per_group
        ports = above[pod_leaves + j], part.leaf_numbers[place]
        yield LinkGroup(*links, spines[spine], ports[0], cores[core], ports[1], (cages[1], cages[1]))


def _level(
    links: tuple[NetworkPlane, Role, LinkType],
    lower: Ints,
    own: Ints,
    up: int,
    upper: Ints,
    above: Ints,
    cages: Cages,
) -> LinkGroup:
    """``up`` uplinks of each lower switch, spread evenly over the upper ones."""
    switch, k = np.divmod(np.arange(lower.size * up), up)
    each = up // upper.size
    return LinkGroup(
        *links, lower[switch], own[k], upper[k % upper.size], above[switch * each + k // upper.size], cages
    )
