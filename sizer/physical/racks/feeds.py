"""The feeds of one rack: which inlet is on which PDU, and what each PDU carries when another feed is lost.

Three rules: of two sides either carries the rack (2N); of several feeds all but one do (N+1); all of them together
carry it and none may be lost (N).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.schema import Device, Pdu
from sizer.physical.racks.power import device_power, inlet_of
from sizer.workload.request import FeedRedundancy

# What a feed ends in: a PDU of the rack, or what a system that arrives as a rack brings.
FeedKind = Literal["PDU", "power shelf", "inlet"]


class Inlet(NamedTuple):
    """One power inlet of a device."""

    device: int  # number in the plan
    inlet: int  # from 1
    kind: str  # id in power_inlets/
    share_w: float  # most that it draws after the loss of another feed
    live_w: float  # draws with all feeds live


class Hung(NamedTuple):
    """One inlet on a PDU, for racks that hold the same devices in the same order."""

    place: int  # of the device among those of the rack
    inlet: int  # from 1; 0: all inlets of a device of which no source says how many it has
    kind: str
    share_w: float
    live_w: float


@dataclass(frozen=True)
class PowerFeed:
    """One PDU, power shelf or inlet of a cabinet, with the inlets on its outlets; those of each kind count from 1."""

    name: str  # "A1"
    side: str  # "A" or "B"; with N + 1 feeds each PDU is a side of its own
    capacity_w: float
    outlets: tuple[tuple[str, int], ...]  # kind of inlet and how many outlets take it
    numbers: tuple[int, ...]  # of the rack's devices in the plan
    hung: tuple[Hung, ...]
    alone_w: float  # most that it carries after the loss of another side [W]
    kind: FeedKind = "PDU"

    @cached_property
    def inlets(self) -> tuple[Inlet, ...]:
        """The known inlets by the numbers of their devices; most plans are only counted and never ask."""
        return tuple(Inlet(self.numbers[hung.place], *hung[1:]) for hung in self.hung if hung.inlet)

    @property
    def live_w(self) -> float:
        """Draw in normal service, when each device spreads evenly over all its inlets. [W]"""
        return sum(hung.live_w for hung in self.hung)

    def used(self, kind: str) -> int:
        """Outlets that take a kind of inlet and are in use."""
        return sum(hung.kind == kind for hung in self.hung if hung.inlet)


def feeds(
    devices: Sequence[tuple[int, Device]], n_pdus: int, pdu: Pdu, redundancy: FeedRedundancy = "2N"
) -> tuple[PowerFeed, ...]:
    """Spread the inlets of one rack over its PDUs.

    ``devices``: number in the plan and catalogue item, for each device of the rack. ``n_pdus``: PDUs of the rack; half
    of them on each of the sides A and B with 2N. ``redundancy``: what the feeds must bear.

    2N: the first half of a device's inlets goes to side A, the rest to B; a single inlet is on A. Where no source gives
    the inlets, either side is loaded with all that the device draws. Largest shares first, each to the PDU that carries
    least, so that no PDU carries more than the mean and one share. N+1 and N: the inlets of a device go to the PDUs
    that carry least after the worst loss, at most one more on one of them than on another.
    """
    ordered = sorted(devices, key=lambda pair: pair[0])
    outlets = tuple((kind, count.value) for kind, count in pdu.outlets.items())
    supplies = tuple(_supplies(device) for _, device in ordered)
    return _named(tuple(number for number, _ in ordered), supplies, n_pdus, pdu.capacity_w.value, outlets, redundancy)


def shelf_feeds(number: int, device: Device) -> tuple[PowerFeed, ...]:
    """Power shelves, or inlets, of a system that arrives as a rack: one for each inlet, half of them on either side."""
    assert device.delivered is not None
    supplies = _supplies(device)
    n_shelves = supplies.inlets or 1
    outlets, capacity_w = ((supplies.kind, 1),), device.delivered.shelf_w.value
    kind: FeedKind = "power shelf" if device.delivered.has_shelves else "inlet"
    return _named((number,), (supplies,), n_shelves, capacity_w, outlets, "2N", kind)


def _named(
    numbers: tuple[int, ...],
    supplies: tuple["_Supplies", ...],
    n_pdus: int,
    capacity_w: float,
    outlets: tuple[tuple[str, int], ...],
    redundancy: FeedRedundancy,
    kind: FeedKind = "PDU",
) -> tuple[PowerFeed, ...]:
    if redundancy == "2N":
        sides = [
            (side, index, tuple(hung), sum(one.share_w for one in hung))
            for side, groups in zip(_SIDES, _spread_over_sides(supplies, n_pdus // 2, outlets), strict=True)
            for index, hung in enumerate(groups, start=1)
        ]
    else:
        spread = _spread_over_feeds(supplies, n_pdus, outlets, redundancy == "N+1")
        sides = [(chr(ord("A") + number), 1, hung, worst_w) for number, (hung, worst_w) in enumerate(spread)]
    return tuple(
        PowerFeed(f"{side}{place}", side, capacity_w, outlets, numbers, hung, worst_w, kind)
        for side, place, hung, worst_w in sides
    )


class _Supplies(NamedTuple):
    """Power supplies of one device."""

    inlets: int | None  # None: not known
    kind: str
    max_w: float


def _supplies(device: Device) -> _Supplies:
    inlets = None if device.power_inlets is None else device.power_inlets.value
    return _Supplies(inlets, inlet_of(device), device_power(device).max_w)


_SIDES = ("A", "B")


@lru_cache(maxsize=1024)  # most racks of a plan hold the same devices in the same order
def _spread_over_sides(
    devices: tuple[_Supplies, ...], pdus_per_side: int, outlets: tuple[tuple[str, int], ...]
) -> tuple[tuple[tuple[Hung, ...], ...], ...]:
    """What hangs on each PDU of each side."""
    sides = []
    for side in _SIDES:
        inlets = [hung for index, supplies in enumerate(devices) for hung in _inlets(index, supplies, side)]
        inlets.sort(key=lambda hung: (-hung.share_w, hung.place, hung.inlet))
        groups: list[list[Hung]] = [[] for _ in range(pdus_per_side)]
        load = [0.0] * pdus_per_side
        free = [dict(outlets) for _ in range(pdus_per_side)]
        for hung in inlets:
            _, inlet, kind, share_w, _ = hung
            best = min(range(pdus_per_side), key=lambda i: (free[i].get(kind, 0) <= 0, load[i], i))
            groups[best].append(hung)
            load[best] += share_w
            free[best][kind] = free[best].get(kind, 0) - (inlet > 0)
        sides.append(tuple(tuple(sorted(group, key=lambda hung: hung[:2])) for group in groups))
    return tuple(sides)


def _inlets(place: int, supplies: _Supplies, side: str) -> Iterator[Hung]:
    if supplies.inlets is None:
        if supplies.max_w > 0:
            yield Hung(place, 0, supplies.kind, supplies.max_w, supplies.max_w)
        return
    on_a = -(-supplies.inlets // 2)
    chosen = range(on_a) if side == "A" else range(on_a, supplies.inlets)
    for inlet in chosen:
        yield Hung(place, inlet + 1, supplies.kind, supplies.max_w / len(chosen), supplies.max_w / supplies.inlets)


@lru_cache(maxsize=1024)
def _spread_over_feeds(
    devices: tuple[_Supplies, ...], n_feeds: int, outlets: tuple[tuple[str, int], ...], bears_loss: bool
) -> tuple[tuple[tuple[Hung, ...], float], ...]:
    """What hangs on each of several feeds, and the most that each carries: with all live, or after the loss of one."""
    on = np.zeros((len(devices), n_feeds), dtype=np.int64)  # inlets of each device on each feed
    free = [dict(outlets) for _ in range(n_feeds)]
    hung: list[list[Hung]] = [[] for _ in range(n_feeds)]
    order = sorted(range(len(devices)), key=lambda place: (-devices[place].max_w, place))
    watts = np.array([device.max_w for device in devices])
    total = np.zeros(())  # watts of the devices before, of each feed with all live and after the loss of each
    for place in order:
        inlets, kind, _ = devices[place]

        def worst_with(feed: int, place: int = place, total: Floats = total) -> list[float]:
            """Most that each feed carries with one more inlet of the device on one of them, the highest first."""
            more = on[[place]]
            more[0, feed] += 1
            carried = total + _carried_w(more, watts[[place]], bears_loss)[:, 0]
            return sorted(carried.max(axis=0).round(6).tolist(), reverse=True)

        for _ in range(inlets or 0):
            ways = [(free[feed].get(kind, 0) <= 0, int(on[place, feed])) for feed in range(n_feeds)]
            near = [feed for feed in range(n_feeds) if ways[feed] == min(ways)]
            best = near[0] if len(near) == 1 else min(near, key=worst_with)
            on[place, best] += 1
            free[best][kind] = free[best].get(kind, 0) - 1
        total = total + _carried_w(on[[place]], watts[[place]], bears_loss)[:, 0]
    carried = _carried_w(on, watts, bears_loss)
    counted = np.zeros(len(devices), dtype=np.int64)
    for place in range(len(devices)):
        for feed in range(n_feeds):
            for _ in range(on[place, feed]):
                counted[place] += 1
                share_w = float(carried[:, place, feed].max() / on[place, feed])
                live_w = devices[place].max_w / (devices[place].inlets or 1)
                hung[feed].append(Hung(place, int(counted[place]), devices[place].kind, share_w, live_w))
    # A device of which no source gives the inlets may load any feed with all that it draws.
    unknown_w = 0.0
    for place, one in enumerate(devices):
        if one.inlets is None and one.max_w > 0:
            unknown_w += one.max_w
            for feed in range(n_feeds):
                hung[feed].append(Hung(place, 0, one.kind, one.max_w, one.max_w))
    worst = carried.sum(axis=1).max(axis=0) + unknown_w
    return tuple((tuple(hung[feed]), float(worst[feed])) for feed in range(n_feeds))


def _carried_w(on: Ints, watts: Floats, bears_loss: bool) -> Floats:
    """Watts of each device on each feed, with all feeds live and after the loss of each: (cases, devices, feeds)."""
    n_feeds = on.shape[1]
    live = np.ones((1, n_feeds))
    cases = np.concatenate([live, 1 - np.eye(n_feeds)]) if bears_loss and n_feeds > 1 else live
    left = on[None, :, :] * cases[:, None, :]
    total = left.sum(axis=2, keepdims=True)
    return np.asarray(watts[None, :, None] * np.divide(left, total, out=np.zeros_like(left), where=total > 0))
