"""Joint fits of the rates and of the times to train, with priors, robust loss and Laplace covariance."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import SuperLU, splu

from sizer.base.arrays import Bools, Floats
from sizer.calibrate.fit.solver import fit_with_priors, robust_weight
from sizer.calibrate.modern.accelerators import accelerator_of
from sizer.calibrate.modern.rows import ModernRow
from sizer.calibrate.modern.terms import PRIORS, Terms, matrices, rate_terms, time_terms, unknown_variance

# Scatter of rows in log space within which the loss is quadratic.
ROW_SD = 0.03
# Effects that one row alone would have are left to the spread: the row could not tell them from its scatter.
_GROUPS = {
    *("submitter-network", "system", "system-network", "size", "size-batch", "batch"),
    *("time-submitter", "time-size", "time-system", "cpu", "framework"),
}
# Terms beside the largest start a factor e below it.
_BELOW = 1.0


@dataclass(frozen=True)
class Fit:
    """Most probable effects of one kind of row (rates, or times), their Hessian, and two spreads."""

    names: tuple[str, ...]
    values: Floats
    hessian: csc_array  # of half the objective
    effect_factor: float = 1.0  # on the variance of the effects, from systems left out
    row_sd: float = ROW_SD  # scatter of a row around its effects

    @cached_property
    def index(self) -> dict[str, int]:
        """Place of each effect."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def factors(self) -> SuperLU:
        """The Hessian factored; it is symmetric and positive definite."""
        return splu(self.hessian, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def covariance(self, names: Sequence[str]) -> Floats:
        """Covariance of some effects, shape (names, names); each column is solved for once."""
        new = [name for name in dict.fromkeys(names) if name not in self._columns]
        if new:
            units = np.zeros((len(self.names), len(new)))
            units[[self.index[name] for name in new], np.arange(len(new))] = 1.0
            self._columns.update(zip(new, self.factors.solve(units).T, strict=True))
        places = [self.index[name] for name in names]
        return np.array([self._columns[name][places] for name in names]).reshape(len(names), len(names)).T

    @cached_property
    def _columns(self) -> dict[str, Floats]:
        """Columns of the inverse of the Hessian; most systems share most of their effects."""
        return {}

    def predict(self, terms: Sequence[Terms]) -> tuple[Floats, Floats]:
        """Logs of seconds and their variance by the effects, shapes (rows,)."""
        index = self.index
        logs, derivative = matrices(terms, index.get, len(self.names)).evaluate(self.values)
        unknown = np.array([unknown_variance(one, index.get) for one in terms])
        return logs, variance_of(derivative, self.factors) + unknown

    def interval_sd(self, variance: Floats) -> Floats:
        """Standard deviation of what is published, in log space."""
        return np.sqrt(self.effect_factor * variance + self.row_sd**2)

    def with_spreads(self, factor: float, row_sd: float) -> "Fit":
        """The same effects with other spreads."""
        return replace(self, effect_factor=factor, row_sd=row_sd)


@dataclass(frozen=True)
class Problem:
    """Rows as a fit sees them; what is fitted is the log of seconds."""

    terms: tuple[Terms, ...]
    y: Floats
    names: tuple[str, ...]
    mean: Floats
    sd: Floats

    def model(self) -> Callable[[Floats], tuple[Floats, csr_array]]:
        """Effects to logs of seconds and derivatives."""
        return matrices(self.terms, {name: i for i, name in enumerate(self.names)}.get, len(self.names)).evaluate

    def fit(self) -> Fit:
        """Most probable effects."""
        found = fit_with_priors(self.model(), self.y, ROW_SD, self.mean, self.sd, self.mean.copy())
        return self._as_fit(found.values, np.zeros(len(self.y), dtype=bool))

    def without(self, fit: Fit, out: Bools) -> Fit:
        """Effects fitted to the rows that are not ``out``; the spreads are those of ``fit``."""
        whole = self.model()

        def model(values: Floats) -> tuple[Floats, csr_array]:
            predicted, derivative = whole(values)
            return predicted[~out], derivative[~out]

        found = fit_with_priors(model, self.y[~out], ROW_SD, self.mean, self.sd, fit.values)
        return self._as_fit(found.values, out).with_spreads(fit.effect_factor, fit.row_sd)

    def _as_fit(self, values: Floats, out: Bools) -> Fit:
        predicted, derivative = self.model()(values)
        weight = np.where(out, 0.0, robust_weight((predicted - self.y) / ROW_SD)) / ROW_SD**2
        hessian = csc_array(derivative.T @ (diags_array(weight) @ derivative) + diags_array(self.sd**-2))
        return Fit(self.names, values, hessian)


def variance_of(derivative: csr_array, factors: SuperLU) -> Floats:
    """Variance of predictions by the effects, from the factors of the Hessian."""
    dense = derivative.toarray()
    return np.asarray((dense * factors.solve(dense.T).T).sum(axis=1))


def rate_problem(rows: Sequence[ModernRow]) -> Problem:
    """The fit of the rates: seconds of a step."""
    steps = [math.log(row.global_batch / row.samples_per_s) for row in rows if row.global_batch and row.samples_per_s]
    return _problem([rate_terms(row) for row in rows], np.array(steps), _work_starts(rows))


def time_problem(rows: Sequence[ModernRow]) -> Problem:
    """The fit of the times to train at their published rates, with the samples to convergence of the same runs."""
    terms, y, starts = [], [], {}
    for row in rows:
        assert row.samples_per_s is not None
        assert row.time_to_train_s is not None
        found = time_terms(row, math.log(row.samples_per_s))
        terms.append(found)
        y.append(math.log(row.time_to_train_s))
        if row.samples_to_converge is not None:
            samples = time_terms(row, 0.0)
            terms.append(Terms(samples.components[:2]))
            y.append(math.log(row.samples_to_converge))
    for net in {row.benchmark for row in rows}:
        known = [row.samples_to_converge for row in rows if row.benchmark == net and row.samples_to_converge]
        if known:
            starts[f"samples {net}"] = math.log(float(np.median(known)))
            batches = [row.global_batch for row in rows if row.benchmark == net and row.global_batch]
            starts[f"steps {net}"] = math.log(float(np.median(known)) / float(np.max(batches))) - _BELOW
    return _problem(terms, np.array(y), starts)


def _work_starts(rows: Sequence[ModernRow]) -> dict[str, float]:
    """Where work and memory traffic of each network start: the level of its rows."""
    found: dict[str, float] = {}
    for net in {row.benchmark for row in rows}:
        work, traffic = [], []
        for row in rows:
            gpu = accelerator_of(row.accelerator)
            if row.benchmark == net and row.accelerators and row.samples_per_s:
                each = row.samples_per_s / row.accelerators
                work.append(math.log(gpu.peak_flop_per_s / each))
                traffic.append(math.log(gpu.memory_bytes_per_s / each))
        found[f"work {net}"] = float(np.median(work)) - 0.5
        found[f"traffic {net}"] = float(np.median(traffic)) - 0.5 - _BELOW
    return found


def _problem(terms: Sequence[Terms], y: Floats, starts: dict[str, float]) -> Problem:
    counts = Counter(
        name for one in terms for name, _ in [*one.whole, *(e for _, group in one.components for e in group)]
    )
    names = tuple(sorted(name for name, n in counts.items() if n > 1 or name.split(" ", 1)[0] not in _GROUPS))
    priors = [PRIORS[name.split(" ", 1)[0]] for name in names]
    mean = np.array([starts.get(name, prior[0]) for name, prior in zip(names, priors, strict=True)])
    return Problem(tuple(terms), y, names, mean, np.array([prior[1] for prior in priors]))
