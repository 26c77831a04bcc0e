"""One workload on a fixed design while inputs vary: many points in one pass, without a search."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import InfeasibleError
from sizer.base.estimate import Estimate
from sizer.catalog.model import Catalog, Items
from sizer.catalog.schema import Gpu
from sizer.perf import pipeline
from sizer.perf.stage_capacity import Capacity, throughput
from sizer.perf.training_time import training_time_s
from sizer.physical import capacity
from sizer.physical.quantities import quantities
from sizer.physical.roles import NetworkRole
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
    target_kind,
    target_value,
)
from sizer.sizing.constraints.storage_fill import planned_bytes
from sizer.sizing.constraints.stored_data import needed_with_bytes, storage_demand
from sizer.sizing.constraints.tiers import fast_tier_bytes
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.stages import compute_side, evaluate, gpu_side
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.evaluate import Need
from sizer.sizing.stages.outcomes import Outcomes
from sizer.sizing.stages.platform_columns import Columns, columns, narrowed
from sizer.workload.data import DataRequest
from sizer.workload.request import Target
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class FixedDesignRates:
    """Rates of one workload on a fixed design at each of some points. Arrays over the points."""

    rate: Estimate  # after the first epoch [samples/s]
    cold_rate: Estimate  # in the first epoch [samples/s]
    time_s: Floats | None  # to train; None where the request states no length
    stages: dict[str, Floats]  # key of STAGES -> median capacity after the first epoch [samples/s]
    limiting: tuple[str, ...]  # key of the bottleneck
    probability: Floats  # that the rate or time asked is reached
    holds_data: Bools  # whether the storage holds all data
    meets_target: Bools
    storage_nodes: Floats  # that the target would need, in whole units; inf: more than there are, NaN: not counted


@dataclass(frozen=True)
class HardwareCounts:
    """Hardware of a design for each of some counts of servers and storage nodes. Arrays over them."""

    fabric_switches: Ints  # of the compute fabric
    racks: Ints
    power_w: Floats  # at most, without parts whose draw is not published
    rack_units: Floats


@dataclass(frozen=True)
class _Points:
    """Values of all inputs at each point; NaN reads served by the cache follow from its size."""

    servers: Ints
    nodes: Ints
    sample_bytes: Floats
    dataset_bytes: Floats
    batch: Ints
    speed: Floats
    cached: Floats
    target: Floats
    confidence: Floats

    @property
    def n_samples(self) -> Floats:
        """Samples of one epoch."""
        return self.dataset_bytes / self.sample_bytes


def fixed_design_rates(model: WorkloadOnDesign, values: Mapping[str, ArrayLike]) -> FixedDesignRates:
    """The workload on the design with some inputs changed.

    Parameters
    ----------
    model : WorkloadOnDesign
        Workload and design.
    values : mapping of str to array_like, shape (points,)
        Key of an input -> its value at each point; values broadcast, and inputs that are left out stay as they are.

    Returns
    -------
    FixedDesignRates
        Arrays over the points; at the values of the design it is the answer of the design.

    Notes
    -----
    Storage nodes, gateways and everything that is not varied stay as they are. The functions are those of the sizing:
    each is called once for all points that share what it takes as a scalar.
    """
    points = _points(model, values)
    cols = _columns(model, points)
    comp = _compute(model, points, cols)
    side = evaluate.storage_side(
        cols, points.servers, points.nodes, np.full(points.servers.shape, model.gateway_bytes_per_s)
    )
    warm, cold = (evaluate.stages(points.sample_bytes, comp, side, is_warm=is_warm) for is_warm in (True, False))
    need, nodes = _needs(model, points, comp, cols)
    chance = np.where(np.isfinite(need.samples_per_s), evaluate.probability(warm, cold, need), 0.0)
    holds = _holds_data(model, points)
    busy = points.target if model.work.request.target.gpus_busy is not None else np.zeros_like(points.target)
    rate, cold_rate = throughput(warm.limiting()), throughput(cold.limiting())
    return FixedDesignRates(
        rate=rate,
        cold_rate=cold_rate,
        time_s=_time_s(model, points, comp, cols, rate.value, cold_rate.value),
        stages={key: np.asarray(stage.median) for key, stage in warm.by_key().items()},
        limiting=tuple(pipeline.bottlenecks(warm, comp.gpu_alone)[0]),
        probability=chance,
        holds_data=holds,
        meets_target=np.asarray(
            (chance >= _least_chance(points.confidence)) & holds & (points.servers * cols.gpus_per_server >= busy)
        ),
        storage_nodes=nodes,
    )


def hardware_counts(model: WorkloadOnDesign, servers: ArrayLike, nodes: ArrayLike) -> HardwareCounts:
    """Switches, racks and power of the design's platform at some counts; shape (points,)."""
    found = quantities(
        model.platform,
        servers,
        nodes,
        catalog=model.catalog,
        limits=model.request.limits,
        existing=model.request.existing,
        fabric=model.request.fabric,
    )
    switches = [
        network.leaves + network.spines + network.cores
        for network in found.networks
        if network.role is NetworkRole.COMPUTE
    ]
    none = np.zeros_like(found.racks)
    return HardwareCounts(
        fabric_switches=np.sum(switches, axis=0).astype(np.int64) if switches else none,
        racks=found.racks + found.existing_racks,
        power_w=found.power_max_w,
        rack_units=found.rack_units,
    )


def with_gpu_speed(catalog: Catalog, gpu: Gpu, factor: float) -> Catalog:
    """Catalogue in which the arithmetic peak of one GPU is so many times what it is."""
    if factor == 1.0:
        return catalog
    faster = gpu.model_copy(
        update={
            name: peak.model_copy(update={"value": peak.value * factor})
            for name, peak in (
                ("peak_mixed_flop_per_s", gpu.peak_mixed_flop_per_s),
                ("peak_fp32_flop_per_s", gpu.peak_fp32_flop_per_s),
            )
            if peak is not None
        }
    )
    return replace(catalog, gpus=Items("gpus", {**catalog.gpus, gpu.id: faster}))


def _points(model: WorkloadOnDesign, values: Mapping[str, ArrayLike]) -> _Points:
    work = model.work
    sample = np.asarray(values.get(SAMPLE_SIZE, work.sample_bytes), dtype=float)
    # As many samples as before, unless the size of the whole set is given.
    dataset = np.asarray(values.get(DATASET_SIZE, work.n_samples * sample), dtype=float)
    servers, nodes, sizes, sets, batch, speed, cached, target, confidence = np.broadcast_arrays(
        np.atleast_1d(np.asarray(values.get(SERVERS, model.n_servers), dtype=float)),
        np.asarray(values.get(STORAGE_NODES, model.storage_nodes), dtype=float),
        sample,
        dataset,
        np.asarray(values.get(BATCH, work.batch_per_gpu), dtype=float),
        np.asarray(values.get(GPU_SPEED, 1.0), dtype=float),
        np.asarray(values.get(CACHED_READS, np.nan), dtype=float),
        np.asarray(values.get(TARGET, target_value(model)), dtype=float),
        np.asarray(values.get(CONFIDENCE, model.request.confidence), dtype=float),
    )
    n_servers, n_nodes, n_batch = (one.astype(np.int64) for one in (servers, nodes, batch))
    return _Points(n_servers, n_nodes, sizes, sets, n_batch, speed, cached, target, confidence)


def _groups(*parts: NDArray[np.generic]) -> Iterator[tuple[tuple[float, ...], Ints]]:
    """Each combination of values that occurs, with the points that have it."""
    table = np.stack([np.asarray(part, dtype=float) for part in parts], axis=1)
    found, place = np.unique(table, axis=0, return_inverse=True)
    place = place.reshape(-1)
    for number, combination in enumerate(found.tolist()):
        yield tuple(combination), np.flatnonzero(place == number)


def _columns(model: WorkloadOnDesign, points: _Points) -> Columns:
    index = np.zeros(points.servers.size, dtype=np.int64)
    cols = columns([model.platform], model.catalog, model.request.platforms.gpus_per_server).take(index)
    return narrowed(cols, [model.platform], index, points.servers, points.nodes, model.request.fabric)


def _compute(model: WorkloadOnDesign, points: _Points, cols: Columns) -> Compute:
    """Compute side of all points: the GPUs by batch and speed, decoding by sample size, the cache by data set."""
    n = points.servers.size
    medians, spreads, skews, alone, exchange, moved, within, batches, replicas = np.empty((9, n))
    comp = None
    for (batch, speed), rows in _groups(points.batch, points.speed):
        work = replace(model.work, batch_per_gpu=int(batch))
        catalog = with_gpu_speed(model.catalog, model.platform.gpu, speed)
        servers = points.servers[rows]
        comp = compute_side.compute(work, [model.platform], cols.take(rows), servers, model.calibration, catalog)
        medians[rows], spreads[rows], skews[rows] = comp.gpu.median, comp.gpu.log_sd, comp.gpu.skew
        alone[rows], exchange[rows] = comp.gpu_alone, comp.exchange
        moved[rows], within[rows], batches[rows] = comp.exchanged_bytes, comp.within_log_sd, comp.batch_per_gpu
        if comp.replicas is not None:
            replicas[rows] = comp.replicas
    assert comp is not None  # there is one point at least
    hits, misses = _hits(model, points, cols)
    return replace(
        comp,
        gpu=Capacity(medians, spreads, np.zeros(n), skews),
        gpu_alone=alone,
        exchange=exchange,
        decode=_decode(model, points, cols),
        host_link=gpu_side.host_link(model.work, cols, points.servers, model.calibration),
        exchanged_bytes=moved,
        hit_fraction=hits,
        miss_log_sd=misses,
        batch_per_gpu=batches,
        within_log_sd=within,
        replicas=None if comp.replicas is None else replicas,
        whole_run=comp.whole_run and comp.whole_run[np.zeros(n, dtype=np.int64)],
    )


def _decode(model: WorkloadOnDesign, points: _Points, cols: Columns) -> Capacity:
    core_s, spread = np.empty((2, points.servers.size))
    for (size,), rows in _groups(points.sample_bytes):
        work = replace(model.work, sample_bytes=size)
        core_s[rows], spread[rows] = compute_side.core_seconds(work, model.calibration)
    return pipeline.decode_stage(points.servers, cols.cores, core_s, spread)


def _hits(model: WorkloadOnDesign, points: _Points, cols: Columns) -> tuple[Floats, Floats]:
    hits, misses = points.cached.copy(), np.zeros(points.cached.shape)
    by_size = np.flatnonzero(np.isnan(hits))
    for (size,), rows in _groups(points.dataset_bytes[by_size]):
        at = by_size[rows]
        work = replace(model.work, dataset_bytes=size)
        hits[at], misses[at] = compute_side.cache_hits(work, cols.take(at), points.servers[at], model.calibration)
    return hits, misses


def _asked(model: WorkloadOnDesign, target: float) -> Target:
    kind = target_kind(model)
    return Target.model_validate({kind: int(target) if kind == "gpus_busy" else target})


def _work_at(model: WorkloadOnDesign, points: _Points, row: int) -> ResolvedWorkload:
    """The workload with the values of one point."""
    work = model.work
    request = work.request.model_copy(update={"target": _asked(model, float(points.target[row]))})
    return replace(
        work,
        request=request,
        batch_per_gpu=int(points.batch[row]),
        sample_bytes=float(points.sample_bytes[row]),
        dataset_bytes=float(points.dataset_bytes[row]),
        n_samples=float(points.n_samples[row]),
    )


def _needs(model: WorkloadOnDesign, points: _Points, comp: Compute, cols: Columns) -> tuple[Need, Floats]:
    """What the target asks of every point (inf where no rate is enough), and the storage nodes that it takes."""
    shape = points.servers.shape
    steady, spread, upper, cold, nodes = (np.full(shape, np.inf) for _ in range(5))
    counts_gpu, outcomes = True, Outcomes.none(shape)
    # A rate does not depend on the length of the training, so fewer points differ.
    of_length = (points.batch, points.n_samples) if model.is_timed else ()
    for _, rows in _groups(points.target, points.confidence, points.sample_bytes, *of_length):
        work = _work_at(model, points, int(rows[0]))
        confidence = float(points.confidence[rows[0]])
        share = evaluate.share_of(model.request.model_copy(update={"confidence": confidence}))
        some, local = comp.take(rows), cols.take(rows)
        try:
            need = evaluate.need(work, some, local, points.servers[rows], share, model.calibration)
        except InfeasibleError:  # starting a run alone takes longer than the training may
            continue
        counts_gpu = need.counts_gpu
        steady[rows], spread[rows] = need.gpu_samples_per_s, need.gpu_log_sd
        upper[rows], cold[rows] = need.samples_per_s, need.cold_samples_per_s
        nodes[rows] = evaluate.storage_nodes(work, some, local, need, share)
        outcomes = outcomes.placed(rows, need.outcomes)
    spread = np.where(np.isfinite(spread), spread, 0.0)
    return Need(steady, spread, upper, cold, counts_gpu, outcomes), _whole_nodes(model, points, nodes)


def _whole_nodes(model: WorkloadOnDesign, points: _Points, wanted: Floats) -> Floats:
    """Nodes in whole units that give the rate and hold the data; NaN where storage is not bought by the node."""
    storage = model.platform.storage
    if not capacity.counts_nodes(storage):
        return np.full(wanted.shape, np.nan)
    unit = capacity.nodes_per_unit(storage)
    low, high = capacity.node_limits(storage)
    for_data = capacity.smallest_nodes(storage, model.platform.capacity_option, _planned_bytes(model, points))
    whole = np.ceil(np.maximum(np.maximum(wanted, low), for_data.nodes) / unit) * unit
    return np.where((whole <= high) & for_data.fits, whole, np.inf)


def _holds_data(model: WorkloadOnDesign, points: _Points) -> Bools:
    """Whether the data fit; a capacity that no source gives counts as enough, as in the sizing."""
    platform, tier, data = model.platform, model.platform.second_tier, model.request.data
    usable = capacity.usable_bytes(platform.storage, platform.capacity_option, points.nodes)
    holds = np.isnan(usable) | (usable >= _fast_bytes(model, points))
    if tier is not None and tier.storage is not None:
        second = capacity.usable_bytes(tier.storage, tier.capacity_option, tier.nodes)
        everything = _stored_bytes(model, points, data.model_copy(update={"minimum_capacity_bytes": None}))
        kept = storage_demand(model.works, data).checkpoints_bytes  # on the fast tier alone
        holds &= np.isnan(second) | (second >= everything - kept)
    return np.asarray(holds)


def _planned_bytes(model: WorkloadOnDesign, points: _Points) -> Floats:
    """What a resized fast storage is planned for: with one tier it keeps free space."""
    needed, data = _fast_bytes(model, points), model.request.data
    if model.platform.second_tier is not None:
        return needed
    without = {"reserve_share": 0.0, "minimum_capacity_bytes": None}
    return planned_bytes(needed, _stored_bytes(model, points, data.model_copy(update=without)))


def _fast_bytes(model: WorkloadOnDesign, points: _Points) -> Floats:
    """What the fast storage must hold: everything, or the working set of two tiers."""
    stored = _stored_bytes(model, points, model.request.data)
    if model.platform.second_tier is None:
        return stored
    return np.minimum(fast_tier_bytes(storage_demand(model.works, model.request.data), model.request.data), stored)


def _stored_bytes(model: WorkloadOnDesign, points: _Points, data: DataRequest) -> Floats:
    """Data of all workloads and other stored data."""
    return needed_with_bytes(model.works, data, model.index, points.dataset_bytes, points.sample_bytes)


def _least_chance(confidence: Floats) -> Floats:
    return np.array([evaluate.least_chance(share) for share in confidence.tolist()])


def _time_s(
    model: WorkloadOnDesign, points: _Points, comp: Compute, cols: Columns, rate: Floats, cold_rate: Floats
) -> Floats | None:
    """Time to train: start-up, first (cold) epoch, the others and the evaluations."""
    request = model.work.request
    if model.work.is_inference or (request.epochs is None and request.recipe is None):
        return None
    total = np.empty(rate.shape)
    for _, rows in _groups(points.batch, points.n_samples):
        work = _work_at(model, points, int(rows[0]))
        length = evaluate.run_epochs(work, comp.take(rows), cols.take(rows), points.servers[rows], model.calibration)
        assert length is not None  # the request states epochs or a recipe
        share, start_up_s = evaluate.evaluation_share(work), model.calibration.start_up_s
        total[rows] = training_time_s(length.value, work.n_samples, rate[rows], cold_rate[rows], share, start_up_s)
    return total
