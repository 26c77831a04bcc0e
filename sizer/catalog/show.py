"""An item as rows of a table: every fact with its value, basis and source."""

from sizer.base.provenance import Sourced
from sizer.catalog.items import Item

Row = tuple[str, str, str, str, str, str]


def item_rows(item: Item) -> list[Row]:
    """Rows (fact, value, basis, source, place, note) of an item; alternates follow the chosen value."""
    rows: list[Row] = []
    for field in type(item).model_fields:
        if field not in ("id", "name"):
            rows += _rows(field, getattr(item, field))
    return rows


def _rows(name: str, value: object) -> list[Row]:
    if value is None or value == () or value == {}:
        return []
    if isinstance(value, Sourced):
        chosen: Row = (name, _text(value.value), value.basis, value.source, value.where, value.note)
        return [
            chosen,
            *((f"  {name} (alternate)", _text(a.value), "", a.source, a.where, a.note) for a in value.alternates),
        ]
    if isinstance(value, dict):
        return [row for key, inner in value.items() for row in _rows(key, inner)]
    if isinstance(value, tuple) and value and hasattr(value[0], "model_dump"):
        return [row for index, inner in enumerate(value, 1) for row in _part_rows(f"{name} {index}", inner)]
    text = ", ".join(str(part) for part in value) if isinstance(value, tuple) else str(value)
    return [(name, text, "", "", "", "")]


def _part_rows(name: str, part: object) -> list[Row]:
    data = part.model_dump(exclude_none=True)  # type: ignore[attr-defined]
    inner = [(key, getattr(part, key)) for key in data]
    nested = [row for key, value in inner if isinstance(value, Sourced) for row in _rows(f"{name}: {key}", value)]
    if nested:
        return nested
    source, where, note, basis = (str(data.pop(key, "")) for key in ("source", "where", "note", "basis"))
    text = ", ".join(f"{key} {value}" for key, value in data.items() if value not in ("", (), []))
    return [(name, text, basis, source, where, note)]


def _text(value: object) -> str:
    return (
        f"{value:,.10g}".replace(",", "_")
        if isinstance(value, (int, float)) and not isinstance(value, bool)
        else str(value)
    )
