"""The power list of a plan: every inlet with the outlet it takes."""

from dataclasses import dataclass

from sizer.catalog.model import Catalog
from sizer.catalog.schema import Pdu
from sizer.export.tables.table import Row, Sheet
from sizer.physical.plan import PlacedDevice, PlacedRack, Plan
from sizer.physical.racks.power import Inlet, PowerFeed, feeds
from sizer.workload.request import Site

_CORDS = {"c13": "C13 to C14", "c19": "C19 to C20"}


@dataclass(frozen=True)
class PowerLink:
    """One inlet and the outlet it hangs on."""

    device: PlacedDevice
    rack: PlacedRack
    inlet: Inlet
    side: str
    pdu: str  # name that no other PDU has, "" in a rack that is there: its outlets are not ours to give
    outlet: int  # of its kind, from 1; 0 without a PDU

    @property
    def outlet_name(self) -> str:
        """'C13-4', '' without a PDU."""
        return f"{self.inlet.kind.upper()}-{self.outlet}" if self.pdu else ""


def pdu_name(rack: PlacedRack, feed: PowerFeed) -> str:
    """Name of a PDU: 'R01-A1'."""
    return f"{rack.name}-{feed.name}"


def power_links(plan: Plan, catalog: Catalog, site: Site) -> tuple[PowerLink, ...]:
    """Every inlet of every device that is there from the start, rack by rack, from the bottom up."""
    pdu = catalog.item(site.pdu)
    assert isinstance(pdu, Pdu)
    found: list[PowerLink] = []
    for rack in plan.racks:
        # A rack that is there has feeds of its own; the rule tells which inlet hangs on which.
        strips = rack.feeds or feeds([(one.number, catalog.device(one.item)) for one in rack.present], 1, pdu)
        for feed in strips:
            used = {"c13": 0, "c19": 0}
            # From the bottom up, so that cords run level.
            for inlet in sorted(feed.inlets, key=lambda one: (plan.devices[one.device].unit, one.inlet)):
                used[inlet.kind] += 1
                strip, outlet = (pdu_name(rack, feed), used[inlet.kind]) if rack.feeds else ("", 0)
                found.append(PowerLink(plan.devices[inlet.device], rack, inlet, feed.side, strip, outlet))
    return tuple(sorted(found, key=lambda one: (one.device.rack, one.device.unit, one.inlet.inlet)))


def power_sheet(plan: Plan, catalog: Catalog, site: Site) -> Sheet:
    """Inlet by inlet: the outlet it takes and what it draws while the other side is lost."""
    heads = (
        "Rack",
        "U",
        "Device",
        "Inlet",
        "PDU",
        "Side",
        "Outlet kind",
        "Outlet",
        "Draw, other side lost (W)",
        "Cord",
        "Note",
    )
    numeric = frozenset({"U", "Inlet", "Outlet", "Draw, other side lost (W)"})
    links = power_links(plan, catalog, site)
    rows = [_power_row(link) for link in links]
    powered = {link.device.number for link in links}
    rows += [
        (rack.name, one.unit, one.name, None, "", "", "", None, None, "", "number of inlets not known: ask the vendor")
        for rack in plan.racks
        for one in rack.present
        if one.number not in powered
    ]
    notes = ("Outlets of each kind count from 1 on each PDU, from the lowest device up.",)
    return Sheet("Power", heads, tuple(rows), numeric, notes)


def _power_row(link: PowerLink) -> Row:
    notes = (
        "" if link.pdu else "outlet of the rack's own feed, by others",
        draw_note(link.device),
    )
    return (
        link.rack.name,
        link.device.unit,
        link.device.name,
        link.inlet.inlet,
        link.pdu,
        link.side,
        link.inlet.kind.upper(),
        link.outlet or None,
        known_watts(link.inlet.share_w),
        _CORDS[link.inlet.kind],
        "; ".join(note for note in notes if note),
    )


def draw_note(device: PlacedDevice) -> str:
    """What a reader must know of a device's watts; "" where they are known."""
    if device.power.is_known:
        return ""
    return "draw is at least this" if device.power.max_w else "draw not known"


def known_watts(value: float) -> float | None:
    """Watts to a tenth; None where nothing is known of them. [W]"""
    return round(value, 1) if value else None
