"""GPU memory of language-model training: the fit to published peaks, and predictions with their interval."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from sizer.base.arrays import Bools, Floats
from sizer.base.estimate import Estimate
from sizer.calibrate.fit.solver import fit_left_out, fit_with_priors, row_variance
from sizer.calibrate.language.cases import LanguageCase, arrays, runtimes
from sizer.calibrate.language.stacks import TUNED
from sizer.perf.language.memory import GIB, MEMORY_FACTORS, MemoryFactors, memory_use

# The terms are counted from what the software keeps; half widths of what that leaves open.
PRIOR_SD = {
    "state": 0.05,
    "activations": 0.15,
    "scores": 0.3,
    "narrow": 0.15,
    "logits": 0.25,
    "reserved": 0.05,
    "constant": 0.5,
}
# Frameworks differ in buffers, in what they keep, and in whether they report what is allocated or reserved. Runs of one
# about the model, and of one whose layout or shape is guessed.
_STACK_SD, _SCATTER = 0.15, 0.05
_SPREAD, _GUESSED_SPREAD = 0.10, 0.18
# Where the micro batch or the layout is not stated: blanked in the fitted rows, so much has 90 % of the peaks inside.
# The guessed layout of adapters is near: blanked in eight, errors are 0.10.
_WITHOUT = {"micro batch": 0.32, "layout": 0.63}
_STEP = 1e-4
# Probability of fitting below which a stated layout is refused.
REFUSED = 0.1


def memory_stack(case: LanguageCase) -> str:
    """The stack by what it keeps in memory: NVIDIA's submissions to MLPerf run the NeMo framework."""
    return "nemo" if case.levels.stack == TUNED else case.levels.stack


class MemoryModel:
    """Factors and effects of stacks to logarithms of bytes, with derivatives."""

    def __init__(self, cases: Sequence[LanguageCase], stacks: Sequence[str]) -> None:
        self.cases, self.stacks = tuple(cases), tuple(stacks)
        shapes, layouts, _ = arrays(cases)
        self.inputs = shapes, layouts
        self._runtime = runtimes(cases)
        index = {name: i for i, name in enumerate(self.stacks)}
        stated = [memory_stack(case) for case in cases]
        here = [(i, index[name]) for i, name in enumerate(stated) if name in index]
        rows, columns = zip(*here, strict=True) if here else ((), ())
        self._design = csr_array((np.ones(len(here)), (rows, columns)), shape=(len(cases), len(index)))

    def log_bytes(self, factors: Floats) -> Floats:
        """Logarithm of the bytes from the factors alone."""
        by = MemoryFactors(**dict(zip(MEMORY_FACTORS, np.exp(factors).tolist(), strict=True)))
        return np.asarray(np.log(memory_use(*self.inputs, self._runtime, by).total))

    def __call__(self, values: Floats) -> tuple[Floats, csr_array]:
        """Logarithms of bytes and their derivatives."""
        n = len(MEMORY_FACTORS)
        base = self.log_bytes(values[:n])
        moved = [self.log_bytes(values[:n] + _STEP * np.eye(n)[i]) for i in range(n)]
        slopes = (np.array(moved).T - base[:, None]) / _STEP
        return base + self._design @ values[n:], csr_array(hstack([csr_array(slopes), self._design]))


@dataclass(frozen=True)
class PeakMemoryFit:
    """The fitted factors and effects, and what is needed to fit again without some runs."""

    model: MemoryModel
    measured: Floats  # logarithms of bytes
    values: Floats
    covariance: Floats

    @property
    def residuals(self) -> Floats:
        """ln(measured / predicted) of the peaks."""
        return np.asarray(self.measured - self.model(self.values)[0])

    def bytes_of(self, cases: Sequence[LanguageCase]) -> Estimate:
        """Bytes of one GPU of each case, shape (cases,)."""
        if not cases:
            return Estimate.exact(np.zeros(0))
        model = MemoryModel(cases, self.model.stacks)
        log_bytes, slopes = model(self.values)
        known = np.asarray((slopes @ self.covariance * slopes.toarray()).sum(axis=1))
        strange = np.array([_STACK_SD * (memory_stack(case) not in self.model.stacks) for case in cases])
        return Estimate.log_normal(np.exp(log_bytes), np.sqrt(known + strange**2 + spread(cases) ** 2))

    def without(self, out: Bools) -> tuple[Floats, Floats]:
        """Errors ln(predicted / measured) of the runs ``out`` and the variances of their predictions, unseen."""
        mean, sd = _priors(self.model.stacks)
        sigma = np.full(len(self.measured), _SCATTER)
        values = fit_left_out(self.model, self.measured, sigma, mean, sd, self.values, out, n_steps=8)
        variance = row_variance(self.model, self.measured, sigma, sd, values, out)
        return (self.model(values)[0] - self.measured)[out], variance


def spread(cases: Sequence[LanguageCase]) -> Floats:
    """Standard deviation of the logarithm of a peak about its prediction, shape (cases,)."""

    def of(case: LanguageCase) -> float:
        parts = [part for part in case.guessed if not (part == "layout" and case.levels.lora)]
        usual = _GUESSED_SPREAD if case.guessed else _SPREAD
        return max((_WITHOUT.get(part, _GUESSED_SPREAD) for part in parts), default=usual)

    return np.array([of(case) for case in cases])


def _priors(stacks: Sequence[str]) -> tuple[Floats, Floats]:
    usual = MemoryFactors()
    mean = [float(np.log(getattr(usual, name))) for name in MEMORY_FACTORS]
    sd = [PRIOR_SD[name] for name in MEMORY_FACTORS]
    return np.array(mean + [0.0] * len(stacks)), np.array(sd + [_STACK_SD] * len(stacks))


def memory_problem(cases: Sequence[LanguageCase]) -> tuple[MemoryModel, Floats]:
    """The model of the peaks that cases state, and the logarithms that it is fitted to."""
    stated = [case for case in cases if case.row.mem_gib]
    model = MemoryModel(stated, sorted({memory_stack(case) for case in stated}))
    return model, np.log([(case.row.mem_gib or 0.0) * GIB for case in stated])


def fit_memory(cases: Sequence[LanguageCase]) -> PeakMemoryFit:
    """Fit to the peaks that cases state.

    Raises
    ------
    CalibrationError
        If the fit does not converge.
    """
    model, measured = memory_problem(cases)
    mean, sd = _priors(model.stacks)
    found = fit_with_priors(model, measured, _SCATTER, mean, sd, mean)
    return PeakMemoryFit(model, measured, found.values, found.covariance)
