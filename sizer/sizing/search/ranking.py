"""The order of designs: the best of each platform, and the platforms among each other."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.schema import Device
from sizer.physical.capacity import counts_nodes
from sizer.physical.platform import Platform
from sizer.sizing.search.choice import best_row
from sizer.sizing.search.part_counts import Counting
from sizer.sizing.stages.storage_rates import rate_is_unknown

Key = tuple[float, ...]


def keys(counting: Counting, rows: Ints) -> list[Floats]:
    """Order of designs without prices: fewest servers, storage nodes, rack units, watts, slower fabric, smaller drives.

    The last two stand for cost where nothing is priced: no faster network and no larger drives than needed.
    """
    judged = counting.judged
    platform = rows // len(judged.space.sizes)
    return [
        judged.space.sizes[rows % len(judged.space.sizes)].astype(float),
        judged.storage_nodes[rows].astype(float),
        counting.rack_units[rows],
        counting.power_w[rows],
        judged.exchange_bytes_per_s[platform],
        counting.raw_bytes[rows],
    ]


def _told_apart(counting: Counting, rows: Ints) -> bool:
    """Whether items without a price tell some of the rows apart, so that no price says which is cheapest."""
    return bool(counting.deciding_prices(rows[:2]) or counting.deciding_prices(rows))


def best_of(counting: Counting, rows: Ints) -> int:
    """Best of some feasible rows: the cheapest where prices decide, else the one with the fewest servers and so on."""
    order = keys(counting, rows)
    if not _told_apart(counting, rows):
        order = [counting.cost[rows], *order]
    return int(rows[best_row(order[0], np.ones(rows.size, dtype=bool), order[1:])])


def rank_key(counting: Counting, rows: Ints) -> Floats | None:
    """Key that the user chose to rank platforms by, or cost where the prices allow it; None: vendors are not ranked."""
    judged, rank_by = counting.judged, counting.request.rank_by
    if rank_by == "time":
        return judged.time_s[rows]
    if rank_by == "gpus":
        return judged.space.n_servers[rows] * judged.gpus_per_server[judged.space.platform[rows]]
    if rank_by == "rack-units":
        return counting.rack_units[rows]
    if rank_by == "watts":
        return counting.power_w[rows]
    return None if counting.deciding_prices(rows) else counting.cost[rows]


class UnsettledError(Exception):
    """The sizes looked at do not settle what is asked: a larger design could come before."""


class Ranking:
    """Best designs of the platforms (kinds of server and storage), over their fabrics, GPUs and drive sizes.

    Storage that no source gives a rate of comes last unless the servers' memory holds the data: its line rate is an
    upper bound, and the answer must not be optimistic by default.

    Parameters
    ----------
    counting : Counting
        The designs.
    goes_on : bool
        Whether there are larger designs than those of the space.
    """

    def __init__(self, counting: Counting, *, goes_on: bool = False) -> None:
        self._counting, self._goes_on = counting, goes_on
        judged = counting.judged
        groups: dict[tuple[str, str], list[int]] = {}
        for index in np.flatnonzero(counting.candidates.any(axis=1)).tolist():
            groups.setdefault(judged.platforms[index].key, []).append(index)
        self._groups = list(groups.values())
        self._n_platforms = len({platform.key for platform in judged.platforms})

    def all(self) -> list[int]:
        """Best row of every platform, in the order in which documents show them.

        Raises
        ------
        UnsettledError
            If larger designs than those of the space could be among them or change their order.
        """
        self._needs_all_sizes()
        best = [row for row in map(self._best, self._groups) if row is not None]
        return self._in_order(np.array(best, dtype=np.int64))

    def first(self, n: int) -> list[int]:
        """The first ``n`` of :meth:`all`; only the platforms that could be among them are counted.

        Raises
        ------
        UnsettledError
            As :meth:`all`, for the first ``n``.
        """
        if self._counting.request.rank_by not in (None, "cost"):
            return self.all()[:n]
        rows: list[int] = []
        are_told_apart = False
        for row in self._fewest():
            rows.append(row)
            # Of designs that unpriced items tell apart no price says which is cheaper; more designs do not change that.
            are_told_apart = are_told_apart or (
                self._no_price_ranks(row) if len(rows) == 1 else bool(self._counting.deciding_prices(np.array(rows)))
            )
            if are_told_apart and len(rows) >= n:
                break
        else:
            if len(rows) < self._n_platforms:
                self._needs_all_sizes()
            return self._in_order(np.array(rows, dtype=np.int64))[:n]
        if self._guessed(np.array(rows[:n])).any() and len(rows) < self._n_platforms:
            self._needs_all_sizes()
        return rows[:n]

    def _needs_all_sizes(self) -> None:
        if self._goes_on:
            raise UnsettledError

    def _in_order(self, rows: Ints) -> list[int]:
        order = [self._guessed(rows), *keys(self._counting, rows)]
        rank = rank_key(self._counting, rows) if rows.size else None
        if rank is not None:
            order = [rank, *order]
        return [int(row) for row in rows[np.lexsort(order[::-1])]]

    def _guessed(self, rows: Ints) -> Floats:
        """1 where the rate of the storage is a guess and the data do not stay in memory."""
        judged = self._counting.judged
        index, size = np.divmod(rows, len(judged.space.sizes))
        is_guess = np.array([rate_is_unknown(judged.platforms[i].storage) for i in index.tolist()], dtype=bool)
        return (is_guess & ~judged.class_is_cached[judged.class_of[index], size]).astype(float)

    def _fewest(self) -> Iterator[int]:
        """Best rows in the order of :func:`keys`, each found when it is asked for.

        A platform cannot do better than its smallest candidate: until it is counted it stands in the
        order with that one. What comes out exact before everything that is only bounded is the next of all.
        """
        heap: list[tuple[Key, int, int]] = [(self._bound(group), -1, i) for i, group in enumerate(self._groups)]
        heapify(heap)
        while heap:
            _, row, place = heappop(heap)
            if row >= 0:
                yield row
                continue
            best = self._best(self._groups[place])
            if best is not None:
                exact = np.array([best])
                key = (float(self._guessed(exact)[0]), *(float(part[0]) for part in keys(self._counting, exact)))
                heappush(heap, (key, best, place))

    def _bound(self, group: Sequence[int]) -> Key:
        judged = self._counting.judged
        is_guess = rate_is_unknown(judged.platforms[group[0]].storage)
        cached = judged.class_is_cached[judged.class_of[group]] & self._counting.candidates[group] if is_guess else None
        return (float(cached is not None and not cached.any()), *min(self._smallest(index) for index in group))

    def _smallest(self, index: int) -> Key:
        """Servers and storage nodes of the smallest design of a platform that could be built."""
        judged = self._counting.judged
        size = int(np.argmax(self._counting.candidates[index]))
        return float(judged.space.sizes[size]), float(judged.class_nodes[judged.class_of[index], size])

    def _best(self, group: Sequence[int]) -> int | None:
        """Best row of a platform, counting only what could be it; None where nothing can be built."""
        platforms = self._counting.judged.platforms
        waiting = sorted((self._smallest(index), platforms[index].capacity_option, index) for index in group)
        rows = np.zeros(0, dtype=np.int64)
        best: Key | None = None
        built: set[tuple[object, ...]] = set()
        while waiting and (best is None or waiting[0][0] <= best):
            smallest, _, index = waiting.pop(0)
            # The same chassis on the same fabric with larger drives, or with GPUs of more memory, are the same parts.
            parts = (smallest, platforms[index].gpus_per_server, platforms[index].fabric)
            if parts in built:
                continue
            more = self._counting.feasible_of(index)
            if more.size:
                order = keys(self._counting, more[:1])
                first = float(order[0][0]), float(order[1][0])
                best = first if best is None else min(best, first)
                rows = np.concatenate([rows, more])
                if first == smallest:
                    built.add(parts)
        if best is None:
            return None
        if not _told_apart(self._counting, rows):
            # Perhaps the cheapest is asked for, and that can be any.
            self._needs_all_sizes()
            rows = np.concatenate([self._counting.feasible_of(index) for index in group])
        return best_of(self._counting, rows)

    def _no_price_ranks(self, row: int) -> bool:
        """Whether a platform of other kinds can be built too, and a kind of either has no price.

        Then no price says which of them is cheaper, and one platform counted shows it. False: it is not known yet.
        """
        counting = self._counting
        mine = counting.judged.platforms[int(counting.judged.space.platform[row])]
        for _, group in sorted((self._bound(group), group) for group in self._groups):
            other = counting.judged.platforms[group[0]]
            if self._has_unpriced_kind(mine, other) and any(counting.feasible_of(index).size for index in group):
                return True
        return False

    def _has_unpriced_kind(self, mine: Platform, other: Platform) -> bool:
        """Whether two platforms differ in a kind of server or storage that is bought and has no price."""
        counting = self._counting
        request = counting.request
        if request.existing.servers or request.existing.storage_nodes:
            return False  # what is there is not bought
        pairs: list[tuple[Device, Device]] = [(mine.server, other.server)]
        if all(counts_nodes(one.storage) and one.storage_server is None for one in (mine, other)):
            pairs.append((mine.storage, other.storage))
        return any(
            one.id != two.id and any(counting.prices.net(item.id, request.currency) is None for item in (one, two))
            for one, two in pairs
        )
