"""Verdict on a design: its claims, each with its number, its threshold and what was found."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import NARROW_SPACE, duration, grouped, plain, si, significant
from sizer.base.units import GIB
from sizer.catalog.fabrics import usual_ports
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Storage
from sizer.physical.capacity import node_limits, usable_bytes
from sizer.physical.networks.ports import nodes_of
from sizer.physical.platform import OS_RESERVE_BYTES
from sizer.present.words import name, plural, sample_unit, stage
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, rows_of_known_rate
from sizer.sizing.constraints.stored_data import lacks_shared_storage
from sizer.sizing.design.decisions import (
    LEAST_FABRIC_LOSS,
    MAX_SERVERS,
    consumption,
    doubling,
    exchange_loss,
    exchange_s,
    first_read_s,
    shared_storage,
    smallest_link,
    smallest_system_bytes_per_s,
    step_samples,
    storage_read_bytes_per_s,
    usual_links,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.recommend import search
from sizer.sizing.result import SizingResult, WorkloadAnswer
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.platform_columns import cache_bytes, fabric_bytes_per_s, node_read_rate
from sizer.sizing.stages.sharding import gradient_bytes, looked_up_bytes
from sizer.workload.request import Platforms, SizingRequest

ClaimKey = Literal[
    "one-server",
    "simple-storage",
    "slow-fabric",
    "double-gpus",
    "gpus-wait",
    "fits-memory",
    "usual-link",
    "storage-idles",
    "hosts-first",
]
# ``storage`` counts places in the order of kinds of storage, from drives to a clustered file system.
ClaimUnit = Literal["B", "B/s", "share", "ratio", "servers", "storage"]
# Source of the claims: D. Pascuzzi, "GPU Deep Learning Cluster Considerations".
HITACHI = "hitachi-dl-2019"


@dataclass(frozen=True)
class Claim:
    """One claim in favour of the simpler design, and whether it holds."""

    key: ClaimKey  # stays the same in files
    workload: str  # its name; "" where the claim is about the whole request
    holds: bool
    value: float
    threshold: float
    at_most: bool  # the claim holds where the value is at most the threshold; False: at least
    unit: ClaimUnit
    # The claim, what was found and how its numbers come about, in words of the locale in use.
    facts: Callable[[], tuple[str, str, str]] = field(compare=False, repr=False)
    sources: tuple[str, ...]  # keys of catalog/sources.toml


def claim_of_threshold(
    key: ClaimKey,
    unit: ClaimUnit,
    model: WorkloadOnDesign,
    value: float,
    threshold: float,
    facts: Callable[[], tuple[str, str, str]],
    sources: Iterable[str],
    *,
    at_most: bool = True,
) -> Claim:
    """Claim about one workload that compares a number of its design with a threshold."""
    holds = value <= threshold if at_most else value >= threshold
    name = model.work.request.name
    return Claim(key, name, holds, value, threshold, at_most, unit, facts, tuple(sources))


def share_text(share: float) -> str:
    """A share with two digits: 3.4 %, 12 %; small ones 'under 0.1 %'."""
    if share < 1e-9:  # nothing but rounding
        return f"0{NARROW_SPACE}%"
    if share < 0.001:
        return f"under {plain(0.1)}{NARROW_SPACE}%"
    return f"{plain(100 * share, 2) if share < 1 else significant(100 * share)}{NARROW_SPACE}%"


# Shared storage whose reads take less than this share of the rate of its smallest system is bought for capacity.
LOW_UTILIZATION = 0.10
# Storage that runs without a system of several nodes (hitachi-dl-2019, storage classes).
SIMPLE_KINDS = ("local", "nfs-server")


def data_claims(evaluated: EvaluatedDesign) -> Iterator[Claim]:
    """Claims in the order of the guide; only those that apply to the design."""
    yield _simple_storage(evaluated)
    for model, answer in zip(evaluated.workloads, evaluated.result.design.workloads, strict=True):
        if answer.workload.cache != "none" and cache_bytes(model.platform) > 0:
            yield _fits_memory(model, answer)
        is_remote = model.platform.attachment != "local"
        if is_remote:
            yield _usual_link(model)
        yield from _storage_idles(model)
        # Text and tensors made beforehand cost the processors next to nothing.
        if is_remote and model.work.sample_format is SampleFormat.JPEG:
            yield from _hosts_first(model)


def _fits_memory(model: WorkloadOnDesign, answer: WorkloadAnswer) -> Claim:
    """The data that one server reads, and the memory that it has for them."""
    sharded = model.work.request.access == "sharded"
    data_bytes, room_bytes = model.work.dataset_bytes / (model.n_servers if sharded else 1), cache_bytes(model.platform)

    def facts() -> tuple[str, str, str]:
        memory, platform = model.platform.server.memory_bytes, model.platform
        assert memory is not None  # asked only where there is room in it
        data, room = si(data_bytes, "B"), si(room_bytes, "B")
        found = f"The data set of {data} fits in the {room} of server memory available for data: it is read once."
        if data_bytes > room_bytes:
            found = (
                f"The data set of {data} does not fit in the {room} of server memory available for data: every epoch "
                "reads it again."
            )
        copies = platform.gpus_per_server * platform.gpu.memory_bytes.value
        whole, copy, system = (grouped(size / GIB) for size in (memory.value, copies, OS_RESERVE_BYTES))
        slow_s, fast_s = (first_read_s(model.work.dataset_bytes, kind) for kind in usual_links(model.catalog))
        how = (
            f"{whole} GiB of memory less {copy} GiB for copies of the GPUs' memory and {system} GiB for the system. "
            f"Reading the set once takes {duration(slow_s)} over 10 GbE and {duration(fast_s)} over 25 GbE"
        )
        if answer.time is not None:
            total_s = float(answer.time.total_s.value)
            how += f", {share_text(fast_s / total_s)} of a training of {duration(total_s)}"
        return "The data set fits in memory and is read once", found, f"{how}."

    sources = (HITACHI, "dell-isilon-dgx1-blog-2018")
    return claim_of_threshold("fits-memory", "B", model, data_bytes, room_bytes, facts, sources)


def _usual_link(model: WorkloadOnDesign) -> Claim:
    """What one server reads compared with one link of the customer's network."""
    server = consumption(model)
    reads = server.later_bytes_per_s
    kind = smallest_link(reads, model.catalog) or usual_links(model.catalog)[-1]

    def facts() -> tuple[str, str, str]:
        enough = "enough" if reads <= kind.bytes_per_s else "not enough"
        carries = si(kind.bytes_per_s, "B/s")
        found = f"{kind.name} is {enough} for the data: a server reads {si(reads, 'B/s')}, one link carries {carries}."
        if not reads:
            found = f"{kind.name} is enough for the data: in steady state nothing is read over it."
        hits = share_text(float(model.run.comp.hit_fraction[0]))
        first_s = first_read_s(model.work.dataset_bytes, kind) / model.n_servers
        how = (
            f"A server's GPUs and processors process {si(server.samples_per_s, sample_unit(model.work.dnn))}. At "
            f"{si(model.work.sample_bytes, 'B')} each that is {si(server.first_bytes_per_s, 'B/s')}, of which its "
            f"memory serves {hits} in steady state. Over one such link per server, the first epoch takes at least "
            f"{duration(first_s)}."
        )
        return f"{kind.name} is enough for the data", found, how

    return claim_of_threshold("usual-link", "B/s", model, reads, kind.bytes_per_s, facts, [HITACHI])


def _storage_idles(model: WorkloadOnDesign) -> Iterator[Claim]:
    """Reads of the design compared with the smallest system of a shared storage."""
    storage = shared_storage(model.platform.storage, model.catalog)
    if storage is None:
        return
    delivered, read = smallest_system_bytes_per_s(storage), storage_read_bytes_per_s(model)
    used = read / delivered

    def facts() -> tuple[str, str, str]:
        smallest = f"The smallest {storage.name} ({plural(node_limits(storage)[0], 'node')})"
        idle = "be mostly idle" if used <= LOW_UTILIZATION else "not be mostly idle"
        found = f"{smallest} would {idle}: reads use {share_text(used)} of its rate."
        if used > 1:
            found = f"{smallest} would be too slow: the design reads {significant(used)} times its rate."
        how = (
            f"In steady state the design reads {si(read, 'B/s')}; the smallest system delivers at least "
            f"{si(delivered, 'B/s')}. Below {share_text(LOW_UTILIZATION)} of that, the storage is bought for its "
            "capacity, not for its speed."
        )
        return "The smallest shared storage would be mostly idle", found, how

    rate = node_read_rate(storage)
    sources = () if rate is None else (rate.low.source,)
    yield claim_of_threshold("storage-idles", "share", model, used, LOW_UTILIZATION, facts, sources)


def _storage_meets(evaluated: EvaluatedDesign, kind: str) -> bool:
    """Whether the servers of the design, or fewer, meet the request with storage of a kind, whatever it allows."""
    request, design, catalog = evaluated.result.request, evaluated.result.design, evaluated.catalog
    names = tuple(
        storage.id for storage in catalog.storage.values() if storage.kind == kind and _is_available(storage, request)
    )
    server, given = design.platform.server.id, request.platforms.gpus_per_server
    free = request.model_copy(update={"platforms": Platforms(servers=(server,), storage=names, gpus_per_server=given)})
    most = min(design.n_servers, request.limits.servers or design.n_servers)
    try:
        counts = search(free, catalog, evaluated.calibration, most=most)
    except (InfeasibleError, RequestError):
        return False
    runs = np.flatnonzero(counts.candidates.any(axis=1)).tolist()
    return any(rows_of_known_rate(counts, index).size > 0 for index in runs)


def _is_available(storage: Storage, request: SizingRequest) -> bool:
    """Whether it is sold, comes inside a server, or is named by the request because it exists."""
    is_inside = storage.kind == "local" or storage.server is not None
    return storage.orderable or is_inside or storage.id in request.platforms.storage


def _simple_storage(evaluated: EvaluatedDesign) -> Claim:
    """The simplest kind of storage that is enough."""
    result, design, models = evaluated.result, evaluated.result.design, evaluated.workloads
    # The trial requests below name their storage; whether local drives are asked for is what the real one says.
    works = [model.work for model in models]
    apart = lacks_shared_storage(works, result.request, evaluated.catalog, True, design.n_hosts)
    order = [kind for kind in STORAGE_ORDER if not (apart and kind == "local")]
    meets = (kind for kind in order if _storage_meets(evaluated, kind))
    kind = next(meets, design.platform.storage.kind)

    def facts() -> tuple[str, str, str]:
        # Workloads on the same data set share it.
        data_bytes = sum({work.dataset.name: work.dataset_bytes for work in works}.values())
        reads = sum(storage_read_bytes_per_s(model) for model in models)
        servers = f"{design.n_servers} × {design.platform.server.name}"
        found = f"Simplest storage that is enough for {si(data_bytes, 'B')} on {servers}: {name(kind)}."
        if kind not in SIMPLE_KINDS:
            found += " Neither local drives nor one file server are enough; a small system of that kind may be."
        how = (
            f"The design reads {si(reads, 'B/s')} in steady state. "
            f"{'; '.join(_storage_options(result, evaluated.catalog))}. Storage of unpublished rate counts as enough "
            "only where the servers' memory holds the data."
        )
        return "Local drives or one file server are enough", found, how

    value, most = float(STORAGE_ORDER.index(kind)), float(len(SIMPLE_KINDS) - 1)
    return Claim("simple-storage", "", kind in SIMPLE_KINDS, value, most, True, "storage", facts, (HITACHI,))


def _storage_options(result: SizingResult, catalog: Catalog) -> Iterator[str]:
    """What drives and file servers hold and deliver."""
    server = result.design.platform.server
    for storage in catalog.storage.values():
        is_own = storage.kind == "local" and storage.id == server.local_storage
        if is_own or (storage.kind == "nfs-server" and _is_available(storage, result.request)):
            rate = node_read_rate(storage)
            sizes = [float(usable_bytes(storage, option, 1)) for option in range(max(len(storage.capacity_options), 1))]
            most = max((size for size in sizes if size > 0), default=None)
            room = "capacity not published" if most is None else si(most, "B")
            reads = "read rate not published" if rate is None else si(rate.low.value, "B/s")
            yield f"{storage.name}: {room}, {reads}"


def _hosts_first(model: WorkloadOnDesign) -> Iterator[Claim]:
    """What a server's processors prepare, and its share of what the network stage carries while all data are read."""
    run, server_bytes = model.run, model.work.sample_bytes / model.n_servers
    prepared = float(run.comp.decode.median[0]) * server_bytes
    carried = float(run.cold.network.median[0]) * server_bytes
    if not math.isfinite(prepared):
        return

    def facts() -> tuple[str, str, str]:
        made, brought = si(prepared, "B/s"), si(carried, "B/s")
        found = f"A server's processors prepare {made}, more than the {brought} that the network brings."
        if prepared <= carried:
            found = (
                f"A faster network gains nothing: a server's processors prepare {made}, the network brings {brought}."
            )
        sample, decoded = model.work.sample_bytes, model.work.dnn.input_bytes.value
        how = (
            f"{plain(float(run.cols.cores[0]))} cores at {significant(1e3 * run.comp.core_s_per_sample)} core-ms per "
            f"sample of {si(sample, 'B')}. Samples decoded beforehand would avoid this work: {si(decoded, 'B')} each, "
            f"{significant(decoded / sample)} times the bytes."
        )
        return "The host processors limit before the network does", found, how

    yield claim_of_threshold("hosts-first", "B/s", model, prepared, carried, facts, [HITACHI])


# Twice the GPUs pay where at least half of what is bought becomes speed to the target accuracy.
LEAST_SPEED_UP = 1.5
# GPUs at 97 % utilization or more are the bottleneck (dell-isilon-dgx1-blog-2018): they do not wait for data.
MOST_WAITING = 0.03


def _scale_claims(evaluated: EvaluatedDesign) -> Iterator[Claim]:
    """Claims in the order of the guide; only those that apply to the design."""
    yield _one_server(evaluated)
    for model, answer in zip(evaluated.workloads, evaluated.result.design.workloads, strict=True):
        if answer.workload.task == "training":
            if not model.exchange_is_in_step:
                yield _slow_fabric(model)
            yield from _double_gpus(model)
        if answer.kind.reads_data:
            yield _gpus_wait(model, answer)


def _one_server_meets(evaluated: EvaluatedDesign) -> bool:
    """Whether a single server of some platform that a request allows meets it with everything it asks."""
    try:
        counts = search(evaluated.result.request, evaluated.catalog, evaluated.calibration, most=1)
    except (InfeasibleError, RequestError):
        return False
    runs = np.flatnonzero(counts.candidates.any(axis=1)).tolist()
    hosts = (index for index in runs if nodes_of(counts.evaluated.platforms[index].server) == 1)
    return any(counts.feasible_of(index).size > 0 for index in hosts)


def _one_server(evaluated: EvaluatedDesign) -> Claim:
    result, design = evaluated.result, evaluated.result.design
    holds = design.n_hosts == 1 or _one_server_meets(evaluated)
    server = design.platform.server.name

    def facts() -> tuple[str, str, str]:
        single = next((other for other in (design, *result.platforms) if other.n_hosts == 1), None)
        if not holds and design.n_servers == 1:
            found = f"One {server} is enough, but it is a rack of several hosts: no single host does the job."
        elif not holds:
            found = f"One {server} is not enough: the request needs {grouped(design.n_servers)}."
        elif single is None:
            found = "One server of another type than the described one is enough."
        else:
            found = f"One {single.platform.server.name} is enough."
        runs = [_single_run_text(model) for model in evaluated.workloads]
        if result.request.team is not None:
            runs.append("the team's jobs must also start within their wait limits")
        asked = share_text(result.request.confidence)
        how = f"One {server} with this storage: {'; '.join(runs)}. Required confidence: {asked}."
        return "One server is enough", found, how

    value = 1.0 if holds else float(min(other.n_hosts for other in result.platforms))
    return Claim("one-server", "", holds, value, 1.0, True, "servers", facts, (HITACHI,))


def _single_run_text(model: WorkloadOnDesign) -> str:
    """What one server of a design achieves, compared with the target."""
    run, target, dnn = model.run_on(1), model.work.request.target, model.work.dnn
    if target.gpus_busy is not None:
        gpus = plural(int(run.cols.gpus_per_server[0]), "GPU")
        return f"it has {gpus} of the {grouped(target.gpus_busy)} to keep fully utilized"
    if not all_fit([model.work], run.hosts(model.platform, model.catalog)).all():
        return f"its GPUs do not hold {dnn.name}"
    rate, cold = (part.value for part in run.rates)
    if target.samples_per_s is not None:
        unit = sample_unit(dnn)
        return f"{si(float(rate[0]), unit)} at the median, target {si(target.samples_per_s, unit)}"
    time_s = run.time_s(rate, cold)
    assert target.time_to_train_s is not None  # a target is one of the three
    assert time_s is not None
    return f"{duration(float(time_s[0]))} to train at the median, target {duration(target.time_to_train_s)}"


def _slow_fabric(model: WorkloadOnDesign) -> Claim:
    """Gradient exchange over 25 GbE compared with the fabric of the design, or EDR where that is no faster."""
    slow, fast = model.catalog.links["25gbe"], model.platform.fabric
    if fast.gbit_per_s.value <= slow.gbit_per_s.value:
        fast = model.catalog.links["edr"]
    server, n_servers = model.platform.server, model.n_servers
    # Ports of a server on the slower network: those that it is sold with, else one.
    n_ports = max(usual_ports(server.ports, slow), 1)
    losses = exchange_loss(model, slow, fast, n_ports)
    loss = float(losses[min(n_servers, MAX_SERVERS) - 1])

    def facts() -> tuple[str, str, str]:
        paying, least = np.flatnonzero(losses > LEAST_FABRIC_LOSS), share_text(LEAST_FABRIC_LOSS)
        pays = f"{fast.name} would gain less than {least} on up to {MAX_SERVERS} servers"
        if paying.size:
            first = int(paying[0]) + 1
            gpus = grouped(first * int(model.run.cols.gpus_per_server[0]))
            pays = f"{fast.name} gains more than {least} from {plural(first, 'server')} ({gpus} GPUs) on"
        if n_servers == 1:
            found = f"25 GbE loses nothing to the gradients: those of one server stay inside it; {pays}."
        elif loss <= LEAST_FABRIC_LOSS:
            found = f"25 GbE loses little to the gradients, {share_text(loss)} of the rate; {pays}."
        else:
            found = f"{fast.name} pays off for the gradients: 25 GbE would cost {share_text(loss)} of the rate; {pays}."
        exchanging, work = max(n_servers, 2), model.work
        sent = gradient_bytes(work) + work.batch_per_gpu * looked_up_bytes(work)
        compute_s = step_samples(model, n_servers) / float(model.run.comp.gpu_alone[0])
        how = (
            f"A step exchanges {si(sent, 'B')} of gradients. Between {exchanging} servers that takes "
            f"{_ms(exchange_s(model, slow, exchanging, n_ports))} over the {si(n_ports * slow.bytes_per_s, 'B/s')} of "
            f"25 GbE and {_ms(exchange_s(model, fast, exchanging))} over the "
            f"{si(fabric_bytes_per_s(server, fast), 'B/s')} of {fast.name}, as calibrated. "
            f"{_ms(compute_s)} of computation hides part of it."
        )
        return "25 GbE would lose little to the gradients", found, how

    return claim_of_threshold("slow-fabric", "share", model, loss, LEAST_FABRIC_LOSS, facts, [HITACHI])


def _ms(seconds: float) -> str:
    return f"{significant(1e3 * seconds)}{NARROW_SPACE}ms"


def _double_gpus(model: WorkloadOnDesign) -> Iterator[Claim]:
    gain = doubling(model)
    if gain is None:
        return

    def facts() -> tuple[str, str, str]:
        n_gpus = 2 * int(model.run.cols.gpus_per_server[0]) * model.n_servers
        rate, speed = significant(gain.rate_ratio), significant(gain.speed_ratio)
        before, after = (significant(epochs) for epochs in gain.epochs)
        return (
            "Twice the GPUs pay off",
            f"Twice the GPUs, {grouped(n_gpus)}, give {rate} times the rate and {speed} times the speed to accuracy.",
            f"The global batch goes from {grouped(gain.global_batch[0])} to {grouped(gain.global_batch[1])} and the "
            f"epochs to the target from {before} to {after}: {rate} × {before} / {after}, less the start-up time. "
            f"Twice the GPUs pay off from {plain(LEAST_SPEED_UP)} times on.",
        )

    sources = (HITACHI, "mlperf-v0.6")
    yield claim_of_threshold(
        "double-gpus", "ratio", model, gain.speed_ratio, LEAST_SPEED_UP, facts, sources, at_most=False
    )


def _gpus_wait(model: WorkloadOnDesign, answer: WorkloadAnswer) -> Claim:
    """Rate of the GPUs alone compared with that of the design."""
    capacity = float(model.run.comp.gpu.median[0])
    waiting = max(1 - float(model.run.rates[0].value[0]) / capacity, 0.0)

    def facts() -> tuple[str, str, str]:
        unit = sample_unit(answer.dnn)
        return (
            "The GPUs do not wait for data",
            f"The GPUs wait for data {share_text(waiting)} of the time.",
            f"They could process {si(capacity, unit)}; the design delivers {si(capacity * (1 - waiting), unit)}. "
            f"Bottleneck: {stage(answer.bottleneck, inside=True)}. GPUs at 97{NARROW_SPACE}% utilization or more are "
            "the bottleneck themselves.",
        )

    source = "dell-isilon-dgx1-blog-2018"
    return claim_of_threshold("gpus-wait", "share", model, waiting, MOST_WAITING, facts, [source])


def claims(evaluated: EvaluatedDesign) -> tuple[Claim, ...]:
    """Claims that apply to a design.

    A claim always favours the simpler option, so that a reader sees at a glance which requirement the design depends
    on. About the whole request first, then workload by workload.
    """
    serves = all(answer.serving is not None for answer in evaluated.result.design.workloads)
    made = [*_scale_claims(evaluated), *(() if serves else data_claims(evaluated))]
    known = evaluated.catalog.sources
    cited = [replace(one, sources=tuple(key for key in dict.fromkeys(one.sources) if key in known)) for one in made]
    return tuple(sorted(cited, key=lambda claim: claim.workload != ""))
