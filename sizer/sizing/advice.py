"""The verdict in words: whether a cluster is needed, what is enough, and why nothing would do."""

from collections.abc import Sequence

import numpy as np

from sizer.base import units
from sizer.base.quantities import NARROW_SPACE, duration, grouped, si, significant
from sizer.catalog.links import kind_name, link_bytes_per_s
from sizer.catalog.schema import LinkKind
from sizer.catalog.wording import sample_unit
from sizer.design.search import nearest_row
from sizer.physical.platform import Platform
from sizer.sizing.answer import target_text
from sizer.sizing.evaluate import least_chance
from sizer.sizing.judge import STAGE_LIMITS, Judged
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.workload.resolve import ResolvedWorkload


def verdict(design: DesignAnswer, platforms: Sequence[DesignAnswer]) -> tuple[str, bool, tuple[str, ...]]:
    """Verdict, whether a cluster is needed, and the reasons.

    Parameters
    ----------
    design : DesignAnswer
        The design that is described.
    platforms : sequence of DesignAnswer
        The best of each platform; one of them with a single server makes a cluster needless, too.

    Notes
    -----
    The tests are those of D. Pascuzzi, "GPU Deep Learning Cluster Considerations", Hitachi Vantara 2019
    ("hitachi-dl-2019"): one server, data that fit in memory, 10 or 25 GbE, no clustered file system. Each is checked
    with the numbers of the design.
    """
    single = design if design.n_servers == 1 else next((other for other in platforms if other.n_servers == 1), None)
    if single is None:
        rates = "; ".join(f"{_rate(answer)} against {answer.target}" for answer in design.workloads)
        return (
            f"{design.name}: {rates}. It meets the target with {_percent(design.probability)} confidence.",
            True,
            tuple(_cluster_reasons(design)),
        )
    name = f"one {single.platform.server.name}"
    reads = [answer for answer in single.workloads if answer.cache_hit_fraction < 1]
    if single is not design:
        text = (
            f"You do not need a cluster: {name} meets the target, too; "
            f"{design.name} is described because the ranking puts it first."
        )
    elif reads and single.platform.storage.kind != "local":
        most = max(float(answer.storage_bytes_per_s.value) for answer in reads)
        text = (
            f"You do not need a cluster of servers: {name} meets the target with {_percent(single.probability)} "
            f"confidence. Not every read ends in its memory, so it needs storage that sustains {si(most, 'B/s')}: "
            f"{_storage_text(single)}."
        )
    else:
        text = (
            f"You do not need a cluster: {name} with {single.platform.storage.name} meets the target with "
            f"{_percent(single.probability)} confidence."
        )
    return text, False, tuple(_simple_reasons(single))


def _percent(probability: float) -> str:
    """Confidence in words; a model never makes anything certain."""
    if probability > 0.99:
        return f"over 99{NARROW_SPACE}%"
    return f"under 1{NARROW_SPACE}%" if probability < 0.01 else f"{100 * probability:.0f}{NARROW_SPACE}%"


def _storage_text(design: DesignAnswer) -> str:
    storage = design.platform.storage.name
    return f"{design.storage_nodes} {storage} nodes" if design.storage_nodes else storage


def _rate(answer: WorkloadAnswer) -> str:
    if answer.time is not None:
        value, low, high = answer.time.total_s
        return f"{duration(value)} to train (90\u202f% interval {duration(low)} to {duration(high)})"
    unit = sample_unit(answer.dnn)
    value, low, high = answer.throughput
    return f"{significant(value)} {unit} (90\u202f% interval {significant(low)} to {significant(high)})"


def _simple_reasons(design: DesignAnswer) -> list[str]:
    reasons = []
    server = design.platform.server.name
    for answer in design.workloads:
        memory = design.platform.server.memory_bytes
        link = link_bytes_per_s(design.platform.fabric)
        if answer.cache_hit_fraction >= 1 and memory is not None:
            read_s = answer.dataset_bytes / link
            cold = answer.time.first_epoch_s.value if answer.time is not None else None
            reasons.append(
                f"{answer.workload.name}: the data set of {si(answer.dataset_bytes, 'B')} fits in the memory of one "
                f"server ({memory.value / units.GIB:.0f} GiB). It is read once, {duration(read_s)} at the rate of one "
                f"{kind_name(design.platform.fabric)} link, and then comes from memory"
                + (f"; the first epoch takes {duration(float(cold))}." if cold is not None else ".")
            )
        read = max(float(answer.storage_bytes_per_s.value), float(answer.cold_storage_bytes_per_s.value))
        enough: tuple[LinkKind, ...] = ("10gbe", "25gbe")
        for kind in enough:
            if read <= link_bytes_per_s(kind):
                rates = f"{si(read, 'B/s')} of {si(link_bytes_per_s(kind), 'B/s')}"
                verb = "carries" if kind == design.platform.fabric else "would carry"
                reasons.append(f"{answer.workload.name}: {kind_name(kind)} {verb} the reads, {rates}.")
                break
    is_cached = all(answer.cache_hit_fraction >= 1 for answer in design.workloads)
    if is_cached and design.platform.storage.kind != "parallel-file-system":
        reasons.append(
            "No cluster file system is needed: one server reads, nothing is written by many at once, "
            f"and {design.platform.storage.name} holds the data."
        )
    reasons.append(
        f"One {server} needs no fabric between servers, no head node and no code for several servers. "
        "Rates gained across servers do not all become time to accuracy; inside one server they mostly do."
    )
    return reasons


def _cluster_reasons(design: DesignAnswer) -> list[str]:
    reasons = []
    for answer in design.workloads:
        scaling = answer.scaling
        alone = float(scaling.throughput.value[0])
        unit = sample_unit(answer.dnn)
        reasons.append(
            f"{answer.workload.name}: one {design.platform.server.name} reaches {significant(alone)} {unit}; "
            f"the target is {answer.target}. {design.n_servers} servers keep "
            f"{100 * answer.scaling_efficiency:.0f}{NARROW_SPACE}% of the rate of {grouped(design.n_gpus)} single GPUs."
        )
        if answer.time is not None and answer.recipe is not None:
            reasons.append(
                f"{answer.workload.name}: the global batch of {grouped(answer.batch_per_gpu * design.n_gpus)} needs "
                f"{significant(float(answer.time.epochs.value))} epochs; twice the rate is not half the time."
            )
    return reasons


def why_infeasible(
    works: Sequence[ResolvedWorkload], platforms: Sequence[Platform], judged: Judged, confidence: float
) -> str:
    """Sentence naming the limit that rules every design out, how near the best comes, and what would be enough."""
    target = "; ".join(dict.fromkeys(target_text(work) for work in works))
    rows = np.flatnonzero(judged.was_counted)
    # Of designs that meet the target and break a limit of the room, the smallest is the nearest; of those that miss the
    # target, the likeliest and then the fastest. The weights only order: racks before rack units, chance before rate.
    smallest = 1.0 - 1e-4 * judged.racks - 1e-9 * judged.rack_units
    fastest = judged.probability - 1.0 + 1e-6 * judged.throughput / judged.throughput.max()
    closeness = np.where(judged.probability >= least_chance(confidence), smallest, fastest)
    index, broken = nearest_row({limit: passes[rows] for limit, passes in judged.passes.items()}, closeness[rows])
    row = int(rows[index])
    platform = platforms[int(judged.space.platform[row])]
    servers, nodes = int(judged.space.n_servers[row]), int(judged.storage_nodes[row])
    name = f"{servers} × {platform.server.name} with " + (f"{nodes} " if nodes else "") + platform.storage.name
    limits = " and ".join(broken)
    return (
        f"no design meets the request ({target} at {_percent(confidence)} confidence): "
        f"{limits} {'rule' if len(broken) > 1 else 'rules'} out every design that keeps the other limits. "
        f"The nearest, {name}, {_falls_short(works[0], judged, row, broken)}."
    )


def _falls_short(work: ResolvedWorkload, judged: Judged, row: int, broken: Sequence[str]) -> str:
    """What the nearest design reaches or takes, so that the reader sees what would be enough."""
    if any(limit in STAGE_LIMITS or limit.startswith("confidence") for limit in broken):
        if work.request.target.time_to_train_s is not None:
            reached = f"takes {duration(float(judged.time_s[row]))} at the median"
        else:
            unit = sample_unit(work.dnn)
            reached = f"reaches {significant(float(judged.throughput[row]))} {unit} at the median"
        return f"{reached} and meets the target with {_percent(float(judged.probability[row]))} confidence"
    racks, servers = int(judged.racks[row]), int(judged.space.n_servers[row])
    return (
        f"takes {racks} rack{'s' if racks != 1 else ''}, {judged.rack_units[row]:g} rack units, "
        f"{si(float(judged.power_w[row]), 'W')} and {servers} server{'s' if servers != 1 else ''}"
    )
