"""What a room holds besides the devices: racks, power distribution, coolant distribution, small parts."""

from typing import Annotated, Literal

from pydantic import Field

from sizer.base.provenance import Sourced
from sizer.base.texts import LongText, ShortText
from sizer.catalog.bounds import CountOrZero, Kilograms, Metres, RackUnits, Watts
from sizer.catalog.devices import Device
from sizer.catalog.items import Item
from sizer.catalog.links import PowerInletId, Volts

Phases = Annotated[int, Field(ge=1, le=3)]
CoolingWatts = Annotated[float, Field(ge=1, le=1e7)]


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
