"""A path that a loss took away carries nothing, also where a sample reads nothing."""

import numpy as np

from sizer.perf.pipeline import StorageSide, network_stage, storage_stage
from sizer.perf.stage_capacity import Capacity


def test_a_lost_path_carries_nothing_and_one_that_is_there_is_not_limited_by_what_reads_nothing():
    rates = np.array([0.0, 1e9])
    side = StorageSide(Capacity.exact(rates), Capacity.exact(rates), rates, np.full(2, np.inf), rates)
    for stage in (storage_stage(side, 1e5, 1.0), network_stage(side, 1e5, 1.0, 0.0)):
        assert stage.median.tolist() == [0.0, np.inf]
