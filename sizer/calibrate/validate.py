"""How well the model predicts what was published: rows with predictions, also of fits without them, and summaries."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sizer.base.arrays import Floats
from sizer.base.errors import CalibrationError
from sizer.base.estimate import Estimate
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import RateCase
from sizer.calibrate.engine import AccuracyTarget
from sizer.calibrate.fit.joint import JointFit
from sizer.calibrate.fit.rates import RATE_TASKS, is_rate, usable_cases
from sizer.calibrate.ids import UnknownName
from sizer.calibrate.language.calibration import GroupAccuracy
from sizer.calibrate.notes import CALIBRATED, CalibrationNote, RowStatus, RowUse
from sizer.calibrate.observations import Observation, read_stored, stored_path, write_stored
from sizer.calibrate.predict import predict_all
from sizer.calibrate.rules import precision_of
from sizer.catalog.model import Catalog

# A series that is measured on as many GPUs predicts its larger clusters.
SMALL_GPUS = 8


@dataclass(frozen=True)
class CrossValidation:
    """Predictions of rows that the fit had not seen, by the id of the row."""

    digest: str  # of the observations
    by_source: dict[str, tuple[float, float, float]]  # predicted and its 90 % interval, in the unit of the row
    by_series: dict[str, float]  # ln(published / predicted) of rates, their series left out
    scale_out: dict[str, float]  # the same of rates above SMALL_GPUS, those of their series left out


def series_of(case: RateCase) -> tuple[str, ...]:
    """What the rows of one series share: they differ in batch and in number of GPUs."""
    e, row = case.levels, case.row
    return (row.source, e.task, row.software, e.dnn, e.precision, e.gpu, row.server, row.loader)


def cross_validate(
    fit: JointFit, calibration: Calibration, rows: tuple[Observation, ...], catalog: Catalog
) -> CrossValidation:
    """Predict every row of every source, series and large cluster without it."""
    by_source: dict[str, tuple[float, float, float]] = {}
    for source in sorted(set(fit.sources.tolist())):
        by_source |= without_source(source, fit, calibration, rows, catalog)
    cases = {case.row.id: case for case in usable_cases(rows, catalog)[0]}
    # A rate that is fitted as a share of another one is no rate of its own.
    named = zip(fit.ids, fit.kinds.tolist(), strict=True)
    of_rate = [cases.get(name) if kind in RATE_TASKS else None for name, kind in named]
    groups: dict[tuple[str, ...], list[int]] = {}
    families: dict[tuple[str, ...], list[int]] = {}
    for i, case in enumerate(of_rate):
        if case is not None:
            groups.setdefault(series_of(case), []).append(i)
            if case.levels.task == "training":
                # Servers of one kind and clusters of them are one family, whatever their count.
                families.setdefault((*series_of(case)[:6], case.row.server), []).append(i)
    large = [_large(members, of_rate) for members in families.values()]
    return CrossValidation(
        calibration.digest, by_source, _errors(fit, groups.values()), _errors(fit, [one for one in large if one])
    )


def without_source(
    source: str, fit: JointFit, calibration: Calibration, rows: tuple[Observation, ...], catalog: Catalog
) -> dict[str, tuple[float, float, float]]:
    """Predictions of the rows of one source by a fit that has not seen it, by id: value and 90 % interval."""
    out = fit.sources == source
    mine = tuple(row for row in rows if row.source == source)
    # Effects that only speed-ups tell are no part of the joint fit: without their source they are at their prior.
    unseen = replace(calibration, fit=fit.without(out))
    found = {}
    for row, prediction in zip(mine, predict_all(mine, catalog, unseen, rows), strict=True):
        if prediction.estimate is not None:
            value, low, high = prediction.estimate
            found[row.id] = (value, low, high)
    return found


def _large(members: list[int], of_rate: list[RateCase | None]) -> list[int]:
    """Rows of a family above :data:`SMALL_GPUS`, where it has smaller ones, too."""
    counts = [0 if (case := of_rate[i]) is None else case.n_gpus_per_server * case.n_servers for i in members]
    large = [i for i, count in zip(members, counts, strict=True) if count > SMALL_GPUS]
    return large if len(large) < len(members) else []


def _errors(fit: JointFit, groups: Iterable[list[int]]) -> dict[str, float]:
    found, ids = {}, fit.ids
    for members in groups:
        out = np.zeros(len(ids), dtype=bool)
        out[members] = True
        errors, _ = fit.errors(fit.without(out), out)
        found.update({ids[i]: float(error) for i, error in zip(sorted(members), errors, strict=True)})
    return found


# Where the shipped checks are stored.
_CHECKS = stored_path().with_name("cross-validation.json")


def save_cross_validation(checks: CrossValidation) -> Path:
    """Write the checks as JSON."""

    def short(value: float) -> float:
        return float(f"{value:.6g}")

    content = {
        "digest": checks.digest,
        "by_source": {name: [short(v) for v in triple] for name, triple in checks.by_source.items()},
        "by_series": {name: short(error) for name, error in checks.by_series.items()},
        "scale_out": {name: short(error) for name, error in checks.scale_out.items()},
    }
    return write_stored(content, _CHECKS)


def load_cross_validation(calibration: Calibration) -> CrossValidation:
    """Stored checks of a calibration.

    Raises CalibrationError if they are missing, damaged or belong to other observations.
    """
    content = read_stored(_CHECKS)
    try:
        found = CrossValidation(
            content["digest"],
            {name: (one[0], one[1], one[2]) for name, one in content["by_source"].items()},
            dict(content["by_series"]),
            dict(content["scale_out"]),
        )
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise CalibrationError(f"stored checks are damaged ({error!r}); run 'sizer calibrate'") from None
    if found.digest != calibration.digest:
        raise CalibrationError("stored checks belong to another calibration; run 'sizer calibrate'")
    return found


@dataclass(frozen=True)
class ValidatedRow:
    """One published number and the prediction for it."""

    id: str
    task: str
    quantity: str
    source: str
    published: float
    estimate: Estimate | None  # the prediction; None where there is none
    status: RowStatus
    notes: tuple[CalibrationNote, ...] = ()  # where the prediction extrapolates; empty where it interpolates

    @property
    def predicted(self) -> float | None:
        """Median of the prediction."""
        return None if self.estimate is None else float(self.estimate.value)

    @property
    def low(self) -> float | None:
        """Low end of its 90 % interval."""
        return None if self.estimate is None else float(self.estimate.low)

    @property
    def high(self) -> float | None:
        return None if self.estimate is None else float(self.estimate.high)

    @property
    def log_error(self) -> float | None:
        """ln(predicted / published) where both are numbers above 0, however far apart; else None."""
        if self.predicted is None or not (0 < self.predicted < math.inf and 0 < self.published < math.inf):
            return None
        return math.log(self.predicted) - math.log(self.published)

    @property
    def is_covered(self) -> bool | None:
        """Whether the published number lies in the 90 % interval."""
        return None if self.estimate is None else bool(self.estimate.low <= self.published <= self.estimate.high)


@dataclass(frozen=True)
class Summary:
    """Accuracy of a group of rows."""

    name: str
    rows: int
    predicted_rows: int
    median_error: float | None = None  # of |ln(predicted / published)|
    p90_error: float | None = None
    bias: float | None = None  # median of ln(predicted / published)
    coverage: float | None = None  # share of published numbers inside their 90 % interval
    judged_rows: int = 0  # that have an interval

    @property
    def inside(self) -> int:
        """Published numbers inside their 90 % interval."""
        return round((self.coverage or 0.0) * self.judged_rows)


@dataclass(frozen=True)
class ValidationReport:
    """Every row, and summaries by task, quantity and source."""

    rows: tuple[ValidatedRow, ...]
    by_task: tuple[Summary, ...]
    by_quantity: tuple[Summary, ...]
    by_source: tuple[Summary, ...]
    total: Summary
    # Only for the built-in observations: the same rows predicted by fits that had not seen their source.
    unseen: tuple[ValidatedRow, ...] = ()
    figures: tuple[AccuracyTarget, ...] = ()
    unknown: tuple[UnknownName, ...] = ()  # names in files of others that mean nothing known
    generations: tuple[GroupAccuracy, ...] = ()  # runs of language models by generation of GPU and software stack


def validate(
    rows: tuple[Observation, ...], catalog: Catalog, calibration: Calibration, checks: CrossValidation | None = None
) -> ValidationReport:
    """Predict every observation and summarise the errors.

    Summaries count rows that the model is meant to describe: those that it is calibrated on and those that it predicts.
    Rows that the fit excludes keep their prediction in the table, with the reason. With ``checks``, the report also
    holds the same rows predicted without their source, and the accuracy targets.
    """
    validated = [
        ValidatedRow(row.id, row.task, row.quantity, row.source, row.value, one.estimate, one.status, one.notes)
        for row, one in zip(rows, predict_all(rows, catalog, calibration), strict=True)
    ]
    if checks is None:
        return report_of(validated)
    unseen = _unseen(validated, checks)
    return replace(report_of(validated), unseen=unseen, figures=_figures(rows, validated, unseen, checks))


def report_of(rows: Sequence[ValidatedRow]) -> ValidationReport:
    """Rows with the summaries of their errors."""
    found = list(rows)
    return ValidationReport(
        tuple(found),
        summaries(found, lambda row: row.task),
        summaries(found, lambda row: f"{row.task}: {row.quantity}"),
        summaries(found, lambda row: row.source),
        summarise("all", found),
    )


def _unseen(rows: list[ValidatedRow], checks: CrossValidation) -> tuple[ValidatedRow, ...]:
    """The rows that count in summaries, as predicted without their source."""
    status = RowStatus(RowUse.PREDICTED_WITHOUT_SOURCE)
    found = []
    for row in rows:
        triple = checks.by_source.get(row.id)
        if triple is not None and is_meant(row):
            found.append(replace(row, estimate=Estimate(*np.array(triple)), status=status))
    return tuple(found)


def _figures(
    rows: tuple[Observation, ...], seen: list[ValidatedRow], unseen: tuple[ValidatedRow, ...], checks: CrossValidation
) -> tuple[AccuracyTarget, ...]:
    named = {row.id for row in rows if is_rate(row) and row.dnn and row.gpu and precision_of(row)}
    rates = [row for row in seen if row.id in named]
    fitted = [abs(row.log_error) for row in rates if row.log_error is not None and row.status == CALIBRATED]
    fitted_ids = {row.id for row in rates if row.status == CALIBRATED}
    strangers = [row for row in unseen if row.id in fitted_ids]
    errors = [abs(row.log_error) for row in strangers if row.log_error is not None]
    inside = [bool(row.is_covered) for row in strangers]
    times = [abs(row.log_error) for row in seen if row.quantity == "time_to_train_s" and row.log_error is not None]
    hosts = [row for row in unseen if row.task == "preprocess" and row.log_error is not None]
    host_errors = [abs(row.log_error) for row in hosts if row.log_error is not None]
    host_inside = [bool(row.is_covered) for row in hosts]
    series, larger = (np.abs(list(found.values())) for found in (checks.by_series, checks.scale_out))
    predicted = [row.predicted is not None for row in rates]
    return (
        _figure("rates-predicted", np.mean, predicted, 0.95, 1.0),
        _figure("in-sample-median", np.median, fitted, 0.0, 0.03),
        _figure("in-sample-p90", partial(np.quantile, q=0.9), fitted, 0.0, 0.12),
        # Rows of MLPerf v0.7 are harder than those before, of which 5.9 % and 10.9 % are reached: BERT has no others.
        _figure("held-out-series-median", np.median, series, 0.0, 0.061),
        _figure("held-out-source-median", np.median, errors, 0.0, 0.112),
        _figure("held-out-clusters-median", np.median, larger, 0.0, 0.07),
        _figure("held-out-source-coverage", np.mean, inside, 0.85, 0.96),
        _figure("time-to-train-median", np.median, times, 0.0, 0.10),
        _figure("host-source-median", np.median, host_errors, 0.0, 0.40),
        _figure("host-source-coverage", np.mean, host_inside, 0.85, 1.0),
    )


def _figure(
    measure: str, statistic: Callable[[Any], Any], values: Sequence[float] | Floats, low: float, high: float
) -> AccuracyTarget:
    if not len(values):
        raise CalibrationError(f"no observation shows the accuracy measure {measure}")
    return AccuracyTarget(measure, float(statistic(values)), low, high, len(values))


def is_meant(row: ValidatedRow) -> bool:
    """Whether a row counts in summaries."""
    return row.predicted is not None and row.status.use is not RowUse.EXCLUDED


def summarise(name: str, rows: Sequence[ValidatedRow], only_meant: bool = True) -> Summary:
    """Accuracy of some rows; those that the fit leaves out for a reason count as rows only."""
    rated = [row for row in rows if (is_meant(row) if only_meant else row.predicted is not None)]
    errors = np.array([row.log_error for row in rated if row.log_error is not None])
    covered = [row.is_covered for row in rated if row.is_covered is not None]
    found = Summary(name, len(rows), len(rated), judged_rows=len(covered))
    if covered:
        found = replace(found, coverage=float(np.mean(covered)))
    if not len(errors):
        return found
    middle, outer = float(np.median(np.abs(errors))), float(np.quantile(np.abs(errors), 0.9))
    return replace(found, median_error=middle, p90_error=outer, bias=float(np.median(errors)))


def summaries(
    rows: Iterable[ValidatedRow], key: Callable[[ValidatedRow], str], only_meant: bool = True
) -> tuple[Summary, ...]:
    """Accuracy of each group of rows, by name."""
    groups: dict[str, list[ValidatedRow]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return tuple(summarise(name, groups[name], only_meant) for name in sorted(groups))
