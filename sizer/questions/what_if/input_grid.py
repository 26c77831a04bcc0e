"""One workload on a fixed design while inputs vary: many points in one pass, without a search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import InfeasibleError
from sizer.base.estimate import Estimate
from sizer.base.provenance import Sourced
from sizer.catalog.model import Catalog, Items
from sizer.catalog.schema import Gpu
from sizer.perf import pipeline
from sizer.physical import capacity
from sizer.questions.what_if.varied_input import (
    BATCH,
    CACHED_READS,
    CONFIDENCE,
    DATASET_SIZE,
    GPU_SPEED,
    SAMPLE_SIZE,
    SERVERS,
    STORAGE_NODES,
    TARGET,
    VariedInput,
    target_kind,
    target_value,
)
from sizer.sizing.constraints.stored_data import data_sets, storage_demand
from sizer.sizing.constraints.tiers import storage_tiers
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.search.feasibility import StorageUnits
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.workload_run import WorkloadRun, run_on
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class FixedDesignRates:
    """Rates of one workload on a fixed design at each of some points. Arrays over the points."""

    rate: Estimate  # after the first epoch [samples/s]
    time_s: Floats | None  # to train; None where the request states no length
    stages: dict[str, Floats]  # key of STAGES -> median capacity after the first epoch [samples/s]
    limiting: tuple[str, ...]  # key of the bottleneck
    probability: Floats  # that the rate or time asked is reached
    holds_data: Bools  # whether the storage holds all data
    meets_target: Bools
    storage_nodes: Floats  # that the target would need, in whole units; inf: more than there are, NaN: not counted


def fixed_design_rates(model: WorkloadOnDesign, values: Mapping[str, ArrayLike]) -> FixedDesignRates:
    """The workload on the design with some inputs changed.

    Storage nodes, gateways and everything that is not varied stay as they are. Points of one GPU, and of one target
    where that is no rate, are evaluated in one pass.

    ``values``: key of an input -> its value at each point; values broadcast, and inputs that are left out stay as
    they are. Arrays over the points; at the values of the design it is the answer of the design.
    """
    points = {SERVERS: model.n_servers, STORAGE_NODES: model.storage_nodes, **values}
    parts = np.broadcast_arrays(*(np.atleast_1d(np.asarray(part, float)) for part in points.values()))
    at, n = dict(zip(points, parts, strict=True)), parts[0].size
    apart = [at[key] for key in (GPU_SPEED, *([] if target_kind(model) == "samples_per_s" else [TARGET])) if key in at]
    groups: dict[tuple[float, ...], list[int]] = {}
    for place, each in enumerate(np.reshape(apart, (len(apart), n)).T.tolist()):
        groups.setdefault(tuple(each), []).append(place)
    gpu, speeds = model.platform.gpu, set(at[GPU_SPEED].tolist()) if GPU_SPEED in at else {1.0}
    catalogs = {speed: with_gpu_speed(model.catalog, gpu, speed) for speed in speeds}
    runs = [_run(model, {key: part[rows] for key, part in at.items()}, catalogs) for rows in groups.values()]
    # What is worked out group by group, in the order of the points.
    order = np.argsort(np.concatenate([*groups.values()]))
    chance, wanted = (np.concatenate(part)[order] for part in zip(*map(_target, runs), strict=True))
    rates = pipeline.throughputs(*(run.warm for run in runs), *(run.cold for run in runs))
    rate, cold_rate = rates[order], rates[order + n]
    times = [
        run.time_s(rate.value[rows], cold_rate.value[rows]) for run, rows in zip(runs, groups.values(), strict=True)
    ]
    timed = [part for part in times if part is not None]
    limiting = [key for run in runs for key in pipeline.bottlenecks(run.warm, run.comp.gpu_alone)[0]]
    medians = [
        {key: np.broadcast_to(stage.median, run.servers.shape) for key, stage in run.warm.by_key().items()}
        for run in runs
    ]
    holds, nodes = _storage(model, at, wanted)
    least = evaluate.least_chance(at.get(CONFIDENCE, np.full(n, model.request.confidence)))
    busy = at.get(TARGET, target_value(model)) if target_kind(model) == "gpus_busy" else 0.0
    return FixedDesignRates(
        rate=rate,
        time_s=np.concatenate(timed)[order] if timed else None,
        stages={key: np.concatenate([each[key] for each in medians])[order] for key in medians[0]},
        limiting=tuple(limiting[place] for place in order),
        probability=chance,
        holds_data=holds,
        meets_target=np.asarray((chance >= least) & holds & (at[SERVERS] * model.run.cols.gpus_per_server >= busy)),
        storage_nodes=nodes,
    )


def fixed_design_along(model: WorkloadOnDesign, x: VariedInput, others: Mapping[str, float]) -> FixedDesignRates:
    """The design at every value of an input, with other inputs at given values."""
    return fixed_design_rates(
        model, {**{key: value for key, value in others.items() if key != x.key}, x.key: np.array(x.values)}
    )


def with_gpu_speed(catalog: Catalog, gpu: Gpu, factor: float) -> Catalog:
    """Catalogue in which the arithmetic of one GPU is so many times as fast."""
    if factor == 1.0:
        return catalog

    def times(peak: Sourced[float] | None) -> Sourced[float] | None:
        return None if peak is None else peak.model_copy(update={"value": peak.value * factor})

    # In all number formats, and what large matrix products reach of them.
    update: dict[str, Any] = {
        name: times(getattr(gpu, name)) for name in ("peak_mixed_flop_per_s", "peak_fp32_flop_per_s")
    }
    for name in ("peak_flop_per_s", "matmul_flop_per_s"):
        update[name] = {kind: times(peak) for kind, peak in getattr(gpu, name).items()}
    faster = gpu.model_copy(update=update)
    return replace(catalog, gpus=Items("gpus", {**catalog.gpus, gpu.id: faster}))


def _run(model: WorkloadOnDesign, at: Mapping[str, Floats], catalogs: Mapping[float, Catalog]) -> WorkloadRun:
    """The workload with changed inputs on points that one pass evaluates."""
    request, work = model.request, model.work
    rows: dict[str, Any] = {}
    if CONFIDENCE in at:
        request = request.model_copy(update={"confidence": at[CONFIDENCE]})
    if TARGET in at:
        kind, asked = target_kind(model), at[TARGET]
        one: dict[str, Any] = {"gpus_busy": int(asked[0]), "time_to_train_s": float(asked[0]), "samples_per_s": asked}
        target = work.request.target.model_copy(update={kind: one[kind]})
        rows["request"] = work.request.model_copy(update={"target": target})
    if BATCH in at:
        rows["batch_per_gpu"] = at[BATCH]
    if SAMPLE_SIZE in at or DATASET_SIZE in at:
        sample, dataset = _sizes(work, at)
        n_samples = work.n_samples * (dataset / work.dataset_bytes) / (sample / work.sample_bytes)
        rows |= {"sample_bytes": sample, "dataset_bytes": dataset, "n_samples": n_samples}
    catalog = catalogs[float(at[GPU_SPEED][0]) if GPU_SPEED in at else 1.0]
    counts = at[SERVERS], at[STORAGE_NODES], model.gateway_bytes_per_s
    run = run_on(request, replace(work, **rows), model.platform, *counts, catalog, model.calibration)
    if CACHED_READS not in at:
        return run
    hits = at[CACHED_READS]
    return replace(run, comp=replace(run.comp, hit_fraction=hits, miss_log_sd=np.zeros(hits.shape)))


def _sizes(work: ResolvedWorkload, at: Mapping[str, Floats]) -> tuple[Floats, Floats]:
    """Bytes of a sample and of the data set, which has as many samples as before unless its size is given."""
    sample = at.get(SAMPLE_SIZE, np.full(at[SERVERS].shape, work.sample_bytes))
    return sample, at.get(DATASET_SIZE, work.dataset_bytes * (sample / work.sample_bytes))


def _target(run: WorkloadRun) -> tuple[Floats, Floats]:
    """Probability of the target, and the storage nodes that it takes, not rounded; inf: no number of them."""
    try:
        return run.probability, run.storage_nodes_needed
    except InfeasibleError:  # starting a run alone takes longer than the training may
        return np.zeros(run.servers.shape), np.full(run.servers.shape, np.inf)


def _storage(model: WorkloadOnDesign, at: Mapping[str, Floats], wanted: Floats) -> tuple[Bools, Floats]:
    """Whether the storage holds the data, and the nodes in whole units that a rate calls for.

    A capacity that no source gives counts as enough, as in the sizing.
    """
    platform, data = model.platform, model.request.data
    distinct, place = np.unique(np.stack(_sizes(model.work, at)), axis=1, return_inverse=True)
    works = [
        changed_works(model.works, model.index, replace(model.work, sample_bytes=sample, dataset_bytes=dataset))
        for sample, dataset in distinct.T.tolist()
    ]
    rows = list(zip(place.reshape(-1).tolist(), at[STORAGE_NODES].astype(int).tolist(), strict=True))
    demands = [storage_demand(each, data) for each in works]
    tiers = {(which, nodes): storage_tiers(platform, nodes, demands[which], data) for which, nodes in set(rows)}
    holds = np.array([not any(tier.free_bytes < 0 for tier in tiers[row]) for row in rows])
    if not capacity.counts_nodes(platform.storage):
        return holds, np.full(wanted.shape, np.nan)
    each = [vars(StorageUnits.of(some, [platform], data)) for some in works]
    units = StorageUnits(**{name: np.concatenate([one[name] for one in each])[place] for name in each[0]})
    whole, is_enough = units.whole(wanted[:, None], at[SERVERS][:, None].astype(int), model.run.cols.is_local)
    return holds, np.where(is_enough[:, 0] & units.holds_data, whole[:, 0], np.inf)


def changed_works(
    works: Sequence[ResolvedWorkload], index: int, changed: ResolvedWorkload
) -> tuple[ResolvedWorkload, ...]:
    """All workloads with one of them changed; who reads the same data set as it does now goes on doing so."""
    shared = next(one.readers for one in data_sets(works) if index in one.readers)
    found = [
        replace(work, sample_bytes=changed.sample_bytes) if place in shared else work
        for place, work in enumerate(works)
    ]
    found[index] = changed
    return tuple(found)
