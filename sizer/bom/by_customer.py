"""What a design takes and its order lacks: lines of the bill that the customer provides, each with its number."""

from collections import Counter
from collections.abc import Iterator

from sizer.bom.bill import BY_OTHERS, BillLine
from sizer.physical.notes import PlanNoteKind
from sizer.physical.plan import Plan
from sizer.workload.quote import Category
from sizer.workload.request import SizingRequest
from sizer.workload.serving import is_served

_PLUGS = {"iec-60309-3p-n-e-9h": "IEC 60309 3P+N+E", "iec-60309-p-n-e-6h": "IEC 60309 P+N+E"}
# Switches of a rack that share one manager for their cables.
_SWITCHES_A_MANAGER = 2


def by_customer(plan: Plan, request: SizingRequest) -> list[BillLine]:
    """Circuits, transfer switches, cable managers, ports of the building and software that a design counts on."""
    return [
        BillLine(
            line="",
            category=category,
            item="",
            manufacturer="",
            sku="",
            description=description,
            quantity=quantity,
            unit="EA",
            unit_price=None,
            price_source="",
            price_date="",
            status=BY_OTHERS,
        )
        for category, description, quantity in (*_power(plan), *_cabling(plan), *_services(plan, request))
        if quantity
    ]


def _power(plan: Plan) -> Iterator[tuple[Category, str, int]]:
    few = {str(note.values[0]) for note in plan.warnings if note.kind is PlanNoteKind.FEW_SUPPLIES}
    single = {str(note.values[0]) for note in plan.warnings if note.kind is PlanNoteKind.SINGLE_CORDED}
    pdus = {(one.role, one.item): group.pdu for group in plan.rack_groups for one in group.classes}
    circuits: Counter[str] = Counter()  # by the id of the PDU
    transfers: Counter[str] = Counter()
    n_single = 0
    for rack in plan.racks:
        names = {plan.device(one.item).name for one in rack.devices}
        feeds = [feed for feed in rack.feeds if feed.kind == "PDU"]
        n_single += bool(names & single)
        if rack.is_delivered or not feeds:
            continue
        pdu = pdus[rack.devices[0].role, rack.devices[0].item].id
        circuits[pdu] += len(feeds)
        transfers[pdu] += len(feeds) if names & few else 0
    for pdu, count in ((plan.catalog.pdus[id_], number) for id_, number in circuits.items()):
        plug = "" if pdu.inlet is None else f" for plug {_PLUGS.get(pdu.inlet.value, pdu.inlet.value.upper())}"
        yield "rack and power", f"Circuit of the room with breaker and outlet{plug}, one for each {pdu.name}", count
    for id_, count in transfers.items():
        kilowatts = plan.catalog.pdus[id_].capacity_w.value / 1e3
        text = f"Static transfer switch of {kilowatts:.3g} kW in front of a PDU, if servers are to run on after a feed"
        yield "rack and power", text, count
    yield "rack and power", "Transfer switch, 1U, one in each rack with a single-corded device", n_single


def _cabling(plan: Plan) -> Iterator[tuple[Category, str, int]]:
    switches = Counter(device.rack for device in plan.devices if device.role.is_switch)
    managers = sum(-(-count // _SWITCHES_A_MANAGER) for count in switches.values() if count > 1)
    text = "Horizontal cable manager, 1U, after every second switch, in units that are free"
    yield "rack and power", text, managers
    far = Counter(link.kind.name for link in plan.connections if not link.a.item)
    for kind, count in far.items():
        yield "network", f"Port of the customer's LAN for an uplink of {kind}, with the optic of that end", count


def _services(plan: Plan, request: SizingRequest) -> Iterator[tuple[Category, str, int]]:
    """Ports that servers without a network of the design take of the customer's, and what users meet first."""
    server, count = plan.inputs.platform.server, plan.inputs.n_servers
    if not plan.n_links and not server.is_workstation:
        ports: Counter[str] = Counter()
        for port in server.ports:
            ports[port.kind.name] += port.count * (port.use in ("bmc", "in-band"))
        for kind, each in ports.items():
            yield "network", f"Port of the customer's LAN, {kind}, with its cable; server {server.name}", each * count
    if any(map(is_served, request.workload)):
        yield "software", "Load balancer or gateway in front of the replicas", 1
    if request.team is not None and count == 1:
        yield "software", "Slurm on the server, free of charge: queue and log-in of the team", 1
