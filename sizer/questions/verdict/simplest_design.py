"""The simplest design that is enough for a request, and the choices of the request that exclude a simpler one."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import InfeasibleError, RequestError
from sizer.bom.cost import component_amounts
from sizer.bom.unit_prices import UnitPrices
from sizer.calibrate.calibration import Calibration
from sizer.catalog.model import Catalog
from sizer.catalog.sale import is_sold
from sizer.catalog.schema import Device, Gpu
from sizer.physical.allowed_parts import narrowed_to
from sizer.physical.components import Component, DesignParts, Quantities, bought_of
from sizer.physical.platform import Platform
from sizer.questions.alternatives.analysis import Neighbour
from sizer.sizing.best_design import best_design
from sizer.sizing.design.decisions import delivers_as_much
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.recommend import search
from sizer.sizing.result import DesignAnswer
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.ranking import MOST_TIED, unasked_changes
from sizer.workload.eras import EquipmentBasis, eras_asked
from sizer.workload.request import Platforms, SizingRequest

# From the simplest kind of storage to the least simple one (hitachi-dl-2019, storage classes): drives in the server,
# a file server, a NAS of several nodes, a clustered file system. Both kinds of NAS of one node are file servers.
STORAGE_ORDER = ("local", "nfs-server", "scale-out-nas", "parallel-file-system")
# What is racked, powered and operated; cables, PDUs and adapters come with it.
_DEVICES = ("compute", "head node", "storage", "network")
# What is simpler to run is no larger: at most as many servers as the described design, and at most half as many GPUs,
# watts and rack units again. One server with 16 GPUs in place of two with eight draws a third more; ten in place of
# nine, 2.5 times as much.
MOST_OF_DESCRIBED = 1.5
# Of the expected cost of the described design: what choices cost beyond twice the price is told.
FAR_CHEAPER = 0.5
# Of the devices of a design of the same kind: a box less in a rack is no other design.
FEWER_DEVICES = 0.75
# What a room may have more than its limits say: a design that takes so much more is worth a question.
_WIDER = 1.1
# Limit of the room -> what a design takes of it.
_ROOM: dict[str, Callable[[Quantities], float]] = {
    "power_w": lambda counts: float(counts.power_max_w[0]),
    "rack_units": lambda counts: float(counts.rack_units[0]),
    "racks": lambda counts: float(counts.n_racks),
}
# Keys of the request that exclude platforms.
CHOICES = (
    "platforms.servers",
    "platforms.forbidden_servers",
    "platforms.gpus",
    "platforms.storage",
    "platforms.forbidden_storage",
    "platforms.fabrics",
    "platforms.storage_tier",
)


class Simplicity(NamedTuple):
    """How simple a design is: the smaller the simpler; earlier fields take precedence."""

    servers_beyond_one: bool  # a cluster needs a fabric, a head node and code for several servers
    storage: int  # place in STORAGE_ORDER
    network_kinds: int  # kinds of links of the switched networks
    devices: int  # servers, storage nodes or chassis, switches, gateways, head nodes

    def is_below(self, other: "Simplicity") -> bool:
        """Whether a design is simpler: of one kind with another where it is clearly fewer devices."""
        if self[:-1] != other[:-1]:
            return self < other
        return self.devices <= FEWER_DEVICES * other.devices


@dataclass(frozen=True)
class RatedDesign:
    """A design with the request that leads to it and its simplicity."""

    request: SizingRequest
    design: DesignAnswer
    simplicity: Simplicity


@dataclass(frozen=True)
class SimplestDesign:
    """The simplest design that is enough.

    ``unrestricted`` is a simpler one that only choices of the request exclude, or else what it would get without them
    and in a room a little larger, where that is cheaper; None where they exclude neither. ``excluding_choices`` are
    the keys of these choices and limits.
    """

    described: Simplicity
    allowed: RatedDesign
    unrestricted: RatedDesign | None
    excluding_choices: tuple[str, ...]

    @property
    def is_simpler_without_choices(self) -> bool:
        """Whether the unrestricted design is simpler; else it is cheaper alone."""
        return self.unrestricted is not None and self.unrestricted.simplicity.is_below(self.allowed.simplicity)

    @property
    def is_described(self) -> bool:
        """Whether nothing that the request allows is simpler than the described design."""
        return not self.allowed.simplicity.is_below(self.described)


def simplest_design(evaluated: EvaluatedDesign) -> SimplestDesign:
    """Simplest design that meets every target and limit of a request.

    The order is that of :class:`Simplicity`: one server before several; drives in the server, then a file server, a
    NAS of several nodes, a clustered file system; fewer kinds of networks; fewer devices. Ties fall to the design that
    needs fewer choices of the request lifted, then to rack units and watts. A design with more servers than the
    described one, with more of them to buy, with more devices, a lower rate of GPUs asked for by number, other software
    or water that the described one does without, or more than :data:`MOST_OF_DESCRIBED` times its GPUs, watts or rack
    units, or one that is expected to cost clearly more, is not simpler, whatever its storage.
    The whole design space is searched and the design found is sized again. Storage whose rate no source
    gives counts as enough only where the servers' memory holds the data, or where there is nothing else. With a team
    the servers and GPUs of the request stay: simulating its waits for every server of the catalogue would take too
    long.
    """
    result, catalog, calibration = evaluated.result, evaluated.catalog, evaluated.calibration
    request, design = result.request, result.design
    described = RatedDesign(request, design, _simplicity(design, catalog))
    simplest = _simplest(request, request, described, catalog, calibration)
    allowed = simplest if simplest is not None and simplest.simplicity.is_below(described.simplicity) else described
    free = wider = request
    if not design.bill.is_customer_copy:  # a customer reads of no design with parts that the request excludes
        free = _without_choices(request, design.platform.gpu, catalog)
        wider = _in_a_larger_room(free)
    unrestricted = None if free == request else _simplest(free, request, described, catalog, calibration)
    if unrestricted is None or not unrestricted.simplicity.is_below(allowed.simplicity):
        # Who asks for the capacity tier means to save: what costs no more without it is worth a word.
        share = 1.0 if request.platforms.storage_tier == "capacity" else FAR_CHEAPER
        unrestricted = None if wider == request else _cheaper(wider, share, design, catalog, calibration)
    excluding: tuple[str, ...] = ()
    if unrestricted is not None:
        choices = _excluding_choices(request.platforms, unrestricted.design.platform)
        excluding = (*choices, *room_taken(request, unrestricted.design))
    # One that nothing excludes is the described one, or as good.
    return SimplestDesign(described.simplicity, allowed, unrestricted if excluding else None, excluding)


def simpler_neighbours(simplest: SimplestDesign) -> tuple[Neighbour, ...]:
    """Simpler designs than the described one, as its neighbours; empty where it is the simplest."""
    simpler: list[Neighbour] = []
    if not simplest.is_described:
        simpler.append(Neighbour("simplest", simplest.allowed.request, simplest.allowed.design))
    if simplest.unrestricted is not None:
        simpler.append(Neighbour("simplest of all", simplest.unrestricted.request, simplest.unrestricted.design))
    return tuple(simpler)


def _simplicity(design: DesignAnswer, catalog: Catalog) -> Simplicity:
    parts, storage = DesignParts.of(design.quantities), STORAGE_ORDER.index(design.platform.storage.kind)
    devices = _devices(parts.components, catalog)
    return Simplicity(design.n_servers > 1, storage, int(parts.link_kinds[0]), int(devices[0]))


def _devices(parts: Sequence[Component], catalog: Catalog) -> Ints:
    """(designs,) servers, storage nodes or chassis, switches, gateways and head nodes."""
    quantities = [
        part.quantity
        for part in parts
        if part.category in _DEVICES and part.status != "optional" and isinstance(catalog.item(part.item), Device)
    ]
    return np.asarray(np.sum([np.zeros(parts[0].quantity.shape, dtype=np.int64), *quantities], axis=0, dtype=np.int64))


def _without_choices(request: SizingRequest, gpu: Gpu, catalog: Catalog) -> SizingRequest:
    """The request with everything of its eras allowed that is sold; who asks for GPUs by number means these GPUs."""
    unchanged: dict[str, object] = {
        "gpus_per_server": request.platforms.gpus_per_server,
        "generations": request.platforms.generations,
    }
    asked_eras = eras_asked(catalog, request)
    if asked_eras.basis is EquipmentBasis.NAMED and not request.platforms.generations:
        # Who asks for what is no longer sold may have it arranged otherwise.
        sold = {one.generation for one in catalog.gpus.values() if is_sold(catalog, one, request.date)} | {
            gpu.generation
        }
        of_eras = [generation for generation in catalog.generations.values() if generation.era in asked_eras.eras]
        unchanged["generations"] = tuple(one.id for one in of_eras if request.date is None or one.id in sold)
    if any(work.target.gpus_busy is not None for work in request.workload):
        unchanged["gpus"] = request.platforms.gpus or (gpu.id,)
    elif request.existing.servers:
        unchanged["gpus"] = request.platforms.gpus  # which the servers that are there have
    if request.team is not None:
        asked = request.platforms
        unchanged |= {"servers": asked.servers, "forbidden_servers": asked.forbidden_servers, "gpus": asked.gpus}
    return request.model_copy(update={"platforms": Platforms().model_copy(update=unchanged)})


def _simplest(
    request: SizingRequest,
    original: SizingRequest,
    described: RatedDesign,
    catalog: Catalog,
    calibration: Calibration,
) -> RatedDesign | None:
    """Simplest design of a request, sized again; None where it has none. ``original``: the request as stated."""
    try:
        counts = search(request, catalog, calibration, most=described.design.n_servers)
    except InfeasibleError:
        return None
    row = _simplest_row(counts, original.platforms, described.design)
    if row is None:
        return None
    evaluated = counts.evaluated
    narrow = narrowed_to(request, evaluated.platforms[int(evaluated.space.platform[row])])
    try:
        design = best_design(narrow, catalog, calibration).design
    except (InfeasibleError, RequestError):  # a limit that the row meets by less than rounding
        return None
    if not _is_no_larger(design, described.design, counts.unit_prices):
        return None
    return RatedDesign(narrow, design, _simplicity(design, catalog))


def _cheaper(
    free: SizingRequest, share: float, described: DesignAnswer, catalog: Catalog, calibration: Calibration
) -> RatedDesign | None:
    """What a request gets without its choices, where it is expected to cost less than a share of the described."""
    try:
        design = best_design(free, catalog, calibration).design
    except (InfeasibleError, RequestError):
        return None
    if design.cost is None or described.cost is None or not delivers_as_much(design, described):
        return None
    if not design.cost.expected < share * described.cost.expected:
        return None
    return RatedDesign(narrowed_to(free, design.platform), design, _simplicity(design, catalog))


def _is_no_larger(design: DesignAnswer, described: DesignAnswer, prices: UnitPrices) -> bool:
    """Whether a design has no more servers or devices, hardly more GPUs, watts and rack units, and costs about as much.

    Prices are those without the quote: a customer's copy has its discount in the described design alone.
    """
    pairs = [
        (float(design.n_gpus), float(described.n_gpus)),
        (float(design.quantities.power_max_w[0]), float(described.quantities.power_max_w[0])),
        (float(design.quantities.rack_units[0]), float(described.quantities.rack_units[0])),
    ]
    # Fewer kinds of parts are no simpler where they are many more boxes.
    here, there = (_devices(one.quantities.components, prices.catalog)[0] for one in (design, described))
    if here > there or not delivers_as_much(design, described):
        return False
    within = all(mine <= MOST_OF_DESCRIBED * other for mine, other in pairs)
    cost, most = (_expected_cost(one.quantities.components, one.platform, prices)[0] for one in (design, described))
    return within and design.n_servers <= described.n_servers and not cost > MOST_TIED * most


def _expected_cost(parts: Sequence[Component], platform: Platform, prices: UnitPrices) -> Floats:
    """(designs,) cost of what is bought, bands at their middle where there is no price."""
    return np.asarray(component_amounts(bought_of(parts), platform, prices)[0].sum(axis=0))


def _simplest_row(counts: PartCounts, choices: Platforms, described: DesignAnswer) -> int | None:
    """Row of the simplest design of a space; platforms are counted class by class until one has a design."""
    evaluated = counts.evaluated
    is_left = _no_larger(counts, described)
    is_known = is_left & ~counts.conditional.reshape(is_left.shape)
    runs, is_cluster = np.flatnonzero(is_left.any(axis=1)).tolist(), evaluated.space.sizes > 1
    for is_allowed in (is_known, is_left):
        for of_class in (is_allowed & ~is_cluster, is_allowed & is_cluster):
            for kind in STORAGE_ORDER:
                group = [index for index in runs if evaluated.platforms[index].storage.kind == kind]
                ranks = [
                    _best_rank(
                        counts, index, np.flatnonzero(of_class[index]), choices, described, is_allowed is is_left
                    )
                    for index in group
                    if of_class[index].any()
                ]
                keys = [rank for rank in ranks if rank is not None]
                if keys:
                    return int(min(keys)[-1])
    return None


def _no_larger(counts: PartCounts, described: DesignAnswer) -> Bools:
    """(platforms, sizes) designs that may be simpler by what their servers and storage take and cost alone."""
    evaluated, sizes, there = counts.evaluated, counts.evaluated.space.sizes, counts.request.existing
    changes = sum(unasked_changes(counts, described.platform))
    is_usual = [sum(unasked_changes(counts, platform)) <= changes for platform in evaluated.platforms]
    # Servers to buy are not simpler than servers that are there.
    bought = max(described.n_servers - described.platform.servers_there(there.servers), 0)
    most_sizes = [bought + platform.servers_there(there.servers) for platform in evaluated.platforms]
    is_left = counts.candidates & np.array(is_usual)[:, None] & (sizes <= np.array(most_sizes)[:, None])
    is_left &= (sizes <= described.n_servers) & (
        sizes * evaluated.gpus_per_server[:, None] <= MOST_OF_DESCRIBED * described.n_gpus
    )
    if described.platform.storage.id in there.storage_nodes:  # nor is storage to buy
        is_left &= ~counts.leaves_storage_idle
    most_w, most_u, cost = _most(counts, described)
    is_left &= (counts.at_least["watts"] <= most_w) & (counts.at_least["units"] <= most_u)
    return np.asarray(is_left & ~(counts.expected_main_cost > cost))


def _most(counts: PartCounts, described: DesignAnswer) -> tuple[float, float, float]:
    """Watts, rack units and expected cost that a simpler design has at most."""
    parts = described.quantities
    cost = _expected_cost(parts.components, described.platform, counts.unit_prices)[0]
    watts, units = float(parts.power_max_w[0]), float(parts.rack_units[0])
    return MOST_OF_DESCRIBED * watts, MOST_OF_DESCRIBED * units, MOST_TIED * float(cost)


def _best_rank(
    counts: PartCounts,
    index: int,
    sizes: Ints,
    choices: Platforms,
    described: DesignAnswer,
    allows_unknown_rate: bool,
) -> tuple[float, ...] | None:
    """Simplest of some designs of a platform, by the places of their sizes: what it is ordered by, its row last."""
    evaluated, prices = counts.evaluated, counts.unit_prices
    platform = evaluated.platforms[index]
    most_w, most_u, most = _most(counts, described)
    rows = counts.keeping_limits(index, sizes)
    rows = rows[(counts.power_w[rows] <= most_w) & (counts.rack_units[rows] <= most_u)]
    if not allows_unknown_rate:
        rows = rows[~counts.conditional[rows]]
    if not rows.size:
        return None
    costs = counts.expected_cost[rows]
    if prices.currency != counts.request.currency:  # counted of exact prices alone
        costs = _expected_cost(counts.parts(*rows.tolist()).components, platform, prices)
    rows = rows[~(costs > most)]
    if not rows.size:
        return None
    parts = counts.parts(*rows.tolist())
    keys = zip(
        parts.link_kinds.tolist(),
        _devices(parts.components, counts.catalog).tolist(),
        [len(_excluding_choices(choices, platform))] * rows.size,
        parts.rack_units.tolist(),
        parts.power_max_w.tolist(),
        [float(evaluated.exchange_bytes_per_s[index])] * rows.size,
        counts.raw_bytes[rows].tolist(),
        rows.tolist(),
        strict=True,
    )
    return min(keys)


def _in_a_larger_room(request: SizingRequest) -> SizingRequest:
    """The request with a little more power and space than its limits allow."""
    limits = request.limits
    asked = {key: most for key in _ROOM if (most := getattr(limits, key)) is not None}
    wider = {key: _WIDER * most if key == "power_w" else math.ceil(_WIDER * most) for key, most in asked.items()}
    return request.model_copy(update={"limits": limits.model_copy(update=wider)})


def room_taken(request: SizingRequest, design: DesignAnswer) -> dict[str, tuple[float, float]]:
    """Limit of the room that a design breaks -> what the request allows of it, and what the design takes."""
    taken = {key: (getattr(request.limits, key), amount(design.quantities)) for key, amount in _ROOM.items()}
    return {f"limits.{key}": (most, value) for key, (most, value) in taken.items() if most is not None and value > most}


def rows_of_known_rate(counts: PartCounts, index: int) -> Ints:
    """Feasible rows of a platform, without those that depend on a value that no source gives."""
    rows = counts.feasible_of(index)
    return rows[~counts.conditional[rows]]


def _excluding_choices(asked: Platforms, platform: Platform) -> tuple[str, ...]:
    """Choices of a request that exclude a platform."""
    allowed = (
        not asked.servers or platform.server.id in asked.servers,
        platform.server.id not in asked.forbidden_servers,
        not asked.gpus or platform.gpu.id in asked.gpus,
        not asked.storage or platform.storage.id in asked.storage,
        platform.storage.id not in asked.forbidden_storage,
        not asked.fabrics or platform.fabric.id in asked.fabrics,
        asked.storage_tier in (None, platform.storage.tier),
    )
    return tuple(name for name, is_allowed in zip(CHOICES, allowed, strict=True) if not is_allowed)
