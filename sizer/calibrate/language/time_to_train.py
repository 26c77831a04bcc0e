"""Sequences that a benchmark takes to its target quality, by global batch; start-up and evaluations are in them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.calibrate.fit.solver import fit_with_priors
from sizer.calibrate.language.cases import LanguageCase

MINUTE = 60.0
# Logarithms: sequences of a benchmark before any run is known, and their growth with the batch. Beyond the batch at
# which gradients still help, twice the batch takes up to twice the sequences; below it, no more.
_MEAN, _MEAN_SD, _GROWTH, _GROWTH_SD, _SCATTER = 10.0, 10.0, 0.15, 0.15, 0.06


@dataclass(frozen=True)
class Benchmark:
    """Sequences to the target: exp(intercept + growth ln(batch))."""

    values: Floats  # intercept, growth
    covariance: Floats

    def sequences(self, batch: float) -> Estimate:
        """Sequences at a global batch."""
        at = np.array([1.0, np.log(batch)])
        return Estimate.log_normal(np.exp(at @ self.values), np.sqrt(at @ self.covariance @ at + _SCATTER**2))


def benchmark_of(case: LanguageCase) -> str:
    """Runs of one benchmark share model and task."""
    return f"{case.row.model}/{case.row.kind}"


def fit_benchmarks(cases: Sequence[LanguageCase]) -> dict[str, Benchmark]:
    """Fit each benchmark that runs of these cases took to its target."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for case in cases:
        row = case.row
        step = case.log_step_s
        if row.ttt_min and row.global_batch and step is not None:
            sequences = row.ttt_min * MINUTE / np.exp(step) * row.global_batch
            groups.setdefault(benchmark_of(case), []).append((row.global_batch, float(sequences)))
    return {name: _fit(np.array(points)) for name, points in groups.items()}


def _fit(points: Floats) -> Benchmark:
    x, y = np.log(points).T
    columns = csr_array(np.column_stack([np.ones_like(x), x]))
    mean, sd = np.array([_MEAN, _GROWTH]), np.array([_MEAN_SD, _GROWTH_SD])
    try:
        found = fit_with_priors(lambda v: (columns @ v, columns), y, _SCATTER, mean, sd, mean)
    except CalibrationError:  # runs of one batch that no line describes: the median
        found = fit_with_priors(lambda v: (columns @ v, columns), y, 1.0, mean, sd, mean)
    return Benchmark(found.values, found.covariance)
