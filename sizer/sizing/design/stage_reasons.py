"""One sentence a stage: what its capacity is made of, and the sources of the numbers in it."""

from sizer.base.quantities import NARROW_SPACE, si, significant
from sizer.catalog.links import kind_name
from sizer.catalog.schema import Storage
from sizer.perf.exchange import gradient_bytes
from sizer.physical.platform import Platform
from sizer.sizing.stages.platform_columns import rate_is_unknown
from sizer.sizing.stages.workload_run import Run
from sizer.workload.resolve import ResolvedWorkload

Reason = tuple[str, tuple[str, ...]]

# Names of the links inside a server and of the input pipelines, as sentences say them.
_INTRA = {"nvlink1": "NVLink", "nvlink2": "NVLink", "nvswitch": "NVSwitch", "pcie3": "PCIe"}
_LOADERS = {
    "framework": "framework loader",
    "dali": "DALI, decoding on the GPU",
    "dali-cpu": "DALI on the CPU",
}
# Below this share of hits a cache is not worth a word.
_NOTABLE_HITS = 0.005


def explain(work: ResolvedWorkload, platform: Platform, run: Run, storage_nodes: int) -> dict[str, Reason]:
    """Sentence and sources of every stage, by its key, for the first size of a run with its storage nodes."""
    link_sources = tuple(dict.fromkeys(port.source for port in platform.server.ports if port.use == "compute"))
    return {
        "storage": _storage(work, platform, run, storage_nodes),
        "network": (_network(platform, run), link_sources),
        "decode": (_decode(work, run), ()),
        "gpu": (_gpu(work, platform, run), ()),
        "exchange": (_exchange(work, platform, run), link_sources),
    }


def _storage(work: ResolvedWorkload, platform: Platform, run: Run, nodes: int) -> Reason:
    storage = platform.storage
    low, high = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    facts = [fact for fact in (low, high, storage.cache_bytes_per_node) if fact is not None]
    text = f"{_storage_rate(storage, run)}; {_reads(work, run)}{_storage_cache(work, platform, nodes)}"
    return text, tuple(dict.fromkeys(fact.source for fact in facts))


def _storage_rate(storage: Storage, run: Run) -> str:
    """Rate of one node, or of a server's own drives."""
    low, high = storage.node_read_low_bytes_per_s, storage.node_read_high_bytes_per_s
    is_local = storage.kind == "local"
    if rate_is_unknown(storage):
        if is_local:  # drives have no ports that could bound them
            return "no source gives a read rate, so the drives set no limit here; measure them"
        line = si(float(run.cols.node_line_bytes_per_s[0]), "B/s")
        return f"no source gives a read rate; the line rate of its ports, {line} a node, is the upper bound"
    if low is not None and high is not None and low.value != high.value:
        least, most = si(low.value, "B/s"), si(high.value, "B/s")
        if is_local:
            return f"{least} (lower) to {most} (upper) a server"
        return f"{least} (lower) to {most} (upper) a node"
    rate = si(float(run.cols.node_low_bytes_per_s[0]), "B/s")
    return f"{rate} a server" if is_local else f"{rate} a node"


def _storage_cache(work: ResolvedWorkload, platform: Platform, nodes: int) -> str:
    """The second cache level: memory of the storage nodes. It spares their drives; no source gives a rate from it."""
    cache = platform.storage.cache_bytes_per_node
    if cache is None or nodes == 0:
        return ""
    share = min(1.0, nodes * cache.value / work.dataset_bytes)
    return (
        "; the nodes' own memory holds {share} of the data, for which no faster rate is published, so none is counted"
    ).format(share=f"{significant(100 * share, 2)}{NARROW_SPACE}%")


def _reads(work: ResolvedWorkload, run: Run) -> str:
    hits = float(run.comp.hit_fraction[0])
    size = si(work.sample_bytes, "B")
    if hits >= 1:
        return "after the first epoch every read ends in the servers' memory"
    if hits > _NOTABLE_HITS:
        share = f"{significant(100 * hits, 2)}{NARROW_SPACE}%"
        return f"{size} a sample, {share} of them from the servers' memory"
    return f"{size} a sample, all from storage"


def _network(platform: Platform, run: Run) -> str:
    if platform.storage.kind == "local":
        return "the drives are in the servers; only gradients cross the network"
    into = si(float(run.cols.storage_nic_bytes_per_s[0]), "B/s")
    text = f"{into} into each server over {kind_name(platform.fabric)}"
    exchanged = float(run.comp.exchanged_bytes[0])
    if exchanged > 0:
        text += f", shared with {si(exchanged, 'B')} of gradients a sample"
    if platform.gateway is not None:
        text += f"; gateway uplinks carry {si(float(run.side.gateway_bytes_per_s[0]), 'B/s')}"
    return text


def _decode(work: ResolvedWorkload, run: Run) -> str:
    core_s = run.comp.core_s_per_sample
    if core_s <= 0:
        return "decoded tensors need no decoding"
    loader = _LOADERS.get(work.stack.loader)
    return "{time} core-milliseconds a sample on {cores} cores a server ({loader})".format(
        time=significant(1e3 * core_s, 2),
        cores=f"{float(run.cols.cores[0]):.0f}",
        loader=loader if loader is not None else "loader of the stack",
    )


def _gpu(work: ResolvedWorkload, platform: Platform, run: Run) -> str:
    text = "{batch} samples a step on each {gpu}, {n} a server, fitted to published rates of {stack}".format(
        batch=work.batch_per_gpu,
        gpu=platform.gpu.name,
        n=f"{float(run.cols.gpus_per_server[0]):.0f}",
        stack=work.stack.name,
    )
    return text + ("; fed over the links between host and GPUs" if work.is_inference else "")


def _exchange(work: ResolvedWorkload, platform: Platform, run: Run) -> str:
    if work.is_inference:
        return "validation exchanges no gradients"
    size = si(float(gradient_bytes(work.dnn.parameters.value, work.request.precision)), "B")
    if run.servers[0] == 1:
        link = platform.server.intra_link
        name = _INTRA[link.value if link else "pcie3"]
        return f"{size} of gradients a step stay inside the server ({name})"
    rate = si(float(run.cols.exchange_bytes_per_s[0]), "B/s")
    return f"{size} of gradients a step over {rate} a server"
