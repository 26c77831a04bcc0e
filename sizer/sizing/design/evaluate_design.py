"""One design in full: how every workload runs on it, stage by stage, what it is made of and what it costs."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from sizer.base.arrays import Ints
from sizer.base.estimate import Estimate, Spread
from sizer.base.stored_answers import StoredAnswers, stores_by_catalog
from sizer.bom.prices import PriceBook
from sizer.calibrate.calibration import Calibration, host_task_of
from sizer.calibrate.cases import rules
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, Stack
from sizer.perf import pipeline
from sizer.perf.pipeline import bottlenecks, read_demand_bytes_per_s
from sizer.perf.stage_capacity import Capacity
from sizer.physical.components import Quantities
from sizer.physical.layout import building_plan
from sizer.physical.plan import Plan, PlanInputs
from sizer.physical.platform import Platform
from sizer.physical.quantities import NOTHING_EXISTING, existing_use, quantities, slice_row
from sizer.sizing.checks import CheckResult, MissingFact
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import storage_tiers
from sizer.sizing.design.design_checks import conditional_on, design_checks, missing_for_rate
from sizer.sizing.design.money import DesignMoney, design_money
from sizer.sizing.design.rate_models import RateOnDesign, design_rates
from sizer.sizing.design.served_day import with_days
from sizer.sizing.design.storage_need import storage_need
from sizer.sizing.reasons import (
    Binding,
    BudgetOfPricedLines,
    DecodeReason,
    DesignWarning,
    ExchangeReason,
    FewerGpusUsed,
    GpuReason,
    HostLinkReason,
    ManySmallFiles,
    NetworkPart,
    NetworkReason,
    StageReason,
    StorageReason,
    UnknownReadRate,
)
from sizer.sizing.result import DesignAnswer, Scaling, SmallerSize, Stage, TrainingTime, WorkloadAnswer, WorkloadFigures
from sizer.sizing.stages import evaluate, gpu_memory
from sizer.sizing.stages.checkpoints import job_of
from sizer.sizing.stages.gpu_side import gpu_side
from sizer.sizing.stages.language_rates import gpus_at_work, language_answer
from sizer.sizing.stages.platform_columns import node_read_rate, rate_is_unknown, writer_bytes_per_s
from sizer.sizing.stages.serving_rates import ServingAnswer, serving_answer
from sizer.sizing.stages.sharding import looked_up_bytes, step_exchange_bytes
from sizer.sizing.stages.workload_run import WorkloadRun, rate_in_one_server, run_on
from sizer.workload.language import DefaultKind
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.serving import LoadKind, is_served
from sizer.workload.stack_choice import StackChoice, StackEvidence

# The rate of several stages together lies at most so far below the low end of the slowest one. [-]
_NEAR = 0.1


def training_time(run: WorkloadRun) -> TrainingTime | None:
    """Start-up + first (cold) epoch + remaining epochs + evaluations, on the first row of a run.

    None where no length is known, and where the GPUs do not hold the network.
    """
    rate, cold = (part[0] for part in run.rates)
    if run.epochs is None or run.length is None or not rate.value > 0 or (total_s := total_time(run)) is None:
        return None
    length, epoch = run.length[0], _seconds(run.work.n_samples, rate)
    evaluations_s = float(length.value) * evaluate.evaluation_share(run.work) * float(epoch.value)
    spread = float(np.hypot(length.log_sd, rate.log_sd))
    return TrainingTime(
        epochs=run.epochs[0],
        start_up_s=run.calibration.start_up_s,
        first_epoch_s=_seconds(run.work.n_samples, cold),
        epoch_s=epoch,
        evaluations_s=Estimate.log_normal(evaluations_s, spread) if evaluations_s else Estimate.exact(0.0),
        total_s=total_s[0],
        cold_limit=cold_limit(run.cold.storage, float(cold.value)),
        whole_run=None if run.comp.whole_run is None else run.comp.whole_run[0],
    )


def cold_limit(storage: Capacity, rate: float) -> str:
    """Key of the stage that a first epoch waits for which is slower than later ones: storage, or the way to it.

    ``storage``: of the first row, with nothing in a cache. ``rate``: what all stages together reach [samples/s].
    """
    # The slowest of several uncertain stages is slower than the median of each: its lower end tells.
    return "storage" if float(storage.quantile(0.05)[0]) <= (1 + _NEAR) * rate else "network"


def total_time(run: WorkloadRun) -> Estimate | None:
    """Start-up and the run, whose interval is that of its parts, widened by what is not known of its length. [s]

    None where no length is known.
    """
    length, (rate, cold) = run.length, run.rates
    if length is None or run.work.is_inference:
        return None
    value, low, high = (
        evaluate.time_s(run.work, length.value, steady, in_first, 0.0)
        for steady, in_first in ((rate.value, cold.value), (rate.high, cold.high), (rate.low, cold.low))
    )
    shorter = np.exp(np.hypot(np.log(value / low), np.log(length.value / length.low)))
    longer = np.exp(np.hypot(np.log(high / value), np.log(length.high / length.value)))
    start_up_s = run.calibration.start_up_s
    return Estimate(*(np.asarray(start_up_s + run_s) for run_s in (value, value / shorter, value * longer)))


def _seconds(samples: float, rate: Estimate) -> Estimate:
    return Estimate(samples / rate.value, samples / rate.high, samples / rate.low)


# No model makes an outcome certain: tails beyond this are not known.
MOST_CERTAIN = 0.999
# One server fewer says what a smaller design reaches; two fewer, what that design reaches after a loss.
_FEWER = (1, 2)
_FRAMEWORKS = {
    # Without a release of today: MXNet was archived in 2023, Caffe2 joined PyTorch in 2018, Caffe ended before.
    **dict.fromkeys(("caffe", "caffe2", "mxnet"), "PyTorch"),
    "hugectr": "HugeCTR",
    "oneflow": "OneFlow",
    "paddlepaddle": "PaddlePaddle",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
    "tensorrt": "TensorRT",
}


def workload_figures(
    request: SizingRequest, platform: Platform, run: WorkloadRun, missing: Sequence[MissingFact], catalog: Catalog
) -> WorkloadFigures:
    """Figures of one workload on the first row of a run; ``missing``: what decides on its target and nobody gives."""
    n_gpus = int(run.servers[0]) * float(run.cols.gpus_per_server[0])
    work = run.work.on(platform.gpu.id, n_gpus)
    rate, cold_rate = (part[0] for part in run.rates)
    hits = float(run.comp.hit_fraction[0])
    (bottleneck,), (following,) = bottlenecks(run.warm, run.comp.gpu_alone)
    if evaluate.reads_once(work, run.length):
        hits = 0.0  # no later epoch finds anything in a cache
    chance = told_chance(run)
    # An unknown rate counts as its upper bound: a target that is missed with it is missed, a met one is open.
    met = CheckResult.OPEN if missing else CheckResult.MET
    language = language_answer(work, platform, int(n_gpus), catalog)
    serving = serving_answer(work, platform, int(run.servers[0]), int(run.cols.gpus_per_server[0]), catalog)
    rate_stack = design_rates(work, platform.gpu.id).software(work, language, catalog)
    stack = software_on(rate_stack, work.stack_choice, platform.gpu, catalog)
    # Of a model that shares the GPUs with others its own ones count.
    apart = [one for one in (language, serving) if one is not None and not (serving and serving.work.shares_with)]
    used = [one.gpus_used / n_gpus for one in apart]
    core_load = run.comp.core_s_per_sample / (int(run.servers[0]) * float(run.cols.cores[0]))
    # Share of what the GPUs can pass that they do.
    most = float(run.comp.gpu.median[0])
    return WorkloadFigures(
        throughput=rate,
        time=training_time(run),
        storage_bytes_per_s=_reads(rate, work.sample_bytes, hits),
        cold_storage_bytes_per_s=_reads(cold_rate, work.sample_bytes, 0.0 if work.kind.reads_data else 1.0),
        cpu_utilization_fraction=_cpu(rate, core_load, float(run.comp.decode.log_sd.flat[0])),
        gpu_busy_fraction=(min(1.0, passed_rate(rate, serving) / most) if most > 0 else 0.0)
        * (used[0] if used else 1.0),
        cache_hit_fraction=hits,
        bottleneck=bottleneck,
        next_bottleneck=following,
        probability=None if missing else min(chance, MOST_CERTAIN),
        # That first tokens are in time is a condition of its own.
        target_check=met
        if run.target_probability[0] >= evaluate.least_chance(request.confidence)
        else CheckResult.NOT_MET,
        stack=stack,
        rate_stack=rate_stack if rate_stack is not stack else None,
        batch_per_gpu=work.batch_per_gpu,
        language=language,
        serving=serving,
    )


def told_chance(run: WorkloadRun) -> float:
    """Probability that a workload meets its target and its limits of latency; of GPUs that serve that of the rate which
    they are said to keep.
    """
    serving = run.work.serving
    chance = float(run.probability[0])
    return min(chance, serving.confidence) if serving and serving.load_kind is LoadKind.GPUS else chance


def passed_rate(throughput: Estimate, serving: ServingAnswer | None) -> float:
    """Rate at which the design works: of a model in use what is asked, else as fast as it can. [samples/s]"""
    return (serving and serving.work.asked_rate) or float(throughput.value)


def smaller_sizes(
    along: WorkloadRun, platform: Platform, n_servers: int, catalog: Catalog, *, is_open: bool
) -> tuple[SmallerSize, ...]:
    """One and two servers fewer, of a run on sizes that hold the workload; ``is_open``: what decides is not known."""
    run = along.take(np.flatnonzero(np.isin(along.servers, n_servers - np.array(_FEWER)))[::-1])
    if not run.servers.size:
        return ()
    warm, cold = (part.value for part in run.rates)
    time_s = run.time_s(warm, cold)
    return tuple(
        SmallerSize(
            count,
            gpus_at_work(run.work, platform, count, catalog),
            float(warm[index]),
            None if time_s is None else float(time_s[index]),
            None if is_open else min(float(run.probability[index]), MOST_CERTAIN),
        )
        for index, count in enumerate(run.servers.tolist())
    )


def software_on(stack: Stack, choice: StackChoice | None, gpu: Gpu, catalog: Catalog) -> Stack:
    """Software that runs a network on a GPU: of a stack older than the GPU, a release of today of its framework.

    So, too, of a default that was measured with other kinds of network only: its scripts do not run this one.
    """
    if stack.runs_mlperf or stack.trains_own or stack.trains_language or stack.serves_language:
        return stack
    generation = catalog.generations[gpu.generation or ""]
    is_older = generation.introduced is not None and stack.released.value < str(generation.introduced.value)[:7]
    is_of_others = choice is not None and choice.evidence in (StackEvidence.SEVERAL_FAMILIES, StackEvidence.NONE)
    if not is_older and not is_of_others:
        return stack
    # At the rate of what was measured, which the notes of the fit name.
    name = _FRAMEWORKS.get(stack.framework, stack.framework)
    return stack.model_copy(update={"name": f"a current release of {name}"})


def _reads(rate: Estimate, sample_bytes: float, hit_fraction: float) -> Estimate:
    value, low, high = (read_demand_bytes_per_s(end, sample_bytes, hit_fraction) for end in rate)
    return Estimate(value, low, high)


def _cpu(rate: Estimate, core_s_per_sample_per_core: float, decode_log_sd: float) -> Estimate:
    """Load of the host cores: rate x cost of a sample; both spread. Never above 1: then decode is the bottleneck."""
    spread = float(np.hypot(rate.log_sd, decode_log_sd))
    load = Estimate.log_normal(rate.value * core_s_per_sample_per_core, spread)
    return Estimate(np.minimum(load.value, 1.0), np.minimum(load.low, 1.0), np.minimum(load.high, 1.0))


SourcedReason = tuple[StageReason, tuple[str, ...]]


def stage_reasons(
    work: ResolvedWorkload, platform: Platform, run: WorkloadRun, storage_nodes: int
) -> dict[str, SourcedReason]:
    """Reason and sources of every stage, by its key, for the first size of a run with its storage nodes."""
    link_sources = tuple(dict.fromkeys(port.source for port in platform.server.ports if port.use == "compute"))
    n_gpus, kind = int(run.cols.gpus_per_server[0]), (work.is_inference, work.is_laid_out)
    gpu = GpuReason(platform.gpu.name, n_gpus, work.batch_per_gpu, work.stack.name, *kind)
    return {
        "storage": _storage(work, platform, run, storage_nodes),
        "network": (_network(work, platform, run), link_sources),
        "decode": _decode(work, run),
        "host_link": _host_link(work, platform, run),
        "gpu": (gpu, ()),
        "exchange": (_exchange(work, platform, run), link_sources),
    }


def _decode(work: ResolvedWorkload, run: WorkloadRun) -> SourcedReason:
    host = run.comp.host
    reason = DecodeReason(
        core_s_per_sample=run.comp.core_s_per_sample,
        n_cores=float(run.cols.cores[0]),
        loader=work.stack.loader,
        sample_format=work.sample_format,
        basis=work.format_basis,
        fixed_core_s=host.fixed_core_s,
        core_s_per_byte=host.core_s_per_byte,
    )
    # A line without documents is an assumption.
    return reason, tuple(rules("host_sources").get(host_task_of(work.sample_format, work.stack).line, ()))


def _storage(work: ResolvedWorkload, platform: Platform, run: WorkloadRun, nodes: int) -> SourcedReason:
    storage = platform.storage
    rate = node_read_rate(storage)
    cache = storage.cache_bytes_per_node
    cached = None if cache is None or not nodes else min(1.0, nodes * cache.value / work.dataset_bytes)
    sources = () if rate is None else rate.sources
    reason = StorageReason(
        is_local=storage.kind == "local",
        read_low_bytes_per_s=None if rate is None else rate.low.value,
        read_high_bytes_per_s=None if rate is None else rate.high.value,
        line_bytes_per_s=float(run.cols.node_line_bytes_per_s[0]),
        sample_bytes=work.sample_bytes,
        hit_fraction=float(run.comp.hit_fraction[0]),
        node_memory_fraction=cached,
    )
    return reason, tuple(dict.fromkeys((*sources, cache.source) if cache is not None else sources))


def _network(work: ResolvedWorkload, platform: Platform, run: WorkloadRun) -> NetworkReason:
    side, exchanged = run.side, float(run.comp.exchanged_bytes[0])
    front_end, gateway = float(side.front_end_bytes_per_s[0]), float(side.gateway_bytes_per_s[0])
    read = float(pipeline.read_demand_bytes_per_s(1.0, work.sample_bytes, run.comp.hit_fraction)[0])
    # Of a sample that is read from a cache, its share of the exchange is all that the servers' ports carry.
    moved = {NetworkPart.SERVERS: read + exchanged, NetworkPart.GATEWAY: read, NetworkPart.STORAGE: read}
    ends = (float(side.server_nic_bytes_per_s[0]), gateway, front_end)
    rates = {part: rate / moved[part] if moved[part] else math.inf for part, rate in zip(moved, ends, strict=True)}
    return NetworkReason(
        link=None if platform.storage.kind == "local" else platform.fabric,
        server_bytes_per_s=float(run.cols.storage_nic_bytes_per_s[0]),
        exchanged_bytes_per_sample=exchanged,
        gateway_bytes_per_s=None if platform.gateway is None else gateway,
        storage_bytes_per_s=front_end if math.isfinite(front_end) else None,
        decided_by=min(rates, key=lambda part: rates[part]),
    )


def _host_link(work: ResolvedWorkload, platform: Platform, run: WorkloadRun) -> SourcedReason:
    cols, server = run.cols, platform.server
    links = int(min(cols.gpus_per_server[0], cols.host_links[0]))
    size = pipeline.link_sample_bytes(work.dnn.input_bytes.value)
    rate = float(run.comp.host_link.median[0]) * size / (float(run.servers[0]) * links)
    sources = () if server.host_links is None else (server.host_links.source,)
    return HostLinkReason(links, rate, size), sources


def _exchange(work: ResolvedWorkload, platform: Platform, run: WorkloadRun) -> ExchangeReason:
    size = step_exchange_bytes(work)
    inside = platform.server.intra_link.value.family if platform.server.intra_link is not None else "PCIe"
    link = inside if run.servers[0] == 1 else None
    is_in_step = design_rates(work, platform.gpu.id).exchange_is_in_step
    has_tables = size is not None and looked_up_bytes(work) > 0
    return ExchangeReason(size, link, float(run.cols.exchange_bytes_per_s[0]), is_in_step, has_tables)


# Sizes of the scaling chart go this far beyond the design, so that the next bottleneck shows.
_SCALING_BEYOND = 2
_SCALING_MOST = 64
# The expected rate is a median: it is reached as often as it is missed.
_EVEN_ODDS = 0.5


# Of designs up to so many servers: the plan of a larger one takes more memory than it is worth.
_MOST_STORED = 64
_stored: Callable[[Catalog], StoredAnswers[tuple[Quantities, Plan]]] = stores_by_catalog(64)


def room_of(asked: SizingRequest | PlanInputs, catalog: Catalog) -> dict[str, Any]:
    """What the counts and the plan of any size of a platform take of a request, or of what a plan was laid out from."""
    parts = {"limits": asked.limits, "existing": asked.existing, "fabric": asked.fabric}
    return {"catalog": catalog, **parts}


def built_design(
    request: SizingRequest,
    platform: Platform,
    n_servers: int,
    storage_nodes: int,
    catalog: Catalog,
    counted: Callable[[], Quantities] | None = None,
) -> tuple[Quantities, Plan]:
    """Parts and plan of one design of so many servers and storage nodes, the cables by their measured lengths.

    ``counted`` gives its parts as a search counts them. Small designs are stored: many requests end at the same one.
    """
    platform = platform.of_size(n_servers)
    unused, rows = unused_software(request, catalog), request.site.racks_per_row

    def build() -> tuple[Quantities, Plan]:
        room = room_of(request, catalog)
        parts = counted() if counted else slice_row(quantities(platform, [n_servers], [storage_nodes], **room), 0)
        plan = building_plan(platform, parts, n_servers, storage_nodes, **room, racks_per_row=rows)
        # What stands at a desk has nothing of the rack that its plan draws it in.
        is_at_desk = platform.server.is_workstation
        useful = tuple(
            part
            for part in plan.components
            if part.item not in unused and not (is_at_desk and part.category == "rack and power")
        )
        return replace(parts, components=useful), plan

    if request.existing != NOTHING_EXISTING or n_servers > _MOST_STORED:
        return build()
    # Of the room's limits only what a rack is fed with changes how a design is built.
    key = (platform, n_servers, storage_nodes, request.limits.rack_power_w, request.fabric, rows, unused)
    return _stored(catalog).get(key, build)


def design_answer(
    request: SizingRequest,
    works: Sequence[ResolvedWorkload],
    platform: Platform,
    n_servers: int,
    storage_nodes: int,
    catalog: Catalog,
    calibration: Calibration,
    prices: PriceBook,
    binding: Binding,
    is_documented: bool = True,
    counted: Callable[[], Quantities] | None = None,
) -> DesignAnswer:
    """Everything about one design. ``is_documented`` adds the nearest published measurements, which take time.

    ``counted`` gives what it is made of as a search counts it.
    """
    platform = platform.of_size(n_servers)
    parts, plan = built_design(request, platform, n_servers, storage_nodes, catalog, counted)
    gateway = float(parts.gateway_bytes_per_s[0])
    runs = [
        run_on(request, work, platform, [n_servers], storage_nodes, gateway, catalog, calibration) for work in works
    ]
    missing = [missing_for_rate(platform, run, catalog) for run in runs]
    answers = [
        _workload_answer(request, platform, run, unknown, catalog, is_documented)
        for run, unknown in zip(runs, missing, strict=True)
    ]
    unknown = conditional_on(platform, missing, parts.unknown_power, request.limits, catalog)
    tiers = storage_tiers(platform, storage_nodes, storage_demand(works, request.data), request.data)
    money = design_money(request, platform, parts, plan, catalog, prices, answers, is_documented=is_documented)
    design = DesignAnswer(
        platform=platform,
        n_servers=n_servers,
        n_gpus=n_servers * platform.gpus_per_server,
        storage_nodes=storage_nodes,
        workloads=tuple(answers),
        tiers=tiers,
        quantities=parts,
        plan=plan,
        bill=money.bill,
        probability=None if unknown else min(prod(told_chance(run) for run in runs), MOST_CERTAIN),
        binding=binding,
        warnings=(
            *_design_warnings(platform, request, money),
            *_small_files(answers, n_servers if platform.storage.kind == "local" else max(storage_nodes, 1)),
        ),
        existing=existing_use(platform, parts.components, request.existing, catalog),
        conditional_on=unknown,
        checks=(*design_checks(request, tiers, platform, parts, plan, catalog), *money.checks),
        storage_need=storage_need(request, platform, runs, catalog),
        cost=money.cost,
        owned=money.owned,
    )
    return with_days(design, request, runs, catalog, prices)


def unused_software(request: SizingRequest, catalog: Catalog) -> tuple[str, ...]:
    """Ids of the software that none of the workloads can use."""
    named = [work.dnn for work in request.workload if isinstance(work.dnn, str)]
    has_images = any(catalog.dnns[name].sample == "image" for name in named if name in catalog.dnns)
    used = {"images": has_images, "training": not all(map(is_served, request.workload))}
    return tuple(item.id for item in catalog.software.values() if item.only_for and not used[item.only_for])


def _workload_answer(
    request: SizingRequest,
    platform: Platform,
    run: WorkloadRun,
    missing: Sequence[MissingFact],
    catalog: Catalog,
    is_documented: bool,
) -> WorkloadAnswer:
    n_servers, storage_nodes, by_size, calibration = int(run.servers[0]), int(run.nodes[0]), run.work, run.calibration
    work = by_size.on(platform.gpu.id, n_servers * float(run.cols.gpus_per_server[0]))
    along, even, chance = run, None, None
    smaller: tuple[SmallerSize, ...] = ()
    if is_documented:
        # The sizes of the chart, and all up to the design: the rate of a language model does not grow in proportion.
        chart = _sizes(n_servers)
        counts = np.union1d(chart, np.arange(1, n_servers + 1))
        gateway = float(run.gateway_bytes_per_s[0])
        every = run_on(request, by_size, platform, counts, storage_nodes, gateway, catalog, calibration)
        # Of several models in use those of too few servers have no GPUs: they hold them, and serve nothing.
        fits = gpu_memory.all_fit([by_size], every.hosts(platform, catalog)) & (every.comp.gpu.median > 0)
        meets = (every.probability >= evaluate.least_chance(_EVEN_ODDS)) & (counts <= n_servers)
        if meets.any() and not missing:
            even, chance = int(counts[np.argmax(meets)]), float(every.probability[np.argmax(meets)])
        smaller = smaller_sizes(every.take(np.flatnonzero(fits)), platform, n_servers, catalog, is_open=bool(missing))
        shown = np.flatnonzero(fits & np.isin(counts, chart))
        along = every.take(shown if shown.size else np.flatnonzero(counts == n_servers))
    rate = run.rates[0][0]
    figures = workload_figures(request, platform, run, missing, catalog)
    n_gpus = n_servers * float(run.cols.gpus_per_server[0])
    required = evaluate.required_samples_per_s(work, run.length, calibration)
    gpu, language = platform.gpu, figures.language
    model = design_rates(work, gpu.id)
    on_design = RateOnDesign(work, platform, int(n_gpus), n_servers, catalog, calibration)
    missing_runs, reach = model.beyond(on_design)
    if (divided := language or figures.serving) is not None:
        memory = gpu_memory.memory_of_layout(divided, gpu)
    else:
        memory = gpu_memory.memory_answer(work, gpu_memory.memory_of(work, calibration, catalog), gpu, n_gpus)
    writer = writer_bytes_per_s(platform, storage_nodes, catalog)
    own = job_of(work.checkpoints, work.dnn.parameters.value, int(n_gpus), writer)
    job = language.job if language else own
    return WorkloadAnswer(
        **vars(figures),
        workload=work.request,
        dnn=work.dnn,
        dataset=work.dataset,
        recipe=work.recipe,
        memory=memory,
        dataset_bytes=work.dataset_bytes,
        sample_bytes=work.sample_bytes,
        sample_format=work.sample_format,
        format_basis=work.format_basis,
        scaling_efficiency=scaling_efficiency_of(platform, run, along, float(rate.value), catalog),
        job=job,
        exchanged_bytes=step_exchange_bytes(work),
        stages=_stage_list(work, platform, run, storage_nodes, figures),
        scaling=Scaling(
            n_servers=along.servers.astype(float),
            n_gpus=along.servers * along.cols.gpus_per_server,
            throughput=along.rates[0],
            stage_capacity={
                key: np.broadcast_to(value.median, along.servers.shape) for key, value in along.warm.by_key().items()
            },
            time_s=total_time(along) if rate.value > 0 else None,
            epochs=along.epochs,
        ),
        before_measured=_before_measured(work, platform, run, catalog),
        gpu_spread=Spread.of(run.comp.gpu.log_sd[0], run.comp.within_log_sd[0], run.comp.between_log_sd),
        extrapolations=reach,
        unmeasured=missing_runs,
        evidence=model.peers(on_design) if is_documented else (),
        warnings=work.warnings,
        stack_choice=work.stack_choice,
        required_samples_per_s=None if required is None else float(required.flat[0]),
        smaller=smaller,
        servers_at_even_odds=even,
        chance_at_even_odds=chance,
        batch_is_fitted=any(one.kind is DefaultKind.BATCH_PER_GPU for one in work.defaults) and not work.is_inference,
    )


def scaling_efficiency_of(
    platform: Platform, run: WorkloadRun, along: WorkloadRun, rate: float, catalog: Catalog
) -> float:
    """Rate of a GPU of the design over that of one alone, or in the fewest servers; 0 where GPUs hold no network."""
    if not rate > 0:
        return 0.0
    fewest, here = (
        float(one.comp.gpu.median[0] / (one.servers[0] * one.cols.gpus_per_server[0])) for one in (along, run)
    )
    if run.work.is_laid_out:
        # Rate of one GPU over that in the fewest servers that hold the model; above 1 where more GPUs suit it better.
        return here / fewest
    n_gpus = float(run.servers[0] * run.cols.gpus_per_server[0])
    # Rate of one GPU on its own, which no run may have shown: no less than each does without exchange, or in the fewest
    # servers. [samples/s]
    least = max(float(run.comp.gpu_alone[0] / n_gpus), fewest)
    alone = rate_in_one_server(run.work.on(platform.gpu.id, n_gpus), platform, run.cols, 1, catalog, run.calibration)
    return min(rate / n_gpus / (least if alone is None else max(float(alone.value), least)), 1.0)


def _before_measured(work: ResolvedWorkload, platform: Platform, run: WorkloadRun, catalog: Catalog) -> Estimate | None:
    """Rate of the GPUs as it is predicted without the rates that the customer measured. [samples/s]"""
    if not work.request.measured:
        return None
    language = work.language and replace(work.language, measured=())
    serving = work.serving and replace(work.serving, measured=())
    unmeasured = work.request.model_copy(update={"measured": ()})
    before = replace(work, request=unmeasured, language=language, serving=serving)
    return gpu_side(before, run.hosts(platform, catalog)).gpu.estimate()[0]


def _stage_list(
    work: ResolvedWorkload, platform: Platform, run: WorkloadRun, storage_nodes: int, figures: WorkloadFigures
) -> tuple[Stage, ...]:
    rate = passed_rate(figures.throughput, figures.serving)
    reasons = stage_reasons(work, platform, run, storage_nodes)
    stages = []
    for key, capacity in run.warm.by_key().items():
        median = float(capacity.median.flat[0])
        reason, sources = reasons[key]
        stages.append(
            Stage(
                key=key,
                capacity=capacity.estimate()[0],
                load_fraction=min(1.0, rate / median) if np.isfinite(median) and median > 0 else 0.0,
                is_limiting=key == figures.bottleneck,
                reason=reason,
                sources=sources,
            )
        )
    return tuple(stages)


# Files below this size cost their lookup rather than their bytes, and so many opens a second are usual of a node.
# Assumed: systems that publish opens of small files (IO500 mdtest) spread over two orders of magnitude.
_SMALL_FILE_BYTES, _FILES_PER_NODE_S = 64e3, 5_000.0


def _sizes(n_servers: int) -> Ints:
    """Servers of the clusters that the scaling chart shows."""
    most = max(_SCALING_BEYOND * n_servers, 4)
    return np.unique(np.round(np.linspace(1, most, min(most, _SCALING_MOST))).astype(np.int64))


def _design_warnings(platform: Platform, request: SizingRequest, money: DesignMoney) -> Iterator[DesignWarning]:
    if rate_is_unknown(platform.storage):
        yield UnknownReadRate()
    used = request.platforms.gpus_per_server
    if used is not None and used < platform.gpus_per_server:
        yield FewerGpusUsed(used)
    if money.budget_is_open:
        yield BudgetOfPricedLines()


def _small_files(answers: Sequence[WorkloadAnswer], nodes: int) -> Iterator[DesignWarning]:
    for answer in answers:
        needed = answer.required_samples_per_s
        rate = (float(answer.throughput.value) if needed is None else needed) * (1 - answer.cache_hit_fraction)
        is_small = answer.dataset.format == "raw files" and answer.sample_bytes < _SMALL_FILE_BYTES
        if is_small and answer.kind.has_files and rate > _FILES_PER_NODE_S * nodes:
            yield ManySmallFiles(answer.workload.name, rate, rate / nodes)
