"""Chapter 5: the networks, how their ports add up, what they carry, and their addresses."""

from typing import Any

from sizer.base.quantities import by_count, si
from sizer.catalog.links import GBIT_PER_S, fabric_ports, is_infiniband, link_bytes_per_s
from sizer.guide.chapters.case import Case
from sizer.guide.tables.plan import subnet_table
from sizer.guide.tables.request import networks_table
from sizer.physical.roles import NetworkRole
from sizer.present import result_text, words
from sizer.present.tables import Table, columns, row


def content(case: Case) -> dict[str, Any]:
    """What ``sections/network.html`` prints."""
    design, platform = case.design, case.design.platform
    table = networks_table(case.result, case.catalog)
    has_fabric = not case.is_single and any(net.role is NetworkRole.COMPUTE for net in design.quantities.networks)
    return {
        "networks": table,
        "purposes": _purposes(case),
        "load": load_table(case) if has_fabric else None,
        "gateway": result_text.gateway_arithmetic(design),
        "fabric": words.link_name(platform.fabric),
        "is_infiniband": is_infiniband(platform.fabric),
        "direct": has_fabric and GBIT_PER_S[platform.fabric] >= 40,
        "is_lan": platform.attachment == "lan",
        "storage": platform.storage.name,
        "subnets": subnet_table(case.addresses) if case.is_full and case.addresses.subnets else None,
    }


def _purposes(case: Case) -> list[str]:
    """What each network is for, with its size."""
    lines = []
    for net in case.design.quantities.networks:
        ends = int(net.end_points[0])
        if not int(net.ports_used[0]):
            continue
        text = "{name}: {purpose}; {n}.".format(
            name=words.capital(net.role),
            purpose=net.purpose.rstrip("."),
            n=by_count(ends, f"{ends} end point", f"{ends} end points"),
        )
        lines.append(text)
    return lines


def load_table(case: Case) -> Table:
    """What each workload sends over the links of one server, against what the links carry."""
    design, platform = case.design, case.design.platform
    ports = fabric_ports(platform.server.ports, platform.fabric)
    rows = []
    for answer in case.answers:
        stage = next(stage for stage in answer.stages if stage.key == "network")
        per_server = float(answer.storage_bytes_per_s.value) / design.n_servers
        exchange = next(stage for stage in answer.stages if stage.key == "exchange")
        rows.append(
            row(
                answer.workload.name,
                si(per_server, "B/s") if per_server else "nothing",
                words.percent(exchange.load_fraction) if exchange.load_fraction else "–",
                words.percent(stage.load_fraction) if stage.load_fraction else "–",
            )
        )
    heads = columns(
        ("Workload", "left", 34),
        ("Reads of a server, warm", "right", 24),
        ("Busy with gradients", "right", 21),
        ("Network busy", "right", 21),
    )
    note = by_count(
        ports,
        f"A server has {ports} port of {si(link_bytes_per_s(platform.fabric), 'B/s')} on the fabric.",
        f"A server has {ports} ports of {si(link_bytes_per_s(platform.fabric), 'B/s')} each on the fabric.",
    )
    return Table("network-load", "What the networks carry at the projected rate", heads, tuple(rows), note)
