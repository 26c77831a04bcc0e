"""This tool on the runs that other predictors were validated with, beside the errors that they publish."""

from dataclasses import dataclass

import numpy as np

from sizer.calibrate.engine import ErrorStatistics
from sizer.calibrate.language.calibration import LanguageCalibration
from sizer.calibrate.language.cases import LanguageCase, cases_of
from sizer.calibrate.language.rows import load_language_rows, shipped_path
from sizer.catalog.model import Catalog

# Sources of runs that other tools were validated with, and the mean of |predicted / published - 1| of their step times:
# as the paper of Calculon states it, as that of vTrain states it for both, and of the table that SimuMax prints.
_THEIR_ERRORS: dict[str, dict[str, float]] = {
    "korthikanti-2022": {"Calculon": 0.0365},
    "vtrain": {"vTrain": 0.147, "Calculon": 0.129},
    "simumax": {"SimuMax": 0.0562},
}


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
            errors, log_sd = calibration.steps.refitted(out).errors(out)
        else:
            mine = [case for case in others if case.row.source == source]
            step = calibration.step_seconds(mine)
            errors = np.log(step.value) - np.array([case.log_step_s for case in mine], dtype=float)
            log_sd = step.log_sd
        mean = float(np.mean(np.abs(np.expm1(errors))))
        accuracy = ErrorStatistics.of(errors, log_sd)
        found.append(PeerRuns(source, accuracy.rows, mean, accuracy.coverage, theirs))
    return tuple(found)
