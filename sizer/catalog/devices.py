"""What takes rack units, watts and kilograms: devices, their ports, and systems that arrive as whole racks."""

from typing import Annotated, Literal

from pydantic import Field

from sizer.base.provenance import Sourced
from sizer.base.texts import LongText, Name, ShortText
from sizer.catalog.items import Count, CountOrZero, Fraction, Frozen, Item, Kilograms, Metres, RackUnits, Watts
from sizer.catalog.links import LinkId, LinkType, PowerInletId, Volts

Phases = Annotated[int, Field(ge=1, le=3)]
CoolingWatts = Annotated[float, Field(ge=1, le=1e7)]


# "storage-network" and "in-band": ports that stay out of the compute fabric whatever they can run.
PortUse = Literal["compute", "storage", "storage-network", "in-band", "management", "bmc", "fabric", "back-end", "any"]
# Form of a cage, which decides what module fits: "osfp-finned", "qsfp112".
Connector = Annotated[str, Field(pattern=r"^[a-z0-9-]*$", max_length=20)]
# Name of the years in which parts were sold together: "v100", "today".
Era = Annotated[str, Field(pattern=r"^[a-z0-9-]+$", max_length=20)]


class RackContent(Frozen):
    """Equal parts side by side inside a system that arrives as a rack: "compute tray", 18 of 1U."""

    name: Name
    count: Count
    height_u: Annotated[int, Field(ge=1, le=60)]  # of one
    lowest_u: Annotated[int, Field(ge=1, le=60)]  # of the lowest one; the others stand above it
    is_node: bool = False  # a server of the system, with its share of the system's ports
    basis: Literal["datasheet", "measured", "published", "derived", "assumed"]
    source: ShortText
    where: LongText
    note: LongText = ""


class DeliveredRack(Frozen):
    """A system that its maker delivers as a rack, with its own power shelves.

    Each power inlet of the system is that of one power shelf, or one of the cabinet; half of them suffice.
    """

    rack: ShortText  # id in racks/
    shelf_w: Sourced[Watts]  # rating of one power shelf or inlet
    has_shelves: bool = True  # False: a cabinet with inlets and no power shelves
    contents: Annotated[tuple[RackContent, ...], Field(min_length=1)]

    @property
    def n_nodes(self) -> int:
        """Servers of the system: its compute trays."""
        return sum(part.count for part in self.contents if part.is_node)


class Device(Item):
    """Something that takes rack units, watts and kilograms."""

    era: Era | None = None  # absent: planned with servers of every era

    height_u: Sourced[RackUnits] | None = None
    depth_m: Sourced[Metres] | None = None
    weight_kg: Sourced[Kilograms] | None = None
    power_typical_w: Sourced[Watts] | None = None
    # Either a measured or data-sheet maximum, or a bracket: sum of component TDPs (low) to the rating of the
    # supplies that remain after one is lost (high). A low end alone is a floor: the total then reads "at least".
    power_max_w: Sourced[Watts] | None = None
    power_low_w: Sourced[Watts] | None = None
    power_high_w: Sourced[Watts] | None = None
    power_inlets: Sourced[CountOrZero] | None = None
    inlet_kind: Sourced[PowerInletId] | None = None
    supplies_needed: Sourced[Count] | None = None  # power inlets that carry its full draw; absent: not published
    liquid_heat_fraction: Sourced[Fraction] | None = None  # of its heat that a coolant carries; absent: air-cooled
    delivered: DeliveredRack | None = None  # absent: it is mounted in a rack of the design


# Uses of the ports of adapters, which only servers have: these run slower links, too.
ADAPTER_USES: tuple[PortUse, ...] = ("compute", "storage-network")


class Port(Frozen):
    """Ports of one kind on a device. ``also`` lists kinds that the same port can run instead (VPI)."""

    kind: LinkId
    count: Count
    use: PortUse
    also: tuple[LinkId, ...] = ()
    on_request: tuple[LinkId, ...] = ()  # kinds that it can run and that are planned only where a request names them
    nic: ShortText | None = None  # id in nics/, where the port is an adapter that a bill lists
    connector: Connector = ""  # of its cage; empty: what the module of its link usually plugs into
    basis: Literal["datasheet", "measured", "published", "derived", "assumed"]
    source: ShortText
    where: LongText
    note: LongText = ""

    @property
    def kinds(self) -> tuple[LinkType, ...]:
        """Links that the file lists, its own first."""
        return (self.kind, *self.also, *self.on_request)

    def runs(self, kind: LinkType) -> bool:
        """Whether links of a kind can end here: those listed, and slower ones where the port is one of an adapter."""
        return kind in self.kinds or (self.use in ADAPTER_USES and self.kind.adapter_runs(kind))


class Rack(Item):
    """A rack."""

    height_u: Sourced[RackUnits]
    load_kg: Sourced[Kilograms]
    weight_kg: Sourced[Kilograms] | None = None
    depth_m: Sourced[Metres] | None = None  # outer
    width_m: Sourced[Metres] | None = None
    usable_depth_m: Sourced[Metres] | None = None


class Pdu(Item):
    """A rack power distribution unit."""

    capacity_w: Sourced[Watts]
    # Voltage of its circuit, between phases where there are three: of the nominal range the lower and upper end. [V]
    low_v: Sourced[Volts] | None = None
    high_v: Sourced[Volts] | None = None
    phases: Sourced[Phases] | None = None
    # Outlets by the kind of inlet that they take: an id in power_inlets/.
    outlets: dict[ShortText, Sourced[CountOrZero]]
    inlet: Sourced[LongText] | None = None
    height_u: Sourced[RackUnits] | None = None


class Accessory(Item):
    """A small part that a rack takes: one a free unit, or one a power inlet."""

    use: Literal["blanking-panel", "cord"]
    inlet: PowerInletId | None = None  # of a cord
    length_m: Sourced[Metres] | None = None  # of a cord


class CoolantUnit(Device):
    """A coolant distribution unit: takes the heat of liquid-cooled devices into the water of the building."""

    capacity_w: Sourced[CoolingWatts]  # heat that it takes at its rated approach temperature
    place: Literal["in-rack", "in-row"]
