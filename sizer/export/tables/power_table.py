"""The power list of a plan: every inlet with its outlet."""

from collections import Counter
from dataclasses import dataclass, replace

from sizer.catalog.links import PowerInlet
from sizer.catalog.model import Catalog
from sizer.export.tables.table import Number, Row, Sheet, SheetColumn, record_sheet, semicolon_list
from sizer.physical.plan import PlacedDevice, PlacedRack, Plan
from sizer.physical.racks.feeds import Inlet, PowerFeed, feeds

_UNKNOWN_INLETS = "number of inlets not known: ask the vendor; each feed is planned for the full draw"


@dataclass(frozen=True)
class PowerLink:
    """One inlet and its outlet."""

    device: PlacedDevice
    rack: PlacedRack
    inlet: Inlet
    side: str
    pdu: str  # unique name; "" in an existing rack, whose outlets the customer assigns
    outlet: int  # of its kind, from 1; 0 without a PDU
    kind: PowerInlet

    @property
    def outlet_name(self) -> str:
        """'C13-4', '' without a PDU."""
        return f"{self.kind.outlet}-{self.outlet}" if self.pdu else ""


def pdu_name(rack: PlacedRack, feed: PowerFeed) -> str:
    """Name of a PDU: 'R01-A1'."""
    return f"{rack.name}-{feed.name}"


def power_links(plan: Plan, catalog: Catalog) -> tuple[PowerLink, ...]:
    """Every inlet of every device installed from the start, rack by rack, from the bottom up."""
    pdu = plan.inputs.platform.pdu
    links: list[PowerLink] = []
    for rack in plan.racks:
        # An existing rack has feeds of its own; the same rule assigns inlets to them.
        strips = rack.feeds or feeds([(one.number, plan.device(one.item)) for one in rack.present], 2, pdu)
        for feed in strips:
            used: Counter[str] = Counter()
            # From the bottom up, so that cords run level.
            for inlet in sorted(feed.inlets, key=lambda inlet: (plan.devices[inlet.device].unit, inlet.inlet)):
                used[inlet.kind] += 1
                strip, outlet = (pdu_name(rack, feed), used[inlet.kind]) if rack.feeds else ("", 0)
                kind = catalog.power_inlets[inlet.kind]
                links.append(PowerLink(plan.devices[inlet.device], rack, inlet, feed.side, strip, outlet, kind))
    return tuple(sorted(links, key=lambda link: (link.device.rack, link.device.unit, link.inlet.inlet)))


def power_sheet(plan: Plan, catalog: Catalog) -> Sheet:
    """Inlet by inlet: its outlet, and its draw while another side is lost."""
    links = power_links(plan, catalog)
    columns: tuple[SheetColumn[PowerLink], ...] = (
        SheetColumn("Rack", lambda link: link.rack.name),
        Number("U", lambda link: link.device.unit),
        SheetColumn("Device", lambda link: link.device.name),
        Number("Inlet", lambda link: link.inlet.inlet),
        SheetColumn("PDU", lambda link: link.pdu),
        SheetColumn("Side", lambda link: link.side),
        SheetColumn("Outlet kind", lambda link: link.kind.outlet),
        Number("Outlet", lambda link: link.outlet or None),
        Number("Draw, another side lost (W)", lambda link: known_watts(link.inlet.share_w)),
        SheetColumn("Cord", lambda link: f"{link.kind.outlet} to {link.kind.name}"),
        SheetColumn("Note", _note),
    )
    sheet = record_sheet(
        "Power", links, columns, ("Outlets of each kind count from 1 on each PDU, from the lowest device up.",)
    )
    powered = {link.device.number for link in links}
    unpowered: tuple[Row, ...] = tuple(
        (
            rack.name,
            device.unit,
            device.name,
            None,
            "",
            " and ".join(_sides_of(rack)) if device.power.max_w else "",
            "",
            None,
            known_watts(device.power.max_w),
            "",
            semicolon_list(_UNKNOWN_INLETS, draw_note(device)),
        )
        for rack in plan.racks
        for device in rack.present
        if device.number not in powered
    )
    return replace(sheet, rows=sheet.rows + unpowered)


def _sides_of(rack: PlacedRack) -> list[str]:
    """Sides that may carry a device whose inlets nobody states."""
    return sorted({feed.side for feed in rack.feeds}) or ["A", "B"]


def _note(link: PowerLink) -> str:
    outlet = "" if link.pdu else "outlet of the rack's own feed, provided by others"
    return semicolon_list(outlet, draw_note(link.device))


def draw_note(device: PlacedDevice) -> str:
    """Note on the watts of a device; "" where they are known."""
    if device.power.is_known:
        return ""
    return "the draw is at least this" if device.power.max_w else "draw not known"


def known_watts(value: float) -> float | None:
    """Watts to a tenth; None where nothing is known of them. [W]"""
    return round(value, 1) if value else None
