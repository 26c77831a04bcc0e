"""Fields in which the requests of compared designs differ."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sizer.base.quantities import duration, plain, si, significant, tokens_text
from sizer.present import words
from sizer.present.tables import Cell, Table, row
from sizer.questions.compare.designs import Compared, check, column_heads
from sizer.questions.compare.values import SAME
from sizer.sizing.result import SizingResult

NOT_STATED = "not stated"
# From here on thousands are grouped.
_LARGE = 1e4
_Path = tuple[str, ...]
# Headings of a request; what the terms of its quote change shows in the prices.
_HEADING = ("schema_version", "quote", "title", "customer", "date")


def request_table(
    designs: Sequence[Compared], baseline: int, label_of: Callable[[str], str], name_of: Callable[[str], str]
) -> Table | None:
    """Fields in which the requests differ; None where they ask for the same.

    ``label_of``: label of a field by its name in a request. ``name_of``: name of a catalogue item by its id; other
    words come back as they are.
    """
    check(designs, baseline)
    asked = [dict(_fields(_told(one.result))) for one in designs]
    rows = []
    for path in dict.fromkeys(path for fields in asked for path in fields):
        values = [value_text(path[-1], fields.get(path), name_of) for fields in asked]
        if len(set(values)) > 1:
            cells = [_asked(value, values[baseline], place == baseline) for place, value in enumerate(values)]
            label = label_of(path[-1])
            rows.append(
                row((f"{label}, workload {path[1]}" if path[0] == "workload" and path[1] != "1" else label), *cells)
            )
    if not rows:
        return None
    return Table(
        "comparison-request",
        "Fields in which the requests differ",
        column_heads(designs, baseline, "Field"),
        tuple(rows),
    )


def _told(result: SizingResult) -> dict[str, Any]:
    data = result.asked_request.model_dump(mode="json", exclude_none=True)
    return {key: value for key, value in data.items() if key not in _HEADING}


def _fields(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Fields of a request with their places; tables below the list of workloads carry its number."""
    if isinstance(value, Mapping) and not (path and path[0] == "existing"):
        for key, part in value.items():
            yield from _fields(part, (*path, str(key)))
    elif path == ("workload",):
        for number, part in enumerate(value, start=1):
            yield from _fields(part, (*path, str(number)))
    else:
        yield path, value


def value_text(field: str, value: Any, name_of: Callable[[str], str]) -> str:
    """Value of a field with its unit, from a request with every default."""
    if value in (None, [], {}):
        return NOT_STATED
    if isinstance(value, Mapping):
        return ", ".join(f"{name_of(str(key))}: {value_text(str(key), part, name_of)}" for key, part in value.items())
    if isinstance(value, list):
        return ", ".join(value_text(field, part, name_of) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return name_of(str(value))
    if field == "samples_per_s":
        return f"{significant(value, 4)} samples/s"
    if field == "confidence":
        return words.percent(value)
    if field == "tokens_per_s":
        return f"{significant(value, 4)} tokens/s"
    units = (("_bytes_per_s", "B/s"), ("_bytes", "B"), ("_flop", "FLOP"), ("_w", "W"))
    unit = next((unit for ending, unit in units if field.endswith(ending)), "")
    if unit:
        return si(value, unit, 4)
    if field == "tokens":
        return tokens_text(value)
    if field.endswith("_s"):
        return duration(value)
    return plain(value) if value < _LARGE else significant(value, 6)


def _asked(value: str, base: str, is_base: bool) -> Cell:
    text = value if is_base or value != base or value == NOT_STATED else f"{value} ({SAME})"
    return Cell(text, is_muted=value == NOT_STATED)
