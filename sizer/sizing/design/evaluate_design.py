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
from sizer.calibrate.rules import rules
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.perf import pipeline
from sizer.physical.components import Quantities
from sizer.physical.layout import building_plan
from sizer.physical.plan import Plan
from sizer.physical.platform import Platform
from sizer.physical.quantities import NOTHING_EXISTING, existing_use, quantities, slice_row
from sizer.sizing.checks import MissingFact
from sizer.sizing.constraints.stored_data import storage_demand
from sizer.sizing.constraints.tiers import storage_tiers
from sizer.sizing.design.design_checks import conditional_on, design_checks, missing_for_rate
from sizer.sizing.design.money import DesignMoney, design_money
from sizer.sizing.design.rate_models import RateOnDesign, design_rates
from sizer.sizing.design.served_day import with_days
from sizer.sizing.design.storage_need import storage_need
from sizer.sizing.design.workload_figures import (
    MOST_CERTAIN,
    WorkloadFigures,
    passed_rate,
    smaller_sizes,
    told_chance,
    total_time,
    workload_figures,
)
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
from sizer.sizing.result import DesignAnswer, Scaling, SmallerSize, Stage, WorkloadAnswer
from sizer.sizing.stages import evaluate, gpu_memory
from sizer.sizing.stages.checkpoints import job_of
from sizer.sizing.stages.gpu_side import gpu_side
from sizer.sizing.stages.platform_columns import node_read_rate, rate_is_unknown, writer_bytes_per_s
from sizer.sizing.stages.sharding import looked_up_bytes, step_exchange_bytes
from sizer.sizing.stages.workload_run import WorkloadRun, rate_in_one_server, run_on
from sizer.workload.language import DefaultKind
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.serving import is_served

SourcedReason = tuple[StageReason, tuple[str, ...]]


def stage_reasons(
    work: ResolvedWorkload, platform: Platform, run: WorkloadRun, storage_nodes: int
) -> dict[str, SourcedReason]:
    """Reason and sources of every stage, by its key, for the first size of a run with its storage nodes."""
    link_sources = tuple(dict.fromkeys(port.source for port in platform.server.ports if port.use == "compute"))
    return {
        "storage": _storage(work, platform, run, storage_nodes),
        "network": (_network(work, platform, run), link_sources),
        "decode": _decode(work, run),
        "host_link": _host_link(work, platform, run),
        "gpu": (_gpu(work, platform, run), ()),
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


def _gpu(work: ResolvedWorkload, platform: Platform, run: WorkloadRun) -> GpuReason:
    n_gpus = int(run.cols.gpus_per_server[0])
    has_layout = work.is_laid_out
    return GpuReason(platform.gpu.name, n_gpus, work.batch_per_gpu, work.stack.name, work.is_inference, has_layout)


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
        room: dict[str, Any] = {
            "catalog": catalog,
            "limits": request.limits,
            "existing": request.existing,
            "fabric": request.fabric,
        }
        if counted is None:
            parts = slice_row(quantities(platform, [n_servers], [storage_nodes], **room), 0)
        else:
            parts = counted()
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
        _workload_answer(
            request, work, platform, run, unknown, storage_nodes, gateway, catalog, calibration, is_documented
        )
        for work, run, unknown in zip(works, runs, missing, strict=True)
    ]
    unknown = conditional_on(platform, missing, parts.unknown_power, request.limits, catalog)
    tiers = storage_tiers(platform, storage_nodes, storage_demand(works, request.data), request.data)
    money = design_money(request, platform, parts, plan, catalog, prices, is_documented=is_documented)
    found = DesignAnswer(
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
        storage_need=storage_need(request, works, platform, runs, catalog),
        cost=money.cost,
        owned=money.owned,
    )
    return with_days(found, request, runs, catalog, prices)


def unused_software(request: SizingRequest, catalog: Catalog) -> tuple[str, ...]:
    """Ids of the software that none of the workloads can use."""
    named = [work.dnn for work in request.workload if isinstance(work.dnn, str)]
    has_images = any(catalog.dnns[name].sample == "image" for name in named if name in catalog.dnns)
    used = {"images": has_images, "training": not all(map(is_served, request.workload))}
    return tuple(item.id for item in catalog.software.values() if item.only_for and not used[item.only_for])


def _workload_answer(
    request: SizingRequest,
    work: ResolvedWorkload,
    platform: Platform,
    run: WorkloadRun,
    missing: Sequence[MissingFact],
    storage_nodes: int,
    gateway: float,
    catalog: Catalog,
    calibration: Calibration,
    is_documented: bool,
) -> WorkloadAnswer:
    n_servers = int(run.servers[0])
    by_size = work.on(platform.gpu.id)
    work = by_size.on(platform.gpu.id, n_servers * float(run.cols.gpus_per_server[0]))
    along, even, chance = run, None, None
    smaller: tuple[SmallerSize, ...] = ()
    if is_documented:
        # The sizes of the chart, and all up to the design: the rate of a language model does not grow in proportion.
        chart = _sizes(n_servers)
        counts = np.union1d(chart, np.arange(1, n_servers + 1))
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
    writer = writer_bytes_per_s(platform, storage_nodes, catalog)
    own = job_of(work.checkpoints, work.dnn.parameters.value, int(n_gpus), writer)
    job = language.job if language else own
    return WorkloadAnswer(
        **vars(figures),
        workload=work.request,
        dnn=work.dnn,
        dataset=work.dataset,
        recipe=work.recipe,
        memory=_memory(work, figures, gpu, n_gpus, calibration, catalog),
        dataset_bytes=work.dataset_bytes,
        sample_bytes=work.sample_bytes,
        sample_format=work.sample_format,
        format_basis=work.format_basis,
        scaling_efficiency=scaling_efficiency_of(work, platform, run, along, float(rate.value), catalog, calibration),
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


def _memory(
    work: ResolvedWorkload,
    figures: WorkloadFigures,
    gpu: Gpu,
    n_gpus: float,
    calibration: Calibration,
    catalog: Catalog,
) -> gpu_memory.MemoryAnswer:
    """Memory of each GPU: of what a layout divides by that."""
    divided = figures.language or figures.serving
    if divided is not None:
        return gpu_memory.memory_of_layout(divided, gpu)
    return gpu_memory.memory_answer(work, gpu_memory.memory_of(work, calibration, catalog), gpu, n_gpus)


def scaling_efficiency_of(
    work: ResolvedWorkload,
    platform: Platform,
    run: WorkloadRun,
    along: WorkloadRun,
    rate: float,
    catalog: Catalog,
    calibration: Calibration,
) -> float:
    """Rate of a GPU of the design over that of one alone, or in the fewest servers; 0 where GPUs hold no network."""
    if not rate > 0:
        return 0.0
    fewest, here = (
        float(one.comp.gpu.median[0] / (one.servers[0] * one.cols.gpus_per_server[0])) for one in (along, run)
    )
    if work.is_laid_out:
        # Rate of one GPU over that in the fewest servers that hold the model; above 1 where more GPUs suit it better.
        return here / fewest
    n_gpus = float(run.servers[0] * run.cols.gpus_per_server[0])
    # Rate of one GPU on its own, which no run may have shown: no less than each does without exchange, or in the fewest
    # servers. [samples/s]
    least = max(float(run.comp.gpu_alone[0] / n_gpus), fewest)
    alone = rate_in_one_server(work, platform, run.cols, 1, catalog, calibration)
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
