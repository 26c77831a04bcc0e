"""One design in full: how every workload runs on it, stage by stage, what it is made of and what it costs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from sizer.base.arrays import Ints
from sizer.base.estimate import Estimate, Spread
from sizer.bom.lines import row_cost
from sizer.bom.prices import PriceBook
from sizer.calibrate.calibration import Calibration, host_task_of
from sizer.calibrate.extrapolation import extrapolations, unmeasured
from sizer.calibrate.notes import CalibrationNote, FitNote
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Stack
from sizer.perf import pipeline
from sizer.physical.components import Component, Quantities
from sizer.physical.existing_use import existing_use
from sizer.physical.layout import building_plan
from sizer.physical.networks.cables import BETWEEN_RACKS_M, IN_RACK_M
from sizer.physical.plan import CABLE_CATEGORY
from sizer.physical.platform import Platform
from sizer.physical.quantities import quantities, slice_row
from sizer.sizing.checks import CheckResult, MissingFact
from sizer.sizing.design.design_checks import conditional_on, design_checks, missing_for_rate
from sizer.sizing.design.money import DesignMoney, design_money
from sizer.sizing.design.nearest_measurements import (
    MAX_ROWS,
    nearest_language_runs,
    nearest_measurements,
    unmeasured_language,
)
from sizer.sizing.design.nearest_mlperf import nearest_mlperf_runs, notes_on_newer_gpu
from sizer.sizing.design.smaller_sizes import MOST_CERTAIN, servers_at_even_odds, smaller_sizes
from sizer.sizing.design.stage_reasons import stage_reasons
from sizer.sizing.design.storage_need import storage_need
from sizer.sizing.design.training_time import training_time
from sizer.sizing.reasons import (
    Binding,
    BudgetOfPricedLines,
    CableLengths,
    DesignWarning,
    FewerGpusUsed,
    UnknownReadRate,
)
from sizer.sizing.result import DesignAnswer, NearbyMeasurement, Scaling, Stage, WorkloadAnswer
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.checkpoints import job_of
from sizer.sizing.stages.gpu_memory import gradient_bytes, looked_up_bytes, memory_answer, memory_of, memory_of_layout
from sizer.sizing.stages.language_rates import LanguageAnswer, language_answer
from sizer.sizing.stages.measured_rates import accelerator, is_measured
from sizer.sizing.stages.storage_rates import rate_is_unknown, writer_bytes_per_s
from sizer.sizing.stages.workload_run import WorkloadRun, run_on
from sizer.workload.custom_network import CustomDnn
from sizer.workload.language import DefaultKind
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload

# Sizes of the scaling chart go this far beyond the design, so that the next bottleneck shows.
_SCALING_BEYOND = 2
_SCALING_MOST = 64


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
    counted: Quantities | None = None,
) -> DesignAnswer:
    """Everything about one design. ``is_documented`` adds the nearest published measurements, which take time.

    ``counted`` are its parts where a search has counted them.
    """
    room: dict[str, Any] = {
        "catalog": catalog,
        "limits": request.limits,
        "existing": request.existing,
        "fabric": request.fabric,
    }
    if counted is None:
        counted = slice_row(quantities(platform, [n_servers], [storage_nodes], **room), 0)
    plan = building_plan(platform, counted, n_servers, storage_nodes, **room, racks_per_row=request.site.racks_per_row)
    parts = replace(counted, components=_useful(plan.components, works, catalog))
    lengths = _cable_lengths(counted.components, plan.components, catalog, prices, request.currency)
    gateway = float(parts.gateway_bytes_per_s[0])
    runs = [
        run_on(request, work, platform, [n_servers], storage_nodes, gateway, catalog, calibration) for work in works
    ]
    missing = [missing_for_rate(platform, run, storage_nodes) for run in runs]
    answers = [
        _workload_answer(
            request, work, platform, run, unknown, storage_nodes, gateway, catalog, calibration, is_documented
        )
        for work, run, unknown in zip(works, runs, missing, strict=True)
    ]
    unknown = conditional_on(platform, missing, parts, request.limits, catalog)
    money = design_money(request, platform, parts, plan, catalog, prices, is_documented=is_documented)
    return DesignAnswer(
        platform=platform,
        n_servers=n_servers,
        n_gpus=n_servers * platform.gpus_per_server,
        storage_nodes=storage_nodes,
        workloads=tuple(answers),
        quantities=parts,
        plan=plan,
        bill=money.bill,
        probability=None if unknown else min(prod(_probability(run) for run in runs), MOST_CERTAIN),
        binding=binding,
        warnings=(*_design_warnings(platform, request, money), *(() if lengths is None else (lengths,))),
        existing=existing_use(platform, parts.components, request.existing, catalog),
        conditional_on=unknown,
        checks=(*design_checks(request, works, platform, parts, plan, catalog), *money.checks),
        storage_need=storage_need(request, works, platform, runs, storage_nodes, catalog),
        cost=money.cost,
        ownership=money.ownership,
    )


def _useful(parts: Sequence[Component], works: Sequence[ResolvedWorkload], catalog: Catalog) -> tuple[Component, ...]:
    """Parts without software that none of the workloads can use."""
    has_images = any(work.dnn.sample == "image" for work in works)
    unused = () if has_images else tuple(item.id for item in catalog.software.values() if item.images_only)
    return tuple(part for part in parts if part.item not in unused)


def _probability(run: WorkloadRun) -> float:
    return float(evaluate.probability(run.warm, run.cold, run.need)[0])


def _cable_lengths(
    counted: Sequence[Component],
    planned: Sequence[Component],
    catalog: Catalog,
    prices: PriceBook,
    currency: str,
) -> CableLengths | None:
    """By how much the bill differs from what the search compared: cables, by their length; None without cables."""
    cost = []
    open_items: set[str] = set()
    for components in (counted, planned):
        cables = [part for part in components if part.category == CABLE_CATEGORY]
        if not cables:
            return None
        amount, unpriced = row_cost(cables, catalog, prices, currency)
        cost.append(0.0 if amount is None else float(amount[0]))
        open_items |= set(unpriced)
    return CableLengths(IN_RACK_M, BETWEEN_RACKS_M, cost[1] - cost[0] if any(cost) else None, bool(open_items))


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
    along = run
    if is_documented:
        sizes = _sizes(n_servers).tolist()
        along = run_on(request, by_size, platform, sizes, storage_nodes, gateway, catalog, calibration)
    along_stages, along_rows = ((), slice(0, 1)) if along is run else ((along.warm,), slice(2, None))
    rates = pipeline.throughputs(run.warm, run.cold, *along_stages)
    rate, cold_rate = rates[0], rates[1]
    hits = float(run.comp.hit_fraction[0])
    n_gpus = n_servers * float(run.cols.gpus_per_server[0])
    # What one GPU does on its own does not depend on the others: the compute rate is proportional to the GPUs.
    one_gpu = float(run.comp.gpu_alone[0]) / n_gpus
    length = evaluate.epochs(work, run.cols, run.servers, calibration)
    required = evaluate.required_samples_per_s(work, length, calibration)
    place = (platform, n_servers, storage_nodes, gateway, catalog, calibration)
    time = None if length is None or work.is_inference else training_time(work, length[0], rate, cold_rate, calibration)
    if time is not None and work.language is None and float(time.epochs.high) <= 1:
        hits = 0.0  # no later epoch finds anything in a cache
    bottleneck, following = _bottlenecks(run)
    chance = _probability(run)
    # An unknown rate counts as its upper bound: a target that is missed with it is missed, a met one is open.
    met = CheckResult.OPEN if missing else CheckResult.MET
    dnn = work.request.dnn if isinstance(work.request.dnn, CustomDnn) else work.dnn
    precision, task = work.request.precision, "inference" if work.is_inference else "training"
    gpu, loader = platform.gpu, calibration.hosts.note(host_task_of(work.sample_format, work.stack))
    unknown = unmeasured(calibration, work.stack, dnn, precision, gpu.id, gpu, task, n_servers)
    without_runs = tuple(_with_name(missing, catalog) for missing in unknown)
    reach = extrapolations(calibration, work.stack, dnn, precision, task, int(n_gpus), work.batch_per_gpu)
    language = language_answer(work, platform, int(n_gpus), catalog)
    if language is not None:
        without_runs, reach, loader = unmeasured_language(work, platform, catalog), (), None
    elif accelerator(gpu.id) is not None:
        beyond = notes_on_newer_gpu(work, platform, int(n_gpus), catalog)
        if is_measured(work, gpu.id):
            without_runs, reach = beyond, ()
        else:
            without_runs = (*(one for one in without_runs if one.kind is not FitNote.GPU_FROM_GENERATION), *beyond)
    job = None if language is None else language.job
    if language is None:
        writer = writer_bytes_per_s(platform, storage_nodes, catalog)
        job = job_of(work.checkpoints, work.dnn.parameters.value, int(n_gpus), writer)
    core_load = run.comp.core_s_per_sample / (n_servers * float(run.cols.cores[0]))
    return WorkloadAnswer(
        workload=work.request,
        dnn=work.dnn,
        dataset=work.dataset,
        stack=_stack(work, language, gpu.id, catalog),
        recipe=work.recipe,
        batch_per_gpu=work.batch_per_gpu,
        batch_is_fitted=any(one.kind is DefaultKind.BATCH_PER_GPU for one in work.defaults) and not work.is_inference,
        memory=memory_answer(work, memory_of(work, calibration), gpu, n_gpus)
        if language is None
        else memory_of_layout(language, gpu),
        dataset_bytes=work.dataset_bytes,
        sample_bytes=work.sample_bytes,
        sample_format=work.sample_format,
        format_basis=work.format_basis,
        throughput=rate,
        storage_bytes_per_s=_reads(rate, work.sample_bytes, hits),
        cold_storage_bytes_per_s=_reads(cold_rate, work.sample_bytes, 0.0),
        cpu_utilization_fraction=_cpu(rate, core_load, float(run.comp.decode.log_sd.flat[0])),
        gpu_busy_fraction=min(1.0, float(rate.value) / float(run.comp.gpu.median[0]))
        * (1.0 if language is None else language.gpus_used / n_gpus),
        cache_hit_fraction=hits,
        scaling_efficiency=min(1.0, float(rate.value) / (n_gpus * one_gpu))
        if language is None
        else _of_fewest_gpus(rate, along),
        language=language,
        job=job,
        exchanged_bytes=None
        if work.is_inference or language is not None
        else gradient_bytes(work) + work.batch_per_gpu * looked_up_bytes(work),
        stages=_stage_list(work, platform, run, storage_nodes, rate, bottleneck),
        bottleneck=bottleneck,
        next_bottleneck=following,
        probability=None if missing else min(chance, MOST_CERTAIN),
        target_check=met if chance >= evaluate.least_chance(request.confidence) else CheckResult.NOT_MET,
        time=time,
        scaling=Scaling(
            n_servers=along.servers.astype(float),
            n_gpus=along.servers * along.cols.gpus_per_server,
            throughput=Estimate(rates.value[along_rows], rates.low[along_rows], rates.high[along_rows]),
            stage_capacity={
                key: np.broadcast_to(value.median, along.servers.shape) for key, value in along.warm.by_key().items()
            },
        ),
        gpu_spread=Spread.of(run.comp.gpu.log_sd[0], run.comp.within_log_sd[0], run.comp.between_log_sd),
        extrapolations=reach,
        unmeasured=without_runs if loader is None else (*without_runs, loader),
        evidence=_evidence(work, platform, int(n_gpus), catalog, calibration) if is_documented else (),
        warnings=work.warnings,
        stack_choice=work.stack_choice,
        required_samples_per_s=None if required is None else float(required.flat[0]),
        smaller=smaller_sizes(request, by_size, *place, is_open=bool(missing)) if is_documented else (),
        servers_at_even_odds=servers_at_even_odds(request, by_size, *place) if is_documented and not missing else None,
    )


def _stack(work: ResolvedWorkload, language: LanguageAnswer | None, gpu_id: str, catalog: Catalog) -> Stack:
    """Software that runs on these GPUs."""
    if language is not None:
        return catalog.stacks[language.stack]
    if not is_measured(work, gpu_id) or work.stack.runs_mlperf:
        return work.stack
    return next((stack for stack in catalog.stacks.values() if stack.runs_mlperf), work.stack)


def _of_fewest_gpus(rate: Estimate, along: WorkloadRun) -> float:
    """Rate of one GPU over that of one GPU of the smallest cluster along which the model fits."""
    gpus = along.servers * along.cols.gpus_per_server
    each = along.comp.gpu.median / gpus
    fitting = np.flatnonzero(along.comp.gpu.median > 1.0)
    here = float(along.comp.gpu.median[-1] / gpus[-1]) if not fitting.size else float(each[fitting[0]])
    n_gpus = float(gpus[np.argmin(np.abs(along.comp.gpu.median - float(rate.value)))])
    return min(1.0, float(rate.value) / n_gpus / here)


def _evidence(
    work: ResolvedWorkload, platform: Platform, n_gpus: int, catalog: Catalog, calibration: Calibration
) -> tuple[NearbyMeasurement, ...]:
    if work.language is not None:
        return nearest_language_runs(work, platform, n_gpus, catalog)
    if is_measured(work, platform.gpu.id):
        return nearest_mlperf_runs(work, platform, n_gpus, catalog, MAX_ROWS)
    return nearest_measurements(work, n_gpus, catalog, calibration)


def _reads(rate: Estimate, sample_bytes: float, hit_fraction: float) -> Estimate:
    value, low, high = (pipeline.read_demand_bytes_per_s(end, sample_bytes, hit_fraction) for end in rate)
    return Estimate(value, low, high)


def _cpu(rate: Estimate, core_s_per_sample_per_core: float, decode_log_sd: float) -> Estimate:
    """Load of the host cores: rate x cost of a sample; both spread. Never above 1: then decode is the bottleneck."""
    spread = float(np.hypot(rate.log_sd, decode_log_sd))
    load = Estimate.log_normal(rate.value * core_s_per_sample_per_core, spread)
    return Estimate(np.minimum(load.value, 1.0), np.minimum(load.low, 1.0), np.minimum(load.high, 1.0))


def _bottlenecks(run: WorkloadRun) -> tuple[str, str]:
    """The stage that limits, and the one that would limit next were it lifted."""
    capacity = {key: float(one.median.flat[0]) for key, one in run.warm.by_key().items()}
    exchange = capacity.pop("exchange")  # never the smallest alone: what is not hidden counts with the GPUs
    order = sorted(capacity, key=capacity.__getitem__)
    # GPUs that spend longer on the exchange than on arithmetic are held by the exchange.
    is_exchange = float(run.comp.exchange[0]) < float(run.comp.gpu_alone[0])
    names = ["exchange" if key == "gpu" and is_exchange else key for key in order]
    # Faster GPUs would still exchange their gradients.
    following = "exchange" if names[0] == "gpu" and exchange < capacity[names[1]] else names[1]
    return names[0], following


def _stage_list(
    work: ResolvedWorkload, platform: Platform, run: WorkloadRun, storage_nodes: int, rate: Estimate, bottleneck: str
) -> tuple[Stage, ...]:
    reasons = stage_reasons(work, platform, run, storage_nodes)
    stages = []
    for key, capacity in run.warm.by_key().items():
        median = float(capacity.median.flat[0])
        reason, sources = reasons[key]
        stages.append(
            Stage(
                key=key,
                capacity=capacity.estimate()[0],
                load_fraction=min(1.0, float(rate.value) / median) if np.isfinite(median) else 0.0,
                is_limiting=key == bottleneck,
                reason=reason,
                sources=sources,
            )
        )
    return tuple(stages)


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


def _with_name(missing: CalibrationNote, catalog: Catalog) -> CalibrationNote:
    """A note with the name, in place of the id, of the neural network whose measurements are used for another."""
    if missing.kind is not FitNote.DNN_FROM_LIKE:
        return missing
    name, like = missing.values
    return CalibrationNote(missing.kind, (name, catalog.dnns[str(like)].name))
