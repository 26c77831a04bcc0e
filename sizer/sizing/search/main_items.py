"""What the main items of every design cost, in one pass: servers, storage, and the support of both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.quantities import grouped
from sizer.bom.ownership import OwnershipRates, least_yearly_cost
from sizer.bom.prices import BAND_CURRENCY, PriceBook
from sizer.bom.unit_prices import SMALL, UnitPrices, piece_of, unit_prices
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device
from sizer.physical.capacity import counts_nodes, nodes_per_unit, nodes_there
from sizer.physical.platform import Platform
from sizer.sizing.search.feasibility import BLOCK_ROWS, EvaluatedSpace
from sizer.workload.request import SizingRequest

# Whole designs are compared to the cent.
_HALF_CENT = 0.005


def ranking_prices(
    request: SizingRequest, platforms: Sequence[Platform], catalog: Catalog, book: PriceBook
) -> UnitPrices:
    """Prices by which the designs of a request are ranked, in the middle of bands and at the confidence asked.

    Bands are amounts in :data:`~sizer.bom.prices.BAND_CURRENCY`, converted where the request states an exchange rate.
    For a request in another currency without one, its own prices rank only where every server and every storage system
    that can be bought has one; what is left to bands is then small, and taken at par. Otherwise all is compared in the
    currency of the bands.
    """
    return unit_prices(catalog, book, ranking_currency(request, platforms, book), (0.5, request.confidence), SMALL)


def ranking_currency(request: SizingRequest, platforms: Sequence[Platform], book: PriceBook) -> str:
    """Currency in which the designs of a request are compared, as :func:`ranking_prices` says."""
    if book.per_usd(request.currency) is None:
        main = {(book.fitted(platform), part.id) for platform in platforms for part in _main_parts(platform)}
        if any(own.net(item, request.currency) is None for own, item in main):
            return BAND_CURRENCY
    return request.currency


def check_budget(request: SizingRequest, platforms: Sequence[Platform], book: PriceBook) -> None:
    """A budget is compared with prices in its own currency.

    Raises RequestError if the prices that decide are in another currency, and the request states no exchange rate.
    """
    budget, currency = request.limits.budget, request.currency
    if budget is not None and (other := ranking_currency(request, platforms, book)) != currency:
        raise RequestError(
            f"limits.budget = {grouped(budget)} {currency}: servers or storage have no price in {currency}, so no "
            f"design is known to keep this budget; state an exchange rate (exchange_rate_usd = US dollars for one "
            f"{currency}), add prices in {currency}, or state the budget in {other}"
        )


def _main_parts(platform: Platform) -> tuple[Device, ...]:
    if not counts_nodes(platform.storage):
        return (platform.server,)
    return platform.server, platform.storage_server or platform.storage


@dataclass(frozen=True)
class MainItems:
    """Lower bounds of the cost of designs; what is there already costs nothing."""

    cost: Floats  # (platforms, sizes)
    bounds: Callable[[Ints, Ints], Floats]  # of servers (sizes,) or (platforms, sizes) and nodes (classes, sizes)
    server: Floats  # (platforms,) of one server


def main_items_cost(
    request: SizingRequest, evaluated: EvaluatedSpace, prices: UnitPrices, rates: OwnershipRates | None = None
) -> MainItems:
    """Cost of servers, storage tiers and their support at the second height of ``prices``.

    With the rates of an ownership also the energy and rack units of servers and storage over its years.
    """
    existing, platforms = request.existing, evaluated.compiled
    amounts = _amounts(evaluated, prices, rates)
    there, units_there = np.zeros((2, len(platforms), 1))
    if existing.servers or existing.storage_nodes:
        amounts[2] = 0.0  # a second tier may be there, too
        for index, platform in enumerate(platforms):
            there[index] = platform.servers_there(existing.servers)
            host = platform.storage_server.id if platform.storage_server is not None else ""
            nodes = nodes_there(platform.storage, existing.storage_nodes.get(platform.storage.id, 0))
            units_there[index] = nodes // nodes_per_unit(platform.storage) + existing.servers.get(host, 0)

    def bound(servers: Ints, nodes: Ints, some: slice) -> Floats:
        server, unit, tier, per_unit = amounts[:, some]
        new, units = np.maximum(servers - there[some], 0), np.maximum(nodes // per_unit - units_there[some], 0)
        cost = np.where(new > 0, new * server, 0.0) + np.where(units > 0, units * unit, 0.0) + tier
        # A hair below, so that no rounding of sums makes it more than the whole design costs.
        return np.asarray(np.maximum(cost * (1 - 1e-9) - _HALF_CENT, 0.0))

    def bounds(servers: Ints, class_nodes: Ints) -> Floats:
        servers = np.broadcast_to(servers, (len(platforms), servers.shape[-1]))
        step = max(BLOCK_ROWS // servers.shape[1], 1)
        blocks = (slice(start, start + step) for start in range(0, len(platforms), step))
        return np.concatenate([bound(servers[some], class_nodes[evaluated.class_of[some]], some) for some in blocks])

    return MainItems(bounds(evaluated.space.sizes, evaluated.class_nodes), bounds, amounts[0, :, 0])


_NOTHING = -1  # place of a part that a platform does not have


class _Table(NamedTuple):
    """Main parts of some platforms, whatever they cost. Arrays (..., platforms); places are among the pieces."""

    pieces: list[tuple[Item, int]]  # every part, with the place of a platform that uses it
    parts: Ints  # server, memory, unit of storage, unit of a second tier
    numbers: Floats  # nodes of a unit, units of a second tier


@lru_cache(maxsize=128)
def _table(platforms: tuple[Platform, ...]) -> _Table:
    pieces: dict[tuple[object, ...], tuple[Item, int, int]] = {}

    def place(part: Item | None, platform: Platform, index: int) -> int:
        if part is None:
            return _NOTHING
        holds_data = part is platform.server and platform.storage.kind == "local"  # in drives that prices know
        key = (part, piece_of(part.id, platform), holds_data)
        return pieces.setdefault(key, (part, index, len(pieces)))[-1]

    rows = []
    for index, one in enumerate(platforms):
        _, *storage = _main_parts(one)
        tier = one.second_tier
        second = None if tier is None else tier.storage
        parts = (one.server, one.host_memory, next(iter(storage), None), second)
        tiers = 0 if tier is None or second is None else -(-tier.nodes // nodes_per_unit(second))
        rows.append(([place(part, one, index) for part in parts], (nodes_per_unit(one.storage), tiers)))
    main, numbers = (np.array(part).T for part in zip(*rows, strict=True))
    return _Table([(part, index) for part, index, _ in pieces.values()], main, numbers.astype(float))


def _amounts(evaluated: EvaluatedSpace, prices: UnitPrices, rates: OwnershipRates | None) -> Floats:
    """What a server, a unit of storage and a second tier cost, and the nodes of a unit; shape (4, platforms, 1).

    At the second height of the prices.
    """
    platforms, shares = evaluated.platforms, _SupportShares(prices, rates)
    table = _table(evaluated.compiled)

    def cost(part: Item, index: int) -> float:
        running = 0.0
        if rates is not None and isinstance(part, Device):
            running = rates.years * least_yearly_cost(rates, part)
        return (1 + shares.of(part.id)) * float(prices.of(part.id, platforms[index])[1]) + running

    # What a platform does not have costs nothing.
    server, memory, unit, second = np.array([*(cost(*piece) for piece in table.pieces), 0.0])[table.parts]
    per_unit, tiers = table.numbers
    return np.stack([server + memory, unit, tiers * second, per_unit])[..., None]


class _SupportShares:
    """Share of a part's price that its support costs where that is unknown, over the years of an ownership."""

    def __init__(self, prices: UnitPrices, rates: OwnershipRates | None) -> None:
        self._prices, self._rates = prices, rates
        self._support = [
            item
            for item in prices.catalog.support.values()
            if item.orderable
            and not item.optional
            and not item.requires
            and not {"any", "cluster"} & set(item.applies_to)
            and prices.is_percentage(item.id)
        ]

    def times(self, item_id: str) -> int:
        """How often a part is paid over the years: every year where its band is by the year."""
        is_repeated = self._rates is not None and not self._prices.is_known(item_id) and self._prices.is_yearly(item_id)
        return self._rates.years if self._rates is not None and is_repeated else 1

    @cached_property
    def _stated(self) -> float | None:
        """Share that is stated in place of all support; 0 where priced support may cover some of the years."""
        if self._rates is None or self._rates.support_percent is None:
            return None
        if any(self._prices.is_known(item_id) for item_id in self._prices.catalog.support):
            return 0.0
        return float(self._rates.support_percent) / 100 * self._rates.years

    def of(self, part_id: str) -> float:
        """Share of the price of a part."""
        if self._stated is not None:
            # Support is not paid for what is bought again when its term ends.
            price = self._prices.book.price(part_id, self._prices.currency)
            return self._stated if price is None or price.term_months is None else 0.0
        named = [item.id for item in self._support if self._prices.supports(item.id, part_id)]
        return sum(float(self._prices.of_share(name)[1]) * self.times(name) for name in named)
