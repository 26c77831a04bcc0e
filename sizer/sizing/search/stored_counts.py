"""Parts of designs with what they cost; what the limits of a room and the ranking ask about them is stored."""

from collections.abc import Hashable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.base.identity_cache import identity_of, identity_of_catalog
from sizer.bom.cost import row_amounts
from sizer.bom.lines import row_cost
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import UnitPrices
from sizer.catalog.model import Catalog
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.components import Component
from sizer.physical.design_counts import DesignCounts, DesignTotals
from sizer.physical.platform import Platform
from sizer.physical.quantities import quantities
from sizer.workload.request import Limits, SizingRequest

# Designs of all platforms together that are stored, some 100 bytes each.
_MOST_STORED = 800_000


class PricedTotals(NamedTuple):
    """What some designs of a platform take and cost. Arrays over the designs."""

    totals: DesignTotals
    cost: Floats  # of the priced lines
    low: Floats  # bands at their low ends where there is no price
    likely: Floats  # at the confidence of the request, to the cent


def priced_totals(
    platform: Platform,
    sizes: Ints,
    nodes: Ints,
    request: SizingRequest,
    catalog: Catalog,
    book: PriceBook,
    prices: UnitPrices,
) -> PricedTotals:
    """What some designs of a platform take and cost, where no equipment is there.

    Parameters
    ----------
    platform : Platform
    sizes, nodes : ndarray of int, shape (designs,)
        Servers and storage nodes. [-]
    request : SizingRequest
        Its room, fabric and currency.
    catalog : Catalog
    book : PriceBook
        Known prices.
    prices : UnitPrices
        Those that rank designs: at the low ends of bands and at the confidence of the request.
    """
    name = (book, prices, request.currency)

    def work_out(parts: Sequence[Component]) -> Floats:
        return np.stack(amounts(parts, platform, catalog, book, prices, request.currency)[0])

    with _stored as stored:
        of_platform = stored.of(platform, request, catalog)
        before, places = of_platform.n_designs, of_platform.places(sizes, nodes)
        cost, low, likely = of_platform.amounts(name, places, work_out)
        totals = of_platform.totals(places)
        stored.grew_by(of_platform.n_designs - before)
    return PricedTotals(totals, cost, low, likely)


def amounts(
    components: Sequence[Component],
    platform: Platform,
    catalog: Catalog,
    book: PriceBook,
    prices: UnitPrices,
    currency: str,
) -> tuple[tuple[Floats, Floats, Floats], frozenset[str]]:
    """Priced lines, least and likely cost of some designs, and the items without a price."""
    bought = [part for part in components if part.status == "computed" and np.count_nonzero(part.quantity)]
    cost, unpriced = row_cost(bought, catalog, book, currency)
    low, likely = row_amounts(bought, platform, prices)
    # Two designs of the same parts cost the same to the cent, whatever the order of the sums.
    return (np.zeros(low.shape) if cost is None else cost, low, np.round(likely, 2)), frozenset(unpriced)


class _Stored:
    """Designs of all platforms that somebody asked about; the platforms of long ago go first. Entered by one thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._of: dict[tuple[Hashable, ...], DesignCounts] = {}
        self._n_designs = 0

    def __enter__(self) -> "_Stored":
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def of(self, platform: Platform, request: SizingRequest, catalog: Catalog) -> DesignCounts:
        """Designs of a platform in such a room and on such a fabric."""
        rack_power_w, fabric = request.limits.rack_power_w, request.fabric
        key = (identity_of(platform), identity_of_catalog(catalog), rack_power_w, fabric)
        found = self._of.pop(key, None)
        if found is None:
            limits = Limits(rack_power_w=rack_power_w)
            found = DesignCounts(
                lambda servers, nodes: quantities(
                    platform, servers, nodes, catalog=catalog, limits=limits, fabric=fabric
                ),
                nodes_per_unit(platform.storage),
            )
        self._of[key] = found  # at the end
        return found

    def grew_by(self, n_designs: int) -> None:
        """Take note of further designs, and drop those of long ago."""
        self._n_designs += n_designs
        while self._n_designs > _MOST_STORED and len(self._of) > 1:
            self._n_designs -= self._of.pop(next(iter(self._of))).n_designs


_stored = _Stored()
