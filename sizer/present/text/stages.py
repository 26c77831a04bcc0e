"""What the capacity of a stage consists of, and what published measurements ran on, in words."""

from sizer.base.quantities import NARROW_SPACE, by_count, si, significant
from sizer.catalog.sample_formats import FORMAT_NAMES, HOST_STEPS, is_compressed_image
from sizer.drawings.datapath import is_limit
from sizer.present import words
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
from sizer.sizing.result import STAGES, NearbyMeasurement, Stage, WorkloadAnswer
from sizer.workload.sample_format import FormatBasis

# Input pipelines, inside a sentence.
_LOADERS = {"framework": "framework loader", "dali": "DALI, decoding on the GPU", "dali-cpu": "DALI on the CPU"}
# Smaller shares of cache hits are not mentioned.
_NOTABLE_HITS = 0.005
_BASES = {
    FormatBasis.STATED: "stated",
    FormatBasis.DATA_SET: "by the data set",
    FormatBasis.NETWORK: "by the network's input",
    FormatBasis.SIZE: "assumed from the size of a sample",
}
_CORE_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def stage_text(reason: StageReason) -> str:
    """What a capacity consists of, as a phrase without a full stop."""
    match reason:
        case StorageReason():
            return f"{_storage_rate(reason)}; {_reads(reason)}{_node_memory(reason)}"
        case NetworkReason():
            return _network(reason)
        case DecodeReason():
            return _decode(reason)
        case HostLinkReason():
            return (
                f"{reason.n_links} x16 links per server at {si(reason.link_bytes_per_s, 'B/s')}; "
                f"{si(reason.sample_bytes, 'B')} per sample as the GPU takes it"
            )
        case GpuReason(has_layout=True):
            return f"the fastest layout on {reason.n_gpus} × {reason.gpu} per server, fitted to published rates"
        case GpuReason():
            return (
                f"{by_count(reason.batch_per_gpu, 'one sample', f'{reason.batch_per_gpu} samples')} a step on each "
                f"{reason.gpu}, {reason.n_gpus} GPUs per server, fitted to published rates of {reason.stack}"
            )
        case ExchangeReason():
            return _exchange(reason)


def _storage_rate(reason: StorageReason) -> str:
    """Rate of one node, or of a server's own drives."""
    low, high = reason.read_low_bytes_per_s, reason.read_high_bytes_per_s
    per = "per server" if reason.is_local else "per node"
    if low is None or high is None:
        if reason.is_local:  # drives have no ports that could bound them
            return "no read rate is known to us, so the drives set no limit here; measure them"
        line = si(reason.line_bytes_per_s, "B/s")
        return f"no read rate is known to us; the line rate of the ports, {line} {per}, is the upper bound"
    if low != high:
        return f"{si(low, 'B/s')} (lower) to {si(high, 'B/s')} (upper) {per}"
    return f"{si(low, 'B/s')} {per}"


def _reads(reason: StorageReason) -> str:
    size = si(reason.sample_bytes, "B")
    if reason.hit_fraction >= 1:
        return "after the first epoch the servers read only from memory"
    if reason.hit_fraction > _NOTABLE_HITS:
        return f"{size} per sample, {_percent(reason.hit_fraction)} of the reads from the servers' memory"
    return f"{size} per sample, all from storage"


def _node_memory(reason: StorageReason) -> str:
    """The second cache level: memory of the storage nodes. It spares their drives; no source gives a rate from it."""
    if reason.node_memory_fraction is None:
        return ""
    share = _percent(reason.node_memory_fraction)
    return f"; the memory of the nodes holds {share} of the data, but no higher rate is published and none is assumed"


_DECIDES = {
    NetworkPart.SERVERS: "the links of the servers decide",
    NetworkPart.GATEWAY: "the gateway decides",
    NetworkPart.STORAGE: "the ports of the storage decide",
}


def _network(reason: NetworkReason) -> str:
    if reason.link is None:
        return "the drives are in the servers; only gradients cross the network"
    text = f"{si(reason.server_bytes_per_s, 'B/s')} into each server over {reason.link.name}"
    if reason.exchanged_bytes_per_sample > 0:
        text += f", shared with {si(reason.exchanged_bytes_per_sample, 'B')} of gradients per sample"
    if reason.gateway_bytes_per_s is not None:
        text += f"; gateway uplinks carry {si(reason.gateway_bytes_per_s, 'B/s')}"
    if reason.storage_bytes_per_s is not None:
        text += f"; the ports of the storage carry {si(reason.storage_bytes_per_s, 'B/s')}"
    return f"{text}; {_DECIDES[reason.decided_by]}"


def _decode(reason: DecodeReason) -> str:
    steps, time = HOST_STEPS[reason.sample_format], core_time(reason.core_s_per_sample)
    line = f"{core_time(reason.fixed_core_s)} + {core_time(1e6 * reason.core_s_per_byte)} per MB"
    text = f"{FORMAT_NAMES[reason.sample_format]} ({_BASES[reason.basis]}): {steps}; {time} per sample ({line}) on "
    text += f"{reason.n_cores:.0f} cores per server"
    if is_compressed_image(reason.sample_format):
        text += f" ({_LOADERS.get(reason.loader, 'loader assumed')})"
    return text


def core_time(core_s: float) -> str:
    """Work of one core: '3.2 core-ms', '170 core-µs', '1.4 core-s'."""
    rounded = float(f"{core_s:.1e}")  # before the unit is chosen: 999.6 µs are 1 ms
    scale, unit = next((_core_time for _core_time in _CORE_TIMES if rounded >= _core_time[0]), _CORE_TIMES[-1])
    return f"{significant(core_s / scale, 2)}{NARROW_SPACE}core-{unit}"


def _exchange(reason: ExchangeReason) -> str:
    if reason.is_in_step:
        return "traffic between GPUs is part of their step"
    if reason.gradient_bytes is None:
        return "inference exchanges no gradients"
    what = "gradients and embedding vectors" if reason.has_tables else "gradients"
    size = f"{si(reason.gradient_bytes, 'B')} of {what} per step"
    if reason.intra_link is not None:
        return f"{size} stay inside the server ({reason.intra_link})"
    return f"{size} over {si(reason.server_bytes_per_s, 'B/s')} per server"


def _percent(fraction: float) -> str:
    return f"{significant(100 * fraction, 2)}{NARROW_SPACE}%"


def measurement_text(run: NearbyMeasurement) -> str:
    """What a published measurement ran on: '72 × Tesla V100 SXM2 16 GB, DGX-1, TensorFlow NGC 18.09'."""
    server = f", {run.server}" if run.server else ""
    return f"{run.n_gpus} × {run.gpu}{server}, {run.software or 'stack not stated'}"


def stage_finding(answer: WorkloadAnswer) -> str:
    """Title of the stage chart: the bottleneck, and the headroom of the next one."""
    stage, text = STAGES[answer.bottleneck], si(float(answer.throughput.value), words.sample_unit(answer.dnn))
    following = next_bottleneck(answer)
    if following is None:
        return f"{stage} is the bottleneck at {text}"
    ratio = float(following.capacity.value) / float(answer.throughput.value)
    return f"{stage} is the bottleneck at {text}; {words.stage(following.key, inside=True)} has {words.headroom(ratio)}"


def next_bottleneck(answer: WorkloadAnswer) -> Stage | None:
    """Stage that would limit next; None where no other stage can."""
    following = next((stage for stage in answer.stages if stage.key == answer.next_bottleneck), None)
    if following is None or following.key == answer.bottleneck or not is_limit(following, answer):
        return None
    return following
