"""Claims about where the data are stored and how they reach the servers."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Storage
from sizer.physical.capacity import node_limits, usable_bytes
from sizer.physical.platform import OS_RESERVE_BYTES
from sizer.questions.verdict.claim import (
    HITACHI,
    Claim,
    HostFacts,
    LinkFacts,
    MemoryFacts,
    SharedStorageFacts,
    SimpleStorageFacts,
    StorageOption,
    Threshold,
    claim_of_threshold,
)
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, rows_of_known_rate
from sizer.sizing.constraints.stored_data import lacks_shared_storage
from sizer.sizing.design.decisions import (
    consumption,
    first_read_s,
    shared_storage,
    smallest_link,
    smallest_system_bytes_per_s,
    storage_read_bytes_per_s,
    usual_links,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.recommend import search
from sizer.sizing.result import SizingResult, WorkloadAnswer
from sizer.sizing.stages.platform_columns import cache_bytes, node_read_rate
from sizer.workload.request import Platforms, SizingRequest

# Shared storage whose reads take less than this share of the rate of its smallest system is bought for capacity.
LOW_UTILIZATION = 0.10
# Storage that runs without a system of several nodes (hitachi-dl-2019, storage classes).
SIMPLE_KINDS = ("local", "nfs-server")


def data_claims(evaluated: EvaluatedDesign, models: Sequence[WorkloadOnDesign]) -> Iterator[Claim]:
    """Claims in the order of the guide; only those that apply to the design."""
    yield _simple_storage(evaluated, models)
    for model, answer in zip(models, evaluated.result.design.workloads, strict=True):
        if answer.workload.cache != "none" and cache_bytes(model.platform) > 0:
            yield _fits_memory(model, answer)
        is_remote = model.platform.attachment != "local"
        if is_remote:
            yield _usual_link(model)
        yield from _storage_idles(model)
        # Text and tensors made beforehand cost the processors next to nothing.
        if is_remote and model.work.sample_format is SampleFormat.JPEG and math.isfinite(_prepared(model).value):
            yield _hosts_first(model)


# --- data in memory


def _data_in_memory(model: WorkloadOnDesign) -> Threshold:
    """The data that one server reads, and the memory that it has for them."""
    sharded = model.work.request.access == "sharded"
    data_bytes = model.work.dataset_bytes / (model.n_servers if sharded else 1)
    return Threshold(data_bytes, cache_bytes(model.platform))


def _fits_memory(model: WorkloadOnDesign, answer: WorkloadAnswer) -> Claim:
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
    return claim_of_threshold("fits-memory", "B", model, fit, facts, (HITACHI, "dell-isilon-dgx1-blog-2018"))


# --- links of the customer's network


def _usual_link(model: WorkloadOnDesign) -> Claim:
    server = consumption(model)
    kind = smallest_link(server.later_bytes_per_s, model.catalog) or usual_links(model.catalog)[-1]

    read = Threshold(server.later_bytes_per_s, kind.bytes_per_s)
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
    return claim_of_threshold("usual-link", "B/s", model, read, facts, [HITACHI])


# --- shared storage


def _storage_idles(model: WorkloadOnDesign) -> Iterator[Claim]:
    storage = shared_storage(model.platform.storage, model.catalog)
    if storage is None:
        return
    delivered, read = smallest_system_bytes_per_s(storage), storage_read_bytes_per_s(model)
    used = Threshold(read / delivered, LOW_UTILIZATION)
    facts = SharedStorageFacts(
        storage=storage.name,
        n_nodes=node_limits(storage)[0],
        utilization_fraction=used.value,
        read_bytes_per_s=read,
        delivered_bytes_per_s=delivered,
    )
    rate = node_read_rate(storage)
    sources = () if rate is None else (rate.low.source,)
    yield claim_of_threshold("storage-idles", "share", model, used, facts, sources)


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


def _simple_storage(evaluated: EvaluatedDesign, models: Sequence[WorkloadOnDesign]) -> Claim:
    result, design = evaluated.result, evaluated.result.design
    # The trial requests below name their storage; whether local drives are asked for is what the real one says.
    works = [model.work for model in models]
    apart = lacks_shared_storage(works, result.request, evaluated.catalog, True, design.n_hosts)
    order = [kind for kind in STORAGE_ORDER if not (apart and kind == "local")]
    meets = (kind for kind in order if _storage_meets(evaluated, kind))
    kind = next(meets, design.platform.storage.kind)
    holds = kind in SIMPLE_KINDS
    facts = SimpleStorageFacts(
        kind=kind,
        server=design.platform.server.name,
        n_servers=design.n_servers,
        data_bytes=sum({model.work.dataset.name: model.work.dataset_bytes for model in models}.values()),
        read_bytes_per_s=sum(storage_read_bytes_per_s(model) for model in models),
        options=tuple(_storage_options(result, evaluated.catalog)),
    )
    return Claim(
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


def _storage_options(result: SizingResult, catalog: Catalog) -> Iterator[StorageOption]:
    """What drives and file servers hold and deliver."""
    server = result.design.platform.server
    for storage in catalog.storage.values():
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


def _hosts_first(model: WorkloadOnDesign) -> Claim:
    prepared = _prepared(model)
    facts = HostFacts(
        prepared_bytes_per_s=prepared.value,
        network_bytes_per_s=prepared.limit,
        cores=float(model.run.cols.cores[0]),
        core_s_per_sample=model.run.comp.core_s_per_sample,
        sample_bytes=model.work.sample_bytes,
        decoded_bytes=model.work.dnn.input_bytes.value,
    )
    return claim_of_threshold("hosts-first", "B/s", model, prepared, facts, [HITACHI])
