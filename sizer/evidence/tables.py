"""Tables of the evidence page: what must be reached, the worst, what is not predicted, and every group."""

import math
from collections.abc import Callable, Mapping, Sequence

from sizer.base.quantities import NARROW_SPACE, grouped, significant
from sizer.calibrate.validate import AccuracyTarget, ValidatedRow
from sizer.catalog.schema import Source
from sizer.evidence import rows as facts
from sizer.evidence.parity import source_title
from sizer.evidence.rows import Accuracy, Key
from sizer.evidence.validation_text import MEASURES
from sizer.present.tables import Cell, Row, Table, columns, row
from sizer.present.words import capital, percent, plural

_WORST_ROWS = 12
_WORST_GROUPS = 6
# A file may name thousands of sources or reasons; a page that lists them all is not read.
_MOST_LINES = 60


def figures_table(figures: Sequence[AccuracyTarget]) -> Table | None:
    """What the calibration must reach, and whether it does; None where nothing is asked."""
    if not figures:
        return None
    rows = [
        row(
            capital(MEASURES[one.measure]),
            _asked(one),
            # Three digits: 6.03 % misses a limit of 6 %, and the reader must see why.
            f"{significant(100 * one.value)}{NARROW_SPACE}%" if math.isfinite(one.value) else "not known",
            grouped(one.rows),
            "reached" if one.is_reached else "not reached",
            kind="" if one.is_reached else "strong",
        )
        for one in figures
    ]
    heads = columns(
        ("Figure", "left", 46),
        ("Asked for", "right", 17),
        ("Measured", "right", 12),
        ("Rows", "right", 9),
        ("", "left", 16),
    )
    return Table("figures", "Figures that the calibration must reach", heads, tuple(rows))


def _asked(figure: AccuracyTarget) -> str:
    if figure.low <= 0:
        return f"at most {facts.share_text(figure.high)}"
    if figure.high >= 1:
        return f"at least {facts.share_text(figure.low)}"
    return f"{facts.share_text(figure.low)} to {facts.share_text(figure.high)}"


def worst_groups_table(rows: Sequence[ValidatedRow], sources: Mapping[str, Source], remark: str) -> Table | None:
    """Kinds of number and sources with the largest errors; None where no group is large enough."""
    lines: list[Row] = []
    for title, key, name in (
        ("Kinds of number", facts.kind_name, Cell),
        ("Sources", source_of, source_cell(sources)),
    ):
        found = facts.worst_groups(rows, key, _WORST_GROUPS)
        if found:
            lines += [row(title, kind="group"), *(_group_row(one, name(one.name)) for one in found)]
    if not lines:
        return None
    heads = columns(
        ("Group", "left", 46),
        ("Rows", "right", 8),
        ("Median error", "right", 11),
        ("Errors", "left", 15),
        ("90 % interval", "left", 20),
    )
    caption = f"Groups of {facts.MIN_GROUP} rows or more that are predicted worst{remark}"
    return Table("worst-groups", caption, heads, tuple(lines))


def _group_row(one: Accuracy, name: Cell) -> Row:
    holds = f"holds {one.inside} of {one.judged}" + (", too narrow" if one.is_too_narrow else "")
    return row(name, grouped(one.predicted), facts.size_text(one.median), one.tendency, holds)


def worst_rows_table(
    rows: Sequence[ValidatedRow], sources: Mapping[str, Source], id_: str, remark: str
) -> Table | None:
    """Rows that are farthest off; None where no row has an error."""
    found = facts.worst_rows(rows, _WORST_ROWS)
    if not found:
        return None
    heads = columns(
        ("Published run", "left", 30),
        ("What", "left", 18),
        ("Published", "right", 13),
        ("Predicted", "right", 13),
        ("Error", "right", 14),
        ("90 % interval", "left", 12),
    )
    caption = f"The {plural(len(found), 'row')} that lie farthest off{remark}"
    if len(found) == 1:
        caption = f"The row that lies farthest off{remark}"
    return Table(id_, caption, heads, tuple(_worst_row(one, sources) for one in found))


def _worst_row(one: ValidatedRow, sources: Mapping[str, Source]) -> Row:
    inside, run = one.is_covered, facts.shortened(one.id)
    known = one.source in sources
    return row(
        Cell(run, cites=(one.source,)) if known else Cell(f"{run}, {source_title(one.source, sources)}"),
        facts.shortened(facts.kind_name(one)),
        facts.value_text(one.published, one.quantity),
        facts.value_text(one.predicted, one.quantity),
        facts.error_text(facts.error(one)),
        Cell("none", is_muted=True) if inside is None else "inside" if inside else "outside",
    )


def reasons_table(rows: Sequence[ValidatedRow]) -> Table | None:
    """Rows that say nothing about the model, counted by reason; None where every row counts."""
    lines: list[Row] = []
    for title, predicted in (("Not predicted", False), ("Predicted, but not counted", True)):
        found = facts.reasons(rows, predicted=predicted)
        if not found:
            continue
        lines.append(row(title, kind="group"))
        lines += [row(facts.reason_text(status), grouped(count)) for status, count in found[:_MOST_LINES]]
        rest = found[_MOST_LINES:]
        if rest:
            lines.append(row(f"{plural(len(rest), 'other reason')}", grouped(sum(count for _, count in rest))))
        lines.append(row("Together", grouped(sum(count for _, count in found)), kind="total"))
    if not lines:
        return None
    heads = columns(("Reason", "left", 85), ("Rows", "right", 15))
    return Table("reasons", "Rows that do not count, by reason", heads, tuple(lines))


def summary_table(
    rows: Sequence[ValidatedRow],
    unseen: Sequence[ValidatedRow],
    key: Key,
    id_: str,
    caption: str,
    head: str,
    name: Callable[[str], Cell],
) -> Table:
    """Accuracy of every group, with its source seen by the fit and left out."""
    found = sorted(facts.accuracies(rows, key), key=lambda one: (-one.predicted, -one.rows, one.name))
    others = {one.name: one for one in facts.accuracies(unseen, key)}
    lines = [
        row(name(one.name), *_numbers(one), *(_unseen_numbers(others.get(one.name)) if unseen else ()))
        for one in found[:_MOST_LINES]
    ]
    total = _numbers(facts.accuracy("", rows))
    left_out = _unseen_numbers(facts.accuracy("", unseen)) if unseen else ()
    lines.append(row("All", *total, *left_out, kind="total"))
    heads = [("Rows", 8), ("Predicted", 10), ("Median error", 10), ("9 of 10 within", 10), ("Inside", 10)]
    heads += [("Median, left out", 10), ("Inside, left out", 10)] if unseen else []
    width = 100 - sum(share for _, share in heads)
    more = len(found) - len(lines) + 1
    note = f"{plural(more, 'group')} with fewer rows are not listed; they count in the total." if more else ""
    return Table(
        id_,
        caption,
        columns((head, "left", width), *((title, "right", share) for title, share in heads)),
        tuple(lines),
        note,
    )


def task_cell(task: str) -> Cell:
    """A task as people say it."""
    return Cell(facts.shortened(facts.task_name(task)))


def kind_cell(kind: str) -> Cell:
    """Task and quantity."""
    return Cell(facts.shortened(kind))


def source_cell(sources: Mapping[str, Source]) -> Callable[[str], Cell]:
    """Title of a source with its number in the list, or what a file calls it."""
    return lambda key: Cell(source_title(key, sources), cites=(key,) if key in sources else ())


def source_of(one: ValidatedRow) -> str:
    """Key of the source."""
    return one.source


def _numbers(one: Accuracy) -> tuple[str | Cell, ...]:
    return (grouped(one.rows), grouped(one.predicted), *(_known(part) for part in (one.median, one.p90, one.coverage)))


def _unseen_numbers(one: Accuracy | None) -> tuple[Cell, ...]:
    return (_known(None), _known(None)) if one is None else (_known(one.median), _known(one.coverage))


def _known(share: float | None) -> Cell:
    return Cell("none", is_muted=True) if share is None else Cell(percent(share))
