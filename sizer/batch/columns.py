"""Columns of the answers of a batch, and their values for one answer."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from sizer.base.estimate import Estimate
from sizer.base.formats.json_document import portable
from sizer.batch.keys import CellKind, in_order, request_key
from sizer.bom.bill import Bill
from sizer.physical.components import Quantities
from sizer.physical.platform import Platform
from sizer.present.text.design_size import binding_limit_text
from sizer.sizing.constraints.tiers import usable_for_data_bytes
from sizer.sizing.design.workload_figures import WorkloadFigures
from sizer.sizing.reasons import Binding
from sizer.sizing.result import design_name

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

    Parameters
    ----------
    answers : sequence of WorkloadFigures
        How each workload of the request runs on the recommended design.
    probability : float or None
        That all targets are met; None where an unknown fact decides. [-]
    binding : Binding
        Why the design is not smaller.
    needs_cluster : bool
        Whether one server is not enough.
    design : mapping of str to value
        What :func:`design_cells` gives.

    Returns
    -------
    dict of str to value
        Columns that begin with ``answer.``; None where a number is unknown or does not exist.
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
    memory = platform.server.memory_bytes
    return {
        "design.name": design_name(platform, n_servers, storage_nodes),
        "design.server": platform.server.id,
        "design.servers": int(n_servers),
        "design.gpu": platform.gpu.id,
        "design.gpus": int(n_servers * platform.gpus_per_server),
        "design.gpus_per_server": int(platform.gpus_per_server),
        "design.host_memory_bytes": _number(None if memory is None else memory.value),
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


def _workload_cells(answer: WorkloadFigures) -> dict[str, Any]:
    estimates = {
        "throughput_samples_per_s": answer.throughput,
        "time_to_train_s": None if answer.time is None else answer.time.total_s,
        "storage_bytes_per_s": answer.storage_bytes_per_s,
        "cold_storage_bytes_per_s": answer.cold_storage_bytes_per_s,
        "cpu_utilization_fraction": answer.cpu_utilization_fraction,
    }
    return {
        **{f"{key}.{end}": cell for key, found in estimates.items() for end, cell in _ends(found).items()},
        "gpu_busy_fraction": _number(answer.gpu_busy_fraction),
        "probability": _number(answer.probability),
        "meets_target": answer.target_check.is_met,
        "bottleneck": answer.bottleneck,
        "next_bottleneck": answer.next_bottleneck,
        "stack": answer.stack.id,
        "batch_per_gpu": int(answer.batch_per_gpu),
    }


def _ends(found: Estimate | None) -> dict[str, float | None]:
    if found is None:
        return dict.fromkeys(_ESTIMATE)
    return {end: _number(number) for end, number in zip(_ESTIMATE, found, strict=True)}


def _number(value: Any) -> float | None:
    if value is None:  # a probability that is not known
        return None
    number = float(value)
    return portable(number) if math.isfinite(number) else None


def schema(names: Iterable[str], metadata: Mapping[str, str]) -> pa.Schema:
    """Columns of a table whose rows have these cells, in an order that depends on nothing else.

    Parameters
    ----------
    names : iterable of str
        Names of cells that some row has. The columns that every table has need not be among them.
    metadata : mapping of str to str
        Metadata of the table.
    """
    given = set(names)
    asked = in_order([name for name in given if not name.startswith(PREFIX)])
    workloads = [
        int(found[1])
        for name in given
        if (found := _WORKLOAD_COLUMN.fullmatch(name.removeprefix(PREFIX))) and name.startswith(PREFIX)
    ]
    types = [(name, _request_type(name)) for name in asked]
    types += [(PREFIX + name, of_one) for name, of_one in _FIXED.items()]
    types += [
        (f"{PREFIX}workload.{number}.{name}", of_one)
        for number in range(max(workloads, default=0) + 1)
        for name, of_one in _WORKLOAD_TYPES.items()
    ]
    return pa.schema(types, metadata=dict(metadata))


def _request_type(name: str) -> Any:
    key = request_key(name)
    assert key is not None, name
    return _REQUEST_TYPES[key.kind]


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
