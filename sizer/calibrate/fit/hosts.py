"""The host's work per sample as fitted: one line for each sample format, factors for loaders, stacks and processors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.calibrate.engine import Fit
from sizer.calibrate.fit.host_effects import DALI, HostTask
from sizer.calibrate.fit.host_rows import host_rows
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import Observation
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import FORMAT_NAMES, SampleFormat
from sizer.perf.step_draws import drawn_estimate, drawn_terms

# CPU use is printed to two digits: 1 % of 33 to 84 %, and read over a whole run.
ROW_LOG_SD = 0.05
# One thread of a loader test, a reader of several threads and a whole server differ by what clocks and memory give.
LOADER_TEST_LOG_SD = 0.15
# "About 33 %": half a step of five either way.
_ROW_LOG_SDS = {"rs-resnet50-cpu-util/cpu": 0.065}
_PRIOR_RUNS = 4
# Documents behind each line. Formats without one rest on an assumption with a wide spread, see PRIORS.
_LINE_SOURCES: dict[str, tuple[str, ...]] = {
    SampleFormat.JPEG: ("dell-isilon-dgx1-blog-2018", "dell-ready-ai-nvidia-2018", "imread-benchmark", "ffcv-docs"),
    DALI: ("mlperf-v0.6",),
    SampleFormat.TENSORS: ("ffcv-docs",),
    SampleFormat.VOLUMES: ("mlperf-storage-v1.0",),
    SampleFormat.TABULAR: ("nv-dle-dlrm",),
    SampleFormat.TEXT: ("presto-2022",),
}


@dataclass(frozen=True)
class HostWork:
    """Core time of one sample, a + c x bytes, and its spread."""

    fixed_core_s: float  # a [core s]
    core_s_per_byte: float  # c [core s/B]
    log_covariance: Floats  # (2, 2) of ln a and ln c by their own parameters
    common_log_variance: float  # of what multiplies both, and of the scatter of runs

    def core_s(self, sample_bytes: float) -> float:
        """Work on one sample of a size: median over draws. [core s]"""
        return float(self.estimate(sample_bytes).value)

    def log_sd(self, sample_bytes: float) -> float:
        """Standard deviation of the logarithm of that work. [-]"""
        return float(self.estimate(sample_bytes).log_sd)

    def estimate(self, sample_bytes: float) -> Estimate:
        """Work on one sample of a size. [core s]

        Both parts are log-normal: the median of their sum lies above the sum of their medians.
        """
        per_byte_core_s = self.core_s_per_byte * sample_bytes
        return _estimate(
            self.fixed_core_s, per_byte_core_s, self.log_covariance.astype(float).tobytes(), self.common_log_variance
        )


@lru_cache(maxsize=1024)  # requests differ in few sizes of a sample
def _estimate(
    fixed_core_s: float, per_byte_core_s: float, log_covariance: bytes, common_log_variance: float
) -> Estimate:
    parts, covariance = np.array([fixed_core_s, per_byte_core_s]), np.frombuffer(log_covariance).reshape(2, 2)
    used = np.flatnonzero(parts > 0)
    logs = drawn_terms(np.log(parts[used]), covariance[np.ix_(used, used)])
    return drawn_estimate(np.logaddexp.reduce(logs, axis=-1), np.array(math.sqrt(common_log_variance)))


@dataclass(frozen=True)
class HostFit:
    """Fitted lines and factors."""

    fit: Fit
    stack_log_sd: dict[str, float]  # scatter of the runs of a stack around the line

    @cached_property
    def _works(self) -> dict[HostTask, HostWork]:
        """Lines that were asked for: few formats and stacks."""
        return {}

    def work(self, task: HostTask) -> HostWork:
        """Line of a task; a parameter that was never fitted counts with its prior."""
        if task not in self._works:
            self._works[task] = self._work(task)
        return self._works[task]

    def _work(self, task: HostTask) -> HostWork:
        known = [name for name in task.factors if name in self.fit.index]
        others = [self.fit.prior_of(name) for name in task.factors if name not in self.fit.index]
        parts = [
            (0, task.fixed, 1.0),
            (1, task.per_byte, 1.0),
            *((part, name, 1.0) for name in known for part in (0, 1)),
        ]
        logs, covariance = self.fit.terms(parts, 2)
        fixed, per_byte = np.exp(logs + sum(prior.mean for prior in others))
        common = sum(prior.sd**2 for prior in others) + self.scatter_log_sd(task) ** 2
        return HostWork(float(fixed) if task.has_fixed_part else 0.0, float(per_byte), covariance, common)

    def note(self, task: HostTask) -> CalibrationNote | None:
        """What was not measured of a line or loader; None where its work was."""
        if task.line == DALI:
            return note(FitNote.DALI_FROM_THREADS)
        # The line of tensors was measured, on another machine; those of the other formats are assumptions.
        if task.line == SampleFormat.TENSORS:
            return None
        if task.line != SampleFormat.JPEG:
            return note(FitNote.HOST_LINE_ASSUMED, FORMAT_NAMES[task.sample_format])
        if task.loader == "none":
            return note(FitNote.LOADER_ASSUMED)
        names = [name for name in task.factors if name.startswith("host-loader:")]
        return (
            None if all(name in self.fit.index for name in names) else note(FitNote.LOADER_NOT_MEASURED, task.framework)
        )

    def scatter_log_sd(self, task: HostTask) -> float:
        """Scatter of the runs of a stack around the line, as standard deviation of the logarithm. [-]"""
        return self.stack_log_sd.get(task.stack, ROW_LOG_SD)


def line_sources(task: HostTask) -> tuple[str, ...]:
    """Keys of the documents behind the line of a task; empty where it is an assumption."""
    return _LINE_SOURCES.get(task.line, ())


def row_log_sd(row: Observation) -> float:
    """Scatter of one observation of the host's work, as standard deviation of the logarithm. [-]"""
    is_test = row.task == "preprocess" and row.quantity != "cpu_utilization_fraction"
    return _ROW_LOG_SDS.get(row.id, LOADER_TEST_LOG_SD if is_test else ROW_LOG_SD)


def stack_scatter(rows: tuple[Observation, ...], catalog: Catalog, residuals: dict[str, float]) -> dict[str, float]:
    """Scatter of the runs of a stack around the line, from the residuals of the joint fit by id.

    Two runs of the C4140 differ by a fifth, those of the DGX-1 lie on their line. With so few runs a stack's own
    scatter counts beside that of a printed row, which weighs as much as _PRIOR_RUNS runs.
    """
    by_stack: dict[str, list[tuple[float, float]]] = {}
    for one in host_rows(rows, catalog):
        if not one.is_bound:
            by_stack.setdefault(one.task.stack, []).append((residuals[one.row.id], row_log_sd(one.row)))
    return {stack: _scatter(found) for stack, found in by_stack.items()}


def _scatter(found: Sequence[tuple[float, float]]) -> float:
    expected = max(sd for _, sd in found) ** 2
    return math.sqrt((sum(r * r for r, _ in found) + _PRIOR_RUNS * expected) / (len(found) + _PRIOR_RUNS))
