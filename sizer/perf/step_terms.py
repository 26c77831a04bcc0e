"""Sufficient numbers of one combination of stack, DNN, precision, GPU and links, and rates with their uncertainty.

The calibration knows hundreds of parameters. What one combination needs of them are the few numbers of
:data:`TERM_NAMES` and their covariance: a :class:`StepTerms`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sizer.base.arrays import Floats
from sizer.base.estimate import Z90, Estimate

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
EFFICIENCY, LAUNCH, INTRA, INTER, OVERLAP, STRAGGLER, HOST_LINK, RUN_AHEAD, FILL, SCALE_OUT = range(len(TERM_NAMES))


@dataclass(frozen=True)
class StepTerms:
    """Sufficient numbers of one combination of stack, DNN, precision, GPU and links, or of one a row.

    Attributes
    ----------
    values : ndarray, shape (..., k)
        In the order of :data:`TERM_NAMES`.
    covariance : ndarray, shape (..., k, k)
        Covariance of ``values`` from the calibration.
    scatter_log_sd : ndarray, shape (...)
        Scatter of measurements within a source around the model, which more calibration rows would not remove:
        standard deviation of the logarithm of a rate. [-]
    between_log_sd : ndarray, shape (...)
        The same between sources: what leaving whole sources out shows beyond the covariance and the scatter. [-]
    effects : tuple of (int, str, float)
        Term, parameter and coefficient of everything that ``values`` of one combination add up: what draws of the
        parameters move. Empty for stacked terms.
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

    def __getitem__(self, rows: NDArray[np.intp] | int) -> "StepTerms":
        """Terms of some rows; with an index array, one row of terms for each of its elements."""
        within, between = np.asarray(self.scatter_log_sd)[rows], np.asarray(self.between_log_sd)
        return StepTerms(self.values[rows], self.covariance[rows], within, between[rows] if between.ndim else between)

    @classmethod
    def stack(cls, terms: "list[StepTerms]") -> "StepTerms":
        """Several single terms as one with a leading axis; ``stacked[index_array]`` then gives terms row by row."""
        return cls(
            np.stack([one.values for one in terms]),
            np.stack([one.covariance for one in terms]),
            np.stack([np.asarray(one.scatter_log_sd) for one in terms]),
            np.stack([np.asarray(one.between_log_sd) for one in terms]),
        )


@dataclass(frozen=True)
class StepRate:
    """Rates of all GPUs together. [samples/s]

    Attributes
    ----------
    compute : Estimate, shape (...)
        Without exchange and without waiting for one another: GPUs x b/t. Never lower with more GPUs.
    total : Estimate, shape (...)
        With exchange and stragglers (training), or with the link between host and GPUs (inference).
    exchange : ndarray, shape (...)
        Capacity of the exchange alone, were computation free: global batch over exchange time; infinite for one GPU.
        In inference: what the links between host and GPUs carry.
    exposed_s : ndarray, shape (...)
        Time of a step that exchange and stragglers (in inference: the host links) add. [s]
    compute_gradient, total_gradient : mapping of int to ndarray
        Derivative of the logarithm of either rate by each term that it depends on, by index into
        :data:`TERM_NAMES`; stages that share terms get their joint probability from them. [-]
    """

    compute: Estimate
    total: Estimate
    exchange: Floats
    exposed_s: Floats
    compute_gradient: Mapping[int, Floats] = field(default_factory=dict, repr=False)
    total_gradient: Mapping[int, Floats] = field(default_factory=dict, repr=False)


def step_rate(
    terms: StepTerms,
    run_shape: tuple[int, ...],
    compute: tuple[Floats, dict[int, Floats]],
    total: tuple[Floats, dict[int, Floats]],
    exchange: Floats,
    exposed_s: Floats,
) -> StepRate:
    """Rates with their uncertainty over all rows.

    Parameters
    ----------
    terms : StepTerms
        Values, covariance and scatter.
    run_shape : tuple of int
        Shape of the arguments of the runs.
    compute, total : tuple of ndarray and mapping
        Median rate [samples/s] and the derivatives of its logarithm by the terms.
    exchange : ndarray, shape (...)
        See :class:`StepRate`. [samples/s]
    exposed_s : ndarray, shape (...)
        See :class:`StepRate`. [s]
    """
    shape = np.broadcast_shapes(run_shape, terms.values.shape[:-1])

    def whole(array: Floats) -> Floats:
        return np.broadcast_to(array, shape)

    return StepRate(
        _estimate(terms, whole(compute[0]), compute[1]),
        _estimate(terms, whole(total[0]), total[1]),
        whole(exchange),
        whole(exposed_s),
        {term: whole(slope) for term, slope in compute[1].items()},
        {term: whole(slope) for term, slope in total[1].items()},
    )


def _estimate(terms: StepTerms, median: Floats, gradient: dict[int, Floats]) -> Estimate:
    """Delta method: variance g C g + scatter within and between sources. Only terms that matter are summed.

    The growth of a step by waiting is log-normal with a spread of up to a factor, so that its tangent says far too
    little: its derivative is stretched to what the growth reaches at the slow end of the 90 % interval.
    """
    variance = np.asarray(terms.scatter_log_sd, float) ** 2 + np.asarray(terms.between_log_sd, float) ** 2
    stretched = {term: slope * _stretch(terms, term) for term, slope in gradient.items()}
    names = list(stretched)
    for i, one in enumerate(names):
        for other in names[i:]:
            twice = 1.0 if one == other else 2.0
            variance = variance + twice * terms.covariance[..., one, other] * stretched[one] * stretched[other]
    # Rounding of the stored covariance can leave a variance of -1e-12 where all spread cancels.
    return Estimate.log_normal(median, np.sqrt(np.maximum(variance, 0.0)))


def _stretch(terms: StepTerms, term: int) -> Floats:
    """Mean slope of exp(x) from its median to the end of its 90 % interval over the slope at the median. [-]"""
    if term not in (STRAGGLER, SCALE_OUT):
        return np.ones(())
    reach = Z90 * np.sqrt(np.maximum(terms.covariance[..., term, term], 0.0))
    return np.asarray(np.where(reach > 0, np.expm1(reach) / np.where(reach > 0, reach, 1.0), 1.0))
