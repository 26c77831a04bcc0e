"""The joint fit of step times: factors of the terms, and effects of what runs share, under priors."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from sizer.base.arrays import Bools, Floats
from sizer.calibrate.fit.solver import fit_left_out, fit_with_priors, row_variance
from sizer.calibrate.language.cases import LanguageCase, arrays
from sizer.perf.language.shape import Shapes
from sizer.perf.language.step import COEFFICIENTS, Efficiencies, Layouts, Machines, step_time

StepInputs = tuple[Shapes, Layouts, Machines]

# Spread of a factor's logarithm before any data: half widths of what the published models of others assume.
PRIOR_SD = {
    "linear": 0.10,
    "experts": 0.4,
    "half_width": 0.7,
    "half_tokens": 0.7,
    "half_expert_tokens": 0.7,
    "attention": 0.3,
    "early": 0.2,
    "ported": 0.25,
    "elementwise_bytes": 0.6,
    "tensor": 0.6,
    "tensor_far": 0.5,
    "expert_traffic": 0.6,
    "expert_far": 0.5,
    "context": 0.6,
    "data": 0.8,
    "full_shard": 0.5,
    "optimizer_bytes": 0.5,
    "routing_bytes": 0.7,
    "launch_s": 0.7,
    "routing_s": 0.8,
    "fixed_s": 0.8,
    "bubble": 0.2,
    "straggler": 0.7,
    "head": 0.5,
    "far_rate": 0.3,
    "recompute": 0.1,
    "lora": 0.1,
    "tuned": 0.4,
}
# Levels of a run and the spread of their effects on the logarithm of the step time.
EFFECT_SD = {
    "gpu_precision": 0.12,
    "stack_group": 0.10,
    "stack": 0.20,  # nine fitted stacks differ by 19 %
    "release": 0.05,
    "family": 0.08,
    "model_gpu": 0.04,
    "mixture": 0.12,
    "mixture_stack": 0.15,
    "lora": 0.15,
}
# Scatter of one run about the model, within which the loss is quadratic.
SCATTER = 0.04
_STEP = 1e-4


@dataclass(frozen=True)
class EffectLayout:
    """Where each factor and effect stands in the vector of parameters."""

    names: tuple[str, ...]
    index: dict[str, int] = field(hash=False)

    @staticmethod
    def of(cases: Sequence[LanguageCase]) -> "EffectLayout":
        """Factors first, then one effect for each level that occurs."""
        seen = dict.fromkeys(effect for case in cases for effect in effects_of(case))
        names = (*COEFFICIENTS, *seen)
        return EffectLayout(names, {name: i for i, name in enumerate(names)})

    @property
    def prior_sd(self) -> Floats:
        """Standard deviations of the priors, in the order of the names."""
        return np.array([PRIOR_SD[n] if n in PRIOR_SD else EFFECT_SD[n.split(":", 1)[0]] for n in self.names])

    def design(self, cases: Sequence[LanguageCase]) -> csr_array:
        """Which effects act on which case; effects that the layout does not know are left out."""
        rows, columns = [], []
        for i, case in enumerate(cases):
            for name in effects_of(case):
                if name in self.index:
                    rows.append(i)
                    columns.append(self.index[name] - len(COEFFICIENTS))
        shape = (len(cases), len(self.names) - len(COEFFICIENTS))
        return csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def effects_of(case: LanguageCase) -> list[str]:
    """Names of the effects of a case: ``kind:level``."""
    levels = case.levels
    return [f"{kind}:{level}" for kind in EFFECT_SD if (level := getattr(levels, kind))]


def log_step_s(machine: StepInputs, factors: Floats) -> Floats:
    """Logarithm of step times from the factors alone, shape (..., layouts).

    ``factors`` are logarithms, shape (..., factors).
    """
    each: dict[str, Any] = dict(zip(COEFFICIENTS, np.moveaxis(np.exp(factors), -1, 0)[..., None], strict=True))
    return np.asarray(np.log(step_time(*machine, Efficiencies(**each)).total))


def factor_slopes(machine: StepInputs, factors: Floats) -> tuple[Floats, Floats]:
    """Logarithms of step times, shape (layouts,), and their derivatives by differences, shape (layouts, factors)."""
    # All differences in one pass: of few layouts each would cost its hundred array operations.
    base, *moved = log_step_s(machine, factors + _STEP * np.eye(len(factors) + 1, len(factors), -1))
    return base, (np.array(moved) - base).T / _STEP


class StepModel:
    """Parameters to the logarithms of step times, with derivatives."""

    def __init__(self, cases: Sequence[LanguageCase], layout: EffectLayout) -> None:
        self.cases = tuple(cases)
        self.layout = layout
        self.inputs = arrays(cases)
        self._design = layout.design(cases)

    def __call__(self, values: Floats) -> tuple[Floats, csr_array]:
        """Logarithms of step times and their derivatives by factors (differences) and effects (exact)."""
        n = len(COEFFICIENTS)
        base, slopes = factor_slopes(self.inputs, values[:n])
        derivative = hstack([csr_array(slopes), self._design], format="csr")
        return base + self._design @ values[n:], csr_array(derivative)


def prior_mean(layout: EffectLayout) -> Floats:
    """Logarithms of the factors' defaults, and zero for every effect."""
    means = np.zeros(len(layout.names))
    means[: len(COEFFICIENTS)] = [np.log(getattr(Efficiencies(), name)) for name in COEFFICIENTS]
    return means


@dataclass(frozen=True)
class LanguageFit:
    """The fitted parameters, and what is needed to fit again without some rows."""

    model: StepModel
    measured: Floats  # logarithms of step times
    values: Floats
    covariance: Floats

    @property
    def residuals(self) -> Floats:
        """ln(measured / predicted) of the step times."""
        return np.asarray(self.measured - self.model(self.values)[0])

    def without(self, out: Bools) -> tuple[Floats, Floats]:
        """Errors ln(predicted / measured) of the rows ``out`` and the variances of their predictions, unseen."""
        layout = self.model.layout
        mean, sd, sigma = prior_mean(layout), layout.prior_sd, np.full(len(self.measured), SCATTER)
        values = fit_left_out(self.model, self.measured, sigma, mean, sd, self.values, out)
        variance = row_variance(self.model, self.measured, sigma, sd, values, out)
        return (self.model(values)[0] - self.measured)[out], variance


def step_problem(cases: Sequence[LanguageCase]) -> tuple[StepModel, Floats]:
    """The model of published step times, and the logarithms that it is fitted to."""
    measured = np.array([case.log_step_s for case in cases], dtype=float)
    return StepModel(cases, EffectLayout.of(cases)), measured


def fit_steps(cases: Sequence[LanguageCase]) -> LanguageFit:
    """Fit every factor and effect to published step times at once.

    Raises
    ------
    CalibrationError
        If the fit does not converge.
    """
    model, measured = step_problem(cases)
    mean = prior_mean(model.layout)
    found = fit_with_priors(model, measured, SCATTER, mean, model.layout.prior_sd, mean)
    return LanguageFit(model, measured, found.values, found.covariance)
