"""The forms: every field with its place, its words, and the widget that its type in the model of the request asks for.

Bounds, units and defaults come from the model, the words from ``fields.csv``: key, label, name in errors, what an empty
field means, options (``value=words``, or fractions) and help.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin

from pydantic import BeforeValidator

from sizer.base.faults import bounds_of, field_at
from sizer.base.money import parse_amount, parse_percent, parse_rate
from sizer.base.quantities import AMOUNT, QuantityKind, number_kind
from sizer.catalog.fabrics import possible_links
from sizer.catalog.items import Item
from sizer.catalog.labels import capital
from sizer.catalog.model import Catalog, vendors_of
from sizer.catalog.sale import usable_gpus
from sizer.catalog.sample_formats import FORMAT_NAMES
from sizer.physical.capacity import counts_nodes
from sizer.present.words import name, percent
from sizer.ui.session_catalog import catalog
from sizer.workload.data import OBJECT_STORAGE
from sizer.workload.request import SizingRequest

# Keys from the top of a request down; an entry of a list is its number.
RequestPath = tuple[str | int, ...]
# Value -> text; a function where the options come from the catalogue of the session.
Options = Mapping[Any, str] | Callable[[], Mapping[Any, str]]


@dataclass(frozen=True)
class Text:
    """Free text of at most ``longest`` characters."""

    longest: int = 120


@dataclass(frozen=True)
class Typed:
    """A number as people type it, with its unit where the kind has one."""

    kind: QuantityKind


@dataclass(frozen=True)
class Checkbox:
    """Yes or no."""


@dataclass(frozen=True)
class Dropdown:
    """One of several; ``default`` is what the request means where it has no value."""

    options: Options
    default: Any = ""


@dataclass(frozen=True)
class MultiSelect:
    """Any number of several."""

    options: Options


@dataclass(frozen=True)
class Day:
    """A date."""


Widget = Text | Typed | Checkbox | Dropdown | MultiSelect | Day


@dataclass(frozen=True)
class FormField:
    """One field of the request."""

    # Keys that lead to it, without the numbers of list entries: ``("workload", "target", "samples_per_s")``.
    keys: tuple[str, ...]
    label: str  # label of the widget; ``{currency}`` stands for the currency of the request
    # Explanation, and the default where it takes more words than ``empty`` ("Default: ..." at its end). Shown on
    # demand, together with range and default (``help_text``).
    help: str
    widget: Widget  # how it is edited
    empty: str = ""  # shown while the field has no value: what that means
    name: str = ""  # in errors and in the list of changes; by default the label


# Fields in the columns in which a form shows them.
Columns = tuple[tuple[FormField, ...], ...]


def capitalized_name(key: str) -> str:
    """Name of a raw key, with a capital: 'page-cache' reads 'Page cache'."""
    text = name(key)
    return text[:1].upper() + text[1:]


def names_by_id(items: Mapping[str, Item]) -> dict[str, str]:
    """Names by id, in the order of the names."""
    return {item.id: item.name for item in sorted(items.values(), key=lambda item: item.name.lower())}


def shared_storage() -> dict[str, str]:
    """Storage systems that servers share: all but the local drives of a server."""
    return existing_items(catalog(), "storage_nodes")


def existing_items(catalogue: Catalog, kind: str) -> dict[str, str]:
    """Items that a customer may already have, of one table of ``[existing]``."""
    if kind == "servers":
        return names_by_id({key: item for key, item in catalogue.servers.items() if item.role == "gpu"})
    if kind == "storage_nodes":
        return names_by_id({key: item for key, item in catalogue.storage.items() if item.kind != "local"})
    return names_by_id(catalogue.switches)


# Choices whose options are items of the catalogue, by key.
OF_CATALOGUE: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "platforms.servers": lambda: names_by_id(
        {key: item for key, item in catalog().servers.items() if item.role == "gpu" and item.orderable}
    ),
    "platforms.gpus": lambda: names_by_id(
        {key: item for key in usable_gpus(catalog()) if (item := catalog().gpus[key]).orderable}
    ),
    "platforms.generations": lambda: names_by_id(catalog().generations),
    "existing.gpus": lambda: names_by_id(catalog().gpus),
    # And what is there where it is named: an NFS server, Ceph.
    "platforms.storage": lambda: names_by_id(
        {key: item for key, item in catalog().storage.items() if item.orderable or item.kind != "local"}
    ),
    "platforms.fabrics": lambda: {link.id: link.name for link in possible_links(catalog())},
    "platforms.prefer_vendors": lambda: {vendor: vendor for vendor in vendors_of(catalog())},
    "stated_storage.storage": shared_storage,
    "site.rack": lambda: names_by_id(catalog().racks),
    "site.pdu": lambda: {"": "usual for the servers", **names_by_id(catalog().pdus)},
    "site.network_pdu": lambda: {"": "as the racks of servers", **names_by_id(catalog().pdus)},
    "data.capacity_tier": lambda: (
        {"": "What costs least, or one tier", OBJECT_STORAGE: "Object storage of the customer"}
        | {
            key: item.name
            for key, item in catalog().storage.items()
            if item.tier == "capacity" and item.orderable and counts_nodes(item)
        }
    ),
    "workload.dnn.like": lambda: {"": "none", **names_by_id(catalog().dnns)},
    "workload.sample_format": lambda: {
        "": "derived",
        **{kind.value: capital(words) for kind, words in FORMAT_NAMES.items()},
    },
    # Given by the form, which knows the workload.
    "workload.stack": dict,
    "workload.engine": dict,
    "team.job.workload": dict,
    "team.job.duration_gpu": lambda: {"": "every GPU", **names_by_id(catalog().gpus)},
}


# Prices are kept as typed, so that no cent is lost.
_LONGEST_AMOUNT = 20
_BY_VALIDATOR = {parse_rate: number_kind(0.0, 1e6), parse_percent: number_kind(0.0, 100.0)}


def _parts(annotation: Any) -> Iterator[Any]:
    """A type and all that it is made of: alternatives, what is annotated, annotations."""
    yield annotation
    for inner in (*getattr(annotation, "__args__", ()), *getattr(annotation, "__metadata__", ())):
        yield from () if get_origin(annotation) is Literal else _parts(inner)


def _kind(described: Any, parts: list[Any]) -> QuantityKind | None:
    """How a number is read; None of what is no number."""
    for rule in parts:
        if isinstance(rule, BeforeValidator):
            if isinstance(rule.func, partial):
                of_quantity: QuantityKind = rule.func.args[0]  # ``sizer.base.quantities.validator``
                return of_quantity
            if rule.func in _BY_VALIDATOR:
                return _BY_VALIDATOR[rule.func]
    low, high = bounds_of(described)
    if low is None or high is None or not {int, float, Decimal} & {part for part in parts if isinstance(part, type)}:
        return None
    return number_kind(low, high, is_whole=int in parts)


def _options(key: str, written: str, parts: list[Any]) -> Options:
    """Options of a choice: of the catalogue, as written, and else the values of its type as words."""
    if key in OF_CATALOGUE:
        return OF_CATALOGUE[key]
    values = [value for part in parts if get_origin(part) is Literal for value in get_args(part)]
    values += [True, False] if bool in parts else []
    by_text = {str(value).lower() if isinstance(value, bool) else str(value): value for value in values}
    named = dict(one.split("=", 1) for one in written.split("|")) if written else {}
    if set(named) <= {""}:
        named.update({text: capitalized_name(text) for text in by_text})
    return {by_text.get(text, text): words for text, words in named.items()}


def _widget(key: str, written: str) -> Widget:
    described = field_at(SizingRequest, tuple(key.split(".")))
    parts = [*_parts(described.annotation), *described.metadata]
    default = described.default.value if isinstance(described.default, Enum) else described.default
    if key == "limits.budget":
        return Typed(AMOUNT)
    if date in parts:
        return Day()
    if "=" in written or key in OF_CATALOGUE or any(get_origin(part) is Literal for part in parts):
        options = _options(key, written, parts)
        if any(get_origin(part) is tuple for part in parts):
            return MultiSelect(options)
        if default is None or described.is_required():
            default = "" if callable(options) else next(iter(options), "")
        return Dropdown(options, default)
    if written:
        return Dropdown({float(level): percent(float(level)) for level in written.split("|")}, default)
    if bool in parts:
        return Checkbox()
    if any(isinstance(rule, BeforeValidator) and rule.func is parse_amount for rule in parts):
        return Text(_LONGEST_AMOUNT)
    kind = _kind(described, parts)
    longest = next((rule.max_length for rule in parts if getattr(rule, "max_length", None)), Text.longest)
    return Text(longest) if kind is None else Typed(kind)


def _fields() -> Iterator[FormField]:
    with Path(__file__).with_name("fields.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = row["key"]
            widget = _widget(key, row["options"])
            yield FormField(tuple(key.split(".")), row["label"], row["help"], widget, row["empty"], row["name"])


# Every field by its keys joined with points, in the order of the file.
FIELDS: Mapping[str, FormField] = MappingProxyType({".".join(field.keys): field for field in _fields()})


def fields_of(table: str, keys: str) -> tuple[FormField, ...]:
    """Fields of one table by their keys, separated by spaces."""
    return tuple(FIELDS[f"{table}.{key}" if table else key] for key in keys.split())


def columns_of(table: str, *columns: str) -> Columns:
    """Columns of a form with the fields of one table."""
    return tuple(fields_of(table, keys) for keys in columns)


DOCUMENT = columns_of("", "title customer", "date needed_by currency exchange_rate_usd")
PLATFORMS = columns_of(
    "platforms",
    "servers gpus generations gpus_per_server host_memory_bytes",
    "storage storage_tier fabrics",
    "prefer_vendors prefer_within_percent",
)
LIMITS = columns_of("limits", "racks rack_units gpus", "rack_power_w power_w", "servers budget")
EXISTING_SERVERS = columns_of("existing", "gpus gpus_per_server")
EXISTING_RACK = columns_of(
    "existing.racks", "name load_kg", "free_u outlets_c13", "first_free_u outlets_c19", "power_w"
)
STATED_STORAGE = columns_of("stated_storage", "storage", "node_read_bytes_per_s", "node_write_bytes_per_s usable_bytes")
FABRIC_AND_ROOM = columns_of(
    "",
    "fabric.oversubscription fabric.spare_servers fabric.subnet_manager fabric.management_servers",
    "fabric.rails_apart fabric.converged fabric.directors site.racks_per_row",
    "site.rack site.pdu site.network_pdu site.feeds site.network_racks site.pue_ratio site.carbon_g_per_kwh "
    "site.cooling site.feed_volts site.feed_phases site.floor_kg_per_m2",
)
RESILIENCE = columns_of("resilience", "keeps_targets_without", "interruptions")
TEAM = columns_of(
    "team", "data_scientists hours_a_day days_a_week", "wait_s wait_probability", "order demand_percentile"
)
JOB_WHO, JOB_SIZE, JOB_LENGTHS = columns_of(
    "team.job", "name kind priority", "gpus whole_servers sessions_per_gpu", "duration_gpu durations wait_s"
)
DATA = columns_of(
    "data",
    "ingest source_bytes_per_s copy_to_local",
    "snapshot_share reserve_share minimum_capacity_bytes transform_core_s raw_sample_bytes",
    "checkpoint_every_s checkpoints_kept checkpoint_bytes_per_parameter checkpoint_waits checkpoint_buffer "
    "restart_reads",
    "storage_level minimum_read_bytes_per_s minimum_write_bytes_per_s daily_ingest_bytes daily_snapshot_bytes "
    "daily_window_s never_together working_set_bytes staging_s capacity_tier",
)
GROWTH_PERIOD = fields_of("growth", "years save")
GROWTH_FACTORS = fields_of("growth", "data sample_size dnn_size target team price")
QUOTE = columns_of("quote", "number revision", "prepared_by valid_days", "discount_percent")
QUOTE_LINE = columns_of(
    "quote.line",
    "description category note",
    "quantity unit unit_price discount_percent",
    "status manufacturer sku",
    "term_months lead_time_weeks",
)
OWNERSHIP = columns_of(
    "ownership",
    "years electricity_per_kwh support_percent",
    "space_per_rack_unit_month space_per_rack_month utilization_fraction cost_per_million_tokens",
)
RENTAL = columns_of(
    "rental",
    "offer per_gpu_hour speed_ratio storage_per_tb_month years",
    "electricity_per_kwh yearly_cost_percent utilization_fraction",
)
LANGUAGE = fields_of("workload", "tokens sequence_tokens batch_sequences method")
SERVING = fields_of("workload", "use input_tokens output_tokens prefix_cached")
SERVING_LIMITS = fields_of("workload", "first_token_s token_s")
CUSTOM_DNN = fields_of("workload.dnn", "name forward_flop parameters embedding_parameters input_bytes kind like")
CUSTOM_DATASET = fields_of("workload.dataset", "name n_samples sample_bytes format")
OWN_MODEL_SHAPE = fields_of(
    "workload.dnn",
    "layers hidden heads kv_heads ffn vocabulary experts active_experts expert_ffn shared_experts",
)
OWN_MODEL_PARAMETERS = replace(
    FIELDS["workload.dnn.parameters"], help="A usual dense decoder of this size: 13e9 for 13 billion."
)
LAYOUT = columns_of(
    "workload.layout",
    "tensor pipeline chunks context",
    "expert data micro_batch",
    "sharding recompute across_servers",
)
_FORMATS = {
    "fp16": "FP16",
    "fp8": "FP8",
    "mxfp8": "MXFP8 (rated as FP8)",
    "fp4": "FP4",
    "nvfp4": "NVFP4 (rated as FP4)",
    "mxfp4": "MXFP4 (serving only)",
    "int4": "INT4 (serving only)",
}
NUMBER_FORMAT, SERVED_FORMAT = (
    replace(
        FIELDS["workload.precision"],
        label="Number format",
        help=f"Of the matrix products of a language model; GPUs without the format are excluded. Default: {default}.",
        widget=Dropdown(options | _FORMATS, "mixed"),
    )
    for default, options in (
        ("BF16", {"mixed": "BF16"}),
        ("that which is usual for the model and the GPU", {"mixed": "Usual for model and GPU", "bf16": "BF16"}),
    )
)
TARGETS = {
    "samples_per_s": "Throughput",
    "tokens_per_s": "Throughput in tokens",
    "time_to_train_s": "Time to train",
    "gpus_busy": "Number of GPUs",
    "maximum": "The most that the limits give",
    "requests_per_s": "Requests a second",
    "concurrent_requests": "Requests in flight at once",
    "active_users": "Active users",
    "users": "Users in all",
    "requests_per_day": "Requests a day",
}
FREQUENCIES = {
    "jobs_a_day": "Per day, whole team",
    "jobs_a_day_each": "Per day and person",
    "always_running": "Always running",
}
DEFAULT_JOB_DURATION = "8 h"


# Tables, and fields that are edited by more than one widget or on no form.
_OTHERS = {
    "workload": "Workloads",
    "workload.dnn": "Neural network",
    "workload.dataset": "Data set",
    "workload.dataset.n_validation_samples": "Validation samples",
    "workload.target": "Target",
    "workload.recipe": "Recipe",
    "workload.measured": "Measured rates",
    "workload.load_by_hour": "Load of each hour",
    "platforms.forbidden_servers": "Excluded servers",
    "platforms.forbidden_storage": "Excluded storage",
    "existing.servers": "Existing servers",
    "existing.storage_nodes": "Existing storage nodes",
    "stated_storage": "Stated storage values",
    "existing.switches": "Existing switches",
    "existing.racks": "Existing racks",
    "team": "Team",
    "team.job": "Job types",
    "data": "Data on the storage",
    "growth": "Growth",
    "ownership": "Cost of ownership",
    "rental": "Rental offer",
    "resilience": "Redundancy",
    "quote.override": "Changed lines of the bill",
    "quote.line": "Own lines of the bill",
}
_NAMES: dict[tuple[str, ...], str] = {
    **{field.keys: field.name or field.label for field in FIELDS.values()},
    **{tuple(keys.split(".")): name for keys, name in _OTHERS.items()},
}


def keys_of(path: Iterable[object]) -> tuple[str, ...]:
    """A path without the numbers of list entries."""
    return tuple(part for part in path if isinstance(part, str))


def kind_of(path: RequestPath) -> QuantityKind | None:
    """Kind of quantity or number that a field holds, if any."""
    return _KINDS.get(keys_of(path))


_KINDS = {field.keys: field.widget.kind for field in FIELDS.values() if isinstance(field.widget, Typed)}


def label_of(path: str) -> str:
    """Name of a field given as in an error: 'workload[0].dataset_bytes' reads 'Data set size'.

    Of a path that starts inside the request, the field whose keys end with it; an unknown key reads as words.
    """
    keys = tuple(re.findall(r"[a-z][a-z_]*", path))
    if keys in _NAMES:
        return _NAMES[keys]
    ends = (name for known, name in _NAMES.items() if known[-len(keys) :] == keys)
    return next(ends, keys[-1].replace("_", " "))


def label_at(path: RequestPath) -> str:
    """Name of a field by its path."""
    return label_of(".".join(keys_of(path)))


_DOTTED = sorted((re.escape(".".join(keys)) for keys in _NAMES if len(keys) > 1), reverse=True)
_KEYS = re.compile(rf"\[*\b({'|'.join(_DOTTED)})\b\]*")


def in_labels(text: str) -> str:
    """A text for files and pages with the fields that it names by their labels: fabric.spare_servers."""
    return _KEYS.sub(lambda found: f"“{label_of(found[1])}”", text)
