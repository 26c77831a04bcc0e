"""Whole trainings: the published days of models that the fit has not seen, and what the factor does to an answer."""

import numpy as np
import pytest

from sizer import SizingRequest, size
from sizer.calibrate.accuracy_targets import AccuracyMeasure
from sizer.calibrate.language.whole_runs import load_trainings, predicted_days, whole_run_accuracy, whole_runs
from sizer.catalog.loader import shipped_catalog
from sizer.sizing.stages.language_rates import rate_of_training
from sizer.workload.resolve import resolve

DAY = 86_400.0


def test_days_of_families_that_were_left_out():
    found = {one.measure: one for one in whole_run_accuracy(shipped_catalog())}
    assert found[AccuracyMeasure.WHOLE_RUN_COVERAGE].is_reached
    assert found[AccuracyMeasure.WHOLE_RUN_BIAS].is_reached
    assert found[AccuracyMeasure.WHOLE_RUN_WIDTH].is_reached


def test_the_stored_days_are_those_that_are_predicted():
    catalog = shipped_catalog()
    training = next(one for one in load_trainings() if one.id == "phi-1")
    days = training.tokens / float(rate_of_training(training, catalog).value) / DAY
    assert float(predicted_days()["phi-1"].value) == pytest.approx(days, rel=1e-3)


def test_a_gpu_without_a_published_training_has_a_wider_interval():
    catalog = shipped_catalog()
    fit = whole_runs(catalog)
    h100, b200 = (fit.factor(catalog.gpus[gpu], False, "", catalog) for gpu in ("h100-sxm-80gb", "b200-sxm-180gb"))
    assert float(b200.value) == float(h100.value)
    assert float(b200.log_sd) > 1.3 * float(h100.log_sd)


def request(**workload):
    """Phi-4's 14 G parameters on 64 GPUs: 100 G tokens."""
    work = {"name": "w", "dnn": {"name": "14B", "parameters": 14e9}, "tokens": 1e11, "target": {"gpus_busy": 64}}
    platforms = {"servers": ["dgx-h100"], "storage": ["ai400x2"]}
    return SizingRequest.from_dict({"workload": [work | workload], "platforms": platforms})


def test_a_benchmark_run_takes_its_steps_alone_and_a_whole_one_longer():
    whole, steps = (size(request(run=run), shipped_catalog()).design.workloads[0] for run in ("whole", "benchmark"))
    assert float(whole.throughput.value) == float(steps.throughput.value)
    seconds = 1e11 / float(steps.throughput.value)
    start_up = steps.time.start_up_s
    assert float(steps.time.total_s.value) == pytest.approx(start_up + seconds, rel=1e-6)
    assert steps.time.whole_run is None
    factor = float(whole.time.whole_run.value)
    assert float(whole.time.total_s.value) == pytest.approx(start_up + factor * seconds, rel=1e-6)
    wide, narrow = (np.log(float(one.time.total_s.high / one.time.total_s.low)) for one in (whole, steps))
    assert wide > narrow


def test_utilization_is_useful_flop_over_the_peak():
    answer = size(request(), shipped_catalog()).design.workloads[0]
    # 6 FLOP a parameter and token, and some attention; the usual shape of 14 G has an embedding that does not multiply.
    useful = 6 * 14e9 * float(answer.throughput.value) / 64
    assert answer.language.model_flop_per_s(float(answer.throughput.value)) == pytest.approx(useful, rel=0.15)
    assert answer.language.utilization(float(answer.throughput.value)) == pytest.approx(useful / 989e12, rel=0.15)


@pytest.mark.parametrize(("stated", "taken"), [(2051, 2048), (2046, 2048), (2200, 2176), (16, 16)])
def test_a_stated_batch_moves_by_two_per_cent_at_most(stated, taken):
    work = resolve(request(batch_sequences=stated, sequence_tokens=4096), shipped_catalog(), {})[0].language
    assert work.batch(2048) == taken
