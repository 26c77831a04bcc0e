"""Claims about where the data are stored and how they reach the servers."""

import math
from collections.abc import Collection, Iterator

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Storage
from sizer.physical.capacity import node_limits, usable_bytes
from sizer.physical.host_memory import OS_RESERVE_BYTES
from sizer.questions.verdict.claim import (
    HITACHI,
    Claim,
    ClaimDraft,
    HostFacts,
    LinkFacts,
    MemoryFacts,
    SharedStorageFacts,
    SimpleStorageFacts,
    StorageOption,
    Threshold,
    draft_of_threshold,
    inputs_of,
)
from sizer.questions.verdict.reversal import RequestInput, ResizedRequests
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, rows_of_known_rate
from sizer.questions.what_if.varied_input import DATASET_SIZE, SAMPLE_SIZE, TARGET
from sizer.sizing.constraints.stored_data import lacks_shared_storage
from sizer.sizing.design.cluster_need import (
    consumption,
    first_read_s,
    shared_storage,
    smallest_link,
    smallest_system_bytes_per_s,
    storage_read_bytes_per_s,
    usual_links,
)
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.recommend import search
from sizer.sizing.result import SizingResult, WorkloadAnswer
from sizer.sizing.search.space import MAX_SERVERS
from sizer.sizing.stages.platform_columns import cache_bytes
from sizer.sizing.stages.storage_rates import node_read_rate
from sizer.workload.request import Platforms, SizingRequest

# Shared storage whose reads take less than this share of the rate of its smallest system is bought for capacity.
LOW_UTILIZATION = 0.10
# Storage that runs without a system of several nodes (hitachi-dl-2019, storage classes).
SIMPLE_KINDS = ("local", "nfs-server")


def data_claims(result: SizingResult, resized: ResizedRequests) -> Iterator[ClaimDraft]:
    """Claims in the order of the guide; only those that apply to the design."""
    yield _simple_storage(result, resized)
    for index, answer in enumerate(result.design.workloads):
        model = resized.models[index]
        if answer.workload.cache != "none" and cache_bytes(model.platform) > 0:
            yield _fits_memory(resized, index, model, answer)
        is_remote = model.platform.attachment != "local"
        if is_remote:
            yield _usual_link(resized, index, model)
        yield from _storage_idles(resized, index, model)
        # Text and tensors made beforehand cost the processors next to nothing.
        if is_remote and model.work.sample_format is SampleFormat.JPEG and math.isfinite(_prepared(model).value):
            yield _hosts_first(resized, index, model)


# --- data in memory


def _data_in_memory(model: WorkloadOnDesign) -> Threshold:
    """The data that one server reads, and the memory that it has for them."""
    sharded = model.work.request.access == "sharded"
    data_bytes = model.work.dataset_bytes / (model.n_servers if sharded else 1)
    return Threshold(data_bytes, cache_bytes(model.platform))


def _fits_memory(resized: ResizedRequests, index: int, model: WorkloadOnDesign, answer: WorkloadAnswer) -> ClaimDraft:
    fit, platform = _data_in_memory(model), model.platform
    memory = platform.server.memory_bytes
    assert memory is not None  # asked only where there is room in it
    slower, faster = usual_links(model.catalog)
    facts = MemoryFacts(
        data_bytes=fit.value,
        cache_bytes=fit.limit,
        server_bytes=memory.value,
        gpu_copy_bytes=platform.gpus_per_server * platform.gpu.memory_bytes.value,
        system_bytes=OS_RESERVE_BYTES,
        first_read_10gbe_s=first_read_s(model.work.dataset_bytes, slower),
        first_read_25gbe_s=first_read_s(model.work.dataset_bytes, faster),
        time_to_train_s=None if answer.time is None else float(answer.time.total_s.value),
    )
    sources = (HITACHI, "dell-isilon-dgx1-blog-2018")
    moved = (DATASET_SIZE, fit.holds)
    return draft_of_threshold("fits-memory", "B", resized, index, _data_in_memory, facts, sources, moved)


# --- links of the customer's network


def _usual_link(resized: ResizedRequests, index: int, model: WorkloadOnDesign) -> ClaimDraft:
    server = consumption(model)
    kind = smallest_link(server.later_bytes_per_s, model.catalog) or usual_links(model.catalog)[-1]

    def reads(other: WorkloadOnDesign) -> Threshold:
        return Threshold(consumption(other).later_bytes_per_s, kind.bytes_per_s)

    read = reads(model)
    inputs = [(SAMPLE_SIZE, read.holds)]
    if read.holds and model.work.request.cache != "none":
        inputs.append((DATASET_SIZE, True))
    facts = LinkFacts(
        kind=kind,
        dnn=model.work.dnn,
        read_bytes_per_s=read.value,
        link_bytes_per_s=read.limit,
        samples_per_s=server.samples_per_s,
        sample_bytes=model.work.sample_bytes,
        first_epoch_bytes_per_s=server.first_bytes_per_s,
        hit_fraction=float(model.run.comp.hit_fraction[0]),
        first_epoch_s=first_read_s(model.work.dataset_bytes, kind) / model.n_servers,
    )
    return draft_of_threshold("usual-link", "B/s", resized, index, reads, facts, [HITACHI], *inputs)


# --- shared storage


def _storage_idles(resized: ResizedRequests, index: int, model: WorkloadOnDesign) -> Iterator[ClaimDraft]:
    storage = shared_storage(model.platform.storage, resized.catalog)
    if storage is None:
        return
    delivered = smallest_system_bytes_per_s(storage)

    def utilization(other: WorkloadOnDesign) -> Threshold:
        return Threshold(storage_read_bytes_per_s(other) / delivered, LOW_UTILIZATION)

    used = utilization(model)
    facts = SharedStorageFacts(
        storage=storage.name,
        n_nodes=node_limits(storage)[0],
        utilization_fraction=used.value,
        read_bytes_per_s=storage_read_bytes_per_s(model),
        delivered_bytes_per_s=delivered,
    )
    rate = node_read_rate(storage)
    sources, inputs = () if rate is None else (rate.low.source,), ((SAMPLE_SIZE, used.holds), (TARGET, used.holds))
    yield draft_of_threshold("storage-idles", "share", resized, index, utilization, facts, sources, *inputs)


def storage_meets(
    request: SizingRequest, server: str, kinds: Collection[str], most: int, resized: ResizedRequests
) -> bool:
    """Whether so many of these servers, or fewer, meet a request with storage of some kinds, whatever it allows."""
    names = tuple(
        storage.id
        for storage in resized.catalog.storage.values()
        if storage.kind in kinds and _is_available(storage, request)
    )
    chosen = Platforms(servers=(server,), storage=names, gpus_per_server=request.platforms.gpus_per_server)
    free, most = request.model_copy(update={"platforms": chosen}), min(most, request.limits.servers or most)
    try:
        counts = search(free, resized.catalog, resized.calibration, most=most)
    except (InfeasibleError, RequestError):
        return False
    runs = np.flatnonzero(counts.candidates.any(axis=1)).tolist()
    return any(rows_of_known_rate(counts, index).size > 0 for index in runs)


def _is_available(storage: Storage, request: SizingRequest) -> bool:
    """Whether it is sold, comes inside a server, or is named by the request because it exists."""
    is_inside = storage.kind == "local" or storage.server is not None
    return storage.orderable or is_inside or storage.id in request.platforms.storage


def _simple_storage(result: SizingResult, resized: ResizedRequests) -> ClaimDraft:
    platform = result.design.platform
    server = platform.server
    most = result.design.n_servers

    def holds_at(moved: RequestInput, value: float) -> bool | None:
        request, models = resized.request_at(moved, value), resized.models_at(moved, value)
        if request is None:
            return None
        # Where the described kind of storage meets the request with no number of servers, any number will do.
        servers = MAX_SERVERS if models is None else models[0].n_servers
        return storage_meets(request, server.id, simple, servers, resized)

    # The trial requests below name their storage; whether local drives are asked for is what the real one says.
    works, n_hosts = [model.work for model in resized.models], result.design.n_hosts
    apart = lacks_shared_storage(works, result.request, resized.catalog, True, n_hosts)
    ruled_out = {"local"} if apart else set()
    simple = [kind for kind in SIMPLE_KINDS if kind not in ruled_out]
    order = [kind for kind in STORAGE_ORDER if kind not in ruled_out]
    meets = (kind for kind in order if storage_meets(result.request, server.id, (kind,), most, resized))
    kind = next(meets, platform.storage.kind)
    holds = kind in SIMPLE_KINDS
    facts = SimpleStorageFacts(
        kind=kind,
        server=server.name,
        n_servers=most,
        data_bytes=sum({model.work.dataset.name: model.work.dataset_bytes for model in resized.models}.values()),
        read_bytes_per_s=sum(storage_read_bytes_per_s(model) for model in resized.models),
        options=tuple(_storage_options(result, resized)),
    )
    claim = Claim(
        key="simple-storage",
        workload="",
        holds=holds,
        value=float(STORAGE_ORDER.index(kind)),
        threshold=float(len(SIMPLE_KINDS) - 1),
        at_most=True,
        unit="storage",
        facts=facts,
        sources=(HITACHI,),
    )
    # Another data set changes how long the jobs of a team last: each would take a simulation of their waits.
    kinds = () if result.request.team is not None else (DATASET_SIZE, SAMPLE_SIZE, TARGET)
    largest = max(range(len(resized.models)), key=lambda index: resized.models[index].work.dataset_bytes)
    return ClaimDraft(claim, inputs_of(resized, [largest], *((one, holds) for one in kinds)), holds_at)


def _storage_options(result: SizingResult, resized: ResizedRequests) -> Iterator[StorageOption]:
    """What drives and file servers hold and deliver."""
    server = result.design.platform.server
    for storage in resized.catalog.storage.values():
        is_own = storage.kind == "local" and storage.id == server.local_storage
        if is_own or (storage.kind == "nfs-server" and _is_available(storage, result.request)):
            rate = node_read_rate(storage)
            sizes = [float(usable_bytes(storage, option, 1)) for option in range(max(len(storage.capacity_options), 1))]
            yield StorageOption(
                storage.name,
                max((size for size in sizes if size > 0), default=None),
                None if rate is None else rate.low.value,
            )


# --- host processors


def _prepared(model: WorkloadOnDesign) -> Threshold:
    """What a server's processors prepare, and its share of what the network stage carries while all data are read."""
    run, server_bytes = model.run, model.work.sample_bytes / model.n_servers
    prepared, carried = run.comp.decode.median[0], run.cold.network.median[0]
    return Threshold(float(prepared) * server_bytes, float(carried) * server_bytes)


def _hosts_first(resized: ResizedRequests, index: int, model: WorkloadOnDesign) -> ClaimDraft:
    prepared = _prepared(model)
    facts = HostFacts(
        prepared_bytes_per_s=prepared.value,
        network_bytes_per_s=prepared.limit,
        cores=float(model.run.cols.cores[0]),
        core_s_per_sample=model.run.comp.core_s_per_sample,
        sample_bytes=model.work.sample_bytes,
        decoded_bytes=model.work.dnn.input_bytes.value,
    )
    moved = (SAMPLE_SIZE, prepared.holds)
    return draft_of_threshold("hosts-first", "B/s", resized, index, _prepared, facts, [HITACHI], moved)
