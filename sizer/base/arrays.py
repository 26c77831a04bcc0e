"""Types of the arrays that models take and return."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
# Rows of the first axis, or entries of several axes.
Index: TypeAlias = Ints | Bools | slice | tuple[Ints | slice | int | None, ...]
