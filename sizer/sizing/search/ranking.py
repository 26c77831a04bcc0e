"""The order of designs: money decides, in ranges. The best of each platform, the platforms, and the front."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush
from itertools import count, islice
from statistics import NormalDist

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.bom.cost import component_amounts, heights_of
from sizer.bom.ownership import row_totals
from sizer.bom.unit_prices import SMALL, UnitPrices, unit_prices
from sizer.catalog.items import Item, is_of_vendor
from sizer.catalog.sale import since
from sizer.physical.components import Component, bought_of
from sizer.physical.platform import Platform, PlatformKey
from sizer.physical.racks.site_rules import liquid_heat_w
from sizer.sizing.reasons import CostDifference, QuoteToSettle, TieBreak
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.stages.serving_rates import MOST_FOR_FIRST_TOKENS
from sizer.workload.request import Platforms, SizingRequest, ranks_by_cost

MOST_QUOTES = 3
# Of all that missing prices can move the difference by, the least share of a quote worth asking for.
_LEAST_SHARE = 0.1
_AT_CONFIDENCE = 2  # place among the heights


@dataclass(frozen=True)
class PricedOrder:
    """What a design orders."""

    platform: Platform
    amounts: Mapping[str, Floats]  # item -> cost at the heights of :func:`sizer.bom.cost.heights_of`
    pieces: Mapping[str, float]  # item -> number ordered
    # What owning it costs beyond its purchase, at the heights; 0 where designs are compared by what they cost to buy.
    running: Floats = field(default_factory=lambda: np.zeros(4))

    @classmethod
    def of(cls, platform: Platform, items: Iterable[str], pieces: Iterable[int], amounts: Floats) -> "PricedOrder":
        """The order of some lines that cost ``amounts``, shape (lines, heights); those without an item are left out."""
        by_item: dict[str, Floats] = {}
        counts: dict[str, int] = {}
        for item, number, amount in zip(items, pieces, amounts, strict=True):
            if not item:
                continue
            by_item[item] = np.asarray(by_item.get(item, 0.0) + amount)
            counts[item] = counts.get(item, 0) + number
        return cls(platform, by_item, counts)

    @classmethod
    def of_parts(cls, platform: Platform, parts: Sequence[Component], prices: UnitPrices) -> "PricedOrder":
        """The order of what is bought of one design."""
        amounts = component_amounts(parts, platform, prices)[..., 0].T
        return cls.of(platform, (part.item for part in parts), (int(part.quantity[0]) for part in parts), amounts)


def difference(order: PricedOrder, other: PricedOrder, prices: UnitPrices) -> CostDifference:
    """What an order costs more than another.

    ``prices``: by which both are priced, at the heights of :func:`sizer.bom.cost.heights_of`.

    A part that both orders hold costs the same in both: its unknown price moves the difference by (pieces of one -
    pieces of the other) x price. The ends are the sums of what every item can move at most.
    """
    moved, running = _moved(order, other), order.running - other.running
    ranges = [_range(item, amounts, order, other, prices) for item, amounts in moved.items()]
    low, high = np.sum([*ranges, (running.min(), running.max())], axis=0).tolist()
    _, expected, at_confidence, _ = np.sum([*moved.values(), running], axis=0)
    quotes = () if low > 0 or high < 0 else ordered(quotes_between(other, order, prices), prices)[:MOST_QUOTES]
    # Each price is anywhere in its band, whatever the others are.
    deviation = math.sqrt(sum((least - most) ** 2 for least, most in ranges) / 12)
    p_more = NormalDist(0, deviation).cdf(expected) if 0 < deviation < math.inf else 0.5 + 0.5 * np.sign(expected)
    return CostDifference(
        prices.currency, low, float(expected), float(at_confidence), high, tuple(quotes), float(p_more)
    )


def quotes_between(priced_order: PricedOrder, other: PricedOrder, prices: UnitPrices) -> list[QuoteToSettle]:
    """Quotes that move the difference of two orders noticeably."""
    swings: dict[str, float] = {}
    moved, fitted = _moved(other, priced_order), [prices.fitted(order.platform) for order in (priced_order, other)]
    for item, amounts in moved.items():
        swing = abs(float(amounts[-1] - amounts[0]))
        if (
            np.isfinite(swing)
            and prices.catalog.category_of(item) not in SMALL
            and not all(own.is_known(item) for own in fitted)
        ):
            swings[item] = swing
    least = _LEAST_SHARE * sum(swings.values())
    gap = float(sum(amounts[_AT_CONFIDENCE] for amounts in (*moved.values(), other.running - priced_order.running)))
    return [
        QuoteToSettle(
            item,
            prices.catalog.item(item).name,
            round(swing, 2),
            _turning_price(priced_order, other, item, gap, prices),
            prices.currency,
            next((order.platform.fitting for order in (priced_order, other) if order.platform.server.id == item), "")
            if prices.catalog.price_needs_gpus(item)
            else "",
        )
        for item, swing in swings.items()
        if swing > 0 and swing >= least
    ]


def ordered(quotes: list[QuoteToSettle], prices: UnitPrices) -> list[QuoteToSettle]:
    """Quotes, the heaviest first.

    A quote that turns the order by itself comes before one that does so with others. Support comes last: it is quoted
    with what it supports.
    """
    return sorted(
        quotes,
        key=lambda quote: (prices.is_percentage(quote.item), quote.turns_at is None, -(quote.swing or 0.0)),
    )


def _moved(order: PricedOrder, other: PricedOrder) -> dict[str, Floats]:
    """Item -> what one order pays more for it, at the heights; NaN where both hold a part without any bound."""
    nothing, found = np.zeros(4), {}
    for item in dict.fromkeys([*order.amounts, *other.amounts]):
        first, second = order.amounts.get(item, nothing), other.amounts.get(item, nothing)
        with np.errstate(invalid="ignore"):  # inf - inf
            found[item] = np.zeros(4) if np.array_equal(first, second) else np.asarray(first - second)
    return found


def _range(item: str, moved: Floats, order: PricedOrder, other: PricedOrder, prices: UnitPrices) -> tuple[float, float]:
    """Least and most that one order pays more for an item than another."""
    first, second = order.amounts.get(item), other.amounts.get(item)
    if np.isnan(moved).any():
        return -np.inf, np.inf
    if first is None or second is None or not _is_other_part(item, order, other, prices):
        return float(moved.min()), float(moved.max())
    return float(first[0] - second[-1]), float(first[-1] - second[0])


def _is_other_part(item: str, order: PricedOrder, other: PricedOrder, prices: UnitPrices) -> bool:
    """Whether an item of both orders is not the same part: other drives, another number of GPUs."""
    if prices.is_percentage(item):
        return False
    return not np.array_equal(prices.of(item, order.platform), prices.of(item, other.platform))


def _turning_price(order: PricedOrder, other: PricedOrder, item: str, gap: float, prices: UnitPrices) -> float | None:
    """Price of one piece at which two orders cost the same; None where no price in the band does that.

    Every other price is that of the ranking, at the confidence of the request.
    """
    if prices.is_percentage(item) or not np.isfinite(gap):
        return None
    more = other.pieces.get(item, 0) - order.pieces.get(item, 0)
    if not more:
        return None
    dearer = other if more > 0 else order
    low, _, likely, high = prices.of(item, dearer.platform).tolist()
    # Support that costs a share of the price moves with it.
    shares = [
        float(prices.of(name, dearer.platform)[_AT_CONFIDENCE])
        for name in dearer.amounts
        if prices.is_percentage(name) and prices.supports(name, item)
    ]
    turns_at = likely - gap / (more * (1 + sum(shares)))
    return round(turns_at, 2) if low <= turns_at <= high else None


# Whether a row ranks closely enough behind the first one.
InReach = Callable[[int, int], bool]


def preferred_parts(platforms: Sequence[Platform], asked: Platforms) -> Ints:
    """How much of a platform is of a preferred vendor, 0 to 7: of the GPUs 4, of their servers 2, of the storage 1.

    Local drives come with the server, and nobody offers storage that the customer has: both count as the server does.
    """

    found = []
    for platform in platforms:
        server, storage = platform.server, platform.storage
        is_offered = storage.kind != "local" and (storage.orderable or storage.server is not None)
        parts = (platform.gpu, server, storage if is_offered else server)
        found.append(sum(weight * is_preferred(part, asked) for weight, part in zip((4, 2, 1), parts, strict=True)))
    return np.array(found, dtype=np.int64)


def is_preferred(item: Item, asked: Platforms) -> bool:
    """Whether an item is of a preferred vendor."""
    return any(is_of_vendor(item.vendor, name) for name in asked.prefer_vendors)


def preferred_first(rows: Iterator[int], parts: Callable[[int], int], most: int, in_reach: InReach) -> Iterator[int]:
    """Ranked rows with the preferred one first; the others keep their order.

    ``rows``: best rows of the platforms in the order of the ranking. ``parts``: parts of preferred vendors of a row.
    ``most``: most of any row: none behind it can have more. ``in_reach``: whether the second row ranks closely enough
    behind the first one.

    Of the rows in reach of the first, the one with the most parts of preferred vendors leads; of equals the first.
    """
    looked_at: list[int] = []
    leader = None
    for row in rows:
        looked_at.append(row)
        if leader is not None and not in_reach(looked_at[0], row):
            break
        if leader is None or parts(row) > parts(leader):
            leader = row
        if parts(leader) == most:
            break
    if leader is None:
        return
    yield leader
    yield from (row for row in looked_at if row != leader)
    yield from rows


Key = tuple[float, ...]

# Designs this near to each other count as equally fast; of them the cheapest leads. [-]
NEAR_TIE = 0.01
# Costs are equal where neither is the lower one with this probability: then quotes decide, not bands. [-]
SETTLED = 0.75
# From here on a design takes less: a smaller factor is hardly visible within the intervals of rates and watts. [-]
_NOTICEABLE = 1.1
# And where the dearer one costs at most so much more at the confidence asked: what a preference is worth, and what each
# change of software or water must save. [-]
MOST_TIED = 1.15
# Where the first asks for such changes, those that cost so much more at the confidence asked beyond what the changes
# must save are looked at, too: bands are wide, and what at most costs half more may be expected to cost as much.
_MOST_LOOKED_AT = 1.5
# Documents show a design beside others on other GPUs, if some are among the first so many: one server with eight kinds
# of storage is no choice.
_MOST_OF_KIND, _LOOKED_AT = 3, 48
# Stands among ranked rows behind the last one that may tie with the first.
_NO_MORE_TIED = -1
# In place of the row of a design: those of a platform that are not counted, and those beyond what is looked at.
_WAITING, _BEYOND = -1, -2


def keys(counts: PartCounts, rows: Ints) -> list[Floats]:
    """Order of designs of equal cost: fewest servers, storage nodes, rack units, watts, storage that is not assumed,
    slower fabric, smaller drives.

    Before these, where servers or storage are there, what must be bought and the kinds that are left idle. The last
    two keep out a faster network and larger drives than are needed.
    """
    evaluated = counts.evaluated
    platform = rows // len(evaluated.space.sizes)
    return [
        *counts.purchase[:, rows],
        evaluated.space.sizes[rows % len(evaluated.space.sizes)].astype(float),
        evaluated.storage_nodes[rows].astype(float),
        counts.rack_units[rows],
        counts.power_w[rows],
        counts.storage_is_assumed[platform],
        evaluated.exchange_bytes_per_s[platform],
        counts.raw_bytes[rows],
    ]


def order_of(counts: PartCounts, rows: Ints, *, is_one_platform: bool = False) -> list[Floats]:
    """Keys of designs in their order: fewest unknowns, likely within the budget, on servers and storage that are there
    and enough, what the request ranks by, cost.

    Then :func:`keys`. Cost is that of ownership where the request ranks by it. What a rate costs orders kinds of GPUs,
    not the sizes of one platform: a larger cluster shares its fixed costs. Designs whose first tokens are not sure
    count :data:`MOST_FOR_FIRST_TOKENS`.
    """
    late = np.where(counts.evaluated.is_late[rows], MOST_FOR_FIRST_TOKENS, 1.0)
    costs_decide = is_by_cost(counts.request) or (is_one_platform and counts.request.ranks_by_rate)
    asked = [] if costs_decide else [late * rank_key(counts, rows)]
    return [
        uncertainty(counts, rows) - counts.evaluated.is_late[rows],
        beyond_budget(counts, counts.likely_cost[rows]).astype(float),
        counts.buys_what_is_there.reshape(-1)[rows].astype(float),
        *asked,
        late * counts.ranking_cost[rows],
        *keys(counts, rows),
    ]


def is_by_cost(request: SizingRequest) -> bool:
    """Whether an amount of money alone orders designs."""
    return ranks_by_cost(request.rank_by) and not request.ranks_by_rate


def uncertainty(counts: PartCounts, rows: Ints) -> Floats:
    """How far designs depend on unknowns: 1 for each on which the request depends, half where the energy is open, and
    where a team's durations are.

    First tokens that are kept less surely than was asked are one, too.
    """
    is_open = counts.durations_are_open[rows // len(counts.evaluated.space.sizes)]
    halves = 0.5 * counts.energy_is_open[rows] + 0.5 * is_open
    return np.asarray(counts.unknowns[rows] + counts.evaluated.is_late[rows] + halves)


def beyond_budget(counts: PartCounts, likely_cost: Floats) -> Bools:
    """Whether a cost at the confidence of the request lies above its budget."""
    budget = counts.request.limits.budget
    if budget is None:
        return np.zeros(likely_cost.shape, dtype=bool)
    return np.asarray(likely_cost > budget)


def best_of(counts: PartCounts, rows: Ints) -> int:
    """Best of some feasible rows of one platform; equal ones fall to the earlier."""
    return int(rows[np.lexsort(order_of(counts, rows, is_one_platform=True)[::-1])[0]])


def rank_key(counts: PartCounts, rows: Ints) -> Floats:
    """Key that platforms are ranked by: what the user chose, else cost at the confidence of the request.

    Of a number of GPUs what their rate costs.
    """
    evaluated, rank_by = counts.evaluated, counts.request.rank_by
    if counts.request.ranks_by_rate:
        return np.asarray(counts.ranking_cost[rows] / evaluated.gpu_rate_at(rows))
    if rank_by == "time":
        # Of the medians of many GPUs the highest is often the one that is known least.
        return _in_steps(evaluated.time_at(rows, counts.request.confidence))
    if rank_by == "gpus":
        return evaluated.space.n_servers[rows] * evaluated.gpus_per_server[evaluated.space.platform[rows]]
    if rank_by == "rack-units":
        return counts.rack_units[rows]
    if rank_by == "watts":
        return counts.power_w[rows]
    return counts.ranking_cost[rows]


def _in_steps(time_s: Floats) -> Floats:
    """Times rounded up to steps of :data:`NEAR_TIE`: of two in one step the cheaper comes first."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.exp(np.ceil(np.log(time_s) / NEAR_TIE - 1e-9) * NEAR_TIE))


def is_tied(counts: PartCounts, first: int, other: int) -> bool:
    """Whether two designs depend on as many unknowns and cost as much, as far as price bands tell.

    A change of software, and water, each have to save 15 % at the confidence asked and at the expected cost: the price
    of what few sell has a narrow band because one source gives it. Of a number of GPUs these changes alone count, by
    what the rate of the GPUs costs.
    """
    if not ranks_by_cost(counts.request.rank_by):
        return False
    pair = np.array([first, other])
    if any(part[0] != part[1] for part in (uncertainty(counts, pair), *order_of(counts, pair)[:3])):
        return False
    cost, expected = rank_key(counts, pair), counts.expected_cost[pair]
    changes = np.array([sum(_changes_of(counts, row)) for row in (first, other)])
    if np.ptp(changes) and np.argmin(cost) == np.argmax(changes):
        if counts.request.ranks_by_rate:
            expected = expected / counts.evaluated.gpu_rate_at(pair)
        fewer, more = np.argsort(changes)
        return bool(min(each[fewer] / each[more] for each in (cost, expected)) <= MOST_TIED ** np.ptp(changes))
    if counts.request.ranks_by_rate or cost.max() > MOST_TIED * cost.min():
        return False
    p_more = row_difference(counts, other, first).p_more
    return 1 - SETTLED < (p_more if cost[1] > cost[0] else 1 - p_more) < SETTLED


def tie_break(counts: PartCounts, row: int, other: int) -> TieBreak | None:
    """What puts a design before another that costs the same; None: nothing does.

    What asks less of the building and the team comes first; then of servers that are there the lesser GPUs, as nobody
    says which they have; then newer GPUs and more memory of each, which are on sale for longer and hold what comes
    next, where a run ends those that are hardly slower. Then what is worth something beyond the targets, by no less
    than it costs more and in no more boxes: where a run ends, less time, not less surely; of a rate that is asked more
    is worth nothing, and less power in no more rack units is. Of much the same, fewer boxes do.
    """
    pair = np.array([row, other])
    here, there = (_changes_of(counts, each) for each in (row, other))
    if sum(here) != sum(there):
        return None if sum(here) > sum(there) else TieBreak.AIR if here[0] < there[0] else TieBreak.SOFTWARE
    if owned := counts.request.existing.servers:
        kinds = {counts.evaluated.platforms[int(place)].server.id for place in counts.evaluated.space.platform[pair]}
        if len(kinds) == 1 and kinds <= owned.keys() and (_is_newer(counts, *pair) or _is_newer(counts, *pair[::-1])):
            return TieBreak.OWNED if _is_newer(counts, other, row) else None
    servers, nodes = counts.evaluated.space.n_servers[pair], counts.evaluated.storage_nodes[pair]
    if servers[0] > servers[1] or nodes[0] > nodes[1]:
        return None
    ends = any(each.target.time_to_train_s is not None for each in counts.request.workload)
    taken, cost = counts.evaluated.time_at(pair) if ends else counts.power_w[pair], counts.expected_cost[pair]
    is_no_slower = [not ends or each <= _NOTICEABLE * taken.min() for each in taken]
    newer, older = (is_no_slower[each] and _is_newer(counts, pair[each], pair[1 - each]) for each in range(2))
    if newer or older:
        return TieBreak.NEWER if newer else None
    if not (taken[1] >= _NOTICEABLE * taken[0] and taken[1] * cost[1] >= taken[0] * cost[0]):
        is_same = taken[0] <= (1 + NEAR_TIE) * taken[1] and cost[0] <= (1 + NEAR_TIE) * cost[1]
        return TieBreak.FEWER_BOXES if is_same and np.ptp(servers + nodes) else None
    if not ends:
        is_less = counts.rack_units[row] <= counts.rack_units[other] and not counts.parts(row).draw_is_open[0]
        return TieBreak.LESS_POWER if is_less else None
    sure_s = counts.evaluated.time_at(pair, counts.request.confidence)
    return TieBreak.FASTER if sure_s[1] * (1 + NEAR_TIE) >= sure_s[0] else None


def _is_newer(counts: PartCounts, row: int, other: int) -> bool:
    """Whether each GPU of a design is newer with no less memory, or has more memory and is no older."""
    gpus = (counts.evaluated.platforms[int(counts.evaluated.space.platform[each])].gpu for each in (row, other))
    here, there = ((since(counts.catalog, gpu), gpu.memory_bytes.value) for gpu in gpus)
    return here != there and here[0] >= there[0] and here[1] >= there[1]


def unasked_changes(counts: PartCounts, platform: Platform) -> tuple[bool, bool]:
    """Whether a design takes water that nobody spoke of, and software that no server which is there runs; of GPUs that
    the request prefers it is asked for.
    """
    request = counts.request
    is_liquid, software = platform.technology
    has_water = request.site.cooling == "liquid" or any(
        liquid_heat_w(counts.catalog.servers[item]) > 0 for item in request.existing.servers
    )
    if software is None or is_preferred(platform.gpu, request.platforms):
        return is_liquid and not has_water, False
    there = request.existing.servers
    platforms = counts.evaluated.platforms if there else ()
    is_there = any(one.server.id in there and one.technology[1] == software for one in platforms)
    return is_liquid and not has_water, not is_there


def _changes_of(counts: PartCounts, row: int) -> tuple[bool, bool]:
    return unasked_changes(counts, counts.evaluated.platforms[int(counts.evaluated.space.platform[row])])


class UnsettledError(Exception):
    """The designs looked at do not settle what is asked: another one could come before.

    ``least``: key up to which more must be looked at, as far as is known.
    """

    def __init__(self, least: float) -> None:
        self.least = least
        super().__init__(least)


class Ranking:
    """Best designs of the platforms (kinds of server and storage), over their fabrics, GPUs and drive sizes.

    Designs of a platform and platforms follow each other by the key of the request, by cost where it names none. Cost
    is the amount that a design costs at most with the confidence of the request: an unknown
    price is never good news. A design that dominates another (its highest cost is below the other's lowest) stands
    before it by this key, too. Designs that depend on an unknown fact come last, and before them those that are not
    within the budget with that confidence. Of designs that are at most the percentage of the request behind the first
    by that key, one of preferred vendors leads.

    ``counts``: the designs. ``beyond``: key that no other design is below, of a request that money alone orders; inf
    where these are all. The first row that one of them could come before raises :class:`UnsettledError`.
    """

    def __init__(self, counts: PartCounts, *, beyond: float = math.inf) -> None:
        self._counts, self._beyond = counts, beyond
        self._found: list[int] = []  # the first
        self._further = _Order(counts, beyond=beyond).rows()  # those after them
        asked = counts.request.platforms
        self._parts = preferred_parts(counts.evaluated.platforms, asked) if asked.prefer_vendors else None

    def n_compared(self) -> int:
        """Platforms (kinds of server and storage) of which some design meets the targets and may fit the room.

        Counting the parts of all of them would take most of the time of a sizing.
        """
        could = np.flatnonzero(self._counts.candidates.any(axis=1)).tolist()
        return len({self._counts.evaluated.platforms[index].key for index in could})

    def parts_of_preferred_vendors(self, row: int) -> int:
        """How much of a row is of a preferred vendor, as :func:`preferred_parts`.

        Nothing of what takes other software or water that the first row does without: a vendor is preferred, not these.
        """
        if self._parts is None:
            return 0
        first = next(self.without_preference())
        if sum(_changes_of(self._counts, row)) > sum(_changes_of(self._counts, first)):
            return 0
        return int(self._parts[row // len(self._counts.evaluated.space.sizes)])

    def _is_in_reach(self, first: int, other: int) -> bool:
        """Whether a row is as free of unknowns and as likely within the budget, and close by the ranking's key."""
        counts, pair = self._counts, np.array([first, other])
        over, key = beyond_budget(counts, counts.likely_cost[pair]), rank_key(counts, pair)
        unknown = uncertainty(counts, pair)
        bought = counts.buys_what_is_there.reshape(-1)[pair]
        is_like = unknown[0] == unknown[1] and over[0] == over[1] and bought[0] == bought[1]
        return bool(is_like and key[1] <= (1 + counts.request.platforms.prefer_within_percent / 100) * key[0])

    def first(self, n: int) -> list[int]:
        """The first ``n`` of :meth:`varied`; only the platforms that could be among them are counted."""
        return list(islice(self.varied(), n))

    def varied(self) -> Iterator[int]:
        """The rows of :meth:`one_by_one` with GPUs of one kind a few times; more of the kind where no others follow."""
        ranked, evaluated = self.one_by_one(), self._counts.evaluated
        kinds, left = Counter[str](), list[int]()
        for row in islice(ranked, _LOOKED_AT):
            gpu = evaluated.platforms[int(evaluated.space.platform[row])].gpu.id
            kinds[gpu] += 1
            if kinds[gpu] <= _MOST_OF_KIND:
                yield row
            else:
                left.append(row)
        yield from left
        yield from ranked

    def one_by_one(self) -> Iterator[int]:
        """Best row of every platform in the order in which documents show them, each found when it is asked for."""
        rows = self.without_preference()
        if self._parts is None:
            return rows
        return preferred_first(rows, self.parts_of_preferred_vendors, int(self._parts.max()), self._is_in_reach)

    def without_preference(self) -> Iterator[int]:
        """The same without regard to preferred vendors."""
        for place in count():
            if place == len(self._found):
                row = next(self._further, None)
                if row is None:
                    break
                self._found.append(row)
            yield self._found[place]
        if self._beyond < math.inf:
            raise UnsettledError(self._beyond)


class _Order:
    """The order behind a :class:`Ranking`, which must not refer to it: arrays of the whole catalogue would stay."""

    def __init__(self, counts: PartCounts, *, beyond: float) -> None:
        self._counts, self._beyond = counts, beyond
        self._has_ties = ranks_by_cost(counts.request.rank_by)

    def rows(self) -> Iterator[int]:
        """Best rows of the platforms, each found when it is asked for."""
        ranked = self._in_order()
        return self._best_of_tie_first(ranked) if self._has_ties else ranked

    def _best_of_tie_first(self, rows: Iterator[int]) -> Iterator[int]:
        """Ranked rows; of those that cost as much as the first, the one that :func:`tie_break` puts first leads."""
        first = next(rows, None)
        if first is None:
            return
        leader, behind = first, [first]
        for row in rows:
            if row == _NO_MORE_TIED:
                break
            behind.append(row)
            if all(is_tied(self._counts, each, row) for each in {first, leader}):
                leader = leader if tie_break(self._counts, row, leader) is None else row
            elif not any(_changes_of(self._counts, leader)):
                break
        yield leader
        yield from (row for row in behind if row != leader)
        yield from (row for row in rows if row != _NO_MORE_TIED)

    def _is_beyond_budget(self, least: Floats) -> Bools:
        """Whether a design that costs at least so much is above the budget; owning one costs more than its purchase."""
        if self._counts.ownership_rates is not None:
            return np.zeros(least.shape, dtype=bool)
        return beyond_budget(self._counts, least)

    def _key(self, row: int) -> Key:
        return tuple(float(part[0]) for part in order_of(self._counts, np.array([row])))

    def _in_order(self) -> Iterator[int]:
        """Best rows of the platforms in the order of :func:`order_of`, each found when it is asked for.

        No design can do better than its servers and storage alone: until it is counted it stands in the order with that
        bound. The designs of a platform are counted in the order of their bounds, a few at a time. What comes out exact
        before all bounds is the next. Once no design that is still to come can tie with the first,
        :data:`_NO_MORE_TIED` stands among the rows.
        """
        bounds, designs_of = self._bounds()
        waiting: dict[int, _Waiting] = {}  # of the platforms that are looked at
        heap: list[tuple[Key, int, int]] = [(bound, _WAITING, index) for index, bound in bounds]
        if self._beyond < math.inf:
            over = float(is_by_cost(self._counts.request) and self._is_beyond_budget(np.array(self._beyond)))
            heap.append(((0.0, over, 0.0, self._beyond), _BEYOND, _BEYOND))
        heapify(heap)
        platforms, found = self._counts.evaluated.platforms, set[PlatformKey]()
        tied: Key | None = None  # that no design which ties with the first comes behind
        while heap:
            key, row, index = heappop(heap)
            if tied is not None and key[:4] > tied:
                tied = None
                yield _NO_MORE_TIED
            if row == _BEYOND:
                raise UnsettledError(key[_COST_PLACE] if tied is None else tied[_COST_PLACE])
            if platforms[index].key in found:
                continue
            if row >= 0:
                if self._has_ties and not found:
                    changes = sum(_changes_of(self._counts, row))
                    # By what a rate costs, nothing dearer ties with a design that asks for no change.
                    alike = 1.0 if self._counts.request.ranks_by_rate else MOST_TIED
                    most = _MOST_LOOKED_AT * MOST_TIED**changes if changes else alike
                    tied = (*key[:3], most * key[3])
                found.add(platforms[index].key)
                yield row
                continue
            if index not in waiting:
                waiting[index] = designs_of(index)
            sizes = waiting[index].take()
            rows = self._counts.keeping_limits(index, sizes)
            if is_by_cost(self._counts.request):
                waiting[index].raise_to(self._least_with_rest(index, sizes))
            if rows.size:
                best = best_of(self._counts, rows)
                heappush(heap, (self._key(best), best, index))
            if waiting[index].is_left:
                heappush(heap, (waiting[index].bound(), _WAITING, index))

    def _least_with_rest(self, index: int, counted: Ints) -> Floats:
        """(sizes,) cost that no design of a platform is below, by what those that were counted cost beside main items.

        More servers and nodes have no less of networks, racks and power.
        """
        counts, evaluated = self._counts, self._counts.evaluated
        main, nodes = counts.main_cost.cost[index], evaluated.class_nodes[evaluated.class_of[index]]
        rows = evaluated.space.of_platform(index).start + counted
        rest = _KEPT_OF_REST * (counts.ranking_cost[rows] - main[counted])
        has_more = (np.arange(main.size) >= counted[:, None]) & (nodes >= nodes[counted][:, None])
        return np.asarray(main + np.max(np.where(has_more, rest[:, None], 0.0), axis=0))

    def _bounds(self) -> tuple[list[tuple[int, Key]], Callable[[int], "_Waiting"]]:
        """Platforms of which some designs could be built, with the key that none comes before; and their designs."""
        counts, evaluated = self._counts, self._counts.evaluated
        places = np.flatnonzero(counts.candidates.any(axis=1))
        could = counts.candidates[places]
        if counts.request.ranks_by_rate:
            # The number of GPUs gives the size: the smallest that has them.
            could = could & (np.cumsum(could, axis=1) == 1)
        # Watts that nobody knows are found when a design is counted; they only put it further behind.
        shape = evaluated.space.n_platforms, -1
        unknown = counts.unknowns.reshape(shape)[places]
        late = np.where(evaluated.is_late.reshape(shape), MOST_FOR_FIRST_TOKENS, 1.0)
        over, least_key = self._is_beyond_budget(counts.main_cost.cost[places]), (late * self._least_key())[places]
        bought = counts.buys_what_is_there[places]
        # Designs with fewer unknowns come first, whatever they cost.
        fewest = np.where(could, unknown, np.iinfo(np.int64).max).min(axis=1)
        is_first = could & (unknown == fewest[:, None])
        is_over = np.all(over | ~is_first, axis=1)
        is_first &= over == is_over[:, None]
        least_bought = np.where(is_first, bought, 2).min(axis=1)
        is_first &= bought == least_bought[:, None]
        least = np.where(is_first, least_key, np.inf).min(axis=1)
        # Of designs with the same key the cheapest come first.
        cost = (0.0 if is_by_cost(counts.request) else 1.0) * counts.main_cost.cost[places]
        cheapest = np.where(is_first & (least_key == least[:, None]), cost, np.inf).min(axis=1)
        keys = zip(
            *(part.astype(float).tolist() for part in (fewest, is_over, least_bought, least, cheapest)), strict=True
        )

        def designs_of(index: int) -> _Waiting:
            place = int(np.searchsorted(places, index))
            return _Waiting(could[place], unknown[place], over[place], bought[place], least_key[place], cost[place])

        return list(zip(places.tolist(), keys, strict=True)), designs_of

    def _least_key(self) -> Floats:
        """(platforms, sizes) what :func:`rank_key` of a design is at the least."""
        counts, evaluated = self._counts, self._counts.evaluated
        shape = (evaluated.space.n_platforms, len(evaluated.space.sizes))
        if is_by_cost(counts.request):
            return counts.main_cost.cost
        if counts.request.ranks_by_rate:
            with np.errstate(divide="ignore", invalid="ignore"):  # of owned ones 0 over 0
                return np.asarray(counts.main_cost.cost / evaluated.class_gpu_rate[evaluated.class_of])
        if counts.request.rank_by == "time":
            return _in_steps(evaluated.class_least_time_s[evaluated.class_of])
        if counts.request.rank_by == "gpus":  # known of every design
            return np.reshape(rank_key(counts, np.arange(evaluated.space.n_rows)), shape)
        return counts.at_least["units" if counts.request.rank_by == "rack-units" else "watts"]


# Of what a smaller design has beside servers and storage, the share that a larger one has at least: longer cables, a
# director in place of leaves, spares that are shared.
_KEPT_OF_REST = 0.8
# Place of the cost among the parts of a key.
_COST_PLACE = 3


class _Waiting:
    """Designs of a platform that are not counted yet, in the order of what they cannot do better than."""

    def __init__(self, could: Bools, *parts: Ints | Bools | Floats) -> None:
        self._parts = list(parts)
        sizes = np.flatnonzero(could)
        self._sizes = sizes[np.lexsort([part[sizes] for part in reversed(parts)])]
        self._start, self._many = 0, 1

    @property
    def is_left(self) -> bool:
        return self._start < self._sizes.size

    def bound(self) -> Key:
        """Key that none of them comes before."""
        size = self._sizes[self._start]
        return tuple(float(part[size]) for part in self._parts)

    def raise_to(self, least_cost: Floats) -> None:
        """Take into account what they cost at least, by size."""
        self._parts[_COST_PLACE] = np.maximum(self._parts[_COST_PLACE], least_cost)
        left = self._sizes[self._start :]
        self._sizes[self._start :] = left[np.lexsort([part[left] for part in reversed(self._parts)])]

    def take(self) -> Ints:
        """Sizes of the next ones, twice as many each time."""
        taken = self._sizes[self._start : self._start + self._many]
        self._start, self._many = self._start + self._many, 2 * self._many
        return taken


# Designs after the first that are compared with it, and of these the ones whose order quotes would settle.
_COMPARED, _FOLLOWING = 7, 3


def quotes_to_settle(counts: PartCounts, order: Sequence[int]) -> tuple[QuoteToSettle, ...]:
    """The two or three quotes that could change which design leads, the heaviest first.

    ``order``: best rows of the platforms, ranked by cost. Returns empty where the first dominates the next ones: no
    missing price changes the order.

    A quote moves the difference of two designs by (pieces of one - pieces of the other) x the width of its band. The
    price at which the order turns takes every other price as the ranking does, at the confidence of the request.
    """
    heaviest: dict[str, QuoteToSettle] = {}
    if len(order) < 2:
        return ()
    prices = settling_prices(counts)
    first = order_of_row(counts, order[0], prices, order[0])
    followers = [row for row in order[1 : 1 + _COMPARED] if counts.unknowns[row] <= counts.unknowns[order[0]]]
    others = (order_of_row(counts, row, prices, order[0]) for row in followers)
    unsettled = (other for other in others if not difference(other, first, prices).low > 0)
    for other in islice(unsettled, _FOLLOWING):
        for quote in quotes_between(first, other, prices):
            known = heaviest.get(quote.item)
            if known is None or (known.swing or 0.0) < (quote.swing or 0.0):
                heaviest[quote.item] = quote
    return tuple(ordered(list(heaviest.values()), prices)[:MOST_QUOTES])


def order_of_row(counts: PartCounts, row: int, prices: UnitPrices, base: int) -> PricedOrder:
    """What the design of one row orders; ``prices`` are :func:`settling_prices`.

    Where designs are ranked by what their rate costs, as much of it as has the rate of the row ``base``.
    """
    parts, platform = counts.parts(row), counts.evaluated.platforms[int(counts.evaluated.space.platform[row])]
    order = PricedOrder.of_parts(platform, bought_of(parts.components), prices)
    if counts.request.ranks_by_rate and row != base:
        share = float(np.divide(*counts.evaluated.gpu_rate_at(np.array([base, row]))))
        amounts = {item: share * amount for item, amount in order.amounts.items()}
        return replace(order, amounts=amounts, pieces={item: share * count for item, count in order.pieces.items()})
    if counts.ownership_rates is None:
        return order
    owned = row_totals(parts, platform, prices, counts.ownership_rates)[:, 0]
    return replace(order, running=owned - np.sum(list(order.amounts.values()), axis=0))


def row_difference(counts: PartCounts, row: int, base: int) -> CostDifference:
    """What the design of one row costs more than that of another, to buy or to own, as that ranks designs."""
    prices = settling_prices(counts)
    return difference(order_of_row(counts, row, prices, base), order_of_row(counts, base, prices, base), prices)


def settling_prices(counts: PartCounts) -> UnitPrices:
    """Prices that rank designs, at the heights of a cost interval."""
    heights = heights_of(counts.request.confidence)
    return unit_prices(counts.catalog, counts.prices, counts.unit_prices.currency, heights, SMALL)


def front_rows(counts: PartCounts, chosen: int, most: int) -> list[int]:
    """Cheapest designs of the front, ascending by the cost that ranks designs.

    ``chosen``: row of the described design. Designs that depend on more unknowns are left out, as nobody knows what
    they reach, and those that are likely to cost more than the budget where it is not. ``most``: points that are looked
    for.

    Cost, watts and rack units of servers and storage alone, and the time at the slowest stage's median, are lower
    bounds of those of a design. A platform is counted when one of its designs could be the next point by these bounds,
    so that the points are those that counting every platform finds.
    """
    evaluated, n_sizes = counts.evaluated, len(counts.evaluated.space.sizes)
    index, size = divmod(chosen, n_sizes)
    described = counts.count(index, np.array([size]))
    known = float(uncertainty(counts, described)[0])
    is_over = bool(beyond_budget(counts, counts.likely_cost[described])[0])
    bounds = np.stack(
        [
            counts.main_cost.cost.reshape(-1),
            evaluated.over_rows(evaluated.class_least_time_s),
            counts.at_least["watts"].reshape(-1),
            counts.at_least["units"].reshape(-1),
        ],
        axis=1,
    )
    could = counts.candidates.reshape(-1) & (evaluated.unknowns <= known)
    front, points = np.zeros((0, 4)), []
    counted: list[tuple[float, ...]] = []  # what designs cost and take, and their rows
    # Rows of each platform that no point is as good as, by their bounds, and the points that they were compared with.
    rows = np.flatnonzero(could)
    platforms, starts = np.unique(rows // n_sizes, return_index=True)
    ahead = {index: (some, 0) for index, some in zip(platforms.tolist(), np.split(rows, starts[1:]), strict=False)}
    heap = [(float(bounds[rows, 0].min()), index) for index, (rows, _) in ahead.items()]
    heapify(heap)
    while heap or counted:
        least = heap[0][0] if heap else np.inf
        while counted and counted[0][0] < least:
            *values, row = heappop(counted)
            if not _is_beaten(np.array([values]), front)[0]:
                front = np.vstack([front, values])
                points.append(int(row))
                if len(points) == most:
                    return points
        if not heap:
            break
        _, index = heappop(heap)
        rows, n_compared = ahead[index]
        if n_compared < len(front):
            rows = rows[~_is_beaten(bounds[rows], front[n_compared:])]
            ahead[index] = rows, len(front)
        if not rows.size:
            continue
        again = float(bounds[rows, 0].min())
        if heap and again > heap[0][0]:
            heappush(heap, (again, index))
            continue
        for values in _exact(counts, rows, bounds[:, 1], known, is_over, front).tolist():
            heappush(counted, tuple(values))
    return points


def _is_beaten(values: Floats, front: Floats) -> Bools:
    """Whether some point of the front is as good in every objective."""
    return np.asarray(np.any(np.all(front <= values[:, None], axis=2), axis=1))


def _exact(counts: PartCounts, rows: Ints, least_time_s: Floats, known: float, is_over: bool, front: Floats) -> Floats:
    """What some rows of one platform cost and take, and the rows; without those that break a limit or are beaten."""
    index, n_sizes = int(rows[0]) // len(counts.evaluated.space.sizes), len(counts.evaluated.space.sizes)
    rows = counts.keeping_limits(index, rows - index * n_sizes)
    rows = rows[(uncertainty(counts, rows) <= known) & (beyond_budget(counts, counts.likely_cost[rows]) <= is_over)]
    amounts = (counts.ranking_cost[rows], least_time_s[rows], counts.power_w[rows], counts.rack_units[rows])
    values = np.stack([*amounts, rows.astype(float)], axis=1)
    # The time takes longest to work out.
    values = values[~_is_beaten(values[:, :4], front)]
    if values.size:
        values[:, 1] = counts.evaluated.time_at(values[:, 4].astype(np.int64))
    return np.asarray(values[~_is_beaten(values[:, :4], front)])
