"""The models of rate and time to train of MLPerf networks: parts, effects and priors of each, and their fits.

Every part (compute, memory, launch, exchange) is a product of what is known and of effects; what multiplies the whole
step or training stands in the last term.
"""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import CalibrationError
from sizer.calibrate import engine
from sizer.calibrate.engine import Fit, StoredFits, kind_of, sum_of_parts
from sizer.calibrate.fit.hosts import EpochsCurve
from sizer.calibrate.modern.rows import (
    Accelerator,
    ModernRow,
    accelerator_of,
    fits_rate,
    fits_time,
    n_runs,
    newest_round,
    published_batches,
)
from sizer.catalog.schema import Recipe

# Parts of a step: arithmetic, memory traffic, launches, exchange between servers and its latency, exchange inside a
# server without NVLink. Parts of a training: samples at small batches, growth with the batch, evaluations, fixed time.
COMPUTE, TRAFFIC, LAUNCH, EXCHANGE, LATENCY, INSIDE, WHOLE = range(7)
FEW, MANY, EVALUATION, OVERHEAD, WHOLE_TIME = range(5)
ROUNDS = (1.0, 1.1, 2.0, 2.1, 3.0, 3.1, 4.0, 4.1, 5.0, 5.1, 6.0)
# Scatter of rows in log space within which the loss is quadratic.
_SIGMA = 0.03
# Effects that one row alone would have are left to the spread: the row could not tell them from its scatter.
_SHARED_ONLY = frozenset(
    ("submitter-network", "system", "system-network", "size", "size-batch", "batch", "time-submitter", "time-size",
     "time-system", "cpu", "framework")
)  # fmt: skip
# Adapters of a server where the row does not state them, bytes/s for each GPU: 200 Gbit/s on A100 systems, 400 later.
_NIC_BYTES_PER_S = {"ampere": 25e9}
_NEWER_NIC_BYTES_PER_S = 50e9
_PCIE_BYTES_PER_S = 16e9  # about 16 lanes of generation 3; what newer links are worth is inside the effect


prior_of = partial(engine.stated_prior, "mlperf")


@dataclass(frozen=True)
class Parts:
    """Logarithms of what is known of the parts of one case, -inf where it has none, and the effects on them."""

    constants: tuple[float, ...]
    effects: list[engine.Effect]


def step_parts(row: ModernRow) -> Parts:
    """Parts of the time of one step. The row states accelerators and global batch."""
    assert row.accelerators is not None
    assert row.global_batch is not None
    net, name, n = row.benchmark, row.accelerator, row.accelerators
    gpu = accelerator_of(name)
    generation, batch = gpu.generation, row.global_batch / n
    known = [-math.inf] * WHOLE
    known[COMPUTE] = math.log(batch / gpu.peak_flop_per_s)
    known[TRAFFIC] = math.log(batch / gpu.memory_bytes_per_s)
    known[LAUNCH] = math.log(row.accumulation)
    found = [
        (COMPUTE, f"work {net}"),
        (COMPUTE, f"generation {generation}" if gpu.is_sourced else f"level {name}"),
        (COMPUTE, f"generation-network {generation} {net}"),
        (TRAFFIC, f"traffic {net}"),
        (LAUNCH, f"launch {net}"),
        (LAUNCH, f"launch-generation {generation}"),
    ]
    # Groups of GPUs that NVLink connects exchange over the network; where the NVLink domain is a rack, trays do not.
    groups = row.servers if gpu.nvlink_domain is None else math.ceil(n / gpu.nvlink_domain)
    if groups > 1:
        rate = row.nic_bytes_per_s
        if rate is None:
            rate = n / row.servers * _NIC_BYTES_PER_S.get(generation, _NEWER_NIC_BYTES_PER_S)
            found.append((EXCHANGE, "adapters-unknown all"))
        known[EXCHANGE] = math.log(2 * (1 - 1 / groups) / rate)
        known[LATENCY] = math.log(math.log2(max(2, n)))
        found += [(EXCHANGE, f"exchange {net}"), (LATENCY, f"latency {net}")]
    per_server = n / row.servers
    if per_server > 1 and gpu.nvlink_domain is None and not row.link.startswith("nvlink"):
        known[INSIDE] = math.log(2 * (1 - 1 / per_server) / _PCIE_BYTES_PER_S)
        found += [(INSIDE, f"pcie {net}"), (INSIDE, f"pcie-link {row.link or 'unknown'}")]
    whole = [
        *(f"software {net} {generation} {r}" for r in ROUNDS if r <= row.round_order),
        f"accelerator {name}",
        f"accelerator-network {name} {net}",
        f"framework {row.framework} {net}",
        f"cpu {row.cpu_vendor} {net}",
        f"submitter {row.maker}",
        f"submitter-network {row.maker} {net}",
        f"system {row.maker} {row.hardware}",
        f"system-network {row.maker} {row.hardware} {net}",
        f"size {net} {name} {n}",
        f"size-batch {net} {name} {n} {row.global_batch:g}",
        *([f"precision {row.precision} {net} {generation}"] if row.precision else []),
    ]
    effects = [*found, *((WHOLE, effect) for effect in whole)]
    scale = (WHOLE, f"scale {net}", math.log2(n))
    return Parts(tuple(known), [*((term, effect, 1.0) for term, effect in effects), scale])


@dataclass(frozen=True)
class Training:
    """A training at a rate, or the samples that it takes alone."""

    row: ModernRow
    log_samples_per_s: float = 0.0
    is_timed: bool = True


def training_parts(case: Training) -> Parts:
    """Parts of the time to train: samples (start and growth with the batch), evaluation, fixed time."""
    row, log_rate = case.row, case.log_samples_per_s
    assert row.global_batch is not None
    assert row.accelerators is not None
    net, name = row.benchmark, row.accelerator
    known = [-math.inf] * WHOLE_TIME
    known[FEW], known[MANY] = -log_rate, math.log(row.global_batch) - log_rate
    found = [(FEW, f"samples {net}"), (MANY, f"steps {net}")]
    recipe = [*(f"recipe {net} {r}" for r in ROUNDS if r <= row.round_order), f"batch {net} {row.global_batch:g}"]
    found += [(part, effect) for part in (FEW, MANY) for effect in recipe]
    if case.is_timed:
        known[EVALUATION], known[OVERHEAD] = known[FEW], 0.0
        found += [(EVALUATION, effect) for effect in recipe]
        found += [(EVALUATION, f"samples {net}"), (EVALUATION, f"evaluation {net}")]
        found += [
            (OVERHEAD, f"overhead {net}"),
            (WHOLE_TIME, f"time-submitter {row.maker} {net}"),
            (WHOLE_TIME, f"time-size {net} {name} {row.accelerators}"),
            (WHOLE_TIME, f"time-system {row.maker} {row.hardware} {net}"),
        ]
    return Parts(tuple(known), [(part, effect, 1.0) for part, effect in found])


def _law(parts: Sequence[Parts], n_parts: int) -> engine.Law:
    return engine.sum_of_parts(np.array([part.constants for part in parts]).reshape(-1, n_parts))


# Seconds of a step, and of a training.
STEPS = engine.RateModel[ModernRow](
    n_terms=WHOLE + 1,
    effects=lambda row: step_parts(row).effects,
    prior_of=prior_of,
    law=lambda rows: _law([step_parts(row) for row in rows], WHOLE),
    sigma=_SIGMA,
    shared_only=_SHARED_ONLY,
)
TRAININGS = engine.RateModel[Training](
    n_terms=WHOLE_TIME + 1,
    effects=lambda case: training_parts(case).effects,
    prior_of=prior_of,
    law=lambda cases: _law([training_parts(case) for case in cases], WHOLE_TIME),
    sigma=_SIGMA,
    shared_only=_SHARED_ONLY,
)


RATE, TIME = "rate", "time"
NEWEST_ROUND = 5.1
_FOLDS = 5
# Terms other than the largest start a factor e below it.
_BELOW = 1.0
# Tests, and the largest median error that is asked for.
_TARGETS = (
    ("modern-rate-in-sample-median", 0.03),
    ("modern-time-in-sample-median", 0.03),
    ("modern-rate-system-left-out-median", 0.06),
    ("modern-time-system-left-out-median", 0.06),
    ("modern-rate-newest-round-left-out-median", 0.06),
    ("modern-time-newest-round-left-out-median", 0.08),
)
_COVERED, _BIAS = (0.85, 0.96), 0.03

# Logarithms of predicted over published, and variances by the effects.
_Errors = tuple[Floats, Floats]


def calibrate_modern(rows: Sequence[ModernRow]) -> engine.StoredFits:
    """Fit rates and times to train to rows, and check the fits on systems and a round that they have not seen."""
    rates = [row for row in rows if fits_rate(row)]
    times = [row for row in rates if fits_time(row)]
    rate, time = fit_rates(rates), fit_times(times)
    of_rates, of_times, of_lines = (_folds(some) for some in (rates, times, [case.row for case in time.cases]))
    seen = _errors(rate, time, times)
    unseen = [(np.zeros(len(some)), np.zeros(len(some))) for some in (rates, times)]
    for k in range(_FOLDS):
        found = _errors(rate.refitted(of_rates == k), time.refitted(of_lines == k), times)
        for known, new, here in zip(unseen, found, (of_rates == k, of_times == k), strict=True):
            for part, values in zip(known, new, strict=True):
                part[here] = values[here]
    rate_fit, time_fit = (
        engine.with_spreads(rate.fit, seen[0], unseen[0]),
        engine.with_spreads(time.fit, seen[1], unseen[1]),
    )
    newest, lines = (_is_newest(some) for some in (rates, [case.row for case in time.cases]))
    later = _errors(rate.refitted(newest), time.refitted(lines), times)
    tests = [(rate_fit, *seen[0]), (time_fit, *seen[1]), (rate_fit, *unseen[0]), (time_fit, *unseen[1])]
    # A network that the newest round is the first to run has nothing to be predicted from.
    earlier = {row.benchmark for row, is_new in zip(rates, newest, strict=True) if not is_new}
    for fit, (errors, variance), some in zip((rate_fit, time_fit), later, (rates, times), strict=True):
        here = _is_newest(some) & np.array([row.benchmark in earlier for row in some])
        tests.append((fit, errors[here], variance[here]))
    checks = [engine.ErrorStatistics.of(errors, fit.interval_sd(variance)) for fit, errors, variance in tests]
    return engine.StoredFits(digest_of_rows(rows), {RATE: rate_fit, TIME: time_fit}, _figures(checks))


def digest_of_rows(rows: Sequence[ModernRow]) -> str:
    """Short digest of rows; the place of a row is no part of it."""
    return engine.digest_of([{name: value for name, value in vars(row).items() if name != "place"} for row in rows])


@cache
def modern_calibration() -> engine.StoredFits:
    """The shipped fits, read once.

    Raises CalibrationError if they are missing or damaged.
    """
    return engine.load_fits(engine.fits_path("modern"), {RATE: prior_of, TIME: prior_of})


def fit_rates(rows: Sequence[ModernRow]) -> engine.FittedModel[ModernRow]:
    """The fit of the rates: seconds of a step."""
    steps = [math.log(row.global_batch / row.samples_per_s) for row in rows if row.global_batch and row.samples_per_s]
    means: dict[str, float] = {}
    for net in {row.benchmark for row in rows}:
        # Work and memory traffic of a network start at the level of its rows.
        levels = [
            (math.log(gpu.peak_flop_per_s / each), math.log(gpu.memory_bytes_per_s / each))
            for row in rows
            if row.benchmark == net and row.accelerators and row.samples_per_s
            for gpu, each in [(accelerator_of(row.accelerator), row.samples_per_s / row.accelerators)]
        ]
        work, traffic = np.median(levels, axis=0)
        means |= {f"work {net}": float(work) - 0.5, f"traffic {net}": float(traffic) - 0.5 - _BELOW}
    return STEPS.fitted(rows, np.array(steps), means)


def fit_times(rows: Sequence[ModernRow]) -> engine.FittedModel[Training]:
    """The fit of the times to train at their published rates, with the samples to convergence of the same runs."""
    cases, logs = [], []
    means: dict[str, float] = {}
    for row in rows:
        cases.append(Training(row, math.log(row.samples_per_s or math.nan)))
        logs.append(math.log(row.time_to_train_s or math.nan))
        if row.samples_to_converge is not None:
            cases.append(Training(row, is_timed=False))
            logs.append(math.log(row.samples_to_converge))
    for net in {row.benchmark for row in rows}:
        known = [row.samples_to_converge for row in rows if row.benchmark == net and row.samples_to_converge]
        if known:
            batches = [row.global_batch for row in rows if row.benchmark == net and row.global_batch]
            usual = math.log(float(np.median(known)))
            means |= {f"samples {net}": usual, f"steps {net}": usual - math.log(float(np.max(batches))) - _BELOW}
    return TRAININGS.fitted(cases, np.array(logs), means)


def _errors(
    rate: engine.FittedModel[ModernRow], time: engine.FittedModel[Training], times: Sequence[ModernRow]
) -> tuple[_Errors, _Errors]:
    of_steps, sd = rate.errors()
    log_rate = {
        row.id: math.log(row.samples_per_s or math.nan) - e for row, e in zip(rate.cases, of_steps, strict=True)
    }
    of_rate = dict(zip(log_rate, (sd**2).tolist(), strict=True))
    logs, time_sd = time.predict([Training(row, log_rate[row.id]) for row in times])
    measured = np.log([row.time_to_train_s or math.nan for row in times])
    return (-of_steps, sd**2), (logs - measured, time_sd**2 + np.array([of_rate[row.id] for row in times]))


def _figures(checks: Sequence[engine.ErrorStatistics]) -> tuple[engine.AccuracyTarget, ...]:
    """Measures of accuracy: rates and times in sample, with systems left out, and with the newest round left out."""
    n = sum(check.rows for check in checks)
    shares = [check.coverage for check in checks]
    return (
        *(
            engine.AccuracyTarget(m, check.median, 0.0, most, check.rows)
            for (m, most), check in zip(_TARGETS, checks, strict=True)
        ),
        engine.AccuracyTarget("modern-least-coverage", min(shares), *_COVERED, n),
        engine.AccuracyTarget("modern-most-coverage", max(shares), *_COVERED, n),
        engine.AccuracyTarget("modern-largest-bias", max(abs(check.bias) for check in checks), 0.0, _BIAS, n),
    )


def _folds(rows: Sequence[ModernRow]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Fold of each row; a system lies in one of them, with every size, network and round."""
    return np.array([zlib.crc32(f"{row.maker} {row.hardware}".encode()) % _FOLDS for row in rows])


def _is_newest(rows: Sequence[ModernRow]) -> Bools:
    return np.array([row.round_order >= NEWEST_ROUND for row in rows])


# Effects of the size of a system; they have terms of their own, that of one size is interpolated between sizes.
_OF_SIZE = ("size", "size-batch", "scale")
_SCALE, _FIRST_SIZE = WHOLE + 1, WHOLE + 2
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
        self._fit, self._net = fits.fits[RATE], system.benchmark
        newest = newest_round(self._net)
        self._one = np.array(step_parts(_row(system, 1, newest)).constants)
        # Exchange between servers stands in the parts of several servers alone; latency grows with the size.
        several = step_parts(_row(system, _MANY_SERVERS, newest)).effects
        effects = [effect for effect in several if kind_of(effect[1]) not in _OF_SIZE]
        effects.append((_SCALE, f"scale {self._net}", 1.0))
        start = f"size {system.benchmark} {system.accelerator} "
        sizes = sorted(int(name.removeprefix(start)) for name in self._fit.names if name.startswith(start))
        effects += [(_FIRST_SIZE + index, f"{start}{n}", 1.0) for index, n in enumerate(sizes)]
        self._sizes = np.array(sizes, dtype=float)
        # A generation with few runs is not known by them: what they say of it, and of the accelerator, does not count.
        own, is_known = {self.gpu.generation, system.accelerator}, n_runs(self.gpu.generation) >= FEW_RUNS
        unknown = [] if is_known else [name for _, name, _ in effects if own & set(name.split(" "))]
        self._values, self._covariance = self._fit.terms(effects, _FIRST_SIZE + len(sizes), unknown)
        if not is_known:
            self._values[COMPUTE] += _level_by_products(self._fit, self.gpu)

    def rate(self, n_servers: ArrayLike, batch_per_gpu: ArrayLike) -> LogRate:
        """Logarithm of the rate of all GPUs together, of arrays that broadcast. [samples/s]"""
        servers, batch = np.broadcast_arrays(np.asarray(n_servers, float), np.asarray(batch_per_gpu, float))
        shape, servers, batch = servers.shape, servers.reshape(-1), batch.reshape(-1)
        n = servers * self.system.gpus_per_server
        # Logarithms of what is known of the parts of a step, shape (rows, parts), as of :func:`step_parts`.
        found = np.repeat(self._one[None, :], len(n), axis=0)
        # The constants are those of one sample on each GPU.
        found[:, [COMPUTE, TRAFFIC]] += np.log(batch)[:, None]
        found[:, LAUNCH] = 0.0
        domain = self.gpu.nvlink_domain
        groups = servers if domain is None else np.ceil(n / domain)
        is_joined = groups > 1
        with np.errstate(divide="ignore"):
            moved = np.where(is_joined, 2 * (1 - 1 / groups), 0.0) / self.system.nic_bytes_per_s
            found[:, EXCHANGE] = np.log(moved)
            found[:, LATENCY] = np.log(np.where(is_joined, np.log2(np.maximum(n, 2)), 0.0))
        log_parts, slopes = sum_of_parts(found)(self._values[None, : WHOLE + 1])
        weights, left = self._size_weights(n)
        beyond = np.concatenate([np.log2(n)[:, None], weights], axis=1)
        slopes = np.concatenate([slopes, beyond], axis=1)
        log_step = log_parts + beyond @ self._values[_SCALE:]
        variance = np.einsum("ij,jk,ik->i", slopes, self._covariance, slopes) + left
        sd = self._fit.interval_sd(variance)
        return LogRate((np.log(n * batch) - log_step).reshape(shape), np.asarray(sd).reshape(shape))

    def parts(self) -> StepParts:
        """Parts of a step at the fitted effects."""
        compute, traffic, launch, _, _, inside = np.exp(self._one + self._values[:WHOLE] + self._values[WHOLE]).tolist()
        exchange = self._values[EXCHANGE] + self._values[WHOLE]
        g = self.system.gpus_per_server
        return StepParts(
            sample_s=compute + traffic,
            launch_s=launch,
            exchange_bytes=math.exp(exchange),
            inside_s=inside * g / (2 * (g - 1)) if g > 1 else 0.0,
        )

    def _size_weights(self, n: Floats) -> tuple[Floats, Floats]:
        """Weights of the published sizes, shape (rows, sizes), and the variance that they leave."""
        of_size, of_batch = prior_of("size").sd, prior_of("size-batch").sd
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
    return SystemRates(system, modern_calibration())


@lru_cache(maxsize=64)
def convergence_of(benchmark: str) -> Convergence:
    """Samples to converge of a network by the shipped fits, as its newest rules have it."""
    fit = modern_calibration().fits[TIME]
    row = _row(MeasuredSystem(benchmark, "h100-sxm5-80gb", 8, "nvlink4", 1.0, ""), 1, newest_round(benchmark))
    samples = training_parts(Training(row, is_timed=False)).effects
    values, covariance = fit.terms(samples, 2)
    few, many = math.exp(values[FEW]), math.exp(values[MANY])
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
