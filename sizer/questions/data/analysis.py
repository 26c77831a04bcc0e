"""The data of a design: required capacity, ingest, checkpoints, preprocessing, validation and local copies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from sizer.base.units import HOUR_S
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.fit.hosts import HostTask
from sizer.catalog.model import Catalog
from sizer.catalog.sample_formats import SampleFormat
from sizer.catalog.schema import Storage
from sizer.perf.data_transfer import break_even_epoch, fill_time_s, lost_fraction
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.physical.capacity import counts_nodes
from sizer.physical.quantities import quantities
from sizer.questions.data.ingest import IngestPlan, ingest_plan
from sizer.sizing.constraints.stored_data import StorageDemand, is_transformed, raw_sample_bytes, storage_demand
from sizer.sizing.constraints.tiers import StorageTier
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign
from sizer.sizing.result import DesignAnswer, SizingResult, WorkloadAnswer
from sizer.sizing.search.feasibility import StorageUnits
from sizer.sizing.stages.platform_columns import host_cores, storage_nic_bytes_per_s
from sizer.sizing.stages.storage_rates import rate_is_unknown
from sizer.sizing.stages.workload_run import sequential_bytes_per_s
from sizer.workload.checkpoints import CHECKPOINT_BYTES_PER_PARAMETER


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


# Share of the time for checkpoints that is negligible; the answer states the write rate for it. A choice of ours.
NEGLIGIBLE_LOSS = 0.01
# Its decoding cost is assumed for a transform without a stated cost: TensorFlow's loader, from the two JPEG sizes of
# the DGX-1 test (dell-isilon-dgx1-blog-2018).
_DECODER = HostTask(SampleFormat.JPEG, "framework", "tensorflow", "")
# A training step is a forward pass and a backward one of twice the work (as ``evaluate.evaluation_share`` counts).
_FORWARDS_PER_STEP = 3.0


class StorageQuestion(StrEnum):
    """What no source says about writing to the storage."""

    DRIVE_WRITE_RATE = "drive write rate"
    WRITE_RATE = "write rate"
    WRITE_RATE_BY_SCALE = "write rate by scale"  # one rate is published, without nodes or files
    FILE_CREATION_RATE = "file creation rate"


@dataclass(frozen=True)
class Checkpoint:
    """Checkpoints of one training."""

    workload: str
    size_bytes: float
    size_is_assumed: bool  # the request states no bytes per parameter
    every_s: float
    n_retained: int
    write_bytes_per_s: float | None  # the slowest known rate on the path; None: none is known
    rate_is_bound: bool  # no write rate is published: it may be slower
    write_s: float | None
    lost_fraction: float | None  # of the time, if training waits for the writing
    negligible_loss_bytes_per_s: float  # rate at which only ``NEGLIGIBLE_LOSS`` of the time is lost


@dataclass(frozen=True)
class Transform:
    """Preprocessing of all data sets before training, on the processors of all GPU servers."""

    n_samples: float
    core_s_per_sample: float  # mean over the sets
    core_hours: float
    cost_is_assumed: bool  # the decoding cost is used instead of a stated one
    raw_size_is_assumed: bool  # the request states no size: raw samples count as large as prepared ones
    cores: float | None  # of all servers; None: the processors are not in the catalogue
    cpu_s: float | None
    raw_bytes: float
    prepared_bytes: float


@dataclass(frozen=True)
class DecodedStorage:
    """Storing decoded tensors instead of the present format of a workload."""

    workload: str
    size_ratio: float  # tensor / stored sample
    sample_bytes: float
    dataset_bytes: float
    cores_saved_per_gpu: float
    reads_bytes_per_s: float  # at the projected rate, without cache


@dataclass(frozen=True)
class ValidationPass:
    """Passes over held-out samples during one training, or of a workload that only validates."""

    workload: str
    n_samples: float
    every_epochs: float | None  # None: the workload only validates
    every_is_assumed: bool  # the request states no recipe: a pass after each epoch
    samples_per_s: float
    limiting: str  # key of STAGES
    reads_bytes_per_s: float  # from the storage while a pass lasts
    pass_s: float
    per_epoch_s: float | None
    share: float | None  # of the time of training and passes together
    local_samples_per_s: float | None  # from the servers' local drives; None: these are the storage, or there are none
    drives_are_bound: bool  # no source gives the rate of the drives: it may be lower


@dataclass(frozen=True)
class DataPlan:
    """Everything about the data of a design except training."""

    storage: Storage
    required: StorageDemand
    tiers: tuple[StorageTier, ...]  # of the storage, or the drives of each server
    is_per_server: bool
    ingest: IngestPlan
    checkpoints: tuple[Checkpoint, ...]
    transform: Transform | None  # None: not requested
    decoded: tuple[DecodedStorage, ...]
    validations: tuple[ValidationPass, ...]
    copies: tuple[LocalCopy, ...]
    questions: tuple[StorageQuestion, ...]


def data_plan(evaluated: EvaluatedDesign) -> DataPlan:
    """Required capacity, ingest, and the other uses of the data of a result.

    Times are bytes / rate of the slowest known link. Without a published write rate the time is a lower bound, and
    ``questions`` lists what to ask the vendor.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    design, data = result.design, result.request.data
    known = [model for model in evaluated.workloads if model is not None]
    required = storage_demand(design.workloads, data)
    fitted_gpus = design.platform.gpus_per_server
    n_gpus = design.n_servers * min(result.request.platforms.gpus_per_server or fitted_gpus, fitted_gpus)
    return DataPlan(
        storage=design.platform.storage,
        required=required,
        tiers=design.tiers,
        is_per_server=design.platform.storage.kind == "local",
        ingest=ingest_plan(design, required, data),
        checkpoints=tuple(_checkpoints(result)),
        transform=_transform(result, required, catalog, fitted),
        decoded=tuple(
            tensors for answer in design.workloads if (tensors := _decoded(answer, n_gpus, fitted)) is not None
        ),
        validations=tuple(validation for model in known if (validation := _validation(model)) is not None),
        copies=local_copies(known),
        questions=_questions(design),
    )


def _checkpoints(result: SizingResult) -> Iterator[Checkpoint]:
    """One process writes through the ports of one server to the storage; language models have a plan of their own."""
    data, design = result.request.data, result.design
    if data.checkpoint_every_s is None:
        return
    published = design.platform.storage.test_write_bytes_per_s
    ports = storage_nic_bytes_per_s(design.platform)
    rate = min(ports, published.value if published is not None else np.inf)
    for answer in design.workloads:
        if answer.is_inference or answer.kind.trains_language:
            continue
        each = data.checkpoint_bytes_per_parameter or CHECKPOINT_BYTES_PER_PARAMETER
        size = each * answer.dnn.parameters.value
        write_s = float(fill_time_s(size, rate)) if np.isfinite(rate) else None
        yield Checkpoint(
            workload=answer.workload.name,
            size_bytes=size,
            size_is_assumed=data.checkpoint_bytes_per_parameter is None,
            every_s=data.checkpoint_every_s,
            n_retained=data.checkpoints_kept,
            write_bytes_per_s=rate if np.isfinite(rate) else None,
            rate_is_bound=published is None,
            write_s=write_s,
            lost_fraction=None if write_s is None else float(lost_fraction(write_s, data.checkpoint_every_s)),
            negligible_loss_bytes_per_s=size / (NEGLIGIBLE_LOSS * data.checkpoint_every_s),
        )


def _transform(
    result: SizingResult, required: StorageDemand, catalog: Catalog, fitted: Calibration
) -> Transform | None:
    data, design = result.request.data, result.design
    if not is_transformed(data):
        return None
    decoder = fitted.hosts.work(_DECODER)
    core_s = 0.0
    for data_set in required.sets:
        cost = data.transform_core_s
        if cost is None:
            raw = raw_sample_bytes(data_set.sample_bytes, data)
            cost = decoder.core_s(float(raw))
        core_s += data_set.n_samples * cost
    cores = design.n_servers * host_cores(design.platform.server, catalog)
    is_known = np.isfinite(cores)
    n_samples = sum(data_set.n_samples for data_set in required.sets)
    return Transform(
        n_samples=n_samples,
        core_s_per_sample=core_s / n_samples,
        core_hours=core_s / HOUR_S,
        cost_is_assumed=data.transform_core_s is None,
        raw_size_is_assumed=data.raw_sample_bytes is None,
        cores=cores if is_known else None,
        cpu_s=core_s / cores if is_known else None,
        raw_bytes=required.raw_bytes,
        prepared_bytes=required.sets_bytes,
    )


def _decoded(answer: WorkloadAnswer, n_gpus: int, fitted: Calibration) -> DecodedStorage | None:
    """Tensors in the form that the GPU reads; None for data that are no compressed images."""
    if answer.sample_format is not SampleFormat.JPEG:
        return None
    core_s = fitted.host_work(answer.sample_format, answer.stack).core_s(answer.sample_bytes)
    tensor, rate = answer.dnn.input_bytes.value, float(answer.throughput.value)
    return DecodedStorage(
        workload=answer.workload.name,
        size_ratio=tensor / answer.sample_bytes,
        sample_bytes=tensor,
        dataset_bytes=answer.dataset_bytes / answer.sample_bytes * tensor,
        cores_saved_per_gpu=core_s * rate / n_gpus,
        reads_bytes_per_s=rate * tensor,
    )


def _validation(model: WorkloadOnDesign) -> ValidationPass | None:
    """Passes of a training over its held-out samples, or of a validation over its set; None if none are known."""
    work = model.work
    held_out = work.dataset.n_validation_samples
    n_samples = work.n_samples if work.is_inference else held_out.value if held_out is not None else 0.0
    if not n_samples:
        return None
    rate, limiting = _forward_rate(model)
    pass_s = n_samples / rate
    drives = on_local_drives(model)
    every, per_epoch_s, share = None, None, None
    if not work.is_inference:
        every = work.recipe.evaluate_every_epochs.value if work.recipe is not None else 1.0
        epoch_s = work.n_samples / float(model.run.rates[0].value[0])
        per_epoch_s = pass_s / every
        share = per_epoch_s / (epoch_s + per_epoch_s)
    return ValidationPass(
        workload=work.request.name,
        n_samples=n_samples,
        every_epochs=every,
        every_is_assumed=not work.is_inference and work.recipe is None,
        samples_per_s=rate,
        limiting=limiting,
        reads_bytes_per_s=float(read_demand_bytes_per_s(rate, work.sample_bytes)),
        pass_s=pass_s,
        per_epoch_s=per_epoch_s,
        share=share,
        local_samples_per_s=None if drives is None else _forward_rate(drives)[0],
        drives_are_bound=drives is not None and rate_is_unknown(drives.platform.storage),
    )


def _forward_rate(model: WorkloadOnDesign) -> tuple[float, str]:
    """Median rate of forward passes over uncached samples, and the stage that limits it. [samples/s]"""
    medians = {key: float(stage.median.flat[0]) for key, stage in model.run.cold.by_key().items()}
    # Forward passes exchange no gradients; the GPU stage of a training counts three of them a step.
    del medians["exchange"]
    if not model.work.is_inference:
        medians["gpu"] *= _FORWARDS_PER_STEP
    limiting = min(medians, key=lambda key: medians[key])
    return medians[limiting], limiting


def _questions(design: DesignAnswer) -> tuple[StorageQuestion, ...]:
    storage = design.platform.storage
    if storage.kind == "local":
        return (StorageQuestion.DRIVE_WRITE_RATE,)
    known = storage.test_write_bytes_per_s is not None
    return (
        StorageQuestion.WRITE_RATE_BY_SCALE if known else StorageQuestion.WRITE_RATE,
        StorageQuestion.FILE_CREATION_RATE,
    )
