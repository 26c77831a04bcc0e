"""Facts of the catalogue in words: names of fields, values with their units, items with their vendors."""

import re
import tomllib
from pathlib import Path

from sizer.base.quantities import NARROW_SPACE, grouped, plain, si, significant
from sizer.base.units import GIB
from sizer.catalog.items import Item
from sizer.catalog.links import GpuLink, LinkType, PowerInlet
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Dnn, RackContent

# Words of keys, facts, their units, and what networks take.
_WORDS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_ITEMS = {"cpu", "server", "back_end_switch"}


def name(raw: object) -> str:
    """A raw key as words: 'page-cache' reads 'page cache'."""
    text = str(raw)
    return _WORDS["names"].get(text, text.replace("_", " "))


def sample_unit(dnn: Dnn) -> str:
    """Unit of throughput of a DNN."""
    return _WORDS["samples"].get(dnn.sample, "samples/s")


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
    for suffix, unit in _WORDS["units"].items():
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
    label = _WORDS["facts"].get(field)
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
        return ", ".join(text.upper() for text in value)
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
