"""Least squares with priors, robust loss and the Laplace covariance, on sparse derivatives."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from sizer.base.arrays import Bools, Floats
from sizer.base.errors import CalibrationError

# Parameters -> predicted rows and their derivatives by the parameters, shapes (n,) and (n, p), the latter sparse.
Model = Callable[[Floats], tuple[Floats, csr_array]]

_MAX_EVALUATIONS = 600
_MAX_DAMPING = 1e12
# Degrees of freedom of the loss: residuals beyond about twice the scatter count less and less.
_TAIL = 6.0
# The Hessian is symmetric and positive definite: pivots on the diagonal keep it sparse.
_SYMMETRIC = {"SymmetricMode": True, "DiagPivotThresh": 0.0}
# Relative fall of the objective at which the joint fit has settled.
_TOLERANCE = 1e-8


@dataclass(frozen=True)
class PriorFit:
    """Most probable parameters under priors, with the Laplace covariance."""

    values: Floats
    covariance: Floats
    residuals: Floats  # measured - predicted, of the data rows
    n_evaluations: int


def fit_with_priors(
    model: Model, y: Floats, sigma: Floats | float, prior_mean: Floats, prior_sd: Floats, start: Floats
) -> PriorFit:
    """Fit with a robust loss on the data and one quadratic row for each prior.

    Parameters
    ----------
    model : callable
        Parameters to predictions and their Jacobian.
    y : ndarray, shape (n,)
        What was measured.
    sigma : ndarray or float
        Scatter of a row, within which the loss is quadratic; beyond, a row loses its pull (:func:`robust_weight`).
    prior_mean, prior_sd : ndarray, shape (p,)
        Normal priors.
    start : ndarray, shape (p,)
        Where to start.

    Raises
    ------
    CalibrationError
        If the fit does not converge.

    Notes
    -----
    Levenberg-Marquardt on the reweighted normal equations. With a prior row for every parameter they are well
    conditioned, and each rate has a dozen of hundreds of effects, so that a sparse step takes milliseconds where
    :func:`scipy.optimize.least_squares` decomposes the dense matrix in half a second; a test compares the two.
    """
    values, n_evaluations = start.copy(), 0
    scale = np.broadcast_to(np.asarray(sigma, dtype=float), y.shape)
    objective, predicted, derivative = _objective(model, y, scale, prior_mean, prior_sd, values)
    damping = 1e-3
    while n_evaluations < _MAX_EVALUATIONS:
        hessian, slope = _normal_equations(derivative, (predicted - y) / scale, scale, values, prior_mean, prior_sd)
        damped = csc_array(hessian + damping * diags_array(hessian.diagonal()))
        trial = values - splu(damped, options=_SYMMETRIC).solve(slope)
        n_evaluations += 1
        found = _objective(model, y, scale, prior_mean, prior_sd, trial)
        if not found[0] <= objective:  # NaN is no gain either
            damping *= 10
            if damping > _MAX_DAMPING:
                break
            continue
        gain, values = objective - found[0], trial
        objective, predicted, derivative = found
        damping = max(damping / 10, 1e-9)
        if gain < _TOLERANCE * max(1.0, objective):
            covariance = laplace_covariance(derivative, (predicted - y) / scale, scale, prior_sd)
            return PriorFit(values, covariance, y - predicted, n_evaluations)
    raise CalibrationError(
        f"joint fit of {len(start)} parameters to {len(y)} rows: no convergence in {n_evaluations} evaluations"
    )


def _objective(
    model: Model, y: Floats, sigma: Floats, prior_mean: Floats, prior_sd: Floats, values: Floats
) -> tuple[float, Floats, csr_array]:
    """Robust loss plus priors, with the predictions and their derivatives."""
    predicted, derivative = model(values)
    data = _TAIL * np.log1p(((predicted - y) / sigma) ** 2 / _TAIL)
    return float(data.sum() + (((values - prior_mean) / prior_sd) ** 2).sum()), predicted, derivative


def _normal_equations(
    derivative: csr_array, scaled: Floats, sigma: Floats, values: Floats, prior_mean: Floats, prior_sd: Floats
) -> tuple[csr_array, Floats]:
    """Gauss-Newton Hessian and slope of half the objective."""
    weight = robust_weight(scaled) / sigma**2
    hessian = derivative.T @ (diags_array(weight) @ derivative) + diags_array(prior_sd**-2)
    slope = derivative.T @ (weight * scaled * sigma) + (values - prior_mean) / prior_sd**2
    return csr_array(hessian), np.asarray(slope)


def laplace_covariance(derivative: csr_array, scaled: Floats, sigma: Floats, prior_sd: Floats) -> Floats:
    """Inverse of the Gauss-Newton Hessian of data (weighted as the robust loss weighs them) and priors.

    The sparse factors give the same last digits however many threads the dense library runs on.
    """
    zero = np.zeros(len(prior_sd))
    hessian, _ = _normal_equations(derivative, scaled, sigma, zero, zero, prior_sd)
    inverse = splu(csc_array(hessian), options=_SYMMETRIC).solve(np.eye(len(prior_sd)))
    return np.asarray((inverse + inverse.T) / 2)


def robust_weight(scaled: Floats) -> Floats:
    """Weight of a row by its residual in units of sigma: 1 within, falling with the square beyond.

    The loss is that of a Student distribution: a row that no other supports loses its pull altogether, where a loss
    that grows linearly would let a doubled rate bend what its neighbours say about scaling.
    """
    return np.asarray(1 / (1 + scaled**2 / _TAIL))


def fit_left_out(
    model: Model,
    y: Floats,
    sigma: Floats,
    prior_mean: Floats,
    prior_sd: Floats,
    start: Floats,
    out: Bools,
    n_steps: int = 5,
) -> Floats:
    """Parameters from the rows that are not ``out``.

    A few reweighted Gauss-Newton steps from the full fit are enough: one source of sixty moves the shared parameters
    little, and its own fall back to their priors, which are quadratic; a test compares with a whole fit.
    """
    values = start.copy()
    for _ in range(n_steps):
        predicted, derivative = model(values)
        scaled = ((predicted - y) / sigma)[~out]
        hessian, slope = _normal_equations(derivative[~out], scaled, sigma[~out], values, prior_mean, prior_sd)
        values = values - splu(csc_array(hessian), options=_SYMMETRIC).solve(slope)
    return values


def row_variance(model: Model, y: Floats, sigma: Floats, prior_sd: Floats, values: Floats, out: Bools) -> Floats:
    """Variance of the predictions of the rows ``out`` that parameters fitted to the other rows leave."""
    predicted, derivative = model(values)
    scaled, zero = ((predicted - y) / sigma)[~out], np.zeros(len(prior_sd))
    hessian, _ = _normal_equations(derivative[~out], scaled, sigma[~out], zero, zero, prior_sd)
    rows = derivative[out].toarray()
    return np.asarray((rows * splu(csc_array(hessian), options=_SYMMETRIC).solve(rows.T).T).sum(axis=1))
