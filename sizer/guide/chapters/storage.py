"""Chapter on storage: usable capacity, read rate, and work on the data besides training."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from sizer.base.quantities import by_count, si, with_decimal_sign
from sizer.base.units import TIB
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Storage
from sizer.guide.context import GuideContext
from sizer.physical.capacity import CapacityStep, capacity_ladder, changing_steps, is_extrapolated
from sizer.present import words
from sizer.present.facts.storage_tiers import TIER_NAMES, system_text
from sizer.present.tables import Cell, Row, Table, fact_table, row
from sizer.present.text import result_text
from sizer.present.text.plan import note_text
from sizer.questions.data.text import (
    copy_text,
    ingest_text,
    required_capacity_table,
    routes_table,
    transform_text,
)
from sizer.sizing.constraints.tiers import StorageTier
from sizer.sizing.result import STAGES, DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.platform_columns import mount_rate, mount_rates, ports_in_use, storage_nic_bytes_per_s

# Below this share of the warm rate, the first epoch is slower than the later ones.
_SLOWED = 0.98
# Of the capacity of the storage, below which reads need no account of it.
_LITTLE = 0.01
_STEPS = {
    "raw": "Raw",
    "hot spare": "Hot spare",
    "protection": "Protection",
    "reserve": "Reserve",
    "usable": "Usable",
}


def content(context: GuideContext) -> dict[str, Any]:
    """What ``sections/storage.html`` prints."""
    design, platform = context.design, context.design.platform
    storage = platform.storage
    ladders = [
        (tier, (() if tier.storage is None else capacity_ladder(tier.storage, tier.capacity_option, tier.nodes)))
        for tier in design.tiers
    ]
    reading = [answer for answer in context.answers if answer.kind.reads_data]
    loads = [stage.load_fraction for one in reading for stage in one.stages if stage.key == "storage"]
    is_read = context.result.request.team is not None or max(loads, default=0.0) > _LITTLE
    return {
        "title": words.capital(result_text.storage_name(design)),
        "is_shared": storage.kind != "local",
        # Of models in use the same is said of each.
        "loads": [
            load_text(answer, is_named=context.has_many_workloads and not context.only_serves)
            for answer in context.answers[: 1 if context.only_serves else None]
        ],
        "capacity": capacity_table(ladders) if any(len(steps) > 1 for _, steps in ladders) else None,
        "is_protected": any(step.label == "protection" for _, steps in ladders for step in steps),
        "is_extrapolated": any(
            tier.storage is not None and is_extrapolated(tier.storage, tier.nodes) for tier in design.tiers
        ),
        # Requests to a model in use read nothing, tokens next to nothing.
        "supply": supply_table(design, context.catalog) if is_read else None,
        "is_demonstrated": _is_demonstrated(storage),
        "data": _data(context),
        "mounts": _mounts(context),
        "archives": platform.second_tier is not None,
    }


def _data(context: GuideContext) -> dict[str, Any]:
    """Stored data and ingest; where requested, also the routes of the ingest and local copies."""
    plan, data_request = context.data, context.result.request.data
    copies = plan.copies if data_request.copy_to_local else ()
    has_checkpoints = bool(plan.required.checkpoints_bytes)
    return {
        "title": "Stored data, ingest and checkpoints" if has_checkpoints else "Stored data and ingest",
        "requirement": required_capacity_table(plan),
        "ingest": ingest_text(plan.ingest)
        + (
            " The time to train does not include it."
            if any(answer.time is not None for answer in context.answers)
            else ""
        ),
        "ingest_paths": routes_table(plan.ingest) if data_request.ingest is not None else None,
        "transform": transform_text(plan.transform) if plan.transform is not None else "",
        "copies": [copy_text(copy) for copy in copies],
    }


def load_text(answer: WorkloadAnswer, *, is_named: bool) -> str:
    """Utilization of the storage by one workload."""
    name = f"{answer.workload.name}: " if is_named else ""
    stage = next(stage for stage in answer.stages if stage.key == "storage")
    if not answer.kind.reads_data:
        text = "the storage is read when a replica starts and loads its weights; requests read nothing from it."
    elif answer.bottleneck == "storage":
        text = "storage is the bottleneck of this design; more nodes would raise the rate."
    elif float(answer.storage_bytes_per_s.value) <= 0:
        first = words.rounded(answer.cold_storage_bytes_per_s, "B/s")
        text = (
            "after the first epoch the data is served from memory and the storage is idle. "
            f"The first epoch reads {first}."
        )
        full = _full_rate_bytes_per_s(answer)
        if float(answer.cold_storage_bytes_per_s.value) < _SLOWED * full:
            text = (
                "after the first epoch the data is served from memory and the storage is idle. Storage and network "
                f"limit the first epoch, {first}; at the full rate of the GPUs it would read {si(full, 'B/s')}."
            )
    else:
        bottleneck = answer.bottleneck
        limit = words.the_stage(bottleneck) if bottleneck in STAGES else bottleneck
        rate = words.rounded(answer.storage_bytes_per_s, "B/s")
        load = words.percent(stage.load_fraction)
        text = f"reads average {rate}, a storage utilization of {load}; {limit} is the bottleneck."
    return words.capital(name + text)


def _full_rate_bytes_per_s(answer: WorkloadAnswer) -> float:
    """What the workload would read at its warm rate with nothing in a cache."""
    return float(answer.throughput.value) * answer.sample_bytes


def _mounts(context: GuideContext) -> str:
    """How the servers mount the storage; "" where nothing is mounted."""
    storage = context.design.platform.storage
    if storage.kind == "local":
        return ""
    if storage.kind == "parallel-file-system":
        return "Every server runs the file system client and sees a single namespace."
    addresses = context.design.storage_nodes * ports_in_use(context.design.platform)
    if storage.kind == "scale-out-nas" and addresses > 1:
        if context.is_single:
            return f"The server mounts all {addresses} storage addresses, so no single mount limits its rate."
        return (
            f"Every server mounts all {addresses} storage addresses, and each process reads through a different one. "
            "This spreads the load over all nodes, and no single mount limits the rate."
        )
    rate = storage.mount_high_bytes_per_s
    if rate is not None:
        return f"One mount reads at most {si(rate.value, 'B/s')}; a second mount adds to it."
    return "The storage is mounted once. The rate of one mount is not published and has to be measured."


def capacity_table(ladders: Sequence[tuple[StorageTier, Sequence[CapacityStep]]]) -> Table:
    """Capacity of each tier after each step from raw to usable, in decimal and binary units."""
    rows: list[Row] = []
    for tier, steps in ladders:
        if len(ladders) > 1 and steps:
            rows.append(row(f"{words.capital(TIER_NAMES[tier.content])}: {system_text(tier)}", kind="group"))
        rows += [
            row(
                _STEPS[step.label],
                si(step.capacity_bytes, "B"),
                with_decimal_sign(f"{step.capacity_bytes / TIB:.1f}"),
                words.sentence(note_text(step.how)),
                Cell("", (step.source,)) if step.source else "",
                kind="total" if step.label == "usable" else "",
            )
            for step in changing_steps(steps)
        ]
    return fact_table(
        "ladder",
        "From raw to usable capacity",
        rows,
        titles=("Step", "Capacity", "TiB", "Basis", "Source"),
        widths=(15, 13, 10, 48, 14),
        aligns=("left", "right", "right", "left", "left"),
        style="",
    )


def supply_table(design: DesignAnswer, catalog: Catalog) -> Table | None:
    """Read rates of the storage by level of evidence, and the required rates; None where no rate is known."""
    available = (*_available(design), *_mounted(design, catalog))
    if not available:
        return None
    is_named = len(design.workloads) > 1
    rows = (
        row("Available", kind="group"),
        *available,
        row("Read by the workload", kind="group"),
        *(rate for answer in design.workloads for rate in _required(answer, is_named)),
    )
    unit = "Per server" if design.platform.storage.kind == "local" else "Per node"
    return fact_table(
        "supply",
        "Required and available read rates",
        rows,
        titles=("Read rate", unit, "Total", "Source"),
        widths=(40, 16, 18, 26),
        aligns=("left", "right", "right", "left"),
        style="",
    )


def _is_demonstrated(storage: Storage) -> bool:
    """Whether a test gives the lower rate and a data sheet the upper one."""
    low, high = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    return low is not None and high is not None and "assumed" not in (low.basis, high.basis) and low.value != high.value


def _available(design: DesignAnswer) -> Iterator[Row]:
    storage, n_nodes = design.platform.storage, max(design.storage_nodes, 1)
    if storage.kind == "local":
        n_nodes = design.n_servers
    levels = (
        ("Demonstrated, lower bound", "Assumed, lower bound", storage.node_read_low_bytes_per_s),
        ("Vendor's maximum, upper bound", "Assumed, upper bound", storage.node_read_high_bytes_per_s),
    )
    low, high = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    if low is not None and high is not None and low == high and low.basis != "assumed":
        source = Cell("", (low.source,), low.where)
        yield row("One published rate", si(low.value, "B/s"), si(low.value * n_nodes, "B/s"), source)
        low = high = None
    for published, assumed, fact in levels if low is not None or high is not None else ():
        if fact is not None:
            is_assumed = fact.basis == "assumed"
            label = assumed if is_assumed else published
            source = Cell("", (fact.source,), "" if fact.source == "assumption" else fact.where)
            yield row(label, si(fact.value, "B/s"), si(fact.value * n_nodes, "B/s"), source)
    line = float(design.quantities.front_end_bytes_per_s[0])
    if line > 0 and storage.kind != "local":
        yield row("Line rate of the front end", si(line / n_nodes, "B/s"), si(line, "B/s"), "ports in use")


def _mounted(design: DesignAnswer, catalog: Catalog) -> Iterator[Row]:
    """What all mounts or clients of the servers pass, no more than the ports that they share."""
    platform, nodes = design.platform, max(design.storage_nodes, 1)
    storage = platform.storage
    if storage.kind == "local":
        return
    fixed, per_node, low, high = mount_rates(platform, catalog)
    count = int(design.n_hosts * (fixed + per_node * nodes))
    ports = design.n_servers * storage_nic_bytes_per_s(platform)
    noun = "client" if storage.kind == "parallel-file-system" else "mount"
    source = Cell("", mount_rate(storage, catalog).sources)
    if count * low < ports:
        least, most = si(count * low, "B/s"), si(min(count * high, ports), "B/s")
        total = least if least == most else f"{least} to {most}"
        servers = by_count(design.n_servers, "the server", "the servers")
        yield row(f"{words.plural(count, noun)} of {servers}", "", total, source)
    if math.isfinite(ports):
        servers = by_count(design.n_servers, "server\u2019s", "servers\u2019")
        yield row(f"Line rate of the {servers} ports to the storage", "", si(ports, "B/s"), "ports in use")


def _required(answer: WorkloadAnswer, is_named: bool) -> Iterator[Row]:
    name = f"{answer.workload.name}: " if is_named else ""
    warm, cold = answer.storage_bytes_per_s, answer.cold_storage_bytes_per_s
    if not answer.kind.reads_data:
        yield row(words.capital(f"{name}requests"), "", "none", "")
        return
    if answer.kind.trains_language:
        yield row(words.capital(f"{name}tokens"), "", words.rounded(cold, "B/s"), "")
        return
    if answer.is_one_epoch:
        yield row(words.capital(f"{name}the epoch"), "", words.estimate(cold, "B/s"), "")
        return
    later = words.estimate(warm, "B/s") if float(warm.value) > 0 else "none"
    yield row(words.capital(f"{name}later epochs"), "", later, "")
    full = _full_rate_bytes_per_s(answer)
    if float(cold.value) < _SLOWED * full:
        yield row(
            words.capital(f"{name}first epoch, as storage and network allow"), "", words.estimate(cold, "B/s"), ""
        )
        yield row(words.capital(f"{name}first epoch, at the full rate of the GPUs"), "", si(full, "B/s"), "")
        return
    yield row(words.capital(f"{name}first epoch"), "", words.estimate(cold, "B/s"), "")
