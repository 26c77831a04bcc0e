"""Chapter with the overview: key figures, the cluster as a drawing, building block, workflow, data path."""

import math
from typing import Any

from sizer.drawings.cluster import Cluster
from sizer.drawings.datapath import datapath
from sizer.drawings.palette import COLUMN_PX
from sizer.drawings.topology import grouped_topology, topology
from sizer.drawings.workflow import workflow
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.figures import PageFigure, drawn
from sizer.present.text import result_text
from sizer.sizing.result import DesignAnswer

# Of the drawing: a higher one is set too small to read; its management network is left out.
_MOST_HEIGHT_PX = 480
# Boxes of the drawing that are servers.
_SERVERS = ("servers", "head", "ufm")


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/overview.html`` prints."""
    design = context.design
    return {
        "reasons": result_text.reason(context.result),
        "picture": picture(design),
        "building_block": building_block(context),
        "exchanges": not context.is_single and any(answer.workload.task == "training" for answer in context.answers),
        "is_pretraining": all(answer.kind.trains_language for answer in context.answers),
        # What only serves has no way from data to a model, and no data that stages read.
        "workflow": drawn("workflow", workflow(design)) if not context.only_serves else None,
        "paths": [
            drawn(f"datapath-{number}", datapath(design, answer, words.sample_unit(answer.dnn)))
            for number, answer in enumerate(context.answers, 1)
            if answer.rate_is_predicted and answer.kind.reads_data
        ],
    }


def picture(design: DesignAnswer) -> PageFigure:
    """The cluster in the width of the text column; a large one grouped by device type."""
    drawing = topology(design)
    if drawing.width > COLUMN_PX:
        drawing = grouped_topology(Cluster(design))
    if drawing.height > _MOST_HEIGHT_PX:
        drawing = grouped_topology(Cluster(design), is_low=True)
    # Servers with cables to switches of the storage: only the colour tells them from those of the compute fabric.
    is_apart = any(link.role == "storage" and link.count and link.source in _SERVERS for link in drawing.links)
    colours = ["Blue: cables of the storage; purple: of other networks."] if is_apart else []
    if any(link.dashed for link in drawing.links):
        colours.append("Dashed: management.")
    return drawn("at-a-glance", drawing, " ".join(colours))


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
    readers = "the server" if context.is_single else "all servers concurrently"
    return f"{name} {verb} the data and {serve} {readers} throughout the run."
