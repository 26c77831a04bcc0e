"""The stored fits of language models: those that a fit gives; refused where what they were made from has changed."""

import dataclasses
import json

import numpy as np
import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.language.calibration import calibrate, fits_of, language_calibration
from sizer.calibrate.language.rows import load_language_rows
from sizer.calibrate.language.stored import fits_path, load_fits, problem_digest, save_fits
from tests.factories import examples


def test_the_stored_fits_are_those_of_the_shipped_rows():
    again, stored = fits_of(calibrate(load_language_rows(), examples.catalog())), fits_of(language_calibration())
    assert (again.digest, list(again.benchmarks)) == (stored.digest, list(stored.benchmarks))
    pairs = [(again.steps, stored.steps), (again.memory, stored.memory)]
    pairs += [(one, stored.benchmarks[name]) for name, one in again.benchmarks.items()]
    for (values, covariance), (stored_values, stored_covariance) in pairs:
        # Both come from the same arithmetic; processors differ in the last digits, and the fit stops at 1e-8.
        np.testing.assert_allclose(stored_values, values, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(stored_covariance, covariance, rtol=1e-5, atol=1e-8)


def test_what_is_written_is_read_to_the_last_bit(tmp_path):
    stored = fits_of(language_calibration())
    again = load_fits(stored.digest, save_fits(stored, tmp_path / "language.json"))
    assert np.array_equal(again.steps[0], stored.steps[0])
    assert np.array_equal(again.steps[1], stored.steps[1])
    assert np.array_equal(again.steps[1], again.steps[1].T)


def test_fits_to_other_numbers_are_refused():
    calibration = language_calibration()
    steps, memory = calibration.fit.model, calibration.memory.model
    changed = dataclasses.replace(steps.inputs[2], memory_bytes=steps.inputs[2].memory_bytes * 1.01)
    before, inputs = problem_digest(steps, memory), steps.inputs
    try:
        steps.inputs = (*inputs[:2], changed)
        after = problem_digest(steps, memory)
    finally:
        steps.inputs = inputs
    assert after != before
    with pytest.raises(CalibrationError, match="run 'sizer calibrate'"):
        load_fits(after)


@pytest.mark.parametrize(
    "change", [{"values_float64_base64": "AAAA"}, {"values_float64_base64": "?"}, {"values_float64_base64": None}]
)
def test_a_damaged_file_is_refused(tmp_path, change):
    content = json.loads(fits_path().read_text(encoding="utf-8"))
    content["steps"] |= change
    (tmp_path / "language.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CalibrationError, match=r"language\.json: is damaged"):
        load_fits(content["digest"], tmp_path / "language.json")
