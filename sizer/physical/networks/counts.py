"""All networks of a platform, counted for all rows at once: switches, ports and links.

Every link has one end on a switch or gateway and one on a device or another switch.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.physical.components import Component
from sizer.physical.networks.cables import BETWEEN_RACKS_M, IN_RACK_M, Cages, cages_of, choose_cable, pieces_of
from sizer.physical.networks.compute_fabric import compute_fabric
from sizer.physical.networks.management import in_band, management
from sizer.physical.networks.members import (
    AS_USUAL,
    CableCount,
    NetworkMembers,
    Shape,
    SwitchCount,
    Wiring,
    shape,
)
from sizer.physical.networks.storage_networks import (
    back_end,
    front_end_bytes_per_s,
    gateway_bytes_per_s,
    gateway_front_end,
    own_front_end,
)
from sizer.physical.notes import PlanNote, PlanNoteKind, Violation, ViolationKind
from sizer.physical.platform import Platform
from sizer.physical.roles import Role
from sizer.workload.request import Fabric as FabricAsked

# The counts of in-band and 1 GbE switches depend on each other; they only grow, and settle after two or three rounds.
_MOST_ROUNDS = 12


def wiring(platform: Platform, rows: Shape, asked: FabricAsked = AS_USUAL, pdus: Ints | int = 0) -> Wiring:
    """Switches, ports and links of all networks.

    ``platform``: kinds of device. ``rows``: counts of servers, storage and head nodes. ``asked``: how the compute
    fabric is built. ``pdus``: rack PDUs with a port on the out-of-band network. [-]
    """
    return with_management(platform, rows, data_networks(platform, rows, asked), pdus)


def data_networks(platform: Platform, rows: Shape, asked: FabricAsked) -> list[NetworkMembers]:
    """The networks of gradients and files, which no rack PDU joins; arguments as of :func:`wiring`."""
    parts = [compute_fabric(platform, rows, asked)] if platform.fabric_switch is not None else []
    if platform.attachment == "gateway":
        parts.append(gateway_front_end(platform, rows))
    if platform.attachment == "own network":
        parts.append(own_front_end(platform, rows))
    if platform.back_end_switch is not None:
        parts.append(back_end(platform, platform.back_end_switch, rows))
    return parts


def with_management(platform: Platform, rows: Shape, data: Sequence[NetworkMembers], pdus: Ints | int = 0) -> Wiring:
    """All networks: those of :func:`data_networks` and the ones that manage them; arguments as of :func:`wiring`."""
    counts = [count for part in data for count in _switches(part)]
    above = _management(platform, rows, counts, pdus)
    parts = [*data, *above]
    return Wiring(
        members=tuple(parts),
        switches=(*counts, *(count for part in above for count in _switches(part))),
        links=tuple(link for part in parts for link in _links(part)),
        violations=_violations(platform, rows, parts),
        front_end_bytes_per_s=front_end_bytes_per_s(platform, rows),
        gateway_bytes_per_s=gateway_bytes_per_s(platform, rows),
    )


def _management(platform: Platform, rows: Shape, counts: list[SwitchCount], pdus: Ints | int) -> list[NetworkMembers]:
    """The 1 GbE network, and before it the in-band network where servers have ports for one."""
    if platform.in_band_switch is None:
        return [management(platform, rows, counts)]
    switches = np.zeros_like(rows.nodes)
    for _ in range(_MOST_ROUNDS):
        upper = in_band(platform, rows, switches)
        lower = management(platform, rows, [*counts, *_switches(upper)], pdus)
        if np.array_equal(lower.tree.leaves, switches):
            break
        switches = lower.tree.leaves
    return [upper, lower]


def fabric_share(platform: Platform, n_servers: Ints, storage_nodes: Ints, asked: FabricAsked) -> Floats:
    """Share of their line rate that all ports of the compute fabric have at once: 1, less where it is oversubscribed.

    The worst case: everything that a leaf's ports send goes to other leaves.
    """
    if platform.fabric_switch is None:
        return np.ones(n_servers.shape)
    rows = shape(platform, n_servers, storage_nodes, asked)
    return np.asarray(1 / compute_fabric(platform, rows, asked).network.oversubscription)


def _switches(part: NetworkMembers) -> list[SwitchCount]:
    tree = part.tree
    items = (part.leaf.id, part.spine.id, part.core.id)
    quantities = (tree.leaves, tree.spines, tree.cores)
    counts = map(SwitchCount, part.roles, items, quantities)
    return [count for count in counts if np.count_nonzero(count.quantity)]


def _links(part: NetworkMembers) -> Iterator[CableCount]:
    """Links by role, over all planes."""
    found: dict[Role, CableCount] = {}
    for plane in part.planes:
        for ends in (*plane.ends, *plane.spine_ends):
            other = found.get(ends.role)
            count = ends.quantity if other is None else ends.quantity + other.quantity
            cages = cages_of(ends.cage, part.leaf_cage)
            found[ends.role] = CableCount(ends.role, ends.kind, count, ends.stays_in_rack, cages)
    yield from found.values()
    tree = part.tree
    yield CableCount(
        part.uplink_role,
        part.uplink_kind,
        tree.leaf_spine_cables + tree.spine_core_cables + tree.peer_cables,
        part.uplinks_stay_in_rack,
        part.uplink_cages,
    )


def cable_lines(catalog: Catalog, links: Sequence[CableCount], racks: Ints) -> list[Component]:
    """Cables and modules of the links, at two planning lengths: within one rack and between racks."""
    components: list[Component] = []
    in_one_rack = racks <= 1
    n_inside = np.count_nonzero(in_one_rack)
    for link in links:
        if not np.count_nonzero(link.quantity):
            continue
        if link.stays_in_rack or n_inside == racks.size:
            choices = [(IN_RACK_M, link.quantity)]
        elif n_inside == 0:
            choices = [(BETWEEN_RACKS_M, link.quantity)]
        else:
            inside = np.where(in_one_rack, link.quantity, 0)
            choices = [(IN_RACK_M, inside), (BETWEEN_RACKS_M, link.quantity - inside)]
        for length_m, quantity in choices:
            if not np.count_nonzero(quantity):
                continue
            items, notes = _cable(catalog, link.kind, length_m, link.cages)
            for item, pieces in items:
                components.append(Component(link.role, "cable and optic", item, pieces_of(quantity, pieces), notes))
    return components


@lru_cache(maxsize=4096)
def _cable(
    catalog: Catalog, kind: LinkType, length_m: float, cages: Cages
) -> tuple[tuple[tuple[str, Fraction], ...], tuple[PlanNote, ...]]:
    """Items of one link with the pieces of each, and what a bill notes."""
    choice = choose_cable(catalog.cables.values(), kind, length_m, cages)
    return choice.items, tuple(dict.fromkeys((PlanNote(PlanNoteKind.PLANNED_LENGTH, (length_m,)), *choice.part_notes)))


def _violations(platform: Platform, rows: Shape, parts: list[NetworkMembers]) -> dict[Violation, Bools]:
    found: dict[Violation, Bools] = {}
    for part in parts:
        fits = part.tree.fits
        if not fits.all():
            found[Violation(ViolationKind.TREE_TOO_LARGE, (part.network.role, part.leaf.name))] = ~fits
    if platform.fabric.is_infiniband and parts and parts[0].network.subnet_manager is None:
        violation = Violation(ViolationKind.NO_SUBNET_MANAGER, (platform.fabric.name,))
        found[violation] = rows.has_fabric
    return found
