"""What the designs of the space are made of: counted platform by platform, and only when somebody asks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.identity_cache import cached_by_list
from sizer.base.interruption import pause_point
from sizer.bom.ownership import OwnershipRates, rates_of
from sizer.bom.ownership_interval import row_totals
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import UnitPrices
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.components import Quantities
from sizer.physical.existing_use import PurchaseColumns, has_main, purchase
from sizer.physical.platform import Platform
from sizer.physical.quantities import NO_LIMITS, NOTHING_EXISTING
from sizer.physical.racks.power import device_power
from sizer.sizing.limits import AnyLimit, Limit
from sizer.sizing.search.choice import nearest_row
from sizer.sizing.search.feasibility import EvaluatedSpace
from sizer.sizing.search.main_items import MainItems, main_items_cost, ranking_prices
from sizer.sizing.search.stored_counts import design_counts, priced_parts, priced_totals
from sizer.sizing.stages.evaluate import least_chance
from sizer.workload.request import SizingRequest

# Keeps the amounts of any budget apart, above every design that misses the target.
_PER_UNIT_OF_MONEY = 1e-13


@cached_by_list
def _heights_and_draws(platforms: Sequence[Platform]) -> tuple[Floats, Floats, Ints]:
    """Rack units and watts of a server and of a unit of storage, shape (2, platforms), and the nodes of a unit."""

    def of(devices: Sequence[Device]) -> Floats:
        heights = [0.0 if one.height_u is None else one.height_u.value for one in devices]
        return np.array([heights, [device_power(one).max_w for one in devices]])

    units = [platform.storage_server or platform.storage for platform in platforms]
    nodes = [nodes_per_unit(platform.storage) for platform in platforms]
    return of([platform.server for platform in platforms]), of(units), np.array(nodes)[:, None]


@cached_by_list
def _draws_are_open(platforms: Sequence[Platform]) -> Ints:
    """(platforms,) 1 where nobody knows what a server draws."""
    return np.array([not device_power(platform.server).is_known for platform in platforms], dtype=np.int64)


@dataclass(frozen=True)
class PlatformParts:
    """All sizes of one platform. Arrays over the sizes."""

    quantities: Quantities
    cost: Floats  # sum of the priced lines
    least_cost: Floats  # bands at their low ends where there is no price
    likely_cost: Floats  # at most, with the confidence of the request; bands where there is no price
    ranking_cost: Floats  # that, or the cost of ownership where the request ranks by it
    unpriced: frozenset[str]  # items without a price
    limits: dict[AnyLimit, Bools]  # what can be built, the room, the budget -> designs that keep it
    power_is_open: Bools  # a limit of watts is asked for, and a device draws nobody knows how much
    energy_is_open: Bools  # energy is part of the ranking, and a device draws nobody knows how much
    purchase: PurchaseColumns | None  # what is bought and what stays idle; None where no servers or storage are there


@dataclass(frozen=True)
class PartCounts:
    """Parts of the designs of a space. Arrays over its rows hold NaN until their platform is counted."""

    request: SizingRequest
    evaluated: EvaluatedSpace
    catalog: Catalog
    prices: PriceBook
    by_platform: dict[int, PlatformParts] = field(default_factory=dict)  # platform -> its rows
    rack_units: Floats = field(init=False)
    racks: Floats = field(init=False)
    power_w: Floats = field(init=False)
    raw_bytes: Floats = field(init=False)
    cost: Floats = field(init=False)  # sum of the priced lines
    likely_cost: Floats = field(init=False)  # at most, with the confidence of the request
    ranking_cost: Floats = field(init=False)  # that, or the cost of ownership; this ranks designs
    # Facts that no source gives and that have to be good enough for a design to meet the request: before a platform is
    # counted those of its stages, afterwards its watts, too. Designs with fewer of them come first.
    unknowns: Ints = field(init=False)
    # Designs whose cost of ownership has an energy that nobody knows; they rank behind those of known energy.
    energy_is_open: Bools = field(init=False)
    _is_counted: Bools = field(init=False)
    _keeps: Bools = field(init=False)  # every limit, where a design is counted

    def __post_init__(self) -> None:
        n_sizes = len(self.evaluated.space.sizes)
        object.__setattr__(self, "unknowns", self.evaluated.unknowns + np.repeat(self._draw_of_main_is_open, n_sizes))
        for name in ("energy_is_open", "_is_counted", "_keeps"):
            object.__setattr__(self, name, np.zeros(self.evaluated.space.n_rows, dtype=bool))
        for name in ("rack_units", "racks", "power_w", "raw_bytes", "cost", "likely_cost", "ranking_cost"):
            object.__setattr__(self, name, np.full(self.evaluated.space.n_rows, np.nan))

    def of(self, index: int) -> PlatformParts:
        """One platform, counted now if nobody asked before."""
        if index not in self.by_platform:
            sizes = np.arange(len(self.evaluated.space.sizes))
            self.by_platform[index] = self._taken(index, sizes, self._count(index))
        return self.by_platform[index]

    def keep_limits(self, index: int, sizes: Ints) -> Bools:
        """Which of some designs of one platform keep every limit; those that nobody asked about are counted now.

        Parameters
        ----------
        index : int
            Platform.
        sizes : ndarray of int, shape (designs,)
            Places of the designs among its sizes; their stages run.
        """
        rows = self.evaluated.space.of_platform(index).start + sizes
        new = sizes[~self._is_counted[rows]]
        if new.size and not self._counts_some:
            self.of(index)
        elif new.size:
            self._taken(index, new, self._count(index, new))
        return np.asarray(self._keeps[rows])

    def _parts_at(self, index: int, sizes: Ints) -> tuple[PlatformParts, Ints]:
        """Parts of some designs of a platform, and their places in these."""
        if index in self.by_platform or not self._counts_some:
            return self.of(index), sizes
        return self._taken(index, sizes, self._count(index, sizes)), np.arange(sizes.size)

    @property
    def _counts_some(self) -> bool:
        """Whether a few designs of a platform are counted without the others."""
        return self.request.existing == NOTHING_EXISTING and self.ownership_rates is None

    def _taken(self, index: int, sizes: Ints, one: PlatformParts) -> PlatformParts:
        """Write what was counted of some designs into the arrays over all."""
        rows = self.evaluated.space.of_platform(index).start + sizes
        self.rack_units[rows], self.power_w[rows] = one.quantities.rack_units, one.quantities.power_max_w
        self.racks[rows], self.raw_bytes[rows] = one.quantities.racks, np.nan_to_num(one.quantities.raw_bytes)
        self.cost[rows], self.likely_cost[rows] = one.cost, one.likely_cost
        self.ranking_cost[rows] = one.ranking_cost
        self.unknowns[rows] = self.evaluated.unknowns[rows] + one.power_is_open
        self.energy_is_open[rows] = one.energy_is_open
        self._keeps[rows] = np.logical_and.reduce([np.ones(sizes.size, dtype=bool), *one.limits.values()])
        self._is_counted[rows] = True
        return one

    @property
    def conditional(self) -> Bools:
        """(rows,) designs that meet the request only if a fact that no source gives is good enough."""
        return np.asarray(self.unknowns > 0)

    @cached_property
    def candidates(self) -> Bools:
        """(platforms, sizes) designs whose stages run and whose servers and storage alone keep the limits of the room.

        What else a design is made of only adds to these, so that no design outside keeps all limits.
        """
        return np.asarray(self.evaluated.runs & (self._certainly_broken == 0))

    @cached_property
    def _certainly_broken(self) -> Ints:
        """(platforms, sizes) limits of the room that servers and storage alone break."""
        limits = self.request.limits
        pairs = (
            (limits.rack_units, "units"),
            (limits.power_w, "watts"),
            (limits.racks, "racks"),
        )
        broken = np.zeros((self.evaluated.space.n_platforms, len(self.evaluated.space.sizes)), dtype=np.int64)
        for limit, name in pairs:
            if limit is not None:
                broken += self.at_least[name] > limit
        return broken

    @cached_property
    def at_least(self) -> dict[str, Floats]:
        """(platforms, sizes) rack units, watts and new racks of servers and storage alone."""
        evaluated = self.evaluated
        of_server, of_storage, per_unit = _heights_and_draws(evaluated.platforms)
        servers, chassis = evaluated.space.sizes, evaluated.class_nodes[evaluated.class_of] // per_unit
        units, watts = (a[:, None] * servers + b[:, None] * chassis for a, b in zip(of_server, of_storage, strict=True))
        # Racks that are there take some of it.
        room = np.inf if self.request.existing.racks else evaluated.platforms[0].rack.height_u.value
        return {"units": units, "watts": watts, "racks": np.ceil(units / room)}

    def feasible_of(self, index: int) -> Ints:
        """Rows of one platform that keep every limit."""
        if not self.candidates[index].any():
            return np.zeros(0, dtype=np.int64)
        self.of(index)
        rows = self.evaluated.space.of_platform(index)
        return np.asarray(np.flatnonzero(self.candidates[index] & self._keeps[rows]) + rows.start)

    def has_feasible(self, index: int) -> bool:
        """Whether some design of a platform keeps every limit: one that is known or small, else any of the others."""
        request, evaluated = self.request, self.evaluated
        if index not in self.by_platform and self.candidates[index].any() and request.existing == NOTHING_EXISTING:
            places = np.flatnonzero(self.candidates[index])
            if request.limits == NO_LIMITS:
                # A power of two, which the next request may ask about, too; in a small room the first is likelier.
                is_other = np.bitwise_count(evaluated.space.sizes[places]) > 1
                places = places[np.argsort(is_other, kind="stable")]
            stored = design_counts(evaluated.platforms[index], request, self.catalog)
            nodes = evaluated.class_nodes[evaluated.class_of[index], places]
            known = int(np.argmax(stored.knows(evaluated.space.sizes[places], nodes)))
            if self.keep_limits(index, places[known : known + 1]).all():
                return True
        return self.feasible_of(index).size > 0

    def _count(self, index: int, places: Ints | None = None) -> PlatformParts:
        """Count the designs of one platform, or some of its sizes without naming their parts."""
        pause_point()
        evaluated, request = self.evaluated, self.request
        platform, sizes = evaluated.platforms[index], evaluated.space.sizes
        nodes = evaluated.class_nodes[evaluated.class_of[index]]
        prices = (self.catalog, self.prices, self.unit_prices)
        if places is None:
            parts = priced_parts(platform, sizes, nodes, request, *prices)
        else:
            parts = priced_totals(platform, sizes[places], nodes[places], request, *prices)
        found = parts.quantities
        ranking = parts.likely
        if self.ownership_rates is not None:
            ranking = np.round(row_totals(found, platform, self.unit_prices, self.ownership_rates)[1], 2)
        is_ours = self.unit_prices.currency == request.currency
        least = np.maximum(parts.low, parts.cost) if is_ours else parts.cost
        is_limited = request.limits.power_w is not None or request.limits.rack_power_w is not None
        bought = None
        if has_main(request.existing):
            bought = purchase(platform, found.components, request.existing, self.catalog)
        return PlatformParts(
            found,
            parts.cost,
            least,
            parts.likely,
            ranking,
            parts.unpriced,
            self.limits_of(found, least),
            parts.draw_is_open & is_limited,
            parts.draw_is_open & self._pays_energy,
            bought,
        )

    @cached_property
    def _draw_of_main_is_open(self) -> Ints:
        """(platforms,) 1 where watts are asked for and nobody knows what a server draws."""
        platforms, limits = self.evaluated.platforms, self.request.limits
        if limits.power_w is None and limits.rack_power_w is None:
            return np.zeros(len(platforms), dtype=np.int64)
        return _draws_are_open(platforms)

    @property
    def _pays_energy(self) -> bool:
        return self.ownership_rates is not None and self.ownership_rates.electricity_per_kwh is not None

    @cached_property
    def ownership_rates(self) -> OwnershipRates | None:
        """Rates of the cost that ranks designs; None where the request does not rank by the cost of ownership."""
        return rates_of(self.request) if self.request.rank_by == "ownership" else None

    @cached_property
    def unit_prices(self) -> UnitPrices:
        """Prices at the low end of the bands and at the confidence of the request.

        Raises
        ------
        RequestError
            If the request ranks by the cost of ownership in a currency in which not every main item has a price.
        """
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

    def limits_of(self, found: Quantities, least_cost: Floats) -> dict[AnyLimit, Bools]:
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
            # Only what cannot cost so little is excluded; whether the rest keeps the budget is a probability.
            passes[Limit.BUDGET] = ~(least_cost > limits.budget)
        return passes

    def broken(self, row: int) -> list[AnyLimit]:
        """Limits that one design breaks, in the order in which they are looked at."""
        evaluated = self.evaluated
        index, size = divmod(row, len(evaluated.space.sizes))
        passes = {limit: kept[evaluated.class_of[index], size] for limit, kept in evaluated.class_passes.items()}
        passes[Limit.LARGER_PARTS] = np.bool_(index not in evaluated.twins)
        parts, places = self._parts_at(index, np.array([size]))
        of_parts = {limit: kept[places[0]] for limit, kept in parts.limits.items()}
        return [limit for limit, is_kept in (passes | of_parts).items() if not is_kept]

    @cached_property
    def alive(self) -> tuple[int, ...]:
        """Platforms with a design whose stages run, but for the joint confidence; all but twins where there is none."""
        distinct = [index for index in range(self.evaluated.space.n_platforms) if index not in self.evaluated.twins]
        could = np.logical_and.reduce(self.evaluated.buildable).any(axis=1)[self.evaluated.class_of]
        return tuple(index for index in distinct if could[index]) or tuple(distinct)

    @cached_property
    def passes(self) -> dict[AnyLimit, Bools]:
        """Limit -> (rows,) designs that keep it, of stages and parts; counts every platform that is alive."""
        found = dict(self.evaluated.passes)
        for index in self.alive:
            rows = self.evaluated.space.of_platform(index)
            for limit, keeps in self.of(index).limits.items():
                found.setdefault(limit, np.ones(self.evaluated.space.n_rows, dtype=bool))[rows] = keeps
        return found

    @cached_property
    def feasible(self) -> Bools:
        """(rows,) designs that keep every limit."""
        found = np.zeros(self.evaluated.space.n_rows, dtype=bool)
        for index in range(self.evaluated.space.n_platforms):
            found[self.feasible_of(index)] = True
        return found

    def nearest(self) -> tuple[int, tuple[AnyLimit, ...]]:
        """Row that breaks the fewest limits, and which; of these the one that comes nearest to the request.

        Of designs that meet the target and break a limit of the room, the smallest is the nearest; of those that break
        the budget, the one that could cost least; of those that miss the target, the likeliest and then the fastest; of
        those on which a team waits too long, the largest. Platforms are counted in the order of what they could be.
        """
        evaluated = self.evaluated
        breaks = np.sum([~kept for kept in evaluated.class_passes.values()], axis=0)
        meets = evaluated.class_probability >= least_chance(self.request.confidence)
        meets &= evaluated.class_passes[Limit.GPU_COUNT]  # so many GPUs may be asked for, whatever their rate
        # The weights only order: chance before rate, and below every design that meets the target.
        fastest = (
            evaluated.class_probability - 1.0 + 1e-6 * evaluated.class_throughput / evaluated.class_throughput.max()
        )
        in_time = evaluated.class_passes.get(Limit.TEAM_WAITS, np.ones(meets.shape, dtype=bool))
        # A team that waits too long waits least on the most servers, below every design whose jobs start in time.
        servers = 1e-6 * evaluated.space.sizes - 2.0
        bounds = []
        for index in self.alive:
            row = evaluated.class_of[index]
            few = breaks[row] + self._certainly_broken[index]
            smallness = _smallness(self.at_least["racks"][index], self.at_least["units"][index])
            if self.request.limits.budget is not None:
                smallness = np.ones(smallness.shape)  # what it costs is known when its parts are counted
            near = np.where(in_time[row], np.where(meets[row], smallness, fastest[row]), servers)
            bounds.append((int(few.min()), -float(near[few == few.min()].max()), index))
        best: tuple[int, float, int, tuple[AnyLimit, ...]] | None = None
        every = np.arange(len(evaluated.space.sizes))
        for count, closeness, index in sorted(bounds):
            if best is not None and (count, closeness) > best[:2]:
                break
            row, parts = evaluated.class_of[index], self._parts_at(index, every)[0]
            limits = {limit: kept[row] for limit, kept in evaluated.class_passes.items()} | parts.limits
            smallness = _smallness(parts.quantities.racks, parts.quantities.rack_units)
            if Limit.BUDGET in limits:
                cheapness = 1.0 - _PER_UNIT_OF_MONEY * parts.least_cost
                smallness = np.where(limits[Limit.BUDGET], smallness, cheapness)
            near = np.where(in_time[row], np.where(meets[row], smallness, fastest[row]), servers)
            size, broken = nearest_row(limits, near)
            here = (len(broken), -float(near[size]), evaluated.space.of_platform(index).start + size, broken)
            best = here if best is None else min(best, here)
        assert best is not None  # the space has at least one platform
        return best[2], best[3]


def _smallness(racks: Floats | Ints, rack_units: Floats) -> Floats:
    """Above that of every design that misses the target; racks count before rack units."""
    return np.asarray(1.0 - 1e-4 * racks - 1e-9 * rack_units)
