"""What an answer takes for granted, what to ask the vendors, and every document that a number comes from."""

import re
from collections.abc import Sequence
from functools import lru_cache

from sizer.base.quantities import plain
from sizer.catalog.checks import unknown_facts
from sizer.catalog.labels import fact_label, fact_text, sentence, with_vendor
from sizer.catalog.links import kind_name
from sizer.catalog.model import Catalog, Statement, statements
from sizer.catalog.schema import Item, Port
from sizer.physical.racks.positions import AISLE_M, LEAD_M, SLACK_FRACTION, TRAY_M
from sizer.sizing.result import Assumption, DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.platform_columns import OS_RESERVE_BYTES
from sizer.sizing.stages.storage_rates import rate_is_unknown
from sizer.workload.resolve import CUSTOM, ResolvedWorkload

# Folders of the catalogue whose assumed facts are choices of the plan.
_NOTHING_TO_ASK = ("cables", "accessories", "software", "support", "racks", "dnns", "datasets", "stacks", "recipes")
# Begins the question about everything that has no price.
PRICES = "Price, lead time and availability"


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
            "a copy of the GPU memory and {size} GiB".format(size=f"{OS_RESERVE_BYTES / 2**30:.0f}"),
            "assumed",
            "dell-ready-ai-nvidia-2018",
            "the guide asks for at least the GPU memory in RAM; the rest of the reserve is ours",
        )
    )
    found.append(
        Assumption(
            "Way of a cable",
            "{lead} m at each end, tray {tray} m above the racks, aisles of {aisle} m, {slack} slack".format(
                lead=plain(LEAD_M), tray=plain(TRAY_M), aisle=plain(AISLE_M), slack=f"{SLACK_FRACTION:.0%}"
            ),
            "assumed",
            "",
            "measured on the drawing of the room; confirm it on the site before cables are ordered",
        )
    )
    found += [
        Assumption(f"{item.name}: {_what(said)}", _value(said, catalog), "assumed", said.source, said.note)
        for item in items_of(design, catalog)
        for said in statements(item)
        if said.basis == "assumed" and said.source != CUSTOM
    ]
    return tuple(found)


def _what(said: Statement) -> str:
    if isinstance(said.value, Port):
        return f"{kind_name(said.value.kind)} ports"
    return fact_label(_field(said.field))


def _field(path: str) -> str:
    """Last part of a path that names a field: 'capacity_options[0].raw_bytes' is about raw_bytes."""
    return re.sub(r"\[\d+\]", "", path).rpartition(".")[2]


def _value(said: Statement, catalog: Catalog) -> str:
    if isinstance(said.value, Port):
        return str(said.value.count)
    return fact_text(_field(said.field), said.value, catalog)


@lru_cache(maxsize=4)
def _unknown_by_item(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Fields of the unknown facts of every item; the same for every answer from one catalogue."""
    unknown: dict[str, tuple[str, ...]] = {}
    for item_id, field in unknown_facts(catalog):
        unknown[item_id] = (*unknown.get(item_id, ()), _field(field))
    return unknown


def questions(design: DesignAnswer, catalog: Catalog) -> tuple[str, ...]:
    """Facts to ask the vendors for: unknown or assumed, of the parts of this design."""
    asked: dict[str, None] = {}
    unknown = _unknown_by_item(catalog)
    for item in items_of(design, catalog):
        # A cable of a stock length or free software holds nothing that a vendor must be asked.
        if item.id in unknown and catalog.category_of(item.id) not in _NOTHING_TO_ASK:
            facts = dict.fromkeys(fact_label(field).lower() for field in unknown[item.id])
            asked[f"{with_vendor(item)}: {'; '.join(facts)}"] = None
    storage = design.platform.storage
    if rate_is_unknown(storage):
        rate = "sustained read rate of one node, large sequential and small random"
        asked[f"{with_vendor(storage)}: {rate}"] = None
    asked.update(dict.fromkeys(sentence(question).rstrip(".") for question in design.plan.questions))
    if design.bill.unpriced:
        names = ", ".join(with_vendor(catalog.item(item_id)) for item_id in design.bill.unpriced)
        asked[f"{PRICES}: {names}"] = None
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
