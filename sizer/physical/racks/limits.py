"""What a device takes of a rack, and what a rack holds: units, kilograms, watts, and outlets of each kind."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.catalog.schema import Device, Pdu, Rack
from sizer.physical.racks.power import device_power, inlet_of
from sizer.physical.roles import Role
from sizer.workload.request import ExistingRack, FeedRedundancy

# Sides of a rack with redundant feeds: A and B; each carries the whole rack.
SIDES = 2
# Rack units, kilograms and watts come before the outlets of each kind in what a device needs.
_PLAIN = 3
# Sums of watts and kilograms in floating point: a rack that is exactly full is full, not over.
SLACK = 1e-6


@dataclass(frozen=True)
class RackClass:
    """Identical devices that are placed together."""

    role: Role
    item: str
    quantity: Ints  # (rows,)
    needs: Floats  # of one device: rack units, kg, W, outlets of each kind of a PDU
    is_reserved: bool = False  # room kept free: it takes everything but is not there yet


@dataclass(frozen=True)
class RackLimits:
    """What racks hold, in the order of ``RackClass.needs``."""

    holds: Floats  # one new rack
    pdu_w: float
    outlets: tuple[int, ...]  # of one PDU, by kind
    inlet_w: float = 0.0  # most that one inlet draws after the loss of a feed
    # Racks that are there, by what is left in each: they are filled first, in this order.
    existing: tuple[Floats, ...] = ()
    feeds: FeedRedundancy = "2N"

    def pdus(self, rack_w: Floats | float) -> Floats:
        """PDUs that carry a rack's watts, without those that are there for the loss of one.

        Inlets go one after the other to the PDU that carries least. Then none carries more than the mean and the
        share of one inlet x: ``u pdu_w - (u - 1) x >= rack_w`` is enough units u.
        """
        one, rest = self.pdu_w, max(self.pdu_w - self.inlet_w, 1e-9)
        watts = np.asarray(rack_w, dtype=float)
        return np.where(watts <= one + SLACK, 1.0, np.ceil((watts - self.inlet_w) / rest - 1e-9))

    def pdus_in_rack(self, heaviest: Floats) -> Floats:
        """PDUs of a rack that takes so many watts and outlets of each kind, shape (1 + kinds, rows)."""
        needed = self.pdus(heaviest[0]) + (self.feeds == "N+1")
        for of_one, taken in zip(self.outlets, heaviest[1:], strict=True):
            needed = np.maximum(needed, np.ceil(taken / max(of_one, 1)))
        return needed * (SIDES if self.feeds == "2N" else 1)


@lru_cache(maxsize=4096)
def device_needs(device: Device, pdu: Pdu, feeds: FeedRedundancy) -> Floats:
    """What one device takes: [U, kg, W, outlets of each kind of a PDU]; unknown ones count as 0, which callers list.

    With two sides, inlets split over both and an odd one counts on each: the outlets are those of one side. Otherwise
    they are those of the rack. A device takes whole rack units.
    """
    inlets = device.power_inlets.value if device.power_inlets is not None else 0
    counted = -(-inlets // SIDES) if feeds == "2N" else inlets
    height = math.ceil(device.height_u.value) if device.height_u is not None else 0
    weight = device.weight_kg.value if device.weight_kg is not None else 0.0
    own = inlet_of(device)
    outlets = [counted if kind == own else 0 for kind in pdu.outlets]
    needs = np.array([height, weight, device_power(device).max_w, *outlets], dtype=float)
    needs.flags.writeable = False  # kept for all who ask
    return needs


def rack_limits(
    rack: Rack,
    pdu: Pdu,
    rack_power_w: float | None = None,
    classes: Sequence[RackClass] = (),
    existing: Sequence[ExistingRack] = (),
    feeds: FeedRedundancy = "2N",
    load_kg: float | None = None,
) -> RackLimits:
    """What one rack holds.

    ``pdu``: one unit on each feed, or as many as the room's limit calls for. ``rack_power_w``: what the room feeds and
    cools in one rack; absent: what one PDU carries, since one alone must carry all. [W] ``classes``: what will be
    placed; only its largest inlet counts. ``existing``: racks of the same kind that are there. ``feeds``: {"2N", "N+1",
    "N"}; either of two sides carries the rack; all PDUs but one do; or all of them together. ``load_kg``: where the
    floor carries less than the rack. [kg]
    """
    capacity = pdu.capacity_w.value
    outlets = tuple(count.value for count in pdu.outlets.values())
    power = capacity if rack_power_w is None else rack_power_w
    needs = np.array([one.needs for one in classes if one.needs[2] > 0])
    inlet_w = _largest_share_w(needs, feeds) if needs.size else 0.0
    one = RackLimits(np.zeros(_PLAIN + len(outlets)), capacity, outlets, inlet_w, feeds=feeds)
    carrying = int(one.pdus(power))
    on_a_side = carrying + (feeds == "N+1")
    # A unit that lies in the rack takes height on all feeds; vertical ones take none.
    in_rack = on_a_side * (SIDES if feeds == "2N" else 1)
    lost_u = in_rack * (pdu.height_u.value if pdu.height_u is not None else 0.0)
    load = rack.load_kg.value if load_kg is None else load_kg
    holds = [rack.height_u.value - lost_u, load, power, *(on_a_side * count for count in outlets)]
    left = tuple(_left(room, rack, pdu) for room in existing)
    # The floor may not carry the rack itself, or the PDUs for the room's limit be more than it has height for.
    return RackLimits(np.maximum(np.array(holds, float), 0.0), capacity, outlets, inlet_w, left, feeds)


def _largest_share_w(needs: Floats, feeds: FeedRedundancy) -> float:
    """Most that one inlet of a class draws after the loss of a feed; one without known inlets counts as one. [W]"""
    inlets = np.maximum(needs[:, _PLAIN:].sum(axis=1), 1)
    if feeds == "N+1":
        # Of N + 1 feeds the lost one has at most half of a device's inlets, rounded up.
        inlets = np.maximum(inlets // 2, 1)
    return float((needs[:, 2] / inlets).max())


def _left(room: ExistingRack, rack: Rack, pdu: Pdu) -> Floats:
    """What an existing rack holds; what the request leaves open follows the share of free units."""
    share = min(room.free_u / rack.height_u.value, 1.0)
    load = rack.load_kg.value * share if room.load_kg is None else room.load_kg
    stated = {"c14": room.outlets_c13, "c20": room.outlets_c19}
    outlets = [
        int(count.value * share) if stated.get(kind) is None else stated[kind] for kind, count in pdu.outlets.items()
    ]
    return np.array([room.free_u, load, room.power_w, *outlets], dtype=float)
