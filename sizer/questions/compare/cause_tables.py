"""Which input caused a difference, in a table and sentences."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

from sizer.base.quantities import duration, grouped, si
from sizer.present.tables import Cell, Column, Table, row
from sizer.present.words import money, plural
from sizer.questions.compare.causes import AnswerDifference
from sizer.questions.compare.tables import cut

# Numbers that the table has a column for, as they are called: the rate is what is asked, racks follow the rack units.
_COUNTS = {"gpus": "GPUs", "storage-nodes": "Storage nodes", "rack-units": "Rack units"}
# A difference below this part of the number itself is rounding of the models.
_LEAST = Fraction(1, 2000)


def effects_table(found: AnswerDifference, before: str, currency: str, label_of: Callable[[str], str]) -> Table | None:
    """What every changed input does alone, and the whole difference; None where no input differs.

    ``before``: what the first request is called. ``label_of``: name of an input by its key.
    """
    if not found.causes:
        return None
    times = tuple(key for key in found.compared if key.startswith("time-"))
    keys = [
        key
        for key in ("price", "gpus", "storage-nodes", *times, "power", "rack-units")
        if key in found.compared and _moves(found, key)
    ]

    def effect(amount: Fraction | None, key: str) -> Cell:
        text = "no design" if amount is None else signed_number(amount, key, currency)
        return Cell(text, is_muted=not amount)

    rows = []
    for cause in found.causes:
        design = cause.alone.design or f"no design: {cut(cause.alone.reason.splitlines()[0])}"
        is_same = cause.alone == found.before
        cells = (effect(cause.effect(found.before, key), key) for key in keys)
        rows.append(row(label_of(cause.key), Cell(design, is_muted=is_same), *cells))
    if len(found.causes) > 1 and keys:
        totals = (effect(found.total(key), key) for key in keys)
        rows.append(row("All changes together", found.now.design, *totals, kind="total"))
    head = (
        Column("Input", "left", 22),
        Column(f"{before} with it alone", "left", 30 if keys else 78),
        *(Column(number_label(key, found), "right", 48 // len(keys)) for key in keys),
    )
    note = "Changes interact: their effects need not add up to the whole difference." if len(found.causes) > 1 else ""
    return Table("effects", "Effect of each changed input made alone", head, tuple(rows), note)


def _moves(found: AnswerDifference, key: str) -> bool:
    base = max(abs(found.before.numbers[key]), Fraction(1))
    steps = (found.total(key), *(cause.effect(found.before, key) for cause in found.causes))
    return any(step is not None and abs(step) > base * _LEAST for step in steps)


def number_label(key: str, found: AnswerDifference) -> str:
    """What a number is called."""
    if key in _COUNTS:
        return _COUNTS[key]
    name, _, place = key.partition("-")
    label = {"price": "Net price", "power": "Power", "time": "Time to train"}[name]
    return f"{label}, workload {int(place) + 1}" if place not in ("", "0") or f"{name}-1" in found.compared else label


def signed_number(amount: Fraction, key: str, currency: str) -> str:
    """A difference with its sign and unit."""
    sign = "+" if amount > 0 else "\u2212"
    size = abs(amount)
    if key == "price":
        text = money(Decimal(round(size * 100)) / 100, currency)
    elif key == "power":
        text = si(float(size), "W")
    elif key.startswith("time-"):
        text = duration(float(size))
    else:
        text = grouped(float(size), 0 if size.denominator == 1 else 1)
    return "0" if not amount else sign + text


def no_answer(found: AnswerDifference, before: str, now: str) -> list[str]:
    """Which of two requests no design meets, and why."""
    pairs = ((before, found.before), (now, found.now))
    return [f"{name} has no design: {outcome.reason}" for name, outcome in pairs if not outcome.is_answered]


def summary(found: AnswerDifference) -> str:
    """How much the requests differ, in one sentence."""
    if not found.changes:
        return "The requests ask for the same."
    if not found.causes:
        return "The requests differ only in what no search reads."
    return f"The requests differ in {plural(len(found.causes), 'input')}."
