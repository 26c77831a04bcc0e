"""Prices the sequences in which one platform can be bought over the years, and finds the best that moves no link.

Sequences are compared by the cost intervals that rank designs; the cost of a purchase counts known prices only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, partial

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.bom.bill import Sum
from sizer.bom.cost import CostInterval, ItemPrices, heights_of, item_prices
from sizer.bom.lines import is_free
from sizer.bom.ownership import Footprint, rates_of
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import UnitPrices, unit_prices
from sizer.catalog.model import Catalog
from sizer.physical.components import Component, Quantities
from sizer.physical.layout import building_plan
from sizer.physical.networks.counts import wiring
from sizer.physical.networks.members import shape
from sizer.physical.plan import CABLE_CATEGORY, Connection, Plan
from sizer.physical.platform import Platform
from sizer.physical.quantities import quantities, slice_row
from sizer.physical.racks.power import device_power, energy_kwh_per_year
from sizer.physical.roles import Role
from sizer.sizing.design.evaluate_design import room_of
from sizer.sizing.growth.result import ClusterSize, Criterion, Purchase, PurchaseSequence, SequenceName, growth_of
from sizer.sizing.reasons import Binding
from sizer.sizing.search.main_items import ranking_currency
from sizer.sizing.search.ranking import MOST_QUOTES, PricedOrder, difference, ordered, quotes_between
from sizer.workload.request import SizingRequest

# Links from the fabric to gateways, to the customer's LAN and to what manages the cluster.
_UPLINKS = (Role.GATEWAY_UPLINK, Role.LAN_UPLINK, Role.HEAD_NODE_CABLE, Role.FABRIC_MANAGER_CABLE)
# What manages the cluster is installed with its network: ports are kept for later servers, and so are managers.
_MANAGERS = (Role.HEAD_NODE, Role.HEAD_NODE_ADAPTER, Role.FABRIC_MANAGER, Role.STORAGE_FABRIC_MANAGER)
# Devices replace panels in a rack: every size has the panels of the last one.
_PANEL = Role.BLANKING_PANEL


@dataclass(frozen=True)
class PartsBySize:
    """Pieces that are bought for each size. Arrays over the sizes."""

    items: tuple[str, ...]  # catalogue ids, in the order of a bill
    pieces: Ints  # (items, sizes)
    power_typical_w: Floats
    power_max_w: Floats

    def bought(self, before: int | None, after: int) -> Ints:
        """(items,) pieces to buy for the step from one size to another; None: from nothing."""
        return self.pieces[:, after] if before is None else np.maximum(self._more(before, after), 0)

    def taken_out(self, before: int | None, after: int) -> Ints:
        """(items,) pieces that the larger size no longer uses."""
        return np.zeros(len(self.items), np.int64) if before is None else np.maximum(-self._more(before, after), 0)

    def _more(self, before: int, after: int) -> Ints:
        return np.asarray(self.pieces[:, after] - self.pieces[:, before])


@dataclass(frozen=True)
class SizeQuantities:
    """Quantities and parts of some sizes of a platform."""

    quantities: Quantities
    as_it_grows: PartsBySize  # the network and the racks of each size
    prepared: PartsBySize  # the network of the last size is installed from the start; racks come with their devices


def count_sizes(
    platform: Platform, sizes: Sequence[tuple[int, int]], request: SizingRequest, catalog: Catalog
) -> SizeQuantities:
    """Parts of some sizes (servers, storage nodes) in ascending order.

    Cables of every size have the length that the last size requires, so that no cable is replaced later. Where the
    network is prepared, every device uses its port of the last size's port map from the start, so that no link moves.
    """
    servers, nodes = (np.array(column, dtype=np.int64) for column in zip(*sizes, strict=True))
    sized = quantities(platform, servers, nodes, **room_of(request, catalog))
    wires = wiring(platform, shape(platform, servers, nodes, request.fabric), request.fabric)
    links: dict[str, Ints] = {}
    for link in wires.links:
        links[link.role] = links.get(link.role, np.zeros(len(sizes), np.int64)) + link.quantity
    switches = frozenset(count.role for count in wires.switches)
    parts = [_at_last_length(part, links) for part in sized.components if part.status == "computed"]
    return SizeQuantities(
        sized,
        as_it_grows=_total(parts, sized.power_typical_w, sized.power_max_w),
        prepared=_prepared(parts, sized, switches, catalog),
    )


def with_ports_for(request: SizingRequest, owned: ClusterSize, last: ClusterSize) -> SizingRequest:
    """The request of one size with the network of the last one."""
    spare = max(request.fabric.spare_servers, last.n_servers - owned.n_servers)
    return request.model_copy(update={"fabric": request.fabric.model_copy(update={"spare_servers": spare})})


def _at_last_length(part: Component, links: dict[str, Ints]) -> Component:
    """Cables of each size, in the kinds that the last size uses."""
    if part.role == _PANEL:
        return _like_last(part)
    count = links.get(part.role)
    if part.category != CABLE_CATEGORY or count is None or not count[-1]:
        return part
    return part.of(-(-part.quantity[-1] * count // count[-1]))


def _like_last(part: Component) -> Component:
    return part.of(np.full_like(part.quantity, part.quantity[-1]))


def _prepared(parts: Sequence[Component], sized: Quantities, switches: frozenset[str], catalog: Catalog) -> PartsBySize:
    typical_w, max_w = sized.power_typical_w.copy(), sized.power_max_w.copy()
    ready = []
    for part in parts:
        is_device = part.role in switches or part.role in _MANAGERS
        stays = is_device or part.role in _UPLINKS or part.role.is_between_switches
        last = _like_last(part)
        if is_device and part.role is not Role.HEAD_NODE_ADAPTER:
            draw = device_power(catalog.device(part.item))
            typical_w += (last.quantity - part.quantity) * draw.typical_w
            max_w += (last.quantity - part.quantity) * draw.max_w
        ready.append(last if stays else part)
    return _total(ready, typical_w, max_w)


def _total(parts: Sequence[Component], typical_w: Floats, max_w: Floats) -> PartsBySize:
    pieces: dict[str, Ints] = {}
    for part in parts:
        pieces[part.item] = pieces.get(part.item, np.zeros_like(part.quantity)) + part.quantity
    return PartsBySize(
        items=tuple(pieces),
        pieces=np.array(list(pieces.values())),
        power_typical_w=typical_w,
        power_max_w=max_w,
    )


def moved_links(plan: Plan, n_servers: int, storage_nodes: int) -> tuple[Connection, ...]:
    """Links of a laid-out design that end elsewhere, or nowhere, in a larger one.

    Standing devices stay in their rack units, and room kept for servers to come is used up first. A link stays where
    its switch port is one for end points in the larger fabric, too.

    ``n_servers``, ``storage_nodes``: the larger size, no smaller in either. Returns an empty tuple, too, where the
    platform does not reach the size.
    """
    platform, inputs = plan.inputs.platform, plan.inputs
    room = room_of(replace(inputs, fabric=inputs.fabric.model_copy(update={"spare_servers": 0})), plan.catalog)
    unit = next((device.item for device in plan.devices if device.role is Role.COOLANT_UNIT), None)
    counted = slice_row(quantities(platform, [n_servers], [storage_nodes], **room, coolant_unit=unit), 0)
    if counted.violations:
        return ()
    larger = building_plan(platform, counted, n_servers, storage_nodes, **room, standing=plan)
    ends = {_a(link): _z(link) for link in larger.connections}
    return tuple(link for link in plan.connections if ends.get(_a(link)) != _z(link))


def _a(link: Connection) -> tuple[str, str]:
    return link.a.device, link.a.port


def _z(link: Connection) -> tuple[str, str]:
    return link.z.device, link.z.port


# Cost of a step by each criterion, the most important first. Whole numbers, so that sums are exact and ties are ties.
Cost = tuple[int, ...]
# Year, size owned before (None: nothing) and size owned from then on -> cost; None: the step is not allowed.
StepCost = Callable[[int, int | None, int], Cost | None]


def cheapest_sequence(meets: Bools, step_cost: StepCost) -> tuple[int, ...] | None:
    """Size to own in every year.

    ``meets`` (years, sizes): whether a size meets a year. ``step_cost``: cost of going from one size to another, or of
    staying, at the start of a year, and of owning it in that year. Returns one size a year; None where no sequence of
    allowed steps meets every year. On a tie, the earlier sizes.

    Dynamic programming over (year, size owned): the order of tuples is kept when the same cost is added to both sides,
    so that the best path to a state is part of the best path beyond it.
    """
    best_paths: dict[int, tuple[Cost, tuple[int, ...]]] = {}
    for year in range(meets.shape[0]):
        reached: dict[int, tuple[Cost, tuple[int, ...]]] = {}
        for after in np.flatnonzero(meets[year]).tolist():
            earlier: list[tuple[int | None, Cost, tuple[int, ...]]] = (
                [(None, (), ())] if year == 0 else [(size, *path) for size, path in best_paths.items()]
            )
            allowed = []
            for before, so_far, path in earlier:
                cost = step_cost(year, before, after)
                if cost is not None:
                    total = tuple(a + b for a, b in zip(so_far, cost, strict=True)) if so_far else cost
                    allowed.append((total, (*path, after)))
            if allowed:
                reached[after] = min(allowed)
        best_paths = reached
    return min(best_paths.values())[1] if best_paths else None


# Places among the heights of a cost interval.
_LOW, _AT_CONFIDENCE, _HIGH = 0, 2, 3
# Decimals that prices of a piece, and shares of support, are rounded to before they are added up. Sums over the same
# pieces are then the same whole number of units, whatever the order of the purchases: ties are ties.
_PRICE_DECIMALS, _SHARE_DECIMALS = 2, 4
_UNITS_PER_CURRENCY = 10 ** (_PRICE_DECIMALS + _SHARE_DECIMALS)


@dataclass(frozen=True)
class PurchasePlanner:
    """Prices the sequences of one platform."""

    request: SizingRequest
    catalog: Catalog
    prices: PriceBook
    platform: Platform
    needs: tuple[ClusterSize, ...]
    binding: Binding  # why the first of them is not smaller
    sizes: Sequence[ClusterSize]
    by_size: SizeQuantities
    meets: Bools
    moves: dict[tuple[int, int], int] = field(default_factory=dict)  # links moved by each step examined

    def recommended(self) -> tuple[PurchaseSequence, Criterion, tuple[str, ...]]:
        """Best sequence that moves no link, its criterion, and the missing prices that could change it."""
        save = growth_of(self.request).save
        # What has neither price nor band can be compared by nothing but its number.
        is_bounded = all(np.isfinite(table.each).all() for table in self._tables)
        criterion = "equipment" if save == "cost" and not is_bounded else save
        is_prepared, path = self._best(criterion, _AT_CONFIDENCE)
        return self._sequence("best", path, is_prepared), criterion, self._deciding(is_prepared, path)

    def _best(self, criterion: Criterion, height: int) -> tuple[bool, tuple[int, ...]]:
        """Whether the network is prepared, and the sizes, of the best sequence by the prices at a height."""
        candidates = []
        # A network that grows without a move is preferred on a tie: nothing is bought before it is used.
        for is_prepared in (False, True):
            path = cheapest_sequence(self.meets, partial(self._cost, is_prepared, criterion, height))
            if path is not None:
                steps = [self._cost(is_prepared, criterion, height, *step) for step in _steps(path)]
                known = [step for step in steps if step is not None]
                cost = tuple(sum(column) for column in zip(*known, strict=True))
                candidates.append((cost, is_prepared, path))
        _, is_prepared, path = min(candidates)  # the prepared sequence is always allowed
        return is_prepared, path

    def alternatives(self) -> tuple[PurchaseSequence, ...]:
        """All at once, and each year what it needs, with the network prepared or growing."""
        each = tuple(self.sizes.index(need) for need in self.needs)
        at_once = (len(self.sizes) - 1,) * len(self.needs)
        return (
            self._sequence("at-once", at_once, is_prepared=True),
            self._sequence("prepared", each, is_prepared=True),
            self._sequence("as-it-grows", each, is_prepared=False),
        )

    def _parts(self, is_prepared: bool) -> PartsBySize:
        return self.by_size.prepared if is_prepared else self.by_size.as_it_grows

    def _deciding(self, is_prepared: bool, path: tuple[int, ...]) -> tuple[str, ...]:
        """Items whose quotes could make another sequence cheaper than the one taken."""
        if growth_of(self.request).save != "cost":
            return ()
        each, at_once = tuple(self.sizes.index(need) for need in self.needs), (len(self.sizes) - 1,) * len(self.needs)
        others = [(True, each), (True, at_once), *(self._best("cost", height) for height in (_LOW, _HIGH))]
        best, prices = self._order(is_prepared, path), self._unit_prices
        items: dict[str, None] = {}
        for other_prepared, other_path in dict.fromkeys(others):
            other = self._order(other_prepared, other_path)
            energy = self._total_energy_cents(other_prepared, other_path) - self._total_energy_cents(is_prepared, path)
            if difference(other, best, prices).low + energy / 100 < 0:
                quotes = ordered(quotes_between(best, other, prices), prices)[:MOST_QUOTES]
                items |= dict.fromkeys(quote.item for quote in quotes)
        return tuple(items)

    @cached_property
    def _unit_prices(self) -> UnitPrices:
        currency = ranking_currency(self.request, (self.platform,), self.prices)
        return unit_prices(self.catalog, self.prices, currency, heights_of(self.request.confidence))

    @cached_property
    def _tables(self) -> tuple[ItemPrices, ItemPrices]:
        """Rounded prices of the items of a network that grows, and of one that is prepared."""
        tables = []
        for is_prepared in (False, True):
            table = item_prices(self._parts(is_prepared).items, self.platform, self._unit_prices)
            each, shares = np.round(table.each, _PRICE_DECIMALS), list(table.supported)
            each[:, shares] = np.round(table.each[:, shares], _SHARE_DECIMALS)
            tables.append(ItemPrices(each, table.supported))
        return tables[0], tables[1]

    def _amounts(self, is_prepared: bool, year: int, bought: Ints) -> Floats:
        """(heights, items) what is bought in a year costs."""
        return growth_of(self.request).price ** year * self._tables[is_prepared].amounts(bought[:, None])[..., 0]

    def _order(self, is_prepared: bool, path: Sequence[int]) -> PricedOrder:
        parts, steps = self._parts(is_prepared), _steps(path)
        bought = [parts.bought(before, after) for _, before, after in steps]
        amounts = sum(self._amounts(is_prepared, step[0], pieces) for step, pieces in zip(steps, bought, strict=True))
        pieces = dict(_listed(parts.items, np.sum(bought, axis=0)))
        by_item = dict(zip(parts.items, np.asarray(amounts).T, strict=True))
        return PricedOrder(self.platform, {item: by_item[item] for item in pieces}, pieces)

    def _total_energy_cents(self, is_prepared: bool, path: Sequence[int]) -> int:
        return sum(self._energy_cents(self._energy_wh(size, is_prepared)) for size in path)

    def _cents(self, item: str) -> int | None:
        """Net price of one piece; None where it is unknown."""
        if is_free(self.catalog.item(item)):
            return 0
        net = self.prices.fitted(self.platform).net(item, self.request.currency)
        return None if net is None else round(net * 100)

    def _money(self, year: int, items: Sequence[str], pieces: Sequence[int]) -> tuple[Sum, tuple[str, ...]]:
        """What is paid for what is bought in a year, and those of its items that have no price.

        The discount of a deal is on its quote, which is the purchase of the first year.
        """
        factor = growth_of(self.request).price ** year
        bought = [(item, count, self._cents(item)) for item, count in zip(items, pieces, strict=True) if count]
        cents = sum(round(each * factor) * count for _, count, each in bought if each is not None)
        unpriced = tuple(item for item, _, each in bought if each is None)
        return Sum(Decimal(cents) / 100, len(unpriced)), unpriced

    def _interval(self, is_prepared: bool, year: int, bought: Ints) -> CostInterval | None:
        """What is bought in a year by known prices and bands."""
        currency = self.request.currency
        if self._unit_prices.currency != currency or self.prices.per_usd(currency) is None:
            return None
        low, expected, likely, high = self._amounts(is_prepared, year, bought).sum(axis=1).tolist()
        return CostInterval(currency, low, expected, likely, high)

    def _energy_wh(self, size: int, is_prepared: bool) -> int:
        watts = float(self._parts(is_prepared).power_typical_w[size]) * rates_of(self.request).draw_fraction
        return round(1e3 * energy_kwh_per_year(watts, self.request.site.pue_ratio or 1.0))

    def _energy_cents(self, energy_wh: int) -> int:
        rate = self.request.electricity_per_kwh
        return 0 if rate is None else round(rate * energy_wh / 10)

    def _cost(
        self, is_prepared: bool, criterion: Criterion, height: int, year: int, before: int | None, after: int
    ) -> Cost | None:
        if before is not None and (after < before or (not is_prepared and self._moved(before, after))):
            return None  # equipment stays, and so do its links
        parts = self._parts(is_prepared)
        amount = float(self._amounts(is_prepared, year, parts.bought(before, after))[height].sum())
        energy_wh = self._energy_wh(after, is_prepared)
        parts_cost = round(_UNITS_PER_CURRENCY * amount) if np.isfinite(amount) else 0
        cost = self._energy_cents(energy_wh) * (_UNITS_PER_CURRENCY // 100) + parts_cost
        size = self.sizes[after]
        equipment = size.n_servers + size.storage_nodes
        if criterion == "cost":
            return cost, energy_wh, equipment
        return (energy_wh, cost, equipment) if criterion == "watts" else (equipment, energy_wh, cost)

    def _moved(self, before: int, after: int) -> int:
        """Links of an installed size that have another end in a larger one."""
        each = self.by_size.quantities.networks
        switches = (part for one in each for part in (one.leaves, one.spines, one.cores, one.gateways))
        # Where no network gets another switch, every link stays at its port.
        if before == after or all(part[before] == part[after] for part in switches):
            return 0
        if (before, after) not in self.moves:
            size = self.sizes[after]
            moved = moved_links(self._plan(before), size.n_servers, size.storage_nodes)
            self.moves[before, after] = len(moved)
        return self.moves[before, after]

    def _plan(self, place: int) -> Plan:
        size, parts = self.sizes[place], slice_row(self.by_size.quantities, place)
        room = room_of(self.request, self.catalog)
        return building_plan(self.platform, parts, size.n_servers, size.storage_nodes, **room)

    def _sequence(self, name: SequenceName, path: Sequence[int], is_prepared: bool) -> PurchaseSequence:
        parts, steps = self._parts(is_prepared), _steps(path)
        return PurchaseSequence(name, is_prepared, tuple(self._purchase(parts, step, is_prepared) for step in steps))

    def _purchase(self, parts: PartsBySize, step: tuple[int, int | None, int], is_prepared: bool) -> Purchase:
        year, before, after = step
        bought, out = parts.bought(before, after), parts.taken_out(before, after)
        cost, unpriced = self._money(year, parts.items, bought.tolist())
        energy_wh = self._energy_wh(after, is_prepared)
        owned = self.sizes[after]
        request = with_ports_for(self.request, owned, self.sizes[-1]) if is_prepared else self.request
        room = room_of(request, self.catalog)
        space = quantities(self.platform, [owned.n_servers], [owned.storage_nodes], **room)
        has_rate = self.request.electricity_per_kwh is not None
        return Purchase(
            year=year + 1,
            need=self.needs[year],
            owned=owned,
            bought=_listed(parts.items, bought),
            taken_out=_listed(parts.items, out),
            cost=cost,
            unpriced=unpriced,
            interval=self._interval(is_prepared, year, bought),
            energy_cost=Decimal(self._energy_cents(energy_wh)) / 100 if has_rate else None,
            footprint=Footprint(
                float(parts.power_typical_w[after]),
                rack_units=float(space.rack_units[0]),
                racks=int(space.racks[0]),
            ),
            energy_kwh=energy_wh / 1e3,
            power_max_w=float(parts.power_max_w[after]),
            moved_links=0 if is_prepared or before is None else self._moved(before, after),
        )


def _steps(path: Sequence[int]) -> list[tuple[int, int | None, int]]:
    """Year from 0, size before (None: nothing) and after, of every year."""
    before: list[int | None] = [None, *path[:-1]]
    return list(zip(range(len(path)), before, path, strict=True))


def _listed(items: Sequence[str], pieces: Ints) -> tuple[tuple[str, int], ...]:
    return tuple((item, count) for item, count in zip(items, pieces.tolist(), strict=True) if count)
