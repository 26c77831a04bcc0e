"""Copying the data to the servers' local drives before training, compared with reading shared storage every epoch."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sizer.catalog.schema import Storage
from sizer.perf.data_transfer import break_even_epoch, fill_time_s
from sizer.physical.capacity import counts_nodes
from sizer.physical.quantities import quantities
from sizer.sizing.design.evaluated_design import WorkloadOnDesign
from sizer.sizing.search.feasibility import StorageUnits
from sizer.sizing.stages.storage_rates import rate_is_unknown
from sizer.sizing.stages.workload_run import sequential_bytes_per_s


@dataclass(frozen=True)
class LocalCopy:
    """One workload that reads copies on the servers' drives, and shared storage. Times are medians."""

    workload: str
    drives: Storage
    usable_bytes: float  # of the drives of one server; NaN: not published
    copy_bytes: float  # copied by one server: the whole set, or its shard if shards are fixed
    copy_s: float  # all servers at once, before the first epoch
    first_shared_s: float
    shared_s: float  # each later epoch
    first_local_s: float
    local_s: float
    break_even_epoch: float  # first number of epochs after which the copy is faster in total; inf: never
    epochs: float | None  # of the training, if the request states them
    drives_are_bound: bool  # no source gives the rate of the drives: local epochs may be slower
    storage_is_bound: bool  # no source gives the rate of the storage: the copy may take longer
    storage_nodes: int
    nodes_for_data: int  # enough for the capacity, if all epochs are read locally
    copy_with_fewer_s: float  # copy from that many nodes

    @property
    def fits(self) -> bool | None:
        """Whether the copy fits the drives of a server; None if their size is not published."""
        return None if np.isnan(self.usable_bytes) else self.copy_bytes <= self.usable_bytes

    @property
    def saved_nodes(self) -> int:
        """Storage nodes that only the read rate requires."""
        return max(self.storage_nodes - self.nodes_for_data, 0)

    @property
    def pays(self) -> bool | None:
        """Whether the copy fits and saves time over the whole training; None if that is not known."""
        if self.fits is False or np.isinf(self.break_even_epoch):
            return False
        return None if self.fits is None or self.epochs is None else self.break_even_epoch <= self.epochs


def local_copies(workloads: Sequence[WorkloadOnDesign]) -> tuple[LocalCopy, ...]:
    """Effect of a copy to local drives, for each workload of a design.

    In random order every server reads samples of the whole set and needs all of it; fixed shards need a share. All
    servers copy at once from cold shared storage. Server memory caches local reads as it caches shared ones. No source
    gives the write rate of the drives: the copy may take longer.

    Empty if the drives are the storage, or the servers have none.
    """
    return tuple(copy for model in workloads if (copy := _local_copy(model)) is not None)


def _local_copy(model: WorkloadOnDesign) -> LocalCopy | None:
    local = on_local_drives(model)
    if local is None:
        return None
    drives = local.platform.storage
    share = model.n_servers if model.work.request.access == "sharded" else 1
    copied = model.work.dataset_bytes / share
    rates = (rate for one in (model, local) for rate in reversed(one.run.rates))
    first_shared, shared, first_local, local_s = tuple(model.work.n_samples / float(rate.value[0]) for rate in rates)
    copy_s = _copy_s(model, copied)
    fewer = _nodes_for_data(model)
    return LocalCopy(
        workload=model.work.request.name,
        drives=drives,
        usable_bytes=drives.usable_bytes.value if drives.usable_bytes is not None else np.nan,
        copy_bytes=copied,
        copy_s=copy_s,
        first_shared_s=first_shared,
        shared_s=shared,
        first_local_s=first_local,
        local_s=local_s,
        break_even_epoch=float(break_even_epoch(copy_s, first_local, local_s, first_shared, shared)),
        epochs=_epochs(model),
        drives_are_bound=rate_is_unknown(drives),
        storage_is_bound=rate_is_unknown(model.platform.storage),
        storage_nodes=model.storage_nodes,
        nodes_for_data=fewer,
        copy_with_fewer_s=copy_s if fewer == model.storage_nodes else _copy_s(_with_nodes(model, fewer), copied),
    )


def on_local_drives(model: WorkloadOnDesign) -> WorkloadOnDesign | None:
    """The same servers with their local drives as storage; None if they are the storage, or the servers have none."""
    name = model.platform.server.local_storage
    if model.platform.storage.kind == "local" or name is None:
        return None
    drives = model.catalog.storage[name]
    platform = replace(
        model.platform,
        storage=drives,
        capacity_option=0,
        storage_server=None,
        storage_switch=None,
        back_end_switch=None,
        gateway=None,
        attachment="local",
    )
    return replace(model, platform=platform, storage_nodes=0, gateway_bytes_per_s=np.inf)


def _copy_s(model: WorkloadOnDesign, copied_bytes: float) -> float:
    return float(fill_time_s(copied_bytes * model.n_servers, float(sequential_bytes_per_s(model.run).value)))


def _epochs(model: WorkloadOnDesign) -> float | None:
    if model.work.is_inference:
        return None
    length = model.run.epochs
    return None if length is None else float(length.value[0])


def _nodes_for_data(model: WorkloadOnDesign) -> int:
    if not counts_nodes(model.platform.storage):
        return model.storage_nodes
    units = StorageUnits.of(model.works, [model.platform], model.request.data)
    return min(int(units.least[0]), model.storage_nodes)


def _with_nodes(model: WorkloadOnDesign, nodes: int) -> WorkloadOnDesign:
    """The design with another number of storage nodes, and the gateway uplinks that they need."""
    resized = quantities(
        model.platform,
        [model.n_servers],
        [nodes],
        catalog=model.catalog,
        existing=model.request.existing,
        fabric=model.request.fabric,
    )
    return replace(model, storage_nodes=nodes, gateway_bytes_per_s=float(resized.gateway_bytes_per_s[0]))
