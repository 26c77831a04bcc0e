"""Erlang's formulas against printed tables, textbook examples, hand calculation and the sums of their definition."""

from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sizer.perf.queueing import erlang_b
from tests.factories.erlang import erlang_c, mean_wait_s, waits_longer_probability

# Load that so many channels carry with 2 % blocked.
CHANNELS = (3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43, 47, 49, 51, 53, 55, 57, 59)
LOAD_2_PERCENT = (
    *(0.602, 1.657, 2.935, 4.345, 5.842, 7.402, 9.010, 10.656, 12.333, 14.036, 15.761, 17.505, 19.265, 21.039),
    *(22.827, 24.628, 26.435, 28.254, 30.081, 31.915, 33.758, 37.462, 39.323, 41.189, 43.060, 44.938, 46.816, 48.700),
)


def test_blocking_agrees_with_a_printed_table():
    """WirelessU, "Read an Erlang Table", Erlang B capacity table for 2 % blocking (garywagoner.tripod.com/traffic)."""
    # The loads are printed to 0.001 erlang; the steepest entry (3 channels) then stands for 2e-5 of blocking.
    assert_allclose(erlang_b(CHANNELS, LOAD_2_PERCENT), 0.02, atol=2.5e-5)


def test_blocking_agrees_with_a_printed_example():
    """Westbay Engineers, Erlang B manual (erlang.com): 15 lines carry 8.108 erlangs at 1 % blocked."""
    assert float(erlang_b(15, 8.108)) == pytest.approx(0.01, abs=2e-6)  # 8.108 has four digits


def test_waiting_agrees_with_the_textbook_hospital():
    """Hillier and Lieberman, "Introduction to Operations Research", county hospital: 2 patients and 3 cures an hour.

    One doctor: P(W > 0, 1/2, 1 h) = 0.667, 0.404, 0.245 and 2/3 h mean wait; two: 0.167, 0.022 (0.0226), 0.003, 1/24 h.
    """
    stay_s = 3600 / 3
    for doctors, late in ((1, [0.667, 0.404, 0.245]), (2, [0.167, 0.0226, 0.003])):
        found = [waits_longer_probability(doctors, 2 / 3, stay_s, wait_s) for wait_s in (0.0, 1800.0, 3600.0)]
        assert_allclose(found, late, atol=5e-4)
    assert_allclose([mean_wait_s(n, 2 / 3, stay_s) for n in (1, 2)], [2400.0, 150.0], rtol=1e-12)


def test_waiting_agrees_with_a_printed_call_centre():
    """I. Tanner, "The Erlang-C formula" (mitan.co.uk): 360 calls in half an hour, 4 minutes each, 55 agents.

    23.9 % wait, 8.2 s on average.
    """
    assert float(erlang_c(55, 48.0)) == pytest.approx(0.239, abs=5e-4)
    assert float(mean_wait_s(55, 48.0, 240.0)) == pytest.approx(8.2, abs=0.05)


@pytest.mark.parametrize(
    ("places", "load", "share"), [(1, 0.3, 0.3), (2, 1.0, 1 / 3), (3, 2.0, 4 / 9), (3, 1.0, 1 / 11)]
)
def test_waiting_by_hand(places, load, share):
    assert float(erlang_c(places, load)) == pytest.approx(share, rel=1e-12)


@given(places=st.integers(1, 25), busy=st.floats(0.01, 0.99))
def test_blocking_agrees_with_its_definition(places, busy):
    load = busy * places
    terms = [load**n / factorial(n) for n in range(places + 1)]
    assert float(erlang_b(places, load)) == pytest.approx(terms[-1] / sum(terms), rel=1e-9)


def test_blocking_at_the_ends():
    assert float(erlang_b(20_000, 1.0)) == 0.0
    assert_allclose(erlang_b([0, 1], 0.0), [1.0, 0.0])


@pytest.mark.parametrize(("places", "load"), [(3, 50.0), (1, 1e6), (400, 9_000.0), (9_000, 8_000.0), (5_000, 20_000.0)])
def test_blocking_agrees_with_the_recursion_also_where_the_closed_form_is_too_small(places, load):
    """Jagerman 1974: 1/B(c, a) = 1 + c/a * 1/B(c - 1, a), of positive terms only."""
    inverse = 1.0
    for count in range(1, places + 1):
        inverse = 1 + count / load * inverse
    assert float(erlang_b(places, load)) == pytest.approx(1 / inverse, rel=1e-10)  # logarithms of 1e4 to 1e5 cancel


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: erlang_b(-1, 1.0), "n_places"),
        (lambda: erlang_b(1, -1.0), "load"),
    ],
)
def test_an_argument_out_of_range_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
