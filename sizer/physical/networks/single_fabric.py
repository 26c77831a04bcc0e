"""One fabric on its own: so many end points, one kind of switch."""

from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Ints
from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.faults import limits_text, nearest
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Switch
from sizer.physical.networks.fat_tree import SwitchTree, fat_tree, uplinked_leaves
from sizer.physical.networks.ports import switch_numbers
from sizer.physical.platforms import MAX_LEAF_PORTS, choose_switch, leaf_ports

# Bounds that no fabric reaches; a larger number is a slip.
MAX_END_POINTS = 10_000_000
MAX_PORTS = 4_096


@dataclass(frozen=True)
class SingleFabric:
    """Switches and cables of a fabric; sums over its rails."""

    levels: int
    leaves: int
    spines: int
    cores: int
    end_point_cables: int
    leaf_spine_cables: int
    spine_core_cables: int
    oversubscription: float  # down : up of a leaf; 1 for a single switch
    spare_ports: int


def single_fabric(
    end_points: int,
    *,
    ports: int | None = None,
    switch: str | None = None,
    oversubscription: float = 1.0,
    rails: int = 1,
    catalog: Catalog | None = None,
) -> SingleFabric:
    """Design one fabric.

    Parameters
    ----------
    end_points : int
        Ports to join, over all rails. [-]
    ports : int, optional
        Ports of every switch. Exactly one of ``ports`` and ``switch`` is given. [-]
    switch : str, optional
        Catalogue id. Beyond one director the directors are the spines of switches of the same kind; leaves with
        faster uplinks of their own get spines of that kind.
    oversubscription : float, default 1
        Largest ratio of ports down to ports up of a leaf that is accepted. [-]
    rails : int, default 1
        Equal fabrics that are kept apart; the end points are dealt out over them. [-]
    catalog : Catalog, optional
        Needed for ``switch``.

    Raises
    ------
    RequestError
        If a value is out of range or the switch is unknown.
    InfeasibleError
        If the end points exceed three levels of the switch.
    """
    _check("END_POINTS", end_points, 1, MAX_END_POINTS)
    _check("--rails", rails, 1, end_points)
    _check("--oversubscription", oversubscription, 1, MAX_PORTS)
    each = np.array([end_points // rails, -(-end_points // rails)])
    if switch is not None and catalog is not None and ports is None:
        tree = _of_switch(each, _switch(switch, catalog), oversubscription, catalog)
        what = switch
    elif ports is not None and switch is None:
        _check("--ports", ports, 2, MAX_PORTS)
        tree, what = fat_tree(each, ports, oversubscription), f"{ports}-port switches"
    else:
        raise RequestError("fabric: give either --switch or --ports")
    if not tree.fits.all():
        raise InfeasibleError(f"fabric: {each[1]} end points in one network exceed the largest tree of {what}")
    # So many rails have one end point more.
    larger = end_points % rails
    counts = {
        name: int(values[0]) * (rails - larger) + int(values[1]) * larger
        for name, values in vars(tree).items()
        if name not in ("levels", "oversubscription", "fits")
    }
    return SingleFabric(
        levels=int(tree.levels.max()),
        leaves=counts["leaves"],
        spines=counts["spines"],
        cores=counts["cores"],
        end_point_cables=end_points,
        leaf_spine_cables=counts["leaf_spine_cables"],
        spine_core_cables=counts["spine_core_cables"],
        oversubscription=float(tree.oversubscription.max()),
        spare_ports=counts["ports_free"],
    )


def _check(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise RequestError(f"fabric: {name} = {value:g} {limits_text(low, high, value)}")


def _switch(name: str, catalog: Catalog) -> Switch:
    known = {**catalog.switches, **catalog.gateways}
    if name not in known:
        raise RequestError(f"fabric: --switch {name!r} is not a switch of the catalogue{nearest(name, list(known))}")
    return known[name]


def _kind(switch: Switch) -> LinkType:
    group = max((p for p in switch.ports if p.use in ("any", "back-end")), key=lambda p: p.count)
    return group.kind


def _of_switch(each: Ints, switch: Switch, oversubscription: float, catalog: Catalog) -> SwitchTree:
    kind = _kind(switch)
    count = switch_numbers(switch, kind, ("any", "back-end")).size
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
