"""Chapter with the overview: building block, layers from the user to the hardware, workflow, data path."""

from typing import Any

from sizer.drawings.datapath import datapath
from sizer.drawings.layers import layers
from sizer.drawings.workflow import workflow
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.figures import drawn
from sizer.present.text import result_text


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/overview.html`` prints."""
    design = context.design
    return {
        "building_block": building_block(context),
        "layers": drawn("layers", layers(design, context.catalog)) if context.is_full else None,
        "workflow": drawn("workflow", workflow(design)) if context.is_full else None,
        "paths": [
            drawn(f"datapath-{number}", datapath(design, answer, words.sample_unit(answer.dnn)))
            for number, answer in enumerate(context.answers, 1)
        ],
    }


def building_block(context: GuideContext) -> list[str]:
    """The building block of the design, and where the data is."""
    design, platform = context.design, context.design.platform
    server, gpus = platform.server.name, words.plural(platform.gpus_per_server, "GPU")
    if context.is_single:
        text = (
            f"One {server} with {gpus} runs the whole workload. "
            "It needs no fabric between servers, no multi-server scheduler and no multi-server training code."
        )
    else:
        count = words.capital(words.spelled(design.n_servers))
        is_training = any(answer.workload.task == "training" for answer in context.answers)
        exchange = ", and after every step they exchange gradients over the fabric" if is_training else ""
        text = (
            f"The building block is a {server} with {gpus}. "
            f"{count} of them run one job together: each processes its share of the samples{exchange}."
        )
    return [text, _data_text(context)]


def _data_text(context: GuideContext) -> str:
    design, storage = context.design, context.design.platform.storage
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
