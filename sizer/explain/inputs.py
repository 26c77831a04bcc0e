"""Explanation of a figure as data, and its inputs as a table."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sizer.base.locale import current_locale
from sizer.base.provenance import Sourced
from sizer.base.quantities import NARROW_SPACE, number_and_unit, significant
from sizer.present import words
from sizer.present.tables import Cell, Row, Table, fact_table, row
from sizer.present.text.assumptions import assumption_rows
from sizer.sizing.assumptions import AssumedFact, DefaultTaken
from sizer.sizing.result import SizingResult

# Digits of inputs: the formula reproduces the printed answer.
_DIGITS = 5
_SMALL = 0.01


@dataclass(frozen=True)
class Explanation:
    """Formula, inputs, reasons, uncertainty and assumptions of one figure."""

    title: str
    answer: str
    formula: str
    inputs: Table
    reasons: tuple[str, ...]  # sentences
    uncertainty: tuple[str, ...]
    assumptions: tuple[str, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of the documents that the inputs come from, in their order."""
        return tuple(dict.fromkeys(key for one in self.inputs.rows for cell in one.cells for key in cell.cites))


@dataclass(frozen=True)
class StageInputs:
    """Formula of the capacity of a stage, its inputs and cautions."""

    formula: str
    inputs: tuple[Row, ...]
    cautions: tuple[str, ...]
    parts: tuple[str, ...] = ()  # names of the parts whose facts are used
    fields: tuple[str, ...] = ()  # words in the names of these facts


def input_row(name: str, value: str, fact: Sourced[Any] | None = None, note: str = "") -> Row:
    """One input with the document and the place in it; ``note`` says where it comes from instead."""
    if fact is None:
        return row(name, value, Cell(note, is_muted=not note))
    basis = f", {words.name(fact.basis)}" if fact.basis in ("assumed", "derived") else ""
    return row(name, value + basis, Cell("", (fact.source,), fact.where))


def inputs_table(key: str, rows: Iterable[Row]) -> Table:
    """Inputs of a figure."""
    return fact_table(
        f"why-{key}",
        "Inputs of the figure",
        rows,
        titles=("Input", "Value", "Source"),
        widths=(40, 22, 38),
        aligns=("left", "right", "left"),
        style="",
    )


def in_unit(value: float, unit: str) -> str:
    """A value with its unit, with enough digits to repeat the calculation."""
    amount, printed = number_and_unit(value, unit, digits_of(value))
    return f"{_trimmed(amount)}{NARROW_SPACE}{printed}"


def number(value: float) -> str:
    """A pure number with the same digits."""
    return _trimmed(significant(value, digits_of(value)))


def digits_of(value: float) -> int:
    """Digits that repeat a calculation; one less of a small number, which has zeros before them."""
    return _DIGITS if abs(value) >= _SMALL else _DIGITS - 1


def _trimmed(amount: str) -> str:
    """A number without zeros at the end of its decimals: '3.5000' is '3.5'."""
    sign = current_locale().decimal_sign
    return amount.rstrip("0").rstrip(sign) if sign in amount else amount


def assumed(result: SizingResult, names: Sequence[str], fields: Sequence[str] = ()) -> tuple[str, ...]:
    """Assumptions about workloads and parts with these names.

    ``names``: names of workloads and parts. ``fields``: of parts only facts whose field has one of these words in its
    name; empty: all facts.
    """
    texts = []
    for assumption, text in zip(result.assumptions, assumption_rows(result), strict=True):
        match assumption:
            case DefaultTaken(workload, _):
                is_wanted = workload in names
            case AssumedFact(item, fact):
                is_wanted = item.name in names and (not fields or any(word in fact.field for word in fields))
            case _:
                is_wanted = False
        if is_wanted:
            texts.append(f"{text.what}: {text.value}" + (f" ({text.note})" if text.note else ""))
    return tuple(dict.fromkeys(words.sentence(text) for text in texts))
