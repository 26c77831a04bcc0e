"""Tables on what reads and writes the storage, on its two tiers, and on the published storage level."""

import math

from sizer.base.quantities import plain, si
from sizer.perf.availability.goodput import (
    GPUS_OF_A_SERVER,
    STORAGE_LEVELS,
    level_rates,
    servers_of_eight,
    storage_level,
)
from sizer.physical.platform import Platform
from sizer.present import words
from sizer.present.facts.storage_tiers import TIER_CONTENTS, TIER_NAMES, system_text, usable_text
from sizer.present.tables import Field, Row, Table, fact_table, record_table, row
from sizer.sizing.design.storage_need import StorageDemandOverTime, StorageStream, StreamKind, demand_over_time
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.platform_columns import node_rates, node_read_rate, node_write_rates, write_rate_is_unknown
from sizer.workload.request import SizingRequest

_NAMES = {
    StreamKind.TRAINING: "training reads",
    StreamKind.CHECKPOINTS: "checkpoints, written",
    StreamKind.RESTART: "restart, read",
    StreamKind.INGEST: "new data, written",
    StreamKind.SNAPSHOTS: "snapshots, copied",
    StreamKind.STAGING: "next working set, staged",
}
_TRIFLE = 0.0005


def streams_table(design: DesignAnswer, request: SizingRequest) -> Table:
    """Every stream with its peak, share of the time and average; what runs at the same time as totals."""
    storage_demand_over_time = demand_over_time(design, request)
    is_named = len(design.workloads) > 1
    rows = [
        row(
            _name(stream, is_named=is_named),
            si(stream.peak_bytes_per_s, "B/s"),
            f"under {plain(0.1)}\u202f%" if stream.duty_fraction < _TRIFLE else words.percent(stream.duty_fraction),
            si(stream.average_bytes_per_s, "B/s"),
        )
        for stream in storage_demand_over_time.streams
        if stream.peak_bytes_per_s > 0
    ]
    rows += [
        row(
            "Most read at a time",
            si(storage_demand_over_time.peak_read_bytes_per_s, "B/s"),
            "",
            si(storage_demand_over_time.average_read_bytes_per_s, "B/s"),
            kind="total",
        ),
        row(
            "Most written at a time",
            si(storage_demand_over_time.peak_write_bytes_per_s, "B/s"),
            "",
            si(storage_demand_over_time.average_write_bytes_per_s, "B/s"),
            kind="total",
        ),
        *_delivered(design),
    ]
    return fact_table(
        "storage-streams",
        "What reads and writes the storage",
        rows,
        titles=("Stream", "Required peak", "Share of the time at it", "Average"),
        widths=(40, 22, 18, 20),
        aligns=("left", "right", "right", "right"),
        note=_plan_text(design.platform),
        style="",
    )


def _plan_text(platform: Platform) -> str:
    """Rates of a node that reads and writes are planned with; "" of drives in servers and of rates nobody publishes."""
    storage, rates = platform.storage, node_read_rate(platform.storage)
    if storage.kind == "local" or rates is None:
        return ""
    published = storage.node_write_bytes_per_s
    basis = "shares of the reads, as no write rate is published" if published is None else "the one rate of its source"
    is_assumed = published is not None and published.basis == "assumed"
    return (
        f"A node is planned with {_range(1, *node_rates(platform))} for reads, of samples in random order, and with "
        f"{_range(1, *node_write_rates(platform), math.inf)} for writes, in long streams: "
        f"{'an assumption' if is_assumed else basis}."
    )


def together_text(storage_demand_over_time: StorageDemandOverTime) -> str:
    """What may overlap."""
    if not storage_demand_over_time.never_together:
        return "All streams may overlap, except that training and checkpoints wait while a restart reads."
    names = words.listed(storage_demand_over_time.never_together)
    return f"The request keeps {names} apart: one of them at a time. Everything else may overlap."


def _name(stream: StorageStream, *, is_named: bool) -> str:
    name = _NAMES[stream.kind]
    return words.capital(f"{stream.workload}: {name}" if is_named and stream.workload else name)


def _delivered(design: DesignAnswer) -> list[Row]:
    platform = design.platform
    count = design.delivering_nodes
    low, high, line = node_rates(platform)
    slow, fast = node_write_rates(platform)
    read = "not published" if node_read_rate(platform.storage) is None else _range(count, low, high, line)
    unknown = "not published" if platform.storage.test_write_bytes_per_s is None else "not published for these nodes"
    written = _range(count, slow, fast, line) if math.isfinite(slow) else unknown
    if written != unknown and write_rate_is_unknown(platform.storage):
        written = f"{written} (assumed; {unknown})"
    return [row("The storage reads", read, "", ""), row("The storage writes", written, "", "")]


def _range(count: int, low: float, high: float, line: float) -> str:
    ends = [si(count * min(rate, line), "B/s") for rate in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def level_table(design: DesignAnswer) -> Table | None:
    """NVIDIA's storage levels for the servers of the design, with what is met; None of drives in the servers."""
    platform = design.platform
    low, _, line = node_rates(platform)
    slow, _ = node_write_rates(platform)
    if platform.storage.kind == "local" or node_read_rate(platform.storage) is None or not math.isfinite(low):
        return None
    count = max(design.storage_nodes, 1)
    servers = float(servers_of_eight(design.n_servers, platform.gpus_per_server))
    read, write = count * min(low, line), count * min(slow, line)
    met = storage_level(read, write, servers)
    rows = []
    for level in STORAGE_LEVELS:
        needs = [float(rate) for rate in level_rates(level.name, servers)]
        reached = [rate >= need for rate, need in zip((read, write), needs, strict=True)]
        verdict = "met" if all(reached) else "read rate too low" if not reached[0] else "write rate too low"
        if reached[0] and write_rate_is_unknown(platform.storage):
            verdict = "open: write rate not published"
        rows.append(row(words.capital(level.name), *(si(need, "B/s") for need in needs), verdict))
    written = "not published" if write_rate_is_unknown(platform.storage) else si(write, "B/s")
    summary = f"meets level: {met}" if met else "below level: good"
    if met and write_rate_is_unknown(platform.storage):
        summary = "open: write rate not published"
    size = words.plural(design.n_servers, "server")
    if servers > design.n_servers:
        size = f"{words.plural(design.n_gpus, 'GPU')} (as {servers:g} servers of {GPUS_OF_A_SERVER})"
    rows.append(row("This storage, low ends", si(read, "B/s"), written, summary, kind="total"))
    return fact_table(
        "storage-levels",
        f"Storage levels of NVIDIA\u2019s DGX SuperPOD for {size}",
        rows,
        titles=("Level", "Read", "Write", "Result"),
        widths=(28, 20, 20, 32),
        aligns=("left", "right", "right", "left"),
        style="",
    )


def tiers_table(design: DesignAnswer) -> Table | None:
    """Both tiers with what they hold; None of one tier."""
    if design.platform.second_tier is None:
        return None
    return record_table(
        "storage-tiers",
        "Data on each storage tier",
        design.tiers,
        [
            Field("Tier", lambda tier: words.capital(TIER_NAMES[tier.content]), "left", 15),
            Field("System", system_text, "left", 33),
            Field("Data", lambda tier: TIER_CONTENTS[tier.content], "left", 24),
            Field("Required", lambda tier: si(tier.required_bytes, "B"), "right", 14),
            Field("Usable", usable_text, "right", 14),
        ],
    )


def tiers_sentence(design: DesignAnswer) -> str:
    """Both tiers with their usable capacity and the staging between them; "" of one tier."""
    second = design.platform.second_tier
    if second is None:
        return ""
    parts = (
        f"{usable_text(tier, 'a capacity that is not published')} on {system_text(tier)}"
        if tier.storage is not None
        else system_text(tier)
        for tier in design.tiers
    )
    fast, behind = parts
    return f"{fast} for the working set, {behind} for everything, {si(second.staging_bytes_per_s, 'B/s')} staged"


def staging_text(design: DesignAnswer, request: SizingRequest) -> str:
    """How the next working set gets to the fast tier; "" of one tier."""
    tier = design.platform.second_tier
    if tier is None:
        return ""
    rate = tier.staging_bytes_per_s
    if tier.storage is None:
        source = request.data.source_bytes_per_s or 0.0
        verdict = "is enough" if source >= rate else "is too slow"
        return (
            f"Staging the next working set takes {si(rate, 'B/s')}; the object storage delivers {si(source, 'B/s')}, "
            f"which {verdict}."
        )
    read = node_read_rate(tier.storage)
    if read is None:
        return f"Staging takes {si(rate, 'B/s')}; the vendor must confirm the read rate of {tier.storage.name}."
    given = tier.nodes * read.low.value
    return (
        f"Staging the next working set takes {si(rate, 'B/s')}; the capacity tier reads at least {si(given, 'B/s')}. "
        "Trainings read from the fast tier only."
    )
