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
    long = np.array([np.inf])
    h100, b200 = (
        fit.factor(catalog.gpus[one], False, "", long, catalog) for one in ("h100-sxm-80gb", "b200-sxm-180gb")
    )
    assert b200.value == h100.value
    assert b200.log_sd > 1.3 * h100.log_sd


def test_hours_lose_less_to_failures_and_idle_time_than_months():
    """Of what months take beyond tuned steps, failures and idle time are 1/0.87; slower software stays."""
    catalog = shipped_catalog()
    days = np.array([0.01, 0.5, 5.0, 20.0, np.inf])
    factor = whole_runs(catalog).factor(catalog.gpus["h100-sxm-80gb"], False, "", days, catalog).value
    assert (np.diff(factor) > 0).all()
    assert factor[0] / factor[-1] == pytest.approx(0.87, rel=0.01)
    assert factor[0] > 1.3


def test_short_published_trainings_are_neither_too_fast_nor_too_slow():
    """Those whose steps take less than four days, with fine-tunings and rows that are not fitted."""
    catalog, errors = shipped_catalog(), []
    for one in load_trainings():
        steps = float(predicted_days()[one.id].value)
        if steps < 4:
            gpu, is_mixture = catalog.gpus[one.gpu], one.shape.experts > 1
            factor = whole_runs(catalog).factor(gpu, is_mixture, one.software, np.array([steps]), catalog)
            errors.append(np.log(one.days / steps / float(factor.value[0])))
    assert len(errors) > 15
    assert abs(np.median(errors)) < 0.1


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
