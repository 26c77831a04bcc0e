"""What the feeds of a plan carry, and devices that may keep too few supplies after the loss of one."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Device
from sizer.physical.plan import PlacedRack
from sizer.physical.racks.feeds import FeedKind, PowerFeed
from sizer.physical.racks.power import device_power
from sizer.physical.racks.site_rules import DeviceOf


@dataclass(frozen=True)
class FeedLoad:
    """PDUs, power shelves or inlets of one rating."""

    kind: FeedKind
    device: str  # whose inlets they are; "" of PDUs and power shelves
    count: int
    alone_w: float  # most that one of them carries after the loss of another feed [W]
    capacity_w: float  # of each [W]


def feed_loads(racks: Iterable[PlacedRack], catalog: Catalog) -> tuple[FeedLoad, ...]:
    """Loads by kind and rating, in the order of the racks."""
    alike: dict[tuple[FeedKind, str, float], list[PowerFeed]] = {}
    for rack in racks:
        for feed in rack.feeds:
            device = catalog.device(rack.devices[0].item).name if feed.kind == "inlet" else ""
            alike.setdefault((feed.kind, device, feed.capacity_w), []).append(feed)
    return tuple(
        FeedLoad(kind, device, len(feeds), max(feed.alone_w for feed in feeds), capacity_w)
        for (kind, device, capacity_w), feeds in alike.items()
    )


# Supplies of which either one is taken to carry a device: 1+1 is usual.
_EACH_CARRIES = 2


@dataclass(frozen=True)
class FewSupplies:
    """A kind of device that may keep too few supplies for its full draw after the loss of one feed."""

    name: str
    supplies: int
    remaining: int  # after the worst loss
    needed: int | None  # None: no source says
    feeds_needed: int | None  # fewest feeds of which one may be lost; None: no number is enough, or known to be
    cap_w: float | None  # draw that the remaining supplies carry for certain; None: not published


def few_supplies(racks: Iterable[PlacedRack], device_of: DeviceOf) -> Iterator[FewSupplies]:
    """Kinds of devices in racks that tolerate the loss of a feed, by the rack in which they keep the fewest supplies.

    Of two supplies either one is taken to carry the device (1+1); of more the catalogue has to say how many do, or it
    is open. DGX H100: three of six supplies are on each of two feeds, and four carry its full draw of 10.2 kW
    ("nv-dgxh100-ug"), so three carry their rating, 9.9 kW, or of an unknown one three quarters of the draw, 7.65 kW.
    """
    fewest: dict[str, int] = {}
    for rack in racks:
        if rack.redundancy == "N" or rack.is_delivered:
            continue
        items = {one.number: one.item for one in rack.devices if _is_checked(device_of(one.item))}
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
        device = device_of(item)
        supplies = _n_supplies(device)
        if device.supplies_needed is None:
            yield FewSupplies(device.name, supplies, left, None, None, None)
            continue
        needed, full = device.supplies_needed.value, device_power(device)
        if left < needed:
            cap_w = float(full.max_w) * left / needed if full.is_known else None
            if device.supply_w is not None:
                cap_w = left * device.supply_w.value
            enough = (feeds for feeds in range(3, supplies + 1) if supplies - -(-supplies // feeds) >= needed)
            yield FewSupplies(device.name, supplies, left, needed, next(enough, None), cap_w)


def _is_checked(device: Device) -> bool:
    return device.supplies_needed is not None or _n_supplies(device) > _EACH_CARRIES


def _n_supplies(device: Device) -> int:
    return 0 if device.power_inlets is None else device.power_inlets.value
