"""The building plan of one design: every device in its rack unit, every link with both ends, its length and its cable.

Everything that prints places, ports, cables, watts or kilograms of a design reads them here, so that no two disagree.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sizer.base.arrays import Floats, Ints
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Cable, Device, Rack
from sizer.physical.components import Component
from sizer.physical.networks.cables import CableChoice
from sizer.physical.networks.links import OUTSIDE, ZERO_U, LinkGroup
from sizer.physical.networks.ports import device_ports
from sizer.physical.notes import CableQuestion, PlanNote
from sizer.physical.platform import Platform
from sizer.physical.racks.feeds import PowerFeed
from sizer.physical.racks.parts import RackGroup
from sizer.physical.racks.power import DevicePower
from sizer.physical.roles import NetworkPlane, Role
from sizer.workload.request import Existing, Fabric, FeedRedundancy, Limits

Status = Literal["computed", "existing"]

CABLE_CATEGORY = "cable and optic"
# Floor tiles of a raised floor are 600 mm wide and deep, as are most racks wide.
FLOOR_TILE_M = 0.6


# Name of the devices of a role; the names of a plan never change when it grows.
NAME_PREFIXES = {
    Role.GPU_SERVER: "gpu",
    Role.HEAD_NODE: "head",
    Role.STORAGE_SERVER: "storage",
    Role.STORAGE_CHASSIS: "storage",
    Role.STORAGE_NODE: "storage",
    Role.CAPACITY_TIER: "capacity",
    Role.COMPUTE_LEAF: "leaf",
    Role.COMPUTE_SPINE: "spine",
    Role.COMPUTE_CORE: "core",
    Role.STORAGE_LEAF: "storage-leaf",
    Role.STORAGE_SPINE: "storage-spine",
    Role.STORAGE_CORE: "storage-core",
    Role.GATEWAY: "gateway",
    Role.COOLANT_UNIT: "cdu",
    Role.BACK_END_LEAF: "back-end",
    Role.BACK_END_SPINE: "back-end-spine",
    Role.BACK_END_CORE: "back-end-core",
    Role.FABRIC_MANAGER: "ufm",
    Role.STORAGE_FABRIC_MANAGER: "storage-ufm",
    Role.IN_BAND_LEAF: "in-band",
    Role.IN_BAND_SPINE: "in-band-spine",
    Role.IN_BAND_CORE: "in-band-core",
    Role.MANAGEMENT_LEAF: "mgmt",
    Role.MANAGEMENT_SPINE: "mgmt-agg",
    Role.MANAGEMENT_CORE: "mgmt-core",
}


@dataclass(frozen=True)
class PlacedDevice:
    """One device."""

    number: int
    name: str
    role: Role
    category: str
    item: str  # catalogue id
    status: Status
    rack: int  # index into ``Plan.racks``
    unit: int  # lowest rack unit, from 1
    height_u: int
    weight_kg: float | None
    power: DevicePower


@dataclass(frozen=True)
class PlacedRack:
    """One rack with what stands in it, from the bottom up."""

    name: str
    item: str
    is_existing: bool
    row: int  # of the room, from 0
    column: int
    height_u: int
    devices: tuple[PlacedDevice, ...]
    empty_units: tuple[int, ...]  # closed by blanking panels, in a new rack
    feeds: tuple[PowerFeed, ...]  # PDUs and what hangs on each; none in a rack that is there
    own_weight_kg: float | None  # 0 for a rack that is there, or that arrives with its contents
    redundancy: FeedRedundancy = "2N"  # of the feeds
    is_delivered: bool = False  # its maker delivers it with its contents

    @property
    def feed_capacity_w(self) -> float:
        """What the feeds carry that remain after the worst loss that they are there for; 0 without feeds. [W]"""
        by_side: dict[str, float] = {}
        for feed in self.feeds:
            by_side[feed.side] = by_side.get(feed.side, 0.0) + feed.capacity_w
        total = sum(by_side.values())
        return total if self.redundancy == "N" or len(by_side) < 2 else total - max(by_side.values())

    @property
    def weight_kg(self) -> float:
        """Known kilograms that the design brings, a new rack included; PDUs and cables are not known. [kg]"""
        return (self.own_weight_kg or 0.0) + sum(device.weight_kg or 0.0 for device in self.devices)

    @property
    def has_unknown_weight(self) -> bool:
        """Whether a device, or the rack itself, has no known weight."""
        return self.own_weight_kg is None or any(device.weight_kg is None for device in self.devices)

    @property
    def has_unknown_power(self) -> bool:
        """Whether a device draws nobody knows how much at most."""
        return any(not device.power.is_known for device in self.devices)

    @property
    def max_w(self) -> float:
        """Upper end of the draw of what is there. [W]"""
        return sum(device.power.max_w for device in self.devices)

    @property
    def typical_w(self) -> float:
        """Typical draw of what is there. [W]"""
        return sum(device.power.typical_w for device in self.devices)


@dataclass(frozen=True)
class CableRun:
    """Links of one role with the cable of each. Arrays over links."""

    run: LinkGroup
    length_m: Floats
    choices: tuple[CableChoice, ...]
    choice: Ints  # number of each link's choice


@dataclass(frozen=True)
class End:
    """One end of a cable."""

    device: str
    port: str
    rack: str
    unit: int  # 0 outside the plan
    item: str  # catalogue id, "" outside
    node: int = 0  # of a chassis that holds several nodes, from 1


@dataclass(frozen=True)
class Connection:
    """One cable."""

    id: str
    network: NetworkPlane
    role: Role
    kind: LinkType
    a: End  # the device or the lower switch
    z: End  # the switch
    length_m: float  # as routed, slack included
    cable: CableChoice
    medium: str  # of the catalogue: "dac", "aoc", "copper", "transceiver"; "" where there is none
    stock_length_m: float | None  # of the catalogue item


@dataclass(frozen=True)
class PlanInputs:
    """What a plan was laid out from."""

    platform: Platform
    n_servers: int
    storage_nodes: int
    limits: Limits
    existing: Existing
    fabric: Fabric


@dataclass(frozen=True, eq=False)
class Plan:
    """A laid-out design. Compared by identity, so that what is derived from it can be kept."""

    devices: tuple[PlacedDevice, ...]
    racks: tuple[PlacedRack, ...]
    cables: tuple[CableRun, ...]
    components: tuple[Component, ...]  # of the design, cables by their measured length
    questions: tuple[CableQuestion, ...]  # to ask the vendors
    warnings: tuple[PlanNote, ...]
    rack_groups: tuple[RackGroup, ...]  # what racks hold, by what stands in them
    inputs: PlanInputs
    catalog: Catalog

    @property
    def rack(self) -> Rack:
        return self.inputs.platform.rack

    def floor_tile_kg(self, rack: PlacedRack) -> float | None:
        """Weight of a rack on a floor tile's worth of its footprint; None where the footprint is not known. [kg]"""
        kind = self.catalog.racks[rack.item]
        width, depth = kind.width_m, kind.depth_m
        if width is None or depth is None:
            return None
        return rack.weight_kg * FLOOR_TILE_M**2 / (width.value * depth.value)

    def device(self, item: str) -> Device:
        """A device of the design by its catalogue id."""
        return self.inputs.platform.device(self.catalog, item)

    @property
    def n_links(self) -> int:
        """Cables of all networks; power cords are not among them."""
        return sum(run.length_m.size for run in self.cables)

    @cached_property
    def connections(self) -> tuple[Connection, ...]:
        """Every cable with its two ends, network by network."""
        return tuple(self._connections())

    def _connections(self) -> Iterator[Connection]:
        items = self.catalog.cables
        outside = 0
        number = 0
        for cable in self.cables:
            run = cable.run
            ends = zip(run.a_device, run.a_port, run.b_device, run.b_port, cable.length_m, cable.choice, strict=True)
            for a_device, a_port, b_device, b_port, length_m, choice in ends:
                number += 1
                chosen = cable.choices[choice]
                item = items[chosen.items[0][0]] if chosen.items else None
                if a_device == OUTSIDE:
                    outside += 1
                    a = End("customer LAN", f"port {outside}", "", 0, "")
                elif a_device == ZERO_U:
                    a = self._pdus[int(a_port)]
                else:
                    a = self._end(int(a_device), int(a_port))
                yield Connection(
                    id=f"C{number:05d}",
                    network=run.network,
                    role=run.role,
                    kind=run.kind,
                    a=a,
                    z=self._end(int(b_device), int(b_port)),
                    length_m=float(length_m),
                    cable=chosen,
                    medium=item.media if item is not None else "",
                    stock_length_m=stock_length_m(chosen, items),
                )

    @cached_property
    def _pdus(self) -> tuple[End, ...]:
        """Network port of every rack PDU, rack by rack."""
        pdus = {(class_.role, class_.item): group.pdu.id for group in self.rack_groups for class_ in group.classes}
        return tuple(
            End(f"{rack.name}-{feed.name}", "network", rack.name, 0, pdus[rack.devices[0].role, rack.devices[0].item])
            for rack in self.racks
            if not rack.is_delivered
            for feed in rack.feeds
        )

    def _end(self, device: int, port: int) -> End:
        placed = self.devices[device]
        own = device_ports(self.catalog.device(placed.item))[port]
        return End(placed.name, own.name, self.racks[placed.rack].name, placed.unit, placed.item, own.node)


def stock_length_m(choice: CableChoice, items: Mapping[str, Cable]) -> float | None:
    """Length of the part that spans the way: the cable, or the fibre between two transceivers."""
    lengths = [fact.value for item, _ in choice.items if (fact := items[item].length_m) is not None]
    return max(lengths, default=None)
