"""What rules designs out, and the rows of a space."""

import numpy as np

from sizer.sizing.search.nearest_design import counts_ruled_out, nearest_row
from sizer.sizing.search.space import design_space


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


def test_large_spaces_are_sparse_and_hold_both_ends() -> None:
    sizes = design_space(1, 1, 10_000).sizes
    assert sizes[:512].tolist() == list(range(1, 513))
    assert sizes[-1] == 10_000
    assert len(sizes) < 1_500
    assert (np.diff(sizes) <= np.ceil(sizes[:-1] / 256) + 1).all()
