"""Rate of a workload on the hardware that remains after a loss, and whether it still meets its target."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Floats, Ints
from sizer.base.normal import normal_quantile
from sizer.perf.pipeline import Stages, StorageSide
from sizer.perf.stage_capacity import Capacity
from sizer.physical.losses import Remaining
from sizer.sizing.design.evaluated_design import WorkloadOnDesign, rates_of
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.compute_side import Compute
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.platform_columns import Columns

# Outage that a design tolerates where the lost part is not needed for the target. [s]
UNLIMITED_S = float("inf")


class HardwareAfterLoss(NamedTuple):
    """What a job has after a loss."""

    remaining: Remaining
    n_gpus_per_server: int | None = None  # None: as many as before


@dataclass(frozen=True)
class _Running:
    """One workload on the remaining hardware. Arrays of one row."""

    comp: Compute
    cols: Columns
    servers: Ints
    side: StorageSide
    reads: bool  # whether it reaches its storage; without, it continues from memory alone

    def stages(self, model: WorkloadOnDesign, *, is_warm: bool = True) -> Stages:
        """Stages in a warm epoch, or in the first one."""
        stages = evaluate.stages(model.work.sample_bytes, self.comp, self.side, is_warm=is_warm)
        if self.reads:
            return stages
        # A running job reads from memory alone once its first epoch is over.
        unlimited = Capacity.exact(np.array([np.inf]))
        return replace(stages, storage=unlimited, network=unlimited)


def rate_shares(
    model: WorkloadOnDesign | None, answer: WorkloadAnswer, whole: Remaining, options: Sequence[HardwareAfterLoss]
) -> Floats:
    """Rate of a workload after each of some losses, as a share of its rate before.

    Parameters
    ----------
    model : WorkloadOnDesign or None
        None where the catalogue does not hold the parts of the answer: the share is then derived from the remaining
        servers and storage nodes, without the narrower links between them.
    answer : WorkloadAnswer
        The workload as it runs on the whole design.
    whole : Remaining
        The hardware before the loss.
    options : sequence of HardwareAfterLoss

    Returns
    -------
    ndarray, shape (len(options),)
        0 where the job stops, never above 1: a part of a design is not faster than all of it. [-]
    """
    if model is None:
        return np.array([_rough_share(answer, whole, option) for option in options])
    jobs = [_running(model, option) for option in (HardwareAfterLoss(whole), *options)]
    rates = iter(rates_of([job.stages(model) for job in jobs if job is not None]))
    before, *after = [0.0 if job is None else float(next(rates)) for job in jobs]
    if before <= 0:
        return np.zeros(len(options))
    return np.minimum(np.array(after) / before, 1.0)


def target_probabilities(model: WorkloadOnDesign, options: Sequence[HardwareAfterLoss]) -> Floats:
    """Probability that a workload meets its target on the remaining hardware, run after run.

    Parameters
    ----------
    model : WorkloadOnDesign
        The workload on the whole design.
    options : sequence of HardwareAfterLoss

    Returns
    -------
    ndarray, shape (len(options),)
        0 where a run cannot start: no server, GPUs that do not hold the network, no path to the data, or fewer GPUs
        than the target asks for. [-]

    Notes
    -----
    The target is evaluated as for a design of the remaining hardware: a time to train is that of a run during which
    the part stays out. That is the worst case; a part that is repaired during the run does less harm.
    """
    return np.array([_target_probability(model, option) for option in options])


def _target_probability(model: WorkloadOnDesign, option: HardwareAfterLoss) -> float:
    running = _running(model, option)
    if running is None or not running.reads:
        return 0.0
    busy = model.work.request.target.gpus_busy
    if busy is not None and float((running.servers * running.cols.gpus_per_server)[0]) < busy:
        return 0.0
    confidence = evaluate.share_of(model.request)
    need = evaluate.need(model.work, running.comp, running.cols, running.servers, confidence, model.calibration)
    warm, cold = (running.stages(model, is_warm=is_warm) for is_warm in (True, False))
    return float(evaluate.probability(warm, cold, need)[0])


def longest_outage_s(answer: WorkloadAnswer, share: float, confidence: float, *, is_met: bool) -> float:
    """Longest outage of a part, once in a run, with which the target is still met. [s]

    Parameters
    ----------
    answer : WorkloadAnswer
        The workload on the whole design.
    share : float
        Of its rate while the part is out, 0 to 1. [-]
    confidence : float
        With which the target is to be met. [-]
    is_met : bool
        Whether it is met even if the part stays out.

    Notes
    -----
    Only a time to train can make up for a slow hour: a run that takes T at the required confidence has t - T to spare,
    and loses 1 - share of every second. A target rate is missed as long as the part is out: 0.
    """
    if is_met:
        return UNLIMITED_S
    asked = answer.workload.target.time_to_train_s
    if asked is None or answer.time is None:
        return 0.0
    total = answer.time.total_s
    takes_s = float(total.value * np.exp(total.log_sd * normal_quantile(confidence)))
    # A full rate with a missed target: the job continues from memory, and the next one cannot start.
    return max(asked - takes_s, 0.0) / (1 - share if share < 1 else 1.0)


def _running(model: WorkloadOnDesign, option: HardwareAfterLoss) -> _Running | None:
    """The workload on the remaining hardware; None where nothing runs."""
    remaining, cols = option.remaining, model.run.cols
    if remaining.n_servers == 0:
        return None
    servers = np.array([remaining.n_servers])
    gpus = cols.gpus_per_server if option.n_gpus_per_server is None else np.array([float(option.n_gpus_per_server)])
    # Storage that no link of the plan leads to keeps its ports: their cabling is out of scope.
    ports = remaining.node_port_share if remaining.storage_nodes else 1.0
    cols = replace(
        cols,
        gpus_per_server=gpus,
        exchange_bytes_per_s=cols.exchange_bytes_per_s * (remaining.exchange_share or 1.0),
        storage_nic_bytes_per_s=cols.storage_nic_bytes_per_s * (remaining.file_share or 1.0),
        node_line_bytes_per_s=cols.node_line_bytes_per_s * ports,
        mounts_per_node=cols.mounts_per_node * ports,
    )
    if not all_fit([model.work], [model.platform], cols, servers, model.calibration, model.catalog).all():
        return None
    comp = compute_side.compute(model.work, [model.platform], cols, servers, model.calibration, model.catalog)
    if not remaining.reaches_storage and comp.hit_fraction[0] < 1:
        return None
    nodes = np.array([remaining.storage_nodes or model.storage_nodes])
    gateway = np.array([model.gateway_bytes_per_s * (remaining.gateway_share or 1.0)])
    return _Running(
        comp, cols, servers, evaluate.storage_side(cols, servers, nodes, gateway), remaining.reaches_storage
    )


def _rough_share(answer: WorkloadAnswer, whole: Remaining, option: HardwareAfterLoss) -> float:
    remaining, grid = option.remaining, answer.scaling
    if remaining.n_servers == 0 or (not remaining.reaches_storage and answer.cache_hit_fraction < 1):
        return 0.0
    share = remaining.n_servers / whole.n_servers
    if option.n_gpus_per_server is not None:
        share *= option.n_gpus_per_server / float(grid.n_gpus[0] / grid.n_servers[0])
    storage = next(float(stage.capacity.value) for stage in answer.stages if stage.key == "storage")
    if remaining.reaches_storage and remaining.storage_nodes < whole.storage_nodes:
        share = min(share, storage * remaining.storage_nodes / whole.storage_nodes / float(answer.throughput.value))
    return min(share, 1.0)
