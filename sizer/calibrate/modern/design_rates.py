"""Rates and samples to converge of designs by the fits of MLPerf rows, as arrays over servers and batches.

The terms are those of :mod:`sizer.calibrate.modern.terms`. A design is no submission: effects of a submitter or of one
system are not known of it and add their prior variance. What runs of one size share is known at the published sizes
and interpolated between them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.calibrate.modern.accelerators import Accelerator, accelerator_of
from sizer.calibrate.modern.fit import Fit
from sizer.calibrate.modern.published import n_runs, newest_round, published_batches
from sizer.calibrate.modern.rows import ModernRow
from sizer.calibrate.modern.stored import ModernCalibration, stored_modern_calibration
from sizer.calibrate.modern.terms import PRIORS, Effect, Terms, exposed_terms, rate_terms, time_terms
from sizer.calibrate.modern.without_runs import levels_of

# Effects of one size and batch; the size alone is interpolated.
_OF_SIZE = ("size", "size-batch")
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
    work_factor: float = 1.0  # arithmetic and traffic of a step over those of the published runs


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

    def __init__(self, system: MeasuredSystem, calibration: ModernCalibration) -> None:
        self.system = system
        self.gpu = accelerator_of(system.accelerator)
        fit = calibration.rate
        self.is_measured = n_runs(self.gpu.generation) >= FEW_RUNS
        self._net = levels_of(system.benchmark)
        newest = newest_round(self._net)
        several = rate_terms(_row(system, _MANY_SERVERS, newest))
        one = rate_terms(_row(system, 1, newest))
        # Exchange between servers stands in the terms of several servers alone.
        self._names = _names([one, several])
        sizes = _published_sizes(fit, system)
        self._sizes = np.array(sorted(sizes), dtype=float)
        names = [*self._names, *(f"size {system.benchmark} {system.accelerator} {n}" for n in sorted(sizes))]
        own = (self.gpu.generation, system.accelerator)
        unknown = [] if self.is_measured else [name for name in names if set(own) & set(name.split(" "))]
        self._values, self._covariance = effects_of(fit, names, unknown)
        if not self.is_measured:
            self._values[names.index(f"generation {self.gpu.generation}")] = _level_by_products(fit, self.gpu)
        self._place = {name: place for place, name in enumerate(names)}
        self._fit = fit
        self._one, self._several = one, several
        self._whole = [pair for pair in several.whole if pair[0].split(" ", 1)[0] not in (*_OF_SIZE, "scale")]
        self._size_sd = PRIORS["size"][1], PRIORS["size-batch"][1]

    def rate(self, n_servers: ArrayLike, batch_per_gpu: ArrayLike) -> LogRate:
        """Logarithm of the rate of all GPUs together, of arrays that broadcast. [samples/s]"""
        servers, batch = np.broadcast_arrays(np.asarray(n_servers, float), np.asarray(batch_per_gpu, float))
        shape, servers, batch = servers.shape, servers.reshape(-1), batch.reshape(-1)
        n = servers * self.system.gpus_per_server
        logs, moves = [], []
        for constant, effects in self._components(servers, n, batch):
            logs.append(constant + self._sum(effects))
            moves.append(self._vector(effects))
        stacked = np.stack(logs)
        top = stacked.max(axis=0)
        share = np.exp(stacked - top)
        total = share.sum(axis=0)
        derivative = (share / total).T @ np.stack(moves) + self._vector(self._whole)
        derivative[:, self._place[f"scale {self._net}"]] += np.log2(n)
        left = self._add_sizes(derivative, n)
        whole = derivative - (share / total).T @ np.stack(moves)
        log_step = top + np.log(total) + whole @ self._values
        variance = np.einsum("ij,jk,ik->i", derivative, self._covariance, derivative) + left
        sd = self._fit.interval_sd(variance)
        return LogRate((np.log(n * batch) - log_step).reshape(shape), np.asarray(sd).reshape(shape))

    def parts(self) -> StepParts:
        """Parts of a step at the fitted effects."""
        whole = self._sum(self._whole)
        components = dict(zip(("compute", "traffic", "launch"), self._one.components, strict=False))
        compute, traffic, launch = (
            components[name][0] + self._sum(components[name][1]) for name in ("compute", "traffic", "launch")
        )
        log_bytes, exposed = exposed_terms("exchange", self.system.benchmark)
        exchange = log_bytes + self._sum(exposed)
        inside = sum(math.exp(constant + self._sum(effects)) for constant, effects in self._one.components[3:])
        g = self.system.gpus_per_server
        return StepParts(
            sample_s=(math.exp(compute) + math.exp(traffic)) * math.exp(whole) * self.system.work_factor,
            launch_s=math.exp(launch + whole),
            exchange_bytes=math.exp(exchange + whole),
            inside_s=inside * math.exp(whole) * g / (2 * (g - 1)) if g > 1 else 0.0,
        )

    def _components(self, servers: Floats, n: Floats, batch: Floats) -> list[tuple[Floats, Sequence[Effect]]]:
        """Constants over the rows and effects of every part of a step, as :func:`rate_terms` has them."""
        compute, traffic, launch, *others = self._one.components
        # The constants are those of one sample on each GPU.
        work = np.log(batch * self.system.work_factor)
        found = [
            (compute[0] + work, compute[1]),
            (traffic[0] + work, traffic[1]),
            (np.zeros(n.shape), launch[1]),
        ]
        found += [(np.full(n.shape, constant), effects) for constant, effects in others]
        (log_bytes, exposed), domain = exposed_terms("exchange", self.system.benchmark), self.gpu.nvlink_domain
        groups = servers if domain is None else np.ceil(n / domain)
        is_joined = groups > 1
        with np.errstate(divide="ignore"):
            leaving = np.log(np.where(is_joined, 2 * (1 - 1 / groups), 0.0) / self.system.nic_bytes_per_s) + log_bytes
            waits = np.log(np.where(is_joined, np.log2(np.maximum(n, 2)), 0.0))
        return [*found, (leaving, exposed), (waits, [(f"latency {self._net}", 1.0)])]

    def _add_sizes(self, derivative: Floats, n: Floats) -> Floats:
        """Put the weights of the published sizes into the derivatives; the variance that they leave."""
        of_size, of_batch = self._size_sd
        if not self._sizes.size:
            return np.full(n.shape, of_size**2 + of_batch**2)
        known, here = np.log2(self._sizes), np.log2(n)
        above = np.clip(np.searchsorted(known, here), 0, len(known) - 1)
        below = np.clip(np.where(known[above] > here, above - 1, above), 0, len(known) - 1)
        width = known[above] - known[below]
        share = np.where(width > 0, (here - known[below]) / np.where(width > 0, width, 1.0), 1.0)
        share = np.clip(share, 0.0, 1.0)
        # Beyond the published sizes their effect fades over one doubling.
        beyond = np.maximum(0.0, np.maximum(known[0] - here, here - known[-1]))
        fade = np.maximum(0.0, 1 - beyond)
        first = len(self._names)
        rows = np.arange(len(n))
        np.add.at(derivative, (rows, first + above), share * fade)
        np.add.at(derivative, (rows, first + below), (1 - share) * fade)
        squares = np.where(above == below, 1.0, share**2 + (1 - share) ** 2) * fade**2
        return np.asarray(of_size**2 * (1 - squares) + of_batch**2)

    def _sum(self, effects: Sequence[Effect]) -> float:
        return float(sum(factor * self._values[self._place[name]] for name, factor in effects))

    def _vector(self, effects: Sequence[Effect]) -> Floats:
        found = np.zeros(len(self._values))
        for name, factor in effects:
            found[self._place[name]] += factor
        return found


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


@lru_cache(maxsize=512)
def system_rates(system: MeasuredSystem) -> SystemRates:
    """Rates of a system by the shipped fits."""
    return SystemRates(system, stored_modern_calibration())


@lru_cache(maxsize=64)
def convergence_of(benchmark: str) -> Convergence:
    """Samples to converge of a network by the shipped fits, as its newest rules have it."""
    calibration = stored_modern_calibration()
    system = MeasuredSystem(benchmark, "h100-sxm5-80gb", 8, "nvlink4", 1.0, "")
    terms = time_terms(_row(system, 1, newest_round(benchmark)), 0.0)
    samples = Terms(terms.components[:2])
    names = _names([samples, Terms([], [(f"evaluation {benchmark}", 1.0)])])
    values, covariance = effects_of(calibration.time, names)
    place = {name: number for number, name in enumerate(names)}

    def value(effects: Sequence[Effect]) -> float:
        return sum(factor * float(values[place[name]]) for name, factor in effects)

    few, many = (math.exp(value(effects)) for _, effects in samples.components)
    low, high = published_batches(benchmark)
    usual = math.sqrt(low * high)
    share = few / (few + many * usual)
    moves = np.zeros(len(names))
    for weight, (_, effects) in zip((share, 1 - share), samples.components, strict=True):
        for name, factor in effects:
            moves[place[name]] += weight * factor
    variance = float(moves @ covariance @ moves) + PRIORS["batch"][1] ** 2
    return Convergence(
        few,
        many,
        float(calibration.time.interval_sd(np.array(variance))),
        math.exp(value([(f"evaluation {benchmark}", 1.0)])) * share,
        (low, high),
    )


def effects_of(fit: Fit, names: Sequence[str], unknown: Sequence[str] = ()) -> tuple[Floats, Floats]:
    """Values and covariance of effects; one that was never fitted, or is ``unknown``, counts with its prior."""
    index = {name: place for name, place in fit.index.items() if name not in unknown}
    values, covariance = np.zeros(len(names)), np.zeros((len(names), len(names)))
    known = [place for place, name in enumerate(names) if name in index]
    for place in known:
        values[place] = fit.values[index[names[place]]]
    covariance[np.ix_(known, known)] = fit.covariance([names[place] for place in known])
    for place, name in enumerate(names):
        if name not in index:
            mean, sd = PRIORS[name.split(" ", 1)[0]]
            values[place], covariance[place, place] = mean, sd**2
    return values, covariance


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


def _names(terms: Sequence[Terms]) -> list[str]:
    found: dict[str, None] = {}
    for one in terms:
        for _, effects in one.components:
            found.update((name, None) for name, _ in effects)
        found.update((name, None) for name, _ in one.whole if name.split(" ", 1)[0] not in _OF_SIZE)
    return list(found)


def _published_sizes(fit: Fit, system: MeasuredSystem) -> list[int]:
    """Numbers of accelerators of which the fit has an effect of the size."""
    start = f"size {system.benchmark} {system.accelerator} "
    return [int(name.removeprefix(start)) for name in fit.names if name.startswith(start)]
