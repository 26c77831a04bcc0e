"""Networks of one's own in a request: whose rate, batch and software they take; rates that the customer measured."""

import datetime

import numpy as np
import pytest

from sizer import SizingRequest
from sizer.base.errors import RequestError
from sizer.calibrate.calibration import stored_calibration
from sizer.perf.step_terms import EFFICIENCY, LAUNCH, TERM_NAMES, StepTerms
from sizer.sizing.stages.compute_side import STATED_HOST_LOG_SD, core_seconds
from sizer.sizing.stages.gpu_memory import resolved
from sizer.sizing.stages.own_networks import check_measured, far_rates, own_fit, own_terms, rate_log_sd, run_on

DNN = {"name": "ours", "forward_flop": 49e9, "parameters": 21e6, "input_bytes": 1.2e6}
V100 = "v100-sxm2-16gb"


def work(catalog, dnn=None, date=None, **workload):
    found = {"name": "w", "dnn": {**DNN, **(dnn or {})}, "epochs": 1, "target": {"gpus_busy": 1}, **workload}
    request = {"workload": [found], "platforms": {"servers": ["dgx-1"]}}
    request |= {} if date is None else {"date": date}
    return resolved(SizingRequest.from_dict(request), catalog, stored_calibration())[0]


@pytest.mark.parametrize(
    ("dnn", "kind"),
    [
        ({}, "other"),
        ({"like": "ssd-resnet34"}, "detector"),
        ({"like": "resnet50", "kind": "transformer"}, "transformer"),
        ({"like": "dlrm-dcnv2"}, None),  # arithmetic does not tell the rate of a recommender
    ],
)
def test_the_kind_is_what_is_said_or_that_of_the_network_that_it_is_like(catalog, dnn, kind):
    assert work(catalog, dnn).own_kind == kind


def test_software_and_batch_are_those_of_published_trainings_of_its_kind(catalog):
    found = work(catalog, {"like": "ssd-resnet34"})
    assert found.stack.trains_own
    # Published detectors on 16 GB trained with at most 128 images of 640 px, those of 49 GFLOP with 40.
    assert 8 <= found.batch_on(V100) <= 128


def test_the_spread_of_a_network_that_is_like_another_is_no_smaller_than_of_one_of_its_kind(catalog):
    none = StepTerms(np.zeros(len(TERM_NAMES)), np.zeros((len(TERM_NAMES),) * 2), np.zeros(()))
    works = [work(catalog, said, batch_per_gpu=16) for said in ({"like": "ssd-resnet34"}, {"kind": "detector"})]
    gpu, fits = catalog.gpus[V100], [own_fit(one, catalog) for one in works]
    terms = [own_terms(one, gpu, fit, none) for one, fit in zip(works, fits, strict=True)]
    assert terms[0].values[EFFICIENCY] == terms[1].values[EFFICIENCY]
    assert terms[0].values[LAUNCH] == -np.inf  # part of the published shares
    spreads = [rate_log_sd(one, gpu, fit, np.array([16.0]))[0] for one, fit in zip(works, fits, strict=True)]
    assert spreads[0] == spreads[1] > 0.3


def test_each_batch_of_a_what_if_has_its_own_spread(catalog):
    """Small steps do not fill a GPU, and teams differ more in them."""
    one, batches = work(catalog, {"kind": "detector"}), np.array([2.0, 64.0, 16.0])
    gpu, fit = catalog.gpus[V100], own_fit(one, catalog)
    spreads = rate_log_sd(one, gpu, fit, batches)
    assert spreads[0] > spreads[2] > spreads[1]
    for batch, spread in zip(batches, spreads, strict=True):
        assert spread == pytest.approx(float(rate_log_sd(one, gpu, fit, np.array([batch]))[0]))


def test_a_rate_above_the_peak_is_refused(catalog):
    rate = {"samples_per_s": 1100, "gpu": V100}  # 162 TFLOP/s of 125
    with pytest.raises(RequestError, match="above its peak"):
        work(catalog, measured=[rate])
    check_measured(work(catalog, measured=[rate | {"gpus": 2}]), "", catalog)


def test_a_rate_of_nothing_or_on_an_unknown_gpu_or_of_a_network_of_the_catalogue_is_refused(catalog):
    for rate in ({"samples_per_s": 0, "gpu": V100}, {"samples_per_s": 100, "gpu": "v1000"}):
        with pytest.raises(RequestError, match="measured"):
            work(catalog, measured=[rate])
    with pytest.raises(RequestError, match="given by its numbers"):
        work(catalog, {"like": "dlrm-dcnv2"}, measured=[{"samples_per_s": 100, "gpu": V100}])


def test_a_rate_that_is_far_off_or_old_is_told(catalog):
    rate = {"samples_per_s": 5, "gpu": V100}
    slow = work(catalog, {"kind": "detector"}, measured=[rate])
    assert far_rates(slow, catalog) == [pytest.approx(5 / 103, rel=0.4)]
    assert far_rates(work(catalog, {"kind": "detector"}, measured=[rate | {"samples_per_s": 90}]), catalog) == []
    old = rate | {"samples_per_s": 90, "day": datetime.date(2024, 1, 1)}
    assert len(work(catalog, date=datetime.date(2026, 1, 1), measured=[old]).warnings) == 1
    assert not work(catalog, date=datetime.date(2024, 6, 1), measured=[old]).warnings


def test_a_benchmark_of_it_is_a_tuned_run_and_single_precision_is_slower(catalog):
    gpu = catalog.gpus[V100]
    assert run_on(work(catalog, run="benchmark"), gpu).measured == "tuned"
    assert run_on(work(catalog, precision="fp32"), gpu).precision == "fp32"
    assert run_on(work(catalog, precision="fp32"), catalog.gpus["a100-sxm-80gb"]).precision == "tf32"


def test_host_work_that_is_stated_is_taken(catalog):
    seconds, log_sd = core_seconds(work(catalog, host_core_s=0.08), stored_calibration())
    assert (seconds, log_sd) == pytest.approx((0.08, STATED_HOST_LOG_SD), rel=0.02)
