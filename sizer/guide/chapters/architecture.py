"""Chapters on the architecture of a design: its overview, servers and networks, and software."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sizer.base.quantities import grouped, significant
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import FORMAT_NAMES, is_compressed_image
from sizer.catalog.schema import Release, Software
from sizer.drawings.datapath import datapath, is_limit
from sizer.drawings.node import node, node_caption
from sizer.drawings.shapes import Drawing
from sizer.drawings.topology import topology
from sizer.guide.context import GuideContext
from sizer.physical.components import Network
from sizer.physical.notes import PlanNoteKind
from sizer.present import words
from sizer.present.bill_tables import component_table
from sizer.present.figures import PageFigure, drawn
from sizer.present.tables import Cell, Field, Row, Table, fact_table, record_table, row, source_cell
from sizer.present.text import result_text
from sizer.present.text.plan import manager_text, note_text
from sizer.present.text.result_text import precision_text
from sizer.sizing.result import DesignAnswer, WorkloadAnswer

# Of the drawing: a higher one is set too small to read; its management network is left out.
_MOST_HEIGHT_PX = 480
# Boxes of the drawing that are servers.
_SERVERS = ("servers", "head", "ufm")


def overview(context: GuideContext) -> dict[str, Any]:
    """What ``sections/overview.html`` prints."""
    design = context.design
    return {
        "building_block": building_block(context),
        "exchanges": not context.is_single and any(answer.workload.task == "training" for answer in context.answers),
        "paths": [
            drawn(f"datapath-{number}", datapath(design, answer, words.sample_unit(answer.dnn)))
            for number, answer in enumerate(context.answers, 1)
            if answer.rate_is_predicted and answer.kind.reads_data
            # A drawing whose other stages all read "not limiting" says no more than the bottleneck.
            if sum(is_limit(stage, answer) for stage in answer.stages) > 1
        ],
    }


def picture(design: DesignAnswer, drawing: Drawing) -> PageFigure:
    """The cluster in the width of the text column, by kind of device; ``drawing``: with all networks."""
    is_low = drawing.height > _MOST_HEIGHT_PX
    if is_low:
        drawing = topology(design, is_low=True)
    # Servers with cables to switches of the storage: only the colour tells them from those of the compute fabric.
    is_apart = any(link.role == "storage" and link.count and link.source in _SERVERS for link in drawing.links)
    legend = ["Blue: cables of the storage; purple: of other networks."] if is_apart else []
    if any(box.copies > 1 for box in drawing.boxes):
        legend.append("A stack of boxes is several devices.")
    if any(link.dashed for link in drawing.links):
        legend.append("Dashed: management.")
    elif is_low:
        legend.append("Not drawn: the management networks.")
    return drawn("at-a-glance", drawing, " ".join(legend))


def building_block(context: GuideContext) -> list[str]:
    """The building block of the design, and where the data is."""
    design, platform = context.design, context.design.platform
    server, gpus = platform.server.name, words.plural(platform.gpus_per_server, "GPU")
    if context.is_single:
        trains = any(answer.workload.task == "training" for answer in context.answers)
        code = "no multi-server scheduler and no multi-server training code" if trains else "no multi-server scheduler"
        text = f"One {server} with {gpus} runs the whole workload. It needs no fabric between servers and {code}."
        if trains:
            text = text.replace("servers and no", "servers, no", 1)
    elif design.n_servers == 1:
        text = (
            f"One {server}, a rack of {design.n_hosts} hosts, runs the whole workload: NVLink joins its {gpus}, so no "
            "network between servers carries gradients. Scheduler and management see the hosts of a cluster."
        )
    else:
        used = max(design.gpus_at_work(answer) for answer in context.answers)
        count = words.capital(words.spelled(math.ceil(used / platform.gpus_per_server)))
        is_training = any(answer.workload.task == "training" for answer in context.answers)
        exchange = ", and after every step they exchange gradients over the fabric" if is_training else ""
        work = f"each processes its share of the samples{exchange}"
        if context.only_serves:
            work = "requests are shared among the replicas of the model by a load balancer in front of them"
        if all(answer.kind.trains_language for answer in context.answers):
            work = "model and batch are divided over their GPUs, which exchange results over the fabric"
        block = f"The building block is {words.with_article(server)} with {gpus}"
        text = f"{block}. {count} of them {'serve' if context.only_serves else 'run one job together'}: {work}."
    return [text, _data_text(context)]


def _data_text(context: GuideContext) -> str:
    design, storage = context.design, context.design.platform.storage
    if context.only_serves:
        place = "the drives of each server" if storage.kind == "local" else result_text.storage_name(design)
        return f"The weights lie on {place} and are loaded when a replica starts; requests come over the LAN."
    if storage.kind == "local":
        drives = "the server" if context.is_single else "every server"
        return f"The data set is staged to the drives of {drives} first; after that, no data is read over a network."
    if design.platform.attachment == "lan":
        return f"The data stays on {storage.name}, the customer's existing storage, and is read over the LAN."
    name = words.capital(result_text.storage_name(design))
    verb, serve = ("stores", "serves") if design.storage_nodes <= 1 else ("store", "serve")
    if all(answer.cache_hit_fraction >= 1 for answer in context.answers):
        readers = "The server reads" if context.is_single else "The servers read"
        return f"{name} {verb} the data. {readers} it once; from the second epoch on, it is served from memory."
    if design.platform.second_tier is not None:
        return f"{name} {verb} the data; the servers read from the fast tier throughout the run."
    readers = "the server" if context.is_single else "all servers concurrently"
    return f"{name} {verb} the data and {serve} {readers} throughout the run."


def architecture(context: GuideContext) -> dict[str, Any]:
    """What ``sections/architecture.html`` prints."""
    design, platform = context.design, context.design.platform
    drawing = topology(design)
    return {
        "picture": picture(design, drawing),
        "is_high": drawing.height > _MOST_HEIGHT_PX,
        "devices": component_table(design, context.catalog),
        "node": drawn("node", node(design), node_caption(design)),
        "networks": list(network_sections(design, context.catalog)),
        "is_lan": platform.attachment == "lan",
        "storage": platform.storage.name,
    }


def network_sections(design: DesignAnswer, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Every network that the design brings, in the order of the data path: its title, what it carries, its ports."""
    for net in design.quantities.networks:
        if int(net.ports_used[0]):
            is_out_of_band = net.purpose.kind is PlanNoteKind.OUT_OF_BAND
            title = "Out-of-band management" if is_out_of_band else words.capital(str(net.role))
            yield title, " ".join(_network_texts(net, design, catalog))


def _network_texts(net: Network, design: DesignAnswer, catalog: Catalog) -> Iterator[str]:
    ends = words.plural(int(net.end_points[0]), "end point")
    switches = result_text.network_switches(net, catalog)
    yield f"{words.capital(note_text(net.purpose))}; {ends} on {switches}."
    yield words.sentence(words.capital(result_text.port_arithmetic(net)))
    if int(net.gateway_uplinks[0]):
        yield f"Gateway uplinks: {result_text.gateway_arithmetic(design)}"
    ratio, has_note = float(net.oversubscription[0]), any(one.kind is PlanNoteKind.STORAGE_RATIO for one in net.notes)
    if int(net.spines[0]) and ratio > 1 and not has_note:
        yield f"A leaf switch is oversubscribed {significant(ratio, 2)}:1 to the spine switches."
    for note in (*map(note_text, net.notes), manager_text(net.subnet_manager)):
        if note:
            yield words.sentence(note)


def software(context: GuideContext) -> dict[str, Any]:
    """What ``sections/software.html`` prints."""
    design, catalog = context.design, context.catalog
    items = {part.item for part in design.quantities.components if int(part.quantity[0])}
    lines = [catalog.software[item] for item in items if item in catalog.software]
    return {
        "has_system": any(line.layer == "system" for line in lines),
        "software": _licence_table(design, catalog),
        "stacks": stacks_table(design),
        "releases": releases_text(design, catalog),
        "release_sources": list(dict.fromkeys(release.version.source for release in _releases(design, catalog))),
        "runs_resnet": any(answer.dnn.id == "resnet50" for answer in context.answers),
    }


def _licence_table(design: DesignAnswer, catalog: Catalog) -> Table | None:
    """Software of the design with purpose and licence metric; None where there is none."""
    rows: list[Row] = []
    for part in design.quantities.components:
        item, quantity = catalog.item(part.item), int(part.quantity[0])
        if not quantity or not isinstance(item, Software):
            continue
        metric = words.name(item.metric.value)
        is_free = item.metric.value in ("free", "included")
        rows.append(
            row(
                with_vendor(item) + (", optional" if part.status == "optional" else ""),
                source_cell(item.purpose, item.purpose.value.rstrip(".") + "."),
                metric if is_free else f"{grouped(quantity)}, per {metric}",
            )
        )
    if not rows:
        return None
    titles = ("Component", "Purpose", "Licence")
    return fact_table("software", "Software of the design", rows, titles=titles, widths=(26, 60, 14), style="")


def stacks_table(design: DesignAnswer) -> Table:
    """The software stack that each workload is sized with."""

    def stack(answer: WorkloadAnswer) -> str:
        return answer.stack.name if answer.serving is None else words.listed(answer.served.engines, "or")

    def released(answer: WorkloadAnswer) -> Cell:
        if answer.serving is not None and len(answer.served.engines) > 1:
            return Cell("published runs of each")
        # Without the place in the source, which is a column or a round.
        return replace(source_cell(answer.stack.released, str(answer.stack.released.value)), where="")

    def loader(answer: WorkloadAnswer) -> str:
        if answer.serving is not None:
            return "none: requests come over the LAN"
        if not is_compressed_image(answer.sample_format):
            return f"reads {FORMAT_NAMES[answer.sample_format]}"
        return words.name(answer.stack.loader) if answer.stack.loader != "none" else "assumed"

    fields = (
        Field[WorkloadAnswer]("Workload", lambda a: a.workload.name, "left", 20),
        Field[WorkloadAnswer]("Stack", stack, "left", 24),
        Field[WorkloadAnswer]("Released", released, "left", 22),
        Field[WorkloadAnswer]("Loader", loader, "left", 20),
        Field[WorkloadAnswer]("Precision", precision_text, "left", 14),
    )
    return record_table("stacks", "Software stack of each workload", design.workloads, fields)


def releases_text(design: DesignAnswer, catalog: Catalog) -> str:
    """Releases that the newest published runs on the GPUs were made with; "" where no run states them."""
    releases = _releases(design, catalog)
    if not releases or design.only_serves:  # of trainings
        return ""
    name = catalog.generations[str(design.platform.gpu.generation)].name
    used = words.listed(f"{release.component} {release.version.value}" for release in releases)
    runs = f"Of the published MLPerf runs on {name} GPUs, the fastest used {used}"
    return f"{runs}; install these releases or newer ones."


def _releases(design: DesignAnswer, catalog: Catalog) -> tuple[Release, ...]:
    """Releases of the generation of the GPUs; the container of language models only where one is trained."""
    generation = design.platform.gpu.generation
    releases = () if generation is None else catalog.generations[generation].releases
    is_language = any(answer.kind.trains_language for answer in design.workloads)
    return tuple(release for release in releases if is_language or "container" not in release.component)
