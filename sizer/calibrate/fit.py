"""Least squares with uncertainty: the plain fit, and the joint fit with priors and robust loss."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import least_squares
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from sizer.base.errors import CalibrationError

Floats = NDArray[np.float64]
Predict = Callable[[Floats, Floats], Floats]
# Parameters -> predicted rows and their derivatives by the parameters, shapes (n,) and (n, p), the latter sparse.
Model = Callable[[Floats], tuple[Floats, csr_array]]

_MAX_EVALUATIONS = 300
_MAX_DAMPING = 1e12
# The Hessian is symmetric and positive definite: pivots on the diagonal keep it sparse.
_SYMMETRIC = {"SymmetricMode": True, "DiagPivotThresh": 0.0}
# Relative fall of the objective at which the joint fit has settled; 1e-9 moves no rate by 1e-4.
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Fit:
    """Values of a fit with their covariance."""

    names: tuple[str, ...]
    values: Floats
    covariance: Floats
    dof: int
    reduced_chi2: float

    @property
    def std(self) -> Floats:
        """Standard deviation of each value."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


def fit_least_squares(
    predict: Predict, x: Floats, y: Floats, sigma: Floats | float, start: Floats, names: tuple[str, ...]
) -> Fit:
    """Fit of a model without priors.

    Parameters
    ----------
    predict : callable
        ``predict(x, parameters)`` gives the rows.
    x, y : ndarray
        What each row was measured at, and what was measured.
    sigma : ndarray or float
        Weights the rows; the scatter of the residuals scales the covariance.
    start : ndarray, shape (p,)
        Where to start.
    names : tuple of str
        Names of the parameters, for messages.

    Raises
    ------
    CalibrationError
        If the fit does not converge, or the rows do not tell the parameters apart.
    """

    def residuals(k: Floats) -> Floats:
        return np.asarray((predict(x, k) - y) / sigma)

    best = least_squares(residuals, start, x_scale="jac", xtol=1e-12, ftol=1e-12)
    if not best.success:
        raise CalibrationError(f"{', '.join(names)}: no convergence in {best.nfev} evaluations ({best.message})")
    jacobian = np.asarray(best.jac)
    norms = np.linalg.norm(jacobian, axis=0)
    # Finite differences leave about 1e-8 of noise in the Jacobian, far above the default rank tolerance.
    rank = np.linalg.matrix_rank(jacobian / np.where(norms > 0, norms, 1.0), tol=1e-6)
    dof = len(y) - len(names)
    if rank < len(names) or dof < 1:
        raise CalibrationError(
            f"{len(y)} observations tell apart {rank} of {len(names)} parameters "
            f"({', '.join(names)}); fix one of them or add runs at another scale"
        )
    reduced_chi2 = 2 * best.cost / dof
    covariance = np.linalg.inv(jacobian.T @ jacobian) * reduced_chi2  # sigma weighs, the scatter scales
    return Fit(names, best.x, covariance, dof, reduced_chi2)


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
        Scatter of a row, within which the loss is quadratic; beyond it grows linearly (soft L1).
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
    data = 2 * (np.sqrt(1 + ((predicted - y) / sigma) ** 2) - 1)
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
    """Inverse of the Gauss-Newton Hessian of data (weighted as the robust loss weighs them) and priors."""
    zero = np.zeros(len(prior_sd))
    hessian, _ = _normal_equations(derivative, scaled, sigma, zero, zero, prior_sd)
    return np.asarray(cho_solve(cho_factor(hessian.toarray()), np.eye(len(prior_sd))))


def robust_weight(scaled: Floats) -> Floats:
    """Weight of a row in the soft L1 loss, by its residual in units of sigma: 1 within, falling beyond."""
    return np.asarray((1 + scaled**2) ** -0.5)


def predict_left_out(
    model: Model,
    y: Floats,
    sigma: Floats,
    prior_mean: Floats,
    prior_sd: Floats,
    start: Floats,
    out: NDArray[np.bool_],
    n_steps: int = 3,
) -> tuple[Floats, Floats]:
    """Predictions of rows that the fit does not see, and their variance from the parameters.

    A few reweighted Gauss-Newton steps from the full fit are enough: one source of thirty moves the shared parameters
    little, and its own fall back to their priors, which are quadratic.
    """
    values = start.copy()
    for step in range(n_steps + 1):
        predicted, derivative = model(values)
        scaled = ((predicted - y) / sigma)[~out]
        hessian, slope = _normal_equations(derivative[~out], scaled, sigma[~out], values, prior_mean, prior_sd)
        factor = splu(csc_array(hessian), options=_SYMMETRIC)
        if step < n_steps:
            values = values - factor.solve(slope)
    rows = derivative[out].toarray()
    return predicted[out], np.asarray((rows * factor.solve(rows.T).T).sum(axis=1))
