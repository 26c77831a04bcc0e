"""Quantities of a design: what is bought, where the ports go, what it weighs and draws. Arrays, one row a design."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar, get_args

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.catalog.links import LinkType
from sizer.physical.notes import PlanNote, Violation
from sizer.physical.roles import NetworkRole, Role
from sizer.workload.quote import Category

# Order of the categories in every bill.
CATEGORIES: tuple[Category, ...] = get_args(Category)


@dataclass(frozen=True)
class Component:
    """One line of the design: so many of one catalogue item in one role."""

    role: Role
    category: str  # one of CATEGORIES
    item: str  # catalogue id
    quantity: Ints  # (rows,)
    notes: tuple[PlanNote, ...] = ()
    # "existing": the customer has it; "optional": offered, not in the total.
    status: Literal["computed", "existing", "optional"] = "computed"
    contents: str = ""  # belongs to the name of the item: "with 8 × V100"

    def of(self, quantity: Ints) -> "Component":
        """The same line with another quantity."""
        # Not ``replace``, which takes three times as long: this is done for every line of every design.
        return Component(self.role, self.category, self.item, quantity, self.notes, self.status, self.contents)


def bought_of(components: Sequence[Component]) -> tuple[Component, ...]:
    """Components that some design buys: neither existing nor optional ones."""
    return tuple(part for part in components if part.status == "computed" and np.count_nonzero(part.quantity))


@dataclass(frozen=True)
class Network:
    """One of the networks of a design."""

    role: NetworkRole
    purpose: PlanNote
    kind: LinkType  # of the end points
    switch: str | None  # catalogue id of the leaves; None: direct or no network
    spine: str | None  # catalogue id of the spines, and of the cores above leaves with uplinks of their own
    end_points: Ints  # ports of servers, storage, head node on this network
    leaves: Ints
    spines: Ints
    cores: Ints
    leaf_spine_cables: Ints
    spine_core_cables: Ints
    peer_cables: Ints  # between the two leaves of a pair
    ports_used: Ints
    ports_free: Ints  # those kept for servers to come included
    oversubscription: Floats  # down : up of a leaf; 1 for a single switch
    gateways: Ints
    gateway_uplinks: Ints
    notes: tuple[PlanNote, ...] = ()
    rails: int = 1  # networks of this kind that are kept apart
    subnet_manager: PlanNote | None = None  # where it runs; None on Ethernet
    # Of ``ports_free`` those that an end point can take: in a tree those of the leaves alone.
    leaf_ports_free: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))


@dataclass(frozen=True)
class Quantities:
    """Everything counted, for all rows at once. Watts and kilograms leave out items whose value is unknown."""

    components: tuple[Component, ...]
    networks: tuple[Network, ...]
    rack_units: Floats
    racks: Ints
    power_typical_w: Floats  # middle of brackets; energy is computed with it
    power_max_w: Floats  # upper end of brackets; feeds and cooling are sized with it
    weight_kg: Floats
    raw_bytes: Floats
    unknown_power: tuple[str, ...]  # item ids without even a bracket: the totals read "at least"
    unknown_weight: tuple[str, ...]
    front_end_bytes_per_s: Floats  # line rate of the storage front end (all nodes)
    gateway_bytes_per_s: Floats  # inf where there is no gateway
    notes: tuple[PlanNote, ...] = ()
    power_low_w: Floats = field(default_factory=lambda: np.zeros(1))  # lower end of brackets
    rack_power_max_w: Floats = field(default_factory=lambda: np.zeros(1))  # upper end, of the heaviest rack
    liquid_heat_w: Floats = field(default_factory=lambda: np.zeros(1))  # upper end of what coolant carries away
    # Notes that hold for some rows only; ``slice_row`` turns them into notes.
    row_notes: dict[PlanNote, Bools] = field(default_factory=dict)
    existing_racks: Ints = field(default_factory=lambda: np.zeros(1, dtype=np.int64))  # of these, so many are used
    # Rule -> rows that break it: no such design can be built or planned.
    violations: dict[Violation, Bools] = field(default_factory=dict)

    @cached_property
    def bought(self) -> tuple[Component, ...]:
        """Components that some row buys: neither existing nor optional ones."""
        return bought_of(self.components)

    @property
    def n_racks(self) -> int:
        """Racks that hold the design, new ones and those that are there; only for one row."""
        return int(self.racks[0] + self.existing_racks[0])

    @property
    def n_switches(self) -> int:
        """Switches and gateways of all networks, in the first row."""
        return sum(int(part.quantity[0]) for part in self.components if part.role.forwards)


_Arrays = TypeVar("_Arrays", "Quantities", Network)


def _spread(counted: _Arrays, rows: Ints, n_rows: int) -> dict[str, Any]:
    """Arrays of some rows among all; 0 in the others."""
    columns: dict[str, Any] = {}
    for name, values in vars(counted).items():
        if isinstance(values, np.ndarray):
            columns[name] = np.zeros(n_rows, dtype=values.dtype)
            columns[name][rows] = values
    return columns


def combined(parts: Sequence[tuple[Ints, Quantities]]) -> Quantities:
    """Quantities of rows that were counted apart, each with the places of its rows; a network is 0 outside its own."""
    n_rows = sum(rows.size for rows, _ in parts)
    spread = [_spread(counted, rows, n_rows) for rows, counted in parts]

    def masks(name: str) -> dict[Any, Bools]:
        joined: dict[Any, Bools] = {}
        for rows, counted in parts:
            for rule, mask in getattr(counted, name).items():
                joined.setdefault(rule, np.zeros(n_rows, dtype=bool))[rows] |= mask
        return joined

    def all_of(name: str) -> tuple[Any, ...]:
        return tuple(dict.fromkeys(counts for _, counted in parts for counts in getattr(counted, name)))

    def placed(rows: Ints, quantity: Ints) -> Ints:
        whole = np.zeros(n_rows, dtype=np.int64)
        whole[rows] = quantity
        return whole

    return replace(
        parts[0][1],
        components=tuple(part.of(placed(rows, part.quantity)) for rows, counts in parts for part in counts.components),
        networks=tuple(replace(net, **_spread(net, rows, n_rows)) for rows, counts in parts for net in counts.networks),
        violations=masks("violations"),
        row_notes=masks("row_notes"),
        unknown_power=all_of("unknown_power"),
        unknown_weight=all_of("unknown_weight"),
        notes=all_of("notes"),
        **{name: np.sum([counts[name] for counts in spread], axis=0) for name in spread[0]},
    )


@dataclass(frozen=True)
class DesignParts:
    """What designs of a platform are made of, and what they take of a room. Arrays over the designs."""

    lines: tuple[Component, ...]  # what they order, without quantities
    pieces: Ints  # (lines, designs)
    violations: dict[Violation, Bools]  # rule -> designs that break it
    rack_units: Floats
    racks: Floats
    power_typical_w: Floats
    power_max_w: Floats  # lower bounds where the draw is open
    raw_bytes: Floats
    draw_is_open: Bools  # a device has no known draw
    link_kinds: Ints  # kinds of links of the switched networks

    @classmethod
    def of(cls, counted: Quantities) -> "DesignParts":
        """Those of counted designs."""
        is_open = np.zeros(counted.power_max_w.size, dtype=bool)
        for part in counted.components:
            if part.item in counted.unknown_power:
                is_open |= part.quantity > 0
        used: dict[object, Bools] = {}
        for net in counted.networks:
            if net.switch is not None:
                used[net.kind] = used.get(net.kind, False) | (net.ports_used > 0)
        kinds = np.sum([np.zeros(is_open.size, dtype=np.int64), *used.values()], axis=0)
        none, lines = np.zeros(0, dtype=np.int64), counted.components
        pieces = np.array([part.quantity for part in lines], dtype=np.int64)
        racks, raw = counted.racks.astype(float), np.asarray(counted.raw_bytes, dtype=float)
        values = counted.rack_units, racks, counted.power_typical_w, counted.power_max_w, raw, is_open, kinds
        return cls(tuple(part.of(none) for part in lines), pieces, counted.violations, *values)

    @property
    def components(self) -> tuple[Component, ...]:
        """The lines with their quantities."""
        return tuple(line.of(pieces) for line, pieces in zip(self.lines, self.pieces, strict=True))

    def take(self, designs: Ints) -> "DesignParts":
        violations = {rule: rows for rule, of_all in self.violations.items() if (rows := of_all[designs]).any()}
        values = (value[designs] for value in self._values())
        return DesignParts(self.lines, self.pieces[:, designs], violations, *values)

    def extended(self, other: "DesignParts") -> "DesignParts":
        """These designs and then others of the same platform."""
        n, both = self.racks.size, (self, other)
        places: dict[tuple[object, ...], int] = {}
        lines: list[Component] = []
        at: list[list[int]] = [[], []]
        for index, line in ((index, line) for index, part in enumerate(both) for line in part.lines):
            # Notes and contents change neither price nor draw.
            key = line.role, line.category, line.item, line.status
            if places.setdefault(key, len(lines)) == len(lines):
                lines.append(line)
            at[index].append(places[key])
        pieces = np.zeros((len(lines), n + other.racks.size), dtype=np.int64)
        np.add.at(pieces[:, :n], at[0], self.pieces)
        np.add.at(pieces[:, n:], at[1], other.pieces)
        none = [np.zeros(part.racks.size, dtype=bool) for part in both]
        rules = dict.fromkeys((*self.violations, *other.violations))
        violations = {
            rule: np.concatenate([part.violations.get(rule, no) for part, no in zip(both, none, strict=True)])
            for rule in rules
        }
        return DesignParts(
            tuple(lines), pieces, violations, *map(np.concatenate, zip(self._values(), other._values(), strict=True))
        )

    def _values(self) -> tuple[Any, ...]:
        watts = self.power_typical_w, self.power_max_w
        return self.rack_units, self.racks, *watts, self.raw_bytes, self.draw_is_open, self.link_kinds
