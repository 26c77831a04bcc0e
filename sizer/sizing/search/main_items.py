"""What the main items of every design cost, in one pass: servers, storage, and the support of both."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.base.errors import RequestError
from sizer.base.quantities import grouped
from sizer.bom.ownership import OwnershipRates
from sizer.bom.ownership_interval import least_yearly_cost
from sizer.bom.prices import BAND_CURRENCY, PriceBook
from sizer.bom.unit_prices import SMALL, UnitPrices, unit_prices
from sizer.catalog.items import Item
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device
from sizer.physical.capacity import counts_nodes, nodes_per_unit, nodes_there
from sizer.physical.networks.leaf_pairs import PAIR
from sizer.physical.networks.members import MOST_ON_LAN
from sizer.physical.networks.ports import fabric_numbers, in_band_numbers, management_numbers, switch_numbers
from sizer.physical.networks.storage_networks import BACK_END_SIDES
from sizer.physical.platform import Platform
from sizer.physical.platforms import leaf_ports
from sizer.physical.software_lines import SoftwareLine, lines_of
from sizer.sizing.checks import Limit
from sizer.sizing.search.feasibility import EvaluatedSpace
from sizer.workload.request import SizingRequest

# Whole designs are compared to the cent.
_HALF_CENT = 0.005


def ranking_prices(
    request: SizingRequest, platforms: Sequence[Platform], catalog: Catalog, book: PriceBook
) -> UnitPrices:
    """Prices by which the designs of a request are ranked, in the middle of bands and at the confidence asked.

    Notes
    -----
    Bands are amounts in :data:`~sizer.bom.prices.BAND_CURRENCY`, converted where the request states an exchange rate.
    For a request in another currency without one, its own prices rank only where every server and every storage system
    that can be bought has one; what is left to bands is then small, and taken at par. Otherwise all is compared in the
    currency of the bands.
    """
    return unit_prices(catalog, book, ranking_currency(request, platforms, book), (0.5, request.confidence), SMALL)


def ranking_currency(request: SizingRequest, platforms: Sequence[Platform], book: PriceBook) -> str:
    """Currency in which the designs of a request are compared, as :func:`ranking_prices` says."""
    if book.per_usd(request.currency) is None:
        main = {part.id for platform in platforms for part in _main_parts(platform)}
        if any(book.net(item, request.currency) is None for item in main):
            return BAND_CURRENCY
    return request.currency


def check_budget(request: SizingRequest, platforms: Sequence[Platform], book: PriceBook) -> None:
    """A budget is compared with prices in its own currency.

    Raises
    ------
    RequestError
        If the prices that decide are in another currency, and the request states no exchange rate.
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
    larger: Floats  # (platforms,) of every larger design; inf where the storage cannot hold the data


def main_items_cost(
    request: SizingRequest, evaluated: EvaluatedSpace, prices: UnitPrices, rates: OwnershipRates | None = None
) -> MainItems:
    """Cost of servers, storage tiers, head node, switches, licences and support at the second height of ``prices``.

    With the rates of an ownership also the energy and rack units of servers, storage and head node over its years.
    """
    existing, platforms = request.existing, evaluated.platforms
    # Of a cluster that is there any of the rest may be there, too.
    is_expansion = bool(existing.servers or existing.storage_nodes or existing.switches)
    amounts = _amounts(tuple(platforms), prices, rates, is_expansion)
    server, unit, tier, per_unit = amounts[:4]
    head, shared, per_server, leaf, leaves_each, lower_leaf, lower_leaves_each, one_leaf, is_shared, few = amounts[4:]
    there, units_there = np.zeros((2, len(platforms), 1))
    if existing.servers or existing.storage_nodes:
        for place, platform in enumerate(platforms):
            there[place] = platform.servers_there(existing.servers)
            host = platform.storage_server.id if platform.storage_server is not None else ""
            nodes = nodes_there(platform.storage, existing.storage_nodes.get(platform.storage.id, 0))
            units_there[place] = nodes // nodes_per_unit(platform.storage) + existing.servers.get(host, 0)

    def bound(servers: Ints, nodes: Ints) -> Floats:
        new, units = np.maximum(servers - there, 0), np.maximum(nodes // per_unit - units_there, 0)
        cost = np.where(new > 0, new * server, 0.0) + np.where(units > 0, units * unit, 0.0)
        leaves, lower = (
            leaf * np.maximum(servers * leaves_each, 1),
            lower_leaf * np.maximum(servers * lower_leaves_each, 1),
        )
        # Storage that is shared is joined to few servers, too.
        many = head + shared + servers * per_server + leaves + lower
        cost = cost + tier + np.where(servers > few, many, one_leaf * leaves + is_shared * (shared + lower))
        # A hair below, so that no rounding of sums makes it more than the whole design costs.
        return np.asarray(np.maximum(cost * (1 - 1e-9) - _HALF_CENT, 0.0))

    beyond = evaluated.space.sizes[-1:] + 1
    least = evaluated.class_least_nodes[evaluated.class_of][:, None]
    holds_data = np.any(evaluated.class_passes[Limit.STORAGE_CAPACITY], axis=1)[evaluated.class_of]
    return MainItems(
        cost=bound(evaluated.space.sizes, evaluated.class_nodes[evaluated.class_of]),
        larger=np.where(holds_data, bound(beyond, least)[:, 0], np.inf),
    )


@lru_cache(maxsize=128)  # lists of platforms at a few confidences
def _amounts(
    platforms: tuple[Platform, ...], prices: UnitPrices, rates: OwnershipRates | None, is_expansion: bool
) -> Floats:
    """What a server, a unit of storage and a second tier cost, the nodes of a unit, and :meth:`_Amounts.cluster`.

    Shape (14, platforms, 1).
    """
    of = _Amounts(prices, rates, is_expansion=is_expansion)
    rows = [
        (of.server(one), of.unit(one), of.tier(one), nodes_per_unit(one.storage), *of.cluster(one)) for one in platforms
    ]
    return np.array(rows, dtype=float).T[..., None]


@lru_cache(maxsize=4096)
def _licences(catalog: Catalog, platform: Platform) -> tuple[SoftwareLine, ...]:
    """Software that every design of a platform needs and that is bought by the node or by the terabyte."""
    return tuple(
        line
        for line in lines_of(catalog, platform)
        if line.status == "computed"
        and line.category == "software"
        and not line.requires
        and not line.elsewhere
        and line.metric in ("node", "raw-terabyte")
    )


class _Amounts:
    """What the main items of a platform cost, at the second height of the prices."""

    def __init__(self, prices: UnitPrices, rates: OwnershipRates | None, *, is_expansion: bool) -> None:
        self._prices, self._rates, self._is_expansion = prices, rates, is_expansion
        self._shares = _SupportShares(prices, rates)

    def server(self, platform: Platform) -> float:
        """A server with its memory."""
        memory = platform.host_memory
        return self._cost(platform.server, platform) + (0.0 if memory is None else self._cost(memory, platform))

    def unit(self, platform: Platform) -> float:
        """A chassis or storage server, with what its terabytes cost in licences."""
        _, *storage = _main_parts(platform)
        amount = sum(self._cost(part, platform) for part in storage)
        if not storage or self._is_expansion:
            return amount
        return amount + sum(
            self._prices.raw_tb(platform) * float(self._prices.of(line.item, platform)[1])
            for line in _licences(self._prices.catalog, platform)
            if line.metric == "raw-terabyte" and "storage nodes" in line.covers
        )

    def cluster(self, platform: Platform) -> Floats:
        """Amounts of what joins servers with each other and with their storage, shape (10,).

        Once: the head node of more than one server; gateway, switches of the in-band network and of the back end; the
        licences of each server; a leaf of the compute fabric, how many of them the ports of a server fill, and both for
        the 1 GbE network. Of either network there is one leaf at least, and no leaf has more links than ports. Last,
        whether few servers are joined to their storage by such a leaf, whether their storage is shared, and how many
        servers are few: one, or those of replicas apart that join the customer's network.
        """
        if self._is_expansion:
            return np.zeros(10)
        usual = self._joined(platform)
        # Of either size of networks the lesser amount: a bound of both.
        return usual if platform.few is None else np.minimum(self._joined(platform.few), usual)

    def _joined(self, platform: Platform) -> Floats:
        """:meth:`cluster` with the networks of a platform, whatever those of a few servers are."""
        is_apart = platform.has_replicas_apart
        has_storage_leaf = platform.attachment in ("fabric", "gateway", "spine")
        head = shared = per_server = leaf = leaves_each = lower_leaf = lower_leaves_each = 0.0
        server, lower = platform.server, platform.management_switch
        if platform.head_node is not None and not is_apart:
            head = self._cost(platform.head_node, platform) * (2 if platform.has_spare_head else 1)
        if platform.attachment == "gateway" and platform.gateway is not None:
            shared += self._cost(platform.gateway, platform)
        if platform.back_end_switch is not None:
            shared += self._cost(platform.back_end_switch, platform) * len(BACK_END_SIDES)
        if platform.in_band_switch is not None and in_band_numbers(server).size:
            shared += self._cost(platform.in_band_switch, platform) * PAIR
        if platform.fabric_switch is not None and platform.director is None and (has_storage_leaf or not is_apart):
            leaf = self._cost(platform.fabric_switch, platform)
            links, ports = (
                fabric_numbers(server, platform.fabric).size,
                leaf_ports(platform.fabric_switch, platform.fabric),
            )
            leaves_each = links / ports
        if management_numbers(server).size:
            lower_leaf = self._cost(lower, platform)
            ports = switch_numbers(lower, platform.management_link).size
            lower_leaves_each = management_numbers(server).size / ports
        for line in _licences(self._prices.catalog, platform):
            if line.metric == "node" and ({"all"} if is_apart else {"cluster", "all"}) & set(line.covers):
                per_server += float(self._prices.of(line.item, platform)[1]) * self._shares.times(line.item)
        joins = (has_storage_leaf, platform.attachment not in ("lan", "local"), MOST_ON_LAN if is_apart else 1)
        return np.array([head, shared, per_server, leaf, leaves_each, lower_leaf, lower_leaves_each, *joins])

    def tier(self, platform: Platform) -> float:
        """The units of a capacity tier, which every number of servers needs alike."""
        second = platform.second_tier
        if self._is_expansion or second is None or second.storage is None:
            return 0.0
        return -(-second.nodes // nodes_per_unit(second.storage)) * self._cost(second.storage, platform)

    def _cost(self, part: Item, platform: Platform) -> float:
        price = float(self._prices.of(part.id, platform)[1])
        running = 0.0
        if self._rates is not None and isinstance(part, Device):
            running = self._rates.years * least_yearly_cost(self._rates, part)
        return (1 + self._shares.of(part.id)) * price + running


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
            named = [item.id for item in self._support if self._prices.supports(item.id, part_id)]
            self._known[part_id] = sum(float(self._prices.of_share(name)[1]) * self.times(name) for name in named)
        return self._known[part_id]
