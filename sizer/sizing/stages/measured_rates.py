"""Rates of networks on GPUs newer than V100: by the fit of MLPerf runs, or moved by what it says of their generation.

A network of MLPerf has the rate of its published runs, which vendors tuned, or that of people's own code beside them.
Another one has the rate that the model of V100 gives at the GPU's peak, times what ResNet-50 (or the network that it is
like) was measured to reach of that, corrected for the share of a step that waits for memory: arithmetic grew faster
than memory bandwidth.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.estimate import Z90, normal_quantile
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import peak_flop_per_s
from sizer.calibrate.modern.rows import Accelerator, largest_batches, published_runs, sourced_accelerators
from sizer.calibrate.modern.terms import MeasuredSystem, SystemRates, convergence_of, system_rates
from sizer.calibrate.own_networks import filled_share, own_code_rate
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Dnn, Stack
from sizer.perf import exchange, step_terms
from sizer.perf.training_step import TRAINING_PASSES, TrainingRun
from sizer.sizing.stages.platform_columns import ComputeGroup, ServerRows
from sizer.sizing.stages.sharding import all_reduced_bytes, looked_up_bytes, looked_up_parameters, work_factor
from sizer.workload.custom_network import CustomDnn
from sizer.workload.resolve import BatchSizes, ResolvedWorkload
from sizer.workload.stack_choice import choose_stack

# Network whose runs stand for those that MLPerf does not have: the only one with hundreds of runs on either side.
_ANCHOR = "resnet50"
# Passes over the stored activations of a step: written and read forward, read backward with their gradients written and
# read, and again in normalisation and activation, which do little arithmetic. Assumed; with it the correction of the
# four image networks that both fits have (ResNet-50, SSD, Mask R-CNN, 3D U-Net on A100 to B200) differs by 0.1.
_PASSES_OVER_ACTIVATIONS = 8.0
# A step of a network that was measured does not wait for memory longer than this.
_MOST_WAITING = 0.9
# Spread of the logarithm of that correction between networks: image networks, and others (BERT gained twice as much,
# by attention kernels that V100 software did not have).
_IMAGE_LOG_SD, _OTHER_LOG_SD = 0.15, 0.45
_V100 = "v100-sxm2-16gb"
_IMAGES = (SampleFormat.JPEG, SampleFormat.SLIDES, SampleFormat.TENSORS, SampleFormat.VOLUMES, SampleFormat.VIDEO)
# The logarithm of a rate is nearly straight in how fast the GPU is: the last step is below 1e-12.
_NEWTON_STEPS, _MOST_MOVED = 6, 5.0
# Numbers of GPUs at which batches are chosen: so fine that the global batch grows by 4 % from one to the next.
_MOST_GPUS, _PER_OCTAVE = 2**15, 16
# Times to train that differ by less are about the same: the fit of the times is not better.
_ABOUT_AS_FAST = 0.08
# Confidence of a time, and the spread of the logarithm of a rate beside that of the length: of people's own code.
_CONFIDENCE, _RATE_LOG_SD = 0.9, 0.25
# Fabric of a usual server by which a batch is chosen: as DGX-1 was tested, a port for two GPUs.
_USUAL_LINK, _GPUS_PER_LINK = "edr", 2


@cache
def accelerator_names() -> dict[str, str]:
    """GPU of the catalogue -> its name in MLPerf rows."""
    names: dict[str, str] = {}
    for name, gpu in sourced_accelerators().items():
        names.setdefault(gpu.gpu, name)
    return names


def accelerator(gpu_id: str) -> Accelerator | None:
    """A GPU as MLPerf rows know it; None for an older one."""
    name = accelerator_names().get(gpu_id)
    return None if name is None else sourced_accelerators()[name]


def published_peak_flop_per_s(gpu_id: str, catalog: Catalog) -> float:
    """Peak that the fit of MLPerf runs takes of a GPU, whatever ``catalog`` makes of it; of older ones the latter's."""
    known = accelerator(gpu_id)
    return catalog.gpus[gpu_id].peak_mixed_flop_per_s.value if known is None else known.peak_flop_per_s


def is_measured(work: ResolvedWorkload, gpu_id: str) -> bool:
    """Whether the rate of a workload on a GPU comes from the fit of MLPerf runs."""
    return bool(work.mlperf) and gpu_id in accelerator_names()


def takes_own_code(work: ResolvedWorkload, gpu_id: str) -> bool:
    """Whether people's own code trains a network of MLPerf, slower than the tuned runs that its rate is fitted to."""
    return is_measured(work, gpu_id) and work.request.run != "benchmark" and work.request.stack is None


def draw_name(work: ResolvedWorkload, group: ComputeGroup) -> str:
    """What designs share that are wrong together about a fitted rate: network and server."""
    return f"measured {work.mlperf} {group.gpu} {group.server}"


def measured_rows(work: ResolvedWorkload, hosts: ServerRows) -> Bools:
    """Rows whose rate comes from the fit of MLPerf runs: what is exposed of their exchange is part of a step."""
    return np.array([is_measured(work, group.gpu) for group in hosts.groups])[hosts.cols.compute]


def system_on(
    benchmark: str,
    group: ComputeGroup,
    used: int,
    nic_bytes_per_s: float,
    catalog: Catalog,
) -> SystemRates:
    """Fitted rates of a network of MLPerf on servers of a compute group, of which ``used`` GPUs each run the job."""
    server = catalog.servers[group.server]
    link = catalog.gpu_links.get(group.intra_link)
    cpu = "" if server.cpu is None else catalog.cpus[server.cpu.value].vendor.lower()
    return system_rates(
        MeasuredSystem(
            benchmark,
            accelerator_names()[group.gpu],
            used,
            "pcie" if link is None or link.family == "PCIe" else "nvlink",
            nic_bytes_per_s,
            next((vendor for vendor in ("intel", "amd") if vendor in cpu), ""),
        )
    )


def soonest_batches(
    work: ResolvedWorkload, gpu_id: str, most: float, calibration: Calibration, catalog: Catalog
) -> BatchSizes:
    """Batch per GPU by the number of GPUs that trains soonest, up to ``most``.

    A larger batch has a higher rate and takes more samples to the target. The time is the one that is kept with the
    usual confidence: nobody knows whether a network converges far beyond the published batches.
    """
    powers = 2 ** np.arange(int(most).bit_length())
    batches = np.unique([powers, 3 * powers]).astype(float)
    batches = batches[batches <= most]
    n_gpus = np.unique(np.round(2 ** np.arange(0, math.log2(_MOST_GPUS), 1 / _PER_OCTAVE)))
    n, batch = n_gpus[:, None], batches[None, :]
    if work.recipe is not None:
        length, most_published = calibration.epochs(work.recipe, work.recipe_batch(n * batch)), np.inf
    else:  # no target depends on the length: the steps are those of published runs
        convergence = convergence_of(work.mlperf)
        length, most_published = convergence.curve().at(n * batch), convergence.batches[1]
    log_time = np.log(length.value) - _log_rate(work, gpu_id, n, batch, calibration, catalog)
    log_time += normal_quantile(_CONFIDENCE) * np.hypot(np.log(length.high / length.value) / Z90, _RATE_LOG_SD)
    log_time = np.where((n * batch > most_published) & (batch > 1), np.inf, log_time)
    # Of batches that train about as fast, the largest one has the highest rate: published runs chose it.
    soon = log_time <= log_time.min(axis=1, keepdims=True) + _ABOUT_AS_FAST
    largest = len(batches) - 1 - np.argmax(soon[:, ::-1], axis=1)
    return BatchSizes(n_gpus.astype(np.int64), batches[largest].astype(np.int64))


def _log_rate(
    work: ResolvedWorkload, gpu_id: str, n_gpus: Floats, batch: Floats, calibration: Calibration, catalog: Catalog
) -> Floats:
    """Logarithm of the rate of GPUs in servers as they are usual, by the model that gives the rates of designs."""
    if work.own_kind is not None:
        return np.asarray(np.log(n_gpus * filled_share(batch * work.dnn.forward_flop.value)))
    if is_measured(work, gpu_id):
        rates = system_rates(MeasuredSystem(work.mlperf, accelerator_names()[gpu_id], 8, "nvlink", 8 * 50e9, ""))
        # Runs on a part of a server exchange as on one server.
        tuned = rates.rate(np.maximum(n_gpus / 8, 1), batch).log + np.log(np.minimum(n_gpus / 8, 1))
        is_own = takes_own_code(work, gpu_id)
        return tuned + own_code_rate(work.dnn.forward_flop.value * batch)[0] if is_own else tuned
    server = next((one for one in catalog.servers.values() if gpu_id in one.gpus), None)
    inside = "pcie3" if server is None or server.intra_link is None else server.intra_link.value.id
    group = ComputeGroup("" if server is None else server.id, gpu_id, inside, catalog.links[_USUAL_LINK])
    each = 8 if server is None else gpus_of(catalog, group)
    servers = np.ceil(n_gpus / each)
    run = TrainingRun.of(
        batch_per_gpu=batch,
        n_gpus_per_server=np.minimum(n_gpus, each),
        n_servers=servers,
        forward_flop=work.dnn.forward_flop.value * work_factor(work),
        gradient_bytes=all_reduced_bytes(work),
        peak_flop_per_s=peak_flop_per_s(catalog.gpus[gpu_id], work.request.precision),
        nic_bytes_per_s=each / _GPUS_PER_LINK * group.fabric.bytes_per_s,
        looked_up_bytes=looked_up_bytes(work),
    )
    terms = (network_terms(work, group, has_many, calibration, catalog) for has_many in (False, True))
    few, many = (run.samples_per_s(extended(term, work, group, calibration, catalog).values) for term in terms)
    # Counts of whole servers: GPUs that fill none in part.
    return np.asarray(np.log(np.where(servers > 1, many * n_gpus / (servers * each), few)))


def largest_batch(benchmark: str, gpu: Accelerator) -> float:
    """Largest batch published on a GPU of this generation and of no more memory.

    Without such a run that of any generation; where every one had more memory, the least by the share of it.
    """
    for published in (largest_batches(benchmark, gpu.generation), largest_batches(benchmark)):
        fitting = [batch for memory, batch in published if memory <= gpu.memory_bytes]
        if fitting:
            return max(fitting)
    return max(1.0, min(batch * gpu.memory_bytes / memory for memory, batch in largest_batches(benchmark)))


def measured_terms(work: ResolvedWorkload, group: ComputeGroup, catalog: Catalog) -> step_terms.StepTerms | None:
    """Terms at which the model of a step gives the parts that the fit of MLPerf runs has; all spread is of the rate.

    None where the rate does not come from that fit.
    """
    if not is_measured(work, group.gpu):
        return None
    factor = work_factor(work)
    parts = system_on(work.mlperf, group, gpus_of(catalog, group), 8 * 50e9, catalog).parts()
    known = accelerator(group.gpu)
    assert known is not None
    size = float(exchange.gradient_bytes(work.dnn.parameters.value, work.request.precision))
    values = np.zeros(len(step_terms.TERM_NAMES))
    flop_s = TRAINING_PASSES * work.dnn.forward_flop.value * factor / known.peak_flop_per_s
    values[step_terms.EFFICIENCY] = math.log(flop_s / parts.sample_s)
    values[step_terms.LAUNCH] = math.log(parts.launch_s)
    values[step_terms.INTRA] = -step_terms.ABSENT if parts.inside_s == 0 else math.log(size / parts.inside_s)
    values[step_terms.INTER] = math.log(size / parts.exchange_bytes)
    # Parts of a step follow one another, all of the exchange that is fitted is exposed, and nothing waits beside it.
    values[[step_terms.RUN_AHEAD, step_terms.FILL, step_terms.OVERLAP, step_terms.STRAGGLER, step_terms.SCALE_OUT]] = (
        step_terms.ABSENT
    )
    return step_terms.StepTerms(values, np.zeros((len(values), len(values))), np.zeros(()))


def at_measured_rates(
    run: TrainingRun,
    arguments: Mapping[str, Any],
    work: ResolvedWorkload,
    hosts: ServerRows,
    batch: Floats,
) -> TrainingRun:
    """Runs with the rates and spreads that were measured of their networks and generations of GPUs.

    ``run``: runs by the model of a step, at the peaks of ``catalog``. ``arguments``: those of :meth:`TrainingRun.of`
    that they have, without the peaks. ``batch`` (rows,): samples of one step on one GPU of every row.
    """
    groups, cols, catalog = hosts.groups, hosts.cols, hosts.catalog
    if not any(is_measured(work, group.gpu) for group in groups):
        return run
    peaks = np.array([published_peak_flop_per_s(group.gpu, catalog) for group in groups])
    nominal = TrainingRun.of(**arguments, peak_flop_per_s=peaks[cols.compute])
    # Of groups that nobody measured any terms do: their rate is taken from no fit.
    terms = [measured_terms(work, group, catalog) for group in groups]
    nothing = np.zeros(len(step_terms.TERM_NAMES))
    values = np.stack([nothing if term is None else term.values for term in terms])[cols.compute]
    shape = np.broadcast_shapes(run.shape, cols.compute.shape)
    modelled = np.broadcast_to(nominal.samples_per_s(values), shape)
    log_rate, log_sd = np.log(modelled), np.zeros(shape)
    servers, size = np.broadcast_to(hosts.n_servers, shape), np.broadcast_to(batch, shape)
    facts = np.broadcast_arrays(cols.compute, cols.gpus_per_server, cols.exchange_bytes_per_s)
    distinct, place = np.unique(np.stack([np.ravel(part) for part in facts], axis=1), axis=0, return_inverse=True)
    places = np.broadcast_to(np.reshape(place, facts[0].shape), shape)
    for number, (group, used, nic) in enumerate(distinct.tolist()):
        if terms[int(group)] is None:
            continue
        where = np.nonzero(places == number)
        found = system_on(work.mlperf, groups[int(group)], int(used), nic, catalog).rate(servers[where], size[where])
        log_rate[where], log_sd[where] = found.log, found.sd
    has_own_code = np.array([takes_own_code(work, group.gpu) for group in groups])
    where = np.nonzero(np.broadcast_to(has_own_code[cols.compute], shape))
    own_log, own_sd = own_code_rate(work.dnn.forward_flop.value * size[where])
    log_rate[where] += own_log
    log_sd[where] = np.hypot(log_sd[where], own_sd)
    is_fitted = np.broadcast_to(np.array([term is not None for term in terms])[cols.compute], shape)
    factor = np.where(is_fitted, np.exp(log_rate) / modelled, 1.0)
    return run.scaled(factor, log_sd)


def network_terms(
    work: ResolvedWorkload, group: ComputeGroup, has_many_servers: bool, calibration: Calibration, catalog: Catalog
) -> step_terms.StepTerms:
    """Terms by the model of a step as V100 systems were measured, of an analogy as if it were what it is like."""
    rest = (calibration, work.stack, work.request.precision, "inference" if work.is_inference else "training", catalog)
    if isinstance(work.request.dnn, CustomDnn):
        return _terms(work.request.dnn, *rest, group, has_many_servers)
    return _known_terms(work.dnn, *rest, group, has_many_servers)


def _terms(
    dnn: Dnn | CustomDnn,
    calibration: Calibration,
    stack: Stack,
    precision: str,
    task: str,
    catalog: Catalog,
    group: ComputeGroup,
    has_many_servers: bool,
) -> step_terms.StepTerms:
    return calibration.step_terms(
        stack=stack,
        dnn=dnn,
        precision=precision,
        gpu=catalog.gpus[group.gpu],
        intra_link=group.intra_link,
        inter_link=group.fabric.id if has_many_servers else None,
        task=task,
        server=group.server,
    )


# Most requests of a batch ask for few neural networks of the catalogue; those of a request are never asked for again.
_known_terms = lru_cache(maxsize=4096)(_terms)


def extended(
    terms: step_terms.StepTerms, work: ResolvedWorkload, group: ComputeGroup, calibration: Calibration, catalog: Catalog
) -> step_terms.StepTerms:
    """Terms of the model of V100 on a newer GPU, moved by what was measured of its generation; others as they are."""
    known = accelerator(group.gpu)
    if known is None:
        return terms
    anchor = catalog.dnns[anchor_of(work, catalog)]
    moved = _anchor_correction(calibration, catalog, anchor, group)
    moved += _waiting(work.dnn, terms, calibration, catalog, known, work.family)
    # Spread of the logarithm of a rate that is moved from V100 to a newer GPU: more where nobody ran the anchor.
    # What a relative gained is its own gain; of ResNet-50 it is that of images.
    is_near = work.sample_format in _IMAGES or anchor.id != _ANCHOR
    spread = _IMAGE_LOG_SD if is_near else _OTHER_LOG_SD
    between = np.hypot(terms.between_log_sd, float(np.hypot(spread, _anchor_log_sd(anchor.mlperf, group.gpu))))
    return replace(terms, values=_faster(terms.values, moved), between_log_sd=np.asarray(between))


def anchor_of(work: ResolvedWorkload, catalog: Catalog) -> str:
    """Network of MLPerf whose runs tell what a newer GPU does for a workload."""
    own = work.like or work.dnn.id
    return own if own in catalog.dnns and published_runs(catalog.dnns[own].mlperf) else _ANCHOR


@lru_cache(maxsize=4096)
def _anchor_correction(calibration: Calibration, catalog: Catalog, anchor: Dnn, group: ComputeGroup) -> float:
    """ln of the rate that was measured of a network over the one that the model of V100 gives at the GPU's peak.

    For one server, at the largest published batch, without what waits for memory.
    """
    known = accelerator(group.gpu)
    choice = choose_stack(anchor.id, "mixed", "training", catalog, calibration.measured)
    assert known is not None
    assert choice is not None
    used = gpus_of(catalog, group)
    batch = largest_batch(anchor.mlperf, known)
    measured = float(system_on(anchor.mlperf, group, used, 8 * 50e9, catalog).rate(1, batch).log)
    terms = _known_terms(anchor, calibration, choice.stack, "mixed", "training", catalog, group, False)
    # Tables are divided over the GPUs: their gradients are not exchanged.
    trained = anchor.parameters.value - looked_up_parameters(anchor, anchor.family)
    run = TrainingRun.of(
        batch_per_gpu=batch,
        n_gpus_per_server=used,
        n_servers=1,
        forward_flop=anchor.forward_flop.value,
        gradient_bytes=float(exchange.gradient_bytes(trained, "mixed")),
        peak_flop_per_s=known.peak_flop_per_s,
        nic_bytes_per_s=1e9,
    )
    moved = 0.0
    for _ in range(_NEWTON_STEPS):
        values = _faster(terms.values, moved)
        slopes = step_terms.log_slopes(lambda some: np.log(run.samples_per_s(some)), values)
        slope = float(slopes[step_terms.EFFICIENCY] - slopes[step_terms.LAUNCH])
        # A link that bounds the rate below what was measured leaves no solution: the arithmetic then takes no time.
        moved = min(moved + (measured - math.log(float(run.samples_per_s(values)))) / slope, _MOST_MOVED)
    return moved - _waiting(anchor, terms, calibration, catalog, known, anchor.family)


def _faster(values: Floats, moved: float) -> Floats:
    """Terms of a GPU on which arithmetic and launches take exp(-moved) of the time."""
    found = values.copy()
    found[step_terms.EFFICIENCY] += moved
    found[step_terms.LAUNCH] -= moved
    return found


def gpus_of(catalog: Catalog, group: ComputeGroup) -> int:
    """GPUs of a server of a compute group, eight where no source gives them."""
    count = catalog.servers[group.server].n_gpus
    return 8 if count is None else int(count.value)


def _waiting(
    dnn: Dnn, terms: step_terms.StepTerms, calibration: Calibration, catalog: Catalog, known: Accelerator, family: str
) -> float:
    """ln of the rate over what arithmetic alone would give: what of a step waits for memory gained less. 0 or below."""
    old = catalog.gpus[_V100]
    assert old.memory_bytes_per_s is not None
    activations = calibration.gpu_memory.activations(
        dnn_id=dnn.id, family=family, forward_flop=dnn.forward_flop.value, precision="mixed"
    )
    peak = old.peak_mixed_flop_per_s.value
    sample_s = TRAINING_PASSES * dnn.forward_flop.value / (peak * math.exp(float(terms.values[step_terms.EFFICIENCY])))
    memory_s = _PASSES_OVER_ACTIVATIONS * activations.sample_bytes / old.memory_bytes_per_s.value
    share = min(memory_s / sample_s, _MOST_WAITING)
    arithmetic, memory = known.peak_flop_per_s / peak, known.memory_bytes_per_s / old.memory_bytes_per_s.value
    return -math.log(1 - share + share * arithmetic / memory)


@cache
def _anchor_log_sd(benchmark: str, gpu_id: str) -> float:
    """How far the rate of the anchor itself is known on a GPU."""
    name = accelerator_names()[gpu_id]
    batch = largest_batch(benchmark, sourced_accelerators()[name])
    return float(system_rates(MeasuredSystem(benchmark, name, 8, "nvlink", 8 * 50e9, "")).rate(1, batch).sd)
