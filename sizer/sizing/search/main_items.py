"""What the main items of every design cost, in one pass: servers, storage, and the support of both."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.bom.cost import supports
from sizer.bom.ownership import OwnershipRates
from sizer.bom.ownership_interval import least_yearly_cost
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import BAND_CURRENCY, SMALL, UnitPrices
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device, Item
from sizer.physical.capacity import counts_nodes, nodes_per_unit
from sizer.physical.platform import Platform
from sizer.physical.software_lines import lines_of
from sizer.sizing.limits import Limit
from sizer.sizing.search.feasibility import EvaluatedSpace
from sizer.workload.request import SizingRequest

# Whole designs are compared to the cent.
_HALF_CENT = 0.005


def ranking_prices(
    request: SizingRequest, platforms: Sequence[Platform], catalog: Catalog, book: PriceBook
) -> UnitPrices:
    """Prices by which the designs of a request are ranked, at the low end of bands and at the confidence asked.

    Notes
    -----
    Bands are amounts in :data:`~sizer.bom.unit_prices.BAND_CURRENCY`. For a request in another currency its own prices
    rank only where every server and every storage system that can be bought has one; what is left to bands is then
    small, and taken at par. Otherwise all is compared in the currency of the bands.
    """
    return UnitPrices(catalog, book, ranking_currency(request, platforms, book), (0.0, request.confidence), SMALL)


def ranking_currency(request: SizingRequest, platforms: Sequence[Platform], book: PriceBook) -> str:
    """Currency in which the designs of a request are compared, as :func:`ranking_prices` says."""
    if request.currency != BAND_CURRENCY:
        main = {part.id for platform in platforms for part in _main_parts(platform)}
        if any(book.net(item, request.currency) is None for item in main):
            return BAND_CURRENCY
    return request.currency


def _main_parts(platform: Platform) -> tuple[Device, ...]:
    if not counts_nodes(platform.storage):
        return (platform.server,)
    return platform.server, platform.storage_server or platform.storage


@dataclass(frozen=True)
class MainItems:
    """Lower bounds of the cost of designs; what is there already costs nothing."""

    cost: Floats  # (platforms, sizes)
    larger: Floats  # (platforms,) of every larger design; inf where the storage cannot hold the data


@dataclass(frozen=True)
class _Each:
    """What the main items of a platform cost."""

    server: float  # with its memory
    unit: float  # chassis or storage server, with what its terabytes cost in licences
    cluster: float  # once, where there is more than one server: head node and a switch
    cluster_server: float  # licences of every server, where there is more than one


def main_items_cost(
    request: SizingRequest, evaluated: EvaluatedSpace, prices: UnitPrices, rates: OwnershipRates | None = None
) -> MainItems:
    """Cost of servers, storage, head node, a switch, licences and support at the second height of ``prices``.

    With the rates of an ownership also the energy and rack units of servers, storage and head node over its years.
    """
    existing, platforms = request.existing, evaluated.platforms
    shares = _SupportShares(prices, rates)
    known: dict[tuple[object, ...], _Each] = {}
    each = []
    for platform in platforms:
        # Platforms that differ in other parts alone cost the same.
        parts = (
            platform.server.id,
            platform.gpus_per_server,
            platform.host_memory and platform.host_memory.id,
            platform.storage.id,
            platform.capacity_option,
            *(part and part.id for part in (platform.storage_server, platform.head_node, platform.fabric_switch)),
            platform.director is None,
            platform.has_spare_head,
        )
        if parts not in known:
            known[parts] = _each(platform, shares, prices, request, rates)
        each.append(known[parts])
    server, unit, cluster, per_server = (
        np.array([getattr(one, name) for one in each])[:, None] for name in _Each.__dataclass_fields__
    )
    there, units_there = np.zeros((2, len(platforms), 1))
    if existing.servers or existing.storage_nodes:
        for place, platform in enumerate(platforms):
            there[place] = existing.servers.get(platform.server.id, 0)
            host = platform.storage_server.id if platform.storage_server is not None else ""
            nodes = existing.storage_nodes.get(platform.storage.id, 0)
            units_there[place] = nodes // nodes_per_unit(platform.storage) + existing.servers.get(host, 0)
    per_unit = np.array([nodes_per_unit(platform.storage) for platform in platforms])[:, None]

    def bound(servers: Ints, nodes: Ints) -> Floats:
        new, units = np.maximum(servers - there, 0), np.maximum(nodes // per_unit - units_there, 0)
        cost = np.where(new > 0, new * server, 0.0) + np.where(units > 0, units * unit, 0.0)
        cost = cost + np.where(servers > 1, cluster + servers * per_server, 0.0)
        # A hair below, so that no rounding of sums makes it more than the whole design costs.
        return np.asarray(np.maximum(cost * (1 - 1e-9) - _HALF_CENT, 0.0))

    beyond = evaluated.space.sizes[-1:] + 1
    least = evaluated.class_least_nodes[evaluated.class_of][:, None]
    holds_data = np.any(evaluated.class_passes[Limit.STORAGE_CAPACITY], axis=1)[evaluated.class_of]
    return MainItems(
        cost=bound(evaluated.space.sizes, evaluated.class_nodes[evaluated.class_of]),
        larger=np.where(holds_data, bound(beyond, least)[:, 0], np.inf),
    )


def _each(
    platform: Platform,
    shares: "_SupportShares",
    prices: UnitPrices,
    request: SizingRequest,
    rates: OwnershipRates | None,
) -> _Each:
    def cost(part: Item) -> float:
        price = float(prices.of(part.id, platform)[1])
        running = 0.0
        if rates is not None and isinstance(part, Device):
            running = rates.years * least_yearly_cost(rates, part)
        return (1 + shares.of(part.id)) * price + running

    existing = request.existing
    server, *storage = _main_parts(platform)
    each = cost(server) + (0.0 if platform.host_memory is None else cost(platform.host_memory))
    unit = sum(map(cost, storage))
    cluster = per_server = 0.0
    if existing.servers or existing.storage_nodes or existing.switches:
        # Of a cluster that is there any of the rest may be there, too.
        return _Each(each, unit, cluster, per_server)
    if platform.head_node is not None:
        cluster += cost(platform.head_node) * (2 if platform.has_spare_head else 1)
    if platform.fabric_switch is not None and platform.director is None:
        cluster += cost(platform.fabric_switch)
    for line in lines_of(prices.catalog, platform):
        if line.status != "computed" or line.category != "software" or line.requires:
            continue
        if line.metric == "node" and {"cluster", "all"} & set(line.covers):
            per_server += float(prices.of(line.item, platform)[1]) * shares.times(line.item)
        elif line.metric == "raw-terabyte" and "storage nodes" in line.covers and storage:
            unit += prices.raw_tb(platform) * float(prices.of(line.item, platform)[1])
    return _Each(each, unit, cluster, per_server)


class _SupportShares:
    """Share of a part's price that its support costs where that is unknown, over the years of an ownership."""

    def __init__(self, prices: UnitPrices, rates: OwnershipRates | None) -> None:
        self._prices, self._rates = prices, rates
        self._support = [
            item
            for item in prices.catalog.support.values()
            if item.orderable
            and not item.optional
            and not {"any", "cluster"} & set(item.applies_to)
            and prices.is_percentage(item.id)
        ]
        self._known: dict[str, float] = {}

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
        if part_id not in self._known:
            named = [item.id for item in self._support if supports(item, part_id, self._prices)]
            self._known[part_id] = sum(float(self._prices.of_share(name)[1]) * self.times(name) for name in named)
        return self._known[part_id]
