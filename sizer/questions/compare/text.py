"""Two answers compared, as plain text for a terminal."""

import textwrap
from collections.abc import Iterator, Sequence
from fractions import Fraction

from sizer.library.compare import Differences, figure_pairs
from sizer.library.compared_answers import ComparedAnswer
from sizer.library.snapshot import Snapshot
from sizer.present.plain_table import WIDTH, clean, table_text
from sizer.present.tables import Table
from sizer.present.words import listed, plural, sentence
from sizer.questions.compare.cause_tables import cause_sentences, effects_table, no_answer, shares_table, summary
from sizer.questions.compare.causes import AnswerDifference
from sizer.questions.compare.tables import bill_table, dotted, figures_table, number_text, request_table, written

# What the two are called in the heads of tables: their own names may be paths.
SIDES = ("A", "B")
_MOST_NAMED = 8


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
    tables += [effects_table(caused, *SIDES, str), shares_table(caused, currencies[1], str)]
    said = [*_notes(sides, found, caused), *cause_sentences(caused, currencies[1], str)]
    blocks.append("\n".join(line for text in said for line in textwrap.wrap(clean(text), WIDTH)))
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
                "did that, and the causes below compare what is sized now."
            )


def _differ(then: float, now: Fraction) -> bool:
    return abs(then - float(now)) > 1e-6 * max(abs(then), 1.0)
