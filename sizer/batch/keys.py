"""Keys of a request as columns of a table: ``workload.0.target.samples_per_s``, ``platforms.servers`` and so on."""

import datetime
import json
import math
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from sizer.base.errors import RequestError
from sizer.base.faults import nearest, shown
from sizer.workload.request import SizingRequest

# What the cells of a column hold. "texts" is a list of texts; "text" also holds amounts of money, exactly.
CellKind = Literal["text", "texts", "number", "whole", "flag", "day"]

_KINDS: dict[type, CellKind] = {
    bool: "flag",
    int: "whole",
    float: "number",
    str: "text",
    Decimal: "text",
    datetime.date: "day",
}
_INDEX = re.compile(r"0|[1-9][0-9]{0,2}")
# Longest text of a list in a cell; with it the names inside stay few.
_MAX_LIST_CHARACTERS = 20_000
_MAX_WHOLE = 2**63 - 1


@dataclass(frozen=True)
class RequestKey:
    """A key that a request can have.

    Attributes
    ----------
    path : tuple of str and int
        Tables and positions that lead to the value.
    kind : CellKind
        What the value is.
    rank : tuple of int
        Place among the keys in the order of the schema.
    """

    path: tuple[str | int, ...]
    kind: CellKind
    rank: tuple[int, ...]


@dataclass(frozen=True)
class _Shape:
    """What an annotation allows: one value, one table, many of either, or values by name."""

    kind: CellKind | None = None
    model: type[BaseModel] | None = None
    is_many: bool = False
    is_by_name: bool = False


@lru_cache(maxsize=4096)
def request_key(name: str) -> RequestKey | None:
    """Key of a dotted name, or None when a request has no such key."""
    parts, path, rank = name.split("."), list[str | int](), list[int]()
    model: type[BaseModel] | None = SizingRequest
    while model is not None and parts:
        fields = list(model.model_fields)
        field = parts.pop(0)
        if field not in fields:
            return None
        shape = _shape(model.model_fields[field].annotation)
        path.append(field)
        rank.append(fields.index(field))
        if shape.is_by_name:
            # The name of an item may hold dots itself.
            item = ".".join(parts)
            return RequestKey((*path, item), shape.kind, tuple(rank)) if item and shape.kind else None
        if shape.is_many and shape.model is not None:
            if not parts or not _INDEX.fullmatch(parts[0]):
                return None
            path.append(int(parts[0]))
            rank.append(int(parts.pop(0)))
        elif not parts and shape.kind is not None:
            return RequestKey(tuple(path), "texts" if shape.is_many else shape.kind, tuple(rank))
        model = shape.model
    return None


def in_order(names: Sequence[str]) -> list[str]:
    """Names of keys in the order of the schema."""
    return sorted(names, key=lambda name: (_known(name).rank, name))


def unknown_column(name: str, place: str) -> RequestError:
    """Error of a column that is not a key of a request, with the nearest key."""
    positions = re.findall(r"(?<=\.)[0-9]+(?=\.|$)", name)
    hint = nearest(re.sub(r"(?<=\.)[0-9]+(?=\.|$)", "0", name), _templates())
    for position in positions:
        # The key that is meant, at the position that was written.
        hint = hint.replace(".0.", f".{position}.", 1)
    if any(not _INDEX.fullmatch(position) for position in positions):
        hint = "; positions count from 0 to 999, without zeros in front"
    return RequestError(
        f"{place}: unknown column {shown(name)}{hint}; columns are the dotted keys of a request, "
        "such as workload.0.dnn or limits.power_w"
    )


@lru_cache(maxsize=1)
def _templates() -> tuple[str, ...]:
    return tuple(_names(SizingRequest))


def _names(model: type[BaseModel]) -> Iterator[str]:
    for field, info in model.model_fields.items():
        shape = _shape(info.annotation)
        if shape.is_by_name:
            yield f"{field}.<item>"
        elif shape.kind is not None:
            yield field
        if shape.model is not None:
            yield from (f"{field}.0.{name}" if shape.is_many else f"{field}.{name}" for name in _names(shape.model))


def _shape(annotation: Any) -> _Shape:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(inner[0])
    if origin in (Union, types.UnionType):
        shapes = [_shape(one) for one in inner if one is not type(None)]
        kind = next((shape.kind for shape in shapes if shape.kind is not None), None)
        model = next((shape.model for shape in shapes if shape.model is not None), None)
        return _Shape(kind, model)
    if origin is tuple:
        one = _shape(inner[0])
        return _Shape(one.kind, one.model, is_many=True)
    if origin is dict:
        return _Shape(_shape(inner[1]).kind, is_by_name=True)
    if origin is Literal:
        return _Shape(_KINDS[type(inner[0])])
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _Shape(model=annotation)
    return _Shape(_KINDS.get(annotation))


def _known(name: str) -> RequestKey:
    key = request_key(name)
    assert key is not None, name
    return key


def nested(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Request as a plain mapping from its non-empty cells by dotted key.

    Raises
    ------
    RequestError
        If positions leave a gap, or a key is given both as a value and as a table.
    """
    request: dict[str, Any] = {}
    for name, value in cells.items():
        table: dict[Any, Any] = request
        path = _known(name).path
        for part in path[:-1]:
            inside = table.setdefault(part, {})
            if not isinstance(inside, dict):
                raise RequestError(f"{name} and the table it belongs to both have a value; give only one")
            table = inside
        if path[-1] in table:
            raise RequestError(f"{name} has a value and keys inside it; give only one")
        table[path[-1]] = value
    return {key: _listed(value, key) for key, value in request.items()}


def _listed(value: Any, place: str) -> Any:
    """Tables whose keys are positions as lists."""
    if not isinstance(value, dict):
        return value
    if not any(isinstance(key, int) for key in value):
        return {key: _listed(inside, f"{place}.{key}") for key, inside in value.items()}
    for position in range(len(value)):
        if position not in value:
            raise RequestError(f"{place}.{position} is missing although {place}.{max(value)} is given; number from 0")
    return [_listed(value[position], f"{place}.{position}") for position in range(len(value))]


def value_of_cell(name: str, cell: object) -> Any:
    """Value of a cell as a request accepts it; None for an empty cell.

    Text is read as in CSV: lists as a JSON array or separated by ";", whole numbers and true or false by their words.
    Other text stays unchanged; the validation of the request reports it.
    """
    kind = _known(name).kind
    if isinstance(cell, str):
        text = cell.strip()
        if not text:
            return None
        return cell if kind == "text" else _value_of_text(kind, text)
    if kind == "whole" and isinstance(cell, float) and cell.is_integer():
        # A column of whole numbers with gaps comes as floats from many programs.
        return int(cell)
    if isinstance(cell, datetime.datetime) and kind == "day" and cell.time() == datetime.time():
        return cell.date()
    return cell


def _value_of_text(kind: CellKind, text: str) -> Any:
    if kind == "whole" and re.fullmatch("[+-]?[0-9]{1,18}", text):
        return int(text)
    if kind == "flag" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind == "texts" and len(text) <= _MAX_LIST_CHARACTERS:
        if text.startswith("["):
            with suppress(ValueError, RecursionError):
                return json.loads(text)
            return text
        return [part.strip() for part in text.split(";") if part.strip()]
    return text


def cells_of(request: SizingRequest | Mapping[str, Any]) -> dict[str, Any]:
    """Values of a request by dotted key, in the types of the columns.

    Of a validated request: the keys that were given, quantities in SI. Of a mapping that was refused: the values that
    fit their columns.
    """
    content = request.model_dump(exclude_unset=True) if isinstance(request, SizingRequest) else request
    cells = {}
    for name, value in _flat(content, ""):
        key = request_key(name)
        cell = None if key is None else _cell(key.kind, value)
        if cell is not None:
            cells[name] = cell
    return cells


def _flat(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inside in value.items():
            if isinstance(key, str):
                yield from _flat(inside, f"{place}.{key}" if place else key)
    elif isinstance(value, list | tuple) and any(isinstance(inside, Mapping) for inside in value):
        for position, inside in enumerate(value):
            yield from _flat(inside, f"{place}.{position}")
    else:
        yield place, value


def _cell(kind: CellKind, value: Any) -> Any:
    """Value in the type of its column; None where it does not fit."""
    if kind == "texts":
        fits = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        return [writable(one) for one in value] if fits else None
    if kind == "flag":
        return value if isinstance(value, bool) else None
    if kind == "text":
        if isinstance(value, str):
            return writable(value)
        return f"{value:f}" if isinstance(value, Decimal) else None
    if kind == "day":
        return value if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if kind == "whole":
        return value if isinstance(value, int) and abs(value) <= _MAX_WHOLE else None
    with suppress(OverflowError):
        return float(value) if math.isfinite(value) else None
    return None


def writable(text: str) -> str:
    """Text as a table can hold it: lone surrogates, which JSON and file names can hold, become "?"."""
    return text.encode("utf-8", "replace").decode()
