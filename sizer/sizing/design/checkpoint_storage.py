"""What the storage of a design does for the checkpoints of a training, beside what it is sized for."""

from dataclasses import dataclass

from sizer.perf.availability.goodput import servers_of_eight, storage_level
from sizer.sizing.result import DesignAnswer
from sizer.sizing.stages.checkpoints import TRANSFER_S, CheckpointedJob
from sizer.sizing.stages.platform_columns import storage_nic_bytes_per_s
from sizer.sizing.stages.storage_rates import mount_rates, node_rates, node_write_rates, write_rate_is_unknown

# Of the state of a parameter, what every data parallel replica needs: its weight in BF16. [B]
_WEIGHT_BYTES = 2.0


@dataclass(frozen=True)
class CheckpointStorage:
    """Rates that checkpoints ask for, and what the storage delivers: low and high end. Rates in B/s, times in s."""

    written_bytes: float
    write_need_bytes_per_s: float
    write_allowed_s: float
    write_bytes_per_s: tuple[float, float]
    write_is_published: bool
    restart_bytes: float
    restart_need_bytes_per_s: float
    restart_allowed_s: float
    read_bytes_per_s: tuple[float, float]
    storm_bytes: float  # read at a restart if every replica reads its weights for itself
    level: str | None  # of NVIDIA's published storage levels; None: below all, not known, or drives of the servers

    @property
    def write_s(self) -> float:
        """Time of a checkpoint at the low end of the write rate."""
        return self.written_bytes / self.write_bytes_per_s[0]

    @property
    def restart_s(self) -> float:
        """Time of loading at the low end of the read rate."""
        return self.restart_bytes / self.read_bytes_per_s[0]

    @property
    def storm_s(self) -> float:
        """Time of loading if every replica reads its weights for itself, at the low end of the read rate."""
        return self.storm_bytes / self.read_bytes_per_s[0]


def checkpoint_storage(design: DesignAnswer, job: CheckpointedJob) -> CheckpointStorage:
    """Rates of a design's storage beside what the checkpoints of a workload need."""
    platform, kept, plan = design.platform, job.checkpoints, job.plan
    count = design.delivering_nodes
    low, high, line = (count * rate for rate in node_rates(platform))
    slow, fast = (count * rate for rate in node_write_rates(platform))
    slow_clients, fast_clients = _client_rates(design)
    read = min(low, line, slow_clients), min(high, line, fast_clients)
    write = min(slow, line, slow_clients), min(fast, line, fast_clients)
    weights = min(_WEIGHT_BYTES * job.parameters, kept.restart_bytes)
    storm = kept.restart_bytes + (job.replicas - 1) * weights
    loaded = storm if kept.replica_bytes else kept.restart_bytes
    nodes = float(servers_of_eight(design.n_servers, platform.gpus_per_server))
    is_known = not (platform.storage.kind == "local" or write_rate_is_unknown(platform.storage))
    return CheckpointStorage(
        written_bytes=kept.written_bytes,
        write_need_bytes_per_s=kept.written_bytes / plan.write_s,
        write_allowed_s=plan.write_s,
        write_bytes_per_s=write,
        write_is_published=platform.storage.node_write_bytes_per_s is not None,
        restart_bytes=loaded,
        restart_need_bytes_per_s=loaded / TRANSFER_S,
        restart_allowed_s=TRANSFER_S,
        read_bytes_per_s=read,
        storm_bytes=storm,
        level=storage_level(read[0], write[0], nodes) if is_known else None,
    )


def _client_rates(design: DesignAnswer) -> tuple[float, float]:
    """What the mounts of all hosts and their ports pass: the limits that reads of training have. [B/s], [B/s]"""
    platform = design.platform
    fixed, per_node, low, high = mount_rates(platform, design.plan.catalog)
    mounts = design.n_hosts * (fixed + per_node * design.storage_nodes)
    ports = design.n_servers * storage_nic_bytes_per_s(platform)
    return min(mounts * low, ports), min(mounts * high, ports)
