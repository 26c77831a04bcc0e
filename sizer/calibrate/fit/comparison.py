"""Comparison of two fits: the predictions and effects that differ."""

from dataclasses import dataclass

import numpy as np

from sizer.calibrate.calibration import Calibration
from sizer.calibrate.observations import Observation
from sizer.calibrate.predict import predict_all
from sizer.catalog.model import Catalog

# Predictions and effects listed, largest change first.
_SHOWN = 10
# Below these nothing changed: rounding of another build of the linear algebra.
_LEAST_LOG_MOVE = 1e-3
_LEAST_SD_MOVE = 0.05


@dataclass(frozen=True)
class FitComparison:
    """Difference between two calibrations."""

    new_rows: tuple[str, ...]  # ids that are fitted now and were not before
    gone_rows: tuple[str, ...]
    n_predictions: int  # that both make
    n_moved: int
    predictions: tuple[tuple[str, float, float], ...]  # id, before, after; in the unit of the row, largest move first
    effects: tuple[tuple[str, float, float, float], ...]  # name, before, after, move in standard deviations


def compare_fits(
    before: Calibration, after: Calibration, rows: tuple[Observation, ...], catalog: Catalog
) -> FitComparison:
    """Compare the predictions of ``rows`` and the effects that both calibrations have."""
    moves = []
    both = zip(rows, predict_all(rows, catalog, before), predict_all(rows, catalog, after), strict=True)
    for row, old, new in both:
        if old.estimate is not None and new.estimate is not None and min(old.estimate.value, new.estimate.value) > 0:
            moves.append((row.id, float(old.estimate.value), float(new.estimate.value)))
    moves.sort(key=lambda move: -abs(np.log(move[2] / move[1])))
    moved = [move for move in moves if abs(np.log(move[2] / move[1])) >= _LEAST_LOG_MOVE]
    was = dict(zip(before.names, before.fit.values.tolist(), strict=True))
    effects = [
        (name, was[name], float(value), float((value - was[name]) / sd))
        for name, value, sd in zip(after.names, after.fit.values, after.fit.sd, strict=True)
        if name in was and abs(value - was[name]) >= _LEAST_SD_MOVE * sd
    ]
    effects.sort(key=lambda effect: -abs(effect[3]))
    old_used, new_used = before.used | before.host_used, after.used | after.host_used
    return FitComparison(
        tuple(sorted(new_used - old_used)),
        tuple(sorted(old_used - new_used)),
        len(moves),
        len(moved),
        tuple(moved[:_SHOWN]),
        tuple(effects[:_SHOWN]),
    )
