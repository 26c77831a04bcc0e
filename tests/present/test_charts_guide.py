"""Charts on storage, doubt and the shape of a training: numbers by hand, findings as titles, None for nothing."""

import numpy as np
import pytest

from sizer.drawings.palette import LIGHT
from sizer.perf.stage_capacity import Capacity
from sizer.present.charting import Chart, band_chart, chart_svg
from sizer.present.serving_charts import serving_charts
from sizer.present.workload_charts import workload_data
from sizer.sizing.design.evaluate_design import cold_limit as limit_of_cold_epoch
from sizer.sizing.result import SizingResult
from tests.factories.examples import EXAMPLES, most_in, sized


def title(chart: Chart) -> str:
    """Finding of a chart."""
    return " ".join(chart.to_dict(validate=False)["title"]["text"])


def charts(result: SizingResult) -> dict[str, Chart]:
    design, found = result.design, {}
    for number, one in enumerate(design.workloads):
        data = [workload_data(name, one, design.n_gpus) for name in ("scaling", "accuracy")]
        data += serving_charts(design, one, result.request.ownership, with_cost=True)
        found |= {f"{each.id} {number}": band_chart(each, LIGHT) for each in data if each is not None}
    return found


@pytest.mark.parametrize("name", most_in("guides", EXAMPLES))
def test_charts_of_the_examples_say_their_finding_and_draw_it(name):
    result = sized(name)
    drawn = charts(result)
    assert len(drawn) >= len(result.design.workloads)
    for name, chart in drawn.items():
        svg = chart_svg(chart)
        assert title(chart), name
        for line in chart.to_dict(validate=False)["title"]["text"]:
            assert line in svg.replace("&lt;", "<"), (name, line)
        assert "nan" not in svg.lower().replace("inance", ""), name
        assert "url(#" not in svg.replace("url(#c", ""), name  # clips only, under names of their own
        assert "linearGradient" not in svg
        assert svg.count("<path") >= 3, name


def test_what_holds_up_a_cold_epoch():
    """Storage of 60,000 images/s cold holds up a cold rate of 60,000; where it could pass far more, the way to it."""
    assert limit_of_cold_epoch(Capacity.exact(np.array([60e3])), 60e3) == "storage"
    assert limit_of_cold_epoch(Capacity.exact(np.array([240e3])), 60e3) == "network"
