"""What reads or moves nothing has no limit, and no number stands for it."""

import numpy as np

from sizer.perf.pipeline import StorageSide, network_stage, storage_stage
from sizer.perf.stage_capacity import Capacity


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
