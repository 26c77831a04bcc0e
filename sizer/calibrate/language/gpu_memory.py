"""The model of GPU memory of language-model training, fitted to published peaks."""

from collections.abc import Sequence

import numpy as np

from sizer.base.arrays import Floats
from sizer.calibrate.engine import Effect, FittedModel, Law, Prior, RateModel, by_differences, priors
from sizer.calibrate.language.cases import LanguageCase, arrays, runtimes
from sizer.calibrate.language.rows import TUNED
from sizer.perf.language.step import GIB, MEMORY_FACTORS, MemoryFactors, memory_use

# Frameworks differ in buffers, in what they keep, and in whether they report what is allocated or reserved. Runs of one
# about the model, and of one whose layout or shape is guessed.
_STACK_SD, _SCATTER = 0.15, 0.05
_SPREAD, _GUESSED_SPREAD = 0.10, 0.18
# Where the micro batch or the layout is not stated: blanked in the fitted rows, so much has 90 % of the peaks inside.
# The guessed layout of adapters is near: blanked in eight, errors are 0.10.
_WITHOUT = {"micro batch": 0.32, "layout": 0.63}


def prior_of(name: str) -> Prior:
    """Prior of a factor, or of what a stack takes of memory."""
    if name in priors("language-memory"):
        return Prior(float(np.log(getattr(MemoryFactors(), name))), priors("language-memory")[name].sd)
    return Prior(0.0, _STACK_SD)


def stack_effect(case: LanguageCase) -> str:
    """Effect of the software of a case: NVIDIA's submissions to MLPerf run the NeMo framework."""
    return f"stack:{'nemo' if case.levels.stack == TUNED else case.levels.stack}"


def _effects_of(case: LanguageCase) -> list[Effect]:
    factors = [(term, name, 1.0) for term, name in enumerate(MEMORY_FACTORS)]
    return [*factors, (len(MEMORY_FACTORS), stack_effect(case), 1.0)]


def _law(cases: Sequence[LanguageCase]) -> Law:
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
    effects=_effects_of,
    prior_of=prior_of,
    law=_law,
    sigma=_SCATTER,
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
