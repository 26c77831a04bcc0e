"""Charts on storage, doubt and the shape of a training: numbers by hand, findings as titles, None for nothing."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sizer.base.estimate import Estimate
from sizer.drawings.palette import BAND_OPACITY, DARK, LIGHT
from sizer.guide.storage_charts import demand_chart, ladder_chart
from sizer.physical.capacity import CapacityStep, capacity_ladder
from sizer.physical.notes import PlanNote, PlanNoteKind
from sizer.present.charting import Chart, broken, chart_svg, time_unit
from sizer.present.training_charts import accuracy_chart, cold_limit, design_gpus, epoch_chart
from sizer.questions.failures.analysis import FailureCase
from sizer.questions.failures.charts import failure_chart
from sizer.questions.failures.scenarios import FailureKey, WorkStops
from sizer.questions.what_if.charts import tornado_chart
from sizer.questions.what_if.sensitivity import Influence, Sensitivity
from sizer.sizing.result import DesignAnswer, SizingResult, WorkloadAnswer
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests import factories
from tests.drawings.test_drawings_plan import asked
from tests.factories.examples import catalog as shipped_catalog

EXAMPLES = sorted(Path("examples").glob("*.toml"))
UNIT = "images/s"


@cache
def sized(path: Path) -> SizingResult:
    return size(SizingRequest.from_file(path), shipped_catalog())


@cache
def by_hand(name: str) -> SizingResult:
    return factories.ALL[name]()


def first(name: str) -> tuple[WorkloadAnswer, DesignAnswer]:
    design = by_hand(name).design
    return design.workloads[0], design


def title(chart: Chart | None) -> str:
    """Finding of a chart, with plain spaces."""
    assert chart is not None
    return plain(" ".join(chart.to_dict(validate=False)["title"]["text"]))


def plain(text: str) -> str:
    return text.replace("\u202f", " ").replace("\u00a0", " ")


def tables(part: Any) -> Iterator[list[dict[str, Any]]]:
    """All data that a chart carries, in the order of its layers."""
    if isinstance(part, dict):
        for key, value in part.items():
            if isinstance(value, list) and value and isinstance(value[0], dict) and key not in ("layer", "tooltip"):
                yield value
            else:
                yield from tables(value)
    elif isinstance(part, list):
        for one in part:
            yield from tables(one)


def rows(chart: Chart | None, key: str) -> list[dict[str, Any]]:
    """Rows of the first data that have ``key``."""
    assert chart is not None
    return next(table for table in tables(chart.to_dict(validate=False)) if key in table[0])


def texts(chart: Chart | None) -> list[str]:
    """All texts that a chart draws beside its marks."""
    assert chart is not None
    found = [row.get("text", "") for table in tables(chart.to_dict(validate=False)) for row in table]
    return [plain(text) for text in found]


def marks(chart: Chart | None) -> list[dict[str, Any]]:
    assert chart is not None
    return [layer["mark"] for layer in chart.to_dict(validate=False)["layer"]]


def influence(label: str, low: float, high: float, stage: str = "gpu", **more: Any) -> Influence:
    fields: dict[str, Any] = {
        "key": label, "label": label, "stage": stage, "low_text": f"low {label}", "high_text": f"high {label}",
        "low": low, "high": high, "low_servers": None, "high_servers": None, "basis": "made by hand",
    }  # fmt: skip
    return Influence(**{**fields, **more})


def sensitivity(*influences: Influence, base: float = 1000.0, **more: Any) -> Sensitivity:
    fields: dict[str, Any] = {"workload": "one", "metric": "samples/s", "base": base, "target": 900.0}
    return Sensitivity(**{**fields, **more}, influences=influences)


def failure(key: FailureKey, share: float, rate: float = 1000.0) -> FailureCase:
    return FailureCase(key, WorkStops(), (rate * share,), (share,))


# --- all of them, for every example


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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_charts_of_the_examples_say_their_finding_and_draw_it(path):
    result = sized(path)
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


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_charts_take_both_palettes_and_the_width_of_their_place(palette):
    answer, design = first("nine_dgx1")
    steps = [
        CapacityStep("raw", 96e12, stated("one"), "published", ""),
        CapacityStep("usable", 72e12, stated("rest"), "derived", ""),
    ]
    for chart in (
        demand_chart(answer, design, palette, "container"),
        ladder_chart(steps, 1e12, palette, "container"),
        tornado_chart(sensitivity(influence("a", 800, 1200)), UNIT, palette, "container"),
        failure_chart([failure("server", 0.5)], 0, UNIT, palette, "container"),
        epoch_chart(answer, palette, "container"),
        accuracy_chart(answer, palette=palette, width="container"),
    ):
        assert chart is not None
        spec = chart.to_dict(validate=False)
        assert spec["width"] == "container"
        assert spec["config"]["background"] == palette.background


# --- storage


def test_demand_by_hand():
    """One C4140 reads 2,940 images/s x 115,154 B = 338.6 MB/s; four F800 nodes gave 4 x 2.487 = 9.95 GB/s: 3.4 %."""
    answer, design = first("one_c4140")
    chart = demand_chart(answer, design)
    assert "339 MB/s, 3.4 %" in title(chart)
    found = {row["name"]: row for row in rows(chart, "fill")}
    # In GB/s: 4 x 3.75 of the vendor, 4 ports of 40 Gbit/s, and the gateway of the design made by hand.
    for name, value in (("Demonstrated", 9.948), ("Published maximum", 15.0), ("Line rate of its ports", 20.0),
                        ("Uplinks of the gateway", 20.4), ("Read in every epoch", 0.33855)):  # fmt: skip
        assert found[name]["to"] == pytest.approx(value, rel=1e-4), name
    assert plain(found["Demonstrated"]["text"]) == "9.95 GB/s = 4 × 2.49 GB/s"
    assert found["Demonstrated"]["fill"] > found["Published maximum"]["fill"] > found["Line rate of its ports"]["fill"]


@pytest.mark.parametrize(
    ("need_gb", "said"),
    [
        (5.0, ("5.00 GB/s", "25 %")),  # of 8 x 2.487 = 19.9
        (19.9, ("19.9 GB/s", "all of")),
        (25.0, ("25.0 GB/s", "19.9 GB/s", "30.0 GB/s")),
        (31.0, ("31.0 GB/s", "more than the 30.0 GB/s")),
    ],
)
def test_finding_on_the_demand(need_gb, said):
    answer, design = first("nine_dgx1")
    rate = Estimate.exact(need_gb * 1e9)
    reads = replace(answer, storage_bytes_per_s=rate, cold_storage_bytes_per_s=rate)
    assert all(part in title(demand_chart(reads, design)) for part in said)


def test_a_cached_data_set_and_a_rate_that_nobody_gives():
    result = sized(Path("examples/small-team.toml"))
    chart = demand_chart(result.design.workloads[0], result.design)
    assert "of the line rate; HNAS has no published read rate" in title(chart)
    assert any(text.startswith("nothing") for text in texts(chart))
    assert len(rows(chart, "fill")) == 3


def test_local_drives_are_counted_by_the_server():
    """DGX-1 with its SSDs: 1.28 GB/s in each of two servers, no line rate."""
    design = asked(2, 0, storage="dgx1-ssd")
    found = rows(demand_chart(design.workloads[0], design), "fill")
    (rate,) = [row for row in found if row["name"] == "Published rate"]
    assert rate["to"] == pytest.approx(2.56)
    assert all("ports" not in row["name"] for row in found)


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


def test_ladder_at_its_ends():
    usable = CapacityStep("usable", 1e12, stated("as printed"), "published", "a")
    assert title(ladder_chart([usable], 2.5e12)) == "1.00 TB are usable; the data set needs 2.5 times as much"
    assert title(ladder_chart([usable], 1e6)) == "1.00 TB are usable; the data set needs hardly any of it"
    assert ladder_chart([], 1e12) is None


@pytest.mark.parametrize("nodes", [6, 20])
def test_every_step_of_the_ladder_starts_where_the_one_above_ends(nodes):
    steps = capacity_ladder(shipped_catalog().storage["wekaio"], 0, nodes)
    found = rows(ladder_chart(steps, 1e12), "note")
    assert [row["name"] for row in found] == ["Raw", "Hot spare", "Protection", "Reserve", "Usable"]
    assert found[1]["to"] == found[0]["to"]
    for above, below in pairwise(found[1:]):
        assert below["to"] == pytest.approx(above["from"])


# --- doubt


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


def test_a_lower_end_that_is_better_stands_on_the_right():
    """Half the size of a sample raises the rate."""
    chart = tornado_chart(sensitivity(influence("Size", 1400, 700)), UNIT)
    left, right = rows(chart, "base")
    assert (left["at"], left["text"]) == (700, "high Size")
    assert (right["at"], right["text"]) == (1400, "low Size")


def test_both_ends_on_one_side_are_named_apart():
    chart = tornado_chart(sensitivity(influence("Precision", 1000, 1900)), UNIT)
    left, right = rows(chart, "base")
    assert left["text_at"] <= 1000
    assert right["text_at"] == 1900
    chart = tornado_chart(sensitivity(influence("Precision", 1500, 1900)), UNIT)
    left, right = rows(chart, "base")
    assert left["text_at"] == 1000  # on the other side of the base


def test_servers_are_said_where_they_differ():
    one = influence("Rate", 800, 1300, low_servers=11, high_servers=9)
    same = influence("Batch", 900, 1100, low_servers=9, high_servers=9)
    chart = tornado_chart(sensitivity(one, same), UNIT)
    bars = rows(chart, "base")
    assert bars[0]["text"].endswith("\n11 servers")
    assert bars[1]["text"].endswith("\n9 servers")
    assert "server" not in bars[2]["text"]


def test_times_are_drawn_in_hours():
    """Base 10 h, from 8 to 20 h, target 24 h."""
    timed = sensitivity(influence("Epochs", 28_800, 72_000, ""), base=36_000.0, metric="s", target=86_400.0)
    chart = tornado_chart(timed, UNIT)
    assert title(chart) == "Epochs moves the result most, from 8.00 h to 20.0 h"
    assert [row["at"] for row in rows(chart, "base")] == [8, 20]
    assert "target 24.0 h" in texts(chart)


def test_nothing_that_matters_makes_no_tornado():
    assert tornado_chart(sensitivity(), UNIT) is None


def test_a_tornado_keeps_its_texts_on_the_page():
    """The axis goes beyond the bars by what their texts need."""
    long = "a text that is so long that it needs three lines of its own at the end of a bar"
    chart = tornado_chart(sensitivity(influence("A", 1, 1999, low_text=long, high_text=long)), UNIT)
    spec = chart.to_dict(validate=False)
    low, high = spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert low < -500
    assert high > 2500
    ticks = spec["layer"][0]["encoding"]["x"]["axis"]["values"]
    assert min(ticks) >= 0
    assert max(ticks) <= 2000
    assert all("…" not in row["text"] for row in rows(chart, "base"))


def test_failures_by_hand():
    cases = [failure("server", 0.9), failure("leaf", 0.0), failure("gpu", 1.0)]
    chart = failure_chart(cases, 0, UNIT)
    assert title(chart) == "One of 3 failures stops the work; the others retain at least 90 %"
    found = rows(chart, "share")
    assert [row["share"] for row in found] == [90, 0, 100]
    assert [plain(row["text"]) for row in found] == ["900 images/s · 90 %", "stops", "1 000 images/s · 100 %"]
    assert found[0]["fill"] > found[2]["fill"]


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((0.9, 0.75), "The worst single failure reduces throughput to 75 %"),
        ((1.0, 1.0), "No single failure reduces throughput"),
        ((0.0, 0.0), "Every single failure stops the work"),
        ((0.0, 0.0, 0.5), "2 of 3 failures stop the work; the others retain at least 50 %"),
    ],
)
def test_finding_on_failures(shares, said):
    assert (
        title(
            failure_chart(
                [failure(key, share) for key, share in zip(("server", "leaf", "gpu"), shares, strict=False)], 0, UNIT
            )
        )
        == said
    )


def test_no_failure_no_chart():
    assert failure_chart([], 0, UNIT) is None


# --- shape of a training


def test_epochs_by_hand():
    """The design made by hand: 1,281,167 images at 52,100/s or so; the first epoch takes 1.4 times as long."""
    answer, _ = first("nine_dgx1")
    assert answer.time is not None
    chart = epoch_chart(answer)
    assert "40 %" in title(chart)
    cold, warm = rows(chart, "fill")
    assert cold["to"] / warm["to"] == pytest.approx(1.4)
    assert cold["low"] < cold["to"] < cold["high"]
    slow = replace(answer.time, first_epoch_s=factories.spread(3 * float(answer.time.epoch_s.value), 0.1))
    assert "3.0 times" in title(epoch_chart(replace(answer, time=slow)))
    even = replace(answer.time, first_epoch_s=answer.time.epoch_s)
    assert "as fast as the later ones" in title(epoch_chart(replace(answer, time=even)))
    assert epoch_chart(replace(answer, time=None)) is None


def test_what_holds_up_a_cold_epoch():
    """Storage of 60,000 images/s cold holds up a cold rate of 60,000; where it could pass far more, the way to it."""
    answer, _ = first("nine_dgx1")
    assert answer.time is not None
    cold = replace(answer, cache_hit_fraction=0.5, cold_storage_bytes_per_s=Estimate.exact(60e3 * answer.sample_bytes))

    def with_storage(rate: float) -> WorkloadAnswer:
        stages = tuple(
            replace(stage, capacity=Estimate.exact(rate)) if stage.key == "storage" else stage for stage in cold.stages
        )
        return replace(cold, stages=stages)

    # Half of the reads hit, so warm the storage passes twice its cold rate.
    assert cold_limit(with_storage(120e3)) == "storage"
    assert cold_limit(with_storage(480e3)) == "network"
    even = replace(answer, time=replace(answer.time, first_epoch_s=answer.time.epoch_s))
    assert cold_limit(even) == answer.bottleneck


def test_a_full_cache_still_tells_the_storage():
    """29 DGX-1 on eight F800 nodes read the data once; their first epoch waits for the storage."""
    request = {
        "workload": [
            {
                "dnn": "resnet50", "stack": "mxnet-ngc19.07-dali", "batch_per_gpu": 192,
                "recipe": "resnet50-mlperf-v0.6", "dataset": "imagenet", "target": {"time_to_train_s": "8 min"},
            }
        ],
        "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"]},
    }  # fmt: skip
    result = size(SizingRequest.from_dict(request), shipped_catalog())
    answer = result.design.workloads[0]
    assert answer.cache_hit_fraction == 1
    assert cold_limit(answer) == "storage"
    chart = accuracy_chart(answer)
    # A recipe: more GPUs need more epochs, so the time falls less than the rate rises.
    found = {row["gpus"]: row["value"] for row in rows(chart, "low")}
    gpus, rates = answer.scaling.n_gpus, answer.scaling.throughput.value
    here, twice = result.design.n_gpus, 2 * result.design.n_gpus
    quotient = float(np.interp(twice, gpus, rates) / np.interp(here, gpus, rates))
    assert found[float(here)] / found[float(gpus[-1])] < quotient
    assert design_gpus(answer) == here
    words = " ".join(chart.to_dict(validate=False)["title"]["subtitle"])
    assert "as many as the recipe needs" in words


def test_time_to_train_by_hand():
    """Two sizes, 100 and 200 samples/s, 90 epochs of 36,000 samples and nothing else: 9 h and 4.5 h."""
    answer, _ = first("nine_dgx1")
    assert answer.time is not None
    time = replace(
        answer.time, epochs=Estimate.exact(90.0), start_up_s=0.0, first_epoch_s=Estimate.exact(360.0),
        epoch_s=Estimate.exact(360.0), evaluations_s=Estimate.exact(0.0), total_s=Estimate.exact(32_400.0),
    )  # fmt: skip
    scaling = replace(
        answer.scaling, n_servers=np.array([1.0, 2.0]), n_gpus=np.array([8.0, 16.0]),
        throughput=Estimate.log_normal(np.array([100.0, 200.0]), 0.1),
    )  # fmt: skip
    fixed = answer.workload.model_copy(update={"epochs": 90.0, "recipe": None})
    made = replace(
        answer, workload=fixed, recipe=None, time=time, scaling=scaling, throughput=Estimate.exact(100.0)
    )  # fmt: skip
    assert design_gpus(made) == 8
    chart = accuracy_chart(made)
    assert title(chart) == "8 GPUs train in 9.00 h; twice as many save 50 % of the time"
    found = rows(chart, "low")
    assert [(row["gpus"], row["value"]) for row in found] == [(8, pytest.approx(9)), (16, pytest.approx(4.5))]
    # 90 % interval of a log-normal rate: the factor exp(1.645 x 0.1) on both sides.
    assert found[0]["high"] / found[0]["value"] == pytest.approx(np.exp(0.1645), rel=1e-3)
    assert next(mark["opacity"] for mark in marks(chart) if mark["type"] == "area") == BAND_OPACITY
    # Every epoch cold would take twice the 9 h, which is shown; 5 % more would not be.
    slow = replace(time, first_epoch_s=Estimate.exact(720.0))
    assert any("if every epoch were cold" in text for text in texts(accuracy_chart(replace(made, time=slow))))
    near = replace(time, first_epoch_s=Estimate.exact(378.0))
    assert not any("if every epoch" in text for text in texts(accuracy_chart(replace(made, time=near))))


def test_no_length_no_chart_of_time():
    answer, _ = first("nine_dgx1")
    assert accuracy_chart(replace(answer, time=None)) is None
    alone = replace(answer.scaling, n_servers=np.array([9.0]), n_gpus=np.array([72.0]),
                    throughput=Estimate.exact(np.array([1.0])))  # fmt: skip
    assert accuracy_chart(replace(answer, scaling=alone)) is None


# --- both ends of the size


def test_charts_of_one_server_and_of_two_hundred():
    for servers, nodes in ((1, 4), (200, 40)):
        design = asked(servers, nodes)
        answer = design.workloads[0]
        chart = demand_chart(answer, design)
        assert title(chart)
        assert len(rows(chart, "fill")) >= 4
        steps = capacity_ladder(design.platform.storage, design.platform.capacity_option, design.storage_nodes)
        assert title(ladder_chart(steps, answer.dataset_bytes))
        assert epoch_chart(answer) is None  # no length asked


def test_units_of_time_and_long_names():
    assert [time_unit(length)[1] for length in (50, 121, 7201, 172_801)] == ["seconds", "minutes", "hours", "days"]
    assert broken("a name", 170) == "a name"
    assert broken("a name that is longer than its line", 60).count("\n") == 1
