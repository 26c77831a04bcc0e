"""Differences between answers and between revisions as sentences and tables."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import streamlit as st

from sizer.catalog.labels import fact_label, fact_text, item_name
from sizer.catalog.model import Catalog
from sizer.library.compare import ChangesSince, Differences, FactChange, FigureChange
from sizer.library.snapshot import FactValue, SavedPrice, SavedRate
from sizer.present.tables import Cell, Table, row
from sizer.present.words import TO_BE_QUOTED, listed, money, plural
from sizer.questions.compare.tables import (
    NONE,
    NOT_STATED,
    bill_table,
    cut,
    field_of,
    figure_cell,
    figures_table,
    interval,
    is_told_apart,
    request_table,
    table_of,
)
from sizer.ui import look
from sizer.ui.changes import in_words
from sizer.ui.request_form.names import label_of
from sizer.workload.changes import FieldChange, Path

# Figures that a sentence names, the most important first.
_TELLING = ("gpus", "price", "rate-0", "time-0", "power", "storage-nodes", "capacity", "rack-units", "stage")


# --- since a result was saved


def verdict(since: ChangesSince) -> str:
    """Whether a result is still the one that was saved, and what changed it."""
    causes = _causes(since)
    if not since.has_answer:
        return f"It no longer has a result: {causes or 'the program has changed'}."
    if since.is_same_answer:
        return f"Its result is the same as when it was saved{f', although {causes}' if causes else ''}."
    because = causes or "the calculation has changed, with the same catalogue, calibration and version"
    return f"Its result has changed because {because}: {_effects(since)}."


def _causes(since: ChangesSince) -> str:
    causes = []
    if since.removed_parts:
        causes.append(f"the catalogue no longer has {listed(since.removed_parts)}")
    changed = [
        plural(len(changes), word) for changes, word in ((since.facts, "fact"), (since.prices, "price")) if changes
    ]
    if changed:
        causes.append(f"{listed(changed)} of its parts changed in the catalogue")
    elif since.is_other_catalog and not since.removed_parts:
        causes.append("the catalogue changed, but not for its parts")
    if since.is_other_calibration:
        same = since.has_answer and not since.rates
        causes.append(f"the calibration changed{', with the same rates' if same else ''}")
    if since.is_other_version:
        causes.append(f"it was saved by version {since.snapshot.tool_version} of the program")
    return listed(causes)


def _effects(since: ChangesSince) -> str:
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


def show_since(since: ChangesSince, catalog: Catalog) -> None:
    """Tables of what changed since a result was saved, and of the effects."""
    if since.removed_parts:
        look.notes([f"The catalogue no longer has {part}." for part in since.removed_parts])
    tables = (
        _facts(since.facts, catalog),
        _prices(since),
        _rates(since),
        _figures(since.figures, "When saved", "Now", since.currencies),
        bill_table(since.lines, "when saved", "now", since.currencies),
    )
    _draw([table for table in tables if table is not None], catalog)


def _facts(changes: Sequence[FactChange], catalog: Catalog) -> Table | None:
    rows = [
        row(
            change.part,
            _field(change.field),
            _fact(change.field, change.before, catalog),
            _fact(change.field, change.now, catalog, change.source),
        )
        for change in changes
    ]
    return table_of("facts", "Facts of the catalogue", ("Part", "Fact", "When saved", "Now"), rows)


def _field(path: str) -> str:
    """Path of a fact in words: 'ports[1].count' reads 'Ports (2), count'."""
    parts = []
    for part in path.split("."):
        name, _, rest = part.partition("[")
        numbers = [int(number) + 1 for number in re.findall(r"\d+", rest)]
        parts.append(fact_label(name) + "".join(f" ({number})" for number in numbers))
    return ", ".join([parts[0], *(part[:1].lower() + part[1:] for part in parts[1:])])


def _fact(field: str, value: FactValue, catalog: Catalog, source: str = "") -> Cell:
    if value is None:
        return NOT_STATED
    last = re.sub(r"\[\d+\]", "", field.rpartition(".")[2])
    if isinstance(value, str):
        names = [_word(word, catalog) for word in value.split(", ")]
        text = ", ".join(names) if names != value.split(", ") else fact_text(last, value, catalog)
    else:
        text = fact_text(last, value, catalog)
    return Cell(cut(text), cites=(source,) if source else ())


def _word(word: str, catalog: Catalog) -> str:
    try:
        catalog.category_of(word)
    except KeyError:
        return word
    return item_name(word, catalog)


def _prices(since: ChangesSince) -> Table | None:
    currency = since.snapshot.currency
    rows = [row(change.part, _price(change.before, currency), _price(change.now, currency)) for change in since.prices]
    head = ("Part", ("When saved", "right"), ("Now", "right"))
    return table_of("prices", "Prices in the price book, per piece", head, rows)


def _price(price: SavedPrice | None, currency: str) -> Cell:
    if price is None:
        return Cell(TO_BE_QUOTED, is_muted=True)
    less = f" less {price.discount_percent} %" if Decimal(price.discount_percent) else ""
    return Cell(f"{money(Decimal(price.amount), currency)}{less}, {price.date}")


def _rates(since: ChangesSince) -> Table | None:
    rows = [row(change.before.workload, _rate(change.before), _rate(change.now)) for change in since.rates]
    head = ("Workload", ("When saved", "right"), ("Now", "right"))
    return table_of("rates", "Rate of one GPU of the design, by the calibration", head, rows)


def _rate(rate: SavedRate | None) -> Cell:
    if rate is None or rate.per_gpu is None:
        return NONE
    return Cell(interval(rate.per_gpu, rate.low, rate.high, rate.unit))


# --- between two revisions


def show_differences(differences: Differences, before: int, after: int, catalog: Catalog) -> None:
    """Tables of the differences between two revisions."""
    if differences.are_none:
        st.info(f"Revisions {before} and {after} are the same.")
        return
    names = (f"Revision {before}", f"Revision {after}")
    tables = (
        fields_table(differences.request, *names),
        _figures(differences.figures, *names, differences.currencies),
        bill_table(differences.lines, *names, differences.currencies),
    )
    _draw([table for table in tables if table is not None], catalog)
    if differences.is_other_price_book:
        look.note("The uploaded price books differ.")
    if not differences.has_answers:
        look.note("One of the two was saved by another version of the program; their results are not compared.")
    elif not differences.figures and not differences.lines:
        look.note("Figures and bill are the same.")


def fields_table(changes: Iterable[FieldChange], before: str, now: str) -> Table | None:
    """Fields of the request that differ, by their names on the pages."""
    return request_table(changes, before, now, _path, _value)


def _figures(changes: Iterable[FigureChange], before: str, now: str, currencies: tuple[str, str]) -> Table | None:
    return figures_table([one for one in changes if is_told_apart(one, currencies)], before, now, currencies)


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


def _draw(tables: Sequence[Table], catalog: Catalog) -> None:
    for table in tables:
        st.subheader(table.caption, anchor=False)
        look.table(table, catalog.sources)
