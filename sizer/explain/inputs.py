"""What stands behind a figure as data, and its inputs as rows of a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sizer.base.provenance import Sourced
from sizer.base.quantities import NARROW_SPACE, si, significant
from sizer.present import words
from sizer.present.assumption_text import assumption_rows
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.sizing.result import SizingResult

# Digits of inputs: the formula gives the printed answer again.
_DIGITS = 5


@dataclass(frozen=True)
class Why:
    """What stands behind one figure."""

    title: str
    answer: str
    formula: str
    inputs: Table
    reasons: tuple[str, ...]  # where it comes from, in sentences
    uncertainty: tuple[str, ...]
    assumptions: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of the documents that the inputs come from, in their order."""
        return tuple(dict.fromkeys(key for one in self.inputs.rows for cell in one.cells for key in cell.cites))


def input_row(name: str, value: str, fact: Sourced[Any] | None = None, note: str = "") -> Row:
    """One input with the document and the place in it; ``note`` says where it comes from instead."""
    if fact is None:
        return row(name, value, Cell(note, is_muted=not note))
    basis = f", {words.name(fact.basis)}" if fact.basis in ("assumed", "derived") else ""
    return row(name, value + basis, Cell("", (fact.source,), fact.where))


def inputs_table(key: str, rows: Iterable[Row]) -> Table:
    """Inputs of a figure."""
    heads = columns(("Input", "left", 40), ("Value", "right", 22), ("From", "left", 38))
    return Table(f"why-{key}", "Inputs of the figure", heads, tuple(rows))


def exact(text: str) -> str:
    """A number, or one with its unit, without zeros at the end of its decimals: '3.5000 kW' reads '3.5 kW'."""
    number, space, unit = text.rpartition(NARROW_SPACE)
    if unit[:1].isdigit():
        number, space, unit = text, "", ""
    return (number.rstrip("0").rstrip(".") if "." in number else number) + space + unit


def in_unit(value: float, unit: str) -> str:
    """A value with its unit, to the digits that let a reader compute with it."""
    return exact(si(value, unit, _DIGITS))


def number(value: float) -> str:
    """A pure number, to the same digits."""
    return exact(significant(value, _DIGITS))


def assumed(result: SizingResult, names: Sequence[str], about: Sequence[str] = ()) -> tuple[str, ...]:
    """Assumptions on some things, of those with ``about`` in the name of the fact where that is given."""
    found = []
    for one in assumption_rows(result):
        name, colon, what = one.what.partition(": ")
        if not colon or name not in names:
            continue
        of_workload = any(answer.workload.name == name for answer in result.design.workloads)
        if of_workload or not about or any(word in what.lower() for word in about):
            found.append(f"{one.what}: {one.value}" + (f" ({one.note})" if one.note else ""))
    return tuple(dict.fromkeys(words.sentence(text) for text in found))
