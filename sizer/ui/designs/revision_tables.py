"""Differences between answers and between revisions as sentences and tables."""

from collections.abc import Iterable
from typing import Any

import streamlit as st

from sizer.catalog.model import Catalog
from sizer.library.compare import Differences, FigureChange
from sizer.present.tables import Table
from sizer.present.words import listed, plural
from sizer.questions.compare.text import (
    bill_table,
    field_of,
    figure_cell,
    figures_table,
    is_told_apart,
    request_table,
)
from sizer.ui import look
from sizer.ui.error_messages import in_words
from sizer.ui.request_form.forms import label_of
from sizer.workload.table import FieldChange, Path

# Figures that a sentence names, the most important first.
_TELLING = ("gpus", "price", "rate-0", "time-0", "power", "storage-nodes", "capacity", "rack-units", "stage")


# --- since a result was saved


def verdict(since: Differences) -> str:
    """Whether a result is still the one that was saved, and what changed it."""
    if not since.has_answers:
        return "It no longer has a result."
    changed = [
        cause
        for cause, is_changed in (
            ("the catalogue or a price", since.is_other_catalog),
            ("the calibration", since.is_other_calibration),
            ("the version of the program", since.is_other_version),
        )
        if is_changed
    ]
    if since.is_same_answer:
        return (
            f"Its result is the same as when it was saved{f', although {listed(changed)} changed' if changed else ''}."
        )
    because = f"{listed(changed)} changed" if changed else "the calculation changed"
    return f"Its result has changed because {because}: {_effects(since)}."


def _effects(since: Differences) -> str:
    by_key = {figure.key: change for change in since.figures for figure in (change.before, change.now) if figure}
    telling = [by_key[key] for key in _TELLING if key in by_key][:3]
    if not telling:
        return f"{plural(len(since.lines), 'line')} of its bill"
    return listed(_figure_sentence(change, since.currencies) for change in telling)


def _figure_sentence(change: FigureChange, currencies: tuple[str, str]) -> str:
    label = next(figure.label for figure in (change.now, change.before) if figure is not None)
    before, now = (
        figure_cell(one, currency).text for one, currency in zip((change.before, change.now), currencies, strict=True)
    )
    return f"{label} {before} → {now}"


def show_since(since: Differences, catalog: Catalog) -> None:
    """Tables of the figures and lines of the bill that changed since a result was saved."""
    told = [one for one in since.figures if is_told_apart(one, since.currencies)]
    draw_tables(
        (
            figures_table(told, "When saved", "Now", since.currencies),
            bill_table(since.lines, "when saved", "now", since.currencies),
        ),
        catalog,
    )


def fields_table(changes: Iterable[FieldChange], before: str, now: str) -> Table | None:
    """Fields of the request that differ, by their names on the pages."""
    return request_table(changes, before, now, _path, _value)


def _path(path: Path) -> str:
    """Place in a request in words: of several workloads with its number."""
    *tables, field = (part for part in path if isinstance(part, str))
    numbers = {path[place - 1]: part + 1 for place, part in enumerate(path) if isinstance(part, int)}
    # The name of a table adds nothing to the name of its field, unless it is one of several.
    entries = [f"{table.replace('_', ' ')} {numbers[table]}" for table in tables if table in numbers]
    last = f"{field.replace('_', ' ')} {numbers[field]}" if field in numbers else label_of(field)
    return ": ".join(word[:1].upper() + word[1:] for word in (*entries, last))


def _value(path: Path, value: Any) -> str:
    return in_words(field_of(path), value)


def draw_tables(tables: Iterable[Table | None], catalog: Catalog) -> None:
    """Tables below their captions, without those that have nothing to say."""
    for table in filter(None, tables):
        st.subheader(table.caption, anchor=False)
        look.table(table, catalog.sources)
