"""One fabric on its own: so many servers or end points, one kind of switch."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sizer.base.arrays import Ints
from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.faults import limits_text, nearest
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Switch
from sizer.physical.networks.fat_tree import SwitchTree, fat_tree, leaf_split, uplinked_leaves
from sizer.physical.networks.leaf_pairs import PAIR, STORAGE_OVERSUBSCRIPTION, connected_pair, in_band_tree, leaf_pairs
from sizer.physical.networks.ports import switch_numbers
from sizer.physical.networks.rails import RailRule
from sizer.physical.platforms import MAX_LEAF_PORTS, choose_switch, leaf_ports

# Bounds that no fabric reaches; a larger number is a slip.
MAX_END_POINTS = 10_000_000
MAX_PORTS = 4_096

NetworkRule = Literal["compute", "storage", "in-band"]


@dataclass(frozen=True)
class FabricAsked:
    """What a fabric is asked to connect, and how. Fields as of ``sizer fabric``."""

    end_points: int | None = None  # ports to join, over all rails
    nodes: int | None = None  # instead: servers, each with ``links_per_node`` ports
    links_per_node: int = 8
    unit: int | None = None  # servers of a scalable unit; absent: as many as a leaf has ports down
    full_units: bool = False  # built for full units, the last one partly filled
    other_ports: int = 0  # further ports: subnet managers (UFM), management servers
    storage_ports: int = 0  # of storage devices, non-blocking
    storage_link_share: float = 1.0  # rate of a storage port over that of a switch port
    network: NetworkRule = "compute"
    ports: int | None = None  # of every switch; exactly one of ``ports`` and ``switch`` is given
    switch: str | None = None  # catalogue id
    oversubscription: float | None = None  # absent: 1, in a storage fabric 4:3
    rails: int = 1  # equal networks that are kept apart
    pair: bool = False  # two switches joined with each other where one would do
    links_per_cable: int = 1
    ports_per_module: int = 1  # of the cages of switches and servers


@dataclass(frozen=True)
class SingleFabric:
    """Switches and cables of a fabric; sums over its rails."""

    levels: int
    leaves: int
    spines: int
    cores: int
    switches: int
    end_point_cables: int
    leaf_spine_cables: int
    spine_core_cables: int
    peer_cables: int  # between the two leaves of a pair
    oversubscription: float  # down : up of a leaf; 1 for a single switch
    spare_ports: int
    switch_modules: int  # cages of switches in use; a cage is never shared by two modules
    node_modules: int  # cages of servers in use; 0 where no servers are stated


def single_fabric(asked: FabricAsked, catalog: Catalog | None = None) -> SingleFabric:
    """Design one fabric.

    ``asked``: with ``switch``: beyond one director the directors are the spines of switches of the same kind; leaves
    with faster uplinks of their own get spines of that kind. Raises RequestError if a value is out of range or the
    switch is unknown. Raises InfeasibleError if the end points exceed three levels of the switch.
    """
    _check_all(asked)
    networks = [_network(part, catalog) for part in _apart(asked)]
    trees = [tree for tree, _, _ in networks]
    total = trees[0]
    for tree in trees[1:]:
        total = total.plus(tree)
    if not total.fits.all():
        what = asked.switch or f"{asked.ports}-port switches"
        most = max(n for _, n, _ in networks)
        raise InfeasibleError(f"fabric: {most} end points in one network exceed the largest tree of {what}")
    leaves, spines, cores = int(total.leaves[0]), int(total.spines[0]), int(total.cores[0])
    end_points = sum(n for _, n, _ in networks)
    per_cable, per_module = asked.links_per_cable, asked.ports_per_module
    return SingleFabric(
        levels=max(int(tree.levels[0]) for tree, _, _ in networks),
        leaves=leaves,
        spines=spines,
        cores=cores,
        switches=leaves + spines + cores,
        end_point_cables=-(-end_points // per_cable),
        leaf_spine_cables=-(-int(total.leaf_spine_cables[0]) // per_cable),
        spine_core_cables=-(-int(total.spine_core_cables[0]) // per_cable),
        peer_cables=-(-int(np.max(total.peer_cables)) // per_cable),
        oversubscription=float(total.oversubscription[0]),
        spare_ports=int(total.ports_free[0]),
        switch_modules=sum(_modules(tree, loads, per_module) for tree, _, loads in networks),
        node_modules=(asked.nodes or 0) * -(-asked.links_per_node // per_module),
    )


def _check_all(asked: FabricAsked) -> None:
    if (asked.end_points is None) == (asked.nodes is None):
        raise RequestError("fabric: state either END_POINTS or --nodes")
    if (asked.ports is None) == (asked.switch is None):
        raise RequestError("fabric: give either --switch or --ports")
    if asked.end_points is not None:
        _check("END_POINTS", asked.end_points, 1, MAX_END_POINTS)
        _check("--rails", asked.rails, 1, asked.end_points)
    if asked.nodes is not None:
        _check("--nodes", asked.nodes, 1, MAX_END_POINTS)
        _check("--links-per-node", asked.links_per_node, 1, 1_000)
        _check("--rails", asked.rails, 1, asked.links_per_node)
        if asked.links_per_node % asked.rails:
            raise RequestError(
                f"fabric: --rails = {asked.rails} must divide --links-per-node = {asked.links_per_node} evenly"
            )
    if asked.ports is not None:
        _check("--ports", asked.ports, 2 if asked.network == "compute" else 14, MAX_PORTS)
    _check("--other-ports", asked.other_ports, 0, MAX_END_POINTS)
    _check("--storage-ports", asked.storage_ports, 0, MAX_END_POINTS)
    if asked.storage_ports and asked.network != "storage":
        raise RequestError("fabric: --storage-ports needs --network storage; use --other-ports in other networks")
    _check("--storage-link-share", asked.storage_link_share, 0.01, 1)
    if asked.oversubscription is not None:
        _check("--oversubscription", asked.oversubscription, 1, MAX_PORTS)
    _check("--links-per-cable", asked.links_per_cable, 1, 16)
    _check("--ports-per-module", asked.ports_per_module, 1, 16)


def _apart(asked: FabricAsked) -> list[FabricAsked]:
    """The request of each network that is kept apart; further ports join the first."""
    if asked.rails == 1:
        return [asked]
    if asked.nodes is not None:
        each = replace(asked, links_per_node=asked.links_per_node // asked.rails, rails=1)
        return [each, *[replace(each, other_ports=0)] * (asked.rails - 1)]
    assert asked.end_points is not None
    least, more = divmod(asked.end_points, asked.rails)
    counts = [least + 1] * more + [least] * (asked.rails - more)
    return [
        replace(asked, end_points=n, rails=1, other_ports=0 if number else asked.other_ports)
        for number, n in enumerate(counts)
    ]


def _network(asked: FabricAsked, catalog: Catalog | None) -> tuple[SwitchTree, int, Ints]:
    """Switches of one network, its end points, and the links on each leaf."""
    servers = asked.end_points if asked.nodes is None else asked.nodes * asked.links_per_node
    assert servers is not None
    total = servers + asked.other_ports + asked.storage_ports
    switch = None if asked.switch is None or catalog is None else _switch(asked.switch, catalog)
    ports = asked.ports or (_native_ports(switch) if switch is not None else 0)
    ratio = asked.oversubscription
    if asked.network == "in-band":
        tree = in_band_tree([total], ports)
    elif asked.network == "storage":
        share = STORAGE_OVERSUBSCRIPTION if ratio is None else ratio
        tree, _ = leaf_pairs(
            ports,
            [([servers], share, 1.0), ([asked.storage_ports], 1.0, 1 / asked.storage_link_share)],
            [asked.other_ports],
        )
    elif asked.pair and total <= ports:
        tree = connected_pair([total], ports)
    elif switch is not None and catalog is not None and asked.nodes is None:
        tree = _of_switch(np.array([total]), switch, ratio or 1.0, catalog)
    else:
        return _rails(asked, total, ports)
    each, more = divmod(total, int(tree.leaves[0]))
    return tree, total, each + (np.arange(tree.leaves[0]) < more)


def _rails(asked: FabricAsked, total: int, ports: int) -> tuple[SwitchTree, int, Ints]:
    """A compute fabric: rail-optimised where servers are stated."""
    ratio = asked.oversubscription or 1.0
    down = leaf_split(ports, ratio)[0]
    nodes = asked.nodes or 0
    if asked.unit is not None:
        _check("--unit", asked.unit, 1, down)
    rule = RailRule.of(asked.links_per_node, down, unit=asked.unit)
    room = -(-nodes // rule.unit_servers) * rule.unit_servers if asked.full_units else nodes
    free = (room - nodes) * asked.links_per_node
    tree = fat_tree([total + free], ports, ratio, rail_leaves=rule.leaves([room]), rails=rule.unit_leaves)
    tree = tree.with_free_ports(free)
    leaves = int(tree.leaves[0])
    if not nodes or leaves < 2 or not tree.fits.all():
        each = down if leaves > 1 else ports
        return tree, total, np.clip(total - each * np.arange(leaves), 0, each)
    loads = np.bincount(rule.places(nodes, room)[0], minlength=leaves)
    for _ in range(asked.other_ports):
        loads[int(np.argmin(loads))] += 1
    return tree, total, loads


def _modules(tree: SwitchTree, loads: Ints, each: int) -> int:
    def cages(ports: Ints | int) -> int:
        return int(np.sum(-(-np.asarray(ports) // each)))

    leaves, spines, cores = (int(count[0]) for count in (tree.leaves, tree.spines, tree.cores))
    up, above = int(tree.leaf_spine_cables[0]), int(tree.spine_core_cables[0])
    modules = cages(loads)
    if leaves:
        modules += leaves * cages(-(-up // leaves) + -(-PAIR * int(np.max(tree.peer_cables)) // leaves))
    if spines:
        modules += spines * cages(-(-(up + above) // spines))
    return modules + (cores * cages(-(-above // cores)) if cores else 0)


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise RequestError(f"fabric: {name} = {value:g} {limits_text(low, high, value)}")


def _switch(name: str, catalog: Catalog) -> Switch:
    known = {**catalog.switches, **catalog.gateways}
    if name not in known:
        raise RequestError(f"fabric: --switch {name!r} is not a switch of the catalogue{nearest(name, list(known))}")
    return known[name]


def _native_ports(switch: Switch) -> int:
    return switch_numbers(switch, _kind(switch), ("any", "back-end")).size


def _kind(switch: Switch) -> LinkType:
    group = max((p for p in switch.ports if p.use in ("any", "back-end")), key=lambda p: p.count)
    return group.kind


def _of_switch(each: Ints, switch: Switch, oversubscription: float, catalog: Catalog) -> SwitchTree:
    kind = _kind(switch)
    count = _native_ports(switch)
    uplinks = [p for p in switch.ports if p.use == "fabric" and p.kind != kind]
    if uplinks:
        spine = choose_switch(catalog.switches.values(), uplinks[0].kind)
        ratio = uplinks[0].kind.gbit_per_s.value / kind.gbit_per_s.value
        spine_ports = leaf_ports(spine, uplinks[0].kind) if spine is not None else 0
        return uplinked_leaves(each, count, uplinks[0].count, ratio, spine_ports, 0, oversubscription)
    leaf = choose_switch(catalog.switches.values(), kind) if count > MAX_LEAF_PORTS else None
    if leaf is None or (each <= count).all():
        return fat_tree(each, count, oversubscription)
    return fat_tree(each, leaf_ports(leaf, kind), oversubscription, director_ports=count)
