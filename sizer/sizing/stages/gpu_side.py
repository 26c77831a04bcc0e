"""What the GPUs of many designs do with a network, whatever data it reads: stored for the next request.

Arrays may have any shape, as in :mod:`sizer.sizing.stages.evaluate`.
"""

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sizer.base.arrays import Floats, Ints, Rows
from sizer.base.stored_answers import StoredAnswers, stores_by_catalog
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import peak_flop_per_s
from sizer.calibrate.own_networks import unknown_network_log_sd
from sizer.catalog.model import Catalog
from sizer.perf import pipeline
from sizer.perf.stage_capacity import Capacity
from sizer.perf.step_terms import EFFICIENCY, INTRA, LAUNCH, TERM_NAMES, StepTerms
from sizer.perf.training_step import InferenceRun, TrainingRun
from sizer.physical.platform import Platform
from sizer.sizing.stages import gpu_memory, measured_rates, own_networks, sharding
from sizer.sizing.stages.laid_out_models import laid_out_model
from sizer.sizing.stages.platform_columns import Columns, ComputeGroup, LaidOutRun, ServerRows, compute_groups
from sizer.workload.custom_network import CustomDnn
from sizer.workload.resolve import ResolvedWorkload

# Rates of the GPUs of many designs, with what draws of the coefficients make of them.
#
# Draws cost some hundred evaluations of a step. How far they move a rate changes slowly with the number of servers, so
# they are made once for all platforms that compute alike and at a few sizes; between these the move is interpolated.

# Sizes drawn at, by powers of this ratio. Halfway between two of them the interpolated probability is off by less than
# half a hundredth.
_RATIO = 2.0
# Up to so many powers of it at least, where one server and more are asked about.
_USUAL_LAST = 8

Of = TypeVar("Of")
_Run = TrainingRun | InferenceRun | LaidOutRun
RunOf = Callable[[Columns, Ints, Floats], _Run]


@dataclass(frozen=True)
class GpuRates:
    """Rates of all GPUs of every design. [samples/s]"""

    gpu: Capacity  # with exchange and waiting, without the links from the hosts
    alone: Floats  # median without exchange and waiting
    exchange: Floats  # the exchange alone; infinite where there is none
    laid_out: LaidOutRun | None = None  # the run that they come from, of what a layout divides


def gpu_rates(
    run_of: RunOf,
    terms: Sequence[StepTerms],
    cols: Columns,
    n_servers: Ints,
    batch_per_gpu: Floats,
    groups: Sequence[ComputeGroup],
    stored: "dict[Hashable, Floats]",
) -> GpuRates:
    """Rates of designs.

    ``run_of``: gives the runs on servers of some columns, at numbers of servers and batches that broadcast with them.
    ``terms``: of every compute group, in the order of ``cols.compute``: on one server, and on several. ``cols``: one
    entry a row, or (platforms, 1). ``n_servers``: servers of each row, or (1, sizes). ``batch_per_gpu``: samples of one
    step on one GPU of each row, or (platforms, 1). ``groups``: the compute groups. ``stored``: draws of this network by
    group, server and first size, shape (:class:`_Drawn`, sizes); those that are missing are added.
    """
    run = run_of(cols, n_servers, batch_per_gpu)
    if isinstance(run, LaidOutRun):
        gpu = Capacity.log_normal(run.median_samples_per_s, run.log_sd)
        return GpuRates(gpu, gpu.median, np.full(gpu.median.shape, np.inf), run)
    first, batch, place = _distinct(cols, batch_per_gpu)
    distinct = Columns(**{name: np.ravel(part)[first][:, None] for name, part in vars(cols).items()})
    sizes, below, above, share = _grid(n_servers)
    each = StepTerms.stack(list(terms))
    if isinstance(run, InferenceRun):
        one_server = run_of(distinct, np.ones((1, 1), dtype=np.int64), batch[:, None])
        assert isinstance(one_server, InferenceRun)
        drawn = one_server.rate(each.take(2 * distinct.compute))
        gpu = Capacity.of_estimate(drawn.compute).flat_rows(place).scaled(n_servers)
        return GpuRates(gpu, gpu.median, np.full(gpu.median.shape, np.inf))

    def of_kinds(some: Ints) -> _Drawn:
        servers = distinct.take(some)
        few = run_of(servers, sizes[None, :], batch[some, None])
        assert isinstance(few, TrainingRun)
        # Terms of several servers are the same at every size.
        ends = [slice(0, 1), slice(1, None)] if sizes[0] == 1 < sizes.size else [slice(None)]
        parts = [_drawn(few.at_sizes(end), each.take(2 * servers.compute + (sizes[end][:1] > 1))) for end in ends]
        joined = (np.concatenate(part, axis=1) for part in zip(*(one[1:] for one in parts), strict=True))
        return _Drawn(np.broadcast_to(parts[0].alone[:, None], (len(some), sizes.size)), *joined)

    facts = (distinct.compute, distinct.gpus_per_server, distinct.exchange_bytes_per_s, batch)
    kinds = [
        (groups[group], *others, int(sizes[0]))
        for group, *others in zip(*(np.ravel(fact).tolist() for fact in facts), strict=True)
    ]
    lacks = [kind not in stored or stored[kind].shape[1] < sizes.size for kind in kinds]
    missing, step = np.flatnonzero(lacks), max(_MOST_DRAWN // sizes.size, 1)
    for start in range(0, missing.size, step):
        some = missing[start : start + step]
        stored.update(zip((kinds[one] for one in some), np.stack(of_kinds(some), axis=1), strict=True))
    moved = _Drawn(*np.stack([stored[kind][:, : sizes.size] for kind in kinds], axis=1))

    def at_rows(table: Floats) -> Floats:
        return np.asarray(table[place, below] * (1 - share) + table[place, above] * share)

    medians = run.medians(each.values[2 * cols.compute + (n_servers > 1)])
    median, sd = medians.samples_per_s * np.exp(at_rows(moved.log_ratio)), at_rows(moved.log_sd)
    alone = (moved.alone[:, 0] / sizes[0])[place] * n_servers
    gpu = Capacity(median, sd, np.zeros_like(sd), at_rows(moved.skew))
    return GpuRates(gpu, alone, medians.exchange_samples_per_s)


class _Drawn(NamedTuple):
    """What draws make of the rates of a few runs. Arrays (kinds, sizes)."""

    alone: Floats  # median without exchange and waiting, of the fewest servers [samples/s]
    log_ratio: Floats  # logarithm of the median over the rate at the values of the terms
    log_sd: Floats
    skew: Floats


# Kinds of servers x sizes that are drawn at once: their terms take hundreds of times as much memory.
_MOST_DRAWN = 1024


def _drawn(run: TrainingRun, terms: StepTerms) -> _Drawn:
    rate = run.rate(terms)
    spread = Capacity.of_estimate(rate.total)
    log_ratio = np.log(rate.total.value / run.samples_per_s(terms.values))
    return _Drawn(rate.compute.value[:, 0], log_ratio, spread.log_sd, spread.skew)


def _distinct(cols: Columns, batch_per_gpu: Floats) -> tuple[Ints, Floats, Ints]:
    """First row and batch of each kind of server, fabric and batch that a step knows, and which of them rows have."""
    if cols.compute.size == batch_per_gpu.size == 1:
        return np.zeros(1, dtype=np.int64), np.ravel(batch_per_gpu), np.zeros(cols.compute.shape, dtype=np.int64)
    facts = np.stack([np.ravel(part) for part in (cols.compute, cols.gpus_per_server, cols.exchange_bytes_per_s)])
    _, first, index = np.unique(facts, axis=1, return_index=True, return_inverse=True)
    levels, level = np.unique(batch_per_gpu, return_inverse=True)
    codes = np.reshape(index, cols.compute.shape) * levels.size + np.reshape(level, batch_per_gpu.shape)
    used, place = np.unique(codes, return_inverse=True)
    return first[used // levels.size], levels[used % levels.size], np.reshape(place, codes.shape)


def _grid(n_servers: Ints) -> tuple[Ints, Ints, Ints, Floats]:
    """Sizes that are drawn at; of every entry, the places of the two beside it and the share of the upper one."""
    step = np.log(n_servers) / np.log(_RATIO)
    low = np.floor(step + 1e-9).astype(np.int64)
    share = np.where(np.abs(step - low) < 1e-9, 0.0, step - low)
    first, last = int(low.min()), int((low + (share > 0)).max())
    if first == 0 < last:
        last = max(last, _USUAL_LAST)  # the next question asks for other sizes
    sizes = np.round(_RATIO ** np.arange(first, last + 1)).astype(np.int64)
    return sizes, low - first, np.minimum(low + 1, last) - first, share


# Designs of one question whose answers are stored: requests of a batch ask for few networks on the same servers.
_MOST_ROWS = 8192


@dataclass(frozen=True)
class GpuSide(Rows):
    """What the GPUs do with a network. Arrays over rows; rates of the whole design in samples/s."""

    gpu: Capacity  # step with the part of the exchange that is not hidden
    gpu_alone: Floats  # without exchange and stragglers
    exchange: Floats  # the exchange alone
    host_link: Capacity  # between host and GPUs
    exchanged_bytes: Floats  # that enter a server's NICs per sample
    batch_per_gpu: Floats
    within_log_sd: Floats  # of ``gpu``: scatter of runs within one source
    between_log_sd: float  # and between sources; the rest of its spread is that of the parameters
    replicas: Floats | None  # of a language model of which each reads its weights at a restart
    timely: Floats | None  # probability that first tokens keep their limit at the target; None where nobody waits


def gpu_side(work: ResolvedWorkload, hosts: ServerRows) -> GpuSide:
    """GPU side of one workload."""

    def work_out() -> GpuSide:
        terms = _terms_of_groups(work, hosts)
        rates = _rates(work, hosts, terms)
        laid_out, checkpoints = rates.laid_out, work.language_checkpoints
        # Each replica reads its weights for itself at a restart.
        reads_replicas = checkpoints is not None and bool(checkpoints.replica_bytes)
        within = rates.gpu.log_sd  # of what a layout divides, whose terms have none
        if not work.is_laid_out:
            within = np.array([float(each.scatter_log_sd) for each in terms])[terms_index(cols, hosts.n_servers)]
        moved = np.zeros(hosts.shape) if work.is_inference else exchanged_bytes(work, hosts)
        return GpuSide(
            gpu=rates.gpu,
            gpu_alone=rates.alone,
            exchange=np.where(measured_rates.measured_rows(work, hosts), np.inf, rates.exchange),
            host_link=host_link(work, hosts),
            exchanged_bytes=np.broadcast_to(moved, hosts.shape),
            batch_per_gpu=np.broadcast_to(gpu_memory.batches(work, hosts), hosts.shape),
            within_log_sd=np.broadcast_to(within, hosts.shape),
            between_log_sd=float(np.max(_between_log_sd(work, hosts, terms))),
            replicas=laid_out.replicas if laid_out is not None and reads_replicas else None,
            timely=None if laid_out is None else laid_out.timely,
        )

    cols, n_servers = hosts.cols, hosts.n_servers
    has_batches = bool(np.ndim(work.batch_per_gpu))  # of each row another one
    if work.is_laid_out or has_batches:
        return work_out()
    is_by_platform = cols.compute.ndim > 1 and cols.compute.size > 1 == cols.compute.shape[1]
    if is_by_platform and n_servers.size == n_servers.shape[-1]:
        # Servers that differ in what feeds the GPUs compute alike, at sizes that all of them have.
        _, first, place = np.unique(np.stack(cols.as_rows(_READ)), axis=1, return_index=True, return_inverse=True)
        if first.size < place.size:
            side = gpu_side(work, replace(hosts, cols=cols.take(first)))
            return side.take(np.ravel(place))
    # All that counts of platforms besides their columns are the groups.
    key: Hashable = (gpu_memory.network_key(work), tuple(hosts.groups))
    arrays = tuple((one.shape, one.tobytes()) for one in (n_servers, *cols.as_rows(_READ)))
    if cols.compute.size * n_servers.size > _MOST_ROWS:
        return work_out()
    stored = _of_one if len(hosts.platforms) == n_servers.size == 1 else _of_many
    return stored(hosts.catalog, hosts.calibration).get((key, arrays), work_out)


# Single designs are asked about far more often, and must not displace the others.
_Stores = Callable[[Catalog, Calibration], StoredAnswers[GpuSide]]
_of_one: _Stores = stores_by_catalog(4096)
_of_many: _Stores = stores_by_catalog(512)
# Terms of a network by compute group, and its draws by kind of server.
_terms: Callable[[Catalog, Calibration], StoredAnswers[dict[Hashable, StepTerms]]] = stores_by_catalog(64)
_draws: Callable[[Catalog, Calibration], StoredAnswers[dict[Hashable, Floats]]] = stores_by_catalog(64)


def _of_network(stored: StoredAnswers[dict[Hashable, Of]], work: ResolvedWorkload) -> dict[Hashable, Of]:
    """What is stored of a network; nothing where each row has a batch of its own."""
    return {} if np.ndim(work.batch_per_gpu) else stored.get(gpu_memory.network_key(work), dict)


# What the GPU side reads of the columns.
_READ = (
    *("compute", "gpus_per_server", "exchange_bytes_per_s", "host_links", "host_link_gain"),
    "exchanges_by_storage_nics",
)


def _between_log_sd(work: ResolvedWorkload, hosts: ServerRows, terms: Sequence[StepTerms]) -> Floats:
    """Spread of the logarithm of a rate between sources."""
    if work.own_kind is not None:
        return _own_log_sd(work, hosts, gpu_memory.batches(work, hosts))
    return np.array([float(term.between_log_sd) for term in terms])


def _own_log_sd(work: ResolvedWorkload, hosts: ServerRows, batch_per_gpu: Floats) -> Floats:
    """Spread of the logarithm of the rate of a network of one's own on every row, by its batch and number of GPUs."""
    batch, compute, n_gpus = np.broadcast_arrays(batch_per_gpu, hosts.cols.compute, hosts.n_gpus)
    log_sd = np.zeros(batch.shape)
    for number, group in enumerate(hosts.groups):
        rows, gpu = compute == number, hosts.catalog.gpus[group.gpu]
        one_gpu = own_networks.rate_log_sd(work, gpu, own_networks.own_fit(work, gpu, hosts.catalog), batch[rows])
        log_sd[rows] = np.hypot(one_gpu, own_networks.beyond_runs_log_sd(work, gpu, n_gpus[rows]))
    return log_sd


def _after_measured(
    step_terms: StepTerms,
    work: ResolvedWorkload,
    group: ComputeGroup,
    calibration: Calibration,
    catalog: Catalog,
) -> tuple[float, float]:
    """What the customer's rates make of one on a server: ln of its factor, and its spread between sources.

    Normal in the logarithm. A rate tells of the network and the team; on the same GPU of all that was not known there.
    """
    apart, shared = float(step_terms.between_log_sd), unknown_network_log_sd() if _is_analogy(work) else 0.0
    mean, variance = 0.0, apart**2 + shared**2
    for rate in work.request.measured:
        there = replace(group, gpu=rate.gpu)
        terms = _modelled(work, there, False, calibration, catalog)
        run = TrainingRun.of(
            batch_per_gpu=rate.batch_per_gpu or work.batch_on(rate.gpu),
            n_gpus_per_server=rate.gpus,
            n_servers=1,
            forward_flop=work.dnn.forward_flop.value * sharding.work_factor(work),
            gradient_bytes=sharding.all_reduced_bytes(work),
            peak_flop_per_s=peak_flop_per_s(catalog.gpus[rate.gpu], work.request.precision),
            nic_bytes_per_s=1e9,
            looked_up_bytes=sharding.looked_up_bytes(work),
        )
        error = np.log(rate.samples_per_s / float(run.samples_per_s(terms.values)))
        known = variance if rate.gpu == group.gpu else max(variance - apart**2, 0.0)
        total = variance if rate.gpu == group.gpu else known + float(terms.between_log_sd) ** 2
        gain = known / (total + (rate.within_percent / 100) ** 2)
        mean, variance = mean + gain * (error - mean), variance - gain * known
    return mean, float(np.sqrt(variance))


def _is_analogy(work: ResolvedWorkload) -> bool:
    """Whether a network of one's own is like another, of which it is no version."""
    return isinstance(work.request.dnn, CustomDnn) and work.request.dnn.version_of is None


def step_rates(work: ResolvedWorkload, hosts: ServerRows) -> GpuRates:
    """What the GPUs do."""
    return _rates(work, hosts, _terms_of_groups(work, hosts))


def _rates(work: ResolvedWorkload, hosts: ServerRows, terms: list[StepTerms]) -> GpuRates:
    def run_of(some: Columns, n_servers: Ints, batch: Floats) -> _Run:
        return step_run(work, replace(hosts, cols=some, n_servers=n_servers), batch)

    batch, stored = gpu_memory.batches(work, hosts), _of_network(_draws(hosts.catalog, hosts.calibration), work)
    return gpu_rates(run_of, terms, hosts.cols, hosts.n_servers, batch, hosts.groups, stored)


def host_link(work: ResolvedWorkload, hosts: ServerRows) -> Capacity:
    """What the links between host and GPUs carry of a workload."""
    cols = hosts.cols
    capacity = pipeline.host_link_stage(
        hosts.n_servers, cols.gpus_per_server, cols.host_links, work.dnn.input_bytes.value, *hosts.calibration.host_link
    )
    return capacity.scaled(cols.host_link_gain)


def gpu_samples_per_s(run: TrainingRun | InferenceRun | LaidOutRun, values: Floats) -> Floats:
    """Rate of the GPUs at given terms, shape (..., k), without the links that feed them. [samples/s]"""
    return run.gpu_samples_per_s(values) if isinstance(run, InferenceRun) else run.samples_per_s(values)


def group_terms(
    work: ResolvedWorkload, platforms: Sequence[Platform], n_servers: Ints, calibration: Calibration, catalog: Catalog
) -> list[StepTerms]:
    """Terms of every compute group of some platforms on one server and on several, by :func:`terms_index`.

    Between several servers a link is uncertain that one server does not use.
    """
    groups = compute_groups(platforms)[0]
    if work.is_laid_out:
        return [_NO_TERMS] * (2 * len(groups))
    # Where all rows are of one kind, nobody asks for the terms of the other.
    is_many = (n_servers > 1) & (not work.is_inference)
    kinds = (False, True) if is_many.any() and not is_many.all() else (bool(is_many.any()),) * 2
    stored = _of_network(_terms(catalog, calibration), work)
    for one in itertools.product(groups, set(kinds)):
        if one not in stored:
            stored[one] = _group_terms(work, *one, calibration, catalog)
    return [stored[group, has_many] for group in groups for has_many in kinds]


def _terms_of_groups(work: ResolvedWorkload, hosts: ServerRows) -> list[StepTerms]:
    return group_terms(work, hosts.platforms, hosts.n_servers, hosts.calibration, hosts.catalog)


def terms_index(cols: Columns, n_servers: Ints) -> Ints:
    """Place among :func:`group_terms` of every row."""
    return np.asarray(2 * cols.compute + (n_servers > 1))


def terms_of(
    work: ResolvedWorkload, platform: Platform, n_servers: int, calibration: Calibration, catalog: Catalog
) -> StepTerms:
    """Terms of one platform at one number of servers."""
    return group_terms(work, [platform], np.array([n_servers]), calibration, catalog)[0]


def _group_terms(
    work: ResolvedWorkload, group: ComputeGroup, has_many_servers: bool, calibration: Calibration, catalog: Catalog
) -> StepTerms:
    fitted = measured_rates.measured_terms(work, group, catalog)
    if fitted is not None:
        return fitted
    terms = _modelled(work, group, has_many_servers, calibration, catalog)
    if work.own_kind is not None or not (_is_analogy(work) or work.request.measured):
        return terms
    # The network that it is like is an analogy: networks of a kind differ, and so do the teams that train them.
    faster, between = _after_measured(terms, work, group, calibration, catalog)
    values = terms.values.copy()
    values[[EFFICIENCY, INTRA]] += faster
    values[LAUNCH] -= faster
    return replace(terms, values=values, between_log_sd=np.asarray(between))


def _modelled(
    work: ResolvedWorkload, group: ComputeGroup, has_many_servers: bool, calibration: Calibration, catalog: Catalog
) -> StepTerms:
    """Terms by the model of a step, of an analogy as if it were the network that it is like."""
    terms = measured_rates.network_terms(work, group, has_many_servers, calibration, catalog)
    if work.own_kind is not None:
        gpu = catalog.gpus[group.gpu]
        return own_networks.own_terms(work, gpu, own_networks.own_fit(work, gpu, catalog), terms, catalog.gpus)
    return measured_rates.extended(terms, work, group, calibration, catalog)


def step_run(work: ResolvedWorkload, hosts: ServerRows, batch_per_gpu: Floats | None = None) -> _Run:
    """Counts and sizes of the steps of every row; batches by default the workload's.

    The batch of what a layout divides is that of its layout.
    """
    if (model := laid_out_model(work)) is not None:
        return model.run(work, hosts)
    cols, gpus, precision = hosts.cols, hosts.catalog.gpus, work.request.precision
    peak = np.array([peak_flop_per_s(gpus[group.gpu], precision) for group in hosts.groups])[cols.compute]
    batch = gpu_memory.batches(work, hosts) if batch_per_gpu is None else batch_per_gpu
    if work.is_inference:
        return InferenceRun.of(
            batch_per_gpu=batch,
            n_gpus_per_server=cols.gpus_per_server,
            n_servers=hosts.n_servers,
            forward_flop=work.dnn.forward_flop.value,
            peak_flop_per_s=peak,
            input_bytes=work.dnn.input_bytes.value,
            host_links_per_server=cols.host_links,
        )
    arguments: dict[str, Any] = {
        "batch_per_gpu": batch,
        "n_gpus_per_server": cols.gpus_per_server,
        "n_servers": hosts.n_servers,
        "forward_flop": work.dnn.forward_flop.value * sharding.work_factor(work),
        "gradient_bytes": sharding.all_reduced_bytes(work),
        "nic_bytes_per_s": cols.exchange_bytes_per_s,
        "looked_up_bytes": sharding.looked_up_bytes(work),
    }
    run = TrainingRun.of(**arguments, peak_flop_per_s=peak)
    if work.own_kind is not None:
        return replace(run, log_sd=_own_log_sd(work, hosts, batch))
    return measured_rates.at_measured_rates(run, arguments, work, hosts, batch)


def exchanged_bytes(work: ResolvedWorkload, hosts: ServerRows) -> Floats:
    """Bytes that a sample costs the NICs to the storage in the exchange; 0 where it has NICs of its own."""
    cols = hosts.cols
    if work.is_laid_out or not np.any(cols.exchanges_by_storage_nics):
        return np.zeros(hosts.shape)
    batch = gpu_memory.batches(work, hosts)
    # Looked-up vectors cross the network like gradients: forward once, and their gradients back.
    moved = sharding.all_reduced_bytes(work) + cols.gpus_per_server * batch * sharding.looked_up_bytes(work)
    exchanged = pipeline.exchanged_bytes_per_sample(moved, hosts.n_servers, cols.gpus_per_server, batch)
    return np.asarray(exchanged * cols.exchanges_by_storage_nics)


# The rate of what a layout divides comes from that, with its spread.
_NO_TERMS = StepTerms(np.zeros(len(TERM_NAMES)), np.zeros((len(TERM_NAMES),) * 2), np.zeros(()))
