"""The normal distribution against SciPy's, an independent implementation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ndtr, ndtri

from sizer.base.estimate import normal_cdf, normal_quantile


def test_cdf_and_quantile_agree_with_scipy() -> None:
    x = np.concatenate([np.linspace(-12, 12, 997), [-np.inf, np.inf]])
    assert_allclose(normal_cdf(x), ndtr(x), rtol=1e-12)
    p = np.concatenate([np.linspace(0, 1, 501), [1e-12, 1 - 1e-12]])
    assert_allclose(normal_quantile(p), ndtri(p), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan])
def test_a_probability_outside_0_to_1_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=r"0\.\.1"):
        normal_quantile(p)
