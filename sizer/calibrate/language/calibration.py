"""The fits to the shipped rows and what they predict: step time, memory and time to train with 90 % intervals."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.estimate import Estimate, normal_cdf
from sizer.calibrate import engine
from sizer.calibrate.engine import Effect, FittedModel, Law, Prior, RateModel, by_differences, priors
from sizer.calibrate.language.cases import (
    CONTRADICTION,
    SHIPPED,
    TUNED,
    LanguageCase,
    LanguageRow,
    arrays,
    cases_of,
    group_of_stack,
    load_language_rows,
    runtimes,
    software_flags,
    stack_named,
    stack_on,
    work_flop,
)
from sizer.calibrate.observations import benchmark_file, digest_of_files
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu
from sizer.perf.gpu_memory import REFUSED
from sizer.perf.language.step import (
    COEFFICIENTS,
    FILLED,
    GIB,
    MEMORY_FACTORS,
    Efficiencies,
    Layouts,
    Machines,
    MemoryFactors,
    Shapes,
    matmul_seconds,
    memory_use,
    step_time,
)

StepInputs = tuple[Shapes, Layouts, Machines]

# Scatter of one run about the model, within which the loss is quadratic.
SCATTER = 0.04
# Scatter of the logarithm of a run about its prediction, beyond what the effects know: about 3 % between repeats half a
# year apart, more where adapters or a guessed layout come in. Runs left out of the fit give these. What is particular
# to a mixture is an effect that its runs share.
_ROW_SD, _LORA = 0.06, 0.10
# The same of a run of which something is guessed: runs that are not fitted, because that is missing, give the larger.
# The number format, blanked in the 932 fitted rows: errors with 0.19 have 90 % inside. A contradictory layout says less
# than none.
_GUESSED = {"layers": 0.15, "shape": 0.15, "micro batch": 0.25, "hybrid layers": 0.4, "precision": 0.20,
            CONTRADICTION: 0.25}  # fmt: skip
_GUESSED_OTHERWISE = 0.10
# The same where neither layout nor global batch is stated: blanked in the 932 fitted rows, whose median error is 0.23.
_NEITHER, _LAYOUT_AND_BATCH = 0.55, frozenset(("layout", "global batch"))


def prior_of(name: str) -> engine.Prior:
    """Prior of a factor or of an effect."""
    if name in engine.priors("language"):
        return engine.Prior(float(np.log(getattr(Efficiencies(), name))), engine.priors("language")[name].sd)
    return engine.stated_prior("language-levels", name)


def effects_of(case: LanguageCase) -> list[engine.Effect]:
    """Every factor, and the effects ``kind:level`` on the whole step."""
    levels = case.levels
    factors = [(term, name, 1.0) for term, name in enumerate(COEFFICIENTS)]
    found = [f"{kind}:{level}" for kind in engine.priors("language-levels") if (level := getattr(levels, kind))]
    return [*factors, *((len(COEFFICIENTS), name, 1.0) for name in found)]


def step_law(inputs: StepInputs) -> engine.Law:
    """Logarithms of the seconds of a step of layouts."""

    def log_step_s(factors: Floats) -> Floats:
        each: dict[str, Any] = dict(zip(COEFFICIENTS, np.moveaxis(np.exp(factors), -1, 0), strict=True))
        return np.asarray(np.log(step_time(*inputs, Efficiencies(**each)).total))

    return engine.by_differences(log_step_s)


def scatter(cases: Sequence[LanguageCase]) -> Floats:
    """Standard deviation of the logarithm of a run about its prediction, beyond that of every run, shape (cases,)."""
    parts = [
        (
            _LORA * bool(case.levels.lora),
            max((_GUESSED.get(part, _GUESSED_OTHERWISE) for part in case.guessed), default=0.0),
            _NEITHER * _LAYOUT_AND_BATCH.issubset(case.guessed),
        )
        for case in cases
    ]
    return np.asarray(np.sqrt((np.array(parts).reshape(-1, 3) ** 2).sum(axis=1)))


STEPS = engine.RateModel(
    n_terms=len(COEFFICIENTS) + 1,
    effects=effects_of,
    prior_of=prior_of,
    law=lambda cases: step_law(arrays(cases)),
    sigma=SCATTER,
    row_sd=_ROW_SD,
    scatter=scatter,
)


MINUTE = 60.0
# Logarithms: sequences of a benchmark, which its own runs set, and their growth with the batch. Beyond the batch at
# which gradients still help, twice the batch takes up to twice the sequences; below it, no more.
_SEQUENCE_PRIORS = {"sequences": engine.Prior(0.0, 10.0), "growth": engine.Prior(0.15, 0.15)}
_SCATTER = 0.06

Run = tuple[str, float]  # benchmark and global batch


def benchmark_of(case: LanguageCase) -> str:
    """Runs of one benchmark share model and task."""
    return f"{case.row.model}/{case.row.kind}"


def _effects_of(run: Run) -> list[engine.Effect]:
    benchmark, batch = run
    return [(0, f"sequences:{benchmark}", 1.0), (0, f"growth:{benchmark}", float(np.log(batch)))]


# ln(sequences) = sequences + growth x ln(batch).
SEQUENCES = engine.RateModel[Run](
    n_terms=1,
    effects=_effects_of,
    prior_of=lambda name: _SEQUENCE_PRIORS[engine.kind_of(name)],
    law=lambda _: lambda terms: (terms[:, 0], np.ones_like(terms)),
    sigma=_SCATTER,
    row_sd=_SCATTER,
)


def sequences_measured(cases: Sequence[LanguageCase]) -> tuple[list[Run], Floats, dict[str, float]]:
    """Runs that took a benchmark to its target, their sequences (logarithms), and the level of each benchmark."""
    runs, logs = [], []
    for case in cases:
        row, step = case.row, case.log_step_s
        if row.ttt_min and row.global_batch and step is not None:
            runs.append((benchmark_of(case), row.global_batch))
            logs.append(np.log(row.ttt_min * MINUTE * row.global_batch) - step)
    at_one = np.array(logs) - _SEQUENCE_PRIORS["growth"].mean * np.log([batch for _, batch in runs])
    names = np.array([name for name, _ in runs])
    means = {f"sequences:{name}": float(np.median(at_one[names == name])) for name in dict.fromkeys(names.tolist())}
    return runs, np.array(logs), means


def fit_benchmarks(cases: Sequence[LanguageCase]) -> engine.FittedModel[Run]:
    """Fit every benchmark that runs of these cases took to its target."""
    return SEQUENCES.fitted(*sequences_measured(cases))


# Frameworks differ in buffers, in what they keep, and in whether they report what is allocated or reserved. Runs of one
# about the model, and of one whose layout or shape is guessed.
_STACK_SD, _PEAK_SCATTER = 0.15, 0.05
_SPREAD, _GUESSED_SPREAD = 0.10, 0.18
# Where the micro batch or the layout is not stated: blanked in the fitted rows, so much has 90 % of the peaks inside.
# The guessed layout of adapters is near: blanked in eight, errors are 0.10.
_WITHOUT = {"micro batch": 0.32, "layout": 0.63}


def peak_prior_of(name: str) -> Prior:
    """Prior of a factor, or of what a stack takes of memory."""
    if name in priors("language-memory"):
        return Prior(float(np.log(getattr(MemoryFactors(), name))), priors("language-memory")[name].sd)
    return Prior(0.0, _STACK_SD)


def stack_effect(case: LanguageCase) -> str:
    """Effect of the software of a case: NVIDIA's submissions to MLPerf run the NeMo framework."""
    return f"stack:{'nemo' if case.levels.stack == TUNED else case.levels.stack}"


def _peak_effects(case: LanguageCase) -> list[Effect]:
    factors = [(term, name, 1.0) for term, name in enumerate(MEMORY_FACTORS)]
    return [*factors, (len(MEMORY_FACTORS), stack_effect(case), 1.0)]


def _peak_law(cases: Sequence[LanguageCase]) -> Law:
    (shapes, layouts, _), runtime = arrays(cases), runtimes(cases)

    def log_bytes(factors: Floats) -> Floats:
        by = MemoryFactors(**dict(zip(MEMORY_FACTORS, np.moveaxis(np.exp(factors), -1, 0), strict=True)))
        return np.asarray(np.log(memory_use(shapes, layouts, runtime, by).total))

    return by_differences(log_bytes)


def spread(cases: Sequence[LanguageCase]) -> Floats:
    """Standard deviation of the logarithm of a peak about its prediction, shape (cases,)."""

    def of(case: LanguageCase) -> float:
        parts = [part for part in case.guessed if not (part == "layout" and case.levels.lora)]
        usual = _GUESSED_SPREAD if case.guessed else _SPREAD
        return max((_WITHOUT.get(part, _GUESSED_SPREAD) for part in parts), default=usual)

    return np.array([of(case) for case in cases])


PEAKS = RateModel(
    n_terms=len(MEMORY_FACTORS) + 1,
    effects=_peak_effects,
    prior_of=peak_prior_of,
    law=_peak_law,
    sigma=_PEAK_SCATTER,
    scatter=spread,
)


def peaks_measured(cases: Sequence[LanguageCase]) -> tuple[list[LanguageCase], Floats]:
    """Cases that state a peak, and its bytes (logarithms)."""
    stated = [case for case in cases if case.row.mem_gib]
    return stated, np.log([(case.row.mem_gib or 0.0) * GIB for case in stated])


def fit_memory(cases: Sequence[LanguageCase]) -> FittedModel[LanguageCase]:
    """Fit to the peaks that cases state.

    Raises CalibrationError if the fit does not converge.
    """
    return PEAKS.fitted(*peaks_measured(cases))


Value = TypeVar("Value")
# Of a time to train without the global batch, beyond what is guessed: blanked in the 108 fitted ones, 58 % were inside
# without it.
_BATCH_OF_TIME = 0.38
_PATH = engine.fits_path("language")
_PRIORS = {"steps": prior_of, "memory": peak_prior_of, "benchmarks": SEQUENCES.prior_of}


@dataclass(frozen=True)
class LanguageCalibration:
    """What the shipped rows say."""

    steps: engine.FittedModel[LanguageCase]
    memory: engine.FittedModel[LanguageCase]
    benchmarks: engine.FittedModel[Run]
    rows: tuple[LanguageRow, ...]
    figures: tuple[engine.AccuracyTarget, ...] = ()

    @property
    def cases(self) -> tuple[LanguageCase, ...]:
        """Runs that the step times are fitted to."""
        return self.steps.cases

    @property
    def fit(self) -> engine.Fit:
        """Factors and effects of step times."""
        return self.steps.fit

    @cached_property
    def factors(self) -> Floats:
        """Logarithms of the factors of a step, in the order of its coefficients."""
        return np.array([self.fit.value(name) for name in COEFFICIENTS])

    def step_seconds(self, cases: Sequence[LanguageCase]) -> Estimate:
        """Seconds of a step of each case, shape (cases,)."""
        if not cases:
            return Estimate.exact(np.zeros(0))
        logs, log_sd = self.steps.predict(cases)
        return Estimate.log_normal(np.exp(np.maximum(logs, np.log(self._least_seconds(arrays(cases))))), log_sd)

    def tokens_per_s_per_gpu(self, cases: Sequence[LanguageCase]) -> Estimate:
        """Tokens/s of one GPU of each case, shape (cases,)."""
        step = self.step_seconds(cases)
        tokens = np.array([c.layout["batch"] * c.layout["sequence"] / c.layout["gpus"] for c in cases])
        return Estimate(tokens / step.value, tokens / step.high, tokens / step.low)

    def step_of_layouts(self, case: LanguageCase, layouts: StepInputs) -> tuple[Floats, Floats]:
        """What the effects of model, machine and software make of a step, of any layout that is known.

        Returns (layouts,): on every term of the step. Returns (layouts,): spread of the logarithm of the step time.
        """
        known = replace(case, guessed=())
        terms, covariance = self.fit.terms(effects_of(known), STEPS.n_terms)
        log_s, slopes = step_law(layouts)(terms[None, :])
        variance = ((slopes @ covariance) * slopes).sum(axis=1)
        least = self._least_seconds(layouts) / np.exp(log_s - terms[-1])
        return np.maximum(np.exp(terms[-1]), least), self.fit.interval_sd(variance, STEPS.scatter([known]))

    @cached_property
    def highest_matmul_share(self) -> float:
        """Highest share of the measured rate of large matrices that the whole step of a published run reached."""
        return float(np.max(matmul_seconds(*arrays(self.cases)) / np.exp(self.steps.measured)))

    def _least_seconds(self, layouts: StepInputs) -> Floats:
        """A step that nobody published is no faster: effects of a GPU and of a stack do not add up beyond it."""
        return matmul_seconds(*layouts) / self.highest_matmul_share

    def once(self, key: Hashable, found: Callable[[], Value]) -> Value:
        """What is the same for many layouts of one run, worked out once."""
        if key not in self._found:
            self._found[key] = found()
        found_value: Value = self._found[key]
        return found_value

    @cached_property
    def _found(self) -> dict[Hashable, Any]:
        return {}

    def time_to_train(self, case: LanguageCase) -> Estimate | None:
        """Seconds to the target of the case's benchmark; None where no run of it is known."""
        run = (benchmark_of(case), case.layout["batch"])
        if f"sequences:{run[0]}" not in self.benchmarks.fit.index:
            return None
        step, sequences = self.step_seconds([case])[0], self.benchmarks.estimate([run])[0]
        log_sd = np.hypot(step.log_sd, sequences.log_sd)
        if "global batch" in case.guessed:
            log_sd = np.hypot(log_sd, _BATCH_OF_TIME)
        return Estimate.log_normal(sequences.value / run[1] * step.value, log_sd)

    def stored(self) -> engine.StoredFits:
        """The fits as they are stored, with the digest of what they were made from."""
        fits = {name: getattr(self, name).fit for name in _PRIORS}
        return engine.StoredFits(_digest(self.cases, self.memory.cases), fits, self.figures)


def fitted(rows: Sequence[LanguageRow], cases: Sequence[object]) -> list[LanguageCase]:
    """The cases that the fit uses: rows marked for calibration, with a rate."""
    return [
        case
        for row, case in zip(rows, cases, strict=True)
        if isinstance(case, LanguageCase) and row.role == "calibration" and case.log_step_s is not None
    ]


def calibrate(rows: Sequence[LanguageRow], catalog: Catalog) -> LanguageCalibration:
    """Fit step times, GPU memory and benchmarks to rows.

    Memory also learns from runs whose rate is only for checks: a missing sequence of layers changes it little.
    """
    known, used = _known_and_used(rows, catalog)
    return LanguageCalibration(
        STEPS.fitted(used, np.array([case.log_step_s for case in used], dtype=float)),
        fit_memory(known),
        fit_benchmarks(used),
        tuple(rows),
    )


@lru_cache(maxsize=1)
def language_calibration() -> LanguageCalibration:
    """The stored fits to the shipped rows, with the shipped catalogue; read once.

    Raises CalibrationError if they are missing or damaged, or rows or catalogue have changed since.
    """
    rows = load_language_rows()
    known, used = _known_and_used(rows, shipped_catalog())
    stated, peaks = peaks_measured(known)
    stored = engine.load_fits(_PATH, _PRIORS, _digest(used, stated))
    steps, (runs, sequences, means) = [case.log_step_s for case in used], sequences_measured(used)
    return LanguageCalibration(
        engine.FittedModel(STEPS, tuple(used), np.array(steps, dtype=float), stored.fits["steps"]),
        engine.FittedModel(PEAKS, tuple(stated), peaks, stored.fits["memory"]),
        engine.FittedModel(SEQUENCES, tuple(runs), sequences, stored.fits["benchmarks"], means),
        rows,
        stored.figures,
    )


def _known_and_used(rows: Sequence[LanguageRow], catalog: Catalog) -> tuple[list[LanguageCase], list[LanguageCase]]:
    """Rows that the model can describe, and those of them that the step times are fitted to."""
    cases = cases_of(rows, catalog, rows)
    return [case for case in cases if isinstance(case, LanguageCase)], fitted(rows, cases)


def _digest(used: Sequence[LanguageCase], stated: Sequence[LanguageCase]) -> str:
    """Digest of rows, names of effects, priors and every number that the fits take of the catalogue."""
    names = STEPS.names(used), PEAKS.names(stated)
    priors = [
        [astuple(model.prior_of(name))[:2] for name in of] for model, of in zip((STEPS, PEAKS), names, strict=True)
    ]
    inputs = (*arrays(used), *arrays(stated)[:2], runtimes(stated))
    return engine.digest_of(
        (digest_of_files(benchmark_file(*SHIPPED)), names),
        [*map(np.array, priors), *(c for one in inputs for c in astuple(one))],
    )


@dataclass(frozen=True)
class StackWorth:
    """Rate of a stack compared with another one, with the same layout."""

    stack: str  # id
    rate_ratio: Estimate  # its rate over that of the other
    runs: int  # published runs of it that the fit has; 0: the interval is that of any stack


def stack_worths(
    calibration: LanguageCalibration,
    stacks: Mapping[str, str],
    chosen: str,
    *,
    gpu: Gpu,
    precision: str,
    is_lora: bool,
    inputs: StepInputs | None = None,
) -> tuple[StackWorth, ...]:
    """Worth of every stack compared with the chosen one, the fastest first.

    ``stacks``: id of a stack to its name in the fit, the chosen one among them. ``gpu``, ``precision``: what it runs
    on, and its number format. ``is_lora``: whether adapters are trained: some stacks differ in it. ``inputs``: the one
    layout that is compared: kernels, launches and exchange of stacks differ, which counts by what a step has of them.
    Absent: only the effects of the stacks are compared.
    """
    runs = dict.fromkeys(stacks, 0)
    for case in calibration.cases:
        for name, stack in stacks.items():
            runs[name] += case.levels.stack == stack
    fit, generation = calibration.fit, gpu.generation
    mine = _effects(stacks[chosen], generation, is_lora)
    flags = {name: tuple(software_flags(stack, precision, gpu).items()) for name, stack in stacks.items()}
    steps = {} if inputs is None else {flag: _step(inputs, calibration, dict(flag)) for flag in set(flags.values())}

    def worth(name: str) -> StackWorth:
        theirs = _effects(stacks[name], generation, is_lora)
        # What both stacks share cancels, known or not.
        contrast = [(0, name, float((name in theirs) - (name in mine))) for name in dict.fromkeys((*theirs, *mine))]
        slower = 0.0
        if inputs is not None and flags[name] != flags[chosen]:
            (theirs_log_s, theirs_slopes), (mine_log_s, mine_slopes) = steps[flags[name]], steps[flags[chosen]]
            slower = theirs_log_s - mine_log_s
            # The steps have the factors already, the interval also has their spread.
            moved = zip(COEFFICIENTS, (theirs_slopes - mine_slopes).tolist(), strict=True)
            contrast += [(1, factor, slope) for factor, slope in moved]
        values, covariance = fit.terms([one for one in contrast if one[2]], 2)
        return StackWorth(name, Estimate.log_normal(np.exp(-slower - values[0]), np.sqrt(covariance.sum())), runs[name])

    found = [worth(name) for name in stacks if name != chosen]
    return tuple(sorted(found, key=lambda one: -float(one.rate_ratio.value)))


def _step(inputs: StepInputs, calibration: LanguageCalibration, flags: Mapping[str, float]) -> tuple[float, Floats]:
    """Logarithm of the seconds of a step by software of such flags, and its slopes by the factors."""
    shapes, layouts, machines = inputs
    given: dict[str, Any] = {name: np.array([value > 0]) for name, value in flags.items()}
    log_s, slopes = step_law((shapes, replace(layouts, **given), machines))(
        np.append(calibration.factors, 0.0)[None, :]
    )
    return float(log_s[0]), slopes[0, :-1]


def _effects(stack: str, generation: str | None, is_lora: bool) -> Sequence[str]:
    found = [f"stack:{stack}", f"stack_group:{group_of_stack(stack)}"]
    if on := stack_on(stack, generation):
        found.append(f"stack_generation:{on}")
    return [*found, f"lora:{stack}"] if is_lora else found


# The newest round is predicted by what came before it.
NEWEST_ROUND = "mlperf-training-v5.1"


def accuracy(calibration: LanguageCalibration) -> tuple[engine.AccuracyTarget, ...]:
    """Every measure of accuracy, each group left out in turn: about half a minute."""
    steps, memory, cases = calibration.steps, calibration.memory, calibration.cases
    stacks: dict[str, set[str]] = {}
    for case in cases:
        stacks.setdefault(case.levels.stack, set()).add(case.row.source)
    known = np.array([len(stacks[case.levels.stack]) > 1 for case in cases])
    of, of_source = engine.ErrorStatistics.of, steps.left_out(case.row.source for case in cases)
    seen, by_series = of(*steps.errors()), of(*steps.left_out(c.row.series or c.row.row_id for c in cases))
    by_source, usual, strange = (of(*(part[rows] for part in of_source)) for rows in (..., known, ~known))
    rates, times = newest_round(steps)
    better = sources_better_than_one_utilization(cases, of_source[0])
    peaks, peaks_left_out = of(*memory.errors()), of(*memory.left_out(c.row.source for c in memory.cases))
    refused = refused_that_ran(memory, cases)
    covered = {"": seen, "held-out-series-": by_series, "held-out-source-": by_source, "unknown-stack-": strange}

    def target(measure: str, value: float, most: float, rows: int, least: float = 0.0) -> engine.AccuracyTarget:
        return engine.AccuracyTarget(f"language-{measure}", value, least, most, rows)

    return (
        target("median", seen.median, 0.04, seen.rows),
        target("p90", seen.p90, 0.15, seen.rows),
        target("held-out-series-median", by_series.median, 0.07, by_series.rows),
        target("held-out-source-median", usual.median, 0.08, usual.rows),
        target("better-than-utilization", float(np.mean(better)), 1.0, len(better), 0.8),
        target("unknown-stack-median", strange.median, 0.13, strange.rows),
        target("newest-round-rates", float(np.median(np.abs(rates))), 0.06, len(rates)),
        target("newest-round-times", float(np.median(np.abs(times))), 0.08, len(times)),
        *(target(f"{name}coverage", one.coverage, 0.96, one.rows, 0.85) for name, one in covered.items()),
        target("memory-median", peaks.median, 0.05, peaks.rows),
        target("memory-held-out-source-median", peaks_left_out.median, 0.10, peaks_left_out.rows),
        target("memory-held-out-source-coverage", peaks_left_out.coverage, 0.96, peaks_left_out.rows, 0.85),
        target("memory-refused-that-ran", float(np.mean(refused)), 0.0, len(refused)),
        target("bias", abs(seen.bias), 0.03, seen.rows),
        target("held-out-source-bias", abs(by_source.bias), 0.03, by_source.rows),
        target("unknown-stack-bias", abs(strange.bias), 0.05, strange.rows),
    )


def refused_that_ran(memory: engine.FittedModel[LanguageCase], cases: Sequence[LanguageCase]) -> Bools:
    """Of runs whose layout is stated, whether the model takes their memory for impossible: they ran all the same."""
    stated = [case for case in cases if not case.guessed]
    held = [replace(case, runtime=case.runtime | {"is_allocated": 0.0}) for case in stated]
    log_peaks, log_sd = memory.predict(held)
    room = FILLED * np.array([case.machine["memory_bytes"] for case in stated])
    return np.asarray(normal_cdf((np.log(room) - log_peaks) / log_sd) < REFUSED)


def newest_round(steps: engine.FittedModel[LanguageCase]) -> tuple[Floats, Floats]:
    """Errors of step times and of times to train of the newest round of MLPerf, predicted without it.

    A benchmark that the round is the first to run has no time to train to learn from and is left out of the second.
    """
    cases = steps.cases
    out = np.array([case.row.source == NEWEST_ROUND for case in cases])
    rates, _ = steps.refitted(out).errors(out)
    before = fit_benchmarks([case for case, is_out in zip(cases, out, strict=True) if not is_out])
    known = {name for name, _ in before.cases}
    newest = zip((case for case, is_out in zip(cases, out, strict=True) if is_out), rates.tolist(), strict=True)
    timed = [one for one in newest if benchmark_of(one[0]) in known and one[0].row.ttt_min]
    logs, _ = before.predict([(benchmark_of(case), case.layout["batch"]) for case, _ in timed])
    took = [(case.log_step_s or np.nan) + error - np.log(case.layout["batch"] * MINUTE * (case.row.ttt_min or np.nan))
            for case, error in timed]  # fmt: skip
    return rates, logs + np.array(took)


def sources_better_than_one_utilization(cases: Sequence[LanguageCase], errors: Floats) -> list[bool]:
    """For each source, whether it is predicted better than by one utilization for each GPU and precision.

    The utilization is the median model-FLOP utilization of the runs of other sources; a source of which no other ran
    the GPU and precision has none.
    """
    matmul_flop_per_s = np.array([case.machine["matmul_flop_per_s"] for case in cases])
    idle = np.array([c.log_step_s for c in cases], dtype=float) - np.log(work_flop(cases) / matmul_flop_per_s)
    sources = np.array([case.row.source for case in cases])
    groups = np.array([case.levels.gpu_precision for case in cases])
    found = []
    for source in np.unique(sources):
        mine = sources == source
        plain, ours = [], []
        for group in np.unique(groups[mine]):
            others = idle[~mine & (groups == group)]
            if len(others):
                here = mine & (groups == group)
                plain += list(np.abs(idle[here] - np.median(others)))
                ours += list(np.abs(errors[here]))
        if plain:
            found.append(bool(np.median(ours) < np.median(plain)))
    return found


@dataclass(frozen=True)
class RunBasis:
    """Fitted runs that share something with a design; counts."""

    model: int  # the same model, whole
    gpu_precision: int  # the same GPU and number format
    stack: int  # the same software stack
    all_three: int
    most_gpus: int  # of those that share all three, else of those that share GPU and format; 0: none


@dataclass(frozen=True)
class GroupAccuracy:
    """Fitted runs of one generation of GPUs with one stack, and their errors |ln(predicted / published)|."""

    generation: str  # id in the catalogue; empty where the GPU has none
    generation_name: str
    stack: str  # as in the fit
    stack_name: str
    models: int
    most_gpus: int
    errors: engine.ErrorStatistics


def is_same_model(language_case: LanguageCase, case: LanguageCase) -> bool:
    """Whether a run trained the model of a case, whole: some publish a few layers of a model under its name."""
    return language_case.row.model.lower() == case.row.model.lower() and all(
        language_case.shape[name] == case.shape[name] for name in ("layers", "hidden")
    )


def basis_of(case: LanguageCase, calibration: LanguageCalibration) -> RunBasis:
    """The fitted runs that a prediction for a case rests on."""
    cases, mine = calibration.cases, case.levels
    model = np.array([is_same_model(one, case) for one in cases], dtype=bool)
    machine = np.array([one.levels.gpu_precision == mine.gpu_precision for one in cases], dtype=bool)
    stack = np.array([one.levels.stack == mine.stack for one in cases], dtype=bool)
    every = model & machine & stack
    gpus = np.array([one.row.gpus for one in cases])
    shared = gpus[every] if every.any() else gpus[machine]
    most = int(shared.max()) if shared.size else 0
    return RunBasis(int(model.sum()), int(machine.sum()), int(stack.sum()), int(every.sum()), most)


def accuracy_by_generation(calibration: LanguageCalibration, catalog: Catalog) -> tuple[GroupAccuracy, ...]:
    """Accuracy in sample of each generation of GPUs with each stack, the newest generation first."""
    cases, (errors, log_sd) = calibration.cases, calibration.steps.errors()
    groups: dict[tuple[str, str], list[int]] = {}
    for i, case in enumerate(cases):
        groups.setdefault((catalog.gpus[case.gpu_id].generation or "", case.levels.stack), []).append(i)
    order = {name: index for index, name in enumerate(catalog.generations)}

    def group(key: tuple[str, str], members: list[int]) -> GroupAccuracy:
        return GroupAccuracy(
            generation=key[0],
            generation_name=catalog.generations[key[0]].name if key[0] else "other",
            stack=key[1],
            stack_name=_stack_name(cases[members[0]], catalog),
            models=len({cases[i].row.model for i in members}),
            most_gpus=int(max(cases[i].row.gpus for i in members)),
            errors=engine.ErrorStatistics.of(-errors[members], log_sd[members]),
        )

    named = sorted(groups.items(), key=lambda item: (order.get(item[0][0], -1), -len(item[1])))
    return tuple(group(key, members) for key, members in named)


def _stack_name(case: LanguageCase, catalog: Catalog) -> str:
    """Name in the catalogue of the stack of a run; as its source writes it where the catalogue has none."""
    stack, gpu = case.levels.stack, case.gpu_id
    names = (
        item.name
        for item in catalog.stacks.values()
        if item.trains_language and stack_named(LanguageRow("", "", "", gpu, "", 1.0, software=item.framework)) == stack
    )
    return next(names, case.row.software)
