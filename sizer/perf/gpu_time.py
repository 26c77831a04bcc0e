"""Time of a step on one GPU: kernel launches and arithmetic."""

from dataclasses import dataclass

import numpy as np

from sizer.base.arrays import Floats
from sizer.perf.step_terms import EFFICIENCY, FILL, LAUNCH, RUN_AHEAD


@dataclass(frozen=True)
class GpuTime:
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
    def of(cls, v: Floats, sample_s: Floats, batch: Floats) -> "GpuTime":
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
