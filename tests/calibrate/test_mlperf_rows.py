"""Published rows of MLPerf Training v0.7 and of the Dell guide compared with what the shipped calibration says."""

import math

import numpy as np
import pytest

from sizer.calibrate.calibration import stored_calibration
from sizer.calibrate.observations import load_observations
from sizer.calibrate.validate import load_cross_validation, predict_all
from tests.factories.requests import CATALOG

CALIBRATION = stored_calibration()
ROWS = load_observations()
V07 = [row for row in ROWS if row.source == "mlperf-v0.7" and row.task == "training"]
RATES = [row for row in V07 if row.quantity == "samples_per_s" and row.id in CALIBRATION.used]


def log_errors(rows: list) -> list[float]:
    predictions = predict_all(tuple(rows), CATALOG, CALIBRATION, ROWS)
    return [
        math.log(one.estimate.value / row.value)
        for row, one in zip(rows, predictions, strict=True)
        if one.estimate is not None
    ]


def test_rates_of_mlperf_v07_lie_within_5_percent_in_the_median() -> None:
    """28 rates of V100 systems: everything but two DLRM rows, whose network the catalogue does not hold."""
    assert len(RATES) == 28
    assert np.median(np.abs(log_errors(RATES))) < 0.05


def test_times_of_mlperf_v07_lie_within_10_percent_in_the_median() -> None:
    """Rate, epochs and overhead of a run are fitted apart; their product is not fitted to these times."""
    times = [row for row in V07 if row.quantity == "time_to_train_s"]
    errors = log_errors(times)
    assert len(errors) >= 25
    assert np.median(np.abs(errors)) < 0.10


@pytest.mark.parametrize(
    ("row", "published"),
    [
        ("rs-scaling32-mxnet-fp32/speedup", 29.4),
        ("rs-scaling32-mxnet-fp16/speedup", 25.8),
        ("rs-scaling32-tensorflow-fp32/speedup", 22.0),
        ("rs-scaling32-tensorflow-fp16/speedup", 23.7),
        ("rs-scaling32-caffe2-fp32/speedup", 26.5),
        ("rs-scaling32-caffe2-fp16/speedup", 27.3),
    ],
)
def test_32_gpus_of_the_guide_lie_inside_the_interval(row: str, published: float) -> None:
    """Dell EMC Ready Solutions for AI, figure 9: eight C4140 with four V100-PCIe each, over one GPU."""
    (observation,) = (one for one in ROWS if one.id == row)
    (prediction,) = predict_all((observation,), CATALOG, CALIBRATION, ROWS)
    assert prediction.estimate is not None
    _, low, high = prediction.estimate
    assert low <= published <= high


def test_other_rows_are_predicted_unseen_no_worse_than_before() -> None:
    """Medians by series, by source and of larger clusters: 6.08, 10.58 and 5.01 %.

    Before the rows of v0.7 were added they were 5.95, 10.91 and 4.66 %. Since the fit is moved until the medians of
    draws meet the measurements, rates of unseen sources are no longer off to one side (0.1 % in the median, before
    1.6 %), and errors of series and larger clusters, for which the move is that of the fit that has seen them, are 0.1
    and 0.4 points larger.
    """
    checks = load_cross_validation(CALIBRATION)
    published = {
        row.id: row.value
        for row in ROWS
        if row.quantity == "samples_per_s" and row.task in ("training", "inference") and row.id in CALIBRATION.used
    }

    def median(errors: dict[str, float]) -> float:
        return float(np.median([abs(error) for name, error in errors.items() if not name.startswith("mlperf-v07-")]))

    by_source = {name: math.log(checks.by_source[name][0] / value) for name, value in published.items()}
    assert len(by_source) == 803 + len(RATES)
    assert median(checks.by_series) <= 0.0614  # fitted until it settles; 0.0609 after five steps
    assert median(by_source) <= 0.1059
    assert abs(np.median(list(by_source.values()))) <= 0.005
    assert median(checks.scale_out) <= 0.0502


def test_rates_of_unseen_mlperf_v07_are_covered() -> None:
    """At least 82 of 100 published rates lie in the 90 % interval of a fit that has not seen the round: 23 of 28.

    Widened intervals around the fitted rate held 26. All are rates of one source and share its error: the round's
    software is new, and every rate is above what older releases let expect. Where many GPUs wait for one another,
    medians of draws are lower and their intervals shorter on the upper side: a ResNet-50 is 1 % above its interval, the
    transformer on 160 GPUs 3 % and on 960 GPUs 11 %. Of all unseen rates the intervals hold 94.6 % (before: 94.5 %).
    """
    checks = load_cross_validation(CALIBRATION).by_source
    inside = [checks[row.id][1] <= row.value <= checks[row.id][2] for row in RATES]
    assert np.mean(inside) >= 0.82
