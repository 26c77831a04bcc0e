"""What the servers do, without regard to storage, on many designs in one pass.

Arrays may have any shape, as in :mod:`sizer.sizing.stages.evaluate`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.estimate import Z90, Estimate
from sizer.base.quantities import si
from sizer.base.streams import pause_point
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.fit.hosts import HostWork
from sizer.calibrate.modern.rows import published_runs, sourced_accelerators
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.catalog.sample_formats import SampleFormat
from sizer.perf import caches, pipeline
from sizer.perf.stage_capacity import Capacity
from sizer.sizing.stages import language_rates
from sizer.sizing.stages.gpu_side import GpuSide, gpu_side
from sizer.sizing.stages.platform_columns import ServerRows
from sizer.workload.resolve import ResolvedWorkload

# What MLPerf runs show of the host data path: it passed at least what their accelerators trained on.
#
# The line of a sample format says what a sample costs the host, for some formats by assumption. A published run of a
# server with known processors bounds that cost from above, which moves and narrows the line for its network.
# Cores of the servers with eight accelerators in most of these runs: two EPYC 7742 with A100, two Xeon 8480 later.
_CORES = {"ampere": 128.0}
_LATER_CORES = 112.0
_GPUS = 8
# Large images still cost the host their reading and cropping.
_MOST_GAIN = 4.0
_MIDDLE = 2.0
# Least spread: clocks and loaders of servers differ.
_LEAST_LOG_SD = 0.1


@dataclass(frozen=True)
class HostBound:
    """Factor on the median of the core time of a sample, and on the standard deviation of its logarithm."""

    median: float = 1.0
    spread: float = 1.0


_NONE = HostBound()
# Images so many times as large as those of published runs are another load of the decoder.
_LARGE = 4.0


def host_bound(work: ResolvedWorkload, host: HostWork) -> HostBound:
    """Bound of the host's work that MLPerf runs of a network give; none with another stack or kind of sample."""
    published = work.mlperf_data
    if work.request.host_core_s is not None or not work.mlperf or not work.stack.runs_mlperf or published is None:
        return _NONE
    if work.sample_format is SampleFormat.JPEG:
        return _hardware_decode(work.sample_bytes, host)
    if published.sample != work.dataset.sample or published.format == "decoded tensors":
        return _NONE
    most, size = published_core_s(work.mlperf), published.sample_bytes.value
    line, log_sd = host.core_s(size), host.log_sd(size)
    room = math.log(most / line)
    # The run is a lower end of what its host passes; how much more it passes is not published: twice in the middle.
    if room < math.log(_MIDDLE):
        return HostBound(most / line / _MIDDLE, math.log(_MIDDLE) / Z90 / log_sd)
    return HostBound(1.0, min(1.0, room / Z90 / log_sd))


def _hardware_decode(sample_bytes: float, host: HostWork) -> HostBound:
    """A100 and later have JPEG decoders: what the line has for each byte, entropy decoding, leaves the host.

    How much of it is not published, so that the line of V100, which decodes on the host, stays the upper end.
    """
    line, log_sd = host.core_s(sample_bytes), host.log_sd(sample_bytes)
    left = max(host.fixed_core_s, line / _MOST_GAIN)
    return HostBound(left / line, max(_LEAST_LOG_SD, math.log(line / left) / Z90) / log_sd)


@cache
def published_core_s(benchmark: str) -> float:
    """Most core time that a sample can have cost the hosts of the fastest published server of eight accelerators."""
    known, least = sourced_accelerators(), math.inf
    for row in published_runs(benchmark):
        gpu = known.get(row.accelerator)
        if gpu is not None and row.accelerators == _GPUS * row.servers and row.samples_per_s:
            cores = _CORES.get(gpu.generation, _LATER_CORES)
            least = min(least, cores * row.servers / row.samples_per_s)
    return least


def large_images(work: ResolvedWorkload, loader: CalibrationNote | None) -> CalibrationNote | None:
    """That the GPUs decode much larger images than in published runs; None otherwise.

    The rate of a GPU was measured with images as published; ``loader`` is what is noted of the loader.
    """
    decodes = loader is not None and loader.kind is FitNote.DALI_FROM_THREADS
    if not decodes or work.mlperf_data is None:
        return None
    published = work.mlperf_data.sample_bytes.value
    if work.sample_bytes < _LARGE * published:
        return None
    return note(FitNote.LARGE_IMAGES, si(work.sample_bytes, "B"), si(published, "B"))


# Of core time that a request states: one machine and one day.
STATED_HOST_LOG_SD = 0.1


@dataclass(frozen=True)
class Compute(GpuSide):
    """What the servers do, without regard to storage. Arrays over rows; rates of the whole design in samples/s."""

    decode: Capacity
    core_s_per_sample: float  # of the first row
    host: HostWork  # line of that work
    hit_fraction: Floats  # of a server's cache, from the second epoch on
    miss_log_sd: Floats  # spread of the logarithm of what the cache does not serve
    # How many times as long as its steps a training takes; None of what has no such factor.
    whole_run: Estimate | None = None


def compute(work: ResolvedWorkload, hosts: ServerRows) -> Compute:
    """Compute side of one workload."""
    pause_point()
    core_s, decode_sd = core_seconds(work, hosts.calibration)
    hits, misses = cache_hits(work, hosts)
    return Compute(
        **vars(gpu_side(work, hosts)),
        decode=pipeline.decode_stage(hosts.n_servers, hosts.cols.cores, core_s, decode_sd),
        core_s_per_sample=float(np.ravel(core_s)[0]),
        host=host_work(work, hosts.calibration),
        hit_fraction=hits,
        miss_log_sd=misses,
        whole_run=language_rates.whole_run(work, hosts),
    )


def core_seconds(work: ResolvedWorkload, calibration: Calibration) -> tuple[Floats | float, Floats | float]:
    """Core time that a sample costs the host, and the spread of its logarithm. [s], [-]"""
    if not work.kind.reads_data:  # what a text of a user costs, nobody measured
        return 0.0, 0.0
    if np.ndim(work.sample_bytes):  # of each row another one
        sizes, place = np.unique(work.sample_bytes, return_inverse=True)
        each = np.array([core_seconds(replace(work, sample_bytes=size), calibration) for size in sizes.tolist()])
        return each[place, 0], each[place, 1]
    host = host_work(work, calibration)
    bound = host_bound(work, host)
    return host_seconds(work, host) * bound.median, host.log_sd(record_bytes(work)) * bound.spread


def host_work(work: ResolvedWorkload, calibration: Calibration) -> HostWork:
    """Line of the host's work: as the request states it, or of the sample format with the loader of the stack."""
    stated = work.request.host_core_s
    if stated is not None:
        return HostWork(stated, 0.0, np.zeros((2, 2)), STATED_HOST_LOG_SD**2)
    return calibration.host_work(work.sample_format, work.stack)


def record_bytes(work: ResolvedWorkload) -> float:
    """What the host reads at once: a sample, or the sequence that its tokens lie in. [B]"""
    return work.sample_bytes * work.samples_per_record


def host_seconds(work: ResolvedWorkload, host: HostWork) -> float:
    """Core time of a sample: of a token its share of the sequence. [s]"""
    return host.core_s(record_bytes(work)) / work.samples_per_record


def cache_hits(work: ResolvedWorkload, hosts: ServerRows) -> tuple[Floats, Floats]:
    """Share of the reads that a server's memory serves after the first epoch, and how far the others are known.

    The second is the standard deviation of the logarithm of the share that is read from storage. [-]
    """
    if work.kind.cache_hits is not None:
        shape = np.broadcast_shapes(hosts.cols.cache_bytes.shape, hosts.n_servers.shape)
        return np.full(shape, work.kind.cache_hits), np.zeros(shape)
    access = work.request.access
    position, of_rows = hosts.calibration.cache_position(access, work.request.cache)
    # Few servers differ in memory, and the law is a long sum: each pair of cached share and servers is computed once.
    fraction = caches.cached_fraction(hosts.cols.cache_bytes, work.dataset_bytes)
    cached, of_cached = np.unique(fraction, return_inverse=True)
    servers, of_servers = np.unique(hosts.n_servers, return_inverse=True)
    share, exponent = _share_and_exponent(cached.tobytes(), servers.astype(float).tobytes(), access)
    table = caches.hits_at(position, share, exponent)
    spread = np.zeros_like(table)
    if of_rows > 0:
        sd = np.hypot(of_rows, position * hosts.calibration.fit.sd_of(f"cache-position:{access}"))
        least, most = (np.clip(position + side * sd, 0.01, 1.0) for side in (-1, 1))
        low, high = (1 - caches.hits_at(one, share, exponent) for one in (most, least))
        is_read = low > 0
        spread = 0.5 * np.log(np.where(is_read, high, 1.0) / np.where(is_read, low, 1.0))
    rows = of_cached.reshape(fraction.shape), of_servers.reshape(hosts.n_servers.shape)
    return table[rows], spread[rows]


@lru_cache(maxsize=512)  # claims about one workload of several resize the request again and again
def _share_and_exponent(cached: bytes, servers: bytes, access: str) -> tuple[Floats, Floats]:
    """:func:`sizer.perf.caches.share_and_exponent` of every pair, shape (shares, servers)."""
    return caches.share_and_exponent(np.frombuffer(cached)[:, None], np.frombuffer(servers), access)


def timely(computes: Sequence[Compute]) -> Floats | float:
    """Probability that the first tokens of all that is served keep their limits; 1 where nobody waits for any."""
    chance: Floats | float = 1.0
    for comp in computes:
        chance = chance if comp.timely is None else chance * comp.timely
    return chance


def is_cached(comp: Compute) -> Bools:
    """Rows whose data set is read once and then stays in the servers' memory."""
    return np.asarray(comp.hit_fraction >= 1.0)
