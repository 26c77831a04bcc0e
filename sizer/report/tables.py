"""Tables of the guide, prepared cell by cell: templates only print them."""

from dataclasses import dataclass
from typing import Literal

from sizer.base.provenance import Sourced
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import CapacityOption, Item, Port
from sizer.report import words

Align = Literal["left", "right"]


@dataclass(frozen=True)
class Cell:
    """Text of a cell with the keys of its sources."""

    text: str
    cites: tuple[str, ...] = ()
    where: str = ""  # place inside the source
    is_muted: bool = False
    stage: str = ""  # key of a stage whose colour marks the cell

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


# Facts with a better name than their field, and those that a component table leaves to other places.
_LABELS = {
    "n_gpus": "GPUs",
    "n_cpus": "Processors",
    "cpu": "Processor",
    "intra_link": "GPU interconnect",
    "height_u": "Height",
    "depth_m": "Depth",
    "weight_kg": "Weight",
    "power_typical_w": "Power, typical",
    "power_max_w": "Power, maximum",
    "power_low_w": "Power, lower end of the bracket",
    "power_high_w": "Power, upper end of the bracket",
    "power_inlets": "Power inlets",
    "inlet_kind": "Inlet kind",
    "memory_bytes": "Memory",
    "memory_max_bytes": "Memory, largest",
    "peak_mixed_flop_per_s": "Peak, mixed precision",
    "peak_fp32_flop_per_s": "Peak, single precision",
    "memory_bytes_per_s": "Memory bandwidth",
    "nvlink_bytes_per_s": "NVLink, one direction",
    "tdp_w": "Power limit (TDP)",
    "form_factor": "Form",
    "nodes_per_unit": "Nodes a chassis",
    "min_nodes": "Fewest nodes",
    "max_nodes": "Most nodes",
    "node_read_low_bytes_per_s": "Read rate of a node, demonstrated",
    "node_read_high_bytes_per_s": "Read rate of a node, upper end",
    "mount_low_bytes_per_s": "Read rate of a mount, lower end",
    "mount_high_bytes_per_s": "Read rate of a mount, upper end",
    "mounts_per_server": "Mounts a server",
    "front_end_kind": "Front end",
    "front_end_ports_per_node": "Front-end ports a node",
    "back_end_ports_per_node": "Back-end ports a node",
    "back_end_switch": "Back-end switch",
    "back_end_flat_nodes": "Nodes on a flat back end, most",
    "cache_bytes_per_node": "Cache a node",
    "usable_bytes": "Usable capacity",
    "protection": "Protection",
    "stripe_data": "Stripe, data blocks",
    "stripe_parity": "Stripe, parity blocks",
    "hot_spare_nodes": "Hot-spare servers",
    "usable_share": "Share left after metadata and reserve",
    "subnet_manager": "Subnet manager on board",
    "latency_s": "Latency",
    "uplink_kind": "Uplinks",
    "front_end_bytes_per_s": "Front-end port, data rate",
    "uplink_bytes_per_s": "Uplink, data rate",
    "introduced": "Introduced",
    "end_of_sale": "End of sale",
    "end_of_service": "End of service",
    "capacity_w": "Capacity",
    "load_kg": "Load",
}
# What concerns the item as a product rather than its work in the design.
_LAST = {"features", "introduced", "end_of_sale", "end_of_service"}
_KINDS = {"front_end_kind", "uplink_kind"}
_ITEMS = {"cpu", "server", "back_end_switch"}
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
            rows += [
                _labelled(words.capital(label), fact, words.fact_value(fact.value, "")) for label, fact in value.items()
            ]
    return tuple(rows)


def _fact_row(field: str, fact: Sourced[object], catalog: Catalog) -> Row:
    plain, unit = words.unit_of_field(field)
    label = _LABELS.get(field, plain[:1].upper() + plain[1:])
    value = _fact_text(field, fact.value, unit, catalog)
    others = [_fact_text(field, other.value, unit, catalog) for other in fact.alternates]
    different = [text for text in dict.fromkeys(others) if text != value]
    if different:
        value += f" (other sources: {words.listed(different)})"
    return _labelled(label, fact, value)


def _labelled(label: str, fact: Sourced[object], value: str) -> Row:
    note = ", assumed" if fact.basis == "assumed" else ", derived" if fact.basis == "derived" else ""
    return row(label, Cell(value + note), _source(fact.source, fact.where))


def _fact_text(field: str, value: object, unit: str, catalog: Catalog) -> str:
    if field in _KINDS:
        return kind_name(value)  # type: ignore[arg-type]
    if field in _ITEMS:
        return item_name(str(value), catalog)
    if field == "usable_share" and isinstance(value, (int, float)):
        return words.percent(float(value))
    if field == "inlet_kind":
        return str(value).upper()
    return words.fact_value(value, unit)


def _port_row(port: Port) -> Row:
    kinds = [kind_name(port.kind), *(kind_name(other) for other in port.also)]
    use = f", {_USES[port.use]}" if _USES[port.use] else ""
    note = ", assumed" if port.basis == "assumed" else ""
    return row("Ports", f"{port.count} × {words.listed(kinds, 'or')}{use}{note}", _source(port.source, port.where))


def _capacity_row(option: CapacityOption) -> Row:
    fact = option.raw_bytes
    return row(
        "Raw capacity of a unit",
        f"{words.fact_value(fact.value, 'B')} ({option.name})",
        _source(fact.source, fact.where),
    )


def _source(key: str, where: str) -> Cell:
    return Cell("", cites=(key,), where=where)


def item_name(item_id: str, catalog: Catalog) -> str:
    """Name of a catalogue item by its id, with its vendor; ids that no folder holds are written out."""
    try:
        item = catalog.item(item_id)
    except KeyError:
        return item_id.replace("-", " ")
    return with_vendor(item)


def with_vendor(item: Item) -> str:
    """'NVIDIA DGX-1'; words that vendor and name share are said once."""
    return joined(item.vendor, item.name)


def joined(vendor: str, name: str) -> str:
    """Vendor before a name: 'Dell EMC Isilon' and 'Isilon F800' make 'Dell EMC Isilon F800'."""
    makers, parts = vendor.split(), name.split()
    if not makers or not parts or vendor.lower() == "generic":
        return name
    if makers[0].lower() == parts[0].lower():
        return name
    if makers[-1].lower() == parts[0].lower():
        makers.pop()
    return " ".join((*makers, *parts))
