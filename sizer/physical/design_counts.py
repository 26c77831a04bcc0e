"""What designs of a platform take and cost, kept for the next who asks: those of a batch end at the same designs."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Bools, Floats, Ints
from sizer.physical.components import Component, Quantities
from sizer.physical.violations import Violation

# Servers and units of storage of the designs that are counted with one that nobody asked about before: they take hardly
# longer.
_BLOCK = 16, 2
# Designs of a platform that are kept; when there are more, all are dropped.
_MOST_DESIGNS = 8192
# Amounts of a design under one name, and names that are kept: a few confidences.
_AMOUNTS = 3
_MOST_NAMES = 8
# Storage nodes are fewer.
_NODES = 2**32
_FLOATS = ("rack_units", "racks", "power_max_w", "raw_bytes")

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class DesignTotals:
    """What the limits of a room ask about designs. Arrays over the designs."""

    rack_units: Floats
    racks: Floats
    power_max_w: Floats  # lower bounds where the draw is open
    raw_bytes: Floats
    draw_is_open: Bools  # some device draws nobody knows how much
    violations: dict[Violation, Bools]  # rule -> designs that break it

    @classmethod
    def of(cls, counted: Quantities) -> "DesignTotals":
        """Those of counted designs."""
        is_open = draw_is_open(counted.components, counted.unknown_power, counted.power_max_w.size)
        units, racks, watts, raw = (np.asarray(getattr(counted, name), dtype=float) for name in _FLOATS)
        return cls(units, racks, watts, raw, is_open, counted.violations)


def draw_is_open(parts: Sequence[Component], unknown_power: Sequence[str], n_designs: int) -> Bools:
    """(designs,) whether some device draws nobody knows how much."""
    is_open = np.zeros(n_designs, dtype=bool)
    for part in parts:
        if part.item in unknown_power:
            is_open |= part.quantity > 0
    return is_open


class DesignCounts:
    """Designs of one platform: their totals, and amounts that are worked out from their parts.

    Parameters
    ----------
    count : callable
        Counts designs from arrays of servers and storage nodes. The count of a design must not depend on the others.
    nodes_per_unit : int
        Nodes that storage is bought in. [-]
    """

    def __init__(self, count: Callable[[Ints, Ints], Quantities], nodes_per_unit: int) -> None:
        self._count, self._per_unit = count, nodes_per_unit
        self._forget()

    def _forget(self) -> None:
        self._keys: Ints = np.zeros(0, dtype=np.int64)  # servers and nodes of the designs, ascending
        self._places: Ints = np.zeros(0, dtype=np.int64)  # columns of these designs in the arrays below
        self._totals: Floats = np.zeros((len(_FLOATS), 0))
        self._draw_is_open: Bools = np.zeros(0, dtype=bool)
        self._lines = _Rows[Component](np.int32)
        self._violations = _Rows[Violation](np.bool_)
        self._amounts: dict[Hashable, Floats] = {}  # NaN: not worked out yet

    @property
    def n_designs(self) -> int:
        """Designs that are kept."""
        return int(self._keys.size)

    def knows(self, servers: Ints, nodes: Ints) -> Bools:
        """(designs,) whether each was counted before."""
        return self._found(servers * _NODES + nodes)[1]

    def places(self, servers: Ints, nodes: Ints) -> Ints:
        """Numbers of some designs for the other functions; those that nobody asked about before are counted now.

        They hold until the next call of this function.

        Parameters
        ----------
        servers, nodes : ndarray of int, shape (designs,)
            Servers and storage nodes. [-]
        """
        keys = servers * _NODES + nodes
        at, is_known = self._found(keys)
        if not is_known.all():
            if self._keys.size > _MOST_DESIGNS:
                self._forget()
                is_known = np.zeros(keys.shape, dtype=bool)
            more = self._with_neighbours(servers[~is_known], nodes[~is_known])
            self._add(more[~self._found(more)[1]])
            at, _ = self._found(keys)
        return np.asarray(self._places[at])

    def totals(self, places: Ints) -> DesignTotals:
        """What some designs take."""
        units, racks, watts, raw = self._totals.take(places, axis=1)
        return DesignTotals(units, racks, watts, raw, self._draw_is_open[places], dict(self._violations.at(places)))

    def amounts(self, name: Hashable, places: Ints, work_out: Callable[[Sequence[Component]], Floats]) -> Floats:
        """Three amounts of some designs, each worked out once under a name from the parts; shape (3, designs)."""
        known = self._amounts.get(name)
        if known is None or known.shape[1] < self._keys.size:
            if known is None and len(self._amounts) >= _MOST_NAMES:
                self._amounts.clear()
            wider = np.full((_AMOUNTS, self._keys.size), np.nan)
            if known is not None:
                wider[:, : known.shape[1]] = known
            known = self._amounts[name] = wider
        if np.isnan(known[0, places]).any():
            # Those of all designs take hardly longer than those of a few.
            new = np.flatnonzero(np.isnan(known[0]))
            parts = [part.of(quantity.astype(np.int64)) for part, quantity in self._lines.at(new)]
            known[:, new] = work_out(parts)
        return known.take(places, axis=1)

    def _with_neighbours(self, servers: Ints, nodes: Ints) -> Ints:
        """Keys of designs and of those with some more or fewer servers and units of storage, ascending."""
        of_servers, of_units = _BLOCK
        step = of_units * self._per_unit
        first = (servers - 1) // of_servers * of_servers + 1
        least = np.where(nodes > 0, (nodes - 1) // step * step + self._per_unit, 0)
        more = np.where(nodes[:, None] > 0, np.arange(of_units) * self._per_unit, 0)
        each = (first[:, None, None] + np.arange(of_servers)[:, None]) * _NODES + (least[:, None] + more)[:, None, :]
        return np.unique(np.concatenate([each.ravel(), servers * _NODES + nodes]))

    def _found(self, keys: Ints) -> tuple[Ints, Bools]:
        """Where each key is or would be, and whether it is there."""
        known = self._keys
        if not known.size:
            return np.zeros(keys.shape, dtype=np.int64), np.zeros(keys.shape, dtype=bool)
        at = np.minimum(np.searchsorted(known, keys), known.size - 1)
        return at, known[at] == keys

    def _add(self, keys: Ints) -> None:
        counted = self._count(*np.divmod(keys, _NODES))
        totals, start, n_more = DesignTotals.of(counted), self._keys.size, keys.size
        all_keys = np.concatenate([self._keys, keys])
        order = np.argsort(all_keys)
        self._places = np.concatenate([self._places, np.arange(start, start + n_more)])[order]
        self._keys = all_keys[order]
        self._totals = np.hstack([self._totals, np.stack([getattr(totals, name) for name in _FLOATS])])
        self._draw_is_open = np.concatenate([self._draw_is_open, totals.draw_is_open])
        self._lines.add(((_line_of(part), part, part.quantity) for part in counted.components), n_more)
        self._violations.add(((rule, rule, rows) for rule, rows in counted.violations.items()), n_more)


class _Rows(Generic[_Value]):
    """What some designs have and others lack: a row for each thing, a column for each design."""

    def __init__(self, kind: type[np.generic]) -> None:
        self._kind = kind
        self._of: dict[Hashable, int] = {}
        self._values: list[_Value] = []
        self._table: NDArray[Any] = np.zeros((0, 0), dtype=kind)

    def add(self, parts: Iterable[tuple[Hashable, _Value, NDArray[Any]]], n_more: int) -> None:
        """Append columns of further designs: key, value and its entry for each of them."""
        found: dict[int, NDArray[Any]] = {}
        for key, value, entries in parts:
            row = self._of.setdefault(key, len(self._of))
            if row == len(self._values):
                self._values.append(value)
            found[row] = found[row] + entries if row in found else entries
        table = np.zeros((len(self._of), self._table.shape[1] + n_more), dtype=self._kind)
        table[: len(self._table), : self._table.shape[1]] = self._table
        for row, entries in found.items():
            table[row, -n_more:] = entries
        self._table = table

    def at(self, places: Ints) -> Iterator[tuple[_Value, NDArray[Any]]]:
        """What any of some designs has, with the entry of each of them."""
        table = self._table.take(places, axis=1)
        for row in np.flatnonzero(table.any(axis=1)).tolist():
            yield self._values[row], table[row]


def _line_of(part: Component) -> Hashable:
    # Notes and contents change neither price nor draw.
    return part.role, part.category, part.item, part.status
