"""The joint fit of training and inference rates: every observation is predicted by the code that sizes clusters."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizer.base.errors import CalibrationError
from sizer.calibrate.cases import Case, CaseArrays, resolve
from sizer.calibrate.fit import PriorFit, fit_with_priors, refit
from sizer.calibrate.observations import Observation
from sizer.calibrate.parameters import Layout
from sizer.catalog.model import Catalog
from sizer.perf.step import TERM_NAMES, StepTerms

Floats = NDArray[np.float64]

RATE_TASKS = ("training", "inference")
# Scatter of a row with which the fit starts; the second pass uses the scatter that the first one finds.
_FIRST_SIGMA = 0.06
# Ratio of the standard deviation of a normal distribution to its median absolute deviation.
_MAD_TO_SD = 1.4826


@dataclass(frozen=True)
class RateFit:
    """Result of the joint fit."""

    layout: Layout
    cases: tuple[Case, ...]
    left_out: dict[str, str]  # id of the observation -> reason
    fit: PriorFit
    scatter_log_sd: float  # within a source
    tau2: float  # variance between sources
    left_out_errors: Floats  # ln(published / predicted) of each case, its source left out


def is_rate(row: Observation) -> bool:
    """Whether a row is one that the joint fit could use."""
    return row.quantity == "samples_per_s" and row.task in RATE_TASKS


def usable_cases(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[tuple[Case, ...], dict[str, str]]:
    """Cases that the fit uses, training first, and the reason for every rate that it leaves out."""
    cases, left_out = [], {}
    for row in rows:
        if is_rate(row):
            case, reason = resolve(row, catalog, for_fit=True)
            if case is None:
                left_out[row.id] = reason
            else:
                cases.append(case)
    cases.sort(key=lambda case: (RATE_TASKS.index(case.levels.task), case.row.id))
    return tuple(cases), left_out


class _Model:
    """Logarithm of the rate of every case, with its derivatives by the parameters."""

    def __init__(self, layout: Layout, cases: tuple[Case, ...]) -> None:
        self._blocks = []
        for task in RATE_TASKS:
            of_task = [case for case in cases if case.levels.task == task]
            if of_task:
                design = layout.design([case.levels for case in of_task])
                self._blocks.append((design, CaseArrays.of(of_task)))

    def __call__(self, parameters: Floats) -> tuple[Floats, Floats]:
        values, derivatives = [], []
        for design, arrays in self._blocks:
            terms = design @ parameters
            k = len(TERM_NAMES)
            rate = arrays.rate(StepTerms(terms, np.zeros((len(terms), k, k)), np.zeros(len(terms))))
            jacobian = np.zeros((len(terms), design.shape[2]))
            for term, slope in rate.total_gradient.items():
                jacobian += slope[:, None] * design[:, term, :]
            values.append(np.log(rate.total.value))
            derivatives.append(jacobian)
        return np.concatenate(values), np.concatenate(derivatives)


def fit_rates(rows: tuple[Observation, ...], catalog: Catalog) -> RateFit:
    """Fit all usable rates at once.

    Raises
    ------
    CalibrationError
        If too few rows are usable or the fit does not converge.
    """
    cases, left_out = usable_cases(rows, catalog)
    if len(cases) < 2 * len(TERM_NAMES):
        raise CalibrationError(f"{len(cases)} usable rates do not make a calibration; {len(left_out)} are left out")
    layout = Layout.of(case.levels for case in cases)
    y = np.log([case.row.value for case in cases])
    model = _Model(layout, cases)
    first = fit_with_priors(model, y, _FIRST_SIGMA, layout.mean, layout.sd, layout.mean)
    sigma = _within_scatter(first, layout)
    best = fit_with_priors(model, y, sigma, layout.mean, layout.sd, first.values)
    scatter = _within_scatter(best, layout)
    errors, variances = _leave_sources_out(model, y, sigma, layout, best, cases)
    tau2 = _between_variance(errors, variances, scatter)
    return RateFit(layout, cases, left_out, best, scatter, tau2, errors)


def _within_scatter(fit: PriorFit, layout: Layout) -> float:
    """Robust standard deviation of the residuals, with the freedom that the parameters took given back."""
    # Share of each parameter that the data determined rather than its prior, summed.
    taken = float((1 - np.diag(fit.covariance) / layout.sd**2).sum())
    n = len(fit.residuals)
    return float(_MAD_TO_SD * np.median(np.abs(fit.residuals)) * np.sqrt(n / max(n - taken, 0.1 * n)))


def _leave_sources_out(
    model: _Model, y: Floats, sigma: float, layout: Layout, best: PriorFit, cases: tuple[Case, ...]
) -> tuple[Floats, Floats]:
    """Error and parameter variance of every row, predicted by a fit that has not seen its source."""
    sources = np.array([case.row.source for case in cases])
    errors, variances = np.zeros(len(y)), np.zeros(len(y))
    for source in np.unique(sources):
        out = sources == source
        values, covariance = refit(model, y, sigma, layout.mean, layout.sd, best.values, ~out)
        predicted, derivative = model(values)
        errors[out] = (y - predicted)[out]
        variances[out] = np.einsum("ni,ij,nj->n", derivative[out], covariance, derivative[out])
    return errors, variances


def _between_variance(errors: Floats, variances: Floats, scatter: float) -> float:
    """max(0, variance of left-out errors - mean parameter variance - scatter), medians against outliers."""
    spread = (_MAD_TO_SD * np.median(np.abs(errors))) ** 2
    return float(max(0.0, spread - np.median(variances) - scatter**2))
