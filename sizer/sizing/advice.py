"""The verdict in words: whether a cluster is needed, what is enough, and why nothing would do."""

from collections.abc import Sequence

import numpy as np

from sizer.base import units
from sizer.base.quantities import duration, grouped, si, significant
from sizer.catalog.links import kind_name, link_bytes_per_s
from sizer.design.search import decisive_limit
from sizer.physical.platform import Platform
from sizer.sizing.answer import target_text
from sizer.sizing.judge import Judged
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.workload.request import SizingRequest
from sizer.workload.resolve import ResolvedWorkload


def verdict(
    request: SizingRequest, works: Sequence[ResolvedWorkload], design: DesignAnswer, platforms: Sequence[DesignAnswer]
) -> tuple[str, bool, tuple[str, ...]]:
    """Verdict, whether a cluster is needed, and the reasons.

    Notes
    -----
    The tests are those of D. Pascuzzi, "GPU Deep Learning Cluster Considerations", Hitachi Vantara 2019
    ("hitachi-dl-2019"): one server, data that fit in memory, 10 or 25 GbE, no clustered file system. Each is checked
    with the numbers of the design.
    """
    single = design if design.n_servers == 1 else next((other for other in platforms if other.n_servers == 1), None)
    first = design.workloads[0]
    chance = f"{100 * design.probability:.0f} %"
    if single is None:
        return (
            f"{design.name}: {_rate(first)}, which meets the target ({first.target}) with {chance} confidence.",
            True,
            tuple(_cluster_reasons(design)),
        )
    name = single.platform.server.name
    sentences = list(_simple_reasons(single))
    if single is design:
        text = f"You do not need a cluster: one {name} with {single.platform.storage.name} meets the target with {chance} confidence."
    else:
        text = (
            f"You do not need a cluster: one {name} meets the target, too; "
            f"{design.name} is described because the ranking asked for puts it first."
        )
    return text, False, tuple(sentences)


def _rate(answer: WorkloadAnswer) -> str:
    if answer.time is not None:
        value, low, high = answer.time.total_s
        return f"{duration(value)} to train (90 % interval {duration(low)} to {duration(high)})"
    unit = "images/s" if answer.dnn.sample == "image" else "samples/s"
    value, low, high = answer.throughput
    return f"{significant(value)} {unit} (90 % interval {significant(low)} to {significant(high)})"


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
                f"{answer.workload.name}: the data set of {si(answer.dataset_bytes, 'B')} fits in the memory of one server "
                f"({memory.value / units.GIB:.0f} GiB). It is read once, {duration(read_s)} at the rate of one "
                f"{kind_name(design.platform.fabric)} link, and then comes from memory"
                + (f"; the first epoch takes {duration(float(cold))}." if cold is not None else ".")
            )
        need = float(answer.storage_bytes_per_s.value)
        cold_need = float(answer.cold_storage_bytes_per_s.value)
        ten, twenty_five = link_bytes_per_s("10gbe"), link_bytes_per_s("25gbe")
        if max(need, cold_need) <= ten:
            reasons.append(f"{answer.workload.name}: 10 GbE carries the reads, {si(max(need, cold_need), 'B/s')} of {si(ten, 'B/s')}.")
        elif max(need, cold_need) <= twenty_five:
            reasons.append(
                f"{answer.workload.name}: 25 GbE carries the reads, {si(max(need, cold_need), 'B/s')} of {si(twenty_five, 'B/s')}."
            )
    if design.platform.storage.kind not in ("parallel-file-system",):
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
        unit = "images/s" if answer.dnn.sample == "image" else "samples/s"
        reasons.append(
            f"{answer.workload.name}: one {design.platform.server.name} reaches {significant(alone)} {unit}; "
            f"the target is {answer.target}. {design.n_servers} servers keep "
            f"{100 * answer.scaling_efficiency:.0f} % of the rate of {grouped(design.n_gpus)} single GPUs."
        )
        if answer.time is not None and answer.recipe is not None:
            reasons.append(
                f"{answer.workload.name}: the global batch of {grouped(answer.batch_per_gpu * design.n_gpus)} needs "
                f"{significant(float(answer.time.epochs.value))} epochs; twice the rate is not half the time."
            )
    return reasons


def why_infeasible(
    request: SizingRequest, works: Sequence[ResolvedWorkload], platforms: Sequence[Platform], judged: Judged
) -> str:
    """Sentence naming the limit that rules every design out, how near the best comes, and what would be enough."""
    target = "; ".join(target_text(work) for work in works)
    limit = decisive_limit(judged.passes)
    if limit is None:
        blocking = [name for name, passes in judged.passes.items() if not passes.any()] or [
            name for name, passes in judged.passes.items() if not passes.all()
        ]
        return f"no design meets the request ({target}): {' and '.join(blocking)} rule out all {judged.space.n_rows} designs together"
    others = np.logical_and.reduce(
        [passes for name, passes in judged.passes.items() if name != limit] or [np.ones(judged.space.n_rows, dtype=bool)]
    )
    rows = np.flatnonzero(others)
    nearest = int(rows[np.argmax(judged.probability[rows])])
    servers = int(judged.space.n_servers[nearest])
    platform = platforms[int(judged.space.platform[nearest])]
    return (
        f"no design meets the request ({target}): {limit} rules out every design that keeps the other limits. "
        f"{_nearest(works[0], judged, nearest, servers, platform)}"
    )


def _nearest(work: ResolvedWorkload, judged: Judged, row: int, servers: int, platform: Platform) -> str:
    unit = "images/s" if work.dnn.sample == "image" else "samples/s"
    name = f"{servers} × {platform.server.name} + {platform.storage.name}"
    reached = f"{significant(float(judged.throughput[row]))} {unit}"
    if work.request.target.time_to_train_s is not None:
        reached = f"{duration(float(judged.time_s[row]))} to train"
    nodes = int(judged.storage_nodes[row])
    extra = f" with {nodes} storage nodes" if nodes else ""
    return (
        f"The nearest is {name}{extra}: {reached} at the median, {significant(float(judged.rack_units[row]), 2)} rack units, "
        f"{si(float(judged.power_w[row]), 'W')}, and it meets the target with {100 * judged.probability[row]:.0f} % confidence. "
        "Relax that limit, the target or the confidence, or allow more platforms."
    )


