"""GPU step, and the rates with exchange that are built on it."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer.perf.exchange import exposed_exchange_s, hierarchical_allreduce_time_s, straggler_factor
from sizer.perf.gpu import compute_time_s, gpu_step_time_s, host_to_gpu_samples_per_s
from sizer.perf.step import (
    HOST_LINK,
    INTER_HOP_S,
    INTRA_HOP_S,
    TERM_NAMES,
    StepTerms,
    inference_samples_per_s,
    training_samples_per_s,
)

K = len(TERM_NAMES)
VALUES = np.array([np.log(0.2), np.log(0.01), np.log(60e9), np.log(0.7), -1.0, np.log(0.01), np.log(11e9)])
RESNET50 = {"forward_flop": 8.18e9, "gradient_bytes": 51.2e6, "peak_flop_per_s": 125e12, "nic_bytes_per_s": 12.5e9}


def terms(values=VALUES, covariance=None, scatter=0.05):
    return StepTerms(values, np.zeros((K, K)) if covariance is None else covariance, np.array(scatter), ("a note",))


def spread():
    root = np.random.default_rng(3).normal(size=(K, K)) * 0.1
    return root @ root.T


def test_step_of_a_hand_calculation():
    """3 x 8 GFLOP x 100 / (100 TFLOP/s x 0.24) = 0.1 s, and 0.02 s to launch."""
    assert_allclose(compute_time_s(100, 8e9, 100e12, 0.24), 0.1, rtol=1e-12)
    assert_allclose(gpu_step_time_s(100, 8e9, 100e12, 0.24, 0.02), 0.12, rtol=1e-12)


def test_forward_pass_is_a_third_of_a_training_step():
    """Backward passes cost twice the forward one: gradients of inputs and of weights."""
    both = [compute_time_s(64, 8e9, 125e12, 0.3, passes=passes) for passes in (3.0, 1.0)]
    assert_allclose(both[0], 3 * both[1], rtol=1e-12)


def test_half_the_peak_rate_where_launch_equals_arithmetic():
    launch = compute_time_s(32, 8e9, 125e12, 0.3)
    limit = 32 / launch
    assert_allclose(32 / gpu_step_time_s(32, 8e9, 125e12, 0.3, launch), limit / 2, rtol=1e-12)


def test_host_link_of_the_source():
    """HPE: 10.5 GiB/s over one x16 link are 18,000 float images/s of 227 x 227 (hpe-dlbs, rounded to thousands)."""
    assert_allclose(host_to_gpu_samples_per_s(3 * 227 * 227, 1, 10.5 * 2**30), 18_000, rtol=0.02)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("batch_per_gpu", 0), ("forward_flop", -1.0), ("peak_flop_per_s", 0.0), ("efficiency_fraction", 1.5)],
)
def test_bad_arguments_are_named(argument, value):
    good = {"batch_per_gpu": 1, "forward_flop": 1e9, "peak_flop_per_s": 1e12, "efficiency_fraction": 0.5}
    with pytest.raises(ValueError, match=argument):
        compute_time_s(**{**good, argument: value})


def test_nan_is_refused():
    with pytest.raises(ValueError, match="launch_s"):
        gpu_step_time_s(1, 1e9, 1e12, 0.5, np.nan)


def test_training_rate_is_built_from_the_published_formulas():
    """The vectorised pass writes the parts out; the functions of gpu and exchange say the same."""
    servers = np.array([1, 2, 9, 130])
    rate = training_samples_per_s(terms(), batch_per_gpu=16, n_gpus_per_server=8, n_servers=servers, **RESNET50)
    compute = compute_time_s(16, 8.18e9, 125e12, 0.2)
    exchange = hierarchical_allreduce_time_s(51.2e6, 8, servers, 60e9, 12.5e9 * 0.7, INTRA_HOP_S, INTER_HOP_S)
    exposed = exposed_exchange_s(exchange, compute, 1 / (1 + np.exp(1.0)))
    step = (0.01 + compute + exposed) * straggler_factor(8 * servers, 0.01)
    assert_allclose(rate.total.value, 16 * 8 * servers / step, rtol=1e-12)
    assert_allclose(rate.compute.value, 16 * 8 * servers / (0.01 + compute), rtol=1e-12)
    assert_allclose(rate.exchange, 16 * 8 * servers / exchange, rtol=1e-12)
    assert rate.total.warnings == ("a note",)


@pytest.mark.parametrize("servers", [1, 2, 40])
@pytest.mark.parametrize("batch", [4, 256])
def test_interval_agrees_with_numerical_differences(servers, batch):
    covariance = spread()

    def log_rate(values):
        rate = training_samples_per_s(
            terms(values), batch_per_gpu=batch, n_gpus_per_server=8, n_servers=servers, **RESNET50
        )
        return np.log(rate.total.value)

    slope = [(log_rate(VALUES + 1e-5 * e) - log_rate(VALUES - 1e-5 * e)) / 2e-5 for e in np.eye(K)]
    expected = np.sqrt(slope @ covariance @ slope + 0.05**2)
    rate = training_samples_per_s(
        terms(covariance=covariance), batch_per_gpu=batch, n_gpus_per_server=8, n_servers=servers, **RESNET50
    )
    assert_allclose(rate.total.log_sd, expected, rtol=1e-6)  # central differences leave 1e-10, the kink is far away


def test_one_gpu_needs_no_exchange():
    rate = training_samples_per_s(
        terms(), batch_per_gpu=64, n_gpus_per_server=1, n_servers=1, **{**RESNET50, "nic_bytes_per_s": 0.0}
    )
    assert rate.total.value == rate.compute.value
    assert np.isinf(rate.exchange)
    assert rate.exposed_s == 0


@settings(deadline=None)
@given(
    gpus=st.integers(1, 16),
    servers=st.integers(1, 2000),
    batch=st.integers(1, 4096),
    nic=st.floats(1e8, 1e11),
)
def test_more_gpus_never_lower_the_compute_capacity(gpus, servers, batch, nic):
    counts = {
        "n_gpus_per_server": np.array([gpus, gpus + 1, gpus]),
        "n_servers": np.array([servers, servers, servers + 1]),
    }
    rate = training_samples_per_s(terms(), batch_per_gpu=batch, **counts, **{**RESNET50, "nic_bytes_per_s": nic})
    assert (rate.compute.value[1:] > rate.compute.value[0]).all()
    assert (rate.total.value <= rate.compute.value).all()


def test_a_slower_host_link_bounds_inference():
    """8 GPUs with 2 links of 11 GB/s: 2 x 11e9 / (4 x 150,528) = 36,538 images/s, far below what the GPUs pass."""
    rate = inference_samples_per_s(
        terms(),
        batch_per_gpu=128,
        n_gpus_per_server=8,
        n_servers=np.array([1, 2]),
        forward_flop=3e9,
        peak_flop_per_s=125e12,
        input_bytes=150_528,
    )
    assert_allclose(rate.total.value, [36_538, 73_076], rtol=1e-4)  # rounded to whole images
    assert (rate.compute.value > rate.total.value).all()
    assert set(rate.total_gradient) >= {HOST_LINK}


def test_terms_of_several_platforms_by_row():
    both = StepTerms.stack([terms(), terms(VALUES + np.array([0.1, 0, 0, 0, 0, 0, 0]))])
    arguments = {"batch_per_gpu": 64, "n_gpus_per_server": 1, "n_servers": 1, **RESNET50}
    rate = training_samples_per_s(both[np.array([0, 1, 1])], **arguments)
    assert rate.total.value.shape == (3,)
    assert rate.total.value[1] == rate.total.value[2] > rate.total.value[0]


def test_terms_of_a_wrong_shape_are_refused():
    with pytest.raises(ValueError, match="terms must be"):
        StepTerms(np.zeros(3), np.zeros((3, 3)), np.array(0.0))


def test_twenty_thousand_designs_take_milliseconds():
    """The search judges tens of thousands of rows per request; 30 ms were asked, three times that where others run."""
    servers = np.arange(20_000) % 500 + 1
    both = StepTerms.stack([terms(covariance=spread())] * 2)[np.arange(20_000) % 2]
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        training_samples_per_s(both, batch_per_gpu=256, n_gpus_per_server=8, n_servers=servers, **RESNET50)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.09
