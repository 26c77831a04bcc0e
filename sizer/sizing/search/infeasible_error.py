"""The error of a request that no design meets: the limit that rules all out, the nearest design, and what to change."""

from collections.abc import Mapping, Sequence

import numpy as np

from sizer.base.arrays import Bools, Floats, Ints
from sizer.base.errors import InfeasibleError
from sizer.base.quantities import by_count, duration, grouped, plain, probability_text, si, significant
from sizer.catalog.fabrics import fabric_ports
from sizer.catalog.labels import sample_unit, with_vendor
from sizer.catalog.schema import Server
from sizer.physical import capacity
from sizer.physical.capacity import counts_nodes
from sizer.physical.losses import nodes_survived
from sizer.physical.networks.storage_networks import front_end_ports
from sizer.physical.notes import violation_error_text
from sizer.physical.platform import Platform
from sizer.sizing.checks import LOSS_LIMITS, TARGET_LIMITS, AnyLimit, Limit, bound_of
from sizer.sizing.constraints.remaining_capacity import ON_FABRIC, serves_files, single_corded_device
from sizer.sizing.constraints.stored_data import MOST_FILL, storage_demand
from sizer.sizing.constraints.team_limits import simulated
from sizer.sizing.search.part_counts import PartCounts
from sizer.sizing.stages.evaluate import least_chance
from sizer.sizing.stages.gpu_memory import MemoryAnswer, memory_answer
from sizer.sizing.stages.laid_out_models import laid_out_model
from sizer.sizing.stages.language_rates import wide_tensor_refusal
from sizer.sizing.stages.platform_columns import node_rates, node_write_rates
from sizer.workload.eras import most_of_kind
from sizer.workload.request import Loss
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.target_text import target_text


def counts_ruled_out(limits: Mapping[AnyLimit, Bools]) -> dict[AnyLimit, int]:
    """Limit -> designs that it excludes, alone or among others, most first; of limits that exclude any."""
    counts = {limit: int((~passes).sum()) for limit, passes in limits.items()}
    return {limit: count for limit, count in sorted(counts.items(), key=lambda pair: -pair[1]) if count}


def nearest_row(limits: Mapping[AnyLimit, Bools], closeness: Floats) -> tuple[int, tuple[AnyLimit, ...]]:
    """Row that breaks the fewest limits, and which; of equals the one with the greatest ``closeness``.

    Of an infeasible space this is the design to name: what it breaks is what rules every design out.
    """
    breaks = np.stack([~passes for passes in limits.values()])
    count = breaks.sum(axis=0)
    rows = np.flatnonzero(count == count.min())
    row = int(rows[np.argmax(closeness[rows])])
    return row, tuple(limit for limit, broken in zip(limits, breaks[:, row], strict=True) if broken)


# Keeps the amounts of any budget apart, above every design that misses the target.
_PER_UNIT_OF_MONEY = 1e-13
# Chances, and shares of a rate, that differ by less are alike.
_ALIKE = 0.05
# Of designs whose GPUs do not hold the networks, those with the most memory are the nearest; below the other steps.
_PER_BYTE = 1e-13
# Limits that a design breaks of whose servers no more can be ordered: it is no way out.
_NEVER = 10**6
# Designs of a platform that are counted first.
_FIRST_COUNTED = 4


def nearest_design(counts: PartCounts) -> tuple[int, tuple[AnyLimit, ...]]:
    """Row that breaks the fewest limits, and which; of these the one that comes nearest to the request.

    Of designs that meet the target and break a limit of the room, the smallest is the nearest; of those that break the
    budget, the one that is expected to cost least; of those that miss the target, the likeliest, then the one that
    delivers most of what is asked, then the smallest; of those on which a team waits too long, the largest. Platforms
    are counted in the order of what they could be.
    """
    evaluated = counts.evaluated
    breaks = np.sum([~class_passe for class_passe in evaluated.class_passes.values()], axis=0)
    meets = evaluated.class_is_late | (evaluated.class_probability >= least_chance(counts.request.confidence))
    meets &= evaluated.class_passes[Limit.GPU_COUNT]  # so many GPUs may be asked for, whatever their rate
    # The weights only order: chance before the share of the rate that is asked, then the fewest servers, and below
    # every design that meets the target. Where no GPUs hold the networks, all are alike.
    slowest, asked = evaluated.class_slowest, evaluated.class_required_rate
    share = np.where(slowest < asked, slowest / np.where(asked > 0, asked, 1.0), 1.0)
    memory = np.array([evaluated.platforms[place].gpu.memory_bytes.value for place in evaluated.class_first])
    held = np.where(evaluated.class_passes[Limit.GPU_MEMORY], 0.0, _PER_BYTE * memory[:, None])
    likeliest = (
        np.floor(evaluated.class_probability / _ALIKE) * _ALIKE
        + 1e-6 * np.floor(share / _ALIKE)
        - 1e-12 * evaluated.space.sizes
    )
    fastest = likeliest - 1.0
    in_time = evaluated.class_passes.get(Limit.TEAM_WAITS, np.ones(meets.shape, dtype=bool))
    # A team that waits too long waits least on the most servers, below every design whose jobs start in time.
    servers = 1e-6 * evaluated.space.sizes - 2.0
    budget = counts.request.limits.budget

    def closeness_of(rows: Ints | int, places: Ints, smallness: Floats) -> Floats:
        missed = np.where(meets[rows, places], smallness, fastest[rows, places])
        return np.where(in_time[rows, places], missed + held[rows, places], servers[places])

    alive = np.array(counts.alive, dtype=np.int64)
    rows = evaluated.class_of[alive]
    could_break = breaks[rows] + counts.certainly_broken[alive]
    could_break[counts.cannot_be_bought[alive]] = _NEVER
    could_be = _smallness(counts.at_least["racks"][alive], counts.at_least["units"][alive])
    if budget is not None:
        # Whether the rest keeps the budget is known when its parts are counted.
        low = counts.expected_main_cost[alive]
        could_be = np.where(low > budget, 1.0 - _PER_UNIT_OF_MONEY * low, 1.0)
    could_near = closeness_of(rows[:, None], np.arange(servers.size), could_be)
    fewest = could_break.min(axis=1)
    nearest = np.where(could_break == fewest[:, None], could_near, -np.inf).max(axis=1)
    best: tuple[int, float, int, tuple[AnyLimit, ...]] | None = None
    for count, closeness, number in sorted(zip(fewest.tolist(), (-nearest).tolist(), range(alive.size), strict=True)):
        # Of equally near designs the first is the nearest, and platforms and sizes come in order.
        if best is not None and (count, closeness) >= best[:2]:
            break
        index, row, few, near = counts.alive[number], int(rows[number]), could_break[number], could_near[number]
        order = np.lexsort((-near, few))[: np.count_nonzero(few < _NEVER)]
        start, many = 0, _FIRST_COUNTED
        # The designs of a platform are counted in the order of what they could be, more at a time.
        while start < order.size and (best is None or (int(few[order[start]]), -float(near[order[start]])) < best[:2]):
            places = np.sort(order[start : start + many])
            start, many = start + many, 4 * many
            counted = counts.count(index, places)
            limits = {limit: kept[row, places] for limit, kept in evaluated.class_passes.items()}
            limits |= counts.limits_at(counted)
            smallness = _smallness(counts.racks[counted], counts.rack_units[counted])
            if budget is not None and Limit.BUDGET in limits:
                cheapness = 1.0 - _PER_UNIT_OF_MONEY * counts.expected_cost[counted]
                smallness = np.where(limits[Limit.BUDGET], smallness, cheapness)
            reached = closeness_of(row, places, smallness)
            size, broken = nearest_row(limits, reached)
            found = evaluated.space.of_platform(index).start + int(places[size])
            here = (len(broken), -float(reached[size]), found, broken)
            best = here if best is None else min(best, here)
    assert best is not None  # the space has at least one platform
    return best[2], best[3]


def _smallness(racks: Floats | Ints, rack_units: Floats) -> Floats:
    """Above that of every design that misses the target; racks count before rack units."""
    return np.asarray(1.0 - 1e-4 * racks - 1e-9 * rack_units)


# Words of the limits, for errors and for tables.
_ERROR_TEXTS: Mapping[Limit, str] = {
    Limit.GPU_COUNT: "number of GPUs",
    Limit.GPU_MEMORY: "GPU memory",
    Limit.GPU_RATE: "rate of the GPUs",
    Limit.HOST_DECODE: "host processors that decode",
    Limit.HOST_LINK: "links between host and GPUs",
    Limit.SERVER_PORTS: "network ports of the servers",
    Limit.TEAM_WAITS: "GPUs for the jobs of the team",
    Limit.STORAGE_CAPACITY: "storage capacity",
    Limit.STORAGE_RATE: "storage read rate",
    Limit.MOUNTS: "file-system mounts of the servers",
    Limit.UPLINKS: "uplinks of the oversubscribed fabric",
    Limit.CONFIDENCE: "confidence that all stages meet the target together",
    Limit.LARGER_PARTS: "larger drives or GPU memory than the workload needs",
    Limit.SERVER_LOSS: "targets after the loss of one server",
    Limit.STORAGE_NODE_LOSS: "targets after the loss of one storage node",
    Limit.SWITCH_LOSS: "targets after the loss of one switch",
    Limit.GATEWAY_LOSS: "targets after the loss of one gateway",
    Limit.FEED_LOSS: "targets after the loss of one power feed",
    Limit.HEAD_NODE_LOSS: "targets after the loss of one head node",
    Limit.BUDGET: "budget",
}

# Where a design keeps all limits, and nobody knows whether it does the work.
_UNKNOWN_ERROR_TEXT = "rates or capacities that no source gives; stated_storage, or other storage, may settle them"


def limit_error_text(limit: AnyLimit, bound: float | None) -> str:
    """A limit in words; ``bound`` is the number that the request sets, in racks, rack units or watts."""
    if not isinstance(limit, Limit):
        return violation_error_text(limit)
    if bound is None:
        return _ERROR_TEXTS[limit]
    if limit is Limit.POWER:
        return f"the limit of {plain(bound / 1e3)} kW"
    noun = {Limit.RACKS: "rack", Limit.GPUS: "GPU"}.get(limit, "rack unit")
    return by_count(round(bound), f"the limit of {plain(bound)} {noun}", f"the limit of {plain(bound)} {noun}s")


def infeasible_error(
    counts: PartCounts,
    asked: str | None = None,
    bound: str | None = None,
    nearest: tuple[int, tuple[AnyLimit, ...]] | None = None,
) -> InfeasibleError:
    """Error that names the limit that excludes every design, how near the best comes, and what would be enough.

    ``asked`` are the targets in words; by default those of the workloads. ``bound`` is a limit of the request that
    excludes all larger designs. ``nearest`` is what :func:`nearest_design` gives, where it is known.
    """
    evaluated = counts.evaluated
    for index, work in enumerate(evaluated.works):
        # No limit of a design: it is the layout that runs on no platform.
        if why := wide_tensor_refusal(work, evaluated.platforms, f"workload.{index}.layout", counts.catalog):
            return InfeasibleError(why)
    target = asked or "; ".join(dict.fromkeys(target_text(work.request, work.dnn) for work in evaluated.works))
    row, broken = nearest or nearest_design(counts)
    # A design that misses its targets while all parts work has the better reason.
    broken = tuple(limit for limit in broken if limit not in LOSS_LIMITS.values()) or broken
    platform = evaluated.platforms[int(evaluated.space.platform[row])]
    servers, nodes = int(evaluated.space.n_servers[row]), int(evaluated.storage_nodes[row])
    storage = f" with {f'{nodes} × ' if nodes else ''}{with_vendor(platform.storage)}"
    if not any(work.kind.reads_data for work in evaluated.works) and not counts.request.platforms.storage:
        storage = ""  # it holds the weights: nobody asked for it
    names = [limit_error_text(limit, bound_of(limit, counts.request.limits)) for limit in broken]
    limits = " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part) or _UNKNOWN_ERROR_TEXT
    limits = f"{limits} within {bound}" if bound else limits
    return InfeasibleError(
        f"no design meets the request ({target} at {probability_text(counts.request.confidence)} confidence). "
        f"Excluded by: {limits}. The nearest design, {servers} × {with_vendor(platform.server)}{storage}, "
        f"{_shortfall_error_text(counts, row, broken)}.{_all_there_error_text(counts, platform.server, servers)}"
        f"{_held_error_text(counts, broken)}"
    )


def _all_there_error_text(counts: PartCounts, server: Server, n_servers: int) -> str:
    """That no more servers of a kind can be had than a design takes."""
    if most_of_kind(counts.catalog, counts.request, server) > n_servers:
        return ""
    return f" They are all that are there, and the {server.name} can no longer be ordered."


def _held_error_text(counts: PartCounts, broken: Sequence[AnyLimit]) -> str:
    """That no GPUs within the limits of room and money hold the networks, where larger designs break these limits."""
    evaluated, sizes = counts.evaluated, counts.evaluated.space.sizes
    within, of_class = counts.certainly_broken == 0, evaluated.class_of
    holds = evaluated.class_passes[Limit.GPU_MEMORY][of_class]
    if Limit.GPU_MEMORY in broken or not within.any() or (holds & within).any():
        return ""
    memory = evaluated.gpus_per_server * [one.gpu.memory_bytes.value for one in evaluated.platforms]
    index, size = np.unravel_index(np.argmax(np.where(within, np.outer(memory, sizes), -1.0)), within.shape)
    platform, gpus = evaluated.platforms[int(index)], int(evaluated.gpus_per_server[index] * sizes[size])
    why = _memory_error_text(counts, int(index) * len(sizes) + int(size))
    return f" Within the limits, {gpus} × {platform.gpu.name} {why}."


def _shortfall_error_text(counts: PartCounts, row: int, broken: Sequence[AnyLimit]) -> str:
    """What the nearest design reaches or takes, so that the reader sees what would be enough."""
    evaluated, work = counts.evaluated, counts.evaluated.works[0]
    if any(limit in LOSS_LIMITS.values() for limit in broken):
        return _loss_error_text(counts, row, broken)
    if Limit.GPU_MEMORY in broken:
        return _memory_error_text(counts, row)
    if broken == (Limit.STORAGE_CAPACITY,):
        return _capacity_error_text(counts)
    if broken == (Limit.STORAGE_RATE,) and (why := _rate_error_text(counts)):
        return why
    if any(limit in TARGET_LIMITS for limit in broken):
        chance = (
            f"at the median and meets the target with {probability_text(float(evaluated.probability[row]))} confidence"
        )
        rates = (
            f"{significant(float(evaluated.rates_at(np.array([row]))[0][0]))} of {_required_error_text(counts, row)}"
        )
        if work.request.target.time_to_train_s is not None:
            return f"takes {duration(float(evaluated.time_at(np.array([row]))[0]))} ({rates}) {chance}"
        if not work.kind.reads_data and (why := _layout_error_text(counts, work, row)):
            return f"does not serve it: {why}"
        return f"reaches {rates} {chance}"
    if Limit.TEAM_WAITS in broken:
        return _wait_error_text(counts, row)
    if Limit.BUDGET in broken:
        expected = significant(float(counts.expected_cost[row]))
        missing = "" if counts.is_priced[row] else "; missing prices are taken in the middle of their range"
        budget, currency = significant(counts.request.limits.budget or 0.0), counts.request.currency
        return f"is expected to cost about {currency} {expected} of a budget of {currency} {budget}{missing}"
    racks, servers = int(counts.racks[row]), int(evaluated.space.n_servers[row])
    return "takes {racks}, {units} rack units, {power} and {servers}".format(
        racks=by_count(racks, f"{racks} rack", f"{racks} racks"),
        units=plain(float(counts.rack_units[row])),
        power=si(float(counts.power_w[row]), "W"),
        servers=by_count(servers, f"{servers} server", f"{servers} servers"),
    )


def _required_error_text(counts: PartCounts, row: int) -> str:
    """The rate that the target of the first workload takes of a design, with what it holds beyond the work itself."""
    evaluated, work = counts.evaluated, counts.evaluated.works[0]
    needed = float(evaluated.over_rows(evaluated.class_required_rate)[row])
    lost = "" if evaluated.targets.computes[0].whole_run is None else " with what a whole run loses"
    return f"the {significant(needed)} {sample_unit(work.dnn)} that the target takes{lost}"


def _capacity_error_text(counts: PartCounts) -> str:
    """What must be held, and the allowed storage that holds the most."""
    evaluated = counts.evaluated
    held = {(one.storage.name, one.capacity_option): _most_bytes(one) for one in evaluated.platforms}
    (name, _), most = max(held.items(), key=lambda pair: pair[1])
    demand = storage_demand(evaluated.works, counts.request.data)
    why = (
        "are requested (data.minimum_capacity_bytes)"
        if demand.is_minimum
        else (f"must be stored and fill at most {MOST_FILL:.0%}")
    )
    return (
        f"is too small: {si(demand.total_bytes, 'B')} {why}; of the allowed storage {name} holds the most, up to "
        f"{si(most, 'B')}"
    )


def _rate_error_text(counts: PartCounts) -> str:
    """Rate that is requested of the storage, and the allowed storage that reaches the most; "" where one reaches it."""
    platforms, data = counts.evaluated.platforms, counts.request.data
    reads = [min(node_rates(platform)[0], node_rates(platform)[2]) for platform in platforms]
    writes = [node_write_rates(platform)[0] for platform in platforms]
    for verb, least, rates in (
        ("read", data.minimum_read_bytes_per_s, reads),
        ("write", data.minimum_write_bytes_per_s, writes),
    ):
        reached = [
            (_most_nodes(counts, one) * rate, one.storage.name) for one, rate in zip(platforms, rates, strict=True)
        ]
        most, name = max(reached)
        if least is not None and least > most:
            return (
                f"is too slow: {verb}s of {si(least, 'B/s')} are requested (data.minimum_{verb}_bytes_per_s); of the "
                f"allowed storage {name} {verb}s the most, up to {si(most, 'B/s')} at its low end"
            )
    return ""


def _most_nodes(counts: PartCounts, platform: Platform) -> int:
    """Nodes of the largest system, or servers whose own drives are the storage."""
    if platform.storage.kind == "local":
        return int(counts.evaluated.space.sizes.max())
    return int(capacity.node_limits(platform.storage)[1])


def _most_bytes(platform: Platform) -> float:
    """Usable bytes of the largest system; 0 where no source gives them. [B]"""
    storage = platform.storage
    usable = float(capacity.usable_bytes(storage, platform.capacity_option, capacity.node_limits(storage)[1]))
    bounds = [usable] if storage.max_usable_bytes is None else [usable, storage.max_usable_bytes.value]
    return min((bound for bound in bounds if not np.isnan(bound)), default=0.0)


def _memory_error_text(counts: PartCounts, row: int) -> str:
    """Which workload does not fit the GPUs of a design, and the largest batch that does."""
    evaluated = counts.evaluated
    platform, servers = evaluated.platforms[int(evaluated.space.platform[row])], int(evaluated.space.n_servers[row])
    n_gpus = servers * int(evaluated.gpus_per_server[int(evaluated.space.platform[row])])
    for work in evaluated.works:
        if (model := laid_out_model(work)) is not None and (why := _layout_error_text(counts, work, row)):
            return f"cannot {model.verb} it: {why}"
    works = zip(evaluated.works, evaluated.memory, strict=True)
    answers = [memory_answer(work, taken, platform.gpu, n_gpus) for work, taken in works]
    place = min(range(len(answers)), key=lambda number: answers[number].probability)
    work, found = evaluated.works[place], answers[place]
    gpus = {other.gpu.id: other.gpu for other in evaluated.platforms}.values()
    most, gpu = max(
        ((memory_answer(work, evaluated.memory[place], gpu, n_gpus).largest_batch, gpu) for gpu in gpus),
        key=lambda pair: pair[0],
    )
    largest = f"{grouped(most)} on {gpu.name}"
    batch = work.batch_on(platform.gpu.id, n_gpus)
    return memory_error_text(work.dnn.name, platform.gpu.name, batch, found, most and largest)


def _layout_error_text(counts: PartCounts, work: ResolvedWorkload, row: int) -> str:
    """Why no layout of a language model runs on a design; "" where one does."""
    evaluated, model = counts.evaluated, laid_out_model(work)
    index = int(evaluated.space.platform[row])
    used = int(evaluated.gpus_per_server[index])
    platform, servers = evaluated.platforms[index], int(evaluated.space.n_servers[row])
    return "" if model is None else model.refusal(work, platform, servers, used, counts.catalog)


def memory_error_text(dnn: str, gpu: str, batch: int, answer: MemoryAnswer, largest: str | int) -> str:
    """Why a batch does not fit a GPU; ``largest`` is the batch that does, and 0 where not one sample fits."""
    state = si(answer.state_bytes, "B")
    remedy = (
        f"the largest batch that fits is {largest}"
        if largest
        else f"not one sample fits: weights, gradients and optimizer alone take {state} of each GPU"
    )
    return (
        f"cannot hold {dnn} in {gpu}: a batch of {grouped(batch)} per GPU needs about "
        f"{si(answer.need_bytes, 'B')}; {remedy}"
    )


def _wait_error_text(counts: PartCounts, row: int) -> str:
    """Which kind of job of the team waits too long on a design, and how many of its jobs start within the target."""
    evaluated, team = counts.evaluated, counts.request.team
    kind = int(evaluated.kind_of_class[evaluated.class_of[int(evaluated.space.platform[row])]])
    case = None if evaluated.team is None else evaluated.team.cases[kind]
    assert team is not None  # without a team nobody waits
    assert case is not None  # nor is a kind of server blamed that was not simulated
    run = simulated(case.case, int(evaluated.space.n_servers[row]))
    for place, fits in zip((*case.queue, *case.standing), case.case.fits, strict=True):
        if not fits:
            job = team.job[place]
            gpus = by_count(job.gpus, "its GPU does not hold", f"its {grouped(job.gpus)} GPUs do not hold")
            return f"does not run the job {job.name}: {gpus} {job.workload}; give it more GPUs"
    if not run.all_placed:
        return "has no room for all jobs that always run"
    shares = [run.share_within(index, wait_s) for index, wait_s in enumerate(case.waits_s)]
    latest = int(np.argmin(shares))
    return (
        f"starts {probability_text(shares[latest])} of the jobs {team.job[case.queue[latest]].name} within "
        f"{duration(case.waits_s[latest])}; the target is {probability_text(team.wait_probability)}"
    )


def _loss_error_text(counts: PartCounts, row: int, broken: Sequence[AnyLimit]) -> str:
    """Why a design that meets its targets does not after a loss, and what would help."""
    platform = counts.evaluated.platforms[int(counts.evaluated.space.platform[row])]
    meets = "meets the target while all parts work"
    for loss in (loss for loss, limit in LOSS_LIMITS.items() if limit in broken):
        why, remedy = _weak_part_error_text(loss, platform)
        if why:
            return f"{meets}, but {why}; {remedy}"
    most = int(counts.evaluated.space.sizes[-1])
    servers = by_count(most, f"{grouped(most)} server", f"{grouped(most)} servers")
    return f"{meets}, but not after such a loss with {servers} or fewer; allow more servers or lower the target"


def _weak_part_error_text(loss: Loss, platform: Platform) -> tuple[str, str]:
    """Which part of a platform does not tolerate a loss, and what would; two empty texts where its size is to blame."""
    storage, server = platform.storage, platform.server
    two_ports = "choose storage whose nodes have two ports, or local drives"
    if loss == "storage-node" and storage.kind != "local":
        protected = "allow storage of several nodes whose protection is published, or local drives"
        if not counts_nodes(storage):
            return f"{storage.name} is one server, and nothing else holds the data", protected
        survives = nodes_survived(storage)
        if survives is None:
            return f"no source says that {storage.name} survives the loss of a node", protected
        if survives == 0:
            return f"{storage.name} does not survive the loss of a node", protected
    if loss == "gateway" and platform.gateway is not None and not platform.has_spare_gateway:
        why = f"a node of {storage.name} has no second port for another gateway"
        return why, "choose a fabric that connects the storage without a gateway"
    if loss == "head-node" and serves_files(platform):
        why = f"{storage.name} is on the drives of one head node, and a second head node does not hold the data"
        return why, "allow storage that both head nodes reach"
    if loss == "switch" and platform.attachment in ON_FABRIC and not counts_nodes(storage):
        return "the head node that serves the files has one port on the fabric", two_ports
    has_one_port = platform.attachment == "fabric" and front_end_ports(platform) == 1
    if loss == "switch" and has_one_port and not nodes_survived(storage) and platform.back_end_switch is None:
        return f"a node of {storage.name} has one port, and all nodes of a switch fail with it", two_ports
    if loss == "switch" and fabric_ports(server.ports, platform.fabric) == 1:
        why = f"{server.name} has one port on the fabric, and all servers of a switch fail with it"
        return why, "choose servers with two ports on the fabric"
    if loss == "feed" and platform.site.feeds == "N":
        return "racks with site.feeds = 'N' have no spare feed", "ask for site.feeds = 'N+1' or '2N'"
    device = single_corded_device(platform) if loss == "feed" else None
    if device is not None:
        return f"{device.name} is single-corded (one power inlet)", "add a transfer switch"
    return "", ""
