"""Tables of what two answers say otherwise: fields of the request, figures and lines of the bill."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.quantities import duration, grouped, si
from sizer.library.compare import FigureChange, LineChange
from sizer.library.snapshot import HeadlineFigure, SavedLine
from sizer.present.tables import Cell, Table, columns, row
from sizer.present.words import NOT_PUBLISHED, TO_BE_QUOTED, estimate, money, percent, plural
from sizer.questions.compare.requests import value_text
from sizer.questions.compare.values import OTHER, OTHER_WORKLOAD, SAME, WITHIN, count_difference, difference, points
from sizer.workload.changes import FieldChange, Path

NOT_STATED = Cell("not stated", is_muted=True)
NONE = Cell("none", is_muted=True)
# Rows of a table that are shown; more of them are counted.
_MOST_ROWS = 60
_LONGEST = 80


# --- request


def request_table(
    changes: Iterable[FieldChange],
    before: str,
    now: str,
    label_of: Callable[[Path], str],
    text_of: Callable[[Path, Any], str],
) -> Table | None:
    """Fields of the request that differ.

    ``before``, ``now``: heads of the columns. ``label_of``: a place in a request in words. ``text_of``: a value in
    words, from its place and itself.
    """
    rows = [
        row(
            label_of(one.path),
            *(NOT_STATED if value is None else Cell(cut(text_of(one.path, value))) for value in _sides(one)),
        )
        for one in changes
    ]
    return table_of("request", "Request", ("Field", before, now), rows)


def _sides(change: FieldChange) -> tuple[Any, Any]:
    return change.before, change.now


def dotted(path: Path) -> str:
    """A place in a request as its file writes it: 'workload[1].target.samples_per_s'."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def field_of(path: Path) -> str:
    """Name of the field that a place in a request ends with; "" for an empty path."""
    return next((part for part in reversed(path) if isinstance(part, str)), "")


def written(path: Path, value: Any) -> str:
    """A value of a request with its unit, items by their ids."""
    return value_text(field_of(path), value, str)


# --- answer


def figures_table(changes: Iterable[FigureChange], before: str, now: str, currencies: tuple[str, str]) -> Table | None:
    """Figures of two answers with their differences.

    Where the 90 % intervals of two figures overlap, the difference reads "within the interval".
    """
    rows = []
    for change in changes:
        label = next(figure.label for figure in (change.now, change.before) if figure is not None)
        cells = (figure_cell(change.before, currencies[0]), figure_cell(change.now, currencies[1]))
        told = figure_difference(change, currencies)
        rows.append(row(label, *cells, Cell(told, is_muted=told == SAME)))
    return table_of("figures", "Answer", ("Figure", (before, "right"), (now, "right"), ("Difference", "right")), rows)


def is_told_apart(change: FigureChange, currencies: tuple[str, str]) -> bool:
    """Whether two figures differ in the digits that are shown: below the interval's digits a reader sees none."""
    return figure_cell(change.before, currencies[0]) != figure_cell(change.now, currencies[1])


def figure_difference(change: FigureChange, currencies: tuple[str, str]) -> str:
    """What a figure is more or less than before, in words and signs; empty where none can be told."""
    old, new = change.before, change.now
    if old is None or new is None or old.unit != new.unit:
        return ""
    if old.unit == "money":
        return _money_difference(old, new) if currencies[0] == currencies[1] else ""
    if old.text or new.text:
        return SAME if old.text == new.text else OTHER
    if old.value is None or new.value is None:
        return ""
    if old.of != new.of and old.of and new.of:
        return OTHER_WORKLOAD
    if old.value != new.value and _overlap(old, new):
        return WITHIN
    if old.unit == "%":
        return points(new.value, old.value)
    return (difference if old.unit else count_difference)(new.value, old.value)


def _money_difference(old: HeadlineFigure, new: HeadlineFigure) -> str:
    # A lower bound on a price says nothing about the difference.
    if not old.text or not new.text or old.is_at_least or new.is_at_least:
        return ""
    more = Decimal(new.text) - Decimal(old.text)
    return signed(more).text if more else SAME


def _overlap(old: HeadlineFigure, new: HeadlineFigure) -> bool:
    if old.low is None or old.high is None or new.low is None or new.high is None:
        return False
    return old.low <= new.high and new.low <= old.high


def figure_cell(figure: HeadlineFigure | None, currency: str) -> Cell:
    """A figure of an answer, or that it has none."""
    return NONE if figure is None else Cell(figure_text(figure, currency))


def figure_text(figure: HeadlineFigure, currency: str) -> str:
    """A figure of a saved answer in words."""
    if figure.unit == "money":
        is_whole = figure.text and not figure.is_at_least
        return money(Decimal(figure.text), currency) if is_whole else TO_BE_QUOTED
    if figure.text or figure.value is None:
        return figure.text or NOT_PUBLISHED
    if figure.low is not None and figure.high is not None:
        return interval(figure.value, figure.low, figure.high, figure.unit)
    text = number_text(figure.value, figure.unit)
    return f"at least {text}" if figure.is_at_least else text


def number_text(value: float, unit: str) -> str:
    """A number of a figure with its unit."""
    if unit == "%":
        return percent(value)
    if unit == "s":
        return duration(value)
    if unit:
        return si(value, unit)
    return grouped(value) if value.is_integer() else f"{value:g}"


def interval(value: float, low: float | None, high: float | None, unit: str) -> str:
    """A number with its interval, as far as that is known."""
    middle, lowest, highest = (np.array(value if one is None else one) for one in (value, low, high))
    return estimate(Estimate(middle, lowest, highest), unit)


# --- bill


def bill_table(changes: Sequence[LineChange], before: str, now: str, currencies: tuple[str, str]) -> Table | None:
    """Lines of the bill that came, went or changed, with money."""
    rows = []
    for change in changes:
        name = next(line.name for line in (change.now, change.before) if line is not None)
        more = change.more if currencies[0] == currencies[1] else None
        rows.append(
            row(
                cut(name),
                _pieces(change.before),
                _pieces(change.now),
                _net(change.before, currencies[0]),
                _net(change.now, currencies[1]),
                NONE if more == 0 else Cell(TO_BE_QUOTED, is_muted=True) if more is None else signed(more),
            )
        )
    head = (
        "Line",
        (f"Pieces, {_inside(before)}", "right"),
        (f"Pieces, {_inside(now)}", "right"),
        (f"Net price {currencies[0]}, {_inside(before)}", "right"),
        (f"Net price {currencies[1]}, {_inside(now)}", "right"),
        (f"Difference {currencies[1]}" if currencies[0] == currencies[1] else "Difference", "right"),
    )
    return table_of("bill", "Bill", head, rows)


def _inside(name: str) -> str:
    """A head inside another one: single letters name the sides and stay."""
    return name if len(name) == 1 else name[:1].lower() + name[1:]


def _pieces(line: SavedLine | None) -> Cell:
    if line is None:
        return NONE
    return Cell(grouped(line.quantity) + ("" if line.is_bought else ", not in the total"))


def _net(line: SavedLine | None, currency: str) -> Cell:
    if line is None:
        return NONE
    return Cell(TO_BE_QUOTED, is_muted=True) if line.net is None else Cell(_amount(Decimal(line.net), currency))


def _amount(amount: Decimal, currency: str) -> str:
    return money(amount, currency).removeprefix(f"{currency} ")


def signed(amount: Decimal) -> Cell:
    """An amount of money with its sign."""
    sign = "+" if amount > 0 else "\u2212"
    return Cell(sign + _amount(abs(amount), ""))


# --- tables


def table_of(key: str, caption: str, head: Sequence[Any], rows: Sequence[Any]) -> Table | None:
    """A table of the first rows that counts the others; None without rows."""
    if not rows:
        return None
    more = len(rows) - _MOST_ROWS
    note = f"{plural(more, 'row')} more." if more > 0 else ""
    return Table(key, caption, columns(*head), tuple(rows[:_MOST_ROWS]), note)


def cut(text: str) -> str:
    """Text of a cell, not longer than a cell may be."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
