"""A table of plain cells: the form in which the plan reaches every writer."""

from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = str | int | float | None
Row: TypeAlias = tuple[Cell, ...]

AT_LEAST = "at least"


@dataclass(frozen=True)
class Sheet:
    """One table. Cells of a column in ``numeric`` are numbers, or None where nothing is known; others are text."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    numeric: frozenset[str]
    notes: tuple[str, ...] = ()  # sentences to print below it
