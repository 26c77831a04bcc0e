"""What the servers do, without regard to storage, on many designs in one pass.

Arrays may have any shape, as in :mod:`sizer.sizing.stages.evaluate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.identity_cache import cached_by_identity
from sizer.base.interruption import pause_point
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import peak_flop_per_s
from sizer.calibrate.fit.hosts import HostWork
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, Stack
from sizer.perf import caches, pipeline
from sizer.perf.inference_step import InferenceRun
from sizer.perf.stage_capacity import Capacity
from sizer.perf.step_terms import TERM_NAMES, StepTerms
from sizer.perf.training_step import TrainingRun
from sizer.physical.platform import Platform
from sizer.sizing.stages import gpu_memory, language_rates, measured_rates
from sizer.sizing.stages.host_bound import host_bound
from sizer.sizing.stages.language_rates import LanguageRun
from sizer.sizing.stages.platform_columns import Columns, ComputeGroup, compute_groups
from sizer.sizing.stages.step_rates import GpuRates, gpu_rates
from sizer.workload.custom_network import CustomDnn
from sizer.workload.resolve import ResolvedWorkload


@dataclass(frozen=True)
class Compute:
    """What the servers do, without regard to storage. Arrays over rows; rates of the whole design in samples/s."""

    gpu: Capacity  # step with the part of the exchange that is not hidden
    gpu_alone: Floats  # without exchange and stragglers
    exchange: Floats  # the exchange alone
    decode: Capacity
    host_link: Capacity  # between host and GPUs
    core_s_per_sample: float
    host: HostWork  # line of that work
    exchanged_bytes: Floats  # that enter a server's NICs per sample
    hit_fraction: Floats  # of a server's cache, from the second epoch on
    miss_log_sd: Floats  # spread of the logarithm of what the cache does not serve
    batch_per_gpu: Floats
    within_log_sd: Floats  # of ``gpu``: scatter of runs within one source
    between_log_sd: float  # and between sources; the rest of its spread is that of the parameters
    replicas: Floats | None = None  # of a language model of which each reads its weights at a restart

    def take(self, rows: Ints) -> "Compute":
        """Compute side of some rows of the first axis."""
        return replace(
            self,
            gpu=self.gpu.take(rows),
            gpu_alone=self.gpu_alone[rows],
            exchange=self.exchange[rows],
            decode=self.decode.take(rows),
            host_link=self.host_link.take(rows),
            exchanged_bytes=self.exchanged_bytes[rows],
            hit_fraction=self.hit_fraction[rows],
            miss_log_sd=self.miss_log_sd[rows],
            batch_per_gpu=self.batch_per_gpu[rows],
            within_log_sd=self.within_log_sd[rows],
            replicas=None if self.replicas is None else self.replicas[rows],
        )


def compute(
    work: ResolvedWorkload,
    platforms: Sequence[Platform],
    cols: Columns,
    n_servers: Ints,
    calibration: Calibration,
    catalog: Catalog,
) -> Compute:
    """Compute side of one workload.

    Parameters
    ----------
    work : ResolvedWorkload
        The workload.
    platforms : sequence of Platform
        All platforms, in the order of ``cols.compute``'s groups.
    cols : Columns
        One entry a row.
    n_servers : ndarray of int, shape (rows,) or one that broadcasts with the columns
        Servers of each row. [-]
    calibration : Calibration
        Coefficients of the performance model.
    catalog : Catalog
        Parts of the platforms.
    """
    pause_point()
    shape = np.broadcast_shapes(cols.cores.shape, n_servers.shape)
    terms = group_terms(work, platforms, n_servers, calibration, catalog)
    rates = step_rates(work, platforms, cols, n_servers, terms, catalog)
    within = np.array([float(one.scatter_log_sd) for one in terms])[cols.compute]
    moved = np.zeros(shape) if work.is_inference else exchanged_bytes(work, platforms, cols, n_servers)
    host = calibration.host_work(work.sample_format, work.stack)
    core_s, decode_sd = core_seconds(work, calibration)
    decode = pipeline.decode_stage(n_servers, cols.cores, core_s, decode_sd)
    hits, misses = cache_hits(work, cols, n_servers, calibration)
    return Compute(
        gpu=rates.gpu,
        gpu_alone=rates.alone,
        exchange=np.where(measured_rates.measured_rows(work, platforms, cols), np.inf, rates.exchange),
        decode=decode,
        host_link=host_link(work, cols, n_servers, calibration),
        core_s_per_sample=core_s,
        host=host,
        exchanged_bytes=np.broadcast_to(moved, shape),
        hit_fraction=hits,
        miss_log_sd=misses,
        batch_per_gpu=np.broadcast_to(gpu_memory.batches(work, platforms, cols, n_servers), shape),
        within_log_sd=np.broadcast_to(within, shape),
        between_log_sd=max(float(one.between_log_sd) for one in terms),
        replicas=_replicas(work, platforms, cols, n_servers, catalog),
    )


def _replicas(
    work: ResolvedWorkload, platforms: Sequence[Platform], cols: Columns, n_servers: Ints, catalog: Catalog
) -> Floats | None:
    """Replicas of a language model where each reads its weights for itself at a restart."""
    if work.language is None or not work.language.checkpoints.replica_bytes:
        return None
    return language_rates.language_run(work, platforms, cols, n_servers, catalog).replicas


def step_rates(
    work: ResolvedWorkload,
    platforms: Sequence[Platform],
    cols: Columns,
    n_servers: Ints,
    terms: list[StepTerms],
    catalog: Catalog,
) -> GpuRates:
    """What the GPUs do; ``terms`` are :func:`group_terms`, the other arguments those of :func:`compute`."""
    return gpu_rates(lambda some, n: step_run(work, platforms, some, n, catalog), terms, cols, n_servers)


def host_link(work: ResolvedWorkload, cols: Columns, n_servers: Ints, calibration: Calibration) -> Capacity:
    """What the links between host and GPUs carry of a workload."""
    rate, log_sd = calibration.host_link
    found = pipeline.host_link_stage(
        n_servers, cols.gpus_per_server, cols.host_links, work.dnn.input_bytes.value, rate, log_sd
    )
    return found.scaled(cols.host_link_gain)


def gpu_samples_per_s(run: TrainingRun | InferenceRun | LanguageRun, values: Floats) -> Floats:
    """Rate of the GPUs at given terms, shape (..., k), without the links that feed them. [samples/s]"""
    return run.gpu_samples_per_s(values) if isinstance(run, InferenceRun) else run.samples_per_s(values)


def group_terms(
    work: ResolvedWorkload, platforms: Sequence[Platform], n_servers: Ints, calibration: Calibration, catalog: Catalog
) -> list[StepTerms]:
    """Terms of every compute group of some platforms, in the order of ``compute_groups``."""
    if work.language is not None:
        return [
            _language_terms(language_rates.log_scatter(work, platforms, group, n_servers, catalog))
            for group in range(len(compute_groups(platforms)[0]))
        ]
    task = "inference" if work.is_inference else "training"
    precision, many_servers = work.request.precision, bool((n_servers > 1).any())
    rest = (calibration, work.stack, precision, task, catalog)
    found = []
    for group in compute_groups(platforms)[0]:
        if measured_rates.is_measured(work, group.gpu):
            found.append(measured_rates.measured_terms(work, group, catalog))
            continue
        terms = (
            _terms(work.request.dnn, *rest, group, many_servers)
            if isinstance(work.request.dnn, CustomDnn)
            else _known_terms(work.dnn, *rest, group, many_servers)
        )
        found.append(measured_rates.extended(terms, work, group, calibration, catalog))
    return found


def step_run(
    work: ResolvedWorkload, platforms: Sequence[Platform], cols: Columns, n_servers: Ints, catalog: Catalog
) -> TrainingRun | InferenceRun | LanguageRun:
    """Counts and sizes of the steps of every row; arguments as of :func:`compute`."""
    if work.language is not None:
        return language_rates.language_run(work, platforms, cols, n_servers, catalog)
    groups, _ = compute_groups(platforms)
    precision = work.request.precision
    peak = np.array([peak_flop_per_s(catalog.gpus[group.gpu], precision) for group in groups])[cols.compute]
    batch = gpu_memory.batches(work, platforms, cols, n_servers)
    if work.is_inference:
        return InferenceRun.of(
            batch_per_gpu=batch,
            n_gpus_per_server=cols.gpus_per_server,
            n_servers=n_servers,
            forward_flop=work.dnn.forward_flop.value,
            peak_flop_per_s=peak,
            input_bytes=work.dnn.input_bytes.value,
            host_links_per_server=cols.host_links,
        )
    arguments: dict[str, Any] = {
        "batch_per_gpu": batch,
        "n_gpus_per_server": cols.gpus_per_server,
        "n_servers": n_servers,
        "forward_flop": work.dnn.forward_flop.value * gpu_memory.work_factor(work),
        "gradient_bytes": gpu_memory.gradient_bytes(work),
        "nic_bytes_per_s": cols.exchange_bytes_per_s,
        "looked_up_bytes": gpu_memory.looked_up_bytes(work),
    }
    run = TrainingRun.of(**arguments, peak_flop_per_s=peak)
    if not work.mlperf:
        return run
    published = np.array([measured_rates.published_peak_flop_per_s(group.gpu, catalog) for group in groups])
    nominal = TrainingRun.of(**arguments, peak_flop_per_s=published[cols.compute])
    return measured_rates.at_measured_rates(run, nominal, work, platforms, cols, n_servers, batch, catalog)


def exchanged_bytes(work: ResolvedWorkload, platforms: Sequence[Platform], cols: Columns, n_servers: Ints) -> Floats:
    """Bytes that a sample of a training costs a server's NICs in the exchange."""
    if work.language is not None:
        # Gradients have a network of their own next to the storage.
        return np.zeros(np.broadcast_shapes(cols.compute.shape, n_servers.shape))
    batch = gpu_memory.batches(work, platforms, cols, n_servers)
    # Looked-up vectors cross the network like gradients: forward once, and their gradients back.
    moved = gpu_memory.gradient_bytes(work) + cols.gpus_per_server * batch * gpu_memory.looked_up_bytes(work)
    return pipeline.exchanged_bytes_per_sample(moved, n_servers, cols.gpus_per_server, batch)


def _language_terms(log_sd: float) -> StepTerms:
    """Terms of a rate that comes from a layout: its spread alone."""
    k = len(TERM_NAMES)
    return StepTerms(np.zeros(k), np.zeros((k, k)), np.array(log_sd))


def _terms(
    dnn: Dnn | CustomDnn,
    calibration: Calibration,
    stack: Stack,
    precision: str,
    task: str,
    catalog: Catalog,
    group: ComputeGroup,
    has_many_servers: bool,
) -> StepTerms:
    """Terms of one compute group."""
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
_known_terms = cached_by_identity(_terms)


def core_seconds(work: ResolvedWorkload, calibration: Calibration) -> tuple[float, float]:
    """Core time that a sample costs the host, and the spread of its logarithm. [s], [-]"""
    host = calibration.host_work(work.sample_format, work.stack)
    bound = host_bound(work, host)
    return host_seconds(work, host) * bound.median, host.log_sd(record_bytes(work)) * bound.spread


def record_bytes(work: ResolvedWorkload) -> float:
    """What the host reads at once: a sample, or the sequence that its tokens lie in. [B]"""
    return work.sample_bytes * (1 if work.language is None else work.language.sequence)


def host_seconds(work: ResolvedWorkload, host: HostWork) -> float:
    """Core time of a sample: of a token its share of the sequence. [s]"""
    return host.core_s(record_bytes(work)) / (1 if work.language is None else work.language.sequence)


def cache_hits(
    work: ResolvedWorkload, cols: Columns, n_servers: Ints, calibration: Calibration
) -> tuple[Floats, Floats]:
    """Share of the reads that a server's memory serves after the first epoch, and how far the others are known.

    The second is the standard deviation of the logarithm of the share that is read from storage. [-]
    """
    if work.language is not None:  # every token is read once
        nothing = np.zeros(np.broadcast_shapes(cols.cache_bytes.shape, n_servers.shape))
        return nothing, nothing
    access = work.request.access
    position, of_rows = calibration.cache_position(access, work.request.cache)
    # Few servers differ in memory, and the law is a long sum: each pair of memory and servers is computed once.
    memory, of_memory = np.unique(cols.cache_bytes, return_inverse=True)
    servers, of_servers = np.unique(n_servers, return_inverse=True)
    cached = caches.cached_fraction(memory, work.dataset_bytes)
    share, exponent = _share_and_exponent(cached.tobytes(), servers.astype(float).tobytes(), access)
    table = caches.hits_at(position, share, exponent)
    spread = np.zeros_like(table)
    if of_rows > 0:
        sd = np.hypot(of_rows, position * calibration.parameter_sd[calibration.index[f"cache-position:{access}"]])
        least, most = (np.clip(position + side * sd, 0.01, 1.0) for side in (-1, 1))
        low, high = (1 - caches.hits_at(one, share, exponent) for one in (most, least))
        is_read = low > 0
        spread = 0.5 * np.log(np.where(is_read, high, 1.0) / np.where(is_read, low, 1.0))
    rows = of_memory.reshape(cols.cache_bytes.shape), of_servers.reshape(n_servers.shape)
    return table[rows], spread[rows]


@lru_cache(maxsize=512)  # claims about one workload of several resize the request again and again
def _share_and_exponent(cached: bytes, servers: bytes, access: str) -> tuple[Floats, Floats]:
    """:func:`sizer.perf.caches.share_and_exponent` of every pair, shape (shares, servers)."""
    return caches.share_and_exponent(np.frombuffer(cached)[:, None], np.frombuffer(servers), access)


def is_cached(comp: Compute) -> Bools:
    """Rows whose data set is read once and then stays in the servers' memory."""
    return np.asarray(comp.hit_fraction >= 1.0)
