"""Networks of one's own: published trainings by fits that have not seen their teams, and a rate of one's own."""

import math

import numpy as np
import pytest

from sizer.base.estimate import Z90
from sizer.calibrate.own_networks import (
    N_TERMS,
    SHARES,
    TRAINING,
    OwnRun,
    effects_of,
    fit_shares,
    load_runs,
    own_calibration,
    own_networks,
    teams_left_out,
)
from sizer.workload.custom_network import OTHER_KIND

V100 = {"gpu": "v100-sxm2-16gb", "generation": "volta", "peak_flop_per_s": 125e12}


def run(**facts):
    """Somebody's detector of 49 GFLOP on one V100."""
    found = {"kind": "detector", "forward_flop": 49e9, "gpus": 1, "batch_per_gpu": 40, "precision": "mixed"}
    rest = {"id": "", "team": "mine", "network": "mine", "measured": TRAINING, "samples_per_s": 0.0}
    return OwnRun(**{**found, **rest, **V100, **facts})


def interval(of, fit=None):
    """Median share of the peak, and the factor to either end of its 90 % interval."""
    fit = fit or own_networks()
    logs, variance = SHARES.predict(fit, [of])
    return math.exp(logs[0]), math.exp(Z90 * float(fit.interval_sd(variance)[0]))


@pytest.fixture(scope="module")
def left_out():
    """Errors of published trainings, of each team by a fit without it, in standard deviations and as logarithms."""
    return teams_left_out(fit_shares(load_runs()))


def test_trainings_of_teams_that_were_left_out_lie_inside(left_out):
    errors, sd = left_out
    assert all(one.is_reached for one in own_calibration().figures)
    assert 0.85 <= np.mean(np.abs(errors) <= Z90 * sd) <= 0.96
    assert abs(np.median(errors)) < 0.1
    assert math.exp(Z90 * float(np.median(sd))) < 2.5


def test_the_stored_fit_is_that_of_the_rows():
    assert own_networks().values == pytest.approx(fit_shares(load_runs()).fit.values, abs=1e-5)


def test_a_detector_on_one_v100_trains_as_people_train_it():
    """YOLOv5m: 4 days for 300 epochs of COCO on one V100, 103 images/s; tuned SSD reached four times the share."""
    share, factor = interval(run())
    published = 3 * 49e9 * 103 / 125e12
    assert share / factor < published < share * factor
    assert share < 0.46 / 2


def test_a_kind_that_is_not_said_is_wider_and_no_kind_is_exact():
    said, unsaid = interval(run()), interval(run(kind=OTHER_KIND))
    assert 1.5 < said[1] < unsaid[1] < 4


def test_small_steps_do_not_fill_a_gpu():
    assert interval(run(batch_per_gpu=1))[0] < interval(run(batch_per_gpu=8))[0] / 2


def test_a_rate_of_ones_own_narrows_its_gpu_and_another_one():
    measured = run(samples_per_s=60.0)
    updated = own_networks().updated(
        [effects_of(measured)], SHARES.law([measured]), N_TERMS, np.log([measured.share]), np.array([0.1])
    )
    share, factor = interval(run(), updated)
    assert share == pytest.approx(measured.share, rel=0.1)
    assert factor < 1.35
    h100 = run(gpu="h100-sxm-80gb", generation="hopper", peak_flop_per_s=989e12)
    before, after = interval(h100), interval(h100, updated)
    assert after[0] < before[0]  # a slow network is slow there, too
    assert factor < after[1] < before[1]
