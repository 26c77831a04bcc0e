"""What a run draws of a whole suite, and that examples which failed are never forgotten."""

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from tests.drawn_examples import _ALWAYS, _Kept, drawn

CASES = [f"case-{n}" for n in range(20)]


def test_a_sample_has_so_many_cases():
    for number in (1, 2684228473):
        taken = drawn(CASES, 4, number) - _ALWAYS
        assert taken < set(CASES)
        assert len(taken) == 4
        assert taken == drawn(CASES[::-1], 4, number) - _ALWAYS


def test_what_failed_is_stored_and_stays_when_it_passes_again(tmp_path):
    limit = 100

    @settings(database=_Kept(tmp_path), derandomize=False, max_examples=200)
    @seed(5)
    @given(number=st.integers(0, 10_000))
    def law(number):
        assert number < limit

    with pytest.raises(AssertionError):
        law()

    def files():
        return {path for path in tmp_path.rglob("*") if path.is_file()}

    stored = files()
    assert stored
    limit = 10**6
    law()
    assert files() >= stored
