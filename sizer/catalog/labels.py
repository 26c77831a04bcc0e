"""Facts of the catalogue in words: names of fields, values with their units, items with their vendors."""

import re

from sizer.base.quantities import NARROW_SPACE, grouped, plain, si, significant
from sizer.base.units import GIB
from sizer.catalog.devices import RackContent
from sizer.catalog.items import Item
from sizer.catalog.links import GpuLink, LinkType, PowerInlet
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn

# Raw keys of catalogue and request as people say them, where that is otherwise.
NAMES = {
    "page-cache": "page cache",
    "pinned": "pinned cache",
    "none": "no cache",
    "random": "random order in every epoch",
    "sharded": "a fixed shard for each server",
    "validation-inference": "batch inference on a test set",
    "serving": "serving to people or programs",
    "generation": "generation, nobody waits",
    "mixed": "mixed precision",
    "fp32": "single precision (fp32)",
    "bf16": "BF16",
    "ownership": "cost of ownership",
    "gpus": "GPUs",
    "rack-units": "rack units",
    "scale-out-nas": "scale-out NAS",
    "parallel-file-system": "parallel file system",
    "nfs-server": "NFS server",
    "local": "local drives",
    "datasheet": "data sheet",
    "framework": "framework loader on the CPU",
    "dali": "DALI with GPU decode",
    "dali-cpu": "DALI on the CPU",
    "request": "the request",
    "gpu": "GPU",
    "raw-terabyte": "raw terabyte",
}
# Names of facts that do not say it themselves.
_LABELS = {
    "n_gpus": "GPUs",
    "n_cpus": "Processors",
    "host_links": "Links between host and GPUs",
    "cpu": "Processor",
    "intra_link": "GPU interconnect",
    "power_typical_w": "Power, typical",
    "power_max_w": "Power, maximum",
    "power_low_w": "Power, lower estimate",
    "power_high_w": "Power, upper estimate",
    "peak_mixed_flop_per_s": "Peak, mixed precision",
    "peak_fp32_flop_per_s": "Peak, single precision",
    "memory_bytes_per_s": "Memory bandwidth",
    "nvlink_bytes_per_s": "NVLink, one direction",
    "tdp_w": "Power limit (TDP)",
    "form_factor": "Form",
    "nodes_per_unit": "Nodes a chassis",
    "min_nodes": "Fewest nodes",
    "max_nodes": "Most nodes",
    "max_gpus": "Most GPUs that it is made for",
    "node_read_low_bytes_per_s": "Read rate of a node, lower end",
    "node_read_high_bytes_per_s": "Read rate of a node, upper end",
    "test_write_bytes_per_s": "Write rate of a published test",
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
    "media": "Drives",
    "stripe_data": "Stripe, data blocks",
    "stripe_data_max": "Stripe, most data blocks",
    "stripe_parity": "Stripe, parity blocks",
    "controllers": "Controllers of an appliance",
    "hot_spare_nodes": "Hot-spare servers",
    "hot_spare_nodes_above_min": "Hot-spare servers, larger clusters",
    "usable_share": "Share left after metadata and reserve",
    "subnet_manager": "Subnet manager on board",
    "uplink_kind": "Uplinks",
    "front_end_bytes_per_s": "Front-end port, data rate",
    "uplink_bytes_per_s": "Uplink, data rate",
    "metric": "What a licence counts",
    "purpose": "Scope",
    "power_end_w": "Power of an end",
    "c14": "C13 outlets",
    "c20": "C19 outlets",
    "low_v": "Voltage, from",
    "high_v": "Voltage, to",
    "supplies_needed": "Power supplies that carry its full draw",
    "liquid_heat_fraction": "Share of its heat that a coolant carries",
    "shelf_w": "Rating of a power shelf",
    "domain_gpus": "GPUs of one NVLink domain",
}
_ITEMS = {"cpu", "server", "back_end_switch"}


def name(raw: object) -> str:
    """A raw key as words: 'page-cache' reads 'page cache'."""
    text = str(raw)
    return NAMES.get(text, text.replace("_", " "))


_UNIT_OF_SUFFIX = (
    ("_bytes_per_s", "B/s"),
    ("_bytes_per_node", "B"),
    ("_flop_per_s", "FLOP/s"),
    ("_bytes", "B"),
    ("_flop", "FLOP"),
    ("_hz", "Hz"),
    ("_kg", "kg"),
    ("_w", "W"),
    ("_m", "m"),
    ("_u", "U"),
    ("_s", "s"),
    ("_v", "V"),
)


_SAMPLE_UNITS = {
    "image": "images/s",
    "token": "tokens/s",
    "request": "requests/s",
    "request in flight": "requests in flight",
}


def sample_unit(dnn: Dnn) -> str:
    """Unit of throughput of a DNN."""
    return _SAMPLE_UNITS.get(dnn.sample, "samples/s")


def sentence(text: str) -> str:
    """Text with a capital and a full stop."""
    text = text.strip()
    if not text:
        return ""
    return capital(text) + ("" if text[-1] in ".!?:" else ".")


def capital(text: str) -> str:
    """Text with a capital."""
    return text[:1].upper() + text[1:]


# Peaks and measured rates of a GPU, by number format.
_RATES_OF_FORMATS = ("tf32", "fp16", "bf16", "fp8", "fp4")


def unit_of_field(field: str) -> tuple[str, str]:
    """Field name of the catalogue without its unit, and the unit: 'power_max_w' -> ('power max', 'W')."""
    if field in _RATES_OF_FORMATS:
        return f"{field.upper()} rate", "FLOP/s"
    for suffix, unit in _UNIT_OF_SUFFIX:
        if field.endswith(suffix):
            return field.removesuffix(suffix).replace("_", " "), unit
    return field.replace("_", " "), ""


def memory_size(size_bytes: float, space: str = NARROW_SPACE) -> str:
    """Bytes as whole GiB, of which memory is sold, else with a decimal prefix."""
    gib = size_bytes / GIB
    return f"{grouped(gib)}{space}GiB" if gib.is_integer() else si(size_bytes, "B")


def fact_value(value: object, unit: str) -> str:
    """A catalogue fact in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return name(value)
    if isinstance(value, tuple):
        return ", ".join(name(str(part)) for part in value)
    number = float(value)  # type: ignore[arg-type]
    if unit == "B":
        return memory_size(number)
    if unit == "Hz":
        return f"{significant(number / 1e9, 2)}{NARROW_SPACE}GHz"
    if unit == "s" and number < 1e-3:
        return f"{significant(number * 1e9)}{NARROW_SPACE}ns"
    if unit in ("W", "kg", "U"):
        digits = 0 if number.is_integer() else 1
        return f"{grouped(number, digits)}{NARROW_SPACE}{unit}"
    if unit:
        return si(number, unit)
    return grouped(number) if number.is_integer() else significant(number)


def fact_label(field: str) -> str:
    """Name of a fact: 'power_max_w' reads 'Power, maximum'."""
    label = _LABELS.get(field)
    return label if label is not None else capital(unit_of_field(field)[0])


def fact_text(field: str, value: object, catalog: Catalog) -> str:
    """Value of a fact with its unit; ids and kinds by their names."""
    return item_name(str(value), catalog) if names_item(field) else fact_value_text(field, value)


def names_item(field: str) -> bool:
    """Whether the value of a fact is the id of a catalogue item."""
    return field in _ITEMS


def fact_value_text(field: str, value: object) -> str:
    """Value of a fact that names no item, with its unit; kinds by their names."""
    if isinstance(value, LinkType | GpuLink | PowerInlet):
        return value.name
    if isinstance(value, RackContent):
        return f"{value.count} × {value.name}, {value.height_u}U each, from unit {value.lowest_u} up"
    if field == "usable_share" and isinstance(value, (int, float)):
        return f"{plain(100 * float(value))}{NARROW_SPACE}%"
    if field in ("number_formats", "widened_formats") and isinstance(value, tuple):
        return ", ".join(one.upper() for one in value)
    if field == "form_factor":
        # Form of a GPU board: 'SXM2', 'PCIe'.
        form = str(value)
        return "PCIe" if form == "pcie" else form.upper()
    return fact_value(value, unit_of_field(field)[1])


def item_name(item_id: str, catalog: Catalog) -> str:
    """Name of a catalogue item by its id, with its vendor; ids that no folder holds are written out."""
    try:
        item = catalog.item(item_id)
    except KeyError:
        return item_id.replace("-", " ")
    return with_vendor(item)


def gpu_name(gpu_id: str, catalog: Catalog) -> str:
    """Name of a GPU by its id; of one that the catalogue lacks ('rtx-3090-24gb') its id as people write it."""
    if gpu_id in catalog.gpus:
        return catalog.gpus[gpu_id].name
    return re.sub(r"(?<=\d)GB", f"{NARROW_SPACE}GB", gpu_id.upper().replace("-", " "))


def with_vendor(item: Item) -> str:
    """'NVIDIA DGX-1'; words that vendor and name share are said once. Local drives come with a server and its maker."""
    return item.name if getattr(item, "kind", "") == "local" else with_maker(item.vendor, item.name)


def with_maker(vendor: str, name: str) -> str:
    """Vendor before a name: 'Dell EMC Isilon' and 'Isilon F800' make 'Dell EMC Isilon F800'."""
    makers, parts = vendor.split(), name.split()
    if not makers or not parts or vendor.lower() in ("generic", "any"):
        return name
    if makers[0].lower() == parts[0].lower():
        return name
    if makers[-1].lower() == parts[0].lower():
        makers.pop()
    return " ".join((*makers, *parts))
