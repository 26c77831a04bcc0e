"""Which platforms share which part of the arithmetic: each is worked out once for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform
from sizer.sizing.search.space import Space
from sizer.sizing.search.storage_units import StorageUnits, fewest_nodes
from sizer.sizing.stages.platform_columns import Columns, columns, is_narrowed, narrowed
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

# Columns that the compute side depends on.
_OF_SERVERS = (
    *("gpus_per_server", "cores", "host_links", "cache_bytes"),
    *("exchange_bytes_per_s", "storage_nic_bytes_per_s", "exchanges_by_storage_nics", "has_usual_level", "compute"),
)


@dataclass(frozen=True)
class Alike:
    """Classes of platforms of equal rates, and kinds of servers on a fabric, of which a class has one."""

    facts: Columns  # (platforms,)
    cols: Columns  # (platforms, 1), or (platforms, sizes) where the fabric narrows them
    units: StorageUnits
    fewest_nodes: Ints  # (platforms,) smallest storage system
    first: Ints  # (classes,) a platform of each class
    class_of: Ints  # (platforms,)
    kinds: Ints  # (kinds,) a platform of each kind of servers on a fabric
    kind_of: Ints  # (classes,)

    @classmethod
    def of(
        cls,
        request: SizingRequest,
        works: Sequence[ResolvedWorkload],
        platforms: Sequence[Platform],
        space: Space,
        catalog: Catalog,
    ) -> "Alike":
        """Those of the designs of a space."""
        platforms = tuple(platforms)
        facts = columns(platforms, catalog, request.platforms.gpus_per_server)
        fewest, each = fewest_nodes(platforms), np.arange(len(platforms))
        units = StorageUnits.of(works, platforms, request.data)
        if is_narrowed(request.fabric):
            # What is left of the line rates differs from platform to platform and from size to size.
            rows, sizes = space.platform, space.n_servers
            cols = narrowed(facts.take(rows), platforms, rows, sizes, fewest[rows], request.fabric)
            cols = cols.shaped((len(platforms), len(space.sizes)))
            return cls(facts, cols, units, fewest, each, each, each, each)
        cols = facts.shaped((len(platforms), 1))
        if request.resilience.keeps_targets_without:
            # What a loss leaves differs from platform to platform, too.
            return cls(facts, cols, units, fewest, each, each, each, each)
        rates, kinds, kind = _groups(platforms, catalog, request.platforms.gpus_per_server)
        first, class_of = _in_order(rates * (1 + int(units.alike.max())) + units.alike)
        return cls(facts, cols, units, fewest, first, class_of, kinds, kind[first])

    @cached_property
    def class_cols(self) -> Columns:
        """Columns of the classes."""
        return self.cols.take(self.first)

    @cached_property
    def class_units(self) -> StorageUnits:
        """Storage of the classes."""
        return self.units.take(self.first)

    @cached_property
    def kind_cols(self) -> Columns:
        """Columns of the kinds of servers."""
        return self.class_cols if self._is_each_kind else self.cols.take(self.kinds)

    def kinds_of(self, block: slice) -> Ints | slice:
        """Places of the kinds of some classes."""
        return block if self._is_each_kind else self.kind_of[block]

    @cached_property
    def _is_each_kind(self) -> bool:
        """Whether there is one class of each kind: both then stand in the same order."""
        return self.kinds.size == self.first.size


@lru_cache(maxsize=128)
def _groups(platforms: Sequence[Platform], catalog: Catalog, gpus_used: int | None) -> tuple[Ints, Ints, Ints]:
    """The rates of each platform as a number, a platform of each kind of servers, and the kind of each."""
    facts = columns(platforms, catalog, gpus_used)
    _, rates = _distinct(np.stack(facts.as_rows()))
    kinds, kind = _distinct(np.stack(facts.as_rows(_OF_SERVERS)))
    return rates, kinds, kind


def _distinct(facts: Floats) -> tuple[Ints, Ints]:
    """First column of every distinct one of (facts, columns), and which of these each column is."""
    numbers: dict[bytes, int] = {}
    index = np.array([numbers.setdefault(one.tobytes(), len(numbers)) for one in np.ascontiguousarray(facts.T)])
    return np.unique(index, return_index=True)[1], index


def _in_order(codes: Ints) -> tuple[Ints, Ints]:
    """:func:`_distinct` of whole numbers: first place of each, in the order of these places, and the number of each."""
    _, first, index = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[index]
