"""Rail-optimised leaves: within a scalable unit, port n of every server joins the same leaf. Pure array functions."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Ints


@dataclass(frozen=True)
class RailCores:
    """Spines and cores above the leaves of all rails, so that the ways of a rail part at the top level only."""

    rails: int  # leaves of a full unit, one group of spines each
    zones: int  # groups of spines of a rail that has more leaves than a spine has ports down
    zone_leaves: int  # leaves below a group, the fullest one
    spines: int  # of a group
    core_groups: int  # spines of one place in their group share a group of cores
    cores_each: int  # cores of such a group

    @property
    def groups(self) -> int:
        """Groups of spines."""
        return self.rails * self.zones

    def spine_links(self, up: int) -> int:
        """Links of a spine to its leaves, and as many to its cores."""
        return self.zone_leaves * (up // self.spines)


@lru_cache(maxsize=4096)
def rail_cores(leaves: int, rails: int, up: int, ports: int) -> RailCores | None:
    """Spines and cores of a three-level, rail-optimised fabric; None where the cores have too few ports.

    ``leaves``: leaves, unit after unit and in each rail after rail. ``rails``: leaves of a full unit. ``up``: uplinks
    of a leaf. ``ports``: ports of every switch.

    The leaves of one rail, of all units, share a group of spines ("rail-optimised to the top layer" [1]_), or several
    where they are more than half of a spine's ports. A group has the fewest spines that divide the uplinks of a leaf
    evenly and hold those of all its leaves; a spine has as many links up as down. Spines of the same place in their
    groups share cores, with links to each of them: the split with the fewest cores, and of these with the most groups.

    By hand: 7 units of 20 servers on 40-port switches are 56 leaves, 7 of a rail with 140 uplinks; a spine takes 20,
    and 7 spines do not divide 20 uplinks: 10 with 14 links down and up. Their 8 x 10 x 14 = 1,120 links fill 28 cores.

    References
    ----------
    .. [1] NVIDIA DGX SuperPOD reference architecture, DGX H100, RA-11333-001 V11, 2023, tables 3, 4 ("nv-ra-h100").

    Examples
    --------
    >>> found = rail_cores(56, 8, 20, 40)
    >>> found.groups * found.spines, found.core_groups * found.cores_each
    (80, 28)
    """
    most_down = ports // 2
    of_rail = -(-leaves // rails)
    zones = -(-of_rail // most_down)
    zone_leaves = -(-of_rail // zones)
    groups = rails * zones
    enough = -(-zone_leaves * up // most_down)
    spines = next((n for n in _divisors(up) if n >= min(max(enough, 2), up)), up)
    links = zone_leaves * (up // spines)
    best: RailCores | None = None
    for core_groups in reversed(_divisors(spines)):
        needed = -(-groups * (spines // core_groups) * links // ports)
        cores = next((n for n in _divisors(links) if n >= min(max(needed, 2), links)), None)
        if cores is None or groups * (spines // core_groups) * (links // cores) > ports:
            continue
        if best is None or core_groups * cores < best.core_groups * best.cores_each:
            best = RailCores(rails, zones, zone_leaves, spines, core_groups, cores)
    return best


def _divisors(n: int) -> tuple[int, ...]:
    return tuple(d for d in range(1, n + 1) if n % d == 0)


@dataclass(frozen=True)
class RailRule:
    """How the servers of a network share its leaves."""

    links: int  # of each server: one for each rail
    leaf_down: int  # ports of a leaf for end points
    unit_servers: int  # of a full scalable unit, ``leaf_down`` at most
    most_on_leaf: int  # links of one server that may share a leaf
    trays: int = 1  # servers that arrive together as one device, each with ``links`` of its own

    @classmethod
    def of(
        cls,
        links: int,
        leaf_down: int,
        *,
        unit: int | None = None,
        most_on_leaf: int | None = None,
        trays: int = 1,
    ) -> "RailRule":
        """The rule of a network; by default a unit is as large as a leaf allows, and a leaf may take all rails."""
        most = links if most_on_leaf is None else max(min(most_on_leaf, links), 1)
        return cls(links, leaf_down, min(unit or leaf_down, leaf_down), most, trays)

    def on_leaf(self, servers: ArrayLike) -> Ints:
        """Rails that share a leaf in a unit of so many servers; 1 where one rail fills more than half of it."""
        count = np.maximum(np.asarray(servers, dtype=np.int64), 1)
        return np.asarray(np.clip(self.leaf_down // count, 1, self.most_on_leaf))

    def leaves(self, servers: ArrayLike) -> Ints:
        """Leaves that the rails of all units take.

        ``servers`` (...): servers of the network, or racks that arrive with ``trays`` of them.

        A full unit of U servers on leaves of D ports down gives each leaf ``max(1, D // U)`` rails; the last, partly
        filled unit likewise with the servers it has. DGX SuperPOD [1]_: 8 rails, D = U = 32, eight leaves a unit.

        References
        ----------
        .. [1] NVIDIA DGX SuperPOD reference architecture, DGX H100, RA-11333-001 V11, 2023, table 4 ("nv-ra-h100").

        Examples
        --------
        >>> RailRule.of(8, 32).leaves([16, 31, 64, 127])
        array([ 4,  8, 16, 32])
        """
        units, rest = np.divmod(np.asarray(servers, dtype=np.int64) * self.trays, self.unit_servers)
        full = self.unit_leaves
        partial = np.where(rest > 0, -(-self.links // self.on_leaf(rest)), 0)
        return np.asarray(units * full + partial)

    @property
    def unit_leaves(self) -> int:
        """Leaves of a full unit."""
        return -(-self.links // int(self.on_leaf(self.unit_servers)))

    def worst_on_leaf(self, servers: ArrayLike) -> Ints:
        """Most links of one server that end on one leaf."""
        units, rest = np.divmod(np.asarray(servers, dtype=np.int64) * self.trays, self.unit_servers)
        full = np.where(units > 0, self.on_leaf(self.unit_servers), 0)
        return np.asarray(np.maximum(full, np.where(rest > 0, self.on_leaf(rest), 0)))

    def places(self, servers: int, room: int, most_ports: int | None = None) -> tuple[Ints, Ints]:
        """Leaf and place on it of every link, server after server.

        ``servers``: servers that are there. [-] ``room``: servers that the network is built for. [-] ``most_ports``:
        ports of a leaf for end points, where cables to its peer leave it fewer than ``leaf_down``. [-]
        """
        ports = self.leaf_down if most_ports is None else min(self.leaf_down, most_ports)
        server, rail = np.divmod(np.arange(servers * self.trays * self.links), self.links)
        unit, inside = np.divmod(server, self.unit_servers)
        last = room * self.trays // self.unit_servers
        rest = room * self.trays - last * self.unit_servers
        on_leaf = np.where(unit < last, self.on_leaf(self.unit_servers), self.on_leaf(max(rest, 1)))
        first = unit * self.unit_leaves
        # Each rail of a leaf has the same share of its ports, so that a server more moves nothing.
        return first + rail // on_leaf, (rail % on_leaf) * (ports // on_leaf) + inside
