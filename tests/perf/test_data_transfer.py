"""The data path: transfer and preprocessing."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer.perf.pipeline import core_seconds_per_sample, cpu_utilization_fraction, decode_samples_per_s
from sizer.perf.storage import break_even_epoch, fill_time_s, lost_fraction, needed_bytes

# Whole seconds: sums of them are exact, so that equal means equal.
SECONDS = st.integers(0, 500)


def by_stepping(copy: int, first_local: int, local: int, first_shared: int, shared: int, most: int) -> float:
    """First epoch count at which the copy has paid, by adding epoch after epoch."""
    here, there = copy + first_local, first_shared
    for epoch in range(1, most + 1):
        if here < there:
            return float(epoch)
        here, there = here + local, there + shared
    return np.inf


@given(copy=SECONDS, first_local=SECONDS, local=SECONDS, first_shared=SECONDS, shared=SECONDS)
def test_break_even_agrees_with_stepping_through_the_epochs(copy, first_local, local, first_shared, shared):
    # At 1 s gained an epoch the longest way back is copy + first epoch = 1,000 s.
    found = float(break_even_epoch(copy, first_local, local, first_shared, shared))
    assert found == by_stepping(copy, first_local, local, first_shared, shared, 1_100)


def test_a_copy_that_regains_its_time_exactly_has_not_paid_yet():
    """100 s of copy, 10 s gained by each epoch after the first: even after the 11th, ahead after the 12th."""
    assert float(break_even_epoch(100, 20, 20, 20, 30)) == 12


def test_fill_time_is_bytes_over_the_slowest_link():
    """22.2 TB behind one 40 GbE port (5 GB/s), three FDR links (6.8 GB/s) and a source of 1.25 GB/s."""
    assert float(fill_time_s(22.2e12, 5e9, 3 * 6.8125e9, 1.25e9)) == pytest.approx(17_760)
    assert_allclose(fill_time_s(10.0, [1.0, 2.0], np.inf), [10.0, 5.0])


@given(
    data=st.floats(0, 1e18),
    rates=st.lists(st.floats(1e3, 1e13), min_size=1, max_size=4),
    more=st.floats(1, 100),
    link=st.integers(0, 3),
)
def test_more_data_never_fill_sooner_and_a_faster_link_never_later(data, rates, more, link):
    assume(link < len(rates))
    before = float(fill_time_s(data, *rates))
    faster = [rate * more if place == link else rate for place, rate in enumerate(rates)]
    assert float(fill_time_s(data * more, *rates)) >= before
    assert float(fill_time_s(data, *faster)) <= before


@given(data=st.floats(0, 1e18), kept=st.floats(0, 1e15), shares=st.tuples(st.floats(0, 1), st.floats(0, 20)))
def test_what_is_kept_beside_the_data_never_makes_the_need_smaller(data, kept, shares):
    assert float(needed_bytes(data, kept, *shares)) >= float(needed_bytes(data, 0, 0, 0)) == data


def test_needed_bytes_by_hand():
    assert float(needed_bytes(100e12, 3e12, 0.2, 0.5)) == pytest.approx(173e12)


def test_checkpoints_take_no_more_than_all_of_the_time():
    assert_allclose(lost_fraction([18.0, 3600.0, 9999.0], 3600.0), [0.005, 1.0, 1.0])


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fill_time_s(1.0), "one link at least"),
        (lambda: fill_time_s(-1.0, 1.0), "data_bytes must be at least 0, got -1"),
        (lambda: fill_time_s(1.0, 0.0), "link_bytes_per_s must be above 0, got 0"),
        (lambda: lost_fraction(1.0, 0.0), "every_s must be above 0, got 0"),
        (lambda: break_even_epoch(-1.0, 0, 0, 0, 0), "copy_s must be at least 0, got -1"),
        (lambda: needed_bytes(1.0, 0.0, -0.1, 0.0), r"snapshot_share must be at least 0, got -0\.1"),
    ],
)
def test_a_wrong_argument_is_named(call, said):
    with pytest.raises(ValueError, match=said):
        call()


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


def test_decoded_tensors_never_limit():
    assert np.isinf(decode_samples_per_s(40, 0.0))


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: core_seconds_per_sample(0, 1e-3, 1e-8), "sample_bytes"),
        (lambda: core_seconds_per_sample(1e5, -1e-3, 1e-8), "fixed_core_s"),
        (lambda: decode_samples_per_s(0, 1e-3), "n_cores"),
        (lambda: cpu_utilization_fraction(-1, 1e-3, 40), "samples_per_s"),
    ],
)
def test_bad_arguments_are_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
