"""The models of rates as questions about a design ask them: nearest runs, what was never measured, the exchange."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sizer.base.estimate import Estimate
from sizer.base.resources import data_dir
from sizer.base.stored_answers import stores_by_catalog
from sizer.calibrate.calibration import Calibration, extrapolations, host_task_of, unmeasured
from sizer.calibrate.language.calibration import language_calibration
from sizer.calibrate.language.cases import LanguageCase, LanguageRow, cases_of, gpu_of_case, number_format, stack_named
from sizer.calibrate.modern.rows import ModernRow, fitted_ids, n_runs, published_runs, sourced_accelerators
from sizer.calibrate.modern.terms import FEW_RUNS, modern_calibration
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.observations import Observation, load_observations
from sizer.calibrate.own_networks import TRAINING, OwnRun, estimated_rates, own_code_rate, trainings_of
from sizer.calibrate.reports import predict as predict_mlperf
from sizer.calibrate.serving.calibration import CALIBRATED_TOKENS
from sizer.calibrate.validate import predict
from sizer.catalog.labels import gpu_name
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Gpu, Stack
from sizer.physical.platform import Platform
from sizer.sizing.result import NearbyMeasurement
from sizer.sizing.stages.compute_side import large_images
from sizer.sizing.stages.laid_out_models import lacks_rate
from sizer.sizing.stages.language_rates import LanguageAnswer, far_token_rates, stack_in_fit, stack_on
from sizer.sizing.stages.measured_rates import accelerator, anchor_of, is_measured, takes_own_code
from sizer.sizing.stages.own_networks import far_rates
from sizer.sizing.stages.serving_rates import far_request_rates
from sizer.workload.custom_network import CustomDnn
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.work_kinds import LANGUAGE, SERVING

# Rows shown; more would hide which ones carry the answer.
MAX_ROWS = 8


@dataclass(frozen=True)
class RateOnDesign:
    """A workload on the GPUs of a design."""

    work: ResolvedWorkload
    platform: Platform
    n_gpus: int
    n_servers: int
    catalog: Catalog
    calibration: Calibration


def nearest_mlperf_runs(of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:
    """Published runs of the same network, nearest in GPU, generation, size and round."""
    known = sourced_accelerators()
    here = accelerator(of.platform.gpu.id)
    assert here is not None

    def distance(row: ModernRow) -> tuple[bool, bool, float, float, str]:
        gpu = known[row.accelerator]
        return (
            gpu.gpu != of.platform.gpu.id,
            gpu.generation != here.generation,
            abs(math.log2((row.accelerators or 1) / of.n_gpus)),
            -row.round_order,
            row.id,
        )

    runs = []
    for row, rate in sorted(_mlperf_rates(of.work.mlperf), key=lambda run: distance(run[0]))[:MAX_ROWS]:
        assert row.samples_per_s is not None
        runs.append(
            NearbyMeasurement(
                id=row.id,
                source=row.source,
                where=row.submitter,
                gpu=of.catalog.gpus[known[row.accelerator].gpu].name,
                server=_submitted_on(row.system, of.catalog),
                software=f"MLPerf {row.round}",
                n_gpus=row.accelerators or 1,
                published=row.samples_per_s,
                predicted=rate,
                calibrates=row.id in fitted_ids(),
                time_to_train_s=row.time_to_train_s,
            )
        )
    return tuple(runs)


@lru_cache
def _mlperf_rates(network: str) -> tuple[tuple[ModernRow, Estimate], ...]:
    """Published runs of a network, and the rate that the fit gives each. [samples/s]"""
    known = sourced_accelerators()
    rows = [row for row in published_runs(network) if row.accelerator in known and row.samples_per_s]
    return tuple(zip(rows, (rate for rate, _ in predict_mlperf(rows, modern_calibration())), strict=True))


def _submitted_on(system: str, catalog: Catalog) -> str:
    """Server of a system submitted to MLPerf, such as '2xXE9680Lx8H200-SXM-141GB'; "" where the catalogue has none."""
    found = [server.name for server in catalog.servers.values() if _letters(server.name) in _letters(system)]
    return max(found, key=len, default="")


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def notes_on_newer_gpu(of: RateOnDesign) -> tuple[CalibrationNote, ...]:
    """How far a rate on a GPU newer than V100 lies beyond the published runs; empty where it interpolates."""
    here = accelerator(of.platform.gpu.id)
    assert here is not None
    network, gpu = of.work.dnn.name, of.platform.gpu.name
    if not is_measured(of.work, of.platform.gpu.id):
        return (note(FitNote.GPU_MOVED_FROM_V100, network, gpu, of.catalog.dnns[anchor_of(of.work, of.catalog)].name),)
    if n_runs(here.generation) < FEW_RUNS:
        return (note(FitNote.MLPERF_GENERATION, gpu),)
    known = sourced_accelerators()
    sizes = [
        row.accelerators or 1
        for row in published_runs(of.work.mlperf)
        if row.accelerator in known and known[row.accelerator].gpu == of.platform.gpu.id
    ]
    if not sizes:
        return (note(FitNote.MLPERF_DNN_ON_GPU, network, gpu),)
    most = max(sizes)
    return (note(FitNote.MORE_ACCELERATORS, network, gpu, most, of.n_gpus),) if of.n_gpus > 2 * most else ()


def nearest_trainings(of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:
    """Trainings of networks of the same kind, nearest in generation, GPU, work of a sample and number of GPUs."""
    flop = of.work.dnn.forward_flop.value

    def distance(run: OwnRun) -> tuple[bool, bool, float, float, str]:
        sizes = abs(math.log2(run.forward_flop / flop)), abs(math.log2(run.gpus / of.n_gpus))
        return (run.generation != of.platform.gpu.generation, run.gpu != of.platform.gpu.id, *sizes, run.id)

    nearest = sorted(trainings_of(of.work.own_kind or ""), key=distance)[:MAX_ROWS]
    rates = estimated_rates(nearest)
    return tuple(
        NearbyMeasurement(
            id=run.id,
            source=run.source,
            where=run.where,
            gpu=gpu_name(run.gpu, of.catalog),
            server="",
            software=f"{run.network.replace('_', '-')}, {run.software}",
            n_gpus=run.gpus,
            published=run.samples_per_s,
            predicted=rates[index],
            calibrates=True,
            is_same_stack=False,
            batch_per_gpu=run.batch_per_gpu,
        )
        for index, run in enumerate(nearest)
    )


@lru_cache(maxsize=2)
def _rates(task: str) -> tuple[Observation, ...]:
    """Measured rates of a task; read once, the files belong to the installed package and are named for their task."""
    file = data_dir("catalog") / "benchmarks" / f"{task}.csv"
    return tuple(row for row in load_observations(file) if row.quantity == "samples_per_s" and row.gpus)


def nearest_measurements(of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:
    """Measurements of the same DNN, same task and precision, nearest in stack, then in number of GPUs."""
    task = "inference" if of.work.is_inference else "training"
    dnn = of.work.like or of.work.dnn.id

    def is_same_stack(row: Observation) -> bool:
        return row.stack == of.work.stack.id

    def distance(row: Observation) -> tuple[bool, float, str]:
        return (not is_same_stack(row), abs(float(np.log2(float(row.gpus or 1) / of.n_gpus))), row.id)

    def is_evidence(row: Observation) -> bool:
        # What the fit excludes for a reason (another exchange scheme, a loader that was too slow) is none; nor is what
        # the drives of the test limited, from which only the rate of the drives is taken.
        excluded = of.calibration.excluded.get(row.id)
        return excluded is None or (of.calibration.calibrates(row.id) and excluded.kind is not FitNote.DRIVE_BOUND)

    rows = [
        row
        for row in _rates(task)
        if row.dnn == dnn
        and row.precision in ("", of.work.request.precision)
        and row.gpu.startswith("v100")
        and is_evidence(row)
    ]
    nearest: list[NearbyMeasurement] = []
    for row in sorted(rows, key=distance):
        if len(nearest) == MAX_ROWS:
            break
        predicted = predict(row, of.catalog, of.calibration).estimate
        if predicted is None:
            continue
        nearest.append(
            NearbyMeasurement(
                id=row.id,
                source=row.source,
                where=row.where,
                gpu=gpu_name(row.gpu, of.catalog),
                server=of.catalog.servers[row.server].name if row.server in of.catalog.servers else "",
                software=row.software,
                n_gpus=int(row.gpus or 1),
                published=float(row.value),
                predicted=predicted,
                calibrates=of.calibration.calibrates(row.id),
                is_same_stack=is_same_stack(row),
                batch_per_gpu=None if row.batch_per_gpu is None else int(row.batch_per_gpu),
            )
        )
    return tuple(nearest)


def nearest_language_runs(of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:
    """Published runs of the same language model and kind of training.

    They are the nearest in GPU, generation, format, stack and size.
    """
    shape = of.work.dnn.transformer
    assert shape is not None
    calibration, language = language_calibration(), of.work.trained
    runs_on = stack_in_fit(of.catalog.stacks[stack_on(language, of.platform.gpu.vendor)], of.platform.gpu.id)
    kind = "lora" if language.method == "lora" else "pretrain"

    def work_out() -> list[tuple[LanguageRow, Gpu, Estimate]]:
        rows = [
            row
            for row in calibration.rows
            if row.model == shape.measured_as and row.kind == kind and row.tokens_per_s_per_gpu and row.gpus
        ]
        each = zip(rows, cases_of(rows, of.catalog, calibration.rows), strict=True)
        known = [(row, case) for row, case in each if isinstance(case, LanguageCase)]
        rates = calibration.tokens_per_s_per_gpu([case for _, case in known])
        return [(row, gpu_of_case(case, of.catalog), rates[i]) for i, (row, case) in enumerate(known)]

    found: list[tuple[LanguageRow, Gpu, Estimate]] = _language_runs(of.catalog).get((shape.measured_as, kind), work_out)

    def is_same_stack(row: LanguageRow) -> bool:
        return stack_named(row) == runs_on

    def distance(run: tuple[LanguageRow, Gpu, Estimate]) -> tuple[bool, bool, bool, bool, float, str]:
        row, gpu, _ = run
        return (
            gpu.id != of.platform.gpu.id,
            gpu.generation != of.platform.gpu.generation,
            number_format(row.precision) != language.precision,
            not is_same_stack(row),
            abs(float(np.log2(row.gpus / of.n_gpus))),
            row.row_id,
        )

    nearest = []
    for row, gpu, rate in sorted(found, key=distance)[:MAX_ROWS]:
        assert row.tokens_per_s_per_gpu is not None
        nearest.append(
            NearbyMeasurement(
                id=row.row_id,
                source=row.source,
                where=row.place,
                gpu=gpu.name,
                server="",
                software=row.software,
                n_gpus=int(row.gpus),
                published=row.tokens_per_s_per_gpu * row.gpus,
                predicted=rate.scaled(row.gpus),
                calibrates=row.role == "calibration",
                is_same_stack=is_same_stack(row),
                number_format=number_format(row.precision),
                batch_per_gpu=row.global_batch / row.gpus if row.global_batch else None,
            )
        )
    return tuple(nearest)


# Runs by model and kind of training, with the rate of a GPU that the fit gives each. [tokens/s]
_language_runs = stores_by_catalog(64)

Notes = tuple[CalibrationNote, ...]


@dataclass(frozen=True)
class DesignRates:
    """A model of rates, as far as questions about a design ask it."""

    name: str
    peers: Callable[[RateOnDesign], tuple[NearbyMeasurement, ...]]  # published runs that are nearest
    # What no run has of the workload on these GPUs, and where the design lies beyond the runs.
    beyond: Callable[[RateOnDesign], tuple[Notes, Notes]]
    exchange_is_in_step: bool  # what is exposed of the exchange is part of a fitted step
    # On these GPUs.
    software: Callable[[ResolvedWorkload, LanguageAnswer | None, Catalog], Stack] = lambda work, *_: work.stack


def _beyond_language(of: RateOnDesign) -> tuple[Notes, Notes]:
    # The host only hands tokens on: no line of it is missing.
    far = (note(FitNote.MEASURED_FAR, factor) for factor in far_token_rates(of.work.trained, of.catalog))
    # What no run of the measurements has of a language model on a platform.
    shape, notes = of.work.dnn.transformer, []
    measured = language_calibration().cases
    if shape is None or all(case.row.model != shape.measured_as for case in measured):
        notes.append(note(FitNote.MODEL_FROM_SHAPE, of.work.dnn.name))
    gpus = [gpu_of_case(case, of.catalog) for case in measured]
    if all(gpu.id != of.platform.gpu.id for gpu in gpus):
        is_unknown = lacks_rate(of.work, of.platform.gpu, of.catalog)
        # Software of a vendor is known to run language models where one of its GPUs was measured.
        is_shown = of.platform.gpu.vendor in {gpu.vendor for gpu in gpus}
        unknown = FitNote.RATE_BY_PEAK if is_shown else FitNote.GENERATION_NOT_MEASURED
        kind = unknown if is_unknown else FitNote.GPU_FROM_GENERATION
        notes.append(note(kind, of.platform.gpu.name))
    return (*notes, *far), ()


def _beyond_serving(of: RateOnDesign) -> tuple[Notes, Notes]:
    work, gpu, notes = of.work.served, of.platform.gpu, []
    if lacks_rate(of.work, gpu, of.catalog):
        notes.append(note(FitNote.GENERATION_NOT_MEASURED, gpu.name))
    if work.context_tokens > CALIBRATED_TOKENS:
        notes.append(note(FitNote.CONTEXT_BEYOND, work.context_tokens, CALIBRATED_TOKENS))
    notes += [note(FitNote.MEASURED_FAR, factor) for factor in far_request_rates(work.unloaded, of.catalog)]
    return tuple(notes), ()


def _beyond_mlperf(of: RateOnDesign) -> tuple[Notes, Notes]:
    notes = [*notes_on_newer_gpu(of), *_of_host(of)]
    if takes_own_code(of.work, of.platform.gpu.id):
        batch = of.work.batch_on(of.platform.gpu.id, of.n_gpus)
        log_rate, _ = own_code_rate(np.array(of.work.dnn.forward_flop.value * batch))
        notes.insert(0, note(FitNote.RATE_OF_OWN_CODE, round(float(np.exp(-log_rate)), 1)))
    return tuple(notes), ()


def _mlperf_software(work: ResolvedWorkload, layout: LanguageAnswer | None, catalog: Catalog) -> Stack:  # noqa: ARG001
    if work.request.run != "benchmark" and work.request.stack is None:
        return next((stack for stack in catalog.stacks.values() if stack.trains_own), work.stack)
    others = () if work.stack.runs_mlperf else catalog.stacks.values()
    return next((stack for stack in others if stack.runs_mlperf), work.stack)


def _beyond_v100(of: RateOnDesign) -> tuple[Notes, Notes]:
    work, gpu, calibration = of.work, of.platform.gpu, of.calibration
    dnn = work.request.dnn if isinstance(work.request.dnn, CustomDnn) else work.dnn
    precision, task = work.request.precision, "inference" if work.is_inference else "training"
    missing = unmeasured(calibration, work.stack, dnn, precision, gpu.id, gpu, task, of.n_servers)
    notes = [_with_name(one, of.catalog) for one in missing]
    if accelerator(gpu.id) is not None:  # moved by what was measured of its generation
        notes = [one for one in notes if one.kind is not FitNote.GPU_FROM_GENERATION]
        notes += notes_on_newer_gpu(of)
    reach = extrapolations(calibration, work.stack, dnn, precision, task, of.n_gpus, work.batch_per_gpu)
    return (*notes, *_of_host(of)), reach


def _beyond_own(of: RateOnDesign) -> tuple[Notes, Notes]:
    kind = of.work.own_kind or ""
    trainings = trainings_of(kind)
    is_of_people = any(run.measured == TRAINING for run in trainings)
    told = FitNote.DNN_OF_KIND if is_of_people else FitNote.DNN_OF_TUNED_KIND
    notes = [note(told, of.work.dnn.name, len(trainings), kind)]
    if of.work.request.batch_per_gpu is None and not of.work.request.measured:
        notes.append(note(FitNote.BATCH_TAKEN, of.work.batch_on(of.platform.gpu.id)))
    notes += [note(FitNote.MEASURED_FAR, factor) for factor in far_rates(of.work, of.catalog)]
    return (*notes, *_of_host(of)), ()


_LAID_OUT = {
    LANGUAGE.name: DesignRates(
        LANGUAGE.name,
        nearest_language_runs,
        _beyond_language,
        exchange_is_in_step=True,
        software=lambda work, layout, catalog: work.stack if layout is None else catalog.stacks[layout.stack],
    ),
    SERVING.name: DesignRates(SERVING.name, lambda _: (), _beyond_serving, exchange_is_in_step=True),
}
_MLPERF = DesignRates(
    "mlperf",
    nearest_mlperf_runs,
    _beyond_mlperf,
    exchange_is_in_step=True,
    software=_mlperf_software,
)
_V100 = DesignRates("v100", nearest_measurements, _beyond_v100, exchange_is_in_step=False)
_OWN = DesignRates("own", nearest_trainings, _beyond_own, exchange_is_in_step=False)


def design_rates(work: ResolvedWorkload, gpu_id: str) -> DesignRates:
    """The model that the rate of a workload on a GPU comes from."""
    if work.is_laid_out:
        return _LAID_OUT[work.kind.name]
    if work.own_kind is not None:
        return _OWN
    return _MLPERF if is_measured(work, gpu_id) else _V100


def _of_host(of: RateOnDesign) -> Notes:
    """What was never measured of the host's work."""
    if of.work.request.host_core_s is not None:
        return ()
    loader = of.calibration.hosts.note(host_task_of(of.work.sample_format, of.work.stack))
    return tuple(one for one in (loader, large_images(of.work, loader)) if one is not None)


def _with_name(missing: CalibrationNote, catalog: Catalog) -> CalibrationNote:
    """A note with the name, in place of the id, of the neural network whose measurements are used for another."""
    if missing.kind is not FitNote.DNN_FROM_LIKE:
        return missing
    name, like = missing.values
    return CalibrationNote(missing.kind, (name, catalog.dnns[str(like)].name))
