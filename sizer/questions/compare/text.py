"""Differences of requests and answers with their causes, as tables and as plain text."""

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.formats.json_document import fields_of, json_document
from sizer.base.quantities import duration, grouped, si
from sizer.library.compare import (
    ComparedAnswer,
    Differences,
    FigureChange,
    HeadlineFigure,
    LineChange,
    SavedLine,
    Snapshot,
    figure_pairs,
)
from sizer.present.tables import WIDTH, Cell, Column, Table, clean, columns, row, table_text
from sizer.present.words import NOT_PUBLISHED, TO_BE_QUOTED, estimate, listed, money, percent, plural, sentence
from sizer.questions.compare.causes import AnswerDifference, Numbers, RequestOutcome
from sizer.questions.compare.designs import SAME, Value, value_difference, value_text
from sizer.workload.table import FieldChange, Path

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
            *(NOT_STATED if value is None else Cell(cut(text_of(one.path, value))) for value in (one.before, one.now)),
        )
        for one in changes
    ]
    return table_of("request", "Request", ("Field", before, now), rows)


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
    return value_difference(_value(new), _value(old), is_count=not old.unit)


def _value(figure: HeadlineFigure) -> Value:
    low, high = figure.low, figure.high
    ends = None if low is None or high is None else Estimate(*map(np.array, (figure.value, low, high)))
    return Value(figure.text, figure.value, ends, is_share=figure.unit == "%", is_text=bool(figure.text), of=figure.of)


def _money_difference(old: HeadlineFigure, new: HeadlineFigure) -> str:
    # A lower bound on a price says nothing about the difference.
    if not old.text or not new.text or old.is_at_least or new.is_at_least:
        return ""
    more = Decimal(new.text) - Decimal(old.text)
    return signed(more).text if more else SAME


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


# A difference below this part of the number itself is rounding of the models.
_LEAST = Fraction(1, 2000)


def effects_table(caused: AnswerDifference, before: str, currency: str, label_of: Callable[[str], str]) -> Table | None:
    """What every changed input does alone, and the whole difference; None where no input differs.

    ``before``: what the first request is called. ``label_of``: name of an input by its key.
    """
    if not caused.causes:
        return None
    figures = {figure.key: figure for figure in caused.now.figures if figure.key in caused.compared}
    times = (key for key in figures if key.startswith("time-"))
    # The rate is what is asked; racks follow the rack units.
    told = ("price", "gpus", "storage-nodes", *times, "power", "rack-units")
    keys = [key for key in told if key in figures and _moves(caused, key)]

    def effect(amount: Fraction | None, key: str) -> Cell:
        text = "no design" if amount is None else signed_number(amount, figures[key].unit, currency)
        return Cell(text, is_muted=not amount)

    rows = []
    for cause in caused.causes:
        design = cause.alone.design or f"no design: {cut(cause.alone.reason.splitlines()[0])}"
        is_same = cause.alone == caused.before
        cells = (effect(cause.effect(caused.before, key), key) for key in keys)
        rows.append(row(label_of(cause.key), Cell(design, is_muted=is_same), *cells))
    if len(caused.causes) > 1 and keys:
        totals = (effect(caused.total(key), key) for key in keys)
        rows.append(row("All changes together", caused.now.design, *totals, kind="total"))
    head = (
        Column("Input", "left", 22),
        Column(f"{before} with it alone", "left", 30 if keys else 78),
        *(Column(figures[key].label, "right", 48 // len(keys)) for key in keys),
    )
    note = "Changes interact: their effects need not add up to the whole difference." if len(caused.causes) > 1 else ""
    return Table("effects", "Effect of each changed input made alone", head, tuple(rows), note)


def _moves(caused: AnswerDifference, key: str) -> bool:
    base = max(abs(caused.before.numbers[key]), Fraction(1))
    steps = (caused.total(key), *(cause.effect(caused.before, key) for cause in caused.causes))
    return any(step is not None and abs(step) > base * _LEAST for step in steps)


def signed_number(amount: Fraction, unit: str, currency: str) -> str:
    """A difference of two numbers of a figure with its sign and unit."""
    if not amount:
        return "0"
    size = abs(amount)
    text = money(Decimal(round(size * 100)) / 100, currency) if unit == "money" else number_text(float(size), unit)
    return ("+" if amount > 0 else "\u2212") + text


def no_answer(caused: AnswerDifference, before: str, now: str) -> list[str]:
    """Which of two requests no design meets, and why."""
    pairs = ((before, caused.before), (now, caused.now))
    return [f"{name} has no design: {outcome.reason}" for name, outcome in pairs if not outcome.is_answered]


def summary(caused: AnswerDifference) -> str:
    """How much the requests differ, in one sentence."""
    if not caused.changes:
        return "The requests ask for the same."
    if not caused.causes:
        return "The requests differ only in what no search reads."
    return f"The requests differ in {plural(len(caused.causes), 'input')}."


# What the two are called in the heads of tables: their own names may be paths.
SIDES = ("A", "B")
_MOST_NAMED = 8


def difference_document(
    sides: tuple[ComparedAnswer, ComparedAnswer], since: Differences, caused: AnswerDifference
) -> dict[str, Any]:
    """The differences of two sides and what each changed input does alone."""
    old, new = sides[0].snapshot, sides[1].snapshot
    pairs = figure_pairs(old, new) if old is not None and new is not None else ()
    return json_document(
        "difference",
        **fields_of(since, "request", "is_other_catalog", "is_other_calibration", "is_other_version"),
        is_other_price_book=since.is_other_price_book,
        sides=[_side(side) for side in sides],
        figures=[{"before": _figure(pair.before), "now": _figure(pair.now)} for pair in pairs],
        bill=[{"before": _line(line.before), "now": _line(line.now), "more": line.more} for line in since.lines],
        sized_now={
            "before": _outcome(caused.before),
            "now": _outcome(caused.now),
            "total": _numbers({key: caused.total(key) for key in caused.compared}),
            "causes": [
                {"input": cause.key, "changes": cause.changes, "alone": _outcome(cause.alone)}
                for cause in caused.causes
            ],
        },
    )


def _side(side: ComparedAnswer) -> dict[str, object]:
    of_answer = ("design", "verdict", "currency", "catalog_digest", "calibration_digest", "tool_version")
    snapshot = side.snapshot
    answer = dict.fromkeys(of_answer) if snapshot is None else fields_of(snapshot, *of_answer)
    return {
        **answer,
        **fields_of(
            side, "name", is_of_then=side.is_stored, is_without_digest=side.is_unsealed, reason=side.reason or None
        ),
    }


def _figure(figure: HeadlineFigure | None) -> dict[str, object] | None:
    return None if figure is None else figure.model_dump(mode="json", exclude={"of"})


def _line(line: SavedLine | None) -> dict[str, object] | None:
    return None if line is None else line.model_dump(mode="json", exclude={"key"})


def _outcome(outcome: RequestOutcome) -> dict[str, object]:
    return {
        "design": outcome.design or None,
        "limiting": outcome.limiting,
        "numbers": _numbers(outcome.numbers),
        "reason": outcome.reason or None,
    }


def _numbers(numbers: Numbers) -> dict[str, object]:
    return {key: _money(value) if key == "price" else value for key, value in numbers.items()}


def _money(amount: Fraction) -> Decimal:
    return Decimal(amount.numerator) / Decimal(amount.denominator)


def difference_text(sides: tuple[ComparedAnswer, ComparedAnswer], since: Differences, caused: AnswerDifference) -> str:
    """What two sides say otherwise, and which input caused it.

    ``since``: of their requests and the answers they carry. ``caused``: of their requests, both sized now.
    """
    blocks = ["\n".join(_heading(name, side) for name, side in zip(SIDES, sides, strict=True))]
    snapshots = (sides[0].snapshot, sides[1].snapshot)
    currencies = since.currencies
    tables: list[Table | None] = [request_table(since.request, *SIDES, dotted, written)]
    if snapshots[0] is not None and snapshots[1] is not None:
        tables.append(figures_table(figure_pairs(snapshots[0], snapshots[1]), *SIDES, currencies))
        tables.append(bill_table(since.lines, *SIDES, currencies))
    tables.append(effects_table(caused, SIDES[0], currencies[1], str))
    notes = _notes(sides, since, caused)
    blocks.append("\n".join(line for text in notes for line in textwrap.wrap(clean(text), WIDTH)))
    if not since.are_none:
        blocks += [table_text(table) for table in tables if table is not None]
    return "\n\n".join(block for block in blocks if block)


def _heading(name: str, side: ComparedAnswer) -> str:
    when = "as answered then" if side.is_stored else "sized today"
    lines = [clean(f"{name}: {side.name}, {when}")]
    if side.snapshot is not None:
        said = sentence(side.snapshot.verdict)
        if not said.startswith(side.snapshot.design):
            said = f"{side.snapshot.design}. {said}"
    else:
        said = f"No answer: {side.reason}"
    indent = " " * 3
    lines += textwrap.wrap(clean(said), WIDTH, initial_indent=indent, subsequent_indent=indent)
    return "\n".join(lines)


def _notes(sides: tuple[ComparedAnswer, ComparedAnswer], since: Differences, caused: AnswerDifference) -> Iterator[str]:
    for name, side in zip(SIDES, sides, strict=True):
        if side.is_unsealed:
            yield (
                f"{name} is a customer's copy or a file without a digest: nothing shows whether its figures were "
                "changed after the program wrote them."
            )
    if since.are_none:
        yield "The two are the same."
        return
    yield summary(caused)
    # What besides the requests tells two answers apart.
    others = [
        what
        for what, is_other in (
            ("catalogue", since.is_other_catalog),
            ("calibration", since.is_other_calibration),
            ("version of the program", since.is_other_version),
        )
        if is_other
    ]
    if others:
        yield f"The two were answered with another {listed(others)}."
    if since.is_other_price_book:
        yield "Their price books differ."
    if since.has_answers and not since.figures and not since.lines:
        yield "Figures and bill are the same."
    yield from open_prices((sides[0].snapshot, sides[1].snapshot))
    if any(side.is_stored for side in sides):
        yield from moved_since(sides, caused)
    if any(side.price_book for side in sides):
        yield "Causes are sized with the catalogue's prices; a price book saved with a revision is not applied."
    yield from no_answer(caused, *SIDES)


def open_prices(snapshots: Sequence[Snapshot | None]) -> Iterator[str]:
    """Why two prices have no difference: what neither side's bill prices, by name."""
    known = [snapshot for snapshot in snapshots if snapshot is not None]
    names = dict.fromkeys(
        line.name for one in known for line in one.lines if line.net is None and line.is_bought and line.quantity
    )
    if names:
        more = len(names) - _MOST_NAMED
        told = [*list(names)[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
        yield (
            f"No difference of the prices can be told: {plural(len(names), 'item')} "
            f"{'is' if len(names) == 1 else 'are'} to be quoted ({listed(told)})."
        )


def moved_since(sides: tuple[ComparedAnswer, ComparedAnswer], caused: AnswerDifference) -> Iterator[str]:
    """Counts of a saved answer that are others when its request is sized now: that part no input causes."""
    for name, side, outcome in zip(SIDES, sides, (caused.before, caused.now), strict=True):
        if side.snapshot is None or not side.is_stored or not outcome.is_answered:
            continue
        moved = []
        for key in ("gpus", "servers", "storage-nodes", "rack-units", "power"):
            figure = side.snapshot.figure(key)
            now = outcome.numbers.get(key)
            if figure is not None and figure.value is not None and now is not None and _differ(figure.value, now):
                then, today = (number_text(value, figure.unit) for value in (figure.value, float(now)))
                moved.append(f"{figure.label} {then}, now {today}")
        if moved:
            yield (
                f"Sized now, {name} is another design than then ({listed(moved)}): catalogue, calibration or program "
                "did that, and the effects below compare what is sized now."
            )


def _differ(then: float, now: Fraction) -> bool:
    return abs(then - float(now)) > 1e-6 * max(abs(then), 1.0)
