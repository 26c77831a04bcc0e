"""Load of the PDUs, power shelves and inlets of a design after the loss of a feed, kind by kind."""

from collections.abc import Iterable
from dataclasses import dataclass

from sizer.catalog.model import Catalog
from sizer.physical.plan import PlacedRack
from sizer.physical.racks.feeds import FeedKind, PowerFeed


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
            device = catalog.device(rack.present[0].item).name if feed.kind == "inlet" else ""
            alike.setdefault((feed.kind, device, feed.capacity_w), []).append(feed)
    return tuple(
        FeedLoad(kind, device, len(feeds), max(feed.alone_w for feed in feeds), capacity_w)
        for (kind, device, capacity_w), feeds in alike.items()
    )
