"""Calibrated values that a design depends on, with their intervals."""

from collections.abc import Callable, Iterator

import numpy as np

from sizer.base.estimate import Z90
from sizer.base.quantities import NARROW_SPACE, duration, si, significant
from sizer.calibrate.calibration import Calibration
from sizer.explain.language_stages import fitted_values
from sizer.explain.measured_stages import measured_parts
from sizer.perf.step_terms import (
    ABSENT,
    EFFICIENCY,
    FILL,
    HOST_LINK,
    INTER,
    INTRA,
    LAUNCH,
    OVERLAP,
    SCALE_OUT,
    STRAGGLER,
)
from sizer.present import words
from sizer.present.tables import Row, Table, fact_table, row
from sizer.sizing.design.evaluated_design import EvaluatedDesign
from sizer.sizing.design.rate_models import design_rates
from sizer.sizing.result import WorkloadAnswer
from sizer.sizing.stages.gpu_side import terms_of


def calibration_table(evaluated: EvaluatedDesign, number: int) -> Table:
    """Coefficients of workload ``number``, counted from 1, on the platform of the design."""
    design = evaluated.result.design
    answer = design.workloads[number - 1]
    return fact_table(
        f"calibration-{number}",
        f"Calibrated values for {answer.workload.name}",
        _rows(evaluated, number),
        titles=("Value", "Median", "90 % interval", "Symbol"),
        widths=(42, 16, 20, 22),
        aligns=("left", "right", "left", "left"),
        note="An interval as wide as the prior means that no similar run has been published.",
        style="",
    )


def _rows(evaluated: EvaluatedDesign, number: int) -> Iterator[Row]:
    design, calibration = evaluated.result.design, evaluated.calibration
    answer = design.workloads[number - 1]
    model = evaluated.workloads[number - 1]
    if model is None:  # the catalogue lacks a part of a saved design
        return
    name = design_rates(model.work, design.platform.gpu.id).name
    if name == "language":
        for label, median, interval in fitted_values():
            yield row(label, median, interval, "–")
        return
    if name == "mlperf":
        for part in measured_parts(model):
            yield row(part.label, part.text(3), "–", part.symbol)
        capacity = next(stage.capacity for stage in answer.stages if stage.key == "gpu")
        unit = words.sample_unit(answer.dnn)
        low, middle, high = (si(float(value), unit, 3) for value in (capacity.low, capacity.value, capacity.high))
        yield row("Rate of the GPUs", *(middle, f"{low} to {high}"), "C")
        yield from _around(answer, calibration)
        return
    is_inference = answer.workload.task != "training"
    terms = terms_of(model.work, design.platform, design.n_servers, calibration, evaluated.catalog)
    sd = np.sqrt(np.diag(terms.covariance))

    def line(
        label: str, place: int, text: Callable[[float], str], symbol: str, value: Callable[[float], float] = np.exp
    ) -> Iterator[Row]:
        if terms.values[place] == ABSENT:
            return
        median, reach = float(terms.values[place]), Z90 * float(sd[place])
        texts = [text(float(value(point))) for point in (median, median - reach, median + reach)]
        yield row(label, texts[0], f"{texts[1]} to {texts[2]}", symbol)

    yield from line("Fraction of the GPU's peak rate achieved", EFFICIENCY, words.percent, "η")
    yield from line("Fixed part of a step, independent of the batch", LAUNCH, _ms, "t launch")
    yield from line("Samples needed to fill a GPU", FILL, lambda samples: significant(samples, 2), "f")
    if is_inference:
        yield from line("Rate of one host-to-GPU link", HOST_LINK, _rate, "B host")
    elif design.n_gpus > 1:
        yield from line("Rate between the GPUs of a server, per GPU", INTRA, _rate, "B in")
        if design.n_servers > 1:
            yield from line("Fraction of the line rate achieved by the exchange", INTER, words.percent, "u", _share)
        yield from line("Fraction of the backward pass that hides the exchange", OVERLAP, words.percent, "k", _logistic)
        yield from line("Increase in step time per doubling of the GPUs in a server", STRAGGLER, words.percent, "s")
        if design.n_servers > 1:
            yield from line("Increase in step time from one server to two", SCALE_OUT, words.percent, "r")
    yield from _around(answer, calibration)


def _around(answer: WorkloadAnswer, calibration: Calibration) -> Iterator[Row]:
    """Host work, start-up and epochs."""
    if float(answer.cpu_utilization_fraction.value) > 0:
        work = calibration.host_work(answer.sample_format, answer.stack)
        factor = float(np.exp(Z90 * work.log_sd(answer.sample_bytes)))
        core_s = work.core_s(answer.sample_bytes)
        interval = f"{_time(core_s / factor)} to {_time(core_s * factor)}"
        yield row("Host core time per sample", _time(core_s), interval, "c")
    if answer.time is not None:
        yield row("Start-up time of a run", duration(answer.time.start_up_s), "–", "t start")
        yield row("Epochs to target", words.estimate(answer.time.epochs, "epochs", bare=True), "–", "E")


def _time(time_s: float) -> str:
    """Core time of a sample: microseconds for text, milliseconds for images, seconds for volumes."""
    return si(time_s, "s", 2)


def _ms(time_s: float) -> str:
    return f"{significant(1e3 * time_s, 2)}{NARROW_SPACE}ms"


def _rate(bytes_per_s: float) -> str:
    return si(bytes_per_s, "B/s", 2)


def _logistic(value: float) -> float:
    return float(1 / (1 + np.exp(-value)))


def _share(value: float) -> float:
    """Fraction of a line rate, limited to 1 whatever the fit allows."""
    return min(float(np.exp(value)), 1.0)
