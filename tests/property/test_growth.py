"""Purchases over the years: the sequence found is the best of all, by trying every one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sizer.sizing.growth.purchase_planner import cheapest_sequence

YEARS, SIZES = st.integers(1, 4), st.integers(1, 4)


@st.composite
def cases(draw):
    years, sizes = draw(YEARS), draw(SIZES)
    meets = np.array(draw(st.lists(st.booleans(), min_size=years * sizes, max_size=years * sizes))).reshape(
        years, sizes
    )
    number = st.integers(0, 5)  # few values, so that ties are common
    steps = {
        (year, before, after): draw(st.one_of(st.none(), st.tuples(number, number)))
        for year in range(years)
        for before in ((None,) if year == 0 else range(sizes))
        for after in range(sizes)
    }
    return meets, steps


def total(path, steps):
    """Cost of a path, step by step; None where one is not open."""
    costs = [steps[year, path[year - 1] if year else None, after] for year, after in enumerate(path)]
    return None if None in costs else tuple(map(sum, zip(*costs, strict=True)))


@pytest.mark.laws
@settings(max_examples=200, deadline=None)
@given(cases())
def test_the_sequence_is_the_best_of_all(case):
    meets, steps = case
    years, sizes = meets.shape
    open_paths = [
        (total(path, steps), path)
        for path in product(range(sizes), repeat=years)
        if all(meets[year, place] for year, place in enumerate(path)) and total(path, steps) is not None
    ]
    found = cheapest_sequence(meets, lambda year, before, after: steps[year, before, after])
    if not open_paths:
        assert found is None
    else:
        assert found is not None
        assert all(meets[year, place] for year, place in enumerate(found))
        assert total(found, steps) == min(open_paths)[0]


def test_buying_ahead_pays_where_a_step_loses_parts():
    """By hand: 10 now and 5 more with 4 lost is 19; the larger size for 14 at once is less."""
    first = {None: {0: 10, 1: 14}, 0: {0: 0, 1: 9}, 1: {1: 0, 0: None}}
    meets = np.array([[True, True], [False, True]])

    def cost(year, before, after):
        value = first[before][after]
        return None if value is None else (value,)

    assert cheapest_sequence(meets, cost) == (1, 1)
