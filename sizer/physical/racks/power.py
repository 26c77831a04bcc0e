"""Watts of a device as the catalogue knows them (exactly, in a bracket, or not at all), and the feeds for them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from sizer.base.identity_cache import cached_by_identity
from sizer.catalog.schema import Device, Pdu

Outlet = Literal["c13", "c19"]


@dataclass(frozen=True)
class DevicePower:
    """Draw of one device. [W] ``is_known`` is False where a maximum is missing: totals then read "at least"."""

    low_w: float
    typical_w: float
    max_w: float
    is_known: bool


@cached_by_identity
def device_power(device: Device) -> DevicePower:
    """Draw of one device from what the catalogue states.

    Parameters
    ----------
    device : Device
        Server, storage unit, switch or gateway.

    Returns
    -------
    DevicePower
        ``max_w`` is the stated maximum or the upper end of the bracket, ``low_w`` the lower end or the typical draw,
        ``typical_w`` the stated typical draw or the middle of the bracket. [W]

    Notes
    -----
    Feeds, racks and cooling are sized with the upper end, energy with the middle. A lower end
    alone (the sum of component TDPs) is a floor, so the maximum is not known.
    """
    top = _value(device.power_max_w) if device.power_max_w is not None else _value(device.power_high_w)
    typical, floor = _value(device.power_typical_w), _value(device.power_low_w)
    best = [watts for watts in (top, typical, floor) if watts is not None]
    if not best:
        return DevicePower(0.0, 0.0, 0.0, is_known=False)
    high = max(best)
    low = floor if floor is not None else typical if typical is not None else high
    middle = typical if typical is not None else (low + high) / 2
    return DevicePower(low, middle, high, is_known=top is not None)


def _value(fact: object) -> float | None:
    value = getattr(fact, "value", None)
    return None if value is None else float(value)


def outlet_kind(device: Device) -> Outlet:
    """Outlet that a device's inlets take; C13 where nothing is known, the usual one of small supplies."""
    return "c19" if device.inlet_kind is not None and device.inlet_kind.value == "c20" else "c13"


class Inlet(NamedTuple):
    """One power inlet of a device."""

    device: int  # number in the plan
    inlet: int  # from 1
    kind: Outlet  # outlet that it takes
    share_w: float  # draws while the device hangs on this feed alone


class Hung(NamedTuple):
    """One inlet on a PDU, for racks that hold the same devices in the same order."""

    place: int  # of the device among those of the rack
    inlet: int  # from 1; 0: all inlets of a device of which no source says how many it has
    kind: Outlet
    share_w: float


@dataclass(frozen=True)
class PowerFeed:
    """One PDU with the inlets on its outlets; outlets of each kind count from 1."""

    name: str  # "A1"
    side: str  # "A" or "B"
    capacity_w: float
    outlets_c13: int
    outlets_c19: int
    numbers: tuple[int, ...]  # of the rack's devices in the plan
    hung: tuple[Hung, ...]

    @cached_property
    def inlets(self) -> tuple[Inlet, ...]:
        """The known inlets by the numbers of their devices; most plans are only counted and never ask."""
        return tuple(
            Inlet(self.numbers[place], inlet, kind, share_w) for place, inlet, kind, share_w in self.hung if inlet
        )

    @property
    def alone_w(self) -> float:
        """Draw while the other side is lost. [W]"""
        return sum(one.share_w for one in self.hung)

    def used(self, kind: str) -> int:
        """Outlets of a kind that are taken."""
        return sum(one.kind == kind for one in self.hung if one.inlet)


def feeds(devices: Sequence[tuple[int, Device]], pdus_per_side: int, pdu: Pdu) -> tuple[PowerFeed, ...]:
    """Spread the inlets of one rack over the PDUs of both sides.

    Parameters
    ----------
    devices : sequence of (int, Device)
        Number in the plan and catalogue item, for each device of the rack.
    pdus_per_side : int
        PDUs on each of the sides A and B. [-]
    pdu : Pdu
        Their kind.

    Notes
    -----
    The first half of a device's inlets goes to side A, the rest to B; a single inlet is on A. Where no source gives
    the inlets, either side is loaded with all that the device draws. Largest shares first, each to the PDU that carries
    least, so that no PDU carries more than the mean and one share.
    """
    ordered = sorted(devices, key=lambda pair: pair[0])
    numbers = tuple(number for number, _ in ordered)
    room = (pdu.outlets_c13.value, pdu.outlets_c19.value)
    spread = _spread(tuple(_supplies(device) for _, device in ordered), pdus_per_side, *room)
    return tuple(
        PowerFeed(f"{side}{number}", side, pdu.capacity_w.value, *room, numbers, hung)
        for side, groups in zip(_SIDES, spread, strict=True)
        for number, hung in enumerate(groups, start=1)
    )


class _Supplies(NamedTuple):
    """Power supplies of one device."""

    inlets: int | None  # None: not known
    kind: Outlet
    max_w: float


@cached_by_identity
def _supplies(device: Device) -> _Supplies:
    inlets = None if device.power_inlets is None else device.power_inlets.value
    return _Supplies(inlets, outlet_kind(device), device_power(device).max_w)


_SIDES = ("A", "B")


@lru_cache(maxsize=1024)  # most racks of a plan hold the same devices in the same order
def _spread(
    devices: tuple[_Supplies, ...], pdus_per_side: int, outlets_c13: int, outlets_c19: int
) -> tuple[tuple[tuple[Hung, ...], ...], ...]:
    """What hangs on each PDU of each side."""
    found = []
    for side in _SIDES:
        inlets = [hung for place, supplies in enumerate(devices) for hung in _inlets(place, supplies, side)]
        inlets.sort(key=lambda hung: (-hung.share_w, hung.place, hung.inlet))
        groups: list[list[Hung]] = [[] for _ in range(pdus_per_side)]
        load = [0.0] * pdus_per_side
        free = [{"c13": outlets_c13, "c19": outlets_c19} for _ in range(pdus_per_side)]
        for hung in inlets:
            _, inlet, kind, share_w = hung
            best = min(range(pdus_per_side), key=lambda i: (free[i][kind] <= 0, load[i], i))
            groups[best].append(hung)
            load[best] += share_w
            free[best][kind] -= inlet > 0
        found.append(tuple(tuple(sorted(group, key=lambda hung: hung[:2])) for group in groups))
    return tuple(found)


def _inlets(place: int, supplies: _Supplies, side: str) -> Iterator[Hung]:
    if supplies.inlets is None:
        if supplies.max_w > 0:
            yield Hung(place, 0, supplies.kind, supplies.max_w)
        return
    on_a = -(-supplies.inlets // 2)
    chosen = range(on_a) if side == "A" else range(on_a, supplies.inlets)
    for inlet in chosen:
        yield Hung(place, inlet + 1, supplies.kind, supplies.max_w / len(chosen))


def both_live_w(feed: PowerFeed, of_rack: Sequence[PowerFeed]) -> float:
    """Draw of one PDU in normal service, when each device spreads evenly over all its inlets. [W]"""
    inlets = Counter(inlet.device for one in of_rack for inlet in one.inlets)
    on_side = Counter(inlet.device for one in of_rack if one.side == feed.side for inlet in one.inlets)
    known = sum(inlet.share_w * on_side[inlet.device] / inlets[inlet.device] for inlet in feed.inlets)
    return known + sum(hung.share_w for hung in feed.hung if not hung.inlet)


# 1 W is 3.412 142 BTU/h: 3,600 J an hour over 1,055.056 J a BTU (international table).
BTU_PER_H_PER_W = 3_600 / 1_055.055_852_62
HOURS_PER_YEAR = 8_760


def heat_btu_per_h(power_w: float) -> float:
    """Heat that cooling must carry away. [BTU/h]"""
    return power_w * BTU_PER_H_PER_W


def energy_kwh_per_year(power_w: float, pue_ratio: float = 1.0) -> float:
    """Energy of a steady draw over a year of 365 days, with what the room adds. [kWh]"""
    return power_w * pue_ratio * HOURS_PER_YEAR / 1e3
