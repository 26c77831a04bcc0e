"""Third level of a rail-optimised fabric: spines of one rail each, and the cores above them. Pure functions."""

from dataclasses import dataclass
from functools import lru_cache


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

    Parameters
    ----------
    leaves : int
        Leaves, unit after unit and in each rail after rail. [-]
    rails : int
        Leaves of a full unit. [-]
    up : int
        Uplinks of a leaf. [-]
    ports : int
        Ports of every switch. [-]

    Notes
    -----
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


@lru_cache(maxsize=1024)
def _divisors(n: int) -> tuple[int, ...]:
    return tuple(d for d in range(1, n + 1) if n % d == 0)
