"""Steps in which a request can be written, and the search for the nearest change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.calibrate.calibration import stored_calibration
from sizer.questions.verdict.reversal import Lever, Trials, nearest_change
from sizer.questions.what_if.varied_input import DATASET_SIZE, TARGET
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from tests.answers import catalog, sized


def lever(unit_s: float = 1.0, *, is_count: bool = False) -> Lever:
    return Lever("dataset-size", "workload.0.dataset_bytes", "the size", 148e9, True, is_count, unit_s)


@given(st.integers(-3000, 15_000))
def test_a_step_and_its_value_belong_together(step: int) -> None:
    """900 numbers of three digits from one power of ten to the next, in rising order."""
    one = lever()
    assert one.step(one.value(step)) == step
    assert one.value(step) < one.value(step + 1)
    assert float(f"{one.value(step):.3g}") == one.value(step)


@given(st.floats(1e-3, 1e15), st.sampled_from([1.0, 60.0, 3600.0]))
def test_a_value_lies_between_its_step_and_the_next(value: float, unit_s: float) -> None:
    one = lever(unit_s)
    assert one.value(one.step(value)) <= value < one.value(one.step(value) + 1)


def test_counts_step_by_one() -> None:
    one = lever(is_count=True)
    assert (one.value(7), one.step(7.0), one.step(7.9)) == (7.0, 7, 7)


@pytest.fixture(scope="module")
def trials() -> Trials:
    result, fitted = sized("dgx1-f800-resnet50"), stored_calibration()
    known = [model for model in EvaluatedDesign(result, catalog(), fitted).workloads if model is not None]
    return Trials(result.request, tuple(known), catalog(), fitted)


@pytest.mark.parametrize(("edge", "upwards"), [(402e9, False), (31.7e12, True), (22.21e12, True), (22.19e12, False)])
def test_the_nearest_step_is_found_on_either_side(trials: Trials, edge: float, upwards: bool) -> None:
    """A claim that turns at a known size; the request states 22.2 TB, itself a step."""
    one = trials.lever(0, DATASET_SIZE, upwards=upwards)
    found = nearest_change(trials, one, lambda v: v >= edge if upwards else v <= edge, "it would turn")
    assert found is not None
    turned = (lambda v: v >= edge) if upwards else (lambda v: v <= edge)
    assert turned(found.after)
    assert not turned(found.still)
    assert abs(one.step(found.after) - one.step(found.still)) == 1
    assert found.request.workload[0].dataset_bytes == found.after
    assert "22.2\u202fTB" in found.sentence


def test_nothing_is_found_where_nothing_turns(trials: Trials) -> None:
    one = trials.lever(0, TARGET, upwards=True)
    assert nearest_change(trials, one, lambda _: False, "it would turn") is None
    assert nearest_change(trials, one, lambda _: None, "it would turn") is None


def test_a_change_before_nothing_can_be_built_is_found(trials: Trials) -> None:
    one = trials.lever(0, DATASET_SIZE, upwards=True)
    found = nearest_change(trials, one, lambda v: None if v > 60e12 else v >= 50e12, "it would turn")
    assert found is not None
    assert found.after == pytest.approx(50e12)
