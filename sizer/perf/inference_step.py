"""Rate of inference on a test set: forward passes of independent GPUs, fed by their hosts."""

from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sizer.base.arrays import Floats
from sizer.perf.arguments import float_arrays, require_above, require_at_least
from sizer.perf.gpu_time import GpuTime
from sizer.perf.step_draws import drawn_estimate
from sizer.perf.step_terms import HOST_LINK, StepRate, StepSlopes, StepTerms

INFERENCE_PASSES = 1.0


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
        return np.asarray(self.links * np.exp(values[..., HOST_LINK]) / self.link_bytes)

    def rate(self, terms: StepTerms) -> StepRate:
        """Rates with their uncertainty: :func:`inference_samples_per_s`."""
        host, total, run = self.host_samples_per_s(terms.values), self.samples_per_s(terms.values), self.over_draws
        shape = np.broadcast_shapes(self.shape, terms.values.shape[:-1])
        gpu_s = GpuTime.of(terms.values, self.sample_s, self.batch).time_s
        draws = terms.drawn
        drawn = run.gpu_samples_per_s(draws)
        with_links = np.minimum(drawn, run.host_samples_per_s(draws))
        return StepRate(
            drawn_estimate(np.log(drawn), terms.log_scatter).broadcast_to(shape),
            drawn_estimate(np.log(with_links), terms.log_scatter).broadcast_to(shape),
            np.broadcast_to(host, shape),
            np.broadcast_to(self.samples / total - gpu_s, shape),
        )

    def slopes(self, values: Floats) -> StepSlopes:
        """Rate at given terms, shape (..., k), with its derivatives."""
        gpu_time = GpuTime.of(values, self.sample_s, self.batch)
        gpu, host = self.samples / gpu_time.time_s, self.host_samples_per_s(values)
        by_host = host < gpu
        by_term = {term: np.where(by_host, 0.0, -slope) for term, slope in gpu_time.gradient().items()}
        by_term[HOST_LINK] = by_host.astype(float)
        return StepSlopes(np.minimum(gpu, host), by_term)

    @cached_property
    def over_draws(self) -> "InferenceRun":
        """The same runs with a last axis for draws."""
        arrays = {one.name: getattr(self, one.name)[..., None] for one in fields(self) if one.name != "shape"}
        return replace(self, **arrays)

    def gpu_samples_per_s(self, values: Floats) -> Floats:
        """Rate of the GPUs alone at given terms, shape (..., k). [samples/s]"""
        return np.asarray(self.samples / GpuTime.of(values, self.sample_s, self.batch).time_s)

    def samples_per_s(self, values: Floats) -> Floats:
        """Rate at given terms, shape (..., k). [samples/s]"""
        return np.minimum(self.gpu_samples_per_s(values), self.host_samples_per_s(values))
