"""Power supplies that a device keeps when one feed of its rack is lost, and how many its full draw takes."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sizer.catalog.model import Catalog
from sizer.physical.plan import PlacedRack
from sizer.physical.racks.power import device_power


@dataclass(frozen=True)
class FewSupplies:
    """A kind of device that keeps too few supplies for its full draw after the loss of one feed."""

    name: str
    supplies: int
    remaining: int  # after the worst loss
    needed: int
    three_feeds_suffice: bool  # one of three feeds may be lost
    cap_w: float | None  # draw that the remaining supplies carry for certain; None: the full draw is not published


def few_supplies(racks: Iterable[PlacedRack], catalog: Catalog) -> Iterator[FewSupplies]:
    """Kinds of devices in racks that tolerate the loss of a feed, by the rack in which they keep the fewest supplies.

    DGX H100: three of six supplies are on each of two feeds, and four carry its full draw of 10.2 kW
    ("nv-dgxh100-ug"), so three carry at least three quarters of it, 7.65 kW.
    """
    fewest: dict[str, int] = {}
    for rack in racks:
        if rack.redundancy == "N" or rack.is_delivered:
            continue
        items = {one.number: one.item for one in rack.present if _needed(catalog, one.item) is not None}
        by_side: dict[int, Counter[str]] = {number: Counter() for number in items}
        for feed in rack.feeds if items else ():
            for inlet in feed.inlets:
                if inlet.device in by_side:
                    by_side[inlet.device][feed.side] += 1
        for number, sides in by_side.items():
            if sides:
                left = sides.total() - max(sides.values())
                fewest[items[number]] = min(left, fewest.get(items[number], left))
    for item, left in fewest.items():
        needed, inlets = _needed(catalog, item), catalog.device(item).power_inlets
        if needed is not None and inlets is not None and left < needed:
            supplies, name, full = inlets.value, catalog.device(item).name, device_power(catalog.device(item))
            cap_w = float(full.max_w) * left / needed if full.is_known else None
            yield FewSupplies(name, supplies, left, needed, supplies - -(-supplies // 3) >= needed, cap_w)


def _needed(catalog: Catalog, item: str) -> int | None:
    fact = catalog.device(item).supplies_needed
    return None if fact is None else fact.value
