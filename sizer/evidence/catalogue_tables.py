"""The catalogue to be browsed: parts of a kind side by side, one part in full, prices, sources."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sizer.base.provenance import Sourced
from sizer.base.quantities import grouped
from sizer.catalog.devices import DeliveredRack
from sizer.catalog.items import Item, Sku
from sizer.catalog.labels import capital, fact_label, fact_text, fact_value, item_name, name, with_vendor
from sizer.catalog.links import LinkType
from sizer.catalog.model import Catalog
from sizer.catalog.networks import EpochPoint, ObservedAs, Transformer
from sizer.catalog.schema import Cable, CapacityOption, Overhead, Port, Release
from sizer.present.tables import Align, Cell, Row, Table, columns, port_text, row
from sizer.present.words import NOT_PUBLISHED, listed, percent, plural

# Folder of the catalogue -> its name on a page.
KINDS = {
    "gpus": "GPUs",
    "cpus": "Processors",
    "servers": "Servers",
    "memory": "Host memory",
    "storage": "Storage",
    "switches": "Switches",
    "gateways": "Gateways",
    "nics": "Network adapters",
    "cables": "Cables",
    "racks": "Racks",
    "pdus": "Power distribution units",
    "cooling": "Coolant distribution units",
    "accessories": "Rack accessories",
    "software": "Software",
    "support": "Support",
    "links": "Network links",
    "gpu_links": "Links between GPUs",
    "power_inlets": "Power inlets",
    "generations": "GPU generations",
    "dnns": "Neural networks",
    "datasets": "Data sets",
    "stacks": "Software stacks",
    "recipes": "Training recipes",
}
NOT_SOLD = ("links", "gpu_links", "power_inlets", "generations", "dnns", "datasets", "stacks", "recipes")
# Folder -> facts by which its parts are compared. A tuple: the first of them that is known.
_KEY_FACTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "links": (("technology",), ("gbit_per_s",)),
    "gpu_links": (("topology",), ("form_factors",), ("domain_gpus",)),
    "power_inlets": (("outlet",), ("phases",), ("low_v",), ("high_v",)),
    "generations": (("era",), ("pdu",)),
    "gpus": (
        ("generation",),
        ("form_factor",),
        ("memory_bytes",),
        ("memory_bytes_per_s",),
        ("peak_mixed_flop_per_s",),
        ("peak_fp32_flop_per_s",),
        ("tdp_w",),
    ),
    "cpus": (("cores",), ("threads",), ("base_clock_hz",), ("tdp_w",)),
    "servers": (
        ("n_gpus",),
        ("intra_link",),
        ("memory_bytes",),
        ("height_u",),
        ("power_max_w", "power_high_w"),
        ("weight_kg",),
    ),
    "memory": (("server",), ("memory_bytes",)),
    "storage": (
        ("kind",),
        ("media",),
        ("min_nodes",),
        ("node_read_high_bytes_per_s", "mount_high_bytes_per_s"),
        ("height_u",),
        ("power_max_w", "power_high_w"),
        ("weight_kg",),
    ),
    "switches": (("ports",), ("height_u",), ("power_max_w", "power_high_w"), ("latency_s",), ("weight_kg",)),
    "gateways": (("ports",), ("uplink_kind",), ("front_end_kind",), ("height_u",), ("power_max_w", "power_high_w")),
    "nics": (("kinds",), ("n_ports",), ("host_interface",), ("usable_bytes_per_s",)),
    "cables": (("kinds",), ("media",), ("length_m",), ("power_end_w",)),
    "racks": (("height_u",), ("load_kg",), ("depth_m",), ("usable_depth_m",), ("weight_kg",)),
    "pdus": (("capacity_w",), ("high_v",), ("phases",), ("inlet",)),
    "cooling": (("place",), ("capacity_w",), ("height_u",), ("power_max_w", "power_high_w"), ("weight_kg",)),
    "accessories": (("use",), ("length_m",)),
    "software": (("metric",), ("purpose",), ("optional",)),
    "support": (("metric",), ("purpose",), ("optional",)),
    "dnns": (("sample",), ("forward_flop",), ("parameters",), ("input_bytes",)),
    "datasets": (("n_samples",), ("sample_bytes",), ("n_validation_samples",), ("format",)),
    "stacks": (("framework",), ("released",), ("precisions",), ("loader",), ("task",)),
    "recipes": (("dnn",), ("target",), ("points",)),
}
# Names of facts where the guide's are too short to stand alone.
_LABELS = {
    "applies_to": "Goes with",
    "capacity_options": "Capacity of a unit",
    "description": "Description",
    "era": "Sold with parts of the era",
    "connectors": "Cages that it fits",
    "measured_as": "Name in measurements",
    "pdu": "Usual PDU",
    "ports_each": "Ports of one module",
    "transformer": "Shape",
    "trains_language": "Trains language models",
    "dnn": "Neural network",
    "evaluate_every_epochs": "Epochs between evaluations",
    "features": "Other facts",
    "forward_flop": "Forward operations of a sample",
    "gpus": "GPUs that it takes",
    "input_bytes": "Decoded sample",
    "kinds": "Links",
    "load_kg": "Load that it carries",
    "metric": "Counted by",
    "n_gpus_choices": "Other numbers of GPUs",
    "n_gpus_alone": "Further numbers of GPUs of a server alone",
    "n_ports": "Ports",
    "n_samples": "Samples",
    "n_validation_samples": "Validation samples",
    "number_formats": "Number formats of matrix products",
    "node_read_high_bytes_per_s": "Read rate of a node",
    "observed_as": "Published as",
    "orderable": "Can be ordered",
    "pcie_lanes": "PCIe lanes",
    "points": "Epochs at a batch",
    "power_max_w": "Power, maximum",
    "price": "List price",
    "protection_overheads": "Protection overhead",
    "sample": "A sample is",
    "sample_bytes": "Mean sample",
    "skus": "Part number",
    "software": "Software that it needs",
    "usable_bytes_per_s": "Usable data rate",
    "vendor": "Vendor",
}
_ITEM_FIELDS = {"pdu", "generation", "gpus", "local_storage", "software", "dnn", "applies_to"}
# Entries of ``applies_to`` that are no parts.
_SCOPES = {"any": "every design", "cluster": "every design with more than one GPU server"}
_WORDS = {
    "aoc": "active optical cable",
    "dac": "direct-attach copper",
    "blanking-panel": "blanking panel",
    "cord": "power cord",
    "in-rack": "in a rack",
    "in-row": "in the row of racks",
    "gpu": "GPU",
    "iec-60309-3p-n-e-9h": "IEC 60309, 3P+N+E, 9 h",
    "iec-60309-p-n-e-6h": "IEC 60309, P+N+E, 6 h",
    "nema-6-30p": "NEMA 6-30P",
    "nema-l21-30p": "NEMA L21-30P",
    "mxnet": "MXNet",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
    "tensorrt": "TensorRT",
    "paddlepaddle": "PaddlePaddle",
    "hugectr": "HugeCTR",
    "nnabla": "NNabla",
    "oneflow": "OneFlow",
    "caffe": "Caffe",
    "caffe2": "Caffe2",
    "sinian": "Sinian",
    "transceiver": "transceiver",
    "both": "training and inference",
}
_PASSIVE = ("copper", "fibre")
# What concerns a part as a product rather than its work.
_LAST = ("introduced", "end_of_sale", "end_of_service", "successor", "features", "orderable")
_TEXT_MOST = 400
# Ends and names of fields that hold numbers.
_NUMBER = re.compile(
    r"_(bytes|bytes_per_s|flop|flop_per_s|hz|kg|w|m|u|s|v|nodes|c14|c20)$|^(n_|cores|threads|parameters)"
)
_NONE = " "  # a cell without text would show its source


def part_name(item: Item, catalog: Catalog) -> str:
    """Name of a part with its vendor, and what tells it from another one of the same name."""
    full = with_vendor(item)
    namesakes = sum(with_vendor(other) == full for other in catalog.folder(catalog.category_of(item.id)).values())
    return f"{full}, {item.description or name(item.id)}" if namesakes > 1 else full


def label_of(field: str) -> str:
    """Name of a fact."""
    return _LABELS.get(field) or fact_label(field)


def matching(catalog: Catalog, text: str) -> list[Item]:
    """Parts of every kind whose name, vendor, description or part number holds every word of a text."""
    wanted = text.lower().split()
    return [
        item
        for _, item in catalog.items()
        if wanted
        and all(
            word in f"{item.vendor} {item.name} {item.description} {' '.join(sku.value for sku in item.skus)}".lower()
            for word in wanted
        )
    ]


def kind_table(folder: str, catalog: Catalog, items: Sequence[Item] | None = None) -> Table:
    """Parts of one kind, or some of them, a row each, with the facts by which they are compared."""
    facts = _KEY_FACTS[folder]
    titles: list[tuple[str, Align]] = [("Part", "left")]
    titles += [(label_of(fields[0]), ("right" if _NUMBER.search(fields[0]) else "left")) for fields in facts]
    rows = [
        row(part_name(item, catalog), *(_key_cell(item, fields, catalog) for fields in facts))
        for item in (catalog.folder(folder).values() if items is None else items)
    ]
    return Table(f"kind-{folder}", KINDS[folder], columns(*titles), tuple(rows))


def matches_table(items: Iterable[Item], catalog: Catalog) -> Table:
    """Parts of several kinds that match a search, one row each."""
    rows = [
        row(
            part_name(item, catalog),
            KINDS[catalog.category_of(item.id)],
            ", ".join(sku.value for sku in item.skus) or Cell(NOT_PUBLISHED, is_muted=True),
            _shortened(item.description),
        )
        for item in items
    ]
    return Table("found", "Parts found", columns("Part", "Kind", "Part number", "Description"), tuple(rows))


def unknown_key_facts(item: Item, folder: str) -> list[str]:
    """Facts by which parts of its kind are compared and that nobody published of this one, as fields."""
    return [
        fields[0]
        for fields in _KEY_FACTS[folder]
        if all(getattr(item, field, None) in (None, ()) for field in fields) and not _does_not_apply(item, fields)
    ]


def _key_cell(item: Item, fields: Sequence[str], catalog: Catalog) -> Cell:
    for field in fields:
        value = getattr(item, field, None)
        if isinstance(value, Sourced):
            return Cell(_text(field, value.value, catalog), cites=(value.source,), where=value.where)
        if isinstance(value, bool) or value not in (None, (), "", {}):
            texts = [_text(field, one, catalog) for one in (value if isinstance(value, tuple) else (value,))]
            return Cell(_shortened(", ".join(texts)))
    return Cell("\u2013" if _does_not_apply(item, fields) else NOT_PUBLISHED, is_muted=True)


def _does_not_apply(item: Item, fields: Sequence[str]) -> bool:
    """Whether a fact has no meaning for a part: the GPUs of a head node, the weight of software on servers."""
    if "n_gpus" in fields or "intra_link" in fields:
        return getattr(item, "role", "gpu") != "gpu"
    if getattr(item, "kind", "") == "local":
        return True
    if isinstance(item, Cable):
        # Copper pairs and fibre have no ends that draw power; a transceiver has no length.
        return ("power_end_w" in fields and item.media in _PASSIVE) or (
            "length_m" in fields and item.media == "transceiver"
        )
    # Software on servers takes its rack units, watts and kilograms from them.
    return getattr(item, "server", None) is not None and bool({"height_u", "power_max_w", "weight_kg"} & set(fields))


def part_table(item: Item, catalog: Catalog) -> Table:
    """Everything that the catalogue knows about a part: fact, value, what it rests on, source and place, remark."""
    # Nobody orders a neural network.
    skipped = {"id", "name"} | ({"orderable"} if catalog.category_of(item.id) in NOT_SOLD else set())
    rows: list[Row] = []
    for field in sorted(type(item).model_fields, key=lambda field: field in _LAST):
        if field not in skipped:
            rows += _fact_rows(field, getattr(item, field), catalog)
    heads = columns(
        ("Fact", "left", 18),
        ("Value", "left", 24),
        ("Basis", "left", 10),
        ("Source and place", "left", 26),
        ("Remark", "left", 22),
    )
    return Table(f"part-{item.id}", f"What is known about the {part_name(item, catalog)}", heads, tuple(rows))


def _fact_rows(field: str, value: object, catalog: Catalog) -> Iterator[Row]:
    label = label_of(field)
    if isinstance(value, Sourced):
        yield _sourced_row(label, field, value, catalog)
    elif isinstance(value, dict):
        for key, fact in value.items():
            title = f"Outlets for {catalog.power_inlets[key].name}" if field == "outlets" else capital(str(key))
            yield _sourced_row(title, "", fact, catalog)
    elif isinstance(value, DeliveredRack):
        yield row("Arrives in", item_name(value.rack, catalog), _NONE, _NONE, _NONE)
        yield _sourced_row(label_of("shelf_w"), "shelf_w", value.shelf_w, catalog)
        for content in value.contents:
            text = fact_text("contents", content, catalog)
            cited = cited_cell(content.source, content.where)
            yield row("Contents", text, name(content.basis), cited, content.note or _NONE)
    elif isinstance(value, Transformer):
        yield row(label, _shape_text(value), _NONE, cited_cell(value.source, value.where), value.note or _NONE)
    elif isinstance(value, tuple) and value and hasattr(value[0], "model_dump") and not isinstance(value[0], LinkType):
        for part in value:
            yield _row_of_part(label, part, catalog)
    elif isinstance(value, bool) or value not in (None, (), ""):
        texts = [_text(field, one, catalog) for one in (value if isinstance(value, tuple) else (value,))]
        yield row(label, listed(texts) if len(texts) < 9 else ", ".join(texts), _NONE, _NONE, _NONE)


def _sourced_row(label: str, field: str, fact: Sourced[Any], catalog: Catalog) -> Row:
    text = _text(field, fact.value, catalog)
    others = [_text(field, other.value, catalog) for other in fact.alternates]
    different = [other for other in dict.fromkeys(others) if other != text]
    if different:
        text += f" (other sources: {listed(different)})"
    return row(label, text, name(fact.basis), cited_cell(fact.source, fact.where), fact.note or _NONE)


def _row_of_part(label: str, part: object, catalog: Catalog) -> Row:
    if isinstance(part, Port):
        nic = f", on {item_name(part.nic, catalog)}" if part.nic else ""
        text = port_text(part).removesuffix(", assumed") + nic
        return row(label, text, name(part.basis), cited_cell(part.source, part.where), part.note or _NONE)
    if isinstance(part, CapacityOption):
        fact = part.raw_bytes
        text = f"{fact_value(fact.value, 'B')} raw ({part.name})"
        return row(label, text, name(fact.basis), cited_cell(fact.source, fact.where), fact.note or _NONE)
    if isinstance(part, Sku):
        return row(label, part.value, "published", cited_cell(part.source, part.where), part.note or _NONE)
    if isinstance(part, Overhead):
        text = f"{percent(part.overhead)} from {plural(part.nodes, 'node')} on"
        return row(label, text, name(part.basis), cited_cell(part.source, part.where), _NONE)
    if isinstance(part, EpochPoint):
        text = f"{part.epochs:g} epochs at a global batch of {grouped(part.global_batch)}"
        return row(label, text, "published", cited_cell(part.source, part.where), part.note or _NONE)
    if isinstance(part, Release):
        version = part.version
        text = f"{part.component} {version.value}"
        return row(label, text, name(version.basis), cited_cell(version.source, version.where), version.note or _NONE)
    assert isinstance(part, ObservedAs), part
    return row(
        label, part.software or "no software named", _NONE, cited_cell(part.source, "") if part.source else _NONE, _NONE
    )


def cited_cell(source: str, where: str) -> Cell:
    """A cell that holds nothing but the mark of a source and the place in it."""
    return Cell("", cites=(source,), where=where)


def _text(field: str, value: object, catalog: Catalog) -> str:
    if isinstance(value, Port):
        return port_text(value)
    if isinstance(value, EpochPoint):
        return f"{value.epochs:g} at {grouped(value.global_batch)}"
    if isinstance(value, LinkType):
        return value.name
    if field in _ITEM_FIELDS:
        return _SCOPES.get(str(value)) or item_name(str(value), catalog)
    if isinstance(value, str):
        return _shortened(_WORDS.get(value) or (fact_text(field, value, catalog) if field else name(value)))
    return fact_text(field, value, catalog)


def _shape_text(shape: Transformer) -> str:
    heads = f"{shape.heads} heads of {shape.head_size} ({shape.kv_heads} for keys and values)"
    experts = f", {shape.active_experts} of {shape.experts} experts" if shape.experts > 1 else ""
    return (
        f"{shape.layers} layers, {grouped(shape.hidden)} wide, {heads}, feed-forward {grouped(shape.ffn)}{experts}, "
        f"vocabulary {grouped(shape.vocabulary)}"
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _TEXT_MOST else text[: _TEXT_MOST - 1].rstrip() + "…"
