"""The order of designs: the best of each platform, and the platforms among each other."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.schema import Device
from sizer.physical.capacity import counts_nodes
from sizer.physical.existing_use import has_main
from sizer.physical.platform import Platform
from sizer.sizing.search.choice import best_row
from sizer.sizing.search.part_counts import PartCounts

Key = tuple[float, ...]


def keys(counts: PartCounts, rows: Ints) -> list[Floats]:
    """Order of designs without prices: fewest servers, storage nodes, rack units, watts, slower fabric, smaller drives.

    Before all of these, designs that depend on no unknown fact; where servers or storage are there, what must be
    bought and then the kinds of existing equipment left idle. The last two keys stand for cost where nothing is priced:
    no faster network and no larger drives than needed.
    """
    evaluated = counts.evaluated
    platform = rows // len(evaluated.space.sizes)
    return [
        counts.conditional[rows].astype(float),
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
    if not has_main(counts.request.existing):
        return []
    found = np.zeros((5, rows.size))
    platform, size = np.divmod(rows, len(counts.evaluated.space.sizes))
    for index in np.unique(platform).tolist():
        mine = platform == index
        bought = counts.of(index).purchase
        assert bought is not None  # main equipment is there
        found[:, mine] = bought.stacked()[:, size[mine]]
    return list(found)


def _told_apart(counts: PartCounts, rows: Ints) -> bool:
    """Whether rows differ in items without a price, so that the cheapest is not known."""
    return bool(counts.deciding_prices(rows[:2]) or counts.deciding_prices(rows))


def best_of(counts: PartCounts, rows: Ints) -> int:
    """Best of some feasible rows: the cheapest where prices decide, else the one with the fewest servers and so on."""
    order = keys(counts, rows)
    if not _told_apart(counts, rows):
        order = [order[0], counts.cost[rows], *order[1:]]
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

    Designs that depend on a fact that no source gives come last, whatever they are ranked by: unknown is never good
    news.

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
        if self._counts.request.rank_by not in (None, "cost") or has_main(self._counts.request.existing):
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
        if self._counts.conditional[rows[:n]].any():
            self._needs_all_sizes()  # a larger design may depend on nothing unknown
        return rows[:n]

    def _needs_all_sizes(self) -> None:
        if self._goes_on:
            raise UnsettledError

    def _in_order(self, rows: Ints) -> list[int]:
        order = keys(self._counts, rows)
        rank = rank_key(self._counts, rows) if rows.size else None
        if rank is not None:
            order = [order[0], rank, *order[1:]]
        return [int(row) for row in rows[np.lexsort(order[::-1])]]

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
                heappush(heap, (tuple(float(part[0]) for part in keys(self._counts, exact)), best, place))

    def _bound(self, group: Sequence[int]) -> Key:
        return min(self._smallest(index) for index in group)

    def _smallest(self, index: int) -> Key:
        """First keys of the best design of a platform that could be built: unknowns, servers, storage nodes."""
        evaluated = self._counts.evaluated
        could = self._counts.candidates[index]
        is_conditional = evaluated.class_conditional[evaluated.class_of[index]]
        is_known = could & ~is_conditional
        size = int(np.argmax(is_known if is_known.any() else could))
        nodes = evaluated.class_nodes[evaluated.class_of[index], size]
        return float(not is_known.any()), float(evaluated.space.sizes[size]), float(nodes)

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
                first = min(zip(*(key.tolist() for key in keys(self._counts, more)[:3]), strict=True))
                best = first if best is None else min(best, first)
                rows = np.concatenate([rows, more])
                if first == smallest:
                    built.add(parts)
        if best is None:
            return None
        if has_main(self._counts.request.existing) or not _told_apart(self._counts, rows):
            # Perhaps the cheapest is asked for, or what buys least, and that can be any.
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
