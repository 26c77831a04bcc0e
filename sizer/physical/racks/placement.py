"""What racks hold and which device goes into which: one rule, counted for all rows here and drawn by the elevations.

The rule is next fit by class. Devices come in the order of :data:`RACK_ORDER`; devices of one class fill the open
rack as far as rack units, weight, watts of a feed and outlets allow, then as many new racks as they need. Nothing goes
back into an earlier rack. One more device of any class therefore never lowers the number of racks (next fit is
monotone: F. D. Murgolo, "Anomalous behavior in bin packing algorithms," Discrete Appl. Math. 21(3):229-243, 1988; the
argument holds for several resources at once).

Where that rule takes two or three racks and fewer may do, each class is dealt out in two to four parts, which are
placed one after the other by the same rule: servers of much power then share their racks with storage. One more device
adds to one part, so each number of parts is monotone, and so is the least over them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
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
    needs = np.array([class_.needs for class_ in classes if class_.needs[2] > 0])
    inlet_w = _largest_share_w(needs, feeds) if needs.size else 0.0
    limits = RackLimits(np.zeros(_PLAIN + len(outlets)), capacity, outlets, inlet_w, feeds=feeds)
    carrying = int(limits.pdus(power))
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


# Categories in the order in which they are placed: what joins the rest first, servers last.
RACK_ORDER = ("network", "head node", "storage", "cooling", "compute")
_UNLIMITED = 2**31
# Parts that the classes are dealt out in where fewer racks may hold them, and the most racks for which that is tried:
# in more racks, kinds that stand together are worth a rack.
_PARTS, _MOST_DEALT = (2, 3, 4), 3
# Rows counted at once: their arrays stay in a processor's cache.
_BLOCK_ROWS = 2048


@dataclass(frozen=True)
class RackCount:
    """Racks of all rows."""

    racks: Ints  # new ones
    existing: Ints  # of those that are there, so many take something
    pdus_per_rack: Ints  # in every new rack, for the heaviest one
    heaviest_w: Floats  # most that one new rack draws
    units_used: Floats  # rack units in new racks, without those kept free
    holds_all: Bools  # False where one device alone exceeds a rack


@dataclass(frozen=True)
class RackFill:
    """Devices of one rack: ``(role, item, count)`` in placing order."""

    existing: int | None  # index of the rack that is there; None for a new one
    devices: tuple[tuple[Role, str, int], ...]


def fit_per_rack(needs: Floats, holds: Floats) -> int:
    """Devices of one kind that an empty rack holds: the least that units, weight, watts and outlets allow."""
    return int(_fits(needs, holds)) if (needs > 0).any() else _UNLIMITED


def _fits(needs: Floats, left: Floats) -> Floats:
    """Devices that fit into what is left of a rack, or of one rack a row: shape (needs,) or (needs, rows)."""
    taken = np.flatnonzero(needs > 0)
    each = needs[taken].reshape(-1, *[1] * (left.ndim - 1))
    return np.asarray(np.floor((left[taken] + SLACK) / each).min(axis=0))


def count_racks(classes: Sequence[RackClass], limits: RackLimits, n_rows: int) -> RackCount:
    """Racks for all rows by the rule of this module.

    ``classes``: in placing order. ``n_rows``: rows of the quantities.
    """
    present = _Present.of(classes)
    total = _Totals(n_rows, 1 + len(limits.outlets))
    if present.needs.size:
        _count_all(present, limits, total)
        if not limits.existing:
            _deal_out(present, limits, total)
    pdus = np.where(total.racks > 0, limits.pdus_in_rack(total.heaviest), 0).astype(np.int64)
    return RackCount(
        total.racks.astype(np.int64), total.existing, pdus, total.heaviest[0], total.units_used, total.holds_all
    )


@dataclass(frozen=True)
class _Present:
    """The classes that some row has, in placing order."""

    needs: Floats  # (classes, limits)
    quantity: Ints  # (classes, rows)
    number: Ints  # (classes,) among those that were given

    @classmethod
    def of(cls, classes: Sequence[RackClass]) -> "_Present":
        """Those of the given ones that take something of a rack."""
        there = [n for n, one in enumerate(classes) if np.count_nonzero(one.quantity) and np.count_nonzero(one.needs)]
        return cls(
            np.array([classes[n].needs for n in there]),
            np.array([classes[n].quantity for n in there]),
            np.array(there, dtype=np.int64),
        )

    def dealt(self, parts: int) -> "_Present":
        """The classes in so many parts, one after the other."""
        quantity = np.concatenate([(self.quantity + parts - 1 - part) // parts for part in range(parts)])
        return _Present(np.tile(self.needs, (parts, 1)), quantity, np.tile(self.number, parts))

    def least_racks(self, limits: RackLimits) -> Floats:
        """Racks that the sums of units, kilograms, watts and outlets take: a bound of each row."""
        shares = self.needs / np.where(limits.holds > 0, limits.holds, np.inf)
        return np.asarray(np.ceil((shares.T @ self.quantity.astype(float)).max(axis=0) - SLACK))


def _count_all(present: _Present, limits: RackLimits, total: "_Totals") -> None:
    for start in range(0, total.racks.size, _BLOCK_ROWS):
        _count_block(present, limits, slice(start, start + _BLOCK_ROWS), total)


def _deal_out(present: _Present, limits: RackLimits, total: "_Totals") -> None:
    """Fewer racks by classes in parts, in the rows where some may do."""
    least = present.least_racks(limits)
    is_open = (total.racks > least) & (total.racks <= _MOST_DEALT)
    for parts in _PARTS:
        rows = np.flatnonzero(is_open & (total.racks > least))
        if not rows.size:
            return
        other = _Totals(rows.size, len(total.heaviest))
        _count_all(replace(present, quantity=present.quantity[:, rows]).dealt(parts), limits, other)
        fewer = other.racks < total.racks[rows]
        total.racks[rows[fewer]] = other.racks[fewer]
        total.heaviest[:, rows[fewer]] = other.heaviest[:, fewer]


class _Totals:
    """Results of all rows while they are counted block by block."""

    def __init__(self, n_rows: int, n_limits: int) -> None:
        self.racks, self.units_used = np.zeros((2, n_rows))
        self.existing = np.zeros(n_rows, dtype=np.int64)
        self.heaviest = np.zeros((n_limits, n_rows))  # most that one new rack takes of W and of each kind of outlet
        self.holds_all = np.ones(n_rows, dtype=bool)


def _count_block(present: _Present, limits: RackLimits, rows: slice, total: _Totals) -> None:
    """Count racks of some rows into views of the results."""
    racks, heaviest, units = total.racks[rows], total.heaviest[:, rows], total.units_used[rows]
    holds = limits.holds[:, None]
    old = _Existing(limits.existing, racks.size) if limits.existing else None
    left = np.zeros((len(holds), racks.size))  # of the open new rack; nothing before the first one
    lowest = np.repeat(holds[2:], racks.size, axis=1)  # least that an open or closed one has left
    needs = present.needs[:, :, None]
    divisors = np.where(needs > 0, needs, np.nan)  # what a device does not need limits nothing: fmin passes NaN over
    fits_empty = np.fmin.reduce(np.floor((holds + SLACK) / divisors), axis=1)[:, 0].tolist()
    to_place = present.quantity[:, rows].astype(float)
    if old is not None:
        for number, of_one in enumerate(present.needs):
            to_place[number] = old.take(of_one, to_place[number])
    units += (to_place * present.needs[:, :1]).sum(axis=0)
    for need, divisor, per_rack, rest in zip(needs, divisors, fits_empty, to_place, strict=True):
        if not np.count_nonzero(rest):
            continue
        if per_rack == 0:
            # Counted as one rack each, so that the row still has a number beside its violation.
            total.holds_all[rows] &= rest == 0
            per_rack = 1.0
        is_open = racks > 0
        if np.count_nonzero(is_open):
            room = np.fmin.reduce(np.floor((left + SLACK) / divisor), axis=0)
            here = np.maximum(np.minimum(room, rest), 0.0)
            left -= here * need
            rest -= here
            np.minimum(lowest, left[2:], out=lowest, where=is_open)
        opened = rest > 0
        if not np.count_nonzero(opened):
            continue
        new = np.ceil(rest / per_rack)
        np.maximum(heaviest, np.where(new > 1, per_rack, 0.0) * need[2:], out=heaviest)
        last = rest - (new - 1) * per_rack
        left = np.where(opened, holds - last * need, left)
        racks += new
    np.minimum(lowest, left[2:], out=lowest, where=racks > 0)
    np.maximum(heaviest, holds[2:] - lowest, out=heaviest)
    if old is not None:
        total.existing[rows] = old.used


class _Existing:
    """The racks that are there, filled one after the other; a row that has left one does not come back to it."""

    def __init__(self, left: Sequence[Floats], n_rows: int) -> None:
        self._racks = left
        self._open = np.zeros(n_rows, dtype=np.int64)
        self._left = np.tile(left[0][:, None], n_rows)
        self.used = np.zeros(n_rows, dtype=np.int64)
        self._has_any = np.zeros(n_rows, dtype=bool)

    def take(self, needs: Floats, quantity: Floats) -> Floats:
        """Place what fits of a class whose devices take ``needs`` each; returns what goes on to new racks."""
        rest = quantity
        for number in range(len(self._racks)):
            here = self._open == number
            put = np.where(here, np.maximum(np.minimum(_fits(needs, self._left), rest), 0.0), 0.0)
            self._left -= put * needs[:, None]
            self.used += (put > 0) & ~self._has_any
            self._has_any |= put > 0
            rest = rest - put
            full = here & (rest > 0)
            self._open = np.where(full, number + 1, self._open)
            self._has_any &= ~full
            if number + 1 < len(self._racks):
                self._left = np.where(full, self._racks[number + 1][:, None], self._left)
        return rest


def place(classes: Sequence[RackClass], limits: RackLimits) -> list[RackFill]:
    """Racks of one row by the same rule.

    ``classes``: quantities of one row, in placing order. Returns rack by rack, in placing order, without empty ones. A
    device that exceeds an empty rack gets one of its own.
    """
    found = fewest = _next_fit(classes, limits)
    present = _Present.of(classes)
    if limits.existing or not present.needs.size or len(found) > _MOST_DEALT:
        return found
    least = float(present.least_racks(limits)[0])
    for parts in _PARTS:
        if len(fewest) <= least:
            break
        dealt = present.dealt(parts)
        of_parts = [
            replace(classes[n], quantity=quantity) for n, quantity in zip(dealt.number, dealt.quantity, strict=True)
        ]
        other = _next_fit(of_parts, limits)
        fewest = other if len(other) < len(fewest) else fewest
    return fewest


def _next_fit(classes: Sequence[RackClass], limits: RackLimits) -> list[RackFill]:
    """Racks of one row, class by class."""
    n_existing = len(limits.existing)
    racks: list[list[tuple[Role, str, int]]] = []
    left = np.zeros_like(limits.holds)  # nothing is open yet
    for group in classes:
        rest = int(group.quantity[0]) if np.count_nonzero(group.needs > 0) else 0
        in_new = 0
        while rest:
            count = max(min(fit_per_rack(group.needs, left), rest), 0)
            if count:
                racks[-1].append((group.role, group.item, count))
                left = left - count * group.needs
                rest -= count
            while rest and len(racks) >= n_existing:
                # What is larger than an empty rack stands alone.
                in_new = in_new or max(fit_per_rack(group.needs, limits.holds), 1)
                count = min(in_new, rest)
                racks.append([(group.role, group.item, count)])
                left = limits.holds - count * group.needs
                rest -= count
            if rest:
                left = limits.existing[len(racks)]
                racks.append([])
    return [
        RackFill(number if number < n_existing else None, tuple(devices))
        for number, devices in enumerate(racks)
        if devices
    ]
