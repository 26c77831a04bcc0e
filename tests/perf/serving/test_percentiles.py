"""Ratios of percentiles to means: the published ones, and between them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.perf.serving.percentiles import TPOT_RATIOS, TTFT_RATIOS, queue_wait


def test_published_ratios():
    """183 runs of MLPerf Inference: first token 0.93, 1.55 and 2.3 at 50, 90 and 99 %; time per token 1.09 and 1.17."""
    assert_allclose(TTFT_RATIOS.at([50, 90, 99])[0], [0.93, 1.55, 2.3], rtol=1e-6)
    assert_allclose(TPOT_RATIOS.at([90, 99])[0], [1.09, 1.17], rtol=1e-6)


@pytest.mark.parametrize("ratios", [TTFT_RATIOS, TPOT_RATIOS])
def test_higher_percentiles_are_longer_and_less_certain(ratios):
    ratio, log_sd = ratios.at(np.linspace(50, 99.9, 40))
    assert (np.diff(ratio) > 0).all()
    assert (np.diff(log_sd) >= 0).all()


@pytest.mark.parametrize("percentile", [0, 49, 100, np.nan])
def test_percentiles_that_are_none(percentile):
    with pytest.raises(ValueError, match="percentile"):
        TTFT_RATIOS.at(percentile)


@pytest.mark.parametrize("busy", [0.1, 0.432, 0.7])
def test_waits_are_those_of_simulated_arrivals(busy):
    """Lindley's recursion with services of 1 and arrivals at random."""
    gaps = np.random.default_rng(1).exponential(1 / busy, 300_000)
    moved = np.cumsum(1 - gaps)
    waits = moved - np.minimum.accumulate(np.minimum(moved, 0))
    mean, tail = queue_wait([90, 95, 99], busy)
    assert_allclose(mean, waits.mean(), rtol=0.05)
    assert_allclose(tail, np.percentile(waits, [90, 95, 99]), rtol=0.05, atol=0.06)


def test_hardly_any_load_waits_for_nothing():
    with np.errstate(all="raise"):
        mean, tail = queue_wait([50, 95, 99.9], [0.0, 1e-7, 1e-5])
    assert_allclose([mean, tail], 0, atol=1e-4)
