"""The whole design space as arrays: every platform at every number of servers, one row a design."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Space:
    """Rows of the design space. Storage nodes are no axis: the smallest sufficient count is solved per row."""

    platform: Ints  # (rows,) index of the platform
    n_servers: Ints  # (rows,)

    @property
    def n_rows(self) -> int:
        """Designs in the space."""
        return len(self.platform)

    def of_platform(self, index: int) -> slice:
        """Rows of one platform; they stand together, in order of servers."""
        first = int(np.searchsorted(self.platform, index, side="left"))
        last = int(np.searchsorted(self.platform, index, side="right"))
        return slice(first, last)


def lay_out(max_servers: Sequence[int]) -> Space:
    """Space of platforms 0, 1, ... with 1 to ``max_servers[i]`` servers each."""
    sizes = np.asarray(max_servers, dtype=np.int64)
    platform = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Space(platform, np.arange(len(platform), dtype=np.int64) - first + 1)
