"""Columns of the answers of a batch, and their values for one answer."""

import datetime
import json
import math
import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel

from sizer.base.errors import RequestError
from sizer.base.estimate import Estimate
from sizer.base.faults import nearest, shown
from sizer.base.formats.json_document import portable
from sizer.bom.bill import Bill
from sizer.physical.components import Quantities
from sizer.physical.platform import Platform
from sizer.present.text.design_size import binding_limit_text
from sizer.sizing.constraints.tiers import usable_for_data_bytes
from sizer.sizing.reasons import Binding
from sizer.sizing.result import WorkloadFigures, design_name
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

    ``path``: tables and positions that lead to the value. ``kind``: what the value is. ``rank``: place among the keys
    in the order of the schema.
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
        shapes = [_shape(inner_type) for inner_type in inner if inner_type is not type(None)]
        kind = next((shape.kind for shape in shapes if shape.kind is not None), None)
        model = next((shape.model for shape in shapes if shape.model is not None), None)
        return _Shape(kind, model)
    if origin is tuple:
        inner_type = _shape(inner[0])
        return _Shape(inner_type.kind, inner_type.model, is_many=True)
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

    Raises RequestError if positions leave a gap, or a key is given both as a value and as a table.
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
        fits = isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)
        return [writable(text) for text in value] if fits else None
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


# Names of computed columns start with this; no key of a request does.
PREFIX = "answer."
# Raised when a column changes its meaning: finished chunks of an older version are sized again.
COLUMNS_VERSION = 1

# Cents exactly, as the bill says them.
_MONEY = pa.decimal128(38, 2)
_ESTIMATE = ("value", "low", "high")
_FIXED = {
    "place": pa.string(),
    "status": pa.string(),
    "error": pa.string(),
    "needs_cluster": pa.bool_(),
    "probability": pa.float64(),
    "binding_limit": pa.string(),
    "design.name": pa.string(),
    "design.server": pa.string(),
    "design.servers": pa.int64(),
    "design.gpu": pa.string(),
    "design.gpus": pa.int64(),
    "design.gpus_per_server": pa.int64(),
    "design.host_memory_bytes": pa.float64(),
    "design.storage": pa.string(),
    "design.storage_nodes": pa.int64(),
    "design.fabric": pa.string(),
    "design.racks": pa.int64(),
    "design.rack_units": pa.float64(),
    "design.power_max_w": pa.float64(),
    "design.power_is_lower_bound": pa.bool_(),
    "design.weight_kg": pa.float64(),
    "design.weight_is_lower_bound": pa.bool_(),
    "design.usable_bytes": pa.float64(),
    "cost.total": _MONEY,
    "cost.currency": pa.string(),
    "cost.is_complete": pa.bool_(),
    "cost.unpriced_items": pa.int64(),
}
_OF_A_WORKLOAD = {
    "throughput_samples_per_s": _ESTIMATE,
    "time_to_train_s": _ESTIMATE,
    "storage_bytes_per_s": _ESTIMATE,
    "cold_storage_bytes_per_s": _ESTIMATE,
    "cpu_utilization_fraction": _ESTIMATE,
    "gpu_busy_fraction": pa.float64(),
    "probability": pa.float64(),
    "meets_target": pa.bool_(),
    "bottleneck": pa.string(),
    "next_bottleneck": pa.string(),
    "stack": pa.string(),
    "batch_per_gpu": pa.int64(),
}
_WORKLOAD_TYPES = {
    name: of_one
    for key, kind in _OF_A_WORKLOAD.items()
    for name, of_one in (
        [(f"{key}.{end}", pa.float64()) for end in _ESTIMATE] if isinstance(kind, tuple) else [(key, kind)]
    )
}
_WORKLOAD_COLUMN = re.compile(r"workload\.([0-9]+)\.(.+)")
_REQUEST_TYPES: dict[CellKind, Any] = {
    "text": pa.string(),
    "texts": pa.list_(pa.field("element", pa.string())),  # the name that Parquet gives back
    "number": pa.float64(),
    "whole": pa.int64(),
    "flag": pa.bool_(),
    "day": pa.date32(),
}


def answer_cells(
    answers: Sequence[WorkloadFigures],
    probability: float | None,
    binding: Binding,
    needs_cluster: bool,
    design: Mapping[str, Any],
) -> dict[str, Any]:
    """Values of an answer by the name of the column.

    ``answers``: how each workload of the request runs on the recommended design. ``probability``: that all targets are
    met; None where an unknown fact decides. ``binding``: why the design is not smaller. ``needs_cluster``: whether one
    server is not enough. ``design``: what :func:`design_cells` gives. Returns columns that begin with ``answer.``; None
    where a number is unknown or does not exist.
    """
    cells = {
        "needs_cluster": bool(needs_cluster),
        "probability": _number(probability),
        "binding_limit": binding_limit_text(binding),
        **design,
    }
    for number, answer in enumerate(answers):
        cells |= {f"workload.{number}.{key}": cell for key, cell in _workload_cells(answer).items()}
    return {PREFIX + key: cell for key, cell in cells.items()}


def design_cells(
    platform: Platform, n_servers: int, storage_nodes: int, counts: Quantities, bill: Bill
) -> dict[str, Any]:
    """Values of a design that do not depend on what runs on it; ``counts`` are of one row."""
    usable = usable_for_data_bytes(platform, storage_nodes)
    return {
        "design.name": design_name(platform, n_servers, storage_nodes),
        "design.server": platform.server.id,
        "design.servers": int(n_servers),
        "design.gpu": platform.gpu.id,
        "design.gpus": int(n_servers * platform.gpus_per_server),
        "design.gpus_per_server": int(platform.gpus_per_server),
        "design.host_memory_bytes": _number(memory_bytes(platform)),
        "design.storage": platform.storage.id,
        "design.storage_nodes": int(storage_nodes),
        "design.fabric": platform.fabric.id,
        "design.racks": counts.n_racks,
        "design.rack_units": _number(counts.rack_units[0]),
        "design.power_max_w": _number(counts.power_max_w[0]),
        "design.power_is_lower_bound": bool(counts.unknown_power),
        "design.weight_kg": _number(counts.weight_kg[0]),
        "design.weight_is_lower_bound": bool(counts.unknown_weight),
        # 0: no source gives the capacity.
        "design.usable_bytes": _number(usable) if usable > 0 else None,
        "cost.total": None if bill.net_total.is_unknown else bill.total,
        "cost.currency": bill.currency,
        "cost.is_complete": bill.is_complete,
        "cost.unpriced_items": bill.n_unpriced,
    }


def memory_bytes(platform: Platform) -> float | None:
    """Memory of a server; None where no source gives it. [B]"""
    memory = platform.server.memory_bytes
    return None if memory is None else memory.value


def _workload_cells(answer: WorkloadFigures) -> dict[str, Any]:
    estimates = {
        "throughput_samples_per_s": answer.throughput,
        "time_to_train_s": None if answer.time is None else answer.time.total_s,
        "storage_bytes_per_s": answer.storage_bytes_per_s,
        "cold_storage_bytes_per_s": answer.cold_storage_bytes_per_s,
        "cpu_utilization_fraction": answer.cpu_utilization_fraction,
    }
    return {
        **{f"{key}.{end}": cell for key, estimate in estimates.items() for end, cell in _ends(estimate).items()},
        "gpu_busy_fraction": _number(answer.gpu_busy_fraction),
        "probability": _number(answer.probability),
        "meets_target": answer.target_check.is_met,
        "bottleneck": answer.bottleneck,
        "next_bottleneck": answer.next_bottleneck,
        "stack": answer.stack.id,
        "batch_per_gpu": int(answer.batch_per_gpu),
    }


def _ends(rate: Estimate | None) -> dict[str, float | None]:
    if rate is None:
        return dict.fromkeys(_ESTIMATE)
    return {end: _number(number) for end, number in zip(_ESTIMATE, rate, strict=True)}


def _number(value: Any) -> float | None:
    if value is None:  # a probability that is not known
        return None
    number = float(value)
    return portable(number) if math.isfinite(number) else None


def schema(names: Iterable[str], metadata: Mapping[str, str]) -> pa.Schema:
    """Columns of a table whose rows have these cells, in an order that depends on nothing else.

    ``names``: names of cells that some row has. The columns that every table has need not be among them. ``metadata``:
    metadata of the table.
    """
    given = set(names)
    asked = in_order([name for name in given if not name.startswith(PREFIX)])
    workloads = [
        int(match[1])
        for name in given
        if (match := _WORKLOAD_COLUMN.fullmatch(name.removeprefix(PREFIX))) and name.startswith(PREFIX)
    ]
    types = [(name, _REQUEST_TYPES[_known(name).kind]) for name in asked]
    types += [(PREFIX + name, of_one) for name, of_one in _FIXED.items()]
    types += [
        (f"{PREFIX}workload.{number}.{name}", of_one)
        for number in range(max(workloads, default=0) + 1)
        for name, of_one in _WORKLOAD_TYPES.items()
    ]
    return pa.schema(types, metadata=dict(metadata))


def table(rows: Sequence[Mapping[str, Any]], metadata: Mapping[str, str]) -> pa.Table:
    """Table of rows, each a mapping of column to cell."""
    columns = schema({name for row in rows for name in row}, metadata)
    return pa.Table.from_pylist([dict(row) for row in rows], schema=columns)


def widened(part: pa.Table, columns: pa.Schema) -> pa.Table:
    """The table with all these columns; missing ones are empty."""
    present = set(part.schema.names)
    return pa.Table.from_arrays(
        [part.column(one.name) if one.name in present else pa.nulls(part.num_rows, one.type) for one in columns],
        schema=columns,
    )
