"""The verdict in words: whether a cluster is needed, what is enough, and why nothing would do."""

from collections.abc import Sequence

import numpy as np

from sizer.base import units
from sizer.base.quantities import NARROW_SPACE, by_count, duration, grouped, plain, si, significant
from sizer.catalog.labels import sample_unit
from sizer.catalog.links import kind_name, link_bytes_per_s
from sizer.sizing.constraints.redundancy import LOSS_LIMITS
from sizer.sizing.constraints.remaining_capacity import why_not
from sizer.sizing.constraints.team_simulation import simulated
from sizer.sizing.design.cluster_need import first_read_s, smallest_link
from sizer.sizing.design.evaluate_design import target_text
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.search.feasibility import JOINT_LIMITS, WAIT_LIMIT
from sizer.sizing.search.part_counts import Counting
from sizer.workload.team import Team


def verdict(
    design: DesignAnswer, platforms: Sequence[DesignAnswer], team: Team | None
) -> tuple[str, bool, tuple[str, ...]]:
    """Verdict, whether a cluster is needed, and the reasons.

    Parameters
    ----------
    design : DesignAnswer
        The design that is described.
    platforms : sequence of DesignAnswer
        The best of each platform; one of them with a single server makes a cluster needless, too.
    team : Team or None
        Who shares the design: every design that was kept starts so many of its jobs in time.

    Notes
    -----
    The tests are those of D. Pascuzzi, "GPU Deep Learning Cluster Considerations", Hitachi Vantara 2019
    ("hitachi-dl-2019"): one server, data that fit in memory, 10 or 25 GbE, no clustered file system. Each is checked
    with the numbers of the design.
    """
    single = design if design.n_servers == 1 else next((other for other in platforms if other.n_servers == 1), None)
    if single is None:
        rates = "; ".join(f"{_rate(answer)} against {answer.target}" for answer in design.workloads)
        text = by_count(
            len(design.workloads),
            f"{design.name}: {rates}. It meets the target with {_percent(design.probability)} confidence.",
            f"{design.name}: {rates}. It meets all targets with {_percent(design.probability)} confidence.",
        )
        return _with_waits(text, team), True, tuple(_cluster_reasons(design))
    server, chance = single.platform.server.name, _percent(single.probability)
    reads = [answer for answer in single.workloads if answer.cache_hit_fraction < 1]
    if single is not design:
        text = (
            f"You do not need a cluster: one {server} meets the target, too; {design.name} is "
            "described because the ranking puts it first."
        )
    elif reads and single.platform.storage.kind != "local":
        most = max(float(answer.storage_bytes_per_s.value) for answer in reads)
        text = (
            f"You do not need a cluster of servers: one {server} meets the target with {chance} "
            "confidence. Not every read ends in its memory, so it needs storage that sustains "
            f"{si(most, 'B/s')}: {_storage_text(single)}."
        )
    else:
        text = (
            f"You do not need a cluster: one {server} with {single.platform.storage.name} meets the "
            f"target with {chance} confidence."
        )
    return _with_waits(text, team), False, tuple(_simple_reasons(single))


def _with_waits(text: str, team: Team | None) -> str:
    if team is None:
        return text
    share = f"{plain(100 * team.wait_probability)}{NARROW_SPACE}%"
    return f"{text} {f'At least {share} of the jobs of each kind start in time.'}"


def _percent(probability: float) -> str:
    """Confidence in words; a model never makes anything certain."""
    if probability > 0.99:
        return "over {share}".format(share=f"99{NARROW_SPACE}%")
    if probability < 0.01:
        return "under {share}".format(share=f"1{NARROW_SPACE}%")
    return f"{100 * probability:.0f}{NARROW_SPACE}%"


def _storage_text(design: DesignAnswer) -> str:
    storage = design.platform.storage.name
    if not design.storage_nodes:
        return storage
    return f"{design.storage_nodes} {storage} nodes"


def _rate(answer: WorkloadAnswer) -> str:
    if answer.time is not None and answer.workload.target.time_to_train_s is not None:
        value, low, high = answer.time.total_s
        return f"{duration(value)} to train (90\u202f% interval {duration(low)} to {duration(high)})"
    value, low, high = answer.throughput
    return (
        f"{significant(value)} {sample_unit(answer.dnn)} (90\u202f% interval {significant(low)} to {significant(high)})"
    )


def _simple_reasons(design: DesignAnswer) -> list[str]:
    reasons = []
    server = design.platform.server.name
    for answer in design.workloads:
        memory = design.platform.server.memory_bytes
        if answer.cache_hit_fraction >= 1 and memory is not None:
            read_s = first_read_s(answer.dataset_bytes, design.platform.fabric)
            reasons.append(_read_once(design, answer, memory.value, read_s))
        read = max(float(answer.storage_bytes_per_s.value), float(answer.cold_storage_bytes_per_s.value))
        kind = smallest_link(read)
        if kind is not None:
            values = {
                "workload": answer.workload.name,
                "link": kind_name(kind),
                "reads": si(read, "B/s"),
                "most": si(link_bytes_per_s(kind), "B/s"),
            }
            if kind == design.platform.fabric:
                reasons.append("{workload}: {link} carries the reads, {reads} of {most}.".format(**values))
            else:
                reasons.append("{workload}: {link} would carry the reads, {reads} of {most}.".format(**values))
    is_cached = all(answer.cache_hit_fraction >= 1 for answer in design.workloads)
    if is_cached and design.platform.storage.kind != "parallel-file-system":
        reasons.append(
            "No cluster file system is needed: one server reads, nothing is written by many at once, "
            f"and {design.platform.storage.name} holds the data."
        )
    reasons.append(
        f"One {server} needs no fabric between servers, no head node and no code for several "
        "servers. Rates gained across servers do not all become time to accuracy; inside one "
        "server they mostly do."
    )
    return reasons


def _read_once(design: DesignAnswer, answer: WorkloadAnswer, memory_bytes: float, read_s: float) -> str:
    """Why a data set in memory asks little of storage."""
    values = {
        "workload": answer.workload.name,
        "data": si(answer.dataset_bytes, "B"),
        "memory": f"{memory_bytes / units.GIB:.0f} GiB",
        "time": duration(read_s),
        "link": kind_name(design.platform.fabric),
    }
    if answer.time is None:
        return (
            "{workload}: the data set of {data} fits in the memory of one server ({memory}). It is "
            "read once, {time} at the rate of one {link} link, and then comes from memory."
        ).format(**values)
    return (
        "{workload}: the data set of {data} fits in the memory of one server ({memory}). It is "
        "read once, {time} at the rate of one {link} link, and then comes from memory; the first "
        "epoch takes {cold}."
    ).format(**values, cold=duration(float(answer.time.first_epoch_s.value)))


def _cluster_reasons(design: DesignAnswer) -> list[str]:
    reasons = []
    for answer in design.workloads:
        alone = float(answer.scaling.throughput.value[0])
        reasons.append(
            (
                "{workload}: one {server} reaches {rate} {unit}; the target is {target}. {n} servers "
                "keep {share} of the rate of {gpus} single GPUs."
            ).format(
                workload=answer.workload.name,
                server=design.platform.server.name,
                rate=significant(alone),
                unit=sample_unit(answer.dnn),
                target=answer.target,
                n=design.n_servers,
                share=f"{100 * answer.scaling_efficiency:.0f}{NARROW_SPACE}%",
                gpus=grouped(design.n_gpus),
            )
        )
        if answer.time is not None and answer.recipe is not None:
            reasons.append(
                f"{answer.workload.name}: the global batch of "
                f"{grouped(answer.batch_per_gpu * design.n_gpus)} needs "
                f"{significant(float(answer.time.epochs.value))} epochs; twice the rate is not half the "
                "time."
            )
    return reasons


def why_infeasible(counting: Counting) -> str:
    """Sentence naming the limit that rules every design out, how near the best comes, and what would be enough."""
    judged, works, confidence = counting.judged, counting.judged.works, counting.request.confidence
    target = "; ".join(dict.fromkeys(target_text(work) for work in works))
    row, broken = counting.nearest()
    # A design that misses its targets while all works has the better reason.
    broken = tuple(limit for limit in broken if limit not in LOSS_LIMITS.values()) or broken
    platform = judged.platforms[int(judged.space.platform[row])]
    servers, nodes = int(judged.space.n_servers[row]), int(judged.storage_nodes[row])
    storage = (f"{nodes} " if nodes else "") + platform.storage.name
    return by_count(
        len(broken),
        (
            "no design meets the request ({target} at {chance} confidence): {limits} rules out every "
            "design that keeps the other limits. The nearest, {servers} × {server} with {storage}, "
            "{reached}."
        ).format(
            target=target,
            chance=_percent(confidence),
            limits=" and ".join(broken),
            servers=servers,
            server=platform.server.name,
            storage=storage,
            reached=_falls_short(counting, row, broken),
        ),
        (
            "no design meets the request ({target} at {chance} confidence): {limits} rule out every "
            "design that keeps the other limits. The nearest, {servers} × {server} with {storage}, "
            "{reached}."
        ).format(
            target=target,
            chance=_percent(confidence),
            limits=" and ".join(broken),
            servers=servers,
            server=platform.server.name,
            storage=storage,
            reached=_falls_short(counting, row, broken),
        ),
    )


def _falls_short(counting: Counting, row: int, broken: Sequence[str]) -> str:
    """What the nearest design reaches or takes, so that the reader sees what would be enough."""
    judged, work = counting.judged, counting.judged.works[0]
    if any(limit in LOSS_LIMITS.values() for limit in broken):
        return _not_borne(counting, row, broken)
    if any(limit in JOINT_LIMITS for limit in broken):
        chance = _percent(float(judged.probability[row]))
        if work.request.target.time_to_train_s is not None:
            return (
                f"takes {duration(float(judged.time_s[row]))} at the median and meets the target with "
                f"{chance} confidence"
            )
        return (
            f"reaches {significant(float(judged.throughput[row]))} {sample_unit(work.dnn)} at the "
            f"median and meets the target with {chance} confidence"
        )
    if WAIT_LIMIT in broken:
        return _waits_too_long(counting, row)
    racks, servers = int(counting.racks[row]), int(judged.space.n_servers[row])
    return "takes {racks}, {units} rack units, {power} and {servers}".format(
        racks=by_count(racks, f"{racks} rack", f"{racks} racks"),
        units=plain(float(counting.rack_units[row])),
        power=si(float(counting.power_w[row]), "W"),
        servers=by_count(servers, f"{servers} server", f"{servers} servers"),
    )


def _waits_too_long(counting: Counting, row: int) -> str:
    """Which kind of job of the team waits too long on a design, and how many of its jobs start in time."""
    judged, team = counting.judged, counting.request.team
    kind = int(judged.kind_of_class[judged.class_of[int(judged.space.platform[row])]])
    one = None if judged.team is None else judged.team.cases[kind]
    assert team is not None  # without a team nobody waits
    assert one is not None  # nor is a kind of server blamed that was not simulated
    run = simulated(one.case, int(judged.space.n_servers[row]))
    if not run.all_placed:
        return "has no room for all jobs that always run"
    shares = [run.share_within(place, wait_s) for place, wait_s in enumerate(one.waits_s)]
    latest = int(np.argmin(shares))
    return (
        f"starts {_percent(shares[latest])} of the jobs {team.job[one.queue[latest]].name} within "
        f"{duration(one.waits_s[latest])}; {_percent(team.wait_probability)} are asked for"
    )


def _not_borne(counting: Counting, row: int, broken: Sequence[str]) -> str:
    """Why a design that meets its targets does not after a loss, and what would help."""
    platform = counting.judged.platforms[int(counting.judged.space.platform[row])]
    meets = "meets the target while all works"
    for loss in (loss for loss, limit in LOSS_LIMITS.items() if limit in broken):
        why, help_ = why_not(loss, platform)
        if why:
            return f"{meets}, but {why}; {help_}"
    most = int(counting.judged.space.sizes[-1])
    return by_count(
        most,
        f"{meets}, but not after such a loss with {grouped(most)} server or fewer; allow more servers, or ask less",
        f"{meets}, but not after such a loss with {grouped(most)} servers or fewer; allow more servers, or ask less",
    )
