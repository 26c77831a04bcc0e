"""Epochs against the global batch."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sizer.calibrate.calibration import load_calibration
from sizer.catalog.loader import shipped_catalog
from sizer.perf.training_time import epochs_to_target


@pytest.fixture(scope="module")
def recipes():
    return shipped_catalog().recipes


def test_definition():
    """At the doubling batch twice the epochs, far below it none more."""
    assert_allclose(epochs_to_target([1.0, 90e3], 60, 90e3, 1.5), [60, 120], rtol=1e-6)


def test_mlperf_v06(recipes):
    """MLPerf v0.6, ResNet-50: 60 up to 4,096, 72 to 76 at 33,000, 86 at 54,080, 90 at 59,904.

    Tolerance: evaluations come every four epochs, 7 % of 60; the entry of 80 epochs at 16,384 pulls the curve up.
    """
    curve = load_calibration().epochs_curve(recipes["resnet50-mlperf-v0.6"])
    found = curve.at([1664, 3328, 4096, 33_280, 54_080, 59_904]).value
    assert_allclose(found, [60, 60, 60, 74, 86, 90], rtol=0.07)


def test_v05_grows_earlier_than_v06(recipes):
    """82 epochs at 16,384 in v0.5 against 64 with LARS in v0.6: the recipe is an input."""
    curves = [load_calibration().epochs_curve(recipes[f"resnet50-mlperf-v0.{n}"]) for n in (5, 6)]
    old, new = (curve.at(16_384).value for curve in curves)
    assert old > 1.1 * new


def test_outside_the_published_batches_it_warns_and_widens(recipes):
    curve = load_calibration().epochs_curve(recipes["resnet50-mlperf-v0.6"])
    inside, outside = curve.at(33_280), curve.at(500_000)
    assert not curve.extrapolates(33_280)
    assert curve.extrapolates(500_000)
    assert curve.batches[1] == 86_016
    assert outside.log_sd > 2 * inside.log_sd


def test_a_lone_point_is_reproduced(recipes):
    recipe = recipes["resnet101-90-epochs"]
    (point,) = recipe.points
    assert_allclose(load_calibration().epochs_curve(recipe).at(point.global_batch).value, point.epochs, rtol=0.02)


def test_every_recipe_never_falls_with_the_batch(recipes):
    batches = np.geomspace(1, 1e7, 200)
    fitted = load_calibration()
    for recipe in recipes.values():
        assert (np.diff(fitted.epochs_curve(recipe).at(batches).value) >= 0).all()


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="global_batch"):
        epochs_to_target(0, 60, 9e4, 1.5)
