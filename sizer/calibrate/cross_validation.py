"""The calibration checked against what it has not seen: sources, series and larger clusters left out of the fit."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sizer.base.errors import CalibrationError
from sizer.calibrate.calibration import Calibration
from sizer.calibrate.cases import RateCase
from sizer.calibrate.fit.joint import JointFit
from sizer.calibrate.fit.rates import RATE_TASKS, usable_cases
from sizer.calibrate.observations import Observation, read_stored, stored_path, write_stored
from sizer.calibrate.predict import predict_all
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


def cross_validation_path() -> Path:
    """Where the shipped checks are stored."""
    return stored_path().with_name("cross-validation.json")


def save_cross_validation(checks: CrossValidation, path: Path | None = None) -> Path:
    """Write the checks as JSON."""

    def short(value: float) -> float:
        return float(f"{value:.6g}")

    content = {
        "digest": checks.digest,
        "by_source": {name: [short(v) for v in triple] for name, triple in checks.by_source.items()},
        "by_series": {name: short(error) for name, error in checks.by_series.items()},
        "scale_out": {name: short(error) for name, error in checks.scale_out.items()},
    }
    return write_stored(content, path or cross_validation_path())


def load_cross_validation(calibration: Calibration, path: Path | None = None) -> CrossValidation:
    """Stored checks of a calibration.

    Raises CalibrationError if they are missing, damaged or belong to other observations.
    """
    content = read_stored(path or cross_validation_path())
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
