"""What the main items of every design cost, in one pass: servers, storage, and the support of both."""

from collections.abc import Sequence
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
from sizer.physical.networks.leaf_pairs import PAIR
from sizer.physical.networks.members import MOST_ON_LAN
from sizer.physical.networks.ports import fabric_numbers, in_band_numbers, management_numbers, switch_numbers
from sizer.physical.networks.storage_networks import BACK_END_SIDES
from sizer.physical.platform import Platform
from sizer.physical.platforms import leaf_ports
from sizer.physical.software_lines import SoftwareLine, lines_of
from sizer.sizing.checks import Limit
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
        main = {part.id for platform in platforms for part in _main_parts(platform)}
        if any(book.net(item, request.currency) is None for item in main):
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
    larger: Floats  # (platforms,) of every larger design; inf where the storage cannot hold the data


def main_items_cost(
    request: SizingRequest, evaluated: EvaluatedSpace, prices: UnitPrices, rates: OwnershipRates | None = None
) -> MainItems:
    """Cost of servers, storage tiers, head node, switches, licences and support at the second height of ``prices``.

    With the rates of an ownership also the energy and rack units of servers, storage and head node over its years.
    """
    existing, platforms = request.existing, evaluated.compiled
    # Of a cluster that is there any of the rest may be there, too.
    is_expansion = bool(existing.servers or existing.storage_nodes or existing.switches)
    amounts = _amounts(evaluated, prices, rates, is_expansion)
    there, units_there = np.zeros((2, len(platforms), 1))
    if existing.servers or existing.storage_nodes:
        for place, platform in enumerate(platforms):
            there[place] = platform.servers_there(existing.servers)
            host = platform.storage_server.id if platform.storage_server is not None else ""
            nodes = nodes_there(platform.storage, existing.storage_nodes.get(platform.storage.id, 0))
            units_there[place] = nodes // nodes_per_unit(platform.storage) + existing.servers.get(host, 0)

    def bound(servers: Ints, nodes: Ints, some: slice) -> Floats:
        server, unit, tier, per_unit, head, shared, per_server, leaf, leaves_each, *joins = amounts[:, some]
        lower_leaf, lower_leaves_each, one_leaf, is_shared, few = joins
        new, units = np.maximum(servers - there[some], 0), np.maximum(nodes // per_unit - units_there[some], 0)
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

    def bounds(servers: Ints, class_nodes: Ints) -> Floats:
        step = max(BLOCK_ROWS // servers.size, 1)
        blocks = (slice(start, start + step) for start in range(0, len(platforms), step))
        return np.concatenate([bound(servers, class_nodes[evaluated.class_of[some]], some) for some in blocks])

    beyond = evaluated.space.sizes[-1:] + 1
    holds_data = np.any(evaluated.class_passes[Limit.STORAGE_CAPACITY], axis=1)[evaluated.class_of]
    return MainItems(
        cost=bounds(evaluated.space.sizes, evaluated.class_nodes),
        larger=np.where(holds_data, bounds(beyond, evaluated.class_least_nodes[:, None])[:, 0], np.inf),
    )


_NOTHING = -1  # place of a part that a platform does not have


class _Table(NamedTuple):
    """Main parts of some platforms, whatever they cost. Arrays (..., platforms); places are among the pieces."""

    pieces: list[tuple[Item, int]]  # every part, with the place of a platform that uses it
    licences: list[tuple[SoftwareLine, ...]]
    parts: Ints  # server, memory, unit of storage, unit of a second tier
    numbers: Floats  # nodes of a unit, its raw TB, units of a second tier
    licence: Ints
    # With the networks of many servers, and with those of a few: head node, gateway, switches of back end, of the
    # in-band network, leaf of the compute fabric, and of the 1 GbE network.
    joined: tuple[Ints, Ints]
    # How many of the first four; leaves that a server's ports fill, of either network; whether few servers are joined
    # to their storage by a leaf, whether it is shared, and how many are few; the licences, and whether replicas are
    # apart.
    joined_numbers: tuple[Floats, Floats]


@lru_cache(maxsize=128)
def _table(platforms: tuple[Platform, ...], catalog: Catalog) -> _Table:
    pieces: dict[tuple[object, ...], tuple[Item, int, int]] = {}
    licences: dict[tuple[SoftwareLine, ...], int] = {}

    def place(part: Item | None, platform: Platform, index: int) -> int:
        if part is None:
            return _NOTHING
        holds_data = part is platform.server and platform.storage.kind == "local"  # in drives that prices know
        key = (part, piece_of(part.id, platform), holds_data)
        return pieces.setdefault(key, (part, index, len(pieces)))[-1]

    def licence(platform: Platform) -> int:
        """Place of the software that every design of a platform needs."""
        lines = (line for line in lines_of(catalog, platform) if not line.requires and not line.elsewhere)
        needed = tuple(line for line in lines if (line.category, line.status) == ("software", "computed"))
        return licences.setdefault(needed, len(licences))

    def joined(platform: Platform, index: int) -> tuple[list[int], list[float]]:
        server, lower, switch = platform.server, platform.management_switch, platform.fabric_switch
        is_apart, by_leaf = platform.has_replicas_apart, platform.attachment in ("fabric", "gateway", "spine")
        managed, has_leaf = management_numbers(server).size, platform.director is None and (by_leaf or not is_apart)
        leaves_each = lower_each = 0.0
        if switch is not None and has_leaf:
            leaves_each = fabric_numbers(server, platform.fabric).size / leaf_ports(switch, platform.fabric)
        if managed:
            lower_each = managed / switch_numbers(lower, platform.management_link).size
        parts = (
            None if is_apart else platform.head_node,
            platform.gateway if platform.attachment == "gateway" else None,
            platform.back_end_switch,
            platform.in_band_switch if in_band_numbers(server).size else None,
            switch if has_leaf else None,
            lower if managed else None,
        )
        counts = (2 if platform.has_spare_head else 1, 1, len(BACK_END_SIDES), PAIR)
        joins = (by_leaf, platform.attachment not in ("lan", "local"), MOST_ON_LAN if is_apart else 1)
        numbers = (*counts, leaves_each, lower_each, *joins, licence(platform), is_apart)
        return [place(part, platform, index) for part in parts], [float(number) for number in numbers]

    rows, usual, few = [], [], []
    for index, one in enumerate(platforms):
        _, *storage = _main_parts(one)
        tier = one.second_tier
        second = None if tier is None else tier.storage
        parts = (one.server, one.host_memory, next(iter(storage), None), second)
        tiers = 0 if tier is None or second is None else -(-tier.nodes // nodes_per_unit(second))
        numbers = (nodes_per_unit(one.storage), UnitPrices.raw_tb(one) if storage else 0.0, tiers)
        rows.append(([place(part, one, index) for part in parts], numbers, licence(one)))
        usual.append(joined(one, index))
        few.append(usual[-1] if one.few is None else joined(one.few, index))
    main, numbers_of, licence_of = (np.array(part) for part in zip(*rows, strict=True))
    each = [[np.array(part).T for part in zip(*one, strict=True)] for one in (usual, few)]
    places, counts_of = zip(*each, strict=True)
    found = [(part, index) for part, index, _ in pieces.values()]
    return _Table(found, list(licences), main.T, numbers_of.T, licence_of, places, counts_of)


def _amounts(evaluated: EvaluatedSpace, prices: UnitPrices, rates: OwnershipRates | None, is_expansion: bool) -> Floats:
    """What a server, a unit of storage and a second tier cost, the nodes of a unit, and what joins the servers.

    That is, once: the head node of more than one server; gateway, switches of the in-band network and of the back end;
    the licences of each server; a leaf of the compute fabric, how many of them the ports of a server fill, and both for
    the 1 GbE network. Of either network there is one leaf at least, and no leaf has more links than ports. Last,
    whether few servers are joined to their storage by such a leaf, whether their storage is shared, and how many
    servers are few: one, or those of replicas apart that join the customer's network. At the second height of the
    prices; shape (14, platforms, 1).
    """
    platforms, shares = evaluated.platforms, _SupportShares(prices, rates)
    table = _table(evaluated.compiled, prices.catalog)

    def cost(part: Item, index: int) -> float:
        running = 0.0
        if rates is not None and isinstance(part, Device):
            running = rates.years * least_yearly_cost(rates, part)
        return (1 + shares.of(part.id)) * float(prices.of(part.id, platforms[index])[1]) + running

    def licence(metric: str, covers: set[str], *, is_repeated: bool) -> Floats:
        """What the licences of one metric that cover some nodes cost, of every set of them."""
        return np.array(
            [
                sum(
                    float(prices.of(line.item, platforms[0])[1]) * (shares.times(line.item) if is_repeated else 1)
                    for line in lines
                    if line.metric == metric and covers & set(line.covers)
                )
                for lines in table.licences
            ]
        )

    # What a platform does not have costs nothing.
    costs = np.array([*(cost(*piece) for piece in table.pieces), 0.0])
    server, memory, unit, second = costs[table.parts]
    per_unit, raw_tb, tiers = table.numbers
    main = [server + memory, unit, np.zeros(server.shape), per_unit]
    if is_expansion:
        return np.stack([*main, *np.zeros((10, len(platforms)))])[..., None]
    main[1] = unit + raw_tb * licence("raw-terabyte", {"storage nodes"}, is_repeated=False)[table.licence]
    main[2] = tiers * second
    per_server = [licence("node", covers, is_repeated=True) for covers in ({"cluster", "all"}, {"all"})]
    found = []
    for places, numbers in zip(table.joined, table.joined_numbers, strict=True):
        head, *shared = costs[places[:4]] * numbers[:4]
        which, is_apart = numbers[-2:].astype(np.int64)
        leaf, lower = costs[places[4:]]
        each = np.where(is_apart, per_server[1][which], per_server[0][which])
        found.append([head, sum(shared), each, leaf, numbers[4], lower, *numbers[5:9]])
    # Of either size of networks the lesser amount: a bound of both.
    return np.stack([*main, *np.minimum(*map(np.array, found))])[..., None]


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
