"""GPU step, and the rates with exchange that are built on it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer.perf.step_terms import SCALE_OUT, TERM_NAMES, StepTerms, drawn_terms, log_slopes
from sizer.perf.training_step import (
    InferenceRun,
    TrainingRun,
)

K = len(TERM_NAMES)
_TYPICAL = {
    "log_efficiency": np.log(0.2),
    "log_launch_s": np.log(0.01),
    "log_intra_bytes_per_s": np.log(60e9),
    "log_inter_share": np.log(0.7),
    "overlap_logit": -1.0,
    "log_straggler": np.log(0.01),
    "log_host_link_bytes_per_s": np.log(11e9),
    "log_run_ahead": -0.5,
    "log_fill": np.log(5.0),
    "log_scale_out": np.log(0.02),
}


def named(**values):
    """Terms by name, the others as usual."""
    return np.array([{**_TYPICAL, **values}[name] for name in TERM_NAMES])


VALUES = named()
RESNET50 = {"forward_flop": 8.18e9, "gradient_bytes": 51.2e6, "peak_flop_per_s": 125e12, "nic_bytes_per_s": 12.5e9}


def terms(values=VALUES, covariance=None, scatter=0.05):
    return StepTerms(values, np.zeros((K, K)) if covariance is None else covariance, np.array(scatter))


def trained(of, **arguments):
    return TrainingRun.of(**arguments).rate(of)


def inferred(of, **arguments):
    return InferenceRun.of(**arguments).rate(of)


def spread():
    root = np.random.default_rng(3).normal(size=(K, K)) * 0.1
    return root @ root.T


def test_step_of_a_hand_calculation():
    """3 x 8 GFLOP x (100 + 20) / (100 TFLOP/s x 0.24) = 0.12 s of arithmetic and 0.05 s to launch, q = 2: 0.13 s."""
    values = named(log_efficiency=np.log(0.24), log_launch_s=np.log(0.05), log_fill=np.log(20), log_run_ahead=0.0)
    one = {"n_gpus_per_server": 1, "n_servers": 1, "gradient_bytes": 1e8, "nic_bytes_per_s": 0.0}
    rate = trained(terms(values), batch_per_gpu=100, forward_flop=8e9, peak_flop_per_s=100e12, **one)
    assert_allclose(rate.compute.value, 100 / 0.13, rtol=1e-12)


def test_launches_that_run_ahead_cost_nothing_beside_arithmetic():
    """q = 1 adds the two, a large q takes the longer: 0.12 s against 0.05 s."""
    common = {"log_efficiency": np.log(0.24), "log_launch_s": np.log(0.05), "log_fill": np.log(20)}
    arguments = {**RESNET50, "forward_flop": 8e9, "peak_flop_per_s": 100e12}
    seconds = []
    for run_ahead in (-20.0, 5.0):
        rate = trained(
            terms(named(**common, log_run_ahead=run_ahead)),
            batch_per_gpu=100,
            n_gpus_per_server=1,
            n_servers=1,
            **arguments,
        )
        seconds.append(100 / rate.compute.value)
    assert_allclose(seconds, [0.17, 0.12], rtol=1e-6)


def test_forward_pass_is_a_third_of_a_training_step():
    """Backward passes cost twice the forward one: gradients of inputs and of weights. Launch time left out."""
    values = named(log_launch_s=np.log(1e-12))
    training = trained(terms(values), batch_per_gpu=64, n_gpus_per_server=1, n_servers=1, **RESNET50)
    inference = inferred(
        terms(values),
        batch_per_gpu=64,
        n_gpus_per_server=1,
        n_servers=1,
        forward_flop=8.18e9,
        peak_flop_per_s=125e12,
        input_bytes=1.0,
    )
    assert_allclose(inference.compute.value, 3 * training.compute.value, rtol=1e-6)


def test_host_link_of_the_source():
    """HPE: 10.5 GiB/s over one x16 link are 18,000 float images/s of 227 x 227 (hpe-dlbs, rounded to thousands)."""
    rate = inferred(
        terms(named(log_host_link_bytes_per_s=np.log(10.5 * 2**30))),
        batch_per_gpu=128,
        n_gpus_per_server=1,
        n_servers=1,
        forward_flop=1e6,
        peak_flop_per_s=125e12,
        input_bytes=3 * 227 * 227,
    )
    assert_allclose(rate.exchange, 18_000, rtol=0.02)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("batch_per_gpu", 0), ("forward_flop", -1.0), ("peak_flop_per_s", 0.0), ("n_servers", 0), ("gradient_bytes", -1)],
)
def test_bad_arguments_are_named(argument, value):
    good = {"batch_per_gpu": 1, "n_gpus_per_server": 8, "n_servers": 2, **RESNET50}
    with pytest.raises(ValueError, match=argument):
        trained(terms(), **{**good, argument: value})


def test_exchange_hides_behind_the_backward_pass():
    """Far below what hides it nearly nothing is exposed, far above all but the hidden part: max(0, x - k 2/3 t)."""
    arguments = {**RESNET50, "nic_bytes_per_s": np.array([1e13, 1e7])}
    rate = trained(terms(), batch_per_gpu=256, n_gpus_per_server=1, n_servers=2, **arguments)
    gpu = 512 / rate.compute.value
    exchange = 512 / rate.exchange
    step = 512 / rate.total.value / (1 + 0.02)
    hidden = 2 / 3 * gpu / (1 + np.exp(1.0))
    assert_allclose(step - gpu, [0.0, exchange[1] - hidden[1]], rtol=0.02, atol=1e-6)  # the corner is rounded


def counted(servers, batch):
    return TrainingRun.of(batch_per_gpu=batch, n_gpus_per_server=8, n_servers=servers, **RESNET50)


def test_slopes_of_a_sum_are_the_shares_of_its_parts():
    parts = np.random.default_rng(3).normal(size=(5, 4))
    shares = np.exp(parts) / np.exp(parts).sum(axis=-1, keepdims=True)
    found = log_slopes(lambda terms: np.log(np.exp(terms).sum(axis=-1)), parts)
    assert_allclose(found, shares, rtol=1e-6)  # a step of 1e-4 leaves 1e-8 of a third derivative


@pytest.mark.parametrize("servers", [1, 2, 40])
@pytest.mark.parametrize("batch", [4, 256])
def test_median_and_interval_are_those_of_random_draws(servers, batch):
    """200,000 random draws, of terms whose waiting is known to a factor of three. At the median 4 % of a standard
    deviation is 1.6 hundredths of a probability, at the ends of the interval 15 % of one is."""
    covariance = spread()
    covariance[SCALE_OUT, SCALE_OUT] += 1.0
    run, rng = counted(servers, batch), np.random.default_rng(8)
    drawn = rng.multivariate_normal(VALUES, covariance, 200_000)
    log_rates = np.log(run.samples_per_s(drawn)) + 0.05 * rng.standard_normal(200_000)
    rate = run.rate(terms(covariance=covariance)).total
    levels = np.quantile(log_rates, [0.5, 0.05, 0.95])
    assert_allclose(np.log([rate.value, rate.low, rate.high]), levels, atol=0.15 * np.std(log_rates))
    assert abs(np.log(rate.value) - levels[0]) < 0.04 * np.std(log_rates)


def test_draws_do_not_depend_on_the_signs_that_a_library_gives_directions(monkeypatch):
    found, eigh = drawn_terms(VALUES, spread()), np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda of: (eigh(of)[0], eigh(of)[1] * (-1.0) ** np.arange(K)))
    assert_allclose(drawn_terms(VALUES, spread()), found, rtol=1e-12)


def test_the_slow_end_is_the_longer_one():
    """Waiting between servers of 0.02 x 2 (1 - 1/40) = 3.9 %, e times as much at one standard deviation: at 1.645 it is
    0.039 e^1.645 = 20.2 % of a step, at -1.645 0.75 %. With nothing else uncertain the rate lies ln(1.202/1.039) =
    14.6 % below its median and ln(1.039/1.0075) = 3.1 % above."""
    covariance = np.zeros((K, K))
    covariance[SCALE_OUT, SCALE_OUT] = 1.0
    run = TrainingRun.of(batch_per_gpu=256, n_gpus_per_server=1, n_servers=40, **RESNET50)
    rate = run.rate(terms(covariance=covariance, scatter=0.0)).total
    assert_allclose(np.log(rate.value / rate.low), 0.146, rtol=0.1)
    assert_allclose(np.log(rate.high / rate.value), 0.031, rtol=0.1)


def test_one_gpu_needs_no_exchange():
    rate = trained(terms(), batch_per_gpu=64, n_gpus_per_server=1, n_servers=1, **{**RESNET50, "nic_bytes_per_s": 0.0})
    assert_allclose(rate.total.value, rate.compute.value, rtol=1e-12)
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
    rate = trained(terms(), batch_per_gpu=batch, **counts, **{**RESNET50, "nic_bytes_per_s": nic})
    assert (rate.compute.value[1:] > rate.compute.value[0]).all()
    assert (rate.total.value <= rate.compute.value * (1 + 1e-12)).all()  # rounding


def test_a_slower_host_link_bounds_inference():
    """8 GPUs with 2 links of 11 GB/s: 2 x 11e9 / (4 x 150,528) = 36,538 images/s, far below what the GPUs pass."""
    rate = inferred(
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


def test_terms_of_a_wrong_shape_are_refused():
    with pytest.raises(ValueError, match="terms must be"):
        StepTerms(np.zeros(3), np.zeros((3, 3)), np.array(0.0))


def test_parts_of_a_step_by_hand():
    """ResNet-50 on 2 x 4 GPUs: 2 (4-1)/4 x 51.2 MB at 60 GB/s inside, 2 (2-1)/2 of them at 0.7 x 12.5 between."""
    run = TrainingRun.of(batch_per_gpu=16, n_gpus_per_server=4, n_servers=2, **RESNET50)
    times = run.times(VALUES)
    assert_allclose(times.inside_s, 1.5 * 51.2e6 / 60e9 + 6 * 3.4e-6, rtol=1e-12)  # six steps of a ring of four
    assert_allclose(times.between_s, 51.2e6 / 8.75e9 + 2 * 9.6e-6, rtol=1e-12)  # up and down one level of a tree
    step = times.compute_s + times.exposed_s
    assert_allclose(times.waiting_s, step * (0.01 * 2 + 0.02), rtol=1e-12)  # two doublings inside, half leaves a server
    assert_allclose(8 * 16 / (step + times.waiting_s), run.samples_per_s(VALUES), rtol=1e-12)


def test_a_step_of_one_gpu_is_computation_alone():
    run = TrainingRun.of(**{**RESNET50, "batch_per_gpu": 16, "n_gpus_per_server": 1, "n_servers": 1})
    times = run.times(VALUES)
    assert (times.inside_s, times.between_s, times.exposed_s, times.waiting_s) == (0, 0, 0, 0)
