"""Facts of the catalogue in words: names of fields, values with their units, items with their vendors."""

from sizer.base.language import Texts, mark, tr, trc
from sizer.base.quantities import NARROW_SPACE, grouped, plain, si, significant
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, Item

# Raw keys of catalogue and request as people say them.
NAMES = Texts(
    {
        "page-cache": mark("page cache"),
        "pinned": mark("pinned cache"),
        "none": mark("no cache"),
        "random": mark("random order in every epoch"),
        "sharded": mark("a fixed shard for each server"),
        "training": mark("training"),
        "validation-inference": mark("validation inference"),
        "mixed": mark("mixed precision"),
        "fp32": mark("single precision (fp32)"),
        "cost": mark("cost"),
        "time": mark("time"),
        "gpus": mark("GPUs"),
        "rack-units": mark("rack units"),
        "watts": mark("watts"),
        "scale-out-nas": mark("scale-out NAS"),
        "parallel-file-system": mark("parallel file system"),
        "nfs-server": mark("NFS server"),
        "local": mark("local drives"),
        "sxm2": mark("SXM2"),
        "sxm3": mark("SXM3"),
        "pcie": mark("PCIe"),
        "nvlink1": mark("NVLink"),
        "nvlink2": mark("NVLink 2"),
        "nvswitch": mark("NVSwitch"),
        "pcie3": mark("PCIe 3.0"),
        "datasheet": mark("data sheet"),
        "measured": mark("measured"),
        "published": mark("published"),
        "derived": mark("derived"),
        "assumed": mark("assumed"),
        "framework": mark("framework loader on the CPU"),
        "dali": mark("DALI with GPU decode"),
        "dali-cpu": mark("DALI on the CPU"),
        "request": mark("the request"),
        "cluster": mark("cluster"),
        "free": mark("free"),
        "included": mark("included"),
        "node": mark("node"),
        "gpu": mark("gpu"),
        "raw-terabyte": mark("raw-terabyte"),
        "raw files": mark("raw files"),
        "records": mark("records"),
        "decoded tensors": mark("decoded tensors"),
    }
)
# Names of facts. Those of a request or a neural network that tables of parts leave out are here for translation.
_LABELS = Texts(
    {
        "n_gpus": mark("GPUs"),
        "n_cpus": mark("Processors"),
        "cpu": mark("Processor"),
        "intra_link": mark("GPU interconnect"),
        "height_u": mark("Height"),
        "depth_m": mark("Depth"),
        "weight_kg": mark("Weight"),
        "power_typical_w": mark("Power, typical"),
        "power_max_w": mark("Power, maximum"),
        "power_low_w": mark("Power, lower end of the bracket"),
        "power_high_w": mark("Power, upper end of the bracket"),
        "power_inlets": mark("Power inlets"),
        "inlet_kind": mark("Inlet kind"),
        "memory_bytes": mark("Memory"),
        "memory_max_bytes": mark("Memory, largest"),
        "peak_mixed_flop_per_s": mark("Peak, mixed precision"),
        "peak_fp32_flop_per_s": mark("Peak, single precision"),
        "memory_bytes_per_s": mark("Memory bandwidth"),
        "nvlink_bytes_per_s": mark("NVLink, one direction"),
        "tdp_w": mark("Power limit (TDP)"),
        "form_factor": mark("Form"),
        "nodes_per_unit": mark("Nodes a chassis"),
        "min_nodes": mark("Fewest nodes"),
        "max_nodes": mark("Most nodes"),
        "node_read_low_bytes_per_s": mark("Read rate of a node, demonstrated"),
        "node_read_high_bytes_per_s": mark("Read rate of a node, upper end"),
        "test_write_bytes_per_s": mark("Write rate of a published test"),
        "mount_low_bytes_per_s": mark("Read rate of a mount, lower end"),
        "mount_high_bytes_per_s": mark("Read rate of a mount, upper end"),
        "mounts_per_server": mark("Mounts a server"),
        "front_end_kind": mark("Front end"),
        "front_end_ports_per_node": mark("Front-end ports a node"),
        "back_end_ports_per_node": mark("Back-end ports a node"),
        "back_end_switch": mark("Back-end switch"),
        "back_end_flat_nodes": mark("Nodes on a flat back end, most"),
        "cache_bytes_per_node": mark("Cache a node"),
        "usable_bytes": mark("Usable capacity"),
        "protection": mark("Protection"),
        "stripe_data": mark("Stripe, data blocks"),
        "stripe_data_max": mark("Stripe, most data blocks"),
        "stripe_parity": mark("Stripe, parity blocks"),
        "hot_spare_nodes": mark("Hot-spare servers"),
        "hot_spare_nodes_above_min": mark("Hot-spare servers, larger clusters"),
        "usable_share": mark("Share left after metadata and reserve"),
        "subnet_manager": mark("Subnet manager on board"),
        "latency_s": mark("Latency"),
        "uplink_kind": mark("Uplinks"),
        "front_end_bytes_per_s": mark("Front-end port, data rate"),
        "uplink_bytes_per_s": mark("Uplink, data rate"),
        "introduced": mark("Introduced"),
        "end_of_sale": mark("End of sale"),
        "end_of_service": mark("End of service"),
        "capacity_w": mark("Capacity"),
        "load_kg": mark("Load"),
        "metric": mark("What a licence counts"),
        "purpose": mark("Scope"),
        "power_end_w": mark("Power of an end"),
        "outlets_c13": mark("C13 outlets"),
        "outlets_c19": mark("C19 outlets"),
        "base_clock_hz": mark("Base clock"),
        "cores": mark("Cores"),
        "evaluate_every_epochs": mark("Evaluate every epochs"),
        "features": mark("Features"),
        "forward_flop": mark("Forward"),
        "gateway_ports_per_node": mark("Gateway ports per node"),
        "host_interface": mark("Host interface"),
        "inlet": mark("Inlet"),
        "input_bytes": mark("Input"),
        "length_m": mark("Length"),
        "n_ports": mark("N ports"),
        "n_samples": mark("N samples"),
        "n_validation_samples": mark("N validation samples"),
        "parameters": mark("Parameters"),
        "pcie_lanes": mark("Pcie lanes"),
        "ports": mark("Ports"),
        "raw_bytes": mark("Raw"),
        "released": mark("Released"),
        "role": mark("Role"),
        "sample_bytes": mark("Sample"),
        "server": mark("Server"),
        "target": mark("Target"),
        "threads": mark("Threads"),
        "usable_bytes_per_s": mark("Usable"),
        "usable_depth_m": mark("Usable depth"),
        "width_m": mark("Width"),
    }
)
_KINDS = {"front_end_kind", "uplink_kind"}
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
)


def sample_unit(dnn: Dnn) -> str:
    """Unit of throughput of a DNN."""
    return tr("images/s") if dnn.sample == "image" else tr("samples/s")


def sentence(text: str) -> str:
    """Text with a capital and a full stop."""
    text = text.strip()
    if not text:
        return ""
    return capital(text) + ("" if text[-1] in ".!?:" else ".")


def capital(text: str) -> str:
    """Text with a capital."""
    return text[:1].upper() + text[1:]


def unit_of_field(field: str) -> tuple[str, str]:
    """Field name of the catalogue without its unit, and the unit: 'power_max_w' -> ('power max', 'W')."""
    for suffix, unit in _UNIT_OF_SUFFIX:
        if field.endswith(suffix):
            return field.removesuffix(suffix).replace("_", " "), unit
    return field.replace("_", " "), ""


def fact_value(value: object, unit: str) -> str:
    """A catalogue fact in words."""
    if isinstance(value, bool):
        return trc("answer", "yes") if value else trc("answer", "no")
    if isinstance(value, str):
        return name(value)
    number = float(value)  # type: ignore[arg-type]
    if unit == "B":
        gib = number / 2**30
        if gib.is_integer():
            return f"{grouped(gib)}{NARROW_SPACE}GiB"
        return si(number, "B")
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
    if field in _KINDS:
        return kind_name(value)  # type: ignore[arg-type]
    if field in _ITEMS:
        return item_name(str(value), catalog)
    if field == "usable_share" and isinstance(value, (int, float)):
        return f"{plain(100 * float(value))}{NARROW_SPACE}%"
    if field == "inlet_kind":
        return str(value).upper()
    return fact_value(value, unit_of_field(field)[1])


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
