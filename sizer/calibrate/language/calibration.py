"""The fit to the shipped rows and what it predicts: step time, tokens/s and time to train with 90 % intervals."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate
from sizer.calibrate.language.cases import LanguageCase, cases_of
from sizer.calibrate.language.fit import (
    EFFECT_SD,
    LanguageFit,
    StepInputs,
    StepModel,
    effects_of,
    factor_slopes,
    fit_steps,
    step_problem,
)
from sizer.calibrate.language.gpu_memory import PeakMemoryFit, fit_memory, memory_problem
from sizer.calibrate.language.layout import CONTRADICTION
from sizer.calibrate.language.rows import LanguageRow, load_language_rows
from sizer.calibrate.language.stored import StoredFits, load_fits, problem_digest
from sizer.calibrate.language.time_to_train import Benchmark, benchmark_of, fit_benchmarks
from sizer.catalog.loader import shipped_catalog
from sizer.catalog.model import Catalog
from sizer.perf.language.step import COEFFICIENTS, matmul_seconds

Value = TypeVar("Value")
# Scatter of the logarithm of a run about its prediction, beyond what the effects know: about 3 % between repeats half a
# year apart, more where routing, adapters or a guessed layout come in. Runs left out of the fit give these.
_SCATTER, _MIXTURE, _LORA = 0.06, 0.10, 0.10
# The same of a run of which something is guessed: runs that are not fitted, because that is missing, give the larger.
# The number format, blanked in the 932 fitted rows: errors with 0.19 have 90 % inside. A contradictory layout says less
# than none.
_GUESSED = {"layers": 0.15, "shape": 0.15, "micro batch": 0.25, "hybrid layers": 0.4, "precision": 0.20,
            CONTRADICTION: 0.25}  # fmt: skip
_GUESSED_OTHERWISE = 0.10
# The same where neither layout nor global batch is stated: blanked in the 932 fitted rows, whose median error is 0.23.
_NEITHER, _LAYOUT_AND_BATCH = 0.55, frozenset(("layout", "global batch"))
# Beyond that, of a time to train without the global batch: blanked in the 108 fitted ones, 58 % were inside without it.
_BATCH_OF_TIME = 0.38


@dataclass(frozen=True)
class LanguageCalibration:
    """What the shipped rows say."""

    fit: LanguageFit
    memory: PeakMemoryFit
    benchmarks: dict[str, Benchmark]
    rows: tuple[LanguageRow, ...]
    cases: tuple[LanguageCase, ...]  # that the step times are fitted to

    def step_seconds(self, cases: Sequence[LanguageCase]) -> Estimate:
        """Seconds of a step of each case, shape (cases,)."""
        if not cases:
            return Estimate.exact(np.zeros(0))
        layout = self.fit.model.layout
        model = StepModel(cases, layout)
        log_s, derivative = model(self.fit.values)
        log_s = np.maximum(log_s, np.log(self._least_seconds(model.inputs)))
        known = np.asarray((derivative @ self.fit.covariance * derivative.toarray()).sum(axis=1))
        return Estimate.log_normal(
            np.exp(log_s), np.sqrt(known + unknown_variance(cases, layout.index) + scatter(cases) ** 2)
        )

    def tokens_per_s_per_gpu(self, cases: Sequence[LanguageCase]) -> Estimate:
        """Tokens/s of one GPU of each case, shape (cases,)."""
        step = self.step_seconds(cases)
        tokens = np.array([c.layout["batch"] * c.layout["sequence"] / c.layout["gpus"] for c in cases])
        return Estimate(tokens / step.value, tokens / step.high, tokens / step.low)

    def step_of_layouts(self, case: LanguageCase, layouts: StepInputs) -> tuple[Floats, Floats]:
        """What the effects of model, machine and software make of a step, of any layout that is known.

        Parameters
        ----------
        case : LanguageCase
            Model, machine and software.
        layouts : tuple of Shapes, Layouts and Machines
            Its layouts.

        Returns
        -------
        factor : ndarray, shape (layouts,)
            On every term of the step. [-]
        log_sd : ndarray, shape (layouts,)
            Spread of the logarithm of the step time.
        """
        known = replace(case, guessed=())
        effect_layout, values = self.fit.model.layout, self.fit.values
        n = len(COEFFICIENTS)
        effects = [effect_layout.index[name] for name in effects_of(known) if name in effect_layout.index]
        log_s, slopes = factor_slopes(layouts, values[:n])
        slopes = np.concatenate([slopes, np.ones((len(slopes), len(effects)))], axis=1)
        places = [*range(n), *effects]
        of_parameters = ((slopes @ self.fit.covariance[np.ix_(places, places)]) * slopes).sum(axis=1)
        rest = unknown_variance([known], effect_layout.index) + scatter([known]) ** 2
        least = self._least_seconds(layouts) / np.exp(log_s)
        return np.maximum(np.exp(values[effects].sum()), least), np.sqrt(of_parameters + rest)

    @cached_property
    def highest_matmul_share(self) -> float:
        """Highest share of the measured rate of large matrices that the whole step of a published run reached."""
        least_s = matmul_seconds(*self.fit.model.inputs)
        took_s = np.exp(np.array([case.log_step_s for case in self.cases], dtype=float))
        return float(np.max(least_s / took_s))

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
        benchmark = self.benchmarks.get(benchmark_of(case))
        if benchmark is None:
            return None
        step, sequences = self.step_seconds([case])[0], benchmark.sequences(case.layout["batch"])
        steps = sequences.value / case.layout["batch"]
        log_sd = np.hypot(step.log_sd, sequences.log_sd)
        if "global batch" in case.guessed:
            log_sd = np.hypot(log_sd, _BATCH_OF_TIME)
        return Estimate.log_normal(steps * step.value, log_sd)


def unknown_variance(cases: Sequence[LanguageCase], known: dict[str, int]) -> Floats:
    """Variance of the effects that no fitted run shares: they are at zero with their prior's spread."""
    return np.array(
        [sum(EFFECT_SD[name.split(":", 1)[0]] ** 2 for name in effects_of(case) if name not in known) for case in cases]
    )


def scatter(cases: Sequence[LanguageCase]) -> Floats:
    """Standard deviation of the logarithm of a run about its prediction, shape (cases,)."""
    parts = [
        (
            _SCATTER,
            _MIXTURE * bool(case.levels.mixture),
            _LORA * bool(case.levels.lora),
            max((_GUESSED.get(part, _GUESSED_OTHERWISE) for part in case.guessed), default=0.0),
            _NEITHER * _LAYOUT_AND_BATCH.issubset(case.guessed),
        )
        for case in cases
    ]
    return np.asarray(np.sqrt((np.array(parts).reshape(-1, 5) ** 2).sum(axis=1)))


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
    return LanguageCalibration(fit_steps(used), fit_memory(known), fit_benchmarks(used), tuple(rows), tuple(used))


def fits_of(calibration: LanguageCalibration) -> StoredFits:
    """The fits as they are stored, with the digest of what they were made from."""
    steps, memory = calibration.fit, calibration.memory
    return StoredFits(
        problem_digest(steps.model, memory.model),
        (steps.values, steps.covariance),
        (memory.values, memory.covariance),
        {name: (one.values, one.covariance) for name, one in calibration.benchmarks.items()},
    )


@lru_cache(maxsize=1)
def language_calibration() -> LanguageCalibration:
    """The stored fits to the shipped rows, with the shipped catalogue; read once.

    Raises
    ------
    CalibrationError
        If they are missing or damaged, or rows or catalogue have changed since.
    """
    rows = load_language_rows()
    known, used = _known_and_used(rows, shipped_catalog())
    (steps, step_logs), (memory, peak_logs) = step_problem(used), memory_problem(known)
    stored = load_fits(problem_digest(steps, memory))
    return LanguageCalibration(
        LanguageFit(steps, step_logs, *stored.steps),
        PeakMemoryFit(memory, peak_logs, *stored.memory),
        {name: Benchmark(*one) for name, one in stored.benchmarks.items()},
        rows,
        tuple(used),
    )


def _known_and_used(rows: Sequence[LanguageRow], catalog: Catalog) -> tuple[list[LanguageCase], list[LanguageCase]]:
    """Rows that the model can describe, and those of them that the step times are fitted to."""
    cases = cases_of(rows, catalog, rows)
    return [case for case in cases if isinstance(case, LanguageCase)], fitted(rows, cases)
