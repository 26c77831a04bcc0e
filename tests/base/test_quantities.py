"""Quantities as people write them. The cases are those that other parsers get wrong without a word."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import ndtri

from sizer.base import quantities as q
from sizer.base.estimate import normal_cdf, normal_quantile


@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        (q.BYTES, "22.2 TB", 22.2e12),
        (q.BYTES, "22,2 TB", 22.2e12),
        (q.BYTES, "113 kB", 113e3),
        (q.BYTES, "20 TiB", 20 * 2**40),
        (q.BYTES, "1e3 GB", 1e12),
        (q.BYTES, 4096, 4096.0),
        (q.BYTES_PER_S, "100 Gbit/s", 12.5e9),
        (q.BYTES_PER_S, "3.2 GB/s", 3.2e9),
        (q.SECONDS, "12 h", 43_200.0),
        (q.SECONDS, "1.5 days", 129_600.0),
        (q.WATTS, "17.3 kW", 17_300.0),
        (q.SAMPLES_PER_S, "52274 images/s", 52_274.0),
        (q.SAMPLES_PER_S, "52_274", 52_274.0),
        (q.SAMPLES_PER_S, "40 000 images/s", 40_000.0),
        (q.SAMPLES_PER_S, "40\u202f000 images/s", 40_000.0),
        (q.SAMPLES_PER_S, "40,000 images/s", 40_000.0),
        (q.SAMPLES_PER_S, "1,234,567.5", 1_234_567.5),
        (q.SAMPLES_PER_S, "1.234.567", 1_234_567.0),
        (q.SAMPLES_PER_S, "40k images/s", 40_000.0),
        (q.SAMPLES_PER_S, "1.5M", 1.5e6),
        (q.TOKENS_PER_S, "500k tokens/s", 5e5),
        (q.TOKENS_PER_S, "1.5 million tok/s", 1.5e6),
        (q.BYTES, "1,234 GB", 1234e9),
        (q.BYTES, "150.528 kB", 150_528.0),
        (q.BYTES, "0.113 MB", 113e3),
        (q.BYTES, "0,113 MB", 113e3),
        (q.BYTES, "1.1250 TB", 1.125e12),
    ],
)
def test_written_quantities_are_read(kind: q.QuantityKind, written: object, value: float) -> None:
    assert q.parse(kind, written) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "written", "word"),
    [
        (q.BYTES, "400Gb", "GB"),  # a bit is no byte
        (q.BYTES, "1.230 GB", "1230 or 1.23"),
        (q.WATTS, "12.345 kW", "12345 or 12.3450"),
        (q.SAMPLES_PER_S, "40.000 images/s", "40000 or 40.0"),
        (q.SAMPLES_PER_S, "1.250", "1250 or 1.25"),
        (q.SAMPLES_PER_S, "40 0000 images/s", "expected"),
        (q.BYTES, "4TB raw", "expected"),
        (q.BYTES, "22.2 T", "unknown unit"),
        (q.BYTES_PER_S, "3.2 GB", "unknown unit"),
        (q.SECONDS, "12 m", "min"),
        (q.BYTES, True, "bool"),
        (q.BYTES, None, "NoneType"),
        (q.BYTES, float("nan"), "must be a number"),
        (q.BYTES, float("inf"), "must be at most"),
        (q.BYTES, 10**400, "must be at most"),
        (q.BYTES, "1e999 TB", "must be at most"),
        (q.BYTES, -1, "must be greater than 0"),
        (q.BYTES, "0 TB", "must be greater than 0"),
        (q.BYTES, "9" * 10_000, "expected"),
        (q.BYTES, "<script>", "expected"),
    ],
)
def test_wrong_quantities_get_a_sentence(kind: q.QuantityKind, written: object, word: str) -> None:
    with pytest.raises(ValueError, match=word) as caught:
        q.parse(kind, written)
    assert len(str(caught.value)) < 300


@given(st.text(max_size=80))
def test_no_text_does_anything_but_parse_or_refuse(text: str) -> None:
    try:
        value = q.parse(q.BYTES, text)
    except ValueError:
        return
    assert 0 < value < math.inf


@given(st.floats(1.0, 1e17))
def test_what_is_written_out_reads_back(value: float) -> None:
    # Three digits, as pages print; more would put three decimals behind a point, which has two readings.
    text = q.si(value, "B").replace(q.NARROW_SPACE, "")
    assert q.parse(q.BYTES, text) == pytest.approx(value, rel=5.1e-3)


def test_rounding_comes_before_the_prefix() -> None:
    assert q.si(999_999, "B") == f"1.00{q.NARROW_SPACE}MB"
    assert q.significant(9.996) == "10.0"
    assert q.duration(5_999) == f"1.67{q.NARROW_SPACE}h"
    assert q.si(52_273.61, "images/s") == f"52{q.NARROW_SPACE}300{q.NARROW_SPACE}images/s"


@pytest.mark.parametrize(
    ("probability", "printed"),
    [(0.4957, "49 %"), (0.5, "50 %"), (0.9 - 1e-12, "90 %"), (0.29, "29 %"), (0.9949, "99 %"), (0.0099, "under 1 %")],
)
def test_a_probability_is_never_rounded_up(probability: float, printed: str) -> None:
    assert q.probability_text(probability).replace("\u202f", " ") == printed


@given(st.floats(0.01, 0.99), st.integers(1, 99))
def test_a_confidence_that_is_missed_is_never_printed_as_reached(probability: float, asked: int) -> None:
    """49.57 % does not meet 50 %, and does not read as if it did."""
    if probability >= asked / 100:
        return
    printed = q.probability_text(probability).replace("\u202f%", "")
    assert printed == "under 1" or int(printed) <= asked - (probability < asked / 100 - 1e-8)


@pytest.mark.parametrize(
    ("watts", "printed"), [(31_850.0, "31.9"), (7_745.0, "7.75"), (10_150 + 21_700 - 1e-11, "31.9")]
)
def test_a_value_rounds_alike_in_every_unit(watts: float, printed: str) -> None:
    """Ties go up, as in hand arithmetic: 31,850 W and 31.85 kW are both 31.9 kW."""
    assert q.si(watts, "W") == f"{printed}{q.NARROW_SPACE}kW"
    assert q.significant(watts / 1e3) == printed


def test_cdf_and_quantile_agree_with_other_libraries() -> None:
    x = np.concatenate([np.linspace(-12, 12, 997), [-np.inf, np.inf]])
    assert_allclose(normal_cdf(x), [0.5 * math.erfc(-each / math.sqrt(2)) for each in x], rtol=1e-12)
    p = np.concatenate([np.linspace(0, 1, 501), [1e-12, 1 - 1e-12]])
    assert_allclose(normal_quantile(p), ndtri(p), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("p", [-0.1, 1.1, np.nan])
def test_a_probability_outside_0_to_1_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=r"0\.\.1"):
        normal_quantile(p)
