"""What a design takes and its order lacks: lines of the bill that the customer provides, each with its number."""

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sizer.bom.bill import BY_OTHERS, BillLine
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.physical.plan import Plan
from sizer.physical.platform import lan_ports
from sizer.workload.quote import Category
from sizer.workload.request import SizingRequest
from sizer.workload.serving import vector_bytes

_PLUGS = {"iec-60309-3p-n-e-9h": "IEC 60309 3P+N+E", "iec-60309-p-n-e-6h": "IEC 60309 P+N+E"}
# Switches of a rack that share one manager for their cables.
_SWITCHES_A_MANAGER = 2
# Numbers of a vector of a passage, of which nothing is asked: those of common models that embed texts. Assumed.
_VECTOR_NUMBERS = 1024


class _Part(NamedTuple):
    category: Category
    name: str
    quantity: int
    kind: PlanNoteKind
    values: tuple[str | float, ...] = ()


class Ingress(NamedTuple):
    """What people ask of all models in use at the load of a design."""

    requests_per_s: float
    in_flight: float
    searches_per_s: float  # of them, those that look for passages first


def by_customer(plan: Plan, request: SizingRequest, ingress: Ingress | None) -> list[BillLine]:
    """Circuits, transfer switches, cable managers, ports of the building and software that a design counts on."""
    return [
        BillLine(
            category=part.category,
            description=part.name,
            quantity=part.quantity,
            status=BY_OTHERS,
            notes=(PlanNote(part.kind, part.values),),
        )
        for part in (*_power(plan), *_cabling(plan), *_services(plan, request, ingress))
        if part.quantity
    ]


def _power(plan: Plan) -> Iterator[_Part]:
    few = {str(note.values[0]) for note in plan.warnings if note.kind is PlanNoteKind.FEW_SUPPLIES}
    single = {str(note.values[0]) for note in plan.warnings if note.kind is PlanNoteKind.SINGLE_CORDED}
    pdus = {(class_.role, class_.item): group.pdu for group in plan.rack_groups for class_ in group.classes}
    circuits: Counter[str] = Counter()  # by the id of the PDU
    transfers: Counter[str] = Counter()
    n_single = 0
    for rack in plan.racks:
        names = {plan.device(device.item).name for device in rack.devices}
        feeds = [feed for feed in rack.feeds if feed.kind == "PDU"]
        n_single += bool(names & single)
        if rack.is_delivered or not feeds:
            continue
        pdu = pdus[rack.devices[0].role, rack.devices[0].item].id
        circuits[pdu] += len(feeds)
        transfers[pdu] += len(feeds) if names & few else 0
    for id_, count in circuits.items():
        kind = plan.catalog.pdus[id_]
        plug = "" if kind.inlet is None else _PLUGS.get(kind.inlet.value, kind.inlet.value.upper())
        yield _Part("rack and power", "Room circuit", count, PlanNoteKind.CIRCUIT, (plug, kind.name))
    for id_, count in transfers.items():
        rated = (plan.catalog.pdus[id_].capacity_w.value,)
        yield _Part("rack and power", "Static transfer switch", count, PlanNoteKind.FEED_TRANSFER, rated)
    yield _Part("rack and power", "Rack transfer switch", n_single, PlanNoteKind.RACK_TRANSFER)


def _cabling(plan: Plan) -> Iterator[_Part]:
    switches = Counter(device.rack for device in plan.devices if device.role.is_switch)
    managers = sum(-(-count // _SWITCHES_A_MANAGER) for count in switches.values() if count > 1)
    shared = (_SWITCHES_A_MANAGER,)
    yield _Part("rack and power", "Horizontal cable manager", managers, PlanNoteKind.CABLE_MANAGER, shared)
    far = Counter((link.kind.name, link.medium) for link in plan.connections if not link.a.item)
    for kind_and_medium, count in far.items():
        yield _Part("network", "Customer LAN port", count, PlanNoteKind.UPLINK_PORT, kind_and_medium)


def _services(plan: Plan, request: SizingRequest, ingress: Ingress | None) -> Iterator[_Part]:
    """Ports that servers without a network of the design take of the customer's, and what users meet first."""
    server, count = plan.inputs.platform.server, plan.inputs.n_servers
    if not plan.n_links and not server.is_workstation:
        for port in lan_ports(server):
            yield _Part("network", "Customer LAN port", count, PlanNoteKind.LAN_PORT, (port.kind.name, server.name))
    if ingress is not None:
        # A single one would undo the redundancy of the replicas.
        balancers = 2 if request.resilience.keeps_targets_without else 1
        yield _Part("software", "Load balancer", balancers, PlanNoteKind.OF_REPLICAS, ingress[:2])
        searches = int(ingress.searches_per_s > 0)
        values = (ingress.searches_per_s, 1e6 * vector_bytes(_VECTOR_NUMBERS)[1], _VECTOR_NUMBERS)
        yield _Part("software", "Vector store", searches, PlanNoteKind.OF_SEARCH, values)
    if request.team is not None and count == 1:
        yield _Part("software", "Slurm", 1, PlanNoteKind.OF_TEAM)
