"""Where a prediction lies beyond what was published, as notes."""

from typing import TYPE_CHECKING, Protocol

from sizer.calibrate.cases import RateCase, generation
from sizer.calibrate.modern.accelerators import sourced_accelerators
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.catalog.schema import Gpu, Stack

if TYPE_CHECKING:
    from sizer.calibrate.calibration import Calibration


class DnnLike(Protocol):
    """A neural network of the catalogue or of a request."""

    @property
    def name(self) -> str: ...


def known_as(dnn: DnnLike) -> str:
    """Id of the neural network whose measurements speak for this one; empty for none."""
    return str(getattr(dnn, "relative", None) or getattr(dnn, "id", "") or "")


def notes_on(calibration: "Calibration", case: RateCase) -> tuple[CalibrationNote, ...]:
    """Where a run lies beyond what was measured; empty where the prediction interpolates."""
    task, precision = case.levels.task, case.levels.precision
    known = unmeasured(calibration, case.stack, case.dnn, precision, case.levels.gpu, case.gpu, task, case.n_servers)
    n_gpus, batch = case.n_gpus_per_server * case.n_servers, case.batch_per_gpu
    return known + extrapolations(calibration, case.stack, case.dnn, precision, task, n_gpus, batch)


def extrapolations(
    calibration: "Calibration", stack: Stack, dnn: DnnLike, precision: str, task: str, n_gpus: int, batch_per_gpu: float
) -> tuple[CalibrationNote, ...]:
    """Where a run lies beyond what was published of its stack and DNN; empty where it interpolates."""
    notes = []
    most = calibration.most_gpus.get(stack.id)
    if task == "training" and most is not None and n_gpus > most:
        notes.append(note(FitNote.MORE_GPUS, stack.name, most, n_gpus))
    batches = calibration.batches.get(f"{known_as(dnn)}/{precision}/{task}")
    if batches is not None and not batches[0] <= batch_per_gpu <= batches[1]:
        notes.append(note(FitNote.BATCH_OUTSIDE, dnn.name, *batches, precision, batch_per_gpu))
    return tuple(notes)


def unmeasured(
    calibration: "Calibration",
    stack: Stack,
    dnn: DnnLike,
    precision: str,
    gpu_level: str,
    gpu: Gpu,
    task: str,
    n_servers: int,
) -> tuple[CalibrationNote, ...]:
    """What was never measured of a combination, and what stands for it.

    ``stack``, ``dnn``, ``precision``: the combination; a custom neural network has no id. ``gpu_level``: name of the
    GPU in the fit: its id, or the chip of a board that is not stated. ``n_servers``: servers of the run. [-]
    """
    notes, index, dnn_id = [], calibration.fit.index, known_as(dnn)
    if f"stack-precision:{stack.id}/{precision}" not in index:
        notes.append(note(FitNote.STACK_PRECISION, stack.name, precision))
    if not hasattr(dnn, "id"):
        is_like = bool(dnn_id)
        notes.append(
            note(FitNote.DNN_FROM_LIKE, dnn.name, dnn_id) if is_like else note(FitNote.DNN_FROM_POOL, dnn.name)
        )
    elif f"dnn:{dnn_id}/{precision}" not in index:
        notes.append(note(FitNote.DNN_FROM_FAMILY, dnn.name, precision))
    elif f"pair:{stack.id}/{dnn_id}/{precision}/{task}" not in index:
        notes.append(note(FitNote.DNN_WITH_STACK, dnn.name, stack.name, precision, task))
    if f"gpu:{gpu_level}" not in index and f"gpu:{gpu.id}" not in index:
        kind = FitNote.GPU_FROM_GENERATION if _has_runs_of_generation(gpu) else FitNote.GENERATION_NOT_MEASURED
        notes.append(note(kind, gpu.name))
    is_known = f"stack:{stack.id}" in index
    if is_known and n_servers > 1 and task == "training" and f"inter-stack:{stack.id}/{precision}" not in index:
        notes.append(note(FitNote.EXCHANGE_FROM_POOL, stack.name))
    return tuple(notes)


def _has_runs_of_generation(gpu: Gpu) -> bool:
    """Whether any GPU of its generation was: in the runs of V100 systems, or in MLPerf rows of today's."""
    measured = {one.generation for one in sourced_accelerators().values()}
    return gpu.id.startswith(generation(gpu)) or gpu.generation in measured
