"""Which input caused a difference, in tables and sentences."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction

from sizer.base.quantities import duration, grouped, si
from sizer.present.tables import Cell, Column, Row, Table, columns, row
from sizer.present.words import listed, money, plural
from sizer.questions.compare.causes import MOST_COMBINED, AnswerDifference, Cause, RequestOutcome
from sizer.questions.compare.tables import NONE, cut

Label = Callable[[str], str]
# Numbers that a table of shares has a column for, as they are called.
_COUNTS = {"gpus": "GPUs", "storage-nodes": "Storage nodes", "rack-units": "Rack units"}
_NO_DESIGN = Cell("no design", is_muted=True)
# A share of a number below this part of the number itself is rounding of the models.
_LEAST = Fraction(1, 2000)
# Reasons why a request has no answer can be long; their first sentence says which limit it is.
_REASON = 100


def effects_table(found: AnswerDifference, before: str, now: str, label_of: Label) -> Table | None:
    """What every changed input does alone, and of all inputs except that one; None where nothing differs.

    ``before``, ``now``: what the two requests are called. ``label_of``: name of an input by its key.
    """
    rows = [
        row(label_of(cause.key), _outcome(cause.alone, found.before), _outcome(cause.left_out, found.now))
        for cause in found.causes
    ]
    if not rows:
        return None
    head = columns(("Input", "left", 24), (f"{before} with it alone", "left", 38), (f"{now} without it", "left", 38))
    return Table("effects", "Effect of each input alone, and of all inputs except that one", head, tuple(rows))


def _outcome(outcome: RequestOutcome, base: RequestOutcome) -> Cell:
    if not outcome.is_answered:
        return Cell(f"no design: {cut(_first_sentence(outcome.reason))}")
    is_same = outcome.numbers == base.numbers and outcome.design == base.design
    return Cell(f"{outcome.design} (same)" if is_same else outcome.design, is_muted=is_same)


def _first_sentence(text: str) -> str:
    first = text.splitlines()[0] if text else ""
    return first if len(first) <= _REASON else f"{first[: _REASON - 1]}…"


def shares_table(found: AnswerDifference, currency: str, label_of: Label) -> Table | None:
    """Share of every input in what differs, with what it does first and last; None where no number moves."""
    keys = [key for key in shown_numbers(found) if _moves(found, key)]
    if not keys:
        return None
    rows = [row(label_of(cause.key), *(_share(found, cause, key, currency) for key in keys)) for cause in found.causes]
    if len(found.causes) > 1:
        rows += _totals(found, keys, currency)
    width = 76 // len(keys)
    head = (Column("Input", "left", 24), *(Column(number_label(key, found), "right", width) for key in keys))
    return Table("shares", "Share of each input in the difference", head, tuple(rows), shares_note(found))


def shown_numbers(found: AnswerDifference) -> tuple[str, ...]:
    """Numbers that tables have room for: the rate is what is asked, racks follow the rack units."""
    times = tuple(key for key in found.compared if key.startswith("time-"))
    return tuple(
        key for key in ("price", "gpus", "storage-nodes", *times, "power", "rack-units") if key in found.compared
    )


def _moves(found: AnswerDifference, key: str) -> bool:
    base = max(abs(found.before.numbers[key]), Fraction(1))
    steps = [effect for cause in found.causes for effect in effects(found, cause, key) if effect is not None]
    return any(abs(step) > base * _LEAST for step in (found.total(key), *steps))


def effects(
    found: AnswerDifference, cause: Cause, key: str
) -> tuple[Fraction | None, Fraction | None, Fraction | None]:
    """Share of an input in a number's difference, what it does first, and what it does last; None where not known."""
    first, last = cause.alone.numbers.get(key), cause.left_out.numbers.get(key)
    return (
        cause.shares.get(key),
        None if first is None else first - found.before.numbers[key],
        None if last is None else found.now.numbers[key] - last,
    )


def _share(found: AnswerDifference, cause: Cause, key: str, currency: str) -> Cell:
    texts = ["no design" if one is None else signed_number(one, key, currency) for one in effects(found, cause, key)]
    share, first, last = texts
    if len(found.causes) == 1 or share == first == last:
        return _NO_DESIGN if first == "no design" else Cell(first, is_muted=first == "0")
    ends = f"first {first}, last {last}"
    return Cell(f"{share} ({ends})" if key in cause.shares else ends)


def _totals(found: AnswerDifference, keys: list[str], currency: str) -> Iterator[Row]:
    beyond = [found.together(key) for key in keys]
    texts = [
        NONE if one is None else Cell(signed_number(one, key, currency)) for one, key in zip(beyond, keys, strict=True)
    ]
    yield row("Together, beyond what each does first", *texts)
    totals = (signed_number(found.total(key), key, currency) for key in keys)
    yield row("The whole difference", *totals, kind="total")


def shares_note(found: AnswerDifference) -> str:
    """How the shares were made, and what they leave out."""
    if len(found.causes) < 2:
        return ""
    how = "First: the change made alone. Last: made after all the others."
    if not found.is_combined:
        return (
            f"{how} With more than {MOST_COMBINED} inputs not every combination was sized, so there is no share "
            "between the two."
        )
    how = f"The mean over all orders of making the changes one after another; shares add up exactly. {how}"
    counts = set(found.n_orders.values())
    if counts and min(counts) < found.n_all_orders:
        how += (
            f" {found.n_all_orders - min(counts)} of {found.n_all_orders} orders pass through a request without a "
            "design and are excluded."
        )
    return how


def cause_sentences(found: AnswerDifference, currency: str, label_of: Label) -> list[str]:
    """Each number that differs, with the inputs that make it, the largest first."""
    sentences = []
    for key in shown_numbers(found):
        total = found.total(key)
        parts = [(cause.shares[key], cause.key) for cause in found.causes if key in cause.shares]
        base = max(abs(found.before.numbers[key]), Fraction(1))
        telling = sorted((one for one in parts if abs(one[0]) > base * _LEAST), key=lambda one: -abs(one[0]))
        if not telling:
            continue
        made = listed(f"{label_of(cause)} {signed_number(share, key, currency)}" for share, cause in telling)
        whole = f"{signed_number(total, key, currency)}" if total else "the same, as changes cancel"
        sentences.append(f"{number_label(key, found)} {whole}: {made}.")
    return sentences


def number_label(key: str, found: AnswerDifference) -> str:
    """What a number is called."""
    if key in _COUNTS:
        return _COUNTS[key]
    name, _, place = key.partition("-")
    label = {"price": "Net price", "power": "Power", "time": "Time to train", "rate": "Rate"}[name]
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
