"""The table of what the designs of a platform are made of: each is counted once, and gathered for whoever asks."""

from collections.abc import Callable
from threading import Lock

import numpy as np

from sizer.base.arrays import Ints
from sizer.physical.components import DesignParts, Quantities

# Numbers of servers that are counted with one that is asked for: they take hardly longer, and are likely the next.
_SERVERS = 16
# Designs of one table, some 700 bytes each; a table that would hold more is emptied first.
_MOST_DESIGNS = 1024


class PartTable:
    """Designs of one platform.

    Parameters
    ----------
    count : callable
        Counts designs from arrays of servers and storage nodes. The count of a design does not depend on the others.
    """

    def __init__(self, count: Callable[[Ints, Ints], Quantities]) -> None:
        self._count, self._lock = count, Lock()
        self._columns: dict[tuple[int, int], int] = {}  # (servers, nodes) -> place among the designs
        self._designs: DesignParts | None = None

    def designs(self, servers: Ints, nodes: Ints) -> DesignParts:
        """Some designs; those that nobody asked about before are counted now, all at once.

        Parameters
        ----------
        servers, nodes : ndarray of int, shape (designs,)
            Servers and storage nodes. [-]
        """
        asked = list(zip(servers.tolist(), nodes.tolist(), strict=True))
        with self._lock:
            if any(design not in self._columns for design in asked):
                self._add(asked)
            assert self._designs is not None
            return self._designs.take(np.array([self._columns[design] for design in asked], dtype=np.int64))

    def _add(self, asked: list[tuple[int, int]]) -> None:
        blocks = dict.fromkeys(((servers - 1) // _SERVERS, nodes) for servers, nodes in asked)
        wanted = [(block * _SERVERS + n, nodes) for block, nodes in blocks for n in range(1, _SERVERS + 1)]
        if len(self._columns) + len(wanted) > _MOST_DESIGNS:
            self._columns.clear()
            self._designs = None
        new = [design for design in wanted if design not in self._columns]
        counted = DesignParts.of(self._count(*np.array(new, dtype=np.int64).T))
        self._columns.update(zip(new, range(len(self._columns), len(self._columns) + len(new)), strict=True))
        self._designs = counted if self._designs is None else self._designs.extended(counted)
