"""Counts of the designs of a platform that somebody has asked about, kept for the next who asks about them."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from threading import RLock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Bools, Floats, Ints
from sizer.physical.components import Component, Quantities
from sizer.physical.notes import PlanNote
from sizer.physical.violations import Violation

# Designs of a platform that are kept, some 350 bytes each; beyond them it starts anew.
_MOST_DESIGNS = 1024
# Servers and units of storage of the designs that are counted with one that nobody asked about before: they take hardly
# longer.
_BLOCK = 16, 2
# Amounts of a design under one name, and names that are kept: a few confidences.
_AMOUNTS = 3
_MOST_AMOUNTS = 8
# Storage nodes are fewer.
_NODES = 2**32
_FLOATS = (
    *("rack_units", "power_typical_w", "power_max_w", "weight_kg", "raw_bytes", "usable_bytes"),
    *("front_end_bytes_per_s", "gateway_bytes_per_s", "power_low_w", "rack_power_max_w", "liquid_heat_w"),
)
_INTS = ("racks", "existing_racks")

_Value = TypeVar("_Value")


class DesignCounts:
    """Designs of one platform with their parts, without their networks.

    Parameters
    ----------
    count : callable
        Counts designs from arrays of servers and storage nodes. The count of a design must not depend on the others.
    nodes_per_unit : int
        Nodes that storage is bought in. [-]
    """

    def __init__(self, count: Callable[[Ints, Ints], Quantities], nodes_per_unit: int) -> None:
        self._count, self._per_unit = count, nodes_per_unit
        self.lock = RLock()  # held by whoever uses numbers that ``places`` gave
        self._forget()

    def _forget(self) -> None:
        self._keys: Ints = np.zeros(0, dtype=np.int64)  # servers and nodes of the designs, ascending
        self._places: Ints = np.zeros(0, dtype=np.int64)  # columns of these designs in the arrays below
        self._floats: Floats = np.zeros((len(_FLOATS), 0))
        self._ints: Ints = np.zeros((len(_INTS), 0), dtype=np.int64)
        self._draw_is_open: Bools = np.zeros(0, dtype=bool)
        self._lines = _Rows[Component](np.int32)
        self._row_notes = _Rows[PlanNote](np.bool_)
        self._violations = _Rows[Violation](np.bool_)
        self._any: Quantities | None = None  # what does not depend on the size
        self._unknown_power: dict[str, None] = {}
        self._unknown_weight: dict[str, None] = {}
        self._amounts: dict[Hashable, Floats] = {}  # NaN: not worked out yet

    def knows(self, servers: Ints, nodes: Ints) -> Bools:
        """(designs,) whether each was counted before."""
        return self._found(servers * _NODES + nodes)[1]

    def places(self, servers: Ints, nodes: Ints) -> Ints:
        """Numbers of some designs for the other functions; those that nobody asked about before are counted now.

        They hold until the next call of this function, so that its caller has the lock.

        Parameters
        ----------
        servers, nodes : ndarray of int, shape (designs,)
            Servers and storage nodes. [-]
        """
        keys = servers * _NODES + nodes
        at, is_known = self._found(keys)
        if not is_known.all():
            more = self._with_neighbours(servers[~is_known], nodes[~is_known])
            if self._keys.size + more.size > _MOST_DESIGNS:
                self._forget()
                more = self._with_neighbours(servers, nodes)
            self._add(more[~self._found(more)[1]])
            at, _ = self._found(keys)
        return np.asarray(self._places[at])

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
        start, n_more = self._keys.size, keys.size
        self._any = self._any or replace(counted, components=(), networks=())
        all_keys = np.concatenate([self._keys, keys])
        order = np.argsort(all_keys)
        self._places = np.concatenate([self._places, np.arange(start, start + n_more)])[order]
        self._keys = all_keys[order]
        self._floats = np.hstack([self._floats, _stacked(counted, _FLOATS, n_more)])
        self._ints = np.hstack([self._ints, _stacked(counted, _INTS, n_more).astype(np.int64)])
        self._draw_is_open = np.concatenate([self._draw_is_open, draw_is_open(counted)])
        self._lines.add(((_line_of(part), part, part.quantity) for part in counted.components), n_more)
        self._row_notes.add(((note, note, rows) for note, rows in counted.row_notes.items()), n_more)
        self._violations.add(((rule, rule, rows) for rule, rows in counted.violations.items()), n_more)
        self._unknown_power |= dict.fromkeys(counted.unknown_power)
        self._unknown_weight |= dict.fromkeys(counted.unknown_weight)

    def amounts(self, of: Hashable, places: Ints, work_out: Callable[[Quantities], Floats]) -> Floats:
        """Amounts of some designs, each worked out once for every ``of``, from the parts; shape (amounts, designs)."""
        known = self._amounts.get(of)
        if known is None or known.shape[1] < self._keys.size:
            if known is None and len(self._amounts) >= _MOST_AMOUNTS:
                self._amounts.clear()
            n_known = 0 if known is None else known.shape[1]
            wider = np.full((_AMOUNTS, self._keys.size), np.nan)
            if known is not None:
                wider[:, :n_known] = known
            known = self._amounts[of] = wider
        if np.isnan(known[0, places]).any():
            # Those of all designs take hardly longer than those of a few.
            new = np.flatnonzero(np.isnan(known[0]))
            known[:, new] = work_out(self.parts(new))
        return known.take(places, axis=1)

    def draw_is_open(self, places: Ints) -> Bools:
        """(designs,) whether some device draws nobody knows how much."""
        return np.asarray(self._draw_is_open[places])

    def totals(self, places: Ints) -> Quantities:
        """Some designs without their parts."""
        assert self._any is not None  # a design was counted
        return replace(
            self._any,
            violations=dict(self._violations.at(places)),
            row_notes={},
            unknown_power=(),
            unknown_weight=(),
            **dict(zip(_FLOATS, self._floats.take(places, axis=1), strict=True)),
            **dict(zip(_INTS, self._ints.take(places, axis=1), strict=True)),
        )

    def parts(self, places: Ints) -> Quantities:
        """Some designs with their parts."""
        components = tuple(part.of(quantity.astype(np.int64)) for part, quantity in self._lines.at(places))
        items = {part.item for part in components}
        return replace(
            self.totals(places),
            components=components,
            row_notes=dict(self._row_notes.at(places)),
            unknown_power=tuple(item for item in self._unknown_power if item in items),
            unknown_weight=tuple(item for item in self._unknown_weight if item in items),
        )


def draw_is_open(counted: Quantities) -> Bools:
    """(rows,) whether a design has a device that draws nobody knows how much: its watts are a lower bound."""
    is_open = np.zeros(counted.power_max_w.shape, dtype=bool)
    for part in counted.components:
        if part.item in counted.unknown_power:
            is_open |= part.quantity > 0
    return is_open


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
    return part.role, part.category, part.item, part.notes, part.status, part.contents


def _stacked(counted: Quantities, names: Iterable[str], size: int) -> NDArray[Any]:
    return np.array([np.broadcast_to(getattr(counted, name), size) for name in names])
