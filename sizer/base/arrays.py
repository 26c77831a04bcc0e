"""Types of the arrays that models take and return, and records of them."""

from dataclasses import fields, replace
from types import EllipsisType
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
# Rows of the first axis, or entries of several axes.
Index: TypeAlias = Ints | Bools | slice | tuple[Ints | slice | int | EllipsisType | None, ...]


class Rows:
    """Base of dataclasses whose arrays have one entry a row; what else they hold is the same for all rows."""

    def take(self, rows: Index) -> Self:
        """The same of some rows of the first axis, of some entries of the first axes, or of some repeatedly."""
        record: Any = self
        parts = {field.name: getattr(self, field.name) for field in fields(record)}
        found: Self = replace(record, **{name: _taken(part, rows) for name, part in parts.items()})
        return found


def _taken(part: Any, rows: Index) -> Any:
    if isinstance(part, Rows):
        return part.take(rows)
    return part[rows] if isinstance(part, np.ndarray) and part.ndim else part
