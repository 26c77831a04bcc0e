"""Axes of a sweep: keys of a request with the values that they take, and the points of their product."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, overload

from sizer.base.errors import RequestError
from sizer.base.faults import shown
from sizer.batch.keys import cells_of, request_key, unknown_column
from sizer.workload.request import SizingRequest

# More rows fit neither a reader nor the memory of a notebook.
MAX_POINTS = 1_000_000
# Alternatives of a workload; an axis over one of them replaces the others.
_ONE_OF = (
    ("target.samples_per_s", "target.time_to_train_s", "target.gpus_busy", "target.maximum"),
    ("epochs", "recipe"),
)

Cells = dict[str, Any]


@dataclass(frozen=True)
class Points(Sequence[Cells]):
    """The cartesian product of some axes over a request, each point as the cells of a row by dotted key.

    Points are computed on access; the last axis varies fastest.
    """

    base: Cells  # what no axis changes
    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]

    @classmethod
    def of(cls, request: SizingRequest, axes: Mapping[str, Sequence[Any]]) -> "Points":
        """Points of a request.

        Raises
        ------
        RequestError
            If a key does not exist, contains another axis or is an alternative to one, has no values, or the product
            has too many points.
        """
        names = tuple(axes)
        for name in names:
            if request_key(str(name)) is None:
                raise unknown_column(str(name), "axes")
        values = tuple(_values(name, axes[name]) for name in names)
        for place, name in enumerate(names):
            for other in names[:place]:
                if _excludes(name, other):
                    raise RequestError(f"axes: {name} and {other} cannot both be given; sweep one of them")
        if (count := prod(len(one) for one in values)) > MAX_POINTS:
            raise RequestError(f"axes: their product has {count} points; at most {MAX_POINTS} are allowed")
        base = {key: cell for key, cell in cells_of(request).items() if not any(_excludes(key, one) for one in names)}
        return cls(base, names, values)

    def __len__(self) -> int:
        return prod(len(one) for one in self.values)

    @overload
    def __getitem__(self, place: int) -> Cells: ...

    @overload
    def __getitem__(self, place: slice) -> list[Cells]: ...

    def __getitem__(self, place: int | slice) -> Cells | list[Cells]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        index = range(len(self))[place]
        cells: Cells = {}
        for name, values in zip(reversed(self.names), reversed(self.values), strict=True):
            index, position = divmod(index, len(values))
            cells[name] = values[position]
        return self.base | cells

    def __iter__(self) -> Iterator[Cells]:
        return (self[place] for place in range(len(self)))


def _values(name: str, values: object) -> tuple[Any, ...]:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise RequestError(f"axes: {name} = {shown(values)} is not a list of values")
    found = tuple(values)
    if not found:
        raise RequestError(f"axes: {name} has no values")
    return found


def _excludes(one: str, other: str) -> bool:
    """Whether a request cannot have both keys: one is inside the other, or they are alternatives."""
    if one == other or one.startswith(f"{other}.") or other.startswith(f"{one}."):
        return True
    (table, number, key), (_, other_number, other_key) = _parts(one), _parts(other)
    return table == "workload" and number == other_number and any({key, other_key} <= set(group) for group in _ONE_OF)


def _parts(name: str) -> tuple[str, str, str]:
    table, _, inside = name.partition(".")
    number, _, key = inside.partition(".")
    return table, number, key
