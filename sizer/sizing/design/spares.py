"""Spare servers: how many a job needs so that a failure does not wait for a repair, and how many the design has."""

from dataclasses import dataclass

from sizer.perf.availability.goodput import GPUS_OF_THE_RATE, INTERRUPTIONS, spares_that_suffice
from sizer.sizing.result import DesignAnswer, WorkloadAnswer

# Time of a repair. An example: it depends on the contract.
USUAL_REPAIR_S = 86_400.0
# Share of all failures at which a spare server is free.
COVERED_SHARE = 0.99


@dataclass(frozen=True)
class SpareServers:
    """Servers that stand in for failed ones. Goodput counts a restart on one that is free."""

    needed: int  # for ``COVERED_SHARE`` of all failures, with repairs of ``USUAL_REPAIR_S``
    available: int  # servers of the design that the job does not use


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
    used = answer.language.gpus_used if answer.language is not None else job.plan.gpus
    return SpareServers(needed, max(design.n_servers - -(-used // per_server), 0))
