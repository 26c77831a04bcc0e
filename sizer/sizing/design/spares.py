"""Spare servers: how many a job needs so that it hardly waits for repairs, and how many the design has."""

import math
from dataclasses import dataclass

from sizer.base.normal import normal_cdf
from sizer.perf.availability.goodput import GPUS_OF_THE_RATE, INTERRUPTIONS, spares_that_suffice
from sizer.physical.networks.ports import nodes_of
from sizer.sizing.result import DesignAnswer, WorkloadAnswer

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
    servers = max(1, round(job.plan.gpus / GPUS_OF_THE_RATE))
    stated = job.checkpoints.interruptions
    rate = INTERRUPTIONS[0] if stated is None else stated
    needed = int(spares_that_suffice(servers, USUAL_REPAIR_S, COVERED_SHARE, rate))
    per_server = design.platform.gpus_per_server
    available = max(design.n_servers - -(-job.plan.gpus // per_server), 0)
    if nodes_of(design.platform.server) > 1:
        return SpareServers(needed, available, int(GPUS_OF_THE_RATE))
    if per_server > GPUS_OF_THE_RATE:
        needed = math.ceil(needed * GPUS_OF_THE_RATE / per_server)
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
