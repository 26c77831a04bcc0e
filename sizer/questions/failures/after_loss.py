"""Rate of a workload on the hardware that remains after a loss, and whether it still meets its target."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.estimate import normal_quantile
from sizer.perf.pipeline import throughputs
from sizer.physical.losses import Remaining
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages import compute_side, evaluate
from sizer.sizing.stages.gpu_memory import all_fit
from sizer.sizing.stages.workload_run import WorkloadRun

# Outage that a design tolerates where the lost part is not needed for the target. [s]
UNLIMITED_S = float("inf")


class HardwareAfterLoss(NamedTuple):
    """What a job has after a loss."""

    remaining: Remaining
    n_gpus_per_server: int | None = None  # None: as many as before


def rate_shares(
    model: WorkloadOnDesign | None, answer: WorkloadAnswer, whole: Remaining, options: Sequence[HardwareAfterLoss]
) -> Floats:
    """Rate of a workload after each of some losses, as a share of its rate before.

    ``model``: none where the catalogue does not hold the parts of the answer: the share is then derived from the
    remaining servers and storage nodes, without the narrower links between them. ``answer``: the workload as it runs
    on the whole design. ``whole``: the hardware before the loss. 0 where the job stops, never above 1: a part of a
    design is not faster than all of it. [-]
    """
    if model is None:
        return np.array([_rough_share(answer, whole, option) for option in options])
    run, runs = _run(model, [HardwareAfterLoss(whole), *options])
    reads = np.array([option.remaining.reaches_storage for option in (HardwareAfterLoss(whole), *options)])
    # A running job reads from memory alone once its first epoch is over.
    path = [
        replace(stage, median=np.where(reads, stage.median, np.inf)) for stage in (run.warm.storage, run.warm.network)
    ]
    rates = throughputs(replace(run.warm, storage=path[0], network=path[1])).value
    before, *after = np.where(runs & (reads | (run.comp.hit_fraction >= 1)), rates, 0.0).tolist()
    if before <= 0:
        return np.zeros(len(options))
    return np.asarray(np.minimum(np.asarray(after) / before, 1.0))


def target_probabilities(model: WorkloadOnDesign, options: Sequence[HardwareAfterLoss]) -> Floats:
    """Probability that a workload meets its target on the remaining hardware, run after run.

    The target is evaluated as for a design of the remaining hardware: a time to train is that of a run during which
    the part stays out. That is the worst case; a part that is repaired during the run does less harm.

    ``model``: the workload on the whole design. 0 where a run cannot start: no server, GPUs that do not hold the
    network, no path to the data, or fewer GPUs than the target asks for. [-]
    """
    run, runs = _run(model, options)
    reads = np.array([option.remaining.reaches_storage for option in options])
    has_gpus = run.servers * run.cols.gpus_per_server >= (model.work.request.target.gpus_busy or 0)
    return np.where(runs & reads & has_gpus, run.probability, 0.0)


def longest_outage_s(answer: WorkloadAnswer, share: float, confidence: float, *, is_met: bool) -> float:
    """Longest outage of a part, once in a run, with which the target is still met. [s]

    Only a time to train can make up for a slow hour: a run that takes T at the required confidence has t - T to spare,
    and loses 1 - share of every second. A target rate is missed as long as the part is out: 0.

    ``answer``: the workload on the whole design. ``share``: of its rate while the part is out, 0 to 1. [-]
    ``confidence``: with which the target is to be met. [-] ``is_met``: whether it is met even if the part stays out.
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


def _run(model: WorkloadOnDesign, options: Sequence[HardwareAfterLoss]) -> tuple[WorkloadRun, Bools]:
    """The workload on the hardware that remains, row by row, and whether there are servers that hold it."""
    left, cols = [option.remaining for option in options], model.run.cols
    used = float(cols.gpus_per_server[0])
    shares = {
        "exchange_bytes_per_s": [one.exchange_share or 1.0 for one in left],
        "storage_nic_bytes_per_s": [one.file_share or 1.0 for one in left],
        # Storage that no link of the plan leads to keeps its ports: their cabling is out of scope.
        "node_line_bytes_per_s": (ports := [one.node_port_share if one.storage_nodes else 1.0 for one in left]),
        "mounts_per_node": ports,
    }
    cols = cols.take(np.zeros(len(options), dtype=np.int64))
    cols = replace(
        cols,
        gpus_per_server=np.array([float(option.n_gpus_per_server or used) for option in options]),
        **{name: getattr(cols, name) * np.array(share) for name, share in shares.items()},
    )
    servers, gateway = np.array([one.n_servers for one in left]), model.gateway_bytes_per_s
    rest = (cols, np.maximum(servers, 1), model.calibration, model.catalog)
    run = WorkloadRun(
        work=model.work,
        comp=compute_side.compute(model.work, [model.platform], *rest),
        cols=cols,
        servers=np.maximum(servers, 1),
        nodes=np.array([one.storage_nodes or model.storage_nodes for one in left]),
        gateway_bytes_per_s=np.array([gateway * (one.gateway_share or 1.0) for one in left]),
        confidence=evaluate.share_of(model.request),
        calibration=model.calibration,
    )
    return run, (servers > 0) & all_fit([model.work], [model.platform], *rest)


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
