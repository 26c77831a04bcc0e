"""Rate of GPUs with and without gradient exchange, with its uncertainty, for thousands of designs in one pass.

The calibration knows hundreds of parameters. What one combination of stack, DNN, precision, GPU and links needs of
them are the few numbers of :data:`TERM_NAMES` and their covariance: a :class:`StepTerms`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizer.base.estimate import Estimate
from sizer.perf.checks import require_above, require_at_least
from sizer.perf.gpu import INFERENCE_PASSES, TRAINING_PASSES

Floats = NDArray[np.float64]

TERM_NAMES = (
    "log_efficiency",  # ln of the share of the GPU's peak that arithmetic reaches
    "log_launch_s",  # ln of the part of a step that does not grow with the batch
    "log_intra_bytes_per_s",  # ln of the rate of one GPU inside the server, one direction
    "log_inter_share",  # ln of the share of the NICs' line rate that the exchange reaches
    "overlap_logit",  # logit of the share of the backward pass that hides exchange
    "log_straggler",  # ln of the growth of a step with each doubling of the GPUs
    "log_host_link_bytes_per_s",  # ln of the rate of one link between host and GPUs (inference input)
)
EFFICIENCY, LAUNCH, INTRA, INTER, OVERLAP, STRAGGLER, HOST_LINK = range(len(TERM_NAMES))

# NCCL 2.5.6 and later model a step over NVLink with 3.4 us and over the network with 9.6 us (tuning constants of the
# library, observations nccl-steplat-nvlink and nccl-steplat-network).
INTRA_HOP_S = 3.4e-6
INTER_HOP_S = 9.6e-6


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
        Scatter of measurements around the model, within and between sources, that more calibration rows would not
        remove: standard deviation of the logarithm of a rate.
    notes : tuple of str
        Warnings that documents print, such as an extrapolation.
    """

    values: Floats
    covariance: Floats
    scatter_log_sd: Floats
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        k = len(TERM_NAMES)
        shape = self.values.shape[:-1]
        if self.values.shape[-1:] != (k,) or self.covariance.shape != (*shape, k, k):
            raise ValueError(
                f"terms must be (..., {k}) and (..., {k}, {k}), got {self.values.shape}, {self.covariance.shape}"
            )

    def __getitem__(self, rows: NDArray[np.intp] | int) -> "StepTerms":
        """Terms of some rows; with an index array, one row of terms for each of its elements."""
        return StepTerms(self.values[rows], self.covariance[rows], np.asarray(self.scatter_log_sd)[rows], self.notes)

    @classmethod
    def stack(cls, terms: "list[StepTerms]") -> "StepTerms":
        """Several single terms as one with a leading axis; ``stacked[index_array]`` then gives terms row by row."""
        notes = tuple(dict.fromkeys(note for one in terms for note in one.notes))
        return cls(
            np.stack([one.values for one in terms]),
            np.stack([one.covariance for one in terms]),
            np.stack([np.asarray(one.scatter_log_sd) for one in terms]),
            notes,
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


def training_samples_per_s(
    terms: StepTerms,
    *,
    batch_per_gpu: ArrayLike,
    n_gpus_per_server: ArrayLike,
    n_servers: ArrayLike,
    forward_flop: ArrayLike,
    gradient_bytes: ArrayLike,
    peak_flop_per_s: ArrayLike,
    nic_bytes_per_s: ArrayLike,
    intra_hop_s: float = INTRA_HOP_S,
    inter_hop_s: float = INTER_HOP_S,
) -> StepRate:
    """Rate of synchronous data-parallel training.

    Parameters
    ----------
    terms : StepTerms
        One set for all rows, or one a row (leading shape that broadcasts with the arguments).
    batch_per_gpu : array_like, shape (...)
        Samples of one step on one GPU. [-]
    n_gpus_per_server, n_servers : array_like of int, shape (...)
        GPUs of each server that the job uses, and servers. [-]
    forward_flop : array_like, shape (...)
        Forward pass of one sample. [FLOP]
    gradient_bytes : array_like, shape (...)
        Gradient on the wire, see :func:`sizer.perf.exchange.gradient_bytes`. [B]
    peak_flop_per_s : array_like, shape (...)
        Peak of the unit used. [FLOP/s]
    nic_bytes_per_s : array_like, shape (...)
        Line rate of one server towards the others, one direction, summed over its NICs. Not read where there is one
        server. [B/s]
    intra_hop_s, inter_hop_s : float
        Latency of one step of the exchange inside a server and between servers. [s]

    Returns
    -------
    StepRate
        Arrays over the rows.

    Raises
    ------
    ValueError
        If a count is below 1, or FLOP, peak or a NIC rate that is used is not above 0.

    Notes
    -----
    t = (t_launch + t_c + max(0, t_x - k 2/3 t_c)) (1 + s log2 n), t_c = 3 F b/(P eta), t_x hierarchical: the formulas
    of :mod:`sizer.perf.gpu` and :mod:`sizer.perf.exchange`, written out so that their derivatives share every part.
    Uncertainty by the delta method from the covariance of the terms, all rows at once.
    """
    b, g, m, flop, size, peak, nic = _floats(
        batch_per_gpu,
        n_gpus_per_server,
        n_servers,
        forward_flop,
        gradient_bytes,
        peak_flop_per_s,
        nic_bytes_per_s,
    )
    require_above(0, batch_per_gpu=b, forward_flop=flop, peak_flop_per_s=peak)
    require_at_least(1, n_gpus_per_server=g, n_servers=m)
    require_at_least(0, gradient_bytes=size)
    require_above(0, nic_bytes_per_s=np.where(m > 1, nic, 1.0))
    n = g * m
    # What no term changes is computed once: arithmetic at full peak, bytes over each kind of link, latencies.
    arithmetic_s = TRAINING_PASSES * flop * b / peak
    intra_bytes = 2 * (g - 1) / g * size
    inter_full_s = 2 * (m - 1) / m * size / np.where(m > 1, nic, 1.0)
    hops_s = 2 * (g - 1) * intra_hop_s + 2 * np.ceil(np.log2(m)) * inter_hop_s
    v = terms.values
    launch_s = np.exp(v[..., LAUNCH])
    compute_s = arithmetic_s * np.exp(-v[..., EFFICIENCY])
    intra_s = intra_bytes * np.exp(-v[..., INTRA])
    inter_s = inter_full_s * np.exp(-v[..., INTER])
    overlap = 1 / (1 + np.exp(-v[..., OVERLAP]))
    hidden_s = overlap * (2 / 3) * compute_s
    exchange_s = intra_s + inter_s + hops_s
    is_exposed = exchange_s > hidden_s
    gpu_s = launch_s + compute_s
    step_s = gpu_s + np.where(is_exposed, exchange_s - hidden_s, 0.0)
    wait = np.exp(v[..., STRAGGLER]) * np.log2(n)
    # Derivatives of the logarithm of each rate by each term, by hand: a step is a sum of few simple parts.
    compute_gradient = {EFFICIENCY: compute_s / gpu_s, LAUNCH: -launch_s / gpu_s}
    exposed_over_step = is_exposed / step_s
    total_gradient = {
        EFFICIENCY: compute_s / step_s - hidden_s * exposed_over_step,
        LAUNCH: -launch_s / step_s,
        INTRA: intra_s * exposed_over_step,
        INTER: inter_s * exposed_over_step,
        OVERLAP: hidden_s * (1 - overlap) * exposed_over_step,
        STRAGGLER: -wait / (1 + wait),
    }
    with np.errstate(divide="ignore"):
        exchange = n * b / exchange_s
    return StepRate(
        _estimate(terms, n * b / gpu_s, compute_gradient),
        _estimate(terms, n * b / (step_s * (1 + wait)), total_gradient),
        exchange,
        step_s * (1 + wait) - gpu_s,
        compute_gradient,
        total_gradient,
    )


def inference_samples_per_s(
    terms: StepTerms,
    *,
    batch_per_gpu: ArrayLike,
    n_gpus_per_server: ArrayLike,
    n_servers: ArrayLike,
    forward_flop: ArrayLike,
    peak_flop_per_s: ArrayLike,
    input_bytes: ArrayLike,
    host_links_per_server: ArrayLike = 2,
    bytes_per_value: float = 4.0,
) -> StepRate:
    """Rate of validation inference: forward passes of independent GPUs, fed by the host.

    Parameters
    ----------
    terms : StepTerms
        One set for all rows, or one a row.
    batch_per_gpu, n_gpus_per_server, n_servers, forward_flop, peak_flop_per_s
        As for :func:`training_samples_per_s`.
    input_bytes : array_like, shape (...)
        One decoded uint8 sample. [B]
    host_links_per_server : array_like of int, shape (...), default 2
        Links of x16 width between host and GPUs that work side by side, at most one a GPU; 2 is one a socket. [-]
    bytes_per_value : float
        Width of one value on that link; 4: the host converts to float before it copies. [B]

    Returns
    -------
    StepRate
        ``compute`` is what the GPUs alone pass, ``total`` the smaller of it and of what the host links carry.

    Raises
    ------
    ValueError
        If a count is below 1, or another argument is not above 0.
    """
    b, g, m, flop, peak, size, links = _floats(
        batch_per_gpu,
        n_gpus_per_server,
        n_servers,
        forward_flop,
        peak_flop_per_s,
        input_bytes,
        host_links_per_server,
    )
    require_above(0, batch_per_gpu=b, forward_flop=flop, peak_flop_per_s=peak, input_bytes=size)
    require_at_least(1, n_gpus_per_server=g, n_servers=m, host_links_per_server=links)
    arithmetic_s = INFERENCE_PASSES * flop * b / peak
    v = terms.values
    launch_s = np.exp(v[..., LAUNCH])
    compute_s = arithmetic_s * np.exp(-v[..., EFFICIENCY])
    gpu_s = launch_s + compute_s
    gpu = g * m * b / gpu_s
    host = m * np.minimum(g, links) * np.exp(v[..., HOST_LINK]) / (bytes_per_value * size)
    by_host = host < gpu
    gradient = {EFFICIENCY: compute_s / gpu_s, LAUNCH: -launch_s / gpu_s}
    total_gradient = {term: np.where(by_host, 0.0, slope) for term, slope in gradient.items()}
    total_gradient[HOST_LINK] = by_host.astype(float)
    total = np.minimum(gpu, host)
    return StepRate(
        _estimate(terms, gpu, gradient),
        _estimate(terms, total, total_gradient),
        host,
        g * m * b / total - gpu_s,
        gradient,
        total_gradient,
    )


def _floats(*arguments: ArrayLike) -> tuple[Floats, ...]:
    return np.broadcast_arrays(*(np.asarray(argument, dtype=float) for argument in arguments))


def _estimate(terms: StepTerms, median: Floats, gradient: dict[int, Floats]) -> Estimate:
    """Delta method: variance g C g + scatter of the logarithm. Only terms that the rate depends on are summed."""
    variance = np.asarray(terms.scatter_log_sd, dtype=float) ** 2
    names = list(gradient)
    for i, one in enumerate(names):
        for other in names[i:]:
            twice = 1.0 if one == other else 2.0
            variance = variance + twice * terms.covariance[..., one, other] * gradient[one] * gradient[other]
    # Rounding of the stored covariance can leave a variance of -1e-12 where all spread cancels.
    return Estimate.log_normal(median, np.sqrt(np.maximum(variance, 0.0)), terms.notes)
