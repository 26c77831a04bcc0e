"""The whole design space as arrays: every platform at every number of servers, one row a design."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sizer.base.arrays import Ints

# Largest cluster looked at first where the request states none: beyond it a two-level fabric of 36-port switches ends
# (648 end points, four ports a DGX-1). Where none so large meets the targets, larger ones are looked at.
MAX_SERVERS = 160
# Every number of servers is a size up to here; beyond, sizes are so far apart, as a share of themselves.
_EVERY, _STEP = 512, 1 / 256


@dataclass(frozen=True)
class Space:
    """Platforms x numbers of servers; rows run platform by platform, in order of servers.

    Storage nodes are no axis: the smallest sufficient count is solved per row.
    """

    n_platforms: int
    sizes: Ints  # (sizes,) numbers of servers, ascending

    @property
    def n_rows(self) -> int:
        """Designs in the space."""
        return self.n_platforms * len(self.sizes)

    @cached_property
    def platform(self) -> Ints:
        """(rows,) index of the platform."""
        return np.repeat(np.arange(self.n_platforms, dtype=np.int64), len(self.sizes))

    @cached_property
    def n_servers(self) -> Ints:
        """(rows,) servers."""
        return np.tile(self.sizes, self.n_platforms)

    def of_platform(self, index: int) -> slice:
        """Rows of one platform."""
        return slice(index * len(self.sizes), (index + 1) * len(self.sizes))


def design_space(n_platforms: int, fewest: int, most: int) -> Space:
    """Space of so many platforms with ``fewest`` to ``most`` servers each: all up to 512, beyond in steps of 0.4 %."""
    sizes = np.arange(fewest, min(most, max(_EVERY, fewest)) + 1, dtype=np.int64)
    if most > sizes[-1]:
        steps = math.ceil(math.log(most / sizes[-1]) / _STEP)
        sizes = np.union1d(sizes, np.rint(np.geomspace(sizes[-1], most, steps + 1)).astype(np.int64))
    return Space(n_platforms, sizes)
