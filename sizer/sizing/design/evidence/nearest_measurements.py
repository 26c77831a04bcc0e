"""Published measurements nearest to a workload, with what the model says about each."""

from functools import lru_cache

import numpy as np

from sizer.base.resources import data_dir
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.language.calibration import language_calibration
from sizer.calibrate.language.cases import LanguageCase, cases_of, gpu_of_case
from sizer.calibrate.language.rows import LanguageRow, number_format, stack_named
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import Observation, load_observations
from sizer.calibrate.predict import predict
from sizer.catalog.model import Catalog
from sizer.physical.platform import Platform
from sizer.sizing.result import NearbyMeasurement
from sizer.sizing.stages.language_rates import is_unmeasured, stack_in_fit, stack_on
from sizer.workload.resolve import ResolvedWorkload

# Rows shown; more would hide which ones carry the answer.
MAX_ROWS = 8


@lru_cache(maxsize=2)
def _rates(task: str) -> tuple[Observation, ...]:
    """Measured rates of a task; read once, the files belong to the installed package and are named for their task."""
    file = data_dir("catalog") / "benchmarks" / f"{task}.csv"
    return tuple(row for row in load_observations(file) if row.quantity == "samples_per_s" and row.gpus)


def nearest_measurements(
    work: ResolvedWorkload, n_gpus: int, catalog: Catalog, calibration: Calibration
) -> tuple[NearbyMeasurement, ...]:
    """Measurements of the same DNN, same task and precision, nearest in stack, then in number of GPUs."""
    task = "inference" if work.is_inference else "training"
    dnn = work.like or work.dnn.id

    def is_same_stack(row: Observation) -> bool:
        return row.stack == work.stack.id

    def distance(row: Observation) -> tuple[bool, float, str]:
        return (not is_same_stack(row), abs(float(np.log2(float(row.gpus or 1) / n_gpus))), row.id)

    def is_evidence(row: Observation) -> bool:
        # What the fit excludes for a reason (another exchange scheme, a loader that was too slow) is none; nor is what
        # the drives of the test limited, from which only the rate of the drives is taken.
        excluded = calibration.excluded.get(row.id)
        return excluded is None or (calibration.calibrates(row.id) and excluded.kind is not FitNote.DRIVE_BOUND)

    rows = [
        row
        for row in _rates(task)
        if row.dnn == dnn
        and row.precision in ("", work.request.precision)
        and row.gpu.startswith("v100")
        and is_evidence(row)
    ]
    nearest: list[NearbyMeasurement] = []
    for row in sorted(rows, key=distance):
        if len(nearest) == MAX_ROWS:
            break
        predicted = predict(row, catalog, calibration).estimate
        if predicted is None:
            continue
        nearest.append(
            NearbyMeasurement(
                id=row.id,
                source=row.source,
                where=row.where,
                gpu=catalog.gpus[row.gpu].name if row.gpu in catalog.gpus else row.gpu,
                server=catalog.servers[row.server].name if row.server in catalog.servers else "",
                software=row.software,
                n_gpus=int(row.gpus or 1),
                published=float(row.value),
                predicted=predicted,
                calibrates=calibration.calibrates(row.id),
                is_same_stack=is_same_stack(row),
                batch_per_gpu=None if row.batch_per_gpu is None else int(row.batch_per_gpu),
            )
        )
    return tuple(nearest)


def nearest_language_runs(
    work: ResolvedWorkload, platform: Platform, n_gpus: int, catalog: Catalog
) -> tuple[NearbyMeasurement, ...]:
    """Published runs of the same language model and kind of training.

    They are the nearest in GPU, generation, format, stack and size.
    """
    shape = work.dnn.transformer
    assert shape is not None
    calibration, language = language_calibration(), work.trained
    runs_on = stack_in_fit(catalog.stacks[stack_on(language, platform.gpu.vendor)], platform.gpu.id)
    kind = "lora" if language.method == "lora" else "pretrain"
    rows = [
        row
        for row in calibration.rows
        if row.model == shape.measured_as and row.kind == kind and row.tokens_per_s_per_gpu and row.gpus
    ]
    found = [
        (row, case)
        for row, case in zip(rows, cases_of(rows, catalog, calibration.rows), strict=True)
        if isinstance(case, LanguageCase)
    ]

    def is_same_stack(row: LanguageRow) -> bool:
        return stack_named(row) == runs_on

    def distance(pair: tuple[LanguageRow, LanguageCase]) -> tuple[bool, bool, bool, bool, float, str]:
        row, gpu = pair[0], gpu_of_case(pair[1], catalog)
        return (
            gpu.id != platform.gpu.id,
            gpu.generation != platform.gpu.generation,
            number_format(row.precision) != language.precision,
            not is_same_stack(row),
            abs(float(np.log2(row.gpus / n_gpus))),
            row.row_id,
        )

    nearest = []
    for row, case in sorted(found, key=distance)[:MAX_ROWS]:
        assert row.tokens_per_s_per_gpu is not None
        nearest.append(
            NearbyMeasurement(
                id=row.row_id,
                source=row.source,
                where=row.place,
                gpu=gpu_of_case(case, catalog).name,
                server="",
                software=row.software,
                n_gpus=int(row.gpus),
                published=row.tokens_per_s_per_gpu * row.gpus,
                predicted=calibration.tokens_per_s_per_gpu([case])[0].scaled(row.gpus),
                calibrates=row.role == "calibration",
                is_same_stack=is_same_stack(row),
                number_format=number_format(row.precision),
                batch_per_gpu=row.global_batch / row.gpus if row.global_batch else None,
            )
        )
    return tuple(nearest)


def unmeasured_language(work: ResolvedWorkload, platform: Platform, catalog: Catalog) -> tuple[CalibrationNote, ...]:
    """What no run of the measurements has of a language model on a platform."""
    shape, notes = work.dnn.transformer, []
    measured = language_calibration().cases
    if shape is None or all(case.row.model != shape.measured_as for case in measured):
        notes.append(note(FitNote.MODEL_FROM_SHAPE, work.dnn.name))
    gpus = [gpu_of_case(case, catalog) for case in measured]
    if all(gpu.id != platform.gpu.id for gpu in gpus):
        is_unknown = is_unmeasured(platform.gpu, catalog)
        kind = FitNote.GENERATION_NOT_MEASURED if is_unknown else FitNote.GPU_FROM_GENERATION
        notes.append(note(kind, platform.gpu.name))
    return tuple(notes)
