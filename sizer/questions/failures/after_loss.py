"""Rate of a workload on what is left of a design after a loss, and whether it still meets its target."""

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
from sizer.sizing.stages import evaluate
from sizer.sizing.stages.evaluate import Compute
from sizer.sizing.stages.platform_columns import Columns

# Time for which a part may be away where it is never missed. [s]
FOR_EVER = float("inf")


class Rest(NamedTuple):
    """What a job has after a loss."""

    left: Remaining
    n_gpus_per_server: int | None = None  # None: as many as before


@dataclass(frozen=True)
class _Running:
    """One workload on what is left. Arrays of one row."""

    comp: Compute
    cols: Columns
    servers: Ints
    side: StorageSide
    reads: bool  # whether it reaches its storage; without, it goes on from memory alone

    def stages(self, model: WorkloadOnDesign, *, is_warm: bool = True) -> Stages:
        """Stages in a warm epoch, or in the first one."""
        stages = evaluate.stages(model.work, self.comp, self.side, is_warm=is_warm)
        if self.reads:
            return stages
        # A running job reads from memory alone once its first epoch is over.
        unlimited = Capacity.exact(np.array([np.inf]))
        return replace(stages, storage=unlimited, network=unlimited)


def shares(model: WorkloadOnDesign | None, answer: WorkloadAnswer, whole: Remaining, rests: Sequence[Rest]) -> Floats:
    """Rate of a workload after each of some losses, as a share of its rate before.

    Parameters
    ----------
    model : WorkloadOnDesign or None
        None where the catalogue does not hold the parts of the answer: the share then follows from the servers and
        storage nodes that are left, without the narrower links between them.
    answer : WorkloadAnswer
        The workload as it runs on the whole design.
    whole : Remaining
        What there was.
    rests : sequence of Rest
        What is left.

    Returns
    -------
    ndarray, shape (len(rests),)
        0 where the job stops, never above 1: what is left of a design is not faster than all of it. [-]
    """
    if model is None:
        return np.array([_rough_share(answer, whole, rest) for rest in rests])
    made = [_running(model, rest) for rest in (Rest(whole), *rests)]
    rates = iter(rates_of([running.stages(model) for running in made if running is not None]))
    before, *after = [0.0 if running is None else float(next(rates)) for running in made]
    if before <= 0:
        return np.zeros(len(rests))
    return np.minimum(np.array(after) / before, 1.0)


def chances(model: WorkloadOnDesign, rests: Sequence[Rest]) -> Floats:
    """Probability that a workload meets its target on what is left, run after run.

    Parameters
    ----------
    model : WorkloadOnDesign
        The workload on the whole design.
    rests : sequence of Rest
        What is left.

    Returns
    -------
    ndarray, shape (len(rests),)
        0 where a run cannot start: nothing to run on, no way to the data, or fewer GPUs than are to be kept busy. [-]

    Notes
    -----
    The target is judged as for a design of what is left: a time to train is that of a run which has no more from its
    start to its end. That is the worst reading; a part that comes back during the run does less harm.
    """
    return np.array([_chance(model, rest) for rest in rests])


def _chance(model: WorkloadOnDesign, rest: Rest) -> float:
    running = _running(model, rest)
    if running is None or not running.reads:
        return 0.0
    busy = model.work.request.target.gpus_busy
    if busy is not None and float((running.servers * running.cols.gpus_per_server)[0]) < busy:
        return 0.0
    confidence = evaluate.share_of(model.request)
    need = evaluate.need(model.work, running.comp, running.cols, running.servers, confidence, model.calibration)
    warm, cold = (running.stages(model, is_warm=is_warm) for is_warm in (True, False))
    return float(evaluate.probability(warm, cold, need)[0])


def window_s(answer: WorkloadAnswer, share: float, confidence: float, *, is_met: bool) -> float:
    """Longest time for which a part may be away once in a run without the target being missed. [s]

    Parameters
    ----------
    answer : WorkloadAnswer
        The workload on the whole design.
    share : float
        Of its rate while the part is away, 0 to 1. [-]
    confidence : float
        With which the target is to be met. [-]
    is_met : bool
        Whether it is met even if the part stays away.

    Notes
    -----
    Only a time to train can make up for a slow hour: a run that takes T at the confidence asked has t - T to spare,
    and loses 1 - share of every second. A rate is missed as long as the part is away: 0.
    """
    if is_met:
        return FOR_EVER
    asked = answer.workload.target.time_to_train_s
    if asked is None or answer.time is None:
        return 0.0
    total = answer.time.total_s
    takes_s = float(total.value * np.exp(total.log_sd * normal_quantile(confidence)))
    # A rate that is whole on a target that is missed: the job goes on from memory, and the next one cannot start.
    return max(asked - takes_s, 0.0) / (1 - share if share < 1 else 1.0)


def _running(model: WorkloadOnDesign, rest: Rest) -> _Running | None:
    """The workload on what is left; None where nothing runs."""
    left, cols = rest.left, model.run.cols
    if left.n_servers == 0:
        return None
    servers = np.array([left.n_servers])
    gpus = cols.gpus_per_server if rest.n_gpus_per_server is None else np.array([float(rest.n_gpus_per_server)])
    # Storage that no link of the plan leads to keeps its ports: they are by others.
    ports = left.node_port_share if left.storage_nodes else 1.0
    cols = replace(
        cols,
        gpus_per_server=gpus,
        exchange_bytes_per_s=cols.exchange_bytes_per_s * (left.exchange_share or 1.0),
        storage_nic_bytes_per_s=cols.storage_nic_bytes_per_s * (left.file_share or 1.0),
        node_line_bytes_per_s=cols.node_line_bytes_per_s * ports,
        mounts_per_node=cols.mounts_per_node * ports,
    )
    comp = evaluate.compute(model.work, [model.platform], cols, servers, model.calibration, model.catalog)
    if not left.reaches_storage and comp.hit_fraction[0] < 1:
        return None
    nodes = np.array([left.storage_nodes or model.storage_nodes])
    gateway = np.array([model.gateway_bytes_per_s * (left.gateway_share or 1.0)])
    return _Running(comp, cols, servers, evaluate.storage_side(cols, servers, nodes, gateway), left.reaches_storage)


def _rough_share(answer: WorkloadAnswer, whole: Remaining, rest: Rest) -> float:
    left, grid = rest.left, answer.scaling
    if left.n_servers == 0 or (not left.reaches_storage and answer.cache_hit_fraction < 1):
        return 0.0
    share = left.n_servers / whole.n_servers
    if rest.n_gpus_per_server is not None:
        share *= rest.n_gpus_per_server / float(grid.n_gpus[0] / grid.n_servers[0])
    storage = next(float(stage.capacity.value) for stage in answer.stages if stage.key == "storage")
    if left.reaches_storage and left.storage_nodes < whole.storage_nodes:
        share = min(share, storage * left.storage_nodes / whole.storage_nodes / float(answer.throughput.value))
    return min(share, 1.0)
