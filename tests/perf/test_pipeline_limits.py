"""The pipeline of a training: stages, their limits, and a lost path."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.perf.pipeline import StorageSide, network_stage, storage_stage
from sizer.perf.stage_capacity import Capacity, throughput
from sizer.perf.storage import mount_capacity, nodes_needed, read_capacity


def test_a_lost_path_carries_nothing_and_one_that_is_there_is_not_limited_by_what_reads_nothing():
    rates = np.array([0.0, 1e9])
    side = StorageSide(Capacity.exact(rates), Capacity.exact(rates), rates, np.full(2, np.inf), rates)
    for stage in (storage_stage(side, 1e5, 1.0), network_stage(side, 1e5, 1.0, 0.0)):
        assert stage.median.tolist() == [0.0, np.inf]


def side() -> StorageSide:
    read = Capacity.between(np.array([1e9, 1e9]), np.array([2e9, 2e9]))
    ports = np.array([1e10, 1e10])
    return StorageSide(read, Capacity.exact(np.array([np.inf, np.inf])), ports, np.array([np.inf, np.inf]), ports)


def test_a_stage_that_reads_nothing_is_not_limited():
    """Half of 100 kB from storage of 1 to 2 GB/s: 2e4 sqrt(2) samples/s in the middle; nothing: no limit."""
    found = storage_stage(side(), 1e5, np.array([0.5, 1.0]))
    np.testing.assert_allclose(found.median, [2e4 * np.sqrt(2), np.inf])
    assert found.probability_at_least(np.array([1e12, 1e12])).tolist() == [0.0, 1.0]


def test_ports_carry_the_exchange_where_nothing_is_read():
    assert network_stage(side(), 1e5, 1.0, np.array([0.0, 1e3])).median.tolist() == [np.inf, 1e7]


def test_log_normal_quantiles_are_those_of_the_normal_distribution() -> None:
    """Tables of the normal distribution: the 5 % quantile lies 1.6449 standard deviations below the median."""
    stage = Capacity.log_normal([100.0], [0.1])
    assert_allclose(stage.quantile(0.05), 100 * np.exp(-0.16449), rtol=1e-4)
    assert_allclose(stage.probability_at_least(100.0), 0.5)


def test_log_uniform_lies_between_its_ends() -> None:
    stage = Capacity.between([2.49], [3.75])
    assert_allclose(stage.quantile([0.0, 0.5, 1.0]), [2.49, np.sqrt(2.49 * 3.75), 3.75])
    assert stage.probability_at_least(2.49)[0] == pytest.approx(1.0)
    assert stage.probability_at_least(3.76)[0] == 0.0


def test_throughput_is_the_median_of_the_smallest_by_simulation() -> None:
    """Brute force: 400,000 draws of the smallest of three stages; the sampling error of a quantile is below 0.3 %."""
    stages = [
        Capacity.log_normal([100.0], [0.1]),
        Capacity.log_normal([105.0], [0.2]),
        Capacity.between([95.0], [140.0]),
    ]
    rng = np.random.default_rng(7)
    n = 400_000
    draws = np.min(
        [
            100 * np.exp(0.1 * rng.standard_normal(n)),
            105 * np.exp(0.2 * rng.standard_normal(n)),
            95 * (140 / 95) ** rng.random(n),
        ],
        axis=0,
    )
    found = throughput(stages)
    assert_allclose([found.low[0], found.value[0], found.high[0]], np.quantile(draws, [0.05, 0.5, 0.95]), rtol=3e-3)
    together = np.prod([stage.probability_at_least(90.0) for stage in stages])
    assert_allclose(together, (draws >= 90.0).mean(), atol=3e-3)


def test_an_unused_stage_bounds_nothing() -> None:
    gpu = Capacity.log_normal([100.0], [0.1])
    unused = Capacity.exact([np.inf])
    assert_allclose(throughput([gpu, unused]).value, throughput([gpu]).value, rtol=1e-9)


def test_eight_f800_nodes_give_what_they_demonstrated() -> None:
    """Isilon and DGX-1, 2018: eight nodes served 19,895 MB/s, so that eight are enough with certainty."""
    assert read_capacity(8, 19.895e9 / 8, 3.75e9, 10e9).probability_at_least(19.895e9) == pytest.approx(1.0)
    assert nodes_needed(0.999, 10e9, (19.895e9, 19.895e9 / 8, 3.75e9)) == 8
    # By hand: at even odds a node gives sqrt(2.487 x 3.75) = 3.054 GB/s, and 19.895 / 3.054 = 6.5.
    assert nodes_needed(0.5, 10e9, (19.895e9, 19.895e9 / 8, 3.75e9)) == 7


def test_nodes_needed_is_the_smallest_count() -> None:
    for rate in (1e9, 7.3e9, 55e9):
        for confidence in (0.5, 0.8, 0.95):
            nodes = float(nodes_needed(confidence, 5e9, (rate, 2e9, 4e9)))
            assert read_capacity(nodes, 2e9, 4e9, 5e9).probability_at_least(rate) >= confidence - 1e-9
            assert read_capacity(nodes - 1, 2e9, 4e9, 5e9).probability_at_least(rate) < confidence


def test_a_confidence_above_one_cannot_be_met() -> None:
    assert np.isinf(nodes_needed(1.2, 5e9, (1e9, 2e9, 4e9)))


def test_the_line_rate_caps_a_node_and_mounts_add_up() -> None:
    assert float(read_capacity(2, 6e9, 8e9, 5e9).median) == pytest.approx(10e9)
    # DGX-1 test: 9 servers x 16 mounts at 1 to 1.5 GB/s are far above the 19.9 GB/s read.
    assert float(mount_capacity(9, 16, 1e9, 1.5e9).quantile(0.0)) == pytest.approx(144e9)
