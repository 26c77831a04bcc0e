"""The joint fit of training and inference rates: every observation is predicted by the code that sizes clusters."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from sizer.base.errors import CalibrationError
from sizer.base.estimate import Z90
from sizer.calibrate.cases import Case, CaseArrays, resolve
from sizer.calibrate.fit import PriorFit, fit_with_priors, predict_left_out
from sizer.calibrate.observations import Observation
from sizer.calibrate.parameters import Layout, active_terms
from sizer.calibrate.rules import stated_of, stated_rows
from sizer.catalog.model import Catalog
from sizer.perf.step import TERM_NAMES, StepTerms

Floats = NDArray[np.float64]

RATE_TASKS = ("training", "inference")
# Scatter of a row with which the fit starts; the second pass uses the scatter that the first one finds.
_FIRST_SIGMA = 0.06
_SCATTER_PASSES = 3
# Two laboratories that run one release on one server do not agree. Nearly every stack of the observations comes from
# one source, so the estimate below cannot see it: the spread of stacks has taken it up. The only releases that several
# laboratories printed at full batch differ by 3 % (MXNet 20.03 against 20.12, PyTorch 19.05 against 20.03) to 6 %
# (TensorFlow 20.03 with XLA, 1,199, against 19.07, 1,249 to 1,336): their middle is the least that is assumed.
MIN_BETWEEN_LOG_SD = 0.05
# Ratio of the standard deviation of a normal distribution to its median absolute deviation.
_MAD_TO_SD = 1.4826


class Design:
    """Which parameters each row's terms add up, as a sparse matrix, and the chain rule through it."""

    def __init__(self, layout: Layout, used: list[tuple[tuple[int, str], ...]]) -> None:
        self._shape = (len(used), len(TERM_NAMES))
        entries = [(row, term, layout.index[name]) for row, one in enumerate(used) for term, name in one]
        self._row, self._term, self._column = np.array(entries).T
        ones = np.ones(len(entries))
        flat = self._row * len(TERM_NAMES) + self._term
        self._matrix = csr_array((ones, (flat, self._column)), shape=(len(used) * len(TERM_NAMES), len(layout.names)))
        self._n_parameters = len(layout.names)

    def terms(self, parameters: Floats) -> Floats:
        """Terms of every row, shape (rows, terms); 0 where a row has no such effect."""
        return np.asarray(self._matrix @ parameters).reshape(self._shape)

    def jacobian(self, slopes: Floats) -> csr_array:
        """Derivatives by the parameters from derivatives by the terms, shape (rows, terms)."""
        data = slopes[self._row, self._term]
        return csr_array((data, (self._row, self._column)), shape=(self._shape[0], self._n_parameters))


@dataclass(frozen=True)
class RateFit:
    """Result of the joint fit."""

    layout: Layout
    cases: tuple[Case, ...]
    left_out: dict[str, str]  # id of the observation -> reason
    fit: PriorFit
    scatter_log_sd: dict[str, float]  # within a source, by task
    tau2: float  # variance between sources
    left_out_errors: Floats  # ln(published / predicted) of each case, its source left out
    left_out_variances: Floats  # of those predictions, from the parameters

    def unseen_sources(self) -> dict[str, dict[str, float]]:
        """How far rates lie from fits that had not seen their source, by task."""
        found = {}
        for task in RATE_TASKS:
            mine = np.array([case.levels.task == task for case in self.cases])
            errors = np.abs(self.left_out_errors[mine])
            sd = np.sqrt(self.left_out_variances[mine] + self.scatter_log_sd[task] ** 2 + self.tau2)
            found[task] = {
                "rows": int(mine.sum()),
                "median_error": float(np.median(errors)),
                "p90_error": float(np.quantile(errors, 0.9)),
                "coverage": float((errors <= Z90 * sd).mean()),
            }
        return found


def is_rate(row: Observation) -> bool:
    """Whether a row is one that the joint fit could use."""
    return row.quantity == "samples_per_s" and row.task in RATE_TASKS


def usable_cases(rows: tuple[Observation, ...], catalog: Catalog) -> tuple[tuple[Case, ...], dict[str, str]]:
    """Cases that the fit uses, training first, and the reason for every rate that it leaves out."""
    cases, left_out = [], {}
    for row in (*rows, *stated_rows(rows)):
        if is_rate(row):
            case, reason = resolve(row, catalog, for_fit=True)
            if case is None:
                left_out[row.id] = reason
            else:
                cases.append(case)
    cases.sort(key=lambda case: (RATE_TASKS.index(case.levels.task), case.row.id))
    return tuple(cases), left_out


class RateModel:
    """Logarithm of the rate of every case, with its derivatives by the parameters.

    A rate that a source states only as a share of another one is fitted as that share: it tells how a run scales, and
    must not pull at the rate that is printed.
    """

    def __init__(self, cases: tuple[Case, ...]) -> None:
        used = {case.row.id: active_terms(case.levels, case.row.gpus or 1) for case in cases}
        self.layout = Layout.of(used.values())
        self._blocks = []
        for task in RATE_TASKS:
            of_task = [case for case in cases if case.levels.task == task]
            if of_task:
                design = Design(self.layout, [used[case.row.id] for case in of_task])
                self._blocks.append((design, CaseArrays.of(of_task)))
        place = {case.row.id: i for i, case in enumerate(cases)}
        shares = [(i, place[stated_of(case.row)]) for i, case in enumerate(cases) if stated_of(case.row) in place]
        one = [(i, i, 1.0) for i in range(len(cases))] + [(i, j, -1.0) for i, j in shares]
        row, column, weight = zip(*one, strict=True)
        self._relative = csr_array((weight, (row, column)), shape=(len(cases), len(cases)))

    def measured(self, cases: tuple[Case, ...]) -> Floats:
        """Logarithm of every published rate, or of its share."""
        return np.asarray(self._relative @ np.log([case.row.value for case in cases]))

    def __call__(self, parameters: Floats) -> tuple[Floats, csr_array]:
        values, derivatives = [], []
        for design, arrays in self._blocks:
            terms = design.terms(parameters)
            n, k = terms.shape
            rate = arrays.rate(StepTerms(terms, np.zeros((n, k, k)), np.zeros(n)))
            slopes = np.zeros((n, k))
            for term, slope in rate.total_gradient.items():
                slopes[:, term] = slope
            values.append(np.log(rate.total.value))
            derivatives.append(design.jacobian(slopes))
        return self._relative @ np.concatenate(values), csr_array(self._relative @ csr_array(vstack(derivatives)))


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
    model = RateModel(cases)
    layout = model.layout
    y = model.measured(cases)
    tasks = np.array([case.levels.task for case in cases])
    sigma = np.full(len(y), _FIRST_SIGMA)
    start = layout.mean
    for _ in range(_SCATTER_PASSES):
        best = fit_with_priors(model, y, sigma, layout.mean, layout.sd, start)
        scatter = _within_scatter(best, layout, tasks)
        sigma, start = np.array([scatter[task] for task in tasks]), best.values
    errors, variances = _leave_sources_out(model, y, sigma, best, cases)
    return RateFit(
        layout, cases, left_out, best, scatter, _between_variance(errors, variances, sigma), errors, variances
    )


def _within_scatter(fit: PriorFit, layout: Layout, tasks: NDArray[np.str_]) -> dict[str, float]:
    """Robust standard deviation of the residuals by task, with the freedom that the parameters took given back."""
    # Share of each parameter that the data determined rather than its prior, summed.
    taken = float((1 - np.diag(fit.covariance) / layout.sd**2).sum())
    n = len(fit.residuals)
    freedom = np.sqrt(n / max(n - taken, 0.1 * n))
    return {
        str(task): float(_MAD_TO_SD * np.median(np.abs(fit.residuals[tasks == task])) * freedom)
        for task in np.unique(tasks)
    }


def _leave_sources_out(
    model: RateModel, y: Floats, sigma: Floats, best: PriorFit, cases: tuple[Case, ...]
) -> tuple[Floats, Floats]:
    """Error and parameter variance of every row, predicted by a fit that has not seen its source."""
    sources = np.array([case.row.source for case in cases])
    errors, variances = np.zeros(len(y)), np.zeros(len(y))
    for source in np.unique(sources):
        out = sources == source
        predicted, variances[out] = predict_left_out(
            model, y, sigma, model.layout.mean, model.layout.sd, best.values, out
        )
        errors[out] = y[out] - predicted
    return errors, variances


def _between_variance(errors: Floats, variances: Floats, sigma: Floats) -> float:
    """max(0, variance of left-out errors - mean parameter variance - scatter), medians against outliers."""
    spread = (_MAD_TO_SD * np.median(np.abs(errors))) ** 2
    return float(max(MIN_BETWEEN_LOG_SD**2, spread - np.median(variances) - np.median(sigma**2)))
