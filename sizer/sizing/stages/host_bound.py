"""What MLPerf runs show of the host data path: it passed at least what their accelerators trained on.

The line of a sample format says what a sample costs the host, for some formats by assumption. A published run of a
server with known processors bounds that cost from above, which moves and narrows the line for its network.
"""

import math
from dataclasses import dataclass
from functools import cache

from sizer.base.estimate import Z90
from sizer.base.quantities import si
from sizer.calibrate.fit.hosts import HostWork
from sizer.calibrate.modern.accelerators import sourced_accelerators
from sizer.calibrate.modern.published import published_runs
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.catalog.sample_formats import SampleFormat
from sizer.workload.resolve import ResolvedWorkload

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
