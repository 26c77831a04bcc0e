"""Preferred vendors: which designs have parts of theirs, and which of them leads although another one ranks first."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from sizer.base.arrays import Ints
from sizer.catalog.items import Item, is_of_vendor
from sizer.physical.platform import Platform
from sizer.workload.request import Platforms

# Whether a row ranks closely enough behind the first one.
InReach = Callable[[int, int], bool]


def preferred_parts(platforms: Sequence[Platform], asked: Platforms) -> Ints:
    """How many of server and storage are of a preferred vendor, 0 to 2, of every platform.

    Local drives come with the server, and nobody offers storage that the customer has: both count as the server does.
    """

    def is_preferred(item: Item) -> bool:
        return any(is_of_vendor(item.vendor, name) for name in asked.prefer_vendors)

    found = []
    for platform in platforms:
        server, storage = platform.server, platform.storage
        is_offered = storage.kind != "local" and (storage.orderable or storage.server is not None)
        found.append(int(is_preferred(server)) + int(is_preferred(storage if is_offered else server)))
    return np.array(found, dtype=np.int64)


def preferred_first(rows: Iterator[int], parts: Callable[[int], int], most: int, in_reach: InReach) -> Iterator[int]:
    """Ranked rows with the preferred one first; the others keep their order.

    Parameters
    ----------
    rows : iterator of int
        Best rows of the platforms in the order of the ranking.
    parts : callable
        Parts of preferred vendors of a row. [-]
    most : int
        Most of any row: none behind it can have more. [-]
    in_reach : callable
        Whether the second row ranks closely enough behind the first one.

    Notes
    -----
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
