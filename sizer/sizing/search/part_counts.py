"""What the designs of the space are made of: counted platform by platform, and only when somebody asks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.identity_cache import cached_by_list
from sizer.base.interruption import pause_point
from sizer.bom.ownership import OwnershipRates, rates_of
from sizer.bom.ownership_interval import row_totals
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import SMALL, UnitPrices, unit_prices
from sizer.catalog.model import Catalog
from sizer.physical.components import Quantities
from sizer.physical.design_counts import DesignTotals
from sizer.physical.existing_use import PurchaseColumns, has_main, purchase
from sizer.physical.platform import Platform
from sizer.physical.quantities import NOTHING_EXISTING, design_totals, quantities
from sizer.physical.racks.power import device_power
from sizer.sizing.limits import AnyLimit, Limit
from sizer.sizing.search.feasibility import EvaluatedSpace
from sizer.sizing.search.least_room import least_room
from sizer.sizing.search.main_items import MainItems, check_budget, main_items_cost, ranking_prices
from sizer.sizing.search.stored_counts import PricedTotals, amounts, priced_totals
from sizer.workload.request import SizingRequest

_Counted = TypeVar("_Counted", Quantities, DesignTotals)


@cached_by_list
def _draws_are_open(platforms: Sequence[Platform]) -> Ints:
    """(platforms,) 1 where nobody knows what a server draws."""
    return np.array([not device_power(platform.server).is_known for platform in platforms], dtype=np.int64)


@dataclass(frozen=True)
class DesignParts:
    """Some sizes of one platform. Arrays over the sizes."""

    totals: DesignTotals
    cost: Floats  # sum of the priced lines
    least_cost: Floats  # bands at their low ends where there is no price
    likely_cost: Floats  # at most, with the confidence of the request; bands where there is no price
    ranking_cost: Floats  # that, or the cost of ownership where the request ranks by it
    limits: dict[AnyLimit, Bools]  # what can be built, the room, the budget -> designs that keep it
    power_is_open: Bools  # a limit of watts is asked for, and a device draws nobody knows how much
    energy_is_open: Bools  # energy is part of the ranking, and a device draws nobody knows how much


@dataclass(frozen=True)
class PlatformParts(DesignParts):
    """All sizes of one platform."""

    quantities: Quantities
    unpriced: frozenset[str]  # items without a price
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
            self.by_platform[index] = one = self._count_all(index)
            self._take(index, sizes, one)
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
            self._take(index, new, self._count(index, new))
        return np.asarray(self._keeps[rows])

    def parts_at(self, index: int, sizes: Ints) -> tuple[DesignParts, Ints]:
        """Some designs of a platform, and their places in what is returned."""
        if index in self.by_platform or not self._counts_some:
            return self.of(index), sizes
        found = self._count(index, sizes)
        self._take(index, sizes, found)
        return found, np.arange(sizes.size)

    @property
    def _counts_some(self) -> bool:
        """Whether a few designs of a platform are counted without the others."""
        return self.request.existing == NOTHING_EXISTING and self.ownership_rates is None

    def _take(self, index: int, sizes: Ints, one: DesignParts) -> None:
        """Write what was counted of some designs into the arrays over all."""
        rows = self.evaluated.space.of_platform(index).start + sizes
        self.rack_units[rows], self.power_w[rows] = one.totals.rack_units, one.totals.power_max_w
        self.racks[rows] = one.totals.racks
        self.raw_bytes[rows] = np.where(np.isnan(one.totals.raw_bytes), 0.0, one.totals.raw_bytes)
        self.cost[rows], self.likely_cost[rows] = one.cost, one.likely_cost
        self.ranking_cost[rows] = one.ranking_cost
        self.unknowns[rows] = self.evaluated.unknowns[rows] + one.power_is_open
        self.energy_is_open[rows] = one.energy_is_open
        self._keeps[rows] = np.logical_and.reduce(list(one.limits.values())) if one.limits else True
        self._is_counted[rows] = True

    @property
    def conditional(self) -> Bools:
        """(rows,) designs that meet the request only if a fact that no source gives is good enough."""
        return np.asarray(self.unknowns > 0)

    @cached_property
    def candidates(self) -> Bools:
        """(platforms, sizes) designs whose stages run and whose servers and storage alone keep room and budget.

        What else a design is made of only adds to these, so that no design outside keeps all limits.
        """
        return np.asarray(self.evaluated.runs & (self.certainly_broken == 0))

    @cached_property
    def certainly_broken(self) -> Ints:
        """(platforms, sizes) limits of room and budget that servers and storage alone break."""
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
        if limits.budget is not None:
            broken += self.least_main_cost > limits.budget
        return broken

    @cached_property
    def at_least(self) -> dict[str, Floats]:
        """(platforms, sizes) rack units, watts and new racks of servers and storage alone."""
        return least_room(self.evaluated, self.request)

    def feasible_of(self, index: int) -> Ints:
        """Rows of one platform that keep every limit."""
        if not self.candidates[index].any():
            return np.zeros(0, dtype=np.int64)
        self.of(index)
        rows = self.evaluated.space.of_platform(index)
        return np.asarray(np.flatnonzero(self.candidates[index] & self._keeps[rows]) + rows.start)

    def _count_all(self, index: int) -> PlatformParts:
        """Count the designs of one platform with their parts."""
        pause_point()
        request, catalog, platform = self.request, self.catalog, self.evaluated.platforms[index]
        found = self._counted_by(quantities, index)
        priced, unpriced = amounts(found.components, platform, catalog, self.prices, self.unit_prices, request.currency)
        ranking = priced[2]
        if self.ownership_rates is not None:
            ranking = np.round(row_totals(found, platform, self.unit_prices, self.ownership_rates)[1], 2)
        bought = None
        if has_main(request.existing):
            bought = purchase(platform, found.components, request.existing, catalog)
        parts = self._parts_of(PricedTotals(DesignTotals.of(found), *priced), ranking)
        return PlatformParts(**vars(parts), quantities=found, unpriced=unpriced, purchase=bought)

    def _counted_by(self, count: Callable[..., _Counted], index: int) -> _Counted:
        """All sizes of one platform, counted by :func:`quantities` or :func:`design_totals`."""
        evaluated, request = self.evaluated, self.request
        return count(
            evaluated.platforms[index],
            evaluated.space.sizes,
            evaluated.class_nodes[evaluated.class_of[index]],
            catalog=self.catalog,
            limits=request.limits,
            existing=request.existing,
            fabric=request.fabric,
        )

    def _count(self, index: int, places: Ints) -> DesignParts:
        """Count some sizes of one platform, where no equipment is there."""
        pause_point()
        evaluated = self.evaluated
        sizes, nodes = evaluated.space.sizes[places], evaluated.class_nodes[evaluated.class_of[index], places]
        prices = (self.catalog, self.prices, self.unit_prices)
        priced = priced_totals(evaluated.platforms[index], sizes, nodes, self.request, *prices)
        return self._parts_of(priced, priced.likely)

    def _parts_of(self, priced: PricedTotals, ranking_cost: Floats) -> DesignParts:
        limits, totals = self.request.limits, priced.totals
        is_ours = self.unit_prices.currency == self.request.currency
        least = np.maximum(priced.low, priced.cost) if is_ours else priced.cost
        is_limited = limits.power_w is not None or limits.rack_power_w is not None
        return DesignParts(
            totals,
            priced.cost,
            least,
            priced.likely,
            ranking_cost,
            self.limits_of(totals, least),
            totals.draw_is_open & is_limited,
            totals.draw_is_open & self._pays_energy,
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
            If the request ranks by the cost of ownership, or has a budget, in a currency in which not every main item
            has a price.
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
    def least_main_cost(self) -> Floats:
        """(platforms, sizes) what they cost at the low ends of bands; 0 where these are amounts in another currency."""
        if self.unit_prices.currency != self.request.currency:
            return np.zeros(self.evaluated.runs.shape)
        prices = unit_prices(self.catalog, self.prices, self.request.currency, (0.0, 0.0), SMALL)
        return main_items_cost(self.request, self.evaluated, prices).cost

    def limits_of(self, found: DesignTotals | Quantities, least_cost: Floats) -> dict[AnyLimit, Bools]:
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
        parts, places = self.parts_at(index, np.array([size]))
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
            for limit, keeps in self._limits_of_all(index).items():
                found.setdefault(limit, np.ones(self.evaluated.space.n_rows, dtype=bool))[rows] = keeps
        return found

    def _limits_of_all(self, index: int) -> dict[AnyLimit, Bools]:
        """Limits of the parts of one platform, of all its sizes; prices are left out where no budget asks for them."""
        if index in self.by_platform or self.request.limits.budget is not None:
            return self.of(index).limits
        pause_point()
        found = self._counted_by(design_totals, index)
        return self.limits_of(found, np.zeros(len(self.evaluated.space.sizes)))

    @cached_property
    def feasible(self) -> Bools:
        """(rows,) designs that keep every limit."""
        found = np.zeros(self.evaluated.space.n_rows, dtype=bool)
        for index in range(self.evaluated.space.n_platforms):
            found[self.feasible_of(index)] = True
        return found
