"""Host work against the published DGX-1 runs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.perf.pipeline import core_seconds_per_sample, cpu_utilization_fraction, decode_samples_per_s


def test_line_through_the_dgx1_runs():
    """3.2 core-ms at 113 kB and 19.8 at 1.3 MB (dell-isilon-dgx1-blog-2018, derived in the planning rules, section 8):
    slope (19.8 - 3.2) ms / 1.187 MB = 14.0 ms/MB, and 1.6 ms at no bytes."""
    assert_allclose(core_seconds_per_sample([113e3, 1.3e6], 1.6e-3, 14.0e-9), [3.2e-3, 19.8e-3], rtol=0.01)


def test_cpu_use_of_the_dgx1():
    """52,274 and 15,304 images/s on nine servers of 40 cores: 46 and 84 % (same source)."""
    assert_allclose(cpu_utilization_fraction([52_274, 15_304], [3.17e-3, 19.8e-3], 9 * 40), [0.46, 0.84], rtol=0.01)


def test_busy_cores_are_the_inverse_of_capacity():
    capacity = decode_samples_per_s(40, 3.2e-3)
    assert_allclose(cpu_utilization_fraction(capacity, 3.2e-3, 40), 1.0, rtol=1e-12)
    assert_allclose(decode_samples_per_s(40, 3.2e-3, 0.5), capacity / 2, rtol=1e-12)


def test_decoded_tensors_never_limit():
    assert np.isinf(decode_samples_per_s(40, 0.0))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: core_seconds_per_sample(0, 1e-3, 1e-8), "sample_bytes"),
        (lambda: core_seconds_per_sample(1e5, -1e-3, 1e-8), "fixed_core_s"),
        (lambda: decode_samples_per_s(0, 1e-3), "n_cores"),
        (lambda: decode_samples_per_s(40, 1e-3, 1.2), "usable_fraction"),
        (lambda: cpu_utilization_fraction(-1, 1e-3, 40), "samples_per_s"),
    ],
)
def test_bad_arguments_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
