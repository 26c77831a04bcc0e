"""Parts of platforms with what they cost, stored for the next request: those of a batch ask for the same sizes."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.identity_cache import Identity, identity_of, identity_of_catalog
from sizer.bom.cost import row_amounts
from sizer.bom.lines import row_cost
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import UnitPrices
from sizer.catalog.model import Catalog
from sizer.physical.capacity import nodes_per_unit
from sizer.physical.components import Quantities
from sizer.physical.design_counts import DesignCounts, draw_is_open
from sizer.physical.platform import Platform
from sizer.physical.quantities import NOTHING_EXISTING, quantities
from sizer.workload.request import Fabric, Limits, SizingRequest

# Parts of so many sizes of a platform are stored: those of an open request.
_STORED_SIZES = 160


class PricedParts(NamedTuple):
    """Parts of some designs of a platform, and what they cost. Arrays over the designs."""

    quantities: Quantities
    draw_is_open: Bools  # a device draws nobody knows how much
    cost: Floats  # of the priced lines
    unpriced: frozenset[str]  # items without a price
    low: Floats  # bands at their low ends where there is no price
    likely: Floats  # at the confidence of the request, to the cent


def priced_parts(
    platform: Platform,
    sizes: Ints,
    nodes: Ints,
    request: SizingRequest,
    catalog: Catalog,
    book: PriceBook,
    prices: UnitPrices,
) -> PricedParts:
    """Parts of some designs of a platform.

    Parameters
    ----------
    platform : Platform
    sizes, nodes : ndarray of int, shape (designs,)
        Servers and storage nodes. [-]
    request : SizingRequest
        Its room, fabric, existing equipment and currency.
    catalog : Catalog
    book : PriceBook
        Known prices.
    prices : UnitPrices
        Those that rank designs: at the low ends of bands and at the confidence of the request.
    """
    if sizes.size > _STORED_SIZES or request.existing != NOTHING_EXISTING:
        found = quantities(
            platform,
            sizes,
            nodes,
            catalog=catalog,
            limits=request.limits,
            existing=request.existing,
            fabric=request.fabric,
        )
        is_open = draw_is_open(found)
    else:
        stored = design_counts(platform, request, catalog)
        with stored.lock:
            places = stored.places(sizes, nodes)
            found, is_open = stored.parts(places), stored.draw_is_open(places)
    (cost, low, likely), unpriced = _amounts(found, platform, catalog, book, prices, request.currency)
    return PricedParts(found, is_open, cost, unpriced, low, likely)


def priced_totals(
    platform: Platform,
    sizes: Ints,
    nodes: Ints,
    request: SizingRequest,
    catalog: Catalog,
    book: PriceBook,
    prices: UnitPrices,
) -> PricedParts:
    """The same without the parts themselves: what limits and ranking ask about; no equipment is there."""
    stored = design_counts(platform, request, catalog)
    with stored.lock:
        places = stored.places(sizes, nodes)
        cost, low, likely = stored.amounts(
            (book, prices, request.currency),
            places,
            lambda found: np.stack(_amounts(found, platform, catalog, book, prices, request.currency)[0]),
        )
        found, is_open = stored.totals(places), stored.draw_is_open(places)
    return PricedParts(found, is_open, cost, frozenset(), low, likely)


def design_counts(platform: Platform, request: SizingRequest, catalog: Catalog) -> DesignCounts:
    """Designs of a platform that requests of a batch asked about, in such a room and on such a fabric."""
    return _stored(identity_of(platform), identity_of_catalog(catalog), request.limits.rack_power_w, request.fabric)


@lru_cache(maxsize=512)  # with a thousand designs each at most 180 MB, usually a fifth of that
def _stored(platform: Identity, catalog: Identity, rack_power_w: float | None, fabric: Fabric) -> DesignCounts:
    limits = Limits(rack_power_w=rack_power_w)
    return DesignCounts(
        lambda servers, nodes: quantities(
            platform.value, servers, nodes, catalog=catalog.value, limits=limits, fabric=fabric
        ),
        nodes_per_unit(platform.value.storage),
    )


def _amounts(
    found: Quantities, platform: Platform, catalog: Catalog, book: PriceBook, prices: UnitPrices, currency: str
) -> tuple[tuple[Floats, Floats, Floats], frozenset[str]]:
    """Priced lines, least and likely cost, and the items without a price."""
    cost, unpriced = row_cost(found.bought, catalog, book, currency)
    low, likely = row_amounts(found.bought, platform, prices)
    # Two designs of the same parts cost the same to the cent, whatever the order of the sums.
    return (np.zeros(low.shape) if cost is None else cost, low, np.round(likely, 2)), frozenset(unpriced)
