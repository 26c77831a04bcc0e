"""Draws of the terms of a step that are the same in every run, and the rates that they show.

Waiting, exposed exchange and launches beside arithmetic are no linear functions of the terms, and some terms are known
to a factor only: the median of a rate is not the rate at the medians, and its slow end is longer than its fast one. A
few hundred points of a lattice show both; random draws would need ten times as many.
"""

from functools import cache

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.estimate import Estimate, normal_quantile
from sizer.perf.stage_capacity import Capacity

# Points of the lattice. Shares of 4,000 random draws differ from those of these points by one hundredth on average.
N_DRAWS = 512
# Generating vector of a rank-1 lattice for any power of two up to 2^20 points (Cools, Kuo and Nuyens 2006,
# exod2_base2_m20_CKN), one number a dimension.
_GENERATOR = (1, 182667, 469891, 498753, 110745, 446247, 250185, 118627, 245333, 283199, 408519)
# A distribution is read off at these levels: the tails of so few points scatter.
_LEVELS = (0.1, 0.5, 0.9)


@cache
def standard_draws(dimensions: int) -> Floats:
    """Standard normal numbers, shape (:data:`N_DRAWS`, dimensions), each dimension with mean 0 and variance 1."""
    steps = np.arange(N_DRAWS)[:, None] * np.array(_GENERATOR[:dimensions])
    found = normal_quantile((steps % N_DRAWS + 0.5) / N_DRAWS)
    found /= np.sqrt((found**2).mean(axis=0))
    found.setflags(write=False)
    return found


@cache
def _weights() -> Floats:
    """(draws, levels) weights of ordered draws that give the quantiles: neighbours count, too."""
    place = (np.arange(N_DRAWS) + 0.5) / N_DRAWS
    found = []
    for level in _LEVELS:
        width = np.sqrt(level * (1 - level) / N_DRAWS)
        kernel = np.exp(-0.5 * ((place - level) / width) ** 2)
        found.append(kernel / kernel.sum())
    return np.stack(found, axis=1)


def drawn_terms(values: Floats, covariance: Floats) -> Floats:
    """Draws of terms that are normal together.

    Parameters
    ----------
    values : ndarray, shape (..., k)
        Means of the terms, each in its own unit.
    covariance : ndarray, shape (..., k, k)
        Their covariance, in products of these units.

    Returns
    -------
    ndarray, shape (..., draws, k)
        :data:`N_DRAWS` draws of the terms.
    """
    if not covariance.any():
        return np.broadcast_to(values[..., None, :], (*values.shape[:-1], N_DRAWS, values.shape[-1]))
    variance, directions = np.linalg.eigh(covariance)
    # Rounding of the stored covariance can leave a variance of -1e-12. The widest directions get the best dimensions.
    root = (directions * np.sqrt(np.maximum(variance, 0.0))[..., None, :])[..., ::-1]
    normal = standard_draws(values.shape[-1] + 1)[:, 1:]
    return np.asarray(values[..., None, :] + normal @ np.swapaxes(root, -1, -2))


def drawn_estimate(log_value: Floats, log_scatter: Floats) -> Estimate:
    """Distribution of a positive quantity such as a rate.

    Parameters
    ----------
    log_value : ndarray, shape (..., draws)
        Its logarithm under each draw of the terms.
    log_scatter : ndarray, shape (...)
        Standard deviation of what else moves its logarithm. [-]

    Returns
    -------
    Estimate, shape (...)
        Median and 90 % interval of the skewed log-normal distribution that agrees at 10, 50 and 90 %.
    """
    scatter = np.asarray(log_scatter, float)[..., None]
    n_dimensions = len(_GENERATOR)
    ordered = np.sort(log_value + scatter * standard_draws(n_dimensions)[:, 0], axis=-1)
    low, middle, high = np.moveaxis(ordered @ _weights(), -1, 0)
    return Capacity.skewed(np.exp(middle), middle - low, high - middle, _LEVELS[-1]).estimate()
