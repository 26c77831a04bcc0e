"""Every link of one design with the port at each of its ends.

Servers fill the leaves from the lowest port, so that a server more moves nothing: those with one port leaf after leaf,
those with several group after group, so that no leaf has all ports of a server where the others have room. Storage,
head node and gateways are dealt out over the leaves, so that no leaf carries them all. A single switch fills the ports
last that would be its uplinks in a tree: a fabric that grows moves as few links as it can.
Uplinks of a leaf go round the spines.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Bools, Ints
from sizer.catalog.links import LinkType
from sizer.physical.networks.cables import ANY_CAGES, Cages, cages_of
from sizer.physical.networks.fat_tree import leaf_split, pod_split
from sizer.physical.networks.leaf_pairs import IN_BAND_LAN_UPLINKS, PAIR, in_band_zone
from sizer.physical.networks.members import Ends, NetworkMembers, Plane, Wiring
from sizer.physical.networks.rails import RailCores, rail_cores
from sizer.physical.roles import NetworkPlane, Role


class FreePorts:
    """Ports of switches that take end points, and which of them are free.

    ``switches`` (switches,): device numbers, one after the other. ``numbers`` (places,): numbers of the ports of each
    that may take an end point. ``down``: so many of them are end points in a tree. ``last``: of each switch: so many of
    its last places are taken by links between switches.
    """

    def __init__(self, switches: Ints, numbers: Ints, down: int, last: Ints | None = None) -> None:
        self.switches, self.numbers = switches, numbers
        self.free: Bools = np.ones((switches.size, numbers.size), dtype=np.bool_)
        if last is not None:
            self.free = np.asarray(np.arange(numbers.size) < (numbers.size - last)[:, None])
        # Ports for end points of the switch that has the fewest.
        self.fewest = int(self.free.sum(axis=1).min(initial=numbers.size))
        self._dealt = np.zeros(switches.size, dtype=np.int64)
        # From the last port for end points down; ports that would be uplinks in a tree come last.
        places = np.arange(numbers.size)
        self._order: list[int] = np.concatenate([places[:down][::-1], places[down:]]).tolist()
        # The other port of a twin-port cage; -1 where it takes no end point.
        place_of = {number: index for index, number in enumerate(numbers.tolist())}
        self._partner = [place_of.get(number ^ 1, -1) for number in numbers.tolist()]
        self._kinds: dict[tuple[int, int], str] = {}  # dealt ports -> kind of their link

    def take(self, device: int, port: int) -> bool:
        """Take one port, given by numbers; False where it is none of these, or taken."""
        switch, position = device - int(self.switches[0]), np.flatnonzero(self.numbers == port)
        if not 0 <= switch < self.switches.size or not position.size or not self.free[switch, position[0]]:
            return False
        self.free[switch, position[0]] = False
        return True

    def deal(self, count: int, kind: str) -> tuple[Ints, Ints]:
        """Ports on the switches in turn, the one with the fewest such links first.

        Links of another kind begin in a cage of their own while there is one: a cage takes one module or one plug.
        """
        switch, position = np.zeros((2, count), dtype=np.int64)
        full: Bools = np.asarray(~self.free.any(axis=1))
        for link in range(count):
            best = int(np.argmin(np.where(full, self._dealt.max() + 1, self._dealt)))
            switch[link], position[link] = best, self._place(best, kind)
            self.free[best, position[link]] = False
            self._kinds[best, int(position[link])] = kind
            self._dealt[best] += 1
            full[best] = not self.free[best].any()
        return self.switches[switch], self.numbers[position]

    def _place(self, switch: int, kind: str) -> int:
        """Free place of a switch in a cage with a link of this kind, or else in a free cage, or else any."""
        free: list[bool] = self.free[switch].tolist()
        places = [position for position in self._order if free[position]]
        same = (position for position in places if self._kinds.get((switch, self._partner[position])) == kind)
        alone = (position for position in places if self._partner[position] < 0 or free[self._partner[position]])
        return next(same, next(alone, places[0]))

    def fill(self, count: int) -> tuple[Ints, Ints]:
        """Free ports switch after switch, from the lowest."""
        switch, position = (where[:count] for where in np.nonzero(self.free))
        self.free[switch, position] = False
        return self.switches[switch], self.numbers[position]

    def spread(self, device: Ints, each: int) -> tuple[Ints, Ints]:
        """The lowest free ports of leaves that differ for the ports of one device, as far as there are any.

        ``device`` (links,): device of each link; links of one device follow one another. ``each``: ports of a device.
        Devices fill so many leaves together before the next ones, the last group has those left over, so that one
        switch joins the same ports of devices that stand close to each other.
        """
        numbers = np.arange(self.switches.size)
        group = np.minimum(numbers // each, max(self.switches.size // each, 1) - 1)
        n_free = self.free.sum(axis=1)
        own, last = np.zeros_like(n_free), -1
        switch, position = np.zeros((2, device.size), dtype=np.int64)
        for link, name in enumerate(device.tolist()):
            if name != last:
                own[:], last = 0, name
            order = np.lexsort((numbers, -n_free, group, own, n_free == 0))
            best = int(order[0])
            switch[link], position[link] = best, int(np.argmax(self.free[best]))
            self.free[best, position[link]] = False
            n_free[best] -= 1
            own[best] += 1
        return self.switches[switch], self.numbers[position]

    def at(self, switch: Ints, place: Ints) -> tuple[Ints, Ints]:
        """Given places of given switches, all different; where one is taken, any free port."""
        inside = (switch < self.switches.size) & (place < self.numbers.size)
        good = inside.copy()
        good[inside] = self.free[switch[inside], place[inside]]
        return self._taken(switch, place, good)

    def on(self, switch: Ints) -> tuple[Ints, Ints]:
        """The lowest free ports of given switches; where one has none left, any free port."""
        order = np.argsort(switch, kind="stable")
        ordered = switch[order]
        rank = np.zeros(switch.size, dtype=np.int64)
        rank[order] = np.arange(switch.size) - np.searchsorted(ordered, ordered, side="left")
        lowest = np.argsort(~self.free, axis=1, kind="stable")
        good = rank < self.free.sum(axis=1)[switch]
        position = lowest[switch, np.minimum(rank, self.numbers.size - 1)]
        return self._taken(switch, position, good)

    def _taken(self, switch: Ints, place: Ints, good: Bools) -> tuple[Ints, Ints]:
        self.free[switch[good], place[good]] = False
        device, port = np.zeros((2, switch.size), dtype=np.int64)
        device[good], port[good] = self.switches[switch[good]], self.numbers[place[good]]
        device[~good], port[~good] = self.fill(int((~good).sum()))
        return device, port


# Device number of what stands outside the plan: the customer's LAN.
OUTSIDE = -1
# Device number of a rack PDU, which takes no rack unit; its port number counts the PDUs of the design.
ZERO_U = -2


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

    ``wiring``: of one row. ``classes``: role to device numbers. Switches of several planes follow one another plane by
    plane. ``standing``: links of a smaller design, far end to switch. An end keeps its switch port where the port is
    one for end points of the same network in this design too.
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
        return _attach(plane, ends, FreePorts(switches, numbers, down), classes, standing, part.leaf_cage)

    if leaves.size and plane.has_reserved_ports:
        up, peers = _reserved(plane, leaves.size)
        free = FreePorts(leaves, part.leaf_numbers, part.leaf_numbers.size, up + peers)
        yield from _attach(plane, plane.ends, free, classes, standing, part.leaf_cage)
        yield from _reserved_links(part, plane, (up, peers), leaves, spines, cores)
    elif leaves.size:
        is_tree = spines.size > 0
        numbers = part.leaf_numbers[: part.leaf_down] if is_tree else part.leaf_numbers
        yield from attach(plane.ends, leaves, numbers, part.leaf_down)
        if is_tree:
            yield from _uplinks(part, plane, leaves, spines, cores)
    elif spines.size:
        yield from attach(plane.ends, spines, part.spine_numbers, part.spine_numbers.size)
    if plane.spine_ends:
        yield from attach(plane.spine_ends, spines, part.spine_numbers, part.spine_numbers.size)


def _attach(
    plane: Plane,
    ends: tuple[Ends, ...],
    free: FreePorts,
    classes: Mapping[Role, NumberRange],
    standing: PresentLinks,
    switch_cage: str,
) -> Iterator[LinkGroup]:
    """Links from devices to switches: standing ones first, then rails and pairs, those dealt out, and the others."""
    attached = []
    for one in ends:
        device, number = _far_ends(one, classes)
        switch, port = np.full((2, device.size), -1, dtype=np.int64)
        if standing:
            for link, end in enumerate(zip(device.tolist(), number.tolist(), strict=True)):
                if end in standing and free.take(*standing[end]):
                    switch[link], port[link] = standing[end]
        attached.append((one, device, number, switch, port))
    for one, device, number, switch, port in sorted(attached, key=lambda one: _turn(one[0])):
        new = switch < 0
        switch[new], port[new] = _ports(plane, one, free, np.flatnonzero(new), device[new], classes)
        cages = cages_of(one.cage, switch_cage)
        yield LinkGroup(plane.key, one.role, one.kind, device, number, switch, port, cages)


def _turn(ends: Ends) -> int:
    return 0 if ends.rails is not None or ends.is_paired else 1 if ends.is_dealt else 2


def _ports(
    plane: Plane, ends: Ends, free: FreePorts, links: Ints, device: Ints, classes: Mapping[Role, NumberRange]
) -> tuple[Ints, Ints]:
    """Switch ports of some links of one class, given by their places in it and their devices."""
    n_leaves = free.switches.size
    if n_leaves > 1 and ends.rails is not None and ends.device is not None:
        room = int(np.max(ends.room))
        leaf, position = ends.rails.places(classes[ends.device].count, room, free.fewest)
        return free.at(leaf[links], position[links])
    if n_leaves > 1 and ends.is_paired:
        first, count = 0, n_leaves
        if ends.group is not None and plane.groups[ends.group].leaves[0]:
            sizes = [int(group.leaves[0]) for group in plane.groups]
            first, count = sum(sizes[: ends.group]), sizes[ends.group]
        n_devices = -(-int(ends.quantity[0]) // max(ends.numbers.size, 1))
        pair = links // max(ends.numbers.size, 1) * (count // PAIR) // max(n_devices, 1)
        # One after the other, so that servers with a single port spread over both leaves.
        return free.on(first + PAIR * pair + links % PAIR)
    if n_leaves > 1 and ends.is_spread:
        return free.spread(device, ends.numbers.size)
    return free.deal(links.size, ends.kind.id) if ends.is_dealt else free.fill(links.size)


def _far_ends(ends: Ends, classes: Mapping[Role, NumberRange]) -> tuple[Ints, Ints]:
    """Device and port number of the far end of each link."""
    count = int(ends.quantity[0])
    links = np.arange(count)
    if ends.device is None:
        return np.full(count, OUTSIDE), links
    if ends.device is Role.RACK_PDU:
        return np.full(count, ZERO_U), links
    group = classes[ends.device]
    if count == group.count * ends.numbers.size:
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
        spine, position = np.divmod(np.arange(leaf.size), down)
        yield LinkGroup(*links, leaves[leaf], own[k], spines[spine], above[position], cages)
        if cores.size:
            yield _level(links, spines, above[down:], joint_up, cores, above, cages_of(cages[1], cages[1]))
    elif not cores.size:
        yield _level(links, leaves, own, up, spines, above, cages)
    elif (rails := _rails_of(plane)) and (found := rail_cores(leaves.size, rails, up, above.size)) is not None:
        yield from _rail_links(part, links, found, (leaves, spines, cores), up)
    else:
        pod_leaves, pod_up = pod_split(above.size)
        pod, inside = np.divmod(leaf, pod_leaves)
        yield LinkGroup(*links, leaves[leaf], own[k], spines[pod * up + k], above[inside], cages)
        # Spine k of every pod shares the k-th group of cores.
        spine, j = np.divmod(np.arange(spines.size * pod_up), pod_up)
        pod, group = np.divmod(spine, up)
        per_group = cores.size // up
        core = group * per_group + j % per_group
        position = pod * (pod_up // per_group) + j // per_group
        ports = above[pod_leaves + j], part.leaf_numbers[position]
        yield LinkGroup(*links, spines[spine], ports[0], cores[core], ports[1], cages_of(cages[1], cages[1]))


def _rails_of(plane: Plane) -> int:
    """Leaves of a full unit of a rail-optimised fabric; 0 of others."""
    return next((end.rails.unit_leaves for end in plane.ends if end.rails is not None), 0)


def _rail_links(
    part: NetworkMembers,
    links: tuple[NetworkPlane, Role, LinkType],
    found: RailCores,
    switches: tuple[Ints, Ints, Ints],
    up: int,
) -> Iterator[LinkGroup]:
    """Links between switches where the leaves of a rail share groups of spines."""
    (leaves, spines, cores), cages, above = switches, part.uplink_cages, part.spine_numbers
    own = part.leaf_numbers[part.leaf_down :]
    leaf, k = np.divmod(np.arange(leaves.size * up), up)
    unit, rail = np.divmod(leaf, found.rails)
    zone, inside = np.divmod(unit, found.zone_leaves)
    group = rail * found.zones + zone
    spine = group * found.spines + k % found.spines
    position = inside * (up // found.spines) + k // found.spines
    yield LinkGroup(*links, leaves[leaf], own[k], spines[spine], above[position], cages)
    each = found.spine_links(up)
    spine, j = np.divmod(np.arange(spines.size * each), each)
    group, inside = np.divmod(spine, found.spines)
    core_group, turn = inside % found.core_groups, inside // found.core_groups
    core = core_group * found.cores_each + j % found.cores_each
    turn = group * (found.spines // found.core_groups) + turn
    position = turn * (each // found.cores_each) + j // found.cores_each
    ports = above[above.size // 2 + j], part.leaf_numbers[position]
    yield LinkGroup(*links, spines[spine], ports[0], cores[core], ports[1], cages_of(cages[1], cages[1]))


def _reserved(plane: Plane, n_leaves: int) -> tuple[Ints, Ints]:
    """Uplinks of each leaf, and its cables to the other leaf of its pair."""
    tree = plane.tree
    peers = np.full(n_leaves, PAIR * int(np.max(tree.peer_cables)) // n_leaves)
    if plane.groups and plane.groups[0].leaves[0]:
        up = np.concatenate([np.full(int(group.leaves[0]), int(group.up[0])) for group in plane.groups])
        return up, peers
    return np.full(n_leaves, int(tree.leaf_spine_cables[0]) // n_leaves), peers


def _reserved_links(
    part: NetworkMembers, plane: Plane, reserved: tuple[Ints, Ints], leaves: Ints, spines: Ints, cores: Ints
) -> Iterator[LinkGroup]:
    """Links between switches that use the last ports of each leaf: uplinks below, cables to the peer above them."""
    (up, peers), own, above = reserved, part.leaf_numbers, part.spine_numbers
    links, cages = (plane.key, part.uplink_role, part.uplink_kind), part.uplink_cages
    if peers.any():
        n = int(peers[0])
        pair, k = np.divmod(np.arange(leaves.size // PAIR * n), n)
        position = own[own.size - n + k]
        yield LinkGroup(
            *links, leaves[PAIR * pair], position, leaves[PAIR * pair + 1], position, cages_of(cages[0], cages[0])
        )
    if not spines.size:
        return
    leaf = np.repeat(np.arange(leaves.size), up)
    k = np.arange(leaf.size) - np.repeat(np.cumsum(up) - up, up)
    zone = np.zeros(leaf.size, dtype=np.int64)
    near = spines.size
    if cores.size:
        near = int(up[0])
        zone = leaf // in_band_zone(above.size)
    each = up // near
    before = np.cumsum(each) - each
    first = before[np.minimum(zone * in_band_zone(above.size), leaves.size - 1)] if cores.size else 0
    position = before[leaf] - first + k // near
    yield LinkGroup(
        *links,
        leaves[leaf],
        own[(own.size - peers - up)[leaf] + k],
        spines[zone * near + k % near],
        above[position],
        cages,
    )
    if cores.size:
        spine, core = np.divmod(np.arange(spines.size * cores.size), cores.size)
        ports = above[above.size - IN_BAND_LAN_UPLINKS // PAIR - 1 - core]
        yield LinkGroup(*links, spines[spine], ports, cores[core], above[spine], cages_of(cages[1], cages[1]))


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
