"""The stored fits of language models: those that a fit gives; refused where what they were made from has changed."""

import numpy as np
import pytest

from sizer.base.errors import CalibrationError
from sizer.calibrate.engine import digest_of, fits_path, load_fits
from sizer.calibrate.language.calibration import calibrate, language_calibration
from sizer.calibrate.language.rows import load_language_rows
from tests.factories import examples


def test_the_stored_fits_are_those_of_the_shipped_rows():
    again, stored = calibrate(load_language_rows(), examples.catalog()).stored(), language_calibration().stored()
    assert (again.digest, list(again.fits)) == (stored.digest, list(stored.fits))
    for name, fit in again.fits.items():
        # Both come from the same arithmetic; processors differ in the last digits, and the fit stops at 1e-8.
        assert fit.names == stored.fits[name].names
        np.testing.assert_allclose(stored.fits[name].values, fit.values, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(
            stored.fits[name].covariance(fit.names), fit.covariance(fit.names), rtol=1e-5, atol=1e-8
        )


def test_fits_to_other_numbers_are_refused():
    """A part in a hundred of one number is another catalogue; the last digits, which processors differ in, are not."""
    column = np.array([80e9, 141e9])
    assert digest_of("rows", [column]) == digest_of("rows", [column * (1 + 1e-9)])
    assert digest_of("rows", [column]) != digest_of("rows", [column * 1.01])
    with pytest.raises(CalibrationError, match="run 'sizer calibrate'"):
        load_fits(fits_path("language"), {}, digest_of("rows", [column]))
