"""Other public predictors: their formulas on the rows of the fit, and this tool on the runs of their papers."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sizer.base.arrays import Bools, Floats
from sizer.base.estimate import Z90
from sizer.calibrate.language.calibration import LanguageCalibration, scatter
from sizer.calibrate.language.cases import LanguageCase, arrays, cases_of, gpu_of_case, work_flop
from sizer.calibrate.language.rows import load_language_rows, shipped_path
from sizer.calibrate.language.stacks import number_format
from sizer.catalog.model import Catalog
from sizer.perf.language.step import ELEMENT_BYTES

# llm-analysis takes one efficiency of the peak for all products, 0.5 as its examples do, and full links.
ROOFLINE_EFFICIENCY = 0.5
# A rule of thumb of planning: model FLOP over 40 % of the peak.
USUAL_UTILIZATION = 0.4
# Bytes of weights that full sharding gathers for the forward and the backward pass.
_GATHERS = 2.0
# All-reduces of a layer: two forward, two backward.
_ALL_REDUCES = 4.0
# Sources of runs that other tools were validated with, and the mean of |predicted / published - 1| of their step times:
# as the paper of Calculon states it, as that of vTrain states it for both, and of the table that SimuMax prints.
_THEIR_ERRORS: dict[str, dict[str, float]] = {
    "korthikanti-2022": {"Calculon": 0.0365},
    "vtrain": {"vTrain": 0.147, "Calculon": 0.129},
    "simumax": {"SimuMax": 0.0562},
}


class Predictor(StrEnum):
    """Whose formula."""

    OURS = "this-tool"
    ROOFLINE = "llm-analysis"
    ONE_UTILIZATION = "one-utilization"  # 40 % of the peak everywhere
    FITTED_UTILIZATION = "fitted-utilization"  # the median of each GPU and number format on these rows


@dataclass(frozen=True)
class PredictorErrors:
    """Errors ln(predicted / published) of step times of one predictor on the same rows."""

    predictor: Predictor
    rows: int
    median: float
    p90: float
    bias: float


@dataclass(frozen=True)
class PeerRuns:
    """This tool on the runs that another was validated with, fitted without any of them: errors of step times."""

    source: str
    rows: int
    mean: float  # of |predicted / published - 1|
    coverage: float  # share inside the 90 % interval
    theirs: dict[str, float]  # mean error of others on the same runs, by their name


def runs_of_peers(calibration: LanguageCalibration, catalog: Catalog) -> tuple[PeerRuns, ...]:
    """Predict the runs that other tools were validated with; those that the fit has are left out of it."""
    rows = load_language_rows(shipped_path().with_name("peers.csv"))
    others = [case for case in cases_of(rows, catalog, calibration.rows) if isinstance(case, LanguageCase)]
    found = []
    for source, theirs in _THEIR_ERRORS.items():
        out = np.array([case.row.source == source for case in calibration.cases])
        if out.any():
            errors, variance = calibration.fit.without(out)
            mine = [case for case in calibration.cases if case.row.source == source]
            log_sd = np.sqrt(variance + scatter(mine) ** 2)
        else:
            mine = [case for case in others if case.row.source == source]
            step = calibration.step_seconds(mine)
            errors = np.log(step.value) - np.array([case.log_step_s for case in mine], dtype=float)
            log_sd = step.log_sd
        mean = float(np.mean(np.abs(np.expm1(errors))))
        inside = float(np.mean(np.abs(errors) <= Z90 * log_sd))
        found.append(PeerRuns(source, len(mine), mean, inside, theirs))
    return tuple(found)


def predictor_errors(calibration: LanguageCalibration, catalog: Catalog) -> tuple[PredictorErrors, ...]:
    """Each predictor on the fitted rows whose layout is stated."""
    fit = calibration.fit
    cases = fit.model.cases
    stated = np.array([not case.guessed for case in cases])
    measured = fit.measured
    peaks = np.array([_peak(case, catalog) for case in cases])
    work = work_flop(cases)
    usual = np.log(work / (USUAL_UTILIZATION * peaks))
    errors = {
        Predictor.OURS: -fit.residuals,
        Predictor.ROOFLINE: np.log(roofline_step_s(cases, peaks)) - measured,
        Predictor.ONE_UTILIZATION: usual - measured,
        Predictor.FITTED_UTILIZATION: _fitted(usual - measured, cases, stated),
    }
    return tuple(_errors(name, found[stated]) for name, found in errors.items())


def _errors(name: Predictor, found: Floats) -> PredictorErrors:
    size = np.abs(found)
    return PredictorErrors(
        name, len(found), float(np.median(size)), float(np.quantile(size, 0.9)), float(np.median(found))
    )


def _fitted(errors: Floats, cases: Sequence[LanguageCase], stated: Bools) -> Floats:
    groups = np.array([case.levels.gpu_precision for case in cases])
    found = errors.copy()
    for group in np.unique(groups):
        here = groups == group
        known = errors[here & stated]
        found[here] -= np.median(known) if len(known) else 0.0
    return found


def _peak(case: LanguageCase, catalog: Catalog) -> float:
    """Peak of the data sheet for the number format of a case. [FLOP/s]"""
    gpu, precision = gpu_of_case(case, catalog), number_format(case.row.precision)
    peak = gpu.peak_flop_per_s.get(precision)
    return gpu.peak_mixed_flop_per_s.value if peak is None else peak.value


def roofline_step_s(cases: Sequence[LanguageCase], peak_flop_per_s: Floats) -> Floats:
    """Seconds of a step as llm-analysis counts them.

    Products at one share of the peak, all-reduces of tensor parallelism at full link rate, gathered weights of full
    sharding where they take longer than computing; no bubble, no exchange of gradients, no optimizer.

    Parameters
    ----------
    cases : sequence of LanguageCase
    peak_flop_per_s : ndarray
        Of the data sheet. [FLOP/s]
    """
    shapes, layouts, machines = arrays(cases)
    busy = work_flop(cases) * (1 + layouts.recompute / 3) / (ROOFLINE_EFFICIENCY * peak_flop_per_s)
    tokens = layouts.batch * layouts.sequence / (layouts.data * layouts.context)
    ring = 2 * (layouts.tensor - 1) / layouts.tensor
    near = np.where(layouts.tensor <= machines.domain_gpus, machines.domain_bytes_per_s, machines.nic_bytes_per_s)
    reduced = _ALL_REDUCES * tokens * shapes.hidden * ELEMENT_BYTES * shapes.layers / layouts.pipeline * ring / near
    held = shapes.parameters / (layouts.tensor * layouts.pipeline)
    links = np.where(layouts.replicas <= machines.domain_gpus, machines.domain_bytes_per_s, machines.nic_bytes_per_s)
    gathered = layouts.micro_batches * _GATHERS * ELEMENT_BYTES * held / links
    return np.asarray(np.where(layouts.is_fully_sharded, np.maximum(busy, gathered), busy) + reduced)
