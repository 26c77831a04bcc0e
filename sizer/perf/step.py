"""Rate of GPUs with and without gradient exchange, with its uncertainty, for thousands of designs in one pass.

The calibration knows hundreds of parameters. What one combination of stack, DNN, precision, GPU and links needs of
them are the few numbers of :data:`TERM_NAMES` and their covariance: a :class:`StepTerms`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizer.base.arrays import Floats
from sizer.base.estimate import Z90, Estimate
from sizer.perf.arguments import require_above, require_at_least

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

# Forward pass 1 F, backward pass 2 F (gradients of inputs and of weights); no recomputation of activations.
TRAINING_PASSES = 3.0
INFERENCE_PASSES = 1.0
# NCCL 2.5.6 and later model a step over NVLink with 3.4 us and over the network with 9.6 us (tuning constants of the
# library, observations nccl-steplat-nvlink and nccl-steplat-network).
INTRA_HOP_S = 3.4e-6
INTER_HOP_S = 9.6e-6
# Share of the exchange that stays exposed where it takes just as long as what can hide it: gradients leave in buckets
# of some ten, and the last one has nothing left to hide behind. Rounds the corner of max(0, exchange - hidden).
LAST_BUCKET_FRACTION = 0.1


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
    notes : tuple of str
        Warnings that documents print, such as an extrapolation.
    effects : tuple of (int, str, float)
        Term, parameter and coefficient of everything that ``values`` of one combination add up: what draws of the
        parameters move. Empty for stacked terms.
    """

    values: Floats
    covariance: Floats
    scatter_log_sd: Floats
    between_log_sd: Floats = field(default_factory=lambda: np.zeros(()))
    notes: tuple[str, ...] = field(default=())
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
        return StepTerms(
            self.values[rows], self.covariance[rows], within, between[rows] if between.ndim else between, self.notes
        )

    @classmethod
    def stack(cls, terms: "list[StepTerms]") -> "StepTerms":
        """Several single terms as one with a leading axis; ``stacked[index_array]`` then gives terms row by row."""
        notes = tuple(dict.fromkeys(note for one in terms for note in one.notes))
        return cls(
            np.stack([one.values for one in terms]),
            np.stack([one.covariance for one in terms]),
            np.stack([np.asarray(one.scatter_log_sd) for one in terms]),
            np.stack([np.asarray(one.between_log_sd) for one in terms]),
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
    t = (t_gpu + exposed) (1 + s log2 g + r 2 (m-1)/m), t_gpu = (t_launch^q + t_c^q)^(1/q), t_c = 3 F (b + f)/(P eta):
    kernels that are queued ahead of the GPU cost only what arithmetic does not cover (large q), kernels that are waited
    for their whole time (q = 1); f samples are what it takes to fill the GPU. The exchange t_x is hierarchical
    (:mod:`sizer.perf.exchange`) and hides behind k 2/3 t_gpu; what is exposed is max(0, t_x - hidden) with a rounded
    corner (:data:`LAST_BUCKET_FRACTION`). Waiting inside a server grows with each doubling of its GPUs; between
    servers it follows the share of the exchange that leaves a server, which published runs of 2 to 256 servers fit
    better than further doublings. Uncertainty by the delta method from the covariance of the terms, all rows at once.
    """
    return TrainingRun.of(
        batch_per_gpu=batch_per_gpu,
        n_gpus_per_server=n_gpus_per_server,
        n_servers=n_servers,
        forward_flop=forward_flop,
        gradient_bytes=gradient_bytes,
        peak_flop_per_s=peak_flop_per_s,
        nic_bytes_per_s=nic_bytes_per_s,
        intra_hop_s=intra_hop_s,
        inter_hop_s=inter_hop_s,
    ).rate(terms)


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
    return InferenceRun.of(
        batch_per_gpu=batch_per_gpu,
        n_gpus_per_server=n_gpus_per_server,
        n_servers=n_servers,
        forward_flop=forward_flop,
        peak_flop_per_s=peak_flop_per_s,
        input_bytes=input_bytes,
        host_links_per_server=host_links_per_server,
        bytes_per_value=bytes_per_value,
    ).rate(terms)


@dataclass(frozen=True)
class StepTimes:
    """What a training step is made of. Arrays over the rows. [s]

    A step lasts ``compute_s + exposed_s + waiting_s``; the exchange, inside servers and between them, runs for
    ``inside_s + between_s``, of which ``exposed_s`` is not hidden behind the computation.
    """

    compute_s: Floats
    inside_s: Floats
    between_s: Floats
    exposed_s: Floats
    waiting_s: Floats  # of the GPUs for the slowest one


@dataclass(frozen=True)
class TrainingRun:
    """Counts and sizes of training runs: all of a step that no term changes, worked out once for many draws of terms.

    Arrays have the shapes of what they depend on and broadcast to ``shape``.
    """

    shape: tuple[int, ...]
    batch: Floats  # of one GPU
    samples: Floats  # of one step, over all GPUs
    sample_s: Floats  # arithmetic of one sample at the full peak [s]
    intra_bytes: Floats  # that a GPU exchanges inside its server [B]
    inter_full_s: Floats  # exchange between servers at the full line rate [s]
    hops_s: Floats  # latencies of the exchange [s]
    between_hops_s: Floats  # of these, between servers [s]
    doublings: Floats  # of the GPUs of a server
    leaving: Floats  # 2 (m - 1)/m: share of the exchange that leaves a server, twice

    @classmethod
    def of(
        cls,
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
    ) -> "TrainingRun":
        """Runs with the arguments of :func:`training_samples_per_s`, checked as there."""
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
        leaving = 2 * (m - 1) / m
        between_hops_s = 2 * np.ceil(np.log2(m)) * inter_hop_s
        return cls(
            shape=np.broadcast_shapes(*(a.shape for a in (b, g, m, flop, size, peak, nic))),
            batch=b,
            samples=g * m * b,
            sample_s=TRAINING_PASSES * flop / peak,
            intra_bytes=2 * (g - 1) / g * size,
            inter_full_s=leaving * size / np.where(m > 1, nic, 1.0),
            hops_s=2 * (g - 1) * intra_hop_s + between_hops_s,
            between_hops_s=between_hops_s,
            doublings=np.log2(g),
            leaving=leaving,
        )

    def rate(self, terms: StepTerms) -> StepRate:
        """Rates with their uncertainty: :func:`training_samples_per_s`."""
        part = _TrainingParts.of(self, terms.values)
        step_s, grown = part.gpu.time_s + part.exposed_s, 1 + part.wait_inside + part.wait_between
        # Derivatives of the logarithm of each rate by each term, by hand: a step is a sum of few simple parts.
        by_hidden = -part.exposed_s / part.root_s
        by_exchange = -by_hidden + LAST_BUCKET_FRACTION * part.corner_s / part.root_s
        compute_gradient = {term: -slope for term, slope in part.gpu.gradient().items()}
        # A longer step on the GPU also hides more.
        gpu_share = (part.gpu.time_s + by_hidden * part.hidden_s) / step_s
        total_gradient = {
            **{term: slope * gpu_share for term, slope in compute_gradient.items()},
            INTRA: by_exchange * part.intra_s / step_s,
            INTER: by_exchange * part.inter_s / step_s,
            OVERLAP: -by_hidden * part.hidden_s * (1 - part.overlap) / step_s,
            STRAGGLER: -part.wait_inside / grown,
            SCALE_OUT: -part.wait_between / grown,
        }
        with np.errstate(divide="ignore"):
            exchange = self.samples / part.exchange_s
        return _rate(
            terms,
            self.shape,
            (self.samples / part.gpu.time_s, compute_gradient),
            (part.samples_per_s(self), total_gradient),
            exchange,
            step_s * grown - part.gpu.time_s,
        )

    def samples_per_s(self, values: Floats) -> Floats:
        """Rate with exchange and stragglers at given terms, shape (..., k): what draws of them ask for. [samples/s]"""
        return _TrainingParts.of(self, values).samples_per_s(self)

    def times(self, values: Floats) -> StepTimes:
        """Parts of a step at given terms, shape (..., k)."""
        part = _TrainingParts.of(self, values)
        step_s = part.gpu.time_s + part.exposed_s
        between_s = part.inter_s + self.between_hops_s
        return StepTimes(
            compute_s=part.gpu.time_s,
            inside_s=part.exchange_s - between_s,
            between_s=between_s,
            exposed_s=part.exposed_s,
            waiting_s=step_s * (part.wait_inside + part.wait_between),
        )


@dataclass(frozen=True)
class InferenceRun:
    """Counts and sizes of validation inference: all that no term changes. Arrays broadcast to ``shape``."""

    shape: tuple[int, ...]
    batch: Floats
    samples: Floats
    sample_s: Floats
    links: Floats  # between host and GPUs, of all servers
    link_bytes: Floats  # of one sample on such a link [B]

    @classmethod
    def of(
        cls,
        *,
        batch_per_gpu: ArrayLike,
        n_gpus_per_server: ArrayLike,
        n_servers: ArrayLike,
        forward_flop: ArrayLike,
        peak_flop_per_s: ArrayLike,
        input_bytes: ArrayLike,
        host_links_per_server: ArrayLike = 2,
        bytes_per_value: float = 4.0,
    ) -> "InferenceRun":
        """Runs with the arguments of :func:`inference_samples_per_s`, checked as there."""
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
        return cls(
            shape=np.broadcast_shapes(*(a.shape for a in (b, g, m, flop, peak, size, links))),
            batch=b,
            samples=g * m * b,
            sample_s=INFERENCE_PASSES * flop / peak,
            links=m * np.minimum(g, links),
            link_bytes=bytes_per_value * size,
        )

    def host_samples_per_s(self, values: Floats) -> Floats:
        """What the links between host and GPUs carry. [samples/s]"""
        return np.asarray(self.links * np.exp(values[..., HOST_LINK]) / self.link_bytes)

    def rate(self, terms: StepTerms) -> StepRate:
        """Rates with their uncertainty: :func:`inference_samples_per_s`."""
        gpu_time = _GpuTime.of(terms.values, self.sample_s, self.batch)
        gpu, host = self.samples / gpu_time.time_s, self.host_samples_per_s(terms.values)
        by_host = host < gpu
        gradient = {term: -slope for term, slope in gpu_time.gradient().items()}
        total_gradient = {term: np.where(by_host, 0.0, slope) for term, slope in gradient.items()}
        total_gradient[HOST_LINK] = by_host.astype(float)
        total = np.minimum(gpu, host)
        return _rate(
            terms, self.shape, (gpu, gradient), (total, total_gradient), host, self.samples / total - gpu_time.time_s
        )

    def samples_per_s(self, values: Floats) -> Floats:
        """Rate at given terms, shape (..., k). [samples/s]"""
        gpu_s = _GpuTime.of(values, self.sample_s, self.batch).time_s
        return np.minimum(self.samples / gpu_s, self.host_samples_per_s(values))


@dataclass(frozen=True)
class _GpuTime:
    """A step on one GPU: t = (t_launch^q + t_c^q)^(1/q).

    Kernels that are queued ahead of the GPU cost only what arithmetic does not cover (large q: the longer of the two),
    kernels that are waited for cost their whole time (q = 1: the sum).
    """

    batch: Floats
    fill: Floats
    q: Floats
    log_launch: Floats
    log_compute: Floats
    log_s: Floats
    time_s: Floats

    @classmethod
    def of(cls, v: Floats, sample_s: Floats, batch: Floats) -> "_GpuTime":
        log_launch = v[..., LAUNCH]
        fill = np.exp(v[..., FILL])
        log_compute = np.log(sample_s * (batch + fill)) - v[..., EFFICIENCY]
        q = 1 + np.exp(v[..., RUN_AHEAD])
        # Logarithms keep the powers finite.
        log_s = np.logaddexp(q * log_launch, q * log_compute) / q
        return cls(batch, fill, q, log_launch, log_compute, log_s, np.exp(log_s))

    def gradient(self) -> dict[int, Floats]:
        """Derivatives of the logarithm of the time by the terms."""
        q = self.q
        launch_share = np.exp(q * (self.log_launch - self.log_s))
        compute_share = 1 - launch_share
        mean = launch_share * self.log_launch + compute_share * self.log_compute
        return {
            EFFICIENCY: -compute_share,
            LAUNCH: launch_share,
            RUN_AHEAD: (q - 1) / q * (mean - self.log_s),
            FILL: compute_share * self.fill / (self.batch + self.fill),
        }


@dataclass(frozen=True)
class _TrainingParts:
    """Times that make up a training step. [s]"""

    gpu: _GpuTime
    intra_s: Floats
    inter_s: Floats
    exchange_s: Floats
    overlap: Floats
    hidden_s: Floats  # exchange that computation can hide
    corner_s: Floats  # rounds the corner where it no longer can
    root_s: Floats
    exposed_s: Floats  # exchange that computation does not hide
    wait_inside: Floats  # growth of a step by waiting, inside servers and between them [-]
    wait_between: Floats

    @classmethod
    def of(cls, run: TrainingRun, v: Floats) -> "_TrainingParts":
        gpu = _GpuTime.of(v, run.sample_s, run.batch)
        overlap = 1 / (1 + np.exp(-v[..., OVERLAP]))
        hidden_s = overlap * (2 / 3) * gpu.time_s
        intra_s = run.intra_bytes * np.exp(-v[..., INTRA])
        inter_s = run.inter_full_s * np.exp(-v[..., INTER])
        exchange_s = intra_s + run.hops_s + inter_s
        beyond_s = exchange_s - hidden_s
        corner_s = 2 * LAST_BUCKET_FRACTION * exchange_s
        root_s = np.sqrt(beyond_s * beyond_s + corner_s * corner_s)
        exposed_s = 0.5 * (beyond_s + root_s)
        if not (exchange_s > 0).all():
            # One GPU exchanges nothing; any length of the root keeps the derivatives defined there.
            root_s = np.where(exchange_s > 0, root_s, 1.0)
            exposed_s = np.where(exchange_s > 0, exposed_s, 0.0)
        wait_inside = np.exp(v[..., STRAGGLER]) * run.doublings
        wait_between = np.exp(v[..., SCALE_OUT]) * run.leaving
        return cls(
            gpu,
            intra_s,
            inter_s,
            exchange_s,
            overlap,
            hidden_s,
            corner_s,
            root_s,
            exposed_s,
            wait_inside,
            wait_between,
        )

    def samples_per_s(self, run: TrainingRun) -> Floats:
        """Rate of all GPUs together."""
        step_s = self.gpu.time_s + self.exposed_s
        return np.asarray(run.samples / (step_s * (1 + (self.wait_inside + self.wait_between))))


def _floats(*arguments: ArrayLike) -> tuple[Floats, ...]:
    return tuple(np.asarray(argument, dtype=float) for argument in arguments)


def _rate(
    terms: StepTerms,
    run_shape: tuple[int, ...],
    compute: tuple[Floats, dict[int, Floats]],
    total: tuple[Floats, dict[int, Floats]],
    exchange: Floats,
    exposed_s: Floats,
) -> StepRate:
    """Rates, each given with its derivatives, and the rest of a :class:`StepRate` over all rows."""
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
    return Estimate.log_normal(median, np.sqrt(np.maximum(variance, 0.0)), terms.notes)


def _stretch(terms: StepTerms, term: int) -> Floats:
    """Mean slope of exp(x) from its median to the end of its 90 % interval over the slope at the median. [-]"""
    if term not in (STRAGGLER, SCALE_OUT):
        return np.ones(())
    reach = Z90 * np.sqrt(np.maximum(terms.covariance[..., term, term], 0.0))
    return np.asarray(np.where(reach > 0, np.expm1(reach) / np.where(reach > 0, reach, 1.0), 1.0))
