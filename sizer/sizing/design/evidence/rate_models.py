"""The models of rates as questions about a design ask them: nearest runs, what was never measured, the exchange."""

from dataclasses import dataclass
from typing import Protocol

from sizer.calibrate.calibration import Calibration, host_task_of
from sizer.calibrate.extrapolation import extrapolations, unmeasured
from sizer.calibrate.notes import CalibrationNote, FitNote, note
from sizer.calibrate.own_networks import trainings_of
from sizer.catalog.model import Catalog
from sizer.catalog.schema import Stack
from sizer.physical.platform import Platform
from sizer.sizing.design.evidence.nearest_measurements import (
    MAX_ROWS,
    nearest_language_runs,
    nearest_measurements,
    unmeasured_language,
)
from sizer.sizing.design.evidence.nearest_mlperf import nearest_mlperf_runs, notes_on_newer_gpu
from sizer.sizing.design.evidence.nearest_trainings import nearest_trainings
from sizer.sizing.result import NearbyMeasurement
from sizer.sizing.stages.host_bound import large_images
from sizer.sizing.stages.language_rates import LanguageAnswer
from sizer.sizing.stages.measured_rates import accelerator, is_measured
from sizer.sizing.stages.own_networks import far_rates
from sizer.sizing.stages.serving_rates import CALIBRATED_TOKENS, is_unserved
from sizer.workload.custom_network import CustomDnn
from sizer.workload.resolve import ResolvedWorkload
from sizer.workload.work_kinds import LANGUAGE, SERVING

Notes = tuple[CalibrationNote, ...]


@dataclass(frozen=True)
class RateOnDesign:
    """A workload on the GPUs of a design."""

    work: ResolvedWorkload
    platform: Platform
    n_gpus: int
    n_servers: int
    catalog: Catalog
    calibration: Calibration


class DesignRates(Protocol):
    """A model of rates, as far as questions about a design ask it."""

    name: str
    exchange_is_in_step: bool  # what is exposed of the exchange is part of a fitted step

    def peers(self, of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:
        """Published runs that are nearest."""
        ...

    def beyond(self, of: RateOnDesign) -> tuple[Notes, Notes]:
        """What no run has of the workload on these GPUs, and where the design lies beyond the runs."""
        ...

    def software(self, work: ResolvedWorkload, layout: LanguageAnswer | None, catalog: Catalog) -> Stack:
        """Software that runs on these GPUs."""
        ...


class _AsAsked:
    def software(self, work: ResolvedWorkload, layout: LanguageAnswer | None, catalog: Catalog) -> Stack:  # noqa: ARG002
        return work.stack


class _Language:
    name = LANGUAGE.name
    exchange_is_in_step = True

    def peers(self, of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:
        return nearest_language_runs(of.work, of.platform, of.n_gpus, of.catalog)

    def beyond(self, of: RateOnDesign) -> tuple[Notes, Notes]:
        # The host only hands tokens on: no line of it is missing.
        return unmeasured_language(of.work, of.platform, of.catalog), ()

    def software(self, work: ResolvedWorkload, layout: LanguageAnswer | None, catalog: Catalog) -> Stack:
        return work.stack if layout is None else catalog.stacks[layout.stack]


class _Serving(_AsAsked):
    name = SERVING.name
    exchange_is_in_step = True

    def peers(self, of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:  # noqa: ARG002
        return ()

    def beyond(self, of: RateOnDesign) -> tuple[Notes, Notes]:
        work, gpu, notes = of.work.served, of.platform.gpu, []
        if is_unserved(gpu):
            notes.append(note(FitNote.GENERATION_NOT_MEASURED, gpu.name))
        if work.context_tokens > CALIBRATED_TOKENS:
            notes.append(note(FitNote.CONTEXT_BEYOND, work.context_tokens, CALIBRATED_TOKENS))
        return tuple(notes), ()


class _MlperfNetworks:
    name = "mlperf"
    exchange_is_in_step = True

    def peers(self, of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:
        return nearest_mlperf_runs(of.work, of.platform, of.n_gpus, of.catalog, MAX_ROWS)

    def beyond(self, of: RateOnDesign) -> tuple[Notes, Notes]:
        return (*notes_on_newer_gpu(of.work, of.platform, of.n_gpus, of.catalog), *_of_host(of)), ()

    def software(self, work: ResolvedWorkload, layout: LanguageAnswer | None, catalog: Catalog) -> Stack:  # noqa: ARG002
        others = () if work.stack.runs_mlperf else catalog.stacks.values()
        return next((stack for stack in others if stack.runs_mlperf), work.stack)


class _V100Networks(_AsAsked):
    name = "v100"
    exchange_is_in_step = False

    def peers(self, of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:
        return nearest_measurements(of.work, of.n_gpus, of.catalog, of.calibration)

    def beyond(self, of: RateOnDesign) -> tuple[Notes, Notes]:
        work, gpu, calibration = of.work, of.platform.gpu, of.calibration
        dnn = work.request.dnn if isinstance(work.request.dnn, CustomDnn) else work.dnn
        precision, task = work.request.precision, "inference" if work.is_inference else "training"
        missing = unmeasured(calibration, work.stack, dnn, precision, gpu.id, gpu, task, of.n_servers)
        notes = [_with_name(one, of.catalog) for one in missing]
        if accelerator(gpu.id) is not None:  # moved by what was measured of its generation
            notes = [one for one in notes if one.kind is not FitNote.GPU_FROM_GENERATION]
            notes += notes_on_newer_gpu(work, of.platform, of.n_gpus, of.catalog)
        reach = extrapolations(calibration, work.stack, dnn, precision, task, of.n_gpus, work.batch_per_gpu)
        return (*notes, *_of_host(of)), reach


class _OwnNetworks(_AsAsked):
    name = "own"
    exchange_is_in_step = False

    def peers(self, of: RateOnDesign) -> tuple[NearbyMeasurement, ...]:
        return nearest_trainings(of.work, of.platform.gpu, of.n_gpus, MAX_ROWS, of.catalog)

    def beyond(self, of: RateOnDesign) -> tuple[Notes, Notes]:
        kind = of.work.own_kind or ""
        far = (note(FitNote.MEASURED_FAR, factor) for factor in far_rates(of.work, of.catalog))
        return (note(FitNote.DNN_OF_KIND, of.work.dnn.name, len(trainings_of(kind)), kind), *far, *_of_host(of)), ()


def design_rates(work: ResolvedWorkload, gpu_id: str) -> DesignRates:
    """The model that the rate of a workload on a GPU comes from."""
    if work.is_laid_out:
        return _LAID_OUT[work.kind.name]
    if work.own_kind is not None:
        return _OwnNetworks()
    return _MlperfNetworks() if is_measured(work, gpu_id) else _V100Networks()


_LAID_OUT: dict[str, DesignRates] = {LANGUAGE.name: _Language(), SERVING.name: _Serving()}


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
