"""Sufficient numbers of one combination of stack, DNN, precision, GPU and links, and rates with their uncertainty.

The calibration knows hundreds of parameters. What one combination needs of them are the few numbers of
:data:`TERM_NAMES` and their covariance: a :class:`StepTerms`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from sizer.base.arrays import Floats, Rows
from sizer.base.estimate import Estimate, normal_quantile
from sizer.perf.stage_capacity import Capacity

# Draws of the terms of a step that are the same in every run, and the rates that they show.
#
# Waiting, exposed exchange and launches beside arithmetic are no linear functions of the terms, and some terms are
# known to a factor only: the median of a rate is not the rate at the medians, and its slow end is longer than its fast
# one. A few hundred points of a lattice show both; random draws would need ten times as many.

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
    draws = normal_quantile((steps % N_DRAWS + 0.5) / N_DRAWS)
    draws /= np.sqrt((draws**2).mean(axis=0))
    draws.setflags(write=False)
    return draws


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

    ``values`` (..., k): means of the terms, each in its own unit.
    ``covariance`` (..., k, k): their covariance, in products of these units.
    Returns (..., draws, k): :data:`N_DRAWS` draws of the terms.
    """
    if not covariance.any():
        return np.broadcast_to(values[..., None, :], (*values.shape[:-1], N_DRAWS, values.shape[-1]))
    variance, directions = np.linalg.eigh(covariance)
    # Either sign is right, and libraries give one or the other on different processors: the largest part is positive.
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=-2)[..., None, :], axis=-2)
    directions = directions * np.sign(largest)
    # Rounding of the stored covariance can leave a variance of -1e-12. The widest directions get the best dimensions.
    root = (directions * np.sqrt(np.maximum(variance, 0.0))[..., None, :])[..., ::-1]
    normal = standard_draws(values.shape[-1] + 1)[:, 1:]
    return np.asarray(values[..., None, :] + normal @ np.swapaxes(root, -1, -2))


def drawn_estimate(log_value: Floats, log_scatter: Floats) -> Estimate:
    """Distribution of a positive quantity such as a rate.

    ``log_value`` (..., draws): its logarithm under each draw of the terms.
    ``log_scatter`` (...): standard deviation of what else moves its logarithm.
    Returns (...): median and 90 % interval of the skewed log-normal distribution that agrees at 10, 50 and 90 %.
    """
    scatter = np.asarray(log_scatter, float)[..., None]
    n_dimensions = len(_GENERATOR)
    ordered = np.sort(log_value + scatter * standard_draws(n_dimensions)[:, 0], axis=-1)
    low, middle, high = np.moveaxis(ordered @ _weights(), -1, 0)
    return Capacity.skewed(np.exp(middle), middle - low, high - middle, _LEVELS[-1]).estimate()


TERM_NAMES = (
    "log_efficiency",  # ln of the share of the GPU's peak that arithmetic reaches
    "log_launch_s",  # ln of the part of a step that does not grow with the batch
    "log_intra_bytes_per_s",  # ln of the rate of one GPU inside the server, one direction
    "log_inter_share",  # ln of the share of the NICs' line rate that the exchange reaches
    "overlap_logit",  # logit of the share of the backward pass that hides exchange
    "log_straggler",  # ln of the growth of a step with each doubling of the GPUs of a server
    "log_host_link_bytes_per_s",  # ln of the rate of one link between host and GPUs (inference input)
    "log_run_ahead",  # ln of (q - 1): how far kernel launches run ahead of the arithmetic
    "log_fill",  # ln of the samples that a step takes longer because small batches do not fill the GPU
    "log_scale_out",  # ln of the growth of a step on two servers against one; on many it doubles
)
# Logarithm of a part that a step does not have: launches that a rate includes, exchange that is never exposed. Exactly
# so, and no number that stands for it: the part is 0, whatever it is multiplied by; a rate without bound is minus it.
ABSENT = -np.inf
# Of terms, in differences: what it leaves of a derivative is below a millionth.
_STEP = 1e-4
EFFICIENCY, LAUNCH, INTRA, INTER, OVERLAP, STRAGGLER, HOST_LINK, RUN_AHEAD, FILL, SCALE_OUT = range(len(TERM_NAMES))


@dataclass(frozen=True)
class StepTerms(Rows):
    """Sufficient numbers of one combination of stack, DNN, precision, GPU and links, or of one a row.

    ``values`` (..., k): in the order of :data:`TERM_NAMES`; :data:`ABSENT` where a step has no such part.
    ``covariance`` (..., k, k): covariance of ``values`` from the calibration.
    ``scatter_log_sd`` (...): scatter of measurements within a source around the model, which more calibration rows
        would not remove: standard deviation of the logarithm of a rate.
    ``between_log_sd`` (...): the same between sources: what leaving whole sources out shows beyond the covariance and
        the scatter.
    ``effects``: term, parameter and coefficient of everything that ``values`` of one combination add up: what draws of
        the parameters move. Empty for stacked terms.
    """

    values: Floats
    covariance: Floats
    scatter_log_sd: Floats
    between_log_sd: Floats = field(default_factory=lambda: np.zeros(()))
    effects: tuple[tuple[int, str, float], ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        k = len(TERM_NAMES)
        shape = self.values.shape[:-1]
        if self.values.shape[-1:] != (k,) or self.covariance.shape != (*shape, k, k):
            raise ValueError(
                f"terms must be (..., {k}) and (..., {k}, {k}), got {self.values.shape}, {self.covariance.shape}"
            )

    @property
    def drawn(self) -> Floats:
        """(..., draws, k) draws of ``values``, the same in every run; see :mod:`sizer.perf.step_terms`."""
        return drawn_terms(self.values, self.covariance)

    @property
    def log_scatter(self) -> Floats:
        """(...) what moves the logarithm of a rate beside the terms: runs and sources. [-]"""
        return np.asarray(np.hypot(self.scatter_log_sd, self.between_log_sd))

    @classmethod
    def stack(cls, terms: "list[StepTerms]") -> "StepTerms":
        """Several single terms as one with a leading axis, of which rows are taken."""
        return cls(
            np.stack([term.values for term in terms]),
            np.stack([term.covariance for term in terms]),
            np.stack([np.asarray(term.scatter_log_sd) for term in terms]),
            np.stack([np.asarray(term.between_log_sd) for term in terms]),
        )


@dataclass(frozen=True)
class StepRate:
    """Rates of all GPUs together, with what draws of the terms make of them. [samples/s]

    ``compute`` (...): without exchange and without waiting for one another: GPUs x b/t. Never lower with more GPUs.
    ``total`` (...): with exchange and stragglers (training), or with the link between host and GPUs (inference).
    ``exchange`` (...): capacity of the exchange alone, were computation free: global batch over exchange time; infinite
        for one GPU. In inference: what the links between host and GPUs carry.
    ``exposed_s`` (...): time of a step that exchange and stragglers (in inference: the host links) add [s].
    """

    compute: Estimate
    total: Estimate
    exchange: Floats
    exposed_s: Floats


def log_slopes(log_value: Callable[[Floats], Floats], terms: Floats) -> Floats:
    """Derivatives of logarithms by their terms, shape (..., k), by central differences.

    ``log_value``: terms of shape (k, ..., k) to logarithms of shape (k, ...).
    ``terms`` (..., k): where the derivatives are taken.
    """
    steps = _STEP * np.eye(terms.shape[-1]).reshape(-1, *(1,) * (terms.ndim - 1), terms.shape[-1])
    return np.moveaxis(log_value(terms + steps) - log_value(terms - steps), 0, -1) / (2 * _STEP)
