"""Chapter on the networks: their ports, their load, and their subnets."""

from typing import Any

from sizer.base.quantities import by_count, grouped, plain, si
from sizer.catalog.fabrics import fabric_ports
from sizer.guide.context import GuideContext
from sizer.physical.components import Network
from sizer.physical.networks.addresses import AddressPlan, Subnet
from sizer.physical.roles import NetworkRole
from sizer.present import words
from sizer.present.tables import Cell, Field, Table, record_table
from sizer.present.text import result_text
from sizer.present.text.plan import manager_text, note_text
from sizer.sizing.result import WorkloadAnswer


def content(context: GuideContext) -> dict[str, Any]:
    """What ``engineer/networks.html`` prints."""
    design, platform = context.design, context.design.platform
    has_fabric = not context.is_single and any(net.role is NetworkRole.COMPUTE for net in design.quantities.networks)
    return {
        "networks": networks_table(context),
        "load": load_table(context) if has_fabric else None,
        "fabric": platform.fabric.name,
        "shares_links": context.decisions.fabric is None or context.decisions.fabric.carries_reads,
        "direct": has_fabric and platform.fabric.gbit_per_s.value >= 40,
        "subnets": subnet_table(context.addresses) if context.addresses.subnets else None,
    }


def _networks(context: GuideContext) -> list[Network]:
    return [net for net in context.design.quantities.networks if int(net.ports_used[0])]


def networks_table(context: GuideContext) -> Table | None:
    """Networks with switches and ports; None where the design adds none."""
    networks = _networks(context)
    if not networks:
        return None

    def oversubscription(net: Network) -> str:
        if not int(net.spines[0]):
            return "–"
        ratio = float(net.oversubscription[0])
        return "1 : 1" if ratio <= 1 else f"{plain(float(f'{ratio:.2g}'))} : 1"

    fields = (
        Field[Network]("Network", lambda net: words.capital(net.role), "left", 16),
        Field[Network]("Links", lambda net: net.kind.name, "left", 13),
        Field[Network]("Switches", lambda net: result_text.network_switches(net, context.catalog), "left", 22),
        Field[Network]("Ports", result_text.port_arithmetic, "left", 32),
        Field[Network]("Oversubscription", oversubscription, "right", 17),
    )
    notes = [
        words.sentence(f"{net.role}: {note}")
        for net in networks
        for note in (*map(note_text, net.notes), manager_text(net.subnet_manager))
        if note
    ]
    return record_table("networks", "Networks and port counts", networks, fields, note=" ".join(notes))


def load_table(context: GuideContext) -> Table:
    """Traffic of each workload on the fabric links of one server, and the utilization of the links."""
    design, platform = context.design, context.design.platform
    ports = fabric_ports(platform.server.ports, platform.fabric)
    port_rate = si(platform.fabric.bytes_per_s, "B/s")

    def reads(answer: WorkloadAnswer) -> str:
        per_server = float(answer.storage_bytes_per_s.value) / design.n_servers
        return si(per_server, "B/s") if per_server else "none"

    def utilization(answer: WorkloadAnswer, key: str) -> str:
        load = next(stage.load_fraction for stage in answer.stages if stage.key == key)
        return words.percent(load) if load else "–"

    fields = (
        Field[WorkloadAnswer]("Workload", lambda a: a.workload.name, "left", 30),
        Field[WorkloadAnswer]("Reads per server, warm", reads, "right", 22),
        Field[WorkloadAnswer]("Utilization by gradients", lambda a: utilization(a, "exchange"), "right", 24),
        Field[WorkloadAnswer]("Network utilization", lambda a: utilization(a, "network"), "right", 24),
    )
    note = by_count(
        ports,
        f"Each server has {ports} fabric port of {port_rate}.",
        f"Each server has {ports} fabric ports of {port_rate} each.",
    )
    return record_table("network-load", "Network load at the projected rate", context.answers, fields, note=note)


def subnet_table(plan: AddressPlan) -> Table:
    """Subnets with their size and use."""

    def gateway(net: Subnet) -> Cell:
        return Cell("none", is_muted=True) if net.gateway is None else Cell(str(net.gateway))

    fields = (
        Field[Subnet]("Network", lambda net: words.capital(net.name), "left", 18),
        Field[Subnet]("Used by", lambda net: words.capital(note_text(net.purpose)), "left", 26),
        Field[Subnet]("VLAN", lambda net: str(net.vlan), "right", 8),
        Field[Subnet]("Subnet", lambda net: str(net.network), "left", 17),
        Field[Subnet]("Gateway", gateway, "left", 13),
        Field[Subnet]("In use", lambda net: grouped(net.n_used), "right", 8),
        Field[Subnet]("Available", lambda net: grouped(net.network.num_addresses - 2), "right", 10),
    )
    note = (
        "Proposed subnets from private address space; each has twice the addresses in use. "
        "Replace them with those assigned by the site."
    )
    return record_table("subnets", "Subnet plan", plan.subnets, fields, note=note)
