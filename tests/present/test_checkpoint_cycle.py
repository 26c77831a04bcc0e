"""The chart of one checkpoint and one failure: its bars add up to the cost that its title states."""

import pytest

from sizer.base.quantities import duration
from sizer.perf.availability.goodput import checkpoint_plan
from sizer.present.availability import cycle_chart, cycle_finding
from tests.present.chart_cases import rows


@pytest.mark.parametrize("copy_s", [5.0, None])
def test_what_an_interruption_costs_is_the_sum_of_its_bars(copy_s):
    """988 GB at 3.29 GB/s take 300 s each way; half an interval is lost, and what was done while it was written."""
    plan = checkpoint_plan(448, 988e9, 988e9 / 300, 988e9 / 300, copy_s=copy_s)
    bars = rows(cycle_chart(plan, waits=copy_s is None), "from")
    lengths = [float(bar["to"]) - float(bar["from"]) for bar in bars]
    a_second = lengths[0] / plan.interval_s  # the axis is in minutes or hours
    lost_s = plan.interval_s / 2 + (0.0 if copy_s is None else 300.0)
    assert lengths[3] == pytest.approx(lost_s * a_second, rel=1e-6)
    assert duration(sum(lengths[3:]) / a_second) in cycle_finding(plan)
