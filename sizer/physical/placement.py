"""Which device goes into which rack: one rule, counted for all rows at once here and drawn by the rack elevations.

The rule is next fit by class. Devices come in the order of :data:`RACK_ORDER`; devices of one class fill the open
rack as far as rack units, weight, watts of a feed and outlets allow, then as many new racks as they need. Nothing goes
back into an earlier rack. One more device of any class therefore never lowers the number of racks (next fit is
monotone: F. D. Murgolo, "Anomalous behavior in bin packing algorithms," Discrete Appl. Math. 21(3):229-243, 1988; the
argument holds for several resources at once).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.catalog.schema import Device, Pdu, Rack
from sizer.physical.power import device_power

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Categories in the order in which they are placed: what joins the rest first, servers last.
RACK_ORDER = ("network", "head node", "storage", "compute")
# Feeds A and B; each carries the whole rack.
FEEDS = 2
# Sums of watts and kilograms in floating point: a rack that is exactly full is full, not over.
_SLACK = 1e-6
_UNLIMITED = 2**31
# Rows counted at once: their arrays stay in a processor's cache.
_BLOCK_ROWS = 2048


@dataclass(frozen=True)
class RackClass:
    """Identical devices that are placed together."""

    role: str
    item: str
    quantity: Ints  # (rows,)
    needs: Floats  # of one device: rack units, kg, W, C13 and C19 outlets of one feed


@dataclass(frozen=True)
class RackLimits:
    """What one rack holds, in the order of ``RackClass.needs``."""

    holds: Floats
    pdu_w: float
    outlets_c13: int
    outlets_c19: int


@dataclass(frozen=True)
class RackCount:
    """Racks of all rows."""

    racks: Ints
    pdus_per_feed: Ints  # in every rack, for the heaviest one
    heaviest_w: Floats  # most that one rack draws
    holds_all: Bools  # False where one device alone exceeds a rack


def device_needs(device: Device) -> Floats:
    """What one device takes: [U, kg, W, C13, C19]; unknown weight and watts count as 0, which callers list.

    Inlets split over both feeds; an odd one counts on each.
    """
    inlets = device.power_inlets.value if device.power_inlets is not None else 0
    per_feed = -(-inlets // FEEDS)
    is_c20 = device.inlet_kind is not None and device.inlet_kind.value == "c20"
    height = device.height_u.value if device.height_u is not None else 0.0
    weight = device.weight_kg.value if device.weight_kg is not None else 0.0
    c13, c19 = (0, per_feed) if is_c20 else (per_feed, 0)
    return np.array([height, weight, device_power(device).max_w, c13, c19], dtype=float)


def rack_limits(rack: Rack, pdu: Pdu, rack_power_w: float | None = None) -> RackLimits:
    """What one rack holds.

    Parameters
    ----------
    rack : Rack
        Height and load.
    pdu : Pdu
        One unit on each feed, or as many as the room's limit calls for.
    rack_power_w : float, optional
        What the room feeds and cools in one rack; absent: what one PDU carries, since A alone must carry all. [W]
    """
    capacity = pdu.capacity_w.value
    power = capacity if rack_power_w is None else rack_power_w
    units = max(1, int(np.ceil(power / capacity - 1e-9)))
    # A unit that lies in the rack takes height on both feeds; vertical ones take none.
    lost_u = FEEDS * units * (pdu.height_u.value if pdu.height_u is not None else 0.0)
    c13, c19 = pdu.outlets_c13.value, pdu.outlets_c19.value
    holds = np.array([rack.height_u.value - lost_u, rack.load_kg.value, power, units * c13, units * c19], float)
    return RackLimits(holds, capacity, c13, c19)


def fit_per_rack(needs: Floats, holds: Floats) -> int:
    """Devices of one kind that an empty rack holds: the least that units, weight, watts and outlets allow."""
    taken = needs > 0
    return int(np.floor((holds[taken] + _SLACK) / needs[taken]).min()) if taken.any() else _UNLIMITED


def count_racks(classes: Sequence[RackClass], limits: RackLimits, n_rows: int) -> RackCount:
    """Racks for all rows by the rule of this module.

    Parameters
    ----------
    classes : sequence of RackClass
        In placing order.
    limits : RackLimits
        What one rack holds.
    n_rows : int
        Rows of the quantities.
    """
    racks = np.zeros(n_rows, dtype=np.int64)
    heaviest = np.zeros((limits.holds.size, n_rows))
    holds_all = np.ones(n_rows, dtype=bool)
    present = [group for group in classes if group.quantity.any() and (group.needs > 0).any()]
    for start in range(0, n_rows, _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        _count_block(present, limits, rows, racks[rows], heaviest[:, rows], holds_all[rows])
    needed = np.stack(
        [
            np.ceil(heaviest[2] / limits.pdu_w - 1e-9),
            np.ceil(heaviest[3] / max(limits.outlets_c13, 1)),
            np.ceil(heaviest[4] / max(limits.outlets_c19, 1)),
        ]
    )
    pdus = np.where(racks > 0, np.maximum(needed.max(axis=0), 1), 0).astype(np.int64)
    return RackCount(racks, pdus, heaviest[2], holds_all)


def _count_block(
    classes: Sequence[RackClass], limits: RackLimits, rows: slice, racks: Ints, heaviest: Floats, holds_all: Bools
) -> None:
    """Count racks of some rows into views of the results."""
    left = np.zeros(heaviest.shape)  # of the open rack; nothing before the first one
    holds = limits.holds[:, None]
    for group in classes:
        quantity = group.quantity[rows].astype(float)
        per_rack = fit_per_rack(group.needs, limits.holds)
        if per_rack == 0:
            # Counted as one rack each, so that the row still has a number beside its violation.
            holds_all &= quantity == 0
            per_rack = 1
        needs = group.needs[:, None]
        taken = np.flatnonzero(group.needs > 0)
        fits = np.floor((left[taken] + _SLACK) / needs[taken]).min(axis=0)
        here = np.maximum(np.minimum(fits, quantity), 0.0)
        left -= here * needs
        rest = quantity - here
        opened = rest > 0
        if not opened.any():
            continue
        new = np.ceil(rest / per_rack)
        last = rest - (new - 1) * per_rack
        behind = np.where(opened & (racks > 0), holds - left, 0.0)
        np.maximum(heaviest, np.maximum(behind, np.where(new > 1, per_rack, 0.0) * needs), out=heaviest)
        left = np.where(opened, holds - last * needs, left)
        racks += new.astype(np.int64)
    np.maximum(heaviest, np.where(racks > 0, holds - left, 0.0), out=heaviest)


def place(classes: Sequence[RackClass], limits: RackLimits) -> list[list[tuple[str, str, int]]]:
    """Racks of one row by the same rule, device by device: ``(role, item, count)`` for each rack.

    Parameters
    ----------
    classes : sequence of RackClass
        Quantities of one row, in placing order.
    limits : RackLimits
        What one rack holds.

    Returns
    -------
    list of list
        Rack by rack, in placing order. A device that exceeds an empty rack gets one of its own.
    """
    racks: list[list[tuple[str, str, int]]] = []
    left = np.zeros_like(limits.holds)
    for group in classes:
        if not (group.needs > 0).any():
            continue
        for _ in range(int(group.quantity[0])):
            if not racks or (group.needs > left + _SLACK).any():
                racks.append([])
                left = limits.holds.copy()
            left = left - group.needs
            if racks[-1] and racks[-1][-1][:2] == (group.role, group.item):
                racks[-1][-1] = (group.role, group.item, racks[-1][-1][2] + 1)
            else:
                racks[-1].append((group.role, group.item, 1))
    return racks
