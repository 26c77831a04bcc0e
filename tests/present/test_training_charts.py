"""Charts on failures, epochs and time to train: numbers by hand, findings as titles, None for nothing."""

from dataclasses import replace

import numpy as np

from sizer.perf.stage_capacity import Capacity
from sizer.present.workload_charts import cold_limit
from sizer.sizing.design.workload_figures import cold_limit as limit_of_cold_epoch
from sizer.sizing.result import WorkloadAnswer
from tests import factories
from tests.present.chart_cases import first


def slow_at_first() -> WorkloadAnswer:
    """An answer whose first epoch takes 1.4 times as long as the others."""
    answer, _ = first("nine_dgx1")
    cold = factories.spread(1.4 * float(answer.time.epoch_s.value), 0.2)
    return replace(answer, time=replace(answer.time, first_epoch_s=cold))


def test_what_holds_up_a_cold_epoch():
    """Storage of 60,000 images/s cold holds up a cold rate of 60,000; where it could pass far more, the way to it."""
    assert limit_of_cold_epoch(Capacity.exact(np.array([60e3])), 60e3) == "storage"
    assert limit_of_cold_epoch(Capacity.exact(np.array([240e3])), 60e3) == "network"
    answer = slow_at_first()
    assert cold_limit(answer) == answer.time.cold_limit
    even = replace(answer, time=replace(answer.time, first_epoch_s=answer.time.epoch_s))
    assert cold_limit(even) == answer.bottleneck
