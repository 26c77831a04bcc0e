"""Which device goes into which rack: one rule, counted for all rows at once here and drawn by the rack elevations.

The rule is next fit by class. Devices come in the order of :data:`RACK_ORDER`; devices of one class fill the open
rack as far as rack units, weight, watts of a feed and outlets allow, then as many new racks as they need. Nothing goes
back into an earlier rack. One more device of any class therefore never lowers the number of racks (next fit is
monotone: F. D. Murgolo, "Anomalous behavior in bin packing algorithms," Discrete Appl. Math. 21(3):229-243, 1988; the
argument holds for several resources at once).

Where that rule takes two or three racks and fewer may do, each class is dealt out in two to four parts, which are
placed one after the other by the same rule: servers of much power then share their racks with storage. One more device
adds to one part, so each number of parts is monotone, and so is the least over them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.physical.racks.limits import SLACK, RackClass, RackLimits
from sizer.physical.roles import Role

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
    is_reserved: Bools  # (classes,)
    number: Ints  # (classes,) among those that were given

    @classmethod
    def of(cls, classes: Sequence[RackClass]) -> "_Present":
        """Those of the given ones that take something of a rack."""
        there = [n for n, one in enumerate(classes) if np.count_nonzero(one.quantity) and np.count_nonzero(one.needs)]
        return cls(
            np.array([classes[n].needs for n in there]),
            np.array([classes[n].quantity for n in there]),
            np.array([classes[n].is_reserved for n in there], dtype=bool),
            np.array(there, dtype=np.int64),
        )

    def dealt(self, parts: int) -> "_Present":
        """The classes in so many parts, one after the other; room that is kept free comes last."""
        placed, kept = np.flatnonzero(~self.is_reserved), np.flatnonzero(self.is_reserved)
        order = np.concatenate([*[placed] * parts, kept])
        of_part = [(self.quantity[placed] + parts - 1 - part) // parts for part in range(parts)]
        quantity = np.concatenate([*of_part, self.quantity[kept]])
        return _Present(self.needs[order], quantity, self.is_reserved[order], self.number[order])

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
    units += (to_place * np.where(present.is_reserved, 0.0, present.needs[:, 0])[:, None]).sum(axis=0)
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
