"""What ruled designs of a space out, and the design that breaks the fewest limits."""

from collections.abc import Mapping

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.sizing.limits import AnyLimit


def counts_ruled_out(limits: Mapping[AnyLimit, Bools]) -> dict[AnyLimit, int]:
    """Limit -> designs that it excludes, alone or among others, most first; of limits that exclude any."""
    counts = {limit: int((~passes).sum()) for limit, passes in limits.items()}
    return {limit: count for limit, count in sorted(counts.items(), key=lambda pair: -pair[1]) if count}


def nearest_row(limits: Mapping[AnyLimit, Bools], closeness: Floats) -> tuple[int, tuple[AnyLimit, ...]]:
    """Row that breaks the fewest limits, and which; of equals the one with the greatest ``closeness``.

    Of an infeasible space this is the design to name: what it breaks is what rules every design out.
    """
    breaks = np.stack([~passes for passes in limits.values()])
    count = breaks.sum(axis=0)
    rows = np.flatnonzero(count == count.min())
    row = int(rows[np.argmax(closeness[rows])])
    return row, tuple(limit for limit, broken in zip(limits, breaks[:, row], strict=True) if broken)
