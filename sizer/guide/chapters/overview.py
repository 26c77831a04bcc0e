"""Chapter with the overview: design principles, building block, workflow, data path."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from sizer.base.quantities import by_count, grouped
from sizer.calibrate.notes import FitNote
from sizer.drawings.datapath import datapath
from sizer.drawings.workflow import workflow
from sizer.guide.context import GuideContext
from sizer.present import words
from sizer.present.figures import drawn
from sizer.present.tables import Table, fact_table
from sizer.present.text import result_text
from sizer.present.text.design_size import asked_target_text
from sizer.present.text.layouts import rate_basis_text
from sizer.present.text.plan import feed_loss_is_open, keeps_too_few_supplies, unknown_power_names
from sizer.present.text.redundancy import ONE_LOST
from sizer.present.text.verdict import BEST_BY_KEY
from sizer.sizing.reasons import SelectionKind
from sizer.sizing.result import SizingResult, WorkloadAnswer


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/overview.html`` prints."""
    design = context.design
    return {
        "principles": principles_table(context),
        "building_block": building_block(context),
        "exchanges": not context.is_single and any(answer.workload.task == "training" for answer in context.answers),
        "is_pretraining": all(answer.language is not None for answer in context.answers),
        # What only serves has no way from data to a model, and no data that stages read.
        "workflow": drawn("workflow", workflow(design)) if not _only_serves(context) else None,
        "paths": [
            drawn(f"datapath-{number}", datapath(design, answer, words.sample_unit(answer.dnn)))
            for number, answer in enumerate(context.answers, 1)
            if answer.rate_is_predicted and answer.serving is None
        ],
    }


def _only_serves(context: GuideContext) -> bool:
    return all(answer.serving is not None for answer in context.answers)


def principles_table(context: GuideContext) -> Table:
    """Design principles, each with what it means in this design."""
    titles = ("Principle", "In this design")
    rows = tuple(_principles(context))
    return fact_table("principles", "Design principles", rows, titles=titles, widths=(36, 64), style="")


def _principles(context: GuideContext) -> Iterator[tuple[str, str]]:
    design, answers = context.design, context.answers
    targets = words.listed(asked_target_text(context.result, answer) for answer in answers)
    if context.result.maximum is not None:
        yield "Size for the limits, not for the product", words.capital(targets)
    else:
        yield "Size for the target, not for the product", f"{_best_text(context.result)} for a target of {targets}"
    waiting = [answer for answer in answers if answer.bottleneck not in ("gpu", "exchange")]
    if not all(answer.rate_is_predicted for answer in answers):
        yield "High GPU utilization", "Rates are not predicted: no GPU of this generation was measured"
    elif waiting:
        stages = words.listed(dict.fromkeys(words.stage(answer.bottleneck, inside=True) for answer in waiting))
        yield "High GPU utilization", f"Limited by {stages}: faster GPUs would bring little"
    else:
        ratio = min(_headroom(answer) for answer in answers)
        yield "High GPU utilization", f"Every stage before the GPUs has {words.headroom(ratio)}"
    yield "Rates from published measurements", _runs_text(answers)
    rule = design.platform.site.feeds
    if rule != "N" and any(rack.feeds for rack in design.plan.racks):
        title = "Either power feed carries every rack" if rule == "2N" else "Every rack tolerates the loss of a feed"
        text = "Dual-corded devices tolerate the loss of a feed"
        if keeps_too_few_supplies(design.plan):
            text = "The feeds do; some devices keep too few power supplies for their full draw, see power and racks"
        elif feed_loss_is_open(design.plan):
            text = "The feeds do; how many power supplies some devices need is not published, see power and racks"
        unknown = unknown_power_names(design.plan)
        if unknown:
            text = f"Open: the maximum power of {words.listed(unknown)} is not published"
        yield title, text
    open_losses = {failure.loss for failure in context.failures if failure.keeps_targets is not True}
    losses = [ONE_LOST[loss] for loss in context.tolerated_losses if loss not in open_losses]
    if losses:
        yield "Redundancy where it was requested", f"Targets are met after the loss of {words.listed(losses, 'or')}"
    yield "Every number has a source", "Sources are listed at the end; what no source gives is marked as assumed"


def _best_text(result: SizingResult) -> str:
    """What the design is the best by."""
    selection = result.selection
    if selection.kind in (SelectionKind.CHEAPEST, SelectionKind.LIKELY_CHEAPEST):
        is_known = selection.kind is SelectionKind.CHEAPEST
        return "Lowest cost" if is_known else "Lowest expected cost (price ranges, not yet quotes)"
    if selection.kind is SelectionKind.RANKED and selection.rank_by in BEST_BY_KEY:
        return words.capital(BEST_BY_KEY[selection.rank_by])
    return "Sized"


def _runs_text(answers: Sequence[WorkloadAnswer]) -> str:
    """Published runs that the rates rest on."""
    if len(answers) == 1 and answers[0].language is not None:
        return words.capital(rate_basis_text(answers[0].language))
    if all(answer.serving is not None for answer in answers):
        return "Fitted to published serving runs; the intervals hold what engines, models and GPUs differ by"
    n_runs = sum(len(answer.evidence) for answer in answers)
    if not n_runs:
        return "No published run is close; the intervals are wide"
    runs = by_count(n_runs, "one published run", f"{grouped(n_runs)} published runs")
    if any(note.kind is FitNote.DNN_FROM_LIKE for answer in answers for note in answer.unmeasured):
        return f"Compared with {runs} of related neural networks; none trains exactly this one"
    return f"Compared with {runs} close to {by_count(len(answers), 'this workload', 'these workloads')}"


def _headroom(answer: WorkloadAnswer) -> float:
    """Lowest capacity of the stages before the GPUs over the projected rate."""
    rate = float(answer.throughput.value)
    before = ("storage", "network", "decode", "host_link")
    return min(float(stage.capacity.value) / rate for stage in answer.stages if stage.key in before)


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
        if _only_serves(context):
            work = "requests are shared among the replicas of the model by a load balancer in front of them"
        if all(answer.language is not None for answer in context.answers):
            work = "model and batch are divided over their GPUs, which exchange results over the fabric"
        block = f"The building block is {words.with_article(server)} with {gpus}"
        text = f"{block}. {count} of them run one job together: {work}."
    return [text, _data_text(context)]


def _data_text(context: GuideContext) -> str:
    design, storage = context.design, context.design.platform.storage
    if _only_serves(context):
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
