"""Rail-optimised leaves: within a scalable unit, port n of every server joins the same leaf. Pure array functions."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Ints


@dataclass(frozen=True)
class RailRule:
    """How the servers of a network share its leaves."""

    links: int  # of each server: one for each rail
    leaf_down: int  # ports of a leaf for end points
    unit_servers: int  # of a full scalable unit, ``leaf_down`` at most
    most_on_leaf: int  # links of one server that may share a leaf
    trays: int = 1  # servers that arrive together as one device, each with ``links`` of its own

    @classmethod
    def of(
        cls,
        links: int,
        leaf_down: int,
        *,
        unit: int | None = None,
        most_on_leaf: int | None = None,
        trays: int = 1,
    ) -> "RailRule":
        """The rule of a network; by default a unit is as large as a leaf allows, and a leaf may take all rails."""
        most = links if most_on_leaf is None else max(min(most_on_leaf, links), 1)
        return cls(links, leaf_down, min(unit or leaf_down, leaf_down), most, trays)

    def on_leaf(self, servers: ArrayLike) -> Ints:
        """Rails that share a leaf in a unit of so many servers; 1 where one rail fills more than half of it."""
        count = np.maximum(np.asarray(servers, dtype=np.int64), 1)
        return np.asarray(np.clip(self.leaf_down // count, 1, self.most_on_leaf))

    def leaves(self, servers: ArrayLike) -> Ints:
        """Leaves that the rails of all units take.

        Parameters
        ----------
        servers : array_like of int, shape (...)
            Servers of the network, or racks that arrive with ``trays`` of them. [-]

        Notes
        -----
        A full unit of U servers on leaves of D ports down gives each leaf ``max(1, D // U)`` rails; the last, partly
        filled unit likewise with the servers it has. DGX SuperPOD [1]_: 8 rails, D = U = 32, eight leaves a unit.

        References
        ----------
        .. [1] NVIDIA DGX SuperPOD reference architecture, DGX H100, RA-11333-001 V11, 2023, table 4 ("nv-ra-h100").

        Examples
        --------
        >>> RailRule.of(8, 32).leaves([16, 31, 64, 127])
        array([ 4,  8, 16, 32])
        """
        units, rest = np.divmod(np.asarray(servers, dtype=np.int64) * self.trays, self.unit_servers)
        full = self.unit_leaves
        partial = np.where(rest > 0, -(-self.links // self.on_leaf(rest)), 0)
        return np.asarray(units * full + partial)

    @property
    def unit_leaves(self) -> int:
        """Leaves of a full unit."""
        return -(-self.links // int(self.on_leaf(self.unit_servers)))

    def worst_on_leaf(self, servers: ArrayLike) -> Ints:
        """Most links of one server that end on one leaf."""
        units, rest = np.divmod(np.asarray(servers, dtype=np.int64) * self.trays, self.unit_servers)
        full = np.where(units > 0, self.on_leaf(self.unit_servers), 0)
        return np.asarray(np.maximum(full, np.where(rest > 0, self.on_leaf(rest), 0)))

    def places(self, servers: int, room: int, most_ports: int | None = None) -> tuple[Ints, Ints]:
        """Leaf and place on it of every link, server after server.

        Parameters
        ----------
        servers : int
            Servers that are there. [-]
        room : int
            Servers that the network is built for. [-]
        most_ports : int, optional
            Ports of a leaf for end points, where cables to its peer leave it fewer than ``leaf_down``. [-]
        """
        ports = self.leaf_down if most_ports is None else min(self.leaf_down, most_ports)
        server, rail = np.divmod(np.arange(servers * self.trays * self.links), self.links)
        unit, inside = np.divmod(server, self.unit_servers)
        last = room * self.trays // self.unit_servers
        rest = room * self.trays - last * self.unit_servers
        on_leaf = np.where(unit < last, self.on_leaf(self.unit_servers), self.on_leaf(max(rest, 1)))
        first = unit * self.unit_leaves
        # Each rail of a leaf has the same share of its ports, so that a server more moves nothing.
        return first + rail // on_leaf, (rail % on_leaf) * (ports // on_leaf) + inside
