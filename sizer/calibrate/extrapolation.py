"""Where a run lies beyond what was published, in sentences for whoever reads the prediction."""

from typing import TYPE_CHECKING, Protocol

from sizer.base.quantities import by_count, plain
from sizer.calibrate.cases import Levels, RateCase
from sizer.catalog.schema import Gpu, Stack

if TYPE_CHECKING:
    from sizer.calibrate.calibration import Calibration


class DnnLike(Protocol):
    """A neural network of the catalogue or of a request."""

    @property
    def name(self) -> str: ...


def known_as(dnn: DnnLike) -> str:
    """Id of the neural network whose measurements speak for this one; empty for none."""
    return str(getattr(dnn, "like", None) or getattr(dnn, "id", "") or "")


def notes_on(calibration: "Calibration", case: RateCase) -> tuple[str, ...]:
    """Where a run lies beyond what was measured; empty where the prediction interpolates."""
    known = unmeasured(calibration, case.levels, case.stack, case.dnn, case.gpu, is_custom=False)
    n_gpus, batch = case.n_gpus_per_server * case.n_servers, case.batch_per_gpu
    return known + extrapolations(
        calibration, case.stack, case.dnn, case.levels.precision, case.levels.task, n_gpus, batch
    )


def extrapolations(
    calibration: "Calibration", stack: Stack, dnn: DnnLike, precision: str, task: str, n_gpus: int, batch_per_gpu: float
) -> tuple[str, ...]:
    """Where a run lies beyond what was published of its stack and DNN; empty where it interpolates."""
    notes = []
    most = calibration.most_gpus.get(stack.id)
    if task == "training" and most is not None and n_gpus > most:
        notes.append(
            by_count(
                most,
                f"{stack.name} was published on {most} GPU at most, not {n_gpus}: how it scales is extrapolated",
                f"{stack.name} was published on {most} GPUs at most, not {n_gpus}: how it scales is extrapolated",
            )
        )
    dnn_id = known_as(dnn)
    batches = calibration.batches.get(f"{dnn_id}/{precision}/{task}")
    if batches is not None and not batches[0] <= batch_per_gpu <= batches[1]:
        notes.append(
            f"{dnn.name} was published with {plain(batches[0])} to {plain(batches[1])} samples per "
            f"GPU in {precision} precision, not {plain(batch_per_gpu)}: the rate is extrapolated"
        )
    return tuple(notes)


def unmeasured(
    calibration: "Calibration", levels: Levels, stack: Stack, dnn: DnnLike, gpu: Gpu, is_custom: bool
) -> tuple[str, ...]:
    """What was never measured of a combination, and what stands for it."""
    e, notes, index = levels, [], calibration.index
    if f"stack-precision:{e.stack}/{e.precision}" not in index:
        notes.append(
            f"{stack.name} was not measured in {e.precision} precision: rates are those of its framework's pool"
        )
    if is_custom and e.dnn:
        notes.append(f"{dnn.name} was not measured: it borrows the efficiency of {e.dnn}")
    elif is_custom:
        notes.append(f"{dnn.name} was not measured: it borrows the efficiency of the pool of all neural networks")
    elif f"dnn:{e.dnn}/{e.precision}" not in index:
        notes.append(f"{dnn.name} was not measured in {e.precision} precision: rates are those of its family's pool")
    elif f"pair:{e.stack}/{e.dnn}/{e.precision}/{e.task}" not in index:
        notes.append(f"{dnn.name} was not measured with {stack.name} in {e.precision} precision ({e.task})")
    if f"gpu:{e.gpu}" not in index and f"gpu:{gpu.id}" not in index:
        notes.append(f"{gpu.name} was not measured: it takes the efficiency of its generation")
    is_known = f"stack:{e.stack}" in index
    if is_known and e.inter_link and f"inter-stack:{e.stack}/{e.precision}" not in index and e.task == "training":
        notes.append(f"{stack.name} was measured on one server only: its exchange between servers is the pool's")
    return tuple(notes)
