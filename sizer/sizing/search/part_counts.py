"""What the designs of the space are made of: counted platform by platform, and only when somebody asks."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial, reduce

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.streams import pause_point
from sizer.bom.cost import item_prices
from sizer.bom.lines import cost_of
from sizer.bom.ownership import OwnershipRates, rates_of, row_totals
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import SMALL, UnitPrices, unit_prices
from sizer.catalog.model import Catalog
from sizer.physical.capacity import counts_nodes, nodes_per_unit, nodes_there
from sizer.physical.components import DesignParts, Quantities
from sizer.physical.platform import Platform
from sizer.physical.quantities import (
    NOTHING_EXISTING,
    PartTable,
    has_main,
    most_gpus,
    purchase,
    quantities,
    slice_row,
)
from sizer.physical.racks.placement import SLACK, RackClass, device_needs, rack_limits
from sizer.physical.racks.power import device_power
from sizer.physical.racks.site_rules import most_kg_on_floor
from sizer.physical.roles import Role
from sizer.sizing.checks import COMPUTE_LIMITS, AnyLimit, Limit
from sizer.sizing.result import design_name
from sizer.sizing.search.feasibility import EvaluatedSpace
from sizer.sizing.search.main_items import MainItems, check_budget, main_items_cost, ranking_prices
from sizer.sizing.stages.own_networks import is_slower_than_usual
from sizer.workload.eras import most_nodes_of_kind, most_of_kind
from sizer.workload.request import Fabric, Limits, SizingRequest

# Rack units, kilograms and watts: what every device takes of a rack.
_OF_RACK = 3


def least_room(evaluated: EvaluatedSpace, request: SizingRequest) -> dict[str, Floats]:
    """(platforms, sizes) rack units, watts and new racks of servers and storage alone."""
    table = _needs(evaluated.compiled)
    (server_u, storage_u, per_unit, is_delivered), (server, storage, holds) = table[:4], table[5:].reshape(3, 3, -1, 1)
    servers, chassis = evaluated.space.sizes, evaluated.class_nodes[evaluated.class_of] // per_unit
    units, watts = server_u * servers + storage_u * chassis, server[2] * servers + storage[2] * chassis
    if request.limits.rack_power_w is not None:
        holds = np.stack([*holds[:-1], np.full_like(holds[-1], request.limits.rack_power_w)])
    racks = request.existing.racks
    facts = [(rack.free_u, np.inf if rack.load_kg is None else rack.load_kg, rack.power_w) for rack in racks]
    there = np.array(facts, dtype=float).reshape(-1, _OF_RACK, 1, 1)
    # What is stored in racks of its own adds to those of the servers, and these hold whole servers.
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(server > 0, np.floor((holds + SLACK) / server), np.inf).min(axis=0)
        placed = np.where(server > 0, np.floor((there + SLACK) / server), np.inf).min(axis=1).sum(axis=0)
        # A device that exceeds a rack is counted with a rack of its own; such a design cannot be built.
        of_server, of_storage = (np.minimum(one / (holds + SLACK), 1.0) for one in (server, storage))
    # One after the other: stacked, the three would take a gigabyte where a space is large.
    each_full = zip(of_server, of_storage, (there / (holds + SLACK)).sum(axis=0), strict=True)
    full = reduce(np.maximum, (one * servers + other * chassis - less for one, other, less in each_full))
    new = np.ceil(np.maximum((servers - placed) / np.maximum(each, 1.0), np.maximum(full, 0.0)) - SLACK)
    return {"units": units, "watts": watts, "racks": np.where(is_delivered, servers, new)}


def _needs(platforms: tuple[Platform, ...]) -> Floats:
    """Facts of platforms, shape (14, platforms, 1)."""
    return np.array([_needs_of(platform) for platform in platforms], dtype=float).T[..., None]


@lru_cache(maxsize=16384)
def _needs_of(platform: Platform) -> tuple[float, ...]:
    """Rack units of a server and of a unit of storage, nodes of a unit, whether the server brings its rack and whether
    nobody knows what it draws; what both take of a rack, and what it holds.

    With more kinds of device a rack loses height to further PDUs, so that it never holds more.
    """
    server, storage, rules = platform.server, platform.storage_server or platform.storage, platform.site
    needs, of_storage = (device_needs(one, platform.pdu, rules.feeds) for one in (server, storage))
    alone = (RackClass(Role.GPU_SERVER, server.id, np.ones(1, dtype=np.int64), needs),)
    load_kg = most_kg_on_floor(rules, platform.rack)
    holds = rack_limits(platform.rack, platform.pdu, None, alone, (), rules.feeds, load_kg).holds
    # Heights step by halves, and a device takes whole units of a rack.
    heights = (0.0 if one.height_u is None else one.height_u.value for one in (server, storage))
    facts = nodes_per_unit(platform.storage), server.delivered is not None, not device_power(server).is_known
    return *heights, *facts, *needs[:_OF_RACK], *of_storage[:_OF_RACK], *holds[:_OF_RACK]


_COSTS = ("cost", "expected_cost", "likely_cost", "ranking_cost")


@lru_cache(maxsize=2048)
def _part_table(platform: Platform, catalog: Catalog, rack_power_w: float | None, fabric: Fabric) -> PartTable:
    """Table of a platform where no equipment is there: the designs of a batch end at the same few platforms."""
    limits = Limits(rack_power_w=rack_power_w)
    count = partial(quantities, platform, catalog=catalog, limits=limits, fabric=fabric)
    return PartTable(count, nodes_per_unit(platform.storage) if counts_nodes(platform.storage) else 0)


@dataclass(frozen=True)
class PartCounts:
    """Parts of the designs of a space. Arrays over its rows hold NaN until their design is counted."""

    request: SizingRequest
    evaluated: EvaluatedSpace
    catalog: Catalog
    prices: PriceBook
    unknowns_allowed: int = 0  # facts that no source gives, on which a search for the most or the least may rest
    rack_units: Floats = field(init=False)
    racks: Floats = field(init=False)
    power_w: Floats = field(init=False)
    raw_bytes: Floats = field(init=False)
    cost: Floats = field(init=False)  # sum of the priced lines
    expected_cost: Floats = field(init=False)  # bands at their middle where there is no price
    likely_cost: Floats = field(init=False)  # at most, with the confidence of the request
    ranking_cost: Floats = field(init=False)  # that, or the cost of ownership; this ranks designs
    is_priced: Bools = field(init=False)  # every item that is bought has a price
    purchase: Floats = field(init=False)  # (5, rows) of :func:`purchase` where servers or storage are there
    # Facts that no source gives and that have to be good enough for a design to meet the request: before a design is
    # counted those of its stages, afterwards its watts, too. Designs with fewer of them come first.
    unknowns: Ints = field(init=False)
    # Designs whose cost of ownership has an energy that nobody knows; they rank behind those of known energy.
    energy_is_open: Bools = field(init=False)
    has_parts: Bools = field(init=False)
    # What can be built, the room and the budget -> designs that keep it, where they are counted.
    part_passes: dict[AnyLimit, Bools] = field(init=False, default_factory=dict)
    _designs: dict[int, Quantities] = field(init=False, default_factory=dict)
    _tables: dict[int, PartTable] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        n_sizes, n_rows = len(self.evaluated.space.sizes), self.evaluated.space.n_rows
        object.__setattr__(self, "unknowns", self.evaluated.unknowns + np.repeat(self._draw_of_main_is_open, n_sizes))
        for name in ("is_priced", "energy_is_open", "has_parts"):
            object.__setattr__(self, name, np.zeros(n_rows, dtype=bool))
        for name in ("rack_units", "racks", "power_w", "raw_bytes", *_COSTS):
            object.__setattr__(self, name, np.full(n_rows, np.nan))
        n_keys = 5 if has_main(self.request.existing) else 0
        object.__setattr__(self, "purchase", np.full((n_keys, n_rows), np.nan))

    def count(self, index: int, sizes: Ints) -> Ints:
        """Rows of some designs of one platform; those that nobody asked about are counted now.

        ``sizes`` (designs,): places of the designs among its sizes.
        """
        rows = self.evaluated.space.of_platform(index).start + sizes
        if not self.has_parts[rows].all():
            self._count(index, sizes[~self.has_parts[rows]])
        return np.asarray(rows)

    def keeping_limits(self, index: int, sizes: Ints) -> Ints:
        """Rows of those of some designs of one platform that keep every limit of their parts."""
        rows = self.count(index, sizes)
        return rows[np.all([kept[rows] for kept in self.part_passes.values()], axis=0)] if self.part_passes else rows

    def limits_at(self, rows: Ints) -> dict[AnyLimit, Bools]:
        """What can be built, the room and the budget, in this order -> whether counted designs keep it."""
        order = sorted(self.part_passes, key=lambda limit: isinstance(limit, Limit))
        return {limit: self.part_passes[limit][rows] for limit in order}

    def design(self, row: int) -> Quantities:
        """Everything that the design of one row is made of."""
        if row not in self._designs:
            index, size = divmod(row, len(self.evaluated.space.sizes))
            self._designs[row] = slice_row(self.quantities(index, np.array([size])), 0)
        return self._designs[row]

    def parts(self, *rows: int) -> DesignParts:
        """What the designs of some rows of one platform order and take of a room."""
        index, sizes = rows[0] // len(self.evaluated.space.sizes), np.array(rows) % len(self.evaluated.space.sizes)
        return self._table(index).designs(*self._sizes(index, sizes))

    def quantities(self, index: int, sizes: Ints) -> Quantities:
        """Everything that some designs of one platform are made of."""
        return self._counting(index)(*self._sizes(index, sizes))

    def _counting(self, index: int) -> Callable[[Ints, Ints], Quantities]:
        platform, request = self.evaluated.platforms[index], self.request
        return partial(
            quantities,
            platform,
            catalog=self.catalog,
            limits=request.limits,
            existing=request.existing,
            fabric=request.fabric,
        )

    def _sizes(self, index: int, sizes: Ints) -> tuple[Ints, Ints]:
        """Servers and storage nodes."""
        evaluated = self.evaluated
        return evaluated.space.sizes[sizes], evaluated.class_nodes[evaluated.class_of[index], sizes]

    def _table(self, index: int) -> PartTable:
        request = self.request
        if request.existing == NOTHING_EXISTING:
            return _part_table(
                self.evaluated.compiled[index], self.catalog, request.limits.rack_power_w, request.fabric
            )
        return self._tables.setdefault(index, PartTable(self._counting(index)))

    def _count(self, index: int, sizes: Ints) -> None:
        """Write what designs of one platform take and cost into the arrays over all."""
        pause_point()
        request, platform = self.request, self.evaluated.platforms[index]
        rows = self.evaluated.space.of_platform(index).start + sizes
        parts = self._table(index).designs(*self._sizes(index, sizes))
        self.rack_units[rows], self.power_w[rows], self.racks[rows] = parts.rack_units, parts.power_max_w, parts.racks
        self.raw_bytes[rows] = np.where(np.isnan(parts.raw_bytes), 0.0, parts.raw_bytes)
        bought = [number for number, line in enumerate(parts.lines) if line.status == "computed"]
        items, pieces = tuple(parts.lines[place].item for place in bought), parts.pieces[bought]
        self.cost[rows], self.is_priced[rows] = cost_of(
            items, pieces, self.catalog, self.prices.fitted(platform), request.currency
        )
        middle, likely = item_prices(items, platform, self.unit_prices).amounts(pieces).sum(axis=1)
        is_ours = self.unit_prices.currency == request.currency
        self.expected_cost[rows] = middle if is_ours else self.cost[rows]
        # Two designs of the same parts cost the same to the cent, whatever the order of the sums.
        self.likely_cost[rows] = self.ranking_cost[rows] = np.round(likely, 2)
        rates = self.ownership_rates
        if rates is not None:
            owned = row_totals(parts, platform, self.unit_prices, rates)[1]
            self.ranking_cost[rows] = np.round(owned, 2)
        if self.purchase.size:
            self.purchase[:, rows] = purchase(platform, parts.components, request.existing, self.catalog)
        limits = request.limits
        is_limited = limits.power_w is not None or limits.rack_power_w is not None
        self.unknowns[rows] = self.evaluated.unknowns[rows] + (parts.draw_is_open & is_limited)
        self.energy_is_open[rows] = parts.draw_is_open & (rates is not None and rates.electricity_per_kwh is not None)
        passes = self.limits_of(parts, self.expected_cost[rows])
        if (most := self.request.limits.gpus) is not None:
            passes[Limit.GPUS] = self.evaluated.space.n_servers[rows] * self.evaluated.gpus_per_server[index] <= most
        for limit, keeps in passes.items():
            self.part_passes.setdefault(limit, np.ones(self.evaluated.space.n_rows, dtype=bool))[rows] = keeps
        self.has_parts[rows] = True

    @property
    def conditional(self) -> Bools:
        """(rows,) designs that meet the request only if a fact that no source gives is good enough."""
        return np.asarray(self.unknowns > 0)

    @cached_property
    def candidates(self) -> Bools:
        """(platforms, sizes) designs whose stages run and whose servers and storage alone keep room and budget.

        What else a design is made of only adds to these, so that no design outside keeps all limits. Servers of another
        make that extend those that are there are none where these are enough.
        """
        existing, evaluated = self.request.existing.servers, self.evaluated
        could = evaluated.runs & (self.certainly_broken == 0)
        if existing:
            owned = {platform.server.id for platform in evaluated.platforms}.intersection(existing)
            enough = [sum(existing[item] for item in owned.intersection(one.extends)) for one in evaluated.platforms]
            could &= evaluated.space.sizes > np.array(enough)[:, None]
        gpus = np.array([most_gpus(platform.storage, self.request.existing) for platform in evaluated.platforms])
        alone = np.array([platform.server.is_workstation for platform in evaluated.platforms])
        most = np.where(alone, 1.0, gpus / evaluated.gpus_per_server)
        return np.asarray(could & (evaluated.space.sizes <= most[:, None]))

    @cached_property
    def durations_are_open(self) -> Bools:
        """(platforms,) GPUs on which durations of a team's jobs without a GPU may well be longer."""
        team, gpus = self.request.team, [platform.gpu for platform in self.evaluated.platforms]
        is_held = team is not None and any(job.holds_anywhere for job in team.job)
        return np.array([is_held and is_slower_than_usual(gpu, self.catalog) for gpu in gpus], dtype=bool)

    @cached_property
    def leaves_storage_idle(self) -> Bools:
        """(platforms, sizes) designs with other storage than what is there, or more of it; none where nothing is.

        The drives of servers that are there are there, too.
        """
        evaluated, existing = self.evaluated, self.request.existing
        if not existing.storage_nodes:
            return np.zeros(evaluated.runs.shape, dtype=bool)
        there = existing.storage_nodes
        nodes = [
            nodes_there(platform.storage, there[platform.storage.id]) if platform.storage.id in there else -1
            for platform in evaluated.platforms
        ]
        drives = [
            existing.servers.get(one.server.id, 0) if one.storage.kind == "local" else 0 for one in evaluated.platforms
        ]
        is_more = evaluated.class_nodes[evaluated.class_of] > np.array(nodes)[:, None]
        return np.asarray(is_more & (evaluated.space.sizes > np.array(drives)[:, None]))

    @cached_property
    def buys_what_is_there(self) -> Ints:
        """(platforms, sizes) of GPU servers and storage how much a design buys although there is some: 0 to 2.

        Servers where the price decides: who asks for the fastest or the least power may want others.
        """
        existing, evaluated = self.request.existing, self.evaluated
        found = self.leaves_storage_idle.astype(np.int64)
        if self.request.rank_by in (None, "cost") and existing.servers:
            there = [platform.servers_there(existing.servers) for platform in evaluated.platforms]
            found += evaluated.space.sizes > np.array(there)[:, None]
        return found

    @cached_property
    def certainly_broken(self) -> Ints:
        """(platforms, sizes) limits of room, budget and sale that servers and storage alone break."""
        limits = self.request.limits
        pairs = ((limits.rack_units, "units"), (limits.power_w, "watts"), (limits.racks, "racks"))
        broken = np.zeros((self.evaluated.space.n_platforms, len(self.evaluated.space.sizes)), dtype=np.int64)
        for limit, name in pairs:
            if limit is not None:
                broken += self.at_least[name] > limit
        if limits.gpus is not None:
            broken += self.evaluated.space.sizes * self.evaluated.gpus_per_server[:, None] > limits.gpus
        if limits.budget is not None:
            broken += self.expected_main_cost > limits.budget
        return np.asarray(broken + self.cannot_be_bought)

    @cached_property
    def cannot_be_bought(self) -> Bools:
        """(platforms, sizes) designs with more servers or storage than is there, of a kind that is no longer sold."""
        evaluated, request = self.evaluated, self.request
        of_storage = {platform.storage.id: platform.storage for platform in evaluated.platforms}
        most_nodes = {name: most_nodes_of_kind(self.catalog, request, one) for name, one in of_storage.items()}
        of_server = {platform.server.id: platform.server for platform in evaluated.platforms}
        most_servers = {name: most_of_kind(self.catalog, request, one) for name, one in of_server.items()}
        most = [(most_nodes[platform.storage.id], most_servers[platform.server.id]) for platform in evaluated.platforms]
        nodes, servers = np.array(most, dtype=float).T[..., None]
        return np.asarray((evaluated.class_nodes[evaluated.class_of] > nodes) | (evaluated.space.sizes > servers))

    @cached_property
    def storage_is_assumed(self) -> Floats:
        """(platforms,) 1 for storage that no source describes."""
        found = [
            one.storage.media is not None and one.storage.media.basis == "assumed" for one in self.evaluated.platforms
        ]
        return np.array(found, dtype=float)

    @cached_property
    def at_least(self) -> dict[str, Floats]:
        """(platforms, sizes) rack units, watts and new racks of servers and storage alone."""
        return least_room(self.evaluated, self.request)

    def name_of(self, row: int) -> str:
        """Name of the design of a row, with the fabric that joins its servers or leads to its storage."""
        evaluated = self.evaluated
        platform, servers = evaluated.platforms[int(evaluated.space.platform[row])], int(evaluated.space.n_servers[row])
        name = design_name(platform, servers, int(evaluated.storage_nodes[row]))
        return f"{name} over {platform.fabric.name}" if servers > 1 or platform.storage.kind != "local" else name

    def feasible_of(self, index: int) -> Ints:
        """Rows of one platform that keep every limit."""
        return self.keeping_limits(index, np.flatnonzero(self.candidates[index]))

    @cached_property
    def _draw_of_main_is_open(self) -> Ints:
        """(platforms,) 1 where watts are asked for and nobody knows what a server draws."""
        platforms, limits = self.evaluated.compiled, self.request.limits
        if limits.power_w is None and limits.rack_power_w is None:
            return np.zeros(len(platforms), dtype=np.int64)
        return _needs(platforms)[4, :, 0].astype(np.int64)

    @cached_property
    def ownership_rates(self) -> OwnershipRates | None:
        """Rates of the cost that ranks designs; None where the request does not rank by the cost of ownership."""
        return rates_of(self.request) if self.request.rank_by == "ownership" else None

    @cached_property
    def unit_prices(self) -> UnitPrices:
        """Prices at the middle of the bands and at the confidence of the request.

        Raises RequestError if the request ranks by the cost of ownership, or has a budget, in a currency in which not
        every main item has a price.
        """
        check_budget(self.request, self.evaluated.platforms, self.prices)
        prices = ranking_prices(self.request, self.evaluated.platforms, self.catalog, self.prices)
        rates, currency = self.ownership_rates, self.request.currency
        is_money = rates is not None and (rates.electricity_per_kwh is not None or rates.has_space)
        if is_money and prices.currency != currency:
            raise RequestError(
                f"rank_by = 'ownership': energy and space are stated in {currency}, but not every allowed server and "
                f"storage system has a price in {currency}; add a price book in {currency}, or set "
                f"currency = '{prices.currency}' and state them in it"
            )
        return prices

    @cached_property
    def main_cost(self) -> MainItems:
        """What servers, storage and their support alone cost, at the amount that ranks designs."""
        return main_items_cost(self.request, self.evaluated, self.unit_prices, self.ownership_rates)

    @cached_property
    def likely_main_cost(self) -> Floats:
        """(platforms, sizes) what they cost to buy, at the confidence that a budget is kept with."""
        if self.ownership_rates is None:
            return self.main_cost.cost
        return main_items_cost(self.request, self.evaluated, self.unit_prices).cost

    @cached_property
    def expected_main_cost(self) -> Floats:
        """(platforms, sizes) what they cost in the middle of bands; 0 where these are amounts in another currency."""
        if self.unit_prices.currency != self.request.currency:
            return np.zeros(self.evaluated.runs.shape)
        prices = unit_prices(self.catalog, self.prices, self.request.currency, (0.5, 0.5), SMALL)
        return main_items_cost(self.request, self.evaluated, prices).cost

    def limits_of(self, found: DesignParts | Quantities, expected_cost: Floats) -> dict[AnyLimit, Bools]:
        """What can be built, the limits of the room and the budget -> counted designs that keep it."""
        limits = self.request.limits
        passes: dict[AnyLimit, Bools] = {limit: ~breaks for limit, breaks in found.violations.items()}
        for limit, bound, taken in (
            (Limit.RACKS, limits.racks, found.racks),
            (Limit.RACK_UNITS, limits.rack_units, found.rack_units),
            (Limit.POWER, limits.power_w, found.power_max_w),
        ):
            if bound is not None:
                passes[limit] = taken <= bound
        if limits.budget is not None:
            # What is likelier to break the budget than to keep it is excluded; the rest keeps it with a probability.
            passes[Limit.BUDGET] = ~(expected_cost > limits.budget)
        return passes

    def broken(self, row: int) -> list[AnyLimit]:
        """Limits that one design breaks, in the order in which they are looked at."""
        evaluated = self.evaluated
        index, size = divmod(row, len(evaluated.space.sizes))
        passes = {limit: kept[evaluated.class_of[index], size] for limit, kept in evaluated.class_passes.items()}
        passes[Limit.LARGER_PARTS] = np.bool_(index not in evaluated.twins)
        of_parts = self.limits_at(self.count(index, np.array([size])))
        return [limit for limit, is_kept in (passes | of_parts).items() if not is_kept]

    @cached_property
    def alive(self) -> tuple[int, ...]:
        """Platforms with a design whose stages run, but for the joint confidence; all but twins where there is none."""
        distinct = [index for index in range(self.evaluated.space.n_platforms) if index not in self.evaluated.twins]
        asked = (*COMPUTE_LIMITS, Limit.STORAGE_CAPACITY, Limit.STORAGE_RATE)
        could = np.logical_and.reduce([self.evaluated.class_passes[name] for name in asked]).any(axis=1)
        could = could[self.evaluated.class_of]
        return tuple(index for index in distinct if could[index]) or tuple(distinct)

    @cached_property
    def feasible(self) -> Bools:
        """(rows,) designs that keep every limit."""
        found = np.zeros(self.evaluated.space.n_rows, dtype=bool)
        for index in range(self.evaluated.space.n_platforms):
            found[self.feasible_of(index)] = True
        return found
