"""Charts on failures, epochs and time to train: numbers by hand, findings as titles, None for nothing."""

from dataclasses import replace

import numpy as np
import pytest

from sizer.base.estimate import Estimate
from sizer.drawings.palette import BAND_OPACITY
from sizer.perf.stage_capacity import Capacity
from sizer.present.charting import broken, time_unit
from sizer.present.training_charts import accuracy_chart, cold_limit, design_gpus, epoch_chart
from sizer.questions.failures.charts import failure_chart
from sizer.sizing.design.workload_figures import cold_limit as limit_of_cold_epoch
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.size import size
from sizer.workload.request import SizingRequest
from tests import factories
from tests.factories.examples import catalog as shipped_catalog
from tests.present.chart_cases import UNIT, failure, first, marks, plain, rows, texts, title


def test_failures_by_hand():
    cases = [failure("server", 0.9), failure("leaf", 0.0), failure("gpu", 1.0)]
    chart = failure_chart(cases, 0, UNIT)
    assert title(chart) == "One of 3 failures stops the work; the others retain at least 90 %"
    found = rows(chart, "share")
    assert [row["share"] for row in found] == [90, 0, 100]
    assert [plain(row["text"]) for row in found] == ["900 images/s · 90 %", "stops", "1 000 images/s · 100 %"]
    assert found[0]["fill"] > found[2]["fill"]


def test_no_failure_no_chart():
    assert failure_chart([], 0, UNIT) is None


def slow_at_first() -> WorkloadAnswer:
    """An answer whose first epoch takes 1.4 times as long as the others."""
    answer, _ = first("nine_dgx1")
    cold = factories.spread(1.4 * float(answer.time.epoch_s.value), 0.2)
    return replace(answer, time=replace(answer.time, first_epoch_s=cold))


def test_epochs_by_hand():
    answer = slow_at_first()
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
    assert limit_of_cold_epoch(Capacity.exact(np.array([60e3])), 60e3) == "storage"
    assert limit_of_cold_epoch(Capacity.exact(np.array([240e3])), 60e3) == "network"
    answer = slow_at_first()
    assert cold_limit(answer) == answer.time.cold_limit
    even = replace(answer, time=replace(answer.time, first_epoch_s=answer.time.epoch_s))
    assert cold_limit(even) == answer.bottleneck


def test_a_full_cache_still_tells_the_storage():
    """29 DGX-1 on eight F800 nodes read the data once; their first epoch waits for the storage."""
    request = {
        "workload": [
            {
                "dnn": "resnet50",
                "stack": "mxnet-ngc19.07-dali",
                "batch_per_gpu": 192,
                "recipe": "resnet50-mlperf-v0.6",
                "dataset": "imagenet",
                "target": {"time_to_train_s": "8 min"},
            }
        ],
        "platforms": {"servers": ["dgx-1"], "storage": ["isilon-f800"]},
    }
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
    assert "as many epochs as the recipe needs" in words


def test_time_to_train_by_hand():
    """Two sizes, 100 and 200 samples/s, 90 epochs of 36,000 samples and nothing else: 9 h and 4.5 h."""
    answer, _ = first("nine_dgx1")
    assert answer.time is not None
    time = replace(
        answer.time,
        epochs=Estimate.exact(90.0),
        start_up_s=0.0,
        first_epoch_s=Estimate.exact(360.0),
        epoch_s=Estimate.exact(360.0),
        evaluations_s=Estimate.exact(0.0),
        total_s=Estimate.exact(32_400.0),
    )
    scaling = replace(
        answer.scaling,
        n_servers=np.array([1.0, 2.0]),
        n_gpus=np.array([8.0, 16.0]),
        throughput=Estimate.log_normal(np.array([100.0, 200.0]), 0.1),
        time_s=Estimate.log_normal(np.array([32_400.0, 16_200.0]), 0.1),
    )
    fixed = answer.workload.model_copy(update={"epochs": 90.0, "recipe": None})
    made = replace(answer, workload=fixed, recipe=None, time=time, scaling=scaling, throughput=Estimate.exact(100.0))
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
    alone = replace(
        answer.scaling,
        n_servers=np.array([9.0]),
        n_gpus=np.array([72.0]),
        throughput=Estimate.exact(np.array([1.0])),
        time_s=Estimate.exact(np.array([1.0])),
    )
    assert accuracy_chart(replace(answer, scaling=alone)) is None


def test_units_of_time_and_long_names():
    assert [time_unit(length)[1] for length in (50, 121, 7201, 172_801)] == ["seconds", "minutes", "hours", "days"]
    assert broken("a name", 170) == "a name"
    assert broken("a name that is longer than its line", 60).count("\n") == 1
