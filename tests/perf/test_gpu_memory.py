"""Memory of a GPU: state, need, probability of a fit and largest batch, against hand arithmetic and limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer.perf.gpu_memory import (
    MOMENT_BYTES,
    SHARED_WEIGHT_BYTES,
    fit_probability,
    largest_batch,
    needed_bytes,
    training_state_bytes,
)

sizes = st.floats(1e8, 1e11)
spreads = st.floats(0.05, 1.5)
batches = st.integers(1, 100_000)


def test_state_of_gpt2_is_that_of_the_zero_paper():
    """Rajbhandari et al., SC20, section 3.1: mixed-precision Adam holds 16 bytes a parameter, 24 GB for 1.5 G of them.

    Divided over 8 GPUs, table 1: 2 + 2 bytes of weights and gradients and 12/8 bytes of optimizer, 5.5 x 1.5e9.
    """
    whole, divided = training_state_bytes(1.5e9, 2), 1.5e9 * (SHARED_WEIGHT_BYTES + 2 * MOMENT_BYTES)
    assert_allclose(whole, 24e9, rtol=1e-12)
    assert_allclose(whole - divided + divided / 8, 8.25e9, rtol=1e-12)


def test_momentum_holds_one_number_less_than_adam():
    """25.6 M parameters of ResNet-50: 12 bytes each with momentum, 16 with Adam."""
    assert_allclose(training_state_bytes(25.6e6, [1, 2]), [307.2e6, 409.6e6], rtol=1e-12)


def test_need_is_the_sum_of_its_parts():
    """5.4 GB of state, 1.1 GB of context and 10 samples of 1.2 GB: 18.5 GB."""
    assert_allclose(needed_bytes(5.4e9, 1.1e9, 10, 1.2e9), 18.5e9, rtol=1e-12)


def test_half_of_the_draws_fit_where_the_median_need_is_the_memory():
    """16 GB less 6 GB leave room for 5 samples of 2 GB; a third of a deviation more room is Phi(1/3) = 0.6306."""
    assert_allclose(fit_probability(16e9, 5e9, 1e9, 5, 2e9, 0.3), 0.5, atol=1e-12)
    assert_allclose(fit_probability(6e9 + 10e9 * np.exp(0.1), 5e9, 1e9, 5, 2e9, 0.3), 0.6306, atol=1e-4)


def test_nothing_fits_where_the_state_alone_does_not():
    assert fit_probability(16e9, 24e9, 1e9, 1, 1e6, 0.3) == 0
    assert largest_batch(16e9, 24e9, 1e9, 1e6, 0.3) == 0


def test_largest_batch_by_hand():
    """Room for 13 samples of 2 GB at the median; 1.2816 deviations of 0.3 leave 13/1.4688 = 8.85."""
    assert largest_batch(32e9, 5e9, 1e9, 2e9, 0.3) == 8


@given(memory=sizes, state=sizes, sample=st.floats(1e5, 1e10), sd=spreads, batch=batches, more=batches)
def test_a_bigger_batch_needs_more_and_fits_less(memory, state, sample, sd, batch, more):
    few, many = needed_bytes(state, 1e9, [batch, batch + more], sample)
    assert many > few
    first, second = fit_probability(memory, state, 1e9, [batch, batch + more], sample, sd)
    assert second <= first


@given(memory=sizes, grown=sizes, state=sizes, sample=st.floats(1e5, 1e10), sd=spreads)
def test_a_larger_gpu_takes_what_a_smaller_one_takes(memory, grown, state, sample, sd):
    small, large = largest_batch([memory, memory + grown], state, 1e9, sample, sd)
    assert large >= small


@given(memory=sizes, state=sizes, sample=st.floats(1e6, 1e10), sd=spreads)
def test_largest_batch_is_the_last_that_fits(memory, state, sample, sd):
    batch = float(largest_batch(memory, state, 1e9, sample, sd))
    if batch:
        assert fit_probability(memory, state, 1e9, batch, sample, sd) >= 0.9 - 1e-9
    # One part in 1e9 of rounding may move a batch that fits exactly.
    assert fit_probability(memory, state, 1e9, (batch + 1) * (1 + 1e-9), sample, sd) <= 0.9 + 1e-9


@pytest.mark.parametrize("wrong", [{"batch": 0}, {"sample_bytes": 0.0}, {"sample_log_sd": 0.0}, {"memory_bytes": -1.0}])
def test_bad_arguments_are_named(wrong):
    good = {"memory_bytes": 16e9, "state_bytes": 1e9, "fixed_bytes": 1e9, "batch": 1, "sample_bytes": 1e9}
    with pytest.raises(ValueError, match=next(iter(wrong))):
        fit_probability(**{**good, "sample_log_sd": 0.3, **wrong})
