"""The data of a result: what must fit, how it gets in, and what checkpoints, transforming and validation take."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sizer.base.quantities import plain, significant
from sizer.base.units import HOUR_S
from sizer.calibrate.calibration import Calibration
from sizer.catalog.labels import with_vendor
from sizer.catalog.model import Catalog
from sizer.perf.data_transfer import fill_time_s, lost_fraction
from sizer.perf.pipeline import read_demand_bytes_per_s
from sizer.perf.preprocess import core_seconds_per_sample
from sizer.present.assumption_text import AssumptionRow
from sizer.questions.data.ingest import Ingest, ingest
from sizer.questions.data.local_copy import LocalCopy, local_copies, on_local_drives
from sizer.sizing.constraints.stored_data import (
    CHECKPOINT_BYTES_PER_PARAMETER,
    StorageDemand,
    is_transformed,
    raw_sample_bytes,
    storage_demand,
)
from sizer.sizing.design.evaluated_design import EvaluatedDesign, WorkloadOnDesign, rates_of
from sizer.sizing.result import DesignAnswer, SizingResult, WorkloadAnswer
from sizer.sizing.stages.platform_columns import host_cores, storage_nic_bytes_per_s
from sizer.sizing.stages.storage_rates import rate_is_unknown

# Time that checkpoints may take before they are worth a thought; the write rate for it is told. A choice of ours.
LITTLE_LOST = 0.01
# The loader whose cost of decoding stands in for a transform that nobody measured: TensorFlow's, through the two JPEG
# sizes of the DGX-1 test (dell-isilon-dgx1-blog-2018).
_DECODER = ("framework", "tensorflow", "")
# A training step is a forward pass and a backward one of twice the work (as ``evaluate.evaluation_share`` counts).
_FORWARDS_PER_STEP = 3.0


@dataclass(frozen=True)
class Checkpoint:
    """Checkpoints of one training."""

    workload: str
    size_bytes: float
    every_s: float
    kept: int
    write_bytes_per_s: float | None  # the slowest known rate on the way; None: none is known
    rate_is_bound: bool  # no write rate is published: it may be slower
    write_s: float | None
    lost_fraction: float | None  # of the time, where training waits for the writing
    little_lost_bytes_per_s: float  # rate at which only ``LITTLE_LOST`` of the time is lost


@dataclass(frozen=True)
class Transform:
    """Transforming all sets ahead of training, on the processors of all GPU servers."""

    n_samples: float
    core_s_per_sample: float  # mean over the sets
    core_hours: float
    is_assumed: bool  # the cost of decoding stands in for the transform's own
    cores: float | None  # of all servers; None: the catalogue does not know the processors
    cpu_s: float | None
    raw_bytes: float
    prepared_bytes: float


@dataclass(frozen=True)
class Decoded:
    """Storing decoded tensors instead of what a workload reads now."""

    workload: str
    size_ratio: float  # of a tensor over a stored sample
    sample_bytes: float
    dataset_bytes: float
    cores_saved_per_gpu: float
    reads_bytes_per_s: float  # at the projected rate, without cache


@dataclass(frozen=True)
class Validation:
    """Passes over held-back samples beside one training, or of a workload that only validates."""

    workload: str
    n_samples: float
    every_epochs: float | None  # None: the workload is validation alone
    every_is_assumed: bool  # the request states no recipe: a pass after each epoch
    samples_per_s: float
    limiting: str  # key of STAGES
    reads_bytes_per_s: float  # from the storage while a pass lasts
    pass_s: float
    per_epoch_s: float | None
    share: float | None  # of the time of training and passes together, in which the GPUs do not train
    local_samples_per_s: float | None  # from the servers' own drives; None: these are the storage, or there are none
    drives_are_bound: bool  # no source gives the rate of the drives: it may be lower


@dataclass(frozen=True)
class DataPlan:
    """Everything about the data of a design that is not training."""

    held: StorageDemand
    usable_bytes: float  # of the storage, or of each server's drives; NaN: not published
    is_per_server: bool
    ingest: Ingest
    checkpoints: tuple[Checkpoint, ...]
    transform: Transform | None  # None: not asked for
    decoded: tuple[Decoded, ...]
    validations: tuple[Validation, ...]
    copies: tuple[LocalCopy, ...]
    assumptions: tuple[AssumptionRow, ...]
    questions: tuple[str, ...]  # to the vendor

    @property
    def free_bytes(self) -> float:
        """Usable bytes that nothing is planned for; NaN where the capacity is not published. [B]"""
        return self.usable_bytes - self.held.total_bytes


def data_plan(evaluated: EvaluatedDesign) -> DataPlan:
    """What the storage of a result must hold, how the data get in, and what is done with them beside training.

    Parameters
    ----------
    evaluated : EvaluatedDesign

    Notes
    -----
    Times are bytes over the slowest known link. Where no source gives a write rate the time is a lower bound, and
    ``questions`` holds what to ask the vendor.
    """
    result, catalog, fitted = evaluated.result, evaluated.catalog, evaluated.calibration
    design, care = result.design, result.request.data
    known = evaluated.workloads
    present = [model for model in known if model is not None]
    held = storage_demand(design.workloads, care)
    usable = float(design.quantities.usable_bytes[0])
    transform = _transform(result, held, catalog, fitted)
    fitted_gpus = design.platform.gpus_per_server
    n_gpus = design.n_servers * min(result.request.platforms.gpus_per_server or fitted_gpus, fitted_gpus)
    return DataPlan(
        held=held,
        usable_bytes=usable if usable > 0 else np.nan,
        is_per_server=design.platform.storage.kind == "local",
        ingest=ingest(design, held, care),
        checkpoints=tuple(_checkpoints(result)),
        transform=transform,
        decoded=tuple(one for answer in design.workloads if (one := _decoded(answer, n_gpus, fitted)) is not None),
        validations=tuple(found for model in present if (found := _validation(model)) is not None),
        copies=local_copies(known),
        assumptions=tuple(_assumptions(result, transform)),
        questions=tuple(_questions(design)),
    )


def _checkpoints(result: SizingResult) -> Iterator[Checkpoint]:
    """One process writes: through the ports of one server, to a storage whose write rate may be published."""
    care, design = result.request.data, result.design
    if care.checkpoint_every_s is None:
        return
    each = care.checkpoint_bytes_per_parameter or CHECKPOINT_BYTES_PER_PARAMETER
    published = design.platform.storage.test_write_bytes_per_s
    ports = storage_nic_bytes_per_s(design.platform)
    rate = min(ports, published.value if published is not None else np.inf)
    for answer in design.workloads:
        if answer.is_inference:
            continue
        size = each * answer.dnn.parameters.value
        write_s = float(fill_time_s(size, rate)) if np.isfinite(rate) else None
        yield Checkpoint(
            workload=answer.workload.name,
            size_bytes=size,
            every_s=care.checkpoint_every_s,
            kept=care.checkpoints_kept,
            write_bytes_per_s=rate if np.isfinite(rate) else None,
            rate_is_bound=published is None,
            write_s=write_s,
            lost_fraction=None if write_s is None else float(lost_fraction(write_s, care.checkpoint_every_s)),
            little_lost_bytes_per_s=size / (LITTLE_LOST * care.checkpoint_every_s),
        )


def _transform(result: SizingResult, held: StorageDemand, catalog: Catalog, fitted: Calibration) -> Transform | None:
    care, design = result.request.data, result.design
    if not is_transformed(care):
        return None
    fixed_s, s_per_byte, _ = fitted.decode_terms(*_DECODER)
    core_s = 0.0
    for one in held.sets:
        cost = care.transform_core_s
        if cost is None:
            raw = raw_sample_bytes(one.sample_bytes, care)
            cost = float(core_seconds_per_sample(raw, fixed_s, s_per_byte))
        core_s += one.n_samples * cost
    cores = design.n_servers * host_cores(design.platform.server, catalog)
    is_known = np.isfinite(cores)
    n_samples = sum(one.n_samples for one in held.sets)
    return Transform(
        n_samples=n_samples,
        core_s_per_sample=core_s / n_samples,
        core_hours=core_s / HOUR_S,
        is_assumed=care.transform_core_s is None,
        cores=cores if is_known else None,
        cpu_s=core_s / cores if is_known else None,
        raw_bytes=held.raw_bytes,
        prepared_bytes=held.sets_bytes,
    )


def _decoded(answer: WorkloadAnswer, n_gpus: int, fitted: Calibration) -> Decoded | None:
    """Tensors as the GPU takes them; None for what is decoded already, or is not decoded at all."""
    if answer.dataset.format == "decoded tensors" or answer.dnn.sample != "image":
        return None
    stack = answer.stack
    fixed_s, s_per_byte, _ = fitted.decode_terms(stack.loader, stack.framework, stack.id)
    core_s = float(core_seconds_per_sample(answer.sample_bytes, fixed_s, s_per_byte))
    tensor, rate = answer.dnn.input_bytes.value, float(answer.throughput.value)
    return Decoded(
        workload=answer.workload.name,
        size_ratio=tensor / answer.sample_bytes,
        sample_bytes=tensor,
        dataset_bytes=answer.dataset_bytes / answer.sample_bytes * tensor,
        cores_saved_per_gpu=core_s * rate / n_gpus,
        reads_bytes_per_s=rate * tensor,
    )


def _validation(model: WorkloadOnDesign) -> Validation | None:
    """Passes of a training over its held-back samples, or of a validation over its set; None where none are known."""
    work = model.work
    held_back = work.dataset.n_validation_samples
    n_samples = work.n_samples if work.is_inference else held_back.value if held_back is not None else 0.0
    if not n_samples:
        return None
    rate, limiting = _forward_rate(model)
    pass_s = n_samples / rate
    drives = on_local_drives(model)
    every, per_epoch_s, share = None, None, None
    if not work.is_inference:
        every = work.recipe.evaluate_every_epochs.value if work.recipe is not None else 1.0
        epoch_s = work.n_samples / float(rates_of([model.run.warm])[0])
        per_epoch_s = pass_s / every
        share = per_epoch_s / (epoch_s + per_epoch_s)
    return Validation(
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
    """Median rate of forward passes over samples that no cache holds, and the stage that bounds it. [samples/s]"""
    medians = {key: float(stage.median.flat[0]) for key, stage in model.run.cold.by_key().items()}
    # Forward passes exchange no gradients; the GPU stage of a training counts three of them a step.
    del medians["exchange"]
    if not model.work.is_inference:
        medians["gpu"] *= _FORWARDS_PER_STEP
    limiting = min(medians, key=lambda key: medians[key])
    return medians[limiting], limiting


def _assumptions(result: SizingResult, transform: Transform | None) -> Iterator[AssumptionRow]:
    care = result.request.data
    if care.checkpoint_every_s is not None and care.checkpoint_bytes_per_parameter is None:
        yield AssumptionRow(
            "Size of a checkpoint",
            f"{plain(CHECKPOINT_BYTES_PER_PARAMETER)} B a parameter",
            "assumed",
            "",
            "weights and momentum in single precision; state yours",
        )
    if transform is None:
        return
    if care.raw_sample_bytes is None:
        yield AssumptionRow(
            "Size of a raw sample",
            "that of a prepared one",
            "assumed",
            "",
            "the request states none; the raw set takes as much room again",
        )
    if transform.is_assumed:
        yield AssumptionRow(
            "Processor time of the transform",
            f"{significant(transform.core_s_per_sample * 1e3)} core-ms a sample",
            "assumed",
            "dell-isilon-dgx1-blog-2018",
            ("the cost of decoding and cropping by TensorFlow's loader, as a first guess; measure yours"),
        )


def _questions(design: DesignAnswer) -> Iterator[str]:
    """What no source says about writing to the storage."""
    storage = with_vendor(design.platform.storage)
    if design.platform.storage.kind == "local":
        yield f"{storage}: sustained write rate of the drives"
        return
    if design.platform.storage.test_write_bytes_per_s is None:
        yield f"{storage}: sustained write rate, of one client and of all together"
    else:
        yield f"{storage}: write rate by number of nodes and of clients, each with files of its own"
    yield f"{storage}: files created a second, for sets of single files"
