"""Exact search against brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.base.errors import InfeasibleError
from sizer.sizing.search.choice import best_row, counts_ruled_out, nearest_row, pareto_rows
from sizer.sizing.search.space import design_space

ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 6), st.booleans()), min_size=1, max_size=40
)


@given(rows=ROWS)
def test_pareto_front_agrees_with_brute_force(rows: list[tuple[int, int, int, bool]]) -> None:
    values = np.array([row[:3] for row in rows], dtype=float)
    feasible = np.array([row[3] for row in rows])
    found = {tuple(values[i]) for i in pareto_rows(list(values.T), feasible)}
    points = [tuple(v) for v, ok in zip(values, feasible, strict=True) if ok]
    expected = {p for p in points if not any(q != p and all(a <= b for a, b in zip(q, p, strict=True)) for q in points)}
    assert found == expected


@given(rows=ROWS)
def test_best_row_agrees_with_brute_force(rows: list[tuple[int, int, int, bool]]) -> None:
    values = np.array([row[:3] for row in rows], dtype=float)
    feasible = np.array([row[3] for row in rows])
    if not feasible.any():
        with pytest.raises(InfeasibleError):
            best_row(values[:, 0], feasible)
        return
    row = best_row(values[:, 0], feasible, [values[:, 1], values[:, 2]])
    assert tuple(values[row]) == min(tuple(v) for v, ok in zip(values, feasible, strict=True) if ok)


def test_limits_are_counted_and_the_nearest_design_is_named() -> None:
    limits = {"power": np.array([True, False, False]), "racks": np.array([False, True, True])}
    assert counts_ruled_out(limits) == {"power": 2, "racks": 1}
    # Each row breaks one limit; row 2 is the closest of them.
    assert nearest_row(limits, np.array([0.1, 0.2, 0.9])) == (2, ("power",))
    # Row 0 breaks both limits, row 1 one of them: the fewest broken go before closeness.
    both = {"power": np.array([False, True]), "racks": np.array([False, False])}
    assert nearest_row(both, np.array([0.9, 0.1])) == (1, ("racks",))


def test_space_holds_every_platform_at_every_size() -> None:
    space = design_space(2, 3, 5)
    assert space.platform.tolist() == [0, 0, 0, 1, 1, 1]
    assert space.n_servers.tolist() == [3, 4, 5, 3, 4, 5]
    assert space.of_platform(1) == slice(3, 6)
    assert space.n_rows == 6
