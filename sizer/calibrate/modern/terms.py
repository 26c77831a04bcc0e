"""The models of rate and time to train of MLPerf networks: parts, effects and priors of each, and their fits.

Every part (compute, memory, launch, exchange) is a product of what is known and of effects; what multiplies the whole
step or training stands in the last term.
"""

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.calibrate import engine
from sizer.calibrate.modern.rows import ModernRow, accelerator_of, fits_rate, fits_time

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
    return engine.sum_of_parts(np.array([one.constants for one in parts]).reshape(-1, n_parts))


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
    n = sum(one.rows for one in checks)
    shares = [one.coverage for one in checks]
    return (
        *(
            engine.AccuracyTarget(m, one.median, 0.0, most, one.rows)
            for (m, most), one in zip(_TARGETS, checks, strict=True)
        ),
        engine.AccuracyTarget("modern-least-coverage", min(shares), *_COVERED, n),
        engine.AccuracyTarget("modern-most-coverage", max(shares), *_COVERED, n),
        engine.AccuracyTarget("modern-largest-bias", max(abs(one.bias) for one in checks), 0.0, _BIAS, n),
    )


def _folds(rows: Sequence[ModernRow]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Fold of each row; a system lies in one of them, with every size, network and round."""
    return np.array([zlib.crc32(f"{row.maker} {row.hardware}".encode()) % _FOLDS for row in rows])


def _is_newest(rows: Sequence[ModernRow]) -> Bools:
    return np.array([row.round_order >= NEWEST_ROUND for row in rows])
