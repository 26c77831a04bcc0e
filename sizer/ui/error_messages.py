"""What is wrong with a request as typed, field by field and in the words of the pages."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizer.base.errors import CatalogError
from sizer.base.quantities import BYTES, BYTES_PER_S, FLOP, SAMPLES_PER_S, SECONDS, WATTS, QuantityKind, parse
from sizer.ui.session_catalog import catalog
from sizer.workload.request import SizingRequest

Path_ = tuple[str | int, ...]

# Fields of a request that hold a quantity with a unit; the last parts of their path.
QUANTITIES: dict[tuple[str, ...], QuantityKind] = {
    ("dataset_bytes",): BYTES,
    ("sample_bytes",): BYTES,
    ("target", "samples_per_s"): SAMPLES_PER_S,
    ("target", "time_to_train_s"): SECONDS,
    ("dnn", "forward_flop"): FLOP,
    ("dnn", "input_bytes"): BYTES,
    ("dataset", "sample_bytes"): BYTES,
    ("rack_power_w",): WATTS,
    ("power_w",): WATTS,
    ("duration_s",): SECONDS,
    ("source_bytes_per_s",): BYTES_PER_S,
    ("checkpoint_every_s",): SECONDS,
    ("raw_sample_bytes",): BYTES,
    ("wait_s",): SECONDS,
}
LABELS = {
    "title": "Title",
    "customer": "Customer",
    "date": "Date",
    "confidence": "Confidence",
    "rank_by": "Ranked by",
    "currency": "Currency",
    "name": "Name",
    "task": "Task",
    "dnn": "Neural network",
    "stack": "Software stack",
    "precision": "Precision",
    "batch_per_gpu": "Batch per GPU",
    "dataset": "Data set",
    "dataset_bytes": "Data set size",
    "sample_bytes": "Sample size",
    "access": "Reading order",
    "cache": "Server cache",
    "target": "Target",
    "samples_per_s": "Rate",
    "time_to_train_s": "Time to train",
    "gpus_busy": "GPUs kept busy",
    "epochs": "Epochs",
    "recipe": "Recipe",
    "forward_flop": "Forward operations",
    "parameters": "Parameters",
    "input_bytes": "Decoded sample",
    "like": "Efficiency like",
    "n_samples": "Samples",
    "n_validation_samples": "Validation samples",
    "format": "Format",
    "servers": "Servers",
    "storage": "Storage",
    "gpus": "GPUs",
    "fabrics": "Fabrics",
    "gpus_per_server": "GPUs used per server",
    "budget": "Budget",
    "racks": "Racks",
    "rack_power_w": "Power per rack",
    "power_w": "Power in all",
    "rack_units": "Rack units",
    "oversubscription": "Oversubscription",
    "rails_apart": "Rails apart",
    "directors": "Director switches",
    "spare_servers": "Servers to come",
    "free_u": "Free units",
    "first_free_u": "Lowest free unit",
    "load_kg": "Load left",
    "outlets_c13": "C13 outlets left",
    "outlets_c19": "C19 outlets left",
    "storage_nodes": "Storage nodes at hand",
    "switches": "Switches at hand",
    "rack": "Kind of rack",
    "pdu": "Power distribution unit",
    "pue_ratio": "PUE",
    "racks_per_row": "Racks in a row",
    "forbidden_servers": "Servers left out",
    "forbidden_storage": "Storage left out",
    "workload": "Workloads",
    "team": "Team",
    "job": "Kinds of job",
    "data_scientists": "Data scientists",
    "hours_a_day": "Working hours a day",
    "days_a_week": "Working days a week",
    "wait_s": "Wait, at most",
    "wait_probability": "Share of jobs that start in time",
    "order": "Order of the queue",
    "demand_percentile": "Share of the time that demand is carried",
    "kind": "Kind of job",
    "whole_servers": "Whole servers",
    "jobs_a_day": "Jobs a day",
    "jobs_a_day_each": "Jobs a day of each",
    "always_running": "Always running",
    "duration_s": "Length of a job",
    "durations": "Spread of the lengths",
    "data": "Data on the storage",
    "ingest": "Way in",
    "source_bytes_per_s": "Rate of the source",
    "snapshot_share": "Snapshots, share of the data",
    "reserve_share": "Reserve, share of the data",
    "checkpoint_every_s": "Checkpoint every",
    "checkpoints_kept": "Checkpoints kept",
    "checkpoint_bytes_per_parameter": "Bytes a parameter in a checkpoint",
    "transform_core_s": "Core-seconds to transform a sample",
    "raw_sample_bytes": "Raw sample",
    "copy_to_local": "Copy to local drives first",
    "growth": "Growth over the years",
    "years": "Years",
    "sample_size": "Size of a sample",
    "dnn_size": "Neural networks",
    "price": "Prices",
    "save": "Purchases save",
    "resilience": "What may fail",
    "keeps_targets_without": "Targets kept without",
    "rental": "Offer by the hour",
    "offer": "Name of the offer",
    "per_gpu_hour": "Rate of a GPU-hour",
    "speed_ratio": "Speed of a rented GPU",
    "storage_per_tb_month": "Storage a TB and month",
    "electricity_per_kwh": "Electricity a kWh",
    "yearly_cost_percent": "Staff, space and maintenance",
    "utilization_fraction": "Use of the GPUs",
    "override": "Changed lines of the bill",
    "line": "Own lines of the bill",
    "discount_percent": "Discount",
    "valid_days": "Validity",
    "prepared_for": "Prepared for",
    "prepared_by": "Prepared by",
    "number": "Number of the quote",
    "revision": "Revision",
}


@dataclass(frozen=True)
class Fault:
    """Something in the request that is not understood. ``path`` is empty where no single field is to blame."""

    path: Path_
    text: str


def quantity_faults(data: Mapping[str, Any]) -> list[Fault]:
    """Faults of the fields that hold quantities, each with its place."""
    faults = []
    for path, value in _leaves(data, ()):
        kind = kind_of(path)
        if kind is not None:
            try:
                parse(kind, value)
            except ValueError as error:
                faults.append(Fault(path, sentences(str(error))))
    return faults


def kind_of(path: Path_) -> QuantityKind | None:
    """Kind of quantity that a field holds, if any."""
    return next((kind for end, kind in QUANTITIES.items() if path[-len(end) :] == end), None)


def _leaves(data: Any, path: Path_) -> list[tuple[Path_, Any]]:
    if isinstance(data, Mapping):
        return [leaf for key, value in data.items() for leaf in _leaves(value, (*path, key))]
    if isinstance(data, list) and any(isinstance(part, Mapping) for part in data):
        return [leaf for number, value in enumerate(data) for leaf in _leaves(value, (*path, number))]
    return [(path, data)]


# A field of the request at the start of an error: workload[0].target.samples_per_s = ... or limits.racks: ...
_FIELD = re.compile(r"(?:unknown key '|key ')?([a-z_]+(?:\[\d+\]|\.\d+|\.[a-z_]+)*)'?(?= = |: | is | names )")
_SNAKE = re.compile(r"\b(?:[a-z]+(?:\[\d+\])?\.)*[a-z]+(?:_[a-z]+)+\b")
_ID = re.compile(r"'?(?<![\w.-])([a-z0-9]+(?:[.+-][a-z0-9]+)+|[a-z]+\d+|(?<=')[a-z0-9]+)(?![\w-])'?")


def request_faults(text: str) -> list[Fault]:
    """Sentences of a RequestError, each with the field that it names."""
    faults = []
    for line in text.splitlines():
        match = _field(line.removeprefix("request: "))
        parts = re.findall(r"[a-z_]+|\d+", match[1]) if match is not None else []
        faults.append(Fault(tuple(int(part) if part.isdigit() else part for part in parts), sentences(line)))
    return faults


def _field(line: str) -> re.Match[str] | None:
    match = _FIELD.match(line)
    return match if match is not None and re.split(r"[\[.]", match[1])[0] in SizingRequest.model_fields else None


def sentences(text: str, place: str = "request") -> str:
    """An error of the engine in the words of the pages: fields by their labels, items by their names, no places."""
    said = []
    for line in text.splitlines():
        line = line.removeprefix(f"{place}: ")
        match = _field(line)
        if match is not None:
            line = f"{label_of(match[1])}{line[match.end() :]}"
        line = _SNAKE.sub(lambda found: label_of(found[0]), line)
        line = _ID.sub(_name_of, line)
        said.append(line[:1].upper() + line[1:] + ("" if line.endswith((".", "?", "!")) else "."))
    return " ".join(said)


def label_of(path: str) -> str:
    """Label of a field given as in an error: 'workload[0].dataset_bytes' reads 'Data set size'."""
    last: str = re.findall(r"[a-z_]+", path)[-1]
    return LABELS.get(last, last.replace("_", " "))


def name_of(text: str) -> str:
    """Name of a catalogue item in place of its id; other words stay."""
    try:
        return str(catalog().item(text).name)
    except CatalogError:
        return text


def _name_of(match: re.Match[str]) -> str:
    name = name_of(match[1])
    return match[0] if name == match[1] else name
