"""Two answers compared, as plain text for a terminal."""

import textwrap
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from sizer.base.formats.json_document import fields_of, json_document
from sizer.library.compare import Differences, figure_pairs
from sizer.library.compared_answers import ComparedAnswer
from sizer.library.snapshot import HeadlineFigure, SavedLine, Snapshot
from sizer.present.plain_table import WIDTH, clean, table_text
from sizer.present.tables import Table
from sizer.present.words import listed, plural, sentence
from sizer.questions.compare.cause_tables import effects_table, no_answer, summary
from sizer.questions.compare.causes import AnswerDifference, Numbers, RequestOutcome
from sizer.questions.compare.tables import bill_table, dotted, figures_table, number_text, request_table, written

# What the two are called in the heads of tables: their own names may be paths.
SIDES = ("A", "B")
_MOST_NAMED = 8


def difference_document(
    sides: tuple[ComparedAnswer, ComparedAnswer], found: Differences, caused: AnswerDifference
) -> dict[str, Any]:
    """The differences of two sides and what each changed input does alone."""
    old, new = sides[0].snapshot, sides[1].snapshot
    pairs = figure_pairs(old, new) if old is not None and new is not None else ()
    return json_document(
        "difference",
        **fields_of(found, "request", "is_other_catalog", "is_other_calibration", "is_other_version"),
        is_other_price_book=found.is_other_price_book,
        sides=[_side(side) for side in sides],
        figures=[{"before": _figure(pair.before), "now": _figure(pair.now)} for pair in pairs],
        bill=[{"before": _line(line.before), "now": _line(line.now), "more": line.more} for line in found.lines],
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


def difference_text(sides: tuple[ComparedAnswer, ComparedAnswer], found: Differences, caused: AnswerDifference) -> str:
    """What two sides say otherwise, and which input caused it.

    ``found``: of their requests and the answers they carry. ``caused``: of their requests, both sized now.
    """
    blocks = ["\n".join(_heading(name, side) for name, side in zip(SIDES, sides, strict=True))]
    snapshots = (sides[0].snapshot, sides[1].snapshot)
    currencies = found.currencies
    tables: list[Table | None] = [request_table(found.request, *SIDES, dotted, written)]
    if snapshots[0] is not None and snapshots[1] is not None:
        tables.append(figures_table(figure_pairs(snapshots[0], snapshots[1]), *SIDES, currencies))
        tables.append(bill_table(found.lines, *SIDES, currencies))
    tables.append(effects_table(caused, SIDES[0], currencies[1], str))
    notes = _notes(sides, found, caused)
    blocks.append("\n".join(line for text in notes for line in textwrap.wrap(clean(text), WIDTH)))
    if not found.are_none:
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


def _notes(sides: tuple[ComparedAnswer, ComparedAnswer], found: Differences, caused: AnswerDifference) -> Iterator[str]:
    for name, side in zip(SIDES, sides, strict=True):
        if side.is_unsealed:
            yield (
                f"{name} is a customer's copy or a file without a digest: nothing shows whether its figures were "
                "changed after the program wrote them."
            )
    if found.are_none:
        yield "The two are the same."
        return
    yield summary(caused)
    # What besides the requests tells two answers apart.
    others = [
        what
        for what, is_other in (
            ("catalogue", found.is_other_catalog),
            ("calibration", found.is_other_calibration),
            ("version of the program", found.is_other_version),
        )
        if is_other
    ]
    if others:
        yield f"The two were answered with another {listed(others)}."
    if found.is_other_price_book:
        yield "Their price books differ."
    if found.has_answers and not found.figures and not found.lines:
        yield "Figures and bill are the same."
    yield from open_prices((sides[0].snapshot, sides[1].snapshot))
    if any(side.is_stored for side in sides):
        yield from moved_since(sides, caused)
    if any(side.price_book for side in sides):
        yield "Causes are sized with the catalogue's prices; a price book saved with a revision is not applied."
    yield from no_answer(caused, *SIDES)


def open_prices(snapshots: Sequence[Snapshot | None]) -> Iterator[str]:
    """Why two prices have no difference: what neither side's bill prices, by name."""
    known = [one for one in snapshots if one is not None]
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
