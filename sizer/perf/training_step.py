"""Rate of synchronous data-parallel training with its gradient exchange, for thousands of designs in one pass."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats, Rows
from sizer.perf import step_terms
from sizer.perf.arguments import float_arrays, require_above, require_at_least


@dataclass(frozen=True)
class GpuTime:
    """A step on one GPU: t = (t_launch^q + t_c^q)^(1/q).

    Kernels that are queued ahead of the GPU cost only what arithmetic does not cover (large q: the longer of the two),
    kernels that are waited for cost their whole time (q = 1: the sum).
    """

    log_s: Floats
    time_s: Floats

    @classmethod
    def of(cls, v: Floats, sample_s: Floats, batch: Floats) -> "GpuTime":
        log_compute = np.log(sample_s * (batch + np.exp(v[..., step_terms.FILL]))) - v[..., step_terms.EFFICIENCY]
        q = 1 + np.exp(v[..., step_terms.RUN_AHEAD])
        # Logarithms keep the powers finite.
        log_s = np.logaddexp(q * v[..., step_terms.LAUNCH], q * log_compute) / q
        return cls(log_s, np.exp(log_s))


# Forward pass 1 F, backward pass 2 F (gradients of inputs and of weights); no recomputation of activations.
TRAINING_PASSES = 3.0
# NCCL 2.5.6 and later model a step over NVLink with 3.4 us and over the network with 9.6 us (tuning constants of the
# library, observations nccl-steplat-nvlink and nccl-steplat-network).
INTRA_HOP_S = 3.4e-6
INTER_HOP_S = 9.6e-6
# Share of the exchange that stays exposed where it takes just as long as what can hide it: gradients leave in buckets
# of some ten, and the last one has nothing left to hide behind. Rounds the corner of max(0, exchange - hidden).
LAST_BUCKET_FRACTION = 0.1


@dataclass(frozen=True)
class TrainingStepTimes:
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
class StepMedians:
    """Rates of all GPUs together at given terms. [samples/s]"""

    samples_per_s: Floats  # with exchange and waiting
    exchange_samples_per_s: Floats  # of the exchange alone; infinite for one GPU


@dataclass(frozen=True)
class TrainingRun(Rows):
    """Counts and sizes of training runs: all of a step that no term changes, worked out once for many draws of terms.

    Arrays have the shapes of what they depend on and broadcast to ``shape``.
    """

    shape: tuple[int, ...]
    batch: Floats  # of one GPU
    samples: Floats  # of one step, over all GPUs, times what :meth:`scaled` made of the rate
    log_sd: Floats  # of what else is not known of the rate, as a logarithm
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
        looked_up_bytes: ArrayLike = 0.0,
        intra_hop_s: float = INTRA_HOP_S,
        inter_hop_s: float = INTER_HOP_S,
        log_sd: ArrayLike = 0.0,
    ) -> "TrainingRun":
        """Runs of given counts and sizes.

        ``batch_per_gpu`` (...): samples of one step on one GPU.
        ``n_gpus_per_server``, ``n_servers`` (...): GPUs of each server that the job uses, and servers.
        ``forward_flop`` (...): forward pass of one sample [FLOP].
        ``gradient_bytes`` (...): gradient on the wire, see :func:`sizer.perf.exchange.gradient_bytes` [B].
        ``peak_flop_per_s`` (...): peak of the unit used [FLOP/s].
        ``nic_bytes_per_s`` (...): line rate of one server towards the others, one direction, summed over its NICs. Not
            read where there is one server [B/s].
        ``looked_up_bytes`` (...): vectors that a sample reads from embedding tables divided over all GPUs [B].
        ``intra_hop_s``, ``inter_hop_s``: latency of one step of the exchange inside a server and between servers [s].
        ``log_sd`` (...): standard deviation of the logarithm of the rate beyond what the terms show, of each row.
        Raises ValueError if a count is below 1, or FLOP, peak or a NIC rate that is used is not above 0.
        """
        b, g, m, flop, size, peak, nic, looked_up = float_arrays(
            batch_per_gpu,
            n_gpus_per_server,
            n_servers,
            forward_flop,
            gradient_bytes,
            peak_flop_per_s,
            nic_bytes_per_s,
            looked_up_bytes,
        )
        require_above(0, batch_per_gpu=b, forward_flop=flop, peak_flop_per_s=peak)
        require_at_least(1, n_gpus_per_server=g, n_servers=m)
        require_at_least(0, gradient_bytes=size, looked_up_bytes=looked_up)
        require_above(0, nic_bytes_per_s=np.where(m > 1, nic, 1.0))
        leaving = 2 * (m - 1) / m
        between_hops_s = 2 * np.ceil(np.log2(m)) * inter_hop_s
        return cls(
            shape=np.broadcast_shapes(*(a.shape for a in (b, g, m, flop, size, peak, nic, looked_up))),
            batch=b,
            samples=g * m * b,
            log_sd=np.asarray(log_sd, dtype=float),
            sample_s=TRAINING_PASSES * flop / peak,
            intra_bytes=2 * (g - 1) / g * (size + b * looked_up / m),
            inter_full_s=leaving * (size + g * b * looked_up) / np.where(m > 1, nic, 1.0),
            hops_s=2 * (g - 1) * intra_hop_s + between_hops_s,
            between_hops_s=between_hops_s,
            doublings=np.log2(g),
            leaving=leaving,
        )

    def scaled(self, factor: Floats, log_sd: Floats) -> "TrainingRun":
        """The same runs with rates so many times what the terms say, and a spread of their own."""
        return replace(self, samples=self.samples * factor, log_sd=log_sd)

    def at_sizes(self, some: slice) -> "TrainingRun":
        """Runs at some places of the last axis of two."""
        arrays = ((field.name, getattr(self, field.name)) for field in fields(self) if field.name != "shape")
        taken = {name: array[:, some] if array.shape[-1:] == self.shape[-1:] else array for name, array in arrays}
        return replace(self, shape=np.zeros(self.shape)[:, some].shape, **taken)

    def rate(self, terms: step_terms.StepTerms) -> step_terms.StepRate:
        """Rates with their uncertainty, for one set of terms or one of each row.

        t = (t_gpu + exposed) (1 + s log2 g + r 2 (m-1)/m), t_gpu = (t_launch^q + t_c^q)^(1/q), t_c = 3 F (b + f)/(P
        eta): kernels that are queued ahead of the GPU cost only what arithmetic does not cover (large q), kernels
        that are waited for their whole time (q = 1); f samples are what it takes to fill the GPU. The exchange t_x is
        hierarchical (:mod:`sizer.perf.exchange`) and hides behind k 2/3 t_gpu; what is exposed is max(0, t_x -
        hidden) with a rounded corner (:data:`LAST_BUCKET_FRACTION`). Waiting inside a server grows with each doubling
        of its GPUs; between servers it follows the share of the exchange that leaves a server, which published runs
        of 2 to 256 servers fit better than further doublings. Divided embedding tables add an all-to-all: of the b V
        bytes that a GPU looks up, the share of other GPUs moves forward and its gradients move back. Median and
        interval are those of draws of the terms, all rows at once.
        """
        part, run = _TrainingParts.of(self, terms.values), self.over_draws
        scatter = np.hypot(terms.log_scatter, self.log_sd)
        drawn = _TrainingParts.of(run, terms.drawn)
        shape = np.broadcast_shapes(self.shape, terms.values.shape[:-1])
        with np.errstate(divide="ignore"):
            exchange = self.samples / part.exchange_s
        return step_terms.StepRate(
            step_terms.drawn_estimate(-drawn.gpu.log_s, scatter).scaled(self.samples).broadcast_to(shape),
            step_terms.drawn_estimate(np.log(drawn.samples_per_s(run)), scatter).broadcast_to(shape),
            np.broadcast_to(exchange, shape),
            np.broadcast_to(self.samples / part.samples_per_s(self) - part.gpu.time_s, shape),
        )

    @cached_property
    def over_draws(self) -> "TrainingRun":
        """The same runs with a last axis for draws."""
        return self.take((..., None))

    def medians(self, values: Floats) -> "StepMedians":
        """Rates at given terms, shape (..., k)."""
        part = _TrainingParts.of(self, values)
        with np.errstate(divide="ignore"):
            return StepMedians(part.samples_per_s(self), self.samples / part.exchange_s)

    def samples_per_s(self, values: Floats) -> Floats:
        """Rate with exchange and stragglers at given terms, shape (..., k): what draws of them ask for. [samples/s]"""
        return _TrainingParts.of(self, values).samples_per_s(self)

    def times(self, values: Floats) -> TrainingStepTimes:
        """Parts of a step at given terms, shape (..., k)."""
        part = _TrainingParts.of(self, values)
        step_s = part.gpu.time_s + part.exposed_s
        between_s = part.inter_s + self.between_hops_s
        return TrainingStepTimes(
            compute_s=part.gpu.time_s,
            inside_s=part.exchange_s - between_s,
            between_s=between_s,
            exposed_s=part.exposed_s,
            waiting_s=step_s * (part.wait_inside + part.wait_between),
        )


@dataclass(frozen=True)
class _TrainingParts:
    """Times that make up a training step. [s]"""

    gpu: GpuTime
    inter_s: Floats
    exchange_s: Floats
    exposed_s: Floats  # exchange that computation does not hide
    wait_inside: Floats  # growth of a step by waiting, inside servers and between them [-]
    wait_between: Floats

    @classmethod
    def of(cls, run: TrainingRun, v: Floats) -> "_TrainingParts":
        gpu = GpuTime.of(v, run.sample_s, run.batch)
        # What computation can hide, with a rounded corner where it no longer can.
        hidden_s = 1 / (1 + np.exp(-v[..., step_terms.OVERLAP])) * (2 / 3) * gpu.time_s
        intra_s = run.intra_bytes * np.exp(-v[..., step_terms.INTRA])
        inter_s = run.inter_full_s * np.exp(-v[..., step_terms.INTER])
        exchange_s = intra_s + run.hops_s + inter_s
        beyond_s = exchange_s - hidden_s
        corner_s = 2 * LAST_BUCKET_FRACTION * exchange_s
        exposed_s = 0.5 * (beyond_s + np.sqrt(beyond_s * beyond_s + corner_s * corner_s))
        if not (exchange_s > 0).all():
            exposed_s = np.where(exchange_s > 0, exposed_s, 0.0)  # one GPU exchanges nothing
        wait_inside = np.exp(v[..., step_terms.STRAGGLER]) * run.doublings
        wait_between = np.exp(v[..., step_terms.SCALE_OUT]) * run.leaving
        return cls(gpu, inter_s, exchange_s, exposed_s, wait_inside, wait_between)

    def samples_per_s(self, run: TrainingRun) -> Floats:
        """Rate of all GPUs together."""
        step_s = self.gpu.time_s + self.exposed_s
        return np.asarray(run.samples / (step_s * (1 + (self.wait_inside + self.wait_between))))


INFERENCE_PASSES = 1.0


@dataclass(frozen=True)
class InferenceRun(Rows):
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
        """Runs of independent GPUs that the host feeds; counts and peak as for :meth:`TrainingRun.of`.

        ``input_bytes`` is one decoded uint8 sample, ``bytes_per_value`` what a value takes on the links: 4, because the
        host converts to float before it copies. ``host_links_per_server`` are those of x16 width that work side by
        side, at most one a GPU; 2 is one a socket.
        """
        b, g, m, flop, peak, size, links = float_arrays(
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
        return np.asarray(self.links * np.exp(values[..., step_terms.HOST_LINK]) / self.link_bytes)

    def rate(self, terms: step_terms.StepTerms) -> step_terms.StepRate:
        """Rates with their uncertainty: ``total`` is the smaller of GPUs and host links."""
        host, total, run = self.host_samples_per_s(terms.values), self.samples_per_s(terms.values), self.over_draws
        shape = np.broadcast_shapes(self.shape, terms.values.shape[:-1])
        gpu_s = GpuTime.of(terms.values, self.sample_s, self.batch).time_s
        draws = terms.drawn
        drawn = run.gpu_samples_per_s(draws)
        with_links = np.minimum(drawn, run.host_samples_per_s(draws))
        return step_terms.StepRate(
            step_terms.drawn_estimate(np.log(drawn), terms.log_scatter).broadcast_to(shape),
            step_terms.drawn_estimate(np.log(with_links), terms.log_scatter).broadcast_to(shape),
            np.broadcast_to(host, shape),
            np.broadcast_to(self.samples / total - gpu_s, shape),
        )

    @cached_property
    def over_draws(self) -> "InferenceRun":
        """The same runs with a last axis for draws."""
        return self.take((..., None))

    def gpu_samples_per_s(self, values: Floats) -> Floats:
        """Rate of the GPUs alone at given terms, shape (..., k). [samples/s]"""
        return np.asarray(self.samples / GpuTime.of(values, self.sample_s, self.batch).time_s)

    def samples_per_s(self, values: Floats) -> Floats:
        """Rate at given terms, shape (..., k). [samples/s]"""
        return np.minimum(self.gpu_samples_per_s(values), self.host_samples_per_s(values))
