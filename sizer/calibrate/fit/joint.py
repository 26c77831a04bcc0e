"""The joint fit: every kind of observation in one vector of parameters, with one covariance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import CalibrationError
from sizer.calibrate.fit.solver import Model, PriorFit, fit_left_out, fit_with_priors, laplace_covariance, row_variance
from sizer.calibrate.parameters import Layout

# Scatter of a row with which the fit starts; later passes use the scatter that the one before finds.
_FIRST_SIGMA = 0.06
_SCATTER_PASSES = 3
# Rates are printed to three digits, but runs of one set-up differ by some per cent; a smaller scatter would only say
# that a block has about as many parameters as rows.
MIN_SCATTER_LOG_SD = 0.022
# Fits in which the medians of draws, not the rates at the fitted parameters, come to meet the measurements.
_CENTRING_PASSES = 2
_CENTRING_PAIRS = 256
# Ratio of the standard deviation of a normal distribution to its median absolute deviation.
MAD_TO_SD = 1.4826


@dataclass(frozen=True)
class FitBlock:
    """Rows of one kind, the parameters that predict them, and how."""

    kind: str  # name under which the scatter is kept
    ids: tuple[str, ...]
    sources: tuple[str, ...]
    names: tuple[str, ...]
    measured: Floats  # logarithms
    predict: Model  # parameters in the order of ``names`` -> logarithms and their derivatives
    sigma: Floats | None = None  # scatter of each row; None: estimated from the residuals of the kind
    is_drawn: bool = False  # answers take the median of draws, not the value at the parameters


class DesignMatrix:
    """Which parameters each row's terms add up, as a sparse matrix, and the chain rule through it."""

    def __init__(self, effects: Sequence[Sequence[tuple[int, str, float]]], n_terms: int) -> None:
        self.layout = Layout.of(name for row in effects for _, name, _ in row)
        entries = [
            (row, term, self.layout.index[name], coefficient)
            for row, one in enumerate(effects)
            for term, name, coefficient in one
        ]
        rows, terms, columns, weights = zip(*entries, strict=True)
        self._row, self._term, self._column = np.array(rows), np.array(terms), np.array(columns)
        self._weight = np.array(weights)
        self._shape = (len(effects), n_terms)
        self._matrix = csr_array(
            (self._weight, (self._row * n_terms + self._term, self._column)),
            shape=(len(effects) * n_terms, len(self.layout.names)),
        )

    def terms(self, parameters: Floats) -> Floats:
        """Terms of every row, shape (rows, terms); 0 where a row has no such effect."""
        return np.asarray(self._matrix @ parameters).reshape(self._shape)

    def jacobian(self, slopes: Floats) -> csr_array:
        """Derivatives by the parameters from derivatives by the terms, shape (rows, terms)."""
        data = slopes[self._row, self._term] * self._weight
        return csr_array((data, (self._row, self._column)), shape=(self._shape[0], len(self.layout.names)))


class JointModel:
    """All blocks as one model of one parameter vector."""

    def __init__(self, blocks: Sequence[FitBlock]) -> None:
        self.blocks = tuple(block for block in blocks if len(block.ids))
        self.layout = Layout.of(name for block in self.blocks for name in block.names)
        self._columns = [np.array([self.layout.index[name] for name in block.names]) for block in self.blocks]
        self.measured = np.concatenate([block.measured for block in self.blocks])
        self.ids = tuple(name for block in self.blocks for name in block.ids)
        self.sources = np.array([source for block in self.blocks for source in block.sources])
        self.kinds = np.array([block.kind for block in self.blocks for _ in block.ids])
        self.is_drawn = np.array([block.is_drawn for block in self.blocks for _ in block.ids])
        self.given_sigma = np.concatenate(
            [np.full(len(block.ids), np.nan) if block.sigma is None else block.sigma for block in self.blocks]
        )

    def __call__(self, parameters: Floats) -> tuple[Floats, csr_array]:
        values, derivatives = [], []
        for block, columns in zip(self.blocks, self._columns, strict=True):
            value, derivative = block.predict(parameters[columns])
            entries = derivative.tocoo()
            values.append(value)
            derivatives.append(
                csr_array(
                    (entries.data, (entries.row, columns[entries.col])), shape=(len(value), len(self.layout.names))
                )
            )
        return np.concatenate(values), csr_array(vstack(derivatives))

    def drawn_rows(self, parameters: Floats) -> Floats:
        """Predictions of the rows of which answers take the median of draws."""
        pairs = zip(self.blocks, self._columns, strict=True)
        return np.concatenate([block.predict(parameters[columns])[0] for block, columns in pairs if block.is_drawn])


@dataclass(frozen=True)
class JointFit:
    """Result of the joint fit."""

    model: JointModel
    fit: PriorFit
    target: Floats  # what each row asks of the rate at the parameters, so that the median of draws is as measured
    sigma: Floats  # scatter of each row
    scatter_log_sd: dict[str, float]  # within a source, by kind

    def without(self, out: Bools) -> Floats:
        """Parameters that the rows outside ``out`` alone give."""
        m = self.model
        return fit_left_out(m, self.target, self.sigma, m.layout.mean, m.layout.sd, self.fit.values, out)

    def covariance_without(self, values: Floats, out: Bools) -> Floats:
        """Laplace covariance of those parameters."""
        predicted, derivative = self.model(values)
        scaled = ((predicted - self.target) / self.sigma)[~out]
        return laplace_covariance(derivative[~out], scaled, self.sigma[~out], self.model.layout.sd)

    def errors(self, values: Floats, rows: Bools) -> Floats:
        """Logarithm of some rows: measured less the median of draws around some parameters."""
        return np.asarray((self.target - self.model(values)[0])[rows])

    def errors_without(self, out: Bools) -> tuple[Floats, Floats]:
        """Error of the logarithm of the rows ``out``, predicted without them, and its variance by the parameters."""
        m, values = self.model, self.without(out)
        return self.errors(values, out), row_variance(m, self.target, self.sigma, m.layout.sd, values, out)


def fit_joint(blocks: Sequence[FitBlock]) -> JointFit:
    """Fit all blocks at once.

    Raises
    ------
    CalibrationError
        If there are no rows or the fit does not converge.

    Notes
    -----
    A rate is no linear function of its parameters, so the median of draws around the most probable ones differs from
    the rate at them: 2 % below where hundreds of GPUs wait for one another. What the data say is the rate, so the
    normal distribution of the parameters is moved until the medians meet the measurements (the mean of a variational
    posterior), and every answer, which is a median of draws, is free of that bias.
    """
    if not any(len(block.ids) for block in blocks):
        raise CalibrationError("no usable observation: nothing to calibrate on")
    model = JointModel(blocks)
    layout = model.layout
    sigma = np.where(np.isnan(model.given_sigma), _FIRST_SIGMA, model.given_sigma)
    start = layout.mean
    for _ in range(_SCATTER_PASSES):
        best = fit_with_priors(model, model.measured, sigma, layout.mean, layout.sd, start)
        scatter = _within_scatter(best, layout, model.kinds)
        found = np.array([scatter[kind] for kind in model.kinds])
        sigma, start = np.where(np.isnan(model.given_sigma), found, model.given_sigma), best.values
    target = model.measured
    for _ in range(_CENTRING_PASSES if model.is_drawn.any() else 0):
        target = model.measured - _median_shift(model, best)
        best = fit_with_priors(model, target, sigma, layout.mean, layout.sd, best.values)
    return JointFit(model, best, target, sigma, scatter)


def _median_shift(model: JointModel, fit: PriorFit) -> Floats:
    """(rows) median of draws of the parameters less the value at them, where answers take that median."""
    normal = np.random.default_rng(0).standard_normal((_CENTRING_PAIRS, len(fit.values)))
    steps = normal @ np.linalg.cholesky(fit.covariance).T
    drawn = [model.drawn_rows(fit.values + sign * step) for step in steps for sign in (1, -1)]
    shift = np.zeros(len(model.measured))
    shift[model.is_drawn] = np.median(drawn, axis=0) - model.drawn_rows(fit.values)
    return shift


def _within_scatter(fit: PriorFit, layout: Layout, kinds: NDArray[np.str_]) -> dict[str, float]:
    """Robust standard deviation of the residuals by kind, with the freedom that the parameters took given back."""
    # Share of each parameter that the data determined rather than its prior, summed.
    taken = float((1 - np.diag(fit.covariance) / layout.sd**2).sum())
    n = len(fit.residuals)
    freedom = np.sqrt(n / max(n - taken, 0.1 * n))
    found = {}
    for kind in np.unique(kinds):
        spread = float(MAD_TO_SD * np.median(np.abs(fit.residuals[kinds == kind])) * freedom)
        found[str(kind)] = max(MIN_SCATTER_LOG_SD, spread)
    return found
