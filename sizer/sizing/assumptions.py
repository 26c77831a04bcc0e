"""What an answer takes for granted, what to ask the vendors, and every document that a number comes from."""

import re
from collections.abc import Sequence
from functools import lru_cache

from sizer.base.quantities import NARROW_SPACE, significant
from sizer.catalog.checks import unknown_facts
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog, Statement, statements
from sizer.catalog.schema import Item, Port
from sizer.sizing.columns import OS_RESERVE_BYTES, rate_is_unknown
from sizer.sizing.result import Assumption, DesignAnswer, WorkloadAnswer
from sizer.workload.resolve import CUSTOM, ResolvedWorkload


def items_of(design: DesignAnswer, catalog: Catalog) -> list[Item]:
    """Catalogue items that a design uses, in the order of its bill, each once."""
    ids = [design.platform.server.id, design.platform.gpu.id, design.platform.storage.id]
    if design.platform.server.cpu is not None:
        ids.append(design.platform.server.cpu.value)
    ids += [part.item for part in design.quantities.components]
    items = {name: catalog.item(name) for name in dict.fromkeys(ids)}
    for answer in design.workloads:
        used: list[Item | None] = [answer.dnn, answer.dataset, answer.stack, answer.recipe]
        items.update({item.id: item for item in used if item is not None})
    return list(items.values())


def collect(works: Sequence[ResolvedWorkload], design: DesignAnswer, catalog: Catalog) -> tuple[Assumption, ...]:
    """Assumptions of an answer: defaults of the request first, then assumed facts of parts."""
    found = [
        Assumption(f"{work.request.name}: {what}", value, "assumed", "", note)
        for work in works
        for what, value, note in work.defaults
    ]
    found.append(
        Assumption(
            "Memory kept from the page cache",
            f"a copy of the GPU memory and {OS_RESERVE_BYTES / 2**30:.0f} GiB",
            "assumed",
            "dell-ready-ai-nvidia-2018",
            "the guide asks for at least the GPU memory in RAM; the rest of the reserve is ours",
        )
    )
    found += [
        Assumption(f"{item.name}: {_words(said)}", _value(said), "assumed", said.source, said.note)
        for item in items_of(design, catalog)
        for said in statements(item)
        if said.basis == "assumed" and said.source != CUSTOM
    ]
    return tuple(found)


# Endings of field names in words and the factor to the unit that people read.
_UNITS: tuple[tuple[str, str, float], ...] = (
    ("_bytes_per_s", "GB/s", 1e-9),
    ("_flop_per_s", "TFLOP/s", 1e-12),
    ("_bytes", "GB", 1e-9),
    ("_w", "W", 1.0),
    ("_kg", "kg", 1.0),
    ("_m", "m", 1.0),
    ("_u", "U", 1.0),
    ("_hz", "GHz", 1e-9),
    ("_s", "s", 1.0),
)


def _words(said: Statement) -> str:
    """Name of a fact as people say it: 'power_max_w' reads 'power max'."""
    if isinstance(said.value, Port):
        return f"{kind_name(said.value.kind)} ports ({said.value.use})"
    return _field_words(said.field)


def _field_words(field: str) -> str:
    name = re.sub(r"\[\d+\]|\.value", "", field).rpartition(".")[2] or field
    ending = next((ending for ending, _, _ in _UNITS if name.endswith(ending)), "")
    return name.removesuffix(ending).replace("_", " ")


def _value(said: Statement) -> str:
    value = said.value
    if isinstance(value, Port):
        return str(value.count)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        for ending, unit, factor in _UNITS:
            if said.field.endswith(ending):
                return f"{significant(value * factor, 4)}{NARROW_SPACE}{unit}"
        return f"{value:g}"
    return str(value)


@lru_cache(maxsize=4)
def _unknown_by_item(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Names of the unknown facts of every item; the same for every answer from one catalogue."""
    unknown: dict[str, tuple[str, ...]] = {}
    for item_id, field in unknown_facts(catalog):
        unknown[item_id] = (*unknown.get(item_id, ()), _field_words(field))
    return unknown


def questions(design: DesignAnswer, catalog: Catalog) -> tuple[str, ...]:
    """Facts to ask the vendors for: unknown or assumed, of the parts of this design."""
    asked: dict[str, None] = {}
    unknown = _unknown_by_item(catalog)
    for item in items_of(design, catalog):
        names = list(dict.fromkeys(unknown.get(item.id, ())))
        if names:
            asked[f"{item.vendor}, {item.name}: {', '.join(names)}"] = None
    if rate_is_unknown(design.platform.storage):
        storage = design.platform.storage
        asked[
            f"{storage.vendor}, {storage.name}: sustained read rate of one node, large sequential and small random"
        ] = None
    for item_id in design.bill.unpriced:
        item = catalog.item(item_id)
        asked[f"{item.vendor}, {item.name}: price, lead time and availability"] = None
    return tuple(asked)


def sources(design: DesignAnswer, taken: Sequence[Assumption], catalog: Catalog) -> tuple[str, ...]:
    """Keys of every document that a number of the answer comes from, in order of use."""
    used: dict[str, None] = {}
    for answer in design.workloads:
        used.update(dict.fromkeys(_evidence_sources(answer)))
    for item in items_of(design, catalog):
        used.update(dict.fromkeys(said.source for said in statements(item)))
    used.update(dict.fromkeys(line.price_source for line in design.bill.lines if line.unit_price is not None))
    used.update(dict.fromkeys(assumption.source for assumption in taken))
    return tuple(key for key in used if key in catalog.sources)


def _evidence_sources(answer: WorkloadAnswer) -> list[str]:
    return [
        *(source for stage in answer.stages for source in stage.sources),
        *(row.source for row in answer.evidence),
    ]
