"""What the capacity of each stage consists of, and the sources of the numbers in it."""

import math

from sizer.calibrate.calibration import host_task_of
from sizer.calibrate.fit.hosts import line_sources
from sizer.perf import pipeline
from sizer.physical.platform import Platform
from sizer.sizing.design.rate_models import design_rates
from sizer.sizing.reasons import (
    DecodeReason,
    ExchangeReason,
    GpuReason,
    HostLinkReason,
    NetworkPart,
    NetworkReason,
    StageReason,
    StorageReason,
)
from sizer.sizing.stages.sharding import looked_up_bytes, step_exchange_bytes
from sizer.sizing.stages.storage_rates import node_read_rate
from sizer.sizing.stages.workload_run import WorkloadRun
from sizer.workload.resolve import ResolvedWorkload

SourcedReason = tuple[StageReason, tuple[str, ...]]


def stage_reasons(
    work: ResolvedWorkload, platform: Platform, run: WorkloadRun, storage_nodes: int
) -> dict[str, SourcedReason]:
    """Reason and sources of every stage, by its key, for the first size of a run with its storage nodes."""
    link_sources = tuple(dict.fromkeys(port.source for port in platform.server.ports if port.use == "compute"))
    return {
        "storage": _storage(work, platform, run, storage_nodes),
        "network": (_network(work, platform, run), link_sources),
        "decode": _decode(work, run),
        "host_link": _host_link(work, platform, run),
        "gpu": (_gpu(work, platform, run), ()),
        "exchange": (_exchange(work, platform, run), link_sources),
    }


def _decode(work: ResolvedWorkload, run: WorkloadRun) -> SourcedReason:
    host = run.comp.host
    reason = DecodeReason(
        core_s_per_sample=run.comp.core_s_per_sample,
        n_cores=float(run.cols.cores[0]),
        loader=work.stack.loader,
        sample_format=work.sample_format,
        basis=work.format_basis,
        fixed_core_s=host.fixed_core_s,
        core_s_per_byte=host.core_s_per_byte,
    )
    return reason, line_sources(host_task_of(work.sample_format, work.stack))


def _storage(work: ResolvedWorkload, platform: Platform, run: WorkloadRun, nodes: int) -> SourcedReason:
    storage = platform.storage
    rate = node_read_rate(storage)
    cache = storage.cache_bytes_per_node
    cached = None if cache is None or not nodes else min(1.0, nodes * cache.value / work.dataset_bytes)
    sources = () if rate is None else rate.sources
    reason = StorageReason(
        is_local=storage.kind == "local",
        read_low_bytes_per_s=None if rate is None else rate.low.value,
        read_high_bytes_per_s=None if rate is None else rate.high.value,
        line_bytes_per_s=float(run.cols.node_line_bytes_per_s[0]),
        sample_bytes=work.sample_bytes,
        hit_fraction=float(run.comp.hit_fraction[0]),
        node_memory_fraction=cached,
    )
    return reason, tuple(dict.fromkeys((*sources, cache.source) if cache is not None else sources))


def _network(work: ResolvedWorkload, platform: Platform, run: WorkloadRun) -> NetworkReason:
    side, exchanged = run.side, float(run.comp.exchanged_bytes[0])
    front_end, gateway = float(side.front_end_bytes_per_s[0]), float(side.gateway_bytes_per_s[0])
    read = float(pipeline.read_demand_bytes_per_s(1.0, work.sample_bytes, run.comp.hit_fraction)[0])
    # Of a sample that is read from a cache, its share of the exchange is all that the servers' ports carry.
    moved = {NetworkPart.SERVERS: read + exchanged, NetworkPart.GATEWAY: read, NetworkPart.STORAGE: read}
    ends = (float(side.server_nic_bytes_per_s[0]), gateway, front_end)
    rates = {part: rate / moved[part] if moved[part] else math.inf for part, rate in zip(moved, ends, strict=True)}
    return NetworkReason(
        link=None if platform.storage.kind == "local" else platform.fabric,
        server_bytes_per_s=float(run.cols.storage_nic_bytes_per_s[0]),
        exchanged_bytes_per_sample=exchanged,
        gateway_bytes_per_s=None if platform.gateway is None else gateway,
        storage_bytes_per_s=front_end if math.isfinite(front_end) else None,
        decided_by=min(rates, key=lambda part: rates[part]),
    )


def _host_link(work: ResolvedWorkload, platform: Platform, run: WorkloadRun) -> SourcedReason:
    cols, server = run.cols, platform.server
    links = int(min(cols.gpus_per_server[0], cols.host_links[0]))
    size = pipeline.link_sample_bytes(work.dnn.input_bytes.value)
    rate = float(run.comp.host_link.median[0]) * size / (float(run.servers[0]) * links)
    sources = () if server.host_links is None else (server.host_links.source,)
    return HostLinkReason(links, rate, size), sources


def _gpu(work: ResolvedWorkload, platform: Platform, run: WorkloadRun) -> GpuReason:
    n_gpus = int(run.cols.gpus_per_server[0])
    has_layout = work.is_laid_out
    return GpuReason(platform.gpu.name, n_gpus, work.batch_per_gpu, work.stack.name, work.is_inference, has_layout)


def _exchange(work: ResolvedWorkload, platform: Platform, run: WorkloadRun) -> ExchangeReason:
    size = step_exchange_bytes(work)
    inside = platform.server.intra_link.value.family if platform.server.intra_link is not None else "PCIe"
    link = inside if run.servers[0] == 1 else None
    is_in_step = design_rates(work, platform.gpu.id).exchange_is_in_step
    has_tables = size is not None and looked_up_bytes(work) > 0
    return ExchangeReason(size, link, float(run.cols.exchange_bytes_per_s[0]), is_in_step, has_tables)
