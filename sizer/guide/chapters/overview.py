"""Chapter 3: the layers from the user to the hardware, the workflow, and the way of one sample through the design."""

from typing import Any

from sizer.base.quantities import by_count
from sizer.drawings.datapath import datapath
from sizer.drawings.layers import layers
from sizer.drawings.workflow import workflow
from sizer.guide.chapters.case import Case
from sizer.present import result_text, words
from sizer.present.figures import drawn


def content(case: Case) -> dict[str, Any]:
    """What ``sections/overview.html`` prints."""
    design = case.design
    return {
        "building_block": building_block(case),
        "layers": drawn("layers", layers(design, case.catalog)) if case.is_full else None,
        "workflow": drawn("workflow", workflow(design)) if case.is_full else None,
        "paths": [
            drawn(f"datapath-{number}", datapath(design, answer, words.sample_unit(answer.dnn)))
            for number, answer in enumerate(case.answers, 1)
        ],
    }


def building_block(case: Case) -> list[str]:
    """What the design is built from, and what it grows by."""
    design, platform = case.design, case.design.platform
    server, gpus = platform.server.name, words.plural(platform.gpus_per_server, "GPU")
    if case.is_single:
        text = (
            f"One {server} with {gpus} does all the work. There is no network between servers to "
            "plan, no scheduler that spreads a job, and no code that has to run on several servers."
        )
    else:
        text = (
            f"The unit of the design is a {server} with {gpus}. "
            f"{words.spelled(design.n_servers).capitalize()} of them work on one job: each computes "
            "on its share of the samples, and after every step they average what they learned over "
            "the fabric."
        )
    return [text, _storage_text(case)]


def _storage_text(case: Case) -> str:
    design, platform = case.design, case.design.platform
    name = platform.storage.name
    if platform.storage.kind == "local":
        return by_count(
            design.n_servers,
            "The data set is copied to the drives of the server before the training; nothing is read "
            "over a network afterwards.",
            "The data set is copied to the drives of every server before the training; nothing is "
            "read over a network afterwards.",
        )
    if platform.attachment == "lan":
        return f"The data stay on {name}, which the customer has; they are read over the local network."
    held = all(answer.cache_hit_fraction >= 1 for answer in case.answers)
    many = max(design.storage_nodes, 1)
    storage = words.capital(result_text.storage_name(design))
    if held and case.is_single:
        return by_count(
            many,
            f"{storage} holds the data. The server reads them once; from the second epoch on they "
            "come from its memory.",
            f"{storage} hold the data. The server reads them once; from the second epoch on they come from its memory.",
        )
    if held:
        return by_count(
            many,
            f"{storage} holds the data. The servers read them once; from the second epoch on they come from memory.",
            f"{storage} hold the data. The servers read them once; from the second epoch on they come from memory.",
        )
    if case.is_single:
        return by_count(
            many,
            f"{storage} holds the data and serves the server for as long as the training lasts.",
            f"{storage} hold the data and serve the server for as long as the training lasts.",
        )
    return by_count(
        many,
        f"{storage} holds the data and serves all servers at once, for as long as the training lasts.",
        f"{storage} hold the data and serve all servers at once, for as long as the training lasts.",
    )
