"""Tables of the guide, prepared cell by cell: templates only print them."""

from dataclasses import dataclass
from typing import Literal

from sizer.base.provenance import Sourced
from sizer.catalog.labels import fact_label, fact_text, fact_value
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import CapacityOption, Item, Port
from sizer.present import words

Align = Literal["left", "right"]


@dataclass(frozen=True)
class Cell:
    """Text of a cell with the keys of its sources."""

    text: str
    cites: tuple[str, ...] = ()
    where: str = ""  # place inside the source
    is_muted: bool = False
    stage: str = ""  # key of a stage whose colour marks the cell
    chapter: str = ""  # id of a chapter that the cell leads to

    @property
    def is_unknown(self) -> bool:
        """Whether the cell says that nobody knows; it prints in muted italics."""
        return self.is_muted or self.text in (words.TO_BE_QUOTED, words.NOT_PUBLISHED)


@dataclass(frozen=True)
class Row:
    """One row; ``kind`` 'group' heads the rows below it, 'total' sums the rows above, 'strong' stands out."""

    cells: tuple[Cell, ...]
    kind: Literal["", "group", "total", "strong"] = ""


@dataclass(frozen=True)
class Column:
    """Head of a column; ``width`` in percent, 0 leaves it to the content."""

    title: str
    align: Align = "left"
    width: int = 0


@dataclass(frozen=True)
class Table:
    """A table with its caption. ``id`` is unique in the document."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""
    style: str = ""


def row(*cells: str | Cell, kind: Literal["", "group", "total", "strong"] = "") -> Row:
    """Row from texts and cells."""
    return Row(tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells), kind)


def columns(*titles: str | tuple[str, Align] | tuple[str, Align, int]) -> tuple[Column, ...]:
    """Columns from titles, optionally with alignment and width."""
    return tuple(Column(title) if isinstance(title, str) else Column(*title) for title in titles)


# What concerns the item as a product rather than its work in the design.
_LAST = {"features", "introduced", "end_of_sale", "end_of_service"}
_USES = {
    "compute": "gradients",
    "storage": "storage",
    "management": "management",
    "bmc": "BMC",
    "fabric": "uplinks",
    "back-end": "back end",
    "any": "",
}


def component_rows(item: Item, catalog: Catalog, capacity_option: int = 0) -> tuple[Row, ...]:
    """Fact, value and source of everything that a catalogue item states."""
    rows: list[Row] = []
    if item.skus:
        skus = Cell(", ".join(sku.value for sku in item.skus))
        rows.append(row("Part number", skus, _source(item.skus[0].source, item.skus[0].where)))
    fields = sorted(type(item).model_fields, key=lambda field: field in _LAST)
    for field in fields:
        value = getattr(item, field)
        if isinstance(value, Sourced):
            rows.append(_fact_row(field, value, catalog))
        elif field == "ports":
            rows += [_port_row(port) for port in value]
        elif field == "capacity_options" and value:
            rows.append(_capacity_row(value[min(capacity_option, len(value) - 1)]))
        elif field == "features":
            rows += [_labelled(words.capital(label), fact, fact_value(fact.value, "")) for label, fact in value.items()]
    return tuple(rows)


def _fact_row(field: str, fact: Sourced[object], catalog: Catalog) -> Row:
    label = fact_label(field)
    value = fact_text(field, fact.value, catalog)
    others = [fact_text(field, other.value, catalog) for other in fact.alternates]
    different = [text for text in dict.fromkeys(others) if text != value]
    if different:
        value = f"{value} (other sources: {words.listed(different)})"
    return _labelled(label, fact, value)


def _labelled(label: str, fact: Sourced[object], value: str) -> Row:
    return row(label, Cell(value + basis_note(fact.basis)), _source(fact.source, fact.where))


def basis_note(basis: str) -> str:
    """What stands behind a value that no source states as it is: ', assumed'."""
    return f", {words.name(basis)}" if basis in ("assumed", "derived") else ""


def port_text(port: Port) -> str:
    """Number, kinds and use of some ports: '4 × EDR or 100 GbE, gradients'."""
    kinds = [kind_name(port.kind), *(kind_name(other) for other in port.also)]
    use = f", {_USES[port.use]}" if _USES[port.use] else ""
    note = basis_note(port.basis) if port.basis == "assumed" else ""
    return f"{port.count} × {words.listed(kinds, 'or')}{use}{note}"


def _port_row(port: Port) -> Row:
    return row("Ports", port_text(port), _source(port.source, port.where))


def _capacity_row(option: CapacityOption) -> Row:
    fact = option.raw_bytes
    return row(
        "Raw capacity of a unit",
        f"{fact_value(fact.value, 'B')} ({option.name})",
        _source(fact.source, fact.where),
    )


def _source(key: str, where: str) -> Cell:
    return Cell("", cites=(key,), where=where)
