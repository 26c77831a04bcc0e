"""Steps in which a request can be written, and the search for the nearest change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.calibrate.calibration import stored_calibration
from sizer.questions.verdict.reversal import RequestInput, ResizedRequests, nearest_reversal
from sizer.questions.what_if.varied_input import DATASET_SIZE, TARGET
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from tests.factories.examples import catalog, sized


def dataset_size(unit_s: float = 1.0, *, is_count: bool = False) -> RequestInput:
    return RequestInput("dataset-size", "workload.0.dataset_bytes", 148e9, True, is_count, unit_s)


@given(st.integers(-3000, 15_000))
def test_a_step_and_its_value_belong_together(step: int) -> None:
    """900 numbers of three digits from one power of ten to the next, in rising order."""
    size = dataset_size()
    assert size.step(size.value(step)) == step
    assert size.value(step) < size.value(step + 1)
    assert float(f"{size.value(step):.3g}") == size.value(step)


@given(st.floats(1e-3, 1e15), st.sampled_from([1.0, 60.0, 3600.0]))
def test_a_value_lies_between_its_step_and_the_next(value: float, unit_s: float) -> None:
    size = dataset_size(unit_s)
    assert size.value(size.step(value)) <= value < size.value(size.step(value) + 1)


def test_counts_step_by_one() -> None:
    size = dataset_size(is_count=True)
    assert (size.value(7), size.step(7.0), size.step(7.9)) == (7.0, 7, 7)


@pytest.fixture(scope="module")
def resized() -> ResizedRequests:
    result, fitted = sized("dgx1-f800-resnet50"), stored_calibration()
    known = [model for model in EvaluatedDesign(result, catalog(), fitted).workloads if model is not None]
    return ResizedRequests(result.request, tuple(known), catalog(), fitted)


@pytest.mark.parametrize(("edge", "upwards"), [(402e9, False), (31.7e12, True), (22.21e12, True), (22.19e12, False)])
def test_the_nearest_step_is_found_on_either_side(resized: ResizedRequests, edge: float, upwards: bool) -> None:
    """A claim that is reversed at a known size; the request states 22.2 TB, itself a step."""
    size = resized.input_of(0, DATASET_SIZE, upwards=upwards)
    reversal = nearest_reversal(resized, size, lambda v: v >= edge if upwards else v <= edge)
    reverses = (lambda v: v >= edge) if upwards else (lambda v: v <= edge)
    assert reverses(reversal.after)
    assert not reverses(reversal.last_unchanged)
    assert abs(size.step(reversal.after) - size.step(reversal.last_unchanged)) == 1
    assert reversal.request.workload[0].dataset_bytes == reversal.after
    assert reversal.input.before == 22.2e12


def test_nothing_is_found_where_nothing_reverses(resized: ResizedRequests) -> None:
    size = resized.input_of(0, TARGET, upwards=True)
    assert nearest_reversal(resized, size, lambda _: False) is None
    assert nearest_reversal(resized, size, lambda _: None) is None


def test_a_change_before_nothing_can_be_built_is_found(resized: ResizedRequests) -> None:
    size = resized.input_of(0, DATASET_SIZE, upwards=True)
    reversal = nearest_reversal(resized, size, lambda v: None if v > 60e12 else v >= 50e12)
    assert reversal.after == pytest.approx(50e12)
