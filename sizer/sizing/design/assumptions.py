"""Assumptions of an answer, points that vendors must confirm, and every document that a number comes from."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from sizer.calibrate.language.whole_runs import n_fitted_trainings
from sizer.catalog.checks import unknown_facts
from sizer.catalog.items import Item
from sizer.catalog.labels import names_item
from sizer.catalog.model import Catalog, last_field, statements
from sizer.perf.availability import goodput
from sizer.physical.platform import OS_RESERVE_BYTES
from sizer.physical.racks.positions import AISLE_M, LEAD_M, SLACK_FRACTION, TRAY_M
from sizer.sizing import assumptions
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.checkpoints import meets_level
from sizer.sizing.stages.platform_columns import WRITE_SHARES, has_usual_level, rate_is_unknown
from sizer.workload.resolve import CUSTOM, ResolvedWorkload

# Folders of the catalogue whose assumed facts are choices of the plan.
_NOTHING_TO_ASK = ("cables", "accessories", "software", "support", "racks", "dnns", "datasets", "stacks", "recipes")


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


def design_assumptions(
    works: Sequence[ResolvedWorkload], design: DesignAnswer, catalog: Catalog
) -> tuple[assumptions.DesignAssumption, ...]:
    """Assumptions of an answer: defaults of the request first, then assumed facts of parts."""
    on_gpu = [work.on(design.platform.gpu.id, design.n_gpus) for work in works]
    return (
        *(assumptions.DefaultTaken(work.request.name, default) for work in on_gpu for default in work.defaults),
        *_storage_levels(works, design, catalog),
        *_of_checkpoints(design),
        assumptions.CacheReserve(OS_RESERVE_BYTES),
        assumptions.CableRoute(LEAD_M, TRAY_M, AISLE_M, SLACK_FRACTION),
        *(
            assumptions.AssumedFact(item, fact, catalog.item(str(fact.value)) if names_item(fact.last_field) else None)
            for item in items_of(design, catalog)
            for fact in statements(item)
            if fact.basis == "assumed" and fact.source != CUSTOM and not _is_replaced(design, item, fact.field)
        ),
    )


def _storage_levels(
    works: Sequence[ResolvedWorkload], design: DesignAnswer, catalog: Catalog
) -> Iterator[assumptions.DesignAssumption]:
    """Published levels that the storage is sized for, although the request names none."""
    if not has_usual_level(design.platform, catalog):
        return
    servers = goodput.servers_of_eight(design.n_servers, design.platform.gpus_per_server)
    for work in works:
        others = work.others
        if others is None or others.level is None or not others.level_is_default:
            continue
        if meets_level(others, servers):
            read, write = goodput.level_rates(others.level, servers)
            yield assumptions.StorageLevelTaken(work.request.name, others.level, float(read), float(write))


def _of_checkpoints(design: DesignAnswer) -> Iterator[assumptions.DesignAssumption]:
    """What the goodput of language models and the storage for their checkpoints rest on, each once."""
    answers = design.layouts
    if not answers:
        return
    for answer in design.workloads:
        if answer.time is not None and answer.time.whole_run is not None:
            is_own = answer.before_measured is not None
            yield assumptions.WholeRunFactor(answer.workload.name, answer.time.whole_run, n_fitted_trainings(), is_own)
    if any(one.work.checkpoints.interruptions is None for one in answers):
        yield assumptions.InterruptionRate(*goodput.INTERRUPTIONS)
    yield assumptions.RestartTimes(goodput.NOTICE_S, goodput.RESCHEDULE_S, goodput.WARM_UP_S)
    for one in {one.plan.blocked_s: one for one in answers}.values():
        yield assumptions.CheckpointTimes(one.plan.write_s, one.plan.blocked_s)
    if _write_rate_is_unknown(design):
        yield assumptions.AssumedWriteRate(design.platform.storage, *WRITE_SHARES)


def _write_rate_is_unknown(design: DesignAnswer) -> bool:
    storage = design.platform.storage
    return storage.kind != "local" and storage.node_write_bytes_per_s is None


def _is_replaced(design: DesignAnswer, item: Item, field: str) -> bool:
    """Whether a fact is that of the standard memory of servers which have another one."""
    return design.platform.host_memory is not None and item.id == design.platform.server.id and field == "memory_bytes"


@lru_cache(maxsize=4)
def _unknown_by_item(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Fields of the unknown facts of every item; the same for every answer from one catalogue."""
    unknown: dict[str, tuple[str, ...]] = {}
    for item_id, field in unknown_facts(catalog):
        unknown[item_id] = (*unknown.get(item_id, ()), last_field(field))
    return unknown


def open_points(design: DesignAnswer, catalog: Catalog) -> tuple[assumptions.OpenPoint, ...]:
    """Facts that the vendors must confirm: unknown or assumed, of the parts of this design."""
    unknown, storage = _unknown_by_item(catalog), design.platform.storage
    if _write_rate_is_unknown(design) and design.layouts:
        asked = dict.fromkeys((*unknown.get(storage.id, ()), "node_write_bytes_per_s"))
        unknown = {**unknown, storage.id: tuple(asked)}
    points: list[assumptions.OpenPoint] = [
        assumptions.MissingFacts(item, unknown[item.id])
        for item in items_of(design, catalog)
        # A cable of a stock length or free software holds nothing that a vendor must be asked.
        if item.id in unknown and catalog.category_of(item.id) not in _NOTHING_TO_ASK
    ]
    if rate_is_unknown(storage):
        points.append(assumptions.MissingReadRate(storage))
    points += design.plan.questions
    if design.bill.unpriced:
        points.append(assumptions.MissingPrices(tuple(catalog.item(item_id) for item_id in design.bill.unpriced)))
    return tuple(points)


def sources(design: DesignAnswer, taken: Sequence[assumptions.DesignAssumption], catalog: Catalog) -> tuple[str, ...]:
    """Keys of every document that a number of the answer comes from, in order of use."""
    used: dict[str, None] = {}
    for answer in design.workloads:
        used.update(dict.fromkeys(source for stage in answer.stages for source in stage.sources))
        used.update(dict.fromkeys(row.source for row in answer.evidence))
    for item in items_of(design, catalog):
        used.update(dict.fromkeys(statement.source for statement in statements(item)))
    used.update(dict.fromkeys(line.price_source for line in design.bill.lines if line.unit_price is not None))
    used.update(dict.fromkeys(assumption.source for assumption in taken))
    return tuple(key for key in used if key in catalog.sources)
