"""The order of designs: the best of each platform, and the platforms among each other."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.schema import Device
from sizer.physical.capacity import counts_nodes
from sizer.physical.platform import Platform
from sizer.sizing.search.choice import best_row
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.stages.storage_rates import rate_is_unknown

Key = tuple[float, ...]


def keys(counts: PartCounts, rows: Ints) -> list[Floats]:
    """Order of designs without prices: fewest servers, storage nodes, rack units, watts, slower fabric, smaller drives.

    The last two stand for cost where nothing is priced: no faster network and no larger drives than needed.
    """
    evaluated = counts.evaluated
    platform = rows // len(evaluated.space.sizes)
    return [
        evaluated.space.sizes[rows % len(evaluated.space.sizes)].astype(float),
        evaluated.storage_nodes[rows].astype(float),
        counts.rack_units[rows],
        counts.power_w[rows],
        evaluated.exchange_bytes_per_s[platform],
        counts.raw_bytes[rows],
    ]


def _told_apart(counts: PartCounts, rows: Ints) -> bool:
    """Whether rows differ in items without a price, so that the cheapest is not known."""
    return bool(counts.deciding_prices(rows[:2]) or counts.deciding_prices(rows))


def best_of(counts: PartCounts, rows: Ints) -> int:
    """Best of some feasible rows: the cheapest where prices decide, else the one with the fewest servers and so on."""
    order = keys(counts, rows)
    if not _told_apart(counts, rows):
        order = [counts.cost[rows], *order]
    return int(rows[best_row(order[0], np.ones(rows.size, dtype=bool), order[1:])])


def rank_key(counts: PartCounts, rows: Ints) -> Floats | None:
    """Key that the user chose to rank platforms by, or cost where the prices allow it; None: vendors are not ranked."""
    evaluated, rank_by = counts.evaluated, counts.request.rank_by
    if rank_by == "time":
        return evaluated.time_s[rows]
    if rank_by == "gpus":
        return evaluated.space.n_servers[rows] * evaluated.gpus_per_server[evaluated.space.platform[rows]]
    if rank_by == "rack-units":
        return counts.rack_units[rows]
    if rank_by == "watts":
        return counts.power_w[rows]
    return None if counts.deciding_prices(rows) else counts.cost[rows]


class UnsettledError(Exception):
    """The sizes looked at do not settle what is asked: a larger design could come before."""


class Ranking:
    """Best designs of the platforms (kinds of server and storage), over their fabrics, GPUs and drive sizes.

    Storage that no source gives a rate of comes last unless the servers' memory holds the data: its line rate is an
    upper bound, and the answer must not be optimistic by default.

    Parameters
    ----------
    counts : PartCounts
        The designs.
    goes_on : bool
        Whether there are larger designs than those of the space.
    """

    def __init__(self, counts: PartCounts, *, goes_on: bool = False) -> None:
        self._counts, self._goes_on = counts, goes_on
        evaluated = counts.evaluated
        groups: dict[tuple[str, str], list[int]] = {}
        for index in np.flatnonzero(counts.candidates.any(axis=1)).tolist():
            groups.setdefault(evaluated.platforms[index].key, []).append(index)
        self._groups = list(groups.values())
        self._n_platforms = len({platform.key for platform in evaluated.platforms})

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
        if self._counts.request.rank_by not in (None, "cost"):
            return self.all()[:n]
        rows: list[int] = []
        are_told_apart = False
        for row in self._fewest():
            rows.append(row)
            # Of designs that differ in unpriced items the cheaper is not known; more designs do not change that.
            are_told_apart = are_told_apart or (
                self._no_price_ranks(row) if len(rows) == 1 else bool(self._counts.deciding_prices(np.array(rows)))
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
        order = [self._guessed(rows), *keys(self._counts, rows)]
        rank = rank_key(self._counts, rows) if rows.size else None
        if rank is not None:
            order = [rank, *order]
        return [int(row) for row in rows[np.lexsort(order[::-1])]]

    def _guessed(self, rows: Ints) -> Floats:
        """1 where the rate of the storage is a guess and the data do not stay in memory."""
        evaluated = self._counts.evaluated
        index, size = np.divmod(rows, len(evaluated.space.sizes))
        is_guess = np.array([rate_is_unknown(evaluated.platforms[i].storage) for i in index.tolist()], dtype=bool)
        return (is_guess & ~evaluated.class_is_cached[evaluated.class_of[index], size]).astype(float)

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
                key = (float(self._guessed(exact)[0]), *(float(part[0]) for part in keys(self._counts, exact)))
                heappush(heap, (key, best, place))

    def _bound(self, group: Sequence[int]) -> Key:
        evaluated = self._counts.evaluated
        is_guess = rate_is_unknown(evaluated.platforms[group[0]].storage)
        cached = (
            evaluated.class_is_cached[evaluated.class_of[group]] & self._counts.candidates[group] if is_guess else None
        )
        return (float(cached is not None and not cached.any()), *min(self._smallest(index) for index in group))

    def _smallest(self, index: int) -> Key:
        """Servers and storage nodes of the smallest design of a platform that could be built."""
        evaluated = self._counts.evaluated
        size = int(np.argmax(self._counts.candidates[index]))
        return float(evaluated.space.sizes[size]), float(evaluated.class_nodes[evaluated.class_of[index], size])

    def _best(self, group: Sequence[int]) -> int | None:
        """Best row of a platform, counting only what could be it; None where nothing can be built."""
        platforms = self._counts.evaluated.platforms
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
            more = self._counts.feasible_of(index)
            if more.size:
                order = keys(self._counts, more[:1])
                first = float(order[0][0]), float(order[1][0])
                best = first if best is None else min(best, first)
                rows = np.concatenate([rows, more])
                if first == smallest:
                    built.add(parts)
        if best is None:
            return None
        if not _told_apart(self._counts, rows):
            # Perhaps the cheapest is asked for, and that can be any.
            self._needs_all_sizes()
            rows = np.concatenate([self._counts.feasible_of(index) for index in group])
        return best_of(self._counts, rows)

    def _no_price_ranks(self, row: int) -> bool:
        """Whether a platform of other kinds can be built too, and a kind of either has no price.

        Then no price says which of them is cheaper, and one platform counted shows it. False: it is not known yet.
        """
        counts = self._counts
        mine = counts.evaluated.platforms[int(counts.evaluated.space.platform[row])]
        for _, group in sorted((self._bound(group), group) for group in self._groups):
            other = counts.evaluated.platforms[group[0]]
            if self._has_unpriced_kind(mine, other) and any(counts.feasible_of(index).size for index in group):
                return True
        return False

    def _has_unpriced_kind(self, mine: Platform, other: Platform) -> bool:
        """Whether two platforms differ in a kind of server or storage that is bought and has no price."""
        counts = self._counts
        request = counts.request
        if request.existing.servers or request.existing.storage_nodes:
            return False  # what is there is not bought
        pairs: list[tuple[Device, Device]] = [(mine.server, other.server)]
        if all(counts_nodes(one.storage) and one.storage_server is None for one in (mine, other)):
            pairs.append((mine.storage, other.storage))
        return any(
            one.id != two.id and any(counts.prices.net(item.id, request.currency) is None for item in (one, two))
            for one, two in pairs
        )
