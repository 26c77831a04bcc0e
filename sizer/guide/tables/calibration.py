"""The values of the calibration that a design rests on, with their intervals."""

from collections.abc import Callable, Iterator

import numpy as np

from sizer.base.estimate import Z90
from sizer.base.quantities import duration, si, significant
from sizer.calibrate.calibration import Calibration, stored_calibration
from sizer.catalog.model import Catalog
from sizer.perf.step_terms import EFFICIENCY, FILL, HOST_LINK, INTER, INTRA, LAUNCH, OVERLAP, SCALE_OUT, STRAGGLER
from sizer.present import words
from sizer.present.tables import Row, Table, columns, row
from sizer.sizing.result import DesignAnswer, WorkloadAnswer
from sizer.sizing.stages.platform_columns import compute_groups
from sizer.workload.request import CustomDnn


def calibration_table(design: DesignAnswer, answer: WorkloadAnswer, number: int, catalog: Catalog) -> Table:
    """Coefficients of one workload on this platform."""
    rows = tuple(_rows(design, answer, catalog, stored_calibration()))
    heads = columns(
        ("Value", "left", 42),
        ("Median", "right", 16),
        ("90 % interval", "left", 20),
        ("In the formulas", "left", 22),
    )
    caption = f"Calibrated values behind {answer.workload.name}"
    note = "An interval as wide as the prior says that nothing near was published."
    return Table(f"calibration-{number}", caption, heads, rows, note)


def _rows(design: DesignAnswer, answer: WorkloadAnswer, catalog: Catalog, calibration: Calibration) -> Iterator[Row]:
    group = compute_groups([design.platform])[0][0]
    is_inference = answer.workload.task != "training"
    terms = calibration.step_terms(
        stack=answer.stack,
        dnn=answer.workload.dnn if isinstance(answer.workload.dnn, CustomDnn) else answer.dnn,
        precision=answer.workload.precision,
        gpu=catalog.gpus[group.gpu],
        intra_link=group.intra_link,
        inter_link=group.fabric if design.n_servers > 1 else None,
        task="inference" if is_inference else "training",
        server=group.server,
    )
    sd = np.sqrt(np.diag(terms.covariance))

    def line(
        label: str, place: int, text: Callable[[float], str], symbol: str, value: Callable[[float], float] = np.exp
    ) -> Row:
        middle, reach = float(terms.values[place]), Z90 * float(sd[place])
        low, high = value(middle - reach), value(middle + reach)
        return row(
            label,
            text(float(value(middle))),
            f"{text(float(low))} to {text(float(high))}",
            symbol,
        )

    def plain(number: float) -> str:
        return significant(number, 2)

    yield line("Share of the GPU's peak that arithmetic reaches", EFFICIENCY, words.percent, "η")
    yield line(
        "Part of a step that does not grow with the batch",
        LAUNCH,
        lambda s: f"{significant(1e3 * s, 2)}\u202fms",
        "t launch",
    )
    yield line("Samples that it takes to fill a GPU", FILL, plain, "f")
    if is_inference:
        yield line("Rate of one link between host and GPUs", HOST_LINK, lambda rate: si(rate, "B/s", 2), "B host")
    elif design.n_gpus > 1:
        yield line("Rate of one GPU towards the others of its server", INTRA, lambda rate: si(rate, "B/s", 2), "B in")
        if design.n_servers > 1:
            yield line("Share of the line rate that the exchange reaches", INTER, words.percent, "u", _share)
        yield line("Share of the backward pass that hides exchange", OVERLAP, words.percent, "k", _logistic)
        yield line("Growth of a step with each doubling of the GPUs of a server", STRAGGLER, words.percent, "s")
        if design.n_servers > 1:
            yield line("Growth of a step on two servers against one", SCALE_OUT, words.percent, "r")
    fixed_s, s_per_byte, log_sd = (
        calibration.decode_terms(answer.stack.loader, answer.stack.framework, answer.stack.id)
        if float(answer.cpu_utilization_fraction.value) > 0
        else (0.0, 0.0, 0.0)
    )
    if fixed_s > 0:
        spread = float(np.exp(Z90 * log_sd))
        core_ms = 1e3 * (fixed_s + s_per_byte * answer.sample_bytes)
        yield row(
            "Core time of a sample on the host",
            f"{significant(core_ms, 2)}\u202fms",
            "{low} to {high}".format(
                low=f"{significant(core_ms / spread, 2)}\u202fms", high=f"{significant(core_ms * spread, 2)}\u202fms"
            ),
            "c",
        )
    if answer.time is not None:
        yield row("Start-up of a run", duration(answer.time.start_up_s), "–", "t start")
        yield row("Epochs to the target", words.estimate(answer.time.epochs, "epochs", bare=True), "–", "E")


def _logistic(value: float) -> float:
    return float(1 / (1 + np.exp(-value)))


def _share(value: float) -> float:
    """Share of a line rate; whatever the fit would allow, no more than the line carries."""
    return min(float(np.exp(value)), 1.0)
