"""Rates and samples to converge of designs by the fits of MLPerf rows, as arrays over servers and batches.

The terms are those of :mod:`sizer.calibrate.modern.terms`. A design is no submission: effects of a submitter or of one
system are not known of it and add their prior variance. What runs of one size share is known at the published sizes
and interpolated between them.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.calibrate.engine import Fit, StoredFits, kind_of, sum_of_parts
from sizer.calibrate.fit.runs import EpochsCurve
from sizer.calibrate.modern import terms
from sizer.calibrate.modern.rows import (
    Accelerator,
    ModernRow,
    accelerator_of,
    n_runs,
    newest_round,
    published_batches,
)
from sizer.catalog.schema import Recipe

# Effects of the size of a system; they have terms of their own, that of one size is interpolated between sizes.
_OF_SIZE = ("size", "size-batch", "scale")
_SCALE, _FIRST_SIZE = terms.WHOLE + 1, terms.WHOLE + 2
# A generation with fewer runs is not known by them: the one on MI300X is of a framework that nobody else submitted.
FEW_RUNS = 3
_REFERENCE = "h100-sxm5-80gb"
# More servers than any NVLink domain has.
_MANY_SERVERS = 1000


@dataclass(frozen=True)
class MeasuredSystem:
    """GPU servers as the fits know them, with a network of MLPerf."""

    benchmark: str
    accelerator: str  # name in MLPerf rows
    gpus_per_server: int
    link: str  # between the GPUs of a server: nvlink4, pcie; empty: switched, of a kind without tuned runs
    nic_bytes_per_s: float  # of a server, all adapters that join the fabric
    cpu_vendor: str  # intel, amd or empty


@dataclass(frozen=True)
class LogRate:
    """Logarithm of a rate or count, and its standard deviation. Arrays."""

    log: Floats
    sd: Floats


@dataclass(frozen=True)
class StepParts:
    """What a step on one server and on several is made of. [s]"""

    sample_s: float  # arithmetic and memory traffic of one sample on one GPU
    launch_s: float
    exchange_bytes: float  # between servers that computing does not hide
    inside_s: float  # the exchange inside a server without NVLink, times g / (2 (g - 1))


class SystemRates:
    """Fitted effects of one system, gathered once."""

    def __init__(self, system: MeasuredSystem, fits: StoredFits) -> None:
        self.system = system
        self.gpu = accelerator_of(system.accelerator)
        self._fit, self._net = fits.fits[terms.RATE], system.benchmark
        newest = newest_round(self._net)
        self._one = np.array(terms.step_parts(_row(system, 1, newest)).constants)
        # Exchange between servers stands in the parts of several servers alone; latency grows with the size.
        several = terms.step_parts(_row(system, _MANY_SERVERS, newest)).effects
        effects = [effect for effect in several if kind_of(effect[1]) not in _OF_SIZE]
        effects.append((_SCALE, f"scale {self._net}", 1.0))
        start = f"size {system.benchmark} {system.accelerator} "
        sizes = sorted(int(name.removeprefix(start)) for name in self._fit.names if name.startswith(start))
        effects += [(_FIRST_SIZE + place, f"{start}{n}", 1.0) for place, n in enumerate(sizes)]
        self._sizes = np.array(sizes, dtype=float)
        # A generation with few runs is not known by them: what they say of it, and of the accelerator, does not count.
        own, is_known = {self.gpu.generation, system.accelerator}, n_runs(self.gpu.generation) >= FEW_RUNS
        unknown = [] if is_known else [name for _, name, _ in effects if own & set(name.split(" "))]
        self._values, self._covariance = self._fit.terms(effects, _FIRST_SIZE + len(sizes), unknown)
        if not is_known:
            self._values[terms.COMPUTE] += _level_by_products(self._fit, self.gpu)

    def rate(self, n_servers: ArrayLike, batch_per_gpu: ArrayLike) -> LogRate:
        """Logarithm of the rate of all GPUs together, of arrays that broadcast. [samples/s]"""
        servers, batch = np.broadcast_arrays(np.asarray(n_servers, float), np.asarray(batch_per_gpu, float))
        shape, servers, batch = servers.shape, servers.reshape(-1), batch.reshape(-1)
        n = servers * self.system.gpus_per_server
        # Logarithms of what is known of the parts of a step, shape (rows, parts), as of :func:`step_parts`.
        found = np.repeat(self._one[None, :], len(n), axis=0)
        # The constants are those of one sample on each GPU.
        found[:, [terms.COMPUTE, terms.TRAFFIC]] += np.log(batch)[:, None]
        found[:, terms.LAUNCH] = 0.0
        domain = self.gpu.nvlink_domain
        groups = servers if domain is None else np.ceil(n / domain)
        is_joined = groups > 1
        with np.errstate(divide="ignore"):
            moved = np.where(is_joined, 2 * (1 - 1 / groups), 0.0) / self.system.nic_bytes_per_s
            found[:, terms.EXCHANGE] = np.log(moved)
            found[:, terms.LATENCY] = np.log(np.where(is_joined, np.log2(np.maximum(n, 2)), 0.0))
        log_parts, slopes = sum_of_parts(found)(self._values[None, : terms.WHOLE + 1])
        weights, left = self._size_weights(n)
        beyond = np.concatenate([np.log2(n)[:, None], weights], axis=1)
        slopes = np.concatenate([slopes, beyond], axis=1)
        log_step = log_parts + beyond @ self._values[_SCALE:]
        variance = np.einsum("ij,jk,ik->i", slopes, self._covariance, slopes) + left
        sd = self._fit.interval_sd(variance)
        return LogRate((np.log(n * batch) - log_step).reshape(shape), np.asarray(sd).reshape(shape))

    def parts(self) -> StepParts:
        """Parts of a step at the fitted effects."""
        compute, traffic, launch, _, _, inside = np.exp(
            self._one + self._values[: terms.WHOLE] + self._values[terms.WHOLE]
        ).tolist()
        exchange = self._values[terms.EXCHANGE] + self._values[terms.WHOLE]
        g = self.system.gpus_per_server
        return StepParts(
            sample_s=compute + traffic,
            launch_s=launch,
            exchange_bytes=math.exp(exchange),
            inside_s=inside * g / (2 * (g - 1)) if g > 1 else 0.0,
        )

    def _size_weights(self, n: Floats) -> tuple[Floats, Floats]:
        """Weights of the published sizes, shape (rows, sizes), and the variance that they leave."""
        of_size, of_batch = terms.prior_of("size").sd, terms.prior_of("size-batch").sd
        weights = np.zeros((len(n), self._sizes.size))
        if not self._sizes.size:
            return weights, np.full(n.shape, of_size**2 + of_batch**2)
        known, here = np.log2(self._sizes), np.log2(n)
        above = np.clip(np.searchsorted(known, here), 0, len(known) - 1)
        below = np.clip(np.where(known[above] > here, above - 1, above), 0, len(known) - 1)
        width = known[above] - known[below]
        share = np.where(width > 0, (here - known[below]) / np.where(width > 0, width, 1.0), 1.0)
        share = np.clip(share, 0.0, 1.0)
        # Beyond the published sizes their effect fades over one doubling.
        beyond = np.maximum(0.0, np.maximum(known[0] - here, here - known[-1]))
        fade = np.maximum(0.0, 1 - beyond)
        rows = np.arange(len(n))
        np.add.at(weights, (rows, above), share * fade)
        np.add.at(weights, (rows, below), (1 - share) * fade)
        squares = np.where(above == below, 1.0, share**2 + (1 - share) ** 2) * fade**2
        return weights, np.asarray(of_size**2 * (1 - squares) + of_batch**2)


@dataclass(frozen=True)
class Convergence:
    """Samples to the target quality of a network by the global batch, and its evaluations."""

    few_samples: float  # at small batches
    steps: float  # below which no larger batch helps
    log_sd: float
    evaluation_share: float  # of the training time
    batches: tuple[float, float]  # least and largest that were published

    def samples(self, global_batch: ArrayLike) -> Floats:
        """Samples to the target at a global batch. [-]"""
        return np.asarray(self.few_samples + self.steps * np.asarray(global_batch, dtype=float))

    def curve(self, epoch_samples: float = 1.0) -> EpochsCurve:
        """The same in epochs of so many samples, with its spread within and beyond the published batches."""
        points = tuple((batch, float(self.samples(batch)) / epoch_samples) for batch in self.batches)
        return EpochsCurve(self.few_samples / epoch_samples, self.few_samples / self.steps, 1.0, self.log_sd, points)


@lru_cache(maxsize=512)
def system_rates(system: MeasuredSystem) -> SystemRates:
    """Rates of a system by the shipped fits."""
    return SystemRates(system, terms.modern_calibration())


@lru_cache(maxsize=64)
def convergence_of(benchmark: str) -> Convergence:
    """Samples to converge of a network by the shipped fits, as its newest rules have it."""
    fit = terms.modern_calibration().fits[terms.TIME]
    row = _row(MeasuredSystem(benchmark, "h100-sxm5-80gb", 8, "nvlink4", 1.0, ""), 1, newest_round(benchmark))
    samples = terms.training_parts(terms.Training(row, is_timed=False)).effects
    values, covariance = fit.terms(samples, 2)
    few, many = math.exp(values[terms.FEW]), math.exp(values[terms.MANY])
    low, high = published_batches(benchmark)
    usual = math.sqrt(low * high)
    share = few / (few + many * usual)
    slopes = np.array([share, 1 - share])
    return Convergence(
        few,
        many,
        float(fit.interval_sd(slopes @ covariance @ slopes)),
        math.exp(fit.value(f"evaluation {benchmark}")) * share,
        (low, high),
    )


def _level_by_products(fit: Fit, gpu: Accelerator) -> float:
    """Level of a generation with few runs: that of Hopper, moved by the matrix products that either was measured at."""
    reference = accelerator_of(_REFERENCE)
    level = float(fit.values[fit.index[f"generation {reference.generation}"]])
    shares = reference.matmul_share, gpu.matmul_share
    if shares[0] is None or shares[1] is None:
        return level
    return level + math.log(shares[0] / shares[1])


def _row(system: MeasuredSystem, n_servers: int, round_: str) -> ModernRow:
    n = n_servers * system.gpus_per_server
    return ModernRow(
        id="design",
        round=round_,
        submitter="",
        system="",
        benchmark=system.benchmark,
        accelerator=system.accelerator,
        servers=n_servers,
        accelerators=n,
        global_batch=float(n),
        accumulation=1,
        link=system.link,
        nic_bytes_per_s=system.nic_bytes_per_s,
        cpu_vendor=system.cpu_vendor,
        framework="",
        precision="",
        samples_to_converge=None,
        samples_per_s=None,
        time_to_train_s=None,
        flags="",
        place="design",
    )


def mlperf_curve(recipe: Recipe) -> EpochsCurve:
    """Curve of a recipe whose samples to the target come from the fit of MLPerf rows.

    Raises CalibrationError if the recipe does not say how many samples an epoch has.
    """
    if recipe.epoch_samples is None:
        raise CalibrationError(f"recipe {recipe.id} has no epoch_samples, the samples of an epoch")
    return convergence_of(recipe.mlperf).curve(recipe.epoch_samples.value)


def published_evaluation_share(recipe: Recipe) -> float | None:
    """Time of the evaluations over that of the training, of a recipe with published runs; None of others."""
    return convergence_of(recipe.mlperf).evaluation_share if recipe.mlperf else None
