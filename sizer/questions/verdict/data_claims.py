"""Claims about where the data lie and how they come to the servers."""

import math
from collections.abc import Collection, Iterator

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import duration, grouped, plain, si, significant
from sizer.base.units import GIB
from sizer.catalog.labels import name, sample_unit
from sizer.catalog.links import kind_name, link_bytes_per_s
from sizer.catalog.schema import LinkKind, Storage
from sizer.physical.capacity import node_limits, usable_bytes
from sizer.questions.verdict.claim_draft import HITACHI, Draft, Measure, by_measure, levers, percent
from sizer.questions.verdict.reversal import Lever, Trials
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, sure_rows
from sizer.questions.what_if.varied_input import DATASET_SIZE, SAMPLE_SIZE, TARGET
from sizer.sizing.design.cluster_need import (
    USUAL_LINKS,
    consumption,
    first_read_s,
    shared_storage,
    smallest_link,
    smallest_system_bytes_per_s,
    storage_read_bytes_per_s,
)
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.recommend import MAX_SERVERS, search
from sizer.sizing.result import SizingResult, WorkloadAnswer
from sizer.sizing.stages.platform_columns import OS_RESERVE_BYTES, cache_bytes
from sizer.workload.request import Platforms, SizingRequest

# A storage whose reads take less than this share of what its smallest system was shown to serve stands idle.
IDLE = 0.10
# Storage that runs without a system of several nodes (hitachi-dl-2019, storage classes).
SIMPLE_KINDS = ("local", "nfs-server")


def data_claims(result: SizingResult, trials: Trials) -> Iterator[Draft]:
    """Claims in the order of the guide; only those that make sense for the design."""
    yield _simple_storage(result, trials)
    for number, answer in enumerate(result.design.workloads):
        model = trials.models[number]
        if answer.workload.cache != "none" and cache_bytes(model.platform) > 0:
            yield _fits_memory(trials, number, model, answer)
        is_remote = model.platform.attachment != "local"
        if is_remote:
            yield _usual_link(trials, number, model)
        yield from _storage_idles(trials, number, model)
        # Text costs the processors next to nothing, and some loads, such as tensors made beforehand, nothing at all.
        decodes = not model.work.is_decoded and math.isfinite(_decoding(model).value)
        if is_remote and decodes and model.work.dnn.sample == "image":
            yield _hosts_first(trials, number, model)


# --- data in memory


def _memory(model: WorkloadOnDesign) -> Measure:
    """The data that one server reads beside the memory that it has for them."""
    sharded = model.work.request.access == "sharded"
    return Measure(model.work.dataset_bytes / (model.n_servers if sharded else 1), cache_bytes(model.platform))


def _fits_memory(trials: Trials, number: int, model: WorkloadOnDesign, answer: WorkloadAnswer) -> Draft:
    found = _memory(model)
    values = {"data": si(found.value, "B"), "memory": si(found.threshold, "B")}
    if found.holds:
        sentence = (
            "The data set of {data} fits the {memory} that a server's memory leaves for it: it is read once."
        ).format(**values)
    else:
        sentence = (
            "The data set of {data} does not fit the {memory} that a server's memory leaves for it: "
            "every epoch reads it again."
        ).format(**values)
    return Draft(
        key="fits-memory",
        workload=answer.workload.name,
        title="The data set fits in memory and is read once",
        value=found.value,
        threshold=found.threshold,
        at_most=True,
        unit="B",
        holds=found.holds,
        sentence=sentence,
        reason=_memory_reason(model, answer),
        sources=(HITACHI, "dell-isilon-dgx1-blog-2018"),
        levers=levers(trials, [number], (DATASET_SIZE, found.holds)),
        is_held=by_measure(trials, number, _memory),
        effect="it would no longer fit the memory" if found.holds else "it would fit the memory",
    )


def _memory_reason(model: WorkloadOnDesign, answer: WorkloadAnswer) -> str:
    platform, data = model.platform, model.work.dataset_bytes
    memory = platform.server.memory_bytes
    assert memory is not None  # asked only where there is room in it
    gpus = platform.gpus_per_server * platform.gpu.memory_bytes.value
    text = (
        f"{grouped(memory.value / GIB)} GiB of memory less {grouped(gpus / GIB)} GiB for copies "
        f"of the GPUs' memory and {grouped(OS_RESERVE_BYTES / GIB)} GiB for the system. One read "
        f"of the set takes {duration(first_read_s(data, '10gbe'))} over 10 GbE and "
        f"{duration(first_read_s(data, '25gbe'))} over 25 GbE"
    )
    if answer.time is None:
        return f"{text}."
    total = float(answer.time.total_s.value)
    return f"{text}, {percent(first_read_s(data, '25gbe') / total)} of a training of {duration(total)}."


# --- links of the customer's network


def _usual_link(trials: Trials, number: int, model: WorkloadOnDesign) -> Draft:
    took = consumption(model)
    kind: LinkKind = smallest_link(took.later_bytes_per_s) or USUAL_LINKS[-1]

    def measure(other: WorkloadOnDesign) -> Measure:
        return Measure(consumption(other).later_bytes_per_s, link_bytes_per_s(kind))

    found = measure(model)
    values = {"link": kind_name(kind), "reads": si(found.value, "B/s"), "carries": si(found.threshold, "B/s")}
    if not found.value:
        sentence = "{link} is enough for the data: after the first epoch nothing is read over it.".format(**values)
    elif found.holds:
        sentence = "{link} is enough for the data: a server reads {reads}, one link carries {carries}.".format(**values)
    else:
        sentence = "{link} is not enough for the data: a server reads {reads}, one link carries {carries}.".format(
            **values
        )
    first_s = first_read_s(model.work.dataset_bytes, kind) / model.n_servers
    keys = [(SAMPLE_SIZE, found.holds)]
    if found.holds and model.work.request.cache != "none":
        keys.append((DATASET_SIZE, True))
    return Draft(
        key="usual-link",
        workload=model.work.request.name,
        title=f"{kind_name(kind)} is enough for the data",
        value=found.value,
        threshold=found.threshold,
        at_most=True,
        unit="B/s",
        holds=found.holds,
        sentence=sentence,
        reason=(
            "A server's GPUs and processors take "
            f"{si(took.samples_per_s, sample_unit(model.work.dnn))}; at "
            f"{si(model.work.sample_bytes, 'B')} each that is {si(took.first_bytes_per_s, 'B/s')}, of "
            f"which its memory serves {percent(float(model.run.comp.hit_fraction[0]))} after the "
            f"first epoch. The first epoch cannot be shorter than {duration(first_s)} over one such "
            "link a server."
        ),
        sources=(HITACHI,),
        levers=levers(trials, [number], *keys),
        is_held=by_measure(trials, number, measure),
        effect=f"{kind_name(kind)} would no longer be enough" if found.holds else f"{kind_name(kind)} would be enough",
    )


# --- shared storage


def _storage_idles(trials: Trials, number: int, model: WorkloadOnDesign) -> Iterator[Draft]:
    storage = shared_storage(model.platform.storage, trials.catalog)
    if storage is None:
        return
    serves = smallest_system_bytes_per_s(storage)

    def measure(other: WorkloadOnDesign) -> Measure:
        return Measure(storage_read_bytes_per_s(other) / serves, IDLE)

    found, reads = measure(model), storage_read_bytes_per_s(model)
    values = {"storage": storage.name, "n": node_limits(storage)[0], "share": percent(found.value)}
    if found.holds:
        sentence = "The smallest {storage}, {n} nodes, would idle: reads take {share} of its rate.".format(**values)
    else:
        sentence = "The smallest {storage}, {n} nodes, would not idle: reads take {share} of its rate.".format(**values)
    yield Draft(
        key="storage-idles",
        workload=model.work.request.name,
        title="Shared storage would idle",
        value=found.value,
        threshold=IDLE,
        at_most=True,
        unit="share",
        holds=found.holds,
        sentence=sentence,
        reason=(
            f"After the first epoch the design reads {si(reads, 'B/s')}; {values['n']} nodes were "
            f"shown to serve {si(serves, 'B/s')}. Under {percent(IDLE)} of that the storage is bought "
            "for its capacity, not for its speed."
        ),
        sources=_rate_sources(storage),
        levers=levers(trials, [number], (SAMPLE_SIZE, found.holds), (TARGET, found.holds)),
        is_held=by_measure(trials, number, measure),
        effect="it would no longer idle" if found.holds else "it would idle",
    )


def _rate_sources(storage: Storage) -> tuple[str, ...]:
    fact = storage.node_read_low_bytes_per_s or storage.node_read_high_bytes_per_s
    return () if fact is None else (fact.source,)


def storage_meets(request: SizingRequest, server: str, kinds: Collection[str], most: int, trials: Trials) -> bool:
    """Whether so many of these servers, or fewer, meet a request with storage of some kinds, whatever it allows."""
    names = tuple(
        one.id for one in trials.catalog.storage.values() if one.kind in kinds and _is_to_be_had(one, request)
    )
    chosen = Platforms(servers=(server,), storage=names, gpus_per_server=request.platforms.gpus_per_server)
    free, most = request.model_copy(update={"platforms": chosen}), min(most, request.limits.servers or most)
    try:
        counting = search(free, trials.catalog, trials.calibration, most=most)
    except (InfeasibleError, RequestError):
        return False
    runs = np.flatnonzero(counting.candidates.any(axis=1)).tolist()
    return any(sure_rows(counting, index).size > 0 for index in runs)


def _is_to_be_had(storage: Storage, request: SizingRequest) -> bool:
    """Whether it is sold, comes inside a server, or is named by the request because it is there."""
    is_inside = storage.kind == "local" or storage.server is not None
    return storage.orderable or is_inside or storage.id in request.platforms.storage


def _simple_storage(result: SizingResult, trials: Trials) -> Draft:
    platform = result.design.platform
    server = platform.server
    most = result.design.n_servers

    def is_held(lever: Lever, value: float) -> bool | None:
        request, sized = trials.changed(lever, value), trials.sized(lever, value)
        if request is None:
            return None
        # Where the described kind of storage cannot do it at all, any number of servers will do.
        servers = MAX_SERVERS if sized is None else sized[0].n_servers
        return storage_meets(request, server.id, SIMPLE_KINDS, servers, trials)

    meets = (kind for kind in STORAGE_ORDER if storage_meets(result.request, server.id, (kind,), most, trials))
    kind = next(meets, platform.storage.kind)
    holds = kind in SIMPLE_KINDS
    values = {"kind": name(kind), "servers": f"{most} × {server.name}", "data": _all_data(trials)}
    if holds:
        sentence = "Simplest storage that is enough for {data} on {servers}: {kind}.".format(**values)
    else:
        sentence = (
            "Simplest storage that is enough for {data} on {servers}: {kind}. Neither drives nor one file server are."
        ).format(**values)
    # Another data set changes how long the jobs of a team last: each would take a simulation of their waits.
    keys = () if result.request.team is not None else (DATASET_SIZE, SAMPLE_SIZE, TARGET)
    largest = max(range(len(trials.models)), key=lambda number: trials.models[number].work.dataset_bytes)
    return Draft(
        key="simple-storage",
        workload="",
        title="Drives in the servers, or one file server, are enough",
        value=float(STORAGE_ORDER.index(kind)),
        threshold=float(len(SIMPLE_KINDS) - 1),
        at_most=True,
        unit="storage",
        holds=holds,
        sentence=sentence,
        reason=_room_reason(result, trials),
        sources=(HITACHI,),
        levers=levers(trials, [largest], *((key, holds) for key in keys)),
        is_held=is_held,
        effect="a storage of several nodes would be needed" if holds else "drives or one file server would be enough",
    )


def _all_data(trials: Trials) -> str:
    """Size of all data; workloads on the same set share it."""
    data = {model.work.dataset.name: model.work.dataset_bytes for model in trials.models}
    return si(sum(data.values()), "B")


def _room_reason(result: SizingResult, trials: Trials) -> str:
    """What drives and file servers hold and give, beside what the design reads."""
    server, said = result.design.platform.server, []
    for one in trials.catalog.storage.values():
        is_own = one.kind == "local" and one.id == server.local_storage
        if is_own or (one.kind == "nfs-server" and _is_to_be_had(one, result.request)):
            rate = one.node_read_low_bytes_per_s or one.node_read_high_bytes_per_s
            room = _room(one)
            values = {
                "storage": one.name,
                "room": "room not published" if room is None else si(room, "B"),
                "rate": "read rate not published" if rate is None else si(rate.value, "B/s"),
            }
            said.append("{storage}: {room}, {rate}".format(**values))
    reads = sum(storage_read_bytes_per_s(model) for model in trials.models)
    return (
        f"The design reads {si(reads, 'B/s')} after the first epoch. {'; '.join(said)}. A rate "
        "that nobody published counts as enough only where the memory of the servers holds the "
        "data."
    )


def _room(storage: Storage) -> float | None:
    """What a server's drives or a file server hold at most; None where no source says."""
    sizes = [float(usable_bytes(storage, option, 1)) for option in range(max(len(storage.capacity_options), 1))]
    return max((size for size in sizes if size > 0), default=None)


# --- host processors


def _decoding(model: WorkloadOnDesign) -> Measure:
    """What a server's processors prepare beside what its ports to the storage carry."""
    run = model.run
    rate = float(run.comp.decode.median[0]) / model.n_servers * model.work.sample_bytes
    return Measure(rate, float(run.cols.storage_nic_bytes_per_s[0]))


def _hosts_first(trials: Trials, number: int, model: WorkloadOnDesign) -> Draft:
    found = _decoding(model)
    work = model.work
    decoded = work.dnn.input_bytes.value
    values = {"prepares": si(found.value, "B/s"), "carries": si(found.threshold, "B/s")}
    if found.holds:
        sentence = (
            "A server's processors prepare {prepares}, its ports carry {carries}: a faster network gains nothing."
        ).format(**values)
    else:
        sentence = "A server's processors prepare {prepares}, more than the {carries} that its ports carry.".format(
            **values
        )
    cores = float(model.run.cols.cores[0])
    return Draft(
        key="hosts-first",
        workload=work.request.name,
        title="The host processors limit before the network",
        value=found.value,
        threshold=found.threshold,
        at_most=True,
        unit="B/s",
        holds=found.holds,
        sentence=sentence,
        reason=(
            f"{plain(cores)} cores at {significant(1e3 * model.run.comp.core_s_per_sample)} core-ms a "
            f"sample of {si(work.sample_bytes, 'B')}. Tensors decoded beforehand would spare them: "
            f"{si(decoded, 'B')} each, {significant(decoded / work.sample_bytes)} times the bytes."
        ),
        sources=(HITACHI,),
        levers=levers(trials, [number], (SAMPLE_SIZE, found.holds)),
        is_held=by_measure(trials, number, _decoding),
        effect="the network would limit first" if found.holds else "the processors would limit first",
    )
