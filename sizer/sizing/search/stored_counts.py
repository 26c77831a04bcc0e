"""Parts of platforms with what they cost, stored for the next request: those of a batch ask for the same sizes."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.base.identity_cache import Identity, identity_of, identity_of_catalog
from sizer.bom.cost import row_amounts
from sizer.bom.lines import row_cost
from sizer.bom.prices import PriceBook
from sizer.bom.unit_prices import UnitPrices
from sizer.catalog.model import Catalog
from sizer.physical.components import Quantities
from sizer.physical.platform import Platform
from sizer.physical.quantities import NOTHING_EXISTING, quantities
from sizer.workload.request import Fabric, Limits, SizingRequest

# Parts of so many sizes of a platform are stored: those of an open request, some 75 kB.
_STORED_SIZES = 160
# Designs of a platform of which what the limits of the room ask is stored, some kB each.
_DESIGNS_OF_PLATFORM = 16


class PricedParts(NamedTuple):
    """Parts of some sizes of a platform, and what they cost. Arrays over the sizes."""

    quantities: Quantities
    cost: Floats | None  # of the priced lines; None where nothing but free items is priced
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
    """Parts of some sizes of a platform.

    Parameters
    ----------
    platform : Platform
    sizes, nodes : ndarray of int, shape (sizes,)
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
        return _with_costs(found, platform, catalog, book, prices, request.currency)
    of = (identity_of(platform), identity_of_catalog(catalog))
    key = (sizes.tobytes(), nodes.tobytes(), request.limits.rack_power_w, request.fabric)
    return _stored(*of, *key, book, prices, request.currency)


def one_design(platform: Platform, sizes: Ints, nodes: Ints, request: SizingRequest, catalog: Catalog) -> Quantities:
    """What the limits of the room ask about one of some designs, without its parts: a known one, else the first.

    Parameters
    ----------
    platform : Platform
    sizes, nodes : ndarray of int, shape (designs,)
        Servers and storage nodes, at least one design. [-]
    request : SizingRequest
        Its room and fabric; no equipment is there.
    catalog : Catalog
    """
    rack_power_w, fabric = request.limits.rack_power_w, request.fabric
    known = _stored_designs(identity_of(platform), identity_of_catalog(catalog), rack_power_w, fabric)
    designs = list(zip(sizes.tolist(), nodes.tolist(), strict=True))
    chosen = next((one for one in designs if one in known), designs[0])
    found = known.get(chosen)
    if found is None:
        limits = Limits(rack_power_w=rack_power_w)
        found = quantities(platform, *chosen, catalog=catalog, limits=limits, fabric=fabric)
        if len(known) >= _DESIGNS_OF_PLATFORM:
            known.clear()
        found = known[chosen] = replace(found, components=(), networks=())
    return found


@lru_cache(maxsize=1024)
def _stored(
    platform: Identity,
    catalog: Identity,
    sizes: bytes,
    nodes: bytes,
    rack_power_w: float | None,
    fabric: Fabric,
    book: PriceBook,
    prices: UnitPrices,
    currency: str,
) -> PricedParts:
    found = _stored_quantities(platform, catalog, sizes, nodes, rack_power_w, fabric)
    return _with_costs(found, platform.value, catalog.value, book, prices, currency)


@lru_cache(maxsize=1024)
def _stored_quantities(
    platform: Identity,
    catalog: Identity,
    sizes: bytes,
    nodes: bytes,
    rack_power_w: float | None,
    fabric: Fabric,
) -> Quantities:
    return quantities(
        platform.value,
        np.frombuffer(sizes, dtype=np.int64),
        np.frombuffer(nodes, dtype=np.int64),
        catalog=catalog.value,
        limits=Limits(rack_power_w=rack_power_w),
        fabric=fabric,
    )


@lru_cache(maxsize=4096)
def _stored_designs(
    platform: Identity,  # noqa: ARG001 -- with the others it says what the designs are of
    catalog: Identity,  # noqa: ARG001
    rack_power_w: float | None,  # noqa: ARG001
    fabric: Fabric,  # noqa: ARG001
) -> dict[tuple[int, int], Quantities]:
    """Designs of a platform by servers and storage nodes; filled by :func:`one_design`."""
    return {}


def _with_costs(
    found: Quantities, platform: Platform, catalog: Catalog, book: PriceBook, prices: UnitPrices, currency: str
) -> PricedParts:
    cost, unpriced = row_cost(found.bought, catalog, book, currency)
    low, likely = row_amounts(found.bought, platform, prices)
    # Two designs of the same parts cost the same to the cent, whatever the order of the sums.
    return PricedParts(found, cost, frozenset(unpriced), low, np.round(likely, 2))
