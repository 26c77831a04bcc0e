"""Chapter on the architecture: the devices, a figure of each network, and the inside of a node."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sizer.base.quantities import significant
from sizer.catalog.sample_formats import HOST_STEPS
from sizer.drawings.network import network_drawing
from sizer.drawings.node import node, node_caption
from sizer.guide.context import GuideContext
from sizer.physical.components import Network
from sizer.physical.notes import PlanNoteKind
from sizer.present import words
from sizer.present.bill_tables import component_table
from sizer.present.figures import PageFigure, drawn
from sizer.present.text import result_text
from sizer.present.text.plan import manager_text, note_text


@dataclass(frozen=True)
class NetworkSection:
    """One network: its title, what it carries and how its ports add up, and its drawing."""

    title: str
    texts: list[str]
    figure: PageFigure | None


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/architecture.html`` prints."""
    design, platform, head = context.design, context.design.platform, context.head_node
    return {
        "devices": component_table(design, context.catalog),
        "head": head,
        "n_heads": context.n_head_nodes,
        "n_heads_spelled": words.spelled(context.n_head_nodes),
        "has_local_data": platform.storage.kind == "local",
        "serves_files": platform.storage.kind == "nfs-server" and platform.storage.server is not None,
        "server_reasons": server_reasons(context),
        "node": drawn("node", node(design), node_caption(design)),
        "processor_text": processor_text(context),
        "networks": list(network_sections(context)),
        "is_lan": platform.attachment == "lan",
        "storage": platform.storage.name,
    }


def network_sections(context: GuideContext) -> Iterator[NetworkSection]:
    """Every network that the design brings, in the order of the data path."""
    for net in context.design.quantities.networks:
        if not int(net.ports_used[0]):
            continue
        drawing = network_drawing(context.design, net.role)
        figure = None if drawing is None else drawn(f"network-{words.slug(str(net.role))}", drawing)
        is_out_of_band = net.purpose.kind is PlanNoteKind.OUT_OF_BAND
        title = "Out-of-band management" if is_out_of_band else words.capital(str(net.role))
        yield NetworkSection(title, list(_network_texts(net, context)), figure)


def _network_texts(net: Network, context: GuideContext) -> Iterator[str]:
    ends = words.plural(int(net.end_points[0]), "end point")
    switches = result_text.network_switches(net, context.catalog)
    yield f"{words.capital(note_text(net.purpose))}; {ends} on {switches}."
    yield words.sentence(words.capital(result_text.port_arithmetic(net)))
    if int(net.gateway_uplinks[0]):
        yield f"Gateway uplinks: {result_text.gateway_arithmetic(context.design)}"
    for note in (*map(note_text, net.notes), manager_text(net.subnet_manager)):
        if note:
            yield words.sentence(note)


def server_reasons(context: GuideContext) -> list[str]:
    """Why this server, one point each."""
    platform = context.design.platform
    server = platform.server
    reasons = []
    if server.height_u is not None:
        units = server.height_u.value
        gpus = words.plural(platform.gpus_per_server, "GPU")
        density = significant(platform.gpus_per_server / units, 2)
        height = f"{units:g} rack {words.plural_of(int(units), 'unit')}"
        reasons.append(f"Density: {gpus} in {height}, {density} GPUs per rack unit.")
    if server.intra_link is not None and platform.gpus_per_server > 1:
        link = server.intra_link.value.name
        if all(answer.workload.task != "training" for answer in context.answers):
            reasons.append(f"GPU link: {link} connects the GPUs inside the server.")
        elif context.design.n_servers == 1:
            inside = "server" if context.is_single else "rack"
            reasons.append(f"GPU link: gradients are exchanged over {link} inside the {inside}; no fabric is involved.")
        else:
            reasons.append(f"GPU link: servers sum gradients over {link} before they exchange them over the fabric.")
    if server.local_storage is not None and platform.storage.kind != "local":
        reasons.append("Local drives: for the operating system; the data set is on the shared storage.")
    return reasons


def processor_text(context: GuideContext) -> str:
    """Load of the host processors, and whether they are the bottleneck."""
    limited = [answer.workload.name for answer in context.answers if answer.bottleneck == "decode"]
    if limited:
        return (
            f"Sample preparation on the host is the bottleneck of {words.listed(limited)}. "
            "More cores, or compressed images decoded on the GPU, would raise the rate."
        )
    if all(answer.kind.trains_language for answer in context.answers):
        return "The host processors read token records, which takes under 0.1 % of their time."
    if context.only_serves:
        return "The host processors divide texts into tokens and schedule requests; no data set is read."
    load = max((answer.cpu_utilization_fraction for answer in context.answers), key=lambda load: float(load.value))
    steps = dict.fromkeys(HOST_STEPS[answer.sample_format] for answer in context.answers)
    return (
        f"What the host processors do for a sample ({'; '.join(steps)}) uses {words.estimate(load, '%')} of them; "
        "they are not the bottleneck."
    )
