"""Spare servers: how many a job needs so that it hardly waits for repairs, and how many the design has."""

import math
from dataclasses import dataclass

from sizer.base.estimate import normal_cdf
from sizer.perf.availability import goodput
from sizer.physical.networks.ports import nodes_of
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages import platform_columns
from sizer.sizing.stages.checkpoints import CheckpointedJob

# Time of a repair. An example: it depends on the contract.
USUAL_REPAIR_S = 86_400.0
# Share of the time in which no more servers are in repair than are spare.
COVERED_SHARE = 0.99


@dataclass(frozen=True)
class SpareServers:
    """Servers that stand in for failed ones. Goodput counts a restart on one that is free."""

    needed: int  # for ``COVERED_SHARE`` of the time, with repairs of ``USUAL_REPAIR_S``
    available: int  # servers of the design that the job does not use
    gpus_each: int | None = None  # that count as one spare of a rack of many hosts; None: whole servers are spare

    @property
    def missing(self) -> int:
        """Spares that the design lacks."""
        return max(self.needed - self.available, 0)


def spare_servers(design: DesignAnswer, answer: WorkloadAnswer) -> SpareServers | None:
    """Spares that the job of a workload needs, and those of the design; None where no interruptions are counted.

    The published rate of interruptions is that of servers of eight GPUs; a design of other servers needs as many GPUs
    in reserve.
    """
    job = answer.job
    if job is None:
        return None
    servers = max(1, round(job.plan.gpus / goodput.GPUS_OF_THE_RATE))
    stated = job.checkpoints.interruptions
    rate = goodput.INTERRUPTIONS[0] if stated is None else stated
    needed = int(goodput.spares_that_suffice(servers, USUAL_REPAIR_S, COVERED_SHARE, rate))
    per_server = design.platform.gpus_per_server
    available = max(design.n_servers - -(-job.plan.gpus // per_server), 0)
    if nodes_of(design.platform.server) > 1:
        return SpareServers(needed, available, int(goodput.GPUS_OF_THE_RATE))
    if per_server > goodput.GPUS_OF_THE_RATE:
        needed = math.ceil(needed * goodput.GPUS_OF_THE_RATE / per_server)
    return SpareServers(needed, available)


@dataclass(frozen=True)
class WaitForRepairs:
    """A training that waits for the repair of each failed server, as it has no spare one."""

    failures: float  # to expect in the run
    total_s: float  # the run with repairs of ``USUAL_REPAIR_S``
    probability: float | None  # that it takes no longer than the target; None: the target is no time


def wait_for_repairs(answer: WorkloadAnswer) -> WaitForRepairs | None:
    """What the run of a workload takes without spare servers; None where its length or its failures are not counted.

    Failures and their repairs grow in proportion to the run, so the spread of its time stays the same. What published
    whole trainings lasted beyond their steps holds failures already: the longer of both counts, not their sum.
    """
    job, time = answer.job, answer.time
    if job is None or time is None or not job.counts:
        return None
    run_s = float(time.total_s.value)
    steps_s = run_s if time.whole_run is None else run_s / float(time.whole_run.value)
    failures = steps_s / job.plan.between_s[0]
    total_s = max(run_s, steps_s + failures * USUAL_REPAIR_S)
    target_s, spread = answer.workload.target.time_to_train_s, float(time.total_s.log_sd)
    chance = None
    if target_s is not None and spread > 0 and answer.probability is not None:
        chance = float(normal_cdf(math.log(target_s / total_s) / spread))
    return WaitForRepairs(failures, total_s, chance)


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


def checkpoint_storage(design: DesignAnswer, job: CheckpointedJob) -> CheckpointStorage:
    """Rates of a design's storage beside what the checkpoints of a workload need."""
    platform, kept, plan = design.platform, job.checkpoints, job.plan
    count = design.delivering_nodes
    low, high, line = (count * rate for rate in platform_columns.node_rates(platform))
    slow, fast = (count * rate for rate in platform_columns.node_write_rates(platform))
    # The mounts of all hosts and their ports are limits, as they are for the reads of training.
    fixed, per_node, low_mount, high_mount = platform_columns.mount_rates(platform, design.plan.catalog)
    mounts = design.n_hosts * (fixed + per_node * design.storage_nodes)
    ports = design.n_servers * platform_columns.storage_nic_bytes_per_s(platform)
    slow_clients, fast_clients = (min(mounts * rate, ports) for rate in (low_mount, high_mount))
    read = min(low, line, slow_clients), min(high, line, fast_clients)
    write = min(slow, line, slow_clients), min(fast, line, fast_clients)
    weights = min(_WEIGHT_BYTES * job.parameters, kept.restart_bytes)
    storm = kept.restart_bytes + (job.replicas - 1) * weights
    nodes = float(goodput.servers_of_eight(design.n_servers, platform.gpus_per_server))
    published = platform.storage.node_write_bytes_per_s
    is_known = not (platform.storage.kind == "local" or platform_columns.write_rate_is_unknown(platform.storage))
    return CheckpointStorage(
        written_bytes=kept.written_bytes,
        write_need_bytes_per_s=kept.written_bytes / plan.write_s,
        write_allowed_s=plan.write_s,
        write_bytes_per_s=write,
        write_is_published=published is not None and published.basis != "assumed",
        restart_bytes=job.loaded_bytes,
        restart_need_bytes_per_s=job.loaded_bytes / job.load_s,
        restart_allowed_s=job.load_s,
        read_bytes_per_s=read,
        storm_bytes=storm,
        level=goodput.storage_level(read[0], write[0], nodes) if is_known else None,
    )
