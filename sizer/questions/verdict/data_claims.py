"""Claims about where the data are stored and how they reach the servers."""

import math
from collections.abc import Iterator

import numpy as np

from sizer.base.errors import InfeasibleError, RequestError
from sizer.base.quantities import duration, grouped, plain, si, significant
from sizer.base.units import GIB
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Storage
from sizer.physical.capacity import node_limits, usable_bytes
from sizer.physical.platform import OS_RESERVE_BYTES
from sizer.present.words import name, plural, sample_unit
from sizer.questions.verdict.claim import HITACHI, Claim, claim_of_threshold, share_text
from sizer.questions.verdict.simplest_design import STORAGE_ORDER, rows_of_known_rate
from sizer.sizing.constraints.stored_data import lacks_shared_storage
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.design.verdict import (
    consumption,
    first_read_s,
    shared_storage,
    smallest_link,
    smallest_system_bytes_per_s,
    storage_read_bytes_per_s,
    usual_links,
)
from sizer.sizing.recommend import search
from sizer.sizing.result import SizingResult, WorkloadAnswer
from sizer.sizing.stages.platform_columns import cache_bytes, node_read_rate
from sizer.workload.request import Platforms, SizingRequest

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
            found += " Neither local drives nor one file server are enough."
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
