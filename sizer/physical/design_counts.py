"""What designs of a platform take and cost, kept for the next who asks: those of a batch end at the same designs."""

import zlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Bools, Floats, Ints
from sizer.physical.components import Component, Quantities
from sizer.physical.violations import Violation

# Servers and units of storage of the designs that are counted with one that nobody asked about before: they take hardly
# longer. In many requests, larger blocks save fewer counts than they cost memory.
_SERVERS, _UNITS = 32, 4
_SIZE = _SERVERS * _UNITS
# Blocks of a platform that are kept, some 13 kB each; of more, those go first that nobody has asked about the longest.
_MOST_BLOCKS = 512
# Blocks whose amounts are worked out with those that are asked for: they take hardly longer.
_MORE_BLOCKS = 15
# Names of amounts that are kept for a block: a few confidences.
_MOST_NAMES = 8
_FLOATS = ("rack_units", "racks", "power_max_w", "raw_bytes")
_NO_ROWS: Ints = np.zeros(0, dtype=np.int64)


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


class _Key(NamedTuple):
    """Of a block: which servers, and which storage nodes."""

    servers: int
    units: int  # negative: no storage nodes, and as many more servers
    rest: int  # nodes above whole units, less one

    def designs(self, nodes_per_unit: int) -> tuple[Ints, Ints]:
        """Servers and storage nodes of its designs."""
        if self.units < 0:
            return self.servers * _SIZE + 1 + np.arange(_SIZE), np.zeros(_SIZE, dtype=np.int64)
        place, unit = np.divmod(np.arange(_SIZE), _UNITS)
        nodes = (self.units * _UNITS + unit) * nodes_per_unit + self.rest + 1
        return self.servers * _SERVERS + 1 + place, nodes


@dataclass(frozen=True, eq=False)
class _Block:
    """Designs that are counted together. Arrays over them."""

    totals: Floats  # (5, designs): the floats, and 1 where the draw is open
    violations: dict[Violation, Bools]
    lines: Ints  # numbers of the lines that some of the designs have
    pieces: bytes  # their quantities, which are asked for only once a name
    amounts: dict[Hashable, tuple[Floats, ...]] = field(default_factory=dict)

    @property
    def quantities(self) -> NDArray[np.int32]:
        """(lines, designs) pieces."""
        return np.frombuffer(zlib.decompress(self.pieces), dtype=np.int32).reshape(-1, _SIZE)

    def keep(self, name: Hashable, amounts: Floats) -> None:
        """Store amounts under a name. Another one has most of them already: few follow the confidence."""
        if len(self.amounts) >= _MOST_NAMES:
            del self.amounts[next(iter(self.amounts))]
        nothing = (np.zeros(0),) * len(amounts)
        before: tuple[Floats, ...] = next(reversed(self.amounts.values()), nothing)
        self.amounts[name] = tuple(
            same if np.array_equal(same, row) else row.copy() for same, row in zip(before, amounts, strict=True)
        )


class Places(NamedTuple):
    """Where some designs are stored."""

    blocks: tuple[_Block, ...]
    columns: Ints  # in the columns of these blocks, one block after the other


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
        self._blocks: dict[_Key, _Block] = {}  # those that were asked about last at the end
        self._number: dict[Hashable, int] = {}  # of each line
        self._lines: list[Component] = []  # without quantities

    @property
    def n_designs(self) -> int:
        """Designs that are kept."""
        return len(self._blocks) * _SIZE

    def knows(self, servers: Ints, nodes: Ints) -> Bools:
        """(designs,) whether each was counted before."""
        keys, _ = self._keys(servers, nodes)
        return np.array([key in self._blocks for key in keys], dtype=bool)

    def places(self, servers: Ints, nodes: Ints) -> Places:
        """Some designs for the other functions; those that nobody asked about before are counted now.

        Parameters
        ----------
        servers, nodes : ndarray of int, shape (designs,)
            Servers and storage nodes. [-]
        """
        keys, columns = self._keys(servers, nodes)
        numbers: dict[_Key, int] = {}
        of_block = [numbers.setdefault(key, len(numbers)) for key in keys]
        new = [key for key in numbers if key not in self._blocks]
        if new:
            self._add(new)
        found = tuple(map(self._blocks.pop, numbers))
        self._blocks.update(zip(numbers, found, strict=True))
        while len(self._blocks) > _MOST_BLOCKS:
            del self._blocks[next(iter(self._blocks))]
        return Places(found, columns if len(found) == 1 else columns + np.array(of_block, dtype=np.int64) * _SIZE)

    def totals(self, places: Places) -> DesignTotals:
        """What some designs take."""
        blocks, columns = places
        units, racks, watts, raw, is_open = _joined([block.totals for block in blocks]).take(columns, axis=1)
        violations = {}
        for rule in dict.fromkeys(rule for block in blocks for rule in block.violations):
            none = np.zeros(_SIZE, dtype=bool)
            breaks = _joined([block.violations.get(rule, none) for block in blocks])[columns]
            if breaks.any():
                violations[rule] = breaks
        return DesignTotals(units, racks, watts, raw, is_open > 0, violations)

    def amounts(self, name: Hashable, places: Places, work_out: Callable[[Sequence[Component]], Floats]) -> Floats:
        """Three amounts of some designs, each worked out once under a name from the parts; shape (3, designs)."""
        blocks, columns = places
        new = [block for block in blocks if name not in block.amounts]
        if new:
            more = (block for block in reversed(self._blocks.values()) if name not in block.amounts)
            new = list(dict.fromkeys((*new, *islice(more, len(new) + _MORE_BLOCKS))))
            amounts = work_out(self._parts(new))
            for number, block in enumerate(new):
                block.keep(name, amounts[:, number * _SIZE : (number + 1) * _SIZE])
        rows = zip(*(block.amounts[name] for block in blocks), strict=True)
        return np.array([_joined(row).take(columns) for row in rows])

    def _keys(self, servers: Ints, nodes: Ints) -> tuple[list[_Key], Ints]:
        """The block of each design, and its place there."""
        stores = nodes > 0
        first, place = np.divmod(servers - 1, np.where(stores, _SERVERS, _SIZE))
        units, rest = np.divmod(nodes - 1, self._per_unit)
        group, unit = np.divmod(units, _UNITS)
        keys = list(map(_Key, first.tolist(), group.tolist(), rest.tolist()))
        return keys, np.where(stores, place * _UNITS + unit, place)

    def _add(self, keys: Sequence[_Key]) -> None:
        designs = [key.designs(self._per_unit) for key in keys]
        servers, nodes = (np.concatenate(each) for each in zip(*designs, strict=True))
        counted = self._count(servers, nodes)
        of_all = DesignTotals.of(counted)
        totals = np.stack([*(getattr(of_all, name) for name in _FLOATS), of_all.draw_is_open])
        lines: dict[int, Ints] = {}
        for part in counted.components:
            number = self._number.setdefault(_line_of(part), len(self._number))
            if number == len(self._lines):
                self._lines.append(part.of(_NO_ROWS))
            lines[number] = lines[number] + part.quantity if number in lines else part.quantity
        numbers, table = np.array(list(lines), dtype=np.int64), np.array(list(lines.values()), dtype=np.int32)
        for place, key in enumerate(keys):
            own = slice(place * _SIZE, (place + 1) * _SIZE)
            has = table[:, own].any(axis=1)
            self._blocks[key] = _Block(
                totals[:, own].copy(),
                {rule: rows[own].copy() for rule, rows in of_all.violations.items() if rows[own].any()},
                numbers[has],
                zlib.compress(table[has, own].tobytes(), 1),
            )

    def _parts(self, blocks: Sequence[_Block]) -> list[Component]:
        """Lines of the designs of some blocks."""
        table = np.zeros((len(self._lines), len(blocks) * _SIZE), dtype=np.int64)
        for place, block in enumerate(blocks):
            table[block.lines, place * _SIZE : (place + 1) * _SIZE] = block.quantities
        return [self._lines[row].of(table[row]) for row in np.flatnonzero(table.any(axis=1)).tolist()]


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """One array of several, one after the other along the last axis."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=-1)


def _line_of(part: Component) -> Hashable:
    # Notes and contents change neither price nor draw.
    return part.role, part.category, part.item, part.status
