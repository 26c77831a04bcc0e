"""Fit of the host's work per sample: one line for the TensorFlow loader, factors for other loaders and stacks."""

import math
from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Floats
from sizer.calibrate.ids import catalogue_stack_of, server_of
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import Observation
from sizer.calibrate.parameters import PRIORS
from sizer.catalog.model import Catalog

# Bytes of an ImageNet JPEG where a row does not state the size (144.8 GB / 1,281,167 files).
IMAGENET_BYTES = 113_022.0
ROW_LOG_SD = 0.05  # CPU use is printed to two digits: 1 % of 33 to 84 %, and read over a whole run
_PRIOR_RUNS = 4
# "About 33 %": half a step of five either way.
ROW_LOG_SDS = {"rs-resnet50-cpu-util/cpu": 0.065}
# Runs whose rate the host's cores set, with the cores that were busy: their rate is one over the work per sample.
# C4140: 2 x 20 cores (rs-resnet50-cpu-util); the cloud server of dlperf has 24 (observations README).
_SATURATED = {
    "rs-isilon-alexnet-1node": 40.0,
    "dlperf-mxnet-amp-b256-1n8g": 24.0,
    "dlperf-paddle-nodali-amp-b224-1n8g": 24.0,
    "tensorpack-imagenet-tfdata-dgx1": 40.0,
}
# Framework of loader tests that name a library instead.
_LOADER_FRAMEWORK = {"paddle-fleetx": "paddlepaddle", "pytorch-cls": "pytorch"}
# Derived again from a row that is used, or the same number under another name.
_REPEATS = (
    "dgx1-cpu-cost-small/cpu",
    "dgx1-cpu-cost-large/cpu",
    "rs-resnet50-cpu-cost/cpu",
    "rs-resnet50-cpu-cost/core",
)

REFERENCE_LOADER = "framework/tensorflow"
FIXED, PER_BYTE = "host-fixed:all", "host-per-byte:all"

# DALI with GPU decode: 3 threads per GPU at 11,220 images/s on 8 GPUs are 2.1 thread-ms (mlperf-v0.6), half of that in
# cores with two threads each. How it splits is assumed: half for each image, half with the bytes, because entropy
# decoding stays on the host.
DALI_FIXED_CORE_S = 0.53e-3
DALI_CORE_S_PER_BYTE = 0.53e-3 / IMAGENET_BYTES
DALI_LOG_SD = 0.4
# Decoded tensors: the host only moves bytes; copying at some GB/s a core is below what the other stages notice.
_NO_DECODE = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class DecodeFit:
    """Fitted line and factors."""

    names: tuple[str, ...]
    values: Floats
    covariance: Floats
    stack_log_sd: dict[str, float]  # scatter of the runs of a stack around the line

    def terms(self, loader: str, framework: str, stack_id: str) -> tuple[float, float, float]:
        """Fixed core-seconds, core-seconds per byte, and standard deviation of the logarithm.

        Raises
        ------
        ValueError
            If the loader is unknown.
        """
        if loader == "none":
            return _NO_DECODE
        if loader == "dali":
            return DALI_FIXED_CORE_S, DALI_CORE_S_PER_BYTE, DALI_LOG_SD
        if loader not in ("framework", "dali-cpu"):
            raise ValueError(f"loader must be framework, dali, dali-cpu or none, got {loader!r}")
        weights = np.zeros((2, len(self.names)))
        weights[0, self.names.index(FIXED)] = weights[1, self.names.index(PER_BYTE)] = 1
        mean = np.zeros(2)
        extra = 0.0
        for name in host_factors(loader, framework, stack_id):
            kind = name.partition(":")[0]
            if name in self.names:
                weights[:, self.names.index(name)] = 1
            else:
                mean += PRIORS[kind].mean
                extra += PRIORS[kind].sd ** 2
        fixed, per_byte = np.exp(weights @ self.values + mean)
        # Spread at the size of an ImageNet image, by the share of each part.
        share = np.array([fixed, per_byte * IMAGENET_BYTES]) / (fixed + per_byte * IMAGENET_BYTES)
        slope = share @ weights
        scatter = self.scatter_log_sd(stack_id)
        sd = math.sqrt(slope @ self.covariance @ slope + extra + scatter**2)
        return float(fixed), float(per_byte), sd

    def note(self, loader: str, framework: str) -> CalibrationNote | None:
        """What was not measured of a loader; None where its work was."""
        if loader == "dali":
            return note(FitNote.DALI_FROM_THREADS)
        is_measured = loader == "none" or all(name in self.names for name in _loader_factor(loader, framework))
        return None if is_measured else note(FitNote.LOADER_NOT_MEASURED, framework)

    def scatter_log_sd(self, stack_id: str) -> float:
        """Scatter of the runs of a stack around the line, as standard deviation of the logarithm. [-]"""
        return self.stack_log_sd.get(stack_id, ROW_LOG_SD)


def host_factors(loader: str, framework: str, stack_id: str) -> tuple[str, ...]:
    """Parameters that multiply the line for a loader and a stack; the line is that of the reference loader."""
    return (*_loader_factor(loader, framework), f"host-stack:{stack_id}")


def _loader_factor(loader: str, framework: str) -> tuple[str, ...]:
    level = loader_level(loader, framework)
    return () if level == REFERENCE_LOADER else (f"host-loader:{level}",)


def loader_level(loader: str, framework: str) -> str:
    """Name under which the fit keeps a loader: DALI on the CPU is one library whatever the framework."""
    return loader if loader == "dali-cpu" else f"framework/{framework}"


@dataclass(frozen=True)
class HostRow:
    """Work per sample that one observation shows."""

    row: Observation
    loader: str
    stack: str
    sample_bytes: float
    core_s: float
    is_bound: bool = False  # the work is at most this: the hosts of a fast run kept up


def host_cores(row: Observation, catalog: Catalog) -> float | None:
    """Physical cores of all servers of a row: as it says, or of the catalogue's server and its CPUs."""
    stated = row.extra.get("cpu_cores")
    if isinstance(stated, int | float) and not isinstance(stated, bool) and 1 <= stated <= 1e6:
        return float(stated) * (row.servers or 1)
    server = server_of(row, catalog)
    if server is None or not row.servers or server.cpu is None or server.n_cpus is None:
        return None
    return float(server.n_cpus.value * catalog.cpus[server.cpu.value].cores.value * row.servers)


def matching_rate(row: Observation, rates: dict[str, Observation]) -> Observation | None:
    """Rate of the run that a row belongs to, by the stem of its id."""
    stem = row.id.split("/")[0]
    return rates.get(stem) or rates.get(f"{stem}-derived-rate")


def host_rows(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[HostRow, ...]:
    """Observations that show the work per sample."""
    rates = {row.id: row for row in rows if row.quantity == "samples_per_s"}
    found = []
    for row in rows:
        core_s = _core_s(row, rates, catalog)
        if core_s is None or row.id in _REPEATS:
            continue
        framework, stack = loader_of(row, catalog)
        level = loader_level(row.loader or "framework", framework)
        found.append(HostRow(row, level, stack, row.sample_bytes or IMAGENET_BYTES, core_s))
    return tuple(found)


def loader_of(row: Observation, catalog: Catalog) -> tuple[str, str]:
    """Framework whose loader a row ran, and its stack; a loader test without one keeps the name of its source."""
    stack = catalogue_stack_of(row, catalog)
    framework = _LOADER_FRAMEWORK.get(row.source) or (stack.framework if stack else row.framework)
    return framework, stack.id if stack else row.source


def bound_rows(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[HostRow, ...]:
    """The most that the work per image can be, by stack: the fastest run that its hosts kept up with."""
    fastest: dict[str, HostRow] = {}
    for row in rows:
        is_run = row.quantity == "samples_per_s" and row.task == "training" and row.data == "real"
        if not is_run or row.loader != "framework" or row.dnn not in catalog.dnns or row.id in _SATURATED:
            continue
        stack, cores = catalogue_stack_of(row, catalog), host_cores(row, catalog)
        if stack is None or cores is None or catalog.dnns[row.dnn].sample != "image":
            continue
        core_s = cores / row.value
        if stack.id not in fastest or core_s < fastest[stack.id].core_s:
            size = row.sample_bytes or IMAGENET_BYTES
            level = loader_level(row.loader, stack.framework)
            fastest[stack.id] = HostRow(row, level, stack.id, size, core_s, is_bound=True)
    return tuple(fastest.values())


def _core_s(row: Observation, rates: dict[str, Observation], catalog: Catalog) -> float | None:
    if row.quantity == "samples_per_s" and row.id in _SATURATED:
        return _SATURATED[row.id] / row.value
    if row.loader not in ("framework", "dali-cpu"):
        return None
    if row.quantity == "cpu_utilization_fraction":
        rate, cores = matching_rate(row, rates), host_cores(row, catalog)
        return None if rate is None or cores is None else cores * row.value / rate.value
    # One thread of a loader test keeps one core busy; decode alone is not the work of a loader.
    if row.quantity == "samples_per_s_per_core" and row.source in _LOADER_FRAMEWORK:
        return 1 / row.value
    return None


def stack_scatter(rows: tuple[Observation, ...], catalog: Catalog, residuals: dict[str, float]) -> dict[str, float]:
    """Scatter of the runs of a stack around the line, from the residuals of the joint fit by id.

    Two runs of the C4140 differ by a fifth, those of the DGX-1 lie on their line. With so few runs a stack's own
    scatter counts beside that of a printed row, which weighs as much as _PRIOR_RUNS runs.
    """
    by_stack: dict[str, list[float]] = {}
    for one in host_rows(rows, catalog):
        by_stack.setdefault(one.stack, []).append(residuals[one.row.id])
    return {
        stack: math.sqrt((sum(r * r for r in found) + _PRIOR_RUNS * ROW_LOG_SD**2) / (len(found) + _PRIOR_RUNS))
        for stack, found in by_stack.items()
    }
