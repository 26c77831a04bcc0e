"""The order of designs: money decides, in ranges. The best of each platform, and the platforms among each other."""

from collections.abc import Callable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count, islice

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.search.preference import preferred_first, preferred_parts
from sizer.workload.request import ranks_by_cost

Key = tuple[float, ...]

# Designs this near to each other count as equally fast; of them the cheapest leads. [-]
NEAR_TIE = 0.01
# Designs of a platform that are counted first: a few more servers seldom cost less.
_FIRST_COUNTED = 4


def keys(counts: PartCounts, rows: Ints) -> list[Floats]:
    """Order of designs of equal cost: fewest servers, storage nodes, rack units, watts, slower fabric, smaller drives.

    Before these, where servers or storage are there, what must be bought and the kinds that are left idle. The last two
    keep out a faster network and larger drives than are needed.
    """
    evaluated = counts.evaluated
    platform = rows // len(evaluated.space.sizes)
    return [
        *_purchase_keys(counts, rows),
        evaluated.space.sizes[rows % len(evaluated.space.sizes)].astype(float),
        evaluated.storage_nodes[rows].astype(float),
        counts.rack_units[rows],
        counts.power_w[rows],
        evaluated.exchange_bytes_per_s[platform],
        counts.raw_bytes[rows],
    ]


def _purchase_keys(counts: PartCounts, rows: Ints) -> list[Floats]:
    """Servers and storage nodes to buy, and the kinds left idle; nothing where no main equipment is there."""
    return list(counts.purchase[:, rows])


def order_of(counts: PartCounts, rows: Ints, *, is_one_platform: bool = False) -> list[Floats]:
    """Keys of designs in their order: fewest unknowns, likely within the budget, on storage that is there and enough,
    what the request ranks by, cost.

    Then :func:`keys`. Cost is that of ownership where the request ranks by it. What a rate costs orders kinds of GPUs,
    not the sizes of one platform: a larger cluster shares its fixed costs.
    """
    is_by_cost = _is_by_cost(counts) or (is_one_platform and counts.request.ranks_by_rate)
    asked = [] if is_by_cost else [rank_key(counts, rows)]
    return [
        uncertainty(counts, rows),
        beyond_budget(counts, counts.likely_cost[rows]).astype(float),
        counts.leaves_storage_idle.reshape(-1)[rows].astype(float),
        *asked,
        counts.ranking_cost[rows],
        *keys(counts, rows),
    ]


def _is_by_cost(counts: PartCounts) -> bool:
    """Whether an amount of money alone orders designs."""
    return ranks_by_cost(counts.request.rank_by) and not counts.request.ranks_by_rate


def uncertainty(counts: PartCounts, rows: Ints) -> Floats:
    """How far designs depend on unknowns: 1 for each on which the request depends, half where the energy is open."""
    return np.asarray(counts.unknowns[rows] + 0.5 * counts.energy_is_open[rows])


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


class UnsettledError(Exception):
    """The sizes looked at do not settle what is asked: a larger design could come before."""


class Ranking:
    """Best designs of the platforms (kinds of server and storage), over their fabrics, GPUs and drive sizes.

    Designs of a platform and platforms follow each other by the key of the request, by cost where it names none. Cost
    is the amount that a design costs at most with the confidence of the request: an unknown
    price is never good news. A design that dominates another (its highest cost is below the other's lowest) stands
    before it by this key, too. Designs that depend on an unknown fact come last, and before them those that are not
    within the budget with that confidence. Of designs that are at most the percentage of the request behind the first
    by that key, one of preferred vendors leads.

    Parameters
    ----------
    counts : PartCounts
        The designs.
    goes_on : bool
        Whether there are larger designs than those of the space.
    """

    def __init__(self, counts: PartCounts, *, goes_on: bool = False) -> None:
        self._counts, self._goes_on = counts, goes_on
        self._found: list[int] = []  # the first
        self._further = self._in_order()  # those after them
        self._by_cost = _is_by_cost(counts)
        asked = counts.request.platforms
        self._parts = preferred_parts(counts.evaluated.platforms, asked) if asked.prefer_vendors else None

    def all(self) -> list[int]:
        """Best row of every platform, in the order in which documents show them.

        Raises
        ------
        UnsettledError
            If larger designs than those of the space could be among them or change their order.
        """
        if self._goes_on:
            raise UnsettledError
        return list(self.one_by_one())

    def n_compared(self) -> int:
        """Platforms (kinds of server and storage) of which some design meets the targets and may fit the room.

        Counting the parts of all of them would take most of the time of a sizing.
        """
        could = np.flatnonzero(self._counts.candidates.any(axis=1)).tolist()
        return len({self._counts.evaluated.platforms[index].key for index in could})

    def parts_of_preferred_vendors(self, row: int) -> int:
        """How many of server and storage of a row are of a preferred vendor, 0 to 2."""
        return 0 if self._parts is None else int(self._parts[row // len(self._counts.evaluated.space.sizes)])

    def _preferred_first(self, rows: Iterator[int]) -> Iterator[int]:
        if self._parts is None:
            return rows
        return preferred_first(rows, self.parts_of_preferred_vendors, int(self._parts.max()), self._is_in_reach)

    def _is_in_reach(self, first: int, other: int) -> bool:
        """Whether a row is as free of unknowns and as likely within the budget, and close by the ranking's key."""
        counts, pair = self._counts, np.array([first, other])
        over, key = beyond_budget(counts, counts.likely_cost[pair]), rank_key(counts, pair)
        unknown = uncertainty(counts, pair)
        idle = counts.leaves_storage_idle.reshape(-1)[pair]
        is_like = unknown[0] == unknown[1] and over[0] == over[1] and idle[0] == idle[1]
        return bool(is_like and key[1] <= (1 + counts.request.platforms.prefer_within_percent / 100) * key[0])

    def first(self, n: int) -> list[int]:
        """The first ``n`` of :meth:`all`; only the platforms that could be among them are counted.

        Raises
        ------
        UnsettledError
            As :meth:`all`, for the first ``n``.
        """
        return list(islice(self.one_by_one(), n))

    def one_by_one(self) -> Iterator[int]:
        """Rows of :meth:`all`, each found when it is asked for.

        Raises
        ------
        UnsettledError
            At the first that a larger design could come before.
        """
        return self._preferred_first(self.without_preference())

    def without_preference(self) -> Iterator[int]:
        """The same without regard to preferred vendors.

        Raises
        ------
        UnsettledError
            As :meth:`one_by_one`.
        """
        for place in count():
            if place == len(self._found):
                row = next(self._further, None)
                if row is None:
                    break
                self._found.append(row)
            yield self._found[place]
        if self._goes_on:
            raise UnsettledError

    def _least_of_larger(self) -> Key:
        """No design beyond the sizes of the space comes before this key."""
        least = self._counts.main_cost.larger.min(keepdims=True)
        return 0.0, float(self._is_beyond_budget(least)[0]), 0.0, float(least[0])

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
        before all bounds is the next.

        Raises
        ------
        UnsettledError
            At the first that a larger design than those of the space could come before.
        """
        if self._goes_on and not self._by_cost:
            raise UnsettledError
        bounds, designs_of = self._bounds()
        waiting: dict[int, _Waiting] = {}  # of the platforms that are looked at
        heap: list[tuple[Key, int, int]] = [(bound, -1, index) for index, bound in bounds]
        heapify(heap)
        platforms, found = self._counts.evaluated.platforms, set()
        beyond = self._least_of_larger() if self._goes_on else None
        while heap:
            key, row, index = heappop(heap)
            if beyond is not None and key[:4] >= beyond:
                # Nothing that is still to come can be better than this bound, so that nothing more need be counted.
                raise UnsettledError
            if platforms[index].key in found:
                continue
            if row >= 0:
                found.add(platforms[index].key)
                yield row
                continue
            if index not in waiting:
                waiting[index] = designs_of(index)
            sizes = waiting[index].take()
            rows = self._counts.keeping_limits(index, sizes)
            if rows.size:
                best = best_of(self._counts, rows)
                heappush(heap, (self._key(best), best, index))
            if waiting[index].is_left:
                heappush(heap, (waiting[index].bound(), -1, index))

    def _bounds(self) -> tuple[list[tuple[int, Key]], Callable[[int], "_Waiting"]]:
        """Platforms of which some designs could be built, with the key that none comes before; and their designs."""
        counts, evaluated = self._counts, self._counts.evaluated
        places = np.flatnonzero(counts.candidates.any(axis=1))
        could = counts.candidates[places]
        if counts.request.ranks_by_rate:
            # The number of GPUs gives the size: the smallest that has them.
            could = could & (np.cumsum(could, axis=1) == 1)
        # Watts that nobody knows are found when a design is counted; they only put it further behind.
        unknown = counts.unknowns.reshape(evaluated.space.n_platforms, -1)[places]
        over, least_key = self._is_beyond_budget(counts.main_cost.cost[places]), self._least_key()[places]
        idle = counts.leaves_storage_idle[places]
        # Designs with fewer unknowns come first, whatever they cost.
        fewest = np.where(could, unknown, np.iinfo(np.int64).max).min(axis=1)
        is_first = could & (unknown == fewest[:, None])
        is_over = np.all(over | ~is_first, axis=1)
        is_first &= over == is_over[:, None]
        is_idle = np.all(idle | ~is_first, axis=1)
        least = np.where(is_first & (idle == is_idle[:, None]), least_key, np.inf).min(axis=1)
        keys = zip(*(part.astype(float).tolist() for part in (fewest, is_over, is_idle, least)), strict=True)

        def designs_of(index: int) -> _Waiting:
            place = int(np.searchsorted(places, index))
            return _Waiting(could[place], unknown[place], over[place], idle[place], least_key[place])

        return list(zip(places.tolist(), keys, strict=True)), designs_of

    def _least_key(self) -> Floats:
        """(platforms, sizes) what :func:`rank_key` of a design is at the least."""
        counts, evaluated = self._counts, self._counts.evaluated
        shape = (evaluated.space.n_platforms, len(evaluated.space.sizes))
        if self._by_cost:
            return counts.main_cost.cost
        if counts.request.ranks_by_rate:
            with np.errstate(divide="ignore"):
                return np.asarray(counts.main_cost.cost / evaluated.class_gpu_rate[evaluated.class_of])
        if counts.request.rank_by == "time":
            return _in_steps(evaluated.class_least_time_s[evaluated.class_of])
        if counts.request.rank_by == "gpus":  # known of every design
            return np.reshape(rank_key(counts, np.arange(evaluated.space.n_rows)), shape)
        return counts.at_least["units" if counts.request.rank_by == "rack-units" else "watts"]


class _Waiting:
    """Designs of a platform that are not counted yet, in the order of what they cannot do better than."""

    def __init__(self, could: Bools, unknown: Ints, over: Bools, idle: Bools, least_key: Floats) -> None:
        self._parts = unknown, over, idle, least_key
        sizes = np.flatnonzero(could)
        self._sizes = sizes[np.lexsort((least_key[sizes], idle[sizes], over[sizes], unknown[sizes]))]
        self._start, self._many = 0, _FIRST_COUNTED

    @property
    def is_left(self) -> bool:
        """Whether any is left."""
        return self._start < self._sizes.size

    def bound(self) -> Key:
        """Key that none of them comes before."""
        size = self._sizes[self._start]
        return tuple(float(part[size]) for part in self._parts)

    def take(self) -> Ints:
        """Sizes of the next ones, twice as many each time."""
        taken = self._sizes[self._start : self._start + self._many]
        self._start, self._many = self._start + self._many, 2 * self._many
        return taken
