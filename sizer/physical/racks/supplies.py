"""Power supplies that a device keeps when one feed of its rack is lost, and how many its full draw takes."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sizer.catalog.devices import Device
from sizer.physical.plan import PlacedRack
from sizer.physical.racks.power import device_power
from sizer.physical.racks.site_rules import DeviceOf

# Supplies of which either one is taken to carry a device: 1+1 is usual.
_EACH_CARRIES = 2


@dataclass(frozen=True)
class FewSupplies:
    """A kind of device that may keep too few supplies for its full draw after the loss of one feed."""

    name: str
    supplies: int
    remaining: int  # after the worst loss
    needed: int | None  # None: no source says
    three_feeds_suffice: bool  # one of three feeds may be lost
    cap_w: float | None  # draw that the remaining supplies carry for certain; None: not published


def few_supplies(racks: Iterable[PlacedRack], device_of: DeviceOf) -> Iterator[FewSupplies]:
    """Kinds of devices in racks that tolerate the loss of a feed, by the rack in which they keep the fewest supplies.

    Of two supplies either one is taken to carry the device (1+1); of more the catalogue has to say how many do, or it
    is open. DGX H100: three of six supplies are on each of two feeds, and four carry its full draw of 10.2 kW
    ("nv-dgxh100-ug"), so three carry at least three quarters of it, 7.65 kW.
    """
    fewest: dict[str, int] = {}
    for rack in racks:
        if rack.redundancy == "N" or rack.is_delivered:
            continue
        items = {one.number: one.item for one in rack.present if _is_checked(device_of(one.item))}
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
            yield FewSupplies(device.name, supplies, left, None, False, None)
            continue
        needed, full = device.supplies_needed.value, device_power(device)
        if left < needed:
            cap_w = float(full.max_w) * left / needed if full.is_known else None
            yield FewSupplies(device.name, supplies, left, needed, supplies - -(-supplies // 3) >= needed, cap_w)


def _is_checked(device: Device) -> bool:
    return device.supplies_needed is not None or _n_supplies(device) > _EACH_CARRIES


def _n_supplies(device: Device) -> int:
    return 0 if device.power_inlets is None else device.power_inlets.value
