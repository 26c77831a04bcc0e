"""The verdict in words: whether a cluster is needed, what is enough, and why nothing would do."""

from collections.abc import Sequence

import numpy as np

from sizer.base import units
from sizer.base.language import tr, translated, trn
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.catalog.links import kind_name, link_bytes_per_s
from sizer.catalog.wording import sample_unit
from sizer.sizing.answer import target_text
from sizer.sizing.arguments import first_read_s, smallest_link
from sizer.sizing.counting import Counting
from sizer.sizing.judge import JOINT_LIMITS, WAIT_LIMIT
from sizer.sizing.left_of_sizes import why_not
from sizer.sizing.loss_limits import LOSS_LIMITS
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.team_runs import simulated
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
        rates = "; ".join(
            tr("{rate} against {target}", rate=_rate(answer), target=answer.target) for answer in design.workloads
        )
        text = trn(
            "{design}: {rates}. It meets the target with {chance} confidence.",
            "{design}: {rates}. It meets all targets with {chance} confidence.",
            len(design.workloads),
            design=design.name, rates=rates, chance=_percent(design.probability),
        )  # fmt: skip
        return _with_waits(text, team), True, tuple(_cluster_reasons(design))
    server, chance = single.platform.server.name, _percent(single.probability)
    reads = [answer for answer in single.workloads if answer.cache_hit_fraction < 1]
    if single is not design:
        text = tr(
            "You do not need a cluster: one {server} meets the target, too; {design} is described because the ranking "
            "puts it first.",
            server=server, design=design.name,
        )  # fmt: skip
    elif reads and single.platform.storage.kind != "local":
        most = max(float(answer.storage_bytes_per_s.value) for answer in reads)
        text = tr(
            "You do not need a cluster of servers: one {server} meets the target with {chance} confidence. Not every "
            "read ends in its memory, so it needs storage that sustains {rate}: {storage}.",
            server=server, chance=chance, rate=si(most, "B/s"), storage=_storage_text(single),
        )  # fmt: skip
    else:
        text = tr(
            "You do not need a cluster: one {server} with {storage} meets the target with {chance} confidence.",
            server=server, storage=single.platform.storage.name, chance=chance,
        )  # fmt: skip
    return _with_waits(text, team), False, tuple(_simple_reasons(single))


def _with_waits(text: str, team: Team | None) -> str:
    if team is None:
        return text
    share = f"{plain(100 * team.wait_probability)}{NARROW_SPACE}%"
    return f"{text} {tr('At least {share} of the jobs of each kind start in time.', share=share)}"


def _percent(probability: float) -> str:
    """Confidence in words; a model never makes anything certain."""
    if probability > 0.99:
        return tr("over {share}", share=f"99{NARROW_SPACE}%")
    if probability < 0.01:
        return tr("under {share}", share=f"1{NARROW_SPACE}%")
    return f"{100 * probability:.0f}{NARROW_SPACE}%"


def _storage_text(design: DesignAnswer) -> str:
    storage = design.platform.storage.name
    if not design.storage_nodes:
        return storage
    return tr("{n} {storage} nodes", n=design.storage_nodes, storage=storage)


def _rate(answer: WorkloadAnswer) -> str:
    if answer.time is not None and answer.workload.target.time_to_train_s is not None:
        value, low, high = answer.time.total_s
        return tr(
            "{time} to train (90\u202f% interval {low} to {high})",
            time=duration(value), low=duration(low), high=duration(high),
        )  # fmt: skip
    value, low, high = answer.throughput
    return tr(
        "{rate} {unit} (90\u202f% interval {low} to {high})",
        rate=significant(value), unit=sample_unit(answer.dnn), low=significant(low), high=significant(high),
    )  # fmt: skip


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
                reasons.append(tr("{workload}: {link} carries the reads, {reads} of {most}.", **values))
            else:
                reasons.append(tr("{workload}: {link} would carry the reads, {reads} of {most}.", **values))
    is_cached = all(answer.cache_hit_fraction >= 1 for answer in design.workloads)
    if is_cached and design.platform.storage.kind != "parallel-file-system":
        reasons.append(
            tr(
                "No cluster file system is needed: one server reads, nothing is written by many at once, and {storage} "
                "holds the data.",
                storage=design.platform.storage.name,
            )
        )
    reasons.append(
        tr(
            "One {server} needs no fabric between servers, no head node and no code for several servers. Rates gained "
            "across servers do not all become time to accuracy; inside one server they mostly do.",
            server=server,
        )
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
        return tr(
            "{workload}: the data set of {data} fits in the memory of one server ({memory}). It is read once, {time} "
            "at the rate of one {link} link, and then comes from memory.",
            **values,
        )
    return tr(
        "{workload}: the data set of {data} fits in the memory of one server ({memory}). It is read once, {time} at "
        "the rate of one {link} link, and then comes from memory; the first epoch takes {cold}.",
        cold=duration(float(answer.time.first_epoch_s.value)),
        **values,
    )


def _cluster_reasons(design: DesignAnswer) -> list[str]:
    reasons = []
    for answer in design.workloads:
        alone = float(answer.scaling.throughput.value[0])
        reasons.append(
            tr(
                "{workload}: one {server} reaches {rate} {unit}; the target is {target}. {n} servers keep {share} of "
                "the rate of {gpus} single GPUs.",
                workload=answer.workload.name, server=design.platform.server.name, rate=significant(alone),
                unit=sample_unit(answer.dnn), target=answer.target, n=design.n_servers,
                share=f"{100 * answer.scaling_efficiency:.0f}{NARROW_SPACE}%", gpus=grouped(design.n_gpus),
            )
        )  # fmt: skip
        if answer.time is not None and answer.recipe is not None:
            reasons.append(
                tr(
                    "{workload}: the global batch of {batch} needs {epochs} epochs; twice the rate is not half the "
                    "time.",
                    workload=answer.workload.name, batch=grouped(answer.batch_per_gpu * design.n_gpus),
                    epochs=significant(float(answer.time.epochs.value)),
                )
            )  # fmt: skip
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
    return trn(
        "no design meets the request ({target} at {chance} confidence): {limits} rules out every design that keeps the "
        "other limits. The nearest, {servers} × {server} with {storage}, {reached}.",
        "no design meets the request ({target} at {chance} confidence): {limits} rule out every design that keeps the "
        "other limits. The nearest, {servers} × {server} with {storage}, {reached}.",
        len(broken),
        target=target, chance=_percent(confidence), limits=f" {tr('and')} ".join(map(translated, broken)),
        servers=servers, server=platform.server.name, storage=storage,
        reached=_falls_short(counting, row, broken),
    )  # fmt: skip


def _falls_short(counting: Counting, row: int, broken: Sequence[str]) -> str:
    """What the nearest design reaches or takes, so that the reader sees what would be enough."""
    judged, work = counting.judged, counting.judged.works[0]
    if any(limit in LOSS_LIMITS.values() for limit in broken):
        return _not_borne(counting, row, broken)
    if any(limit in JOINT_LIMITS for limit in broken):
        chance = _percent(float(judged.probability[row]))
        if work.request.target.time_to_train_s is not None:
            return tr(
                "takes {time} at the median and meets the target with {chance} confidence",
                time=duration(float(judged.time_s[row])), chance=chance,
            )  # fmt: skip
        return tr(
            "reaches {rate} {unit} at the median and meets the target with {chance} confidence",
            rate=significant(float(judged.throughput[row])), unit=sample_unit(work.dnn), chance=chance,
        )  # fmt: skip
    if WAIT_LIMIT in broken:
        return _waits_too_long(counting, row)
    racks, servers = int(counting.racks[row]), int(judged.space.n_servers[row])
    return tr(
        "takes {racks}, {units} rack units, {power} and {servers}",
        racks=trn("{n} rack", "{n} racks", racks, n=racks), units=plain(float(counting.rack_units[row])),
        power=si(float(counting.power_w[row]), "W"), servers=trn("{n} server", "{n} servers", servers, n=servers),
    )  # fmt: skip


def _waits_too_long(counting: Counting, row: int) -> str:
    """Which kind of job of the team waits too long on a design, and how many of its jobs start in time."""
    judged, team = counting.judged, counting.request.team
    kind = int(judged.kind_of_class[judged.class_of[int(judged.space.platform[row])]])
    one = None if judged.team is None else judged.team.cases[kind]
    assert team is not None  # without a team nobody waits
    assert one is not None  # nor is a kind of server blamed that was not simulated
    run = simulated(one.case, int(judged.space.n_servers[row]))
    if not run.all_placed:
        return tr("has no room for all jobs that always run")
    shares = [run.share_within(place, wait_s) for place, wait_s in enumerate(one.waits_s)]
    latest = int(np.argmin(shares))
    return tr(
        "starts {share} of the jobs {job} within {wait}; {asked} are asked for",
        share=_percent(shares[latest]), job=team.job[one.queue[latest]].name, wait=duration(one.waits_s[latest]),
        asked=_percent(team.wait_probability),
    )  # fmt: skip


def _not_borne(counting: Counting, row: int, broken: Sequence[str]) -> str:
    """Why a design that meets its targets does not after a loss, and what would help."""
    platform = counting.judged.platforms[int(counting.judged.space.platform[row])]
    meets = tr("meets the target while all works")
    for loss in (loss for loss, limit in LOSS_LIMITS.items() if limit in broken):
        why, help_ = why_not(loss, platform)
        if why:
            return tr("{meets}, but {why}; {help}", meets=meets, why=why, help=help_)
    most = int(counting.judged.space.sizes[-1])
    return trn(
        "{meets}, but not after such a loss with {n} server or fewer; allow more servers, or ask less",
        "{meets}, but not after such a loss with {n} servers or fewer; allow more servers, or ask less",
        most,
        meets=meets, n=grouped(most),
    )  # fmt: skip
