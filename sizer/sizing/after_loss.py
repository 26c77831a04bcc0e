"""Rate of a workload on what is left of a design after a loss."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sizer.perf.pipeline import Stages
from sizer.perf.stage_capacity import Capacity
from sizer.physical.losses import Left
from sizer.sizing import evaluate
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.what_if import Model, rates_of

Floats = NDArray[np.float64]


class Rest(NamedTuple):
    """What a job has after a loss."""

    left: Left
    n_gpus_per_server: int | None = None  # None: as many as before


def shares(model: Model | None, answer: WorkloadAnswer, whole: Left, rests: Sequence[Rest]) -> Floats:
    """Rate of a workload after each of some losses, as a share of its rate before.

    Parameters
    ----------
    model : Model or None
        None where the catalogue does not hold the parts of the answer: the share then follows from the servers and
        storage nodes that are left, without the narrower links between them.
    answer : WorkloadAnswer
        The workload as it runs on the whole design.
    whole : Left
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
    made = [_stages(model, rest) for rest in (Rest(whole), *rests)]
    rates = iter(rates_of([stages for stages in made if stages is not None]))
    before, *after = [0.0 if stages is None else float(next(rates)) for stages in made]
    if before <= 0:
        return np.zeros(len(rests))
    return np.minimum(np.array(after) / before, 1.0)


def _stages(model: Model, rest: Rest) -> Stages | None:
    """Stages on what is left; None where nothing runs."""
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
    stages = evaluate.stages(model.work, comp, evaluate.storage_side(cols, servers, nodes, gateway))
    if left.reaches_storage:
        return stages
    # A running job reads from memory alone once its first epoch is over.
    unlimited = Capacity.exact(np.array([np.inf]))
    return replace(stages, storage=unlimited, network=unlimited)


def _rough_share(answer: WorkloadAnswer, whole: Left, rest: Rest) -> float:
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
