"""Charts on storage, doubt and the shape of a training: numbers by hand, findings as titles, None for nothing."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sizer.base.estimate import Estimate
from sizer.drawings.palette import LIGHT
from sizer.guide.engineer.data import demand_chart, ladder_chart
from sizer.perf.stage_capacity import Capacity
from sizer.physical.capacity import CapacityStep, capacity_ladder
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.present.charting import Chart, chart_svg
from sizer.present.workload_charts import accuracy_chart, cold_limit, epoch_chart
from sizer.questions.what_if.charts import tornado_chart
from sizer.questions.what_if.sensitivity import Influence, Sensitivity
from sizer.sizing.design.workload_figures import cold_limit as limit_of_cold_epoch
from sizer.sizing.result import SizingResult, WorkloadAnswer
from tests import factories
from tests.factories.examples import EXAMPLES, catalog, most_in, sized
from tests.present.chart_cases import UNIT, first, marks, plain, rows, texts, title


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
    design = result.design
    found: dict[str, Chart | None] = {}
    steps = capacity_ladder(design.platform.storage, design.platform.capacity_option, design.storage_nodes)
    found["ladder"] = ladder_chart(steps, design.workloads[0].dataset_bytes)
    for number, answer in enumerate(design.workloads):
        found[f"demand {number}"] = demand_chart(answer, design)
        found[f"epoch {number}"] = epoch_chart(answer)
        found[f"accuracy {number}"] = accuracy_chart(answer)
    return found


def stated(text):
    return PlanNote(PlanNoteKind.STATED, (text,))


@pytest.mark.parametrize("name", most_in("guides", EXAMPLES))
def test_charts_of_the_examples_say_their_finding_and_draw_it(name):
    result = sized(name)
    drawn = {name: chart for name, chart in charts(result).items() if chart is not None}
    assert len(drawn) >= 1 + len(result.design.workloads) - (result.design.platform.storage.id == "hnas")
    for name, chart in drawn.items():
        svg = chart_svg(chart)
        assert title(chart), name
        for line in chart.to_dict(validate=False)["title"]["text"]:
            assert line in svg.replace("&lt;", "<"), (name, line)
        assert "nan" not in svg.lower().replace("inance", ""), name
        assert "url(#" not in svg.replace("url(#c", ""), name  # clips only, under names of their own
        assert "Gradient" not in svg
        assert svg.count("<path") >= 3, name


def test_demand_by_hand():
    """One C4140 reads 2,940 images/s x 115,154 B = 338.6 MB/s; four F800 nodes gave 4 x 2.487 = 9.95 GB/s: 3.4 %."""
    answer, design = first("one_c4140")
    rate = Estimate.exact(338.55e6)
    chart = demand_chart(replace(answer, storage_bytes_per_s=rate, cold_storage_bytes_per_s=rate), design)
    assert "339 MB/s, 3.4 %" in title(chart)
    found = {row["name"]: row for row in rows(chart, "fill")}
    # In GB/s: 4 x 3.75 of the vendor, 4 ports of 40 Gbit/s, and three FDR uplinks of 54.5 Gbit/s of the gateway.
    for name, value in (
        ("Demonstrated", 9.948),
        ("Published maximum", 15.0),
        ("Line rate of its ports", 20.0),
        ("Uplinks of the gateway", 20.4375),
        ("Read in every epoch", 0.33855),
    ):
        assert found[name]["to"] == pytest.approx(value, rel=1e-4), name
    assert plain(found["Demonstrated"]["text"]) == "9.95 GB/s = 4 × 2.49 GB/s"
    assert found["Demonstrated"]["fill"] > found["Published maximum"]["fill"] > found["Line rate of its ports"]["fill"]


def test_ladder_by_hand():
    """96 TB raw, a quarter for protection: 72 TB; 22.2 TB of data are 31 % of it."""
    steps = [
        CapacityStep("raw", 96e12, stated("60 x 1.6 TB"), "published", "a"),
        CapacityStep("protection", 72e12, stated("+2d:1n takes 25%"), "published", "a"),
        CapacityStep("usable", 72e12, stated("what is left"), "derived", ""),
    ]
    chart = ladder_chart(steps, 22.2e12)
    assert title(chart) == "72.0 TB of 96.0 TB are usable; the data set needs 31 % of it"
    bars = [(row["from"], row["to"]) for row in rows(chart, "note")]
    assert bars == [(0.0, 96.0), (72.0, 96.0), (0.0, 72.0)]
    assert [plain(row["text"]) for row in rows(chart, "note")] == ["96.0 TB", "\u2212 24.0 TB", "72.0 TB"]
    (line,) = rows(chart, "at")
    assert line["at"] == pytest.approx(22.2)
    assert "data set 22.2 TB" in plain(line["text"])


@pytest.mark.parametrize("nodes", [6, 20])
def test_every_step_of_the_ladder_starts_where_the_one_above_ends(nodes):
    steps = capacity_ladder(catalog().storage["wekaio"], 0, nodes)
    found = rows(ladder_chart(steps, 1e12), "note")
    assert [row["name"] for row in found] == ["Raw", "Hot spare", "Protection", "Reserve", "Usable"]
    assert found[1]["to"] == found[0]["to"]
    for above, below in pairwise(found[1:]):
        assert below["to"] == pytest.approx(above["from"])


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
