"""Charts on storage, doubt and the shape of a training: numbers by hand, findings as titles, None for nothing."""

from typing import Any

import numpy as np
import pytest

from sizer.drawings.palette import LIGHT
from sizer.perf.stage_capacity import Capacity
from sizer.present.charting import Chart, chart_svg
from sizer.present.workload_charts import workload_chart
from sizer.questions.what_if.charts import tornado_chart
from sizer.questions.what_if.sensitivity import Influence, Sensitivity
from sizer.sizing.design.workload_figures import cold_limit as limit_of_cold_epoch
from sizer.sizing.result import SizingResult
from tests.factories.examples import EXAMPLES, most_in, sized
from tests.present.chart_cases import UNIT, marks, rows, texts, title


def influence(label: str, low: float, high: float, stage: str = "gpu", **more: Any) -> Influence:
    fields: dict[str, Any] = {
        "key": label,
        "label": label,
        "stage": stage,
        "low_text": f"low {label}",
        "high_text": f"high {label}",
        "low": low,
        "high": high,
        "low_servers": None,
        "high_servers": None,
        "basis": "made by hand",
    }
    return Influence(**{**fields, **more})


def sensitivity(*influences: Influence, base: float = 1000.0, **more: Any) -> Sensitivity:
    fields: dict[str, Any] = {"workload": "one", "metric": "samples/s", "base": base, "target": 900.0}
    return Sensitivity(**{**fields, **more}, influences=influences)


def charts(result: SizingResult) -> dict[str, Chart | None]:
    names = ("stage", "scaling", "accuracy", "step", "memory", "load", "serving-memory")
    works = enumerate(result.design.workloads)
    return {f"{name} {n}": workload_chart(name, one, result.design.n_gpus) for n, one in works for name in names}


@pytest.mark.parametrize("name", most_in("guides", EXAMPLES))
def test_charts_of_the_examples_say_their_finding_and_draw_it(name):
    result = sized(name)
    drawn = {name: chart for name, chart in charts(result).items() if chart is not None}
    assert len(drawn) >= 2 * len(result.design.workloads)
    for name, chart in drawn.items():
        svg = chart_svg(chart)
        assert title(chart), name
        for line in chart.to_dict(validate=False)["title"]["text"]:
            assert line in svg.replace("&lt;", "<"), (name, line)
        assert "nan" not in svg.lower().replace("inance", ""), name
        assert "url(#" not in svg.replace("url(#c", ""), name  # clips only, under names of their own
        assert "linearGradient" not in svg
        assert svg.count("<path") >= 3, name


def test_tornado_by_hand():
    one = influence("Rate of the GPUs", 800, 1300)
    other = influence("Read rate of the storage", 950, 1000, "storage")
    third = influence("Epochs", 990, 1010, "")
    chart = tornado_chart(sensitivity(one, other, third), UNIT)
    assert title(chart) == "Rate of the GPUs moves the result most, from 800 images/s to 1 300 images/s"
    bars = rows(chart, "base")
    assert len(bars) == 6
    assert [(row["at"], row["side"]) for row in bars[:2]] == [(800, "left"), (1300, "right")]
    assert {row["base"] for row in bars} == {1000}
    assert bars[0]["text"] == "low Rate of the GPUs"
    assert bars[0]["colour"] == LIGHT.stages["gpu"]
    assert bars[2]["colour"] == LIGHT.stages["storage"]
    assert bars[4]["colour"] == LIGHT.other  # belongs to no stage
    assert "target 900" in texts(chart)
    assert any(mark.get("strokeDash") for mark in marks(chart))


def test_what_holds_up_a_cold_epoch():
    """Storage of 60,000 images/s cold holds up a cold rate of 60,000; where it could pass far more, the way to it."""
    assert limit_of_cold_epoch(Capacity.exact(np.array([60e3])), 60e3) == "storage"
    assert limit_of_cold_epoch(Capacity.exact(np.array([240e3])), 60e3) == "network"
